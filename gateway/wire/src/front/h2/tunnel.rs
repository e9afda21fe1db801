//! The client's side of a tunnel on a stream: a WebSocket over HTTP/2 (RFC 8441).

use std::future::poll_fn;

use bytes::Bytes;
use h2::RecvStream;

use crate::front::h2::sending::{Room, Sending};
use crate::front::tunnel::{Sink, Source};

pub(crate) struct StreamSource<'s> {
    receive: &'s mut RecvStream,
    /// Bytes that were read last. The client may send as many again when they have been taken.
    data: Bytes,
}

impl<'s> StreamSource<'s> {
    pub(crate) fn new(receive: &'s mut RecvStream) -> Self {
        StreamSource { receive, data: Bytes::new() }
    }
}

impl Source for StreamSource<'_> {
    async fn read(&mut self) -> Option<&[u8]> {
        self.receive.flow_control().release_capacity(self.data.len()).ok()?;
        self.data = poll_fn(|cx| self.receive.poll_data(cx)).await?.ok()?;
        Some(&self.data)
    }
}

impl Sink for &mut Sending {
    async fn write(&mut self, mut data: &[u8]) -> bool {
        while !data.is_empty() {
            let Room::Bytes(len) = self.room(data.len()).await else { return false };
            if self.data(&data[..len], false).is_err() {
                return false;
            }
            data = &data[len..];
        }
        true
    }

    async fn end(&mut self) -> bool {
        self.data(&[], true).is_ok()
    }
}
