//! `sluice logs`: lines of a running gateway, selected and shown.

mod select;
mod show;

use std::collections::VecDeque;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::Value;
use sluice_admin::protocol::{Reply, Request};
use sluice_catalog::logfields::LineKind;
use sluice_journal::KEPT_LINES_MAX;

use super::connect::{ClientError, Gateway};
use super::worker_known;
use crate::args::LogsArgs;
use crate::exit::Exit;
use crate::stderr;
use select::Selection;
use show::Painter;

/// Number of lines that the gateway keeps; the selection is made of these.
const KEPT: u64 = KEPT_LINES_MAX as u64;

/// Lines that may come after `logs`: a line, a gap, the mark before new lines, or the end.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Line {
        line: String,
    },
    Gap {
        missed: u64,
    },
    Live {
        #[allow(dead_code, reason = "its presence is what it says")]
        live: bool,
    },
    End(Box<Reply>),
}

pub fn run(args: &LogsArgs) -> Result<ExitCode, ClientError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let selection = Selection::new(args, u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
    let selection = match selection {
        Ok(selection) => selection,
        Err(error) => return Ok(Exit::Usage.because(error)),
    };
    let mut gateway = Gateway::connect(&args.run_dir)?;
    worker_known::check(&mut gateway, args.worker)?;
    let is_terminal = io::stdout().is_terminal();
    let form = if args.json || !args.text && !is_terminal {
        Form::Json
    } else {
        let has_colours = is_terminal && wants_colours(env::var_os("NO_COLOR"), env::var_os("TERM"));
        Form::Text(Painter { has_colours })
    };
    let lines = Lines { selection, form, kept: VecDeque::new(), kept_max: count(args.lines), is_live: false };
    let stdout = io::stdout();
    print_log(gateway, args, lines, stdout.as_fd(), &mut stdout.lock())
}

/// <https://no-color.org>: any value but an empty one switches colours off.
fn wants_colours(no_color: Option<OsString>, term: Option<OsString>) -> bool {
    no_color.is_none_or(|value| value.is_empty()) && term.is_none_or(|term| term != "dumb")
}

fn count(lines: u32) -> usize {
    usize::try_from(lines).unwrap_or(usize::MAX)
}

/// Form of printed lines.
#[derive(Clone, Copy)]
enum Form {
    /// JSON as the gateway keeps it.
    Json,
    /// Text for people.
    Text(Painter),
}

/// Selects lines. The last ones of those that the gateway kept are held back until all of them have come.
struct Lines {
    selection: Selection,
    form: Form,
    kept: VecDeque<String>,
    kept_max: usize,
    /// Lines are printed as they come.
    is_live: bool,
}

impl Lines {
    /// The line as it is printed, if it is one of those that are wanted.
    fn printed(&self, json: String) -> Option<String> {
        if self.selection.is_all() && matches!(self.form, Form::Json) {
            return Some(json);
        }
        let Ok(line) = serde_json::from_str::<Value>(&json) else { return self.selection.is_all().then_some(json) };
        let plain = || show::line(&line, Painter { has_colours: false });
        if !self.selection.has(&json, &line, plain) {
            return None;
        }
        Some(match self.form {
            Form::Json => json,
            Form::Text(painter) => show::line(&line, painter),
        })
    }

    fn take(&mut self, json: String, out: &mut impl Write) -> io::Result<()> {
        let Some(printed) = self.printed(json) else { return Ok(()) };
        if self.is_live {
            return writeln!(out, "{printed}").and_then(|()| out.flush());
        }
        if self.kept.len() >= self.kept_max {
            self.kept.pop_front();
        }
        if self.kept_max > 0 {
            self.kept.push_back(printed);
        }
        Ok(())
    }

    /// Prints what was held back.
    fn release(&mut self, out: &mut impl Write) -> io::Result<()> {
        for line in self.kept.drain(..) {
            writeln!(out, "{line}")?;
        }
        self.is_live = true;
        out.flush()
    }
}

