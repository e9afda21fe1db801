//! `sluice status` and `sluice top`: how things are.

use clap::builder::TypedValueParser as _;
use clap::{Args, ValueEnum};

use super::RunDirArg;
use super::milliseconds::Milliseconds;
use crate::client::View;

/// Maximum threshold of the queue wait, milliseconds. A day, and no queue holds a request for that long.
const WAIT_MS_MAX: u64 = 86_400_000;

/// `sluice status`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/status.txt"))]
pub struct StatusArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Print one line for a monitor, and exit with code 0, 1, 2 or 3
    #[arg(long, conflicts_with = "json")]
    pub check: bool,
    #[command(flatten)]
    pub thresholds: Thresholds,
}

/// Limits from which on `status --check` warns.
#[derive(Args, Clone, Copy, Debug, PartialEq)]
#[command(next_help_heading = "Thresholds of --check")]
pub struct Thresholds {
    /// Warning below this share of ready workers
    #[arg(long, value_name = "PERCENT", default_value_t = 100, requires = "check", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub ready_warning: u8,
    /// Critical below this share of ready workers; no ready worker is always critical
    #[arg(long, value_name = "PERCENT", default_value_t = 50, requires = "check", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub ready_critical: u8,
    /// Warning above this queue wait in milliseconds: 95th percentile of the last minute, or the oldest wait now
    #[arg(long, value_name = "MS", default_value = "1000", requires = "check", value_parser = Milliseconds(0..=WAIT_MS_MAX).try_map(u32::try_from))]
    pub wait_warning_ms: u32,
    /// Critical above this queue wait, in milliseconds
    #[arg(long, value_name = "MS", default_value = "5000", requires = "check", value_parser = Milliseconds(0..=WAIT_MS_MAX).try_map(u32::try_from))]
    pub wait_critical_ms: u32,
    /// Warning above this share of failed requests in the last minute: 5xx of the app, rejected by a full queue, timed out, cut off, crashed
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, requires = "check")]
    pub errors_warning: f64,
    /// Critical above this share of failed requests
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, requires = "check")]
    pub errors_critical: f64,
    /// Minimum number of requests in the last minute for a verdict on failed requests
    #[arg(long, value_name = "N", default_value_t = 20, requires = "check")]
    pub errors_requests_min: u32,
    /// Severity of an alarm of the gateway
    #[arg(long, value_enum, default_value_t = AlarmsAre::Warning, requires = "check")]
    pub alarms: AlarmsAre,
}

/// Severity of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlarmsAre {
    /// Ignored by the verdict
    Ignored,
    /// Exit code 1
    Warning,
    /// Exit code 2
    Critical,
}

/// `sluice top`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/top.txt"))]
pub struct TopArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// First view
    #[arg(long, value_enum, default_value_t = View::Workers)]
    pub view: View,
    /// Refresh interval in milliseconds
    #[arg(long, value_name = "MS", default_value = "1000", value_parser = Milliseconds(50..=60_000))]
    pub interval_ms: u64,
    /// Print one frame as text and exit
    #[arg(long)]
    pub once: bool,
    /// Disable colours, but not bold and reversed text, as NO_COLOR in the environment does
    #[arg(long)]
    pub no_color: bool,
}
