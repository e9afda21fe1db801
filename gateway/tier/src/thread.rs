//! The thread that the tier has to itself. For as long as there is a gateway, it connects, serves until the connection is
//! lost, waits, and connects again.

use std::io;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep};

use crate::interface::{Ends, Settings, TierEvent};
use crate::link::{self, Fault, Link};
use crate::log::Log;
use crate::session::Session;

/// The first wait after a connection was lost or could not be had; each one is twice as long as the one before.
const RETRY_MIN: Duration = Duration::from_millis(100);
/// Maximum pause between two connection attempts.
const RETRY_MAX: Duration = Duration::from_secs(5);
/// A reply that is no page: a part of the purge log.
const REPLY_BYTES_MIN: usize = 16 * 1024 * 1024;

/// Starts the thread.
///
/// # Errors
/// When there is none to be had.
pub(crate) fn start(settings: Settings, ends: Ends, stopped: oneshot::Receiver<()>) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("shared-cache".to_owned()).spawn(move || {
        // Signals are for the main thread.
        let _ = SigSet::all().thread_block();
        let reply_bytes_max = REPLY_BYTES_MIN.max(settings.page_bytes_max.saturating_mul(2));
        let address = settings.address.clone();
        let connect = async || link::open(&address, reply_bytes_max).await;
        LocalSet::new().block_on(&runtime, async {
            tokio::select! {
                _ = stopped => {}
                () = run(settings, ends, connect) => {}
            }
        });
    })?;
    Ok(())
}

/// Serves for ever.
pub(crate) async fn run(settings: Settings, mut ends: Ends, connect: impl AsyncFn() -> Result<Link, Fault>) {
    let log = Rc::new(Log::new(fastrand::u64(1..)).into());
    let mut wait = RETRY_MIN;
    loop {
        let fault = match Session::open(&settings, &ends, &log, &connect).await {
            Ok(session) => {
                let began = Instant::now();
                let fault = session.serve(&mut ends).await;
                if began.elapsed() > RETRY_MAX {
                    wait = RETRY_MIN;
                }
                fault
            }
            Err(fault) => fault,
        };
        let _ = ends.heard.send(TierEvent::Down(fault.to_string())).await;
        leave_out(&mut ends);
        // Gateways that lost the server at the same time do not come back at the same time.
        sleep(wait.mul_f64(0.75 + fastrand::f64() / 2.0)).await;
        wait = (wait * 2).min(RETRY_MAX);
        leave_out(&mut ends);
    }
}

/// Tells all who wait that there is nothing, and drops what was to be written.
fn leave_out(ends: &mut Ends) {
    while ends.wishes.try_recv().is_ok() {}
    while ends.charges.try_recv().is_ok() {}
    while ends.writes.try_recv().is_ok() {
        ends.counts.dropped.add(1);
    }
}
