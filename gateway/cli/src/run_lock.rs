//! One instance a run directory: the lock, which outlives the loss of its file.
//!
//! The lock is on an open file and goes with the process. Deleting the file's name lets a second gateway lock another file of that name;
//! so a start also looks whether any process still holds one that was deleted there.

use std::cell::RefCell;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A lock that is held until the process ends.
pub struct RunLock {
    path: PathBuf,
    file: RefCell<Rc<File>>,
}

/// State of the lock's file.
#[derive(Debug, PartialEq, Eq)]
pub enum LockState {
    /// File in its place.
    InPlace,
    /// File that was gone; another is locked in its place.
    Replaced,
    /// Another process has locked a file of this name.
    Lost,
}

impl RunLock {
    /// `None` when a gateway has the directory already.
    pub fn take(dir: &Path) -> io::Result<Option<Self>> {
        let path = path_in(dir);
        let Some(file) = try_lock(&path)? else { return Ok(None) };
        if is_held_without_a_name(&path) {
            return Ok(None);
        }
        Ok(Some(Self { path, file: RefCell::new(Rc::new(file)) }))
    }

    /// The one that a gateway passes on to its successor.
    pub fn inherited(dir: &Path, file: File) -> Self {
        Self { path: path_in(dir), file: RefCell::new(Rc::new(file)) }
    }

    /// The file that is locked.
    pub fn file(&self) -> Rc<File> {
        Rc::clone(&self.file.borrow())
    }

    /// Looks after the file, and locks another where it is gone.
    pub fn restore(&self) -> io::Result<LockState> {
        let own = self.file().metadata()?;
        let is_own = |there: &fs::Metadata| (there.dev(), there.ino()) == (own.dev(), own.ino());
        match fs::symlink_metadata(&self.path) {
            Ok(there) if is_own(&there) => return Ok(LockState::InPlace),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(match try_lock(&self.path)? {
            Some(file) => {
                *self.file.borrow_mut() = Rc::new(file);
                LockState::Replaced
            }
            None => LockState::Lost,
        })
    }
}

fn path_in(dir: &Path) -> PathBuf {
    dir.join("lock")
}

fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Ok(None),
        // A file system without locks keeps nobody out.
        _ => Ok(Some(file)),
    }
}

/// Whether another process has a file open that had this name and was deleted. Linux only: elsewhere nothing tells.
fn is_held_without_a_name(path: &Path) -> bool {
    let real = path.parent().and_then(|dir| fs::canonicalize(dir).ok()).map(|dir| path_in(&dir));
    let mut name = real.unwrap_or_else(|| path.to_owned()).into_os_string();
    name.push(" (deleted)");
    let own = std::process::id().to_string();
    let Ok(processes) = fs::read_dir("/proc") else { return false };
    let mut others = processes.flatten().map(|entry| entry.path()).filter(|process| {
        process.file_name().and_then(|pid| pid.to_str()).is_some_and(|pid| pid != own && pid.parse::<u32>().is_ok())
    });
    others.any(|process| {
        let descriptors = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        descriptors
            .filter_map(|descriptor| fs::read_link(descriptor.path()).ok())
            .any(|target| target.as_os_str() == name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleted_lock_is_taken_again_unless_another_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let lock = RunLock::take(dir.path()).unwrap().unwrap();
        assert_eq!(lock.restore().unwrap(), LockState::InPlace);
        assert!(RunLock::take(dir.path()).unwrap().is_none());
        fs::remove_file(dir.path().join("lock")).unwrap();
        assert_eq!(lock.restore().unwrap(), LockState::Replaced);
        assert_eq!(lock.restore().unwrap(), LockState::InPlace);
        assert!(RunLock::take(dir.path()).unwrap().is_none());
        fs::remove_file(dir.path().join("lock")).unwrap();
        let _other = try_lock(&dir.path().join("lock")).unwrap().unwrap();
        assert_eq!(lock.restore().unwrap(), LockState::Lost);
    }
}
