//! A CPU profile as V8 gives it, and the functions that it names first.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::places::RawFrame;
use super::{Frame, Why};

/// The largest CPU profile that is kept of a stuck worker.
const JSON_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Functions of a profile that are told by name.
const HOTTEST_MAX: usize = 10;

/// A short CPU profile.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// The content of a `.cpuprofile` file, at most 8 MiB; places in it are those of the code that ran.
    pub(crate) json: Vec<u8>,
    /// Functions by the time spent in themselves, in milliseconds, most first. A frame is the function's beginning.
    /// `(garbage collector)` and `(program)` stand for V8's own work.
    pub(crate) hottest: Vec<(Frame, u32)>,
}

/// The same before its places are mapped.
pub(super) struct Taken {
    pub(super) json: Vec<u8>,
    pub(super) hottest: Vec<(RawFrame, u32)>,
}

/// Reads the answer to `Profiler.stop`.
pub(super) fn read(answer: &str) -> Result<Taken, Why> {
    let unreadable = |error: serde_json::Error| Why::BadAnswer("Profiler.stop", error.to_string());
    let mut message: Value = serde_json::from_str(answer).map_err(unreadable)?;
    let profile = message.pointer_mut("/result/profile").map(Value::take).unwrap_or_default();
    let json = serde_json::to_vec(&profile).map_err(unreadable)?;
    if json.len() > JSON_BYTES_MAX {
        return Err(Why::TooLarge);
    }
    let samples: Samples = serde_json::from_value(profile).map_err(unreadable)?;
    Ok(Taken { json, hottest: hottest(samples) })
}

fn hottest(samples: Samples) -> Vec<(RawFrame, u32)> {
    let mut self_us: HashMap<u64, i64> = HashMap::new();
    // A delta is the time since the sample before, which is the time spent where that one was.
    for (node, delta_us) in samples.samples.iter().zip(samples.time_deltas.iter().skip(1)) {
        let sum = self_us.entry(*node).or_default();
        *sum = sum.saturating_add((*delta_us).max(0));
    }
    // One function is several nodes where it is called in several ways.
    let mut functions: HashMap<RawFrame, i64> = HashMap::new();
    for node in samples.nodes {
        let us = self_us.get(&node.id).copied().unwrap_or(0);
        if us == 0 || matches!(node.call_frame.function_name.as_str(), "(root)" | "(idle)") {
            continue;
        }
        let CallFrame { function_name, script_id, line_number, column_number } = node.call_frame;
        let frame = RawFrame {
            function: function_name,
            script: script_id,
            // V8's own entries have no place, which it gives as -1.
            line: u32::try_from(line_number).unwrap_or(u32::MAX),
            column: u32::try_from(column_number).unwrap_or(u32::MAX),
        };
        let sum = functions.entry(frame).or_default();
        *sum = sum.saturating_add(us);
    }
    let mut functions: Vec<_> =
        functions.into_iter().map(|(frame, us)| (frame, u32::try_from(us / 1000).unwrap_or(u32::MAX))).collect();
    functions.sort_by(|(a, a_ms), (b, b_ms)| b_ms.cmp(a_ms).then_with(|| a.cmp(b)));
    functions.truncate(HOTTEST_MAX);
    functions
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    nodes: Vec<Node>,
    #[serde(default)]
    samples: Vec<u64>,
    #[serde(default)]
    time_deltas: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: u64,
    call_frame: CallFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    #[serde(default)]
    function_name: String,
    #[serde(default)]
    script_id: String,
    #[serde(default)]
    line_number: i64,
    #[serde(default)]
    column_number: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_to_the_function_of_the_sample_before() {
        let node = |id: u32, name: &str, line: i32| {
            serde_json::json!({ "id": id, "callFrame": {
                "functionName": name, "scriptId": "7", "url": "file:///a.js", "lineNumber": line, "columnNumber": line } })
        };
        let answer = serde_json::json!({ "id": 1, "result": { "profile": {
            "nodes": [node(1, "(root)", -1), node(2, "slow", 4), node(3, "quick", 9), node(4, "slow", 4), node(5, "(program)", -1)],
            "startTime": 0, "endTime": 100, "samples": [2, 3, 4, 5, 1], "timeDeltas": [900_000, 5000, 1000, 7000, 2000] } } });
        let taken = read(&answer.to_string()).unwrap();
        let hottest: Vec<_> = taken.hottest.iter().map(|(frame, ms)| (frame.function.as_str(), *ms)).collect();
        assert_eq!(hottest, [("slow", 12), ("(program)", 2), ("quick", 1)]);
        assert_eq!(serde_json::from_slice::<Value>(&taken.json).unwrap(), answer["result"]["profile"]);
    }

    #[test]
    fn nonsense_is_an_error_and_not_a_panic() {
        for answer in ["", "{}", "[]", r#"{"result":{}}"#, r#"{"result":{"profile":{"nodes":[{"id":-1}]}}}"#] {
            assert!(matches!(read(answer), Err(Why::BadAnswer(..))), "{answer}");
        }
        let deltas = r#"{"result":{"profile":{"nodes":[{"id":1,"callFrame":{}}],"samples":[1,1,9,1],
            "timeDeltas":[0,9223372036854775807,9223372036854775807,-4]}}}"#;
        assert_eq!(read(deltas).unwrap().hottest[0].1, u32::MAX);
    }
}
