//! Sends requests for a while, and counts what becomes of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::arrivals::Poisson;
use crate::client::Client;
use crate::mix::Mix;
use crate::tally::{Failure, Tally, us};

/// Maximum number of open requests.
const OPEN_MAX: usize = 4_000;
/// Longest sleep of the thread that knows when requests are due: so soon it notices the end.
const NAP: Duration = Duration::from_millis(20);

/// Way in which requests arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drive {
    /// Poisson arrivals at this mean rate, whether or not earlier requests are answered.
    Rate(f64),
    /// Number of clients, each with one request at a time.
    Clients(u32),
}

/// One load.
#[derive(Clone, Debug)]
pub struct Sending {
    /// Way in which requests arrive.
    pub drive: Drive,
    /// Time for which they do.
    pub lasts: Duration,
    /// Requests continue beyond that until it is true.
    pub is_over: Arc<AtomicBool>,
    /// Seed of the arrivals and of the paths.
    pub seed: u64,
}

impl Sending {
    /// A load that only its time ends.
    pub fn for_a_while(drive: Drive, lasts: Duration, seed: u64) -> Self {
        Self { drive, lasts, is_over: Arc::new(AtomicBool::new(true)), seed }
    }

    fn has_ended(&self, began: Instant) -> bool {
        began.elapsed() >= self.lasts && self.is_over.load(Ordering::Acquire)
    }
}

/// Sends requests, and returns when each has an answer or has failed. Returns the seconds in which they arrived, too. It must
/// run in a `LocalSet`.
pub async fn send(client: &Rc<Client>, mix: &Rc<Mix>, sending: &Sending) -> (Tally, f64) {
    client.close_idle();
    match sending.drive {
        Drive::Rate(per_second) => open(client, mix, sending, per_second).await,
        Drive::Clients(clients) => closed(client, mix, sending, clients).await,
    }
}

/// Times are counted from the moment at which a request is due, so that a wait before it is sent is part of them.
async fn open(client: &Rc<Client>, mix: &Rc<Mix>, sending: &Sending, per_second: f64) -> (Tally, f64) {
    let began = Instant::now();
    let (due, mut arrivals) = unbounded_channel();
    let clock = sending.clone();
    // A thread: timers of the runtime are as coarse as a millisecond.
    thread::spawn(move || tell(&clock, per_second, began, &due));
    let tally = Rc::new(RefCell::new(Tally::default()));
    let mut rng = Rng::with_seed(sending.seed ^ PATHS);
    let mut open = JoinSet::new();
    while let Some(due) = next(&mut arrivals, &mut open).await {
        let asked = mix.draw(&mut rng).clone();
        tally.borrow_mut().late.record(us(due.elapsed()));
        if open.len() >= OPEN_MAX {
            tally.borrow_mut().record(Err(Failure::Unsent), due.elapsed());
            continue;
        }
        let (client, tally) = (Rc::clone(client), Rc::clone(&tally));
        open.spawn_local(async move {
            let outcome = client.ask(&asked).await;
            tally.borrow_mut().record(outcome, due.elapsed());
        });
    }
    let lasted_s = began.elapsed().as_secs_f64();
    while open.join_next().await.is_some() {}
    (tally.take(), lasted_s)
}

/// Draws of paths do not follow those of times.
const PATHS: u64 = 0x9e37_79b9_7f4a_7c15;

/// The next arrival. Tasks of ended requests are dropped meanwhile.
async fn next(arrivals: &mut UnboundedReceiver<Instant>, open: &mut JoinSet<()>) -> Option<Instant> {
    loop {
        tokio::select! {
            due = arrivals.recv() => return due,
            Some(_) = open.join_next() => {}
        }
    }
}

/// Says when requests are due, until the load has ended.
fn tell(sending: &Sending, per_second: f64, began: Instant, due: &UnboundedSender<Instant>) {
    for at in Poisson::new(per_second, sending.seed) {
        let at = began + at;
        loop {
            if sending.has_ended(began) {
                return;
            }
            let left = at.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(NAP));
        }
        if due.send(at).is_err() {
            return;
        }
    }
}

async fn closed(client: &Rc<Client>, mix: &Rc<Mix>, sending: &Sending, clients: u32) -> (Tally, f64) {
    let began = Instant::now();
    let tally = Rc::new(RefCell::new(Tally::default()));
    let lasted = Rc::new(Cell::new(Duration::ZERO));
    let mut open = JoinSet::new();
    for number in 0..clients {
        let (client, mix, sending) = (Rc::clone(client), Rc::clone(mix), sending.clone());
        let (tally, lasted) = (Rc::clone(&tally), Rc::clone(&lasted));
        open.spawn_local(async move {
            let mut rng = Rng::with_seed(sending.seed ^ PATHS ^ u64::from(number));
            while !sending.has_ended(began) {
                let asked = mix.draw(&mut rng).clone();
                let sent = Instant::now();
                let outcome = client.ask(&asked).await;
                // A gateway that refuses at once must not make this a loop without a pause.
                if matches!(outcome, Err(Failure::Unconnected | Failure::Closed)) {
                    tokio::time::sleep(NAP).await;
                }
                tally.borrow_mut().record(outcome, sent.elapsed());
            }
            lasted.set(began.elapsed());
        });
    }
    while open.join_next().await.is_some() {}
    (tally.take(), lasted.get().as_secs_f64())
}
