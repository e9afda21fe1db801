//! The old gateway after an upgrade: another one accepts, this one finishes what it has, and leaves or becomes the shepherd.
//!
//! Unlike in a shutdown, connections end with the answer to their next request, streams are waited for, and signals are for
//! the gateway that serves now.

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use nix::sys::signal::SigSet;
use sluice_journal::{Event, Level};
use sluice_wire::front::listen::SocketFate;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::handover::Word;
use super::operator::{Gateway, ServingGateway};
use super::shutdown::{at_once, finish, is_busy};
use super::signals::{SAME_SIGNAL, Signals};
use super::upgrade::Successor;
use super::{Exit, Failure, shepherd, tidy};
use crate::run_dir::RunDir;
use crate::stderr;

/// Signals that were caught before all were blocked are heard by then.
const QUIET_FOR: Duration = Duration::from_millis(5);

/// Finishes what this gateway has, and leaves or becomes the shepherd of its successors.
pub async fn retire(
    gateway: &Rc<Gateway>,
    mut successor: Successor,
    run_dir: &RunDir,
    number: u32,
    stop_accepting: oneshot::Sender<SocketFate>,
) -> Result<ExitCode, Failure> {
    let pid = successor.pid;
    // Before the next gateway could leave behind one that nobody collects.
    shepherd::adopt_orphans();
    let mut signals = finish_beside(gateway, &mut successor, run_dir, stop_accepting).await?;
    if !shepherd::must_stay(number) {
        return Ok(if gateway.tasks.has_lost() { Exit::Fault } else { Exit::Ok }.into());
    }
    gateway.gate.records.flush();
    gateway
        .journal
        .emit(Event::Note { level: Level::Info, text: "this process stays to forward signals and the exit code" });
    gateway.journal.close(Duration::from_secs(2));
    tidy(run_dir, number);
    block(&mut signals, run_dir, pid).await;
    let error = shepherd::become_shepherd(run_dir, pid);
    stderr::say(format_args!("sluice: process {pid} serves, and this one waits for it as it is: {error}"));
    Ok(shepherd::watch(run_dir, pid).await)
}

/// Finishes what this gateway has while another serves. Returns the signals that still come in.
async fn finish_beside(
    gateway: &Rc<Gateway>,
    successor: &mut Successor,
    run_dir: &RunDir,
    stop_accepting: oneshot::Sender<SocketFate>,
) -> Result<Signals, Failure> {
    // First of all, so that none is missed.
    let mut signals = Signals::new().map_err(|_| Failure::new(Exit::Failed, "cannot install signal handlers"))?;
    let pid = successor.pid;
    gateway.overtaken.set(Some(ServingGateway { pid, started: successor.started }));
    gateway.gate.draining.hand_over(&format!("sluice upgrade: process {pid} serves now"));
    let _ = stop_accepting.send(SocketFate::HandOver);
    gateway.retiring.notify_waiters();
    // The next gateway waits for the directory. What is purged here from now on is purged there.
    gateway.gate.road.pages.let_go_of_disk().await;
    gateway.supervisor.release_auxiliaries().await;
    let _ = successor.wire().say(&Word::Released).await;
    let began = Instant::now();
    let mut asked: Option<Instant> = None;
    // Idle connections may be used once more for half of the time, so that the other half is left for what comes last.
    let grace = Duration::from_millis(gateway.gate.road.config().drain.timeout_ms) / 2;
    let mut waiting = true;
    let mut finishing = std::pin::pin!(finish(gateway, is_occupied));
    loop {
        tokio::select! {
            _ = &mut finishing => break,
            heard = signals.next() => {
                heard.pass_on(run_dir, pid);
                let leaves = heard.asks_to_leave();
                match asked {
                    Some(first) if leaves && first.elapsed() >= SAME_SIGNAL => {
                        at_once(gateway, heard.name);
                        break;
                    }
                    None if leaves => {
                        asked = Some(Instant::now());
                        gateway.gate.draining.close_idle();
                    }
                    _ => {}
                }
            }
            () = gateway.stop_requested.notified() => gateway.gate.draining.close_idle(),
            // All that is heard from now on is its end: nobody accepts any more, and whoever watches should know soon.
            _ = successor.wire().hear(), if waiting => {
                waiting = false;
                gateway.gate.draining.close_idle();
            }
            () = tokio::time::sleep(grace.saturating_sub(began.elapsed())), if waiting => {
                waiting = false;
                gateway.gate.draining.close_idle();
            }
        }
    }
    Ok(signals)
}

/// Passes on what has come in, for the last time: from here on signals wait until the shepherd listens.
async fn block(signals: &mut Signals, run_dir: &RunDir, pid: u32) {
    let _ = SigSet::all().thread_block();
    while let Ok(heard) = tokio::time::timeout(QUIET_FOR, signals.next()).await {
        heard.pass_on(run_dir, pid);
    }
}

/// The same, streams included: another gateway serves, so there is time for them.
fn is_occupied(gateway: &Gateway) -> bool {
    gateway.gate.road.lobby.connections.count() > 0 || is_busy(gateway)
}
