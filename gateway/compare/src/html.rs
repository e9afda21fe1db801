//! Pages of two versions, compared word by word.
//!
//! What varies by itself is learned from two renders of the present version. Where they differ, the version on trial may have anything of the same
//! kind and about the same length: a number for a number. Ids and the names of hashed files need no second render, because they may be
//! another version's without being another page. Runs of white space are alike.

use std::collections::HashMap;
use std::ops::Range;

/// Maximum number of edits between two compared renders.
const EDITS_MAX: usize = 500;
/// Maximum number of words between two varying places that count as part of them, if they are not markup.
const JOINED_MAX: usize = 2;
/// Words that a varying place may have beyond twice its length.
const LONGER: usize = 8;
/// Shortest ids: of hexadecimal digits, and of any letters and digits.
const HEX_LEN: usize = 8;
const ID_LEN: usize = 16;
const UUID_LEN: usize = 36;
/// Maximum number of words of a compared render.
const WORDS_MAX: usize = 200_000;
/// Words between two looks whether the time is up.
const LOOK_EVERY: usize = 4_096;
/// Characters of a difference that are shown, and those of them before it.
const SHOWN: usize = 120;
const SHOWN_BEFORE: usize = 40;

/// Result of comparing a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageVerdict {
    /// No difference but in places that vary by themselves.
    Same,
    /// A difference.
    Differs(PageDifference),
    /// The renders of the present version differ too much from each other, or the version on trial from them.
    Unclear,
    /// A render has too many words, or the time was up.
    TooLong,
}

/// First difference of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageDifference {
    /// Line of the version on trial, from 1.
    pub line: usize,
    /// Text there in the present version.
    pub present: String,
    /// Text there in the version on trial.
    pub trial: String,
}

/// Compares a page of the version on trial with renders of the present version, of which the first one came before it and the others after it.
/// Values that count up with time are then between them. `is_hashed` says whether a file's path changes with its content, `is_over` whether the time
/// for it is up.
pub fn compare_pages(
    present: &[&str],
    trial: &str,
    is_hashed: fn(&str) -> bool,
    is_over: &dyn Fn() -> bool,
) -> PageVerdict {
    compared(present, trial, is_hashed, is_over).unwrap_or_else(|verdict| verdict)
}

fn compared(
    present: &[&str],
    trial: &str,
    is_hashed: fn(&str) -> bool,
    is_over: &dyn Fn() -> bool,
) -> Result<PageVerdict, PageVerdict> {
    let (first, others) = present.split_first().ok_or(PageVerdict::Unclear)?;
    let mut words = Words { numbers: HashMap::new(), path_end: 0, is_hashed, is_over };
    let (first_words, trial_words) = (words.of(first)?, words.of(trial)?);
    let mut varying = Vec::new();
    for other in others {
        let other_words = words.of(other)?;
        let hunks = hunks(&first_words, &other_words, is_over)?;
        varying.extend(hunks.into_iter().map(|hunk| Varying::of(&hunk, &first_words, &other_words)));
    }
    let varying = joined(varying, &first_words, first);
    let hunks = hunks(&first_words, &trial_words, is_over)?;
    let found = hunks.into_iter().find(|hunk| !varying.iter().any(|place| place.excuses(hunk, &trial_words)));
    Ok(found.map_or(PageVerdict::Same, |hunk| {
        let at = |words: &[Word], at: usize, text: &str| words.get(at).map_or(text.len(), |word| word.at);
        let (in_first, in_trial) = (at(&first_words, hunk.a.start, first), at(&trial_words, hunk.b.start, trial));
        PageVerdict::Differs(PageDifference {
            line: trial[..in_trial].matches('\n').count() + 1,
            present: shown(first, in_first),
            trial: shown(trial, in_trial),
        })
    }))
}

/// Text of the line around this place.
fn shown(text: &str, at: usize) -> String {
    let before = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let from = text[before..at].char_indices().rev().nth(SHOWN_BEFORE - 1).map_or(before, |(index, _)| before + index);
    let line = text[from..].split('\n').next().unwrap_or_default();
    line.trim().chars().take(SHOWN).collect()
}

/// A word, a sign or a run of white space.
#[derive(Clone, Copy, Debug)]
struct Word {
    /// Place in the text.
    at: usize,
    /// Number of its text, the same for equal ones.
    number: u32,
    is_digits: bool,
}

