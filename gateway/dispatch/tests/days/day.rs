//! One day: the clock, what happens when, and all that there is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use sluice_dispatch::{Action, Cause, Event as ExchangeEvent, Exchange, Kind, Patience, Phase};
use sluice_scheduler::{Event, Need, RequestId, Scheduler, Time, WorkerId};

use crate::client::Client;
use crate::gateway::Slots;
use crate::plan::{Departure, LIGHT, Plan, RequestPlan, Way};
use crate::process::{Letter, Process, Stage};
use crate::rng::Rng;

/// Bytes on their way from a worker, with the request that the app wrote them for.
#[derive(Clone, Copy, Debug)]
pub enum Out {
    Head { of: RequestId, is_until_close: bool },
    Piece(RequestId),
    Whole(RequestId),
    StreamHead(RequestId),
    NoHttp(RequestId),
    Close { is_reset: bool },
}

#[derive(Clone, Copy, Debug)]
pub enum Happening {
    Arrives(usize),
    Departs(RequestId, Departure),
    Reload,
    OperatorKills,
    // In the gateway.
    Connected { request: RequestId, attempt: u32 },
    LosesBody(RequestId),
    Heard(u64, Out),
    Reported { worker: WorkerId, request: RequestId },
    Busy(WorkerId, RequestId, RequestId),
    Judged(RequestId),
    ExitKnown(WorkerId),
    SeenStuck(WorkerId),
    Examined(WorkerId),
    // At the workers.
    Boots(WorkerId),
    Stops(WorkerId),
    Delivered(WorkerId, Letter),
    HearsOfClose(WorkerId, u64),
    App(WorkerId, RequestId, Stage),
    StreamEnds(WorkerId, u64, RequestId),
    WritesLate(u64, RequestId),
}

/// A connection from the gateway to a worker.
#[derive(Debug)]
pub struct Conn {
    pub worker: WorkerId,
    pub carried: u32,
    /// The request whose answer is read from it; none while it is idle.
    pub reader: Option<RequestId>,
    /// Bytes of a request are in the kernel, and the worker has not read them.
    pub unread: bool,
    pub is_closed_by_worker: bool,
    /// Bytes came while no request was there to read them.
    pub is_dirty: bool,
}

/// A request, as the gateway and this test know it.
pub struct Request {
    pub exchange: Exchange,
    pub plan: RequestPlan,
    pub need: Need,
    pub worker: Option<WorkerId>,
    /// A slot is taken for it, or a place among streams.
    pub has_lease: bool,
    pub has_stream: bool,
    pub conn: Option<u64>,
    pub attempt: u32,
    pub handed_as: u64,
    /// Arrival, and whether its dead worker held others, as the scheduler says.
    pub orphaned: Option<(Time, bool)>,
    pub client: Client,
    /// Workers whose app has begun it.
    pub begun: Vec<WorkerId>,
    /// Its patience that was told last, so that one end is told once.
    pub patience_told: Option<Time>,
}

pub struct Day {
    pub now: Time,
    pub rng: Rng,
    pub plan: Plan,
    pub scheduler: Scheduler,
    pub requests: BTreeMap<RequestId, Request>,
    pub slots: BTreeMap<WorkerId, Slots>,
    pub processes: BTreeMap<WorkerId, Process>,
    pub conns: BTreeMap<u64, Conn>,
    pub conns_total: u64,
    pub handed_total: u64,
    pub reloads_total: u64,
    /// Events for the scheduler, which wait until it has carried out its actions.
    pub events: VecDeque<Event>,
    pub is_stepping: bool,
    /// Actions of exchanges, and what their tasks tell them next.
    pub todo: VecDeque<(RequestId, Todo)>,
    pub history: Vec<String>,
    pub reached: BTreeSet<&'static str>,
    pub broken: Option<String>,
    /// Requests whose end another has reported in their place.
    pub reported_by_others: BTreeSet<RequestId>,
    ahead: BinaryHeap<Reverse<(Time, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    happenings_total: u64,
}

/// Work of a request's task.
#[derive(Clone, Copy, Debug)]
pub enum Todo {
    Act(Action),
    Tell(ExchangeEvent),
}

const PATIENCE: Patience = Patience { silence_us: 8_000_000, abandoned_us: 8_000_000 };
/// A day that is not over by then never is.
const END: Time = Time(600_000_000);
/// Time of bytes from process to process.
pub const WIRE_US: u64 = 100;

impl Day {
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let plan = Plan::of(&mut rng);
        let mut day = Day {
            now: Time(0),
            rng,
            scheduler: Scheduler::new(plan.limits.clone()),
            requests: BTreeMap::new(),
            slots: BTreeMap::new(),
            processes: BTreeMap::new(),
            conns: BTreeMap::new(),
            conns_total: 0,
            handed_total: 0,
            reloads_total: 0,
            events: VecDeque::new(),
            is_stepping: false,
            todo: VecDeque::new(),
            history: Vec::new(),
            reached: BTreeSet::new(),
            broken: None,
            reported_by_others: BTreeSet::new(),
            ahead: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            happenings_total: 0,
            plan,
        };
        for index in 0..day.plan.requests.len() {
            day.at(day.plan.requests[index].at, Happening::Arrives(index));
        }
        for at in day.plan.reloads.clone() {
            day.at(at, Happening::Reload);
        }
        for at in day.plan.kills.clone() {
            day.at(at, Happening::OperatorKills);
        }
        day
    }