fn print_log(
    mut gateway: Gateway,
    args: &LogsArgs,
    mut lines: Lines,
    reader: BorrowedFd<'_>,
    out: &mut impl Write,
) -> Result<ExitCode, ClientError> {
    let kind = if lines.selection.is_of_requests() { Some(LineKind::Access.as_str().to_owned()) } else { None };
    let wanted = if lines.selection.is_all() { u64::from(args.lines) } else { KEPT };
    gateway.send(&Request::Logs {
        lines: if args.lines == 0 { 0 } else { wanted },
        follow: args.follow,
        worker: args.worker,
        kind: args.kind.clone().or(kind),
    })?;
    if args.follow {
        gateway.set_patience(None)?;
    }
    let ended = loop {
        let answer = if args.follow { gateway.follow::<Answer>(reader)? } else { gateway.receive::<Answer>()? };
        let printed = match answer {
            Some(Answer::Line { line }) => lines.take(line, out),
            Some(Answer::Live { .. }) => lines.release(out),
            Some(Answer::Gap { missed }) => {
                stderr::say(format_args!("sluice: {missed} lines were overwritten before they could be shown"));
                Ok(())
            }
            Some(Answer::End(reply)) => {
                gateway.accepted(*reply)?;
                break Ok(());
            }
            None if args.follow => {
                stderr::say(format_args!("sluice: gateway stopped (run directory {})", gateway.run_dir().display()));
                break Ok(());
            }
            None => break Err(ClientError::Gone(gateway.run_dir().to_owned())),
        };
        printed.map_err(ClientError::Output)?;
    };
    lines.release(out).map_err(ClientError::Output)?;
    ended.map(|()| Exit::Ok.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests_support::FakeGateway;

    fn logs(answers: &[&str], args: &LogsArgs, form: Form) -> (Result<ExitCode, ClientError>, String) {
        let selection = Selection::new(args, 0).unwrap();
        let lines = Lines { selection, form, kept: VecDeque::new(), kept_max: count(args.lines), is_live: false };
        let mut out = Vec::new();
        let stderr = io::stderr();
        let result = print_log(FakeGateway::answering(answers).connect(), args, lines, stderr.as_fd(), &mut out);
        (result, String::from_utf8(out).unwrap())
    }

    fn args(follow: bool) -> LogsArgs {
        LogsArgs { lines: 10, follow, ..LogsArgs::default() }
    }

    fn access(status: u16) -> String {
        let line =
            format!(r#"{{"time":"2026-11-24T10:00:00.000Z","level":"info","event":"access","status":{status}}}"#);
        serde_json::json!({ "line": line }).to_string()
    }

    #[test]
    fn lines_are_printed_as_they_are_until_the_end() {
        let answers = [r#"{"line":"one \"1\""}"#, r#"{"missed":3}"#, r#"{"line":"two"}"#, r#"{"ok":true}"#];
        let (result, out) = logs(&answers, &args(false), Form::Json);
        assert!(result.is_ok());
        assert_eq!(out, "one \"1\"\ntwo\n");
    }

    #[test]
    fn the_last_of_those_that_fit_are_printed_and_then_every_new_one() {
        let status = vec!["5xx".parse().unwrap()];
        let wanted = LogsArgs { status, lines: 2, follow: true, ..LogsArgs::default() };
        let mut answers: Vec<String> = [500, 200, 501, 404, 502].map(access).to_vec();
        answers.push(r#"{"live":true}"#.to_owned());
        answers.extend([503, 200, 504].map(access));
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        let (_, out) = logs(&answers, &wanted, Form::Text(Painter { has_colours: false }));
        let statuses: Vec<&str> = out.lines().map(|line| &line[13..16]).collect();
        assert_eq!(statuses, ["501", "502", "503", "504"]);
    }

    #[test]
    fn following_ends_well_with_the_gateway_and_not_following_does_not() {
        assert!(logs(&[r#"{"line":"one"}"#], &args(true), Form::Json).0.is_ok());
        assert!(matches!(logs(&[r#"{"line":"one"}"#], &args(false), Form::Json).0, Err(ClientError::Gone(_))));
    }

    #[test]
    fn a_refusal_is_an_error() {
        let refused = r#"{"ok":false,"code":"kind-unknown","error":"No such kind."}"#;
        let (result, _) = logs(&[refused], &args(true), Form::Json);
        assert!(result.unwrap_err().to_string().contains("No such kind."));
    }

    #[test]
    fn colours_are_off_where_the_environment_says_so() {
        assert!(wants_colours(None, None) && wants_colours(Some("".into()), Some("xterm".into())));
        assert!(!wants_colours(Some("1".into()), None) && !wants_colours(None, Some("dumb".into())));
    }
}
