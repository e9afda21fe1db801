//! Exchanges under any events in any order. `SLUICE_SIM_EXCHANGES` sets how many are lived through, `SLUICE_SEED` which is the first.

mod model;

use model::{Choices, Model};

/// Xorshift, with an end.
struct Xorshift {
    state: u64,
    left: u32,
}

impl Choices for Xorshift {
    fn below(&mut self, bound: u64) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        Some(self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32).map(|number| number % bound)
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

#[test]
fn i1_i5_i10_hold_whatever_happens_to_an_exchange() {
    let first = number("SLUICE_SEED", 20_250_101);
    for seed in first..first + number("SLUICE_SIM_EXCHANGES", 100_000) {
        let mut choices = Xorshift { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, left: 90 };
        let Some(mut model) = Model::new(&mut choices) else { continue };
        if let Err(broken) = model.live(&mut choices) {
            panic!(
                "seed {seed}: {broken}\n{}\nagain: SLUICE_SEED={seed} SLUICE_SIM_EXCHANGES=1 cargo test -p sluice_dispatch --test chaos",
                model.history.join("\n")
            );
        }
    }
}
