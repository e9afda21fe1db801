//! The last lines of the log, for `sluice logs`, and their followers.
//!
//! Lines that come with every request must not evict the reason of a crash, so each [`Part`] has its own bounds. Lines are
//! numbered through all parts, so that readers get them in order of arrival.
//!
//! A follower has no queue of its own: it remembers the line that it saw last, and resumes reading from the ring. A slow
//! follower gets the number of lines that were gone, so followers cost the same for any delay.

use std::collections::VecDeque;

use sluice_catalog::logfields::LineKind;

use crate::event::Level;

/// Maximum number of kept log lines of each part.
const LINES_MAX: usize = 2000;
/// Maximum size of a part's lines, bytes. A line has at most some tens of kilobytes, usually a few hundred bytes.
const BYTES_MAX: usize = 2 * 1024 * 1024;
/// Maximum size of a dropped line whose memory is reused, bytes.
const SPARE_BYTES_MAX: usize = 1024;

/// Parts of the ring.
const PARTS: usize = 4;

/// Maximum number of kept log lines of all parts.
pub const KEPT_LINES_MAX: usize = PARTS * LINES_MAX;

/// Lines that may evict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Part {
    /// Lines of requests.
    Access,
    /// Output of the app below warnings: often one line a request, too.
    Talk,
    /// Exceptions, warnings, and all output of the app on standard error.
    Faults,
    /// Actions of the gateway.
    Gateway,
}

impl Part {
    const ALL: [Self; PARTS] = [Self::Access, Self::Talk, Self::Faults, Self::Gateway];

    fn of(kind: LineKind, level: Level) -> Self {
        match (kind, level) {
            (LineKind::Access, _) => Self::Access,
            (LineKind::App, Level::Debug | Level::Info) => Self::Talk,
            (LineKind::App, Level::Warn | Level::Error) => Self::Faults,
            (LineKind::Gateway, _) => Self::Gateway,
        }
    }

    fn may_fit(self, filter: &Filter) -> bool {
        match filter.kind {
            None => true,
            Some(LineKind::Access) => self == Self::Access,
            Some(LineKind::App) => matches!(self, Self::Talk | Self::Faults),
            Some(LineKind::Gateway) => self == Self::Gateway,
        }
    }
}

/// Filter of the lines that a reader gets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter {
    /// Only lines about this worker.
    pub worker: Option<u64>,
    /// Only lines of this kind.
    pub kind: Option<LineKind>,
}

struct RingLine {
    /// Counts the lines of all parts.
    number: u64,
    kind: LineKind,
    worker: Option<u64>,
    text: Vec<u8>,
}

impl RingLine {
    fn fits(&self, filter: &Filter) -> bool {
        filter.worker.is_none_or(|worker| self.worker == Some(worker))
            && filter.kind.is_none_or(|kind| self.kind == kind)
    }
}

/// A place between two lines: how many lines of each part came before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RingCursor([u64; PARTS]);

/// The lines of a part.
#[derive(Default)]
struct PartLines {
    lines: VecDeque<RingLine>,
    bytes: usize,
    /// Lines that came before the first that is still there.
    gone: u64,
}

impl PartLines {
    fn push(&mut self, number: u64, kind: LineKind, worker: Option<u64>, text: &[u8]) {
        let mut spare = Vec::new();
        while self.lines.len() >= LINES_MAX || (self.bytes + text.len() > BYTES_MAX && !self.lines.is_empty()) {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.gone += 1;
            self.bytes -= oldest.text.len();
            if oldest.text.capacity() <= SPARE_BYTES_MAX {
                spare = oldest.text;
            }
        }
        spare.clear();
        spare.extend_from_slice(text);
        self.bytes += text.len();
        self.lines.push_back(RingLine { number, kind, worker, text: spare });
    }

    fn end(&self) -> u64 {
        self.gone + self.lines.len() as u64
    }

