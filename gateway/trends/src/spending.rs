//! CPU time and memory that requests took, by class, version of the app and time, for before and after. Each version has periods of
//! its own, so that workers of two versions that serve beside each other are kept apart.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::parts::{PARTS, Parts};
use crate::totals::RequestTotals;
use sluice_catalog::snapshot::{ReportSide, ReportSnapshot, SpentSnapshot};

/// Length of a period at first, milliseconds.
const PERIOD_MS: u64 = 60_000;
/// Time for which periods stay so short, milliseconds.
const SHORT_FOR_MS: u64 = 1_800_000;
/// Length of older ones together, milliseconds.
const LONG_PERIOD_MS: u64 = 600_000;
/// Maximum number of stored periods. Of one version, those of twelve hours and more. With [`CLASSES_MAX`] classes in
/// each they take 13 MB, and with as many components 3 MB more.
const PERIODS_MAX: usize = 130;
/// Requests of a part at first; twice as many whenever there are too many parts.
const PART_REQUESTS: u32 = 8;
/// Maximum number of reported parts of a span.
const TOLD_PARTS_MAX: usize = 24;
/// Maximum number of distinguished classes in a period. Further ones count together.
const CLASSES_MAX: usize = 100;
const CLASS_OTHER: &str = "other";
/// Maximum number of distinguished components in a period.
const COMPONENTS_MAX: usize = 100;
/// Maximum length of a component's name, characters.
const COMPONENT_CHARS_MAX: usize = 100;
/// Maximum time between two reports of a worker in which its memory counts as known, milliseconds.
const SILENCE_MS_MAX: u64 = 5_000;

/// Spans that are to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// Version of the app that is compared with the one before it.
    Generation(u64),
    /// Moment from which on the time is compared with as long a time before, Unix time in milliseconds.
    Time(u64),
}

/// Costs of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestCost<'a> {
    /// CPU time, microseconds, where that is known.
    pub cpu_us: Option<u64>,
    /// Time in the worker, microseconds.
    pub service_us: u64,
    /// Uninterrupted runs of each class but the first.
    pub runs: &'a [u64],
    /// Whether its answer had a status of 500 or above.
    pub failed: bool,
}

/// Requests of a class in parts of a span, the same parts for all classes of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassParts {
    /// Requests that did not fail, and their time in workers in microseconds.
    pub service: Vec<[u64; 2]>,
    /// Requests, and those of them that failed.
    pub failures: Vec<[u64; 2]>,
}

/// Parts of a span by class and component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SideParts {
    /// Parts of each class.
    pub classes: BTreeMap<Rc<str>, ClassParts>,
    /// Renders of each component, and those of them that left a hole in their page.
    pub holes: BTreeMap<Rc<str>, Vec<[u64; 2]>>,
}

/// See the module's text.
#[derive(Debug, Default)]
pub struct Spending {
    periods: VecDeque<Period>,
    /// Time of the latest word of each worker.
    heard: BTreeMap<u64, u64>,
    /// The greatest version that was seen.
    generation: u64,
}

#[derive(Debug)]
struct Period {
    generation: u64,
    from_ms: u64,
    until_ms: u64,
    /// Memory of workers times how long they held it, bytes times milliseconds.
    held: f64,
    classes: BTreeMap<Rc<str>, ClassTotals>,
    /// Part that is under way, its requests, and requests of a whole one.
    part: usize,
    part_requests: u32,
    part_requests_max: u32,
    /// Renders of each component, and holes among them.
    renders: BTreeMap<Rc<str>, Parts>,
}

#[derive(Debug, Default)]
struct ClassTotals {
    spent: RequestTotals,
    /// Requests with known CPU time, and that time in microseconds.
    cpu: Parts,
    /// Requests that did not fail, and their time in workers in microseconds.
    service: Parts,
    /// Requests, and those of them that failed.
    failures: Parts,
}

