//! Links in Markdown into the repository must have a target.

use std::path::Path;

use pulldown_cmark::{Event, Parser, Tag};

use super::{File, Finding};

/// Checks one file, asking `exists` about paths from the root of the repository.
pub(super) fn check(file: &File, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    let File { path, text } = file;
    if !path.ends_with(".md") {
        return Vec::new();
    }
    let directory = Path::new(path).parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    for (event, range) in Parser::new(text).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event else { continue };
        let target = dest_url.split('#').next().unwrap_or_default();
        let is_elsewhere = target.is_empty() || target.contains("://") || target.starts_with("mailto:");
        if !is_elsewhere && !exists(&directory.join(target)) {
            let line = text[..range.start].matches('\n').count() + 1;
            findings.push(Finding::new(path, line, format!("link to `{target}`, which does not exist")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::listing;
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let text = include_str!("../../test_data/bad.md").to_owned();
        let file = File { path: "book/bad.md".to_owned(), text };
        insta::assert_snapshot!(listing(check(&file, |path| path == Path::new("book/README.md"))), @"
        book/bad.md:10: link to `no/such.md`, which does not exist
        book/bad.md:11: link to `picture.png`, which does not exist
        ");
    }
}
