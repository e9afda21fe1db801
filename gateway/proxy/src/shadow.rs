//! Shadow renders of a trial: a sampled page is rendered again by both versions, and the two are compared.
//!
//! Only safe requests without credentials are repeated, after their answer, if that was HTML and not for one visitor alone. They have
//! only those fields that pages usually depend on. A render begins
//! while a worker of its version holds nothing and nobody waits. There is one at a time, with rests between pages. So a visitor may
//! wait for a worker that has begun one, and for nothing else. Shadow renders are in no statistics.

mod private;
mod told;

use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sluice_catalog::snapshot::PagesSnapshot;
use sluice_compare::{PageDifference, PageVerdict, compare_pages};
use sluice_message::{Method, RequestHead, ResponseHead};
use sluice_scheduler::{Home, RequestId, WorkerId};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use crate::ask;
use crate::gate::Gate;
use private::{has_private_fields, has_secret, is_for_one};
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

/// Maximum number of pages that wait for their comparison. Further ones are not taken.
const WAITING_MAX: usize = 8;
/// Maximum size of a compared body, bytes.
const BYTES_MAX: usize = 1024 * 1024;
/// Time limit of a render.
const RENDER_MAX: Duration = Duration::from_secs(10);
/// Time limit of the comparison of two versions of a page.
const COMPARE_MAX: Duration = Duration::from_secs(1);
/// Maximum number of requests with a started answer that are to be repeated.
const CHOSEN_MAX: usize = 1024;
/// Maximum wait for a worker without requests.
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
    chosen: RefCell<HashSet<RequestId>>,
    run: RefCell<Option<Rc<Run>>>,
}

/// Shadow renders of one trial.
struct Run {
    millionths: u32,
    waiting: RefCell<VecDeque<Sample>>,
    changed: Notify,
    /// Comparisons on another thread look at it.
    is_over: Arc<AtomicBool>,
    pages: RefCell<Pages>,
}

/// A request that waits for its comparison.
struct Sample {
    /// Head as it is repeated.
    head: RequestHead,
    class: Rc<str>,
    /// Path and query as the access log shows them.
    shown: String,
}

/// A page as one version renders it.
enum Render {
    Page(Arc<str>),
    /// Another answer, by its status and kind.
    Other(String),
    /// An answer for one visitor alone.
    Private,
}

/// A page was not compared.
enum LeftOut {
    /// Page of one visitor.
    Private,
    /// Page whose renders did not end as whole pages.
    Unended,
}

