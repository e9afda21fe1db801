//! The configuration as an operator meets it: files, environment and flags in, values or named problems out.

mod by_path;
mod durations;
mod log;
mod removed;
mod secrets;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use sluice_catalog::config::{
    Concurrency, Config, ConfigError, ConfigInForce, Kind, Location, LogFormat, Order, Origin, Renderer, Sources,
    find_file, key, keys,
};

/// A directory of its own, removed at the end.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sluice-config-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn load(file: &str, env: &[(&str, &str)], flags: &[(&'static str, &str)]) -> Result<ConfigInForce, ConfigError> {
    let dir = Dir::new();
    let path = dir.0.join("sluice.toml");
    std::fs::write(&path, file).expect("the temporary directory is writable");
    Config::load(Sources {
        file: Some(path),
        env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        flags: flags.iter().map(|(key, value)| (*key, (*value).to_owned())).collect(),
    })
}

/// Problems as `line: name message`, without the path of the temporary file.
fn problems(file: &str) -> Vec<String> {
    let error = load(file, &[], &[]).expect_err("the file should be refused");
    let line = |place: &Location| match place {
        Location::File(path, line) => {
            assert!(path.ends_with("sluice.toml"));
            line.to_string()
        }
        other => format!("{other:?}"),
    };
    error
        .problems
        .iter()
        .map(|problem| format!("{}: {} {}", line(&problem.place), problem.name, problem.message))
        .collect()
}

#[test]
fn nothing_given_gives_the_defaults() {
    let loaded = Config::load(Sources { file: None, env: [], flags: vec![] }).unwrap();
    assert_eq!(loaded.config, Config::default());
    assert_eq!(loaded.config.server.port, 3000);
    assert_eq!(loaded.config.server.host, "::");
    assert_eq!(loaded.config.queue.order, Order::Shortest);
    assert_eq!(loaded.config.temp.bytes_max, 4_294_967_296);
    assert!(loaded.origins.values().all(|origin| *origin == Origin::Default));
    assert_eq!(loaded.origins.len(), keys().count());
}

#[test]
fn every_type_of_value_is_read_from_the_file() {
    let file = r#"
        [app]
        entry = "server.js"
        args = ["--color", "red"]
        env = { GREETING = "hello" }
        [server]
        port = 0x1f_90
        trusted_peers = ["10.0.0.0/8", "::1"]
        [queue]
        order = "fifo"
        [log]
        format = "json"
        access = false
    "#;
    let loaded = load(file, &[], &[]).unwrap();
    let config = loaded.config;
    assert_eq!(config.app.entry.as_deref(), Some("server.js"));
    assert_eq!(config.app.args, ["--color", "red"]);
    assert_eq!(config.app.env["GREETING"], "hello");
    assert_eq!(config.server.port, 8080);
    assert_eq!(config.queue.order, Order::Fifo);
    assert_eq!(config.log.format, LogFormat::Json);
    assert!(!config.log.access);
    assert_eq!(loaded.origins["server.port"], Origin::File(7));
    assert_eq!(loaded.origins["log.access"], Origin::File(13));
}

#[test]
fn renderer_has_a_short_form_and_a_long_one() {
    for (file, line) in [("react = \"fast\"\n", 1), ("[react]\nrenderer = \"fast\"\n", 2)] {
        let loaded = load(file, &[], &[]).unwrap();
        assert_eq!(loaded.config.react.renderer, Renderer::Fast);
        assert_eq!(loaded.origins["react.renderer"], Origin::File(line));
    }
    assert_eq!(Config::default().react.renderer, Renderer::ReactDom);
    assert_eq!(
        problems("react = \"fats\"\n"),
        ["1: react.renderer must be one of react-dom, fast, not \"fats\"; did you mean \"fast\"?"]
    );
    assert_eq!(problems("react = 1\n"), ["1: react.renderer must be one of react-dom, fast, not a whole number"]);
    assert_eq!(problems("queue = 1\n"), ["1: queue is a section and must be a table"]);
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let file = "[server]\nport = 1\nhost = \"127.0.0.1\"\nconnections_max = 5\n";
    let env = [("SLUICE_SERVER_PORT", "2"), ("SLUICE_SERVER_HOST", "127.0.0.2")];
    let loaded = load(file, &env, &[("server.port", "3")]).unwrap();
    let server = &loaded.config.server;
    assert_eq!((server.port, server.host.as_str(), server.connections_max), (3, "127.0.0.2", 5));
    assert_eq!(loaded.origins["server.port"], Origin::Flag("server.port".to_owned()));
    assert_eq!(loaded.origins["server.host"], Origin::Env("SLUICE_SERVER_HOST".to_owned()));
    assert_eq!(loaded.origins["server.connections_max"], Origin::File(4));
    assert_eq!(loaded.origins["server.headers_bytes_max"], Origin::Default);
}

