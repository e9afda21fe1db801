//! Composes a page: the answer that many get, with the answers in it that are this visitor's own. What is kept and shared is always the
//! page as the app wrote it; each client has it composed for itself.
//!
//! The step is between the source of an answer and its sender ([`super::respond`]). It must not know the source.

mod include;
pub(crate) mod part;
pub mod rules;
mod target;
mod weave;

use std::cell::Cell;
use std::rc::Rc;

use sluice_journal::{IncludeEnd, Level};
use sluice_message::{Method, RequestHead, starts_with};

use crate::answers::{Response, ResponseBody};
use crate::own::Own;
use crate::request::passage::Request;
use crate::road::Road;
pub(crate) use include::Ask;
use include::Parent;
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::failure::Failure;
use sluice_wire::respond::encode::Size;
use weave::{Source, Weaving};

/// Removes fields that would make the app answer with a part of a page, or with none, if the config names its pages as composed.
pub(crate) fn prepare(road: &Road, request: &mut Request) {
    if road.transforms.composer.names(&request.head) {
        rules::drop_conditions(&mut request.head);
    }
}

/// Answer, or in its place the page with its includes, which `ask` requests.
pub(crate) fn compose(
    exchange: &Exchange<'_>,
    origin: &Origin,
    road: &Rc<Road>,
    request: &mut Request,
    answered: Result<Response, Failure>,
    ask: Ask,
) -> Result<Response, Failure> {
    let mut response = answered?;
    if exchange.is_own() || !(road.transforms.composer.is_on() || road.pages.cache.is_on()) {
        return Ok(response);
    }
    let is_composed = road.transforms.composer.takes(&request.head, &response.head);
    rules::hide(&mut response.head);
    if !is_composed {
        return Ok(response);
    }
    if rules::is_encoded(&response.head) {
        tell_encoded(road, request);
        return Ok(response);
    }
    let Some(source) = Source::of(&response.body) else { return Ok(response) };
    rules::become_composed(&mut response.head);
    let output = road.new_body();
    if request.head.method == Method::Head {
        output.complete(Vec::new());
        // The worker's answer has no body, and is read to its end all the same.
        if !matches!(response.body, ResponseBody::Fill(..)) {
            response.body = ResponseBody::Fill(output, Size::Untold);
        } else if let ResponseBody::Fill(_, size) = &mut response.body {
            *size = Size::Untold;
        }
        return Ok(response);
    }
    response.body = ResponseBody::Fill(Rc::clone(&output), Size::Unknown);
    let (page, depth) = Own::of(exchange)
        .and_then(Own::wanted)
        .map_or_else(Default::default, |wanted| (Rc::clone(&wanted.page), wanted.depth));
    let tally = Rc::default();
    request.includes = Some(Rc::clone(&tally));
    let parent = Parent {
        road: Rc::clone(road),
        origin: origin.clone(),
        ask,
        head: for_includes(&request.head),
        id: Rc::clone(&request.id),
        page,
        depth,
        is_logged_in: request.is_logged_in,
        arm: request.visit.arm,
        tally,
        asked: Cell::new(0),
    };
    tokio::task::spawn_local(Weaving::new(parent, source, &output).run());
    Ok(response)
}

/// Request head for includes: it says who asks and how, without what the client asks for.
fn for_includes(head: &RequestHead) -> RequestHead {
    let mut head = RequestHead { method: Method::Get, ..head.clone() };
    rules::drop_conditions(&mut head);
    head.fields.retain(|name, _| {
        let is_of_body = starts_with(name, "content-") || name.eq_ignore_ascii_case("transfer-encoding");
        !(is_of_body || name.eq_ignore_ascii_case("expect") || name.eq_ignore_ascii_case("x-request-id"))
    });
    head
}

fn tell_encoded(road: &Road, request: &Request) {
    road.transforms.composer.count(IncludeEnd::Failed, 1);
    if road.transforms.composer.may_tell() {
        let text = format!(
            "the page {} cannot be composed, because the app compressed it without being asked to. It was sent \
             without its includes. Let the app compress only for requests with Accept-Encoding, and set \
            compression.enabled",
            request.head.path()
        );
        road.observer.emit(sluice_journal::Event::Note { level: Level::Warn, text: &text });
    }
}
