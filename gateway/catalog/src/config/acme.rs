//! Forms of what `[acme]` says, and keys that must fit each other. It must not know how a CA is asked.

use std::net::IpAddr;

use super::Config;
use super::checks::is_host_name;

/// Maximum number of names in one config.
const NAMES_MAX: usize = 100;

pub(super) fn check(config: &Config, problem: &mut impl FnMut(&'static str, String)) {
    let acme = &config.acme;
    if acme.names.len() > NAMES_MAX {
        problem("acme.names", format!("must contain at most {NAMES_MAX} names, not {}", acme.names.len()));
    }
    for (at, name) in acme.names.iter().enumerate().take(NAMES_MAX) {
        if let Some(fault) = name_fault(name, acme.ca_file.is_some()) {
            problem("acme.names", format!("contains {name:?}, {fault}"));
        } else if acme.names[..at].iter().any(|before| before.eq_ignore_ascii_case(name)) {
            problem("acme.names", format!("contains {name:?} twice; keep one of them"));
        }
    }
    if !acme.names.is_empty() && !acme.terms_agreed {
        let text = "must be true for acme.names: read the terms of service of the CA (Let's Encrypt: \
                    https://letsencrypt.org/repository/) and agree to them with this key";
        problem("acme.terms_agreed", text.to_owned());
    }
    if !is_directory(&acme.directory) {
        let text = format!("must be an address like https://ca.example/acme/directory, not {:?}", acme.directory);
        problem("acme.directory", text);
    }
    if acme.contact.as_deref().is_some_and(|contact| !is_address(contact)) {
        let written = acme.contact.as_deref().unwrap_or_default();
        problem("acme.contact", format!("must be an e-mail address like ops@shop.example, not {written:?}"));
    }
    match (&acme.eab_key_id, &acme.eab_hmac_key) {
        (Some(_), None) => problem("acme.eab_key_id", "also needs acme.eab_hmac_key".to_owned()),
        (None, Some(_)) => problem("acme.eab_hmac_key", "also needs acme.eab_key_id".to_owned()),
        _ => {}
    }
    if acme.dir.as_deref() == Some("") {
        problem("acme.dir", "must not be empty".to_owned());
    }
}

/// Fault of a name, as the words after `contains "…",`.
fn name_fault(name: &str, is_own_ca: bool) -> Option<&'static str> {
    if name.starts_with("*.") {
        return Some(
            "and a wildcard needs the challenge dns-01, which Sluice does not have. Name each host, or get that certificate with \
             another tool and name its files in server.certificates",
        );
    }
    if name.parse::<IpAddr>().is_ok() {
        return Some("which is an address. Use a host name that resolves to it");
    }
    if !is_host_name(name) || name.contains('_') {
        return Some(
            "which is not a host name. Write it like shop.example, without scheme, port and final dot, other \
             alphabets as xn--…",
        );
    }
    // A CA of one's own may know names that nobody else does.
    if !name.contains('.') && !is_own_ca {
        return Some("which has no dot. A public CA issues certificates only for names like shop.example");
    }
    None
}

fn is_directory(text: &str) -> bool {
    let rest = text.strip_prefix("https://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !authority.ends_with(']') => {
            if port.parse::<u16>().is_err() {
                return false;
            }
            host
        }
        _ => authority,
    };
    let is_address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok());
    (is_address || is_host_name(host)) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn is_address(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b',' | b':' | b'?' | b'/'));
    is_plain && text.split_once('@').is_some_and(|(user, host)| !user.is_empty() && is_host_name(host))
}

/// Keys without a name to ask for.
pub(super) fn warning(config: &Config) -> Option<String> {
    let acme = &config.acme;
    let is_idle = acme.names.is_empty() && (acme.terms_agreed || acme.contact.is_some() || acme.dir.is_some());
    let text = "[acme] has no effect without acme.names; name the hosts that need a certificate, or remove it.";
    is_idle.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_hosts_that_a_ca_may_ask_for() {
        for name in ["shop.example", "WWW.Shop.Example", "xn--bcher-kva.example", "a.b.c.d"] {
            assert_eq!(name_fault(name, false), None, "{name}");
        }
        for (name, part) in [
            ("*.shop.example", "dns-01"),
            ("shop", "no dot"),
            ("127.0.0.1", "address"),
            ("::1", "address"),
            ("https://shop.example", "not a host name"),
            ("shop.example.", "not a host name"),
            ("bücher.example", "not a host name"),
            ("a_b.example", "not a host name"),
            ("", "not a host name"),
            ("..", "not a host name"),
        ] {
            assert!(name_fault(name, false).is_some_and(|fault| fault.contains(part)), "{name}");
        }
        assert_eq!(name_fault("shop", true), None);
    }

    #[test]
    fn directories_and_addresses_have_their_forms() {
        for text in ["https://ca.example/dir", "https://127.0.0.1:14000/dir", "https://[::1]:9/", "https://localhost"] {
            assert!(is_directory(text), "{text}");
        }
        for text in
            ["http://ca.example/dir", "ca.example", "https://", "https://ca.example:x/", "https://a b/", "https://u@h/"]
        {
            assert!(!is_directory(text), "{text}");
        }
        assert!(is_address("ops@shop.example"));
        for text in ["mailto:ops@shop.example", "ops", "@shop.example", "a@b, c@d", "a@b?x"] {
            assert!(!is_address(text), "{text}");
        }
    }
}
