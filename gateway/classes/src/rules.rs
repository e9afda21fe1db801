//! The routes that the config names, and which of them a request is of. It must not know what becomes of a route's class.

use std::collections::HashMap;

use sluice_catalog::config::{Config, Route, Segment};
use sluice_message::Method;
use sluice_scheduler::ClassId;

use super::segment::segments;

#[derive(Debug)]
pub struct Rule {
    pub(super) route: Route,
    pub(super) class: ClassId,
}

/// The routes, closest first, with a tree of their paths, so that a request is not compared with each of them.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// The first one is for `/`.
    nodes: Vec<Node>,
}

/// Segments that may follow.
#[derive(Debug, Default)]
struct Node {
    names: HashMap<Box<str>, usize>,
    any: Option<usize>,
    /// Rules whose path ends here, and those that take whatever follows; closest first.
    ends: Vec<usize>,
    rests: Vec<usize>,
}

impl Rules {
    /// The routes of the config, without classes yet. One that does not parse was refused before it came here.
    pub(super) fn read(config: &Config) -> Rules {
        let routes = config.classes.routes.iter();
        Rules::of(routes.filter_map(|(pattern, settings)| Route::parse(pattern, settings).ok()))
    }

    /// The same of any routes.
    pub fn of(routes: impl Iterator<Item = Route>) -> Rules {
        let mut rules: Vec<_> = routes.map(|route| Rule { route, class: ClassId::OTHER }).collect();
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.route.closeness()));
        let mut nodes = vec![Node::default()];
        for (number, rule) in rules.iter().enumerate() {
            add(&mut nodes, &rule.route.path, number);
        }
        Rules { rules, nodes }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Rule> {
        self.rules.iter_mut()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Rule> {
        self.rules.get(number)
    }

    /// The closest rule for the request: its number.
    pub fn find(&self, method: &Method, host: &str, path: &str) -> Option<usize> {
        if self.rules.is_empty() {
            return None;
        }
        self.find_below(0, segments(path), &|number| {
            let Route { method: of, host: at, .. } = &self.rules[number].route;
            of.as_deref().is_none_or(|named| named == method.as_str())
                && at.as_deref().is_none_or(|named| named.eq_ignore_ascii_case(host))
        })
    }

    fn find_below<'p>(
        &self,
        node: usize,
        mut asked: impl Iterator<Item = &'p str> + Clone,
        fits: &impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let node = &self.nodes[node];
        let first = |rules: &[usize]| rules.iter().copied().find(|number| fits(*number));
        let rest = first(&node.rests);
        let deeper = match asked.next() {
            None => first(&node.ends),
            Some(segment) => {
                let next = [node.names.get(segment).copied(), node.any];
                next.into_iter().flatten().filter_map(|next| self.find_below(next, asked.clone(), fits)).min()
            }
        };
        rest.into_iter().chain(deeper).min()
    }
}

fn add(nodes: &mut Vec<Node>, path: &[Segment], number: usize) {
    let mut at = 0;
    for segment in path {
        let new = nodes.len();
        at = match segment {
            Segment::Name(name) => *nodes[at].names.entry(name.as_str().into()).or_insert(new),
            Segment::Any => *nodes[at].any.get_or_insert(new),
            Segment::Rest => return nodes[at].rests.push(number),
        };
        if at == new {
            nodes.push(Node::default());
        }
    }
    nodes[at].ends.push(number);
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    use super::*;

    /// Compares segment by segment.
    fn fits(route: &Route, method: &Method, host: &str, path: &str) -> bool {
        let mut asked = segments(path);
        let is_prefix = route.path.iter().take_while(|segment| **segment != Segment::Rest).all(|segment| {
            let next = asked.next();
            next.is_some_and(|next| *segment == Segment::Any || *segment == Segment::Name(next.to_owned()))
        });
        is_prefix
            && (route.path.last() == Some(&Segment::Rest) || asked.next().is_none())
            && route.method.as_deref().is_none_or(|named| named == method.as_str())
            && route.host.as_deref().is_none_or(|named| named == host)
    }

    fn path(segment: &'static str) -> impl Strategy<Value = String> {
        vec(segment, 0..4).prop_map(|segments| format!("/{}", segments.join("/")))
    }

    proptest! {
        #[test]
        fn the_rule_that_is_found_is_the_first_of_all_that_fit(
            routes in btree_map(
                ("(GET |POST )?", "(one|two)?", path("[ab]|:x"), "(/[*])?"),
                Just(()),
                0..20,
            ),
            asked in vec((any::<bool>(), any::<bool>(), path("[abc]")), 1..20),
        ) {
            let mut config = Config::default();
            config.classes.routes = routes
                .into_keys()
                .map(|(method, host, path, rest)| {
                    let path = if rest.is_empty() { path } else { path.trim_end_matches('/').to_owned() + &rest };
                    (format!("{method}{host}{path}"), String::new())
                })
                .collect();
            let rules = Rules::read(&config);
            prop_assert_eq!(rules.rules.len(), config.classes.routes.len());
            for (is_get, is_one, path) in asked {
                let (method, host) =
                    (if is_get { Method::Get } else { Method::Post }, if is_one { "one" } else { "two" });
                let expected = rules.iter().position(|rule| fits(&rule.route, &method, host, &path));
                prop_assert_eq!(rules.find(&method, host, &path), expected, "{} {}{}", method.as_str(), host, path);
            }
        }
    }
}
