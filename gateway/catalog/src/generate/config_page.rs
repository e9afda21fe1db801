//! `docs/reference/config.md`.

use std::fmt::Write as _;

use crate::config::{Applies, FILE_NAME, Key, Kind, SECTIONS, Secrecy};

pub(super) fn body() -> String {
    let mut out = format!(
        "Sluice reads `{FILE_NAME}` in the current directory, or the file after `--config`. All keys have defaults, so \
         the file is optional. If several sources set a key, the first of these counts: flags, environment, file, \
         default.\n\n\
         `SLUICE_<SECTION>_<KEY>` sets a key, for example `SLUICE_QUEUE_LENGTH_MAX`, except lists and tables. \
         `PORT`, `HOST` and `WEB_CONCURRENCY` count if those variables are not set. An unknown key in the file is an \
         error; the message names the nearest key. `sluice check` validates all sources and prints each key in force with its \
         origin.\n\n\
         The value of a time is a number in the unit at the end of the key's name, or a string with a unit: `ms`, `s`, `m`, \
         `h` or `d`. `send_timeout_ms = 60_000` and `send_timeout_ms = \"1m\"` are equal.\n\n\
         For completion and checks in editors, write `#:schema ./node_modules/sluice/sluice.schema.json` in the first line of \
         the file. The npm package contains this schema.\n"
    );
    for section in SECTIONS {
        let _ = write!(out, "\n## `[{}]`\n\n{}\n", section.name, section.description());
        for key in section.keys {
            let _ = write!(out, "\n### `{}`\n\n{}\n\n", key.path, key.description());
            for fact in facts(key) {
                let _ = writeln!(out, "- {fact}");
            }
        }
    }
    out
}

fn facts(key: &Key) -> Vec<String> {
    let mut facts = vec![format!("Type: {}", type_text(key)), format!("Default: {}", default_text(key))];
    if let Kind::Word(words) = key.kind {
        facts.extend(words.iter().map(|(word, text)| format!("`{word:?}`: {text}")));
    }
    if let Kind::Tables(columns) = key.kind {
        facts.extend(columns.iter().map(|column| {
            let need = if column.is_required { "" } else { " Optional." };
            format!("`{}`: {}{need}", column.name, column.text)
        }));
    }
    if let Some(own) = key.env() {
        facts.push(match key.env_conventional() {
            Some(shared) => format!("Environment: `{own}`, else `{shared}`"),
            None => format!("Environment: `{own}`"),
        });
    }
    let variable = if key.env().is_some() { ", and workers do not get the variable" } else { "" };
    match key.secrecy {
        Secrecy::Public => {}
        Secrecy::Secret => facts.push(format!("Secret: Sluice never prints the value{variable}")),
        Secrecy::Login => facts.push(format!("Secret: Sluice never prints user and password{variable}")),
    }
    facts.push(match key.applies {
        Applies::Reload => "A change applies on reload".to_owned(),
        Applies::Restart => "A change needs a restart".to_owned(),
    });
    facts
}

fn type_text(key: &Key) -> String {
    match (key.kind, key.bounds) {
        (Kind::Integer, Some(bounds)) => {
            let unit = if key.unit.is_empty() { String::new() } else { format!(" {}", key.unit) };
            format!("whole number, {} to {}{unit}", bounds.min, bounds.max)
        }
        (Kind::IntegerOr(word), bounds) => {
            let bounds = bounds.map_or_else(String::new, |bounds| format!(", {} to {}", bounds.min, bounds.max));
            format!("whole number{bounds}, or `\"{word}\"`")
        }
        (Kind::Time(unit), Some(bounds)) => format!(
            "time: whole number of {}, {} to {}, or `{:?}` to `{:?}`",
            unit.as_str(),
            bounds.min,
            bounds.max,
            unit.written(bounds.min),
            unit.written(bounds.max)
        ),
        (Kind::Time(unit), None) => format!("time: whole number of {}", unit.as_str()),
        (Kind::Integer, None) => "whole number".to_owned(),
        (Kind::Boolean, _) => "`true` or `false`".to_owned(),
        (Kind::Text | Kind::OptionalText, _) => "string".to_owned(),
        (Kind::TextList, _) => "array of strings".to_owned(),
        (Kind::TextMap, _) => "table of strings".to_owned(),
        (Kind::Tables(_), _) => "array of tables, with the entries below".to_owned(),
        (Kind::Word(_), _) => "one of the words below".to_owned(),
    }
}

fn default_text(key: &Key) -> String {
    if let (Kind::Time(unit), Some(default)) = (key.kind, key.default().as_u64()) {
        return format!("`{default}` (`{:?}`)", unit.written(default));
    }
    match key.default() {
        serde_json::Value::Null => "none".to_owned(),
        value => format!("`{value}`"),
    }
}
