//! Files that run the app in production: a systemd unit, a Dockerfile, a compose file, Kubernetes manifests. Times come from the
//! app's own configuration, so that nothing kills the gateway before its drain is over. Pure but for `Plan::read`.

mod compose;
mod docker;
mod kubernetes;
mod package;
mod unit;

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;
use sluice_catalog::config::Config;

use super::AppFacts;
use crate::args::InitArgs;
use crate::unnamed::App;
use package::Install;

/// Seconds that a supervisor gives the gateway beyond its own limits.
const MARGIN_S: u64 = 5;
/// Maximum length of a service's name, characters. That of a Kubernetes object, with room for a suffix.
const NAME_CHARS_MAX: usize = 50;

/// One file to write.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    pub name: String,
    pub text: String,
}

/// Everything that the templates need to know.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Plan {
    /// A DNS label, which systemd, Docker and Kubernetes all take.
    name: String,
    install: Install,
    /// Arguments after `sluice start`.
    start_args: Vec<String>,
    /// Directories of the Next.js standalone build, which holds all that the server needs.
    is_standalone: bool,
    has_public: bool,
    port: u16,
    is_tls: bool,
    needs_low_port: bool,
    times: Times,
    ping_path: String,
}

/// Limits of the app's configuration, milliseconds.
struct Times {
    /// Readiness says no for so long before the gateway stops accepting.
    delay_ms: u64,
    drain_ms: u64,
    worker_stop_ms: u64,
    worker_start_ms: u64,
}

impl Times {
    fn read(config: &Config) -> Self {
        Times {
            delay_ms: config.drain.delay_ms,
            drain_ms: config.drain.timeout_ms,
            worker_stop_ms: config.workers.stop_timeout_ms,
            worker_start_ms: config.workers.start_timeout_ms,
        }
    }

    /// Time from SIGTERM to the last exit, with a margin, seconds.
    fn stop_s(&self) -> u64 {
        [self.delay_ms, self.drain_ms, self.worker_stop_ms].iter().map(|ms| ms.div_ceil(1000)).sum::<u64>() + MARGIN_S
    }

    /// Longest start, with a margin, seconds.
    fn start_s(&self) -> u64 {
        self.worker_start_ms.div_ceil(1000) + MARGIN_S
    }
}

