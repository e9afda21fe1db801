//! Time by function of the app and of its packages. The work of Node.js and native code for a function counts as the function's,
//! and a collection as that of the function which ran before it. Pure.

use std::collections::HashMap;

use serde::Serialize;
use sluice_profiles::{Owner, Profile};

/// A function, and what it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionCost {
    /// Name in V8.
    pub function: String,
    /// File in which it was written; the whole path.
    pub file: String,
    /// The line that was hit most often, else that of the function. From 1.
    pub line: u32,
    /// `app`, or the name of the package.
    pub package: String,
    /// Microseconds, or bytes, in itself, native code and that of Node.js included.
    pub own: u64,
    /// Microseconds of the collector right after it.
    pub collected: u64,
}

#[derive(Default)]
struct Sums {
    own: u64,
    collected: u64,
    lines: HashMap<u32, u32>,
}

/// Functions, those that took most time first.
pub fn places(profile: &Profile) -> Vec<FunctionCost> {
    let nodes = profile.nodes();
    // The innermost frame on each stack that somebody can mend. Callers come before those whom they call.
    let mut own_frame: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let frame = &profile.frames()[node.frame as usize];
        let is_own = matches!(frame.owner, Owner::App | Owner::Package(_)) && frame.line > 0 && !is_made_up(&frame.url);
        let around = if at == 0 { None } else { own_frame[node.parent as usize] };
        own_frame.push(if is_own { Some(node.frame) } else { around });
    }
    let mut sums: HashMap<u32, Sums> = HashMap::new();
    for track in &profile.tracks {
        let mut latest = None;
        for (node, spent) in track.samples.iter().zip(&track.spent_us) {
            let spent = u64::from(*spent);
            match (&profile.frame(*node).owner, own_frame[*node as usize]) {
                (Owner::Collector, None) => {
                    if let Some(frame) = latest {
                        sums.entry(frame).or_default().collected += spent;
                    }
                }
                (_, Some(frame)) => {
                    latest = Some(frame);
                    sums.entry(frame).or_default().own += spent;
                }
                (Owner::Idle, None) => latest = None,
                _ => {}
            }
        }
    }
    for ticks in profile.ticks() {
        let frame = nodes[ticks.node as usize].frame;
        if let Some(sum) = sums.get_mut(&frame) {
            *sum.lines.entry(ticks.line).or_default() += ticks.count;
        }
    }
    let mut places: Vec<FunctionCost> = sums.into_iter().map(|(frame, sums)| place(profile, frame, &sums)).collect();
    places.sort_by(|a, b| {
        let taken = |place: &FunctionCost| place.own + place.collected;
        taken(b).cmp(&taken(a)).then_with(|| (&a.file, a.line, &a.function).cmp(&(&b.file, b.line, &b.function)))
    });
    places
}

fn place(profile: &Profile, frame: u32, sums: &Sums) -> FunctionCost {
    let frame = &profile.frames()[frame as usize];
    let hottest = sums.lines.iter().max_by_key(|(line, count)| (**count, std::cmp::Reverse(**line)));
    FunctionCost {
        function: if frame.function.is_empty() { "(anonymous)".to_owned() } else { frame.function.clone() },
        file: sluice_profiles::path_of(&frame.url),
        line: hottest.map_or(frame.line, |(line, _)| *line),
        package: frame.owner.name().to_owned(),
        own: sums.own,
        collected: sums.collected,
    }
}

/// Frames that stand for React components are of no file.
fn is_made_up(url: &str) -> bool {
    url.starts_with("sluice-component:")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &serde_json::Value) -> Profile {
        let mut profile = Profile::default();
        profile.read("worker 1", text.to_string().as_bytes()).unwrap();
        profile
    }

    #[test]
    fn native_code_and_collections_count_for_the_function_that_they_are_of() {
        let frame = |name: &str, url: &str, line: i32| json!({ "functionName": name, "url": url, "lineNumber": line, "columnNumber": 0 });
        let profile = read(&json!({
            "nodes": [
                { "id": 1, "callFrame": frame("(root)", "", -1), "children": [2, 5, 6] },
                { "id": 2, "callFrame": frame("handle", "file:///srv/app.js", 9), "children": [3, 7],
                  "positionTicks": [{ "line": 14, "ticks": 3 }, { "line": 12, "ticks": 1 }] },
                { "id": 3, "callFrame": frame("readFileSync", "node:fs", 400), "children": [4] },
                { "id": 4, "callFrame": frame("open", "", -1) },
                { "id": 5, "callFrame": frame("(garbage collector)", "", -1) },
                { "id": 6, "callFrame": frame("(idle)", "", -1) },
                { "id": 7, "callFrame": frame("parse", "file:///srv/node_modules/qs/lib/parse.js", 4) },
            ],
            "samples": [2, 4, 5, 7, 5, 6, 5],
            "timeDeltas": [0, 10, 20, 5, 40, 7, 100],
            "startTime": 0, "endTime": 183,
        }));
        let found = places(&profile);
        let of = |at: usize| (found[at].function.as_str(), found[at].line, found[at].own, found[at].collected);
        assert_eq!(of(0), ("parse", 5, 40, 7));
        assert_eq!(of(1), ("handle", 14, 30, 5));
        assert_eq!((found.len(), found[0].package.as_str(), found[1].package.as_str()), (2, "qs", "app"));
        assert_eq!(found[1].file, "/srv/app.js");
    }
}
