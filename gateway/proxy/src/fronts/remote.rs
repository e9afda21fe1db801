//! The core's side of a request that a front has: the road sees an exchange like any other, whose client is at the other end of a
//! [link](super::link). What was written goes to the front as one order, and no more is given before that was sent.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;

use sluice_message::ResponseHead;
use tokio::time::{Instant, timeout_at};

use super::link::CoreEnd;
use super::words::{Departed, Order, Part, Question, Reply, Sending, Switch};
use crate::answers::Size;
use crate::cache::grant::Grant;
use crate::front::course::Moved;
use crate::front::exchange::Woke;
use crate::gate::Gate;
use crate::receive::GONE;
use crate::receive::body::Body;
use crate::receive::spool::TempStore;
use crate::request::passage::{Asked, Failure};
use crate::respond::answer::{Answer, Upgraded};
use crate::respond::outgoing::Outgoing;

pub(crate) struct Remote {
    link: CoreEnd,
    started: Instant,
    /// Until the head is taken.
    asked: Option<Result<Asked, Failure>>,
    begins_with_head: bool,
    empty_body: Option<bool>,
    store: Rc<TempStore>,
    /// What is to be sent before the bytes that are gathered.
    parts: Vec<Part>,
    out: Outgoing,
    is_half_closed: bool,
    wants_page: bool,
    /// The front that has the connection.
    front: usize,
}

impl Remote {
    pub(super) fn new(question: Question, front: usize, store: &Rc<TempStore>) -> Self {
        let Question { key: _, link, started, asked, begins_with_head, empty_body, is_half_closed, wants_page } =
            question;
        Remote {
            link,
            started,
            asked: Some(asked),
            begins_with_head,
            empty_body,
            store: Rc::clone(store),
            parts: Vec::new(),
            out: Outgoing::new(&store.memory),
            is_half_closed,
            wants_page,
            front,
        }
    }

    /// When the request's first byte had come.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    pub(crate) fn head(&mut self) -> Result<Asked, Failure> {
        self.asked.take().unwrap_or(Err(GONE))
    }

    /// Whether the front would answer such requests by itself, if it had their page.
    pub(crate) fn wants_page(&self) -> bool {
        self.wants_page
    }

    pub(crate) fn give_page(&self, gate: &Gate, grant: Grant) {
        if let Some(fronts) = gate.fronts() {
            fronts.grant(self.front, grant);
        }
    }

    pub(crate) fn begins_with_head(&self) -> bool {
        self.begins_with_head
    }

    pub(crate) async fn body(&mut self, bytes_max: u64) -> Result<Body, Failure> {
        if let Some(is_announced) = self.empty_body {
            return Ok(Body::empty(is_announced));
        }
        self.link.order(Order::TakeBody { bytes_max });
        match self.link.reply().await {
            Some(Reply::Body(Ok(sent))) => Ok(Body::adopt(sent, &self.store).await),
            Some(Reply::Body(Err(failure))) => Err(failure),
            _ => Err(GONE),
        }
    }

    pub(crate) fn inform(&mut self, head: &ResponseHead) {
        self.push(Part::Interim(head.clone()));
    }

    pub(crate) fn begin(&mut self, head: &ResponseHead, size: Size, request_id: &str) {
        self.push(Part::Head { head: head.clone(), size, request_id: Arc::from(request_id) });
    }

    pub(crate) fn room(&mut self) -> usize {
        self.out.room()
    }

    pub(crate) fn write(&mut self, data: &[u8]) {
        self.out.push(data);
    }

    pub(crate) fn write_framed(&mut self, data: &[u8]) {
        self.push(Part::Framed(data.to_vec()));
    }

    pub(crate) fn end(&mut self, trailers: &[(String, Vec<u8>)]) {
        self.push(Part::End(trailers.to_vec()));
    }

    pub(crate) fn break_off(&mut self) {
        self.push(Part::BreakOff);
    }

    /// Adds what comes after the bytes that are gathered.
    fn push(&mut self, part: Part) {
        if !self.out.bytes.is_empty() {
            self.parts.push(Part::Data(self.out.take()));
        }
        self.parts.push(part);
    }

    pub(crate) async fn gathers_more(&mut self, answer: &Answer) -> bool {
        let Some(until) = self.out.waits_until() else { return false };
        timeout_at(until, poll_fn(|cx| answer.poll_changed(cx))).await.is_ok()
    }

    pub(crate) async fn flush(&mut self, aside: Option<&Answer>) -> io::Result<()> {
        let has_bytes = !self.out.bytes.is_empty();
        if has_bytes {
            self.parts.push(Part::Data(self.out.take()));
        }
        if self.parts.is_empty() {
            return Ok(());
        }
        self.link.order(Order::Send(Sending {
            parts: std::mem::take(&mut self.parts),
            may_set_aside: aside.is_some(),
            has_framed: aside.is_some_and(Answer::has_framed),
        }));
        loop {
            match (self.link.reply().await, aside) {
                (Some(Reply::Aside(rest)), Some(answer)) => {
                    self.out.slow_down();
                    self.link.order(Order::Aside(answer.set_aside(&rest).await.is_ok()));
                }
                (Some(Reply::Sent(Ok(()))), _) => {
                    if has_bytes {
                        self.out.note_written(Instant::now());
                    }
                    return Ok(());
                }
                (Some(Reply::Sent(Err(kind))), _) => return Err(kind.into()),
                _ => return Err(io::ErrorKind::BrokenPipe.into()),
            }
        }
    }

    pub(crate) async fn changed(&mut self, answer: &Answer) -> Woke {
        let woke = poll_fn(|cx| {
            if answer.poll_changed(cx).is_ready() {
                return Poll::Ready(Woke::Again);
            }
            self.link.poll_departed(cx).map(|departed| match departed {
                Departed::Half => Woke::HalfClosed,
                Departed::Gone => Woke::Gone,
            })
        });
        let woke = woke.await;
        self.is_half_closed |= woke == Woke::HalfClosed;
        woke
    }

    pub(crate) fn is_half_closed(&self) -> bool {
        self.is_half_closed
    }

    /// The front carries what the connection has become. It says when a byte has moved, and this thread when it is enough.
    pub(crate) async fn switch(&mut self, upgraded: Upgraded, answer: &Answer) {
        let Upgraded { stream: worker, first, counted: _counted } = upgraded;
        let moved = Moved::now();
        answer.moves_there(Arc::clone(&moved));
        self.link.order(Order::Switch(Switch { worker, first, moved }));
        tokio::select! {
            _ = self.link.reply() => {}
            // A front that has not taken the switch yet is told this instead of it, and has nothing to reply to.
            () = answer.closing.wait() => self.link.order(Order::BreakOff),
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if self.parts.iter().any(|part| matches!(part, Part::BreakOff)) {
            self.link.order(Order::BreakOff);
        }
    }
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
