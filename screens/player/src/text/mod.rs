//! Text: shaped, broken into lines, measured and drawn by cosmic-text.

use cosmic_text::fontdb::{Database, Source};
use cosmic_text::{
    Align, Attrs, Buffer, Ellipsize, EllipsizeHeightLimit, Family, FontSystem, Metrics, Shaping, SwashCache,
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
        Self {
            system: FontSystem::new_with_locale_and_db("en-US".to_owned(), database),
            glyphs: SwashCache::new(),
        }
    }

    /// Whether there is no font at all: text has no size then.
    pub fn is_empty(&self) -> bool {
        self.system.db().is_empty()
    }

    /// Text ready to be measured.
    pub fn shape(&mut self, style: &TextStyle) -> Shaped {
        let size = style.size.max(0.1);
        let line_height = (style.size * style.line_height).max(0.1);
        let mut buffer = Buffer::new_empty(Metrics::new(size, line_height));
        buffer.set_wrap(Wrap::Word);
        if style.max_lines > 0 {
            buffer.set_ellipsize(Ellipsize::End(EllipsizeHeightLimit::Lines(style.max_lines)));
        }
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
        buffer.set_text(&style.text, &Attrs::new().family(family).weight(weight), Shaping::Advanced, Some(align));
        Shaped {
            buffer,
            line_height,
            max_lines: if style.max_lines == 0 { usize::MAX } else { style.max_lines },
            measured: None,
        }
    }
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
    line_height: f32,
    max_lines: usize,
    /// Width that was asked for last, with the size that came out.
    measured: Option<(Option<f32>, (f32, f32))>,
}

impl Shaped {
    /// Width and height in lines of at most `width` pixels.
    pub fn measure(&mut self, fonts: &mut Fonts, width: Option<f32>) -> (f32, f32) {
        if let Some((before, size)) = self.measured
            && before == width
        {
            return size;
        }
        self.buffer.set_size(width, None);
        self.buffer.shape_until_scroll(&mut fonts.system, false);
        let (mut widest, mut lines) = (0.0_f32, 0);
        for run in self.buffer.layout_runs().take(self.max_lines) {
            widest = widest.max(run.line_w);
            lines += 1;
        }
        let size = (widest.ceil(), (lines as f32 * self.line_height).ceil());
        self.measured = Some((width, size));
        size
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
        for run in self.buffer.layout_runs().take(self.max_lines) {
            for glyph in run.glyphs {
                let at = glyph.physical((x, y + run.line_y * scale), scale);
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
