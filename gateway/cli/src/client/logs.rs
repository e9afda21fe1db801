//! `sluice logs`.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Deserialize;
use sluice_admin::protocol::{Reply, Request};

use super::connect::{ClientError, Gateway};
use super::worker_known;
use crate::args::LogsArgs;
use crate::exit::Exit;
use crate::stderr;

/// Whatever may come after `logs`: a line, a gap, or the end.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Line { line: String },
    Gap { missed: u64 },
    End(Box<Reply>),
}

pub fn run(args: &LogsArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    worker_known::check(&mut gateway, args.worker)?;
    let request = Request::Logs {
        lines: u64::from(args.lines),
        follow: args.follow,
        worker: args.worker,
        kind: args.kind.clone(),
    };
    print_log(gateway, &request, args.follow, &mut io::stdout().lock())
}

fn print_log(
    mut gateway: Gateway,
    request: &Request,
    follow: bool,
    out: &mut impl Write,
) -> Result<ExitCode, ClientError> {
    gateway.send(request)?;
    if follow {
        gateway.set_patience(None)?;
    }
    loop {
        match gateway.receive::<Answer>()? {
            Some(Answer::Line { line }) => {
                writeln!(out, "{line}").and_then(|()| out.flush()).map_err(ClientError::Output)?;
            }
            Some(Answer::Gap { missed }) => {
                stderr::say(format_args!("sluice: {missed} lines were gone before they could be shown"));
            }
            Some(Answer::End(reply)) => {
                gateway.accepted(*reply)?;
                return Ok(Exit::Ok.into());
            }
            None if follow => {
                stderr::say(format_args!("sluice: the gateway in {} is gone", gateway.run_dir().display()));
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

    fn logs(lines: &[&str], follow: bool) -> (Result<ExitCode, ClientError>, String) {
        let request = Request::Logs { lines: 10, follow, worker: None, kind: None };
        let mut out = Vec::new();
        let result = print_log(FakeGateway::answering(lines).connect(), &request, follow, &mut out);
        (result, String::from_utf8(out).unwrap())
    }

    #[test]
    fn lines_are_printed_as_they_are_until_the_end() {
        let (result, out) =
            logs(&[r#"{"line":"one \"1\""}"#, r#"{"missed":3}"#, r#"{"line":"two"}"#, r#"{"ok":true}"#], false);
        assert!(result.is_ok());
        assert_eq!(out, "one \"1\"\ntwo\n");
    }

    #[test]
    fn following_ends_well_with_the_gateway_and_not_following_does_not() {
        assert!(logs(&[r#"{"line":"one"}"#], true).0.is_ok());
        assert!(matches!(logs(&[r#"{"line":"one"}"#], false).0, Err(ClientError::Gone(_))));
    }

    #[test]
    fn a_refusal_is_an_error() {
        let (result, _) = logs(&[r#"{"ok":false,"code":"kind-unknown","error":"No such kind."}"#], true);
        assert!(result.unwrap_err().to_string().contains("No such kind."));
    }
}
