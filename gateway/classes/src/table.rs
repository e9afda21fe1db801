//! The rows behind the classes: who has which number, and who makes room.

mod parts;

use std::collections::HashMap;
use std::rc::Rc;

use sluice_catalog::config::{Config, Route};
use sluice_message::{Method, path_of};
use sluice_scheduler::{ClassId, SavedCosts};
use sluice_sketch::Mean;

use super::hosts::Hosts;
use super::rules::{Rule, Rules};
use super::segment::fits;
use super::split::{By, Moments, Splitter};
use super::tree::{NodeId, Tree};
use super::{ClassSummary, Traits};

/// Requests after which counts are halved and what is rare makes room.
const TIDY_EVERY: u32 = 4_096;
/// A class with so many requests of late does not make room.
const RARE_HITS: u32 = 4;
/// Maximum number of remembered templates of the app's router.
const TOLD_MAX: usize = 500;
/// Maximum number of classes of an earlier run without requests in this run.
const KEPT_MAX: usize = 1_000;

/// News for the scheduler's costs.
#[derive(Debug)]
pub enum Change {
    /// The number is free.
    Forget(ClassId),
    /// The class starts with this.
    Seed(ClassId, SavedCosts),
}

/// Requests of a class since it has its number.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// CPU microseconds of all of them.
    pub cpu_us: u64,
    /// Waits in the queue, in milliseconds.
    pub queue_ms: Mean<100>,
    /// Time in a worker, in milliseconds.
    pub service_ms: Mean<100>,
    /// Time in the handler of the route, in milliseconds, of requests whose router shows it.
    pub handler_ms: Mean<100>,
}

#[derive(Debug)]
enum Origin {
    Free,
    Other,
    Route,
    Tree(NodeId),
    Part { of: ClassId },
}

#[derive(Debug)]
struct Split {
    by: By,
    parts: Vec<(u32, ClassId)>,
}

#[derive(Debug)]
struct Row {
    name: Rc<str>,
    origin: Origin,
    /// Requests of late.
    hits: u32,
    totals: Totals,
    /// Moments of the logarithms of costs, its parts' as well.
    spread: Moments,
    splitter: Option<Box<Splitter>>,
    split: Option<Split>,
}

impl Row {
    fn new(name: Rc<str>, origin: Origin) -> Self {
        let (totals, spread) = (Totals::default(), Moments::default());
        Row { name, origin, hits: 0, totals, spread, splitter: None, split: None }
    }
}

pub(super) struct Table {
    rows: Vec<Row>,
    rows_max: usize,
    free: Vec<ClassId>,
    rules: Rules,
    tree: Tree,
    root: NodeId,
    hosts: Hosts,
    /// Templates of the app's router, for the roots of further hosts.
    told: Vec<Box<str>>,
    /// Costs of an earlier run, by name.
    kept: HashMap<Box<str>, SavedCosts>,
    changes: Vec<Change>,
    since_tidy: u32,
}

impl Table {
    pub(super) fn new(config: &Config) -> Self {
        let mut tree = Tree::default();
        let root = tree.add_root().expect("an empty tree has room");
        let mut table = Table {
            rows: vec![Row::new("other".into(), Origin::Other)],
            rows_max: config.bounds.classes_count_max as usize,
            free: Vec::new(),
            rules: Rules::default(),
            tree,
            root,
            hosts: Hosts::default(),
            told: Vec::new(),
            kept: HashMap::new(),
            changes: Vec::new(),
            since_tidy: 0,
        };
        table.set_routes(config);
        table
    }

    /// Routes that share a name share a row, and a name that stays keeps its row.
    pub(super) fn set_routes(&mut self, config: &Config) {
        let mut rules = Rules::read(config);
        let named = |row: &Row, rule: &Rule| matches!(row.origin, Origin::Route) && *row.name == *rule.route.class;
        let gone: Vec<_> = (0..self.rows.len())
            .filter(|at| matches!(self.rows[*at].origin, Origin::Route))
            .filter(|at| !rules.iter().any(|rule| named(&self.rows[*at], rule)))
            .map(class_id)
            .collect();
        for class in gone {
            self.release(class);
        }
        for rule in rules.iter_mut() {
            let at = self.rows.iter().position(|row| named(row, rule));
            rule.class = match at {
                Some(at) => class_id(at),
                None => {
                    self.allocate(rule.route.class.as_str().into(), Origin::Route, u32::MAX).unwrap_or(ClassId::OTHER)
                }
            };
        }
        self.rules = rules;
    }

