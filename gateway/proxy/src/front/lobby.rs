//! The gateway as connections know it: the config, room for their buffers, the register of open connections, and whether the gateway
//! drains. It must not know which source answers their requests.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use sluice_catalog::config::Config;

use super::handles::ConnectionHandles;
use crate::receive::spool::TempStore;

pub(crate) struct Lobby {
    config: RefCell<Rc<Config>>,
    pub(crate) store: Rc<TempStore>,
    pub(crate) connections: ConnectionHandles,
    is_draining: Cell<bool>,
    is_handed_over: Cell<bool>,
}

impl Lobby {
    pub(crate) fn new(config: Rc<Config>, store: Rc<TempStore>) -> Self {
        Lobby {
            config: RefCell::new(config),
            store,
            connections: ConnectionHandles::default(),
            is_draining: Cell::new(false),
            is_handed_over: Cell::new(false),
        }
    }

    /// The config in force.
    pub(crate) fn config(&self) -> Rc<Config> {
        Rc::clone(&self.config.borrow())
    }

    pub(crate) fn set_config(&self, config: Rc<Config>) {
        *self.config.borrow_mut() = config;
    }

    /// Closes connections after their request from now on. Returns whether that is new.
    pub(crate) fn drain(&self) -> bool {
        !self.is_draining.replace(true)
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.get()
    }

    /// Sets whether idle connections wait for one more request while the gateway drains.
    pub(crate) fn set_handed_over(&self, is_handed_over: bool) {
        self.is_handed_over.set(is_handed_over);
    }

    pub(crate) fn is_handed_over(&self) -> bool {
        self.is_handed_over.get()
    }
}
