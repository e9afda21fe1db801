//! The state directory: files of an instance that must outlive a restart, such as learned costs and profiles. Sockets, process ids
//! and locks are in the run directory, which systemd and a restart of the machine empty.
//!
//! The gateway serves without a state directory: one that cannot be used costs a warning, and the run directory stands in for it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use nix::unistd::{AccessFlags, access};
use sluice_catalog::config::Config;
use sluice_observe::write_whole;

use crate::args::RunDirArg;
use crate::run_dir::{RunDir, RunDirError, private_dir};

/// Names that earlier versions kept in the run directory.
const MOVED: [&str; 2] = ["costs.json", "profiles"];
/// Free bytes below which the directory counts as full. Learned costs take about as much.
const FREE_BYTES_MIN: usize = 16 * 1024;
/// Link in the run directory by which commands find the state directory.
const LINK: &str = "state";

/// The directory in use, and reasons why another one is not.
#[derive(Debug)]
pub struct StateDir {
    pub path: PathBuf,
    /// The directory to watch: the one that was named, even if another one stands in for it.
    pub watched: PathBuf,
    pub warnings: Vec<String>,
}

/// Reason why a directory cannot keep state.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("{}", why_not(.0))]
    Directory(RunDirError),
    #[error("{path}: {error}", path = .0.display(), error = .1)]
    NotWritable(PathBuf, io::Error),
}

/// The same without the advice for run directories, which is to take another with `--run-dir`.
fn why_not(error: &RunDirError) -> String {
    match error {
        RunDirError::NotADirectory(path) => format!("{} is not a directory", path.display()),
        RunDirError::NotOurs { path, owner, user } => {
            format!("{} belongs to user {owner}, not to {user}", path.display())
        }
        RunDirError::Open { path, mode } => format!("{} is open to other users (mode {mode:04o})", path.display()),
        RunDirError::TooLong { path, .. } => format!("{} has too long a path", path.display()),
        RunDirError::Io { path, error } => format!("{}: {error}", path.display()),
    }
}

/// A place where state may be kept.
#[derive(Debug, PartialEq, Eq)]
enum StateLocation {
    /// The user or the service manager named it: a failure is worth a warning.
    Named(PathBuf),
    /// A default below the user's home, which many containers lack.
    Default(PathBuf),
    RunDir,
}

impl StateDir {
    /// Opens the directory that config or environment name, and falls back to the run directory. `config` has absolute paths.
    pub fn open(config: &Config, arg: &RunDirArg, run_dir: &RunDir) -> Self {
        let variable = |name: &str| env::var_os(name);
        let mut warnings = Vec::new();
        let place = place(config.server.state_dir.as_deref(), arg, run_dir, variable);
        let mut watched = None;
        let path = match place {
            StateLocation::Named(dir) => match usable(&dir, 1) {
                Ok(()) => dir,
                Err(why) => {
                    watched = Some(dir);
                    warnings.push(format!(
                        "the state directory cannot be used, so learned costs and profiles are stored in {} and may \
                         be lost with it: {why}. \
                         Make it writable for this user alone, or name another with --state-dir",
                        run_dir.path().display()
                    ));
                    run_dir.path().to_owned()
                }
            },
            StateLocation::Default(dir) if usable(&dir, 1).is_ok() => dir,
            StateLocation::Default(_) | StateLocation::RunDir => run_dir.path().to_owned(),
        };
        if path == run_dir.path() && warnings.is_empty() && is_emptied(run_dir, variable) {
            warnings.push(
                "systemd deletes the run directory at each stop, and learned costs and profiles with it. \
                 Add StateDirectory= to the unit, or name a directory with --state-dir"
                    .to_owned(),
            );
        }
        StateDir { watched: watched.unwrap_or_else(|| path.clone()), path, warnings }
    }

    /// Moves what earlier versions kept in the run directory, once. Returns sentences for the log.
    pub fn adopt(&self, run_dir: &RunDir) -> Vec<String> {
        if self.path == run_dir.path() {
            return Vec::new();
        }
        let moved = MOVED.iter().filter_map(|name| {
            let (from, to) = (run_dir.path().join(name), self.path.join(name));
            if to.exists() || !from.exists() {
                return None;
            }
            Some(match move_to(&from, &to) {
                Ok(()) => format!("{} is now {}", from.display(), to.display()),
                Err(error) => format!("{} could not be moved to {}: {error}", from.display(), to.display()),
            })
        });
        moved.collect()
    }

    /// Leaves the link in the run directory by which commands find the state directory.
    ///
    /// # Errors
    /// What the file system says.
    pub fn link_from(&self, run_dir: &RunDir) -> io::Result<()> {
        link(run_dir, &self.path)
    }
}

