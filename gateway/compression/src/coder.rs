//! One body on its way through a compressor. It must not know who waits for it.

use std::io::{self, Write as _};

use brotli::CompressorWriter;
use brotli::enc::BrotliEncoderParams;
use flate2::{Compress, Compression, FlushCompress, Status};
use sluice_message::Coding;
use zstd_safe::zstd_sys::ZSTD_EndDirective;
use zstd_safe::{CCtx, CParameter, InBuffer, OutBuffer, ResetDirective};

/// Distance in which repetitions are found, as a power of two of bytes: 256 KiB. It bounds the memory of coders of zstd and
/// brotli, in the gateway and in the client.
const WINDOW_BITS: u32 = 18;
/// The same of gzip, whose format has no larger one.
const GZIP_WINDOW_BITS: u8 = 15;
/// Room that the output grows by.
const ROOM_BYTES: usize = 16 * 1024;

/// CPU time that a body is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A body that is sent once.
    Once,
    /// A body that is kept and sent often.
    Kept,
}

/// Step after the bytes that a coder takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More, soon: what was taken may stay in the coder.
    More,
    /// More bytes at an unknown time: the reader gets all that was taken.
    Flush,
    /// Nothing.
    Finish,
}

/// A compressor in the middle of a body.
pub struct Coder {
    coding: Coding,
    effort: Effort,
    codec: Codec,
}

enum Codec {
    Zstd(CCtx<'static>),
    /// None after the end: its memory cannot be used again.
    Brotli(Option<Box<CompressorWriter<Vec<u8>>>>),
    Gzip(Compress),
}

impl Coder {
    /// A coder before the first byte of a body.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(coding: Coding, effort: Effort) -> io::Result<Self> {
        let codec = match coding {
            Coding::Zstd => Codec::Zstd(zstd(effort)?),
            Coding::Brotli => Codec::Brotli(Some(Box::new(brotli(effort)))),
            Coding::Gzip => {
                let level = if effort == Effort::Once { GZIP_LEVEL } else { GZIP_LEVEL_KEPT };
                Codec::Gzip(Compress::new_gzip(Compression::new(level), GZIP_WINDOW_BITS))
            }
        };
        Ok(Coder { coding, effort, codec })
    }

    /// Whether this coder could have been made by [`Coder::new`] of these.
    pub fn is_of(&self, coding: Coding, effort: Effort) -> bool {
        (self.coding, self.effort) == (coding, effort)
    }

    /// Takes bytes of the body and appends what comes of them to `out`. After [`Step::Finish`] comes a [`Coder::renew`].
    ///
    /// # Errors
    /// What the compressor says; the body is lost.
    pub fn encode(&mut self, data: &[u8], step: Step, out: &mut Vec<u8>) -> io::Result<()> {
        match &mut self.codec {
            Codec::Zstd(context) => encode_zstd(context, data, step, out),
            Codec::Brotli(writer) => encode_brotli(writer, data, step, out),
            Codec::Gzip(deflate) => encode_gzip(deflate, data, step, out),
        }
    }

    /// Forgets the body, and keeps the memory where the compressor can. Costs CPU time, as does dropping a coder: brotli ends its body.
    pub fn renew(mut self) -> Option<Self> {
        match &mut self.codec {
            Codec::Zstd(context) => context.reset(ResetDirective::SessionOnly).is_ok().then_some(self),
            Codec::Gzip(deflate) => {
                deflate.reset();
                Some(self)
            }
            Codec::Brotli(_) => None,
        }
    }
}

// Levels are those beyond which more CPU time makes hardly less of a page, measured in docs/decisions/0073-compression.md.

const GZIP_LEVEL: u32 = 4;
const GZIP_LEVEL_KEPT: u32 = 6;
const BROTLI_QUALITY: i32 = 5;
const BROTLI_QUALITY_KEPT: i32 = 6;
const ZSTD_LEVEL: i32 = 3;
const ZSTD_LEVEL_KEPT: i32 = 12;

fn zstd(effort: Effort) -> io::Result<CCtx<'static>> {
    let mut context = CCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
    let level = if effort == Effort::Once { ZSTD_LEVEL } else { ZSTD_LEVEL_KEPT };
    for parameter in [CParameter::CompressionLevel(level), CParameter::WindowLog(WINDOW_BITS)] {
        context.set_parameter(parameter).map_err(zstd_error)?;
    }
    Ok(context)
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

fn encode_zstd(context: &mut CCtx<'_>, data: &[u8], step: Step, out: &mut Vec<u8>) -> io::Result<()> {
    let end = match step {
        Step::More => ZSTD_EndDirective::ZSTD_e_continue,
        Step::Flush => ZSTD_EndDirective::ZSTD_e_flush,
        Step::Finish => ZSTD_EndDirective::ZSTD_e_end,
    };
    let mut input = InBuffer::around(data);
    loop {
        out.reserve(ROOM_BYTES);
        let at = out.len();
        let left =
            context.compress_stream2(&mut OutBuffer::around_pos(out, at), &mut input, end).map_err(zstd_error)?;
        let is_done = if step == Step::More { input.pos() == data.len() } else { left == 0 };
        if is_done {
            return Ok(());
        }
    }
}

fn brotli(effort: Effort) -> CompressorWriter<Vec<u8>> {
    let quality = if effort == Effort::Once { BROTLI_QUALITY } else { BROTLI_QUALITY_KEPT };
    let lgwin = i32::try_from(WINDOW_BITS).unwrap_or_default();
    let params = BrotliEncoderParams { quality, lgwin, ..BrotliEncoderParams::default() };
    CompressorWriter::with_params(Vec::new(), ROOM_BYTES, &params)
}

