//! Threads for connections, where there are cores for them. Each front has a runtime and connections of its own, with their TLS records and
//! codecs; the core accepts connections, hands them over, and decides about every request. With one thread there is no front, and
//! nothing of this is on a request's way.
//!
//! What crosses is in `words`: connections and requests one way, orders the other. Nothing that decides is shared.

pub(crate) mod carry;
mod front;
mod hear;
pub(crate) mod link;
pub(crate) mod outbox;
pub(crate) mod pages;
pub(crate) mod remote;
pub(crate) mod thread;
pub(crate) mod words;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use sluice_catalog::config::Config;
use sluice_message::Scheme;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::cache::grant::Grant;
use crate::front::handles::{ConnectionHandles, Handle};
use crate::front::tls::Tls;
use crate::receive::memory::Used;
use crate::receive::spool::TempFiles;
use crate::receive::trust::Trust;
use crate::upstream::forward::Origin;
pub use hear::hear;
use outbox::Told;
use pages::Unheard;
use thread::Seed;
use words::{Arrived, ToFront};

/// All fronts, as the core sees them.
pub(crate) struct Fronts {
    all: Vec<Front>,
    /// Connections that fronts have.
    known: RefCell<HashMap<usize, Known>>,
    /// Where the search for the front with the fewest connections begins.
    next: Cell<usize>,
    told: Cell<Option<UnboundedReceiver<Told>>>,
    /// Requests that fronts have answered by themselves.
    answered: Cell<u64>,
}

struct Front {
    inbox: UnboundedSender<ToFront>,
    makes_room: Rc<dyn Fn(usize)>,
    connections: Cell<usize>,
    used: Used,
    unheard: Unheard,
    /// It has panicked.
    is_lost: Cell<bool>,
}

/// A connection that a front has.
struct Known {
    front: usize,
    origin: Rc<Origin>,
}

/// Threads that a config asks for besides the core; none where the core serves all by itself.
pub(crate) fn count(config: &Config) -> usize {
    let fronts = crate::to_usize(config.server.fronts.into());
    if fronts > 1 { fronts } else { 0 }
}

/// How the memory for what waits is parted: half of it for the core, which has the answers, and the rest for the fronts alike.
pub(crate) fn core_bytes(has_fronts: bool, bytes_max: usize) -> usize {
    if has_fronts { bytes_max / 2 } else { bytes_max }
}

impl Fronts {
    /// # Errors
    /// When the operating system gives no thread.
    pub(crate) fn start(
        config: &Config,
        trust: &Trust,
        files: &Arc<TempFiles>,
        tls: Option<&Arc<Tls>>,
    ) -> io::Result<Option<Self>> {
        let count = count(config);
        if count == 0 {
            return Ok(None);
        }
        let (core, told) = unbounded_channel();
        let start = |number| {
            let (inbox, words) = unbounded_channel();
            let (used, unheard) = (Used::default(), Unheard::default());
            let bytes_max = crate::to_usize(config.memory.buffers_bytes_max);
            thread::start(Seed {
                number,
                config: config.clone(),
                trust: trust.clone(),
                memory_bytes_max: bytes_max / 2 / count,
                all_memory_bytes_max: bytes_max,
                used: used.clone(),
                unheard: unheard.clone(),
                files: Arc::clone(files),
                tls: tls.map(Arc::clone),
                core: core.clone(),
                words,
            })?;
            let there = inbox.clone();
            // Where the front is no more, the gateway is about to leave.
            let makes_room = Rc::new(move |key| drop(there.send(ToFront::MakeRoom(key))));
            Ok(Front { inbox, makes_room, connections: Cell::new(0), used, unheard, is_lost: Cell::new(false) })
        };
        let all = (0..count).map(start).collect::<io::Result<_>>()?;
        let (known, next) = (RefCell::default(), Cell::new(0));
        Ok(Some(Fronts { all, known, next, told: Cell::new(Some(told)), answered: Cell::new(0) }))
    }

    /// Hands a connection to the front that has the fewest.
    pub(crate) fn hand(
        &self,
        stream: TcpStream,
        (peer, local): (SocketAddr, SocketAddr),
        origin: Origin,
        scheme: Scheme,
        handle: &Handle,
        connections: &ConnectionHandles,
    ) {
        // It is another runtime's from now on.
        let Ok(stream) = stream.into_std() else { return connections.remove(handle.key) };
        let is_redirected = origin.is_redirected;
        let front = self.admit(handle, origin, connections);
        let arrived = Arrived { stream, key: handle.key, peer, local, scheme, is_redirected };
        if self.all[front].inbox.send(ToFront::Connection(arrived)).is_err() {
            // The front is no more, and the gateway is about to leave.
            connections.remove(handle.key);
            self.forget(handle.key);
        }
    }

    /// Chooses the front for the connection, and notes that it has it.
    pub(crate) fn admit(&self, handle: &Handle, origin: Origin, connections: &ConnectionHandles) -> usize {
        let begin = self.next.replace(self.next.get().wrapping_add(1));
        let turns = (0..self.all.len()).map(|turn| begin.wrapping_add(turn) % self.all.len());
        let there = turns.filter(|front| !self.all[*front].is_lost.get());
        let front = there.min_by_key(|front| self.all[*front].connections.get()).unwrap_or_default();
        let Front { makes_room, connections: count, .. } = &self.all[front];
        connections.handed(handle.key, Rc::clone(makes_room));
        count.set(count.get() + 1);
        self.known.borrow_mut().insert(handle.key, Known { front, origin: Rc::new(origin) });
        front
    }

    /// Says the same to all.
    pub(crate) fn tell(&self, word: impl Fn() -> ToFront) {
        for front in &self.all {
            let _ = front.inbox.send(word());
        }
    }

    pub(crate) fn tell_config(&self, config: &Config, trust: &Trust) {
        self.tell(|| ToFront::Config(Box::new(config.clone()), trust.clone()));
    }

    pub(crate) fn drain(&self) {
        self.tell(|| ToFront::Drain);
    }

    pub(crate) fn hand_over(&self) {
        self.tell(|| ToFront::HandOver);
    }

    pub(crate) fn close_idle(&self) {
        self.tell(|| ToFront::CloseIdle);
    }

    pub(crate) fn cut(&self) {
        self.tell(|| ToFront::Cut);
    }

    /// Lets a front answer with a page.
    fn grant(&self, front: usize, grant: Grant) {
        let _ = self.all[front].inbox.send(ToFront::Page(Box::new(grant)));
    }

    /// Requests that fronts have answered by themselves, since the start.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.get()
    }

    /// Bytes of memory that fronts have taken.
    pub(crate) fn used_bytes(&self) -> usize {
        self.all.iter().map(|front| front.used.bytes()).sum()
    }

    /// The connection is no more.
    fn forget(&self, key: usize) {
        if let Some(Known { front, .. }) = self.known.borrow_mut().remove(&key) {
            let count = &self.all[front].connections;
            count.set(count.get().saturating_sub(1));
        }
    }

    /// The front has panicked. Returns the numbers of the connections that it had.
    fn lose(&self, front: usize) -> Vec<usize> {
        self.all[front].is_lost.set(true);
        let known = self.known.borrow();
        known.iter().filter(|(_, known)| known.front == front).map(|(key, _)| *key).collect()
    }
}