/// The same for a run directory that was made again.
pub fn link(run_dir: &RunDir, state_dir: &Path) -> io::Result<()> {
    let link = run_dir.path().join(LINK);
    // The directory itself may have this name and place.
    if link == state_dir || fs::read_link(&link).is_ok_and(|target| target == state_dir) {
        return Ok(());
    }
    if fs::symlink_metadata(&link).is_ok_and(|metadata| metadata.is_symlink()) {
        fs::remove_file(&link)?;
    }
    if state_dir == run_dir.path() { Ok(()) } else { symlink(state_dir, link) }
}

/// The state directory of the instance, for commands. The gateway need not run.
pub fn of_instance(arg: &RunDirArg, run_dir: &RunDir) -> PathBuf {
    let link = run_dir.path().join(LINK);
    if let Ok(target) = fs::read_link(&link) {
        return target;
    }
    if link.is_dir() {
        return link;
    }
    match place(None, arg, run_dir, |name| env::var_os(name)) {
        StateLocation::Named(dir) | StateLocation::Default(dir) if !run_dir.path().exists() && dir.is_dir() => dir,
        _ => run_dir.path().to_owned(),
    }
}

/// Config, then systemd, then the user's state. A run directory that somebody has chosen keeps everything, unless state has a place of
/// its own.
fn place(
    named: Option<&str>,
    arg: &RunDirArg,
    run_dir: &RunDir,
    variable: impl Fn(&str) -> Option<OsString>,
) -> StateLocation {
    if let Some(dir) = named {
        return StateLocation::Named(dir.into());
    }
    if let Some(dir) = of_service("STATE_DIRECTORY", &variable) {
        // A directory below it: systemd opens its own to all users unless told otherwise.
        return StateLocation::Named(dir.join("sluice"));
    }
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let of_user = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    match (of_user, run_dir.path().file_name()) {
        (Some(state), Some(instance)) if arg.run_dir.is_none() => {
            StateLocation::Default(state.join("sluice").join(instance))
        }
        _ => StateLocation::RunDir,
    }
}

/// First of several directories, which systemd separates by colons.
fn of_service(name: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let text = variable(name)?;
    Some(PathBuf::from(text.to_str()?.split(':').next()?)).filter(|path| path.is_absolute())
}

/// Whether systemd made the run directory, and deletes it.
fn is_emptied(run_dir: &RunDir, variable: impl Fn(&str) -> Option<OsString>) -> bool {
    of_service("RUNTIME_DIRECTORY", variable).is_some_and(|dir| run_dir.path().starts_with(dir))
}

/// Creates the directory unless it exists, and writes a file of so many bytes there, which it removes again.
fn usable(dir: &Path, bytes: usize) -> Result<(), Unusable> {
    private_dir(dir).map_err(Unusable::Directory)?;
    // A file system that is read-only says so only here, and a full one has no room for a byte.
    let probe = dir.join(format!(".writable-{}", std::process::id()));
    let written = write_whole(&probe, &vec![b'\n'; bytes]).and_then(|()| fs::remove_file(&probe));
    written.map_err(|error| Unusable::NotWritable(dir.to_owned(), error))
}

/// Reason why no file can be kept in the directory at present; `None` if one can. Writes one only if `is_suspect`.
pub fn trouble(dir: &Path, is_suspect: bool) -> Option<String> {
    judged(is_suspect, has_room(dir), || usable(dir, FREE_BYTES_MIN))
}

/// A file that could be written is proof, also where only blocks are left that a file system reserves for root.
fn judged(is_suspect: bool, has_room: bool, write: impl FnOnce() -> Result<(), Unusable>) -> Option<String> {
    if !is_suspect && has_room {
        return None;
    }
    write().err().map(|why| why.to_string())
}

/// Whether this user may write there, and there is room for a few small files. Writes nothing.
fn has_room(dir: &Path) -> bool {
    let Ok(found) = access(dir, AccessFlags::W_OK | AccessFlags::X_OK).and_then(|()| statvfs(dir)) else {
        return false;
    };
    // File systems without a table of files say 0 of 0.
    let has_files = found.files() == 0 || found.files_available() > 0;
    has_files && sluice_observe::free_bytes(&found) >= FREE_BYTES_MIN as u64
}

/// Moves a file or a directory, across file systems if need be.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        moved => return moved,
    }
    if from.is_dir() {
        private_dir(to).map_err(io::Error::other)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            move_to(&entry.path(), &to.join(entry.file_name()))?;
        }
        return fs::remove_dir(from);
    }
    write_whole(to, &fs::read(from)?)?;
    fs::remove_file(from)
}

#[cfg(test)]
#[path = "state_dir_tests.rs"]
mod tests;
