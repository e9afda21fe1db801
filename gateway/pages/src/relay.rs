//! The way between the two gateways of an upgrade: pages go from the old one to the new, purges go both ways.
//!
//! Two threads, one that writes and one that reads, encode and decode; [`Relay`] is what the gateway's thread holds, and [`Heard`] what
//! that thread is told. Everything that one side says arrives in the order in which it was said, and that is what makes purges sure.

mod frame;

use std::io::{self, BufReader, BufWriter, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;
use sluice_cache::{Page, decode};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::clock::{Clock, clock_ms};
use crate::outgoing::Outgoing;
use frame::Frame;
pub use frame::{Fault, Hello, Told};

/// Bytes of pages that wait to be written; the next page waits, so that a purge does not wait for long behind pages.
const QUEUED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Largest number of messages that wait to be written. Purges cannot be left out, so a side that is so far behind is
/// given up.
const QUEUED_MAX: usize = 20_000;
/// Bytes of purges that wait to be written at most. A side that is further behind is given up as well.
const QUEUED_PURGES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Messages that this gateway has not handled yet. Each may be a page of the largest size. The other side waits then.
const HEARD_MAX: usize = 8;
/// A side that takes nothing for so long is given up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest size of a page's head and tags.
const HEAD_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Message of the other side.
#[derive(Debug)]
pub enum Heard {
    /// Greeting.
    Hello(Hello),
    /// A page of it.
    Page(Box<Page>),
    /// Purge that the other side has made.
    Purge(Told),
    /// A purge of ours is in force there.
    Done(u64),
    /// All pages that it had are on this side.
    AllSent,
    /// Farewell: it will purge nothing any more, and exits.
    Bye,
    /// Nothing more will be heard: why.
    Broken(Fault),
}

/// Message on its way to the thread that writes.
enum Out {
    Frame(Frame),
    Page(Box<Outgoing>),
    Bye(oneshot::Sender<()>),
}

/// State that both the gateway's thread and the one that writes know.
#[derive(Default)]
struct Queue {
    frames: AtomicUsize,
    bytes: AtomicUsize,
    purges_bytes: AtomicUsize,
    has_room: Notify,
}

/// One side of the way.
pub struct Relay {
    out: mpsc::UnboundedSender<Out>,
    queue: Arc<Queue>,
    stream: UnixStream,
}

impl Drop for Relay {
    /// Both threads end with it.
    fn drop(&mut self) {
        self.cut();
    }
}

impl Relay {
    /// Starts the threads. `page_bytes_max`: the largest body that is taken.
    ///
    /// # Errors
    /// When there are no threads to be had.
    pub fn start(
        stream: UnixStream,
        clock: Clock,
        page_bytes_max: usize,
        hello: Hello,
    ) -> io::Result<(Self, mpsc::Receiver<Heard>)> {
        stream.set_nonblocking(false)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        let (out, to_write) = mpsc::unbounded_channel();
        let (tell, heard) = mpsc::channel(HEARD_MAX);
        let queue = Arc::<Queue>::default();
        let (writes, reads, written) = (stream.try_clone()?, stream.try_clone()?, Arc::clone(&queue));
        thread::Builder::new().name("pages-out".to_owned()).spawn(move || {
            block_signals();
            // Whoever reads the other end of this stream finds out; here the reader does.
            let _ = write_all(&writes, to_write, &written);
            let _ = writes.shutdown(Shutdown::Both);
            written.has_room.notify_waiters();
        })?;
        thread::Builder::new().name("pages-in".to_owned()).spawn(move || {
            block_signals();
            let bytes_max = page_bytes_max.saturating_add(HEAD_BYTES_MAX);
            let fault = read_all(&reads, clock, bytes_max, &tell);
            let _ = reads.shutdown(Shutdown::Both);
            if let Err(fault) = fault {
                let _ = tell.blocking_send(Heard::Broken(fault));
            }
        })?;
        let relay = Relay { out, queue, stream };
        relay.say(Out::Frame(Frame::Hello(hello)));
        Ok((relay, heard))
    }

    fn say(&self, out: Out) {
        if self.queue.frames.fetch_add(1, Ordering::Relaxed) > QUEUED_MAX {
            return self.cut();
        }
        // The thread that writes is gone where the connection is, which the other thread tells.
        let _ = self.out.send(out);
    }

    /// Gives the other side up: [`Heard::Broken`] follows.
    pub fn cut(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Whether the next page need not wait.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.queue.bytes.load(Ordering::Relaxed) < QUEUED_BYTES_MAX
    }

    /// Waits until there is room for the next page, or the other side is gone.
    pub async fn room(&self) {
        loop {
            let freed = self.queue.has_room.notified();
            if self.has_room() || self.out.is_closed() {
                return;
            }
            freed.await;
        }
    }

    /// Sends a page. There should be room.
    pub fn page(&self, page: Outgoing) {
        self.queue.bytes.fetch_add(page.bytes(), Ordering::Relaxed);
        self.say(Out::Page(Box::new(page)));
    }

    /// Tells of a purge that is in force on this side.
    pub fn purge(&self, told: Told) {
        let bytes = told.bytes();
        if self.queue.purges_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > QUEUED_PURGES_BYTES_MAX {
            return self.cut();
        }
        self.say(Out::Frame(Frame::Purge(told)));
    }

    /// Says that a purge of the other side is in force here.
    pub fn done(&self, number: u64) {
        self.say(Out::Frame(Frame::Done(number)));
    }

    /// Says that all pages have been sent.
    pub fn all_sent(&self) {
        self.say(Out::Frame(Frame::AllSent));
    }

    /// Says that this side goes. The receiver gets its word when that is written, after everything before it.
    #[must_use]
    pub fn bye(&self) -> oneshot::Receiver<()> {
        let (written, when_written) = oneshot::channel();
        self.say(Out::Bye(written));
        when_written
    }
}

/// Signals are for the main thread.
fn block_signals() {
    let _ = SigSet::all().thread_block();
}

fn write_all(stream: &UnixStream, mut out: mpsc::UnboundedReceiver<Out>, queue: &Queue) -> io::Result<()> {
    let mut stream = BufWriter::with_capacity(64 * 1024, stream);
    while let Some(next) = out.blocking_recv() {
        queue.frames.fetch_sub(1, Ordering::Relaxed);
        match next {
            Out::Frame(frame) => {
                if let Frame::Purge(told) = &frame {
                    queue.purges_bytes.fetch_sub(told.bytes(), Ordering::Relaxed);
                }
                frame::write(&mut stream, &frame)?;
            }
            Out::Page(page) => {
                frame::write(&mut stream, &Frame::Page(page.encode().into()))?;
                queue.bytes.fetch_sub(page.bytes(), Ordering::Relaxed);
                queue.has_room.notify_waiters();
            }
            Out::Bye(written) => {
                frame::write(&mut stream, &Frame::Bye)?;
                stream.flush()?;
                let _ = written.send(());
            }
        }
        if out.is_empty() {
            stream.flush()?;
        }
    }
    Ok(())
}

/// Reads until the other side says that it goes, or this one does not listen any more.
fn read_all(stream: &UnixStream, clock: Clock, bytes_max: usize, tell: &mpsc::Sender<Heard>) -> Result<(), Fault> {
    let mut stream = BufReader::with_capacity(64 * 1024, stream);
    let mut is_greeted = false;
    loop {
        let Some(frame) = frame::read(&mut stream, bytes_max)? else { continue };
        if is_greeted == matches!(frame, Frame::Hello(_)) {
            return Err(Fault::Garbage);
        }
        is_greeted = true;
        let is_last = frame == Frame::Bye;
        let heard = match frame {
            Frame::Hello(hello) => Heard::Hello(hello),
            Frame::Page(data) => Heard::Page(Box::new(decode(&data, clock.moment(), clock_ms())?)),
            Frame::Purge(told) => Heard::Purge(told),
            Frame::Done(number) => Heard::Done(number),
            Frame::AllSent => Heard::AllSent,
            Frame::Bye => Heard::Bye,
        };
        if tell.blocking_send(heard).is_err() || is_last {
            return Ok(());
        }
    }
}

#[cfg(test)]
#[path = "relay/tests.rs"]
mod tests;
