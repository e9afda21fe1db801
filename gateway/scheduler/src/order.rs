//! Which of the waiting requests goes next.

/// The rule by which the next of the waiting requests is found. Within a class it is always the one that came first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The one that came first of all.
    Fifo,
    /// The one whose class costs least, unless another has waited for too long.
    #[default]
    Shortest,
}
