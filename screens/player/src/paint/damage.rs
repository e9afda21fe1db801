//! Rectangles of the screen that have to be drawn again.

use crate::geometry::Pixels;

/// Most rectangles of a frame.
const RECTANGLES_MAX: usize = 6;

/// A few rectangles that do not meet.
#[derive(Clone, Debug, Default)]
pub struct Damage {
    rectangles: Vec<Pixels>,
}

impl Damage {
    /// Adds the part of a rectangle that is on the screen.
    pub fn add(&mut self, area: Pixels, screen: Pixels) {
        let mut area = area.intersect(screen);
        if area.is_empty() || self.rectangles.iter().any(|other| other.holds(area)) {
            return;
        }
        while let Some(index) = self.rectangles.iter().position(|other| other.meets(area)) {
            area = area.union(self.rectangles.swap_remove(index));
        }
        if self.rectangles.len() == RECTANGLES_MAX {
            let growth = |other: &Pixels| area.union(*other).count() - other.count();
            let nearest = (0..self.rectangles.len()).min_by_key(|index| growth(&self.rectangles[*index]));
            if let Some(index) = nearest {
                let other = self.rectangles.swap_remove(index);
                self.add(area.union(other), screen);
            }
            return;
        }
        self.rectangles.push(area);
    }

    /// The rectangles, and none from now on.
    pub fn take(&mut self) -> Vec<Pixels> {
        std::mem::take(&mut self.rectangles)
    }
}
