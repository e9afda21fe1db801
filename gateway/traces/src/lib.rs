//! Spans of requests, and their export by OTLP to an OpenTelemetry collector.
//!
//! A request that is sampled becomes five spans when it has ended: the server's, and in it receive, queue, service and respond.
//! The app gets the id of the service span for its parent, so its own spans stand below the time that it is measured by.
//! Nobody waits for the export: what finds no room is dropped and counted. It must not know how requests are served.
#![forbid(unsafe_code)]

mod context;
mod export;
mod proto;
mod sampler;
mod settings;
mod spans;

pub use context::{Context, Parent};
pub use export::Counts;
pub use sampler::Sampler;
pub use settings::{Settings, Unusable};
pub use spans::RequestSpan;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_local};

/// Maximum number of requests whose spans wait for their export. Further ones are dropped.
const WAITING_MAX: usize = 2_048;

/// Destination of spans, while there is one. A reload changes that.
#[derive(Default)]
pub struct Traces {
    exporter: RefCell<Option<Exporter>>,
    /// The exporter before, which sends what it has.
    retired: Cell<Option<JoinHandle<()>>>,
    counts: Rc<Counts>,
}

struct Exporter {
    settings: Settings,
    sender: mpsc::Sender<Box<RequestSpan>>,
    task: JoinHandle<()>,
}

impl Traces {
    /// Exports from now on as these say, or not at all. What waited for the exporter before still leaves, but not for those before
    /// that: a collector that takes nothing would let one more wait with each reload. Needs a `LocalSet`.
    pub fn apply(&self, settings: Option<Settings>) {
        let mut exporter = self.exporter.borrow_mut();
        if exporter.as_ref().map(|exporter| &exporter.settings) == settings.as_ref() {
            return;
        }
        let new = settings.map(|settings| {
            let (sender, receiver) = mpsc::channel(WAITING_MAX);
            let task = spawn_local(export::run(settings.clone(), receiver, Rc::clone(&self.counts)));
            Exporter { settings, sender, task }
        });
        if let Some(Exporter { task, .. }) = std::mem::replace(&mut *exporter, new)
            && let Some(before) = self.retired.replace(Some(task))
        {
            before.abort();
        }
    }

    /// The context of a request that comes now; `None` while nothing is exported.
    pub fn begin(&self, parent: Option<Parent>) -> Option<Context> {
        let exporter = self.exporter.borrow();
        exporter.as_ref().map(|exporter| Context::new(parent, exporter.settings.sampler))
    }

    /// A request has ended. Only those whose context is sampled are to be told.
    pub fn end(&self, ended: impl FnOnce() -> RequestSpan) {
        let exporter = self.exporter.borrow();
        let Some(exporter) = exporter.as_ref() else { return };
        match exporter.sender.try_reserve() {
            Ok(room) => {
                self.counts.waits();
                room.send(Box::new(ended()));
            }
            Err(_) => self.counts.drop_spans(spans::SPANS_MAX),
        }
    }

    /// Fates of spans so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Sends what waits, for so long at most. Nothing is exported afterwards. Returns how many requests have lost their spans.
    pub async fn close(&self, within: Duration) -> u64 {
        let exporter = self.exporter.borrow_mut().take();
        if let Some(Exporter { sender, mut task, .. }) = exporter {
            drop(sender);
            if tokio::time::timeout(within, &mut task).await.is_err() {
                task.abort();
            }
        }
        self.counts.waiting()
    }
}
