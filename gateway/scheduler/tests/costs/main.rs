//! The cost model as its users see it: what it expects, how fast it learns, and where it cuts.

mod cut;
mod learning;
mod support;
