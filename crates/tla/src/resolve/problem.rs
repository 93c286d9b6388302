//! Errors of a specification, over all its texts.

use std::fmt;

use omnilink_tla_syntax::Diagnostic;

use crate::source::{Site, SourceId, Sources};

/// The maximum number of errors to report.
const SHOWN: usize = 100;

/// The maximum number of errors to collect; the first ones in the text are among them.
const LIMIT: usize = 1000;

/// One error, and the text it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The text.
    pub source: SourceId,
    /// The error.
    pub diagnostic: Diagnostic,
    /// Related locations in other texts.
    pub related: Vec<(Site, String)>,
}

/// Every error found, and the texts they are in.
#[derive(Debug, Clone)]
pub struct Errors {
    /// The texts.
    pub sources: Sources,
    /// The errors, ordered by text and then by location; at least one.
    pub errors: Vec<Problem>,
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.errors.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let position = self.sources.start(Site { source: problem.source, span: problem.diagnostic.span });
            let name = &self.sources.get(problem.source).name;
            write!(f, "{name}:{}:{}: {}", position.line, position.column, problem.diagnostic.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

/// The errors found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<Problem>);

impl Problems {
    /// Adds an error, unless it is already there, as happens when a module is resolved for two instances.
    pub(super) fn add(&mut self, source: SourceId, diagnostic: Diagnostic, first: Option<(Site, &str)>) {
        let is_known = |known: &Problem| {
            known.source == source
                && known.diagnostic.span == diagnostic.span
                && known.diagnostic.message == diagnostic.message
        };
        if self.0.len() >= LIMIT || self.0.iter().any(is_known) {
            return;
        }
        let mut problem = Problem { source, diagnostic, related: Vec::new() };
        match first {
            Some((site, label)) if site.source == source => {
                problem.diagnostic.related.push((site.span, label.to_owned()));
            }
            Some((site, label)) => problem.related.push((site, label.to_owned())),
            None => {}
        }
        self.0.push(problem);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Drops the latest errors.
    pub(super) fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// All errors in order, up to the maximum.
    pub(super) fn finish(mut self, sources: Sources) -> Errors {
        self.0.sort_by_key(|problem| (problem.source, problem.diagnostic.span));
        self.0.truncate(SHOWN);
        Errors { sources, errors: self.0 }
    }
}
