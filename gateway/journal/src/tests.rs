use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::*;
use crate::event::tests_support::record;

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn lines(&self) -> Vec<String> {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap().lines().map(str::to_owned).collect()
    }
}

fn journal(format: Format, access: bool) -> (Journal, Memory, Rc<Cell<u64>>) {
    let memory = Memory::default();
    let now_ms = Rc::new(Cell::new(1_000_000));
    let clock = Clock::Manual(Rc::clone(&now_ms));
    let journal = Journal::with_clock(Options { format, access, ..Options::default() }, memory.clone(), clock).unwrap();
    (journal, memory, now_ms)
}

fn note(text: &str) -> Event<'_> {
    Event::Note { level: Level::Info, text }
}

const SOON: Duration = Duration::from_secs(20);

#[test]
fn one_call_writes_the_line_and_moves_the_metric() {
    let (journal, memory, _) = journal(Format::Json, true);
    journal.emit(Event::Access(record()));
    assert!(journal.close(SOON));
    let line: Value = serde_json::from_str(&memory.lines()[0]).unwrap();
    assert_eq!(line["event"], "access");
    let mut page = Page::default();
    journal.write_metrics(&mut page);
    let expected =
        "sluice_requests_total{class=\"shop.example GET /product/:id\",status=\"200\",outcome=\"answered\"} 1";
    assert!(page.into_text().contains(expected));
    assert_eq!(journal.answered_total(), 1);
}

#[test]
fn without_an_access_log_requests_are_counted_all_the_same() {
    let (journal, memory, _) = journal(Format::Json, false);
    journal.emit(Event::Access(record()));
    journal.emit(Event::Access(AccessRecord { outcome: Outcome::Shed, ..record() }));
    journal.emit(note("here"));
    assert!(journal.close(SOON));
    assert_eq!(memory.lines().len(), 1);
    assert_eq!((journal.answered_total(), journal.refused_total()), (1, 1));
    assert_eq!(journal.outcomes(), BTreeMap::from([("answered".to_owned(), 1), ("shed".to_owned(), 1)]));
}

#[test]
fn queue_wait_and_service_time_have_percentiles_of_their_own() {
    let (journal, _, now_ms) = journal(Format::Json, false);
    for _ in 0..100 {
        journal.emit(Event::Access(AccessRecord { queue_ms: Some(1.0), service_ms: Some(40.0), ..record() }));
    }
    assert!((journal.queue_wait_ms().p50.unwrap() - 1.0).abs() < 0.02);
    assert!((journal.service_time_ms().p99.unwrap() - 40.0).abs() < 0.8);
    now_ms.set(now_ms.get() + 1000);
    assert!((journal.per_second() - 100.0).abs() < 0.1);
    now_ms.set(now_ms.get() + 70_000);
    assert_eq!(journal.service_time_ms(), Percentiles::default());
}

#[test]
fn refusals_at_once_do_not_lower_the_percentiles_of_queue_wait() {
    let (journal, _, _) = journal(Format::Json, false);
    journal.emit(Event::Access(AccessRecord { queue_ms: Some(800.0), ..record() }));
    for _ in 0..1000 {
        let refused = AccessRecord { queue_ms: None, unserved_ms: Some(0.0), service_ms: None, ..record() };
        journal.emit(Event::Access(AccessRecord { outcome: Outcome::Shed, ..refused }));
    }
    assert!(journal.queue_wait_ms().p50.unwrap() > 780.0);
    assert!(journal.unserved_ms().p99.unwrap() < 0.01);
    let mut page = Page::default();
    journal.write_metrics(&mut page);
    let page = page.into_text();
    assert!(page.contains("sluice_queue_wait_seconds_count 1\n"), "{page}");
    assert!(page.contains("sluice_queue_unserved_seconds_count 1000\n"), "{page}");
}

