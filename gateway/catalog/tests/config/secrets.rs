//! Which keys hold secrets, and that nothing shows them.

use std::collections::BTreeSet;

use serde_json::json;
use sluice_catalog::config::{Key, Secrecy, key, keys, secret_variables};

use super::load;

/// Parts of names that suggest a secret, and of URLs that may carry a password.
const SMELLS: &[&str] = &[
    "auth",
    "credential",
    "endpoint",
    "hmac",
    "key",
    "passphrase",
    "password",
    "secret",
    "token",
    "uri",
    "url",
    "webhook",
];
/// The same for descriptions.
const WORDS: &[&str] = &["hash", "password", "private key", "secret", "token"];

/// Keys that only look like secrets, each with what it holds.
const HARMLESS: &[(&str, &str)] = &[
    ("access.basic_auth_exempt", "paths"),
    ("access.basic_auth_file", "path of a file"),
    ("acme.eab_key_id", "name of an account"),
    ("cache.shared_password_file", "path of a file"),
    ("compression.enabled", "a flag"),
    ("files.cache_control", "fields of answers"),
    ("log.query_masked", "words in names of parameters"),
    ("server.tls_key", "path of a file"),
];

fn smells(key: &Key) -> bool {
    let description = key.description().to_lowercase();
    key.name.split('_').any(|part| SMELLS.contains(&part)) || WORDS.iter().any(|word| description.contains(word))
}

#[test]
fn every_key_that_smells_of_a_secret_is_marked_or_known_to_be_harmless() {
    let unmarked = keys().filter(|key| smells(key) && key.secrecy == Secrecy::Public).map(|key| key.path);
    let harmless = HARMLESS.iter().map(|(path, _)| *path);
    assert_eq!(unmarked.collect::<BTreeSet<_>>(), harmless.collect());
}

#[test]
fn variables_of_secrets_are_named_for_whoever_starts_a_process() {
    let names: Vec<_> = secret_variables().collect();
    assert_eq!(names, ["SLUICE_ACME_EAB_HMAC_KEY", "SLUICE_CACHE_SHARED_URL", "SLUICE_ADMIN_TOKEN"]);
}

#[test]
fn values_are_shown_without_their_secrets() {
    let file = "[access.basic_auth]\nanna = \"$2b$04$abcdefghijklmnopqrstuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\"\n\
                [cache]\nenabled = true\nshared_url = \"redis://me:hunter2@cache.example/0\"\n[admin]\ntoken = \"hunter2hunter2hunter2\"\n";
    let config = load(file, &[], &[]).unwrap().config;
    let shown = |path: &str| key(path).unwrap().shown(&config);
    assert_eq!(shown("access.basic_auth"), json!({ "anna": "…" }));
    assert_eq!(shown("cache.shared_url"), "redis://…@cache.example/0");
    assert_eq!(shown("admin.token"), "…");
    assert_eq!(shown("acme.eab_hmac_key"), json!(null));
    assert_eq!(shown("server.port"), 3000);
    assert_eq!(Secrecy::Login.masked("hunter2@cache.example".into()), "…");
}
