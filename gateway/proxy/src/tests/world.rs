//! A gate, its log, and who stands for the supervisor. Time passes only while everything waits.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::{Config, Lanes};
use sluice_journal::{Filter, Journal, Options, Subscription};
use sluice_message::Scheme;
use sluice_observe::Observer;
use sluice_scheduler::{Action, WorkerId, WorkerState};
use sluice_supervisor::Gate as _;
use tokio::sync::Notify;
use tokio::task::{JoinHandle, LocalSet, spawn_local};
use tokio::time::{Instant, sleep, timeout};

use super::client::Client;
use super::worker::{Call, MARK, Preload, Worker};
use crate::gate::Gate;
use sluice_road::ActiveConfig;
use sluice_wire::front::client::ClientStream;
use sluice_wire::front::connection::serve;
use sluice_wire::front::h2;
use sluice_wire::front::handles::Handle;
use sluice_wire::front::listen;
use sluice_wire::front::origin::Origin;
use sluice_wire::socket::{Socket, memory};

/// How often the gateway looks for what is due, and a preload says that its event loop turns.
const TICK: Duration = Duration::from_millis(25);
/// No story takes longer; one that does hangs.
const STORY_MAX: Duration = Duration::from_secs(3600);
/// What the pipe to a client holds each way, as the kernel's buffers do.
const CLIENT_BYTES: usize = 64 * 1024;

/// What the gate has asked the supervisor for.
#[derive(Default)]
struct SupervisorCalls {
    starts: RefCell<VecDeque<WorkerId>>,
    started: Notify,
    killed: RefCell<Vec<WorkerId>>,
}

pub(super) struct World {
    pub(super) gate: Rc<Gate>,
    began: Instant,
    asked: Rc<SupervisorCalls>,
    log: RefCell<Subscription>,
    /// Lines of requests that were read of the log and not asked for yet, and notes.
    lines: RefCell<VecDeque<String>>,
    /// CPU times that lines of requests say, by target.
    cpu_ms: RefCell<HashMap<String, Option<f64>>>,
    notes: RefCell<Vec<String>>,
    ports: Cell<u16>,
}

/// Plays a story with the config that users get, but for the lanes: whether there is a second one is left to the machine.
pub(super) fn play(story: impl AsyncFnOnce(World)) {
    play_with(|_| {}, story);
}

/// The same with another config.
pub(super) fn play_with(set: impl FnOnce(&mut Config), story: impl AsyncFnOnce(World)) {
    let mut config = Config::default();
    config.workers.lanes = Lanes::Off;
    config.memory.buffers_bytes_max = 64 << 20;
    config.cache.bytes_max = 256 << 20;
    set(&mut config);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let told = timeout(STORY_MAX, async { story(World::new(config)).await }).await;
        assert!(told.is_ok(), "the story has no end");
    });
}

impl World {
    fn new(config: Config) -> Self {
        let journal = Journal::new(Options::default(), std::io::sink()).unwrap();
        let log = RefCell::new(journal.subscribe(Filter::default(), 0));
        let config = Rc::new(config);
        let observer = Observer::new(&config, journal);
        let gate = crate::gate(ActiveConfig::read(config).unwrap(), observer).unwrap();
        let asked = Rc::<SupervisorCalls>::default();
        let (told, ticking) = (Rc::clone(&asked), Rc::clone(&gate));
        gate.set_host(Rc::new(move |action| match action {
            Action::Start { worker, .. } => {
                told.starts.borrow_mut().push_back(worker);
                told.started.notify_one();
            }
            Action::Kill { worker, .. } => told.killed.borrow_mut().push(worker),
            _ => {}
        }));
        spawn_local(async move {
            loop {
                sleep(TICK).await;
                ticking.tick();
            }
        });
        gate.dispatch.scale(1);
        World {
            gate,
            began: Instant::now(),
            asked,
            log,
            lines: RefCell::default(),
            cpu_ms: RefCell::default(),
            notes: RefCell::default(),
            ports: Cell::new(40_000),
        }
    }

