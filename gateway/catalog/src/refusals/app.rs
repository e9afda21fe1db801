//! Reasons why there is no app to start.

use std::io;
use std::path::PathBuf;

use crate::errors::Code;

/// Reason why nobody knows what to start.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The directory to start in is not there.
    #[error("app.cwd: {}: {source}. Name the directory to start the app in", dir.display())]
    Cwd {
        /// The directory.
        dir: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The script is not there.
    #[error(
        "{}: there is no {}. Name the script that calls listen(): sluice start server.js", Code::EntryMissing, .0.display()
    )]
    NoScript(PathBuf),
    /// Nothing is named, and there is no `package.json` that could.
    #[error(
        "{}: no app was named, and there is no package.json and no script with a usual name (server.js, dist/index.js) here. {NAME_IT}",
        Code::EntryMissing
    )]
    NoPackage,
    /// Nothing is named, and `package.json` cannot be read.
    #[error("{}: {source}. Fix it, or name the script that calls listen(): sluice start server.js", file.display())]
    Package {
        /// The file.
        file: PathBuf,
        /// Error of the operating system or of the parser of JSON.
        source: io::Error,
    },
    /// Nothing is named, by `package.json` neither.
    #[error(
        "{}: no app was named. package.json has neither a `main` that exists nor a start script, and no script with a usual name \
         (server.js, dist/index.js) is here. {NAME_IT}",
        Code::EntryMissing
    )]
    NoStart,
    /// Nothing is named, and the directory is that of several packages.
    #[error(
        "{}: no app was named, and this is the root of workspaces. Go to the directory of the app, or set app.cwd in sluice.toml. {NAME_IT}",
        Code::EntryMissing
    )]
    Workspaces,
    /// Nothing is named, and the build that makes the framework's server has not run.
    #[error(
        "{code}: the app's framework builds {0}, which does not exist yet. Build the app (npm run build), or name its script: \
         sluice start server.js", code = Code::EntryMissing
    )]
    NotBuilt(String),
    /// Arguments for Node.js are given on the command line, and a command starts the app.
    #[error(
        "--inspect is for scripts, and `{}` starts the app. Name its script (sluice dev server.js --inspect), or let the command open \
         the inspector (sluice dev -- node --inspect server.js)", .0.join(" ")
    )]
    InspectsCommand(Vec<String>),
}

const NAME_IT: &str = "Name the script that calls listen() (sluice start server.js), a command (sluice start -- npm run start), \
                       or app.entry in sluice.toml";
