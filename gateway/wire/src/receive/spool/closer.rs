//! Closes temporary files on a thread of its own. The last handle of a file without a name frees its blocks, which
//! takes as long as the disk needs. A crowd of clients that leaves at once must delay neither the gateway nor the file
//! work of others.

use std::fs::File;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, OnceLock};
use std::{io, thread};

type Closing = Box<dyn Send>;

/// Thread that closes files. It starts with the first file, and ends when this is dropped.
#[derive(Default)]
pub(crate) struct Closer {
    thread: OnceLock<Option<Sender<Closing>>>,
}

impl Closer {
    /// Closes a file on the thread; on the caller's if no thread can be started.
    pub(crate) fn close(&self, closing: Closing) {
        if let Some(thread) = self.thread.get_or_init(start) {
            let _ = thread.send(closing);
        }
    }
}

fn start() -> Option<Sender<Closing>> {
    let (sender, receiver) = channel::<Closing>();
    let work = move || receiver.into_iter().for_each(drop);
    thread::Builder::new().name("closer".to_owned()).spawn(work).ok().map(|_| sender)
}

/// Counts an open descriptor until it is dropped.
pub(crate) struct DescriptorCount(Arc<AtomicUsize>);

impl DescriptorCount {
    pub(crate) fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        DescriptorCount(Arc::clone(count))
    }
}

impl Drop for DescriptorCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An open file that goes to the closer with its last handle.
pub(crate) struct SpoolFile {
    file: Option<(File, DescriptorCount)>,
    closer: Arc<Closer>,
}

impl SpoolFile {
    pub(crate) fn new(file: File, counted: DescriptorCount, closer: Arc<Closer>) -> Self {
        SpoolFile { file: Some((file, counted)), closer }
    }

    pub(crate) fn file(&self) -> io::Result<&File> {
        self.file.as_ref().map(|(file, _)| file).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Drop for SpoolFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            self.closer.close(Box::new(file));
        }
    }
}
