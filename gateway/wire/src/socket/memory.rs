//! Pipes in memory that stand for sockets, as [`tokio::io::duplex`], with two differences. An end says when it can be written to, and
//! closing with unread bytes resets the connection, as on Linux. The gateway's behaviour depends on both.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// One direction of a pipe.
struct Way {
    bytes: VecDeque<u8>,
    bytes_max: usize,
    /// Nothing more will be written.
    is_ended: bool,
    /// The other end reads no more.
    is_deaf: bool,
    /// The reader gets an error when it has read the remaining bytes.
    is_reset: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Way {
    fn new(bytes_max: usize) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Way {
            bytes: VecDeque::new(),
            bytes_max,
            is_ended: false,
            is_deaf: false,
            is_reset: false,
            reader: None,
            writer: None,
        }))
    }

    fn wake(waker: &mut Option<Waker>) {
        if let Some(waker) = waker.take() {
            waker.wake();
        }
    }
}

/// One end of a pipe; it closes with its last clone.
#[derive(Clone)]
pub struct End(Rc<Ways>);

struct Ways {
    inward: Rc<RefCell<Way>>,
    outward: Rc<RefCell<Way>>,
}

/// Makes the two ends of a pipe that holds this number of bytes each way.
pub fn pipe(bytes_max: usize) -> (End, End) {
    let (there, back) = (Way::new(bytes_max), Way::new(bytes_max));
    let end =
        |inward: &Rc<_>, outward: &Rc<_>| End(Rc::new(Ways { inward: Rc::clone(inward), outward: Rc::clone(outward) }));
    (end(&there, &back), end(&back, &there))
}

impl Drop for Ways {
    fn drop(&mut self) {
        let mut inward = self.inward.borrow_mut();
        inward.is_deaf = true;
        Way::wake(&mut inward.writer);
        let mut outward = self.outward.borrow_mut();
        outward.is_ended = true;
        outward.is_reset |= !inward.bytes.is_empty();
        Way::wake(&mut outward.reader);
    }
}

impl End {
    /// Polls whether there are bytes to read, or an end.
    pub(crate) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut way = self.0.inward.borrow_mut();
        if !way.bytes.is_empty() || way.is_ended {
            return Poll::Ready(());
        }
        way.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Polls whether the pipe takes bytes.
    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut way = self.0.outward.borrow_mut();
        if way.bytes.len() < way.bytes_max || way.is_deaf {
            return Poll::Ready(());
        }
        way.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Closes with an error for the other side, as a client that is killed does.
    pub fn reset(self) {
        self.0.outward.borrow_mut().is_reset = true;
    }
}

impl AsyncRead for End {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_read_ready(cx));
        let mut way = self.0.inward.borrow_mut();
        if way.bytes.is_empty() && std::mem::take(&mut way.is_reset) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let len = way.bytes.len().min(buf.remaining());
        for byte in way.bytes.drain(..len) {
            buf.put_slice(&[byte]);
        }
        Way::wake(&mut way.writer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_write_ready(cx));
        let mut way = self.0.outward.borrow_mut();
        if way.is_deaf || way.is_ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let len = data.len().min(way.bytes_max - way.bytes.len());
        way.bytes.extend(&data[..len]);
        Way::wake(&mut way.reader);
        Poll::Ready(Ok(len))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut way = self.0.outward.borrow_mut();
        way.is_ended = true;
        Way::wake(&mut way.reader);
        Poll::Ready(Ok(()))
    }
}

thread_local! {
    static LISTENING: RefCell<HashMap<PathBuf, Rc<Backlog>>> = RefCell::default();
}

#[derive(Default)]
struct Backlog {
    dialled: RefCell<VecDeque<End>>,
    /// Connections that are refused because there is no room for them.
    is_full: std::cell::Cell<bool>,
    came: Notify,
}

/// Beginning of the paths of workers in memory.
pub const MEMORY: &str = "/memory";
/// Bytes that a worker holds in a pipe each way, as a unix socket does.
const UNIX_BYTES: usize = 208 * 1024;

/// A worker's listening socket, known by its path on this thread; it closes when it is dropped.
pub struct Listener {
    path: PathBuf,
    backlog: Rc<Backlog>,
}

impl Listener {
    /// Listener at this path.
    pub fn bind(path: PathBuf) -> Self {
        let backlog = Rc::<Backlog>::default();
        LISTENING.with_borrow_mut(|all| all.insert(path.clone(), Rc::clone(&backlog)));
        Listener { path, backlog }
    }

    /// Next connection.
    pub async fn accept(&self) -> End {
        loop {
            let end = self.backlog.dialled.borrow_mut().pop_front();
            match end {
                Some(end) => return end,
                None => self.backlog.came.notified().await,
            }
        }
    }

    /// Sets whether the worker's backlog is full.
    pub fn fill(&self, is_full: bool) {
        self.backlog.is_full.set(is_full);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        LISTENING.with_borrow_mut(|all| all.remove(&self.path));
    }
}

/// Connects to the listener at a path in memory; `None` for a path that is not in memory.
pub(crate) fn dial(path: &Path) -> Option<io::Result<End>> {
    if !path.starts_with(MEMORY) {
        return None;
    }
    let Some(backlog) = LISTENING.with_borrow(|all| all.get(path).cloned()) else {
        return Some(Err(io::ErrorKind::ConnectionRefused.into()));
    };
    if backlog.is_full.get() {
        return Some(Err(io::ErrorKind::WouldBlock.into()));
    }
    let (ours, theirs) = pipe(UNIX_BYTES);
    backlog.dialled.borrow_mut().push_back(theirs);
    backlog.came.notify_one();
    Some(Ok(ours))
}
