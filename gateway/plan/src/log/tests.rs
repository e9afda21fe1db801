use proptest::prelude::*;

use super::*;

const NGINX: &str = r#"203.0.113.7 - - [28/Nov/2026:20:55:04 +0000] "GET /products/42?q=1 HTTP/1.1" 200 5316 "https://shop.example/" "Mozilla/5.0 (X11; Linux x86_64)" 0.061 0.048"#;
const HAPROXY: &str = r#"Nov 28 20:55:04 lb1 haproxy[14389]: 10.0.1.2:33317 [28/Nov/2026:20:55:04.655] http-in app/web1 10/0/1/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {shop.example} {} "GET /index.html HTTP/1.1""#;
const SLUICE: &str = r#"{"time":"2026-11-28T20:55:04.123Z","level":"info","event":"access","method":"GET","target":"/a?b=\"c\"","host":"shop.example","class":"GET /a","worker":3,"receive_ms":0.5,"queue_ms":2.25,"unserved_ms":null,"service_ms":31.5,"total_ms":34.4,"cpu_ms":20.125}"#;
/// 2026-11-28 20:55:04 UTC.
const MOMENT: i64 = 1_795_899_304_000_000;

fn read(format: &str, log: &str) -> LogReader {
    let format = if format.is_empty() { Format::default() } else { format.parse().expect("a format") };
    let mut reader = LogReader::new(format, 1);
    reader.read("log", &mut log.as_bytes()).expect("memory can be read");
    reader
}

/// Arrival, service time and class of the only line.
#[track_caller]
fn only(format: &str, line: &str) -> (i64, u64, String) {
    let (stretch, counts) = read(format, line).busiest(10);
    assert_eq!((counts.requests, counts.strange), (1, 0), "{line}: {counts:?}");
    let it = stretch.requests[0];
    let class = stretch.names[usize::from(it.class())].to_string();
    (i64::try_from(stretch.began_us).unwrap(), u64::from(it.cpu_us()) + u64::from(it.wait_us()), class)
}

