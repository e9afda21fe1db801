//! Growth of figures while workers get older: times of requests by class, memory and open files. Workers of one version of
//! the app count together, each by its own age, so that a restart does not hide what begins again with it. An hour of the day
//! in which all is slower is spread over many ages as soon as ages differ. Memory and files are judged for each place by
//! itself, because a worker that gets hardly a request does not leak, and would hide the leak of the others.

use std::collections::{BTreeMap, HashMap};

use crate::trend;

/// Maximum number of windows of age. When a worker is older than all, two become one.
const WINDOWS_MAX: usize = 32;
/// Windows within the shortest time that is judged.
const WINDOWS_MIN: u64 = 16;
/// Looks at what a worker needs in each window.
const LOOKS: u64 = 8;
/// Growth counts from this part of where it began.
const GROWTH_MIN: f64 = 0.2;
/// A time must have grown by this, milliseconds.
const GROWTH_MS_MIN: f64 = 0.5;
/// The JavaScript heap must have grown by this, bytes. Of V8's young generation 16 MiB and more are in it that wait for the collector, for
/// minutes where requests are few.
const GROWTH_HEAP_MIN: f64 = 32.0 * 1024.0 * 1024.0;
/// Resident memory must have grown by this, bytes: the young generation takes three times 16 MiB as it comes to be used.
const GROWTH_RESIDENT_MIN: f64 = 48.0 * 1024.0 * 1024.0;
/// Open files must have grown by this.
const GROWTH_FILES_MIN: f64 = 16.0;
/// A single request counts as at most so many times what others of its class and age took, so that one does not make a window.
const OUTLIER: f64 = 8.0;
/// A window with fewer values than the median by this factor says nothing.
const SPARSE: u32 = 10;
const HOUR_MS: f64 = 3_600_000.0;

/// Figures that may grow. Of one class, the figure that says most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Time of a request in its worker without that in the handler of its route, milliseconds.
    Outside,
    /// CPU time of a request, milliseconds.
    Cpu,
    /// Time of a request in its worker, milliseconds.
    Service,
    /// Resident memory of a worker, bytes.
    Resident,
    /// JavaScript heap in use after a collection, bytes.
    Heap,
    /// Open files and sockets of a worker.
    Files,
}

/// A worker.
#[derive(Clone, Copy, Debug)]
pub struct WorkerLife {
    /// Number of the worker.
    pub worker: u64,
    /// Place in the pool, which its replacement keeps.
    pub place: u32,
    /// Version of the app.
    pub generation: u64,
    /// Time of its start, milliseconds.
    pub started_ms: u64,
}

/// Time that a request took.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    /// Time in the worker, microseconds.
    pub service_us: u64,
    /// CPU time, microseconds, where that is known.
    pub cpu_us: Option<u64>,
    /// Time in the handler of its route, microseconds, if that is known.
    pub handler_us: Option<u64>,
}

/// Memory and files of a worker.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// JavaScript heap in use, bytes.
    pub heap_used_bytes: u64,
    /// Open files and sockets, where that can be counted.
    pub files: Option<u64>,
}

/// Figure that grows with the age of workers.
#[derive(Clone, Debug, PartialEq)]
pub struct AgeGrowth {
    /// The class; none for what workers need.
    pub class: Option<u32>,
    /// Figure that grows.
    pub figure: Figure,
    /// Value at the least age that counts; `to` is that at the greatest.
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// Growth in an hour.
    pub per_hour: f64,
    /// Time between those two ages, milliseconds.
    pub for_ms: u64,
    /// The first version of the app of an unbroken row that it has grown in.
    pub since_generation: u64,
}

/// Owner of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    /// A worker's, by its place in the pool.
    Place(u32),
    /// A class of requests'.
    Class(u32),
}

/// See the module's text. Bounded by the number of classes and places.
#[derive(Debug, Default)]
pub struct Ages {
    generation: u64,
    width_ms: u64,
    series: BTreeMap<(Of, Figure), Vec<Window>>,
    workers: HashMap<u64, WorkerAge>,
    judged_ms: u64,
    grown: Vec<AgeGrowth>,
    /// Figures that grew in the version before, and the version since which they did.
    before: BTreeMap<(Option<u32>, Figure), u64>,
}

/// A worker whose age is known.
#[derive(Clone, Copy, Debug)]
struct WorkerAge {
    place: u32,
    started_ms: u64,
    looked_ms: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    count: u32,
    sum: f64,
    min: f64,
}

impl Ages {
    /// Whether this worker's needs are to be looked at now. `now_ms` and `started_ms` are times of one clock; `after_ms` is the
    /// least age of workers that is judged, 0 for none.
    pub fn wants(&mut self, lived: &WorkerLife, now_ms: u64, after_ms: u64) -> bool {
        let WorkerLife { worker, place, generation, started_ms } = *lived;
        if after_ms == 0 {
            self.forget_all();
            return false;
        }
        if generation > self.generation || self.width_ms == 0 || self.width_ms < after_ms / WINDOWS_MIN {
            self.begin(generation, after_ms);
        }
        if generation < self.generation {
            return false;
        }
        let every_ms = (after_ms / WINDOWS_MIN / LOOKS).max(1);
        let aged = self.workers.entry(worker).or_insert(WorkerAge { place, started_ms, looked_ms: now_ms });
        let is_due = now_ms - aged.looked_ms >= every_ms;
        aged.looked_ms = if is_due { now_ms } else { aged.looked_ms };
        is_due
    }

