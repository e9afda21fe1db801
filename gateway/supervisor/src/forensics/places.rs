//! Mapping of places in the code that ran to places in the sources. A Node.js process of its own
//! (`packages/preload/src/profiles/source-maps.ts`) reads source maps, so that a large or malicious map takes no time and memory
//! of the gateway.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use percent_encoding::percent_decode_str;
use serde::Serialize;
use sluice_catalog::config::secret_variables;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use super::{Frame, Subject};

/// Heap limit of the process that reads source maps, in megabytes.
const HEAP_MB_MAX: u32 = 512;
/// Maximum size of the answer of the process that reads source maps, bytes.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;
/// Maximum stored length of a function's or file's name, characters.
const NAME_CHARS_MAX: usize = 512;

/// A place as V8 gives it: line and column from 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RawFrame {
    pub(super) function: String,
    pub(super) script: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Script by V8's id, because reported frames contain only the id.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Script {
    pub(super) url: String,
    /// URL of the source map, as last named in the text that V8 compiled. That text may differ from the file: loaders
    /// such as tsx translate it, and a deployment may have replaced the file since.
    #[serde(rename = "map")]
    pub(super) map_url: String,
}

/// The process that reads source maps. It exits after its answer, or when this value is dropped.
pub(super) struct Reader(Child);

#[derive(Serialize)]
struct MappingRequest<'s> {
    scripts: Vec<&'s Script>,
    /// Index of the script, line and column.
    places: Vec<(usize, u32, u32)>,
}

/// File, line and column of each place; `None` if no map names it.
type Originals = Vec<Option<(String, u32, u32)>>;

impl Reader {
    /// Starts the process, which then waits for its input.
    pub(super) fn start(subject: &Subject) -> Option<Self> {
        let mut command = Command::new(&subject.node);
        command.arg(format!("--max-old-space-size={HEAP_MB_MAX}")).arg(&subject.source_maps);
        // Agents of the app have no business there.
        for name in secret_variables() {
            command.env_remove(name);
        }
        command.env_remove("NODE_OPTIONS").env_remove("NODE_V8_COVERAGE");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.kill_on_drop(true).spawn().ok().map(Self)
    }

    async fn ask(mut self, asked: &MappingRequest<'_>) -> Option<Originals> {
        let (mut stdin, stdout) = (self.0.stdin.take()?, self.0.stdout.take()?);
        stdin.write_all(&serde_json::to_vec(asked).ok()?).await.ok()?;
        drop(stdin);
        let mut answer = Vec::new();
        stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut answer).await.ok()?;
        serde_json::from_slice(&answer).ok()
    }
}

/// Maps the places of all frames with their scripts' maps. A place without a readable map stays unchanged.
pub(super) async fn map(
    places: &mut [Frame],
    frames: &[RawFrame],
    scripts: &HashMap<String, Script>,
    subject: &Subject,
    reader: Option<Reader>,
) {
    let mut asked = MappingRequest { scripts: Vec::new(), places: Vec::new() };
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut indexes = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        let Some(script) = scripts.get(&frame.script).filter(|script| has_map(script)) else { continue };
        let at = *known.entry(&frame.script).or_insert_with(|| {
            asked.scripts.push(script);
            asked.scripts.len() - 1
        });
        asked.places.push((at, frame.line, frame.column));
        indexes.push(index);
    }
    if indexes.is_empty() {
        return;
    }
    let Some(reader) = reader.or_else(|| Reader::start(subject)) else { return };
    let Some(originals) = reader.ask(&asked).await else { return };
    for (index, original) in indexes.into_iter().zip(originals) {
        if let Some((file, line, column)) = original {
            places[index].file = short(&relative(&file, &subject.cwd));
            places[index].line = line.saturating_add(1);
            places[index].column = column.saturating_add(1);
        }
    }
}

pub(super) fn has_map(script: &Script) -> bool {
    !script.map_url.is_empty()
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

/// Path that a `file:` URL or a path names.
fn path_of_url(url: &str) -> Option<PathBuf> {
    match url.strip_prefix("file://") {
        Some(path) => path.starts_with('/').then(|| PathBuf::from(&*percent_decode_str(path).decode_utf8_lossy())),
        None => url.starts_with('/').then(|| PathBuf::from(url)),
    }
}

fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

fn relative(file: &str, cwd: &Path) -> String {
    Path::new(file).strip_prefix(cwd).map_or_else(|_| file.to_owned(), |inside| inside.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_here_is_a_path() {
        assert_eq!(path_of_url("file:///a%20b.js"), Some(PathBuf::from("/a b.js")));
        assert_eq!(path_of_url("file:///%C3%BC%2g%.js"), Some(PathBuf::from("/ü%2g%.js")));
        assert_eq!(path_of_url("/a%20b.js"), Some(PathBuf::from("/a%20b.js")));
        for url in ["", "a.js", "file://host/a.js", "node:fs", "https://example.org/a.js"] {
            assert_eq!(path_of_url(url), None, "{url}");
        }
    }
}
