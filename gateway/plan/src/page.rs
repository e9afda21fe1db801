//! Forms of a report: a page of HTML without scripts or other files, and tables and times for a terminal.

use std::fmt::Write as _;

use sluice_message::escaped_html;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}\
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #8884}th:first-child,td:first-child{text-align:left}\
svg{width:100%;max-width:44rem;height:auto}:root{color-scheme:light dark}.axis{stroke:#888;stroke-width:1}.grid{stroke:#8883}\
svg text{font:12px system-ui,sans-serif;fill:currentColor}";

/// A page with this title; `body` is HTML.
pub fn page(title: &str, body: &str) -> String {
    let title = escaped_html(title);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )
}

/// A list of these texts.
pub fn list(lines: &[String]) -> String {
    let mut text = "<ul>".to_owned();
    for line in lines {
        let _ = write!(text, "<li>{}</li>", escaped_html(line));
    }
    text + "</ul>"
}

/// A table of these texts; the first row is its head.
pub fn table(rows: &[Vec<String>]) -> String {
    let mut text = "<table>".to_owned();
    for (at, row) in rows.iter().enumerate() {
        let tag = if at == 0 { "th" } else { "td" };
        text.push_str("<tr>");
        for cell in row {
            let _ = write!(text, "<{tag}>{}</{tag}>", escaped_html(cell));
        }
        text.push_str("</tr>");
    }
    text + "</table>"
}

/// Columns as wide as their widest cell; all but the first on the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let _ = if at == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Time in milliseconds with about three figures: without a unit, or seconds with theirs.
pub fn ms(value: f64) -> String {
    match value {
        value if value < 9.95 => format!("{value:.1}"),
        value if value < 9_950.0 => format!("{value:.0}"),
        value => format!("{:.0}s", value / 1_000.0),
    }
}

/// Time in milliseconds with its unit.
pub fn duration(value: f64) -> String {
    if value < 9_950.0 { format!("{} ms", ms(value)) } else { format!("{:.0} s", value / 1_000.0) }
}

/// `1 request`, `2 requests`.
pub fn plural(count: u64, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
