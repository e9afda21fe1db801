//! Native player of `@sluice/screens`: an app's bundle on an engine without JIT, its stream of commands as pixels.

pub mod geometry;
pub mod layout;
pub mod net;
pub mod paint;
pub mod scene;
pub mod stream;
pub mod text;
pub mod tree;
pub mod clock;
pub mod script;
pub mod keys;
pub mod options;
pub mod player;
pub mod report;
#[cfg(feature = "window")]
pub mod window;
