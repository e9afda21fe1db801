//! Choice of the address that gets a request, and what failed requests and health checks say of each address. Pure: time comes in as
//! milliseconds.
//!
//! The address with the fewest requests for its weight wins. Equals take turns by weight (stride scheduling), so that weights hold for
//! requests that never overlap as well.

/// Number of consecutive failures after which an address is ejected.
const FAILURES_MAX: u32 = 3;
/// First time of an ejection, milliseconds. Each one without a success in between lasts twice as long.
const EJECTED_MS: u64 = 5_000;
/// Longest time of an ejection, milliseconds.
const EJECTED_MS_MAX: u64 = 60_000;
/// Health checks in a row that change the verdict on an address.
const CHECKS: u32 = 2;
/// Turn of an address of weight 1.
const STRIDE: u64 = 1 << 20;

/// Number of an address, for as long as its upstream has it.
pub(crate) type MemberId = u32;

/// An address with the settings of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) id: MemberId,
    /// Share of the requests, at least 1.
    pub(crate) weight: u32,
    /// The address gets requests only while no other one is healthy.
    pub(crate) is_backup: bool,
}

/// Whether an address gets requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Healthy,
    /// Requests failed there one after the other.
    Ejected,
    /// The health check fails.
    Down,
}

/// A request that has a place at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) id: MemberId,
    /// Ejections of the address before the request began. What an older request ends with says nothing of the address after them.
    ejections: u32,
    /// The request tries an address whose ejection is over.
    pub(crate) is_trial: bool,
}

/// End of a request at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The address answered.
    Well,
    /// The address failed.
    Badly,
    /// Nothing is known of the address by it.
    Unknown,
}

/// Result of a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The address, which has one request more from now on.
    Member(Taken),
    /// All addresses that may have the request are full.
    Full,
    /// No address is known.
    None,
}

#[derive(Debug)]
struct Member {
    place: Place,
    in_flight: u32,
    /// Time of its next turn; see [`STRIDE`].
    turn: u64,
    failures: u32,
    /// Ejections without a success in between.
    relapses: u32,
    /// Ejections in all.
    ejections: u32,
    ejected_until_ms: Option<u64>,
    /// A request tries it after an ejection.
    is_on_trial: bool,
    is_down: bool,
    /// Health checks in a row that contradict `is_down`.
    contradictions: u32,
}

impl Member {
    fn new(place: Place, turn: u64) -> Self {
        Member {
            place,
            in_flight: 0,
            turn,
            failures: 0,
            relapses: 0,
            ejections: 0,
            ejected_until_ms: None,
            is_on_trial: false,
            is_down: false,
            contradictions: 0,
        }
    }

    fn health(&self, now_ms: u64) -> Health {
        match self.ejected_until_ms {
            _ if self.is_down => Health::Down,
            Some(until_ms) if now_ms < until_ms => Health::Ejected,
            _ => Health::Healthy,
        }
    }

    /// Whether it may get a request. After an ejection one request at a time tries it.
    fn is_usable(&self, now_ms: u64) -> bool {
        self.health(now_ms) == Health::Healthy && (self.ejected_until_ms.is_none() || !self.is_on_trial)
    }

    /// Takes the result of a request. Returns the health if that has changed.
    fn judge(&mut self, taken: Taken, how: Ended, now_ms: u64) -> Option<Health> {
        if taken.ejections != self.ejections {
            return None;
        }
        let before = self.health(now_ms);
        if taken.is_trial {
            self.is_on_trial = false;
        }
        match how {
            Ended::Unknown => {}
            Ended::Well => {
                let was_ejected = self.ejected_until_ms.take().is_some();
                (self.failures, self.relapses) = (0, 0);
                return was_ejected.then_some(Health::Healthy).filter(|_| !self.is_down);
            }
            Ended::Badly => {
                self.failures += 1;
                let is_over = self.ejected_until_ms.is_some_and(|until_ms| until_ms <= now_ms);
                if is_over || self.failures >= FAILURES_MAX {
                    let time_ms = (EJECTED_MS << self.relapses.min(8)).min(EJECTED_MS_MAX);
                    self.ejected_until_ms = Some(now_ms + time_ms);
                    (self.relapses, self.ejections) = (self.relapses + 1, self.ejections.wrapping_add(1));
                    (self.failures, self.is_on_trial) = (0, false);
                }
            }
        }
        let after = self.health(now_ms);
        (before != after).then_some(after)
    }

