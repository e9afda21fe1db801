//! The table as the gate uses it.

use sluice_catalog::config::Config;
use sluice_message::Method;

use super::{Change, Class, Classes, Traits};

fn classes() -> Classes {
    Classes::new(&Config::default())
}

fn with_routes(routes: &[(&str, &str)]) -> Config {
    let mut config = Config::default();
    config.classes.routes =
        routes.iter().map(|(pattern, settings)| ((*pattern).to_owned(), (*settings).to_owned())).collect();
    config
}

fn ask(classes: &Classes, target: &str) -> Class {
    classes.classify(&Traits { method: &Method::Get, host: "app", target, body_bytes: 0 })
}

fn name(classes: &Classes, target: &str) -> String {
    ask(classes, target).name.to_string()
}

/// A word without digits for a number.
fn word(number: u32) -> String {
    number.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect::<String>() + "x"
}

#[test]
fn requests_that_differ_only_in_ids_share_a_class() {
    let classes = classes();
    let class = |target: &str| name(&classes, target);
    assert_eq!(class("/"), "GET /");
    assert_eq!(class("/products/123?x=1"), "GET /products/:id");
    assert_eq!(class("/products/oak-table-0042"), "GET /products/:id");
    assert_eq!(class("/u/3f2a9c1d-7e8b-4f00-9d5e-1a2b3c4d5e6f/edit"), "GET /u/:id/edit");
    assert_eq!(class("/about"), "GET /about");
    assert_eq!(class("/a/b/c/d/e/f/g/h"), "GET /a/b/c/d/e/f/…");
    assert_eq!(ask(&classes, "/about").id, ask(&classes, "/about?x").id);
    let post = classes.classify(&Traits { method: &Method::Post, host: "app", target: "/about", body_bytes: 1 });
    assert_eq!(&*post.name, "POST /about");
}

#[test]
fn a_place_with_too_many_names_becomes_a_parameter_and_its_neighbours_stay() {
    let classes = classes();
    for number in 0..500 {
        name(&classes, &format!("/shop/{}", word(number)));
        name(&classes, "/shop/cart");
        name(&classes, "/about");
    }
    assert_eq!(name(&classes, "/shop/never-seen"), "GET /shop/:id");
    assert_eq!(name(&classes, "/shop/cart"), "GET /shop/cart");
    assert_eq!(name(&classes, "/about"), "GET /about");
    assert!(classes.list().len() < 40, "{}", classes.list().len());
}

#[test]
fn i6_a_flood_of_paths_folds_and_what_was_often_asked_for_stays() {
    let classes = classes();
    let pages: Vec<_> = (0..10).map(|page| format!("/page-{}/view", word(page))).collect();
    for round in 0..100 {
        for page in &pages {
            name(&classes, page);
        }
        name(&classes, if round % 2 == 0 { "/" } else { "/about" });
    }
    let ids: Vec<_> = pages.iter().map(|page| ask(&classes, page).id).collect();
    for number in 0..30_000 {
        let (one, two, three) = (word(number), word(number * 7 % 1000), word(number % 177));
        name(&classes, &format!("/{one}/{two}/{three}.php"));
        if number % 50 == 0 {
            for page in &pages {
                name(&classes, page);
            }
        }
    }
    assert_eq!(pages.iter().map(|page| ask(&classes, page).id).collect::<Vec<_>>(), ids);
    assert!(classes.rows() <= 400);
    assert!(name(&classes, "/zz/yy").contains(":id"), "{}", name(&classes, "/zz/yy"));
}

#[test]
fn i6_the_table_is_bounded_and_the_rare_make_room() {
    let mut config = Config::default();
    config.bounds.classes_count_max = 16;
    let classes = Classes::new(&config);
    for _ in 0..10 {
        name(&classes, "/often");
    }
    for number in 0..400 {
        name(&classes, &format!("/{}/{}", word(number % 20), word(number)));
    }
    assert_eq!(classes.rows(), 16);
    assert_eq!(name(&classes, "/often"), "GET /often");
    assert!(classes.take_changes().iter().any(|change| matches!(change, Change::Forget(_))));
}

