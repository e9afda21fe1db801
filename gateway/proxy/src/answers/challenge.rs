//! The answer to a CA that asks by HTTP whether a name leads here (RFC 8555 §8.3), at whichever port it asks. It must not know who asked
//! the CA: any gateway that shares the folder has the answer.

use sluice_message::{Method, RequestHead};

use super::Response;
use crate::gate::Gate;

const PREFIX: &str = "/.well-known/acme-challenge/";

/// `None` for every request but a CA's: tokens that nobody has asked for are the app's.
pub(crate) async fn answer(gate: &Gate, head: &RequestHead) -> Option<Response> {
    let token = head.path().strip_prefix(PREFIX)?.to_owned();
    if !matches!(head.method, Method::Get | Method::Head) {
        return None;
    }
    let store = gate.certificates()?.store()?.clone();
    let found = tokio::task::spawn_blocking(move || store.challenge_answer(&token)).await;
    let text = found.ok().flatten()?;
    Some(Response::short(200, "application/octet-stream", text))
}
