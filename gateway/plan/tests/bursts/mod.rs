//! Made-up traffic in which a fleet has to grow and to shrink: logs of an app whose pages cost 60 ms of CPU time.

#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]

use std::fmt::Write as _;

use sluice_plan::{Format, LogReader, Stretch};

/// Requests per second where the rate is 1: so much as keeps one worker busy.
const PER_SECOND: f64 = 16.7;

/// Traffic: points of a line, minutes and workers that it keeps busy.
pub struct Burst {
    /// Name for readers.
    pub name: &'static str,
    /// Points, in order of time.
    pub points: &'static [(f64, f64)],
}

/// All of them.
pub const ALL: [Burst; 4] = [
    Burst {
        name: "a campaign: eight times the traffic within 10 s, for 10 minutes",
        points: &[(0.0, 1.2), (5.0, 1.2), (5.17, 9.6), (15.0, 9.6), (15.17, 1.2), (30.0, 1.2)],
    },
    Burst {
        name: "a morning: eight times the traffic within 20 minutes, and back",
        points: &[(0.0, 1.2), (5.0, 1.2), (25.0, 9.6), (35.0, 9.6), (55.0, 1.2), (60.0, 1.2)],
    },
    Burst {
        name: "spikes: five times the traffic for a minute, every six minutes",
        points: &[
            (0.0, 1.2),
            (4.9, 1.2),
            (5.0, 6.0),
            (6.0, 6.0),
            (6.1, 1.2),
            (10.9, 1.2),
            (11.0, 6.0),
            (12.0, 6.0),
            (12.1, 1.2),
            (16.9, 1.2),
            (17.0, 6.0),
            (18.0, 6.0),
            (18.1, 1.2),
            (22.9, 1.2),
            (23.0, 6.0),
            (24.0, 6.0),
            (24.1, 1.2),
            (30.0, 1.2),
        ],
    },
    Burst { name: "an hour of steady traffic", points: &[(0.0, 4.0), (60.0, 4.0)] },
];

impl Burst {
    /// Workers that the traffic keeps busy at this minute.
    fn rate(&self, minute: f64) -> f64 {
        let after = self.points.iter().position(|(at, _)| *at > minute).unwrap_or(self.points.len() - 1);
        let ((from, low), (to, high)) = (self.points[after - 1], self.points[after]);
        low + (high - low) * ((minute - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The log.
    pub fn log(&self) -> Stretch {
        let mut state = 7_u64;
        let mut unit = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let end_s = self.points.last().map_or(0.0, |(minute, _)| minute * 60.0);
        let (mut text, mut at_s) = (String::new(), 0.0);
        loop {
            at_s -= (1.0 - unit()).ln() / (self.rate(at_s / 60.0) * PER_SECOND);
            if at_s >= end_s {
                break;
            }
            let (path, mean_ms) = match (unit() * 100.0) as u32 {
                0..60 => ("/products/4711", 40.0),
                60..85 => ("/", 75.0),
                85..98 => ("/api/suggest", 15.0),
                _ => ("/reports", 750.0),
            };
            let took_ms = mean_ms * (0.5 - (1.0 - unit()).ln() * 0.5);
            let took_us = (took_ms * 1e3) as u64;
            let _ = writeln!(text, "{} {path} {took_us}", 1_700_000_000_000_000 + (at_s * 1e6) as u64 + took_us);
        }
        let mut reader = LogReader::new("%{usec}t %U %D".parse::<Format>().expect("a format"), 1);
        reader.read("burst", &mut text.as_bytes()).expect("memory can be read");
        reader.busiest(usize::MAX).0
    }
}

/// Time by which copies of a recorded request come sooner or later, milliseconds.
const APART_MS: u64 = 2_000;

/// Visitors of the example shop, as `bench/record-bursts.ts` recorded them: 4 of them, and 40 twice for three quarters of a minute. There are
/// so many times as many: copies of each request come within seconds of it, so that a burst is as long as it was.
pub fn recorded(times: u64) -> Stretch {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut requests = Vec::new();
    let mut lines = include_str!("recorded.txt").lines();
    let classes: Vec<&str> = lines.next().expect("names of classes").split('\t').collect();
    let (mut text, mut at_ms) = (String::new(), APART_MS);
    for line in lines {
        let row: Vec<&str> = line.split(' ').collect();
        let [since, class, service, cpu] = row[..] else { panic!("{line}") };
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let tenths =
            |text: &str| if text == "-" { "null".to_owned() } else { format!("{}", number(text) as f64 / 10.0) };
        at_ms += number(since);
        let class = classes[usize::try_from(number(class)).expect("small")];
        for _ in 0..times {
            requests.push((at_ms - APART_MS + rng.u64(..APART_MS * 2), class, tenths(service), tenths(cpu)));
        }
    }
    requests.sort_by_key(|(at_ms, ..)| *at_ms);
    for (at_ms, class, service, cpu) in requests {
        let (minute, second, ms) = (at_ms / 60_000, at_ms / 1_000 % 60, at_ms % 1_000);
        let _ = writeln!(
            text,
            r#"{{"time":"2026-11-29T04:{minute:02}:{second:02}.{ms:03}Z","event":"access","class":"{class}","service_ms":{service},"cpu_ms":{cpu}}}"#
        );
    }
    let mut reader = LogReader::new(Format::default(), 1);
    reader.read("recorded", &mut text.as_bytes()).expect("memory can be read");
    reader.busiest(usize::MAX).0
}