    /// The next worker that the gate asks for, with a preload, once it listens.
    pub(super) async fn worker(&self) -> Worker {
        self.worker_that(true).await
    }

    /// One of another runtime than Node, or without the preload.
    pub(super) async fn worker_without_preload(&self) -> Worker {
        self.worker_that(false).await
    }

    async fn worker_that(&self, has_preload: bool) -> Worker {
        let id = loop {
            let id = self.asked.starts.borrow_mut().pop_front();
            match id {
                Some(id) => break id,
                None => self.asked.started.notified().await,
            }
        };
        let worker = Worker::listen(&self.gate, id, has_preload);
        if has_preload {
            let gate = Rc::clone(&self.gate);
            spawn_local(async move {
                while gate.scheduler.read(|scheduler| scheduler.worker_state(id)).is_some() {
                    gate.reports().has_reported_all(id, Instant::now());
                    sleep(TICK).await;
                }
            });
        }
        worker
    }

    /// Workers that the gate has had killed, or asked to leave, since this was asked.
    pub(super) fn killed(&self) -> Vec<u64> {
        self.asked.killed.take().iter().map(|worker| worker.0).collect()
    }

    pub(super) fn client(&self) -> Client {
        self.client_that_takes(CLIENT_BYTES)
    }

    /// A client behind a connection that holds so many bytes.
    pub(super) fn client_that_takes(&self, bytes: usize) -> Client {
        let (ours, stream, origin, handle) = self.arrive(bytes, Scheme::Http);
        Client::new(ours, spawn_local(serve(stream, origin, Rc::clone(&self.gate.road), handle)))
    }

    /// The same for HTTP/2: the client's end, and the task of the gateway's.
    pub(super) fn http2(&self, bytes: usize) -> (memory::End, JoinHandle<()>) {
        let (ours, stream, origin, handle) = self.arrive(bytes, Scheme::Https);
        let serving = h2::connection::serve(stream, origin, Rc::clone(&self.gate.road), handle);
        (ours, spawn_local(serving))
    }

    /// The client's end of a new connection, and the gateway's.
    fn arrive(&self, bytes: usize, scheme: Scheme) -> (memory::End, ClientStream, Origin, Handle) {
        self.ports.set(self.ports.get() + 1);
        let peer = SocketAddr::from(([203, 0, 113, 9], self.ports.get()));
        let (ours, theirs) = memory::pipe(bytes);
        let Ok(handle) = self.gate.road.lobby.take_in(peer.ip()) else { panic!("there is room for a client") };
        let local = SocketAddr::from(([192, 0, 2, 1], 3000));
        let stream = ClientStream::Plain(Socket::Memory(theirs));
        (ours, stream, listen::origin(&self.gate.road.lobby, peer, local, scheme), handle)
    }

    /// A client asks for this, and the only worker has read that.
    pub(super) async fn asked(&self, target: &str) -> (Worker, Client, Call) {
        let (worker, mut client) = (self.worker().await, self.client());
        client.get(target).await;
        let call = worker.call().await;
        assert_eq!((self.slot(&worker).as_str(), self.at_ms()), ("holds 1", 0));
        (worker, client, call)
    }

    /// The only worker has answered a first request, goes on with it, and gives the client's second one back.
    pub(super) async fn given_back(&self) -> (Worker, Client, Preload) {
        let (worker, mut client, mut first) = self.asked("/first").await;
        first.write(&format!("HTTP/1.1 200 OK\r\n{MARK}Content-Length: 2\r\n\r\nok")).await;
        client.answer().await;
        let first_id = first.id;
        client.get("/second").await;
        let second = first.next().await.expect("the next request");
        (worker, client, second.gives_back(first_id))
    }

    /// The worker takes another request, on a new connection, and answers it.
    pub(super) async fn serves(&self, worker: &Worker) {
        assert_eq!(self.slot(worker), "free");
        let mut client = self.client();
        client.get("/next").await;
        let mut call = worker.call().await;
        call.answer("next").await;
        assert_eq!(client.answer().await, "HTTP/1.1 200 OK, next");
        assert_eq!(self.line().await, format!("GET /next 200 answered, worker {}, 4 bytes, 0 ms", worker.id.0));
        assert_eq!(self.slot(worker), "free");
        client.leave();
    }

