//! `sluice plan`: opens access logs, and prints what `sluice_plan` makes of them.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use flate2::bufread::MultiGzDecoder;
use serde::Serialize;
use sluice_plan::{Counts, LogReader, Plan, Question, html, plan, text};

use crate::args::PlanArgs;
use crate::exit::Exit;
use crate::output;

const BUFFER_BYTES: usize = 256 * 1024;
/// Begin of a file of gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Reason why there is no plan.
#[derive(Debug, thiserror::Error)]
enum PlanError {
    #[error("{path}: {error}")]
    Unread { path: String, error: io::Error },
    #[error("{path}: {error}")]
    Unwritten { path: String, error: io::Error },
    #[error(
        "the log does not have the time of requests. Add the time to its format (nginx: log_format with $request_time and $upstream_response_time; Apache: LogFormat with %D), then plan with new lines. If the time is at another place, pass the format with --format"
    )]
    Untimed,
    #[error(
        "no request in {lines} lines; the first unreadable line: {first}. Pass the format with --format, as in --format '$remote_addr [$time_local] \"$request\" $request_time'. Sluice's own log must be JSON: log.format = \"json\""
    )]
    Unknown { lines: u64, first: String },
    #[error("no request for a worker in {0} lines. In Sluice's log, requests are written while log.access is true")]
    Empty(u64),
}

/// Everything, for `--json`.
#[derive(Serialize)]
struct Whole<'a> {
    log: &'a Counts,
    #[serde(flatten)]
    plan: &'a Plan,
}

pub fn run(args: &PlanArgs) -> ExitCode {
    match planned(args) {
        Ok(text) => output::print(&text),
        Err(error @ PlanError::Unwritten { .. }) => Exit::Failed.because(error),
        Err(error) => Exit::Usage.because(error),
    }
}

fn planned(args: &PlanArgs) -> Result<String, PlanError> {
    let mut reader = LogReader::new(args.format.clone().unwrap_or_default(), args.seed);
    for path in &args.logs {
        let name = path.display().to_string();
        with_log(path, |name, input| reader.read(name, input))
            .map_err(|error| PlanError::Unread { path: name, error })?;
    }
    let counts = reader.counts();
    if reader.requests() == 0 {
        return Err(match counts.strange_first.first() {
            _ if counts.untimed > 0 => PlanError::Untimed,
            Some(first) => PlanError::Unknown { lines: counts.lines, first: first.clone() },
            None => PlanError::Empty(counts.lines),
        });
    }
    let (stretch, counts) = reader.busiest(args.requests);
    let question = Question {
        workers: args.workers,
        traffic: args.traffic.clone(),
        target: args.target,
        fleets: args.fleet.clone(),
        seed: args.seed,
        threads: thread::available_parallelism().map_or(1, usize::from),
    };
    let plan = plan(&stretch, &question);
    if let Some(path) = &args.html {
        write(path, &html(&plan, &counts))?;
    }
    if args.json {
        let whole = Whole { log: &counts, plan: &plan };
        return Ok(serde_json::to_string(&whole).unwrap_or_default() + "\n");
    }
    let written = args.html.as_ref().map_or_else(String::new, |path| format!("\nPlots: {}\n", path.display()));
    Ok(text(&plan, &counts) + &written)
}

fn write(path: &PathBuf, page: &str) -> Result<(), PlanError> {
    fs::write(path, page).map_err(|error| PlanError::Unwritten { path: path.display().to_string(), error })
}

/// Opens one log, which may be compressed, and has it read. The reader gets its name for messages.
pub fn with_log<T>(path: &Path, read: impl FnOnce(&str, &mut dyn BufRead) -> io::Result<T>) -> io::Result<T> {
    if path.as_os_str() == "-" {
        return read_any(path, BufReader::with_capacity(BUFFER_BYTES, io::stdin().lock()), read);
    }
    read_any(path, BufReader::with_capacity(BUFFER_BYTES, File::open(path)?), read)
}

fn read_any<T>(
    path: &Path,
    mut input: impl BufRead,
    read: impl FnOnce(&str, &mut dyn BufRead) -> io::Result<T>,
) -> io::Result<T> {
    let name = path.to_string_lossy();
    if input.fill_buf()?.starts_with(&GZIP) {
        return read(&name, &mut BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(input)));
    }
    read(&name, &mut input)
}
