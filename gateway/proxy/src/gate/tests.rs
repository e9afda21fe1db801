//! What no request can bring about from the outside.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_journal::{Journal, Options, Outcome};
use sluice_observe::Observer;
use sluice_scheduler::{Action, Event, RequestId, WorkerId};
use sluice_supervisor::Gate as _;

use sluice_catalog::errors::Code;
use sluice_message::Method;

use super::Gate;
use crate::quarantine::deaths::Pass;
use crate::upstream::{RequestParts, SlotOwner as _, WorkerMessage, WorkerRequest};
use sluice_classes::{Class, Traits};
use sluice_road::ActiveConfig;
use sluice_road::request::passage::Request;
use sluice_road::request::ticket::{Call, Ticket};
use sluice_road::respond::SendOutcome;
use sluice_wire::receive::body::Body;
use sluice_wire::respond::answer::Answer;
use tokio::time::Instant;

fn one_ready_worker() -> Rc<Gate> {
    one_ready_worker_at("/nowhere.sock".into(), true).0
}

/// Its only worker holds a request already.
pub(crate) fn busy_gate() -> Rc<Gate> {
    let gate = one_ready_worker();
    submit(&gate, Method::Get);
    gate
}

pub(crate) fn one_ready_worker_at(socket: std::path::PathBuf, marks: bool) -> (Rc<Gate>, WorkerId) {
    one_ready_worker_with(Config::default(), socket, marks)
}

pub(crate) fn one_ready_worker_with(config: Config, socket: std::path::PathBuf, marks: bool) -> (Rc<Gate>, WorkerId) {
    let journal = Journal::to_stdout(Options { access: false, ..Options::default() }).unwrap();
    let config = Rc::new(config);
    let observer = Observer::new(&config, journal);
    let gate = crate::gate(ActiveConfig::read(config).unwrap(), observer).unwrap();
    let asked_for = Rc::new(Cell::new(None));
    let started = Rc::clone(&asked_for);
    gate.set_host(Rc::new(move |action| {
        if let Action::Start { worker, .. } = action {
            started.set(Some(worker));
        }
    }));
    gate.dispatch.scale(1);
    let worker = asked_for.get().expect("a worker is asked for");
    gate.workers().listening(worker, socket, marks);
    (gate, worker)
}

/// The request ends for its client.
fn end(gate: &Rc<Gate>, request: RequestId, outcome: Outcome) {
    let answer = Rc::clone(&gate.dispatch.requests.exchange(request).expect("a worker has it").answer);
    let mut passed = Request::new(std::net::Ipv4Addr::LOCALHOST.into());
    passed.call = Some(Call::Worker(Ticket::new(Rc::clone(gate) as _, request, &answer)));
    gate.records.record(Instant::now(), passed, &SendOutcome { outcome, status: 200, error: None, bytes_out: 0 });
}

/// A request that the worker has, as the gate sees it: no task carries it out.
fn held(gate: &Gate, worker: WorkerId, class: Class) -> RequestId {
    let request = asked(gate, Method::Get, class);
    request.answer.facts.worker.set(Some(worker));
    request.tell(sluice_dispatch::Event::Assigned { is_ahead: false, is_reused: false });
    gate.dispatch.requests.add(&request);
    request.request
}

fn asked(gate: &Gate, method: Method, class: Class) -> Rc<WorkerRequest> {
    let request = gate.dispatch.requests.next_number();
    let asked = RequestParts {
        request,
        message: WorkerMessage {
            token: gate.tokens.of(request),
            head: format!("{} /page HTTP/1.1\r\n\r\n", method.as_str()).into_bytes(),
            body: Body::default().into(),
            method,
            is_upgrade: false,
            request_id: "r".into(),
        },
        class,
        answer: gate.road.new_answer(),
        is_own: false,
        pass: Some(Pass::default()),
        seat: None,
    };
    gate.worker_request(asked)
}

/// A request as it comes from a client.
pub(crate) fn submit(gate: &Rc<Gate>, method: Method) -> (RequestId, Rc<Answer>) {
    submit_of(gate, method, Class::default())
}

fn submit_of(gate: &Rc<Gate>, method: Method, class: Class) -> (RequestId, Rc<Answer>) {
    let asked = asked(gate, method, class);
    gate.dispatch.submit(Instant::now(), &asked);
    (asked.request, Rc::clone(&asked.answer))
}

/// A worker's socket that takes connections and what comes on them, and answers nothing.
fn silent_socket() -> std::path::PathBuf {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("slu-gate-{}-{number}.sock", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    tokio::task::spawn_local(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    path
}

#[tokio::test]
async fn a_dispatch_without_its_request_takes_no_slot() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let gate = one_ready_worker();
            // The scheduler knows of a request that the gate has nothing of.
            gate.dispatch.tell(Event::Arrived { request: RequestId(1), need: sluice_scheduler::Need::default() });
            assert_eq!(gate.scheduler.read(sluice_scheduler::Scheduler::in_service), 0);
            assert!(gate.scheduler.read(sluice_scheduler::Scheduler::has_free_slot));
        })
        .await;
}

