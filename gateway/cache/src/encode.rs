//! A stored page as bytes, for another process: the gateway after this one, or another gateway through a second tier.
//!
//! The form is compact, has a version and a checksum, and is read back only as a whole: what is damaged, of another version or half
//! is refused. Two processes have no steady clock in common, so an age travels with the time of a clock that both can read. A page
//! from that clock's future is refused, because a clock that was set back would make it fresh again.
//!
//! It must not know where the bytes are kept.

use bytes::Bytes;
use sluice_message::bytes::{has_control, is_token};
use sluice_message::{Fields, ResponseHead};

use crate::freshness::{Moment, Stamp};
use crate::stored::Policy;
use crate::tags::TAGS_MAX;
use crate::vary::{Dimensions, VARY_FIELDS_MAX};

/// The first bytes; the last one is the version of the form. Another version is another form: it is never read.
const MAGIC: [u8; 4] = *b"SLP\x01";
/// Magic and checksum.
const FRONT_BYTES: usize = MAGIC.len() + 4;
/// Maximum time by which a page may be dated in the future. Two readings of one clock may differ by it.
const AHEAD_MS_MAX: u64 = 1_000;

/// A page that is to be written.
#[derive(Clone, Copy, Debug)]
pub struct PageRecord<'p> {
    /// URL of the page, as [`crate::key_of`] gives it.
    pub key: &'p str,
    /// Head as it is sent, without its age.
    pub head: &'p ResponseHead,
    /// Rules for whom it may be used, and until when.
    pub policy: &'p Policy,
    /// The tags that the app gave it.
    pub tags: &'p [Box<str>],
    /// Body, not compressed.
    pub body: &'p [u8],
}

/// A page that was read. The body shares the memory of the bytes that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// URL of the page.
    pub key: String,
    /// Head as it is sent, without its age.
    pub head: ResponseHead,
    /// Rules for whom it may be used, and until when.
    pub policy: Policy,
    /// The tags that the app gave it.
    pub tags: Vec<Box<str>>,
    /// Body, not compressed.
    pub body: Bytes,
}

/// Bytes that are no page of this version, or that hold one from the future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// Another program, or another version of this one, has written them.
    #[error("they are of another version")]
    Version,
    /// Bytes that are not what was written.
    #[error("they are damaged")]
    Damaged,
    /// The clock says less than when they were written: it was set back.
    #[error("they are from the future: the clock was set back")]
    Future,
}

/// The checksum that pages have, CRC-32: against damage, and not against somebody who means harm.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The page as bytes. `clock_ms`: milliseconds of the clock that its reader has too.
pub fn encode(page: &PageRecord<'_>, now: Moment, clock_ms: u64) -> Vec<u8> {
    let fields: usize = page.head.fields.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
    let mut out = Vec::with_capacity(FRONT_BYTES + 256 + page.key.len() + fields + page.body.len());
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[0; 4]);
    put_number(&mut out, clock_ms);
    put_policy(&mut out, page.policy, now);
    put_bytes(&mut out, page.key.as_bytes());
    put_number(&mut out, u64::from(page.head.status));
    put_optional(&mut out, page.head.reason.as_deref());
    put_number(&mut out, page.head.fields.len() as u64);
    for (name, value) in page.head.fields.iter() {
        put_bytes(&mut out, name.as_bytes());
        put_bytes(&mut out, value);
    }
    put_number(&mut out, page.tags.len() as u64);
    for tag in page.tags {
        put_bytes(&mut out, tag.as_bytes());
    }
    put_bytes(&mut out, page.body);
    let checksum = checksum(&out[FRONT_BYTES..]);
    out[MAGIC.len()..FRONT_BYTES].copy_from_slice(&checksum.to_le_bytes());
    out
}

