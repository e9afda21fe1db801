//! Takes chunked bodies apart (RFC 9112 §7.1), strictly and without keeping their data.

use std::ops::Range;

use sluice_message::bytes::ascii;
use sluice_message::{Reject, Rejection, may_be_trailer, without_underscores};

use crate::extension::Extension;
use crate::line::{FieldLine, check_control};
use crate::reader::{HeadLimits, Side};

/// Maximum number of digits of a chunk size. More do not fit in 64 bits.
const SIZE_DIGITS_MAX: u32 = 16;

/// Maximum size of the chunk extensions in one body, without their first semicolons, bytes.
const EXTENSION_BYTES_MAX: usize = 4096;

/// Result of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeStep {
    /// Number of bytes of the buffer that are used up; never 0 unless the buffer was empty or the body had ended.
    pub consumed: usize,
    /// Place of the data in the buffer, in one piece; may be empty.
    pub data: Range<usize>,
    /// True once the body has ended. What follows in the buffer is not part of it.
    pub done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size { digits: u32, value: u64 },
    Extension { place: Extension, value: u64 },
    SizeLf { value: u64 },
    Data { left: u64 },
    DataCr,
    DataLf,
    Trailer,
    TrailerLf,
    Done,
}

/// A decoder for one chunked body.
///
/// Feed it what has come in, take the data, drop what is consumed, and call again while anything is left in the
/// buffer. It holds no input back: an incomplete line is remembered, not asked for again.
#[derive(Debug, Clone)]
pub struct ChunkedDecoder {
    state: State,
    side: Side,
    extension_bytes: usize,
    trailer_line: Vec<u8>,
    trailer_bytes: usize,
    trailer_bytes_max: usize,
    trailer_count: usize,
    trailer_count_max: usize,
    trailers: Vec<(String, Vec<u8>)>,
}

/// The one field of the gateway's own that a worker may send as a trailer: the reader of the body removes it.
const PARTS_TRAILER: &str = "x-sluice-tags";

impl ChunkedDecoder {
    /// A decoder for a request's body; trailers are bounded like header fields.
    pub fn for_request(limits: &HeadLimits) -> Self {
        Self::new(limits, Side::Request)
    }

    /// A decoder for a response's body; trailers are bounded like header fields.
    pub fn for_response(limits: &HeadLimits) -> Self {
        Self::new(limits, Side::Response)
    }

    fn new(limits: &HeadLimits, side: Side) -> Self {
        Self {
            state: State::Size { digits: 0, value: 0 },
            side,
            extension_bytes: 0,
            trailer_line: Vec::new(),
            trailer_bytes: 0,
            trailer_bytes_max: limits.headers_bytes_max,
            trailer_count: 0,
            trailer_count_max: limits.headers_count_max,
            trailers: Vec::new(),
        }
    }

    /// Decodes up to the end of the first piece of data and of the framing after it.
    ///
    /// # Errors
    /// A [`Rejection`]; the decoder is unusable after it.
    pub fn decode(&mut self, buf: &[u8]) -> Result<DecodeStep, Rejection> {
        let mut data = 0..0;
        let mut at = 0;
        while at < buf.len() && self.state != State::Done {
            if let State::Data { left } = self.state {
                if !data.is_empty() {
                    break;
                }
                let available = buf.len() - at;
                let taken = usize::try_from(left).map_or(available, |left| left.min(available));
                data = at..at + taken;
                at += taken;
                let left = left - taken as u64;
                self.state = if left == 0 { State::DataCr } else { State::Data { left } };
            } else {
                self.state = self.framing_byte(buf[at])?;
                at += 1;
            }
        }
        Ok(DecodeStep { consumed: at, data, done: self.state == State::Done })
    }

    /// Bytes that the chunk in reading still announces.
    pub fn announced_bytes(&self) -> u64 {
        match self.state {
            State::Extension { value, .. } | State::SizeLf { value } => value,
            State::Data { left } => left,
            _ => 0,
        }
    }

