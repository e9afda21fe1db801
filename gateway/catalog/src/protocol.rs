//! The lines between gateway and workers on the control channel: one JSON object each, with its kind in `type`. The types of
//! both sides and the page about them are made from `protocol.toml`. It must not know what is done with a line.

use std::sync::LazyLock;

use serde::Deserialize;

/// Type of a field.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A whole number, from 0.
    Whole,
    /// Any number.
    Number,
    /// Yes or no.
    Flag,
    /// Text.
    Text,
    /// Value as the app gave it.
    Any,
    /// One of these words.
    #[serde(untagged)]
    Word {
        /// The type of the words.
        word: String,
        /// The words.
        of: Vec<String>,
    },
    /// A record.
    #[serde(untagged)]
    Record {
        /// Name of the record.
        record: String,
    },
    /// A type that both sides have elsewhere.
    #[serde(untagged)]
    Other {
        /// Type in TypeScript.
        typescript: String,
        /// Type in Rust.
        rust: String,
    },
}

/// Whether and how often a field is there.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Times {
    /// Field that is always there.
    #[default]
    One,
    /// Field that is always there, and `null` if it has no value.
    OrNull,
    /// Left out where there is nothing to say.
    OrAbsent,
    /// A list.
    Many,
    /// A list that is left out where it is empty.
    ManyOrAbsent,
}

/// One field of a line or of a record.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// Name in JSON.
    pub name: String,
    /// Type of the value.
    pub kind: Kind,
    /// Whether it is there.
    #[serde(default)]
    pub times: Times,
    /// Meaning; empty where the name says it.
    #[serde(default)]
    pub text: String,
}

/// One kind of line, or a record within lines.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// The value of `type`, or the record's name.
    pub name: String,
    /// Meaning, and what follows from it.
    pub text: String,
    /// Fields beside `type`.
    pub fields: Vec<Field>,
}

/// The whole protocol.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protocol {
    /// Parts of lines.
    pub records: Vec<Message>,
    /// Lines of workers.
    pub to_gateway: Vec<Message>,
    /// Lines of the gateway.
    pub to_worker: Vec<Message>,
}

/// The protocol of this version.
pub static PROTOCOL: LazyLock<Protocol> =
    LazyLock::new(|| toml::from_str(include_str!("../protocol.toml")).expect("the file is of this version"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_the_same_in_every_line() {
        let fields: Vec<&Field> = PROTOCOL.to_gateway.iter().flat_map(|message| &message.fields).collect();
        for field in &fields {
            assert_ne!(field.name, "type");
            assert!(fields.iter().filter(|other| other.name == field.name).all(|other| other.kind == field.kind));
        }
    }

    #[test]
    fn every_record_that_is_named_is_there() {
        let Protocol { records, to_gateway, to_worker } = &*PROTOCOL;
        for message in records.iter().chain(to_gateway).chain(to_worker) {
            assert!(!message.text.is_empty(), "{}", message.name);
            for field in &message.fields {
                let Kind::Record { record: name } = &field.kind else { continue };
                assert!(records.iter().any(|record| record.name == *name), "{name}");
            }
        }
    }
}
