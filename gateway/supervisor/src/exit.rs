//! End of a worker's process, as a label for metrics and a sentence for the operator.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use nix::sys::signal::Signal;
use sluice_catalog::errors::Code;
use sluice_journal::ExitReason;
use sluice_scheduler::KillReason;

use crate::process::filling::Memory as HeapState;

/// Texts in V8's message about a full heap: one line starts with the first and contains one of the others.
const FATAL: &str = "FATAL ERROR:";
const FULL: [&str; 2] = ["JavaScript heap out of memory", "Allocation failed"];

/// Facts about a process besides its exit status.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessFacts<'k> {
    /// Reason for which the gateway has killed it.
    pub(crate) killed: Option<KillReason>,
    /// Whether the gateway has killed the remaining processes after the serving one had exited by itself.
    pub(crate) rest_was_killed: bool,
    /// Whether it was killed because it waited, not because it used CPU.
    pub(crate) was_blocked: bool,
    /// Whether a shell or npm runs above the app, and reports signals as exit codes.
    pub(crate) is_command: bool,
    /// Memory, as last reported.
    pub(crate) heap: HeapState,
    /// Result of its examination, if it was stuck or blocked.
    pub(crate) diagnosis: Option<&'k str>,
    /// The end of its stderr.
    pub(crate) stderr_tail: &'k str,
}

pub(crate) struct Ending {
    pub(crate) reason: ExitReason,
    /// Whether a signal has ended it that neither asks a process to exit nor came from the gateway.
    pub(crate) is_violent: bool,
    pub(crate) status: String,
}

pub(crate) fn describe(status: &io::Result<ExitStatus>, known: &ProcessFacts<'_>) -> Ending {
    let status = match status {
        Ok(status) => status,
        Err(error) => {
            let status = format!("unknown: {error}");
            return Ending { reason: ExitReason::Exited, is_violent: false, status };
        }
    };
    let signal = status.signal();
    // 128 plus the signal is how shells and npm pass it on.
    let signal_below = status.code().filter(|_| known.is_command).map(|code| code - 128).filter(|below| *below > 0);
    let mut text = match (status.code(), signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("signal {number} ({signal})"),
            Err(_) => format!("signal {number}"),
        },
        (None, None) => "unknown".to_owned(),
    };
    let is_sigkill = [signal, signal_below].contains(&Some(Signal::SIGKILL as i32));
    let asks = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP].map(|signal| signal as i32);
    let is_foreign = known.killed.is_none() && !known.rest_was_killed;
    let is_violent = is_foreign && signal.or(signal_below).is_some_and(|signal| !asks.contains(&signal));
    let reason = match known.killed {
        Some(killed) if is_sigkill => {
            text.push_str(" by the gateway");
            if let Some(diagnosis) = known.diagnosis.filter(|_| killed == KillReason::Stuck) {
                text.push_str(": ");
                text.push_str(diagnosis);
            }
            killed_for(killed, known.was_blocked)
        }
        _ if !status.success() && is_heap_full(known.stderr_tail) => {
            text.push_str(": ");
            text.push_str(&heap_full(known.heap));
            ExitReason::OutOfMemory
        }
        None if is_sigkill && known.rest_was_killed => {
            text.push_str(
                " by the gateway: the serving process had exited by itself, and the process that started it remained",
            );
            ExitReason::Exited
        }
        _ if is_sigkill => {
            text.push_str(": killed from outside (the kernel's out-of-memory killer?)");
            ExitReason::Signalled
        }
        _ if signal.is_some() => ExitReason::Signalled,
        _ => ExitReason::Exited,
    };
    Ending { reason, is_violent, status: text }
}

fn killed_for(killed: KillReason, was_blocked: bool) -> ExitReason {
    match killed {
        KillReason::Stuck if was_blocked => ExitReason::Blocked,
        KillReason::Stuck => ExitReason::Stuck,
        KillReason::Abandoned => ExitReason::Abandoned,
        KillReason::StartTimeout => ExitReason::StartTimeout,
        KillReason::StopTimeout => ExitReason::StopTimeout,
        KillReason::ClientGone => ExitReason::ClientGone,
        KillReason::Changed => ExitReason::Exited,
    }
}

fn is_heap_full(stderr_tail: &str) -> bool {
    stderr_tail.lines().any(|line| line.starts_with(FATAL) && FULL.iter().any(|words| line.contains(words)))
}

