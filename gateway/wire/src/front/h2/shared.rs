//! State that the streams of one connection share: their number, bytes that wait to be sent, room for request bodies, and the number of
//! cancelled requests.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::front::lobby::Lobby;
use crate::ids::to_usize;
use crate::receive::memory::{Memory, MemoryHold};
use crate::signal::Signal;

/// Maximum number of requests that a client may cancel at once, and the time for which each counts. A browser that
/// leaves a page cancels all its pending requests.
const RESETS_MAX: u32 = 200;
const RESET_FORGOTTEN: Duration = Duration::from_millis(50);

/// Bytes of a block; the room for request bodies is counted in blocks.
pub(crate) const BLOCK_BYTES: u64 = 64 * 1024;

pub(crate) struct ConnectionState {
    /// Number of requests under way.
    running: Cell<usize>,
    /// Set when a request has ended, or when the client is to be disconnected.
    pub(crate) changed: Signal,
    resets: Cell<Resets>,
    /// Bytes of answers that wait for the connection.
    unsent_bytes: Cell<usize>,
    unsent_bytes_max: usize,
    waiting: RefCell<Vec<Waker>>,
    memory: Rc<Memory>,
    /// Blocks for request bodies that are still free.
    pub(crate) bodies: Arc<Semaphore>,
    pub(crate) blocks_max: u32,
}

/// Resets that still count.
#[derive(Clone, Copy)]
struct Resets {
    count: u32,
    since: Instant,
}

impl ConnectionState {
    pub(crate) fn new(lobby: &Lobby) -> Rc<Self> {
        let config = lobby.config();
        let bodies_bytes_max = config.bounds.http2_bodies_bytes_max.max(config.server.body_bytes_max);
        let blocks_max = u32::try_from(bodies_bytes_max.div_ceil(BLOCK_BYTES)).unwrap_or(u32::MAX).max(1);
        let memory = Rc::clone(&lobby.store.memory);
        Rc::new(ConnectionState {
            running: Cell::new(0),
            changed: Signal::default(),
            resets: Cell::new(Resets { count: 0, since: Instant::now() }),
            unsent_bytes: Cell::new(0),
            unsent_bytes_max: memory.unsent_bytes_max().saturating_mul(2),
            waiting: RefCell::default(),
            memory,
            bodies: Arc::new(Semaphore::new(to_usize(blocks_max.into()))),
            blocks_max,
        })
    }

    pub(crate) fn running(&self) -> usize {
        self.running.get()
    }

    pub(crate) fn unsent_bytes_max(&self) -> usize {
        self.unsent_bytes_max
    }

    /// Counts a request that the client has cancelled before its answer was complete.
    pub(crate) fn note_reset(&self) {
        let Resets { count, since } = self.resets.get();
        let now = Instant::now();
        let forgotten = now.saturating_duration_since(since).as_millis() / RESET_FORGOTTEN.as_millis();
        let left = count.saturating_sub(u32::try_from(forgotten).unwrap_or(u32::MAX));
        let since = if forgotten > 0 { now } else { since };
        self.resets.set(Resets { count: left.saturating_add(1), since });
        if self.is_flooded() {
            self.changed.set();
        }
    }

    /// Whether the client has cancelled more requests than it may.
    pub(crate) fn is_flooded(&self) -> bool {
        self.resets.get().count > RESETS_MAX
    }

    /// Bytes of an answer that the connection takes now; not ready while it takes none.
    pub(crate) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<usize> {
        let room = self.unsent_bytes_max.saturating_sub(self.unsent_bytes.get());
        if room > 0 {
            return Poll::Ready(room);
        }
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}

/// A request that is under way on the connection.
pub(crate) struct Running(pub(crate) Rc<ConnectionState>);

impl Running {
    pub(crate) fn new(shared: &Rc<ConnectionState>) -> Self {
        shared.running.set(shared.running.get() + 1);
        Running(Rc::clone(shared))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.set(self.0.running.get() - 1);
        self.0.changed.set();
    }
}

/// Bytes of an answer that wait for the connection, counted until they are written.
pub(crate) struct Piece {
    data: Bytes,
    bytes: usize,
    shared: Rc<ConnectionState>,
    _held: MemoryHold,
}

impl Piece {
    pub(crate) fn new(data: &[u8], shared: &Rc<ConnectionState>) -> Self {
        let bytes = data.len();
        let mut held = MemoryHold::of(&shared.memory);
        held.set(bytes);
        shared.unsent_bytes.set(shared.unsent_bytes.get() + bytes);
        Piece { data: Bytes::copy_from_slice(data), bytes, shared: Rc::clone(shared), _held: held }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.data.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.data.chunk()
    }

    fn advance(&mut self, bytes: usize) {
        self.data.advance(bytes);
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.shared.unsent_bytes.set(self.shared.unsent_bytes.get().saturating_sub(self.bytes));
        for waker in self.shared.waiting.borrow_mut().drain(..) {
            waker.wake();
        }
    }
}
