//! Measures with a running gateway: the capacity, paths without company, and the cells.

use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sluice_rehearse::{Capacity, Client, Drive, Fault, Mix, PathTime, Sending, Tally, send};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;

use super::Failure;
use super::faults::{Account, Stage};
use super::interrupt::Interrupt;

/// Maximum number of clients in the search for the capacity.
const CLIENTS_MAX: u32 = 512;
/// More answers per second by which twice the clients must have paid.
const GAIN: f64 = 1.1;
/// Maximum number of paths that are measured alone.
const PATHS_MAX: usize = 10;
/// Bounds of the time of one step.
const STEP: (Duration, Duration) = (Duration::from_millis(700), Duration::from_secs(3));
const PATH: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));

/// Client and paths, with a runtime for the requests.
pub struct Stand {
    runtime: Runtime,
    local: LocalSet,
    client: Rc<Client>,
    mix: Rc<Mix>,
    seed: u64,
    interrupt: Interrupt,
}

impl Stand {
    pub fn new(client: Rc<Client>, mix: Rc<Mix>, seed: u64, interrupt: Interrupt) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime, local: LocalSet::new(), client, mix, seed, interrupt })
    }

    /// Runs it, unless the rehearsal is to end.
    fn run<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        self.interrupt.check()?;
        self.local.block_on(&self.runtime, async {
            tokio::select! {
                output = future => Ok(output),
                failure = self.interrupt.asked() => Err(failure),
            }
        })
    }

    fn send(&self, mix: &Rc<Mix>, sending: &Sending) -> Result<(Tally, f64), Failure> {
        self.run(send(&self.client, mix, sending))
    }

    /// Doubles the clients until more of them get no more answers. The first step warms the app up.
    #[allow(clippy::cast_precision_loss, reason = "counts of seconds")]
    pub fn capacity(&self, workers: u32, lasts: Duration) -> Result<Capacity, Failure> {
        let step = (lasts / 3).clamp(STEP.0, STEP.1);
        let mut clients = workers.saturating_mul(2).clamp(2, CLIENTS_MAX);
        let mut best = Capacity { per_second: 0.0, clients };
        let measure = |clients| {
            let sending = Sending::for_a_while(Drive::Clients(clients), step, self.seed);
            let (tally, lasted_s) = self.send(&self.mix, &sending)?;
            let answered = tally.requests - tally.failed(|failure| !failure.is_of_app());
            Ok::<_, Failure>(answered as f64 / lasted_s.max(1e-3))
        };
        measure(clients)?;
        loop {
            let per_second = measure(clients)?;
            let has_gained = per_second > best.per_second * GAIN;
            if per_second > best.per_second {
                best = Capacity { per_second, clients };
            }
            if !has_gained || clients >= CLIENTS_MAX {
                return Ok(best);
            }
            clients = (clients * 2).min(CLIENTS_MAX);
        }
    }

    /// Times of the most frequent paths, one request at a time.
    pub fn paths(&self, lasts: Duration) -> Result<Vec<PathTime>, Failure> {
        let each = (lasts / 10).clamp(PATH.0, PATH.1);
        let mut times = Vec::new();
        for (asked, share) in self.mix.parts().iter().take(PATHS_MAX) {
            let only = Mix::of_sample(vec![asked.clone()]).map(Rc::new);
            let Some(only) = only else { continue };
            let first = self.run(self.client.ask(asked))?;
            let (tally, _) = self.send(&only, &Sending::for_a_while(Drive::Clients(1), each, self.seed))?;
            let answer = match first {
                Ok(status) => status.to_string(),
                Err(failure) => failure.to_string(),
            };
            let alone_ms = tally.median_ms();
            times.push(PathTime { path: asked.to_string(), share: *share, alone_ms, answer });
        }
        Ok(times)
    }

    /// Number of event streams that were closed after their head.
    pub fn streams(&self) -> u64 {
        self.client.streams()
    }

    pub fn paths_total(&self) -> usize {
        self.mix.parts().len()
    }

    /// One load with one fault. Each fault of a load meets the same arrivals.
    pub fn cell(
        &self,
        drive: Drive,
        load: u64,
        fault: Fault,
        stage: &Stage,
    ) -> Result<((Tally, f64), Account), Failure> {
        let is_over = Arc::new(AtomicBool::new(false));
        let sending =
            Sending { drive, lasts: stage.lasts, is_over: Arc::clone(&is_over), seed: self.seed ^ load << 32 };
        let fault = stage.clone().make(fault, is_over);
        let sent = self.send(&self.mix, &sending)?;
        let account = fault.join().unwrap_or_else(|_| Account {
            events: Vec::new(),
            problem: Some("the rehearsal itself failed to cause the fault".to_owned()),
        });
        Ok((sent, account))
    }
}
