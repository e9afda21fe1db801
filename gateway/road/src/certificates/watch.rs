//! Watches the certificates' files, and serves their new contents.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use sluice_journal::{Event, Level};

use crate::road::Road;
use sluice_wire::front::tls::{Certificates, Stamp, stamps};

/// Pause between two checks of the files.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Watches the files for ever. Files that cannot be used leave the certificates as they are, and are reported once.
pub async fn run(road: Rc<Road>) {
    let mut broken = FileFault::default();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let config = road.config();
        // Another gateway that has taken over looks for itself.
        let Some(in_force) = road.settings.certificates().filter(|_| !road.lobby.is_draining()) else { continue };
        let (config, known) = (config.as_ref().clone(), Arc::clone(&in_force));
        let read = move || {
            let seen = stamps(&config);
            (seen != known.stamps()).then(|| (seen, Certificates::read(&config)))
        };
        let Ok(Some((seen, read))) = tokio::task::spawn_blocking(read).await else {
            broken = FileFault::default();
            continue;
        };
        // A reload may have come in between, and has read the files itself.
        if road.settings.certificates().is_none_or(|now| !Arc::ptr_eq(&now, &in_force)) {
            continue;
        }
        match read {
            Ok(Some(certificates)) => {
                broken = FileFault::default();
                road.serve_certificates(Arc::new(certificates));
                let text = "certificate files have changed: new connections get the new certificates";
                road.observer.emit(Event::Note { level: Level::Info, text });
            }
            Err(error) if broken.is_to_be_told(seen) => {
                let text = format!("certificates are unchanged: {} {error}", error.key());
                road.observer.emit(Event::Note { level: Level::Error, text: &text });
            }
            Ok(None) | Err(_) => {}
        }
    }
}

/// State of files that could not be used.
#[derive(Default)]
struct FileFault {
    seen: Option<Vec<Option<Stamp>>>,
    is_told: bool,
}

impl FileFault {
    /// Whether to report the files, which is at the second failure with the same state: a certificate and its key are
    /// not written in one moment.
    fn is_to_be_told(&mut self, seen: Vec<Option<Stamp>>) -> bool {
        if self.seen.as_ref() != Some(&seen) {
            *self = FileFault { seen: Some(seen), is_told: false };
            return false;
        }
        !std::mem::replace(&mut self.is_told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_files_are_told_of_once_and_not_while_they_are_written() {
        let mut broken = FileFault::default();
        assert!(!broken.is_to_be_told(vec![None, None]));
        assert!(!broken.is_to_be_told(vec![None]));
        assert!(broken.is_to_be_told(vec![None]));
        assert!(!broken.is_to_be_told(vec![None]));
    }
}
