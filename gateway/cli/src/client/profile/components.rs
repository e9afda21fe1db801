//! CPU time by React component: each sample of a profile belongs to the innermost component on its stack. Pure. With
//! `@sluice/react`, each component has a frame around all that is done for it, including the writing of its elements. With
//! react-dom, a component is what the renderer calls, and its work on the elements that come back belongs to nobody.

use std::collections::HashMap;

use serde::Serialize;
use sluice_profiles::{Frame, Owner, Profile, ROOT};

/// The file of the frames that stand for components (`packages/preload/src/profiles/profile.ts`).
const COMPONENT_URL: &str = "sluice-component:";
pub(super) const OUTSIDE: &str = "(outside of components)";
/// Functions of react-dom 19 that call components; React 18 has names that say nothing.
const CALLERS: [&str; 2] = ["renderWithHooks", "renderElement"];

/// CPU time of a component in a render.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentCpu {
    /// Name. Time of no component has a name in parentheses.
    pub component: String,
    /// Time in it, without the components below it, milliseconds.
    pub self_ms: f64,
    /// Time with them, milliseconds.
    pub total_ms: f64,
}

/// A component on a stack, and the one around it.
struct Instance {
    name: u32,
    around: Option<u32>,
}

#[derive(Default)]
struct Times {
    self_us: u64,
    total_us: u64,
}