#[test]
fn variables_of_platforms_are_understood_behind_those_of_sluice() {
    let platform = [("PORT", "8080"), ("HOST", "127.0.0.1"), ("WEB_CONCURRENCY", "3")];
    let config = load("", &platform, &[]).unwrap().config;
    assert_eq!((config.server.port, config.server.host.as_str(), config.workers.count), (8080, "127.0.0.1", 3));
    let config = load("", &[("PORT", "8080"), ("SLUICE_SERVER_PORT", "9")], &[]).unwrap().config;
    assert_eq!(config.server.port, 9);
    assert_eq!(load("", &[("PORT", "")], &[]).unwrap().config.server.port, 3000);
}

#[test]
fn every_scalar_key_can_be_set_by_its_variable() {
    for key in keys().filter(|key| key.is_scalar()) {
        let text = match key.default() {
            serde_json::Value::String(text) => text,
            serde_json::Value::Null => continue,
            other => other.to_string(),
        };
        let name = key.env().unwrap();
        let loaded = load("", &[(&name, &text)], &[]).unwrap();
        assert_eq!(loaded.config, Config::default(), "{name}");
        assert_eq!(loaded.origins[key.path], Origin::Env(name));
    }
}

#[test]
fn an_unknown_key_names_the_nearest_one_and_its_line() {
    assert_eq!(
        problems("[server]\nhost = \"::\"\nprot = 3000\n"),
        ["3: server.prot is an unknown key; did you mean server.port?"]
    );
    assert_eq!(problems("[sever]\n"), ["1: [sever] is an unknown section; did you mean server?"]);
    assert_eq!(
        problems("port = 3000\n"),
        ["1: port is an unknown key outside of any section; did you mean server.port?"]
    );
    assert_eq!(
        problems("[workers]\nlength_max = 1\n"),
        ["2: workers.length_max is an unknown key; did you mean queue.length_max?"]
    );
    assert_eq!(
        problems("[server]\nreact = \"fast\"\nsticky = \"cookie\"\n"),
        [
            "2: server.react is an unknown key; put react above the first section, or set react.renderer",
            "3: server.sticky is an unknown key; put sticky above the first section, or set sticky.by"
        ]
    );
    assert_eq!(problems("[log]\nzzzzzzzzzzzzzz = 1\n"), ["2: log.zzzzzzzzzzzzzz is an unknown key"]);
}

#[test]
fn everything_wrong_is_told_at_once_in_the_order_of_the_file() {
    let found = problems("[server]\nport = 65536\nprot = 1\n[queue]\nwait_ms_max = \"ten\"\norder = \"fist\"\n");
    assert_eq!(
        found,
        [
            "2: server.port must be between 0 and 65535, not 65536",
            "3: server.prot is an unknown key; did you mean server.port?",
            "5: queue.wait_ms_max must be a whole number of milliseconds, or a whole number with a unit (ms, s, m, h or d), like \"500ms\" or \"3s\", not \"ten\"",
            "6: queue.order must be one of shortest, fifo, not \"fist\"; did you mean \"fifo\"?",
        ]
    );
}

#[test]
fn broken_toml_is_told_with_its_line() {
    let found = problems("[server]\nport = 3000\nhost = \n");
    assert!(found.len() == 1 && found[0].starts_with("3: "), "{found:?}");
    let found = problems("[server]\nport = 1\nport = 2\n");
    assert!(found.len() == 1 && found[0].starts_with("3: ") && found[0].contains("duplicate"), "{found:?}");
}

