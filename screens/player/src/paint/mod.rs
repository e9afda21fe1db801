//! Drawing in software: what changed on the screen is found by a walk through the changes, and drawn again alone.

pub mod canvas;
mod damage;
pub mod gradient;
pub mod images;
mod shape;

use tiny_skia::{FillRule, FilterQuality, Paint, Path, Pattern, Shader, SpreadMode, Transform};

use self::canvas::Canvas;
use self::damage::Damage;
use self::gradient::Gradient;
use self::images::{Images, State};
use crate::geometry::{Area, Pixels, Place, is_shift};
use crate::layout::break_lines;
use crate::stream::Events;
use crate::text::Fonts;
use crate::tree::{DEPTH_MAX, ROOT, Slot, Tree, Widget};

/// Colour of a screen without widgets.
const BLACK: u32 = 0x0000_00ff;

/// Farthest shift in pixels, up to which whole numbers are exact.
const SHIFT_MAX: f32 = 16_777_216.0;
/// Levels of opacity, rounded and turned clips that are drawn as pictures of their own: each may take as much as a screen.
const LAYERS_MAX: usize = 16;
/// Largest enlargement.
const FACTOR_MAX: f32 = 65_536.0;

/// Draws a tree, and knows what of it is on the screen.
#[derive(Debug)]
pub struct Painter {
    canvas: Canvas,
    part: Canvas,
    damage: Damage,
    /// Pictures of addresses.
    pub images: Images,
}

/// What a parent says to its children.
#[derive(Clone, Copy)]
struct Frame {
    transform: Transform,
    /// Left and top on the surface, before rounding.
    exact: (f32, f32),
    /// The same, rounded.
    rounded: (f32, f32),
    clip: Pixels,
    moved: bool,
    depth: usize,
}

/// Fonts to break lines with, and a place for events.
type With<'a> = (&'a mut Fonts, &'a mut Events);

impl Painter {
    /// A black screen.
    pub fn new(width: u32, height: u32, images: Images) -> Self {
        let mut painter =
            Self { canvas: Canvas::default(), part: Canvas::default(), damage: Damage::default(), images };
        painter.resize(width, height);
        painter
    }

    /// Gives the screen a new size; all of it is drawn again.
    pub fn resize(&mut self, width: u32, height: u32) {
        let bounds = Pixels::new(0, 0, width as i32, height as i32);
        self.canvas.reset(bounds);
        self.canvas.clear(bounds, BLACK);
        self.damage.add(bounds, bounds);
    }

    /// The screen.
    pub fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Draws all of the screen with the next frame.
    pub fn damage_all(&mut self) {
        self.damage.add(self.canvas.bounds(), self.canvas.bounds());
    }

    /// Finds where changed widgets are now, and what of the screen they damage.
    pub fn place(&mut self, tree: &mut Tree, fonts: &mut Fonts, events: &mut Events) {
        for area in std::mem::take(&mut tree.uncovered) {
            self.damage.add(area, self.canvas.bounds());
        }
        let frame = Frame {
            transform: Transform::identity(),
            exact: (0.0, 0.0),
            rounded: (0.0, 0.0),
            clip: self.canvas.bounds(),
            moved: false,
            depth: 0,
        };
        self.place_widget(tree, ROOT, frame, &mut (fonts, events));
    }

