//! Explanation of a class's cost that spreads widely: a key of the query, its value, or the size of the body. Each is
//! judged by the part of the variance of the logarithm of the cost that lies between its groups. It must not know
//! classes.

#[cfg(test)]
mod tests;

use sluice_sketch::hash;

use super::Newcomers;
use super::features::{Features, pairs};

/// Maximum number of counted query keys. The rarest make room.
const KEYS_MAX: usize = 10;
/// Maximum number of counted values of a query key.
const VALUES_MAX: usize = 8;
/// Maximum stored size of a query key or value, bytes. Longer ones name nothing that comes often.
const TEXT_BYTES_MAX: usize = 32;
const SIZES: usize = 48;
/// Records before anything is split off, and of a group that is.
const RECORDS_MIN: f64 = 200.0;
const GROUP_MIN: f64 = 20.0;
/// Records after which all are halved.
const HALVE_AT: f64 = 2_000.0;
/// Spread of the logarithm below which there is nothing to explain: two thirds of the costs within a factor of 1.5 of the
/// middle.
const VARIANCE_MIN: f64 = 0.16;
/// Part of the variance that has to be explained for a split, and to keep one.
const TO_SPLIT: f64 = 0.5;
const TO_KEEP: f64 = 0.25;
/// Minimum cost ratio between a group and the rest, in either direction; a logarithm.
const RATIO_MIN: f64 = 0.6;

/// Count, sum and sum of squares of logarithms of costs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) count: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    pub(super) fn add(&mut self, log: f64) {
        self.count += 1.0;
        self.sum += log;
        self.squares += log * log;
    }

    fn join(self, other: Moments) -> Moments {
        Moments { count: self.count + other.count, sum: self.sum + other.sum, squares: self.squares + other.squares }
    }

    fn without(self, other: Moments) -> Moments {
        let less = |all: f64, part: f64| (all - part).max(0.0);
        Moments {
            count: less(self.count, other.count),
            sum: self.sum - other.sum,
            squares: less(self.squares, other.squares),
        }
    }

    pub(super) fn halve(&mut self) {
        *self = Moments { count: self.count / 2.0, sum: self.sum / 2.0, squares: self.squares / 2.0 };
    }

    pub(super) fn mean(self) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { 0.0 }
    }

    pub(super) fn variance(self) -> f64 {
        if self.count > 0.0 { self.scatter() / self.count } else { 0.0 }
    }

    /// Sum of squared distances from the mean.
    fn scatter(self) -> f64 {
        if self.count > 0.0 { (self.squares - self.sum * self.sum / self.count).max(0.0) } else { 0.0 }
    }

    /// Whether the costs spread so much that something may explain it.
    pub(super) fn is_wide(self) -> bool {
        self.count >= GROUP_MIN && self.variance() >= VARIANCE_MIN
    }
}

#[derive(Debug)]
struct Value {
    hash: u32,
    text: Box<str>,
    /// Requests of late.
    hits: u32,
    moments: Moments,
}

#[derive(Debug)]
struct Key {
    hash: u32,
    text: Box<str>,
    /// Requests of late.
    hits: u32,
    present: Moments,
    values: Vec<Value>,
    newcomers: Newcomers,
}

/// Feature that parts the requests of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Whether the query has this key.
    Key(u32),
    /// Value of this key of the query.
    Value(u32),
    /// Whether the body's size is at least this, as [`Features::body_log2`] has it.
    Size(u8),
}

/// A part of a class.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number of the value, for [`By::Value`].
    pub(super) value: u32,
    /// Name of the group.
    pub(super) name: String,
    pub(super) moments: Moments,
}

/// Gathers what may explain one class's cost.
#[derive(Debug)]
pub(super) struct Splitter {
    all: Moments,
    keys: Vec<Key>,
    newcomers: Newcomers,
    sizes: [Moments; SIZES],
}

impl Default for Splitter {
    fn default() -> Self {
        let newcomers = Newcomers::default();
        Splitter { all: Moments::default(), keys: Vec::new(), newcomers, sizes: [Moments::default(); SIZES] }
    }
}

impl Splitter {
    /// Remembers the names of a query's keys and values while there is room.
    pub(super) fn notice(&mut self, target: &str) {
        for (key, value) in pairs(target).filter(|(key, _)| key.len() <= TEXT_BYTES_MAX) {
            let key_hash = hash(key);
            let at = if let Some(at) = self.keys.iter().position(|known| known.hash == key_hash) {
                self.keys[at].hits = self.keys[at].hits.saturating_add(1);
                at
            } else {
                let may_go = |key: &Key| Some(key.hits);
                let Some(hits) = self.newcomers.make_room(&mut self.keys, KEYS_MAX, key_hash, may_go) else { continue };
                let (text, present, newcomers) = (key.into(), Moments::default(), Newcomers::default());
                self.keys.push(Key { hash: key_hash, text, hits, present, values: Vec::new(), newcomers });
                self.keys.len() - 1
            };
            let Key { values, newcomers, .. } = &mut self.keys[at];
            let hash = hash(value);
            if let Some(known) = values.iter_mut().find(|known| known.hash == hash) {
                known.hits = known.hits.saturating_add(1);
            } else if value.len() <= TEXT_BYTES_MAX
                && let Some(hits) = newcomers.make_room(values, VALUES_MAX, hash, |value| Some(value.hits))
            {
                values.push(Value { hash, text: value.into(), hits, moments: Moments::default() });
            }
        }
    }

