//! The gateway as connections know it: the config, room for their buffers, the register of open connections, and whether the gateway
//! drains. It decides which connections are accepted. It must not know which source answers their requests.

use std::cell::{Cell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

use sluice_catalog::config::Config;
use tokio::time::Instant;

use super::handles::{Bounds, ConnectionHandles, Full, Handle};
use super::tls::Tls;
use crate::ids::to_usize;
use crate::receive::spool::TempStore;
use crate::receive::trust::Trust;

/// Divisor of all connections that gives the most that one address may have, unless the config says otherwise.
const SHARE_OF_ADDRESS: u64 = 4;

/// The gateway as connections know it.
pub struct Lobby {
    config: RefCell<Rc<Config>>,
    trust: RefCell<Rc<Trust>>,
    tls: Option<Tls>,
    port: Cell<u16>,
    /// Room for bodies and answers.
    pub(crate) store: Rc<TempStore>,
    /// Register of open connections.
    pub connections: ConnectionHandles,
    is_draining: Cell<bool>,
    is_handed_over: Cell<bool>,
    is_cutting: Cell<bool>,
}

impl Lobby {
    /// Lobby of a gateway that serves this config.
    pub fn new(config: Rc<Config>, trust: Rc<Trust>, tls: Option<Tls>, store: Rc<TempStore>) -> Self {
        Lobby {
            port: Cell::new(config.server.port),
            config: RefCell::new(config),
            trust: RefCell::new(trust),
            tls,
            store,
            connections: ConnectionHandles::default(),
            is_draining: Cell::new(false),
            is_handed_over: Cell::new(false),
            is_cutting: Cell::new(false),
        }
    }

    /// The config in force.
    pub(crate) fn config(&self) -> Rc<Config> {
        Rc::clone(&self.config.borrow())
    }

    /// Puts another config, and the peers that it trusts, in force.
    pub fn set_config(&self, config: Rc<Config>, trust: Rc<Trust>) {
        *self.config.borrow_mut() = config;
        *self.trust.borrow_mut() = trust;
    }

    /// Peers whose information on a request's origin is trusted.
    pub fn trust(&self) -> Rc<Trust> {
        Rc::clone(&self.trust.borrow())
    }

    /// TLS settings, if clients speak TLS.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    /// Sets the port that clients see, if it differs from the config's.
    pub fn set_port(&self, port: u16) {
        self.port.set(port);
    }

    /// The port that clients see.
    pub fn port(&self) -> u16 {
        self.port.get()
    }

    /// Whether clients at this port of the gateway are redirected to HTTPS.
    pub(crate) fn redirects_at(&self, port: u16) -> bool {
        self.tls.is_some() && port > 0 && self.config().server.redirect_port == port
    }

    /// Port of HTTPS in redirects.
    pub fn https_port(&self) -> u16 {
        match self.config().server.redirect_to_port {
            0 => self.port(),
            port => port,
        }
    }

    /// Accepts a connection.
    ///
    /// # Errors
    /// Names the bound that is reached.
    pub fn take_in(&self, address: IpAddr) -> Result<Handle, Full> {
        let bounds = Bounds {
            all: to_usize(self.config().server.connections_max),
            of_address: self.connections_of_address_max(address),
        };
        self.connections.admit(address, bounds, Instant::now())
    }

    /// Counts an accepted connection as one of this client, for which its peer has opened it.
    ///
    /// # Errors
    /// Names the bound that is reached; the connection then still counts as the peer's.
    pub(crate) fn take_over(&self, handle: &Handle, client: IpAddr) -> Result<(), Full> {
        self.connections.move_to(handle.key, client, self.connections_of_address_max(client), Instant::now())
    }

    /// Whether connections of this peer begin with a header of the PROXY protocol.
    pub(crate) fn is_proxied(&self, peer: IpAddr) -> bool {
        self.config.borrow().server.proxy_protocol && self.trust.borrow().allows(peer)
    }

    /// Most connections of one address; `None` without a bound. Proxies carry many clients. A proxy on this machine
    /// that is missing from the config is a common mistake, and no attack comes from there. A bound in the config still
    /// holds.
    fn connections_of_address_max(&self, address: IpAddr) -> Option<usize> {
        let config = self.config();
        if self.trust().allows(address) {
            return None;
        }
        match config.server.connections_per_address_max {
            0 if address.is_loopback() => None,
            0 => Some(to_usize((config.server.connections_max / SHARE_OF_ADDRESS).max(1))),
            max => Some(to_usize(max)),
        }
    }

    /// Cuts open connections, after the gateway has waited for as long as it may.
    pub fn cut(&self) {
        self.is_cutting.set(true);
        self.connections.cut();
    }

    /// Whether the gateway cuts connections, so that a client which is gone now may have been cut off.
    pub fn is_cutting(&self) -> bool {
        self.is_cutting.get()
    }

    /// Closes connections after their request from now on. Returns whether that is new.
    pub fn drain(&self) -> bool {
        !self.is_draining.replace(true)
    }

    /// Whether the gateway drains.
    pub fn is_draining(&self) -> bool {
        self.is_draining.get()
    }

    /// Sets whether idle connections wait for one more request while the gateway drains.
    pub fn set_handed_over(&self, is_handed_over: bool) {
        self.is_handed_over.set(is_handed_over);
    }

    /// Whether idle connections wait for one more request while the gateway drains.
    pub fn is_handed_over(&self) -> bool {
        self.is_handed_over.get()
    }
}
