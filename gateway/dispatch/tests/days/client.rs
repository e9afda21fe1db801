//! Clients, and what they get.

use sluice_dispatch::Event as ExchangeEvent;
use sluice_dispatch::Phase;
use sluice_scheduler::{Event, RequestId};

use crate::day::{Day, Happening, Request};
use crate::plan::Departure;

/// What a client has had so far.
#[derive(Debug, Default)]
pub struct Client {
    pub has_left: bool,
    pub has_bytes: bool,
    /// The answer is whole, or an error, or cut off.
    pub is_answered: bool,
}

impl Client {
    pub fn is_over(&self) -> bool {
        self.is_answered || self.has_left
    }
}

impl Day {
    pub fn arrives(&mut self, index: usize) {
        let plan = self.plan.requests[index];
        let number = RequestId(index as u64 + 1);
        self.requests.insert(number, Request::new(plan));
        if plan.departure != Departure::Stays {
            self.after(plan.departs_after_us, Happening::Departs(number, plan.departure));
        }
        self.tell_scheduler(Event::Arrived { request: number, need: plan.need });
    }

    pub fn departs(&mut self, number: RequestId, how: Departure) {
        let Some(request) = self.requests.get_mut(&number) else { return };
        if request.client.is_over() {
            return;
        }
        if how == Departure::HalfCloses {
            self.reached.insert("a client closes its half");
            return self.tell(number, ExchangeEvent::ClientHalfClosed { is_shown: true });
        }
        request.client.has_left = true;
        let is_queued = request.exchange.phase() == Phase::Queued;
        self.reached.insert(if is_queued {
            "a client leaves a request in the queue"
        } else {
            "a client leaves a request at a worker"
        });
        self.tell(number, ExchangeEvent::ClientLeft { is_shown: true });
        if is_queued {
            self.tell_scheduler(Event::Left { request: number });
        }
    }

    /// Bytes for a client, written by the app for the request `of` (I10).
    pub fn forwards(&mut self, number: RequestId, of: RequestId) {
        let Some(request) = self.requests.get_mut(&number) else { return };
        if of != number {
            return self.breaks(format!("I10: the client of request {} gets bytes of {}", number.0, of.0));
        }
        if request.client.is_answered {
            return self.breaks(format!("I10: the client of request {} gets bytes after its answer's end", number.0));
        }
        request.client.has_bytes = true;
    }

    /// The end of an answer: whole, an error, or cut off.
    pub fn is_answered(&mut self, number: RequestId, how: &'static str) {
        let Some(request) = self.requests.get_mut(&number) else { return };
        if std::mem::replace(&mut request.client.is_answered, true) {
            self.breaks(format!("the answer to request {} ends twice: {how}", number.0));
        }
        self.reached.insert(how);
        self.note(|| format!("  request {}: {how}", number.0));
    }
}
