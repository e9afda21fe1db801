//! A worker as the gateway sees it: connections on its socket, and what its preload says. Each test has it make one fault.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use nix::sys::stat::Mode;
use sluice_scheduler::{RequestId, WorkerId};
use sluice_supervisor::{CpuReport, Gate as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::gate::Gate;
use sluice_wire::socket::memory::{End, Listener, MEMORY};

/// Stands for the field by which an answer shows whose it is, in what a worker writes.
pub(super) const MARK: &str = "{mark}";

/// What a preload says of a light request.
const REPORTED: CpuReport<'static> =
    CpuReport { cpu_us: Some(1000), weight: None, route: None, runs: &[], longest: None, handler_us: None };

pub(super) struct Worker {
    gate: Rc<Gate>,
    pub(super) id: WorkerId,
    pub(super) listener: Listener,
}

/// A request that the worker has read the head of, and the connection that it came on.
pub(super) struct Call {
    gate: Rc<Gate>,
    worker: WorkerId,
    end: End,
    pub(super) id: RequestId,
    token: String,
    pub(super) head: String,
}

impl Worker {
    pub(super) fn listen(gate: &Rc<Gate>, id: WorkerId, has_preload: bool) -> Self {
        let listener = Listener::bind(path_of(id));
        gate.workers().listening(id, path_of(id), has_preload);
        Worker { gate: Rc::clone(gate), id, listener }
    }

    /// The next request on a new connection, as far as its head.
    pub(super) async fn call(&self) -> Call {
        let end = self.listener.accept().await;
        Call::read(&self.gate, self.id, end).await.expect("a request comes on a new connection")
    }

    /// A connection of which nothing is read.
    pub(super) async fn accept(&self) -> End {
        self.listener.accept().await
    }

    /// Takes requests ahead of time, of which it reads the numbers out of this pipe.
    pub(super) fn takes_ahead(&self, pipe: &Path) {
        nix::unistd::mkfifo(pipe, Mode::S_IRUSR | Mode::S_IWUSR).expect("a pipe");
        self.gate.workers().takes_ahead(self.id, pipe);
    }

    /// The app has another server at the same place.
    pub(super) fn listen_afresh(&self) {
        self.gate.workers().listening(self.id, path_of(self.id), true);
    }

    /// Its process is gone; the kernel closes what it had.
    pub(super) fn exit(self) {
        let Worker { gate, id, listener } = self;
        drop(listener);
        gate.workers().exited(id);
    }
}

fn path_of(worker: WorkerId) -> PathBuf {
    PathBuf::from(format!("{MEMORY}/{}.sock", worker.0))
}

impl Call {
    async fn read(gate: &Rc<Gate>, worker: WorkerId, mut end: End) -> Option<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(end.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        let word = |name: &str| {
            let (_, rest) = head.split_once(name).expect("each head has the gateway's private word");
            rest.split([';', '\r']).next().unwrap_or_default().to_owned()
        };
        let (id, token) = (word("X-Sluice-Request: id="), word(";token="));
        Some(Call { gate: Rc::clone(gate), worker, end, id: RequestId(id.parse().unwrap()), token, head })
    }

    /// Writes, with [`MARK`] in place.
    pub(super) async fn write(&mut self, text: &str) {
        let text = text.replace(MARK, &format!("x-sluice-answer: {}\r\n", self.token));
        self.end.write_all(text.as_bytes()).await.expect("the gateway reads");
    }

    /// Reports the end of the request, as a preload does.
    pub(super) fn report(&self) {
        self.gate.reports().reported(self.worker, self.id, &REPORTED);
    }

    /// The app has nothing to answer yet.
    pub(super) fn waits(&self) {
        self.gate.reports().waits_on(self.worker, self.id);
    }

    /// Answers well, and says that it has.
    pub(super) async fn answer(&mut self, body: &str) {
        self.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: {}\r\n\r\n{body}", body.len())).await;
        self.report();
    }

    /// Reads so many bytes of the request's body.
    pub(super) async fn body(&mut self, len: usize) -> String {
        let mut body = vec![0; len];
        self.end.read_exact(&mut body).await.expect("the body comes");
        String::from_utf8(body).unwrap()
    }

    /// The next request on the same connection; `None` where the gateway closes that.
    pub(super) async fn next(self) -> Option<Call> {
        Call::read(&self.gate, self.worker, self.end).await
    }

    /// The same, if it comes in this time.
    pub(super) async fn next_within(self, time: Duration) -> Option<Call> {
        tokio::time::timeout(time, self.next()).await.ok().flatten()
    }

    /// What comes until the gateway closes its side.
    pub(super) async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let _ = self.end.read_to_end(&mut rest).await;
        String::from_utf8(rest).unwrap()
    }

    /// Both the app and its connection are still there, but it never says anything more.
    pub(super) fn hold(self) -> End {
        self.end
    }

    /// The app has not ended the other, so it gives this one back: it was never there.
    pub(super) fn gives_back(self, other: RequestId) -> Preload {
        self.gate.reports().busy(self.worker, self.id, other);
        Preload { gate: self.gate, worker: self.worker, _end: self.end }
    }
}

/// What of a worker speaks to the supervisor.
pub(super) struct Preload {
    gate: Rc<Gate>,
    worker: WorkerId,
    /// The preload leaves the connection open: the gateway closes it.
    _end: End,
}

impl Preload {
    pub(super) fn report_of(&self, request: RequestId) {
        self.gate.reports().reported(self.worker, request, &REPORTED);
    }
}
