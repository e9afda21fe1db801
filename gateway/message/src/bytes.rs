//! Classes of bytes of RFC 9110 §5.6 and the few ways to look at a slice that the parsers share.

/// Table that says of each byte whether it may stand in a token.
const IS_TOKEN_BYTE: [bool; 256] = {
    let mut is_token_byte = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the loop ends before 256")]
        let b = byte as u8;
        is_token_byte[byte] = b.is_ascii_alphanumeric()
            || matches!(b, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~');
        byte += 1;
    }
    is_token_byte
};

/// True for a byte of a token.
pub fn is_token_byte(b: u8) -> bool {
    IS_TOKEN_BYTE[usize::from(b)]
}

/// True for a token, such as a method or the name of a field. Without an early exit, as nearly all of them are tokens.
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().fold(true, |is_token, &b| is_token & is_token_byte(b))
}

/// True if there is a control byte other than HTAB, CR and LF. Without an early exit, so that it becomes vector code.
pub fn has_control(bytes: &[u8]) -> bool {
    let found = bytes.iter().fold(0_u8, |found, &b| {
        found
            | (u8::from(b < 0x20) & u8::from(b != b'\t') & u8::from(b != b'\r') & u8::from(b != b'\n'))
            | u8::from(b == 0x7f)
    });
    found != 0
}

/// Bytes without the optional white space (SP, HTAB) around them.
pub fn trim_ows(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// Bytes without the spaces around them. Fields that decide a message's length are read with this one: HTAB there is an
/// attempt.
pub fn trim_spaces(mut bytes: &[u8]) -> &[u8] {
    while let [b' ', rest @ ..] = bytes {
        bytes = rest;
    }
    while let [rest @ .., b' '] = bytes {
        bytes = rest;
    }
    bytes
}

/// ASCII bytes as text. Callers have checked that they are ASCII; were they not, the text is empty.
pub fn ascii(bytes: &[u8]) -> &str {
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
    fn a_token_has_a_byte_and_no_other_than_its_own() {
        assert!(is_token(b"x-a") && is_token(b"x_a"));
        for bad in [&b""[..], b"x a", b"x_a ", b"x:", b"\xc3\xa9"] {
            assert!(!is_token(bad), "{bad:?}");
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
