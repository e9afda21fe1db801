//! Number of workers and size of their heaps, by the CPUs and the memory of this machine or container. Pure but for
//! [`Room::here`].

use std::fs;
use std::path::Path;

use serde::Serialize;
use sluice_catalog::config::{Concurrency, Config, ConfigInForce, Lanes, Mode, Order};
use sluice_supervisor::Start;

use super::app::AppCommand;
use super::{cgroup, memory};

/// Memory below which no worker is started by default: a small Node.js server with its code, and a heap of 72 MiB.
const WORKER_BYTES_MIN: u64 = 96 * MIB;
/// Part of a worker's memory that its heap may take, in quarters: code, buffers and young objects need the rest.
const HEAP_QUARTERS: u64 = 3;
/// Part of the memory that workers may use at most, in eighths: the gateway and the system need the rest.
const FOR_WORKERS: u64 = 7;
/// Bounds of Node's own limit of the heap: half of the memory, but at most 2 GiB, or 4 GiB on machines from 15 GiB on.
const NODE_BYTES_MAX: [(u64, u64); 2] = [(15 * GIB, 4 * GIB), (0, 2 * GIB)];
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// CPUs and memory that this process may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// Whole CPUs, by the quota of the cgroup and the affinity.
    pub cpus: u32,
    /// CPU quota of the cgroup, in CPUs; `None` where there is none.
    pub quota: Option<f64>,
    /// Limit of the cgroup or memory of the machine, the lesser.
    pub memory_bytes: Option<u64>,
    /// The memory is limited by a cgroup.
    pub is_cgroup: bool,
}

impl Room {
    /// Reads what holds for this process.
    pub fn here() -> Self {
        let cpus = std::thread::available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok());
        Self::of(Path::new("/"), cpus.unwrap_or(1))
    }

    /// `root` is `/`, or a directory with files named as there.
    fn of(root: &Path, cpus: u32) -> Self {
        let memory = memory::memory_bytes(root);
        let is_cgroup = memory.is_some_and(|bytes| memory::machine_bytes(root).is_none_or(|machine| bytes < machine));
        Self { cpus, quota: quota(root), memory_bytes: memory, is_cgroup }
    }
}

/// Lowest CPU quota of this process's cgroup and of those above it, in CPUs.
fn quota(root: &Path) -> Option<f64> {
    let dirs = cgroup::dirs(root, "cpu", &["cpu", "cpu,cpuacct"]);
    dirs.iter().filter_map(|(dir, is_v2)| quota_in(dir, *is_v2)).min_by(f64::total_cmp)
}

/// `max` of version 2 and -1 of version 1 are no quota.
fn quota_in(dir: &Path, is_v2: bool) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).ok();
    let (quota, period) = if is_v2 {
        let text = read("cpu.max")?;
        let (quota, period) = text.trim().split_once(' ')?;
        (quota.to_owned(), period.to_owned())
    } else {
        (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?)
    };
    let (quota, period): (f64, f64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Source of the limit of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HeapBy {
    /// Sluice, by the memory limit.
    Sluice,
    /// The user: `app.node_args`, `NODE_OPTIONS` or the app's command.
    App,
    /// Node.js itself.
    Node,
}

/// Sizes that were chosen, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizing {
    /// Workers at the start.
    pub workers: u32,
    /// Whether `workers.count` names them.
    pub is_configured: bool,
    /// Further workers that there may be at once: for long requests, and the successors of a reload.
    pub extra_workers: u32,
    /// The workers of these that are for long requests.
    pub lane_workers: u32,
    /// CPUs that may be used.
    pub cpus: u32,
    /// CPU quota of the cgroup.
    pub cpu_quota: Option<f64>,
    /// Memory that may be used, bytes.
    pub memory_bytes_max: Option<u64>,
    /// Whether a cgroup limits it.
    pub is_cgroup: bool,
    /// Part of it for each worker, bytes.
    pub worker_bytes: Option<u64>,
    /// Limit of each heap, MiB; `None` where Node.js decides or the user's option names no size.
    pub heap_mib: Option<u64>,
    /// Source of it.
    pub heap_by: HeapBy,
    /// Settings that do not fit the machine.
    pub warnings: Vec<String>,
}

