//! The request target (RFC 9112 §3.2), brought to origin form.
//!
//! Browsers send some bytes raw that RFC 3986 would have escaped (`|`, `[`, `{`, `"` and the like); those pass, as they
//! would reach the app without a gateway. White space, control bytes, bytes beyond ASCII and `#` do not.

use crate::bytes::ascii;
use crate::host;
use crate::method::Method;
use crate::reject::{Reject, Rejection};

fn invalid(detail: &'static str) -> Rejection {
    Rejection::new(Reject::TargetInvalid, detail)
}

/// Checks the bytes, which decides nothing about the form yet.
pub(crate) fn check_bytes(target: &[u8]) -> Result<(), Rejection> {
    if target.is_empty() {
        return Err(invalid("the target is empty"));
    }
    let found =
        target.iter().fold(0_u8, |found, &b| found | u8::from(b <= b' ') | u8::from(b >= 0x7f) | u8::from(b == b'#'));
    if found == 0 { Ok(()) } else { Err(invalid("a byte that is not allowed in the target")) }
}

/// The target in origin form, or `*`. `host` is the validated `Host`; `target` has passed [`check_bytes`].
pub(crate) fn to_origin_form(target: &[u8], method: &Method, host: &str) -> Result<String, Rejection> {
    match target {
        [b'/', ..] => Ok(ascii(target).to_owned()),
        b"*" if *method == Method::Options => Ok("*".to_owned()),
        b"*" => Err(invalid("* is for OPTIONS only")),
        _ => from_absolute_form(target, method, host),
    }
}

fn from_absolute_form(target: &[u8], method: &Method, host: &str) -> Result<String, Rejection> {
    let rest = strip_scheme(target).ok_or(invalid("neither a path nor an http or https URL"))?;
    let authority_end = rest.iter().position(|b| matches!(b, b'/' | b'?')).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_end);
    if authority.contains(&b'@') {
        return Err(invalid("user information in the target"));
    }
    // The one that names the resource and the one that the app reads must be the same.
    if host::authority(authority).map_err(invalid)? != host {
        return Err(invalid("the target names another host than Host"));
    }
    Ok(match path {
        [b'/', ..] => ascii(path).to_owned(),
        [] if *method == Method::Options => "*".to_owned(),
        _ => format!("/{}", ascii(path)),
    })
}

fn strip_scheme(target: &[u8]) -> Option<&[u8]> {
    [&b"http://"[..], b"https://"].into_iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })
}
