//! Purges of the parts of pages that a worker caches itself: one line at a time, the next one after the answer. It must
//! not know how lines are sent.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::json;
use sluice_catalog::snapshot::Purge;
use tokio::sync::oneshot;

/// Maximum number of tags that wait for the previous purge; beyond it, the worker purges everything.
const TAGS_MAX: usize = 10_000;
/// Maximum size of the tags in one line, in bytes.
const LINE_BYTES_MAX: usize = 32 * 1024;

/// Function that makes workers purge parts of pages. Each receiver resolves when its worker has done so or has exited.
pub type PartsPurger = Rc<dyn Fn(&Purge) -> Vec<oneshot::Receiver<()>>>;

/// Pending purges of a worker's parts.
#[derive(Default)]
pub(crate) struct Parts {
    serial: Cell<u64>,
    /// Senders that wait for the answer to the line under way.
    told: RefCell<Vec<oneshot::Sender<()>>>,
    is_told: Cell<bool>,
    next: RefCell<Next>,
}

/// Purges after the line under way.
#[derive(Default)]
struct Next {
    tags: BTreeSet<String>,
    all: bool,
    waiting: Vec<oneshot::Sender<()>>,
}

impl Parts {
    /// Makes the worker purge parts of pages. `say` sends a line to it and returns whether the worker takes one.
    pub(crate) fn purge(&self, purge: &Purge, say: impl Fn(&str) -> bool) -> oneshot::Receiver<()> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut next = self.next.borrow_mut();
            match purge {
                Purge::Tag(tag) if next.tags.len() < TAGS_MAX => _ = next.tags.insert(tag.clone()),
                _ => next.all = true,
            }
            next.waiting.push(sender);
        }
        self.tell(say);
        receiver
    }

    /// Sends the next purge to the worker, unless the previous one is unanswered. A failed line is sent again later.
    pub(crate) fn tell(&self, say: impl Fn(&str) -> bool) {
        let mut next = self.next.borrow_mut();
        if self.is_told.get() || next.waiting.is_empty() {
            return;
        }
        let (mut bytes, mut told) = (0, Vec::new());
        if !next.all {
            let fit = next.tags.iter().take_while(|tag| {
                bytes += tag.len();
                bytes <= LINE_BYTES_MAX
            });
            told = fit.cloned().collect();
        }
        let serial = self.serial.get() + 1;
        let line = json!({ "type": "purge-parts", "serial": serial, "tags": told, "all": next.all });
        if !say(&line.to_string()) {
            return;
        }
        self.serial.set(serial);
        self.is_told.set(true);
        for tag in &told {
            next.tags.remove(tag);
        }
        if next.all || next.tags.is_empty() {
            *self.told.borrow_mut() = std::mem::take(&mut *next).waiting;
        }
    }

    /// Handles the worker's answer to the line of this number.
    pub(crate) fn heard(&self, serial: u64, say: impl Fn(&str) -> bool) {
        if self.serial.get() == serial && self.is_told.replace(false) {
            for sender in self.told.take() {
                let _ = sender.send(());
            }
            self.tell(say);
        }
    }

    /// Releases all waiting callers, because the worker's connection has ended.
    pub(crate) fn forget(&self) {
        self.told.take();
        self.next.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(name: &str) -> Purge {
        Purge::Tag(name.to_owned())
    }

    #[test]
    fn a_worker_has_one_line_at_a_time_and_what_comes_meanwhile_is_in_the_next() {
        let (parts, lines) = (Parts::default(), RefCell::new(Vec::new()));
        let say = |line: &str| {
            lines.borrow_mut().push(line.to_owned());
            true
        };
        let mut first = parts.purge(&tag("a"), say);
        let mut others = [parts.purge(&tag("b"), say), parts.purge(&tag("c"), say), parts.purge(&tag("b"), say)];
        assert_eq!(*lines.borrow(), [r#"{"all":false,"serial":1,"tags":["a"],"type":"purge-parts"}"#]);
        parts.heard(7, say);
        assert!(first.try_recv().is_err(), "another line's");
        parts.heard(1, say);
        assert!(first.try_recv().is_ok() && others[0].try_recv().is_err());
        assert_eq!(lines.borrow()[1], r#"{"all":false,"serial":2,"tags":["b","c"],"type":"purge-parts"}"#);
        parts.heard(2, say);
        assert!(others.iter_mut().all(|other| other.try_recv().is_ok()) && lines.borrow().len() == 2);
    }

    #[test]
    fn a_worker_that_takes_no_line_is_told_later_and_one_that_is_gone_holds_nobody_up() {
        let parts = Parts::default();
        let mut waiting = parts.purge(&Purge::All, |_| false);
        let told = Cell::new(0);
        parts.tell(|line| {
            told.set(told.get() + 1);
            assert!(line.contains(r#""all":true"#));
            true
        });
        assert_eq!((told.get(), waiting.try_recv()), (1, Err(oneshot::error::TryRecvError::Empty)));
        parts.forget();
        assert_eq!(waiting.try_recv(), Err(oneshot::error::TryRecvError::Closed));
    }
}
