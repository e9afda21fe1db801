//! Profiles for tests, in few words.

use serde_json::{Value, json};

use crate::Profile;

/// A function within a stack.
pub(crate) struct Call {
    name: &'static str,
    url: &'static str,
    line: i64,
    callers: &'static [usize],
    ticks: &'static [(u32, u32)],
}

impl Call {
    /// `callers` is empty for what nobody calls, else the index of the call around it. `line` counts from 1; 0 for native code.
    pub(crate) fn new(name: &'static str, url: &'static str, line: i64, callers: &'static [usize]) -> Self {
        Self { name, url, line, callers, ticks: &[] }
    }

    pub(crate) fn below(self, callers: &'static [usize]) -> Self {
        Self { callers, ..self }
    }

    pub(crate) fn ticks(self, ticks: &'static [(u32, u32)]) -> Self {
        Self { ticks, ..self }
    }
}

/// The text of a `.cpuprofile`; samples are indexes of calls with the microseconds until the next one.
pub(crate) fn cpuprofile(calls: &[Call], samples: &[(usize, i64)]) -> Value {
    let id = |call: usize| call + 2;
    let children = |of: Option<usize>| -> Vec<usize> {
        let is_child = |call: &Call| call.callers.first().copied() == of;
        calls.iter().enumerate().filter(|(_, call)| is_child(call)).map(|(at, _)| id(at)).collect()
    };
    let frame = |name: &str, url: &str, line: i64| json!({ "functionName": name, "url": url, "scriptId": "0", "lineNumber": line - 1, "columnNumber": if line > 0 { 0 } else { -1 } });
    let mut nodes = vec![json!({ "id": 1, "callFrame": frame("(root)", "", 0), "children": children(None) })];
    for (at, call) in calls.iter().enumerate() {
        let ticks: Vec<Value> =
            call.ticks.iter().map(|(line, ticks)| json!({ "line": line, "ticks": ticks })).collect();
        nodes.push(json!({ "id": id(at), "callFrame": frame(call.name, call.url, call.line), "hitCount": 1,
            "children": children(Some(at)), "positionTicks": ticks }));
    }
    let mut deltas = vec![0];
    deltas.extend(samples.iter().map(|(_, us)| *us));
    let end: i64 = deltas.iter().sum();
    deltas.pop();
    json!({ "nodes": nodes, "startTime": 1_000_000, "endTime": 1_000_000 + end, "timeDeltas": deltas,
        "samples": samples.iter().map(|(call, _)| id(*call)).collect::<Vec<_>>() })
}

pub(crate) fn profile(calls: &[Call], samples: &[(usize, i64)]) -> Profile {
    let mut profile = Profile::default();
    profile.read("test", cpuprofile(calls, samples).to_string().as_bytes()).expect("a profile");
    profile
}
