//! The two parts of a request's record, until both are known or nothing more is expected.

use std::cell::{Cell, RefCell};

use sluice_observe::{Observer, RequestRecord, Work};
use tokio::time::Instant;

/// Maximum number of answered requests that wait for their worker's report. Further ones get no report.
pub(crate) const ANSWERED_MAX: usize = 20_000;

/// The client's side of the record of a request that a worker got.
#[allow(clippy::large_enum_variant, reason = "each request has one, and a box would be an allocation each")]
enum ClientSide {
    /// The client is still served.
    Open,
    /// The client's record, complete since the given time.
    Ended(RequestRecord, Instant),
    /// No client's part will come: the client is gone, or the record was given away before the report. The report becomes a record of its
    /// own.
    Missing,
}

/// Pending cost and record of a request that a worker got.
pub(crate) struct Account {
    client: RefCell<ClientSide>,
    /// The worker's part, until the client's is known.
    work: Cell<Option<Work>>,
    /// Time at which the worker finished its answer.
    finished: Cell<Option<Instant>>,
    /// The worker has reported it.
    pub(super) is_reported: Cell<bool>,
    /// The class has the request's cost, or will not get it.
    pub(super) is_measured: Cell<bool>,
    /// The worker will not report the request any more.
    pub(super) is_silent: Cell<bool>,
}

impl Account {
    /// Makes the account. `is_own` means that the request is the gateway's own, so its cost says nothing about its class: the worker is
    /// cold.
    pub(crate) fn new(is_own: bool) -> Self {
        Account {
            client: RefCell::new(if is_own { ClientSide::Missing } else { ClientSide::Open }),
            work: Cell::new(None),
            finished: Cell::new(None),
            is_reported: Cell::new(false),
            is_measured: Cell::new(is_own),
            is_silent: Cell::new(false),
        }
    }

    /// Records that the worker has answered.
    pub(crate) fn finish(&self, now: Instant) {
        self.finished.set(Some(self.finished.get().unwrap_or(now)));
    }

    /// Time at which the worker finished its answer, if it has.
    pub(crate) fn finished_at(&self) -> Option<Instant> {
        self.finished.get()
    }

    /// Whether the worker has answered.
    pub(crate) fn is_finished(&self) -> bool {
        self.finished.get().is_some()
    }

    /// Closes the account of a worker that is gone: its late reports go to the log alone.
    pub(crate) fn close(&self) {
        self.is_measured.set(true);
    }

    /// Opens the account again: another worker gets the request.
    pub(crate) fn reopen(&self) {
        self.is_measured.set(false);
        self.is_reported.set(false);
    }

    /// Whether nothing more is expected.
    pub(crate) fn is_settled(&self) -> bool {
        let has_ended = self.is_reported.get() || self.is_silent.get();
        has_ended && self.is_measured.get() && matches!(*self.client.borrow(), ClientSide::Missing)
    }

    /// Takes the client's part: gives the record away, or stores it until the worker's part is known too.
    pub(super) fn client_ended(&self, observer: &Observer, mut record: RequestRecord, ended: Instant) {
        record.work = self.work.take();
        let client = if record.work.is_some() {
            observer.ended(&record);
            ClientSide::Missing
        } else {
            ClientSide::Ended(record, ended)
        };
        self.client.replace(client);
    }

    /// Marks the client as gone, so that it can no longer end the request. `record` makes a record with neither part.
    pub(super) fn client_left(&self, observer: &Observer, record: impl FnOnce() -> RequestRecord) {
        self.client.replace(ClientSide::Missing);
        if let Some(work) = self.work.take() {
            observer.ended(&RequestRecord { work: Some(work), ..record() });
        }
    }

    /// Takes the worker's part: gives the record away, or stores it until the client's part is known too. `record` makes one with neither.
    pub(super) fn worked(&self, observer: &Observer, work: Work, record: impl FnOnce() -> RequestRecord) {
        let mut client = self.client.borrow_mut();
        match &mut *client {
            ClientSide::Open => self.work.set(Some(work)),
            ClientSide::Ended(record, _) => {
                record.work = Some(work);
                observer.ended(record);
                *client = ClientSide::Missing;
            }
            ClientSide::Missing => observer.ended(&RequestRecord { work: Some(work), ..record() }),
        }
    }

    /// Time since which the client's part waits for the worker's.
    pub(super) fn waits_since(&self) -> Option<Instant> {
        match &*self.client.borrow() {
            ClientSide::Ended(_, ended) => Some(*ended),
            ClientSide::Open | ClientSide::Missing => None,
        }
    }

    /// Gives the record away if it waits for a report, as none will come.
    pub(crate) fn give(&self, observer: &Observer) {
        let mut client = self.client.borrow_mut();
        if let ClientSide::Ended(record, _) = &*client {
            observer.ended(record);
            *client = ClientSide::Missing;
        }
    }

    /// Gives the record away, with the CPU time that the request used of a worker which died with it.
    pub(crate) fn give_untold(&self, observer: &Observer, cpu_us: u64) {
        if let ClientSide::Ended(record, _) = &mut *self.client.borrow_mut()
            && let Some(line) = &mut record.line
        {
            line.untold_cpu_us = line.untold_cpu_us.saturating_add(cpu_us);
        }
        self.give(observer);
    }
}
