//! Native player of `@sluice/screens`: an app's bundle on an engine without JIT, its stream of commands as pixels.

pub mod clock;
pub mod geometry;
pub mod keys;
pub mod layout;
pub mod net;
pub mod options;
pub mod output;
pub mod paint;
pub mod player;
pub mod report;
pub mod scene;
pub mod script;
pub mod stream;
pub mod text;
pub mod tree;
#[cfg(feature = "window")]
pub mod window;
