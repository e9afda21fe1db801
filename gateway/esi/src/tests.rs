//! What is understood, what stays text, and that pieces of any cut give the same.

use bytes::Bytes;
use proptest::prelude::*;

use crate::{Include, Parser, Part, TAG_BYTES_MAX, is_announced};

/// What comes of a page in these pieces, with text that stands together as one, and its faults.
fn parsed<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> (Vec<Part>, u64) {
    let (mut parser, mut parts) = (Parser::new(), Vec::new());
    for piece in pieces {
        parser.push(Bytes::copy_from_slice(piece), &mut parts);
    }
    parser.finish(&mut parts);
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => *text = [&text[..], &more].concat().into(),
            (_, part) => joined.push(part),
        }
    }
    (joined, parser.faults())
}

/// `text[src|alt]text`, and the faults.
fn shown(page: &str) -> (String, u64) {
    let (parts, faults) = parsed([page.as_bytes()]);
    let show = |part: &Part| match part {
        Part::Text(text) => String::from_utf8_lossy(text).into_owned(),
        Part::Include(Include { src, alt: None }) => format!("[{src}]"),
        Part::Include(Include { src, alt: Some(alt) }) => format!("[{src}|{alt}]"),
    };
    (parts.iter().map(show).collect(), faults)
}

#[test]
fn tags_that_are_understood() {
    for (page, expected) in [
        ("a<esi:include src=\"/cart\"/>b", "a[/cart]b"),
        ("a<esi:include src='/cart' />b", "a[/cart]b"),
        ("<esi:include\n  src = \"/a?x=1&amp;y=2\"\talt='/b' onerror=\"continue\"/>", "[/a?x=1&y=2|/b]"),
        ("<esi:include src=\"/a?x=1&y=2&amp=3&#38;&#x26;&quot;\"/>", "[/a?x=1&y=2&amp=3&&\"]"),
        ("<esi:include alt=\"\" src=\" /cart \" hidden data-a='>'>", "[/cart]"),
        // As React writes an element without children.
        ("<p><esi:include src=\"/cart\"></esi:include></p>", "<p>[/cart]</p>"),
        ("a<esi:comment text=\"nobody sees this\"/>b<esi:comment text='x'></esi:comment>c", "abc"),
        ("a<esi:remove>b<esi:include src=\"/c\"/></p></esi:removed></esi:remove >d", "ad"),
        ("a<esi:remove/>b</esi:remove>c", "abc"),
        ("a<!--esi b<esi:include src='/c'/>-->d-->", "a b[/c]d-->"),
        ("<!--esi<p>--><!-- a --><!--esix--><!--esi\n<esi:include src=\"-->\"/>-->", "<p><!-- a --><!--esix-->\n[-->]"),
        ("<esi:include src='/a'/><esi:include src='/b'/>", "[/a][/b]"),
    ] {
        assert_eq!(shown(page), (expected.to_owned(), 0), "{page}");
    }
}

#[test]
fn what_is_not_well_formed_is_text_and_counted() {
    for (page, faults) in [
        ("<esi:include/>", 1),
        ("<esi:include src=\"\"/>", 1),
        ("<esi:include src=/cart/>", 1),
        ("<esi:include src='/a' src='/b'/>", 1),
        ("<esi:include src='/a'alt='/b'/>", 1),
        ("<esi:choose><esi:when test=\"1\">a</esi:when></esi:choose>", 4),
        ("<esi:include src='/a", 1),
        ("a<esi:", 1),
        ("a</esi:nothing>", 1),
        ("<ESI:include src='/a'/>", 0),
        ("< esi:include src='/a'/><es", 0),
        ("<!--es<!--esi", 0),
        ("a &lt;esi:include src=\"/a\"/&gt; desire <esi", 0),
    ] {
        assert_eq!(shown(page), (page.to_owned(), faults), "{page}");
    }
    // The one after it is still found.
    assert_eq!(shown("<esi:include src=\"/a><esi:include src='/b'/>"), ("<esi:include src=\"/a>[/b]".to_owned(), 1));
    assert_eq!(shown("a<esi:remove>b"), ("a".to_owned(), 1));
    assert_eq!(shown("a<!--esi b"), ("a b".to_owned(), 1));
    let long = |len: usize| format!("<esi:include src='/{}'/>", "a".repeat(len - 22));
    assert_eq!(long(TAG_BYTES_MAX).len(), TAG_BYTES_MAX);
    assert_eq!(shown(&long(TAG_BYTES_MAX)).1, 0);
    let too_long = long(TAG_BYTES_MAX + 1);
    assert_eq!(shown(&too_long), (too_long.clone(), 1));
}

#[test]
fn text_is_passed_on_as_soon_as_it_is_known_to_be_text() {
    let (mut parser, mut parts) = (Parser::new(), Vec::new());
    parser.push(Bytes::from_static(b"<p>one</p><esi:incl"), &mut parts);
    assert_eq!(parts, [Part::Text(Bytes::from_static(b"<p>one</p>"))]);
    parser.push(Bytes::from_static(b"ude src='/a'/>"), &mut parts);
    assert_eq!(parts[1..], [Part::Include(Include { src: "/a".to_owned(), alt: None })]);
}

#[test]
fn an_app_announces_the_language_among_other_words() {
    for value in ["content=\"ESI/1.0\"", "max-age=60, content=\"ESI-Inline/1.0 ESI/1.0\";sluice", "CONTENT = esi/1.0"] {
        assert!(is_announced(value.as_bytes()), "{value}");
    }
    for value in ["", "max-age=60", "content=\"ESI-Inline/1.0\"", "discontent=\"ESI/1.0\"", "content"] {
        assert!(!is_announced(value.as_bytes()), "{value}");
    }
}

/// Pages of what the parser looks at, whole and broken.
fn page() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        prop::sample::select(vec![
            "<esi:include src=\"/a\"/>",
            "<esi:include src='/b' alt=\"/c\"></esi:include>",
            "<esi:include ",
            "<esi:remove>",
            "</esi:remove>",
            "</esi:remove  >",
            "<esi:comment text='-->'/>",
            "<!--esi ",
            "<!--esi",
            "<!-->",
            "-->",
            "--",
            "<",
            "</",
            "<!",
            "esi:",
            "esi",
            "src=",
            "\"",
            "'",
            ">",
            "/>",
            " ",
        ])
        .prop_map(str::to_owned),
        "[a-z<>!/:\" -]{0,6}",
    ];
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

proptest! {
    #[test]
    fn pieces_of_any_cut_give_the_same(page in page(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(page.len() + 1)).chain([0, page.len()]).collect();
        at.sort_unstable();
        let pieces = at.windows(2).map(|ends| &page.as_bytes()[ends[0]..ends[1]]);
        let whole = parsed([page.as_bytes()]);
        prop_assert_eq!(parsed(pieces), whole.clone());
        prop_assert_eq!(parsed(page.as_bytes().chunks(1)), whole);
    }

    #[test]
    fn a_page_without_tags_passes_byte_for_byte(page in prop::collection::vec(any::<u8>(), 0..400), size in 1..50_usize) {
        prop_assume!(!page.windows(5).any(|five| five == b"<esi:") && !page.windows(6).any(|six| six == b"</esi:"));
        prop_assume!(!page.windows(7).any(|seven| seven == b"<!--esi"));
        let expected: Vec<Part> = if page.is_empty() { Vec::new() } else { vec![Part::Text(page.clone().into())] };
        prop_assert_eq!(parsed(page.chunks(size)), (expected, 0));
    }
}
