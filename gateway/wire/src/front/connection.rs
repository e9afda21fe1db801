//! Life cycle of a client connection: requests one after the other, and the waits between them.

use std::net::IpAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::time::Instant;

use super::client::{Client, ClientStream, For, Woke};
use super::exchange::Exchange;
use super::h1::H1;
use super::origin::Origin;
use super::seat::attend;
use super::service::Service;
use crate::front::handles::{Full, Handle};
use crate::front::lobby::Lobby;

/// Longest time in milliseconds that a connection may be open, while the gateway drains, until its first request
/// begins.
const DRAIN_GRACE_MS: u64 = 1000;

/// Serves one connection until it ends. Its handle counts it from before the TLS handshake until after the last byte.
pub async fn serve<S: Service>(stream: ClientStream, mut origin: Origin, service: Rc<S>, handle: Handle) {
    let lobby = service.lobby();
    let _counted = ConnectionCount::new(lobby, &handle);
    let mut client = Client::new(stream, Rc::clone(&handle.draining), lobby.store.memory.unsent_bytes_max());
    let seat = service.seat();
    client.seat = Some(Rc::clone(&seat));
    let mut idle_since = Instant::now();
    let mut is_first = true;
    let mut linger = false;
    while next_request(&mut client, lobby, &handle, idle_since, is_first).await {
        origin.judge(&lobby.trust());
        let request = async {
            let mut exchange = Exchange::H1(H1::new(&mut client, lobby));
            service.serve(&mut exchange, &origin).await;
            exchange.persists()
        };
        // Boxed, so that an idle connection does not pay for the room that a request needs.
        let persists = attend(&*seat, Box::pin(request)).await;
        idle_since = Instant::now();
        is_first = false;
        linger = !persists;
        if linger || client.is_spent() {
            break;
        }
        client.shed_buffer();
    }
    client.close(linger, send_timeout(lobby)).await;
}

/// Waits for the first byte of the next request; false ends the connection. A new connection gets the timeout for
/// headers, a used one that for keep-alive.
async fn next_request(
    client: &mut Client,
    lobby: &Lobby,
    handle: &Handle,
    idle_since: Instant,
    is_first: bool,
) -> bool {
    let mut idle_ms = {
        let config = lobby.config();
        if is_first { config.bounds.headers_timeout_ms } else { config.server.keep_alive_timeout_ms }
    };
    lobby.connections.rests(handle.key);
    while client.unread.is_empty() {
        if handle.makes_room() {
            return false;
        }
        if lobby.is_draining() && !lobby.is_handed_over() {
            // A connection that was just opened has a request on its way; one that has had an answer knows the risk.
            if !is_first {
                return false;
            }
            idle_ms = idle_ms.min(DRAIN_GRACE_MS);
        }
        client.set_deadline(Some(idle_since + Duration::from_millis(idle_ms)));
        match client.wait(For { read: true, draining: true, ..For::default() }).await {
            Woke::Read | Woke::Draining => {}
            _ => return false,
        }
    }
    lobby.connections.works(handle.key);
    true
}

/// Refuses a connection that is over the limit, without reading from it.
pub(crate) async fn refuse_connection<S: Service>(stream: ClientStream, peer: IpAddr, full: Full, service: Rc<S>) {
    let lobby = service.lobby();
    let mut client = Client::new(stream, Rc::default(), lobby.store.memory.unsent_bytes_max());
    let patience = Duration::from_secs(1);
    let mut exchange = Exchange::H1(H1::new(&mut client, lobby));
    let _ = tokio::time::timeout(patience, service.refuse(&mut exchange, peer, full)).await;
    client.close(false, patience).await;
}

pub(crate) fn send_timeout(lobby: &Lobby) -> Duration {
    Duration::from_millis(lobby.config().server.send_timeout_ms)
}

/// A connection's place in the count.
pub(crate) struct ConnectionCount<'c> {
    lobby: &'c Lobby,
    key: usize,
}

impl<'c> ConnectionCount<'c> {
    pub(crate) fn new(lobby: &'c Lobby, handle: &Handle) -> Self {
        ConnectionCount { lobby, key: handle.key }
    }
}

impl Drop for ConnectionCount<'_> {
    fn drop(&mut self) {
        self.lobby.connections.remove(self.key);
    }
}
