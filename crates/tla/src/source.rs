//! The source texts of a specification, and locations in them.

use omnilink_tla_syntax::{Position, Span};

/// One text among [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(pub u16);

/// A location in one of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Site {
    /// The text.
    pub source: SourceId,
    /// The span in it.
    pub span: Span,
}

/// One text.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name in messages: a path, or the name of a built-in module.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Every text read, in order.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let id = SourceId(u16::try_from(self.0.len()).expect("fewer than 65,536 modules"));
        self.0.push(Source { name: name.into(), text: text.into() });
        id
    }

    /// The text with this number.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.0[usize::from(id.0)]
    }

    /// The text at a location.
    pub fn words(&self, site: Site) -> &str {
        site.span.of(&self.get(site.source).text)
    }

    /// The line and column where a location starts.
    pub fn start(&self, site: Site) -> Position {
        Position::of(&self.get(site.source).text, site.span.start)
    }

    /// Every text in order.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(index, source)| (SourceId(index as u16), source))
    }
}
