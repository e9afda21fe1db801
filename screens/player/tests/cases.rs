//! Cases of layout and drawing in screens/cases, which every surface has to pass.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use common::{Picture, scene};
use sluice_player::stream::parse;

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<_> = files.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    cases.sort();
    cases
}

#[test]
fn cases_have_their_rectangles_and_pictures() {
    let cases = cases();
    assert!(cases.len() >= 12, "cases are missing");
    let mut wrong = Vec::new();
    for path in cases {
        let name = path.file_stem().unwrap().display().to_string();
        let case: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let side = |index: usize| u32::try_from(case["size"][index].as_u64().unwrap()).unwrap();
        let lines: Vec<&str> = case["stream"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let mut scene = scene(side(0), side(1));
        scene.commit(&parse(&lines.join("\n")).unwrap()).unwrap();
        scene.frame(0.0);
        let expected: BTreeMap<String, [f32; 4]> = serde_json::from_value(case["rects"].clone()).unwrap();
        for (id, rectangle) in expected {
            let place = scene.tree.get(scene.tree.slot(id.parse().unwrap()).unwrap()).area.place;
            let found = [place.x, place.y, place.width, place.height];
            #[expect(clippy::float_cmp, reason = "places are whole pixels")]
            let is_there = found == rectangle;
            if !is_there {
                wrong.push(format!("{name}: widget {id} is at {found:?}, not {rectangle:?}"));
            }
        }
        let picture = Picture::of(&scene);
        let file = path.with_extension("png");
        if std::env::var_os("SLUICE_WRITE_PICTURES").is_some() {
            std::fs::write(&file, scene.png().unwrap()).unwrap();
        }
        let difference = picture.difference(&Picture::read(&file));
        if difference > 2 {
            wrong
                .push(format!("{name}: the picture differs by {difference} of 255; SLUICE_WRITE_PICTURES=1 writes it"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
