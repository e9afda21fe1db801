//! The stream between processes: bytes, little-endian.

use super::codes::VERSION;
use super::{Batch, STRING_BYTES_MAX, STRINGS_MAX, StreamError, WORDS_MAX};

const NAME: &[u8; 7] = b"SLUICES";

/// First bytes of a stream.
pub fn prologue() -> [u8; 8] {
    let mut bytes = [VERSION as u8; 8];
    bytes[..7].copy_from_slice(NAME);
    bytes
}

/// Bytes of a batch.
pub fn encode(batch: &Batch, into: &mut Vec<u8>) {
    let counts = [batch.words.len() as u32, batch.strings.len() as u32, batch.cause.cast_unsigned()];
    for number in counts.into_iter().chain(batch.words.iter().map(|word| word.cast_unsigned())) {
        into.extend(number.to_le_bytes());
    }
    for text in &batch.strings {
        into.extend((text.len() as u32).to_le_bytes());
        into.extend(text.as_bytes());
        into.resize(into.len() + text.len().next_multiple_of(4) - text.len(), 0);
    }
}

/// Reader of the batches of a whole stream.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reader behind the prologue.
    ///
    /// # Errors
    ///
    /// If it is no stream, or one of another version.
    pub fn new(bytes: &'a [u8]) -> Result<Self, StreamError> {
        match bytes.split_first_chunk::<8>() {
            Some((head, _)) if head[..7] != *NAME => Err(StreamError::new(0, "it is no stream of a screen")),
            Some((head, _)) if u32::from(head[7]) != VERSION => {
                Err(StreamError::new(7, format!("version {} of the stream, not {VERSION}", head[7])))
            }
            Some(_) => Ok(Self { bytes, at: 8 }),
            None => Err(StreamError::new(0, "it is no stream of a screen")),
        }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], StreamError> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| StreamError::new(self.at, "the stream ends within a batch"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self, limit: usize, what: &str) -> Result<usize, StreamError> {
        let at = self.at;
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        let number = u32::from_le_bytes(bytes) as usize;
        if number > limit {
            return Err(StreamError::new(at, format!("{number} {what}, limit is {limit}")));
        }
        Ok(number)
    }

    fn batch(&mut self) -> Result<Batch, StreamError> {
        let words = self.number(WORDS_MAX, "words in a batch")?;
        let strings = self.number(STRINGS_MAX, "strings in a batch")?;
        let cause = self.number(usize::MAX, "")? as u32;
        let words = self.take(4 * words)?;
        let mut batch = Batch {
            words: words.as_chunks().0.iter().map(|chunk| i32::from_le_bytes(*chunk)).collect(),
            strings: Vec::new(),
            cause: cause.cast_signed(),
        };
        for _ in 0..strings {
            let length = self.number(STRING_BYTES_MAX, "bytes in a string")?;
            let at = self.at;
            let padded = self.take(length.next_multiple_of(4))?;
            let (text, padding) = padded.split_at(length);
            if padding.iter().any(|&byte| byte != 0) {
                return Err(StreamError::new(at, "bytes after a string are not 0"));
            }
            let text = std::str::from_utf8(text).map_err(|_| StreamError::new(at, "a string is no UTF-8"))?;
            batch.strings.push(text.into());
        }
        Ok(batch)
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<Batch, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let batch = self.batch();
        if batch.is_err() {
            self.at = self.bytes.len();
        }
        Some(batch)
    }
}
