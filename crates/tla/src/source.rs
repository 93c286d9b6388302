//! The texts that a specification was read from, and places in them.

use tla_syntax::{Position, Span};

/// One text among [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SourceId(pub u16);

/// A place in one of the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Site {
    /// Which text.
    pub source: SourceId,
    /// Where in it.
    pub span: Span,
}

/// One text.
#[derive(Debug, Clone)]
pub struct Source {
    /// What it is called in messages: a path, or the name of a module that came with us.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Every text that was read, in the order of reading.
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

    /// The words at a place.
    pub fn words(&self, site: Site) -> &str {
        site.span.of(&self.get(site.source).text)
    }

    /// Line and column where a place begins.
    pub fn start(&self, site: Site) -> Position {
        Position::of(&self.get(site.source).text, site.span.start)
    }

    /// Every text in order.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0.iter().enumerate().map(|(index, source)| (SourceId(index as u16), source))
    }
}
