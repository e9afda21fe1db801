//! How a route is written: which requests it is for (`GET shop.example/products/:id`), and what holds for them
//! (`class=product priority=1`). It must not know how requests are compared with it.

/// Routes that may be named.
pub(super) const ROUTES_MAX: usize = 256;

/// Which requests a route is for, and what holds for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The method; any unless said.
    pub method: Option<String>,
    /// The host as clients write it, in lower case; any unless said.
    pub host: Option<String>,
    /// The path's segments.
    pub path: Vec<Segment>,
    /// What its class is called; as the route is written unless said.
    pub class: String,
    /// Higher goes first.
    pub priority: i8,
    /// How long after its arrival an answer is of no more use, milliseconds.
    pub deadline_ms: Option<u32>,
    /// How long it may be predicted to wait before something cheaper is tried, milliseconds.
    pub budget_ms: Option<u32>,
}

/// One segment of a route's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// This one.
    Name(String),
    /// `:id`: any one.
    Any,
    /// `*`, only as the last: any number of them, none included.
    Rest,
}

impl Route {
    /// Reads what stands on both sides of the `=`.
    ///
    /// # Errors
    /// What is allowed, as a part of a sentence that follows "must".
    pub fn parse(pattern: &str, settings: &str) -> Result<Self, String> {
        let mut route = Self::parse_pattern(pattern).ok_or_else(|| {
            "be written like \"/products/:id\", \"GET /search\" or \"POST shop.example/api/*\", with '*' only at the end"
                .to_owned()
        })?;
        pattern.clone_into(&mut route.class);
        for word in settings.split_ascii_whitespace() {
            route.set(word).ok_or_else(|| {
                format!(
                    "hold settings like \"class=product priority=1 deadline_ms=500 budget_ms=200\" (priority from -100 to 100, \
                     times from 1 to 3600000), not {word:?}"
                )
            })?;
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
        route.host = Some(host.to_ascii_lowercase()).filter(|host| !host.is_empty());
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

    fn set(&mut self, word: &str) -> Option<()> {
        let time_ms = |text: &str| text.parse().ok().filter(|time_ms| (1..=3_600_000).contains(time_ms));
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

    /// How much of a request it names, so that of several routes that fit the closest counts: named segments first, then
    /// the length, then host and method.
    #[must_use]
    pub fn closeness(&self) -> (usize, usize, bool, bool, bool) {
        let named = self.path.iter().filter(|segment| matches!(segment, Segment::Name(_))).count();
        let is_exact = self.path.last() != Some(&Segment::Rest);
        (named, self.path.len(), is_exact, self.host.is_some(), self.method.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_read_with_and_without_method_host_and_settings() {
        let route = Route::parse("GET Shop.example:8080/a/:id/*", "class=a priority=-3 deadline_ms=500").unwrap();
        assert_eq!(route.method.as_deref(), Some("GET"));
        assert_eq!(route.host.as_deref(), Some("shop.example:8080"));
        assert_eq!(route.path, [Segment::Name("a".to_owned()), Segment::Any, Segment::Rest]);
        assert_eq!((&*route.class, route.priority, route.deadline_ms, route.budget_ms), ("a", -3, Some(500), None));
        let plain = Route::parse("/", "").unwrap();
        assert_eq!((plain.path.len(), plain.host, plain.method, &*plain.class), (0, None, None, "/"));
    }

    #[test]
    fn anything_else_is_answered_with_what_is_allowed() {
        for pattern in ["", "x", "GET", "get /x", "/*/x", "/a*", "/:", "GET  /x", "/a?b", "/café", "GET /a b"] {
            assert!(Route::parse(pattern, "").is_err_and(|error| error.contains("be written like")), "{pattern}");
        }
        for settings in ["class=", "priority=101", "priority=x", "deadline_ms=0", "wat=1", "class", "budget_ms=-1"] {
            assert!(Route::parse("/x", settings).is_err_and(|error| error.contains("deadline_ms")), "{settings}");
        }
    }

    #[test]
    fn the_closest_route_names_most_of_the_request() {
        let close = |pattern| Route::parse(pattern, "").unwrap().closeness();
        assert!(close("/a/:id") > close("/:x/:id") && close("/a/b") > close("/a/:id"));
        assert!(close("/a/:id") > close("/a/*") && close("GET /a") > close("/a") && close("h/a") > close("GET /a"));
    }
}
