//! Finds the gateway that is meant and talks to it in lines of JSON.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sluice_admin::protocol::{Reply, Request};
use sluice_catalog::profiles::{Kind, ProfileFile, Wish};
use sluice_catalog::snapshot::Snapshot;
use sluice_sockets::lines::json_line;

use super::list;
use super::profile::files::FileError;
use super::reader;
use crate::args::RunDirArg;
use crate::exit::Exit;
use crate::output;
use crate::registry;
use crate::run_dir::{RunDir, RunDirError};
use crate::state_dir;
use crate::stderr;

/// Time limit for the answer of a gateway.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Time beyond a profile's own after which its lateness is explained.
const LATE_PROFILE: Duration = Duration::from_secs(3);
/// Maximum size of a line from a gateway, bytes. A snapshot of a thousand workers is far shorter.
const LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Reason why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error(
        "no gateway runs in {}. Start one with `sluice start`, or select one with --run-dir.", .0.display()
    )]
    NotRunning(PathBuf),
    #[error(
        "the gateway in {} belongs to user {owner}, and only that user and root may reach it: sudo -u {owner} sluice ...",
        run_dir.display()
    )]
    NoRights { run_dir: PathBuf, owner: String },
    #[error("worker {worker} never existed; current workers: {known}")]
    NoWorker { worker: u64, known: String },
    #[error("{0}")]
    RunDir(#[from] RunDirError),
    #[error("the gateway in {} refused: {text}", run_dir.display())]
    Refused { run_dir: PathBuf, text: String },
    #[error("the gateway in {} did not answer within {} s. Check its log.", .0.display(), ANSWER_MAX.as_secs())]
    Silent(PathBuf),
    #[error("the gateway in {} closed the connection before it answered.", .0.display())]
    Gone(PathBuf),
    #[error("the gateway in {} sent an unexpected answer; it may be of another version. {error}", run_dir.display())]
    Answer { run_dir: PathBuf, error: serde_json::Error },
    #[error("{}: {error}", run_dir.display())]
    Io { run_dir: PathBuf, error: io::Error },
    /// Profile of a worker that cannot be read, or file that cannot be written.
    #[error("{0}")]
    Profile(#[from] FileError),
    #[error("standard output: {0}")]
    Output(io::Error),
}

impl ClientError {
    /// Says why, and with which code the command ends.
    pub fn exit(self) -> ExitCode {
        let exit = match self {
            Self::NotRunning(_) => Exit::NotRunning,
            Self::RunDir(_) => Exit::Usage,
            // A reader that has seen enough (`| head`) is no failure.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return Exit::Ok.into(),
            _ => Exit::Failed,
        };
        match &self {
            Self::NotRunning(_) => exit.because(format_args!("{self}{}", list::hint())),
            _ => exit.because(self),
        }
    }
}

/// A connection to a running gateway.
#[derive(Debug)]
pub struct Gateway {
    stream: BufReader<UnixStream>,
    run_dir: PathBuf,
}

impl Gateway {
    pub fn connect(arg: &RunDirArg) -> Result<Self, ClientError> {
        let run_dir = RunDir::locate(arg)?;
        Self::connect_to(run_dir.path(), &run_dir.control_socket())
    }

    pub(crate) fn connect_to(run_dir: &Path, socket: &Path) -> Result<Self, ClientError> {
        let run_dir = run_dir.to_owned();
        match UnixStream::connect(socket) {
            Ok(stream) => {
                let gateway = Self { stream: BufReader::new(stream), run_dir };
                gateway.set_patience(Some(ANSWER_MAX))?;
                Ok(gateway)
            }
            // No socket, or one that a dead gateway left.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
                Err(ClientError::NotRunning(run_dir))
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Err(ClientError::NoRights { owner: registry::user_name(owner_of(&run_dir)), run_dir })
            }
            Err(error) => Err(ClientError::Io { run_dir, error }),
        }
    }

    /// Sets the longest wait for the next line; `None` for no limit.
    pub fn set_patience(&self, patience: Option<Duration>) -> Result<(), ClientError> {
        // No time at all would mean no limit.
        let patience = patience.map(|patience| patience.max(Duration::from_millis(1)));
        let set = self.stream.get_ref().set_read_timeout(patience);
        set.and_then(|()| self.stream.get_ref().set_write_timeout(Some(ANSWER_MAX))).map_err(|error| self.io(error))
    }

    pub fn run_dir(&self) -> &Path {
        &self.run_dir
    }

    /// Directory in which it keeps profiles.
    pub fn state_dir(&self, arg: &RunDirArg) -> PathBuf {
        state_dir::of_instance(arg, &RunDir::inherited(self.run_dir.clone()))
    }

    pub fn send(&mut self, request: &Request) -> Result<(), ClientError> {
        let line = json_line(request).map_err(|error| self.answer(error))?;
        match self.stream.get_mut().write_all(&line) {
            // A gateway that has no room for one more says so and closes, perhaps before this: its reason is still to be read.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(|error| self.io(error)),
        }
    }

    /// The next line; `None` once the gateway has closed the connection.
    pub fn receive<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ClientError> {
        let mut line = Vec::new();
        match self.stream.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_slice(&line).map(Some).map_err(|error| self.answer(error)),
            // A gateway that ends with something of ours unread resets the connection.
            Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
                Ok(None)
            }
            Err(error) => Err(self.io(error)),
        }
    }

    /// The next line, however long it takes; `None` once the gateway has closed the connection. Where nobody reads `output` any more,
    /// that is an error.
    pub fn follow<T: DeserializeOwned>(&mut self, output: BorrowedFd<'_>) -> Result<Option<T>, ClientError> {
        if self.stream.buffer().is_empty() {
            let input = self.stream.get_ref().as_fd();
            if !reader::waits_for(input, output).map_err(|error| self.io(error))? {
                return Err(ClientError::Output(io::ErrorKind::BrokenPipe.into()));
            }
        }
        self.receive()
    }

    /// Sends a request and waits for its reply; a refusal is an error.
    pub fn ask(&mut self, request: &Request) -> Result<Reply, ClientError> {
        self.send(request)?;
        let reply = self.receive::<Reply>()?.ok_or_else(|| ClientError::Gone(self.run_dir.clone()))?;
        self.accepted(reply)
    }

    /// Makes a refusal an error.
    pub fn accepted(&self, reply: Reply) -> Result<Reply, ClientError> {
        if reply.ok {
            return Ok(reply);
        }
        let text = reply.error.or(reply.code).unwrap_or_else(|| "it gave no reason".to_owned());
        Err(ClientError::Refused { run_dir: self.run_dir.clone(), text })
    }

    /// Profiles of workers. If they are late, a line on stderr says why.
    pub fn profiles(&mut self, wish: Wish) -> Result<Vec<ProfileFile>, ClientError> {
        let expected = Duration::from_millis(wish.duration_ms) + LATE_PROFILE;
        let (_until_answered, answered) = mpsc::channel::<()>();
        let explain = move || {
            if answered.recv_timeout(expected) == Err(RecvTimeoutError::Timeout) {
                stderr::say(
                    "sluice: still waiting; a busy worker sends its profile between two requests. Ctrl-C cancels.",
                );
            }
        };
        // A snapshot stops its worker, which the command has said.
        if wish.kind != Kind::Snapshot {
            thread::spawn(explain);
        }
        Ok(self.ask(&Request::Profile(wish))?.profiles.unwrap_or_default())
    }

    pub fn status(&mut self) -> Result<Snapshot, ClientError> {
        let reply = self.ask(&Request::Status)?;
        reply.status.ok_or_else(|| ClientError::Refused {
            run_dir: self.run_dir.clone(),
            text: "its answer contains no status".to_owned(),
        })
    }

    fn io(&self, error: io::Error) -> ClientError {
        let run_dir = self.run_dir.clone();
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => ClientError::Silent(run_dir),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => ClientError::Gone(run_dir),
            _ => ClientError::Io { run_dir, error },
        }
    }

    /// Prints its answer as JSON for other programs.
    pub(super) fn print_json(&self, answer: &impl Serialize) -> Result<ExitCode, ClientError> {
        let mut json = serde_json::to_string_pretty(answer).map_err(|error| self.answer(error))?;
        json.push('\n');
        Ok(output::print(&json))
    }

    pub(super) fn answer(&self, error: serde_json::Error) -> ClientError {
        ClientError::Answer { run_dir: self.run_dir.clone(), error }
    }
}

