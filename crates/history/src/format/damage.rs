//! Damaged texts, for tests that readers survive them.

use proptest::sample::Index;

/// A text of ASCII with up to `length` bytes replaced.
pub(super) fn damaged(text: &str, at: &Index, with: &str, length: usize) -> String {
    let at = at.index(text.len());
    let end = (at + length).min(text.len());
    format!("{}{with}{}", &text[..at], &text[end..])
}