    /// Order in which addresses are tried; the lowest first.
    fn rank(&self, now_ms: u64, tried: &[MemberId]) -> u8 {
        let is_tried = tried.contains(&self.place.id);
        match (self.is_usable(now_ms), is_tried, self.place.is_backup) {
            (true, false, false) => 0,
            (true, false, true) => 1,
            (true, true, _) => 2,
            // None is healthy: one that may have recovered is better than none.
            (false, false, is_backup) => 3 + u8::from(is_backup),
            (false, true, _) => 5,
        }
    }
}

/// Addresses of an upstream.
#[derive(Debug)]
pub(crate) struct Balance {
    members: Vec<Member>,
    /// Latest turn that was taken.
    clock: u64,
    /// Most requests of one address.
    in_flight_max: u32,
}

impl Balance {
    pub(crate) fn new(in_flight_max: u32) -> Self {
        Balance { members: Vec::new(), clock: 0, in_flight_max }
    }

    /// Sets the addresses. Those that stay keep what is known of them.
    pub(crate) fn set(&mut self, places: &[Place]) {
        self.members.retain(|member| places.iter().any(|place| place.id == member.place.id));
        for place in places {
            match self.find(place.id) {
                Some(member) => member.place = *place,
                None => self.members.push(Member::new(*place, self.clock)),
            }
        }
    }

    /// Chooses an address, if possible none of `tried`.
    pub(crate) fn choose(&mut self, now_ms: u64, tried: &[MemberId]) -> Choice {
        let Some(rank) = self.members.iter().map(|member| member.rank(now_ms, tried)).min() else {
            return Choice::None;
        };
        let (clock, max) = (self.clock, self.in_flight_max);
        let best =
            self.members.iter_mut().filter(|member| member.in_flight < max && member.rank(now_ms, tried) == rank);
        let load = |member: &Member, other: &Member| u64::from(member.in_flight) * u64::from(other.place.weight);
        let best = best.min_by(|one, other| {
            load(one, other).cmp(&load(other, one)).then(one.turn.max(clock).cmp(&other.turn.max(clock)))
        });
        let Some(member) = best else { return Choice::Full };
        member.in_flight += 1;
        self.clock = member.turn.max(clock);
        member.turn = self.clock + STRIDE / u64::from(member.place.weight);
        let is_trial = member.is_usable(now_ms) && member.ejected_until_ms.is_some();
        member.is_on_trial |= is_trial;
        Choice::Member(Taken { id: member.place.id, ejections: member.ejections, is_trial })
    }

    /// Takes the answer of an address to a request that continues. Returns the address's health if that has changed.
    pub(crate) fn answered(&mut self, taken: Taken, now_ms: u64) -> Option<Health> {
        self.find(taken.id)?.judge(taken, Ended::Well, now_ms)
    }

    /// Ends a request of an address. Returns the address's health if that has changed.
    pub(crate) fn ended(&mut self, taken: Taken, how: Ended, now_ms: u64) -> Option<Health> {
        let member = self.find(taken.id)?;
        member.in_flight = member.in_flight.saturating_sub(1);
        member.judge(taken, how, now_ms)
    }

    /// Copies what is known of an address from `before`, where it had another number. Verdicts of health checks are copied if the check
    /// `is_same`. Times must be of the same clock.
    pub(crate) fn adopt(&mut self, id: MemberId, before: &Self, old: MemberId, is_same: bool) {
        let Some(known) = before.members.iter().find(|member| member.place.id == old) else { return };
        let Some(member) = self.find(id) else { return };
        (member.failures, member.relapses) = (known.failures, known.relapses);
        member.ejected_until_ms = known.ejected_until_ms;
        member.is_down = is_same && known.is_down;
    }