/// Owner of the directory, or of the nearest one above it that can be seen.
fn owner_of(run_dir: &Path) -> u32 {
    run_dir.ancestors().find_map(|dir| fs::metadata(dir).ok()).map_or(0, |metadata| metadata.uid())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests_support::{FakeGateway, TempDir};

    #[test]
    fn without_a_gateway_the_run_directory_is_named() {
        let dir = TempDir::new();
        let socket = dir.0.join("control.sock");
        for _ in 0..2 {
            let error = Gateway::connect_to(&dir.0, &socket).unwrap_err();
            assert!(matches!(error, ClientError::NotRunning(_)), "{error}");
            assert!(error.to_string().contains(dir.0.to_str().unwrap()));
            // The second time round there is a socket that nobody listens on.
            drop(std::os::unix::net::UnixListener::bind(&socket));
        }
    }

    #[test]
    fn a_refusal_is_told_in_the_gateways_words() {
        let fake = FakeGateway::answering(&[r#"{"ok":false,"code":"scale-refused","error":"At most 4."}"#]);
        let error = fake.connect().ask(&Request::Scale { workers: 9 }).unwrap_err();
        assert!(error.to_string().ends_with("refused: At most 4."), "{error}");
    }

    #[test]
    fn what_a_gateway_said_before_it_closed_is_heard() {
        let dir = TempDir::new();
        let socket = dir.0.join("control.sock");
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let mut gateway = Gateway::connect_to(&dir.0, &socket).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"{\"ok\":false,\"code\":\"connections-full\",\"error\":\"Too many.\"}\n").unwrap();
        drop(stream);
        let error = gateway.ask(&Request::Status).unwrap_err();
        assert!(error.to_string().ends_with("refused: Too many."), "{error}");
    }

    #[test]
    fn a_gateway_that_closes_or_talks_nonsense_is_told_apart() {
        let fake = FakeGateway::answering(&[]);
        assert!(matches!(fake.connect().ask(&Request::Stop).unwrap_err(), ClientError::Gone(_)));
        let fake = FakeGateway::answering(&["HTTP/1.1 400 Bad Request"]);
        assert!(matches!(fake.connect().ask(&Request::Stop).unwrap_err(), ClientError::Answer { .. }));
    }
}
