//! Headers of the PROXY protocol as they come.
#![no_main]

#[path = "../../sockets/tests/common/invariants.rs"]
mod invariants;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| invariants::proxy_header(input));