    /// Takes the result of a health check. Returns the address's health if that has changed.
    pub(crate) fn checked(&mut self, id: MemberId, is_up: bool, now_ms: u64) -> Option<Health> {
        let member = self.find(id)?;
        member.contradictions = if is_up == member.is_down { member.contradictions + 1 } else { 0 };
        if member.contradictions < CHECKS {
            return None;
        }
        (member.is_down, member.contradictions) = (!is_up, 0);
        if is_up {
            // It answers again, so it need not wait.
            (member.ejected_until_ms, member.failures, member.relapses) = (None, 0, 0);
            member.is_on_trial = false;
        }
        Some(member.health(now_ms))
    }

    /// Health of an address.
    pub(crate) fn health(&self, id: MemberId, now_ms: u64) -> Health {
        self.members.iter().find(|member| member.place.id == id).map_or(Health::Down, |member| member.health(now_ms))
    }

    /// Requests that an address has now.
    pub(crate) fn in_flight(&self, id: MemberId) -> u32 {
        self.members.iter().find(|member| member.place.id == id).map_or(0, |member| member.in_flight)
    }

    fn find(&mut self, id: MemberId) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.place.id == id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn balance(weights: &[(u32, bool)], in_flight_max: u32) -> Balance {
        let mut balance = Balance::new(in_flight_max);
        let places: Vec<Place> = (0..)
            .zip(weights)
            .map(|(id, (weight, is_backup))| Place { id, weight: *weight, is_backup: *is_backup })
            .collect();
        balance.set(&places);
        balance
    }

    fn take(balance: &mut Balance, now_ms: u64, tried: &[MemberId]) -> Taken {
        match balance.choose(now_ms, tried) {
            Choice::Member(taken) => taken,
            choice => panic!("{choice:?}"),
        }
    }

    fn taken(balance: &mut Balance, now_ms: u64) -> Taken {
        take(balance, now_ms, &[])
    }

    #[test]
    fn weights_hold_for_requests_that_never_overlap() {
        let mut balance = balance(&[(3, false), (1, false)], 10);
        let mut counts = [0; 2];
        for _ in 0..400 {
            let taken = taken(&mut balance, 0);
            counts[taken.id as usize] += 1;
            balance.ended(taken, Ended::Well, 0);
        }
        assert_eq!(counts, [300, 100]);
    }

    #[test]
    fn a_slow_address_gets_no_more_than_its_share_at_once() {
        let mut balance = balance(&[(1, false), (1, false)], 100);
        // Address 0 never answers.
        let mut held = 0;
        for _ in 0..100 {
            match taken(&mut balance, 0) {
                Taken { id: 0, .. } => held += 1,
                other => _ = balance.ended(other, Ended::Well, 0),
            }
        }
        assert_eq!(held, 1);
    }

    /// Ejects address 0 at the time 2 ms.
    fn eject(balance: &mut Balance) {
        for at in 0..3 {
            let first = take(balance, at, &[1]);
            assert_eq!(first.id, 0);
            let changed = balance.ended(first, Ended::Badly, at);
            assert_eq!(changed, (at == 2).then_some(Health::Ejected));
        }
    }

    #[test]
    fn three_failures_eject_and_one_request_tries_again() {
        let mut balance = balance(&[(1, false), (1, true)], 10);
        eject(&mut balance);
        let second = taken(&mut balance, 5_001);
        assert_eq!(second.id, 1, "the backup stands in");
        balance.ended(second, Ended::Well, 5_001);
        let trial = taken(&mut balance, 5_002);
        assert_eq!(trial.id, 0);
        assert_eq!(taken(&mut balance, 5_002).id, 1, "one at a time");
        balance.ended(trial, Ended::Badly, 5_003);
        assert_eq!(taken(&mut balance, 15_002).id, 1, "the second time lasts twice as long");
        let trial = taken(&mut balance, 15_004);
        assert_eq!(trial.id, 0);
        assert_eq!(balance.ended(trial, Ended::Well, 15_005), Some(Health::Healthy));
        assert_eq!(taken(&mut balance, 15_005).id, 0);
        assert_eq!(taken(&mut balance, 15_005).id, 0);
    }

