//! The main road: a request's way from its first byte to its log line, one line a step. Each step is a call into the module of its name.

pub(crate) mod id;
pub mod passage;
pub mod streams;
pub mod ticket;

use std::fmt::Display;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::rc::Rc;

use crate::answers::shell::given;
use crate::answers::{challenge, edge, files, redirect, vitals};
use crate::cache::look_up;
use crate::other_hosts;
use crate::own::Own;
use crate::respond::compose::{self, rules};
use crate::respond::{SendOutcome, respond};
use crate::road::Road;
use crate::route::{Asker, Route, limit_rate, log_in, route};
use passage::Request;
use sluice_catalog::errors::{Code, Retry};
use sluice_journal::{Event, Level};
use sluice_message::Method;
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::handles::Full;
use sluice_wire::front::lobby::Lobby;
use sluice_wire::front::origin::Origin;
use sluice_wire::front::service::Service;
use sluice_wire::receive::body::Body;
use sluice_wire::receive::failure::{Failure, Refusal};
use tokio::time::Instant;

/// One request, from its first byte to the last byte of its answer.
pub async fn serve_request(exchange: &mut Exchange<'_>, origin: &Origin, road: &Rc<Road>) -> SendOutcome {
    let (asker, mut request) = match Own::of(exchange).and_then(Own::wanted) {
        Some(wanted) => (Asker::Page, Request::of_include(origin.peer, wanted)),
        None => (if exchange.is_own() { Asker::Gateway } else { Asker::Client }, Request::new(origin.peer)),
    };
    let mut waiting = None;
    let answered = async {
        let asked = exchange.head().await.inspect_err(|_| {
            // RFC 9110 §9.3.2: no answer to HEAD has a body, so neither has its error.
            if exchange.begins_with_head() {
                request.head.method = Method::Head;
            }
        })?;
        request.take_head(asked, origin, road);
        if let Some(response) = challenge::answer(road, &request.head).await {
            return Ok(response);
        }
        compose::prepare(road, &mut request);
        let route = route(road, origin, asker, &mut request)?;
        limit_rate(road, &route, asker, &mut request).await?;
        log_in(road, &route, &mut request).await?;
        let found = match route {
            Route::Ping => Some(edge::ping()),
            Route::Ready => Some(edge::ready(&road.workers().readiness())),
            Route::Vitals => Some(vitals::take(exchange, road, &mut request).await?),
            Route::Redirect => Some(redirect::to_https(&request.head, road.lobby.https_port())?),
            Route::File(path) => files::find(path, &request.head).await,
            Route::Workers | Route::Own => None,
        };
        let Some(response) = found else {
            let body = exchange.body(road.config().server.body_bytes_max).await?;
            request.bytes_in = body.bytes();
            if let Some(found) = look_up::answer(exchange, origin, road, &mut request).await? {
                waiting = found.waiting;
                return Ok(found.response);
            }
            let mut response = other_hosts::ask(exchange, origin, road, &mut request, body).await?;
            if road.transforms.composer.is_unusable(&request.head, &response.head) {
                rules::drop_conditions(&mut request.head);
                response = other_hosts::ask(exchange, origin, road, &mut request, Body::default()).await?;
            }
            look_up::note(road, origin, &request, &mut response).await;
            return Ok(response);
        };
        Ok(response)
    };
    let answered = answered.await.or_else(|failure| match asker {
        Asker::Client => given::instead(road, &mut request, failure),
        // A shell is a page, and no part of one.
        Asker::Page | Asker::Gateway => Err(failure),
    });
    request.times.received.get_or_insert_with(Instant::now);
    let answered = compose::compose(exchange, origin, road, &mut request, answered, ask_itself);
    let sent = respond(exchange, road, &request, origin.is_trusted, answered).await;
    if let Some(waiting) = waiting {
        request.settle(&waiting);
    }
    if !exchange.is_own() {
        road.workers().record(Instant::now(), request, &sent);
    }
    sent
}

/// A request of the gateway's own, from its beginning to its end.
fn ask_itself(own: Own, origin: Origin, road: Rc<Road>) -> Pin<Box<dyn Future<Output = SendOutcome>>> {
    Box::pin(async move { serve_request(&mut Exchange::Own(Box::new(own)), &origin, &road).await })
}

impl Service for Road {
    fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    fn seat(&self) -> Rc<dyn sluice_wire::front::seat::Seat> {
        self.workers().seat()
    }

    async fn serve(self: &Rc<Self>, exchange: &mut Exchange<'_>, origin: &Origin) {
        serve_request(exchange, origin, self).await;
    }

    async fn refuse(self: &Rc<Self>, exchange: &mut Exchange<'_>, peer: IpAddr, full: Full) {
        let mut refusal = Refusal { retry_after_s: Some(1), ..Refusal::of(Code::ConnectionsFull) };
        if full == Full::Address {
            // Another instance would help it past the bound.
            refusal.retry = Retry::Later;
        }
        respond(exchange, self, &Request::new(peer), false, Err(Failure::Refused(refusal))).await;
    }

    fn refused_connection(&self, address: Option<IpAddr>) -> u64 {
        self.observer.trouble.refused_connection(address)
    }

    fn without_proxy_header(&self, peer: IpAddr, why: &dyn Display) {
        self.observer.trouble.without_proxy_header(Instant::now(), peer, why);
    }

    fn cannot_accept(&self, error: &io::Error) {
        let text = format!("cannot accept connections: {error}");
        self.observer.emit(Event::Note { level: Level::Error, text: &text });
    }
}
