//! CPU profiles within a trace of Chrome: each thread's comes in chunks, among events of every other kind.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::merge::Raw;
use crate::profile::{Profile, Ticks};
use crate::read::{JsonNode, whole};

/// Maximum number of threads of a trace whose profiles are read.
const THREADS_MAX: usize = 1024;

/// The profiles of a trace so far, by process and the trace's id for the profile.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    threads: BTreeMap<(u64, String), Raw>,
}

impl Trace {
    /// Takes what an event says of a profile. A chunk that is not as it should be is left out; if others need it, they say so.
    pub(crate) fn take(&mut self, profile: &mut Profile, event: &Value) {
        let name = event.get("name").and_then(Value::as_str);
        let (Some(name @ ("Profile" | "ProfileChunk")), Some(data)) = (name, event.pointer("/args/data")) else {
            return;
        };
        let id = event.get("id").map(Value::to_string).unwrap_or_default();
        let key = (event.get("pid").and_then(Value::as_u64).unwrap_or(0), id);
        if self.threads.len() >= THREADS_MAX && !self.threads.contains_key(&key) {
            return;
        }
        let raw = self.threads.entry(key).or_default();
        if let Some(time) = data.get("startTime").and_then(Value::as_f64) {
            raw.start_us = whole(time);
        }
        if let Some(time) = data.get("endTime").and_then(Value::as_f64) {
            raw.end_us = whole(time);
        }
        if name == "ProfileChunk" {
            take_chunk(data, profile, raw);
        }
    }

    /// Each thread that has samples, with a name for it.
    pub(crate) fn threads(self) -> Vec<(String, Raw)> {
        let sampled = self.threads.into_iter().filter(|(_, raw)| !raw.samples.is_empty());
        sampled
            .map(|((process, id), raw)| (format!("process {process}, profile {}", id.trim_matches('"')), raw))
            .collect()
    }
}

fn take_chunk(data: &Value, profile: &mut Profile, raw: &mut Raw) {
    for node in list(data.pointer("/cpuProfile/nodes")) {
        if let Ok(node) = JsonNode::deserialize(node) {
            profile.take_node(node, raw);
        }
    }
    let samples: Vec<u32> = list(data.pointer("/cpuProfile/samples")).iter().filter_map(number).collect();
    let lines = list(data.get("lines")).iter().map(|line| number(line).unwrap_or(0));
    let ticks = samples.iter().zip(lines).filter(|(_, line)| *line > 0);
    raw.ticks.extend(ticks.map(|(node, line)| Ticks { node: *node, line, count: 1 }));
    raw.samples.extend(samples);
    raw.deltas_us.extend(list(data.get("timeDeltas")).iter().map(|delta| whole(delta.as_f64().unwrap_or(0.0))));
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn number(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn chunk(id: &str, data: &Value) -> Value {
        json!({ "name": "ProfileChunk", "ph": "P", "pid": 7, "id": id, "args": { "data": data } })
    }

    fn node(id: u32, name: &str, parent: Option<u32>) -> Value {
        let frame = json!({ "functionName": name, "url": if id == 1 { "" } else { "/a.js" }, "lineNumber": 3, "columnNumber": 0 });
        match parent {
            Some(parent) => json!({ "id": id, "callFrame": frame, "parent": parent }),
            None => json!({ "id": id, "callFrame": { "functionName": name } }),
        }
    }

    #[test]
    fn a_trace_has_a_track_for_each_thread_that_was_profiled() {
        let events = json!([
            { "name": "odd", "args": { "data": "text" } }, 7, null,
            { "name": "Profile", "pid": 7, "id": "0x1", "args": { "data": { "startTime": 1000 } } },
            chunk("0x1", &json!({ "cpuProfile": { "nodes": [node(1, "(root)", None), node(2, "f", Some(1))], "samples": [2, 2] },
                "timeDeltas": [100, 200], "lines": [5, 6] })),
            chunk("0x2", &json!({ "cpuProfile": { "nodes": [node(1, "(root)", None), node(2, "g", Some(1))], "samples": [2] },
                "timeDeltas": [50] })),
            chunk("0x1", &json!({ "cpuProfile": { "nodes": [node(3, "h", Some(2))], "samples": [3, 2] }, "timeDeltas": [300, 400],
                "lines": [9, 0] })),
        ]);
        for text in [events.to_string(), json!({ "metadata": {}, "traceEvents": events }).to_string()] {
            let mut profile = Profile::default();
            profile.read("trace.json", text.as_bytes()).unwrap();
            let [first, second] = profile.tracks.as_slice() else { panic!("{:?}", profile.tracks) };
            assert_eq!(
                (first.name.as_str(), second.name.as_str()),
                ("trace.json, process 7, profile 0x1", "trace.json, process 7, profile 0x2")
            );
            let names: Vec<_> = first.samples.iter().map(|node| profile.frame(*node).function.as_str()).collect();
            assert_eq!(names, ["f", "f", "h", "f"]);
            assert_eq!((first.first_us, first.spent_us.as_slice()), (100, [200, 300, 400, 0].as_slice()));
            let lines: Vec<_> = profile.ticks().iter().map(|ticks| (ticks.line, ticks.count)).collect();
            assert_eq!(lines, [(5, 1), (6, 1), (9, 1)]);
            assert_eq!(profile.frame(first.samples[0]).line, 4);
        }
    }

    #[test]
    fn a_trace_without_a_profile_and_one_that_lacks_a_chunk_are_errors() {
        let lacking = chunk("0x1", &json!({ "cpuProfile": { "samples": [2] }, "timeDeltas": [50] }));
        for (events, error) in
            [(json!([]), "it contains no CPU profile"), (json!([lacking]), "node 2 is named and is not in the tree")]
        {
            let error_now = Profile::default().read("t", events.to_string().as_bytes()).unwrap_err().to_string();
            assert!(error_now.starts_with(error), "{error_now}");
        }
    }
}