    #[test]
    fn a_long_request_from_before_an_ejection_neither_hinders_a_trial_nor_ends_the_ejection() {
        let mut balance = balance(&[(1, false), (1, true)], 10);
        let (tunnel, download) = (take(&mut balance, 0, &[1]), take(&mut balance, 0, &[1]));
        eject(&mut balance);
        assert_eq!(balance.ended(download, Ended::Well, 3), None);
        assert_eq!(balance.health(0, 3), Health::Ejected);
        let trial = taken(&mut balance, 5_002);
        assert_eq!(trial.id, 0, "the tunnel is still there");
        assert_eq!(taken(&mut balance, 5_002).id, 1, "one trial at a time");
        assert_eq!(balance.ended(tunnel, Ended::Badly, 5_002), None);
        assert_eq!(taken(&mut balance, 5_002).id, 1, "the tunnel's end is not the trial's");
        // The trial becomes a stream, whose head is an answer.
        assert_eq!(balance.answered(trial, 5_003), Some(Health::Healthy));
        assert_eq!(taken(&mut balance, 5_003).id, 0);
        assert_eq!(balance.ended(trial, Ended::Unknown, 9_000), None);
    }

    #[test]
    fn a_trial_that_tells_nothing_leaves_room_for_the_next() {
        let mut balance = balance(&[(1, false), (1, true)], 10);
        eject(&mut balance);
        for at in [5_002, 5_003] {
            let trial = taken(&mut balance, at);
            assert_eq!(trial.id, 0);
            balance.ended(trial, Ended::Unknown, at);
        }
    }

    #[test]
    fn an_ejection_outlives_a_reload_and_a_verdict_of_another_check_does_not() {
        let mut before = balance(&[(1, false), (1, false)], 10);
        eject(&mut before);
        for _ in 0..2 {
            before.checked(1, false, 3);
        }
        for is_same in [true, false] {
            let mut after = balance(&[(1, false), (1, false)], 10);
            after.adopt(0, &before, 1, is_same);
            after.adopt(1, &before, 0, is_same);
            assert_eq!(after.health(0, 3), if is_same { Health::Down } else { Health::Healthy });
            assert_eq!((after.health(1, 3), after.health(1, 5_002)), (Health::Ejected, Health::Healthy));
            assert_eq!(after.in_flight(1), 0);
        }
    }

    #[test]
    fn two_checks_in_a_row_decide_and_one_alone_does_not() {
        let mut balance = balance(&[(1, false), (1, false)], 10);
        let results = [false, true, false, false, true, false, true, true];
        let told: Vec<_> = results.iter().map(|is_up| balance.checked(0, *is_up, 0)).collect();
        let mut expected = vec![None; 8];
        (expected[3], expected[7]) = (Some(Health::Down), Some(Health::Healthy));
        assert_eq!(told, expected);
    }

    #[test]
    fn with_no_healthy_address_each_is_still_tried_in_turn() {
        let mut balance = balance(&[(1, false), (1, false)], 10);
        for id in [0, 1] {
            balance.checked(id, false, 0);
            balance.checked(id, false, 0);
        }
        let first = taken(&mut balance, 0);
        let second = take(&mut balance, 0, &[first.id]);
        assert_eq!(second.id, 1 - first.id);
    }

    #[test]
    fn full_addresses_refuse_and_none_is_none() {
        let mut full = balance(&[(1, false), (1, true)], 1);
        assert_eq!(taken(&mut full, 0).id, 0);
        assert_eq!(full.choose(0, &[]), Choice::Full, "a backup is for failures, not for load");
        assert_eq!(take(&mut full, 0, &[0]).id, 1, "a retry may use it");
        assert_eq!(balance(&[], 1).choose(0, &[]), Choice::None);
    }

    #[test]
    fn a_new_address_does_not_catch_up_on_turns() {
        let mut balance = balance(&[(1, false)], 10);
        for _ in 0..1_000 {
            let taken = taken(&mut balance, 0);
            balance.ended(taken, Ended::Well, 0);
        }
        balance.set(&[0, 1].map(|id| Place { id, weight: 1, is_backup: false }));
        let mut counts = [0; 2];
        for _ in 0..10 {
            let taken = taken(&mut balance, 0);
            counts[taken.id as usize] += 1;
            balance.ended(taken, Ended::Well, 0);
        }
        assert_eq!(counts, [5, 5]);
    }

    #[derive(Clone, Debug)]
    enum Step {
        Choose { avoids: Option<u32> },
        End { at: usize, how: Ended },
        Check { id: u32, is_up: bool },
        Pass { ms: u64 },
        Set { count: u32 },
    }

