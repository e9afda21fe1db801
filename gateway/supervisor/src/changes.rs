//! Restarts an app in development when a file that it has loaded changes.
//!
//! The preload of each worker writes the paths of the app's modules to a file beside the worker's socket at the moment
//! of loading. So the list is complete even if the app throws in its first line.
//!
//! The gateway compares modification times, which works in containers and on mounted folders, where the kernel sends no
//! notifications. The list outlives workers, because one that fails early has loaded less than the one before. It must
//! not know what a module is.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use sluice_journal::Level;
use sluice_scheduler::Event;

use crate::loaded::list_beside;
use crate::{Start, Supervisor};

/// Time between two checks of the files.
const PERIOD: Duration = Duration::from_millis(200);
/// Maximum number of watched files. Further ones are not watched.
const FILES_MAX: usize = 10_000;
/// Watches the files until the gateway exits.
pub(crate) async fn run(supervisor: Rc<Supervisor>, further: Vec<PathBuf>) {
    let mut files = Files::default();
    let mut lists: HashMap<PathBuf, List> = HashMap::new();
    for path in &further {
        files.add_all(path);
    }
    if let Some(app) = supervisor.app(1)
        && let Start::Script { entry, .. } = &app.start
    {
        files.add(app.cwd.join(entry));
    }
    loop {
        tokio::time::sleep(PERIOD).await;
        for path in lists_in(&supervisor.sockets) {
            // Looked at first: what it wrote until it was gone is read below.
            let is_gone = !supervisor.processes.borrow().keys().any(|w| list_beside(&supervisor.socket(*w)) == path);
            lists.entry(path.clone()).or_default().read(&path, |path, seen| files.add_seen(path, seen));
            if is_gone {
                lists.remove(&path);
                let _ = fs::remove_file(&path);
            }
        }
        for dir in further.iter().filter(|path| path.is_dir()) {
            files.find_new(dir);
        }
        let Some(changed) = files.look() else { continue };
        let app = supervisor.app(1);
        let name = app.as_ref().and_then(|app| changed.strip_prefix(&app.cwd).ok()).unwrap_or(&changed);
        supervisor.note(Level::Info, &format!("{} has changed: the app restarts", name.display()));
        supervisor.gate.tell(Event::Changed);
    }
}

/// Lists of all workers, including those that have exited since.
fn lists_in(sockets: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(sockets) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "loaded")).collect()
}

/// Progress of reading a worker's list.
#[derive(Default)]
struct List {
    read_bytes: u64,
}

impl List {
    /// Passes new paths to `take`. A line that is still being written waits for the next call.
    fn read(&mut self, list: &Path, mut take: impl FnMut(PathBuf, FileStamp)) {
        let mut text = String::new();
        let read = File::open(list).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read_bytes))?;
            file.read_to_string(&mut text)
        });
        // A worker that has loaded nothing yet has no list.
        if read.is_err() {
            return;
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        self.read_bytes += whole as u64;
        text[..whole].lines().filter_map(loaded).for_each(|(path, seen)| take(path, seen));
    }
}

/// Parses a line: modification time in nanoseconds, size in bytes, and path.
fn loaded(line: &str) -> Option<(PathBuf, FileStamp)> {
    let mut words = line.splitn(3, ' ');
    let changed = SystemTime::UNIX_EPOCH + Duration::from_nanos(words.next()?.parse().ok()?);
    let bytes = words.next()?.parse().ok()?;
    Some((PathBuf::from(words.next()?), Some((changed, bytes))))
}

/// Modification time and size of a file at the last check; `None` if there is none.
type FileStamp = Option<(SystemTime, u64)>;

/// The watched files.
#[derive(Default)]
struct Files {
    known: BTreeMap<PathBuf, FileStamp>,
    /// Files that have changed, until a check finds no further change: editors and compilers write several files, and
    /// some twice.
    changed: BTreeSet<PathBuf>,
}

impl Files {
    fn add(&mut self, path: PathBuf) {
        let seen = seen(&path);
        self.add_seen(path, seen);
    }

    /// Adds the file with the time and size that the preload saw.
    fn add_seen(&mut self, path: PathBuf, seen: FileStamp) {
        if self.known.len() < FILES_MAX {
            self.known.entry(path).or_insert(seen);
        }
    }

    /// Adds the file, or all files below the directory.
    fn add_all(&mut self, path: &Path) {
        walk(path, FILES_MAX, &mut |file| self.add(file));
    }

    /// Marks files that are new below a watched directory as changed.
    fn find_new(&mut self, dir: &Path) {
        walk(dir, FILES_MAX, &mut |file| {
            if self.known.len() < FILES_MAX {
                self.known.entry(file).or_insert(None);
            }
        });
    }