impl Spending {
    /// A request has ended. Times are Unix times in milliseconds and may jump.
    pub fn request(&mut self, now_ms: u64, generation: u64, class: &Rc<str>, ended: &RequestCost<'_>) {
        let period = self.period(now_ms, generation);
        period.begin_request();
        let part = period.part;
        if let Some(totals) = period.classes.get_mut(class) {
            return totals.record(ended, part);
        }
        period.totals(class).record(ended, part);
    }

    /// A worker of this version has rendered a component, and some of the renders left a hole in their page.
    pub fn rendered(&mut self, now_ms: u64, generation: u64, component: &str, renders: u64, holes: u64) {
        let period = self.period(now_ms, generation);
        let part = period.part;
        period.renders_of(component).add(part, [renders, holes.min(renders)]);
    }

    /// A worker has so much resident memory.
    pub fn held(&mut self, now_ms: u64, generation: u64, worker: u64, rss_bytes: u64) {
        let before_ms = self.heard.insert(worker, now_ms);
        let Some(for_ms) = before_ms.and_then(|before_ms| now_ms.checked_sub(before_ms)) else { return };
        #[allow(clippy::cast_precision_loss)] // Far below 2^53.
        let held = rss_bytes as f64 * for_ms.min(SILENCE_MS_MAX) as f64;
        self.period(now_ms, generation).held += held;
    }

    /// The worker is gone.
    pub fn gone(&mut self, worker: u64) {
        self.heard.remove(&worker);
    }

    /// Figures before and after. Without a span, the latest version of the app is compared with the one before it.
    pub fn report(&self, since: Option<Since>) -> ReportSnapshot {
        let kept_since_ms = self.periods.iter().map(|period| period.from_ms).min();
        let (before, after) = match since.unwrap_or(Since::Generation(self.generation)) {
            Since::Generation(generation) => {
                let former = self.former(generation);
                (
                    side(self.periods.iter().filter(|period| Some(period.generation) == former)),
                    side(self.periods.iter().filter(|period| period.generation >= generation)),
                )
            }
            Since::Time(since_ms) => {
                let until_ms = self.periods.iter().map(|period| period.until_ms).max().unwrap_or(since_ms);
                // The nearest beginning of a period that lasted until then, or began later.
                let lasted = self.periods.iter().filter(|period| period.until_ms >= since_ms);
                let begins_ms = lasted.map(|period| period.from_ms).min_by_key(|from_ms| from_ms.abs_diff(since_ms));
                let begins_ms = begins_ms.unwrap_or(u64::MAX);
                let earliest_ms = begins_ms.saturating_sub(until_ms.saturating_sub(begins_ms));
                let is_after = |period: &&Period| period.from_ms >= begins_ms;
                let is_before = |period: &&Period| period.until_ms > earliest_ms && !is_after(period);
                (side(self.periods.iter().filter(is_before)), side(self.periods.iter().filter(is_after)))
            }
        };
        ReportSnapshot { before, after, kept_since_ms, change: None }
    }

    /// Parts of the version before the latest one, and of the latest one; `None` while only one version has served.
    pub fn parts(&self) -> Option<[SideParts; 2]> {
        let former = self.former(self.generation)?;
        let of =
            |is_of: &dyn Fn(u64) -> bool| side_parts(self.periods.iter().filter(|period| is_of(period.generation)));
        Some([of(&|its| its == former), of(&|its| its >= self.generation)])
    }

    /// The version before this one of those that have served.
    fn former(&self, generation: u64) -> Option<u64> {
        self.periods.iter().map(|period| period.generation).filter(|its| *its < generation).max()
    }

