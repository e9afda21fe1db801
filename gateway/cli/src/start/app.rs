//! App to start, and the place of the preload.

use std::env;
use std::io;
use std::path::{Path, PathBuf};

use sluice_catalog::config::ConfigInForce;
use sluice_catalog::refusals::AppError;
use sluice_supervisor::Start;

use super::sources::Sources;
use crate::unnamed::{App, Package, Script};

/// Command to run, and its directory.
pub struct AppCommand {
    pub start: Start,
    pub cwd: PathBuf,
}

/// The app as the command line or the config says, else as it is found. One that the command line names is meant relative to the
/// current directory.
pub fn resolve(loaded: &ConfigInForce, sources: &Sources) -> Result<AppCommand, AppError> {
    let app = &loaded.config.app;
    let Sources { names_app, node_args, here, .. } = sources;
    let cwd = if *names_app { here.to_owned() } else { here.join(loaded.base_dir()).join(&app.cwd) };
    let cwd = cwd.canonicalize().map_err(|source| AppError::Cwd { dir: cwd, source })?;
    let script = |entry: PathBuf| Start::Script {
        node: app.node.clone(),
        node_args: [app.node_args.as_slice(), node_args].concat(),
        entry,
        args: app.args.clone(),
    };
    // The command line outweighs the file: a script named there replaces a command from the file, and the other way round.
    let start = match (&app.entry, app.command.is_empty()) {
        (Some(entry), _) => script(find_script(&cwd, entry).ok_or_else(|| AppError::NoScript(cwd.join(entry)))?),
        (None, false) => Start::Command(app.command.clone()),
        (None, true) => unnamed_start(&cwd, script)?,
    };
    match start {
        Start::Command(command) if !node_args.is_empty() => Err(AppError::InspectsCommand(command)),
        start => Ok(AppCommand { start, cwd }),
    }
}

/// A script, looked for as Node.js itself does.
pub fn find_script(cwd: &Path, entry: &str) -> Option<PathBuf> {
    let path = cwd.join(entry);
    let candidates =
        [".js", ".mjs", ".cjs", ".ts"].map(|extension| PathBuf::from(format!("{}{extension}", path.display())));
    std::iter::once(path).chain(candidates).find(|candidate| candidate.exists())
}

/// Start of the app of a directory if nobody names it.
pub fn unnamed_start(cwd: &Path, script: impl Fn(PathBuf) -> Start) -> Result<Start, AppError> {
    let package = Package::read(cwd).map_err(|source| AppError::Package { file: cwd.join("package.json"), source })?;
    match package.app(cwd) {
        App::Main(entry) | App::Usual(entry) | App::Built(Script { path: entry, is_there: true }) => {
            Ok(script(cwd.join(entry)))
        }
        App::Built(Script { path, .. }) => Err(AppError::NotBuilt(path)),
        App::ScriptsStart { .. } => Ok(Start::Command(["npm", "run", "start"].map(str::to_owned).to_vec())),
        App::Command(command) => Ok(Start::Command(command.iter().copied().map(str::to_owned).collect())),
        App::Unknown => Err(package.missing(cwd)),
    }
}

/// Reason why no worker could be started: each needs the preload.
#[derive(Debug, thiserror::Error)]
pub enum PreloadError {
    #[error("SLUICE_PRELOAD: {}: {source}. Set it to the file dist/index.js of @sluice/preload", path.display())]
    Named { path: PathBuf, source: io::Error },
    #[error("this program's path: {0}. Set SLUICE_PRELOAD to the file dist/index.js of @sluice/preload")]
    OwnPath(#[source] io::Error),
    #[error(
        "the preload was not found beside this program. Set SLUICE_PRELOAD to the file dist/index.js of @sluice/preload"
    )]
    NotFound,
}

/// The preload's entry: told by the npm package that starts this binary, else found beside the binary.
pub fn find_preload() -> Result<PathBuf, PreloadError> {
    if let Some(path) = env::var_os("SLUICE_PRELOAD").map(PathBuf::from) {
        return path.canonicalize().map_err(|source| PreloadError::Named { path, source });
    }
    let binary = env::current_exe().and_then(|path| path.canonicalize()).map_err(PreloadError::OwnPath)?;
    let places =
        ["packages/preload/dist/index.js", "node_modules/@sluice/preload/dist/index.js", "preload/dist/index.js"];
    binary
        .ancestors()
        .skip(1)
        .flat_map(|dir| places.iter().map(move |place| dir.join(place)))
        .find(|path| path.is_file())
        .ok_or(PreloadError::NotFound)
}
