//! Text: shaped, broken into lines, measured and drawn by cosmic-text.

use cosmic_text::fontdb::{Database, Source};
use cosmic_text::{
    Align, Attrs, Buffer, CacheKey, Command, Ellipsize, EllipsizeHeightLimit, Family, FontSystem, LayoutRun, Metrics,
    Shaping, SwashCache, SwashContent, Weight, Wrap,
};
use tiny_skia::{FillRule, Path, PathBuilder, Transform};

use crate::geometry::{Pixels, Place};
use crate::paint::canvas::Canvas;
use crate::paint::solid;
use crate::tree::look::TextStyle;

/// Fonts of the `sans-serif` family, the first one that there is.
const SANS: [&str; 7] =
    ["Noto Sans", "Open Sans", "Roboto", "DejaVu Sans", "Liberation Sans", "Helvetica Neue", "Arial"];

/// Bytes of glyphs that are kept as pictures.
const GLYPH_BYTES_MAX: usize = 32 << 20;
/// What a glyph costs besides its pixels, about.
const GLYPH_COST: usize = 256;
/// Largest size in pixels in which glyphs are kept as pictures; larger ones are drawn as shapes.
const PICTURE_SIZE_MAX: f32 = 256.0;
/// How far glyphs reach from their place, in units of their size: the widest ligatures have about 10.
const GLYPH_REACH: f32 = 32.0;

/// Whether a file has a font.
pub fn is_font(file: &[u8]) -> bool {
    let mut database = Database::new();
    !database.load_font_source(Source::Binary(std::sync::Arc::new(file.to_vec()))).is_empty()
}

/// Fonts and pictures of glyphs.
pub struct Fonts {
    system: FontSystem,
    glyphs: SwashCache,
    /// Memory of the pictures of glyphs.
    bytes: usize,
}

impl Fonts {
    /// Fonts of these files' contents, and those of the system if `with_system`. The first file is the default.
    pub fn new(files: Vec<Vec<u8>>, with_system: bool) -> Self {
        let mut database = Database::new();
        for file in files {
            database.load_font_source(Source::Binary(std::sync::Arc::new(file)));
        }
        let first = database.faces().next().and_then(|face| face.families.first().map(|(name, _)| name.clone()));
        if with_system {
            database.load_system_fonts();
        }
        let has = |name: &&str| database.faces().any(|face| face.families.iter().any(|(other, _)| other == name));
        let sans = first.or_else(|| SANS.iter().find(|name| has(name)).map(|name| (*name).to_owned()));
        if let Some(sans) = sans {
            database.set_sans_serif_family(sans);
        }
        Self {
            system: FontSystem::new_with_locale_and_db("en-US".to_owned(), database),
            glyphs: SwashCache::new(),
            bytes: 0,
        }
    }

    /// Whether there is no font at all: text has no size then.
    pub fn is_empty(&self) -> bool {
        self.system.db().is_empty()
    }

    /// Text ready to be measured.
    pub fn shape(&mut self, style: &TextStyle) -> Shaped {
        Shaped { buffer: buffer(style, &style.text), style: style.clone(), tail: None, measured: None }
    }
}

fn line_height(style: &TextStyle) -> f32 {
    (style.size * style.line_height).max(0.1)
}

fn buffer(style: &TextStyle, text: &str) -> Buffer {
    let mut buffer = Buffer::new_empty(Metrics::new(style.size.max(0.1), line_height(style)));
    buffer.set_wrap(Wrap::Word);
    let family = match &*style.family {
        "sans-serif" => Family::SansSerif,
        "serif" => Family::Serif,
        "monospace" => Family::Monospace,
        name => Family::Name(name),
    };
    let weight = if style.weight >= 600 { Weight::BOLD } else { Weight::NORMAL };
    let align = match style.align {
        1 => Align::Center,
        2 => Align::Right,
        _ => Align::Left,
    };
    buffer.set_text(text, &Attrs::new().family(family).weight(weight), Shaping::Advanced, Some(align));
    buffer
}

impl std::fmt::Debug for Fonts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fonts").field("faces", &self.system.db().len()).finish_non_exhaustive()
    }
}

/// Shape of a glyph around its place.
fn outline(glyphs: &mut SwashCache, system: &mut FontSystem, key: CacheKey) -> Option<Path> {
    let commands = glyphs.get_outline_commands_uncached(system, key)?;
    let mut path = PathBuilder::new();
    for command in &commands {
        // Shapes of fonts go up.
        match command {
            Command::MoveTo(to) => path.move_to(to.x, -to.y),
            Command::LineTo(to) => path.line_to(to.x, -to.y),
            Command::QuadTo(by, to) => path.quad_to(by.x, -by.y, to.x, -to.y),
            Command::CurveTo(by, then, to) => path.cubic_to(by.x, -by.y, then.x, -then.y, to.x, -to.y),
            Command::Close => path.close(),
        }
    }
    path.finish()
}

fn bounds(path: &Path) -> Place {
    let bounds = path.bounds();
    Place { x: bounds.left(), y: bounds.top(), width: bounds.width(), height: bounds.height() }
}

/// A text with its lines.
#[derive(Debug)]
pub struct Shaped {
    buffer: Buffer,
    style: TextStyle,
    /// The last line, where an ellipsis ends it. The library's own way begins that line with a space.
    tail: Option<Buffer>,
    /// Width that was asked for last, with the size that came out.
    measured: Option<(Option<f32>, (f32, f32))>,
}

