//! Sends an answer of the gateway, a file or a worker. A slow client fills the answer's buffer and its file, and never takes the worker's
//! time (I2).

pub mod compose;
pub(crate) mod compress;
pub(crate) mod load;

use std::io;
use std::rc::Rc;

use bytes::Bytes;
use sluice_catalog::config::Config;
use sluice_catalog::errors::Code;
use sluice_compression::Step;
use sluice_journal::{Outcome, Step as LadderStep};
use sluice_message::{Method, ResponseHead, Scheme};

use crate::answers::files::FilePart;
use crate::answers::{Response, ResponseBody, down, refuse};
use crate::request::passage::Request;
use crate::respond::compose::rules::Composer;
use crate::respond::compress::{CompressedBody, Compression};
use crate::respond::load::Trailing;
use crate::road::Road;
use sluice_wire::front::exchange::{Exchange, Woke};
use sluice_wire::receive::failure::Failure;
use sluice_wire::receive::failure::Refusal;
use sluice_wire::respond::answer::{Answer, End, Next};
use sluice_wire::respond::encode::Size;

/// Bytes of a complete body that are written at once.
const PIECE_BYTES: usize = 64 * 1024;

/// Changes to answers on their way to clients.
pub struct Transforms {
    /// Rules of composed pages.
    pub composer: Composer,
    /// Compression of answers.
    pub compression: Compression,
}

/// Result of sending a response.
pub struct SendOutcome {
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Status of the response; 0 if no head was sent.
    pub status: u16,
    /// Error of the catalogue that it got, if any.
    pub error: Option<Code>,
    /// Bytes of the body that were sent.
    pub bytes_out: u64,
}

/// Error answer; in development, with the last output of the app.
fn refused(road: &Road, request: &Request, refusal: &Refusal) -> Response {
    let last_words = road.last_words.borrow();
    let pages = road.settings.error_pages();
    down::answer(last_words.as_ref(), &request.head, refusal, &request.id, &pages)
        .unwrap_or_else(|| refuse::answer(refusal, &request.id, &request.head, &pages))
}

/// Sends the answer, or the error that replaces it.
pub(crate) async fn respond(
    exchange: &mut Exchange<'_>,
    road: &Rc<Road>,
    request: &Request,
    is_trusted: bool,
    answered: Result<Response, Failure>,
) -> SendOutcome {
    let (mut response, error) = match answered {
        Ok(response) => (response, None),
        Err(Failure::Refused(mut refusal)) => {
            if is_trusted && refuse::is_too_early(&refusal, &request.head) {
                refusal.status = 425;
            }
            (refused(road, request, &refusal), Some(refusal.code))
        }
        Err(Failure::Gone(outcome)) => {
            exchange.break_off();
            return SendOutcome { outcome, status: 0, error: None, bytes_out: 0 };
        }
    };
    let status = response.head.status;
    let mut sent = SendOutcome { outcome: outcome(request, &response, error), status, error, bytes_out: 0 };
    if status == 0 {
        // An error that is no answer: the end of the connection has to do.
        exchange.break_off();
        return sent;
    }
    let config = road.config();
    tell_hsts(&config, request, &mut response.head);
    let (size, compressed) = if exchange.is_client() {
        road.transforms.compression.apply(&request.head, &mut response).await
    } else {
        (response.size(), None)
    };
    let has_body = request.head.method != Method::Head;
    let may_trail = has_body
        && size == Size::Unknown
        && matches!(response.body, ResponseBody::Fill(..))
        && exchange.carries_trailers();
    let balancer = (is_trusted && exchange.is_client()).then_some(&request.head);
    let mode = config.server.load_report;
    let trailing = load::report(mode, balancer, &mut response.head, may_trail, || figures(road));
    exchange.begin(&response.head, size, &request.id);
    match response.body {
        ResponseBody::Fill(answer, _) if status == 101 => switch(exchange, &answer, &mut sent).await,
        ResponseBody::Fill(answer, _) => {
            let body = Body { compressed, trailing, is_begun: false, ended: None };
            stream(exchange, road, request, &answer, body, &mut sent).await;
        }
        ResponseBody::File(part) if has_body => send_file(exchange, part, compressed, &mut sent).await,
        ResponseBody::Whole(data) if has_body => send_whole(exchange, &data, &mut sent).await,
        ResponseBody::Kept(body) if has_body => send_whole(exchange, body.data(), &mut sent).await,
        ResponseBody::Empty | ResponseBody::Whole(_) | ResponseBody::Kept(_) | ResponseBody::File(_) => {
            let _ = exchange.flush(None).await;
        }
    }
    sent
}

/// Figures of a load report.
fn figures(road: &Road) -> load::Figures {
    (road.workers().load(), road.observer.journal().per_second())
}

