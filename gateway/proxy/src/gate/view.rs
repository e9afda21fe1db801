//! The gate for the operator: its state, and the commands to use another config and to drain.

use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_catalog::refusals::ProfileError;
use sluice_catalog::snapshot::CurrentRequest;
use sluice_compression::Counts;
use sluice_journal::Event as Happening;
use sluice_observe::RouteFollower;
use sluice_scheduler::{Lane, Limits, Scheduler, Time, WorkerId, WorkerState, WorkerView};
use tokio::time::Instant;

use super::Gate;
use crate::upstream::WorkerRequest;
use sluice_road::ActiveConfig;

impl Gate {
    /// Config in force. Two calls for one request may return different ones, as a reload can come in between.
    pub fn config(&self) -> Rc<Config> {
        self.road.config()
    }

    /// Puts another config in force. Open connections keep their certificate.
    pub fn activate(&self, active: ActiveConfig) {
        let config = Rc::clone(active.config());
        self.road.activate(active);
        self.set_limits(&config);
        self.deaths.set_limits(&config);
        self.classes.set_routes(&config);
        self.sessions.set_config(&config);
        self.observer.journal().reserve_classes(self.classes.route_names().iter().map(String::as_str));
        self.tell_costs();
    }

    pub(super) fn set_limits(&self, config: &Config) {
        let limits = Limits { may_raise: self.may_raise.get(), ..crate::limits(config) };
        self.scheduler.borrow_mut().set_limits(limits);
    }

    /// Sets the port that clients see, if it differs from the config's.
    pub fn set_port(&self, port: u16) {
        self.road.lobby.set_port(port);
    }

    /// Places in the pool whose worker may keep sessions, with these workers.
    pub(crate) fn homes(&self) -> Vec<(u32, WorkerId)> {
        let is_home = |view: &WorkerView| view.state == WorkerState::Ready && view.lane == Lane::Short;
        self.scheduler.borrow().workers().filter(is_home).map(|view| (view.instance, view.worker)).collect()
    }

    /// Whether this worker is being warmed, even if it holds no request.
    pub(crate) fn is_warming(&self, worker: WorkerId) -> bool {
        self.scheduler.borrow().worker_state(worker) == Some(WorkerState::Warming)
    }

    /// Reports the gateway as not ready from now on, while it still serves all requests.
    pub fn leave_soon(&self, reason: &str) {
        if !self.service.leaving.replace(true) {
            self.observer.emit(Happening::Draining { reason });
        }
    }

    /// Whether the gateway is about to end.
    pub fn is_leaving(&self) -> bool {
        self.service.leaving.get()
    }

    /// Closes connections after their request from now on, and reports the gateway as not ready.
    pub fn drain(&self, reason: &str) {
        self.leave_soon(reason);
        if self.road.lobby.drain() {
            self.road.lobby.connections.close_idle();
        }
    }

    /// Leaves new connections to another gateway from now on. Open connections are closed with the answer to their next
    /// request, not before: a client may be sending on an idle one at that moment. [`Gate::close_idle`] ends the
    /// waiting.
    pub fn hand_over(&self, reason: &str) {
        self.road.lobby.set_handed_over(true);
        self.observer.tails.hand_over();
        if self.road.lobby.drain() {
            self.observer.emit(Happening::Draining { reason });
        }
    }

    /// Cuts open connections, after the gateway has waited for as long as it may.
    pub fn cut_connections(&self) {
        self.road.lobby.cut();
    }

    /// Closes connections without a request. It is called after [`Gate::hand_over`].
    pub fn close_idle(&self) {
        self.road.lobby.set_handed_over(false);
        self.road.lobby.connections.close_idle();
    }

    /// Whether idle connections wait for one more request while the gateway drains.
    pub(crate) fn is_handed_over(&self) -> bool {
        self.road.lobby.is_handed_over()
    }

    /// Whether [`Gate::drain`] or [`Gate::hand_over`] was called.
    pub fn is_draining(&self) -> bool {
        self.road.lobby.is_draining()
    }

    /// Client connections since the start.
    pub fn connections_total(&self) -> u64 {
        self.road.lobby.connections.total()
    }

    /// Upgraded connections and event streams since the start.
    pub fn streams_total(&self) -> u64 {
        self.service.streams_total.get()
    }

    /// Open client connections.
    pub fn connection_count(&self) -> usize {
        self.road.lobby.connections.count()
    }

    /// Upgraded connections and event streams.
    pub fn stream_count(&self) -> u64 {
        self.service.streams.get()
    }

    /// Bytes in temporary files.
    pub fn temp_bytes(&self) -> u64 {
        self.road.store.used_bytes()
    }

    /// Bounds how many temporary files may be open at once.
    pub fn set_temp_files_max(&self, files_max: u64) {
        self.road.store.set_files_max(sluice_wire::ids::to_usize(files_max));
    }

    /// Counters of answer compression.
    pub fn compression_counts(&self) -> &Counts {
        self.road.compression.counts()
    }

    /// Bytes of bodies and answers that wait in memory.
    pub fn buffers_bytes(&self) -> u64 {
        self.road.store.memory.used_bytes() as u64
    }

    /// Time at which a worker last finished a request.
    pub fn last_progress(&self) -> Option<Instant> {
        self.service.last_progress.get()
    }

    /// Start of the request that has been in a worker's slot for longest.
    pub(crate) fn oldest_exchange(&self) -> Option<Instant> {
        let held = self.requests.all_held();
        let begun = held.iter().filter(|exchange| !exchange.answer.is_stream.get() && exchange.has_begun());
        begun.map(|exchange| exchange.started.get()).min()
    }

    /// Reads the scheduler's state.
    pub fn scheduler<T>(&self, read: impl FnOnce(&Scheduler) -> T) -> T {
        read(&self.scheduler.borrow())
    }

    /// Time since a point of the scheduler's clock.
    pub fn age(&self, since: Time) -> Duration {
        Duration::from_micros(self.now().since_us(since))
    }

    /// Time for which the oldest queued request has waited, in milliseconds.
    pub fn oldest_wait_ms(&self) -> f64 {
        let oldest = self.scheduler.borrow().oldest_arrival();
        #[allow(clippy::cast_precision_loss)] // Waits are far below 2^53 µs.
        oldest.map_or(0.0, |arrived| self.now().since_us(arrived) as f64 / 1000.0)
    }

    /// Follows the requests of a class, or of all classes with this path, until the returned value is dropped.
    ///
    /// # Errors
    /// Where there is no such class.
    pub fn follow_route(&self, route: &str) -> Result<Rc<RouteFollower>, ProfileError> {
        let classes = self.classes.list();
        let held = self.requests.all_held();
        let held = held.iter().filter_map(|exchange| {
            Some((exchange.answer.worker.get()?, exchange.request, Rc::clone(&exchange.class.name)))
        });
        self.observer.followers.follow(route, classes.iter().map(|class| &*class.name), held)
    }

    /// Requests that the worker holds and has begun.
    pub(super) fn begun_by(&self, worker: WorkerId) -> Vec<Rc<WorkerRequest>> {
        self.slots_of(worker).map(|slots| slots.held(WorkerRequest::has_begun)).unwrap_or_default()
    }

    /// Requests that a worker has begun and holds now.
    pub fn current_requests(&self, worker: WorkerId) -> Vec<CurrentRequest> {
        self.begun_by(worker).iter().map(|exchange| exchange.describe()).collect()
    }
}