/// The page that was written, with the age that it has now by that same clock.
///
/// # Errors
/// Why the bytes are no such page.
pub fn decode(data: &Bytes, now: Moment, clock_ms: u64) -> Result<Page, Unreadable> {
    if data.len() < FRONT_BYTES || data[..MAGIC.len()] != MAGIC {
        return Err(Unreadable::Version);
    }
    let checksum = checksum(&data[FRONT_BYTES..]);
    if data[MAGIC.len()..FRONT_BYTES] != checksum.to_le_bytes() {
        return Err(Unreadable::Damaged);
    }
    let mut input = Input { data, at: FRONT_BYTES };
    let page = input.page(now, clock_ms);
    match page {
        Some(page) if input.at == data.len() => page,
        _ => Err(Unreadable::Damaged),
    }
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_optional(out: &mut Vec<u8>, bytes: Option<&[u8]>) {
    out.push(u8::from(bytes.is_some()));
    if let Some(bytes) = bytes {
        put_bytes(out, bytes);
    }
}

fn put_policy(out: &mut Vec<u8>, policy: &Policy, now: Moment) {
    put_number(out, policy.stamp.age_ms(now));
    put_number(out, policy.lifetime_s);
    put_number(out, policy.while_revalidate_s);
    put_number(out, policy.if_error_s.map_or(0, |seconds| seconds.saturating_add(1)));
    let flags = [policy.never_stale, policy.only_as_told, policy.no_transform];
    out.push(flags.iter().rev().fold(0, |all, flag| all << 1 | u8::from(*flag)));
    let dimensions = policy.dimensions.parts();
    put_number(out, dimensions.len() as u64);
    for (name, sent, value) in dimensions {
        put_bytes(out, name.as_bytes());
        put_optional(out, sent);
        put_optional(out, value);
    }
}

/// Bytes that are still to be read. Each reader gives `None` where the bytes are not what it reads; nothing is reserved by a
/// count that they only claim.
struct Input<'d> {
    data: &'d Bytes,
    at: usize,
}

impl Input<'_> {
    fn page(&mut self, now: Moment, clock_ms: u64) -> Option<Result<Page, Unreadable>> {
        let written_ms = self.number()?;
        if written_ms > clock_ms.saturating_add(AHEAD_MS_MAX) {
            self.at = self.data.len();
            return Some(Err(Unreadable::Future));
        }
        let policy = self.policy(now, clock_ms.saturating_sub(written_ms))?;
        let key = self.text()?;
        let head = self.head()?;
        let mut tags = Vec::new();
        for _ in 0..self.count(TAGS_MAX)? {
            tags.push(self.text()?.into());
        }
        let body = self.bytes()?;
        Some(Ok(Page { key, head, policy, tags, body }))
    }

    fn policy(&mut self, now: Moment, since_ms: u64) -> Option<Policy> {
        let stamp = Stamp::aged(self.number()?.saturating_add(since_ms), now);
        let (lifetime_s, while_revalidate_s) = (self.number()?, self.number()?);
        let if_error_s = self.number()?.checked_sub(1);
        let flags = self.byte().filter(|flags| *flags < 8)?;
        let mut dimensions = Vec::new();
        for _ in 0..self.count(VARY_FIELDS_MAX)? {
            dimensions.push((self.text()?.into(), self.optional()?, self.optional()?));
        }
        Some(Policy {
            dimensions: Dimensions::from_parts(dimensions),
            lifetime_s,
            stamp,
            while_revalidate_s,
            if_error_s,
            never_stale: flags & 1 != 0,
            only_as_told: flags & 2 != 0,
            no_transform: flags & 4 != 0,
        })
    }

    /// A head that is in order, as [`Fields`] demands.
    fn head(&mut self) -> Option<ResponseHead> {
        let is_line = |value: &[u8]| !has_control(value) && !value.iter().any(|byte| matches!(byte, b'\r' | b'\n'));
        let status = self.number().and_then(|status| u16::try_from(status).ok());
        let status = status.filter(|status| (200..600).contains(status))?;
        let reason = self.optional()?;
        if reason.as_ref().is_some_and(|reason| !is_line(reason)) {
            return None;
        }
        let mut fields = Fields::default();
        for _ in 0..self.number()? {
            let (name, value) = (self.text()?, self.bytes()?);
            if !is_token(name.as_bytes()) || !is_line(&value) {
                return None;
            }
            fields.push(&name, value.trim_ascii());
        }
        Some(ResponseHead { status, reason: reason.map(Into::into), fields })
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.data.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                return None;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn count(&mut self, max: usize) -> Option<usize> {
        self.number().and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= max)
    }

    fn bytes(&mut self) -> Option<Bytes> {
        let len = self.count(self.data.len() - self.at)?;
        let end = self.at.checked_add(len).filter(|end| *end <= self.data.len())?;
        let bytes = self.data.slice(self.at..end);
        self.at = end;
        Some(bytes)
    }

    #[expect(clippy::option_option, reason = "nothing where the bytes are not what it reads")]
    fn optional(&mut self) -> Option<Option<Vec<u8>>> {
        if self.byte()? == 0 { Some(None) } else { Some(Some(self.bytes()?.to_vec())) }
    }

    fn text(&mut self) -> Option<String> {
        std::str::from_utf8(&self.bytes()?).ok().map(str::to_owned)
    }
}
