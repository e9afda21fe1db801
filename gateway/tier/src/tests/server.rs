//! A server in memory that knows the commands that are used, and fails as it is told.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout_at};

use crate::link::{self, Link};
use crate::log::Id;
use crate::resp::{Replies, Reply, command};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// It takes commands and answers nothing until it is well again, as one that is stopped.
    Silent,
    Slow(Duration),
    Garbage,
    /// It closes in the middle of an answer.
    Half,
    /// Connections are closed and refused.
    Dead,
    /// It has no memory for what is written.
    Full,
}

pub(super) struct Server {
    values: RefCell<HashMap<Vec<u8>, Vec<u8>>>,
    log: RefCell<Vec<(Id, Vec<Vec<u8>>)>>,
    last: Cell<Id>,
    added: Notify,
    fault: Cell<Fault>,
    changed: Notify,
    began: Instant,
    set_back: Cell<Duration>,
    /// Connections in the order in which they came; whether those of the second gateway are kept out.
    connections: Cell<usize>,
    is_keeping_out: Cell<usize>,
}

/// Connections of each gateway.
const LINKS: usize = 3;

impl Server {
    pub(super) fn new() -> Rc<Self> {
        Rc::new(Server {
            values: RefCell::default(),
            log: RefCell::default(),
            last: Cell::default(),
            added: Notify::new(),
            fault: Cell::new(Fault::None),
            changed: Notify::new(),
            began: Instant::now(),
            set_back: Cell::default(),
            connections: Cell::default(),
            is_keeping_out: Cell::default(),
        })
    }

    pub(super) fn fail(&self, fault: Fault) {
        self.fault.set(fault);
        self.changed.notify_waiters();
    }

    /// Closes the connections of the second gateway, and refuses new ones while this is not 0.
    pub(super) fn keep_out(&self, count: usize) {
        self.is_keeping_out.set(count);
        self.changed.notify_waiters();
    }

    pub(super) fn set_clock_back(&self, by: Duration) {
        self.set_back.set(by);
    }

    pub(super) fn empty(&self) {
        self.values.borrow_mut().clear();
        self.delete_log();
    }

    pub(super) fn delete_log(&self) {
        self.log.borrow_mut().clear();
        self.last.set(Id::default());
        self.added.notify_waiters();
    }

    pub(super) fn damage_pages(&self) {
        for value in self.values.borrow_mut().values_mut() {
            let middle = value.len() / 2;
            value[middle] ^= 1;
        }
    }

    fn now_ms(&self) -> u64 {
        let since = 1_700_000_000_000 + u64::try_from(self.began.elapsed().as_millis()).unwrap();
        since - u64::try_from(self.set_back.get().as_millis()).unwrap()
    }

    pub(super) fn connect(self: &Rc<Self>) -> Result<Link, link::Fault> {
        if self.fault.get() == Fault::Dead || self.is_keeping_out.get() > 0 {
            return Err(link::Fault::Io("Connection refused (os error 111)".to_owned()));
        }
        let number = self.connections.get();
        self.connections.set(number + 1);
        let (ours, theirs) = duplex(256 * 1024);
        let server = Rc::clone(self);
        tokio::task::spawn_local(async move {
            let leaves = async {
                loop {
                    server.changed.notified().await;
                    let is_kept_out = server.is_keeping_out.get() > 0 && (LINKS..2 * LINKS).contains(&number);
                    if server.fault.get() == Fault::Dead || is_kept_out {
                        break;
                    }
                }
            };
            tokio::select! {
                () = leaves => {}
                _ = server.serve(theirs) => {}
            }
        });
        Ok(Link::over(ours, 1_000_000))
    }

