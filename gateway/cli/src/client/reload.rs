//! `sluice reload`: asks for a reload and tells how it goes until it is over.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Deserialize;
use sluice_admin::protocol::{Reply, Request, TrialWish};

use super::connect::{ClientError, Gateway};
use crate::args::{Promote, ReloadArgs};
use crate::exit::Exit;

/// Lines that may come after `reload`: progress, or the end.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Progress { progress: String },
    End(Box<Reply>),
}

pub fn run(args: &ReloadArgs) -> Result<ExitCode, ClientError> {
    reload(Gateway::connect(&args.run_dir)?, trial(args), &mut io::stdout().lock())
}

/// Trial that the version has to pass, if one is asked for.
fn trial(args: &ReloadArgs) -> Option<TrialWish> {
    let is_trial = args.canary.is_some() || args.hold.is_some();
    is_trial.then_some(TrialWish {
        share_millionths: args.canary,
        batches: args.hold,
        lasts_ms: args.lasts_ms,
        requests_min: args.min_requests,
        asks: args.promote == Promote::Ask,
        html_millionths: args.html.unwrap_or(0),
    })
}

fn reload(mut gateway: Gateway, trial: Option<TrialWish>, out: &mut impl Write) -> Result<ExitCode, ClientError> {
    gateway.send(&Request::Reload { trial })?;
    // Workers may take as long as they are given to start; the gateway says how it ended in any case.
    gateway.set_patience(None)?;
    loop {
        match gateway.receive::<Answer>()? {
            Some(Answer::Progress { progress }) => {
                writeln!(out, "{progress}").and_then(|()| out.flush()).map_err(ClientError::Output)?;
            }
            Some(Answer::End(reply)) => {
                if let (Some("reload-failed"), Some(error)) = (reply.code.as_deref(), &reply.error) {
                    return Ok(Exit::Failed.because(error));
                }
                gateway.accepted(*reply)?;
                return Ok(Exit::Ok.into());
            }
            None => return Err(ClientError::Gone(gateway.run_dir().to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests_support::FakeGateway;

    fn run(lines: &[&str]) -> (Result<ExitCode, ClientError>, String) {
        let mut out = Vec::new();
        let result = reload(FakeGateway::answering(lines).connect(), None, &mut out);
        (result, String::from_utf8(out).unwrap())
    }

    #[test]
    fn progress_is_printed_until_the_end() {
        let (result, out) = run(&[r#"{"progress":"started"}"#, r#"{"progress":"done in 1.2 s"}"#, r#"{"ok":true}"#]);
        assert_eq!(format!("{:?}", result.unwrap()), format!("{:?}", ExitCode::from(Exit::Ok)));
        assert_eq!(out, "started\ndone in 1.2 s\n");
    }

    #[test]
    fn a_reload_that_failed_ends_with_1_and_one_without_an_end_is_an_error() {
        let (result, _) = run(&[r#"{"ok":false,"code":"reload-failed","error":"It broke."}"#]);
        assert_eq!(format!("{:?}", result.unwrap()), format!("{:?}", ExitCode::from(Exit::Failed)));
        assert!(matches!(run(&[r#"{"progress":"started"}"#]).0, Err(ClientError::Gone(_))));
        let (result, _) = run(&[r#"{"ok":false,"code":"command-unknown","error":"An old gateway."}"#]);
        assert!(result.unwrap_err().to_string().contains("An old gateway."));
    }
}
