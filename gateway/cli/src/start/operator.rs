//! The gateway as the operator sees it: what the control socket and the metrics address ask for.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use sluice_admin::protocol::{TrialAction, TrialWish};
use sluice_admin::{FlameOf, Live, Operator, Progress, Readiness, Standing, Upgrade};
use sluice_catalog::metrics;
use sluice_catalog::profiles::{ProfileFile, Wish};
use sluice_catalog::refusals::{DialError, FlameError, ProfileError, ScaleError, TrialError, UpgradeError};
use sluice_catalog::snapshot;
use sluice_catalog::snapshot::{
    CacheSnapshot, ClassesSnapshot, DeploySnapshot, DialSnapshot, DiskCacheSnapshot, GatewayState, KeptSnapshot,
    MachineSnapshot, Purge, QuarantinedRequest, QueueSnapshot, ReactSnapshot, ReportSnapshot, RequestsSnapshot,
    SharedCacheSnapshot, Snapshot, TrialSnapshot, UnkeptSnapshot, WorkerSnapshot, WorkerState,
};
use sluice_journal::{CacheUse, Event, IncludeEnd, Journal, Level, Page, Tasks};
use sluice_message::Coding;
use sluice_proxy::gate::Gate;
use sluice_road::workers::Workers;
use sluice_scheduler::{Lane, WorkerState as Life, WorkerView};
use sluice_supervisor::Supervisor;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::Instant;

use super::flames::Flames;
use super::reload::Reloads;
use super::scaling::Scaling;
use super::shutdown::open_streams;
use super::upgrade::UpgradeRequest;
use super::{boots, learned, sizing};

/// Maximum number of workers, as for `workers.count`.
const WORKERS_MAX: u32 = 1024;

/// Everything that runs.
pub struct Gateway {
    pub gate: Rc<Gate>,
    pub supervisor: Rc<Supervisor>,
    pub tasks: Tasks,
    pub journal: Journal,
    pub stop_requested: Notify,
    pub reloads: Reloads,
    /// Another gateway serves; who accepts anything still stops.
    pub retiring: Notify,
    /// True if this gateway serves: it is no successor that still comes up.
    pub in_charge: Cell<bool>,
    /// The gateway before this one still finishes what it has.
    pub has_predecessor: Cell<bool>,
    pub upgrading: Cell<bool>,
    /// True while the rest of a failed upgrade is being cleared away.
    pub clearing: Cell<bool>,
    /// Another gateway serves.
    pub overtaken: Cell<Option<ServingGateway>>,
    /// The successor has the word to take over and has not answered it.
    pub committing: Cell<bool>,
    upgrades: mpsc::Sender<UpgradeRequest>,
    whereabouts: Whereabouts,
    started: Instant,
    pub scaling: Scaling,
    was_ready: Cell<bool>,
    overlaps_told: Cell<u64>,
    flames: Rc<Flames>,
    live: Live,
    /// Latest reading of the machine.
    pub machine: Cell<Option<MachineSnapshot>>,
}

/// The gateway that serves instead of this one.
#[derive(Clone, Copy, Debug)]
pub struct ServingGateway {
    pub pid: u32,
    /// Time after which it has read what it runs.
    pub started: Instant,
}

/// Places of this gateway: its directories and addresses.
pub struct Whereabouts {
    pub url: String,
    pub admin_url: Option<String>,
    pub run_dir: PathBuf,
    pub state_dir: PathBuf,
}