    /// The trailer fields, complete once the body has ended, without those that may not be trailers.
    pub fn trailers(&self) -> &[(String, Vec<u8>)] {
        &self.trailers
    }

    /// True once the body has ended.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The state after a byte that is not data.
    fn framing_byte(&mut self, b: u8) -> Result<State, Rejection> {
        match self.state {
            State::Size { digits, value } => size_byte(digits, value, b),
            State::Extension { place, value } if b == b'\r' && place.is_whole() => Ok(State::SizeLf { value }),
            State::Extension { place, value } => {
                self.extension_bytes += 1;
                if self.extension_bytes > EXTENSION_BYTES_MAX {
                    return Err(malformed("too many bytes of chunk extensions"));
                }
                let place = place.after(b).ok_or(malformed("a chunk extension is malformed"))?;
                Ok(State::Extension { place, value })
            }
            State::SizeLf { value } if b == b'\n' => {
                Ok(if value == 0 { State::Trailer } else { State::Data { left: value } })
            }
            State::DataCr if b == b'\r' => Ok(State::DataLf),
            State::DataLf if b == b'\n' => Ok(State::Size { digits: 0, value: 0 }),
            State::SizeLf { .. } => Err(malformed("a chunk size line ends with a bare CR")),
            State::DataCr | State::DataLf => Err(malformed("a chunk is not followed by CRLF")),
            State::Trailer if b == b'\r' => Ok(State::TrailerLf),
            State::Trailer => self.trailer_byte(b),
            State::TrailerLf if b == b'\n' => self.trailer_line_end(),
            State::TrailerLf => Err(Rejection::malformed("a bare CR in the trailers")),
            // Both are seen to by the caller.
            State::Data { .. } | State::Done => Ok(self.state),
        }
    }

    fn trailer_byte(&mut self, b: u8) -> Result<State, Rejection> {
        if b == b'\n' {
            return Err(Rejection::malformed("a bare LF in the trailers"));
        }
        self.trailer_bytes += 1;
        if self.trailer_bytes > self.trailer_bytes_max {
            return Err(Rejection::new(Reject::HeadersTooLarge, "the trailers are too long"));
        }
        self.trailer_line.push(b);
        Ok(State::Trailer)
    }

    fn trailer_line_end(&mut self) -> Result<State, Rejection> {
        if self.trailer_line.is_empty() {
            return Ok(State::Done);
        }
        self.trailer_count += 1;
        if self.trailer_count > self.trailer_count_max {
            return Err(Rejection::new(Reject::HeadersTooMany, "too many trailers"));
        }
        check_control(&self.trailer_line)?;
        let line = FieldLine::parse(&self.trailer_line)?;
        let name = ascii(line.name);
        let is_taken = if self.side == Side::Request && name.contains('_') {
            may_be_trailer(&without_underscores(name))
        } else {
            may_be_trailer(name) || self.side == Side::Response && name.eq_ignore_ascii_case(PARTS_TRAILER)
        };
        if is_taken {
            self.trailers.push((name.to_owned(), line.value.to_vec()));
        }
        self.trailer_line.clear();
        Ok(State::Trailer)
    }
}

fn malformed(detail: &'static str) -> Rejection {
    Rejection::new(Reject::ChunkMalformed, detail)
}

fn size_byte(digits: u32, value: u64, b: u8) -> Result<State, Rejection> {
    if let Some(digit) = char::from(b).to_digit(16) {
        if digits == SIZE_DIGITS_MAX {
            return Err(malformed("a chunk size is too long"));
        }
        return Ok(State::Size { digits: digits + 1, value: (value << 4) | u64::from(digit) });
    }
    match b {
        _ if digits == 0 => Err(malformed("a chunk does not begin with its size")),
        b'\r' => Ok(State::SizeLf { value }),
        b';' => Ok(State::Extension { place: Extension::NameStart, value }),
        _ => Err(malformed("a byte that is not allowed in a chunk size")),
    }
}
