//! `sluice status --check`: one line for a monitor, and an exit code as Nagios plug-ins have them. Judging is pure.

use std::fmt::Write as _;
use std::process::ExitCode;

use sluice_catalog::snapshot::{GatewayState, Snapshot};

use super::connect::ClientError;
use super::top::header::{errors_lately, ready};
use super::top::text::{harmless, millis, percent};
use crate::args::{AlarmsAre, Thresholds};
use crate::output;

/// Verdict, from the best to the worst. The order of the exit codes is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    Fine,
    Warning,
    Unknown,
    Critical,
}

impl Verdict {
    const fn word(self) -> &'static str {
        match self {
            Self::Fine => "OK",
            Self::Warning => "WARNING",
            Self::Unknown => "UNKNOWN",
            Self::Critical => "CRITICAL",
        }
    }

    const fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        }
    }
}

/// Prints the line. Nothing goes to standard error, which monitors do not show.
pub(super) fn run(asked: Result<Snapshot, ClientError>, thresholds: &Thresholds) -> ExitCode {
    let (verdict, line) = match asked {
        Ok(snapshot) => judge(&snapshot, thresholds),
        Err(error) => without_answer(&error),
    };
    let printed = output::print(&format!("SLUICE {} - {line}\n", verdict.word()));
    if printed == ExitCode::SUCCESS { verdict.code().into() } else { Verdict::Unknown.code().into() }
}

/// Clients of a gateway that does not run or answer get none either; whatever else is in the way says nothing of it.
fn without_answer(error: &ClientError) -> (Verdict, String) {
    let verdict = match error {
        ClientError::NotRunning(_) | ClientError::Silent(_) | ClientError::Gone(_) => Verdict::Critical,
        _ => Verdict::Unknown,
    };
    (verdict, harmless(&error.to_string()).replace('|', "/"))
}

/// Verdict on a gateway, with its figures.
#[allow(clippy::cast_precision_loss, reason = "counts of workers and of a minute")]
pub(super) fn judge(status: &Snapshot, thresholds: &Thresholds) -> (Verdict, String) {
    let mut judged = CheckVerdict { worst: Verdict::Fine, reasons: Vec::new() };
    let (ready, wanted) = (ready(status), (status.workers_wanted.unwrap_or(0) as usize).max(1));
    let share = (ready as f64 / wanted as f64 * 100.0).min(100.0);
    let workers = format!("{ready} of {wanted} workers ready");
    if ready == 0 || share < f64::from(thresholds.ready_critical) {
        judged.tell(Verdict::Critical, &workers);
    } else if share < f64::from(thresholds.ready_warning) {
        judged.tell(Verdict::Warning, &workers);
    }
    if status.state == GatewayState::Draining {
        judged.tell(Verdict::Warning, "draining");
    }
    let wait_ms = status.queue_wait_ms.p95.unwrap_or(0.0).max(status.queue.oldest_wait_ms);
    let wait = format!("queue wait {}", millis(Some(wait_ms)));
    judged.above(wait_ms, thresholds.wait_warning_ms.into(), thresholds.wait_critical_ms.into(), &wait);
    let requests: u64 = status.lately.outcomes.values().sum();
    let failed: u64 = errors_lately(status).iter().filter(|(_, _, is_bad)| *is_bad).map(|(_, count, _)| count).sum();
    let errors = if requests == 0 { 0.0 } else { failed as f64 / requests as f64 * 100.0 };
    if requests >= u64::from(thresholds.errors_requests_min) {
        let kinds: Vec<String> = errors_lately(status)
            .into_iter()
            .filter(|(_, _, is_bad)| *is_bad)
            .map(|(kind, count, _)| format!("{kind} {count}"))
            .collect();
        let text = format!("{} of requests failed ({})", percent(errors / 100.0), kinds.join(", "));
        judged.above(errors, thresholds.errors_warning, thresholds.errors_critical, &text);
    }
    for alarm in &status.alarms {
        let class = alarm.class.as_deref().map_or_else(String::new, |class| format!(" of {class}"));
        let text = format!("alarm {}{class}", alarm.alarm);
        match thresholds.alarms {
            AlarmsAre::Ignored => {}
            AlarmsAre::Warning => judged.tell(Verdict::Warning, &text),
            AlarmsAre::Critical => judged.tell(Verdict::Critical, &text),
        }
    }
    let mut line = if judged.reasons.is_empty() {
        format!("{workers}, {wait}, {} of requests failed", percent(errors / 100.0))
    } else {
        judged.reasons.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        judged.reasons.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(", ")
    };
    // What follows the bar is for programs.
    line = harmless(&line).replace('|', "/");
    write_figures(&mut line, status, thresholds, (ready, wanted), wait_ms, errors);
    (judged.worst, line)
}