/// Adds `Strict-Transport-Security` (RFC 6797 §7.1), unless the app has set it; never without TLS (§7.2).
fn tell_hsts(config: &Config, request: &Request, head: &mut ResponseHead) {
    let max_age_s = config.server.hsts_max_age_s;
    if max_age_s > 0 && request.head.scheme == Scheme::Https && !head.fields.contains("strict-transport-security") {
        head.fields.push("Strict-Transport-Security", format!("max-age={max_age_s}"));
    }
}

fn outcome(request: &Request, response: &Response, error: Option<Code>) -> Outcome {
    let has_asked = matches!(response.body, ResponseBody::Fill(..)) || request.cached.is_some();
    let is_the_apps = has_asked && request.step != Some(LadderStep::Shell);
    match (error, response.head.status) {
        (Some(code), _) => refuse::outcome(code),
        (None, _) if !is_the_apps => Outcome::Edge,
        (None, 101) => Outcome::Upgraded,
        (None, 500..) => Outcome::AppError,
        (None, _) => Outcome::Answered,
    }
}

/// Sends a body that is complete in memory. A client that has gone before its end still counts as answered. Many clients may read one
/// cached answer slowly: none of them has more than a piece of it copied.
async fn send_whole(exchange: &mut Exchange<'_>, data: &[u8], sent: &mut SendOutcome) {
    sent.bytes_out = data.len() as u64;
    let (first, rest) = data.split_at(data.len().min(PIECE_BYTES));
    for piece in std::iter::once(first).chain(rest.chunks(PIECE_BYTES)) {
        exchange.write(piece);
        if exchange.flush(None).await.is_err() {
            return;
        }
    }
}

/// Sends a file. If the file is shorter than announced, the connection is closed.
async fn send_file(
    exchange: &mut Exchange<'_>,
    mut part: FilePart,
    mut compressed: Option<CompressedBody>,
    sent: &mut SendOutcome,
) {
    let mut piece = Vec::new();
    loop {
        let Ok(read) = part.read(piece).await else { return fail(exchange, Code::GatewayFailed, sent) };
        let is_end = part.len() == 0;
        piece = match &mut compressed {
            None => read,
            Some(body) => {
                body.take(read.into());
                match body.encode(if is_end { Step::Finish } else { Step::More }).await {
                    Ok(encoded) => encoded,
                    Err(_) => return fail(exchange, Code::GatewayFailed, sent),
                }
            }
        };
        exchange.write(&piece);
        if is_end {
            exchange.end(&[]);
        }
        if exchange.flush(None).await.is_err() {
            return;
        }
        sent.bytes_out += piece.len() as u64;
        if is_end {
            return;
        }
    }
}

/// Carries the other protocol over the connection until either side ends it.
async fn switch(exchange: &mut Exchange<'_>, answer: &Answer, sent: &mut SendOutcome) {
    if exchange.flush(Some(answer)).await.is_err() {
        sent.outcome = Outcome::ClientGoneInService;
        return;
    }
    let Some(upgraded) = answer.take_upgraded() else { return };
    exchange.switch(upgraded, answer).await;
    if let Some(code) = answer.failure() {
        (sent.error, sent.outcome) = (Some(code), refuse::outcome(code));
    }
}

/// A worker's body on its way to the client.
struct Body {
    /// Compressor of the body, if it is compressed.
    compressed: Option<CompressedBody>,
    /// Load report in its trailers.
    trailing: Option<Trailing>,
    /// Some bytes have arrived.
    is_begun: bool,
    ended: Option<End>,
}

impl Body {
    /// Bytes that may be taken of the answer before they are sent.
    fn room(&self, exchange: &mut Exchange<'_>) -> usize {
        exchange.room().saturating_sub(self.compressed.as_ref().map_or(0, CompressedBody::waiting))
    }

    fn write(&mut self, exchange: &mut Exchange<'_>, data: Bytes, sent: &mut SendOutcome) {
        if let Some(compressed) = &mut self.compressed {
            return compressed.take(data);
        }
        sent.bytes_out += data.len() as u64;
        exchange.write(&data);
    }

    /// Writes the compressor's output for all that was taken. The client gets it at once if no more is ready.
    async fn encode(
        &mut self,
        exchange: &mut Exchange<'_>,
        has_more: bool,
        sent: &mut SendOutcome,
    ) -> Result<(), Code> {
        let step = match (self.ended, has_more) {
            (Some(End::Complete), _) => Step::Finish,
            (Some(_), _) => return Ok(()),
            (None, true) => Step::More,
            (None, false) => Step::Flush,
        };
        let Some(compressed) = &mut self.compressed else { return Ok(()) };
        let encoded = compressed.encode(step).await.map_err(|_| Code::GatewayFailed)?;
        if step == Step::Finish {
            self.compressed = None;
        }
        sent.bytes_out += encoded.len() as u64;
        exchange.write(&encoded);
        Ok(())
    }
}

