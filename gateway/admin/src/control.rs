//! The control socket's server. Programs that can open the socket may do everything: its file belongs to the user
//! alone, in a directory of the user's. Even so it bounds what it reads, how long it waits and how many it serves. It
//! must not know how the command line looks.

use std::cell::Cell;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use serde::Serialize;
use sluice_catalog::profiles::{ProfileFile, Wish};
use sluice_catalog::refusals::{ProfileError, ReloadError, TrialError, UpgradeError};
use sluice_journal::{Filter, Journal, LineKind, Lines as LogLines, Subscription};
use sluice_sockets::lines::{BoundedLine, Lines, json_line};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{ReadHalf, WriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::cache::purge_whole;
use crate::protocol::{LogGap, LogLine, LogLive, ProgressLine, REQUEST_BYTES_MAX, Reply, Request};
use crate::{Operator, Progress, Upgrade};

/// Connections to the control socket.
const CONNECTIONS_MAX: usize = 64;
/// Time after which a client that sends nothing is disconnected.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// Time after which a client that reads nothing is disconnected.
const WRITE_MAX: Duration = Duration::from_secs(10);
/// Maximum duration of a profile, milliseconds. The worker keeps the samples in memory.
const PROFILE_MS_MAX: u64 = 60_000;
/// The pause after a failed accept: such failures (no descriptors left) do not go away by trying at once.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The control socket, bound but not yet served.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
}

impl ControlSocket {
    /// Binds the socket at `path` with mode 0600, in place of any that a dead gateway left. The caller holds the run
    /// directory's lock, and that directory is the user's alone.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn bind(path: &Path) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self { listener })
    }

    /// Serves it for as long as the future is polled; dropping it closes every connection. Needs a `LocalSet`.
    pub async fn serve(self, operator: Rc<dyn Operator>, journal: Journal) {
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = connections.join_next() => continue,
            };
            let Ok((stream, _)) = accepted else {
                sleep(ACCEPT_AGAIN_AFTER).await;
                continue;
            };
            if connections.len() >= CONNECTIONS_MAX {
                // Told if that is possible without waiting; the connection is closed in any case.
                let reply = Reply::failed("connections-full", "Too many commands are connected to this gateway.");
                let _ = stream.try_write(&line_of(&reply));
                continue;
            }
            let connection = serve_connection(stream, Rc::clone(&operator), journal.clone());
            connections.spawn_local(async move {
                // A connection that fails concerns nobody but its client, who knows.
                let _ = connection.await;
            });
        }
    }
}

