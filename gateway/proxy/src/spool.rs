//! Bytes that outgrow memory: temporary files that have no name, under one bound for the whole gateway.

use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

/// Where temporary files go, and how much they may hold together.
pub(crate) struct TempStore {
    dir: PathBuf,
    bytes_max: u64,
    used_bytes: Cell<u64>,
    failure: Cell<Option<io::Error>>,
}

impl TempStore {
    pub(crate) fn new(dir: PathBuf, bytes_max: u64) -> Rc<Self> {
        Rc::new(TempStore { dir, bytes_max, used_bytes: Cell::new(0), failure: Cell::new(None) })
    }

    /// What last went wrong, if anything has since this was asked; for the operator.
    pub(crate) fn take_failure(&self) -> Option<io::Error> {
        self.failure.take()
    }

    fn told<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result {
            self.failure.set(Some(io::Error::new(error.kind(), error.to_string())));
        }
        result
    }

    /// Bytes in temporary files now.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used_bytes.get()
    }
}

/// A file without a name: it is gone with the last handle, also when the gateway is killed.
pub(crate) struct TempFile {
    file: Arc<File>,
    len: u64,
    store: Rc<TempStore>,
}

impl TempFile {
    /// # Errors
    /// When the directory cannot be written.
    pub(crate) async fn create(store: &Rc<TempStore>) -> io::Result<Self> {
        let dir = store.dir.clone();
        let file = store.told(blocking(move || tempfile::tempfile_in(dir)).await)?;
        Ok(TempFile { file: Arc::new(file), len: 0, store: Rc::clone(store) })
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// # Errors
    /// `StorageFull` when the gateway's own bound is reached; else what the file system says. The file then still holds
    /// what it held before.
    pub(crate) async fn append(&mut self, data: Bytes) -> io::Result<()> {
        let added = data.len() as u64;
        let used_bytes = self.store.used_bytes.get() + added;
        if used_bytes > self.store.bytes_max {
            return self.store.told(Err(io::Error::new(io::ErrorKind::StorageFull, "temp.bytes_max is reached")));
        }
        self.store.used_bytes.set(used_bytes);
        let (file, at) = (Arc::clone(&self.file), self.len);
        self.len += added;
        let written = blocking(move || file.write_all_at(&data, at)).await;
        if written.is_err() {
            self.len -= added;
            self.store.used_bytes.set(self.store.used_bytes.get() - added);
        }
        self.store.told(written)
    }

    /// A handle to read with while another task appends.
    pub(crate) fn reader(&self) -> TempReader {
        TempReader { file: Arc::clone(&self.file) }
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        self.store.used_bytes.set(self.store.used_bytes.get().saturating_sub(self.len));
    }
}

/// Reads a [`TempFile`].
#[derive(Clone)]
pub(crate) struct TempReader {
    file: Arc<File>,
}

impl TempReader {
    /// Up to `bytes_max` bytes from `offset`; the caller asks only for what was appended.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) async fn read_at(&self, offset: u64, bytes_max: usize) -> io::Result<Bytes> {
        let file = Arc::clone(&self.file);
        blocking(move || {
            let mut data = vec![0; bytes_max];
            let read = file.read_at(&mut data, offset)?;
            data.truncate(read);
            if read == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Bytes::from(data)) }
        })
        .await
    }
}

/// A request's body: the first part in memory, what exceeds it in a file.
#[derive(Default)]
pub(crate) struct Body {
    memory: BytesMut,
    file: Option<TempFile>,
}

impl Body {
    pub(crate) fn len(&self) -> u64 {
        self.memory.len() as u64 + self.file.as_ref().map_or(0, TempFile::len)
    }

    /// # Errors
    /// When the temporary file cannot take it.
    pub(crate) async fn append(
        &mut self,
        data: &[u8],
        memory_bytes_max: usize,
        store: &Rc<TempStore>,
    ) -> io::Result<()> {
        let fits =
            if self.file.is_none() { memory_bytes_max.saturating_sub(self.memory.len()).min(data.len()) } else { 0 };
        let (in_memory, in_file) = data.split_at(fits);
        self.memory.extend_from_slice(in_memory);
        if in_file.is_empty() {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(TempFile::create(store).await?);
        }
        match &mut self.file {
            Some(file) => file.append(Bytes::copy_from_slice(in_file)).await,
            None => Ok(()),
        }
    }

    /// What is in memory; it comes first.
    pub(crate) fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// What is in the file and its length.
    pub(crate) fn file(&self) -> Option<(TempReader, u64)> {
        self.file.as_ref().map(|file| (file.reader(), file.len()))
    }
}

/// The first bytes of a body, wherever they are.
pub(crate) struct Beginning {
    memory: Vec<u8>,
    file: Option<(TempReader, usize)>,
}

impl Body {
    /// Its first `bytes_max` bytes, to be read when nothing is borrowed any more.
    pub(crate) fn beginning(&self, bytes_max: usize) -> Beginning {
        let memory = self.memory[..self.memory.len().min(bytes_max)].to_vec();
        let missing = (bytes_max - memory.len()) as u64;
        let in_file = self.file().map(|(reader, len)| (reader, usize::try_from(len.min(missing)).unwrap_or(0)));
        Beginning { file: in_file.filter(|(_, len)| *len > 0), memory }
    }
}

impl Beginning {
    /// # Errors
    /// What the file system says.
    pub(crate) async fn read(self) -> io::Result<Vec<u8>> {
        let Beginning { mut memory, file } = self;
        if let Some((reader, len)) = file {
            let end = memory.len() + len;
            let begin = memory.len();
            while memory.len() < end {
                let piece = reader.read_at((memory.len() - begin) as u64, end - memory.len()).await?;
                memory.extend_from_slice(&piece);
            }
        }
        Ok(memory)
    }
}

/// Runs file work on tokio's pool of blocking threads, so that a slow disk stops nobody else.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|join| Err(io::Error::other(join)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(bytes_max: u64) -> Rc<TempStore> {
        TempStore::new(std::env::temp_dir(), bytes_max)
    }

    #[tokio::test]
    async fn body_overflows_from_memory_to_a_file_and_keeps_its_order() {
        let store = store(1000);
        let mut body = Body::default();
        body.append(b"hello ", 8, &store).await.unwrap();
        body.append(b"world, again", 8, &store).await.unwrap();
        assert_eq!(body.memory(), b"hello wo");
        let (reader, len) = body.file().unwrap();
        assert_eq!((&reader.read_at(0, 64).await.unwrap()[..], len), (&b"rld, again"[..], 10));
        assert_eq!(store.used_bytes(), 10);
        drop(body);
        assert_eq!(store.used_bytes(), 0);
    }

    #[tokio::test]
    async fn bound_of_all_files_together_is_an_error_and_loses_nothing() {
        let store = store(10);
        let mut file = TempFile::create(&store).await.unwrap();
        file.append(Bytes::from_static(b"12345678")).await.unwrap();
        let full = file.append(Bytes::from_static(b"abc")).await.unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        assert_eq!((file.len(), store.used_bytes()), (8, 8));
    }
}
