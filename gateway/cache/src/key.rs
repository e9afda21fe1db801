//! Under which name a page is kept: its URL, without what must not tell two pages apart.

use sluice_message::{RequestHead, starts_with};

/// A longer one is not kept: it could only be meant to fill the memory.
pub const MAX_KEY_BYTES: usize = 4096;

/// What of a query counts.
#[derive(Clone, Debug, Default)]
pub struct KeyRules {
    /// Names of parameters that count for nothing; one that ends in `*` stands for all that begin so.
    pub ignored_params: Vec<String>,
}

impl KeyRules {
    /// One with a `;` counts: some parsers take what follows for a parameter of its own.
    fn ignores(&self, param: &str) -> bool {
        let name = name_of(param);
        !param.contains(';')
            && self.ignored_params.iter().any(|ignored| match ignored.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == ignored,
            })
    }
}

fn name_of(param: &str) -> &str {
    param.split_once('=').map_or(param, |(name, _)| name)
}

/// Whether parsers agree on what this name is: escapes and brackets make one parameter of several names.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.~".contains(&byte))
}

/// The key: `https://host/path?a=1&b=2`. Parameters are sorted by name where all names are plain; those of one name keep their
/// order, which apps can see. None where it is too long.
#[must_use]
pub fn key_of(head: &RequestHead, is_https: bool, rules: &KeyRules) -> Option<String> {
    let (path, query) = head.path_and_query.split_once('?').unwrap_or((&head.path_and_query, ""));
    if head.authority.len() + head.path_and_query.len() > MAX_KEY_BYTES {
        return None;
    }
    let mut key = String::with_capacity(head.authority.len() + head.path_and_query.len() + 9);
    key.push_str(if is_https { "https://" } else { "http://" });
    key.push_str(&head.authority);
    key.push_str(path);
    if query.is_empty() {
        return Some(key);
    }
    let mut params: Vec<&str> = counted(query, rules).collect();
    if params.iter().all(|param| is_plain(name_of(param))) {
        params.sort_by_key(|param| name_of(param));
    }
    append_query(&mut key, params.into_iter());
    Some(key)
}

/// The target that a render for many asks for: without the parameters that count for nothing, which the app could write into its
/// page.
#[must_use]
pub fn target_for_all(target: &str, rules: &KeyRules) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    if counted(query, rules).count() == query.split('&').count() {
        return target.to_owned();
    }
    let mut asked = path.to_owned();
    append_query(&mut asked, counted(query, rules));
    asked
}

fn counted<'q>(query: &'q str, rules: &KeyRules) -> impl Iterator<Item = &'q str> {
    query.split('&').filter(|param| !param.is_empty() && !rules.ignores(param))
}

fn append_query<'q>(url: &mut String, params: impl Iterator<Item = &'q str>) {
    for (at, param) in params.enumerate() {
        url.push(if at == 0 { '?' } else { '&' });
        url.push_str(param);
    }
}

/// Whether an app could write what this field says into its page although no two pages are told apart by it: a render for many is
/// asked for without such fields.
#[must_use]
pub fn is_reflected(name: &str) -> bool {
    const REFLECTED: [&str; 20] = [
        "x-original-url",
        "x-original-uri",
        "x-original-host",
        "x-envoy-original-path",
        "x-rewrite-url",
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-host",
        "x-http-host-override",
        "x-forwarded-server",
        "x-forwarded-prefix",
        "x-forwarded-scheme",
        "x-forwarded-port",
        "x-forwarded-path",
        "x-forwarded-uri",
        "x-proxy-url",
        // How Next.js is told by a platform around it which page to render.
        "x-matched-path",
        "x-now-route-matches",
        "x-prerender-revalidate",
    ];
    REFLECTED.iter().any(|known| name.eq_ignore_ascii_case(known))
        || ["x-middleware-", "x-invoke-"].iter().any(|prefix| starts_with(name, prefix))
}

/// Whether frameworks ask for another form of a page by this field, some without a word of it in `Vary`.
#[must_use]
pub fn is_switch(name: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        3 => is("rsc"),
        6 => is("x-pjax"),
        9 => is("x-inertia"),
        10 => is("hx-request"),
        11 => is("turbo-frame") || is("x-up-target"),
        13 => is("x-nextjs-data"),
        16 => is("x-requested-with"),
        20 => is("next-router-prefetch"),
        22 => is("next-router-state-tree"),
        28 => is("next-router-segment-prefetch"),
        _ => false,
    }
}
