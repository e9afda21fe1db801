//! Screens of every size over gateways of every kind: what matters is there, and nothing is half cut.

mod fixtures;

use std::time::Duration;

use tokio::time::Instant;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;
use sluice_admin::protocol::{HistoryCursor, WatchReply};
use sluice_catalog::dashboard::MarkLevel;

use super::data::Data;
use super::draw::draw;
use super::input::Action;
use super::plain;
use super::state::State;
use super::theme::Theme;
use super::views::View;
use fixtures::{NOW_MS, busy, failing, idle, large, long_names, mark, unicode, worker};

type Fixture = fn() -> WatchReply;

const FIXTURES: [(&str, Fixture); 6] = [
    ("idle", idle),
    ("busy", busy),
    ("large", large),
    ("long names", long_names),
    ("unicode", unicode),
    ("failing", failing),
];
const SIZES: [(u16, u16); 4] = [(80, 24), (200, 50), (60, 15), (50, 12)];

fn state(watched: WatchReply, view: View) -> State {
    State::new(Data::new(watched), view, Theme::new(true))
}

fn drawn(state: &mut State, (columns, rows): (u16, u16)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| draw(state, frame.area(), frame.buffer_mut(), Instant::now())).unwrap();
    terminal.backend().buffer().clone()
}

fn screen(state: &mut State, size: (u16, u16)) -> String {
    plain::text(&drawn(state, size))
}

#[track_caller]
fn assert_has(screen: &str, wanted: &[&str]) {
    for text in wanted {
        assert!(screen.contains(text), "{text:?} is not in\n{screen}");
    }
}

#[test]
fn figures_are_whole_on_80_columns_whatever_happens() {
    let text = screen(&mut state(busy(), View::Workers), (80, 24));
    assert_has(
        &text,
        &[
            "sluice serving  http://localhost:3000",
            "requests 240/s  workers 4 of 4 ready  queue 0 of 1000  in service 4",
            "errors none in the last minute",
            "wait p50 0.25ms p95 4.0ms p99 40ms  service p50 12ms p95 90ms p99 -",
            "cpu 0.20 of 4 cores  workers 3.6  gateway 0.20  memory 2.0GiB of 8.0GiB 25%",
            "[1 workers] 2 classes  3 events  4 queue",
            "q quit  ? help  1-4 views",
        ],
    );
}

#[test]
fn failing_gateway_says_what_is_wrong_on_every_size() {
    for size in SIZES {
        let text = screen(&mut state(failing(), View::Workers), size);
        assert_has(
            &text,
            &[
                "workers 1 of 4 ready",
                "queue 73",
                "service p",
                "memory",
                "errors 3.1/s",
                "ALARM steady_queue",
                "lowered",
                "4.2s",
            ],
        );
    }
    let text = screen(&mut state(failing(), View::Workers), (80, 24));
    assert_has(
        &text,
        &[
            "errors 3.1/s  5xx of the app 2.0/s  no room 1.0/s  cut by worker 0.10/s",
            "memory 7.7GiB of 8.0GiB 96%",
            // What to do stands at the end of an alarm.
            "`sluice scale` wants more",
            "quarantine: 1 request",
            "backoff",
            "500MiB",
        ],
    );
    let text = screen(&mut state(failing(), View::Workers), (200, 50));
    assert_has(
        &text,
        &["SLU-QUEUE-FULL 1.0/s", "(cgroup)", "worker 3 exited: exit code 134", "at render (app.js:7:3)", "98%"],
    );
}

#[test]
fn each_view_shows_what_it_is_for_on_80_columns() {
    let text = screen(&mut state(failing(), View::Events), (80, 24));
    assert_has(
        &text,
        &["48s warn worker 1 is overdue", "49s ERR  worker 3 exited: exit code 134", "Reached heap limit"],
    );
    let text = screen(&mut state(failing(), View::Classes), (80, 24));
    assert_has(&text, &["GET /section-0/:id", "40%", "8.0ms", "21ms", "1.2ms", "12ms"]);
    let mut queue = state(failing(), View::Queue);
    assert_has(&screen(&mut queue, (80, 24)), &["waiting 73 of 1000  oldest 2.3s  expected wait 1.2s", "not served"]);
    queue.apply(Action::Last);
    let text = screen(&mut queue, (80, 24));
    assert_has(
        &text,
        &["SLU-QUEUE-FULL", "1.0/s", "in quarantine: 1", "GET /poison?id=7", "2 workers crashed, ends in 10m"],
    );
}