#[test]
fn a_missing_file_is_a_problem_only_if_it_was_asked_for() {
    let dir = Dir::new();
    assert_eq!(find_file(None, &dir.0), None);
    let asked = find_file(Some(&dir.0.join("other.toml")), &dir.0);
    let error = Config::load(Sources { file: asked, env: [], flags: vec![] }).unwrap_err();
    assert!(error.to_string().contains("other.toml: cannot be read"), "{error}");
    std::fs::write(dir.0.join("sluice.toml"), "").unwrap();
    assert_eq!(find_file(None, &dir.0), Some(dir.0.join("sluice.toml")));
}

#[test]
fn problems_of_environment_and_flags_say_where_they_stand() {
    let error = load("", &[("WEB_CONCURRENCY", "auto")], &[("server.port", "99999")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "environment variable WEB_CONCURRENCY: workers.count must be a whole number, not \"auto\"\n\
         command line: server.port must be between 0 and 65535, not 99999"
    );
}

#[test]
fn an_old_spelling_is_read_and_its_warning_names_the_new_one_wherever_it_stands() {
    let new = load("[workers]\nconcurrency = \"while-waiting\"\n", &[], &[]).unwrap();
    assert_eq!((new.config.workers.concurrency, new.warnings), (Concurrency::WhileWaiting, vec![]));
    let says = "workers.concurrency = \"auto\" is an old spelling; write \"while-waiting\".";
    let in_file = load("\n[workers]\nconcurrency = \"auto\"\n", &[], &[]).unwrap();
    assert_eq!(in_file.config.workers.concurrency, Concurrency::WhileWaiting);
    assert_eq!(key("workers.concurrency").unwrap().value(&in_file.config), "while-waiting");
    let [warning] = &in_file.warnings[..] else { panic!("{:?}", in_file.warnings) };
    assert!(warning.ends_with(&format!("sluice.toml:3: {says}")), "{warning}");
    let in_env = load("", &[("SLUICE_WORKERS_CONCURRENCY", " auto ")], &[]).unwrap();
    assert_eq!(in_env.warnings, [format!("environment variable SLUICE_WORKERS_CONCURRENCY: {says}")]);
    let in_flag = load("", &[], &[("workers.concurrency", "auto")]).unwrap();
    assert_eq!(in_flag.warnings, [format!("command line: {says}")]);
    assert_eq!(
        problems("[workers]\nconcurrency = \"while_waiting\"\n"),
        ["2: workers.concurrency must be a whole number, not \"while_waiting\", or \"while-waiting\"; \
          did you mean \"while-waiting\"?"]
    );
}

#[test]
fn a_misspelled_variable_is_a_warning_and_one_of_kubernetes_is_nothing() {
    let loaded = load("", &[("SLUICE_QUEUE_LENGHT_MAX", "5"), ("SLUICE_ADMIN_SERVICE_HOST", "10.0.0.1")], &[]).unwrap();
    assert_eq!(
        loaded.warnings,
        ["environment variable SLUICE_QUEUE_LENGHT_MAX is an unknown key; did you mean SLUICE_QUEUE_LENGTH_MAX? \
          It has no effect."]
    );
}

#[test]
fn what_kubernetes_says_of_services_with_like_names_sets_nothing() {
    let env = [("SLUICE_SERVER_PORT", "tcp://10.0.0.1:80"), ("SLUICE_ADMIN_PORT", "tcp://10.0.0.2:80")];
    let loaded = load("", &env, &[]).unwrap();
    assert_eq!((loaded.config, loaded.warnings), (Config::default(), vec![]));
}

#[test]
fn no_variable_that_workers_get_is_one_of_the_config() {
    for name in [
        "WORKER",
        "SOCKET",
        "CONTROL",
        "CONCURRENCY",
        "WHILE_WAITING",
        "COMPILE_CACHE",
        "PORT_PUBLIC",
        "RUN_DIR",
        "REFUSES_EARLY",
    ] {
        let name = format!("SLUICE_{name}");
        assert!(keys().all(|key| key.env().as_ref() != Some(&name)), "{name}");
        assert_eq!(load("", &[(&name, "1")], &[]).unwrap().warnings, Vec::<String>::new());
    }
}

#[test]
fn a_command_on_the_command_line_replaces_the_script_of_the_file() {
    let loaded = load("[app]\nentry = \"server.js\"\n", &[], &[("app.command", r#"["npm","start"]"#)]).unwrap();
    assert_eq!(
        (loaded.config.app.entry, loaded.config.app.command),
        (None, vec!["npm".to_owned(), "start".to_owned()])
    );
    let loaded = load("[app]\ncommand = [\"npm\", \"start\"]\n", &[], &[("app.entry", "server.js")]).unwrap();
    assert_eq!((loaded.config.app.entry.as_deref(), loaded.config.app.command.len()), (Some("server.js"), 0));
    assert_eq!(
        problems("[app]\nentry = \"server.js\"\ncommand = [\"npm\"]\n"),
        ["3: app.command cannot be combined with app.entry; keep one"]
    );
}

#[test]
fn keys_that_must_fit_each_other_are_checked() {
    for (file, key) in [
        ("[server]\ntls_cert = \"a.pem\"\n", "server.tls_cert"),
        ("[server]\ntls_key = \"a.pem\"\n", "server.tls_key"),
        ("[server]\ntrusted_peers = [\"10.0.0.0/33\"]\n", "server.trusted_peers"),
        ("[server]\ntrusted_peers = [\"proxy\"]\n", "server.trusted_peers"),
        ("[server]\nhost = \"a b\"\n", "server.host"),
        ("[rate]\nlimits = { \"/\" = \"fast\" }\n", "rate.limits"),
        ("[rate.limits]\n\"login\" = \"5/s\"\n", "rate.limits"),
        ("[rate.limits]\n\"/login/\" = \"5/s\"\n", "rate.limits"),
        ("[rate]\nexempt = [\"office\"]\n", "rate.exempt"),
        ("[edge]\nping_path = \"ping\"\n", "edge.ping_path"),
        ("[edge]\nping_path = \"/x\"\nready_path = \"/x\"\n", "edge.ready_path"),
        ("[admin]\naddress = \"7584\"\n", "admin.address"),
        ("[admin]\nagent_address = \"9101\"\n", "admin.agent_address"),
        ("[admin]\naddress = \"[::1]:9101\"\nagent_address = \"[::1]:9101\"\n", "admin.agent_address"),
        ("[server]\nproxy_protocol = true\n", "server.proxy_protocol"),
        ("[server]\nload_report = \"on\"\n", "server.load_report"),
        ("[files]\npaths = { \"/assets\" = \"dist\" }\n", "files.paths"),
        ("[files]\npaths = { \"assets/\" = \"dist\" }\n", "files.paths"),
        ("[files]\npaths = { \"/a b/\" = \"dist\" }\n", "files.paths"),
        ("[files]\npaths = { \"/assets/\" = \"\" }\n", "files.paths"),
        ("[files]\npaths = { \"/assets/\" = 1 }\n", "files.paths"),
        ("[files]\ncache_control = { assets = \"no-store\" }\n", "files.cache_control"),
        ("[files]\ncache_control = { \"/\" = \"no-store\\r\\nX: y\" }\n", "files.cache_control"),
        ("[shell]\nfiles = { \"\" = \"shell.html\" }\n", "shell.files"),
        ("[shell]\nfiles = { \"/\" = \"\" }\n", "shell.files"),
        ("[shell]\npages = { \"/\" = \"shell\" }\n", "shell.pages"),
        ("[shell]\nfiles = { \"/\" = \"a.html\" }\npages = { \"/\" = \"/shell\" }\n", "shell.pages"),
        ("[app]\nenv = { \"A=B\" = \"\" }\n", "app.env"),
        ("[app]\nenv = { PORT = \"1\" }\n", "app.env"),
    ] {
        let found = problems(file);
        assert!(found.len() == 1 && found[0].contains(&format!(": {key} ")), "{file} gave {found:?}");
    }
    for address in ["off", "127.0.0.1:0", "[::1]:7584", "localhost:7584", "0.0.0.0:1"] {
        load("", &[], &[("admin.address", address)]).unwrap();
    }
    for host in ["::", "0.0.0.0", "localhost", "::1", "10.1.2.3"] {
        load("", &[], &[("server.host", host)]).unwrap();
    }
}

#[test]
fn paths_of_the_file_are_relative_to_it_and_others_to_the_current_directory() {
    let dir = Dir::new();
    let path = dir.0.join("sluice.toml");
    std::fs::write(&path, "[temp]\ndir = \"tmp\"\n").unwrap();
    let flags = vec![("server.tls_cert", "a.pem".to_owned()), ("server.tls_key", "b.pem".to_owned())];
    let loaded = Config::load(Sources { file: Some(path), env: [], flags }).unwrap();
    assert_eq!(loaded.base_dir(), dir.0);
    assert_eq!(loaded.resolve("temp.dir", "tmp"), dir.0.join("tmp"));
    assert_eq!(loaded.resolve("server.tls_cert", "a.pem"), PathBuf::from("a.pem"));
    assert_eq!(loaded.resolve("app.cwd", "."), dir.0.join("."));
}

#[test]
fn the_table_says_what_style_asks_of_names() {
    for key in keys() {
        assert!(!key.description().is_empty() && key.description().ends_with('.'), "{}", key.path);
        let suffix_unit = [("_ms", "milliseconds"), ("_ms_max", "milliseconds"), ("_ms_min", "milliseconds")];
        for (suffix, unit) in suffix_unit {
            assert!(!key.name.ends_with(suffix) || key.unit == unit, "{}", key.path);
        }
        assert!(!key.name.ends_with("_bytes_max") || key.unit == "bytes", "{}", key.path);
        assert_eq!(
            key.bounds.is_some(),
            matches!(key.kind, Kind::Integer | Kind::IntegerOr(_) | Kind::Time(_)),
            "{}",
            key.path
        );
    }
    assert!(key("server.port").is_some() && key("server.prot").is_none());
}

#[test]
fn a_reload_takes_what_may_change_and_names_the_rest() {
    let started = load("[server]\nport = 1\n[queue]\nlength_max = 1\n", &[], &[]).unwrap().config;
    let changed =
        load("[server]\nport = 2\n[queue]\nlength_max = 2\n[warm_up]\npaths = [\"/\"]\n", &[], &[]).unwrap().config;
    let running = started.reloaded(&changed);
    assert_eq!((running.server.port, running.queue.length_max, running.warm_up.paths.len()), (1, 2, 1));
    let kept: Vec<_> = started.kept_from(&changed).map(|key| key.path).collect();
    assert_eq!(kept, ["server.port"]);
    assert_eq!(running.kept_from(&started).count(), 0);
}

#[test]
fn paths_of_warm_up_are_targets() {
    for bad in ["", "shop", "/a b", "/a#b"] {
        assert_eq!(problems(&format!("[warm_up]\npaths = [{bad:?}]\n")).len(), 1, "{bad:?}");
    }
    assert!(load("[warm_up]\npaths = [\"/\", \"/shop?page=2\"]\n", &[], &[]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn no_file_makes_the_parser_panic(file in "\\PC{0,200}|(\\[[a-z.]{0,8}\\]\n|[a-z_]{1,12} = [-0-9a-z\"\\[\\]{}, ]{0,12}\n){0,8}") {
        let _ = load(&file, &[], &[]);
    }

    #[test]
    fn no_text_makes_a_key_panic(index in 0..keys().count(), text in "\\PC{0,40}|-?[0-9]{0,45}") {
        let key = keys().nth(index).unwrap();
        let _ = Config::load(Sources { file: None, env: [], flags: vec![(key.path, text)] });
    }

    #[test]
    fn numbers_are_taken_exactly_within_their_bounds(value in any::<u64>(), index in 0..keys().count()) {
        let key = keys().nth(index).unwrap();
        if let Some(bounds) = key.bounds {
            let flags = vec![(key.path, value.to_string())];
            let loaded = Config::load(Sources { file: None, env: [], flags });
            let within = (bounds.min..=bounds.max).contains(&value);
            // A minimum over its maximum is refused for another reason.
            prop_assert!(within || loaded.is_err());
            if let Ok(loaded) = loaded {
                prop_assert_eq!(key.value(&loaded.config).as_u64(), Some(value));
            }
        }
    }
}
