use std::collections::HashSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::*;
use crate::ROOT;
use crate::testing::{Call, cpuprofile, profile};

const APP: &str = "file:///srv/app.js";

fn read(value: &Value) -> Result<Profile, ReadError> {
    let mut profile = Profile::default();
    profile.read("test", value.to_string().as_bytes()).map(|()| profile)
}

fn calls() -> [Call; 3] {
    [
        Call::new("handle", APP, 10, &[]),
        Call::new("match", APP, 20, &[0]).ticks(&[(21, 3)]),
        Call::new("(idle)", "", 0, &[]),
    ]
}

#[test]
fn stacks_and_times_are_what_the_file_says() {
    let profile = profile(&calls(), &[(0, 500), (1, 700), (2, 300)]);
    let [track] = profile.tracks.as_slice() else { panic!() };
    assert_eq!((track.name.as_str(), track.first_us, track.duration_us(), track.interval_us()), ("test", 0, 1500, 500));
    let seen: Vec<_> = track.iter().map(|(node, at, us)| (profile.frame(node).function.as_str(), at, us)).collect();
    assert_eq!(seen, [("handle", 0, 500), ("match", 500, 700), ("(idle)", 1200, 300)]);
    let parent = profile.nodes()[track.samples[1] as usize].parent;
    assert_eq!(parent, track.samples[0]);
    assert_eq!(profile.nodes()[parent as usize].parent, ROOT);
    assert_eq!(profile.ticks(), [Ticks { node: track.samples[1], line: 21, count: 3 }]);
    assert_eq!(profile.self_us()[track.samples[1] as usize], 700);
}

#[test]
fn profiles_share_stacks_and_keep_their_tracks() {
    let mut both = profile(&calls(), &[(0, 500), (1, 700)]);
    let (nodes, frames) = (both.nodes().len(), both.frames().len());
    // The other one has the same functions in another order.
    let [handle, matches, idle] = calls();
    let other = [idle, matches.below(&[2]), handle];
    both.read("worker 2", cpuprofile(&other, &[(1, 40), (0, 60)]).to_string().as_bytes()).unwrap();
    assert_eq!((both.nodes().len(), both.frames().len()), (nodes, frames));
    assert_eq!(both.tracks.len(), 2);
    assert_eq!(both.tracks[0].samples[1], both.tracks[1].samples[0]);
    assert_eq!(both.ticks()[0].count, 6);
}

#[test]
fn samples_are_in_the_order_of_their_times() {
    let mut value = cpuprofile(&calls(), &[(0, 0), (1, 0), (2, 0)]);
    value["timeDeltas"] = json!([100, 900, -400]);
    value["endTime"] = json!(1_001_500);
    let profile = read(&value).unwrap();
    let seen: Vec<_> =
        profile.tracks[0].iter().map(|(node, at, us)| (profile.frame(node).function.as_str(), at, us)).collect();
    assert_eq!(seen, [("handle", 100, 500), ("(idle)", 600, 400), ("match", 1000, 500)]);
}

#[test]
fn times_that_are_missing_are_spread_and_an_end_before_the_last_sample_is_its_time() {
    let mut value = cpuprofile(&calls(), &[(0, 300), (1, 300), (2, 300)]);
    value["timeDeltas"] = json!([]);
    assert_eq!(read(&value).unwrap().tracks[0].spent_us, [300, 300, 0]);
    value["timeDeltas"] = json!([0, 1.4, 2]);
    value["endTime"] = json!(0);
    assert_eq!(read(&value).unwrap().tracks[0].spent_us, [1, 2, 0]);
    value["timeDeltas"] = json!([0, i64::MAX, i64::MAX]);
    assert_eq!(read(&value).unwrap().tracks[0].spent_us[0], u32::MAX);
}

