//! Easings, as CSS has them.

/// Share of the change at a share of the time, both from 0 to 1. `easing` is its place in the list of easings.
pub fn ease(easing: u8, time: f32) -> f32 {
    let [x1, y1, x2, y2] = match easing {
        1 => [0.25, 0.1, 0.25, 1.0],
        2 => [0.42, 0.0, 1.0, 1.0],
        3 => [0.0, 0.0, 0.58, 1.0],
        4 => [0.42, 0.0, 0.58, 1.0],
        _ => return time.clamp(0.0, 1.0),
    };
    if time <= 0.0 {
        return 0.0;
    }
    if time >= 1.0 {
        return 1.0;
    }
    // x grows with the parameter: bisection to 2⁻²⁴ always ends, and is quick enough for some hundred widgets.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..24 {
        let middle = f64::midpoint(low, high);
        if bezier(x1, x2, middle) < f64::from(time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    bezier(y1, y2, f64::midpoint(low, high)) as f32
}

/// One coordinate of a cubic Bézier curve from 0 to 1 with these control values.
fn bezier(first: f64, second: f64, at: f64) -> f64 {
    let rest = 1.0 - at;
    3.0 * rest * rest * at * first + 3.0 * rest * at * at * second + at * at * at
}

/// Colour `0xRRGGBBAA` between two, at a share of the way; mixed premultiplied, so that transparent black does not darken.
pub fn mix(from: u32, to: u32, share: f32) -> u32 {
    let [from, to] = [from, to].map(|color| {
        let [red, green, blue, alpha] = color.to_be_bytes().map(f32::from);
        [red * alpha, green * alpha, blue * alpha, alpha]
    });
    let mixed: [f32; 4] = std::array::from_fn(|channel| from[channel] + (to[channel] - from[channel]) * share);
    let alpha = mixed[3];
    if alpha <= 0.0 {
        return 0;
    }
    let byte = |value: f32| value.round().clamp(0.0, 255.0) as u8;
    u32::from_be_bytes([byte(mixed[0] / alpha), byte(mixed[1] / alpha), byte(mixed[2] / alpha), byte(alpha)])
}
