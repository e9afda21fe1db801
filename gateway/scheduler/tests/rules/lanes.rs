//! When the long lane has workers, and who gets them.

use sluice_scheduler::{Action, Alone, ClassId, Event, Home, Lane, Limits, Need, Order, WorkerId};

use crate::stage::{LIMITS, Stage, dispatch, stop, warm_up};

const LANES: Limits = Limits { order: Order::Shortest, lanes: true, ..LIMITS };

const LONG: Need = Need {
    class: ClassId(1),
    priority: 0,
    deadline_ms: None,
    alone: Alone::Never,
    ahead: false,
    inner: false,
    drawn: false,
    home: Home::Any,
};
const SHORT: Need = Need {
    class: ClassId(2),
    priority: 0,
    deadline_ms: None,
    alone: Alone::Never,
    ahead: false,
    inner: false,
    drawn: false,
    home: Home::Any,
};

fn measure(stage: &mut Stage, class: ClassId, cost_us: u64) {
    for _ in 0..300 {
        stage.learn(class, cost_us);
    }
}

/// Two workers, and costs that are known.
fn mixed(limits: Limits) -> Stage {
    let mut stage = Stage::ready(limits, 2);
    for _ in 0..300 {
        stage.learn(LONG.class, 100_000);
        stage.learn(SHORT.class, 5_000);
    }
    stage
}

fn start_long(worker: u64) -> Action {
    Action::Start { worker: WorkerId(worker), instance: 2, generation: 1, lane: Lane::Long }
}

/// The same with a worker of the long lane (3); requests 1 to 3 are over.
fn with_long_lane(limits: Limits) -> Stage {
    let mut stage = mixed(limits);
    assert_eq!(stage.arrive_with(LONG), [dispatch(1, 1)]);
    assert_eq!(stage.arrive_with(LONG), [dispatch(2, 2)]);
    assert_eq!(stage.arrive_with(LONG), [start_long(3)], "only now somebody waits");
    assert_eq!(stage.listen(3), [dispatch(3, 3)]);
    for request in 1..=3 {
        stage.finish(request, request);
    }
    stage
}

#[test]
fn the_long_lane_starts_when_somebody_waits_and_serves_long_requests_first() {
    let mut stage = with_long_lane(LANES);
    assert_eq!(stage.arrive_with(LONG), [dispatch(4, 3)]);
}

#[test]
fn a_worker_of_the_long_lane_does_not_boot_aside_because_requests_wait_for_it() {
    let mut stage = mixed(LANES);
    for _ in 0..3 {
        stage.arrive_with(LONG);
    }
    assert!(stage.scheduler.workers().any(|view| view.worker == WorkerId(3) && view.lane == Lane::Long));
    assert_eq!(stage.scheduler.aside_us(WorkerId(3)), None);
}

#[test]
fn a_long_request_leaves_the_last_free_worker_to_short_ones() {
    let mut stage = with_long_lane(LANES);
    assert_eq!(stage.arrive_with(LONG), [dispatch(4, 3)]);
    assert_eq!(stage.arrive_with(LONG), [dispatch(5, 1)], "another short worker is free");
    assert!(stage.arrive_with(LONG).is_empty());
    assert_eq!(stage.arrive_with(SHORT), [dispatch(7, 2)]);
    assert!(stage.arrive_with(SHORT).is_empty());
    assert_eq!(stage.finish(2, 7), [dispatch(8, 2)], "short ones first");
    assert!(stage.finish(2, 8).is_empty(), "and the last one is kept for them");
    assert_eq!(stage.finish(1, 5), [dispatch(6, 1)]);
}

#[test]
fn a_short_request_never_gets_the_long_lane_while_the_short_one_serves() {
    let mut stage = with_long_lane(LANES);
    stage.arrive_with(SHORT);
    stage.arrive_with(SHORT);
    assert!(stage.arrive_with(SHORT).is_empty());
    stage.step(Event::Faulted { worker: WorkerId(1) });
    let actions = stage.step(Event::Faulted { worker: WorkerId(2) });
    assert!(actions.contains(&dispatch(6, 3)), "nobody else is left: {actions:?}");
}