#[test]
fn deep_and_wide_ids_are_read() {
    // Deeper than any thread's stack, with ids from far apart.
    let count = 40_000_u32;
    let id = |at: u32| if at.is_multiple_of(2) { at } else { u32::MAX - at };
    let nodes: Vec<_> = (0..count)
        .map(|at| {
            let frame =
                json!({ "functionName": format!("f{}", at % 7), "url": APP, "lineNumber": 1, "columnNumber": 1 });
            let children: Vec<u32> = (at + 1 < count).then(|| id(at + 1)).into_iter().collect();
            json!({ "id": id(at), "callFrame": frame, "children": children })
        })
        .collect();
    let last = id(count - 1);
    let profile =
        read(&json!({ "nodes": nodes, "samples": [last], "timeDeltas": [0], "startTime": 0, "endTime": 9 })).unwrap();
    assert_eq!(profile.nodes().len(), count as usize + 1);
    assert_eq!(profile.frames().len(), 8);
    assert_eq!(profile.nodes().iter().collect::<HashSet<_>>().len(), profile.nodes().len());
}

#[test]
fn parts_that_do_not_fit_are_errors() {
    let node = |id: u32, children: &[u32]| json!({ "id": id, "callFrame": {}, "children": children });
    let with = |nodes: Value, samples: Value| json!({ "nodes": nodes, "samples": samples, "timeDeltas": [0], "startTime": 0, "endTime": 1 });
    for (value, error) in [
        (json!({}), "it contains no CPU profile"),
        (json!([]), "it contains no CPU profile"),
        (json!({ "head": {}, "samples": [] }), "it has the format from before 2017"),
        (json!(7), "invalid type: integer `7`, expected a CPU profile or a trace"),
        (with(json!([node(1, &[])]), json!([2])), "node 2 is named and is not in the tree of calls"),
        (with(json!([node(1, &[9])]), json!([1])), "node 9 is named and is not in the tree of calls"),
        (with(json!([node(1, &[]), node(1, &[])]), json!([1])), "there are two nodes 1"),
        // Nobody calls these two but each other.
        (
            with(json!([node(1, &[]), node(2, &[3]), node(3, &[2])]), json!([3])),
            "node 3 is named and is not in the tree of calls",
        ),
        (with(json!([node(1, &[])]), json!([1, 1, 1])), "there are 3 samples and 1 times of samples (`timeDeltas`)"),
        (with(json!([{ "id": -1, "callFrame": {} }]), json!([])), "invalid value: integer `-1`, expected u32"),
        (with(json!([]), json!(["a"])), "invalid type: string \"a\", expected u32"),
    ] {
        let now = read(&value).map(|_| ()).unwrap_err().to_string();
        assert!(now.starts_with(error), "{now}, not {error}");
    }
    let text = cpuprofile(&calls(), &[(0, 1)]).to_string();
    for cut in 0..text.len() {
        assert!(Profile::default().read("cut", &text.as_bytes()[..cut]).is_err(), "{cut}");
    }
}

/// Chrome's developer tools save profiles and traces so.
#[test]
fn a_profile_that_gzip_has_packed_is_read_and_one_that_is_cut_off_is_an_error() {
    let text = cpuprofile(&calls(), &[(0, 500), (1, 700), (2, 300)]).to_string();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let mut profile = Profile::default();
    profile.read("packed", packed.as_slice()).unwrap();
    assert_eq!(profile.tracks[0].duration_us(), 1500);
    for cut in 0..packed.len() {
        assert!(Profile::default().read("cut", &packed[..cut]).is_err(), "{cut}");
    }
}

#[test]
fn a_node_with_two_callers_has_the_first() {
    let node = |id: u32, name: &str, children: &[u32]| json!({ "id": id, "callFrame": { "functionName": name }, "children": children });
    let nodes = [node(1, "(root)", &[2, 3]), node(2, "a", &[4]), node(3, "b", &[4]), node(4, "c", &[])];
    let profile =
        read(&json!({ "nodes": nodes, "samples": [4], "timeDeltas": [0], "startTime": 0, "endTime": 1 })).unwrap();
    let caller = profile.nodes()[profile.tracks[0].samples[0] as usize].parent;
    assert_eq!(profile.frame(caller).function, "a");
}

#[test]
fn lists_are_bounded() {
    let mut taken = Vec::new();
    let mut json = serde_json::Deserializer::from_str("[1,2,3]");
    let error = each(2, |number: u32| taken.push(number)).deserialize(&mut json).unwrap_err();
    assert!(error.to_string().starts_with("there are more than 2 of them"), "{error}");
    assert_eq!(taken, [1, 2]);
}
