//! Prints what it costs to parse a typical browser's GET, and one with little in it.
//! Run it with `cargo run --release -p sluice_http1 --example parse_cost`.

#![allow(clippy::disallowed_types, reason = "it measures the machine, and this crate has no tokio")]

use std::hint::black_box;
use std::time::Instant;

use sluice_http1::{Framing, HeadLimits, Parse, parse_request, write_request_start};

const BROWSER: &[u8] = b"GET /products/wool-blanket?colour=red&size=m HTTP/1.1\r\n\
Host: shop.example.com\r\n\
Connection: keep-alive\r\n\
sec-ch-ua: \"Chromium\";v=\"124\", \"Not-A.Brand\";v=\"99\"\r\n\
sec-ch-ua-mobile: ?0\r\n\
sec-ch-ua-platform: \"Linux\"\r\n\
Upgrade-Insecure-Requests: 1\r\n\
User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36\r\n\
Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\n\
Sec-Fetch-Site: same-origin\r\n\
Sec-Fetch-Mode: navigate\r\n\
Sec-Fetch-Dest: document\r\n\
Referer: https://shop.example.com/products\r\n\
Accept-Encoding: gzip, deflate, br, zstd\r\n\
Accept-Language: en-GB,en;q=0.9\r\n\
Cookie: session=4f1c9d2e7b6a4c0f8e3d; theme=dark; basket=17\r\n\
\r\n";

const TRIVIAL: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost:3000\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";

const RUNS: u32 = 200_000;
const ROUNDS: u32 = 5;

fn main() {
    let limits = HeadLimits::default();
    for (name, request) in [("browser", BROWSER), ("trivial", TRIVIAL)] {
        let parse_ns = best_ns(|| {
            let _ = black_box(parse_request(black_box(request), &limits));
        });
        println!("{name}: {} bytes, parse {parse_ns:.0} ns", request.len());
        let Ok(Parse::Complete { received, .. }) = parse_request(request, &limits) else { continue };
        let mut out = Vec::with_capacity(4096);
        let write_ns = best_ns(|| {
            out.clear();
            write_request_start(&mut out, black_box(&received.head), Framing::None, None, |_, _| true);
            black_box(&out);
        });
        println!("{name}: rewrite {write_ns:.0} ns");
    }
}

/// The mean of the best round, which other work on the machine has disturbed least.
fn best_ns(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..RUNS {
            work();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(RUNS));
    }
    best
}
