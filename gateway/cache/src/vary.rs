//! Distinction of the answers of one URL: the fields that `Vary` names (RFC 9111 §4.1), and the cookies and fields that the config
//! names.

use std::hash::{Hash as _, Hasher};

use sluice_message::{Fields, elements, is_hop_by_hop};

use crate::key::is_switch;

/// Maximum number of fields in `Vary`. Such a page is as good as private.
pub const VARY_FIELDS_MAX: usize = 16;

/// Codings of bodies that `Accept-Encoding` is compared by.
const CODINGS: [&[u8]; 4] = [b"br", b"gzip", b"zstd", b"deflate"];

/// Fields that each request to a worker has of its own: answers that depend on them are for one client.
const OF_ONE_CLIENT: [&str; 5] = ["x-forwarded-for", "forwarded", "x-request-id", "traceparent", "tracestate"];

/// A name, what was said by it in one line, and what that means.
pub(crate) type Part = (Box<str>, Option<Vec<u8>>, Option<Vec<u8>>);

/// The names by which answers are distinguished, with the values that a stored one was made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimensions(Vec<Dimension>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Dimension {
    name: Box<str>,
    /// Value as it was sent, if in one line: most others send the same.
    sent: Option<Box<[u8]>>,
    value: Option<Vec<u8>>,
}

impl Dimension {
    fn of(name: Box<str>, request: &Fields) -> Self {
        let sent = only(request, &name).map(Into::into);
        let value = value_of(request, &name);
        Dimension { name, sent, value }
    }

    fn matches(&self, request: &Fields) -> bool {
        (self.sent.is_some() && only(request, &self.name) == self.sent.as_deref())
            || value_of(request, &self.name) == self.value
    }
}

impl Dimensions {
    /// Dimensions of a response to this request. `chosen`: fields and, as `cookie:name`, cookies that count even if the app
    /// names none.
    ///
    /// # Errors
    /// None where `Vary` says that nobody else can use the answer, or names too much.
    pub fn of(request: &Fields, response: &Fields, chosen: &[String]) -> Option<Self> {
        let mut names: Vec<Box<str>> = chosen.iter().map(|name| name.to_ascii_lowercase().into()).collect();
        for name in response.get_all("vary").flat_map(elements) {
            let name: Box<str> = std::str::from_utf8(name).ok()?.to_ascii_lowercase().into();
            if &*name == "*" || OF_ONE_CLIENT.contains(&&*name) {
                return None;
            }
            // No worker sees what is between two neighbours.
            if !names.contains(&name) && !is_hop_by_hop(&name) {
                names.push(name);
            }
        }
        // An app that allows one origin, and forgets to say so.
        if response.get_all("access-control-allow-origin").any(|allowed| allowed != b"*")
            && !names.iter().any(|name| &**name == "origin")
        {
            names.push("origin".into());
        }
        if names.len() > VARY_FIELDS_MAX {
            return None;
        }
        let is_by_coding = names.iter().any(|name| &**name == "accept-encoding");
        if is_by_coding && !response.get_all("content-encoding").flat_map(elements).all(is_comparable) {
            return None;
        }
        let dimensions = Dimensions(names.into_iter().map(|name| Dimension::of(name, request)).collect());
        dimensions.tell_switches(request).then_some(dimensions)
    }

    /// Whether the answer is for this request too.
    #[must_use]
    pub fn match_request(&self, request: &Fields) -> bool {
        self.0.iter().all(|dimension| dimension.matches(request)) && self.tell_switches(request)
    }

    /// Whether they have what the request switches to another form of the page by.
    fn tell_switches(&self, request: &Fields) -> bool {
        request.iter().all(|(name, _)| !is_switch(name) || self.0.iter().any(|one| one.name.eq_ignore_ascii_case(name)))
    }

    /// Adds what a request says by these names, so that requests that differ in it are distinguished.
    pub fn hash_request(&self, request: &Fields, hasher: &mut impl Hasher) {
        for Dimension { name, .. } in &self.0 {
            (name, value_of(request, name)).hash(hasher);
        }
    }