/// Label and value of each sample of a metric.
type Samples = Vec<(&'static str, u64)>;

/// Writes the samples of the pages on disk and of the shared cache; metrics without samples where there is none.
fn write_stores(page: &mut Page, disk: Option<&DiskCacheSnapshot>, shared: Option<&SharedCacheSnapshot>) {
    for (metric, value) in [
        (&metrics::CACHE_DISK_UP, disk.map(|disk| u64::from(disk.in_use))),
        (&metrics::CACHE_DISK_PAGES, disk.map(|disk| disk.pages)),
        (&metrics::CACHE_DISK_BYTES, disk.map(|disk| disk.bytes)),
        (&metrics::CACHE_SHARED_UP, shared.map(|shared| u64::from(shared.up))),
    ] {
        page.metric(metric);
        if let Some(value) = value {
            page.sample(&[], value);
        }
    }
    let look_ups = |[hit, miss, timeout, error, skipped]: [u64; 5]| -> Samples {
        vec![("hit", hit), ("miss", miss), ("timeout", timeout), ("error", error), ("skipped", skipped)]
    };
    let writes = |[written, dropped, refused]: [u64; 3]| -> Samples {
        vec![("written", written), ("dropped", dropped), ("refused", refused)]
    };
    let disk_look_ups = disk.map(|disk| look_ups([disk.hits, disk.misses, disk.timeouts, disk.errors, disk.skipped]));
    let shared_look_ups =
        shared.map(|shared| look_ups([shared.hits, shared.misses, shared.timeouts, shared.errors, shared.skipped]));
    let disk_writes = disk.map(|disk| writes([disk.written, disk.dropped, disk.refused]));
    let shared_writes = shared.map(|shared| writes([shared.written, shared.dropped, shared.refused]));
    let purges = shared.map(|shared| vec![("told", shared.purges_told), ("heard", shared.purges_heard)]);
    for (metric, label, samples) in [
        (&metrics::CACHE_DISK_LOOK_UPS_TOTAL, "look_up", disk_look_ups),
        (&metrics::CACHE_DISK_WRITES_TOTAL, "write", disk_writes),
        (&metrics::CACHE_SHARED_LOOK_UPS_TOTAL, "look_up", shared_look_ups),
        (&metrics::CACHE_SHARED_WRITES_TOTAL, "write", shared_writes),
        (&metrics::CACHE_SHARED_PURGES_TOTAL, "direction", purges),
    ] {
        page.metric(metric);
        for (what, count) in samples.into_iter().flatten() {
            page.sample(&[(label, what)], count);
        }
    }
}

impl Gateway {
    pub fn new(
        gate: Rc<Gate>,
        supervisor: Rc<Supervisor>,
        tasks: Tasks,
        reloads: Reloads,
        upgrades: mpsc::Sender<UpgradeRequest>,
        whereabouts: Whereabouts,
    ) -> Rc<Self> {
        let live = Live::new(Rc::clone(&gate.road.observer));
        Rc::new(Gateway {
            journal: gate.road.observer.journal().clone(),
            gate,
            supervisor,
            tasks,
            stop_requested: Notify::new(),
            reloads,
            retiring: Notify::new(),
            in_charge: Cell::new(false),
            has_predecessor: Cell::new(false),
            upgrading: Cell::new(false),
            clearing: Cell::new(false),
            overtaken: Cell::new(None),
            committing: Cell::new(false),
            upgrades,
            whereabouts,
            started: Instant::now(),
            scaling: Scaling::default(),
            was_ready: Cell::new(false),
            overlaps_told: Cell::new(0),
            flames: Rc::default(),
            live,
            machine: Cell::default(),
        })
    }

    fn write_cache_metrics(&self, page: &mut Page) {
        let cache = self.gate.road.pages.snapshot();
        page.metric(&metrics::CACHE_REQUESTS_TOTAL);
        for (how, count) in [
            (CacheUse::Hit, cache.hits),
            (CacheUse::Stale, cache.stale),
            (CacheUse::Joined, cache.joined),
            (CacheUse::Miss, cache.misses),
            (CacheUse::Bypass, cache.bypassed),
        ] {
            page.sample(&[("cache", how.as_str())], count);
        }
        page.metric(&metrics::CACHE_STORED_TOTAL).sample(&[], cache.stored);
        page.metric(&metrics::CACHE_PURGED_TOTAL).sample(&[], cache.purged);
        page.metric(&metrics::CACHE_PAGES).sample(&[], cache.pages);
        page.metric(&metrics::CACHE_BYTES).sample(&[], cache.bytes);
        page.metric(&metrics::INCLUDES_TOTAL);
        for end in IncludeEnd::ALL {
            page.sample(&[("include", end.as_str())], self.gate.road.transforms.composer.counted(end));
        }
        write_stores(page, cache.disk.as_ref(), cache.shared.as_ref());
    }

    pub fn set_wanted(&self, workers: u32) {
        self.scaling.want(&self.gate, workers);
    }

    pub fn wanted(&self) -> u32 {
        self.scaling.wanted()
    }

    pub fn state_dir(&self) -> &Path {
        &self.whereabouts.state_dir
    }

    /// Whether a worker has ever been ready.
    pub fn was_ready(&self) -> bool {
        self.was_ready.get() || self.gate.scheduler.read(|scheduler| scheduler.ready_count() > 0)
    }

    /// The first worker listens.
    pub fn announce(&self, after: Duration) {
        self.was_ready.set(true);
        self.journal.emit(Event::Listening { url: &self.whereabouts.url });
        let admin = self
            .whereabouts
            .admin_url
            .as_deref()
            .map_or_else(String::new, |url| format!(", dashboard and metrics on {url}"));
        let text = format!(
            "workers: {}, first ready after {} ms{admin}, run directory {}",
            self.wanted(),
            after.as_millis(),
            self.whereabouts.run_dir.display()
        );
        self.journal.emit(Event::Note { level: Level::Info, text: &text });
    }

    /// The state of the service in a few words, for a service manager.
    pub fn status(&self) -> String {
        let ready = self.gate.scheduler.read(sluice_scheduler::Scheduler::ready_count);
        format!(
            "serving {}, {ready} of {} workers ready, process {}",
            self.whereabouts.url,
            self.wanted(),
            std::process::id()
        )
    }

    /// Tells the operator something that is worth a look.
    pub fn warn(&self, text: &str) {
        self.journal.emit(Event::Note { level: Level::Warn, text });
    }

    /// Overlaps that the gateway itself counted; there are none unless a bug made one.
    pub fn tell_overlaps(&self) {
        let seen = self.gate.scheduler.read(sluice_scheduler::Scheduler::overlaps_total);
        let told = self.overlaps_told.replace(seen);
        if seen > told {
            self.journal.emit(Event::OverlapSeen { worker: 0, count: seen - told });
        }
    }

    fn worker(&self, view: &WorkerView) -> WorkerSnapshot {
        let process = self.supervisor.view(view.worker);
        WorkerSnapshot {
            id: view.worker.0,
            instance: view.instance,
            pid: process.pid,
            generation: view.generation,
            state: match view.state {
                Life::Starting => WorkerState::Starting,
                Life::Warming => WorkerState::Warming,
                Life::Ready | Life::Trial if view.is_paused => WorkerState::Paused,
                Life::Ready | Life::Trial if view.in_service > 0 => WorkerState::Busy,
                Life::Ready | Life::Trial => WorkerState::Ready,
                Life::Stuck | Life::Leaving | Life::Stopping | Life::Killed => WorkerState::Leaving,
            },
            age_s: self.gate.scheduler.age(view.started).as_secs_f64(),
            rss_bytes: process.rss_bytes,
            heap_used_bytes: process.heap_used_bytes,
            requests_total: self.gate.dispatch.slots.finished_total(view.worker),
            restarts_total: self.supervisor.restarts(view.instance),
            current: self.gate.dispatch.slots.current_requests(view.worker),
            cpu_ms_total: process.cpu_ms_total,
            cpu: process.cpu,
            event_loop_utilization: process.event_loop_utilization,
            event_loop_delay_ms: process.event_loop_delay_max.map(|delay| delay.as_secs_f64() * 1000.0),
            silent_ms: process.heard.map(|heard| u64::try_from(heard.elapsed().as_millis()).unwrap_or(u64::MAX)),
            streams: u64::from(view.streams),
            lowered: view.is_lowered,
            lane: Some(match view.lane {
                Lane::Short => snapshot::Lane::Short,
                Lane::Long => snapshot::Lane::Long,
            }),
            runs: self.gate.road.observer.runs.of_worker(view.worker.0),
        }
    }

    fn place_in_back_off(&self, instance: u32) -> WorkerSnapshot {
        WorkerSnapshot {
            instance,
            state: WorkerState::Backoff,
            restarts_total: self.supervisor.restarts(instance),
            ..WorkerSnapshot::default()
        }
    }
}

impl Operator for Gateway {
    fn snapshot(&self) -> Snapshot {
        let gate = &self.gate;
        let observer = &gate.road.observer;
        let views: Vec<WorkerView> = gate.scheduler.read(|scheduler| scheduler.workers().collect());
        let mut workers: Vec<_> = views.iter().map(|view| self.worker(view)).collect();
        for (instance, _) in self.supervisor.backing_off() {
            if !workers.iter().any(|worker| worker.instance == instance) {
                workers.push(self.place_in_back_off(instance));
            }
        }
        workers.sort_by_key(|worker| (worker.instance, worker.id));
        let (length, predicted_wait_ms, held, handed) = gate.scheduler.read(|scheduler| {
            let (held, handed) = (scheduler.in_service(), scheduler.handed());
            (scheduler.queue_length(), scheduler.predicted_wait_ms(), held, handed)
        });
        #[allow(clippy::cast_precision_loss)] // A wait of 2^53 ms is no wait.
        let predicted_wait_ms = predicted_wait_ms.map(|ms| ms as f64);
        Snapshot {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            state: if gate.draining.is_leaving() {
                GatewayState::Draining
            } else if self.was_ready() {
                GatewayState::Serving
            } else {
                GatewayState::Starting
            },
            url: self.whereabouts.url.clone(),
            admin_url: self.whereabouts.admin_url.clone(),
            run_dir: self.whereabouts.run_dir.display().to_string(),
            uptime_s: self.started.elapsed().as_secs_f64(),
            generation: gate.scheduler.read(sluice_scheduler::Scheduler::generation),
            reload: self.reloads.snapshot(),
            boots: boots::look(gate),
            workers_wanted: Some(self.wanted()),
            workers,
            worker_memory_bytes_max: Some(gate.road.config().recycle.memory_bytes_max).filter(|max| *max > 0),
            machine: self.machine.get(),
            lately: observer.past.lately(),
            queue: QueueSnapshot {
                length: length as u64,
                length_max: gate.road.config().queue.length_max,
                oldest_wait_ms: gate.scheduler.oldest_wait_ms(),
                predicted_wait_ms,
            },
            requests: RequestsSnapshot {
                answered_total: self.journal.answered_total(),
                in_service: held.saturating_sub(handed) as u64,
                handed: handed as u64,
                handed_total: gate.dispatch.slots.handed_total(),
                taken_back_total: gate.dispatch.slots.taken_back_total(),
                per_second: self.journal.per_second(),
                refused_total: self.journal.refused_total(),
                outcomes: self.journal.outcomes(),
                errors: self.journal.errors(),
                steps: self.journal.steps(),
            },
            queue_wait_ms: self.journal.queue_wait_ms(),
            unserved_ms: self.journal.unserved_ms(),
            service_time_ms: self.journal.service_time_ms(),
            overlaps_total: self.journal.overlaps_total(),
            connections: gate.road.lobby.connections.count() as u64,
            streams: open_streams(gate),
            quarantined: gate.quarantine.count(),
            alarms: observer.alarms.snapshots(),
            crashes: observer.crashes.latest(),
            certificates: gate.road.certificate_snapshots(),
            upstreams: gate.road.upstream_snapshots(),
            growing: observer.growth.snapshot(),
            concurrency: observer.mode.snapshot(),
            runs: observer.runs.snapshot(),
            tails: observer.tails.kept(),
            component_cache: self.supervisor.component_cache(),
            dial: gate.road.rendering.snapshot(),
            effects: observer.effects.snapshot(),
            graph: observer.graph.snapshot(),
            called: observer.calls.snapshot(),
            page_cache: Some(gate.road.pages.snapshot()).filter(|cache| cache.enabled),
            react: self
                .supervisor
                .react_renders()
                .map(|renders| ReactSnapshot { renders_total: renders.renders, fallbacks: renders.reasons }),
        }
    }

    fn request_stop(&self) {
        self.stop_requested.notify_one();
    }

    fn scale(&self, workers: u32) -> Result<u32, ScaleError> {
        if self.gate.draining.is_leaving() {
            return Err(ScaleError::Leaving);
        }
        if !(1..=WORKERS_MAX).contains(&workers) {
            return Err(ScaleError::OutOfRange { workers, max: WORKERS_MAX });
        }
        let before = self.wanted();
        self.set_wanted(workers);
        self.journal.emit(Event::Scaled { from: before, to: workers });
        if let Some(text) = sizing::scale_warning(&self.gate.road.config(), before, workers) {
            self.journal.emit(Event::Note { level: Level::Warn, text: &text });
        }
        Ok(before)
    }

    fn turn(&self, server: &BTreeMap<String, String>, replaces: bool) -> Result<DialSnapshot, DialError> {
        if self.gate.draining.is_leaving() {
            return Err(DialError::Leaving);
        }
        self.gate.road.rendering.turn(server, replaces).map_err(DialError::Faults)
    }

    fn reload(&self, trial: Option<TrialWish>) -> mpsc::Receiver<Progress> {
        self.reloads.ask("sluice reload", trial)
    }

    fn trial(&self, action: Option<TrialAction>) -> oneshot::Receiver<Result<Option<TrialSnapshot>, TrialError>> {
        self.reloads.decide(action)
    }

    fn cache(&self, url: Option<&str>) -> (CacheSnapshot, Vec<KeptSnapshot>) {
        (self.gate.road.pages.snapshot(), url.map(|url| self.gate.road.pages.kept(url)).unwrap_or_default())
    }

    fn unkept(&self, url: &str) -> Option<UnkeptSnapshot> {
        self.gate.road.pages.unkept(url)
    }

    fn purge(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<u64> {
        self.gate.road.pages.purge(purge, is_soft)
    }

    fn report(&self, generation: Option<u64>, ago_ms: Option<u64>) -> ReportSnapshot {
        self.gate.road.observer.spending.report(generation, ago_ms)
    }

    fn deploy(&self) -> Option<DeploySnapshot> {
        self.gate.road.observer.spending.deploy()
    }

    fn classes(&self) -> ClassesSnapshot {
        self.gate.costs.snapshot()
    }

    fn quarantined(&self) -> Vec<QuarantinedRequest> {
        self.gate.quarantine.list()
    }

    fn release_quarantined(&self, which: &str) -> u64 {
        self.gate.quarantine.release(which)
    }

    fn upgrade(&self, wanted: Upgrade) -> oneshot::Receiver<Result<u32, UpgradeError>> {
        let (answer, receiver) = oneshot::channel();
        let refusal = if self.gate.draining.is_draining() {
            UpgradeError::Leaving
        } else if self.upgrading.get() {
            UpgradeError::UnderWay
        } else if self.has_predecessor.get() {
            UpgradeError::PredecessorLeaves
        } else {
            match self.upgrades.try_send((wanted, answer)) {
                Ok(()) => {
                    self.upgrading.set(true);
                    // For the new one, which reads it first of all.
                    learned::save(self);
                }
                // The receiver says that nobody is there.
                Err(refused) => drop(refused),
            }
            return receiver;
        };
        let _ = answer.send(Err(refusal));
        receiver
    }

    fn profile(&self, wish: Wish) -> oneshot::Receiver<Result<Vec<ProfileFile>, ProfileError>> {
        let (mut answer, receiver) = oneshot::channel();
        let (supervisor, gate) = (Rc::clone(&self.supervisor), Rc::clone(&self.gate));
        tokio::task::spawn_local(async move {
            let taken = tokio::select! {
                taken = take_profiles(&supervisor, &gate, &wish) => taken,
                // Who has asked has gone.
                () = answer.closed() => return,
            };
            let _ = answer.send(taken);
        });
        receiver
    }

    fn flame(&self, of: FlameOf) -> oneshot::Receiver<Result<Vec<u8>, FlameError>> {
        let (mut answer, receiver) = oneshot::channel();
        let (supervisor, gate, flames) = (Rc::clone(&self.supervisor), Rc::clone(&self.gate), Rc::clone(&self.flames));
        tokio::task::spawn_local(async move {
            let drawn = async {
                match of {
                    FlameOf::Workers(wish) => flames.of_workers(take_profiles(&supervisor, &gate, &wish).await?).await,
                    FlameOf::Tail(number) => {
                        let kept = gate.road.observer.tails.kept().into_iter().find(|tail| tail.id == number);
                        flames.of_tail(kept.ok_or(FlameError::NoTail(number))?).await
                    }
                }
            };
            let drawn = tokio::select! {
                drawn = drawn => drawn,
                // Who has asked has gone.
                () = answer.closed() => return,
            };
            let _ = answer.send(drawn);
        });
        receiver
    }

    fn live(&self) -> &Live {
        &self.live
    }

    fn readiness(&self) -> Readiness {
        let readiness = Workers::readiness(&*self.gate);
        Readiness {
            ready: readiness.is_ready,
            reason: readiness.reason.to_owned(),
            workers_ready: readiness.workers_ready,
            queue_length: readiness.queue_length as u64,
            last_progress_ms: readiness.last_progress_ms,
        }
    }

    fn standing(&self) -> Standing {
        let draining = &self.gate.draining;
        if draining.is_leaving() || draining.is_draining() {
            return if draining.is_draining() { Standing::Maint } else { Standing::Drain };
        }
        let readiness = Workers::readiness(&*self.gate);
        if readiness.is_ready {
            Standing::Up(self.gate.scheduler.load().weight())
        } else {
            Standing::Down(readiness.reason.to_owned())
        }
    }

    fn write_metrics(&self, page: &mut Page) {
        self.gate.road.observer.write_metrics(page);
        page.metric(&metrics::CONNECTIONS_TOTAL).sample(&[], self.gate.road.lobby.connections.total());
        let streams = self.gate.returns.streams_total() + self.gate.road.upstream_streams().total();
        page.metric(&metrics::STREAMS_TOTAL).sample(&[], streams);
        let compression = self.gate.road.transforms.compression.counts();
        page.metric(&metrics::COMPRESSION_ANSWERS_TOTAL);
        for coding in Coding::ALL {
            page.sample(&[("encoding", coding.token())], compression.bodies(coding));
        }
        page.metric(&metrics::COMPRESSION_FALLBACKS_TOTAL).sample(&[], compression.fallbacks());
        page.metric(&metrics::COMPRESSION_INPUT_BYTES_TOTAL).sample(&[], compression.input_bytes());
        page.metric(&metrics::COMPRESSION_OUTPUT_BYTES_TOTAL).sample(&[], compression.output_bytes());
        page.metric(&metrics::COMPRESSION_CPU_SECONDS_TOTAL).sample(&[], compression.cpu().as_secs_f64());
        page.metric(&metrics::MEMORY_BUFFERS_BYTES).sample(&[], self.gate.road.store.memory.used_bytes());
        page.metric(&metrics::TEMP_BYTES).sample(&[], self.gate.road.store.used_bytes());
        self.write_cache_metrics(page);
        page.metric(&metrics::REQUESTS_RETRIED_TOTAL).sample(&[], self.gate.returns.retries.total());
        page.metric(&metrics::QUARANTINED_REQUESTS).sample(&[], self.gate.quarantine.count());
        page.metric(&metrics::QUARANTINE_REFUSED_TOTAL).sample(&[], self.gate.quarantine.refused_total());
        page.metric(&metrics::CERTIFICATE_EXPIRY_SECONDS);
        for (name, left_s) in self.gate.road.certificate_ends() {
            page.sample(&[("certificate", &name)], left_s);
        }
        self.gate.road.write_upstream_metrics(page);
        page.metric(&metrics::WORKERS_WANTED).sample(&[], self.wanted());
        super::worker_metrics::write(page, &self.gate, &self.supervisor);
    }
}

async fn take_profiles(
    supervisor: &Rc<Supervisor>,
    gate: &Gate,
    wish: &Wish,
) -> Result<Vec<ProfileFile>, ProfileError> {
    let followed = wish.route.as_deref().map(|route| gate.costs.follow_route(route)).transpose()?;
    let mut taken = supervisor.profile(wish).await?;
    if let Some(followed) = followed {
        for one in &mut taken {
            one.requests = followed.requests_of(one.worker);
            one.requests_cut = followed.is_cut();
        }
    }
    Ok(taken)
}

/// Address for a browser.
pub fn url(address: SocketAddr, is_tls: bool) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    match address.ip() {
        ip if ip.is_unspecified() => format!("{scheme}://localhost:{}", address.port()),
        IpAddr::V4(ip) => format!("{scheme}://{ip}:{}", address.port()),
        IpAddr::V6(ip) => format!("{scheme}://[{ip}]:{}", address.port()),
    }
}
