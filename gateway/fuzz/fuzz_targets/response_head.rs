//! Response heads as they come; the first byte says in what pieces, and whether the request was a HEAD.
#![no_main]

#[path = "../../http1/tests/common/invariants.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;

use sluice_message::Method;

fuzz_target!(|input: &[u8]| {
    if let Some((&step, input)) = input.split_first() {
        let method = if step % 2 == 0 { Method::Get } else { Method::Head };
        invariants::response_head(input, usize::from(step / 2), &method);
    }
});
