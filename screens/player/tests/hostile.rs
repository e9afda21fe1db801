//! Apps and streams that ask for too much, or re-enter the player: they end with a message, not with the player.
#![allow(clippy::unwrap_used, reason = "a test ends there")]

mod common;

use std::fmt::Write as _;
use std::process::Output;

use common::Picture;
use common::app::{Folder, code, fine, text};

/// Replays a text on a small screen without fonts of the machine.
fn replay(folder: &Folder, stream: &str, arguments: &[&str]) -> Output {
    folder.write("a.txt", stream);
    folder.run(&[&["--replay", "a.txt", "--size", "64x48", "--no-system-fonts"], arguments].concat())
}

fn widget(id: i32, width: &str, height: &str) -> String {
    format!("create {id}\nplace 0 {id} 0\nnumber width {id} {width}\nnumber height {id} {height}\n")
}

/// A picture of one colour.
fn picture(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_depth(png::BitDepth::One);
    let data = vec![0xff; width.div_ceil(8) as usize * height as usize];
    encoder.write_header().unwrap().write_image_data(&data).unwrap();
    file
}

fn number(output: &Output, name: &str) -> u64 {
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    report[name].as_u64().unwrap()
}

#[test]
fn code_that_runs_while_the_player_reads_a_value_may_call_the_player() {
    let folder = Folder::new();
    for (source, message) in [
        ("Promise.reject({ toJSON() { Promise.reject(1); return 1 } })", "(in a promise) 1"),
        (
            "const e = new Error('deep'); Object.defineProperty(e, 'name', { get() { Promise.reject(2); return 'Odd' } }); Promise.reject(e)",
            "(in a promise) Odd: deep",
        ),
        ("sluiceSurface.commit(new Int32Array(0), 0, new Array(4e9))", "a batch of more than 1048576 strings"),
    ] {
        let output = folder.play(&format!("box(1, 64, 48, 0x00ff00ff);\n{source}"), &["--png", "a.png"]);
        let error = text(&output.stderr);
        assert!(code(&output) == 1 && error.contains(message) && !error.contains("panic"), "{source}: {error}");
        assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5), [0, 255, 0], "{source}");
    }
    let source = "const texts = ['x'];
Object.defineProperty(texts, 0, { get() { box(1, 64, 48, 0x00ff00ff); return 'x' } });
commit([1, 2, 2, 0, 2, 0], texts);";
    fine(&folder.play(source, &["--png", "a.png"]));
    assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5), [0, 255, 0]);
}

#[test]
fn rejections_beyond_a_hundred_are_counted() {
    let folder = Folder::new();
    let output = folder.play("for (let i = 0; i < 250; i++) Promise.reject('no ' + i)", &["--report"]);
    let error = text(&output.stderr);
    assert!(error.contains("(in a promise) no 99\n") && error.contains("(in a promise) 150 more"), "{error}");
    assert!(!error.contains("no 100"), "{error}");
    assert_eq!(number(&output, "errors"), 250);
}

#[test]
fn what_the_player_keeps_for_an_app_has_a_bound() {
    let folder = Folder::new();
    for (source, message) in [
        ("const run = () => {}; for (;;) setTimeout(run, 1e8)", "RangeError: more than 65536 timers"),
        (
            "const run = () => {}; for (;;) sluiceSurface.requestIdle(run)",
            "RangeError: more than 65536 pieces of idle work",
        ),
        (
            "const kept = []; const s = 'x'.repeat(1e6); for (let i = 0; i < 200; i++) kept.push(new TextEncoder().encode(s))",
            "out of memory",
        ),
        (
            "const s = 'x'.repeat(1 << 20); commit([], Array(100).fill(s))",
            "a batch of more than 67108864 bytes of strings",
        ),
    ] {
        let output = folder.play(source, &["--memory", "32", "--at", "100"]);
        let error = text(&output.stderr);
        assert!(code(&output) == 1 && error.contains(message), "{source}: {error}");
    }
}

