//! Clients that are slow on purpose: headers in drips, bodies in drips, answers in sips. When the server closes on one, it
//! comes back after its next pause, as such a client would.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use crate::plan::{SlowGroup, Slowness};
use crate::traffic::Traffic;

#[derive(Default)]
struct Counts {
    opened: u64,
    open: i64,
    settled: usize,
    connect_errors: u64,
    closed_by_server: u64,
    completed: u64,
    bytes_read: u64,
    statuses: BTreeMap<u16, u64>,
}

/// Runs until the time is over; the caller may drop it earlier. Says `ready` on stderr when every client has got going once.
pub async fn run(traffic: Rc<Traffic>, groups: Rc<Vec<SlowGroup>>, connections_per_s: u64, duration: Duration) {
    let counts: Rc<Vec<RefCell<Counts>>> = Rc::new(groups.iter().map(|_| RefCell::default()).collect());
    let total: usize = groups.iter().map(|group| group.connections).sum();
    let mut clients = JoinSet::new();
    let mut pace = interval(Duration::from_secs(1) / u32::try_from(connections_per_s).unwrap_or(u32::MAX));
    for (at, group) in groups.iter().enumerate() {
        for _ in 0..group.connections {
            pace.tick().await;
            let target = traffic.plan.targets[traffic.next_target()];
            clients.spawn_local(client(Rc::clone(&groups), at, Rc::clone(&counts), target));
        }
    }
    let until = Instant::now() + duration;
    let mut told = false;
    while Instant::now() < until {
        if !told && counts.iter().map(|counts| counts.borrow().settled).sum::<usize>() >= total {
            told = true;
            eprintln!("ready");
        }
        report(&traffic, &groups, &counts);
        sleep(Duration::from_millis(50)).await;
    }
}

fn report(traffic: &Traffic, groups: &[SlowGroup], counts: &[RefCell<Counts>]) {
    let figures: Vec<_> = groups
        .iter()
        .zip(counts)
        .map(|(group, counts)| {
            let counts = counts.borrow();
            json!({
                "slow": format!("{:?}", group.slow).to_lowercase(),
                "connections": group.connections,
                "opened": counts.opened,
                "open_at_end": counts.open,
                "connect_errors": counts.connect_errors,
                "closed_by_server": counts.closed_by_server,
                "completed": counts.completed,
                "bytes_read": counts.bytes_read,
                "statuses": counts.statuses,
            })
        })
        .collect();
    traffic.tally.borrow_mut().extra.insert("groups", json!(figures));
}

async fn client(groups: Rc<Vec<SlowGroup>>, at: usize, counts: Rc<Vec<RefCell<Counts>>>, target: SocketAddr) {
    let (group, counts) = (&groups[at], &counts[at]);
    let mut settled = false;
    loop {
        if let Ok(stream) = connect(group, target).await {
            counts.borrow_mut().opened += 1;
            counts.borrow_mut().open += 1;
            let mut visit = Visit { stream, group, counts, target, settled: &mut settled };
            let _ = match group.slow {
                Slowness::Read => visit.sip().await,
                Slowness::Headers | Slowness::Body => visit.drip().await,
            };
            counts.borrow_mut().open -= 1;
        } else {
            counts.borrow_mut().connect_errors += 1;
        }
        sleep(Duration::from_millis(group.interval_ms)).await;
    }
}

async fn connect(group: &SlowGroup, target: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = if target.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    if group.slow == Slowness::Read {
        socket.set_recv_buffer_size(group.receive_buffer_bytes)?;
    }
    let stream = socket.connect(target).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// One connection of a slow client, from its opening to its end.
struct Visit<'a> {
    stream: TcpStream,
    group: &'a SlowGroup,
    counts: &'a RefCell<Counts>,
    target: SocketAddr,
    settled: &'a mut bool,
}

impl Visit<'_> {
    async fn drip(&mut self) -> std::io::Result<()> {
        let (path, target) = (&self.group.path, self.target);
        let is_body = self.group.slow == Slowness::Body;
        let head = if is_body {
            let length = self.group.body_bytes;
            format!("POST {path} HTTP/1.1\r\nhost: {target}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
        } else {
            // The value of this header never ends.
            format!("GET {path} HTTP/1.1\r\nhost: {target}\r\nx-drip: ")
        };
        self.stream.write_all(head.as_bytes()).await?;
        self.settle();
        let piece = vec![b'x'; self.group.bytes];
        let mut left = if is_body { self.group.body_bytes } else { u64::MAX };
        let mut answer = [0; 4096];
        let mut first = true;
        loop {
            // The pause doubles as a watch for an answer or a close.
            match timeout(Duration::from_millis(self.group.interval_ms), self.stream.read(&mut answer)).await {
                Ok(Ok(0) | Err(_)) => {
                    self.ended(left == 0);
                    return Ok(());
                }
                Ok(Ok(read)) => self.note(&answer[..read], &mut first),
                Err(_) if left > 0 => {
                    let length = u64::try_from(piece.len()).unwrap_or(u64::MAX).min(left);
                    self.stream
                        .write_all(&piece[..usize::try_from(length).unwrap_or(piece.len())])
                        .await
                        .inspect_err(|_| self.counts.borrow_mut().closed_by_server += 1)?;
                    left -= length;
                }
                Err(_) => {}
            }
        }
    }

    async fn sip(&mut self) -> std::io::Result<()> {
        let request = format!("GET {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.group.path, self.target);
        self.stream.write_all(request.as_bytes()).await?;
        let mut piece = vec![0; self.group.bytes];
        let mut first = true;
        loop {
            match self.stream.read(&mut piece).await {
                Ok(0) => {
                    self.ended(true);
                    return Ok(());
                }
                Err(error) => {
                    self.ended(false);
                    return Err(error);
                }
                Ok(read) => self.note(&piece[..read], &mut first),
            }
            self.settle();
            sleep(Duration::from_millis(self.group.interval_ms)).await;
        }
    }

    fn settle(&mut self) {
        if !*self.settled {
            *self.settled = true;
            self.counts.borrow_mut().settled += 1;
        }
    }

    fn note(&self, bytes: &[u8], first: &mut bool) {
        let mut counts = self.counts.borrow_mut();
        counts.bytes_read += bytes.len() as u64;
        if std::mem::take(first) {
            let status = bytes.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
            *counts.statuses.entry(status.unwrap_or(0)).or_default() += 1;
        }
    }

    fn ended(&self, complete: bool) {
        let mut counts = self.counts.borrow_mut();
        if complete {
            counts.completed += 1;
        } else {
            counts.closed_by_server += 1;
        }
    }
}
