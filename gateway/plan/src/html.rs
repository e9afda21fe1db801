//! The plan as one HTML page with plots as inline SVG: no scripts, no other files.

use std::fmt::Write as _;

use sluice_message::escaped_html;

use crate::log::Counts;
use crate::page::{duration, list, page, table};
use crate::plan::{ClassRow, Latency, PERCENTILES, Plan, REFUSED_MAX, Row};
use crate::text::{answers, base, notes, tables, times, traffics};

const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const WIDTH: f64 = 700.0;
const HEIGHT: f64 = 300.0;
/// Room for labels on the left, below, above and on the right.
const MARGINS: [f64; 4] = [60.0, 40.0, 14.0, 150.0];

/// A line of a plot: its name, whether it is dashed, its points by workers.
struct Curve {
    name: String,
    colour: &'static str,
    is_dashed: bool,
    points: Vec<(usize, f64)>,
}

/// Latency over workers, on a logarithmic scale.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "small")]
fn plot(title: &str, curves: &[Curve]) -> String {
    let all = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let Some((from, to)) = all().map(|(at, _)| (at, at)).reduce(|one, it| (one.0.min(it.0), one.1.max(it.1))) else {
        return String::new();
    };
    let [left, below, above, right] = MARGINS;
    let low = all().map(|(_, ms)| ms).fold(f64::INFINITY, f64::min).max(0.01).log10().floor();
    let high = all().map(|(_, ms)| ms).fold(0.01, f64::max).log10().ceil().max(low + 1.0);
    let x = |workers: usize| left + (WIDTH - left - right) * (workers - from) as f64 / (to - from).max(1) as f64;
    let y = |ms: f64| above + (HEIGHT - above - below) * (high - ms.max(0.01).log10()) / (high - low);
    let mut svg = format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">", escaped_html(title));
    for power in low as i32..=high as i32 {
        let at = y(10_f64.powi(power));
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - right,
            left - 6.0,
            at + 4.0,
            duration(10_f64.powi(power))
        );
    }
    for workers in (from..=to).step_by((to - from).div_ceil(16).max(1)) {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{workers}</text>",
            x(workers),
            HEIGHT - below + 18.0
        );
    }
    let _ = write!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">workers</text><line class=\"axis\" x1=\"{left}\" x2=\"{:.1}\" y1=\"{2:.1}\" y2=\"{2:.1}\"/>",
        f64::midpoint(left, WIDTH - right),
        HEIGHT - 6.0,
        WIDTH - right,
    );
    for (place, curve) in curves.iter().enumerate() {
        let dash = if curve.is_dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let points: Vec<String> =
            curve.points.iter().map(|(workers, ms)| format!("{:.1},{:.1}", x(*workers), y(*ms))).collect();
        let at = above + 12.0 + 18.0 * place as f64;
        let colour = curve.colour;
        let _ = write!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash} points=\"{}\"/>",
            points.join(" ")
        );
        for (workers, ms) in &curve.points {
            let _ = write!(svg, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>", x(*workers), y(*ms));
        }
        let _ = write!(
            svg,
            "<line x1=\"{0:.1}\" x2=\"{1:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/><text x=\"{2:.1}\" y=\"{3:.1}\">{4}</text>",
            WIDTH - right + 12.0,
            WIDTH - right + 36.0,
            WIDTH - right + 42.0,
            at + 4.0,
            escaped_html(&curve.name)
        );
    }
    svg + "</svg>"
}

/// One point for each number of workers, of the replays with these lanes and this traffic.
fn points(plan: &Plan, lanes: bool, traffic: f64, ms_of: impl Fn(&Row) -> Option<f64>) -> Vec<(usize, f64)> {
    let mut workers: Vec<usize> = plan.rows.iter().map(|row| row.workers).collect();
    workers.dedup();
    workers.into_iter().filter_map(|at| Some((at, plan.row(at, lanes, traffic).and_then(&ms_of)?))).collect()
}

/// The latency, unless requests were refused: those that are left look fast.
fn at(latency: Option<&Latency>, place: usize) -> Option<f64> {
    latency.filter(|latency| latency.refused <= REFUSED_MAX).and_then(|latency| latency.ms).map(|all| all[place])
}

/// Writes the page.
pub fn html(plan: &Plan, counts: &Counts) -> String {
    let traffics = traffics(plan);
    let mut body = list(&notes(plan, counts));
    if let Some((title, sentences)) = answers(plan) {
        let _ = write!(body, "<h2>{title}</h2>{}", list(&sentences));
    }
    for (place, percentile) in PERCENTILES.iter().enumerate() {
        let mut curves = Vec::new();
        for (it, colour) in traffics.iter().zip(COLOURS.iter().cycle()) {
            for lanes in [true, false] {
                let name = format!("{}, lanes {}", times(*it), if lanes { "on" } else { "off" });
                let points = points(plan, lanes, *it, |row| at(row.all.as_ref(), place));
                curves.push(Curve { name, colour, is_dashed: !lanes, points });
            }
        }
        let title = format!("p{percentile} of all requests by workers");
        let _ = write!(body, "<h2>{title}</h2>{}", plot(&title, &curves));
    }
    let base = base(&traffics);
    let classes = plan.classes.iter().enumerate().filter(|(_, class)| class.requests > 0);
    let curve = |((column, class), colour): ((usize, &ClassRow), _)| Curve {
        name: class.class.chars().take(18).collect(),
        colour,
        is_dashed: false,
        points: points(plan, true, base, |row| at(row.classes.get(column), 1)),
    };
    let curves: Vec<Curve> = classes.zip(COLOURS).map(curve).collect();
    let title = format!("p95 by class at {}, lanes on", times(base));
    let _ = write!(body, "<h2>{title}</h2>{}", plot(&title, &curves));
    for made in tables(plan) {
        let _ = write!(body, "<h2>{}</h2>{}<p>{}</p>", made.title, table(&made.rows), made.note);
    }
    page("Capacity plan", &body)
}
