//! What holds for every input, whatever it is. The property tests and the fuzz targets both call these.
#![allow(dead_code, reason = "each user takes its own part")]

use sluice_http1::{
    ChunkedDecoder, HeadLimits, HeadReader, Parse, WireHead, parse_request, parse_response, write_request_start,
};
use sluice_message::{Method, Rejection, forwardable};

/// Small enough that inputs reach them.
pub const LIMITS: HeadLimits =
    HeadLimits { request_line_bytes_max: 300, headers_bytes_max: 1000, headers_count_max: 20 };

/// Rewriting may lengthen a head by a few bytes.
const LIMITS_WIDE: HeadLimits =
    HeadLimits { request_line_bytes_max: 400, headers_bytes_max: 4000, headers_count_max: 30 };

/// Feeds growing prefixes, each `step` bytes longer, until there is a verdict.
fn in_pieces<T>(
    input: &[u8],
    step: usize,
    mut read: impl FnMut(&[u8]) -> Result<Parse<T>, Rejection>,
) -> Result<Parse<T>, Rejection> {
    let mut end = 0;
    while end < input.len() {
        end = input.len().min(end + step.max(1));
        match read(&input[..end]) {
            Ok(Parse::Incomplete) => {}
            verdict => return verdict,
        }
    }
    read(input)
}

/// A request head in pieces of `step` bytes is judged like the whole, and what is accepted survives being rewritten.
pub fn request_head(input: &[u8], step: usize) {
    let whole = parse_request(input, &LIMITS);
    let mut reader = HeadReader::new();
    let pieces = in_pieces(input, step, |buf| reader.request(buf, &LIMITS));
    assert_eq!(pieces, whole, "in pieces of {step}");
    let Ok(Parse::Complete { received, consumed }) = whole else { return };
    assert!(consumed <= input.len());
    assert_eq!(parse_request(&input[..consumed - 1], &LIMITS), Ok(Parse::Incomplete), "complete too early");
    rewritten_request(&received);
}

/// A rewritten request is accepted, means the same, and rewrites to the same bytes.
pub fn rewritten_request(received: &WireHead) {
    if received.head.authority.is_empty() {
        return;
    }
    let written = rewrite(received);
    let again = match parse_request(&written, &LIMITS_WIDE) {
        Ok(Parse::Complete { received, consumed }) if consumed == written.len() => received,
        other => panic!("rewritten {} gave {other:?}", written.escape_ascii()),
    };
    assert_eq!(
        (&again.head.method, &again.head.path_and_query, &again.head.authority, again.framing, &again.upgrade),
        (
            &received.head.method,
            &received.head.path_and_query,
            &received.head.authority,
            received.framing,
            &received.upgrade
        )
    );
    assert_eq!(end_to_end(&again), end_to_end(received));
    assert_eq!(rewrite(&again), written);
    let text = String::from_utf8_lossy(&written).to_ascii_lowercase();
    let framing_lines = text.split("\r\n").skip(1).filter(|line| {
        line.starts_with("content-length:") || line.starts_with("transfer-encoding:") || line.starts_with("x-sluice-")
    });
    assert!(framing_lines.count() <= 1, "{text}");
    assert_eq!(text.split("\r\n").filter(|line| line.starts_with("host:")).count(), 1, "{text}");
}

fn rewrite(received: &WireHead) -> Vec<u8> {
    let mut out = Vec::new();
    write_request_start(&mut out, &received.head, received.framing, received.upgrade.as_deref(), |_, _| true);
    out.extend_from_slice(b"\r\n");
    out
}

fn end_to_end(received: &WireHead) -> Vec<(&str, &[u8])> {
    let is_rewritten = |name: &str| name.eq_ignore_ascii_case("host") || name.eq_ignore_ascii_case("content-length");
    forwardable(&received.head.fields).filter(|(name, _)| !is_rewritten(name)).collect()
}

/// A response head in pieces of `step` bytes is judged like the whole, and holds nothing that could end a line.
pub fn response_head(input: &[u8], step: usize, method: &Method) {
    let whole = parse_response(input, &LIMITS, method);
    let mut reader = HeadReader::new();
    let pieces = in_pieces(input, step, |buf| reader.response(buf, &LIMITS, method));
    assert_eq!(pieces, whole, "in pieces of {step}");
    let Ok(Parse::Complete { received, consumed }) = whole else { return };
    assert!(consumed <= input.len());
    assert!((100..600).contains(&received.head.status));
    let values = received.head.fields.iter().map(|(_, value)| value);
    for value in values.chain([received.head.reason()]) {
        assert!(!value.iter().any(|b| matches!(b, b'\r' | b'\n' | 0)));
    }
}