    /// The line at this place, if it is still there.
    fn line(&self, place: u64) -> Option<&RingLine> {
        self.lines.get(usize::try_from(place.checked_sub(self.gone)?).ok()?)
    }
}

#[derive(Default)]
pub(crate) struct Ring {
    parts: [PartLines; PARTS],
    lines_total: u64,
}

impl Ring {
    pub(crate) fn push(&mut self, kind: LineKind, level: Level, worker: Option<u64>, text: &[u8]) {
        self.parts[Part::of(kind, level) as usize].push(self.lines_total, kind, worker, text);
        self.lines_total += 1;
    }

    /// The place behind the latest line.
    pub(crate) fn end(&self) -> RingCursor {
        RingCursor(std::array::from_fn(|part| self.parts[part].end()))
    }

    /// The place to begin at in order to get the last `count` lines that fit.
    pub(crate) fn back(&self, filter: &Filter, count: usize) -> RingCursor {
        let RingCursor(mut at) = self.end();
        let mut left = count;
        while left > 0 {
            let before = |part: usize| {
                self.parts[part].line(at[part].checked_sub(1)?).map(|line| (line.number, part, line.fits(filter)))
            };
            let Some((_, part, fits)) = wanted(filter).filter_map(before).max() else { break };
            at[part] -= 1;
            left -= usize::from(fits);
        }
        RingCursor(at)
    }

    /// Passes lines that match the filter to `take`, from this place on, until it has had `bytes_max` or no line is left.
    /// Returns the place to resume at, and the number of lines that were gone before they could be read.
    pub(crate) fn read(
        &self,
        filter: &Filter,
        RingCursor(mut at): RingCursor,
        bytes_max: usize,
        mut take: impl FnMut(&[u8]),
    ) -> (RingCursor, u64) {
        let mut missed = 0;
        for part in wanted(filter) {
            missed += self.parts[part].gone.saturating_sub(at[part]);
            at[part] = at[part].max(self.parts[part].gone);
        }
        let mut bytes = 0;
        while bytes < bytes_max {
            let next = |part: usize| self.parts[part].line(at[part]).map(|line| (line.number, part));
            let Some((_, part)) = wanted(filter).filter_map(next).min() else { return (self.end(), missed) };
            if let Some(line) = self.parts[part].line(at[part]).filter(|line| line.fits(filter)) {
                bytes += line.text.len();
                take(&line.text);
            }
            at[part] += 1;
        }
        (RingCursor(at), missed)
    }
}