/// Sends a worker's body as it arrives.
async fn stream(
    exchange: &mut Exchange<'_>,
    road: &Road,
    request: &Request,
    answer: &Answer,
    mut body: Body,
    sent: &mut SendOutcome,
) {
    loop {
        let had_ended = body.ended.is_some();
        let has_more = gather(exchange, road, request, answer, &mut body, sent).await;
        let is_little = body.compressed.as_ref().is_none_or(CompressedBody::is_crumb);
        if !has_more && body.ended.is_none() && is_little && exchange.gathers_more(answer).await {
            continue;
        }
        if let Err(code) = body.encode(exchange, has_more, sent).await {
            give_up(exchange, answer, code, &mut body, sent);
        }
        if !had_ended && body.ended == Some(End::Complete) {
            exchange.end(&load::trailers(body.trailing, answer.take_trailers(), || figures(road)));
        }
        if let Err(error) = exchange.flush(Some(answer)).await {
            return gone(exchange, answer, sent, error.kind() != io::ErrorKind::TimedOut);
        }
        if body.ended == Some(End::Left) {
            return gone(exchange, answer, sent, true);
        }
        if body.ended.is_some() && !answer.has_framed() {
            if exchange.is_half_closed() && sent.outcome == Outcome::Answered {
                sent.outcome = Outcome::ClientGoneInService;
            }
            return;
        }
        if exchange.is_half_closed() && answer.facts.is_stream.get() {
            return gone(exchange, answer, sent, true);
        }
        if has_more {
            continue;
        }
        match exchange.changed(answer).await {
            Woke::Again => {}
            // A client that closes its sending side has most likely gone. In service the worker sees it as Node alone would:
            // what it has written by then is still sent, and then the connection ends.
            Woke::HalfClosed if !answer.facts.is_stream.get() => answer.half_close(),
            Woke::HalfClosed | Woke::Gone => return gone(exchange, answer, sent, true),
        }
    }
}

/// Takes the available bytes of the answer, up to the size of one write. Returns whether more may be ready at once.
async fn gather(
    exchange: &mut Exchange<'_>,
    road: &Road,
    request: &Request,
    answer: &Answer,
    body: &mut Body,
    sent: &mut SendOutcome,
) -> bool {
    loop {
        let room = body.room(exchange);
        if room == 0 || (body.ended.is_some() && !answer.has_framed()) {
            return true;
        }
        match answer.next() {
            None => return false,
            Some(Next::Data(data)) => {
                if !body.is_begun && sent.status == 200 {
                    road.workers().sessions().learn(&request.visit, answer.facts.worker.get(), &data);
                }
                body.is_begun = true;
                body.write(exchange, data, sent);
            }
            Some(Next::Spilled { is_framed }) => match answer.read_back(room).await {
                Ok(data) if is_framed => exchange.write_framed(&data),
                Ok(data) => {
                    body.is_begun = true;
                    body.write(exchange, data, sent);
                }
                Err(_) => {
                    give_up(exchange, answer, Code::TempFull, body, sent);
                    return true;
                }
            },
            Some(Next::End(end)) => {
                if let End::Failed(code) = end {
                    fail(exchange, code, sent);
                }
                body.ended = Some(end);
                return true;
            }
            // The head was the first of it.
            Some(Next::Informational(_) | Next::Head(_)) => {}
        }
    }
}

/// Gives up the rest of the answer, which cannot be sent for a reason of the gateway's own.
fn give_up(exchange: &mut Exchange<'_>, answer: &Answer, code: Code, body: &mut Body, sent: &mut SendOutcome) {
    fail(exchange, code, sent);
    answer.abandon();
    body.ended = Some(End::Failed(code));
}

/// Fails an answer whose head is sent: the only honest end is a connection that closes before the announced end.
fn fail(exchange: &mut Exchange<'_>, code: Code, sent: &mut SendOutcome) {
    (sent.error, sent.outcome) = (Some(code), refuse::outcome(code));
    exchange.break_off();
}

/// Ends the answer for a client that takes no more: `by_its_will`, or because it took nothing for too long.
fn gone(exchange: &mut Exchange<'_>, answer: &Answer, sent: &mut SendOutcome, by_its_will: bool) {
    exchange.break_off();
    answer.abandon();
    // Leaving is how a client ends an event stream, so one that has begun is answered.
    if !(by_its_will && answer.facts.is_stream.get()) {
        sent.outcome = Outcome::ClientGoneInService;
    }
}