async fn serve_connection(mut stream: UnixStream, operator: Rc<dyn Operator>, journal: Journal) -> io::Result<()> {
    let (reader, mut writer) = stream.split();
    let mut requests = Lines::new(reader, REQUEST_BYTES_MAX);
    let stopping = Cell::new(false);
    loop {
        let next = requests.next();
        // Who has said `stop` waits, without a word, for the gateway to be gone.
        let line = if stopping.get() { next.await } else { timeout(IDLE_MAX, next).await.map_err(io::Error::from)? };
        let line = match line? {
            Some(BoundedLine::Whole(line)) => line,
            Some(BoundedLine::TooLong) => {
                let text = format!("A command is one line of at most {REQUEST_BYTES_MAX} bytes.");
                return send(&mut writer, &Reply::failed("line-too-long", text)).await;
            }
            None => return Ok(()),
        };
        let request = match serde_json::from_slice::<Request>(line) {
            Ok(request) => request,
            Err(error) => {
                let text = format!("This gateway does not support the command: {error}");
                send(&mut writer, &Reply::failed("command-unknown", text)).await?;
                continue;
            }
        };
        let reply = match request {
            Request::Status => Reply { status: Some(operator.snapshot()), ..Reply::done() },
            Request::Watch(seen) => {
                let watched = operator.live().watch(&*operator, &seen);
                Reply { watched: Some(Box::new(watched)), ..Reply::done() }
            }
            Request::Stop => {
                stopping.set(true);
                operator.request_stop();
                Reply::done()
            }
            Request::Upgrade { binary, cwd, timeout_ms } => {
                let outcome = operator.upgrade(Upgrade { binary, cwd, timeout: Duration::from_millis(timeout_ms) });
                match outcome.await.unwrap_or(Err(UpgradeError::LeftMeanwhile)) {
                    Ok(pid) => Reply { pid: Some(pid), ..Reply::done() },
                    Err(error) => Reply::failed("upgrade-failed", error),
                }
            }
            Request::Scale { workers } => match operator.scale(workers) {
                Ok(before) => Reply { workers_before: Some(before), ..Reply::done() },
                Err(error) => Reply::failed("scale-refused", error),
            },
            Request::Dial { server, replaces } => match operator.turn(&server, replaces) {
                Ok(dial) => Reply { dial: Some(dial), ..Reply::done() },
                Err(error) => Reply::failed("dial-refused", error),
            },
            Request::Reload { trial } => match follow_reload(&mut requests, &mut writer, operator.reload(trial)).await?
            {
                Some(reply) => reply,
                None => return Ok(()),
            },
            Request::Canary { action } => match operator.trial(action).await.unwrap_or(Err(TrialError::Busy)) {
                Ok(trial) => Reply { trial, ..Reply::done() },
                Err(error) => Reply::failed("canary-refused", error),
            },
            Request::Classes => Reply { classes: Some(operator.classes()), ..Reply::done() },
            Request::Report { generation, ago_ms } => {
                Reply { report: Some(operator.report(generation, ago_ms)), ..Reply::done() }
            }
            Request::Cache { url } => {
                let (cache, kept) = operator.cache(url.as_deref());
                let unkept = url.as_deref().and_then(|url| operator.unkept(url));
                Reply { cache: Some(cache), kept: url.map(|_| kept), unkept, ..Reply::done() }
            }
            Request::Purge { pages, soft } => {
                let purged = purge_whole(&[pages], soft, &*operator).await;
                Reply { purged: Some(purged), ..Reply::done() }
            }
            Request::Profile(wish) => {
                let wish = Wish { duration_ms: wish.duration_ms.min(PROFILE_MS_MAX), ..wish };
                match follow_profile(&mut requests, operator.profile(wish)).await? {
                    Some(Ok(profiles)) => Reply { profiles: Some(profiles), ..Reply::done() },
                    Some(Err(error)) => Reply::failed("profile-failed", error),
                    None => return Ok(()),
                }
            }
            Request::Quarantine { release } => quarantine(&*operator, release.as_deref()),
            Request::Logs { lines, follow, worker, kind } => match filter(worker, kind.as_deref()) {
                Some(filter) => {
                    let count = usize::try_from(lines).unwrap_or(usize::MAX);
                    let subscription = journal.subscribe(filter, count);
                    if follow {
                        return follow_log(&mut requests, &mut writer, subscription, count).await;
                    }
                    send_log(&mut writer, subscription, count).await?;
                    Reply::done()
                }
                None => Reply::failed("kind-unknown", "The kind of a line is access, app or gateway."),
            },
        };
        send(&mut writer, &reply).await?;
    }
}

/// Tells how a reload goes, until it is over or the client goes away, which is `None`.
async fn follow_reload(
    requests: &mut Lines<ReadHalf<'_>>,
    writer: &mut WriteHalf<'_>,
    mut reload: mpsc::Receiver<Progress>,
) -> io::Result<Option<Reply>> {
    loop {
        let told = tokio::select! {
            told = reload.recv() => told,
            heard = requests.next() => match heard? {
                // Nothing can be asked before this is answered.
                Some(_) => continue,
                None => return Ok(None),
            },
        };
        match told {
            Some(Progress::Line(progress)) => send_bytes(writer, &line_of(&ProgressLine { progress })).await?,
            Some(Progress::Ended(Ok(()))) => return Ok(Some(Reply::done())),
            Some(Progress::Ended(Err(error))) => return Ok(Some(Reply::failed("reload-failed", error))),
            None => return Ok(Some(Reply::failed("reload-failed", ReloadError::Leaving))),
        }
    }
}

