//! The stream: its forms, its rules, and words of chance.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod common;

use std::fmt::Write as _;

use common::{Picture, scene};
use proptest::prelude::*;
use sluice_player::stream::codes::Property;
use sluice_player::stream::{Batch, Reader, Value, encode, parse, print, prologue};
use sluice_player::tree::Tree;

const SCREEN: &str = r#"define 3 { number width 640; percent height 50; integer clip true; string text "a \"b\"; {c}"; transition scale 150 0 ease-out }
create 1
create 2
place 0 1 0
place 0 2 1
style 1 3
focus-style 2 3
number opacity 1 0.25
percent left 1 -12.5
integer flexDirection 2 row-reverse
integer background 2 #102030ff
integer zIndex 2 -7
integer #200 2 5
string text 2 "Hello\nüñ"
reset text 2
transition background 1 300 50 linear
animate x 1 NaN 10.5 1000 0 ease-in-out 65535
stop x 1
focus 2
remove 1
"#;

#[test]
fn the_text_form_and_the_wire_form_say_the_same_as_the_words() {
    let batch = parse(SCREEN).unwrap();
    assert_eq!(print(&batch), SCREEN);
    let mut bytes = prologue().to_vec();
    encode(&batch, &mut bytes);
    encode(&Batch { cause: 7, ..batch.clone() }, &mut bytes);
    let batches: Vec<Batch> = Reader::new(&bytes).unwrap().map(Result::unwrap).collect();
    assert_eq!(batches, [batch.clone(), Batch { cause: 7, ..batch }]);
}

#[test]
fn flags_have_the_names_that_the_stream_gives_them() {
    let source = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../stream.json")).unwrap();
    let stream: serde_json::Value = serde_json::from_slice(&source).unwrap();
    for (name, facts) in stream["properties"].as_object().unwrap() {
        let line = format!("create 1\ninteger {name} 1 true\n");
        assert_eq!(parse(&line).is_ok(), facts["type"] == "flag", "{name}");
    }
}

#[test]
fn kinds_of_values_are_those_that_the_stream_gives_them() {
    let source = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../stream.json")).unwrap();
    let stream: serde_json::Value = serde_json::from_slice(&source).unwrap();
    for (name, facts) in stream["properties"].as_object().unwrap() {
        let kind = facts["type"].as_str().unwrap();
        let is_number = ["number", "length", "integer"].contains(&kind);
        let property = Property::of(facts["code"].as_u64().unwrap() as u8).unwrap();
        let taken = |value: Value| value.of(property).is_some();
        assert_eq!(taken(Value::Number(1.0)), is_number, "{name}: number");
        assert_eq!(taken(Value::Percent(1.0)), kind == "length", "{name}: percent");
        assert_eq!(taken(Value::Text("a".into())), kind == "text", "{name}: text");
        assert_eq!(taken(Value::Integer(1)), kind != "text", "{name}: integer");
        assert_eq!(taken(Value::Integer(-1)), is_number || kind == "color", "{name}: integer below 0");
        assert!(!taken(Value::Number(f32::NAN)) && !taken(Value::Percent(f32::INFINITY)), "{name}: not finite");
    }
}

#[test]
fn a_value_that_a_property_cannot_have_leaves_the_one_that_it_had() {
    let start = "create 1\nplace 0 1 0\nnumber width 1 20\nnumber height 1 20\ninteger background 1 #ff0000ff\n\
        define 1 { number height 20; number height inf }\nreset height 1\nstyle 1 1\n";
    for line in [
        "number width 1 NaN",
        "percent width 1 inf",
        "string width 1 \"a\"",
        "integer clip 1 2",
        "integer reports 1 2",
        "integer display 1 2",
        "number background 1 5",
        "integer width 1 20",
        "animate x 1 0 NaN 0 0 linear 0",
        "animate x 1 inf 10 0 0 linear 0",
        "transition x 1 inf inf linear\nnumber x 1 0",
    ] {
        let mut scene = scene(40, 40);
        scene.commit(&parse(start).unwrap()).unwrap();
        scene.frame(0.0);
        scene.commit(&parse(line).unwrap()).unwrap();
        scene.frame(16.0);
        let picture = Picture::of(&scene);
        assert_eq!([picture.pixel(19, 19), picture.pixel(20, 20)], [[255, 0, 0], [0, 0, 0]], "{line}");
        let widget = scene.tree.get(scene.tree.slot(1).unwrap());
        assert!(!widget.look.clip && !widget.look.reports && !scene.is_changing(true), "{line}");
    }
    let mut scene = scene(40, 40);
    scene.commit(&parse(&start.replace("number width 1 20", "integer width 1 20")).unwrap()).unwrap();
    scene.frame(0.0);
    assert_eq!(Picture::of(&scene).pixel(19, 19), [255, 0, 0]);
}

