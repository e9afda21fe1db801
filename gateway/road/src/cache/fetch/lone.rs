//! Answers for their first client alone. For a while no client waits for such a render, and no other visitor's page is replaced by it.

use std::time::Duration;

use sluice_cache::{Reuse, StorageRefusal};
use sluice_catalog::snapshot::Purge;
use tokio::time::Instant;

use super::Fetch;
use crate::answers::Response;
use crate::cache::flight::State;
use crate::cache::reasons::Why;
use crate::request::passage::Request;

/// Maximum time for which requests do not share a render after an error that a request may have caused. Any client
/// could send such a request whenever a page is about to be fetched.
const BLAMED_MAX: Duration = Duration::from_secs(2);

impl Fetch {
    /// Gives the answer to the first client alone. Each other waiting client asks for itself, and so do new ones until an answer may be
    /// cached.
    pub(crate) fn private(&self, why: Why, request: Request, response: Response) {
        let status = response.head.status;
        let is_error = status >= 500;
        if !is_error {
            let is_blamed = status >= 400 && !matches!(status, 404 | 410);
            let time = self.private_time();
            self.mark(if is_blamed { time.min(BLAMED_MAX) } else { time });
            // What was kept was for all, and the page no longer is.
            if !is_blamed && matches!(why, Why::Refused(StorageRefusal::NoStore | StorageRefusal::Private)) {
                self.drop_known();
            }
        }
        // From here on nobody joins this one.
        self.road.pages.cache.flights.remove(&self.flight_key, &self.flight);
        // The log line first: whoever takes the answer takes that too.
        self.leave(request);
        self.flight.offer(if is_error { State::AppError } else { State::Private }, response);
    }

    pub(crate) fn private_time(&self) -> Duration {
        Duration::from_secs(self.road.config().bounds.private_s)
    }

    /// Marks the page, unless a fresh one was cached meanwhile. For this time, clients that ask for it wait for no other render.
    pub(crate) fn mark(&self, time: Duration) {
        let (cache, now) = (&self.road.pages.cache, self.road.pages.moment());
        let kept = cache.store.borrow().find(&self.key, &self.head.fields);
        let limits = self.road.pages.stale_limits();
        let is_fresh = kept.is_some_and(|kept| matches!(kept.policy.borrow().reuse(now, limits), Reuse::Fresh(_)));
        if !is_fresh {
            cache.marks.set(&self.flight_key, Instant::now() + time, self.position);
        }
    }

    /// Drops the cached page that was to be renewed, because it is no longer for all. Pages for other visitors stay, and so does one that
    /// was stored since.
    pub(crate) fn drop_known(&self) {
        let Some(known) = &self.known else { return };
        let cache = &self.road.pages.cache;
        cache.store.borrow_mut().remove_variant(&self.key, known);
        // What is there goes by its URL. The others are written anew, the latest last.
        drop(cache.disk.purge(&Purge::Url(self.key.clone()), false));
        for other in cache.store.borrow().variants(&self.key).iter().rev() {
            cache.disk.kept(self.road.pages.moment(), self.road.pages.stale_limits(), &self.key, other);
        }
    }
}
