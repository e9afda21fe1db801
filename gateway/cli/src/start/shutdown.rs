//! Leaving: why, and in which order. Stop accepting, finish what was accepted, stop the workers; a second request to leave
//! ends it at once.

use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use sluice_catalog::errors::Code;
use sluice_journal::{Event, Level};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::operator::Gateway;
use super::{Exit, Failure};

/// Signals that come this close together are one request.
const SAME_SIGNAL: Duration = Duration::from_millis(150);

/// Why the gateway leaves.
pub enum Ending {
    /// Somebody wants it to; says who.
    Asked(&'static str),
    /// No worker ever listened.
    GaveUp,
}

struct Signals {
    int: Signal,
    term: Signal,
    hup: Signal,
    usr2: Signal,
    more: Signal,
    less: Signal,
}

impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
            hup: signal(SignalKind::hangup())?,
            usr2: signal(SignalKind::user_defined2())?,
            more: signal(SignalKind::from_raw(nix::sys::signal::Signal::SIGTTIN as i32))?,
            less: signal(SignalKind::from_raw(nix::sys::signal::Signal::SIGTTOU as i32))?,
        })
    }

    /// The next signal that asks to leave. TTIN and TTOU change the number of workers on the way.
    async fn leave(&mut self, gateway: &Gateway) -> &'static str {
        loop {
            tokio::select! {
                _ = self.int.recv() => return "SIGINT",
                _ = self.term.recv() => return "SIGTERM",
                _ = self.hup.recv() => return "SIGHUP",
                // Its default would kill the gateway; other process managers have a use for it, this one has none.
                _ = self.usr2.recv() => gateway.warn("SIGUSR2 is ignored"),
                _ = self.more.recv() => scale(gateway, gateway.wanted().saturating_add(1)),
                _ = self.less.recv() => scale(gateway, gateway.wanted().saturating_sub(1).max(1)),
            }
        }
    }
}

fn scale(gateway: &Gateway, workers: u32) {
    // While leaving there is nothing to scale, and nobody waits for the answer to a signal.
    let _ = sluice_admin::Operator::scale(gateway, workers);
}

/// Runs the gateway until there is a reason to leave.
pub async fn wait_for_reason(gateway: &Rc<Gateway>, gave_up: oneshot::Receiver<()>) -> Ending {
    let Ok(mut signals) = Signals::new() else { return Ending::Asked("no signal handlers can be had") };
    tokio::select! {
        reason = signals.leave(gateway) => Ending::Asked(reason),
        () = gateway.stop_requested.notified() => Ending::Asked("sluice stop"),
        Ok(()) = gave_up => Ending::GaveUp,
    }
}

/// Leaves in order, or at once if asked again.
pub async fn leave(
    gateway: &Rc<Gateway>,
    ending: Ending,
    stop_accepting: oneshot::Sender<()>,
) -> Result<ExitCode, Failure> {
    let reason = match ending {
        Ending::Asked(reason) => reason,
        Ending::GaveUp => "the app did not start",
    };
    gateway.gate.drain(reason);
    let _ = stop_accepting.send(());
    let Ok(mut signals) = Signals::new() else {
        return Err(Failure::new(Exit::Failed, "no signal handlers can be had"));
    };
    let finished = tokio::select! {
        finished = finish(gateway) => finished,
        again = leave_again(&mut signals, gateway) => at_once(gateway, again),
        () = gateway.stop_requested.notified() => at_once(gateway, "a second sluice stop"),
    };
    if let Ending::GaveUp = ending {
        return Err(did_not_start(gateway));
    }
    Ok(if finished { Exit::Ok.into() } else { Exit::Failed.into() })
}

/// A signal that means it: npm, npx and the terminal may each deliver the same Ctrl-C.
async fn leave_again(signals: &mut Signals, gateway: &Gateway) -> &'static str {
    let began = Instant::now();
    loop {
        let reason = signals.leave(gateway).await;
        if began.elapsed() >= SAME_SIGNAL {
            return reason;
        }
    }
}

/// Finishes requests, then stops the workers. Returns whether everything accepted was finished.
async fn finish(gateway: &Rc<Gateway>) -> bool {
    let deadline = Instant::now() + Duration::from_millis(gateway.gate.config.drain.timeout_ms);
    while is_busy(gateway) && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let finished = !is_busy(gateway);
    if !finished {
        let (queued, in_service) =
            gateway.gate.scheduler(|scheduler| (scheduler.queue_length(), scheduler.in_service()));
        let text = format!(
            "{queued} queued and {in_service} running requests were not finished within drain.timeout_ms; they are cut off"
        );
        gateway.journal.emit(Event::Note { level: Level::Error, text: &text });
    }
    gateway.gate.stop_workers();
    // The scheduler kills what does not leave in time; this bound is only for what even that does not move.
    let stop_ms = gateway.gate.config.workers.stop_timeout_ms;
    let deadline = Instant::now() + Duration::from_millis(stop_ms) + Duration::from_secs(2);
    while gateway.supervisor.has_processes() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    if gateway.supervisor.has_processes() {
        gateway.supervisor.kill_all();
    }
    finished
}

/// Whether a request is under way anywhere. Connections that have become streams are not waited for.
fn is_busy(gateway: &Gateway) -> bool {
    let gate = &gateway.gate;
    let open = gate.connection_count() as u64 > gate.stream_count();
    open || gate.scheduler(|scheduler| scheduler.queue_length() + scheduler.in_service() > 0)
}

fn at_once(gateway: &Gateway, reason: &str) -> bool {
    let text = format!("{reason} while leaving: the workers are killed now");
    gateway.journal.emit(Event::Note { level: Level::Warn, text: &text });
    gateway.supervisor.kill_all();
    false
}

fn did_not_start(gateway: &Gateway) -> Failure {
    let Some((code, stderr)) = gateway.supervisor.last_failure() else {
        return Failure::new(Exit::AppDidNotStart, "the app did not start");
    };
    let entry = code.entry();
    if code == Code::AppNotStarted {
        return Failure::new(Exit::AppDidNotStart, format!("{code}: {stderr}. {}", entry.operator));
    }
    let said = if stderr.is_empty() {
        "It wrote nothing to stderr.".to_owned()
    } else {
        format!("It wrote to stderr:\n\n{stderr}\n")
    };
    Failure::new(Exit::AppDidNotStart, format!("{code}: {} {said}", entry.operator))
}
