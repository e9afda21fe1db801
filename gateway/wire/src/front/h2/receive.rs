//! Receives a complete request from a stream. The rules of [`crate::receive`] apply here too.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use h2::ext::Protocol;
use http::HeaderMap;
use http::request::Parts;
use sluice_catalog::errors::Code;
use sluice_message::bytes::trim_ows;
use sluice_message::{
    Fields, Method, Reject, Rejection, RequestHead, Scheme, check_target, check_underscores, may_be_trailer,
    without_underscores,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, timeout_at};

use super::connection::STREAM_WINDOW_BYTES;
use super::{AsksFor, H2};
use crate::front::h2::shared::BLOCK_BYTES;
use crate::front::lobby::Lobby;
use crate::ids::to_usize;
use crate::receive::body::Body;
use crate::receive::failure::{Failure, GONE, UpgradeOffer, refused};
use crate::receive::pace::Pace;
use crate::receive::{KEPT_BYTES_MAX, head_limits, is_known, store, underscores};

/// Name of the one protocol to which a stream can be upgraded.
const WEBSOCKET: &str = "websocket";

impl H2<'_> {
    /// Request head, which was received completely.
    pub(crate) fn head(&mut self) -> Result<UpgradeOffer, Failure> {
        let Some(parts) = self.parts.take() else { return Err(GONE) };
        let mut head = head(&parts, self.lobby)?;
        if let Some(protocol) = parts.extensions.get::<Protocol>() {
            if protocol.as_str() != WEBSOCKET {
                return Err(refused(Code::MethodUnsupported, "CONNECT for another protocol than WebSocket"));
            }
            self.asks_for = AsksFor::WebSocket;
            handshake(&mut head.fields);
        }
        check_underscores(&head.fields, underscores(self.lobby.config().server.underscore_headers))?;
        if !is_known(&head.method) {
            return Err(refused(Code::MethodUnsupported, "Node.js does not know this method"));
        }
        self.declared_bytes = content_length(&parts.headers)?;
        self.expects_continue = expects_continue(&parts.headers)?;
        let upgrade = (self.asks_for == AsksFor::WebSocket).then(|| WEBSOCKET.to_owned());
        Ok((head, upgrade))
    }

    /// Complete body. A body whose announced length is too large is refused at once.
    pub(crate) async fn body(&mut self, bytes_max: u64) -> Result<Body, Failure> {
        if self.asks_for == AsksFor::WebSocket || self.receive.is_end_stream() {
            return Ok(Body::empty(self.declared_bytes.is_some()));
        }
        let memory_bytes_max = to_usize(self.lobby.config().bounds.body_memory_bytes_max);
        if self.declared_bytes.is_some_and(|bytes| bytes > bytes_max) {
            return Err(refused(Code::BodyTooLarge, "the declared length is over the limit"));
        }
        let mut body = Body::new(&self.lobby.store, memory_bytes_max);
        if std::mem::take(&mut self.expects_continue) {
            self.go_on();
        }
        let mut pace = Pace::start(self.lobby);
        let mut unreleased_bytes = 0;
        while let Some(data) = self.piece(&body, &mut pace).await? {
            if body.bytes().saturating_add(data.len() as u64) > bytes_max {
                return Err(refused(Code::BodyTooLarge, "the data add up to more than the limit"));
            }
            unreleased_bytes += data.len();
            store(&body, data).await?;
            if self.receive.is_end_stream() {
                continue;
            }
            if self.blocks.is_none() && body.bytes() >= u64::from(STREAM_WINDOW_BYTES / 2) {
                // Until the window is used up the client need not wait.
                let must_wait = body.bytes() >= u64::from(STREAM_WINDOW_BYTES);
                self.take_blocks(self.declared_bytes.unwrap_or(bytes_max), must_wait, &mut pace).await?;
            }
            let has_room = self.blocks.is_some() || body.bytes() < u64::from(STREAM_WINDOW_BYTES / 2);
            if has_room && self.receive.flow_control().release_capacity(unreleased_bytes).is_ok() {
                unreleased_bytes = 0;
            }
        }
        if let Some(trailers) = self.trailers(&pace).await? {
            body.set_trailers(trailers);
        }
        self.give_back_blocks(body.bytes());
        Ok(body)
    }

    /// Next bytes of the body, or `None` at its end. A body that arrives slowly leaves the memory to others.
    async fn piece(&mut self, body: &Body, pace: &mut Pace) -> Result<Option<Bytes>, Failure> {
        let mut may_spill = true;
        loop {
            let deadline = pace.deadline();
            let patience = pace.started + self.lobby.store.memory.patience();
            let spills = may_spill && body.memory_bytes() > KEPT_BYTES_MAX;
            let until = if spills { deadline.min(patience) } else { deadline };
            match timeout_at(until, poll_fn(|cx| self.receive.poll_data(cx))).await {
                Ok(Some(Ok(data))) => {
                    pace.received(data.len());
                    return Ok(Some(data));
                }
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(self.gone()),
                Err(_) if Instant::now() < deadline => may_spill = body.spill().await.is_ok(),
                Err(_) => return Err(refused(Code::BodyTooSlow, "the body came slower than the minimum rate")),
            }
        }
    }

    async fn trailers(&mut self, pace: &Pace) -> Result<Option<Vec<(String, Vec<u8>)>>, Failure> {
        match timeout_at(pace.deadline(), poll_fn(|cx| self.receive.poll_trailers(cx))).await {
            Ok(Ok(None)) => Ok(None),
            Ok(Ok(Some(fields))) => {
                let limits = head_limits(self.lobby);
                let fields = checked(&fields, limits.headers_count_max, limits.headers_bytes_max)?;
                let kept = fields.iter().filter(|(name, _)| may_be_trailer(&without_underscores(name)));
                Ok(Some(kept.map(|(name, value)| (name.to_owned(), value.to_vec())).collect()))
            }
            Ok(Err(_)) => Err(self.gone()),
            Err(_) => Err(refused(Code::BodyTooSlow, "the trailers did not come")),
        }
    }

    /// Reserves room for a body of this length; other streams of the connection may have it for now.
    async fn take_blocks(&mut self, bytes: u64, must_wait: bool, pace: &mut Pace) -> Result<(), Failure> {
        let blocks = u32::try_from(bytes.div_ceil(BLOCK_BYTES)).unwrap_or(u32::MAX).min(self.sending.shared.blocks_max);
        let bodies = Arc::clone(&self.sending.shared.bodies);
        if !must_wait {
            self.blocks = bodies.try_acquire_many_owned(blocks).ok();
            return Ok(());
        }
        let since = Instant::now();
        let until = since + Duration::from_millis(self.lobby.config().queue.wait_ms_max);
        let mut acquiring = std::pin::pin!(bodies.acquire_many_owned(blocks));
        let waited = poll_fn(|cx| match acquiring.as_mut().poll(cx) {
            Poll::Ready(acquired) => Poll::Ready(Some(acquired)),
            Poll::Pending => self.sending.poll_reset(cx).map(|()| None),
        });
        match timeout_at(until, waited).await {
            Ok(Some(acquired)) => self.blocks = acquired.ok(),
            Ok(None) => return Err(self.gone()),
            Err(_) => return Err(refused(Code::TempFull, "other bodies on the connection took the room for too long")),
        }
        pace.resume(since);
        Ok(())
    }

    /// Returns unneeded room, as the body has turned out to be no larger.
    fn give_back_blocks(&mut self, bytes: u64) {
        let used = to_usize(bytes.div_ceil(BLOCK_BYTES));
        if let Some(blocks) = &mut self.blocks {
            let surplus = blocks.num_permits().saturating_sub(used);
            drop::<Option<OwnedSemaphorePermit>>(blocks.split(surplus));
        }
    }
}

