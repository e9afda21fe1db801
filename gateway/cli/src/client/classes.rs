//! `sluice classes`.

use std::process::ExitCode;

use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{ClassSnapshot, ClassesSnapshot};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, harmless, milliseconds};
use crate::args::ClassesArgs;
use crate::output;

/// Maximum shown length of a class's name, characters.
const NAME_CHARS_MAX: usize = 60;

pub fn run(args: &ClassesArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let classes = gateway.ask(&Request::Classes)?.classes.unwrap_or_default();
    if args.json { gateway.print_json(&classes) } else { Ok(output::print(&table(&classes))) }
}

fn table(snapshot: &ClassesSnapshot) -> String {
    if snapshot.classes.is_empty() {
        return "No request has arrived yet.\n".to_owned();
    }
    let cut = match snapshot.cut_ms {
        Some(cut_ms) => format!("Long requests cost {} of CPU time or more.\n\n", milliseconds(Some(cut_ms))),
        None => match &snapshot.uncut {
            Some(why) => format!("No class is long: {}.\n\n", harmless(why)),
            None => "No class is long.\n\n".to_owned(),
        },
    };
    let head =
        ["CLASS", "REQUESTS", "CPU", "EXPECTED", "MEAN", "P50", "P95", "QUEUE WAIT", "SERVICE", "HANDLER", "NOTES"];
    let mut rows = vec![head.map(str::to_owned)];
    rows.extend(snapshot.classes.iter().map(row));
    cut + &aligned(&rows)
}

fn row(class: &ClassSnapshot) -> [String; 11] {
    let name: String = harmless(&class.class).chars().take(NAME_CHARS_MAX).collect();
    let mut notes = Vec::new();
    notes.extend((!class.known).then(|| "new".to_owned()));
    notes.extend(class.long.then(|| "long".to_owned()));
    notes.extend(class.split_from.as_ref().map(|from| format!("part of {}", harmless(from))));
    [
        name,
        class.requests.to_string(),
        format!("{:.1} %", class.cpu_share * 100.0),
        milliseconds(Some(class.expected_ms)),
        milliseconds(class.cost_mean_ms),
        milliseconds(class.cost_p50_ms),
        milliseconds(class.cost_p95_ms),
        milliseconds(Some(class.queue_wait_ms)),
        milliseconds(Some(class.service_time_ms)),
        milliseconds(class.handler_ms),
        notes.join(", "),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_everything_and_what_clients_sent_moves_no_cursor() {
        let class = ClassSnapshot {
            class: "GET /list\u{1b}[2J ?facets".to_owned(),
            requests: 12,
            expected_ms: 90.5,
            cost_mean_ms: Some(90.5),
            cost_p50_ms: Some(88.0),
            cost_p95_ms: None,
            cost_p99_ms: None,
            queue_wait_ms: 1.25,
            service_time_ms: 95.0,
            handler_ms: Some(91.0),
            cpu_share: 0.5,
            known: false,
            long: true,
            drift: None,
            split_from: Some("GET /list".to_owned()),
        };
        let uncut = Some("too few requests have come".to_owned());
        let text = table(&ClassesSnapshot { cut_ms: None, uncut, classes: vec![class.clone()] });
        assert!(text.starts_with("No class is long: too few requests have come.\n"), "{text}");
        let text = table(&ClassesSnapshot { cut_ms: Some(22.4), uncut: None, classes: vec![class] });
        assert!(text.starts_with("Long requests cost 22") && !text.contains('\u{1b}'), "{text}");
        let last = text.lines().last().unwrap();
        for word in ["12", "50.0 %", "90", "88", "95", "91", "new, long, part of GET /list"] {
            assert!(last.contains(word), "{word} in {last}");
        }
        assert!(table(&ClassesSnapshot::default()).contains("No request"));
    }
}
