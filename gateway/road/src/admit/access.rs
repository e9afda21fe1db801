//! Access control: clients of allowed networks, and users with a password. It must not know what is asked for, beyond
//! the path.

mod credentials;
mod login;

use std::net::IpAddr;
use std::path::Path;
use std::rc::Rc;

use sluice_catalog::config;

use crate::unusable::Unusable;
pub(crate) use login::Login;
use sluice_wire::receive::trust::Networks;

/// Rules of `[access]`, ready to be checked.
pub(crate) struct Access {
    /// Allowed networks; empty if all may ask.
    allow: Networks,
    deny: Networks,
    /// `None` if no client needs a password.
    pub(crate) login: Option<Login>,
}

impl Access {
    /// Rules of the config; `None` if there are none, so that no request is checked.
    ///
    /// # Errors
    /// Names the entry or the file that cannot be used.
    pub(crate) fn read(settings: &config::Access) -> Result<Option<Rc<Self>>, Unusable> {
        let has_users = !settings.basic_auth.is_empty() || settings.basic_auth_file.is_some();
        if settings.allow.is_empty() && settings.deny.is_empty() && !has_users {
            return Ok(None);
        }
        Ok(Some(Rc::new(Access {
            allow: Networks::parse("access.allow", &settings.allow)?,
            deny: Networks::parse("access.deny", &settings.deny)?,
            login: if has_users { Some(Login::new(settings, users(settings)?)) } else { None },
        })))
    }

    /// Whether clients of this address are refused. `deny` takes precedence over `allow`.
    pub(crate) fn denies(&self, client: IpAddr) -> bool {
        let client = client.to_canonical();
        self.deny.contains(client) || !self.allow.is_empty() && !self.allow.contains(client)
    }
}

/// Users of the config and of the file; a name in both is the config's.
fn users(settings: &config::Access) -> Result<login::Users, Unusable> {
    let mut users = match &settings.basic_auth_file {
        Some(file) => read_users(file)?,
        None => login::Users::new(),
    };
    for (name, text) in &settings.basic_auth {
        let hash = config::PasswordHash::parse(text).map_err(|source| Unusable::User { name: name.clone(), source })?;
        users.insert(name.clone(), hash);
    }
    Ok(users)
}

fn read_users(file: &str) -> Result<login::Users, Unusable> {
    let unreadable = |source| Unusable::Users { file: file.to_owned(), source };
    let text = std::fs::read_to_string(Path::new(file)).map_err(unreadable)?;
    let mut users = login::Users::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = |fault| Unusable::UsersLine { file: file.to_owned(), line: number, fault };
        let (name, hash) = line.split_once(':').filter(|(name, _)| !name.is_empty()).ok_or_else(|| at(None))?;
        let hash = config::PasswordHash::parse(hash).map_err(|fault| at(Some(fault)))?;
        users.insert(name.to_owned(), hash);
        if users.len() > config::USERS_MAX {
            return Err(Unusable::UsersCount { file: file.to_owned() });
        }
    }
    if users.is_empty() { Err(Unusable::NoUsers { file: file.to_owned() }) } else { Ok(users) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "$2b$04$EGdrhbKUv8Oc9vGiXX0HQOxSg445d458Muh7DAHskb6QbtCvdxcie";

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn deny_goes_before_allow_and_an_empty_allow_is_everybody() {
        let denied = |allow: &[&str], deny: &[&str], client: &str| {
            let settings = config::Access { allow: texts(allow), deny: texts(deny), ..config::Access::default() };
            Access::read(&settings).unwrap().is_some_and(|access| access.denies(client.parse().unwrap()))
        };
        for (allow, deny, client, expected) in [
            (&[][..], &[][..], "192.0.2.1", false),
            (&["10.0.0.0/8"], &[], "10.1.2.3", false),
            (&["10.0.0.0/8"], &[], "::ffff:10.1.2.3", false),
            (&["10.0.0.0/8"], &[], "192.0.2.1", true),
            (&["10.0.0.0/8"], &[], "::1", true),
            (&[], &["192.0.2.0/24", "2001:db8::/32"], "192.0.2.1", true),
            (&[], &["192.0.2.0/24", "2001:db8::/32"], "::ffff:192.0.2.1", true),
            (&[], &["192.0.2.0/24", "2001:db8::/32"], "2001:db8::7", true),
            (&[], &["192.0.2.0/24", "2001:db8::/32"], "192.0.3.1", false),
            (&["10.0.0.0/8"], &["10.0.0.7"], "10.0.0.7", true),
            (&["10.0.0.0/8"], &["10.0.0.7"], "10.0.0.8", false),
        ] {
            assert_eq!(denied(allow, deny, client), expected, "{allow:?} {deny:?} {client}");
        }
    }

    #[test]
    fn nothing_is_looked_at_where_nothing_is_configured() {
        assert!(Access::read(&config::Access::default()).unwrap().is_none());
    }

    #[test]
    fn file_of_users_is_read_as_htpasswd_writes_it_and_a_fault_is_told_by_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("users");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read_users(path.to_str().unwrap()).map(|users| users.into_keys().collect::<Vec<_>>())
        };
        let names = read(&format!("# staging\n\nanna:{HASH}\r\n  bo b:{}\n", HASH.replace("2b", "2y"))).unwrap();
        assert_eq!(names, ["anna", "bo b"]);
        for (text, says) in [
            (format!("anna:{HASH}\nbob:secret\n"), ":2, which"),
            (format!("anna {HASH}\n"), ":1, which"),
            (format!(":{HASH}\n"), ":1, which"),
            ("# nobody\n".to_owned(), "no user"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
            assert_eq!(error.key(), "access.basic_auth_file");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        assert!(read_users("/surely/not/there").unwrap_err().to_string().contains("/surely/not/there"));
    }
}
