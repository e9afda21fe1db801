//! An answer on its way from a worker or an upstream: bytes are parsed to a head and pieces of a body. Both are input like any client
//! (I8).

use bytes::{Buf as _, Bytes, BytesMut};
use sluice_http1::{ChunkedDecoder, HeadLimits, HeadReader, Parse, ReceivedResponse, ResponseFraming};
use sluice_message::{Method, Rejection, ResponseHead};

use crate::ids::to_usize;
use crate::respond::answer::Answer;

/// Name of the field in a worker's head that proves to which request the answer belongs (I10).
pub const ANSWER_FIELD: &str = "x-sluice-answer";

/// Size in bytes up to which copying a piece is cheaper than sharing its buffer.
const COPY_BYTES_MAX: usize = 4096;
/// First bytes of every response head.
const VERSION_START: &[u8] = b"HTTP/1.";

/// Request whose answer is read.
pub struct AnswerTo<'r> {
    /// Method of the request.
    pub method: &'r Method,
    /// The request asks to upgrade to another protocol.
    pub is_upgrade: bool,
    /// Token that a worker sends back; empty for an upstream.
    pub token: &'r [u8],
    /// Answer that is written.
    pub answer: &'r Answer,
}

/// Proof that an answer belongs to the request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// The request's token, in the head.
    Token,
    /// The connection, which has carried no other request. An app may then have written the answer to the socket itself.
    Connection,
    /// Nothing: an upstream, or a worker without the preload.
    None,
}

/// Result of reading the bytes so far.
pub enum Progress {
    /// More bytes are needed.
    Short,
    /// An interim answer that is meant for the client.
    Interim(ResponseHead),
    /// The head.
    Head(ReceivedResponse),
    /// A piece of the body.
    Piece(Bytes),
    /// End of the body.
    Whole {
        /// Trailers of the body.
        trailers: Trailers,
        /// The connection can carry another request.
        is_reusable: bool,
    },
}

/// Reason why an answer cannot be used.
pub enum AnswerFault {
    /// Bytes that are not HTTP/1.1, or more bytes than announced.
    Malformed(&'static str),
    /// A head without the request's token (I10).
    Foreign,
}

/// Trailer fields.
pub type Trailers = Vec<(String, Vec<u8>)>;

enum State {
    Head(HeadReader),
    Empty,
    Sized(u64),
    /// Small chunks that arrive together are forwarded together: an app that writes a byte at a time must not cost one step a byte.
    Chunked(Box<(ChunkedDecoder, BytesMut)>),
    UntilClose,
}

/// See the module's text.
pub struct Reader {
    state: State,
    limits: HeadLimits,
    proof: Proof,
    keeps_alive: bool,
    /// Trailers of a body whose last piece was forwarded.
    trailers: Trailers,
}

impl Reader {
    /// Reader of one answer.
    pub fn new(proof: Proof, limits: HeadLimits) -> Self {
        Reader { state: State::Head(HeadReader::new()), limits, proof, keeps_alive: false, trailers: Vec::new() }
    }

    /// Parses the available bytes.
    ///
    /// # Errors
    /// Where the answer cannot be used.
    pub fn step(&mut self, unread: &mut BytesMut, request: &AnswerTo<'_>) -> Result<Progress, AnswerFault> {
        match &mut self.state {
            State::Head(_) => self.head(unread, request),
            State::Empty | State::Sized(0) => {
                let trailers = std::mem::take(&mut self.trailers);
                self.whole(unread, trailers, request)
            }
            State::Sized(missing) => {
                let here = unread.len().min(to_usize(*missing));
                if here == 0 {
                    return Ok(Progress::Short);
                }
                *missing -= here as u64;
                Ok(Progress::Piece(take(unread, here)))
            }
            State::Chunked(_) => self.chunk(unread, request),
            State::UntilClose if unread.is_empty() => Ok(Progress::Short),
            State::UntilClose => Ok(Progress::Piece(unread.split().freeze())),
        }
    }

    fn head(&mut self, unread: &mut BytesMut, request: &AnswerTo<'_>) -> Result<Progress, AnswerFault> {
        loop {
            let State::Head(heads) = &mut self.state else { return Ok(Progress::Short) };
            let parsed =
                heads.response(unread, &self.limits, request.method).map_err(|rejection| malformed(&rejection))?;
            let Parse::Complete { received, consumed } = parsed else { return Ok(Progress::Short) };
            unread.advance(consumed);
            match received.head.status {
                101 if request.is_upgrade => return self.final_head(received, request),
                101 => return Err(AnswerFault::Malformed("an upgrade that the client did not request")),
                100..=199 => {
                    self.state = State::Head(HeadReader::new());
                    // 100 was answered by the gateway, which had the whole body; 102 and 103 are for the client.
                    let is_told = matches!(received.head.status, 102 | 103);
                    if is_told && (self.proof != Proof::Token || bears(&received, request)) {
                        return Ok(Progress::Interim(received.passed_on().head));
                    }
                }
                _ => return self.final_head(received, request),
            }
        }
    }

