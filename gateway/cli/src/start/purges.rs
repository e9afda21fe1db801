//! Purges of a gateway that a successor replaces, on their way to it: each is made there by a command on its control socket, as
//! `sluice cache purge` makes one. It must not know what was purged here, nor how.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use sluice_admin::protocol::{REQUEST_BYTES_MAX, Reply, Request};
use sluice_catalog::snapshot::Purge;
use sluice_road::cache::SuccessorPurger;
use sluice_sockets::lines::{BoundedLine, Lines, json_line};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::run_dir::RunDir;

/// Maximum number of waiting purges. More become one of everything.
const WAITING_MAX: usize = 1_000;
/// Maximum number of purges in progress. The control socket has room for more connections, and commands need some of
/// them.
const UNDER_WAY_MAX: usize = 8;
/// Time limit of one purge at the successor. After it the purge is sent again.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause before a purge is tried again that the successor had no connection for.
const RETRY_WAIT: Duration = Duration::from_millis(100);

/// A purge that waits, with all who wait for it.
struct Waiting {
    purge: Purge,
    is_soft: bool,
    done: Vec<oneshot::Sender<()>>,
}

#[derive(Default)]
struct Queue {
    waiting: RefCell<VecDeque<Waiting>>,
    added: Notify,
}

impl Queue {
    fn add(&self, purge: &Purge, is_soft: bool) -> oneshot::Receiver<()> {
        let (done, when_done) = oneshot::channel();
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() < WAITING_MAX {
            waiting.push_back(Waiting { purge: purge.clone(), is_soft, done: vec![done] });
        } else {
            let others = waiting.drain(..).flat_map(|waiting| waiting.done).filter(|done| !done.is_closed());
            let done = others.chain([done]).collect();
            waiting.push_back(Waiting { purge: Purge::All, is_soft: false, done });
        }
        self.added.notify_one();
        when_done
    }

    async fn next(&self) -> Waiting {
        loop {
            let next = self.waiting.borrow_mut().pop_front();
            if let Some(next) = next {
                return next;
            }
            self.added.notified().await;
        }
    }
}

/// The successor's control socket: by a name of its own until it takes over, and then by that of the instance.
struct Sockets {
    own: PathBuf,
    public: PathBuf,
}

/// Makes purges at the gateway of this number, for as long as the value lives.
pub fn to_successor(run_dir: &RunDir, number: u32) -> SuccessorPurger {
    at(Sockets { own: run_dir.control_socket_of(number), public: run_dir.control_socket() })
}

fn at(sockets: Sockets) -> SuccessorPurger {
    let (queue, sockets) = (Rc::<Queue>::default(), Rc::new(sockets));
    let mut carriers = JoinSet::new();
    for _ in 0..UNDER_WAY_MAX {
        let (queue, sockets) = (Rc::clone(&queue), Rc::clone(&sockets));
        carriers.spawn_local(async move {
            loop {
                let Waiting { purge, is_soft, done } = queue.next().await;
                while !sockets.purge(&purge, is_soft).await {
                    sleep(RETRY_WAIT).await;
                }
                for done in done {
                    let _ = done.send(());
                }
            }
        });
    }
    Rc::new(move |purge, is_soft| {
        // They end with this value.
        let _alive = &carriers;
        queue.add(purge, is_soft)
    })
}

impl Sockets {
    /// Whether the purge is in force there, or nobody is there any more.
    async fn purge(&self, purge: &Purge, is_soft: bool) -> bool {
        match timeout(ANSWER_TIMEOUT, self.ask(purge, is_soft)).await {
            Ok(Ok(reply)) => reply.is_none_or(|reply| reply.ok),
            Ok(Err(error)) => {
                matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused)
            }
            Err(_) => false,
        }
    }

    /// The reply; `None` where the successor ends without one.
    async fn ask(&self, purge: &Purge, is_soft: bool) -> io::Result<Option<Reply>> {
        let mut stream = match UnixStream::connect(&self.own).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => UnixStream::connect(&self.public).await?,
            connected => connected?,
        };
        let mut line = json_line(&Request::Purge { pages: purge.clone(), soft: is_soft })?;
        if line.len() >= REQUEST_BYTES_MAX {
            line = json_line(&Request::Purge { pages: Purge::All, soft: is_soft })?;
        }
        let (reading, mut writing) = stream.split();
        // One that has no room for a connection says so and closes, perhaps before this: its answer is still to be read.
        let _ = writing.write_all(&line).await;
        match Lines::new(reading, REQUEST_BYTES_MAX).next().await? {
            Some(BoundedLine::Whole(line)) => Ok(Some(serde_json::from_slice(line)?)),
            Some(BoundedLine::TooLong) => Err(io::ErrorKind::InvalidData.into()),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
#[path = "purges_tests.rs"]
mod tests;
