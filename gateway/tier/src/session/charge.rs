//! Charges of allowances, many at once, over the connection of the look-ups.

use std::rc::Rc;

use tokio::sync::mpsc;

use super::{ANSWER_TIMEOUT, Session, first};
use crate::allowance::{self, Allowance};
use crate::interface::ChargeWish;
use crate::link::Fault;
use crate::resp::Garbage;

/// Beginning of the server's error for a script that it has not seen, or not since its restart.
const UNKNOWN_SCRIPT: &str = "NOSCRIPT";

/// Carries out charges.
pub(super) async fn serve(session: &Rc<Session>, wishes: &mut mpsc::Receiver<ChargeWish>) -> Result<(), Fault> {
    while let Some(ChargeWish { allowances, answer }) = wishes.recv().await {
        let session = Rc::clone(session);
        tokio::task::spawn_local(async move {
            // A request that nobody waits for any more was let through without it, and is charged all the same.
            let charged = session.charge(&allowances).await;
            let _ = answer.send(charged.ok());
        });
    }
    Ok(())
}

impl Session {
    async fn charge(&self, allowances: &[Allowance]) -> Result<u64, Fault> {
        let prefix = self.names.prefix();
        let ask = async |is_known| {
            first(self.reads.ask(allowance::charge(prefix, allowances, is_known), ANSWER_TIMEOUT).await?)
        };
        let charged = match ask(true).await {
            Err(Fault::Refused(error)) if error.starts_with(UNKNOWN_SCRIPT) => ask(false).await?,
            charged => charged?,
        };
        allowance::wait_us(&charged).ok_or(Fault::Garbage(Garbage::Form))
    }
}
