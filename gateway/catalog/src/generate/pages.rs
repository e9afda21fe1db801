//! `docs/reference/errors.md`, `metrics.md` and `log.md`.

use std::fmt::Write as _;

use super::markdown::table;
use crate::errors::{self, Entry};
use crate::logfields::{Field, LOG};
use crate::metrics::{self, BUCKETS_SECONDS, CLASS_BUCKETS_SECONDS, LABELS, Metric};

pub(super) fn errors() -> String {
    let (answers, start): (Vec<&Entry>, Vec<&Entry>) = errors::ALL.iter().partition(|entry| entry.status != 0);
    let rows: Vec<Vec<String>> = answers.iter().map(|entry| summary(entry)).collect();
    let mut out = format!(
        "Each error has a code that is never reused for something else. The response carries the code and the public \
         text; the log carries the code. Every 503 has `Retry-After`.\n\n\
         The column Retry is the value of the header `X-Sluice-Retry`. With `elsewhere`, no worker got the request, and a \
         client or balancer may send it to another instance immediately. With `later`, the same request gets the same answer \
         until `Retry-After` has passed. With `no`, the request is faulty, or the app may have acted on it. If a worker already \
         had the request, the value is always `no`. See [behind a balancer](../guide/behind-a-balancer.md).\n\n\
         ## Answers to requests\n\n{}",
        table(&["Code", "Status", "Source", "Retry"], &rows)
    );
    for entry in answers {
        let _ = write!(out, "\n### {}\n\n{}\n\nClients read: “{}”\n", entry.code, entry.operator(), entry.public());
    }
    out += "\n## Errors without an answer\n\nOnly operators read these errors. Errors at the start are on the terminal and in the log, and errors of streams in the log.\n";
    for entry in start {
        let _ = write!(out, "\n### {}\n\n{} {}\n", entry.code, entry.public(), entry.operator());
    }
    out
}

fn summary(entry: &Entry) -> Vec<String> {
    vec![
        format!("[`{}`](#{})", entry.code, entry.code.to_lowercase()),
        entry.status.to_string(),
        entry.source.as_str().to_owned(),
        format!("`{}`", entry.retry.as_str()),
    ]
}

pub(super) fn metrics() -> String {
    let rows: Vec<Vec<String>> = metrics::ALL.iter().map(|metric| metric_row(metric)).collect();
    let labels: Vec<Vec<String>> =
        LABELS.iter().map(|label| vec![format!("`{}`", label.name), label.text.clone(), label.bound.clone()]).collect();
    let written = |bounds: &[f64]| bounds.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    format!(
        "Prometheus text format on `http://<admin.address>/metrics`. Values are in base units, and every label has a \
         bounded number of values. No metric is the sum of queue wait and service time.\n\n{}\n\
         ## Labels\n\n{}\n\
         ## Histograms\n\nUpper bounds of the buckets, in seconds: {}, and above. Histograms by class: {}, and above.\n",
        table(&["Name", "Kind", "Labels", "What it says"], &rows),
        table(&["Label", "What it says", "Bound"], &labels),
        written(&BUCKETS_SECONDS),
        written(&CLASS_BUCKETS_SECONDS),
    )
}

fn metric_row(metric: &Metric) -> Vec<String> {
    let labels: Vec<String> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
    vec![format!("`{}`", metric.name), metric.kind.as_str().to_owned(), labels.join(", "), metric.help().to_owned()]
}

pub(super) fn log() -> String {
    let outcomes: Vec<Vec<String>> = LOG
        .outcomes
        .iter()
        .map(|word| {
            let failure = if word.is_failure { "yes" } else { "no" };
            vec![format!("`{}`", word.name), failure.to_owned(), word.text.clone()]
        })
        .collect();
    let mut out = format!(
        "The gateway writes each event as one line to standard output: as readable text to a terminal, otherwise as \
         JSON (`log.format`). `sluice logs` shows the latest lines of a running gateway. Fields may be added; the ones \
         below keep their names.\n\n\
         Every line begins with these:\n\n{}",
        field_table(&LOG.common)
    );
    for line in &LOG.lines {
        let _ = write!(out, "\n## `{}`\n\n{}\n", line.event, line.text);
        if !line.fields.is_empty() {
            let _ = write!(out, "\n{}", field_table(&line.fields));
        }
    }
    let names: Vec<Vec<String>> = LOG
        .names
        .iter()
        .map(|row| {
            let word = |name: &str| if name.is_empty() { String::new() } else { format!("`{name}`") };
            [&row.field, &row.event, &row.otel, &row.ecs].map(|name| word(name)).to_vec()
        })
        .collect();
    let _ = write!(
        out,
        "\n## Names of OpenTelemetry and ECS\n\n`log.fields` selects the names. A field that is not in this table, or has an empty \
         cell, is named `sluice.` and its name. With `otel`, lines also have `body` (the event as a sentence), `severity_number`, and \
         headers as `http.request.header.<name>` and `user_agent.original`. With `ecs`, they have `message`, `ecs.version`, \
         `event.duration` (nanoseconds) for requests, and headers as `sluice.headers.<name>` and `user_agent.original`.\n\n{}",
        table(&["Field", "Only of", "`otel`", "`ecs`"], &names)
    );
    let _ = write!(
        out,
        "\n## Outcomes\n\n`sluice status --check`, `sluice top`, the dashboard and traces count failures as errors.\n\n{}",
        table(&["Outcome", "Failure", "What it says"], &outcomes)
    );
    out
}

fn field_table(fields: &[Field]) -> String {
    let rows: Vec<Vec<String>> = fields
        .iter()
        .map(|field| {
            let unit = if field.unit.is_empty() { String::new() } else { format!(", {}", field.unit) };
            let null =
                if field.null_when.is_empty() { String::new() } else { format!(" `null` when {}.", field.null_when) };
            vec![format!("`{}`", field.name), format!("{}{unit}", field.json_type), format!("{}{null}", field.text)]
        })
        .collect();
    table(&["Field", "Type", "What it says"], &rows)
}
