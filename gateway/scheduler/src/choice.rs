//! Which of the waiting requests goes next, and which of the free workers gets it.

/// The rule by which a free worker is chosen. With more than one slot a worker, the least occupied ones come first and
/// the rule decides among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The lowest place in the pool: keeps one worker hot, shows leaks there first.
    #[default]
    First,
    /// The next place after the one that was chosen last, skipping the busy.
    RoundRobin,
    /// The one that has been idle for longest.
    LeastRecent,
}

/// The rule by which the next of the waiting requests is found. Within a class it is always the one that came first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The one that came first of all.
    Fifo,
    /// The one whose class costs least, unless another has waited for too long.
    #[default]
    Shortest,
}
