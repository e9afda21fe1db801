//! `packages/dashboard/src/snapshot.ts`: TypeScript types of what the dashboard is sent.
//!
//! They are read from the source of the Rust types, which has all that TypeScript needs: names, types, comments and serde's
//! attributes. A form that is not known here panics, which a test shows before a user sees it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::typescript::comment;

/// The files that hold the types.
const SOURCES: [&str; 11] = [
    include_str!("../snapshot.rs"),
    include_str!("../snapshot/cache.rs"),
    include_str!("../snapshot/calls.rs"),
    include_str!("../snapshot/deploy.rs"),
    include_str!("../snapshot/graph.rs"),
    include_str!("../snapshot/machine.rs"),
    include_str!("../snapshot/render.rs"),
    include_str!("../snapshot/runs.rs"),
    include_str!("../snapshot/trial.rs"),
    include_str!("../profiles.rs"),
    include_str!("../dashboard.rs"),
];

pub(super) fn text() -> String {
    let items: Vec<Item> = SOURCES.iter().flat_map(|source| items(source)).collect();
    let known: BTreeSet<&str> = items.iter().map(|item| item.name.as_str()).collect();
    let mut out = format!("// {}\n", super::NOTICE);
    for item in &items {
        out.push('\n');
        write_item(&mut out, item, &known);
    }
    out
}

/// A struct or an enum.
#[derive(Debug, Default)]
struct Item {
    name: String,
    text: String,
    /// Fields of a struct.
    fields: Vec<Field>,
    /// Words of an enum, as they are in JSON.
    words: Vec<String>,
}

#[derive(Debug)]
struct Field {
    name: String,
    text: String,
    rust: String,
    is_optional: bool,
}

/// Doc comment and attributes of what comes next.
#[derive(Default)]
struct Above {
    text: Vec<String>,
    serde: String,
}

fn items(source: &str) -> Vec<Item> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let (mut items, mut above): (Vec<Item>, Above) = (Vec::new(), Above::default());
    // What the enum's attribute makes of its variants, while inside a type.
    let mut inside: Option<String> = None;
    for line in code.lines() {
        let bare = line.trim();
        if let Some(text) = bare.strip_prefix("///") {
            above.text.push(text.trim().to_owned());
        } else if bare.starts_with("#[serde(") {
            above.serde += bare;
        } else if bare.starts_with("#[") {
            // No other attribute changes JSON.
        } else if let Some(name) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum ")) {
            let name = name.strip_suffix(" {").unwrap_or_else(|| panic!("{line:?} is no struct or enum with names"));
            let Above { text, serde } = std::mem::take(&mut above);
            items.push(Item { name: name.to_owned(), text: text.join(" "), ..Item::default() });
            inside = Some(serde);
        } else if line == "}" {
            inside = None;
        } else if let (Some(serde), Some(item)) = (&inside, items.last_mut()) {
            let own = std::mem::take(&mut above);
            let said = bare.strip_suffix(',').unwrap_or_else(|| panic!("{bare:?} in {} is not understood", item.name));
            match said.strip_prefix("pub ").and_then(|field| field.split_once(": ")) {
                Some((name, rust)) => item.fields.push(field(name, rust, &own)),
                None => item.words.push(word(said, serde, &own)),
            }
        } else {
            above = Above::default();
        }
    }
    items
}

fn field(name: &str, rust: &str, above: &Above) -> Field {
    assert!(!above.serde.contains("flatten"), "{name} is flattened, which the types cannot say");
    Field {
        name: argument(&above.serde, "rename").unwrap_or(name).to_owned(),
        text: above.text.join(" "),
        rust: rust.to_owned(),
        is_optional: above.serde.contains("skip_serializing_if"),
    }
}

fn word(variant: &str, enum_serde: &str, above: &Above) -> String {
    assert!(variant.chars().all(char::is_alphanumeric), "{variant} holds something, which the types cannot say");
    if let Some(name) = argument(&above.serde, "rename") {
        return name.to_owned();
    }
    let parted = |by: char| {
        let mut out = String::new();
        for letter in variant.chars() {
            if letter.is_uppercase() && !out.is_empty() {
                out.push(by);
            }
            out.extend(letter.to_lowercase());
        }
        out
    };
    match argument(enum_serde, "rename_all") {
        None => variant.to_owned(),
        Some("lowercase") => variant.to_lowercase(),
        Some("snake_case") => parted('_'),
        Some("kebab-case") => parted('-'),
        Some(other) => panic!("rename_all = {other:?} is not known here"),
    }
}

/// `x` of `name = "x"`.
fn argument<'a>(attributes: &'a str, name: &str) -> Option<&'a str> {
    attributes.split_once(&format!("{name} = \""))?.1.split('"').next()
}

