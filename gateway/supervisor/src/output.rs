//! A worker's own output, as bounded lines.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// A longer line is cut into several.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// Last lines of a worker's stderr that are kept for the report of its death.
const TAIL_LINES_MAX: usize = 60;

/// Reads to the end and hands over each line without its line feed. Bytes that are not UTF-8 are replaced.
pub(crate) async fn read_lines(mut pipe: impl AsyncRead + Unpin, mut take: impl FnMut(&str)) {
    let mut pending: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 8 * 1024];
    while let Ok(len) = pipe.read(&mut buffer).await {
        if len == 0 {
            break;
        }
        pending.extend_from_slice(&buffer[..len]);
        let mut start = 0;
        while let Some(end) = pending[start..].iter().position(|byte| *byte == b'\n') {
            let line = &pending[start..start + end];
            take(&String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)));
            start += end + 1;
        }
        pending.drain(..start);
        if pending.len() > LINE_BYTES_MAX {
            take(&String::from_utf8_lossy(&pending));
            pending.clear();
        }
    }
    if !pending.is_empty() {
        take(&String::from_utf8_lossy(&pending));
    }
}

/// The last lines, for telling why a start failed.
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
    use super::*;

    #[tokio::test]
    async fn lines_are_split_bounded_and_complete() {
        let long = "x".repeat(LINE_BYTES_MAX + 9000);
        let input = format!("one\r\ntwo\n{long}");
        let mut lines = Vec::new();
        read_lines(input.as_bytes(), |line| lines.push(line.to_owned())).await;
        assert_eq!(&lines[..2], ["one", "two"]);
        assert_eq!(lines[2..].concat(), long);
        assert!(lines.len() > 3, "the long line was cut");
    }
}
