//! The text form of a batch: one command in a line. For tests and for people.

use std::fmt::Write as _;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::codes::{Command, EASINGS, Property};
use super::facts::{self, Word};
use super::{Batch, StreamError};

/// Text of a batch that a surface would take. A property without a name is written `#200`.
pub fn print(batch: &Batch) -> String {
    let mut text = String::new();
    let mut at = 0;
    while let Some(command) = batch.words.get(at).and_then(|word| Command::of((word & 0xff) as u8)) {
        if command == Command::Define {
            let Some(&[style, length]) = batch.words.get(at + 1..at + 3) else { break };
            let end = (at + 3).saturating_add(usize::try_from(length).unwrap_or(0)).min(batch.words.len());
            at += 3;
            let mut entries = Vec::new();
            while at < end {
                let Some(entry) = Command::of((batch.words[at] & 0xff) as u8) else { break };
                entries.push(line(batch, entry, at, 1));
                at += facts::words(entry).len();
            }
            let entries = entries.join("; ");
            let space = if entries.is_empty() { "" } else { " " };
            let _ = writeln!(text, "define {style} {{{space}{entries}{space}}}");
            at = end;
        } else {
            let _ = writeln!(text, "{}", line(batch, command, at, 0));
            at += 1 + facts::words(command).len();
        }
    }
    text
}

/// The command without its first `skipped` words.
fn line(batch: &Batch, command: Command, at: usize, skipped: usize) -> String {
    let mut line = facts::name(command).to_owned();
    let code = (batch.words[at] >> 8 & 0xff) as u8;
    let property = Property::of(code).filter(|_| facts::has_property(command));
    match property {
        Some(property) => line.extend([" ", property.name()]),
        None if facts::has_property(command) => {
            let _ = write!(line, " #{code}");
        }
        None => {}
    }
    for (index, word) in facts::words(command)[skipped..].iter().enumerate() {
        let Some(&value) = batch.words.get(at + 1 + index) else { break };
        let _ = match word {
            Word::Float => write!(line, " {}", print_float(f32::from_bits(value.cast_unsigned()))),
            Word::String => {
                let text = usize::try_from(value).ok().and_then(|index| batch.strings.get(index));
                write!(line, " {}", serde_json::Value::from(text.map_or("", |text| text)))
            }
            Word::Easing => {
                write!(line, " {}", usize::try_from(value).ok().and_then(|index| EASINGS.get(index)).unwrap_or(&"?"))
            }
            Word::Value => write!(line, " {}", print_integer(value, property)),
            _ => write!(line, " {value}"),
        };
    }
    line
}

fn print_float(value: f32) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        value.to_string()
    }
}

fn print_integer(value: i32, property: Option<Property>) -> String {
    let Some(property) = property else { return value.to_string() };
    if property.is_color() {
        return format!("#{:08x}", value.cast_unsigned());
    }
    if facts::is_flag(property) && (value == 0 || value == 1) {
        return (value == 1).to_string();
    }
    let name = usize::try_from(value).ok().and_then(|index| property.values().get(index));
    name.map_or_else(|| value.to_string(), |name| (*name).to_owned())
}

/// Batch of a text. Blank lines and lines that begin with `//` say nothing.
///
/// # Errors
///
/// The first line that is no command, from 0.
pub fn parse(text: &str) -> Result<Batch, StreamError> {
    let mut batch = Batch::default();
    let mut indexes = FxHashMap::default();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with("//") {
            continue;
        }
        let error = |message: String| StreamError::new(number, format!("line {}: {message}", number + 1));
        let tokens = tokens(line);
        let mut parser = Parser { batch: &mut batch, indexes: &mut indexes, tokens: &tokens, at: 0 };
        parser.line().map_err(error)?;
        if let Some(token) = tokens.get(parser.at) {
            return Err(error(format!("\"{token}\" is too much")));
        }
    }
    Ok(batch)
}

/// Strings in JSON's form, braces, semicolons and words.
fn tokens(line: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '{' | '}' | ';' => 1,
            '"' => {
                let mut escaped = false;
                let mut closing = rest[1..].char_indices().filter(|&(_, character)| {
                    let closes = character == '"' && !escaped;
                    escaped = character == '\\' && !escaped;
                    closes
                });
                closing.next().map_or(rest.len(), |(index, _)| index + 2)
            }
            _ => rest
                .find(|character: char| character.is_whitespace() || "{};\"".contains(character))
                .unwrap_or(rest.len()),
        };
        tokens.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    tokens
}

