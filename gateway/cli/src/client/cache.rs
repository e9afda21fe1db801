//! `sluice cache`.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde::Serialize;
use sluice_admin::protocol::Request;
use sluice_catalog::snapshot::{
    CacheSnapshot, DiskCacheSnapshot, KeptSnapshot, Purge, SharedCacheSnapshot, UnkeptSnapshot,
};

use super::connect::{ClientError, Gateway};
use super::status::{aligned, bytes, duration, harmless};
use crate::args::{CacheArgs, CacheCommand, CachePurgeArgs, CacheShowArgs, CacheStatusArgs};
use crate::exit::Exit;
use crate::output;

/// Nothing can be purged or shown.
#[derive(Debug, thiserror::Error)]
#[error("the page cache is disabled: set cache.enabled = true and restart the gateway")]
struct CacheDisabled;

/// Output of `show --json`.
#[derive(Serialize)]
struct ShowOutput {
    kept: Vec<KeptSnapshot>,
    unkept: Option<UnkeptSnapshot>,
}

/// Output of `purge --json`.
#[derive(Serialize)]
struct PurgeOutput {
    purged: u64,
}

pub fn run(args: &CacheArgs) -> Result<ExitCode, ClientError> {
    match &args.command {
        None => status(&args.asked),
        Some(CacheCommand::Status(asked)) => status(asked),
        Some(CacheCommand::Show(args)) => show(args),
        Some(CacheCommand::Purge(args)) => purge(args),
    }
}

fn status(args: &CacheStatusArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.run_dir)?;
    let cache = gateway.ask(&Request::Cache { url: None })?.cache.unwrap_or_default();
    if args.json { gateway.print_json(&cache) } else { Ok(output::print(&table(&cache))) }
}

fn table(cache: &CacheSnapshot) -> String {
    if !cache.enabled {
        return "The page cache is disabled (cache.enabled).\n".to_owned();
    }
    let answered = cache.hits + cache.stale + cache.joined;
    #[allow(clippy::cast_precision_loss)] // Counts are far below 2^53.
    let share = 100.0 * answered as f64 / (answered + cache.misses + cache.bypassed).max(1) as f64;
    let row = |name: &str, value: String| [name.to_owned(), value];
    let mut rows = vec![
        row("Pages", cache.pages.to_string()),
        row("Memory", format!("{} of {}", bytes(cache.bytes), bytes(cache.bytes_max))),
        row("Answered", format!("{share:.1} % of its requests")),
        row("Hits", format!("{}, and {} stale", cache.hits, cache.stale)),
        row("Joined", format!("{} shared the render of another request", cache.joined)),
        row("Misses", cache.misses.to_string()),
        row("Bypassed", cache.bypassed.to_string()),
        row("Stored", cache.stored.to_string()),
        row("Purged", cache.purged.to_string()),
    ];
    rows.extend(cache.disk.iter().flat_map(disk));
    rows.extend(cache.shared.iter().flat_map(shared));
    aligned(&rows)
}

/// The rows of the pages on disk.
fn disk(cache: &DiskCacheSnapshot) -> [[String; 2]; 4] {
    let DiskCacheSnapshot { hits, misses, timeouts, errors, skipped, written, dropped, refused, .. } = cache;
    let state = if cache.in_use { "in use" } else { "not in use: the log has the reason" };
    [
        ["Disk".to_owned(), format!("{}, {state}", harmless(&cache.dir))],
        ["  Pages".to_owned(), format!("{}, {} of {}", cache.pages, bytes(cache.bytes), bytes(cache.bytes_max))],
        [
            "  Look-ups".to_owned(),
            format!("{hits} hits, {misses} misses, {timeouts} timed out, {errors} failed, {skipped} skipped"),
        ],
        ["  Writes".to_owned(), format!("{written} written, {dropped} dropped, {refused} refused")],
    ]
}