#[test]
fn clearing_what_is_no_timer_clears_none() {
    let folder = Folder::new();
    let source = "
setTimeout(() => console.log('fired'), 100);
for (const id of [NaN, Infinity, -1, 0, 1.5, 2 ** 32 + 1]) clearTimeout(id);
clearTimeout(setTimeout(() => console.log('cleared'), 50));
let left = 3;
const every = setInterval(() => { console.log('every'); if (--left === 0) clearInterval(every) }, 10);";
    assert_eq!(fine(&folder.play(source, &["--at", "300"])).matches("fired").count(), 1);
    let told = fine(&folder.play(source, &["--at", "300"]));
    assert!(!told.contains("cleared"), "{told}");
    assert_eq!(told.matches("every").count(), 3);
}

#[test]
fn timers_run_in_the_order_of_their_moments_however_many_they_are() {
    let folder = Folder::new();
    // Looked for one by one among all, they would take a minute.
    let source = "
let [last, ran] = [-1, 0];
for (let i = 0; i < 60000; i++) {
  const due = (i * 7919) % 30000;
  setTimeout(() => { if (due < last) throw new Error('too early'); last = due; ran += 1 }, due / 1000);
}
setTimeout(() => console.log('ran', ran), 100);";
    assert!(fine(&folder.play(source, &["--turn-limit", "60000"])).contains("ran 60000"));
}

#[test]
fn numbers_without_bounds_are_drawn_or_left_out() {
    let folder = Folder::new();
    let box_of = format!("{}integer background 1 #00ff00ff\n", widget(1, "64", "48"));
    let wide = |more: &str| {
        format!(
            "{box_of}create 2\nplace 0 2 0\npercent width 2 1000000\nnumber height 2 10\ninteger position 2 absolute\ncreate 3\nplace 2 3 0\npercent width 3 1000000\nnumber height 3 10\n{more}"
        )
    };
    for stream in [
        wide("string gradient 3 \"90 #14213dff 0, #e63946ff 1\"\nanimate x 2 -3000000000 -3000000000 0 0 linear 0\n"),
        wide("reset width 3\nstring text 3 \"Hello\"\nanimate x 2 -3000000000 -3000000000 0 0 linear 0\n"),
        wide(
            "string gradient 3 \"90 #14213dff 0, #e63946ff 1\"\nnumber scale 2 1000000\nnumber scale 3 1000000\nnumber x 3 -1000000\n",
        ),
        wide("string text 3 \"Hello\"\nnumber fontSize 3 2048\nnumber scale 2 1000000\nnumber scale 3 1000000\n"),
        format!(
            "{}number fontSize 2 2048\nstring text 2 \"Hello\"\nnumber scale 2 100\nnumber left 2 500000\ninteger position 2 absolute\n{box_of}",
            widget(2, "1", "1")
        ),
    ] {
        let font = format!("{}/font.ttf", folder.path("").display());
        std::fs::write(&font, notosans::REGULAR_TTF).unwrap();
        fine(&replay(&folder, &stream, &["--png", "a.png", "--font", &font]));
        assert_eq!(Picture::read(&folder.path("a.png")).pixel(2, 40), [0, 255, 0], "{stream}");
    }
}

#[test]
fn enlarged_text_keeps_its_shape_beyond_the_size_of_kept_glyphs() {
    let folder = Folder::new();
    let font = format!("{}/font.ttf", folder.path("").display());
    std::fs::write(&font, notosans::REGULAR_TTF).unwrap();
    let text_of = |size: u32, scale: f32| {
        let line = format!(
            "create 1\nplace 0 1 0\nnumber fontSize 1 {size}\nstring text 1 \"Hello\"\nnumber scale 1 {scale}\ninteger position 1 absolute\n"
        );
        fine(&replay(&folder, &line, &["--png", "a.png", "--font", &font, "--size", "1000x600"]));
        Picture::read(&folder.path("a.png"))
    };
    let lit = |picture: &Picture| picture.data.iter().filter(|pixel| pixel[0] > 127).count();
    // 250 is drawn from kept glyphs, 260 as shapes.
    let [kept, shapes] = [lit(&text_of(250, 1.0)), lit(&text_of(260, 1.0))];
    let ratio = shapes as f64 / kept as f64;
    assert!((1.04..1.13).contains(&ratio), "{kept} and {shapes} pixels");
    let [once, twice] = [text_of(260, 1.0), text_of(130, 1.0)].map(|picture| lit(&picture));
    assert!((3.6..4.4).contains(&(once as f64 / twice as f64)), "{once} and {twice} pixels");
}

