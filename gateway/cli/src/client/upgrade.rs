//! `sluice upgrade`: the gateway answers when its successor serves, or has failed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use sluice_admin::protocol::Request;

use super::connect::{ClientError, Gateway};
use crate::args::UpgradeArgs;
use crate::output;

/// Time that the running gateway may need beyond the time limit of the new one.
const LAST_STEPS_MAX: Duration = Duration::from_secs(30);

pub fn run(args: &UpgradeArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let before = gateway.status()?.pid;
    gateway.set_patience(Some(Duration::from_millis(args.timeout_ms) + LAST_STEPS_MAX))?;
    // What the operator typed is meant from here; the gateway may have been started elsewhere.
    let absolute = |path: &Option<PathBuf>| path.as_ref().map(std::path::absolute).transpose();
    let (binary, cwd) = absolute(&args.binary)
        .and_then(|binary| Ok((binary, absolute(&args.cwd)?)))
        .map_err(|error| ClientError::Io { run_dir: gateway.run_dir().to_owned(), error })?;
    let reply = gateway.ask(&Request::Upgrade { binary, cwd, timeout_ms: args.timeout_ms })?;
    let now = reply.pid.map(|pid| format!("process {pid} serves now; ")).unwrap_or_default();
    Ok(output::print(&format!("{now}process {before} finishes its requests\n")))
}
