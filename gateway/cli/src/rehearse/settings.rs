//! Settings with which a rehearsal's gateway starts: the user's, but for what would reach others or keep the load out.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use sluice_catalog::config::{self, ConfigInForce, Origin};

/// Keys that are set aside. A rehearsal speaks plain HTTP from one address, keeps nothing, and must not write where the app in
/// production reads. Keys that this version does not know are left out.
const SET_ASIDE: [(&str, &str); 23] = [
    ("server.tls_cert", ""),
    ("server.tls_key", ""),
    ("server.certificates", "[]"),
    ("server.redirect_port", "0"),
    ("server.connections_per_address_max", "0"),
    ("server.proxy_protocol", "false"),
    ("server.load_report", "off"),
    ("admin.agent_address", "off"),
    ("acme.names", "[]"),
    ("rate.limits", "{}"),
    ("access.allow", "[]"),
    ("access.deny", "[]"),
    ("access.basic_auth", "{}"),
    ("access.basic_auth_file", ""),
    // The kills are the rehearsal's, and not the fault of the requests that the worker held.
    ("quarantine.ttl_ms", "0"),
    // With it the capacity would be that of the cache.
    ("cache.enabled", "false"),
    ("cache.disk_dir", ""),
    ("cache.shared_url", ""),
    ("cache.shared_password_file", ""),
    ("traces.enabled", "false"),
    ("drain.delay_ms", "0"),
    ("log.fields", "sluice"),
    ("log.access", "true"),
];

/// The settings as texts by key, and the keys that the user has set and that are set aside. `probe` is a module that each
/// worker loads.
pub fn of(loaded: &ConfigInForce, probe: Option<&Path>) -> (BTreeMap<&'static str, String>, Vec<&'static str>) {
    let known = SET_ASIDE.iter().filter(|(key, _)| config::key(key).is_some());
    let mut settings: BTreeMap<&'static str, String> = known.map(|(key, text)| (*key, (*text).to_owned())).collect();
    let asked = |key: &&str| !matches!(loaded.origins.get(*key), None | Some(Origin::Default));
    let set_aside = SET_ASIDE.iter().map(|(key, _)| *key).filter(asked).collect();
    if let Some(probe) = probe {
        let mut env = loaded.config.app.env.clone();
        let own = env.get("NODE_OPTIONS").cloned().or_else(|| std::env::var("NODE_OPTIONS").ok()).unwrap_or_default();
        let path = probe.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        env.insert("NODE_OPTIONS".to_owned(), format!("--require=\"{path}\" {own}").trim_end().to_owned());
        settings.insert("app.env", json!(env).to_string());
    }
    (settings, set_aside)
}

/// The settings of a file that the rehearsal wrote, for the gateway's start.
pub fn read(file: &Path) -> std::io::Result<Vec<(&'static str, String)>> {
    let settings: BTreeMap<String, String> = serde_json::from_slice(&std::fs::read(file)?)?;
    Ok(settings.into_iter().filter_map(|(key, text)| Some((config::key(&key)?.path, text))).collect())
}

#[cfg(test)]
mod tests {
    use sluice_catalog::config::{Config, Sources};

    use super::*;

    fn loaded(flags: &[(&'static str, &str)]) -> ConfigInForce {
        let flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        Config::load(Sources { file: None, env: Vec::new(), flags }).unwrap()
    }

    #[test]
    fn no_key_leads_to_an_address_of_production() {
        // The command line of the rehearsal's gateway has its own, or they are the app's.
        const ELSEWHERE: [&str; 5] =
            ["server.host", "server.port", "server.redirect_to_port", "admin.address", "app.port"];
        let leads = |path: &str| {
            let name = path.rsplit('.').next().unwrap_or(path);
            ["address", "port", "host", "url", "socket", "listen", "proxy"]
                .iter()
                .any(|part| name.split('_').any(|word| word == *part))
        };
        let (settings, _) = of(&loaded(&[]), None);
        let left: Vec<&str> = config::keys()
            .map(|key| key.path)
            .filter(|path| leads(path) && !ELSEWHERE.contains(path) && !settings.contains_key(path))
            .collect();
        assert_eq!(left, [""; 0], "set them aside, or give the rehearsal's gateway its own");
        assert!(settings.contains_key("server.redirect_port") && settings.contains_key("cache.shared_url"));
    }

    #[test]
    fn the_cache_is_set_aside_with_all_that_needs_it() {
        let own = [("cache.enabled", "true"), ("cache.shared_url", "redis://cache.example")];
        let (settings, set_aside) = of(&loaded(&own), None);
        assert_eq!(set_aside, ["cache.enabled", "cache.shared_url"]);
        let flags: Vec<_> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
        assert!(!loaded(&flags).config.cache.enabled);
    }

    #[test]
    fn settings_are_valid_and_those_of_the_user_are_named() {
        let own = [("rate.limits", r#"{"/":"5/s"}"#), ("app.env", r#"{"A":"1","NODE_OPTIONS":"--no-warnings"}"#)];
        let (settings, set_aside) = of(&loaded(&own), Some(Path::new("/t/a \"b\".cjs")));
        assert_eq!(set_aside, ["rate.limits"]);
        let flags: Vec<_> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let config = loaded(&flags).config;
        assert!(config.rate.limits.is_empty() && config.log.access);
        assert_eq!(config.app.env["A"], "1");
        assert_eq!(config.app.env["NODE_OPTIONS"], r#"--require="/t/a \"b\".cjs" --no-warnings"#);
        assert!(of(&loaded(&[]), None).1.is_empty());
    }
}
