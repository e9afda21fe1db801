//! Load generator of the benchmarks. Takes a plan as JSON, sends to loopback addresses only, prints one JSON result.
//!
//! It knows nothing of what it loads: Sluice and its peers get the same bytes.

mod burst;
mod client;
mod closed;
mod hold;
mod open;
mod plan;
mod random;
mod slow;
mod tally;
mod traffic;

use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::LocalSet;
use tokio::time::timeout;

use plan::{Mode, Plan};
use traffic::Traffic;

const USAGE: &str = r#"usage: sluice-load PLAN

PLAN is JSON, or the path of a file that holds it. Only loopback targets are accepted.

  closed loop   {"targets":["127.0.0.1:3000"],"routes":[{"path":"/"}],
                 "mode":{"kind":"closed","connections":13,"requests":10000,"keep_alive":true}}
  open loop     "mode":{"kind":"open","rate_per_s":400,"duration_ms":10000,"requests_max":100000}
  idle          "mode":{"kind":"hold","connections":5000,"duration_ms_max":60000}
  all at once   "mode":{"kind":"burst","connections":1000}
  slow clients  "mode":{"kind":"slow","duration_ms_max":60000,"groups":[
                 {"slow":"headers","connections":100,"interval_ms":1000,"bytes":1,"path":"/"}]}

Further keys: routes[].class, method, weight, headers, body, body_bytes, answer_bytes; abort {fraction, after_ms_min, after_ms_max,
reset_fraction}; timeout_ms; check_echo; resend; samples; seed. `hold` and `slow` say `ready` on stderr. SIGTERM ends a run early; the
result so far is printed."#;

fn main() -> ExitCode {
    let Some(argument) = std::env::args().nth(1).filter(|argument| !argument.starts_with("--")) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match read_plan(&argument).and_then(run) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("sluice-load: {message}");
            ExitCode::from(2)
        }
    }
}

fn read_plan(argument: &str) -> Result<Plan, String> {
    if argument.trim_start().starts_with('{') {
        return Plan::parse(argument);
    }
    let text = std::fs::read_to_string(argument).map_err(|error| format!("cannot read {argument}: {error}"))?;
    Plan::parse(&text)
}

fn run(mut plan: Plan) -> Result<serde_json::Value, String> {
    let keep_alive =
        !matches!(plan.mode, Mode::Closed { keep_alive: false, .. } | Mode::Open { keep_alive: false, .. });
    let mode =
        std::mem::replace(&mut plan.mode, Mode::Slow { groups: Vec::new(), connections_per_s: 1, duration_ms_max: 0 });
    let traffic = Rc::new(Traffic::new(plan, keep_alive));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start: {error}"))?;
    let local = LocalSet::new();
    local.block_on(&runtime, async {
        let mut stop = signal(SignalKind::terminate()).map_err(|error| format!("cannot watch for SIGTERM: {error}"))?;
        tokio::select! {
            () = perform(Rc::clone(&traffic), mode) => {}
            _ = stop.recv() => {}
        }
        Ok::<(), String>(())
    })?;
    let report = traffic.tally.borrow().report();
    Ok(report)
}

async fn perform(traffic: Rc<Traffic>, mode: Mode) {
    match mode {
        Mode::Closed { connections, requests, keep_alive, duration_ms_max } => {
            let all = closed::run(traffic, connections, requests, keep_alive);
            let _ = timeout(Duration::from_millis(duration_ms_max), all).await;
        }
        Mode::Open { rate_per_s, duration_ms, requests_max, connections_max, measure_from_ms, keep_alive } => {
            let arrivals = open::Arrivals {
                rate_per_s,
                duration: Duration::from_millis(duration_ms),
                requests_max,
                connections_max,
                measure_from: Duration::from_millis(measure_from_ms),
                keep_alive,
            };
            open::run(traffic, arrivals).await;
        }
        Mode::Burst { connections } => burst::run(traffic, connections).await,
        Mode::Hold { connections, requests_per_connection, connections_per_s, duration_ms_max } => {
            let duration = Duration::from_millis(duration_ms_max);
            let hold = hold::Hold { connections, requests_per_connection, connections_per_s, duration };
            hold::run(traffic, hold).await;
        }
        Mode::Slow { groups, connections_per_s, duration_ms_max } => {
            let duration = Duration::from_millis(duration_ms_max);
            slow::run(traffic, Rc::new(groups), connections_per_s, duration).await;
        }
    }
}
