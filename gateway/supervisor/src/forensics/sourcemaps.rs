//! From places in the code that ran to places in the code that was written (ECMA-426, source maps).
//!
//! A map is walked once for all places asked of it, so that a large one costs no more memory than its text. Everything in a
//! map is input; one that cannot be read leaves its places as they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

use serde::Deserialize;

use super::Frame;
use super::urls::{base64_digit, clean, decode_data_url, path_of_url, percent_decode};

/// The largest source map that is read.
const MAP_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Longest name of a function or a file that is kept.
const NAME_CHARS_MAX: usize = 512;

/// A place as V8 gives it: line and column from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RawFrame {
    pub(super) function: String,
    pub(super) script: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// What V8 knows of a script by its id. The frames it reports do not say it themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) url: String,
    /// As the script says it last, in the text that V8 compiled. That need not be the file: loaders such as tsx translate
    /// on the way, and a deployment may have replaced the file since.
    pub(super) map_url: String,
}

/// Names the places of all frames. Reads files: call it where that may block.
pub(super) fn place(frames: &[RawFrame], scripts: &HashMap<String, Script>, cwd: &Path) -> Vec<Frame> {
    let mut places: Vec<Frame> = frames.iter().map(|frame| as_it_ran(frame, scripts, cwd)).collect();
    let mut by_script: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, frame) in frames.iter().enumerate() {
        by_script.entry(&frame.script).or_default().push(index);
    }
    for (script, indexes) in by_script {
        let Some(script) = scripts.get(script).filter(|script| !script.map_url.is_empty()) else { continue };
        let asked: Vec<(u32, u32)> = indexes.iter().map(|index| (frames[*index].line, frames[*index].column)).collect();
        let Some(answers) = originals(script, &asked) else { continue };
        for (index, answer) in indexes.into_iter().zip(answers) {
            if let Some(original) = answer {
                places[index].file = short(&relative(&original.file, cwd));
                places[index].line = original.line.saturating_add(1);
                places[index].column = original.column.saturating_add(1);
            }
        }
    }
    places
}

/// The place in the code that ran.
pub(super) fn as_it_ran(frame: &RawFrame, scripts: &HashMap<String, Script>, cwd: &Path) -> Frame {
    let function = short(if frame.function.is_empty() { "(anonymous)" } else { &frame.function });
    // V8's own entries, such as "(garbage collector)", are in no script and at no place.
    if frame.line == u32::MAX {
        return Frame { function, file: String::new(), line: 0, column: 0 };
    }
    let url = scripts.get(&frame.script).map_or("", |script| script.url.as_str());
    let file = match path_of_url(url) {
        Some(path) => relative(&path.to_string_lossy(), cwd),
        None if url.is_empty() => "(eval)".to_owned(),
        None => url.to_owned(),
    };
    Frame { function, file: short(&file), line: frame.line + 1, column: frame.column.saturating_add(1) }
}

fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

