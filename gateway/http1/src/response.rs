//! Response heads. The worker is input too: what it may not say is refused as strictly as with a client.

use sluice_message::bytes::has_control;
use sluice_message::{Method, Rejection, ResponseHead, reason_of, strip};

use crate::framing::{Framing, ResponseFraming, framing, response_framing};
use crate::reader::{Extent, HeadLimits, HeadReader, Parse, Side};
use crate::special::parse_fields;
use crate::version::{Version, keep_alive, version};

/// A response head as it came on the wire, and in order. After 1xx other than 101 another one follows; call the parser again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedResponse {
    /// The head, with all fields as sent until [`ReceivedResponse::passed_on`].
    pub head: ResponseHead,
    /// The version.
    pub version: Version,
    /// Delimitation of the body.
    pub framing: ResponseFraming,
    /// The value of `Content-Length`, also where no body follows (an answer to `HEAD`, 304).
    pub content_length: Option<u64>,
    /// True if the connection can take another request after the body.
    pub keep_alive: bool,
}

impl ReceivedResponse {
    /// Head without the fields that belong to this connection: `Content-Length`, and those that are not forwardable but
    /// `Trailer` and, where the protocol is switched, `Upgrade`.
    pub fn passed_on(mut self) -> Self {
        let switches = self.head.status == 101;
        strip(&mut self.head.fields, |name, is_forwardable| {
            is_forwardable && !name.eq_ignore_ascii_case("content-length")
                || name.eq_ignore_ascii_case("trailer")
                || switches && name.eq_ignore_ascii_case("upgrade")
        });
        self
    }
}

/// Parses the response head at the start of `buf`. Where bytes come in pieces, use [`HeadReader`].
///
/// # Errors
/// A [`Rejection`], also for an incomplete head where it is certain already.
pub fn parse_response(
    buf: &[u8],
    limits: &HeadLimits,
    request_method: &Method,
) -> Result<Parse<ReceivedResponse>, Rejection> {
    HeadReader::new().response(buf, limits, request_method)
}

impl HeadReader {
    /// Reads a response head from the start of `buf`, answer to a request with the method `request_method`.
    ///
    /// # Errors
    /// As for [`HeadReader::request`].
    pub fn response(
        &mut self,
        buf: &[u8],
        limits: &HeadLimits,
        request_method: &Method,
    ) -> Result<Parse<ReceivedResponse>, Rejection> {
        let Some(extent) = self.advance(buf, limits, Side::Response)? else { return Ok(Parse::Incomplete) };
        Ok(Parse::Complete { received: parse(buf, &extent, request_method)?, consumed: extent.consumed })
    }
}

fn parse(buf: &[u8], extent: &Extent, request_method: &Method) -> Result<ReceivedResponse, Rejection> {
    let (version, status, reason) = status_line(&buf[extent.start..extent.line_end])?;
    let (fields, special) = parse_fields(buf, extent)?;
    let said = framing(&special, version)?;
    let framing = response_framing(said, status, request_method);
    let connection = special.connection;
    let reason = (reason != reason_of(status).as_bytes()).then(|| reason.into());
    Ok(ReceivedResponse {
        head: ResponseHead { status, reason, fields },
        version,
        framing,
        content_length: if let Framing::Length(length) = said { Some(length) } else { None },
        keep_alive: framing != ResponseFraming::UntilClose
            && keep_alive(version, connection.close, connection.keep_alive),
    })
}

/// Parses `HTTP/1.1 200 OK`; the reason may be empty, and so may the space before it be missing.
fn status_line(line: &[u8]) -> Result<(Version, u16, &[u8]), Rejection> {
    let Some((b"HTTP/", _)) = line.split_at_checked(5) else {
        return Err(Rejection::malformed("the status line does not begin with a version"));
    };
    let Some((head, rest)) = line.split_at_checked(8) else {
        return Err(Rejection::malformed("the status line is too short"));
    };
    let version = version(head)?;
    let [b' ', hundreds @ b'1'..=b'5', tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] = rest else {
        return Err(Rejection::malformed("the status is not 100 to 599"));
    };
    let status = [hundreds, tens, ones].iter().fold(0, |status, &&digit| status * 10 + u16::from(digit - b'0'));
    let reason = match rest {
        [] => rest,
        [b' ', reason @ ..] => reason,
        _ => return Err(Rejection::malformed("the status is not followed by a space")),
    };
    if has_control(reason) {
        return Err(Rejection::malformed("a control byte in the reason phrase"));
    }
    Ok((version, status, reason))
}
