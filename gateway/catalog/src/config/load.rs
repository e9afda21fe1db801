//! Reads the configuration: defaults, then the file, then the environment, then flags, each over the one before.
//!
//! Everything wrong is collected, so that one run of `sluice check` shows all of it. The only input that is read here is
//! the file; environment and flags are passed in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::problem::{ConfigError, Location, Problem};
use super::slips::{Lines, is_service_link, named, nearest_key, short_form, suspicious, unknown};
use super::table::{Key, key, keys};
use super::value_error::ValueError;
use super::{Config, FixedBounds, Mode, SECTIONS, TEST_BOUNDS, checks, nearest, removed};

/// Name of the file that is read when none is given.
pub const FILE_NAME: &str = "sluice.toml";
/// Flag by which `sluice dev` says that the app runs for its developer. It is no key.
pub const DEVELOPMENT: &str = "development";

/// Sources of the configuration.
#[derive(Debug)]
pub struct Sources<Env> {
    /// The file, if there is one; see [`find_file`].
    pub file: Option<PathBuf>,
    /// The environment; see [`environment`].
    pub env: Env,
    /// Flags as `section.key` and text. Lists are JSON arrays.
    pub flags: Vec<(&'static str, String)>,
}

/// Source of a key's value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Default value.
    Default,
    /// The file, at a line from 1.
    File(usize),
    /// An environment variable, by name.
    Env(String),
    /// A flag of the command line, by the key it sets.
    Flag(String),
}

/// The configuration in force.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigInForce {
    /// Every value.
    pub config: Config,
    /// Source of each key's value, for every `section.key`.
    pub origins: BTreeMap<String, Origin>,
    /// The file that was read.
    pub file: Option<PathBuf>,
    /// Warnings about suspicious settings, a sentence each.
    pub warnings: Vec<String>,
}

/// The process's environment, without variables that are not Unicode: none of the known ones could be.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The file to read: the given one whether or not it exists, else `sluice.toml` in `dir` if that exists.
pub fn find_file(given: Option<&Path>, dir: &Path) -> Option<PathBuf> {
    match given {
        Some(path) => Some(path.to_owned()),
        None => Some(dir.join(FILE_NAME)).filter(|path| path.exists()),
    }
}

impl Config {
    /// Reads and checks everything.
    ///
    /// # Errors
    /// All that is wrong, each with its place.
    pub fn load<Env>(sources: Sources<Env>) -> Result<ConfigInForce, ConfigError>
    where
        Env: IntoIterator<Item = (String, String)>,
    {
        let mut loader = Loader::new(sources.file);
        loader.read_file();
        loader.read_env(&sources.env.into_iter().collect());
        loader.read_flags(sources.flags);
        loader.choose_app();
        loader.finish()
    }
}

impl ConfigInForce {
    /// Directory that paths of the file are relative to: the file's own, else the current one.
    pub fn base_dir(&self) -> PathBuf {
        let dir = self.file.as_deref().and_then(Path::parent).filter(|dir| !dir.as_os_str().is_empty());
        dir.unwrap_or(Path::new(".")).to_owned()
    }

    /// A path written for `key`: relative to the file's directory when the file says it, else to the current one.
    pub fn resolve(&self, key: &str, written: &str) -> PathBuf {
        match self.origins.get(key) {
            Some(Origin::Env(_) | Origin::Flag(_)) => PathBuf::from(written),
            _ => self.base_dir().join(written),
        }
    }
}

struct Loader {
    config: Config,
    origins: BTreeMap<String, Origin>,
    file: Option<PathBuf>,
    warnings: Vec<String>,
    problems: Vec<Problem>,
}

impl Loader {
    fn new(file: Option<PathBuf>) -> Self {
        let origins = keys().map(|key| (key.path.to_owned(), Origin::Default)).collect();
        Self { config: Config::default(), origins, file, warnings: Vec::new(), problems: Vec::new() }
    }

