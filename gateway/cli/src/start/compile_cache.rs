//! Compile cache of Node.js for the workers to come: its directory, and the bound on its size. The cache is code that workers
//! run, so the directory is this user's alone. Nothing depends on it: what is missing or broken is compiled, as Node.js checks
//! each file against its source.
//!
//! The cache is code that workers run, so the directory is this user's alone. Nothing depends on it: what is missing or broken
//! is compiled, as Node.js checks each file against its source.

use std::env;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use sluice_catalog::config::Config;

use super::operator::Gateway;
use crate::run_dir::{RunDir, private_dir};

/// Interval of checks of the size, besides those at the start and at a reload.
const PRUNE_EVERY: Duration = Duration::from_secs(3_600);
/// Maximum number of files that are checked at a time.
const FILES_MAX: usize = 200_000;

/// Variables by which a user says what becomes of the cache, or that exact coverage is wanted.
const USERS: [&str; 3] = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE", "NODE_V8_COVERAGE"];

/// The directory for workers that start; `None` without a cache.
pub fn place(config: &Config, run_dir: &RunDir) -> Option<PathBuf> {
    let is_users = |name: &&str| config.app.env.contains_key(*name) || env::var_os(name).is_some();
    if USERS.iter().any(is_users) {
        return None;
    }
    let variable = |name: &str| env::var_os(name);
    // A home that cannot be written is no fault: many containers have none.
    let places = default_place(variable).into_iter().chain([run_dir.path().join("compile-cache")]);
    places.into_iter().find(|dir| private_dir(dir).is_ok())
}

