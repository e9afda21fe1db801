//! The directives of `Cache-Control`, and of `CDN-Cache-Control` and `Surrogate-Control` where those stand above it (RFC 9111 §5.2,
//! RFC 9213, W3C Edge Architecture).

use sluice_message::Fields;

/// Largest number of seconds in a directive; larger ones count as this one (RFC 9111 §1.2.2).
const SECONDS_MAX: u64 = 1 << 31;

/// Directives of a request or a response. A duration that cannot be read counts as 0 seconds: the answer is stale at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a directive of its own")]
pub struct Directives {
    /// Nothing of the message is stored.
    pub no_store: bool,
    /// True if the page is asked for again before each use.
    pub no_cache: bool,
    /// True if the answer is for one user.
    pub private: bool,
    /// Every cache may store it.
    pub public: bool,
    /// True if a stale answer is not used.
    pub must_revalidate: bool,
    /// The same, for shared caches.
    pub proxy_revalidate: bool,
    /// True if only caches that know the status may store the answer.
    pub must_understand: bool,
    /// True if the body must not be changed.
    pub no_transform: bool,
    /// Freshness, seconds.
    pub max_age: Option<u64>,
    /// The same for shared caches.
    pub s_maxage: Option<u64>,
    /// Time after that for which it may be used while a new one is fetched, seconds (RFC 5861 §3).
    pub stale_while_revalidate: Option<u64>,
    /// Time after that for which it may be used if fetching fails, seconds (RFC 5861 §4).
    pub stale_if_error: Option<u64>,
    /// True if the directives come from a field for caches like this one, so `Cache-Control` and `Expires` say nothing.
    pub targeted: bool,
}

/// The directives of a request.
pub fn of_request(fields: &Fields) -> Directives {
    let mut found = Directives::default();
    for (name, value) in fields.get_all("cache-control").flat_map(list) {
        found.take(name, value);
    }
    found
}

/// The directives of a response.
pub fn of_response(fields: &Fields) -> Directives {
    let mut found = Directives::default();
    if let Some(members) = targeted(fields) {
        for (name, value) in members {
            found.take(name.as_bytes(), Some(value.as_bytes()));
        }
        found.targeted = true;
        return found;
    }
    if let Some(found) = surrogate(fields) {
        return found;
    }
    for (name, value) in fields.get_all("cache-control").flat_map(list) {
        found.take(name, value);
    }
    found
}

impl Directives {
    fn take(&mut self, name: &[u8], value: Option<&[u8]>) {
        let name = name.to_ascii_lowercase();
        // Of two the first counts (RFC 9111 §4.2.1): both would be a mistake.
        let seconds = |slot: &mut Option<u64>| *slot = slot.or_else(|| Some(seconds_of(value).unwrap_or(0)));
        match name.as_slice() {
            b"no-store" => self.no_store = true,
            // Where fields are named, storing all but those would do; not storing at all is simpler and as right.
            b"no-cache" => self.no_cache = true,
            b"private" => self.private = true,
            b"public" => self.public = true,
            b"must-revalidate" => self.must_revalidate = true,
            b"proxy-revalidate" => self.proxy_revalidate = true,
            b"must-understand" => self.must_understand = true,
            b"no-transform" => self.no_transform = true,
            b"max-age" => seconds(&mut self.max_age),
            b"s-maxage" => seconds(&mut self.s_maxage),
            b"stale-while-revalidate" => seconds(&mut self.stale_while_revalidate),
            b"stale-if-error" => seconds(&mut self.stale_if_error),
            _ => {}
        }
    }
}

/// Seconds, in digits alone, perhaps in quotes.
pub(crate) fn seconds_of(value: Option<&[u8]>) -> Option<u64> {
    let value = value?;
    let value = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value);
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u64::from(byte - b'0'));
    let sum = |sum: u64, byte: &u8| Some((sum * 10 + digit(byte)?).min(SECONDS_MAX));
    if value.is_empty() { None } else { value.iter().try_fold(0, sum) }
}

