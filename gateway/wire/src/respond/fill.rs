//! Bytes that one side writes in pieces and any number of readers read, each at its own pace: in memory first, then in a temporary file.
//! The writer waits for the disk at most, never for a reader (I2).
//!
//! A piece is stored until every reader has had it, so the slowest one sets the watermark; one that leaves counts no more. Pieces that no
//! longer fit into memory go to the file, and so do all when a reader takes nothing for a while. Memory is used again when the file has
//! been read to its end. It must not know what the bytes mean.

mod pieces;

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use tokio::sync::{Mutex, MutexGuard};

use crate::ids::to_usize;
use crate::receive::memory::MemoryHold;
use crate::receive::spool::{TempFile, TempStore};
pub use pieces::{Key, Part};
use pieces::{Pieces, Stretch};

/// A body that is written once, and read by one or many.
pub struct Fill {
    store: Rc<TempStore>,
    memory_bytes_max: usize,
    file_bytes_max: u64,
    pieces: RefCell<Pieces>,
    /// Locked while something is appended, by either side.
    file: Mutex<Option<TempFile>>,
    /// An append was started. Until then no side has locked the file, and most fills never need it.
    may_have_file: Cell<bool>,
    /// A piece is on its way to the file. If its writer was cancelled meanwhile, this stays set: the piece is lost, and none may follow it.
    is_pushing: Cell<bool>,
}

impl Fill {
    /// Body that may take these many bytes in memory, and in a file.
    pub fn new(store: &Rc<TempStore>, memory_bytes_max: usize, file_bytes_max: u64) -> Self {
        let held = MemoryHold::of(&store.memory);
        Fill {
            store: Rc::clone(store),
            memory_bytes_max,
            file_bytes_max,
            pieces: RefCell::new(Pieces::new(held)),
            file: Mutex::default(),
            may_have_file: Cell::new(false),
            is_pushing: Cell::new(false),
        }
    }

    /// Bytes written in all.
    pub fn bytes(&self) -> u64 {
        self.pieces.borrow().len()
    }