/// A worker exits after so many turns of the loop since it was given a request, whose client leaves then or does not.
async fn exit_after(turns: u32, method: Method, leaves: bool) {
    // The connection stays open, as if somebody else held it: only the exit ends the exchange.
    let socket = if turns.is_multiple_of(3) { "/nowhere.sock".into() } else { silent_socket() };
    let (gate, worker) = one_ready_worker_at(socket.clone(), true);
    let (request, answer) = submit(&gate, method.clone());
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    gate.workers().exited(worker);
    if leaves {
        gate.dispatch.leave(request);
        answer.abandon();
    }
    let what = format!("{} after {turns} turns, the client leaves: {leaves}", method.as_str());
    let is_settled = || {
        gate.dispatch.requests.all_held().is_empty()
            && (leaves || gate.dispatch.is_queued(request) != answer.failure().is_some())
    };
    for _ in 0..1000 {
        if is_settled() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(is_settled(), "{what}");
    let queued = gate.scheduler.read(sluice_scheduler::Scheduler::queue_length);
    assert_eq!(queued, usize::from(gate.dispatch.is_queued(request)), "{what}");
    match answer.failure() {
        _ if leaves => assert_eq!(queued, 0, "{what}"),
        None => assert_eq!(queued, 1, "{what}"),
        Some(code) => assert_eq!((code, method, queued), (Code::WorkerDied, Method::Post, 0), "{what}"),
    }
    let _ = std::fs::remove_file(socket);
}

#[tokio::test]
async fn i3_i5_a_worker_that_exits_at_any_moment_neither_loses_nor_duplicates_a_request() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let mut cases = tokio::task::JoinSet::new();
            for turns in 0..24 {
                for (method, leaves) in [(Method::Get, false), (Method::Get, true), (Method::Post, false)] {
                    cases.spawn_local(exit_after(turns, method, leaves));
                }
            }
            while let Some(case) = cases.join_next().await {
                case.unwrap();
            }
        })
        .await;
}

#[tokio::test]
async fn the_record_of_an_answer_that_its_worker_died_with_waits_for_no_report() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (gate, worker) = one_ready_worker_at("/nowhere.sock".into(), true);
            let request = held(&gate, worker, Class::default());
            end(&gate, request, Outcome::Answered);
            assert_eq!(
                gate.road.observer.journal().outcomes().get("answered"),
                None,
                "the worker is still to say what it cost"
            );
            let request = held(&gate, worker, Class::default());
            end(&gate, request, Outcome::WorkerDied);
            assert_eq!(gate.road.observer.journal().outcomes().get("worker_died"), Some(&1));
        })
        .await;
}

#[tokio::test]
async fn i8_a_cost_that_no_request_can_have_counts_as_an_hour() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (gate, worker) = one_ready_worker_at("/nowhere.sock".into(), true);
            for target in ["/", "/", "/about"] {
                let class = gate.costs.classify(&Traits { method: &Method::Get, host: "app", target, body_bytes: 0 });
                gate.reports().reported(
                    worker,
                    held(&gate, worker, class),
                    &sluice_supervisor::CpuReport { cpu_us: Some(u64::MAX), ..Default::default() },
                );
            }
            let took_us: Vec<_> = gate.costs.classes.list().iter().map(|class| class.totals.cpu_us).collect();
            assert_eq!(took_us, [7_200_000_000, 3_600_000_000]);
            let shares: f64 = gate.costs.snapshot().classes.iter().map(|class| class.cpu_share).sum();
            assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        })
        .await;
}

#[tokio::test]
async fn a_cost_that_is_not_the_requests_own_teaches_nothing_and_is_in_no_log_line() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (gate, worker) = one_ready_worker_at("/nowhere.sock".into(), true);
            let asked = Traits { method: &Method::Get, host: "app", target: "/", body_bytes: 0 };
            let id = gate.costs.classify(&asked).id;
            let report = |cpu_us| {
                let request = held(&gate, worker, gate.costs.classify(&asked));
                end(&gate, request, Outcome::Answered);
                gate.reports().reported(
                    worker,
                    request,
                    &sluice_supervisor::CpuReport { cpu_us, ..Default::default() },
                );
            };
            let mean_us = || gate.scheduler.read(|scheduler| scheduler.costs().class_mean_us(id));
            let took_us = || gate.costs.classes.list()[0].totals.cpu_us;
            report(None);
            assert_eq!((mean_us(), took_us()), (None, 0));
            report(Some(3_000));
            report(None);
            assert_eq!(mean_us(), Some(3_000));
            assert_eq!(took_us(), 6_000, "estimated, for the class's part of all CPU time");
            assert_eq!(gate.scheduler.read(|scheduler| scheduler.costs().records(id)), 1);
            assert_eq!(
                gate.road.observer.journal().outcomes().get("answered"),
                Some(&3),
                "nobody waits for a cost that is not told"
            );
            let mut page = sluice_journal::Page::default();
            gate.road.observer.journal().write_metrics(&mut page);
            let text = page.into_text();
            assert!(text.contains("sluice_request_cpu_seconds_count 1"), "{text}");
        })
        .await;
}