    fn read_file(&mut self) {
        let Some(path) = self.file.clone() else { return };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => return self.problem(Location::File(path, 0), "", format!("cannot be read: {error}")),
        };
        // A byte order mark is what some editors put first; the parser does not take it.
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let lines = Lines::new(text);
        let document = match DeTable::parse(text) {
            Ok(document) => document,
            Err(error) => {
                let line = error.span().map_or(0, |span| lines.number(span.start));
                let message = error.message().lines().collect::<Vec<_>>().join("; ");
                return self.problem(Location::File(path, line), "", message);
            }
        };
        for (name, value) in document.get_ref() {
            self.read_section(&path, &lines, (name.get_ref(), name.span().start), value.get_ref());
        }
    }

    fn read_section(&mut self, path: &Path, lines: &Lines, (name, start): (&str, usize), value: &DeValue<'_>) {
        let place = |start| Location::File(path.to_owned(), lines.number(start));
        let Some(section) = SECTIONS.iter().find(|section| section.name == name) else {
            if let DeValue::Table(table) = value
                && removed::had_section(name)
            {
                return table.iter().for_each(|(key, _)| {
                    let (path, place) = (format!("{name}.{}", key.get_ref()), place(key.span().start));
                    match removed::warning(&path) {
                        Some(warning) => self.warnings.push(format!("{place}{warning}")),
                        None => self.problem(place, &path, unknown("key", nearest_key(key.get_ref()))),
                    }
                });
            }
            let message = match value {
                DeValue::Table(_) => unknown("section", nearest(name, SECTIONS.iter().map(|section| section.name))),
                _ => unknown("key outside of any section", nearest_key(name)),
            };
            return self.problem(place(start), &named(name, value), message);
        };
        let DeValue::Table(table) = value else {
            if let Some(key) = section.short() {
                let origin = Origin::File(lines.number(start));
                return self.set(key, origin, value.as_str(), |config| (key.set_toml)(config, value));
            }
            return self.problem(place(start), name, "is a section and must be a table".to_owned());
        };
        for (name, value) in table {
            let start = name.span().start;
            let name: &str = name.get_ref();
            let Some(key) = section.keys.iter().find(|key| key.name == name) else {
                if let Some(warning) = removed::warning(&format!("{}.{name}", section.name)) {
                    self.warnings.push(format!("{}{warning}", place(start)));
                    continue;
                }
                // The right key in the wrong section is as likely as a slip, so all keys are looked at second.
                let near = nearest(name, section.keys.iter().map(|key| key.name))
                    .map(|near| format!("{}.{near}", section.name))
                    .filter(|near| !keys().any(|key| key.name == name) || near.ends_with(&format!(".{name}")));
                let message =
                    short_form(name).unwrap_or_else(|| unknown("key", near.as_deref().or_else(|| nearest_key(name))));
                self.problem(place(start), &format!("{}.{name}", section.name), message);
                continue;
            };
            let origin = Origin::File(lines.number(start));
            let value = value.get_ref();
            self.set(key, origin, value.as_str(), |config| (key.set_toml)(config, value));
        }
    }

    fn read_env(&mut self, env: &BTreeMap<String, String>) {
        for key in keys() {
            let own = key.env().filter(|name| env.get(name).is_some_and(|value| !is_service_link(value)));
            // Platforms leave these empty to say nothing; Sluice's own are empty to take a value back.
            let shared = key.env_conventional().filter(|name| env.get(*name).is_some_and(|value| !value.is_empty()));
            let Some(name) = own.or_else(|| shared.map(str::to_owned)) else { continue };
            let Some(text) = env.get(&name) else { continue };
            self.set(key, Origin::Env(name), Some(text), |config| (key.set_text)(config, text));
        }
        match env.get(TEST_BOUNDS).map(|text| FixedBounds::with(text)) {
            Some(Ok(bounds)) => self.config.bounds = bounds,
            Some(Err(fault)) => self.problem(Location::Env(TEST_BOUNDS.to_owned()), "", fault.to_string()),
            None => {}
        }
        self.warnings.extend(env.iter().filter_map(|(name, value)| suspicious(name, value)));
    }

    fn read_flags(&mut self, flags: Vec<(&'static str, String)>) {
        for (path, text) in flags {
            match key(path) {
                Some(key) => {
                    let origin = Origin::Flag(path.to_owned());
                    self.set(key, origin, Some(&text), |config| (key.set_text)(config, &text));
                }
                None if path == DEVELOPMENT => self.config.mode = Mode::Development,
                None => match removed::warning(path) {
                    Some(warning) => self.warnings.push(format!("{}{warning}", Location::Flag(path.to_owned()))),
                    None => self.problem(Location::Flag(path.to_owned()), path, unknown("key", nearest_key(path))),
                },
            }
        }
    }

    /// `written` is the value where it is a word.
    fn set(
        &mut self,
        key: &Key,
        origin: Origin,
        written: Option<&str>,
        write: impl FnOnce(&mut Config) -> Result<(), ValueError>,
    ) {
        match write(&mut self.config) {
            Ok(()) => {
                if let Some((old, new)) = written.and_then(|text| Some((text.trim(), (key.successor)(text)?))) {
                    let place = self.place(&origin);
                    self.warnings.push(format!("{place}{} = {old:?} is an old spelling; write {new:?}.", key.path));
                }
                self.origins.insert(key.path.to_owned(), origin);
            }
            Err(error) => {
                let place = self.place(&origin);
                self.problem(place, key.path, error.to_string());
            }
        }
    }

    /// A script and a command exclude each other, so the one from the stronger origin takes the other back.
    fn choose_app(&mut self) {
        let app = &mut self.config.app;
        if app.entry.is_none() || app.command.is_empty() {
            return;
        }
        let rank = |key| self.origins.get(key).map_or(0, Origin::rank);
        match rank("app.entry").cmp(&rank("app.command")) {
            std::cmp::Ordering::Greater => {
                app.command.clear();
                self.origins.insert("app.command".to_owned(), Origin::Default);
            }
            std::cmp::Ordering::Less => {
                app.entry = None;
                self.origins.insert("app.entry".to_owned(), Origin::Default);
            }
            std::cmp::Ordering::Equal => {
                let place = self.origins.get("app.command").cloned().unwrap_or(Origin::Default);
                let place = self.place(&place);
                self.problem(place, "app.command", "cannot be combined with app.entry; keep one".to_owned());
            }
        }
    }

    fn finish(mut self) -> Result<ConfigInForce, ConfigError> {
        let mut found = Vec::new();
        checks::check(&self.config, |key, message| found.push((key, message)));
        for (key, message) in found {
            let place = self.origins.get(key).map_or(Location::Default, |origin| self.place(origin));
            self.problem(place, key, message);
        }
        if self.problems.is_empty() {
            self.warnings.extend(checks::warnings(&self.config));
            let Self { config, origins, file, warnings, .. } = self;
            return Ok(ConfigInForce { config, origins, file, warnings });
        }
        self.problems.sort();
        Err(ConfigError { problems: self.problems })
    }

    fn place(&self, origin: &Origin) -> Location {
        match origin {
            Origin::Default => Location::Default,
            Origin::File(line) => Location::File(self.file.clone().unwrap_or_default(), *line),
            Origin::Env(name) => Location::Env(name.clone()),
            Origin::Flag(key) => Location::Flag(key.clone()),
        }
    }

    fn problem(&mut self, place: Location, name: &str, message: String) {
        self.problems.push(Problem { place, name: name.to_owned(), message });
    }
}

impl Origin {
    fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Env(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => out.write_str("default"),
            Self::File(line) => write!(out, "file, line {line}"),
            Self::Env(name) => write!(out, "environment, {name}"),
            Self::Flag(_) => out.write_str("command line"),
        }
    }
}