impl Shadows {
    /// Begins to compare this share of the pages, in millionths, until [`Shadows::end`].
    pub fn begin(&self, gate: &Rc<Gate>, millionths: u32) {
        self.end();
        let run = Rc::new(Run {
            millionths,
            waiting: RefCell::default(),
            changed: Notify::new(),
            is_over: Arc::default(),
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
        self.chosen.borrow_mut().clear();
        if let Some(run) = self.run.take() {
            run.is_over.store(true, Ordering::Relaxed);
            run.changed.notify_one();
        }
    }

    /// Differences so far; `None` if nothing is compared.
    pub fn snapshot(&self) -> Option<PagesSnapshot> {
        self.run.borrow().as_ref().map(|run| run.pages.borrow().snapshot(run.millionths))
    }

    /// Chooses a request whose answer begins, by chance, if that is a page for everybody.
    pub(crate) fn answered(&self, request: &Request, head: &ResponseHead) {
        if !self.is_on.get() {
            return;
        }
        let Some(ticket) = request.call.as_ref().and_then(Call::ticket) else { return };
        let mut chosen = self.chosen.borrow_mut();
        if let Some(run) = &*self.run.borrow()
            && fastrand::u32(..1_000_000) < run.millionths
            && head.status == 200
            && is_html(head)
            && !is_for_one(&head.fields)
            && chosen.len() < CHOSEN_MAX
        {
            chosen.insert(ticket.number);
        }
    }

    /// Takes a request that has ended into the sample, if it was chosen.
    pub(crate) fn ended(&self, gate: &Gate, request: &Request, sent: &SendOutcome) {
        if !self.is_on.get() {
            return;
        }
        let Some(ticket) = request.call.as_ref().and_then(Call::ticket) else { return };
        if self.chosen.borrow_mut().remove(&ticket.number)
            && let Some(run) = &*self.run.borrow()
            && sent.status == 200
            && is_repeatable(request)
            && !has_secret(&request.head.path_and_query, &gate.road.config().log.query_masked)
        {
            let shown = gate.road.observer.journal().shown(&request.head.path_and_query).into_owned();
            run.take(&request.head, &request.class.name, shown);
        }
    }
}

/// Whether a worker rendered it, and would render the same for anybody.
fn is_repeatable(request: &Request) -> bool {
    request.head.method == Method::Get
        && request.call.as_ref().is_some_and(|call| call.ticket().is_some())
        && !request.has_credentials()
        && !has_private_fields(&request.head.fields)
        && request.upgrade.is_none()
        && request.bytes_in == 0
        && !request.head.fields.contains("Range")
}

fn is_html(head: &ResponseHead) -> bool {
    head.fields.get("Content-Type").is_some_and(|kind| kind.to_ascii_lowercase().starts_with(b"text/html"))
}

impl Run {
    fn take(&self, head: &RequestHead, class: &Rc<str>, shown: String) {
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
        waiting.push_back(Sample { head: repeated, class: Rc::clone(class), shown });
        self.changed.notify_one();
    }

    async fn run(&self, gate: &Weak<Gate>) {
        while !self.is_over() {
            let next = self.waiting.borrow_mut().pop_front();
            let Some(sample) = next else {
                self.changed.notified().await;
                continue;
            };
            let Some(gate) = gate.upgrade() else { return };
            let mut spent = Duration::ZERO;
            let verdict = match self.compare(&gate, &sample.head, &mut spent).await {
                Ok(verdict) => Some(verdict),
                Err(LeftOut::Unended) => Some(PageVerdict::Unclear),
                Err(LeftOut::Private) => None,
            };
            if let Some(verdict) = verdict
                && !self.is_over()
            {
                self.pages.borrow_mut().note(&sample.class, &sample.shown, verdict);
            }
            drop(gate);
            sleep(spent * REST).await;
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Compares one page, if both versions render it, and for everybody.
    async fn compare(&self, gate: &Rc<Gate>, head: &RequestHead, spent: &mut Duration) -> Result<PageVerdict, LeftOut> {
        let mut present = vec![self.page(gate, head, spent).await?];
        let trial = match self.render(gate, head, true, spent).await? {
            Render::Page(text) => text,
            Render::Private => return Err(LeftOut::Private),
            Render::Other(trial) => {
                let difference = PageDifference { line: 0, present: "status 200".to_owned(), trial };
                return Ok(PageVerdict::Differs(difference));
            }
        };
        let mut verdict = PageVerdict::Unclear;
        // A difference is one if a third render of the present version does not have it either.
        for _ in 0..2 {
            present.push(self.page(gate, head, spent).await?);
            let began = Instant::now();
            let (present, trial, is_over) = (present.clone(), Arc::clone(&trial), Arc::clone(&self.is_over));
            // Long pages that have much in common take milliseconds.
            let compared = tokio::task::spawn_blocking(move || {
                let until = Instant::now() + COMPARE_MAX;
                let is_over = || is_over.load(Ordering::Relaxed) || Instant::now() >= until;
                let present: Vec<_> = present.iter().map(|text| &**text).collect();
                compare_pages(&present, &trial, is_hashed_file, &is_over)
            });
            verdict = compared.await.map_err(|_| LeftOut::Unended)?;
            *spent += began.elapsed();
            if !matches!(verdict, PageVerdict::Differs(_)) {
                break;
            }
        }
        Ok(verdict)
    }

    /// The page of the present version.
    async fn page(&self, gate: &Rc<Gate>, head: &RequestHead, spent: &mut Duration) -> Result<Arc<str>, LeftOut> {
        match self.render(gate, head, false, spent).await? {
            Render::Page(text) => Ok(text),
            Render::Private => Err(LeftOut::Private),
            Render::Other(_) => Err(LeftOut::Unended),
        }
    }

    /// Renders the page by a worker of one version, when one holds nothing.
    async fn render(
        &self,
        gate: &Rc<Gate>,
        head: &RequestHead,
        by_trial: bool,
        spent: &mut Duration,
    ) -> Result<Render, LeftOut> {
        let home = self.slack(gate, by_trial).await.ok_or(LeftOut::Unended)?;
        let began = Instant::now();
        let rendered = timeout(RENDER_MAX, render(gate, head, home)).await;
        *spent += began.elapsed();
        rendered.ok().flatten().ok_or(LeftOut::Unended)
    }

    /// Waits until nobody waits, and a worker of the version holds nothing.
    async fn slack(&self, gate: &Gate, by_trial: bool) -> Option<Home> {
        let until = Instant::now() + SLACK_MAX;
        while !self.is_over() && Instant::now() < until {
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
    let worker = request.call.as_ref().and_then(Call::ticket).and_then(|ticket| ticket.answer.facts.worker.get())?;
    let is_of_trial = gate.sessions.trial.has(worker);
    if is_of_trial != matches!(home, Home::At(_)) {
        return None;
    }
    // Only pages are read.
    let head = &response.head;
    if is_for_one(&head.fields) {
        return Some(Render::Private);
    }
    let is_page = is_html(head) && !head.fields.contains("Content-Encoding");
    if head.status != 200 || !is_page {
        return Some(Render::Other(format!("status {}{}", head.status, if is_page { "" } else { ", no HTML" })));
    }
    let text = String::from_utf8_lossy(&read(&answer).await?).into_owned();
    // Bytes that are no UTF-8 become three each.
    (text.len() <= BYTES_MAX).then(|| Render::Page(text.into()))
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
