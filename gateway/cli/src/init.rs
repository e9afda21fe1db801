//! `sluice init`: looks at the app in the current directory, and writes a `sluice.toml` for it, on request also the files that run it in
//! production. Nothing is asked and nothing is run.

mod deploy;
pub mod frameworks;
mod text;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use sluice_catalog::config::{Config, ConfigError, FILE_NAME};

use crate::args::InitArgs;
use crate::exit::Exit;
use crate::output;
use crate::settings;
use crate::unnamed::{App, Package};
use deploy::{Output, Plan};
use frameworks::{Framework, Mount};

/// Reason for the lack of a file.
#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("{} exists. `sluice init --force` replaces it; `sluice init --print` prints the new file", .0.join(", "))]
    Exists(Vec<String>),
    #[error("package.json: {0}. Fix it, or change to the directory of the app")]
    Package(io::Error),
    #[error(
        "no app found to start. Run `sluice init` without these options first, and name the app in sluice.toml: app.entry = \"server.js\""
    )]
    NoApp,
    #[error("{0}: {1}. Change to a directory that this user may write to")]
    Write(String, io::Error),
    #[error("{0}")]
    Config(#[from] ConfigError),
}

/// Facts about the app.
struct AppFacts {
    has_package_json: bool,
    framework: Option<&'static Framework>,
    /// Files for browsers, and whether they are built yet.
    mount: Option<(&'static Mount, bool)>,
    app: App,
}

pub fn run(args: &InitArgs) -> ExitCode {
    match init(args) {
        Ok(told) => output::print(&told),
        Err(error @ (InitError::Exists(_) | InitError::Config(_) | InitError::NoApp)) => Exit::Usage.because(error),
        Err(error) => Exit::Failed.because(error),
    }
}

fn init(args: &InitArgs) -> Result<String, InitError> {
    let here = Path::new("");
    let found = look(here).map_err(InitError::Package)?;
    let settings = Output { name: FILE_NAME.to_owned(), text: text::config(&found) };
    if !args.deploys() {
        if args.print {
            return Ok(settings.text);
        }
        write(here, std::slice::from_ref(&settings), args.force)?;
        return Ok(text::told(&found));
    }
    // Settings that are there are the user's, and say what the other files have to allow for.
    let is_kept = here.join(FILE_NAME).exists();
    let config = if is_kept { settings::load(None, Vec::new())?.config } else { Config::default() };
    // They would start nothing.
    if found.app == App::Unknown && config.app.entry.is_none() && config.app.command.is_empty() {
        return Err(InitError::NoApp);
    }
    let plan = Plan::read(here, &found, &config, is_kept).map_err(InitError::Package)?;
    let mut outputs = plan.outputs(args);
    if args.print {
        return Ok(text::printed(&outputs));
    }
    if !is_kept {
        outputs.insert(0, settings);
    }
    write(here, &outputs, args.force)?;
    Ok(text::told_of_deployment(&found, is_kept, &outputs, &plan.next_steps(args)))
}

/// Writes all of them, or none where one is there that must not be replaced.
fn write(dir: &Path, outputs: &[Output], force: bool) -> Result<(), InitError> {
    let there = outputs.iter().filter(|output| !force && dir.join(&output.name).exists());
    let there: Vec<_> = there.map(|output| output.name.clone()).collect();
    if !there.is_empty() {
        return Err(InitError::Exists(there));
    }
    for Output { name, text } in outputs {
        let path = dir.join(name);
        let file = if force { File::create(path) } else { File::create_new(path) };
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => InitError::Exists(vec![name.clone()]),
            _ => InitError::Write(name.clone(), error),
        })?;
    }
    Ok(())
}

fn look(dir: &Path) -> io::Result<AppFacts> {
    let package = Package::read(dir)?;
    let framework = package.framework;
    let mount = framework.and_then(|framework| {
        let built = framework.mounts.iter().find(|mount| dir.join(mount.dir).is_dir());
        built.map(|mount| (mount, true)).or_else(|| framework.mounts.first().map(|mount| (mount, false)))
    });
    Ok(AppFacts { has_package_json: package.json.is_some(), framework, mount, app: package.app(dir) })
}

#[cfg(test)]
#[path = "init_tests.rs"]
mod tests;