fn write_item(out: &mut String, item: &Item, known: &BTreeSet<&str>) {
    comment(out, "", std::slice::from_ref(&item.text));
    if item.fields.is_empty() {
        let _ = writeln!(out, "export type {} = '{}';", item.name, item.words.join("' | '"));
        return;
    }
    let _ = writeln!(out, "export interface {} {{", item.name);
    for field in &item.fields {
        comment(out, "  ", std::slice::from_ref(&field.text));
        let mark = if field.is_optional { "?" } else { "" };
        // What is left out is never null.
        let rust = field.rust.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>'));
        let rust = rust.filter(|_| field.is_optional).unwrap_or(&field.rust);
        let _ = writeln!(out, "  readonly {}{mark}: {};", field.name, of(rust, known));
    }
    *out += "}\n";
}

/// The TypeScript of a Rust type.
fn of(rust: &str, known: &BTreeSet<&str>) -> String {
    let inner = |name: &str| rust.strip_prefix(name)?.strip_prefix('<')?.strip_suffix('>');
    if let Some(inner) = inner("Option") {
        return format!("{} | null", of(inner, known));
    }
    if let Some(inner) = inner("Box").or_else(|| inner("Rc")) {
        return of(inner, known);
    }
    if let Some(inner) = inner("Vec") {
        return list(&of(inner, known));
    }
    if let Some((inner, _)) = rust.strip_prefix('[').and_then(|rest| rest.rsplit_once("; ")) {
        return list(&of(inner, known));
    }
    if let Some((key, value)) = inner("BTreeMap").and_then(|inner| inner.split_once(", ")) {
        assert_eq!(key, "String", "keys of {rust}");
        return format!("Readonly<Record<string, {}>>", of(value, known));
    }
    match rust.rsplit("::").next().unwrap_or(rust) {
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" | "f32" | "f64" => "number".to_owned(),
        "String" | "str" => "string".to_owned(),
        "bool" => "boolean".to_owned(),
        name if known.contains(name) => name.to_owned(),
        other => panic!("{other} has no TypeScript type: add its file to SOURCES"),
    }
}

fn list(of: &str) -> String {
    if of.contains('|') || of.starts_with("readonly") {
        format!("readonly ({of})[]")
    } else {
        format!("readonly {of}[]")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::dashboard::{Columns, Frame, Hello, Mark, MarkKind, MarkLevel, Point};
    use crate::snapshot::ClassesSnapshot;

    #[test]
    fn types_are_those_of_what_is_sent() {
        let text = text();
        let mark = Mark {
            id: 1,
            at_ms: 2,
            kind: MarkKind::Deploy,
            event: "note".to_owned(),
            level: MarkLevel::Warn,
            worker: None,
            text: String::new(),
            detail: None,
        };
        let hello =
            Hello { epoch: 1, resumed: false, points: vec![Point::default()], marks: vec![mark], token_file: None };
        let hello = serde_json::to_value(&hello).unwrap();
        check(&text, "Hello", &hello);
        check(&text, "Mark", &hello["marks"][0]);
        check(&text, "Point", &hello["points"][0]);
        check(&text, "Columns", &serde_json::to_value(Columns::default()).unwrap());
        check(&text, "ClassesSnapshot", &serde_json::to_value(ClassesSnapshot::default()).unwrap());
        assert!(text.contains("export type MarkKind = 'deploy' | "), "{text}");
        assert!(text.contains("  readonly queue_wait_ms: readonly (readonly number[] | null)[];\n"), "{text}");
        assert!(size_of::<Frame>() > 0);
    }

    /// The interface has the names of the object, and no others.
    fn check(text: &str, interface: &str, object: &Value) {
        let (_, after) = text.split_once(&format!("export interface {interface} {{\n")).unwrap();
        let (body, _) = after.split_once("\n}").unwrap();
        let mut names: Vec<&str> =
            body.lines().filter_map(|line| Some(line.strip_prefix("  readonly ")?.split_once(':')?.0)).collect();
        names.sort_unstable();
        let mut sent: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
        sent.sort_unstable();
        assert_eq!(names, sent, "{interface}");
    }

    #[test]
    fn words_of_an_enum_are_those_of_its_json() {
        for (attribute, word) in
            [("", "HalfDone"), ("lowercase", "halfdone"), ("kebab-case", "half-done"), ("snake_case", "half_done")]
        {
            let source = format!("#[serde(rename_all = \"{attribute}\")]\npub enum State {{\n    HalfDone,\n}}\n");
            let source =
                if attribute.is_empty() { source.replacen("#[serde(rename_all = \"\")]\n", "", 1) } else { source };
            assert_eq!(items(&source)[0].words, [word]);
        }
    }

    #[test]
    #[should_panic(expected = "has no TypeScript type")]
    fn type_that_is_not_known_is_told() {
        of("Vec<Elsewhere>", &BTreeSet::new());
    }
}
