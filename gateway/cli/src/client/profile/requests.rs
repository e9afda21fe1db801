//! Assignment of a worker's samples to requests, by what its preload noted beside the profile. That is when each request was with
//! the app and, where several were at once, whose continuation ran. Pure.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;
use sluice_profiles::Track;

/// Notes of the preload. Times in microseconds since the profile's begin, which may be before it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestTimes {
    /// Number, when it came, when it left; the last is the least number where it was still there.
    stays: Vec<(u64, i64, i64)>,
    /// Starts of continuations: time and number in turn, -1 for nobody's.
    runs: Vec<i64>,
    /// Some were not noted.
    #[serde(default)]
    pub is_cut: bool,
}

/// Nobody's continuation.
const NOBODY: i64 = -1;

/// Keeps the samples of these requests: those in the continuation of one of them, and those while one of them was alone in its
/// worker. Returns how many of the requests have samples or were there without any.
pub fn leave_only(track: &mut Track, times: &RequestTimes, wanted: &HashSet<u64>) -> usize {
    let mut moves: Vec<(i64, bool, u64)> = Vec::with_capacity(times.stays.len() * 2);
    for (id, entered_us, left_us) in &times.stays {
        moves.push((*entered_us, true, *id));
        moves.push((if *left_us < *entered_us { i64::MAX } else { *left_us }, false, *id));
    }
    moves.sort_unstable_by_key(|(at_us, enters, _)| (*at_us, *enters));
    let (mut moves, mut runs) = (moves.into_iter().peekable(), times.runs.chunks_exact(2).peekable());
    let mut inside = BTreeSet::new();
    let mut running = NOBODY;
    let is_kept: Vec<bool> = track
        .iter()
        .map(|(_, at_us, _)| {
            let at_us = i64::try_from(at_us).unwrap_or(i64::MAX);
            while let Some((_, enters, id)) = moves.next_if(|(moved_us, ..)| *moved_us <= at_us) {
                if enters {
                    inside.insert(id);
                } else {
                    inside.remove(&id);
                }
            }
            while let Some(run) = runs.next_if(|run| run[0] <= at_us) {
                running = run[1];
            }
            let of = match u64::try_from(running) {
                Ok(id) if inside.contains(&id) => Some(id),
                _ if inside.len() == 1 => inside.first().copied(),
                _ => None,
            };
            of.is_some_and(|id| wanted.contains(&id))
        })
        .collect();
    let mut kept = is_kept.iter();
    track.samples.retain(|_| *kept.next().unwrap_or(&false));
    let mut kept = is_kept.iter();
    track.spent_us.retain(|_| *kept.next().unwrap_or(&false));
    times.stays.iter().filter(|(id, ..)| wanted.contains(id)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track() -> Track {
        // A sample each 10 µs, whose node is its number.
        Track { name: String::new(), first_us: 0, samples: (0..10).collect(), spent_us: vec![10; 10] }
    }

    fn left(stays: &[(u64, i64, i64)], runs: &[i64], wanted: &[u64]) -> Vec<u32> {
        let mut track = track();
        let times = RequestTimes { stays: stays.to_vec(), runs: runs.to_vec(), is_cut: false };
        leave_only(&mut track, &times, &wanted.iter().copied().collect());
        assert_eq!(track.samples.len(), track.spent_us.len());
        track.samples
    }

    #[test]
    fn samples_are_of_the_request_that_is_alone_in_the_worker() {
        let stays = [(1, -5, 25), (2, 30, 55), (3, 60, -1)];
        assert_eq!(left(&stays, &[], &[1]), [0, 1, 2]);
        assert_eq!(left(&stays, &[], &[2]), [3, 4, 5]);
        assert_eq!(left(&stays, &[], &[1, 3]), [0, 1, 2, 6, 7, 8, 9]);
        assert_eq!(left(&stays, &[], &[4]), [0; 0]);
    }

    #[test]
    fn of_several_that_share_it_those_count_whose_continuation_ran() {
        let stays = [(1, 0, 95), (2, 15, 75)];
        // Until 15 the first is alone; then they share; from 75 on it is alone again.
        let runs = [0, 1, 20, 2, 40, 1, 50, -1, 60, 2];
        assert_eq!(left(&stays, &runs, &[2]), [2, 3, 6, 7]);
        assert_eq!(left(&stays, &runs, &[1]), [0, 1, 4, 8, 9]);
        // Nobody knows whose the fifth is.
        assert_eq!(left(&stays, &runs, &[1, 2]), [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    }

    #[test]
    fn one_that_came_before_another_had_left_shares_until_then() {
        assert_eq!(left(&[(1, 0, 50), (2, 50, 80)], &[], &[2]), [5, 6, 7]);
        assert_eq!(left(&[(1, 0, 50), (2, 30, 80)], &[], &[2]), [5, 6, 7]);
    }
}
