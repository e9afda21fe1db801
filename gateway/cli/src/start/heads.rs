//! Longest head of a request, by the option of Node.js that the app is started with: the gateway accepts what the app
//! would accept alone.

use sluice_catalog::config::{Config, ConfigInForce, Origin};
use sluice_supervisor::Start;

use super::app::AppCommand;
use super::sizing::node_options;

const OPTION: &str = "--max-http-header-size";
const KEY: &str = "server.headers_bytes_max";
/// Bounds of the config key.
const BYTES: std::ops::RangeInclusive<u64> = 256..=1 << 20;

/// Sets the limits of heads as the app's option says, unless the config sets `server.headers_bytes_max`. Node.js counts
/// the request line and the header lines together, so each may be as long as both.
pub fn settle(loaded: &mut ConfigInForce, app: &AppCommand) {
    if let Some(bytes) = bytes_max(loaded, app) {
        loaded.config.server.headers_bytes_max = bytes;
        loaded.config.bounds.request_line_bytes_max = bytes;
    }
}

/// Settings in force after a reload to these. The limit of the request line is no setting, and follows the app's option.
pub fn reloaded(in_force: &Config, loaded: &Config) -> Config {
    let mut config = in_force.reloaded(loaded);
    config.bounds.request_line_bytes_max = loaded.bounds.request_line_bytes_max;
    config
}

/// The app's limit, if it counts.
pub fn bytes_max(loaded: &ConfigInForce, app: &AppCommand) -> Option<u64> {
    let is_configured = loaded.origins.get(KEY).is_some_and(|origin| *origin != Origin::Default);
    let bytes = of_app(&app.start, node_options(&loaded.config).as_deref()).filter(|_| !is_configured)?;
    Some(bytes.clamp(*BYTES.start(), *BYTES.end()))
}

/// The app's limit, by the place that counts last.
fn of_app(start: &Start, node_options: Option<&str>) -> Option<u64> {
    let words = match start {
        Start::Script { node_args, .. } => node_args,
        Start::Command(words) => words,
    };
    in_words(words.iter().map(String::as_str)).or_else(|| in_words(node_options.unwrap_or_default().split_whitespace()))
}

/// Value of the option in these words, the last one if there are several: `--option=1` or `--option 1`.
fn in_words<'w>(words: impl Iterator<Item = &'w str>) -> Option<u64> {
    let mut found = None;
    let mut words = words.flat_map(str::split_whitespace).peekable();
    while let Some(word) = words.next() {
        let word = word.trim_matches(['"', '\'']).replace('_', "-");
        let value = match word.strip_prefix(OPTION) {
            Some("") => words.peek().copied(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        found = value.and_then(|value| value.parse().ok()).or(found);
    }
    found
}

#[cfg(test)]
mod tests {
    use sluice_catalog::config::Sources;

    use super::*;

    fn settled(flags: &[(&'static str, &str)], node_args: &[&str]) -> Config {
        let flags = flags.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        let mut loaded = Config::load(Sources { file: None, env: Vec::new(), flags }).unwrap();
        let node_args = node_args.iter().map(|arg| (*arg).to_owned()).collect();
        let start = Start::Script { node: "node".to_owned(), node_args, entry: "a.js".into(), args: Vec::new() };
        settle(&mut loaded, &AppCommand { start, cwd: "/".into() });
        loaded.config
    }

    fn limits(flags: &[(&'static str, &str)], node_args: &[&str]) -> (u64, u64) {
        let config = settled(flags, node_args);
        (config.request_line_bytes_max(), config.server.headers_bytes_max)
    }

    #[test]
    fn a_reload_changes_both_limits_in_either_direction() {
        let options = ["--max-http-header-size=65536", "--max-http-header-size=8192"];
        let [large, small, none] = [&options[..1], &options[1..], &[]].map(|args| settled(&[], args));
        for (before, after, bytes) in
            [(&large, &small, 8_192), (&small, &large, 65_536), (&large, &none, 16_384), (&small, &none, 16_384)]
        {
            let config = reloaded(before, after);
            assert_eq!((config.request_line_bytes_max(), config.server.headers_bytes_max), (bytes, bytes));
        }
    }

    #[test]
    fn heads_are_as_long_as_the_app_says_unless_the_config_does() {
        assert_eq!(limits(&[], &[]), (16_384, 16_384));
        assert_eq!(limits(&[], &["--max-http-header-size=65536"]), (65_536, 65_536));
        assert_eq!(limits(&[], &["--max-http-header-size=8192"]), (8_192, 8_192));
        assert_eq!(limits(&[], &["--max-http-header-size=99999999"]), (1 << 20, 1 << 20));
        assert_eq!(limits(&[(KEY, "32768")], &["--max-http-header-size=65536"]), (32_768, 32_768));
    }

    #[test]
    fn option_is_found_as_node_reads_it() {
        for (words, found) in [
            (&["--max-http-header-size", "20000"][..], Some(20_000)),
            (&["--max_http_header_size=20000"], Some(20_000)),
            (&["--max-http-header-size=1", "--max-http-header-size=2"], Some(2)),
            (&["sh", "-c", "node --max-http-header-size=20000 a.js"], Some(20_000)),
            (&["--max-http-header-size=lots"], None),
            (&["--max-http-header-sizes=7", "7"], None),
        ] {
            assert_eq!(in_words(words.iter().copied()), found, "{words:?}");
        }
        let start = Start::Command(vec!["node".to_owned(), "a.js".to_owned()]);
        assert_eq!(of_app(&start, Some("--inspect --max-http-header-size=20000")), Some(20_000));
    }
}