#[test]
fn every_screen_of_every_gateway_fits_and_ends_with_the_keys() {
    for (name, fixture) in FIXTURES {
        for size in SIZES {
            for view in View::ALL {
                let text = screen(&mut state(fixture(), view), size);
                assert!(text.lines().count() == usize::from(size.1), "{name} {size:?} {view:?}\n{text}");
                assert_has(&text, &["requests ", "errors ", "wait p", "workers", "q quit"]);
                assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{name} {size:?}");
                let widest = text.lines().map(super::text::width).max().unwrap();
                assert!(widest <= size.0.into(), "{widest} columns: {name} {size:?} {view:?}\n{text}");
            }
        }
    }
}

#[test]
fn numbers_stand_below_the_ends_of_their_names() {
    let text = screen(&mut state(busy(), View::Workers), (80, 24));
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains("ID STATE")).collect();
    for (title, value) in [("CPU", "50%"), ("MEMORY", "100MiB"), ("LOOP", "60%"), ("REQS", "1234"), ("FOR", "40ms")] {
        let end = |line: &str, text: &str| line.find(text).unwrap_or_else(|| panic!("{text} in {line}")) + text.len();
        assert_eq!(end(lines[0], title), end(lines[1], value), "{title}\n{text}");
    }
}

#[test]
fn long_names_keep_their_ends() {
    let text = screen(&mut state(long_names(), View::Workers), (80, 24));
    let row = text.lines().find(|line| line.contains("2.5s")).unwrap();
    assert!(row.contains('…') && row.ends_with('h') && row.contains("GET /"), "{row}");
    let text = screen(&mut state(long_names(), View::Classes), (200, 50));
    assert_has(&text, &["GET /shop/", "/the-end-of-the-path"]);
    // Reasons are wrapped and not cut.
    let text = screen(&mut state(long_names(), View::Events), (80, 24));
    assert_eq!(text.matches("because").count(), 40, "{text}");
}

#[test]
fn wide_letters_take_two_columns_and_break_no_table() {
    let text = screen(&mut state(unicode(), View::Workers), (80, 24));
    let row = text.lines().find(|line| line.contains("商")).unwrap();
    assert!(row.trim_end().ends_with('り'), "{row}");
    let text = screen(&mut state(unicode(), View::Events), (60, 15));
    assert!(text.contains("日本語") && text.replace(['\n', ' '], "").contains("かもしれません"), "{text}");
}

#[test]
fn large_pools_scroll_to_their_last_worker_and_no_further() {
    let mut state = state(large(), View::Workers);
    let first = screen(&mut state, (80, 24));
    assert_has(&first, &["1-", " of 64", "    1 busy"]);
    assert!(!first.contains("   64 busy"));
    for action in [Action::Last, Action::PageDown, Action::Down] {
        assert!(state.apply(action));
    }
    let last = screen(&mut state, (80, 24));
    assert_has(&last, &["-64 of 64", "   64 busy"]);
    state.apply(Action::PageUp);
    let before = screen(&mut state, (80, 24));
    assert!(!before.contains("   64 busy") && before != first, "{before}");
    state.apply(Action::First);
    assert_eq!(screen(&mut state, (80, 24)), first);
    // As many as there is room for are seen without a key.
    assert_has(&screen(&mut state, (200, 100)), &["64 rows", "   64 busy"]);
}

