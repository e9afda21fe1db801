//! A client on its connection. It shows answers without what is another each time: their date and their request's id.

use std::fmt::Write as _;

use sluice_message::Fields;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

use sluice_wire::socket::memory::End;

pub(super) struct Client {
    end: End,
    serving: JoinHandle<()>,
}

impl Client {
    pub(super) fn new(end: End, serving: JoinHandle<()>) -> Self {
        Client { end, serving }
    }

    pub(super) async fn send(&mut self, text: &str) {
        self.end.write_all(text.as_bytes()).await.expect("the gateway reads");
    }

    pub(super) async fn get(&mut self, target: &str) {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: app.test\r\n\r\n")).await;
    }

    pub(super) async fn post(&mut self, target: &str, body: &str) {
        let len = body.len();
        self.send(&format!("POST {target} HTTP/1.1\r\nHost: app.test\r\nContent-Length: {len}\r\n\r\n{body}")).await;
    }

    /// A whole answer that tells its length: `HTTP/1.1 200 OK, hello`. Fields are shown but for those that each answer has.
    pub(super) async fn answer(&mut self) -> String {
        let (start, fields) = self.head().await;
        let len = fields.get("content-length").map_or(0, |len| std::str::from_utf8(len).unwrap().parse().unwrap());
        let mut body = vec![0; len];
        self.end.read_exact(&mut body).await.expect("the whole body comes");
        shown(&start, &fields, &body)
    }

    /// The head of an answer: its first line, and its fields.
    pub(super) async fn head(&mut self) -> (String, Fields) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.end.read_u8().await.expect("a whole head comes"));
        }
        split(&head)
    }

    /// The same, if it comes in so many milliseconds.
    pub(super) async fn head_within(&mut self, ms: u64) -> Option<(String, Fields)> {
        tokio::time::timeout(std::time::Duration::from_millis(ms), self.head()).await.ok()
    }

    /// All that comes until the gateway closes the connection, and that it does: `HTTP/1.1 200 OK, hel|`.
    pub(super) async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        let reset = self.end.read_to_end(&mut rest).await.is_err();
        let ending = if reset { "!" } else { "|" };
        let Some(at) = rest.windows(4).position(|four| four == b"\r\n\r\n") else {
            return String::from_utf8(rest).unwrap() + ending;
        };
        let (start, fields) = split(&rest[..at + 4]);
        shown(&start, &fields, &rest[at + 4..]) + ending
    }

    /// A body in chunks, to its end.
    pub(super) async fn chunks(&mut self) -> String {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                line.push(self.end.read_u8().await.expect("a whole line comes"));
            }
            let len = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim_end(), 16).expect("a length");
            let chunk = self.take(len + 2).await;
            if len == 0 {
                return String::from_utf8(body).unwrap();
            }
            body.extend_from_slice(&chunk[..len]);
        }
    }

    /// So many bytes.
    pub(super) async fn take(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.end.read_exact(&mut bytes).await.expect("so many bytes come");
        bytes
    }

    /// Ends its sending side.
    pub(super) async fn half_close(&mut self) {
        self.end.shutdown().await.unwrap();
    }

    /// Closes its connection.
    pub(super) fn leave(self) {
        drop(self.end);
    }

    /// The same, with an error for the gateway. The connection's task has ended when this returns.
    pub(super) async fn reset(self) {
        self.end.reset();
        self.serving.await.expect("the connection's task ends well");
    }
}

fn split(head: &[u8]) -> (String, Fields) {
    let head = std::str::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let start = lines.next().unwrap_or_default().to_owned();
    (start, lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name, value.as_bytes())).collect())
}

/// Errors show their code in place of their text.
fn shown(start: &str, fields: &Fields, body: &[u8]) -> String {
    let (mut shown, mut is_error) = (start.to_owned(), false);
    for (name, value) in fields.iter() {
        let value = String::from_utf8_lossy(value);
        match name {
            "X-Request-Id" | "Date" | "Content-Length" | "Content-Type" | "Cache-Control" | "X-Sluice-Retry" => {}
            // Of each error.
            "Vary" if value == "Accept" => {}
            "X-Sluice-Error" => {
                is_error = true;
                let _ = write!(shown, ", {value}");
            }
            _ => drop(write!(shown, ", {name}: {value}")),
        }
    }
    let body = String::from_utf8_lossy(body);
    if is_error || body.is_empty() { shown } else { format!("{shown}, {body}") }
}
