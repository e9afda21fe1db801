//! Requests of one route, noted while an operator profiles their workers.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use sluice_catalog::refusals::ProfileError;
use sluice_scheduler::{RequestId, WorkerId};

/// Maximum number of requests noted for one profile.
const NOTED_MAX: usize = 200_000;

/// Requests of a route that workers held when this was created or received later.
pub struct RouteFollower {
    route: String,
    noted: RefCell<Vec<(WorkerId, RequestId)>>,
    /// True if requests were left out because of [`NOTED_MAX`].
    is_cut: Cell<bool>,
}

/// All routes that are followed now; nearly always none.
#[derive(Default)]
pub struct Followers(RefCell<Vec<Weak<RouteFollower>>>);

impl Followers {
    /// Notes a request of this class that the worker gets.
    pub fn given(&self, worker: WorkerId, request: RequestId, class: &str) {
        let followers = self.0.borrow();
        for followed in followers.iter().filter_map(Weak::upgrade) {
            followed.note(worker, request, class);
        }
    }

    /// Follows the requests of a class, or of all classes with this path, until the returned value is dropped. `classes` are
    /// the names of all classes, and `held` are the requests that workers hold now.
    ///
    /// # Errors
    /// If no such class exists.
    pub fn follow<'c>(
        &self,
        route: &str,
        mut classes: impl Iterator<Item = &'c str>,
        held: impl Iterator<Item = (WorkerId, RequestId, Rc<str>)>,
    ) -> Result<Rc<RouteFollower>, ProfileError> {
        if !classes.any(|class| is_of(class, route)) {
            return Err(ProfileError::NoRoute(route.to_owned()));
        }
        let followed = Rc::new(RouteFollower::new(route));
        for (worker, request, class) in held {
            followed.note(worker, request, &class);
        }
        let mut followers = self.0.borrow_mut();
        followers.retain(|other| other.strong_count() > 0);
        followers.push(Rc::downgrade(&followed));
        Ok(followed)
    }
}

impl RouteFollower {
    fn new(route: &str) -> Self {
        Self { route: route.to_owned(), noted: RefCell::default(), is_cut: Cell::new(false) }
    }

    fn note(&self, worker: WorkerId, request: RequestId, class: &str) {
        if !is_of(class, &self.route) {
            return;
        }
        let mut noted = self.noted.borrow_mut();
        if noted.len() < NOTED_MAX {
            noted.push((worker, request));
        } else {
            self.is_cut.set(true);
        }
    }

    /// Whether requests were left out, because there were too many.
    pub fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// Numbers of the requests that this worker was given.
    pub fn requests_of(&self, worker: u64) -> Vec<u64> {
        let noted = self.noted.borrow();
        noted.iter().filter(|(of, _)| of.0 == worker).map(|(_, request)| request.0).collect()
    }
}

/// Whether a route names this class: by its name, or by its path with any method and host.
fn is_of(class: &str, route: &str) -> bool {
    class == route || class.find('/').is_some_and(|at| class[at..] == *route)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_meant_by_its_name_or_by_its_path() {
        for (class, route, is_meant) in [
            ("GET /product/:id", "GET /product/:id", true),
            ("GET /product/:id", "/product/:id", true),
            ("POST shop.example/product/:id", "/product/:id", true),
            ("GET /product/:id", "/product", false),
            ("GET /shop/product/:id", "/product/:id", false),
            ("other", "other", true),
            ("other", "/", false),
        ] {
            assert_eq!(is_of(class, route), is_meant, "{class} {route}");
        }
    }

    #[test]
    fn it_is_known_that_there_were_more_requests_than_are_noted() {
        let followed = RouteFollower::new("/product/:id");
        let note = |number: u64, class| followed.note(WorkerId(1), RequestId(number), class);
        (0..NOTED_MAX as u64).for_each(|number| note(number, "GET /product/:id"));
        note(0, "GET /");
        assert!(!followed.is_cut());
        note(0, "GET /product/:id");
        assert_eq!((followed.is_cut(), followed.requests_of(1).len()), (true, NOTED_MAX));
    }
}
