//! Faults, made in the gateway that the rehearsal has started and in no other: its run directory leads to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fastrand::Rng;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{Snapshot, WorkerSnapshot};
use sluice_rehearse::Fault;
use tokio::time::Instant;

use super::gateway::{control, serving};
use super::interrupt::Interrupt;
use crate::args::RunDirArg;
use crate::client::connect::{ClientError, Gateway};
use crate::client::status::harmless;

/// Bounds of the time between two kills.
const KILL_EVERY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(3));
/// Time beyond `workers.stuck_after_ms` in which a stuck worker must exit.
const GONE_MAX: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// State of a gateway; `None` if it does not say.
pub fn status(run_dir: &RunDirArg) -> Option<Snapshot> {
    control(run_dir).ok()?.status().ok()
}

/// Account of a fault.
#[derive(Default)]
pub struct Account {
    pub events: Vec<String>,
    pub problem: Option<String>,
}

/// Setting of a fault.
#[derive(Clone)]
pub struct Stage {
    pub run_dir: RunDirArg,
    /// Length of the load.
    pub lasts: Duration,
    /// Longest time of a reload.
    pub reload_max: Duration,
    /// Time after which the gateway ends a worker whose event loop does not turn; zero if it does not.
    pub stuck_after: Duration,
    pub seed: u64,
    pub interrupt: Interrupt,
}

impl Stage {
    /// Makes the fault on a thread. `is_over` becomes true when the load may end.
    pub fn make(self, fault: Fault, is_over: Arc<AtomicBool>) -> JoinHandle<Account> {
        thread::spawn(move || {
            let account = match fault {
                Fault::None => Account::default(),
                Fault::Reload => self.reload(),
                Fault::Kills => self.kills(),
                Fault::Loop => self.endless_loop(),
            };
            is_over.store(true, Ordering::Release);
            account
        })
    }

    /// Interval of kills.
    pub fn kill_every(lasts: Duration) -> Duration {
        (lasts / 3).clamp(KILL_EVERY.0, KILL_EVERY.1)
    }

    fn reload(&self) -> Account {
        let mut account = Account::default();
        if !self.interrupt.sleep(self.lasts / 5) {
            return account;
        }
        let began = Instant::now();
        match control(&self.run_dir).and_then(|gateway| reload(gateway, self.reload_max)) {
            Ok(None) => account.events.push(format!("reloaded in {:.1} s", began.elapsed().as_secs_f64())),
            Ok(Some(why)) => account.problem = Some(format!("the reload failed: {}", harmless(&why))),
            Err(error) => account.problem = Some(format!("the reload failed: {error}")),
        }
        account
    }

    /// A worker that serves, by chance.
    fn any_worker(&self, rng: &mut Rng) -> Option<(u64, u32)> {
        let snapshot = status(&self.run_dir)?;
        let workers: Vec<_> = serving(&snapshot).map(|(worker, pid)| (worker.id, pid)).collect();
        (!workers.is_empty()).then(|| workers[rng.usize(..workers.len())])
    }

    fn kills(&self) -> Account {
        let mut rng = Rng::with_seed(self.seed);
        let (began, every) = (Instant::now(), Self::kill_every(self.lasts));
        let mut killed = 0;
        let mut is_asleep = self.interrupt.sleep(every / 2);
        while is_asleep && began.elapsed() < self.lasts {
            if let Some((_, pid)) = self.any_worker(&mut rng) {
                killed += u32::from(send(pid, Signal::SIGKILL));
            }
            is_asleep = self.interrupt.sleep(every);
        }
        let problem = (killed == 0 && is_asleep).then(|| "no worker could be killed".to_owned());
        let noun = if killed == 1 { "worker" } else { "workers" };
        Account { events: vec![format!("{killed} {noun} killed")], problem }
    }