#[test]
fn pictures_keep_to_their_bound() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.png"), picture(2048, 2048)).unwrap();
    let mut stream = String::new();
    for id in 1..=20 {
        let address = "./".repeat(id as usize);
        writeln!(stream, "{}string image {id} \"{address}a.png\"", widget(id, "8", "2")).unwrap();
    }
    // Each has 16 MB.
    let output = replay(&folder, &stream, &["--image-memory", "40", "--report", "--png", "b.png"]);
    fine(&output);
    assert!(number(&output, "imageBytes") <= 40 << 20, "{}", text(&output.stdout));
    let picture = Picture::read(&folder.path("b.png"));
    assert!((0..20).all(|index| picture.pixel(4, index * 2) == [255; 3]));
    let output = replay(&folder, &stream, &["--image-memory", "10"]);
    assert!(text(&output.stderr).contains("2048 × 2048 pixels are more than --image-memory allows"));
}

#[test]
fn addresses_that_no_widget_has_are_forgotten() {
    let folder = Folder::new();
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, picture(8, 8));
    // Every second address is long, and no picture.
    let source = format!(
        "box(1, 64, 48, 0); let n = 0;
const next = () => {{
  n += 1;
  const more = n % 2 === 0 ? '' : 'x'.repeat(100000) + n;
  commit([7 | 52 << 8, 1, 0], ['data:image/png' + ';name=' + n + ';base64,{data}' + more]);
  if (n < 200) setTimeout(next, 20);
}};
next();"
    );
    let output = folder.play(&source, &["--report", "--png", "a.png"]);
    fine(&output);
    assert!(number(&output, "imageBytes") < 3 << 20, "{}", text(&output.stdout));
    assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5), [255; 3]);
}

#[test]
fn of_a_widget_larger_than_the_screen_only_the_visible_part_is_scaled() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.png"), picture(8, 8)).unwrap();
    let mut stream = String::new();
    for id in 1..=40 {
        let place = format!("integer position {id} absolute\nnumber left {id} -20");
        let size = widget(id, &(33_000 + id).to_string(), "1000");
        writeln!(stream, "{size}{place}\nstring image {id} \"a.png\"").unwrap();
    }
    let output = replay(&folder, &stream, &["--report", "--png", "b.png"]);
    fine(&output);
    assert!(number(&output, "imageBytes") < 1 << 20, "{}", text(&output.stdout));
    assert_eq!(Picture::read(&folder.path("b.png")).pixel(60, 40), [255; 3]);
    // Turned, it is drawn from a smaller one.
    let turned = format!("{}number rotate 1 1\nstring image 1 \"a.png\"\n", widget(1, "33000", "1000"));
    let output = replay(&folder, &turned, &["--report"]);
    fine(&output);
    assert!(number(&output, "imageBytes") <= 33 << 20, "{}", text(&output.stdout));
}

#[test]
fn a_picture_of_one_row_without_end_is_refused() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.png"), picture(1 << 25, 1)).unwrap();
    let output = replay(&folder, &format!("{}string image 1 \"a.png\"\n", widget(1, "60", "40")), &[]);
    assert!(text(&output.stderr).contains("33554432 × 1 pixels are too many"), "{}", text(&output.stderr));
}

#[test]
fn layers_in_layers_without_end_do_not_take_a_screen_each() {
    let folder = Folder::new();
    let mut stream = String::from(
        "create 1\nplace 0 1 0\npercent width 1 100\npercent height 1 100\ninteger background 1 #00ff00ff\n",
    );
    for id in 2..=400 {
        let above = id - 1;
        write!(stream, "create {id}\nplace {above} {id} 0\npercent width {id} 100\npercent height {id} 100\nnumber opacity {id} 0.999\n").unwrap();
    }
    stream.push_str("integer background 400 #ff0000ff\n");
    // With a layer for each, 400 × 16 MB.
    fine(&replay(&folder, &stream, &["--size", "2048x2048", "--png", "a.png"]));
    assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5)[0], 255);
}