fn encode_brotli(
    slot: &mut Option<Box<CompressorWriter<Vec<u8>>>>,
    data: &[u8],
    step: Step,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let writer = slot.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
    writer.write_all(data)?;
    if step == Step::Flush {
        writer.flush()?;
    }
    out.append(writer.get_mut());
    if step == Step::Finish
        && let Some(writer) = slot.take()
    {
        out.append(&mut writer.into_inner());
    }
    Ok(())
}

fn encode_gzip(deflate: &mut Compress, data: &[u8], step: Step, out: &mut Vec<u8>) -> io::Result<()> {
    let flush = match step {
        Step::More => FlushCompress::None,
        Step::Flush => FlushCompress::Sync,
        Step::Finish => FlushCompress::Finish,
    };
    let mut rest = data;
    loop {
        out.reserve(ROOM_BYTES);
        let taken = deflate.total_in();
        let status = deflate.compress_vec(rest, out, flush)?;
        rest = &rest[usize::try_from(deflate.total_in() - taken).unwrap_or(rest.len())..];
        let is_done = match (step, status) {
            (_, Status::StreamEnd) => true,
            (Step::Finish, _) => false,
            // Room that is left says that nothing is left inside (zlib.h of `deflate`).
            _ => rest.is_empty() && out.len() < out.capacity(),
        };
        if is_done {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use proptest::prelude::*;

    use super::*;

    /// Bytes that a reader has so far, whole or not.
    fn decoded(coding: Coding, data: &[u8]) -> Vec<u8> {
        let mut read = Vec::new();
        // A body that goes on ends in an error, after all that is there.
        let _ = match coding {
            Coding::Gzip => flate2::read::GzDecoder::new(data).read_to_end(&mut read),
            Coding::Brotli => brotli::Decompressor::new(data, 4096).read_to_end(&mut read),
            Coding::Zstd => {
                let mut context = zstd_safe::DCtx::create();
                let mut input = InBuffer::around(data);
                loop {
                    read.reserve(1 << 17);
                    let at = read.len();
                    context.decompress_stream(&mut OutBuffer::around_pos(&mut read, at), &mut input).unwrap();
                    if input.pos() == data.len() && read.len() < read.capacity() {
                        break Ok(0);
                    }
                }
            }
        };
        read
    }

    fn page(bytes: usize) -> Vec<u8> {
        let mut page = Vec::new();
        let mut at = 0_u32;
        while page.len() < bytes {
            at = at.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            writeln!(page, "<li class=\"item\"><a href=\"/products/{at}\">Product {}</a></li>", at % 97).unwrap();
        }
        page.truncate(bytes);
        page
    }

    #[test]
    fn what_was_taken_is_there_for_the_reader_at_each_flush() {
        for coding in Coding::ALL {
            let (mut coder, mut out, page) = (Coder::new(coding, Effort::Once).unwrap(), Vec::new(), page(300_000));
            let mut at = 0;
            for bytes in [1, 10, 5_000, 100_000, 1, 70_000] {
                coder.encode(&page[at..at + bytes], Step::Flush, &mut out).unwrap();
                at += bytes;
                assert!(decoded(coding, &out) == page[..at], "{coding:?} at {at}");
            }
            coder.encode(&page[at..], Step::Finish, &mut out).unwrap();
            assert!(decoded(coding, &out) == page, "{coding:?}");
            assert!(out.len() * 3 < page.len(), "{coding:?}: {}", out.len());
        }
    }

    #[test]
    fn a_coder_that_was_renewed_knows_nothing_of_the_body_before() {
        for coding in Coding::ALL {
            let body = page(50_000);
            let mut first = Vec::new();
            let mut coder = Coder::new(coding, Effort::Once).unwrap();
            coder.encode(&body, Step::Finish, &mut first).unwrap();
            // One that was given up in the middle as well.
            let Some(mut coder) = coder.renew() else { continue };
            coder.encode(b"a secret of somebody else", Step::Flush, &mut Vec::new()).unwrap();
            let mut coder = coder.renew().unwrap();
            let mut second = Vec::new();
            coder.encode(&body, Step::Finish, &mut second).unwrap();
            assert!(first == second, "{coding:?}");
        }
    }

    #[test]
    fn an_empty_body_and_one_that_is_no_text_come_out_as_they_were() {
        let noise: Vec<u8> = (0..200_000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
        for coding in Coding::ALL {
            for effort in [Effort::Once, Effort::Kept] {
                for body in [&[][..], &noise] {
                    let mut out = Vec::new();
                    Coder::new(coding, effort).unwrap().encode(body, Step::Finish, &mut out).unwrap();
                    assert!(!out.is_empty() && decoded(coding, &out) == body, "{coding:?} {effort:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pieces_come_out_as_one_body(
            pieces in proptest::collection::vec(("[a-e]{0,4000}", 0..3_u8), 0..12), coding in 0..3_usize
        ) {
            let coding = Coding::ALL[coding];
            let (mut coder, mut out, mut body) = (Coder::new(coding, Effort::Once).unwrap(), Vec::new(), Vec::new());
            for (piece, flush) in &pieces {
                let step = if *flush == 0 { Step::Flush } else { Step::More };
                coder.encode(piece.as_bytes(), step, &mut out).unwrap();
                body.extend_from_slice(piece.as_bytes());
                if step == Step::Flush {
                    prop_assert_eq!(&decoded(coding, &out), &body);
                }
            }
            coder.encode(&[], Step::Finish, &mut out).unwrap();
            prop_assert_eq!(decoded(coding, &out), body);
        }
    }
}