/// Text by which a word is equal to others.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key<'t> {
    Text(&'t str),
    Space,
    Id,
    /// Folder and extension of a file whose name has a hash.
    File(&'t str, &'t str),
}

struct Words<'t, 'o> {
    numbers: HashMap<Key<'t>, u32>,
    /// End of the last run of characters of a path. Nothing before it is read again.
    path_end: usize,
    is_hashed: fn(&str) -> bool,
    is_over: &'o dyn Fn() -> bool,
}

impl<'t> Words<'t, '_> {
    /// Words of the text.
    ///
    /// # Errors
    /// There are more than [`WORDS_MAX`], or the time is up.
    fn of(&mut self, text: &'t str) -> Result<Vec<Word>, PageVerdict> {
        let mut words = Vec::new();
        let mut at = 0;
        self.path_end = 0;
        while let Some(first) = text[at..].chars().next() {
            if words.len() >= WORDS_MAX || words.len() % LOOK_EVERY == 0 && (self.is_over)() {
                return Err(PageVerdict::TooLong);
            }
            let (key, len) = self.key(text, at, first);
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(key).or_insert(next);
            let is_digits = first.is_ascii_digit()
                && matches!(key, Key::Text(word) if word.bytes().all(|byte| byte.is_ascii_digit()));
            words.push(Word { at, number, is_digits });
            at += len;
        }
        Ok(words)
    }

    /// Key and length of the word at this place.
    fn key(&mut self, text: &'t str, at: usize, first: char) -> (Key<'t>, usize) {
        let text = &text[at..];
        let len_of = |is_of: fn(char) -> bool| text.find(|char| !is_of(char)).unwrap_or(text.len());
        if first.is_whitespace() {
            return (Key::Space, len_of(char::is_whitespace));
        }
        if has_uuid(text) {
            return (Key::Id, UUID_LEN);
        }
        if at >= self.path_end && is_of_path(first) {
            let path = &text[..len_of(is_of_path)];
            self.path_end = at + path.len();
            if path.contains('.') && (self.is_hashed)(path) {
                let folder = path.rfind('/').map_or("", |end| &path[..=end]);
                let extension = path.rfind('.').map_or("", |dot| &path[dot..]);
                return (Key::File(folder, extension), path.len());
            }
        }
        if is_of_word(first) {
            let word = &text[..len_of(is_of_word)];
            return (if is_id(word) { Key::Id } else { Key::Text(word) }, word.len());
        }
        (Key::Text(&text[..first.len_utf8()]), first.len_utf8())
    }
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn is_of_path(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | '~' | '@' | '+')
}

/// Whether the text begins with a UUID: 8-4-4-4-12 digits.
fn has_uuid(text: &str) -> bool {
    let Some(uuid) = text.as_bytes().get(..UUID_LEN) else { return false };
    uuid.iter().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// Whether a word is an id: letters and digits, where a name would be shorter or have no digit.
fn is_id(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed = digits > 0 && digits < word.len() && word.is_ascii();
    is_mixed && (is_hex && word.len() >= HEX_LEN || word.len() >= ID_LEN)
}

/// Place of the first render that varies by itself.
#[derive(Clone, Debug)]
struct Varying {
    place: Range<usize>,
    /// Words there in the longest of the renders.
    longest: usize,
    is_number: bool,
}

impl Varying {
    fn of(hunk: &Hunk, first: &[Word], other: &[Word]) -> Self {
        let (a, b) = (&first[hunk.a.clone()], &other[hunk.b.clone()]);
        let is_number = a.len() == 1 && b.len() == 1 && a[0].is_digits && b[0].is_digits;
        Varying { place: hunk.a.clone(), longest: a.len().max(b.len()), is_number }
    }

    /// Whether a difference of the version on trial is one that the place has by itself.
    fn excuses(&self, hunk: &Hunk, trial: &[Word]) -> bool {
        let words = &trial[hunk.b.clone()];
        let is_inside = self.place.start <= hunk.a.start && hunk.a.end <= self.place.end;
        let fits = if self.is_number {
            words.len() == 1 && words[0].is_digits
        } else {
            words.len() <= self.longest * 2 + LONGER
        };
        is_inside && fits
    }
}

/// Places with what is between them, if that is short and no markup.
fn joined(mut places: Vec<Varying>, words: &[Word], text: &str) -> Vec<Varying> {
    places.sort_by_key(|varying| (varying.place.start, varying.place.end));
    let mut joined: Vec<Varying> = Vec::new();
    for next in places {
        let is_plain =
            |between: Range<usize>| words[between].iter().all(|word| !text[word.at..].starts_with(['<', '>']));
        match joined.last_mut() {
            Some(last)
                if next.place.start <= last.place.end + JOINED_MAX
                    && (next.place.start <= last.place.end || is_plain(last.place.end..next.place.start)) =>
            {
                let is_same = last.place == next.place;
                last.is_number &= next.is_number && is_same;
                last.longest =
                    if is_same { last.longest.max(next.longest) } else { last.longest + JOINED_MAX + next.longest };
                last.place.end = last.place.end.max(next.place.end);
            }
            _ => joined.push(next),
        }
    }
    joined
}

/// Words of one render in place of those of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hunk {
    a: Range<usize>,
    b: Range<usize>,
}

