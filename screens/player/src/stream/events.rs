//! Events on their way to the app, in the stream's encoding.

use super::codes::Event;

/// Events that have not been delivered yet.
#[derive(Debug, Default)]
pub struct Events {
    /// Words.
    pub words: Vec<i32>,
    /// Strings that the words name by their place.
    pub strings: Vec<String>,
}

impl Events {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// A key. `phase`: 0 pressed, 1 repeated, 2 released; `time` in milliseconds.
    pub fn key(&mut self, phase: i32, sequence: i32, time: f64, name: &str) {
        let string = self.strings.len() as i32;
        self.strings.push(name.to_owned());
        self.words.extend([Event::Key as i32, phase, sequence, float(time), string]);
    }

    /// New place of a widget.
    pub fn layout(&mut self, id: i32, [x, y, width, height]: [f32; 4]) {
        self.words.push(Event::Layout as i32);
        self.words.push(id);
        self.words.extend([x, y, width, height].map(bits));
    }

    /// End of a transition or animation.
    pub fn animation_end(&mut self, id: i32, property: u8) {
        self.words.extend([Event::AnimationEnd as i32, id, i32::from(property)]);
    }

    /// An image is there (1) or cannot be had (2).
    pub fn image(&mut self, id: i32, state: i32) {
        self.words.extend([Event::Image as i32, id, state]);
    }

    /// Memory of the device: 0 enough, 1 low, 2 almost none.
    pub fn memory(&mut self, level: i32) {
        self.words.extend([Event::Memory as i32, level]);
    }

    /// New size of the surface.
    pub fn resize(&mut self, width: f32, height: f32) {
        self.words.extend([Event::Resize as i32, bits(width), bits(height)]);
    }

    /// A batch is on the screen.
    pub fn frame(&mut self, cause: i32, time: f64, duration: f64) {
        self.words.extend([Event::Frame as i32, cause, float(time), float(duration)]);
    }
}

const fn bits(value: f32) -> i32 {
    value.to_bits().cast_signed()
}

const fn float(value: f64) -> i32 {
    bits(value as f32)
}
