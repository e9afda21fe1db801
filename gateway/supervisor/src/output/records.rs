//! Lines of a worker's output that belong together: a stack or an object over several lines becomes one record.
//!
//! Pure: the reader of the output reports its silence. It must not know the meaning of a record.

/// Maximum number of lines in a record; the next one begins another.
const LINES_MAX: usize = 200;
/// Maximum size of a record, bytes, as for a line of the log.
const BYTES_MAX: usize = 16 * 1024;

/// A record that may be incomplete.
#[derive(Default)]
pub(crate) struct Records {
    text: String,
    lines: usize,
}

impl Records {
    /// Takes a line, and passes on the record that it completes. Blank lines end a record and are none: Node.js writes
    /// some before and after an exception.
    pub(crate) fn line(&mut self, line: &str, mut take: impl FnMut(&str)) {
        let has_room = self.lines < LINES_MAX && self.text.len() + 1 + line.len() <= BYTES_MAX;
        if self.lines > 0 && has_room && self.is_continued_by(line) {
            self.text.push('\n');
            self.text.push_str(line);
            self.lines += 1;
            return;
        }
        self.end(&mut take);
        if line.trim().is_empty() {
            return;
        }
        if is_whole(line) {
            return take(line);
        }
        self.text.push_str(line);
        self.lines = 1;
    }

    /// Passes on the open record, because no line has come for a while.
    pub(crate) fn end(&mut self, mut take: impl FnMut(&str)) {
        if self.lines > 0 {
            take(&self.text);
            self.text.clear();
            self.lines = 0;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.lines > 0
    }

    /// Whether the line continues the record. Frames of a stack, causes and properties are indented; their closing
    /// bracket is not.
    fn is_continued_by(&self, line: &str) -> bool {
        let is_indented = line.starts_with([' ', '\t']) && !line.trim().is_empty();
        let closes = line.starts_with(['}', ']', ')']) && self.text.trim_end().contains('\n');
        is_indented || closes
    }
}

/// Whether nothing can follow the line: it is an object in JSON.
fn is_whole(line: &str) -> bool {
    line.starts_with('{') && line.ends_with('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(lines: &[&str]) -> Vec<String> {
        let mut records = Records::default();
        let mut all = Vec::new();
        for line in lines {
            records.line(line, |record| all.push(record.to_owned()));
        }
        records.end(|record| all.push(record.to_owned()));
        assert!(!records.is_open());
        all
    }

    #[test]
    fn a_stack_and_its_cause_are_one_record() {
        let stack = [
            "TypeError: no",
            "    at f (/app/a.js:1:2)",
            "    at g (/app/a.js:3:4) {",
            "  code: 'E_NO',",
            "  [cause]: Error: why",
            "      at h (/app/b.js:1:2)",
            "}",
        ];
        assert_eq!(records(&[&stack[..], &["next"]].concat()), [stack.join("\n"), "next".to_owned()]);
    }

    #[test]
    fn lines_that_are_not_indented_stay_apart() {
        assert_eq!(records(&["one", "two", "}", "three"]), ["one", "two", "}", "three"]);
        assert_eq!(records(&["  first", "  second"]), ["  first\n  second"]);
    }

    #[test]
    fn blank_lines_end_a_record_and_are_none() {
        assert_eq!(records(&["", "one", "", "  two", " ", "", "three", ""]), ["one", "  two", "three"]);
    }

    #[test]
    fn an_object_in_json_is_a_record_at_once_and_one_over_several_lines_is_joined() {
        let mut taken = Vec::new();
        let mut open = Records::default();
        open.line(r#"{"level":30}"#, |record| taken.push(record.to_owned()));
        assert!(!open.is_open() && taken == [r#"{"level":30}"#]);
        assert_eq!(records(&["{", "  a: 1", "}", r#"{"a":1}"#, "  after"]), ["{\n  a: 1\n}", r#"{"a":1}"#, "  after"]);
    }

    #[test]
    fn a_record_is_bounded_in_lines_and_bytes_and_nothing_is_lost() {
        let lines: Vec<String> = (0..1000).map(|number| format!(" {number}")).collect();
        let short: Vec<&str> = lines.iter().map(String::as_str).collect();
        let joined = records(&short);
        assert_eq!(joined.len(), 1000_usize.div_ceil(LINES_MAX));
        assert_eq!(joined.join("\n"), short.join("\n"));
        let long = format!(" {}", "x".repeat(BYTES_MAX / 3));
        let joined = records(&[&long, &long, &long, &long]);
        assert!(joined.len() == 2 && joined.iter().all(|record| record.len() <= BYTES_MAX));
    }
}
