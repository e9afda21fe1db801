//! The rules of the quarantine, by example and by chance.

use std::time::{Duration, Instant};

use super::*;

const TTL: Duration = Duration::from_secs(600);

struct Stage {
    keys: Keys,
    table: Quarantine,
    start: Instant,
}

impl Stage {
    fn new(entries_max: usize) -> Self {
        Stage { keys: Keys::default(), table: Quarantine::new(TTL, entries_max), start: Instant::now() }
    }

    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    fn print(&self, target: &str) -> Fingerprint {
        self.keys.whole("GET", target, b"", 0)
    }

    fn dies(&mut self, target: &str, dispatched_ms: u64, now_ms: u64, shared: bool) -> Verdict {
        let death = Death { method: "GET", target, dispatched: self.at(dispatched_ms), shared };
        self.table.died(self.at(now_ms), self.print(target), &death)
    }

    fn holds(&self, target: &str, now_ms: u64) -> bool {
        self.table.holds(self.at(now_ms), self.print(target))
    }
}

#[test]
fn two_deaths_one_after_the_other_make_a_quarantine_and_one_does_not() {
    let mut stage = Stage::new(10);
    assert_eq!(stage.dies("/poison", 0, 10, false), Verdict::Suspected);
    assert!(!stage.holds("/poison", 11));
    assert_eq!(stage.dies("/poison", 10, 20, false), Verdict::Quarantined);
    assert!(stage.holds("/poison", 21) && !stage.holds("/other", 21));
    assert_eq!(stage.table.len(stage.at(21)), 1);
}

#[test]
fn a_popular_page_that_dies_with_many_workers_at_once_is_never_quarantined() {
    let mut stage = Stage::new(10);
    for worker in 0..50 {
        assert_eq!(stage.dies("/", worker, 100 + worker, false), Verdict::Suspected);
    }
    assert!(!stage.holds("/", 200));
    // It is answered before the next disaster.
    stage.table.answered(stage.print("/"));
    for worker in 0..50 {
        assert_eq!(stage.dies("/", 300 + worker, 400 + worker, false), Verdict::Suspected);
    }
    assert!(!stage.holds("/", 500));
}

#[test]
fn an_answer_clears_a_suspicion_and_a_quarantine() {
    let mut stage = Stage::new(10);
    stage.dies("/page", 0, 1, false);
    stage.table.answered(stage.print("/page"));
    assert_eq!(stage.dies("/page", 2, 3, false), Verdict::Suspected);
    assert_eq!(stage.dies("/page", 4, 5, false), Verdict::Quarantined);
    stage.table.answered(stage.print("/page"));
    assert!(!stage.holds("/page", 6));
}

#[test]
fn a_death_with_other_requests_in_the_worker_weighs_half() {
    let mut stage = Stage::new(10);
    for death in 0..3 {
        assert_eq!(stage.dies("/one-of-many", death * 10, death * 10 + 1, true), Verdict::Suspected);
    }
    assert_eq!(stage.dies("/one-of-many", 30, 31, true), Verdict::Quarantined);
}

#[test]
fn a_quarantine_and_a_suspicion_end_by_themselves() {
    let mut stage = Stage::new(10);
    stage.dies("/poison", 0, 1, false);
    stage.dies("/poison", 2, 3, false);
    let end_ms = 3 + 600_000;
    assert!(stage.holds("/poison", end_ms - 1) && !stage.holds("/poison", end_ms));
    stage.dies("/suspect", 0, 4, false);
    assert_eq!(stage.dies("/suspect", end_ms, 4 + 600_000, false), Verdict::Suspected, "the first death is forgotten");
    stage.table.expire(stage.at(4 + 1_200_000));
    assert!(stage.table.entries.is_empty());
}

#[test]
fn the_entry_closest_to_its_end_makes_room() {
    let mut stage = Stage::new(3);
    for (index, target) in (0..).zip(["/a", "/b", "/c"]) {
        stage.dies(target, index * 10, index * 10 + 1, false);
        stage.dies(target, index * 10 + 2, index * 10 + 3, false);
    }
    stage.dies("/d", 50, 51, false);
    assert_eq!(stage.table.entries.len(), 3);
    assert!(!stage.holds("/a", 52) && stage.holds("/b", 52) && stage.holds("/c", 52));
}