#[test]
fn the_long_lane_takes_short_ones_while_the_only_other_worker_has_a_warm_up_request() {
    let mut stage = with_long_lane(LANES);
    stage.scheduler.set_limits(Limits { warm_up: true, queue_length_max: 0, ..LANES });
    stage.exit(1);
    stage.exit(2);
    assert_eq!(stage.listen(4), [warm_up(4)]);
    stage.warm_with(4, 10);
    assert_eq!(stage.arrive_with(SHORT), [dispatch(11, 3)], "what worker 4 could not take yet");
    stage.finish(3, 11);
    stage.finish(4, 10);
    assert_eq!(stage.arrive_with(SHORT), [dispatch(12, 4)], "serving beats warming");
}

#[test]
fn a_long_request_that_has_waited_for_far_too_long_gets_the_last_one() {
    let mut stage = with_long_lane(LANES);
    stage.arrive_with(LONG);
    stage.arrive_with(LONG);
    assert!(stage.arrive_with(LONG).is_empty());
    assert!(stage.pass_ms(300).is_empty());
    assert_eq!(stage.pass_ms(200), [dispatch(6, 2)]);
}

#[test]
fn a_class_that_nobody_knows_counts_as_long() {
    let mut stage = with_long_lane(LANES);
    assert_eq!(stage.arrive_with(Need { class: ClassId(9), ..LONG }), [dispatch(4, 3)]);
}

#[test]
fn without_lanes_without_a_cut_or_with_many_slots_there_is_no_long_lane() {
    for limits in [Limits { lanes: false, ..LANES }, Limits { order: Order::Fifo, ..LANES }] {
        let mut stage = mixed(limits);
        for _ in 0..5 {
            assert!(stage.arrive_with(LONG).iter().all(|action| matches!(action, Action::Dispatch { .. })));
        }
    }
    let mut alike = Stage::ready(LANES, 2);
    measure(&mut alike, LONG.class, 100_000);
    let mut many = mixed(Limits { concurrency: 2, ..LANES });
    for stage in [&mut alike, &mut many] {
        for _ in 0..6 {
            assert!(stage.arrive_with(LONG).iter().all(|action| matches!(action, Action::Dispatch { .. })));
        }
    }
}

#[test]
fn the_long_lane_goes_some_minutes_after_the_traffic_has_become_of_a_kind() {
    let mut stage = with_long_lane(LANES);
    // What came in the minutes before counts half as much in each of the next.
    for _ in 0..20 {
        if stage.scheduler.costs().cut_us().is_some() {
            stage.pass_ms(61_000);
            (0..4_001).for_each(|_| stage.learn(SHORT.class, 5_000));
        }
    }
    assert_eq!(stage.scheduler.costs().cut_us(), None);
    assert!(stage.pass_ms(240_000).is_empty());
    let due = stage.scheduler.next_deadline().unwrap();
    stage.now = due;
    assert_eq!(stage.step(Event::Tick), [stop(3)]);
    stage.exit(3);
    assert_eq!(stage.scheduler.workers().count(), 2);
}

#[test]
fn places_keep_their_lane_and_their_number_when_the_pool_grows() {
    let mut stage = with_long_lane(LANES);
    let started = stage.step(Event::Scaled { workers: 3 });
    assert_eq!(started, [Action::Start { worker: WorkerId(4), instance: 3, generation: 1, lane: Lane::Short }]);
    stage.listen(4);
    let stopped = stage.step(Event::Scaled { workers: 1 });
    assert_eq!(stopped, [stop(2), stop(4)], "the long lane's worker stays");
}

#[test]
fn a_reload_replaces_the_long_lane_as_well() {
    let mut stage = with_long_lane(LANES);
    let mut actions = stage.reload(2);
    let mut lanes = Vec::new();
    while let Some(Action::Start { worker, instance, lane, .. }) =
        actions.iter().find(|action| matches!(action, Action::Start { .. })).copied()
    {
        lanes.push((instance, lane));
        actions = stage.listen(worker.0);
    }
    assert_eq!(lanes, [(0, Lane::Short), (1, Lane::Short), (2, Lane::Long)]);
    assert!(actions.contains(&Action::Reloaded { generation: 2 }), "{actions:?}");
}