#[test]
fn rows_are_ordered_and_filtered() {
    let mut watched = busy();
    watched.status.workers = vec![worker(1, None), worker(2, Some(("GET /slow", "/slow", 900))), worker(3, None)];
    watched.status.workers[2].cpu = Some(1.0);
    let mut state = state(watched, View::Workers);
    let first = |state: &mut State| {
        let text = screen(state, (80, 24));
        let row = text.lines().skip_while(|line| !line.contains("ID STATE")).nth(1).unwrap().to_owned();
        row.split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(first(&mut state), "1");
    state.apply(Action::Sort);
    assert_eq!(first(&mut state), "2", "the longest request");
    state.apply(Action::Sort);
    assert_eq!(first(&mut state), "3", "most CPU time");
    state.apply(Action::Filter);
    for letter in "SLOW".chars() {
        state.apply(Action::Type(letter));
    }
    state.apply(Action::Typed);
    assert_eq!(first(&mut state), "2");
    assert_has(&screen(&mut state, (80, 24)), &["with \"SLOW\"", "1 rows"]);
    assert!(state.apply(Action::Close), "drops the filter and does not leave");
    assert_eq!(first(&mut state), "3");
    assert!(!state.apply(Action::Close));
}

#[test]
fn paused_screen_stays_as_it_is_and_says_so() {
    let mut state = state(busy(), View::Workers);
    state.apply(Action::Pause);
    let mut later = idle();
    later.status.connections = 777;
    state.update(later.clone());
    let text = screen(&mut state, (80, 24));
    assert_has(&text, &["PAUSED", "workers 4 of 4 ready"]);
    state.apply(Action::Pause);
    assert_has(&screen(&mut state, (80, 24)), &["workers 2 of 2 ready"]);
}

#[test]
fn gateway_that_does_not_answer_is_told_with_the_old_figures_until_it_does() {
    let mut state = state(busy(), View::Workers);
    let since = Instant::now().checked_sub(Duration::from_secs(12)).unwrap();
    state.lose("no gateway runs in /run/shop.", since);
    state.lose("no gateway runs in /run/shop.", Instant::now());
    for size in SIZES {
        assert_has(&screen(&mut state, size), &["NO ANSWER for 12s", "workers 4 of 4 ready"]);
    }
    let mut another = idle();
    (another.epoch, another.status.pid) = (2, 5);
    state.update(another);
    state.apply(Action::Show(View::Events));
    let text = screen(&mut state, (80, 24));
    assert!(!text.contains("NO ANSWER"));
    assert_has(&text, &["another gateway answers: process 5 after 2147483647", "ready after 240 ms"]);
}

#[test]
fn what_was_seen_is_not_taken_in_twice() {
    let mut data = Data::new(busy());
    assert_eq!(data.seen, HistoryCursor { epoch: 1, at_ms: NOW_MS - 1000, mark: 40 });
    let mut again = busy();
    again.marks.push(mark(41, MarkLevel::Warn, None, "new"));
    data.add(again);
    assert_eq!((data.points.len(), data.marks.len(), data.seen.mark), (300, 41, 41));
    assert_eq!(data.class_rate("GET /section-0/:id", 1000), None, "no time has gone by");
    let mut later = busy();
    later.now_ms += 4000;
    later.costs.classes.classes[0].requests += 8;
    data.add(later);
    assert_eq!(data.class_rate("GET /section-0/:id", 1008), Some(2.0));
}

#[test]
fn small_terminals_are_told_what_is_needed() {
    for size in [(49, 24), (80, 11), (20, 4)] {
        let text = screen(&mut state(failing(), View::Workers), size);
        assert!(text.replace('\n', " ").contains("needs 50"), "{size:?}\n{text}");
    }
    // Not a panic, at least.
    screen(&mut state(failing(), View::Workers), (1, 1));
}

#[test]
fn help_names_every_key_on_80_columns() {
    let mut state = state(failing(), View::Workers);
    state.apply(Action::Help);
    let text = screen(&mut state, (80, 24));
    assert_has(&text, &["1 2 3 4, Tab", "PgUp PgDn", "space", "Ctrl-Z", "q, Ctrl-C"]);
    assert!(state.apply(Action::Close));
    assert_has(&screen(&mut state, (80, 24)), &["ID STATE"]);
}

#[test]
fn colours_can_be_read_on_light_and_dark_and_there_are_none_without() {
    for view in View::ALL {
        let colours = |has_colour: bool| {
            let mut state = State::new(Data::new(failing()), view, Theme::new(has_colour));
            let buffer = drawn(&mut state, (200, 50));
            let mut colours: Vec<Color> = buffer.content().iter().flat_map(|cell| [cell.fg, cell.bg]).collect();
            colours.sort_by_key(|colour| format!("{colour:?}"));
            colours.dedup();
            colours
        };
        let readable = [Color::Magenta, Color::Red, Color::Reset];
        assert!(colours(true).iter().all(|colour| readable.contains(colour)), "{view:?}");
        assert!(colours(true).contains(&Color::Red));
        assert_eq!(colours(false), [Color::Reset], "{view:?}");
    }
}

#[test]
fn plain_frame_has_all_rows_and_nothing_about_keys() {
    let text = plain::frame(&mut state(large(), View::Workers), 80, Instant::now());
    assert_has(&text, &["workers 64 of 64 ready", "    1 busy", "   64 busy", "64 rows"]);
    assert!(!text.contains("quit") && !text.contains('\u{1b}') && !text.contains("[1 "), "{text}");
    assert!(text.lines().all(|line| super::text::width(line) <= 80));
}
