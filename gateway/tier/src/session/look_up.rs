//! Look-ups: the page, the purges that are not known yet, and the server's time come with one answer. So purges from before
//! the reading are known when the page is judged.

use std::rc::Rc;

use bytes::Bytes;
use sluice_cache::{Dimensions, Page};
use sluice_message::Fields;
use tokio::sync::mpsc;

use super::{ANSWER_TIMEOUT, READ_MAX, Session, time};
use crate::interface::{Answer, Wish};
use crate::link::{Commands, Fault};
use crate::log::{Position, Verdict, entries};
use crate::resp::{Garbage, Reply};
use crate::stored::{self, Value};

/// Value under a name, the server's time then, and the place up to which purges are known.
struct Read {
    value: Option<Value>,
    position: Option<Position>,
    now_ms: u64,
    is_damaged: bool,
}

/// Carries out look-ups, many at once.
pub(super) async fn serve(session: &Rc<Session>, wishes: &mut mpsc::Receiver<Wish>) -> Result<(), Fault> {
    while let Some(wish) = wishes.recv().await {
        let session = Rc::clone(session);
        tokio::task::spawn_local(async move {
            let Wish { url, request, now, answer } = wish;
            if answer.is_closed() {
                return;
            }
            let found = session.look_up(&url, &request, now).await;
            // Whoever asked may have given up.
            let _ = answer.send(found.ok());
        });
    }
    Ok(())
}

impl Session {
    async fn look_up(&self, url: &str, request: &Fields, now: sluice_cache::Moment) -> Result<Answer, Fault> {
        let mut read = self.read(&self.names.page(url)).await?;
        if let Some(Value::Names(names)) = &read.value {
            let Some(dimensions) = Dimensions::of(request, &Fields::default(), names) else {
                return Ok(Answer::Nothing(read.position));
            };
            read = self.read(&self.names.variant(url, &dimensions)).await?;
        }
        if read.is_damaged {
            self.counts.errors.add(1);
        }
        let Some(Value::Page(stored, bytes)) = read.value else { return Ok(Answer::Nothing(read.position)) };
        let page = match stored::read(&bytes, url, request, now, read.now_ms) {
            Ok(Some(page)) => page,
            Ok(None) => return Ok(Answer::Nothing(read.position)),
            Err(_) => {
                self.counts.errors.add(1);
                return Ok(Answer::Nothing(read.position));
            }
        };
        // What is not known of the purges, or was purged, is no page.
        if read.position.is_none() {
            return Ok(Answer::Nothing(None));
        }
        Ok(match self.judge(stored, &page) {
            Verdict::Valid => Answer::Page(Box::new(page), read.position),
            Verdict::Stale => {
                let mut page = page;
                page.policy.expire(now);
                Answer::Page(Box::new(page), read.position)
            }
            Verdict::Purged => Answer::Nothing(read.position),
        })
    }

    fn judge(&self, stored: Position, page: &Page) -> Verdict {
        let told = self.log.borrow().judge(stored, &page.key, &page.tags);
        told.max(self.outbox.judge(&page.key, &page.tags))
    }

    async fn read(&self, name: &str) -> Result<Read, Fault> {
        let from = self.log.borrow().known().ok_or(Fault::LogLost)?.id;
        let commands = Commands::of(&[b"GET", name.as_bytes()]).and_range(&self.names, from).and(&[b"TIME"]);
        let replies = self.reads.ask(commands, ANSWER_TIMEOUT).await?;
        let [value, purges, now] = <[Reply; 3]>::try_from(replies).map_err(|_| Garbage::Form)?;
        let position = entries(&purges).and_then(|purges| self.log.borrow_mut().peek(&purges, from, READ_MAX));
        let bytes = match value {
            Reply::Text(bytes) => Some(bytes),
            Reply::Nothing => None,
            Reply::Error(error) => return Err(Fault::Refused(error)),
            _ => return Err(Garbage::Form.into()),
        };
        let value = bytes.as_ref().and_then(Value::read);
        let is_damaged = bytes.as_ref().is_some_and(|bytes: &Bytes| !bytes.is_empty()) && value.is_none();
        Ok(Read { value, position, now_ms: time(&now)?, is_damaged })
    }
}