    fn period(&mut self, now_ms: u64, generation: u64) -> &mut Period {
        self.generation = self.generation.max(generation);
        let is_its = |period: &Period| period.generation == generation && now_ms < period.from_ms + PERIOD_MS;
        // A few versions serve beside each other at most.
        let at = self.periods.iter().rposition(is_its).unwrap_or_else(|| {
            self.put_together(now_ms);
            if self.periods.len() == PERIODS_MAX {
                self.periods.pop_front();
            }
            self.periods.push_back(Period::new(generation, now_ms));
            self.periods.len() - 1
        });
        let period = &mut self.periods[at];
        period.until_ms = period.until_ms.max(now_ms);
        period
    }

    /// Makes long periods of short ones that are old.
    fn put_together(&mut self, now_ms: u64) {
        let mut at = 0;
        while at < self.periods.len() {
            let Period { generation, from_ms, .. } = self.periods[at];
            let fits = |period: &Period| {
                period.generation == generation
                    && period.until_ms.saturating_add(SHORT_FOR_MS) < now_ms
                    && period.until_ms <= from_ms.saturating_add(LONG_PERIOD_MS)
            };
            let next = (at + 1..self.periods.len()).find(|next| self.periods[*next].generation == generation);
            match next.filter(|next| fits(&self.periods[at]) && fits(&self.periods[*next])) {
                Some(next) => {
                    if let Some(later) = self.periods.remove(next) {
                        self.periods[at].take_in(&later);
                    }
                }
                None => at += 1,
            }
        }
    }
}

impl Period {
    fn new(generation: u64, now_ms: u64) -> Self {
        let (from_ms, until_ms, held, classes) = (now_ms, now_ms, 0.0, BTreeMap::new());
        let (part, part_requests, part_requests_max) = (0, 0, PART_REQUESTS);
        let renders = BTreeMap::new();
        Self { generation, from_ms, until_ms, held, classes, part, part_requests, part_requests_max, renders }
    }

    /// Begins the next part if the one that is under way is whole.
    fn begin_request(&mut self) {
        if self.part_requests == self.part_requests_max {
            self.begin_part();
        }
        self.part_requests += 1;
    }

    fn begin_part(&mut self) {
        if self.part + 1 == PARTS {
            self.classes.values_mut().for_each(ClassTotals::halve);
            self.renders.values_mut().for_each(Parts::halve);
            self.part = PARTS / 2 - 1;
            self.part_requests_max = self.part_requests_max.saturating_mul(2);
        }
        self.part += 1;
        self.part_requests = 0;
    }

    fn totals(&mut self, class: &Rc<str>) -> &mut ClassTotals {
        let is_told = self.classes.contains_key(class) || self.classes.len() < CLASSES_MAX;
        let class = if is_told { Rc::clone(class) } else { Rc::from(CLASS_OTHER) };
        self.classes.entry(class).or_default()
    }

    fn renders_of(&mut self, component: &str) -> &mut Parts {
        let end = component.char_indices().nth(COMPONENT_CHARS_MAX).map_or(component.len(), |(at, _)| at);
        let name = &component[..end];
        let is_told = self.renders.contains_key(name) || self.renders.len() < COMPONENTS_MAX;
        self.renders.entry(Rc::from(if is_told { name } else { CLASS_OTHER })).or_default()
    }

    /// Takes a later period in, as one part.
    fn take_in(&mut self, later: &Self) {
        self.until_ms = self.until_ms.max(later.until_ms);
        self.held += later.held;
        self.begin_part();
        let part = self.part;
        for (component, renders) in &later.renders {
            self.renders_of(component).add(part, renders.total());
        }
        for (class, totals) in &later.classes {
            self.totals(class).add(totals, part);
        }
    }
}

impl ClassTotals {
    fn record(&mut self, ended: &RequestCost<'_>, part: usize) {
        self.spent.record(ended);
        if let Some(cpu_us) = ended.cpu_us {
            self.cpu.add(part, [1, cpu_us]);
        }
        if !ended.failed {
            self.service.add(part, [1, ended.service_us]);
        }
        self.failures.add(part, [1, u64::from(ended.failed)]);
    }

