//! Custom error pages (`errors.pages`), which replace the gateway's. They are read together with the config.

use std::collections::BTreeMap;
use std::io::{self, Read as _};

use sluice_catalog::config;
use sluice_message::escaped_html;

use super::body::Words;
use crate::unusable::Unusable;

/// Maximum size of an error page, bytes. It is made for each error, and a crowd of refused clients gets many.
const PAGE_BYTES_MAX: usize = 256 * 1024;

/// The pages by status: `503`, or `5xx` for all statuses without their own.
#[derive(Debug, Default)]
pub(crate) struct Pages(BTreeMap<String, Page>);

/// A page in pieces, with the placeholders between them.
#[derive(Debug)]
struct Page {
    head: Box<str>,
    rest: Vec<(Blank, Box<str>)>,
}

/// Placeholder that the error's values replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blank {
    Status,
    Reason,
    Message,
    Code,
    Request,
}

const BLANKS: [(&str, Blank); 5] = [
    ("{{status}}", Blank::Status),
    ("{{reason}}", Blank::Reason),
    ("{{message}}", Blank::Message),
    ("{{code}}", Blank::Code),
    ("{{request}}", Blank::Request),
];

impl Pages {
    /// # Errors
    /// Fails if a file cannot be read, is too large or is not UTF-8, and names it.
    pub(crate) fn read(settings: &config::Errors) -> Result<Self, Unusable> {
        let pages = settings.pages.iter().map(|(status, file)| {
            let text = read(file).map_err(|source| Unusable::ErrorPage {
                status: status.clone(),
                file: file.clone(),
                source,
            })?;
            Ok((status.clone(), Page::parse(&text)))
        });
        pages.collect::<Result<_, _>>().map(Pages)
    }

    /// The page for this error, if there is one.
    pub(crate) fn page(&self, words: &Words) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let of_class = || self.0.get(&format!("{}xx", words.status / 100));
        Some(self.0.get(&words.status.to_string()).or_else(of_class)?.filled(words))
    }
}

impl Page {
    fn parse(text: &str) -> Self {
        let next = |text: &str| {
            let places = BLANKS.iter().filter_map(|(sign, blank)| Some((text.find(sign)?, sign.len(), *blank)));
            places.min_by_key(|(at, ..)| *at)
        };
        let (mut head, mut rest, mut left) = (text, Vec::new(), text);
        while let Some((at, len, blank)) = next(left) {
            let (before, after) = (&left[..at], &left[at + len..]);
            match rest.last_mut() {
                None => head = before,
                Some((_, text)) => *text = before.into(),
            }
            rest.push((blank, after.into()));
            left = after;
        }
        Page { head: head.into(), rest }
    }

    fn filled(&self, words: &Words) -> String {
        let mut out = self.head.to_string();
        for (blank, text) in &self.rest {
            match blank {
                Blank::Status => out.push_str(&words.status.to_string()),
                Blank::Reason => out.push_str(words.reason()),
                Blank::Message => out.push_str(&escaped_html(words.public)),
                Blank::Code => out.push_str(words.code),
                Blank::Request => out.push_str(&escaped_html(words.request_id)),
            }
            out.push_str(text);
        }
        out
    }
}

fn read(file: &str) -> io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(file)?.take(PAGE_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    if text.len() > PAGE_BYTES_MAX { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Words = Words { status: 503, code: "SLU-X", public: "Busy & late.", detail: "", request_id: "<r1>" };

    fn pages(pages: &[(&str, &str)]) -> Pages {
        Pages(pages.iter().map(|(status, text)| ((*status).to_owned(), Page::parse(text))).collect())
    }

    #[test]
    fn page_of_the_status_goes_before_that_of_its_class() {
        let both = pages(&[("5xx", "class"), ("503", "own")]);
        assert_eq!(both.page(&WORDS).as_deref(), Some("own"));
        assert_eq!(both.page(&Words { status: 502, ..WORDS }).as_deref(), Some("class"));
        assert_eq!(both.page(&Words { status: 404, ..WORDS }), None);
    }

    #[test]
    fn what_an_error_knows_is_filled_in_escaped_and_all_else_stays_as_it_is() {
        let text = "{{request}}|{{status}} {{reason}}|{{message}}|{{unknown}}|{{code}}{{code}}|ü{{";
        let expected = "&lt;r1&gt;|503 Service Unavailable|Busy &amp; late.|{{unknown}}|SLU-XSLU-X|ü{{";
        assert_eq!(pages(&[("503", text)]).page(&WORDS).as_deref(), Some(expected));
    }

    #[test]
    fn file_that_is_missing_too_large_or_no_text_is_refused() {
        let dir = std::env::temp_dir().join(format!("sluice-error-pages-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = dir.join(name);
            std::fs::write(&path, bytes).unwrap();
            read(path.to_str().unwrap()).map(|text| text.len())
        };
        assert_eq!(file("fits", &vec![b'x'; PAGE_BYTES_MAX]).unwrap(), PAGE_BYTES_MAX);
        assert!(file("large", &vec![b'x'; PAGE_BYTES_MAX + 1]).is_err());
        assert!(file("latin", b"caf\xe9").is_err());
        assert!(read(dir.join("missing").to_str().unwrap()).is_err());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
