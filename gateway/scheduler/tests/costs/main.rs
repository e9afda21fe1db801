//! The cost model as its users see it: what it expects, how fast it learns, and where it cuts.

#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "costs in these tests are far below 2^53 µs and never negative"
)]

mod cut;
mod learning;
mod support;
