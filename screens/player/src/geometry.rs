//! Rectangles and where widgets are on the screen.

use tiny_skia::Transform;

/// A rectangle with fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    /// From the left.
    pub x: f32,
    /// From the top.
    pub y: f32,
    /// To the right.
    pub width: f32,
    /// Down.
    pub height: f32,
}

/// A rectangle of whole pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pixels {
    /// First column.
    pub left: i32,
    /// First row.
    pub top: i32,
    /// Column behind the last.
    pub right: i32,
    /// Row behind the last.
    pub bottom: i32,
}

/// Edges farther away are as good as infinite.
const EDGE_MAX: i32 = 1 << 28;

impl Pixels {
    /// From its edges.
    pub const fn new(left: i32, top: i32, right: i32, bottom: i32) -> Self {
        Self { left, top, right, bottom }
    }

    /// Whether it has no pixel.
    pub const fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    /// Columns.
    pub fn width(self) -> u32 {
        u32::try_from(i64::from(self.right) - i64::from(self.left)).unwrap_or(0)
    }

    /// Rows.
    pub fn height(self) -> u32 {
        u32::try_from(i64::from(self.bottom) - i64::from(self.top)).unwrap_or(0)
    }

    /// Number of pixels.
    pub fn count(self) -> u64 {
        u64::from(self.width()) * u64::from(self.height())
    }

    /// What both have.
    pub fn intersect(self, other: Self) -> Self {
        let common = Self {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        if common.is_empty() { Self::default() } else { common }
    }

    /// The same, shifted; edges have to stay within an `i32`.
    pub const fn moved(self, x: i32, y: i32) -> Self {
        Self { left: self.left + x, top: self.top + y, right: self.right + x, bottom: self.bottom + y }
    }

    /// Whether both have a pixel.
    pub fn meets(self, other: Self) -> bool {
        !self.intersect(other).is_empty()
    }

    /// Smallest rectangle that has both.
    pub fn union(self, other: Self) -> Self {
        if self.is_empty() {
            return other;
        }
        if other.is_empty() {
            return self;
        }
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Whether all of the other is in it.
    pub fn holds(self, other: Self) -> bool {
        other.is_empty() || self.intersect(other) == other
    }

    /// Pixels that a transformed rectangle touches.
    pub fn around(place: Place, transform: Transform) -> Self {
        let corners = [
            (place.x, place.y),
            (place.x + place.width, place.y),
            (place.x, place.y + place.height),
            (place.x + place.width, place.y + place.height),
        ]
        .map(|(x, y)| {
            (transform.sx * x + transform.kx * y + transform.tx, transform.ky * x + transform.sy * y + transform.ty)
        });
        let fold =
            |first: f32, by: fn(f32, f32) -> f32, of: fn(&(f32, f32)) -> f32| corners.iter().map(of).fold(first, by);
        // Drawing rounds to a part of a pixel: what is not shifted by whole pixels alone may touch a little more.
        let more = if is_shift(transform) { 0.0 } else { 0.02 };
        // Conversions saturate, and differences of edges stay within an `i32`.
        let edge = |at: f32| (at as i32).clamp(-EDGE_MAX, EDGE_MAX);
        Self {
            left: edge((fold(f32::MAX, f32::min, |corner| corner.0) - more).floor()),
            top: edge((fold(f32::MAX, f32::min, |corner| corner.1) - more).floor()),
            right: edge((fold(f32::MIN, f32::max, |corner| corner.0) + more).ceil()),
            bottom: edge((fold(f32::MIN, f32::max, |corner| corner.1) + more).ceil()),
        }
    }
}

/// Whether a transform only shifts.
pub fn is_shift(transform: Transform) -> bool {
    // Exactly: these are the values that products of shifts alone have.
    #[expect(clippy::float_cmp, reason = "products of shifts are exact")]
    let is_shift = transform.sx == 1.0 && transform.sy == 1.0 && transform.kx == 0.0 && transform.ky == 0.0;
    is_shift
}

/// Where a widget is on the screen, as of the last frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Area {
    /// Place on the surface before `x`, `y`, `scale` and `rotate`, rounded.
    pub place: Place,
    /// From the widget's pixels to those of the screen.
    pub transform: Transform,
    /// What its own drawing covers.
    pub own: Pixels,
    /// What it and all below it cover.
    pub whole: Pixels,
}
