//! Requests of the gateway's own, which no client has sent.

use std::any::Any;
use std::io;
use std::pin::Pin;

use sluice_message::{RequestHead, ResponseHead};

/// A request of the gateway's own, and the reader of its answer.
pub trait Own {
    /// Request head.
    fn head(&self) -> &RequestHead;
    /// Whether it is for a part of a page, which a client waits for.
    fn is_part(&self) -> bool;
    /// Takes an interim head.
    fn inform(&self, head: &ResponseHead);
    /// Begins the answer.
    fn begin(&self, head: &ResponseHead);
    /// Bytes of the body that it takes before the next check.
    fn room(&self) -> usize;
    /// Takes bytes of the body.
    fn read(&mut self, data: &[u8]);
    /// The answer ends unfinished.
    fn break_off(&self);
    /// # Errors
    /// Fails if enough was read, or if nobody waits for the rest.
    fn check(&self) -> io::Result<()>;
    /// Ends when nobody waits for the answer any more.
    fn unwanted(&self) -> Pin<Box<dyn Future<Output = ()> + '_>>;
    /// The request as a value of its own type, for the code that has made it.
    fn as_any(&self) -> &dyn Any;
}
