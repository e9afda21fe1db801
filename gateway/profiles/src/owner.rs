//! Owner of a frame's code, by what V8 says of it.

use percent_encoding::percent_decode_str;

/// Owner of a frame's code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// V8's entry above all others.
    Root,
    /// Nothing ran.
    Idle,
    /// Native code that no JavaScript called: Node.js between two callbacks, or V8 itself.
    Program,
    /// The garbage collector.
    Collector,
    /// Native code that JavaScript called.
    Native,
    /// The kernel, in profiles of perf.
    Kernel,
    /// Node.js' own JavaScript.
    Node,
    /// A package below `node_modules`, such as `express` or `@koa/router`.
    Package(String),
    /// Everything else.
    App,
}

impl Owner {
    /// `line` counts from 1; 0 is code without a place.
    pub fn of(function: &str, url: &str, line: u32) -> Self {
        if url.is_empty() {
            return match function {
                "(root)" => Self::Root,
                "(idle)" => Self::Idle,
                "(program)" => Self::Program,
                "(garbage collector)" => Self::Collector,
                _ if line == 0 => Self::Native,
                // Code that was evaluated from text.
                _ => Self::App,
            };
        }
        match url.split_once(':') {
            Some(("node", _)) => return Self::Node,
            Some(("native", _)) => return Self::Native,
            Some(("kernel", _)) => return Self::Kernel,
            _ => {}
        }
        package_of(url).map_or(Self::App, |name| Self::Package(name.to_owned()))
    }

    /// The name to show: that of the package, `app`, `node`, `native`, `kernel`, or V8's own entry.
    pub fn name(&self) -> &str {
        match self {
            Self::Root => "(root)",
            Self::Idle => "(idle)",
            Self::Program => "(program)",
            Self::Collector => "(garbage collector)",
            Self::Native => "native",
            Self::Kernel => "kernel",
            Self::Node => "node",
            Self::Package(name) => name,
            Self::App => "app",
        }
    }

    /// Whether it is one of V8's own entries, which are no functions.
    pub const fn is_entry(&self) -> bool {
        matches!(self, Self::Root | Self::Idle | Self::Program | Self::Collector)
    }
}

/// The package of the innermost `node_modules`. Stores of pnpm and Yarn have another one around it.
fn package_of(url: &str) -> Option<&str> {
    let is_end = |at: usize| url[at..].starts_with(['/', '\\']);
    let (start, _) = url.rmatch_indices("node_modules").find(|(at, found)| {
        let end = at + found.len();
        is_end(end) && (*at == 0 || is_end(at - 1))
    })?;
    let inside = &url[start + "node_modules/".len()..];
    let mut ends = inside.match_indices(['/', '\\', '?']).map(|(at, _)| at).chain([inside.len()]);
    let end = if inside.starts_with('@') { ends.nth(1) } else { ends.next() };
    Some(&inside[..end.unwrap_or(inside.len())]).filter(|name| !name.is_empty() && !name.starts_with('.'))
}

/// The path that a `file:` URL, or a path, names; anything else as it is.
pub fn path_of(url: &str) -> String {
    match url.strip_prefix("file://").filter(|path| path.starts_with('/')) {
        Some(path) => percent_decode_str(path).decode_utf8_lossy().into_owned(),
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_belongs_to_the_innermost_package_that_its_url_names() {
        for (url, name) in [
            ("file:///srv/shop/node_modules/express/lib/router/index.js", "express"),
            ("file:///srv/shop/node_modules/@koa/router/lib/router.js", "@koa/router"),
            ("/srv/node_modules/a/node_modules/@b/c/index.js", "@b/c"),
            ("file:///srv/node_modules/.pnpm/hono@4.0.0/node_modules/hono/dist/hono.js", "hono"),
            ("webpack-internal:///./node_modules/lodash/isEqual.js", "lodash"),
            ("file:///C:\\shop\\node_modules\\qs\\lib\\parse.js", "qs"),
            ("../node_modules/typescript", "typescript"),
        ] {
            assert_eq!(Owner::of("f", url, 1), Owner::Package(name.to_owned()), "{url}");
        }
    }

    #[test]
    fn what_is_in_no_package_is_the_app_the_platform_or_the_engine() {
        for (function, url, line, owner) in [
            ("f", "file:///srv/shop/server.js", 7, Owner::App),
            ("f", "file:///srv/my_node_modules/x.js", 7, Owner::App),
            ("f", "file:///srv/node_modules/.bin", 7, Owner::App),
            ("f", "file:///srv/node_modules/", 7, Owner::App),
            ("f", "evalmachine.<anonymous>", 1, Owner::App),
            ("f", "", 1, Owner::App),
            ("parse", "", 0, Owner::Native),
            ("readFileSync", "node:fs", 400, Owner::Node),
            ("memcpy", "native:/usr/lib/libc.so.6", 0, Owner::Native),
            ("do_syscall_64", "kernel:[kernel.kallsyms]", 0, Owner::Kernel),
            ("(garbage collector)", "", 0, Owner::Collector),
            ("(idle)", "", 0, Owner::Idle),
            ("(program)", "", 0, Owner::Program),
            ("(root)", "", 0, Owner::Root),
            ("(idle)", "file:///srv/odd.js", 3, Owner::App),
        ] {
            assert_eq!(Owner::of(function, url, line), owner, "{function} {url}");
        }
    }

    #[test]
    fn a_file_url_is_shown_as_its_path() {
        assert_eq!(path_of("file:///a%20b/%C3%BC.js"), "/a b/ü.js");
        for url in ["node:fs", "/a%20b.js", "https://example.org/a.js", "file://host/a.js", ""] {
            assert_eq!(path_of(url), url);
        }
    }
}
