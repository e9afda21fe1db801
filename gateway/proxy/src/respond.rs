//! Streams an answer to the client as it comes, framed afresh. A slow client fills the answer's buffer and its file,
//! never the worker's time (I2).

pub(crate) mod answer;
mod outgoing;

use std::io::{self, Write as _};
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use sluice_catalog::errors::Code;
use sluice_http1::{
    RequestHead, ResponseFraming, ResponseHead, Version, write_decimal, write_last_chunk, write_response_start,
};
use sluice_journal::Outcome;
use sluice_scheduler::RequestId;

use crate::answers::refuse::{self, Refusal};
use crate::front::client::{Client, For, Woke};
use crate::gate::Gate;
use crate::respond::answer::{Answer, End, Next};
use crate::sessions::Visit;

use outgoing::{Framed, Outgoing};

/// So little stays in memory for a client that takes nothing: a file would cost more.
const KEPT_BYTES_MAX: usize = 2048;
/// What a client may send ahead while its answer is on the way.
const PIPELINE_BYTES_MAX: usize = 16 * 1024;

/// What came of a response.
pub(crate) struct Sent {
    pub(crate) outcome: Outcome,
    pub(crate) status: u16,
    pub(crate) error: Option<Code>,
    pub(crate) bytes_out: u64,
    pub(crate) keep_alive: bool,
    pub(crate) upgraded: bool,
}

/// One response on its way out.
pub(crate) struct Responder<'a> {
    pub(crate) client: &'a mut Client,
    pub(crate) gate: &'a Rc<Gate>,
    pub(crate) head: &'a RequestHead,
    pub(crate) visit: &'a Visit,
    pub(crate) request: RequestId,
    pub(crate) request_id: &'a str,
    pub(crate) submitted: Instant,
}

