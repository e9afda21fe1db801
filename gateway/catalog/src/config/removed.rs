//! Keys of earlier versions, and the replacement of each. A configuration that still has one gets the message as a warning, and
//! still works.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Each key, and the message about its replacement.
pub static REMOVED: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../removed.toml")).expect("the file is of this version"));

/// The warning for a key of an earlier version.
pub(super) fn warning(path: &str) -> Option<String> {
    let instead = REMOVED.get(path)?;
    Some(format!("{path} is a key of an earlier version and has no effect: {instead}. Remove the setting."))
}

/// Whether earlier versions had this section, and there is none of that name any more.
pub(super) fn had_section(name: &str) -> bool {
    REMOVED.keys().any(|path| path.split_once('.').is_some_and(|(section, _)| section == name))
}

/// The key that an environment variable set in an earlier version.
pub(super) fn of_variable(name: &str) -> Option<&'static str> {
    let path = name.strip_prefix("SLUICE_")?.to_lowercase();
    REMOVED.keys().map(String::as_str).find(|removed| removed.replace('.', "_") == path)
}
