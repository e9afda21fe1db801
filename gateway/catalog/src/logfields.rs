//! The log's catalogue: every event that has a line, the fields of each, and the words of `outcome`, as `logfields.toml` has them.
//!
//! It must not know how lines are written or where values come from.

mod names;

use std::sync::LazyLock;

use serde::Deserialize;

pub use names::{Names, name};

/// Subject of a line; what `sluice logs --kind` selects by.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum LineKind {
    /// One request, when it ended.
    Access,
    /// One line that the app wrote.
    App,
    /// Event that the gateway caused or saw.
    Gateway,
}

/// One event, and what its line holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEvent {
    /// The word in the field `event`.
    pub event: String,
    /// Subject of the line.
    pub kind: LineKind,
    /// Description of the event.
    pub text: String,
    /// Fields after those of every line, in the order of the line.
    pub fields: Vec<Field>,
}

/// One field of a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Field {
    /// Name in JSON.
    pub name: String,
    /// `string`, `number`, `boolean` or `object`.
    #[serde(rename = "type")]
    pub json_type: String,
    /// Unit; empty if there is nothing to count.
    pub unit: String,
    /// Case in which it is `null`; empty if never.
    pub null_when: String,
    /// Meaning.
    pub text: String,
}

/// A word of the field and metric label `outcome`, with what it means.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutcomeWord {
    /// The word.
    pub name: String,
    /// End of the request, and the party that ended it.
    pub text: String,
    /// Whether the client did not get what it asked for, and did nothing wrong: what error rates count.
    pub is_failure: bool,
}

impl LineKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Access, Self::App, Self::Gateway];

    /// The word after `sluice logs --kind`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::App => "app",
            Self::Gateway => "gateway",
        }
    }
}

/// The whole catalogue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogCatalogue {
    /// Fields that every line begins with.
    pub common: Vec<Field>,
    /// Every event, in the order of the reference.
    pub lines: Vec<LogEvent>,
    /// Every outcome, in the order of a request's way through the gateway.
    pub outcomes: Vec<OutcomeWord>,
    /// Every field that has a counterpart elsewhere. Rows for one event stand before those for all.
    pub names: Vec<Names>,
}

/// The catalogue of this version.
pub static LOG: LazyLock<LogCatalogue> =
    LazyLock::new(|| toml::from_str(include_str!("../logfields.toml")).expect("the file is of this version"));

/// The catalogue's words on the event of this name.
pub fn line(event: &str) -> Option<&'static LogEvent> {
    LOG.lines.iter().find(|line| line.event == event)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn events_are_unique_and_no_line_has_a_field_twice() {
        let events: BTreeSet<_> = LOG.lines.iter().map(|line| &line.event).collect();
        assert_eq!(events.len(), LOG.lines.len());
        for line in &LOG.lines {
            let names: Vec<_> = LOG.common.iter().chain(&line.fields).map(|field| &field.name).collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{}", line.event);
        }
    }

    #[test]
    fn fields_with_a_unit_are_numbers_and_end_or_begin_with_it() {
        for field in LOG.lines.iter().flat_map(|line| &line.fields) {
            match field.unit.as_str() {
                "" => {}
                "milliseconds" => assert!(field.json_type == "number" && field.name.ends_with("_ms"), "{}", field.name),
                "bytes" => assert!(field.json_type == "number" && field.name.starts_with("bytes_"), "{}", field.name),
                unit => panic!("{} counts {unit}", field.name),
            }
        }
    }
}