    fn final_head(&mut self, received: ReceivedResponse, request: &AnswerTo<'_>) -> Result<Progress, AnswerFault> {
        let is_marked = bears(&received, request);
        if !is_marked && self.proof == Proof::Token {
            return Err(AnswerFault::Foreign);
        }
        request.answer.parts.note(&received.head.fields);
        let received = received.passed_on();
        // Where the app wrote the head itself, nobody knows what else it will write.
        self.keeps_alive = received.keep_alive && (is_marked || self.proof == Proof::None);
        self.state = match received.framing {
            ResponseFraming::None => State::Empty,
            ResponseFraming::Length(len) => State::Sized(len),
            ResponseFraming::Chunked => {
                State::Chunked(Box::new((ChunkedDecoder::for_response(&self.limits), BytesMut::new())))
            }
            ResponseFraming::UntilClose => State::UntilClose,
        };
        Ok(Progress::Head(received))
    }

    fn chunk(&mut self, unread: &mut BytesMut, request: &AnswerTo<'_>) -> Result<Progress, AnswerFault> {
        let State::Chunked(chunks) = &mut self.state else { return Ok(Progress::Short) };
        let (decoder, gathered) = &mut **chunks;
        loop {
            let decoded = decoder.decode(unread).map_err(|rejection| malformed(&rejection))?;
            let len = decoded.data.len();
            if len > COPY_BYTES_MAX && !gathered.is_empty() && !decoded.done {
                // The small ones before it go first, and these bytes are looked at again.
                gathered.extend_from_slice(&unread[decoded.data.clone()]);
                unread.advance(decoded.consumed);
                return Ok(Progress::Piece(gathered.split().freeze()));
            }
            if len > COPY_BYTES_MAX && gathered.is_empty() && !decoded.done {
                unread.advance(decoded.data.start);
                let piece = take(unread, len);
                unread.advance(decoded.consumed - decoded.data.end);
                return Ok(Progress::Piece(piece));
            }
            gathered.extend_from_slice(&unread[decoded.data.clone()]);
            unread.advance(decoded.consumed);
            if decoded.done {
                let trailers = decoder.trailers().to_vec();
                if gathered.is_empty() {
                    return self.whole(unread, trailers, request);
                }
                let piece = gathered.split().freeze();
                self.state = State::Empty;
                self.trailers = trailers;
                return Ok(Progress::Piece(piece));
            }
            if decoded.consumed == 0 || unread.is_empty() {
                return Ok(if gathered.is_empty() {
                    Progress::Short
                } else {
                    Progress::Piece(gathered.split().freeze())
                });
            }
        }
    }

    fn whole(
        &mut self,
        unread: &BytesMut,
        trailers: Trailers,
        request: &AnswerTo<'_>,
    ) -> Result<Progress, AnswerFault> {
        if !unread.is_empty() && request.answer.is_untouched() {
            return Err(AnswerFault::Malformed("more bytes than the response announced"));
        }
        Ok(Progress::Whole { trailers, is_reusable: self.keeps_alive && unread.is_empty() })
    }
}

fn malformed(rejection: &Rejection) -> AnswerFault {
    AnswerFault::Malformed(rejection.detail)
}

/// Takes the first `len` bytes. A small piece is copied, so that its buffer can be used again at once.
fn take(unread: &mut BytesMut, len: usize) -> Bytes {
    if len <= COPY_BYTES_MAX {
        let piece = Bytes::copy_from_slice(&unread[..len]);
        unread.advance(len);
        return piece;
    }
    unread.split_to(len).freeze()
}

/// Whether the preload has marked the head for the request: its first field is the token. Bytes that precede it, up to the middle of a
/// field or of a status line, make it a later field, or the real status line a reason.
fn bears(received: &ReceivedResponse, request: &AnswerTo<'_>) -> bool {
    let is_marked = received
        .head
        .fields
        .iter()
        .next()
        .is_some_and(|(name, token)| name.eq_ignore_ascii_case(ANSWER_FIELD) && token == request.token);
    is_marked && !received.head.reason().windows(VERSION_START.len()).any(|part| part == VERSION_START)
}

/// Whether the answer is a stream of server-sent events.
pub fn is_event_stream(received: &ReceivedResponse) -> bool {
    received.framing != ResponseFraming::None
        && received
            .head
            .fields
            .get("content-type")
            .is_some_and(|value| value.get(..17).is_some_and(|start| start.eq_ignore_ascii_case(b"text/event-stream")))
}