impl Shaped {
    fn max_lines(&self) -> usize {
        if self.style.max_lines == 0 { usize::MAX } else { self.style.max_lines }
    }

    /// Width and height in lines of at most `width` pixels.
    pub fn measure(&mut self, fonts: &mut Fonts, width: Option<f32>) -> (f32, f32) {
        if let Some((before, size)) = self.measured
            && before == width
        {
            return size;
        }
        if fonts.is_empty() {
            // The library panics without any font.
            return (0.0, 0.0);
        }
        self.buffer.set_size(width, None);
        self.buffer.shape_until_scroll(&mut fonts.system, false);
        self.tail = self.tail_of(fonts, width);
        let (mut widest, mut lines) = (0.0_f32, 0);
        for (run, _) in self.runs() {
            widest = widest.max(run.line_w);
            lines += 1;
        }
        let size = (widest.ceil(), (lines as f32 * line_height(&self.style)).ceil());
        self.measured = Some((width, size));
        size
    }

    /// The last line with an ellipsis, if there are more lines than are shown.
    fn tail_of(&self, fonts: &mut Fonts, width: Option<f32>) -> Option<Buffer> {
        let mut runs = self.buffer.layout_runs().skip(self.max_lines() - 1);
        let (last, next) = (runs.next()?, runs.next()?);
        let start = last.glyphs.iter().map(|glyph| glyph.start).min().unwrap_or(0);
        let mut text = last.text.get(start..).unwrap_or_default().to_owned();
        if next.line_i != last.line_i {
            text.push('…');
        }
        let mut tail = buffer(&self.style, &text);
        tail.set_ellipsize(Ellipsize::End(EllipsizeHeightLimit::Lines(1)));
        tail.set_size(width, None);
        tail.shape_until_scroll(&mut fonts.system, false);
        Some(tail)
    }

    /// Lines that are shown, and how far below their own place.
    fn runs(&self) -> impl Iterator<Item = (LayoutRun<'_>, f32)> {
        let whole = if self.tail.is_some() { self.max_lines() - 1 } else { usize::MAX };
        let below = whole.min(1 << 20) as f32 * line_height(&self.style);
        let tail = self.tail.iter().flat_map(|tail| tail.layout_runs().take(1));
        self.buffer.layout_runs().take(whole).map(|run| (run, 0.0)).chain(tail.map(move |run| (run, below)))
    }

    /// Width and height that were measured last.
    pub fn size(&self) -> Option<(f32, f32)> {
        self.measured.map(|(_, size)| size)
    }

    /// Draws the lines, whose top left corner is at `(x, y)` on the screen, enlarged by `scale`.
    pub fn draw(&self, fonts: &mut Fonts, canvas: &mut Canvas, clip: Pixels, [x, y, scale]: [f32; 3], color: u32) {
        let Fonts { system, glyphs, bytes } = fonts;
        let size = self.style.size * scale;
        // Farther than any glyph reaches: what is there is neither drawn, nor are its numbers within bounds.
        let reach = GLYPH_REACH * size + 64.0;
        let is_near = |at: f32, start: i32, end: i32| at >= start as f32 - reach && at <= end as f32 + reach;
        for (run, below) in self.runs() {
            let line = y + (run.line_y + below) * scale;
            if !is_near(line, clip.top, clip.bottom) {
                continue;
            }
            for glyph in run.glyphs {
                if !is_near(x + glyph.x * scale, clip.left, clip.right) {
                    continue;
                }
                if size > PICTURE_SIZE_MAX {
                    let key = glyph.physical((0.0, 0.0), 1.0).cache_key;
                    let place =
                        [glyph.x + glyph.font_size * glyph.x_offset, glyph.y - glyph.font_size * glyph.y_offset];
                    let at = Transform::from_row(scale, 0.0, 0.0, scale, x + place[0] * scale, line + place[1] * scale);
                    if let Some(path) = outline(glyphs, system, key) {
                        let area = Pixels::around(bounds(&path), at);
                        canvas.path(&path, FillRule::Winding, solid(color), at, [area, clip]);
                    }
                    continue;
                }
                let at = glyph.physical((x, line), scale);
                if !glyphs.image_cache.contains_key(&at.cache_key) {
                    if *bytes > GLYPH_BYTES_MAX {
                        glyphs.image_cache.clear();
                        *bytes = 0;
                    }
                    let image = glyphs.get_image(system, at.cache_key).as_ref();
                    *bytes += GLYPH_COST + image.map_or(0, |image| image.data.len());
                }
                let Some(image) = glyphs.get_image(system, at.cache_key) else { continue };
                let left = at.x.saturating_add(image.placement.left);
                let top = at.y.saturating_sub(image.placement.top);
                let area = Pixels {
                    left,
                    top,
                    right: left.saturating_add_unsigned(image.placement.width),
                    bottom: top.saturating_add_unsigned(image.placement.height),
                };
                match image.content {
                    SwashContent::Color => canvas.blend_straight(&image.data, area, clip, color & 0xff),
                    SwashContent::Mask => canvas.blend_mask(&image.data, area, clip, color),
                    SwashContent::SubpixelMask => {}
                }
            }
        }
    }
}
