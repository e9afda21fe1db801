//! A profile as a `.cpuprofile`, which developer tools open. Tracks stand one after the other.

use serde::Serialize;
use sluice_profiles::Profile;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'p> {
    nodes: Vec<Node<'p>>,
    start_time: u64,
    end_time: u64,
    samples: Vec<u32>,
    time_deltas: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node<'p> {
    id: u32,
    call_frame: CallFrame<'p>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    position_ticks: Vec<Ticks>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame<'p> {
    function_name: &'p str,
    script_id: &'static str,
    url: &'p str,
    line_number: i64,
    column_number: i64,
}

#[derive(Serialize)]
struct Ticks {
    line: u32,
    ticks: u32,
}

/// `lines`: whether to say which lines were hit. They are of all samples, and so of no part of them.
pub fn cpuprofile(profile: &Profile, lines: bool) -> Vec<u8> {
    let id = |node: u32| node.saturating_add(1);
    let mut nodes: Vec<Node<'_>> = (0..)
        .zip(profile.nodes())
        .map(|(at, node)| {
            let frame = &profile.frames()[node.frame as usize];
            let call_frame = CallFrame {
                function_name: &frame.function,
                script_id: "0",
                url: &frame.url,
                line_number: i64::from(frame.line) - 1,
                column_number: i64::from(frame.column) - 1,
            };
            Node { id: id(at), call_frame, children: Vec::new(), position_ticks: Vec::new() }
        })
        .collect();
    for (at, node) in (0..).zip(profile.nodes()).skip(1) {
        nodes[node.parent as usize].children.push(id(at));
    }
    for ticks in profile.ticks().iter().filter(|_| lines) {
        nodes[ticks.node as usize].position_ticks.push(Ticks { line: ticks.line, ticks: ticks.count });
    }
    let samples = profile.tracks.iter().flat_map(|track| &track.samples).map(|node| id(*node)).collect();
    // A delta is the time since the sample before; the last sample's time is until the end.
    let spent_us = || profile.tracks.iter().flat_map(|track| &track.spent_us).copied();
    let mut time_deltas: Vec<u32> = std::iter::once(0).chain(spent_us()).collect();
    time_deltas.pop();
    let end_time = spent_us().map(u64::from).sum();
    let file = File { nodes, start_time: 0, end_time, samples, time_deltas };
    // These types have string keys and plain values.
    serde_json::to_vec(&file).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_was_written_reads_as_the_same() {
        let node = |id: u32, name: &str, line: i32, children: &[u32]| {
            json!({
                "id": id, "children": children,
                "callFrame": { "functionName": name, "url": "file:///srv/a.js", "lineNumber": line, "columnNumber": 3 },
                "positionTicks": [{ "line": line + 2, "ticks": 4 }],
            })
        };
        let root =
            json!({ "id": 1, "children": [2], "callFrame": { "functionName": "(root)", "url": "", "lineNumber": -1 } });
        let text = json!({
            "nodes": [root, node(2, "f", 4, &[3]), node(3, "g", 9, &[])],
            "samples": [2, 3, 2], "timeDeltas": [10, 20, 30], "startTime": 1000, "endTime": 1100,
        });
        let mut profile = Profile::default();
        for name in ["worker 1", "worker 2"] {
            profile.read(name, Value::to_string(&text).as_bytes()).unwrap();
        }
        let mut again = Profile::default();
        again.read("both", cpuprofile(&profile, true).as_slice()).unwrap();
        assert_eq!(again.frames(), profile.frames());
        assert_eq!(again.nodes(), profile.nodes());
        assert_eq!(again.ticks(), profile.ticks());
        assert_eq!(again.self_us(), profile.self_us());
        assert_eq!(again.tracks[0].samples.len(), 6);
        let without: Value = serde_json::from_slice(&cpuprofile(&profile, false)).unwrap();
        assert_eq!(without.pointer("/nodes/1/positionTicks"), None);
    }

    #[test]
    fn a_profile_of_nothing_is_one() {
        let text: Value = serde_json::from_slice(&cpuprofile(&Profile::default(), true)).unwrap();
        assert_eq!(text["samples"], json!([]));
    }
}
