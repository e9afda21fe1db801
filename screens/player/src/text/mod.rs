//! Text: shaped, broken into lines, measured and drawn by cosmic-text.

use cosmic_text::fontdb::{Database, Source};
use cosmic_text::{
    Align, Attrs, Buffer, Ellipsize, EllipsizeHeightLimit, Family, FontSystem, LayoutRun, Metrics, Shaping, SwashCache,
    SwashContent, Weight, Wrap,
};

use crate::geometry::Pixels;
use crate::paint::canvas::Canvas;
use crate::tree::look::TextStyle;

/// Fonts of the `sans-serif` family, the first one that there is.
const SANS: [&str; 7] =
    ["Noto Sans", "Open Sans", "Roboto", "DejaVu Sans", "Liberation Sans", "Helvetica Neue", "Arial"];

/// Glyphs that are kept as pictures.
const GLYPHS_MAX: usize = 8192;

/// Fonts and pictures of glyphs.
pub struct Fonts {
    system: FontSystem,
    glyphs: SwashCache,
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
        Self { system: FontSystem::new_with_locale_and_db("en-US".to_owned(), database), glyphs: SwashCache::new() }
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
        let Fonts { system, glyphs } = fonts;
        if glyphs.image_cache.len() > GLYPHS_MAX {
            glyphs.image_cache.clear();
        }
        for (run, below) in self.runs() {
            for glyph in run.glyphs {
                let at = glyph.physical((x, y + (run.line_y + below) * scale), scale);
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
