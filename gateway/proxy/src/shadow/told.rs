//! Compared pages, by class, in bounded memory.

use std::collections::BTreeMap;
use std::rc::Rc;

use sluice_catalog::snapshot::{PageClassSnapshot, PagesSnapshot};
use sluice_compare::{PageDifference, PageVerdict};

/// Maximum number of classes counted by name. Further ones count together.
const CLASSES_MAX: usize = 64;
const CLASS_OTHER: &str = "other";
/// Maximum stored length of a path, characters.
const PATH_CHARS_MAX: usize = 200;

/// See the module's text.
#[derive(Default)]
pub(super) struct Pages {
    classes: BTreeMap<Rc<str>, OfClass>,
}

#[derive(Default)]
struct OfClass {
    same: u64,
    differing: u64,
    unclear: u64,
    /// The first difference, and the path of its page.
    first: Option<(String, PageDifference)>,
}

impl Pages {
    pub(super) fn note(&mut self, class: &Rc<str>, path: &str, verdict: PageVerdict) {
        let is_told = self.classes.contains_key(class) || self.classes.len() < CLASSES_MAX;
        let class = if is_told { Rc::clone(class) } else { Rc::from(CLASS_OTHER) };
        let of_class = self.classes.entry(class).or_default();
        match verdict {
            PageVerdict::Same => of_class.same += 1,
            PageVerdict::Unclear | PageVerdict::TooLong => of_class.unclear += 1,
            PageVerdict::Differs(difference) => {
                of_class.differing += 1;
                of_class.first.get_or_insert_with(|| (path.chars().take(PATH_CHARS_MAX).collect(), difference));
            }
        }
    }

    /// Classes, those with most differing pages first.
    pub(super) fn snapshot(&self, millionths: u32) -> PagesSnapshot {
        let of = |(class, of): (&Rc<str>, &OfClass)| {
            let difference = of.first.as_ref().map(|(_, difference)| difference);
            PageClassSnapshot {
                class: class.to_string(),
                compared: of.same + of.differing,
                differing: of.differing,
                unclear: of.unclear,
                path: of.first.as_ref().map(|(path, _)| path.clone()),
                line: difference.map(|difference| difference.line as u64).filter(|line| *line > 0),
                present: difference.map(|difference| difference.present.clone()),
                trial: difference.map(|difference| difference.trial.clone()),
            }
        };
        let mut classes: Vec<_> = self.classes.iter().map(of).collect();
        classes.sort_by_key(|of| std::cmp::Reverse(of.differing));
        PagesSnapshot {
            share: f64::from(millionths) / 1e6,
            compared: classes.iter().map(|of| of.compared).sum(),
            differing: classes.iter().map(|of| of.differing).sum(),
            unclear: classes.iter().map(|of| of.unclear).sum(),
            classes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_told_by_class_with_the_first_difference() {
        let mut pages = Pages::default();
        let differs = |trial: &str| {
            PageVerdict::Differs(PageDifference { line: 3, present: "a".to_owned(), trial: trial.to_owned() })
        };
        pages.note(&"GET /".into(), "/", PageVerdict::Same);
        pages.note(&"GET /p".into(), "/p?1", differs("b"));
        pages.note(&"GET /p".into(), "/p?2", differs("c"));
        pages.note(&"GET /p".into(), "/p?3", PageVerdict::Unclear);
        let told = pages.snapshot(10_000);
        assert_eq!((told.compared, told.differing, told.unclear), (3, 2, 1));
        let first = &told.classes[0];
        assert_eq!((first.class.as_str(), first.compared, first.differing), ("GET /p", 2, 2));
        assert_eq!((first.path.as_deref(), first.line, first.trial.as_deref()), (Some("/p?1"), Some(3), Some("b")));
    }

    #[test]
    fn classes_have_a_bound() {
        let mut pages = Pages::default();
        for number in 0..1_000 {
            pages.note(&format!("GET /{number}").into(), "/", PageVerdict::Same);
        }
        let told = pages.snapshot(10_000);
        assert_eq!((told.classes.len(), told.compared), (CLASSES_MAX + 1, 1_000));
    }
}
