//! Request heads. It must not know the app's routes or what the gateway adds.

use memchr::{memchr, memrchr};
use sluice_message::bytes::ascii;
use sluice_message::{Method, Reject, Rejection, RequestHead, Scheme, check_target};

use crate::connection::upgrade_protocols;
use crate::framing::{Framing, framing};
use crate::reader::{Extent, HeadLimits, HeadReader, Parse, Side};
use crate::special::{Once, parse_fields};
use crate::target;
use crate::version::{Version, keep_alive, version};

/// A request head as it came on the wire, and in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireHead {
    /// The head; whose scheme the connection knows.
    pub head: RequestHead,
    /// The version.
    pub version: Version,
    /// Delimitation of the body.
    pub framing: Framing,
    /// True if the client would reuse the connection.
    pub keep_alive: bool,
    /// True if the client waits for `100 Continue` before it sends the body.
    pub expect_continue: bool,
    /// The protocols of `Upgrade`, where `Connection` has `upgrade` (HTTP/1.1 only); never h2c, HTTP or TLS.
    pub upgrade: Option<String>,
}

/// Parses the request head at the start of `buf`. Where bytes come in pieces, use [`HeadReader`].
///
/// # Errors
/// A [`Rejection`], also for an incomplete head where it is certain already.
pub fn parse_request(buf: &[u8], limits: &HeadLimits) -> Result<Parse<WireHead>, Rejection> {
    HeadReader::new().request(buf, limits)
}

impl HeadReader {
    /// Reads a request head from the start of `buf`.
    ///
    /// # Errors
    /// A [`Rejection`] as soon as it is certain; limits and line ends before the head is complete, all else after.
    pub fn request(&mut self, buf: &[u8], limits: &HeadLimits) -> Result<Parse<WireHead>, Rejection> {
        let Some(extent) = self.advance(buf, limits, Side::Request)? else { return Ok(Parse::Incomplete) };
        Ok(Parse::Complete { received: parse(buf, &extent)?, consumed: extent.consumed })
    }
}

fn parse(buf: &[u8], extent: &Extent) -> Result<WireHead, Rejection> {
    let (method, raw_target, version) = request_line(&buf[extent.start..extent.line_end])?;
    let (fields, special) = parse_fields(buf, extent)?;
    let host = host(special.host, version)?;
    let target = target::to_origin_form(raw_target, &method, &host)?;
    let framing = framing(&special, version)?;
    let expect_continue = expects_continue(special.expect)? && version == Version::Http11 && framing != Framing::None;
    let upgrade = upgrade_protocols(&special.upgrade)?;
    let connection = special.connection;
    Ok(WireHead {
        head: RequestHead { method, scheme: Scheme::default(), authority: host, path_and_query: target, fields },
        version,
        framing,
        keep_alive: keep_alive(version, connection.close, connection.keep_alive),
        expect_continue,
        upgrade: upgrade.filter(|_| connection.upgrade && version == Version::Http11),
    })
}

fn request_line(line: &[u8]) -> Result<(Method, &[u8], Version), Rejection> {
    let (Some(first), Some(last)) = (memchr(b' ', line), memrchr(b' ', line)) else {
        return Err(Rejection::malformed("the request line is not method, target, version"));
    };
    if first == last {
        return Err(Rejection::malformed("the request line is not method, target, version"));
    }
    let target = &line[first + 1..last];
    if target.is_empty() || target.contains(&b' ') {
        return Err(Rejection::malformed("more than one space in the request line"));
    }
    // The version comes first: what follows may mean something else in another one.
    let version = version(&line[last + 1..])?;
    let method = Method::parse(&line[..first])?;
    check_target(target)?;
    Ok((method, target, version))
}

/// The authority in lower case; empty if an HTTP/1.0 request sent none.
fn host(host: Once<'_>, version: Version) -> Result<String, Rejection> {
    let invalid = |detail| Rejection::new(Reject::HostInvalid, detail);
    match host {
        Once::One(value) => sluice_message::authority(value).map_err(invalid),
        Once::Absent if version == Version::Http10 => Ok(String::new()),
        Once::Absent => Err(invalid("Host is missing")),
        Once::Many => Err(invalid("Host sent twice")),
    }
}

fn expects_continue(expect: Once<'_>) -> Result<bool, Rejection> {
    match expect {
        Once::Absent => Ok(false),
        Once::One(value) if ascii(value).eq_ignore_ascii_case("100-continue") => Ok(true),
        _ => Err(Rejection::new(Reject::ExpectationUnknown, "an expectation other than 100-continue")),
    }
}
