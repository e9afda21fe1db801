//! Loads the configuration from the real world: the current directory, the process's environment and flags.

use std::path::Path;

use sluice_catalog::config::{self, Config, ConfigError, Loaded, Sources};

/// Reads `config` if given, else `sluice.toml` in the current directory if there is one.
pub fn load(config: Option<&Path>, flags: Vec<(&'static str, String)>) -> Result<Loaded, ConfigError> {
    let file = config::find_file(config, Path::new(""));
    Config::load(Sources { file, env: config::environment(), flags })
}

/// The same later on, when the directory of the start may be another one under the name that it was started by.
pub fn load_in(here: &Path, config: Option<&Path>, flags: Vec<(&'static str, String)>) -> Result<Loaded, ConfigError> {
    let given = config.map(|config| here.join(config));
    let file = config::find_file(given.as_deref(), here);
    Config::load(Sources { file, env: config::environment(), flags })
}

/// The config with its paths as they are meant: relative to where they were written.
pub fn resolved(loaded: &Loaded) -> Config {
    let mut config = loaded.config.clone();
    let resolve = |key: &str, path: &mut Option<String>| {
        if let Some(written) = path {
            *written = loaded.resolve(key, written).to_string_lossy().into_owned();
        }
    };
    resolve("server.tls_cert", &mut config.server.tls_cert);
    resolve("server.tls_key", &mut config.server.tls_key);
    for certificate in &mut config.server.certificates {
        for file in [&mut certificate.cert, &mut certificate.key] {
            *file = loaded.resolve("server.certificates", file).to_string_lossy().into_owned();
        }
    }
    resolve("access.basic_auth_file", &mut config.access.basic_auth_file);
    resolve("cache.shared_password_file", &mut config.cache.shared_password_file);
    resolve("temp.dir", &mut config.temp.dir);
    for dir in config.files.paths.values_mut() {
        *dir = loaded.resolve("files.paths", dir).to_string_lossy().into_owned();
    }
    for file in config.shell.files.values_mut() {
        *file = loaded.resolve("shell.files", file).to_string_lossy().into_owned();
    }
    config
}