    /// Returns a changed file as soon as no further file changes.
    fn look(&mut self) -> Option<PathBuf> {
        let mut is_quiet = true;
        for (path, known) in &mut self.known {
            let now = seen(path);
            if now != *known {
                is_quiet = false;
                *known = now;
                self.changed.insert(path.clone());
            }
        }
        if !is_quiet {
            return None;
        }
        // A file that is replaced is missing for a moment, and is no app. One that is gone for good must not hide the change of another.
        let is_there = |path: &&PathBuf| self.known.get(*path).is_some_and(Option::is_some);
        let changed = self.changed.iter().find(is_there).cloned()?;
        self.changed.clear();
        Some(changed)
    }
}

/// Passes the file, or the files below the directory, to `take`, without those that packages and tools keep there.
fn walk(path: &Path, files_max: usize, take: &mut impl FnMut(PathBuf)) {
    let mut open = vec![path.to_owned()];
    let mut count = 0;
    while let Some(path) = open.pop() {
        let Ok(entries) = fs::read_dir(&path) else {
            count += 1;
            take(path);
            if count >= files_max {
                return;
            }
            continue;
        };
        let is_own = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            name != "node_modules" && !name.as_encoded_bytes().starts_with(b".")
        };
        // A link may lead to where it stands.
        let is_plain = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
        open.extend(entries.flatten().filter(|entry| is_own(entry) && is_plain(entry)).map(|entry| entry.path()));
    }
}

fn seen(path: &Path) -> FileStamp {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_is_told_once_when_the_files_rest() {
        let dir = tempfile::tempdir().unwrap();
        let (one, other) = (dir.path().join("one.js"), dir.path().join("other.js"));
        fs::write(&one, "1").unwrap();
        let mut files = Files::default();
        files.add(one.clone());
        files.add(other.clone());
        assert_eq!(files.look(), None);
        fs::write(&one, "12").unwrap();
        assert_eq!(files.look(), None, "it may be written further");
        assert_eq!(files.look(), Some(one.clone()));
        assert_eq!(files.look(), None);
        fs::write(&other, "").unwrap();
        assert_eq!(files.look(), None);
        assert_eq!(files.look(), Some(other), "one that was missing is there");
        fs::remove_file(&one).unwrap();
        assert_eq!((files.look(), files.look()), (None, None), "it may be about to be replaced");
        fs::write(&one, "123").unwrap();
        assert_eq!((files.look(), files.look()), (None, Some(one)));
    }

    #[test]
    fn file_that_is_renamed_does_not_hide_the_changes_of_others() {
        let dir = tempfile::tempdir().unwrap();
        let (gone, other) = (dir.path().join("gone.js"), dir.path().join("other.js"));
        let mut files = Files::default();
        for file in [&gone, &other] {
            fs::write(file, "1").unwrap();
            files.add(file.clone());
        }
        fs::rename(&gone, dir.path().join("new.js")).unwrap();
        assert_eq!((files.look(), files.look()), (None, None));
        fs::write(&other, "12").unwrap();
        assert_eq!((files.look(), files.look(), files.look()), (None, Some(other), None));
    }

    #[test]
    fn file_that_changed_since_it_was_loaded_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.js");
        fs::write(&file, "1").unwrap();
        let Some((changed, bytes)) = seen(&file) else { panic!() };
        let nanos = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        for (bytes, expected) in [(bytes, None), (bytes + 1, Some(file.clone()))] {
            let mut files = Files::default();
            let (path, seen) = loaded(&format!("{nanos} {bytes} {}", file.display())).unwrap();
            files.add_seen(path, seen);
            assert_eq!((files.look(), files.look()), (None, expected));
        }
        assert_eq!(loaded("half a line"), None);
    }

    #[test]
    fn new_file_below_a_watched_directory_is_a_change_and_packages_are_none() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["views/parts", "node_modules/x", ".git"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("views/a.html"), "1").unwrap();
        let mut files = Files::default();
        files.add_all(dir.path());
        let mut look = || {
            files.find_new(dir.path());
            files.look()
        };
        assert_eq!((look(), look()), (None, None));
        let new = dir.path().join("views/parts/b.html");
        for file in [&new, &dir.path().join("node_modules/x/c.js"), &dir.path().join(".git/HEAD")] {
            fs::write(file, "1").unwrap();
        }
        assert_eq!((look(), look(), look()), (None, Some(new), None));
    }

    #[test]
    fn list_is_read_line_by_line_as_it_grows() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("1.sock.loaded");
        let mut list = List::default();
        let mut read = || {
            let mut paths = Vec::new();
            list.read(&file, |path, _| paths.push(path.display().to_string()));
            paths
        };
        assert_eq!(read(), [""; 0]);
        fs::write(&file, "1 2 /a b.js\n1 2 /c").unwrap();
        assert_eq!(read(), ["/a b.js"]);
        fs::write(&file, "1 2 /a b.js\n1 2 /c.js\n").unwrap();
        assert_eq!(read(), ["/c.js"]);
    }
}
