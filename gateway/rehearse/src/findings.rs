//! The outcome in words.

#![allow(clippy::cast_precision_loss, reason = "counts of requests")]

use sluice_plan::page::{duration, plural};

use crate::matrix::{Fault, Load};
use crate::report::{Cell, Rehearsal};
use crate::tally::Failure;

/// Delay of the generator from which its figures are not the gateway's, milliseconds.
const LATE_MS: f64 = 5.0;
/// Part of the requests from which answers of 4xx are worth a word.
const CLIENT_ERRORS_SHARE: f64 = 0.01;
/// Requests of a cell below which a p99 says nothing.
const P99_REQUESTS_MIN: u64 = 200;

/// `1,234,567`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn percent(part: u64, of: u64) -> String {
    let percent = part as f64 / of.max(1) as f64 * 100.0;
    if percent < 0.1 { "under 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

struct Sum {
    cells: usize,
    requests: u64,
    lost: u64,
}

fn sum<'c>(cells: impl Iterator<Item = &'c Cell>) -> Sum {
    cells.fold(Sum { cells: 0, requests: 0, lost: 0 }, |sum, cell| Sum {
        cells: sum.cells + 1,
        requests: sum.requests + cell.requests,
        lost: sum.lost + cell.lost,
    })
}

/// Kinds of failures that count as lost, with their numbers.
fn kinds(cells: &[&Cell]) -> String {
    let mut counts: Vec<(&Failure, u64)> = Vec::new();
    for (kind, count) in cells.iter().flat_map(|cell| cell.losses()) {
        match counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, sum)) => *sum += count,
            None => counts.push((kind, *count)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts.iter().map(|(kind, count)| format!("{count} x {kind}")).collect::<Vec<_>>().join(", ")
}

fn of_fault(rehearsal: &Rehearsal, fault: Fault) -> Option<String> {
    let cells: Vec<&Cell> = rehearsal.cells.iter().filter(|cell| cell.fault == fault).collect();
    let Sum { cells: count, requests, lost } = sum(cells.iter().copied());
    if count == 0 {
        return None;
    }
    let subject = match fault {
        Fault::None => "Without a fault",
        Fault::Reload => "A rolling reload",
        Fault::Kills => "Kills of workers",
        Fault::Loop => "An infinite loop in a worker",
    };
    let of = format!("of {}", grouped(requests));
    Some(match (fault, lost) {
        (Fault::None, 0) => format!("{subject}, no request {of} was lost"),
        (Fault::None, lost) => format!("{subject}, {} {of} were lost: {}", grouped(lost), kinds(&cells)),
        (_, 0) => format!("{subject} cost no request {of}"),
        (_, lost) => format!("{subject} cost {} {of} requests: {}", grouped(lost), kinds(&cells)),
    })
}

/// p99, unless requests were refused: those that are left look fast.
fn p99(cell: &Cell) -> Option<f64> {
    cell.ms.filter(|_| cell.requests >= P99_REQUESTS_MIN && cell.refused == 0).map(|ms| ms[2])
}

fn ratio(one: f64, other: f64) -> String {
    format!("{:.1}", one / other.max(0.001))
}