    fn place_widget(&mut self, tree: &mut Tree, slot: Slot, frame: Frame, with: &mut With<'_>) -> Pixels {
        let widget = tree.get_mut(slot);
        let before = widget.area;
        let changes = std::mem::take(&mut widget.changes);
        widget.changes.style = changes.style;
        let moved = frame.moved || changes.moved;
        if !moved && !changes.paint && !changes.below {
            return before.whole;
        }
        let is_gone = widget.look.hidden || frame.depth > DEPTH_MAX;
        break_lines(tree, slot, with.0);
        let widget = tree.get_mut(slot);
        let exact = (frame.exact.0 + widget.local.x, frame.exact.1 + widget.local.y);
        if moved {
            widget.area = area(widget, frame, exact);
        }
        let Area { place, transform, .. } = widget.area;
        let is_seen = !is_gone && widget.shown.opacity() > 0.0;
        let visible = if is_seen { frame.clip } else { Pixels::default() };
        let own = if is_seen { bounds(widget).intersect(visible) } else { Pixels::default() };
        widget.area.own = own;
        let mut whole = own;
        if is_gone {
            widget.area.whole = whole;
            // Its children have to be placed when it comes back.
            if changes.below {
                widget.changes.below = true;
            }
        } else {
            let widget = tree.get_mut(slot);
            widget.seen = true;
            self.tell(widget, place, with.1);
            let widget = tree.get(slot);
            let clip = if widget.look.clip {
                visible.intersect(Pixels::around(Place { x: 0.0, y: 0.0, ..place }, transform))
            } else {
                visible
            };
            let rounded = (place.x, place.y);
            let below = Frame { transform, exact, rounded, clip, moved, depth: frame.depth + 1 };
            for index in 0..widget.children.len() {
                let child = tree.get(slot).children[index];
                whole = whole.union(self.place_widget(tree, child, below, with));
            }
            tree.get_mut(slot).area.whole = whole;
        }
        let screen = self.canvas.bounds();
        if moved && !frame.moved {
            self.damage.add(before.whole, screen);
            self.damage.add(whole, screen);
        } else if changes.paint && !moved {
            self.damage.add(before.own, screen);
            self.damage.add(own, screen);
        }
        whole
    }

    /// Events of a widget that has been placed.
    fn tell(&mut self, widget: &mut Widget, place: Place, events: &mut Events) {
        if let Some(address) = &widget.look.image {
            let state = match self.images.state(address) {
                State::Waiting => 0,
                State::There => 1,
                State::Failed => 2,
            };
            if state != widget.told_image {
                widget.told_image = state;
                if widget.look.reports && state != 0 {
                    events.image(widget.id, state);
                }
            }
        }
        if widget.look.reports && widget.told != Some(place) {
            widget.told = Some(place);
            events.layout(widget.id, [place.x, place.y, place.width, place.height]);
        }
    }

    /// Draws what is damaged, and says which rectangles that were. Problems of images are added to `problems`.
    pub fn paint(&mut self, tree: &Tree, fonts: &mut Fonts, problems: &mut Vec<String>) -> Vec<Pixels> {
        let areas = self.damage.take();
        let Self { canvas, part, images, .. } = self;
        for &area in &areas {
            if area == canvas.bounds() {
                canvas.clear(area, BLACK);
                Drawing { tree, fonts, images, layers: 0 }.widget(ROOT, canvas, area, 0);
            } else {
                part.reset(area);
                part.clear(area, BLACK);
                Drawing { tree, fonts, images, layers: 0 }.widget(ROOT, part, area, 0);
                canvas.blend(part.data(), area, area, 255);
            }
        }
        problems.extend(images.trim());
        if images.is_crowded() {
            images.keep(&tree.images());
        }
        areas
    }
}

/// Where a widget is; what it covers is not known yet.
fn area(widget: &Widget, frame: Frame, exact: (f32, f32)) -> Area {
    let (left, top) = (exact.0.round(), exact.1.round());
    let place = Place {
        x: left,
        y: top,
        width: (exact.0 + widget.local.width).round() - left,
        height: (exact.1 + widget.local.height).round() - top,
    };
    let shown = &widget.shown;
    let (x, y) = (left - frame.rounded.0 + shown.x(), top - frame.rounded.1 + shown.y());
    let mut transform = frame.transform.pre_translate(x, y);
    let (scale, rotate) = (shown.scale(), shown.rotate());
    #[expect(clippy::float_cmp, reason = "exactly the default")]
    let is_plain = scale == 1.0 && rotate == 0.0;
    if !is_plain {
        let (x, y) = (place.width / 2.0, place.height / 2.0);
        let turned = transform.pre_translate(x, y).pre_concat(Transform::from_rotate(rotate));
        transform = turned.pre_scale(scale, scale).pre_translate(-x, -y);
    }
    transform = bounded(transform);
    if is_shift(transform) {
        // Whole pixels: text and pictures stay sharp, and a shift is a copy.
        transform.tx = transform.tx.round();
        transform.ty = transform.ty.round();
    }
    Area { place, transform, own: widget.area.own, whole: widget.area.whole }
}

