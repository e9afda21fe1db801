//! What a stream was like, in memory that does not grow: means of the latest values, a logarithmic scale for histograms, and
//! what came often. Pure; it must not know what is counted.

mod frequent;
mod mean;
pub mod scale;

pub use frequent::{Frequent, hash};
pub use mean::{Fading, Mean};
