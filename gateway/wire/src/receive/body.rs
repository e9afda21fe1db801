//! A request's body, which is read once for each worker that gets the request.

use std::io;
use std::rc::Rc;

use bytes::Bytes;
use sluice_http1::{CHUNK_END, Framing, write_chunk_header, write_last_chunk};

use crate::ids::to_usize;
use crate::receive::spool::TempStore;
use crate::respond::fill::{Fill, FillReader};

/// Bytes of a file that are read at once.
const READ_BYTES: usize = 32 * 1024;

/// Body in memory, or in a file after it has outgrown that.
#[derive(Default)]
pub struct Body {
    /// Reader that stays at the start, so that no bytes are dropped. None if the request has no body.
    start: Option<FillReader>,
    /// Trailers after the body, if it came in chunks.
    trailers: Vec<(String, Vec<u8>)>,
    /// The request announced a body, which may be empty.
    is_announced: bool,
}

impl Body {
    /// Body of a request that announces none, or one of no bytes.
    pub(crate) fn empty(is_announced: bool) -> Self {
        Body { is_announced, ..Body::default() }
    }

    /// Empty body, of which `memory_bytes_max` bytes stay in memory.
    pub(crate) fn new(store: &Rc<TempStore>, memory_bytes_max: usize) -> Self {
        let fill = Rc::new(Fill::new(store, memory_bytes_max, u64::MAX));
        Body { start: Some(FillReader::new(&fill)), ..Body::empty(true) }
    }

    /// Bytes of the body.
    pub fn bytes(&self) -> u64 {
        self.start.as_ref().map_or(0, |start| start.fill.bytes())
    }

    /// Sets the trailer fields.
    pub(crate) fn set_trailers(&mut self, trailers: Vec<(String, Vec<u8>)>) {
        self.trailers = trailers;
    }

    /// Trailers of the body.
    pub fn trailers(&self) -> &[(String, Vec<u8>)] {
        &self.trailers
    }

    /// Bytes before and after the body in its framing: a body that has trailers is sent as one chunk. Both are empty for any other body.
    pub fn chunk_around(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        if !self.trailers.is_empty() {
            if self.bytes() > 0 {
                write_chunk_header(&mut before, to_usize(self.bytes()));
                behind.extend_from_slice(CHUNK_END);
            }
            write_last_chunk(&mut behind, &self.trailers);
        }
        (before, behind)
    }

    /// Framing for the worker. Only chunks can be followed by trailers.
    pub fn framing(&self) -> Framing {
        match self.bytes() {
            _ if !self.trailers.is_empty() => Framing::Chunked,
            0 if !self.is_announced => Framing::None,
            len => Framing::Length(len),
        }
    }

    /// # Errors
    /// Fails if the temporary file cannot take it.
    pub(crate) async fn append(&self, data: Bytes) -> io::Result<()> {
        let Some(start) = &self.start else { return Ok(()) };
        let Err(data) = start.fill.push_to_memory(data) else { return Ok(()) };
        self.spill().await?;
        start.fill.push(data).await
    }

    /// Moves all bytes to a file, so that none is in memory.
    ///
    /// # Errors
    /// Fails if the temporary file cannot take them; the body is then unchanged.
    pub(crate) async fn spill(&self) -> io::Result<()> {
        match &self.start {
            Some(start) => start.fill.set_aside(start.key, &[]).await,
            None => Ok(()),
        }
    }

    /// Bytes of the body that are in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.start.as_ref().map_or(0, |start| start.fill.memory_bytes())
    }

    /// Reader from the body's start, if it has any bytes.
    pub fn reader(&self) -> Option<FillReader> {
        self.start.as_ref().filter(|start| start.fill.bytes() > 0).map(|start| FillReader::new(&start.fill))
    }

    /// First `bytes_max` bytes, to be read when nothing is borrowed any more.
    pub fn beginning(&self, bytes_max: usize) -> Beginning {
        Beginning { reader: self.reader(), bytes_max }
    }
}

/// Reads the first bytes of a body, from memory or from its file.
pub struct Beginning {
    reader: Option<FillReader>,
    bytes_max: usize,
}

impl Beginning {
    /// # Errors
    /// Error of the file system.
    pub async fn read(self) -> io::Result<Vec<u8>> {
        let mut found = Vec::new();
        let Some(reader) = self.reader else { return Ok(found) };
        while found.len() < self.bytes_max
            && let Some(piece) = reader.read(READ_BYTES).await?
        {
            let missing = self.bytes_max - found.len();
            found.extend_from_slice(&piece[..piece.len().min(missing)]);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(memory_bytes_max: usize) -> Rc<TempStore> {
        TempStore::new(std::env::temp_dir(), 1 << 20, memory_bytes_max)
    }

    async fn text(body: &Body) -> String {
        String::from_utf8(body.beginning(usize::MAX).read().await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn body_overflows_from_memory_to_a_file_and_is_read_again_from_its_start() {
        let store = store(1 << 20);
        let body = Body::new(&store, 200);
        body.append(Bytes::from_static(b"hello ")).await.unwrap();
        assert_eq!((body.memory_bytes(), store.used_bytes()), (6, 0));
        body.append(Bytes::from(vec![b'x'; 300])).await.unwrap();
        assert_eq!((body.memory_bytes(), store.memory.used_bytes(), store.used_bytes()), (0, 0, 306));
        let whole = format!("hello {}", "x".repeat(300));
        for _ in 0..2 {
            assert_eq!(text(&body).await, whole);
        }
        assert_eq!(body.beginning(8).read().await.unwrap(), b"hello xx");
        drop(body);
        assert_eq!(store.used_bytes(), 0);
    }

    #[tokio::test]
    async fn bodies_that_find_no_memory_go_to_files() {
        let store = store(20_000);
        let mut bodies = Vec::new();
        for _ in 0..100 {
            let body = Body::new(&store, 4000);
            body.append(Bytes::from(vec![b'x'; 1000])).await.unwrap();
            assert!(store.memory.used_bytes() <= 20_000);
            bodies.push(body);
        }
        assert!(
            bodies.iter().any(|body| body.memory_bytes() == 0) && bodies.iter().any(|body| body.memory_bytes() > 0)
        );
        assert!(bodies.iter().all(|body| body.bytes() == 1000));
        drop(bodies);
        assert_eq!((store.memory.used_bytes(), store.used_bytes()), (0, 0));
    }

    #[tokio::test]
    async fn a_body_that_comes_byte_by_byte_takes_little_more_than_its_bytes() {
        let store = store(1 << 20);
        let body = Body::new(&store, 1 << 16);
        for _ in 0..2000 {
            body.append(Bytes::from_static(b"x")).await.unwrap();
        }
        assert_eq!(text(&body).await, "x".repeat(2000));
        assert!(store.memory.used_bytes() < 2200, "{}", store.memory.used_bytes());
    }
}
