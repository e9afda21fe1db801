//! The URLs that scripts and source maps name each other by. Decoding only; it reads no file.

use std::path::{Component, Path, PathBuf};

pub(super) fn base64_digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// The content of a `data:` URL, given what follows the scheme.
pub(super) fn decode_data_url(data: &str) -> Option<Vec<u8>> {
    let (kind, content) = data.split_once(',')?;
    if !kind.ends_with(";base64") {
        return Some(percent_decode_bytes(content));
    }
    let mut bytes = Vec::with_capacity(content.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in content.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(base64_digit(byte)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xFF).ok()?);
        }
    }
    Some(bytes)
}

/// The path that a `file:` URL, or a path, names.
pub(super) fn path_of_url(url: &str) -> Option<PathBuf> {
    match url.strip_prefix("file://") {
        Some(path) => path.starts_with('/').then(|| PathBuf::from(percent_decode(path))),
        None => url.starts_with('/').then(|| PathBuf::from(url)),
    }
}

pub(super) fn percent_decode(text: &str) -> String {
    String::from_utf8_lossy(&percent_decode_bytes(text)).into_owned()
}

fn percent_decode_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        if let (b'%', Some(high), Some(low)) = (*first, hex(0), hex(1)) {
            bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    bytes
}

/// A path without `.` and `..`, so that it can be told to be inside a directory.
pub(super) fn clean(path: &Path) -> String {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_that_are_none_stay_as_they_are() {
        assert_eq!(percent_decode("/a%20b/%C3%BC%"), "/a b/ü%");
        assert_eq!(percent_decode("%2g%+1%é"), "%2g%+1%é");
    }

    #[test]
    fn only_what_is_here_is_a_path() {
        assert_eq!(path_of_url("file:///a%20b.js"), Some(PathBuf::from("/a b.js")));
        assert_eq!(path_of_url("/a%20b.js"), Some(PathBuf::from("/a%20b.js")));
        for url in ["", "a.js", "file://host/a.js", "node:fs", "https://example.org/a.js"] {
            assert_eq!(path_of_url(url), None, "{url}");
        }
    }

    #[test]
    fn path_does_not_climb_above_its_root() {
        assert_eq!(clean(Path::new("/app/dist/./../src/a.ts")), "/app/src/a.ts");
        assert_eq!(clean(Path::new("/../../a.ts")), "/a.ts");
    }
}
