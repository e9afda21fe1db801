//! The body of one answer on its way through the compressor. It must not know which client gets the answer.

use bytes::Bytes;
use sluice_compression::{CompressionFailure, Step, Stream};

use sluice_wire::respond::encode::Size;

/// Bytes below which a write waits shortly for more, as for uncompressed answers.
const CRUMB_BYTES: usize = 1400;

pub(crate) struct CompressedBody {
    stream: Stream,
    /// Pieces that were not given to the compressor yet, and their bytes.
    pieces: Vec<Bytes>,
    bytes: usize,
    /// The compressor may hold bytes back.
    is_behind: bool,
    /// Bytes that are still to come, if the answer's size was announced.
    left: Option<u64>,
}

impl CompressedBody {
    pub(crate) fn new(stream: Stream, size: Size) -> Self {
        let left = if let Size::Known(bytes) = size { Some(bytes) } else { None };
        CompressedBody { stream, pieces: Vec::new(), bytes: 0, is_behind: false, left }
    }

    /// Bytes that wait for [`CompressedBody::encode`].
    pub(crate) fn waiting(&self) -> usize {
        self.bytes
    }

    /// Whether so few bytes wait that they may wait for more.
    pub(crate) fn is_crumb(&self) -> bool {
        self.bytes < CRUMB_BYTES
    }

    pub(crate) fn take(&mut self, data: Bytes) {
        self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
        self.bytes += data.len();
        self.pieces.push(data);
    }

    /// Gives the waiting bytes to the compressor. With [`Step::Flush`] the client gets all of them, unless the end is about to come and
    /// brings them.
    pub(crate) async fn encode(&mut self, step: Step) -> Result<Vec<u8>, CompressionFailure> {
        let is_idle = match step {
            Step::Finish => false,
            Step::Flush => self.left == Some(0) || (self.bytes == 0 && !self.is_behind),
            Step::More => self.bytes == 0,
        };
        if is_idle {
            return Ok(Vec::new());
        }
        self.is_behind = step == Step::More;
        self.bytes = 0;
        self.stream.encode(std::mem::take(&mut self.pieces), step).await
    }
}
