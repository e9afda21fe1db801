//! `sluice heap`: what is on the heap of a worker, with what the look costs said before.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sluice_catalog::profiles::{Kind, ProfileFile, Wish};
use sluice_catalog::snapshot::{Snapshot, WorkerSnapshot, WorkerState};
use sluice_profiles::Profile;

use super::connect::{ClientError, Gateway};
use super::profile::files::{self, FileError, Names};
use super::profile::flame::{self, Unit};
use super::profile::hot::{self, FunctionCost};
use super::profile::{LAST_STEPS_TIMEOUT, raw_dir, text};
use super::source_maps;
use super::status::{aligned, bytes, harmless};
use crate::args::HeapArgs;
use crate::exit::Exit;
use crate::output;
use crate::stderr;

/// Maximum wait for a snapshot.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(620);
/// Bytes of a heap that Node.js writes in a second of a snapshot, by measurement (decision 0062).
const BYTES_PER_S: u64 = 16 * 1024 * 1024;
/// Memory that a snapshot takes beside the heap, as a multiple of it, by the same.
const MEMORY_FACTOR: u64 = 13;
/// Size of its file, likewise.
const FILE_FACTOR: u64 = 2;
/// Maximum number of shown rows.
const ROWS_MAX: usize = 40;

pub fn run(args: &HeapArgs) -> Result<ExitCode, ClientError> {
    files::clean_up_at_signals();
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let status = gateway.status()?;
    let Some(worker) = worker_of(&status, args.worker) else {
        let text = "no such worker is serving; `sluice status` lists the workers".to_owned();
        return Err(ClientError::Refused { run_dir: gateway.run_dir().to_owned(), text });
    };
    let kind = args.kind();
    let names = Names::new(args.out.as_deref(), &gateway.state_dir(&args.run_dir), &format!("heap-{}", worker.id))?
        .or_in(gateway.run_dir());
    stderr::say(cost(kind, worker, args.duration_ms()));
    if kind == Kind::Snapshot && !args.yes && io::stdin().is_terminal() && !confirmed() {
        stderr::say("sluice: nothing was done.");
        return Ok(Exit::Failed.into());
    }
    let duration_ms = args.duration_ms();
    let patience =
        if kind == Kind::Snapshot { SNAPSHOT_TIMEOUT } else { Duration::from_millis(duration_ms) + LAST_STEPS_TIMEOUT };
    gateway.set_patience(Some(patience))?;
    let wish = Wish { kind, worker: Some(worker.id), duration_ms, ..Wish::default() };
    let taken = gateway.profiles(wish)?;
    let _raw = raw_dir(&taken);
    let taken = taken.first().ok_or(FileError::Missing)?;
    let raw = Path::new(&taken.file);
    let said = match kind {
        Kind::Snapshot => names.take(kind.extension(), raw).map(|file| snapshot_text(&file, taken.duration_ms)),
        _ => sampled(raw, &taken.node, kind, &names)
            .map(|text| remark(taken, worker, gateway.status().ok().as_ref()) + &text),
    };
    Ok(output::print(&said?))
}

/// Words before the profile.
fn remark(taken: &ProfileFile, before: &WorkerSnapshot, after: Option<&Snapshot>) -> String {
    match &taken.error {
        Some(error) => format!("{}.\n\n", harmless(error)),
        None => idle(before, after).unwrap_or_default(),
    }
}

/// A warning where the worker had nothing to do meanwhile; `after` is the status since then.
fn idle(before: &WorkerSnapshot, after: Option<&Snapshot>) -> Option<String> {
    let after = after?.workers.iter().find(|worker| worker.id == before.id)?;
    let is_idle = after.requests_total == before.requests_total && after.state == WorkerState::Ready;
    is_idle.then(|| {
        format!(
            "Worker {} served no request meanwhile: these allocations come from its background work. Send requests \
             during the profile, or profile for longer with --seconds.\n\n",
            before.id
        )
    })
}

/// The one that is named, or that which has answered most requests.
fn worker_of(status: &Snapshot, wanted: Option<u64>) -> Option<&WorkerSnapshot> {
    let serves = |worker: &&WorkerSnapshot| matches!(worker.state, WorkerState::Ready | WorkerState::Busy);
    let serving = status.workers.iter().filter(serves);
    match wanted {
        Some(id) => serving.into_iter().find(|worker| worker.id == id),
        None => serving.max_by_key(|worker| (worker.requests_total, std::cmp::Reverse(worker.id))),
    }
}

