//! Way from places in the code that ran to places in the code that was written. Source maps are read elsewhere
//! (`packages/preload/src/profiles/source-maps.ts`); here are the question and the use of the answer.

use std::collections::HashMap;

use serde::Serialize;

use crate::owner::Owner;
use crate::profile::{Frame, Profile, ROOT, Ticks};

/// Questions to the source maps of a profile's scripts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Places {
    /// URLs as V8 gives them.
    pub scripts: Vec<Script>,
    /// The script by its index; line and column from 0. A place without a column is the first code on its line.
    pub places: Vec<(u32, u32, Option<u32>)>,
}

/// A script whose map, if it has one, is named at its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Script {
    /// URL as V8 gives it.
    pub url: String,
}

/// A place in the code that was written; `None` where no map names it. Line and column from 0.
pub type Original = Option<(String, u32, u32)>;

impl Places {
    /// Asks for these, in their order: the script's URL, then line and column from 0.
    pub fn of<'a>(asked: impl Iterator<Item = (&'a str, u32, Option<u32>)>) -> Self {
        let mut places = Self::default();
        let mut scripts: HashMap<&str, u32> = HashMap::new();
        for (url, line, column) in asked {
            let next = u32::try_from(places.scripts.len()).unwrap_or(u32::MAX);
            let script = *scripts.entry(url).or_insert_with(|| {
                places.scripts.push(Script { url: String::from(url) });
                next
            });
            places.places.push((script, line, column));
        }
        places
    }
}

impl Profile {
    /// Places of all functions and lines in scripts that are files.
    pub fn places(&self) -> Places {
        let functions = self.frames().iter().filter(|frame| may_have_a_map(frame));
        let functions =
            functions.map(|frame| (&*frame.url, frame.line.saturating_sub(1), Some(frame.column.saturating_sub(1))));
        let lines = self.ticks_to_ask().map(|(frame, ticks)| (&*frame.url, ticks.line.saturating_sub(1), None));
        Places::of(functions.chain(lines))
    }

    /// Puts functions and lines where the maps say that they were written. `originals` answers the places of
    /// [`Self::places`] in their order; what it lacks stays as it is.
    pub fn at(&self, originals: &[Original]) -> Self {
        let mut originals = originals.iter();
        let mut moved = Self::default();
        let frames: Vec<u32> = self
            .frames()
            .iter()
            .map(|frame| {
                let original = may_have_a_map(frame).then(|| originals.next()).flatten();
                moved.intern(original.and_then(Option::as_ref).map_or_else(|| frame.clone(), |to| written(frame, to)))
            })
            .collect();
        let mut nodes = vec![ROOT; self.nodes().len()];
        for (at, node) in self.nodes().iter().enumerate().skip(1) {
            nodes[at] = moved.child(nodes[node.parent as usize], frames[node.frame as usize]);
        }
        let mut ticks = Vec::with_capacity(self.ticks().len());
        for tick in self.ticks() {
            let from = self.frame(tick.node);
            let original = is_asked(from, tick).then(|| originals.next()).flatten().and_then(Option::as_ref);
            let node = nodes[tick.node as usize];
            let to = moved.frame(node);
            let line = match original {
                // A line of another file cannot be told beside this function, which stands for it.
                Some((file, line, _)) if *file == to.url => line.saturating_add(1),
                None if from.url == to.url && from.line == to.line => tick.line,
                _ => to.line,
            };
            ticks.push(Ticks { node, line, count: tick.count });
        }
        moved.add_ticks(ticks);
        moved.tracks.clone_from(&self.tracks);
        for sample in moved.tracks.iter_mut().flat_map(|track| &mut track.samples) {
            *sample = nodes[*sample as usize];
        }
        moved
    }

    fn ticks_to_ask(&self) -> impl Iterator<Item = (&Frame, &Ticks)> {
        self.ticks().iter().map(|ticks| (self.frame(ticks.node), ticks)).filter(|(frame, ticks)| is_asked(frame, ticks))
    }
}

/// Only files are looked into.
fn may_have_a_map(frame: &Frame) -> bool {
    let is_code = matches!(frame.owner, Owner::App | Owner::Package(_)) && frame.line > 0;
    is_code && (frame.url.starts_with("file:///") || frame.url.starts_with('/'))
}

/// A line on which its function begins is where the function is. Bundles may have all of their code on one.
fn is_asked(frame: &Frame, ticks: &Ticks) -> bool {
    may_have_a_map(frame) && ticks.line != frame.line
}

fn written(frame: &Frame, (file, line, column): &(String, u32, u32)) -> Frame {
    Frame::new(frame.function.clone(), file.clone(), line.saturating_add(1), column.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Call, profile};

    const APP: &str = "file:///srv/dist/app.js";

    #[test]
    fn functions_and_lines_move_to_where_they_were_written() {
        let read = profile(
            &[Call::new("handle", APP, 10, &[]), Call::new("match", APP, 20, &[0]).ticks(&[(20, 1), (22, 5), (25, 2)])],
            &[(1, 1000)],
        );
        let places = read.places();
        assert_eq!(places.scripts, [Script { url: APP.to_owned() }]);
        // Two functions, and the two lines on which none of them begins.
        assert_eq!(places.places, [(0, 9, Some(0)), (0, 19, Some(0)), (0, 21, None), (0, 24, None)]);

        let at = |file: &str, line| Some((file.to_owned(), line, 4));
        let moved =
            read.at(&[at("/srv/src/a.ts", 1), at("/srv/src/b.ts", 6), at("/srv/src/b.ts", 8), at("/srv/src/c.ts", 9)]);
        let frames: Vec<_> =
            moved.frames()[1..].iter().map(|frame| (frame.function.as_str(), frame.url.as_str(), frame.line)).collect();
        assert_eq!(frames, [("handle", "/srv/src/a.ts", 2), ("match", "/srv/src/b.ts", 7)]);
        let node = moved.tracks[0].samples[0];
        assert_eq!(moved.frame(node).function, "match");
        // The line of another file counts for the function.
        assert_eq!(moved.ticks(), [Ticks { node, line: 7, count: 3 }, Ticks { node, line: 9, count: 5 }]);
    }

    #[test]
    fn what_no_map_names_stays_and_copies_of_a_function_become_one() {
        let read = profile(
            &[
                Call::new("f", APP, 10, &[]),
                Call::new("f", "file:///srv/dist/b.js", 3, &[]),
                Call::new("g", APP, 5, &[]).ticks(&[(6, 1)]),
            ],
            &[(0, 10), (1, 20), (2, 30)],
        );
        let original = Some(("/srv/node_modules/lib/f.ts".to_owned(), 0, 0));
        let moved = read.at(&[original.clone(), original, None, None]);
        let nodes = &moved.tracks[0].samples;
        assert_eq!(nodes[0], nodes[1]);
        assert_eq!(moved.frame(nodes[0]).owner, Owner::Package("lib".to_owned()));
        assert_eq!((moved.frame(nodes[2]).url.as_str(), moved.ticks()[0].line), (APP, 6));
        // An answer that is too short moves what it names.
        assert_eq!(read.at(&[]).frames(), read.frames());
    }

    #[test]
    fn only_code_in_files_may_have_a_map() {
        let read = profile(
            &[
                Call::new("parse", "", 0, &[]),
                Call::new("readFileSync", "node:fs", 400, &[]),
                Call::new("anonymous", "", 1, &[]),
                Call::new("(garbage collector)", "", 0, &[]),
                Call::new("f", "https://example.org/a.js", 1, &[]),
            ],
            &[(0, 10)],
        );
        assert_eq!(read.places(), Places::default());
    }
}
