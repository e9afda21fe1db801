//! Fields of a JSON line, appended to a buffer, under the names that were asked for. It must not know any event.

use std::collections::HashMap;

use sluice_catalog::config::LogFields;
use sluice_catalog::logfields::{LOG, name};

use crate::encode::{bounded, escaped, hex, milliseconds, number};

/// A field's own name, and its key under another name: comma, quotes and colon included.
type FieldAlias = (&'static [u8], Box<[u8]>);

/// Keys of all fields under a convention's names, as the bytes that stand before a value.
pub(crate) struct Names {
    pub(crate) fields: LogFields,
    by_event: HashMap<&'static str, Vec<FieldAlias>>,
}

impl Names {
    pub(crate) fn new(fields: LogFields) -> Self {
        let of_event = |event: &'static str, names: &[&'static str]| -> Vec<FieldAlias> {
            let key = |field: &&'static str| {
                (field.as_bytes(), format!(",\"{}\":", name(fields, event, field)).into_bytes().into())
            };
            names.iter().map(key).collect()
        };
        let by_event = match fields {
            LogFields::Sluice => HashMap::new(),
            LogFields::Otel | LogFields::Ecs => LOG
                .lines
                .iter()
                .map(|line| {
                    let names: Vec<_> =
                        LOG.common.iter().chain(&line.fields).map(|field| field.name.as_str()).collect();
                    (line.event.as_str(), of_event(&line.event, &names))
                })
                .collect(),
        };
        Self { fields, by_event }
    }
}

/// Appends fields of an object. Each key comes with its comma, quotes and colon, so that it is one copy.
pub(crate) struct Fields<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    /// Empty for the names of the reference.
    names: &'a [FieldAlias],
    /// Fields come in the order of the names, so that the next one is found at once.
    at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(out: &'a mut Vec<u8>, names: &'a Names, event: &str) -> Self {
        Self { out, names: names.by_event.get(event).map_or(&[], Vec::as_slice), at: 0 }
    }

    pub(crate) fn key(&mut self, key: &[u8]) {
        let field = &key[2..key.len() - 2];
        let is_it = |(name, _): &FieldAlias| *name == field;
        let found = self.names[self.at..].iter().position(is_it).map(|ahead| self.at + ahead);
        match found.or_else(|| self.names.iter().position(is_it)) {
            Some(at) => {
                self.out.extend_from_slice(&self.names[at].1);
                self.at = at + 1;
            }
            None => self.out.extend_from_slice(key),
        }
    }

    /// A string without a bound, for what has one already.
    pub(crate) fn whole(&mut self, key: &[u8], text: &str) {
        self.text(key, text, usize::MAX);
    }

    pub(crate) fn text(&mut self, key: &[u8], text: &str, bytes_max: usize) {
        self.key(key);
        self.string(text, bytes_max);
    }

    pub(crate) fn string(&mut self, text: &str, bytes_max: usize) {
        self.out.push(b'"');
        let kept = bounded(text, bytes_max);
        escaped(self.out, kept);
        if kept.len() < text.len() {
            self.out.extend_from_slice("…".as_bytes());
        }
        self.out.push(b'"');
    }

    pub(crate) fn text_or_null(&mut self, key: &[u8], text: Option<&str>, bytes_max: usize) {
        match text {
            Some(text) => self.text(key, text, bytes_max),
            None => self.null(key),
        }
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, key: &[u8], json: &str) {
        self.key(key);
        self.out.extend_from_slice(json.as_bytes());
    }

    pub(crate) fn number(&mut self, key: &[u8], value: u64) {
        self.key(key);
        number(self.out, value);
    }

    pub(crate) fn number_or_null(&mut self, key: &[u8], value: Option<u64>) {
        match value {
            Some(value) => self.number(key, value),
            None => self.null(key),
        }
    }

    pub(crate) fn milliseconds(&mut self, key: &[u8], value_ms: Option<f64>) {
        let Some(value_ms) = value_ms else { return self.null(key) };
        self.key(key);
        milliseconds(self.out, value_ms);
    }

    pub(crate) fn trace_id(&mut self, key: &[u8], id: Option<u128>) {
        let Some(id) = id else { return self.null(key) };
        self.key(key);
        self.out.push(b'"');
        hex(self.out, id);
        self.out.push(b'"');
    }

    pub(crate) fn null(&mut self, key: &[u8]) {
        self.key(key);
        self.out.extend_from_slice(b"null");
    }
}
