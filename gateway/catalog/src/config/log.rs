//! Checks of the keys of `[log]`. This module must not know how lines are written.

use super::Log;

/// Maximum number of headers in the access log.
const HEADERS_MAX: usize = 32;

/// Calls `problem` with a key and what is wrong with it.
pub(super) fn check(log: &Log, problem: &mut impl FnMut(&'static str, String)) {
    for name in log.headers.iter().filter(|name| !is_header(name)) {
        problem(
            "log.headers",
            format!("must contain names of headers in lower case like \"user-agent\", not {name:?}"),
        );
    }
    let repeated = log.headers.iter().enumerate().find(|(at, name)| log.headers[..*at].contains(name));
    if let Some((_, name)) = repeated {
        problem("log.headers", format!("must name {name:?} once"));
    }
    if log.headers.len() > HEADERS_MAX {
        problem("log.headers", format!("must contain at most {HEADERS_MAX} names"));
    }
    for word in log.query_masked.iter().filter(|word| !is_word(word)) {
        problem(
            "log.query_masked",
            format!("must contain words of lower-case letters and digits like \"token\", not {word:?}"),
        );
    }
}

fn is_header(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_token)
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}
