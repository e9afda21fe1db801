//! The body of an error answer, in the form that its client prefers. Browsers get a page, programs that ask for JSON a problem (RFC 9457),
//! all others plain text. Each says the same, and nothing of the inside.

use std::borrow::Cow;

use serde::Serialize;
use sluice_message::{MediaPreference, RequestHead, escaped_html, liked, reason_of};

use super::Refusal;
use super::pages::Pages;

/// Form that the client prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Html,
    Json,
    Plain,
}

const TYPES: [&str; 4] = ["text/html", "application/json", "application/problem+json", "text/plain"];

impl Form {
    /// Form that the request prefers. Only clients that name its type get a page or a problem: people too read the output of programs that
    /// accept any type.
    fn of(head: &RequestHead) -> Self {
        let [html, json, problem, plain] = liked(head.fields.get_all("accept"), TYPES);
        let named = |liked: MediaPreference| if liked.is_named { liked.weight } else { 0 };
        let (html, json) = (named(html), named(json).max(named(problem)));
        match (html.max(json), plain.weight) {
            (best, plain) if best == 0 || best < plain => Self::Plain,
            _ if html >= json => Self::Html,
            _ => Self::Json,
        }
    }
}

/// Content of an error answer.
pub(crate) struct Words<'a> {
    pub(crate) status: u16,
    pub(crate) code: &'a str,
    /// Public description of the error.
    pub(crate) public: &'a str,
    /// Fault in this case; empty if it is not known.
    pub(crate) detail: &'a str,
    pub(crate) request_id: &'a str,
}

impl<'a> Words<'a> {
    pub(crate) fn of(refusal: &'a Refusal, request_id: &'a str) -> Self {
        let entry = refusal.code.entry();
        Words { status: entry.status, code: entry.code, public: entry.public(), detail: refusal.detail, request_id }
    }

    pub(crate) fn reason(&self) -> &'static str {
        reason_of(self.status)
    }
}

/// Media type and body for an error with this status. A problem has the answer's own status. People are told the error's, which balancers
/// put back in place of the one that they asked for.
pub(crate) fn of(words: &Words, status: u16, head: &RequestHead, pages: &Pages) -> (&'static str, String) {
    match Form::of(head) {
        Form::Html => ("text/html; charset=utf-8", pages.page(words).unwrap_or_else(|| html(words))),
        Form::Json => match json(&Words { status, ..*words }) {
            Some(json) => ("application/problem+json", json),
            None => plain(words),
        },
        Form::Plain => plain(words),
    }
}

fn plain(words: &Words) -> (&'static str, String) {
    let Words { status, code, public, detail, request_id } = words;
    let case = if detail.is_empty() { "" } else { "\nIn this case: " };
    let reason = words.reason();
    let text = format!("{status} {reason}\n{public}{case}{detail}\n\ncode: {code}\nrequest: {request_id}\n");
    ("text/plain; charset=utf-8", text)
}

/// A problem. Without a `type` it is one of its status, which is its title then (RFC 9457 §4.2.1).
#[derive(Serialize)]
struct Problem<'a> {
    title: &'a str,
    status: u16,
    detail: Cow<'a, str>,
    code: &'a str,
    request_id: &'a str,
}

fn json(words: &Words) -> Option<String> {
    let Words { public, detail, .. } = *words;
    problem(words, if detail.is_empty() { public.into() } else { format!("{public} In this case: {detail}.").into() })
}

/// A problem with this detail.
pub(crate) fn problem(words: &Words, detail: Cow<str>) -> Option<String> {
    let Words { status, code, request_id, .. } = *words;
    serde_json::to_string(&Problem { title: words.reason(), status, detail, code, request_id }).ok()
}

