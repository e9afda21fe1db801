use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use sluice_cache::{Moment, Page, Policy, Reuse, Rule, StaleLimits, StorageCandidate, decode, storable};
use sluice_catalog::snapshot::Purge;
use sluice_message::{Fields, Method, RequestHead, ResponseHead, Scheme};
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout};

use super::client::{Disk, DiskEvent, Settings, StartupPages};
use super::folder::Folder;
use super::log::Log;
use super::record::{PageMeta, PurgeMeta};
use crate::clock::{Clock, clock_ms};
use crate::outgoing::Outgoing;

const LARGE: u64 = 64 * 1024 * 1024;

fn policy() -> Policy {
    let request = RequestHead {
        method: Method::Get,
        scheme: Scheme::Http,
        authority: "shop.test".to_owned(),
        path_and_query: "/".to_owned(),
        fields: Fields::default(),
    };
    let mut fields = Fields::default();
    fields.push("Cache-Control", "public, max-age=600");
    let response = ResponseHead::new(200, fields);
    let (now, rule) = (Moment::default(), Rule::default());
    storable(StorageCandidate { request: &request, response: &response, chosen: &[], rule, asked: now, came: now })
        .unwrap()
}

fn page(key: &str, tag: &str, body: &str) -> Outgoing {
    Outgoing {
        key: key.to_owned(),
        head: ResponseHead::new(200, Fields::default()),
        policy: policy(),
        tags: vec![tag.into()],
        body: Bytes::copy_from_slice(body.as_bytes()),
        now: Moment::default(),
        clock_ms: clock_ms(),
    }
}

fn open(dir: &Path, bytes_max: u64) -> Log {
    open_for(dir, bytes_max, "this run")
}

fn open_for(dir: &Path, bytes_max: u64, identity: &str) -> Log {
    let folder = Folder::make(dir).unwrap();
    let lock = folder.lock(|| panic!("nobody else is here")).unwrap();
    Log::open((folder, lock), identity.to_owned(), bytes_max, &[]).unwrap()
}

fn put(log: &mut Log, key: &str, tag: &str, body: &str) {
    let page = page(key, tag, body);
    let meta = PageMeta { key: page.key.clone(), tags: page.tags.clone(), variant: 0 };
    assert!(log.put(meta, &page.encode()).unwrap());
}

fn purge(log: &mut Log, purge: Purge, is_soft: bool) {
    log.purge(&PurgeMeta { purge, is_soft, clock_ms: clock_ms() }).unwrap();
}

/// The body of a page, and whether it was made stale; nothing where it is not found or cannot be read.
fn found(log: &Log, key: &str) -> Option<(String, bool)> {
    let entry = log.variants(key).first()?.clone();
    let data = log.read(entry.place).ok()?;
    let page = decode(&data, Moment::default(), clock_ms()).ok().filter(|page| page.key == key)?;
    Some((String::from_utf8(page.body.to_vec()).ok()?, entry.softened_ms.is_some()))
}

fn body(log: &Log, key: &str) -> Option<String> {
    found(log, key).map(|(body, _)| body)
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("sluice-pages")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some()).collect();
    files.sort();
    files
}

/// Seven things that were done: what is left, and what must never be found again.
fn story(dir: &Path) {
    let mut log = open(dir, LARGE);
    put(&mut log, "http://a.test/1", "one", "first");
    put(&mut log, "http://a.test/2", "two", "second");
    put(&mut log, "http://a.test/3", "three", "third");
    purge(&mut log, Purge::Tag("one".to_owned()), false);
    put(&mut log, "http://a.test/2", "two", "second again");
    purge(&mut log, Purge::Url("http://a.test/3".to_owned()), true);
    put(&mut log, "http://a.test/4", "four", "fourth");
}

