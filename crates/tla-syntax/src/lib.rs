//! Parses TLA+ text into a tree and reports all its errors.
//!
//! ```
//! let parse = omnilink_tla_syntax::parse("---- MODULE Counter ----\nVARIABLE x\nInit == x = 0\n====\n");
//! assert_eq!(parse.module.expect("a module").name.text, "Counter");
//! assert!(parse.errors.is_empty());
//!
//! let parse = omnilink_tla_syntax::parse("---- MODULE Counter ----\nInit == x =\nNext == x' = (1\n====\n");
//! assert_eq!(parse.errors.len(), 2);
//! ```
//!
//! [`parse`] reads one file. It always returns a tree, however broken the text, and every error with its location.
//! The grammar is tree-sitter's; the tree is [`ast`], which is independent of tree-sitter, so that the parser can
//! be replaced. Checks that the grammar leaves to the compiler (precedence conflicts, chains of `\X`) happen during
//! lowering; names, arities and levels are checked by `tla`.
//!
//! A text is parsed as a whole. If the grammar rejects it, it is parsed again unit by unit, so that one error hides
//! neither the surrounding units nor their errors; see `broken`.

pub mod ast;
mod broken;
mod chain;
mod diagnostic;
mod grammar;
mod lex;
mod lower;
pub mod operators;
mod span;

pub use diagnostic::Diagnostic;
pub use span::{Position, Span};

use grammar::Source;
use lex::{Lexed, TokenKind};

/// Expressions nest at most this many levels, so code that walks the tree may recurse this deep.
pub const MAX_DEPTH: usize = 1000;

/// The maximum length of a text, in bytes.
pub const MAX_LENGTH: usize = 16 << 20;

/// The last column in which a word or symbol may start.
pub const MAX_COLUMN: usize = 10_000;

/// A parsed text and its errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Parse {
    /// The first module of the text; `None` only if the text has no module. If there are errors, it has gaps.
    pub module: Option<ast::Module>,
    /// All errors, in source order.
    pub errors: Vec<Diagnostic>,
    /// The names of the module, in order of first appearance.
    pub identifiers: Vec<String>,
    /// The values of the module's string literals, in order of first appearance.
    pub literals: Vec<String>,
}

/// Parses a text: the first module, and any text before and after it.
pub fn parse(text: &str) -> Parse {
    if text.len() > MAX_LENGTH {
        let message = format!("the text is longer than {} MiB", MAX_LENGTH >> 20);
        let errors = vec![Diagnostic::new(Span::default(), message)];
        return Parse { module: None, errors, identifiers: Vec::new(), literals: Vec::new() };
    }
    let start = grammar::module_start(text);
    let lexed = lex::lex(text, start.unwrap_or(0));
    let source = Source::new(text, &lexed);
    let (module, mut errors) = match source.parse() {
        _ if start.is_none() => (None, vec![broken::no_module(&source)]),
        Ok(tree) => lower::lower_module(&source, &tree),
        Err(_) => broken::parse_units(&source),
    };
    errors.sort_by_key(|error| error.span);
    let span = module.as_ref().map_or(Span::default(), |module| module.span);
    let (identifiers, literals) = words(text, &lexed, span);
    Parse { module, errors, identifiers, literals }
}

/// The names and string literals inside a span, each once.
fn words(text: &str, lexed: &Lexed, span: Span) -> (Vec<String>, Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    let (mut identifiers, mut literals) = (Vec::new(), Vec::new());
    for token in lexed.tokens.iter().filter(|token| span.start <= token.span.start && token.span.end <= span.end) {
        let word = token.span.of(text);
        match token.kind {
            TokenKind::Name if seen.insert(word) => identifiers.push(word.to_owned()),
            TokenKind::String if seen.insert(word) => literals.push(lower::unescape(word)),
            _ => {}
        }
    }
    (identifiers, literals)
}
