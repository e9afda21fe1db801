//! Profiles of requests that take unusually long: asked for by [`crate::tail`], written by the worker, listed in a file beside them.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_catalog::profiles::Tail;
use sluice_journal::{Event as Happening, Level};
use sluice_scheduler::RequestId;
use sluice_supervisor::{Tailed, write_whole};
use tokio::time::Instant;

use super::Gate;
use crate::tail::Tails;
use sluice_classes::Class;

/// What of a request's target is kept.
const TARGET_CHARS_MAX: usize = 200;

/// Where they are, and what is known of them. Without a directory no request is profiled.
#[derive(Default)]
pub(super) struct TailProfiles {
    dir: RefCell<Option<PathBuf>>,
    tails: RefCell<Tails>,
}

impl Gate {
    /// Keeps profiles of the tail in this directory from now on, and goes on from what is there. Blocks.
    ///
    /// # Errors
    /// What the file system says; then no request is profiled.
    pub fn keep_tails_in(&self, dir: PathBuf) -> io::Result<()> {
        let index = dir.join(sluice_catalog::profiles::TAILS_INDEX);
        sluice_supervisor::make_room(&index)?;
        // One that cannot be read is written anew.
        if let Ok(kept) = std::fs::read(&index).and_then(|text| serde_json::from_slice(&text).map_err(io::Error::other))
        {
            self.tails.tails.borrow_mut().restore(kept);
        }
        *self.tails.dir.borrow_mut() = Some(dir);
        Ok(())
    }

    /// A request's own CPU time is known.
    pub(crate) fn watch_tail(&self, class: &Class, cpu_us: u64) {
        let scheduler = self.scheduler.borrow();
        let costs = scheduler.costs();
        let usual_us = || costs.quantile_us(class.id, 0.99).filter(|_| costs.is_known(class.id));
        self.tails.tails.borrow_mut().cost(&class.name, cpu_us, usual_us);
    }

    /// Whether the request is to be profiled, and from how many microseconds of CPU on its profile is worth keeping.
    pub(crate) fn profiles(&self, at: Instant, class: &Class, request: RequestId) -> Option<u64> {
        self.tails.dir.borrow().as_ref()?;
        let mode = self.active.borrow().config.profile.tail;
        self.tails.tails.borrow_mut().take(at, mode, &class.name, request)
    }

    /// The worker has profiled it.
    pub(super) fn has_profiled(&self, worker: u64, told: Tailed) {
        let Tailed { request, file, bytes, used_us, service_us, overhead_us } = told;
        let mode = self.active.borrow().config.profile.tail;
        let over =
            self.tails.tails.borrow_mut().over(Instant::now(), mode, request, Duration::from_micros(overhead_us));
        let (Some(dir), Some(usual_us)) = (self.tails.dir.borrow().clone(), over) else { return };
        // A worker names files, and is not to name others'.
        if file != dir.join(format!("{}.cpuprofile", request.0)).display().to_string() {
            return;
        }
        let Some(exchange) = self.requests.exchange(request) else {
            drop(tokio::task::spawn_blocking(move || std::fs::remove_file(file)));
            return;
        };
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (request_id, method, target) = exchange.name();
        let target = format!("{method} {target}");
        let gone = self.tails.tails.borrow_mut().keep(Tail {
            id: request.0,
            class: exchange.class.name.to_string(),
            target: target.chars().take(TARGET_CHARS_MAX).collect(),
            request_id,
            worker,
            at_unix_ms: u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX),
            service_ms: in_ms(service_us),
            cpu_ms: in_ms(used_us),
            usual_ms: in_ms(usual_us),
            bytes,
            file,
        });
        let kept = serde_json::to_vec(self.tails.tails.borrow().kept()).unwrap_or_default();
        let journal = self.journal.clone();
        tokio::task::spawn_local(async move {
            let index = dir.join(sluice_catalog::profiles::TAILS_INDEX);
            let written = tokio::task::spawn_blocking(move || {
                for file in gone {
                    let _ = std::fs::remove_file(file);
                }
                write_whole(&index, &kept)
            });
            if let Err(error) = written.await.map_err(io::Error::other).flatten() {
                let text = format!("the list of profiles of the tail cannot be written: {error}");
                journal.emit(Happening::Note { level: Level::Warn, text: &text });
            }
        });
    }

    /// Profiles of requests that took unusually long.
    pub fn tails(&self) -> Vec<Tail> {
        self.tails.tails.borrow().kept().to_vec()
    }
}

#[allow(clippy::cast_precision_loss)] // Times of requests are far below 2^53 µs.
fn in_ms(us: u64) -> f64 {
    us as f64 / 1000.0
}
