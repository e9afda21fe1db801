//! Selection of the log's lines. It must not know how they are shown.

use regex_lite::Regex;
use serde_json::Value;
use sluice_journal::timestamp;

use crate::args::{LEVELS, LogsArgs, Moment, Statuses};

/// Conditions of a line. All of them must hold.
#[derive(Default)]
pub(super) struct Selection {
    statuses: Vec<Statuses>,
    class: Option<String>,
    slow_ms: Option<u64>,
    /// Earliest time in the form of lines, so that both compare as text.
    since: Option<String>,
    pattern: Option<Pattern>,
    level: Option<usize>,
}

enum Pattern {
    Regex(Regex),
    Text(String),
}

/// The text after `--grep` is no regular expression.
#[derive(Debug, thiserror::Error)]
#[error("--grep: {0}; -F treats the text as plain text")]
pub(super) struct PatternError(#[from] regex_lite::Error);

impl Selection {
    pub(super) fn new(args: &LogsArgs, now_unix_ms: u64) -> Result<Self, PatternError> {
        let pattern = match &args.grep {
            Some(text) if args.fixed_strings => Some(Pattern::Text(text.clone())),
            Some(text) => Some(Pattern::Regex(Regex::new(text)?)),
            None => None,
        };
        let since = args.since.map(|since| match since {
            Moment::Ago(ago_ms) => now_unix_ms.saturating_sub(ago_ms),
            Moment::At(unix_ms) => unix_ms,
        });
        Ok(Self {
            statuses: args.status.clone(),
            class: args.class.clone(),
            slow_ms: args.slow,
            since: since.map(timestamp),
            pattern,
            level: args.level.as_deref().and_then(rank),
        })
    }

    /// Whether every line is selected.
    pub(super) fn is_all(&self) -> bool {
        !self.is_of_requests() && self.since.is_none() && self.pattern.is_none() && self.level.is_none()
    }

    /// Whether only requests can be selected, so that other lines need not come.
    pub(super) fn is_of_requests(&self) -> bool {
        !self.statuses.is_empty() || self.class.is_some() || self.slow_ms.is_some()
    }

    /// Whether the line is one. `shown` makes the text that people read of it.
    pub(super) fn has(&self, json: &str, line: &Value, shown: impl Fn() -> String) -> bool {
        let has_status =
            || line["status"].as_u64().is_some_and(|status| self.statuses.iter().any(|one| one.has(status)));
        let has_class = |class: &String| line["class"].as_str().is_some_and(|of| of.contains(class.as_str()));
        #[allow(clippy::cast_precision_loss, reason = "no request takes 2^53 ms")]
        let is_slow = |slow_ms: u64| line["total_ms"].as_f64().is_some_and(|total_ms| total_ms >= slow_ms as f64);
        let is_since = |since: &String| line["time"].as_str().is_some_and(|time| time >= since.as_str());
        let has_level = |level: usize| line["level"].as_str().and_then(rank).is_some_and(|of| of >= level);
        (!self.is_of_requests() || line["event"] == "access")
            && (self.statuses.is_empty() || has_status())
            && self.class.as_ref().is_none_or(has_class)
            && self.slow_ms.is_none_or(is_slow)
            && self.since.as_ref().is_none_or(is_since)
            && self.level.is_none_or(has_level)
            && self.pattern.as_ref().is_none_or(|pattern| pattern.is_in(json) || pattern.is_in(&shown()))
    }
}

impl Pattern {
    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Regex(regex) => regex.is_match(text),
            Self::Text(part) => text.contains(part.as_str()),
        }
    }
}

/// Rank of a level.
fn rank(level: &str) -> Option<usize> {
    LEVELS.iter().position(|one| *one == level)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCESS: &str = r#"{"time":"2026-11-24T10:00:00.000Z","level":"info","event":"access","class":"GET /a/:id","status":503,"total_ms":700.5,"target":"/a/1?b"}"#;
    const APP: &str = r#"{"time":"2026-11-24T10:05:00.000Z","level":"warn","event":"app","line":"low \"stock\""}"#;
    /// 10:10.
    const NOW_MS: u64 = 1_795_515_000_000;

    fn selected(args: &LogsArgs) -> [bool; 2] {
        let selection = Selection::new(args, NOW_MS).unwrap();
        [ACCESS, APP].map(|json| {
            let line = serde_json::from_str(json).unwrap();
            selection.has(json, &line, || json.replace("\\\"", "\""))
        })
    }

    #[test]
    fn each_filter_selects_and_all_of_them_must_hold() {
        let args = LogsArgs::default;
        for (args, wanted) in [
            (args(), [true, true]),
            (LogsArgs { status: vec![Statuses::Class(5), Statuses::One(404)], ..args() }, [true, false]),
            (LogsArgs { status: vec![Statuses::Class(4)], ..args() }, [false, false]),
            (LogsArgs { class: Some("/a/".into()), ..args() }, [true, false]),
            (LogsArgs { slow: Some(700), ..args() }, [true, false]),
            (LogsArgs { slow: Some(701), ..args() }, [false, false]),
            (LogsArgs { since: Some(Moment::Ago(360_000)), ..args() }, [false, true]),
            (LogsArgs { since: Some(Moment::At(NOW_MS - 600_000)), ..args() }, [true, true]),
            (LogsArgs { level: Some("warn".into()), ..args() }, [false, true]),
            (LogsArgs { level: Some("debug".into()), ..args() }, [true, true]),
            (LogsArgs { grep: Some("low \"st.ck".into()), ..args() }, [false, true]),
            (LogsArgs { grep: Some("1?b".into()), fixed_strings: true, ..args() }, [true, false]),
            (LogsArgs { status: vec![Statuses::One(503)], grep: Some("stock".into()), ..args() }, [false, false]),
        ] {
            assert_eq!(selected(&args), wanted, "{args:?}");
        }
        assert!(
            Selection::new(&LogsArgs { grep: Some("(".into()), ..args() }, 0)
                .is_err_and(|error| error.to_string().contains("-F"))
        );
    }
}
