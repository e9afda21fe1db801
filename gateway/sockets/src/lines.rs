//! Lines of a bounded length, in which the processes of an instance talk to each other. It must not know what they say.

use std::io;

use serde::Serialize;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// One line, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub enum BoundedLine<'l> {
    /// All of it.
    Whole(&'l [u8]),
    /// A line that is longer than the bound. What follows is the line after it.
    TooLong,
}

/// Reads lines.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    bytes_max: usize,
    /// The line so far.
    line: Vec<u8>,
    /// The reader's user has seen it.
    is_taken: bool,
    /// True while the bytes are the rest of a line that is too long.
    is_rest: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `bytes_max` bytes, the line feed included.
    pub fn new(reader: R, bytes_max: usize) -> Self {
        Lines { reader: BufReader::new(reader), bytes_max, line: Vec::new(), is_taken: false, is_rest: false }
    }

    /// The reader, to write to its other side. Code that reads from it loses lines.
    pub fn get_mut(&mut self) -> &mut R {
        self.reader.get_mut()
    }

    /// The next line; `None` at the end, where a line without a line feed does not count. A dropped future loses no bytes.
    ///
    /// # Errors
    /// What the reader says.
    pub async fn next(&mut self) -> io::Result<Option<BoundedLine<'_>>> {
        if std::mem::take(&mut self.is_taken) {
            self.line.clear();
        }
        loop {
            let room = self.bytes_max.saturating_sub(self.line.len());
            let read = (&mut self.reader).take(room as u64).read_until(b'\n', &mut self.line).await?;
            if read == 0 {
                return Ok(None);
            }
            let is_ended = self.line.last() == Some(&b'\n');
            if is_ended && !self.is_rest {
                self.line.pop();
                self.is_taken = true;
                return Ok(Some(BoundedLine::Whole(&self.line)));
            }
            if is_ended || self.line.len() >= self.bytes_max {
                self.line.clear();
                let was_rest = std::mem::replace(&mut self.is_rest, !is_ended);
                if !was_rest {
                    return Ok(Some(BoundedLine::TooLong));
                }
            }
        }
    }
}

/// A value as one line of JSON.
///
/// # Errors
/// When it is no JSON, as a map whose keys are not strings.
pub fn json_line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn all(bytes: &[u8], bytes_max: usize) -> Vec<Option<String>> {
        let (mut lines, mut heard) = (Lines::new(bytes, bytes_max), Vec::new());
        while let Some(line) = lines.next().await.unwrap() {
            heard.push(match line {
                BoundedLine::Whole(line) => Some(String::from_utf8(line.to_vec()).unwrap()),
                BoundedLine::TooLong => None,
            });
        }
        heard
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn long_lines_are_passed_over_and_those_around_them_are_whole() {
        runtime().block_on(async {
            let some = |text: &str| Some(text.to_owned());
            assert_eq!(all(b"one\n\n1234\nlast\n", 5).await, [some("one"), some(""), some("1234"), some("last")]);
            for long in ["12345", "123456", "1234567890", "123456789012"] {
                let text = format!("one\n{long}\ntwo\nhalf");
                assert_eq!(all(text.as_bytes(), 5).await, [some("one"), None, some("two")], "{long}");
            }
            let endless = vec![b'x'; 100_000];
            assert_eq!(all(&endless, 5).await, [None]);
        });
    }

    #[test]
    fn a_dropped_future_loses_no_bytes() {
        runtime().block_on(async {
            let (mut ours, theirs) = tokio::io::duplex(64);
            let mut lines = Lines::new(theirs, 64);
            for piece in ["o", "n", "e\ntw"] {
                ours.write_all(piece.as_bytes()).await.unwrap();
                let line = tokio::select! {
                    biased;
                    line = lines.next() => line.unwrap(),
                    () = std::future::ready(()) => None,
                };
                assert_eq!(line, piece.ends_with("tw").then_some(BoundedLine::Whole(b"one")));
            }
            ours.write_all(b"o\n").await.unwrap();
            assert_eq!(lines.next().await.unwrap(), Some(BoundedLine::Whole(b"two")));
        });
    }
}
