//! Outcome of a rehearsal, as text for a terminal and as a page.

use std::fmt::Write as _;

use serde::Serialize;
use sluice_plan::page::{aligned, list, ms, page, plural, table};
use sluice_sketch::Times;

use crate::findings::findings;
use crate::matrix::{Fault, Load};
use crate::tally::{Failure, GatewayTally, Tally};

/// Maximum number of paths in the table.
const PATHS_MAX: usize = 10;
/// Maximum shown length of a path, characters.
const PATH_CHARS_MAX: usize = 60;

/// Most that the app answered.
#[derive(Clone, Debug, Serialize)]
pub struct Capacity {
    /// Requests answered per second.
    pub per_second: f64,
    /// Clients that asked for them, each one request at a time.
    pub clients: u32,
}

/// Time of a path without company.
#[derive(Clone, Debug, Serialize)]
pub struct PathTime {
    /// Method and path.
    pub path: String,
    /// Part of all requests.
    pub share: f64,
    /// Median until the whole answer, milliseconds; `None` if none was answered.
    pub alone_ms: Option<f64>,
    /// Status of the first answer, or the failure.
    pub answer: String,
}

/// One load with one fault.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The load.
    pub load: Load,
    /// The fault.
    pub fault: Fault,
    /// Requests that were due.
    pub requests: u64,
    /// Requests due per second.
    pub per_second: f64,
    /// Requests that have no answer of the app, but for those that the gateway rejected for what they are and, at a load above the
    /// capacity, refused.
    pub lost: u64,
    /// Requests that were refused for lack of capacity or time.
    pub refused: u64,
    /// Requests that the app answered with 500 or above.
    pub app_errors: u64,
    /// Requests that were answered with 400 to 499.
    pub client_errors: u64,
    /// All failures by kind, refusals and errors of the app among them.
    pub failures: Vec<(Failure, u64)>,
    /// p50, p95 and p99 of answered requests from the moment at which they were due, milliseconds.
    pub ms: Option<[f64; 3]>,
    /// Longest time until an answer or a failure, milliseconds.
    pub longest_ms: f64,
    /// p50, p95 and p99 of the gateway's queue wait, milliseconds.
    pub wait_ms: Option<[f64; 3]>,
    /// Longest queue wait, milliseconds.
    pub longest_wait_ms: f64,
    /// Requests that went to a second worker.
    pub retried: u64,
    /// p99 of the generator's own delay, milliseconds.
    pub late_ms: f64,
    /// Account of the fault.
    pub events: Vec<String>,
    /// Failure of the fault itself, such as a reload that was abandoned.
    pub problem: Option<String>,
}

/// Whether such a failure counts as lost at this load.
fn is_loss(load: Load, failure: &Failure) -> bool {
    let is_excused = load == Load::Queueing && failure.is_refusal();
    !(failure.is_of_app() || failure.is_rejection() || is_excused)
}

fn percentiles(times: &Times) -> Option<[f64; 3]> {
    Times::percentiles(&std::iter::once(times), [50, 95, 99]).map(|us| us.map(|us| us / 1_000.0))
}

impl Cell {
    /// Sums up what clients and the gateway saw in `lasted_s` seconds.
    #[allow(clippy::cast_precision_loss, reason = "counts of seconds")]
    pub fn new((load, fault): (Load, Fault), (tally, lasted_s): &(Tally, f64), gateway: &GatewayTally) -> Self {
        Self {
            load,
            fault,
            requests: tally.requests,
            per_second: tally.requests as f64 / lasted_s.max(1e-3),
            lost: tally.failed(|failure| is_loss(load, failure)),
            refused: tally.failed(Failure::is_refusal),
            app_errors: tally.failed(Failure::is_of_app),
            client_errors: tally.client_errors,
            failures: tally.failures.iter().map(|(failure, count)| (failure.clone(), *count)).collect(),
            ms: percentiles(&tally.times),
            longest_ms: tally.longest.as_secs_f64() * 1_000.0,
            wait_ms: percentiles(&gateway.waits),
            longest_wait_ms: gateway.longest_wait_ms,
            retried: gateway.retried,
            late_ms: percentiles(&tally.late).map_or(0.0, |ms| ms[2]),
            events: Vec::new(),
            problem: None,
        }
    }

    /// Whether a request was lost where none may be, or a reload did not come to its end.
    pub fn has_failed(&self) -> bool {
        self.fault.must_lose_nothing() && (self.lost > 0 || self.problem.is_some())
    }

    pub(crate) fn name(&self) -> String {
        format!("{}, {}", self.load, self.fault.name())
    }

    /// Kinds of failures that count as lost, with their numbers.
    pub(crate) fn losses(&self) -> impl Iterator<Item = &(Failure, u64)> {
        self.failures.iter().filter(|(failure, _)| is_loss(self.load, failure))
    }
}

