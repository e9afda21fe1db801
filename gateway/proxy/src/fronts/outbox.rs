//! What a front has to say to the core, gathered where that may wait a little: the core is not to be woken for each request that
//! begins or ends.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::words::{Question, ToCore};

/// How long words may wait for others.
const GATHER: Duration = Duration::from_millis(5);
/// So many words wait for no others.
const WORDS_MAX: usize = 256;

/// The words of one front at a time, and which front that is. Unbounded, but each is about a connection or a request, of which there is
/// a bound.
pub(super) type Told = (usize, Vec<ToCore>);

pub(crate) struct Outbox {
    me: Weak<Outbox>,
    front: usize,
    words: RefCell<Vec<ToCore>>,
    is_due: Cell<bool>,
    core: UnboundedSender<Told>,
}

impl Outbox {
    pub(super) fn new(front: usize, core: UnboundedSender<Told>) -> Rc<Self> {
        let (words, is_due) = (RefCell::default(), Cell::new(false));
        Rc::new_cyclic(|me| Outbox { me: Weak::clone(me), front, words, is_due, core })
    }

    /// Says it at once, and all that waits.
    pub(super) fn say_now(&self, word: ToCore) {
        self.words.borrow_mut().push(word);
        self.flush();
    }

    pub(super) fn ask(&self, question: Question) {
        self.say_now(ToCore::Asked(Box::new(question)));
    }

    /// Says it in a moment.
    pub(super) fn say(&self, word: ToCore) {
        let count = {
            let mut words = self.words.borrow_mut();
            words.push(word);
            words.len()
        };
        if count >= WORDS_MAX {
            self.flush();
        } else if !self.is_due.replace(true) {
            let me = Weak::clone(&self.me);
            tokio::task::spawn_local(async move {
                tokio::time::sleep(GATHER).await;
                if let Some(outbox) = me.upgrade() {
                    outbox.is_due.set(false);
                    outbox.flush();
                }
            });
        }
    }

    fn flush(&self) {
        let words = std::mem::take(&mut *self.words.borrow_mut());
        if !words.is_empty() {
            // Nobody is there to hear it when the gateway ends.
            let _ = self.core.send((self.front, words));
        }
    }
}