/// Shifts and enlargements multiply down the tree: what is far beyond any screen is drawn nowhere, and has to stay a number.
fn bounded(transform: Transform) -> Transform {
    // Not a number becomes a bound too.
    let within = |value: f32, most: f32| value.max(-most).min(most);
    let [sx, kx, ky, sy] =
        [transform.sx, transform.kx, transform.ky, transform.sy].map(|factor| within(factor, FACTOR_MAX));
    Transform { sx, kx, ky, sy, tx: within(transform.tx, SHIFT_MAX), ty: within(transform.ty, SHIFT_MAX) }
}

/// What a widget's own drawing may touch.
fn bounds(widget: &Widget) -> Pixels {
    let Area { place, transform, .. } = widget.area;
    let (look, shown) = (&widget.look, &widget.shown);
    let has_border = look.border_width > 0.0 && shown.border_color() & 0xff != 0;
    let has_box = shown.background() & 0xff != 0 || look.gradient.is_some() || look.image.is_some() || has_border;
    let mut bounds = Pixels::default();
    if has_box {
        bounds = Pixels::around(Place { x: 0.0, y: 0.0, ..place }, transform);
    }
    if let (Some(style), Some((width, height))) = (widget.text(), widget.shaped.as_ref().and_then(|text| text.size())) {
        // Glyphs may reach out of their lines.
        let room = style.size / 2.0;
        let place = Place {
            x: widget.content.x - room,
            y: widget.content.y - room,
            width: width.max(widget.content.width) + 2.0 * room,
            height: height.max(widget.content.height) + 2.0 * room,
        };
        bounds = bounds.union(Pixels::around(place, transform));
    }
    bounds
}

struct Drawing<'a> {
    tree: &'a Tree,
    fonts: &'a mut Fonts,
    images: &'a mut Images,
    /// Pictures of their own that are being drawn, one in the other.
    layers: usize,
}

