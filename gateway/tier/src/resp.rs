//! The protocol of Redis and Valkey (RESP2): commands as bytes, and replies from bytes that come in pieces. Replies of the server
//! are input: each has a bound in bytes, in elements and in depth. One that announces more is an error before anything is
//! reserved for it. It must not know what commands mean.

use bytes::{Bytes, BytesMut};

/// Maximum number of elements in a list.
const ELEMENTS_MAX: u64 = 100_000;
/// Maximum depth of nested lists. Entries of a stream have three levels, and those of several streams five.
const DEPTH_MAX: usize = 8;
/// Maximum size of a line, bytes. A number, a status or an error.
const LINE_BYTES_MAX: usize = 4096;

/// Reply of the server to one command. Bytes share the memory that they were read into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// `+OK` and the like.
    Status(Bytes),
    /// `-ERR …`: the command was refused, and the connection stays.
    Error(String),
    Number(i64),
    Text(Bytes),
    /// Absence of the thing.
    Nothing,
    List(Vec<Reply>),
}

/// The bytes are no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Garbage {
    #[error("its answer is not a reply of Redis or Valkey")]
    Form,
    #[error("it announces a reply that is too long")]
    TooLong,
}

/// A command, as it is sent.
pub(crate) fn command(words: &[&[u8]]) -> Vec<u8> {
    let bytes: usize = words.iter().map(|word| word.len() + 16).sum();
    let mut out = Vec::with_capacity(bytes + 16);
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
    out
}

impl Reply {
    /// The bytes of a text or a status.
    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        match self {
            Reply::Text(bytes) | Reply::Status(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Text of the reply.
    pub(crate) fn str(&self) -> Option<&str> {
        self.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// The elements of a list.
    pub(crate) fn list(&self) -> Option<&[Reply]> {
        if let Reply::List(list) = self { Some(list) } else { None }
    }
}

/// Replies from what has been read so far.
pub(crate) struct Replies {
    pub(crate) buffer: BytesMut,
    bytes_max: usize,
    /// Number of bytes below which there is no need to look again.
    needed: usize,
}

impl Replies {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Replies { buffer: BytesMut::new(), bytes_max, needed: 1 }
    }

    /// The next reply, if it is whole.
    ///
    /// # Errors
    /// When what came is no reply, or will be too long.
    pub(crate) fn next(&mut self) -> Result<Option<Reply>, Garbage> {
        if self.buffer.len() < self.needed {
            return Ok(None);
        }
        let mut looked = Look { data: &self.buffer, at: 0, bytes_max: self.bytes_max };
        match looked.reply(0)? {
            ReplyEnd::At(end) => {
                self.needed = 1;
                let whole = self.buffer.split_to(end).freeze();
                Ok(Some(build(&whole, &mut 0)))
            }
            ReplyEnd::Needs(bytes) => {
                if bytes > self.bytes_max {
                    return Err(Garbage::TooLong);
                }
                self.needed = bytes;
                Ok(None)
            }
        }
    }
}

enum ReplyEnd {
    At(usize),
    /// Number of bytes that have to be there before it can be whole.
    Needs(usize),
}

/// Looks where a reply ends, and builds nothing.
struct Look<'d> {
    data: &'d [u8],
    at: usize,
    bytes_max: usize,
}

impl Look<'_> {
    fn reply(&mut self, depth: usize) -> Result<ReplyEnd, Garbage> {
        if depth > DEPTH_MAX {
            return Err(Garbage::Form);
        }
        let Some(line) = self.line()? else { return Ok(ReplyEnd::Needs(self.data.len() + 1)) };
        let (kind, rest) = line.split_first().ok_or(Garbage::Form)?;
        match kind {
            b'+' | b'-' => Ok(ReplyEnd::At(self.at)),
            b':' => number(rest).map(|_| ReplyEnd::At(self.at)),
            b'$' => {
                let Some(len) = length(rest)? else { return Ok(ReplyEnd::At(self.at)) };
                let len = usize::try_from(len).ok().filter(|len| *len <= self.bytes_max).ok_or(Garbage::TooLong)?;
                let end = self.at + len + 2;
                if end > self.data.len() {
                    return Ok(ReplyEnd::Needs(end));
                }
                if &self.data[end - 2..end] != b"\r\n" {
                    return Err(Garbage::Form);
                }
                self.at = end;
                Ok(ReplyEnd::At(end))
            }
            b'*' => {
                let Some(count) = length(rest)? else { return Ok(ReplyEnd::At(self.at)) };
                if count > ELEMENTS_MAX {
                    return Err(Garbage::TooLong);
                }
                for _ in 0..count {
                    if let needs @ ReplyEnd::Needs(_) = self.reply(depth + 1)? {
                        return Ok(needs);
                    }
                }
                Ok(ReplyEnd::At(self.at))
            }
            _ => Err(Garbage::Form),
        }
    }

