//! Random days with requests that wait, looks that find them, memory that fills, and workers that die: nothing is lost, nobody is
//! refused while a worker runs nothing.

use std::collections::BTreeMap;

use sluice_scheduler::{Action, ClassId, Event, Lane, Limits, Memory, Need, Order, Refusal, RequestId, WorkerId};

use crate::stage::{LIMITS, Stage};

/// Days that are lived where `SLUICE_SIM_DAYS` says nothing; 4,000 are a million requests.
const DAYS: u64 = 300;
const STEPS: u32 = 600;

/// splitmix64
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

#[derive(Default)]
struct Ledger {
    /// Where each request is: in the queue, or at a worker.
    queued: BTreeMap<u64, Need>,
    held: BTreeMap<u64, u64>,
    next_worker: u64,
    refused: u32,
    parked: usize,
    streams: Vec<u64>,
}

impl Ledger {
    fn carry_out(&mut self, stage: &mut Stage, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Dispatch { request, worker } | Action::Hand { request, worker } => {
                    assert!(self.queued.remove(&request.0).is_some(), "{request:?} was not queued");
                    self.held.insert(request.0, worker.0);
                }
                Action::Refuse { request, reason, .. } => {
                    assert!(self.queued.remove(&request.0).is_some(), "{request:?} was not queued");
                    self.refused += u32::from(reason != Refusal::Deadline);
                }
                Action::Orphaned { request, .. } => {
                    assert!(self.held.remove(&request.0).is_some(), "{request:?} was nowhere");
                }
                Action::Start { worker, lane, .. } => {
                    self.next_worker = worker.0;
                    assert_eq!(lane, Lane::Short, "no lanes here");
                    let actions = stage.listen(worker.0);
                    self.carry_out(stage, actions);
                }
                _ => {}
            }
        }
    }
}

fn day(seed: u64) -> Ledger {
    let mut chance = Chance(seed);
    let limits = Limits {
        order: [Order::Shortest, Order::Fifo][usize::try_from(chance.below(2)).expect("a small number")],
        concurrency_max: 10_000,
        queue_length_max: 1 + usize::try_from(chance.below(50)).expect("a small number"),
        queue_wait_ms_max: 1 + chance.below(3_000),
        streams_per_worker_max: 50,
        ..LIMITS
    };
    let workers = 1 + chance.below(3);
    let mut stage = Stage::ready(limits, u32::try_from(workers).expect("a small number"));
    let mut ledger = Ledger { next_worker: workers, ..Ledger::default() };
    for _ in 0..STEPS {
        stage.now.0 += chance.below(4_000);
        let alive: Vec<u64> = stage.scheduler.workers().map(|view| view.worker.0).collect();
        if alive.is_empty() {
            let actions = stage.pass_ms(100);
            ledger.carry_out(&mut stage, actions);
            continue;
        }
        let any = |chance: &mut Chance| {
            WorkerId(alive[usize::try_from(chance.below(alive.len() as u64)).expect("a small number")])
        };
        let held: Vec<(u64, u64)> = ledger.held.iter().map(|(request, worker)| (*request, *worker)).collect();
        let one = |chance: &mut Chance| {
            held.get(usize::try_from(chance.below(held.len().max(1) as u64)).expect("a small number")).copied()
        };
        let actions = match chance.below(20) {
            0..=7 => {
                let class = ClassId(u16::try_from(chance.below(4)).expect("a small number"));
                let inner = chance.below(20) == 0;
                let need = Need { class, inner, ..Need::default() };
                ledger.queued.insert(stage.requests() + 1, need);
                stage.arrive_with(need)
            }
            8..=10 => match one(&mut chance) {
                Some((request, worker)) => {
                    let class = ClassId(u16::try_from(request % 4).expect("a small number"));
                    let cost_us = 200 + chance.below(20_000);
                    let measured = stage.step(Event::Measured { class, cost_us });
                    ledger.carry_out(&mut stage, measured);
                    ledger.held.remove(&request);
                    stage.finish(worker, request)
                }
                None => continue,
            },
            11 => match one(&mut chance) {
                Some((request, worker)) => {
                    ledger.held.remove(&request);
                    ledger.streams.push(worker);
                    stage.step(Event::Detached { worker: WorkerId(worker), request: RequestId(request) })
                }
                None => continue,
            },
            12..=15 => {
                let (worker, load) = (any(&mut chance), u32::try_from(chance.below(1_000)).expect("a small number"));
                stage.step(Event::Looked { worker, sleeps: chance.below(4) > 0, load })
            }
            16 => {
                let worker = any(&mut chance);
                stage.step(Event::Waits { worker })
            }
            17 => {
                let (worker, used_bytes) = (any(&mut chance), chance.below(100));
                stage.step(Event::Weighed { worker, memory: Memory::Heap, used_bytes, limit_bytes: 100 })
            }
            18 if chance.below(10) == 0 => stage.exit(any(&mut chance).0),
            18 => {
                let worker = any(&mut chance);
                stage.step(Event::Blocked { worker })
            }
            _ => {
                let ms = chance.below(200);
                stage.pass_ms(ms)
            }
        };
        ledger.carry_out(&mut stage, actions);
        ledger.parked = ledger.parked.max(stage.scheduler.workers().map(|view| view.parked).sum());
        assert_eq!(stage.scheduler.queue_length(), ledger.queued.len());
        assert_eq!(stage.scheduler.in_service(), ledger.held.len());
        assert_eq!(stage.scheduler.idle_refusals_total(), 0, "a worker ran nothing");
    }
    ledger
}

#[test]
fn i3_i6_days_of_waiting_requests_lose_none_and_refuse_none_while_a_worker_is_idle() {
    let seed: u64 = std::env::var("SLUICE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let (mut refused, mut parked, mut streams) = (0, 0, 0);
    let days = std::env::var("SLUICE_SIM_DAYS").ok().and_then(|days| days.parse().ok()).unwrap_or(DAYS).min(20_000);
    for day_of in 0..days.max(100) {
        let ledger = std::panic::catch_unwind(|| day(seed + day_of));
        let ledger = ledger.unwrap_or_else(|_| panic!("to live this day again: SLUICE_SEED={}", seed + day_of));
        refused += ledger.refused;
        parked = parked.max(ledger.parked);
        streams += ledger.streams.len();
    }
    assert!(refused > 100 && parked > 10 && streams > 100, "{refused} refused, {parked} parked, {streams} streams");
}