#[test]
fn what_waits_as_long_is_short_when_the_cut_goes() {
    let mut stage = with_long_lane(LANES);
    for _ in 0..3 {
        stage.arrive_with(SHORT);
    }
    stage.arrive_with(LONG);
    assert!(stage.arrive_with(LONG).is_empty(), "two are with the short lane, one with the long one");
    for _ in 0..20 {
        measure(&mut stage, LONG.class, 5_000);
    }
    assert_eq!(stage.scheduler.costs().cut_us(), None);
    assert_eq!(stage.finish(1, 4), [dispatch(6, 1)]);
    assert_eq!(stage.finish(2, 5), [dispatch(8, 2)], "without lanes the last free worker is for anybody");
}

#[test]
fn time_in_which_no_long_request_waited_says_nothing_of_their_pace() {
    let mut stage = with_long_lane(LANES);
    let mut request = 3;
    let mut arrive = |stage: &mut Stage| {
        request += 1;
        stage.arrive_with(LONG)
    };
    // Known, by 100 ms each.
    for known in 4..=13 {
        assert_eq!(arrive(&mut stage), [dispatch(known, 3)]);
        stage.pass_ms(100);
        stage.finish(3, known);
    }
    assert_eq!(arrive(&mut stage), [dispatch(14, 3)]);
    assert_eq!(arrive(&mut stage), [dispatch(15, 1)]);
    for _ in 16..=18 {
        assert!(arrive(&mut stage).is_empty());
    }
    assert_eq!(stage.finish(3, 14), [dispatch(16, 3)], "and two wait on");
    let mut held = vec![(3, 16), (1, 15)];
    // They become short, and go as such; much later there are long ones again.
    for (cost_us, wait_ms) in [(5_000, 200_000), (100_000, 0)] {
        for _ in 0..2_000 {
            stage.learn(LONG.class, cost_us);
            stage.learn(SHORT.class, 5_000);
        }
        assert_eq!(stage.scheduler.costs().cut_us().is_some(), cost_us > 5_000);
        let mut actions = stage.pass_ms(0);
        loop {
            held.extend(actions.iter().filter_map(|action| match action {
                Action::Dispatch { request, worker } => Some((worker.0, request.0)),
                _ => None,
            }));
            let Some((worker, request)) = held.pop() else { break };
            actions = stage.finish(worker, request);
        }
        stage.pass_ms(wait_ms);
    }
    assert_eq!(arrive(&mut stage), [dispatch(19, 3)]);
    assert!(!arrive(&mut stage).contains(&dispatch(20, 1)));
    let pace = stage.scheduler.predicted_wait_ms_of(LONG).expect("enough is known");
    assert!(pace <= 2 * 50, "two slots share two of 100 ms, not {pace} ms");
}

#[test]
fn the_long_lane_goes_at_once_when_the_config_leaves_no_room_for_it() {
    for limits in
        [Limits { lanes: false, ..LANES }, Limits { order: Order::Fifo, ..LANES }, Limits { concurrency: 2, ..LANES }]
    {
        let mut stage = with_long_lane(LANES);
        stage.scheduler.set_limits(limits);
        assert_eq!(stage.pass_ms(0), [stop(3)]);
        assert_eq!(stage.scheduler.long_wanted(), 0);
    }
    // Where nobody else serves, it does.
    let mut stage = with_long_lane(LANES);
    stage.exit(1);
    stage.exit(2);
    stage.scheduler.set_limits(Limits { lanes: false, ..LANES });
    assert_eq!(stage.pass_ms(0), []);
    let actions = stage.listen(4);
    assert_eq!(actions, [stop(3)]);
}

/// Short requests that always need both workers, in steps of 5 ms; the long lane's workers keep what they have.
struct Rush {
    stage: Stage,
    /// Whether what is started serves at once, or not at all.
    starts: bool,
    requests: u64,
    longs: Vec<u64>,
    held: Vec<(u64, u64)>,
}

impl Rush {
    fn new() -> Rush {
        let mut rush =
            Rush { stage: with_long_lane(LANES), starts: true, requests: 3, longs: Vec::new(), held: Vec::new() };
        (0..2).for_each(|_| rush.send(SHORT));
        rush
    }

    fn send(&mut self, need: Need) {
        self.requests += 1;
        if need == LONG {
            self.longs.push(self.requests);
        }
        let actions = self.stage.arrive_with(need);
        self.follow(&actions);
    }

