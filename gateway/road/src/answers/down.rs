//! The answer of an app in development that has ended: its exit status and last output, so that nobody has to look for the terminal.
//!
//! Apps in production never get here: their stacks are nobody's business but the operator's.

use sluice_catalog::errors::Code;
use sluice_message::{RequestHead, escaped_html};

use super::Response;
use super::refuse::{self, Pages};
use sluice_wire::receive::failure::Refusal;

/// Exit status and last output of an app.
#[derive(Clone, Debug)]
pub struct LastWords {
    /// The exit code or the signal.
    pub status: String,
    /// The end of what it wrote to stderr.
    pub stderr_tail: String,
}

/// Script that retries until the app answers, and then shows that answer.
const SCRIPT: &str = "setInterval(async () => { try { const answer = await fetch(location.href, { method: 'HEAD' }); \
                      if (!answer.headers.has('x-sluice-error')) location.reload(); } catch {} }, 1000)";

const STYLE: &str = ":root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:3rem auto;padding:0 1rem}\
                     h1{font-size:1.4rem}pre{overflow:auto;padding:1rem;border:1px solid;border-radius:4px;font-size:.875rem}";

/// Answer for a refusal because the app has ended. Only apps in development have last words.
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
    let wants = |form: &[u8]| usual.head.fields.get("content-type").is_some_and(|value| value.starts_with(form));
    let text = format!("The app has exited: {}\n\n{}\n", last_words.status, without_colours(&last_words.stderr_tail));
    let (content_type, body) = if wants(b"text/html") {
        ("text/html; charset=utf-8", page(last_words))
    } else if wants(b"application/problem+json") {
        ("application/problem+json", refuse::problem(refusal, request_id, &text)?)
    } else {
        ("text/plain; charset=utf-8", text)
    };
    let mut response = Response::short(usual.head.status, content_type, body);
    for name in ["Vary", "X-Sluice-Error", "X-Sluice-Retry", "Retry-After"] {
        if let Some(value) = usual.head.fields.get(name) {
            response.head.fields.push(name, value);
        }
    }
    Some(response)
}

fn page(LastWords { status, stderr_tail }: &LastWords) -> String {
    let (status, stderr) = (escaped_html(status), without_colours(stderr_tail));
    let stderr = escaped_html(&stderr);
    let said = if stderr.trim().is_empty() {
        "<p>It wrote nothing to stderr.</p>".to_owned()
    } else {
        format!("<pre>{stderr}</pre>")
    };
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>The app has \
         exited</title><style>{STYLE}</style></head>\
         <body><h1>The app has exited: {status}</h1>{said}<p>It restarts when one of its files changes, and this \
         page reloads. <code>sluice dev</code> shows this page; production does \
         not.</p><script>{SCRIPT}</script></body></html>\n"
    )
}

/// Text without the colour codes of terminals.
fn without_colours(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            // Escape sequences of colours: `ESC [ 31 m`.
            '\u{1b}' => drop(chars.by_ref().find(char::is_ascii_alphabetic)),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::ResponseBody;
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
    fn programs_that_ask_for_json_get_a_problem_with_what_the_app_wrote() {
        let last_words =
            LastWords { status: "exit code 1".to_owned(), stderr_tail: "\u{1b}[31mError: no\u{1b}[39m".to_owned() };
        let answered = |accept: &str| {
            let mut head = RequestHead::default();
            head.fields.push("Accept", accept);
            let refusal = Refusal::of(Code::AppDown);
            let response = answer(Some(&last_words), &head, &refusal, "id-1", &Pages::default()).unwrap();
            let content_type = response.head.fields.get("content-type").unwrap().to_vec();
            (String::from_utf8(content_type).unwrap(), {
                let ResponseBody::Whole(body) = &response.body else { panic!("a body") };
                String::from_utf8(body.to_vec()).unwrap()
            })
        };
        let (content_type, body) = answered("application/json");
        assert_eq!(content_type, "application/problem+json");
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(problem["detail"], "The app has exited: exit code 1\n\nError: no\n");
        assert_eq!((&problem["code"], &problem["request_id"]), (&"SLU-APP-DOWN".into(), &"id-1".into()));
        let (content_type, body) = answered("*/*");
        assert_eq!(content_type, "text/plain; charset=utf-8");
        assert_eq!(body, "The app has exited: exit code 1\n\nError: no\n");
    }

    #[test]
    fn page_of_an_app_that_wrote_nothing_says_so() {
        let page = page(&LastWords { status: "exit code 0".to_owned(), stderr_tail: String::new() });
        assert!(page.contains("wrote nothing") && !page.contains("<pre>"));
    }
}
