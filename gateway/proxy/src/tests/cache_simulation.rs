//! Events of chance through the whole road, and a naive model that says what each client gets: pages are asked for, changed, purged and
//! outdated while time passes. A seed, which a failure prints, replays it.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;
use std::rc::Rc;

use sluice_catalog::snapshot::Purge;
use tokio::task::spawn_local;

use super::worker::{Call, MARK, Worker};
use super::world::{World, play_with};

const SEEDS: u64 = 15;
const EVENTS: usize = 120;

/// A page that the app has, and what it says of it.
struct Page {
    target: &'static str,
    fields: &'static str,
    lifetime_s: u64,
    while_revalidate_s: u64,
    tag: Option<&'static str>,
    varies: bool,
    is_kept: bool,
}

const PAGES: [Page; 6] = [
    Page { target: "/a", fields: "Cache-Control: public, max-age=5\r\n", ..KEPT },
    Page {
        target: "/a/swr",
        fields: "Cache-Control: public, max-age=2, stale-while-revalidate=4\r\nCache-Tag: one, two\r\n",
        lifetime_s: 2,
        while_revalidate_s: 4,
        tag: Some("one"),
        ..KEPT
    },
    Page {
        target: "/b?lang",
        fields: "Cache-Control: s-maxage=5, must-revalidate\r\nVary: X-Lang\r\nSurrogate-Key: two one\r\n",
        tag: Some("one"),
        varies: true,
        ..KEPT
    },
    Page {
        target: "/b",
        fields: "Cache-Control: max-age=5\r\nCDN-Cache-Control: max-age=3\r\n",
        lifetime_s: 3,
        ..KEPT
    },
    Page { target: "/user", fields: "Cache-Control: private, max-age=5\r\n", is_kept: false, ..KEPT },
    Page { target: "/none", fields: "", is_kept: false, ..KEPT },
];
const KEPT: Page =
    Page { target: "", fields: "", lifetime_s: 5, while_revalidate_s: 0, tag: None, varies: false, is_kept: true };
const LANGS: [&str; 3] = ["de", "en", ""];

/// Visitors whom the app answers alone: with their first cookie, with a page of theirs, with a way to elsewhere, or with nothing.
const VISITORS: [&str; 4] = ["new", "known", "elsewhere", "lost"];

/// What the model has kept.
struct ModelPage {
    page: usize,
    lang: &'static str,
    body: String,
    came_ms: u64,
    lifetime_s: u64,
}

#[derive(Default)]
struct Model {
    kept: Vec<ModelPage>,
    renders: u64,
}

impl Model {
    /// The page is rendered anew.
    fn render(&mut self, page: usize, lang: &'static str, now_ms: u64) -> String {
        self.renders += 1;
        let body = format!("render {} of {} for {lang}", self.renders, PAGES[page].target);
        if PAGES[page].is_kept {
            self.kept.retain(|kept| !(kept.page == page && (kept.lang == lang || !PAGES[page].varies)));
            let lifetime_s = PAGES[page].lifetime_s;
            self.kept.push(ModelPage { page, lang, body: body.clone(), came_ms: now_ms, lifetime_s });
        }
        body
    }

    /// The page is rendered for one visitor alone, of whom others hear nothing.
    fn render_alone(&mut self, page: usize, lang: &'static str, visitor: &str) -> String {
        self.renders += 1;
        // A page that the app calls private when it is renewed is not for all any more.
        if visitor == "known" {
            self.kept.retain(|kept| !(kept.page == page && (kept.lang == lang || !PAGES[page].varies)));
        }
        format!("render {} of {} for {lang}", self.renders, PAGES[page].target)
    }

    fn ask(&mut self, page: usize, lang: &'static str, visitor: Option<&str>, now_ms: u64) -> String {
        let render = |model: &mut Model| match visitor {
            Some(visitor) => model.render_alone(page, lang, visitor),
            None => model.render(page, lang, now_ms),
        };
        let found = self.kept.iter().find(|kept| kept.page == page && (kept.lang == lang || !PAGES[page].varies));
        let Some(kept) = found else { return render(self) };
        let age_s = (now_ms - kept.came_ms) / 1000;
        let body = kept.body.clone();
        if age_s < kept.lifetime_s {
            return body;
        }
        let is_used = age_s - kept.lifetime_s < PAGES[page].while_revalidate_s;
        let rendered = render(self);
        if is_used { body } else { rendered }
    }

    fn purge(&mut self, is_meant: impl Fn(&Page) -> bool, is_soft: bool, now_ms: u64) {
        if is_soft {
            for kept in self.kept.iter_mut().filter(|kept| is_meant(&PAGES[kept.page])) {
                kept.lifetime_s = kept.lifetime_s.min((now_ms - kept.came_ms) / 1000);
            }
        } else {
            self.kept.retain(|kept| !is_meant(&PAGES[kept.page]));
        }
    }
}

