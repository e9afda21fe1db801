//! Classes of bytes of RFC 9110 §5.6 and the few ways to look at a slice that the parsers share.

/// The byte is not a token byte.
const NOT_TOKEN: u8 = 0x80;
/// The byte is `_`: a token byte, but one that is an alias of `-` for some readers.
const UNDERSCORE: u8 = 0x01;

/// For each byte, what keeps it from being a plain token byte; 0 where nothing does.
const TOKEN_FLAWS: [u8; 256] = {
    let mut flaws = [NOT_TOKEN; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends before 256")]
        let b = byte as u8;
        if b.is_ascii_alphanumeric()
            || matches!(b, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
        {
            flaws[byte] = if b == b'_' { UNDERSCORE } else { 0 };
        }
        byte += 1;
    }
    flaws
};

/// What a would-be field name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
    Token,
    TokenWithUnderscore,
    NoToken,
}

pub(crate) fn classify_name(name: &[u8]) -> Name {
    let flaws = name.iter().fold(0, |flaws, &b| flaws | TOKEN_FLAWS[usize::from(b)]);
    if name.is_empty() || flaws & NOT_TOKEN != 0 {
        Name::NoToken
    } else if flaws & UNDERSCORE != 0 {
        Name::TokenWithUnderscore
    } else {
        Name::Token
    }
}

pub(crate) fn is_token_byte(b: u8) -> bool {
    TOKEN_FLAWS[usize::from(b)] & NOT_TOKEN == 0
}

pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&b| is_token_byte(b))
}

/// True if there is a control byte other than HTAB, CR and LF. Without an early exit, so that it becomes vector code.
pub(crate) fn has_control(bytes: &[u8]) -> bool {
    let found = bytes.iter().fold(0_u8, |found, &b| {
        found
            | (u8::from(b < 0x20) & u8::from(b != b'\t') & u8::from(b != b'\r') & u8::from(b != b'\n'))
            | u8::from(b == 0x7f)
    });
    found != 0
}

/// Without the optional white space (SP, HTAB) around it.
pub(crate) fn trim_ows(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// Without the spaces around it. Fields that decide a message's length are read with this one: HTAB there is an attempt.
pub(crate) fn trim_spaces(mut bytes: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' '] = bytes {
        bytes = rest;
    }
    bytes
}

/// ASCII bytes as text. Callers have checked that they are ASCII; were they not, the text is empty.
pub(crate) fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_bytes_are_those_of_rfc_9110() {
        for b in 0..=255_u8 {
            let expected = b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
            assert_eq!(is_token_byte(b), expected, "byte {b:#04x}");
        }
    }

    #[test]
    fn names_are_told_apart() {
        assert_eq!(classify_name(b"x-a"), Name::Token);
        assert_eq!(classify_name(b"x_a"), Name::TokenWithUnderscore);
        for bad in [&b""[..], b"x a", b"x_a ", b"x:", b"\xc3\xa9"] {
            assert_eq!(classify_name(bad), Name::NoToken, "{bad:?}");
        }
    }

    #[test]
    fn control_bytes_are_found_wherever_they_stand() {
        for b in 0..=255_u8 {
            let expected = (b < 0x20 && !b"\t\r\n".contains(&b)) || b == 0x7f;
            for at in [0, 17, 63] {
                let mut line = [b'x'; 64];
                line[at] = b;
                assert_eq!(has_control(&line), expected, "byte {b:#04x} at {at}");
            }
        }
    }
}
