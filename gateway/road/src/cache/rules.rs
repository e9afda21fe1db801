//! Fingerprint of the rules by which this gateway caches pages. Pages that were cached by other rules may be for no client, or for too
//! many.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use sluice_cache::RULES_VERSION;
use sluice_catalog::config::Config;

/// Fingerprint that changes with each setting that determines which pages are cached, for whom, and under which keys.
pub(crate) fn rules(config: &Config) -> String {
    let (cache, compose) = (&config.cache, &config.compose);
    let kept = (&cache.ttl, &cache.bypass, &cache.ignored_params, &cache.vary_by);
    let settings = (RULES_VERSION, kept, (compose.enabled, &compose.paths), &config.server.trusted_peers);
    // Strings, numbers and lists of them are always JSON.
    let text = serde_json::to_vec(&settings).unwrap_or_default();
    digest(&SHA256, &text).as_ref().iter().fold(String::new(), |mut word, byte| {
        let _ = write!(word, "{byte:02x}");
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_of_other_rules_where_a_setting_is_another_that_says_for_whom_they_are() {
        let usual = Config::default();
        let mut changed = vec![usual.clone(); 4];
        changed[0].cache.vary_by.push("cookie:session".to_owned());
        changed[1].cache.ttl.insert("/".to_owned(), "60s".to_owned());
        changed[2].server.trusted_peers.push("10.0.0.0/8".to_owned());
        changed[3].compose.enabled = true;
        let words: std::collections::HashSet<_> = changed.iter().chain([&usual]).map(rules).collect();
        assert_eq!(words.len(), 5);
        let mut other = usual.clone();
        other.cache.bytes_max += 1;
        assert_eq!(rules(&other), rules(&usual));
    }
}
