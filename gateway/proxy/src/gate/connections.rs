//! Which connections are taken in, and what the operator is told of those that are not.

use std::cell::Cell;
use std::net::IpAddr;

use sluice_journal::{Event as Happening, Level};
use tokio::time::Instant;

use super::{Gate, NOTE_PERIOD, to_usize};
use crate::front::handles::{Bounds, Full, Handle};

/// The part of all connections that one address may have unless the config says otherwise.
const SHARE_OF_ADDRESS: u64 = 4;

/// Connections that were refused since the last note.
#[derive(Default)]
pub(super) struct Refusals {
    count: Cell<u64>,
    /// The last that was refused because of its address.
    address: Cell<Option<IpAddr>>,
    noted: Cell<Option<Instant>>,
}

impl Gate {
    /// Takes a connection in, or says how many were refused since the operator was told of it.
    pub(crate) fn take_in(&self, address: IpAddr) -> Result<Handle, u64> {
        let bounds = Bounds {
            all: to_usize(self.config().server.connections_max),
            of_address: self.connections_of_address_max(address),
        };
        self.lobby.connections.admit(address, bounds, Instant::now()).map_err(|full| {
            self.refusals.count.set(self.refusals.count.get() + 1);
            if full == Full::Address {
                self.refusals.address.set(Some(address));
            }
            self.refusals.count.get()
        })
    }

    /// Cuts what is open: the gateway has waited for as long as it may.
    pub fn cut_connections(&self) {
        self.service.is_cutting.set(true);
        self.lobby.connections.cut();
    }

    /// Whether a client that is gone now was cut off.
    pub(crate) fn is_cutting(&self) -> bool {
        self.service.is_cutting.get()
    }

    /// Proxies carry many clients. A proxy on this machine that nobody named is a common mistake, and no attack comes from
    /// there; but what the config says holds.
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

    pub(super) fn note_refused_connections(&self, now: Instant) {
        let refused = self.refusals.count.get();
        let is_due = self.refusals.noted.get().is_none_or(|noted| now.duration_since(noted) >= NOTE_PERIOD);
        if refused == 0 || !is_due {
            return;
        }
        self.refusals.noted.set(Some(now));
        self.refusals.count.set(0);
        let text = match self.refusals.address.take() {
            Some(address) => format!(
                "{refused} connections were refused: {address} has server.connections_per_address_max open. Name it in server.trusted_peers if it is a proxy"
            ),
            None => {
                format!("{refused} connections were refused: server.connections_max are open, and none of them is idle")
            }
        };
        self.journal.emit(Happening::Note { level: Level::Warn, text: &text });
    }
}
