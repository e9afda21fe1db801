//! Lanes where workers may hold several: who joins whom.

use sluice_scheduler::{Action, Alone, ClassId, Event, Home, Lane, Limits, Need, Order, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch};

const SHARED: Limits = Limits { order: Order::Shortest, lanes: true, concurrency_max: 20, ..LIMITS };

const fn of(class: u16) -> Need {
    Need {
        class: ClassId(class),
        priority: 0,
        deadline_ms: None,
        ahead: false,
        alone: Alone::Never,
        inner: false,
        drawn: false,
        home: Home::Any,
    }
}

/// Computes 60 ms and waits 60; computes 3 ms and waits 20; computes 100 ms; computes 3 ms.
const HEAVY: Need = of(1);
const LIGHT: Need = of(2);
const RENDER: Need = of(3);
const SUGGEST: Need = of(4);

/// Workers 1 to `workers`, of which all costs and waits are known, and a worker of the long lane after them.
fn stage(workers: u32) -> Stage {
    let mut stage = Stage::ready(SHARED, workers);
    for (need, cost_ms, wait_ms) in [(HEAVY, 60, 60), (LIGHT, 3, 20), (RENDER, 100, 0), (SUGGEST, 3, 0)] {
        for _ in 0..300 {
            stage.learn(need.class, cost_ms * 1_000);
        }
        for _ in 0..20 {
            stage.scheduler.costs_mut().served_alone(need.class, (cost_ms + wait_ms) * 1_000);
        }
    }
    let mut begun = Vec::new();
    for _ in 0..=workers {
        begun.extend(stage.arrive_with(RENDER));
    }
    let long = u64::from(workers) + 1;
    assert!(begun.iter().any(|action| matches!(action, Action::Start { lane: Lane::Long, .. })), "{begun:?}");
    begun.extend(stage.listen(long));
    for action in begun {
        if let Action::Dispatch { request, worker } = action {
            stage.finish(worker.0, request.0);
        }
    }
    assert!(stage.scheduler.workers().all(|view| view.in_service == 0));
    stage
}

/// The worker that the request is given to at once.
fn given(stage: &mut Stage, need: Need) -> Option<u64> {
    stage.arrive_with(need).iter().find_map(|action| match action {
        Action::Dispatch { worker, .. } => Some(worker.0),
        _ => None,
    })
}

#[test]
fn light_requests_that_wait_fill_a_worker_before_they_begin_the_next() {
    let mut stage = stage(2);
    let workers: Vec<_> = (0..10).map(|_| given(&mut stage, LIGHT)).collect();
    // 3 ms of 22: the gateway's own millisecond is no wait of the app.
    assert_eq!(workers, [vec![Some(1); 5], vec![Some(2); 5]].concat());
    assert_eq!(given(&mut stage, LIGHT), None, "neither has time for more, as far as anybody knows");
}

#[test]
fn worker_that_was_seen_to_wait_takes_more_than_is_known_of_it() {
    let mut stage = stage(1);
    (0..5).for_each(|_| assert_eq!(given(&mut stage, LIGHT), Some(1)));
    assert_eq!(given(&mut stage, LIGHT), None);
    let actions = stage.step(Event::Waits { worker: WorkerId(1) });
    assert!(matches!(actions[..], [Action::Dispatch { worker: WorkerId(1), .. }]), "{actions:?}");
    assert_eq!(stage.scheduler.overlaps_total(), 0);
}

#[test]
fn light_request_never_joins_a_heavy_one() {
    let mut stage = stage(2);
    assert_eq!(given(&mut stage, HEAVY), Some(3), "the long lane");
    assert_eq!(given(&mut stage, HEAVY), Some(1), "nobody needs it, and another is left");
    for _ in 0..5 {
        assert_eq!(given(&mut stage, LIGHT), Some(2));
    }
    assert_eq!(given(&mut stage, LIGHT), None, "it would be behind the heavy one");
    assert!(stage.step(Event::Waits { worker: WorkerId(1) }).is_empty(), "even while that waits");
}

