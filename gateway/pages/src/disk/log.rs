//! The log: its segments, and the book of what stands in them. A gateway that loses a purge may serve a page that was purged. So a segment
//! with a record that cannot be read takes along all before it, which a purge in it may have meant. A purge that cannot be written takes
//! along everything.

use std::collections::VecDeque;
use std::io;

use bytes::Bytes;

use super::book::{BodyExtent, Book, Entry};
use super::folder::{Folder, Lock};
use super::record::{self, Kind, PageMeta, PurgeMeta};
use super::segment::{Condition, Segment, SegmentRecord};

/// Number of segments of a full log; with more of them less goes at once.
const SEGMENTS: u64 = 32;
/// The smallest segment that another follows.
const SEGMENT_BYTES_MIN: u64 = 64 * 1024;
/// The part of the files' bytes that the book of them may take in memory.
const BOOK_SHARE: u64 = 16;
/// Least bound of the book.
const BOOK_BYTES_MIN: u64 = 1024 * 1024;

pub(super) struct Log {
    folder: Folder,
    identity: String,
    bytes_max: u64,
    segments: VecDeque<Segment>,
    book: Book,
    next_number: u64,
    /// Everything is to go, and could not be taken away yet.
    is_poisoned: bool,
    _lock: Lock,
}

impl Log {
    /// Reads what a gateway before this one has left. These purges came since.
    ///
    /// # Errors
    /// What the directory says.
    pub(super) fn open(
        (folder, lock): (Folder, Lock),
        identity: String,
        bytes_max: u64,
        purges: &[PurgeMeta],
    ) -> io::Result<Self> {
        let numbers = folder.segments()?;
        let mut log = Log {
            folder,
            identity,
            bytes_max,
            segments: VecDeque::new(),
            book: Book::default(),
            next_number: numbers.last().map_or(1, |last| last + 1),
            is_poisoned: false,
            _lock: lock,
        };
        let added = log.add_first(&numbers, purges);
        if added.is_err() {
            log.folder.clear()?;
            return Ok(log);
        }
        log.replay(&log.folder.segments()?)?;
        log.make_room(0)?;
        log.drop_dead()?;
        Ok(log)
    }

    /// Writes purges down before anything is read, so that they count even if this takes long and is never finished.
    fn add_first(&mut self, numbers: &[u64], purges: &[PurgeMeta]) -> io::Result<()> {
        if purges.is_empty() || numbers.is_empty() {
            return Ok(());
        }
        let mut segment = Segment::begin(&self.folder, self.next_number, &self.identity)?;
        self.next_number += 1;
        for purge in purges {
            segment.append(&record::twice(Kind::Purge, purge)?, &[])?;
        }
        Ok(())
    }

    fn replay(&mut self, numbers: &[u64]) -> io::Result<()> {
        for (nth, number) in numbers.iter().copied().enumerate() {
            let is_last = nth + 1 == numbers.len();
            if self.segments.back().is_some_and(|before| before.number + 1 != number) {
                self.drop_all()?;
            }
            let mut segment = Segment::open(&self.folder, number)?;
            let book = &mut self.book;
            let condition = segment.replay(&self.identity, |said| match said {
                SegmentRecord::Page(meta, at, len) => book.put(meta, BodyExtent { segment: number, at, len }),
                SegmentRecord::Purge(purged) => {
                    let keys = book.meant(&purged.purge);
                    book.purge(&purged, &keys);
                }
            })?;
            match condition {
                Condition::Sound => self.segments.push_back(segment),
                // One of which nothing is there but its name.
                Condition::Torn if is_last && segment.bytes == 0 => {
                    self.folder.remove(number)?;
                    self.next_number = number;
                }
                Condition::Torn if is_last => self.segments.push_back(segment),
                Condition::Torn | Condition::Useless => {
                    self.segments.push_back(segment);
                    self.drop_all()?;
                }
            }
        }
        Ok(())
    }

    /// Pages, and bytes on disk.
    pub(super) fn size(&self) -> (usize, u64) {
        (self.book.len(), self.bytes())
    }

    #[cfg(test)]
    pub(super) fn book_bytes(&self) -> usize {
        self.book.bytes()
    }

    fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// The variants of a page, the latest first.
    pub(super) fn variants(&self, key: &str) -> Vec<Entry> {
        self.book.variants(key).to_vec()
    }

