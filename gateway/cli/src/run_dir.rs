//! The run directory: where an instance keeps its sockets, and how a command finds the instance that is meant.
//!
//! It is private (0700) because programs that reach the sockets in it can talk to workers around the gateway. It must not
//! know what is said over the sockets.

use std::env;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use sluice_catalog::errors::Code;

use crate::args::RunDirArg;

/// Maximum size of a unix socket's path with its final NUL, bytes. `sun_path` of the platform.
const SOCKET_PATH_BYTES_MAX: usize = if cfg!(target_os = "linux") { 108 } else { 104 };

/// Gateways of an instance that have names of their own.
const SUFFIXES: u32 = 10;

/// Bytes reserved for the names of sockets within, such as `/w1/1234567-65535.sock`.
const NAME_BYTES_MAX: usize = 24;

/// Maximum size of the part of the name that comes from the project's directory, bytes.
const PROJECT_NAME_BYTES_MAX: usize = 24;

/// An instance's run directory, by its absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunDir {
    path: PathBuf,
    /// Directories of Sluice above it, which are created and checked alike; only for the default place.
    parent: Option<PathBuf>,
}

/// Reason why a run directory cannot be used. All of them are `SLU-RUN-DIR-PATH`.
#[derive(Debug, thiserror::Error)]
pub enum RunDirError {
    /// A socket in it could not be bound.
    #[error(
        "{code}: {} is too long for a unix socket: {bytes} bytes where at most {bytes_max} leave room for the names \
         of its sockets. Choose a shorter one with --run-dir.", path.display(), code = Code::RunDirPath
    )]
    TooLong {
        /// The directory.
        path: PathBuf,
        /// Length of the path.
        bytes: usize,
        /// Largest length.
        bytes_max: usize,
    },
    /// Path at which something else stands.
    #[error("{code}: {} is not a directory. Choose another with --run-dir.", .0.display(), code = Code::RunDirPath)]
    NotADirectory(PathBuf),
    /// Directory of another user.
    #[error(
        "{code}: {} belongs to user {owner}, not to {user}. Choose another with --run-dir.", path.display(),
        code = Code::RunDirPath
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Owner of the directory.
        owner: u32,
        /// User of this process.
        user: u32,
    },
    /// Others may enter it.
    #[error(
        "{code}: {} is open to other users (mode {mode:04o}). Close it with chmod 700, or choose another with --run-dir.",
        path.display(), code = Code::RunDirPath
    )]
    Open {
        /// The directory.
        path: PathBuf,
        /// Permissions of the directory.
        mode: u32,
    },
    /// The operating system refuses.
    #[error("{code}: {}: {error}", path.display(), code = Code::RunDirPath)]
    Io {
        /// The directory.
        path: PathBuf,
        /// Error of the operating system.
        error: io::Error,
    },
}

impl RunDir {
    /// The directory that is meant, whether or not it exists: the given one, else one for the current directory.
    pub fn locate(arg: &RunDirArg) -> Result<Self, RunDirError> {
        let here = |error| RunDirError::Io { path: PathBuf::from("."), error };
        let located = if let Some(given) = &arg.run_dir {
            let io = |error| RunDirError::Io { path: given.clone(), error };
            Self { path: std::path::absolute(given).map(|path| without_steps_up(&path)).map_err(io)?, parent: None }
        } else {
            // The real path, so that two ways to the same project lead to the same instance.
            let project = env::current_dir().and_then(fs::canonicalize).map_err(here)?;
            let runtime_dir = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            Self::default_for(&project, runtime_dir.as_deref(), current_user())
        };
        located.checked_length()
    }

    /// `$XDG_RUNTIME_DIR/sluice/<name>-<hash>`, or `/tmp/sluice-<uid>/<name>-<hash>` if the variable is not set.
    fn default_for(project: &Path, runtime_dir: Option<&Path>, user: u32) -> Self {
        let parent = Self::parent_for(runtime_dir, user);
        Self { path: parent.join(instance_name(project)), parent: Some(parent) }
    }

    /// The directory with a user's own run directories.
    pub fn parent_for(runtime_dir: Option<&Path>, user: u32) -> PathBuf {
        match runtime_dir {
            // The XDG base directory specification has relative paths ignored.
            Some(dir) if dir.is_absolute() => dir.join("sluice"),
            _ => PathBuf::from(format!("/tmp/sluice-{user}")),
        }
    }

    fn checked_length(self) -> Result<Self, RunDirError> {
        let bytes = self.path.as_os_str().len();
        let bytes_max = SOCKET_PATH_BYTES_MAX - 1 - NAME_BYTES_MAX;
        if bytes > bytes_max {
            return Err(RunDirError::TooLong { path: self.path, bytes, bytes_max });
        }
        Ok(self)
    }

