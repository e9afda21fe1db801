//! Reads the text of `perf script`: stacks of all threads of processes, with native code and the kernel. Each sample is weighed by its
//! period, so the event has to be one whose period is in nanoseconds of CPU time (`cpu-clock`).

use std::collections::HashMap;
use std::io::{self, BufRead};

use crate::profile::{Frame, Profile, ROOT, Track};

/// Fields that `perf script -F` has to write.
pub const PERF_FIELDS: &str = "comm,tid,time,period,ip,sym,dso";
/// Name of JavaScript functions that perf cannot name.
pub const UNNAMED: &str = "JavaScript (--perf-basic-prof in app.node_args names it)";
const INTERPRETER: &str = "Builtins_InterpreterEntryTrampoline";
const INTERPRETED: &str = "interpreted JavaScript (--interpreted-frames-native-stack names it)";
/// Maximum number of samples of perf. A minute of 60 threads that never wait.
const SAMPLES_MAX: usize = 4_000_000;
/// Kinds of JavaScript functions in V8's map for perf, by version.
const JS_KINDS: [&str; 6] = ["JS", "LazyCompile", "Function", "Script", "Eval", "InterpretedFunction"];
/// Marks of a function's tier before its name.
const TIERS: [char; 4] = ['*', '~', '^', '+'];

/// Facts about samples that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerfFacts {
    /// Whether there was JavaScript without names.
    pub has_unnamed: bool,
    /// Whether the kernel's functions were in them.
    pub has_kernel: bool,
    /// Whether there were more samples than are read.
    pub is_cut: bool,
}

impl Profile {
    /// Takes in the output of `perf script` with [`PERF_FIELDS`]. Each thread becomes a track and a frame of its own; `names` has those of
    /// threads that are known by their ids.
    ///
    /// # Errors
    /// The reader's error.
    pub fn read_perf(&mut self, reader: impl BufRead, names: &HashMap<u32, String>) -> io::Result<PerfFacts> {
        let mut facts = PerfFacts::default();
        let mut tracks: HashMap<u32, Track> = HashMap::new();
        let mut sample: Option<Sample> = None;
        let mut stack: Vec<u32> = Vec::new();
        let mut count = 0;
        for line in reader.split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            if line.trim().is_empty() {
                if let Some(sample) = sample.take() {
                    count += 1;
                    facts.is_cut = count > SAMPLES_MAX;
                    if facts.is_cut {
                        break;
                    }
                    self.take_sample(&sample, &stack, names, &mut tracks);
                }
                stack.clear();
            } else if line.starts_with([' ', '\t']) && sample.is_some() {
                if let Some(frame) = frame(line.trim()) {
                    facts.has_unnamed |= frame.function == UNNAMED;
                    facts.has_kernel |= frame.url.starts_with("kernel:");
                    let is_again = frame.function == UNNAMED;
                    let frame = self.intern(frame);
                    // Of functions without names, the number says nothing.
                    if !(is_again && stack.last() == Some(&frame)) {
                        stack.push(frame);
                    }
                }
            } else {
                sample = Sample::of(&line);
            }
        }
        if let Some(sample) = sample.filter(|_| !facts.is_cut) {
            self.take_sample(&sample, &stack, names, &mut tracks);
        }
        let mut tracks: Vec<(u32, Track)> = tracks.into_iter().collect();
        tracks.sort_by_key(|(thread, _)| *thread);
        self.tracks.extend(tracks.into_iter().map(|(_, track)| track));
        Ok(facts)
    }

    /// `stack` begins with the innermost function.
    fn take_sample(
        &mut self,
        sample: &Sample,
        stack: &[u32],
        names: &HashMap<u32, String>,
        tracks: &mut HashMap<u32, Track>,
    ) {
        let name = names.get(&sample.thread).cloned().unwrap_or_else(|| format!("(thread {})", sample.name));
        let thread = self.intern(Frame::new(name.clone(), String::new(), 0, 0));
        let bottom = self.child(ROOT, thread);
        let top = stack.iter().rev().fold(bottom, |caller, frame| self.child(caller, *frame));
        let track = tracks.entry(sample.thread).or_insert_with(|| Track { name, ..Track::default() });
        track.samples.push(top);
        track.spent_us.push(sample.spent_us);
    }
}

/// The first line of a sample: `node 4711 64737.053905:    1001001`.
#[derive(Debug, PartialEq, Eq)]
struct Sample {
    name: String,
    thread: u32,
    spent_us: u32,
}

impl Sample {
    fn of(line: &str) -> Option<Self> {
        let (line, period) = line.trim().rsplit_once(char::is_whitespace)?;
        let (line, _time) = line.trim_end().rsplit_once(char::is_whitespace)?;
        let (name, thread) = line.trim_end().rsplit_once(char::is_whitespace)?;
        let period_ns: u64 = period.parse().ok()?;
        let spent_us = u32::try_from(period_ns / 1000).unwrap_or(u32::MAX);
        Some(Self { name: name.trim().to_owned(), thread: thread.parse().ok()?, spent_us })
    }
}

/// A line of a stack: address, symbol and, in parentheses, the file that it is of. `None` for an address of no code.
fn frame(line: &str) -> Option<Frame> {
    let (_address, line) = line.split_once(' ')?;
    let (symbol, file) = line.trim().rsplit_once(" (").unwrap_or((line, ""));
    // "(/usr/bin/node (deleted))"
    let (symbol, file) =
        if file == "deleted))" { symbol.rsplit_once(" (").unwrap_or((symbol, "")) } else { (symbol, file) };
    let file = file.strip_suffix(')').unwrap_or(file);
    let (symbol, is_unknown) = (symbol.trim(), symbol.trim() == "[unknown]");
    if is_map(file) {
        return Some(if is_unknown { native(UNNAMED, "javascript:") } else { of_v8(symbol) });
    }
    let is_own = ["[vdso]", "[vsyscall]", "[heap]", "[stack]"].contains(&file);
    if file.starts_with('[') && !is_own {
        let name = if is_unknown { "(kernel; kernel.kptr_restrict hides names)" } else { symbol };
        return (file != "[unknown]").then(|| native(name, &format!("kernel:{file}")));
    }
    let name = if symbol == INTERPRETER { INTERPRETED } else { symbol };
    Some(native(name, &format!("native:{file}")))
}

