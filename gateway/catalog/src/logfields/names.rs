//! Names of fields in the words of OpenTelemetry's semantic conventions and of the Elastic Common Schema (`log.fields`).
//!
//! A field without a counterpart there is called `sluice.` and its own name. It must not know how lines are written.

use serde::Deserialize;

use super::LOG;
use crate::config::LogFields;

/// A field of one event, or of every event where that is empty, with its names elsewhere; an empty one is the fallback.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Names {
    /// The event that the row is for; empty for all others.
    pub event: String,
    /// Name in the reference.
    pub field: String,
    /// Name in OpenTelemetry.
    pub otel: String,
    /// Name in the Elastic Common Schema.
    pub ecs: String,
}

/// The name of a field in the lines of this event.
pub fn name(fields: LogFields, event: &str, field: &str) -> String {
    let row = LOG.names.iter().find(|row| row.field == field && (row.event == event || row.event.is_empty()));
    let other = match fields {
        LogFields::Sluice => return field.to_owned(),
        LogFields::Otel => row.map_or("", |row| &row.otel),
        LogFields::Ecs => row.map_or("", |row| &row.ecs),
    };
    if other.is_empty() { format!("sluice.{field}") } else { other.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_is_for_a_field_that_a_line_has() {
        for row in &LOG.names {
            let is_of = |line: &&crate::logfields::LogEvent| {
                (row.event.is_empty() || line.event == row.event)
                    && LOG.common.iter().chain(&line.fields).any(|field| field.name == row.field)
            };
            assert!(LOG.lines.iter().any(|line| is_of(&line)), "{row:?}");
        }
    }

    #[test]
    fn no_line_has_a_name_twice_whatever_the_names() {
        for fields in [LogFields::Sluice, LogFields::Otel, LogFields::Ecs] {
            for line in &LOG.lines {
                let all: Vec<_> =
                    LOG.common.iter().chain(&line.fields).map(|field| name(fields, &line.event, &field.name)).collect();
                assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
            }
        }
    }
}