/// Performance data: `name=value[unit];warning;critical;least;most`. A range `N:` warns below N.
#[allow(clippy::cast_precision_loss, reason = "counts of workers")]
fn write_figures(
    line: &mut String,
    status: &Snapshot,
    thresholds: &Thresholds,
    (ready, wanted): (usize, usize),
    wait_ms: f64,
    errors: f64,
) {
    let Thresholds { ready_warning, ready_critical, wait_warning_ms, wait_critical_ms, .. } = *thresholds;
    let Thresholds { errors_warning, errors_critical, .. } = *thresholds;
    let least = |percent: u8| (wanted as f64 * f64::from(percent) / 100.0).ceil();
    // Writing to a String cannot fail.
    let _ = write!(
        line,
        " | workers_ready={ready};{}:;{}:;0;{wanted}",
        least(ready_warning),
        least(ready_critical).max(1.0)
    );
    let _ = write!(line, " queue_wait={wait_ms:.1}ms;{wait_warning_ms};{wait_critical_ms};0;");
    let _ = write!(line, " errors={errors:.2}%;{errors_warning};{errors_critical};0;100");
    let _ = write!(line, " queue_length={};;;0;{}", status.queue.length, status.queue.length_max);
    let _ = write!(line, " requests={:.1};;;0;", status.requests.per_second);
    let _ = write!(line, " alarms={};;;0;", status.alarms.len());
}

struct CheckVerdict {
    worst: Verdict,
    reasons: Vec<(Verdict, String)>,
}

impl CheckVerdict {
    fn tell(&mut self, verdict: Verdict, text: &str) {
        self.worst = self.worst.max(verdict);
        self.reasons.push((verdict, text.to_owned()));
    }

