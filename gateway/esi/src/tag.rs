//! One tag: its name, its attributes, and what they say. Pure, on a tag that is whole.

/// A place for another answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// URL that the page asks for, as it writes it; most often a path.
    pub src: String,
    /// URL for the case that the first one fails.
    pub alt: Option<String>,
}

/// Kinds of tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Include(Include),
    /// `<esi:remove>`: what follows goes, up to its end.
    Remove,
    /// Nothing comes of it: a comment, or an end that stands alone.
    Nothing,
}

/// Reads a tag from its `<` to its `>`; `None` where it is none of these, or not well formed.
pub(crate) fn read(tag: &[u8]) -> Option<Tag> {
    let inner = tag.strip_prefix(b"<")?.strip_suffix(b">")?;
    if let Some(name) = inner.strip_prefix(b"/esi:") {
        return matches!(name.trim_ascii_end(), b"include" | b"remove" | b"comment").then_some(Tag::Nothing);
    }
    let inner = inner.strip_prefix(b"esi:")?;
    let (inner, is_closed) = inner.strip_suffix(b"/").map_or((inner, false), |inner| (inner, true));
    let end = inner.iter().position(u8::is_ascii_whitespace).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    let attributes = attributes(rest)?;
    match name {
        b"include" => {
            let value = |wanted: &[u8]| attributes.iter().find(|(name, _)| *name == wanted).map(|(_, value)| *value);
            let src = decoded(value(b"src")?)?;
            let alt = value(b"alt").map(decoded);
            let alt = if let Some(alt) = alt { Some(alt?) } else { None };
            (!src.is_empty()).then_some(Tag::Include(Include { src, alt: alt.filter(|alt| !alt.is_empty()) }))
        }
        b"comment" => Some(Tag::Nothing),
        b"remove" => Some(if is_closed { Tag::Nothing } else { Tag::Remove }),
        _ => None,
    }
}

/// Names with their values, which are in quotes of either kind. A name without a value has an empty one; a name that stands
/// twice is a mistake.
fn attributes(mut rest: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let mut found: Vec<(&[u8], &[u8])> = Vec::new();
    loop {
        let trimmed = rest.trim_ascii_start();
        if trimmed.is_empty() {
            return Some(found);
        }
        if trimmed.len() == rest.len() {
            // No white space before it.
            return None;
        }
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.-".contains(byte);
        let end = trimmed.iter().position(|byte| !is_name(byte)).unwrap_or(trimmed.len());
        let (name, after) = trimmed.split_at(end);
        if name.is_empty() || found.iter().any(|(known, _)| *known == name) {
            return None;
        }
        let Some(value) = after.trim_ascii_start().strip_prefix(b"=") else {
            found.push((name, b""));
            rest = after;
            continue;
        };
        let (quote, value) = value.trim_ascii_start().split_first()?;
        if !b"\"'".contains(quote) {
            return None;
        }
        let end = value.iter().position(|byte| byte == quote)?;
        found.push((name, &value[..end]));
        rest = &value[end + 1..];
    }
}

/// The text of an attribute's value, without the white space around it. What is no entity stays as it is: many write `&` alone.
fn decoded(value: &[u8]) -> Option<String> {
    let mut rest = std::str::from_utf8(value).ok()?.trim();
    let mut text = String::with_capacity(rest.len());
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let entity = rest[1..].find(';').and_then(|end| Some((of_entity(&rest[1..=end])?, end + 2)));
        let (decoded, len) = entity.unwrap_or(('&', 1));
        text.push(decoded);
        rest = &rest[len..];
    }
    text.push_str(rest);
    Some(text)
}

/// `amp`, `lt`, `gt`, `quot`, `apos`, `#39` or `#x27`.
fn of_entity(name: &str) -> Option<char> {
    let code = match name {
        "amp" => return Some('&'),
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => name.strip_prefix('#')?,
    };
    let (digits, radix) = code.strip_prefix(['x', 'X']).map_or((code, 10), |digits| (digits, 16));
    let is_number = !digits.is_empty() && digits.len() <= 8 && digits.chars().all(|digit| digit.is_digit(radix));
    if is_number { char::from_u32(u32::from_str_radix(digits, radix).ok()?) } else { None }
}