#[tokio::test]
async fn of_a_light_class_one_request_in_16_is_measured_until_one_outside_the_sample_took_long() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (gate, worker) = one_ready_worker_at("/nowhere.sock".into(), true);
            let asked = Traits { method: &Method::Get, host: "app", target: "/", body_bytes: 0 };
            let report = |reported: sluice_supervisor::CpuReport<'_>| {
                let request = held(&gate, worker, gate.costs.classify(&asked));
                end(&gate, request, Outcome::Answered);
                gate.reports().reported(worker, request, &reported);
            };
            let measured =
                |cpu_us, weight| sluice_supervisor::CpuReport { cpu_us: Some(cpu_us), weight, ..Default::default() };
            let class = gate.costs.classify(&asked);
            assert_eq!(gate.costs.sample(&class), None, "nothing is known of it");
            (0..60).for_each(|_| report(measured(150, None)));
            let weights: Vec<_> = (0..8_000).map(|_| gate.costs.sample(&class)).collect();
            let sampled = weights.iter().filter(|weight| **weight == Some(16)).count();
            assert!((350..650).contains(&sampled), "{sampled} of 8,000");
            assert!(weights.iter().all(|weight| matches!(weight, Some(0 | 16))));

            let records = || gate.scheduler.read(|scheduler| scheduler.costs().records(class.id));
            let took_us = || gate.costs.classes.list()[0].totals.cpu_us;
            let before = (records(), took_us());
            report(sluice_supervisor::CpuReport::default());
            assert_eq!((records(), took_us()), (before.0, before.1 + 150), "counted with the class's mean");
            report(measured(80_000, Some(0)));
            assert_eq!((records(), took_us()), (before.0, before.1 + 300), "it teaches nothing");
            assert_eq!(gate.costs.sample(&class), None, "all are measured for a while");
            report(measured(160, Some(1_000)));
            assert_eq!(records(), before.0 + 1);
            let mut page = sluice_journal::Page::default();
            gate.road.observer.journal().write_metrics(&mut page);
            let text = page.into_text();
            assert!(text.contains("sluice_request_cpu_seconds_count 76"), "a worker's word has a bound: {text}");
        })
        .await;
}

/// A gate with a record that waits for its report, and how many records have been emitted so much later.
fn waiting_for_a_report() -> (Rc<Gate>, WorkerId, RequestId, impl Fn(&Rc<Gate>, u64) -> u64) {
    let (gate, worker) = one_ready_worker_at("/nowhere.sock".into(), true);
    let now = Instant::now();
    gate.reports().has_reported_all(worker, now);
    let request = held(&gate, worker, Class::default());
    end(&gate, request, Outcome::Answered);
    let emitted = move |gate: &Rc<Gate>, after_ms| {
        gate.records.sweep(now + Duration::from_millis(after_ms));
        gate.road.observer.journal().outcomes().get("answered").copied().unwrap_or(0)
    };
    (gate, worker, request, emitted)
}

#[tokio::test]
async fn a_report_is_waited_for_until_its_worker_was_heard_without_it() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (gate, worker, _, emitted) = waiting_for_a_report();
            assert_eq!(emitted(&gate, 5_000), 0, "the worker renders something else and can say nothing");
            gate.reports().has_reported_all(worker, Instant::now() + Duration::from_millis(5_100));
            assert_eq!(emitted(&gate, 20_000), 1, "it has said that there is no report");

            let (gate, worker, request, emitted) = waiting_for_a_report();
            gate.reports().reported(
                worker,
                request,
                &sluice_supervisor::CpuReport { cpu_us: Some(1_300_000), ..Default::default() },
            );
            assert_eq!(emitted(&gate, 0), 1, "the report has come");

            let (gate, worker, _, emitted) = waiting_for_a_report();
            gate.workers().exited(worker);
            gate.reports().has_reported_all(worker, Instant::now());
            assert_eq!(emitted(&gate, 900), 0, "its last words are still read");
            assert_eq!(emitted(&gate, 20_000), 1, "nobody is left who could report");

            let (gate, _, _, emitted) = waiting_for_a_report();
            assert_eq!(emitted(&gate, 60_000), 1, "the wait has a bound");
        })
        .await;
}