#[test]
fn nginx_with_times_is_recognised_and_its_date_is_the_end() {
    let (at_us, service_us, class) = only("", NGINX);
    assert_eq!((service_us, &*class), (48_000, "GET /products/:id"));
    assert!((MOMENT - 61_000..MOMENT + 939_000).contains(&at_us), "{at_us}");
    let keyed = NGINX.replace(" 0.061 0.048", r#" rt=0.061 uct="0.001" uht="0.040" urt="0.010, 0.048""#);
    assert_eq!(only("", &keyed).1, 48_000);
    let alone = NGINX.replace(" 0.048", "");
    assert_eq!(only("", &alone).1, 61_000);
}

#[test]
fn a_log_format_of_nginx_gives_the_fields() {
    let format = "$msec $request_method $host $request_uri $upstream_response_time $request_time";
    let (at_us, service_us, class) = only(format, "1795899304.250 POST shop.example /cart 0.020 0.050");
    assert_eq!((at_us, service_us, &*class), (MOMENT + 200_000, 20_000, "POST /cart"));
    let counts = read(format, "1795899304.250 GET shop.example / - 0.000\n").counts().clone();
    assert_eq!((counts.elsewhere, counts.requests, counts.strange), (1, 0, 0));
}

#[test]
fn apache_is_recognised_and_its_date_is_the_beginning() {
    let line =
        r#"203.0.113.7 - frank [28/Nov/2026:20:55:04 +0000] "GET /a HTTP/1.0" 200 2326 "-" "curl \" 7 \\" 48213"#;
    let (at_us, service_us, class) = only("", line);
    assert_eq!((service_us, &*class), (48_213, "GET /a"));
    assert!((MOMENT..MOMENT + 1_000_000).contains(&at_us), "{at_us}");
    assert_eq!(only("", r#"::1 - - [28/Nov/2026:20:55:04 +0000] "GET /a HTTP/1.0" 200 2326 48213"#).1, 48_213);
    let format = r#"%{msec}t %>s \"%r\" %{ms}T"#;
    let (at_us, service_us, _) = only(format, r#"1795899304250 200 "GET /a HTTP/1.1" 48"#);
    assert_eq!((at_us, service_us), (MOMENT + 250_000, 48_000));
}

#[test]
fn haproxy_gives_the_request_and_the_server_its_time() {
    let (at_us, service_us, class) = only("", HAPROXY);
    assert_eq!((at_us, service_us, &*class), (MOMENT + 665_000, 69_000, "GET /index.html"));
    let bare = &HAPROXY[HAPROXY.find("10.0.1.2").expect("is there")..];
    assert_eq!(only("", bare).1, 69_000);
    let none = HAPROXY.replace("app/web1 10/0/1/69/109", "app/<NOSRV> 10/-1/-1/-1/10");
    assert_eq!(read("", &none).counts().elsewhere, 1);
    let stats = HAPROXY.replace("app/web1 10/0/1/69/109", "app/<STATS> 10/-1/-1/-1/10");
    assert_eq!(read("", &stats).counts().elsewhere, 1);
    // It waited for a server and got none: its service time is not known.
    let (stretch, _) = read("", &format!("{HAPROXY}\n{}", HAPROXY.replace("/0/1/69/109", "/20/-1/-1/30"))).busiest(9);
    assert_eq!((stretch.knows.unserved, stretch.requests.iter().all(|it| it.cpu_us() == 69_000)), (1, true));
}

#[test]
fn sluices_own_log_has_cpu_time_queue_wait_and_class() {
    let (stretch, counts) = read("", SLUICE).busiest(10);
    let it = stretch.requests[0];
    assert_eq!((it.cpu_us(), it.wait_us(), it.measured_us()), (20_125, 11_375, Some(33_750)));
    assert_eq!((stretch.began_us, &*stretch.names[1]), (u64::try_from(MOMENT).unwrap() + 123_500, "GET /a"));
    assert_eq!((counts.formats, stretch.knows.cpu_share), (vec!["Sluice"], 1.0));
    let others = [
        SLUICE.replace("\"access\"", "\"worker_ready\""),
        SLUICE.replace("\"access\"", "\"alarm_raised\"").replace("\"GET /a\"", "null"),
        SLUICE.replace("\"service_ms\":31.5", "\"service_ms\":null"),
    ];
    let counts = read("", &others.join("\n")).counts().clone();
    assert_eq!((counts.requests, counts.elsewhere, counts.strange), (0, 1, 0));
}

#[test]
fn lines_without_times_and_strange_lines_are_counted_and_named() {
    let untimed = NGINX.replace(" 0.061 0.048", "");
    let counts = read("", &format!("{untimed}\n\nhello\n{NGINX}\n{{}}\n")).counts().clone();
    assert_eq!((counts.lines, counts.untimed, counts.requests, counts.strange), (4, 1, 1, 2));
    assert_eq!(counts.strange_first, ["log:3", "log:5"]);
}

#[test]
fn hostile_lines_are_strange_and_do_no_harm() {
    let long = format!("{}{}", "a".repeat(3 * LINE_BYTES_MAX), NGINX);
    let hostile = [
        &long,
        "[28/Nov/2026:20:55:04.655]",
        "[28/Nov/2026:20:55:04.655] a b 1/2/3/4/5",
        "[28/Nov/2026:20:55:04.655] a b 99999999999999999999/2/3/4/5 200 \"GET / HTTP\"",
        "{\"time\":\"2026-11-28T20:55:04.123Z\",\"event\":\"access\",\"service_ms\":-1}",
        "{\"time\":\"2026-11-28T20:55:04.123Z\",\"event\":\"access\",\"service_ms\":1e300}",
        "\u{0}\u{1}\u{fffd}",
        "[[[[",
    ];
    let counts = read("", &hostile.join("\n")).counts().clone();
    assert_eq!((counts.strange, counts.requests), (hostile.len() as u64, 0), "{counts:?}");
    // Times and dates that are far away are cut, not wrapped.
    let far = r#"{"time":"9999-12-31T23:59:59Z","event":"access","class":"a","service_ms":1e12,"cpu_ms":1e12}"#;
    let near = r#"{"time":"1970-01-01T00:00:00Z","event":"access","class":"a","service_ms":1}"#;
    let late = HAPROXY.replace("10/0/1/69/109", "999999999999999999/0/1/999999999999999999/109");
    let (stretch, counts) = read("", &format!("{near}\n{far}\n{SLUICE}\n{SLUICE}\n{SLUICE}\n{far}")).busiest(10);
    assert_eq!((counts.requests, counts.far, stretch.len(), stretch.span_us()), (3, 3, 3, 1));
    assert_eq!(read("", &late).busiest(10).0.len(), 1);
}

#[test]
fn classes_beyond_the_bound_are_one() {
    let line = |at: usize| SLUICE.replace("GET /a", &format!("GET /{at}"));
    let log: Vec<String> = (0..700).map(line).collect();
    let (stretch, _) = read("", &log.join("\n")).busiest(1_000);
    assert_eq!((stretch.names.len(), &*stretch.names[0]), (501, crate::OTHERS));
    assert_eq!(stretch.requests.iter().filter(|it| it.class() == 0).count(), 200);
}

#[test]
fn formats_that_cannot_be_used_say_what_is_missing() {
    let refused = |text: &str| text.parse::<Format>().expect_err(text).to_string();
    assert!(refused("iis").contains("is meant"));
    assert!(refused("$request_time $request").contains("$msec"));
    assert!(refused("$msec $request").contains("$upstream_response_time"));
    assert!(refused("$msec $request_time").contains("$request"));
    assert!(refused("$msec$request").contains("between"));
    assert!(refused("%t %D").contains("%r"));
    assert!(refused("%t %r %").contains("is meant"));
    assert!(refused("%t %{x").contains("is meant"));
    for name in ["sluice", "nginx", "apache", "haproxy"] {
        assert!(name.parse::<Format>().is_ok());
    }
}

#[test]
fn the_finest_date_and_time_count_whatever_comes_last() {
    let (at_us, service_us, _) = only(
        "$msec [$time_local] ${request_method} $uri $request_time",
        "1795899304.250 [28/Nov/2026:20:55:04 +0000] GET / 0.050",
    );
    assert_eq!((at_us, service_us), (MOMENT + 200_000, 50_000));
    assert_eq!(only(r#"%t "%r" %D %T"#, r#"[28/Nov/2026:20:55:04 +0000] "GET / HTTP/1.1" 48213 0"#).1, 48_213);
    assert_eq!(read(r#"%t "%r" %T"#, r#"[28/Nov/2026:20:55:04 +0000] "GET / HTTP/1.1" 3"#).counts().whole, 1);
    assert_eq!(read("", &NGINX.replace(" 0.061 0.048", " 0")).counts().tiny, 1);
    assert!("${msec $request $request_time".parse::<Format>().is_err());
}

#[test]
fn nginx_main_with_times_is_recognised_and_upgrades_are_left_out() {
    let main = NGINX.replace(" 0.061 0.048", r#" "198.51.100.7, 10.0.0.1" 0.061 0.048, -"#);
    assert_eq!(only("", &main).1, 48_000);
    let switched = NGINX.replace(" 200 ", " 101 ");
    let counts = read("", &format!("{switched}\n{}", NGINX.replace(" 0.048", " -, -"))).counts().clone();
    assert_eq!((counts.elsewhere, counts.requests, counts.strange), (2, 0, 0));
    assert_eq!(read("", &NGINX.replace(" 0.048", " 0.010, x")).counts().requests, 0);
}

#[test]
fn sluices_log_with_names_of_opentelemetry_and_ecs_is_the_same() {
    let otel = SLUICE.replace("\"time\"", "\"timestamp\"").replace("\"event\"", "\"event.name\"");
    let ecs = SLUICE.replace("\"time\"", "\"@timestamp\"").replace("\"event\"", "\"event.action\"");
    for mut line in [otel, ecs] {
        for name in ["class", "receive_ms", "queue_ms", "service_ms", "unserved_ms", "cpu_ms"] {
            line = line.replace(&format!("\"{name}\""), &format!("\"sluice.{name}\""));
        }
        line = line.replace("\"method\"", "\"http.request.method\"").replace("\"target\"", "\"url.original\"");
        let it = read("", &line).busiest(10).0.requests[0];
        assert_eq!((it.cpu_us(), it.wait_us(), it.measured_us()), (20_125, 11_375, Some(33_750)), "{line}");
    }
}

#[test]
fn gaps_are_left_out_of_the_span_but_not_of_the_dates() {
    let line = |minute: i64| format!("{} / 1000", MOMENT + minute * 60_000_000);
    let format = "%{usec}t %U %D";
    let log = [0, 5, 600, 601].map(line).join("\n");
    let (stretch, _) = read(format, &log).busiest(10);
    // 5 minutes, the 10 s that stay of the gap, and 1 minute.
    assert_eq!((stretch.span_us(), stretch.ended_us - stretch.began_us), (370_000_000, 601 * 60_000_000));
    let (stretch, _) = read(format, &log).busiest(2);
    assert_eq!((stretch.began_us, stretch.span_us()), (u64::try_from(MOMENT).unwrap() + 5 * 60_000_000, 10_000_000));
}

#[test]
fn cpu_time_that_is_not_known_is_the_mean_of_the_class_up_to_the_service_time() {
    let without = |service: &str| SLUICE.replace("\"cpu_ms\":20.125", "\"cpu_ms\":null").replace("31.5", service);
    let (stretch, _) = read("", &[SLUICE, &without("900"), &without("7")].join("\n")).busiest(10);
    let mut cpu: Vec<u32> = stretch.requests.iter().map(|it| it.cpu_us()).collect();
    cpu.sort_unstable();
    assert_eq!(cpu, [7_000, 20_125, 20_125]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(log in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let mut reader = LogReader::new(Format::default(), 1);
        reader.read("log", &mut &log[..]).unwrap();
        let (stretch, counts) = reader.busiest(100);
        prop_assert_eq!(stretch.len() as u64, counts.requests);
    }

    #[test]
    fn a_changed_line_never_panics(which in 0..3_usize, at: prop::sample::Index, byte: u8) {
        let mut line = [NGINX, HAPROXY, SLUICE][which].as_bytes().to_vec();
        let at = at.index(line.len());
        line[at] = byte;
        let mut reader = LogReader::new(Format::default(), 1);
        reader.read("log", &mut &line[..]).unwrap();
        let _ = reader.busiest(100);
    }
}
