//! A request's task: what comes on its connection becomes events, and its exchange's actions are carried out, as
//! `gateway/proxy/src/upstream/driver.rs` does.

use sluice_dispatch::{Action, Event as ExchangeEvent, Judgement, Note, Phase, QuarantineRule};
use sluice_scheduler::{Event, RequestId};

use crate::day::{Conn, Day, Happening, Out, Todo, WIRE_US};
use crate::process::Letter;

impl Day {
    pub fn run_todo(&mut self) {
        while let Some((number, todo)) = self.todo.pop_front() {
            match todo {
                Todo::Act(action) => self.act(number, action),
                Todo::Tell(event) => self.tell(number, event),
            }
        }
    }

    fn act(&mut self, number: RequestId, action: Action) {
        match action {
            Action::Connect => self.connects(number),
            Action::Write => self.writes_request(number),
            Action::Close => self.closes_conn(number),
            Action::Fail(_) => {
                let has_bytes = self.requests.get(&number).is_some_and(|request| request.client.has_bytes);
                let is_at_dead_worker = self.requests.get(&number).is_some_and(|request| request.orphaned.is_some());
                if is_at_dead_worker && !has_bytes {
                    self.reached.insert("a request of a dead worker is answered with an error");
                }
                self.is_answered(number, if has_bytes { "an answer is cut off" } else { "a request gets an error" });
            }
            Action::Leave => {
                let is_over = self.requests.get(&number).is_none_or(|request| request.client.is_over());
                if !is_over {
                    self.is_answered(number, "an answer ends as its client wished");
                }
            }
            Action::Complete => self.completes(number),
            Action::TakeBack => {
                if let Some(worker) = self.requests.get(&number).and_then(|request| request.worker) {
                    self.withdraw(worker);
                }
            }
            Action::Detach => self.detaches(number),
            Action::GiveUpWorker => {
                if let Some(worker) = self.requests.get(&number).and_then(|request| request.worker) {
                    self.give_up_worker(worker);
                }
            }
            Action::Judge { .. } => {
                let delay_us = self.rng.between(0, 3_000);
                self.after(delay_us, Happening::Judged(number));
            }
            Action::Note(Note::Foreign) => {
                self.reached.insert("foreign bytes are dropped");
            }
            Action::Note(Note::Malformed) => {
                self.reached.insert("an answer is no HTTP");
            }
            Action::Note(_) | Action::ShutDown => {}
            Action::EndStream | Action::SwitchOver => self.stream_ended(number),
            Action::Finish { .. }
            | Action::GiveBack { .. }
            | Action::PassTo { .. }
            | Action::Retry { .. }
            | Action::Bury => self.give_back(number, action),
        }
    }

    fn connects(&mut self, number: RequestId) {
        self.leaves_conn(number);
        let Some(request) = self.requests.get_mut(&number) else { return };
        request.attempt += 1;
        let attempt = request.attempt;
        self.after(WIRE_US, Happening::Connected { request: number, attempt });
    }

    pub fn connected(&mut self, number: RequestId, attempt: u32) {
        let Some(request) = self.requests.get(&number) else { return };
        let Some(worker) = request.worker.filter(|_| request.attempt == attempt && request.has_lease) else { return };
        if !self.process(worker).is_alive {
            return self.tell(number, ExchangeEvent::ConnectFailed);
        }
        self.conns_total += 1;
        let conn = self.conns_total;
        let is_closed_by_worker = false;
        let fresh = Conn { worker, carried: 0, reader: None, unread: false, is_closed_by_worker, is_dirty: false };
        self.conns.insert(conn, fresh);
        if let Some(request) = self.requests.get_mut(&number) {
            request.conn = Some(conn);
        }
        self.tell(number, ExchangeEvent::Connected);
    }

    fn writes_request(&mut self, number: RequestId) {
        let Some(request) = self.requests.get(&number) else { return };
        let (Some(conn_number), Some(worker)) = (request.conn, request.worker) else { return };
        let (plan, handed_as) = (request.plan, request.handed_as);
        let handed = (request.exchange.ahead() != sluice_dispatch::Ahead::No).then_some(handed_as);
        let Some(conn) = self.conns.get_mut(&conn_number) else { return };
        conn.carried += 1;
        conn.reader = Some(number);
        // What nobody reads is lost with the connection.
        if conn.is_closed_by_worker {
            self.reached.insert("a kept connection was closed");
            self.after(WIRE_US, Happening::Heard(conn_number, Out::Close { is_reset: true }));
        } else {
            conn.unread = true;
            let letter = Letter { request: number, conn: conn_number, handed };
            self.after(WIRE_US, Happening::Delivered(worker, letter));
        }
        let is_whole = !plan.loses_body;
        self.todo.push_back((number, Todo::Tell(ExchangeEvent::Wrote { is_whole, is_one_piece: is_whole })));
        if plan.loses_body {
            self.reached.insert("a body is lost");
            self.after(WIRE_US * 2, Happening::LosesBody(number));
        }
    }

