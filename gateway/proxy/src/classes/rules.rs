//! The routes that the config names, compared with a request. It must not know what becomes of a route's class.

use sluice_catalog::config::{Config, Route, Segment};
use sluice_http1::Method;
use sluice_scheduler::ClassId;

use super::segment::segments;

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) route: Route,
    pub(super) class: ClassId,
}

/// The routes of the config, closest first. One that does not parse was refused before it came here.
pub(super) fn read(config: &Config) -> Vec<Rule> {
    let routes = config.classes.routes.iter().filter_map(|(pattern, settings)| Route::parse(pattern, settings).ok());
    let mut rules: Vec<_> = routes.map(|route| Rule { route, class: ClassId::OTHER }).collect();
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.route.closeness()));
    rules
}

impl Rule {
    pub(super) fn fits(&self, method: &Method, host: &str, path: &str) -> bool {
        self.route.method.as_deref().is_none_or(|named| named == method.as_str())
            && self.route.host.as_deref().is_none_or(|named| named.eq_ignore_ascii_case(host))
            && self.fits_path(path)
    }

    fn fits_path(&self, path: &str) -> bool {
        let mut asked = segments(path);
        for segment in &self.route.path {
            if *segment == Segment::Rest {
                return true;
            }
            let Some(asked) = asked.next() else { return false };
            if let Segment::Name(name) = segment
                && name != asked
            {
                return false;
            }
        }
        asked.next().is_none()
    }
}
