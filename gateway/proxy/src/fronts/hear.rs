//! The core's ear for its fronts: their requests, which go along the main road, and what becomes of their connections.

use std::rc::Rc;

use sluice_journal::{Event, Level};

use super::Known;
use super::remote::Remote;
use super::words::{Question, ToCore};
use crate::front::exchange::Exchange;
use crate::front::road::judge;
use crate::gate::Gate;
use crate::request::serve_request;

/// Never ends, but where there are no fronts. `lost` is told of a front that has panicked, and where.
pub async fn hear(gate: Rc<Gate>, lost: impl Fn(&str)) {
    let Some(mut told) = gate.fronts().and_then(|fronts| fronts.told.take()) else { return };
    while let Some((front, words)) = told.recv().await {
        for word in words {
            match word {
                ToCore::Asked(question) => serve(&gate, *question),
                ToCore::Works(key) => gate.lobby.connections.works(key),
                ToCore::Rests(key) => gate.lobby.connections.rests(key),
                ToCore::Closed(key) => close(&gate, key),
                ToCore::Fault(place) => {
                    let text = format!("a connection was lost to a fault in the gateway, at {place}");
                    gate.journal.emit(Event::Note { level: Level::Error, text: &text });
                }
                ToCore::Ended(place) => {
                    let keys = gate.fronts().map(|fronts| fronts.of_front(front)).unwrap_or_default();
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

fn serve(gate: &Rc<Gate>, question: Question) {
    let Some(fronts) = gate.fronts() else { return };
    let origin = {
        let mut known = fronts.known.borrow_mut();
        let Some(Known { origin, .. }) = known.get_mut(&question.key) else { return };
        judge(origin, gate);
        Rc::clone(origin)
    };
    let (gate, remote) = (Rc::clone(gate), Remote::new(question, &gate.store));
    tokio::task::spawn_local(async move {
        serve_request(&mut Exchange::Remote(Box::new(remote)), &origin, &gate).await;
    });
}
