//! `sluice profile --native`: perf records all threads of workers, with native code and the kernel, while they serve. V8 keeps frame
//! pointers, so stacks are whole without an option of Node.js; only the names of JavaScript functions need one.

use std::collections::HashMap;
use std::fs;
use std::io::{BufReader, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use sluice_catalog::snapshot::WorkerSnapshot;
use sluice_profiles::{Owner, PERF_FIELDS, PerfFacts, Profile};

use super::files::{FileError, Names, StartedProgram, TemporaryPath};
use super::hot::FunctionCost;
use super::{ProfileTotals, Report, flame, show, text};
use crate::args::ProfileArgs;
use crate::client::connect::{ClientError, Gateway};
use crate::client::{busiest, source_maps, worker_known};
use flame::Unit;

/// Samples a second of each thread's CPU time; no divisor of usual timers, so that it does not keep step with them.
const SAMPLES_PER_SECOND: u32 = 999;
/// Value of `kernel.perf_event_paranoid` from which perf of a user without privileges sees no kernel.
const PARANOID_OF_KERNEL: i32 = 2;
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

pub fn run(args: &ProfileArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    worker_known::check(&mut gateway, args.worker)?;
    let workers = chosen(args, gateway.status()?.workers);
    if workers.is_empty() {
        return Err(FileError::Perf("there is no such worker; `sluice status` lists the workers".to_owned()).into());
    }
    let names = Names::new(args.out.as_deref(), &gateway.state_dir(&args.run_dir), "native")?;
    let data = TemporaryPath::new(&names.with("perf.data"));
    make_dir(data.path())?;
    let threads = workers.iter().map(|(id, pid)| (*pid, name(*id, workers.len()))).collect();
    let pids: Vec<u32> = workers.iter().map(|(_, pid)| *pid).collect();
    record(&pids, args.duration_ms(), data.path())?;
    let mut profile = Profile::default();
    let facts = read(&mut profile, data.path(), &threads)?;
    let report = Report {
        worker: workers.first().map(|(id, _)| *id).unwrap_or_default(),
        workers: workers.iter().map(|(id, _)| *id).collect(),
        duration_ms: Duration::from_millis(args.duration_ms()).as_secs_f64() * 1000.0,
        errors: remarks(facts),
        ..Report::default()
    };
    let (report, html) = drawn(source_maps::mapped(profile, "node"), report).written(&names)?;
    let text = text::of(&report);
    Ok(show(args, &report, &html, text))
}

/// Ids of workers and of their processes: the one that is named, all, or the busiest.
fn chosen(args: &ProfileArgs, mut workers: Vec<WorkerSnapshot>) -> Vec<(u64, u32)> {
    let wanted = if args.all { None } else { args.worker.or_else(|| busiest::of(&workers)) };
    workers.retain(|worker| worker.pid.is_some() && wanted.is_none_or(|wanted| wanted == worker.id));
    // Where none serves, one that starts.
    workers.truncate(if args.all { usize::MAX } else { 1 });
    let mut ids: Vec<(u64, u32)> = workers.iter().filter_map(|worker| Some((worker.id, worker.pid?))).collect();
    ids.sort_unstable();
    ids
}

/// Name of a worker's main thread.
fn name(worker: u64, workers: usize) -> String {
    if workers > 1 { format!("(main thread of worker {worker})") } else { "(main thread)".to_owned() }
}

fn make_dir(file: &Path) -> Result<(), FileError> {
    let dir = file.parent().unwrap_or(file);
    sluice_observe::make_private_dir(dir).map_err(|source| FileError::Io { file: dir.to_owned(), source })
}

fn record(pids: &[u32], duration_ms: u64, data: &Path) -> Result<(), FileError> {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    let seconds = format!("{}.{:03}", duration_ms / 1000, duration_ms % 1000);
    // Its periods are nanoseconds of CPU time, and it needs no counter of the CPU, which virtual machines often lack.
    let event = if sees_kernel() { "cpu-clock" } else { "cpu-clock:u" };
    let mut perf = Command::new("perf");
    perf.args(["record", "--quiet", "--call-graph", "fp", "--event", event, "--freq"]);
    perf.arg(SAMPLES_PER_SECOND.to_string()).arg("--pid").arg(pids.join(",")).arg("--output").arg(data);
    perf.args(["--", "sleep", &seconds]).stdout(Stdio::null());
    let ((), said, is_success) = ended(spawned(perf)?, |_| Ok(()))?;
    if is_success { Ok(()) } else { Err(FileError::Perf(refusal(&said))) }
}

fn read(profile: &mut Profile, data: &Path, threads: &HashMap<u32, String>) -> Result<PerfFacts, FileError> {
    let mut perf = Command::new("perf");
    // The file is this user's own, whoever perf believes to own it.
    perf.args(["script", "--force", "--no-inline", "--fields", PERF_FIELDS, "--input"])
        .arg(data)
        .stdout(Stdio::piped());
    let (facts, said, is_success) = ended(spawned(perf)?, |child| {
        let text = child.stdout.take().map(|stdout| profile.read_perf(BufReader::new(stdout), threads));
        text.unwrap_or(Ok(PerfFacts::default()))
    })?;
    if is_success || facts.is_cut { Ok(facts) } else { Err(FileError::Perf(refusal(&said))) }
}

fn spawned(mut perf: Command) -> Result<Child, FileError> {
    perf.stdin(Stdio::null()).stderr(Stdio::piped()).process_group(0).spawn().map_err(|error| {
        FileError::Perf(match error.kind() {
            std::io::ErrorKind::NotFound => {
                "it is not installed. Install the package linux-perf (Debian), linux-tools-generic (Ubuntu) or \
                                             perf (Fedora, Alpine); without --native no program is needed"
                    .to_owned()
            }
            _ => error.to_string(),
        })
    })
}

/// Uses a child's output and waits for its end. Returns what it said on stderr, too, and whether it ended well.
fn ended<T>(
    mut child: Child,
    using: impl FnOnce(&mut Child) -> std::io::Result<T>,
) -> Result<(T, String, bool), FileError> {
    let _started = StartedProgram::new(&child);
    let stderr = child.stderr.take();
    // Otherwise a child that says much waits for its reader.
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.read_to_end(&mut said);
        }
        String::from_utf8_lossy(&said).into_owned()
    });
    let used = using(&mut child);
    drop(child.stdout.take());
    let status = child.wait().map_err(|error| FileError::Perf(error.to_string()))?;
    let said = reader.join().unwrap_or_default();
    Ok((used.map_err(|error| FileError::Perf(error.to_string()))?, said, status.success()))
}

