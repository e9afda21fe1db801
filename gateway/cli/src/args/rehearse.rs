//! `sluice rehearse`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use sluice_plan::Format;
use sluice_rehearse::{Fault, Load, Weighted};

/// Maximum duration of a load, seconds.
const SECONDS_MAX: f64 = 600.0;

/// `sluice rehearse`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/rehearse.txt"))]
pub struct RehearseArgs {
    /// Script that calls listen() [default: the app that `sluice start` would find]
    #[arg(conflicts_with = "app")]
    pub entry: Option<String>,
    /// Access log whose paths are requested in the same proportions; may be repeated; - is standard input
    #[arg(long, value_name = "FILE")]
    pub log: Vec<PathBuf>,
    /// Format of the logs, as for `sluice plan` [default: detected]
    #[arg(long, value_name = "FORMAT", requires = "log")]
    pub format: Option<Format>,
    /// Paths to request, each with an optional weight after = [default: /]
    #[arg(long, value_name = "PATH[=N],...", value_delimiter = ',', conflicts_with = "log")]
    pub paths: Vec<Weighted>,
    /// Number of workers [config: workers.count]
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub workers: Option<u32>,
    /// Loads: low (30 % of the capacity), high (75 %), queueing (110 %), or a number of clients
    #[arg(long, value_name = "LOAD,...", value_delimiter = ',', default_value = "low,high,queueing")]
    pub loads: Vec<Load>,
    /// Faults to test with each load
    #[arg(long, value_name = "FAULT,...", value_delimiter = ',', default_value = "none,reload,kills,loop", value_parser = faults())]
    pub faults: Vec<Fault>,
    /// Duration of each load with each fault in seconds, from 1 to 600; a reload or a stuck worker may take longer
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    pub seconds: f64,
    /// Random seed of arrivals, paths and killed workers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a page with the report to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Configuration file [default: sluice.toml, if it exists]
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Command that starts the app instead of a script
    #[arg(id = "app", last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Parser of the names of faults.
fn faults() -> impl clap::builder::TypedValueParser<Value = Fault> {
    use clap::builder::TypedValueParser as _;
    let names = Fault::ALL.map(|fault| PossibleValue::new(fault.name()));
    clap::builder::PossibleValuesParser::new(names)
        .map(|name| Fault::ALL.into_iter().find(|fault| fault.name() == name).unwrap_or(Fault::None))
}

fn seconds(text: &str) -> Result<f64, &'static str> {
    let seconds = text.parse().ok().filter(|seconds: &f64| (1.0..=SECONDS_MAX).contains(seconds));
    seconds.ok_or("expected a number from 1 to 600")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::{Cli, Command};

    fn parsed(line: &str) -> Option<RehearseArgs> {
        match Cli::try_parse_from(line.split(' ')).ok()?.command {
            Command::Rehearse(args) => Some(args),
            _ => None,
        }
    }

    #[test]
    fn everything_is_tried_unless_the_command_line_names_less() {
        let args = parsed("sluice rehearse server.js").unwrap();
        assert_eq!(args.loads, [Load::Low, Load::High, Load::Queueing]);
        assert_eq!(args.faults, Fault::ALL);
        let args = parsed("sluice rehearse --loads 5,13,low --faults kills,none --seconds 1.5 -- npm start").unwrap();
        assert_eq!(args.loads, [Load::Clients(5), Load::Clients(13), Load::Low]);
        assert_eq!((args.faults, args.seconds), (vec![Fault::Kills, Fault::None], 1.5));
        assert_eq!(args.command, ["npm", "start"]);
    }

    #[test]
    fn bounds_hold() {
        for words in [
            "--loads 0",
            "--loads fast",
            "--faults all",
            "--seconds 0.5",
            "--seconds nan",
            "--paths a",
            "--paths /a --log b",
            "--workers 0",
        ] {
            assert!(parsed(&format!("sluice rehearse a.js {words}")).is_none(), "{words}");
        }
    }
}
