//! Opens a file below a directory, and nothing outside of it, even if the files change meanwhile.
//!
//! A path is walked name by name from the open directory, and no step follows a symbolic link. The target of a link is
//! resolved first, must be inside, and is then walked in the same way. A link that appears between the two is an error,
//! not a way out. Everything here blocks.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::SystemTime;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use sluice_message::{Coding, CodingChoice};

use super::path::is_servable;

/// A regular file.
pub(crate) struct OpenFile {
    pub(crate) file: File,
    pub(crate) encoding: Option<Coding>,
    /// Strong entity tag: it differs with length, time and encoding.
    pub(crate) etag: String,
    pub(crate) modified: Option<SystemTime>,
    pub(crate) len: u64,
}

/// The file at `relative` below `dir`, or the first of its accepted compressed siblings.
///
/// # Errors
/// Where there is no regular file that may be sent, for whatever reason.
pub(crate) fn open(dir: &Path, relative: &Path, accepted: CodingChoice) -> io::Result<OpenFile> {
    let end = match walk(dir, relative) {
        // A link on the way gives ENOTDIR, one at the end ELOOP (EMLINK on some systems).
        Err(Errno::ELOOP | Errno::ENOTDIR | Errno::EMLINK) => walk_to_where_links_lead(dir, relative)?,
        end => end?,
    };
    let plain = describe(end.file, None)?;
    for encoding in accepted.iter() {
        let mut sibling = end.name.clone();
        sibling.push(extension(encoding));
        if let Ok(file) = open_file(&end.parent, &sibling)
            && let Ok(opened) = describe(file, Some(encoding))
        {
            return Ok(opened);
        }
    }
    Ok(plain)
}

/// File extension of a compressed sibling, after the name of the plain file.
fn extension(encoding: Coding) -> &'static str {
    match encoding {
        Coding::Zstd => ".zst",
        Coding::Brotli => ".br",
        Coding::Gzip => ".gz",
    }
}

/// Result of a walk: the open file, its name and its parent.
struct End {
    parent: OwnedFd,
    name: OsString,
    file: OwnedFd,
}

/// Walks to a file. The directory itself is opened as the operator named it, links included, and each time anew, so
/// that it may be replaced.
fn walk(dir: &Path, relative: &Path) -> Result<End, Errno> {
    let mut parent = nix::fcntl::open(dir, DIRECTORY, Mode::empty())?;
    let mut names = relative.iter();
    let name = names.next_back().ok_or(Errno::EISDIR)?;
    for name in names {
        parent = openat(&parent, name, DIRECTORY.union(OFlag::O_NOFOLLOW), Mode::empty())?;
    }
    let file = open_file(&parent, name)?;
    Ok(End { parent, name: name.to_owned(), file })
}

fn walk_to_where_links_lead(dir: &Path, relative: &Path) -> io::Result<End> {
    let root = dir.canonicalize()?;
    let real = root.join(relative).canonicalize()?;
    let inside = real.strip_prefix(&root).map_err(|_| io::ErrorKind::NotFound)?;
    if !inside.iter().all(|name| is_servable(name.as_bytes())) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(walk(&root, inside)?)
}

/// Flag for directories on the way. They are only passed through, which needs fewer rights than reading them on systems
/// that distinguish the two.
#[cfg(target_os = "linux")]
const PASSAGE: OFlag = OFlag::O_PATH;
#[cfg(not(target_os = "linux"))]
const PASSAGE: OFlag = OFlag::O_RDONLY;
const DIRECTORY: OFlag = PASSAGE.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

