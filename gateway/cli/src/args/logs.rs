//! `sluice logs`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::str::FromStr;

use clap::Args;
use clap::builder::PossibleValuesParser;
use sluice_catalog::config::parse_ms;
use sluice_catalog::logfields::LineKind;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::RunDirArg;

/// `sluice logs`.
#[derive(Args, Debug, Default)]
#[command(after_help = include_str!("examples/logs.txt"))]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct LogsArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Number of lines; the gateway stores the latest 2000 of each kind
    #[arg(long, short = 'n', value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=8_000))]
    pub lines: u32,
    /// Follow new lines until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    /// Show only lines of the worker with this id
    #[arg(long, value_name = "ID")]
    pub worker: Option<u64>,
    /// Show only lines of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(LineKind::ALL.map(LineKind::as_str)))]
    pub kind: Option<String>,
    /// Show only requests with one of these statuses: 500, 5xx, 4xx,503; 0 selects requests without a status
    #[arg(long, value_name = "STATUS,…", value_delimiter = ',', value_parser = Statuses::from_str)]
    pub status: Vec<Statuses>,
    /// Show only requests whose class contains this text
    #[arg(long, value_name = "TEXT")]
    pub class: Option<String>,
    /// Show only requests with at least this total time, from first byte to end
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub slow: Option<u64>,
    /// Show only lines since this time (2026-11-24T10:00:00Z), or at most this old (`10m`, `2h`)
    #[arg(long, value_name = "TIME", value_parser = Moment::from_str)]
    pub since: Option<Moment>,
    /// Show only lines whose JSON or printed form matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub grep: Option<String>,
    /// Treat the text of --grep as plain text
    #[arg(long, short = 'F', requires = "grep")]
    pub fixed_strings: bool,
    /// Show only lines of this level or higher
    #[arg(long, value_parser = PossibleValuesParser::new(LEVELS))]
    pub level: Option<String>,
    /// Print JSON, even on a terminal
    #[arg(long, conflicts_with = "text")]
    pub json: bool,
    /// Print readable text, even into a pipe or file
    #[arg(long)]
    pub text: bool,
}

/// Levels of lines, from the lowest.
pub const LEVELS: [&str; 4] = ["debug", "info", "warn", "error"];

/// Statuses that a request may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statuses {
    /// Request with this number; 0 if the client got none.
    One(u64),
    /// All with this first digit.
    Class(u64),
}

/// The text is no status. Says what may be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a status such as 500, a class of statuses such as 5xx, or 0")]
pub struct NotAStatus;

impl FromStr for Statuses {
    type Err = NotAStatus;

    fn from_str(text: &str) -> Result<Self, NotAStatus> {
        let class = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX"));
        match class {
            Some(digit) => digit.parse().ok().filter(|digit| (1..=5).contains(digit)).map(Self::Class),
            None => text.parse().ok().filter(|status| *status == 0 || (100..=599).contains(status)).map(Self::One),
        }
        .ok_or(NotAStatus)
    }
}

impl Statuses {
    /// Whether the status is among them.
    pub fn has(self, status: u64) -> bool {
        match self {
            Self::One(one) => status == one,
            Self::Class(digit) => status / 100 == digit,
        }
    }
}

/// A point in time, or how long ago it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Time ago, milliseconds.
    Ago(u64),
    /// Unix time, milliseconds.
    At(u64),
}

/// The text is no time. Says what may be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an age such as 90s, 10m, 2h or 1d, or a time such as 2026-11-24T10:00:00Z")]
pub struct NotAMoment;

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        if let Ok(ago_ms) = parse_ms(text) {
            return Ok(Self::Ago(ago_ms));
        }
        let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| NotAMoment)?;
        u64::try_from(at.unix_timestamp_nanos() / 1_000_000).map(Self::At).map_err(|_| NotAMoment)
    }
}

/// The text is no duration. Says what may be written.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a time with its unit, such as 500ms or 2s")]
pub struct NotADuration;

fn duration(text: &str) -> Result<u64, NotADuration> {
    parse_ms(text).map_err(|_| NotADuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_one_or_a_class_of_them() {
        for (text, statuses) in [
            ("500", Some(Statuses::One(500))),
            ("0", Some(Statuses::One(0))),
            ("5xx", Some(Statuses::Class(5))),
            ("4XX", Some(Statuses::Class(4))),
            ("6xx", None),
            ("99", None),
            ("xx", None),
            ("5x", None),
            ("", None),
        ] {
            assert_eq!(text.parse().ok(), statuses, "{text}");
        }
        assert!(Statuses::Class(5).has(503) && !Statuses::Class(5).has(404) && Statuses::One(0).has(0));
    }

    #[test]
    fn a_moment_is_so_long_ago_or_a_time_with_its_zone() {
        for (text, moment) in [
            ("10m", Some(Moment::Ago(600_000))),
            ("500ms", Some(Moment::Ago(500))),
            ("1970-01-01T00:00:01Z", Some(Moment::At(1_000))),
            ("1970-01-01T01:00:00.250+01:00", Some(Moment::At(250))),
            ("1969-12-31T23:59:59Z", None),
            ("2026-11-24", None),
            ("yesterday", None),
            ("10", None),
        ] {
            assert_eq!(text.parse().ok(), moment, "{text}");
        }
    }
}
