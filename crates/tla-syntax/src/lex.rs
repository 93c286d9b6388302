//! Splits a text into words and symbols, without comments.
//!
//! The grammar has its own scanner; this one provides what the grammar does not: the order in which names and
//! strings first appear, a copy of the text with comments blanked, and messages about text that is not TLA+. It
//! takes the longest matching symbol and never fails: an unrecognized character is a symbol of one character.

use std::sync::LazyLock;

use crate::operators::OPERATORS;
use crate::{Diagnostic, Span};

/// The distance between tab stops, as in SANY.
pub(crate) const TAB: usize = 8;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name.
    Name,
    /// A word that cannot be a name.
    Reserved,
    /// `12`, `1.5`, `\hFF`
    Number,
    /// `"text"`
    String,
    /// Anything else.
    Symbol,
}

/// A word or symbol and its span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token {
    /// Its kind.
    pub(crate) kind: TokenKind,
    /// Its location.
    pub(crate) span: Span,
    /// The column of its first character, from zero.
    pub(crate) column: usize,
    /// It is the first of its line.
    pub(crate) starts_line: bool,
}

/// The result of lexing a text.
pub(crate) struct Lexed {
    /// All tokens, in order.
    pub(crate) tokens: Vec<Token>,
    /// Comments, from opening to closing.
    pub(crate) comments: Vec<Span>,
    /// Strings and comments that do not end.
    pub(crate) errors: Vec<Diagnostic>,
    /// One past the last byte of the module; the length of the text if it does not end.
    pub(crate) end: usize,
    /// The `====` that ends the module was found.
    pub(crate) is_closed: bool,
}

/// Lexes a text from a byte to the end of the module that starts there.
pub(crate) fn lex(text: &str, from: usize) -> Lexed {
    let mut lexer =
        Lexer { text, at: from, line_start: 0, counted: (0, 0), is_line_start: true, modules: 0, lexed: Lexed::new() };
    lexer.line_start = text[..from].rfind('\n').map_or(0, |newline| newline + 1);
    lexer.run();
    lexer.lexed
}

/// Words that cannot be names.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

const RESERVED: &[&str] = &[
    "ACTION",
    "ASSUME",
    "ASSUMPTION",
    "AXIOM",
    "BOOLEAN",
    "BY",
    "CASE",
    "CHOOSE",
    "CONSTANT",
    "CONSTANTS",
    "COROLLARY",
    "DEF",
    "DEFINE",
    "DEFS",
    "DOMAIN",
    "ELSE",
    "ENABLED",
    "EXCEPT",
    "EXTENDS",
    "FALSE",
    "HAVE",
    "HIDE",
    "IF",
    "IN",
    "INSTANCE",
    "LAMBDA",
    "LEMMA",
    "LET",
    "LOCAL",
    "MODULE",
    "NEW",
    "OBVIOUS",
    "OMITTED",
    "ONLY",
    "OTHER",
    "PICK",
    "PROOF",
    "PROPOSITION",
    "PROVE",
    "QED",
    "RECURSIVE",
    "STATE",
    "STRING",
    "SUBSET",
    "SUFFICES",
    "TAKE",
    "TEMPORAL",
    "THEN",
    "THEOREM",
    "TRUE",
    "UNCHANGED",
    "UNION",
    "USE",
    "VARIABLE",
    "VARIABLES",
    "WITH",
    "WITNESS",
];

/// Symbols, longest first, so that the first match is the right one. Symbols made of letters are words.
static SYMBOLS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let syntax = ["==", "|->", "->", "<-", "<<", ">>_", ">>", "]_", "::", "≜", "!="];
    let operators = OPERATORS.iter().flat_map(|op| op.synonyms.iter().chain([&op.name]));
    let mut symbols: Vec<&str> = operators.copied().chain(syntax).collect();
    // The lexer reads `\cup` as a backslash and letters, and `[]` may be a box or an empty index.
    symbols.retain(|symbol| !symbol.contains(|c: char| c.is_ascii_alphabetic()) || symbol.starts_with('('));
    symbols.sort_by_key(|symbol| std::cmp::Reverse(symbol.len()));
    symbols
});

