//! Shadow renders of a trial: a sampled page is rendered again by both versions, and the two are compared.
//!
//! Only safe requests without credentials are repeated, after their answer, and only with those fields that pages usually depend on. A render begins
//! while a worker of its version holds nothing and nobody waits. There is one at a time, with rests between pages. So a visitor may
//! wait for a worker that has begun one, and for nothing else. Shadow renders are in no statistics.

mod told;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};
use std::rc::{Rc, Weak};
use std::time::Duration;

use sluice_catalog::snapshot::PagesSnapshot;
use sluice_compare::{PageDifference, PageVerdict, compare_pages};
use sluice_message::{Method, RequestHead};
use sluice_scheduler::{Home, WorkerId};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::ask;
use crate::gate::Gate;
use sluice_road::answers::{ResponseBody, is_hashed_file};
use sluice_road::own::Own;
use sluice_road::request::passage::Request;
use sluice_road::request::ticket::Call;
use sluice_road::respond::SendOutcome;
use sluice_wire::front::exchange::Exchange;
use sluice_wire::front::origin::Origin;
use sluice_wire::receive::body::Body;
use sluice_wire::respond::answer::{Answer, End, Next};
use told::Pages;

/// Pages that wait for their comparison; further ones are not taken.
const WAITING_MAX: usize = 8;
/// Longest body that is compared, bytes.
const BYTES_MAX: usize = 1024 * 1024;
/// Longest render.
const RENDER_MAX: Duration = Duration::from_secs(10);
/// Longest wait for a worker that holds nothing.
const SLACK_MAX: Duration = Duration::from_secs(30);
/// Time between two looks whether there is one.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Rest after a page, in multiples of the time that its renders took.
const REST: u32 = 4;
/// Bytes that are read of a file at once.
const READ_BYTES: usize = 64 * 1024;
/// Fields of a request that are repeated.
const FIELDS: [&str; 3] = ["Accept", "Accept-Language", "User-Agent"];

/// Shadow renders of the trial, if there is one with them.
#[derive(Default)]
pub struct Shadows {
    is_on: Cell<bool>,
    run: RefCell<Option<Rc<Run>>>,
}

/// Shadow renders of one trial.
struct Run {
    millionths: u32,
    waiting: RefCell<VecDeque<RequestHead>>,
    changed: Notify,
    is_over: Cell<bool>,
    pages: RefCell<Pages>,
}

/// A page as one version renders it.
struct Render {
    status: u16,
    is_html: bool,
    body: Vec<u8>,
    class: Rc<str>,
}

impl Shadows {
    /// Begins to compare this share of the pages, in millionths, until [`Shadows::end`].
    pub fn begin(&self, gate: &Rc<Gate>, millionths: u32) {
        self.end();
        let run = Rc::new(Run {
            millionths,
            waiting: RefCell::default(),
            changed: Notify::new(),
            is_over: Cell::new(false),
            pages: RefCell::default(),
        });
        self.run.replace(Some(Rc::clone(&run)));
        self.is_on.set(true);
        let gate = Rc::downgrade(gate);
        tokio::task::spawn_local(async move { run.run(&gate).await });
    }

    /// Ends the comparison.
    pub fn end(&self) {
        self.is_on.set(false);
        if let Some(run) = self.run.take() {
            run.is_over.set(true);
            run.changed.notify_one();
        }
    }

    /// Differences so far; `None` if nothing is compared.
    pub fn snapshot(&self) -> Option<PagesSnapshot> {
        self.run.borrow().as_ref().map(|run| run.pages.borrow().snapshot(run.millionths))
    }

    /// Takes a request that has ended into the sample, by chance.
    pub(crate) fn ended(&self, request: &Request, sent: &SendOutcome) {
        if !self.is_on.get() {
            return;
        }
        if let Some(run) = &*self.run.borrow()
            && sent.status == 200
            && is_repeatable(request)
            && fastrand::u32(..1_000_000) < run.millionths
        {
            run.take(&request.head);
        }
    }
}

/// Whether a worker rendered it, and would render the same for anybody.
fn is_repeatable(request: &Request) -> bool {
    request.head.method == Method::Get
        && request.call.as_ref().is_some_and(|call| call.ticket().is_some())
        && !request.has_credentials()
        && request.upgrade.is_none()
        && request.bytes_in == 0
        && !request.head.fields.contains("Range")
}

impl Run {
    fn take(&self, head: &RequestHead) {
        let mut waiting = self.waiting.borrow_mut();
        if waiting.len() >= WAITING_MAX {
            return;
        }
        let mut repeated =
            RequestHead { fields: [("Sluice-Warm-Up", &b"shadow"[..])].into_iter().collect(), ..head.clone() };
        for name in FIELDS {
            for value in head.fields.get_all(name) {
                repeated.fields.push(name, value);
            }
        }
        waiting.push_back(repeated);
        self.changed.notify_one();
    }

    async fn run(&self, gate: &Weak<Gate>) {
        while !self.is_over.get() {
            let next = self.waiting.borrow_mut().pop_front();
            let Some(head) = next else {
                self.changed.notified().await;
                continue;
            };
            let Some(gate) = gate.upgrade() else { return };
            let mut spent = Duration::ZERO;
            self.compare(&gate, &head, &mut spent).await;
            drop(gate);
            sleep(spent * REST).await;
        }
    }

