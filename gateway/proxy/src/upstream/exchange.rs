//! One request and its response on a worker's connection.
//!
//! The request is written and the response read at the same time, because a worker may answer before it has read a large
//! body. The worker is input like any client (I8): what is not a response of HTTP/1.1 is a [`Fault`].

use std::borrow::Cow;
use std::cell::Cell;
use std::future::Future as _;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Buf as _;
use sluice_catalog::errors::Code;
use sluice_http1::{
    CHUNK_END, HeadLimits, HeadReader, Parse, ReceivedResponse, ResponseFraming, write_chunk_header, write_last_chunk,
};
use sluice_scheduler::RequestId;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::WriteHalf;

use super::handed::Ahead;
use super::reader::{Reader, malformed, read_body};
use super::wire::{READ_BYTES, Wire};
use super::{InFlight, Job};
use crate::gate::{Gate, Seen, to_usize};
use crate::receive::body::Body;
use crate::respond::answer::{Answer, Departure};
use crate::respond::fill::FillReader;
use crate::socket::Socket;
use crate::upstream::token::ANSWER_FIELD;

/// A request up to here that was written at once is read at once: less than what a runtime takes in one read.
const PIECE_BYTES_MAX: usize = 4096;

/// How each head ends.
const END_OF_HEAD: &[u8] = b"\r\n\r\n";
/// How each head of an answer begins.
const VERSION_START: &[u8] = b"HTTP/1.";

/// How the worker ended its part.
pub(crate) enum Ended {
    /// The whole response was read.
    Whole { reusable: bool },
    /// The response is an event stream; its body goes on outside the slot.
    Stream { head: ReceivedResponse },
    /// The connection is another protocol's now.
    Upgraded { head: ReceivedResponse },
    /// The app waits with its answer, which goes on outside the slot.
    Waits,
}

