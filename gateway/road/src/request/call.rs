//! Who answers a request: a worker, whose place it holds, or an upstream.

use std::rc::Rc;

use sluice_upstreams::Told;
use sluice_wire::respond::answer::Answer;

use super::ticket::Ticket;

/// See the module's text.
pub enum Call {
    /// Place among the requests that a worker is to answer.
    Worker(Ticket),
    /// An upstream answers.
    Upstream(UpstreamCall),
}

/// A request that an upstream answers. When this is dropped, in whatever way the request's task ends, nobody wants the answer any more.
pub struct UpstreamCall {
    answer: Rc<Answer>,
    /// Facts for the record.
    pub told: Rc<Told>,
}

impl UpstreamCall {
    pub(crate) fn new(answer: &Rc<Answer>, told: &Rc<Told>) -> Self {
        UpstreamCall { answer: Rc::clone(answer), told: Rc::clone(told) }
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
}
