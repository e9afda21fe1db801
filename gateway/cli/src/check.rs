//! `sluice check`: validates the configuration and prints every key in force with where it comes from.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};
use sluice_catalog::config::{self, ConfigError, ConfigInForce, Key, Origin, SECTIONS};
use sluice_catalog::snapshot::ConcurrencySnapshot;
use sluice_supervisor::Start;

use crate::args::{CheckArgs, RunDirArg};
use crate::client::connect::Gateway;
use crate::client::status::harmless;
use crate::exit::Exit;
use crate::run_dir::RunDir;
use crate::start::app::{self, AppCommand};
use crate::start::heads;
use crate::start::sizing::{self, Sizing};
use crate::start::sources::{self, Sources};
use crate::stderr;
use crate::{files, output, settings};

/// Column at which origins stand, where values are short enough.
const ORIGIN_COLUMN: usize = 48;
/// Time limit for the observations of a running gateway.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Exit code 2 when something is wrong; all of it is told at once.
pub fn run(args: &CheckArgs) -> ExitCode {
    let here = match sources::here() {
        Ok(here) => here,
        Err(error) => return Exit::Failed.because(format_args!("the current directory: {error}")),
    };
    let CheckArgs { start: given, json } = args;
    let mut loaded = match settings::load(given.config.as_deref(), given.flags()) {
        Ok(loaded) => loaded,
        Err(error) => return refused(args, &error),
    };
    let names_app = given.entry.is_some() || !given.command.is_empty();
    let start = Sources { config: given.config.clone(), flags: given.flags(), names_app, node_args: Vec::new(), here };
    let app = app::resolve(&loaded, &start);
    if let Err(error) = files::check(&loaded, &start, app.as_ref().err()) {
        return refused(args, &error);
    }
    let (app, sizing) = match app {
        Ok(app) => {
            heads::settle(&mut loaded, &app);
            (AppReport::new(&loaded, &app), sizing::here(&loaded.config, &app, None))
        }
        Err(error) => return Exit::Usage.because(error),
    };
    if let Err(error) = RunDir::locate(&given.run_dir) {
        return Exit::Usage.because(error);
    }
    let seen = seen_by_gateway(&given.run_dir);
    if *json {
        return output::print(&format!("{:#}\n", as_json(&loaded, &app, &sizing, seen.as_ref())));
    }
    for warning in loaded.warnings.iter().chain(&sizing.warnings) {
        stderr::say(format_args!("sluice: {warning}"));
    }
    output::print(&as_toml(&loaded, &app, &sizing, seen.as_ref()))
}

/// The app that `sluice start` would run.
#[derive(Serialize)]
struct AppReport {
    /// Way in which it was found.
    by: &'static str,
    /// The words that start a worker.
    start: Vec<String>,
    cwd: PathBuf,
    /// Limit of heads that the gateway takes from its options, bytes.
    head_bytes_max: Option<u64>,
}

impl AppReport {
    fn new(loaded: &ConfigInForce, app: &AppCommand) -> Self {
        let is_named = loaded.config.app.entry.is_some() || !loaded.config.app.command.is_empty();
        let start = match &app.start {
            Start::Script { node, node_args, entry, args } => {
                let entry = entry.strip_prefix(&app.cwd).unwrap_or(entry).display().to_string();
                [std::slice::from_ref(node), node_args, &[entry], args].concat()
            }
            Start::Command(words) => words.clone(),
        };
        let by = if is_named { "as configured" } else { "detected" };
        AppReport { by, start, cwd: app.cwd.clone(), head_bytes_max: heads::bytes_max(loaded, app) }
    }
}

/// Settings that fit the app, by what a gateway that runs here has seen.
fn seen_by_gateway(run_dir: &RunDirArg) -> Option<ConcurrencySnapshot> {
    let mut gateway = Gateway::connect(run_dir).ok()?;
    gateway.set_patience(Some(ANSWER_MAX)).ok()?;
    Some(gateway.status().ok()?.concurrency)
}

fn refused(args: &CheckArgs, error: &ConfigError) -> ExitCode {
    if !args.json {
        return Exit::Usage.because(error);
    }
    let problems: Vec<Value> = error
        .problems
        .iter()
        .map(|problem| {
            let place = problem.place.to_string();
            json!({ "place": place.trim_end_matches(": "), "name": problem.name, "message": problem.message })
        })
        .collect();
    output::print(&format!("{:#}\n", json!({ "valid": false, "problems": problems })));
    Exit::Usage.into()
}

/// A file that says what is in force, which can be used as a start for one's own.
fn as_toml(loaded: &ConfigInForce, app: &AppReport, sizing: &Sizing, seen: Option<&ConcurrencySnapshot>) -> String {
    let file = loaded.file.as_ref().map_or("no file".to_owned(), |file| file.display().to_string());
    let mut out = format!("# Valid ({file}).\n");
    let _ = writeln!(out, "# The app, {}: {} in {}", app.by, harmless(&app.start.join(" ")), app.cwd.display());
    for line in sizing.lines() {
        let _ = writeln!(out, "# {line}");
    }
    if let Some(bytes) = app.head_bytes_max {
        let _ = writeln!(
            out,
            "# Limit of the request line and of the headers: {bytes} bytes each, from the app's --max-http-header-size."
        );
    }
    if let Some(seen) = seen {
        let advice = seen.advice.as_deref().unwrap_or(
            "it has served too few requests to recommend a value of \
                workers.concurrency",
        );
        let _ = writeln!(out, "# The running gateway: {}.", harmless(advice));
    }
    for section in SECTIONS {
        let _ = write!(out, "\n[{}]\n", section.name);
        for key in section.keys {
            let line = match key.shown(&loaded.config) {
                Value::Null => format!("# {} is not set", key.name),
                value => format!("{} = {}", key.name, toml_value(&value)),
            };
            let _ = writeln!(out, "{line:ORIGIN_COLUMN$} # {}", origin_text(loaded, key));
        }
    }
    out
}

fn toml_value(value: &Value) -> String {
    match value {
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let entry = |(name, value): (&String, &Value)| {
                format!("{} = {}", toml_value(&Value::from(name.as_str())), toml_value(value))
            };
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(toml_value).collect::<Vec<_>>().join(", ")),
        // JSON strings and numbers are TOML ones, but for DEL, which TOML wants escaped.
        scalar => scalar.to_string().replace('\u{7f}', "\\u007f"),
    }
}

fn origin_text(loaded: &ConfigInForce, key: &Key) -> String {
    match (loaded.origins.get(key.path), &loaded.file) {
        (Some(Origin::File(line)), Some(file)) => format!("{}:{line}", file.display()),
        (Some(Origin::Env(name)), _) => format!("environment, {name}"),
        (Some(origin), _) => origin.to_string(),
        (None, _) => Origin::Default.to_string(),
    }
}

fn as_json(loaded: &ConfigInForce, app: &AppReport, sizing: &Sizing, seen: Option<&ConcurrencySnapshot>) -> Value {
    let keys: Map<String, Value> = config::keys()
        .map(|key| {
            let origin = origin_text(loaded, key);
            (key.path.to_owned(), json!({ "value": key.shown(&loaded.config), "origin": origin }))
        })
        .collect();
    let warnings: Vec<&String> = loaded.warnings.iter().chain(&sizing.warnings).collect();
    json!({
        "valid": true, "file": loaded.file, "app": app, "sizing": sizing, "warnings": warnings, "seen": seen, "keys": keys
    })
}