/// The rows of the cache that several gateways share.
fn shared(cache: &SharedCacheSnapshot) -> [[String; 2]; 4] {
    let SharedCacheSnapshot { hits, misses, timeouts, errors, skipped, written, dropped, refused, .. } = cache;
    let state = if cache.up { "in use" } else { "not in use: it does not answer in time" };
    [
        ["Shared".to_owned(), format!("{}, {state}", harmless(&cache.address))],
        [
            "  Look-ups".to_owned(),
            format!("{hits} hits, {misses} misses, {timeouts} timed out, {errors} failed, {skipped} skipped"),
        ],
        ["  Pages".to_owned(), format!("{written} written, {dropped} dropped, {refused} refused")],
        ["  Purges".to_owned(), format!("{} sent, {} received", cache.purges_told, cache.purges_heard)],
    ]
}

fn show(args: &CacheShowArgs) -> Result<ExitCode, ClientError> {
    let mut gateway = Gateway::connect(&args.asked.run_dir)?;
    let reply = gateway.ask(&Request::Cache { url: Some(args.url.clone()) })?;
    if !reply.cache.is_some_and(|cache| cache.enabled) {
        return Ok(Exit::Failed.because(CacheDisabled));
    }
    let (kept, unkept) = (reply.kept.unwrap_or_default(), reply.unkept);
    if args.asked.json {
        return gateway.print_json(&ShowOutput { kept, unkept });
    }
    Ok(output::print(&variants(&args.url, &kept, unkept.as_ref())))
}

fn variants(url: &str, kept: &[KeptSnapshot], unkept: Option<&UnkeptSnapshot>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    if let Some(UnkeptSnapshot { why, status, age_s }) = unkept {
        let answer =
            if *status > 0 { format!("Its latest answer ({status}, {age_s} s ago) was") } else { "It was".to_owned() };
        let _ = writeln!(out, "{answer} not cached: {}.", harmless(why));
    } else if kept.is_empty() {
        let _ = writeln!(
            out,
            "No page of {} is cached, and no client has requested it lately. Pages are cached if Cache-Control has \
             s-maxage, or public and max-age, or if cache.ttl names them. Pass the URL that clients request, with \
             scheme and host.",
            harmless(url)
        );
    }
    #[allow(clippy::cast_precision_loss)] // Ages are far below 2^53 s.
    let time = |s: u64| duration(s as f64);
    for variant in kept {
        let fresh =
            if variant.fresh_s > 0 { format!("fresh for {}", time(variant.fresh_s)) } else { "stale".to_owned() };
        let tags = variant.tags.iter().map(|tag| harmless(tag)).collect::<Vec<_>>().join(" ");
        let _ = writeln!(
            out,
            "{}  {}, {} old, {fresh}, usable for {}{}{tags}",
            variant.status,
            bytes(variant.bytes),
            time(variant.age_s),
            time(variant.useful_s),
            if tags.is_empty() { "" } else { ", tags " },
        );
    }
    out
}

fn purge(args: &CachePurgeArgs) -> Result<ExitCode, ClientError> {
    let pages = match (&args.url, &args.prefix, &args.tag) {
        (Some(url), ..) => Purge::Url(url.clone()),
        (_, Some(prefix), _) => Purge::Prefix(prefix.clone()),
        (.., Some(tag)) => Purge::Tag(tag.clone()),
        _ => Purge::All,
    };
    let mut gateway = Gateway::connect(&args.asked.run_dir)?;
    if !gateway.ask(&Request::Cache { url: None })?.cache.is_some_and(|cache| cache.enabled) {
        return Ok(Exit::Failed.because(CacheDisabled));
    }
    let purged = gateway.ask(&Request::Purge { pages, soft: args.soft })?.purged.unwrap_or_default();
    if args.asked.json {
        gateway.print_json(&PurgeOutput { purged })
    } else {
        Ok(output::print(&format!("purged: {purged}\n")))
    }
}
