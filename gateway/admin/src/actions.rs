//! What the dashboard can do to the gateway: `POST /actions/…`, each with a small JSON object.
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
use sluice_journal::{Event, Journal, Level};
use tokio::time::timeout;

use crate::{Operator, Progress};

/// Longest body of an action.
const BODY_BYTES_MAX: usize = 4096;
/// How long that body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a reload may take to say that it does not begin; how it goes on is told by events.
const REFUSED_TIMEOUT: Duration = Duration::from_millis(500);
/// The longest profile, seconds.
const PROFILE_S_MAX: u32 = 60;

/// What is answered to an action.
pub(crate) type Done = (StatusCode, Value);

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
    worker: Option<u64>,
    seconds: u32,
}

/// Does what is asked for.
pub(crate) async fn act(name: &str, body: Incoming, peer: IpAddr, operator: &dyn Operator, journal: &Journal) -> Done {
    let body = match timeout(BODY_TIMEOUT, Limited::new(body, BODY_BYTES_MAX).collect()).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(_)) => return failed(StatusCode::PAYLOAD_TOO_LARGE, "The body is too long, or broke off."),
        Err(_) => return failed(StatusCode::REQUEST_TIMEOUT, "The body came too slowly."),
    };
    let tell = |what: &str| {
        let text = format!("the dashboard at {peer} asked for: {what}");
        journal.emit(Event::Note { level: Level::Info, text: &text });
    };
    match name {
        "check" => (StatusCode::OK, json!({})),
        "reload" => {
            tell("reload");
            reload(operator).await
        }
        "scale" => match parsed::<Scale>(&body) {
            Ok(Scale { workers }) => {
                tell(&format!("{workers} workers"));
                match operator.scale(workers) {
                    Ok(before) => (StatusCode::OK, json!({ "workers_before": before })),
                    Err(error) => failed(StatusCode::CONFLICT, &error.to_string()),
                }
            }
            Err(refused) => refused,
        },
        "release" => match parsed::<Release>(&body) {
            Ok(Release { which }) => {
                tell("release from quarantine");
                (StatusCode::OK, json!({ "released": operator.release_quarantined(&which) }))
            }
            Err(refused) => refused,
        },
        "profile" => match parsed::<Profile>(&body) {
            Ok(Profile { worker, seconds }) => {
                tell("profile");
                let duration_ms = u64::from(seconds.clamp(1, PROFILE_S_MAX)) * 1000;
                match operator.profile(Wish { worker, duration_ms, ..Wish::default() }).await {
                    Ok(Ok(profiles)) => (StatusCode::OK, json!({ "profiles": profiles })),
                    Ok(Err(error)) => failed(StatusCode::CONFLICT, &error.to_string()),
                    Err(_) => failed(StatusCode::SERVICE_UNAVAILABLE, "The gateway leaves."),
                }
            }
            Err(refused) => refused,
        },
        _ => failed(StatusCode::NOT_FOUND, "There is no such action."),
    }
}

async fn reload(operator: &dyn Operator) -> Done {
    let mut told = operator.reload();
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
        Ok(None) | Err(_) => (StatusCode::ACCEPTED, json!({})),
    }
}

fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, Done> {
    serde_json::from_slice(body).map_err(|error| failed(StatusCode::BAD_REQUEST, &error.to_string()))
}

fn failed(status: StatusCode, error: &str) -> Done {
    (status, json!({ "error": error }))
}
