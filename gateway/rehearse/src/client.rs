//! Client of one gateway: keep-alive connections that are reused, one request at a time on each.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use sluice_plan::Asked;
use tokio::net::TcpStream;

use crate::tally::Failure;

/// Longest wait for an answer: longer than the gateway lets a request wait and a worker work by default.
const PATIENCE: Duration = Duration::from_secs(80);
/// Connections that are kept for the next request.
const IDLE_MAX: usize = 4_000;
/// Header of the gateway's own error answers.
const ERROR_FIELD: &str = "x-sluice-error";

/// Client of a gateway on this machine.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    host: String,
    idle: RefCell<Vec<SendRequest<Empty<Bytes>>>>,
}

impl Client {
    /// Creates a client without a connection.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, host: address.to_string(), idle: RefCell::default() }
    }

    /// Closes the connections that are idle. While nothing runs, nobody notices that the gateway has closed them.
    pub(crate) fn close_idle(&self) {
        self.idle.borrow_mut().clear();
    }

    /// Sends a request and reads the whole answer. Returns its status.
    ///
    /// # Errors
    /// When there is no whole answer with a status below 500.
    pub async fn ask(&self, asked: &Asked) -> Result<u16, Failure> {
        tokio::time::timeout(PATIENCE, self.exchange(asked)).await.unwrap_or(Err(Failure::Timeout))
    }

    async fn exchange(&self, asked: &Asked) -> Result<u16, Failure> {
        let method = if asked.is_head { Method::HEAD } else { Method::GET };
        let request = Request::builder().method(method).uri(&asked.target).header(HOST, &self.host);
        let request = request.header("user-agent", "sluice-rehearse").header("accept", "*/*");
        // Paths that are no URI are left out before.
        let mut request = request.body(Empty::new()).map_err(|_| Failure::Closed)?;
        let (response, connection) = loop {
            let (mut connection, is_new) = self.connection().await?;
            match connection.try_send_request(request).await {
                Ok(response) => break (response, connection),
                // An idle connection closed before the request was sent on it.
                Err(mut error) if !is_new => request = error.take_message().ok_or(Failure::Closed)?,
                Err(_) => return Err(Failure::Closed),
            }
        };
        let outcome = outcome(&response);
        read(response).await?;
        let mut idle = self.idle.borrow_mut();
        if idle.len() < IDLE_MAX && !connection.is_closed() {
            idle.push(connection);
        }
        outcome
    }

    /// A connection that is free, else a new one, and whether it is new.
    async fn connection(&self) -> Result<(SendRequest<Empty<Bytes>>, bool), Failure> {
        loop {
            let Some(mut free) = self.idle.borrow_mut().pop() else { break };
            if free.ready().await.is_ok() {
                return Ok((free, false));
            }
        }
        let stream = TcpStream::connect(self.address).await.map_err(|_| Failure::Unconnected)?;
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(|_| Failure::Unconnected)?;
        tokio::task::spawn_local(connection);
        sender.ready().await.map_err(|_| Failure::Unconnected)?;
        Ok((sender, true))
    }
}

fn outcome(response: &Response<Incoming>) -> Result<u16, Failure> {
    let status = response.status().as_u16();
    if status < 500 {
        return Ok(status);
    }
    let code = response.headers().get(ERROR_FIELD).and_then(|code| code.to_str().ok());
    Err(code.map_or(Failure::App(status), |code| Failure::Gateway { status, code: code.to_owned() }))
}

async fn read(response: Response<Incoming>) -> Result<(), Failure> {
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame.map_err(|_| Failure::Cut)?;
    }
    Ok(())
}
