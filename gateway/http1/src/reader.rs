//! Finds where a head ends, and refuses what is too large or has wrong line ends, while the bytes are still coming in.
//!
//! Every byte is read once, however small the pieces are in which it comes, and the verdict does not depend on how
//! the bytes were split. It must not know what the lines mean.

use memchr::memchr2;
use sluice_message::bytes::is_token_byte;
use sluice_message::{Reject, Rejection};

/// Bounds on a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadLimits {
    /// The most bytes of the request or status line, without its CRLF.
    pub request_line_bytes_max: usize,
    /// The most bytes of all field lines with their CRLF, without the empty line.
    pub headers_bytes_max: usize,
    /// The most field lines.
    pub headers_count_max: usize,
}

impl Default for HeadLimits {
    /// Limits of the gateway for clients by default.
    fn default() -> Self {
        Self { request_line_bytes_max: 8192, headers_bytes_max: 16384, headers_count_max: 100 }
    }
}

/// Progress of reading a head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parse<T> {
    /// More bytes are needed.
    Incomplete,
    /// The whole head is there.
    Complete {
        /// The head, and what the wire says with it.
        received: T,
        /// Bytes of the buffer that it took; the body, if any, starts there.
        consumed: usize,
    },
}

/// Sender of the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Response,
}

/// Places of a complete head's parts in the buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub start: usize,
    pub line_end: usize,
    pub fields_start: usize,
    pub fields_end: usize,
    pub fields_count: usize,
    pub consumed: usize,
}

/// Reads heads from a buffer that grows, and remembers how far it has looked.
///
/// Pass the same buffer again with more bytes at its end after [`Parse::Incomplete`]. After a complete head the reader
/// has forgotten everything and takes the next head, from the start of a new buffer.
#[derive(Debug, Clone, Default)]
pub struct HeadReader {
    /// Place from which to continue; all before it is known to be in order.
    looked: usize,
    /// Beginning of the start line: after an empty line that is forgiven, or 0.
    start: usize,
    started: bool,
    line_start: usize,
    /// End of the start line, once known.
    line_end: Option<usize>,
    count: usize,
}

impl HeadReader {
    /// A reader at the start of a head.
    pub fn new() -> Self {
        Self::default()
    }

    /// True once a byte of a head has come in; an idle connection that only sent the forgiven CRLF has not begun one.
    pub fn has_begun(&self) -> bool {
        self.started
    }

    /// Places of the head's parts, once it is complete; then everything is forgotten.
    pub(crate) fn advance(&mut self, buf: &[u8], limits: &HeadLimits, side: Side) -> Result<Option<Extent>, Rejection> {
        let extent = self.look(buf, limits, side)?;
        if extent.is_some() {
            *self = Self::default();
        }
        Ok(extent)
    }

    fn look(&mut self, buf: &[u8], limits: &HeadLimits, side: Side) -> Result<Option<Extent>, Rejection> {
        if buf.len() < self.looked {
            *self = Self::default();
        }
        loop {
            self.check_first_byte(buf, side)?;
            let Some(found) = memchr2(b'\r', b'\n', &buf[self.looked..]) else {
                self.looked = buf.len();
                self.check_length(buf.len(), limits, side)?;
                return Ok(None);
            };
            let at = self.looked + found;
            let is_empty_line = at == self.line_start;
            // The CRLF of a field line counts, so that a line whose CR stands at the limit is judged before its LF comes.
            let judged = if self.line_end.is_some() && !is_empty_line && buf[at] == b'\r' { at + 2 } else { at };
            self.check_length(judged, limits, side)?;
            if buf[at] == b'\n' {
                return Err(Rejection::malformed("a line ends with a bare LF"));
            }
            match buf.get(at + 1) {
                None => {
                    self.looked = at;
                    return Ok(None);
                }
                Some(b'\n') => {}
                Some(_) => return Err(Rejection::malformed("a bare CR")),
            }
            let next = at + 2;
            match self.line_end {
                None if is_empty_line => {
                    if side == Side::Response || self.start > 0 {
                        return Err(Rejection::malformed("an empty line instead of a start line"));
                    }
                    self.start = next;
                }
                None => self.line_end = Some(at),
                Some(line_end) if is_empty_line => {
                    return Ok(Some(Extent {
                        start: self.start,
                        line_end,
                        fields_start: line_end + 2,
                        fields_end: at,
                        fields_count: self.count,
                        consumed: next,
                    }));
                }
                Some(_) => {
                    self.count += 1;
                    if self.count > limits.headers_count_max {
                        return Err(Rejection::new(Reject::HeadersTooMany, "too many fields"));
                    }
                }
            }
            self.looked = next;
            self.line_start = next;
        }
    }

    /// Refuses TLS and other foreign protocols at their first byte instead of at a deadline.
    fn check_first_byte(&mut self, buf: &[u8], side: Side) -> Result<(), Rejection> {
        if self.started {
            return Ok(());
        }
        match (buf.get(self.start), side) {
            // An empty line before the start line is judged where line ends are.
            (None | Some(b'\r'), _) => Ok(()),
            (Some(&b), Side::Request) if !is_token_byte(b) => {
                Err(Rejection::malformed("the first byte does not begin a method"))
            }
            (Some(&b), Side::Response) if b != b'H' => {
                Err(Rejection::malformed("the first byte does not begin a status line"))
            }
            _ => {
                self.started = true;
                Ok(())
            }
        }
    }

    /// Checks the length of what is being read, which reaches at least up to `end`.
    fn check_length(&self, end: usize, limits: &HeadLimits, side: Side) -> Result<(), Rejection> {
        match self.line_end {
            None if end - self.start > limits.request_line_bytes_max => Err(match side {
                Side::Request => Rejection::new(Reject::TargetTooLong, "the request line is too long"),
                Side::Response => Rejection::new(Reject::HeadersTooLarge, "the status line is too long"),
            }),
            Some(line_end) if end.saturating_sub(line_end + 2) > limits.headers_bytes_max => {
                Err(Rejection::new(Reject::HeadersTooLarge, "the fields are too long"))
            }
            _ => Ok(()),
        }
    }
}