/// Everything that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Rehearsal {
    /// Words that start the app.
    pub app: String,
    /// Workers of the gateway.
    pub workers: u32,
    /// Seed of chance.
    pub seed: u64,
    /// Most that the app answered.
    pub capacity: Capacity,
    /// The most frequent paths.
    pub paths: Vec<PathTime>,
    /// Number of all paths.
    pub paths_total: usize,
    /// Statements about the setting: parts of a log or of the config that are left out, and how faults are made.
    pub notes: Vec<String>,
    /// Each load with each fault that was tried.
    pub cells: Vec<Cell>,
    /// Reason why the rest was not tried.
    pub problem: Option<String>,
}

impl Rehearsal {
    /// Whether everything was tried, and no request was lost where none may be.
    pub fn has_passed(&self) -> bool {
        self.problem.is_none() && !self.cells.iter().any(Cell::has_failed)
    }
}

/// Text for one line of a terminal, not too long.
fn shown(text: &str) -> String {
    let mut text: String = text.chars().map(|sign| if sign.is_control() { '?' } else { sign }).collect();
    if let Some((cut, _)) = text.char_indices().nth(PATH_CHARS_MAX) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

fn paths(rehearsal: &Rehearsal) -> Vec<Vec<String>> {
    let mut rows = vec![["Path", "Share", "Alone", "Answer"].map(str::to_owned).to_vec()];
    rows.extend(rehearsal.paths.iter().take(PATHS_MAX).map(|path| {
        let alone = path.alone_ms.map_or_else(|| "-".to_owned(), ms);
        vec![shown(&path.path), format!("{:.1} %", path.share * 100.0), alone, shown(&path.answer)]
    }));
    rows
}

fn cells(rehearsal: &Rehearsal) -> Vec<Vec<String>> {
    let heads = [
        "Load", "Fault", "Requests", "Per s", "Lost", "Refused", "App 5xx", "p50", "p95", "p99", "Longest", "Wait p95",
        "Wait max", "Retried",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(rehearsal.cells.iter().map(|cell| {
        let times = |all: Option<[f64; 3]>| all.map_or_else(|| [(); 3].map(|()| "-".to_owned()), |all| all.map(ms));
        let [p50, p95, p99] = times(cell.ms);
        let [_, wait_p95, _] = times(cell.wait_ms);
        vec![
            cell.load.to_string(),
            cell.fault.name().to_owned(),
            cell.requests.to_string(),
            format!("{:.1}", cell.per_second),
            cell.lost.to_string(),
            cell.refused.to_string(),
            cell.app_errors.to_string(),
            p50,
            p95,
            p99,
            ms(cell.longest_ms),
            wait_p95,
            ms(cell.longest_wait_ms),
            cell.retried.to_string(),
        ]
    }));
    rows
}

/// One line for each cell in which something failed or a fault was made.
fn accounts(rehearsal: &Rehearsal) -> Vec<String> {
    let account = |cell: &Cell| {
        let failures = cell.failures.iter().map(|(kind, count)| format!("{count} x {}", shown(&kind.to_string())));
        let parts: Vec<String> = cell.events.iter().cloned().chain(failures).chain(cell.problem.clone()).collect();
        (!parts.is_empty()).then(|| format!("{}: {}", cell.name(), parts.join("; ")))
    };
    rehearsal.cells.iter().filter_map(account).collect()
}

fn headline(rehearsal: &Rehearsal) -> String {
    let Rehearsal { app, workers, capacity, .. } = rehearsal;
    format!(
        "{} with {}: {:.1} requests/s at most, requested by {}",
        shown(app),
        plural(u64::from(*workers), "worker"),
        capacity.per_second,
        plural(u64::from(capacity.clients), "client")
    )
}

/// Writes the outcome for a terminal.
pub fn text(rehearsal: &Rehearsal) -> String {
    let mut text = format!("{}\n", headline(rehearsal));
    for note in &rehearsal.notes {
        let _ = writeln!(text, "{note}");
    }
    let titled = [("Paths, times in ms", paths(rehearsal)), ("Loads and faults, times in ms", cells(rehearsal))];
    for (title, mut rows) in titled {
        for head in &mut rows[0] {
            *head = head.to_uppercase();
        }
        let _ = write!(text, "\n{title}\n{}", aligned(&rows));
    }
    for (title, lines) in [("What happened", accounts(rehearsal)), ("Found", findings(rehearsal))] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}\n{}", lines.join("\n"));
        }
    }
    text
}

