//! Decides which connections the gateway accepts.

use std::net::IpAddr;

use tokio::time::Instant;

use super::{Gate, to_usize};
use crate::front::handles::{Bounds, Full, Handle};

/// Divisor of all connections that gives the most that one address may have, unless the config says otherwise.
const SHARE_OF_ADDRESS: u64 = 4;

impl Gate {
    /// Accepts a connection, or returns the number of refused ones since the operator was told of it.
    pub(crate) fn take_in(&self, address: IpAddr) -> Result<Handle, u64> {
        let bounds = Bounds {
            all: to_usize(self.config().server.connections_max),
            of_address: self.connections_of_address_max(address),
        };
        self.lobby
            .connections
            .admit(address, bounds, Instant::now())
            .map_err(|full| self.observer.trouble.refused_connection(Some(address).filter(|_| full == Full::Address)))
    }

    /// Cuts open connections, after the gateway has waited for as long as it may.
    pub fn cut_connections(&self) {
        self.service.is_cutting.set(true);
        self.lobby.connections.cut();
    }

    /// Whether the gateway cuts connections, so that a client which is gone now may have been cut off.
    pub(crate) fn is_cutting(&self) -> bool {
        self.service.is_cutting.get()
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
}