/// systemd's `CacheDirectory=`, else the user's caches.
fn default_place(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    // Of several directories, which systemd separates by colons, the first.
    let of_service = variable("CACHE_DIRECTORY").and_then(|text| {
        let text = text.to_str()?.split(':').next()?.to_owned();
        Some(PathBuf::from(text)).filter(|path| path.is_absolute())
    });
    if let Some(dir) = of_service {
        return Some(dir.join("compile-cache"));
    }
    let home = || Some(absolute("HOME")?.join(if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" }));
    Some(absolute("XDG_CACHE_HOME").or_else(home)?.join("sluice/compile-cache"))
}

/// Keeps the directory below its bound for as long as the gateway runs.
pub fn start(gateway: &Rc<Gateway>, dir: Option<PathBuf>) {
    let Some(dir) = dir else { return };
    let (gateway, tasks) = (Rc::clone(gateway), gateway.tasks.clone());
    tasks.spawn("compile-cache", async move {
        loop {
            let (dir, bytes_max) = (dir.clone(), bound(&gateway.gate.road.config()));
            let _ = tokio::task::spawn_blocking(move || prune(&dir, bytes_max)).await;
            tokio::time::sleep(PRUNE_EVERY).await;
        }
    });
}

fn bound(config: &Config) -> u64 {
    config.bounds.compile_cache_bytes_max
}

/// Deletes the files that were written first until three quarters of the bound are left, if it is exceeded. What a worker
/// still needs of them is compiled and written again, so what stays is what is in use.
fn prune(dir: &Path, bytes_max: u64) -> io::Result<()> {
    let mut files = files(dir)?;
    let mut bytes: u64 = files.iter().map(|file| file.bytes).sum();
    if bytes <= bytes_max {
        return Ok(());
    }
    files.sort_by_key(|file| file.written);
    for file in files {
        if bytes <= bytes_max / 4 * 3 {
            break;
        }
        // A worker may have replaced or another gateway have deleted it meanwhile.
        if fs::remove_file(&file.path).is_ok() {
            bytes -= file.bytes;
        }
    }
    for version in entries(dir)? {
        // It goes only where it is empty.
        let _ = fs::remove_dir(version.path());
    }
    Ok(())
}

struct CacheFile {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

/// The files of Node.js, which has a directory for each of its versions.
fn files(dir: &Path) -> io::Result<Vec<CacheFile>> {
    let mut files = Vec::new();
    for version in entries(dir)?.filter(is_version) {
        let Ok(cached) = entries(&version.path()) else { continue };
        for entry in cached.filter(is_cached) {
            // Of the entry itself: a link is not followed.
            let Some(metadata) = entry.metadata().ok().filter(Metadata::is_file) else { continue };
            let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push(CacheFile { path: entry.path(), bytes: metadata.len(), written });
            if files.len() >= FILES_MAX {
                return Ok(files);
            }
        }
    }
    Ok(files)
}

fn entries(dir: &Path) -> io::Result<impl Iterator<Item = DirEntry> + use<>> {
    Ok(fs::read_dir(dir)?.filter_map(Result::ok))
}

/// `v24.21.0-x64-964aae3f-0`.
fn is_version(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_named = name.starts_with('v') && name.split('-').count() >= 4;
    is_named && entry.file_type().is_ok_and(|kind| kind.is_dir())
}

/// `6791e3b7`, and with more behind it while it is written.
fn is_cached(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let hash = name.as_encoded_bytes().get(..8);
    hash.is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    struct Dir(PathBuf);

    impl Dir {
        fn new(name: &str) -> Self {
            let path = env::temp_dir().join(format!("sluice-cache-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn write(path: &Path, bytes: usize, age_s: u64) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![b'x'; bytes]).unwrap();
        let written = SystemTime::now() - Duration::from_secs(age_s);
        fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
    }

    #[test]
    fn what_was_written_first_goes_and_nothing_that_is_not_of_node() {
        let dir = Dir::new("prune");
        let (old, new) = (dir.0.join("v22.1.0-x64-0a1b2c3d-0"), dir.0.join("v24.1.0-x64-0a1b2c3d-0"));
        write(&old.join("0a1b2c3d"), 300, 900);
        write(&old.join("0a1b2c3d.Xy12ab"), 100, 800);
        write(&new.join("11112222"), 300, 700);
        write(&new.join("33334444"), 300, 10);
        let others = [dir.0.join("v1-notes.txt"), new.join("README"), dir.0.join("photos/aaaabbbb")];
        for other in &others {
            write(other, 5_000, 9_999);
        }
        prune(&dir.0, 1_000).unwrap();
        assert!(old.join("0a1b2c3d").exists(), "it is not over the bound");
        prune(&dir.0, 900).unwrap();
        assert!(!old.exists(), "its directory is empty now");
        assert!(new.join("11112222").exists() && new.join("33334444").exists());
        prune(&dir.0, 500).unwrap();
        assert!(!new.join("11112222").exists() && new.join("33334444").exists());
        assert!(others.iter().all(|other| other.exists()));
    }

    #[test]
    fn place_is_the_services_else_the_users() {
        let place = |known: &[(&str, &str)]| {
            let known: Vec<(String, String)> = known.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            default_place(move |name| known.iter().find(|(known, _)| known == name).map(|(_, value)| value.into()))
        };
        let home = if cfg!(target_os = "macos") { "/h/Library/Caches" } else { "/h/.cache" };
        assert_eq!(place(&[("HOME", "/h")]), Some(PathBuf::from(home).join("sluice/compile-cache")));
        let with_xdg = [("HOME", "/h"), ("XDG_CACHE_HOME", "/x")];
        assert_eq!(place(&with_xdg), Some(PathBuf::from("/x/sluice/compile-cache")));
        let of_service = [("HOME", "/h"), ("CACHE_DIRECTORY", "/var/cache/shop:/var/cache/other")];
        assert_eq!(place(&of_service), Some(PathBuf::from("/var/cache/shop/compile-cache")));
        assert_eq!(place(&[("XDG_CACHE_HOME", "not/absolute")]), None);
        assert_eq!(place(&[]), None);
    }

    #[test]
    fn directory_that_others_may_enter_is_refused() {
        let dir = Dir::new("open");
        fs::set_permissions(&dir.0, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(private_dir(&dir.0).is_err());
        private_dir(&dir.0.join("own")).unwrap();
        assert_eq!(fs::metadata(dir.0.join("own")).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
