//! Reads a profile as it comes: nothing of the file stays in memory but the columns of [`crate::Profile`].

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::marker::PhantomData;

use flate2::bufread::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::merge::{Raw, RawNode, Wrong};
use crate::profile::{Frame, Profile, Ticks};
use crate::trace::Trace;

/// Maximum number of nodes in a tree of calls.
const NODES_MAX: usize = 8_000_000;
/// Maximum number of samples of a profile. Each takes 12 bytes meanwhile.
const SAMPLES_MAX: usize = 64_000_000;
/// Maximum uncompressed size of a profile, bytes.
const UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The first bytes of a file that gzip has made (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Maximum stored length of a function's or script's name, characters.
const NAME_CHARS_MAX: usize = 1024;

/// Reason why a profile could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system's error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Text that is no JSON, or is no profile; with the place of the fault.
    #[error("{0}")]
    Syntax(serde_json::Error),
    /// A file without a byte.
    #[error("it is empty: the program that wrote it was killed, or its disk was full")]
    Empty,
    /// JSON that ends too early.
    #[error("it is cut off ({0}): the program that wrote it was killed, or its disk was full")]
    CutOff(serde_json::Error),
    /// Parts that do not fit each other.
    #[error("{0}")]
    Wrong(#[from] Wrong),
    /// JSON that holds no profile.
    #[error("it contains no CPU profile: neither `nodes` and `samples`, nor a trace with events `ProfileChunk`")]
    Nothing,
    /// The form of Chrome before version 58.
    #[error("it has the format from before 2017, with `head`; take a new profile")]
    Old,
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() { Self::CutOff(error) } else { Self::Syntax(error) }
    }
}

impl Profile {
    /// Takes in the profile that `reader` gives, in plain text or gzip. A `.cpuprofile` of Node.js or Chrome becomes a track of
    /// this name. A trace of Chrome becomes a track for each thread that it profiled.
    ///
    /// # Errors
    /// Says what is wrong with it. What was read before stays in the tree, without samples.
    pub fn read(&mut self, name: &str, reader: impl Read) -> Result<(), ReadError> {
        let mut reader = BufReader::with_capacity(1 << 16, reader);
        if reader.fill_buf()?.is_empty() {
            return Err(ReadError::Empty);
        }
        if reader.fill_buf()?.starts_with(&GZIP) {
            let unpacked = MultiGzDecoder::new(reader).take(UNPACKED_BYTES_MAX);
            return self.read_json(name, BufReader::with_capacity(1 << 16, unpacked));
        }
        self.read_json(name, reader)
    }

    fn read_json(&mut self, name: &str, reader: impl Read) -> Result<(), ReadError> {
        let mut json = serde_json::Deserializer::from_reader(reader);
        let mut found = ProfileParts {
            profile: self,
            raw: Raw::default(),
            trace: Trace::default(),
            has_nodes: false,
            is_old: false,
        };
        json.deserialize_any(&mut found)?;
        json.end()?;
        let ProfileParts { raw, trace, has_nodes, is_old, .. } = found;
        if has_nodes {
            self.add(name.to_owned(), raw)?;
            return Ok(());
        }
        let threads = trace.threads();
        let is_alone = threads.len() == 1;
        if threads.is_empty() {
            return Err(if is_old { ReadError::Old } else { ReadError::Nothing });
        }
        for (thread, raw) in threads {
            self.add(if is_alone { name.to_owned() } else { format!("{name}, {thread}") }, raw)?;
        }
        Ok(())
    }

    /// Takes a node in, with all that it names by ids.
    pub(crate) fn take_node(&mut self, node: JsonNode, raw: &mut Raw) {
        let JsonNode { id, call_frame, children, parent, position_ticks } = node;
        let frame = self.intern(call_frame.into());
        raw.nodes.push(RawNode { id, frame });
        raw.edges.extend(children.into_iter().map(|child| (id, child)));
        raw.edges.extend(parent.map(|parent| (parent, id)));
        raw.ticks.extend(position_ticks.into_iter().map(|JsonTicks { line, ticks }| Ticks {
            node: id,
            line,
            count: ticks,
        }));
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JsonNode {
    id: u32,
    call_frame: CallFrame,
    #[serde(default)]
    children: Vec<u32>,
    #[serde(default)]
    parent: Option<u32>,
    #[serde(default)]
    position_ticks: Vec<JsonTicks>,
}

#[derive(Deserialize)]
struct JsonTicks {
    line: u32,
    ticks: u32,
}

/// Line and column from 0; native code has none, or -1.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    #[serde(default)]
    function_name: String,
    #[serde(default)]
    url: String,
    #[serde(default = "nowhere")]
    line_number: i64,
    #[serde(default = "nowhere")]
    column_number: i64,
}

fn nowhere() -> i64 {
    -1
}

impl From<CallFrame> for Frame {
    fn from(frame: CallFrame) -> Self {
        let from_1 = |number: i64| u32::try_from(number.saturating_add(1)).unwrap_or(0);
        Frame::new(short(frame.function_name), short(frame.url), from_1(frame.line_number), from_1(frame.column_number))
    }
}

fn short(mut name: String) -> String {
    if let Some((end, _)) = name.char_indices().nth(NAME_CHARS_MAX) {
        name.truncate(end);
    }
    name
}

/// Parts found so far, in whatever order the file has them.
struct ProfileParts<'p> {
    profile: &'p mut Profile,
    raw: Raw,
    trace: Trace,
    has_nodes: bool,
    is_old: bool,
}

impl<'de> Visitor<'de> for &mut ProfileParts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a CPU profile or a trace")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let ProfileParts { profile, raw, trace, has_nodes, is_old } = &mut *self;
            match key.as_str() {
                "nodes" => {
                    *has_nodes = true;
                    map.next_value_seed(each(NODES_MAX, |node| profile.take_node(node, raw)))?;
                }
                "samples" => map.next_value_seed(each(SAMPLES_MAX, |sample| raw.samples.push(sample)))?,
                "timeDeltas" => map.next_value_seed(each(SAMPLES_MAX, |delta| raw.deltas_us.push(whole(delta))))?,
                "startTime" => raw.start_us = whole(map.next_value()?),
                "endTime" => raw.end_us = whole(map.next_value()?),
                "traceEvents" => map.next_value_seed(each(usize::MAX, |event| trace.take(profile, &event)))?,
                other => {
                    *is_old |= other == "head";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<(), A::Error> {
        while let Some(event) = events.next_element()? {
            self.trace.take(self.profile, &event);
        }
        Ok(())
    }
}

/// Some tools write times with a fraction.
#[allow(clippy::cast_possible_truncation, reason = "a cast saturates, and microseconds have no fraction that counts")]
pub(crate) fn whole(number: f64) -> i64 {
    number.round() as i64
}

/// Takes the elements of a list, one after the other and at most so many.
struct Each<T, F> {
    count_max: usize,
    take: F,
    of: PhantomData<fn(T)>,
}

fn each<T, F: FnMut(T)>(count_max: usize, take: F) -> Each<T, F> {
    Each { count_max, take, of: PhantomData }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> DeserializeSeed<'de> for Each<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(T)> Visitor<'de> for Each<T, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut elements: A) -> Result<(), A::Error> {
        for _ in 0..self.count_max {
            match elements.next_element()? {
                Some(element) => (self.take)(element),
                None => return Ok(()),
            }
        }
        match elements.next_element::<IgnoredAny>()? {
            Some(_) => Err(A::Error::custom(format_args!("there are more than {} of them", self.count_max))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
