//! A gateway that does nothing but answer.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use sluice_catalog::config::Dial;
use sluice_catalog::refusals::{
    DialError, FlameError, GivenUp, ProfileError, ReloadError, ScaleError, TrialError, UpgradeError,
};
use sluice_catalog::snapshot::{
    CacheSnapshot, ClassesSnapshot, CurrentRequest, DeploySnapshot, DialSnapshot, GatewayState, KeptSnapshot,
    Percentiles, Purge, QuarantinedRequest, QueueSnapshot, ReportSnapshot, RequestsSnapshot, Snapshot, TrialSnapshot,
    UnkeptSnapshot, WorkerSnapshot, WorkerState,
};
use sluice_journal::{Journal, Options};
use sluice_observe::Observer;

use tokio::sync::{mpsc, oneshot};

use crate::protocol::{TrialAction, TrialWish};
use crate::{Live, Operator, Progress, Readiness, Standing};

pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) struct TestOperator {
    pub(crate) stopped: Cell<u32>,
    pub(crate) scaled: RefCell<Vec<u32>>,
    pub(crate) purged: RefCell<Vec<(Purge, bool)>>,
    pub(crate) ready: Cell<bool>,
    pub(crate) standing: RefCell<Standing>,
    pub(crate) live: Live,
    observer: Rc<Observer>,
}

impl TestOperator {
    pub(crate) fn shared() -> Rc<Self> {
        let observer = Observer::new(&Rc::default(), journal());
        Rc::new(Self {
            stopped: Cell::new(0),
            scaled: RefCell::default(),
            purged: RefCell::default(),
            ready: Cell::new(true),
            standing: RefCell::new(Standing::Up(100.0)),
            live: Live::new(Rc::clone(&observer)),
            observer,
        })
    }
}

impl Operator for TestOperator {
    fn snapshot(&self) -> Snapshot {
        let worker = WorkerSnapshot {
            id: 1,
            instance: 0,
            pid: Some(4711),
            generation: 1,
            state: WorkerState::Busy,
            age_s: 12.0,
            rss_bytes: Some(50_000_000),
            heap_used_bytes: None,
            requests_total: 17,
            restarts_total: 1,
            current: vec![CurrentRequest {
                id: "r1".to_owned(),
                class: "GET /".to_owned(),
                for_ms: 12,
                method: String::new(),
                path: String::new(),
            }],
            cpu_ms_total: Some(1500.0),
            cpu: None,
            event_loop_utilization: None,
            event_loop_delay_ms: None,
            silent_ms: None,
            streams: 0,
            lowered: false,
            lane: None,
            runs: None,
        };
        let leaving = WorkerSnapshot { id: 0, state: WorkerState::Leaving, ..worker.clone() };
        Snapshot {
            crashes: Vec::new(),
            version: "0.1.0".to_owned(),
            pid: 99,
            state: GatewayState::Serving,
            url: "http://localhost:3000".to_owned(),
            admin_url: None,
            run_dir: "/nowhere".to_owned(),
            uptime_s: 3.5,
            generation: 1,
            reload: None,
            boots: None,
            workers: vec![worker, leaving],
            workers_wanted: Some(2),
            worker_memory_bytes_max: None,
            machine: None,
            lately: self.observer.past.lately(),
            queue: QueueSnapshot { length: 2, length_max: 10, oldest_wait_ms: 3.0, predicted_wait_ms: Some(4.0) },
            requests: RequestsSnapshot::default(),
            queue_wait_ms: Percentiles::default(),
            unserved_ms: Percentiles::default(),
            service_time_ms: Percentiles { p50: Some(1.0), p95: Some(2.0), p99: Some(3.0) },
            overlaps_total: 0,
            connections: 5,
            streams: 0,
            quarantined: 0,
            alarms: Vec::new(),
            growing: Vec::new(),
            concurrency: sluice_catalog::snapshot::ConcurrencySnapshot::default(),
            runs: sluice_catalog::snapshot::RunsSnapshot::default(),
            certificates: Vec::new(),
            upstreams: Vec::new(),
            tails: Vec::new(),
            react: None,
            component_cache: None,
            page_cache: None,
            dial: DialSnapshot::default(),
            effects: None,
            graph: None,
            called: Vec::new(),
        }
    }

    fn request_stop(&self) {
        self.stopped.set(self.stopped.get() + 1);
    }

