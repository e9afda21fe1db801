//! Composes a page: reads it, requests its includes as they are found, and writes text and includes in their order. The page's worker never
//! waits for an include: reading ahead has a bound, and beyond that the page's own buffer and its file take it (I2).

use std::collections::VecDeque;
use std::rc::Rc;

use bytes::Bytes;
use sluice_catalog::errors::Code;
use sluice_esi::{Parser, Part};
use sluice_journal::IncludeEnd;

use super::include::{IncludePosition, Parent};
use crate::answers::ResponseBody;
use crate::respond::compress::KeptBody;
use sluice_wire::receive::memory::MemoryHold;
use sluice_wire::respond::answer::{Answer, Departure, End, Next};
use sluice_wire::signal::Signal;

/// Maximum size of text that waits behind an include, bytes.
const AHEAD_BYTES_MAX: usize = 1024 * 1024;
/// Bytes that are read or written at once, at most.
const READ_BYTES: usize = 64 * 1024;
/// Maximum size of written text that the client has not read, bytes. The rest stays where it is, in the cache or in
/// the page's own buffer.
const UNREAD_BYTES_MAX: u64 = 256 * 1024;

/// Source of the page's bytes.
pub(crate) enum Source {
    /// A complete page that was not read yet.
    Whole(Bytes),
    /// A cached page.
    Kept(Rc<KeptBody>),
    /// A page that the worker still writes.
    Fill(Rc<Answer>),
    /// The end of the page, with these trailers.
    Ended(Vec<(String, Vec<u8>)>),
}

impl Source {
    /// Source for a body; `None` if it is not one to compose.
    pub(crate) fn of(body: &ResponseBody) -> Option<Self> {
        match body {
            ResponseBody::Whole(data) => Some(Source::Whole(data.clone())),
            ResponseBody::Kept(body) => Some(Source::Kept(Rc::clone(body))),
            // A stream may have no end.
            ResponseBody::Fill(answer, _) => (!answer.facts.is_stream.get()).then(|| Source::Fill(Rc::clone(answer))),
            ResponseBody::Empty | ResponseBody::File(_) => None,
        }
    }

    fn has_ended(&self) -> bool {
        matches!(self, Source::Ended(_))
    }

    async fn changed(&self) {
        match self {
            Source::Fill(answer) => answer.changed.wait().await,
            Source::Whole(_) | Source::Kept(_) | Source::Ended(_) => std::future::pending().await,
        }
    }
}

/// Part of the page to be written, in order.
enum Segment {
    Text(Bytes),
    Include(Rc<IncludePosition>),
}

pub(crate) struct Weaving {
    parent: Rc<Parent>,
    source: Source,
    parser: Parser,
    segments: VecDeque<Segment>,
    /// Memory of the text among the segments.
    held: MemoryHold,
    /// Set when the body of a place is known.
    settled: Rc<Signal>,
    /// Composed answer, which the client reads.
    output: Rc<Answer>,
}

impl Drop for Weaving {
    /// Ends the answer. This also runs if the task has panicked: the client must not wait for ever.
    fn drop(&mut self) {
        for segment in &self.segments {
            if let Segment::Include(place) = segment {
                place.leave();
            }
        }
        if let Source::Fill(answer) = &self.source {
            answer.abandon();
        }
        self.output.fail(Code::GatewayFailed);
    }
}

impl Weaving {
    pub(crate) fn new(parent: Parent, source: Source, output: &Rc<Answer>) -> Self {
        Weaving {
            held: MemoryHold::of(&parent.road.store.memory),
            parent: Rc::new(parent),
            source,
            parser: Parser::new(),
            segments: VecDeque::new(),
            settled: Rc::default(),
            output: Rc::clone(output),
        }
    }

