//! Sending side of an answer: the room of the stream and the connection, and the client's cancellation.

use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll};

use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::{HeaderMap, Response};

use super::shared::{ConnectionState, Piece};

pub(crate) struct Sending {
    respond: SendResponse<Piece>,
    /// Stream of the answer, after its head was sent.
    stream: Option<SendStream<Piece>>,
    pub(crate) shared: Rc<ConnectionState>,
}

/// Result of a wait for room.
pub(crate) enum Room {
    Bytes(usize),
    Gone,
}

/// Error for a client that has gone, or has cancelled the request.
const GONE: io::ErrorKind = io::ErrorKind::BrokenPipe;

impl Sending {
    pub(crate) fn new(respond: SendResponse<Piece>, shared: &Rc<ConnectionState>) -> Self {
        Sending { respond, stream: None, shared: Rc::clone(shared) }
    }

    /// Sends an interim head. It does not report whether the client is still there.
    pub(crate) fn inform(&mut self, head: Response<()>) {
        let _ = self.respond.send_informational(head);
    }

    pub(crate) fn head(&mut self, head: Response<()>, is_end: bool) -> io::Result<()> {
        self.stream = Some(self.respond.send_response(head, is_end).map_err(|_| GONE)?);
        Ok(())
    }

    /// Sends bytes for which there is room.
    pub(crate) fn data(&mut self, data: &[u8], is_end: bool) -> io::Result<()> {
        let stream = self.stream.as_mut().ok_or(GONE)?;
        stream.send_data(Piece::new(data, &self.shared), is_end).map_err(|_| GONE.into())
    }

    pub(crate) fn trailers(&mut self, trailers: HeaderMap) -> io::Result<()> {
        self.stream.as_mut().ok_or(GONE)?.send_trailers(trailers).map_err(|_| GONE.into())
    }

    pub(crate) fn reset(&mut self, reason: Reason) {
        self.respond.send_reset(reason);
    }

    /// Waits until some of the wanted bytes can be sent.
    pub(crate) async fn room(&mut self, wanted: usize) -> Room {
        poll_fn(|cx| self.poll_room(cx, wanted)).await
    }

    fn poll_room(&mut self, cx: &mut Context<'_>, wanted: usize) -> Poll<Room> {
        if self.poll_reset(cx).is_ready() {
            return Poll::Ready(Room::Gone);
        }
        let Some(stream) = &mut self.stream else { return Poll::Ready(Room::Gone) };
        stream.reserve_capacity(wanted.min(self.shared.unsent_bytes_max()));
        loop {
            let capacity = stream.capacity();
            if capacity > 0 {
                return self.shared.poll_room(cx).map(|room| Room::Bytes(room.min(capacity).min(wanted)));
            }
            match stream.poll_capacity(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(None | Some(Err(_))) => return Poll::Ready(Room::Gone),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Ready after the client has cancelled the request, or has gone.
    pub(crate) fn poll_reset(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.stream {
            Some(stream) => stream.poll_reset(cx).map(drop),
            None => self.respond.poll_reset(cx).map(drop),
        }
    }
}
