//! Values that change by time.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod common;

use common::{Picture, scene};
use sluice_player::scene::Scene;
use sluice_player::stream::parse;
use sluice_player::tree::easing::{ease, mix};

const BOX: &str = "create 1\nplace 0 1 0\nnumber width 1 10\nnumber height 1 10\ninteger background 1 #ff0000ff\ninteger reports 1 true\n";

fn commit(scene: &mut Scene, text: &str) {
    scene.commit(&parse(text).unwrap()).unwrap();
}

fn started() -> Scene {
    let mut scene = scene(200, 100);
    commit(&mut scene, BOX);
    scene.frame(0.0);
    scene.events = sluice_player::stream::Events::default();
    scene
}

fn x(scene: &Scene) -> f32 {
    scene.tree.get(scene.tree.slot(1).unwrap()).shown.x()
}

#[test]
fn easings_are_those_of_css() {
    // Values of the curves at a quarter, a half and three quarters, from the definition of cubic-bezier.
    let expected = [
        [0.25, 0.5, 0.75],
        [0.4085, 0.8024, 0.9604],
        [0.0935, 0.3154, 0.6218],
        [0.3782, 0.6846, 0.9065],
        [0.1291, 0.5, 0.8709],
    ];
    for (easing, values) in expected.iter().enumerate() {
        for (step, value) in values.iter().enumerate() {
            let found = ease(easing as u8, 0.25 * (step + 1) as f32);
            assert!((found - value).abs() < 0.001, "easing {easing}, step {step}: {found}");
        }
        assert!(ease(easing as u8, 0.0).abs() < 1e-6);
        assert!((ease(easing as u8, 1.0) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn colours_mix_premultiplied() {
    assert_eq!(mix(0xff00_00ff, 0x0000_ffff, 0.5), 0x8000_80ff);
    assert_eq!(mix(0x0000_0000, 0xff00_00ff, 0.5), 0xff00_0080);
    assert_eq!(mix(0x0000_0000, 0x0000_0000, 0.5), 0);
}

#[test]
fn a_transition_counts_from_the_second_frame_on_and_tells_its_end() {
    let mut scene = scene(200, 100);
    commit(&mut scene, &format!("{BOX}transition x 1 100 20 linear\nnumber x 1 50\n"));
    scene.frame(0.0);
    assert!((x(&scene) - 50.0).abs() < 1e-4, "at once in the first frame");
    commit(&mut scene, "number x 1 150");
    for (now, value) in [(100.0, 50.0), (115.0, 50.0), (145.0, 75.0), (170.0, 100.0)] {
        scene.frame(now);
        assert!((x(&scene) - value).abs() < 1e-3, "{now}: {}", x(&scene));
    }
    // A new aim on the way begins where the value is.
    commit(&mut scene, "number x 1 0");
    scene.events = sluice_player::stream::Events::default();
    for (now, value) in [(180.0, 110.0), (200.0, 110.0), (250.0, 55.0), (300.0, 0.0)] {
        scene.frame(now);
        assert!((x(&scene) - value).abs() < 1e-3, "{now}: {}", x(&scene));
    }
    assert!(scene.events.words.ends_with(&[3, 1, 41]), "{:?}", scene.events.words);
    assert!(!scene.is_changing(true));
}

#[test]
fn a_transition_applies_whichever_style_changes() {
    let mut scene = started();
    commit(&mut scene, "define 1 { number x 100 }\ndefine 2 { transition x 100 0 linear }\nstyle 1 2\nfocus-style 1 1");
    scene.frame(10.0);
    commit(&mut scene, "focus 1");
    scene.frame(20.0);
    scene.frame(70.0);
    assert!((x(&scene) - 50.0).abs() < 1e-3);
    commit(&mut scene, "focus 0");
    scene.frame(120.0);
    scene.frame(170.0);
    assert!((x(&scene) - 50.0).abs() < 1e-3);
    scene.frame(220.0);
    assert!(x(&scene).abs() < 1e-3);
    // Without a transition it is at once.
    commit(&mut scene, "style 1 0\nfocus 1");
    scene.frame(230.0);
    assert!((x(&scene) - 100.0).abs() < 1e-3);
}

#[test]
fn an_animation_repeats_goes_back_and_stays_at_its_end() {
    let mut scene = started();
    // Bit 16: every second run goes back; one further run.
    commit(&mut scene, &format!("animate x 1 10 110 100 50 linear {}", 1 | 1 << 16));
    for (now, value) in
        [(100.0, 10.0), (140.0, 10.0), (200.0, 60.0), (250.0, 110.0), (300.0, 60.0), (350.0, 10.0), (900.0, 10.0)]
    {
        scene.frame(now);
        assert!((x(&scene) - value).abs() < 1e-3, "{now}: {}", x(&scene));
    }
    commit(&mut scene, "number x 1 77");
    scene.frame(950.0);
    assert!((x(&scene) - 10.0).abs() < 1e-3, "the end value stays over a change of style");
    commit(&mut scene, "stop x 1");
    scene.frame(960.0);
    assert!((x(&scene) - 77.0).abs() < 1e-3);
    commit(&mut scene, "animate x 1 NaN 177 100 0 linear 65535");
    scene.frame(1000.0);
    scene.frame(1050.0);
    assert!((x(&scene) - 127.0).abs() < 1e-3);
    scene.frame(1_000_050.0);
    assert!((x(&scene) - 127.0).abs() < 1e-3, "without end");
    assert!(scene.is_changing(true) && !scene.is_changing(false));
}

#[test]
fn a_colour_on_its_way_is_drawn() {
    let mut scene = started();
    commit(&mut scene, "transition background 1 100 0 linear\ninteger background 1 #0000ffff");
    scene.frame(10.0);
    assert_eq!(Picture::of(&scene).pixel(5, 5), [255, 0, 0]);
    scene.frame(60.0);
    assert_eq!(Picture::of(&scene).pixel(5, 5), [128, 0, 128]);
    scene.frame(110.0);
    assert_eq!(Picture::of(&scene).pixel(5, 5), [0, 0, 255]);
}

#[test]
fn a_widget_that_is_removed_on_its_way_ends_its_motions() {
    let mut scene = started();
    commit(&mut scene, "animate x 1 0 100 100 0 linear 65535");
    scene.frame(10.0);
    assert!(scene.is_changing(true));
    commit(&mut scene, "remove 1");
    scene.frame(20.0);
    assert!(!scene.is_changing(true));
    assert_eq!(Picture::of(&scene).data.iter().filter(|pixel| **pixel != [0, 0, 0]).count(), 0);
}

#[test]
fn an_animation_from_the_value_that_it_has_begins_with_the_styles_of_its_batch() {
    let mut scene = started();
    commit(&mut scene, "number x 1 100\nanimate x 1 NaN 140 1000 500 linear 0");
    scene.frame(16.0);
    assert!((x(&scene) - 100.0).abs() < 0.001, "{}", x(&scene));
    scene.frame(1016.0);
    assert!((x(&scene) - 120.0).abs() < 0.001, "{}", x(&scene));
    // On its way, it goes on from there.
    commit(&mut scene, "animate x 1 NaN 0 1000 0 linear 0");
    scene.frame(1032.0);
    assert!((x(&scene) - 120.0).abs() < 0.001, "{}", x(&scene));
}

#[test]
fn a_transition_does_not_count_before_a_frame_had_the_widget_in_sight() {
    let mut scene = scene(200, 100);
    commit(
        &mut scene,
        "create 9\nplace 0 9 0\ninteger display 9 none\ncreate 1\ntransition x 1 100 0 linear\nnumber x 1 10",
    );
    scene.frame(0.0);
    for (now, text, value) in [
        (100.0, "number x 1 50", 50.0),
        // Below a widget that is hidden.
        (200.0, "place 9 1 0\nnumber x 1 60", 60.0),
        (300.0, "integer display 9 flex\nnumber x 1 70", 70.0),
        (400.0, "number x 1 170", 70.0),
    ] {
        commit(&mut scene, text);
        scene.frame(now);
        assert!((x(&scene) - value).abs() < 1e-3, "{text}: {}", x(&scene));
    }
    scene.frame(450.0);
    assert!((x(&scene) - 120.0).abs() < 1e-3);
}

#[test]
fn a_property_whose_animation_stops_has_the_value_of_its_styles_at_once() {
    let mut scene = started();
    commit(&mut scene, "transition x 1 100 0 linear\nanimate x 1 0 100 100 0 linear 0");
    scene.frame(10.0);
    scene.frame(60.0);
    assert!((x(&scene) - 50.0).abs() < 1e-3);
    commit(&mut scene, "stop x 1\nnumber x 1 30");
    scene.frame(60.0);
    assert!((x(&scene) - 30.0).abs() < 1e-3, "{}", x(&scene));
    commit(&mut scene, "stop x 1\nnumber x 1 0");
    scene.frame(60.0);
    scene.frame(110.0);
    assert!((x(&scene) - 15.0).abs() < 1e-3, "{}", x(&scene));
}
