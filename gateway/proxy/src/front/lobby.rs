//! What connections know of the gateway, whichever thread serves them: the config, room for what they hold, the books of those that
//! are open, and whether the gateway leaves. It must not know who answers their requests.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::Rc;

use sluice_catalog::config::Config;
use tokio::time::Instant;

use super::handles::{Bounds, ConnectionHandles, Handle};
use crate::receive::spool::TempStore;

pub(crate) struct Lobby {
    config: RefCell<Rc<Config>>,
    pub(crate) store: Rc<TempStore>,
    pub(crate) connections: ConnectionHandles,
    is_draining: Cell<bool>,
    is_handed_over: Cell<bool>,
    /// Where connections are a front's, who is to know of them.
    core: Option<Core>,
}

/// What the core is told of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// A request is under way.
    Works,
    /// None is.
    Rests,
    Closed,
}

/// The core, which decides how many connections there may be.
struct Core {
    /// Tells it of the connection of this number of its own.
    tell: Box<dyn Fn(News, usize)>,
    /// The core's numbers of connections, by those of the books here, and the other way round.
    theirs: RefCell<HashMap<usize, usize>>,
    ours: RefCell<HashMap<usize, usize>>,
}

impl Core {
    fn say(&self, key: usize, news: News) {
        if let Some(key) = self.theirs.borrow().get(&key) {
            (self.tell)(news, *key);
        }
    }
}

impl Lobby {
    pub(crate) fn new(config: Rc<Config>, store: Rc<TempStore>) -> Rc<Self> {
        Self::of(config, store, None)
    }

    /// The lobby of a front; `tell` tells the core of a connection by the core's number.
    pub(crate) fn of_front(config: Rc<Config>, store: Rc<TempStore>, tell: impl Fn(News, usize) + 'static) -> Rc<Self> {
        let core = Core { tell: Box::new(tell), theirs: RefCell::default(), ours: RefCell::default() };
        Self::of(config, store, Some(core))
    }

    fn of(config: Rc<Config>, store: Rc<TempStore>, core: Option<Core>) -> Rc<Self> {
        Rc::new(Lobby {
            config: RefCell::new(config),
            store,
            connections: ConnectionHandles::default(),
            is_draining: Cell::new(false),
            is_handed_over: Cell::new(false),
            core,
        })
    }

    /// The config in force.
    pub(crate) fn config(&self) -> Rc<Config> {
        Rc::clone(&self.config.borrow())
    }

    pub(crate) fn set_config(&self, config: Rc<Config>) {
        *self.config.borrow_mut() = config;
    }

    /// From now on connections close after their request. Returns whether that is new.
    pub(crate) fn drain(&self) -> bool {
        !self.is_draining.replace(true)
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.get()
    }

    /// Idle connections wait for one more request while the gateway drains, or no longer.
    pub(crate) fn set_handed_over(&self, is_handed_over: bool) {
        self.is_handed_over.set(is_handed_over);
    }

    pub(crate) fn is_handed_over(&self) -> bool {
        self.is_handed_over.get()
    }

    // What the books are told of a connection.

    /// Takes in the connection that the core has admitted under this number.
    pub(crate) fn take_in(&self, core_key: usize) -> Option<Handle> {
        let core = self.core.as_ref()?;
        let unbounded = Bounds { all: usize::MAX, of_address: None };
        // Addresses are the core's business.
        let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let handle = self.connections.admit(nobody, unbounded, Instant::now()).ok()?;
        core.theirs.borrow_mut().insert(handle.key, core_key);
        core.ours.borrow_mut().insert(core_key, handle.key);
        Some(handle)
    }

    /// The connection of this number in the core is to close once it has no request.
    pub(crate) fn make_room(&self, core_key: usize) {
        let key = self.core.as_ref().and_then(|core| core.ours.borrow().get(&core_key).copied());
        if let Some(key) = key {
            self.connections.leave(key);
        }
    }

    /// The connection has no request under way.
    pub(crate) fn rests(&self, key: usize) {
        match &self.core {
            None => self.connections.rests(key),
            Some(core) => core.say(key, News::Rests),
        }
    }

    /// A request has begun.
    pub(crate) fn works(&self, key: usize) {
        match &self.core {
            None => self.connections.works(key),
            Some(core) => core.say(key, News::Works),
        }
    }

    pub(crate) fn closed(&self, key: usize) {
        self.connections.remove(key);
        let Some(core) = &self.core else { return };
        let core_key = core.theirs.borrow_mut().remove(&key);
        if let Some(core_key) = core_key {
            core.ours.borrow_mut().remove(&core_key);
            (core.tell)(News::Closed, core_key);
        }
    }
}