/// Whether it is memory into which V8 compiles: perf looks for the names in `/tmp/perf-PID.map`.
fn is_map(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let is_named = name.strip_prefix("perf-").is_some_and(|name| name.strip_suffix(".map").is_some());
    is_named || file == "//anon" || file.starts_with("[anon")
}

fn native(name: &str, url: &str) -> Frame {
    Frame::new(name.to_owned(), url.to_owned(), 0, 0)
}

/// A name of V8's map: `JS:*render file:///srv/app.js:7:12`, `RegExp:a+b`.
fn of_v8(symbol: &str) -> Frame {
    let js = symbol.split_once(':').filter(|(kind, _)| JS_KINDS.contains(kind));
    let Some((_, name)) = js else { return native(symbol, "native:V8") };
    let name = name.trim_start_matches(TIERS);
    let placed = name.split_once(' ').and_then(|(name, place)| {
        let mut parts = place.rsplitn(3, ':');
        let (column, line) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some(Frame::new(name.to_owned(), parts.next()?.to_owned(), line, column))
    });
    placed.unwrap_or_else(|| native(name.trim(), "javascript:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Owner;

    const TEXT: &str = "\
node  4711 64737.053905:    1001001 
\t    7faaaa7cd83e [unknown] (/tmp/perf-4711.map)
\t    7faaaa7cd83f [unknown] (/tmp/perf-4711.map)
\t         14ce0dc v8::internal::(anonymous namespace)::Invoke (/usr/bin/node)
\t           2724a __libc_start_call_main (/usr/lib/libc.so.6)

node  4711 64737.054905:    2002000 
\tffffffff81000000 do_syscall_64 ([kernel.kallsyms])
\t    7faaaa7cd83e JS:*hot fn.js:7:12 (/tmp/perf-4711.map)
\ta831c66d2db43210 [unknown] ([unknown])

lib uv  4712 64737.055905:    1001001 
\t    7faaaa7cd83e deflate.part.0 (/usr/bin/node (deleted))
";

    fn read(text: &str) -> (Profile, PerfFacts) {
        let mut profile = Profile::default();
        let names = HashMap::from([(4711, "(main thread)".to_owned())]);
        let facts = profile.read_perf(text.as_bytes(), &names).unwrap();
        (profile, facts)
    }

    fn stack(profile: &Profile, mut node: u32) -> Vec<&str> {
        let mut names = Vec::new();
        while node != ROOT {
            names.push(profile.frame(node).function.as_str());
            node = profile.nodes()[node as usize].parent;
        }
        names
    }

    #[test]
    fn stacks_of_all_threads_are_read_with_native_code_and_the_kernel() {
        let (profile, facts) = read(TEXT);
        assert_eq!(facts, PerfFacts { has_unnamed: true, has_kernel: true, is_cut: false });
        let [main, other] = profile.tracks.as_slice() else { panic!("{:?}", profile.tracks) };
        assert_eq!((main.name.as_str(), &*main.spent_us), ("(main thread)", &[1001, 2002][..]));
        assert_eq!(
            stack(&profile, main.samples[0]),
            [UNNAMED, "v8::internal::(anonymous namespace)::Invoke", "__libc_start_call_main", "(main thread)"]
        );
        assert_eq!(stack(&profile, main.samples[1]), ["do_syscall_64", "hot", "(main thread)"]);
        assert_eq!(stack(&profile, other.samples[0]), ["deflate.part.0", "(thread lib uv)"]);
        let deflate = profile.frame(other.samples[0]);
        assert_eq!((deflate.url.as_str(), &deflate.owner), ("native:/usr/bin/node", &Owner::Native));
        assert_eq!(profile.frame(main.samples[1]).owner, Owner::Kernel);
    }

    #[test]
    fn names_of_v8_are_taken_apart() {
        for (symbol, name, url, line, owner) in [
            ("JS:*render file:///srv/app.js:7:12", "render", "file:///srv/app.js", 7, Owner::App),
            ("LazyCompile:~ /srv/a b.js:3:4", "", "/srv/a b.js", 3, Owner::App),
            (
                "JS:^get /srv/node_modules/qs/i.js:3:4",
                "get",
                "/srv/node_modules/qs/i.js",
                3,
                Owner::Package("qs".into()),
            ),
            ("JS:^readSync node:fs:708:18", "readSync", "node:fs", 708, Owner::Node),
            ("RegExp:a+b", "RegExp:a+b", "native:V8", 0, Owner::Native),
            ("Function:odd", "odd", "javascript:", 0, Owner::App),
        ] {
            let frame = of_v8(symbol);
            assert_eq!((&*frame.function, &*frame.url, frame.line, frame.owner), (name, url, line, owner), "{symbol}");
        }
    }

    #[test]
    fn text_of_something_else_is_no_sample() {
        for text in ["", "\n\n", "perf: not found\n", "\t 77 f (/x)\n\n", "node x 1.0: 5\n\t 77 f (/x)\n"] {
            let (profile, facts) = read(text);
            assert_eq!((profile.tracks.len(), facts), (0, PerfFacts::default()), "{text}");
        }
    }
}
