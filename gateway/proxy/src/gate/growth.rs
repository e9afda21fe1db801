//! Route tables that grow while workers serve, on their way from the workers to the operator.

use std::time::Duration;

use sluice_scheduler::WorkerId;
use sluice_supervisor::RoutesGrown;
use sluice_trends::{Adder, RouteGrowth};
use tokio::time::Instant;

use super::Gate;

impl Gate {
    pub(super) fn take_routes(&self, worker: WorkerId, told: &RoutesGrown<'_>) {
        // Its last words may be read after its exit.
        if self.scheduler.borrow().worker_state(worker).is_none() {
            return;
        }
        let place = |(file, line, added): &(&str, u64, u64)| Adder { file: path_of(file), line: *line, added: *added };
        let told = RouteGrowth {
            worker: worker.0,
            size: told.size,
            added: told.added,
            places: told.places.iter().map(place).collect(),
            ..RouteGrowth::default()
        };
        self.routes.borrow_mut().told(self.alarm_ms(Instant::now()), self.routes_window_ms(), told);
    }

    /// What is told of the worker whose tables keep growing.
    pub(super) fn growing_routes(&self, now: Instant) -> Option<String> {
        let growth = self.routes.borrow().growing(self.alarm_ms(now), self.routes_window_ms())?;
        Some(text_of(&growth))
    }

    /// How fast the tables of the worker grow that grow most.
    pub(super) fn routes_per_hour(&self, now: Instant) -> Option<u64> {
        Some(self.routes.borrow().growing(self.alarm_ms(now), self.routes_window_ms())?.per_hour)
    }

    fn routes_window_ms(&self) -> u64 {
        u64::from(self.config().bounds.alarm_after_s) * 1000
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