    pub fn live(&mut self) -> Result<(), String> {
        self.tell_scheduler(Event::Scaled { workers: self.plan.workers });
        // The class of light requests is known to be cheap, as that of an app that has run for a while.
        for _ in 0..50 {
            self.tell_scheduler(Event::Measured { class: LIGHT, cost_us: 500 });
        }
        while let Some(at) = self.next_time() {
            if at > END {
                return Err(format!("it never ends: {:?}", self.unended()));
            }
            self.now = self.now.max(at);
            self.step();
            self.run_todo();
            if let Some(broken) = self.broken.take().or_else(|| self.check()) {
                return Err(broken);
            }
        }
        let unended = self.unended();
        if unended.is_empty() { Ok(()) } else { Err(format!("they have not ended: {unended:?}")) }
    }

    /// The next moment at which anything is due.
    fn next_time(&self) -> Option<Time> {
        let happening = self.ahead.peek().map(|Reverse((at, _))| *at);
        let is_over = happening.is_none() && self.unended().is_empty();
        if is_over {
            return None;
        }
        let timers = self.requests.values().filter_map(Request::due);
        let scheduler = self.scheduler.next_deadline();
        timers.chain(happening).chain(scheduler).min().or(Some(Time(END.0 + 1)))
    }

    fn step(&mut self) {
        if let Some(Reverse((at, number))) = self.ahead.peek().copied()
            && at <= self.now
        {
            self.ahead.pop();
            if let Some(happening) = self.happenings.remove(&number) {
                self.note(|| format!("{happening:?}"));
                self.happen(happening);
            }
            return;
        }
        let due: Vec<_> = self
            .requests
            .iter()
            .filter(|(_, request)| request.due().is_some_and(|at| at <= self.now))
            .map(|(number, _)| *number)
            .collect();
        if due.is_empty() {
            // A deadline of the scheduler's. It may ask for the same moment again; time goes on all the same.
            self.tell_scheduler(Event::Tick);
            self.now = self.now.plus_us(1);
        }
        for number in due {
            if let Some(request) = self.requests.get_mut(&number) {
                request.patience_told = request.exchange.patience_ends();
            }
            self.tell(number, ExchangeEvent::TimedOut);
            self.run_todo();
        }
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Arrives(index) => self.arrives(index),
            Happening::Departs(request, how) => self.departs(request, how),
            Happening::Reload => {
                self.reloads_total += 1;
                self.tell_scheduler(Event::ReloadAsked { generation: self.reloads_total });
            }
            Happening::OperatorKills => {
                let alive: Vec<_> = self.processes.iter().filter(|(_, process)| process.is_alive).collect();
                if let Some((worker, _)) = alive.first() {
                    let worker = **worker;
                    self.dies(worker);
                }
            }
            Happening::Connected { request, attempt } => self.connected(request, attempt),
            Happening::LosesBody(request) => self.tell(request, ExchangeEvent::BodyLost),
            Happening::Heard(conn, out) => self.heard(conn, out),
            Happening::Reported { worker, request } => self.reported(worker, request),
            Happening::Busy(worker, request, by) => self.busy(worker, request, by),
            Happening::Judged(request) => self.judged(request),
            Happening::ExitKnown(worker) => self.exited(worker),
            Happening::SeenStuck(worker) => self.seen_stuck(worker),
            Happening::Examined(worker) => self.tell_scheduler(Event::Examined { worker }),
            Happening::Boots(worker) => {
                self.boots(worker);
                self.listening(worker);
            }
            Happening::Stops(worker) => self.stops(worker),
            Happening::Delivered(worker, letter) => self.delivered(worker, letter),
            Happening::HearsOfClose(worker, conn) => self.hears_of_close(worker, conn),
            Happening::App(worker, request, stage) => self.app(worker, request, stage),
            Happening::StreamEnds(worker, conn, request) => {
                if self.process(worker).is_alive {
                    self.sends(conn, Out::Whole(request));
                }
            }
            Happening::WritesLate(conn, request) => self.sends(conn, Out::Piece(request)),
        }
    }

    pub fn at(&mut self, at: Time, happening: Happening) {
        self.happenings_total += 1;
        self.ahead.push(Reverse((at, self.happenings_total)));
        self.happenings.insert(self.happenings_total, happening);
    }

    pub fn after(&mut self, us: u64, happening: Happening) {
        self.at(self.now.plus_us(us), happening);
    }

    /// The app writes to a connection.
    pub fn sends(&mut self, conn: u64, out: Out) {
        if self.conns.get(&conn).is_some_and(|conn| !conn.is_closed_by_worker) {
            self.after(WIRE_US, Happening::Heard(conn, out));
        }
    }

    /// The worker's end of a connection closes.
    pub fn closes(&mut self, number: u64) {
        let Some(conn) = self.conns.get_mut(&number) else { return };
        if !std::mem::replace(&mut conn.is_closed_by_worker, true) {
            let is_reset = conn.unread;
            self.after(WIRE_US, Happening::Heard(number, Out::Close { is_reset }));
        }
    }

    /// The worker reports a request's end; reports of a few milliseconds go in one line.
    pub fn reports(&mut self, worker: WorkerId, request: RequestId, is_urgent: bool) {
        let delay_us = if is_urgent { 100 } else { self.rng.between(100, 15_000) };
        self.after(delay_us, Happening::Reported { worker, request });
    }

    pub fn process(&mut self, worker: WorkerId) -> &mut Process {
        self.processes.entry(worker).or_default()
    }

    pub fn plan_of(&self, request: RequestId) -> RequestPlan {
        self.plan.requests[usize::try_from(request.0 - 1).unwrap_or(0)]
    }

    /// Any request of the day so far.
    pub fn any_request(&mut self) -> RequestId {
        RequestId(self.rng.between(1, self.requests.len() as u64))
    }

    /// The app begins a request (I5), in the way of that try.
    pub fn note_begun(&mut self, worker: WorkerId, number: RequestId) -> Way {
        let is_alive = |worker: &WorkerId| self.processes.get(worker).is_some_and(|process| process.is_alive);
        let Some(request) = self.requests.get(&number) else { return Way::Answers };
        let plan = request.plan;
        if let Some(before) = request.begun.last() {
            let broken = match () {
                () if !plan.is_safe => Some("although its method is not safe"),
                () if request.begun.len() > 1 => Some("a third time"),
                () if is_alive(before) => Some("although its first worker lives"),
                () if request.client.has_bytes => Some("after its client had bytes of an answer"),
                () => None,
            };
            if let Some(why) = broken {
                self.breaks(format!("I5: worker {} begins request {} {why}", worker.0, number.0));
            }
            self.reached.insert("a request begins at a second worker");
        }
        let Some(request) = self.requests.get_mut(&number) else { return Way::Answers };
        request.begun.push(worker);
        plan.ways[(request.begun.len() - 1).min(1)]
    }

    pub fn breaks(&mut self, what: String) {
        self.broken.get_or_insert(what);
    }

    pub fn note(&mut self, text: impl FnOnce() -> String) {
        if self.history.len() > 4_000 {
            self.history.remove(0);
        }
        self.history.push(format!("{:>9} µs {}", self.now.0, text()));
    }

    /// What holds after every event: an exchange holds a slot exactly if one is taken for it (I1).
    fn check(&self) -> Option<String> {
        self.requests.iter().find_map(|(number, request)| {
            let phase = request.exchange.phase();
            let is_at_worker = request.exchange.holds_slot() || matches!(phase, Phase::Orphaned | Phase::Judged);
            (is_at_worker != request.has_lease)
                .then(|| format!("I1: request {} is {phase:?}, and a slot is taken: {}", number.0, request.has_lease))
        })
    }

    /// Requests without an end, slots without a request, and what waits.
    fn unended(&self) -> Vec<String> {
        let requests = self.requests.iter().filter(|(_, request)| {
            !request.client.is_over() || !matches!(request.exchange.phase(), Phase::Ended | Phase::Queued)
        });
        let mut unended: Vec<_> = requests
            .map(|(number, request)| {
                format!("request {}: {:?}, {:?}", number.0, request.exchange.phase(), request.client)
            })
            .collect();
        let held = self.scheduler.workers().filter(|view| view.in_service + view.handed > 0 || view.streams > 0);
        unended.extend(held.map(|view| format!("worker {}: {} slots", view.worker.0, view.in_service + view.handed)));
        if self.scheduler.queue_length() > 0 {
            unended.push(format!("{} in the queue", self.scheduler.queue_length()));
        }
        unended
    }

    /// Cause that is known for a worker's end.
    pub fn cause_of(&self, worker: WorkerId) -> Cause {
        self.slots.get(&worker).map_or(Cause::Own, |slots| slots.cause)
    }
}

impl Request {
    pub fn new(plan: RequestPlan) -> Self {
        Request {
            exchange: Exchange::new(Kind::Plain, PATIENCE),
            plan,
            need: plan.need,
            worker: None,
            has_lease: false,
            has_stream: false,
            conn: None,
            attempt: 0,
            handed_as: 0,
            orphaned: None,
            client: Client::default(),
            begun: Vec::new(),
            patience_told: None,
        }
    }

    /// The time at which its exchange is to hear that time has passed.
    fn due(&self) -> Option<Time> {
        let patience = self.exchange.patience_ends().filter(|end| self.patience_told != Some(*end));
        [self.exchange.wake_at(), patience].into_iter().flatten().min()
    }
}
