//! When a class starves, and when it only waits like everybody.

use sluice_scheduler::{Action, ClassId, Limits, Need, Order, Starving};

use crate::stage::{LIMITS, Stage};

const FACTOR: u64 = 5;
const LONG: ClassId = ClassId(1);
const SHORT: ClassId = ClassId(2);
/// As long ones, but another class.
const OTHER_LONG: ClassId = ClassId(3);

/// One worker, and classes that are known: 100 ms, 10 ms, 100 ms.
struct Day {
    stage: Stage,
    held: Option<u64>,
    /// For how long each class has been said to starve, at most.
    starved_ms: [u64; 4],
    latest: Vec<Starving>,
}

impl Day {
    fn new(limits: &Limits) -> Day {
        let patient = Limits { queue_wait_ms_max: 1_000_000, queue_length_max: 10_000, ..limits.clone() };
        let mut stage = Stage::ready(patient, 1);
        for _ in 0..200 {
            for (class, cost_us) in [(LONG, 100_000), (SHORT, 10_000), (OTHER_LONG, 100_000)] {
                stage.learn(class, cost_us);
            }
        }
        Day { stage, held: None, starved_ms: [0; 4], latest: Vec::new() }
    }

    fn take(&mut self, actions: &[Action]) {
        for action in actions {
            if let Action::Dispatch { request, .. } = action {
                self.held = Some(request.0);
            }
        }
    }

    fn arrive(&mut self, class: ClassId) {
        let actions = self.stage.arrive_with(Need { class, ..Need::default() });
        self.take(&actions);
    }

    /// So many times 10 ms, each with so many short arrivals; a worker finishes what it holds after `service_ms`.
    fn pass(&mut self, steps: u64, short: u64, service_ms: u64) {
        for step in 1..=steps {
            let actions = self.stage.pass_ms(10);
            self.take(&actions);
            for _ in 0..short {
                self.arrive(SHORT);
            }
            if (step * 10).is_multiple_of(service_ms)
                && let Some(held) = self.held.take()
            {
                let actions = self.stage.finish(1, held);
                self.take(&actions);
            }
            if self.stage.now.0.is_multiple_of(1_000_000) {
                self.look();
            }
        }
    }

    fn look(&mut self) {
        self.latest = self.stage.scheduler.look_for_starving(self.stage.now, FACTOR);
        for starving in &self.latest {
            let most = &mut self.starved_ms[usize::from(starving.class.0)];
            *most = (*most).max(starving.for_ms);
        }
    }
}

const UNFAIR: Limits = Limits { order: Order::Shortest, ageing: 0, ..LIMITS };

#[test]
fn a_class_that_others_always_overtake_starves() {
    let mut day = Day::new(&UNFAIR);
    day.arrive(SHORT);
    day.arrive(LONG);
    day.pass(3_000, 1, 10);
    assert_eq!(day.starved_ms[usize::from(SHORT.0)], 0);
    let [starving] = day.latest[..] else { panic!("{:?}", day.latest) };
    assert_eq!((starving.class, starving.waited_ms), (LONG, 30_000));
    assert!(starving.for_ms >= 28_000, "{starving:?}");
    assert!((100..200).contains(&starving.in_order_ms), "{starving:?}");
}

#[test]
fn a_class_that_ageing_puts_first_in_time_starves_for_a_moment_at_most_under_the_same_load() {
    let mut day = Day::new(&Limits { ageing: 3, ..UNFAIR });
    day.arrive(SHORT);
    for _ in 0..30 {
        day.arrive(LONG);
        day.pass(100, 1, 10);
    }
    assert!(day.starved_ms.iter().all(|ms| *ms <= 2_000), "{:?}", day.starved_ms);
}

#[test]
fn nobody_starves_where_everybody_waits() {
    let mut day = Day::new(&UNFAIR);
    for _ in 0..100 {
        day.arrive(LONG);
    }
    day.pass(900, 0, 100);
    assert_eq!((day.starved_ms, &day.latest[..]), ([0; 4], &[][..]), "waits of up to 9 s, in their order");
}

#[test]
fn a_wait_behind_what_came_before_is_no_starvation_though_others_overtake() {
    let mut day = Day::new(&UNFAIR);
    day.arrive(SHORT);
    for _ in 0..100 {
        day.arrive(OTHER_LONG);
    }
    day.arrive(LONG);
    // Ten seconds of work stand before it, in any order.
    day.pass(4_000, 1, 10);
    let of = |class| day.latest.iter().find(|starving| starving.class == class).expect("it is overtaken").in_order_ms;
    assert!(of(OTHER_LONG) < 200);
    assert!((10_000..11_000).contains(&of(LONG)), "{} ms", of(LONG));
    assert_eq!(day.starved_ms[usize::from(LONG.0)], 0, "40 s are not five times as long");
}

#[test]
fn a_class_whose_turn_comes_again_does_not_starve_any_more() {
    let mut day = Day::new(&UNFAIR);
    day.arrive(SHORT);
    day.arrive(LONG);
    day.pass(1_000, 1, 10);
    assert!(day.starved_ms[usize::from(LONG.0)] > 5_000);
    // What has piled up is served, and one that comes now goes at once.
    day.pass(10, 0, 10);
    day.arrive(LONG);
    day.starved_ms = [0; 4];
    day.arrive(SHORT);
    day.arrive(LONG);
    day.pass(300, 1, 10);
    assert!(day.starved_ms[usize::from(LONG.0)] <= 3_000, "{:?}", day.starved_ms);
}

#[test]
fn nobody_starves_while_no_worker_serves() {
    let mut day = Day::new(&UNFAIR);
    day.arrive(SHORT);
    day.arrive(LONG);
    day.pass(200, 1, 10);
    let before = day.starved_ms[usize::from(LONG.0)];
    day.stage.exit(1);
    day.held = None;
    for _ in 0..60 {
        day.stage.now = day.stage.now.plus_ms(1_000);
        day.look();
    }
    assert_eq!(day.starved_ms[usize::from(LONG.0)], before);
}

#[test]
fn in_the_order_of_arrival_and_with_a_factor_of_0_nobody_starves() {
    for (limits, factor) in [(LIMITS, FACTOR), (UNFAIR, 0)] {
        let mut day = Day::new(&limits);
        for _ in 0..20 {
            day.arrive(LONG);
        }
        day.arrive(SHORT);
        day.pass(150, 0, 100);
        assert_eq!(day.stage.scheduler.look_for_starving(day.stage.now, factor), []);
    }
}
