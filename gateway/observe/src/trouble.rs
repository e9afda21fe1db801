//! Notes about trouble that repeats, which an operator needs less often than once a request.

use std::cell::{Cell, RefCell};
use std::fmt::Display;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use sluice_journal::Level;
use tokio::time::Instant;

use crate::context::Context;

/// Minimum time between two notes about the same trouble.
const NOTE_PERIOD: Duration = Duration::from_secs(10);

/// State of the notes: counts since the last note, and the time of that note.
pub struct Trouble {
    context: Rc<Context>,
    /// Connections refused since the last note, the last one that was refused because of its address, and the time of that
    /// note.
    refused: Cell<u64>,
    refused_address: Cell<Option<IpAddr>>,
    refused_noted: Cell<Option<Instant>>,
    temp_noted: Cell<Option<Instant>>,
    /// Connections of trusted peers without a PROXY header since the last note, and the time of that note.
    headless: Cell<u64>,
    headless_noted: Cell<Option<Instant>>,
    /// Requests refused although a worker ran nothing, as of the last report.
    idle_refusals: Cell<u64>,
    /// Reason why nothing can be kept in the state directory, and the way to fix it.
    state_dir: RefCell<Option<String>>,
}

impl Trouble {
    pub(crate) fn new(context: &Rc<Context>) -> Self {
        Trouble {
            context: Rc::clone(context),
            refused: Cell::new(0),
            refused_address: Cell::new(None),
            refused_noted: Cell::new(None),
            temp_noted: Cell::new(None),
            headless: Cell::new(0),
            headless_noted: Cell::new(None),
            idle_refusals: Cell::new(0),
            state_dir: RefCell::new(None),
        }
    }

    /// Records a refused connection: its address has too many, or there are too many of all. Returns the number of connections
    /// refused since the last note.
    pub fn refused_connection(&self, of_address: Option<IpAddr>) -> u64 {
        self.refused.set(self.refused.get() + 1);
        if of_address.is_some() {
            self.refused_address.set(of_address);
        }
        self.refused.get()
    }

    /// Logs that a trusted peer's connection was closed because it has no PROXY header, with the number of others since the last note.
    pub fn without_proxy_header(&self, now: Instant, peer: IpAddr, why: &dyn Display) {
        let before = self.headless.get();
        if !is_due(&self.headless_noted, now) {
            return self.headless.set(before + 1);
        }
        self.headless.set(0);
        let text = format!(
            "connection of {peer} closed: {why}. server.proxy_protocol requires one from server.trusted_peers ({before} more since the last note)"
        );
        self.context.note(Level::Warn, &text);
    }

    /// Logs that a temporary file could not be written or read.
    pub fn temp_failed(&self, now: Instant, error: &dyn Display) {
        if !is_due(&self.temp_noted, now) {
            return;
        }
        let text = format!(
            "temporary file: {error}; large bodies are refused and slow clients of large responses cut off until that is fixed (temp.dir, temp.bytes_max)"
        );
        self.context.note(Level::Error, &text);
    }

    /// Logs the number of requests refused although a worker ran nothing, if it grew. Each of them is a bug that nobody else
    /// would notice.
    pub fn idle_refusals(&self, total: u64) {
        if self.idle_refusals.replace(total) < total {
            let text = format!("{total} requests were refused although a worker was idle; please report it");
            self.context.note(Level::Error, &text);
        }
    }

    /// Records that nothing can be kept in the state directory, with the reason and the way to fix it, or that files can be
    /// kept there again. An alarm says so.
    pub fn set_state_dir(&self, trouble: Option<String>) {
        self.state_dir.replace(trouble);
    }

    /// Reason why nothing can be kept in the state directory, if so.
    pub fn state_dir(&self) -> Option<String> {
        self.state_dir.borrow().clone()
    }

    /// Logs refused connections, if a note is due. Called with every tick.
    pub(crate) fn tell_refused_connections(&self, now: Instant) {
        let refused = self.refused.get();
        if refused == 0 || !is_due(&self.refused_noted, now) {
            return;
        }
        self.refused.set(0);
        let text = match self.refused_address.take() {
            Some(address) => format!(
                "{refused} connections were refused: {address} has server.connections_per_address_max open. Name it in server.trusted_peers if it is a proxy"
            ),
            None => {
                format!("{refused} connections were refused: server.connections_max are open, and none of them is idle")
            }
        };
        self.context.note(Level::Warn, &text);
    }
}

/// Whether a note is due. Sets the time of the last note if it is.
fn is_due(noted: &Cell<Option<Instant>>, now: Instant) -> bool {
    let is_due = noted.get().is_none_or(|noted| now.duration_since(noted) >= NOTE_PERIOD);
    if is_due {
        noted.set(Some(now));
    }
    is_due
}