/// Opens a file. `O_NONBLOCK` avoids waiting for a named pipe; `O_NOCTTY` keeps a terminal from becoming the gateway's
/// own.
fn open_file(parent: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

fn describe(file: OwnedFd, encoding: Option<Coding>) -> io::Result<OpenFile> {
    let file = File::from(file);
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let suffix = encoding.map_or("", extension);
    let etag = format!("\"{:x}-{:x}.{:x}{suffix}\"", found.len(), found.mtime(), found.mtime_nsec());
    Ok(OpenFile { file, encoding, etag, modified: found.modified().ok(), len: found.len() })
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::super::SIBLINGS;
    use super::*;

    /// `site/` is served; `secret` lies beside it.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(dir.path().join("site/deep/er")).unwrap();
            let tree = Tree(dir);
            tree.write("secret", "secret");
            tree.write("site/a.js", "a");
            tree.write("site/deep/er/b.js", "b");
            tree
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.path(path), text).unwrap();
        }

        fn link(&self, to: impl AsRef<Path>, at: &str) {
            symlink(to, self.path(at)).unwrap();
        }

        /// Content that is sent for this path.
        fn read(&self, relative: &str) -> Option<String> {
            let mut text = String::new();
            let opened = open(&self.path("site"), Path::new(relative), CodingChoice::default()).ok()?;
            (&opened.file).read_to_string(&mut text).unwrap();
            Some(text)
        }
    }

    #[test]
    fn regular_files_are_opened_and_nothing_else() {
        let tree = Tree::new();
        assert_eq!(tree.read("a.js").as_deref(), Some("a"));
        assert_eq!(tree.read("deep/er/b.js").as_deref(), Some("b"));
        for path in ["", "deep", "deep/er", "missing.js", "a.js/b.js", "deep/missing/b.js"] {
            assert_eq!(tree.read(path), None, "{path}");
        }
        nix::unistd::mkfifo(&tree.path("site/pipe"), Mode::S_IRWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(tree.path("site/socket")).unwrap();
        assert_eq!((tree.read("pipe"), tree.read("socket")), (None, None));
    }

    #[test]
    fn links_are_followed_inside_and_never_out() {
        let tree = Tree::new();
        tree.link("a.js", "site/inside.js");
        tree.link(tree.path("site/deep/er"), "site/absolute");
        tree.link("../../a.js", "site/deep/er/up.js");
        for (path, text) in [("inside.js", "a"), ("absolute/b.js", "b"), ("absolute/up.js", "a")] {
            assert_eq!(tree.read(path).as_deref(), Some(text), "{path}");
        }
        tree.link("../secret", "site/out.js");
        tree.link(tree.path("secret"), "site/absolute-out.js");
        tree.link("..", "site/parent");
        tree.link("out.js", "site/twice.js");
        tree.link("parent/site/a.js", "site/out-and-in.js");
        tree.link("loop.js", "site/loop.js");
        tree.link("gone", "site/dangling.js");
        for path in ["out.js", "absolute-out.js", "parent/secret", "twice.js", "loop.js", "dangling.js"] {
            assert_eq!(tree.read(path), None, "{path}");
        }
        // What counts is where a link ends.
        assert_eq!(tree.read("out-and-in.js").as_deref(), Some("a"));
        std::fs::create_dir(tree.path("site/.git")).unwrap();
        tree.write("site/.git/config", "private");
        tree.link(".git/config", "site/config.txt");
        assert_eq!(tree.read("config.txt"), None);
        // A directory whose name only begins in the same way is another one.
        std::fs::create_dir(tree.path("site-b")).unwrap();
        tree.write("site-b/x.js", "x");
        tree.link("../site-b/x.js", "site/neighbour.js");
        assert_eq!(tree.read("neighbour.js"), None);
    }

    #[test]
    fn directory_that_is_a_link_may_be_switched_to_another() {
        let tree = Tree::new();
        std::fs::create_dir(tree.path("next")).unwrap();
        tree.write("next/a.js", "new");
        tree.link("site", "current");
        let read = || {
            let mut text = String::new();
            let opened = open(&tree.path("current"), Path::new("a.js"), CodingChoice::default()).unwrap();
            (&opened.file).read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(read(), "a");
        tree.link("next", "current.new");
        std::fs::rename(tree.path("current.new"), tree.path("current")).unwrap();
        assert_eq!(read(), "new");
    }

    #[test]
    fn link_that_comes_and_goes_never_leads_out() {
        let tree = Tree::new();
        std::fs::create_dir(tree.path("outside")).unwrap();
        tree.write("outside/b.js", "secret");
        tree.link("deep/er", "site/good");
        let stop = AtomicBool::new(false);
        let mut leaked = false;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    for target in ["../outside", "deep/er"] {
                        let _ = std::fs::remove_file(tree.path("next"));
                        tree.link(target, "next");
                        std::fs::rename(tree.path("next"), tree.path("site/good")).unwrap();
                    }
                }
            });
            leaked = (0..3000).any(|_| tree.read("good/b.js").as_deref() == Some("secret"));
            stop.store(true, Ordering::Relaxed);
        });
        assert!(!leaked);
    }

    #[test]
    fn accepted_sibling_comes_instead_and_has_a_tag_of_its_own() {
        let tree = Tree::new();
        let site = tree.path("site");
        let ask = |name: &str, accept: &str| {
            let opened =
                open(&site, Path::new(name), CodingChoice::of(std::iter::once(accept.as_bytes()), &SIBLINGS)).unwrap();
            (opened.encoding, opened.etag)
        };
        assert_eq!(ask("a.js", "br, gzip").0, None);
        tree.write("site/a.js.gz", "z");
        assert_eq!(ask("a.js", "br, gzip").0, Some(Coding::Gzip));
        tree.write("site/a.js.br", "b");
        let tags = ["", "gzip", "br"].map(|accept| ask("a.js", accept).1);
        assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2], "{tags:?}");
        // A sibling alone is no file, one that leads out or is no regular file is none either.
        tree.write("site/alone.js.br", "b");
        assert!(
            open(&site, Path::new("alone.js"), CodingChoice::of(std::iter::once(b"br".as_slice()), &SIBLINGS)).is_err()
        );
        std::fs::create_dir(tree.path("site/deep/er/b.js.gz")).unwrap();
        tree.link("../../../secret", "site/deep/er/b.js.br");
        assert_eq!(ask("deep/er/b.js", "br, gzip").0, None);
    }
}