#[test]
fn a_wire_that_is_cut_or_too_long_is_an_error() {
    let mut bytes = prologue().to_vec();
    encode(&parse(SCREEN).unwrap(), &mut bytes);
    for end in 9..bytes.len() {
        let batches: Vec<_> = Reader::new(&bytes[..end]).unwrap().collect();
        assert_eq!(batches.len(), 1);
        assert!(batches[0].is_err(), "{end} bytes");
    }
    assert!(Reader::new(b"SLUICES").is_err());
    assert_eq!(Reader::new(b"SLUICES\x02").err().unwrap().message, "version 2 of the stream, not 1");
    let mut huge = prologue().to_vec();
    huge.extend(u32::MAX.to_le_bytes());
    huge.extend([0; 8]);
    assert!(Reader::new(&huge).unwrap().next().unwrap().unwrap_err().message.contains("limit is 16777216"));
}

#[test]
fn a_batch_that_breaks_a_rule_is_refused_as_a_whole_with_its_word() {
    let before = "create 1\ncreate 2\nplace 0 1 0\nplace 1 2 0\ndefine 1 { number width 5 }\n";
    let cases = [
        ("create 1", "there is a widget 1"),
        ("create 0", "0 is no number for a widget"),
        ("create -3", "-3 is no number for a widget"),
        ("place 0 9 0", "there is no widget 9"),
        ("place 9 1 0", "there is no widget 9"),
        ("place 2 1 0", "widget 1 would be inside itself"),
        ("place 1 1 0", "widget 1 would be inside itself"),
        ("place 0 1 2", "2 is no other child of 0"),
        ("place 0 1 1", "1 is no other child of 0"),
        ("remove 0", "there is no widget 0"),
        ("remove 1\nnumber width 2 5", "widget 2 has been removed"),
        ("remove 1\ncreate 2", "there is a widget 2"),
        ("remove 1\nfocus 1", "widget 1 has been removed"),
        ("style 1 7", "there is no style 7"),
        ("define 1 { }", "style 1 is defined already"),
        ("define 0 { }", "0 is no number for a style"),
        ("number width 3 5", "there is no widget 3"),
        ("transition x 1 5 0 9", "easing 9 is unknown"),
    ];
    for (line, problem) in cases {
        let mut tree = Tree::new();
        tree.commit(&parse(before).unwrap()).unwrap();
        let batch = parse(&format!("create 50\nplace 0 50 0\n{line}")).unwrap();
        let error = tree.commit(&batch).unwrap_err();
        assert!(error.message.contains(problem), "{line}: {error}");
        assert_eq!(tree.slot(50), None, "{line}: the batch was applied in part");
        assert_eq!(tree.len(), 2);
    }
    let words = |words: &[i32]| Batch { words: words.to_vec(), ..Batch::default() };
    for (batch, problem) in [
        (words(&[99]), "word 0: command 99 is unknown"),
        (words(&[1 | 1 << 8, 5]), "command 257 is unknown"),
        (words(&[1]), "a word is missing"),
        (words(&[1, 5, 4 | 12 << 8, 5]), "word 2: a word is missing"),
        (words(&[1, 5, 7 | 60 << 8, 5, 0]), "the batch has no string 0"),
        (words(&[11, 5, 100, 0]), "a word is missing"),
        (words(&[11, 5, -1]), "a word is missing"),
        (words(&[11, 5, 2, 1, 5]), "command 1 in a style"),
        (words(&[11, 5, 1, 4 | 12 << 8]), "a word is missing"),
    ] {
        let mut tree = Tree::new();
        let error = tree.commit(&batch).unwrap_err();
        assert!(error.message.contains(problem), "{batch:?}: {error}");
        assert!(tree.is_empty());
    }
}

#[test]
fn a_removed_number_serves_again_from_the_next_batch_on() {
    let mut scene = scene(20, 20);
    let box_of = |color: &str| {
        format!("create 1\nplace 0 1 0\nnumber width 1 20\nnumber height 1 20\ninteger background 1 {color}")
    };
    scene.commit(&parse(&box_of("#ff0000ff")).unwrap()).unwrap();
    scene.frame(0.0);
    scene.commit(&parse("remove 1").unwrap()).unwrap();
    scene.commit(&parse(&box_of("#0000ffff")).unwrap()).unwrap();
    scene.frame(16.0);
    assert_eq!(Picture::of(&scene).pixel(10, 10), [0, 0, 255]);
}

#[test]
fn a_thousand_levels_are_neither_drawn_nor_a_crash() {
    let mut text = String::from("create 1\nplace 0 1 0\n");
    for id in 2..=1000 {
        let (above, size) = (id - 1, "10\n");
        writeln!(text, "create {id}\nplace {above} {id} 0\nnumber width {id} {size}number height {id} {size}").unwrap();
        writeln!(text, "integer background {id} #ff0000ff").unwrap();
    }
    let run = move || {
        let mut scene = scene(20, 20);
        scene.commit(&parse(&text).unwrap()).unwrap();
        scene.frame(0.0);
        assert_eq!(Picture::of(&scene).pixel(5, 5), [255, 0, 0]);
        scene.commit(&parse("remove 1").unwrap()).unwrap();
        scene.frame(16.0);
        assert_eq!(Picture::of(&scene).pixel(5, 5), [0, 0, 0]);
    };
    // The player's own thread has as much.
    std::thread::Builder::new().stack_size(128 << 20).spawn(run).unwrap().join().unwrap();
}

