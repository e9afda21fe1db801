//! What `[log]` refuses.

use super::problems;

#[test]
fn headers_and_masked_words_are_written_in_one_way() {
    let many: Vec<String> = (0..33).map(|number| format!("\"x-{number}\"")).collect();
    for (line, key) in [
        ("headers = [\"User-Agent\"]".to_owned(), "log.headers"),
        ("headers = [\"a b\"]".to_owned(), "log.headers"),
        ("headers = [\"\"]".to_owned(), "log.headers"),
        ("headers = [\"a\", \"a\"]".to_owned(), "log.headers"),
        (format!("headers = [{}]", many.join(", ")), "log.headers"),
        ("query_masked = [\"a_b\"]".to_owned(), "log.query_masked"),
        ("query_masked = [\"\"]".to_owned(), "log.query_masked"),
    ] {
        let found = problems(&format!("[log]\n{line}\n"));
        assert!(found.len() == 1 && found[0].contains(&format!(": {key} ")), "{line} gave {found:?}");
    }
}
