//! Lines that a format describes: fixed text with fields between, as nginx's `log_format` and Apache's `LogFormat` have it.

use super::time::{self, SECOND_US};
use super::{Line, Place};
use crate::arrivals::Told;

/// Content of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Nothing of use here.
    Other,
    /// Status of the answer.
    Status,
    Host,
    Method,
    /// Path, with or without its query.
    Target,
    /// `GET /path HTTP/1.1`.
    Request,
    /// `28/Nov/2026:20:55:04 +0000`.
    Common,
    /// `2026-11-28T20:55:04+00:00`.
    Iso,
    /// Seconds since 1970 with a fraction.
    Epoch,
    /// Whole number since 1970, in units of so many microseconds.
    EpochOf(i64),
    /// Time of the request, in seconds with a fraction.
    Seconds,
    /// Time of the request: a whole number of so many microseconds.
    TimeOf(i64),
    /// Times of the servers that were asked, in seconds: the last one answered. `-` for a server that was not reached.
    Upstream,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Field(Field),
}

/// A format, taken apart.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
    /// Whether the date is that of the request's end.
    is_end: bool,
}

/// Reason why a format cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// Two fields have no text between them.
    #[error("the format has two fields without a text between them")]
    Adjacent,
    /// No date.
    #[error("the format has no date: add {0}")]
    Undated(&'static str),
    /// No path.
    #[error("the format has no request: add {0}")]
    Unnamed(&'static str),
    /// No time.
    #[error("the format has no time of the request: add {0}")]
    Untimed(&'static str),
    /// Neither variables nor directives.
    #[error(
        "sluice, haproxy, nginx, apache, a log_format of nginx such as '$remote_addr ...' or a LogFormat of Apache such as '%h ...' is meant"
    )]
    Unknown,
}

/// Names of the fields in a format, for errors.
pub(super) struct Names {
    pub date: &'static str,
    pub request: &'static str,
    pub time: &'static str,
}

/// Builds a pattern.
pub(super) struct Builder {
    pieces: Vec<Piece>,
}

impl Builder {
    pub(super) fn new() -> Self {
        Self { pieces: Vec::new() }
    }

    pub(super) fn text(&mut self, byte: u8) {
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) => text.push(byte),
            _ => self.pieces.push(Piece::Text(vec![byte])),
        }
    }

    pub(super) fn field(&mut self, field: Field) -> Result<(), FormatError> {
        if matches!(self.pieces.last(), Some(Piece::Field(_))) {
            return Err(FormatError::Adjacent);
        }
        self.pieces.push(Piece::Field(field));
        Ok(())
    }

    /// Leaves only the finest of the fields that have a unit.
    fn keep_finest(&mut self, unit_us: fn(Field) -> Option<i64>) {
        let unit_of = |piece: &Piece| if let Piece::Field(field) = piece { unit_us(*field) } else { None };
        let finest = (0..self.pieces.len()).filter(|at| unit_of(&self.pieces[*at]).is_some());
        let finest = finest.min_by_key(|at| unit_of(&self.pieces[*at]));
        for (at, piece) in self.pieces.iter_mut().enumerate() {
            if unit_of(piece).is_some() && Some(at) != finest {
                *piece = Piece::Field(Field::Other);
            }
        }
    }

    pub(super) fn build(mut self, is_end: bool, names: &Names) -> Result<Pattern, FormatError> {
        use Field::{Common, Epoch, EpochOf, Iso, Request, Seconds, Target, TimeOf, Upstream};
        let has = |is: fn(&Field) -> bool| self.pieces.iter().any(|it| matches!(it, Piece::Field(field) if is(field)));
        if !has(|field| matches!(field, Common | Iso | Epoch | EpochOf(_))) {
            return Err(FormatError::Undated(names.date));
        }
        if !has(|field| matches!(field, Request | Target)) {
            return Err(FormatError::Unnamed(names.request));
        }
        if !has(|field| matches!(field, Seconds | TimeOf(_) | Upstream)) {
            return Err(FormatError::Untimed(names.time));
        }
        self.keep_finest(date_unit_us);
        self.keep_finest(time_unit_us);
        Ok(Pattern { pieces: self.pieces, is_end })
    }
}

