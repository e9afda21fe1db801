//! Form of a route: the requests that it matches (`GET shop.example/products/:id`), and their settings
//! (`class=product priority=1`).
//!
//! This module must not know how requests are compared with it.

use super::duration::parse_ms;
use percent_encoding::{AsciiSet, utf8_percent_encode};

/// Maximum number of routes.
pub(super) const ROUTES_MAX: usize = 256;

/// Requests that a route matches, and their settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The method; any unless said.
    pub method: Option<String>,
    /// The host, as [`site`] gives it and in lower case; any unless said.
    pub host: Option<String>,
    /// The path's segments.
    pub path: Vec<Segment>,
    /// Name of the class; the route as written by default.
    pub class: String,
    /// Higher goes first.
    pub priority: i8,
    /// Time after a request's arrival when its answer becomes useless, milliseconds.
    pub deadline_ms: Option<u32>,
    /// Longest predicted wait before a cheaper answer is tried, milliseconds.
    pub budget_ms: Option<u32>,
}

/// Fault of a route. Says what is allowed, as a part of a sentence that follows "must".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// The path has characters beyond ASCII.
    #[error("be percent-encoded, as browsers send it: {encoded:?}")]
    NotEncoded {
        /// Route with a percent-encoded path.
        encoded: String,
    },
    /// The text before the `=` is no pattern.
    #[error(
        "be written like \"/products/:id\", \"GET /search\" or \"POST shop.example/api/*\", with '*' only at the end"
    )]
    Pattern,
    /// One setting stands there twice.
    #[error("set {name} once, not twice")]
    Twice {
        /// Name of the setting.
        name: String,
    },
    /// A word of the settings is none.
    #[error(
        "contain settings like \"class=product priority=1 deadline_ms=500 budget_ms=200\" (priority from -100 to 100, times from 1 \
         to 3600000 milliseconds, or \"1ms\" to \"1h\"), not {word:?}"
    )]
    Setting {
        /// The word.
        word: String,
    },
}

/// One segment of a route's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Segment with exactly this text.
    Name(String),
    /// `:id`: any one.
    Any,
    /// `*`, only as the last: any number of them, none included.
    Rest,
}

/// The host that a `Host` names: without its port, which says how it was reached, and without the dot that may end it.
pub fn site(host: &str) -> &str {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    name.strip_suffix('.').unwrap_or(name)
}

impl Route {
    /// Reads what stands on both sides of the `=`.
    ///
    /// # Errors
    /// If one of them is written otherwise.
    pub fn parse(pattern: &str, settings: &str) -> Result<Self, RouteError> {
        if let Some(encoded) = percent_encoded(pattern) {
            return Err(RouteError::NotEncoded { encoded });
        }
        let mut route = Self::parse_pattern(pattern).ok_or(RouteError::Pattern)?;
        pattern.clone_into(&mut route.class);
        let mut names = Vec::new();
        for word in settings.split_ascii_whitespace() {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            if names.contains(&name) {
                return Err(RouteError::Twice { name: name.to_owned() });
            }
            names.push(name);
            route.set(word).ok_or_else(|| RouteError::Setting { word: word.to_owned() })?;
        }
        Ok(route)
    }

    fn parse_pattern(pattern: &str) -> Option<Self> {
        let mut route = Route::default();
        let target = match pattern.split_once(' ') {
            Some((method, target)) => {
                let is_method =
                    !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-');
                route.method = Some(method).filter(|_| is_method && method.len() <= 32).map(str::to_owned);
                route.method.is_some().then_some(target)?
            }
            None => pattern,
        };
        let (host, path) = target.split_at(target.find('/')?);
        if !target.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'\\'))
            || target.len() > 512
        {
            return None;
        }
        if !host.is_empty() {
            route.host = Some(site(host).to_ascii_lowercase()).filter(|host| !host.is_empty());
            route.host.as_ref()?;
        }
        let path = path.strip_prefix('/')?;
        for segment in path.split('/').filter(|_| !path.is_empty()) {
            if route.path.last() == Some(&Segment::Rest) {
                return None;
            }
            route.path.push(match segment.strip_prefix(':') {
                Some(name) => Some(Segment::Any).filter(|_| !name.is_empty())?,
                None if segment == "*" => Segment::Rest,
                None if segment.contains('*') => return None,
                None => Segment::Name(segment.to_owned()),
            });
        }
        Some(route)
    }

    /// Whether both are for the same requests, however they are written.
    pub fn is_for_the_same_as(&self, other: &Route) -> bool {
        (&self.method, &self.host, &self.path) == (&other.method, &other.host, &other.path)
    }

    fn set(&mut self, word: &str) -> Option<()> {
        let time_ms = |text: &str| {
            let time_ms = text.parse().ok().or_else(|| u32::try_from(parse_ms(text).ok()?).ok());
            time_ms.filter(|time_ms| (1..=3_600_000).contains(time_ms))
        };
        let (name, value) = word.split_once('=')?;
        match name {
            "class" => {
                let is_name =
                    !value.is_empty() && value.len() <= 64 && value.bytes().all(|byte| byte.is_ascii_graphic());
                is_name.then_some(value)?.clone_into(&mut self.class);
            }
            "priority" => self.priority = value.parse().ok().filter(|priority| (-100..=100).contains(priority))?,
            "deadline_ms" => self.deadline_ms = Some(time_ms(value)?),
            "budget_ms" => self.budget_ms = Some(time_ms(value)?),
            _ => return None,
        }
        Some(())
    }

    /// Closeness of a match: of several routes that match a request, the greatest counts. Named segments decide first, then the
    /// length, then host and method.
    pub fn closeness(&self) -> (usize, usize, bool, bool, bool) {
        let named = self.path.iter().filter(|segment| matches!(segment, Segment::Name(_))).count();
        let is_exact = self.path.last() != Some(&Segment::Rest);
        (named, self.path.len(), is_exact, self.host.is_some(), self.method.is_some())
    }
}