/// Words that often begin with a command, and name few numbers: most batches go on for a while.
fn words() -> impl Strategy<Value = Vec<i32>> {
    let property = prop_oneof![1..90_i32, Just(0), Just(255)];
    let head = (1..17_i32, property).prop_map(|(command, property)| match command {
        4..=8 | 13..=15 => command | property << 8,
        _ => command,
    });
    let number =
        prop_oneof![0..6_i32, Just(-1), any::<i32>(), any::<f32>().prop_map(|float| float.to_bits().cast_signed())];
    let command = (head, prop::collection::vec(number, 1..8)).prop_map(|(head, rest)| {
        let length = match head & 0xff {
            1 | 3 | 8 | 12 | 15 => 1,
            2 => 3,
            13 => 4,
            14 => 7,
            _ => 2,
        };
        // Now and then a word too many or too few.
        std::iter::once(head).chain(rest.into_iter().cycle().take(length)).collect::<Vec<i32>>()
    });
    prop::collection::vec(command, 0..30).prop_map(|commands| commands.concat())
}

/// All that a tree says of itself.
fn state(tree: &Tree) -> Vec<(i32, Option<i32>, Vec<i32>)> {
    use sluice_player::stream::Known as _;
    let children = |id| {
        let slot = tree.slot(id)?;
        Some(tree.get(slot).children.iter().map(|child| tree.get(*child).id).collect())
    };
    (0..8).map(|id| (tree.focus(), tree.parent_of(id), children(id).unwrap_or_default())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_of_chance_neither_panic_nor_apply_half(batches in prop::collection::vec(words(), 1..4), raw in any::<Vec<i32>>()) {
        let mut scene = scene(32, 32);
        let start = "create 1\ncreate 2\nplace 0 1 0\nplace 1 2 0\ndefine 1 { number width 5; integer background #ff0000ff }";
        scene.commit(&parse(start).unwrap()).unwrap();
        for (index, words) in batches.into_iter().chain([raw]).enumerate() {
            let batch = Batch { words, strings: vec!["text".into(), "90 #ff0000ff 0, #00ff00ff 1".into()], cause: 0 };
            let before = state(&scene.tree);
            if scene.commit(&batch).is_err() {
                prop_assert_eq!(before, state(&scene.tree));
            } else {
                let again = parse(&print(&batch)).unwrap();
                // Numbers that are not a number have one form alone in the text.
                prop_assert_eq!(print(&again), print(&batch));
            }
            scene.frame(index as f64 * 100.0);
        }
    }

    #[test]
    fn children_have_the_order_of_a_list(batches in prop::collection::vec(prop::collection::vec((0..9_i32, 0..9_i32, 0..9_i32, any::<bool>()), 1..12), 1..6)) {
        let mut tree = Tree::new();
        // Children by parent, of widgets that there are.
        let mut lists: std::collections::BTreeMap<i32, Vec<i32>> = [(0, Vec::new())].into();
        for commands in batches {
            let mut text = String::new();
            let mut gone = std::collections::BTreeSet::new();
            for (parent, id, before, removes) in commands {
                let id = id + 1;
                if gone.contains(&id) || !lists.contains_key(&parent) {
                    continue;
                }
                lists.entry(id).or_insert_with(|| {
                    writeln!(text, "create {id}").unwrap();
                    Vec::new()
                });
                if removes {
                    writeln!(text, "remove {id}").unwrap();
                    let mut below = vec![id];
                    while let Some(id) = below.pop() {
                        below.extend(lists.remove(&id).unwrap_or_default());
                        gone.insert(id);
                    }
                    for list in lists.values_mut() {
 list.retain(|other| *other != id);
}
                    continue;
                }
                let mut above = Some(parent);
                while let Some(id) = above.filter(|above| *above != id) {
                    above = lists.iter().find(|(_, list)| list.contains(&id)).map(|(parent, _)| *parent);
                }
                if above.is_some() {
                    continue;
                }
                let before = lists[&parent].iter().copied().find(|other| *other == before && *other != id).unwrap_or(0);
                writeln!(text, "place {parent} {id} {before}").unwrap();
                for list in lists.values_mut() {
 list.retain(|other| *other != id);
}
                let list = lists.get_mut(&parent).unwrap();
                let index = list.iter().position(|other| *other == before).unwrap_or(list.len());
                list.insert(index, id);
            }
            tree.commit(&parse(&text).unwrap()).unwrap();
            for (id, list) in &lists {
                let children = &tree.get(tree.slot(*id).unwrap()).children;
                let ids: Vec<i32> = children.iter().map(|child| tree.get(*child).id).collect();
                prop_assert_eq!(&ids, list, "children of {} after\n{}", id, text);
            }
            prop_assert_eq!(tree.len(), lists.len() - 1);
        }
    }

    #[test]
    fn bytes_of_chance_are_no_panic(bytes in any::<Vec<u8>>()) {
        let stream = [prologue().as_slice(), &bytes].concat();
        for batch in Reader::new(&stream).unwrap() {
            let _ = batch;
        }
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }
}