#[test]
fn what_cannot_be_written_is_told_and_the_rest_is_written() {
    let folder = Folder::new();
    let source = "for (let i = 1; i < 2000; i++) { commit([1, i]); commit([7 | 60 << 8, i, 0], ['x'.repeat(1000)]) } box(9999, 64, 48, 0x00ff00ff)";
    let output = folder.play(source, &["--record", "/dev/full", "--png", "a.png", "--report"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("the stream cannot be recorded"), "{}", text(&output.stderr));
    assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5), [0, 255, 0]);
    assert_eq!(number(&output, "errors"), 0);
    let output = folder.play(source, &["--png", "missing/a.png", "--report", "--record", "a.stream"]);
    assert_eq!(code(&output), 1);
    assert!(text(&output.stderr).contains("missing/a.png cannot be written"), "{}", text(&output.stderr));
    assert_eq!(number(&output, "widgets"), 2000);
    let output = folder.play(source, &["--report=/dev/full"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("cannot be written"), "{}", text(&output.stderr));
}

#[test]
fn a_run_that_does_not_settle_fails_and_keys_have_their_time() {
    let folder = Folder::new();
    let source = "box(1, 64, 48, 0x00ff00ff); const again = () => setTimeout(again, 20); again()";
    let output = folder.play(source, &["--timeout", "200", "--png", "a.png"]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("the app did not settle"));
    assert_eq!(Picture::read(&folder.path("a.png")).pixel(5, 5), [0, 255, 0]);
    let source =
        "box(1, 64, 48, 0x00ff00ff); sluiceSurface.listen(words => { if (words[0] === 1) console.log('key') })";
    let told = fine(&folder.play(source, &["--timeout", "200", "--keys", "wait 900, Enter"]));
    assert_eq!(told.matches("key").count(), 2);
}

#[test]
fn the_largest_stack_ends_with_an_error_of_the_app() {
    let folder = Folder::new();
    let output = folder.play("const down = () => { down() }; down()", &["--stack", "16384", "--memory", "2048"]);
    assert_eq!(code(&output), 1, "{}", text(&output.stderr));
    assert_eq!(code(&folder.play("", &["--stack", "16385"])), 2);
}

#[test]
fn long_chains_and_many_texts_cost_no_more_than_their_length() {
    let folder = Folder::new();
    let mut stream = widget(1, "64", "48");
    for id in 2..=30_000 {
        let above = id - 1;
        write!(stream, "create {id}\nplace {above} {id} 0\nstring text {id} \"{id}\"\n").unwrap();
    }
    fine(&replay(&folder, &stream, &[]));
    // A widget that has others below it is looked for above its new place, 1024 levels far.
    stream.push_str("create 40000\ncreate 40001\nplace 40000 40001 0\nplace 30000 40000 0\n");
    let output = replay(&folder, &stream, &[]);
    assert!(code(&output) == 1 && text(&output.stderr).contains("is below 1024 others"), "{}", text(&output.stderr));
}

#[test]
fn texts_that_widgets_keep_have_a_bound() {
    let folder = Folder::new();
    let source = |id: &str| {
        format!(
            "const rest = 'x'.repeat((1 << 24) - 8);
for (let i = 1; i <= 40; i++) {{ if (i === 1 || '{id}' === 'i') commit([1, i]); commit([7 | 60 << 8, {id}, 0], [i + rest]) }}"
        )
    };
    let output = folder.play(&source("i"), &["--report"]);
    let error = text(&output.stderr);
    assert!(code(&output) == 1 && error.contains("widgets and styles keep more than 268435456 bytes"), "{error}");
    assert_eq!(number(&output, "widgets"), 16);
    // Texts that others have followed count no longer.
    fine(&folder.play(&source("1"), &[]));
}

#[test]
fn pictures_that_have_no_room_together_come_to_rest() {
    let folder = Folder::new();
    std::fs::write(folder.path("a.png"), picture(2048, 2048)).unwrap();
    // So large that only what is visible is scaled, from 16 MB each.
    let mut stream = String::new();
    for id in 1..=3 {
        let address = "./".repeat(id as usize);
        let place = "integer position {id} absolute".replace("{id}", &id.to_string());
        writeln!(stream, "{}{place}\nstring image {id} \"{address}a.png\"", widget(id, "4000", "4000")).unwrap();
    }
    let output = replay(&folder, &stream, &["--image-memory", "20", "--timeout", "2000", "--report"]);
    let error = fine(&output);
    assert!(error.contains("beside those in use it has no room"), "{error}");
    assert!(number(&output, "imageBytes") <= 20 << 20, "{}", text(&output.stdout));
}

