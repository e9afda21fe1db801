//! Stop of the gateway: why, and in which order. Stop accepting, finish accepted requests, stop the workers; a second request to leave
//! ends it at once.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::{Signal as Number, kill};
use sluice_catalog::config::Mode;
use sluice_catalog::errors::Code;
use sluice_journal::{Event, Level};
use sluice_proxy::gate::Gate;
use sluice_scheduler::WorkerId;
use sluice_wire::front::listen::SocketFate;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::learned;
use super::operator::Gateway;
use super::signals::{SAME_SIGNAL, SignalArrival, Signals, pid_of};
use super::upgrade::Successor;
use super::{Exit, Failure};

/// Interval of looks for an answer that comes in a moment.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Interval of looks at the terminal of an app in development.
const LOOK_AT_TERMINAL_EVERY: Duration = Duration::from_secs(1);

/// Time in which clients may read what they are told about requests that their workers left behind.
const ANSWER_WAIT: Duration = Duration::from_millis(200);
/// Time in which connections that were cut may say what became of their requests.
const CUT_WAIT: Duration = Duration::from_millis(200);

/// Time for which the gateway waits for requests whose clients have all left; then their workers are asked to exit.
const CLIENT_GONE_WAIT: Duration = Duration::from_secs(1);

/// Time for which spans that wait for their export keep the gateway.
const TRACES_WAIT: Duration = Duration::from_secs(2);
/// Time for which lines of the log that nobody has read yet keep it.
const JOURNAL_WAIT: Duration = Duration::from_secs(2);

