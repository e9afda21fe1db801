//! Pages on disk, which outlive the gateway: a restart, and a kill.
//!
//! The pages of a directory are one log in a row of segments. Pages are appended; so is each purge that means something there, before
//! anybody is told that it is in force. A reader of the log therefore comes to the same pages as its writer, wherever the writer was
//! killed. The oldest segment goes when there is no more room.
//!
//! Nobody waits for bytes to reach the disk itself, because nothing is read after the machine was started again. The log names the run of
//! the machine in which it was written. So ages go by a clock that nobody can set, and a loss of power empties the cache instead of
//! bringing back what was purged.
//!
//! One thread does all that. [`Disk`] is what the gateway's thread holds, and [`DiskEvent`] what that thread is told.

mod book;
mod client;
mod folder;
mod log;
mod record;
mod segment;
mod thread;

pub use client::{Counts, Disk, DiskEvent, Settings, StartupPages};

#[cfg(test)]
mod tests;
