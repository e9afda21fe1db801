//! A request's place among those that a worker is to answer, or its call of an upstream. Both are given up when they are dropped, in
//! whatever way the request's task ends.

use std::rc::Rc;

use sluice_scheduler::RequestId;
use sluice_upstreams::{Told, Upstream};

use super::streams::{OpenStream, StreamCounts};
use crate::road::workers::Workers;
use sluice_wire::respond::answer::Answer;

/// A request's place among those that a worker is to answer.
pub struct Ticket {
    workers: Rc<dyn Workers>,
    /// Number of the request.
    pub number: RequestId,
    /// Answer to the request.
    pub answer: Rc<Answer>,
    /// The record is written, or will be.
    is_recorded: bool,
}

impl Ticket {
    /// Ticket of the request with this number, which `answer` answers.
    pub fn new(workers: Rc<dyn Workers>, number: RequestId, answer: &Rc<Answer>) -> Self {
        Ticket { workers, number, answer: Rc::clone(answer), is_recorded: false }
    }

    /// Gives the place up to the code that writes the record.
    pub fn end(mut self) -> RequestId {
        self.is_recorded = true;
        self.number
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Of one that was answered, this lets go of an upgrade that was not taken up.
            self.workers.give_up(self.number, self.is_recorded);
            self.answer.abandon();
            return;
        }
        let (workers, number, answer) = (Rc::clone(&self.workers), self.number, Rc::clone(&self.answer));
        // In a task of its own: a second panic while the first unwinds would end the gateway.
        tokio::task::spawn_local(async move {
            workers.give_up(number, false);
            answer.abandon();
            workers.connection_lost();
        });
    }
}

/// Worker or upstream that answers a request.
pub enum Call {
    /// The route leads to an upstream, which has not been asked.
    Routed(Rc<Upstream>),
    /// Place among the requests that a worker is to answer.
    Worker(Ticket),
    /// An upstream answers.
    Upstream(UpstreamCall),
}

/// A request that an upstream answers. When this is dropped, in whatever way the request's task ends, nobody wants the answer any more.
pub struct UpstreamCall {
    upstream: Rc<Upstream>,
    answer: Rc<Answer>,
    /// Place of the answer among the streams, if it is one.
    stream: Option<OpenStream>,
    /// Facts for the record.
    pub told: Rc<Told>,
}

impl UpstreamCall {
    pub(crate) fn new(upstream: &Rc<Upstream>, answer: &Rc<Answer>, told: &Rc<Told>) -> Self {
        UpstreamCall { upstream: Rc::clone(upstream), answer: Rc::clone(answer), stream: None, told: Rc::clone(told) }
    }
}

impl Drop for UpstreamCall {
    fn drop(&mut self) {
        self.answer.abandon();
    }
}

impl Call {
    /// The ticket of a request that a worker answers.
    pub fn ticket(&self) -> Option<&Ticket> {
        if let Call::Worker(ticket) = self { Some(ticket) } else { None }
    }

    /// The upstream that answers, if one does.
    pub(crate) fn upstream(&self) -> Option<&Rc<Upstream>> {
        match self {
            Call::Routed(upstream) | Call::Upstream(UpstreamCall { upstream, .. }) => Some(upstream),
            Call::Worker(_) => None,
        }
    }

    /// Counts the answer as a stream while the request lasts, if an upstream gives it.
    pub(crate) fn becomes_stream(&mut self, counts: &Rc<StreamCounts>) {
        if let Call::Upstream(call) = self {
            call.stream.get_or_insert_with(|| counts.begin());
        }
    }
}
