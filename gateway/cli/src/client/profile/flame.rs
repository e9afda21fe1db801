//! Data of a flame graph's page (`packages/flame`), which stand in the page itself. Pure.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::path::{Path, PathBuf};

use serde::Serialize;
use sluice_profiles::{Owner, Profile, ROOT};

use super::components::ComponentCpu;
use super::files::FileError;
use super::hot::FunctionCost;
use crate::start::app::find_preload;

/// Maximum number of call stacks in a page. Of more, those that took least are drawn as part of their callers.
const STACKS_MAX: usize = 100_000;
/// Maximum number of rows in the tables below the graph.
const ROWS_MAX: usize = 200;
/// Place of the data in the page.
const MARK: &str = "<!-- profile -->";

/// Unit of boxes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Microseconds of CPU time.
    Us,
    /// Bytes.
    Bytes,
}

/// The data of a page. Columns instead of objects, as there are many stacks.
#[derive(Debug, Serialize)]
pub struct Flame {
    /// Title of the profile.
    pub title: String,
    /// Unit of boxes.
    pub unit: Unit,
    /// Name and value of what is known of the whole.
    pub facts: Vec<(String, String)>,
    /// Owners of functions: packages, `app`, `node`, `native`, and V8's own entries.
    pub owners: Vec<String>,
    /// Function, place, and index of the owner.
    pub frames: Vec<(String, String, u32)>,
    /// Index of each stack's caller, which is smaller than its own, but for the first.
    pub parents: Vec<u32>,
    /// Index of each stack's innermost frame.
    pub stack_frames: Vec<u32>,
    /// Time or bytes of the innermost frame itself.
    pub selves: Vec<u64>,
    /// Time by React component.
    pub components: Vec<ComponentCpu>,
    /// Time by function.
    pub places: Vec<FunctionCost>,
}

/// Idle time is in no box.
pub fn flame(profile: &Profile, self_us: &[u64], title: String, unit: Unit) -> Flame {
    let nodes = profile.nodes();
    let mut selves = self_us.to_vec();
    for (at, node) in nodes.iter().enumerate() {
        if profile.frames()[node.frame as usize].owner == Owner::Idle {
            selves[at] = 0;
        }
    }
    let mut totals = selves.clone();
    for (at, node) in nodes.iter().enumerate().skip(1).rev() {
        totals[node.parent as usize] += totals[at];
    }
    let least = least_kept(&totals);
    let mut flame = Flame {
        title,
        unit,
        facts: Vec::new(),
        owners: Vec::new(),
        frames: Vec::new(),
        parents: Vec::new(),
        stack_frames: Vec::new(),
        selves: Vec::new(),
        components: Vec::new(),
        places: Vec::new(),
    };
    let (mut owners, mut frames) = (HashMap::new(), HashMap::new());
    // Where a node is, or the caller of whom it is a part.
    let mut kept: Vec<u32> = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let parent = if at == 0 { ROOT } else { kept[node.parent as usize] };
        if at > 0 && totals[at] < least {
            flame.selves[parent as usize] += selves[at];
            kept.push(parent);
            continue;
        }
        let frame = *frames.entry(node.frame).or_insert_with(|| {
            let frame = &profile.frames()[node.frame as usize];
            let owner = *owners.entry(frame.owner.clone()).or_insert_with(|| {
                flame.owners.push(frame.owner.name().to_owned());
                index(flame.owners.len() - 1)
            });
            let function = if frame.function.is_empty() { "(anonymous)" } else { &frame.function };
            flame.frames.push((function.to_owned(), place(&frame.url, frame.line, frame.column), owner));
            index(flame.frames.len() - 1)
        });
        kept.push(index(flame.parents.len()));
        flame.parents.push(parent);
        flame.stack_frames.push(frame);
        flame.selves.push(selves[at]);
    }
    flame
}

/// The least total of a node that is kept, so that there are few enough.
fn least_kept(totals: &[u64]) -> u64 {
    let mut largest: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
    for total in totals.iter().filter(|total| **total > 0) {
        largest.push(Reverse(*total));
        if largest.len() > STACKS_MAX {
            largest.pop();
        }
    }
    // Of equal ones there may be too many: then none of these.
    let least = largest.peek().map_or(1, |least| least.0);
    let count = totals.iter().filter(|total| **total >= least).count();
    if count > STACKS_MAX { least + 1 } else { least }
}

