//! What a run took.

use std::time::Instant;

use serde_json::{Value, json};

use crate::geometry::Pixels;
use crate::scene::Drawn;

/// A key with what followed.
#[derive(Clone, Debug)]
struct Pressed {
    name: String,
    sequence: i32,
    at: Instant,
    commit_ms: Option<f64>,
    frame_ms: Option<f64>,
}

/// Figures of a run. Times are those of the machine, also with a virtual clock.
#[derive(Debug)]
pub struct Report {
    start: Instant,
    first_frame_ms: Option<f64>,
    frames: Vec<(f64, f64)>,
    damaged: u64,
    damaged_max: u64,
    keys: Vec<Pressed>,
    /// Batches so far.
    pub batches: u64,
}

impl Report {
    /// Figures from now on.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            first_frame_ms: None,
            frames: Vec::new(),
            damaged: 0,
            damaged_max: 0,
            keys: Vec::new(),
            batches: 0,
        }
    }

    /// A key that has been pressed or repeated.
    pub fn key(&mut self, name: &str, sequence: i32) {
        let name = name.to_owned();
        self.keys.push(Pressed { name, sequence, at: Instant::now(), commit_ms: None, frame_ms: None });
    }

    /// The key of a sequence. Sequences grow.
    fn pressed(&mut self, sequence: i32) -> Option<&mut Pressed> {
        let index = self.keys.binary_search_by_key(&sequence, |key| key.sequence).ok()?;
        self.keys.get_mut(index)
    }

    /// A batch; the last one of a key counts.
    pub fn commit(&mut self, cause: i32) {
        self.batches += 1;
        if let Some(key) = self.pressed(cause) {
            key.commit_ms = Some(milliseconds(key.at));
        }
    }

    /// A frame that drew something, with the causes that it brought to the screen.
    pub fn frame(&mut self, drawn: &Drawn, causes: &[i32], widgets: usize) {
        if widgets > 0 && self.first_frame_ms.is_none() {
            self.first_frame_ms = Some(milliseconds(self.start));
        }
        self.frames.push((drawn.layout_ms, drawn.paint_ms));
        let pixels = drawn.areas.iter().map(|area: &Pixels| area.count()).sum();
        self.damaged += pixels;
        self.damaged_max = self.damaged_max.max(pixels);
        for cause in causes {
            if let Some(key) = self.pressed(*cause) {
                key.frame_ms = Some(milliseconds(key.at));
            }
        }
    }

    /// Frames that drew something.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    /// As JSON.
    pub fn json(&self, further: &[(&str, Value)]) -> Value {
        let total = self.frames.iter().map(|(layout, paint)| layout + paint).collect();
        let keys: Vec<Value> = self
            .keys
            .iter()
            .map(|key| {
                let Pressed { name, sequence, commit_ms, frame_ms, .. } = key;
                json!({ "key": name, "sequence": sequence, "commitMs": rounded(*commit_ms), "frameMs": rounded(*frame_ms) })
            })
            .collect();
        let mut report = json!({
            "firstFrameMs": rounded(self.first_frame_ms),
            "frames": self.frames.len(),
            "frameMs": percentiles(total),
            "layoutMs": percentiles(self.frames.iter().map(|frame| frame.0).collect()),
            "paintMs": percentiles(self.frames.iter().map(|frame| frame.1).collect()),
            "keyToCommitMs": percentiles(self.keys.iter().filter_map(|key| key.commit_ms).collect()),
            "keyToFrameMs": percentiles(self.keys.iter().filter_map(|key| key.frame_ms).collect()),
            "keys": keys,
            "batches": self.batches,
            "damagedPixels": { "total": self.damaged, "max": self.damaged_max },
        });
        for (name, value) in further {
            report[name] = value.clone();
        }
        report
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn rounded(value: Option<f64>) -> Value {
    value.map_or(Value::Null, |value| json!((value * 1000.0).round() / 1000.0))
}

/// p50, p95, p99 and the maximum, by the nearest rank; null without values.
fn percentiles(mut values: Vec<f64>) -> Value {
    values.sort_by(f64::total_cmp);
    let rank = |share: f64| {
        let index = (share * values.len() as f64).ceil() as usize;
        rounded(values.get(index.saturating_sub(1)).copied())
    };
    json!({ "p50": rank(0.5), "p95": rank(0.95), "p99": rank(0.99), "max": rank(1.0) })
}