#[test]
fn routes_of_the_config_name_classes_and_say_what_holds() {
    let config = with_routes(&[
        ("GET /products/:id", "class=product priority=2 deadline_ms=500"),
        ("/products/new", "class=form"),
        ("admin.example/*", "class=admin priority=-5 budget_ms=100"),
        ("/api/*", ""),
    ]);
    let classes = Classes::new(&config);
    let product = ask(&classes, "/products/oak?x=1");
    assert_eq!((&*product.name, product.need.priority, product.need.deadline_ms), ("product", 2, Some(500)));
    assert_eq!(product.need.class, product.id);
    assert_eq!(name(&classes, "/products/new"), "form");
    assert_eq!(name(&classes, "/api"), "/api/*");
    assert_eq!(name(&classes, "/api/a/b/c"), "/api/*");
    assert_eq!(name(&classes, "/products/a/b"), "GET /products/a/b");
    let asked = Traits { method: &Method::Post, host: "ADMIN.example", target: "/products/new", body_bytes: 0 };
    assert_eq!(&*classes.classify(&asked).name, "form", "the one that names most of the path");
    let asked = Traits { target: "/x", ..asked };
    assert_eq!((&*classes.classify(&asked).name, classes.classify(&asked).budget_ms), ("admin", Some(100)));
    for host in ["admin.example:8443", "admin.example.", "admin.example.:80"] {
        assert_eq!(&*classes.classify(&Traits { host, ..asked }).name, "admin", "{host}");
    }
}

#[test]
fn a_reload_keeps_the_number_of_a_route_that_stays() {
    let classes = Classes::new(&with_routes(&[("/a", "class=a"), ("/b", "class=b")]));
    let (a, b) = (ask(&classes, "/a"), ask(&classes, "/b"));
    classes.set_routes(&with_routes(&[("/b", "class=b priority=1"), ("/c", "class=c")]));
    assert_eq!((ask(&classes, "/b").id, ask(&classes, "/b").need.priority), (b.id, 1));
    assert_eq!(name(&classes, "/a"), "GET /a");
    assert_eq!(classes.measured(&a, 5), None, "its number may be another's");
}

#[test]
fn what_the_router_reports_makes_parameters_at_once() {
    let classes = classes();
    classes.tell_route("/blog/hello-world", "/blog/:slug");
    classes.tell_route("/blog/archive", "/blog/archive");
    assert_eq!(name(&classes, "/blog/other-post"), "GET /blog/:id");
    assert_eq!(name(&classes, "/blog/archive"), "GET /blog/archive");
    classes.tell_route("/docs/a/b", "/docs/[section]/[...path]");
    assert_eq!(name(&classes, "/docs/x/intro"), "GET /docs/:id/intro");
    // An app that routes elsewhere has one route for everything; that says nothing.
    classes.tell_route("/anything", "*");
    classes.tell_route("/anything", "/mounted/:id");
    assert_eq!(name(&classes, "/anything-else"), "GET /anything-else");
}

#[test]
fn hosts_are_told_apart_when_two_have_real_traffic_and_a_flood_of_them_is_not() {
    let classes = classes();
    let ask = |host: &str, target: &str| {
        classes.classify(&Traits { method: &Method::Get, host, target, body_bytes: 0 }).name.to_string()
    };
    for number in 0..20_000 {
        ask("shop.example", "/");
        ask(&format!("host-{number}.example"), "/");
    }
    assert_eq!(ask("shop.example", "/"), "GET /");
    assert_eq!(ask("host-1.example", "/"), "GET /");
    for _ in 0..10_000 {
        ask("shop.example", "/");
        ask("blog.example", "/");
    }
    assert_eq!(ask("shop.example", "/"), "GET /", "the first keeps what it has");
    assert_eq!(ask("Blog.example", "/"), "blog.example GET /");
    for _ in 0..80_000 {
        ask("shop.example", "/");
    }
    assert_eq!(ask("blog.example", "/"), "GET /", "one that stays away is forgotten");
}