fn head(parts: &Parts, lobby: &Lobby) -> Result<RequestHead, Failure> {
    let limits = head_limits(lobby);
    let method = match parts.extensions.get::<Protocol>() {
        // RFC 8441 §5: what GET with Upgrade is in HTTP/1.1.
        Some(_) => Method::Get,
        None => Method::parse(parts.method.as_str().as_bytes())?,
    };
    let target = parts.uri.path_and_query().map_or("", |target| target.as_str());
    check_target(target.as_bytes())?;
    let is_whole_server = target == "*" && method == Method::Options;
    if !is_whole_server && !target.starts_with('/') {
        return Err(Rejection::new(Reject::TargetInvalid, "the path does not begin with a slash").into());
    }
    if method.as_str().len() + target.len() + " HTTP/2.0".len() > limits.request_line_bytes_max {
        return Err(Rejection::new(Reject::TargetTooLong, "the path is too long").into());
    }
    let fields = checked(&parts.headers, limits.headers_count_max, limits.headers_bytes_max)?;
    let authority = authority(parts)?;
    Ok(RequestHead { method, scheme: Scheme::Https, authority, path_and_query: target.to_owned(), fields })
}

/// Replaces the handshake fields of HTTP/2 by those of HTTP/1.1 that the app expects.
fn handshake(fields: &mut Fields) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    fields.retain(|name, _| name != "sec-websocket-key");
    // 16 bytes: 21 digits, two bits of one more, and the filling.
    let mut key: Vec<u8> = (0..21).map(|_| DIGITS[fastrand::usize(..64)]).collect();
    key.push(DIGITS[fastrand::usize(..4) * 16]);
    key.extend_from_slice(b"==");
    fields.push("sec-websocket-key", key);
}

