//! Bytes that outgrow memory: temporary files without names, under one bound for the whole gateway. Bytes in memory are under another bound
//! ([`Memory`]).

mod closer;

use std::cell::Cell;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use sluice_catalog::config::Config;

use crate::ids::to_usize;
use crate::receive::memory::Memory;
use closer::{Closer, DescriptorCount, SpoolFile};

/// Directory of temporary files.
pub fn temp_dir(config: &Config) -> PathBuf {
    config.temp.dir.as_ref().map_or_else(std::env::temp_dir, PathBuf::from)
}

/// Creates a temporary file as a large body would, and closes it.
///
/// # Errors
/// Error of the file system.
pub fn try_temp_dir(config: &Config) -> io::Result<()> {
    tempfile::tempfile_in(temp_dir(config)).map(drop)
}

/// Directory of temporary files, and the limits on their bytes and number.
pub struct TempStore {
    /// Memory of all bodies and answers.
    pub memory: Rc<Memory>,
    dir: PathBuf,
    bytes_max: u64,
    used_bytes: Cell<u64>,
    files_max: Cell<usize>,
    files: Arc<AtomicUsize>,
    closer: Arc<Closer>,
    failure: Cell<Option<io::Error>>,
}

impl TempStore {
    /// Store of at most `bytes_max` bytes in files of `dir`, and `memory_bytes_max` bytes in memory.
    pub fn new(dir: PathBuf, bytes_max: u64, memory_bytes_max: usize) -> Rc<Self> {
        Rc::new(TempStore {
            memory: Memory::new(memory_bytes_max),
            dir,
            bytes_max,
            used_bytes: Cell::new(0),
            files_max: Cell::new(usize::MAX),
            files: Arc::default(),
            closer: Arc::default(),
            failure: Cell::new(None),
        })
    }

    /// Sets the most files that may be open at once: each takes a descriptor, which others may need.
    pub fn set_files_max(&self, files_max: u64) {
        self.files_max.set(to_usize(files_max));
    }

    /// Last error of a temporary file since the previous call, for the operator.
    pub fn take_failure(&self) -> Option<io::Error> {
        self.failure.take()
    }

    fn told<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.failure.set(Some(io::Error::new(error.kind(), error.to_string())));
        }
        result
    }

    /// Bytes in temporary files now.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.get()
    }

    /// Reserves bytes, if the bound leaves room.
    fn take(&self, bytes: u64) -> bool {
        let grown = self.used_bytes.get().checked_add(bytes).filter(|used| *used <= self.bytes_max);
        self.used_bytes.update(|used| grown.unwrap_or(used));
        grown.is_some()
    }

    fn give_back(&self, bytes: u64) {
        self.used_bytes.update(|used| used.saturating_sub(bytes));
    }
}

/// A file without a name: it is deleted with its last handle, even when the gateway is killed.
pub(crate) struct TempFile {
    opened: Arc<SpoolFile>,
    len: u64,
    store: Rc<TempStore>,
}

impl TempFile {
    /// # Errors
    /// Fails if the directory cannot be written.
    pub(crate) async fn create(store: &Rc<TempStore>) -> io::Result<Self> {
        if store.files.load(Ordering::Relaxed) >= store.files_max.get() {
            return store
                .told(Err(io::Error::new(io::ErrorKind::StorageFull, "no more files may be open (ulimit -n)")));
        }
        let dir = store.dir.clone();
        let (counted, closer) = (DescriptorCount::of(&store.files), Arc::clone(&store.closer));
        let opened = blocking(move || Ok(SpoolFile::new(tempfile::tempfile_in(dir)?, counted, closer))).await;
        let opened = store.told(opened)?;
        Ok(TempFile { opened: Arc::new(opened), len: 0, store: Rc::clone(store) })
    }

    /// Bytes in the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.len
    }

    /// Appends the pieces in turn.
    ///
    /// # Errors
    /// `StorageFull` when the gateway's own bound is reached; else what the file system says. The file then still holds
    /// what it held before. Where this future is dropped before its end, the room of the pieces is taken and nothing refers to it:
    /// a thread may still write there.
    pub(crate) async fn append_all(&mut self, pieces: Vec<Bytes>) -> io::Result<()> {
        let added = pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        if !self.store.take(added) {
            return self.store.told(Err(io::Error::new(io::ErrorKind::StorageFull, "temp.bytes_max is reached")));
        }
        let (opened, at) = (Arc::clone(&self.opened), self.len);
        self.len += added;
        let written = blocking(move || {
            let (file, mut at) = (opened.file()?, at);
            for piece in pieces {
                file.write_all_at(&piece, at)?;
                at += piece.len() as u64;
            }
            Ok(())
        })
        .await;
        if written.is_err() {
            self.len -= added;
            self.store.give_back(added);
        }
        self.store.told(written)
    }

    /// Handle for reading while another task appends.
    pub(crate) fn reader(&self) -> TempReader {
        TempReader { opened: Arc::clone(&self.opened) }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.store.give_back(self.len);
    }
}

/// Reads a [`TempFile`].
#[derive(Clone)]
pub(crate) struct TempReader {
    opened: Arc<SpoolFile>,
}

impl TempReader {
    /// Reads up to `bytes_max` bytes from `offset`; the caller asks only for bytes that were appended.
    ///
    /// # Errors
    /// Error of the file system.
    pub(crate) async fn read_at(&self, offset: u64, bytes_max: usize) -> io::Result<Bytes> {
        let opened = Arc::clone(&self.opened);
        blocking(move || {
            let mut data = vec![0; bytes_max];
            let read = opened.file()?.read_at(&mut data, offset)?;
            data.truncate(read);
            if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Bytes::from(data)) }
        })
        .await
    }
}

/// Runs file work on tokio's pool of blocking threads, so that a slow disk delays no other task.
///
/// # Errors
/// Those of the work.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|join| Err(io::Error::other(join)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(bytes_max: u64) -> Rc<TempStore> {
        TempStore::new(std::env::temp_dir(), bytes_max, 1 << 20)
    }

    #[tokio::test]
    async fn files_open_at_once_are_bounded() {
        let store = store(1000);
        store.set_files_max(1);
        let first = TempFile::create(&store).await.unwrap();
        assert!(TempFile::create(&store).await.is_err());
        drop(first);
        while TempFile::create(&store).await.is_err() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn dropping_a_file_does_not_wait_until_it_is_closed() {
        /// Test double of a file that the disk takes long to free.
        struct Slow(std::sync::mpsc::Receiver<()>);
        impl Drop for Slow {
            fn drop(&mut self) {
                let _ = self.0.recv();
            }
        }
        let store = store(1000);
        let file = TempFile::create(&store).await.unwrap();
        let (freed, slow) = std::sync::mpsc::channel();
        store.closer.close(Box::new(Slow(slow)));
        drop(file);
        assert_eq!(store.files.load(Ordering::Relaxed), 1, "it is open until its turn comes");
        freed.send(()).unwrap();
        while store.files.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn i6_bound_of_all_files_together_is_an_error_and_loses_nothing() {
        let store = store(10);
        let mut file = TempFile::create(&store).await.unwrap();
        file.append_all(vec![Bytes::from_static(b"12345678")]).await.unwrap();
        let full = file.append_all(vec![Bytes::from_static(b"abc")]).await.unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        assert_eq!((file.bytes(), store.used_bytes()), (8, 8));
    }
}