/// The app: answers each request with the number of its render.
async fn serve(worker: Worker, renders: Rc<Cell<u64>>) {
    let mut last: Option<Call> = None;
    loop {
        let mut call = match last.take() {
            None => worker.call().await,
            Some(before) => tokio::select! {
                Some(call) = before.next() => call,
                call = worker.call() => call,
            },
        };
        let target = call.head.split(' ').nth(1).unwrap_or_default().to_owned();
        let lang = call.head.split("X-Lang: ").nth(1).and_then(|rest| rest.split('\r').next()).unwrap_or_default();
        let fields = PAGES.iter().find(|page| page.target == target).map_or("", |page| page.fields);
        let visitor = call.head.split("X-Visitor: ").nth(1).and_then(|rest| rest.split('\r').next());
        let (status, fields) = match visitor {
            Some("new") => ("200 OK", format!("{fields}Set-Cookie: visit=1\r\n")),
            Some("known") => ("200 OK", "Cache-Control: private\r\n".to_owned()),
            Some("elsewhere") => ("302 Found", "Location: /de/\r\n".to_owned()),
            Some(_) => ("404 Not Found", "Cache-Control: no-cache\r\n".to_owned()),
            None => ("200 OK", fields.to_owned()),
        };
        let body = if call.head.starts_with("POST") {
            "changed".to_owned()
        } else {
            renders.set(renders.get() + 1);
            format!("render {} of {target} for {lang}", renders.get())
        };
        call.write(&format!("HTTP/1.1 {status}\r\n{MARK}{fields}Content-Length: {}\r\n\r\n{body}", body.len())).await;
        call.report();
        last = Some(call);
    }
}

async fn ask(world: &World, method: &str, target: &str, lang: &str, visitor: Option<&str>) -> String {
    let mut client = world.client();
    let mut head = format!("{method} {target} HTTP/1.1\r\nHost: app.test\r\nCookie: a=b\r\n");
    if !lang.is_empty() {
        let _ = write!(head, "X-Lang: {lang}\r\n");
    }
    if let Some(visitor) = visitor {
        let _ = write!(head, "X-Visitor: {visitor}\r\n");
    }
    client.send(&format!("{head}Connection: close\r\n\r\n")).await;
    let answer = client.rest().await;
    world.settle().await;
    answer.trim_end_matches('|').rsplit(", ").next().unwrap_or_default().to_owned()
}

fn simulate(seed: u64) {
    let story = RefCell::new(String::new());
    play_with(
        |config| {
            config.cache.enabled = true;
            config.bounds.private_s = [0, 1, 120][usize::try_from(seed % 3).unwrap_or(0)];
            config.cache.stale_if_error_s = 0;
            // Most have cookies, and no word that the page is for all: the operator says so.
            config.cache.ttl = [("/".to_owned(), "1s".to_owned())].into_iter().collect();
            config.cache.bypass = vec!["/none".to_owned()];
        },
        async |world| {
            let mut rng = fastrand::Rng::with_seed(seed);
            let renders = Rc::new(Cell::new(0));
            spawn_local(serve(world.worker().await, Rc::clone(&renders)));
            let (mut model, url) = (Model::default(), |target: &str| format!("http://app.test{target}"));
            for at in 0..EVENTS {
                let now_ms = u64::try_from(world.at_ms()).unwrap();
                let (page, is_soft) = (rng.usize(..PAGES.len()), rng.bool());
                let target = PAGES[page].target;
                match rng.u8(..20) {
                    0..12 => {
                        let lang = LANGS[rng.usize(..LANGS.len())];
                        let visitor = rng.choice(VISITORS).filter(|_| rng.u8(..4) == 0);
                        let expected = model.ask(page, lang, visitor, now_ms);
                        let got = ask(&world, "GET", target, lang, visitor).await;
                        let _ = writeln!(story.borrow_mut(), "{now_ms}: {target} for {lang:?}, {visitor:?}");
                        assert_eq!(got, expected, "seed {seed}, event {at}:\n{}", story.borrow());
                        assert_eq!(renders.get(), model.renders, "seed {seed}, event {at}:\n{}", story.borrow());
                    }
                    12..16 => world.pass(rng.u64(1..5) * 700).await,
                    16 => {
                        ask(&world, "POST", target, "", None).await;
                        model.purge(|other| other.target == target, false, now_ms);
                        let _ = writeln!(story.borrow_mut(), "{now_ms}: change of {target}");
                    }
                    17 => {
                        world.gate.road.pages.outdate_all();
                        model.purge(|_| true, true, now_ms);
                        let _ = writeln!(story.borrow_mut(), "{now_ms}: a new version");
                    }
                    _ => {
                        let (purge, is_meant): (Purge, fn(&Page, &str) -> bool) = match rng.u8(..4) {
                            0 => (Purge::All, |_, _| true),
                            1 => (Purge::Tag("one".to_owned()), |other, _| other.tag == Some("one")),
                            2 => (Purge::Prefix(url("/a")), |other, _| other.target.starts_with("/a")),
                            _ => (Purge::Url(url(target)), |other, target| other.target == target),
                        };
                        let _ = writeln!(story.borrow_mut(), "{now_ms}: {purge:?}, soft: {is_soft}");
                        world.gate.road.pages.purge(&purge, is_soft);
                        model.purge(|other| is_meant(other, target), is_soft, now_ms);
                    }
                }
            }
            assert!(model.renders > 10, "seed {seed}");
        },
    );
}

#[test]
fn any_sequence_of_events_gives_each_client_what_a_naive_model_says() {
    let first: u64 = std::env::var("SLUICE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    for seed in first..first + SEEDS {
        simulate(seed);
    }
}