/// Waits for profiles. `None` when the client goes away, which ends them.
async fn follow_profile(
    requests: &mut Lines<ReadHalf<'_>>,
    mut profile: oneshot::Receiver<Result<Vec<ProfileFile>, ProfileError>>,
) -> io::Result<Option<Result<Vec<ProfileFile>, ProfileError>>> {
    loop {
        tokio::select! {
            taken = &mut profile => return Ok(Some(taken.unwrap_or(Err(ProfileError::Leaving)))),
            // Nothing can be asked before this is answered.
            heard = requests.next() => if heard?.is_none() { return Ok(None) },
        }
    }
}

fn quarantine(operator: &dyn Operator, release: Option<&str>) -> Reply {
    let released = release.map(|which| operator.release_quarantined(which));
    if let (Some(which), Some(0)) = (release.filter(|which| *which != "all"), released) {
        return Reply::failed("quarantine-unknown", format!("No request with the id {which:?} is in quarantine."));
    }
    Reply { quarantined: Some(operator.quarantined()), released, ..Reply::done() }
}

/// `None` where no kind of line has this name.
fn filter(worker: Option<u64>, kind: Option<&str>) -> Option<Filter> {
    let kind = match kind {
        None => None,
        Some(name) => Some(LineKind::ALL.into_iter().find(|kind| kind.as_str() == name)?),
    };
    Some(Filter { worker, kind })
}

/// Sends the last lines, and no more than were asked for, as new ones may come faster than they are taken.
async fn send_log(writer: &mut WriteHalf<'_>, mut subscription: Subscription, count: usize) -> io::Result<()> {
    let mut left = count;
    while left > 0 {
        let mut batch = subscription.read();
        if batch == LogLines::default() {
            break;
        }
        batch.lines.truncate(left);
        left -= batch.lines.len();
        send_lines(writer, &batch).await?;
    }
    Ok(())
}

/// Sends lines until the client goes away. What it says meanwhile is not listened to, but read, to notice that.
async fn follow_log(
    requests: &mut Lines<ReadHalf<'_>>,
    writer: &mut WriteHalf<'_>,
    mut subscription: Subscription,
    count: usize,
) -> io::Result<()> {
    let mut sent = 0;
    while sent < count {
        let batch = subscription.read();
        if batch == LogLines::default() {
            break;
        }
        sent += batch.lines.len();
        send_lines(writer, &batch).await?;
    }
    send_bytes(writer, &line_of(&LogLive { live: true })).await?;
    loop {
        let batch = tokio::select! {
            batch = subscription.next() => batch,
            ended = requests.next() => match ended {
                Ok(Some(_)) => continue,
                Ok(None) => return Ok(()),
                Err(error) => return Err(error),
            },
        };
        send_lines(writer, &batch).await?;
    }
}

async fn send_lines(writer: &mut WriteHalf<'_>, batch: &LogLines) -> io::Result<()> {
    let mut bytes = Vec::new();
    if batch.missed > 0 {
        bytes.extend(line_of(&LogGap { missed: batch.missed }));
    }
    for line in &batch.lines {
        bytes.extend(line_of(&LogLine { line: line.clone() }));
    }
    send_bytes(writer, &bytes).await
}

async fn send(writer: &mut WriteHalf<'_>, reply: &Reply) -> io::Result<()> {
    send_bytes(writer, &line_of(reply)).await
}

async fn send_bytes(writer: &mut WriteHalf<'_>, bytes: &[u8]) -> io::Result<()> {
    // The deadline is for each piece, so that a slow reader of much gets it as long as it reads at all.
    for piece in bytes.chunks(16 * 1024) {
        timeout(WRITE_MAX, writer.write_all(piece)).await??;
    }
    Ok(())
}

fn line_of(value: &impl Serialize) -> Vec<u8> {
    // These types have string keys and plain values; should that ever fail, an empty line is an honest protocol error.
    json_line(value).unwrap_or_else(|_| b"\n".to_vec())
}

#[cfg(test)]
#[path = "control_tests.rs"]
mod tests;