fn relative(file: &str, cwd: &Path) -> String {
    Path::new(file).strip_prefix(cwd).map_or_else(|_| file.to_owned(), |inside| inside.to_string_lossy().into_owned())
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Original {
    file: String,
    line: u32,
    column: u32,
}

/// The originals of places in one script; None without a readable map.
fn originals(Script { url, map_url }: &Script, asked: &[(u32, u32)]) -> Option<Vec<Option<Original>>> {
    let script = path_of_url(url)?;
    let (bytes, base) = match map_url.strip_prefix("data:") {
        Some(data) => (decode_data_url(data)?, script),
        None if map_url.contains("://") && !map_url.starts_with("file:") => return None,
        None => {
            let file = path_of_url(map_url).unwrap_or_else(|| script.with_file_name(percent_decode(map_url)));
            (read_bounded(&file)?, file)
        }
    };
    let map: Map = serde_json::from_slice(without_guard(&bytes)).ok()?;
    Some(map.originals(asked, &base))
}

/// The first line of a map may keep it from being run as a script.
fn without_guard(bytes: &[u8]) -> &[u8] {
    match bytes.strip_prefix(b")]}") {
        Some(rest) => rest.iter().position(|byte| *byte == b'\n').map_or(&[], |end| &rest[end..]),
        None => bytes,
    }
}

fn read_bounded(file: &Path) -> Option<Vec<u8>> {
    // A pipe by that name would never end.
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MAP_BYTES_MAX {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(MAP_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Map<'a> {
    #[serde(borrow, default)]
    source_root: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    sources: Vec<Option<Cow<'a, str>>>,
    #[serde(borrow, default)]
    mappings: Cow<'a, str>,
    #[serde(borrow, default)]
    sections: Vec<Section<'a>>,
}

/// A part of a bundle with a map of its own, as Turbopack writes them.
#[derive(Deserialize)]
struct Section<'a> {
    offset: Offset,
    #[serde(borrow)]
    map: Map<'a>,
}

#[derive(Deserialize)]
struct Offset {
    line: u32,
    column: u32,
}

impl Map<'_> {
    fn originals(&self, asked: &[(u32, u32)], base: &Path) -> Vec<Option<Original>> {
        if self.sections.is_empty() {
            let found = walk(&self.mappings, asked);
            return found.into_iter().map(|segment| self.name(segment?, base)).collect();
        }
        let mut answers = vec![None; asked.len()];
        let mut by_section: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, place) in asked.iter().enumerate() {
            let after = self.sections.partition_point(|section| (section.offset.line, section.offset.column) <= *place);
            if after > 0 {
                by_section.entry(after - 1).or_default().push(index);
            }
        }
        for (section, indexes) in by_section {
            let Section { offset, map } = &self.sections[section];
            let inside = |index: &usize| {
                let (line, column) = asked[*index];
                let column = if line == offset.line { column.saturating_sub(offset.column) } else { column };
                (line.saturating_sub(offset.line), column)
            };
            let asked: Vec<_> = indexes.iter().map(inside).collect();
            for (index, answer) in indexes.iter().zip(map.originals(&asked, base)) {
                answers[*index] = answer;
            }
        }
        answers
    }

    fn name(&self, segment: Segment, base: &Path) -> Option<Original> {
        let source = self.sources.get(usize::try_from(segment.source?).ok()?)?.as_deref()?;
        let root = self.source_root.as_deref().unwrap_or("");
        let source = match root {
            "" => Cow::Borrowed(source),
            root if root.ends_with('/') => Cow::Owned(format!("{root}{source}")),
            root => Cow::Owned(format!("{root}/{source}")),
        };
        let file = match path_of_url(&source) {
            Some(path) => clean(&path),
            // webpack:// and the like name no file.
            None if source.contains("://") => source.into_owned(),
            None => clean(&base.with_file_name("").join(percent_decode(&source))),
        };
        let (line, column) = (u32::try_from(segment.line).ok()?, u32::try_from(segment.column).ok()?);
        Some(Original { file, line, column })
    }
}

/// What a segment of the mappings says. Without a source, the code was made up by a tool.
#[derive(Clone, Copy)]
struct Segment {
    source: Option<i64>,
    line: i64,
    column: i64,
}

/// Goes through the mappings once and keeps, for each place asked for, the last segment at or before it on its line.
fn walk(mappings: &str, asked: &[(u32, u32)]) -> Vec<Option<Segment>> {
    let mut found = vec![None; asked.len()];
    let last_line = asked.iter().map(|(line, _)| *line).max().unwrap_or(0);
    let (mut source, mut line, mut column) = (0_i64, 0_i64, 0_i64);
    for (generated_line, text) in (0..=last_line).zip(mappings.split(';')) {
        let here: Vec<usize> = (0..asked.len()).filter(|index| asked[*index].0 == generated_line).collect();
        let mut generated_column = 0_i64;
        for segment in text.split(',').filter(|segment| !segment.is_empty()) {
            let mut numbers = Vlq(segment.as_bytes());
            let Some(step) = numbers.next() else { return found };
            generated_column = generated_column.saturating_add(step);
            let place = match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(sources), Some(lines), Some(columns)) => {
                    source = source.saturating_add(sources);
                    line = line.saturating_add(lines);
                    column = column.saturating_add(columns);
                    Segment { source: Some(source), line, column }
                }
                _ => Segment { source: None, line, column },
            };
            for index in &here {
                if generated_column <= i64::from(asked[*index].1) {
                    found[*index] = Some(place);
                }
            }
        }
    }
    found
}

/// The numbers of a segment: base 64, least digit first, sign in the lowest bit. Ends at what is none.
struct Vlq<'a>(&'a [u8]);

