//! Paths of boxes.

use tiny_skia::{Path, PathBuilder, Rect};

use crate::geometry::Place;

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
    // Corners of short lines: where the edge of a damaged rectangle cuts a curve, it would be rounded in another way than whole.
    let steps = (2.0 * radius.sqrt()).ceil().clamp(4.0, 64.0) as u32;
    let (right, bottom) = (x + width - radius, y + height - radius);
    let corners = [(right, y + radius), (right, bottom), (x + radius, bottom), (x + radius, y + radius)];
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    for (quarter, (x, y)) in corners.into_iter().enumerate() {
        for step in 0..=steps {
            let turn = quarter as f32 + step as f32 / steps as f32;
            let (sin, cos) = (turn * std::f32::consts::FRAC_PI_2).sin_cos();
            path.line_to(x + radius * sin, y - radius * cos);
        }
    }
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