#[test]
fn heavy_requests_leave_the_last_worker_that_holds_none_and_never_join_light_ones() {
    let mut stage = stage(2);
    assert_eq!(given(&mut stage, LIGHT), Some(1));
    assert_eq!(given(&mut stage, HEAVY), Some(3));
    assert_eq!(given(&mut stage, HEAVY), Some(2));
    assert_eq!(given(&mut stage, HEAVY), Some(3), "one waits while the other computes");
    assert_eq!(given(&mut stage, HEAVY), None, "no third one, and not beside the light one");
    assert_eq!(given(&mut stage, LIGHT), Some(1));
}

#[test]
fn requests_that_only_compute_are_alone_in_every_lane() {
    let mut stage = stage(2);
    assert_eq!(given(&mut stage, RENDER), Some(3));
    assert_eq!(given(&mut stage, SUGGEST), Some(1));
    assert_eq!(given(&mut stage, SUGGEST), Some(2));
    assert_eq!(given(&mut stage, SUGGEST), None);
    assert_eq!(given(&mut stage, RENDER), None);
}

#[test]
fn heavy_requests_everywhere_do_not_shut_light_ones_out() {
    let mut stage = stage(1);
    let home = Need { home: Home::At(WorkerId(1)), ..HEAVY };
    assert_eq!(given(&mut stage, home), Some(1), "its session is there");
    assert_eq!(given(&mut stage, LIGHT), Some(1), "no other worker of its lane is left");
}

#[test]
fn worker_that_a_session_waits_for_gets_empty() {
    let mut stage = stage(2);
    assert_eq!(given(&mut stage, LIGHT), Some(1));
    let home = Need { home: Home::At(WorkerId(1)), ..SUGGEST };
    assert_eq!(given(&mut stage, home), None, "it computes all the time, and the worker is not empty");
    assert_eq!(given(&mut stage, LIGHT), Some(2), "who may have another does not keep it waiting");
    let first = stage.requests() - 2;
    assert_eq!(stage.finish(1, first), [dispatch(first + 1, 1)]);
}

#[test]
fn request_that_is_to_be_alone_gets_the_long_lane_when_that_is_empty() {
    let mut stage = stage(2);
    assert_eq!(given(&mut stage, HEAVY), Some(3));
    let alone = Need { alone: Alone::Always, ..LIGHT };
    assert_eq!(given(&mut stage, LIGHT), Some(1));
    assert_eq!(given(&mut stage, LIGHT), Some(1));
    assert_eq!(given(&mut stage, alone), Some(2), "the one that holds nothing");
    assert_eq!(given(&mut stage, LIGHT), Some(1), "nobody joins it");
    let again = given(&mut stage, alone);
    assert_eq!(again, None);
    assert_eq!(given(&mut stage, HEAVY), None, "the long lane's worker is kept for it");
}

#[test]
fn waits_are_predicted_from_the_part_of_a_worker_that_requests_take() {
    let mut stage = stage(1);
    let mut held = Vec::new();
    for _ in 0..40 {
        let request = stage.requests() + 1;
        held.push(request);
        assert_eq!(given(&mut stage, LIGHT), Some(1));
        stage.pass_ms(5);
        if held.len() == 5 {
            stage.finish(1, held.remove(0));
        }
    }
    // Each holds its worker for 25 ms, of which there are five at once.
    assert_eq!(given(&mut stage, LIGHT), Some(1));
    for waiting in 0..10_u64 {
        let wait_ms = stage.scheduler.predicted_wait_ms_of(LIGHT);
        let most = (waiting + 1) * 25;
        assert!(wait_ms.is_some_and(|ms| (most / 6..=most / 4).contains(&ms)), "{wait_ms:?} behind {waiting}");
        assert_eq!(given(&mut stage, LIGHT), None);
    }
}

#[test]
fn worker_whose_app_puts_state_back_gets_no_second_request_however_short_they_wait() {
    let mut stage = stage(2);
    stage.step(Event::HoldsOne { worker: WorkerId(1) });
    let workers: Vec<_> = (0..6).map(|_| given(&mut stage, LIGHT)).collect();
    assert_eq!(workers, [vec![Some(1)], vec![Some(2); 5]].concat());
    assert_eq!(given(&mut stage, LIGHT), None);
}
