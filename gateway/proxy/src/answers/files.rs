//! Files that the gateway sends itself: which request may mean one, and the answer that carries it.
//!
//! Whatever is no regular file below its directory is left to the app, which keeps its own routes and its own 404. File work
//! runs on tokio's blocking threads; a piece of at most [`PIECE_BYTES`] a connection is in memory. What decides is in
//! `path`, `encoding` and `conditions`, which know no file; `open` is all that touches the file system.

mod conditions;
mod encoding;
mod open;
mod path;

use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sluice_catalog::config;
use sluice_http1::{Method, RequestHead, Version};
use sluice_journal::Outcome;

use crate::front::client::Client;
use crate::gate::{Gate, to_usize};
use crate::receive::spool::blocking;
use crate::respond::Sent;
use conditions::{Conditions, Verdict};
use encoding::{Accepted, Encoding};
use open::Opened;

/// How much of a file is read and written at once.
const PIECE_BYTES: usize = 64 * 1024;
const CACHE_CONTROL_DEFAULT: &str = "public, max-age=0";

/// What the config says of files, put in the order in which requests ask.
pub(crate) struct Files {
    /// Longest prefix first, as below.
    dirs: Vec<(String, Arc<Path>)>,
    cache_control: Vec<(String, Arc<str>)>,
    precompressed: bool,
}

impl Files {
    /// # Errors
    /// When a directory is not there: says which.
    pub(crate) fn new(settings: &config::Files) -> Result<Self, String> {
        let mut dirs = Vec::new();
        for (prefix, dir) in &settings.paths {
            let is_dir = std::fs::metadata(dir)
                .and_then(|found| if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) });
            is_dir.map_err(|error| format!("files.paths: {prefix:?}: {dir}: {error}"))?;
            dirs.push((prefix.clone(), Arc::from(Path::new(dir))));
        }
        let mut cache_control: Vec<_> =
            settings.cache_control.iter().map(|(prefix, value)| (prefix.clone(), Arc::from(value.as_str()))).collect();
        dirs.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        cache_control.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        Ok(Files { dirs, cache_control, precompressed: settings.precompressed })
    }

    /// Where the file of this URL path would be, if it may be sent; nothing is looked up yet.
    pub(crate) fn find(&self, path: &str) -> Option<FilePath> {
        let (prefix, dir) = self.dirs.iter().find(|(prefix, _)| path.starts_with(prefix))?;
        let relative = path::relative(&path[prefix.len()..])?;
        let value = self.cache_control.iter().find(|(prefix, _)| path.starts_with(prefix)).map(|(_, value)| value);
        Some(FilePath { dir: Arc::clone(dir), relative, cache_control: value.cloned() })
    }
}

/// Where a file would be.
pub(crate) struct FilePath {
    dir: Arc<Path>,
    relative: PathBuf,
    cache_control: Option<Arc<str>>,
}

/// A file that is open, and what the request's conditions make of it.
pub(crate) struct Found {
    file: Arc<File>,
    content_type: String,
    encoding: Option<Encoding>,
    cache_control: Option<Arc<str>>,
    etag: String,
    modified: Option<SystemTime>,
    len: u64,
    verdict: Verdict,
    /// The beginning of what is sent, so that a small file takes one turn of a blocking thread.
    first: Vec<u8>,
}

/// Opens the file; `None` where there is none that may be sent, for whatever reason.
pub(crate) async fn look_up(gate: &Gate, path: FilePath, head: &RequestHead) -> Option<Found> {
    let is_head = head.method == Method::Head;
    let conditions = Conditions::of(&head.fields, is_head);
    let accepted = if gate.files.precompressed {
        Accepted::of(head.fields.get_all("accept-encoding"))
    } else {
        Accepted::default()
    };
    let FilePath { dir, relative, cache_control } = path;
    let content_type = content_type(&relative);
    let found = blocking(move || {
        let Opened { file, encoding, etag, modified, len } = open::open(&dir, &relative, accepted)?;
        let now = SystemTime::now();
        let modified = modified.filter(|at| (UNIX_EPOCH..=now).contains(at));
        let verdict = conditions.verdict(&etag, modified, len, now);
        let mut first = Vec::new();
        if !is_head && let Some((from, to)) = verdict.bytes(len) {
            first = read_piece(&file, from, to, first)?;
        }
        let file = Arc::new(file);
        Ok(Found { file, content_type, encoding, cache_control, etag, modified, len, verdict, first })
    });
    found.await.ok()
}