    /// Composes the page until it is complete, cannot be completed, or has no reader.
    pub(crate) async fn run(mut self) {
        loop {
            self.write().await;
            match self.output.departure() {
                _ if !self.output.is_wanted() => return,
                Departure::Gone => return,
                Departure::Half => self.half_close(),
                Departure::None => {}
            }
            if let (Source::Ended(trailers), true) = (&mut self.source, self.segments.is_empty()) {
                return self.output.complete(std::mem::take(trailers));
            }
            let may_read = self.may_read();
            if may_read {
                match self.read().await {
                    Ok(true) => continue,
                    Ok(false) => {}
                    Err(End::Failed(code)) => return self.output.fail(code),
                    Err(End::Left | End::Complete) => return self.output.leave(),
                }
            }
            tokio::select! {
                biased;
                () = self.output.departing.wait() => {}
                () = self.settled.wait() => {}
                () = self.output.taken.wait() => {}
                () = self.source.changed(), if may_read => {}
            }
        }
    }

    /// Writes everything before the first include that is still pending, within the bound for unread bytes.
    async fn write(&mut self) {
        while self.output.unread_bytes() < UNREAD_BYTES_MAX {
            let Some(segment) = self.segments.front_mut() else { return };
            let data = match segment {
                Segment::Text(data) => {
                    let piece = data.split_to(data.len().min(READ_BYTES));
                    self.held.shrink(piece.len());
                    piece
                }
                Segment::Include(place) if !place.is_settled() => return,
                Segment::Include(place) => {
                    let body = place.take();
                    self.segments.pop_front();
                    if let Some(body) = body {
                        self.output.push(body.data).await;
                    }
                    continue;
                }
            };
            if matches!(segment, Segment::Text(rest) if rest.is_empty()) {
                self.segments.pop_front();
            }
            self.output.push(data).await;
        }
    }

    /// Shows the app that the client has closed its sending side.
    fn half_close(&self) {
        if let Source::Fill(answer) = &self.source {
            answer.half_close();
        }
    }

    fn may_read(&mut self) -> bool {
        if self.source.has_ended() {
            return false;
        }
        let before = self.held.bytes();
        let has_room = self.held.try_grow(READ_BYTES, AHEAD_BYTES_MAX);
        self.held.set(before);
        has_room || self.segments.is_empty()
    }

    /// Reads the available bytes of the page. Returns whether there were any.
    ///
    /// # Errors
    /// End of a page that is incomplete.
    async fn read(&mut self) -> Result<bool, End> {
        let data = match &mut self.source {
            Source::Whole(data) => {
                let data = std::mem::take(data);
                self.take(data);
                self.end(Vec::new());
                return Ok(true);
            }
            Source::Kept(body) => {
                let parts = body.parts();
                self.add(parts.parts.iter().cloned());
                // Its bytes are the cache's.
                self.held.set(0);
                self.ended(parts.faults, Vec::new());
                return Ok(true);
            }
            Source::Fill(answer) => match answer.next() {
                None => return Ok(false),
                Some(Next::Data(data)) => data,
                Some(Next::Spilled { .. }) => {
                    answer.read_back(READ_BYTES).await.map_err(|_| End::Failed(Code::TempFull))?
                }
                Some(Next::End(End::Complete)) => {
                    let trailers = answer.take_trailers();
                    self.end(trailers);
                    return Ok(true);
                }
                Some(Next::End(end)) => return Err(end),
                Some(Next::Informational(_) | Next::Head(_)) => return Ok(true),
            },
            Source::Ended(_) => return Ok(false),
        };
        self.take(data);
        Ok(true)
    }

    fn take(&mut self, data: Bytes) {
        let mut parts = Vec::new();
        self.parser.push(data, &mut parts);
        self.add(parts);
    }

    fn end(&mut self, trailers: Vec<(String, Vec<u8>)>) {
        let mut parts = Vec::new();
        self.parser.finish(&mut parts);
        self.add(parts);
        self.ended(self.parser.faults(), trailers);
    }

    fn ended(&mut self, faults: u64, trailers: Vec<(String, Vec<u8>)>) {
        self.parent.road.transforms.composer.count(IncludeEnd::Malformed, faults);
        self.source = Source::Ended(trailers);
    }

    fn add(&mut self, parts: impl IntoIterator<Item = Part>) {
        for part in parts {
            self.segments.push_back(match part {
                Part::Text(data) => {
                    self.held.set(self.held.bytes() + data.len());
                    Segment::Text(data)
                }
                Part::Include(include) => Segment::Include(self.parent.start(include, &self.settled)),
            });
        }
    }
}