/// Differences of two texts, the fewest edits there are (Myers 1986).
///
/// # Errors
/// There are more than [`EDITS_MAX`], or the time is up.
fn hunks(a: &[Word], b: &[Word], is_over: &dyn Fn() -> bool) -> Result<Vec<Hunk>, PageVerdict> {
    let same = |(one, other): &(&Word, &Word)| one.number == other.number;
    let before = a.iter().zip(b).take_while(same).count();
    let (a, b) = (&a[before..], &b[before..]);
    let after = a.iter().rev().zip(b.iter().rev()).take_while(same).count();
    let (a, b) = (&a[..a.len() - after], &b[..b.len() - after]);
    let edits = edits(a, b, is_over)?;
    let mut hunks: Vec<Hunk> = Vec::new();
    for Edit { a, b, is_insertion } in edits {
        let (a, b) = (a + before, b + before);
        let (more_a, more_b) = if is_insertion { (0, 1) } else { (1, 0) };
        match hunks.last_mut() {
            Some(last) if last.a.end == a && last.b.end == b => {
                (last.a.end, last.b.end) = (a + more_a, b + more_b);
            }
            _ => hunks.push(Hunk { a: a..a + more_a, b: b..b + more_b }),
        }
    }
    Ok(hunks)
}

/// A word that is inserted or removed, at these places.
struct Edit {
    a: usize,
    b: usize,
    is_insertion: bool,
}

/// Edits from `a` to `b`, round by round: in each one, the farthest place of `a` on every diagonal that one edit more reaches.
fn edits(a: &[Word], b: &[Word], is_over: &dyn Fn() -> bool) -> Result<Vec<Edit>, PageVerdict> {
    // Diagonals are x - y; `shift` makes them indices.
    let most = (a.len() + b.len()).min(EDITS_MAX);
    let shift = most + 1;
    let mut reached = vec![0_usize; 2 * shift + 1];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for round in 0..=most {
        rounds.push(reached[shift - round - 1..=shift + round + 1].to_vec());
        for at in (shift - round..=shift + round).step_by(2) {
            // Texts that repeat themselves let a diagonal pass over many words.
            if at % 16 == 0 && is_over() {
                return Err(PageVerdict::TooLong);
            }
            let (left, right) = (reached[at - 1], reached[at + 1]);
            let by_insertion = at == shift - round || at != shift + round && left < right;
            let mut x = if by_insertion { right } else { left + 1 };
            // Rows below the first one only: x - k is never negative.
            let Some(mut y) = (x + shift).checked_sub(at) else { continue };
            while x < a.len() && y < b.len() && a[x].number == b[y].number {
                (x, y) = (x + 1, y + 1);
            }
            reached[at] = x;
            if x >= a.len() && y >= b.len() {
                return Ok(back(&rounds, shift, a.len(), b.len()));
            }
        }
    }
    Err(PageVerdict::Unclear)
}