impl Lexed {
    fn new() -> Lexed {
        Lexed { tokens: Vec::new(), comments: Vec::new(), errors: Vec::new(), end: 0, is_closed: false }
    }

    /// The text with comments blanked. Every other character keeps its position, and so do the delimiters of
    /// comments and non-ASCII characters, so neither byte offsets nor columns move.
    pub(crate) fn without_comments(&self, text: &str) -> String {
        let mut blank = String::with_capacity(text.len());
        let mut end = 0;
        for comment in &self.comments {
            let inner = comment.start as usize + 2..comment.end as usize;
            blank.push_str(&text[end..inner.start]);
            let closing =
                if text[inner.clone()].ends_with("*)") && text[..inner.start].ends_with("(*") { 2 } else { 0 };
            let kept = |c: char| if c.is_ascii() && c != '\n' && c != '\r' && c != '\t' { ' ' } else { c };
            blank.extend(text[inner.start..inner.end - closing].chars().map(kept));
            end = inner.end - closing;
        }
        blank.push_str(&text[end..]);
        blank
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line_start: usize,
    counted: (usize, usize), // The byte up to which columns are counted, and its column.
    is_line_start: bool,
    modules: usize, // The number of open modules.
    lexed: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            if first == '\n' {
                self.at += 1;
                self.line_start = self.at;
                self.is_line_start = true;
            } else if first.is_whitespace() {
                self.at += first.len_utf8();
            } else if rest.starts_with("\\*") {
                let end = self.at + rest.find('\n').unwrap_or(rest.len());
                self.comment(end);
            } else if rest.starts_with("(*") {
                self.block_comment();
            } else if first == '"' {
                self.string();
            } else {
                let (kind, length) = token(rest);
                let (opens, closes) = (rest.starts_with("MODULE"), rest.starts_with("===="));
                let before = self.lexed.tokens.last().map(|token| token.span);
                self.push(kind, length);
                if opens && length == 6 && before.is_some_and(|before| before.of(self.text).starts_with("----")) {
                    self.modules += 1;
                } else if closes && self.modules <= 1 {
                    self.lexed.is_closed = self.modules == 1;
                    break;
                } else if closes {
                    self.modules -= 1;
                }
            }
        }
        self.lexed.end = self.at;
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn span(&self, end: usize) -> Span {
        Span { start: self.at as u32, end: end as u32 }
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let span = self.span(self.at + length);
        let column = self.column();
        self.lexed.tokens.push(Token { kind, span, column, starts_line: self.is_line_start });
        self.is_line_start = false;
        self.at += length;
    }

    /// The column of the next token, counted from the last one.
    fn column(&mut self) -> usize {
        let (from, column) = self.counted.max((self.line_start, 0));
        let between = self.text[from..self.at].chars();
        let column = between.fold(column, |column, c| if c == '\t' { column + TAB - column % TAB } else { column + 1 });
        self.counted = (self.at, column);
        column
    }

    fn comment(&mut self, end: usize) {
        let span = self.span(end);
        self.lexed.comments.push(span);
        let newline = self.text[self.at..end].rfind('\n');
        self.line_start = newline.map_or(self.line_start, |newline| self.at + newline + 1);
        self.is_line_start |= newline.is_some();
        self.at = end;
    }

    /// Comments nest. An unterminated one extends to the end of the text.
    fn block_comment(&mut self) {
        let bytes = self.text.as_bytes();
        let (mut depth, mut end) = (0_usize, self.at);
        while end < bytes.len() {
            match &bytes[end..bytes.len().min(end + 2)] {
                b"(*" => (depth, end) = (depth + 1, end + 2),
                b"*)" => (depth, end) = (depth - 1, end + 2),
                _ => end += 1,
            }
            if depth == 0 {
                return self.comment(end);
            }
        }
        let opening = self.span(self.at + 2);
        self.lexed.errors.push(Diagnostic::new(opening, "this comment does not end").help("close it with `*)`"));
        self.comment(bytes.len());
    }