    fn scale(&self, workers: u32) -> Result<u32, ScaleError> {
        if workers > 100 {
            return Err(ScaleError::OutOfRange { workers, max: 100 });
        }
        self.scaled.borrow_mut().push(workers);
        Ok(2)
    }

    fn turn(&self, server: &BTreeMap<String, String>, replaces: bool) -> Result<DialSnapshot, DialError> {
        let dial = Dial::default();
        let turned = if replaces { Dial::read(server) } else { dial.with(server) }.map_err(DialError::Faults)?;
        Ok(DialSnapshot { server: turned.texts(), turned: turned != dial })
    }

    fn trial(&self, _action: Option<TrialAction>) -> oneshot::Receiver<Result<Option<TrialSnapshot>, TrialError>> {
        let (sender, receiver) = oneshot::channel();
        let _ = sender.send(Err(TrialError::None));
        receiver
    }

    fn reload(&self, _trial: Option<TrialWish>) -> mpsc::Receiver<Progress> {
        let (sender, receiver) = mpsc::channel(4);
        for told in [
            Progress::Line("started".to_owned()),
            Progress::Line("half".to_owned()),
            Progress::Ended(Err(Arc::new(ReloadError::GivenUp {
                generation: 2,
                why: GivenUp::NotListening(7),
                is_in_force: false,
                stderr_tail: "EACCES".to_owned(),
            }))),
        ] {
            let _ = sender.try_send(told);
        }
        receiver
    }

    fn report(&self, _: Option<u64>, _: Option<u64>) -> ReportSnapshot {
        ReportSnapshot::default()
    }

    fn cache(&self, url: Option<&str>) -> (CacheSnapshot, Vec<KeptSnapshot>) {
        let kept = url.map(|url| KeptSnapshot { tags: vec![url.to_owned()], ..KeptSnapshot::default() });
        (CacheSnapshot { enabled: true, ..CacheSnapshot::default() }, kept.into_iter().collect())
    }

    fn unkept(&self, _: &str) -> Option<UnkeptSnapshot> {
        None
    }

    fn purge(&self, purge: &Purge, is_soft: bool) -> tokio::sync::oneshot::Receiver<u64> {
        self.purged.borrow_mut().push((purge.clone(), is_soft));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        sender.send(3).unwrap();
        receiver
    }

    fn deploy(&self) -> Option<DeploySnapshot> {
        None
    }

    fn classes(&self) -> ClassesSnapshot {
        ClassesSnapshot::default()
    }

    fn quarantined(&self) -> Vec<QuarantinedRequest> {
        vec![QuarantinedRequest {
            id: "0badcafe".to_owned(),
            method: "GET".to_owned(),
            target: "/poison".to_owned(),
            deaths: 2,
            told_by: Vec::new(),
            probed: false,
            for_ms: 1000,
            expires_in_ms: 599_000,
        }]
    }

    fn release_quarantined(&self, which: &str) -> u64 {
        u64::from(which == "0badcafe")
    }

    fn upgrade(&self, _wanted: crate::Upgrade) -> tokio::sync::oneshot::Receiver<Result<u32, UpgradeError>> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        sender.send(Err(UpgradeError::UnderWay)).unwrap();
        receiver
    }

    fn profile(
        &self,
        _wish: sluice_catalog::profiles::Wish,
    ) -> tokio::sync::oneshot::Receiver<Result<Vec<sluice_catalog::profiles::ProfileFile>, ProfileError>> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        sender.send(Err(ProfileError::NoWorker)).unwrap();
        receiver
    }

    fn flame(&self, of: crate::FlameOf) -> tokio::sync::oneshot::Receiver<Result<Vec<u8>, FlameError>> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let drawn = match of {
            crate::FlameOf::Workers(_) => Err(ProfileError::NoWorker.into()),
            crate::FlameOf::Tail(7) => Ok(b"{\"title\":\"tail\"}".to_vec()),
            crate::FlameOf::Tail(number) => Err(FlameError::NoTail(number)),
        };
        sender.send(drawn).unwrap();
        receiver
    }

    fn live(&self) -> &Live {
        &self.live
    }

    fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    fn readiness(&self) -> Readiness {
        Readiness {
            ready: self.ready.get(),
            reason: "because".to_owned(),
            workers_ready: 1,
            queue_length: 2,
            last_progress_ms: Some(7),
        }
    }
}

pub(crate) fn journal() -> Journal {
    Journal::new(Options::default(), std::io::sink()).unwrap()
}

/// A directory that is gone with the value.
pub(crate) struct TempDir(pub(crate) PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sluice-admin-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
