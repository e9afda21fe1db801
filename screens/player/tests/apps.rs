//! Apps on the player's binary: what they may do, what they may not, and what is written.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use common::Picture;
use common::app::{Folder, code, fine, text};

#[test]
fn the_first_settled_frame_is_written() {
    let folder = Folder::new();
    let source = "box(1, 10, 10, 0xff0000ff); setTimeout(() => box(2, 20, 10, 0x00ff00ff), 300)";
    fine(&folder.play(source, &["--png", "a.png"]));
    let picture = Picture::read(&folder.path("a.png"));
    assert_eq!((picture.width, picture.height), (64, 48));
    assert_eq!(
        [picture.pixel(5, 5), picture.pixel(15, 15), picture.pixel(30, 30)],
        [[255, 0, 0], [0, 255, 0], [0, 0, 0]]
    );
    fine(&folder.play(source, &["--png", "b.png", "--at", "100"]));
    assert_eq!(Picture::read(&folder.path("b.png")).pixel(15, 15), [0, 0, 0]);
    fine(&folder.play(source, &["--frames", "frames"]));
    assert_eq!(std::fs::read_dir(folder.path("frames")).unwrap().count(), 2);
}

#[test]
fn errors_are_told_with_their_stack_and_the_exit_code_is_not_0() {
    let folder = Folder::new();
    let cases = [
        ("function deep() { throw new RangeError('too far') }\ndeep()", "Uncaught RangeError: too far", "at deep"),
        (
            "setTimeout(function later() { missing() }, 10)",
            "Uncaught ReferenceError: missing is not defined",
            "at later",
        ),
        ("Promise.reject(new Error('nobody cares'))", "Uncaught (in a promise) Error: nobody cares", "app.js"),
        ("(async function waits() { await 1; throw new Error('late') })()", "(in a promise) Error: late", "at waits"),
        ("throw 'a string'", "Uncaught a string", ""),
        ("let x = ;", "Uncaught SyntaxError", "app.js"),
        (
            "sluiceSurface.commit(Int32Array.of(1, 0), 2, [])",
            "the surface refuses a batch: word 0: 0 is no number for a widget",
            "app.js",
        ),
        ("sluiceSurface.commit(Int32Array.of(1, 5), 9, [])", "a batch of more words than its array has", "app.js"),
        ("sluiceSurface.listen(() => { throw new Error('in a listener') })", "in a listener", "app.js"),
        ("sluiceSurface.requestIdle(() => { throw new Error('idle') })", "Uncaught Error: idle", "app.js"),
    ];
    for (source, message, place) in cases {
        let output = folder.play(source, &["--keys", "Enter"]);
        let error = text(&output.stderr);
        assert_eq!(code(&output), 1, "{source}: {error}");
        assert!(error.contains(message) && error.contains(place), "{source}: {error}");
    }
    // A rejection that somebody handles later in the same turn is none.
    fine(&folder.play("const p = Promise.reject(new Error('handled')); p.catch(() => {})", &[]));
}

#[test]
fn a_loop_without_end_ends_with_an_error() {
    let folder = Folder::new();
    for source in [
        "for (;;);",
        "setTimeout(() => { while (true) { try { for (;;); } catch {} } }, 5)",
        "const again = () => Promise.resolve().then(again); again()",
    ] {
        let output =
            folder.play(&format!("box(1, 10, 10, 0xff0000ff); {source}"), &["--turn-limit", "200", "--png", "a.png"]);
        let error = text(&output.stderr);
        assert_eq!(code(&output), 1, "{source}: {error}");
        assert!(error.contains("ran for more than 200 ms without a pause"), "{source}: {error}");
        // What was on the screen is written all the same.
        assert!(folder.path("a.png").exists());
    }
}

