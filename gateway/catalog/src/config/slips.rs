//! Messages about names that are probably mistyped, and line numbers in a file. This module must not decide whether a mistyped
//! name is refused.

use toml::de::DeValue;

use super::table::{Key, keys};
use super::{SECTIONS, nearest, removed};

pub(super) fn unknown(what: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("is an unknown {what}; did you mean {near}?"),
        None => format!("is an unknown {what}"),
    }
}

/// Message about a short form below the header of another section, which TOML takes for a key of that section.
pub(super) fn short_form(name: &str) -> Option<String> {
    let key = SECTIONS.iter().find(|section| section.name == name)?.short()?;
    Some(format!("is an unknown key; put {name} above the first section, or set {}", key.path))
}

pub(super) fn named(name: &str, value: &DeValue<'_>) -> String {
    if matches!(value, DeValue::Table(_)) { format!("[{name}]") } else { name.to_owned() }
}

fn sentence(mut text: String) -> String {
    if !text.ends_with('?') {
        text.push('.');
    }
    text
}

/// Key with the nearest name, or else the nearest path. If several keys have that name, the key of `server` is meant.
pub(super) fn nearest_key(name: &str) -> Option<&'static str> {
    let by_name = nearest(name, keys().map(|key| key.name));
    by_name
        .and_then(|near| keys().filter(|key| key.name == near).max_by_key(|key| key.section == "server"))
        .map(|key| key.path)
        .or_else(|| nearest(name, keys().map(|key| key.path)))
}

/// A variable that looks like a misspelled key. Only a warning: the environment is not Sluice's alone, and Kubernetes
/// invents `SLUICE_ADMIN_SERVICE_HOST` and the like from the names of services.
pub(super) fn suspicious(name: &str, value: &str) -> Option<String> {
    if let Some(warning) = removed::of_variable(name).and_then(removed::warning) {
        return Some(format!("environment variable {name}: {warning}"));
    }
    let rest = name.strip_prefix("SLUICE_")?;
    let section = SECTIONS.iter().find(|section| rest.starts_with(&format!("{}_", section.name.to_uppercase())))?;
    let known: Vec<String> = section.keys.iter().filter_map(Key::env).collect();
    if known.iter().any(|known| known == name)
        || name.contains("_SERVICE_")
        || name.contains("_TCP")
        || is_service_link(value)
    {
        return None;
    }
    let near = nearest(name, known.iter().map(String::as_str));
    Some(format!("environment variable {name} {} It has no effect.", sentence(unknown("key", near))))
}

/// Whether a value has the form that Kubernetes gives `SLUICE_SERVER_PORT` for a service with the name `sluice-server`.
pub(super) fn is_service_link(value: &str) -> bool {
    ["tcp://", "udp://", "sctp://"].iter().any(|scheme| value.starts_with(scheme))
}

/// Turns offsets into line numbers.
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn new(text: &str) -> Self {
        let after_newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1);
        Self { starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    pub(super) fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}
