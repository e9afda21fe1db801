//! Asks the server for its time every second. The answers show that it still answers when nobody looks anything up, and whether its
//! clock was set back. After look-ups took too long, they show when it is quick again. No request pays for that.

use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, sleep};

use super::{ANSWER_TIMEOUT, Session, first, time};
use crate::interface::TierEvent;
use crate::link::{Commands, Fault};

const PERIOD: Duration = Duration::from_secs(1);
/// Maximum wait before the next probe of a server that was fast in a probe and then slow again.
const PATIENCE_MAX: Duration = Duration::from_secs(32);
/// Time of quick answers after which it counts as well.
const WELL_AFTER: Duration = Duration::from_secs(60);

pub(super) async fn serve(session: &Session, probe: &Notify, heard: &mpsc::Sender<TierEvent>) -> Result<(), Fault> {
    let mut is_up = false;
    let mut up_since = Instant::now();
    let (mut patience, mut probed_at) = (PERIOD / 2, Instant::now());
    loop {
        let asked = Instant::now();
        let now_ms = time(&first(session.reads.ask(Commands::of(&[b"TIME"]), ANSWER_TIMEOUT).await?)?)?;
        let is_quick = asked.elapsed() <= session.time_max.get();
        session.note_time(now_ms, asked).await?;
        if !is_up && is_quick && Instant::now() >= probed_at {
            is_up = true;
            up_since = Instant::now();
            let _ = heard.send(TierEvent::Up).await;
        }
        tokio::select! {
            () = sleep(PERIOD) => {}
            () = probe.notified() => {
                patience = if up_since.elapsed() > WELL_AFTER { PERIOD } else { (patience * 2).min(PATIENCE_MAX) };
                is_up = false;
                probed_at = Instant::now() + patience;
                sleep(PERIOD).await;
            }
        }
    }
}