/// Authority of the request (RFC 9113 §8.3.1): `:authority` replaces `Host`; if both are there they must be the same.
fn authority(parts: &Parts) -> Result<String, Rejection> {
    let invalid = |detail| Rejection::new(Reject::HostInvalid, detail);
    let mut hosts = parts.headers.get_all("host").iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => Some(sluice_message::authority(host.as_bytes()).map_err(invalid)?),
        (None, _) => None,
        (Some(_), Some(_)) => return Err(invalid("Host sent twice")),
    };
    let Some(told) = parts.uri.authority() else {
        return host.ok_or_else(|| invalid(":authority is missing"));
    };
    let told = sluice_message::authority(told.as_str().as_bytes()).map_err(invalid)?;
    if host.is_some_and(|host| host != told) {
        return Err(invalid(":authority and Host differ"));
    }
    Ok(told)
}

/// Fields, checked against the limits of HTTP/1, where each is a line. Cookies that arrived in several fields are
/// joined again (RFC 9113 §8.2.3).
fn checked(fields: &HeaderMap, count_max: usize, bytes_max: usize) -> Result<Fields, Rejection> {
    if fields.len() > count_max.saturating_add(fields.get_all("cookie").iter().count().saturating_sub(1)) {
        return Err(Rejection::new(Reject::HeadersTooMany, "too many fields"));
    }
    let bytes = fields.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum();
    if bytes > bytes_max {
        return Err(Rejection::new(Reject::HeadersTooLarge, "the fields are too long"));
    }
    let mut made = Fields::with_capacity(fields.len(), bytes);
    let mut cookies = Vec::new();
    for (name, value) in fields {
        let value = value.as_bytes();
        if trim_ows(value).len() != value.len() {
            return Err(Rejection::malformed("white space around a field's value"));
        }
        if name == "cookie" {
            if !cookies.is_empty() {
                cookies.extend_from_slice(b"; ");
            }
            cookies.extend_from_slice(value);
        } else if name != "host" {
            made.push(name.as_str(), value);
        }
    }
    if !cookies.is_empty() {
        made.push("cookie", cookies);
    }
    Ok(made)
}

