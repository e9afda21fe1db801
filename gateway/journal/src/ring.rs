//! The last lines of the log, for `sluice logs`, and who follows them.
//!
//! A follower holds no queue of its own: it remembers which line it saw last and reads on from the ring. One that is too
//! slow finds lines gone and is told how many, so followers cost the same however far behind they are.

use std::collections::VecDeque;

use sluice_catalog::logfields::LineKind;

/// Log lines that are kept for those who ask later.
const LINES_MAX: usize = 2000;
/// All lines together. Lines are at most some tens of kilobytes, most of them a few hundred bytes.
const BYTES_MAX: usize = 2 * 1024 * 1024;
/// A dropped line's memory is taken for the next one, unless it is larger than this.
const SPARE_BYTES_MAX: usize = 1024;

/// Which lines somebody wants.
#[derive(Debug, Clone, Copy, Default)]
pub struct Filter {
    /// Only lines about this worker.
    pub worker: Option<u64>,
    /// Only lines of this kind.
    pub kind: Option<LineKind>,
}

struct Line {
    kind: LineKind,
    worker: Option<u64>,
    text: Vec<u8>,
}

impl Line {
    fn fits(&self, filter: &Filter) -> bool {
        filter.worker.is_none_or(|worker| self.worker == Some(worker))
            && filter.kind.is_none_or(|kind| self.kind == kind)
    }
}

#[derive(Default)]
pub(crate) struct Ring {
    lines: VecDeque<Line>,
    bytes: usize,
    /// The number of the first line that is still there; lines are numbered from 0.
    first: u64,
}

impl Ring {
    pub(crate) fn push(&mut self, kind: LineKind, worker: Option<u64>, text: &[u8]) {
        let mut spare = Vec::new();
        while self.lines.len() >= LINES_MAX || (self.bytes + text.len() > BYTES_MAX && !self.lines.is_empty()) {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.first += 1;
            self.bytes -= oldest.text.len();
            if oldest.text.capacity() <= SPARE_BYTES_MAX {
                spare = oldest.text;
            }
        }
        spare.clear();
        spare.extend_from_slice(text);
        self.bytes += text.len();
        self.lines.push_back(Line { kind, worker, text: spare });
    }

    /// The number that the next line will get.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    /// The number to begin at in order to get the last `count` lines that fit.
    pub(crate) fn back(&self, filter: &Filter, count: usize) -> u64 {
        let mut left = count;
        for (index, line) in self.lines.iter().enumerate().rev() {
            if left == 0 {
                return self.first + index as u64 + 1;
            }
            if line.fits(filter) {
                left -= 1;
            }
        }
        if count == 0 { self.end() } else { self.first }
    }

    /// Passes lines that fit to `take`, from number `from` on, until it has had `bytes_max` or there are no more. Returns
    /// the number to go on at, and how many lines were gone before they could be read.
    pub(crate) fn read(&self, filter: &Filter, from: u64, bytes_max: usize, mut take: impl FnMut(&[u8])) -> (u64, u64) {
        let missed = self.first.saturating_sub(from);
        let mut at = from.max(self.first);
        let skip = usize::try_from(at - self.first).unwrap_or(usize::MAX);
        let mut bytes = 0;
        for line in self.lines.iter().skip(skip) {
            if bytes >= bytes_max {
                break;
            }
            at += 1;
            if line.fits(filter) {
                bytes += line.text.len();
                take(&line.text);
            }
        }
        (at, missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(ring: &Ring, filter: &Filter, from: u64) -> (Vec<String>, u64, u64) {
        let mut lines = Vec::new();
        let (next, missed) =
            ring.read(filter, from, usize::MAX, |line| lines.push(String::from_utf8(line.to_vec()).unwrap()));
        (lines, next, missed)
    }

    #[test]
    fn only_the_last_lines_are_kept_and_a_slow_reader_is_told_what_it_missed() {
        let mut ring = Ring::default();
        for number in 0..LINES_MAX + 10 {
            ring.push(LineKind::Gateway, None, number.to_string().as_bytes());
        }
        let (lines, next, missed) = all(&ring, &Filter::default(), 3);
        assert_eq!((lines.len(), missed, next), (LINES_MAX, 7, ring.end()));
        assert_eq!(lines[0], "10");
    }

    #[test]
    fn large_lines_push_out_more_than_one() {
        let mut ring = Ring::default();
        for _ in 0..1000 {
            ring.push(LineKind::App, Some(1), &vec![b'x'; 16 * 1024]);
        }
        assert!(ring.bytes <= BYTES_MAX);
        assert_eq!(ring.lines.len(), BYTES_MAX / (16 * 1024));
    }

    #[test]
    fn the_last_lines_that_fit_are_found() {
        let mut ring = Ring::default();
        for number in 0..10_u64 {
            let kind = if number % 2 == 0 { LineKind::App } else { LineKind::Access };
            ring.push(kind, Some(number % 3), number.to_string().as_bytes());
        }
        let apps = Filter { kind: Some(LineKind::App), worker: None };
        assert_eq!(all(&ring, &apps, ring.back(&apps, 2)).0, ["6", "8"]);
        let of_one = Filter { kind: None, worker: Some(1) };
        assert_eq!(all(&ring, &of_one, ring.back(&of_one, 100)).0, ["1", "4", "7"]);
        assert_eq!(all(&ring, &apps, ring.back(&apps, 0)).0, Vec::<String>::new());
    }

    #[test]
    fn reading_stops_at_the_bound_and_goes_on_where_it_stopped() {
        let mut ring = Ring::default();
        for number in 10..20 {
            ring.push(LineKind::App, None, number.to_string().as_bytes());
        }
        let mut seen = 0;
        let (next, _) = ring.read(&Filter::default(), 0, 4, |_| seen += 1);
        assert_eq!((seen, next), (2, 2));
        assert_eq!(all(&ring, &Filter::default(), next).0[0], "12");
    }
}
