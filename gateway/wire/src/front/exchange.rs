//! One request and its answer as the client sees them, over any transport. It must not know what the request is for, nor which source
//! answers it.

use std::io;
use std::rc::Rc;

use sluice_http1::Version;
use sluice_message::ResponseHead;

use super::h1::H1;
use super::h2::H2;
use super::seat::Seat;
use super::tunnel;
use crate::front::own::Own;
use crate::receive::body::Body;
use crate::receive::failure::{Failure, UpgradeOffer};
use crate::respond::answer::{Answer, UpgradedConnection};
use crate::respond::encode::Size;

/// One request and its answer.
pub enum Exchange<'c> {
    /// A request on a client's connection of HTTP/1.
    H1(H1<'c>),
    /// A request on a stream of a client's connection of HTTP/2.
    H2(Box<H2<'c>>),
    /// A request of the gateway's own.
    Own(Box<dyn Own>),
}

/// Event that ended a wait for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woke {
    /// Any event that does not show that the client leaves, most likely more of the answer.
    Again,
    /// The client has closed its sending side.
    HalfClosed,
    /// No client reads any more.
    Gone,
}

impl Exchange<'_> {
    /// Request head, after it has arrived.
    ///
    /// # Errors
    /// Where the head is malformed, too large or too late, or the client has gone.
    pub async fn head(&mut self) -> Result<UpgradeOffer, Failure> {
        match self {
            Exchange::H1(h1) => h1.head().await,
            Exchange::H2(h2) => h2.head(),
            Exchange::Own(own) => Ok((own.head().clone(), None)),
        }
    }

    /// Whether a request without a complete head has the method HEAD.
    #[must_use]
    pub fn begins_with_head(&self) -> bool {
        match self {
            Exchange::H1(h1) => h1.client.unread.trim_ascii_start().starts_with(b"HEAD "),
            Exchange::H2(h2) => h2.is_head(),
            Exchange::Own(_) => false,
        }
    }

    /// Complete body of the request. One larger than `bytes_max` is refused, at once if its length is announced.
    ///
    /// # Errors
    /// Where the body is malformed, too large or too slow, no file takes it, or the client has gone.
    pub async fn body(&mut self, bytes_max: u64) -> Result<Body, Failure> {
        match self {
            Exchange::H1(h1) => h1.body(bytes_max).await,
            Exchange::H2(h2) => h2.body(bytes_max).await,
            Exchange::Own(_) => Ok(Body::default()),
        }
    }

    /// Sends an interim head to the client.
    pub fn inform(&mut self, head: &ResponseHead) {
        match self {
            Exchange::H1(h1) => h1.inform(head),
            Exchange::H2(h2) => h2.inform(head),
            Exchange::Own(own) => own.inform(head),
        }
    }

    /// Begins the answer. Nothing is sent before [`Exchange::flush`].
    pub fn begin(&mut self, head: &ResponseHead, size: Size, request_id: &str) {
        match self {
            Exchange::H1(h1) => h1.begin(head, size, request_id),
            Exchange::H2(h2) => h2.begin(head, size, request_id),
            Exchange::Own(own) => own.begin(head),
        }
    }

    /// Bytes of the body that may be written before the next [`Exchange::flush`].
    pub fn room(&mut self) -> usize {
        match self {
            Exchange::H1(h1) => h1.out.room(),
            Exchange::H2(h2) => h2.out.room(),
            Exchange::Own(own) => own.room(),
        }
    }

    /// Writes bytes of the body. Nothing is sent before [`Exchange::flush`].
    pub fn write(&mut self, data: &[u8]) {
        match self {
            Exchange::H1(h1) => h1.out.push(data),
            Exchange::H2(h2) => h2.out.push(data),
            Exchange::Own(own) => own.read(data),
        }
    }

    /// Writes bytes that [`Answer::set_aside`] took from this exchange.
    pub fn write_framed(&mut self, data: &[u8]) {
        match self {
            Exchange::H1(h1) => h1.out.push_framed(data),
            Exchange::H2(h2) => h2.out.push_framed(data),
            Exchange::Own(_) => {}
        }
    }

    /// Waits for more of the answer if few bytes are to be sent. Returns whether more has come.
    pub async fn gathers_more(&mut self, answer: &Answer) -> bool {
        match self {
            Exchange::H1(h1) => h1.gathers_more(answer).await,
            Exchange::H2(h2) => h2.gathers_more(answer).await,
            Exchange::Own(_) => false,
        }
    }

    /// Sends the written bytes. Bytes that a slow client does not take go to the answer's file, if there is an answer that has one.
    ///
    /// # Errors
    /// `TimedOut` where the client took nothing for too long, another where it has gone.
    pub async fn flush(&mut self, aside: Option<&Answer>) -> io::Result<()> {
        match self {
            Exchange::H1(h1) => h1.flush(aside).await,
            Exchange::H2(h2) => h2.flush(aside).await,
            Exchange::Own(own) => own.check(),
        }
    }

    /// Waits for more of the answer, or for the client to leave.
    pub async fn changed(&mut self, answer: &Answer) -> Woke {
        match self {
            Exchange::H1(h1) => h1.changed(answer).await,
            Exchange::H2(h2) => h2.changed(answer).await,
            Exchange::Own(own) => own_changed(&**own, answer).await,
        }
    }

    /// Whether an answer whose length is unknown can carry trailers.
    #[must_use]
    pub fn carries_trailers(&self) -> bool {
        match self {
            Exchange::H1(h1) => h1.version == Version::Http11,
            Exchange::H2(_) => true,
            Exchange::Own(_) => false,
        }
    }

    /// Ends a complete body. Nothing is sent before [`Exchange::flush`].
    pub fn end(&mut self, trailers: &[(String, Vec<u8>)]) {
        match self {
            Exchange::H1(h1) => h1.out.end(trailers),
            Exchange::H2(h2) => h2.end(trailers),
            Exchange::Own(_) => {}
        }
    }

    /// Leaves the answer unfinished: only the end of the connection shows that it is incomplete.
    pub fn break_off(&mut self) {
        match self {
            Exchange::H1(h1) => h1.break_off(),
            Exchange::H2(h2) => h2.break_off(),
            Exchange::Own(own) => own.break_off(),
        }
    }

    /// Carries another protocol over the connection, until either side ends it.
    pub async fn switch(&mut self, upgraded: UpgradedConnection, answer: &Answer) {
        match self {
            Exchange::H1(h1) => tunnel::run_alone(h1.client, upgraded, answer).await,
            Exchange::H2(h2) => h2.switch(upgraded, answer).await,
            Exchange::Own(_) => {}
        }
    }

    /// Whether this is a request of the gateway's own. Such a request is in no log, and skips the steps for clients. An include is asked
    /// for by the client of its page.
    pub fn is_own(&self) -> bool {
        self.own().is_some_and(|own| !own.is_part())
    }

    /// The request, if it is the gateway's own.
    pub fn own(&self) -> Option<&dyn Own> {
        if let Exchange::Own(own) = self { Some(&**own) } else { None }
    }

    /// Whether a client reads the answer as it is sent.
    pub fn is_client(&self) -> bool {
        !matches!(self, Exchange::Own(_))
    }

    /// Whether the client has closed its sending side.
    pub fn is_half_closed(&self) -> bool {
        match self {
            Exchange::H1(h1) => h1.client.eof,
            Exchange::H2(_) | Exchange::Own(_) => false,
        }
    }

    /// Place for a request that the client's task carries out itself.
    pub fn seat(&self) -> Option<Rc<dyn Seat>> {
        match self {
            Exchange::H1(h1) => h1.client.seat.clone(),
            Exchange::H2(_) | Exchange::Own(_) => None,
        }
    }

    /// Whether the connection can carry another request now.
    #[must_use]
    pub(crate) fn persists(&self) -> bool {
        match self {
            Exchange::H1(h1) => h1.persists,
            Exchange::H2(_) | Exchange::Own(_) => false,
        }
    }
}

/// Waits for more of the answer to a request of the gateway's own, or until nobody wants it.
async fn own_changed(own: &dyn Own, answer: &Answer) -> Woke {
    if answer.facts.is_stream.get() && !answer.is_untouched() {
        // It may never end, and its head says enough.
        return Woke::Gone;
    }
    tokio::select! {
        biased;
        () = answer.changed.wait() => Woke::Again,
        () = own.unwanted() => Woke::Gone,
    }
}
