//! Who makes room in a short list of what is counted. It must not know what that is.

/// Whether a newcomer finds room. In a full list the rarest of those that may go has one count less for each newcomer, and
/// goes when it has none left: what comes seldom cannot hold a place, and a flood in which nothing comes twice has only one.
/// `count` is `None` for what may not go.
pub(super) fn has_room<T>(list: &mut Vec<T>, max: usize, count: impl Fn(&mut T) -> Option<&mut u32>) -> bool {
    if list.len() < max {
        return true;
    }
    let counts = list.iter_mut().enumerate().filter_map(|(at, held)| Some((at, count(held)?)));
    let Some((at, rarest)) = counts.min_by_key(|(_, count)| **count) else { return false };
    *rarest = rarest.saturating_sub(1);
    let goes = *rarest == 0;
    if goes {
        list.remove(at);
    }
    goes
}
