//! Errors in a text, as plain data; only the command renders them.

use crate::Span;

/// One error in one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The message: lower case, the user's words in backticks.
    pub message: String,
    /// The location of the carets.
    pub span: Span,
    /// The text beside the carets; may be empty.
    pub label: String,
    /// Other locations involved in the error, such as the first of two definitions.
    pub related: Vec<(Span, String)>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with a message and a location, and nothing else yet.
    pub fn new(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), span, label: String::new(), related: Vec::new(), help: None }
    }

    /// Sets the text beside the carets.
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into();
        self
    }

    /// Adds another location.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }

    /// Sets the help text.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}
