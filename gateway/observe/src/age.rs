//! Figures that grow with the age of workers, and the report of them to an operator.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::snapshot::GrowthSnapshot;
use sluice_scheduler::ClassId;
use sluice_trends::{AgeGrowth, Ages, Figure, Needs, Took, WorkerLife};
use tokio::time::Instant;

use crate::context::Context;

const MIB: f64 = 1024.0 * 1024.0;

/// State of a worker, reported every second.
#[derive(Clone, Copy, Debug)]
pub struct Beat {
    /// The worker.
    pub worker: u64,
    /// Place in the pool, which the worker's replacement keeps.
    pub place: u32,
    /// Version of the app that the worker runs.
    pub generation: u64,
    /// Time since its start.
    pub age: Duration,
    /// Process ID of the listening process.
    pub pid: u32,
    /// Resident memory, bytes.
    pub rss_bytes: u64,
    /// JavaScript heap in use, bytes.
    pub heap_used_bytes: u64,
}

/// Detector of growth with age. Bounded by the number of classes and places.
pub struct Growth {
    context: Rc<Context>,
    ages: RefCell<Ages>,
    names: RefCell<HashMap<ClassId, Rc<str>>>,
}

impl Growth {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        Growth { context: Rc::clone(context), ages: RefCell::default(), names: RefCell::default() }
    }

    pub(crate) fn beats(&self, beat: &Beat) {
        let now_ms = self.context.ms(Instant::now());
        let age_ms = u64::try_from(beat.age.as_millis()).unwrap_or(u64::MAX);
        let started_ms = now_ms.saturating_sub(age_ms);
        let Beat { worker, place, generation, pid, rss_bytes, heap_used_bytes, .. } = *beat;
        let mut ages = self.ages.borrow_mut();
        if ages.wants(&WorkerLife { worker, place, generation, started_ms }, now_ms, self.after_ms()) {
            ages.needs(worker, now_ms, &Needs { rss_bytes, heap_used_bytes, files: files_of(pid) });
        }
    }

    /// Records a request of this class that has left its worker.
    pub(crate) fn request(&self, worker: u64, class: ClassId, name: &Rc<str>, took: &Took) {
        let mut names = self.names.borrow_mut();
        if names.get(&class).is_none_or(|known| !Rc::ptr_eq(known, name)) {
            names.insert(class, Rc::clone(name));
        }
        self.ages.borrow_mut().request(worker, self.context.ms(Instant::now()), class.0.into(), took);
    }

    pub(crate) fn gone(&self, worker: u64) {
        self.ages.borrow_mut().gone(worker);
    }

    /// Forgets a class, because another one gets its number.
    pub fn forget_class(&self, class: ClassId) {
        self.names.borrow_mut().remove(&class);
        self.ages.borrow_mut().forget_class(class.0.into());
    }

    /// Figures that grow with the age of workers, for `sluice status --json`.
    pub fn snapshot(&self) -> Vec<GrowthSnapshot> {
        let now_ms = self.context.ms(Instant::now());
        let mut ages = self.ages.borrow_mut();
        let snapshot = |grown: &AgeGrowth| GrowthSnapshot {
            what: grown.figure.as_str().to_owned(),
            class: grown.class.and_then(|class| self.name(class)).map(|name| name.to_string()),
            unit: unit(grown.figure).to_owned(),
            from: grown.from,
            to: grown.to,
            per_hour: grown.per_hour,
            over_s: Duration::from_millis(grown.for_ms).as_secs(),
            since_generation: grown.since_generation,
        };
        ages.grown(now_ms, self.after_ms()).iter().map(snapshot).collect()
    }

    /// Texts of the alarms: one for each class that grows, and one for memory and open files of workers. `routes_per_hour`
    /// returns the growth of route tables, if they grow.
    pub(crate) fn texts(
        &self,
        now: Instant,
        routes_per_hour: impl FnOnce() -> Option<u64>,
    ) -> Vec<(Option<Rc<str>>, String)> {
        let mut ages = self.ages.borrow_mut();
        let grown = ages.grown(self.context.ms(now), self.after_ms());
        if grown.is_empty() {
            return Vec::new();
        }
        let routes = routes_per_hour();
        grown
            .chunk_by(|one, next| one.class == next.class)
            .filter_map(|grown| match grown.first()?.class {
                None => Some((None, text_of(grown, None))),
                Some(class) => Some((Some(self.name(class)?), text_of(grown, routes))),
            })
            .collect()
    }

    fn name(&self, class: u32) -> Option<Rc<str>> {
        self.names.borrow().get(&ClassId(u16::try_from(class).ok()?)).map(Rc::clone)
    }

    fn after_ms(&self) -> u64 {
        u64::from(self.context.config().bounds.alarm_growth_after_s) * 1000
    }
}