/// First line of what perf says, with the remedy.
fn refusal(said: &str) -> String {
    let line = said.lines().map(str::trim).find(|line| !line.is_empty() && *line != "Error:").unwrap_or("it failed");
    let is_permission = said.contains("paranoid") || said.contains("ermission") || said.contains("EPERM");
    let remedy = match paranoid() {
        Some(level) if is_permission => format!(
            ". Run the command as root, or `sysctl kernel.perf_event_paranoid=1` (it is {level}); containers need CAP_PERFMON, too"
        ),
        _ => String::new(),
    };
    format!("{line}{remedy}")
}

fn paranoid() -> Option<i32> {
    fs::read_to_string(PARANOID).ok()?.trim().parse().ok()
}

fn sees_kernel() -> bool {
    nix::unistd::geteuid().is_root() || paranoid().is_none_or(|level| level < PARANOID_OF_KERNEL)
}

/// Parts that are not in the picture, and how to see them.
fn remarks(facts: PerfFacts) -> Vec<String> {
    let mut remarks = Vec::new();
    if facts.has_unnamed {
        remarks.push(
            "names of JavaScript functions: app.node_args = [\"--perf-basic-prof\"] gives them at the next start"
                .to_owned(),
        );
    }
    if !facts.has_kernel && !sees_kernel() {
        remarks.push(format!(
            "the kernel's functions: run the command as root, or `sysctl kernel.perf_event_paranoid=1` (it is {})",
            paranoid().unwrap_or_default()
        ));
    }
    if facts.is_cut {
        remarks.push("later samples, because there were too many".to_owned());
    }
    remarks
}

fn drawn(profile: Profile, mut report: Report) -> ProfileTotals {
    let self_us = profile.self_us();
    report.subject = Some(format!("{}, all threads with native code", text::title(&report)));
    report.cpu_ms = Some(super::milliseconds(self_us.iter().sum()));
    report.samples = profile.tracks.iter().map(|track| track.samples.len()).sum();
    report.places = places(&profile, &self_us);
    let mut flame = flame::flame(&profile, &self_us, text::title(&report), Unit::Us);
    flame.facts = text::facts(&report);
    flame.places.clone_from(&report.places);
    ProfileTotals { profile, report, flame }
}

/// Functions of any owner, those with most time in themselves first.
fn places(profile: &Profile, self_us: &[u64]) -> Vec<FunctionCost> {
    let mut sums: HashMap<u32, u64> = HashMap::new();
    for (node, us) in profile.nodes().iter().zip(self_us).filter(|(_, us)| **us > 0) {
        *sums.entry(node.frame).or_default() += us;
    }
    let mut places: Vec<FunctionCost> = sums
        .into_iter()
        .filter(|(frame, _)| profile.frames()[*frame as usize].owner != Owner::Root)
        .map(|(frame, own)| {
            let frame = &profile.frames()[frame as usize];
            FunctionCost {
                function: if frame.function.is_empty() { "(anonymous)".to_owned() } else { frame.function.clone() },
                file: sluice_profiles::path_of(&frame.url),
                line: frame.line,
                package: frame.owner.name().to_owned(),
                own,
                collected: 0,
            }
        })
        .collect();
    places.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| (&a.function, &a.file).cmp(&(&b.function, &b.file))));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_the_first_line_with_the_remedy() {
        let denied =
            refusal("Error:\nAccess to performance monitoring is limited.\nkernel.perf_event_paranoid setting is 4\n");
        assert!(denied.starts_with("Access to performance monitoring is limited."), "{denied}");
        if paranoid().is_some() {
            assert!(denied.contains("sysctl kernel.perf_event_paranoid=1"), "{denied}");
        }
        assert_eq!(refusal("\nno such process\n"), "no such process");
        assert_eq!(refusal(""), "it failed");
    }

    #[test]
    fn functions_of_all_owners_are_listed_by_their_own_time() {
        let text = "node 7 1.0: 2000000 \n\t1 memcpy (/usr/lib/libc.so.6)\n\t2 JS:*hot /srv/app.js:7:1 (/tmp/perf-7.map)\n\n\
                    node 7 1.1: 5000000 \n\t3 JS:*hot /srv/app.js:7:1 (/tmp/perf-7.map)\n";
        let mut profile = Profile::default();
        profile.read_perf(text.as_bytes(), &HashMap::new()).unwrap();
        let ProfileTotals { report, flame, .. } = drawn(profile, Report { workers: vec![3], ..Report::default() });
        let list: Vec<(&str, u64, &str)> =
            report.places.iter().map(|place| (&*place.function, place.own, &*place.package)).collect();
        assert_eq!(list, [("hot", 5000, "app"), ("memcpy", 2000, "native")]);
        assert_eq!((report.samples, flame.title.as_str()), (2, "worker 3, all threads with native code"));
    }
}
