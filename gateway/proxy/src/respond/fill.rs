//! Bytes that one side writes in pieces and any number of readers read, each at its own pace: in memory first, then in a temporary
//! file. The writer waits for the disk at most, never for a reader (I2).
//!
//! A piece is there until every reader has had it, so the slowest one sets the watermark; one that leaves counts no more. What no
//! longer fits into memory goes to the file, and so does everything when a reader takes nothing for a while. Memory is used again
//! when the file has been read to its end. It must not know what the bytes mean.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use bytes::{Buf as _, Bytes};
use tokio::sync::{Mutex, MutexGuard};

use crate::ids::to_usize;
use crate::receive::memory::Held;
use crate::receive::spool::{TempFile, TempStore};

/// What a piece costs besides its bytes: its own allocation and its place in the list.
const PIECE_BYTES: usize = 128;
/// Shorter pieces that share their allocation with others are copied: they would keep all of it in memory.
const SHARED_BYTES_MIN: usize = 16 * 1024;
/// Pieces up to here are joined while nobody has taken them.
const JOINED_BYTES_MAX: usize = 4 * 1024;

/// What a reader gets next.
#[derive(Debug)]
pub(crate) enum Part {
    Data(Bytes),
    /// It waits in the file: [`Fill::read_back`]. What was set aside framed is to be sent as it is.
    Spilled {
        is_framed: bool,
    },
}

/// One reader of a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(usize);

pub(crate) struct Fill {
    store: Rc<TempStore>,
    memory_bytes_max: usize,
    file_bytes_max: u64,
    inner: RefCell<Inner>,
    /// Locked while something is appended, by either side.
    file: Mutex<Option<TempFile>>,
    /// Something was to be appended: until then nobody has locked the file, and most fills never need it.
    may_have_file: Cell<bool>,
}

struct Inner {
    pieces: VecDeque<Piece>,
    /// Bytes written in all.
    len: u64,
    held: Held,
    readers: Vec<Option<Place>>,
}

/// Bytes from `at` on, counted from the first that was written.
struct Piece {
    at: u64,
    data: Data,
}

enum Data {
    Memory(Bytes),
    File(Stretch),
}

/// A stretch of the file.
#[derive(Clone, Copy)]
struct Stretch {
    offset: u64,
    len: u64,
}

/// How far a reader has come.
#[derive(Default)]
struct Place {
    at: u64,
    /// In the file, and to be read before all else: what this reader had framed and could not send.
    framed: VecDeque<Stretch>,
}

impl Piece {
    fn end(&self) -> u64 {
        self.at
            + match &self.data {
                Data::Memory(data) => data.len() as u64,
                Data::File(stretch) => stretch.len,
            }
    }
}

fn cost(data: &Bytes) -> usize {
    data.len() + PIECE_BYTES
}

impl Fill {
    pub(crate) fn new(store: &Rc<TempStore>, memory_bytes_max: usize, file_bytes_max: u64) -> Self {
        let held = Held::of(&store.memory);
        Fill {
            store: Rc::clone(store),
            memory_bytes_max,
            file_bytes_max,
            inner: RefCell::new(Inner { pieces: VecDeque::new(), len: 0, held, readers: Vec::new() }),
            file: Mutex::default(),
            may_have_file: Cell::new(false),
        }
    }

    /// Bytes written in all.
    pub(crate) fn len(&self) -> u64 {
        self.inner.borrow().len
    }

