//! The bytes of a request target.
//!
//! Browsers send some bytes raw that RFC 3986 would have escaped (`|`, `[`, `{`, `"` and the like); those pass, as they
//! would reach the app without a gateway. White space, control bytes, bytes beyond ASCII and `#` do not.

use crate::reject::{Reject, Rejection};

/// Checks the bytes, which decides nothing about the form yet.
///
/// # Errors
/// [`Reject::TargetInvalid`].
pub fn check_target(target: &[u8]) -> Result<(), Rejection> {
    let invalid = |detail| Err(Rejection::new(Reject::TargetInvalid, detail));
    if target.is_empty() {
        return invalid("the target is empty");
    }
    let found =
        target.iter().fold(0_u8, |found, &b| found | u8::from(b <= b' ') | u8::from(b >= 0x7f) | u8::from(b == b'#'));
    if found == 0 { Ok(()) } else { invalid("a byte that is not allowed in the target") }
}
