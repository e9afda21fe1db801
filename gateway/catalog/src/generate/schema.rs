//! `packages/sluice/sluice.schema.json`: JSON Schema 2020-12 of `sluice.toml`, for editors.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::config::{DURATION_PATTERN, Form, Key, Kind, SECTIONS};

/// Width as in `.prettierrc.json`.
const LINE_WIDTH: usize = 110;

pub(super) fn text() -> String {
    let mut out = String::new();
    print(&schema(), 0, 0, &mut out);
    out.push('\n');
    out
}

pub(super) fn schema() -> Value {
    let sections: Map<String, Value> = SECTIONS
        .iter()
        .map(|section| {
            let keys: Map<String, Value> =
                section.keys.iter().map(|key| (key.name.to_owned(), key_schema(key))).collect();
            let schema = json!({
                "type": "object",
                "description": section.description(),
                "properties": keys,
                "additionalProperties": false,
            });
            let schema = match section.short() {
                Some(key) => json!({ "anyOf": [key_schema(key), schema] }),
                None => schema,
            };
            (section.name.to_owned(), schema)
        })
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": super::NOTICE,
        "title": "sluice.toml",
        "type": "object",
        "properties": sections,
        "additionalProperties": false,
    })
}

fn key_schema(key: &Key) -> Value {
    let mut schema = match key.kind {
        Kind::Time(_) => {
            let mut number = json!({ "type": "integer" });
            if let Some(bounds) = key.bounds {
                number["minimum"] = json!(bounds.min);
                number["maximum"] = json!(bounds.max);
            }
            json!({ "anyOf": [number, { "type": "string", "pattern": DURATION_PATTERN }] })
        }
        Kind::Integer => json!({ "type": "integer" }),
        Kind::IntegerOr(word) => json!({ "anyOf": [{ "type": "integer" }, { "const": word }] }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Text | Kind::OptionalText => json!({ "type": "string" }),
        Kind::TextList => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::TextMap => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Kind::Tables(columns) => {
            let entries: Map<String, Value> = columns
                .iter()
                .map(|column| {
                    let mut entry = match column.form {
                        Form::Text => json!({ "type": "string" }),
                        Form::List => json!({ "type": "array", "items": { "type": "string" } }),
                        Form::Number => json!({ "type": "integer" }),
                    };
                    entry["description"] = json!(column.text);
                    (column.name.to_owned(), entry)
                })
                .collect();
            let required: Vec<&str> =
                columns.iter().filter(|column| column.is_required).map(|column| column.name).collect();
            let table =
                json!({ "type": "object", "properties": entries, "required": required, "additionalProperties": false });
            json!({ "type": "array", "items": table })
        }
        Kind::Word(words) => {
            let words: Vec<Value> =
                words.iter().map(|(word, text)| json!({ "const": word, "description": text })).collect();
            json!({ "oneOf": words })
        }
    };
    if let (Some(bounds), false) = (key.bounds, matches!(key.kind, Kind::Time(_))) {
        schema["minimum"] = json!(bounds.min);
        schema["maximum"] = json!(bounds.max);
    }
    schema["description"] = json!(super::typescript::with_unit(key));
    if !key.default().is_null() {
        schema["default"] = key.default();
    }
    schema
}

/// Objects one key a line, arrays on one line where they fit: what Prettier makes of it. `used` is the width of what
/// already stands on the line.
fn print(value: &Value, depth: usize, used: usize, out: &mut String) {
    let indent = "  ".repeat(depth + 1);
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            out.push_str("{\n");
            for (index, (name, value)) in entries.iter().enumerate() {
                let name = Value::from(name.as_str()).to_string();
                let _ = write!(out, "{indent}{name}: ");
                print(value, depth + 1, indent.len() + name.len() + 2, out);
                out.push_str(if index + 1 < entries.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{}}}", "  ".repeat(depth));
        }
        Value::Array(elements) if !fits(elements, used) => {
            out.push_str("[\n");
            for (index, value) in elements.iter().enumerate() {
                out.push_str(&indent);
                print(value, depth + 1, indent.len(), out);
                out.push_str(if index + 1 < elements.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{}]", "  ".repeat(depth));
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(Value::to_string).collect();
            let _ = write!(out, "[{}]", elements.join(", "));
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

fn fits(elements: &[Value], used: usize) -> bool {
    let width: usize = elements.iter().map(|element| element.to_string().chars().count() + 2).sum();
    !elements.iter().any(Value::is_object) && used + width < LINE_WIDTH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_schema() {
        assert_eq!(serde_json::from_str::<Value>(&text()).unwrap(), schema());
    }

    #[test]
    fn defaults_are_within_their_bounds() {
        for key in crate::config::keys() {
            if let (Some(bounds), Some(default)) = (key.bounds, key.default().as_u64()) {
                assert!((bounds.min..=bounds.max).contains(&default), "{}", key.path);
            }
        }
    }

    #[test]
    fn bounds_are_exact_in_javascript() {
        for key in crate::config::keys() {
            assert!(key.bounds.is_none_or(|bounds| bounds.max < 1 << 53), "{}", key.path);
        }
    }
}
