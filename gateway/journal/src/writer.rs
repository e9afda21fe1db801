//! Writer of lines to standard output, on a thread of its own.
//!
//! The data plane appends to a buffer and tries to pass it to the thread. A terminal paused with Ctrl-S, or a pipe with a slow
//! reader, fills the channel; further lines are then dropped and counted. This module must not know the content of lines.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::time::Instant;

/// A buffer is handed over when it has grown to this.
pub(crate) const BUFFER_BYTES: usize = 32 * 1024;
/// Maximum number of buffers between the two threads. With their size, the most that a blocked stdout can hold in
/// memory.
const BUFFERS_MAX: usize = 64;
/// Maximum size of a buffer that is stored for reuse, bytes.
const BUFFER_KEPT_BYTES_MAX: usize = 4 * BUFFER_BYTES;
/// Maximum size of one write, except for longer lines. Linux takes this much into a pipe in one piece, so lines of a gateway
/// and of its successor do not mix.
const PIECE_BYTES: usize = 4096;
/// Some descriptors are shared with a process that made them non-blocking; they are tried again after this.
const AGAIN_AFTER: Duration = Duration::from_millis(5);

/// Standard output without Rust's own buffer before it. The descriptor is a second one for the same file, so closing it
/// closes nothing of anybody else's.
pub(crate) fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    lines: u64,
}

pub(crate) struct Writer {
    filling: Batch,
    full: Option<SyncSender<Batch>>,
    empty: Receiver<Batch>,
    dropped_total: u64,
    dropped_untold: u64,
    lost_total: Arc<AtomicU64>,
}

impl Writer {
    pub(crate) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (full, full_side) = sync_channel::<Batch>(BUFFERS_MAX);
        let (empty_side, empty) = sync_channel::<Batch>(4);
        let lost_total = Arc::new(AtomicU64::new(0));
        let lost = Arc::clone(&lost_total);
        thread::Builder::new()
            .name("journal".to_owned())
            .stack_size(128 * 1024)
            .spawn(move || write_all(out, &full_side, &empty_side, &lost))?;
        Ok(Self {
            filling: Batch { bytes: Vec::with_capacity(BUFFER_BYTES + 4096), lines: 0 },
            full: Some(full),
            empty,
            dropped_total: 0,
            dropped_untold: 0,
            lost_total,
        })
    }

    /// Appends a line, without its line feed. Returns true if the buffer was empty, so that the caller arranges a flush.
    pub(crate) fn push(&mut self, line: &[u8]) -> bool {
        if self.full.is_none() {
            self.dropped_total += 1;
            return false;
        }
        let first = self.filling.lines == 0;
        self.filling.bytes.extend_from_slice(line);
        self.filling.bytes.push(b'\n');
        self.filling.lines += 1;
        if self.filling.bytes.len() >= BUFFER_BYTES {
            self.flush();
        }
        first
    }

    /// Passes the buffer to the thread, or drops its lines if the channel is full.
    pub(crate) fn flush(&mut self) {
        let Some(full) = &self.full else { return };
        if self.filling.lines == 0 {
            return;
        }
        let next = self.empty.try_recv().unwrap_or_default();
        let batch = std::mem::replace(&mut self.filling, next);
        if let Err(TrySendError::Full(mut batch) | TrySendError::Disconnected(mut batch)) = full.try_send(batch) {
            self.dropped_total += batch.lines;
            self.dropped_untold += batch.lines;
            batch.bytes.clear();
            batch.lines = 0;
            self.filling = batch;
        }
    }

    /// Number of lines dropped since the last call; 0 while other lines wait in the buffer.
    pub(crate) fn take_dropped(&mut self) -> u64 {
        if self.filling.lines > 0 || self.full.is_none() {
            return 0;
        }
        std::mem::take(&mut self.dropped_untold)
    }

    /// Lines that never came out: dropped for lack of room, or refused by the descriptor.
    pub(crate) fn dropped_total(&self) -> u64 {
        self.dropped_total + self.lost_total.load(Ordering::Relaxed)
    }

    /// Hands over what there is, waits for it to be written, and takes no more. `true` if all was handed over in time.
    pub(crate) fn close(&mut self, timeout: Duration) -> bool {
        let Some(full) = self.full.take() else { return true };
        let deadline = Instant::now() + timeout;
        let mut last = Some(std::mem::take(&mut self.filling));
        while let Some(batch) = last.take() {
            match full.try_send(batch) {
                Ok(()) => break,
                Err(TrySendError::Full(batch)) if Instant::now() < deadline => {
                    last = Some(batch);
                    thread::sleep(Duration::from_millis(1));
                }
                Err(TrySendError::Full(batch) | TrySendError::Disconnected(batch)) => {
                    self.dropped_total += batch.lines;
                    return false;
                }
            }
        }
        drop(full);
        // The thread lets go of its end once it has written everything. Until then it gives buffers back.
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.empty.recv_timeout(left) {
                Ok(_) => {}
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return true,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => return false,
            }
        }
    }
}