    /// Creates the directory where it is missing, private, and refuses one that others own or may enter.
    pub fn create(&self) -> Result<(), RunDirError> {
        if let Some(parent) = &self.parent {
            // In /tmp anyone may have put a directory or a symbolic link there first.
            make_private(parent)?;
            check_private(parent, fs::symlink_metadata(parent))?;
            make_private(&self.path)?;
            check_private(&self.path, fs::symlink_metadata(&self.path))
        } else {
            make_private(&self.path)?;
            check_private(&self.path, fs::metadata(&self.path))
        }
    }

    /// Absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The one that a gateway created, checked and tells its successor.
    pub fn inherited(path: PathBuf) -> Self {
        Self { path, parent: None }
    }

    /// The socket between commands and gateway.
    pub fn control_socket(&self) -> PathBuf {
        self.path.join("control.sock")
    }

    /// The same socket before this gateway, the instance's `number`th, has taken over.
    pub fn control_socket_of(&self, number: u32) -> PathBuf {
        self.path.join(format!("control.{}.sock", suffix(number)))
    }

    /// Directory in which the `number`th gateway of the instance and its workers meet.
    pub fn sockets_of(&self, number: u32) -> PathBuf {
        self.path.join(format!("w{}", suffix(number)))
    }

    /// Removes what killed gateways left behind. Nobody else may be in here.
    pub fn clear(&self) -> io::Result<()> {
        for number in 0..SUFFIXES {
            match fs::remove_dir_all(self.sockets_of(number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let _ = fs::remove_file(self.control_socket_of(number));
        }
        Ok(())
    }

    /// The process that serves.
    pub fn pid_file(&self) -> PathBuf {
        self.path.join("sluice.pid")
    }

    /// File of the token that opens the dashboard from elsewhere, and allows its actions.
    pub fn token_file(&self) -> PathBuf {
        self.path.join("admin-token")
    }

    /// Says that this process serves, in one step for those who read it.
    pub fn write_pid(&self) -> io::Result<()> {
        let pid = std::process::id();
        let fresh = self.path.join(format!("sluice.pid.{pid}"));
        fs::write(&fresh, format!("{pid}\n"))?;
        fs::rename(fresh, self.pid_file())
    }

    /// The process that serves, if one has said so.
    pub fn read_pid(&self) -> Option<u32> {
        fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok().filter(|pid| *pid > 1)
    }
}

/// Two gateways of an instance are there at once, and a few more may have left something; names must stay short.
fn suffix(number: u32) -> u32 {
    number % SUFFIXES
}

/// Makes the directory where it is missing, private, and refuses one that others own or may enter.
pub fn private_dir(path: &Path) -> Result<(), RunDirError> {
    make_private(path)?;
    check_private(path, fs::symlink_metadata(path))
}

/// The path without `..`: workers put the names of files together by their text, to which a symbolic link before `..` is nothing.
fn without_steps_up(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain = fs::canonicalize(&plain).unwrap_or(plain);
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    plain
}

fn make_private(path: &Path) -> Result<(), RunDirError> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
    match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(RunDirError::NotADirectory(path.to_owned())),
        created => created.map_err(|error| RunDirError::Io { path: path.to_owned(), error }),
    }
}

fn check_private(path: &Path, metadata: io::Result<Metadata>) -> Result<(), RunDirError> {
    let metadata = metadata.map_err(|error| RunDirError::Io { path: path.to_owned(), error })?;
    let (user, mode) = (current_user(), metadata.mode() & 0o7777);
    if !metadata.is_dir() {
        return Err(RunDirError::NotADirectory(path.to_owned()));
    }
    if metadata.uid() != user {
        return Err(RunDirError::NotOurs { path: path.to_owned(), owner: metadata.uid(), user });
    }
    if mode & 0o077 != 0 {
        return Err(RunDirError::Open { path: path.to_owned(), mode });
    }
    Ok(())
}

pub fn current_user() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// A name that people recognise and a hash that keeps projects of the same name apart.
pub fn instance_name(project: &Path) -> String {
    let name: String = project
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character.to_ascii_lowercase() } else { '-' })
        .take(PROJECT_NAME_BYTES_MAX)
        .collect();
    let name = name.trim_matches('-');
    let name = if name.is_empty() { "app" } else { name };
    let hash = fnv1a(project.as_os_str().as_bytes());
    // Half of the bits are plenty to keep one user's projects apart, and paths must be short.
    format!("{name}-{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

/// FNV-1a, because commands of another version must find the same directory; the standard library's hash may change.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
#[path = "run_dir_tests.rs"]
mod tests;
