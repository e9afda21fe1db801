//! Keys of earlier versions. A configuration that still has one works on without it, and a warning says what to do.

/// Each removed key as `section.key`, and what replaces it.
pub const REMOVED: &[(&str, &str)] = &[
    ("alarms.starved_factor", "where a class starves, the alarm steady_queue is raised"),
    (
        "server.fronts",
        "one thread serves all connections. Delete the key; where one core is not enough, run several gateways behind a balancer",
    ),
    ("warm_up.recent", "name targets in warm_up.paths"),
];

/// The warning about a key that this version does not have and an earlier one had.
pub(super) fn removed(path: &str) -> Option<String> {
    let (_, instead) = REMOVED.iter().find(|(removed, _)| *removed == path)?;
    Some(format!("{path} is a key of an earlier version and has no effect: {instead}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::key;

    #[test]
    fn no_removed_key_is_a_key() {
        for (path, _) in REMOVED {
            assert!(key(path).is_none(), "{path}");
        }
    }
}