/// Files and sockets that a process has open, where the system shows that.
fn files_of(pid: u32) -> Option<u64> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    u64::try_from(entries.count()).ok()
}

fn unit(figure: Figure) -> &'static str {
    match figure {
        Figure::Service | Figure::Cpu | Figure::Outside => "ms",
        Figure::Resident | Figure::Heap => "bytes",
        Figure::Files => "files",
    }
}

fn told(figure: Figure) -> &'static str {
    match figure {
        Figure::Service => "of service time",
        Figure::Cpu => "of CPU time",
        Figure::Outside => "outside the handler",
        Figure::Resident => "of resident memory",
        Figure::Heap => "of JavaScript heap",
        Figure::Files => "open files and sockets",
    }
}

/// Formats a value with its unit, with one decimal below 10 and none above.
fn amount(figure: Figure, value: f64) -> String {
    let (value, unit) = match figure {
        Figure::Service | Figure::Cpu | Figure::Outside => (value, " ms"),
        Figure::Resident | Figure::Heap => (value / MIB, " MiB"),
        Figure::Files => return format!("{value:.0}"),
    };
    if value < 10.0 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

fn span(ms: u64) -> String {
    match ms / 1000 {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7200 => format!("{} minutes", seconds / 60),
        seconds => format!("{} hours", seconds / 3600),
    }
}

/// Text of the alarm about one class, or about memory and open files of workers.
fn text_of(grown: &[AgeGrowth], routes_per_hour: Option<u64>) -> String {
    let mut text = String::from(match grown.first().and_then(|grown| grown.class) {
        Some(_) => "the longer a worker serves, the longer its requests take: ",
        None => "the longer a worker serves, the more it needs: ",
    });
    for (at, one) in grown.iter().enumerate() {
        let AgeGrowth { figure, from, to, per_hour, for_ms, since_generation, .. } = one;
        let amount = |value| amount(*figure, value);
        let _ = write!(
            text,
            "{}+{}/h {} (from {} to {} in {}, since generation {since_generation})",
            if at == 0 { "" } else { ", " },
            amount(*per_hour),
            told(*figure),
            amount(*from),
            amount(*to),
            span(*for_ms),
        );
    }
    if let Some(routes) = routes_per_hour {
        let _ = write!(text, "; the route table grew by {routes}/h, which alone can explain it");
    }
    text.push_str(match grown.first().map(|grown| grown.figure) {
        Some(Figure::Files) => ". The app opens files or sockets and does not close them: `ls -l /proc/PID/fd` lists \
            them",
        Some(Figure::Resident | Figure::Heap) => {
            ". `sluice heap` shows what holds memory; recycle.memory_bytes_max or recycle.requests_max replaces workers in time \
             until that is fixed"
        }
        _ => {
            ". `sluice profile` of an old worker and of a new one, and `sluice hotspots --compare` of both, show which lines; \
             recycle.requests_max replaces workers in time until that is fixed"
        }
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grown(class: Option<u32>, figure: Figure, from: f64, to: f64, per_hour: f64) -> AgeGrowth {
        AgeGrowth { class, figure, from, to, per_hour, for_ms: 54 * 60_000, since_generation: 12 }
    }

    #[test]
    fn growth_is_told_with_its_pace_and_what_explains_it() {
        let slower =
            [grown(Some(1), Figure::Outside, 1.0, 9.84, 9.8), grown(Some(1), Figure::Service, 2.0, 10.84, 9.8)];
        let text = text_of(&slower, Some(10));
        assert!(
            text.contains("+9.8 ms/h outside the handler (from 1.0 ms to 9.8 ms in 54 minutes, since generation 12)"),
            "{text}"
        );
        assert!(text.contains("the route table grew by 10/h"), "{text}");
        assert!(text.contains("hotspots --compare"), "{text}");
    }

    #[test]
    fn memory_is_told_in_mebibytes_and_with_the_way_to_what_holds_it() {
        let text = text_of(&[grown(None, Figure::Resident, 100.0 * MIB, 208.0 * MIB, 120.0 * MIB)], None);
        assert!(text.contains("+120 MiB/h of resident memory (from 100 MiB to 208 MiB in 54"), "{text}");
        assert!(text.contains("sluice heap"), "{text}");
        let text = text_of(&[grown(None, Figure::Files, 30.0, 90.0, 60.0)], None);
        assert!(text.contains("+60/h open files and sockets (from 30 to 90"), "{text}");
    }
}
