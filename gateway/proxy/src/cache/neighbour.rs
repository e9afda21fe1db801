//! The other gateway of an upgrade: the old one has its pages taken over by the new one, and each carries out what the other purges, for
//! as long as both serve.
//!
//! Correctness hangs on the order in which one side hears what the other says. A page that was sent before a purge is in the store when
//! the purge comes; one that was sent before the other side knew of a purge of this side's is compared with that purge here. If the
//! connection is lost, a purge may be lost with it, and all pages go. How pages travel is in `sluice_pages`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use sluice_cache::Page;
use sluice_catalog::config::OnReload;
use sluice_catalog::snapshot::Purge;
use sluice_journal::{Event as Happening, Level};
use sluice_pages::relay::{Fault, Heard, Hello, Relay, Told};
use sluice_pages::{Clock, Outgoing, clock_ms};
use tokio::net::UnixListener;
use tokio::sync::mpsc::Receiver;
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use super::Cache;
use super::log::{Since, Tags};
use super::purge::Purger;
use super::rules::rules;
use super::store::Object;
use crate::gate::Gate;
use crate::ids::to_usize;
use crate::respond::compress::KeptBody;

/// How long pages are handed over at most; what is left then stays behind.
const HAND_OVER_TIMEOUT: Duration = Duration::from_secs(60);
/// For the last words of a gateway that goes.
const BYE_TIMEOUT: Duration = Duration::from_secs(2);
/// Pages that are given to the relay before requests have their turn.
const SLICE: usize = 16;

/// Which of the two this gateway is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// The one whose pages are taken over.
    Old,
    /// The one that takes them.
    New,
}

/// The other gateway, while there is one.
#[derive(Default)]
pub(super) struct Neighbour(RefCell<Option<Rc<Link>>>);

struct Link {
    side: Side,
    relay: Relay,
    /// Purges of this side that the other has not said to be in force there.
    unheard: RefCell<BTreeMap<u64, oneshot::Sender<()>>>,
    told: Cell<u64>,
    /// Purges that the other side may not have known when it sent what comes in now.
    since: RefCell<Since>,
    /// The other side takes pages that are kept by our rules.
    wants_pages: Cell<bool>,
    /// All pages have been given to the relay, or none are wanted.
    has_sent: Cell<bool>,
    sent: Notify,
    /// All pages that the other side had at first have come. What comes later it has only just rendered.
    has_all: Cell<bool>,
    pages: Cell<u64>,
    bytes: Cell<u64>,
}

impl Neighbour {
    fn get(&self) -> Option<Rc<Link>> {
        self.0.borrow().clone()
    }

    pub(super) fn is_there(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Tells the other gateway of a purge that is in force here. The receiver gets its word when it is in force there, or when there is
    /// nobody any more.
    pub(super) fn tell(&self, purge: &Purge, is_soft: bool, has_parts: bool) -> Option<oneshot::Receiver<()>> {
        let link = self.get()?;
        let number = link.told.get() + 1;
        link.told.set(number);
        let (done, when_done) = oneshot::channel();
        link.unheard.borrow_mut().insert(number, done);
        link.relay.purge(Told { number, purge: purge.clone(), is_soft, has_parts });
        Some(when_done)
    }

    /// A page was kept while the other gateway takes over.
    pub(super) fn kept(&self, gate: &Gate, key: &str, object: &Object) {
        if let Some(link) = self.get()
            && link.side == Side::Old
            && link.wants_pages.get()
            && link.relay.has_room()
        {
            link.relay.page(outgoing(gate, key, object));
        }
    }
}

impl Link {
    /// Everything that this side has purged is known at the other.
    fn catch_up(&self, cache: &Cache) {
        if self.unheard.borrow().is_empty() {
            self.since.replace(cache.log.since_now());
        }
    }