fn write_all(mut out: impl Write, full: &Receiver<Batch>, empty: &SyncSender<Batch>, lost: &AtomicU64) {
    while let Ok(mut batch) = full.recv() {
        if write_batch(&mut out, &batch.bytes).is_err() {
            // Whoever read the log has gone. The gateway goes on serving, and counts.
            lost.fetch_add(batch.lines, Ordering::Relaxed);
        }
        if batch.bytes.capacity() <= BUFFER_KEPT_BYTES_MAX {
            batch.bytes.clear();
            batch.lines = 0;
            // With enough spare ones on their way back, this one may go.
            let _ = empty.try_send(batch);
        }
    }
}

fn write_batch(out: &mut impl Write, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match out.write(&bytes[..end_of_piece(bytes)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(AGAIN_AFTER),
            Err(error) => return Err(error),
        }
    }
    out.flush()
}

/// End of the last line that fits into a piece; a longer line is a piece of its own.
fn end_of_piece(bytes: &[u8]) -> usize {
    let is_end = |byte: &u8| *byte == b'\n';
    let within = &bytes[..bytes.len().min(PIECE_BYTES)];
    let last = within.iter().rposition(is_end).or_else(|| bytes.iter().position(is_end));
    last.map_or(bytes.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_with_a_line_and_are_as_large_as_a_pipe_takes_whole() {
        let long = [vec![b'x'; 2 * PIECE_BYTES], b"\n".to_vec()].concat();
        assert_eq!(end_of_piece(b"one\ntwo\n"), 8);
        assert_eq!(end_of_piece(&[b"one\n".to_vec(), long.clone()].concat()), 4);
        assert_eq!(end_of_piece(&[long.clone(), b"one\n".to_vec()].concat()), long.len());
        assert_eq!(end_of_piece(b"no end"), 6);
    }
    use std::sync::Mutex;
    use std::sync::mpsc::{Sender, channel};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Writes nothing until it is let go.
    struct WriteGate(Receiver<()>, Memory);

    impl Write for WriteGate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            self.1.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn blocked() -> (WriteGate, Sender<()>, Memory) {
        let (go, stop) = channel();
        let memory = Memory::default();
        (WriteGate(stop, memory.clone()), go, memory)
    }

    #[test]
    fn lines_come_out_in_order_and_whole() {
        let memory = Memory::default();
        let mut writer = Writer::start(memory.clone()).unwrap();
        for number in 0..20_000 {
            writer.push(format!("line {number}").as_bytes());
            // As the flushing task would, and slowly enough for the thread to follow.
            while number % 5000 == 0 && memory.0.lock().unwrap().is_empty() && number > 0 {
                writer.flush();
                thread::yield_now();
            }
        }
        assert!(writer.close(Duration::from_secs(20)));
        let text = String::from_utf8(memory.0.lock().unwrap().clone()).unwrap();
        assert!(text.lines().enumerate().all(|(number, line)| line == format!("line {number}")));
        assert_eq!(text.lines().count(), 20_000);
        assert_eq!(writer.dropped_total(), 0);
    }

    #[test]
    fn a_blocked_output_costs_lines_and_never_time() {
        let (out, go, memory) = blocked();
        let mut writer = Writer::start(out).unwrap();
        let line = vec![b'x'; 1023];
        for _ in 0..10_000 {
            writer.push(&line);
        }
        writer.flush();
        let dropped = writer.dropped_total();
        assert!(dropped >= 10_000 - (BUFFERS_MAX as u64 + 2) * 33, "{dropped}");
        assert_eq!(writer.take_dropped(), dropped);
        assert_eq!(writer.take_dropped(), 0);
        drop(go);
        assert!(writer.close(Duration::from_secs(20)));
        let written = memory.0.lock().unwrap().len() as u64 / 1024;
        assert_eq!(written + dropped, 10_000);
    }

    #[test]
    fn closing_does_not_wait_for_a_blocked_output_beyond_its_deadline() {
        let (out, go, _memory) = blocked();
        let mut writer = Writer::start(out).unwrap();
        writer.push(b"never written");
        let before = Instant::now();
        assert!(!writer.close(Duration::from_millis(30)));
        assert!(before.elapsed() < Duration::from_secs(10));
        drop(go);
    }

    #[test]
    fn a_reader_that_left_is_counted_and_survived() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = Writer::start(Gone).unwrap();
        writer.push(b"one");
        writer.push(b"two");
        assert!(writer.close(Duration::from_secs(20)));
        assert_eq!(writer.dropped_total(), 2);
    }
}
