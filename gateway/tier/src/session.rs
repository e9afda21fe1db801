//! Work over one set of connections, until one of them is lost. Look-ups and purges use the first, and writes the second, so that
//! no look-up waits behind a large page. The third brings what other gateways tell.

mod charge;
mod listen;
mod look_up;
mod pulse;
mod tell;
mod write;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::clock::{Clock, is_behind};
use crate::counts::Counts;
use crate::interface::{Ends, Settings, TimeMax};
use crate::link::{Commands, Fault, Link};
use crate::log::{Entry, Id, KEPT_MAX, Kind, Log, News, entries};
use crate::outbox::Outbox;
use crate::resp::{Garbage, Reply};
use crate::stored::Names;

/// Time limit for an answer of the server, after which its connection is closed.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum number of purges that are read at once.
const READ_MAX: usize = 1_000;
/// Maximum size of the part of the log in memory during a full read, bytes.
const WHOLE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Maximum time of a restart of the server, milliseconds. Purges of other gateways since then count for pages that
/// this gateway finds on disk.
const RESTART_MS_MAX: u64 = 60_000;

pub(crate) struct Session {
    reads: Link,
    writes: Link,
    bus: Link,
    log: Rc<RefCell<Log>>,
    clock: RefCell<Clock>,
    names: Names,
    time_max: Arc<TimeMax>,
    outbox: Arc<Outbox>,
    counts: Arc<Counts>,
}

impl Session {
    /// Connects, and catches up with what was purged meanwhile.
    ///
    /// # Errors
    /// Why the server cannot be used.
    pub(crate) async fn open(
        settings: &Settings,
        ends: &Ends,
        log: &Rc<RefCell<Log>>,
        connect: &impl AsyncFn() -> Result<Link, Fault>,
    ) -> Result<Rc<Self>, Fault> {
        let session = Session {
            reads: connect().await?,
            writes: connect().await?,
            bus: connect().await?,
            log: Rc::clone(log),
            clock: RefCell::default(),
            names: Names::new(&settings.prefix),
            time_max: Arc::clone(&ends.time_max),
            outbox: Arc::clone(&ends.outbox),
            counts: Arc::clone(&ends.counts),
        };
        let news = session.catch_up(ends.started).await?;
        listen::tell(&session.counts, news, &ends.heard).await;
        Ok(Rc::new(session))
    }

    /// Serves until a connection is lost. Returns why.
    pub(crate) async fn serve(self: Rc<Self>, ends: &mut Ends) -> Fault {
        let Ends { wishes, charges, writes, probe, heard, .. } = ends;
        let ended = tokio::select! {
            ended = charge::serve(&self, charges) => ended,
            ended = look_up::serve(&self, wishes) => ended,
            ended = write::serve(&self, writes, heard) => ended,
            ended = listen::serve(&self, heard) => ended,
            ended = tell::serve(&self) => ended,
            ended = pulse::serve(&self, probe, heard) => ended,
        };
        ended.err().unwrap_or(Fault::Closed)
    }

    /// Reads the whole log.
    async fn catch_up(&self, started: Instant) -> Result<News, Fault> {
        loop {
            let asked = Instant::now();
            let now_ms = time(&first(self.bus.ask(Commands::of(&[b"TIME"]), ANSWER_TIMEOUT).await?)?)?;
            self.clock.borrow_mut().read(now_ms, asked, Instant::now());
            let whole = self.whole_log().await?;
            let Some(last) = whole.last() else {
                self.add(&Kind::Begin, false, fastrand::u64(1..)).await?;
                continue;
            };
            if is_behind(now_ms, last.id.ms) && last.kind != Kind::Clock {
                self.add(&Kind::Clock, false, last.log).await?;
                continue;
            }
            let lived_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let since_ms = now_ms.saturating_sub(lived_ms).saturating_sub(RESTART_MS_MAX);
            if let Some(news) = self.log.borrow_mut().load(&whole, since_ms) {
                return Ok(news);
            }
        }
    }

