//! Access logs: lines to arrivals. Formats are recognised line by line until one fits, unless one is named.

mod apache;
mod haproxy;
mod nginx;
mod paths;
mod pattern;
mod sluice;
#[cfg(test)]
mod tests;
pub(crate) mod time;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead};
use std::str::FromStr;

use serde::Serialize;
use sluice_catalog::config::Config;
use sluice_classes::{Classes, Traits};
use sluice_message::Method;

use crate::arrivals::{Arrivals, Stretch, Told};
use fastrand::Rng;
pub use paths::{Asked, PathCounts, PathReader};
pub use pattern::FormatError;
use pattern::Pattern;
use time::SECOND_US;

/// Maximum size of a line, bytes. Longer ones count as strange.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// Time of a request below which a field is rather something else.
const TINY_US: u64 = 100;
/// Maximum number of listed line numbers of unreadable lines.
const NAMED_MAX: usize = 5;

/// Traits that decide a request's class.
#[derive(Debug, PartialEq)]
struct Place<'a> {
    /// Class of the log; empty where it has none, and method, host and path decide.
    class: Cow<'a, str>,
    method: Cow<'a, str>,
    host: Cow<'a, str>,
    target: Cow<'a, str>,
}

impl<'a> Place<'a> {
    fn of(method: &'a [u8], host: &'a [u8], target: &'a [u8]) -> Option<Self> {
        if method.is_empty() || target.is_empty() {
            return None;
        }
        let [method, host, target] = [method, host, target].map(String::from_utf8_lossy);
        Some(Self { class: Cow::Borrowed(""), method, host, target })
    }
}

/// Content of a line.
#[derive(Debug, PartialEq)]
enum Line<'a> {
    /// A request for a worker. `is_coarse`: its date has whole seconds.
    Request { place: Place<'a>, told: Told, is_coarse: bool },
    /// A request that no worker was asked for: from a cache, a file, or refused before.
    Elsewhere,
    /// A line of Sluice's log that is not about a request.
    Event,
}

/// Format of a log.
#[derive(Clone, Debug)]
enum Kind {
    Sluice,
    Haproxy,
    Nginx(Pattern),
    Apache(Pattern),
}

impl Kind {
    fn read<'a>(&self, line: &'a [u8]) -> Option<Line<'a>> {
        match self {
            Self::Sluice => sluice::read(line),
            Self::Haproxy => haproxy::read(line),
            Self::Nginx(pattern) | Self::Apache(pattern) => pattern.read(line),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Sluice => "Sluice",
            Self::Haproxy => "HAProxy",
            Self::Nginx(_) => "nginx",
            Self::Apache(_) => "Apache",
        }
    }
}

/// Formats that a log may have; the default is all that are recognised.
#[derive(Clone, Debug)]
pub struct Format(Vec<Kind>);

impl Default for Format {
    fn default() -> Self {
        let nginx = nginx::known().map(Kind::Nginx);
        let apache = apache::KNOWN.iter().filter_map(|format| apache::pattern(format).ok()).map(Kind::Apache);
        Self([Kind::Sluice, Kind::Haproxy].into_iter().chain(nginx).chain(apache).collect())
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        let named = |name: &str| Self(Self::default().0.into_iter().filter(|kind| kind.name() == name).collect());
        Ok(match text {
            "sluice" => named("Sluice"),
            "haproxy" => named("HAProxy"),
            "nginx" => named("nginx"),
            "apache" => named("Apache"),
            _ if text.contains('$') => Self(vec![Kind::Nginx(nginx::pattern(text)?)]),
            _ if text.contains('%') => Self(vec![Kind::Apache(apache::pattern(text)?)]),
            _ => return Err(FormatError::Unknown),
        })
    }
}

/// Counts of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All lines.
    pub lines: u64,
    /// Requests for workers.
    pub requests: u64,
    /// Requests that no worker was asked for.
    pub elsewhere: u64,
    /// Lines that are of no known format.
    pub strange: u64,
    /// File and number of the first of them, as `access.log:7`.
    pub strange_first: Vec<String>,
    /// Lines of a web server's log without the time that the request took.
    pub untimed: u64,
    /// Requests whose date is more than 400 days from that of the middle one. They are left out, and not in `requests`.
    pub far: u64,
    /// Requests whose date has whole seconds.
    pub coarse: u64,
    /// Requests whose time is a whole number of seconds.
    pub whole: u64,
    /// Requests with a time below 100 µs.
    pub tiny: u64,
    /// Names of the formats.
    pub formats: Vec<&'static str>,
}

/// Reads logs, one after the other.
pub struct LogReader {
    format: Format,
    arrivals: Arrivals,
    counts: Counts,
    classes: Classes,
    methods: HashMap<Box<str>, Method>,
    rng: Rng,
}

/// Result of reading a line.
enum Content<'a> {
    /// A line of this format.
    Line(Line<'a>, &'static str),
    /// `combined` and `common` of nginx and Apache end without a time.
    Untimed { method: &'a [u8], target: &'a [u8] },
    /// Any other line.
    Strange,
}

