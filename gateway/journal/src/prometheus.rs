//! Prometheus text format 0.0.4. Names, kinds and help come from the catalogue, so that a metric which the reference does
//! not list cannot be written. It must not know where values come from.

use std::fmt::{self, Display, Write};

use sluice_catalog::metrics::Metric;

/// A page of metrics being written.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
    name: &'static str,
}

impl Page {
    /// The page's `Content-Type`.
    pub const CONTENT_TYPE: &'static str = "text/plain; version=0.0.4; charset=utf-8";

    /// Begins a metric; its samples follow.
    pub fn metric(&mut self, metric: &'static Metric) -> &mut Self {
        let Metric { name, kind, help, .. } = metric;
        self.name = name;
        self.line(format_args!("# HELP {name} {}\n# TYPE {name} {}\n", Escaped(help, IN_HELP), kind.as_str()));
        self
    }

    /// A sample of the metric begun last. Label names are the catalogue's.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) -> &mut Self {
        self.sample_of("", labels, value)
    }

    /// All samples of a histogram: `buckets` are upper bounds in seconds and counts of their own, not yet added up; what is
    /// above the last bound is the difference to `count`.
    pub fn histogram(&mut self, buckets: impl Iterator<Item = (f64, u64)>, sum: f64, count: u64) -> &mut Self {
        let mut below = 0;
        for (bound, own) in buckets {
            below += own;
            self.sample_of("_bucket", &[("le", &bound.to_string())], below);
        }
        self.sample_of("_bucket", &[("le", "+Inf")], count).sample_of("_sum", &[], sum).sample_of("_count", &[], count)
    }

    /// The page.
    #[must_use]
    pub fn into_text(self) -> String {
        self.text
    }

    fn sample_of(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) -> &mut Self {
        let name = self.name;
        self.line(format_args!("{name}{suffix}"));
        for (index, (label, value)) in labels.iter().enumerate() {
            let before = if index == 0 { '{' } else { ',' };
            self.line(format_args!("{before}{label}=\"{}\"", Escaped(value, IN_LABEL)));
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

/// Text with these characters escaped by a backslash: those of a label's value, or of a help text.
struct Escaped<'a>(&'a str, &'static [char]);

const IN_LABEL: &[char] = &['\\', '"', '\n'];
const IN_HELP: &[char] = &['\\', '\n'];

impl Display for Escaped<'_> {
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

    #[test]
    fn histograms_add_up() {
        let mut page = Page::default();
        page.metric(&metrics::QUEUE_WAIT_SECONDS).histogram([(0.5, 2), (1.0, 3)].into_iter(), 4.25, 6);
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
