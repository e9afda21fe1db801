//! `packages/sluice/src/config.ts`: TypeScript types of `sluice.toml`, with the same names as there.

use std::fmt::Write as _;

use crate::config::{Form, Key, Kind, SECTIONS};

/// Room for text in a doc comment inside an interface.
const COMMENT_WIDTH: usize = 100;

pub(super) fn text() -> String {
    let mut out = format!("// {}\n\n", super::NOTICE);
    out += "/** A time with its unit: `500ms`, `3s`, `2m`, `1h`, `7d`. */\n";
    out += "export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;\n\n";
    out += "/** Everything that `sluice.toml` may say. Each section and key may be left out. */\n";
    out += "export interface Config {\n";
    for section in SECTIONS {
        comment(&mut out, "  ", &[section.description()]);
        let short = section.short().map_or_else(String::new, |key| format!(" | {}", type_text(key.kind)));
        let _ = writeln!(out, "  {}?: {}Config{short};", section.name, section.type_name);
    }
    out += "}\n";
    for section in SECTIONS {
        let _ = write!(out, "\n/** `[{}]` */\nexport interface {}Config {{\n", section.name, section.type_name);
        for key in section.keys {
            let mut paragraphs = vec![with_unit(key)];
            if !key.default().is_null() {
                paragraphs.push(format!("@default {}", key.default()));
            }
            comment(&mut out, "  ", &paragraphs);
            let _ = writeln!(out, "  {}?: {};", key.name, type_text(key.kind));
        }
        out += "}\n";
    }
    out
}

/// The description, with unit and bounds behind it for numbers.
pub(super) fn with_unit(key: &Key) -> String {
    let description = key.description();
    match key.bounds {
        Some(bounds) if key.unit.is_empty() => format!("{description} From {} to {}.", bounds.min, bounds.max),
        Some(bounds) => format!("{description} In {}, from {} to {}.", key.unit, bounds.min, bounds.max),
        None => description,
    }
}

fn type_text(kind: Kind) -> String {
    match kind {
        Kind::Time(_) => "number | Duration".to_owned(),
        Kind::Integer => "number".to_owned(),
        Kind::IntegerOr(word) => format!("number | '{word}'"),
        Kind::Boolean => "boolean".to_owned(),
        Kind::Text | Kind::OptionalText => "string".to_owned(),
        Kind::TextList => "string[]".to_owned(),
        Kind::TextMap => "Record<string, string>".to_owned(),
        Kind::Tables(columns) => {
            let entries = columns.iter().map(|column| {
                let mark = if column.is_required { "" } else { "?" };
                let form = match column.form {
                    Form::Text => "string",
                    Form::List => "string[]",
                    Form::Number => "number",
                };
                format!("{}{mark}: {form}", column.name)
            });
            format!("{{ {} }}[]", entries.collect::<Vec<_>>().join("; "))
        }
        Kind::Word(words) => words.iter().map(|(word, _)| format!("'{word}'")).collect::<Vec<_>>().join(" | "),
    }
}

pub(super) fn comment(out: &mut String, indent: &str, paragraphs: &[String]) {
    let lines: Vec<String> = paragraphs.iter().flat_map(|text| wrapped(text)).collect();
    if let [line] = lines.as_slice() {
        let _ = writeln!(out, "{indent}/** {line} */");
        return;
    }
    let _ = writeln!(out, "{indent}/**");
    for line in lines {
        let _ = writeln!(out, "{indent} * {line}");
    }
    let _ = writeln!(out, "{indent} */");
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.replace("*/", "*\\/").split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= COMMENT_WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