    fn endless_loop(&self) -> Account {
        let mut account = Account::default();
        if !self.interrupt.sleep(self.lasts / 5) {
            return account;
        }
        let Some(chosen @ (worker, pid)) = self.any_worker(&mut Rng::with_seed(self.seed)) else {
            account.problem = Some("no worker could be made to loop".to_owned());
            return account;
        };
        let began = Instant::now();
        if !send(pid, Signal::SIGUSR2) {
            account.problem = Some("no worker could be made to loop".to_owned());
            return account;
        }
        let limit = if self.stuck_after.is_zero() { self.lasts } else { self.stuck_after + GONE_MAX };
        // A gateway that does not answer has not ended it either.
        while self.has(chosen) != Some(false) && began.elapsed() < limit {
            if !self.interrupt.sleep(LOOK_EVERY) {
                return account;
            }
        }
        let after = began.elapsed().as_secs_f64();
        match self.has(chosen) {
            Some(false) => account.events.push(format!("worker {worker} looped and exited after {after:.1} s")),
            Some(true) => {
                send(pid, Signal::SIGKILL);
                account.events.push(if self.stuck_after.is_zero() {
                    format!("worker {worker} looped until the rehearsal killed it: workers.stuck_after_ms is 0")
                } else {
                    format!("worker {worker} looped, was not killed by the gateway within {after:.0} s, and was killed")
                });
            }
            None => {
                let problem =
                    format!("worker {worker} looped, and after {after:.0} s the gateway did not say whether it runs");
                account.problem = Some(problem);
            }
        }
        account
    }

    /// Whether the gateway has this worker still; `None` if it does not say.
    fn has(&self, worker: (u64, u32)) -> Option<bool> {
        Some(names(&status(&self.run_dir)?.workers, worker))
    }
}

/// Whether these have this worker with this process: once it is gone, its process id may be another's.
fn names(workers: &[WorkerSnapshot], (id, pid): (u64, u32)) -> bool {
    workers.iter().any(|worker| worker.id == id && worker.pid == Some(pid))
}

fn send(pid: u32, signal: Signal) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 1 && kill(Pid::from_raw(pid), signal).is_ok())
}

/// Reloads, and returns the reason if that failed.
fn reload(mut gateway: Gateway, limit: Duration) -> Result<Option<String>, ClientError> {
    gateway.send(&Request::Reload { trial: None })?;
    let began = Instant::now();
    loop {
        let left = limit.saturating_sub(began.elapsed());
        gateway.set_patience(Some(left))?;
        let line = match gateway.receive::<Value>() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(Some("the gateway closed the connection".to_owned())),
            Err(ClientError::Silent(_)) => {
                return Ok(Some(format!("it did not end within {} s", limit.as_secs_f64().round())));
            }
            Err(error) => return Err(error),
        };
        match line.get("ok").and_then(Value::as_bool) {
            Some(true) => return Ok(None),
            Some(false) => {
                let why = line.get("error").and_then(Value::as_str).unwrap_or("it gave no reason");
                return Ok(Some(why.to_owned()));
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests_support::TempDir;

    #[test]
    fn kills_are_a_few_seconds_apart() {
        let every = |s| Stage::kill_every(Duration::from_secs(s)).as_millis();
        assert_eq!([1, 3, 6, 600].map(every), [500, 1_000, 2_000, 3_000]);
    }

    #[test]
    fn a_process_that_is_no_longer_the_workers_is_not_named() {
        let workers = [WorkerSnapshot { id: 4, pid: Some(700), ..WorkerSnapshot::default() }];
        assert!(names(&workers, (4, 700)));
        assert!(!names(&workers, (3, 700)), "its process id is a later worker's");
        assert!(!names(&workers, (4, 699)) && !names(&[], (4, 700)));
    }

    #[test]
    fn a_reload_that_does_not_end_is_a_problem() {
        let dir = TempDir::new();
        let socket = dir.0.join("control.sock");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let gateway = Gateway::connect_to(&dir.0, &socket).unwrap();
        let _silent = listener.accept().unwrap();
        let why = reload(gateway, Duration::from_millis(20)).unwrap().unwrap();
        assert!(why.starts_with("it did not end within"), "{why}");
    }

    #[test]
    fn processes_that_are_everybodys_get_no_signal() {
        assert!(!send(0, Signal::SIGCONT) && !send(1, Signal::SIGCONT) && !send(u32::MAX, Signal::SIGCONT));
    }
}
