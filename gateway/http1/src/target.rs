//! The request target (RFC 9112 §3.2), brought to origin form.

use sluice_message::bytes::ascii;
use sluice_message::{Method, Reject, Rejection};

fn invalid(detail: &'static str) -> Rejection {
    Rejection::new(Reject::TargetInvalid, detail)
}

/// The target in origin form, or `*`. `host` is the validated `Host`; `target` has passed [`sluice_message::check_target`].
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
    if sluice_message::authority(authority).map_err(invalid)? != host {
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