    /// Milliseconds since the beginning.
    pub(super) fn at_ms(&self) -> u128 {
        self.began.elapsed().as_millis()
    }

    /// Lets time pass.
    pub(super) async fn pass(&self, ms: u64) {
        sleep(Duration::from_millis(ms)).await;
    }

    /// Lets everything happen that needs no time.
    pub(super) async fn settle(&self) {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    /// A worker in one word or two: how many it holds, and whether it is to get more.
    pub(super) fn slot(&self, worker: &Worker) -> String {
        let view = self.gate.scheduler.read(|scheduler| scheduler.workers().find(|view| view.worker == worker.id));
        let Some(view) = view else { return "gone".to_owned() };
        let holds = match (view.in_service, view.handed, view.streams) {
            (0, 0, 0) => "free".to_owned(),
            (held, 0, 0) => format!("holds {held}"),
            (held, handed, 0) => format!("holds {held}, handed {handed}"),
            (held, _, streams) => format!("holds {held}, streams {streams}"),
        };
        if view.state == WorkerState::Ready { holds } else { format!("{holds}, {:?}", view.state) }
    }

    /// The log line of the next request that has ended, in short.
    pub(super) async fn line(&self) -> String {
        loop {
            let line = self.lines.borrow_mut().pop_front();
            if let Some(line) = line {
                return line;
            }
            self.read_log();
            if self.lines.borrow().is_empty() {
                sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// The CPU time that the log says of the request for this target, milliseconds, once it has ended.
    pub(super) async fn cpu_ms(&self, target: &str) -> Option<f64> {
        loop {
            self.read_log();
            let told = self.cpu_ms.borrow().get(target).copied();
            match told {
                Some(cpu_ms) => return cpu_ms,
                None => sleep(Duration::from_millis(1)).await,
            }
        }
    }

    /// Notes for the operator since this was asked, and what is said of quarantined requests.
    pub(super) fn notes(&self) -> Vec<String> {
        self.read_log();
        self.notes.take()
    }

    /// No request has a line that was not asked for.
    pub(super) fn assert_no_line(&self) {
        self.read_log();
        assert!(self.lines.borrow().is_empty(), "{:?}", self.lines.borrow());
    }

    fn read_log(&self) {
        for line in self.log.borrow_mut().read().lines {
            let line: serde_json::Value = serde_json::from_str(&line).unwrap();
            match line["event"].as_str() {
                Some("access") => {
                    let target = line["target"].as_str().unwrap_or_default().to_owned();
                    self.cpu_ms.borrow_mut().insert(target, line["cpu_ms"].as_f64());
                    self.lines.borrow_mut().push_back(in_short(&line));
                }
                Some("note" | "request_quarantined") => {
                    self.notes.borrow_mut().push(line["text"].as_str().unwrap_or_default().to_owned());
                }
                _ => {}
            }
        }
    }
}

/// `GET /page 200 answered, worker 1, 5 bytes, 0 ms`.
fn in_short(line: &serde_json::Value) -> String {
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    let mut short = format!("{} {} {} {}", text("method"), text("target"), line["status"], text("outcome"));
    if let Some(code) = line["error"].as_str() {
        let _ = write!(short, " {code}");
    }
    if let Some(worker) = line["worker"].as_u64() {
        let _ = write!(short, ", worker {worker}");
    }
    if line["tries"].as_u64().is_some_and(|tries| tries > 1) {
        let _ = write!(short, " at try {}", line["tries"]);
    }
    // Of an error it is the length of its text.
    if line["error"].is_null() || line["status"].as_u64().is_some_and(|status| status < 400) {
        let _ = write!(short, ", {} bytes", line["bytes_out"]);
    }
    short + &format!(", {} ms", line["total_ms"].as_f64().unwrap_or(f64::NAN))
}
