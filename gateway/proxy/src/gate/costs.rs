//! Costs of requests, on their way from the workers' reports to the classes and to the scheduler, and as the operator sees them.

use std::rc::Rc;

use sluice_catalog::refusals::ProfileError;
use sluice_catalog::snapshot::{ClassSnapshot, ClassesSnapshot};
use sluice_scheduler::{Event, Uncut};

use super::dispatch::Dispatch;
use sluice_catalog::config::Config;
use sluice_classes::saved::{self, SavedError};
use sluice_classes::{Change, Class, ClassSummary, Classes, Traits};
use sluice_observe::{Observer, RouteFollower};
use sluice_road::Road;

/// Number of requests of a light class of which one's CPU time is measured.
pub(crate) const LIGHT_WEIGHT: u32 = 16;

/// Classes of requests, and what is known of their costs.
pub struct Costs {
    pub(crate) classes: Classes,
    pub(super) dispatch: Rc<Dispatch>,
    road: Rc<Road>,
    pub(super) observer: Rc<Observer>,
}

impl Costs {
    pub(super) fn new(road: &Rc<Road>, dispatch: &Rc<Dispatch>) -> Self {
        let (classes, observer) = (Classes::new(&road.config()), Rc::clone(&road.observer));
        observer.journal().reserve_classes(classes.route_names().iter().map(String::as_str));
        Costs { classes, dispatch: Rc::clone(dispatch), road: Rc::clone(road), observer }
    }

    /// Uses the routes of another config.
    pub(super) fn set_routes(&self, config: &Config) {
        self.classes.set_routes(config);
        self.observer.journal().reserve_classes(self.classes.route_names().iter().map(String::as_str));
        self.pass_changes();
    }

    /// The request's class.
    pub(crate) fn classify(&self, asked: &Traits<'_>) -> Class {
        let class = self.classes.classify(asked);
        self.pass_changes();
        class
    }

    /// Passes changes of the classes to the scheduler's costs.
    fn pass_changes(&self) {
        let changes = self.classes.take_changes();
        if changes.is_empty() {
            return;
        }
        self.dispatch.scheduler.change(|scheduler| {
            for change in changes {
                match change {
                    Change::Forget(class) => {
                        scheduler.forget_class(class);
                        self.observer.growth.forget_class(class);
                    }
                    Change::Seed(class, saved) => scheduler.restore_class(class, &saved),
                }
            }
        });
    }

    /// Checks a request's CPU time: further requests of its class are profiled if it is unusual.
    pub(crate) fn watch_tail(&self, class: &Class, cpu_us: u64) {
        self.dispatch.scheduler.read(|scheduler| {
            let costs = scheduler.costs();
            let usual_us = || costs.quantile_us(class.id, 0.99).filter(|_| costs.is_known(class.id));
            self.observer.tails.watch(&class.name, cpu_us, usual_us);
        });
    }

    /// Takes the CPU time that a request of the class has cost, microseconds.
    pub(crate) fn take_cost(&self, class: &Class, cost_us: u64) {
        let class = self.classes.measured(class, cost_us);
        self.pass_changes();
        if let Some(class) = class {
            self.dispatch.tell(Event::Measured { class, cost_us });
        }
    }

    /// Counts a request of unknown cost with its class's mean, only in the shares of CPU time: it teaches nothing.
    pub(crate) fn estimate_cost(&self, class: &Class) {
        let mean_us = self.dispatch.scheduler.read(|scheduler| scheduler.costs().class_mean_us(class.id));
        if let Some(mean_us) = mean_us {
            self.classes.estimated(class, mean_us);
        }
    }

    /// Number of requests of its class for which the CPU time of this one is to stand, if the class is light. One in [`LIGHT_WEIGHT`] is
    /// measured, chosen by chance before it begins, so that means and quantiles stay right. 0 for the others.
    pub(crate) fn sample(&self, class: &Class) -> Option<u32> {
        let light_us = self.road.config().bounds.light_us;
        let is_light = self.dispatch.scheduler.read(|scheduler| scheduler.costs().is_light(class.id, light_us));
        is_light.then(|| if fastrand::u32(..LIGHT_WEIGHT) == 0 { LIGHT_WEIGHT } else { 0 })
    }

    /// Counts the cost for this number of further requests.
    pub(crate) fn repeat_cost(&self, class: &Class, cost_us: u64, times: u32) {
        if times > 0 {
            self.dispatch.scheduler.change(|scheduler| scheduler.repeat_cost(class.id, cost_us, times));
        }
    }

