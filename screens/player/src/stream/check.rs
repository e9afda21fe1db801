//! Judges a batch as a whole before anything of it is applied.

use rustc_hash::{FxHashMap, FxHashSet};

use super::codes::{Command, EASINGS};
use super::{Batch, STRING_BYTES_MAX, STRINGS_MAX, StreamError, WORDS_MAX, facts};

/// Parent of a widget that is in no tree.
pub const OUTSIDE: i32 = -1;

/// Levels that a check walks up at most: no command costs more, however deep the app nests.
const LEVELS_MAX: usize = 1024;

/// What a surface has before the batch.
pub trait Known {
    /// Parent of a widget: 0 for the root, [`OUTSIDE`], or `None` for a number without a widget.
    fn parent_of(&self, id: i32) -> Option<i32>;
    /// Whether a shared style is defined.
    fn has_style(&self, style: i32) -> bool;
}

/// Checks a batch against the rules of the stream.
///
/// # Errors
///
/// The first rule that it breaks, with the place of the word.
pub fn check(batch: &Batch, known: &impl Known) -> Result<(), StreamError> {
    if batch.words.len() > WORDS_MAX {
        return Err(StreamError::new(0, format!("batch has {} words, limit is {WORDS_MAX}", batch.words.len())));
    }
    if batch.strings.len() > STRINGS_MAX {
        return Err(StreamError::new(0, format!("batch has {} strings, limit is {STRINGS_MAX}", batch.strings.len())));
    }
    if batch.strings.iter().any(|text| text.len() > STRING_BYTES_MAX) {
        return Err(StreamError::new(0, format!("a string is longer than {STRING_BYTES_MAX} bytes")));
    }
    let mut check = Check {
        batch,
        known,
        parents: FxHashMap::default(),
        above: FxHashSet::default(),
        gone: FxHashSet::default(),
        styles: FxHashSet::default(),
    };
    let mut at = 0;
    while at < batch.words.len() {
        at = check.command(at)?;
    }
    Ok(())
}

struct Check<'a, K> {
    batch: &'a Batch,
    known: &'a K,
    /// Parents of widgets that the batch has created or placed so far.
    parents: FxHashMap<i32, i32>,
    /// Widgets that the batch has placed others in.
    above: FxHashSet<i32>,
    gone: FxHashSet<i32>,
    styles: FxHashSet<i32>,
}

