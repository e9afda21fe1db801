//! Freshness and age of a response (RFC 9111 §4.2).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_message::Fields;

use crate::directives::{Directives, seconds_of};

/// Moment by two clocks. Dates in fields are compared with the wall clock, which may be set back. Stored pages age by a clock
/// that only moves forward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970.
    pub wall_s: u64,
    /// Milliseconds since an arbitrary start.
    pub steady_ms: u64,
}

/// Arrival of a response, and its age then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Arrival by the steady clock, milliseconds.
    pub came_ms: u64,
    /// Age at the arrival, seconds.
    pub initial_age_s: u64,
}

impl Stamp {
    /// `asked`: when the request for it was sent.
    pub fn of(fields: &Fields, asked: Moment, came: Moment) -> Self {
        let apparent_s = date(fields, "date").map_or(0, |date| came.wall_s.saturating_sub(date));
        let delay_s = came.steady_ms.saturating_sub(asked.steady_ms) / 1000;
        let corrected_s = told_age_s(fields).unwrap_or(0).saturating_add(delay_s);
        Stamp { came_ms: came.steady_ms, initial_age_s: apparent_s.max(corrected_s) }
    }

    /// Stamp of a response that is so old now; a little older if the steady clock has only begun.
    pub(crate) fn aged(age_ms: u64, now: Moment) -> Self {
        match now.steady_ms.checked_sub(age_ms % 1000) {
            Some(came_ms) => Stamp { came_ms, initial_age_s: age_ms / 1000 },
            None => Stamp { came_ms: now.steady_ms, initial_age_s: age_ms / 1000 + 1 },
        }
    }

    /// Age, milliseconds.
    pub(crate) fn age_ms(self, now: Moment) -> u64 {
        self.initial_age_s.saturating_mul(1000).saturating_add(now.steady_ms.saturating_sub(self.came_ms))
    }

    /// Age, seconds.
    pub fn age_s(self, now: Moment) -> u64 {
        self.initial_age_s.saturating_add(now.steady_ms.saturating_sub(self.came_ms) / 1000)
    }
}

/// Value of `Age`, seconds. The first member of a list counts, and one that is no number is ignored (RFC 9111 §5.1).
fn told_age_s(fields: &Fields) -> Option<u64> {
    let first = fields.get_all("age").next()?.split(|byte| *byte == b',').next()?.trim_ascii();
    seconds_of(Some(first)).filter(|_| !first.starts_with(b"\""))
}

/// Freshness by the response's own word, seconds; none without one.
pub(crate) fn lifetime_s(directives: &Directives, fields: &Fields, came: Moment) -> Option<u64> {
    let told = directives.s_maxage.or(directives.max_age);
    if told.is_some() || directives.targeted {
        return told;
    }
    fields.contains("expires").then(|| {
        let mut values = fields.get_all("expires");
        let (first, second) = (values.next(), values.next());
        // What is no date, or two of them, is over.
        let Some(expires) = first.filter(|_| second.is_none()).and_then(seconds_of_date) else { return 0 };
        expires.saturating_sub(date(fields, "date").unwrap_or(came.wall_s))
    })
}

/// A date in seconds since 1970.
pub(crate) fn date(fields: &Fields, name: &str) -> Option<u64> {
    fields.get(name).and_then(seconds_of_date)
}

fn seconds_of_date(value: &[u8]) -> Option<u64> {
    let at = httpdate::parse_http_date(std::str::from_utf8(value).ok()?).ok()?;
    at.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// A date as fields have it.
pub(crate) fn text_of_date(wall_s: u64) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(wall_s))
}
