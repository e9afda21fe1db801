//! `HAProxy`'s HTTP log (`option httplog`), with or without the head that syslog puts before it.

use super::time;
use super::{Line, Place};
use crate::arrivals::Told;

/// Maximum number of bytes up to the end of a date.
const DATE_BYTES_MAX: usize = 64;

/// Reads a line; `None` if it is none. The service time is `Tr`, from the connection until the server's head came. A
/// request that no server got has none.
pub(super) fn read(line: &[u8]) -> Option<Line<'_>> {
    let open = line.iter().position(|byte| *byte == b'[').into_iter().chain(positions(line, b" ["));
    // A process id in brackets may stand before the date.
    let (date_us, rest) = open.into_iter().find_map(|at| {
        let inner = line[at..].trim_ascii_start().strip_prefix(b"[")?;
        let end = inner.iter().take(DATE_BYTES_MAX).position(|byte| *byte == b']')?;
        // With milliseconds and without a zone, as no other log has it.
        let date_us = time::common(&inner[..end]).filter(|_| inner[..end].get(20) == Some(&b'.'))?;
        Some((date_us, &inner[end + 1..]))
    })?;
    let mut words = rest.trim_ascii_start().splitn(4, |byte| *byte == b' ');
    let (_frontend, server, timers) = (words.next()?, words.next()?, words.next()?);
    let mut times = timers.split(|byte| *byte == b'/').map(timer_ms);
    let [receive_ms, _queue_ms, _connect_ms, response_ms] =
        [times.next()??, times.next()??, times.next()??, times.next()??];
    times.next()??;
    let details = words.next()?;
    // `<NOSRV>`, `<STATS>`, `<CACHE>`: HAProxy answered itself.
    let is_itself = server.rsplit(|byte| *byte == b'/').next().is_some_and(|name| name.starts_with(b"<"));
    if is_itself || receive_ms < 0 {
        return Some(Line::Elsewhere);
    }
    let request = details.iter().position(|byte| *byte == b'"')?;
    let mut words = details[request + 1..].split(|byte| matches!(byte, b' ' | b'"'));
    let (method, target) = (words.next()?, words.next()?);
    let told = Told {
        at_us: date_us.saturating_add(receive_ms.saturating_mul(1_000)),
        service_us: u64::try_from(response_ms).ok().map(|ms| ms.saturating_mul(1_000)),
        cpu_us: None,
        queue_us: None,
    };
    Some(Line::Request { place: Place::of(method, b"", target)?, told, is_coarse: false })
}

fn positions<'a>(line: &'a [u8], text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    line.windows(text.len()).enumerate().filter(move |(_, window)| *window == text).map(|(at, _)| at)
}

/// A timer in milliseconds; -1 where it never began. `+` marks one that still ran.
fn timer_ms(text: &[u8]) -> Option<i64> {
    match text {
        b"-1" => Some(-1),
        [b'+', rest @ ..] | rest => time::number(rest),
    }
}
