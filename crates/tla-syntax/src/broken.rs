//! Parses a text that the grammar rejects, unit by unit.
//!
//! Definitions can be checked independently of errors in others. So the module is cut where units visibly start: at
//! a line that begins in the leftmost column with a keyword or with a definition. Each piece is parsed alone. A
//! piece that parses is lowered as usual; of one that does not, `blame` reports only the first error, since later
//! parser errors are guesswork.

mod blame;

use tree_sitter::Tree;

use crate::ast::{Definition, Expr, Kind, Module, Name, Unit};
use crate::grammar::{Refusal, Source};
use crate::lex::{Token, TokenKind};
use crate::lower::{lower_units, reserved, too_deep};
use crate::{Diagnostic, MAX_COLUMN, Span};

/// The maximum number of errors to report; users do not read more.
const MAX_ERRORS: usize = 100;

/// The error of a text without a module.
pub(crate) fn no_module(source: &Source<'_>) -> Diagnostic {
    let tokens = &source.lexed.tokens;
    let word = tokens.iter().find(|token| token.span.of(source.text) == "MODULE");
    let span = word.or(tokens.first()).map_or(Span::default(), |token| token.span);
    let message = if word.is_some() { "the module's name needs dashes before it" } else { "there is no module" };
    Diagnostic::new(span, message).help("a module starts with `---- MODULE Name ----` and ends with `====`")
}

/// Parses the well-formed units, and finds an error for everything else.
pub(crate) fn parse_units(source: &Source<'_>) -> (Option<Module>, Vec<Diagnostic>) {
    let tokens = &source.lexed.tokens[..];
    let mut pieces = Pieces { source, extends: Vec::new(), units: Vec::new(), errors: source.lexed.errors.clone() };
    let (name, body) = pieces.header();
    for piece in split(source.text, body) {
        if pieces.errors.len() >= MAX_ERRORS {
            break;
        }
        pieces.read(piece);
    }
    let is_swallowed = source.lexed.errors.iter().any(|error| error.message.contains("comment"));
    let last = tokens.last().map_or(Span::default(), |token| token.span);
    if !source.lexed.is_closed && !is_swallowed {
        let end = Diagnostic::new(last, "the module does not end").label("after this");
        pieces.errors.push(end.help("end it with a line of `====`"));
    }
    if pieces.errors.is_empty() {
        // Each piece is well formed, but not in its position.
        let range = tokens.first().map_or(0, |token| token.span.start as usize)..source.lexed.end;
        pieces.errors.push(blame::blame(source, range, tokens));
    }
    let start = tokens.first().map_or(Span::default(), |token| token.span);
    let module = Module { name, extends: pieces.extends, units: pieces.units, span: start.to(last) };
    (Some(module), pieces.errors)
}

struct Pieces<'s> {
    source: &'s Source<'s>,
    extends: Vec<Name>,
    units: Vec<Unit>,
    errors: Vec<Diagnostic>,
}

impl<'s> Pieces<'s> {
    /// Checks `---- MODULE Name ----`, and returns the name and the tokens after it.
    fn header(&mut self) -> (Name, &'s [Token]) {
        let tokens = &self.source.lexed.tokens[..];
        let text = |index: usize| tokens.get(index).map_or("", |token| token.span.of(self.source.text));
        let name = tokens.get(2).filter(|token| token.kind == TokenKind::Name);
        let Some(name) = name else {
            let span = tokens.get(2).or(tokens.last()).map_or(Span::default(), |token| token.span);
            let error = match tokens.get(2) {
                Some(token) if token.kind == TokenKind::Reserved => reserved(span, text(2)),
                _ => {
                    Diagnostic::new(span, "the module has no name").help("a module starts with `---- MODULE Name ----`")
                }
            };
            self.errors.push(error);
            return (Name { text: String::new(), span }, tokens.get(3..).unwrap_or_default());
        };
        let name = Name { text: text(2).to_owned(), span: name.span };
        if !text(3).starts_with("----") {
            let error = Diagnostic::new(name.span, "the module's name needs dashes after it");
            self.errors.push(error.help(format!("write `---- MODULE {} ----`", name.text)));
            return (name, &tokens[3..]);
        }
        (name, &tokens[4..])
    }

    fn read(&mut self, piece: &'s [Token]) {
        let [first, .., last] = piece else { return };
        let text = self.source.text;
        if self.errors.iter().any(|error| first.span.start <= error.span.start && error.span.end <= last.span.end) {
            return; // It has an unterminated string or comment, or the header runs into it.
        }
        if first.span.of(text) == "EXTENDS" {
            return self.extends(piece);
        }
        match self.tree(piece) {
            Ok(tree) if !tree.root_node().has_error() => {
                let (units, errors) = lower_units(self.source, &tree);
                self.units.extend(units);
                self.errors.extend(errors);
            }
            Err(Refusal::TooDeep(span)) => self.errors.push(too_deep(span)),
            Err(Refusal::TooWide(span)) => {
                let message = format!("the line is longer than {MAX_COLUMN} characters");
                self.errors.push(Diagnostic::new(span, message).help("break the line"));
            }
            Err(Refusal::TooLong) => {
                self.errors.push(Diagnostic::new(first.span, "the text from here on is too complex to parse"));
            }
            Ok(_) | Err(Refusal::Syntax) => {
                self.errors.push(blame::blame(self.source, range(piece), piece));
                self.units.extend(defined(text, piece));
            }
        }
    }