/// Reads a line that ends without a time.
fn untimed(line: &[u8]) -> Option<Content<'_>> {
    let open = line.iter().position(|byte| *byte == b'[')?;
    let close = open + line[open..].iter().position(|byte| *byte == b']')?;
    time::common(&line[open + 1..close])?;
    let request = line[close..].strip_prefix(b"] \"")?;
    let mut words = request.split(|byte| matches!(byte, b' ' | b'"'));
    Some(Content::Untimed { method: words.next().unwrap_or_default(), target: words.next().unwrap_or_default() })
}

/// Reads a log to its end: `take` gets the number of each line that is not empty, and its content. The first readable line
/// decides the format.
fn read_lines(input: &mut dyn BufRead, kinds: &[Kind], mut take: impl FnMut(u64, Content<'_>)) -> io::Result<()> {
    let mut found: Option<&Kind> = None;
    let (mut line, mut number) = (Vec::new(), 0_u64);
    while let Some(is_whole) = next_line(input, &mut line)? {
        number += 1;
        if line.is_empty() {
            continue;
        }
        let read = match (is_whole, found) {
            (false, _) => None,
            (true, Some(kind)) => kind.read(&line).map(|line| (line, kind.name())),
            (true, None) => kinds.iter().find_map(|kind| {
                let read = kind.read(&line)?;
                found = Some(kind);
                Some((read, kind.name()))
            }),
        };
        let content = match read {
            Some((line, kind)) => Content::Line(line, kind),
            None if found.is_none() => untimed(&line).unwrap_or(Content::Strange),
            None => Content::Strange,
        };
        take(number, content);
    }
    Ok(())
}

impl LogReader {
    /// Creates a reader of this format. `seed` decides where in its second a request arrived whose date has whole
    /// seconds.
    pub fn new(format: Format, seed: u64) -> Self {
        Self {
            format,
            arrivals: Arrivals::default(),
            counts: Counts::default(),
            classes: Classes::new(&Config::default()),
            methods: HashMap::new(),
            rng: Rng::with_seed(seed),
        }
    }

    /// Reads a log to its end, in bounded memory beside 20 bytes for each request. `name` is for messages.
    ///
    /// # Errors
    /// When the log cannot be read on.
    pub fn read(&mut self, name: &str, input: &mut dyn BufRead) -> io::Result<()> {
        let format = std::mem::replace(&mut self.format, Format(Vec::new()));
        let outcome = read_lines(input, &format.0, |number, content| {
            self.counts.lines += 1;
            match content {
                Content::Line(line, kind) => {
                    if !self.counts.formats.contains(&kind) {
                        self.counts.formats.push(kind);
                    }
                    self.take(line);
                }
                Content::Untimed { .. } => self.counts.untimed += 1,
                Content::Strange => {
                    self.counts.strange += 1;
                    if self.counts.strange_first.len() < NAMED_MAX {
                        self.counts.strange_first.push(format!("{name}:{number}"));
                    }
                }
            }
        });
        self.format = format;
        outcome
    }

    fn take(&mut self, line: Line<'_>) {
        let (place, mut told, is_coarse) = match line {
            Line::Request { place, told, is_coarse } => (place, told, is_coarse),
            Line::Elsewhere => {
                self.counts.elsewhere += 1;
                return;
            }
            Line::Event => return,
        };
        self.counts.requests += 1;
        self.counts.whole += u64::from(told.service_us.is_some_and(|us| us % SECOND_US.unsigned_abs() == 0));
        self.counts.tiny += u64::from(told.service_us.is_some_and(|us| us < TINY_US));
        if is_coarse {
            self.counts.coarse += 1;
            let within_us = self.rng.i64(0..SECOND_US);
            told.at_us = told.at_us.saturating_add(within_us);
        }
        let Place { class, method, host, target } = place;
        let class = if class.is_empty() {
            let known = self.methods.get(&*method).cloned();
            let method = known.unwrap_or_else(|| {
                let parsed = Method::parse(method.as_bytes()).unwrap_or_default();
                if self.methods.len() < 32 {
                    self.methods.insert(method.as_ref().into(), parsed.clone());
                }
                parsed
            });
            let traits = Traits { method: &method, host: &host, target: &target, body_bytes: 0 };
            self.arrivals.class(&self.classes.classify(&traits).name)
        } else {
            self.arrivals.class(&class)
        };
        self.arrivals.add(class, told);
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.arrivals.len()
    }

    /// Counts of lines so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The stretch of at most `requests_max` consecutive requests in which most was asked for per second, and the
    /// counts of all lines.
    pub fn busiest(self, requests_max: usize) -> (Stretch, Counts) {
        let mut counts = self.counts;
        let (stretch, far) = self.arrivals.busiest(requests_max.max(1));
        counts.far = far as u64;
        counts.requests -= counts.far;
        (stretch, counts)
    }
}

/// Reads the next line without its end. `Some(false)` if it was too long and was cut, `None` at the end of the input.
fn next_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Option<bool>> {
    line.clear();
    let (mut is_whole, mut has_begun) = (true, false);
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        has_begun = true;
        let end = memchr::memchr(b'\n', available);
        let part = &available[..end.unwrap_or(available.len())];
        let room = LINE_BYTES_MAX - line.len();
        is_whole &= part.len() <= room;
        line.extend_from_slice(&part[..part.len().min(room)]);
        let taken = part.len() + usize::from(end.is_some());
        input.consume(taken);
        if end.is_some() {
            break;
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(has_begun.then_some(is_whole))
}
