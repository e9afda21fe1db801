//! `sluice quarantine`.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde::Serialize;
use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::QuarantinedRequest;

use super::connect::{ClientError, Gateway};
use super::status::{duration, for_s, harmless};
use crate::args::QuarantineArgs;
use crate::output;

/// Output of `--json`.
#[derive(Serialize)]
struct Answer {
    quarantined: Vec<QuarantinedRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    released: Option<u64>,
}

pub fn run(args: &QuarantineArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let reply = gateway.ask(&Request::Quarantine { release: args.release.clone() })?;
    let answer = Answer { quarantined: reply.quarantined.unwrap_or_default(), released: reply.released };
    if args.json { gateway.print_json(&answer) } else { Ok(output::print(&table(&answer))) }
}

fn table(answer: &Answer) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    if let Some(released) = answer.released {
        let _ = writeln!(out, "released: {released}");
    }
    if answer.quarantined.is_empty() {
        out.push_str("No request is in quarantine.\n");
        return out;
    }
    let _ = writeln!(out, "{:<8}  {:>6}  {:>12}  {:>12}  {:<7}  REQUEST", "ID", "DEATHS", "SINCE", "ENDS IN", "STATE");
    for request in &answer.quarantined {
        let _ = writeln!(
            out,
            "{:<8}  {:>6}  {:>12}  {:>12}  {:<7}  {} {}{}",
            harmless(&request.id),
            request.deaths,
            duration(for_s(request.for_ms)),
            duration(for_s(request.expires_in_ms)),
            if request.probed { "probed" } else { "refused" },
            harmless(&request.method),
            harmless(&request.target),
            told_by(request)
        );
    }
    out
}

/// Features by which such requests differ from those that were answered.
fn told_by(request: &QuarantinedRequest) -> String {
    let names: Vec<_> = request.told_by.iter().map(|name| harmless(name)).collect();
    if names.is_empty() { String::new() } else { format!("  recognized by {}", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_says_everything_and_what_clients_sent_moves_no_cursor() {
        let request = QuarantinedRequest {
            id: "0badcafe".to_owned(),
            method: "GET".to_owned(),
            target: "/poison\u{1b}[2J".to_owned(),
            deaths: 2,
            told_by: vec!["x-evil\u{1b}".to_owned(), "(body)".to_owned()],
            probed: false,
            for_ms: 2500,
            expires_in_ms: 590_000,
        };
        let text = table(&Answer { quarantined: vec![request], released: Some(1) });
        let words: Vec<_> = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let expected = [
            "released: 1",
            "ID DEATHS SINCE ENDS IN STATE REQUEST",
            "0badcafe 2 2.5 s 9 min 50 s refused GET /poison?[2J recognized by x-evil?, (body)",
        ];
        assert_eq!(words, expected);
        assert_eq!(table(&Answer { quarantined: Vec::new(), released: None }), "No request is in quarantine.\n");
    }
}