    /// Compares one page, if both versions render it.
    async fn compare(&self, gate: &Rc<Gate>, head: &RequestHead, spent: &mut Duration) -> Option<()> {
        let first = self.render(gate, head, false, spent).await?;
        if first.status != 200 || !first.is_html {
            return None;
        }
        let trial = self.render(gate, head, true, spent).await?;
        let class = Rc::clone(&first.class);
        if trial.status != first.status || !trial.is_html {
            let said =
                |render: &Render| format!("status {}{}", render.status, if render.is_html { "" } else { ", no HTML" });
            let difference = PageDifference { line: 0, present: said(&first), trial: said(&trial) };
            self.note(&class, &head.path_and_query, PageVerdict::Differs(difference));
            return Some(());
        }
        let mut present = vec![first];
        let mut verdict = PageVerdict::Unclear;
        // A difference is one if a third render of the present version does not have it either.
        for _ in 0..2 {
            let next = self.render(gate, head, false, spent).await?;
            if next.status != 200 || !next.is_html {
                return None;
            }
            present.push(next);
            let bodies: Vec<_> = present.iter().map(|render| render.body.clone()).collect();
            let of_trial = trial.body.clone();
            // Long pages that have much in common take milliseconds.
            verdict = tokio::task::spawn_blocking(move || {
                let present: Vec<_> = bodies.iter().map(|body| String::from_utf8_lossy(body)).collect();
                let present: Vec<_> = present.iter().map(|text| &**text).collect();
                compare_pages(&present, &String::from_utf8_lossy(&of_trial), is_hashed_file)
            })
            .await
            .ok()?;
            if !matches!(verdict, PageVerdict::Differs(_)) {
                break;
            }
        }
        self.note(&class, &head.path_and_query, verdict);
        Some(())
    }

    fn note(&self, class: &Rc<str>, path: &str, verdict: PageVerdict) {
        if !self.is_over.get() {
            self.pages.borrow_mut().note(class, path, verdict);
        }
    }

    /// Renders the page by a worker of one version, when one holds nothing. `None` if that did not come to a whole page.
    async fn render(
        &self,
        gate: &Rc<Gate>,
        head: &RequestHead,
        by_trial: bool,
        spent: &mut Duration,
    ) -> Option<Render> {
        let home = self.slack(gate, by_trial).await?;
        let began = Instant::now();
        let rendered = timeout(RENDER_MAX, render(gate, head, home)).await;
        *spent += began.elapsed();
        rendered.ok().flatten()
    }

    /// Waits until nobody waits, and a worker of the version holds nothing.
    async fn slack(&self, gate: &Gate, by_trial: bool) -> Option<Home> {
        let until = Instant::now() + SLACK_MAX;
        while !self.is_over.get() && Instant::now() < until {
            let home = gate.scheduler.read(|scheduler| {
                if scheduler.queue_length() > 0 {
                    return None;
                }
                if !by_trial {
                    return scheduler.has_empty_worker().then_some(Home::Any);
                }
                let tried: Vec<WorkerId> = scheduler.tried().collect();
                let mut views = scheduler.workers();
                views
                    .find(|view| tried.contains(&view.worker) && view.in_service + view.handed == 0)
                    .map(|view| Home::At(view.worker))
            });
            if home.is_some() {
                return home;
            }
            sleep(LOOK_EVERY).await;
        }
        None
    }
}

async fn render(gate: &Rc<Gate>, head: &RequestHead, home: Home) -> Option<Render> {
    let road = &gate.road;
    let origin = Origin::own(&road.lobby.trust(), road.lobby.port(), head.scheme);
    let mut exchange = Exchange::Own(Box::new(Own::shadow(head.clone(), home)));
    let mut request = Request::new(IpAddr::V4(Ipv4Addr::LOCALHOST));
    request.head = head.clone();
    let response = ask::fetch(&mut exchange, &origin, Rc::clone(gate), &mut request, Body::default()).await.ok()?;
    let ResponseBody::Fill(answer, _) = response.body else { return None };
    let body = read(&answer).await?;
    let worker = request.call.as_ref().and_then(Call::ticket).and_then(|ticket| ticket.answer.facts.worker.get())?;
    let is_of_trial = gate.sessions.trial.has(worker);
    if is_of_trial != matches!(home, Home::At(_)) {
        return None;
    }
    let fields = &response.head.fields;
    let is_html = fields.get("Content-Type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"text/html"))
        && !fields.contains("Content-Encoding");
    Some(Render { status: response.head.status, is_html, body, class: Rc::clone(&request.class.name) })
}

/// Reads the whole body; `None` if it is too long, or incomplete.
async fn read(answer: &Answer) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        match answer.next() {
            Some(Next::Data(data)) => body.extend_from_slice(&data),
            Some(Next::Spilled { .. }) => body.extend_from_slice(&answer.read_back(READ_BYTES).await.ok()?),
            Some(Next::End(End::Complete)) => return Some(body),
            Some(Next::End(End::Failed(_) | End::Left)) => return None,
            Some(Next::Informational(_) | Next::Head(_)) => {}
            None => answer.changed.wait().await,
        }
        if body.len() > BYTES_MAX {
            return None;
        }
    }
}
