//! Paths of boxes.

use tiny_skia::{Path, PathBuilder, Rect};

use crate::geometry::Place;

/// Share of a radius at which the control points of a quarter of a circle lie.
const QUARTER: f32 = 0.552_284_8;

/// A box with rounded corners; `None` if it has no area.
pub fn rounded(place: Place, radius: f32) -> Option<Path> {
    let Place { x, y, width, height } = place;
    if width <= 0.0 || height <= 0.0 {
        return None;
    }
    let radius = radius.min(width / 2.0).min(height / 2.0);
    if radius <= 0.0 {
        return Some(PathBuilder::from_rect(Rect::from_xywh(x, y, width, height)?));
    }
    let (right, bottom) = (x + width, y + height);
    let near = radius * (1.0 - QUARTER);
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.cubic_to(right - near, y, right, y + near, right, y + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - near, right - near, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.cubic_to(x + near, bottom, x, bottom - near, x, bottom - radius);
    path.line_to(x, y + radius);
    path.cubic_to(x, y + near, x + near, y, x + radius, y);
    path.close();
    path.finish()
}

/// What is inside the one and outside the other, by the even-odd rule.
pub fn ring(outer: Option<Path>, inner: Option<Path>) -> Option<Path> {
    let mut path = PathBuilder::new();
    path.push_path(&outer?);
    if let Some(inner) = inner {
        path.push_path(&inner);
    }
    path.finish()
}