/// Serves `count` requests by turns; every fourth is dear, and looks so with `dear`.
fn serve(classes: &Classes, count: u32, dear: &str, plain: &str) {
    for number in 0..count {
        let is_dear = number % 4 == 0;
        let class = ask(classes, if is_dear { dear } else { plain });
        classes.measured(&class, if is_dear { 90_000 } else { 5_000 } + u64::from(number % 7) * 100);
    }
}

#[test]
fn a_class_that_spreads_falls_into_parts_and_joins_again() {
    let classes = classes();
    serve(&classes, 1_000, "/list?facets=1", "/list");
    assert_eq!(name(&classes, "/list?facets=1"), "GET /list ?facets");
    assert_eq!(name(&classes, "/list?page=2"), "GET /list");
    let part = classes.list().into_iter().find(|listed| listed.split_from.is_some()).unwrap();
    assert_eq!(part.split_from.as_deref(), Some("GET /list"));
    let seeds = classes.take_changes();
    let mean = |id| {
        seeds.iter().find_map(|change| match change {
            Change::Seed(class, saved) if *class == id => Some(saved.mean_us),
            _ => None,
        })
    };
    assert!((80_000.0..100_000.0).contains(&mean(part.id).unwrap()));
    assert!((4_000.0..7_000.0).contains(&mean(ask(&classes, "/list").id).unwrap()));
    // From now on it is chance.
    for number in 0..20_000_u32 {
        let class = ask(&classes, if number.is_multiple_of(3) { "/list?facets=1" } else { "/list" });
        classes.measured(&class, if number.is_multiple_of(5) { 90_000 } else { 5_000 });
    }
    assert_eq!(name(&classes, "/list?facets=1"), "GET /list");
    assert!(classes.rows() == 2);
}

#[test]
fn what_was_kept_is_there_again_when_it_is_asked_for() {
    let before = classes();
    for number in 0..300 {
        name(&before, &format!("/shop/{}", word(number)));
    }
    let saved = sluice_scheduler::SavedCosts { records: 50, mean_us: 7.0, ..Default::default() };
    let after = classes();
    after.restore(&before.folds(), vec![("GET /shop/:id".to_owned(), saved.clone())]);
    let class = ask(&after, "/shop/whatever");
    assert_eq!(&*class.name, "GET /shop/:id");
    let changes = after.take_changes();
    assert!(matches!(&changes[..], [Change::Seed(id, seed)] if *id == class.id && *seed == saved), "{changes:?}");
}

#[test]
fn totals_stay_whole_when_a_class_makes_room() {
    let mut config = Config::default();
    config.bounds.classes_count_max = 16;
    let classes = Classes::new(&config);
    for number in 0..300 {
        let class = ask(&classes, &format!("/{}/{}", word(number % 20), word(number)));
        classes.measured(&class, 10);
    }
    let sum: u64 = classes.list().iter().map(|listed| listed.totals.cpu_us).sum();
    assert_eq!(sum, 3_000);
}

const PAGES: [&str; 8] = ["about", "search", "cart", "help", "login", "news", "terms", "shop"];

fn visit(classes: &Classes, times: usize) {
    for _ in 0..times {
        for page in PAGES {
            ask(classes, &format!("/{page}"));
        }
    }
}

#[test]
fn a_scanner_in_the_first_minute_does_not_fold_the_root_for_ever() {
    let classes = classes();
    for number in 0..24 {
        ask(&classes, &format!("/{}", word(number)));
    }
    visit(&classes, 2_000);
    assert_eq!(name(&classes, "/about"), "GET /about");
    assert_eq!(name(&classes, "/never-seen"), "GET /never-seen", "the root is no parameter any more");
}

