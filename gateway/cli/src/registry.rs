//! The registry of a user's gateways: a private directory with one entry for each run directory, so that commands that were run
//! elsewhere can say where gateways are. An entry says nothing of whether its gateway lives; its reader asks, and sweeps those
//! that do not.
//!
//! It must not know what is said over sockets. A gateway without an entry works like any other.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, User};
use serde::{Deserialize, Serialize};

use crate::run_dir::{self, RunDir, RunDirError};

/// Name of the directory. No run directory has it: theirs end with a hash.
const DIR: &str = "registry";
/// Maximum size of an entry, bytes. A path, a name and a few words.
const ENTRY_BYTES_MAX: u64 = 16 * 1024;
/// Maximum number of entries that are read from one directory.
const ENTRIES_MAX: usize = 1_000;

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Name for people: that of the app's directory.
    pub name: String,
    /// The instance's run directory, by its absolute path.
    pub run_dir: PathBuf,
}

/// An entry that was read.
#[derive(Clone, Debug)]
pub struct RegistryEntry {
    pub entry: Entry,
    /// The user whose registry has it.
    pub owner: u32,
    /// A service of systemd has none.
    file: Option<PathBuf>,
}

impl RegistryEntry {
    /// Takes the entry away, because its gateway is gone. It may come back, and then makes another.
    pub fn sweep(&self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
    }
}

/// Another user whose registry cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignRegistry {
    pub owner: u32,
}

/// Makes the entry of a gateway that runs, if it is not there.
///
/// # Errors
/// When the registry's directory is not private to this user, or cannot be written.
pub fn enter(run_dir: &RunDir, app_dir: &Path) -> Result<(), RunDirError> {
    let dir = own_dirs().swap_remove(0);
    let io = |error| RunDirError::Io { path: dir.clone(), error };
    let file = dir.join(file_name(run_dir.path()));
    if file.exists() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        run_dir::private_dir(parent)?;
    }
    run_dir::private_dir(&dir)?;
    let name = app_dir.file_name().map_or_else(|| "app".to_owned(), |name| name.to_string_lossy().into_owned());
    let entry = Entry { name, run_dir: run_dir.path().to_owned() };
    let text = serde_json::to_vec(&entry).map_err(|error| io(error.into()))?;
    // In one step for those who read it.
    let fresh = dir.join(format!("{}.{}", file_name(run_dir.path()), std::process::id()));
    fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &file)).map_err(io)
}

/// Takes the entry away when the instance has ended.
pub fn leave(run_dir: &RunDir) {
    for dir in own_dirs() {
        let _ = fs::remove_file(dir.join(file_name(run_dir.path())));
    }
}

/// Every entry that this user may read, and the users whose entries it may not.
pub fn read() -> (Vec<RegistryEntry>, Vec<ForeignRegistry>) {
    let user = run_dir::current_user();
    let (mut found, mut closed) = (Vec::new(), Vec::new());
    for dir in own_dirs() {
        found.extend(entries(&dir, user));
    }
    for (dir, owner) in others_dirs(user) {
        match fs::read_dir(&dir) {
            Ok(_) => found.extend(entries(&dir, owner)),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => closed.push(ForeignRegistry { owner }),
            Err(_) => {}
        }
    }
    found.extend(services(Path::new("/run")));
    found.sort_by(|one, other| (&one.entry.name, &one.entry.run_dir).cmp(&(&other.entry.name, &other.entry.run_dir)));
    found.dedup_by(|one, other| one.entry.run_dir == other.entry.run_dir);
    closed.dedup();
    (found, closed)
}

/// The user's name, or its number where it has none.
pub fn user_name(uid: u32) -> String {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

/// Directories of this user's entries, the place for new ones first: a service has no `XDG_RUNTIME_DIR`, and a login shell
/// has.
fn own_dirs() -> Vec<PathBuf> {
    let user = run_dir::current_user();
    let runtime_dir = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let mut dirs = vec![RunDir::parent_for(runtime_dir.as_deref(), user).join(DIR)];
    let further = [RunDir::parent_for(None, user), PathBuf::from(format!("/run/user/{user}/sluice"))];
    for dir in further.map(|parent| parent.join(DIR)) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    dirs
}

/// Directories of other users' entries, with those users.
fn others_dirs(user: u32) -> Vec<(PathBuf, u32)> {
    let in_tmp = listed(Path::new("/tmp")).into_iter().filter_map(|(path, name)| {
        let owner: u32 = name.strip_prefix("sluice-")?.parse().ok()?;
        Some((path.join(DIR), owner))
    });
    let in_run = listed(Path::new("/run/user")).into_iter().filter_map(|(path, name)| {
        // Whether another user has gateways there cannot be seen from outside, so only who may look in does.
        let dir = path.join("sluice").join(DIR);
        dir.is_dir().then_some((dir, name.parse().ok()?))
    });
    in_tmp.chain(in_run).filter(|(_, owner)| *owner != user).collect()
}

fn listed(dir: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.path(), entry.file_name().into_string().ok()?))).collect()
}

