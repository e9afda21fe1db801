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
use sluice_catalog::snapshot::Snapshot;
use sluice_rehearse::Fault;
use tokio::time::Instant;

use super::gateway::{control, serving};
use super::interrupt::Interrupt;
use crate::args::RunDirArg;
use crate::client::connect::ClientError;
use crate::client::status::harmless;

/// Bounds of the time between two kills.
const KILL_EVERY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(3));
/// Time beyond `workers.stuck_after_ms` in which a stuck worker must be gone.
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
        match reload(&self.run_dir) {
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
        let Some((worker, pid)) = self.any_worker(&mut Rng::with_seed(self.seed)) else {
            account.problem = Some("no worker could be made to loop".to_owned());
            return account;
        };
        let began = Instant::now();
        if !send(pid, Signal::SIGUSR2) {
            account.problem = Some("no worker could be made to loop".to_owned());
            return account;
        }
        let limit = if self.stuck_after.is_zero() { self.lasts } else { self.stuck_after + GONE_MAX };
        while self.is_there(pid) && began.elapsed() < limit {
            if !self.interrupt.sleep(LOOK_EVERY) {
                return account;
            }
        }
        let after = began.elapsed().as_secs_f64();
        if !self.is_there(pid) {
            account.events.push(format!("worker {worker} looped and was gone after {after:.1} s"));
            return account;
        }
        send(pid, Signal::SIGKILL);
        account.events.push(if self.stuck_after.is_zero() {
            format!("worker {worker} looped until the rehearsal killed it: workers.stuck_after_ms is 0")
        } else {
            format!("worker {worker} looped, was not ended by the gateway within {after:.0} s, and was killed")
        });
        account
    }

    fn is_there(&self, pid: u32) -> bool {
        // A gateway that does not answer has not ended it either.
        status(&self.run_dir).is_none_or(|snapshot| snapshot.workers.iter().any(|worker| worker.pid == Some(pid)))
    }
}

fn send(pid: u32, signal: Signal) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 1 && kill(Pid::from_raw(pid), signal).is_ok())
}

/// Reloads, and returns the reason if that failed.
fn reload(run_dir: &RunDirArg) -> Result<Option<String>, ClientError> {
    let mut gateway = control(run_dir)?;
    gateway.send(&Request::Reload { trial: None })?;
    // It ends by itself: workers have a limit for their start.
    gateway.set_patience(None)?;
    while let Some(line) = gateway.receive::<Value>()? {
        match line.get("ok").and_then(Value::as_bool) {
            Some(true) => return Ok(None),
            Some(false) => {
                let why = line.get("error").and_then(Value::as_str).unwrap_or("it did not say why");
                return Ok(Some(why.to_owned()));
            }
            None => {}
        }
    }
    Ok(Some("the gateway closed the connection".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_a_few_seconds_apart() {
        let every = |s| Stage::kill_every(Duration::from_secs(s)).as_millis();
        assert_eq!([1, 3, 6, 600].map(every), [500, 1_000, 2_000, 3_000]);
    }

    #[test]
    fn processes_that_are_everybodys_get_no_signal() {
        assert!(!send(0, Signal::SIGCONT) && !send(1, Signal::SIGCONT) && !send(u32::MAX, Signal::SIGCONT));
    }
}
