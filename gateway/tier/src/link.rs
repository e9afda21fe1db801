//! A connection to the server: commands of many askers go out in their order, and their replies come back in that order.
//!
//! An asker that gives up leaves its replies to be thrown away. A connection with a fault ends for all. It must not know what
//! commands mean.

mod open;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

pub(crate) use open::open;

use crate::resp::{Garbage, Replies, Reply};

/// Maximum number of commands that wait to be sent. Further ones wait for a place.
const WAITING_MAX: usize = 64;
/// Maximum number of commands that wait for replies. A server that lets more come is given up.
const ASKED_MAX: usize = 10_000;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// Reason why the server cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    /// Error of the operating system, in its words.
    #[error("{0}")]
    Io(String),
    #[error(transparent)]
    Garbage(#[from] Garbage),
    #[error("it closed the connection")]
    Closed,
    #[error("it did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    #[error("it is more than {ASKED_MAX} answers behind")]
    Behind,
    /// Refusal of a command.
    #[error("it answered: {0}")]
    Refused(String),
    #[error("{0}")]
    Tls(String),
    #[error("its purge log was lost, and is read again")]
    LogLost,
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::UnexpectedEof { Fault::Closed } else { Fault::Io(error.to_string()) }
    }
}

struct Ask {
    bytes: Vec<u8>,
    replies: usize,
    answer: oneshot::Sender<Vec<Reply>>,
}

/// Commands that are asked together, and for which the server gives as many replies.
#[derive(Default)]
pub(crate) struct Commands {
    bytes: Vec<u8>,
    count: usize,
}

impl Commands {
    pub(crate) fn of(words: &[&[u8]]) -> Self {
        Self::default().and(words)
    }

    pub(crate) fn and(mut self, words: &[&[u8]]) -> Self {
        let command = crate::resp::command(words);
        if self.bytes.is_empty() {
            self.bytes = command;
        } else {
            self.bytes.extend_from_slice(&command);
        }
        self.count += 1;
        self
    }
}

/// An open connection. Dropped, it is closed.
pub(crate) struct Link {
    asks: mpsc::Sender<Ask>,
    fault: Rc<RefCell<Option<Fault>>>,
    driver: JoinHandle<()>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Link {
    /// Drives a stream to the server, in a task of this thread. No reply is longer than `bytes_max`.
    pub(crate) fn over<S: AsyncRead + AsyncWrite + 'static>(stream: S, bytes_max: usize) -> Self {
        let (asks, receiver) = mpsc::channel(WAITING_MAX);
        let fault = Rc::new(RefCell::new(None));
        let told = Rc::clone(&fault);
        let driver = tokio::task::spawn_local(async move {
            let ended = drive(stream, receiver, bytes_max).await;
            *told.borrow_mut() = ended.err();
        });
        Link { asks, fault, driver }
    }

    /// Asks, and waits for all replies.
    ///
    /// # Errors
    /// When the connection has ended, or the replies take longer than `time_max`. A refused command is a reply.
    pub(crate) async fn ask(&self, commands: Commands, time_max: Duration) -> Result<Vec<Reply>, Fault> {
        let (answer, answered) = oneshot::channel();
        let ask = Ask { bytes: commands.bytes, replies: commands.count, answer };
        let asked = async {
            self.asks.send(ask).await.ok()?;
            answered.await.ok()
        };
        match timeout(time_max, asked).await {
            Ok(Some(replies)) => Ok(replies),
            Ok(None) => Err(self.fault.borrow().clone().unwrap_or(Fault::Closed)),
            Err(_) => Err(Fault::Late(time_max)),
        }
    }
}

