//! The server above connections. They know no more of it than this.

use std::fmt::Display;
use std::io;
use std::net::IpAddr;
use std::rc::Rc;

use super::exchange::Exchange;
use super::handles::Full;
use super::lobby::Lobby;
use super::origin::Origin;
use super::seat::Seat;

/// A server, which answers the requests of connections.
#[allow(async_fn_in_trait, reason = "all connections are on one thread")]
pub trait Service: 'static {
    /// The gateway as connections know it.
    fn lobby(&self) -> &Lobby;
    /// Place for the work of a new connection's requests.
    fn seat(&self) -> Rc<dyn Seat>;
    /// Answers one request, from its first byte to the last byte of its answer.
    async fn serve(self: &Rc<Self>, exchange: &mut Exchange<'_>, origin: &Origin);
    /// Refuses a connection that is over the limit, without reading from it.
    async fn refuse(self: &Rc<Self>, exchange: &mut Exchange<'_>, peer: IpAddr, full: Full);
    /// Counts a connection over the limit: of this address, or of all together. Returns the number of refused ones since the operator was
    /// told of it.
    fn refused_connection(&self, address: Option<IpAddr>) -> u64;
    /// Tells the operator that a trusted peer was disconnected because its connection does not begin with a PROXY header.
    fn without_proxy_header(&self, peer: IpAddr, why: &dyn Display);
    /// Tells the operator that the operating system gives no connections.
    fn cannot_accept(&self, error: &io::Error);
}
