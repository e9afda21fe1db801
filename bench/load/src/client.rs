//! One HTTP/1.1 client connection, made to cost little: requests are ready-made bytes, bodies are counted and dropped.
//!
//! It says what came back or how the exchange failed; what that means for a result is decided elsewhere.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Read buffer of a connection; also the longest head that is taken.
const BUFFER_BYTES: usize = 16 * 1024;
const HEADERS_COUNT_MAX: usize = 128;

/// Reason why an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No connection.
    Connect,
    /// The server closed or reset the connection before any byte of an answer.
    Closed,
    /// The answer broke off.
    Truncated,
    /// The answer is not HTTP/1.1.
    Malformed,
}

impl Failure {
    /// Name of the failure in the result.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Closed => "closed",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
        }
    }
}

/// Answer to one request.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Final status, informational ones skipped.
    pub status: u16,
    /// Length of the body, without its framing.
    pub body_bytes: u64,
    /// Whether the connection may be used again.
    pub keep_alive: bool,
    /// The value of `x-load-id`.
    pub load_id: Option<u64>,
    /// Wait in a queue, from `Server-Timing`.
    pub queue: Option<Duration>,
}

/// A connection and what was read from it but not used yet.
pub struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Whether an exchange was completed on it before.
    pub used: bool,
}

enum Framing {
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

impl Connection {
    /// Connects.
    pub async fn open(target: SocketAddr) -> Result<Self, Failure> {
        let stream = TcpStream::connect(target).await.map_err(|_| Failure::Connect)?;
        stream.set_nodelay(true).map_err(|_| Failure::Connect)?;
        Ok(Self { stream, buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), start: 0, end: 0, used: false })
    }

    /// Sends a request and takes the whole answer.
    pub async fn exchange(&mut self, request: &[u8], is_head: bool) -> Result<Answer, Failure> {
        // A server may refuse and close while the body is still being sent; its answer counts more than the broken pipe.
        let _ = self.stream.write_all(request).await;
        let mut answer;
        let framing = loop {
            let (parsed, framing) = self.head(is_head).await?;
            answer = parsed;
            if answer.status >= 200 || answer.status == 101 {
                break framing;
            }
        };
        answer.body_bytes = match framing {
            Framing::None => 0,
            Framing::Length(bytes) => {
                self.skip(bytes).await?;
                bytes
            }
            Framing::Chunked => self.chunks().await?,
            Framing::UntilClose => {
                answer.keep_alive = false;
                self.rest().await?
            }
        };
        self.used = true;
        Ok(answer)
    }

    /// Closes with a reset instead of an orderly end.
    pub fn reset(self) {
        let _ = self.stream.set_zero_linger();
    }

    /// Whether the server is known to have closed it, or sent what nobody asked for.
    pub fn is_closed(&mut self) -> bool {
        let asked = self.stream.try_read(&mut self.buffer);
        !matches!(asked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until the server closes. Bytes that arrive unasked are dropped.
    pub async fn closed(&mut self) {
        while let Ok(read) = self.stream.read(&mut self.buffer).await {
            if read == 0 {
                return;
            }
        }
    }

    async fn head(&mut self, is_head: bool) -> Result<(Answer, Framing), Failure> {
        loop {
            if self.start < self.end {
                if let Some((length, answer, framing)) = parse_head(&self.buffer[self.start..self.end], is_head)? {
                    self.start += length;
                    return Ok((answer, framing));
                }
                if self.end - self.start == self.buffer.len() {
                    return Err(Failure::Malformed);
                }
            }
            let nothing_yet = self.start == self.end;
            match self.fill().await {
                Ok(0) | Err(_) if nothing_yet => return Err(Failure::Closed),
                Ok(0) | Err(_) => return Err(Failure::Truncated),
                Ok(_) => {}
            }
        }
    }

    async fn skip(&mut self, mut bytes: u64) -> Result<(), Failure> {
        loop {
            let held = (self.end - self.start) as u64;
            if held >= bytes {
                self.start += usize::try_from(bytes).map_err(|_| Failure::Malformed)?;
                return Ok(());
            }
            bytes -= held;
            self.start = self.end;
            self.fill_or_truncated().await?;
        }
    }

    async fn chunks(&mut self) -> Result<u64, Failure> {
        let mut total = 0;
        loop {
            let size = parse_chunk_size(self.line().await?)?;
            if size == 0 {
                // Trailers, if any, end with an empty line.
                while !self.line().await?.is_empty() {}
                return Ok(total);
            }
            total += size;
            self.skip(size).await?;
            if !self.line().await?.is_empty() {
                return Err(Failure::Malformed);
            }
        }
    }

    /// Only an orderly close ends such a body: after a reset nobody knows what was missing.
    async fn rest(&mut self) -> Result<u64, Failure> {
        let mut total = 0;
        loop {
            total += (self.end - self.start) as u64;
            self.start = self.end;
            match self.fill().await {
                Ok(0) => return Ok(total),
                Ok(_) => {}
                Err(_) => return Err(Failure::Truncated),
            }
        }
    }

    /// The next line, without its end.
    async fn line(&mut self) -> Result<&[u8], Failure> {
        loop {
            if let Some(at) = self.buffer[self.start..self.end].iter().position(|&byte| byte == b'\n') {
                let from = self.start;
                self.start += at + 1;
                let line = &self.buffer[from..from + at];
                return line.strip_suffix(b"\r").ok_or(Failure::Malformed);
            }
            if self.end - self.start == self.buffer.len() {
                return Err(Failure::Malformed);
            }
            self.fill_or_truncated().await?;
        }
    }

    async fn fill_or_truncated(&mut self) -> Result<(), Failure> {
        match self.fill().await {
            Ok(0) | Err(_) => Err(Failure::Truncated),
            Ok(_) => Ok(()),
        }
    }

    async fn fill(&mut self) -> io::Result<usize> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let read = self.stream.read(&mut self.buffer[self.end..]).await?;
        self.end += read;
        Ok(read)
    }
}

fn parse_head(bytes: &[u8], is_head: bool) -> Result<Option<(usize, Answer, Framing)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_COUNT_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(Failure::Malformed),
    };
    let status = response.code.ok_or(Failure::Malformed)?;
    let keep_alive = response.version == Some(1);
    let mut answer = Answer { status, body_bytes: 0, keep_alive, load_id: None, queue: None };
    let mut framing = Framing::UntilClose;
    for header in response.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            if !matches!(framing, Framing::Chunked) {
                framing = Framing::Length(parse_number(header.value).ok_or(Failure::Malformed)?);
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunked;
        } else if header.name.eq_ignore_ascii_case("connection") {
            answer.keep_alive &= !header.value.eq_ignore_ascii_case(b"close");
        } else if header.name.eq_ignore_ascii_case("x-load-id") {
            answer.load_id = parse_number(header.value);
        } else if header.name.eq_ignore_ascii_case("server-timing") {
            answer.queue = answer.queue.or_else(|| parse_queue(header.value));
        }
    }
    if is_head || status < 200 || status == 204 || status == 304 {
        framing = Framing::None;
    }
    Ok(Some((length, answer, framing)))
}