impl Iterator for Vlq<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let mut value = 0_i64;
        // Six digits of five bits are what a 32-bit number takes, and one more its sign.
        for shift in (0..=30).step_by(5) {
            let (digit, rest) = self.0.split_first()?;
            self.0 = rest;
            let digit = i64::from(base64_digit(*digit)?);
            value |= (digit & 31) << shift;
            if digit & 32 == 0 {
                return Some(if value & 1 == 1 { -(value >> 1) } else { value >> 1 });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn original(file: &str, line: u32, column: u32) -> Original {
        Original { file: file.to_owned(), line, column }
    }

    #[test]
    fn numbers_are_read_and_nonsense_ends_them() {
        let read = |text: &str| Vlq(text.as_bytes()).collect::<Vec<_>>();
        assert_eq!(read("AAgBC"), [0, 0, 16, 1]);
        assert_eq!(read("D"), [-1]);
        assert_eq!(read("gggggggggggggggg"), [0_i64; 0]);
        assert_eq!(read("A A"), [0]);
        assert_eq!(read("g"), [0_i64; 0]);
        assert_eq!(read("//////D")[..], [-2_147_483_647]);
    }

    #[test]
    fn last_segment_before_a_place_names_it() {
        // Line 0: columns 0 → a.ts 0:0, 10 → a.ts 4:2, 20 → nothing. Line 1 is empty. Line 2: column 4 → b.ts 7:2.
        let map = r#"{"version":3,"sourceRoot":"../src","sources":["a.ts","./x/../b.ts"],"mappings":"AAAA,UAIE,U;;ICGA","names":[]}"#;
        let map: Map = serde_json::from_str(map).unwrap();
        let asked = [(0, 0), (0, 9), (0, 10), (0, 19), (0, 25), (1, 3), (2, 3), (2, 99), (9, 9)];
        let found = map.originals(&asked, Path::new("/app/dist/a.js.map"));
        let (start, inner) = (Some(original("/app/src/a.ts", 0, 0)), Some(original("/app/src/a.ts", 4, 2)));
        let b = Some(original("/app/src/b.ts", 7, 2));
        assert_eq!(found, [start.clone(), start, inner.clone(), inner, None, None, None, b, None]);
    }

    #[test]
    fn sections_are_maps_from_their_offset_on() {
        let map = r#"{"version":3,"sections":[
            {"offset":{"line":0,"column":0},"map":{"version":3,"sources":["file:///one.ts"],"mappings":"AAAA"}},
            {"offset":{"line":2,"column":5},"map":{"version":3,"sources":["turbopack:///[project]/two.ts"],"mappings":"AAAA,IAAI;AACA"}}]}"#;
        let map: Map = serde_json::from_str(map).unwrap();
        let two = "turbopack:///[project]/two.ts";
        let found = map.originals(&[(0, 3), (2, 4), (2, 5), (2, 9), (3, 0)], Path::new("/app/x.js"));
        let two = |line, column| Some(original(two, line, column));
        assert_eq!(found, [Some(original("/one.ts", 0, 0)), None, two(0, 0), two(0, 4), two(1, 4)]);
    }

    #[test]
    fn maps_that_cannot_be_read_leave_places_as_they_are() {
        let directory = tempfile::tempdir().unwrap();
        let script_url = format!("file://{}/a%20b.js", directory.path().display());
        let frame = RawFrame { function: String::new(), script: "1".to_owned(), line: 3, column: 4 };
        let expected = Frame { function: "(anonymous)".to_owned(), file: "a b.js".to_owned(), line: 4, column: 5 };
        std::fs::write(directory.path().join("broken.map"), "{").unwrap();
        for url in [
            "missing.map",
            "broken.map",
            ".",
            "/dev/zero",
            "https://example.org/a.map",
            "data:",
            "data:application/json;base64,%%%",
            "data:application/json,{}",
            r#"data:application/json,{"mappings":"A\u0000AAA;;;AAAAAAAAAAAA"}"#,
            r#"data:application/json,{"sources":[null],"mappings":";;;AAAA"}"#,
            r#"data:application/json,{"sources":["a"],"mappings":";;;ADDD"}"#,
            r#"data:application/json,{"sources":["a"],"sections":[{"offset":{"line":9,"column":0},"map":{}}]}"#,
        ] {
            let script = Script { url: script_url.clone(), map_url: url.to_owned() };
            let scripts = HashMap::from([("1".to_owned(), script)]);
            let placed = place(std::slice::from_ref(&frame), &scripts, directory.path());
            assert_eq!(placed, std::slice::from_ref(&expected), "{url}");
        }
    }

    #[test]
    fn map_in_a_data_url_is_read() {
        let frame = RawFrame { function: "f".to_owned(), script: "1".to_owned(), line: 0, column: 7 };
        let expected = Frame { function: "f".to_owned(), file: "src/a.ts".to_owned(), line: 3, column: 2 };
        // {"version":3,"sources":["src/a.ts"],"mappings":"AAEC"}
        let base64 = "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbInNyYy9hLnRzIl0sIm1hcHBpbmdzIjoiQUFFQyJ9";
        for url in [
            format!("data:application/json;charset=utf-8;base64,{base64}"),
            "data:application/json,%7B%22sources%22:[\"src/a.ts\"],\"mappings\":\"AAEC\"}".to_owned(),
        ] {
            let script = Script { url: "file:///app/a.js".to_owned(), map_url: url };
            let scripts = HashMap::from([("1".to_owned(), script)]);
            assert_eq!(
                place(std::slice::from_ref(&frame), &scripts, Path::new("/app")),
                std::slice::from_ref(&expected)
            );
        }
    }
}