    fn tree(&self, piece: &[Token]) -> Result<Tree, Refusal> {
        self.source.parse_range(range(piece), piece)
    }

    /// The grammar accepts `EXTENDS` only with a unit after it.
    fn extends(&mut self, piece: &[Token]) {
        let text = self.source.text;
        for (index, token) in piece.iter().enumerate().skip(1) {
            let word = token.span.of(text);
            let error = match (index % 2, token.kind) {
                (1, TokenKind::Name) => {
                    self.extends.push(Name { text: word.to_owned(), span: token.span });
                    continue;
                }
                (0, _) if word == "," => continue,
                (1, TokenKind::Reserved) => reserved(token.span, word),
                (1, _) => Diagnostic::new(token.span, format!("expected the name of a module, found `{word}`")),
                _ => Diagnostic::new(token.span, format!("expected `,` before `{word}`")),
            };
            self.errors.push(error);
            return;
        }
    }
}

/// The bytes from the first token to the last.
fn range(tokens: &[Token]) -> std::ops::Range<usize> {
    let start = tokens.first().map_or(0, |token| token.span.start);
    start as usize..tokens.last().map_or(start, |token| token.span.end) as usize
}

/// The declaration that a broken piece would have made, so that its uses are not errors too.
fn defined(text: &str, piece: &[Token]) -> Option<Unit> {
    let is_local = piece.first()?.span.of(text) == "LOCAL";
    let first = piece.get(usize::from(is_local)).filter(|token| token.kind == TokenKind::Name)?;
    let name = Name { text: first.span.of(text).to_owned(), span: first.span };
    let span = first.span.to(piece.last()?.span);
    let body = Expr { kind: Kind::Error, span };
    Some(Unit::Definition(Definition { is_local, name, params: Vec::new(), body, is_function: false, span }))
}

/// Splits a module before each unit. Lines of dashes, lines of equals signs and headers of inner modules are
/// dropped.
fn split<'t>(text: &str, tokens: &'t [Token]) -> Vec<&'t [Token]> {
    let word = |index: usize| tokens.get(index).map_or("", |token: &Token| token.span.of(text));
    let left = tokens.iter().filter(|token| token.starts_line).map(|token| token.column).min().unwrap_or(0);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut index = 0;
    while index < tokens.len() {
        let token = &tokens[index];
        let is_ruler = word(index).starts_with("----") || word(index).starts_with("====");
        if is_ruler {
            pieces.push(&tokens[start..index]);
            let is_header = word(index + 1) == "MODULE" && word(index + 3).starts_with("----");
            index += if is_header { 4 } else { 1 };
            start = index;
            continue;
        }
        if token.starts_line && token.column <= left && starts_unit(text, &tokens[index..]) {
            pieces.push(&tokens[start..index]);
            start = index;
        }
        index += 1;
    }
    pieces.push(&tokens[start..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Whether a line starts with a unit keyword or a definition, possibly with one equals sign too few.
fn starts_unit(text: &str, tokens: &[Token]) -> bool {
    const KEYWORDS: &[&str] = &[
        "ASSUME",
        "ASSUMPTION",
        "AXIOM",
        "CONSTANT",
        "CONSTANTS",
        "COROLLARY",
        "EXTENDS",
        "HIDE",
        "INSTANCE",
        "LEMMA",
        "LOCAL",
        "PROPOSITION",
        "RECURSIVE",
        "THEOREM",
        "USE",
        "VARIABLE",
        "VARIABLES",
    ];
    let Some(first) = tokens.first() else { return false };
    let rest = tokens[1..].iter().take_while(|token| !token.starts_line);
    let mut words = rest.map(|token| token.span.of(text));
    match first.kind {
        TokenKind::Reserved if KEYWORDS.contains(&first.span.of(text)) => true,
        TokenKind::Name => {
            let line: Vec<_> = words.collect();
            let after_params =
                line.iter().position(|word| *word == ")" || *word == "]").map_or(0, |closing| closing + 1);
            let is_mistaken = |index: usize| matches!(line.get(index), Some(&"=" | &":="));
            let has_params = matches!(line.first(), Some(&"(" | &"["));
            line.iter().copied().any(is_definition) || is_mistaken(0) || has_params && is_mistaken(after_params)
        }
        _ => words.any(is_definition),
    }
}

fn is_definition(word: &str) -> bool {
    word == "==" || word == "≜"
}