fn parse_number(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// The duration of the metric `queue`, in milliseconds: `queue;dur=12.5, worker;dur=5.1`.
fn parse_queue(value: &[u8]) -> Option<Duration> {
    let mut metrics = std::str::from_utf8(value).ok()?.split(',');
    let ms: f64 = metrics.find_map(|metric| metric.trim().strip_prefix("queue;dur="))?.parse().ok()?;
    Duration::try_from_secs_f64(ms / 1000.0).ok()
}

fn parse_chunk_size(line: &[u8]) -> Result<u64, Failure> {
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default();
    let digits = std::str::from_utf8(digits).map_err(|_| Failure::Malformed)?;
    u64::from_str_radix(digits.trim(), 16).map_err(|_| Failure::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// Serves one connection: waits for a request, writes `pieces` one by one, closes.
    async fn exchange_with(pieces: &'static [&'static str]) -> Result<Answer, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap();
        let server = async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 64];
            let _ = stream.read(&mut request).await.unwrap();
            for piece in pieces {
                stream.write_all(piece.as_bytes()).await.unwrap();
                stream.flush().await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let client = async { Connection::open(target).await?.exchange(b"GET / HTTP/1.1\r\n\r\n", false).await };
        tokio::join!(server, client).1
    }

    #[tokio::test]
    async fn a_body_is_counted_in_every_framing() {
        let sized = exchange_with(&["HTTP/1.1 200 OK\r\ncontent-le", "ngth: 5\r\nx-load-id: 9\r\n\r\nhel", "lo"])
            .await
            .unwrap();
        assert_eq!((sized.status, sized.body_bytes, sized.keep_alive, sized.load_id), (200, 5, true, Some(9)));
        let chunked = exchange_with(&[
            "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r",
            "\nhello\r\n1;a=b\r\n!\r\n0\r\ntrailer: 1\r\n\r\n",
        ])
        .await
        .unwrap();
        assert_eq!((chunked.status, chunked.body_bytes, chunked.keep_alive), (200, 6, true));
        let until_close = exchange_with(&["HTTP/1.1 200 OK\r\n\r\nhel", "lo"]).await.unwrap();
        assert_eq!((until_close.body_bytes, until_close.keep_alive), (5, false));
    }

    #[tokio::test]
    async fn a_reset_does_not_end_a_body_that_has_no_length() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap();
        let server = async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 64]).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhel").await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.set_zero_linger().unwrap();
        };
        let client = async { Connection::open(target).await?.exchange(b"GET / HTTP/1.1\r\n\r\n", false).await };
        assert_eq!(tokio::join!(server, client).1.unwrap_err(), Failure::Truncated);
    }

    #[test]
    fn the_wait_in_a_queue_is_read_from_server_timing() {
        assert_eq!(parse_queue(b"worker;dur=5.1, queue;dur=12.5"), Some(Duration::from_micros(12_500)));
        assert_eq!(parse_queue(b"cache;desc=hit"), None);
    }

    #[tokio::test]
    async fn a_connection_that_the_server_closed_is_known_to_be() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap();
        let (opened, accepted) = tokio::join!(Connection::open(target), listener.accept());
        let (mut connection, (stream, _)) = (opened.unwrap(), accepted.unwrap());
        assert!(!connection.is_closed());
        drop(stream);
        connection.stream.readable().await.unwrap();
        assert!(connection.is_closed());
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_is_a_failure() {
        assert_eq!(exchange_with(&[]).await.unwrap_err(), Failure::Closed);
        assert_eq!(exchange_with(&["HTTP/1.1 20"]).await.unwrap_err(), Failure::Truncated);
        assert_eq!(
            exchange_with(&["HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhell"]).await.unwrap_err(),
            Failure::Truncated
        );
        let chunked = exchange_with(&["HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"]).await;
        assert_eq!(chunked.unwrap_err(), Failure::Truncated);
        assert_eq!(exchange_with(&["SSH-2.0-x\r\n"]).await.unwrap_err(), Failure::Malformed);
    }
}
