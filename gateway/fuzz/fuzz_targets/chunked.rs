//! Chunked bodies as they come; the first byte says in what pieces.
#![no_main]

#[path = "../../http1/tests/common/invariants.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some((&step, input)) = input.split_first() {
        invariants::chunked(input, usize::from(step));
    }
});
