//! The tokens of a configuration.

use omnilink_tla_syntax::{Diagnostic, Span};

/// A token and its span.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    /// As written; empty at the end.
    pub(super) text: &'a str,
    pub(super) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Letters, digits and underscores, and not only digits.
    Word,
    Number,
    /// With its quotes.
    String,
    /// An operator that a module may define, such as `+` or `\prec`.
    Operator,
    Symbol,
    End,
}

/// Punctuation, which is therefore not an operator; longer symbols first.
const SYMBOLS: [&str; 12] = ["<-", "<<", ">>", "{", "}", "[", "]", "(", ")", ",", "!", "="];

/// All tokens, the last of them [`TokenKind::End`], and the errors.
pub(super) fn tokens(text: &str) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    let (mut tokens, mut errors) = (Vec::new(), Vec::new());
    let mut at = 0;
    let span = |start: usize, end: usize| Span { start: start as u32, end: end as u32 };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_while = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let (kind, length) = if first.is_whitespace() {
            at += length_while(char::is_whitespace);
            continue;
        } else if rest.starts_with("\\*") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("(*") {
            match comment(rest) {
                Some(length) => at += length,
                None => {
                    errors.push(Diagnostic::new(span(at, at + 2), "this comment does not end"));
                    at = text.len();
                }
            }
            continue;
        } else if is_word(first) {
            let length = length_while(is_word);
            let is_number = rest[..length].bytes().all(|byte| byte.is_ascii_digit());
            (if is_number { TokenKind::Number } else { TokenKind::Word }, length)
        } else if first == '"' {
            match string(rest) {
                Some(length) => (TokenKind::String, length),
                None => {
                    let length = rest.find('\n').unwrap_or(rest.len());
                    errors.push(Diagnostic::new(span(at, at + length), "this string does not end"));
                    tokens.push(Token { kind: TokenKind::String, text: "\"\"", span: span(at, at + length) });
                    at += length;
                    continue;
                }
            }
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (TokenKind::Symbol, symbol.len())
        } else if first == '\\' && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic()) {
            (TokenKind::Operator, 1 + rest[1..].find(|c| !is_word(c)).unwrap_or(rest.len() - 1))
        } else if is_operator(first) {
            (TokenKind::Operator, length_while(is_operator))
        } else {
            let length = first.len_utf8();
            errors.push(Diagnostic::new(span(at, at + length), format!("unrecognized character `{first}`")));
            at += length;
            continue;
        };
        tokens.push(Token { kind, text: &rest[..length], span: span(at, at + length) });
        at += length;
    }
    tokens.push(Token { kind: TokenKind::End, text: "", span: span(text.len(), text.len()) });
    (tokens, errors)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_operator(c: char) -> bool {
    "+-*/\\^&|%#$:?@~.<>;'".contains(c)
}

/// The length of a comment, including nested comments; `None` if it does not end.
fn comment(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let rest = text.get(at..)?;
        let open = rest.find("(*");
        let close = rest.find("*)")?;
        match open {
            Some(open) if open < close => {
                depth += 1;
                at += open + 2;
            }
            _ => {
                depth -= 1;
                at += close + 2;
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

/// The length of a string, including its quotes; `None` if it does not end on its line.
fn string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            '"' if !is_escaped => return Some(at + 1),
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    None
}