/// Services of systemd whose run directory is in this one, `/run`, which only root may write. Their units often have a `/tmp` of their
/// own, so that their entries are not seen from outside. Who may not enter a run directory does not see its socket.
fn services(parent: &Path) -> Vec<RegistryEntry> {
    let service = |(path, name): (PathBuf, String)| {
        let run_dir = RunDir::inherited(path.clone());
        let owner = fs::metadata(run_dir.control_socket()).ok().filter(|it| it.file_type().is_socket())?.uid();
        Some(RegistryEntry { entry: Entry { name, run_dir: path }, owner, file: None })
    };
    listed(parent).into_iter().filter_map(service).collect()
}

/// The entries of one registry. Anyone may have put a directory or a link into /tmp, so each step has to be the owner's.
fn entries(dir: &Path, owner: u32) -> Vec<RegistryEntry> {
    let is_owners = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| !it.is_symlink() && it.uid() == owner);
    let is_private = |path: &Path| fs::symlink_metadata(path).is_ok_and(|it| it.is_dir() && it.mode() & 0o777 == 0o700);
    if !is_owners(dir) || !is_private(dir) || !dir.parent().is_some_and(is_owners) {
        return Vec::new();
    }
    let files = listed(dir).into_iter().filter(|(path, name)| is_owners(path) && is_entry(name));
    files
        .take(ENTRIES_MAX)
        .filter_map(|(file, _)| Some(RegistryEntry { entry: entry_in(&file)?, owner, file: Some(file) }))
        .collect()
}

/// Whether it is an entry, and not one that is being written: its name ends with a process' id.
fn is_entry(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "json")
}

fn entry_in(file: &Path) -> Option<Entry> {
    let size = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?.len();
    let entry: Entry = serde_json::from_slice(&fs::read(file).ok().filter(|_| size <= ENTRY_BYTES_MAX)?).ok()?;
    entry.run_dir.is_absolute().then_some(entry)
}

fn file_name(run_dir: &Path) -> String {
    format!("{}.json", run_dir::instance_name(run_dir))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::client::tests_support::TempDir;

    fn registry(text: &str, mode: u32) -> (TempDir, PathBuf) {
        let parent = TempDir::new();
        let dir = parent.0.join(DIR);
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
        fs::write(dir.join("shop-1.json"), text).unwrap();
        (parent, dir)
    }

    #[test]
    fn entries_are_those_of_the_owner_in_a_directory_that_nobody_else_can_enter() {
        let text = r#"{"name":"shop","run_dir":"/run/shop"}"#;
        let user = run_dir::current_user();
        let (_parent, dir) = registry(text, 0o700);
        let found = entries(&dir, user);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].entry, Entry { name: "shop".to_owned(), run_dir: "/run/shop".into() });
        assert!(entries(&dir, user + 1).is_empty(), "another user's");
        let (_parent, open) = registry(text, 0o755);
        assert!(entries(&open, user).is_empty(), "others may write it");
    }

    #[test]
    fn what_is_no_entry_is_passed_over() {
        for text in ["", "[]", r#"{"name":"shop"}"#, r#"{"name":"shop","run_dir":"run"}"#] {
            let (_parent, dir) = registry(text, 0o700);
            assert!(entries(&dir, run_dir::current_user()).is_empty(), "{text}");
        }
    }

    #[test]
    fn services_of_systemd_are_found_by_their_sockets_and_nothing_of_them_is_swept() {
        let parent = TempDir::new();
        let run_dir = RunDir::inherited(parent.0.join("shop"));
        for dir in [run_dir.path(), &parent.0.join("other")] {
            fs::create_dir(dir).unwrap();
        }
        fs::write(parent.0.join("file"), "").unwrap();
        assert!(services(&parent.0).is_empty());
        let _socket = std::os::unix::net::UnixListener::bind(run_dir.control_socket()).unwrap();
        let [found] = services(&parent.0).try_into().unwrap();
        assert_eq!(found.entry, Entry { name: "shop".to_owned(), run_dir: run_dir.path().to_owned() });
        assert_eq!(found.owner, run_dir::current_user());
        found.sweep();
        assert!(run_dir.control_socket().exists());
    }

    #[test]
    fn what_is_swept_is_gone() {
        let (_parent, dir) = registry(r#"{"name":"shop","run_dir":"/run/shop"}"#, 0o700);
        entries(&dir, run_dir::current_user())[0].sweep();
        assert!(entries(&dir, run_dir::current_user()).is_empty());
    }
}