    /// A request with these features had a cost of this logarithm. Returns whether it is time to look again.
    pub(super) fn record(&mut self, features: &Features, log: f64) -> bool {
        self.all.add(log);
        self.sizes[usize::from(features.body_log2).min(SIZES - 1)].add(log);
        for pair in features.pairs() {
            let Some(key) = self.keys.iter_mut().find(|key| key.hash == pair.key) else { continue };
            key.present.add(log);
            if let Some(value) = key.values.iter_mut().find(|value| value.hash == pair.value) {
                value.moments.add(log);
            }
        }
        if self.all.count >= HALVE_AT {
            self.halve();
            return true;
        }
        self.all.count >= RECORDS_MIN && self.all.count % 50.0 < 1.0
    }

    /// Feature that explains most of the spread, if that is enough, and the groups to split off from the rest.
    pub(super) fn best(&self) -> Option<(By, Vec<Group>)> {
        if self.all.count < RECORDS_MIN || self.all.variance() < VARIANCE_MIN {
            return None;
        }
        let keys = self.keys.iter().flat_map(|key| [By::Key(key.hash), By::Value(key.hash)]);
        let sizes = (1..SIZES).filter_map(|size| u8::try_from(size).ok()).map(By::Size);
        // Of two that explain alike, the one of fewer groups, and a key before its one value.
        let score = |by, groups: &[Group]| {
            let per_group = if matches!(by, By::Value(_)) { 0.03 } else { 0.02 };
            groups.iter().fold(self.explained(by), |score, _| score - per_group)
        };
        let judged = keys.chain(sizes).map(|by| (by, self.groups(by))).filter(|(_, groups)| !groups.is_empty());
        let (by, groups) =
            judged.max_by(|(one, few), (other, many)| score(*one, few).total_cmp(&score(*other, many)))?;
        (self.explained(by) >= TO_SPLIT).then_some((by, groups))
    }

    /// Whether what was split by still explains a good part.
    pub(super) fn holds(&self, by: By) -> bool {
        self.all.count < RECORDS_MIN || self.all.scatter() <= 0.0 || self.explained(by) >= TO_KEEP
    }

    /// Part of the variance that lies between the groups: 1 is all of it.
    fn explained(&self, by: By) -> f64 {
        let parts = self.parts(by);
        let rest = parts.iter().fold(self.all, |rest, part| rest.without(part.moments));
        let within = parts.iter().map(|part| part.moments.scatter()).sum::<f64>() + rest.scatter();
        let all = self.all.scatter();
        if all > 0.0 { 1.0 - within / all } else { 0.0 }
    }

    /// Groups to split off: with enough records and of another cost than the rest.
    fn groups(&self, by: By) -> Vec<Group> {
        let parts = self.parts(by);
        let rest = parts.iter().fold(self.all, |rest, part| rest.without(part.moments));
        let differ = |one: f64, other: f64| (one - other).abs() >= RATIO_MIN;
        let is_apart = |part: Moments| {
            part.count >= GROUP_MIN
                && if rest.count >= GROUP_MIN {
                    differ(part.mean(), rest.mean())
                } else {
                    differ(part.mean(), self.all.without(part).mean())
                }
        };
        parts.into_iter().filter(|part| is_apart(part.moments)).collect()
    }

    /// Moments of the rest without the groups.
    pub(super) fn rest(&self, by: By) -> Moments {
        self.groups(by).iter().fold(self.all, |rest, group| rest.without(group.moments))
    }

    fn parts(&self, by: By) -> Vec<Group> {
        let key = |hash| self.keys.iter().find(move |key| key.hash == hash);
        match by {
            By::Key(hash) => key(hash)
                .map(|key| Group { value: 0, name: format!("?{}", key.text), moments: key.present })
                .into_iter()
                .collect(),
            By::Value(hash) => key(hash)
                .into_iter()
                .flat_map(|key| key.values.iter().map(move |value| (key, value)))
                .map(|(key, value)| Group {
                    value: value.hash,
                    name: format!("?{}={}", key.text, value.text),
                    moments: value.moments,
                })
                .collect(),
            By::Size(size) => {
                let large = self.sizes[usize::from(size)..].iter().copied().fold(Moments::default(), Moments::join);
                let bytes = 1_u64 << size.saturating_sub(1).min(62);
                vec![Group { value: 0, name: format!("body ≥ {}", bytes_text(bytes)), moments: large }]
            }
        }
    }

    /// Halves all counts, so that rare values make room.
    fn halve(&mut self) {
        self.all.halve();
        self.sizes.iter_mut().for_each(Moments::halve);
        for key in &mut self.keys {
            key.present.halve();
            key.hits /= 2;
            key.newcomers.halve();
            for value in &mut key.values {
                value.moments.halve();
                value.hits /= 2;
            }
            key.values.retain(|value| value.moments.count >= 4.0);
        }
        self.keys.retain(|key| key.present.count >= 4.0);
        self.newcomers.halve();
    }
}

impl By {
    /// Group of the request, as [`Group::value`]; `None` for the rest.
    pub(super) fn group(self, features: &Features) -> Option<u32> {
        match self {
            By::Key(key) => features.value(key).map(|_| 0),
            By::Value(key) => features.value(key),
            By::Size(size) => (features.body_log2 >= size).then_some(0),
        }
    }
}

fn bytes_text(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{} KiB", bytes / 1_024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
