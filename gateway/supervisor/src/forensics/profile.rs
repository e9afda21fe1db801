//! A CPU profile from V8, and its hottest functions.

use std::collections::HashMap;
use std::fmt;

use serde_json::Value;
use sluice_profiles::Owner;

use super::places::{RawFrame, Script};
use super::{Frame, Why};

/// Maximum size of the CPU profile of a stuck worker, bytes.
const JSON_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Functions of a profile that are reported by name.
const HOTTEST_MAX: usize = 10;

/// A short CPU profile.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    /// Content of a `.cpuprofile` file, at most 8 MiB; its places are those of the code that ran.
    pub(crate) json: Vec<u8>,
    /// Functions by the time spent in themselves, in milliseconds, most first. A frame is the function's beginning.
    /// `(garbage collector)` and `(program)` stand for V8's own work.
    pub(crate) hottest: Vec<(Frame, u32)>,
}

/// A CPU profile before its places are mapped.
pub(super) struct RawProfile {
    pub(super) json: Vec<u8>,
    profile: sluice_profiles::Profile,
}

/// Parses the answer to `Profiler.stop`.
pub(super) fn read(answer: &str) -> Result<RawProfile, Why> {
    let unreadable = |error: &dyn fmt::Display| Why::BadAnswer("Profiler.stop", error.to_string());
    let mut message: Value = serde_json::from_str(answer).map_err(|error| unreadable(&error))?;
    let json = message.pointer_mut("/result/profile").map(Value::take).unwrap_or_default().to_string().into_bytes();
    if json.len() > JSON_BYTES_MAX {
        return Err(Why::TooLarge);
    }
    let mut profile = sluice_profiles::Profile::default();
    profile.read("", &*json).map_err(|error| unreadable(&error))?;
    Ok(RawProfile { json, profile })
}

impl RawProfile {
    /// Functions as in [`Profile::hottest`], unmapped. A script is found by its URL, the only part of it that the
    /// reader keeps.
    pub(super) fn hottest(&self, scripts: &HashMap<String, Script>) -> Vec<(RawFrame, u32)> {
        let ids: HashMap<&str, &str> = scripts.iter().map(|(id, script)| (&*script.url, &**id)).collect();
        let frames = self.profile.frames();
        // One function is several nodes where it is called in several ways.
        let mut self_us = vec![0_u64; frames.len()];
        for (node, us) in self.profile.nodes().iter().zip(self.profile.self_us()) {
            self_us[node.frame as usize] += us;
        }
        let mut functions: Vec<(RawFrame, u32)> = frames
            .iter()
            .zip(self_us)
            .filter(|(frame, us)| *us > 0 && !matches!(frame.owner, Owner::Root | Owner::Idle))
            .map(|(frame, us)| {
                let raw = RawFrame {
                    function: frame.function.clone(),
                    script: ids.get(&*frame.url).copied().unwrap_or_default().to_owned(),
                    // V8's own entries have no place.
                    line: frame.line.checked_sub(1).unwrap_or(u32::MAX),
                    column: frame.column.checked_sub(1).unwrap_or(u32::MAX),
                };
                (raw, u32::try_from(us / 1000).unwrap_or(u32::MAX))
            })
            .collect();
        functions.sort_by(|(a, a_ms), (b, b_ms)| b_ms.cmp(a_ms).then_with(|| a.cmp(b)));
        functions.truncate(HOTTEST_MAX);
        functions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_the_time_in_themselves_with_the_script_that_has_their_url() {
        let node = |id: u32, name: &str, line: i32| {
            serde_json::json!({ "id": id, "callFrame": {
                "functionName": name, "scriptId": "7", "url": if line < 0 { "" } else { "file:///a.js" },
                "lineNumber": line, "columnNumber": line } })
        };
        let answer = serde_json::json!({ "id": 1, "result": { "profile": {
            "nodes": [node(1, "(root)", -1), node(2, "slow", 4), node(3, "quick", 9), node(4, "slow", 4), node(5, "(program)", -1)],
            "startTime": 0, "endTime": 915_000, "samples": [2, 3, 4, 5, 1], "timeDeltas": [900_000, 5000, 1000, 7000, 2000] } } });
        let taken = read(&answer.to_string()).unwrap();
        let script = Script { url: "file:///a.js".to_owned(), map_url: String::new() };
        let hottest = taken.hottest(&HashMap::from([("7".to_owned(), script)]));
        let of = |at: usize| {
            (hottest[at].0.function.as_str(), hottest[at].0.script.as_str(), hottest[at].0.line, hottest[at].1)
        };
        assert_eq!([of(0), of(1), of(2)], [("slow", "7", 4, 12), ("(program)", "", u32::MAX, 2), ("quick", "7", 9, 1)]);
        assert_eq!(serde_json::from_slice::<Value>(&taken.json).unwrap(), answer["result"]["profile"]);
    }

    #[test]
    fn nonsense_is_an_error_and_not_a_panic() {
        for answer in ["", "{}", "[]", r#"{"result":{}}"#, r#"{"result":{"profile":{"nodes":[{"id":-1}]}}}"#] {
            assert!(matches!(read(answer), Err(Why::BadAnswer(..))), "{answer}");
        }
        let deltas = r#"{"result":{"profile":{"nodes":[{"id":1,"callFrame":{}}],"samples":[1,1,1],
            "timeDeltas":[0,9223372036854775807,-4],"startTime":0,"endTime":9223372036854775807}}}"#;
        assert_eq!(read(deltas).unwrap().hottest(&HashMap::new()).len(), 1);
    }
}