    fn above(&mut self, value: f64, warning: f64, critical: f64, text: &str) {
        if value > critical {
            self.tell(Verdict::Critical, text);
        } else if value > warning {
            self.tell(Verdict::Warning, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use sluice_catalog::logfields::LOG;
    use sluice_catalog::snapshot::{AlarmSnapshot, WorkerState};

    use super::*;
    use crate::client::status::tests::snapshot;

    const THRESHOLDS: Thresholds = Thresholds {
        ready_warning: 100,
        ready_critical: 50,
        wait_warning_ms: 1_000,
        wait_critical_ms: 5_000,
        errors_warning: 1.0,
        errors_critical: 5.0,
        errors_requests_min: 20,
        alarms: AlarmsAre::Warning,
    };

    fn healthy() -> Snapshot {
        let mut snapshot = snapshot();
        for worker in &mut snapshot.workers {
            (worker.state, worker.lowered) = (WorkerState::Ready, false);
        }
        snapshot.lately.outcomes = [("answered".to_owned(), 1000)].into();
        snapshot
    }

    #[test]
    fn figures_follow_the_bar_with_their_thresholds() {
        let (verdict, line) = judge(&healthy(), &THRESHOLDS);
        assert_eq!(verdict, Verdict::Fine);
        assert_eq!(
            line,
            "2 of 2 workers ready, queue wait 4.0ms, 0% of requests failed | workers_ready=2;2:;1:;0;2 \
             queue_wait=4.0ms;1000;5000;0; errors=0.00%;1;5;0;100 queue_length=2;;;0;1000 requests=12.3;;;0; alarms=0;;;0;"
        );
    }

    #[test]
    fn workers_that_are_not_ready_warn_and_half_of_them_are_critical() {
        let mut snapshot = healthy();
        snapshot.workers_wanted = Some(4);
        assert_eq!(judge(&snapshot, &THRESHOLDS).0, Verdict::Warning, "half is not below half");
        snapshot.workers[0].lowered = true;
        let (verdict, line) = judge(&snapshot, &THRESHOLDS);
        assert_eq!(verdict, Verdict::Critical);
        assert!(line.starts_with("1 of 4 workers ready |"), "{line}");
        snapshot.workers.clear();
        let lax = Thresholds { ready_warning: 0, ready_critical: 0, ..THRESHOLDS };
        assert_eq!(judge(&snapshot, &lax).0, Verdict::Critical, "nobody serves");
    }

    #[test]
    fn requests_that_wait_or_fail_count_and_clients_that_leave_do_not() {
        let mut snapshot = healthy();
        snapshot.queue.oldest_wait_ms = 1500.0;
        assert_eq!(judge(&snapshot, &THRESHOLDS).0, Verdict::Warning);
        snapshot.queue.oldest_wait_ms = 5001.0;
        assert_eq!(judge(&snapshot, &THRESHOLDS).0, Verdict::Critical);
        let mut snapshot = healthy();
        snapshot.lately.outcomes.insert("client_gone_queued".to_owned(), 900);
        assert_eq!(judge(&snapshot, &THRESHOLDS).0, Verdict::Fine);
        snapshot.lately.outcomes.insert("shed".to_owned(), 30);
        snapshot.lately.outcomes.insert("worker_fault".to_owned(), 10);
        let (verdict, line) = judge(&snapshot, &THRESHOLDS);
        assert_eq!(verdict, Verdict::Warning);
        assert!(line.starts_with("2% of requests failed (no room 30, cut by worker 10) |"), "{line}");
        snapshot.lately.outcomes = [("answered".to_owned(), 500), ("quarantined".to_owned(), 398)].into();
        let (verdict, line) = judge(&snapshot, &THRESHOLDS);
        assert_eq!(verdict, Verdict::Critical);
        assert!(line.starts_with("44% of requests failed (quarantined 398) |"), "{line}");
        snapshot.lately.outcomes = [("answered".to_owned(), 10), ("app_error".to_owned(), 9)].into();
        assert_eq!(judge(&snapshot, &THRESHOLDS).0, Verdict::Fine, "too few to judge by");
    }

    #[test]
    fn every_failure_of_the_catalogue_is_one_for_a_monitor() {
        for word in &LOG.outcomes {
            let mut snapshot = healthy();
            snapshot.lately.outcomes.insert(word.name.clone(), 1000);
            let expected = if word.is_failure { Verdict::Critical } else { Verdict::Fine };
            assert_eq!(judge(&snapshot, &THRESHOLDS).0, expected, "{}", word.name);
        }
    }

    #[test]
    fn alarms_are_as_bad_as_the_command_line_says_and_break_no_line() {
        let mut snapshot = healthy();
        snapshot.alarms.push(AlarmSnapshot {
            alarm: "cost_drift".to_owned(),
            class: Some("GET /a|b\n".to_owned()),
            text: String::new(),
            age_s: 1.0,
        });
        for (alarms, expected) in [
            (AlarmsAre::Ignored, Verdict::Fine),
            (AlarmsAre::Warning, Verdict::Warning),
            (AlarmsAre::Critical, Verdict::Critical),
        ] {
            let (verdict, line) = judge(&snapshot, &Thresholds { alarms, ..THRESHOLDS });
            assert_eq!(verdict, expected);
            assert_eq!((line.matches('|').count(), line.matches('\n').count()), (1, 0), "{line}");
        }
    }

    #[test]
    fn gateway_that_does_not_answer_is_critical_and_anything_else_unknown() {
        let run_dir = PathBuf::from("/run/shop");
        assert_eq!(without_answer(&ClientError::NotRunning(run_dir.clone())).0, Verdict::Critical);
        assert_eq!(without_answer(&ClientError::Silent(run_dir.clone())).0, Verdict::Critical);
        let error = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        assert_eq!(without_answer(&ClientError::Io { run_dir, error }).0, Verdict::Unknown);
    }
}