/// Drives the connection until nobody asks any more, or it has ended.
async fn drive<S: AsyncRead + AsyncWrite>(
    stream: S,
    mut asks: mpsc::Receiver<Ask>,
    bytes_max: usize,
) -> Result<(), Fault> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let waiting = RefCell::new(VecDeque::new());
    let writing = async {
        while let Some(Ask { bytes, replies, answer }) = asks.recv().await {
            if waiting.borrow().len() >= ASKED_MAX {
                return Err(Fault::Behind);
            }
            waiting.borrow_mut().push_back((replies, answer));
            writer.write_all(&bytes).await?;
            writer.flush().await?;
        }
        Ok(())
    };
    let reading = async {
        let mut replies = Replies::new(bytes_max);
        let mut whole = Vec::new();
        loop {
            while let Some(reply) = replies.next()? {
                whole.push(reply);
                let is_last = match waiting.borrow().front() {
                    Some((count, _)) => whole.len() == *count,
                    // Nobody has asked.
                    None => return Err(Garbage::Form.into()),
                };
                if is_last && let Some((_, answer)) = waiting.borrow_mut().pop_front() {
                    // Whoever asked may have given up.
                    let _ = answer.send(std::mem::take(&mut whole));
                }
            }
            replies.buffer.reserve(READ_BYTES);
            if reader.read_buf(&mut replies.buffer).await? == 0 {
                return Err(Fault::Closed);
            }
        }
    };
    tokio::select! {
        ended = writing => ended,
        ended = reading => ended,
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{DuplexStream, duplex};
    use tokio::task::LocalSet;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Runs a conversation over a link whose other end the test holds.
    async fn with_link<F: Future<Output = ()>>(talk: impl FnOnce(Rc<Link>, DuplexStream) -> F) {
        let (ours, theirs) = duplex(1024);
        LocalSet::new().run_until(async { talk(Rc::new(Link::over(ours, 10_000)), theirs).await }).await;
    }

    async fn heard(server: &mut DuplexStream, expected: &[u8]) {
        let mut read = vec![0; expected.len()];
        server.read_exact(&mut read).await.unwrap();
        assert_eq!(read, expected, "{}", read.escape_ascii());
    }

    fn ping() -> Commands {
        Commands::of(&[b"PING"])
    }

    #[tokio::test(start_paused = true)]
    async fn askers_get_their_own_replies_although_one_before_them_has_given_up() {
        with_link(async |link, mut server| {
            let late = link.ask(Commands::of(&[b"A"]).and(&[b"B"]), Duration::from_millis(5)).await;
            assert_eq!(late, Err(Fault::Late(Duration::from_millis(5))));
            let other = Rc::clone(&link);
            let asked = tokio::task::spawn_local(async move { other.ask(ping(), SECOND).await });
            heard(&mut server, b"*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n*1\r\n$4\r\nPING\r\n").await;
            server.write_all(b":1\r\n:2\r\n+PO").await.unwrap();
            server.write_all(b"NG\r\n").await.unwrap();
            assert_eq!(asked.await.unwrap().unwrap()[0].str(), Some("PONG"));
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn garbage_a_reply_that_nobody_asked_for_and_a_closed_connection_end_it_for_all() {
        for (sent, fault) in [
            (&b"HTTP/1.1 400\r\n"[..], Fault::Garbage(Garbage::Form)),
            (b"$99999\r\n", Fault::Garbage(Garbage::TooLong)),
            (b"+PONG\r\n+PONG\r\n", Fault::Garbage(Garbage::Form)),
            (b"$10\r\nhalf", Fault::Closed),
        ] {
            with_link(async |link, mut server| {
                let other = Rc::clone(&link);
                let first = tokio::task::spawn_local(async move { other.ask(ping(), SECOND).await });
                tokio::task::yield_now().await;
                server.write_all(sent).await.unwrap();
                drop(server);
                let _ = first.await.unwrap();
                assert_eq!(link.ask(ping(), SECOND).await, Err(fault), "{}", sent.escape_ascii());
            })
            .await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_reads_nothing_holds_an_asker_for_its_time_alone() {
        with_link(async |link, server| {
            let value = vec![b'a'; 5_000];
            for _ in 0..3 {
                let asked = link.ask(Commands::of(&[b"SET", b"k", &value]), SECOND).await;
                assert_eq!(asked, Err(Fault::Late(SECOND)));
            }
            drop(server);
        })
        .await;
    }
}
