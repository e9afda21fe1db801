//! Texts that `sluice init` writes and prints. Pure.

use std::fmt::Write as _;

use super::AppFacts;
use super::deploy::Output;
use super::frameworks::Framework;
use crate::unnamed::App;

/// The file, with what is off by default as comments.
pub(super) fn config(found: &AppFacts) -> String {
    let mut out = "# Settings of Sluice. `sluice check` validates them and prints all others.\n\n".to_owned();
    app(&mut out, &found.app);
    out.push_str(
        "\n[server]\n# port = 3000\n# Proxies and balancers in front, whose X-Forwarded-* headers are trusted:\n# trusted_peers = [\"10.0.0.0/8\"]\n",
    );
    out.push_str("\n[workers]\n# Default: one process per CPU.\n# count = 4\n");
    files(&mut out, found);
    out.push_str(
        "\n# For staging: allowed addresses and users. `sluice access hash` hashes a password.\n# [access]\n# allow = [\"10.0.0.0/8\"]\n# [access.basic_auth]\n# anna = \"$2b$12$…\"\n",
    );
    out
}

fn app(out: &mut String, app: &App) {
    out.push_str("[app]\n");
    if let Some((script, is_there)) = app.entry() {
        let note =
            if is_there { "" } else { "# The folder does not exist yet: build the app, then remove the `#`:\n# " };
        let _ = writeln!(out, "{note}entry = {}", quoted(script));
        return;
    }
    let _ = match app {
        App::Command(command) => {
            let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
            writeln!(out, "command = [{}]", words.join(", "))
        }
        App::Main(main) => writeln!(out, "# Sluice starts `main` of package.json: {}", one_line(main)),
        App::ScriptsStart { text, .. } => {
            writeln!(out, "# Sluice starts `scripts.start` of package.json: {}", one_line(text))
        }
        _ => writeln!(out, "# The script that calls listen():\n# entry = \"server.js\""),
    };
}

fn files(out: &mut String, found: &AppFacts) {
    out.push_str("\n# Files that the gateway serves without a worker. The app's headers and access checks\n# do not apply to them. Requests that match no file go to the app.\n");
    let (Some(framework), Some((mount, is_built))) = (found.framework, found.mount) else {
        out.push_str("# [files.paths]\n# \"/assets/\" = \"dist/client/assets\"\n");
        return;
    };
    let sign = if is_built { "" } else { "# " };
    if !is_built {
        let _ = writeln!(
            out,
            "# {} writes them here: build the app, then remove the `#` from these lines.",
            framework.name
        );
    }
    let _ = writeln!(out, "{sign}[files.paths]\n{sign}{} = {}", quoted(mount.prefix), quoted(mount.dir));
    let _ = writeln!(out, "# With a base path it is \"/base{}\".", mount.prefix);
    if let Some(prefix) = framework.immutable {
        let _ = writeln!(
            out,
            "\n# All names there contain a hash of the content, so browsers never need to request them again.\n{sign}[files.cache_control]\n{sign}{} = \"public, max-age=31536000, immutable\"",
            quoted(prefix)
        );
    }
}

/// Files as `head` shows them: each below its name, if there are several.
pub(super) fn printed(outputs: &[Output]) -> String {
    match outputs {
        [only] => only.text.clone(),
        several => several.iter().fold(String::new(), |mut out, Output { name, text }| {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = write!(out, "{gap}==> {name} <==\n{text}");
            out
        }),
    }
}

/// Report of the app, of written files, and of what to do next.
pub(super) fn told_of_deployment(found: &AppFacts, is_kept: bool, outputs: &[Output], next: &[String]) -> String {
    let mut out = what_was_found(found);
    if is_kept {
        out.push_str("kept sluice.toml\n");
    }
    for Output { name, .. } in outputs {
        let _ = writeln!(out, "wrote {name}");
    }
    out.push_str("next:\n");
    for step in next {
        let _ = writeln!(out, "  {step}");
    }
    out
}

/// Report of the app, a line for each fact, and of what to do next.
pub(super) fn told(found: &AppFacts) -> String {
    let mut out = what_was_found(found);
    out.push_str(match (&found.app, found.app.entry()) {
        (App::Unknown, _) => "wrote sluice.toml; name the app in it, then: sluice start\n",
        (_, Some((_, false))) => "wrote sluice.toml; build the app, then: sluice start\n",
        _ => "wrote sluice.toml; read it, then: sluice start\n",
    });
    out
}

fn what_was_found(found: &AppFacts) -> String {
    let mut out = String::new();
    let _ = match (found.framework, found.has_package_json) {
        (Some(Framework { name, .. }), _) => writeln!(out, "found {name}, by package.json"),
        (None, true) => writeln!(out, "found package.json, and no known framework"),
        (None, false) => writeln!(out, "found no package.json here"),
    };
    let _ = match &found.app {
        App::Command(command) => writeln!(out, "starts the app by: {}", command.join(" ")),
        App::Main(main) => writeln!(out, "found the app, by main of package.json: {}", one_line(main)),
        App::ScriptsStart { text, script: None } => {
            writeln!(out, "found the app, by scripts.start of package.json: {}", one_line(text))
        }
        app => match app.entry() {
            Some((script, true)) => writeln!(out, "found the app: {script}"),
            Some((script, false)) => writeln!(out, "missing {script}: build the app first"),
            None => writeln!(out, "found no app: name its script as app.entry"),
        },
    };
    if let Some((mount, is_built)) = found.mount {
        let _ = if is_built {
            writeln!(out, "found {}, which the gateway sends as {}", mount.dir, mount.prefix)
        } else {
            writeln!(out, "missing {}: build the app, then run `sluice init --force`", mount.dir)
        };
    }
    out
}

/// String of TOML, of which JSON's are a part.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text for a comment, which ends with its line.
fn one_line(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}
