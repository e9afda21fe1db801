//! `sluice dev`: the gateway as somebody wants it who develops the app. It is `sluice start` with other settings, all of which are
//! here; what `Mode::Development` does besides is where it is done.

use std::process::ExitCode;

use sluice_catalog::config::DEVELOPMENT;

use crate::args::{DevArgs, StartArgs};
use crate::start;

/// Settings that hold while the app is being developed, regardless of the file. A breakpoint may last for hours, so no
/// time limit applies to the app; what the app answers is what it answers now, so nothing is kept.
const PRESET: [(&str, &str); 16] = [
    (DEVELOPMENT, ""),
    ("workers.count", "1"),
    ("workers.lanes", "off"),
    ("workers.stuck_after_ms", "0"),
    ("workers.start_timeout_ms", "3600000"),
    ("queue.wait_ms_max", "3600000"),
    ("queue.budget_ms", "0"),
    ("response.worker_timeout_ms", "86400000"),
    ("recycle.memory_bytes_max", "0"),
    // What needs the cache goes with it.
    ("cache.enabled", "false"),
    ("cache.shared_url", ""),
    ("cache.shared_password_file", ""),
    ("cache.disk_dir", ""),
    ("quarantine.ttl_ms", "0"),
    ("profile.tail", "off"),
    ("log.format", "auto"),
];

/// Runs the app until it is stopped.
pub fn run(args: DevArgs) -> ExitCode {
    start::run(start_args(args))
}

fn start_args(args: DevArgs) -> StartArgs {
    let DevArgs { entry, port, host, app_port, inspect, watch, config, run_dir, admin, node, command } = args;
    let preset = PRESET.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
    StartArgs {
        entry,
        port,
        host: Some(host),
        app_port,
        config,
        run_dir,
        admin: Some(admin),
        node,
        command,
        preset,
        // Beside those of the file, which may be what lets Node.js read TypeScript.
        node_args: inspect.map(|inspect| format!("--inspect={inspect}")).into_iter().collect(),
        watch,
        ..StartArgs::default()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use sluice_catalog::config::{Config, Mode, Sources};

    use super::*;
    use crate::args::{Cli, Command};

    fn config_of(line: &str) -> Config {
        let Command::Dev(args) = Cli::try_parse_from(line.split(' ')).unwrap().command else { panic!("{line}") };
        let sources = Sources { file: None, env: Vec::new(), flags: start_args(args).flags() };
        Config::load(sources).unwrap().config
    }

    #[test]
    fn app_in_development_has_one_worker_no_cache_and_no_time_limit() {
        let config = config_of("sluice dev server.js");
        assert_eq!(config.mode, Mode::Development);
        assert_eq!((config.workers.count, config.cache.enabled), (1, false));
        assert_eq!((config.overdue_after_ms(), config.workers.stuck_after_ms, config.blocked_after_ms()), (0, 0, 0));
        assert_eq!(config.server.host, "127.0.0.1", "stacks are for this machine alone");
        assert_eq!(config.app.entry.as_deref(), Some("server.js"));
    }

    #[test]
    fn inspector_is_for_scripts_because_a_command_would_give_it_to_npm() {
        let node_args = |line: &str| {
            let Command::Dev(args) = Cli::try_parse_from(line.split(' ')).unwrap().command else { panic!("{line}") };
            start_args(args).node_args
        };
        assert_eq!(node_args("sluice dev a.js --inspect"), ["--inspect=127.0.0.1:9229"]);
        assert_eq!(node_args("sluice dev a.js --inspect=0"), ["--inspect=0"]);
        assert_eq!(node_args("sluice dev a.js"), [""; 0]);
        assert!(Cli::try_parse_from("sluice dev --inspect -- npm run dev".split(' ')).is_err());
    }
}
