//! `sluice profile`: where the CPU time of workers goes. The workers write; everything else is done here, in a process of its own.

mod components;
pub(super) mod files;
pub(super) mod flame;
pub(super) mod hot;
mod named;
mod native;
mod open;
mod requests;
mod tail;
pub(super) mod text;
mod write;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::{getpgrp, getpid};
use serde::Serialize;
use sluice_catalog::profiles::{Kind, ProfileFile, Wish};
use sluice_profiles::{Owner, Profile};

use super::connect::{ClientError, Gateway};
use super::{busiest, source_maps};
use crate::args::ProfileArgs;
use crate::output;
use crate::stderr;
use components::ComponentCpu;
use files::{FileError, Names, TemporaryPath};
pub(super) use files::{clean_up_at_signals, read_into};
use flame::{Flame, Unit};
use hot::FunctionCost;

/// Time that gateway and workers may need beyond the duration of the profile.
pub(super) const LAST_STEPS_TIMEOUT: Duration = Duration::from_secs(45);

/// Output of `--json`. Times in milliseconds.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The first of the workers.
    worker: u64,
    workers: Vec<u64>,
    /// Subject of a profile that is not one of workers as V8 sees them.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Reasons for the lack of other workers' profiles.
    errors: Vec<String>,
    duration_ms: f64,
    /// CPU time: the time in which main threads did not idle, at most what their processes used. So are all times below. `None` for
    /// files, which do not have it: their times are wall-clock time.
    cpu_ms: Option<f64>,
    /// Wall-clock time in which main threads did not idle, as `sluice hotspots` shows of the profile.
    busy_ms: f64,
    /// Time of that in the collector.
    collector_ms: f64,
    samples: usize,
    renders: u64,
    /// The class or path that it is about, and how many of its requests were seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<usize>,
    /// Components, those with most time in themselves first. Names in parentheses are no components.
    components: Vec<ComponentCpu>,
    /// Functions of the app and its packages with most time in themselves first, microseconds.
    places: Vec<FunctionCost>,
    /// The profile, which developer tools open.
    file: String,
    /// The flame graph.
    html: String,
}

pub fn run(args: &ProfileArgs) -> Result<ExitCode, ClientError> {
    files::clean_up_at_signals();
    if let Some(id) = args.tail {
        return tail::run(args, id);
    }
    if !args.files.is_empty() {
        return Ok(named::run(args)?);
    }
    if args.native {
        return native::run(args);
    }
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let duration_ms = args.duration_ms();
    gateway.set_patience(Some(Duration::from_millis(duration_ms) + LAST_STEPS_TIMEOUT))?;
    let worker = busiest::chosen(&mut gateway, args.worker, args.all)?;
    let wish = Wish { kind: Kind::Cpu, worker, all: args.all, duration_ms, route: args.route.clone() };
    let names = Names::new(args.out.as_deref(), &gateway.state_dir(&args.run_dir), "profile")?.or_in(gateway.run_dir());
    let taken = gateway.profiles(wish)?;
    let _raw = raw_dir(&taken);
    let read = read(&taken, args.route.as_deref())?;
    let (report, html) = read.report(&names)?;
    Ok(show(args, &report, &html, text::of(&report)))
}

/// Prints the report, `text` for people, and opens the page where that is wanted.
fn show(args: &ProfileArgs, report: &Report, html: &Path, mut text: String) -> ExitCode {
    let opened = args.open.then(|| open::open(html));
    if args.json {
        if let Some(opened) = opened {
            stderr::say(format_args!("sluice: {opened}."));
        }
        return output::print(&json(report));
    }
    if let Some(opened) = opened {
        text += "\n";
        text += &opened;
        text += "\n";
    }
    output::print(&text)
}

