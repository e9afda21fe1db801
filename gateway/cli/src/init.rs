//! `sluice init`: looks at the app in the current directory, and writes a `sluice.toml` for it, on request also the files that run it in
//! production. Nothing is asked and nothing is run.

mod deploy;
mod frameworks;
mod text;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use sluice_catalog::config::{Config, ConfigError, FILE_NAME};

use crate::args::InitArgs;
use crate::exit::Exit;
use crate::output;
use crate::settings;
use deploy::{Output, Plan};
use frameworks::{Framework, Mount, Start};

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
enum InitError {
    #[error("{} exists. `sluice init --force` replaces it; `sluice init --print` shows what it would be", .0.join(", "))]
    Exists(Vec<String>),
    #[error("package.json: {0}. Mend it, or go to the directory of the app")]
    Package(io::Error),
    #[error("{0}: {1}. Go to a directory that this user may write to")]
    Write(String, io::Error),
    #[error("{0}")]
    Config(#[from] ConfigError),
}

/// What is known of the app.
struct Found {
    has_package_json: bool,
    framework: Option<&'static Framework>,
    /// Files for browsers, and whether they are built yet.
    mount: Option<(&'static Mount, bool)>,
    app: App,
}

/// What `sluice start` runs.
#[derive(Debug, PartialEq, Eq)]
enum App {
    /// A script, whether or not it is built yet.
    Entry {
        script: String,
        is_there: bool,
    },
    Command(&'static [&'static str]),
    /// What package.json says: `main`, else `scripts.start`.
    Main(String),
    ScriptsStart(String),
    Unknown,
}

pub fn run(args: &InitArgs) -> ExitCode {
    match init(args) {
        Ok(told) => output::print(&told),
        Err(error @ (InitError::Exists(_) | InitError::Config(_))) => Exit::Usage.because(error),
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

fn look(dir: &Path) -> io::Result<Found> {
    let package = match fs::read(dir.join("package.json")) {
        Ok(text) => Some(serde_json::from_slice::<Value>(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let has_package_json = package.is_some();
    let package = package.unwrap_or_default();
    let has_package = |name: &str| {
        let sections = ["dependencies", "devDependencies"];
        sections.iter().any(|section| package.get(section).is_some_and(|packages| packages.get(name).is_some()))
    };
    let framework = frameworks::of(has_package);
    let mount = framework.and_then(|framework| {
        let built = framework.mounts.iter().find(|mount| dir.join(mount.dir).is_dir());
        built.map(|mount| (mount, true)).or_else(|| framework.mounts.first().map(|mount| (mount, false)))
    });
    Ok(Found { has_package_json, framework, mount, app: app(dir, &package, framework) })
}

/// As `sluice start` would find it, but for a script that package.json starts by `node`: that one needs no npm around it.
fn app(dir: &Path, package: &Value, framework: Option<&'static Framework>) -> App {
    let text = |pointer| package.pointer(pointer).and_then(Value::as_str);
    let usual = framework.map(|framework| &framework.start);
    if let Some(main) = text("/main").filter(|main| dir.join(main).exists()) {
        return App::Main(main.to_owned());
    }
    let Some(script) = text("/scripts/start") else {
        return match usual {
            Some(Start::Entry(entry)) => entry_of(dir, entry),
            Some(Start::Command(command)) => App::Command(command),
            Some(Start::Own) | None => App::Unknown,
        };
    };
    match (script_of(script), usual) {
        // `node build` means the file that Node.js finds there.
        (Some(script), Some(Start::Entry(entry))) if is_same(script, entry) => entry_of(dir, entry),
        (Some(script), _) if dir.join(script).is_file() => entry_of(dir, script),
        _ => App::ScriptsStart(script.to_owned()),
    }
}

fn entry_of(dir: &Path, entry: &str) -> App {
    let script = entry.strip_prefix("./").unwrap_or(entry).to_owned();
    App::Entry { is_there: dir.join(&script).is_file(), script }
}

/// The script of `node SCRIPT`, without options or arguments that would be lost.
fn script_of(command: &str) -> Option<&str> {
    let script = command.trim().strip_prefix("node ")?.trim();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-@".contains(&byte);
    (!script.is_empty() && !script.starts_with('-') && script.bytes().all(is_plain)).then_some(script)
}

fn is_same(script: &str, entry: &str) -> bool {
    let script = script.strip_prefix("./").unwrap_or(script).trim_end_matches('/');
    script == entry
        || entry.strip_prefix(script).is_some_and(|rest| rest == "/index.js" || rest == ".js" || rest == ".mjs")
}

#[cfg(test)]
#[path = "init_tests.rs"]
mod tests;
