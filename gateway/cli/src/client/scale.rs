//! `sluice scale`: asks for another number of workers and says how it goes until they are there.

use std::io::{self, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{GatewayState, Lane, Snapshot, WorkerSnapshot, WorkerState};
use tokio::time::Instant;

use super::connect::{ClientError, Gateway};
use crate::args::ScaleArgs;
use crate::exit::Exit;

/// Pause between two looks at the workers.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub fn run(args: &ScaleArgs) -> Result<ExitCode, ClientError> {
    let timeout = (!args.no_wait).then(|| Duration::from_millis(args.timeout_ms));
    scale(Gateway::connect(&args.run_dir)?, args.workers, timeout, &mut io::stdout().lock())
}

/// `timeout`: how long to wait for the workers; `None` for not at all.
fn scale(
    mut gateway: Gateway,
    wanted: u32,
    timeout: Option<Duration>,
    out: &mut impl Write,
) -> Result<ExitCode, ClientError> {
    let reply = gateway.ask(&Request::Scale { workers: wanted })?;
    let before = reply.workers_before.map(|before| format!(", were {before}")).unwrap_or_default();
    say(out, &format!("workers wanted: {wanted}{before}"))?;
    let Some(timeout) = timeout else { return Ok(Exit::Ok.into()) };
    let started = Instant::now();
    let mut told = String::new();
    loop {
        let snapshot = gateway.status()?;
        let pool = Pool::of(&snapshot);
        if let Some(now) = snapshot.workers_wanted.filter(|now| *now != wanted) {
            return Ok(Exit::Failed.because(format_args!("another command has set the number to {now}")));
        }
        if snapshot.state == GatewayState::Draining {
            return Ok(Exit::Failed.because("the gateway is stopping"));
        }
        let text = pool.progress(wanted);
        if text != told {
            say(out, &text)?;
            told = text;
        }
        if pool.is_settled(wanted) {
            return Ok(Exit::Ok.into());
        }
        if started.elapsed() >= timeout {
            return Ok(Exit::Failed.because(format_args!(
                "not finished after {} s: {told}. The gateway continues; `sluice status` and `sluice logs` show what it \
                 waits for.",
                timeout.as_secs()
            )));
        }
        thread::sleep(LOOK_EVERY);
    }
}

fn say(out: &mut impl Write, line: &str) -> Result<(), ClientError> {
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(ClientError::Output)
}

/// Numbers of workers by state. Those of the long lane come and go by themselves.
#[derive(Default)]
struct Pool {
    ready: u32,
    failed: u32,
    leaving: u32,
    all: u32,
}

impl Pool {
    fn of(snapshot: &Snapshot) -> Self {
        let mut pool = Self::default();
        // A version that is tried has workers besides.
        let trial = snapshot.reload.as_ref().and_then(|reload| reload.trial.as_ref());
        let tried = trial.filter(|trial| trial.state.is_open() && trial.share.is_some()).map(|trial| trial.generation);
        let is_short = |worker: &&WorkerSnapshot| worker.lane != Some(Lane::Long) && Some(worker.generation) != tried;
        for worker in snapshot.workers.iter().filter(is_short) {
            pool.all += 1;
            match worker.state {
                WorkerState::Ready | WorkerState::Busy | WorkerState::Paused => pool.ready += 1,
                WorkerState::Leaving => pool.leaving += 1,
                WorkerState::Backoff => pool.failed += 1,
                WorkerState::Starting | WorkerState::Warming => {}
            }
        }
        pool
    }

    fn is_settled(&self, wanted: u32) -> bool {
        self.ready == wanted && self.all == wanted
    }

    fn progress(&self, wanted: u32) -> String {
        let leaving = if self.leaving > 0 { format!(", {} exiting", self.leaving) } else { String::new() };
        let failed =
            if self.failed > 0 { format!(", {} failed to start and tried again", self.failed) } else { String::new() };
        if self.ready > wanted {
            return format!("{} ready, {wanted} wanted{leaving}{failed}", self.ready);
        }
        format!("{} of {wanted} ready{leaving}{failed}", self.ready)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::tests_support::FakeGateway;

    fn status(states: &[&str], wanted: u32, state: &str) -> String {
        let mut snapshot = crate::client::status::tests::snapshot();
        let worker = snapshot.workers[0].clone();
        snapshot.workers = states
            .iter()
            .map(|state| WorkerSnapshot {
                state: serde_json::from_value((*state).into()).unwrap(),
                lane: None,
                ..worker.clone()
            })
            .collect();
        snapshot.workers_wanted = Some(wanted);
        snapshot.state = serde_json::from_value(state.into()).unwrap();
        serde_json::json!({ "ok": true, "status": snapshot }).to_string()
    }

    fn run(lines: &[String], timeout: Option<Duration>) -> (bool, String) {
        let mut all = vec![r#"{"ok":true,"workers_before":1}"#];
        all.extend(lines.iter().map(String::as_str));
        let fake = FakeGateway::answering_each(&all);
        let mut out = Vec::new();
        let code = scale(fake.connect(), 3, timeout, &mut out).unwrap();
        (format!("{code:?}") == format!("{:?}", ExitCode::from(Exit::Ok)), String::from_utf8(out).unwrap())
    }

    #[test]
    fn each_step_is_told_once_until_all_are_ready() {
        let looks = [
            status(&["busy", "starting"], 3, "serving"),
            status(&["busy", "starting"], 3, "serving"),
            status(&["busy", "ready", "backoff"], 3, "serving"),
            status(&["busy", "ready", "paused"], 3, "serving"),
        ];
        let (is_ok, out) = run(&looks, Some(Duration::from_secs(20)));
        assert!(is_ok);
        let expected =
            "workers wanted: 3, were 1\n1 of 3 ready\n2 of 3 ready, 1 failed to start and tried again\n3 of 3 ready\n";
        assert_eq!(out, expected);
    }

    #[test]
    fn workers_that_leave_are_waited_for() {
        let looks = [
            status(&["busy", "busy", "busy", "leaving", "busy"], 3, "serving"),
            status(&["busy", "busy", "busy", "leaving"], 3, "serving"),
            status(&["busy", "busy", "busy"], 3, "serving"),
        ];
        let (is_ok, out) = run(&looks, Some(Duration::from_secs(20)));
        assert!(is_ok);
        assert_eq!(
            out,
            "workers wanted: 3, were 1\n4 ready, 3 wanted, 1 exiting\n3 of 3 ready, 1 exiting\n3 of 3 ready\n"
        );
    }

    #[test]
    fn a_time_that_is_over_another_number_and_a_gateway_that_leaves_are_failures() {
        for (look, timeout) in [
            (status(&["busy", "starting"], 3, "serving"), Duration::ZERO),
            (status(&["busy"], 9, "serving"), Duration::from_secs(20)),
            (status(&["busy"], 3, "draining"), Duration::from_secs(20)),
        ] {
            assert!(!run(&[look], Some(timeout)).0);
        }
    }

    #[test]
    fn without_waiting_nothing_is_looked_at() {
        let (is_ok, out) = run(&[], None);
        assert_eq!((is_ok, out.as_str()), (true, "workers wanted: 3, were 1\n"));
    }
}