#[test]
fn memory_and_stack_have_bounds() {
    let folder = Folder::new();
    let output = folder.play("const all = []; for (;;) all.push(new Array(1000).fill(0))", &["--memory", "8"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("out of memory"), "{}", text(&output.stderr));
    let output = folder.play("const down = () => down() + 1; down()", &["--stack", "64"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("stack"), "{}", text(&output.stderr));
    // An app that catches it goes on.
    let caught = "let n = 0; const down = () => { n += 1; down() }; try { down() } catch {} console.log(n > 10)";
    assert!(fine(&folder.play(caught, &[])).contains("true\n"));
}

#[test]
fn keys_come_with_their_phase_sequence_and_time() {
    let folder = Folder::new();
    let source = r"
box(1, 10, 10, 0xff0000ff);
sluiceSurface.listen((words, length, strings) => {
  for (let at = 0; at < length; at += words[at] === 1 ? 5 : words[at] === 7 ? 4 : 2) {
    bits[0] = words[at + 3];
    if (words[at] === 1) console.log(strings[words[at + 4]], words[at + 1], words[at + 2], Math.round(float[0]));
    if (words[at] === 5) console.log('memory', words[at + 1]);
    if (words[at] === 7) console.log('frame', words[at + 1]);
    if (words[at] === 1 && words[at + 1] === 0) commit([6 | 47 << 8, 1, words[at + 2] * 1000 << 8 | 255], [], words[at + 2]);
  }
});";
    let output =
        folder.play(source, &["--keys", "ArrowRight, wait 200, hold Enter 500, Space, memory 2", "--report=r.json"]);
    let told = fine(&output);
    let told = told.split_once("frame 0\n").unwrap().1;
    let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with("sluice-player")).collect();
    let names: Vec<String> =
        lines.iter().map(|line| line.rsplit_once(' ').map_or(String::new(), |(front, _)| front.to_owned())).collect();
    let expected = [
        "ArrowRight 0 1",
        "frame",
        "ArrowRight 2 2",
        "Enter 0 3",
        "frame",
        "Enter 1 4",
        "Enter 1 5",
        "Enter 2 6",
        "  0 7",
        "frame",
        "  2 8",
        "memory",
    ];
    assert_eq!(names, expected, "{lines:?}");
    assert!(lines[1] == "frame 1" && lines[4] == "frame 3" && lines[9] == "frame 7");
    let time = |index: usize| lines[index].rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    let between = |from, to, expected: f64| (time(to) - time(from) - expected).abs() < 17.5;
    assert!(between(0, 2, 50.0) && between(0, 3, 300.0) && between(3, 5, 400.0) && between(3, 7, 500.0), "{lines:?}");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.path("r.json")).unwrap()).unwrap();
    let keys = report["keys"].as_array().unwrap();
    let answered: Vec<bool> =
        keys.iter().map(|key| key["commitMs"].is_number() && key["frameMs"].is_number()).collect();
    assert_eq!(answered, [true, true, false, false, true]);
    assert_eq!((&report["widgets"], &report["batches"], &report["errors"]), (&1.into(), &4.into(), &0.into()));
    assert_eq!(report["frames"], 4);
    assert_eq!(report["damagedPixels"]["total"], 64 * 48 + 3 * 100);
    assert!(report["heapBytes"].as_i64().unwrap() > 10_000);
}