fn content_length(fields: &HeaderMap) -> Result<Option<u64>, Rejection> {
    let invalid = |detail| Err(Rejection::new(Reject::LengthInvalid, detail));
    let mut lengths = fields.get_all("content-length").iter();
    let (Some(length), more) = (lengths.next(), lengths.next()) else { return Ok(None) };
    if more.is_some() {
        return invalid("Content-Length sent twice");
    }
    let digits = length.to_str().unwrap_or_default();
    match digits.parse() {
        Ok(bytes) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(bytes)),
        _ => invalid("Content-Length is not a number"),
    }
}

fn expects_continue(fields: &HeaderMap) -> Result<bool, Rejection> {
    let mut expected = fields.get_all("expect").iter();
    match (expected.next(), expected.next()) {
        (None, _) => Ok(false),
        (Some(value), None) if value.as_bytes().eq_ignore_ascii_case(b"100-continue") => Ok(true),
        _ => Err(Rejection::new(Reject::ExpectationUnknown, "an expectation other than 100-continue")),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Request};

    use super::*;

    fn fields(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut fields = HeaderMap::new();
        for (name, value) in pairs {
            fields.append(*name, HeaderValue::from_static(value));
        }
        fields
    }

    fn parts(uri: &str, pairs: &[(&'static str, &'static str)]) -> Parts {
        let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
        parts.headers = fields(pairs);
        parts
    }

    #[test]
    fn cookies_that_came_apart_are_one_field_and_count_as_one() {
        let crumbs = fields(&[("a", "1"), ("cookie", "b=2"), ("cookie", "c=3"), ("host", "x.test")]);
        let made = checked(&crumbs, 3, 100).unwrap();
        assert_eq!(made.iter().collect::<Vec<_>>(), [("a", &b"1"[..]), ("cookie", b"b=2; c=3")]);
        assert_eq!(checked(&crumbs, 2, 100).unwrap_err().reject, Reject::HeadersTooMany);
        assert_eq!(checked(&crumbs, 3, 30).unwrap_err().reject, Reject::HeadersTooLarge);
        assert_eq!(checked(&fields(&[("a", " 1")]), 3, 100).unwrap_err().reject, Reject::HeadMalformed);
    }

    #[test]
    fn authority_and_host_name_the_same_or_nothing_is_served() {
        assert_eq!(authority(&parts("https://App.test:1/", &[])).unwrap(), "app.test:1");
        assert_eq!(authority(&parts("https://app.test/", &[("host", "APP.test")])).unwrap(), "app.test");
        assert_eq!(authority(&parts("/", &[("host", "app.test")])).unwrap(), "app.test");
        let wrong: [(&str, &[(&'static str, &'static str)]); 4] = [
            ("/", &[]),
            ("https://app.test/", &[("host", "b.test")]),
            ("/", &[("host", "a.test"), ("host", "a.test")]),
            ("https://user@app.test/", &[]),
        ];
        for (uri, pairs) in wrong {
            assert_eq!(authority(&parts(uri, pairs)).unwrap_err().reject, Reject::HostInvalid, "{uri} {pairs:?}");
        }
    }

    #[test]
    fn lengths_are_one_number_of_digits() {
        let length = |values: &[&'static str]| {
            content_length(&fields(&values.iter().map(|value| ("content-length", *value)).collect::<Vec<_>>()))
        };
        assert_eq!((length(&[]).unwrap(), length(&["12"]).unwrap()), (None, Some(12)));
        for wrong in [&["1", "1"][..], &["+1"], &["1, 1"], &[""], &["99999999999999999999"]] {
            assert_eq!(length(wrong).unwrap_err().reject, Reject::LengthInvalid, "{wrong:?}");
        }
    }

    #[test]
    fn handshake_gets_a_key_of_16_bytes_in_place_of_the_clients() {
        let mut made: Fields = [("sec-websocket-key", &b"own"[..])].into_iter().collect();
        handshake(&mut made);
        let keys: Vec<_> = made.get_all("sec-websocket-key").collect();
        assert!(keys.len() == 1 && keys[0].len() == 24 && keys[0].ends_with(b"=="), "{made:?}");
        assert!(b"AQgw".contains(&keys[0][21]), "the last digit has two bits: {made:?}");
    }
}
