//! A front's side of its requests: it hands each to the core, and does with the client's exchange what the core says. It must not
//! know what the request is for.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use sluice_journal::{Outcome, tasks};
use sluice_message::Scheme;
use tokio::time::Instant;

use super::link::{AtCore, FrontEnd, link};
use super::pages::{Found, Page, Pages, Unheard};
use super::words::{Answered, Departed, Order, Part, Question, Reply, Sending, Switch, ToCore};
use crate::front::course::Course;
use crate::front::exchange::{Exchange, Woke};
use crate::front::lobby::Lobby;
use crate::front::road::Road;
use crate::fronts::outbox::Outbox;
use crate::receive::GONE;
use crate::receive::body::Body;
use crate::request::passage::Asked;
use crate::respond::aside::Aside;
use crate::respond::{Sent, send_whole};
use crate::upstream::forward::{Origin, new_request_id, trusted_request_id};

/// Where a front's requests are handed over.
pub(crate) struct Desk {
    lobby: Rc<Lobby>,
    outbox: Rc<Outbox>,
    pub(super) pages: Pages,
    unheard: Unheard,
}

impl Desk {
    pub(super) fn new(lobby: Rc<Lobby>, outbox: Rc<Outbox>, pages: Pages, unheard: Unheard) -> Rc<Self> {
        Rc::new(Desk { lobby, outbox, pages, unheard })
    }

    pub(crate) fn lobby(&self) -> &Rc<Lobby> {
        &self.lobby
    }

    /// The road of one connection's requests.
    pub(crate) fn road(
        self: &Rc<Self>,
        key: usize,
        (peer, local): (SocketAddr, SocketAddr),
        scheme: Scheme,
        is_redirected: bool,
    ) -> Road {
        let origin = if is_redirected { None } else { self.pages.origin(peer, local, scheme) };
        Road::Core { desk: Rc::clone(self), key, origin }
    }

    /// One request, from its first byte to the last byte of its answer.
    pub(crate) async fn carry(&self, exchange: &mut Exchange<'_>, key: usize, origin: Option<&mut Rc<Origin>>) {
        let started = Instant::now();
        let mut asked = exchange.head().await;
        let mut wants_page = false;
        if let (Ok(head), Some(origin), Some(false)) = (&asked, origin, exchange.empty_body()) {
            self.pages.judge(origin);
            match self.pages.find(head, origin) {
                Found::NotHere => {}
                Found::Nothing => wants_page = true,
                Found::Page(page) => {
                    let Ok(head) = std::mem::replace(&mut asked, Err(GONE)) else { return };
                    return self.answer(exchange, (key, started), head, origin, page).await;
                }
            }
        }
        let (link, end) = link();
        let end = Watched { end, outbox: &self.outbox };
        self.outbox.ask(Question {
            key,
            link,
            started,
            begins_with_head: asked.is_err() && exchange.begins_with_head(),
            empty_body: if asked.is_ok() { exchange.empty_body() } else { Some(false) },
            asked,
            is_half_closed: exchange.is_half_closed(),
            wants_page,
        });
        obey(exchange, &end.end).await;
    }

    /// Answers with a page, and has the core take note of it.
    async fn answer(
        &self,
        exchange: &mut Exchange<'_>,
        (key, started): (usize, Instant),
        asked: Asked,
        origin: &Origin,
        page: Page,
    ) {
        let received = Instant::now();
        let id = trusted_request_id(&asked.0, origin).unwrap_or_else(new_request_id);
        exchange.begin(&page.head, page.size(), &id);
        let mut sent = Sent { outcome: Outcome::Answered, status: page.head.status, error: None, bytes_out: 0 };
        send_whole(exchange, &page.data, &mut sent).await;
        self.unheard.add();
        self.outbox.say(ToCore::Answered(Box::new(Answered {
            key,
            asked,
            id: id.to_string(),
            page: page.key,
            started,
            received,
            ended: Instant::now(),
            bytes_out: sent.bytes_out,
        })));
    }
}

/// The core is told where the task has panicked that drops this.
struct Watched<'o> {
    end: FrontEnd,
    outbox: &'o Outbox,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.outbox.say_now(ToCore::Fault(tasks::place()));
        }
    }
}

async fn obey(exchange: &mut Exchange<'_>, end: &FrontEnd) {
    // What comes before the body is taken is the body.
    let (mut is_watching, mut is_begun) = (exchange.empty_body().is_some(), false);
    loop {
        let order = tokio::select! {
            biased;
            order = end.order() => order,
            woke = exchange.left(), if is_watching => {
                is_watching = woke != Woke::Gone;
                end.departed(if woke == Woke::Gone { Departed::Gone } else { Departed::Half });
                continue;
            }
        };
        match order {
            // Nobody has taken the request: only a fault is the cause.
            None if !is_begun => return exchange.break_off(),
            None => return,
            Some(Order::TakeBody { bytes_max }) => {
                let body = exchange.body(bytes_max).await;
                is_watching = body.is_ok();
                end.reply(Reply::Body(body.map(Body::into_sent)));
            }
            Some(Order::Send(sending)) => {
                is_begun |= sending.parts.iter().any(|part| matches!(part, Part::Head { .. }));
                let sent = send(exchange, end, sending).await;
                let is_over = matches!(sent, Ok(true));
                end.reply(Reply::Sent(sent.map(drop).map_err(|error| error.kind())));
                if is_over {
                    // The core has nothing to say any more, and the client need not wait until it has said so.
                    return;
                }
            }
            Some(Order::Switch(Switch { worker, first, moved })) => {
                if let Ok(worker) = worker.come_here() {
                    exchange.carry_over(worker, &first, Course::Core(end, &moved)).await;
                }
                is_watching = false;
                end.reply(Reply::Switched);
            }
            Some(Order::BreakOff) => {
                is_begun = true;
                exchange.break_off();
            }
            // It is for bytes that were set aside, and none are.
            Some(Order::Aside(_)) => {}
        }
    }
}

/// Returns whether that was the end of the answer.
async fn send(exchange: &mut Exchange<'_>, end: &FrontEnd, sending: Sending) -> io::Result<bool> {
    let Sending { parts, may_set_aside, has_framed } = sending;
    let is_whole = matches!(parts.last(), Some(Part::End(_)));
    for part in parts {
        match part {
            Part::Interim(head) => exchange.inform(&head),
            Part::Head { head, size, request_id } => exchange.begin(&head, size, &request_id),
            Part::Data(data) => exchange.write(&data),
            Part::Framed(data) => exchange.write_framed(&data),
            Part::End(trailers) => exchange.end(&trailers),
            Part::BreakOff => exchange.break_off(),
        }
    }
    let core = AtCore::new(end, has_framed);
    exchange.flush_or(if may_set_aside { Aside::Core(&core) } else { Aside::Nowhere }).await?;
    Ok(is_whole && !core.has_framed())
}
