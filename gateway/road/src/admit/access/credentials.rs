//! Reads a name and a password from a request (RFC 7617), and remembers the pairs that were right lately. Neither
//! appears in logs, and no password is stored.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use sluice_message::Fields;
use tokio::time::Instant;

/// Maximum number of remembered pairs of name and password. Each user has one; bcrypt accepts several passwords for
/// one hash.
const VERIFIED_MAX: usize = 2_000;
/// Time for which a pair counts as correct without another check.
const VERIFIED_TIMEOUT: Duration = Duration::from_secs(900);

/// A name and a password, as sent.
pub(crate) struct Credentials {
    pub(crate) name: String,
    pub(crate) password: Vec<u8>,
}

impl Credentials {
    /// Credentials in the field `Authorization`, if it is the only one and of the scheme `Basic`.
    pub(crate) fn of(fields: &Fields) -> Option<Self> {
        let mut values = fields.get_all("authorization");
        let (value, None) = (values.next()?, values.next()) else { return None };
        let (scheme, rest) = value.split_at_checked(6)?;
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return None;
        }
        let pair = STANDARD.decode(rest.trim_ascii()).ok()?;
        let colon = pair.iter().position(|byte| *byte == b':')?;
        let name = String::from_utf8(pair[..colon].to_vec()).ok()?;
        Some(Credentials { name, password: pair[colon + 1..].to_vec() })
    }
}

/// Keyed hash of a name and a password; without the key, nobody can make one or find its pair.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Tag([u8; 32]);

/// Pairs of name and password that were right lately, by their tags.
pub(crate) struct CredentialCache {
    /// Key of the hash; it lives as long as the process.
    key: hmac::Key,
    until: HashMap<Tag, Instant>,
}

impl CredentialCache {
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        SystemRandom::new().fill(&mut key).expect("the system gives random bytes, as it did for TLS");
        CredentialCache { key: hmac::Key::new(hmac::HMAC_SHA256, &key), until: HashMap::new() }
    }

    pub(crate) fn tag(&self, credentials: &Credentials) -> Tag {
        let mut context = hmac::Context::with_key(&self.key);
        // The name's length first, so that no other pair is the same bytes.
        context.update(&(credentials.name.len() as u64).to_be_bytes());
        context.update(credentials.name.as_bytes());
        context.update(&credentials.password);
        let mut tag = [0; 32];
        tag.copy_from_slice(context.sign().as_ref());
        Tag(tag)
    }

    /// Whether the pair was right lately. Tags are random to others, so the time of this lookup says nothing about a
    /// password.
    pub(crate) fn contains(&self, tag: Tag, now: Instant) -> bool {
        self.until.get(&tag).is_some_and(|until| now < *until)
    }

    pub(crate) fn insert(&mut self, tag: Tag, now: Instant) {
        if self.until.len() >= VERIFIED_MAX {
            self.until.retain(|_, until| now < *until);
        }
        if self.until.len() >= VERIFIED_MAX
            && let Some(first) = self.until.iter().min_by_key(|(_, until)| **until).map(|(tag, _)| *tag)
        {
            self.until.remove(&first);
        }
        self.until.insert(tag, now + VERIFIED_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<(String, Vec<u8>)> {
        let fields: Fields = values.iter().map(|value| ("Authorization", value.as_bytes())).collect();
        Credentials::of(&fields).map(|found| (found.name, found.password))
    }

    #[test]
    fn name_ends_at_the_first_colon_and_the_scheme_is_read_in_any_case() {
        let basic = |pair: &[u8]| STANDARD.encode(pair);
        for scheme in ["Basic ", "basic ", "BASIC  "] {
            let found = of(&[&format!("{scheme}{}", basic(b"anna:a:b"))]).unwrap();
            assert_eq!(found, ("anna".to_owned(), b"a:b".to_vec()));
        }
        assert_eq!(of(&[&format!("Basic {}", basic("änna:".as_bytes()))]).unwrap(), ("änna".to_owned(), Vec::new()));
        for value in ["", "Basic", "Basic ", "Basic !", "Bearer YTpi", "Basicxx YTpi", "Digest YTpi"] {
            assert_eq!(of(&[value]), None, "{value}");
        }
        assert_eq!(of(&[&format!("Basic {}", basic(b"no colon"))]), None);
        assert_eq!(of(&[&format!("Basic {}", basic(b"\xff:x"))]), None);
        let twice = format!("Basic {}", basic(b"a:b"));
        assert_eq!(of(&[&twice, &twice]), None);
        assert_eq!(of(&[]), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_right_is_known_for_a_while_and_only_so_much_of_it() {
        let mut verified = CredentialCache::new();
        let tag = |verified: &CredentialCache, name: &str, password: &str| {
            verified.tag(&Credentials { name: name.to_owned(), password: password.into() })
        };
        let anna = tag(&verified, "anna", "secret");
        assert!(!verified.contains(anna, Instant::now()));
        verified.insert(anna, Instant::now());
        assert!(verified.contains(tag(&verified, "anna", "secret"), Instant::now()));
        for (name, password) in [("anna", "secret "), ("annas", "ecret"), ("ann", "asecret"), ("", "annasecret")] {
            assert!(!verified.contains(tag(&verified, name, password), Instant::now()), "{name} {password}");
        }
        tokio::time::advance(VERIFIED_TIMEOUT).await;
        assert!(!verified.contains(anna, Instant::now()));
        for number in 0..VERIFIED_MAX + 10 {
            let tag = tag(&verified, "anna", &number.to_string());
            verified.insert(tag, Instant::now());
            assert!(verified.contains(tag, Instant::now()));
        }
        assert_eq!(verified.until.len(), VERIFIED_MAX);
    }
}
