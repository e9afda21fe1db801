//! A worker's own output, as bounded lines.

mod records;

use std::collections::VecDeque;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout;

use records::Records;

/// Time that a record waits for continuation lines. Node.js writes a stack at once, and lines of the log wait as long
/// until they are written.
const CONTINUED_TIMEOUT: Duration = Duration::from_millis(50);

/// Maximum length of a line, bytes; a longer one is split.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Number of last lines of a worker's stderr that are stored for the report of its exit.
const TAIL_LINES_MAX: usize = 60;

/// Reads to the end, and passes records on: lines with those that continue them. `is_kept` sees each line first and
/// decides whether it belongs into the log. Bytes that are not UTF-8 are replaced.
pub(crate) async fn read_records(
    mut pipe: impl AsyncRead + Unpin,
    mut is_kept: impl FnMut(&str) -> bool,
    mut take: impl FnMut(&str),
) {
    let mut lines = Lines::default();
    let mut records = Records::default();
    let mut buffer = vec![0; 8 * 1024];
    loop {
        let read = if records.is_open() {
            let Ok(read) = timeout(CONTINUED_TIMEOUT, pipe.read(&mut buffer)).await else {
                records.end(&mut take);
                continue;
            };
            read
        } else {
            pipe.read(&mut buffer).await
        };
        let Ok(len @ 1..) = read else { break };
        lines.push(&buffer[..len], |line| {
            if is_kept(line) {
                records.line(line, &mut take);
            }
        });
    }
    lines.end(|line| {
        if is_kept(line) {
            records.line(line, &mut take);
        }
    });
    records.end(take);
}

/// Splits input into complete lines, without their line feeds.
#[derive(Default)]
struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8], mut take: impl FnMut(&str)) {
        self.pending.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(end) = self.pending[start..].iter().position(|byte| *byte == b'\n') {
            let line = &self.pending[start..start + end];
            take(&String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)));
            start += end + 1;
        }
        self.pending.drain(..start);
        if self.pending.len() > LINE_BYTES_MAX {
            self.end(take);
        }
    }

    fn end(&mut self, mut take: impl FnMut(&str)) {
        if !self.pending.is_empty() {
            take(&String::from_utf8_lossy(&self.pending));
            self.pending.clear();
        }
    }
}

/// The last lines of output, for the report of a failed start.
#[derive(Default)]
pub(crate) struct Tail {
    lines: VecDeque<String>,
}

impl Tail {
    pub(crate) fn push(&mut self, line: &str) {
        if self.lines.len() == TAIL_LINES_MAX {
            self.lines.pop_front();
        }
        self.lines.push_back(line.to_owned());
    }

    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn lines_are_split_bounded_and_complete() {
        let long = "x".repeat(LINE_BYTES_MAX + 9000);
        let input = format!("one\r\ntwo\n{long}");
        let mut lines = Vec::new();
        read_records(input.as_bytes(), |_| true, |line| lines.push(line.to_owned())).await;
        assert_eq!(&lines[..2], ["one", "two"]);
        assert_eq!(lines[2..].concat(), long);
        assert!(lines.len() > 3, "the long line was cut");
    }

    #[tokio::test(start_paused = true)]
    async fn a_record_waits_for_its_continuation_for_a_moment_and_not_longer() {
        let (mut worker, pipe) = tokio::io::duplex(1024);
        let (send, mut records) = tokio::sync::mpsc::unbounded_channel();
        let reader = read_records(
            pipe,
            |line| line != "hidden",
            move |record| {
                let _ = send.send((record.to_owned(), tokio::time::Instant::now()));
            },
        );
        let writer = async move {
            let started = tokio::time::Instant::now();
            for part in ["Error: no\nhidden\n", "    at f (a.js:1:2)\n", "    at g"] {
                worker.write_all(part.as_bytes()).await.unwrap();
                tokio::time::sleep(CONTINUED_TIMEOUT / 2).await;
            }
            tokio::time::sleep(CONTINUED_TIMEOUT * 2).await;
            worker.write_all(b" (a.js:3:4)\n").await.unwrap();
            let (record, at) = records.recv().await.unwrap();
            assert_eq!(record, "Error: no\n    at f (a.js:1:2)");
            assert!(at - started < CONTINUED_TIMEOUT * 3);
            drop(worker);
            assert_eq!(records.recv().await.unwrap().0, "    at g (a.js:3:4)");
        };
        tokio::join!(reader, writer);
    }
}