    fn string(&mut self) {
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((offset, character)) = characters.next() {
            match character {
                '"' => return self.push(TokenKind::String, offset + 1),
                '\n' => {
                    self.lexed.errors.push(unterminated(self.span(self.at + offset)));
                    return self.push(TokenKind::String, offset);
                }
                '\\' if !self.rest()[offset + 1..].starts_with('\n') => _ = characters.next(),
                _ => {}
            }
        }
        let length = self.rest().len();
        self.lexed.errors.push(unterminated(self.span(self.text.len())));
        self.push(TokenKind::String, length);
    }
}

fn unterminated(span: Span) -> Diagnostic {
    Diagnostic::new(span, "this string does not end").help("close it with `\"` on the same line")
}

/// The kind and length of the token at the start of a text that does not start with white space.
fn token(rest: &str) -> (TokenKind, usize) {
    let run = |start: usize, accept: fn(char) -> bool| {
        rest[start..].find(|c| !accept(c)).map_or(rest.len(), |length| start + length)
    };
    let word = run(0, is_word);
    if word > 0 && rest[..word].contains(|c: char| c.is_ascii_alphabetic()) {
        if rest.starts_with("WF_") || rest.starts_with("SF_") {
            return (TokenKind::Reserved, 3);
        }
        let kind = if is_reserved(&rest[..word]) { TokenKind::Reserved } else { TokenKind::Name };
        return (kind, word);
    }
    let digits = run(0, |c| c.is_ascii_digit());
    if digits > 0 {
        let is_decimal =
            rest[digits..].starts_with('.') && rest[digits + 1..].starts_with(|c: char| c.is_ascii_digit());
        return (TokenKind::Number, if is_decimal { run(digits + 1, |c| c.is_ascii_digit()) } else { digits });
    }
    let ruler = run(0, |c| c == '-').max(run(0, |c| c == '='));
    if ruler >= 4 {
        return (TokenKind::Symbol, ruler);
    }
    if let Some(escaped) = rest.strip_prefix('\\').filter(|escaped| !escaped.starts_with('/')) {
        let base = escaped.starts_with(['b', 'B', 'o', 'O', 'h', 'H']);
        let value = if base { run(2, |c| c.is_ascii_hexdigit()) } else { 0 };
        if value > 2 && rest[2..value].contains(|c: char| c.is_ascii_digit()) {
            return (TokenKind::Number, value);
        }
        return (TokenKind::Symbol, run(1, |c| c.is_ascii_alphabetic()));
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    (TokenKind::Symbol, symbol.map_or(rest.chars().next().map_or(1, char::len_utf8), |symbol| symbol.len()))
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let words: Vec<_> = lex(text, 0).tokens.iter().map(|token| token.span.of(text)).collect();
        words.join(" ")
    }

    #[test]
    fn the_longest_symbol_wins() {
        insta::assert_snapshot!(check("a<=>b=>c<<d>>_e]_f...g(+)h"), @"a <=> b => c << d >>_ e ]_ f ... g (+) h");
        insta::assert_snapshot!(check(r"\A x\in S:x\/y \hFF \o r 1.5 1..5 2a"), @r"\A x \in S : x \/ y \hFF \o r 1.5 1 .. 5 2a");
        insta::assert_snapshot!(check("---- MODULE M ----- WF_x ===="), @"---- MODULE M ----- WF_ x ====");
    }

    #[test]
    fn nested_comments_are_blanked_in_place() {
        let text = "a (* b (* é *) c *) \"(* d\" \\* e\nf";
        let lexed = lex(text, 0);
        assert_eq!(check(text), "a \"(* d\" f");
        assert_eq!(lexed.without_comments(text), "a (*      é      *) \"(* d\" \\*  \nf");
        assert!(lexed.errors.is_empty());
    }

    #[test]
    fn unterminated_tokens_are_reported() {
        let check = |text| lex(text, 0).errors.iter().map(|error| error.span.of(text).to_owned()).collect::<Vec<_>>();
        assert_eq!(check("a \"b\\\"\nc (* d"), ["\"b\\\"", "(*"]);
    }
}
