//! HAProxy's `agent-check`: each connection gets one line about this gateway, and is closed.
//!
//! The words are of two kinds. `up` and `down` say whether the server works, `drain`, `maint` and `ready` whether requests should come at
//! all. Only `ready` undoes a `drain` or `maint`, but it also undoes what an operator of HAProxy has set. So the
//! gateway says `ready` only while a balancer may still remember the gateway before.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd as _, OwnedFd};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::Operator;

/// Maximum number of connections at once. Further ones are closed without a word, which HAProxy ignores.
const CONNECTIONS_MAX: usize = 64;
/// Maximum lifetime of a connection.
const CONNECTION_MAX: Duration = Duration::from_secs(2);
/// Bytes that a balancer may send (`agent-send`).
const QUESTION_BYTES_MAX: u64 = 4096;
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// Time from the first answer to a balancer in which it hears `ready`.
const READY_FOR: Duration = Duration::from_secs(60);
/// Maximum number of remembered balancers.
const BALANCERS_MAX: usize = 256;
/// Change of a weight below which the balancer is told the old one, as a part of that.
const CHANGE_MIN: f64 = 0.1;

/// Whether a balancer should send requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// Yes, with this weight in percent.
    Up(f64),
    /// No, as nothing would answer them, for this reason.
    Down(String),
    /// Only those of clients that must come here; all are answered.
    Drain,
    /// No: connections are not accepted any more.
    Maint,
}

/// Line of a gateway with this standing. `is_new`: the balancer may remember a `drain` or `maint` of the gateway before.
pub fn line(standing: &Standing, is_new: bool) -> String {
    let ready = if is_new { "ready " } else { "" };
    match standing {
        Standing::Up(weight) => format!("{ready}up {}%\n", weight.round().clamp(1.0, 100.0)),
        // A line feed would end the reason early.
        Standing::Down(reason) => format!("{ready}down #{}\n", reason.replace(['\n', '\r'], " ")),
        Standing::Drain => "drain\n".to_owned(),
        Standing::Maint => "maint\n".to_owned(),
    }
}

/// Weight as balancers hear it. It falls at once, and at most doubles each second. Small changes are left out. A queue that comes
/// and goes between two checks must not move the traffic back and forth.
#[derive(Clone, Copy, Debug)]
pub struct Steady {
    told: f64,
    /// Weight without regard to how little it differs from the one that was told, and its time.
    level: f64,
    at: Duration,
}

impl Steady {
    /// Full weight at this time on any clock.
    pub fn new(now: Duration) -> Self {
        Self { told: 100.0, level: 100.0, at: now }
    }

    /// Weight to tell at this time, from 1 to 100, where the load calls for `wanted`.
    pub fn tell(&mut self, now: Duration, wanted: f64) -> f64 {
        let since = now.saturating_sub(self.at).as_secs_f64();
        let risen_max = self.level * since.min(10.0).exp2();
        (self.level, self.at) = (wanted.min(risen_max).clamp(1.0, 100.0), now);
        if (self.level - self.told).abs() >= self.told * CHANGE_MIN || self.level >= 100.0 {
            self.told = self.level;
        }
        self.told
    }

    /// Standing to tell at this time. A gateway that was down comes back from the least weight.
    fn settle(&mut self, now: Duration, standing: Standing) -> Standing {
        match standing {
            Standing::Up(wanted) => Standing::Up(self.tell(now, wanted)),
            Standing::Down(_) => {
                self.tell(now, 0.0);
                standing
            }
            Standing::Drain | Standing::Maint => standing,
        }
    }
}

/// Times of a balancer's first and last check.
struct Asked {
    first: Instant,
    last: Instant,
}

/// Balancers that have asked. The one that was seen longest ago gives way to a new one.
#[derive(Default)]
struct Balancers(HashMap<IpAddr, Asked>);

impl Balancers {
    fn is_new(&mut self, balancer: IpAddr, now: Instant) -> bool {
        if self.0.len() >= BALANCERS_MAX && !self.0.contains_key(&balancer) {
            let oldest = self.0.iter().min_by_key(|(_, asked)| asked.last).map(|(address, _)| *address);
            oldest.and_then(|address| self.0.remove(&address));
        }
        let asked = self.0.entry(balancer).or_insert(Asked { first: now, last: now });
        asked.last = now;
        now.duration_since(asked.first) < READY_FOR
    }
}

/// The address of agent checks, bound but not yet served.
pub struct Agent(TcpListener);

impl fmt::Debug for Agent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Agent").field(&self.0.local_addr()).finish()
    }
}

impl Agent {
    /// Binds `address` (`host:port`; `admin.agent_address` of the config, other than `off`).
    ///
    /// # Errors
    /// An address that cannot be read, or an error of the operating system.
    pub async fn bind(address: &str) -> io::Result<Self> {
        Ok(Self(TcpListener::bind(address).await?))
    }

    /// Serves on a socket that another gateway has bound.
    ///
    /// # Errors
    /// When it is no socket that listens.
    pub fn adopt(socket: OwnedFd) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(socket);
        listener.set_nonblocking(true)?;
        Ok(Self(TcpListener::from_std(listener)?))
    }

    /// The socket once more, for a gateway that takes over.
    ///
    /// # Errors
    /// Error of the operating system.
    pub fn try_clone_socket(&self) -> io::Result<OwnedFd> {
        self.0.as_fd().try_clone_to_owned()
    }

    /// Address on which it really listens, for port 0.
    ///
    /// # Errors
    /// Error of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Answers agent checks until `stop` is ready. Needs a `LocalSet`.
    pub async fn serve(self, operator: Rc<dyn Operator>, stop: impl Future<Output = ()>) {
        let started = Instant::now();
        let balancers = RefCell::new(Balancers::default());
        let steady = RefCell::new(Steady::new(Duration::ZERO));
        let mut connections = JoinSet::new();
        let mut stop = pin!(stop);
        loop {
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = self.0.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            match accepted {
                Ok((stream, peer)) if connections.len() < CONNECTIONS_MAX => {
                    let now = Instant::now();
                    let standing = steady.borrow_mut().settle(now - started, operator.standing());
                    let is_new = balancers.borrow_mut().is_new(peer.ip().to_canonical(), now);
                    let line = line(&standing, is_new);
                    connections.spawn_local(async move { timeout(CONNECTION_MAX, answer(stream, line)).await });
                }
                Ok(_) => {}
                Err(_) => sleep(ACCEPT_AGAIN_AFTER).await,
            }
        }
        // Another gateway accepts from here on; these checks are still answered.
        drop(self.0);
        while connections.join_next().await.is_some() {}
    }
}

/// Sends the line. Bytes of the balancer are read to their end: closing before would reset the connection, and could destroy the line.
async fn answer(mut stream: TcpStream, line: String) -> io::Result<()> {
    stream.write_all(line.as_bytes()).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(QUESTION_BYTES_MAX), &mut tokio::io::sink()).await?;
    Ok(())
}

#[cfg(test)]
#[path = "agent_tests.rs"]
mod tests;
