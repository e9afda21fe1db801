//! Writer of Prometheus text format 0.0.4 and, on request, `OpenMetrics` 1.0, which has exemplars as well.
//!
//! Names, kinds and help come from the catalogue, so a metric that the reference does not list cannot be written. This module
//! must not know where values come from.

use std::fmt::{self, Display, Write};

use sluice_catalog::metrics::Metric;

/// A page of metrics being written.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    name: &'static str,
    format: Exposition,
}

/// Format of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposition {
    /// Prometheus' text format.
    #[default]
    Prometheus,
    /// `OpenMetrics`: counters are named without their suffix, and buckets have exemplars.
    OpenMetrics,
}

/// A request that a bucket counts, and whose trace can be found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exemplar {
    /// Trace of the request.
    pub trace_id: u128,
    /// Value of the request, seconds.
    pub value: f64,
    /// Time of the request, Unix time in milliseconds.
    pub at_unix_ms: u64,
}

/// A bucket of a histogram.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// Upper bound of the values in the bucket, inclusive, seconds; infinite for the last bucket.
    pub bound: f64,
    /// Number of values in this bucket alone.
    pub own: u64,
    /// Latest of these requests that has a trace.
    pub exemplar: Option<Exemplar>,
}

impl Exposition {
    /// Format for a client that sends this `Accept`.
    pub fn wanted(accept: &str) -> Self {
        let names = |range: &str| range.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(OPENMETRICS);
        if accept.split(',').any(names) { Self::OpenMetrics } else { Self::Prometheus }
    }

    /// The page's `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// The label `le` of a bucket. `OpenMetrics` writes whole numbers as `1.0` (section "Considerations: Canonical Numbers").
    fn bound(self, bound: f64) -> String {
        match self {
            _ if bound.is_infinite() => "+Inf".to_owned(),
            Self::OpenMetrics if bound.fract() == 0.0 => format!("{bound:.1}"),
            Self::Prometheus | Self::OpenMetrics => bound.to_string(),
        }
    }
}

const OPENMETRICS: &str = "application/openmetrics-text";

impl Page {
    /// An empty page.
    pub fn new(format: Exposition) -> Self {
        Self { format, ..Self::default() }
    }

    /// Begins a metric; its samples follow.
    pub fn metric(&mut self, metric: &'static Metric) -> &mut Self {
        let Metric { name, kind, .. } = metric;
        self.name = name;
        let (family, escaped) = match self.format {
            Exposition::Prometheus => (*name, IN_HELP),
            Exposition::OpenMetrics => (name.strip_suffix("_total").unwrap_or(name), IN_LABEL),
        };
        self.line(format_args!(
            "# HELP {family} {}\n# TYPE {family} {}\n",
            EscapedText(metric.help(), escaped),
            kind.as_str()
        ));
        self
    }

    /// A sample of the metric begun last. Label names are the catalogue's.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) -> &mut Self {
        self.sample_of("", labels, value)
    }

    /// All samples of a histogram, whose last bucket has no bound.
    pub fn histogram(&mut self, buckets: impl Iterator<Item = Bucket>, sum: f64) -> &mut Self {
        self.histogram_of(&[], buckets, sum)
    }

    /// All samples of one of several histograms of a metric, which these labels distinguish.
    pub fn histogram_of(
        &mut self,
        labels: &[(&str, &str)],
        buckets: impl Iterator<Item = Bucket>,
        sum: f64,
    ) -> &mut Self {
        let mut below = 0;
        for Bucket { bound, own, exemplar } in buckets {
            below += own;
            let bound = self.format.bound(bound);
            let labels: Vec<_> = labels.iter().copied().chain([("le", bound.as_str())]).collect();
            self.sample_of("_bucket", &labels, below);
            if self.format == Exposition::OpenMetrics
                && let Some(exemplar) = exemplar
            {
                self.exemplify(exemplar);
            }
        }
        self.sample_of("_sum", labels, sum).sample_of("_count", labels, below)
    }

    /// The page.
    pub fn into_text(mut self) -> String {
        if self.format == Exposition::OpenMetrics {
            self.text.push_str("# EOF\n");
        }
        self.text
    }

    /// Appends an exemplar to the sample that was written last.
    fn exemplify(&mut self, Exemplar { trace_id, value, at_unix_ms }: Exemplar) {
        self.text.pop();
        let (s, ms) = (at_unix_ms / 1000, at_unix_ms % 1000);
        self.line(format_args!(" # {{trace_id=\"{trace_id:032x}\"}} {value} {s}.{ms:03}\n"));
    }

    fn sample_of(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) -> &mut Self {
        let name = self.name;
        self.line(format_args!("{name}{suffix}"));
        for (index, (label, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            self.line(format_args!("{before}{label}=\"{}\"", EscapedText(value, IN_LABEL)));
        }
        let end = if labels.is_empty() { "" } else { "}" };
        self.line(format_args!("{end} {value}\n"));
        self
    }

    fn line(&mut self, arguments: fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(arguments);
    }
}

