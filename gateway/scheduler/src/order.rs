//! Order of the waiting requests.

/// Rule that selects the next waiting request. Within a class it is always the one that arrived first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The request that arrived first.
    Fifo,
    /// The request whose class costs least, unless another has waited for too long.
    #[default]
    Shortest,
}