    fn note_sent(&self) {
        self.has_sent.set(true);
        self.sent.notify_waiters();
    }
}

pub(super) fn outgoing(gate: &Gate, key: &str, object: &Object) -> Outgoing {
    Outgoing {
        key: key.to_owned(),
        head: object.head.clone(),
        policy: object.policy.borrow().clone(),
        tags: object.tags.clone(),
        body: object.body.data().clone(),
        now: gate.moment(),
        clock_ms: clock_ms(),
    }
}

impl Gate {
    /// Lets the next gateway take the pages over, which connects within that time if it knows how to. Ends when that gateway is gone, or
    /// this one has parted from it.
    pub async fn hand_pages_over(&self, listener: UnixListener, time: Duration) {
        let Ok(Ok((stream, _))) = timeout(time, listener.accept()).await else { return };
        drop(listener);
        let linked = stream.into_std().and_then(|stream| self.link(stream, Side::Old));
        match linked {
            Ok((link, heard)) => self.listen(link, heard).await,
            Err(error) => self.note_pages(Level::Warn, &format!("no pages can be handed over: {error}")),
        }
    }

    /// Connects to the gateway before this one, so that purges reach it from here on. The future takes its pages.
    ///
    /// # Errors
    /// When it is not there.
    pub fn take_pages_over(&self, from: &Path) -> io::Result<impl Future<Output = ()> + use<>> {
        let (link, heard) = self.link(UnixStream::connect(from)?, Side::New)?;
        let gate = self.rc();
        Ok(async move { gate.listen(link, heard).await })
    }

    /// Until the next gateway has the pages, if it takes them; not longer than that.
    pub async fn pages_handed_over(&self, limit: Duration) {
        let Some(link) = self.cache.neighbour.get() else { return };
        let until_sent = async {
            loop {
                let sent = link.sent.notified();
                if link.has_sent.get() {
                    return;
                }
                sent.await;
            }
        };
        let _ = timeout(limit, until_sent).await;
    }

    /// Tells the next gateway that no purge will come from here any more.
    pub async fn part_from_neighbour(&self) {
        let Some(link) = self.cache.neighbour.0.take() else { return };
        let _ = timeout(BYE_TIMEOUT, link.relay.bye()).await;
    }

    fn link(&self, stream: UnixStream, side: Side) -> io::Result<(Rc<Link>, Receiver<Heard>)> {
        let config = self.config();
        let wants_pages = side == Side::New && config.cache.on_reload != OnReload::Drop;
        let hello = Hello::new(rules(&config), wants_pages);
        let (clock, page_bytes_max) = (Clock::since(self.epoch), to_usize(config.cache.page_bytes_max));
        let (relay, heard) = Relay::start(stream, clock, page_bytes_max, hello)?;
        let link = Rc::new(Link {
            side,
            relay,
            unheard: RefCell::default(),
            told: Cell::default(),
            since: RefCell::new(self.cache.log.since_now()),
            wants_pages: Cell::default(),
            has_sent: Cell::default(),
            sent: Notify::new(),
            has_all: Cell::default(),
            pages: Cell::default(),
            bytes: Cell::default(),
        });
        self.cache.neighbour.0.replace(Some(Rc::clone(&link)));
        Ok((link, heard))
    }

    async fn listen(&self, link: Rc<Link>, mut heard: Receiver<Heard>) {
        let end = loop {
            match heard.recv().await {
                Some(Heard::Bye) => break None,
                Some(Heard::Broken(fault)) => break Some(fault),
                Some(heard) => self.hear(&link, heard),
                None => break Some(Fault::Gone),
            }
        };
        let is_current = |other: &Rc<Link>| Rc::ptr_eq(other, &link);
        // One that has parted from the other has nothing to fear of its end.
        let has_parted = self.cache.neighbour.0.borrow_mut().take_if(|other| is_current(other)).is_none();
        link.note_sent();
        link.unheard.take();
        if let (Some(fault), false) = (end, has_parted) {
            self.lose(&link, &fault);
        }
    }

    /// The other side may have purged what this side has.
    fn lose(&self, link: &Link, fault: &Fault) {
        // A new gateway that dies before it serves has purged nothing that this one should know.
        if link.side == Side::Old && !self.is_draining() {
            return;
        }
        drop(self.purge_pages(&Purge::Prefix(String::new()), false, Purger::Neighbour));
        let text = format!("the cache is emptied, as purges of the other gateway may have been missed: {fault}");
        self.note_pages(Level::Warn, &text);
    }

