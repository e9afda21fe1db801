//! The road's end: workers as requests on their way find them.

use std::rc::Rc;

use sluice_classes::{Class, Traits};
use sluice_journal::{Event as Happening, Level, tasks};
use sluice_scheduler::{Load, RequestId};
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::body::Body;
use tokio::time::Instant;

use super::{Gate, readiness};
use crate::ask;
use crate::upstream::Seat;
use sluice_road::answers::Response;
use sluice_road::answers::edge::Readiness;
use sluice_road::request::passage::Request;
use sluice_road::respond::SendOutcome;
use sluice_road::sessions::Sessions;
use sluice_road::workers::{Answering, Workers};

impl Workers for Gate {
    fn seat(&self) -> Rc<dyn sluice_wire::front::seat::Seat> {
        Rc::<Seat>::default()
    }

    fn fetch<'a>(
        &'a self,
        exchange: &'a mut Exchange<'_>,
        origin: &'a Origin,
        request: &'a mut Request,
        body: Body,
    ) -> Answering<'a> {
        Box::pin(ask::fetch(exchange, origin, self.rc(), request, body))
    }

    fn dress(&self, request: &Request, response: &mut Response) {
        ask::dress(self, request, response);
    }

    fn classify(&self, traits: &Traits<'_>) -> Class {
        self.costs.classify(traits)
    }

    fn known_class(&self, traits: &Traits<'_>) -> Option<Rc<str>> {
        self.costs.classes.known(traits)
    }

    fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    fn load(&self) -> Load {
        self.scheduler.load()
    }

    fn is_own_call(&self, port: u16) -> bool {
        self.workers.is_own_call(port)
    }

    fn readiness(&self) -> Readiness {
        readiness::readiness(self)
    }

    fn record(&self, ended: Instant, request: Request, sent: &SendOutcome) {
        self.shadows.ended(self, &request, sent);
        self.records.record(ended, request, sent);
    }

    fn give_up(&self, request: RequestId, is_recorded: bool) {
        self.dispatch.leave(request);
        if !is_recorded {
            self.records.record_nothing(request);
        }
    }

    fn connection_lost(&self) {
        let text = format!("a connection was lost to a fault in the gateway, at {}", tasks::place());
        self.road.observer.emit(Happening::Note { level: Level::Error, text: &text });
    }
}
