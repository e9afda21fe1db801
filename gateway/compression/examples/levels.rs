//! What each level makes of a file, and for how much CPU time: `cargo run -p sluice_compression --example levels FILE`.

use std::io::{self, Write as _};
use std::time::Duration;

use flate2::{Compress, Compression, FlushCompress};
use rustix::time::{ClockId, clock_gettime};
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, ResetDirective};

/// Bytes that each level is given, in as many rounds as that takes.
const BYTES: usize = 4_000_000;

fn main() -> io::Result<()> {
    let name = std::env::args().nth(1).ok_or_else(|| io::Error::other("name a file"))?;
    let data = std::fs::read(name)?;
    for level in 1..=9 {
        let mut deflate = Compress::new_gzip(Compression::new(level), 15);
        show(&format!("gzip {level}"), &data, |out| {
            deflate.reset();
            deflate.compress_vec(&data, out, FlushCompress::Finish).map(drop).map_err(io::Error::from)
        })?;
    }
    for quality in 1..=9 {
        show(&format!("brotli {quality}"), &data, |out| {
            let mut writer = brotli::CompressorWriter::new(Vec::new(), 16 * 1024, quality, 18);
            writer.write_all(&data)?;
            *out = writer.into_inner();
            Ok(())
        })?;
    }
    for level in [-1, 1, 2, 3, 4, 5, 6, 9, 12, 15] {
        let mut context = CCtx::create();
        for parameter in [CParameter::CompressionLevel(level), CParameter::WindowLog(18)] {
            context.set_parameter(parameter).map_err(|_| io::Error::other("zstd has no such level"))?;
        }
        show(&format!("zstd {level}"), &data, |out| {
            let _ = context.reset(ResetDirective::SessionOnly);
            let mut input = InBuffer::around(&data);
            let left = context.compress_stream2(&mut OutBuffer::around(out), &mut input, ZSTD_EndDirective::ZSTD_e_end);
            if left == Ok(0) { Ok(()) } else { Err(io::Error::other("zstd failed")) }
        })?;
    }
    Ok(())
}

/// Compresses the data again and again into empty output that has room enough.
#[allow(clippy::cast_precision_loss)] // Files are far below 2^53 bytes.
fn show(name: &str, data: &[u8], mut compress: impl FnMut(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
    let rounds = (BYTES / data.len().max(1)).max(1);
    let (mut len, began) = (0, cpu());
    for _ in 0..rounds {
        let mut out = Vec::with_capacity(data.len() + 256 * 1024);
        compress(&mut out)?;
        len = out.len();
    }
    let (size, ms) = (data.len() as f64, cpu().saturating_sub(began).as_secs_f64() * 1e3 / rounds as f64);
    println!("{name:9} {:5.1} %  {ms:8.2} ms", 100.0 * len as f64 / size);
    Ok(())
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}
