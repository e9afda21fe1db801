use std::fs;
use std::path::PathBuf;

use sluice_catalog::config::{Config, ConfigInForce, Sources};

use super::*;

/// A directory with these files, of which one that ends with `/` is a directory.
fn app_with(package: Option<&str>, files: &[&str]) -> (tempfile::TempDir, AppFacts) {
    let dir = tempfile::tempdir().unwrap();
    if let Some(package) = package {
        fs::write(dir.path().join("package.json"), package).unwrap();
    }
    for file in files {
        let path = dir.path().join(file);
        if file.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }
    let found = look(dir.path()).unwrap();
    (dir, found)
}

fn loaded(config: &str) -> ConfigInForce {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(FILE_NAME);
    fs::write(&file, config).unwrap();
    let env: [(String, String); 0] = [];
    Config::load(Sources { file: Some(PathBuf::from(&file)), env, flags: Vec::new() }).unwrap()
}

#[test]
fn what_frameworks_build_is_found_and_the_file_says_it() {
    for (package, files, prefix, dir, entry) in [
        (
            r#"{"dependencies":{"next":"16"},"scripts":{"start":"next start"}}"#,
            &[".next/static/"][..],
            "/_next/static/",
            ".next/static",
            None,
        ),
        (r#"{"devDependencies":{"@react-router/dev":"8","vite":"8"}}"#, &["build/client/"], "/", "build/client", None),
        (r#"{"dependencies":{"@remix-run/serve":"2"}}"#, &["build/client/"], "/", "build/client", None),
        (
            r#"{"dependencies":{"astro":"7"},"scripts":{"start":"node ./dist/server/entry.mjs"}}"#,
            &["dist/client/", "dist/server/entry.mjs"],
            "/",
            "dist/client",
            Some("dist/server/entry.mjs"),
        ),
        (
            r#"{"devDependencies":{"@sveltejs/kit":"3","vite":"8"},"scripts":{"start":"node build"}}"#,
            &["build/client/", "build/index.js"],
            "/",
            "build/client",
            Some("build/index.js"),
        ),
        (
            r#"{"dependencies":{"nuxt":"4"}}"#,
            &[".output/public/", ".output/server/index.mjs"],
            "/",
            ".output/public",
            Some(".output/server/index.mjs"),
        ),
        (
            r#"{"devDependencies":{"vite":"8"},"scripts":{"start":"node server.js"}}"#,
            &["dist/client/assets/", "server.js"],
            "/assets/",
            "dist/client/assets",
            Some("server.js"),
        ),
        (r#"{"devDependencies":{"vite":"8"}}"#, &["dist/assets/"], "/assets/", "dist/assets", None),
    ] {
        let (_dir, found) = app_with(Some(package), files);
        let ConfigInForce { config, warnings, .. } = loaded(&text::config(&found));
        assert_eq!(config.files.paths, [(prefix.to_owned(), dir.to_owned())].into(), "{package}");
        assert_eq!(config.app.entry.as_deref(), entry, "{package}");
        assert!(warnings.is_empty(), "{warnings:?}");
        assert!(text::told(&found).contains(&format!("found {dir}, which the gateway sends as {prefix}")));
    }
}

#[test]
fn what_is_not_built_yet_is_written_as_comments() {
    let packages = r#"{"dependencies":{"nuxt":"4"}}"#;
    let (_dir, found) = app_with(Some(packages), &[]);
    let text = text::config(&found);
    let ConfigInForce { config, .. } = loaded(&text);
    assert_eq!((config.files.paths.len(), config.app.entry), (0, None));
    assert!(
        text.contains("# \"/\" = \".output/public\"") && text.contains("# entry = \".output/server/index.mjs\""),
        "{text}"
    );
    assert!(text::told(&found).contains("missing .output/public: build the app"));
    // With the signs taken away it is what a built app gets.
    let (_dir, built) = app_with(Some(packages), &[".output/public/", ".output/server/index.mjs"]);
    assert_eq!(loaded(&text::config(&built)).config.files.paths.len(), 1);
}

#[test]
fn directory_without_an_app_gets_a_file_that_changes_nothing() {
    for package in [None, Some("{}"), Some(r#"{"dependencies":{"express":"5"}}"#), Some("[]"), Some(r#"{"main":7}"#)] {
        let (_dir, found) = app_with(package, &[]);
        assert_eq!(found.app, App::Unknown);
        assert_eq!(loaded(&text::config(&found)).config, Config::default(), "{package:?}");
    }
}

#[test]
fn script_of_package_json_is_taken_without_npm_only_where_nothing_is_lost() {
    let app = |start: &str, files: &[&str]| {
        let package = serde_json::json!({ "scripts": { "start": start } }).to_string();
        app_with(Some(&package), files).1.app
    };
    assert_eq!(app("node server.js", &["server.js"]).entry(), Some(("server.js", true)));
    assert_eq!(app(" node ./src/main.mjs ", &["src/main.mjs"]).entry(), Some(("src/main.mjs", true)));
    for start in [
        "node missing.js",
        "node --enable-source-maps server.js",
        "node server.js --port 80",
        "NODE_ENV=production node server.js",
        "node server.js && echo",
        "node \"server.js\"",
        "tsx server.js",
        "a\n[server]\nport = 1",
    ] {
        let by_npm = || App::ScriptsStart { text: start.to_owned(), script: None };
        assert_eq!(app(start, &["server.js"]), by_npm());
        let found = AppFacts { has_package_json: true, framework: None, mount: None, app: by_npm() };
        assert_eq!(loaded(&text::config(&found)).config, Config::default());
    }
    let main =
        app_with(Some(r#"{"main":"index.js","scripts":{"start":"node server.js"}}"#), &["index.js", "server.js"]).1;
    assert_eq!(main.app, App::Main("index.js".to_owned()));
}

#[test]
fn files_that_exist_are_replaced_only_by_force_and_otherwise_none_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let output = |name: &str, text: &str| Output { name: name.to_owned(), text: text.to_owned() };
    write(dir.path(), &[output("b", "first")], false).unwrap();
    let both = [output("a", "second"), output("b", "second")];
    assert!(matches!(write(dir.path(), &both, false), Err(InitError::Exists(there)) if there == ["b"]));
    assert!(!dir.path().join("a").exists());
    assert_eq!(fs::read_to_string(dir.path().join("b")).unwrap(), "first");
    write(dir.path(), &both, true).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("b")).unwrap(), "second");
}

#[test]
fn broken_package_json_is_told() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("package.json"), "{").unwrap();
    assert!(look(dir.path()).is_err());
}

#[test]
fn next_step_is_one_that_works() {
    for (package, files, next) in [
        ("{}", &["server.js"][..], "read it, then: sluice start"),
        ("{}", &[], "name the app in it, then: sluice start"),
        (r#"{"dependencies":{"nuxt":"4"}}"#, &[], "build the app, then: sluice start"),
    ] {
        assert!(text::told(&app_with(Some(package), files).1).contains(next), "{package} {files:?}");
    }
}