#[test]
fn a_recorded_stream_gives_the_same_picture() {
    let folder = Folder::new();
    let bundle = format!("{}/tests/apps/posters.js", env!("CARGO_MANIFEST_DIR"));
    let font = folder.path("font.ttf");
    std::fs::write(&font, notosans::REGULAR_TTF).unwrap();
    let fixed = ["--size", "960x540", "--no-system-fonts", "--font", "font.ttf"];
    let keys = ["--keys", "ArrowRight, ArrowDown, ArrowDown, ArrowRight"];
    fine(&folder.run(&[&[bundle.as_str(), "--png", "a.png", "--record", "a.stream"], &fixed[..], &keys[..]].concat()));
    fine(&folder.run(&[&["--replay", "a.stream", "--png", "b.png"], &fixed[..]].concat()));
    let (one, other) = (Picture::read(&folder.path("a.png")), Picture::read(&folder.path("b.png")));
    assert_eq!(one.difference(&other), 0);
    assert!(one.data.iter().filter(|pixel| **pixel == [255, 255, 255]).count() > 200, "text and the focus are white");
    // The same again: a virtual clock makes the same pictures.
    fine(&folder.run(&[&[bundle.as_str(), "--png", "c.png"], &fixed[..], &keys[..]].concat()));
    assert_eq!(one.difference(&Picture::read(&folder.path("c.png"))), 0);
    // A stream with a batch that breaks a rule, and what is none.
    let mut broken = std::fs::read(folder.path("a.stream")).unwrap();
    broken[20] = 99;
    std::fs::write(folder.path("broken.stream"), broken).unwrap();
    let output = folder.run(&["--replay", "broken.stream"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("breaks a rule"), "{}", text(&output.stderr));
    let output = folder.run(&["--replay", "font.ttf"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("it is no stream of a screen"));
    folder.write(
        "scene.txt",
        "create 1\nplace 0 1 0\nnumber width 1 10\nnumber height 1 10\ninteger background 1 #ff0000ff\n",
    );
    fine(&folder.run(&["--replay", "scene.txt", "--png", "d.png", "--size", "20x20"]));
    assert_eq!(Picture::read(&folder.path("d.png")).pixel(5, 5), [255, 0, 0]);
}

#[test]
fn globals_of_a_browser_that_a_bundle_needs_are_there() {
    let folder = Folder::new();
    let source = r"
const order = [];
const repeating = setInterval(() => { order.push('i'); if (order.filter(each => each === 'i').length === 3) clearInterval(repeating); }, 20);
clearTimeout(setTimeout(() => order.push('never'), 1));
setTimeout((...args) => order.push(...args), 5, 'a', 'b');
queueMicrotask(() => order.push('m'));
Promise.resolve().then(() => order.push('p'));
sluiceSurface.requestIdle(deadline => order.push(deadline() > 0 ? 'idle' : 'late'));
setTimeout(() => {
  console.log(order.join(' '), { a: [1, 'x', null], f() {} });
  const bytes = new TextEncoder().encode('ü€');
  console.log(bytes.length, new TextDecoder().decode(bytes), new TextDecoder().decode(bytes.subarray(2)));
  console.log(sluiceSurface.version, sluiceSurface.width, sluiceSurface.height, performance.now() >= 200, sluiceSurface.now() >= 200);
}, 200);";
    let output = folder.play(source, &[]);
    let told = fine(&output);
    assert!(told.contains("m p idle a b i i i { a: [1, \"x\", null], f: [function f] }\n"), "{told}");
    assert!(told.contains("5 ü€ €\n1 64 48 true true\n"), "{told}");
    folder.write(
        "module.mjs",
        "export const x = 1; console.log(await Promise.resolve('module'), import.meta !== undefined);",
    );
    assert!(fine(&folder.run(&["module.mjs", "--size", "9x9"])).contains("module true"));
    folder.write("module.js", "const a = 1;export{a as default};console.log(this)");
    assert!(fine(&folder.run(&["module.js"])).contains("undefined"));
}

#[test]
fn scripts_run_with_their_words() {
    let folder = Folder::new();
    folder.write("bench.js", "console.log(scriptArgs.join('+'), typeof performance.now()); sluiceSurface.commit(Int32Array.of(99), 1, []); setTimeout(() => console.log('later'), 5)");
    let output = folder.run(&["run", "bench.js", "one", "--two"]);
    fine(&output);
    assert_eq!(text(&output.stdout), "one+--two number\nlater\n");
    // Memory of the engine, as `measure` reads it; what is in a cycle goes with `gc`.
    folder.write(
        "memory.js",
        "let kept = []; gc(); const [bytes, objects] = [sluiceSurface.heapBytes(), heapObjects()];
for (let i = 0; i < 1000; i++) { const one = { text: 'x'.repeat(1000) + i }; one.itself = one; kept.push(one) }
console.log(sluiceSurface.heapBytes() - bytes > 1e6, heapObjects() - objects >= 1000);
kept = null; gc(); console.log(sluiceSurface.heapBytes() - bytes < 1e5, heapObjects() - objects < 10)",
    );
    assert_eq!(text(&folder.run(&["run", "memory.js"]).stdout), "true true\ntrue true\n");
    folder.write("bench.js", "throw new Error('no')");
    assert_eq!(code(&folder.run(&["run", "bench.js"])), 1);
}

/// Answers one request and returns it.
fn served(answer: &'static str) -> (u16, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let mut bytes = [0; 1024];
        while !text(&request).ends_with("{\"q\":1}") {
            let count = socket.read(&mut bytes).unwrap();
            request.extend(&bytes[..count]);
        }
        socket.write_all(answer.as_bytes()).unwrap();
        text(&request)
    });
    (port, thread)
}

