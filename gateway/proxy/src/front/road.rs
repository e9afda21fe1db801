//! Where requests go from their connection: along the main road where they came in, or from a front to the core.

use std::net::SocketAddr;
use std::rc::Rc;

use sluice_message::Scheme;

use super::connection::canonical;
use super::exchange::Exchange;
use super::lobby::Lobby;
use crate::fronts::carry::Desk;
use crate::gate::Gate;
use crate::request::serve_request;
use crate::upstream::forward::Origin;

/// One connection's.
#[derive(Clone)]
pub(crate) enum Road {
    /// The thread of the connection is the one that decides.
    Here { gate: Rc<Gate>, origin: Rc<Origin> },
    /// The connection is a front's, and has this number in the core.
    Core {
        desk: Rc<Desk>,
        key: usize,
        /// Where the front may answer by itself.
        origin: Option<Rc<Origin>>,
    },
}

impl Road {
    pub(crate) fn here(gate: &Rc<Gate>, peer: SocketAddr, local: SocketAddr, scheme: Scheme) -> Self {
        Road::Here { gate: Rc::clone(gate), origin: Rc::new(origin(gate, peer, local, scheme)) }
    }

    pub(crate) fn lobby(&self) -> &Rc<Lobby> {
        match self {
            Road::Here { gate, .. } => &gate.lobby,
            Road::Core { desk, .. } => desk.lobby(),
        }
    }

    /// One request, from its first byte to the last byte of its answer.
    pub(crate) async fn serve(&mut self, exchange: &mut Exchange<'_>) {
        match self {
            Road::Here { gate, origin } => {
                judge(origin, gate);
                serve_request(exchange, origin, gate).await;
            }
            Road::Core { desk, key, origin } => desk.carry(exchange, *key, origin.as_mut()).await,
        }
    }
}

/// What is known of a connection that was accepted.
pub(crate) fn origin(gate: &Gate, peer: SocketAddr, local: SocketAddr, scheme: Scheme) -> Origin {
    let mut origin = Origin::new(&gate.trust(), canonical(peer), canonical(local), scheme);
    origin.is_redirected = scheme == Scheme::Http && gate.redirects_at(local.port());
    origin
}

/// Looks again whether the peer's word is trusted, which a reload may have changed since the last request.
pub(crate) fn judge(origin: &mut Rc<Origin>, gate: &Gate) {
    let is_trusted = gate.trust().allows(origin.peer);
    if is_trusted != origin.is_trusted {
        Rc::make_mut(origin).is_trusted = is_trusted;
    }
}
