//! `sluice cache`.

#![allow(clippy::doc_markdown, reason = "doc comments here are help texts, which terminals show as they are")]

use clap::{Args, Subcommand};

use super::RunDirArg;

/// `sluice cache`.
#[derive(Args, Debug)]
#[command(after_help = include_str!("examples/cache.txt"), args_conflicts_with_subcommands = true)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub command: Option<CacheCommand>,
    #[command(flatten)]
    pub asked: CacheStatusArgs,
}

/// Actions on the cache.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Show the size of the cache and the number of requests it answered
    Status(CacheStatusArgs),
    /// Show the cached variants of one page
    Show(CacheShowArgs),
    /// Delete pages, or mark them as stale
    Purge(CachePurgeArgs),
}

/// Form of the answer.
#[derive(Args, Debug)]
pub struct CacheStatusArgs {
    #[command(flatten)]
    pub run_dir: RunDirArg,
    /// Print everything as one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sluice cache show`.
#[derive(Args, Debug)]
pub struct CacheShowArgs {
    /// The page: https://host/path?query, or /path?query on all hosts
    #[arg(value_name = "URL", value_parser = url)]
    pub url: String,
    #[command(flatten)]
    pub asked: CacheStatusArgs,
}

/// `sluice cache purge`.
#[derive(Args, Debug)]
#[group(id = "pages", required = true, multiple = false, args = ["url", "prefix", "tag", "all"])]
pub struct CachePurgeArgs {
    /// Purge the page of this URL, in all variants
    #[arg(long, value_name = "URL", value_parser = url)]
    pub url: Option<String>,
    /// Purge all pages whose URL begins with this text
    #[arg(long, value_name = "URL", value_parser = url)]
    pub prefix: Option<String>,
    /// Purge all pages with this tag of the app (Cache-Tag, Surrogate-Key)
    #[arg(long)]
    pub tag: Option<String>,
    /// Purge all pages
    #[arg(long)]
    pub all: bool,
    /// Mark pages as stale instead: they are sent while new ones are rendered, or if rendering fails
    #[arg(long)]
    pub soft: bool,
    #[command(flatten)]
    pub asked: CacheStatusArgs,
}

/// Error for a text that is no URL.
#[derive(Debug, thiserror::Error)]
#[error("expected a URL with scheme and host, such as https://shop.example/products/1, or a path, such as /products/1")]
pub struct UrlError;

fn url(text: &str) -> Result<String, UrlError> {
    if text.starts_with('/') && !text.starts_with("//") {
        return Ok(text.to_owned());
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(UrlError)?;
    let scheme = &text[..text.len() - rest.len()];
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if host.is_empty() {
        return Err(UrlError);
    }
    Ok(format!("{scheme}{}{}", host.to_ascii_lowercase(), if path.is_empty() { "/" } else { path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_scheme_and_host_or_begins_with_a_slash() {
        assert_eq!(url("https://Shop.example").unwrap(), "https://shop.example/");
        assert_eq!(url("http://a:3000/B?c").unwrap(), "http://a:3000/B?c");
        assert_eq!(url("/B?c").unwrap(), "/B?c");
        for text in ["", "page", "//a/", "https://", "https:///x", "ftp://a/"] {
            assert!(url(text).is_err(), "{text}");
        }
    }
}