#[test]
fn the_net_is_closed_but_for_hosts_that_are_named() {
    let folder = Folder::new();
    folder.write("data.json", "{ \"films\": 3 }");
    let (port, server) = served(
        "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 8\r\nconnection: close\r\n\r\n{\"a\":17}",
    );
    let source = format!(
        r"
fetch('data.json').then(answer => answer.json()).then(data => console.log('file', data.films));
fetch('/etc/passwd').catch(error => console.log(error.message));
fetch('http://127.0.0.2:{port}/').catch(error => console.log(error.message));
fetch('http://127.0.0.1:{port}/x', {{ method: 'POST', headers: {{ 'X-Name': 'value' }}, body: JSON.stringify({{ q: 1 }}) }})
  .then(async answer => console.log('net', answer.status, answer.ok, answer.headers.get('Content-Type'), (await answer.json()).a));"
    );
    let told = fine(&folder.play(&source, &["--allow-net", &format!("127.0.0.1:{port}")]));
    assert!(told.contains("file 3\n"), "{told}");
    assert!(told.contains("net 201 true application/json 17\n"), "{told}");
    assert!(told.contains("start the player with --allow-net 127.0.0.2:"), "{told}");
    assert!(told.contains("/etc/passwd is not beside the bundle"), "{told}");
    let request = server.join().unwrap();
    assert!(request.starts_with("POST /x HTTP/1.1") && request.to_lowercase().contains("x-name: value"), "{request}");
}

#[test]
fn pictures_come_from_files_and_data_and_their_fate_is_told() {
    let folder = Folder::new();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 2, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[255, 0, 0, 0, 0, 255]).unwrap();
    std::fs::write(folder.path("two.png"), &file).unwrap();
    std::fs::write(folder.path("broken.png"), &file[..30]).unwrap();
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, &file);
    let source = format!(
        r"
const image = (id, address, fit) => commit([1, id, 2, 0, id, 0, 4 | 12 << 8, id, bitsOf(20), 4 | 13 << 8, id, bitsOf(10), 7 | 52 << 8, id, 0, 6 | 53 << 8, id, fit, 6 | 80 << 8, id, 1], [address]);
sluiceSurface.listen((words, length) => {{
  for (let at = 0; at < length; at += words[at] === 2 ? 6 : 3) if (words[at] === 4) console.log('image', words[at + 1], words[at + 2]);
}});
image(1, 'two.png', 2);
image(2, 'data:image/png;base64,{data}', 1);
image(3, 'broken.png', 0);
image(4, 'http://localhost/a.png', 0);"
    );
    let told = fine(&folder.play(&source, &["--png", "a.png"]));
    let mut lines: Vec<&str> = told.lines().filter(|line| line.starts_with("image")).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["image 1 1", "image 2 1", "image 3 2", "image 4 2"]);
    assert!(told.contains("--allow-net localhost"), "{told}");
    let picture = Picture::read(&folder.path("a.png"));
    assert_eq!([picture.pixel(1, 5), picture.pixel(18, 5)], [[255, 0, 0], [0, 0, 255]]);
    assert_eq!([picture.pixel(1, 15), picture.pixel(18, 15)], [[255, 0, 0], [0, 0, 255]]);
}