    /// Notes memory and files of a worker, if that was wanted.
    pub fn needs(&mut self, worker: u64, now_ms: u64, needs: &Needs) {
        let Some(at) = self.window(worker, now_ms) else { return };
        let Some(place) = self.workers.get(&worker).map(|aged| Of::Place(aged.place)) else { return };
        #[allow(clippy::cast_precision_loss)] // Bytes and files are far below 2^53.
        let figures = [
            (Figure::Resident, Some(needs.rss_bytes as f64)),
            (Figure::Heap, Some(needs.heap_used_bytes as f64)),
            (Figure::Files, needs.files.map(|files| files as f64)),
        ];
        for (figure, value) in figures {
            self.add((place, figure), at, value);
        }
    }

    /// Notes the time of a request that has ended.
    pub fn request(&mut self, worker: u64, now_ms: u64, class: u32, took: &Took) {
        let Some(at) = self.window(worker, now_ms) else { return };
        let outside_us = took.handler_us.map(|handler_us| took.service_us.saturating_sub(handler_us));
        #[allow(clippy::cast_precision_loss)] // Times of requests are far below 2^53 µs.
        let ms = |us: u64| us as f64 / 1000.0;
        self.add((Of::Class(class), Figure::Service), at, Some(ms(took.service_us)));
        self.add((Of::Class(class), Figure::Cpu), at, took.cpu_us.map(ms));
        self.add((Of::Class(class), Figure::Outside), at, outside_us.map(ms));
    }

    /// The worker is gone.
    pub fn gone(&mut self, worker: u64) {
        self.workers.remove(&worker);
    }

    /// The number may be another class's from now on.
    pub fn forget_class(&mut self, class: u32) {
        self.series.retain(|(its, _), _| *its != Of::Class(class));
        self.before.retain(|(its, _), _| *its != Some(class));
        self.grown.retain(|grown| grown.class != Some(class));
    }

    /// Figures that grow steadily, judged once for each shortest window.
    pub fn grown(&mut self, now_ms: u64, after_ms: u64) -> &[AgeGrowth] {
        if after_ms > 0 && now_ms.saturating_sub(self.judged_ms) >= after_ms / WINDOWS_MIN {
            self.judged_ms = now_ms;
            let (mut needs, classes): (Vec<_>, Vec<_>) = self
                .series
                .keys()
                .filter_map(|key| self.judge(*key, after_ms))
                .partition(|grown| grown.class.is_none());
            // Of all places the one that grows most is told.
            needs.sort_by(|one, other| {
                one.figure.cmp(&other.figure).then((other.to - other.from).total_cmp(&(one.to - one.from)))
            });
            needs.dedup_by_key(|grown| grown.figure);
            self.grown = needs.into_iter().chain(classes).collect();
        }
        &self.grown
    }

    fn judge(&self, key: (Of, Figure), after_ms: u64) -> Option<AgeGrowth> {
        let (of, figure) = key;
        let class = of.class();
        let windows = self.series.get(&key)?;
        let points = self.points(windows, |window| window.value(figure));
        #[allow(clippy::cast_precision_loss)] // Ages are far below 2^53 ms.
        let is_long = points.last()?.0 - points.first()?.0 >= after_ms as f64 * 0.75;
        let line = trend::growing(&points).filter(|_| is_long)?;
        let growth = line.to - line.from;
        let is_much = growth >= figure.growth_min() && growth >= line.from * GROWTH_MIN;
        if !is_much || figure.depends_on_load() && self.is_load(class, growth / line.from.max(f64::MIN_POSITIVE)) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Ages are whole and positive.
        let for_ms = (points.last()?.0 - points.first()?.0) as u64;
        Some(AgeGrowth {
            class,
            figure,
            from: line.from.max(0.0),
            to: line.to,
            per_hour: line.slope * HOUR_MS,
            for_ms,
            since_generation: self.before.get(&(class, figure)).copied().unwrap_or(self.generation),
        })
    }

    /// Whether requests of the class came that much more often at those ages as well, which explains that they wait longer.
    fn is_load(&self, class: Option<u32>, growth: f64) -> bool {
        let requests = class.and_then(|class| self.series.get(&(Of::Class(class), Figure::Service)));
        let Some(requests) = requests else { return false };
        let is_look = |(of, figure): (Of, Figure)| of.class().is_none() && figure == Figure::Resident;
        let looks: Vec<_> = self.series.iter().filter(|(key, _)| is_look(**key)).map(|(_, windows)| windows).collect();
        let looks_at =
            |at: usize| looks.iter().filter_map(|windows| windows.get(at)).map(|window| window.count).sum::<u32>();
        let rates: Vec<Window> = requests.iter().enumerate().map(|(at, window)| window.per(looks_at(at))).collect();
        let points = self.points(&rates, |window| window.sum);
        trend::growing(&points).is_some_and(|line| line.to >= line.from * (1.0 + growth / 2.0))
    }

