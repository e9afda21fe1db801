//! Prints what it takes to find a request's class:
//! `cargo test --release -p sluice_classes cost -- --ignored --nocapture`.
//!
//! A test and no example, because the table is nobody's but the gate's.

#![allow(clippy::disallowed_types, reason = "it measures the machine, and this crate has no tokio")]

use std::hint::black_box;
use std::time::Instant;

use sluice_catalog::config::Config;
use sluice_message::Method;

use super::{Class, Classes, Traits};

const ROUNDS: usize = 5;
const REQUESTS: usize = 200_000;

fn ask(classes: &Classes, target: &str) -> Class {
    classes.classify(&Traits { method: &Method::Get, host: "shop.example", target, body_bytes: 0 })
}

/// Pages, products, searches and an API, as a shop's visitors ask for them.
fn shop(number: usize) -> String {
    match number % 8 {
        0 => "/".to_owned(),
        1 | 2 => format!("/products/oak-table-{}", number * 7919 % 10_000),
        3 => format!("/categories/{}?page={}&sort=price", ["tables", "chairs", "lamps"][number % 3], number % 9),
        4 => format!("/search?q=word{}", number * 31 % 5_000),
        5 => format!("/api/v1/products/{}/reviews", number * 104_729 % 10_000),
        6 => format!("/pages/{}", ["about", "terms", "contact", "jobs", "press"][number % 5]),
        _ => "/cart".to_owned(),
    }
}

/// Nothing of it was ever asked for before.
fn scan(number: usize) -> String {
    let name = |seed: usize| -> String {
        (0..8).map(|at| char::from(b'a' + u8::try_from(seed / 26_usize.pow(at % 5) % 26).unwrap())).collect()
    };
    format!("/{}/{}/{}.php", name(number * 7919), name(number * 104_729), name(number))
}

/// Nanoseconds of each request, in the best round, which other work on the machine has disturbed least.
fn best_ns(classes: &Classes, rounds: &[Vec<String>]) -> u128 {
    let round_ns = |targets: &Vec<String>| {
        let began = Instant::now();
        for target in targets {
            black_box(ask(classes, black_box(target)));
        }
        began.elapsed().as_nanos() / targets.len() as u128
    };
    rounds.iter().map(round_ns).min().unwrap_or(0)
}

fn rounds_of(target: fn(usize) -> String) -> Vec<Vec<String>> {
    (0..ROUNDS).map(|round| (round * REQUESTS..(round + 1) * REQUESTS).map(target).collect()).collect()
}

#[test]
#[ignore = "prints what this machine takes and judges nothing but the classes"]
fn finding_a_class_is_measured_in_a_table_that_has_what_it_should() {
    let table = |routes: usize, target: fn(usize) -> String| {
        let mut config = Config::default();
        // Half of them begin as paths of the shop do.
        let pattern = |at| match at % 2 {
            0 => format!("/api/v1/things-{at}/:id/reviews"),
            _ => format!("/shop-{at}/:id/edit"),
        };
        config.classes.routes = (0..routes).map(|at| (pattern(at), format!("class=route-{at}"))).collect();
        let classes = Classes::new(&config);
        for number in 0..REQUESTS {
            let class = ask(&classes, &target(number));
            // What is asked for by a page, and only that, is looked at for what explains its cost.
            let cost_us = if target(number).contains("page=3") { 90_000 } else { 5_000 };
            classes.measured(&class, cost_us);
            classes.take_changes();
        }
        classes
    };
    let (shopped, scanned) = (rounds_of(shop), rounds_of(scan));
    for (name, classes, rounds) in [
        ("a shop", table(0, shop), &shopped),
        ("a shop with 256 other routes in the config", table(256, shop), &shopped),
        ("a scanner, no path twice", table(0, scan), &scanned),
    ] {
        let listed = classes.list();
        println!("{name}: {} classes, {} ns a request", listed.len(), best_ns(&classes, rounds));
        assert_eq!(listed.iter().any(|class| &*class.name == "GET /products/:id"), rounds == &shopped);
        assert_eq!(listed.iter().any(|class| class.split_from.is_some()), rounds == &shopped, "parts by query");
        assert!(listed.len() <= 400);
    }
}
