//! Features of a request, besides its path, that may explain its cost: the keys of its query, their values, and the
//! size of its body. Numbers only, so that a request carries them without an allocation. It must not know what they
//! explain.

use sluice_sketch::hash;

/// Maximum number of examined query keys. Those of a campaign, and some more.
const KEYS_MAX: usize = 16;

/// A key and its value, as numbers that hardly ever meet. Who makes two meet gets a wrong guess and nothing else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(super) key: u32,
    pub(super) value: u32,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pairs: [Pair; KEYS_MAX],
    count: u8,
    /// Size of the body: 0 for none, else one more than the logarithm of its bytes to the base of 2.
    pub(super) body_log2: u8,
}

impl Features {
    pub(super) fn of(target: &str, body_bytes: u64) -> Self {
        let mut features = Features { body_log2: size(body_bytes), ..Features::default() };
        for ((key, value), slot) in pairs(target).zip(&mut features.pairs) {
            *slot = Pair { key: hash(key), value: hash(value) };
            features.count += 1;
        }
        features
    }

    pub(super) fn pairs(&self) -> &[Pair] {
        &self.pairs[..usize::from(self.count)]
    }

    pub(super) fn value(&self, key: u32) -> Option<u32> {
        self.pairs().iter().find(|pair| pair.key == key).map(|pair| pair.value)
    }
}

/// Keys and values of a target's query, as written.
pub(super) fn pairs(target: &str) -> impl Iterator<Item = (&str, &str)> {
    let query = target.split_once('?').map_or("", |(_, query)| query);
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| part.split_once('=').unwrap_or((part, ""))).take(KEYS_MAX)
}

fn size(body_bytes: u64) -> u8 {
    if body_bytes == 0 { 0 } else { u8::try_from(body_bytes.ilog2() + 1).unwrap_or(u8::MAX) }
}
