//! A screen: a tree with its layout and its pixels.

use std::rc::Rc;
use std::time::Instant;

use rustc_hash::FxHashSet;

use crate::geometry::Pixels;
use crate::layout::layout;
use crate::paint::Painter;
use crate::paint::images::Images;
use crate::stream::{Batch, Events, StreamError};
use crate::text::Fonts;
use crate::tree::Tree;

/// What a frame did.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Rectangles that were drawn again; none if nothing changed.
    pub areas: Vec<Pixels>,
    /// Milliseconds of styles, time and layout.
    pub layout_ms: f64,
    /// Milliseconds of drawing.
    pub paint_ms: f64,
}

/// Causes that are kept until the next frame; one more drops the oldest.
const CAUSES_MAX: usize = 64;

/// A screen without a clock or an app.
#[derive(Debug)]
pub struct Scene {
    /// Widgets.
    pub tree: Tree,
    /// Fonts.
    pub fonts: Fonts,
    /// Pixels.
    pub painter: Painter,
    /// Events that the app has not got.
    pub events: Events,
    width: u32,
    height: u32,
    /// Causes of batches that are not on the screen, each once.
    causes: Vec<i32>,
    /// Errors of images, for people.
    pub problems: Vec<String>,
}

/// Largest width and height of a screen.
pub const SIDE_MAX: u32 = 8192;

impl Scene {
    /// A black screen; width and height are at most [`SIDE_MAX`].
    pub fn new(width: u32, height: u32, fonts: Fonts, images: Images) -> Self {
        let (width, height) = (width.clamp(1, SIDE_MAX), height.clamp(1, SIDE_MAX));
        Self {
            tree: Tree::new(),
            fonts,
            painter: Painter::new(width, height, images),
            events: Events::default(),
            width,
            height,
            causes: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Pixels.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Pixels.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Gives the screen another size.
    pub fn resize(&mut self, width: u32, height: u32) {
        (self.width, self.height) = (width.clamp(1, SIDE_MAX), height.clamp(1, SIDE_MAX));
        self.painter.resize(self.width, self.height);
        self.tree.invalidate_layout(crate::tree::ROOT);
        self.tree.mark(crate::tree::ROOT, |changes| changes.moved = true);
        self.events.resize(self.width as f32, self.height as f32);
    }

    /// Applies a batch.
    ///
    /// # Errors
    ///
    /// If it breaks a rule of the stream; then nothing of it is applied.
    pub fn commit(&mut self, batch: &Batch) -> Result<(), StreamError> {
        self.tree.commit(batch)?;
        if !self.causes.contains(&batch.cause) {
            if self.causes.len() == CAUSES_MAX {
                self.causes.remove(0);
            }
            self.causes.push(batch.cause);
        }
        Ok(())
    }

    /// Takes pictures that have been read; with `wait`, all that have been asked for.
    pub fn take_images(&mut self, wait: bool) {
        let arrived = self.painter.images.poll(wait);
        if arrived.is_empty() {
            return;
        }
        let mut addresses: FxHashSet<Rc<str>> = FxHashSet::default();
        for (address, problem) in arrived {
            self.problems.extend(problem);
            addresses.insert(address);
        }
        for slot in self.tree.with_images(&addresses) {
            self.tree.mark(slot, |changes| changes.paint = true);
        }
    }

    /// Draws the frame of a moment, milliseconds of the clock.
    pub fn frame(&mut self, now: f64) -> Drawn {
        let start = Instant::now();
        for ended in self.tree.advance(now) {
            self.events.animation_end(ended.id, ended.property);
        }
        layout(&mut self.tree, &mut self.fonts, self.width as f32, self.height as f32);
        self.painter.place(&mut self.tree, &mut self.fonts, &mut self.events);
        let laid_out = Instant::now();
        let areas = self.painter.paint(&self.tree, &mut self.fonts, &mut self.problems);
        let end = Instant::now();
        let milliseconds = |from: Instant, to: Instant| to.duration_since(from).as_secs_f64() * 1000.0;
        for cause in std::mem::take(&mut self.causes) {
            self.events.frame(cause, now, milliseconds(start, end));
        }
        Drawn { areas, layout_ms: milliseconds(start, laid_out), paint_ms: milliseconds(laid_out, end) }
    }

    /// Whether the next frame may be another one. Animations without end count if `with_endless`.
    pub fn is_changing(&self, with_endless: bool) -> bool {
        !self.causes.is_empty() || self.tree.is_changing(with_endless)
    }

    /// The screen as a PNG.
    ///
    /// # Errors
    ///
    /// Of the encoder.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let pixels: &[[u8; 4]] = self.painter.canvas().data().as_chunks().0;
        // The screen is opaque.
        let data: Vec<u8> = pixels.iter().flat_map(|&[red, green, blue, _]| [red, green, blue]).collect();
        let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
        writer.write_image_data(&data).map_err(|error| error.to_string())?;
        writer.finish().map_err(|error| error.to_string())?;
        Ok(bytes)
    }
}