/// Writes the outcome as a page, which needs no other files.
pub fn html(rehearsal: &Rehearsal) -> String {
    let mut body = list(&findings(rehearsal));
    let _ = write!(body, "<h2>Loads and faults, times in ms</h2>{}", table(&cells(rehearsal)));
    let accounts = accounts(rehearsal);
    if !accounts.is_empty() {
        let _ = write!(body, "<h2>What happened</h2>{}", list(&accounts));
    }
    let _ = write!(body, "<h2>Paths, times in ms</h2>{}", table(&paths(rehearsal)));
    let setting: Vec<String> = [headline(rehearsal)].into_iter().chain(rehearsal.notes.iter().cloned()).collect();
    let _ = write!(body, "<h2>Setting</h2>{}", list(&setting));
    page("Rehearsal", &body)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use super::*;

    /// A cell with so many requests of 10 ms, and these failures.
    pub(crate) fn cell(load: Load, fault: Fault, requests: u64, failures: &[(Failure, u64)]) -> Cell {
        let mut tally = Tally::default();
        for (failure, count) in failures {
            for _ in 0..*count {
                tally.record(Err(failure.clone()), Duration::from_millis(5));
            }
        }
        while tally.requests < requests {
            tally.record(Ok(200), Duration::from_millis(10));
        }
        Cell::new((load, fault), &(tally, 2.0), &GatewayTally::default())
    }

    pub(crate) fn died() -> Failure {
        Failure::Gateway { status: 502, code: "SLU-WORKER-DIED".to_owned() }
    }

    pub(crate) fn full() -> Failure {
        Failure::Gateway { status: 503, code: "SLU-QUEUE-FULL".to_owned() }
    }

    pub(crate) fn rehearsal(cells: Vec<Cell>) -> Rehearsal {
        let path = PathTime { path: "GET /a".to_owned(), share: 1.0, alone_ms: Some(9.8), answer: "200".to_owned() };
        Rehearsal {
            app: "node server.js".to_owned(),
            workers: 2,
            seed: 1,
            capacity: Capacity { per_second: 200.0, clients: 4 },
            paths: vec![path],
            paths_total: 1,
            notes: vec!["paths of access.log".to_owned()],
            cells,
            problem: None,
        }
    }

    #[test]
    fn refusals_are_lost_but_at_a_load_above_the_capacity() {
        let of = |load| cell(load, Fault::None, 100, &[(full(), 3), (Failure::App(500), 2)]);
        let (high, queueing) = (of(Load::High), of(Load::Queueing));
        assert_eq!((high.lost, high.refused, high.app_errors), (3, 3, 2));
        assert_eq!((queueing.lost, queueing.refused, queueing.app_errors), (0, 3, 2));
        assert!(high.has_failed() && !queueing.has_failed());
        assert!(!cell(Load::High, Fault::Kills, 100, &[(died(), 3)]).has_failed(), "a kill may cost something");
        assert!(cell(Load::Queueing, Fault::Reload, 100, &[(died(), 1)]).has_failed());
        let malformed = Failure::Gateway { status: 400, code: "SLU-TARGET-INVALID".to_owned() };
        assert!(!cell(Load::High, Fault::None, 100, &[(malformed, 3)]).has_failed(), "production rejects it, too");
        let mut unfinished = rehearsal(vec![cell(Load::Low, Fault::None, 100, &[])]);
        assert!(unfinished.has_passed());
        unfinished.problem = Some("not all workers serve".to_owned());
        assert!(!unfinished.has_passed());
    }

    #[test]
    fn text_has_a_row_for_each_cell_with_known_figures() {
        let cells =
            vec![cell(Load::Low, Fault::None, 100, &[]), cell(Load::Clients(13), Fault::Kills, 50, &[(died(), 2)])];
        let text = text(&rehearsal(cells));
        let row = |begin: &str| {
            let line = text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("{begin}: {text}"));
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        let low = row("low ");
        assert_eq!(low[..7], ["low", "none", "100", "50.0", "0", "0", "0"]);
        let p50: f64 = low[7].parse().unwrap();
        assert!((p50 - 10.0).abs() < 0.2, "{p50}");
        assert_eq!(row("13 clients ")[..6], ["13", "clients", "kills", "50", "25.0", "2"]);
        assert!(text.contains("13 clients, kills: 2 x 502 SLU-WORKER-DIED"), "{text}");
    }

    #[test]
    fn page_has_no_markup_of_the_app_and_no_other_files() {
        let mut made = rehearsal(vec![cell(Load::Low, Fault::None, 10, &[])]);
        let hostile = "<script src=\"x\">'&\u{1b}[31m";
        made.app = hostile.to_owned();
        made.paths[0].path = hostile.to_owned();
        made.paths[0].answer = hostile.to_owned();
        made.notes = vec![hostile.to_owned()];
        made.cells[0].events = vec![hostile.to_owned()];
        made.cells[0].problem = Some(hostile.to_owned());
        made.cells[0].failures = vec![(Failure::Gateway { status: 502, code: hostile.to_owned() }, 1)];
        made.problem = Some(hostile.to_owned());
        let page = html(&made);
        assert!(!page.contains("<script") && !page.contains("src=\"") && !page.contains("http"), "{page}");
        assert!(page.contains("&lt;script src=&quot;x&quot;&gt;&#39;&amp;"), "{page}");
        assert!(page.contains("color-scheme:light dark"));
        assert!(!text(&made).lines().any(|line| line.starts_with("GET") && line.contains('\u{1b}')));
    }
}
