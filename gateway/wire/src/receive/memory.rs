//! Memory for bytes that wait for a slow side: answers for their clients, bodies for their requests. One bound for all of
//! them together, from the config; bytes that find no room go to temporary files.
//!
//! No holder gets all of it. A holder may have as much as a share of the free bytes, so that many slow clients leave
//! room for the small answers of the others. This is the "dynamic threshold" of Choudhury and Hahne (1998).

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

/// Divisor of the free bytes that gives the most that one holder may have.
const SHARE_OF_FREE: usize = 8;

/// Time for which a client may take or send nothing before its waiting bytes leave the memory.
const PATIENCE: Duration = Duration::from_secs(2);
/// Shorter time of this kind while more than half of the memory is taken.
const PATIENCE_WHEN_SCARCE: Duration = Duration::from_millis(200);

/// Number of clients at which the kernel's part is as much as the bound.
const UNSENT_SHARES: usize = 4096;
/// Least and most bytes that the kernel may hold unsent for a client.
const UNSENT_BYTES: RangeInclusive<usize> = 4 * 1024..=32 * 1024;

/// Bytes of a buffer for the small writes of an answer.
const BUFFER_BYTES: usize = 2048;
/// Maximum number of buffers stored for the next answer.
const BUFFERS_MAX: usize = 64;

/// Bound in bytes, and the bytes that are taken.
pub struct Memory {
    bytes_max: usize,
    used_bytes: Cell<usize>,
    /// Buffers of answers that were sent, for the next ones.
    spare: RefCell<Vec<Vec<u8>>>,
}

impl Memory {
    /// Memory of `bytes_max` bytes.
    pub(crate) fn new(bytes_max: usize) -> Rc<Self> {
        Rc::new(Memory { bytes_max, used_bytes: Cell::new(0), spare: RefCell::default() })
    }

    /// Empty buffer for an answer's small writes.
    pub(crate) fn take_buffer(&self) -> Vec<u8> {
        self.spare.borrow_mut().pop().unwrap_or_else(|| Vec::with_capacity(BUFFER_BYTES))
    }

    /// Takes a buffer back, unless it has grown or there are enough.
    pub(crate) fn give_buffer(&self, mut buffer: Vec<u8>) {
        let mut spare = self.spare.borrow_mut();
        if buffer.capacity() == BUFFER_BYTES && spare.len() < BUFFERS_MAX {
            buffer.clear();
            spare.push(buffer);
        }
    }

    /// Bytes in use.
    pub fn used_bytes(&self) -> usize {
        self.used_bytes.get()
    }

    fn free_bytes(&self) -> usize {
        self.bytes_max.saturating_sub(self.used_bytes.get())
    }

    /// Bytes that the kernel may hold unsent for a client, and that are written at once: it takes a whole write,
    /// however little of it may be left unsent. They count in the cgroup too, and none can be taken back.
    pub(crate) fn unsent_bytes_max(&self) -> usize {
        (self.bytes_max / UNSENT_SHARES).clamp(*UNSENT_BYTES.start(), *UNSENT_BYTES.end())
    }

    /// Time for which a client may take or send nothing before its waiting bytes go to a file.
    pub(crate) fn patience(&self) -> Duration {
        if self.free_bytes() < self.bytes_max / 2 { PATIENCE_WHEN_SCARCE } else { PATIENCE }
    }
}

/// Bytes that one holder has taken; they are returned when it is dropped.
#[derive(Default)]
pub struct MemoryHold {
    memory: Option<Rc<Memory>>,
    bytes: usize,
}

impl MemoryHold {
    /// Holds nothing yet.
    pub fn of(memory: &Rc<Memory>) -> Self {
        MemoryHold { memory: Some(Rc::clone(memory)), bytes: 0 }
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes more bytes, if both the holder's own bound and that of all leave room.
    pub fn try_grow(&mut self, bytes: usize, own_bytes_max: usize) -> bool {
        let wanted = self.bytes.saturating_add(bytes);
        let has_room = self.memory.as_ref().is_none_or(|memory| {
            let free_after = memory.free_bytes().checked_sub(bytes);
            free_after.is_some_and(|free| wanted <= free / SHARE_OF_FREE)
        });
        let fits = wanted <= own_bytes_max && has_room;
        if fits {
            self.set(wanted);
        }
        fits
    }

    /// Sets the bytes that are held, for bytes that are there already.
    pub fn set(&mut self, bytes: usize) {
        if let Some(memory) = &self.memory {
            memory.used_bytes.set((memory.used_bytes.get() + bytes).saturating_sub(self.bytes));
        }
        self.bytes = bytes;
    }

    /// Gives all but `bytes` bytes back.
    pub fn shrink(&mut self, bytes: usize) {
        self.set(self.bytes.saturating_sub(bytes));
    }
}

impl Drop for MemoryHold {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i6_holders_together_stay_within_the_bound_and_give_everything_back() {
        let memory = Memory::new(1_000_000);
        let mut holders: Vec<MemoryHold> = (0..5000).map(|_| MemoryHold::of(&memory)).collect();
        for _ in 0..100 {
            for held in &mut holders {
                held.try_grow(1000, 100_000);
                assert!(memory.used_bytes() <= 1_000_000);
            }
        }
        assert!(memory.used_bytes() > 900_000, "the bound is made use of: {}", memory.used_bytes());
        drop(holders);
        assert_eq!(memory.used_bytes(), 0);
    }

    #[test]
    fn greedy_holders_leave_room_for_a_small_one() {
        let memory = Memory::new(32 << 20);
        let mut greedy: Vec<MemoryHold> = (0..1000).map(|_| MemoryHold::of(&memory)).collect();
        for _ in 0..64 {
            for held in &mut greedy {
                held.try_grow(16 << 10, 1 << 20);
            }
        }
        assert!(MemoryHold::of(&memory).try_grow(16 << 10, 1 << 20), "{} bytes are taken", memory.used_bytes());
    }

    #[test]
    fn own_bound_of_a_holder_stays_in_force() {
        let memory = Memory::new(1 << 30);
        let mut held = MemoryHold::of(&memory);
        assert!(held.try_grow(4096, 4096));
        assert!(!held.try_grow(1, 4096));
        held.shrink(96);
        assert!(held.try_grow(96, 4096));
        assert_eq!((held.bytes(), memory.used_bytes()), (4096, 4096));
    }

    #[test]
    fn the_kernel_holds_less_for_each_client_where_there_is_less_memory() {
        let unsent = |bytes_max| Memory::new(bytes_max).unsent_bytes_max();
        assert_eq!(unsent(1 << 30), 32 << 10);
        assert_eq!(unsent(32 << 20), 8 << 10, "5,000 clients have 40 MB of 256");
        assert_eq!(unsent(0), 4 << 10);
    }

    #[test]
    fn patience_ends_sooner_where_memory_is_scarce() {
        let memory = Memory::new(1000);
        let calm = memory.patience();
        let mut held = MemoryHold::of(&memory);
        held.set(600);
        assert!(memory.patience() < calm);
    }
}
