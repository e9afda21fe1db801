//! The answer to a CA that checks by HTTP whether a name leads to this gateway (RFC 8555 §8.3), on any of its ports. It must not know which
//! gateway asked the CA: all that share the folder have the answer.

use sluice_message::{Method, RequestHead};

use super::Response;
use crate::road::Road;

const PREFIX: &str = "/.well-known/acme-challenge/";

/// Answer to a CA's request; `None` for any other. Unknown tokens are the app's.
pub(crate) async fn answer(road: &Road, head: &RequestHead) -> Option<Response> {
    let token = head.path().strip_prefix(PREFIX)?.to_owned();
    if !matches!(head.method, Method::Get | Method::Head) {
        return None;
    }
    let store = road.settings.certificates()?.store()?.clone();
    let found = tokio::task::spawn_blocking(move || store.challenge_answer(&token)).await;
    let text = found.ok().flatten()?;
    Some(Response::short(200, "application/octet-stream", text))
}
