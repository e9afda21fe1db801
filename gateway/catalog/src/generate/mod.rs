//! Renders the files that are made from the catalogue: reference pages, JSON Schema, TypeScript types.
//!
//! Everything here is text in, text out; the caller reads and writes files. Output is as Prettier would leave it, so that
//! formatting the repository changes nothing.

mod config_page;
mod markdown;
mod pages;
mod protocol;
mod schema;
mod snapshot;
mod typescript;

/// One generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path from the repository's root, with `/`.
    pub path: &'static str,
    /// All of its text.
    pub text: String,
}

/// First line of every generated file.
const NOTICE: &str = "Generated from gateway/catalog by `make generate`; do not edit.";

/// Every generated file. `cli` is the page on the command line, which only the binary can render: the part after the
/// title.
pub fn files(cli: &str) -> Vec<File> {
    vec![
        File { path: "docs/reference/cli.md", text: markdown::page("Command line", cli) },
        File { path: "docs/reference/config.md", text: markdown::page("Configuration", &config_page::body()) },
        File { path: "docs/reference/errors.md", text: markdown::page("Errors", &pages::errors()) },
        File { path: "docs/reference/log.md", text: markdown::page("Log", &pages::log()) },
        File { path: "docs/reference/metrics.md", text: markdown::page("Metrics", &pages::metrics()) },
        File { path: "docs/reference/worker-protocol.md", text: markdown::page("Worker protocol", &protocol::page()) },
        File { path: "gateway/supervisor/src/control/record.rs", text: protocol::rust() },
        File { path: "packages/dashboard/src/snapshot.ts", text: snapshot::text() },
        File { path: "packages/preload/src/control/messages.ts", text: protocol::typescript() },
        File { path: "packages/sluice/sluice.schema.json", text: schema::text() },
        File { path: "packages/sluice/src/config.ts", text: typescript::text() },
    ]
}

pub use markdown::table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_end_with_one_line_feed_and_have_no_trailing_spaces() {
        for file in files("Text.\n") {
            assert!(file.text.ends_with('\n') && !file.text.ends_with("\n\n"), "{}", file.path);
            assert!(file.text.lines().all(|line| line.trim_end() == line), "{}", file.path);
        }
    }

    #[test]
    fn every_key_is_in_every_file_made_from_keys() {
        let files = files("");
        let text = |path| &files.iter().find(|file| file.path == path).unwrap().text;
        for key in crate::config::keys() {
            assert!(text("docs/reference/config.md").contains(&format!("### `{}`\n", key.path)), "{}", key.path);
            assert!(text("packages/sluice/sluice.schema.json").contains(&format!("\"{}\": {{", key.name)));
            assert!(text("packages/sluice/src/config.ts").contains(&format!("  {}?: ", key.name)));
        }
    }

    #[test]
    fn every_error_metric_and_field_is_in_its_page() {
        let files = files("");
        let text = |path| &files.iter().find(|file| file.path == path).unwrap().text;
        for entry in crate::errors::ALL {
            assert!(text("docs/reference/errors.md").contains(&format!("### {}\n", entry.code)), "{}", entry.code);
        }
        for metric in crate::metrics::ALL {
            assert!(text("docs/reference/metrics.md").contains(&format!("`{}`", metric.name)), "{}", metric.name);
        }
        for line in &crate::logfields::LOG.lines {
            assert!(text("docs/reference/log.md").contains(&format!("## `{}`\n", line.event)), "{}", line.event);
            for field in &line.fields {
                assert!(text("docs/reference/log.md").contains(&format!("| `{}`", field.name)), "{}", field.name);
            }
        }
    }
}
