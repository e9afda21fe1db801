//! Libraries that keep their clients' state in a worker, and what to set about it. It must not know how clients find their worker.

use std::cell::RefCell;
use std::collections::BTreeSet;

use sluice_catalog::config::Sticky;
use sluice_journal::Level;

use super::record::ControlRecord;
use crate::Supervisor;
use crate::process::Process;

/// Maximum length of a path or name from a worker, bytes.
const WORD_BYTES_MAX: usize = 256;

/// Libraries of which the log has told.
#[derive(Debug, Default)]
pub(crate) struct StateNotes(RefCell<BTreeSet<&'static str>>);

impl Supervisor {
    /// Handles a worker's report that a library keeps state in it. The log tells of each library once, because all workers report the same.
    pub(crate) fn heard_state(&self, process: &Process, said: &ControlRecord) {
        let word = |text: &Option<String>| text.clone().filter(|text| (1..=WORD_BYTES_MAX).contains(&text.len()));
        let (mount, name) = (word(&said.mount), word(&said.name));
        if mount.is_some() || name.is_some() {
            self.gate.workers().keeps_clients(process.worker, mount.as_deref(), name.as_deref());
        }
        let workers = process.app.workers;
        if workers < 2 || said.shared || self.gate.config().sticky.by != Sticky::Off {
            return;
        }
        let Some((library, text)) = note(&said.library, workers) else { return };
        if self.state_notes.0.borrow_mut().insert(library) {
            self.note(Level::Warn, &text);
        }
    }
}

/// Library, and the line for the operator; `None` for one of a later version.
fn note(library: &str, workers: u32) -> Option<(&'static str, String)> {
    let (library, text) = match library {
        "express-session" => (
            "express-session",
            "keeps sessions in the memory of one worker (MemoryStore): visitors lose their session when another \
             worker answers. Use a store \
             that all workers share, or set sticky.by = \"cookie\" (sluice start --sticky cookie)",
        ),
        "memorystore" => (
            "memorystore",
            "keeps sessions in the memory of one worker: visitors lose their session when another worker answers. \
             Use a store that all \
             workers share, or set sticky.by = \"cookie\" (sluice start --sticky cookie)",
        ),
        "faye" => (
            "faye",
            "keeps clients and channels in the memory of one worker. Clients find their worker again by their address, but a message reaches \
             only the clients of the worker that gets it. Use an engine that all workers share (faye-redis), or one worker (--workers 1)",
        ),
        "colyseus" => (
            "colyseus",
            "keeps its list of rooms in the memory of one worker (LocalDriver). Connections go to the worker that has their room, but a \
             client finds only rooms of the worker that answers. Use RedisDriver and RedisPresence, or one worker (--workers 1)",
        ),
        "json-server" => (
            "json-server",
            "keeps its data in the memory of each worker: a worker does not see data that another worker stores, and \
             overwrites it. Use one worker \
             (--workers 1)",
        ),
        _ => return None,
    };
    Some((library, format!("{library} {text}. This pool has {workers} workers")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_gets_a_line_that_says_what_to_set() {
        for library in ["express-session", "memorystore", "faye", "colyseus", "json-server"] {
            let (named, text) = note(library, 3).unwrap();
            assert_eq!(named, library);
            assert!(text.starts_with(library) && text.ends_with(". This pool has 3 workers"), "{text}");
            assert!(text.contains("sticky.by") || text.contains("--workers 1"), "{text}");
        }
        assert_eq!(note("of-a-later-version", 3), None);
    }
}
