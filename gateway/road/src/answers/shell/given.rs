//! Sends a shell in place of a 503, and asks each version of the app for its own as soon as it is in force.
//!
//! This must not know why the queue refused a request.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use sluice_catalog::errors::Code;
use sluice_journal::{Event, Level, Step};
use sluice_message::{Method, RequestHead, ResponseHead, Scheme, elements, starts_with};
use tokio::time::{Instant, timeout};

use super::{SHELL_BYTES_MAX, Shell, sent_with};
use crate::answers::{Response, ResponseBody};
use crate::own::Own;
use crate::request::passage::Request;
use crate::road::Road;
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::Failure;
use sluice_wire::respond::answer::{Answer, End, Next};

/// Bytes of a file that are read back at once.
const READ_BYTES: usize = 64 * 1024;
/// Longest time that the app may take for a shell, and pause after a failed attempt.
const PATIENCE: Duration = Duration::from_secs(30);
/// Pause before the next attempt if the queue had no room.
const SOON: Duration = Duration::from_secs(1);

/// Reason why the app gave no shell.
#[derive(Debug, thiserror::Error)]
enum NoShell {
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Late,
    #[error("{}", .0.entry().code)]
    Refused(Code),
    #[error("it never answers")]
    Gone,
    #[error("status {0}, it must be 200 with uncompressed text/html")]
    Unfit(u16),
    #[error("its answer was cut short")]
    CutShort,
    #[error("it has more than {SHELL_BYTES_MAX} bytes")]
    TooLarge,
    #[error("{0}")]
    Unreadable(#[from] io::Error),
}

/// A shell in place of a refusal, where the client is a browser that asks for a page and there is one.
///
/// # Errors
/// The failure as it was, where there is none.
pub(crate) fn instead(road: &Road, request: &mut Request, failure: Failure) -> Result<Response, Failure> {
    let is_meant = matches!(&failure, Failure::Refused(refusal) if is_for_lack_of_room(refusal.code));
    let shell = if is_meant && wants_page(&request.head) { road.shell_for(request.head.path()) } else { None };
    let Some(Shell { fields, body }) = shell else { return Err(failure) };
    request.step = Some(Step::Shell);
    Ok(Response { head: ResponseHead::new(200, fields), body: ResponseBody::Whole(body) })
}

fn is_for_lack_of_room(code: Code) -> bool {
    matches!(code, Code::QueueFull | Code::QueueWaitPredicted | Code::QueueOverBudget | Code::QueueDeadline)
}

/// Whether a browser is about to show the answer. A script that fetches HTML would take a shell for content.
fn wants_page(head: &RequestHead) -> bool {
    let fields = &head.fields;
    let is_html =
        |accept: &[u8]| elements(accept).any(|kind| kind.len() >= 9 && kind[..9].eq_ignore_ascii_case(b"text/html"));
    matches!(head.method, Method::Get | Method::Head)
        && fields.get_all("accept").any(is_html)
        && fields.get("sec-fetch-dest").is_none_or(|dest| [&b"document"[..], b"iframe", b"frame"].contains(&dest))
}

impl Road {
    fn shell_for(&self, path: &str) -> Option<Shell> {
        let (files, given) = (self.settings.shell_files(), self.shells.0.borrow());
        let all = files.0.iter().chain(&given.shells);
        let fitting = all.filter(|(prefix, _)| path.starts_with(prefix.as_str()));
        fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, shell)| shell.clone())
    }

    /// Asks the app for its shells where it has not given them yet: after the start, and when a new version is in force.
    pub fn look_for_shells(&self, now: Instant, version: u64, is_ready: bool) {
        let config = self.config();
        let mut given = self.shells.0.borrow_mut();
        if config.shell.pages.is_empty() {
            given.shells.clear();
            return;
        }
        let is_due = given.again.is_some_and(|again| again <= now);
        let is_asked =
            given.asked.as_ref().is_some_and(|(asked, pages)| *asked == version && *pages == config.shell.pages);
        if !is_ready || (is_asked && !is_due) {
            return;
        }
        given.shells.retain(|prefix, _| config.shell.pages.contains_key(prefix));
        given.asked = Some((version, config.shell.pages.clone()));
        given.again = None;
        let (road, pages) = (self.rc(), config.shell.pages.clone());
        tokio::task::spawn_local(async move {
            for (prefix, target) in pages {
                let asked = timeout(PATIENCE, ask(&road, &target)).await;
                match asked.unwrap_or(Err(NoShell::Late)) {
                    Ok(shell) => _ = road.shells.0.borrow_mut().shells.insert(prefix, shell),
                    Err(why) => road.failed(&target, &why),
                }
            }
        });
    }

    /// Reports a failed attempt and schedules the next. The earlier shell stays in use.
    fn failed(&self, target: &str, why: &NoShell) {
        let is_full = matches!(why, NoShell::Refused(code) if is_for_lack_of_room(*code));
        let pause = if is_full { SOON } else { PATIENCE };
        self.shells.0.borrow_mut().again = Some(Instant::now() + pause);
        if is_full {
            return;
        }
        let text = format!(
            "shell.pages: the app sent no shell for {target}: {why}. Sluice tries again in {} s",
            pause.as_secs()
        );
        self.observer.emit(Event::Note { level: Level::Warn, text: &text });
    }
}

