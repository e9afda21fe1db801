//! `sluice routes`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::Args;

use super::RunDirArg;

const EXAMPLES: &str = "\
Examples:
  sluice routes                        the tables of the worker that has answered most requests
  sluice routes --worker 3 --limit 500
  sluice routes --all --json | jq -r '.workers[].tables[].routes[] | select(.repeats) | [.path, .file, .line] | @tsv'

Routers of Express 4 and 5, Fastify, Koa (@koa/router, koa-router) and Hono are known. A router may be bundled into the app's own
file, or be imported as a module that package.json does not name. It is then looked for in what the listeners of the app's servers
hold: its entries have the places of their handlers, and growth is not seen. The worker serves on
meanwhile: it reads the tables, about 20 ms for each 1000 entries, and judges routes in pieces of 4 ms for up to 10 s. It tells 10000
entries and judges 2000 routes.";

/// `sluice routes`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct RoutesArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Worker to look at [default: the one that has answered most requests]
    #[arg(long, value_name = "ID", conflicts_with = "all")]
    pub worker: Option<u64>,
    /// Look at every worker that serves
    #[arg(long)]
    pub all: bool,
    /// Entries of each list that are shown
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub limit: usize,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}
