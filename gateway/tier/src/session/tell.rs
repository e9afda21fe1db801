//! Purges of this gateway are added to the log, one after the other, and tried again until the server has taken them.

use std::time::Duration;

use sluice_catalog::snapshot::Purge;
use tokio::time::{Instant, sleep};

use super::{ANSWER_TIMEOUT, Session};
use crate::link::{Commands, Fault};
use crate::log::{Id, Kind};
use crate::resp::{Garbage, Reply};

/// Pause before a refused purge is tried again.
const RETRY_WAIT: Duration = Duration::from_secs(1);
/// Time for which a server may refuse a purge, for example without memory, before its log is deleted. All gateways
/// then let what they have count as stale, and use nothing that is stored.
const REFUSAL_TIME_MAX: Duration = Duration::from_secs(5);

/// Tells what is in the outbox.
pub(super) async fn serve(session: &Session) -> Result<(), Fault> {
    let mut refused_since: Option<Instant> = None;
    loop {
        let next = session.outbox.next().await;
        let (purge, is_soft) = &next;
        match session.tell(purge, *is_soft).await {
            Ok(id) => {
                session.log.borrow_mut().told(&Kind::of(purge), *is_soft, id);
                session.outbox.told(&next);
                session.counts.purges_told.add(1);
                refused_since = None;
            }
            Err(Fault::Refused(error)) => {
                let since = *refused_since.get_or_insert_with(Instant::now);
                if since.elapsed() > REFUSAL_TIME_MAX {
                    session.delete_log().await?;
                    return Err(Fault::Refused(error));
                }
                sleep(RETRY_WAIT).await;
            }
            Err(fault) => return Err(fault),
        }
    }
}

impl Session {
    async fn tell(&self, purge: &Purge, is_soft: bool) -> Result<Id, Fault> {
        let log = self.log.borrow().known().ok_or(Fault::LogLost)?.log;
        let mut commands = self.addition(&Kind::of(purge), is_soft, log);
        if let (Purge::Url(url), false) = (purge, is_soft) {
            // Not needed to make it unusable; it makes room.
            commands = commands.and(&[b"UNLINK", self.names.page(url).as_bytes()]);
        }
        match self.reads.ask(commands, ANSWER_TIMEOUT).await?.into_iter().next() {
            Some(Reply::Error(error)) => Err(Fault::Refused(error)),
            reply => reply.as_ref().and_then(Reply::str).and_then(Id::parse).ok_or(Fault::Garbage(Garbage::Form)),
        }
    }

    async fn delete_log(&self) -> Result<(), Fault> {
        let log = self.names.log();
        self.reads.ask(Commands::of(&[b"UNLINK", log.as_bytes()]), ANSWER_TIMEOUT).await.map(drop)
    }
}
