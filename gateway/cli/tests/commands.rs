//! The commands that need no gateway, run as the operator runs them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A directory of its own, removed at the end.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sluice-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.0.join(name), text).expect("the temporary directory is writable");
        self
    }

    fn sluice(&self, args: &[&str], env: &[(&str, &str)]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(args)
            .current_dir(&self.0)
            .env_clear()
            .envs(env.iter().copied())
            .output()
            .expect("the binary was built")
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn generated_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.to_str().expect("the path is Unicode");
    let output = Dir::new().sluice(&["generate", root, "--check"], &[]);
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn generate_writes_what_is_stale_and_names_it_when_only_checking() {
    let dir = Dir::new();
    let checked = dir.sluice(&["generate", ".", "--check"], &[]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(err(&checked).contains("docs/reference/config.md"), "{}", err(&checked));
    assert!(dir.sluice(&["generate", "."], &[]).status.success());
    assert!(dir.sluice(&["generate", ".", "--check"], &[]).status.success());
    dir.write("docs/reference/errors.md", "by hand");
    let checked = dir.sluice(&["generate", ".", "--check"], &[]);
    assert!(err(&checked).contains("errors.md") && !err(&checked).contains("config.md"), "{}", err(&checked));
}

#[test]
fn what_is_generated_does_not_depend_on_the_environment() {
    let dir = Dir::new();
    assert!(dir.sluice(&["generate", "."], &[]).status.success());
    let env = [("SLUICE_RUN_DIR", "/tmp/other"), ("COLUMNS", "40"), ("PORT", "1")];
    let output = dir.sluice(&["generate", ".", "--check"], &env);
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn check_prints_every_key_with_where_it_comes_from() {
    let dir = Dir::new();
    dir.write("server.js", "");
    dir.write("sluice.toml", "[server]\nport = 8080\n[app]\nenv = { A = \"b\" }\n");
    let output = dir.sluice(&["check"], &[("WEB_CONCURRENCY", "3")]);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    let line = |start: &str| {
        let line = text.lines().find(|line| line.starts_with(start));
        line.unwrap_or_else(|| panic!("no {start} in {text}")).to_owned()
    };
    assert!(line("port = 8080 ").ends_with("# sluice.toml:2"));
    assert!(line("count = 3 ").ends_with("# environment, WEB_CONCURRENCY"));
    assert!(line("length_max = 10000 ").ends_with("# default"));
    assert!(line("# entry is not set").ends_with("# default"));
    assert!(line("env = { \"A\" = \"b\" }").ends_with("# sluice.toml:4"));
}

#[test]
fn what_check_prints_is_a_file_that_says_the_same() {
    let dir = Dir::new();
    dir.write("server.js", "");
    dir.write(
        "sluice.toml",
        "[app]\nargs = [\"a\\\"b\\\\\\u007f\"]\nenv = { \"x y\" = \"z\" }\n[log]\naccess = false\n",
    );
    let first = out(&dir.sluice(&["check", "--json"], &[]));
    let printed = out(&dir.sluice(&["check"], &[]));
    dir.write("sluice.toml", &printed);
    let second = out(&dir.sluice(&["check", "--json"], &[]));
    let values = |text: &str| -> Vec<(String, Value)> {
        let json: Value = serde_json::from_str(text).expect("check --json prints JSON");
        let keys = json["keys"].as_object().expect("keys are an object");
        keys.iter().map(|(key, said)| (key.clone(), said["value"].clone())).collect()
    };
    assert_eq!(values(&first), values(&second));
}

#[test]
fn check_names_the_line_and_the_nearest_key_and_exits_with_2() {
    let dir = Dir::new();
    dir.write("other.toml", "[server]\n\nprot = 8080\n");
    let output = dir.sluice(&["check", "--config", "other.toml"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(err(&output), "sluice: other.toml:3: server.prot is an unknown key; did you mean server.port?\n");
    let output = dir.sluice(&["check", "--config", "other.toml", "--json"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let json: Value = serde_json::from_str(&out(&output)).expect("check --json prints JSON");
    assert_eq!((&json["valid"], &json["problems"][0]["place"]), (&Value::from(false), &Value::from("other.toml:3")));
}

#[test]
fn check_warns_of_a_misspelled_variable_and_still_succeeds() {
    let dir = Dir::new();
    dir.write("server.js", "");
    let output = dir.sluice(&["check"], &[("SLUICE_SERVER_PROT", "1")]);
    assert!(output.status.success());
    assert!(err(&output).contains("did you mean SLUICE_SERVER_PORT?"), "{}", err(&output));
}

#[test]
fn check_refuses_a_run_directory_that_is_too_long() {
    let long = format!("/tmp/{}", "x".repeat(200));
    let output = Dir::new().sluice(&["check", "--run-dir", &long, "--", "node"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("SLU-RUN-DIR-PATH"), "{}", err(&output));
}

#[test]
fn wrong_usage_exits_with_2_and_help_with_0() {
    let dir = Dir::new();
    assert_eq!(dir.sluice(&["strat"], &[]).status.code(), Some(2));
    assert_eq!(dir.sluice(&[], &[]).status.code(), Some(2));
    assert_eq!(dir.sluice(&["scale", "0"], &[]).status.code(), Some(2));
    for args in [["--help"].as_slice(), &["start", "--help"], &["--version"]] {
        assert_eq!(dir.sluice(args, &[]).status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn a_start_with_a_wrong_option_names_the_key() {
    let output = Dir::new().sluice(&["start", "app.js", "--port", "70000"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("server.port must be between 0 and 65535, not 70000"), "{}", err(&output));
}

/// Standard error of a check of this `sluice.toml`, which must fail.
fn refusal(dir: &Dir, config: &str) -> String {
    dir.write("sluice.toml", config);
    let output = dir.sluice(&["check"], &[("PATH", "/nowhere")]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    err(&output)
}

#[test]
fn check_names_every_file_that_is_missing_in_one_line_each() {
    let dir = Dir::new();
    let text = refusal(
        &dir,
        "[app]\nentry = \"server.js\"\n[server]\ntls_cert = \"cert.pem\"\ntls_key = \"key.pem\"\n[temp]\ndir = \"tmp\"\n",
    );
    let lines: Vec<&str> = text.trim_start_matches("sluice: ").lines().collect();
    let wanted = [
        ("sluice.toml:2: app.entry names ", "server.js, which does not exist. Name the script"),
        ("app.node names node, ", "which is in no directory of PATH. Install Node.js"),
        ("sluice.toml:4: server.tls_cert names ", "cert.pem, which cannot be used: "),
        ("sluice.toml:7: temp.dir is ", "tmp, in which no file can be created: "),
    ];
    assert_eq!(lines.len(), wanted.len(), "{text}");
    for (line, (start, part)) in lines.iter().zip(wanted) {
        assert!(line.starts_with(start) && line.contains(part), "{line}");
    }
    let text = refusal(&dir, "[app]\ncwd = \"missing\"\n");
    assert!(
        text.contains("sluice.toml:2: app.cwd names ") && text.contains("missing, which is not a directory"),
        "{text}"
    );
    let text = refusal(&dir, "[app]\nnode = \"bin/node\"\n");
    assert!(
        text.contains("sluice.toml:2: app.node names ") && text.contains("bin/node, which this user cannot execute"),
        "{text}"
    );
}

#[test]
fn check_tells_programs_the_place_of_a_missing_file() {
    let dir = Dir::new();
    dir.write("server.js", "");
    dir.write("sluice.toml", "[temp]\ndir = \"tmp\"\n");
    let output = dir.sluice(&["check", "--json"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let json: Value = serde_json::from_str(&out(&output)).expect("check --json prints JSON");
    let problem = &json["problems"][0];
    assert_eq!((&problem["place"], &problem["name"]), (&Value::from("sluice.toml:2"), &Value::from("temp.dir")));
}

#[test]
fn check_accepts_files_that_are_there() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.0.join("app/tmp")).expect("the temporary directory is writable");
    dir.write("app/server.js", "").write("app/node", "");
    let node = dir.0.join("app/node");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&node, executable).expect("the file is ours");
    // `entry` and a `node` with a slash are meant from `cwd`, as the start means them; without `.js`, as Node.js looks.
    dir.write(
        "sluice.toml",
        "[app]\ncwd = \"app\"\nentry = \"server\"\nnode = \"./node\"\n[temp]\ndir = \"app/tmp\"\n",
    );
    let output = dir.sluice(&["check"], &[]);
    assert!(output.status.success(), "{}", err(&output));
    // The same by name.
    dir.write("sluice.toml", "[app]\ncwd = \"app\"\nentry = \"server\"\n");
    let path = dir.0.join("app");
    let output = dir.sluice(&["check"], &[("PATH", path.to_str().expect("the path is Unicode"))]);
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn check_refuses_a_certificate_without_its_key() {
    let dir = Dir::new();
    dir.write("server.js", "");
    let make = |name: &str| {
        let (cert, key) = (format!("{name}-cert.pem"), format!("{name}-key.pem"));
        let mut openssl = Command::new("openssl");
        openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
        openssl.args(["-subj", "/CN=localhost", "-days", "2", "-keyout", &key, "-out", &cert]).current_dir(&dir.0);
        openssl.output().is_ok_and(|made| made.status.success())
    };
    if !make("a") || !make("b") {
        eprintln!("skipped: openssl is not installed");
        return;
    }
    let config = |cert: &str, key: &str| format!("[server]\ntls_cert = \"{cert}\"\ntls_key = \"{key}\"\n");
    let text = refusal(&dir, &config("a-cert.pem", "b-key.pem"));
    assert!(text.contains("sluice.toml:3: server.tls_key names ") && text.contains("does not match "), "{text}");
    let text = refusal(&dir, &config("a-key.pem", "a-key.pem"));
    assert!(text.contains("server.tls_cert names ") && text.contains("it contains no certificate"), "{text}");
    dir.write("sluice.toml", &config("a-cert.pem", "a-key.pem"));
    let output = dir.sluice(&["check"], &[]);
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn a_start_without_node_or_room_for_temporary_files_says_so_before_anything_runs() {
    let dir = Dir::new();
    dir.write("app.js", "");
    let args = ["start", "app.js", "--run-dir", "run", "--node", "no-such-node"];
    let output = dir.sluice(&args, &[("SLUICE_TEMP_DIR", "/nowhere"), ("PATH", "/bin")]);
    assert_eq!(output.status.code(), Some(2));
    let text = err(&output);
    assert!(text.contains("command line: app.node names no-such-node, which is in no directory of PATH"), "{text}");
    assert!(text.contains("environment variable SLUICE_TEMP_DIR: temp.dir is /nowhere, in which no file"), "{text}");
    assert!(!dir.0.join("run").exists());
}