/// Text in which a backslash escapes these characters: those of a label's value, or of a help text.
struct EscapedText<'a>(&'a str, &'static [char]);

const IN_LABEL: &[char] = &['\\', '"', '\n'];
const IN_HELP: &[char] = &['\\', '\n'];

impl Display for EscapedText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if self.1.contains(&character) {
                formatter.write_char('\\')?;
            }
            formatter.write_char(if character == '\n' { 'n' } else { character })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sluice_catalog::metrics;

    use super::*;

    #[test]
    fn labels_cannot_break_out_of_their_quotes() {
        let mut page = Page::default();
        page.metric(&metrics::REQUESTS_TOTAL).sample(&[("class", "a\"} 1\n\\b"), ("outcome", "shed")], 3);
        let text = page.into_text();
        assert!(text.ends_with("sluice_requests_total{class=\"a\\\"} 1\\n\\\\b\",outcome=\"shed\"} 3\n"), "{text}");
    }

    fn buckets(exemplar: Option<Exemplar>) -> impl Iterator<Item = Bucket> {
        let bucket = |(bound, own, exemplar)| Bucket { bound, own, exemplar };
        [(0.5, 2, None), (1.0, 3, exemplar), (f64::INFINITY, 1, None)].into_iter().map(bucket)
    }

    #[test]
    fn openmetrics_has_exemplars_and_an_end() {
        let exemplar = Exemplar { trace_id: 0xaf7_6519, value: 0.75, at_unix_ms: 1_767_225_599_007 };
        let mut page = Page::new(Exposition::OpenMetrics);
        page.metric(&metrics::REQUESTS_TOTAL).sample(&[("outcome", "shed")], 3);
        page.metric(&metrics::QUEUE_WAIT_SECONDS).histogram(buckets(Some(exemplar)), 4.25);
        let text = page.into_text();
        assert!(
            text.contains("\n# TYPE sluice_requests counter\nsluice_requests_total{outcome=\"shed\"} 3\n"),
            "{text}"
        );
        let line = "_bucket{le=\"1.0\"} 5 # {trace_id=\"0000000000000000000000000af76519\"} 0.75 1767225599.007\n";
        assert!(text.contains(line) && text.ends_with("_count 6\n# EOF\n"), "{text}");
        let mut plain = Page::default();
        plain.metric(&metrics::QUEUE_WAIT_SECONDS).histogram(buckets(Some(exemplar)), 4.25);
        assert!(!plain.into_text().contains("trace_id"));
    }

    #[test]
    fn openmetrics_is_for_those_who_ask_for_it() {
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        assert_eq!(Exposition::wanted(prometheus), Exposition::OpenMetrics);
        for accept in ["", "*/*", "text/plain;version=0.0.4", "text/html, application/json"] {
            assert_eq!(Exposition::wanted(accept), Exposition::Prometheus, "{accept}");
        }
    }

    #[test]
    fn histograms_add_up() {
        let mut page = Page::default();
        page.metric(&metrics::QUEUE_WAIT_SECONDS).histogram(buckets(None), 4.25);
        let text = page.into_text();
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                "sluice_queue_wait_seconds_bucket{le=\"0.5\"} 2",
                "sluice_queue_wait_seconds_bucket{le=\"1\"} 5",
                "sluice_queue_wait_seconds_bucket{le=\"+Inf\"} 6",
                "sluice_queue_wait_seconds_sum 4.25",
                "sluice_queue_wait_seconds_count 6",
            ]
        );
    }
}
