//! Synthetic traffic of which it is known what explains its cost.

use super::*;

/// Gives `count` requests, each made by `request`, with its cost in ms and a spread of a fifth.
fn splitter(count: u32, request: impl Fn(u32) -> (String, u64, f64)) -> Splitter {
    let mut splitter = Splitter::default();
    let mut dice = fastrand::Rng::with_seed(7);
    for number in 0..count {
        let (target, body_bytes, cost_ms) = request(number);
        splitter.notice(&target);
        splitter.record(&Features::of(&target, body_bytes), (cost_ms * (0.8 + 0.4 * dice.f64())).ln());
    }
    splitter
}

fn names(splitter: &Splitter) -> Vec<String> {
    splitter.best().map_or_else(Vec::new, |(_, groups)| groups.into_iter().map(|group| group.name).collect())
}

#[test]
fn a_key_that_makes_requests_dear_is_found_among_others() {
    let found = splitter(1_000, |number| {
        let noise = format!("utm={}&page={}", number * 7919 % 1000, number % 3);
        if number % 4 == 0 {
            (format!("/list?{noise}&facets=all-{number}"), 0, 90.0)
        } else {
            (format!("/list?{noise}"), 0, 5.0)
        }
    });
    assert_eq!(names(&found), ["?facets"]);
}

#[test]
fn a_value_that_makes_requests_dear_is_found() {
    let found = splitter(1_000, |number| match number % 10 {
        0 => ("/report?view=full".to_owned(), 0, 400.0),
        1..5 => ("/report?view=short".to_owned(), 0, 5.0),
        _ => ("/report?view=plain".to_owned(), 0, 6.0),
    });
    let (by, groups) = found.best().unwrap();
    assert_eq!(by, By::Value(hash("view")));
    assert!(groups.iter().any(|group| group.name == "?view=full"), "{groups:?}");
    assert_eq!(by.group(&Features::of("/report?a=1&view=full", 0)), Some(hash("full")));
    assert_eq!(by.group(&Features::of("/report", 0)), None);
}

#[test]
fn the_size_of_the_body_is_found() {
    let found = splitter(1_000, |number| {
        if number % 5 == 0 {
            ("/up".to_owned(), 200_000 + u64::from(number), 80.0)
        } else {
            ("/up".to_owned(), 900, 4.0)
        }
    });
    let (by, groups) = found.best().unwrap();
    assert!(matches!(by, By::Size(11..=18)), "{by:?}");
    assert_eq!((groups.len(), by.group(&Features::of("/up", 0))), (1, None));
    assert_eq!(by.group(&Features::of("/up", 1 << 20)), Some(0));
}

#[test]
fn chance_explains_nothing() {
    let mut dice = fastrand::Rng::with_seed(3);
    let costs: Vec<f64> = (0..1_000).map(|_| if dice.u8(..10) == 0 { 100.0 } else { 5.0 }).collect();
    let found = splitter(1_000, |number| {
        (
            format!("/x?a={}&b={}&c={}", number % 2, number % 5, number),
            u64::from(number % 9) * 1000,
            costs[number as usize],
        )
    });
    assert!(found.all.is_wide());
    assert_eq!(names(&found), Vec::<String>::new());
}

#[test]
fn what_costs_alike_is_not_split_whatever_explains_the_rest() {
    let found = splitter(1_000, |number| (format!("/x?a={}", number % 2), 0, 5.0 + f64::from(number % 2)));
    assert_eq!(names(&found), Vec::<String>::new());
}

#[test]
fn a_split_that_no_longer_explains_does_not_hold() {
    let dear = |number: u32| {
        if number.is_multiple_of(4) { ("/x?dear=1".to_owned(), 0, 90.0) } else { ("/x".to_owned(), 0, 5.0) }
    };
    let mut found = splitter(1_000, dear);
    let by = found.best().unwrap().0;
    assert!(found.holds(by));
    for number in 0..20_000 {
        let cost: f64 = if number % 3 == 0 { 90.0 } else { 5.0 };
        found.record(&Features::of(if number % 4 == 0 { "/x?dear=1" } else { "/x" }, 0), cost.ln());
    }
    assert!(!found.holds(by));
}

#[test]
fn i6_keys_and_values_are_bounded_and_what_comes_often_gets_in() {
    let mut found = splitter(5_000, |number| (format!("/x?k{number}=v{number}"), 0, 5.0));
    for number in 0..6_000 {
        let target = if number % 2 == 0 { "/x?real=1" } else { "/x" };
        found.notice(target);
        found.record(&Features::of(target, 0), if number % 2 == 0 { 4.0 } else { 1.0 });
    }
    assert!(found.keys.len() <= KEYS_MAX);
    assert_eq!(names(&found), ["?real"]);
}

fn is_found(target_of: impl Fn(u64) -> String) -> bool {
    let mut splitter = Splitter::default();
    (0..40_000).any(|number| {
        let target = target_of(number);
        let cost_us: f64 = if target.contains("facets") { 100_000.0 } else { 5_000.0 };
        splitter.notice(&target);
        splitter.record(&Features::of(&target, 0), cost_us.ln()) && splitter.best().is_some()
    })
}

#[test]
fn keys_that_explain_nothing_make_room_for_one_that_does() {
    assert!(is_found(|number| match number {
        0..20 => format!("/l?junk{}=1", number % 10),
        _ if number % 20 == 0 => format!("/l?junk{}=1", number / 20 % 10),
        _ if number % 2 == 0 => "/l?facets=1".to_owned(),
        _ => "/l".to_owned(),
    }));
}

#[test]
fn values_that_explain_nothing_make_room_for_one_that_does() {
    assert!(is_found(|number| match number {
        0..20 => format!("/l?view=junk{}", number % 10),
        _ if number % 20 == 0 => format!("/l?view=junk{}", number / 20 % 10),
        _ if number % 2 == 0 => "/l?view=facets".to_owned(),
        _ => "/l?view=plain".to_owned(),
    }));
}

#[test]
fn a_key_that_comes_often_stays_whatever_else_is_made_up() {
    let found = splitter(6_000, |number| match number % 4 {
        0 => ("/l?facets=1".to_owned(), 0, 90.0),
        1 => (format!("/l?junk{number}=1"), 0, 5.0),
        _ => ("/l".to_owned(), 0, 5.0),
    });
    assert_eq!(names(&found), ["?facets"]);
}

#[test]
fn a_key_behind_those_of_a_campaign_is_seen() {
    let campaign = "utm_source=a&utm_medium=b&utm_campaign=c&utm_term=d&utm_content=e&gclid=f";
    assert!(is_found(|number| format!("/l?{campaign}{}", if number % 2 == 0 { "&facets=1" } else { "" })));
}
