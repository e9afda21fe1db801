//! Lines to a preload. Sending never waits: the socket takes a line at once, later, or not at all. It must not know the
//! meaning of lines.

use std::cell::RefCell;

use tokio::net::unix::OwnedWriteHalf;

/// The writing half of a worker's control connection.
pub(crate) struct Writer {
    half: OwnedWriteHalf,
    /// Rest of a line that the socket has taken in part. It must go first, or two lines would be lost.
    rest: RefCell<Vec<u8>>,
}

impl Writer {
    pub(crate) fn new(half: OwnedWriteHalf) -> Self {
        Self { half, rest: RefCell::default() }
    }

    /// Writes a line. Returns false if the socket takes nothing of it, because its reader is behind.
    pub(crate) fn say(&self, line: &str) -> bool {
        if !self.finish() {
            return false;
        }
        let line = format!("{line}\n");
        let taken = self.half.try_write(line.as_bytes()).unwrap_or(0);
        if taken > 0 {
            self.rest.borrow_mut().extend_from_slice(&line.as_bytes()[taken..]);
        }
        taken > 0
    }

    /// Writes the rest of the previous line. Returns true if nothing is left of it.
    pub(crate) fn finish(&self) -> bool {
        let mut rest = self.rest.borrow_mut();
        if !rest.is_empty() {
            let taken = self.half.try_write(&rest).unwrap_or(0);
            rest.drain(..taken);
        }
        rest.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::net::UnixStream;

    use super::*;

    const LINE_BYTES: usize = 500_001;

    #[tokio::test]
    async fn lines_that_a_full_socket_took_arrive_whole_and_in_order() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let writer = Writer::new(ours.into_split().1);
        writer.half.writable().await.unwrap();
        // More than half of the largest buffer that a kernel gives by itself: Linux takes such a line in pieces.
        let line = |number: usize| format!("{number:05}{}", "x".repeat(LINE_BYTES - 5));
        let mut count = 0;
        while writer.say(&line(count)) {
            count += 1;
        }
        assert!(count > 0 && !writer.rest.borrow().is_empty());
        let (mut read, mut bytes) = (Vec::new(), vec![0; 100_000]);
        let mut is_next_said = false;
        let all = async {
            while read.len() < count * (LINE_BYTES + 1) + "next\n".len() {
                let len = theirs.try_read(&mut bytes).unwrap_or(0);
                read.extend_from_slice(&bytes[..len]);
                is_next_said = is_next_said || writer.say("next");
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), all).await.expect("all that was said");
        let expected: Vec<String> = (0..count).map(line).chain(["next".to_owned(), String::new()]).collect();
        assert!(String::from_utf8(read).unwrap().split('\n').eq(expected), "a line is missing or broken");
    }
}