/// Percent-encoded form of a route with a path beyond ASCII. `None` if the path is ASCII, or if another part is not.
fn percent_encoded(pattern: &str) -> Option<String> {
    let (before, path) = pattern.split_at(pattern.find('/')?);
    if path.is_ascii() || !before.is_ascii() {
        return None;
    }
    Some(format!("{before}{}", utf8_percent_encode(path, &AsciiSet::EMPTY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_read_with_and_without_method_host_and_settings() {
        let route = Route::parse("GET Shop.example:8080/a/:id/*", "class=a priority=-3 deadline_ms=500").unwrap();
        assert_eq!(route.method.as_deref(), Some("GET"));
        assert_eq!(route.host.as_deref(), Some("shop.example"));
        assert_eq!(route.path, [Segment::Name("a".to_owned()), Segment::Any, Segment::Rest]);
        assert_eq!((&*route.class, route.priority, route.deadline_ms, route.budget_ms), ("a", -3, Some(500), None));
        let timed = Route::parse("/", "deadline_ms=2s budget_ms=200ms").unwrap();
        assert_eq!((timed.deadline_ms, timed.budget_ms), (Some(2_000), Some(200)));
        let plain = Route::parse("/", "").unwrap();
        assert_eq!((plain.path.len(), plain.host, plain.method, &*plain.class), (0, None, None, "/"));
    }

    #[test]
    fn anything_else_is_answered_with_what_is_allowed() {
        for pattern in [
            "",
            "x",
            "GET",
            "get /x",
            "/*/x",
            "/a*",
            "/:",
            "GET  /x",
            "/a?b",
            "GET /a b",
            "café.example/",
            ":80/x",
            "./x",
        ] {
            assert!(Route::parse(pattern, "").is_err_and(|error| error == RouteError::Pattern), "{pattern}");
        }
        for settings in [
            "class=",
            "priority=101",
            "priority=x",
            "deadline_ms=0",
            "wat=1",
            "class",
            "budget_ms=-1",
            "budget_ms=2h",
            "deadline_ms=0s",
        ] {
            assert!(
                Route::parse("/x", settings).is_err_and(|error| error.to_string().contains("deadline_ms")),
                "{settings}"
            );
        }
    }

    #[test]
    fn a_host_is_the_same_with_its_port_and_with_the_dot_at_its_end() {
        for host in ["shop.example", "shop.example:8080", "shop.example.", "shop.example.:8080", "shop.example:"] {
            assert_eq!(site(host), "shop.example", "{host}");
        }
        assert_eq!(
            (site("[::1]:80"), site("[::1]"), site("127.0.0.1:80"), site("")),
            ("[::1]", "[::1]", "127.0.0.1", "")
        );
    }

    #[test]
    fn a_path_beyond_ascii_is_refused_with_what_to_write() {
        let refusal = Route::parse("GET shop.example/café/:id", "").unwrap_err();
        assert!(
            refusal.to_string().contains("be percent-encoded, as browsers send it: \"GET shop.example/caf%C3%A9/:id\""),
            "{refusal}"
        );
        assert!(Route::parse("GET shop.example/caf%C3%A9/:id", "").is_ok());
    }

    #[test]
    fn a_setting_is_said_once() {
        let refusal = Route::parse("/x", "priority=1 class=a priority=2").unwrap_err();
        assert_eq!(refusal.to_string(), "set priority once, not twice");
    }

    #[test]
    fn the_closest_route_names_most_of_the_request() {
        let close = |pattern| Route::parse(pattern, "").unwrap().closeness();
        assert!(close("/a/:id") > close("/:x/:id") && close("/a/b") > close("/a/:id"));
        assert!(close("/a/:id") > close("/a/*") && close("GET /a") > close("/a") && close("h/a") > close("GET /a"));
    }
}
