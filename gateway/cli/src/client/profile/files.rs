//! The files of a profile: where they go, how many are kept, and that nothing is left of what was broken off.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Child};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sluice_catalog::profiles::PROFILES_DIR;
use sluice_observe::{make_room, write_whole};
use sluice_profiles::{Profile, ReadError};

use crate::stderr;

/// Reason why files of a profile cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Error of reading or writing.
    #[error("{}: {source}", file.display())]
    Io { file: PathBuf, source: io::Error },
    /// File that is no CPU profile.
    #[error("{}: {source}", file.display())]
    Profile { file: PathBuf, source: ReadError },
    /// File that is no JSON, or says something else than expected.
    #[error("{}: {source}", file.display())]
    Json { file: PathBuf, source: serde_json::Error },
    /// The gateway names profiles on stdin.
    #[error("standard input is not a list of profiles: {0}")]
    Stdin(serde_json::Error),
    #[error("there is no profile {0} of a slow request; `sluice profile --tail` lists them")]
    NoTail(u64),
    #[error("the gateway named no profile")]
    Missing,
    /// File that is too large to read.
    #[error("{}: its {bytes} bytes exceed the limit of {FILE_BYTES_MAX}; take a shorter profile", file.display())]
    Large { file: PathBuf, bytes: u64 },
    /// Reason why perf has recorded nothing, and what to do.
    #[error("perf: {0}")]
    Perf(String),
    /// Error of what comes after the profile itself.
    #[error("{source}; the profile is in {}", file.display())]
    Kept { file: PathBuf, source: Box<FileError> },
}

impl FileError {
    /// The same error, with the profile that was written before.
    pub fn with_kept(self, file: PathBuf) -> Self {
        Self::Kept { file, source: Box::new(self) }
    }
}

/// Longest profile file that is read.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Exit code by which a shell knows that Ctrl-C ended a command.
const INTERRUPTED: i32 = 130;

/// Files that are removed if the command is broken off.
static UNFINISHED: LazyLock<Mutex<Vec<PathBuf>>> = LazyLock::new(Mutex::default);

/// Process groups of programs that end if the command is broken off.
static STARTED: LazyLock<Mutex<Vec<Pid>>> = LazyLock::new(Mutex::default);

/// Ends at Ctrl-C, SIGTERM and SIGHUP, from now on, each [`StartedProgram`], and removes all that [`TemporaryPath`] names.
pub fn clean_up_at_signals() {
    thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let (Ok(mut int), Ok(mut term), Ok(mut hangup)) =
                (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
            else {
                return;
            };
            tokio::select! {
                _ = int.recv() => {}
                _ = term.recv() => {}
                _ = hangup.recv() => {}
            }
            end_started();
            for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                remove(path);
            }
            process::exit(INTERRUPTED);
        });
    });
}

/// Reads a file that somebody names into the profile, as a track of this name.
///
/// # Errors
/// Where it is not readable, too large, or no profile.
pub fn read_into(profile: &mut Profile, file: &Path, name: &str) -> Result<(), FileError> {
    let io = |source| FileError::Io { file: file.to_owned(), source };
    let opened = File::open(file).map_err(io)?;
    let bytes = opened.metadata().map_err(io)?.len();
    if bytes > FILE_BYTES_MAX {
        return Err(FileError::Large { file: file.to_owned(), bytes });
    }
    profile.read(name, opened).map_err(|source| FileError::Profile { file: file.to_owned(), source })
}

/// Ends programs, which would write on into files that are removed.
fn end_started() {
    for group in STARTED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let _ = killpg(*group, Signal::SIGKILL);
    }
}

/// A program that leads a process group, until it has ended.
pub struct StartedProgram(Pid);

impl StartedProgram {
    pub fn new(leader: &Child) -> Self {
        let group = Pid::from_raw(leader.id().cast_signed());
        STARTED.lock().unwrap_or_else(PoisonError::into_inner).push(group);
        Self(group)
    }
}

impl Drop for StartedProgram {
    fn drop(&mut self) {
        STARTED.lock().unwrap_or_else(PoisonError::into_inner).retain(|group| *group != self.0);
    }
}

