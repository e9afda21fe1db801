//! An exchange under any events: each byte chooses one. I1, I5 and I10 are checked after each.
#![no_main]

#[path = "../../dispatch/tests/chaos/model.rs"]
mod model;

use libfuzzer_sys::fuzz_target;
use model::{Choices, Model};

struct Bytes<'b>(std::slice::Iter<'b, u8>);

impl Choices for Bytes<'_> {
    fn below(&mut self, bound: u64) -> Option<u64> {
        self.0.next().map(|byte| u64::from(*byte) % bound)
    }
}

fuzz_target!(|input: &[u8]| {
    let mut choices = Bytes(input.iter());
    if let Some(mut model) = Model::new(&mut choices)
        && let Err(broken) = model.live(&mut choices)
    {
        panic!("{broken}\n{}", model.history.join("\n"));
    }
});