/// Microseconds of a date's unit.
fn date_unit_us(field: Field) -> Option<i64> {
    match field {
        Field::Common => Some(SECOND_US),
        // It may have a fraction.
        Field::Iso => Some(SECOND_US - 1),
        Field::Epoch => Some(1_000),
        Field::EpochOf(unit_us) => Some(unit_us),
        _ => None,
    }
}

/// Microseconds of the unit of a request's time.
fn time_unit_us(field: Field) -> Option<i64> {
    match field {
        Field::Seconds => Some(1_000),
        Field::TimeOf(unit_us) => Some(unit_us),
        _ => None,
    }
}

/// Place at which the text begins, not at a quote that is escaped.
fn find(line: &[u8], text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in line.iter().enumerate() {
        if !escaped && line[at..].starts_with(text) {
            return Some(at);
        }
        escaped = *byte == b'\\' && !escaped;
    }
    None
}

impl Pattern {
    /// Reads a line; `None` if it has another format.
    pub(super) fn read<'a>(&self, line: &'a [u8]) -> Option<Line<'a>> {
        let (mut host, mut method, mut target): (&[u8], &[u8], Option<&[u8]>) = (b"", b"GET", None);
        let (mut dated_us, mut is_coarse, mut took_us, mut upstream) = (None, false, None, None);
        let (mut rest, mut is_switched) = (line, false);
        for (at, piece) in self.pieces.iter().enumerate() {
            let field = match piece {
                Piece::Text(text) => {
                    rest = rest.strip_prefix(&text[..])?;
                    continue;
                }
                Piece::Field(field) => *field,
            };
            let end = match self.pieces.get(at + 1) {
                Some(Piece::Text(text)) => find(rest, text)?,
                _ => rest.len(),
            };
            let value = &rest[..end];
            rest = &rest[end..];
            match field {
                Field::Other => {}
                Field::Status => is_switched = value == b"101",
                Field::Host => host = value,
                Field::Method => method = value,
                Field::Target => target = Some(value),
                Field::Request => {
                    let mut words = value.split(|byte| *byte == b' ');
                    (method, target) = (words.next()?, Some(words.next()?));
                }
                Field::Common | Field::Iso => {
                    let is_common = field == Field::Common;
                    dated_us = Some(if is_common { time::common(value)? } else { time::iso(value)? });
                    is_coarse = !value.contains(&b'.');
                }
                Field::Epoch => (dated_us, is_coarse) = (Some(time::seconds(value)?), false),
                Field::EpochOf(unit_us) => {
                    dated_us = Some(time::number(value)?.checked_mul(unit_us)?);
                    is_coarse = unit_us >= SECOND_US;
                }
                Field::Seconds => took_us = Some(time::seconds(value)?),
                Field::TimeOf(unit_us) => took_us = Some(time::number(value)?.checked_mul(unit_us)?),
                Field::Upstream => {
                    let times = value.rsplit(|byte| matches!(byte, b',' | b':')).map(<[u8]>::trim_ascii);
                    let last = times.filter(|time| !matches!(*time, b"" | b"-")).map(time::seconds).next();
                    upstream = Some(if let Some(us) = last { Some(us?) } else { None });
                }
            }
        }
        if !rest.is_empty() {
            return None;
        }
        let place = Place::of(method, host, target?)?;
        // The time of a WebSocket is that of its connection.
        if is_switched {
            return Some(Line::Elsewhere);
        }
        let service_us = match upstream {
            Some(None) => return Some(Line::Elsewhere),
            Some(Some(us)) => us,
            None => took_us?,
        };
        let lasted_us = if self.is_end { took_us.unwrap_or(service_us) } else { 0 };
        let told = Told {
            at_us: dated_us?.saturating_sub(lasted_us),
            service_us: u64::try_from(service_us).ok(),
            cpu_us: None,
            queue_us: None,
        };
        Some(Line::Request { place, told, is_coarse })
    }
}
