//! `sluice dev`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use std::path::PathBuf;

use clap::Args;

use super::RunDirArg;

/// `sluice dev`.
#[derive(Args, Debug, Default)]
#[command(after_help = include_str!("examples/dev.txt"))]
pub struct DevArgs {
    /// Script that calls listen() [default: app.entry or app.command of sluice.toml, else main or scripts.start of
    /// package.json, else a framework's server or a script such as server.js]
    #[arg(conflicts_with = "app")]
    pub entry: Option<String>,
    /// Port to listen on; 0 selects a free one [config: server.port]
    #[arg(long, short)]
    pub port: Option<String>,
    /// Address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    /// Port of the app's main server, if it is not PORT [config: app.port]
    #[arg(long, value_name = "PORT")]
    pub app_port: Option<String>,
    /// Open Node's inspector on 127.0.0.1:9229, or on the given address
    #[arg(long, value_name = "[HOST:]PORT", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:9229", conflicts_with = "app")]
    pub inspect: Option<String>,
    /// Additional file or directory whose changes restart the app; may be repeated
    #[arg(long, value_name = "PATH")]
    pub watch: Vec<PathBuf>,
    /// Configuration file [default: sluice.toml, if it exists]
    #[arg(long, short, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Address of metrics, health and dashboard
    #[arg(long, value_name = "ADDR", default_value = "off")]
    pub admin: String,
    /// Node.js that runs the script [config: app.node]
    #[arg(long, value_name = "PATH")]
    pub node: Option<String>,
    /// Command that starts the app instead of a script
    #[arg(id = "app", last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
