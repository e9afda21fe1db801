//! Which of the free workers gets the next request.

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
