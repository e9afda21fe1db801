//! Key of a page: its URL, without what must not distinguish two pages.

use sluice_message::{RequestHead, starts_with};

/// A longer one is not kept: it could only be meant to fill the memory.
pub const MAX_KEY_BYTES: usize = 4096;
/// Maximum size of a remembered prefix, bytes.
const PREFIX_BYTES_MAX: usize = 256;

/// Parts of a query that count.
#[derive(Clone, Debug, Default)]
pub struct KeyRules {
    /// Names of ignored parameters; a name that ends in `*` is a prefix.
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

/// Address at which a page was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site<'a> {
    /// True if the client uses HTTPS.
    pub is_https: bool,
    /// `X-Forwarded-Host` of a trusted proxy.
    pub forwarded_host: Option<&'a [u8]>,
}

/// Builds the key: `https://host/path?a=1&b=2`. Parameters are sorted by name where all names are plain; those of one name keep
/// their order, which apps can see. Behind a proxy that names another host than it asks for, the key has the proxy's host, a space,
/// and the host that it asks for. An app may write either into its page. None if the key is too long, or the proxy's word is no
/// host.
pub fn key_of(head: &RequestHead, site: Site<'_>, rules: &KeyRules) -> Option<String> {
    if head.authority.len() + head.path_and_query.len() > MAX_KEY_BYTES {
        return None;
    }
    let forwarded = match site.forwarded_host {
        Some(host) => Some(host_of(host)?).filter(|host| *host != head.authority),
        None => None,
    };
    let mut key = String::with_capacity(head.authority.len() + head.path_and_query.len() + 9);
    key.push_str(if site.is_https { "https://" } else { "http://" });
    key.push_str(forwarded.as_deref().unwrap_or(&head.authority));
    rules.push_target(&mut key, &head.path_and_query);
    if forwarded.is_some() {
        key.push(' ');
        key.push_str(&head.authority);
    }
    Some(key)
}

/// The target that a render for many asks for: without ignored parameters, which the app could write into its
/// page.
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

/// A host, perhaps with its port, in lower case.
fn host_of(text: &[u8]) -> Option<String> {
    let is_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(byte);
    let is_one = (1..=255).contains(&text.len()) && text.iter().all(is_host);
    is_one.then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
}

impl KeyRules {
    fn push_target(&self, key: &mut String, target: &str) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        key.push_str(path);
        let mut params: Vec<&str> = counted(query, self).collect();
        if params.iter().all(|param| is_plain(name_of(param))) {
            params.sort_by_key(|param| name_of(param));
        }
        append_query(key, params.into_iter());
    }

    /// The URL of a page as keys begin, from a URL or, for all hosts, a path that somebody has written.
    pub fn url(&self, text: &str) -> String {
        let text = text.split(['#', ' ']).next().unwrap_or_default();
        let (site, target) = split(text);
        let mut url = site.to_ascii_lowercase();
        if !is_path(target) {
            url.push('/');
        }
        self.push_target(&mut url, target);
        url
    }
}

/// The beginning of URLs, or of paths on all hosts, from what somebody has written.
pub fn prefix_of(text: &str) -> String {
    let (site, target) = split(text.split(['#', ' ']).next().unwrap_or_default());
    format!("{}{target}", site.to_ascii_lowercase())
}

/// Scheme and host, and what follows. Either may be empty.
fn split(url: &str) -> (&str, &str) {
    let from = url.find("://").map_or(0, |at| at + 3);
    let at = url[from..].find(['/', '?']).map_or(url.len(), |at| from + at);
    if from == 0 { ("", url) } else { url.split_at(at) }
}

