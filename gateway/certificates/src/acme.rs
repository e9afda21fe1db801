//! The client of ACME (RFC 8555): keeps a certificate for each name of the config, and renews it in good time.
//!
//! A thread of its own asks the CA, so that no key is made and no answer is awaited on the thread that serves. All that it has is in a
//! folder ([`Store`]), where those who serve find certificates and answers to challenges. It must not know connections.

mod fault;
mod http;
mod order;
mod schedule;
mod settings;
mod store;
mod thread;

pub use settings::{Settings, Unusable, folder};
pub use store::{Store, StoreError};
pub use thread::{AcmeNotice, Asker, NameState};
