//! The app of a directory where neither the command line nor the configuration names one. `init`, `check`, `start`, `dev` and each
//! reload go by this one rule. It reads files and runs nothing.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use sluice_catalog::refusals::AppError;

use crate::init::frameworks::{self, Framework, Start};

/// The package file of a directory, and the framework that it names.
pub struct Package {
    pub json: Option<Value>,
    pub framework: Option<&'static Framework>,
}

/// A script, relative to the directory of the app.
#[derive(Debug, PartialEq, Eq)]
pub struct Script {
    pub path: String,
    /// A build makes it, perhaps later.
    pub is_there: bool,
}

/// Start of an app.
#[derive(Debug, PartialEq, Eq)]
pub enum App {
    /// `main` of package.json, as the script that Node.js finds there.
    Main(String),
    /// `scripts.start` of package.json, and the script where Node.js runs that and npm adds nothing.
    ScriptsStart {
        text: String,
        script: Option<Script>,
    },
    /// The server that the framework builds.
    Built(Script),
    /// The framework's own command.
    Command(&'static [&'static str]),
    /// A script with a usual name.
    Usual(String),
    Unknown,
}

/// Folders, names and endings of scripts that are servers, in the order in which they count: what was built before its source.
const FOLDERS: [&str; 4] = ["", "dist/", "build/", "src/"];
const NAMES: [&str; 4] = ["server", "index", "main", "app"];
const ENDINGS: [&[&str]; 2] = [&["js", "mjs", "cjs"], &["ts", "mts", "cts"]];

impl Package {
    pub fn read(dir: &Path) -> io::Result<Self> {
        let json = match fs::read(dir.join("package.json")) {
            Ok(text) => Some(serde_json::from_slice::<Value>(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let has_package = |name: &str| {
            let sections = ["/dependencies", "/devDependencies"];
            let packages = |section: &str| json.as_ref()?.pointer(section)?.get(name);
            sections.iter().any(|section| packages(section).is_some())
        };
        let framework = frameworks::of(has_package);
        Ok(Self { json, framework })
    }

    /// The first that is there: `main`, `scripts.start`, the framework's server, a script with a usual name.
    pub fn app(&self, dir: &Path) -> App {
        let usual = self.framework.map(|framework| &framework.start);
        if let Some(main) = self.text("/main").and_then(|main| main_of(dir, main)) {
            return App::Main(main);
        }
        if let Some(text) = self.text("/scripts/start") {
            let script = match (script_of(text), usual) {
                // `node build` means the file that Node.js finds there.
                (Some(script), Some(Start::Entry(entry))) if is_same(script, entry) => Some(script_at(dir, entry)),
                (Some(script), _) if dir.join(script).is_file() => Some(script_at(dir, script)),
                _ => None,
            };
            return App::ScriptsStart { text: text.to_owned(), script };
        }
        match usual {
            Some(Start::Entry(entry)) => App::Built(script_at(dir, entry)),
            Some(Start::Command(command)) => App::Command(command),
            // A framework's sources are for browsers as well.
            Some(Start::Own) => usual_script(dir, &FOLDERS[..3]),
            None => usual_script(dir, &FOLDERS),
        }
    }

    /// Error that says why there is no app to start.
    pub fn missing(&self, dir: &Path) -> AppError {
        let is_workspaces = self.json.as_ref().is_some_and(|json| json.get("workspaces").is_some());
        match &self.json {
            _ if is_workspaces || dir.join("pnpm-workspace.yaml").is_file() => AppError::Workspaces,
            None => AppError::NoPackage,
            Some(_) => AppError::NoStart,
        }
    }

    fn text(&self, pointer: &str) -> Option<&str> {
        self.json.as_ref()?.pointer(pointer)?.as_str()
    }
}

impl App {
    /// The script that is started, where npm is not needed for it.
    pub fn entry(&self) -> Option<(&str, bool)> {
        match self {
            Self::ScriptsStart { script: Some(script), .. } | Self::Built(script) => {
                Some((&script.path, script.is_there))
            }
            Self::Usual(script) => Some((script, true)),
            _ => None,
        }
    }
}

fn usual_script(dir: &Path, folders: &[&str]) -> App {
    let candidates = ENDINGS.iter().flat_map(|endings| {
        folders.iter().flat_map(move |folder| {
            NAMES.iter().flat_map(move |name| endings.iter().map(move |ending| format!("{folder}{name}.{ending}")))
        })
    });
    candidates.into_iter().find(|candidate| dir.join(candidate).is_file()).map_or(App::Unknown, App::Usual)
}

/// Main file as Node.js resolves it: a file, one with an ending, or the index of a directory. Packages for browsers name a style sheet
/// or a page.
fn main_of(dir: &Path, main: &str) -> Option<String> {
    let is_script = |path: &str| {
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        ending.is_none_or(|ending| ENDINGS.concat().contains(&ending)) && dir.join(path).is_file()
    };
    let plain = main.strip_prefix("./").unwrap_or(main).trim_end_matches('/');
    let folder = if plain.is_empty() { String::new() } else { format!("{plain}/") };
    let candidates = [
        plain.to_owned(),
        format!("{plain}.js"),
        format!("{plain}.mjs"),
        format!("{plain}.cjs"),
        format!("{folder}index.js"),
    ];
    candidates.into_iter().find(|candidate| is_script(candidate))
}

fn script_at(dir: &Path, entry: &str) -> Script {
    let path = entry.strip_prefix("./").unwrap_or(entry).to_owned();
    Script { is_there: dir.join(&path).is_file(), path }
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
#[path = "unnamed_tests.rs"]
mod tests;
