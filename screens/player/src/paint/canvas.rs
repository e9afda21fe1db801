//! Pixels of a part of the screen, and what is done to them.

use tiny_skia::{FillRule, Paint, Path, PixmapMut, PixmapRef, Shader, Transform};

use super::gradient::Gradient;
use crate::geometry::{Pixels, is_shift};

/// Most pixels of a shape that is drawn whole where a part would do: edges that are cut are rounded in another way, and a screen of parts
/// would show it.
const WHOLE_MAX: u64 = 1 << 18;
/// Verbs of a path that is a rectangle.
const STRAIGHT_VERBS: usize = 5;

/// Premultiplied RGBA of a rectangle of the screen.
#[derive(Debug, Default)]
pub struct Canvas {
    data: Vec<u8>,
    bounds: Pixels,
}

/// `value / 255`, rounded.
const fn divided(value: u32) -> u32 {
    let value = value + 128;
    (value + (value >> 8)) >> 8
}

/// Premultiplied bytes of a colour `0xRRGGBBAA`.
pub fn premultiplied(color: u32) -> [u8; 4] {
    let [red, green, blue, alpha] = color.to_be_bytes();
    let by_alpha = |channel: u8| divided(u32::from(channel) * u32::from(alpha)) as u8;
    [by_alpha(red), by_alpha(green), by_alpha(blue), alpha]
}

fn over(pixel: &mut [u8; 4], source: [u8; 4]) {
    let rest = 255 - u32::from(source[3]);
    for (below, above) in pixel.iter_mut().zip(source) {
        *below = (u32::from(above) + divided(u32::from(*below) * rest)).min(255) as u8;
    }
}

fn faded(source: [u8; 4], share: u32) -> [u8; 4] {
    source.map(|channel| divided(u32::from(channel) * share) as u8)
}

impl Canvas {
    /// A transparent one.
    pub fn new(bounds: Pixels) -> Self {
        let mut canvas = Self::default();
        canvas.reset(bounds);
        canvas
    }

    /// Makes it a transparent one of these bounds, in the memory that it has.
    pub fn reset(&mut self, bounds: Pixels) {
        self.bounds = bounds;
        self.data.clear();
        self.data.resize(usize::try_from(bounds.count()).unwrap_or(0) * 4, 0);
    }

    /// Rectangle of the screen.
    pub const fn bounds(&self) -> Pixels {
        self.bounds
    }

