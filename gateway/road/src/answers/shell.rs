//! The shell: a page without content, for the browser to fill, in place of a 503. It comes from a file, or from the app.
//!
//! This module stores shells. `given` sends one, and asks the app for its own. This must not know who asks.

pub(crate) mod given;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read as _};

use bytes::Bytes;
use sluice_catalog::config;
use sluice_message::Fields;
use tokio::time::Instant;

use crate::unusable::Unusable;

/// Maximum size of a shell, bytes.
const SHELL_BYTES_MAX: usize = 1024 * 1024;

/// A shell, as it is sent.
#[derive(Clone)]
struct Shell {
    fields: Fields,
    body: Bytes,
}

/// Shells that the config names as files, by the beginning of the path.
pub(crate) struct ShellFiles(BTreeMap<String, Shell>);

impl ShellFiles {
    /// # Errors
    /// Fails if a file cannot be read or is too large, and names it.
    pub(crate) fn read(settings: &config::Shell) -> Result<Self, Unusable> {
        let shells = settings.files.iter().map(|(prefix, file)| {
            let body =
                read(file).map_err(|source| Unusable::Shell { prefix: prefix.clone(), file: file.clone(), source })?;
            let fields = [("Content-Type", &b"text/html; charset=utf-8"[..])];
            Ok((prefix.clone(), Shell { fields: sent_with(&fields.into_iter().collect()), body }))
        });
        shells.collect::<Result<_, _>>().map(ShellFiles)
    }
}

fn read(file: &str) -> io::Result<Bytes> {
    let mut body = Vec::new();
    std::fs::File::open(file)?.take(SHELL_BYTES_MAX as u64 + 1).read_to_end(&mut body)?;
    if body.len() > SHELL_BYTES_MAX { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(body.into()) }
}

/// Shells that the app has given, and the version that gave them.
#[derive(Default)]
pub(crate) struct Shells(RefCell<ShellState>);

#[derive(Default)]
struct ShellState {
    /// Shells by the beginning of the path.
    shells: BTreeMap<String, Shell>,
    /// The version of the app, and the paths that it was asked for.
    asked: Option<(u64, BTreeMap<String, String>)>,
    /// Time of the next attempt, after a failed one.
    again: Option<Instant>,
}

/// Fields of a shell that may always be sent to any client.
fn sent_with(fields: &Fields) -> Fields {
    const DROPPED: [&str; 10] = [
        "age",
        "cache-control",
        "content-length",
        "date",
        "etag",
        "expires",
        "last-modified",
        "set-cookie",
        "trailer",
        "vary",
    ];
    let mut fields = fields.clone();
    fields.retain(|name, _| !DROPPED.iter().any(|dropped| name.eq_ignore_ascii_case(dropped)));
    fields.push("Cache-Control", "no-store");
    // A search engine must not take it for the page.
    fields.push("X-Robots-Tag", "noindex");
    fields
}
