//! The types that a key can have, and how each is read from TOML and from one line of text. It must not know any key.

use std::collections::BTreeMap;

use serde_json::json;
use toml::de::DeValue;

use super::duration::TimeUnit;
use super::nearest;
use super::table::Bounds;
use super::value_error::ValueError;

/// Type of a key's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A time: a whole number of this unit, or a string with a unit of its own.
    Time(TimeUnit),
    /// A whole number, or this word.
    IntegerOr(&'static str),
    /// `true` or `false`.
    Boolean,
    /// A string.
    Text,
    /// A string, or nothing.
    OptionalText,
    /// An array of strings.
    TextList,
    /// A table of strings.
    TextMap,
    /// An array of tables, with these entries.
    Tables(&'static [Column]),
    /// One of these words, each with its description.
    Word(&'static [(&'static str, &'static str)]),
}

/// Form of an entry's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A string.
    Text,
    /// An array of strings.
    List,
    /// A whole number.
    Number,
}

/// An entry of each table in an array of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the entry.
    pub name: &'static str,
    /// Form of the value.
    pub form: Form,
    /// Whether every table must have it.
    pub is_required: bool,
    /// Description of the entry.
    pub text: &'static str,
}

/// A type that a key can have.
pub trait Value: Sized {
    /// Type of the value as users write it.
    const KIND: Kind;
    /// Whether the type is a number, which needs bounds.
    const BOUNDED: bool = false;

    /// Reads the value of a file.
    ///
    /// # Errors
    /// If it is of another type or out of bounds.
    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError>;

    /// Reads the value of an environment variable or a flag. Lists and maps are written as JSON.
    ///
    /// # Errors
    /// If it cannot be read as this type, or is out of bounds.
    fn from_text(text: &str, bounds: Option<Bounds>) -> Result<Self, ValueError>;

    /// The word that replaces `text`, where that is an old spelling which is still read.
    fn successor(_text: &str) -> Option<&'static str> {
        None
    }

    /// The value as data.
    fn to_json(&self) -> serde_json::Value;
}

/// Elements of an array of tables, each as `read` takes it. An error names the number of its element.
pub(super) fn elements<T>(
    value: &DeValue<'_>,
    kind: Kind,
    read: impl Fn(&DeValue<'_>) -> Result<T, ValueError>,
) -> Result<Vec<T>, ValueError> {
    let elements = value.as_array().ok_or_else(|| ValueError::of_type(kind, value))?.iter().enumerate();
    let read = |(at, element): (usize, &toml::Spanned<DeValue<'_>>)| {
        read(element.get_ref()).map_err(|error| ValueError::Element { number: at + 1, error: Box::new(error) })
    };
    elements.map(read).collect()
}

macro_rules! integers {
    ($($type:ty)+) => {$(
        impl Value for $type {
            const KIND: Kind = Kind::Integer;
            const BOUNDED: bool = true;

            fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
                let number = value.as_integer().ok_or_else(|| ValueError::of_type(Self::KIND, value))?;
                within(i128::from_str_radix(number.as_str(), number.radix()).ok(), number.as_str(), bounds)
            }

            fn from_text(text: &str, bounds: Option<Bounds>) -> Result<Self, ValueError> {
                let number = text.trim().parse::<i128>().map_err(|_| ValueError::of_text(Self::KIND, text))?;
                within(Some(number), text, bounds)
            }

            fn to_json(&self) -> serde_json::Value {
                json!(self)
            }
        }
    )+};
}

integers!(u16 u32 u64);

/// Number of requests that a worker holds at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// Fixed number of requests.
    Fixed(u32),
    /// One, and further requests while those that it holds wait for something else than the CPU.
    WhileWaiting,
}

const WHILE_WAITING: &str = "while-waiting";
/// Former name of the same word, which is still read.
const AUTO: &str = "auto";

