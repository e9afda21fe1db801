//! `sluice profile --tail`: profiles of requests that took unusually long, which the gateway has kept.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use sluice_catalog::profiles::{TAILS_DIR, TAILS_INDEX, Tail};

use super::files::{FileError, Names};
use super::{Read, hot, json, read, show, text};
use crate::args::ProfileArgs;
use crate::client::connect::ClientError;
use crate::client::status::{aligned, harmless, milliseconds};
use crate::output;
use crate::run_dir::RunDir;
use crate::state_dir;

/// `id`: the one to show; all of them are listed without.
pub fn run(args: &ProfileArgs, id: Option<u64>) -> Result<ExitCode, ClientError> {
    let run_dir = RunDir::locate(&args.run_dir)?;
    let state_dir = state_dir::of_instance(&args.run_dir, &run_dir);
    let index = state_dir.join(TAILS_DIR).join(TAILS_INDEX);
    let tails = listed(index)?;
    let Some(id) = id else {
        return Ok(output::print(&if args.json { json(&tails) } else { list(&tails) }));
    };
    let tail = tails.iter().find(|tail| tail.id == id).ok_or(FileError::NoTail(id))?;
    let names = Names::new(args.out.as_deref(), &state_dir, &format!("tail-{id}"))?.or_in(run_dir.path());
    let (report, html) = read_tail(tail)?.report(&names)?;
    let mut out = format!("{} in worker {}:\n", harmless(&tail.target), tail.worker);
    out += &text::of(&report);
    Ok(show(args, &report, &html, out))
}

/// None before the first.
fn listed(index: PathBuf) -> Result<Vec<Tail>, FileError> {
    match std::fs::read(&index) {
        Ok(text) => serde_json::from_slice(&text).map_err(|source| FileError::Json { file: index, source }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(FileError::Io { file: index, source }),
    }
}

fn read_tail(tail: &Tail) -> Result<Read, FileError> {
    read(&[tail.clone().into()], None)
}

fn list(tails: &[Tail]) -> String {
    if tails.is_empty() {
        return "No request took unusually long, or none was profiled (profile.tail).\n".to_owned();
    }
    let mut rows =
        vec![["ID", "CPU", "USUAL P99", "SERVICE", "ENDED", "CLASS", "REQUEST", "HOTTEST"].map(str::to_owned)];
    rows.extend(tails.iter().map(|tail| {
        [
            tail.id.to_string(),
            milliseconds(Some(tail.cpu_ms)),
            milliseconds(Some(tail.usual_ms)),
            milliseconds(Some(tail.service_ms)),
            sluice_journal::timestamp(tail.at_unix_ms),
            text::short(&tail.class),
            text::short(&tail.target),
            hottest(tail),
        ]
    }));
    aligned(&rows)
}

/// The function that took most.
fn hottest(tail: &Tail) -> String {
    let read = read_tail(tail);
    let places = read.map(|read| hot::places(&read.profile)).unwrap_or_default();
    let first = places.first();
    first.map_or_else(
        || "-".to_owned(),
        |place| format!("{} {}:{}", text::short(&place.function), harmless(&text::relative(&place.file)), place.line),
    )
}
