//! Batches in the form that they have in one process, and their commands one by one.

use std::rc::Rc;

use super::codes::{Command, Property};
use super::facts;

/// All that one commit changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Commands.
    pub words: Vec<i32>,
    /// Strings that the commands name by their place.
    pub strings: Vec<Rc<str>>,
    /// `sequence` of the key that led to the batch, or 0.
    pub cause: i32,
}

/// Value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Pixels or a plain number.
    Number(f32),
    /// Percent of the parent.
    Percent(f32),
    /// Colour, choice, flag or integer.
    Integer(i32),
    /// Text.
    Text(Rc<str>),
}

/// Sizes beyond this are as good as infinite, and their sums stay exact enough.
pub const NUMBER_MAX: f32 = 1e6;

/// A number as a property takes it; `None` if it is not finite.
pub fn bounded(number: f32) -> Option<f32> {
    number.is_finite().then(|| number.clamp(-NUMBER_MAX, NUMBER_MAX))
}

impl Value {
    /// The value as the property takes it; `None` if the property cannot have it: it keeps the value that it had.
    pub fn of(self, property: Property) -> Option<Self> {
        match self {
            Self::Number(number) if facts::is_number(property) => bounded(number).map(Self::Number),
            Self::Percent(percent) if facts::is_length(property) => bounded(percent).map(Self::Percent),
            Self::Text(_) if facts::is_text(property) => Some(self),
            Self::Integer(integer) => {
                let choices = property.values().len();
                let is_one = |choices: usize| usize::try_from(integer).is_ok_and(|integer| integer < choices);
                let is_taken = property.is_color()
                    || (facts::is_flag(property) && is_one(2))
                    || (choices > 0 && is_one(choices))
                    || facts::is_number(property);
                let is_whole = matches!(property, Property::ZIndex | Property::FontWeight | Property::MaxLines);
                if facts::is_number(property) && !is_whole {
                    return Some(Self::Number((integer as f32).clamp(-NUMBER_MAX, NUMBER_MAX)));
                }
                is_taken.then_some(self)
            }
            _ => None,
        }
    }
}

/// How a property changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// Milliseconds; 0 changes at once.
    pub duration: f32,
    /// Milliseconds before the change begins.
    pub delay: f32,
    /// Place in the list of easings.
    pub easing: u8,
}

/// An animation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Animate {
    /// Word of the first value: a float, or the bits of a colour. Not a number: the value that the property has.
    pub from: i32,
    /// Word of the last value.
    pub to: i32,
    /// Time of one run.
    pub timing: Transition,
    /// Further runs; 65535 is without end.
    pub repeat: u16,
    /// Whether every second run goes back.
    pub alternate: bool,
}

/// A command. Properties are `None` if this version does not know them.
#[derive(Clone, Debug, PartialEq)]
pub enum Op<'a> {
    /// A new widget.
    Create(i32),
    /// A widget becomes a child.
    Place {
        /// Its parent, 0 for the root.
        parent: i32,
        /// The widget.
        id: i32,
        /// Child that comes after it, or 0.
        before: i32,
    },
    /// A widget and all below it are gone.
    Remove(i32),
    /// An own value.
    Set(i32, Option<Property>, Value),
    /// No own value any more.
    Reset(i32, Option<Property>),
    /// The shared style of a widget.
    Style(i32, i32),
    /// The focus style of a widget.
    FocusStyle(i32, i32),
    /// A shared style with the words of its entries.
    Define(i32, &'a [i32]),
    /// The focus.
    Focus(i32),
    /// An own transition.
    Transition(i32, Option<Property>, Transition),
    /// An animation begins.
    Animate(i32, Option<Property>, Animate),
    /// An animation is no more.
    Stop(i32, Option<Property>),
}

/// Commands of a batch that [`super::check`] has passed.
pub struct Ops<'a> {
    words: &'a [i32],
    strings: &'a [Rc<str>],
    at: usize,
}

impl Batch {
    /// Commands; ends early at what [`super::check`] refuses.
    pub fn ops(&self) -> Ops<'_> {
        Ops { words: &self.words, strings: &self.strings, at: 0 }
    }

    /// Empties it and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.strings.clear();
        self.cause = 0;
    }
}

const fn float(word: i32) -> f32 {
    f32::from_bits(word.cast_unsigned())
}

impl<'a> Iterator for Ops<'a> {
    type Item = Op<'a>;

    fn next(&mut self) -> Option<Op<'a>> {
        let head = *self.words.get(self.at)?;
        let command = Command::of((head & 0xff) as u8)?;
        let property = Property::of((head >> 8 & 0xff) as u8);
        let start = self.at + 1;
        let end = start + facts::words(command).len();
        let &[id, ref rest @ ..] = self.words.get(start..end)? else { return None };
        self.at = end;
        Some(match command {
            Command::Create => Op::Create(id),
            Command::Place => Op::Place { parent: id, id: rest[0], before: rest[1] },
            Command::Remove => Op::Remove(id),
            Command::Number | Command::Percent | Command::Integer | Command::String => {
                Op::Set(id, property, value(command, rest[0], self.strings)?)
            }
            Command::Reset => Op::Reset(id, property),
            Command::Style => Op::Style(id, rest[0]),
            Command::FocusStyle => Op::FocusStyle(id, rest[0]),
            Command::Define => {
                self.at = end.checked_add(usize::try_from(rest[0]).ok()?)?;
                Op::Define(id, self.words.get(end..self.at)?)
            }
            Command::Focus => Op::Focus(id),
            Command::Transition => Op::Transition(id, property, transition(rest)),
            Command::Animate => Op::Animate(
                id,
                property,
                Animate {
                    from: rest[0],
                    to: rest[1],
                    timing: transition(&rest[2..]),
                    repeat: rest[5] as u16,
                    alternate: rest[5] >> 16 & 1 == 1,
                },
            ),
            Command::Stop => Op::Stop(id, property),
        })
    }
}

fn value(command: Command, word: i32, strings: &[Rc<str>]) -> Option<Value> {
    Some(match command {
        Command::Number => Value::Number(float(word)),
        Command::Percent => Value::Percent(float(word)),
        Command::Integer => Value::Integer(word),
        _ => Value::Text(strings.get(usize::try_from(word).ok()?)?.clone()),
    })
}

fn transition(words: &[i32]) -> Transition {
    // What is not finite or below 0 is no time.
    let time = |word| Some(float(word)).filter(|time| time.is_finite()).map_or(0.0, |time| time.clamp(0.0, 1e9));
    Transition { duration: time(words[0]), delay: time(words[1]), easing: words[2] as u8 }
}

/// Entries of a shared style, as [`Op::Set`] and [`Op::Transition`] of widget 0.
pub fn entries<'a>(words: &'a [i32], strings: &'a [Rc<str>]) -> impl Iterator<Item = Op<'static>> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        let head = *words.get(at)?;
        let command = Command::of((head & 0xff) as u8)?;
        let property = Property::of((head >> 8 & 0xff) as u8);
        let rest = words.get(at + 1..at + facts::words(command).len())?;
        at += 1 + rest.len();
        Some(if command == Command::Transition {
            Op::Transition(0, property, transition(rest))
        } else {
            Op::Set(0, property, value(command, *rest.first()?, strings)?)
        })
    })
}
