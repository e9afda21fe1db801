//! Purges of this gateway that the server does not have yet. Both threads use it, so that a purge counts for what is looked up from
//! the moment when it is made. It has a bound.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sluice_cache::{begins, is_page};
use sluice_catalog::snapshot::Purge;
use tokio::sync::Notify;

use crate::log::Verdict;

/// Maximum number of waiting purges. More become one of everything.
const WAITING_MAX: usize = 1_000;
/// Maximum size of the URLs, prefixes and tags of waiting purges, bytes. More become a purge of everything as well.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

#[derive(Default)]
pub(crate) struct Outbox {
    purges: Mutex<VecDeque<(Purge, bool)>>,
    changed: Notify,
}

impl Outbox {
    fn purges(&self) -> MutexGuard<'_, VecDeque<(Purge, bool)>> {
        // Nothing in here is ever half done.
        self.purges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, purge: &Purge, is_soft: bool) {
        let mut purges = self.purges();
        let bytes = || purges.iter().map(|(other, _)| bytes_of(other)).sum::<usize>();
        if purges.len() >= WAITING_MAX || bytes() + bytes_of(purge) > WAITING_BYTES_MAX {
            let is_soft = is_soft && purges.iter().all(|(_, is_soft)| *is_soft);
            // The first one may be on its way, and its answer takes it out: what follows it has to go once more, whatever it is.
            purges.truncate(1);
            purges.push_back((Purge::All, is_soft));
        } else if !purges.iter().skip(1).any(|(other, other_is_soft)| other == purge && *other_is_soft == is_soft) {
            // The first one may be on its way already, and pages rendered since then are meant as well.
            purges.push_back((purge.clone(), is_soft));
        }
        drop(purges);
        self.changed.notify_one();
    }

    /// The next one that the server is to be told, as soon as there is one.
    pub(crate) async fn next(&self) -> (Purge, bool) {
        loop {
            let next = self.purges().front().cloned();
            if let Some(next) = next {
                return next;
            }
            self.changed.notified().await;
        }
    }

    /// The server has been told of this one.
    pub(crate) fn told(&self, told: &(Purge, bool)) {
        let mut purges = self.purges();
        if purges.front() == Some(told) {
            purges.pop_front();
        }
    }

    /// Effect of these purges on a stored page, regardless of the time at which it was stored.
    pub(crate) fn judge(&self, url: &str, tags: &[Box<str>]) -> Verdict {
        let purges = self.purges();
        let meant = purges.iter().filter(|(purge, _)| means(purge, url, tags));
        meant
            .map(|(_, is_soft)| if *is_soft { Verdict::Stale } else { Verdict::Purged })
            .max()
            .unwrap_or(Verdict::Valid)
    }
}

fn bytes_of(purge: &Purge) -> usize {
    match purge {
        Purge::All => 0,
        Purge::Url(name) | Purge::Prefix(name) | Purge::Tag(name) => name.len(),
    }
}

fn means(purge: &Purge, url: &str, tags: &[Box<str>]) -> bool {
    match purge {
        Purge::All => true,
        Purge::Url(meant) => is_page(url, meant),
        Purge::Prefix(prefix) => begins(url, prefix),
        Purge::Tag(tag) => tags.iter().any(|own| **own == **tag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(name: &str) -> Purge {
        Purge::Tag(name.to_owned())
    }

    #[test]
    fn purges_count_until_the_server_has_them() {
        let outbox = Outbox::default();
        let judge = |url: &str, tags: &[&str]| {
            outbox.judge(url, &tags.iter().map(|tag| (*tag).into()).collect::<Vec<Box<str>>>())
        };
        outbox.add(&tag("a"), true);
        outbox.add(&Purge::Prefix("https://a.test/b".to_owned()), false);
        assert_eq!(judge("https://a.test/", &["a", "b"]), Verdict::Stale);
        assert_eq!(judge("https://a.test/bc", &["a"]), Verdict::Purged);
        assert_eq!(judge("https://a.test/", &["b"]), Verdict::Valid);
        outbox.told(&(tag("a"), true));
        assert_eq!(judge("https://a.test/", &["a"]), Verdict::Valid);
    }

    #[tokio::test(start_paused = true)]
    async fn they_go_in_their_order_and_one_that_is_made_again_goes_again() {
        let outbox = Outbox::default();
        for name in ["a", "a", "b", "a", "b"] {
            outbox.add(&tag(name), false);
        }
        let mut told = Vec::new();
        while told.len() < 3 {
            let next = outbox.next().await;
            outbox.told(&next);
            told.push(next.0);
        }
        assert_eq!(
            told,
            [tag("a"), tag("a"), tag("b")],
            "the first may have been on its way; of the others one is enough"
        );
        assert!(outbox.purges().is_empty());
    }

    #[test]
    fn too_many_become_one_of_everything() {
        let outbox = Outbox::default();
        for number in 0..=WAITING_MAX {
            outbox.add(&tag(&number.to_string()), number != 3);
        }
        assert_eq!(*outbox.purges(), [(tag("0"), true), (Purge::All, false)]);
    }

    #[tokio::test(start_paused = true)]
    async fn purge_of_everything_that_is_on_its_way_does_not_take_a_later_one_along() {
        let outbox = Outbox::default();
        outbox.add(&Purge::All, false);
        let sent = outbox.next().await;
        for number in 0..=WAITING_MAX {
            outbox.add(&tag(&number.to_string()), false);
        }
        outbox.told(&sent);
        assert_eq!(outbox.purges().front(), Some(&(Purge::All, false)), "what was purged after it has to go as well");
    }

    #[test]
    fn i6_long_purges_become_one_purge_of_everything_sooner() {
        let outbox = Outbox::default();
        let long = |at: usize| Purge::Url(format!("https://a.test/{at}/{}", "x".repeat(4000)));
        let mut most = 0;
        for at in 0..WAITING_MAX {
            outbox.add(&long(at), false);
            most = most.max(outbox.purges().iter().map(|(purge, _)| bytes_of(purge)).sum());
        }
        assert!(most > WAITING_BYTES_MAX / 2 && most <= WAITING_BYTES_MAX, "{most}");
        assert_eq!(outbox.judge("https://a.test/0", &[]), Verdict::Purged);
    }
}
