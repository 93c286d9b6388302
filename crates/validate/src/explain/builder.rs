//! Translates from the search and the machine to a report: names, texts and spans.

use omnilink_history::OpId;
use omnilink_report::{Mentions, OpRef, Source, Span};
use omnilink_tla::program::Program;
use omnilink_tla::source::{Site, SourceId};

/// Collects the operations and texts that a report mentions.
#[derive(Default)]
pub struct ReportBuilder {
    /// The mentioned operations.
    mentioned: Mentions<OpId>,
    /// The texts that spans point into.
    sources: Vec<SourceId>,
    /// The names of operations in sentences, as far as they were looked up.
    named: Vec<(OpId, String)>,
}

impl ReportBuilder {
    /// The mentioned operations.
    pub fn mentions(&mut self) -> &mut Mentions<OpId> {
        &mut self.mentioned
    }

    /// Mentions an operation.
    pub fn op(&mut self, id: OpId) -> OpRef {
        self.mentioned.op(id)
    }

    /// The mentioned operations: an [`OpRef`] is an index into them.
    pub fn mentioned(&self) -> &[OpId] {
        self.mentioned.ids()
    }

    /// Sets the name of an operation in sentences.
    pub fn name(&mut self, id: OpId, words: String) {
        self.named.push((id, words));
    }

    /// The operation in words.
    pub(crate) fn words(&self, id: OpId) -> String {
        let named = self.named.iter().find(|(named, _)| *named == id);
        named.map_or_else(|| id.to_string(), |(_, words)| words.clone())
    }

    /// A span in a text.
    pub fn span(&mut self, site: Site) -> Span {
        let known = self.sources.iter().position(|source| *source == site.source);
        let source = known.unwrap_or_else(|| {
            self.sources.push(site.source);
            self.sources.len() - 1
        });
        Span { source, start: site.span.start as usize, end: site.span.end as usize }
    }

    /// The texts that spans point into.
    pub fn sources(&self, program: &Program) -> Vec<Source> {
        let source = |id: &SourceId| {
            let source = program.module.sources.get(*id);
            Source { path: source.name.clone(), text: source.text.clone() }
        };
        self.sources.iter().map(source).collect()
    }
}