    fn hear(&self, link: &Rc<Link>, heard: Heard) {
        match heard {
            Heard::Hello(hello) => self.greet(link, &hello),
            Heard::Page(page) => self.take_page(link, *page),
            Heard::Purge(told) => self.carry_out_told(link, told),
            Heard::Done(number) => {
                let done = link.unheard.borrow_mut().remove(&number);
                link.catch_up(&self.cache);
                let _ = done.map(|done| done.send(()));
            }
            Heard::AllSent => {
                link.has_all.set(true);
                let (pages, mib) = (link.pages.get(), link.bytes.get() >> 20);
                let text = format!("{pages} were taken over from the gateway before, {mib} MiB");
                self.note_pages(Level::Info, &text);
            }
            Heard::Bye | Heard::Broken(_) => {}
        }
    }

    fn greet(&self, link: &Rc<Link>, hello: &Hello) {
        if link.side == Side::New {
            return;
        }
        let is_alike = hello.rules == rules(&self.config());
        if hello.wants_pages && !is_alike {
            let text = "they stay behind, because the next gateway's settings keep pages by other rules";
            self.note_pages(Level::Info, text);
        }
        link.wants_pages.set(hello.wants_pages && is_alike);
        if !link.wants_pages.get() {
            return link.note_sent();
        }
        let (gate, link) = (self.rc(), Rc::clone(link));
        tokio::task::spawn_local(async move {
            let is_whole = timeout(HAND_OVER_TIMEOUT, gate.send_pages(&link)).await.is_ok();
            if !is_whole {
                gate.note_pages(Level::Warn, "some stay behind: the next gateway did not take them in time");
            }
            link.relay.all_sent();
            link.note_sent();
        });
    }

    /// Gives all pages to the relay, as it has room. Nothing may wait between the look at a page and its place behind purges.
    async fn send_pages(&self, link: &Link) {
        let mut walk = self.cache.store.borrow().walk();
        loop {
            link.relay.room().await;
            for _ in 0..SLICE {
                let Some((key, variants)) = self.cache.store.borrow().next(&mut walk, 1).pop() else { return };
                // The latest is to be the latest there too.
                for object in variants.iter().rev() {
                    link.relay.page(outgoing(self, &key, object));
                }
                if !link.relay.has_room() {
                    break;
                }
            }
            tokio::task::yield_now().await;
        }
    }

    fn take_page(&self, link: &Link, page: Page) {
        if link.side == Side::Old || link.since.borrow().is_purged(&page.key, Tags::All(&page.tags)) {
            return;
        }
        let (now, cache) = (self.moment(), &self.cache);
        let mut policy = page.policy;
        if self.config().cache.on_reload == OnReload::Stale {
            policy.expire(now);
        }
        let dimensions = policy.dimensions.clone();
        let age_ms = policy.age_ms(now);
        let is_other = |other: &Object| other.policy.borrow().dimensions != dimensions;
        let is_younger = |other: &Object| other.policy.borrow().age_ms(now) < age_ms;
        let mut store = cache.store.borrow_mut();
        // What this gateway has rendered itself is the later one.
        if store.variants(&page.key).iter().any(|other| !is_other(other) && is_younger(other)) {
            return;
        }
        link.pages.update(|pages| pages + 1);
        link.bytes.update(|bytes| bytes + page.body.len() as u64);
        let object = Object {
            head: page.head,
            body: KeptBody::new(page.body, self.compression.is_enabled()),
            policy: policy.into(),
            tags: page.tags,
            born: cache.log.latest(),
        };
        let object = Rc::new(object);
        store.put_if(&page.key, Rc::clone(&object), is_other);
        // The other gateway has let go of the disk by now, and what is there of the page is older.
        if link.has_all.get() {
            cache.disk.kept(self, &page.key, &object);
        }
    }

    fn carry_out_told(&self, link: &Rc<Link>, told: Told) {
        let Told { number, purge, is_soft, has_parts } = told;
        let done = if has_parts {
            self.purge_here(purge, is_soft, Purger::Neighbour)
        } else {
            self.purge_pages(&purge, is_soft, Purger::Neighbour)
        };
        link.catch_up(&self.cache);
        let link = Rc::clone(link);
        tokio::task::spawn_local(async move {
            let _ = done.await;
            link.relay.done(number);
        });
    }

    fn note_pages(&self, level: Level, what: &str) {
        let text = format!("upgrade: pages: {what}");
        self.observer.emit(Happening::Note { level, text: &text });
    }
}

#[cfg(test)]
#[path = "neighbour/tests.rs"]
mod tests;