/// Cost of the look, from what is known of the heap.
fn cost(kind: Kind, worker: &WorkerSnapshot, duration_ms: u64) -> String {
    let id = worker.id;
    if kind != Kind::Snapshot {
        let s = duration_ms.div_ceil(1000);
        return format!(
            "worker {id} keeps serving during the profile ({s} s); allocations take a few percent more \
            CPU time"
        );
    }
    let Some(heap) = worker.heap_used_bytes else {
        return format!(
            "worker {id} is blocked for about a second for each {} of its heap, and needs additional memory of \
             {MEMORY_FACTOR} times the heap",
            bytes(BYTES_PER_S)
        );
    };
    format!(
        "worker {id} has {} on its heap: it accepts no requests, is blocked for about {} s, needs up to {} more \
         memory, and writes a file of about {}. The file contains strings of requests and secrets.",
        bytes(heap),
        (heap / BYTES_PER_S).max(1),
        bytes(heap * MEMORY_FACTOR),
        bytes(heap * FILE_FACTOR),
    )
}

fn confirmed() -> bool {
    stderr::ask("Continue? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn snapshot_text(file: &Path, duration_ms: f64) -> String {
    let size = fs::metadata(file).map_or(0, |metadata| metadata.len());
    format!(
        "heap snapshot: {} ({}, blocked for {:.1} s)\nOpen it in Chrome's DevTools (Memory, Load).\n",
        harmless(&file.display().to_string()),
        bytes(size),
        duration_ms / 1000.0
    )
}

/// A function that allocates, as V8 gives it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HeapNode {
    call_frame: Value,
    self_size: u64,
    #[serde(default)]
    children: Vec<HeapNode>,
}

/// The same as a CPU profile has it, with a sample for each function and bytes for time.
fn as_cpu_profile(head: HeapNode) -> Value {
    let (mut nodes, mut samples, mut deltas) = (Vec::new(), Vec::new(), vec![0]);
    let mut open = vec![(head, None)];
    while let Some((HeapNode { call_frame, self_size, children }, parent)) = open.pop() {
        let id = nodes.len() + 1;
        let mut node = json!({ "id": id, "callFrame": call_frame });
        if let (Some(parent), Some(node)) = (parent, node.as_object_mut()) {
            node.insert("parent".to_owned(), json!(parent));
        }
        nodes.push(node);
        let mut left = self_size;
        while left > 0 {
            // What a sample holds has a bound.
            let some = left.min(u64::from(u32::MAX));
            samples.push(id);
            deltas.push(some);
            left -= some;
        }
        open.extend(children.into_iter().map(|child| (child, Some(id))));
    }
    let end: u64 = deltas.iter().sum();
    deltas.pop();
    json!({ "nodes": nodes, "samples": samples, "timeDeltas": deltas, "startTime": 0, "endTime": end })
}

#[derive(Deserialize)]
struct HeapProfile {
    head: HeapNode,
}

fn sampled(raw: &Path, node: &str, kind: Kind, names: &Names) -> Result<String, FileError> {
    let path = || raw.to_owned();
    let text = fs::read(raw).map_err(|source| FileError::Io { file: path(), source })?;
    // Stacks of calls are as deep here as they were in the app.
    let mut json = serde_json::Deserializer::from_slice(&text);
    json.disable_recursion_limit();
    let HeapProfile { head } =
        HeapProfile::deserialize(&mut json).map_err(|source| FileError::Json { file: path(), source })?;
    let mut profile = Profile::default();
    let read = profile.read("heap", as_cpu_profile(head).to_string().as_bytes());
    read.map_err(|source| FileError::Profile { file: path(), source })?;
    let profile = source_maps::mapped(profile, node);
    let (self_bytes, places) = (profile.self_us(), hot::places(&profile));
    let total: u64 = self_bytes.iter().sum();
    let what = if kind == Kind::Sampling { "allocated and still on the heap" } else { "allocated" };
    let mut flame = flame::flame(&profile, &self_bytes, format!("Heap: {what}"), Unit::Bytes);
    flame.facts = vec![("Bytes".to_owned(), bytes(total))];
    flame.places.clone_from(&places);
    let file = names.take(kind.extension(), raw)?;
    let page = flame::page(flame).and_then(|page| names.write("html", page.as_bytes()));
    let html = page.map_err(|error| error.with_kept(file.clone()))?;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{} {what}, by sampling", bytes(total));
    let paths = [("flame graph", &html), ("profile", &file)];
    for (name, path) in paths {
        let _ = writeln!(out, "{name}: {}", harmless(&path.display().to_string()));
    }
    out.push('\n');
    out.push_str(&table(&places, total));
    Ok(out)
}

#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn table(places: &[FunctionCost], total: u64) -> String {
    let mut rows = vec![["FUNCTION", "BYTES", "SHARE", "PACKAGE", "PLACE"].map(str::to_owned)];
    rows.extend(places.iter().take(ROWS_MAX).map(|place| {
        [
            text::short(&place.function),
            bytes(place.own),
            format!("{:.1} %", place.own as f64 / total.max(1) as f64 * 100.0),
            text::short(&place.package),
            format!("{}:{}", harmless(&text::relative(&place.file)), place.line),
        ]
    }));
    aligned(&rows)
}