fn place(url: &str, line: u32, column: u32) -> String {
    match (url.is_empty(), line) {
        (true, _) => String::new(),
        (false, 0) => sluice_profiles::path_of(url),
        (false, _) => format!("{}:{line}:{column}", sluice_profiles::path_of(url)),
    }
}

fn index(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The page with this in it. Nothing of the data can end the element that it stands in.
///
/// # Errors
/// Where the page is not beside the preload.
pub fn page(flame: Flame) -> Result<String, FileError> {
    let file = template_of(&find_preload().unwrap_or_default());
    match std::fs::read_to_string(&file) {
        Ok(template) => Ok(fill(&template, flame)),
        Err(source) => Err(FileError::Io { file, source }),
    }
}

/// File of the page: packages hold it beside the preload, and a checkout in its own folder.
fn template_of(preload: &Path) -> PathBuf {
    let packaged = preload.with_file_name("flame.html");
    let built = preload.ancestors().nth(3).map(|packages| packages.join("flame/dist/flame.html"));
    built.filter(|_| !packaged.is_file()).unwrap_or(packaged)
}

/// Data in the form that the page reads.
pub fn json(mut flame: Flame) -> String {
    flame.components.truncate(ROWS_MAX);
    flame.places.truncate(ROWS_MAX);
    // These types have string keys and plain values.
    serde_json::to_string(&flame).unwrap_or_default()
}

fn fill(template: &str, flame: Flame) -> String {
    let json = json(flame).replace('<', "\\u003c");
    template.replacen(MARK, &format!("<script type=\"application/json\" id=\"profile\">{json}</script>"), 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_page_holds_every_stack_that_took_time_and_no_idle_time() {
        let frame = |name: &str, url: &str, line: i32| json!({ "functionName": name, "url": url, "lineNumber": line, "columnNumber": 0 });
        let text = json!({
            "nodes": [
                { "id": 1, "callFrame": frame("(root)", "", -1), "children": [2, 4, 5] },
                { "id": 2, "callFrame": frame("</script><b>", "file:///srv/app.js", 9), "children": [3, 6] },
                { "id": 3, "callFrame": frame("", "file:///srv/node_modules/qs/parse.js", 4) },
                { "id": 4, "callFrame": frame("(idle)", "", -1) },
                { "id": 5, "callFrame": frame("(garbage collector)", "", -1) },
                { "id": 6, "callFrame": frame("never", "file:///srv/app.js", 90) },
            ],
            "samples": [2, 3, 4, 5], "timeDeltas": [0, 10, 20, 500], "startTime": 0, "endTime": 537,
        });
        let mut profile = Profile::default();
        profile.read("worker 1", text.to_string().as_bytes()).unwrap();
        let flame = flame(&profile, &profile.self_us(), "worker 1".to_owned(), Unit::Us);
        assert_eq!(flame.parents, [0, 0, 0, 1]);
        assert_eq!(flame.selves, [0, 10, 7, 20]);
        let (function, place, owner) = &flame.frames[flame.stack_frames[3] as usize];
        assert_eq!((function.as_str(), place.as_str()), ("(anonymous)", "/srv/node_modules/qs/parse.js:5:1"));
        assert_eq!(flame.owners[*owner as usize], "qs");
        let html = fill("<main></main><!-- profile --><script>x</script>", flame);
        assert_eq!(html.matches("</script>").count(), 2, "{html}");
        assert!(html.contains(r"\u003c/script>\u003cb>"), "{html}");
    }

    #[test]
    fn page_is_beside_the_preload_of_a_package_and_in_the_checkout() {
        let dir = tempfile::tempdir().unwrap();
        let preload = dir.path().join("preload/dist/index.js");
        std::fs::create_dir_all(preload.parent().unwrap()).unwrap();
        assert_eq!(template_of(&preload), dir.path().join("flame/dist/flame.html"));
        let packaged = dir.path().join("preload/dist/flame.html");
        std::fs::write(&packaged, "").unwrap();
        assert_eq!(template_of(&preload), packaged);
    }

    #[test]
    fn few_enough_are_kept() {
        let totals: Vec<u64> = (0..300_000).collect();
        let least = least_kept(&totals);
        assert_eq!(totals.iter().filter(|total| **total >= least).count(), STACKS_MAX);
        assert_eq!(least_kept(&vec![5; STACKS_MAX + 1]), 6);
        assert_eq!(least_kept(&[0, 3, 0]), 3);
    }
}