/// Workers for long requests beyond `workers`. Under overload there may be a second one; it counts as one of a reload.
fn lane_workers(config: &Config) -> u32 {
    let is_one = matches!(config.workers.concurrency, Concurrency::WhileWaiting | Concurrency::Fixed(1));
    let has_lanes = config.workers.lanes != Lanes::Off && is_one && config.queue.order != Order::Fifo;
    u32::from(has_lanes)
}

/// Workers beyond `workers` that there may be at once.
fn extra_workers(config: &Config, workers: u32) -> u32 {
    let batch = if config.bounds.reload_at_once == 0 { (workers / 4).max(1) } else { config.bounds.reload_at_once };
    lane_workers(config) + batch.min(workers)
}

/// Memory that workers may use together, bytes.
fn for_workers(config: &Config, memory_bytes: u64) -> u64 {
    let mut bounded = config.clone();
    memory::bound_by(&mut bounded, Some(memory_bytes));
    let cache = if config.cache.enabled { bounded.cache.bytes_max } else { 0 };
    let left = memory_bytes.saturating_sub(bounded.memory.buffers_bytes_max).saturating_sub(cache);
    left.min(memory_bytes / 8 * FOR_WORKERS)
}

fn worker_bytes(config: &Config, room: &Room, workers: u32) -> Option<u64> {
    let memory_bytes = room.memory_bytes?;
    Some(for_workers(config, memory_bytes) / u64::from(workers + extra_workers(config, workers)))
}

/// `workers.count`, else the CPUs, or fewer where the memory has no room for so many.
pub fn worker_count(config: &Config, room: &Room) -> u32 {
    if config.workers.count > 0 {
        return config.workers.count;
    }
    let fits = |workers: &u32| worker_bytes(config, room, *workers).is_none_or(|bytes| bytes >= WORKER_BYTES_MIN);
    (1..=room.cpus).rev().find(fits).unwrap_or(1)
}

/// Number of workers as a gateway has it.
#[derive(Clone, Copy, Debug)]
pub struct InForce {
    /// `workers.count` that was last applied.
    pub count: u32,
    /// Workers that are wanted by now: `sluice scale` may have asked for others.
    pub wanted: u32,
}

impl InForce {
    /// Workers that there will be with this config.
    fn under(self, config: &Config, room: &Room) -> u32 {
        if config.workers.count == self.count { self.wanted } else { worker_count(config, room) }
    }
}

/// Node's own limit of the old generation, bytes.
fn node_heap_bytes(memory_bytes: u64) -> u64 {
    let most = NODE_BYTES_MAX.iter().find(|(from, _)| memory_bytes >= *from).map_or(0, |(_, most)| *most);
    (memory_bytes / 2).min(most)
}

/// The user's limit of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnHeap {
    Mib(u64),
    /// An option sets it otherwise than in MiB of the old generation.
    Other,
}

/// The user's limit of the heap in these words; the last one counts.
fn own_heap<'w>(words: impl Iterator<Item = &'w str>) -> Option<OwnHeap> {
    let mut found = None;
    for word in words {
        let word = word.replace('_', "-");
        for (at, _) in word.match_indices("--max-") {
            let option = &word[at + 2..];
            if let Some(rest) = option.strip_prefix("max-old-space-size=") {
                let digits = rest.split(|sign: char| !sign.is_ascii_digit()).next().unwrap_or("");
                found = Some(digits.parse().map_or(OwnHeap::Other, OwnHeap::Mib));
            } else if option.starts_with("max-old-space-size") || option.starts_with("max-heap-size") {
                found = Some(OwnHeap::Other);
            }
        }
    }
    found
}

/// The user's limit of the heap, by the place that counts last.
fn heap_of_app(start: &Start, node_options: Option<&str>) -> Option<OwnHeap> {
    let words = match start {
        Start::Script { node_args, .. } => node_args,
        Start::Command(words) => words,
    };
    // Also `--max-old-space-size 512`, in two words.
    own_heap(words.iter().map(String::as_str)).or_else(|| own_heap(node_options.into_iter()))
}