    async fn whole_log(&self) -> Result<Vec<Entry>, Fault> {
        let (mut whole, mut from) = (Vec::new(), Id::default());
        // Others may add to it faster than it is read.
        for _ in 0..2 * KEPT_MAX / READ_MAX {
            let read = first(self.bus.ask(Commands::default().and_range(&self.names, from), ANSWER_TIMEOUT).await?)?;
            let read = entries(&read).ok_or(Garbage::Form)?;
            let count = read.len();
            whole.extend(read);
            forget_above(&mut whole, WHOLE_BYTES_MAX);
            match whole.last() {
                Some(last) if count >= READ_MAX => from = last.id.next(),
                _ => break,
            }
        }
        Ok(whole)
    }

    /// Adds to the log. Returns the id.
    async fn add(&self, kind: &Kind, is_soft: bool, log: u64) -> Result<Id, Fault> {
        let added = first(self.reads.ask(self.addition(kind, is_soft, log), ANSWER_TIMEOUT).await?)?;
        added.str().and_then(Id::parse).ok_or(Fault::Garbage(Garbage::Form))
    }

    fn addition(&self, kind: &Kind, is_soft: bool, log: u64) -> Commands {
        let (name, about) = kind.words();
        let (kept, log, from) = (KEPT_MAX.to_string(), format!("{log:x}"), format!("{:x}", self.log.borrow().own()));
        let soft: &[u8] = if is_soft { b"1" } else { b"0" };
        let stream = self.names.log();
        Commands::of(&[
            b"XADD",
            stream.as_bytes(),
            b"MAXLEN",
            b"~",
            kept.as_bytes(),
            b"*",
            b"log",
            log.as_bytes(),
            b"from",
            from.as_bytes(),
            b"kind",
            name.as_bytes(),
            b"about",
            about.as_bytes(),
            b"soft",
            soft,
        ])
    }

    /// Takes a reading of the server's clock. If that was set back, nothing that was stored before may be used any more.
    async fn note_time(&self, now_ms: u64, asked: Instant) -> Result<(), Fault> {
        let is_set_back = self.clock.borrow_mut().read(now_ms, asked, Instant::now());
        let known = self.log.borrow().known();
        if is_set_back && let Some(known) = known {
            let id = self.add(&Kind::Clock, false, known.log).await?;
            self.log.borrow_mut().told(&Kind::Clock, false, id);
        }
        Ok(())
    }
}

impl Commands {
    /// The purges from an id on, with that one.
    fn and_range(self, names: &Names, from: Id) -> Self {
        let (stream, from, count) = (names.log(), from.to_string(), READ_MAX.to_string());
        self.and(&[b"XRANGE", stream.as_bytes(), from.as_bytes(), b"+", b"COUNT", count.as_bytes()])
    }
}

/// Leaves out the earliest entries beyond so many bytes. A log that begins later tells less: pages from before are not used, and a gateway
/// that knew it up to there has missed something.
fn forget_above(entries: &mut Vec<Entry>, bytes_max: usize) {
    let (mut bytes, mut left) = (0, 0);
    while left < entries.len() {
        bytes += entries[entries.len() - 1 - left].bytes();
        if bytes > bytes_max && left > 0 {
            break;
        }
        left += 1;
    }
    entries.drain(..entries.len() - left);
}

/// The only reply, or why the command was refused.
fn first(replies: Vec<Reply>) -> Result<Reply, Fault> {
    match replies.into_iter().next() {
        Some(Reply::Error(error)) => Err(Fault::Refused(error)),
        Some(reply) => Ok(reply),
        None => Err(Fault::Closed),
    }
}

/// A reply to `TIME`, in milliseconds.
fn time(reply: &Reply) -> Result<u64, Fault> {
    let parts: Vec<u64> = reply.list().into_iter().flatten().filter_map(|part| part.str()?.parse().ok()).collect();
    match parts[..] {
        [seconds, micros] => Ok(seconds.saturating_mul(1000).saturating_add(micros / 1000)),
        _ => Err(Garbage::Form.into()),
    }
}