/// The way back from the end, round by round.
fn back(rounds: &[Vec<usize>], shift: usize, x: usize, y: usize) -> Vec<Edit> {
    let (mut x, mut y) = (x, y);
    let mut edits = Vec::new();
    for (round, reached) in rounds.iter().enumerate().skip(1).rev() {
        let at = x + shift - y;
        // The round's slice begins one diagonal below its lowest.
        let of = |at: usize| reached[at + round + 1 - shift];
        let by_insertion = at == shift - round || at != shift + round && of(at - 1) < of(at + 1);
        let from = if by_insertion { at + 1 } else { at - 1 };
        let from_x = of(from);
        let from_y = from_x + shift - from;
        edits.push(Edit { a: from_x, b: from_y, is_insertion: by_insertion });
        (x, y) = (from_x, from_y);
    }
    edits.reverse();
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_hashed(path: &str) -> bool {
        path.ends_with("-DiwrgTdA.js") || path.ends_with("-BxY12_ab.js") || path.ends_with(".3f2a9c1b.css")
    }

    fn judged(present: &[&str], trial: &str) -> PageVerdict {
        compare_pages(present, trial, is_hashed, &|| false)
    }

    fn difference(present: &[&str], trial: &str) -> PageDifference {
        match judged(present, trial) {
            PageVerdict::Differs(difference) => difference,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn equal_pages_are_the_same_and_another_word_is_told_with_its_line() {
        let page = "<html>\n<h1>Shirts</h1>\n<p>12 of them</p>\n</html>";
        assert_eq!(judged(&[page, page], page), PageVerdict::Same);
        let other = page.replace("Shirts", "Skirts");
        let expected = PageDifference { line: 2, present: "<h1>Shirts</h1>".into(), trial: "<h1>Skirts</h1>".into() };
        assert_eq!(difference(&[page, page], &other), expected);
        let more = difference(&[page, page], &format!("{page}<!-- more -->"));
        assert_eq!((more.line, more.trial.as_str()), (4, "</html><!-- more -->"));
        let less = difference(&[page, page], &page.replace("<p>12 of them</p>\n", ""));
        assert_eq!((less.line, less.present.as_str()), (3, "<p>12 of them</p>"));
        assert!(matches!(judged(&[page, page], ""), PageVerdict::Differs(_)));
        assert_eq!(judged(&["", ""], ""), PageVerdict::Same);
        assert_eq!(judged(&[], page), PageVerdict::Unclear);
    }

    #[test]
    fn what_two_renders_differ_in_is_no_difference() {
        let page = |ms: &str, nonce: &str, name: &str| {
            format!("<script nonce=\"{nonce}\"></script><p>Made in {ms} ms for {name}.</p><footer>2026</footer>")
        };
        let (one, two) = (page("13", "a+b/c==", "Ada"), page("14", "x9", "Grace Hopper"));
        assert_eq!(judged(&[&one, &two], &page("1007", "q/w/e/r", "Jean Bartik")), PageVerdict::Same);
        assert!(
            matches!(judged(&[&one, &two], &page("many", "q", "Ada")), PageVerdict::Differs(_)),
            "a number for a number"
        );
        let other = page("15", "q", "Ada").replace("<footer>2026", "<footer>1970");
        assert!(difference(&[&one, &two], &other).trial.ends_with("<footer>1970</footer>"));
        let long = page("15", "q", &"very ".repeat(20));
        assert!(matches!(judged(&[&one, &two], &long), PageVerdict::Differs(_)), "far longer than the place ever was");
    }

    #[test]
    fn third_render_teaches_what_two_agreed_in_by_chance() {
        let page = |one: &str, two: &str| format!("<ul><li>{one}</li><li>{two}</li></ul>");
        let (first, second, third) = (page("Hat", "Shoe"), page("Hat", "Belt"), page("Sock", "Belt"));
        let trial = page("Tie", "Vest");
        assert!(matches!(judged(&[&first, &second], &trial), PageVerdict::Differs(_)));
        assert_eq!(judged(&[&first, &second, &third], &trial), PageVerdict::Same);
    }

    #[test]
    fn ids_and_hashed_names_are_of_their_version() {
        let page = |file: &str, id: &str| format!("<script src=\"/assets/{file}\"></script><i id=\"{id}\"></i>");
        let one = page("index-DiwrgTdA.js", "550e8400-e29b-41d4-a716-44665544abcd");
        assert_eq!(
            judged(&[&one, &one], &page("index-BxY12_ab.js", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")),
            PageVerdict::Same
        );
        assert_eq!(
            judged(&[&one, &one], &page("index-BxY12_ab.js", "550e8400-e29b-41d4-a716-44665544abcd")),
            PageVerdict::Same
        );
        for (file, id) in [
            ("index.js", "550e8400-e29b-41d4-a716-44665544abcd"),
            ("a.3f2a9c1b.css", "550e8400-e29b-41d4-a716-44665544abcd"),
        ] {
            assert!(matches!(judged(&[&one, &one], &page(file, id)), PageVerdict::Differs(_)), "{file}");
        }
        let names = ["GET", "12345678", "deadbeef", "container", "internationalization", "größe1234567890123"];
        assert!(names.iter().all(|name| !is_id(name)));
        assert!(["3f2a9c1b", "k3J9x0QmZ7LpTz12"].iter().all(|id| is_id(id)));
    }

    #[test]
    fn white_space_is_alike_and_shown_lines_are_short() {
        assert_eq!(judged(&["<p>a b</p>\n"], "<p>a\n\n  b</p> "), PageVerdict::Same);
        let long = format!("{}<b>é</b>{}", "é".repeat(1_000), "ü".repeat(1_000));
        let told = difference(&[&long], &long.replace("<b>é", "<b>a"));
        assert_eq!(told.trial.chars().count(), SHOWN);
        assert!(told.trial.contains("<b>a</b>"), "{told:?}");
    }

    #[test]
    fn pages_without_anything_in_common_are_unclear() {
        let words =
            |seed: usize| (0..2_000).map(|at| format!("w{}", at * 7 + seed * 100_003)).collect::<Vec<_>>().join(" ");
        assert_eq!(judged(&[&words(1), &words(2)], &words(1)), PageVerdict::Unclear);
        assert_eq!(judged(&[&words(1), &words(1)], &words(3)), PageVerdict::Unclear);
    }

    /// Characters of paths that were given to `is_hashed`.
    static LOOKED_AT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

    #[test]
    fn run_of_path_characters_is_looked_at_once() {
        let counts = |path: &str| {
            LOOKED_AT.fetch_add(path.len(), std::sync::atomic::Ordering::Relaxed);
            false
        };
        let image = "iVBORw0KGgoAAAANSUhEUgAAAAUA.AAAFCAYAAACNbyblAAAAHElEQVQI12P4/".repeat(1024 * 1024 / 63);
        let page = format!("<img src=\"data:image/png;base64,{image}\">");
        assert_eq!(compare_pages(&[&page, &page], &page, counts, &|| false), PageVerdict::Same);
        let looked = LOOKED_AT.load(std::sync::atomic::Ordering::Relaxed);
        assert!(looked <= 3 * page.len(), "{looked} of {}", page.len());
    }

    #[test]
    fn words_and_time_have_a_bound() {
        let words = "a ".repeat(WORDS_MAX / 2);
        assert_eq!(judged(&[&words, &words], &words), PageVerdict::Same);
        let more = format!("{words}b");
        assert_eq!(judged(&[&words, &words], &more), PageVerdict::TooLong);
        assert_eq!(judged(&[&words, &more], &words), PageVerdict::TooLong);
        assert_eq!(compare_pages(&["a", "a"], "a", is_hashed, &|| true), PageVerdict::TooLong);
        let looks = std::cell::Cell::new(0);
        let third_look = || looks.replace(looks.get() + 1) >= 2;
        let (one, other) = ("a b ".repeat(1_000), "b a ".repeat(900));
        assert_eq!(compare_pages(&[&one], &other, is_hashed, &third_look), PageVerdict::TooLong);
    }

    /// Applying the hunks to one text gives the other, and there are never more edits than words.
    #[test]
    fn hunks_lead_from_one_text_to_the_other() {
        let mut state = 7_u64;
        let mut chance = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        for _ in 0..2_000 {
            let mut text = |len: u64| -> Vec<Word> {
                let len = chance(len);
                let word = |_| Word { at: 0, number: u32::try_from(chance(4)).unwrap(), is_digits: false };
                (0..len).map(word).collect()
            };
            let (a, b) = (text(30), text(30));
            let hunks = hunks(&a, &b, &|| false).unwrap();
            let (mut made, mut at) = (Vec::new(), 0);
            for hunk in &hunks {
                made.extend(a[at..hunk.a.start].iter().map(|word| word.number));
                assert_eq!(made.len(), hunk.b.start);
                made.extend(b[hunk.b.clone()].iter().map(|word| word.number));
                at = hunk.a.end;
            }
            made.extend(a[at..].iter().map(|word| word.number));
            assert_eq!(made, b.iter().map(|word| word.number).collect::<Vec<_>>());
        }
    }
}