    /// Bytes that are in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.pieces.borrow().in_memory().map(|(_, data)| data.len()).sum()
    }

    // The writer's side.

    /// Takes a piece. It is dropped if there are no readers.
    ///
    /// # Errors
    /// When the piece fits neither into memory nor into the file, or one before it was lost.
    pub async fn push(&self, data: Bytes) -> io::Result<()> {
        let Err(data) = self.push_to_memory(data) else { return Ok(()) };
        if self.has_lost() {
            return Err(io::Error::other("a piece before this one was lost"));
        }
        self.is_pushing.set(true);
        let mut file = self.lock().await;
        let appended = self.append(&mut file, vec![data]).await;
        self.is_pushing.set(false);
        let is_kept = self.pieces.borrow_mut().push_stretch(appended?);
        if !is_kept {
            *file = None;
        }
        Ok(())
    }

    /// Takes a piece into memory. Returns the piece if the bounds or pieces in the file prevent that.
    ///
    /// # Errors
    /// Returns the piece.
    pub(crate) fn push_to_memory(&self, data: Bytes) -> Result<(), Bytes> {
        let is_appending = self.may_have_file.get() && self.file.try_lock().is_err();
        if is_appending || self.has_lost() {
            Err(data)
        } else {
            self.pieces.borrow_mut().push_to_memory(data, self.memory_bytes_max)
        }
    }

    /// Whether a writer that was cancelled has lost a piece. It must not be asked while something is being pushed.
    pub(crate) fn has_lost(&self) -> bool {
        self.is_pushing.get()
    }

    async fn lock(&self) -> MutexGuard<'_, Option<TempFile>> {
        self.may_have_file.set(true);
        self.file.lock().await
    }

    async fn append(&self, file: &mut Option<TempFile>, data: Vec<Bytes>) -> io::Result<Stretch> {
        let len = data.iter().map(|piece| piece.len() as u64).sum::<u64>();
        let offset = file.as_ref().map_or(0, TempFile::bytes);
        if offset + len > self.file_bytes_max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let opened = match file {
            Some(opened) => opened,
            // It stays in its place whatever becomes of this future: readers have more to read in it.
            None => file.insert(TempFile::create(&self.store).await?),
        };
        opened.append_all(data).await?;
        Ok(Stretch { offset, len })
    }

    // The readers' side.

    /// Adds a reader of everything that is still there and of all that follows. It must be made before the first reader's bytes are
    /// written.
    pub fn add_reader(&self) -> Key {
        self.pieces.borrow_mut().add_reader()
    }

    /// Removes a reader, and drops the pieces that only this reader had still to get.
    pub fn leave(&self, reader: Key) {
        self.pieces.borrow_mut().leave(reader);
        self.is_appending();
    }

    /// Bytes that this reader has not had.
    pub(crate) fn unread_bytes(&self, reader: Key) -> u64 {
        self.pieces.borrow().unread_bytes(reader)
    }

    /// Next part for this reader, or `None` while there is none.
    pub(crate) fn next(&self, reader: Key) -> Option<Part> {
        self.pieces.borrow_mut().next(reader)
    }

    /// Whether data is being appended to the file, so that more is to come. A file with nothing left to read is closed.
    pub(crate) fn is_appending(&self) -> bool {
        if !self.may_have_file.get() {
            return false;
        }
        let Ok(mut file) = self.file.try_lock() else { return true };
        if self.pieces.borrow().is_read() {
            *file = None;
        }
        false
    }

    /// Whether the next bytes for this reader were set aside framed.
    pub(crate) fn has_framed(&self, reader: Key) -> bool {
        self.pieces.borrow().has_framed(reader)
    }

    /// Reads up to `bytes_max` bytes from the file.
    ///
    /// # Errors
    /// Error of the file system, also if the file has nothing for this reader.
    pub(crate) async fn read_back(&self, reader: Key, bytes_max: usize) -> io::Result<Bytes> {
        let (file, stretch) = {
            let file = self.file.lock().await;
            match (&*file, self.pieces.borrow().stretch(reader)) {
                (Some(file), Some(stretch)) => (file.reader(), stretch),
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        };
        let data = file.read_at(stretch.offset, bytes_max.min(to_usize(stretch.len))).await?;
        self.pieces.borrow_mut().advance(reader, data.len() as u64);
        Ok(data)
    }

    /// Moves waiting bytes from memory to the file: a reader takes nothing for now. It had framed `rest`, which comes first for it.
    ///
    /// # Errors
    /// Fails if the file cannot take them; nothing has changed then.
    pub(crate) async fn set_aside(&self, reader: Key, rest: &[u8]) -> io::Result<()> {
        let mut file = self.lock().await;
        let (at, mut data) = {
            let pieces = self.pieces.borrow();
            (pieces.first(), pieces.in_memory().map(|(_, data)| data.clone()).collect::<Vec<_>>())
        };
        if !rest.is_empty() {
            data.insert(0, Bytes::copy_from_slice(rest));
        }
        if data.is_empty() {
            return Ok(());
        }
        let stretch = self.append(&mut file, data).await?;
        self.pieces.borrow_mut().moved_to_file(reader, at, stretch, rest.len() as u64);
        Ok(())
    }
}

/// A reader with its own position, which leaves when it is dropped.
pub struct FillReader {
    /// The body.
    pub(crate) fill: Rc<Fill>,
    /// Key of the reader.
    pub(crate) key: Key,
}

impl FillReader {
    /// Adds a reader, from the first byte on.
    pub fn new(fill: &Rc<Fill>) -> Self {
        FillReader { fill: Rc::clone(fill), key: fill.add_reader() }
    }

    /// Next piece, if it is in memory.
    pub fn in_memory(&self) -> Option<Bytes> {
        match self.fill.next(self.key) {
            Some(Part::Data(data)) => Some(data),
            _ => None,
        }
    }

    /// Next bytes, at most `bytes_max` of those that are in the file; `None` if nothing else was written.
    ///
    /// # Errors
    /// Error of the file system.
    pub async fn read(&self, bytes_max: usize) -> io::Result<Option<Bytes>> {
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

#[cfg(test)]
#[path = "fill/tests.rs"]
mod tests;
