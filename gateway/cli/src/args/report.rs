//! `sluice report`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::path::PathBuf;

use clap::Args;
use sluice_catalog::config::parse_ms;

use super::RunDirArg;

/// `sluice report`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/report.txt"))]
pub struct ReportArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Start of the second period: `reload` for the latest version of the app, `generation:N` for version N, or an age such as `45s`, `30m`, `2h`
    #[arg(long, value_name = "WHEN", default_value = "reload", value_parser = since)]
    pub since: Since,
    /// Compare with the report in this file, as printed by --json
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Limit on additional CPU time of requests, in percent; exit with code 1 unless it is certain that they stay within it
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub budget: Option<f64>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Start of the time after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Start of the latest version of the app.
    Reload,
    /// Start of this version.
    Generation(u64),
    /// Time so many milliseconds ago.
    Ago(u64),
}

/// Error for a text that is no time to begin at.
#[derive(Debug, thiserror::Error)]
#[error("expected `reload`, `generation:N`, or a whole number with s, m, h or d, such as 30m")]
pub struct SinceError;

fn percent(text: &str) -> Result<f64, &'static str> {
    let percent =
        text.trim_end_matches('%').parse().ok().filter(|percent: &f64| percent.is_finite() && *percent >= 0.0);
    percent.ok_or("expected a percentage, such as 10 or 2.5")
}

fn since(text: &str) -> Result<Since, SinceError> {
    if text == "reload" {
        return Ok(Since::Reload);
    }
    if let Some(generation) = text.strip_prefix("generation:") {
        return generation.parse().map(Since::Generation).map_err(|_| SinceError);
    }
    parse_ms(text).ok().filter(|ago_ms| *ago_ms > 0).map(Since::Ago).ok_or(SinceError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_percentage() {
        assert_eq!(["10", "2.5", "5%", "0"].map(percent), [Ok(10.0), Ok(2.5), Ok(5.0), Ok(0.0)]);
        for text in ["", "-5", "nan", "inf", "ten"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_beginning_is_a_version_or_a_time() {
        for (text, wanted) in [
            ("reload", Some(Since::Reload)),
            ("generation:12", Some(Since::Generation(12))),
            ("90s", Some(Since::Ago(90_000))),
            ("2h", Some(Since::Ago(7_200_000))),
            ("12", None),
            ("0m", None),
            ("", None),
            ("m", None),
            ("-1m", None),
            ("99999999999999999d", None),
            ("2\u{20ac}", None),
        ] {
            assert_eq!(since(text).ok(), wanted, "{text}");
        }
    }
}
