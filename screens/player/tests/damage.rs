//! A screen of which only what changed was drawn again is the same as one that was drawn whole.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod common;

use common::{Picture, scene};
use proptest::prelude::*;
use sluice_player::stream::parse;

/// A change, of numbers that a small model makes valid.
fn changes() -> impl Strategy<Value = Vec<(u8, u8, u8, i16)>> {
    prop::collection::vec((0..22_u8, any::<u8>(), any::<u8>(), -40..140_i16), 1..12)
}

/// Widgets that there are, with their parents.
#[derive(Default)]
struct Model {
    parents: Vec<(i32, i32)>,
    next: i32,
}

impl Model {
    fn is_below(&self, id: i32, above: i32) -> bool {
        let mut next = id;
        while next != 0 {
            if next == above {
                return true;
            }
            next = self.parents.iter().find(|(id, _)| *id == next).map_or(0, |(_, parent)| *parent);
        }
        false
    }

    fn line(&mut self, (kind, one, two, value): (u8, u8, u8, i16)) -> String {
        let pick =
            |parents: &Vec<(i32, i32)>, at: u8| parents.get(usize::from(at) % parents.len().max(1)).map(|(id, _)| *id);
        let Some(id) = pick(&self.parents, one).filter(|_| kind > 3) else {
            self.next += 1;
            let id = self.next;
            let parent = pick(&self.parents, two).filter(|_| kind % 2 == 0).unwrap_or(0);
            self.parents.push((id, parent));
            let color = (u32::from(one) << 24 | u32::from(two) << 16 | 0x40ff).wrapping_mul(2_654_435_761) | 0x80;
            return format!(
                "create {id}\nplace {parent} {id} 0\nnumber width {id} {}\nnumber height {id} {}\ninteger background {id} #{color:08x}\n",
                value.abs(),
                20 + two % 60
            );
        };
        let value = f32::from(value);
        let choice = usize::from(two);
        match kind {
            4 => format!("number x {id} {}\n", value / 3.0),
            5 => format!("number y {id} {value}\n"),
            6 => format!("number scale {id} {}\n", value / 60.0),
            7 => format!("number rotate {id} {}\n", value * 3.0),
            8 => format!("number opacity {id} {}\n", f32::from(two) / 200.0),
            9 => format!("integer clip {id} {}\n", choice % 2),
            10 => format!("number borderRadius {id} {}\n", value / 4.0),
            11 => format!("number borderWidth {id} {}\ninteger borderColor {id} #ffcc00ff\n", value / 20.0),
            12 => format!("integer zIndex {id} {}\n", choice % 3),
            13 => format!("string gradient {id} \"{value} #ff0000ff 0, #0000ff80 1\"\n"),
            14 => format!("string text {id} \"Text of {two} words\"\n"),
            15 => format!("integer display {id} {}\n", choice % 2),
            16 => format!("integer position {id} {}\nnumber left {id} {value}\n", choice % 2),
            17 => format!("transition x {id} 100 0 ease\nnumber x {id} {value}\n"),
            18 => format!("animate opacity {id} NaN 0.5 80 0 linear 1\n"),
            19 => format!("focus {id}\nnumber width {id} {}\n", value.abs()),
            20 => {
                let parent = pick(&self.parents, two).filter(|parent| !self.is_below(*parent, id)).unwrap_or(0);
                if let Some(entry) = self.parents.iter_mut().find(|(other, _)| *other == id) {
                    entry.1 = parent;
                }
                format!("place {parent} {id} 0\n")
            }
            _ => {
                let gone: Vec<i32> =
                    self.parents.iter().map(|(other, _)| *other).filter(|other| self.is_below(*other, id)).collect();
                self.parents.retain(|(other, _)| !gone.contains(other));
                format!("remove {id}\n")
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn drawn_in_parts_is_drawn_whole(frames in prop::collection::vec(changes(), 1..8)) {
        let mut scene = scene(160, 120);
        let mut model = Model::default();
        for (index, changes) in frames.into_iter().enumerate() {
            // A number that was removed serves again in the next batch only: one batch a change.
            for change in changes {
                let text = model.line(change);
                scene.commit(&parse(&text).unwrap()).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
            let now = index as f64 * 40.0;
            scene.frame(now);
            let parts = Picture::of(&scene);
            scene.painter.damage_all();
            scene.frame(now);
            let whole = Picture::of(&scene);
            // A curve that the edge of a rectangle cuts is rounded in another way: a pixel of an edge may be a shade off.
            let (difference, off) = (parts.difference(&whole), parts.off(&whole));
            prop_assert!(difference <= 48 && off <= 8, "frame {}: {} pixels are off, by up to {}", index, off, difference);
        }
    }
}

fn commit(scene: &mut sluice_player::scene::Scene, text: &str) {
    scene.commit(&parse(text).unwrap()).unwrap();
}

#[test]
fn a_list_that_scrolls_damages_its_clip_alone() {
    let mut scene = scene(200, 200);
    commit(
        &mut scene,
        "create 1\nplace 0 1 0\nnumber width 1 100\nnumber height 1 50\nnumber marginLeft 1 20\nnumber marginTop 1 30\ninteger clip 1 true\ncreate 2\nplace 1 2 0\n",
    );
    for id in 10..60 {
        commit(
            &mut scene,
            &format!("create {id}\nplace 2 {id} 0\nnumber height {id} 20\ninteger background {id} #{id}8080ff"),
        );
    }
    scene.frame(0.0);
    commit(&mut scene, "transition y 2 100 0 linear\nnumber y 2 -500");
    scene.frame(16.0);
    for step in 1..8 {
        let drawn = scene.frame(16.0 + 16.0 * f64::from(step));
        let areas: Vec<_> = drawn.areas.iter().map(|area| (area.left, area.top, area.right, area.bottom)).collect();
        assert!(areas.is_empty() || areas == [(20, 30, 120, 80)], "{areas:?}");
        assert!(step > 6 || !areas.is_empty());
    }
    // What is out of its sight damages nothing.
    assert!(scene.frame(500.0).areas.is_empty());
    commit(&mut scene, "integer background 10 #ffffffff");
    assert!(scene.frame(516.0).areas.is_empty());
}

#[test]
fn a_layout_moves_only_what_changes_place() {
    let mut scene = scene(200, 200);
    commit(
        &mut scene,
        "create 1\nplace 0 1 0\nnumber height 1 50\ninteger background 1 #ff0000ff\ncreate 2\nplace 0 2 0\nnumber height 2 50\ninteger background 2 #00ff00ff",
    );
    scene.frame(0.0);
    commit(&mut scene, "integer background 2 #0000ffff");
    let areas = scene.frame(16.0).areas;
    assert_eq!(areas.iter().map(|area| (area.top, area.bottom)).collect::<Vec<_>>(), [(50, 100)]);
    commit(&mut scene, "number height 2 70");
    let areas = scene.frame(32.0).areas;
    assert_eq!(areas.iter().map(|area| (area.top, area.bottom)).collect::<Vec<_>>(), [(50, 120)]);
    commit(&mut scene, "remove 1");
    let areas = scene.frame(48.0).areas;
    assert_eq!(areas.iter().map(|area| (area.top, area.bottom)).collect::<Vec<_>>(), [(0, 120)]);
}