/// HTML page of an error. It is self-contained: nothing else may be available where it is shown.
fn html(words: &Words) -> String {
    let Words { status, code, public, detail, request_id } = *words;
    let (reason, public, request_id) = (words.reason(), escaped_html(public), escaped_html(request_id));
    let case =
        if detail.is_empty() { String::new() } else { format!("<p>In this case: {}.</p>\n", escaped_html(detail)) };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title>{status} {reason}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <main>\n<h1><b>{status}</b> {reason}</h1>\n<p>{public}</p>\n{case}\
         <footer>Code <code>{code}</code><br>Request <code>{request_id}</code></footer>\n</main>\n</body>\n</html>\n"
    )
}

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2024;--soft:#60646c;--paper:#fcfcfd}\
@media(prefers-color-scheme:dark){:root{--ink:#edeef0;--soft:#b0b4ba;--paper:#111113}}\
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--paper);color:var(--ink);\
font:1rem/1.5 system-ui,sans-serif}main{max-width:34rem;padding:1.5rem}\
h1{margin:0 0 .75rem;font-size:1.5rem;font-weight:500;line-height:1.25}\
h1 b{display:block;font-size:3rem;font-weight:700}footer{margin-top:2rem;color:var(--soft);font-size:.875rem}\
code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}";

#[cfg(test)]
mod tests {
    use sluice_catalog::errors::Code;

    use super::*;

    fn asking(accept: &str) -> RequestHead {
        let mut head = RequestHead::default();
        if !accept.is_empty() {
            head.fields.push("Accept", accept);
        }
        head
    }

    #[test]
    fn form_is_the_one_that_the_client_prefers_and_plain_text_unless_it_names_another() {
        let cases = [
            ("", Form::Plain),
            ("*/*", Form::Plain),
            ("text/*", Form::Plain),
            ("image/png", Form::Plain),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", Form::Html),
            ("text/html", Form::Html),
            ("text/html;q=0.5, application/json", Form::Json),
            ("text/html, application/json", Form::Html),
            ("application/json, text/plain, */*", Form::Json),
            ("application/problem+json;q=0.9, */*;q=0.1", Form::Json),
            ("text/plain, text/html;q=0.9", Form::Plain),
            ("text/html;q=0.5, */*", Form::Plain),
            ("text/html;q=0, application/json;q=0", Form::Plain),
        ];
        for (accept, form) in cases {
            assert_eq!(Form::of(&asking(accept)), form, "{accept}");
        }
    }

    #[test]
    fn each_form_says_status_code_detail_and_request_and_escapes_what_came_from_outside() {
        let refusal = Refusal { detail: "a \"b\" <c>", ..Refusal::of(Code::HostInvalid) };
        let words = Words::of(&refusal, "<id>&'");
        let body = |accept| of(&words, 400, &asking(accept), &Pages::default());
        let (kind, text) = body("");
        assert_eq!(kind, "text/plain; charset=utf-8");
        assert!(text.starts_with("400 Bad Request\n") && text.ends_with("code: SLU-HOST-INVALID\nrequest: <id>&'\n"));
        let (kind, page) = body("text/html");
        assert_eq!(kind, "text/html; charset=utf-8");
        for words in
            ["<title>400 Bad Request</title>", "a &quot;b&quot; &lt;c&gt;", "<code>&lt;id&gt;&amp;&#39;</code>"]
        {
            assert!(page.contains(words), "{page}");
        }
        assert!(!page.contains("<id>") && !page.contains("http:") && !page.contains("src="), "{page}");
        assert!(page.len() < 2_048, "{}", page.len());
        let early = of(&words, 425, &asking("application/json"), &Pages::default()).1;
        assert!(early.contains(r#""title":"Too Early","status":425"#), "{early}");
        let (kind, problem) = body("application/json");
        assert_eq!(kind, "application/problem+json");
        let problem: serde_json::Value = serde_json::from_str(&problem).unwrap();
        assert_eq!(
            problem,
            serde_json::json!({
                "title": "Bad Request",
                "status": 400,
                "detail": "The Host header is missing, repeated or invalid. In this case: a \"b\" <c>.",
                "code": "SLU-HOST-INVALID",
                "request_id": "<id>&'",
            })
        );
    }
}