    /// Notes an expensive request that was not to be measured. It teaches nothing, as cheap ones beside it do not either, but all of its
    /// class are measured for a while.
    pub(crate) fn doubt_cost(&self, class: &Class, cost_us: u64) {
        self.estimate_cost(class);
        self.dispatch.scheduler.change(|scheduler| scheduler.doubt_class(class.id));
        self.watch_tail(class, cost_us);
    }

    /// Costs and classes worth saving until the next start, as one file's text.
    pub fn saved(&self) -> String {
        let listed = self.classes.list();
        self.dispatch.scheduler.read(|scheduler| {
            let costs = listed.iter().filter_map(|class| Some((&*class.name, scheduler.costs().export(class.id)?)));
            saved::write(self.classes.folds(), costs)
        })
    }

    /// Restores costs and classes from such a text.
    ///
    /// # Errors
    /// If it cannot be used; then nothing is taken from it.
    pub fn restore(&self, text: &str) -> Result<(), SavedError> {
        let (folds, costs) = saved::read(text)?;
        self.classes.restore(&folds, costs);
        self.pass_changes();
        Ok(())
    }

    /// Follows the requests of a class, or of all classes with this path, until the returned value is dropped.
    ///
    /// # Errors
    /// Where there is no such class.
    pub fn follow_route(&self, route: &str) -> Result<Rc<RouteFollower>, ProfileError> {
        let classes = self.classes.list();
        let held = self.dispatch.requests.all_held();
        let held = held.iter().filter_map(|exchange| {
            Some((exchange.answer.facts.worker.get()?, exchange.request, Rc::clone(&exchange.class.name)))
        });
        self.observer.followers.follow(route, classes.iter().map(|class| &*class.name), held)
    }

    /// Ratio of recent to long-run cost for each class whose long-run cost is known.
    pub(super) fn drifts(&self) -> Vec<(Rc<str>, f64)> {
        let listed = self.classes.list().into_iter();
        self.dispatch.scheduler.read(|scheduler| {
            listed.filter_map(|class| Some((class.name, scheduler.costs().drift(class.id)?))).collect()
        })
    }

    /// Costs of every class, those that take most CPU time first.
    pub fn snapshot(&self) -> ClassesSnapshot {
        let listed = self.classes.list();
        let cpu_us_all = listed.iter().map(|class| class.totals.cpu_us).fold(0, u64::saturating_add);
        let mut classes: Vec<_> = self.dispatch.scheduler.read(|scheduler| {
            listed.iter().map(|class| class_snapshot(scheduler.costs(), class, cpu_us_all)).collect()
        });
        classes
            .sort_by(|one, other| other.cpu_share.total_cmp(&one.cpu_share).then_with(|| one.class.cmp(&other.class)));
        let (cut_us, uncut) =
            self.dispatch.scheduler.read(|scheduler| (scheduler.costs().cut_us(), scheduler.costs().uncut()));
        ClassesSnapshot { cut_ms: cut_us.map(in_ms), uncut: uncut.map(|why| told(why).to_owned()), classes }
    }
}

fn told(why: Uncut) -> &'static str {
    match why {
        Uncut::TooFew => "too few requests so far: lanes need 40 recent requests of known cost",
        Uncut::Alike => "the most expensive requests cost less than 3 times as much as the others",
        Uncut::Rare => "expensive requests are less than 2 % of the requests and of the CPU time",
        Uncut::NoGain => "separating expensive requests would not shorten waits",
    }
}

fn class_snapshot(costs: &sluice_scheduler::Costs, listed: &ClassSummary, cpu_us_all: u64) -> ClassSnapshot {
    let totals = &listed.totals;
    let quantile_ms = |q| costs.quantile_us(listed.id, q).map(in_ms);
    #[allow(clippy::cast_precision_loss)] // CPU times are far below 2^53 µs.
    let cpu_share = if cpu_us_all == 0 { 0.0 } else { totals.cpu_us as f64 / cpu_us_all as f64 };
    ClassSnapshot {
        class: listed.name.to_string(),
        requests: totals.requests,
        expected_ms: in_ms(costs.expected_us(listed.id)),
        cost_mean_ms: costs.class_mean_us(listed.id).map(in_ms),
        cost_p50_ms: quantile_ms(0.5),
        cost_p95_ms: quantile_ms(0.95),
        cost_p99_ms: quantile_ms(0.99),
        queue_wait_ms: totals.queue_ms.get().unwrap_or(0.0),
        service_time_ms: totals.service_ms.get().unwrap_or(0.0),
        handler_ms: totals.handler_ms.get(),
        cpu_share,
        known: costs.is_known(listed.id),
        long: costs.is_long(listed.id),
        drift: costs.drift(listed.id),
        split_from: listed.split_from.as_deref().map(str::to_owned),
    }
}

#[allow(clippy::cast_precision_loss)] // Costs are far below 2^53 µs.
pub(crate) fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}