/// Whether the key is that of this page, by [`KeyRules::url`].
pub fn is_page(key: &str, url: &str) -> bool {
    let key = if is_path(url) { split(key).1 } else { key };
    key.strip_prefix(url).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// All URLs of which [`is_page`] says that the key is theirs: it, and its path on all hosts, with and without the host that a proxy asks for.
pub fn names_of(key: &str) -> [&str; 4] {
    let page = key.split(' ').next().unwrap_or_default();
    let path = |of: &'_ str| site_of(of).len();
    [key, page, &key[path(key)..], &page[path(page)..]]
}

/// A prefix that is short enough to be remembered: a longer one is cut, so that it means more.
pub fn coarse(prefix: &str) -> &str {
    let fits = |at: &usize| prefix.is_char_boundary(*at);
    &prefix[..(0..=PREFIX_BYTES_MAX.min(prefix.len())).rev().find(fits).unwrap_or(0)]
}

/// Whether the key begins so, by [`prefix_of`].
#[must_use]
pub fn begins(key: &str, prefix: &str) -> bool {
    if is_path(prefix) { split(key).1.starts_with(prefix) } else { key.starts_with(prefix) }
}

/// Whether a URL or a prefix is meant on all hosts.
pub fn is_path(url: &str) -> bool {
    url.starts_with('/')
}

/// Scheme and host of a key.
pub fn site_of(key: &str) -> &str {
    split(key).0
}

/// Whether an app could write what this field says into its page although it distinguishes no two pages. A render for many is
/// asked for without such fields.
pub fn is_reflected(name: &str) -> bool {
    const REFLECTED: [&str; 46] = [
        // The gateway writes one of its own.
        "forwarded",
        // The scheme, as proxies say it to apps.
        "front-end-https",
        "x-scheme",
        "x-url-scheme",
        "x-original-scheme",
        "x-original-proto",
        "x-forwarded-scheme",
        "x-forwarded-protocol",
        "x-forwarded-ssl",
        "x-arr-ssl",
        "x-ssl-enabled",
        "cloudfront-forwarded-proto",
        "cf-visitor",
        // The host.
        "x-host",
        "x-http-host-override",
        "x-original-host",
        "x-envoy-original-host",
        "x-backend-host",
        "x-forwarded-server",
        "x-forwarded-port",
        "x-proxy-url",
        "proxy-host",
        // The path.
        "x-original-url",
        "x-original-uri",
        "x-envoy-original-path",
        "x-rewrite-url",
        "x-replaced-path",
        "x-script-name",
        "x-base-url",
        "base-url",
        "x-http-destinationurl",
        "x-http-path-override",
        "x-forwarded-prefix",
        "x-forwarded-path",
        "x-forwarded-uri",
        // The method.
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-original-method",
        "x-forwarded-method",
        // How Next.js and Nuxt are told by what is around them what to render.
        "x-matched-path",
        "x-now-route-matches",
        "x-prerender-revalidate-if-generated",
        "x-prerender-revalidate",
        "x-nuxt-error",
        "surrogate-capability",
    ];
    /// Headers that frameworks and the platforms around them send to each other, and no client sends.
    const INTERNAL: [&str; 4] = ["x-middleware-", "x-invoke-", "x-react-router-", "x-astro-"];
    REFLECTED.iter().any(|known| name.eq_ignore_ascii_case(known))
        || INTERNAL.iter().any(|prefix| starts_with(name, prefix))
}

/// Whether frameworks ask for another form of a page by this field, some without a word of it in `Vary`.
pub fn is_switch(name: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        3 => is("rsc"),
        6 => is("x-pjax"),
        7 => is("x-barba"),
        9 => is("x-inertia"),
        10 => is("hx-request") || is("x-livewire"),
        11 => is("turbo-frame") || is("x-up-target"),
        13 => is("x-nextjs-data") || is("x-nuxt-no-ssr"),
        16 => is("x-requested-with") || is("x-alpine-request") || is("datastar-request"),
        20 => is("next-router-prefetch"),
        22 => is("next-router-state-tree"),
        28 => is("next-router-segment-prefetch"),
        _ => false,
    }
}