    /// The line that begins here, without its end, if it is whole.
    fn line(&mut self) -> Result<Option<&[u8]>, Garbage> {
        let rest = &self.data[self.at..];
        // What does not begin as a reply does is told at once, and not when a line of it has come.
        if rest.first().is_some_and(|kind| !b"+-:$*".contains(kind)) {
            return Err(Garbage::Form);
        }
        let looked = &rest[..rest.len().min(LINE_BYTES_MAX)];
        match looked.windows(2).position(|pair| pair == b"\r\n") {
            Some(end) => {
                self.at += end + 2;
                Ok(Some(&rest[..end]))
            }
            None if looked.len() == LINE_BYTES_MAX => Err(Garbage::TooLong),
            None => Ok(None),
        }
    }
}

fn number(digits: &[u8]) -> Result<i64, Garbage> {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(Garbage::Form)
}

/// `None` for -1, which says that there is nothing.
fn length(digits: &[u8]) -> Result<Option<u64>, Garbage> {
    match number(digits)? {
        -1 => Ok(None),
        length => u64::try_from(length).map(Some).map_err(|_| Garbage::Form),
    }
}

/// A reply that was found to be whole and in order.
fn build(whole: &Bytes, at: &mut usize) -> Reply {
    let rest = &whole[*at..];
    let end = rest.windows(2).position(|pair| pair == b"\r\n").unwrap_or(rest.len());
    let line = whole.slice(*at + 1..*at + end);
    *at += end + 2;
    match rest[0] {
        b'+' => Reply::Status(line),
        b'-' => Reply::Error(String::from_utf8_lossy(&line).into_owned()),
        b':' => Reply::Number(number(&line).unwrap_or_default()),
        b'$' => match length(&line) {
            Ok(Some(len)) => {
                let from = *at;
                let end = from + usize::try_from(len).unwrap_or_default();
                *at = end + 2;
                Reply::Text(whole.slice(from..end))
            }
            _ => Reply::Nothing,
        },
        _ => match length(&line) {
            Ok(Some(count)) => Reply::List((0..count).map(|_| build(whole, at)).collect()),
            _ => Reply::Nothing,
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn replies(pieces: &[&[u8]]) -> Result<Vec<Reply>, Garbage> {
        let mut replies = Replies::new(10_000);
        let mut found = Vec::new();
        for piece in pieces {
            replies.buffer.extend_from_slice(piece);
            while let Some(reply) = replies.next()? {
                found.push(reply);
            }
        }
        Ok(found)
    }

    fn text(text: &'static str) -> Reply {
        Reply::Text(Bytes::from_static(text.as_bytes()))
    }

    const ALL: &[u8] =
        b"+OK\r\n-OOM command not allowed\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*2\r\n*0\r\n*2\r\n$0\r\n\r\n:1\r\n";

    fn all() -> Vec<Reply> {
        vec![
            Reply::Status(Bytes::from_static(b"OK")),
            Reply::Error("OOM command not allowed".to_owned()),
            Reply::Number(-7),
            text("a\r\n"),
            Reply::Nothing,
            Reply::Nothing,
            Reply::List(vec![Reply::List(vec![]), Reply::List(vec![text(""), Reply::Number(1)])]),
        ]
    }

    #[test]
    fn replies_are_read_however_they_are_cut() {
        assert_eq!(replies(&[ALL]), Ok(all()));
        for size in 1..ALL.len() {
            assert_eq!(replies(&ALL.chunks(size).collect::<Vec<_>>()), Ok(all()), "{size}");
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error_at_its_first_byte() {
        for garbage in
            [&b"HTTP/1.1 400 Bad Request\r\n"[..], b"\0", b":x\r\n", b"$-2\r\n", b"*x\r\n", b"$1\r\nabc", b"\r\n"]
        {
            assert_eq!(replies(&[garbage]), Err(Garbage::Form), "{}", garbage.escape_ascii());
        }
        assert_eq!(replies(&[&b"*1\r\n".repeat(20)]), Err(Garbage::Form), "too deep");
    }

    #[test]
    fn a_reply_that_announces_too_much_is_an_error_before_it_comes() {
        for long in [&b"$10001\r\n"[..], b"$9223372036854775807\r\n", b"*100001\r\n", b"*2\r\n$9990\r\n"] {
            assert_eq!(replies(&[long]), Err(Garbage::TooLong), "{}", long.escape_ascii());
        }
        assert_eq!(replies(&[b"+", &[b'a'; LINE_BYTES_MAX]]), Err(Garbage::TooLong));
        assert_eq!(replies(&[&b"*9999\r\n"[..], &b"$1\r\na\r\n".repeat(2_000)]), Err(Garbage::TooLong));
    }

    #[test]
    fn commands_say_how_long_their_words_are() {
        assert_eq!(command(&[b"GET", b"a b"]), b"*2\r\n$3\r\nGET\r\n$3\r\na b\r\n");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(pieces in proptest::collection::vec("[-+:$*0-9a\\r\\n]{0,40}", 0..8)) {
            let pieces: Vec<_> = pieces.iter().map(String::as_bytes).collect();
            let whole = replies(&[&pieces.concat()]);
            let cut = replies(&pieces);
            if let (Ok(whole), Ok(cut)) = (whole, cut) {
                prop_assert_eq!(whole, cut);
            }
        }
    }
}
