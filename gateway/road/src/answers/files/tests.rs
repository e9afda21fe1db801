use std::collections::BTreeMap;

use super::*;

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn longest_prefix_decides_the_directory_and_the_caching() {
    let root = tempfile::tempdir().unwrap();
    let dir = |name: &str| {
        let path = root.path().join(name);
        std::fs::create_dir(&path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (public, assets) = (dir("public"), dir("assets"));
    let files = Files::new(&config::Files {
        paths: map(&[("/", &public), ("/assets/", &assets)]),
        cache_control: map(&[("/assets/", "immutable"), ("/assets/sw.js", "no-cache"), ("/robots.txt", "no-store")]),
    })
    .unwrap();
    let find = |path: &str| {
        let found = files.find(path)?;
        let value = found.cache_control.as_str().to_owned();
        Some((found.dir.join(&found.relative).to_str().unwrap().to_owned(), value))
    };
    let expected = |dir: &str, name: &str, value: &str| Some((format!("{dir}/{name}"), value.to_owned()));
    assert_eq!(find("/assets/a/b.js"), expected(&assets, "a/b.js", "immutable"));
    assert_eq!(find("/assets/sw.js"), expected(&assets, "sw.js", "no-cache"));
    assert_eq!(find("/robots.txt"), expected(&public, "robots.txt", "no-store"));
    assert_eq!(find("/assets.js"), expected(&public, "assets.js", CACHE_CONTROL_DEFAULT));
    assert_eq!(find("/assets"), expected(&public, "assets", CACHE_CONTROL_DEFAULT));
    assert_eq!(find("/app.3f2a9c1b.js"), expected(&public, "app.3f2a9c1b.js", CACHE_CONTROL_IMMUTABLE));
    assert_eq!(find("/assets/app.3f2a9c1b.js"), expected(&assets, "app.3f2a9c1b.js", "immutable"), "a rule goes first");
    for path in ["/", "/assets/", "/assets/../public/x", "*", ""] {
        assert_eq!(find(path), None, "{path}");
    }
}

#[test]
fn directory_that_is_not_there_is_told_by_its_key() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for dir in ["/surely/not/there", file.path().to_str().unwrap()] {
        let settings = config::Files { paths: map(&[("/assets/", dir)]), ..config::Files::default() };
        let error = Files::new(&settings).err().unwrap();
        assert!(error.to_string().starts_with(&format!("names {dir} for /assets/, which cannot be used: ")), "{error}");
    }
}

#[test]
fn types_are_those_that_browsers_expect() {
    for (name, expected) in [
        ("a.html", "text/html; charset=utf-8"),
        ("A.CSS", "text/css; charset=utf-8"),
        ("a-1b2c.js", "text/javascript; charset=utf-8"),
        ("a.mjs", "application/javascript; charset=utf-8"),
        ("a.txt", "text/plain; charset=utf-8"),
        ("a.json", "application/json"),
        ("a.webmanifest", "application/manifest+json"),
        ("a.wasm", "application/wasm"),
        ("a.svg", "image/svg+xml"),
        ("a.woff2", "font/woff2"),
        ("a.avif", "image/avif"),
        ("a.js.gz", "application/gzip"),
        ("LICENSE", "application/octet-stream"),
        ("a.", "application/octet-stream"),
    ] {
        assert_eq!(content_type(Path::new(name)), expected, "{name}");
    }
}