/// Sends the answer. Where the file ends before its announced end, so does the connection.
pub(crate) async fn respond(
    client: &mut Client,
    gate: &Gate,
    head: &RequestHead,
    request_id: &str,
    mut found: Found,
) -> Sent {
    let keep_alive = head.keep_alive && !gate.is_draining() && !client.is_spent();
    let status = found.verdict.status();
    let mut sent = Sent { outcome: Outcome::Edge, status, error: None, bytes_out: 0, keep_alive, upgraded: false };
    let bytes = found.verdict.bytes(found.len).filter(|_| head.method != Method::Head);
    let mut out = write_head(&found, gate, head.version, request_id, keep_alive).into_bytes();
    let mut piece = std::mem::take(&mut found.first);
    let timeout = Duration::from_millis(gate.config().server.send_timeout_ms);
    let (mut next, end) = bytes.unwrap_or_default();
    loop {
        out.extend_from_slice(&piece);
        if client.write_all(&out, timeout).await.is_err() {
            break;
        }
        out.clear();
        next += piece.len() as u64;
        sent.bytes_out += piece.len() as u64;
        if next >= end {
            return sent;
        }
        let file = Arc::clone(&found.file);
        let Ok(read) = blocking(move || read_piece(&file, next, end, piece)).await else { break };
        piece = read;
    }
    // The announced end is out of reach, and only the end of the connection can tell.
    sent.keep_alive = false;
    sent
}

/// The bytes from `from`, at most a piece and at most up to `end`. Fewer than asked for is fine, none is an error: the
/// file is shorter than it was.
fn read_piece(file: &File, from: u64, end: u64, mut piece: Vec<u8>) -> io::Result<Vec<u8>> {
    piece.resize(to_usize(end - from).min(PIECE_BYTES), 0);
    let read = file.read_at(&mut piece, from)?;
    piece.truncate(read);
    if read == 0 && from < end { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(piece) }
}

fn write_head(found: &Found, gate: &Gate, version: Version, request_id: &str, keep_alive: bool) -> String {
    let mut text = String::with_capacity(512);
    let _ = write!(text, "HTTP/1.1 {} {}\r\n", found.verdict.status(), found.verdict.reason());
    match found.verdict {
        Verdict::Whole | Verdict::Part(..) => {
            let _ = write!(text, "Content-Type: {}\r\n", found.content_type);
            if let Some(encoding) = found.encoding {
                let _ = write!(text, "Content-Encoding: {}\r\n", encoding.token());
            }
            let (from, end) = found.verdict.bytes(found.len).unwrap_or_default();
            let _ = write!(text, "Content-Length: {}\r\n", end - from);
            if let Verdict::Part(..) = found.verdict {
                let _ = write!(text, "Content-Range: bytes {from}-{}/{}\r\n", end - 1, found.len);
            }
            text.push_str("Accept-Ranges: bytes\r\n");
        }
        // RFC 9110 §15.4.5: a 304 carries what a cache would update, and no body that needs a length.
        Verdict::NotModified => {}
        Verdict::Unsatisfiable => {
            let _ = write!(text, "Content-Range: bytes */{}\r\nContent-Length: 0\r\n", found.len);
        }
        Verdict::Failed => text.push_str("Content-Length: 0\r\n"),
    }
    if !matches!(found.verdict, Verdict::Unsatisfiable | Verdict::Failed) {
        let _ = write!(text, "ETag: {}\r\n", found.etag);
        if let Some(modified) = found.modified {
            let _ = write!(text, "Last-Modified: {}\r\n", httpdate::fmt_http_date(modified));
        }
        let _ = write!(text, "Cache-Control: {}\r\n", found.cache_control.as_deref().unwrap_or(CACHE_CONTROL_DEFAULT));
    }
    if gate.files.precompressed {
        // Also where no such file lies there now: one may tomorrow, and caches remember this answer.
        text.push_str("Vary: Accept-Encoding\r\n");
    }
    let _ = write!(text, "X-Request-Id: {request_id}\r\nDate: {}\r\n", httpdate::fmt_http_date(SystemTime::now()));
    text.push_str(match (keep_alive, version) {
        (false, _) => "Connection: close\r\n\r\n",
        (true, Version::Http10) => "Connection: keep-alive\r\n\r\n",
        (true, Version::Http11) => "\r\n",
    });
    text
}

/// By the name, as browsers expect it; text without a charset would be read as whatever the reader's locale suggests.
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