#[test]
fn pages_and_purges_are_found_by_whoever_opens_the_log_after_a_kill() {
    let dir = TempDir::new().unwrap();
    story(dir.path());
    for _ in 0..2 {
        let log = open(dir.path(), LARGE);
        assert_eq!(body(&log, "http://a.test/1"), None);
        assert_eq!(found(&log, "http://a.test/2"), Some(("second again".to_owned(), false)));
        assert_eq!(found(&log, "http://a.test/3"), Some(("third".to_owned(), true)));
        assert_eq!(body(&log, "http://a.test/4").as_deref(), Some("fourth"));
        assert_eq!(log.size().0, 3);
    }
}

#[test]
fn i7_wherever_a_kill_cuts_off_the_log_it_is_a_state_of_some_moment() {
    let dir = TempDir::new().unwrap();
    story(dir.path());
    let file = files(dir.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for len in 0..=whole.len() {
        fs::write(&file, &whole[..len]).unwrap();
        let mut log = open(dir.path(), LARGE);
        let left: Vec<_> = (1..=4).map(|at| body(&log, &format!("http://a.test/{at}"))).collect();
        seen.insert(left);
        // It goes on from there.
        put(&mut log, "http://a.test/5", "five", "fifth");
        drop(log);
        assert_eq!(body(&open(dir.path(), LARGE), "http://a.test/5").as_deref(), Some("fifth"), "{len}");
        for file in files(dir.path()) {
            fs::remove_file(file).unwrap();
        }
    }
    // None, 1, 1 and 2, all three, without 1, with a new 2, with 4: a soft purge does not show here.
    assert_eq!(seen.len(), 7);
}

#[test]
fn i7_no_damaged_byte_brings_a_purged_or_another_page_back() {
    let dir = TempDir::new().unwrap();
    story(dir.path());
    let file = files(dir.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    let mut survived = 0;
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        for file in files(dir.path()) {
            fs::remove_file(file).unwrap();
        }
        fs::write(&file, &damaged).unwrap();
        let log = open(dir.path(), LARGE);
        assert_eq!(body(&log, "http://a.test/1"), None, "the purge of 1 at {at}");
        let mut left = 0;
        for (key, expected) in [("2", "second again"), ("3", "third"), ("4", "fourth")] {
            if let Some((body, is_soft)) = found(&log, &format!("http://a.test/{key}")) {
                assert_eq!(body, expected, "{key} at {at}");
                assert_eq!(is_soft, key == "3", "{key} at {at}");
                left += 1;
            }
        }
        assert!(left >= 2, "damage at {at} costs one page at most, and {left} of three are left");
        survived += left;
    }
    assert!(survived > whole.len() * 5 / 2, "most damage costs nothing: {survived} of {}", 3 * whole.len());
}

#[test]
fn one_bit_that_is_damaged_costs_one_page_of_hundreds() {
    let dir = TempDir::new().unwrap();
    let mut log = open(dir.path(), LARGE);
    for at in 0..200 {
        put(&mut log, &format!("http://a.test/{at}"), "all", "a short page");
    }
    drop(log);
    let file = files(dir.path()).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    // Of a record from its first front to its last byte, and of the segment's own.
    let record = whole.len() / 200;
    for at in (0..200).chain(whole.len() - record..whole.len()) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, &damaged).unwrap();
        let log = open(dir.path(), LARGE);
        let left = (0..200).filter(|at| body(&log, &format!("http://a.test/{at}")).is_some()).count();
        assert!(left >= 199, "{left} pages are left of a bit at {at}");
    }
}

#[test]
fn i6_the_book_of_pages_with_long_names_stays_within_its_share_and_the_latest_pages_stay() {
    let dir = TempDir::new().unwrap();
    let bytes_max = 24 * 1024 * 1024;
    let mut log = open(dir.path(), bytes_max);
    let key = |at: usize| format!("http://a.test/{at}/{}", "x".repeat(4000));
    for at in 0..1500 {
        put(&mut log, &key(at), "all", "");
    }
    let book_max = usize::try_from(bytes_max / 16).unwrap();
    assert!(log.book_bytes() <= book_max + 8192, "{} bytes", log.book_bytes());
    assert!(body(&log, &key(1499)).is_some() && log.size().0 > 100, "{} pages", log.size().0);
    drop(log);
    assert!(open(dir.path(), bytes_max).book_bytes() <= book_max + 8192);
}

