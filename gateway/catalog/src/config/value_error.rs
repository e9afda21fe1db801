//! Reasons why a value cannot be read. Each sentence follows the name of the key.

use std::fmt;

use toml::de::DeValue;

use super::duration::{NotADuration, TimeUnit};
use super::nearest;
use super::table::Bounds;
use super::values::{Column, Kind};

/// Fault of a value.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    /// The file holds a value of another type.
    #[error("must be {kind}, not {found}")]
    Type {
        /// Type that is allowed.
        kind: Kind,
        /// Type of the value, with its article.
        found: &'static str,
    },
    /// The text is none of what may be written.
    #[error("must be {kind}, not {written:?}{}", did_you_mean(*near))]
    Text {
        /// Type that is allowed.
        kind: Kind,
        /// Text of the value.
        written: String,
        /// The word that was meant.
        near: Option<&'static str>,
    },
    /// The number is too small or too large.
    #[error("must be between {} and {}, not {written}", bounds.min, bounds.max)]
    OutOfBounds {
        /// Bounds of the number.
        bounds: Bounds,
        /// Text of the value.
        written: String,
    },
    /// The time is too short or too long.
    #[error("must be between {} and {}, not {written}", unit.written(bounds.min), unit.written(bounds.max))]
    TimeOutOfBounds {
        /// Bounds of the time, in the key's unit.
        bounds: Bounds,
        /// The key's unit.
        unit: TimeUnit,
        /// Text of the value.
        written: String,
    },
    /// Neither the number nor the word that may stand in its place.
    #[error("{error}, or {word:?}{}", did_you_mean(is_near.then_some(*word)))]
    NorWord {
        /// Fault of the number.
        error: Box<ValueError>,
        /// The word.
        word: &'static str,
        /// The word was probably meant.
        is_near: bool,
    },
    /// The text of an environment variable or flag is no list.
    #[error("must be a JSON array of strings")]
    NotJsonArray(#[source] serde_json::Error),
    /// The text of an environment variable or flag is no table.
    #[error("must be a JSON object of strings")]
    NotJsonObject(#[source] serde_json::Error),
    /// An entry of a table is wrong.
    #[error("{error} (at {name:?})")]
    Entry {
        /// Name of the entry.
        name: String,
        /// Fault of the entry.
        error: Box<ValueError>,
    },
    /// The text of an environment variable or flag is no array of tables.
    #[error("must be a JSON array of objects ({0})")]
    NotJsonTables(#[source] serde_json::Error),
    /// A table of an array is wrong.
    #[error("{error} (in table {number})")]
    Element {
        /// Place of the table, counted from 1.
        number: usize,
        /// Fault of the table.
        error: Box<ValueError>,
    },
    /// A table of an array has an entry that means nothing.
    #[error("must contain tables of {}, not {name:?}{}", names(columns), did_you_mean(nearest(name, columns.iter().map(|column| column.name))))]
    UnknownColumn {
        /// The entry's name.
        name: String,
        /// Entries that are allowed.
        columns: &'static [Column],
    },
    /// A table of an array lacks an entry.
    #[error("needs {0:?} in every table")]
    MissingColumn(&'static str),
    /// The operating system takes no such text.
    #[error("must not contain a NUL character")]
    Nul,
}

impl ValueError {
    pub(super) fn of_type(kind: Kind, value: &DeValue<'_>) -> Self {
        let found = match value {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a fraction",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "an array",
            DeValue::Table(_) => "a table",
        };
        Self::Type { kind, found }
    }

    pub(super) fn of_text(kind: Kind, text: &str) -> Self {
        let words: &[_] = if let Kind::Word(words) = kind { words } else { &[] };
        // "on" is two slips from "off" and means the opposite.
        let says_on_or_off = ["on", "yes", "true", "no", "false"].contains(&text.trim().to_ascii_lowercase().as_str());
        let near = nearest(text, words.iter().map(|(word, _)| *word)).filter(|_| !says_on_or_off);
        Self::Text { kind, written: text.to_owned(), near }
    }
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Integer | Self::IntegerOr(_) => "a whole number",
            Self::Time(TimeUnit::Seconds) => {
                return write!(out, "a whole number of seconds, or a time of whole seconds like \"90s\" or \"2m\"");
            }
            Self::Time(unit) => return write!(out, "a whole number of {}, or {NotADuration}", unit.as_str()),
            Self::Boolean => "true or false",
            Self::Text | Self::OptionalText => "a string",
            Self::TextList => "an array of strings",
            Self::TextMap => "a table of strings",
            Self::Tables(_) => "an array of tables",
            Self::Word(words) => {
                let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                return write!(out, "one of {}", words.join(", "));
            }
        })
    }
}
