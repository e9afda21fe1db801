//! Loads the configuration from the real world: the current directory, the process's environment and flags.

use std::path::Path;

use sluice_catalog::config::{self, Config, ConfigError, Loaded, Sources};

/// Reads `config` if given, else `sluice.toml` in the current directory if there is one.
pub fn load(config: Option<&Path>, flags: Vec<(&'static str, String)>) -> Result<Loaded, ConfigError> {
    let file = config::find_file(config, Path::new(""));
    Config::load(Sources { file, env: config::environment(), flags })
}
