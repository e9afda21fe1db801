//! `sluice plan`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::path::PathBuf;

use clap::Args;
use sluice_catalog::config::parse_ms;
use sluice_plan::{Format, PERCENTILES, REQUESTS, Target};

/// Maximum number of workers in a plan.
const WORKERS_MAX: usize = 256;
/// Maximum number of instances in a fleet, and of workers in each.
const FLEET_MAX: usize = 64;

/// `sluice plan`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/plan.txt"))]
pub struct PlanArgs {
    /// Access logs of Sluice, nginx, Apache or HAProxy, also gzipped; - is standard input
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,
    /// Format of the logs: sluice, nginx, apache, haproxy, a log_format of nginx or a LogFormat of Apache [default: detected]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// Find the number of workers that meets this latency target of all requests, such as `p95=200ms`
    #[arg(long, value_name = "pN=TIME", value_parser = target)]
    pub target: Option<Target>,
    /// Range of worker counts; with --target, the plan also tries fewer [default: 1 to twice the number that
    /// the log's CPU time keeps busy]
    #[arg(long, short, value_name = "N..M", value_parser = range)]
    pub workers: Option<(usize, usize)>,
    /// Multiples of the log's traffic, from 0.1 to 10
    #[arg(long, value_name = "X,...", value_delimiter = ',', default_value = "1,1.5,2", value_parser = traffic)]
    pub traffic: Vec<u64>,
    /// Fleets at the log's traffic, as instances x workers of each: 1x8,2x4,8x1
    #[arg(long, value_name = "IxW,...", value_delimiter = ',', value_parser = fleet)]
    pub fleet: Vec<(usize, usize)>,
    /// Number of consecutive requests to replay, from the busiest part of the log
    #[arg(long, value_name = "N", default_value_t = REQUESTS, value_parser = requests)]
    pub requests: usize,
    /// Random seed: the same log and seed give the same plan
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write a page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

fn target(text: &str) -> Result<Target, &'static str> {
    const MEANT: &str = "expected p50, p95 or p99 with a time, such as p95=200ms";
    let (name, time) = text.split_once('=').ok_or(MEANT)?;
    let percentile = name.strip_prefix('p').and_then(|digits| digits.parse().ok()).ok_or(MEANT)?;
    let ms = parse_ms(time).ok().and_then(|ms| u32::try_from(ms).ok()).filter(|ms| *ms > 0).ok_or(MEANT)?;
    PERCENTILES.contains(&percentile).then(|| Target { percentile, ms: f64::from(ms) }).ok_or(MEANT)
}

fn count(text: &str, most: usize) -> Option<usize> {
    text.parse().ok().filter(|count| (1..=most).contains(count))
}

fn range(text: &str) -> Result<(usize, usize), &'static str> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let range = count(from, WORKERS_MAX).zip(count(to, WORKERS_MAX)).filter(|(from, to)| from <= to);
    range.ok_or("expected a number from 1 to 256, or a range such as 1..8")
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn traffic(text: &str) -> Result<u64, &'static str> {
    let factor = text.parse().ok().filter(|factor: &f64| (0.1..=10.0).contains(factor));
    factor.map(|factor| (factor * 1_000.0).round() as u64).ok_or("expected a number from 0.1 to 10")
}

fn fleet(text: &str) -> Result<(usize, usize), &'static str> {
    let fleet = text
        .split_once('x')
        .and_then(|(instances, workers)| count(instances, FLEET_MAX).zip(count(workers, FLEET_MAX)));
    fleet.ok_or("expected instances x workers, each from 1 to 64, such as 4x2")
}

fn requests(text: &str) -> Result<usize, &'static str> {
    if text == "all" {
        return Ok(usize::MAX);
    }
    text.parse().ok().filter(|requests| *requests > 0).ok_or("expected a number from 1, or all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_percentile_with_a_time() {
        assert_eq!(target("p95=200ms"), Ok(Target { percentile: 95, ms: 200.0 }));
        assert_eq!(target("p99=1s"), Ok(Target { percentile: 99, ms: 1_000.0 }));
        for text in ["", "p95", "p90=1s", "95=1s", "p95=", "p95=0ms", "p95=200", "p95=-1s", "p95=999999999d"] {
            assert!(target(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_fleets_and_traffic_are_bounded() {
        assert_eq!([range("3"), range("1..8")], [Ok((3, 3)), Ok((1, 8))]);
        assert_eq!([fleet("4x2"), fleet("1x64")], [Ok((4, 2)), Ok((1, 64))]);
        assert_eq!([traffic("1.5"), traffic("10")], [Ok(1_500), Ok(10_000)]);
        assert_eq!([requests("all"), requests("7")], [Ok(usize::MAX), Ok(7)]);
        for text in ["", "0", "8..1", "1..", "1..257", "1x65", "-1", "x", "0x1", "1x", "nan", "11", "0.01", "inf"] {
            assert!(range(text).is_err() || text == "11", "{text}");
            assert!(fleet(text).is_err() && traffic(text).is_err(), "{text}");
        }
        assert!(requests("0").is_err());
    }
}