/// How a response broke.
pub(crate) enum Fault {
    /// The worker closed the connection.
    Closed(Seen),
    /// What it sent is not HTTP/1.1, or more than it announced.
    Malformed(&'static str),
    /// What came on a connection that was used before does not carry the request's token: it may be another's answer (I10).
    Foreign,
    /// The worker has ended the request, and its response is shorter than announced.
    Short,
    /// Nobody waited any more and the worker has had its time.
    Cut,
    /// The client has left, and the connection was closed to tell the app.
    Left,
    /// The client had left before a byte was written.
    Unsent,
    /// The app has not seen the request and never will: it was taken back before its turn came.
    Withdrawn,
    /// The app has not seen the request, because it goes on with this other one.
    Busy { by: RequestId },
}

/// `marks` says whether the worker's preload marks the heads of answers.
pub(crate) async fn run(
    gate: &Gate,
    wire: &mut Wire,
    job: &Job,
    exchange: &Rc<InFlight>,
    marks: bool,
) -> Result<Ended, Fault> {
    wire.carried += 1;
    let proof = Proof::on(wire, marks);
    let (mut read_half, mut write_half) = wire.stream.split();
    let mut reader =
        Reader { half: &mut read_half, unread: &mut wire.unread, exchange, heard: false, ends_with_report: true };
    let (begun, is_one_piece, is_written) = (Cell::new(false), Cell::new(false), Cell::new(false));
    let outcome = {
        let mut writing = pin!(async {
            is_written.set(write_request(&mut write_half, job, exchange, &begun, &is_one_piece).await.is_ok());
            // Only now, as the client did: the app reads the whole request and then its end.
            half_closed(gate, job).await;
            exchange.has_left.set(true);
            let _ = write_half.shutdown().await;
        });
        let mut reading = pin!(read_response(gate, &mut reader, job, proof));
        let mut is_shut = false;
        std::future::poll_fn(|cx| {
            if exchange.ahead.get() != Ahead::No
                && (exchange.withdrawn.poll(cx).is_ready() || exchange.is_withdrawn.get())
            {
                return Poll::Ready(Err(Fault::Withdrawn));
            }
            if job.answer.departing.poll(cx).is_ready()
                && job.answer.departure() == Departure::Gone
                && is_shown_departures(gate, job)
            {
                return Poll::Ready(Err(if begun.get() { Fault::Left } else { Fault::Unsent }));
            }
            is_shut = is_shut || writing.as_mut().poll(cx).is_ready();
            if let Poll::Ready(ended) = reading.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            // What the worker has not read whole it does not wait with. And an answer that has begun ends where it began.
            if is_written.get() && !job.answer.has_head() && exchange.leaves.poll(cx).is_ready() {
                return Poll::Ready(Ok(Ended::Waits));
            }
            Poll::Pending
        })
        .await
    };
    let heard = reader.heard;
    match outcome {
        Ok(Ended::Whole { reusable }) => {
            Ok(Ended::Whole { reusable: reusable && is_written.get() && !exchange.has_left.get() })
        }
        Err(Fault::Closed(_) | Fault::Short) if exchange.has_left.get() => Err(Fault::Left),
        Err(Fault::Cut) if !heard => Err(exchange.busy_with.get().map_or(Fault::Cut, |by| Fault::Busy { by })),
        Err(Fault::Closed(seen)) => {
            Err(Fault::Closed(Seen { sent: begun.get(), unread: seen.unread && is_one_piece.get(), ..seen }))
        }
        other => other,
    }
}

/// Whether the app sees a client that leaves. A worker that reports no end of what its app then does would have to be
/// replaced each time, and a warm-up has no client.
fn is_shown_departures(gate: &Gate, job: &Job) -> bool {
    !job.is_own && job.answer.worker.get().is_some_and(|worker| gate.reports(worker))
}

/// Ready when the client has closed its sending side and the app is to see it. It is polled again whenever
/// `departing` is set, as [`run`] waits for that in the same task.
async fn half_closed(gate: &Gate, job: &Job) {
    std::future::poll_fn(|_| match job.answer.departure() {
        Departure::Half if is_shown_departures(gate, job) => Poll::Ready(()),
        _ => Poll::Pending,
    })
    .await;
}

async fn write_request(
    half: &mut Socket<WriteHalf<'_>>,
    job: &Job,
    exchange: &InFlight,
    begun: &Cell<bool>,
    is_one_piece: &Cell<bool>,
) -> io::Result<()> {
    let (chunk, end) = chunk_around(&job.body);
    let (head, mark) = match exchange.ahead.get() {
        Ahead::No => (job.head.as_slice(), Vec::new()),
        // Its last line is the gateway's word to the preload.
        Ahead::Handed | Ahead::Begun => (
            &job.head[..job.head.len() - END_OF_HEAD.len()],
            format!(";handed={}\r\n\r\n", exchange.handed_as.get()).into_bytes(),
        ),
    };
    let head_len = (head.len() + mark.len()) as u64;
    let reader = job.body.reader();
    let mut next = reader.as_ref().and_then(FillReader::in_memory);
    let first = if mark.is_empty() && chunk.is_empty() && next.is_none() {
        Cow::Borrowed(head)
    } else {
        let mut first = [head, &mark, &chunk].concat();
        // As much as a worker takes at once goes with the head.
        while let Some(piece) = next.take_if(|piece| first.len() + piece.len() <= head.len() + READ_BYTES) {
            first.extend_from_slice(&piece);
            next = reader.as_ref().and_then(FillReader::in_memory);
        }
        Cow::Owned(first)
    };
    let len = half.write(&first).await?;
    begun.set(true);
    let is_whole = end.is_empty() && head_len + job.body.len() == len as u64;
    is_one_piece.set(is_whole && len == first.len() && len <= PIECE_BYTES_MAX);
    half.write_all(&first[len..]).await?;
    if let Some(piece) = next {
        half.write_all(&piece).await?;
    }
    if let Some(reader) = &reader {
        loop {
            match reader.read(READ_BYTES).await {
                Ok(Some(piece)) => half.write_all(&piece).await?,
                Ok(None) => break,
                Err(error) => {
                    // Ours, not the worker's: the rest of the body is lost. Closing the connection tells the worker.
                    job.answer.fail(Code::TempFull);
                    exchange.cut.set();
                    return Err(error);
                }
            }
        }
    }
    if !end.is_empty() {
        half.write_all(&end).await?;
    }
    Ok(())
}

/// What stands before and behind a body that has trailers: it goes as one chunk. Nothing for any other.
fn chunk_around(body: &Body) -> (Vec<u8>, Vec<u8>) {
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    if !body.trailers().is_empty() {
        if body.len() > 0 {
            write_chunk_header(&mut before, to_usize(body.len()));
            behind.extend_from_slice(CHUNK_END);
        }
        write_last_chunk(&mut behind, body.trailers());
    }
    (before, behind)
}

/// What shows that a response is the request's own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Proof {
    /// Its token, in the head.
    Token,
    /// That its connection has carried no other. An app may then have written the response to the socket itself.
    Connection,
    /// Nothing: the worker has no preload.
    None,
}

impl Proof {
    fn on(wire: &Wire, marks: bool) -> Self {
        match (marks, wire.carried) {
            (false, _) => Proof::None,
            // Nobody else has ever written to the connection.
            (true, 1) => Proof::Connection,
            (true, _) => Proof::Token,
        }
    }
}

fn head_limits(gate: &Gate) -> HeadLimits {
    let config = gate.config();
    let bounds = &config.bounds;
    HeadLimits {
        request_line_bytes_max: 8192,
        headers_bytes_max: to_usize(bounds.response_headers_bytes_max),
        headers_count_max: to_usize(bounds.response_headers_count_max),
    }
}

