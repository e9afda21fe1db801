//! Pages are written one after the other, long after their clients were served.

use std::time::Duration;

use sluice_cache::PageRecord;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::{ANSWER_TIMEOUT, Session};
use crate::interface::{TierEvent, ToStore, Write};
use crate::link::{Commands, Fault};
use crate::resp::Reply;
use crate::stored;

/// Pause of writes after the server has refused a page.
const REFUSED_PAUSE: Duration = Duration::from_secs(1);
/// Maximum lifetime of a page, seconds.
const STAY_S_MAX: u64 = 30 * 24 * 3600;

/// Writes what comes.
pub(super) async fn serve(
    session: &Session,
    writes: &mut mpsc::Receiver<Write>,
    heard: &mpsc::Sender<TierEvent>,
) -> Result<(), Fault> {
    let mut is_refusing = false;
    while let Some(write) = writes.recv().await {
        let commands = session.set(&write);
        drop(write);
        let Some(commands) = commands else {
            session.counts.dropped.add(1);
            continue;
        };
        let replies =
            session.writes.ask(commands, ANSWER_TIMEOUT).await.inspect_err(|_| session.counts.dropped.add(1))?;
        let refusal = replies.into_iter().find_map(|reply| match reply {
            Reply::Error(error) => Some(error),
            _ => None,
        });
        let count = if refusal.is_some() { &session.counts.refused } else { &session.counts.written };
        count.add(1);
        let has_refused = refusal.is_some();
        if has_refused != is_refusing {
            is_refusing = has_refused;
            let _ = heard.send(TierEvent::Refuses(refusal)).await;
        }
        if has_refused {
            sleep(REFUSED_PAUSE).await;
        }
    }
    Ok(())
}

impl Session {
    /// The commands that store a page. `None` where the server's time is not known.
    fn set(&self, write: &Write) -> Option<Commands> {
        let ToStore { url, head, policy, tags, body, useful_s, position, now } = &*write.page;
        let clock_ms = self.clock.borrow().at(write.at)?;
        let written = PageRecord { key: url, head, policy, tags, body };
        let value = stored::page(*position, &written, *now, clock_ms);
        let stay_s = (*useful_s).min(STAY_S_MAX).to_string();
        let set = |commands: Commands, name: String, value: &[u8]| {
            commands.and(&[b"SET", name.as_bytes(), value, b"EX", stay_s.as_bytes()])
        };
        let (page, commands) = (self.names.page(url), Commands::default());
        if policy.dimensions.parts().len() == 0 {
            return Some(set(commands, page, &value));
        }
        let commands = set(commands, page, &stored::names(&policy.dimensions));
        Some(set(commands, self.names.variant(url, &policy.dimensions), &value))
    }
}
