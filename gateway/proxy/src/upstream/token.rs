//! The token that proves to which request an answer belongs (I10).
//!
//! The gateway sends it to the preload with the request, the preload puts it into the answer's head, and the gateway
//! compares and removes it. An app that has bytes of an earlier answer under way cannot know it, nor can a client that
//! chooses such bytes.

use std::hash::{BuildHasher as _, RandomState};

use sluice_scheduler::RequestId;

/// Token of 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token([u8; 16]);

impl Token {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Makes the tokens of one gateway: a keyed hash of the request's number, with a key that only this process has.
#[derive(Default)]
pub(crate) struct Tokens(RandomState);

impl Tokens {
    pub(crate) fn of(&self, request: RequestId) -> Token {
        let bytes = self.0.hash_one(request.0).to_le_bytes();
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value & 0xf)];
        Token(std::array::from_fn(|at| digit(bytes[at / 2] >> (4 * (at % 2)))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i10_a_token_is_unique_to_its_request_and_gateway() {
        let (ours, theirs) = (Tokens::default(), Tokens::default());
        assert_eq!(ours.of(RequestId(7)), ours.of(RequestId(7)));
        assert_ne!(ours.of(RequestId(7)), ours.of(RequestId(8)));
        assert_ne!(ours.of(RequestId(7)), theirs.of(RequestId(7)));
        assert!(ours.of(RequestId(7)).as_bytes().iter().all(u8::is_ascii_hexdigit));
    }
}
