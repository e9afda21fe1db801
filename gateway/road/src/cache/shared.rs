//! Settings of the cache that is shared with other gateways.

use std::time::Duration;

use sluice_catalog::config::Config;
use sluice_tier::{Address, Settings};

use crate::unusable::Unusable;
use sluice_wire::ids::to_usize;

/// Settings of the shared cache from the config; `None` if there is none.
///
/// # Errors
/// Fails if the URL names no server, or the password cannot be read.
pub(crate) fn settings(config: &Config) -> Result<Option<Settings>, Unusable> {
    let (config, bounds) = (&config.cache, &config.bounds);
    let Some(url) = config.shared_url.as_ref().filter(|_| config.enabled) else { return Ok(None) };
    let password = config.shared_password_file.as_ref().map(|file| {
        let text = std::fs::read_to_string(file);
        text.map_err(|source| Unusable::SharedPassword { file: file.clone(), source })
    });
    let password = password.transpose()?;
    let password = password.as_deref().map(|text| text.trim_end_matches(['\r', '\n']));
    Ok(Some(Settings {
        address: Address::parse(url, password)?,
        prefix: config.shared_prefix.clone(),
        time_max: Duration::from_millis(config.shared_timeout_ms),
        page_bytes_max: to_usize(bounds.page_bytes_max),
    }))
}