    /// Its pixels, row by row.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// As a picture.
    pub fn pixmap(&self) -> Option<PixmapRef<'_>> {
        PixmapRef::from_bytes(&self.data, self.bounds.width(), self.bounds.height())
    }

    fn row(&mut self, y: i32, left: i32, right: i32) -> &mut [[u8; 4]] {
        let width = self.bounds.width() as usize;
        let start = (y - self.bounds.top) as usize * width;
        let columns = start + (left - self.bounds.left) as usize..start + (right - self.bounds.left) as usize;
        &mut self.data.as_chunks_mut().0[columns]
    }

    /// Replaces a rectangle by a colour `0xRRGGBBAA`.
    pub fn clear(&mut self, area: Pixels, color: u32) {
        let area = area.intersect(self.bounds);
        let color = premultiplied(color);
        for y in area.top..area.bottom {
            self.row(y, area.left, area.right).fill(color);
        }
    }

    /// Draws a colour `0xRRGGBBAA` over a rectangle.
    pub fn fill(&mut self, area: Pixels, clip: Pixels, color: u32) {
        let area = area.intersect(clip).intersect(self.bounds);
        let source = premultiplied(color);
        for y in area.top..area.bottom {
            let row = self.row(y, area.left, area.right);
            if source[3] == 255 {
                row.fill(source);
            } else {
                for pixel in row {
                    over(pixel, source);
                }
            }
        }
    }

    /// Draws a gradient of the box `area` over it.
    pub fn gradient(&mut self, area: Pixels, clip: Pixels, gradient: &Gradient) {
        let part = area.intersect(clip).intersect(self.bounds);
        let slope = gradient.slope(area.width() as f32, area.height() as f32);
        for y in part.top..part.bottom {
            for (x, pixel) in (part.left..).zip(self.row(y, part.left, part.right)) {
                let source = gradient.pixel(slope, x - area.left, y - area.top);
                if source[3] == 255 {
                    *pixel = source;
                } else {
                    over(pixel, source);
                }
            }
        }
    }

    /// Draws premultiplied pixels that lie in `area`; `share` of 255 counts.
    pub fn blend(&mut self, source: &[u8], area: Pixels, clip: Pixels, share: u32) {
        let part = area.intersect(clip).intersect(self.bounds);
        let source = source.as_chunks().0;
        for y in part.top..part.bottom {
            let start = (y - area.top) as usize * area.width() as usize + (part.left - area.left) as usize;
            let from = &source[start..start + part.width() as usize];
            for (pixel, above) in self.row(y, part.left, part.right).iter_mut().zip(from) {
                if share == 255 {
                    match above[3] {
                        0 => {}
                        255 => *pixel = *above,
                        _ => over(pixel, *above),
                    }
                } else {
                    over(pixel, faded(*above, share));
                }
            }
        }
    }

    /// Draws pixels that are not premultiplied, as coloured glyphs have them.
    pub fn blend_straight(&mut self, source: &[u8], area: Pixels, clip: Pixels, share: u32) {
        let pixels = source.as_chunks().0;
        let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| premultiplied(u32::from_be_bytes(*pixel))).collect();
        if bytes.len() as u64 == area.count() * 4 {
            self.blend(&bytes, area, clip, share);
        }
    }

    /// Draws a colour `0xRRGGBBAA` where a mask of `area` says how much.
    pub fn blend_mask(&mut self, mask: &[u8], area: Pixels, clip: Pixels, color: u32) {
        let part = area.intersect(clip).intersect(self.bounds);
        if mask.len() as u64 != area.count() {
            return;
        }
        let source = premultiplied(color);
        for y in part.top..part.bottom {
            let start = (y - area.top) as usize * area.width() as usize + (part.left - area.left) as usize;
            let from = &mask[start..start + part.width() as usize];
            for (pixel, share) in self.row(y, part.left, part.right).iter_mut().zip(from) {
                match *share {
                    0 => {}
                    255 if source[3] == 255 => *pixel = source,
                    share => over(pixel, faded(source, u32::from(share))),
                }
            }
        }
    }

    /// Keeps of its pixels what a path covers, which touches `area`.
    pub fn mask(&mut self, path: &Path, transform: Transform, area: Pixels) {
        let drawn = if area.count() <= WHOLE_MAX { area } else { self.bounds };
        let Some(mut mask) = tiny_skia::Mask::new(drawn.width(), drawn.height()) else { return };
        let transform = transform.post_translate(-(drawn.left as f32), -(drawn.top as f32));
        mask.fill_path(path, FillRule::Winding, true, transform);
        let part = self.bounds;
        for y in part.top..part.bottom {
            for (x, pixel) in (part.left..).zip(self.row(y, part.left, part.right)) {
                let is_inside = x >= drawn.left && x < drawn.right && y >= drawn.top && y < drawn.bottom;
                let index = || (y - drawn.top) as usize * drawn.width() as usize + (x - drawn.left) as usize;
                let share = if is_inside { mask.data()[index()] } else { 0 };
                if share != 255 {
                    *pixel = faded(*pixel, u32::from(share));
                }
            }
        }
    }

    /// From the screen to the canvas.
    fn inside(&self, transform: Transform) -> Transform {
        transform.post_translate(-(self.bounds.left as f32), -(self.bounds.top as f32))
    }

    /// Fills a path with a shader. `area`: the pixels that it may touch.
    pub fn path(
        &mut self,
        path: &Path,
        rule: FillRule,
        shader: Shader<'_>,
        transform: Transform,
        [area, clip]: [Pixels; 2],
    ) {
        let visible = area.intersect(self.bounds).intersect(clip);
        if visible.is_empty() {
            return;
        }
        let is_cut = !self.bounds.holds(area) || !clip.holds(area);
        // Turned and enlarged shapes always: their places within a pixel are rounded by where the canvas begins.
        let is_apart = !is_shift(transform) || (is_cut && path.len() > STRAIGHT_VERBS);
        if is_apart && area.count() <= WHOLE_MAX {
            self.path_apart(path, rule, shader, transform, [area, visible]);
        } else if clip.holds(area.intersect(self.bounds)) {
            let paint = Paint { shader, anti_alias: true, ..Paint::default() };
            let transform = self.inside(transform);
            let (width, height) = (self.bounds.width(), self.bounds.height());
            if let Some(mut pixmap) = PixmapMut::from_bytes(&mut self.data, width, height) {
                pixmap.fill_path(path, &paint, rule, transform, None);
            }
        } else {
            self.path_apart(path, rule, shader, transform, [visible, visible]);
        }
    }

    /// The same on a canvas of its own, of which a part is taken.
    fn path_apart(&mut self, path: &Path, rule: FillRule, shader: Shader<'_>, at: Transform, areas: [Pixels; 2]) {
        let [drawn, visible] = areas;
        let mut part = Canvas::new(drawn);
        let paint = Paint { shader, anti_alias: true, ..Paint::default() };
        let transform = part.inside(at);
        if let Some(mut pixmap) = PixmapMut::from_bytes(&mut part.data, drawn.width(), drawn.height()) {
            pixmap.fill_path(path, &paint, rule, transform, None);
        }
        self.blend(&part.data, drawn, visible, 255);
    }
}
