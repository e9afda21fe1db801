//! The directory: private, of one gateway at a time, and with a word that says whose pages can be in it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Counted up where the log has another form.
const VERSION: u32 = 2;
/// Name below the directory that the operator names, which may be open to others.
const NAME: &str = "sluice-pages";
const EXTENSION: &str = "pages";

/// Reason why there is no place for pages.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unusable {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{} belongs to another user or is open to others; only its owner, this user, may have access (chmod \
        700)", .0.display())]
    Open(PathBuf),
}

/// The directory, not yet locked.
#[derive(Clone, Debug)]
pub(super) struct Folder(PathBuf);

/// The right to use it, until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Folder {
    /// Makes it where it is not there.
    pub(super) fn make(dir: &Path) -> Result<Self, Unusable> {
        let path = dir.join(NAME);
        let failed = |error| Unusable::Io { path: path.clone(), error };
        fs::create_dir_all(dir).map_err(failed)?;
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            _ => {}
        }
        // A link could lead to where others write.
        let found = fs::symlink_metadata(&path).map_err(failed)?;
        if !found.is_dir() || found.uid() != nix::unistd::geteuid().as_raw() || found.mode() & 0o077 != 0 {
            return Err(Unusable::Open(path));
        }
        Ok(Folder(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Waits until no other gateway uses it. `is_busy` is called before a wait.
    pub(super) fn lock(&self, is_busy: impl FnOnce()) -> Result<Lock, Unusable> {
        let path = self.0.join("lock");
        let failed = |error| Unusable::Io { path: path.clone(), error };
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let file = file.map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                is_busy();
                file.lock().map_err(failed)?;
            }
            // Without locks nobody could tell whose purges count.
            Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
        }
        Ok(Lock { _file: file })
    }

    fn file_of(&self, segment: u64) -> PathBuf {
        self.0.join(format!("{segment:016x}.{EXTENSION}"))
    }

    /// The numbers of all segments, in their order.
    pub(super) fn segments(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION)
                && let Some(number) = path.file_stem().and_then(|stem| stem.to_str())
                && let Ok(number) = u64::from_str_radix(number, 16)
            {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub(super) fn create(&self, segment: u64) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(self.file_of(segment))
    }

    pub(super) fn open(&self, segment: u64) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).open(self.file_of(segment))
    }

    /// Removes all segments, the oldest first.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.segments()?.into_iter().try_for_each(|segment| self.remove(segment))
    }

    pub(super) fn remove(&self, segment: u64) -> io::Result<()> {
        match fs::remove_file(self.file_of(segment)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Identity of pages that may be used: those of this run of the machine, with this clock, that were kept for the same owner by the same
/// rules. On a system whose runs cannot be distinguished, no pages outlive a gateway.
pub(super) fn identity(owner: &str) -> String {
    let since = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let run = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let run = run.unwrap_or_else(|_| format!("{}-{}", std::process::id(), since()));
    let clock = fs::read_link("/proc/self/ns/time").unwrap_or_default();
    format!("{VERSION} {} {} {owner}", run.trim(), clock.display())
}
