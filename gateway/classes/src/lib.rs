//! Classes of requests that are expected to cost alike: the bounded table of classes, by host, method and path.
//!
//! A class comes from a route of the config, else from its place in the tree of paths. The tree learns what varies from the
//! paths themselves and from what workers report of their routers. A class whose cost spreads widely falls into parts where
//! the query or the size of the body explains it. Numbers of classes are rows here and in the scheduler's costs; news for
//! those is gathered as [`Change`]s. It must not know queues and workers.

#[cfg(test)]
mod cost;
mod features;
mod hosts;
mod rules;
pub mod saved;
mod segment;
mod split;
mod table;
#[cfg(test)]
mod tests;
mod tree;

use std::cell::RefCell;
use std::rc::Rc;

use sluice_catalog::config::{Config, site};
use sluice_message::{Method, RequestHead, path_of};
use sluice_scheduler::{ClassId, Need, SavedCosts};

use features::Features;
pub use rules::Rules;
use table::Table;
pub use table::{Change, Totals};

/// Counter of segments without a place yet, of which there may be anything.
type Newcomers = sluice_sketch::Frequent<24>;

/// Traits of a request that decide its class.
#[derive(Clone, Copy)]
pub struct Traits<'r> {
    /// Method.
    pub method: &'r Method,
    /// Host, as the client gave it.
    pub host: &'r str,
    /// Path and query.
    pub target: &'r str,
    /// Length of the body, in bytes.
    pub body_bytes: u64,
}

impl<'r> Traits<'r> {
    /// Traits of a request with this head and so much of a body.
    pub fn of(head: &'r RequestHead, body_bytes: u64) -> Self {
        Traits { method: &head.method, host: &head.authority, target: &head.path_and_query, body_bytes }
    }
}

/// The class of one request, and what its route says.
#[derive(Clone, Debug)]
pub struct Class {
    /// Number, while it is kept.
    pub id: ClassId,
    /// Name that operators see.
    pub name: Rc<str>,
    /// Workers that may serve it.
    pub need: Need,
    /// Longest predicted wait before something cheaper is tried.
    pub budget_ms: Option<u32>,
    /// Only where something is sought that explains the cost of its class.
    features: Option<Features>,
}

thread_local! {
    /// Name of requests whose class is not known yet: one for all of a thread.
    static UNNAMED: Rc<str> = Rc::from("");
}

impl Default for Class {
    fn default() -> Self {
        Class {
            id: ClassId::default(),
            name: UNNAMED.with(Rc::clone),
            need: Need::default(),
            budget_ms: None,
            features: None,
        }
    }
}

/// A class as an operator sees it.
pub struct ClassSummary {
    /// Number, while it is kept.
    pub id: ClassId,
    /// Name that operators see.
    pub name: Rc<str>,
    /// The class that this one is a part of.
    pub split_from: Option<Rc<str>>,
    /// Totals since the class has its number.
    pub totals: Totals,
}

/// The table. See the module's text.
pub struct Classes {
    table: RefCell<Table>,
}

impl Classes {
    /// None yet, and the routes of the config.
    pub fn new(config: &Config) -> Self {
        Classes { table: RefCell::new(Table::new(config)) }
    }

    /// Puts other routes in force.
    pub fn set_routes(&self, config: &Config) {
        self.table.borrow_mut().set_routes(config);
    }

    /// The classes that the config's routes name.
    pub fn route_names(&self) -> Vec<String> {
        self.table.borrow().route_names().map(str::to_owned).collect()
    }

    /// Finds the request's class, or makes one. Allocates nothing for a class that is there.
    pub fn classify(&self, asked: &Traits<'_>) -> Class {
        let asked = &Traits { host: site(asked.host), ..*asked };
        let mut table = self.table.borrow_mut();
        let (base, rule) = table.base(asked);
        let (id, features) = table.part(base, asked);
        let name = table.hit(id);
        let route = rule.and_then(|rule| table.route(rule));
        Class {
            id,
            name,
            need: Need {
                class: id,
                priority: route.map_or(0, |route| route.priority),
                deadline_ms: route.and_then(|route| route.deadline_ms),
                ..Need::default()
            },
            budget_ms: route.and_then(|route| route.budget_ms),
            features,
        }
    }

    /// The name of the class of such a request, if it has one by now: what somebody says of a page makes no class.
    pub fn known(&self, asked: &Traits<'_>) -> Option<Rc<str>> {
        self.table.borrow().known(&Traits { host: site(asked.host), ..*asked })
    }

    /// The app's router has answered such a request by this template.
    pub fn tell_route(&self, target: &str, template: &str) {
        self.table.borrow_mut().tell_route(path_of(target), template);
    }

    /// A request of this class took so much. Returns whose cost that is: none's where the class has gone meanwhile.
    pub fn measured(&self, class: &Class, cost_us: u64) -> Option<ClassId> {
        self.table.borrow_mut().measured(class.id, &class.name, class.features.as_ref(), cost_us)
    }

    /// A request of this class took about so much, which teaches nothing of the class.
    pub fn estimated(&self, class: &Class, cost_us: u64) {
        self.table.borrow_mut().estimated(class.id, &class.name, cost_us);
    }

    /// A request of this class has had its answer.
    pub fn served(&self, class: &Class, queue_ms: f64, service_ms: f64) {
        self.table.borrow_mut().served(class.id, &class.name, queue_ms, service_ms);
    }

    /// A request of this class was in the handler of its route for so long.
    pub fn handled(&self, class: &Class, handler_ms: f64) {
        self.table.borrow_mut().handled(class.id, &class.name, handler_ms);
    }

    /// Takes the news for the scheduler's costs; hardly ever anything.
    pub fn take_changes(&self) -> Vec<Change> {
        self.table.borrow_mut().take_changes()
    }

    /// Every class that has had a request.
    pub fn list(&self) -> Vec<ClassSummary> {
        self.table.borrow().list()
    }

    #[cfg(test)]
    fn rows(&self) -> usize {
        self.table.borrow().rows()
    }

    /// Places where anything is a parameter, for keeping.
    pub fn folds(&self) -> Vec<String> {
        self.table.borrow().folds()
    }

    /// Continues from what was kept: which segments are parameters, and what classes cost by name.
    pub fn restore(&self, folds: &[String], costs: Vec<(String, SavedCosts)>) {
        self.table.borrow_mut().restore(folds, costs);
    }
}
