//! The parser: which bytes are text and which are a tag, whatever the pieces that they come in.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::LazyLock;

use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;

use crate::Part;
use crate::tag::{self, Tag};

/// Maximum size of a tag, bytes. A longer one is text.
pub const TAG_BYTES_MAX: usize = 8 * 1024;

const OPEN: &[u8] = b"<esi:";
const END: &[u8] = b"</esi:";
const WRAPPER: &[u8] = b"<!--esi";
const WRAPPER_END: &[u8] = b"-->";
const REMOVE_END: &[u8] = b"</esi:remove";

/// Part that all three beginnings have in common, and few words of a page have.
static COMMON: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("esi"));
static ENDS_WRAPPER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(WRAPPER_END));
static ENDS_REMOVE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(REMOVE_END));

/// Reads a page piece by piece. Text is passed on as soon as it is known to be text.
#[derive(Debug, Default)]
pub struct Parser {
    /// Bytes that may be the beginning of a tag, until the rest of it comes.
    held: BytesMut,
    /// Number of bytes of a held tag that were scanned, and in which quotes that ended.
    scanned: ScanState,
    /// True within `<!--esi` and its `-->`.
    is_wrapped: bool,
    /// True within `<esi:remove>` and its end.
    is_removed: bool,
    /// Includes that no page was asked for, because nobody could read them.
    faults: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct ScanState {
    bytes: usize,
    quote: Option<u8>,
}

/// Next item of a page.
enum PageItem {
    /// Beginning of something that the next piece may continue.
    Unsure(usize),
    /// `<esi:` or `</esi:`.
    Tag(usize),
    Wrapper(usize),
    WrapperEnd(usize),
    /// Nothing.
    Text,
}

impl Parser {
    /// Parser at the beginning of a page.
    pub fn new() -> Self {
        Parser::default()
    }

    /// Tags that could not be read, and pages that ended within one. They were passed on as text.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// Takes the next piece; adds what is known by now.
    pub fn push(&mut self, data: Bytes, parts: &mut Vec<Part>) {
        if data.is_empty() {
            return;
        }
        let input = if self.held.is_empty() {
            data
        } else {
            self.held.extend_from_slice(&data);
            self.held.split().freeze()
        };
        self.run(input, false, parts);
    }

    /// The page is whole: what was held is text.
    pub fn finish(&mut self, parts: &mut Vec<Part>) {
        let input = self.held.split().freeze();
        self.run(input, true, parts);
        self.faults += u64::from(self.is_wrapped) + u64::from(self.is_removed);
        (self.is_wrapped, self.is_removed) = (false, false);
    }

    fn run(&mut self, mut input: Bytes, is_end: bool, parts: &mut Vec<Part>) {
        while !input.is_empty() {
            let rest =
                if self.is_removed { self.skip(&mut input, is_end) } else { self.step(&mut input, is_end, parts) };
            if rest.is_break() {
                self.held.extend_from_slice(&input);
                return;
            }
        }
    }

    /// Passes text on, up to and with the next tag.
    fn step(&mut self, input: &mut Bytes, is_end: bool, parts: &mut Vec<Part>) -> ControlFlow<()> {
        match self.find(input) {
            PageItem::Text => {
                text(input.split_off(0), parts);
                Continue(())
            }
            PageItem::Unsure(at) if is_end => {
                // It will not become one.
                text(input.split_to(at + 1), parts);
                Continue(())
            }
            PageItem::Unsure(at) => {
                text(input.split_to(at), parts);
                Break(())
            }
            PageItem::Wrapper(at) => {
                text(input.split_to(at), parts);
                let _ = input.split_to(WRAPPER.len());
                self.is_wrapped = true;
                Continue(())
            }
            PageItem::WrapperEnd(at) => {
                text(input.split_to(at), parts);
                let _ = input.split_to(WRAPPER_END.len());
                self.is_wrapped = false;
                Continue(())
            }
            PageItem::Tag(at) => {
                text(input.split_to(at), parts);
                self.tag(input, is_end, parts)
            }
        }
    }

    /// Reads the tag that the input begins with.
    fn tag(&mut self, input: &mut Bytes, is_end: bool, parts: &mut Vec<Part>) -> ControlFlow<()> {
        let found = match self.end_of_tag(input) {
            Ok(end) => tag::read(&input[..end]).map(|tag| (tag, end)),
            Err(()) if is_end || input.len() >= TAG_BYTES_MAX => None,
            Err(()) => return Break(()),
        };
        self.scanned = ScanState::default();
        if let Some((tag, end)) = found {
            let _ = input.split_to(end);
            match tag {
                Tag::Include(include) => parts.push(Part::Include(include)),
                Tag::Remove => self.is_removed = true,
                Tag::Nothing => {}
            }
        } else {
            // Its beginning is text, and what follows may be a tag.
            self.faults += 1;
            text(input.split_to(1), parts);
        }
        Continue(())
    }

