//! Sluice's own access log, JSON lines (`log.format`) with any names of `log.fields`.

use std::borrow::Cow;

use serde::Deserialize;

use super::time;
use super::{Line, Place};
use crate::arrivals::Told;

#[derive(Deserialize)]
struct Access<'a> {
    #[serde(borrow, alias = "timestamp", alias = "@timestamp")]
    time: Cow<'a, str>,
    #[serde(borrow, alias = "event.name", alias = "event.action")]
    event: Cow<'a, str>,
    #[serde(borrow, default, alias = "sluice.class")]
    class: Cow<'a, str>,
    #[serde(borrow, default, alias = "http.request.method")]
    method: Cow<'a, str>,
    #[serde(borrow, default, alias = "server.address", alias = "url.domain")]
    host: Cow<'a, str>,
    #[serde(borrow, default, alias = "url.original")]
    target: Cow<'a, str>,
    #[serde(alias = "sluice.receive_ms")]
    receive_ms: Option<f64>,
    #[serde(alias = "sluice.queue_ms")]
    queue_ms: Option<f64>,
    #[serde(alias = "sluice.service_ms")]
    service_ms: Option<f64>,
    #[serde(alias = "sluice.unserved_ms")]
    unserved_ms: Option<f64>,
    #[serde(alias = "sluice.cpu_ms")]
    cpu_ms: Option<f64>,
}

#[derive(Deserialize)]
struct Other<'a> {
    #[serde(borrow, alias = "timestamp", alias = "@timestamp")]
    time: Cow<'a, str>,
    #[serde(borrow, alias = "event.name", alias = "event.action")]
    event: Cow<'a, str>,
}

/// Reads a line; `None` if it is none. Lines of other events, and of requests that were for no worker, count as those.
pub(super) fn read(line: &[u8]) -> Option<Line<'_>> {
    if line.first() != Some(&b'{') {
        return None;
    }
    let Ok(access) = serde_json::from_slice::<Access<'_>>(line) else {
        // Fields of the same name may be null in other events.
        let other: Other<'_> = serde_json::from_slice(line).ok()?;
        return (other.event != "access" && time::iso(other.time.as_bytes()).is_some()).then_some(Line::Event);
    };
    let at_us = time::iso(access.time.as_bytes())?;
    if access.event != "access" {
        return Some(Line::Event);
    }
    if access.service_ms.is_none() && access.unserved_ms.is_none() {
        return Some(Line::Elsewhere);
    }
    let told = Told {
        at_us: at_us + i64::try_from(us(access.receive_ms.unwrap_or(0.0))?).ok()?,
        service_us: access.service_ms.map_or(Some(None), |ms| us(ms).map(Some))?,
        cpu_us: access.cpu_ms.and_then(us),
        queue_us: access.queue_ms.and_then(us),
    };
    let place = Place { class: access.class, method: access.method, host: access.host, target: access.target };
    Some(Line::Request { place, told, is_coarse: false })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked before")]
fn us(ms: f64) -> Option<u64> {
    (0.0..=1e12).contains(&ms).then(|| (ms * 1_000.0).round() as u64)
}
