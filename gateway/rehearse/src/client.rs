//! Client of one gateway: keep-alive connections that are reused, one request at a time on each.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use sluice_plan::Asked;
use tokio::net::TcpStream;

use crate::tally::Failure;

/// Longest wait for an answer: longer than the gateway lets a request wait and a worker work by default.
const PATIENCE: Duration = Duration::from_secs(80);
/// Maximum number of idle connections for the next requests.
const IDLE_MAX: usize = 4_000;
/// Header of the gateway's own error answers.
const ERROR_FIELD: &str = "x-sluice-error";

/// Client of a gateway on this machine.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    host: String,
    idle: RefCell<Vec<SendRequest<Empty<Bytes>>>>,
    streams: Cell<u64>,
}

impl Client {
    /// Creates a client without a connection.
    pub fn new(address: SocketAddr) -> Self {
        Self { address, host: address.to_string(), idle: RefCell::default(), streams: Cell::default() }
    }

    /// Number of event streams so far that were closed after their head.
    pub fn streams(&self) -> u64 {
        self.streams.get()
    }

    /// Closes the connections that are idle. While nothing runs, nobody notices that the gateway has closed them.
    pub(crate) fn close_idle(&self) {
        self.idle.borrow_mut().clear();
    }

    /// Sends a request and reads the whole answer, or the head of an event stream, which has no end. Returns its status.
    ///
    /// # Errors
    /// When there is no whole answer of the app with a status below 500.
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
        if !asked.is_head && is_event_stream(&response) {
            // The connection closes with what is left of the answer.
            self.streams.set(self.streams.get() + 1);
            return outcome;
        }
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
    match response.headers().get(ERROR_FIELD).and_then(|code| code.to_str().ok()) {
        Some(code) => Err(Failure::Gateway { status, code: code.to_owned() }),
        None if status >= 500 => Err(Failure::App(status)),
        None => Ok(status),
    }
}

fn is_event_stream(response: &Response<Incoming>) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or("").trim();
    kind.eq_ignore_ascii_case("text/event-stream")
}

async fn read(response: Response<Incoming>) -> Result<(), Failure> {
    let mut body = response.into_body();
    while let Some(frame) = body.frame().await {
        frame.map_err(|_| Failure::Cut)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use tokio::runtime::Builder;
    use tokio::task::LocalSet;

    use super::*;

    /// Outcome of one request to a server that writes this and keeps the connection open, and the number of event streams.
    fn asked(answer: &'static str) -> (Result<u16, Failure>, u64) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::new(server.local_addr().unwrap());
        let served = thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut bytes = [0; 4_096];
            assert!(stream.read(&mut bytes).unwrap() > 0);
            stream.write_all(answer.as_bytes()).unwrap();
            // Until the client closes it.
            while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
        });
        let outcome = {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let asked = Asked { is_head: false, target: "/".to_owned() };
            LocalSet::new().block_on(&runtime, client.ask(&asked))
        };
        let streams = client.streams();
        drop(client);
        served.join().unwrap();
        (outcome, streams)
    }

    #[test]
    fn an_event_stream_counts_by_its_head() {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
        assert_eq!(asked(head), (Ok(200), 1));
    }

    #[test]
    fn answers_of_the_gateway_are_not_the_apps_whatever_their_status() {
        let own = "HTTP/1.1 400 Bad Request\r\nx-sluice-error: SLU-TARGET-INVALID\r\ncontent-length: 0\r\n\r\n";
        let failure = Failure::Gateway { status: 400, code: "SLU-TARGET-INVALID".to_owned() };
        assert_eq!(asked(own), (Err(failure), 0));
        assert_eq!(asked("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"), (Ok(404), 0));
        assert_eq!(asked("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"), (Err(Failure::App(500)), 0));
    }
}