fn json(value: &impl Serialize) -> String {
    // These types have string keys and plain values.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

/// Draws the profiles that stdin names, a list of [`ProfileFile`], as JSON on stdout. The files stay.
pub fn draw(longest: Duration) -> ExitCode {
    end_after(longest);
    let drawn =
        serde_json::from_reader(io::stdin().lock()).map_err(FileError::Stdin).and_then(|taken: Vec<ProfileFile>| {
            let ProfileTotals { flame, .. } = read(&taken, None)?.drawn();
            Ok(flame::json(flame))
        });
    match drawn {
        Ok(json) => output::print(&json),
        Err(error) => {
            stderr::say(error);
            ExitCode::FAILURE
        }
    }
}

/// Ends the process at the latest after this time, because the program that asked may have been killed. Processes that
/// read source maps end too, if this process leads a group.
fn end_after(longest: Duration) {
    thread::spawn(move || {
        thread::sleep(longest);
        if getpgrp() == getpid() {
            let _ = killpg(getpgrp(), Signal::SIGKILL);
        }
        process::exit(1);
    });
}

/// The directory that the workers have written into; it goes at the end.
pub(super) fn raw_dir(taken: &[ProfileFile]) -> Option<TemporaryPath> {
    let file = taken.iter().find(|taken| taken.error.is_none())?;
    Path::new(&file.file).parent().map(TemporaryPath::new)
}

impl Report {
    /// Time of which shares are taken: CPU time, or wall-clock time where that is not known.
    fn whole_ms(&self) -> f64 {
        self.cpu_ms.unwrap_or(self.busy_ms)
    }
}

/// Profiles of workers over one tree, with places where they were written.
struct Read {
    profile: Profile,
    report: Report,
    /// CPU time of the processes, which a file does not have.
    used_ms: Option<f64>,
}

fn read(taken: &[ProfileFile], route: Option<&str>) -> Result<Read, FileError> {
    let mut profile = Profile::default();
    let mut report = Report { route: route.map(str::to_owned), ..Report::default() };
    let (mut used_ms, mut node) = (0.0, "node");
    let mut requests = 0;
    for taken in taken {
        if let Some(error) = &taken.error {
            report.errors.push(error.clone());
            continue;
        }
        let path = || PathBuf::from(&taken.file);
        let file = File::open(&taken.file).map_err(|source| FileError::Io { file: path(), source })?;
        let read = profile.read(&format!("worker {}", taken.worker), file);
        read.map_err(|source| FileError::Profile { file: path(), source })?;
        if route.is_some() {
            let times = times_of(&taken.file)?;
            if times.is_cut || taken.requests_cut {
                report.errors.push(format!("worker {}: there were too many requests; some are omitted", taken.worker));
            }
            let wanted: HashSet<u64> = taken.requests.iter().copied().collect();
            if let Some(track) = profile.tracks.last_mut() {
                requests += requests::leave_only(track, &times, &wanted);
            }
        }
        report.workers.push(taken.worker);
        report.duration_ms = report.duration_ms.max(taken.duration_ms);
        report.renders += taken.renders;
        used_ms += taken.used_ms;
        node = if taken.node.is_empty() { node } else { &taken.node };
    }
    report.worker = report.workers.first().copied().unwrap_or_default();
    report.requests = route.map(|_| requests);
    Ok(Read { profile: source_maps::mapped(profile, node), report, used_ms: Some(used_ms) })
}

/// Times that the preload has written beside the profile.
fn times_of(file: &str) -> Result<requests::RequestTimes, FileError> {
    let file = PathBuf::from(format!("{file}.requests"));
    match std::fs::read(&file).map(|text| serde_json::from_slice(&text)) {
        Ok(Ok(times)) => Ok(times),
        Ok(Err(source)) => Err(FileError::Json { file, source }),
        Err(source) => Err(FileError::Io { file, source }),
    }
}

/// Sum of what was read.
struct ProfileTotals {
    profile: Profile,
    report: Report,
    flame: Flame,
}

impl ProfileTotals {
    /// Writes both files. Returns what is told, and the page.
    fn written(self, names: &Names) -> Result<(Report, PathBuf), FileError> {
        let file = names.write("cpuprofile", &write::cpuprofile(&self.profile, self.report.route.is_none()))?;
        let written = self.page(names, file.display().to_string());
        written.map_err(|error| error.with_kept(file))
    }

    /// Writes the page of a profile that is in `file`.
    fn page(self, names: &Names, file: String) -> Result<(Report, PathBuf), FileError> {
        let Self { mut report, flame, .. } = self;
        let html = names.write("html", flame::page(flame)?.as_bytes())?;
        report.file = file;
        report.html = html.display().to_string();
        Ok((report, html))
    }
}

impl Read {
    /// Writes both files. Returns what is told, and the page.
    fn report(self, names: &Names) -> Result<(Report, PathBuf), FileError> {
        self.drawn().written(names)
    }

    fn drawn(self) -> ProfileTotals {
        let Read { profile, mut report, used_ms } = self;
        let self_us = profile.self_us();
        let of = |is_meant: &dyn Fn(&Owner) -> bool| -> f64 {
            let own = (0..).zip(&self_us).filter(|(node, _)| is_meant(&profile.frame(*node).owner));
            milliseconds(own.map(|(_, us)| *us).sum())
        };
        let busy_ms = of(&|owner| *owner != Owner::Idle);
        // V8's clock goes on while the process waits for a CPU, where it happens to be; what is too much for that reason is taken
        // from all in proportion. Of a part of the time it is not known how much that is.
        let part = match used_ms {
            Some(used_ms) if report.route.is_none() && busy_ms > used_ms => used_ms / busy_ms,
            _ => 1.0,
        };
        report.cpu_ms = used_ms.map(|_| busy_ms * part);
        report.busy_ms = busy_ms;
        report.collector_ms = of(&|owner| *owner == Owner::Collector) * part;
        report.samples = profile.tracks.iter().map(|track| track.samples.len()).sum();
        let self_us: Vec<u64> = self_us.iter().map(|us| in_part(*us, part)).collect();
        report.components = components::by_component(&profile, &self_us);
        report.places = hot::places(&profile);
        for place in &mut report.places {
            (place.own, place.collected) = (in_part(place.own, part), in_part(place.collected, part));
        }
        let title = text::title(&report);
        let mut flame = flame::flame(&profile, &self_us, title, Unit::Us);
        flame.facts = text::facts(&report);
        flame.components.clone_from(&report.components);
        flame.places.clone_from(&report.places);
        ProfileTotals { profile, report, flame }
    }
}

#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of minutes are far below 2^52 µs"
)]
fn in_part(us: u64, part: f64) -> u64 {
    (us as f64 * part).round() as u64
}

#[allow(clippy::cast_precision_loss, reason = "times of minutes are far below 2^52 µs")]
pub(super) fn milliseconds(us: u64) -> f64 {
    us as f64 / 1000.0
}