    /// Reads a page's body.
    ///
    /// # Errors
    /// Error of the file.
    pub(super) fn read(&self, place: BodyExtent) -> io::Result<Bytes> {
        let segment = self.segments.iter().find(|segment| segment.number == place.segment);
        segment.ok_or(io::ErrorKind::NotFound)?.read(place.at, place.len)
    }

    /// Leaves out one that cannot be read.
    pub(super) fn forget(&mut self, key: &str, place: BodyExtent) {
        self.book.forget(key, place);
    }

    /// Writes a page. Returns whether there is room for one that large.
    ///
    /// # Errors
    /// What the disk says; the page is not there then.
    pub(super) fn put(&mut self, meta: PageMeta, body: &[u8]) -> io::Result<bool> {
        let head = record::head(Kind::Page, &meta, body.len())?;
        if self.is_poisoned || (head.len() + body.len()) as u64 > self.bytes_max / 2 {
            return Ok(false);
        }
        let (segment, at) = self.append(&head, body)?;
        let len = u32::try_from(body.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.book.put(meta, BodyExtent { segment, at, len });
        self.drop_dead()?;
        Ok(true)
    }

    /// Carries a purge out, so that it outlives this process when this returns.
    ///
    /// # Errors
    /// What the disk says. Nothing is used from then on until everything could be taken away.
    pub(super) fn purge(&mut self, purged: &PurgeMeta) -> io::Result<()> {
        let keys = self.book.meant(&purged.purge);
        if keys.is_empty() {
            return Ok(());
        }
        let appended = record::twice(Kind::Purge, purged).and_then(|record| self.append(&record, &[]));
        if let Err(error) = appended {
            self.clear()?;
            return Err(error);
        }
        self.book.purge(purged, &keys);
        self.drop_dead()
    }

    /// Takes everything away.
    ///
    /// # Errors
    /// What the disk says; it is to be tried again then.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.is_poisoned = true;
        self.book = Book::default();
        self.drop_all()?;
        self.is_poisoned = false;
        Ok(())
    }

    /// Whether it is to be cleared once more.
    pub(super) fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }

    fn append(&mut self, head: &[u8], body: &[u8]) -> io::Result<(u64, u64)> {
        let bytes = (head.len() + body.len()) as u64;
        self.make_room(bytes)?;
        let segment_bytes = (self.bytes_max / SEGMENTS).max(SEGMENT_BYTES_MIN);
        if self.segments.back().is_none_or(|last| last.bytes + bytes > segment_bytes) {
            let segment = Segment::begin(&self.folder, self.next_number, &self.identity)?;
            self.next_number += 1;
            self.segments.push_back(segment);
        }
        let segment = self.segments.back_mut().ok_or(io::ErrorKind::NotFound)?;
        Ok((segment.number, segment.append(head, body)?))
    }

    /// Lets the oldest go until there is room for so many bytes, and the book is short enough.
    fn make_room(&mut self, bytes: u64) -> io::Result<()> {
        while !self.segments.is_empty() && self.bytes() + bytes > self.bytes_max {
            self.drop_oldest()?;
        }
        let book_bytes_max = (self.bytes_max / BOOK_SHARE).max(BOOK_BYTES_MIN);
        while self.segments.len() > 1 && self.book.bytes() as u64 > book_bytes_max {
            self.drop_oldest()?;
        }
        Ok(())
    }

    /// Releases the oldest while nothing in them is useful. Those behind stay: what they have purged may stand before them.
    fn drop_dead(&mut self) -> io::Result<()> {
        while self.segments.len() > 1 && self.segments.front().is_some_and(|first| self.book.live(first.number) == 0) {
            self.drop_oldest()?;
        }
        Ok(())
    }

    fn drop_all(&mut self) -> io::Result<()> {
        while !self.segments.is_empty() {
            self.drop_oldest()?;
        }
        self.book = Book::default();
        Ok(())
    }

    fn drop_oldest(&mut self) -> io::Result<()> {
        let Some(oldest) = self.segments.front() else { return Ok(()) };
        self.folder.remove(oldest.number)?;
        self.book.forget_segment(oldest.number);
        self.segments.pop_front();
        Ok(())
    }
}
