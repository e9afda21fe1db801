//! Labels of metrics, each with what bounds its values: no client may multiply them. It must not know which metric has which.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// One label, with what bounds its values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// Name.
    pub name: String,
    /// Meaning.
    pub text: String,
    /// Reason why the number of its values has a bound, and the bound.
    pub bound: String,
}

/// Every label.
pub static LABELS: LazyLock<Vec<Label>> = LazyLock::new(|| {
    let mut file: BTreeMap<String, Vec<Label>> =
        toml::from_str(include_str!("../../labels.toml")).expect("the file is of this version");
    file.remove("labels").unwrap_or_default()
});
