//! One file of the log: records, one behind the other.

use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::os::unix::fs::FileExt as _;

use bytes::Bytes;

use sluice_cache::{Moment, decode};

use super::folder::Folder;
use super::record::{self, FRONTS_BYTES, Kind, Next, PageMeta, PurgeMeta};
use crate::clock::clock_ms;

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: u64,
    file: File,
    pub(super) bytes: u64,
}

/// Condition in which a segment was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Whole.
    Sound,
    /// Segment whose last record was not written to its end.
    Torn,
    /// Another has written it, or it is not what was written.
    Useless,
}

/// Content of a record that stands behind the first one.
#[derive(Debug)]
pub(super) enum SegmentRecord {
    /// A page, and place and length of its body.
    Page(PageMeta, u64, u32),
    Purge(PurgeMeta),
}

impl Segment {
    /// Begins a new one. If that fails, nothing is left of it.
    pub(super) fn begin(folder: &Folder, number: u64, identity: &str) -> io::Result<Self> {
        let mut segment = Segment { number, file: folder.create(number)?, bytes: 0 };
        let begun = record::twice(Kind::Start, &identity).and_then(|record| segment.append(&record, &[]));
        match begun {
            Ok(_) => Ok(segment),
            Err(error) => {
                folder.remove(number)?;
                Err(error)
            }
        }
    }

    pub(super) fn open(folder: &Folder, number: u64) -> io::Result<Self> {
        let file = folder.open(number)?;
        let bytes = file.metadata()?.len();
        Ok(Segment { number, file, bytes })
    }

    /// Appends a record. Returns where its body stands. After an error nothing of it is there, or what counts as damage.
    pub(super) fn append(&mut self, head: &[u8], body: &[u8]) -> io::Result<u64> {
        let at = self.bytes + head.len() as u64;
        let written = self.file.write_all_at(head, self.bytes).and_then(|()| self.file.write_all_at(body, at));
        if let Err(error) = written {
            self.file.set_len(self.bytes)?;
            return Err(error);
        }
        self.bytes = at + body.len() as u64;
        Ok(at)
    }

    pub(super) fn read(&self, at: u64, len: u32) -> io::Result<Bytes> {
        let mut bytes = vec![0; len as usize];
        self.file.read_exact_at(&mut bytes, at)?;
        Ok(bytes.into())
    }

    /// Calls back for each record. What was torn off is taken away.
    pub(super) fn replay(&mut self, identity: &str, mut take: impl FnMut(SegmentRecord)) -> io::Result<Condition> {
        let mut input = BufReader::with_capacity(16 * 1024, &self.file);
        let mut at = input.seek(SeekFrom::Start(0))?;
        loop {
            let record = match record::next(&mut input, self.bytes - at)? {
                Next::Record(record) => record,
                Next::Damaged => return Ok(Condition::Useless),
                Next::End if at == self.bytes && at > 0 => return Ok(Condition::Sound),
                Next::End => {
                    self.file.set_len(at)?;
                    self.bytes = at;
                    return Ok(Condition::Torn);
                }
            };
            let body_at = at + FRONTS_BYTES as u64 + u64::from(record.meta_len);
            let is_first = at == 0;
            let meta = record.meta.as_deref();
            let said = match record.kind {
                Kind::Start => {
                    let is_ours = meta.and_then(record::read::<String>).as_deref() == Some(identity);
                    if !is_first || !is_ours {
                        return Ok(Condition::Useless);
                    }
                    None
                }
                Kind::Purge => meta.and_then(record::read).map(SegmentRecord::Purge),
                Kind::Page => {
                    let meta = match meta {
                        Some(meta) => record::read(meta),
                        None => self.meta_of(body_at, record.body_len),
                    };
                    meta.map(|meta| SegmentRecord::Page(meta, body_at, record.body_len))
                }
            };
            match said {
                Some(said) if !is_first => take(said),
                None if record.kind == Kind::Start => {}
                _ => return Ok(Condition::Useless),
            }
            input.seek_relative(i64::from(record.body_left))?;
            at = body_at + u64::from(record.body_len);
        }
    }

    /// Facts about a page, by the page itself.
    fn meta_of(&self, at: u64, len: u32) -> Option<PageMeta> {
        let page = decode(&self.read(at, len).ok()?, Moment::default(), clock_ms()).ok()?;
        Some(PageMeta::of(&page))
    }
}