#[test]
fn wrong_arguments_say_what_to_write() {
    let folder = Folder::new();
    for (arguments, message) in [
        (&["--size", "big", "a.js"][..], "give it like 1920x1080"),
        (&["--keys", "wait", "a.js"], "write a key (\"ArrowRight\"), \"wait 100\""),
        (&["--keys", "hold ArrowDown soon", "a.js"], "\"soon\" is no number of milliseconds"),
        (&["--clock", "fast", "a.js"], "give virtual or real"),
        (&["--pgn", "a.png", "a.js"], "--pgn is unknown: see sluice-player --help"),
        (&["--png"], "--png needs a value"),
        (&[], "give a bundle (sluice-player app.js)"),
        (&["a.js", "--replay", "b"], "give a bundle"),
        (&["a.js", "b.js"], "one bundle at a time"),
        (&["a.js", "--memory", "0"], "give a number from 1 to 65536"),
        (&["run"], "run needs a script"),
        (&["a.js", "--keys", "memory"], "write a key"),
        (&["a.js", "--keys", "Enter, ArrowRigth"], "\"ArrowRigth\" is no step"),
        (&["a.js", "--keys", "hold ArrowRigth 50"], "is no step"),
        (&["a.js", "--allow-net", "http://tv.example/"], "give a host, as in tv.example"),
        (&["a.js", "--allow-net", "tv.example/path"], "give a host, as in tv.example"),
        (&["a.js", "--font", "/etc/passwd"], "/etc/passwd is no font"),
        #[cfg(not(feature = "window"))]
        (&["a.js", "--window"], "this build has no window"),
    ] {
        let output = folder.run(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(text(&output.stderr).contains(message), "{arguments:?}: {}", text(&output.stderr));
    }
    let output = folder.run(&["missing.js"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("missing.js cannot be read"));
    let output = folder.run(&["--help"]);
    assert!(text(&output.stdout).contains("Examples:"));
}

#[test]
fn comments_make_no_module() {
    let folder = Folder::new();
    let script = "/*\nimported from the lib\nimport x from 'y'\n*/\n// export default 1\nimportant: for (;;) break important\nvar old = 010; console.log(old, globalThis.old)";
    assert!(fine(&folder.play(script, &[])).contains("8 8"));
    let module = "/*! banner */ import * as none from 'none'";
    assert!(text(&folder.play(module, &[]).stderr).contains("none"), "an import is looked for");
    assert!(fine(&folder.play("console.log(typeof here);var here = 1;export { here }", &[])).contains("undefined"));
}

#[test]
fn a_recording_that_is_cut_is_played_as_far_as_it_goes() {
    let folder = Folder::new();
    fine(&folder.play("box(1, 64, 48, 0x00ff00ff); box(2, 8, 8, 0xff0000ff)", &["--record", "a.stream"]));
    let bytes = std::fs::read(folder.path("a.stream")).unwrap();
    std::fs::write(folder.path("cut.stream"), &bytes[..bytes.len() - 4]).unwrap();
    let output = folder.run(&["--replay", "cut.stream", "--size", "64x48", "--no-system-fonts", "--png", "a.png"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("cut.stream: "), "{}", text(&output.stderr));
    assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5), [0, 255, 0]);
}

#[test]
fn a_frame_tells_of_each_cause_once_also_of_batches_that_change_nothing() {
    let folder = Folder::new();
    let source = "
sluiceSurface.listen((words, length) => {
  for (let at = 0; at < length; at += 4) if (words[at] === 7) console.log('frame', words[at + 1]);
});
box(1, 64, 48, 0x00ff00ff);
box(2, 64, 48, 0x00ff00ff);
setTimeout(() => { commit([], [], 5); commit([], [], 6); commit([], [], 5) }, 100);";
    let told = fine(&folder.play(source, &[]));
    let frames: Vec<&str> = told.lines().filter(|line| line.starts_with("frame")).collect();
    assert_eq!(frames, ["frame 0", "frame 5", "frame 6"]);
}