    fn closes_conn(&mut self, number: RequestId) {
        if let Some(request) = self.requests.get_mut(&number) {
            request.attempt += 1;
        }
        self.leaves_conn(number);
    }

    fn leaves_conn(&mut self, number: RequestId) {
        if let Some(conn) = self.requests.get_mut(&number).and_then(|request| request.conn.take()) {
            self.drop_conn(conn);
        }
    }

    /// The gateway closes a connection.
    pub fn drop_conn(&mut self, number: u64) {
        if let Some(conn) = self.conns.remove(&number) {
            self.after(WIRE_US, Happening::HearsOfClose(conn.worker, number));
        }
    }

    /// Something comes on a connection.
    pub fn heard(&mut self, conn_number: u64, out: Out) {
        let Some(conn) = self.conns.get_mut(&conn_number) else { return };
        let (carried, reader) = (conn.carried, conn.reader);
        let Some(number) =
            reader.filter(|number| self.requests.get(number).is_some_and(|request| request.conn == Some(conn_number)))
        else {
            // Nobody reads it: it is seen when the connection is taken again.
            conn.is_dirty = true;
            return;
        };
        let forwards = self.requests[&number].exchange.forwards();
        if !forwards && self.requests[&number].exchange.phase() != Phase::Handed {
            return;
        }
        if let Out::Close { is_reset } = out {
            if let Some(request) = self.requests.get_mut(&number) {
                request.conn = None;
            }
            self.conns.remove(&conn_number);
            return self.tell(number, ExchangeEvent::Closed { is_reset });
        }
        self.tell(number, ExchangeEvent::Heard);
        self.run_todo();
        let (Out::Head { of, .. } | Out::Piece(of) | Out::Whole(of) | Out::StreamHead(of) | Out::NoHttp(of)) = out
        else {
            return;
        };
        // Tokens in heads tell whose answer it is, but on a connection that has carried this one alone.
        if of != number && carried > 1 {
            return self.tell(number, ExchangeEvent::Foreign);
        }
        let request = &self.requests[&number];
        match out {
            Out::NoHttp(_) => self.tell(number, ExchangeEvent::Malformed),
            _ if !request.exchange.forwards() => {}
            Out::Head { is_until_close, .. } => {
                self.passes(number, of);
                self.tell(number, ExchangeEvent::HeadCame { is_until_close });
            }
            Out::Piece(_) => self.passes(number, of),
            Out::StreamHead(_) => {
                self.passes(number, of);
                self.tell(number, ExchangeEvent::StreamCame);
            }
            Out::Whole(_) => {
                self.passes(number, of);
                self.completes(number);
                self.tell(number, ExchangeEvent::Completed { is_reusable: true });
            }
            Out::Close { .. } => {}
        }
    }

    fn passes(&mut self, number: RequestId, of: RequestId) {
        let client = &self.requests[&number].client;
        if !client.is_over() || of != number {
            self.forwards(number, of);
        }
    }

    fn completes(&mut self, number: RequestId) {
        if self.requests.get(&number).is_some_and(|request| !request.client.is_over()) {
            self.is_answered(number, "a request is answered");
        }
    }

    fn detaches(&mut self, number: RequestId) {
        self.reached.insert("a stream leaves its slot");
        let Some(request) = self.requests.get_mut(&number) else { return };
        (request.has_lease, request.has_stream) = (false, true);
        if let Some(worker) = request.worker {
            self.tell_scheduler(Event::Detached { worker, request: number });
        }
    }

    fn stream_ended(&mut self, number: RequestId) {
        self.reached.insert("a stream ends");
        self.leaves_conn(number);
        let Some(request) = self.requests.get_mut(&number) else { return };
        request.has_stream = false;
        if let Some(worker) = request.worker {
            self.tell_scheduler(Event::StreamEnded { worker });
        }
    }