/// Most time in themselves first. `self_us`: what was spent in each node itself.
pub fn by_component(profile: &Profile, self_us: &[u64]) -> Vec<ComponentCpu> {
    let mut names: Vec<String> = Vec::new();
    let mut indexes: HashMap<String, u32> = HashMap::new();
    let mut index_of = |name: String| {
        *indexes.entry(name).or_insert_with_key(|name| {
            names.push(name.clone());
            u32::try_from(names.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let nodes = profile.nodes();
    let mut instances: Vec<Instance> = Vec::new();
    // Callers come before those whom they call.
    let mut innermost: Vec<Option<u32>> = Vec::with_capacity(nodes.len());
    let mut times: HashMap<u32, Times> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let frame = profile.frame(u32::try_from(at).unwrap_or(ROOT));
        let around = if at == 0 { None } else { innermost[node.parent as usize] };
        let component = (at > 0).then(|| component_of(frame, profile.frame(node.parent))).flatten();
        let here = component.map_or(around, |name| {
            instances.push(Instance { name: index_of(name), around });
            u32::try_from(instances.len() - 1).ok()
        });
        innermost.push(here);
        let spent_us = self_us[at];
        if spent_us == 0 || frame.owner == Owner::Idle {
            continue;
        }
        let own =
            || if matches!(frame.owner, Owner::Collector | Owner::Program) { frame.owner.name() } else { OUTSIDE };
        let mut on_stack: Vec<u32> = std::iter::successors(here, |at| instances[*at as usize].around)
            .map(|at| instances[at as usize].name)
            .collect();
        if on_stack.is_empty() {
            on_stack.push(index_of(own().to_owned()));
        }
        times.entry(on_stack[0]).or_default().self_us += spent_us;
        // A component may be within itself, and has taken the time once all the same.
        on_stack.sort_unstable();
        on_stack.dedup();
        for name in on_stack {
            times.entry(name).or_default().total_us += spent_us;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "times of minutes are far below 2^52 µs")]
    let ms = |us: u64| us as f64 / 1000.0;
    let named = |(name, Times { self_us, total_us }): (u32, Times)| ComponentCpu {
        component: names[name as usize].clone(),
        self_ms: ms(self_us),
        total_ms: ms(total_us),
    };
    let mut components: Vec<_> = times.into_iter().map(named).collect();
    components.sort_by(|a, b| b.self_ms.total_cmp(&a.self_ms).then_with(|| a.component.cmp(&b.component)));
    components
}

fn component_of(frame: &Frame, parent: &Frame) -> Option<String> {
    let Frame { function, url, line, .. } = frame;
    if url == COMPONENT_URL {
        return (!function.is_empty()).then(|| function.clone());
    }
    let is_called = CALLERS.contains(&parent.function.as_str()) && is_react_dom(&parent.url);
    if !is_called || is_react_dom(url) || url.is_empty() || url.starts_with("node:") {
        return None;
    }
    if !function.is_empty() && function != "render" {
        return Some(function.clone());
    }
    let name = if function.is_empty() { "(anonymous)" } else { function };
    let file = url.rsplit('/').next().unwrap_or(url);
    Some(format!("{name} {file}:{line}"))
}

/// `…/react-dom-server.node.production.js`.
fn is_react_dom(url: &str) -> bool {
    let file = url.rsplit(['/', '\\']).next().unwrap_or(url);
    file.contains("react-dom-server")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A call: function, url, time in itself in milliseconds, calls.
    struct Call(&'static str, &'static str, u64, Vec<Call>);

    fn read(calls: Vec<Call>) -> Profile {
        let (mut nodes, mut samples, mut deltas_us) = (Vec::new(), Vec::new(), vec![0]);
        let mut add = |call: Call, parent: usize| {
            let mut open = vec![(call, parent)];
            while let Some((Call(name, url, self_ms, calls), parent)) = open.pop() {
                let id = nodes.len() + 1;
                nodes.push(json!({
                    "id": id, "parent": parent,
                    "callFrame": { "functionName": name, "url": url, "lineNumber": 6, "columnNumber": 0 },
                }));
                if self_ms > 0 {
                    samples.push(id);
                    deltas_us.push(self_ms * 1000);
                }
                open.extend(calls.into_iter().map(|call| (call, id)));
            }
        };
        add(Call("(root)", "", 0, calls), 0);
        nodes[0].as_object_mut().unwrap().remove("parent");
        // The last delta is the time until the profile's end.
        let end_us: u64 = deltas_us.iter().sum();
        deltas_us.pop();
        let text =
            json!({ "nodes": nodes, "samples": samples, "timeDeltas": deltas_us, "startTime": 0, "endTime": end_us });
        let mut profile = Profile::default();
        profile.read("worker 1", Value::to_string(&text).as_bytes()).unwrap();
        profile
    }

    fn times(calls: Vec<Call>) -> Vec<(String, f64, f64)> {
        let profile = read(calls);
        let of = by_component(&profile, &profile.self_us());
        of.into_iter().map(|one| (one.component, one.self_ms, one.total_ms)).collect()
    }

    fn named(list: &[(&str, f64, f64)]) -> Vec<(String, f64, f64)> {
        list.iter().map(|(name, own, all)| ((*name).to_owned(), *own, *all)).collect()
    }

    const APP: &str = "file:///srv/app.js";
    const REACT_DOM: &str = "file:///srv/node_modules/react-dom/cjs/react-dom-server.node.production.js";

    #[test]
    fn a_sample_is_of_the_innermost_component_on_its_stack() {
        let card = Call("Card", COMPONENT_URL, 10, vec![Call("format", APP, 5, vec![])]);
        let page = Call("Page", COMPONENT_URL, 30, vec![card]);
        let calls = vec![
            Call("handle", APP, 2, vec![page]),
            Call("(garbage collector)", "", 7, vec![]),
            Call("(idle)", "", 100, vec![]),
        ];
        assert_eq!(
            times(calls),
            named(&[
                ("Page", 30.0, 45.0),
                ("Card", 15.0, 15.0),
                ("(garbage collector)", 7.0, 7.0),
                (OUTSIDE, 2.0, 2.0)
            ])
        );
    }

    #[test]
    fn a_component_within_itself_has_taken_its_time_once() {
        let inner = Call("Tree", COMPONENT_URL, 2, vec![]);
        let branch = Call("Branch", COMPONENT_URL, 1, vec![inner]);
        assert_eq!(
            times(vec![Call("Tree", COMPONENT_URL, 1, vec![branch])]),
            named(&[("Tree", 3.0, 4.0), ("Branch", 1.0, 3.0)])
        );
    }

    #[test]
    fn react_dom_calls_components_by_their_own_functions() {
        let heavy = Call("Heavy", APP, 9, vec![]);
        let unnamed = Call("", APP, 4, vec![]);
        let own = Call("pushElement", REACT_DOM, 3, vec![]);
        let calls = vec![
            Call("renderWithHooks", REACT_DOM, 0, vec![heavy, unnamed, own]),
            Call("renderWithHooks", APP, 0, vec![Call("helper", APP, 1, vec![])]),
        ];
        assert_eq!(
            times(calls),
            named(&[("Heavy", 9.0, 9.0), ("(anonymous) app.js:7", 4.0, 4.0), (OUTSIDE, 4.0, 4.0)])
        );
    }

    #[test]
    fn a_profile_of_nothing_has_no_components() {
        assert_eq!(by_component(&Profile::default(), &[0]), []);
    }
}