impl Drawing<'_> {
    fn widget(&mut self, slot: Slot, canvas: &mut Canvas, clip: Pixels, depth: usize) {
        let widget = self.tree.get(slot);
        let opacity = widget.shown.opacity();
        let visible = widget.area.whole.intersect(clip).intersect(canvas.bounds());
        if visible.is_empty() || opacity <= 0.0 || widget.look.hidden || depth > DEPTH_MAX {
            return;
        }
        if opacity >= 1.0 || self.layers >= LAYERS_MAX {
            self.inner(widget, canvas, clip, depth);
            return;
        }
        let mut layer = Canvas::new(visible);
        self.layers += 1;
        self.inner(widget, &mut layer, visible, depth);
        self.layers -= 1;
        canvas.blend(layer.data(), visible, visible, (opacity * 255.0).round() as u32);
    }

    fn inner(&mut self, widget: &Widget, canvas: &mut Canvas, clip: Pixels, depth: usize) {
        if widget.area.own.meets(clip) {
            self.own(widget, canvas, clip);
        }
        let children = &widget.children;
        if children.is_empty() {
            return;
        }
        if !widget.look.clip {
            self.children(widget, children, canvas, clip, depth);
            return;
        }
        let Area { place, transform, whole, .. } = widget.area;
        let shape = Place { x: 0.0, y: 0.0, ..place };
        let inside = Pixels::around(shape, transform).intersect(clip).intersect(canvas.bounds());
        if (is_shift(transform) && widget.shown.radius() <= 0.0) || self.layers >= LAYERS_MAX {
            self.children(widget, children, canvas, inside, depth);
            return;
        }
        let inside = inside.intersect(whole);
        let Some(path) = shape::rounded(shape, widget.shown.radius()) else { return };
        if inside.is_empty() {
            return;
        }
        let mut layer = Canvas::new(inside);
        self.layers += 1;
        self.children(widget, children, &mut layer, inside, depth);
        self.layers -= 1;
        layer.mask(&path, transform, Pixels::around(shape, transform));
        canvas.blend(layer.data(), inside, inside, 255);
    }

    fn children(&mut self, widget: &Widget, children: &[Slot], canvas: &mut Canvas, clip: Pixels, depth: usize) {
        if !widget.ordered {
            for child in children {
                self.widget(*child, canvas, clip, depth + 1);
            }
            return;
        }
        let mut sorted = children.to_vec();
        sorted.sort_by_key(|child| self.tree.get(*child).look.z);
        for child in sorted {
            self.widget(child, canvas, clip, depth + 1);
        }
    }

    /// Background, gradient, image, border and text.
    fn own(&mut self, widget: &Widget, canvas: &mut Canvas, clip: Pixels) {
        let Area { place, transform, .. } = widget.area;
        let (look, shown) = (&widget.look, &widget.shown);
        let shape = Place { x: 0.0, y: 0.0, ..place };
        let area = Pixels::around(shape, transform);
        if place.width > 0.0 && place.height > 0.0 {
            let background = shown.background();
            let radius = shown.radius();
            let path = shape::rounded(shape, radius);
            if background & 0xff != 0 {
                if is_shift(transform) && radius <= 0.0 {
                    canvas.fill(area, clip, background);
                } else if let Some(path) = &path {
                    canvas.path(path, FillRule::Winding, solid(background), transform, [area, clip]);
                }
            }
            if let (Some(gradient), Some(path)) = (&look.gradient, &path) {
                draw_gradient(widget, gradient, path, canvas, [area, clip]);
            }
            if look.image.is_some() {
                self.image(widget, canvas, [area, clip]);
            }
            if look.border_width > 0.0 && shown.border_color() & 0xff != 0 {
                draw_border(widget, path, canvas, [area, clip]);
            }
        }
        self.text(widget, canvas, clip);
    }

    fn image(&mut self, widget: &Widget, canvas: &mut Canvas, [area, clip]: [Pixels; 2]) {
        let Area { place, transform, .. } = widget.area;
        let Some(address) = &widget.look.image else { return };
        let (fit, radius) = (widget.look.fit, widget.shown.radius());
        let mut size = (place.width as u32, place.height as u32);
        let count = u64::from(size.0) * u64::from(size.1);
        if is_shift(transform) {
            let visible = area.intersect(clip).intersect(canvas.bounds());
            if count > images::WHOLE_MAX {
                let part = visible.moved(-area.left, -area.top);
                if let Some(picture) = self.images.part(address, size, fit, radius, part) {
                    canvas.blend(picture.data(), visible, visible, 255);
                }
            } else if let Some(picture) = self.images.scaled(address, size, fit, radius) {
                canvas.blend(picture.data(), area, clip, 255);
            }
            return;
        }
        if count > images::WHOLE_MAX {
            let factor = (images::WHOLE_MAX as f32 / count as f32).sqrt();
            let side = |side: u32| ((side as f32 * factor) as u32).clamp(1, crate::scene::SIDE_MAX);
            size = (side(size.0), side(size.1));
        }
        let enlarged = Transform::from_scale(place.width / size.0 as f32, place.height / size.1 as f32);
        let Some(picture) = self.images.scaled(address, size, fit, radius / enlarged.sx) else { return };
        let shape = Place { x: 0.0, y: 0.0, ..place };
        if let (Some(pixmap), Some(path)) = (picture.pixmap(), shape::rounded(shape, 0.0)) {
            let shader = Pattern::new(pixmap, SpreadMode::Pad, FilterQuality::Bilinear, 1.0, enlarged);
            canvas.path(&path, FillRule::Winding, shader, transform, [area, clip]);
        }
    }

    fn text(&mut self, widget: &Widget, canvas: &mut Canvas, clip: Pixels) {
        let Some(shaped) = &widget.shaped else { return };
        let (color, transform) = (widget.shown.color(), widget.area.transform);
        if color & 0xff == 0 {
            return;
        }
        let (x, y) = (widget.content.x.round(), widget.content.y.round());
        #[expect(clippy::float_cmp, reason = "an even enlargement without rotation has exactly these")]
        let is_even = transform.sx == transform.sy && transform.sx > 0.0 && transform.kx == 0.0 && transform.ky == 0.0;
        if is_even {
            let scale = transform.sx;
            let at = [transform.tx + x * scale, transform.ty + y * scale, scale];
            shaped.draw(self.fonts, canvas, clip, at, color);
            return;
        }
        // Turned: drawn upright first, then turned as a picture.
        let Some((width, height)) = shaped.size() else { return };
        let room = widget.text().map_or(0.0, |style| style.size / 2.0);
        let upright = Place {
            x: (x - room).floor(),
            y: (y - room).floor(),
            width: (width.max(widget.content.width) + 2.0 * room).ceil(),
            height: (height.max(widget.content.height) + 2.0 * room).ceil(),
        };
        let bounds = Pixels::around(upright, Transform::identity());
        if bounds.count() > images::PIXELS_MAX {
            return;
        }
        let mut layer = Canvas::new(bounds);
        shaped.draw(self.fonts, &mut layer, bounds, [x, y, 1.0], color);
        if let (Some(pixmap), Some(path)) = (layer.pixmap(), shape::rounded(upright, 0.0)) {
            let at = Transform::from_translate(upright.x, upright.y);
            let shader = Pattern::new(pixmap, SpreadMode::Pad, FilterQuality::Bilinear, 1.0, at);
            canvas.path(&path, FillRule::Winding, shader, transform, [Pixels::around(upright, transform), clip]);
        }
    }
}