    pub(super) fn route_names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| &*rule.route.class)
    }

    pub(super) fn route(&self, rule: usize) -> Option<&Route> {
        self.rules.get(rule).map(|rule| &rule.route)
    }

    /// The class by host, method and path, and the route that it comes from.
    pub(super) fn base(&mut self, asked: &Traits<'_>) -> (ClassId, Option<usize>) {
        self.since_tidy += 1;
        if self.since_tidy >= TIDY_EVERY {
            self.tidy();
        }
        let path = path_of(asked.target);
        let rule = self.rules.find(asked.method, asked.host, path);
        if let Some(class) = rule.and_then(|rule| self.rules.get(rule)).map(|rule| rule.class) {
            return (class, rule);
        }
        let root = self.hosts.root(asked.host);
        let place = self.tree.walk(root.unwrap_or(self.root), path);
        if self.tree.has_dropped() {
            self.release_dropped();
        }
        let Some(place) = place else { return (ClassId::OTHER, None) };
        let (method, word) = method_of(asked.method);
        if let Some(class) = self.tree.class(place, method) {
            return (class, None);
        }
        let host = root.and_then(|root| self.hosts.name(root)).map_or_else(String::new, |host| format!("{host} "));
        let pattern = self.tree.pattern(place);
        let pattern = if pattern.is_empty() { "/" } else { &pattern };
        let name = format!("{host}{word} {pattern}");
        let Some(class) = self.allocate(name.into(), Origin::Tree(place), RARE_HITS) else {
            return (ClassId::OTHER, None);
        };
        self.tree.set_class(place, method, class);
        (class, None)
    }

    /// The name of the class of such a request, if there is one. Makes none and counts nothing.
    pub(super) fn known(&self, asked: &Traits<'_>) -> Option<Rc<str>> {
        let path = path_of(asked.target);
        let rule = self.rules.find(asked.method, asked.host, path).and_then(|rule| self.rules.get(rule));
        let class = if let Some(rule) = rule {
            rule.class
        } else {
            let place = self.tree.find(self.hosts.found(asked.host).unwrap_or(self.root), path)?;
            self.tree.class(place, method_of(asked.method).0)?
        };
        (class != ClassId::OTHER).then(|| Rc::clone(&self.row(class).name))
    }

    /// Counts a request; returns the class's name.
    pub(super) fn hit(&mut self, class: ClassId) -> Rc<str> {
        let row = self.row_mut(class);
        row.hits = row.hits.saturating_add(1);
        row.totals.requests += 1;
        Rc::clone(&row.name)
    }

    /// Notes a router's template. Templates hold for all hosts: a worker tells each only once.
    pub(super) fn tell_route(&mut self, path: &str, template: &str) {
        if !fits(path, template) {
            return;
        }
        if self.told.iter().all(|told| **told != *template) {
            if self.told.len() >= TOLD_MAX {
                self.told.remove(0);
            }
            self.told.push(template.into());
        }
        for root in self.hosts.roots().chain([self.root]).collect::<Vec<_>>() {
            self.tree.tell(root, template);
        }
        self.release_dropped();
    }

    pub(super) fn served(&mut self, class: ClassId, name: &Rc<str>, queue_ms: f64, service_ms: f64) {
        let Some(row) = self.same_row(class, name) else { return };
        let totals = &mut row.totals;
        totals.queue_ms.record(queue_ms);
        totals.service_ms.record(service_ms);
    }

    pub(super) fn handled(&mut self, class: ClassId, name: &Rc<str>, handler_ms: f64) {
        let Some(row) = self.same_row(class, name) else { return };
        row.totals.handler_ms.record(handler_ms);
    }

    pub(super) fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    pub(super) fn list(&self) -> Vec<ClassSummary> {
        let rows = self.rows.iter().enumerate().filter(|(_, row)| row.totals.requests > 0);
        rows.map(|(at, row)| ClassSummary {
            id: class_id(at),
            name: Rc::clone(&row.name),
            split_from: match row.origin {
                Origin::Part { of } => Some(Rc::clone(&self.row(of).name)),
                _ => None,
            },
            totals: row.totals,
        })
        .collect()
    }

    /// Rows in use, that of `other` among them.
    #[cfg(test)]
    pub(super) fn rows(&self) -> usize {
        self.rows.len() - self.free.len()
    }

    pub(super) fn folds(&self) -> Vec<String> {
        self.tree.folds(self.root)
    }

    pub(super) fn restore(&mut self, folds: &[String], costs: Vec<(String, SavedCosts)>) {
        for pattern in folds {
            self.tree.fold_at(self.root, pattern);
        }
        for (name, saved) in costs.into_iter().take(KEPT_MAX) {
            match self.rows.iter().position(|row| *row.name == *name) {
                Some(at) => self.changes.push(Change::Seed(class_id(at), saved)),
                None => drop(self.kept.insert(name.into(), saved)),
            }
        }
    }

    /// A row, if need be that of the rarest class with fewer requests of late than `hits_max`.
    fn allocate(&mut self, name: Rc<str>, origin: Origin, hits_max: u32) -> Option<ClassId> {
        if self.free.is_empty() && self.rows.len() >= self.rows_max {
            let in_tree = (0..self.rows.len()).filter(|at| {
                let row = &self.rows[*at];
                matches!(row.origin, Origin::Tree(_)) && row.split.is_none() && row.hits < hits_max
            });
            let rarest = class_id(in_tree.min_by_key(|at| self.rows[*at].hits)?);
            if let Origin::Tree(place) = self.row(rarest).origin {
                self.tree.unset_class(place, rarest);
            }
            self.release(rarest);
        }
        let saved = self.kept.remove(&*name);
        let row = Row::new(name, origin);
        let class = if let Some(class) = self.free.pop() {
            *self.row_mut(class) = row;
            class
        } else {
            self.rows.push(row);
            class_id(self.rows.len() - 1)
        };
        if let Some(saved) = saved {
            self.changes.push(Change::Seed(class, saved));
        }
        Some(class)
    }

    /// The class and its parts make room. What they took counts for `other`, so that shares still add up.
    fn release(&mut self, class: ClassId) {
        let free = Row::new("".into(), Origin::Free);
        let row = std::mem::replace(self.row_mut(class), free);
        if let Some(split) = row.split {
            split.parts.into_iter().for_each(|(_, part)| self.release(part));
        }
        let other = &mut self.row_mut(ClassId::OTHER).totals;
        other.requests = other.requests.saturating_add(row.totals.requests);
        other.cpu_us = other.cpu_us.saturating_add(row.totals.cpu_us);
        self.free.push(class);
        self.changes.push(Change::Forget(class));
    }

    fn release_dropped(&mut self) {
        for class in self.tree.take_dropped() {
            self.release(class);
        }
    }

    fn tidy(&mut self) {
        self.since_tidy = 0;
        let add_root = || {
            let root = self.tree.add_root()?;
            for template in &self.told {
                // Hosts must not take each other's room for what perhaps nobody asks them.
                if !self.tree.is_crowded() {
                    self.tree.tell(root, template);
                }
            }
            Some(root)
        };
        for root in self.hosts.tidy(add_root) {
            self.tree.drop_node(root);
        }
        let is_crowded = self.tree.is_crowded() || self.rows.len() - self.free.len() > self.rows_max / 4 * 3;
        self.tree.tidy(is_crowded);
        self.release_dropped();
        self.rows.iter_mut().for_each(|row| row.hits /= 2);
    }

    fn row(&self, class: ClassId) -> &Row {
        &self.rows[usize::from(class.0)]
    }

    fn row_mut(&mut self, class: ClassId) -> &mut Row {
        &mut self.rows[usize::from(class.0)]
    }

    /// The row, if it is still that of the class of this name: a number may have gone to another while a request was out.
    fn same_row(&mut self, class: ClassId, name: &Rc<str>) -> Option<&mut Row> {
        self.rows.get_mut(usize::from(class.0)).filter(|row| Rc::ptr_eq(&row.name, name))
    }
}

fn class_id(at: usize) -> ClassId {
    ClassId(u16::try_from(at).expect("rows_max is bounded by the config"))
}

/// Places for methods in the tree, and what they are called. Those that HTTP does not know share one.
fn method_of(method: &Method) -> (u8, &str) {
    let place = match method {
        Method::Get => 0,
        Method::Head => 1,
        Method::Post => 2,
        Method::Put => 3,
        Method::Delete => 4,
        Method::Options => 5,
        Method::Patch => 6,
        Method::Other(_) => return (7, "OTHER"),
    };
    (place, method.as_str())
}