    /// Whether it depends on a cookie, or on who is logged in.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| &*known.name == name)
    }

    /// The names in lower case, cookies as `cookie:name`; what the answer's request said in one line, and what that means.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&str, Option<&[u8]>, Option<&[u8]>)> {
        self.0.iter().map(|one| (&*one.name, one.sent.as_deref(), one.value.as_deref()))
    }

    /// Dimensions from what [`Dimensions::parts`] gave.
    pub(crate) fn from_parts(parts: Vec<Part>) -> Self {
        let dimension =
            |(name, sent, value): (_, Option<Vec<u8>>, _)| Dimension { name, sent: sent.map(Into::into), value };
        Dimensions(parts.into_iter().map(dimension).collect())
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        let bytes = |one: &Dimension| {
            one.name.len() + one.sent.as_deref().map_or(0, <[u8]>::len) + one.value.as_deref().map_or(0, <[u8]>::len)
        };
        self.0.iter().map(bytes).sum()
    }
}

/// The value of the field if it was sent in one line.
fn only<'f>(request: &'f Fields, name: &str) -> Option<&'f [u8]> {
    let mut lines = request.get_all(name);
    lines.next().filter(|_| lines.next().is_none())
}

/// Value of that name in the request, without differences that mean nothing.
fn value_of(request: &Fields, name: &str) -> Option<Vec<u8>> {
    if let Some(cookie) = name.strip_prefix("cookie:") {
        return cookies_of(request, cookie);
    }
    let lines = || request.get_all(name);
    if name == "accept-encoding" {
        return Some(encodings(lines().flat_map(elements).map(squeezed)));
    }
    if !request.contains(name) {
        return None;
    }
    let is_quoted = || lines().any(|line| line.contains(&b'"'));
    Some(match name {
        // What is in quotes may be anything.
        "accept" if !is_quoted() => by_weight(lines().flat_map(elements).map(squeezed)),
        // Their order matters only through their weights, which stay with them.
        "accept-language" | "accept-charset" => {
            let values = lines().flat_map(elements).map(squeezed);
            let mut all: Vec<_> = values.map(|value| value.to_ascii_lowercase()).collect();
            all.sort_unstable();
            all.join(b",".as_slice())
        }
        // No lists, whatever stands in them.
        "accept" | "cookie" | "authorization" => lines().collect::<Vec<_>>().join(b", ".as_slice()),
        // An empty element stays: only those who know the field know whether it means nothing.
        _ => {
            let elements = lines().flat_map(|line| line.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
            elements.collect::<Vec<_>>().join(b",".as_slice())
        }
    })
}

/// Text without white space around `;` and `=`.
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

/// Sorts values by the client's preference. Among equal preferences, apps take the one that the client names first.
fn by_weight(values: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut all: Vec<_> = values.collect();
    all.sort_by_key(|value| std::cmp::Reverse(weight_of(value)));
    all.join(b",".as_slice())
}

/// The weight of an element, in thousandths (RFC 9110 §12.4.2).
fn weight_of(element: &[u8]) -> u16 {
    let weights = element.split(|byte| *byte == b';').skip(1).filter_map(|part| {
        let weight = part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q="))?;
        let weight: f32 = std::str::from_utf8(weight).ok()?.parse().ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
        let thousandths = (weight.clamp(0.0, 1.0) * 1000.0) as u16;
        Some(thousandths)
    });
    weights.last().unwrap_or(1000)
}

/// Whether clients that do not take this coding are distinguished from those that do.
fn is_comparable(coding: &[u8]) -> bool {
    coding.eq_ignore_ascii_case(b"identity") || CODINGS.iter().any(|known| coding.eq_ignore_ascii_case(known))
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
        if !is_refused && (CODINGS.contains(&name.as_slice()) || name == b"*") {
            taken.push(name);
        }
    }
    taken.sort_unstable();
    taken.dedup();
    taken.join(b",".as_slice())
}

/// The values of all cookies of that name: apps differ in which one they take.
fn cookies_of(request: &Fields, name: &str) -> Option<Vec<u8>> {
    let pairs = request.get_all("cookie").flat_map(|line| line.split(|byte| *byte == b';'));
    let values: Vec<&[u8]> = pairs
        .filter_map(|pair| {
            let at = pair.iter().position(|byte| *byte == b'=')?;
            (pair[..at].trim_ascii() == name.as_bytes()).then(|| pair[at + 1..].trim_ascii())
        })
        .collect();
    (!values.is_empty()).then(|| values.join(b";".as_slice()))
}
