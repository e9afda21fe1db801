//! Answers to requests that are well formed and still get no worker: over their rate, or in quarantine.

use std::rc::Rc;
use std::time::Instant;

use sluice_catalog::errors::Code;
use sluice_http1::{Framing, Method, RequestHead};

use super::{Details, Passage, can_keep_alive, ms, record, write_all};
use crate::answers::refuse::{self, Refusal};
use crate::front::client::Client;
use crate::gate::Gate;
use crate::respond::Sent;
use sluice_classes::Traits;

/// A client that asks too often. Its body is not taken: the connection is closed instead, and stays only where there is
/// none.
pub(super) async fn over_rate(
    client: &mut Client,
    gate: &Rc<Gate>,
    passage: &Passage,
    head: RequestHead,
    wait_s: u32,
) -> bool {
    let has_body = !matches!(head.framing, Framing::None | Framing::Length(0));
    let keep_alive = !has_body && can_keep_alive(gate, &head);
    let answer = Brief { code: Code::RateLimited, retry_after_s: Some(wait_s), keep_alive, bytes_in: 0 };
    answer.send(client, gate, passage, head).await
}

/// A request that workers die with. It is whole, so the connection can go on.
pub(super) async fn quarantined(
    client: &mut Client,
    gate: &Rc<Gate>,
    passage: &Passage,
    head: RequestHead,
    bytes_in: u64,
) -> bool {
    let keep_alive = can_keep_alive(gate, &head);
    let answer = Brief { code: Code::RequestQuarantined, retry_after_s: None, keep_alive, bytes_in };
    answer.send(client, gate, passage, head).await
}

struct Brief {
    code: Code,
    retry_after_s: Option<u32>,
    keep_alive: bool,
    bytes_in: u64,
}

impl Brief {
    async fn send(self, client: &mut Client, gate: &Rc<Gate>, passage: &Passage, head: RequestHead) -> bool {
        let Brief { code, retry_after_s, keep_alive, bytes_in } = self;
        let received = Instant::now();
        let is_head = head.method == Method::Head;
        let refusal = Refusal { code, detail: "", request_id: &passage.request_id, retry_after_s, keep_alive, is_head };
        let mut out = Vec::new();
        let bytes_out = refuse::write(&mut out, &refusal);
        let written = write_all(client, gate, &out).await;
        let outcome = refuse::outcome(code);
        let sent = Sent { outcome, status: code.status(), error: Some(code), bytes_out, keep_alive, upgraded: false };
        let class = gate.classify(&Traits::of(&head, bytes_in)).name;
        let receive_ms = ms(received, passage.started);
        let details = Details { class, bytes_in, receive_ms, ..Details::default() };
        record(gate, passage, Some(head), &sent, Instant::now(), details);
        keep_alive && written
    }
}