    /// Bytes that are in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        let inner = self.inner.borrow();
        inner.in_memory().map(|(_, data)| data.len()).sum()
    }

    // The writer's side.

    /// Takes a piece. Nothing is kept where nobody reads.
    ///
    /// # Errors
    /// When the piece fits neither into memory nor into the file.
    pub(crate) async fn push(&self, data: Bytes) -> io::Result<()> {
        let Err(data) = self.push_to_memory(data) else { return Ok(()) };
        let mut file = self.lock().await;
        let stretch = self.append(&mut file, vec![data]).await?;
        let is_kept = self.inner.borrow_mut().push_stretch(stretch);
        if !is_kept {
            *file = None;
        }
        Ok(())
    }

    /// Gives the piece back where the bounds, or pieces in the file, stand against it.
    pub(crate) fn push_to_memory(&self, data: Bytes) -> Result<(), Bytes> {
        let is_appending = self.may_have_file.get() && self.file.try_lock().is_err();
        if is_appending { Err(data) } else { self.inner.borrow_mut().push_to_memory(data, self.memory_bytes_max) }
    }

    async fn lock(&self) -> MutexGuard<'_, Option<TempFile>> {
        self.may_have_file.set(true);
        self.file.lock().await
    }

    async fn append(&self, file: &mut Option<TempFile>, data: Vec<Bytes>) -> io::Result<Stretch> {
        let len = data.iter().map(|piece| piece.len() as u64).sum::<u64>();
        let offset = file.as_ref().map_or(0, TempFile::len);
        if offset + len > self.file_bytes_max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let mut opened = match file.take() {
            Some(file) => file,
            None => TempFile::create(&self.store).await?,
        };
        let appended = opened.append_all(data).await;
        *file = Some(opened);
        appended.map(|()| Stretch { offset, len })
    }

    // The readers' side.

    /// A reader of everything that is still there and of all that follows. What the first reader is to get must not be written
    /// before it is made.
    pub(crate) fn add_reader(&self) -> Key {
        let mut inner = self.inner.borrow_mut();
        let at = inner.pieces.front().map_or(inner.len, |piece| piece.at);
        let free = inner.readers.iter().position(Option::is_none).unwrap_or(inner.readers.len());
        if free == inner.readers.len() {
            inner.readers.push(None);
        }
        inner.readers[free] = Some(Place { at, ..Place::default() });
        Key(free)
    }

    /// This reader reads no more; what only it had still to get is given up.
    pub(crate) fn leave(&self, reader: Key) {
        let mut inner = self.inner.borrow_mut();
        if let Some(place) = inner.readers.get_mut(reader.0) {
            *place = None;
        }
        inner.drop_passed();
        drop(inner);
        self.is_appending();
    }

    /// What comes next for this reader, or `None` while there is nothing.
    pub(crate) fn next(&self, reader: Key) -> Option<Part> {
        self.inner.borrow_mut().next(reader)
    }

    /// Whether something is being appended to the file, so that more is to come. A file of which nothing is left to read is let go.
    pub(crate) fn is_appending(&self) -> bool {
        if !self.may_have_file.get() {
            return false;
        }
        let Ok(mut file) = self.file.try_lock() else { return true };
        if self.inner.borrow().is_read() {
            *file = None;
        }
        false
    }

    /// Whether the next bytes for this reader were set aside framed.
    pub(crate) fn has_framed(&self, reader: Key) -> bool {
        self.inner.borrow().readers.get(reader.0).and_then(Option::as_ref).is_some_and(|place| !place.framed.is_empty())
    }

    /// Reads what is in the file, up to `bytes_max` bytes.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) async fn read_back(&self, reader: Key, bytes_max: usize) -> io::Result<Bytes> {
        let (file, stretch) = {
            let file = self.file.lock().await;
            match (&*file, self.inner.borrow().stretch(reader)) {
                (Some(file), Some(stretch)) => (file.reader(), stretch),
                _ => return Ok(Bytes::new()),
            }
        };
        let data = file.read_at(stretch.offset, bytes_max.min(to_usize(stretch.len))).await?;
        self.inner.borrow_mut().advance(reader, data.len() as u64);
        Ok(data)
    }

    /// Moves what waits in memory to the file: a reader takes nothing for now. It had framed `rest`, which comes before all else
    /// for it.
    ///
    /// # Errors
    /// When the file cannot take it; nothing has changed then.
    pub(crate) async fn set_aside(&self, reader: Key, rest: &[u8]) -> io::Result<()> {
        let mut file = self.lock().await;
        let (at, mut data) = {
            let inner = self.inner.borrow();
            let at = inner.pieces.front().map_or(0, |piece| piece.at);
            (at, inner.in_memory().map(|(_, data)| data.clone()).collect::<Vec<_>>())
        };
        if !rest.is_empty() {
            data.insert(0, Bytes::copy_from_slice(rest));
        }
        if data.is_empty() {
            return Ok(());
        }
        let stretch = self.append(&mut file, data).await?;
        self.inner.borrow_mut().moved_to_file(reader, at, stretch, rest.len() as u64);
        Ok(())
    }

    /// Nobody reads any more.
    pub(crate) fn clear(&self) {
        let mut inner = self.inner.borrow_mut();
        inner.readers = Vec::new();
        inner.drop_passed();
        inner.pieces = VecDeque::new();
        drop(inner);
        self.is_appending();
    }
}

