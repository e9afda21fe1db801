//! Pages that were answered lately, in constant memory. A page that other clients get is not quarantined for all.

use std::time::Duration;

use tokio::time::Instant;

/// Pages that are remembered; two with the same place replace each other.
const PLACES: usize = 1024;
const LATELY: Duration = Duration::from_secs(600);

/// See the module's text.
pub(crate) struct AnswerMarks {
    places: Box<[Option<(u64, Instant)>]>,
}

impl Default for AnswerMarks {
    fn default() -> Self {
        AnswerMarks { places: vec![None; PLACES].into() }
    }
}

impl AnswerMarks {
    pub(crate) fn note(&mut self, route: u64, now: Instant) {
        self.places[place(route)] = Some((route, now));
    }

    pub(crate) fn lately(&self, route: u64, now: Instant) -> bool {
        let noted = self.places[place(route)];
        noted.is_some_and(|(of, at)| of == route && now.saturating_duration_since(at) < LATELY)
    }

    /// Forgets all pages, because another version of the app serves.
    pub(crate) fn forget(&mut self) {
        self.places.fill(None);
    }
}

fn place(route: u64) -> usize {
    usize::try_from(route % PLACES as u64).unwrap_or(0)
}