#[test]
fn the_files_never_take_more_than_they_may_and_the_latest_pages_stay() {
    let dir = TempDir::new().unwrap();
    let bytes_max = 512 * 1024;
    let mut log = open(dir.path(), bytes_max);
    let text = "x".repeat(10_000);
    for at in 0..200 {
        put(&mut log, &format!("http://a.test/{at}"), "all", &text);
        let bytes: u64 = files(dir.path()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
        assert!(bytes <= bytes_max, "{bytes} bytes after {at} pages");
        assert_eq!(log.size().1, bytes);
    }
    drop(log);
    let log = open(dir.path(), bytes_max);
    assert_eq!(body(&log, "http://a.test/0"), None);
    let left = (0..200).rev().take_while(|at| body(&log, &format!("http://a.test/{at}")).is_some()).count();
    assert!((30..60).contains(&left), "{left} pages");
    drop(log);
    // With less room the oldest go.
    let log = open(dir.path(), bytes_max / 2);
    assert!(log.size().1 <= bytes_max / 2 && body(&log, "http://a.test/199").is_some());
}

#[test]
fn a_page_that_is_too_large_is_not_written() {
    let dir = TempDir::new().unwrap();
    let mut log = open(dir.path(), 100_000);
    let page = page("http://a.test/", "one", &"x".repeat(60_000));
    let meta = PageMeta { key: page.key.clone(), tags: page.tags.clone(), variant: 0 };
    assert!(!log.put(meta, &page.encode()).unwrap());
    assert_eq!(log.size(), (0, 0));
}

#[test]
fn what_was_purged_whole_gives_its_room_back() {
    let dir = TempDir::new().unwrap();
    let mut log = open(dir.path(), 4 * 1024 * 1024);
    for at in 0..100 {
        put(&mut log, &format!("http://a.test/{at}"), "all", &"x".repeat(10_000));
    }
    purge(&mut log, Purge::All, false);
    assert!(log.size().1 <= 200_000, "{} bytes", log.size().1);
}

#[test]
fn i7_pages_from_before_a_reboot_or_of_other_rules_are_removed() {
    let dir = TempDir::new().unwrap();
    story(dir.path());
    assert_eq!(open_for(dir.path(), LARGE, "another run").size(), (0, 0));
    assert!(files(dir.path()).is_empty());
    assert_eq!(open(dir.path(), LARGE).size().0, 0);
}

#[test]
fn i7_a_missing_file_removes_all_pages_that_it_may_have_purged() {
    let dir = TempDir::new().unwrap();
    let mut log = open(dir.path(), LARGE);
    let text = "x".repeat(900_000);
    for at in 0..12 {
        put(&mut log, &format!("http://a.test/{at}"), "all", &text);
    }
    drop(log);
    let files = files(dir.path());
    assert!(files.len() >= 4, "{files:?}");
    fs::remove_file(&files[1]).unwrap();
    let log = open(dir.path(), LARGE);
    assert_eq!(body(&log, "http://a.test/0"), None, "before the gap");
    assert!(body(&log, "http://a.test/11").is_some(), "behind it");
}

#[test]
fn the_directory_and_its_files_are_for_this_user_alone() {
    let dir = TempDir::new().unwrap();
    story(dir.path());
    let own = dir.path().join("sluice-pages");
    assert_eq!(fs::metadata(&own).unwrap().mode() & 0o777, 0o700);
    for file in fs::read_dir(&own).unwrap() {
        assert_eq!(file.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
    }
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Folder::make(dir.path()).is_err());
    fs::remove_dir_all(&own).unwrap();
    std::os::unix::fs::symlink("/tmp", &own).unwrap();
    assert!(Folder::make(dir.path()).is_err());
}

#[test]
fn i7_a_purge_that_cannot_be_written_removes_all_pages_and_unremovable_ones_are_not_used() {
    let dir = TempDir::new().unwrap();
    let mut log = open(dir.path(), 512 * 1024);
    put(&mut log, KEY, "one", "body");
    let before = usize::try_from(log.size().1).unwrap();
    put(&mut log, "http://b.test/", "two", &"x".repeat(40_000));
    let after = usize::try_from(log.size().1).unwrap();
    // Up to where not even a purge fits into the file.
    put(&mut log, "http://c.test/", "two", &"x".repeat(64 * 1024 - after - (after - before - 40_000) - 20));
    let [first] = &*files(dir.path()) else { panic!("one file") };
    let next = first.with_file_name("0000000000000002.pages");
    // The next file cannot be made, and this one cannot be removed: both names are those of directories.
    fs::create_dir(&next).unwrap();
    fs::remove_file(first).unwrap();
    fs::create_dir(first).unwrap();
    let purged = PurgeMeta { purge: Purge::Tag("one".to_owned()), is_soft: false, clock_ms: clock_ms() };
    assert!(log.purge(&purged).is_err());
    assert!(log.is_poisoned() && body(&log, KEY).is_none() && body(&log, "http://b.test/").is_none());
    let late = PageMeta { key: KEY.to_owned(), tags: Vec::new(), variant: 0 };
    assert!(!log.put(late, b"late").unwrap(), "nothing is written meanwhile");
    assert!(log.clear().is_err());
    fs::remove_dir(first).unwrap();
    fs::remove_dir(&next).unwrap();
    log.clear().unwrap();
    put(&mut log, KEY, "one", "new");
    drop(log);
    let log = open(dir.path(), 512 * 1024);
    assert_eq!((body(&log, KEY).as_deref(), log.size().0), (Some("new"), 1));
}

/// What a random story did, in memory.
#[derive(Default)]
struct Model(BTreeMap<String, (String, String, bool)>);

impl Model {
    fn purge(&mut self, purge: &Purge, is_soft: bool) {
        let is_meant = |key: &str, tag: &str| match purge {
            Purge::All => true,
            Purge::Url(url) => key == url,
            Purge::Prefix(prefix) => key.starts_with(prefix.as_str()),
            Purge::Tag(wanted) => tag == wanted,
        };
        if is_soft {
            for (key, (_, tag, soft)) in &mut self.0 {
                *soft |= is_meant(key, tag);
            }
        } else {
            self.0.retain(|key, (_, tag, _)| !is_meant(key, tag));
        }
    }
}

#[test]
fn i7_after_any_order_of_writes_and_purges_the_log_has_exactly_the_remaining_pages() {
    let seed = std::env::var("SLUICE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_250_101);
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..30 {
        let dir = TempDir::new().unwrap();
        // In half of the rounds pages have to make room.
        let bytes_max = if round % 2 == 0 { LARGE } else { 100_000 };
        let (mut log, mut model) = (open(dir.path(), bytes_max), Model::default());
        for step in 0..400 {
            let key = format!("http://{}.test/{}", random.u8(0..2), random.u8(0..12));
            let tag = format!("t{}", random.u8(0..5));
            match random.u8(0..20) {
                0 => {
                    drop(log);
                    log = open(dir.path(), bytes_max);
                }
                1..=5 => {
                    let what = match random.u8(0..12) {
                        0 => Purge::All,
                        1 | 2 => Purge::Prefix("http://1.test/1".to_owned()),
                        3..=6 => Purge::Tag(tag),
                        _ => Purge::Url(key),
                    };
                    let is_soft = random.bool();
                    model.purge(&what, is_soft);
                    purge(&mut log, what, is_soft);
                }
                _ => {
                    let text = format!("{step} {}", "x".repeat(random.usize(0..2_000)));
                    put(&mut log, &key, &tag, &text);
                    model.0.insert(key, (text, tag, false));
                }
            }
            let expected: BTreeMap<_, _> =
                model.0.iter().map(|(key, (body, _, soft))| (key.clone(), (body.clone(), *soft))).collect();
            let keys = (0..2).flat_map(|host| (0..12).map(move |at| format!("http://{host}.test/{at}")));
            let left: BTreeMap<_, _> = keys.filter_map(|key| Some((key.clone(), found(&log, &key)?))).collect();
            let is_right = if bytes_max == LARGE {
                left == expected
            } else {
                left.iter().all(|(key, what)| expected.get(key) == Some(what))
            };
            assert!(is_right, "seed {seed}, round {round}, step {step}");
            assert_eq!(log.size().0, left.len());
        }
    }
}

// The thread and its handle.

fn run(story: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(60), story()).await.unwrap() });
}

