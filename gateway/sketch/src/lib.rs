//! Summary of a stream in memory that does not grow: means of the latest values, histograms on a logarithmic scale, and
//! frequent items. Pure; it must not know what is counted.

mod frequent;
mod mean;
pub mod scale;
mod times;

pub use frequent::{Frequent, hash};
pub use mean::{Fading, Mean};
pub use times::Times;