impl Value for Concurrency {
    const KIND: Kind = Kind::IntegerOr(WHILE_WAITING);
    const BOUNDED: bool = true;

    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        match value.as_str() {
            Some(text) => Self::from_text(text, bounds),
            None => u32::from_toml(value, bounds).map(Self::Fixed),
        }
    }

    fn from_text(text: &str, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        if matches!(text.trim(), WHILE_WAITING | AUTO) {
            return Ok(Self::WhileWaiting);
        }
        u32::from_text(text, bounds).map(Self::Fixed).map_err(|error| ValueError::NorWord {
            error: Box::new(error),
            word: WHILE_WAITING,
            is_near: nearest(text, [WHILE_WAITING]).is_some(),
        })
    }

    fn successor(text: &str) -> Option<&'static str> {
        (text.trim() == AUTO).then_some(WHILE_WAITING)
    }

    fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Fixed(count) => json!(count),
            Self::WhileWaiting => json!(WHILE_WAITING),
        }
    }
}

/// Converts a number and checks its bounds. A number beyond the parser's type is out of bounds as well, with the same message.
fn within<T: TryFrom<u64>>(number: Option<i128>, written: &str, bounds: Option<Bounds>) -> Result<T, ValueError> {
    let bounds = bounds.unwrap_or(Bounds { min: 0, max: u64::MAX });
    number
        .and_then(|number| u64::try_from(number).ok())
        .filter(|number| (bounds.min..=bounds.max).contains(number))
        .and_then(|number| T::try_from(number).ok())
        .ok_or_else(|| ValueError::OutOfBounds { bounds, written: written.to_owned() })
}

impl Value for bool {
    const KIND: Kind = Kind::Boolean;

    fn from_toml(value: &DeValue<'_>, _: Option<Bounds>) -> Result<Self, ValueError> {
        value.as_bool().ok_or_else(|| ValueError::of_type(Self::KIND, value))
    }

    fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
        match text.trim() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(ValueError::of_text(Self::KIND, text)),
        }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }
}

impl Value for String {
    const KIND: Kind = Kind::Text;

    fn from_toml(value: &DeValue<'_>, _: Option<Bounds>) -> Result<Self, ValueError> {
        value.as_str().ok_or_else(|| ValueError::of_type(Self::KIND, value)).and_then(without_nul)
    }

    fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
        without_nul(text)
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }
}

impl Value for Option<String> {
    const KIND: Kind = Kind::OptionalText;

    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        String::from_toml(value, bounds).map(Some)
    }

    /// Reads an empty text as no value, so that an environment variable can remove the file's value.
    fn from_text(text: &str, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        if text.is_empty() { Ok(None) } else { String::from_text(text, bounds).map(Some) }
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }
}

impl Value for Vec<String> {
    const KIND: Kind = Kind::TextList;

    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        let elements = value.as_array().ok_or_else(|| ValueError::of_type(Self::KIND, value))?;
        elements.iter().map(|element| String::from_toml(element.get_ref(), bounds)).collect()
    }

    fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
        let elements: Self = serde_json::from_str(text).map_err(ValueError::NotJsonArray)?;
        elements.iter().map(|element| without_nul(element)).collect()
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }
}

impl Value for BTreeMap<String, String> {
    const KIND: Kind = Kind::TextMap;

    fn from_toml(value: &DeValue<'_>, bounds: Option<Bounds>) -> Result<Self, ValueError> {
        let entries = value.as_table().ok_or_else(|| ValueError::of_type(Self::KIND, value))?;
        let read = |(name, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
            let name: &std::borrow::Cow<'_, str> = name.get_ref();
            match String::from_toml(value.get_ref(), bounds) {
                Ok(value) => Ok((name.clone().into_owned(), value)),
                Err(error) => Err(ValueError::Entry { name: name.clone().into_owned(), error: Box::new(error) }),
            }
        };
        entries.iter().map(read).collect()
    }

    fn from_text(text: &str, _: Option<Bounds>) -> Result<Self, ValueError> {
        serde_json::from_str(text).map_err(ValueError::NotJsonObject)
    }

    fn to_json(&self) -> serde_json::Value {
        json!(self)
    }
}

/// Paths, arguments and variables with NUL cannot be given to the operating system.
fn without_nul(text: &str) -> Result<String, ValueError> {
    if text.contains('\0') { Err(ValueError::Nul) } else { Ok(text.to_owned()) }
}
