//! Markdown as Prettier would leave it.

use super::NOTICE;

/// A page with its title and the notice that it is generated.
pub(super) fn page(title: &str, body: &str) -> String {
    format!("# {title}\n\n<!-- {NOTICE} -->\n\n{}\n", body.trim())
}

/// A table with aligned columns. Cells are Markdown; a `|` in them is escaped here.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| cell.replace('|', "\\|")).collect()).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| {
            let cells = std::iter::once(&head).chain(&rows).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0).max(3)
        })
        .collect();
    let line = |cells: &[String]| {
        let padded: Vec<String> =
            widths.iter().enumerate().map(|(column, width)| format!("{:width$}", cells[column])).collect();
        format!("| {} |\n", padded.join(" | "))
    };
    let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut out = line(&head) + &line(&rule);
    for row in &rows {
        out += &line(row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_pipes_escaped() {
        let rows = [vec!["a|b".to_owned(), "long cell".to_owned()], vec![String::new(), "x".to_owned()]];
        let expected = "| A    | B         |\n| ---- | --------- |\n| a\\|b | long cell |\n|      | x         |\n";
        assert_eq!(table(&["A", "B"], &rows), expected);
    }
}
