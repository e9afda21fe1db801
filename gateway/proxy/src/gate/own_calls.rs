//! Connections by which workers send requests to their own app through the gateway. These requests go first, as the app's other requests
//! wait for them.

use std::collections::BTreeMap;

use sluice_scheduler::WorkerId;

/// Maximum number of remembered connections. Requests on further ones wait like others.
const CONNECTIONS_MAX: usize = 16_384;

/// Local ports of such connections, with their workers.
#[derive(Debug, Default)]
pub(crate) struct OwnCalls {
    ports: BTreeMap<u16, WorkerId>,
}

impl OwnCalls {
    pub(super) fn note(&mut self, worker: WorkerId, port: u16, is_over: bool) {
        if is_over {
            // The port may be another worker's by now.
            if self.ports.get(&port) == Some(&worker) {
                self.ports.remove(&port);
            }
        } else if self.ports.len() < CONNECTIONS_MAX {
            self.ports.insert(port, worker);
        }
    }

    pub(super) fn gone(&mut self, worker: WorkerId) {
        self.ports.retain(|_, owner| *owner != worker);
    }

    pub(super) fn has(&self, port: u16) -> bool {
        self.ports.contains_key(&port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_forgotten_with_its_connection_or_its_worker() {
        let mut calls = OwnCalls::default();
        calls.note(WorkerId(1), 5_000, false);
        calls.note(WorkerId(2), 5_001, false);
        calls.note(WorkerId(2), 5_000, false);
        calls.note(WorkerId(1), 5_000, true);
        assert!(calls.has(5_000), "it is another worker's now");
        calls.gone(WorkerId(2));
        assert!(!calls.has(5_000) && !calls.has(5_001));
    }
}
