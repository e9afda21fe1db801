//! The answer of the port that redirects to HTTPS. It leads to the host that the client asked for, and nowhere else.

use sluice_catalog::errors::Code;
use sluice_message::RequestHead;

use super::Response;
use sluice_wire::receive::failure::Failure;
use sluice_wire::receive::failure::Refusal;

/// Redirect with status 308, which keeps method and body (RFC 9110 §15.4.9), to the same target by HTTPS at `port`.
///
/// # Errors
/// Where there is no such target: `OPTIONS *`, and HTTP/1.0 without `Host`.
pub(crate) fn to_https(head: &RequestHead, port: u16) -> Result<Response, Failure> {
    let refused = |code, detail| Err(Failure::Refused(Refusal { detail, ..Refusal::of(code) }));
    if head.authority.is_empty() {
        return refused(Code::HostInvalid, "without Host there is nowhere to redirect to");
    }
    if !head.path_and_query.starts_with('/') {
        return refused(Code::TargetInvalid, "only a path can be redirected");
    }
    let host = host_of(&head.authority);
    let port = if port == 443 { String::new() } else { format!(":{port}") };
    let location = format!("https://{host}{port}{}", head.path_and_query);
    let mut response = Response::short(308, "text/plain; charset=utf-8", format!("{location}\n"));
    response.head.fields.push("Location", location);
    Ok(response)
}

/// Authority without its port.
fn host_of(authority: &str) -> &str {
    let after_address = authority.rfind(']').map_or(0, |end| end + 1);
    let end = authority[after_address..].find(':').map_or(authority.len(), |colon| after_address + colon);
    &authority[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(authority: &str, target: &str, port: u16) -> Option<String> {
        let head = RequestHead {
            authority: authority.to_owned(),
            path_and_query: target.to_owned(),
            ..RequestHead::default()
        };
        let response = to_https(&head, port).ok()?;
        assert_eq!(response.head.status, 308);
        response.head.fields.get("location").map(|value| String::from_utf8(value.to_vec()).unwrap())
    }

    #[test]
    fn a_redirect_keeps_host_and_target_and_names_the_port_of_https() {
        let to = |authority, target, port| location(authority, target, port).unwrap();
        assert_eq!(to("a.example", "/b?c=/d", 443), "https://a.example/b?c=/d");
        assert_eq!(to("a.example:80", "/", 8443), "https://a.example:8443/");
        assert_eq!(to("[::1]:8080", "/", 443), "https://[::1]/");
        assert_eq!(to("[::1]", "/", 8443), "https://[::1]:8443/");
        assert_eq!(to("a.example", "//b.example/x", 443), "https://a.example//b.example/x");
    }

    #[test]
    fn what_names_no_host_or_no_path_is_refused() {
        assert_eq!(location("", "/", 443), None);
        assert_eq!(location("a.example", "*", 443), None);
    }
}
