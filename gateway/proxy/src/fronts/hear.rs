//! The core's ear for its fronts: their requests, which go along the main road, and what becomes of their connections.

use std::rc::Rc;

use sluice_journal::{CacheUse, Event, Level, Outcome};

use super::Known;
use super::remote::Remote;
use super::words::{Answered, Question, ToCore};
use crate::front::exchange::Exchange;
use crate::front::road::judge;
use crate::gate::Gate;
use crate::request::passage::Request;
use crate::request::serve_request;
use crate::respond::Sent;
use crate::upstream::forward::Origin;

/// Never ends, but where there are no fronts. `lost` is told of a front that has panicked, and where.
pub async fn hear(gate: Rc<Gate>, lost: impl Fn(&str)) {
    let Some(mut told) = gate.fronts().and_then(|fronts| fronts.told.take()) else { return };
    while let Some((front, words)) = told.recv().await {
        for word in words {
            match word {
                ToCore::Asked(question) => serve(&gate, front, *question),
                ToCore::Answered(answered) => note(&gate, front, *answered),
                ToCore::Works(key) => gate.lobby.connections.works(key),
                ToCore::Rests(key) => gate.lobby.connections.rests(key),
                ToCore::Closed(key) => close(&gate, key),
                ToCore::Fault(place) => {
                    let text = format!("a connection was lost to a fault in the gateway, at {place}");
                    gate.observer.emit(Event::Note { level: Level::Error, text: &text });
                }
                ToCore::Ended(place) => {
                    let keys = gate.fronts().map(|fronts| fronts.lose(front)).unwrap_or_default();
                    for key in keys {
                        close(&gate, key);
                    }
                    lost(&place);
                }
            }
        }
    }
}

/// The connection's end is the end of all its requests, so none is asked after it.
fn close(gate: &Gate, key: usize) {
    gate.lobby.connections.remove(key);
    if let Some(fronts) = gate.fronts() {
        fronts.forget(key);
    }
}

/// What is known of the connection.
fn origin(gate: &Gate, key: usize) -> Option<Rc<Origin>> {
    let mut known = gate.fronts()?.known.borrow_mut();
    let Known { origin, .. } = known.get_mut(&key)?;
    judge(origin, gate);
    Some(Rc::clone(origin))
}

/// Takes note of an answer as if it had been given here.
fn note(gate: &Gate, front: usize, answered: Answered) {
    let Answered { key, asked, id, page, started, received, ended, bytes_out } = answered;
    if let Some(fronts) = gate.fronts() {
        fronts.all[front].unheard.hear();
        fronts.answered.update(|answered| answered + 1);
    }
    gate.cache.note_hit(&page);
    let Some(origin) = origin(gate, key) else { return };
    let mut request = Request::new(origin.peer);
    request.begin_at(started);
    request.take_head(asked, &origin, gate);
    (request.id, request.received, request.cached) = (id.into(), Some(received), Some(CacheUse::Hit));
    let sent = Sent { outcome: Outcome::Answered, status: 200, error: None, bytes_out };
    gate.record(ended, request, &sent);
}

fn serve(gate: &Rc<Gate>, front: usize, question: Question) {
    let Some(origin) = origin(gate, question.key) else { return };
    let (gate, remote) = (Rc::clone(gate), Remote::new(question, front, &gate.store));
    tokio::task::spawn_local(async move {
        serve_request(&mut Exchange::Remote(Box::new(remote)), &origin, &gate).await;
    });
}
