//! Sources of answers: the gateway itself, a file, or a worker. Each gives a [`Response`], and none writes bytes.

pub(crate) mod challenge;
pub(crate) mod conditions;
pub mod down;
pub mod edge;
pub(crate) mod files;
pub(crate) mod redirect;
pub(crate) mod refuse;
pub(crate) mod shell;
pub(crate) mod vitals;

use std::rc::Rc;

use bytes::Bytes;
use sluice_http1::{ReceivedResponse, ResponseFraming};
use sluice_message::{Fields, ResponseHead};

use crate::respond::compress::KeptBody;
use files::FilePart;
pub use files::is_hashed_file;
use sluice_wire::respond::answer::Answer;
use sluice_wire::respond::encode::Size;

/// Answer of any source.
pub struct Response {
    /// Response head without the fields that delimit the body: the sender adds those.
    pub head: ResponseHead,
    /// Body of the response.
    pub body: ResponseBody,
}

/// Body of a response.
pub enum ResponseBody {
    /// No bytes.
    Empty,
    /// All bytes at once.
    Whole(Bytes),
    /// A cached body, which is sent to others as well.
    Kept(Rc<KeptBody>),
    /// A file, or a part of one.
    File(FilePart),
    /// Answer of a worker or an upstream, which is still written while it is sent, and its size as announced.
    Fill(Rc<Answer>, Size),
}

impl Response {
    /// Answer of a worker or an upstream whose head has come.
    pub fn of(received: ReceivedResponse, answer: Rc<Answer>) -> Self {
        let ReceivedResponse { head, framing, content_length, .. } = received;
        let size = match framing {
            ResponseFraming::None | ResponseFraming::Length(_) => content_length.map_or(Size::Untold, Size::Known),
            ResponseFraming::Chunked | ResponseFraming::UntilClose => Size::Unknown,
        };
        answer.is_until_close.set(framing == ResponseFraming::UntilClose);
        Response { head, body: ResponseBody::Fill(answer, size) }
    }

    /// Short answer of the gateway's own, which no cache stores.
    fn short(status: u16, content_type: &str, body: String) -> Self {
        let fields = [("Content-Type", content_type.as_bytes()), ("Cache-Control", b"no-store")];
        let head = ResponseHead::new(status, fields.into_iter().collect::<Fields>());
        Response { head, body: ResponseBody::Whole(body.into()) }
    }

    pub(crate) fn size(&self) -> Size {
        match &self.body {
            // RFC 9110 §15.4.5: a 304 needs no length.
            ResponseBody::Empty if self.head.status == 304 => Size::Untold,
            ResponseBody::Empty => Size::Known(0),
            ResponseBody::Whole(data) => Size::Known(data.len() as u64),
            ResponseBody::Kept(body) => Size::Known(body.data().len() as u64),
            ResponseBody::File(part) => Size::Known(part.len()),
            ResponseBody::Fill(_, size) => *size,
        }
    }
}