fn draw_border(widget: &Widget, outer: Option<Path>, canvas: &mut Canvas, [area, clip]: [Pixels; 2]) {
    let Area { place, transform, .. } = widget.area;
    let width = widget.look.border_width;
    let inner = Place { x: width, y: width, width: place.width - 2.0 * width, height: place.height - 2.0 * width };
    let shader = solid(widget.shown.border_color());
    let inner = shape::rounded(inner, widget.shown.radius() - width);
    let Some(path) = shape::ring(outer, inner) else { return };
    canvas.path(&path, FillRule::EvenOdd, shader, transform, [area, clip]);
}

fn draw_gradient(widget: &Widget, gradient: &Gradient, path: &Path, canvas: &mut Canvas, [area, clip]: [Pixels; 2]) {
    let Area { place, transform, .. } = widget.area;
    if !is_shift(transform) {
        if let Some(shader) = gradient.shader(place.width, place.height) {
            canvas.path(path, FillRule::Winding, shader, transform, [area, clip]);
        }
    } else if widget.shown.radius() <= 0.0 {
        canvas.gradient(area, clip, gradient);
    } else {
        let visible = area.intersect(clip).intersect(canvas.bounds());
        let mut layer = Canvas::new(visible);
        layer.gradient(area, visible, gradient);
        layer.mask(path, transform, area);
        canvas.blend(layer.data(), visible, visible, 255);
    }
}

/// A shader of one colour `0xRRGGBBAA`.
pub(crate) fn solid(color: u32) -> Shader<'static> {
    let [red, green, blue, alpha] = color.to_be_bytes();
    let mut paint = Paint::default();
    paint.set_color_rgba8(red, green, blue, alpha);
    paint.shader
}
