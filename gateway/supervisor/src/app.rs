//! The command line and the environment of a worker's process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use sluice_catalog::config::secret_variables;
use sluice_scheduler::WorkerId;
use tokio::process::Command;

use crate::loaded;

/// Way in which the app is started.
#[derive(Clone, Debug)]
pub enum Start {
    /// A script that Node.js runs; the process is the worker itself.
    Script {
        /// The `node` binary, a name on `PATH` or a path.
        node: String,
        /// Options for Node.js.
        node_args: Vec<String>,
        /// The script.
        entry: PathBuf,
        /// The script's arguments.
        args: Vec<String>,
    },
    /// A command that starts a Node.js server as a descendant.
    Command(Vec<String>),
}

/// The app, with the settings of its workers.
#[derive(Clone, Debug)]
pub struct App {
    /// Way in which it is started.
    pub start: Start,
    /// Working directory.
    pub cwd: PathBuf,
    /// Environment variables in addition to the gateway's own.
    pub env: BTreeMap<String, String>,
    /// The preload's entry file.
    pub preload: PathBuf,
    /// Directory of this gateway's sockets to its workers; only this user can enter it.
    pub sockets: PathBuf,
    /// The gateway's port, which the app takes for its own.
    pub port: u16,
    /// Port of the app's main server from the config; 0 if not set.
    pub main_port: u16,
    /// Maximum size of a request head for a worker, in bytes.
    pub head_bytes_max: u64,
    /// Number of workers at the gateway's start, for programs that share the CPUs with them.
    pub workers: u32,
    /// Memory that the gateway and its workers may use, bytes: the limit of the cgroup or the machine. If unknown, only
    /// the heaps limit waiting requests.
    pub memory_bytes: Option<u64>,
    /// Requests that a worker may hold.
    pub concurrency: u32,
    /// Whether a worker may hold more than one request only while its requests wait.
    pub is_while_waiting: bool,
    /// Whether `@sluice/react` renders in place of react-dom.
    pub renders_fast: bool,
    /// Whether the gateway stores pages and needs the tags of their parts.
    pub keeps_pages: bool,
    /// Directory of Node.js's compile cache.
    pub compile_cache: Option<PathBuf>,
    /// Further files to watch while the app is developed; `None` in production. The app restarts when one of them
    /// changes, or a file that it has loaded.
    pub development: Option<Vec<PathBuf>>,
    /// Directory of profiles, which outlive the gateway.
    pub profiles: PathBuf,
    /// Directory for profiles while the other one is full: one in the run directory.
    pub profiles_instead: PathBuf,
}

/// Node.js option by which the id of an inspector's session is on stderr alone. Its web server else tells it to every user
/// of the machine, and who knows it runs code in the process.
const HIDES_INSPECTOR: &str = "--inspect-publish-uid=stderr";

/// Name of the socket on which preloads reach the gateway.
pub(crate) const CONTROL_SOCKET: &str = "gateway.sock";

impl App {
    /// The socket on which preloads reach the gateway.
    pub fn control_socket(&self) -> PathBuf {
        self.sockets.join(CONTROL_SOCKET)
    }

    /// Program that is executed, for messages.
    pub(crate) fn program(&self) -> &str {
        match &self.start {
            Start::Script { node, .. } => node,
            Start::Command(argv) => argv.first().map_or("", String::as_str),
        }
    }

    /// Node.js binary that runs the app; `node` for a command, whose binary is unknown.
    pub(crate) fn node(&self) -> &str {
        match &self.start {
            Start::Script { node, .. } => node,
            Start::Command(_) => "node",
        }
    }

    /// Node.js option for the largest head, because Node.js refuses by default heads that the gateway accepts.
    fn head_limit(&self) -> String {
        format!("--max-http-header-size={}", self.head_bytes_max)
    }