impl<K: Known> Check<'_, K> {
    /// Checks the command and returns the place of the next one.
    fn command(&mut self, at: usize) -> Result<usize, StreamError> {
        let (command, _) = self.head(at)?;
        let end = at + 1 + facts::words(command).len();
        let Some(&[first, ref rest @ ..]) = self.batch.words.get(at + 1..end) else { return Err(missing(at)) };
        match command {
            Command::Create => self.create(first, at)?,
            Command::Place => self.place(first, rest[0], rest[1], at)?,
            Command::Remove => {
                self.alive(first, at)?;
                self.gone.insert(first);
            }
            Command::Style | Command::FocusStyle => {
                self.alive(first, at)?;
                self.style(rest[0], at)?;
            }
            Command::Define => return self.define(first, rest[0], at),
            Command::Focus if first == 0 => {}
            _ => {
                self.alive(first, at)?;
                self.values(command, rest, at)?;
            }
        }
        Ok(end)
    }

    fn head(&self, at: usize) -> Result<(Command, i32), StreamError> {
        let word = self.batch.words[at];
        let unknown = || StreamError::new(at, format!("word {at}: command {} is unknown", word.cast_unsigned()));
        let command = Command::of((word & 0xff) as u8).ok_or_else(unknown)?;
        let bits = if facts::has_property(command) { 16 } else { 8 };
        if word.cast_unsigned() >> bits != 0 { Err(unknown()) } else { Ok((command, word)) }
    }

    /// Checks the words of a property's command that name strings and easings.
    fn values(&self, command: Command, words: &[i32], at: usize) -> Result<(), StreamError> {
        let easing = match command {
            Command::String => {
                let index = words[0];
                if usize::try_from(index).is_ok_and(|index| index < self.batch.strings.len()) {
                    return Ok(());
                }
                return Err(StreamError::new(at, format!("word {at}: the batch has no string {index}")));
            }
            Command::Transition => words[2],
            Command::Animate => words[4],
            _ => return Ok(()),
        };
        if usize::try_from(easing).is_ok_and(|easing| easing < EASINGS.len()) {
            return Ok(());
        }
        Err(StreamError::new(at, format!("word {at}: easing {easing} is unknown")))
    }

    fn create(&mut self, id: i32, at: usize) -> Result<(), StreamError> {
        if id <= 0 {
            return Err(StreamError::new(at, format!("word {at}: {id} is no number for a widget")));
        }
        if self.parent_of(id).is_some() {
            return Err(StreamError::new(at, format!("word {at}: there is a widget {id}")));
        }
        self.parents.insert(id, OUTSIDE);
        Ok(())
    }

    fn place(&mut self, parent: i32, id: i32, before: i32, at: usize) -> Result<(), StreamError> {
        if parent != 0 {
            self.alive(parent, at)?;
        }
        self.alive(id, at)?;
        if before != 0 {
            self.alive(before, at)?;
            if before == id || self.parent_of(before) != Some(parent) {
                return Err(StreamError::new(at, format!("word {at}: {before} is no other child of {parent}")));
            }
        }
        // A widget of this batch that nothing has been placed in is above none but itself.
        let is_leaf = !self.above.contains(&id) && self.known.parent_of(id).is_none();
        let is_inside = if is_leaf { parent == id } else { self.meets(parent, at, |above| above == id)? };
        if is_inside {
            return Err(StreamError::new(at, format!("word {at}: widget {id} would be inside itself")));
        }
        self.above.insert(parent);
        self.parents.insert(id, parent);
        Ok(())
    }

    fn style(&self, style: i32, at: usize) -> Result<(), StreamError> {
        if style == 0 || self.styles.contains(&style) || self.known.has_style(style) {
            return Ok(());
        }
        Err(StreamError::new(at, format!("word {at}: there is no style {style}")))
    }

    fn define(&mut self, style: i32, length: i32, at: usize) -> Result<usize, StreamError> {
        if style <= 0 {
            return Err(StreamError::new(at, format!("word {at}: {style} is no number for a style")));
        }
        if self.styles.contains(&style) || self.known.has_style(style) {
            return Err(StreamError::new(at, format!("word {at}: style {style} is defined already")));
        }
        let start = at + 3;
        let end = usize::try_from(length).ok().and_then(|length| start.checked_add(length));
        let end = end.filter(|&end| end <= self.batch.words.len()).ok_or_else(|| missing(at))?;
        let mut entry = start;
        while entry < end {
            let (command, word) = self.head(entry)?;
            if !facts::in_styles(command) {
                return Err(StreamError::new(entry, format!("word {entry}: command {} in a style", word & 0xff)));
            }
            let next = entry + facts::words(command).len();
            if next > end {
                return Err(missing(entry));
            }
            self.values(command, &self.batch.words[entry + 1..next], entry)?;
            entry = next;
        }
        self.styles.insert(style);
        Ok(end)
    }

    fn parent_of(&self, id: i32) -> Option<i32> {
        self.parents.get(&id).copied().or_else(|| self.known.parent_of(id))
    }

    /// A widget is gone with the first one above it that has been removed: nothing gets below that one later, nor out.
    fn alive(&self, id: i32, at: usize) -> Result<(), StreamError> {
        if id <= 0 || self.parent_of(id).is_none() {
            return Err(StreamError::new(at, format!("word {at}: there is no widget {id}")));
        }
        if self.gone.is_empty() {
            return Ok(());
        }
        if self.meets(id, at, |above| self.gone.contains(&above))? {
            return Err(StreamError::new(at, format!("word {at}: widget {id} has been removed")));
        }
        Ok(())
    }

    /// Whether a widget, or one above it, is one of those that are asked for.
    fn meets(&self, id: i32, at: usize, is_one: impl Fn(i32) -> bool) -> Result<bool, StreamError> {
        let mut above = id;
        for _ in 0..LEVELS_MAX {
            if above <= 0 {
                return Ok(false);
            }
            if is_one(above) {
                return Ok(true);
            }
            above = self.parent_of(above).unwrap_or(OUTSIDE);
        }
        Err(StreamError::new(at, format!("word {at}: widget {id} is below {LEVELS_MAX} others")))
    }
}

fn missing(at: usize) -> StreamError {
    StreamError::new(at, format!("word {at}: a word is missing"))
}