/// Statements about the outcome, the most important first.
pub fn findings(rehearsal: &Rehearsal) -> Vec<String> {
    let mut found: Vec<String> = Fault::ALL.into_iter().filter_map(|fault| of_fault(rehearsal, fault)).collect();
    found.extend(rehearsal.problem.clone());
    let problems =
        rehearsal.cells.iter().filter_map(|cell| Some(format!("{}: {}", cell.name(), cell.problem.as_ref()?)));
    found.extend(problems);
    let cell = |load: Load, fault: Fault| rehearsal.cells.iter().find(|cell| cell.load == load && cell.fault == fault);
    let all = sum(rehearsal.cells.iter());
    let app_errors: u64 = rehearsal.cells.iter().map(|cell| cell.app_errors).sum();
    if app_errors > 0 {
        let share = percent(app_errors, all.requests);
        found.push(format!("The app itself answered {share} of the requests with a status of 500 or above"));
    }
    let client_errors: u64 = rehearsal.cells.iter().map(|cell| cell.client_errors).sum();
    if client_errors as f64 >= all.requests as f64 * CLIENT_ERRORS_SHARE && client_errors > 0 {
        let share = percent(client_errors, all.requests);
        found.push(format!(
            "{share} of the requests were answered with 4xx: check whether these paths exist and need a login"
        ));
    }
    let rejected: u64 = rehearsal
        .cells
        .iter()
        .flat_map(|cell| &cell.failures)
        .filter_map(|(failure, count)| failure.is_rejection().then_some(count))
        .sum();
    if rejected > 0 {
        found.push(format!(
            "{} of the requests were rejected by the gateway because of their content, as in production; the app did \
             not get them",
            percent(rejected, all.requests)
        ));
    }
    if let Some((low, high)) =
        cell(Load::Low, Fault::None).and_then(p99).zip(cell(Load::High, Fault::None).and_then(p99))
    {
        let ratio = ratio(high, low);
        found.push(format!(
            "p99 at high load is {ratio} times that at low load: {} and {}",
            duration(high),
            duration(low)
        ));
    }
    for faulty in rehearsal.cells.iter().filter(|cell| cell.fault != Fault::None) {
        let Some((with, without)) = p99(faulty).zip(cell(faulty.load, Fault::None).and_then(p99)) else { continue };
        if with > without * 1.2 {
            let (name, ratio) = (faulty.name(), ratio(with, without));
            found.push(format!(
                "{name}: p99 is {ratio} times that without a fault: {} and {}",
                duration(with),
                duration(without)
            ));
        }
    }
    for refusing in rehearsal.cells.iter().filter(|cell| cell.refused > 0) {
        let (name, share) = (refusing.name(), percent(refusing.refused, refusing.requests));
        found.push(format!("{name}: {share} of the requests were refused for lack of capacity or time"));
    }
    let retried: u64 = rehearsal.cells.iter().map(|cell| cell.retried).sum();
    if retried > 0 {
        found.push(format!("{} went to a second worker after the first had crashed", plural(retried, "request")));
    }
    if let Some(late) = rehearsal.cells.iter().find(|cell| cell.late_ms > LATE_MS) {
        found.push(format!(
            "{}: the load generator itself was up to {} late (p99), because it shares the CPUs with the app; \
             latencies include this delay",
            late.name(),
            duration(late.late_ms)
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::{cell, died, full, rehearsal};

    #[test]
    fn words_say_what_each_fault_cost() {
        let cells = vec![
            cell(Load::Low, Fault::None, 1_000, &[]),
            cell(Load::Low, Fault::Reload, 4_123, &[]),
            cell(Load::Low, Fault::Kills, 4_123, &[(died(), 2), (Failure::Cut, 1)]),
        ];
        let found = findings(&rehearsal(cells));
        assert_eq!(
            found,
            [
                "Without a fault, no request of 1,000 was lost",
                "A rolling reload cost no request of 4,123",
                "Kills of workers cost 3 of 4,123 requests: 2 x 502 SLU-WORKER-DIED, 1 x answer cut off",
            ]
        );
    }

    #[test]
    fn losses_are_named_without_what_the_load_excuses() {
        let failures = [(full(), 50), (died(), 2), (Failure::App(500), 7), (Failure::OtherOfApp, 3)];
        let found = findings(&rehearsal(vec![cell(Load::Queueing, Fault::Reload, 1_000, &failures)]));
        assert_eq!(found[0], "A rolling reload cost 2 of 1,000 requests: 2 x 502 SLU-WORKER-DIED");
    }

    #[test]
    fn an_early_end_stands_behind_what_was_found_before_it() {
        let mut made = rehearsal(vec![cell(Load::Low, Fault::None, 1_000, &[])]);
        made.problem = Some("Ended before low, kills: not all workers serve after 60 s".to_owned());
        let expected = ["Without a fault, no request of 1,000 was lost", made.problem.as_deref().unwrap()];
        assert_eq!(findings(&made), expected);
    }

    #[test]
    fn errors_of_the_app_are_its_own_and_not_lost() {
        let made = rehearsal(vec![cell(Load::Low, Fault::None, 1_000, &[(Failure::App(500), 100)])]);
        assert!(made.has_passed());
        let found = findings(&made);
        assert!(found.contains(&"Without a fault, no request of 1,000 was lost".to_owned()), "{found:?}");
        let own = "The app itself answered 10.0 % of the requests with a status of 500 or above";
        assert!(found.contains(&own.to_owned()), "{found:?}");
    }

    #[test]
    fn high_load_is_compared_with_low_load_unless_requests_were_refused() {
        let mut slow = cell(Load::High, Fault::None, 1_000, &[]);
        slow.ms = Some([10.0, 20.0, 31.0]);
        let mut low = cell(Load::Low, Fault::None, 1_000, &[]);
        low.ms = Some([5.0, 8.0, 10.0]);
        let found = findings(&rehearsal(vec![low.clone(), slow]));
        let expected = "p99 at high load is 3.1 times that at low load: 31 ms and 10 ms";
        assert!(found.contains(&expected.to_owned()), "{found:?}");
        let refusing = cell(Load::High, Fault::None, 1_000, &[(full(), 50)]);
        let found = findings(&rehearsal(vec![low, refusing]));
        assert!(!found.iter().any(|line| line.starts_with("p99")), "{found:?}");
        assert!(
            found.contains(
                &"high, none: 5.0 % of the requests were refused for lack of capacity or \
            time"
                    .to_owned()
            )
        );
    }

    #[test]
    fn large_counts_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