    /// Whether only the gateway learns the id of an inspector that it opens. Who asks for an inspector finds it by its web
    /// server, as debuggers do. While an app is developed, that may be in a script that its command runs.
    pub(crate) fn hides_inspector(&self) -> bool {
        let arguments = match &self.start {
            Start::Script { node_args, .. } => node_args,
            Start::Command(_) if self.development.is_some() => return false,
            Start::Command(argv) => argv,
        };
        let options = self.node_options().unwrap_or_default();
        !arguments.iter().map(String::as_str).any(asks_for_inspector) && !asks_for_inspector(&options.to_string_lossy())
    }

    /// `NODE_OPTIONS` of the app's user.
    fn node_options(&self) -> Option<OsString> {
        self.env.get("NODE_OPTIONS").map(OsString::from).or_else(|| std::env::var_os("NODE_OPTIONS"))
    }

    /// Path of the module that is required first, if the preload has it.
    fn early(&self) -> Option<String> {
        let path = self.preload.parent()?.join("cjs/early.js");
        path.is_file().then(|| path.to_str().map(str::to_owned)).flatten()
    }

    pub(crate) fn is_command(&self) -> bool {
        matches!(self.start, Start::Command(_))
    }

    pub(crate) fn command(&self, worker: WorkerId, instance: u32, socket: &Path) -> Command {
        let import = format!("--import={}", file_url(&self.preload));
        let own = self.node_options();
        let hides_inspector = self.hides_inspector().then_some(HIDES_INSPECTOR);
        let early = self.early();
        let mut command = match &self.start {
            Start::Script { node, node_args, entry, args } => {
                let mut command = Command::new(node);
                // Of preloads the first listens first, and of limits the last counts: the gateway adds to heads.
                command.args(early.as_ref().map(|early| format!("--require={early}"))).arg(import);
                command.args(node_args).arg(self.head_limit()).args(hides_inspector).arg(entry).args(args);
                if let (Some(own), Some(early)) = (own, &early) {
                    let mut options = OsString::from(require_option(early));
                    options.push(" ");
                    options.push(&own);
                    // The preload gives it back to the app, whose own processes are no workers.
                    command.env("NODE_OPTIONS", options).env("SLUICE_NODE_OPTIONS", own);
                }
                command
            }
            Start::Command(argv) => {
                let mut command = Command::new(argv.first().map_or("", String::as_str));
                command.args(argv.iter().skip(1));
                let mut options = OsString::from(import);
                if let Some(early) = early.as_deref().map(require_option) {
                    options = OsString::from(early + " " + &options.to_string_lossy());
                }
                if let Some(own) = own {
                    options.push(" ");
                    options.push(own);
                }
                options.push(" ");
                options.push(self.head_limit());
                if let Some(option) = hides_inspector {
                    options.push(" ");
                    options.push(option);
                }
                command.env("NODE_OPTIONS", options);
                command
            }
        };
        if std::env::var_os("NODE_ENV").is_none() {
            command.env("NODE_ENV", if self.development.is_some() { "development" } else { "production" });
        }
        if self.development.is_some() {
            // The second is Node's own, by which its module loaders tell `process.send` what they load.
            command.env("SLUICE_LOADED", loaded::list_beside(socket)).env("WATCH_REPORT_DEPENDENCIES", "1");
        } else {
            command.env_remove("SLUICE_LOADED");
        }
        if self.is_command() {
            let own = self.env.get("PATH").map(OsString::from).or_else(|| std::env::var_os("PATH"));
            command.env("PATH", path_of_command(&self.cwd, own));
        }
        // They are for operators, and error pages of apps show their environment.
        for name in secret_variables() {
            command.env_remove(name);
        }
        // They are the gateway's: an app that knows them would say in its name that it is ready, or alive.
        for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            command.env_remove(name);
        }
        for (name, value) in &self.env {
            // It is part of what was set above.
            let is_set =
                self.is_command() && name == "PATH" || name == "NODE_OPTIONS" && (self.is_command() || early.is_some());
            if !is_set {
                command.env(name, value);
            }
        }
        if self.renders_fast {
            command.env("SLUICE_REACT", "fast");
        } else {
            command.env_remove("SLUICE_REACT");
        }
        match &self.compile_cache {
            Some(dir) => command.env("SLUICE_COMPILE_CACHE", dir),
            None => command.env_remove("SLUICE_COMPILE_CACHE"),
        };
        command
            .current_dir(&self.cwd)
            .env("PORT", self.port.to_string())
            .env("NODE_APP_INSTANCE", instance.to_string())
            .env("SLUICE_WORKER", worker.0.to_string())
            .env("SLUICE_SOCKET", socket)
            .env("SLUICE_CONTROL", self.control_socket())
            .env("SLUICE_WORKER_COUNT", self.workers.to_string())
            .env("SLUICE_CONCURRENCY", self.concurrency.to_string())
            .env("SLUICE_PAGES", if self.keeps_pages { "1" } else { "0" })
            .env("SLUICE_WHILE_WAITING", if self.is_while_waiting { "1" } else { "0" })
            .env("SLUICE_PORT_PUBLIC", self.port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Its own group: a Ctrl-C at the terminal is for the gateway, and a kill reaches the worker's children too.
            .process_group(0);
        command
    }
}