/// Asks the app for a shell, without any client's data.
async fn ask(road: &Rc<Road>, target: &str) -> Result<Shell, NoShell> {
    let scheme = Scheme::of(road.config().is_tls());
    let origin = Origin::own(&road.lobby.trust(), road.lobby.port(), scheme);
    let head = RequestHead {
        method: Method::Get,
        scheme,
        authority: format!("localhost:{}", road.lobby.port()),
        path_and_query: target.to_owned(),
        fields: [("Accept", &b"text/html"[..]), ("User-Agent", b"sluice")].into_iter().collect(),
    };
    let mut request = Request::new(origin.peer);
    request.head = head.clone();
    let mut exchange = Exchange::Own(Box::new(Own::for_itself(head)));
    let response = road.workers().fetch(&mut exchange, &origin, &mut request, Body::default()).await;
    let response = response.map_err(|failure| match failure {
        Failure::Refused(refusal) => NoShell::Refused(refusal.code),
        Failure::Gone(_) => NoShell::Gone,
    })?;
    let fields = &response.head.fields;
    let is_html =
        fields.get("content-type").is_some_and(|kind| starts_with(&String::from_utf8_lossy(kind), "text/html"));
    if response.head.status != 200 || !is_html || fields.contains("content-encoding") {
        return Err(NoShell::Unfit(response.head.status));
    }
    let ResponseBody::Fill(answer, _) = response.body else { return Err(NoShell::CutShort) };
    Ok(Shell { fields: sent_with(fields), body: whole(&answer).await? })
}

async fn whole(answer: &Answer) -> Result<Bytes, NoShell> {
    let mut body = Vec::new();
    loop {
        let data = match answer.next() {
            Some(Next::Data(data)) => data,
            Some(Next::Spilled { .. }) => answer.read_back(READ_BYTES).await?,
            Some(Next::End(End::Complete)) => return Ok(body.into()),
            Some(Next::End(_)) => return Err(NoShell::CutShort),
            Some(Next::Informational(_) | Next::Head(_)) => continue,
            None => {
                answer.changed.wait().await;
                continue;
            }
        };
        body.extend_from_slice(&data);
        if body.len() > SHELL_BYTES_MAX {
            return Err(NoShell::TooLarge);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(fields: &[(&str, &[u8])]) -> RequestHead {
        RequestHead { method: Method::Get, fields: fields.iter().copied().collect(), ..RequestHead::default() }
    }

    #[test]
    fn only_a_browser_that_asks_for_a_page_wants_a_shell() {
        let chrome = b"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert!(wants_page(&head(&[("accept", chrome)])));
        assert!(wants_page(&head(&[("accept", chrome), ("sec-fetch-dest", b"document")])));
        assert!(!wants_page(&head(&[("accept", chrome), ("sec-fetch-dest", b"empty")])), "fetch()");
        assert!(!wants_page(&head(&[("accept", b"*/*")])));
        assert!(!wants_page(&head(&[("accept", b"application/json")])));
        assert!(!wants_page(&head(&[])));
        assert!(!wants_page(&RequestHead { method: Method::Post, ..head(&[("accept", chrome)]) }));
    }
}
