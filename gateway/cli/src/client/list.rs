//! `sluice list`, and the hint of commands that found no gateway: which gateways run on this machine.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use sluice_catalog::snapshot::{GatewayState, Lane, Snapshot, WorkerState};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, duration, harmless};
use crate::args::ListArgs;
use crate::exit::Exit;
use crate::output;
use crate::registry::{self, ForeignRegistry, RegistryEntry};
use crate::run_dir::{self, RunDir};

/// Time limit for the answer of one gateway. One that lives answers far sooner, and several that do not must not take
/// a minute together.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// Maximum number of gateways in a hint.
const HINTS_MAX: usize = 5;

/// A gateway that runs.
#[derive(Debug, Serialize)]
struct GatewayRow {
    name: String,
    run_dir: PathBuf,
    user: String,
    /// Answer of the gateway; `None` if it does not answer.
    #[serde(flatten)]
    told: Option<GatewayOutput>,
}

#[derive(Debug, Serialize)]
struct GatewayOutput {
    pid: u32,
    state: GatewayState,
    url: String,
    port: Option<u16>,
    workers_ready: usize,
    workers_wanted: Option<u32>,
    version: String,
    uptime_s: f64,
}

impl GatewayOutput {
    fn of(snapshot: &Snapshot) -> Self {
        let is_ready = |state| matches!(state, WorkerState::Ready | WorkerState::Busy | WorkerState::Paused);
        let short = snapshot.workers.iter().filter(|worker| worker.lane != Some(Lane::Long));
        GatewayOutput {
            pid: snapshot.pid,
            state: snapshot.state,
            url: snapshot.url.clone(),
            port: snapshot.url.rsplit(':').next().and_then(|port| port.parse().ok()),
            workers_ready: short.filter(|worker| is_ready(worker.state)).count(),
            workers_wanted: snapshot.workers_wanted,
            version: snapshot.version.clone(),
            uptime_s: snapshot.uptime_s,
        }
    }
}

pub fn run(args: &ListArgs) -> ExitCode {
    let (found, closed) = registry::read();
    let listed: Vec<GatewayRow> = found.iter().filter_map(look).collect();
    if args.json {
        return match serde_json::to_string_pretty(&listed) {
            Ok(json) => output::print(&format!("{json}\n")),
            Err(error) => Exit::Failed.because(error),
        };
    }
    output::print(&text(&listed, &closed))
}

/// Asks the gateway of an entry; sweeps the entry where nobody listens any more.
fn look(found: &RegistryEntry) -> Option<GatewayRow> {
    let entry = &found.entry;
    let run_dir = RunDir::inherited(entry.run_dir.clone());
    let told = match Gateway::connect_to(run_dir.path(), &run_dir.control_socket()) {
        Ok(mut gateway) => {
            let asked = gateway.set_patience(Some(ANSWER_MAX)).and_then(|()| gateway.status());
            asked.ok().map(|snapshot| GatewayOutput::of(&snapshot))
        }
        Err(ClientError::NotRunning(_)) => {
            found.sweep();
            return None;
        }
        Err(_) => None,
    };
    let user = registry::user_name(found.owner);
    Some(GatewayRow { name: entry.name.clone(), run_dir: entry.run_dir.clone(), user, told })
}

fn text(listed: &[GatewayRow], closed: &[ForeignRegistry]) -> String {
    let mut out = String::new();
    if listed.is_empty() {
        out.push_str("no gateway runs\n");
    } else {
        let names = ["NAME", "PID", "PORT", "WORKERS", "STATE", "UP", "VERSION", "USER", "RUN DIR"];
        let mut rows = vec![names.map(str::to_owned)];
        rows.extend(listed.iter().map(row));
        out.push_str(&aligned(&rows));
    }
    for ForeignRegistry { owner } in closed {
        let _ = writeln!(
            out,
            "user {} may have gateways too, which only that user and root can list",
            registry::user_name(*owner)
        );
    }
    out
}

fn row(listed: &GatewayRow) -> [String; 9] {
    let GatewayRow { name, run_dir, user, told } = listed;
    let dash = || "-".to_owned();
    let (name, user, run_dir) = (harmless(name), user.clone(), harmless(&run_dir.display().to_string()));
    let Some(told) = told else {
        return [name, dash(), dash(), dash(), "silent".to_owned(), dash(), dash(), user, run_dir];
    };
    let workers = match told.workers_wanted {
        Some(wanted) => format!("{}/{wanted}", told.workers_ready),
        None => told.workers_ready.to_string(),
    };
    [
        name,
        told.pid.to_string(),
        told.port.map_or_else(dash, |port| port.to_string()),
        workers,
        told.state.as_str().to_owned(),
        duration(told.uptime_s),
        harmless(&told.version),
        user,
        run_dir,
    ]
}

/// Lines below "no gateway runs in …": where some do. Empty where none does.
pub fn hint() -> String {
    let (found, closed) = registry::read();
    let mut listed = found.iter().filter_map(look);
    let mut out = String::new();
    for GatewayRow { run_dir, user, told, name } in listed.by_ref().take(HINTS_MAX) {
        let head = if out.is_empty() { "\nGateways that run:" } else { "" };
        let told =
            told.map_or_else(|| "silent".to_owned(), |told| format!("pid {}, {}", told.pid, harmless(&told.url)));
        let whose =
            if user == registry::user_name(run_dir::current_user()) { String::new() } else { format!(", user {user}") };
        let _ = write!(
            out,
            "{head}\n  --run-dir {}   {}, {told}{whose}",
            harmless(&run_dir.display().to_string()),
            harmless(&name)
        );
    }
    if listed.next().is_some() {
        out.push_str("\n  and more: sluice list");
    }
    for ForeignRegistry { owner } in closed {
        let user = registry::user_name(owner);
        let _ = write!(
            out,
            "\nUser {user} may have gateways too; only that user and root can reach them: sudo -u {user} sluice list"
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(told: Option<GatewayOutput>) -> GatewayRow {
        GatewayRow { name: "shop".to_owned(), run_dir: "/run/shop".into(), user: "deploy".to_owned(), told }
    }

    #[test]
    fn a_gateway_is_a_row_and_one_that_is_silent_too() {
        let mut snapshot = crate::client::status::tests::snapshot();
        snapshot.workers_wanted = Some(2);
        let rows = [listed(Some(GatewayOutput::of(&snapshot))), listed(None)];
        let out = text(&rows, &[]);
        let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1][..5], ["shop", "2147483647", "3000", "1/2", "serving"]);
        assert_eq!(lines[2], ["shop", "-", "-", "-", "silent", "-", "-", "deploy", "/run/shop"]);
    }

    #[test]
    fn without_gateways_that_is_said_and_so_are_users_whose_registry_is_closed() {
        assert_eq!(text(&[], &[]), "no gateway runs\n");
        assert!(text(&[], &[ForeignRegistry { owner: 0 }]).ends_with("which only that user and root can list\n"));
    }
}