/// The elements of a list of directives, which may have values in quotes: names with their values.
fn list(line: &[u8]) -> Vec<(&[u8], Option<&[u8]>)> {
    let (mut elements, mut from, mut is_quoted, mut is_escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b',' if !is_quoted => {
                elements.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    elements.push(&line[from..]);
    let part = |element: &'_ [u8]| element.iter().position(|byte| *byte == b'=');
    elements
        .into_iter()
        .map(<[u8]>::trim_ascii)
        .filter(|element| !element.is_empty())
        .map(|element| part(element).map_or((element, None), |at| (&element[..at], Some(&element[at + 1..]))))
        .collect()
}

/// The directives of `Surrogate-Control` (W3C Edge Architecture §2.2); none where it says nothing of caching, as `content` alone. In
/// `max-age=60+30` what follows the sum's sign is for how long more it may be used while a new one is fetched.
fn surrogate(fields: &Fields) -> Option<Directives> {
    let mut found = Directives { targeted: true, ..Directives::default() };
    for (name, value) in fields.get_all("surrogate-control").flat_map(list) {
        // Parameters name the gateway that is meant.
        let bare = |text: &'_ [u8]| text.iter().position(|byte| *byte == b';').unwrap_or(text.len());
        let (name, value) = (&name[..bare(name)], value.map(|value| value[..bare(value)].trim_ascii()));
        let sum = value.filter(|_| name.eq_ignore_ascii_case(b"max-age"));
        match sum.and_then(|sum| sum.iter().position(|byte| *byte == b'+').map(|at| (&sum[..at], &sum[at + 1..]))) {
            Some((fresh, extension)) => {
                found.take(name, Some(fresh));
                found.take(b"stale-while-revalidate", Some(extension));
            }
            None if is_surrogates(name) => found.take(name, value),
            None => {}
        }
    }
    (found.no_store || found.max_age.is_some()).then_some(found)
}

fn is_surrogates(name: &[u8]) -> bool {
    let known: [&[u8]; 4] = [b"max-age", b"no-store", b"stale-while-revalidate", b"stale-if-error"];
    known.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The members of `CDN-Cache-Control`, a dictionary of RFC 9651, with the text of their values; none where the field is missing,
/// empty or malformed, and is then ignored.
fn targeted(fields: &Fields) -> Option<Vec<(String, String)>> {
    let lines: Vec<_> = fields.get_all("cdn-cache-control").collect();
    if lines.is_empty() {
        return None;
    }
    let text = String::from_utf8(lines.join(b", ".as_slice())).ok()?;
    let mut members: Vec<(String, String)> = Vec::new();
    for member in list(text.as_bytes()) {
        let name = std::str::from_utf8(member.0).ok()?;
        let is_start = |byte: u8| byte.is_ascii_lowercase() || byte == b'*';
        let is_key = |byte: u8| is_start(byte) || byte.is_ascii_digit() || b"_-.".contains(&byte);
        let value = member.1.map(std::str::from_utf8).transpose().ok()?.unwrap_or("?1");
        // Parameters say nothing here.
        let (name, value) = (name.split(';').next().unwrap_or(name), value.split(';').next().unwrap_or(value));
        if !name.bytes().next().is_some_and(is_start) || !name.bytes().all(is_key) || !is_item(value) {
            return None;
        }
        // Of two the last counts there.
        members.retain(|(known, _)| known != name);
        if value != "?0" {
            members.push((name.to_owned(), value.to_owned()));
        }
    }
    // A duration has to be an integer there: another is as if it were not told.
    let is_told = |(name, value): &(String, String)| {
        let is_duration = matches!(name.as_str(), "max-age" | "s-maxage" | "stale-while-revalidate" | "stale-if-error");
        !is_duration || value.bytes().all(|byte| byte.is_ascii_digit())
    };
    members.retain(is_told);
    (!members.is_empty()).then_some(members)
}

/// Whether it is a bare item: a number, a string, a token or a boolean.
fn is_item(value: &str) -> bool {
    let is_number = |value: &str| {
        let digits = value.strip_prefix('-').unwrap_or(value);
        !digits.is_empty() && digits.len() <= 16 && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let is_string = value.len() >= 2 && value.starts_with('"') && value.ends_with('"');
    let is_token = value.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'*')
        && value.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"(),;<=>?@[\\]{}".contains(&byte));
    is_number(value) || is_string || is_token || value == "?0" || value == "?1"
}
