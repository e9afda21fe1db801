//! Route tables that grow while workers serve, and the report of them to an operator.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use sluice_trends::{Adder, GrowingRoutes, RouteGrowth};
use tokio::time::Instant;

use crate::context::Context;

/// Growth of workers' route tables.
pub struct RouteTables {
    context: Rc<Context>,
    routes: RefCell<GrowingRoutes>,
}

impl RouteTables {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        RouteTables { context: Rc::clone(context), routes: RefCell::default() }
    }

    /// Records the size of a worker's tables, and the entries added since it had served for a second. `places` are the code
    /// that added most: file, line, entries.
    pub fn grown(&self, worker: u64, size: u64, added: u64, places: &[(&str, u64, u64)]) {
        let place = |(file, line, added): &(&str, u64, u64)| Adder { file: path_of(file), line: *line, added: *added };
        let places = places.iter().map(place).collect();
        let told = RouteGrowth { worker, size, added, places, ..RouteGrowth::default() };
        self.routes.borrow_mut().told(self.context.ms(Instant::now()), self.window_ms(), told);
    }

    pub(crate) fn gone(&self, worker: u64) {
        self.routes.borrow_mut().gone(worker);
    }

    /// Text about the worker whose tables keep growing, if any.
    pub(crate) fn text(&self, now: Instant) -> Option<String> {
        Some(text_of(&self.growing(now)?))
    }

    /// Growth of the worker's tables that grow most, entries per hour.
    pub(crate) fn per_hour(&self, now: Instant) -> Option<u64> {
        Some(self.growing(now)?.per_hour)
    }

    fn growing(&self, now: Instant) -> Option<RouteGrowth> {
        self.routes.borrow().growing(self.context.ms(now), self.window_ms())
    }

    fn window_ms(&self) -> u64 {
        u64::from(self.context.config().bounds.alarm_after_s) * 1000
    }
}

/// Modules are called by a URL. What is not to be printed is the app's, and goes.
fn path_of(file: &str) -> String {
    file.strip_prefix("file://").unwrap_or(file).chars().filter(|char| !char.is_control()).collect()
}

fn text_of(growth: &RouteGrowth) -> String {
    let RouteGrowth { worker, size, added, for_ms, per_hour, places } = growth;
    let minutes = Duration::from_millis(*for_ms).as_secs().div_ceil(60);
    let places: Vec<String> =
        places.iter().map(|Adder { file, line, added }| format!("{file}:{line} ({added})")).collect();
    let by = if places.is_empty() { String::new() } else { format!(", registered at {}", places.join(", ")) };
    format!(
        "the route tables of worker {worker} grew by {added} entries to {size} in {minutes} minutes while it served, {per_hour} an hour{by}. \
         Each request is compared with more entries, and memory grows. Register routes once, when the app starts, and not in a \
         handler or a timer; `sluice routes --worker {worker}` shows them"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_told_with_the_code_that_adds() {
        let places = vec![Adder { file: path_of("file:///srv/a\u{1b}pp.js"), line: 7, added: 9 }];
        let growth = RouteGrowth { worker: 3, size: 40, added: 10, for_ms: 3_240_000, per_hour: 10, places };
        let text = text_of(&growth);
        assert!(
            text.contains("worker 3 grew by 10 entries to 40 in 54 minutes while it served, 10 an hour, registered"),
            "{text}"
        );
        assert!(text.contains(" at /srv/app.js:7 (9)."), "{text}");
    }
}