/// How a chunked body was decoded.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    pub data: Vec<u8>,
    pub trailers: Vec<(String, Vec<u8>)>,
    pub consumed: usize,
    pub done: bool,
}

/// Decodes in pieces of `step` bytes; the piece at hand is passed on only once the one before is used up.
fn decode(input: &[u8], step: usize) -> Result<Body, Rejection> {
    let mut decoder = ChunkedDecoder::for_request(&LIMITS);
    let mut body = Body { data: Vec::new(), trailers: Vec::new(), consumed: 0, done: false };
    for piece in input.chunks(step.max(1)) {
        let mut rest = piece;
        while !rest.is_empty() && !body.done {
            let found = decoder.decode(rest)?;
            assert!(found.consumed > 0, "no progress");
            assert!(found.data.start <= found.data.end && found.data.end <= found.consumed);
            body.data.extend_from_slice(&rest[found.data]);
            rest = &rest[found.consumed..];
            body.consumed += found.consumed;
            body.done = found.done;
        }
    }
    body.trailers = decoder.trailers().to_vec();
    Ok(body)
}

/// A chunked body in pieces is decoded like the whole, and the whole as a naive reader of the grammar would.
pub fn chunked(input: &[u8], step: usize) {
    let whole = decode(input, input.len());
    assert_eq!(decode(input, step), whole, "in pieces of {step}");
    let model = model(input);
    match &whole {
        Ok(body) if body.done => {
            assert_eq!(model, Some((body.data.clone(), body.consumed)), "{}", input.escape_ascii());
        }
        // The model knows no bounds on extensions and trailers, which are tested elsewhere.
        _ if input.len() < LIMITS.headers_bytes_max && input.split(|&b| b == b'\n').count() < 20 => {
            assert_eq!(model, None, "{}", input.escape_ascii());
        }
        _ => {}
    }
}

/// The data and the length of a whole chunked body at the start of `input`, or `None`.
fn model(input: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut data = Vec::new();
    let mut at = 0;
    loop {
        let line = line_at(input, at)?;
        at += line.len() + 2;
        let line = std::str::from_utf8(line).ok().map_or_else(|| latin1(line), str::to_owned);
        let (size, extensions) = line.split_at(line.find(';').unwrap_or(line.len()));
        let is_hex = !size.is_empty() && size.len() <= 16 && size.chars().all(|c| c.is_ascii_hexdigit());
        if !is_hex || !extensions_are_whole(extensions) {
            return None;
        }
        let size = usize::try_from(u64::from_str_radix(size, 16).ok()?).ok()?;
        if size == 0 {
            break;
        }
        data.extend_from_slice(input.get(at..at.checked_add(size)?)?);
        at += size;
        if input.get(at..at + 2)? != b"\r\n" {
            return None;
        }
        at += 2;
    }
    loop {
        let line = line_at(input, at)?;
        at += line.len() + 2;
        if line.is_empty() {
            return Some((data, at));
        }
        let colon = line.iter().position(|&b| b == b':')?;
        let (name, value) = line.split_at(colon);
        if !is_token(&latin1(name)) || value.iter().any(|&b| (b < 32 && b != b'\t') || b == 127) {
            return None;
        }
    }
}

/// The bytes from `at` to the next CRLF, if no CR or LF stands alone before it.
fn line_at(input: &[u8], at: usize) -> Option<&[u8]> {
    let rest = &input[at..];
    let end = rest.iter().position(|&b| b == b'\r' || b == b'\n')?;
    rest[end..].starts_with(b"\r\n").then_some(&rest[..end])
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| char::from(b)).collect()
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
}

fn extensions_are_whole(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(';') else { return text.is_empty() };
    let name_end = rest.find(['=', ';']).unwrap_or(rest.len());
    if !is_token(&rest[..name_end]) {
        return false;
    }
    let rest = &rest[name_end..];
    let Some(value) = rest.strip_prefix('=') else { return extensions_are_whole(rest) };
    let Some(quoted) = value.strip_prefix('"') else {
        let end = value.find(';').unwrap_or(value.len());
        return is_token(&value[..end]) && extensions_are_whole(&value[end..]);
    };
    let mut chars = quoted.char_indices();
    while let Some((i, c)) = chars.next() {
        let c = if c == '\\' { chars.next().map(|(_, c)| (true, c)) } else { Some((false, c)) };
        match c {
            Some((false, '"')) => return extensions_are_whole(&quoted[i + 1..]),
            Some((_, c)) if c == '\t' || (c >= ' ' && c != '\x7f') => {}
            _ => return false,
        }
    }
    false
}
