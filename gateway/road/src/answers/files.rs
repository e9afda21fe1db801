//! Files that the gateway sends itself: which request may mean one, and the answer that carries it.
//!
//! Paths that are not a regular file below their directory fall back to the app, which has its own routes and its own 404. File work runs
//! on tokio's blocking threads; a piece of at most [`PIECE_BYTES`] a connection is in memory. The decisions are in `path`, `encoding` and
//! `conditions`, which know no file. Only `open` uses the file system.

mod hashed;
mod open;
mod path;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use sluice_catalog::config;
use sluice_message::{Coding, CodingChoice, Fields, Method, RequestHead, ResponseHead};

use super::conditions::{Conditions, Verdict};
use super::{Response, ResponseBody};
use crate::unusable::Unusable;
pub use hashed::is_immutable as is_hashed_file;
use open::OpenFile;
use sluice_wire::ids::to_usize;
use sluice_wire::receive::spool::blocking;

/// Bytes of a file that are read and written at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Codings of compressed siblings, in the order in which they are looked for.
const SIBLINGS: [Coding; 2] = [Coding::Brotli, Coding::Gzip];
const CACHE_CONTROL_DEFAULT: &str = "public, max-age=0";
const CACHE_CONTROL_IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Settings for files from the config, in the order in which requests are matched.
pub(crate) struct Files {
    /// Directories by prefix, longest first.
    dirs: Vec<(String, Arc<Path>)>,
    cache_control: Vec<(String, Arc<str>)>,
}

impl Files {
    /// # Errors
    /// Fails if a directory does not exist, and names it.
    pub(crate) fn new(settings: &config::Files) -> Result<Self, Unusable> {
        let mut dirs = Vec::new();
        for (prefix, dir) in &settings.paths {
            let is_dir = std::fs::metadata(dir)
                .and_then(|found| if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) });
            is_dir.map_err(|source| Unusable::Dir { prefix: prefix.clone(), dir: dir.clone(), source })?;
            dirs.push((prefix.clone(), Arc::from(Path::new(dir))));
        }
        let mut cache_control: Vec<_> =
            settings.cache_control.iter().map(|(prefix, value)| (prefix.clone(), Arc::from(value.as_str()))).collect();
        dirs.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        cache_control.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Ok(Files { dirs, cache_control })
    }

    /// Location of the file for this URL path, if it may be sent. It does not check that the file exists.
    pub(crate) fn find(&self, path: &str) -> Option<FilePath> {
        let (prefix, dir) = self.dirs.iter().find(|(prefix, _)| path.starts_with(prefix))?;
        let relative = path::relative(&path[prefix.len()..])?;
        let value = self.cache_control.iter().find(|(prefix, _)| path.starts_with(prefix)).map(|(_, value)| value);
        let cache_control = match value {
            Some(value) => CacheControl::Written(Arc::clone(value)),
            None if hashed::is_immutable(path) => CacheControl::Default(CACHE_CONTROL_IMMUTABLE),
            None => CacheControl::Default(CACHE_CONTROL_DEFAULT),
        };
        Some(FilePath { dir: Arc::clone(dir), relative, cache_control })
    }
}

/// Location of a file that may not exist.
pub(crate) struct FilePath {
    dir: Arc<Path>,
    relative: PathBuf,
    cache_control: CacheControl,
}

/// Value of `Cache-Control` for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CacheControl {
    /// Value from the config.
    Written(Arc<str>),
    Default(&'static str),
}

impl CacheControl {
    fn as_str(&self) -> &str {
        match self {
            Self::Written(value) => value,
            Self::Default(value) => value,
        }
    }
}

/// Part of an open file, or all of it.
pub struct FilePart {
    file: Arc<File>,
    next: u64,
    end: u64,
    /// First piece, so that a small file takes one turn of a blocking thread.
    first: Vec<u8>,
}

impl FilePart {
    /// Bytes that are not taken yet.
    pub(crate) fn len(&self) -> u64 {
        self.end - self.next
    }

