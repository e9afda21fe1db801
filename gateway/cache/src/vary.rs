//! What tells the answers of one URL apart: the fields that `Vary` names (RFC 9111 §4.1), and the cookies and fields that the config
//! names.

use sluice_message::{Fields, elements};

/// More are refused: such a page is as good as private.
pub const VARY_FIELDS_MAX: usize = 16;

/// The names by which answers are told apart, with the values that a stored one was made for, normalised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimensions(Vec<(Box<str>, Vec<u8>)>);

impl Dimensions {
    /// Those of a response to this request. `chosen`: fields and, as `cookie:name`, cookies that count whatever the app says.
    ///
    /// # Errors
    /// None where `Vary` says that nobody else can use the answer, or names too much.
    #[must_use]
    pub fn of(request: &Fields, response: &Fields, chosen: &[String]) -> Option<Self> {
        let mut names: Vec<Box<str>> = chosen.iter().map(|name| name.to_ascii_lowercase().into()).collect();
        for name in response.get_all("vary").flat_map(elements) {
            let name: Box<str> = std::str::from_utf8(name).ok()?.to_ascii_lowercase().into();
            if &*name == "*" {
                return None;
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > VARY_FIELDS_MAX {
            return None;
        }
        let values = names.into_iter().map(|name| {
            let value = value_of(request, &name);
            (name, value)
        });
        Some(Dimensions(values.collect()))
    }

    /// Whether the answer is for this request too.
    #[must_use]
    pub fn match_request(&self, request: &Fields) -> bool {
        self.0.iter().all(|(name, value)| value_of(request, name) == *value)
    }

    /// Whether it depends on a cookie, or on who is logged in.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| &**known == name)
    }

    /// The names in lower case, cookies as `cookie:name`, and the values that a stored answer was made for.
    #[must_use]
    pub fn as_slice(&self) -> &[(Box<str>, Vec<u8>)] {
        &self.0
    }

    /// What [`Dimensions::as_slice`] gave.
    pub(crate) fn from_pairs(pairs: Vec<(Box<str>, Vec<u8>)>) -> Self {
        Dimensions(pairs)
    }

    /// Bytes that they take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.iter().map(|(name, value)| name.len() + value.len()).sum()
    }
}

/// What the request says by that name, without differences that mean nothing.
fn value_of(request: &Fields, name: &str) -> Vec<u8> {
    if let Some(cookie) = name.strip_prefix("cookie:") {
        return cookie_of(request, cookie).unwrap_or_default().to_vec();
    }
    let mut values = request.get_all(name).flat_map(elements).map(squeezed);
    match name {
        "accept-encoding" => encodings(values),
        // Their order matters only through their weights, which stay with them.
        "accept" | "accept-language" | "accept-charset" => {
            let mut all: Vec<_> = values.map(|value| value.to_ascii_lowercase()).collect();
            all.sort_unstable();
            all.join(b",".as_slice())
        }
        _ => {
            let mut joined = values.next().unwrap_or_default();
            for value in values {
                joined.push(b',');
                joined.extend_from_slice(&value);
            }
            joined
        }
    }
}

/// Without white space around `;` and `=`.
fn squeezed(element: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(element.len());
    for byte in element {
        match (byte, kept.last()) {
            (b' ' | b'\t', Some(b';' | b'=' | b' ')) => {}
            (b';' | b'=', Some(b' ')) => *kept.last_mut().unwrap_or(&mut 0) = *byte,
            (b'\t', _) => kept.push(b' '),
            (byte, _) => kept.push(*byte),
        }
    }
    kept
}

/// The encodings that pages come in and the client takes, whatever else it names.
fn encodings(values: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut taken = Vec::new();
    for value in values {
        let mut parts = value.split(|byte| *byte == b';');
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_refused = parts.any(|part| {
            let part = part.to_ascii_lowercase();
            part.strip_prefix(b"q=").is_some_and(|q| q.iter().all(|byte| matches!(byte, b'0' | b'.')))
        });
        if !is_refused && [&b"br"[..], b"gzip", b"zstd", b"deflate", b"*"].contains(&name.as_slice()) {
            taken.push(name);
        }
    }
    taken.sort_unstable();
    taken.dedup();
    taken.join(b",".as_slice())
}

/// The value of a cookie, the first of that name.
fn cookie_of<'f>(request: &'f Fields, name: &str) -> Option<&'f [u8]> {
    let pairs = request.get_all("cookie").flat_map(|line| line.split(|byte| *byte == b';'));
    pairs.map(<[u8]>::trim_ascii).find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}
