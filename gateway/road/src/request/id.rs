//! Ids of requests, in logs and answers.

use std::rc::Rc;

use sluice_message::RequestHead;
use sluice_wire::front::origin::Origin;

/// Makes a new id for a request.
pub(crate) fn new_request_id() -> Rc<str> {
    let mut id = [0; 32];
    for (digits, byte) in id.chunks_exact_mut(2).zip(fastrand::u128(..).to_be_bytes()) {
        digits.copy_from_slice(&[byte >> 4, byte & 0xf].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    ascii(&id).into()
}

/// Request id from a trusted peer, if it is well formed.
pub(crate) fn trusted_request_id(head: &RequestHead, origin: &Origin) -> Option<Rc<str>> {
    let id = head.fields.get("x-request-id").filter(|_| origin.is_trusted)?;
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:=+/@".contains(byte);
    let is_well_formed = (1..=128).contains(&id.len()) && id.iter().all(is_plain);
    is_well_formed.then(|| ascii(id).into())
}

/// Text of bytes that were made of hexadecimal digits.
fn ascii(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_32_hexadecimal_digits_and_another_each_time() {
        let ids = [new_request_id(), new_request_id()];
        assert!(ids.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| b"0123456789abcdef".contains(&byte))));
        assert_ne!(ids[0], ids[1]);
    }
}