    fn follow(&mut self, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Dispatch { request, worker } => self.held.push((worker.0, request.0)),
                Action::Start { worker, .. } if self.starts => {
                    let actions = self.stage.listen(worker.0);
                    self.follow(&actions);
                }
                _ => {}
            }
        }
    }

    /// Returns whether a long one has been given to a worker of the short lane.
    fn step(&mut self) -> bool {
        self.send(SHORT);
        self.send(SHORT);
        let passed = self.stage.pass_ms(5);
        self.follow(&passed);
        let in_short_lane = |held: &(u64, u64)| held.0 <= 2;
        let over: Vec<_> = self.held.iter().copied().filter(in_short_lane).collect();
        self.held.retain(|held| !in_short_lane(held));
        for (worker, request) in &over {
            let actions = self.stage.finish(*worker, *request);
            self.follow(&actions);
        }
        self.held.iter().filter(|held| in_short_lane(held)).any(|(_, request)| self.longs.contains(request))
    }
}

#[test]
fn where_short_requests_need_their_whole_lane_long_ones_have_a_tenth_of_a_worker_if_their_own_stands_still() {
    let mut rush = Rush::new();
    for _ in 0..100 {
        if !rush.held.iter().any(|(worker, _)| *worker == 4) {
            rush.send(LONG);
            (0..20).for_each(|_| _ = rush.step());
        }
    }
    assert!(rush.held.iter().any(|(worker, _)| *worker == 4), "there is no second worker");
    // Both workers of the long lane have one from now on.
    (0..20).for_each(|_| rush.send(LONG));
    // The one that ends with this step, 5 ms after it began.
    let turns: Vec<u32> = (1..=2_000).filter(|_| rush.step()).collect();
    assert!(turns.len() >= 2, "they wait for ever");
    assert!(
        turns[0] * 5 >= 900,
        "100 ms of work had to wait for ten times as long since the last, not {} ms",
        turns[0] * 5
    );
    for pair in turns.windows(2) {
        assert!((pair[1] - pair[0]) * 5 >= 990, "{turns:?}");
    }
}

/// How many long ones of this cost wait, behind one that never ends, when the long lane is told to have a second worker.
fn waiting_for_second(cost_us: u64) -> u64 {
    let mut rush = Rush::new();
    measure(&mut rush.stage, LONG.class, cost_us);
    (0..400).for_each(|_| _ = rush.step());
    rush.send(LONG);
    let waiting = (0..=100).find(|_| {
        let has_second = rush.stage.scheduler.long_wanted() == 2;
        rush.send(LONG);
        has_second
    });
    waiting.expect("there is never a second one")
}

#[test]
fn the_long_lane_gets_a_second_worker_once_what_waits_takes_as_much_as_its_start() {
    assert_eq!(waiting_for_second(100_000), 8, "0.4 s for each of two short-lane workers");
    assert_eq!(waiting_for_second(500_000), 2);
    assert_eq!(waiting_for_second(3_000_000), 1);
}

#[test]
fn short_requests_do_not_wait_while_the_second_worker_of_the_long_lane_starts() {
    let mut rush = Rush { starts: false, ..Rush::new() };
    (0..400).for_each(|_| _ = rush.step());
    (0..20).for_each(|_| rush.send(LONG));
    assert_eq!(rush.stage.scheduler.long_wanted(), 2);
    assert_eq!((1..=190).filter(|_| rush.step()).count(), 0, "of the steps in 950 ms in which long ones held a worker");
    // It fails, and is tried again later.
    rush.stage.exit(4);
    let turns = (1..=300).filter(|_| rush.step()).count();
    assert!(turns > 5, "long ones had a worker for {turns} steps of 5 ms, though nothing comes to help them");
}

#[test]
fn the_second_worker_of_the_long_lane_goes_with_the_second_of_the_short_one() {
    let mut rush = Rush::new();
    (0..400).for_each(|_| _ = rush.step());
    (0..20).for_each(|_| rush.send(LONG));
    assert_eq!(rush.stage.scheduler.long_wanted(), 2);
    rush.stage.step(Event::Scaled { workers: 1 });
    assert_eq!(rush.stage.scheduler.long_wanted(), 1);
}
