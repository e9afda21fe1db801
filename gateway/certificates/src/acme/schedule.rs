//! Schedule of a certificate: the time of the next request to the CA, and the waits after failures. It is pure: what is known and a
//! time go in. It must not know how a CA is asked.

use serde::{Deserialize, Serialize};

use crate::Validity;

/// Waits after one failure, two and so on that a CA may count, seconds. Let's Encrypt allows five failed validations of a name an
/// hour.
const WAITS_S: [i64; 6] = [60, 300, 1_200, 3_600, 3 * 3_600, 6 * 3_600];
/// The same where the CA was not reached, or never asked: nobody counts those.
const UNCOUNTED_WAITS_S: [i64; 7] = [5, 15, 30, 60, 300, 900, 3_600];
/// Maximum accepted `Retry-After` of a CA, seconds.
const RETRY_AFTER_S_MAX: i64 = 7 * 24 * 3_600;

/// Outcome of the latest attempts to get one certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// Attempts that failed since the latest certificate.
    pub count: u32,
    /// Time before which the CA is not asked again, seconds of Unix time.
    pub wait_until_unix_s: i64,
    /// Whether the CA itself asked for that wait; else an operator may cut it short.
    #[serde(default)]
    pub is_told_by_ca: bool,
    /// Description of the latest failure, and what to do about it.
    pub text: String,
}

/// Facts of a failure that the schedule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderFailure {
    /// Whether the CA may count it.
    pub is_counted: bool,
    /// Time for which the CA asked to be left alone, seconds.
    pub retry_after_s: Option<i64>,
}

impl Failures {
    /// Adds one more failure.
    pub fn and(&self, failed: OrderFailure, text: String, name: &str, now_unix_s: i64) -> Self {
        let waits = if failed.is_counted { &WAITS_S[..] } else { &UNCOUNTED_WAITS_S };
        let count = self.count.saturating_add(1);
        let wait_s = waits[(count as usize - 1).min(waits.len() - 1)];
        let spread_s = share(wait_s / 5, name, now_unix_s);
        let told_s = failed.retry_after_s.map(|told_s| told_s.clamp(0, RETRY_AFTER_S_MAX));
        let is_told_by_ca = told_s.is_some_and(|told_s| told_s > wait_s + spread_s);
        let wait_until_unix_s = now_unix_s + told_s.unwrap_or(0).max(wait_s + spread_s);
        Self { count, wait_until_unix_s, is_told_by_ca, text }
    }

    /// Clears the waits after an operator has done something about the failures.
    pub fn forgive(&mut self) {
        if !self.is_told_by_ca {
            self.wait_until_unix_s = 0;
        }
    }
}

/// Time at which the CA is asked for this name's certificate, seconds of Unix time. It is two thirds of the present one's lifetime,
/// and up to a thirtieth earlier, so that names that began together do not stay together.
pub fn due_unix_s(name: &str, validity: Option<Validity>, failures: Option<&Failures>) -> i64 {
    let renewal = validity.map_or(i64::MIN, |validity| {
        let lifetime_s = validity.lifetime_s();
        let spread_s = share(lifetime_s / 30, name, validity.not_before_unix_s);
        validity.not_before_unix_s + lifetime_s / 3 * 2 + lifetime_s % 3 * 2 / 3 - spread_s
    });
    renewal.max(failures.map_or(i64::MIN, |failures| failures.wait_until_unix_s))
}

/// A part of this time that differs by name and moment, the same for every gateway that shares a folder.
fn share(of_s: i64, name: &str, moment: i64) -> i64 {
    let bytes = name.bytes().chain(moment.to_le_bytes());
    // FNV-1a.
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    // The upper bits are the ones that differ for texts that differ little.
    let part = i64::from(u16::try_from(hash >> 48).unwrap_or(0));
    of_s.max(0) / 65_536 * part + of_s.max(0) % 65_536 * part / 65_536
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400;
    const COUNTED: OrderFailure = OrderFailure { is_counted: true, retry_after_s: None };

    #[test]
    fn a_certificate_is_renewed_at_two_thirds_of_its_lifetime_and_names_are_spread() {
        let validity = Validity { not_before_unix_s: 1_000 * DAY, not_after_unix_s: 1_090 * DAY };
        let due: Vec<i64> = (0..100).map(|n| due_unix_s(&format!("{n}.example"), Some(validity), None)).collect();
        let (first, last) = (due.iter().min().unwrap(), due.iter().max().unwrap());
        assert!(*first >= 1_057 * DAY && *last <= 1_060 * DAY, "{first} {last}");
        assert!(last - first > 2 * DAY, "they are spread over {} s", last - first);
        assert_eq!(due_unix_s("a.example", Some(validity), None), due_unix_s("a.example", Some(validity), None));
        assert_eq!(due_unix_s("a.example", None, None), i64::MIN, "the first one is due at once");
    }

    #[test]
    fn failures_that_a_ca_counts_are_at_most_four_in_the_first_hour() {
        let (mut failures, mut now, mut in_first_hour) = (Failures::default(), 0, 0);
        while now < 3_600 {
            in_first_hour += 1;
            failures = failures.and(COUNTED, String::new(), "a.example", now);
            assert_eq!(due_unix_s("a.example", None, Some(&failures)), failures.wait_until_unix_s);
            now = failures.wait_until_unix_s;
        }
        assert_eq!(in_first_hour, 4);
        for _ in 0..10 {
            failures = failures.and(COUNTED, String::new(), "a.example", 0);
        }
        assert!((6 * 3_600..=8 * 3_600).contains(&failures.wait_until_unix_s));
    }

    #[test]
    fn a_ca_that_was_not_reached_is_asked_again_soon() {
        let failed = OrderFailure { is_counted: false, retry_after_s: None };
        let failures = Failures::default().and(failed, String::new(), "a.example", 100);
        assert!((105..=106).contains(&failures.wait_until_unix_s));
    }

    #[test]
    fn a_ca_that_says_how_long_to_wait_is_obeyed_whatever_an_operator_does() {
        let failed = OrderFailure { is_counted: true, retry_after_s: Some(7_200) };
        let mut failures = Failures::default().and(failed, String::new(), "a.example", 100);
        failures.forgive();
        assert_eq!(failures.wait_until_unix_s, 7_300);
        let mut failures = failures.and(COUNTED, String::new(), "a.example", 8_000);
        assert_eq!(failures.count, 2);
        failures.forgive();
        assert_eq!((failures.wait_until_unix_s, failures.count), (0, 2));
        let failed = OrderFailure { is_counted: true, retry_after_s: Some(i64::MAX) };
        assert_eq!(Failures::default().and(failed, String::new(), "a", 0).wait_until_unix_s, RETRY_AFTER_S_MAX);
    }

    #[test]
    fn a_certificate_that_could_not_be_renewed_waits_for_its_next_attempt() {
        let validity = Validity { not_before_unix_s: 0, not_after_unix_s: 90 };
        let failures = Failures { wait_until_unix_s: 1_000, ..Failures::default() };
        assert_eq!(due_unix_s("a.example", Some(validity), Some(&failures)), 1_000);
    }
}
