//! Readings of a path by an app, so that no spelling of it dodges a limit or an exception. It must not know limits or clients.
//!
//! What an app gets is never changed: this is for comparing alone.

use std::borrow::Cow;

use percent_encoding::{percent_decode, percent_encode_byte};

/// Forms that apps and their routers make of a path. Escapes are decoded and slashes collapsed. Dot segments are kept, or removed before
/// the slashes are collapsed (as in a URL parser) or after (as in file servers). If the path begins with two slashes, a URL parser also
/// takes its first name for a host. Most paths have one form only. Case stays, and so do the escapes of `/`, `\` and `%`.
pub(crate) fn readings(path: &str) -> Vec<Cow<'_, [u8]>> {
    if is_plain(path.as_bytes()) {
        return vec![Cow::Borrowed(path.as_bytes())];
    }
    let decoded = decoded(path.as_bytes());
    let segments: Vec<&[u8]> = decoded.strip_prefix(b"/").unwrap_or(&decoded).split(|byte| *byte == b'/').collect();
    let named: Vec<&[u8]> = segments.iter().copied().filter(|segment| !segment.is_empty()).collect();
    let mut readings = forms(&segments, &named);
    if decoded.starts_with(b"//")
        && let Some(host) = segments.iter().position(|segment| !segment.is_empty())
    {
        readings.extend(forms(&segments[host + 1..], &named[1..]));
    }
    readings
}

fn forms(segments: &[&[u8]], named: &[&[u8]]) -> Vec<Cow<'static, [u8]>> {
    let forms = [joined(named), joined(&without_dots(segments)), joined(&without_dots(named))];
    forms.into_iter().map(Cow::Owned).collect()
}

/// Reading of a path for routers that ignore case.
pub(crate) fn lower(path: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(path) {
        Ok(text) if !text.chars().any(char::is_uppercase) => Cow::Borrowed(text),
        _ => Cow::Owned(String::from_utf8_lossy(path).to_lowercase()),
    }
}

/// Whether the path is the limit's own or one below it. `*`, which means the whole server, is below `/`.
#[must_use]
pub(crate) fn lies_below(path: &[u8], limit: &[u8]) -> bool {
    match path.strip_prefix(limit) {
        _ if limit == b"/" => true,
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

fn is_plain(path: &[u8]) -> bool {
    let has_one_form = |pair: &[u8]| !matches!(pair, [b'/', b'/' | b'.']);
    !path.iter().any(|byte| matches!(byte, b'%' | b'\\')) && path.windows(2).all(has_one_form)
}

/// Decodes `%61` to `a`, also beyond ASCII, where a limit is written in letters as well. A backslash is a slash to every
/// URL parser that follows the WHATWG.
pub(crate) fn decoded(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&first, after)) = rest.split_first() {
        let escaped = escaped(rest);
        rest = if escaped.is_some() { &after[2..] } else { after };
        match (first, escaped) {
            (_, Some(byte @ (b'/' | b'\\' | b'%'))) => out.extend_from_slice(percent_encode_byte(byte).as_bytes()),
            (_, Some(byte)) => out.push(byte),
            (b'\\', None) => out.push(b'/'),
            (_, None) => out.push(first),
        }
    }
    out
}

/// Byte that an escape at the beginning encodes.
fn escaped(path: &[u8]) -> Option<u8> {
    let mut bytes = percent_decode(path.get(..3)?);
    let byte = bytes.next().filter(|_| path[0] == b'%')?;
    bytes.next().is_none().then_some(byte)
}

/// Path without dot segments (RFC 3986 §5.2.4).
fn without_dots<'p>(segments: &[&'p [u8]]) -> Vec<&'p [u8]> {
    let mut kept = Vec::with_capacity(segments.len());
    for segment in segments {
        match *segment {
            b"." => {}
            b".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    kept
}

fn joined(segments: &[&[u8]]) -> Vec<u8> {
    let named = segments.iter().filter(|segment| !segment.is_empty());
    let mut out = named.fold(Vec::new(), |mut out, segment| {
        out.push(b'/');
        out.extend_from_slice(segment);
        out
    });
    if out.is_empty() {
        out.push(b'/');
    }
    out
}