    /// End of the tag that the input begins with: behind the first `>` that is in no quotes.
    fn end_of_tag(&mut self, input: &[u8]) -> Result<usize, ()> {
        let ScanState { bytes, mut quote } = self.scanned;
        let bound = input.len().min(TAG_BYTES_MAX);
        for (at, byte) in input[..bound].iter().enumerate().skip(bytes) {
            match quote {
                Some(open) if *byte == open => quote = None,
                None if *byte == b'>' => return Ok(at + 1),
                None if b"\"'".contains(byte) => quote = Some(*byte),
                Some(_) | None => {}
            }
        }
        self.scanned = ScanState { bytes: bound, quote };
        Err(())
    }

    /// Drops what is removed, up to and with the tag that ends it.
    fn skip(&mut self, input: &mut Bytes, is_end: bool) -> ControlFlow<()> {
        let kept = |input: &[u8]| open_suffix(input, &[REMOVE_END]).unwrap_or(input.len());
        let Some(at) = ENDS_REMOVE.find(input) else {
            let _ = input.split_to(if is_end { input.len() } else { kept(input) });
            return if input.is_empty() { Continue(()) } else { Break(()) };
        };
        let _ = input.split_to(at);
        let name = REMOVE_END.len();
        let end = input[name..].iter().position(|byte| !byte.is_ascii_whitespace()).map(|end| name + end);
        match end {
            Some(end) if input[end] == b'>' && end < TAG_BYTES_MAX => {
                let _ = input.split_to(end + 1);
                self.is_removed = false;
            }
            None if !is_end && input.len() < TAG_BYTES_MAX => return Break(()),
            // Another name, or white space without an end.
            Some(_) | None => drop(input.split_to(name)),
        }
        Continue(())
    }

    fn find(&self, input: &[u8]) -> PageItem {
        let begins = next_beginning(input);
        let ends = if self.is_wrapped { ENDS_WRAPPER.find(input).map(PageItem::WrapperEnd) } else { None };
        let beginnings: &[&[u8]] =
            if self.is_wrapped { &[OPEN, END, WRAPPER, WRAPPER_END] } else { &[OPEN, END, WRAPPER] };
        let first = match (begins, ends) {
            (Some(begins), Some(ends)) => Some(if begins.at() < ends.at() { begins } else { ends }),
            (begins, ends) => begins.or(ends),
        };
        first.or_else(|| open_suffix(input, beginnings).map(PageItem::Unsure)).unwrap_or(PageItem::Text)
    }
}

impl PageItem {
    fn at(&self) -> usize {
        match self {
            PageItem::Unsure(at) | PageItem::Tag(at) | PageItem::Wrapper(at) | PageItem::WrapperEnd(at) => *at,
            PageItem::Text => usize::MAX,
        }
    }
}

/// The first beginning of a tag or of a wrapper that is whole enough to tell.
fn next_beginning(input: &[u8]) -> Option<PageItem> {
    for at in COMMON.find_iter(input) {
        let (before, after) = (&input[..at], &input[at + 3..]);
        if after.first() == Some(&b':') && before.ends_with(b"<") {
            return Some(PageItem::Tag(at - 1));
        }
        if after.first() == Some(&b':') && before.ends_with(b"</") {
            return Some(PageItem::Tag(at - 2));
        }
        if before.ends_with(b"<!--") {
            match after.first() {
                // Another word begins so.
                Some(byte) if !(byte.is_ascii_whitespace() || *byte == b'<') => {}
                Some(_) => return Some(PageItem::Wrapper(at - 4)),
                None => return Some(PageItem::Unsure(at - 4)),
            }
        }
    }
    None
}

/// Beginning of the input's end that may be the start of one of these.
fn open_suffix(input: &[u8], beginnings: &[&[u8]]) -> Option<usize> {
    let longest = beginnings.iter().map(|beginning| beginning.len() - 1).max().unwrap_or(0);
    let from = input.len().saturating_sub(longest);
    (from..input.len()).find(|at| {
        let suffix = &input[*at..];
        beginnings.iter().any(|beginning| beginning.len() > suffix.len() && beginning.starts_with(suffix))
    })
}

fn text(data: Bytes, parts: &mut Vec<Part>) {
    if !data.is_empty() {
        parts.push(Part::Text(data));
    }
}
