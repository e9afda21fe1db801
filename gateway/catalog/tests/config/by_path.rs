//! What is set by path: rate limits and routes. And words, of which the nearest is proposed.

use crate::{load, problems};

#[test]
fn rate_limits_are_refused_with_what_is_allowed_and_in_bounded_number() {
    assert_eq!(
        problems("[rate.limits]\n\"/login\" = \"5 per minute\"\n"),
        [
            "1: rate.limits contains \"5 per minute\" for \"/login\", which must be a count from 1 to 1000000 and one of /s, \
          /min, /h, optionally with a burst from 1 to 1000000 after it, like \"50/s\" or \"5/min burst 20\""
        ]
    );
    assert_eq!(
        problems("[rate.limits]\n\"/login/\" = \"5/s\"\n"),
        [
            "1: rate.limits contains the path \"/login/\", which must not end with '/'; it includes all paths below anyway"
        ]
    );
    let limits = |count: usize| {
        (0..count).fold("[rate.limits]\n".to_owned(), |file, number| format!("{file}\"/{number}\" = \"1/s\"\n"))
    };
    assert_eq!(load(&limits(256), &[], &[]).unwrap().config.rate.limits.len(), 256);
    assert_eq!(
        problems("[rate.limits]\n\"/login\" = \"5/s\"\n\"/Login\" = \"6/s\"\n"),
        ["1: rate.limits contains \"/Login\" and \"/login\", which are one path; remove one of them"]
    );
    assert_eq!(problems(&limits(257)), ["1: rate.limits must contain at most 256 paths, not 257"]);
}

#[test]
fn routes_that_can_never_count_are_refused() {
    for (routes, both) in [
        ("\"/a/:x\" = \"priority=1\"\n\"/a/:y\" = \"priority=-1\"\n", "\"/a/:x\" and \"/a/:y\""),
        ("\"A.example/x\" = \"\"\n\"a.example/x\" = \"\"\n", "\"A.example/x\" and \"a.example/x\""),
        ("\"a.example:80/x\" = \"\"\n\"a.example./x\" = \"\"\n", "\"a.example./x\" and \"a.example:80/x\""),
    ] {
        let found = problems(&format!("[classes.routes]\n{routes}"));
        assert_eq!(
            found,
            [format!("1: classes.routes contains {both}, which are for the same requests; keep one of them")]
        );
    }
    let apart =
        "\"/a/:x\" = \"\"\n\"GET /a/:x\" = \"\"\n\"a.example/a/:x\" = \"\"\n\"/a/*\" = \"\"\n\"/a/:x/\" = \"\"\n";
    load(&format!("[classes.routes]\n{apart}"), &[], &[]).unwrap();
}

#[test]
fn priorities_without_an_effect_are_a_warning() {
    let warnings = |order: &str, settings: &str| {
        let file = format!("[queue]\norder = \"{order}\"\n[classes.routes]\n\"/a\" = \"{settings}\"\n");
        load(&file, &[], &[]).unwrap().warnings
    };
    let told = warnings("fifo", "priority=1");
    assert!(told.len() == 1 && told[0].contains("queue.order is \"fifo\""), "{told:?}");
    assert!(warnings("shortest", "priority=1").is_empty() && warnings("fifo", "class=a priority=0").is_empty());
}

#[test]
fn a_word_that_means_the_opposite_is_not_proposed() {
    assert_eq!(problems("[workers]\nlanes = \"on\"\n"), ["2: workers.lanes must be one of auto, off, not \"on\""]);
    assert_eq!(problems("[workers]\nlanes = true\n"), ["2: workers.lanes must be one of auto, off, not a boolean"]);
    assert!(problems("[workers]\nlanes = \"of\"\n")[0].ends_with("did you mean \"off\"?"));
}
