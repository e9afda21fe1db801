//! Loads the configuration from the real world: the current directory, the process's environment and flags.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sluice_catalog::config::{self, Config, ConfigError, ConfigInForce, Sources};

/// Reads `config` if given, else `sluice.toml` in the current directory if there is one.
pub fn load(config: Option<&Path>, flags: Vec<(&'static str, String)>) -> Result<ConfigInForce, ConfigError> {
    let file = config::find_file(config, Path::new(""));
    Config::load(Sources { file, env: config::environment(), flags })
}

/// The same later on, when the directory of the start may be another one under the name that it was started by.
pub fn load_in(
    here: &Path,
    config: Option<&Path>,
    flags: Vec<(&'static str, String)>,
) -> Result<ConfigInForce, ConfigError> {
    let given = config.map(|config| here.join(config));
    let file = config::find_file(given.as_deref(), here);
    Config::load(Sources { file, env: config::environment(), flags })
}

/// The config with its paths as they are meant: relative to where they were written.
pub fn resolved(loaded: &ConfigInForce) -> Config {
    let mut config = loaded.config.clone();
    let resolve = |key: &str, path: &mut Option<String>| {
        if let Some(written) = path {
            *written = loaded.resolve(key, written).to_string_lossy().into_owned();
        }
    };
    resolve("server.state_dir", &mut config.server.state_dir);
    resolve("server.tls_cert", &mut config.server.tls_cert);
    resolve("server.tls_key", &mut config.server.tls_key);
    for certificate in &mut config.server.certificates {
        for file in [&mut certificate.cert, &mut certificate.key] {
            *file = loaded.resolve("server.certificates", file).to_string_lossy().into_owned();
        }
    }
    for upstream in &mut config.upstreams.routes {
        for file in upstream.files() {
            *file = loaded.resolve("upstreams.routes", file).to_string_lossy().into_owned();
        }
    }
    resolve("acme.ca_file", &mut config.acme.ca_file);
    resolve("acme.dir", &mut config.acme.dir);
    if !config.acme.names.is_empty() && config.acme.dir.is_none() {
        config.acme.dir = default_state(|name| std::env::var_os(name)).map(|dir| dir.to_string_lossy().into_owned());
    }
    resolve("access.basic_auth_file", &mut config.access.basic_auth_file);
    resolve("cache.disk_dir", &mut config.cache.disk_dir);
    resolve("cache.shared_password_file", &mut config.cache.shared_password_file);
    resolve("temp.dir", &mut config.temp.dir);
    for dir in config.files.paths.values_mut() {
        *dir = loaded.resolve("files.paths", dir).to_string_lossy().into_owned();
    }
    for file in config.errors.pages.values_mut() {
        *file = loaded.resolve("errors.pages", file).to_string_lossy().into_owned();
    }
    for file in config.shell.files.values_mut() {
        *file = loaded.resolve("shell.files", file).to_string_lossy().into_owned();
    }
    config
}

/// Directory in which account and certificates outlive a restart: systemd's `StateDirectory=`, else the user's state.
fn default_state(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
    // Of several directories, which systemd separates by colons, the first.
    let of_service = variable("STATE_DIRECTORY").and_then(|text| absolute(text.to_str()?.split(':').next()?.into()));
    if let Some(dir) = of_service {
        return Some(dir.join("acme"));
    }
    let of_user = variable("XDG_STATE_HOME").and_then(|dir| absolute(dir.into()));
    let home = || Some(absolute(variable("HOME")?.into())?.join(".local/state"));
    Some(of_user.or_else(home)?.join("sluice/acme"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_the_services_else_the_users() {
        let place = |known: &[(&str, &str)]| {
            let known: Vec<(String, String)> = known.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
            default_state(move |name| known.iter().find(|(known, _)| known == name).map(|(_, value)| value.into()))
        };
        assert_eq!(place(&[("HOME", "/h")]), Some(PathBuf::from("/h/.local/state/sluice/acme")));
        assert_eq!(place(&[("HOME", "/h"), ("XDG_STATE_HOME", "/x")]), Some(PathBuf::from("/x/sluice/acme")));
        let of_service = [("HOME", "/h"), ("STATE_DIRECTORY", "/var/lib/shop:/var/lib/other")];
        assert_eq!(place(&of_service), Some(PathBuf::from("/var/lib/shop/acme")));
        assert_eq!(place(&[("HOME", "relative")]), None);
        assert_eq!(place(&[]), None);
    }
}
