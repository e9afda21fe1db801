//! Values of flags that end in `-ms`: a whole number of milliseconds, or one with its unit, as in `sluice.toml`.

use std::ffi::OsStr;
use std::ops::RangeInclusive;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use sluice_catalog::config::{parse_ms, written_ms};

/// Reads a time within these bounds, which are milliseconds.
#[derive(Clone, Debug)]
pub struct Milliseconds(pub RangeInclusive<u64>);

impl TypedValueParser for Milliseconds {
    type Value = u64;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<u64, Error> {
        let text = value.to_string_lossy();
        let time_ms = text.parse().ok().or_else(|| parse_ms(&text).ok());
        time_ms.filter(|time_ms| self.0.contains(time_ms)).ok_or_else(|| {
            let flag = arg.map(ToString::to_string).unwrap_or_default();
            let bounds = match (*self.0.start(), *self.0.end()) {
                (0, u64::MAX) => String::new(),
                (min, max) => format!(", from {} to {}", written_ms(min), written_ms(max)),
            };
            let wanted = "expected a whole number of milliseconds, or a number with its unit, such as 500ms or 3s";
            let text = format!("invalid value '{text}' for '{flag}': {wanted}{bounds}\n");
            Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use crate::args::{Cli, Command};

    fn interval_ms(text: &str) -> Result<u64, clap::Error> {
        Cli::try_parse_from(["sluice", "top", "--interval-ms", text]).map(|cli| match cli.command {
            Command::Top(args) => args.interval_ms,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_time_is_milliseconds_or_a_number_with_its_unit() {
        assert_eq!(interval_ms("250").unwrap(), 250);
        assert_eq!(interval_ms("250ms").unwrap(), 250);
        assert_eq!(interval_ms("2s").unwrap(), 2_000);
    }

    #[test]
    fn a_time_out_of_bounds_and_what_is_none_are_refused_with_what_is_meant() {
        for text in ["49", "2m", "2 s", "fast"] {
            let error = interval_ms(text).unwrap_err().to_string();
            assert!(error.contains(&format!("'{text}' for '--interval-ms <MS>'")), "{error}");
            assert!(error.contains("500ms or 3s, from 50ms to 1m"), "{error}");
        }
    }
}