#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn size(bytes: u64) -> String {
    if bytes < GIB { format!("{} MiB", bytes / MIB) } else { format!("{:.1} GiB", bytes as f64 / GIB as f64) }
}

/// Whether the heap of a worker with so much memory needs a limit below Node's own.
fn needs_limit(config: &Config, room: &Room, worker_bytes: u64) -> bool {
    let is_limited = room.is_cgroup && config.mode != Mode::Development;
    is_limited && room.memory_bytes.is_some_and(|bytes| node_heap_bytes(bytes) > heap_bytes(worker_bytes))
}

fn heap_bytes(worker_bytes: u64) -> u64 {
    (worker_bytes.max(WORKER_BYTES_MIN) / 4) * HEAP_QUARTERS
}

/// Chooses the sizes of so many workers of this app. `node_options` are those of its environment.
fn choose(config: &Config, start: &Start, node_options: Option<&str>, room: &Room, workers: u32) -> Sizing {
    let worker_bytes = worker_bytes(config, room, workers);
    let (heap_by, heap_mib) = match (heap_of_app(start, node_options), worker_bytes) {
        (Some(OwnHeap::Mib(mib)), _) => (HeapBy::App, Some(mib)),
        (Some(OwnHeap::Other), _) => (HeapBy::App, None),
        (None, Some(bytes)) if needs_limit(config, room, bytes) => (HeapBy::Sluice, Some(heap_bytes(bytes) / MIB)),
        _ => (HeapBy::Node, None),
    };
    let mut sizing = Sizing {
        workers,
        is_configured: config.workers.count > 0,
        extra_workers: extra_workers(config, workers),
        lane_workers: lane_workers(config),
        cpus: room.cpus,
        cpu_quota: room.quota,
        memory_bytes_max: room.memory_bytes,
        is_cgroup: room.is_cgroup,
        worker_bytes,
        heap_mib,
        heap_by,
        warnings: Vec::new(),
    };
    sizing.warnings = [sizing.quota_warning(), sizing.memory_warning()].into_iter().flatten().collect();
    sizing
}

impl Sizing {
    fn most(&self) -> u64 {
        u64::from(self.workers) + u64::from(self.extra_workers)
    }

    /// Workers beyond those wanted, in words.
    fn more(&self) -> String {
        let of_reload = self.extra_workers.saturating_sub(self.lane_workers);
        match self.lane_workers {
            0 => format!("{of_reload} more during a reload (no lanes)"),
            lanes => format!("{lanes} more for long requests (workers.lanes) and {of_reload} during a reload"),
        }
    }

    fn limit(&self) -> String {
        let whose = if self.is_cgroup { "memory limit of the cgroup" } else { "memory of this machine" };
        format!("the {whose}, {}", size(self.memory_bytes_max.unwrap_or(0)))
    }

    fn quota_warning(&self) -> Option<String> {
        let quota = self.cpu_quota.filter(|quota| f64::from(self.workers) > quota.ceil())?;
        let workers = self.workers;
        Some(format!(
            "{workers} workers are wanted, and the CPU quota of the cgroup is {quota:.1}: the kernel pauses all workers when they have used the quota together. Set workers.count to 0 or at most {:.0}, or raise the quota.",
            quota.ceil()
        ))
    }

    fn memory_warning(&self) -> Option<String> {
        let (memory_bytes, worker_bytes) = (self.memory_bytes_max?, self.worker_bytes?);
        let most = self.most();
        if self.heap_by == HeapBy::App {
            let heap_bytes = self.heap_mib?.saturating_mul(MIB);
            let all = heap_bytes.saturating_mul(most);
            return (all > memory_bytes).then(|| {
                format!(
                    "{most} workers ({} wanted, and up to {}) with heaps of {} may use {}, more than {}. Lower workers.count or --max-old-space-size.",
                    self.workers,
                    self.more(),
                    size(heap_bytes),
                    size(all),
                    self.limit()
                )
            });
        }
        // Where the number follows the memory, one worker is the least.
        (worker_bytes < WORKER_BYTES_MIN && (self.is_configured || self.is_cgroup)).then(|| {
            format!(
                "{most} workers ({} wanted, and up to {}) have {} each of {}. Less than {} is too little for Node.js: lower workers.count or raise the limit.",
                self.workers,
                self.more(),
                size(worker_bytes),
                self.limit(),
                size(WORKER_BYTES_MIN)
            )
        })
    }

