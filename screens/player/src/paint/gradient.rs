//! Gradients: `ANGLE COLOR AT, COLOR AT…`.

use std::rc::Rc;

use tiny_skia::{Color, GradientStop, LinearGradient, Point, Shader, SpreadMode, Transform};

/// A linear gradient.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// Text that it was parsed of.
    pub source: Rc<str>,
    /// Degrees: 0 up, 90 to the right.
    pub angle: f32,
    /// Colours `0xRRGGBBAA` with their place from 0 to 1.
    pub stops: Vec<(u32, f32)>,
}

impl Gradient {
    /// Gradient of a text, `None` if it is none.
    pub fn parse(source: &Rc<str>) -> Option<Self> {
        let (angle, stops) = source.trim().split_once(char::is_whitespace)?;
        let angle: f32 = angle.parse().ok().filter(|angle: &f32| angle.is_finite())?;
        let stops: Option<Vec<(u32, f32)>> = stops
            .split(',')
            .map(|stop| {
                let (color, at) = stop.trim().split_once(char::is_whitespace)?;
                let digits = color.strip_prefix('#').filter(|digits| digits.len() == 8)?;
                let at: f32 = at.trim().parse().ok().filter(|at: &f32| at.is_finite())?;
                Some((u32::from_str_radix(digits, 16).ok()?, at.clamp(0.0, 1.0)))
            })
            .collect();
        Some(Self { source: source.clone(), angle, stops: stops.filter(|stops| !stops.is_empty())? })
    }

    /// Shader for a box of this size, in its own pixels.
    pub fn shader(&self, width: f32, height: f32) -> Option<Shader<'static>> {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        let length = (width * sin).abs() + (height * cos).abs();
        let at = |side: f32| {
            Point::from_xy(width / 2.0 + side * sin * length / 2.0, height / 2.0 - side * cos * length / 2.0)
        };
        let stop = |&(color, at): &(u32, f32)| {
            let [red, green, blue, alpha] = color.to_be_bytes();
            GradientStop::new(at, Color::from_rgba8(red, green, blue, alpha))
        };
        let stops = self.stops.iter().map(stop).collect();
        LinearGradient::new(at(-1.0), at(1.0), stops, SpreadMode::Pad, Transform::identity())
    }
}
