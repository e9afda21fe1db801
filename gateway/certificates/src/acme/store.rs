//! The folder of one CA: account, certificates, answers to challenges, and what failed. Gateways that share it see the same, and one of
//! them at a time asks the CA. It must not know what is in a certificate.
//!
//! Every file is private, and replaced in one step, so that readers find the old one or the new one.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::schedule::Failures;

const CERTIFICATES: &str = "certificates";
const CHALLENGES: &str = "challenges";
const ACCOUNT: &str = "account.json";
const FAILURES: &str = "failures.json";
const LOCK: &str = "lock";
/// Maximum size of a file in the directory, bytes.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum size of the answer to a challenge, bytes. A token and the thumbprint of a key.
const ANSWER_BYTES_MAX: u64 = 1_024;
/// Bytes that are written to see whether there is room, before the CA is asked: more than a certificate takes.
const PROBE_BYTES: usize = 64 * 1024;

/// The folder of one CA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

/// The right to ask the CA, until it is dropped.
#[must_use]
pub(crate) struct Turn(#[expect(dead_code, reason = "held for its lock")] File);

/// Reason why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder is another user's.
    #[error("{} belongs to user {owner}, not to {user}. Name another with acme.dir", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// Owner of the folder.
        owner: u32,
        /// User of this process.
        user: u32,
    },
    /// Others may look into the folder, which holds private keys.
    #[error("{} holds private keys and is open to other users (mode {mode:04o}). Close it with chmod 700", path.display())]
    Open {
        /// The folder.
        path: PathBuf,
        /// Permissions of the folder.
        mode: u32,
    },
    /// The operating system refuses.
    #[error("{} cannot be used: {error}. Name a writable directory with acme.dir, on a disk with free \
        space", path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
}

impl Store {
    /// The store in this folder, whether or not the folder exists.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Creates what is missing of the folder, private.
    ///
    /// # Errors
    /// When the folder cannot be created, is another user's, or is open to others.
    pub fn create(&self) -> Result<(), StoreError> {
        for path in [self.folder.clone(), self.folder.join(CERTIFICATES), self.folder.join(CHALLENGES)] {
            let failed = |error| StoreError::Io { path: path.clone(), error };
            DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(failed)?;
            let found = fs::metadata(&path).map_err(failed)?;
            let (user, mode) = (nix::unistd::geteuid().as_raw(), found.mode() & 0o7777);
            if found.uid() != user {
                return Err(StoreError::NotOurs { path, owner: found.uid(), user });
            }
            if mode & 0o077 != 0 {
                return Err(StoreError::Open { path, mode });
            }
        }
        Ok(())
    }

    /// The file with key and certificate chain of this name, which may be missing. `name` is a host name in lower case.
    pub fn certificate(&self, name: &str) -> PathBuf {
        self.folder.join(CERTIFICATES).join(format!("{name}.pem"))
    }

    /// The file with key and certificate that answer the challenge tls-alpn-01 for this name, while there is one.
    pub fn challenge_certificate(&self, name: &str) -> PathBuf {
        self.folder.join(CHALLENGES).join(format!("{name}.pem"))
    }

    /// The answer to the challenge http-01 with this token, while there is one. Blocks.
    pub fn challenge_answer(&self, token: &str) -> Option<String> {
        is_token(token).then(|| read(&self.folder.join(CHALLENGES).join(token), ANSWER_BYTES_MAX).ok()).flatten()
    }

    /// The right to ask; `None` where another gateway has it.
    pub(crate) fn turn(&self) -> Result<Option<Turn>, StoreError> {
        let path = self.folder.join(LOCK);
        let opened = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = opened.map_err(|error| StoreError::Io { path: path.clone(), error })?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Turn(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(StoreError::Io { path, error }),
        }
    }

    /// Whether there is room for what the CA would give.
    pub(crate) fn probe(&self) -> Result<(), StoreError> {
        let path = self.folder.join(CERTIFICATES).join("room");
        self.replace(&path, &vec![b'\n'; PROBE_BYTES])?;
        fs::remove_file(&path).map_err(|error| StoreError::Io { path, error })
    }

    pub(crate) fn account(&self) -> Option<String> {
        read(&self.folder.join(ACCOUNT), FILE_BYTES_MAX).ok()
    }

    pub(crate) fn keep_account(&self, text: &str) -> Result<(), StoreError> {
        self.replace(&self.folder.join(ACCOUNT), text.as_bytes())
    }

    /// Puts an account aside that the CA does not know.
    pub(crate) fn drop_account(&self) -> Result<(), StoreError> {
        let path = self.folder.join(ACCOUNT);
        fs::rename(&path, path.with_extension("json.unknown")).map_err(|error| StoreError::Io { path, error })
    }

    pub(crate) fn keep_certificate(&self, name: &str, pem: &str) -> Result<(), StoreError> {
        self.replace(&self.certificate(name), pem.as_bytes())
    }

    pub(crate) fn offer_answer(&self, token: &str, text: &str) -> Result<(), StoreError> {
        let path = self.folder.join(CHALLENGES).join(token);
        if !is_token(token) {
            let error = io::Error::new(io::ErrorKind::InvalidData, "the CA's token is not valid (RFC 8555 §8.3)");
            return Err(StoreError::Io { path: self.folder.join(CHALLENGES), error });
        }
        self.replace(&path, text.as_bytes())
    }

