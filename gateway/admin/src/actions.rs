//! Actions of the dashboard and other programs on the gateway: `POST /actions/…` and `/cache/purge`, each with a small JSON object.
//! It must not know who may.
//!
//! It must not know who may.

use std::net::IpAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::StatusCode;
use hyper::body::Incoming;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sluice_catalog::profiles::Wish;
use sluice_catalog::refusals::FlameError;
use sluice_journal::{Event, Journal, Level};
use tokio::time::timeout;

use crate::{FlameOf, Operator, Progress, cache};

/// Longest body of an action.
const BODY_BYTES_MAX: usize = 4096;
/// Longest body of a purge, which may name many tags.
const PURGE_BYTES_MAX: usize = 64 * 1024;
/// The action of `/cache/purge`.
pub(crate) const PURGE: &str = "purge";
/// Longest time for the body of an action.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for the rejection of a reload. Events report its progress.
const REFUSED_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum duration of a profile, seconds.
const PROFILE_S_MAX: u32 = 60;

/// Answer to an action: a status and JSON.
pub(crate) type Done = (StatusCode, Vec<u8>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scale {
    workers: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    which: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    /// All of them unless said.
    worker: Option<u64>,
    seconds: u32,
}

/// Carries out the named action.
pub(crate) async fn act(name: &str, body: Incoming, peer: IpAddr, operator: &dyn Operator, journal: &Journal) -> Done {
    let bytes_max = if name == PURGE { PURGE_BYTES_MAX } else { BODY_BYTES_MAX };
    let body = match timeout(BODY_TIMEOUT, Limited::new(body, bytes_max).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return failed(StatusCode::PAYLOAD_TOO_LARGE, "The body is too long or incomplete."),
        Err(_) => return failed(StatusCode::REQUEST_TIMEOUT, "The body arrived too slowly."),
    };
    let tell = |what: &str| {
        let text = format!("the dashboard at {peer} asked for: {what}");
        journal.emit(Event::Note { level: Level::Info, text: &text });
    };
    match name {
        "check" => done(StatusCode::OK, &json!({})),
        "reload" => {
            tell("reload");
            reload(operator).await
        }
        "scale" => match parsed::<Scale>(&body) {
            Ok(Scale { workers }) => {
                tell(&format!("{workers} workers"));
                match operator.scale(workers) {
                    Ok(before) => done(StatusCode::OK, &json!({ "workers_before": before })),
                    Err(error) => failed(StatusCode::CONFLICT, &error.to_string()),
                }
            }
            Err(refused) => refused,
        },
        "release" => match parsed::<Release>(&body) {
            Ok(Release { which }) => {
                tell("release from quarantine");
                done(StatusCode::OK, &json!({ "released": operator.release_quarantined(&which) }))
            }
            Err(refused) => refused,
        },
        PURGE => cache::purge(&body, operator).await,
        "profile" => match parsed::<Profile>(&body) {
            Ok(Profile { worker, seconds }) => {
                tell("profile");
                let duration_ms = u64::from(seconds.clamp(1, PROFILE_S_MAX)) * 1000;
                let wish = Wish { worker, all: worker.is_none(), duration_ms, ..Wish::default() };
                flame(FlameOf::Workers(wish), operator).await
            }
            Err(refused) => refused,
        },
        _ => failed(StatusCode::NOT_FOUND, "This action does not exist."),
    }
}

/// A flame graph. Dropped, nothing of it is left.
pub(crate) async fn flame(of: FlameOf, operator: &dyn Operator) -> Done {
    match operator.flame(of).await {
        Ok(Ok(drawn)) => (StatusCode::OK, drawn),
        Ok(Err(error @ FlameError::NoTail(_))) => failed(StatusCode::NOT_FOUND, &error.to_string()),
        Ok(Err(error)) => failed(StatusCode::CONFLICT, &error.to_string()),
        Err(_) => failed(StatusCode::SERVICE_UNAVAILABLE, "The gateway is stopping."),
    }
}

async fn reload(operator: &dyn Operator) -> Done {
    let mut told = operator.reload(None);
    let refused = async {
        loop {
            match told.recv().await {
                Some(Progress::Ended(Err(error))) => break Some(error.to_string()),
                Some(Progress::Line(_)) => {}
                Some(Progress::Ended(Ok(()))) | None => break None,
            }
        }
    };
    match timeout(REFUSED_TIMEOUT, refused).await {
        Ok(Some(error)) => failed(StatusCode::CONFLICT, &error),
        Ok(None) | Err(_) => done(StatusCode::ACCEPTED, &json!({})),
    }
}

pub(crate) fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, Done> {
    serde_json::from_slice(body).map_err(|error| failed(StatusCode::BAD_REQUEST, &error.to_string()))
}

pub(crate) fn failed(status: StatusCode, error: &str) -> Done {
    done(status, &json!({ "error": error }))
}

pub(crate) fn done(status: StatusCode, answer: &Value) -> Done {
    (status, answer.to_string().into_bytes())
}