    /// Joins parts two by two.
    fn halve(&mut self) {
        for parts in [&mut self.cpu, &mut self.service, &mut self.failures] {
            parts.halve();
        }
    }

    fn add(&mut self, more: &Self, part: usize) {
        self.spent.add(&more.spent);
        self.cpu.add(part, more.cpu.total());
        self.service.add(part, more.service.total());
        self.failures.add(part, more.failures.total());
    }
}

/// Parts of all of these periods together, as many as [`side`] tells.
fn side_parts<'a>(periods: impl Iterator<Item = &'a Period> + Clone) -> SideParts {
    let parts: usize = periods.clone().map(|period| period.part + 1).sum();
    let told_parts = parts.min(TOLD_PARTS_MAX);
    let none = || vec![[0; 2]; told_parts];
    let mut sides = SideParts::default();
    let mut parts_before = 0;
    for period in periods {
        for at in 0..=period.part {
            let told = (parts_before + at) * told_parts / parts;
            for (component, renders) in &period.renders {
                let of = sides.holes.entry(Rc::clone(component)).or_insert_with(none);
                add(&mut of[told], renders.at(at));
            }
            for (class, totals) in &period.classes {
                let made = || ClassParts { service: none(), failures: none() };
                let of = sides.classes.entry(Rc::clone(class)).or_insert_with(made);
                add(&mut of.service[told], totals.service.at(at));
                add(&mut of.failures[told], totals.failures.at(at));
            }
        }
        parts_before += period.part + 1;
    }
    sides
}

fn add(to: &mut [u64; 2], [count, sum]: [u64; 2]) {
    *to = [to[0] + count, to[1].saturating_add(sum)];
}

/// All of these periods together.
fn side<'a>(periods: impl Iterator<Item = &'a Period> + Clone) -> Option<ReportSide> {
    let mut classes: BTreeMap<Rc<str>, (RequestTotals, Vec<[u64; 2]>)> = BTreeMap::new();
    let parts: usize = periods.clone().map(|period| period.part + 1).sum();
    let told_parts = parts.min(TOLD_PARTS_MAX);
    let mut parts_before = 0;
    let (mut held, mut generations, mut all) = (0.0, Vec::new(), RequestTotals::default());
    let (mut from_ms, mut until_ms) = (u64::MAX, 0);
    for period in periods {
        (from_ms, until_ms) = (from_ms.min(period.from_ms), until_ms.max(period.until_ms));
        held += period.held;
        generations.push(period.generation);
        for (class, totals) in &period.classes {
            let (spent, told) =
                classes.entry(Rc::clone(class)).or_insert_with(|| (RequestTotals::default(), vec![[0; 2]; told_parts]));
            spent.add(&totals.spent);
            all.add(&totals.spent);
            for at in 0..=period.part {
                add(&mut told[(parts_before + at) * told_parts / parts], totals.cpu.at(at));
            }
        }
        parts_before += period.part + 1;
    }
    if until_ms == 0 {
        return None;
    }
    generations.sort_unstable();
    generations.dedup();
    // Memory is held by workers. What requests of a class took of it is the part of the time that they were in workers.
    #[allow(clippy::cast_precision_loss)] // Far below 2^53.
    let share = |spent: &RequestTotals| held * spent.service_us as f64 / all.service_us.max(1) as f64;
    let snapshot = |(class, (spent, parts)): (Rc<str>, (RequestTotals, Vec<[u64; 2]>))| SpentSnapshot {
        parts,
        ..spent.snapshot(&class, share(&spent))
    };
    let mut told: Vec<_> = classes.into_iter().map(snapshot).collect();
    told.sort_by(|one, other| other.cpu_s.total_cmp(&one.cpu_s));
    Some(ReportSide { from_ms, until_ms, generations, all: all.snapshot("", held), classes: told })
}

#[cfg(test)]
#[path = "spending_tests.rs"]
mod tests;
