//! One segment of a path: whether it names a thing of many. It must not know what was asked for before.

/// Maximum number of path segments that distinguish classes. Deeper paths share one class.
pub(super) const SEGMENTS_MAX: usize = 6;

/// The segments of a path; none for `/`.
pub(super) fn segments(path: &str) -> impl Iterator<Item = &str> + Clone {
    let path = path.strip_prefix('/').unwrap_or(path);
    path.split('/').filter(move |_| !path.is_empty())
}

/// Numbers, hex digests, UUIDs, long words with digits and anything percent-encoded vary from request to request.
pub(super) fn looks_like_an_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    segment.len() > 40
        || segment.contains('%')
        || (digits > 0
            && (digits == segment.len()
                || (digits >= 2 && segment.len() >= 16)
                || (segment.len() >= 8 && segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-'))
                || ends_with_a_number(segment)))
}

/// `oak-table-0042`.
fn ends_with_a_number(segment: &str) -> bool {
    segment
        .rsplit_once(['-', '_'])
        .is_some_and(|(_, last)| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A segment of a router's template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateSegment<'t> {
    Name(&'t str),
    Parameter,
    /// Anything, of any depth; it ends the pattern.
    Rest,
}

/// The forms of Express, Fastify, Koa and Hono (`:id`, `:id(\d+)`, `*`), of Next (`[id]`, `[...path]`), and `{id}`.
pub(super) fn told(segment: &str) -> TemplateSegment<'_> {
    let is_rest = segment.contains(['*', '(', '?', '+', '|']) && !segment.starts_with(':');
    if is_rest || segment.starts_with("[...") || segment.starts_with("[[...") {
        TemplateSegment::Rest
    } else if segment.starts_with([':', '[', '{']) || segment.contains(':') {
        // `:path*` and `:path+` match more than one segment.
        if segment.ends_with(['*', '+', '?']) { TemplateSegment::Rest } else { TemplateSegment::Parameter }
    } else {
        TemplateSegment::Name(segment)
    }
}

/// Whether the path is one of the template's, up to the first wildcard.
pub(super) fn fits(path: &str, template: &str) -> bool {
    let mut names = segments(path);
    let templates = segments(template).take(SEGMENTS_MAX).map(told).take_while(|told| *told != TemplateSegment::Rest);
    templates.zip(std::iter::from_fn(|| Some(names.next()))).all(|(told, name)| match told {
        TemplateSegment::Name(told) => name == Some(told),
        TemplateSegment::Parameter | TemplateSegment::Rest => name.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_names() {
        for id in [
            "1",
            "0042",
            "3f2a9c1d",
            "3f2a9c1d-7e8b-4f00-9d5e-1a2b3c4d5e6f",
            "oak-table-0042",
            "caf%C3%A9",
            "a2b3c4d5e6f7g8h9",
        ] {
            assert!(looks_like_an_id(id), "{id}");
        }
        for name in ["about", "v1", "oauth2", "sign-in", "deadbeef", "well-known", "2fa", "a-b", ""] {
            assert!(!looks_like_an_id(name), "{name}");
        }
        assert!(looks_like_an_id(&"x".repeat(41)));
    }

    #[test]
    fn paths_fall_into_segments() {
        let of = |path| segments(path).collect::<Vec<_>>();
        assert!(of("/").is_empty() && of("").is_empty());
        assert_eq!(of("/a/b"), ["a", "b"]);
        assert_eq!(of("/a/"), ["a", ""]);
        assert_eq!(of("*"), ["*"]);
    }

    #[test]
    fn templates_of_several_routers_are_understood() {
        for parameter in [":id", ":id(\\d+)", "[id]", "{id}", "v:major"] {
            assert_eq!(told(parameter), TemplateSegment::Parameter, "{parameter}");
        }
        for rest in ["*", "(.*)", "[...path]", "[[...path]]", ":path*", ":path+", ":id?", "*splat", "ab?cd"] {
            assert_eq!(told(rest), TemplateSegment::Rest, "{rest}");
        }
        assert_eq!(told("about"), TemplateSegment::Name("about"));
    }

    #[test]
    fn a_template_is_known_from_its_paths() {
        for (path, template) in [("/", "/"), ("/a/b", "/a/:id"), ("/a/b/c", "/a/*"), ("/a", "/a/*"), ("/x", "*")] {
            assert!(fits(path, template), "{path} {template}");
        }
        for (path, template) in [("/a", "/b"), ("/a", "/a/:id"), ("/a/b", "/:id/c"), ("/", "/:id")] {
            assert!(!fits(path, template), "{path} {template}");
        }
    }
}
