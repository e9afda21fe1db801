//! Load reports in answers, for the balancer in front: ORCA, as Envoy and gRPC read it. A report belongs to one answer, so it is added on the
//! way to the client and is in no cache.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sluice_catalog::config::LoadReport;
use sluice_message::{Fields, RequestHead, ResponseHead, starts_with};
use sluice_scheduler::Load;

/// Field of a report; its value begins with its format.
const FIELD: &str = "endpoint-load-metrics";
/// Field of a report in the format of protocol buffers, which gRPC reads.
const BINARY_FIELD: &str = "endpoint-load-metrics-bin";
/// Field of a request by which a balancer chooses the format.
const FORMAT_FIELD: &str = "endpoint-load-metrics-format";

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Binary,
}

impl Format {
    fn asked(head: &RequestHead) -> Self {
        match head.fields.get(FORMAT_FIELD) {
            Some(format) if format.eq_ignore_ascii_case(b"json") => Self::Json,
            Some(format) if format.eq_ignore_ascii_case(b"bin") => Self::Binary,
            _ => Self::Text,
        }
    }
}

/// Figures of a report, by the names of `OrcaLoadReport`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Report {
    application_utilization: f64,
    rps_fractional: f64,
    named_metrics: Named,
}

/// Figures of Sluice's own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Named {
    queue_length: f64,
    wait_ms: f64,
}

impl Report {
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    fn new(load: &Load, per_second: f64) -> Self {
        // The shortest text of a figure that has three digits after its point.
        let short = |figure: f64| (figure * 1000.0).round() / 1000.0;
        Report {
            application_utilization: short(load.utilization()),
            rps_fractional: short(per_second),
            named_metrics: Named { queue_length: load.queued as f64, wait_ms: load.wait_ms as f64 },
        }
    }

    fn field(&self, format: Format) -> (&'static str, String) {
        match format {
            Format::Text => (FIELD, self.text()),
            Format::Json => (FIELD, format!("JSON {}", serde_json::to_string(self).unwrap_or_default())),
            Format::Binary => (BINARY_FIELD, STANDARD.encode(self.binary())),
        }
    }

    fn text(&self) -> String {
        let Report { application_utilization, rps_fractional, named_metrics: Named { queue_length, wait_ms } } = self;
        format!(
            "TEXT application_utilization={application_utilization},rps_fractional={rps_fractional},\
             named_metrics.queue_length={queue_length},named_metrics.wait_ms={wait_ms}"
        )
    }

    /// The message `OrcaLoadReport` of protocol buffers.
    fn binary(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(80);
        let double = |out: &mut Vec<u8>, number: u8, figure: f64| {
            out.push(number << 3 | 1);
            out.extend_from_slice(&figure.to_le_bytes());
        };
        double(&mut out, 6, self.rps_fractional);
        for (name, figure) in
            [("queue_length", self.named_metrics.queue_length), ("wait_ms", self.named_metrics.wait_ms)]
        {
            let mut entry = vec![1 << 3 | 2, u8::try_from(name.len()).unwrap_or(u8::MAX)];
            entry.extend_from_slice(name.as_bytes());
            double(&mut entry, 2, figure);
            out.extend_from_slice(&[8 << 3 | 2, u8::try_from(entry.len()).unwrap_or(u8::MAX)]);
            out.extend_from_slice(&entry);
        }
        double(&mut out, 9, self.application_utilization);
        out
    }
}

/// Report that an answer ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailing {
    /// `None` if only the app's is removed.
    format: Option<Format>,
}

/// Load, and answers a second.
pub(crate) type Figures = (Load, f64);

/// Removes the app's report from the head of an answer, and adds the gateway's if the balancer (`asked`) may have one. `may_trail`: the
/// answer can carry trailers. Returns the plan for those.
pub(crate) fn report(
    mode: LoadReport,
    asked: Option<&RequestHead>,
    head: &mut ResponseHead,
    may_trail: bool,
    figures: impl FnOnce() -> Figures,
) -> Option<Trailing> {
    if mode == LoadReport::Off {
        return None;
    }
    strip(&mut head.fields);
    let format = asked.map(Format::asked);
    let trails = may_trail && mode == LoadReport::Trailer;
    if let Some(format) = format {
        let (name, value) = if trails {
            ("Trailer", if format == Format::Binary { BINARY_FIELD } else { FIELD }.to_owned())
        } else {
            field(figures(), format)
        };
        head.fields.push(name, value);
    }
    Some(Trailing { format: format.filter(|_| trails) })
}

/// Trailers of an answer under this plan.
pub(crate) fn trailers(
    plan: Option<Trailing>,
    mut trailers: Vec<(String, Vec<u8>)>,
    figures: impl FnOnce() -> Figures,
) -> Vec<(String, Vec<u8>)> {
    let Some(Trailing { format }) = plan else { return trailers };
    trailers.retain(|(name, _)| !starts_with(name, FIELD));
    if let Some(format) = format {
        let (name, value) = field(figures(), format);
        trailers.push((name.to_owned(), value.into_bytes()));
    }
    trailers
}

fn strip(fields: &mut Fields) {
    if fields.iter().any(|(name, _)| starts_with(name, FIELD)) {
        fields.retain(|name, _| !starts_with(name, FIELD));
    }
}

fn field((load, per_second): Figures, format: Format) -> (&'static str, String) {
    Report::new(&load, per_second).field(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: Load = Load { wait_ms: 150, queued: 3, wanted: 4, serving: 4, free: 0 };

    #[test]
    fn formats_are_those_of_orca() {
        let report = Report::new(&LOAD, 12.345_678);
        assert_eq!(
            report.field(Format::Text),
            (
                "endpoint-load-metrics",
                "TEXT application_utilization=2.5,rps_fractional=12.346,named_metrics.queue_length=3,named_metrics.wait_ms=150"
                    .to_owned()
            )
        );
        let (name, json) = report.field(Format::Json);
        assert_eq!(name, "endpoint-load-metrics");
        assert_eq!(
            json,
            r#"JSON {"application_utilization":2.5,"rps_fractional":12.346,"named_metrics":{"queue_length":3.0,"wait_ms":150.0}}"#
        );
        // The example of the specification, with its fields: rps_fractional, two named metrics, application_utilization.
        let example = Report {
            application_utilization: 0.1,
            rps_fractional: 2.0,
            named_metrics: Named { queue_length: -0.1, wait_ms: 0.2 },
        };
        let (name, binary) = example.field(Format::Binary);
        assert_eq!(name, "endpoint-load-metrics-bin");
        let bytes = STANDARD.decode(binary).unwrap();
        assert_eq!(bytes[..9], [0x31, 0, 0, 0, 0, 0, 0, 0, 0x40]);
        assert_eq!(bytes[9..13], [0x42, 23, 0x0a, 12]);
        assert_eq!(bytes[13..25], *b"queue_length");
        assert_eq!(bytes[25..34], [0x11, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0xbf]);
        assert_eq!(bytes[34..38], [0x42, 18, 0x0a, 7]);
        assert_eq!(bytes[bytes.len() - 9..], [0x49, 0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f]);
    }

    #[test]
    fn a_balancer_chooses_the_format() {
        for (format, expected) in
            [("JSON", Format::Json), ("bin", Format::Binary), ("text", Format::Text), ("yaml", Format::Text)]
        {
            let fields: Fields = [("Endpoint-Load-Metrics-Format", format.as_bytes())].into_iter().collect();
            assert_eq!(Format::asked(&RequestHead { fields, ..RequestHead::default() }), expected);
        }
        assert_eq!(Format::asked(&RequestHead::default()), Format::Text);
    }
}