#[test]
fn pages_get_their_places_back_while_a_scanner_goes_on_and_its_paths_get_none() {
    let classes = classes();
    for number in 0..40_000 {
        ask(&classes, &format!("/{}", word(number)));
        if number >= 100 {
            ask(&classes, &format!("/{}", PAGES[number as usize % PAGES.len()]));
        }
    }
    for page in PAGES {
        assert_eq!(name(&classes, &format!("/{page}")), format!("GET /{page}"));
    }
    assert_eq!(classes.list().len(), PAGES.len() + 2, "and /:id, and what became of the scanner's first paths");
}

#[test]
fn what_a_scanner_folded_in_an_earlier_run_gives_way() {
    let classes = classes();
    let folds: Vec<_> = (0..24).map(|number| format!("/{}", word(number))).collect();
    classes.restore(&folds, Vec::new());
    visit(&classes, 2_000);
    assert_eq!(name(&classes, "/about"), "GET /about");
    assert_eq!(classes.folds(), Vec::<String>::new());
}

#[test]
fn words_that_clients_put_in_place_of_a_mounted_parameter_do_not_take_the_place_of_pages() {
    let classes = classes();
    // What Express reports for `app.use('/:tenant', router)` with `router.get('/dashboard')`: baseUrl is what came.
    for number in 0..128 {
        let path = format!("/{}/dashboard", word(number));
        ask(&classes, &path);
        classes.tell_route(&path, &path);
    }
    visit(&classes, 2_000);
    assert_eq!(name(&classes, "/about"), "GET /about");
    // Nor that of what the router names and has requests.
    classes.tell_route("/team", "/team");
    classes.tell_route("/some-post", "/:slug");
    assert_eq!(name(&classes, "/team"), "GET /team");
    assert_eq!(name(&classes, "/other-post"), "GET /:id");
}

#[test]
fn what_the_router_reported_holds_for_every_host() {
    let classes = classes();
    let ask = |host: &str, target: &str| {
        classes.classify(&Traits { method: &Method::Get, host, target, body_bytes: 0 }).name.to_string()
    };
    classes.tell_route("/blog/hello", "/blog/:slug");
    classes.tell_route("/blog/archive", "/blog/archive");
    classes.tell_route("/elsewhere", "/mounted/:id");
    for _ in 0..5_000 {
        ask("one.example", "/");
        ask("one.example", "/");
        ask("two.example", "/");
    }
    assert_eq!(ask("two.example", "/blog/other"), "two.example GET /blog/:id");
    assert_eq!(ask("two.example", "/blog/archive"), "two.example GET /blog/archive");
    assert_eq!(ask("two.example", "/mounted/x"), "two.example GET /mounted/x", "it was no template of its path");
    classes.tell_route("/news/today", "/news/:slug");
    assert_eq!(ask("two.example", "/news/other"), "two.example GET /news/:id");
}

#[test]
fn a_second_site_is_told_apart_beside_a_few_made_up_hosts() {
    let classes = classes();
    let of = |host: &str| classes.classify(&Traits { method: &Method::Get, host, target: "/about", body_bytes: 0 });
    for number in 0..32 {
        of(&word(number % 16));
    }
    for number in 0..20_000 {
        // By turns, so that neither is seen twice before the other.
        of("one.example");
        of("two.example");
        if number % 10 == 0 {
            of(&word(number / 10 % 16));
        }
    }
    assert_ne!(of("one.example").id, of("two.example").id);
}

#[test]
fn i8_costs_that_no_request_can_have_do_not_overflow_the_sums() {
    let classes = Classes::new(&with_routes(&[("/a", "class=a"), ("/b", "class=b")]));
    for target in ["/a", "/b"] {
        let class = ask(&classes, target);
        classes.measured(&class, u64::MAX);
    }
    classes.set_routes(&Config::default());
    ask(&classes, "/");
    let other = classes.list().into_iter().find(|class| &*class.name == "other").unwrap();
    assert_eq!(other.totals.cpu_us, u64::MAX);
}