impl Responder<'_> {
    pub(crate) async fn run(mut self, answer: &Answer) -> Sent {
        let mut sent = Sent {
            outcome: Outcome::Answered,
            status: 0,
            error: None,
            bytes_out: 0,
            keep_alive: self.head.keep_alive,
            upgraded: false,
        };
        let send_timeout = Duration::from_millis(self.gate.config().server.send_timeout_ms);
        let mut out = Outgoing::new(&self.gate.store.memory);
        let mut half_closed = self.client.eof;
        if half_closed {
            answer.half_close();
        }
        let mut ended = None;
        loop {
            let has_more = self.gather(&mut out, answer, &mut sent, &mut ended).await;
            if !has_more
                && ended.is_none()
                && let Some(until) = out.waits_until()
            {
                self.client.set_deadline(Some(until));
                if let Woke::Answer = self.client.wait(For { answer: Some(answer), ..For::default() }).await {
                    continue;
                }
            }
            out.seal();
            if let Err(error) = self.write(&mut out, answer, send_timeout).await {
                return self.gone(answer, sent, error.kind() != io::ErrorKind::TimedOut);
            }
            if ended == Some(End::Left) {
                return self.gone(answer, sent, true);
            }
            if ended.is_some() && !answer.has_framed() {
                if half_closed && sent.outcome == Outcome::Answered {
                    sent.outcome = Outcome::ClientGoneInService;
                }
                return sent;
            }
            if half_closed && answer.is_stream.get() {
                return self.gone(answer, sent, true);
            }
            if has_more {
                continue;
            }
            self.client.set_deadline(None);
            let read = self.client.unread.len() < PIPELINE_BYTES_MAX;
            match self.client.wait(For { read, answer: Some(answer), ..For::default() }).await {
                // A client that closes its sending side has most likely gone. In service the worker sees it as Node alone
                // would: what it has written by then is still sent, and then the connection ends.
                Woke::Eof => {
                    half_closed = true;
                    sent.keep_alive &= !self.client.unread.is_empty();
                    if self.gate.is_queued(self.request) || answer.is_stream.get() {
                        return self.gone(answer, sent, true);
                    }
                    answer.half_close();
                }
                Woke::Broken => return self.gone(answer, sent, true),
                _ => {}
            }
        }
    }

    /// Takes what is there of the answer, up to what one write may have. Returns whether there may be more at once.
    async fn gather(&self, out: &mut Outgoing, answer: &Answer, sent: &mut Sent, ended: &mut Option<End>) -> bool {
        out.prepare();
        while out.room() > 0 {
            if ended.is_some() && !answer.has_framed() {
                return true;
            }
            match answer.next() {
                None => return false,
                Some(Next::Informational(head)) => self.inform(&mut out.bytes, &head),
                Some(Next::Head(head)) => {
                    out.framed = self.begin(&mut out.bytes, &head, answer, sent);
                    if sent.upgraded {
                        *ended = Some(End::Complete);
                    }
                }
                Some(Next::Data(data)) => {
                    if sent.bytes_out == 0 && sent.status == 200 {
                        self.gate.sessions.learn(self.visit, answer.worker.get(), &data);
                    }
                    sent.bytes_out += data.len() as u64;
                    out.push(&data);
                }
                Some(Next::Spilled { is_framed }) => match answer.read_back(out.room()).await {
                    Ok(data) if is_framed => {
                        out.seal();
                        out.bytes.extend_from_slice(&data);
                    }
                    Ok(data) => {
                        sent.bytes_out += data.len() as u64;
                        out.push(&data);
                    }
                    Err(_) => {
                        let is_more = self.end(out, answer, sent, ended, End::Failed(Code::TempFull));
                        answer.abandon();
                        return is_more;
                    }
                },
                Some(Next::End(end)) => return self.end(out, answer, sent, ended, end),
            }
        }
        true
    }

    /// The answer ends here.
    fn end(&self, out: &mut Outgoing, answer: &Answer, sent: &mut Sent, ended: &mut Option<End>, end: End) -> bool {
        out.seal();
        match end {
            End::Complete if out.framed == Framed::Chunked => {
                write_last_chunk(&mut out.bytes, &answer.take_trailers());
            }
            End::Complete | End::Left => {}
            End::Failed(code) => self.fail(&mut out.bytes, code, answer, sent),
        }
        *ended = Some(end);
        true
    }

    /// Writes all that was gathered. A client that takes nothing for a while leaves its memory to others: what waits for it
    /// goes to the answer's file until it takes bytes again. An error is the end of the client, by its own doing or because
    /// it took nothing for too long.
    async fn write(&mut self, out: &mut Outgoing, answer: &Answer, send_timeout: Duration) -> io::Result<()> {
        out.hold();
        let (mut at, mut moved) = (0, Instant::now());
        let mut waits_since = moved;
        while at < out.bytes.len() {
            let patience = self.gate.store.memory.patience().min(send_timeout);
            self.client.set_deadline(Some(waits_since + patience));
            match self.client.wait(For { write: &out.bytes[at..], ..For::default() }).await {
                Woke::Wrote(len) => {
                    at += len;
                    // Nearly always all of it, and then the clock is of no use.
                    if at < out.bytes.len() {
                        moved = Instant::now();
                        waits_since = moved;
                    }
                }
                Woke::Deadline if moved.elapsed() >= send_timeout => return Err(io::ErrorKind::TimedOut.into()),
                Woke::Deadline => {
                    let rest = &out.bytes[at..];
                    let is_kept = rest.len() <= KEPT_BYTES_MAX;
                    let aside = answer.set_aside(if is_kept { &[] } else { rest }).await;
                    if aside.is_ok() {
                        out.keep_only(if is_kept { rest.to_vec() } else { Vec::new() });
                        at = 0;
                    }
                    // Where the file takes nothing, the memory stays taken, up to its bound.
                    self.client.set_deadline(Some(moved + send_timeout));
                    match self.client.wait(For { writable: true, ..For::default() }).await {
                        Woke::Writable => waits_since = Instant::now(),
                        Woke::Deadline => return Err(io::ErrorKind::TimedOut.into()),
                        _ => return Err(io::ErrorKind::BrokenPipe.into()),
                    }
                }
                _ => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
        out.clear(moved);
        Ok(())
    }

    /// The client will take no more: `by_its_will`, or because it took nothing for too long.
    fn gone(self, answer: &Answer, mut sent: Sent, by_its_will: bool) -> Sent {
        let was_queued = self.gate.leave(self.request);
        answer.abandon();
        // Leaving is how a client ends an event stream, so one that has begun is answered.
        let has_had_enough = by_its_will && answer.is_stream.get() && !answer.is_untouched();
        if was_queued && !answer.was_retried.get() {
            sent.outcome = Outcome::ClientGoneQueued;
        } else if !has_had_enough {
            sent.outcome = Outcome::ClientGoneInService;
        }
        sent.keep_alive = false;
        sent
    }

    fn inform(&self, out: &mut Vec<u8>, head: &ResponseHead) {
        // RFC 9110 §15.2: an HTTP/1.0 client does not know interim responses.
        if self.head.version == Version::Http11 {
            write_response_start(out, head.status, &head.reason, &head.fields, |name, _| !is_rewritten(name));
            out.extend_from_slice(b"\r\n");
        }
    }

    fn begin(&self, out: &mut Vec<u8>, head: &ResponseHead, answer: &Answer, sent: &mut Sent) -> Framed {
        sent.status = head.status;
        if head.status >= 500 {
            sent.outcome = Outcome::AppError;
        }
        write_response_start(out, head.status, &head.reason, &head.fields, |name, _| !is_rewritten(name));
        if !head.fields.contains("x-request-id") {
            out.extend_from_slice(b"X-Request-Id: ");
            out.extend_from_slice(self.request_id.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        if let Some(cookie) = self.gate.sessions.cookie(self.visit, answer.worker.get(), head) {
            out.extend_from_slice(cookie.as_bytes());
        }
        if !head.fields.contains("date") {
            let _ = write!(out, "Date: {}\r\n", httpdate::fmt_http_date(SystemTime::now()));
        }
        if self.gate.config().log.server_timing {
            self.server_timing(out, answer);
        }
        if head.status == 101 {
            sent.upgraded = true;
            sent.outcome = Outcome::Upgraded;
            sent.keep_alive = false;
            let protocol = head.fields.get("upgrade").unwrap_or_default();
            let _ = write!(out, "Connection: Upgrade\r\nUpgrade: {}\r\n\r\n", String::from_utf8_lossy(protocol));
            return Framed::Plain;
        }
        let framed = match head.framing {
            ResponseFraming::None | ResponseFraming::Length(_) => {
                // RFC 9110 §8.6: a 204 has no length; a HEAD or 304 answer has that of what it stands for.
                if let Some(len) = head.content_length.filter(|_| head.status != 204) {
                    out.extend_from_slice(b"Content-Length: ");
                    write_decimal(out, len);
                    out.extend_from_slice(b"\r\n");
                }
                Framed::Plain
            }
            _ if self.head.version == Version::Http10 => {
                sent.keep_alive = false;
                Framed::UntilClose
            }
            _ => {
                // Of this connection like the coding, and the trailers that it announces go on.
                for names in head.fields.get_all("trailer") {
                    let _ = write!(out, "Trailer: {}\r\n", String::from_utf8_lossy(names));
                }
                out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
                Framed::Chunked
            }
        };
        sent.keep_alive &= !self.gate.is_draining() && !self.client.is_spent();
        out.extend_from_slice(match (sent.keep_alive, self.head.version) {
            (false, _) => b"Connection: close\r\n\r\n",
            (true, Version::Http10) => b"Connection: keep-alive\r\n\r\n",
            (true, Version::Http11) => b"\r\n",
        });
        framed
    }

    fn server_timing(&self, out: &mut Vec<u8>, answer: &Answer) {
        let times = answer.times.get();
        if let (Some(dispatched), Some(head)) = (times.dispatched, times.head) {
            let queue_ms = dispatched.saturating_duration_since(self.submitted).as_secs_f64() * 1e3;
            let worker_ms = head.saturating_duration_since(dispatched).as_secs_f64() * 1e3;
            let _ = write!(out, "Server-Timing: queue;dur={queue_ms:.1}, worker;dur={worker_ms:.1}\r\n");
        }
    }

    fn fail(&self, out: &mut Vec<u8>, code: Code, answer: &Answer, sent: &mut Sent) {
        sent.outcome = refuse::outcome(code);
        sent.error = Some(code);
        if !answer.is_untouched() || code.status() == 0 {
            // The head is out: the only honest end is a connection that closes before the announced end. The same goes for
            // a head that waits behind interim responses which nobody takes.
            sent.keep_alive = false;
            return;
        }
        sent.keep_alive &= !self.gate.is_draining() && !self.client.is_spent() && self.head.version == Version::Http11;
        let refusal = Refusal {
            code,
            detail: "",
            request_id: self.request_id,
            retry_after_s: answer.retry_after_s.get(),
            keep_alive: sent.keep_alive,
            is_head: self.head.method == sluice_http1::Method::Head,
        };
        sent.status = code.status();
        sent.bytes_out = refuse::write(out, &refusal);
    }
}

/// Fields that the gateway writes itself.
fn is_rewritten(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length")
        || name.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("x-sluice-"))
}