#[test]
fn an_app_may_not_say_where_a_request_goes() {
    let folder = Folder::new();
    for name in ["Host", "content-length", "Transfer-Encoding", "Proxy-Authorization", "Connection"] {
        let source = format!(
            "fetch('HTTP://127.0.0.1:9/', {{ headers: {{ '{name}': '1' }} }}).catch(error => console.log(error.message))"
        );
        let told = fine(&folder.play(&source, &["--allow-net", "127.0.0.1"]));
        assert!(told.contains(&format!("an app may not set the header {name}")), "{told}");
    }
}

#[test]
fn of_files_elsewhere_nothing_is_said_and_pipes_are_not_waited_for() {
    let folder = Folder::new();
    folder.write("data.json", "{ \"films\": 3 }");
    assert!(std::process::Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    for (address, answer) in [
        ("/etc/passwd", "is not beside the bundle"),
        ("/etc/no-such-file", "is not beside the bundle"),
        ("../no-such-file", "is not beside the bundle"),
        ("pipe", "is no regular file"),
        (".", "is no regular file"),
        ("./data.json?v=1#top", "{ \"films\": 3 }"),
    ] {
        let source = format!(
            "fetch('{address}').then(answer => answer.text()).then(console.log, error => console.log(error.message))"
        );
        let told = fine(&folder.play(&source, &[]));
        assert!(told.contains(answer), "{address}: {told}");
    }
}

#[test]
fn requests_beyond_sixteen_wait() {
    let folder = Folder::new();
    folder.write("data.json", "12");
    let source = "Promise.all(Array.from({ length: 100 }, () => fetch('data.json').then(answer => answer.json())))
  .then(all => console.log('sum', all.reduce((sum, one) => sum + one)))";
    assert!(fine(&folder.play(source, &[])).contains("sum 1200"));
}

#[test]
fn half_a_surrogate_pair_is_one_character_of_a_text() {
    let folder = Folder::new();
    let source = "console.log('a\\ud800b \\u{1f600}'.slice(0, 6), new TextEncoder().encode('\\udc00').length);
commit([1, 1, 2, 0, 1, 0, 7 | 60 << 8, 1, 0], ['Hello \\ud800 \\u{1f600} world \\udfff']);
throw new Error('not \\ud800')";
    let output = folder.play(source, &["--record", "a.stream"]);
    let told = text(&output.stderr);
    assert!(told.contains("a\u{fffd}b \u{1f600} 3\n") && told.contains("Error: not \u{fffd}"), "{told}");
    let recorded = text(&std::fs::read(folder.path("a.stream")).unwrap());
    assert!(recorded.contains("Hello \u{fffd} \u{1f600} world \u{fffd}"), "{recorded}");
}

#[test]
fn outputs_that_take_nothing_end_no_run() {
    let folder = Folder::new();
    folder.write("a.js", "for (let i = 0; i < 9; i++) console.log(i); console.error('end')");
    folder.write("throw.js", "throw new Error('no')");
    let binary = env!("CARGO_BIN_EXE_sluice-player");
    let shell = |command: &str| {
        let command = command.replace("PLAYER", binary);
        std::process::Command::new("bash").current_dir(folder.path("")).args(["-c", &command]).output().unwrap()
    };
    let output = shell("PLAYER run a.js > /dev/full");
    let told = text(&output.stderr);
    assert!(code(&output) == 1 && told.contains("end") && !told.contains("panic"), "{told}");
    assert_eq!(told.matches("the standard output cannot be written").count(), 1, "{told}");
    let output = shell("PLAYER --help > /dev/full");
    assert!(code(&output) == 1 && !text(&output.stderr).contains("panic"), "{}", text(&output.stderr));
    assert_eq!(code(&shell("PLAYER run throw.js 2> /dev/full")), 1);
    // A reader that has gone is nothing to tell of.
    let output = shell("PLAYER run a.js > >(exec >&-; exit)");
    assert!(!text(&output.stderr).contains("cannot be written"), "{}", text(&output.stderr));
}
