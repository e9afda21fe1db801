//! A made-up day of Sluice's access log, read and planned: time and memory for so many requests.
//!
//! `cargo run --release -p sluice_plan --example day -- 10000000`; `-- 1000 print` prints the log instead.

#![allow(clippy::print_stdout, clippy::disallowed_types, reason = "it measures, and prints what it has measured")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]

use std::io::{self, BufReader, Read, Write as _};
use std::time::Instant;

use sluice_plan::{Format, LogReader, Question, plan, text};

/// Lines of a day with a quiet night, made as they are read.
struct Day {
    requests: u64,
    made: u64,
    at_ms: f64,
    state: u64,
    line: Vec<u8>,
    given: usize,
}

impl Day {
    fn unit(&mut self) -> f64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn next_line(&mut self) {
        let share = self.at_ms / 86_400_000.0;
        let rate = 1.0 - 0.8 * (share * std::f64::consts::TAU).cos();
        self.at_ms -= (1.0 - self.unit()).ln() * 86_400_000.0 / self.requests as f64 / rate;
        let (class, path, mean_ms) = match (self.unit() * 100.0) as u32 {
            0..60 => ("GET /products/:id", "/products/4711?color=red", 8.0),
            60..85 => ("GET /", "/", 15.0),
            85..98 => ("GET /api/suggest", "/api/suggest?q=oak", 3.0),
            _ => ("GET /reports", "/reports", 150.0),
        };
        let cpu_ms = mean_ms * (0.5 - (1.0 - self.unit()).ln() * 0.5);
        let (service_ms, at_ms) = (cpu_ms * 1.1 + 2.0, self.at_ms as u64);
        let (hour, minute) = (at_ms / 3_600_000 % 24, at_ms / 60_000 % 60);
        self.line.clear();
        let _ = writeln!(
            self.line,
            r#"{{"time":"2026-11-{:02}T{hour:02}:{minute:02}:{:02}.{:03}Z","level":"info","event":"access","request_id":"0123456789abcdef{:08x}","method":"GET","target":"{path}","host":"shop.example","class":"{class}","worker":3,"tries":1,"step":"render","session":null,"cache":"miss","includes":null,"includes_failed":null,"status":200,"error":null,"bytes_in":0,"bytes_out":18274,"receive_ms":0.041,"queue_ms":0.012,"unserved_ms":null,"service_ms":{service_ms:.3},"total_ms":{service_ms:.3},"cpu_ms":{cpu_ms:.3},"handler_ms":null,"outcome":"ok","peer":"203.0.113.7","trace_id":null,"headers":null}}"#,
            28 + at_ms / 86_400_000,
            at_ms / 1_000 % 60,
            at_ms % 1_000,
            self.made,
        );
        (self.made, self.given) = (self.made + 1, 0);
    }
}

impl Read for Day {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.given == self.line.len() {
                if self.made == self.requests {
                    break;
                }
                self.next_line();
            }
            let part = (self.line.len() - self.given).min(buffer.len() - filled);
            buffer[filled..filled + part].copy_from_slice(&self.line[self.given..self.given + part]);
            (self.given, filled) = (self.given + part, filled + part);
        }
        Ok(filled)
    }
}

fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kb| kb / 1024)
}

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let requests = args.next().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let day = Day { requests, made: 0, at_ms: 0.0, state: 7, line: Vec::new(), given: 0 };
    let mut input = BufReader::with_capacity(1 << 18, day);
    let replayed = match args.next() {
        Some(word) if word == "print" => return io::copy(&mut input, &mut io::stdout().lock()).map(|_| ()),
        Some(word) => word.parse().unwrap_or(usize::MAX),
        None => sluice_plan::REQUESTS,
    };
    let began = Instant::now();
    io::copy(
        &mut BufReader::new(Day { requests, made: 0, at_ms: 0.0, state: 7, line: Vec::new(), given: 0 }),
        &mut io::sink(),
    )?;
    println!("making the lines: {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let mut reader = LogReader::new(Format::default(), 1);
    reader.read("day", &mut input)?;
    println!("making and reading them: {:.1} s", began.elapsed().as_secs_f64());
    let (stretch, counts) = reader.busiest(replayed);
    println!("busiest stretch: {:.1} s, {} MB at most", began.elapsed().as_secs_f64(), peak_mb());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let question =
        Question { workers: None, traffic: vec![1_000, 1_500, 2_000], target: None, fleets: vec![], seed: 1, threads };
    print!("{}", text(&plan(&stretch, &question), &counts));
    println!("in all: {:.1} s, {} MB at most", began.elapsed().as_secs_f64(), peak_mb());
    Ok(())
}