/// A reader of its own, which leaves when it is dropped.
pub(crate) struct FillReader {
    pub(crate) fill: Rc<Fill>,
    pub(crate) key: Key,
}

impl FillReader {
    pub(crate) fn new(fill: &Rc<Fill>) -> Self {
        FillReader { fill: Rc::clone(fill), key: fill.add_reader() }
    }

    /// What is next, if that is in memory.
    pub(crate) fn in_memory(&self) -> Option<Bytes> {
        match self.fill.next(self.key) {
            Some(Part::Data(data)) => Some(data),
            _ => None,
        }
    }

    /// The next bytes, at most so many of those that are in the file; `None` where nothing else was written.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) async fn read(&self, bytes_max: usize) -> io::Result<Option<Bytes>> {
        match self.fill.next(self.key) {
            None => Ok(None),
            Some(Part::Data(data)) => Ok(Some(data)),
            Some(Part::Spilled { .. }) => self.fill.read_back(self.key, bytes_max).await.map(Some),
        }
    }
}

impl Drop for FillReader {
    fn drop(&mut self) {
        self.fill.leave(self.key);
    }
}

impl Inner {
    /// Pieces in memory, which all stand before those in the file, and where each begins.
    fn in_memory(&self) -> impl Iterator<Item = (u64, &Bytes)> {
        self.pieces.iter().map_while(|piece| match &piece.data {
            Data::Memory(data) => Some((piece.at, data)),
            Data::File(_) => None,
        })
    }

    fn push_to_memory(&mut self, data: Bytes, own_bytes_max: usize) -> Result<(), Bytes> {
        let (at, len) = (self.len, data.len());
        if len == 0 || self.readers.iter().all(Option::is_none) {
            self.len += len as u64;
            return Ok(());
        }
        let last = self.pieces.back_mut();
        if last.as_ref().is_some_and(|last| matches!(last.data, Data::File(_))) {
            return Err(data);
        }
        if let Some(Piece { data: Data::Memory(last), .. }) = last
            && last.len() + len <= JOINED_BYTES_MAX
            && self.held.try_grow(len, own_bytes_max)
        {
            let mut joined = std::mem::take(last).try_into_mut().unwrap_or_else(|last| last[..].into());
            joined.extend_from_slice(&data);
            *last = joined.freeze();
        } else if self.held.try_grow(cost(&data), own_bytes_max) {
            let is_pinned = len < SHARED_BYTES_MIN && !data.is_unique();
            let data = if is_pinned { Bytes::copy_from_slice(&data) } else { data };
            self.pieces.push_back(Piece { at, data: Data::Memory(data) });
        } else {
            return Err(data);
        }
        self.len += len as u64;
        Ok(())
    }

    /// Whether anybody is left who will read it. What follows without a gap in the file is one piece.
    fn push_stretch(&mut self, stretch: Stretch) -> bool {
        let at = self.len;
        self.len += stretch.len;
        if self.readers.iter().all(Option::is_none) {
            return false;
        }
        match self.pieces.back_mut() {
            Some(Piece { data: Data::File(last), .. }) if last.offset + last.len == stretch.offset => {
                last.len += stretch.len;
            }
            _ => self.pieces.push_back(Piece { at, data: Data::File(stretch) }),
        }
        true
    }

