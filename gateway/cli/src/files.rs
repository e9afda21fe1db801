//! Whether the files that the configuration names are there and can be used. The configuration's own check must not look
//! at the world; this does, for `sluice check` and before a start.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use sluice_catalog::config::{ConfigError, ConfigInForce, Location, Origin, Problem};
use sluice_catalog::refusals::AppError;
use sluice_certificates::acme::{Store, folder};
use sluice_road::{ActiveConfig, Unusable};
use sluice_supervisor::Start;

use crate::settings;
use crate::start::app::{self, AppCommand};
use crate::start::sources::Sources;

/// Looks at all of them. `no_app`: why there is nothing to start.
pub fn check(loaded: &ConfigInForce, start: &Sources, no_app: Option<&AppError>) -> Result<(), ConfigError> {
    let app = &loaded.config.app;
    let mut problems = Vec::new();
    let cwd = if start.names_app { start.here.clone() } else { loaded.base_dir().join(&app.cwd) };
    if cwd.is_dir() {
        if let (None, true, Some(why)) = (&app.entry, app.command.is_empty(), no_app) {
            problems.push(problem(loaded, "app.entry", format!("is not set. {why}")));
        }
        let script = app.entry.as_ref().map(|entry| (entry, app::find_script(&cwd, entry)));
        if let Some((entry, None)) = &script {
            let path = cwd.join(entry);
            let message =
                format!("names {}, which does not exist. Name the script that calls listen()", path.display());
            problems.push(problem(loaded, "app.entry", message));
        }
        let is_node_named = !matches!(loaded.origins.get("app.node"), None | Some(Origin::Default));
        if script.is_some() || is_node_named {
            problems.extend(node_problem(loaded, &app.node, &cwd));
        }
    } else {
        let message = format!(
            "names {}, which is not a directory. Name the directory to start the app \
            in",
            cwd.display()
        );
        problems.push(problem(loaded, "app.cwd", message));
    }
    let config = settings::resolved(loaded);
    if let Err(error) = ActiveConfig::read(Rc::new(config.clone())) {
        problems.push(unusable(loaded, &error));
    }
    problems.extend(temp_problem(loaded));
    problems.extend(acme_problem(loaded));
    problems.extend(config.files.paths.iter().filter(|(_, dir)| !Path::new(dir).is_dir()).map(|(prefix, dir)| {
        let message = format!("names {dir} for {prefix}, which is not a directory. Build the files, or fix the path");
        problem(loaded, "files.paths", message)
    }));
    told(problems)
}

/// Checks what a start does not find out by itself in good time.
pub fn check_for_start(loaded: &ConfigInForce, app: &AppCommand) -> Result<(), ConfigError> {
    told(missing_node(loaded, app).into_iter().chain(temp_problem(loaded)).chain(acme_problem(loaded)).collect())
}

/// Whether there is a Node.js to run the script with.
pub fn check_node(loaded: &ConfigInForce, app: &AppCommand) -> Result<(), ConfigError> {
    told(missing_node(loaded, app).into_iter().collect())
}

fn missing_node(loaded: &ConfigInForce, app: &AppCommand) -> Option<Problem> {
    match &app.start {
        Start::Script { node, .. } => node_problem(loaded, node, &app.cwd),
        Start::Command(_) => None,
    }
}

/// A value that cannot be used, with where it was given.
pub fn unusable(loaded: &ConfigInForce, error: &Unusable) -> Problem {
    problem(loaded, error.key(), error.to_string())
}

fn told(problems: Vec<Problem>) -> Result<(), ConfigError> {
    if problems.is_empty() { Ok(()) } else { Err(ConfigError { problems }) }
}

fn temp_problem(loaded: &ConfigInForce) -> Option<Problem> {
    let config = settings::resolved(loaded);
    let error = sluice_wire::receive::spool::try_temp_dir(&config).err()?;
    let dir = sluice_wire::receive::spool::temp_dir(&config);
    let message = format!(
        "is {}, in which no file can be created: {error}. Name a directory that this user may write to",
        dir.display()
    );
    Some(problem(loaded, "temp.dir", message))
}

/// A folder without room is none: certificates that it has are served, and the log says what is wrong.
fn acme_problem(loaded: &ConfigInForce) -> Option<Problem> {
    // Without a folder the config itself cannot be used, which is told elsewhere.
    let folder = folder(&settings::resolved(loaded)).ok().flatten()?;
    let error = Store::new(folder).create().err()?;
    Some(problem(loaded, "acme.dir", format!("cannot be used: {error}")))
}

fn node_problem(loaded: &ConfigInForce, node: &str, cwd: &Path) -> Option<Problem> {
    let path = loaded.config.app.env.get("PATH").cloned().or_else(|| std::env::var("PATH").ok());
    if find_program(node, cwd, path.as_deref()).is_some() {
        return None;
    }
    let message = if node.contains('/') {
        format!("names {}, which this user cannot execute. Name the path of node", cwd.join(node).display())
    } else {
        format!("names {node}, which is in no directory of PATH. Install Node.js, or name its path")
    };
    Some(problem(loaded, "app.node", message))
}

/// Finds the program as the worker's own start will: a path from its directory, a name on `PATH`.
fn find_program(name: &str, cwd: &Path, path: Option<&str>) -> Option<PathBuf> {
    // Without a PATH the system's own places are searched.
    let path = path.unwrap_or("/bin:/usr/bin");
    let dirs = if name.contains('/') { vec![PathBuf::new()] } else { std::env::split_paths(path).collect() };
    dirs.into_iter().map(|dir| cwd.join(dir).join(name)).find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn problem(loaded: &ConfigInForce, key: &str, message: String) -> Problem {
    let place = match (loaded.origins.get(key), &loaded.file) {
        (Some(Origin::File(line)), Some(file)) => Location::File(file.clone(), *line),
        (Some(Origin::Env(name)), _) => Location::Env(name.clone()),
        (Some(Origin::Flag(key)), _) => Location::Flag(key.clone()),
        _ => Location::Default,
    };
    Problem { place, name: key.to_owned(), message }
}
