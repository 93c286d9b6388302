//! The types whose states are carried from one check of a key to the next are those that the book names.

use std::fs;
use std::path::Path;

use omnilink_judge::{CheckOptions, Judge};

#[test]
fn the_book_names_the_types_that_are_not_carried() {
    let carries = |name: &str| Judge::new(name, CheckOptions::default()).expect("a specification").carries();
    let not_carried: Vec<&str> =
        omnilink_models::names().iter().map(|about| about.name).filter(|name| !carries(name)).collect();
    assert_eq!(not_carried, ["mutex"]);
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src");
    let chapters = [
        ("fleet.md", "A check carries states for built-in specifications, except `mutex`, and for TLA+ modules"),
        (
            "monitor.md",
            "The monitor carries states from one check of a key to the next for all built-in types but `mutex`",
        ),
    ];
    for (chapter, sentence) in chapters {
        let text = fs::read_to_string(book.join(chapter)).expect("a chapter").replace('\n', " ");
        assert!(text.contains(sentence), "{chapter}");
    }
}
