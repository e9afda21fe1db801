//! Further places of a page before it is rendered: on disk, and where other gateways have stored it. It must not know how either is asked.

use std::rc::Rc;

use sluice_cache::{Page, Reuse};

use super::Fetch;
use crate::cache::flight::State;
use crate::cache::source::Source;
use crate::cache::store::Object;
use crate::respond::compress::KeptBody;

impl Fetch {
    /// Asks the disk, and then the other gateways' cache. Returns whether no worker need be asked.
    pub(crate) async fn is_found_elsewhere(&mut self) -> bool {
        let cache = &Rc::clone(&self.road.pages).cache;
        // What is in memory is no older than what is on disk.
        let on_disk = if self.known.is_none() { cache.disk.look_up(&self.key, &self.head.fields).await } else { None };
        let on_disk = on_disk.map(|page| (self.object(page), Source::Disk));
        if let Some((object, source)) = on_disk.as_ref().filter(|(object, _)| self.is_fresh(object)) {
            return self.is_settled_by(Rc::clone(object), *source);
        }
        let mut shared = None;
        if let Some(tier) = &cache.tier {
            let (found, position) = tier.look_up(self.road.pages.moment(), &self.key, &self.head.fields).await;
            self.position = position;
            shared = found.map(|page| (self.object(page), Source::Shared));
        }
        let now = self.road.pages.moment();
        let youngest = shared.into_iter().chain(on_disk).min_by_key(|(object, _)| object.policy.borrow().age_ms(now));
        youngest.is_some_and(|(object, source)| self.is_settled_by(object, source))
    }

    /// Converts a page from elsewhere into a cached one.
    fn object(&self, page: Page) -> Rc<Object> {
        Rc::new(Object {
            body: KeptBody::new(page.body, self.road.transforms.compression.is_enabled()),
            head: page.head,
            policy: page.policy.into(),
            tags: page.tags,
            born: self.flight.since.number,
        })
    }

    fn is_fresh(&self, object: &Object) -> bool {
        matches!(
            object.policy.borrow().reuse(self.road.pages.moment(), self.road.pages.stale_limits()),
            Reuse::Fresh(_)
        )
    }

    /// Gives waiting clients the page that was found, if it is usable. Returns whether no worker need be asked.
    fn is_settled_by(&mut self, object: Rc<Object>, source: Source) -> bool {
        let (road, flight) = (Rc::clone(&self.road), Rc::clone(&self.flight));
        let reuse = object.policy.borrow().reuse(road.pages.moment(), road.pages.stale_limits());
        if matches!(reuse, Reuse::Fresh(_)) {
            self.put(&object);
            flight.set(State::Found(object, source));
            return true;
        }
        if self.known.is_none() {
            match reuse {
                Reuse::Fresh(_) | Reuse::Never => {}
                Reuse::WhileRevalidating(_) => {
                    self.put(&object);
                    flight.set(State::Found(Rc::clone(&object), source));
                }
                Reuse::IfError(_) => *flight.fallback.borrow_mut() = Some(Rc::clone(&object)),
            }
            self.known = Some(object);
        }
        false
    }
}
