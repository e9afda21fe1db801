//! Embeds the page that `packages/dashboard` builds. Without it, as in a fresh checkout, the embedded page says so.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Sluice</title>\
    <p>The dashboard was not built into this binary. <code>make build</code> does that.</p></html>\n";
const NOT_BUILT_POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn main() {
    let variable = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let package = variable("CARGO_MANIFEST_DIR").join("../../packages/dashboard");
    let (built, out) = (package.join("dist"), variable("OUT_DIR"));
    // What does not exist would have this run each time.
    let watched = if built.exists() { &built } else { &package };
    println!("cargo::rerun-if-changed={}", watched.display());
    println!("cargo::rerun-if-changed=build.rs");
    embed("index", &built, &out);
}

fn embed(page: &str, built: &Path, out: &Path) {
    let read = |end: &str| fs::read(built.join(format!("{page}.{end}")));
    // All of them or none: a page without its policy does not run.
    let files = match (read("html"), read("html.gz"), read("csp")) {
        (Ok(html), Ok(gzip), Ok(policy)) => [html, gzip, policy],
        _ => [NOT_BUILT.into(), Vec::new(), NOT_BUILT_POLICY.into()],
    };
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let [html, gzip, policy] = files;
    for (end, content) in [("html", html), ("html.gz", gzip), ("csp", policy), ("tag", tag.into_bytes())] {
        fs::write(out.join(format!("{page}.{end}")), content).expect("cargo's directory can be written");
    }
}