fn heap_full(heap: HeapState) -> String {
    let mib = |bytes: u64| bytes / (1024 * 1024);
    let [used, max] = [heap.heap_used, heap.heap_max].map(mib);
    let reported = match max {
        0 => "its size was never reported".to_owned(),
        _ => format!("it held {used} of {max} MiB when it last reported"),
    };
    let cause = if heap.was_mostly_free() {
        "It was mostly free, and work after that report filled it, so a leak is unlikely"
    } else {
        "A heap that grows without end is a leak: `sluice heap` shows what stays"
    };
    format!(
        "{}: the JavaScript heap was full ({reported}). {cause}. --max-old-space-size in app.node_args (MiB) makes it larger",
        Code::WorkerOutOfMemory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = "<--- Last few GCs --->\n\nFATAL ERROR: Ineffective mark-compacts near heap limit Allocation \
                        failed - JavaScript heap out of memory\n----- Native stack trace -----\n 1: 0xb8";

    /// Reason and text for a process that ended by a signal or with a code.
    fn ended(raw: i32, known: &ProcessFacts<'_>) -> (ExitReason, String) {
        let Ending { reason, status, .. } = describe(&Ok(ExitStatus::from_raw(raw)), known);
        (reason, status)
    }

    #[test]
    fn full_heap_is_told_with_its_size_and_the_remedy() {
        let known = ProcessFacts {
            stderr_tail: TAIL,
            heap: HeapState { heap_used: 47 << 20, heap_max: 64 << 20, ..HeapState::default() },
            ..ProcessFacts::default()
        };
        let (reason, text) = ended(6, &known);
        assert_eq!(reason, ExitReason::OutOfMemory);
        assert!(text.starts_with("signal 6 (SIGABRT): SLU-WORKER-OUT-OF-MEMORY: "), "{text}");
        assert!(
            text.contains("47 of 64 MiB") && text.contains("is a leak") && text.contains("--max-old-space-size"),
            "{text}"
        );
        let known = ProcessFacts { heap: HeapState { heap_used: 8 << 20, ..known.heap }, ..known };
        let (_, text) = ended(6, &known);
        assert!(text.contains("a leak is unlikely"), "{text}");
        // npm tells of it by its own code.
        let known = ProcessFacts { is_command: true, ..known };
        assert_eq!(ended(134 << 8, &known).0, ExitReason::OutOfMemory);
    }

    #[test]
    fn words_of_a_full_heap_alone_are_none() {
        let known = ProcessFacts { stderr_tail: "handled: JavaScript heap out of memory", ..ProcessFacts::default() };
        assert_eq!(ended(6, &known).0, ExitReason::Signalled);
        let known = ProcessFacts { stderr_tail: TAIL, ..ProcessFacts::default() };
        assert_eq!(ended(0, &known), (ExitReason::Exited, "exit code 0".to_owned()));
        let known = ProcessFacts { killed: Some(KillReason::StopTimeout), ..known };
        assert_eq!(ended(9, &known).0, ExitReason::StopTimeout);
    }

    #[test]
    fn a_worker_that_was_asked_to_leave_is_expected_to_do_so_by_no_signal_but_those_that_ask() {
        let is_violent = |raw, known| describe(&Ok(ExitStatus::from_raw(raw)), &known).is_violent;
        let killed = ProcessFacts { killed: Some(KillReason::StopTimeout), ..ProcessFacts::default() };
        let rest_was_killed = ProcessFacts { rest_was_killed: true, ..ProcessFacts::default() };
        let is_command = ProcessFacts { is_command: true, ..ProcessFacts::default() };
        for (raw, known, expected) in [
            (9, ProcessFacts::default(), true),
            (11, ProcessFacts::default(), true),
            (137 << 8, is_command, true),
            (15, ProcessFacts::default(), false),
            (143 << 8, is_command, false),
            (9, killed, false),
            (9, rest_was_killed, false),
            (0, ProcessFacts::default(), false),
            (1 << 8, is_command, false),
            (137 << 8, ProcessFacts::default(), false),
        ] {
            assert_eq!(is_violent(raw, known), expected, "{raw} {known:?}");
        }
    }

    #[test]
    fn kill_of_somebody_else_is_told_from_ours() {
        let (reason, text) = ended(9, &ProcessFacts::default());
        assert_eq!(reason, ExitReason::Signalled);
        assert_eq!(text, "signal 9 (SIGKILL): killed from outside (the kernel's out-of-memory killer?)");
        let stuck = ProcessFacts { killed: Some(KillReason::Stuck), ..ProcessFacts::default() };
        assert_eq!(ended(9, &stuck), (ExitReason::Stuck, "signal 9 (SIGKILL) by the gateway".to_owned()));
        let found = ProcessFacts { diagnosis: Some("stuck for 10.0 s in root (lib/graph.js:7:3)"), ..stuck };
        let text = "signal 9 (SIGKILL) by the gateway: stuck for 10.0 s in root (lib/graph.js:7:3)";
        assert_eq!(ended(9, &found), (ExitReason::Stuck, text.to_owned()));
        let blocked = ProcessFacts { was_blocked: true, ..stuck };
        assert_eq!(ended(9, &blocked).0, ExitReason::Blocked);
        let command = ProcessFacts { is_command: true, ..ProcessFacts::default() };
        assert!(ended(137 << 8, &command).1.contains("killed from outside"));
        assert_eq!(ended(137 << 8, &ProcessFacts::default()), (ExitReason::Exited, "exit code 137".to_owned()));
    }

    #[test]
    fn rest_that_the_gateway_killed_is_not_blamed_on_the_kernel() {
        let rest = ProcessFacts { rest_was_killed: true, ..ProcessFacts::default() };
        let (reason, text) = ended(9, &rest);
        assert_eq!(reason, ExitReason::Exited);
        assert!(text.starts_with("signal 9 (SIGKILL) by the gateway: ") && !text.contains("kernel"), "{text}");
        let command = ProcessFacts { is_command: true, ..rest };
        assert!(!ended(137 << 8, &command).1.contains("kernel"));
        assert_eq!(ended(3 << 8, &rest), (ExitReason::Exited, "exit code 3".to_owned()));
    }

    #[test]
    fn worker_that_left_before_its_kill_left_by_itself() {
        let late = ProcessFacts { killed: Some(KillReason::StopTimeout), ..ProcessFacts::default() };
        assert_eq!(ended(3 << 8, &late), (ExitReason::Exited, "exit code 3".to_owned()));
    }
}
