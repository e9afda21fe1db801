//! Rules for compression: the answers that are compressed, and the changes in their heads (RFC 9110 §8.4, §8.8.3 and §12.5.5). Pure.

use sluice_catalog::config::{Config, Route, Segment, site};
use sluice_classes::Rules;
use sluice_message::{Coding, CodingChoice, RequestHead, ResponseHead, elements};

use crate::admit::rate::paths::{decoded, lower, readings};
use sluice_wire::respond::encode::Size;

/// Decision about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The answer is sent as it is, to every client.
    Never,
    /// The answer has no body; the client's copy may have been compressed.
    NotModified,
    /// The answer is sent as it is to this client, which accepts nothing else.
    Varies,
    Compress(Coding),
}

/// Encodings for answers; the order decides if a client likes several alike.
const CODINGS: [Coding; 3] = [Coding::Zstd, Coding::Brotli, Coding::Gzip];

/// Compression settings from the config.
pub(crate) struct Policy {
    pub(crate) is_enabled: bool,
    size_min: u64,
    types: Vec<Pattern>,
    /// None where nothing is excluded, as with most configs.
    exclude: Option<Rules>,
}

/// Media types, in lower case.
enum Pattern {
    /// A type such as `text/html`.
    One(Box<str>),
    /// A type such as `text/*`: all that begin so, with the slash.
    Kind(Box<str>),
    /// A suffix such as `*+json`: all that end so, with the plus.
    Suffix(Box<str>),
}

impl Policy {
    /// Reads the settings. Patterns that do not parse were refused before.
    pub(crate) fn read(config: &Config) -> Self {
        let compression = &config.compression;
        Policy {
            is_enabled: compression.enabled,
            size_min: config.bounds.compression_size_min,
            types: compression.types.iter().map(|pattern| Pattern::read(&pattern.to_ascii_lowercase())).collect(),
            exclude: (!compression.exclude.is_empty()).then(|| {
                Rules::of(compression.exclude.iter().filter_map(|route| Route::parse(route, "").ok()).map(folded))
            }),
        }
    }

    pub(crate) fn verdict(&self, request: &RequestHead, head: &ResponseHead, size: Size) -> Verdict {
        if !self.is_enabled {
            return Verdict::Never;
        }
        if head.status == 304 {
            return Verdict::NotModified;
        }
        if !self.may_compress(head, size) || self.excludes(request) {
            return Verdict::Never;
        }
        let accepted = CodingChoice::of(request.fields.get_all("accept-encoding"), &CODINGS);
        accepted.best().map_or(Verdict::Varies, Verdict::Compress)
    }

    fn may_compress(&self, head: &ResponseHead, size: Size) -> bool {
        let fields = &head.fields;
        let has_body = head.status >= 200 && !matches!(head.status, 204 | 205 | 206 | 304);
        let is_large = if let Size::Known(bytes) = size { bytes >= self.size_min } else { true };
        // What is compressed already, or a part; and what names a digest of its bytes, which would be another.
        let is_fixed = ["content-encoding", "content-range", "content-digest", "repr-digest", "digest", "content-md5"];
        has_body
            && is_large
            && fields.get("content-type").is_some_and(|content_type| self.is_of_type(content_type))
            && !is_fixed.iter().any(|name| fields.contains(name))
            && !fields
                .get_all("cache-control")
                .flat_map(elements)
                .any(|word| word.eq_ignore_ascii_case(b"no-transform"))
    }

    fn is_of_type(&self, content_type: &[u8]) -> bool {
        let end = content_type.iter().position(|byte| *byte == b';').unwrap_or(content_type.len());
        let Ok(media_type) = std::str::from_utf8(content_type[..end].trim_ascii()) else { return false };
        let media_type = media_type.to_ascii_lowercase();
        // An event stream has no end: it would hold its coder for as long as its client stays.
        media_type != "text/event-stream" && self.types.iter().any(|pattern| pattern.fits(&media_type))
    }

    /// Whether the config excludes the request. A client that measures sizes chooses the URL, so each reading of the path counts.
    fn excludes(&self, request: &RequestHead) -> bool {
        let (Some(exclude), host) = (&self.exclude, site(&request.authority)) else { return false };
        let is_excluded = |path: &str| exclude.find(&request.method, host, path).is_some();
        readings(request.path()).iter().any(|path| is_excluded(&lower(path)))
    }
}

impl Pattern {
    fn read(text: &str) -> Self {
        match (text.strip_prefix('*'), text.strip_suffix('*')) {
            (Some(suffix), _) => Pattern::Suffix(suffix.into()),
            (None, Some(kind)) => Pattern::Kind(kind.into()),
            (None, None) => Pattern::One(text.into()),
        }
    }

    fn fits(&self, media_type: &str) -> bool {
        match self {
            Pattern::One(one) => **one == *media_type,
            Pattern::Kind(kind) => media_type.starts_with(&**kind),
            Pattern::Suffix(suffix) => media_type.ends_with(&**suffix),
        }
    }
}

/// Route in the form in which the readings of a path are compared with it.
fn folded(route: Route) -> Route {
    let fold = |segment| match segment {
        Segment::Name(name) => Segment::Name(lower(&decoded(name.as_bytes())).into_owned()),
        other => other,
    };
    Route { path: route.path.into_iter().map(fold).collect(), ..route }
}

// What changes in heads.

/// Adds to `Vary` that the answer depends on the encodings that its client accepts.
pub(crate) fn vary(head: &mut ResponseHead) {
    let says_so = |name: &[u8]| name == b"*" || name.eq_ignore_ascii_case(b"accept-encoding");
    if !head.fields.get_all("vary").flat_map(elements).any(says_so) {
        head.fields.push("Vary", "Accept-Encoding");
    }
}

/// Marks the body as compressed. A strong entity tag no longer fits its bytes, and no range of them can be requested.
pub(crate) fn announce(head: &mut ResponseHead, coding: Coding) {
    weaken(head);
    head.fields.retain(|name, _| !name.eq_ignore_ascii_case("accept-ranges"));
    head.fields.push("Content-Encoding", coding.token());
}

fn weaken(head: &mut ResponseHead) {
    let Some(tag) = head.fields.get("etag").filter(|tag| tag.starts_with(b"\"")) else { return };
    let weak = [b"W/", tag].concat();
    head.fields.retain(|name, _| !name.eq_ignore_ascii_case("etag"));
    head.fields.push("ETag", weak);
}

/// Returns the tag of a 304 as the client has it: one that was weakened stays weak.
pub(crate) fn weaken_as_asked(head: &mut ResponseHead, request: &RequestHead) {
    let Some(tag) = head.fields.get("etag").filter(|tag| tag.starts_with(b"\"")) else { return };
    let weak = [b"W/", tag].concat();
    let is_weak = |value: &[u8]| value.windows(weak.len()).any(|part| part == weak);
    if request.fields.get_all("if-none-match").any(is_weak) {
        weaken(head);
        vary(head);
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
