//! Goes through the field lines once and keeps aside those that this crate itself acts on.

use memchr::memchr;
use sluice_message::bytes::ascii;
use sluice_message::{Fields, Rejection};

use crate::connection::ConnectionOptions;
use crate::line::{FieldLine, check_control};
use crate::reader::Extent;

/// A field that may be sent once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Once<'b> {
    #[default]
    Absent,
    One(&'b [u8]),
    Many,
}

impl<'b> Once<'b> {
    fn add(&mut self, value: &'b [u8]) {
        *self = match self {
            Self::Absent => Self::One(value),
            _ => Self::Many,
        };
    }
}

/// The fields that decide framing and connection.
#[derive(Debug, Default)]
pub(crate) struct Special<'b> {
    pub host: Once<'b>,
    /// Value with the white space around it, which matters here.
    pub content_length: Once<'b>,
    /// Value with the white space around it, which matters here.
    pub transfer_encoding: Once<'b>,
    pub expect: Once<'b>,
    pub connection: ConnectionOptions,
    pub upgrade: Vec<&'b [u8]>,
}

/// Parses the field lines of a complete head whose line ends are in order.
pub(crate) fn parse_fields<'b>(buf: &'b [u8], extent: &Extent) -> Result<(Fields, Special<'b>), Rejection> {
    let mut rest = &buf[extent.fields_start..extent.fields_end];
    check_control(rest)?;
    let mut fields = Fields::with_capacity(extent.fields_count, rest.len());
    let mut special = Special::default();
    // Looked at once for all names, where no value stands against it.
    let mut text = std::str::from_utf8(rest).ok();
    while let Some(end) = memchr(b'\r', rest) {
        let line = FieldLine::parse(&rest[..end])?;
        special.add(&line)?;
        fields.push(text.map_or_else(|| ascii(line.name), |text| &text[..line.name.len()]), line.value);
        rest = &rest[end + 2..];
        text = text.map(|text| &text[end + 2..]);
    }
    Ok((fields, special))
}

impl<'b> Special<'b> {
    fn add(&mut self, line: &FieldLine<'b>) -> Result<(), Rejection> {
        let is = |name: &str| line.name.eq_ignore_ascii_case(name.as_bytes());
        match line.name.len() {
            4 if is("host") => self.host.add(line.value),
            6 if is("expect") => self.expect.add(line.value),
            7 if is("upgrade") => self.upgrade.push(line.value),
            10 if is("connection") => self.connection.add(line.value)?,
            14 if is("content-length") => self.content_length.add(line.raw),
            17 if is("transfer-encoding") => self.transfer_encoding.add(line.raw),
            _ => {}
        }
        Ok(())
    }
}
