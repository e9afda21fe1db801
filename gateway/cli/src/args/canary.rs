//! `sluice reload` and `sluice canary`.

use clap::{ArgGroup, Args, ValueEnum};
use sluice_catalog::config::Share;

use super::RunDirArg;
use super::milliseconds::Milliseconds;

/// `sluice reload`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/reload.txt"))]
#[command(group(ArgGroup::new("trial").args(["canary", "hold"])))]
pub struct ReloadArgs {
    /// Send this share of visitors to the new version first, in additional workers, and compare both versions
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub canary: Option<u32>,
    /// Pause after this number of batches of workers, at the latest before the last worker, and compare both versions
    #[arg(long, value_name = "BATCHES", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub hold: Option<u32>,
    /// Duration of the comparison before the new version may be promoted; a worse version is rolled back at once
    #[arg(
        long = "for",
        value_name = "TIME",
        default_value = "10m",
        requires = "trial",
        value_parser = Milliseconds(1_000..=86_400_000)
    )]
    pub lasts_ms: u64,
    /// Minimum number of requests that the new version serves before it is promoted
    #[arg(long, value_name = "N", default_value_t = 200, requires = "trial")]
    pub min_requests: u64,
    /// Promotion after --for, if the new version is not worse: auto, or ask, which waits for sluice canary promote
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Promote::Auto, requires = "trial")]
    pub promote: Promote,
    /// Render this share of pages with both versions in idle time and show differences of the HTML, which cause no rollback
    #[arg(long, value_name = "SHARE", requires = "canary", conflicts_with = "hold", value_parser = html_share)]
    pub html: Option<u32>,
    #[command(flatten)]
    pub run_dir: RunDirArg,
}

/// Promoter of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Promote {
    /// The gateway.
    #[value(help = None)]
    Auto,
    /// A person.
    #[value(help = None)]
    Ask,
}

/// `sluice canary`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/canary.txt"))]
pub struct CanaryArgs {
    /// Decision about the version on trial
    #[arg(value_name = "WHAT", value_enum, default_value_t = CanaryAction::Status)]
    pub action: CanaryAction,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print the trial as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Decision about the version on trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CanaryAction {
    /// Show the comparison with the current version
    Status,
    /// Replace the other workers as well, whatever the comparison says
    Promote,
    /// Keep the trial until you end it, without automatic promotion or rollback
    Hold,
    /// Roll it back: its workers finish their requests and exit
    Back,
}

fn share(text: &str) -> Result<u32, &'static str> {
    millionths(text, 0.5).ok_or("expected a share of visitors from 0.01% to 50%, such as 5%")
}

fn html_share(text: &str) -> Result<u32, &'static str> {
    millionths(text, 1.0).ok_or("expected a share of pages up to 100%, such as 1%")
}

fn millionths(text: &str, most: f64) -> Option<u32> {
    let ratio = Share::parse(text).map(Share::ratio).filter(|ratio| *ratio > 0.0 && *ratio <= most);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
    ratio.map(|ratio| (ratio * 1e6).round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser, Debug)]
    struct Reload {
        #[command(flatten)]
        args: ReloadArgs,
    }

    #[test]
    fn settings_of_a_trial_need_a_trial() {
        use clap::Parser as _;
        let parse = |line: &str| Reload::try_parse_from(line.split(' ')).map(|reload| reload.args);
        for line in ["reload", "reload --canary 5% --for 1h --promote ask", "reload --hold 1 --min-requests 10"] {
            assert!(parse(line).is_ok(), "{line}");
        }
        assert_eq!(parse("reload --canary 5% --html 1%").unwrap().html, Some(10_000));
        for option in [
            "--html 1%",
            "--hold 1 --html 1%",
            "--canary 5% --html 0%",
            "--for 1h",
            "--promote ask",
            "--min-requests 10",
            "--canary 5% --hold 1",
        ] {
            assert!(parse(&format!("reload {option}")).is_err(), "{option}");
        }
        assert_eq!(parse("reload").unwrap().lasts_ms, 600_000);
    }

    #[test]
    fn a_share_is_a_percentage_of_at_most_half() {
        assert_eq!(["5%", "0.01%", "50%"].map(share), [Ok(50_000), Ok(100), Ok(500_000)]);
        for text in ["0%", "51%", "5", "", "-1%"] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
