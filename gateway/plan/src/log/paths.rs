//! Paths that were asked for, and their shares: a uniform sample of a log's requests, in bounded memory.

use std::fmt::{self, Display, Formatter};
use std::io::{self, BufRead};

use fastrand::Rng;
use serde::Serialize;

use super::{Content, Format, Line, NAMED_MAX, Place, read_lines};

/// Maximum number of requests in the sample.
const SAMPLE_MAX: usize = 10_000;
/// Maximum size of a path with its query, bytes. Longer ones are left out.
const TARGET_BYTES_MAX: usize = 2_048;

/// A request without a body, as a log has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Asked {
    /// Whether only the head of the answer was asked for.
    pub is_head: bool,
    /// Path and query.
    pub target: String,
}

impl Asked {
    /// The request of a path that can be sent in a request line; `None` for any other text.
    pub fn get(target: &str) -> Option<Self> {
        let is_sendable = target.starts_with('/')
            && target.len() <= TARGET_BYTES_MAX
            && target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#');
        is_sendable.then(|| Self { is_head: false, target: target.to_owned() })
    }
}

impl Display for Asked {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", if self.is_head { "HEAD" } else { "GET" }, self.target)
    }
}

/// Counts of lines, by what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PathCounts {
    /// All lines.
    pub lines: u64,
    /// Requests that the sample stands for.
    pub taken: u64,
    /// Requests with methods other than GET and HEAD.
    pub other_methods: u64,
    /// Requests whose path cannot be sent: too long, not ASCII, no path.
    pub odd: u64,
    /// Requests whose query has values that the log hides as `***`.
    pub masked: u64,
    /// Requests that needed no worker, such as cache hits.
    pub elsewhere: u64,
    /// Lines that are of no known format.
    pub strange: u64,
    /// File and number of the first of them, as `access.log:7`.
    pub strange_first: Vec<String>,
}

/// Reads the paths of logs, one after the other. Logs without the times of requests will do.
pub struct PathReader {
    format: Format,
    counts: PathCounts,
    sample: Vec<Asked>,
    rng: Rng,
}

impl PathReader {
    /// Creates a reader of this format. `seed` decides which requests of a long log are in the sample.
    pub fn new(format: Format, seed: u64) -> Self {
        Self { format, counts: PathCounts::default(), sample: Vec::new(), rng: Rng::with_seed(seed) }
    }

    /// Reads a log to its end, in memory that does not grow with it. `name` is for messages.
    ///
    /// # Errors
    /// When the log cannot be read on.
    pub fn read(&mut self, name: &str, input: &mut dyn BufRead) -> io::Result<()> {
        let format = self.format.clone();
        read_lines(input, &format.0, |number, content| {
            self.counts.lines += 1;
            match content {
                Content::Line(Line::Request { place: Place { method, target, .. }, .. }, _) => {
                    self.take(method.as_bytes(), &target);
                }
                Content::Line(Line::Elsewhere, _) => self.counts.elsewhere += 1,
                Content::Line(Line::Event, _) => {}
                Content::Untimed { method, target } => self.take(method, &String::from_utf8_lossy(target)),
                Content::Strange => {
                    self.counts.strange += 1;
                    if self.counts.strange_first.len() < NAMED_MAX {
                        self.counts.strange_first.push(format!("{name}:{number}"));
                    }
                }
            }
        })
    }

    fn take(&mut self, method: &[u8], target: &str) {
        if !matches!(method, b"GET" | b"HEAD") {
            self.counts.other_methods += 1;
            return;
        }
        let Some(asked) = Asked::get(target) else {
            self.counts.odd += 1;
            return;
        };
        if asked.target.contains("=***") {
            self.counts.masked += 1;
            return;
        }
        self.counts.taken += 1;
        let asked = Asked { is_head: method == b"HEAD", ..asked };
        if self.sample.len() < SAMPLE_MAX {
            self.sample.push(asked);
            return;
        }
        // Each request so far is in the sample with the same chance.
        let place = self.rng.u64(0..self.counts.taken);
        if let Some(place) = usize::try_from(place).ok().and_then(|place| self.sample.get_mut(place)) {
            *place = asked;
        }
    }

    /// The sample, and the counts of all lines.
    pub fn finish(self) -> (Vec<Asked>, PathCounts) {
        (self.sample, self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Vec<Asked>, PathCounts) {
        let mut reader = PathReader::new(Format::default(), 1);
        reader.read("a.log", &mut &text[..]).unwrap();
        reader.finish()
    }

    fn line(request: &str) -> String {
        format!("192.0.2.1 - - [28/Nov/2026:20:55:04 +0000] \"{request}\" 200 5 \"-\" \"Mozilla/5.0\"\n")
    }

    #[test]
    fn paths_are_read_from_logs_without_times_and_what_cannot_be_sent_is_counted() {
        let requests = [
            "GET /a?b=1 HTTP/1.1",
            "HEAD /a HTTP/1.1",
            "POST /a HTTP/1.1",
            "GET /\u{e4} HTTP/1.1",
            "GET * HTTP/1.1",
            "CONNECT a:443 HTTP/1.1",
            "GET http://a/ HTTP/1.1",
            "GET /a?token=*** HTTP/1.1",
            "GET /a#b HTTP/1.1",
            "",
        ];
        let long = format!("GET /{} HTTP/1.1", "x".repeat(3_000));
        let text: String = requests.into_iter().chain([&*long]).map(line).collect();
        let (sample, counts) = read(format!("{text}nonsense\n").as_bytes());
        let names: Vec<String> = sample.iter().map(Asked::to_string).collect();
        assert_eq!(names, ["GET /a?b=1", "HEAD /a"]);
        let strange_first = vec!["a.log:12".to_owned()];
        let expected = PathCounts {
            lines: 12,
            taken: 2,
            other_methods: 3,
            odd: 5,
            masked: 1,
            elsewhere: 0,
            strange: 1,
            strange_first,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn own_log_gives_paths_also_where_it_names_classes_and_leaves_out_cache_hits() {
        let access = |target: &str, service: &str| {
            format!(
                "{{\"time\":\"2026-11-28T20:55:04.000Z\",\"event\":\"access\",\"class\":\"GET /:id\",\"method\":\"GET\",\"target\":\"{target}\",\"service_ms\":{service}}}\n"
            )
        };
        let (sample, counts) = read((access("/7", "3") + &access("/8", "null")).as_bytes());
        assert_eq!(sample, [Asked::get("/7").unwrap()]);
        assert_eq!((counts.taken, counts.elsewhere), (1, 1));
    }

    #[test]
    fn sample_of_a_long_log_has_its_shares_and_stays_bounded() {
        let text: String =
            (0..60_000).map(|at| line(if at % 4 == 0 { "GET /rare HTTP/1.1" } else { "GET / HTTP/1.1" })).collect();
        let (sample, counts) = read(text.as_bytes());
        assert_eq!((sample.len(), counts.taken), (SAMPLE_MAX, 60_000));
        let rare = sample.iter().filter(|asked| asked.target == "/rare").count();
        assert!((2_200..2_800).contains(&rare), "{rare}");
    }
}