#[test]
fn without_time_nothing_is_quarantined() {
    let mut stage = Stage::new(10);
    stage.table = Quarantine::new(Duration::ZERO, 10);
    for death in 0..5 {
        assert_eq!(stage.dies("/poison", death * 2, death * 2 + 1, false), Verdict::Suspected);
    }
    assert!(stage.table.entries.is_empty());
}

#[test]
fn method_target_and_body_tell_requests_apart() {
    let keys = Keys::default();
    let prints = [
        keys.whole("GET", "/a", b"", 0),
        keys.whole("POST", "/a", b"", 0),
        keys.whole("GET", "/a?", b"", 0),
        keys.whole("POST", "/a", b"1", 1),
        keys.whole("POST", "/a", b"2", 1),
        keys.whole("POST", "/a", b"2", 2),
        keys.whole("POST", "/", b"a2", 2),
    ];
    for (at, print) in prints.iter().enumerate() {
        assert!(!prints[..at].contains(print), "{at}");
    }
    assert_eq!(keys.whole("GET", "/a", b"", 0), prints[0]);
    let long = vec![7; BODY_BYTES_MAX + 1];
    let print = |body: &[u8]| keys.whole("POST", "/", body, BODY_BYTES_MAX as u64 + 1);
    assert_eq!(print(&long), print(&long[..BODY_BYTES_MAX]), "beyond it only the length counts");
}

#[test]
fn what_is_shown_is_cut_and_can_be_released_by_its_id() {
    let mut stage = Stage::new(10);
    let target = format!("/{}", "é".repeat(500));
    for target in [&*target, "/short"] {
        stage.dies(target, 0, 1, false);
        stage.dies(target, 2, 3, false);
    }
    stage.dies("/suspect", 0, 1, false);
    let list = stage.table.list(stage.at(1003));
    assert_eq!(list.len(), 2);
    let long = list.iter().find(|entry| entry.target != "/short").unwrap();
    assert_eq!((long.target.chars().count(), long.deaths, long.for_ms, long.expires_in_ms), (200, 2, 1000, 599_000));
    assert_eq!(stage.table.release(stage.at(5), "no such id"), 0);
    assert_eq!(stage.table.release(stage.at(5), &long.id), 1);
    assert!(!stage.holds(&target, 6) && stage.holds("/short", 6));
    assert_eq!(stage.table.release(stage.at(6), "all"), 1);
    assert_eq!(stage.table.len(stage.at(6)), 0);
    assert_eq!(stage.table.entries.len(), 1, "a suspicion is not released");
    stage.table.forget();
    assert!(stage.table.is_empty(), "but forgotten with the version of the app that it came from");
}

#[test]
fn only_routes_that_are_in_the_table_are_looked_at() {
    let mut stage = Stage::new(10);
    assert!(!stage.table.concerns(|| unreachable!("an empty table asks for nothing")));
    stage.dies("/poison", 0, 1, false);
    let route = |target: &str| stage.keys.route("GET", target);
    assert!(stage.table.concerns(|| route("/poison")) && !stage.table.concerns(|| route("/other")));
}

#[test]
fn by_chance_the_table_keeps_its_bound_and_only_two_counted_deaths_quarantine() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut stage = Stage::new(4);
        for step in 0..400_u64 {
            let now_ms = step * 10;
            let target = format!("/{}", rng.u8(..8));
            let print = stage.print(&target);
            let before = stage.table.entries.get(&print).map(|entry| (entry.deaths, entry.counted));
            let was_held = stage.holds(&target, now_ms);
            if rng.u8(..4) == 0 {
                stage.table.answered(print);
            } else {
                let dispatched_ms = now_ms.saturating_sub(rng.u64(..40));
                let verdict = stage.dies(&target, dispatched_ms, now_ms, false);
                let counts = before.is_some_and(|(_, counted)| stage.at(dispatched_ms) >= counted) && !was_held;
                assert_eq!(verdict == Verdict::Quarantined, counts, "seed {seed}, step {step}");
            }
            assert!(stage.table.entries.len() <= 4, "seed {seed}");
            assert!(stage.table.entries.values().all(|entry| entry.deaths <= 2), "seed {seed}");
        }
    }
}
