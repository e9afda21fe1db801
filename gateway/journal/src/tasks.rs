//! Tasks that run for as long as the gateway does. A panic of one is logged with its place, and the gateway exits rather than
//! run without the task.
//!
//! This module must not know what the tasks do, nor how the gateway exits.

use std::cell::{Cell, RefCell};
use std::panic;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::{Event, Journal};

thread_local! {
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers the place of each panic, in addition to its report on standard error. Call it once, at the start.
pub fn remember_places() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PLACE.with(|kept| {
            // A panic while the place of another is written is worth no second.
            if let Ok(mut kept) = kept.try_borrow_mut() {
                *kept = place;
            }
        });
        usual(info);
    }));
}

/// Place of this thread's latest panic, for the log.
pub fn place() -> String {
    let place = PLACE.with(|kept| kept.borrow().clone());
    if place.is_empty() { "an unknown place".to_owned() } else { place }
}

/// Starts such tasks and watches them. Clones share the state.
#[derive(Clone)]
pub struct Tasks {
    /// Journal that logs a lost task.
    pub journal: Journal,
    lost: Rc<Lost>,
}

#[derive(Default)]
struct Lost {
    is_any: Cell<bool>,
    told: Notify,
}

impl Tasks {
    /// A set with no task yet.
    pub fn new(journal: Journal) -> Self {
        Tasks { journal, lost: Rc::default() }
    }

    /// Runs the task on the `LocalSet`. The task may end by itself, or by the handle.
    pub fn spawn(&self, name: &'static str, task: impl Future<Output = ()> + 'static) -> AbortHandle {
        #[cfg(debug_assertions)]
        let task = injected::panicking(name, task);
        let running = tokio::task::spawn_local(task);
        let handle = running.abort_handle();
        let Tasks { journal, lost } = self.clone();
        tokio::task::spawn_local(async move {
            if running.await.is_err_and(|error| error.is_panic()) {
                journal.emit(Event::TaskLost { task: name, place: &place() });
                // The task that does so may be the one that is lost.
                journal.flush();
                lost.is_any.set(true);
                lost.told.notify_waiters();
            }
        });
        handle
    }

    /// Whether a task was lost.
    pub fn has_lost(&self) -> bool {
        self.lost.is_any.get()
    }

    /// Returns when a task is lost, or was before.
    pub async fn lost(&self) {
        let told = self.lost.told.notified();
        if !self.has_lost() {
            told.await;
        }
    }
}

/// `SLUICE_TEST_PANIC_IN=tick:/path` makes the task `tick` panic as soon as there is a file `/path`.
#[cfg(debug_assertions)]
mod injected {
    use std::path::PathBuf;
    use std::time::Duration;

    const SWITCH: &str = "SLUICE_TEST_PANIC_IN";
    const LOOK_EVERY: Duration = Duration::from_millis(10);

    pub(super) async fn panicking(name: &'static str, task: impl Future<Output = ()>) {
        let switch = std::env::var(SWITCH).ok();
        let trigger = switch.as_deref().and_then(|switch| switch.split_once(':')).filter(|(task, _)| *task == name);
        let Some((_, path)) = trigger else { return task.await };
        let path = PathBuf::from(path);
        tokio::select! {
            () = task => {}
            () = async { while !path.exists() { tokio::time::sleep(LOOK_EVERY).await } } => {
                panic!("{SWITCH} asks for it");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Filter, Options};

    const SOON: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_task_that_panics_is_told_with_its_place_and_one_that_ends_is_not() {
        remember_places();
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                let journal = Journal::new(Options { access: false, ..Options::default() }, std::io::sink()).unwrap();
                let mut log = journal.subscribe(Filter::default(), 0);
                let tasks = Tasks::new(journal);
                let stopped = tasks.spawn("stopped", std::future::pending());
                tasks.spawn("short", async {});
                stopped.abort();
                assert!(tokio::time::timeout(Duration::from_millis(50), tasks.lost()).await.is_err());
                tasks.spawn("faulty", async { panic!("as if it had a fault") });
                tokio::time::timeout(SOON, tasks.lost()).await.unwrap();
                // Also for who asks later.
                tokio::time::timeout(SOON, tasks.lost()).await.unwrap();
                let lines = log.read().lines;
                let [line] = lines.as_slice() else { panic!("{lines:?}") };
                assert!(line.contains("\"event\":\"task_lost\",\"task\":\"faulty\",\"place\":\""), "{line}");
                assert!(line.contains("tasks.rs:"), "{line}");
            })
            .await;
    }
}
