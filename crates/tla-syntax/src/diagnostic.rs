//! What is wrong with a text, as plain data; only the command renders it.

use crate::Span;

/// One error in one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, lower case, the user's words in backticks.
    pub message: String,
    /// Where the carets go.
    pub span: Span,
    /// What to write beside the carets; may be empty.
    pub label: String,
    /// Other places that belong to the error, such as the first of two definitions.
    pub related: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with a message and a place, and nothing else yet.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), span, label: String::new(), related: Vec::new(), help: None }
    }

    /// Says more beside the carets.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Points at another place.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}
