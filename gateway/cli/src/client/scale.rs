//! `sluice scale`.

use std::process::ExitCode;

use sluice_admin::protocol::Request;

use super::connect::{ClientError, Gateway};
use crate::args::ScaleArgs;
use crate::output;

pub fn run(args: &ScaleArgs) -> Result<ExitCode, ClientError> {
    let reply = Gateway::connect(&args.run_dir)?.ask(&Request::Scale { workers: args.workers })?;
    let before = reply.workers_before.map(|before| format!(", were {before}")).unwrap_or_default();
    Ok(output::print(&format!("workers wanted: {}{before}\n", args.workers)))
}
