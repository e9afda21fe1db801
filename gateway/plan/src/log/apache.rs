//! Apache's access log: `combined` or `common` with `%D` behind it, or a `LogFormat`. Its date is that of the request's
//! beginning.

use super::pattern::{Builder, Field, FormatError, Names, Pattern};
use super::time::SECOND_US;

const NAMES: Names = Names { date: "%t", request: "\\\"%r\\\"", time: "%D" };

/// Formats that are recognised.
pub(super) const KNOWN: [&str; 2] =
    [r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D"#, r#"%h %l %u %t "%r" %>s %b %D"#];

/// Takes a `LogFormat` apart.
pub(super) fn pattern(format: &str) -> Result<Pattern, FormatError> {
    let mut builder = Builder::new();
    let mut rest = format.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match (*byte, rest) {
            (b'\\', [quote @ (b'"' | b'\\'), after @ ..]) => {
                builder.text(*quote);
                rest = after;
                continue;
            }
            (b'%', [b'%', after @ ..]) => {
                builder.text(b'%');
                rest = after;
                continue;
            }
            (b'%', _) => {}
            (text, _) => {
                builder.text(text);
                continue;
            }
        }
        let flags = rest.iter().position(|byte| !matches!(byte, b'<' | b'>' | b'!' | b',' | b'0'..=b'9'));
        rest = &rest[flags.unwrap_or(rest.len())..];
        let mut name: &[u8] = b"";
        if let [b'{', after @ ..] = rest {
            let end = after.iter().position(|byte| *byte == b'}').ok_or(FormatError::Unknown)?;
            (name, rest) = (&after[..end], &after[end + 1..]);
        }
        let [directive, after @ ..] = rest else { return Err(FormatError::Unknown) };
        rest = after;
        let field = match (*directive, name) {
            (b'v' | b'V', _) => Field::Host,
            (b's', _) => Field::Status,
            (b'i', name) if name.eq_ignore_ascii_case(b"host") => Field::Host,
            (b'm', _) => Field::Method,
            (b'U', _) => Field::Target,
            (b'r', _) => Field::Request,
            (b't', b"sec") => Field::EpochOf(SECOND_US),
            (b't', b"msec") => Field::EpochOf(1_000),
            (b't', b"usec") => Field::EpochOf(1),
            (b't', b"") => {
                builder.text(b'[');
                builder.field(Field::Common)?;
                builder.text(b']');
                continue;
            }
            (b'D', _) | (b'T', b"us") => Field::TimeOf(1),
            (b'T', b"ms") => Field::TimeOf(1_000),
            (b'T', _) => Field::TimeOf(SECOND_US),
            _ => Field::Other,
        };
        builder.field(field)?;
    }
    builder.build(false, &NAMES)
}
