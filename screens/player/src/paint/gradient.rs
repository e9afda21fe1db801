//! Gradients: `ANGLE COLOR AT, COLOR AT…`.

use std::rc::Rc;

use super::canvas::premultiplied;
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
    /// Premultiplied colours at even steps from 0 to 1.
    ramp: Vec<[u8; 4]>,
}

/// Steps of a ramp.
const STEPS: usize = 1024;

/// Share of the way through a gradient: at a corner of a box, and how it grows with each pixel to the right and down.
#[derive(Clone, Copy, Debug)]
pub struct Slope {
    start: f32,
    right: f32,
    down: f32,
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
        let stops = stops.filter(|stops| !stops.is_empty())?;
        let ramp = (0..STEPS).map(|step| premultiplied(color_at(&stops, step as f32 / (STEPS - 1) as f32))).collect();
        Some(Self { source: source.clone(), angle, stops, ramp })
    }

    /// Slope for a box of this size.
    pub fn slope(&self, width: f32, height: f32) -> Slope {
        let (sin, cos) = self.angle.to_radians().sin_cos();
        let length = ((width * sin).abs() + (height * cos).abs()).max(1e-3);
        let (right, down) = (sin / length, -cos / length);
        // The middle of the box is the middle of the way; colours are those of the middles of pixels.
        Slope { start: 0.5 - right * (width - 1.0) / 2.0 - down * (height - 1.0) / 2.0, right, down }
    }

    /// Premultiplied colour of a pixel of the box.
    pub fn pixel(&self, slope: Slope, x: i32, y: i32) -> [u8; 4] {
        let share = slope.start + slope.right * x as f32 + slope.down * y as f32;
        // The conversion saturates below 0.
        self.ramp[((share * (STEPS - 1) as f32 + 0.5) as usize).min(STEPS - 1)]
    }

    /// The same for boxes that are enlarged or turned: shader for a box of this size, in its own pixels.
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

/// Colour of a place, between those of the stops on both sides, not premultiplied.
fn color_at(stops: &[(u32, f32)], at: f32) -> u32 {
    let mut before = stops[0];
    for &(color, place) in stops {
        let place = place.max(before.1);
        if at < place && place > before.1 {
            let share = ((at - before.1) / (place - before.1)).clamp(0.0, 1.0);
            let [from, to] = [before.0, color].map(|color| color.to_be_bytes().map(f32::from));
            let mixed: [f32; 4] = std::array::from_fn(|channel| from[channel] + (to[channel] - from[channel]) * share);
            return u32::from_be_bytes(mixed.map(|channel| channel.round().clamp(0.0, 255.0) as u8));
        }
        before = (color, place);
    }
    before.0
}
