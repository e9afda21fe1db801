//! Requests that get a worker to themselves, because a worker may die with them.

use std::collections::BTreeMap;

use sluice_scheduler::{Action, Alone, Event, Limits, Need, Order, RequestId, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch};

const ALONE: Need = Need {
    class: sluice_scheduler::ClassId(0),
    priority: 0,
    deadline_ms: None,
    alone: Alone::Always,
    ahead: false,
    inner: false,
    drawn: false,
    home: sluice_scheduler::Home::Any,
};
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).expect("31 bits") % end
    }
}

const THREE_EACH: Limits = Limits { concurrency: 3, ..LIMITS };

#[test]
fn a_request_that_is_to_be_alone_waits_for_an_empty_worker_and_others_pass_it() {
    for order in [Order::Fifo, Order::Shortest] {
        let mut stage = Stage::ready(Limits { order, ..THREE_EACH }, 2);
        assert_eq!(stage.arrive(), [dispatch(1, 1)]);
        assert_eq!(stage.arrive(), [dispatch(2, 2)]);
        assert_eq!(stage.arrive_with(ALONE), [], "both hold one");
        // Worker 1 is kept for it; worker 2 takes the others.
        assert_eq!(stage.arrive(), [dispatch(4, 2)]);
        assert_eq!(stage.arrive(), [dispatch(5, 2)]);
        assert_eq!(stage.arrive(), [], "worker 2 is full");
        assert_eq!(stage.finish(1, 1), [dispatch(3, 1)]);
        assert_eq!(stage.finish(2, 2), [dispatch(6, 2)], "nothing joins the one that is alone");
        assert_eq!(stage.finish(1, 3), []);
        assert_eq!(stage.arrive(), [dispatch(7, 1)]);
        assert_eq!(stage.arrive(), [dispatch(8, 1)], "the worker is everybody's again");
    }
}

#[test]
fn a_worker_that_was_kept_for_one_that_left_is_everybodys_again() {
    let mut stage = Stage::ready(THREE_EACH, 1);
    stage.arrive();
    assert_eq!(stage.arrive_with(ALONE), []);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.step(Event::Left { request: RequestId(2) }), [dispatch(3, 1)]);
}

#[test]
fn where_workers_hold_one_each_nothing_differs() {
    let mut stage = Stage::ready(LIMITS, 1);
    assert_eq!(stage.arrive_with(ALONE), [dispatch(1, 1)]);
    assert_eq!(stage.arrive_with(ALONE), []);
    assert_eq!(stage.arrive(), []);
    assert_eq!(stage.finish(1, 1), [dispatch(2, 1)]);
    assert_eq!(stage.finish(1, 2), [dispatch(3, 1)]);
}

#[test]
fn i5_in_random_runs_no_request_shares_a_worker_with_one_that_must_be_alone_and_all_get_a_worker() {
    for seed in 0..200 {
        let mut chance = Chance(seed);
        let order = if chance.below(2) == 0 { Order::Fifo } else { Order::Shortest };
        let limits = Limits { order, concurrency: chance.below(3) + 2, queue_length_max: 1000, ..LIMITS };
        let workers = chance.below(3) + 1;
        let mut stage = Stage::ready(Limits { queue_wait_ms_max: 3_600_000, ..limits }, workers);
        let mut held: BTreeMap<u64, Vec<u64>> = (1..=u64::from(workers)).map(|worker| (worker, Vec::new())).collect();
        let mut alone = Vec::new();
        let (mut arrived, mut given) = (0, 0);
        while given < 200 {
            stage.now = stage.now.plus_ms(1);
            let busy: Vec<_> = held.iter().flat_map(|(w, all)| all.iter().map(|request| (*w, *request))).collect();
            let actions = if arrived < 200 && (busy.is_empty() || chance.below(2) == 0) {
                arrived += 1;
                let is_alone = chance.below(4) == 0;
                alone.push(is_alone);
                stage
                    .arrive_with(Need { alone: if is_alone { Alone::Always } else { Alone::Never }, ..Need::default() })
            } else if let Some((worker, request)) = busy.get(chance.below(200) as usize % busy.len().max(1)) {
                held.get_mut(worker).unwrap().retain(|other| other != request);
                stage.step(Event::Finished { worker: WorkerId(*worker), request: RequestId(*request) })
            } else {
                panic!("seed {seed}: {given} of 200 were given, none is held, and nobody gets a worker");
            };
            for action in actions {
                let Action::Dispatch { request, worker } = action else { panic!("seed {seed}: {action:?}") };
                let here = held.get_mut(&worker.0).unwrap();
                here.push(request.0);
                let has_alone = here.iter().any(|request| alone[usize::try_from(*request - 1).unwrap()]);
                assert!(here.len() == 1 || !has_alone, "seed {seed}: {here:?} share worker {worker:?}");
                given += 1;
            }
        }
        assert_eq!(stage.scheduler.overlaps_total(), 0, "seed {seed}");
    }
}

#[test]
fn a_suspect_keeps_its_worker_until_it_is_seen_to_wait_and_others_that_are_alone_keep_it() {
    for (need, is_shared) in [(Need::default().suspected(true), true), (ALONE, false), (ALONE.suspected(true), false)] {
        let mut stage = Stage::ready(THREE_EACH, 1);
        assert_eq!(stage.arrive_with(need), [dispatch(1, 1)]);
        assert_eq!(stage.arrive(), [], "it may end the worker");
        stage.pass_ms(50);
        let looked = stage.step(Event::Looked { worker: WorkerId(1), sleeps: true, load: 0 });
        assert_eq!(looked.contains(&dispatch(2, 1)), is_shared, "{need:?}");
    }
}
