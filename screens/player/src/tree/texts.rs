//! Memory of the texts that widgets and styles keep. It is not the engine's, whose bound does not count it.

use std::rc::Rc;

/// Most bytes of all texts that are kept.
pub const KEPT_BYTES_MAX: usize = 1 << 28;
/// What a text costs beside its bytes, about.
const OVERHEAD: usize = 64;
/// Bytes up to which nobody looks for texts that are kept no longer.
const BYTES_MIN: usize = 1 << 20;

/// Texts of batches, as long as somebody else has them.
#[derive(Debug)]
pub(super) struct Texts {
    texts: Vec<Rc<str>>,
    bytes: usize,
    /// With more bytes than this, those that are kept no longer are forgotten.
    bytes_max: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self { texts: Vec::new(), bytes: 0, bytes_max: BYTES_MIN }
    }
}

impl Texts {
    /// Whether there is room for the texts of a batch.
    pub fn has_room(&mut self, texts: &[Rc<str>]) -> bool {
        let further = size(texts);
        if self.bytes + further > self.bytes_max {
            self.texts.retain(|text| Rc::strong_count(text) > 1);
            self.bytes = size(&self.texts);
            self.bytes_max = (2 * self.bytes).clamp(BYTES_MIN, KEPT_BYTES_MAX);
        }
        self.bytes + further <= KEPT_BYTES_MAX
    }

    /// Counts the texts of a batch.
    pub fn add(&mut self, texts: &[Rc<str>]) {
        self.bytes += size(texts);
        self.texts.extend_from_slice(texts);
    }
}

fn size(texts: &[Rc<str>]) -> usize {
    texts.iter().map(|text| text.len() + OVERHEAD).sum()
}
