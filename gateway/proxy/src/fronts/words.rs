//! What the core and its fronts say to each other. Everything here may cross threads, and is as much as one connection or one request
//! needs.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use bytes::Bytes;
use sluice_catalog::config::Config;
use sluice_message::{ResponseHead, Scheme};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::link::CoreEnd;
use crate::answers::Size;
use crate::cache::grant::Grant;
use crate::front::course::Moved;
use crate::receive::body::Sent;
use crate::receive::trust::Trust;
use crate::request::passage::{Asked, Failure};
use crate::socket::Socket;

/// To a front. `usize` is the connection's number in the core.
pub(crate) enum ToFront {
    Connection(Arrived),
    /// A page that the front may answer with.
    Page(Box<Grant>),
    /// This connection is to close for another once it has no request.
    MakeRoom(usize),
    /// Another config is in force.
    Config(Box<Config>, Trust),
    /// Connections are closed after their request, and idle ones now.
    Drain,
    /// Connections are closed after their next request.
    HandOver,
    /// Idle ones are not waited for any more.
    CloseIdle,
    /// All of them are cut.
    Cut,
}

/// A connection that the core has accepted.
pub(crate) struct Arrived {
    pub(super) stream: TcpStream,
    pub(super) key: usize,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) scheme: Scheme,
    /// It came to the port that redirects to HTTPS.
    pub(super) is_redirected: bool,
}

/// To the core, from a front. `usize` is the connection's number.
pub(crate) enum ToCore {
    Asked(Box<Question>),
    /// The front has answered a request with a page.
    Answered(Box<Answered>),
    /// The connection has a request under way.
    Works(usize),
    /// It has none.
    Rests(usize),
    Closed(usize),
    /// A connection's task has panicked, at this place.
    Fault(String),
    /// The front has panicked, at this place, and is no more.
    #[cfg_attr(test, allow(dead_code, reason = "in tests fronts have no threads that could end"))]
    Ended(String),
}

/// A request whose head has come, or could not be taken.
pub(crate) struct Question {
    pub(super) key: usize,
    pub(super) link: CoreEnd,
    /// When its first byte had come.
    pub(super) started: Instant,
    pub(super) asked: Result<Asked, Failure>,
    /// Whether what came of its head begins with the method HEAD.
    pub(super) begins_with_head: bool,
    /// Whether it says that it has a body, if none is to come.
    pub(super) empty_body: Option<bool>,
    /// The client has closed its sending side.
    pub(super) is_half_closed: bool,
    /// The front would answer such requests by itself, if it had their page.
    pub(super) wants_page: bool,
}

/// A request that a front has answered with a kept page.
pub(crate) struct Answered {
    pub(super) key: usize,
    pub(super) asked: Asked,
    /// What its answer calls it.
    pub(super) id: String,
    pub(super) page: String,
    pub(super) started: Instant,
    pub(super) received: Instant,
    pub(super) ended: Instant,
    pub(super) bytes_out: u64,
}

/// What a front is to do with a request. Each is replied to unless it says otherwise.
pub(crate) enum Order {
    TakeBody {
        bytes_max: u64,
    },
    Send(Sending),
    /// In reply to [`Reply::Aside`]: whether the bytes are somewhere else now.
    Aside(bool),
    Switch(Switch),
    /// The answer stays as it is, and nothing follows. No reply.
    BreakOff,
}

/// What is to be written for the client, and then sent.
pub(crate) struct Sending {
    pub(super) parts: Vec<Part>,
    /// Whether the core takes bytes back that the client does not take.
    pub(super) may_set_aside: bool,
    /// Whether the core has some of them, which come before the end.
    pub(super) has_framed: bool,
}

pub(crate) enum Part {
    Interim(ResponseHead),
    Head {
        head: ResponseHead,
        size: Size,
        request_id: Arc<str>,
    },
    Data(Vec<u8>),
    /// Bytes that the front had framed and set aside.
    Framed(Vec<u8>),
    End(Vec<(String, Vec<u8>)>),
    BreakOff,
}

/// The worker's connection, which is the client's from now on.
pub(crate) struct Switch {
    pub(super) worker: Socket<UnixStream>,
    pub(super) first: Bytes,
    pub(super) moved: Arc<Moved>,
}

/// What came of an order.
pub(crate) enum Reply {
    Body(Result<Sent, Failure>),
    Sent(Result<(), io::ErrorKind>),
    /// Bytes that were framed and that the client has not taken for a while.
    Aside(Vec<u8>),
    /// Either side has ended what the connection was switched to.
    Switched,
}

/// A step of a client's leaving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Departed {
    /// It has closed its sending side.
    Half,
    Gone,
}