#[tokio::test]
async fn a_report_waits_for_its_client_and_they_are_one_record() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let (gate, worker) = one_ready_worker_at("/nowhere.sock".into(), true);
            let request = held(&gate, worker, Class::default());
            let spent = || gate.road.observer.spending.report(None, None).after.map_or(0, |after| after.all.requests);
            let report = sluice_supervisor::CpuReport { cpu_us: Some(3_000), ..Default::default() };
            gate.reports().reported(worker, request, &report);
            gate.records.sweep(Instant::now() + Duration::from_secs(120));
            assert_eq!(spent(), 0, "its client still reads");
            end(&gate, request, Outcome::Answered);
            assert_eq!((gate.road.observer.journal().outcomes().get("answered"), spent()), (Some(&1), 1));
            let mut page = sluice_journal::Page::default();
            gate.road.observer.journal().write_metrics(&mut page);
            let text = page.into_text();
            assert!(text.contains("sluice_request_cpu_seconds_count 1"), "however late the client ends: {text}");

            let request = held(&gate, worker, Class::default());
            gate.records.record_nothing(request);
            gate.reports().reported(worker, request, &report);
            assert_eq!(
                (gate.road.observer.journal().outcomes().get("answered"), spent()),
                (Some(&1), 2),
                "nobody's line"
            );
        })
        .await;
}

#[tokio::test]
async fn only_a_worker_that_never_reports_is_measured_by_its_service_time() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            for reports in [false, true] {
                let (gate, worker) = one_ready_worker_at(silent_socket(), true);
                if reports {
                    gate.reports().has_reported_all(worker, Instant::now());
                }
                let asked = Traits { method: &Method::Get, host: "app", target: "/page", body_bytes: 0 };
                let class = gate.costs.classify(&asked);
                let id = class.id;
                let (request, _answer) = submit_of(&gate, Method::Get, class);
                gate.dispatch.requests.answered(request, Instant::now());
                end(&gate, request, Outcome::Answered);
                gate.records.sweep(Instant::now() + Duration::from_secs(40));
                assert_eq!(gate.road.observer.journal().outcomes()["answered"], 1, "one record of both");
                let spent = gate.road.observer.spending.report(None, None).after.map_or(0, |after| after.all.requests);
                assert_eq!(spent, u64::from(!reports));
                let is_measured = gate.scheduler.read(|scheduler| scheduler.costs().class_mean_us(id)).is_some();
                assert_eq!(is_measured, !reports);
            }
        })
        .await;
}

/// In a runtime without timers, whatever waits with a bound panics: here the slot's task, when its worker closes the
/// connection in the middle of an answer.
#[test]
fn a_panic_in_a_slot_answers_its_request_and_gives_its_worker_up() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let path = std::env::temp_dir().join(format!("slu-gate-{}-lost.sock", std::process::id()));
        let listener = tokio::net::UnixListener::bind(&path).unwrap();
        tokio::task::spawn_local(async move { drop(listener.accept().await) });
        let (gate, worker) = one_ready_worker_at(path.clone(), true);
        let (_, answer) = submit(&gate, Method::Post);
        for _ in 0..100_000 {
            gate.tick();
            if answer.failure().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
        let _ = std::fs::remove_file(path);
        assert_eq!(answer.failure(), Some(Code::GatewayFailed));
        assert!(gate.dispatch.requests.all_held().is_empty());
        let state = gate.scheduler.read(|scheduler| scheduler.worker_state(worker));
        assert_ne!(state, Some(sluice_scheduler::WorkerState::Ready), "nothing more goes to it");
        assert!(gate.dispatch.slots.of(worker).unwrap().is_dying.get());
    });
}

/// What panics is a second borrow of the scheduler, which the test holds.
#[tokio::test]
async fn a_panic_while_a_slot_is_given_back_loses_no_slot() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            for is_stream in [false, true] {
                let (gate, worker) = one_ready_worker_at(silent_socket(), true);
                let (request, _answer) = submit(&gate, Method::Post);
                let lease = gate.dispatch.slots.lease(worker, request);
                let held = gate.scheduler.scheduler.borrow_mut();
                let given_back = catch_unwind(AssertUnwindSafe(|| {
                    if is_stream {
                        drop(gate.returns.detached(lease));
                    } else {
                        gate.returns.finished(lease, Instant::now());
                    }
                }));
                drop(held);
                assert!(given_back.is_err());
                gate.tick();
                assert!(gate.dispatch.slots.of(worker).unwrap().is_dying.get(), "the worker is replaced");
            }
        })
        .await;
}
