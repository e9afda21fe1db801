//! Listener for purges of other gateways: the server answers when there is one.

use tokio::sync::mpsc;

use super::{ANSWER_TIMEOUT, Session};
use crate::counts::Counts;
use crate::interface::TierEvent;
use crate::link::{Commands, Fault};
use crate::log::{News, entries};
use crate::resp::{Garbage, Reply};

/// Time for which the server waits for a purge before it says that there is none, milliseconds.
const WAIT_MS: u64 = 1_000;

/// Listens until the log is lost.
pub(super) async fn serve(session: &Session, heard: &mpsc::Sender<TierEvent>) -> Result<(), Fault> {
    let time_max = ANSWER_TIMEOUT + std::time::Duration::from_millis(WAIT_MS);
    loop {
        let from = session.log.borrow().known().ok_or(Fault::LogLost)?.id;
        let (stream, id, wait) = (session.names.log(), from.to_string(), WAIT_MS.to_string());
        let waits: [&[u8]; 8] =
            [b"XREAD", b"COUNT", b"1", b"BLOCK", wait.as_bytes(), b"STREAMS", stream.as_bytes(), id.as_bytes()];
        let commands = Commands::of(&waits).and_range(&session.names, from);
        let replies = session.bus.ask(commands, time_max).await?;
        let [_, purges] = <[Reply; 2]>::try_from(replies).map_err(|_| Garbage::Form)?;
        if let Reply::Error(error) = purges {
            return Err(Fault::Refused(error));
        }
        let purges = entries(&purges).ok_or(Garbage::Form)?;
        let heard_now = session.log.borrow_mut().hear(&purges);
        // What was lost is told when the whole log is read again.
        let purges = heard_now.ok_or(Fault::LogLost)?;
        tell(&session.counts, News { is_lost: false, purges }, heard).await;
    }
}

/// Tells the thread that serves.
pub(super) async fn tell(counts: &Counts, news: News, heard: &mpsc::Sender<TierEvent>) {
    if news.is_lost {
        let _ = heard.send(TierEvent::Lost).await;
    }
    for (purge, is_soft) in news.purges {
        counts.purges_heard.add(1);
        let _ = heard.send(TierEvent::Purge(purge, is_soft)).await;
    }
}