    /// The choice in words, a line for the workers and one for their heaps.
    pub fn lines(&self) -> [String; 2] {
        let Self { workers, cpus, .. } = self;
        let quota = self.cpu_quota.map_or_else(String::new, |quota| format!(" (CPU quota {quota:.1})"));
        let why = if self.is_configured {
            format!("set by workers.count, with {cpus} CPUs{quota}")
        } else if workers < cpus {
            format!("fewer than the {cpus} CPUs{quota}, because {}, is too small for more", self.limit())
        } else {
            format!("one per CPU{quota}")
        };
        let heap = match (self.heap_by, self.heap_mib) {
            (HeapBy::Sluice, Some(mib)) => format!(
                "--max-old-space-size={mib}, because Node's own limit exceeds a worker's share of {}, {}",
                self.limit(),
                size(self.worker_bytes.unwrap_or(0))
            ),
            (HeapBy::App, Some(mib)) => format!("--max-old-space-size={mib}, set by the app's options"),
            (HeapBy::App, None) => "set by the app's options".to_owned(),
            _ => "Node's own limit".to_owned(),
        };
        [format!("Workers: {workers}, {why}; up to {}.", self.more()), format!("Heap of each: {heap}.")]
    }
}

/// `NODE_OPTIONS` of the workers.
pub fn node_options(config: &Config) -> Option<String> {
    config.app.env.get("NODE_OPTIONS").cloned().or_else(|| std::env::var("NODE_OPTIONS").ok())
}

/// Sizes of this app on this machine. `in_force` is for a gateway that runs already.
pub fn here(config: &Config, app: &AppCommand, in_force: Option<InForce>) -> Sizing {
    let room = Room::here();
    let workers = in_force.map_or_else(|| worker_count(config, &room), |in_force| in_force.under(config, &room));
    choose(config, &app.start, node_options(config).as_deref(), &room, workers)
}

/// Warning of a `sluice scale` to more workers than there were: they get the heaps of those.
pub fn scale_warning(config: &Config, from: u32, to: u32) -> Option<String> {
    warning_of_scale(config, &Room::here(), from, to)
}

fn warning_of_scale(config: &Config, room: &Room, from: u32, to: u32) -> Option<String> {
    let bytes = worker_bytes(config, room, to)?;
    (to > from && needs_limit(config, room, bytes)).then(|| {
        let limit = size(room.memory_bytes.unwrap_or(0));
        format!(
            "{to} workers have {} each of the memory limit of the cgroup, {limit}. Their heaps stay as large as the latest start or reload made them: sluice reload sizes them for {to}, unless options of the app limit them.",
            size(bytes)
        )
    })
}

/// Gives the workers the heap that was chosen, and adds the warnings to those of the config.
pub fn settle(loaded: &mut ConfigInForce, app: &mut AppCommand, in_force: Option<InForce>) {
    let sizing = here(&loaded.config, app, in_force);
    let own = node_options(&loaded.config);
    give_heap(&sizing, &mut loaded.config, &mut app.start, own);
    loaded.warnings.extend(sizing.warnings);
}

/// A command's Node.js reads `NODE_OPTIONS` alone.
fn give_heap(sizing: &Sizing, config: &mut Config, start: &mut Start, node_options: Option<String>) {
    let (HeapBy::Sluice, Some(mib)) = (sizing.heap_by, sizing.heap_mib) else { return };
    let option = format!("--max-old-space-size={mib}");
    match start {
        Start::Script { node_args, .. } => node_args.insert(0, option),
        Start::Command(_) => {
            let options = node_options.map_or_else(|| option.clone(), |own| format!("{option} {own}"));
            config.app.env.insert("NODE_OPTIONS".to_owned(), options);
        }
    }
}

#[cfg(test)]
#[path = "sizing_tests.rs"]
mod tests;