    fn step() -> impl Strategy<Value = Step> {
        let how = prop_oneof![Just(Ended::Well), Just(Ended::Badly), Just(Ended::Unknown)];
        prop_oneof![
            4 => proptest::option::of(0..5_u32).prop_map(|avoids| Step::Choose { avoids }),
            4 => (any::<usize>(), how).prop_map(|(at, how)| Step::End { at, how }),
            1 => (0..5_u32, any::<bool>()).prop_map(|(id, is_up)| Step::Check { id, is_up }),
            1 => (0..20_000_u64).prop_map(|ms| Step::Pass { ms }),
            1 => (0..6_u32).prop_map(|count| Step::Set { count }),
        ]
    }

    proptest! {
        /// Any steps keep the rules: no address has more requests than its bound, and counts are those of requests that have not ended.
        /// A healthy address that was not tried goes before all others. An address is found while one has room.
        #[test]
        fn bounds_and_order_hold(weights in vec((1..5_u32, any::<bool>()), 1..5), steps in vec(step(), 0..200)) {
            let mut balance = balance(&weights, 3);
            let mut there: Vec<u32> = (0..u32::try_from(weights.len()).unwrap()).collect();
            let (mut now_ms, mut held) = (0, Vec::new());
            for step in steps {
                match step {
                    Step::Choose { avoids } => {
                        let tried: Vec<u32> = avoids.into_iter().collect();
                        let is_better = |id: &u32| {
                            !tried.contains(id) && balance.health(*id, now_ms) == Health::Healthy
                        };
                        let better: Vec<u32> = there.iter().copied().filter(is_better).collect();
                        match balance.choose(now_ms, &tried) {
                            Choice::None => prop_assert!(there.is_empty()),
                            Choice::Full => prop_assert!(there.iter().any(|id| balance.in_flight(*id) >= 3)),
                            Choice::Member(taken) => {
                                let id = taken.id;
                                prop_assert!(there.contains(&id));
                                let is_on_trial = |id: &u32| balance.in_flight(*id) > 0;
                                prop_assert!(
                                    better.is_empty() || better.contains(&id) || better.iter().all(is_on_trial)
                                );
                                held.push(taken);
                            }
                        }
                    }
                    Step::End { at, how } => {
                        if !held.is_empty() {
                            balance.ended(held.swap_remove(at % held.len()), how, now_ms);
                        }
                    }
                    Step::Check { id, is_up } => _ = balance.checked(id, is_up, now_ms),
                    Step::Pass { ms } => now_ms += ms,
                    Step::Set { count } => {
                        there = (0..count).collect();
                        let places: Vec<_> =
                            there.iter().map(|id| Place { id: *id, weight: id + 1, is_backup: *id == 1 }).collect();
                        balance.set(&places);
                        // A request of an address that was removed is nobody's.
                        held.retain(|held: &Taken| there.contains(&held.id));
                        let gone: Vec<u32> =
                            there.iter().copied().filter(|id| balance.in_flight(*id) == 0).collect();
                        held.retain(|held| !gone.contains(&held.id));
                    }
                }
                for id in &there {
                    let count = held.iter().filter(|held| held.id == *id).count();
                    prop_assert!(balance.in_flight(*id) as usize == count && count <= 3);
                }
            }
        }

        /// Each address gets exactly its weight over whole rounds.
        #[test]
        fn shares_are_the_weights(weights in vec(prop_oneof![Just(1_u32), Just(2), Just(4), Just(8)], 1..6)) {
            let mut balance = balance(&weights.iter().map(|weight| (*weight, false)).collect::<Vec<_>>(), 1);
            let sum: u32 = weights.iter().sum();
            let mut counts = vec![0; weights.len()];
            for _ in 0..sum * 10 {
                let taken = taken(&mut balance, 0);
                counts[taken.id as usize] += 1;
                balance.ended(taken, Ended::Well, 0);
            }
            for (count, weight) in counts.iter().zip(&weights) {
                prop_assert!((i64::from(*count) - i64::from(weight * 10)).abs() <= 1, "{:?} {:?}", counts, weights);
            }
        }
    }
}
