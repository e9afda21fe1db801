//! What clients have lately asked for most: one target a class, bounded, for warming a worker with.

use std::rc::Rc;

use sluice_message::{Method, RequestHead, ResponseHead};

/// Classes that are remembered.
const CLASSES_MAX: usize = 32;
/// The longest target of a client that is asked for again.
const TARGET_BYTES_MAX: usize = 2048;
/// Requests after which all counts are halved, so that what was frequent long ago makes room.
const HALVE_EVERY: u32 = 2_000;

/// Whether an answer is for everybody, as far as its head tells.
pub(crate) fn is_public(head: &ResponseHead) -> bool {
    let is_private = head.fields.get_all("cache-control").any(|value| {
        let value = value.to_ascii_lowercase();
        [&b"private"[..], b"no-store"].iter().any(|word| value.windows(word.len()).any(|part| part == *word))
    });
    (200..300).contains(&head.status) && !is_private
}

/// Whether a worker may be warmed with such a request.
pub(crate) fn is_repeatable(head: &RequestHead) -> bool {
    head.method == Method::Get && head.path_and_query.len() <= TARGET_BYTES_MAX
}

#[derive(Debug)]
struct Entry {
    class: Rc<str>,
    host: String,
    target: String,
    count: u32,
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    entries: Vec<Entry>,
    noted: u32,
}

impl Recent {
    /// A client asked for this and got an answer that is for everybody.
    pub(crate) fn note(&mut self, class: &Rc<str>, host: &str, target: &str) {
        self.noted += 1;
        if self.noted >= HALVE_EVERY {
            self.noted = 0;
            self.entries.iter_mut().for_each(|entry| entry.count /= 2);
        }
        if let Some(entry) = self.entries.iter_mut().find(|entry| *entry.class == **class) {
            entry.count = entry.count.saturating_add(1);
            if entry.target != target || entry.host != host {
                target.clone_into(&mut entry.target);
                host.clone_into(&mut entry.host);
            }
            return;
        }
        let entry = Entry { class: Rc::clone(class), host: host.to_owned(), target: target.to_owned(), count: 1 };
        if self.entries.len() < CLASSES_MAX {
            return self.entries.push(entry);
        }
        // The rarest makes room; of several, the one that is here for longest.
        let rarest = (0..self.entries.len()).min_by_key(|at| self.entries[*at].count);
        if let Some(rarest) = rarest {
            self.entries.remove(rarest);
            self.entries.push(entry);
        }
    }

    /// Host and target of each.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|entry| (&*entry.host, &*entry.target))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(recent: &Recent) -> Vec<String> {
        recent.targets().map(|(host, target)| format!("{host}{target}")).collect()
    }

    #[test]
    fn i6_frequent_classes_stay_and_the_table_is_bounded() {
        let mut recent = Recent::default();
        let shop: Rc<str> = "GET /shop/:id".into();
        for number in 0..10 {
            recent.note(&shop, "a", &format!("/shop/{number}"));
        }
        for number in 0..1_000 {
            recent.note(&format!("GET /rare/{number}").into(), "a", &format!("/rare/{number}"));
        }
        let targets = targets(&recent);
        assert_eq!(targets.len(), CLASSES_MAX);
        assert_eq!(targets[0], "a/shop/9", "the latest of its class");
        assert!(targets.contains(&"a/rare/999".to_owned()) && !targets.contains(&"a/rare/0".to_owned()));
    }

    #[test]
    fn what_was_frequent_long_ago_makes_room() {
        let mut recent = Recent::default();
        let old: Rc<str> = "GET /old".into();
        for _ in 0..100 {
            recent.note(&old, "a", "/old");
        }
        for number in 0..HALVE_EVERY * 10 {
            let class = number % 40;
            recent.note(&format!("GET /{class}").into(), "a", "/");
        }
        assert!(!targets(&recent).contains(&"a/old".to_owned()));
    }
}