/// Parts in which lines may fit. Readers of the others' lines neither pass over theirs nor miss any.
fn wanted(filter: &Filter) -> impl Iterator<Item = usize> + use<> {
    let filter = *filter;
    Part::ALL.into_iter().filter(move |part| part.may_fit(&filter)).map(|part| part as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    const APPS: Filter = Filter { kind: Some(LineKind::App), worker: None };

    fn all(ring: &Ring, filter: &Filter, from: RingCursor) -> (Vec<String>, RingCursor, u64) {
        let mut lines = Vec::new();
        let (next, missed) =
            ring.read(filter, from, usize::MAX, |line| lines.push(String::from_utf8(line.to_vec()).unwrap()));
        (lines, next, missed)
    }

    fn push(ring: &mut Ring, kind: LineKind, worker: Option<u64>, text: &str) {
        ring.push(kind, Level::Info, worker, text.as_bytes());
    }

    #[test]
    fn only_the_last_lines_are_kept_and_a_slow_reader_is_told_what_it_missed() {
        let mut ring = Ring::default();
        for number in 0..3 {
            push(&mut ring, LineKind::Gateway, None, &number.to_string());
        }
        let from = ring.end();
        for number in 3..LINES_MAX + 10 {
            push(&mut ring, LineKind::Gateway, None, &number.to_string());
        }
        let (lines, next, missed) = all(&ring, &Filter::default(), from);
        assert_eq!((lines.len(), missed, next), (LINES_MAX, 7, ring.end()));
        assert_eq!(lines[0], "10");
    }

    #[test]
    fn neither_requests_nor_what_the_app_says_of_them_evict_an_exception() {
        let mut ring = Ring::default();
        ring.push(LineKind::App, Level::Error, Some(3), b"TypeError: boom");
        push(&mut ring, LineKind::Gateway, Some(3), "exited");
        for number in 0..5_000 {
            push(&mut ring, LineKind::Access, Some(4), &format!("access {number}"));
            push(&mut ring, LineKind::App, Some(4), &format!("served {number}"));
        }
        let (lines, ..) = all(&ring, &APPS, ring.back(&APPS, usize::MAX));
        assert_eq!((lines.len(), &*lines[0]), (LINES_MAX + 1, "TypeError: boom"));
        let of_worker = Filter { kind: None, worker: Some(3) };
        assert_eq!(all(&ring, &of_worker, ring.back(&of_worker, 10)).0, ["TypeError: boom", "exited"]);
    }

    #[test]
    fn lines_of_all_parts_come_in_their_order() {
        let mut ring = Ring::default();
        let kinds = [LineKind::App, LineKind::Access, LineKind::Gateway, LineKind::Access];
        for number in 0..40_usize {
            push(&mut ring, kinds[number % kinds.len()], None, &number.to_string());
        }
        let expected = |from: usize| (from..40).map(|number| number.to_string()).collect::<Vec<_>>();
        let any = Filter::default();
        assert_eq!(all(&ring, &any, RingCursor::default()).0, expected(0));
        assert_eq!(all(&ring, &any, ring.back(&any, 7)).0, expected(33));
    }

    #[test]
    fn followers_of_the_app_miss_nothing_by_requests() {
        let mut ring = Ring::default();
        let from = ring.end();
        push(&mut ring, LineKind::App, None, "said");
        for _ in 0..LINES_MAX + 10 {
            push(&mut ring, LineKind::Access, None, "access");
        }
        assert_eq!(all(&ring, &APPS, from), (vec!["said".to_owned()], ring.end(), 0));
        assert_eq!(all(&ring, &Filter::default(), from).2, 10);
    }

    #[test]
    fn large_lines_push_out_more_than_one() {
        let mut ring = Ring::default();
        let large = "x".repeat(16 * 1024);
        for _ in 0..1000 {
            push(&mut ring, LineKind::App, Some(1), &large);
        }
        let kept = &ring.parts[Part::Talk as usize];
        assert!(kept.bytes <= BYTES_MAX);
        assert_eq!(kept.lines.len(), BYTES_MAX / (16 * 1024));
    }

    #[test]
    fn the_last_lines_that_fit_are_found() {
        let mut ring = Ring::default();
        for number in 0..10_u64 {
            let kind = if number % 2 == 0 { LineKind::App } else { LineKind::Access };
            push(&mut ring, kind, Some(number % 3), &number.to_string());
        }
        assert_eq!(all(&ring, &APPS, ring.back(&APPS, 2)).0, ["6", "8"]);
        let of_one = Filter { kind: None, worker: Some(1) };
        assert_eq!(all(&ring, &of_one, ring.back(&of_one, 100)).0, ["1", "4", "7"]);
        assert_eq!(all(&ring, &APPS, ring.back(&APPS, 0)).0, Vec::<String>::new());
    }

    #[test]
    fn reading_stops_at_the_bound_and_goes_on_where_it_stopped() {
        let mut ring = Ring::default();
        for number in 10..20 {
            push(&mut ring, LineKind::App, None, &number.to_string());
        }
        let mut seen = 0;
        let (next, _) = ring.read(&Filter::default(), RingCursor::default(), 4, |_| seen += 1);
        assert_eq!(seen, 2);
        assert_eq!(all(&ring, &Filter::default(), next).0[0], "12");
    }
}