    pub fn judged(&mut self, number: RequestId) {
        let Some(request) = self.requests.get(&number) else { return };
        let judgement = Judgement {
            is_safe: request.plan.is_safe,
            was_shared: request.orphaned.is_some_and(|(_, is_shared)| is_shared),
            was_parked: false,
            held: request.plan.is_quarantined.then_some(QuarantineRule::Refused),
            deaths: 1,
        };
        self.tell(number, ExchangeEvent::Judged(judgement));
    }

    /// The last action of a try: the slot goes back (I1).
    fn give_back(&mut self, number: RequestId, action: Action) {
        let Some(request) = self.requests.get(&number) else { return };
        let Some(worker) = request.worker else { return };
        if !request.has_lease {
            return self.breaks(format!("I1: {action:?} of request {}, which has no slot", number.0));
        }
        self.check_is_free(number, action);
        let is_kept = action == Action::Finish { keeps: true };
        if is_kept && let Some(slots) = self.slots.get_mut(&worker) {
            if let Some(conn) = self.requests.get_mut(&number).and_then(|request| request.conn.take()) {
                slots.idle.push(conn);
            }
        } else if !matches!(action, Action::PassTo { .. }) {
            self.leaves_conn(number);
        }
        if let Some(request) = self.requests.get_mut(&number) {
            request.has_lease = false;
        }
        match action {
            Action::Finish { .. } => self.tell_scheduler(Event::Finished { worker, request: number }),
            Action::GiveBack { is_fault } => {
                if is_fault {
                    self.tell_scheduler(Event::Faulted { worker });
                }
                self.returned(number);
            }
            Action::PassTo { by } => self.pass_to(number, by),
            Action::Retry { is_suspect, .. } => {
                let Some(request) = self.requests.get_mut(&number) else { return };
                request.need = request.need.suspected(is_suspect);
                let (need, arrived) = (request.need, request.orphaned.map_or(self.now, |(arrived, _)| arrived));
                if self.waits_again(number) {
                    self.tell_scheduler(Event::Retried { request: number, arrived, need });
                }
            }
            _ => {}
        }
    }

    /// A slot is given back: its worker's app must not compute for it, but where the app itself has said that it does not.
    fn check_is_free(&mut self, number: RequestId, action: Action) {
        let Some(request) = self.requests.get(&number) else { return };
        let Some(worker) = request.worker else { return };
        let lies = request.begun.len().checked_sub(1).map(|at| request.plan.ways[at.min(1)]);
        let lies = lies == Some(crate::plan::Way::ReportsEarly);
        let others_lie = self.reported_by_others.contains(&number);
        if self.processes.get(&worker).is_some_and(|process| process.computes(number)) && !lies && !others_lie {
            self.breaks(format!("I1: {action:?} of request {} while worker {} computes it", number.0, worker.0));
        }
    }

    fn returned(&mut self, number: RequestId) {
        let Some(request) = self.requests.get(&number) else { return };
        let Some(worker) = request.worker else { return };
        let (need, arrived) = (request.need, request.orphaned.map_or(self.now, |(arrived, _)| arrived));
        let is_queued = self.waits_again(number);
        let is_gone = self.scheduler.worker_state(worker).is_none();
        self.tell_scheduler(match is_queued {
            true if is_gone => Event::Retried { request: number, arrived, need },
            true => Event::Undelivered { worker, request: number },
            false => Event::Finished { worker, request: number },
        });
    }

    /// Whether the request waits in the queue again: its client wants it.
    fn waits_again(&mut self, number: RequestId) -> bool {
        let Some(request) = self.requests.get_mut(&number) else { return false };
        let is_wanted = !request.client.is_over();
        if is_wanted {
            request.worker = None;
            request.orphaned = None;
        }
        is_wanted
    }

    fn pass_to(&mut self, number: RequestId, by: RequestId) {
        let Some(worker) = self.requests.get(&number).and_then(|request| request.worker) else { return };
        let is_gone = self.scheduler.worker_state(worker).is_none();
        if is_gone || !self.is_unreported(worker, by) {
            self.leaves_conn(number);
            return self.returned(number);
        }
        self.reached.insert("a slot is passed to an unended request");
        let conn = self.requests.get_mut(&number).and_then(|request| request.conn.take());
        let is_queued = self.waits_again(number);
        self.tell_scheduler(Event::Occupied { worker, request: number, by });
        if !is_queued {
            self.tell_scheduler(Event::Left { request: number });
        }
        if let Some(request) = self.requests.get_mut(&by) {
            request.has_lease = true;
            request.conn = conn;
        }
        self.tell(by, ExchangeEvent::StillOpen);
    }
}