/// A file or directory that is taken away at the end, however that comes.
pub struct TemporaryPath(PathBuf);

impl TemporaryPath {
    pub fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        Self(path.to_owned())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryPath {
    fn drop(&mut self) {
        remove(&self.0);
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|path| *path != self.0);
    }
}

fn remove(path: &Path) {
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

/// Names of the files of one profile, without their extensions.
pub struct Names {
    stem: PathBuf,
    /// The same in the run directory, for when the state directory takes no file.
    instead: Option<PathBuf>,
    /// True if they are in the run directory, which keeps only the latest.
    is_kept_few: bool,
}

impl Names {
    /// `out`: what the user wants them to be called, with or without an extension, or the directory where they are wanted.
    ///
    /// # Errors
    /// Where there is no such directory, before anything is done that takes time.
    pub fn new(out: Option<&Path>, state_dir: &Path, what: &str) -> Result<Self, FileError> {
        let own = || format!("{what}-{}", stamp());
        let is_dir = |out: &Path| out.is_dir() || out.as_os_str().as_encoded_bytes().ends_with(b"/");
        let names = match out {
            Some(out) if is_dir(out) => Self { stem: out.join(own()), instead: None, is_kept_few: false },
            Some(out) => {
                let known = ["cpuprofile", "html", "heapprofile", "heapsnapshot"];
                let has_known = out.extension().is_some_and(|end| known.iter().any(|known| end == *known));
                let stem = if has_known { out.with_extension("") } else { out.to_owned() };
                Self { stem: std::path::absolute(&stem).unwrap_or(stem), instead: None, is_kept_few: false }
            }
            None => {
                let stem = state_dir.join(PROFILES_DIR).join(own());
                return Ok(Self { stem, instead: None, is_kept_few: true });
            }
        };
        let dir = names.stem.parent().unwrap_or(&names.stem);
        match std::fs::read_dir(dir) {
            Ok(_) => Ok(names),
            Err(source) => Err(FileError::Io { file: dir.to_owned(), source }),
        }
    }

    /// Names that begin with a whole file name: `CPU.cpuprofile.html`.
    pub fn beside(file: &Path) -> Self {
        Self { stem: file.to_owned(), instead: None, is_kept_few: false }
    }

    /// The same, with the run directory for files that the state directory does not take. The user's own choice stays.
    pub fn or_in(self, run_dir: &Path) -> Self {
        let name = self.stem.file_name().filter(|_| self.is_kept_few);
        let instead = name.map(|name| run_dir.join(PROFILES_DIR).join(name)).filter(|instead| *instead != self.stem);
        Self { instead, ..self }
    }

    pub fn with(&self, extension: &str) -> PathBuf {
        with_extension(&self.stem, extension)
    }

    /// Writes a file that nobody else can read. Returns its name.
    pub fn write(&self, extension: &str, bytes: &[u8]) -> Result<PathBuf, FileError> {
        self.keep(extension, |file| {
            let _part = TemporaryPath::new(&part(file));
            write_whole(file, bytes)
        })
    }

    /// Moves a file there, across file systems if need be. Returns its name.
    pub fn take(&self, extension: &str, from: &Path) -> Result<PathBuf, FileError> {
        self.keep(extension, |file| match std::fs::rename(from, file) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let part = TemporaryPath::new(&part(file));
                std::fs::copy(from, part.path()).and_then(|_| std::fs::rename(part.path(), file))
            }
            moved => moved,
        })
    }

    /// Writes a file where it is to be, or in the run directory, by `write`.
    fn keep(&self, extension: &str, write: impl Fn(&Path) -> io::Result<()>) -> Result<PathBuf, FileError> {
        let file = self.with(extension);
        let Err(source) = self.make_room(&file).and_then(|()| write(&file)) else { return Ok(file) };
        if let Some(instead) = &self.instead {
            let other = with_extension(instead, extension);
            if self.make_room(&other).and_then(|()| write(&other)).is_ok() {
                stderr::say(format_args!(
                    "sluice: {}: {source}; written to {} instead",
                    file.display(),
                    other.display()
                ));
                return Ok(other);
            }
        }
        Err(FileError::Io { file, source })
    }

    fn make_room(&self, file: &Path) -> io::Result<()> {
        if self.is_kept_few { make_room(file) } else { Ok(()) }
    }
}

fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Name of a file while it is written.
fn part(file: &Path) -> PathBuf {
    file.with_extension(format!("{}.part", process::id()))
}

/// The time in UTC, to the second, and this process, as others may write in the same second: 20261123T094500Z-4711.
fn stamp() -> String {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let time = sluice_journal::timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX));
    time.split('.').next().unwrap_or(&time).replace(['-', ':'], "") + &format!("Z-{}", process::id())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

    use super::*;

    #[test]
    fn a_started_program_ends_with_the_command() {
        let mut sleep = process::Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let started = StartedProgram::new(&sleep);
        end_started();
        assert_eq!(sleep.wait().unwrap().signal(), Some(9));
        let group = started.0;
        drop(started);
        assert!(!STARTED.lock().unwrap().contains(&group));
    }

    #[test]
    fn an_error_after_the_profile_names_it() {
        let source = io::Error::from(io::ErrorKind::NotFound);
        let error = FileError::Io { file: "flame.html".into(), source }.with_kept("a.cpuprofile".into());
        assert_eq!(error.to_string(), "flame.html: entity not found; the profile is in a.cpuprofile");
    }

    #[test]
    fn a_stamp_is_of_digits() {
        let stamp = stamp();
        let (time, own) = stamp.split_once('-').unwrap();
        assert_eq!((time.len(), own), ("20261123T094500Z".len(), process::id().to_string().as_str()));
        assert!(time.starts_with("20"));
    }

    #[test]
    fn files_are_called_as_the_user_says_or_kept_in_the_run_directory() {
        let dir = tempfile::tempdir().unwrap();
        let named = |out: &Path| Names::new(Some(out), Path::new("/run/x"), "profile");
        let inside = named(dir.path()).unwrap().with("html");
        assert_eq!(inside.parent(), Some(dir.path()));
        assert!(named(&dir.path().join("missing/a")).is_err());
        assert!(named(&dir.path().join("missing/")).is_err(), "before a worker stands still for it");
        let named = named(&dir.path().join("a.b.html")).unwrap();
        assert_eq!(named.with("cpuprofile"), dir.path().join("a.b.cpuprofile"));
        assert_eq!(named.with("html"), dir.path().join("a.b.html"));
        let kept = Names::new(None, dir.path(), "profile").unwrap();
        let file = kept.write("html", b"page").unwrap();
        assert_eq!(file.parent(), Some(dir.path().join("profiles").as_path()));
        assert_eq!(std::fs::read(&file).unwrap(), b"page");
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn the_run_directory_takes_what_the_state_directory_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let (blocked, run) = (dir.path().join("file"), dir.path().join("run"));
        std::fs::write(&blocked, "").unwrap();
        let names = Names::new(None, &blocked, "heap").unwrap().or_in(&run);
        let page = names.write("html", b"page").unwrap();
        assert_eq!(page.parent(), Some(run.join("profiles").as_path()));
        let raw = dir.path().join("raw");
        std::fs::write(&raw, "{}").unwrap();
        let taken = names.take("heapprofile", &raw).unwrap();
        assert_eq!((taken.with_extension("html"), std::fs::read(&taken).unwrap()), (page, b"{}".to_vec()));
        let chosen = Names::new(Some(&dir.path().join("out")), &blocked, "heap").unwrap().or_in(&run);
        assert!(chosen.instead.is_none(), "the user has named a place");
        let nowhere = Names::new(None, &blocked, "heap").unwrap().or_in(&blocked);
        assert!(nowhere.write("html", b"page").is_err());
    }

    #[test]
    fn what_is_unfinished_goes() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("taken");
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(inner.join("a"), "a").unwrap();
        drop(TemporaryPath::new(&inner));
        assert!(!inner.exists());
    }
}