    /// Whether nothing is left to read for anybody.
    fn is_read(&self) -> bool {
        self.pieces.is_empty() && self.readers.iter().flatten().all(|place| place.framed.is_empty())
    }

    /// The place of the piece that this offset stands in.
    fn index(&self, at: u64) -> usize {
        self.pieces.partition_point(|piece| piece.end() <= at)
    }

    fn next(&mut self, reader: Key) -> Option<Part> {
        let place = self.readers.get(reader.0)?.as_ref()?;
        if !place.framed.is_empty() {
            return Some(Part::Spilled { is_framed: true });
        }
        let at = place.at;
        let index = self.index(at);
        let piece = self.pieces.get(index)?;
        let Data::Memory(data) = &piece.data else { return Some(Part::Spilled { is_framed: false }) };
        let (begin, end) = (to_usize(at - piece.at), piece.end());
        let is_others = |(key, place): (usize, &Option<Place>)| {
            key != reader.0 && place.as_ref().is_some_and(|place| place.at < end)
        };
        let is_shared = index > 0 || self.readers.iter().enumerate().any(is_others);
        if is_shared {
            let data = data.slice(begin..);
            self.advance(reader, data.len() as u64);
            return Some(Part::Data(data));
        }
        // Nearly always: moved, as sharing would cost an allocation.
        let Some(Piece { data: Data::Memory(mut data), .. }) = self.pieces.pop_front() else { return None };
        self.held.shrink(cost(&data));
        data.advance(begin);
        self.readers[reader.0].as_mut()?.at = end;
        if self.pieces.is_empty() {
            self.pieces.shrink_to(8);
        }
        Some(Part::Data(data))
    }

    /// What this reader is to read of the file next.
    fn stretch(&self, reader: Key) -> Option<Stretch> {
        let place = self.readers.get(reader.0)?.as_ref()?;
        if let Some(framed) = place.framed.front() {
            return Some(*framed);
        }
        let piece = self.pieces.get(self.index(place.at))?;
        let Data::File(Stretch { offset, len }) = piece.data else { return None };
        let read = place.at - piece.at;
        Some(Stretch { offset: offset + read, len: len - read })
    }

    /// The reader has read so much.
    fn advance(&mut self, reader: Key, read: u64) {
        let Some(Some(place)) = self.readers.get_mut(reader.0) else { return };
        if let Some(framed) = place.framed.front_mut() {
            framed.offset += read;
            framed.len -= read;
            if framed.len == 0 {
                place.framed.pop_front();
            }
            return;
        }
        place.at += read;
        self.drop_passed();
    }

    /// Lets go of what every reader has had.
    fn drop_passed(&mut self) {
        let watermark = self.readers.iter().flatten().map(|place| place.at).min().unwrap_or(u64::MAX);
        while self.pieces.front().is_some_and(|piece| piece.end() <= watermark) {
            if let Some(Piece { data: Data::Memory(data), .. }) = self.pieces.pop_front() {
                self.held.shrink(cost(&data));
            }
        }
    }

    /// What was in memory from `at` on stands in the file now, behind `framed` bytes that are this reader's. The first of it may
    /// have been passed meanwhile.
    fn moved_to_file(&mut self, reader: Key, at: u64, stretch: Stretch, framed: u64) {
        let (offset, end) = (stretch.offset + framed, at + stretch.len - framed);
        if let Some(Some(place)) = self.readers.get_mut(reader.0)
            && framed > 0
        {
            place.framed.push_front(Stretch { offset: stretch.offset, len: framed });
        }
        let Some(first) = self.pieces.front().map(|piece| piece.at).filter(|first| *first < end) else { return };
        while self.pieces.front().is_some_and(|piece| piece.end() <= end) {
            if let Some(Piece { data: Data::Memory(data), .. }) = self.pieces.pop_front() {
                self.held.shrink(cost(&data));
            }
        }
        let moved = Stretch { offset: offset + (first - at), len: end - first };
        self.pieces.push_front(Piece { at: first, data: Data::File(moved) });
    }
}

#[cfg(test)]
#[path = "fill/tests.rs"]
mod tests;