    pub(crate) fn offer_certificate(&self, name: &str, pem: &str) -> Result<(), StoreError> {
        self.replace(&self.challenge_certificate(name), pem.as_bytes())
    }

    /// Takes away all answers to challenges, those of a gateway that was killed as well.
    pub(crate) fn clear_challenges(&self) {
        let entries = fs::read_dir(self.folder.join(CHALLENGES)).into_iter().flatten().flatten();
        for entry in entries {
            let _ = fs::remove_file(entry.path());
        }
    }

    /// Latest failures by name; nothing if that cannot be read.
    pub(crate) fn failures(&self) -> BTreeMap<String, Failures> {
        let text = read(&self.folder.join(FAILURES), FILE_BYTES_MAX).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub(crate) fn keep_failures(&self, failures: &BTreeMap<String, Failures>) -> Result<(), StoreError> {
        let path = self.folder.join(FAILURES);
        let text = serde_json::to_string(failures)
            .map_err(|error| StoreError::Io { path: path.clone(), error: error.into() })?;
        self.replace(&path, text.as_bytes())
    }

    fn replace(&self, path: &Path, content: &[u8]) -> Result<(), StoreError> {
        let fresh = self.folder.join(format!("fresh.{}", std::process::id()));
        let written = (|| {
            // Whatever stands there is what a killed gateway left.
            let _ = fs::remove_file(&fresh);
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            file.write_all(content)?;
            // A key that the CA has signed must not be lost with the power.
            file.sync_all()?;
            fs::rename(&fresh, path)
        })();
        written.map_err(|error| {
            let _ = fs::remove_file(&fresh);
            StoreError::Io { path: path.to_owned(), error }
        })
    }
}

fn read(path: &Path, bytes_max: u64) -> io::Result<String> {
    if fs::metadata(path)?.len() > bytes_max {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    fs::read_to_string(path)
}

/// RFC 8555 §8.3: characters of base64url. A name of a file below the folder, and of none else.
fn is_token(token: &str) -> bool {
    (16..=128).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn store() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("acme/ca-test"));
        store.create().unwrap();
        (dir, store)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn nobody_else_may_read_what_is_kept() {
        let (dir, store) = store();
        store.keep_account("{}").unwrap();
        store.keep_certificate("shop.example", "PEM").unwrap();
        assert_eq!(mode(&dir.path().join("acme")), 0o700);
        assert_eq!(mode(&store.folder.join(CERTIFICATES)), 0o700);
        assert_eq!(mode(&store.folder.join(ACCOUNT)), 0o600);
        assert_eq!(mode(&store.certificate("shop.example")), 0o600);
        fs::set_permissions(&store.folder, fs::Permissions::from_mode(0o750)).unwrap();
        assert!(matches!(store.create(), Err(StoreError::Open { mode: 0o750, .. })));
    }

    #[test]
    fn one_gateway_at_a_time_has_the_turn() {
        let (_dir, store) = store();
        let turn = store.turn().unwrap();
        assert!(turn.is_some());
        assert!(store.turn().unwrap().is_none());
        drop(turn);
        assert!(store.turn().unwrap().is_some());
    }

    #[test]
    fn tokens_lead_to_answers_and_to_no_other_file() {
        let (_dir, store) = store();
        let token = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
        store.offer_answer(token, "answer").unwrap();
        store.keep_account("secret").unwrap();
        assert_eq!(store.challenge_answer(token).as_deref(), Some("answer"));
        for other in
            ["../account.json", "..", "", "short", "../certificates/shop.example.pem", &token[1..], &"a".repeat(200)]
        {
            assert_eq!(store.challenge_answer(other), None, "{other}");
        }
        assert!(store.offer_answer("../../../etc/passwd", "answer").is_err());
        store.clear_challenges();
        assert_eq!(store.challenge_answer(token), None);
    }

    #[test]
    fn failures_outlast_a_restart_and_nonsense_is_none() {
        let (_dir, store) = store();
        assert!(store.failures().is_empty());
        let failed = Failures { count: 2, wait_until_unix_s: 9, is_told_by_ca: true, text: "why".to_owned() };
        let failures = BTreeMap::from([("shop.example".to_owned(), failed)]);
        store.keep_failures(&failures).unwrap();
        assert_eq!(Store::new(store.folder.clone()).failures(), failures);
        fs::write(store.folder.join(FAILURES), "nonsense").unwrap();
        assert!(store.failures().is_empty());
    }

    #[test]
    fn a_folder_that_takes_no_file_is_told_and_leaves_nothing() {
        let (_dir, store) = store();
        store.probe().unwrap();
        assert_eq!(fs::read_dir(store.folder.join(CERTIFICATES)).unwrap().count(), 0);
        // Not by permissions, which do not bind root.
        fs::remove_dir(store.folder.join(CERTIFICATES)).unwrap();
        let error = store.probe().unwrap_err().to_string();
        assert!(error.contains("acme.dir"), "{error}");
        assert!(!store.folder.join(format!("fresh.{}", std::process::id())).exists());
    }
}
