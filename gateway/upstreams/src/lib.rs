//! Upstreams: other hosts that answer requests in place of the app (`upstreams.routes`).
//!
//! The modules that decide are pure: `balance` chooses an address and judges its health, `budget` bounds retries, `fault` says what may be sent again.
//! `exchange` carries a request out, on connections of `upstream`. `names` and `check` run beside it. It must not know how a request is
//! routed, nor what is done with its answer.

#![forbid(unsafe_code)]

mod balance;
mod budget;
mod check;
mod connection;
mod exchange;
mod fault;
mod line;
mod names;
mod proxy;
mod settings;
mod stats;
mod upstream;

use std::rc::{Rc, Weak};
use std::time::Duration;

use sluice_catalog::snapshot::UpstreamSnapshot;
use sluice_journal::Page;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub use exchange::{Ask, Told, run};
pub use settings::{Settings, Unusable};
pub use upstream::{Report, Upstream};

/// Time between two looks for connections that are idle for too long.
const TEND_EVERY: Duration = Duration::from_secs(1);

/// All upstreams of one config. Their tasks end with it, and requests that they have do not.
#[derive(Default)]
pub struct Upstreams {
    all: Vec<Rc<Upstream>>,
    _tasks: JoinSet<()>,
}

impl Upstreams {
    /// Upstreams with these settings. Those whose settings are as in `before` stay as they are, with their connections; one of the same
    /// name keeps its counts, and what is known of the same targets.
    pub fn new(settings: Vec<Settings>, before: Option<&Self>, report: &Report) -> Self {
        let before = before.map_or(&[][..], |before| &before.all);
        let all: Vec<Rc<Upstream>> = settings
            .into_iter()
            .map(|settings| {
                let same = before.iter().find(|upstream| *upstream.name == *settings.name());
                match same {
                    Some(same) if same.settings == settings => Rc::clone(same),
                    same => Upstream::new(settings, same.map(|same| &**same), Rc::clone(report)),
                }
            })
            .collect();
        for upstream in &all {
            upstream.add_owner();
        }
        let tasks = tasks(&all, report);
        Upstreams { all, _tasks: tasks }
    }

    /// The upstream of this number, in the order of the settings.
    pub fn get(&self, number: usize) -> Option<&Rc<Upstream>> {
        self.all.get(number)
    }

    /// States for `sluice status`.
    pub fn snapshots(&self) -> Vec<UpstreamSnapshot> {
        self.all.iter().map(|upstream| upstream.snapshot()).collect()
    }

    /// Writes their metrics.
    pub fn write_metrics(&self, page: &mut Page) {
        stats::write(page, &self.all);
    }
}

impl Drop for Upstreams {
    fn drop(&mut self) {
        for upstream in &self.all {
            upstream.remove_owner();
        }
    }
}

fn tasks(all: &[Rc<Upstream>], report: &Report) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    if all.is_empty() {
        return tasks;
    }
    let at_once = Rc::new(Semaphore::new(names::AT_ONCE_MAX));
    for upstream in all {
        for (target, host, port) in upstream.names() {
            let name = names::Name { target, host: host.to_owned(), port };
            tasks.spawn_local(names::run(Rc::downgrade(upstream), name, Rc::clone(&at_once), Rc::clone(report)));
        }
    }
    for upstream in all.iter().filter(|upstream| !upstream.settings.upstream.health.is_empty()) {
        tasks.spawn_local(check::run(Rc::downgrade(upstream)));
    }
    let all: Vec<Weak<Upstream>> = all.iter().map(Rc::downgrade).collect();
    tasks.spawn_local(async move {
        loop {
            tokio::time::sleep(TEND_EVERY).await;
            all.iter().filter_map(Weak::upgrade).for_each(|upstream| upstream.close_idle());
        }
    });
    tasks
}