    /// Next bytes, at most a piece; none after the end. `piece` is memory that can be used again.
    ///
    /// # Errors
    /// Fails also if the file ends before its announced end.
    pub(crate) async fn read(&mut self, piece: Vec<u8>) -> io::Result<Vec<u8>> {
        let (next, end) = (self.next, self.end);
        let piece = if self.first.is_empty() && next < end {
            let file = Arc::clone(&self.file);
            blocking(move || read_piece(&file, next, end, piece)).await?
        } else {
            std::mem::take(&mut self.first)
        };
        self.next += piece.len() as u64;
        Ok(piece)
    }
}

/// Answer that carries the file; `None` if there is no file that may be sent.
pub(crate) async fn find(path: FilePath, head: &RequestHead) -> Option<Response> {
    let is_head = head.method == Method::Head;
    let conditions = Conditions::of(&head.fields, is_head);
    let accepted = CodingChoice::of(head.fields.get_all("accept-encoding"), &SIBLINGS);
    let FilePath { dir, relative, cache_control } = path;
    let content_type = content_type(&relative);
    let found = blocking(move || {
        let opened = open::open(&dir, &relative, accepted)?;
        let now = SystemTime::now();
        let modified = opened.modified.filter(|at| (UNIX_EPOCH..=now).contains(at));
        let verdict = conditions.verdict(&opened.etag, modified, opened.len, now);
        let mut first = Vec::new();
        if !is_head && let Some((from, to)) = verdict.bytes(opened.len) {
            first = read_piece(&opened.file, from, to, first)?;
        }
        Ok((OpenFile { modified, ..opened }, verdict, first))
    });
    let (opened, verdict, first) = found.await.ok()?;
    let fields = fields(&opened, verdict, &content_type, cache_control.as_str());
    let body = match verdict.bytes(opened.len) {
        Some((next, end)) => ResponseBody::File(FilePart { file: Arc::new(opened.file), next, end, first }),
        None => ResponseBody::Empty,
    };
    Some(Response { head: ResponseHead::new(verdict.status(), fields), body })
}

/// Bytes from `from`, at most a piece and at most up to `end`. Fewer are allowed; none is an error: the file is shorter than before.
fn read_piece(file: &File, from: u64, end: u64, mut piece: Vec<u8>) -> io::Result<Vec<u8>> {
    piece.resize(to_usize(end - from).min(PIECE_BYTES), 0);
    let read = file.read_at(&mut piece, from)?;
    piece.truncate(read);
    if read == 0 && from < end { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(piece) }
}

fn fields(opened: &OpenFile, verdict: Verdict, content_type: &str, cache_control: &str) -> Fields {
    let mut fields = Fields::default();
    match verdict {
        Verdict::Whole | Verdict::Part(..) => {
            fields.push("Content-Type", content_type);
            if let Some(encoding) = opened.encoding {
                fields.push("Content-Encoding", encoding.token());
            }
            if let Verdict::Part(from, end) = verdict {
                fields.push("Content-Range", format!("bytes {from}-{}/{}", end - 1, opened.len));
            }
            fields.push("Accept-Ranges", "bytes");
        }
        Verdict::Unsatisfiable => fields.push("Content-Range", format!("bytes */{}", opened.len)),
        // RFC 9110 §15.4.5: a 304 carries what a cache would update.
        Verdict::NotModified | Verdict::Failed => {}
    }
    if !matches!(verdict, Verdict::Unsatisfiable | Verdict::Failed) {
        fields.push("ETag", &opened.etag);
        if let Some(modified) = opened.modified {
            fields.push("Last-Modified", httpdate::fmt_http_date(modified));
        }
        fields.push("Cache-Control", cache_control);
    }
    // Also where no such file lies there now: one may tomorrow, and caches remember this answer.
    fields.push("Vary", "Accept-Encoding");
    fields
}

/// Media type by file name. Text gets a charset, as clients would otherwise use the one of the reader's locale.
fn content_type(name: &Path) -> String {
    let guessed = mime_guess::from_path(name).first_raw().unwrap_or("application/octet-stream");
    if guessed.starts_with("text/") || guessed == "application/javascript" {
        format!("{guessed}; charset=utf-8")
    } else {
        guessed.to_owned()
    }
}

#[cfg(test)]
mod tests;