/// Reason why the gateway leaves.
pub enum Ending {
    /// Wish of a client or a signal; names it.
    Asked(&'static str),
    /// No worker ever listened.
    GaveUp,
    /// Another gateway serves.
    HandedOver(Box<Successor>),
}

/// The next signal that asks to leave. Others reload, or change the number of workers, on the way.
async fn asked_to_leave(signals: &mut Signals, gateway: &Gateway) -> SignalArrival {
    loop {
        let heard = signals.next().await;
        match heard.signal {
            // A terminal that is closed sends the same signal as an operator who wants a reload.
            Number::SIGHUP if !signals.has_lost_terminal() => drop(gateway.reloads.ask("SIGHUP", None)),
            Number::SIGUSR2 => drop(gateway.reloads.ask("SIGUSR2", None)),
            Number::SIGTTIN => scale(gateway, gateway.wanted().saturating_add(1)),
            Number::SIGTTOU => scale(gateway, gateway.wanted().saturating_sub(1).max(1)),
            _ => return heard,
        }
    }
}

fn scale(gateway: &Gateway, workers: u32) {
    // While leaving there is nothing to scale, and nobody waits for the answer to a signal.
    let _ = sluice_admin::Operator::scale(gateway, workers);
}

/// Runs the gateway until there is a reason to leave.
pub async fn wait_for_reason(
    gateway: &Rc<Gateway>,
    gave_up: oneshot::Receiver<()>,
    upgrades: impl Future<Output = Successor>,
) -> Ending {
    let Ok(mut signals) = Signals::new() else { return Ending::Asked("cannot install signal handlers") };
    let mut upgrades = std::pin::pin!(upgrades);
    let (reason, signal) = tokio::select! {
        heard = asked_to_leave(&mut signals, gateway) => (heard.name, heard.signal),
        () = gateway.stop_requested.notified() => ("sluice stop", Number::SIGTERM),
        () = terminal_closed(), if gateway.gate.road.config().mode == Mode::Development => {
            ("the end of its terminal", Number::SIGTERM)
        }
        () = gateway.tasks.lost() => ("a fault in the gateway", Number::SIGTERM),
        Ok(()) = gave_up => return Ending::GaveUp,
        successor = &mut upgrades => return Ending::HandedOver(Box::new(successor)),
    };
    // Between the word to take over and the answer to it, nobody can say whose the service is; it is known in a moment.
    while gateway.committing.get() {
        tokio::select! {
            successor = &mut upgrades => {
                let _ = kill(pid_of(successor.pid), signal);
                return Ending::HandedOver(Box::new(successor));
            }
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
    Ending::Asked(reason)
}

/// Waits until the terminal that the gateway is typed into has been closed, of which not every such gateway gets a signal. Who sends the
/// output elsewhere means it to stay.
async fn terminal_closed() {
    let are_terminals = || [io::stdin().is_terminal(), io::stdout().is_terminal()];
    if are_terminals() != [true, true] {
        return std::future::pending().await;
    }
    while are_terminals() != [false, false] {
        tokio::time::sleep(LOOK_AT_TERMINAL_EVERY).await;
    }
}

/// Leaves in order, or at once if asked again.
pub async fn leave(
    gateway: &Rc<Gateway>,
    reason: &'static str,
    stop_accepting: oneshot::Sender<SocketFate>,
) -> Result<ExitCode, Failure> {
    gateway.gate.draining.leave_soon(reason);
    // Nobody has to notice that a service leaves which was never there.
    let is_serving = gateway.gate.scheduler.read(|scheduler| scheduler.ready_count() > 0);
    let delay_ms = if is_serving { gateway.gate.road.config().drain.delay_ms } else { 0 };
    let in_order = async {
        if delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        }
        gateway.gate.draining.drain(reason);
        let _ = stop_accepting.send(SocketFate::Close);
        finish(gateway, is_busy).await
    };
    let Ok(mut signals) = Signals::new() else {
        return Err(Failure::new(Exit::Failed, "cannot install signal handlers"));
    };
    let finished = tokio::select! {
        finished = in_order => finished,
        again = leave_again(&mut signals, gateway) => at_once(gateway, again),
        () = gateway.stop_requested.notified() => at_once(gateway, "a second sluice stop"),
    };
    gateway.gate.road.pages.let_go_of_disk().await;
    learned::save(gateway);
    Ok(match finished {
        _ if gateway.tasks.has_lost() => Exit::Fault.into(),
        true => Exit::Ok.into(),
        false => Exit::Failed.into(),
    })
}

/// A signal that means it: npm, npx and the terminal may each deliver the same Ctrl-C. A terminal that closes wants nothing cut off.
async fn leave_again(signals: &mut Signals, gateway: &Gateway) -> &'static str {
    let began = Instant::now();
    loop {
        let heard = asked_to_leave(signals, gateway).await;
        if heard.signal != Number::SIGHUP && began.elapsed() >= SAME_SIGNAL {
            return heard.name;
        }
    }
}

/// Finishes requests, then stops the workers. Returns whether everything accepted was finished.
pub async fn finish(gateway: &Rc<Gateway>, is_busy: fn(&Gateway) -> bool) -> bool {
    let timeout = Duration::from_millis(gateway.gate.road.config().drain.timeout_ms);
    let for_nobody = wait_for_clients(gateway, timeout, is_busy).await;
    let finished = !is_busy(gateway) || !for_nobody.is_empty();
    tell_for_nobody(gateway, &for_nobody);
    if for_nobody.is_empty() && self::is_busy(gateway) {
        let (queued, in_service) =
            gateway.gate.scheduler.read(|scheduler| (scheduler.queue_length(), scheduler.in_service()));
        let open = gateway.gate.road.lobby.connections.count();
        let text = format!(
            "{open} connections, {queued} queued and {in_service} running requests were not finished within drain.timeout_ms; they are cut off"
        );
        gateway.journal.emit(Event::Note { level: Level::Error, text: &text });
    }
    gateway.gate.dispatch.stop_workers();
    let stop = Duration::from_millis(gateway.gate.road.config().workers.stop_timeout_ms);
    if !for_nobody.is_empty() {
        // The app's handler of SIGTERM may finish what the clients have begun.
        wait_until(stop / 2, || !gateway.supervisor.has_processes()).await;
        for worker in for_nobody {
            gateway.supervisor.end_for_nobody(worker);
        }
    }
    // The scheduler kills what does not leave in time; this bound is only for what even that does not move.
    wait_until(stop + Duration::from_secs(2), || !gateway.supervisor.has_processes()).await;
    if gateway.supervisor.has_processes() {
        gateway.supervisor.kill_all();
    }
    finished
}

/// Waits until nothing is busy, or until the only requests left are those whose clients have left, for
/// [`CLIENT_GONE_WAIT`]. Returns the workers that hold these.
async fn wait_for_clients(gateway: &Gateway, at_most: Duration, is_busy: fn(&Gateway) -> bool) -> BTreeSet<WorkerId> {
    let deadline = Instant::now() + at_most;
    let mut gone_since = None;
    while is_busy(gateway) && Instant::now() < deadline {
        let has_clients = gateway.gate.road.lobby.connections.count() as u64 > open_streams(&gateway.gate);
        let for_nobody = if has_clients { BTreeSet::new() } else { gateway.gate.returns.workers_for_nobody() };
        if for_nobody.is_empty() {
            gone_since = None;
        } else if gone_since.get_or_insert_with(Instant::now).elapsed() >= CLIENT_GONE_WAIT {
            return for_nobody;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    BTreeSet::new()
}

fn tell_for_nobody(gateway: &Gateway, workers: &BTreeSet<WorkerId>) {
    for worker in workers {
        let held = gateway.gate.dispatch.slots.current_requests(*worker);
        let named: Vec<String> =
            held.iter().map(|held| format!("{} {} (request {})", held.method, held.path, held.id)).collect();
        let text = format!(
            "worker {} still works on {}, whose client has left: the gateway no longer waits for it, and stops the worker",
            worker.0,
            named.join(", ")
        );
        gateway.journal.emit(Event::Note { level: Level::Warn, text: &text });
    }
}

/// Ends what clients still have open, so that each request has its line in the log, and tells all that waits to be told.
pub async fn last_words(gateway: &Gateway) {
    let (gate, journal) = (&gateway.gate, &gateway.journal);
    // The last workers have only just gone, so the errors for what they held may not be written yet.
    wait_until(ANSWER_WAIT, || !is_busy(gateway)).await;
    gate.road.lobby.cut();
    wait_until(CUT_WAIT, || gate.road.lobby.connections.count() == 0).await;
    gate.records.flush();
    let lost = gate.road.observer.traces.close(TRACES_WAIT).await;
    if lost > 0 {
        let text = format!(
            "traces: the spans of {lost} requests were not exported: the collector had not accepted them when the \
             gateway exited"
        );
        journal.emit(Event::Note { level: Level::Warn, text: &text });
    }
    journal.emit(Event::Stopped);
    journal.close(JOURNAL_WAIT);
}

async fn wait_until(at_most: Duration, is_true: impl Fn() -> bool) {
    let deadline = Instant::now() + at_most;
    while !is_true() && Instant::now() < deadline {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Upgraded connections and event streams, of workers and upstreams.
pub fn open_streams(gate: &Gate) -> u64 {
    gate.returns.stream_count() + gate.road.upstream_streams().open()
}

/// Whether a request is under way anywhere. Connections that have become streams are not waited for.
pub fn is_busy(gateway: &Gateway) -> bool {
    let gate = &gateway.gate;
    let open = gate.road.lobby.connections.count() as u64 > open_streams(gate);
    open || gate.scheduler.read(|scheduler| scheduler.queue_length() + scheduler.in_service() > 0)
}

pub fn at_once(gateway: &Gateway, reason: &str) -> bool {
    let text = format!("{reason} during shutdown: the gateway kills the workers now");
    gateway.journal.emit(Event::Note { level: Level::Warn, text: &text });
    gateway.supervisor.kill_all();
    false
}

/// Leaves because the app does not start. No worker will come, so those who wait for one are told at once.
pub async fn give_up(gateway: &Rc<Gateway>, stop_accepting: oneshot::Sender<SocketFate>) -> Failure {
    gateway.gate.dispatch.stop_workers();
    let _ = leave(gateway, "the app did not start", stop_accepting).await;
    did_not_start(gateway)
}

pub fn did_not_start(gateway: &Gateway) -> Failure {
    let Some((code, stderr)) = gateway.supervisor.last_failure() else {
        return Failure::new(Exit::AppDidNotStart, "the app did not start");
    };
    let entry = code.entry();
    if code == Code::AppNotStarted {
        return Failure::new(Exit::AppDidNotStart, format!("{code}: {stderr}. {}", entry.operator()));
    }
    let said = if stderr.is_empty() {
        "It wrote nothing to stderr.".to_owned()
    } else {
        format!("It wrote to stderr:\n\n{stderr}\n")
    };
    Failure::new(Exit::AppDidNotStart, format!("{code}: {} {said}", entry.operator()))
}