#[tokio::test(flavor = "current_thread")]
async fn lines_come_out_without_anybody_asking() {
    let (journal, memory, _) = journal(Format::Text, true);
    let run = journal.clone().run();
    let look = async {
        for round in 1..=3 {
            journal.emit(note("round"));
            while memory.lines().len() < round {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    };
    tokio::select! {
        () = run => unreachable!(),
        () = look => {}
        () = tokio::time::sleep(SOON) => panic!("not written: {:?}", memory.lines()),
    }
    assert_eq!(memory.lines()[0], "00:16:40.000Z sluice: round");
}

#[test]
fn brief_lines_are_those_of_the_app_and_what_concerns_it() {
    let (journal, memory, _) = journal(Format::Brief, true);
    let mut subscription = journal.subscribe(Filter::default(), 0);
    journal.emit(Event::WorkerStarted {
        worker: 1,
        pid: 2,
        generation: 1,
        lane: sluice_catalog::snapshot::Lane::Short,
    });
    journal.emit(Event::AppLine {
        worker: 1,
        stream: Stream::Stdout,
        said: AppText::read(Stream::Stdout, "\u{1b}[32mown colours\u{1b}[39m"),
    });
    journal.emit(Event::AppLine { worker: 1, stream: Stream::Stderr, said: AppText::read(Stream::Stderr, "") });
    journal.emit(Event::WorkerReady { worker: 1, after_ms: 7 });
    journal.emit(note("told"));
    let down = AccessRecord { status: 503, error: Some(sluice_catalog::errors::Code::AppDown), ..record() };
    journal.emit(Event::Access(AccessRecord { method: "HEAD", ..down }));
    assert!(journal.close(SOON));
    assert_eq!(
        memory.lines(),
        ["\u{1b}[32mown colours\u{1b}[39m", "", "sluice: the app is ready after 7 ms", "sluice: told"],
        "nor is it told that the page about an app's end asks whether the app is back"
    );
    assert_eq!(subscription.read().lines.len(), 6, "`sluice logs` has all of them");
}

#[tokio::test(flavor = "current_thread")]
async fn a_follower_sees_the_last_lines_and_then_each_new_one() {
    let text = |lines: &Lines| -> Vec<Value> {
        lines.lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["line"].take()).collect()
    };
    let (journal, _, _) = journal(Format::Text, true);
    for number in 0..10 {
        journal.emit(note(&number.to_string()));
        journal.emit(Event::AppLine {
            worker: number % 2,
            stream: Stream::Stdout,
            said: AppText::read(Stream::Stdout, &number.to_string()),
        });
    }
    let filter = Filter { worker: Some(1), kind: Some(LineKind::App) };
    let mut subscription = journal.subscribe(filter, 2);
    let first = subscription.next().await;
    assert_eq!(text(&first), ["7", "9"]);
    assert_eq!(subscription.read(), Lines::default());

    let mut waiting = Box::pin(subscription.next());
    let nothing = tokio::time::timeout(Duration::from_millis(5), &mut waiting).await;
    assert!(nothing.is_err());
    journal.emit(note("not for it"));
    journal.emit(Event::AppLine { worker: 1, stream: Stream::Stderr, said: AppText::read(Stream::Stderr, "for it") });
    let next = tokio::time::timeout(SOON, waiting).await.unwrap();
    assert_eq!(text(&next), ["for it"]);
}

#[test]
fn a_follower_that_was_too_slow_is_told_how_much_it_missed() {
    let (journal, _, _) = journal(Format::Text, true);
    let mut subscription = journal.subscribe(Filter::default(), 0);
    for number in 0..2100 {
        journal.emit(note(&number.to_string()));
    }
    let lines = subscription.read();
    assert_eq!(lines.missed, 100);
    assert!(lines.lines[0].ends_with("\"text\":\"100\"}"));
}

#[test]
fn dropped_lines_are_told_once_there_is_room_again() {
    struct Gate(std::sync::mpsc::Receiver<()>, Memory);
    impl io::Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            io::Write::write(&mut self.1, bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (open, gate) = std::sync::mpsc::channel();
    let memory = Memory::default();
    let options = Options { format: Format::Text, ..Options::default() };
    let journal = Journal::new(options, Gate(gate, memory.clone())).unwrap();
    let long = "x".repeat(8000);
    for _ in 0..1000 {
        journal.emit(note(&long));
    }
    drop(open);
    let deadline = Instant::now() + SOON;
    while !memory.lines().iter().any(|line| line.contains("log lines were dropped")) {
        assert!(Instant::now() < deadline, "the loss was never told");
        journal.emit(note("more"));
        journal.flush();
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut page = Page::default();
    journal.write_metrics(&mut page);
    assert!(!page.into_text().contains("sluice_log_lines_dropped_total 0\n"));
}

#[test]
fn secrets_in_query_strings_reach_no_line_of_any_event_and_no_mark() {
    let memory = Memory::default();
    let query = Query::Mask(["token".to_owned()].into());
    let options = Options { query, ..Options::default() };
    let journal = Journal::with_clock(options, memory.clone(), Clock::Manual(Rc::default())).unwrap();
    let held = HeldRequest { request_id: "00ab", method: "GET", target: "/reset?token=hunter2&page=2" };
    journal.emit(Event::Access(AccessRecord { target: held.target, ..record() }));
    let place = Err("no answer");
    journal.emit(Event::WorkerStuck {
        worker: 1,
        silent_ms: 1,
        cpu_ms: None,
        place,
        hottest: None,
        request: Some(held),
        profile: None,
    });
    journal.emit(Event::WorkerBlocked { worker: 1, silent_ms: 1, waits_in: "", request: Some(held) });
    journal.emit(Event::WorkerOverdue { worker: 1, silent_ms: 1, request: Some(held) });
    journal.emit(Event::LongRun {
        worker: 1,
        ms: 1.0,
        collected_ms: Some(0.0),
        cpu_ms: None,
        queued_ms: None,
        spent: None,
        place: None,
        request: Some(held),
        class: None,
    });
    let kept = journal.subscribe(Filter::default(), 100).read().lines;
    let marks: Vec<String> = journal.marks_since(0).into_iter().map(|mark| mark.text).collect();
    assert!(journal.close(SOON));
    let lines = memory.lines();
    assert_eq!((lines.len(), kept.len(), marks.len()), (5, 5, 4));
    for text in lines.iter().chain(&kept).chain(&marks) {
        assert!(text.contains("/reset?token=***&page=2") && !text.contains("hunter2"), "{text}");
    }
}

#[test]
fn kept_lines_are_json_with_the_names_of_the_reference_whatever_is_written() {
    for (format, fields) in [(Format::Text, LogFields::Sluice), (Format::Json, LogFields::Ecs)] {
        let memory = Memory::default();
        let options = Options { format, fields, ..Options::default() };
        let journal = Journal::with_clock(options, memory.clone(), Clock::Manual(Rc::default())).unwrap();
        journal.emit(Event::Access(record()));
        let kept = journal.subscribe(Filter::default(), 100).read().lines;
        assert!(journal.close(SOON));
        let line: Value = serde_json::from_str(&kept[0]).unwrap();
        assert_eq!(line["status"], 200);
        assert_ne!(memory.lines(), kept);
    }
}