    /// Ages and values. The first window is left out: what warms up is in it. So are those with hardly a value beside the others:
    /// ages that only a worker has reached which such requests hardly come to.
    fn points(&self, windows: &[Window], value: impl Fn(&Window) -> f64) -> Vec<(f64, f64)> {
        #[allow(clippy::cast_precision_loss)] // Ages are far below 2^53 ms.
        let age = |at: usize| (at as f64 + 0.5) * self.width_ms as f64;
        let mut counts: Vec<u32> =
            windows.iter().skip(1).map(|window| window.count).filter(|count| *count > 0).collect();
        counts.sort_unstable();
        let least = counts.get(counts.len() / 2).map_or(1, |median| (median / SPARSE).max(1));
        let known = windows.iter().enumerate().skip(1).filter(|(_, window)| window.count >= least);
        known.map(|(at, window)| (age(at), value(window))).collect()
    }

    /// The window of the worker's age. Ages that are too great make windows wider.
    fn window(&mut self, worker: u64, now_ms: u64) -> Option<usize> {
        let age_ms = now_ms.saturating_sub(self.workers.get(&worker)?.started_ms);
        let at = |width_ms: u64| usize::try_from(age_ms / width_ms).unwrap_or(usize::MAX);
        while at(self.width_ms) >= WINDOWS_MAX {
            self.width_ms *= 2;
            for windows in self.series.values_mut() {
                *windows = windows.chunks(2).map(|pair| pair.iter().fold(Window::default(), Window::and)).collect();
            }
        }
        Some(at(self.width_ms))
    }

    fn add(&mut self, key: (Of, Figure), at: usize, value: Option<f64>) {
        let Some(value) = value else { return };
        let windows = self.series.entry(key).or_default();
        if windows.len() <= at {
            windows.resize(at + 1, Window::default());
        }
        windows[at].add(value);
    }

    /// Another version of the app, or another span to judge.
    fn begin(&mut self, generation: u64, after_ms: u64) {
        let kept = |grown: &AgeGrowth| ((grown.class, grown.figure), grown.since_generation);
        let before =
            if generation == self.generation { BTreeMap::new() } else { self.grown.iter().map(kept).collect() };
        let width_ms = (after_ms / WINDOWS_MIN).max(1);
        *self = Self { generation, width_ms, before, ..Self::default() };
    }

    fn forget_all(&mut self) {
        if self.width_ms > 0 {
            *self = Self::default();
        }
    }
}

impl Of {
    fn class(self) -> Option<u32> {
        match self {
            Self::Place(_) => None,
            Self::Class(class) => Some(class),
        }
    }
}

impl Window {
    fn add(&mut self, value: f64) {
        let mean = self.sum / f64::from(self.count.max(1));
        let value = if self.count > 0 && mean > 0.0 { value.min(mean * OUTLIER) } else { value };
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.sum += value;
        self.count = self.count.saturating_add(1);
    }

    fn and(self, other: &Self) -> Self {
        let min = match (self.count, other.count) {
            (0, _) => other.min,
            (_, 0) => self.min,
            _ => self.min.min(other.min),
        };
        Self { count: self.count.saturating_add(other.count), sum: self.sum + other.sum, min }
    }

    /// Requests for each look at a worker, which are a fixed time apart: how often they come.
    fn per(self, looks: u32) -> Self {
        let count = if looks == 0 { 0 } else { self.count };
        Self { count, sum: f64::from(self.count) / f64::from(looks.max(1)), min: 0.0 }
    }

    /// Means of times. What is needed at least, of what goes up and down with every collection and request.
    fn value(&self, figure: Figure) -> f64 {
        match figure {
            Figure::Service | Figure::Cpu | Figure::Outside => self.sum / f64::from(self.count.max(1)),
            Figure::Resident | Figure::Heap | Figure::Files => self.min,
        }
    }
}

impl Figure {
    /// The name in `status --json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Service => "service_time",
            Self::Cpu => "cpu_time",
            Self::Outside => "outside_handler",
            Self::Resident => "resident_memory",
            Self::Heap => "heap",
            Self::Files => "open_files",
        }
    }

    fn growth_min(self) -> f64 {
        match self {
            Self::Service | Self::Cpu | Self::Outside => GROWTH_MS_MIN,
            Self::Resident => GROWTH_RESIDENT_MIN,
            Self::Heap => GROWTH_HEAP_MIN,
            Self::Files => GROWTH_FILES_MIN,
        }
    }

    /// More requests at once make these longer, whatever a worker's age.
    fn depends_on_load(self) -> bool {
        matches!(self, Self::Service | Self::Outside)
    }
}

#[cfg(test)]
#[path = "age_tests.rs"]
mod tests;