async fn read_response(gate: &Gate, reader: &mut Reader<'_, '_>, job: &Job, proof: Proof) -> Result<Ended, Fault> {
    let limits = head_limits(gate);
    let received = read_head(reader, job, proof, &limits).await?;
    let is_own = bears(&received, job);
    if !is_own && proof == Proof::Token {
        return Err(Fault::Foreign);
    }
    job.answer.note_parts(&received.head.fields);
    let received = received.passed_on();
    if received.head.status == 101 {
        return Ok(Ended::Upgraded { head: received });
    }
    let framing = received.framing;
    if is_event_stream(&received) {
        return Ok(Ended::Stream { head: received });
    }
    // Where the app wrote the head itself, nobody knows what else it will write.
    let keep_alive = received.keep_alive && (is_own || proof == Proof::None);
    job.answer.begin(received);
    let trailers = read_body(reader, &job.answer, framing, &limits).await?;
    if !reader.unread.is_empty() {
        if job.answer.is_untouched() {
            return Err(Fault::Malformed("more bytes than the response announced"));
        }
        job.answer.complete(trailers);
        return Ok(Ended::Whole { reusable: false });
    }
    job.answer.complete(trailers);
    Ok(Ended::Whole { reusable: keep_alive && framing != ResponseFraming::UntilClose })
}

/// The response's head; interim responses before it are passed on where they mean something to a client.
async fn read_head(
    reader: &mut Reader<'_, '_>,
    job: &Job,
    proof: Proof,
    limits: &HeadLimits,
) -> Result<ReceivedResponse, Fault> {
    let mut heads = HeadReader::new();
    loop {
        let parsed = heads.response(reader.unread, limits, &job.method).map_err(|rejection| malformed(&rejection))?;
        match parsed {
            Parse::Complete { received, consumed } => {
                reader.unread.advance(consumed);
                match received.head.status {
                    101 if job.is_upgrade => return Ok(received),
                    101 => return Err(Fault::Malformed("an upgrade that nobody asked for")),
                    100..=199 => {
                        // 100 was answered by the gateway, which had the whole body; 102 and 103 are for the client.
                        if matches!(received.head.status, 102 | 103) && (proof != Proof::Token || bears(&received, job))
                        {
                            job.answer.inform(received.passed_on().head);
                        }
                        heads = HeadReader::new();
                    }
                    _ => return Ok(received),
                }
            }
            Parse::Incomplete => {
                if !reader.more().await? {
                    return Err(reader.closed());
                }
            }
        }
    }
}

/// Whether the head is one that the preload has marked for the request: its first field is the token. Bytes that got before
/// it, up to the middle of a field or of a status line, have made it a later field, or the real status line a reason.
fn bears(received: &ReceivedResponse, job: &Job) -> bool {
    let is_marked = received
        .head
        .fields
        .iter()
        .next()
        .is_some_and(|(name, token)| name.eq_ignore_ascii_case(ANSWER_FIELD) && token == job.token.as_bytes());
    is_marked && !received.head.reason().windows(VERSION_START.len()).any(|part| part == VERSION_START)
}

fn is_event_stream(received: &ReceivedResponse) -> bool {
    received.framing != ResponseFraming::None
        && received
            .head
            .fields
            .get("content-type")
            .is_some_and(|value| value.get(..17).is_some_and(|start| start.eq_ignore_ascii_case(b"text/event-stream")))
}

/// The answer that an app waits with, outside of any slot, until it comes or either side gives up. Returns whether the worker
/// broke it off; the client is still to be told then.
pub(crate) async fn run_waiting(gate: &Gate, mut wire: Wire, job: &Job, exchange: &InFlight, marks: bool) -> bool {
    let proof = Proof::on(&wire, marks);
    let (mut read_half, _write_half) = wire.stream.split();
    let mut reader =
        Reader { half: &mut read_half, unread: &mut wire.unread, exchange, heard: false, ends_with_report: false };
    let mut reading = pin!(read_response(gate, &mut reader, job, proof));
    std::future::poll_fn(|cx| {
        if job.answer.closing.poll(cx).is_ready() {
            return Poll::Ready(false);
        }
        reading.as_mut().poll(cx).map(|ended| !matches!(ended, Ok(Ended::Whole { .. })))
    })
    .await
}

/// The rest of an event stream, outside of any slot, until either side ends it. Returns whether the worker broke it off;
/// the client is still to be told then.
pub(crate) async fn run_stream(
    gate: &Gate,
    mut wire: Wire,
    answer: &Answer,
    exchange: &InFlight,
    received: ReceivedResponse,
) -> bool {
    let (mut read_half, _write_half) = wire.stream.split();
    let mut reader =
        Reader { half: &mut read_half, unread: &mut wire.unread, exchange, heard: true, ends_with_report: false };
    let framing = received.framing;
    answer.begin(received);
    let limits = head_limits(gate);
    let outcome = {
        let mut reading = pin!(read_body(&mut reader, answer, framing, &limits));
        std::future::poll_fn(|cx| {
            if answer.closing.poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            reading.as_mut().poll(cx).map(Some)
        })
        .await
    };
    if let Some(Ok(trailers)) = outcome {
        answer.complete(trailers);
        return false;
    }
    // Whoever closed it has said why where there is a why; a client that has gone is no error.
    outcome.is_some()
}
