//! Files of the state directory: private, written whole or not at all, and few of each kind.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::sys::statvfs::Statvfs;

/// Maximum number of profiles of each kind in the state directory.
const PROFILES_MAX: usize = 20;
/// Maximum number of heap snapshots in the state directory: each is as large as its heap.
const SNAPSHOTS_MAX: usize = 3;
const LARGE_EXTENSION: &str = "heapsnapshot";

/// Creates the profile's directory, and deletes the oldest profiles of its kind to make room. Profiles that an operator takes
/// never evict those of stuck workers. Blocks.
///
/// # Errors
/// The file system's error.
pub fn make_room(file: &Path) -> io::Result<()> {
    let dir = file.parent().unwrap_or(file);
    make_private_dir(dir)?;
    let mut kept: Vec<(SystemTime, PathBuf)> = fs::read_dir(dir)?
        .flatten()
        .filter(|entry| kind(&entry.path()) == kind(file))
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path != file)
        .collect();
    kept.sort();
    let is_large = file.extension().is_some_and(|extension| extension == LARGE_EXTENSION);
    let surplus = (kept.len() + 1).saturating_sub(if is_large { SNAPSHOTS_MAX } else { PROFILES_MAX });
    for (_, path) in kept.iter().take(surplus) {
        remove_if_there(path)?;
    }
    Ok(())
}

/// Bytes of a file system that this user may still write.
pub fn free_bytes(found: &Statvfs) -> u64 {
    #[allow(clippy::useless_conversion, reason = "numbers of blocks have 32 bits on macOS")]
    u64::from(found.blocks_available()).saturating_mul(found.fragment_size())
}

/// Another process, or another thread, may have deleted the file in the meantime.
fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The extension, and the name up to its first number: `stuck-12.cpuprofile` is of another kind than `profile-20261123.cpuprofile`.
fn kind(file: &Path) -> Option<(String, String)> {
    let name = file.file_stem()?.to_str()?;
    let is_digit = |character: char| character.is_ascii_digit();
    let word = name.split(is_digit).next().unwrap_or_default();
    Some((word.to_owned(), file.extension()?.to_str()?.to_owned()))
}

/// Creates a directory that no other user can read, unless it exists. Blocks.
///
/// # Errors
/// The file system's error.
pub fn make_private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).recursive(true).create(dir)
}

/// Writes a file that no other user can read. A reader finds the complete new file or the complete old one. Blocks.
///
/// # Errors
/// The file system's error; no part of the new file is left then.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = file.with_extension(format!("{}.part", std::process::id()));
    let written = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&part)
        .and_then(|mut open| open.write_all(bytes))
        .and_then(|()| fs::rename(&part, file));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::Duration;

    use super::*;

    const EXTENSION: &str = "cpuprofile";

    fn keep(file: &Path) {
        make_room(file).unwrap();
        write_whole(file, b"{}").unwrap();
    }

    #[test]
    fn profiles_are_private_and_the_oldest_make_room() {
        let dir = tempfile::tempdir().unwrap();
        let profiles = dir.path().join("profiles");
        for worker in 0..30_u64 {
            let file = profiles.join(format!("stuck-{worker}.{EXTENSION}"));
            keep(&file);
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 + worker);
            fs::File::options().write(true).open(&file).unwrap().set_modified(at).unwrap();
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let mut names: Vec<String> =
            fs::read_dir(&profiles).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let mut expected: Vec<String> = (10..30).map(|worker| format!("stuck-{worker}.{EXTENSION}")).collect();
        expected.sort();
        assert_eq!(names, expected);
        for number in 0..2 * PROFILES_MAX {
            keep(&profiles.join(format!("profile-20261123T0945{number:02}Z-1.{EXTENSION}")));
        }
        assert!(profiles.join(format!("stuck-10.{EXTENSION}")).exists(), "others have evicted it");
        assert_eq!(fs::read_dir(&profiles).unwrap().count(), 2 * PROFILES_MAX);
    }

    #[test]
    fn a_file_that_another_has_deleted_to_make_room_is_no_error() {
        let dir = tempfile::tempdir().unwrap();
        remove_if_there(&dir.path().join("crash-1.json")).unwrap();
        assert!(remove_if_there(dir.path()).is_err(), "a directory is");
    }
}