fn settings(dir: &Path) -> Settings {
    Settings {
        dir: dir.to_owned(),
        bytes_max: LARGE,
        owner: "shop".to_owned(),
        found: StartupPages::Kept,
        clock: Clock::since(Instant::now()),
    }
}

async fn started(settings: Settings) -> (Disk, UnboundedReceiver<DiskEvent>, usize) {
    let (disk, mut heard) = Disk::start(settings).unwrap();
    let Some(DiskEvent::Ready(pages)) = heard.recv().await else { panic!("it is not in use") };
    (disk, heard, pages)
}

async fn look_up(disk: &Disk, key: &str) -> Option<Page> {
    // A machine that is busy may need longer than a request would wait.
    loop {
        let late = disk.counts().timeouts.get() + disk.counts().skipped.get();
        let found = disk.look_up(key, &Fields::default()).await;
        if disk.counts().timeouts.get() + disk.counts().skipped.get() == late {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

const KEY: &str = "http://a.test/";

#[test]
fn a_page_is_found_by_the_next_gateway_with_its_age() {
    run(async || {
        let dir = TempDir::new().unwrap();
        let (disk, _heard, _) = started(settings(dir.path())).await;
        let now = Moment { wall_s: 0, steady_ms: 7_500 };
        assert!(disk.store(Outgoing { now, ..page(KEY, "one", "body") }));
        let _ = disk.close().await;
        let (disk, _heard, pages) = started(settings(dir.path())).await;
        assert_eq!(pages, 1);
        let found = look_up(&disk, KEY).await.unwrap();
        assert_eq!(&*found.body, b"body");
        let age_ms = found.policy.age_ms(Moment { wall_s: 0, steady_ms: 10_000 });
        assert!((7_500..67_500).contains(&age_ms), "{age_ms}");
        assert!(look_up(&disk, "http://a.test/other").await.is_none());
    });
}

#[test]
fn i7_a_soft_purge_survives_restarts_and_its_pages_keep_ageing() {
    run(async || {
        let dir = TempDir::new().unwrap();
        let (disk, _heard, _) = started(settings(dir.path())).await;
        assert!(disk.store(page(KEY, "one", "body")));
        let _ = disk.purge(&Purge::Tag("one".to_owned()), true).await;
        let _ = disk.close().await;
        let (disk, _heard, _) = started(settings(dir.path())).await;
        let found = look_up(&disk, KEY).await.unwrap();
        let reuse = found.policy.reuse(Moment { wall_s: 0, steady_ms: 100_000 }, StaleLimits { if_error_s: 600 });
        assert!(matches!(reuse, Reuse::IfError(_)), "{reuse:?}");
    });
}

#[test]
fn pages_of_before_are_stale_or_gone_as_the_settings_say() {
    run(async || {
        for found in [StartupPages::Stale, StartupPages::Dropped] {
            let dir = TempDir::new().unwrap();
            let (disk, _heard, _) = started(settings(dir.path())).await;
            assert!(disk.store(page(KEY, "one", "body")));
            let _ = disk.close().await;
            let (disk, _heard, pages) = started(Settings { found, ..settings(dir.path()) }).await;
            assert_eq!(pages, usize::from(found == StartupPages::Stale));
            let page = look_up(&disk, KEY).await;
            let is_fresh = page.is_some_and(|page| {
                matches!(page.policy.reuse(Moment::default(), StaleLimits::default()), Reuse::Fresh(_))
            });
            assert!(!is_fresh);
        }
    });
}

#[test]
fn i7_a_second_gateway_waits_for_the_directory_and_then_knows_what_it_has_purged_meanwhile() {
    run(async || {
        let dir = TempDir::new().unwrap();
        let (first, _first_heard, _) = started(settings(dir.path())).await;
        for key in ["a", "b"] {
            assert!(first.store(page(&format!("http://{key}.test/"), key, "body")));
        }
        let (second, mut heard) = Disk::start(settings(dir.path())).unwrap();
        assert_eq!(heard.recv().await, Some(DiskEvent::Busy));
        assert!(!second.is_in_use() && second.look_up("http://a.test/", &Fields::default()).await.is_none());
        // Nobody waits for a directory that may never come.
        let _ = second.purge(&Purge::Tag("a".to_owned()), false).await;
        assert!(!second.store(page("http://c.test/", "c", "body")));
        let _ = first.close().await;
        assert_eq!(heard.recv().await, Some(DiskEvent::Ready(1)));
        assert!(look_up(&second, "http://a.test/").await.is_none());
        assert!(look_up(&second, "http://b.test/").await.is_some());
        let _ = second.close().await;
        let (third, _heard, _) = started(settings(dir.path())).await;
        assert!(look_up(&third, "http://a.test/").await.is_none(), "the purge was written down");
    });
}

#[test]
fn i7_more_purges_than_can_wait_purge_everything() {
    run(async || {
        let dir = TempDir::new().unwrap();
        let (first, _first_heard, _) = started(settings(dir.path())).await;
        assert!(first.store(page(KEY, "one", "body")));
        let (second, mut heard) = Disk::start(settings(dir.path())).unwrap();
        assert_eq!(heard.recv().await, Some(DiskEvent::Busy));
        for at in 0..10_002 {
            drop(second.purge(&Purge::Tag(format!("other {at}")), false));
        }
        let _ = first.close().await;
        assert_eq!(heard.recv().await, Some(DiskEvent::Ready(0)));
    });
}

#[test]
fn a_page_that_is_damaged_while_the_gateway_runs_is_not_used() {
    run(async || {
        let dir = TempDir::new().unwrap();
        let (disk, _heard, _) = started(settings(dir.path())).await;
        assert!(disk.store(page(KEY, "one", "a body that is damaged")));
        assert!(look_up(&disk, KEY).await.is_some());
        let file = files(dir.path()).pop().unwrap();
        let mut bytes = fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        // In place, as a disk would.
        std::os::unix::fs::FileExt::write_all_at(&fs::File::options().write(true).open(&file).unwrap(), &bytes, 0)
            .unwrap();
        assert!(look_up(&disk, KEY).await.is_none());
        assert_eq!(disk.counts().errors.get(), 1);
        assert!(look_up(&disk, KEY).await.is_none());
        assert_eq!(disk.counts().errors.get(), 1, "it is forgotten");
    });
}

#[test]
fn a_directory_that_cannot_be_had_is_told_and_costs_nothing() {
    run(async || {
        let dir = TempDir::new().unwrap();
        fs::write(dir.path().join("sluice-pages"), "a file").unwrap();
        let (disk, mut heard) = Disk::start(settings(dir.path())).unwrap();
        assert!(matches!(heard.recv().await, Some(DiskEvent::Unusable(_))));
        assert!(heard.recv().await.is_none());
        assert!(!disk.store(page(KEY, "one", "body")));
        assert!(disk.look_up(KEY, &Fields::default()).await.is_none());
        let _ = disk.purge(&Purge::All, false).await;
        let _ = disk.close().await;
    });
}
