use super::*;
use crate::start::app::unnamed_start;
use sluice_supervisor::Start as StartConfig;

fn folder_with(package: Option<&str>, files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    if let Some(package) = package {
        fs::write(dir.path().join("package.json"), package).unwrap();
    }
    for file in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    dir
}

/// What `start` runs: a script, the words of a command, or why nothing.
fn started(package: Option<&str>, files: &[&str]) -> String {
    let dir = folder_with(package, files);
    let script =
        |entry| StartConfig::Script { node: "node".to_owned(), node_args: Vec::new(), entry, args: Vec::new() };
    match unnamed_start(dir.path(), script) {
        Ok(StartConfig::Script { entry, .. }) => entry.strip_prefix(dir.path()).unwrap().display().to_string(),
        Ok(StartConfig::Command(words)) => words.join(" "),
        Err(error) => error.to_string(),
    }
}

#[test]
fn app_is_found_by_one_rule() {
    let npm_init = Some(r#"{"name":"x","main":"index.js","scripts":{"test":"exit 1"}}"#);
    for (package, files, expected) in [
        // `main` that exists, in all the ways that Node.js knows.
        (npm_init, &["index.js", "server.js"][..], "index.js"),
        (Some(r#"{"main":"lib"}"#), &["lib/index.js"], "lib/index.js"),
        (Some(r#"{"main":"./lib/main"}"#), &["lib/main.js"], "lib/main.js"),
        (Some(r#"{"main":"index.js","scripts":{"start":"node server.js"}}"#), &["index.js", "server.js"], "index.js"),
        // `main` that points nowhere, at no script, or is no text.
        (npm_init, &["server.js"], "server.js"),
        (Some(r#"{"main":"lib"}"#), &["lib/other.js", "app.js"], "app.js"),
        (Some(r#"{"main":"style.css"}"#), &["style.css", "server.js"], "server.js"),
        (Some(r#"{"main":7}"#), &["server.js"], "server.js"),
        // Scripts.
        (Some(r#"{"main":"gone.js","scripts":{"start":"node server.js"}}"#), &["server.js"], "npm run start"),
        (Some(r#"{"scripts":{"start":"tsx src/index.ts"}}"#), &["src/index.ts"], "npm run start"),
        // Names, with or without package.json.
        (None, &["server.js"], "server.js"),
        (None, &["app.js", "index.js"], "index.js"),
        (None, &["app.mjs"], "app.mjs"),
        (Some("{}"), &["dist/server.js", "src/server.ts"], "dist/server.js"),
        (Some("{}"), &["src/index.ts"], "src/index.ts"),
        (Some("{}"), &["build/main.js", "server.ts"], "build/main.js"),
        // Frameworks.
        (Some(r#"{"dependencies":{"next":"16"}}"#), &[], "npx next start"),
        (Some(r#"{"dependencies":{"next":"16"},"scripts":{"start":"next start"}}"#), &[], "npm run start"),
        (Some(r#"{"dependencies":{"nuxt":"4"}}"#), &[".output/server/index.mjs"], ".output/server/index.mjs"),
        (Some(r#"{"devDependencies":{"vite":"8"}}"#), &["server.js", "src/main.js"], "server.js"),
    ] {
        assert_eq!(started(package, files), expected, "{package:?} {files:?}");
    }
}

#[test]
fn folder_without_an_app_is_told_with_what_to_do() {
    for (package, files, expected) in [
        (None, &[][..], "there is no package.json"),
        (Some("{}"), &["lib/server.js"], "no script with a usual name"),
        (Some(r#"{"devDependencies":{"vite":"8"}}"#), &["src/main.js"], "no script with a usual name"),
        (Some(r#"{"workspaces":["apps/*"]}"#), &["apps/web/server.js"], "root of workspaces"),
        (Some("{}"), &["pnpm-workspace.yaml"], "root of workspaces"),
        (Some(r#"{"dependencies":{"nuxt":"4"}}"#), &["app.vue"], ".output/server/index.mjs, which does not exist yet"),
        (Some("{"), &["server.js"], "Fix it"),
    ] {
        let told = started(package, files);
        assert!(told.contains(expected), "{package:?}: {told}");
    }
}

#[test]
fn init_writes_what_start_runs() {
    for (package, files) in [
        (Some(r#"{"main":"index.js"}"#), &["server.js"][..]),
        (None, &["server.js"]),
        (None, &["dist/server.js"]),
        (Some(r#"{"dependencies":{"nuxt":"4"}}"#), &[".output/server/index.mjs"]),
    ] {
        let dir = folder_with(package, files);
        let app = Package::read(dir.path()).unwrap().app(dir.path());
        assert_eq!(app.entry(), Some((files[0], true)), "{package:?}");
        assert_eq!(started(package, files), files[0]);
    }
}