    async fn serve(&self, mut stream: DuplexStream) -> Option<()> {
        // A command has the form of a reply.
        let mut commands = Replies::new(1_000_000);
        loop {
            while let Some(Reply::List(words)) = commands.next().unwrap() {
                let words: Vec<&[u8]> = words.iter().map(|word| word.bytes().unwrap().as_ref()).collect();
                while self.fault.get() == Fault::Silent {
                    self.changed.notified().await;
                }
                let reply = self.reply(&words).await;
                let reply = match self.fault.get() {
                    Fault::Garbage => b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
                    Fault::Half => reply[..reply.len() / 2].to_vec(),
                    _ => reply,
                };
                if let Fault::Slow(by) = self.fault.get() {
                    sleep(by).await;
                }
                stream.write_all(&reply).await.ok()?;
                if self.fault.get() == Fault::Half {
                    return None;
                }
            }
            if stream.read_buf(&mut commands.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }

    /// Charge of one allowance, as the script makes it.
    fn charge(&self, name: &[u8], interval_us: u64, tolerance_us: u64) -> Vec<u8> {
        let now = self.now_ms() * 1000;
        let mut values = self.values.borrow_mut();
        let known = values.get(name).map_or(0, |text| std::str::from_utf8(text).unwrap().parse().unwrap());
        let known = known.clamp(now, now + interval_us + tolerance_us);
        let wait = (known - now).saturating_sub(tolerance_us);
        if wait == 0 {
            values.insert(name.to_vec(), (known + interval_us).to_string().into_bytes());
        }
        format!(":{wait}\r\n").into_bytes()
    }

    async fn reply(&self, words: &[&[u8]]) -> Vec<u8> {
        let number = |word: &[u8]| std::str::from_utf8(word).unwrap().parse::<u64>().unwrap();
        let id = |word: &[u8]| Id::parse(std::str::from_utf8(word).unwrap()).unwrap();
        match (words[0], &words[1..]) {
            (b"TIME", []) => {
                let now = self.now_ms();
                command(&[(now / 1000).to_string().as_bytes(), (now % 1000 * 1000).to_string().as_bytes()])
            }
            (b"GET", [name]) => match self.values.borrow().get(*name) {
                Some(value) => text(value),
                None => b"$-1\r\n".to_vec(),
            },
            (b"SET" | b"XADD", _) if self.fault.get() == Fault::Full => {
                b"-OOM command not allowed when used memory > 'maxmemory'.\r\n".to_vec()
            }
            (b"SET", [name, value, b"EX", _]) => {
                self.values.borrow_mut().insert(name.to_vec(), value.to_vec());
                b"+OK\r\n".to_vec()
            }
            (b"EVALSHA", [hash, ..]) if !self.values.borrow().contains_key(*hash) => {
                self.values.borrow_mut().insert(hash.to_vec(), Vec::new());
                b"-NOSCRIPT No matching script. Please use EVAL.\r\n".to_vec()
            }
            (b"EVALSHA" | b"EVAL", [_, b"1", name, interval_us, tolerance_us]) => {
                self.charge(name, number(interval_us), number(tolerance_us))
            }
            (b"UNLINK", [name]) => {
                if name.ends_with(b"purges") {
                    self.delete_log();
                }
                self.values.borrow_mut().remove(*name);
                b":1\r\n".to_vec()
            }
            (b"XADD", [_, b"MAXLEN", b"~", _, b"*", fields @ ..]) => {
                let (now, last) = (Id { ms: self.now_ms(), number: 0 }, self.last.get());
                let id = if now > last { now } else { last.next() };
                self.last.set(id);
                self.log.borrow_mut().push((id, fields.iter().map(|field| field.to_vec()).collect()));
                self.added.notify_waiters();
                text(id.to_string().as_bytes())
            }
            (b"XRANGE", [_, from, b"+", b"COUNT", count]) => {
                self.range(id(from), usize::try_from(number(count)).unwrap())
            }
            (b"XREAD", [b"COUNT", b"1", b"BLOCK", wait, b"STREAMS", _, after]) => {
                let (after, until) = (id(after), Instant::now() + Duration::from_millis(number(wait)));
                while self.last.get() <= after {
                    if timeout_at(until, self.added.notified()).await.is_err() {
                        return b"*-1\r\n".to_vec();
                    }
                    if self.last.get() == Id::default() {
                        // Nobody is told that a stream was deleted.
                        sleep(until.saturating_duration_since(Instant::now())).await;
                        return b"*-1\r\n".to_vec();
                    }
                }
                b"*0\r\n".to_vec()
            }
            (b"PING", []) => b"+PONG\r\n".to_vec(),
            _ => b"-ERR unknown command\r\n".to_vec(),
        }
    }

    fn range(&self, from: Id, count: usize) -> Vec<u8> {
        let log = self.log.borrow();
        let found: Vec<_> = log.iter().filter(|(id, _)| *id >= from).take(count).collect();
        let mut reply = format!("*{}\r\n", found.len()).into_bytes();
        for (id, fields) in found {
            reply.extend_from_slice(b"*2\r\n");
            reply.extend(text(id.to_string().as_bytes()));
            reply.extend(command(&fields.iter().map(Vec::as_slice).collect::<Vec<_>>()));
        }
        reply
    }
}

fn text(bytes: &[u8]) -> Vec<u8> {
    let mut reply = format!("${}\r\n", bytes.len()).into_bytes();
    reply.extend_from_slice(bytes);
    reply.extend_from_slice(b"\r\n");
    reply
}
