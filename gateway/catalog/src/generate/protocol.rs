//! The worker protocol: types for the preload, types for the supervisor, and `docs/reference/worker-protocol.md`.

use std::fmt::Write as _;

use super::markdown::table;
use crate::protocol::{Field, Kind, Message, PROTOCOL, Times};
use crate::snapshot::RUN_BOUNDS_US;

pub(super) fn page() -> String {
    format!(
        "Gateway and worker exchange lines on one connection per worker, `SLUICE_CONTROL`. Each line is a JSON object with its kind in \
         `type`. Both sides skip lines over the [bound](bounds.md) and ignore unknown kinds.\n\n\
         ## Worker to gateway\n\n{}\n## Gateway to worker\n\n{}\n## Records\n\n{}",
        lines(&PROTOCOL.to_gateway),
        lines(&PROTOCOL.to_worker),
        lines(&PROTOCOL.records),
    )
}

fn lines(messages: &[Message]) -> String {
    let rows: Vec<Vec<String>> = messages
        .iter()
        .map(|message| {
            let fields: Vec<String> = message.fields.iter().map(field_text).collect();
            vec![format!("`{}`", message.name), message.text.clone(), fields.join("<br>")]
        })
        .collect();
    table(&["Line", "Means", "Fields"], &rows)
}

fn field_text(field: &Field) -> String {
    let is_optional = matches!(field.times, Times::OrAbsent | Times::ManyOrAbsent);
    let name = if is_optional { format!("`{}?`", field.name) } else { format!("`{}`", field.name) };
    let words = if let Kind::Word { of, .. } = &field.kind { format!(" ({})", of.join(", ")) } else { String::new() };
    let text = if field.text.is_empty() { String::new() } else { format!(": {}", field.text) };
    format!("{name}{words}{text}")
}