struct Parser<'a> {
    batch: &'a mut Batch,
    /// Places of the strings that the batch has.
    indexes: &'a mut FxHashMap<Rc<str>, i32>,
    tokens: &'a [&'a str],
    at: usize,
}

impl<'a> Parser<'a> {
    fn line(&mut self) -> Result<(), String> {
        let command = self.command()?;
        if command != Command::Define {
            return self.words(command, 0);
        }
        let style = self.number()?;
        self.batch.words.extend([Command::Define as i32, style, 0]);
        let start = self.batch.words.len();
        if self.next()? != "{" {
            return Err("\"{\" is missing".to_owned());
        }
        while self.peek()? != "}" {
            let command = self.command()?;
            if !facts::in_styles(command) {
                return Err(format!("\"{}\" in a style", facts::name(command)));
            }
            self.words(command, 1)?;
            match self.peek()? {
                ";" => self.at += 1,
                "}" => {}
                _ => return Err("\"}\" is missing".to_owned()),
            }
        }
        self.at += 1;
        self.batch.words[start - 1] = (self.batch.words.len() - start) as i32;
        Ok(())
    }

    fn command(&mut self) -> Result<Command, String> {
        let name = self.next()?;
        facts::commands().find(|&command| facts::name(command) == name).ok_or(format!("\"{name}\" is no command"))
    }

    fn words(&mut self, command: Command, skipped: usize) -> Result<(), String> {
        let mut code = 0;
        if facts::has_property(command) {
            let name = self.next()?;
            let named = facts::property(name).map(|property| property as u8);
            let numbered = || name.strip_prefix('#').and_then(|digits| digits.parse().ok());
            code = named.or_else(numbered).ok_or(format!("\"{name}\" is no property"))?;
        }
        self.batch.words.push(command as i32 | i32::from(code) << 8);
        for word in &facts::words(command)[skipped..] {
            let word = self.word(*word, Property::of(code))?;
            self.batch.words.push(word);
        }
        Ok(())
    }

    fn word(&mut self, word: Word, property: Option<Property>) -> Result<i32, String> {
        match (word, property) {
            (Word::Float, _) => {
                let token = self.next()?;
                let value: f32 = token.parse().map_err(|_| format!("\"{token}\" is no number"))?;
                Ok(value.to_bits().cast_signed())
            }
            (Word::String, _) => self.string(),
            (Word::Easing, _) => self.named(&EASINGS),
            (Word::Value, Some(property)) if property.is_color() => {
                let token = self.next()?;
                let digits = token.strip_prefix('#').filter(|digits| digits.len() == 8);
                let color = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
                color.map(u32::cast_signed).ok_or(format!("\"{token}\" is no colour of the form #rrggbbaa"))
            }
            (Word::Value, Some(property)) if facts::is_flag(property) => self.named(&["false", "true"]),
            (Word::Value, Some(property)) => self.named(property.values()),
            _ => self.number(),
        }
    }

    fn string(&mut self) -> Result<i32, String> {
        let token = self.next()?;
        let text: String = serde_json::from_str(token).map_err(|_| format!("{token} is no string"))?;
        let text: Rc<str> = text.into();
        let strings = &mut self.batch.strings;
        let index = *self.indexes.entry(text.clone()).or_insert_with(|| {
            strings.push(text);
            strings.len() as i32 - 1
        });
        Ok(index)
    }

    fn named(&mut self, names: &[&str]) -> Result<i32, String> {
        let token = self.peek()?;
        if let Some(index) = names.iter().position(|name| *name == token) {
            self.at += 1;
            return Ok(index as i32);
        }
        self.number()
    }

    fn number(&mut self) -> Result<i32, String> {
        let token = self.next()?;
        token.parse().map_err(|_| format!("\"{token}\" is no integer"))
    }

    fn peek(&self) -> Result<&'a str, String> {
        self.tokens.get(self.at).copied().ok_or_else(|| "the line ends too early".to_owned())
    }

    fn next(&mut self) -> Result<&'a str, String> {
        let token = self.peek()?;
        self.at += 1;
        Ok(token)
    }
}
