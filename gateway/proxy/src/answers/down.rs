//! The answer of an app in development that has ended: how, and what it wrote last, so that nobody has to look for the terminal.
//!
//! Apps in production never get here: their stacks are nobody's business but the operator's.

use sluice_catalog::errors::Code;
use sluice_message::RequestHead;

use super::Response;
use super::refuse::{self, Pages, Refusal};

/// How the app ended.
#[derive(Clone, Debug)]
pub(crate) struct LastWords {
    /// The exit code or the signal.
    pub(crate) status: String,
    /// The end of what it wrote to stderr.
    pub(crate) stderr_tail: String,
}

/// Asks again until the app answers, and shows that answer.
const SCRIPT: &str = "setInterval(async () => { try { const answer = await fetch(location.href, { method: 'HEAD' }); \
                      if (!answer.headers.has('x-sluice-error')) location.reload(); } catch {} }, 1000)";

const STYLE: &str = ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:3rem auto;padding:0 1rem}\
                     h1{font-size:1.4rem}pre{overflow:auto;padding:1rem;border:1px solid;border-radius:4px;font-size:.875rem}";

/// The answer, where the refusal is about the app's end. Only apps in development have last words.
pub(crate) fn answer(
    last_words: Option<&LastWords>,
    head: &RequestHead,
    refusal: &Refusal,
    request_id: &str,
    pages: &Pages,
) -> Option<Response> {
    let last_words = last_words.filter(|_| matches!(refusal.code, Code::AppDown | Code::WorkerDied))?;
    // In which form the client wants it has been found out there.
    let usual = refuse::answer(refusal, request_id, head, pages);
    let wants_html = usual.head.fields.get("content-type").is_some_and(|value| value.starts_with(b"text/html"));
    let (content_type, body) = if wants_html {
        ("text/html; charset=utf-8", page(last_words))
    } else {
        (
            "text/plain; charset=utf-8",
            format!("The app has ended: {}\n\n{}\n", last_words.status, last_words.stderr_tail),
        )
    };
    let mut response = Response::short(usual.head.status, content_type, body);
    for name in ["Vary", "X-Sluice-Error", "Retry-After"] {
        if let Some(value) = usual.head.fields.get(name) {
            response.head.fields.push(name, value);
        }
    }
    Some(response)
}

fn page(LastWords { status, stderr_tail }: &LastWords) -> String {
    let (status, stderr) = (escaped(status), escaped(stderr_tail));
    let said = if stderr.trim().is_empty() {
        "<p>It wrote nothing to stderr.</p>".to_owned()
    } else {
        format!("<pre>{stderr}</pre>")
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>The app has ended</title><style>{STYLE}</style></head>\
         <body><h1>The app has ended: {status}</h1>{said}<p>It starts again when one of its files changes, and this page \
         follows. <code>sluice dev</code> shows this page; production does not.</p><script>{SCRIPT}</script></body></html>\n"
    )
}

/// Text as HTML has it, without the colours that are for terminals.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            // Escape sequences of colours: `ESC [ 31 m`.
            '\u{1b}' => drop(chars.by_ref().find(char::is_ascii_alphabetic)),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_shows_what_the_app_wrote_and_runs_none_of_it() {
        let stderr_tail = "\u{1b}[31mError: <script>alert(1)</script> & more\u{1b}[39m\n    at render".to_owned();
        let page = page(&LastWords { status: "exit code 1".to_owned(), stderr_tail });
        assert!(
            page.contains("<pre>Error: &lt;script&gt;alert(1)&lt;/script&gt; &amp; more\n    at render</pre>"),
            "{page}"
        );
        assert!(page.contains("exit code 1"));
    }

    #[test]
    fn page_of_an_app_that_wrote_nothing_says_so() {
        let page = page(&LastWords { status: "exit code 0".to_owned(), stderr_tail: String::new() });
        assert!(page.contains("wrote nothing") && !page.contains("<pre>"));
    }
}