/// Fingerprint of the protocol: FNV-1a, 64 bits, of its types without their comments, so that a reworded text is no other protocol.
fn fingerprint(types: &str) -> String {
    let hash = types
        .lines()
        .filter(|line| !line.trim_start().starts_with("/**"))
        .flat_map(str::bytes)
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

pub(super) fn typescript() -> String {
    format!(
        "// {}\n\n/** Fingerprint of the types in this file. */\nexport const PROTOCOL = '{}';\n{}",
        super::NOTICE,
        fingerprint(&types()),
        types()
    )
}

fn types() -> String {
    let mut out = String::new();
    let bounds: Vec<String> = RUN_BOUNDS_US.iter().map(ToString::to_string).collect();
    let _ = write!(
        out,
        "\n/** Upper bounds of the buckets of runs, microseconds. */\nexport const RUN_BOUNDS_US: readonly number[] = [{}];\n",
        bounds.join(", ")
    );
    for (name, words) in words(&PROTOCOL.records).chain(words(&PROTOCOL.to_gateway)).chain(words(&PROTOCOL.to_worker)) {
        let _ = write!(out, "\nexport type {name} = '{}';\n", words.join("' | '"));
    }
    for record in &PROTOCOL.records {
        let _ = write!(out, "\n/** {} */\nexport interface {} {{\n", record.text, record.name);
        typescript_fields(&mut out, record, "  ");
        out += "}\n";
    }
    for (name, messages) in [("ToGateway", &PROTOCOL.to_gateway), ("FromGateway", &PROTOCOL.to_worker)] {
        let _ = write!(out, "\nexport type {name} =");
        for message in messages {
            let _ = write!(out, "\n  /** {} */\n  | {{\n      readonly type: '{}';\n", message.text, message.name);
            typescript_fields(&mut out, message, "      ");
            out += "    }";
        }
        out += ";\n";
    }
    out
}

fn typescript_fields(out: &mut String, message: &Message, indent: &str) {
    for field in &message.fields {
        if !field.text.is_empty() {
            let _ = writeln!(out, "{indent}/** {} */", field.text);
        }
        let of = match &field.kind {
            Kind::Whole | Kind::Number => "number",
            Kind::Flag => "boolean",
            Kind::Text => "string",
            Kind::Any => "unknown",
            Kind::Word { word: name, .. } | Kind::Record { record: name } => name,
            Kind::Other { typescript, .. } => typescript,
        };
        let _ = match field.times {
            Times::One => writeln!(out, "{indent}readonly {}: {of};", field.name),
            Times::OrNull => writeln!(out, "{indent}readonly {}: {of} | null;", field.name),
            Times::OrAbsent => writeln!(out, "{indent}readonly {}?: {of};", field.name),
            Times::Many => writeln!(out, "{indent}readonly {}: readonly {of}[];", field.name),
            Times::ManyOrAbsent => writeln!(out, "{indent}readonly {}?: readonly {of}[];", field.name),
        };
    }
}

pub(super) fn rust() -> String {
    let mut out = format!(
        "//! Records of workers on the control channel; `docs/reference/worker-protocol.md` has the meaning of each field. {}\n\nuse serde::Deserialize;\n",
        super::NOTICE
    );
    let _ = writeln!(
        out,
        "\n/// Fingerprint of the protocol, as the preload says it.\npub(crate) const PROTOCOL: &str = \"{}\";",
        fingerprint(&types())
    );
    out += "\n/// The fields of all kinds of lines, of which each kind fills its own. Flat, because a tagged enum would make serde look at\n\
            /// every line twice, and `done` lines come with every few requests.\n\
            #[derive(Debug, Default, Deserialize)]\n#[serde(default)]\n\
            #[allow(clippy::struct_excessive_bools)] // Each is a fact of another kind of line.\n\
            pub(crate) struct ControlRecord {\n    #[serde(rename = \"type\")]\n    pub(crate) kind: Kind,\n";
    let mut named: Vec<&str> = Vec::new();
    for message in &PROTOCOL.to_gateway {
        for field in &message.fields {
            if !named.contains(&field.name.as_str()) {
                named.push(&field.name);
                rust_field(&mut out, field);
            }
        }
    }
    out += "}\n";
    let kinds: Vec<&str> = PROTOCOL.to_gateway.iter().map(|message| message.name.as_str()).collect();
    rust_words(&mut out, "Kind", "Kind of a line.", &kinds);
    for (name, words) in words(&PROTOCOL.records).chain(words(&PROTOCOL.to_gateway)) {
        rust_words(&mut out, name, "Way in which a request left the app.", words);
    }
    for record in &PROTOCOL.records {
        let _ = write!(
            out,
            "\n/// {}\n#[derive(Debug, Default, Deserialize)]\n#[serde(default)]\npub(crate) struct {} {{\n",
            record.text, record.name
        );
        for field in &record.fields {
            rust_field(&mut out, field);
        }
        out += "}\n";
    }
    out
}

fn rust_field(out: &mut String, field: &Field) {
    let of = match &field.kind {
        Kind::Whole => "u64",
        Kind::Number => "f64",
        Kind::Flag => "bool",
        Kind::Text => "String",
        Kind::Any => "serde_json::Value",
        Kind::Word { word: name, .. } | Kind::Record { record: name } => name,
        Kind::Other { rust, .. } => rust,
    };
    let _ = match field.times {
        Times::One => writeln!(out, "    pub(crate) {}: {of},", field.name),
        Times::OrAbsent if field.kind == Kind::Flag => writeln!(out, "    pub(crate) {}: {of},", field.name),
        Times::OrNull | Times::OrAbsent => writeln!(out, "    pub(crate) {}: Option<{of}>,", field.name),
        Times::Many | Times::ManyOrAbsent => writeln!(out, "    pub(crate) {}: Vec<{of}>,", field.name),
    };
}

fn rust_words(out: &mut String, name: &str, text: &str, words: &[impl AsRef<str>]) {
    let _ = write!(
        out,
        "\n/// {text}\n#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]\n#[serde(rename_all = \"kebab-case\")]\n\
         pub(crate) enum {name} {{\n"
    );
    for word in words {
        let _ = writeln!(out, "    {},", pascal(word.as_ref()));
    }
    *out += "    /// Word of a version that knows more.\n    #[default]\n    #[serde(other)]\n    Unknown,\n}\n";
}

/// `hears-messages` as `HearsMessages`.
fn pascal(word: &str) -> String {
    let parts = word.split('-').map(|part| part[..1].to_uppercase() + &part[1..]);
    parts.collect()
}

/// Every type of words in these lines or records, with its name.
fn words(messages: &[Message]) -> impl Iterator<Item = (&str, &[String])> {
    let fields = messages.iter().flat_map(|message| &message.fields);
    fields.filter_map(|field| if let Kind::Word { word, of } = &field.kind { Some((&**word, &**of)) } else { None })
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn a_reworded_comment_is_the_same_protocol_and_a_renamed_field_another() {
        let of = |text: &str, field: &str| {
            fingerprint(&format!("export interface A {{\n  /** {text} */\n  {field}: number;\n}}\n"))
        };
        assert_eq!(of("Milliseconds.", "took"), of("Time in milliseconds.", "took"));
        assert_ne!(of("Milliseconds.", "took"), of("Milliseconds.", "waited"));
    }
}
