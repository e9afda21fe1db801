//! Certificates: how long they are valid, and the client of ACME that asks a CA for them. It must not know connections, nor which
//! client gets which certificate.

#![forbid(unsafe_code)]

pub mod acme;
mod validity;

pub use validity::Validity;