impl Plan {
    /// Looks at the app in this directory. `is_config_kept`: its `sluice.toml` is the user's, and need not name the app.
    pub fn read(dir: &Path, found: &AppFacts, config: &Config, is_config_kept: bool) -> io::Result<Self> {
        let package = match fs::read(dir.join("package.json")) {
            Ok(text) => serde_json::from_slice::<Value>(&text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Value::Null,
            Err(error) => return Err(error),
        };
        let here = std::path::absolute(dir).ok().and_then(|dir| Some(dir.file_name()?.to_string_lossy().into_owned()));
        let named = package.get("name").and_then(Value::as_str).map(str::to_owned).or(here).unwrap_or_default();
        let is_standalone = found.framework.is_some_and(|framework| framework.name == "Next.js") && is_standalone(dir);
        Ok(Plan {
            name: label(&named),
            install: Install::read(dir, &package),
            start_args: start_args(found, config, is_config_kept, is_standalone),
            is_standalone,
            has_public: dir.join("public").is_dir(),
            port: config.server.port,
            is_tls: config.is_tls(),
            needs_low_port: [config.server.port, config.server.redirect_port]
                .iter()
                .any(|port| (1..1024).contains(port)),
            times: Times::read(config),
            ping_path: config.edge.ping_path.clone(),
        })
    }

    /// The files that were asked for.
    pub fn outputs(&self, args: &InitArgs) -> Vec<Output> {
        let mut outputs = Vec::new();
        let mut add = |name: &str, text: String| outputs.push(Output { name: name.to_owned(), text });
        if args.systemd {
            add(&format!("{}.service", self.name), unit::unit(self));
        }
        if args.docker || args.compose || args.kubernetes {
            add("Dockerfile", docker::dockerfile(self));
            add(".dockerignore", docker::ignored());
        }
        if args.compose {
            add("compose.yaml", compose::compose(self));
        }
        if args.kubernetes {
            add("kubernetes.yaml", kubernetes::manifests(self));
        }
        outputs
    }

    /// Next steps, a command each.
    pub fn next_steps(&self, args: &InitArgs) -> Vec<String> {
        let name = &self.name;
        let mut steps = Vec::new();
        if args.systemd {
            if !self.has_own_sluice() {
                steps.push(format!(
                    "put Sluice where the unit expects it: sudo npm install --global --prefix /usr/local sluice@{}",
                    env!("CARGO_PKG_VERSION")
                ));
            }
            steps.push(format!("put the app into /srv/{name}, and its packages: {}", self.install.command()));
            steps.push(format!("sudo cp {name}.service /etc/systemd/system/ && sudo systemctl enable --now {name}"));
        }
        if args.compose {
            steps.push("docker compose up --build".to_owned());
        } else if args.docker || args.kubernetes {
            steps.push(format!("docker build -t {name} ."));
        }
        if args.docker && !args.compose {
            let (stop_s, port) = (self.times.stop_s(), self.port);
            steps.push(format!("docker run --init --stop-timeout {stop_s} -p {port}:{port} {name}"));
        }
        if args.kubernetes {
            steps.push(
                "name the image that was pushed in kubernetes.yaml, then: kubectl apply -f kubernetes.yaml".to_owned(),
            );
        }
        steps
    }

    /// The words that start the gateway in the app's directory.
    fn command(&self) -> Vec<String> {
        let mut words = vec![self.program().to_owned(), "start".to_owned()];
        words.extend(self.start_args.iter().cloned());
        words
    }

    /// The app's own version of Sluice, else the machine's.
    fn program(&self) -> &'static str {
        if self.has_own_sluice() { "node_modules/.bin/sluice" } else { "sluice" }
    }

    /// A standalone build has no packages but those that the server imports.
    fn has_own_sluice(&self) -> bool {
        self.install.has_sluice && !self.is_standalone
    }
}

/// Arguments of `sluice start` for an app that neither sluice.toml nor package.json names.
fn start_args(found: &AppFacts, config: &Config, is_config_kept: bool, is_standalone: bool) -> Vec<String> {
    if is_standalone {
        return vec!["server.js".to_owned()];
    }
    let app = &config.app;
    if app.entry.is_some() || !app.command.is_empty() {
        return Vec::new();
    }
    match (&found.app, found.app.entry()) {
        (App::Command(command), _) if is_config_kept => {
            std::iter::once("--").chain(command.iter().copied()).map(str::to_owned).collect()
        }
        // A build that is not there yet, which sluice.toml has as a comment.
        (_, Some((script, is_there))) if is_config_kept || !is_there => vec![script.to_owned()],
        _ => Vec::new(),
    }
}

fn is_standalone(dir: &Path) -> bool {
    let configs = ["next.config.js", "next.config.mjs", "next.config.cjs", "next.config.ts", "next.config.mts"];
    configs.iter().filter_map(|name| fs::read_to_string(dir.join(name)).ok()).any(|text| {
        let is_set =
            |line: &str| line.contains("output") && (line.contains("'standalone'") || line.contains("\"standalone\""));
        text.lines().any(|line| !line.trim_start().starts_with("//") && is_set(line))
    })
}

/// A DNS label of what people call the app: `@acme/My Shop` is `my-shop`.
fn label(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or_default();
    let plain: String = last
        .chars()
        .map(|sign| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' })
        .take(NAME_CHARS_MAX)
        .collect();
    let plain = plain.trim_matches('-');
    // Kubernetes wants services to begin with a letter.
    match plain.chars().next() {
        None => "app".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("app-{plain}"),
        Some(_) => plain.to_owned(),
    }
}

/// Words as an array of JSON, which Dockerfiles and YAML take.
fn words_as_json(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| Value::from(word.as_str()).to_string()).collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
#[path = "deploy_tests.rs"]
mod tests;
