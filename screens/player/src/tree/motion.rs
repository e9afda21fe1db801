//! Transitions and animations: values that change by time alone.

use super::easing::{ease, mix};
use crate::stream::{Animate, Transition, bounded};

/// A value on its way.
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
#[derive(Clone, Debug)]
pub struct Motion {
    /// Place of the property among [`super::look::ANIMATED`].
    pub index: usize,
    /// Whether values are colours.
    pub is_color: bool,
    /// Bits of the first value; `None`: the one that the property has at the start.
    pub from: Option<u32>,
    /// Bits of the last value.
    pub to: u32,
    /// Moment at which the delay begins, milliseconds of the clock; `None` before the first frame.
    pub start: Option<f64>,
    /// Time of one run.
    pub timing: Transition,
    /// Further runs; 65535 is without end.
    pub repeat: u16,
    /// Whether every second run goes back.
    pub alternate: bool,
    /// Whether it is an animation, whose end value stays, and not a transition.
    pub stays: bool,
    /// Whether the end has been reached.
    pub ended: bool,
}

/// Runs without end.
const ENDLESS: u16 = u16::MAX;

impl Motion {
    /// A transition that begins now.
    pub fn transition(index: usize, is_color: bool, [from, to]: [u32; 2], timing: Transition, now: f64) -> Self {
        Self {
            index,
            is_color,
            from: Some(from),
            to,
            start: Some(now),
            timing,
            repeat: 0,
            alternate: false,
            stays: false,
            ended: false,
        }
    }

    /// An animation that begins with the next frame; `None` from or to a number that is not finite.
    pub fn animation(index: usize, is_color: bool, animate: &Animate) -> Option<Self> {
        let [from, to] = [animate.from, animate.to].map(i32::cast_unsigned);
        // For colours, the bits of the float that the stream has for "not a number" are taken alone.
        let is_open = if is_color { from == f32::NAN.to_bits() } else { f32::from_bits(from).is_nan() };
        let value = |bits| if is_color { Some(bits) } else { bounded(f32::from_bits(bits)).map(f32::to_bits) };
        Some(Self {
            index,
            is_color,
            from: if is_open { None } else { Some(value(from)?) },
            to: value(to)?,
            start: None,
            timing: animate.timing,
            repeat: animate.repeat,
            alternate: animate.alternate,
            stays: true,
            ended: false,
        })
    }

    /// Whether it never ends.
    pub fn is_endless(&self) -> bool {
        self.repeat == ENDLESS
    }

    /// Bits of the value at a moment; sets `ended`.
    pub fn at(&mut self, now: f64) -> u32 {
        let elapsed = now - self.start.unwrap_or(now) - f64::from(self.timing.delay);
        let duration = f64::from(self.timing.duration);
        let from = self.from.unwrap_or(self.to);
        if elapsed < 0.0 {
            return from;
        }
        let run = if duration > 0.0 { (elapsed / duration).floor() } else { f64::INFINITY };
        let is_over = run > f64::from(self.repeat) && (self.repeat != ENDLESS || duration <= 0.0);
        let (run, time) = if is_over {
            self.ended = true;
            (f64::from(self.repeat), 1.0)
        } else {
            (run, (elapsed / duration - run) as f32)
        };
        let goes_back = self.alternate && run % 2.0 >= 1.0;
        let [from, to] = if goes_back { [self.to, from] } else { [from, self.to] };
        if time >= 1.0 {
            return to;
        }
        let share = ease(self.timing.easing, time);
        if self.is_color {
            return mix(from, to, share);
        }
        let [from, to] = [from, to].map(f32::from_bits);
        (from + (to - from) * share).to_bits()
    }
}