/// The `PATH` of a command: the programs of packages in the app's directory and above come first, as in npm scripts. A
/// relative entry would mean another directory to the child than to the gateway, and stays unchanged.
fn path_of_command(cwd: &Path, own: Option<OsString>) -> OsString {
    let mut path = OsString::new();
    for dir in cwd.ancestors().filter(|dir| !dir.ends_with("node_modules")) {
        let bin = dir.join("node_modules/.bin");
        // A colon would end the entry.
        if !bin.as_os_str().as_bytes().contains(&b':') {
            path.push(bin);
            path.push(":");
        }
    }
    // Without one the C library has a default of its own.
    path.push(own.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into()));
    path
}

/// A `--require` option for `NODE_OPTIONS`, quoted because the path may contain spaces.
fn require_option(path: &str) -> String {
    format!("\"--require={}\"", path.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether options of Node.js, or a command, open an inspector or say where its id is told. A port alone does neither.
fn asks_for_inspector(options: &str) -> bool {
    options.split_whitespace().map(|option| option.trim_matches(['"', '\'']).replace('_', "-")).any(|option| {
        option
            .strip_prefix("--inspect")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '-']) && !rest.starts_with("-port"))
    })
}

/// Characters of a path that a URL escapes.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A path as a `file:` URL, so that spaces and the like survive `NODE_OPTIONS`.
fn file_url(path: &Path) -> String {
    format!("file://{}", percent_encode(path.as_os_str().as_bytes(), ESCAPED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_with_spaces_becomes_a_file_url_without() {
        assert_eq!(file_url(Path::new("/a b/ü.js")), "file:///a%20b/%C3%BC.js");
    }

    #[test]
    fn command_finds_programs_of_packages_of_the_app_and_of_those_above_it_first() {
        let path = path_of_command(Path::new("/a/b"), Some("/usr/bin".into()));
        assert_eq!(path, "/a/b/node_modules/.bin:/a/node_modules/.bin:/node_modules/.bin:/usr/bin");
        let path = path_of_command(Path::new("/a:b"), Some("/usr/bin".into()));
        assert_eq!(path, "/node_modules/.bin:/usr/bin");
    }

    #[test]
    fn inspector_that_the_user_asks_for_is_not_hidden() {
        for options in [
            "--inspect",
            "--inspect=0.0.0.0:9229",
            "--no-warnings --inspect-brk",
            "\"--inspect\"",
            "sh -c 'node --inspect a.js'",
            "--inspect-publish-uid=http",
            "--inspect_publish_uid=stderr",
        ] {
            assert!(asks_for_inspector(options), "{options}");
        }
        for options in ["", "--inspect-port=9300", "--inspect_port 0", "--inspector", "a--inspect.js"] {
            assert!(!asks_for_inspector(options), "{options}");
        }
    }

    #[test]
    fn path_in_node_options_is_quoted() {
        assert_eq!(require_option(r#"/a b/"c\d.js"#), r#""--require=/a b/\"c\\d.js""#);
    }
}
