//! Checks of users, hashes and paths in `[access]`. This module must not know a password, and its messages quote no hash.

use super::rate::path_fault;
use super::{Access, Config};

/// Maximum number of users, as each login is compared with all of them.
pub const USERS_MAX: usize = 1_000;
/// Maximum cost of a password hash. Two more double it twice, and 14 takes about a second.
const COST_MAX: u32 = 14;
const COST_MIN: u32 = 4;
const SALT_AND_HASH_LEN: usize = 53;

/// A bcrypt hash of the right form.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(Box<str>);

/// Reason why a text is no hash of a password. Leaves out the text, which may be the password itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashFault {
    /// The text is something else.
    #[error("no bcrypt hash ($2b$…). Make one with `sluice access hash` or `htpasswd -B`")]
    Form,
    /// The cost is out of bounds.
    #[error("a bcrypt hash of a cost that is not {COST_MIN} to {COST_MAX}. Make one with `sluice access hash`")]
    Cost,
}

impl PasswordHash {
    /// Reads `$2b$12$` and 53 characters; `$2a$` and `$2y$` are the same.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, HashFault> {
        let rest = ["$2a$", "$2b$", "$2y$"].iter().find_map(|start| text.strip_prefix(start)).ok_or(HashFault::Form)?;
        let (cost, rest) = rest.split_once('$').ok_or(HashFault::Form)?;
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/');
        if rest.len() != SALT_AND_HASH_LEN || !rest.bytes().all(is_known) || cost.len() != 2 || cost.starts_with('+') {
            return Err(HashFault::Form);
        }
        let cost: u32 = cost.parse().map_err(|_| HashFault::Form)?;
        if !(COST_MIN..=COST_MAX).contains(&cost) {
            return Err(HashFault::Cost);
        }
        Ok(Self(text.into()))
    }

    /// The hash as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("PasswordHash(…)")
    }
}

pub(super) fn check(access: &Access, problem: &mut impl FnMut(&'static str, String)) {
    if access.basic_auth.len() > USERS_MAX {
        problem(
            "access.basic_auth",
            format!("must contain at most {USERS_MAX} users, not {}", access.basic_auth.len()),
        );
    }
    for (name, hash) in &access.basic_auth {
        // RFC 7617 §2: the first colon ends the name.
        if name.is_empty() || name.contains(|sign: char| sign == ':' || sign.is_control()) {
            problem("access.basic_auth", format!("contains the user {name:?}, who needs a name without ':'"));
        }
        if let Err(fault) = PasswordHash::parse(hash) {
            problem("access.basic_auth", format!("has for {name:?} {fault}"));
        }
    }
    for path in &access.basic_auth_exempt {
        if let Some(fault) = path_fault(path) {
            problem("access.basic_auth_exempt", format!("contains {path:?}, which must {fault}"));
        }
    }
}

/// Warning about passwords that others can read on their way, judging by the config alone.
pub(super) fn warning(config: &Config) -> Option<String> {
    let has_users = !config.access.basic_auth.is_empty() || config.access.basic_auth_file.is_some();
    let is_plain = !config.is_tls() && config.server.trusted_peers.is_empty();
    let text = "access.basic_auth has users, but the config has no TLS for clients: everybody on the network path can read the \
                passwords. Set server.tls_cert and server.tls_key, or name the proxy that ends TLS in \
                server.trusted_peers.";
    (has_users && is_plain).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "$2b$04$EGdrhbKUv8Oc9vGiXX0HQOxSg445d458Muh7DAHskb6QbtCvdxcie";

    #[test]
    fn bcrypt_hashes_of_a_bearable_cost_are_taken() {
        for text in [HASH, &HASH.replace("2b", "2y"), &HASH.replace("2b", "2a"), &HASH.replace("$04$", "$14$")] {
            assert!(PasswordHash::parse(text).is_ok(), "{text}");
        }
        for cost in ["$03$", "$15$", "$31$"] {
            assert_eq!(PasswordHash::parse(&HASH.replace("$04$", cost)), Err(HashFault::Cost), "{cost}");
        }
        for text in [
            "",
            "secret",
            "$apr1$x$y",
            "{SHA}x",
            "$2x$04$",
            &HASH[..59],
            &format!("{HASH}x"),
            &HASH.replace("$04$", "$+4$"),
        ] {
            assert_eq!(PasswordHash::parse(text), Err(HashFault::Form), "{text}");
        }
        assert!(!format!("{:?}", PasswordHash::parse(HASH)).contains("EGdr"));
    }
}
