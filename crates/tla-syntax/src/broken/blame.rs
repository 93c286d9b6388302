//! Finds the first error in a piece of text and reports it in terms of common mistakes.
//!
//! The parser knows the first token that cannot be right: the one at which its last way of reading the text ended.
//! The mistake is there or earlier. So the tokens before it are walked once to find open constructs (a bracket, an
//! `IF` without its `THEN`, a quantifier without its `:`), and then the first matching rule gives the message.

use std::ops::Range;

use crate::grammar::Source;
use crate::lex::{Token, TokenKind, is_reserved};
use crate::lower::reserved;
use crate::operators::{Fixity, operator};
use crate::{Diagnostic, Span};

/// The error in a piece that the grammar rejects.
pub(super) fn blame(source: &Source<'_>, range: Range<usize>, tokens: &[Token]) -> Diagnostic {
    let (at, unit_end) = source.first_error(range);
    let token_after = |at: usize| tokens.iter().position(|token| token.span.end as usize > at).unwrap_or(tokens.len());
    let mut index = token_after(at);
    // A piece is one unit. Text after it was read as the start of another, whose error is not the one to report.
    let is_let = |open: &Token| open.span.of(source.text) == "LET";
    if let Some(end) = unit_end.map(token_after).filter(|end| 0 < *end && *end < index) {
        let is_inner = open(source.text, &tokens[..end]).iter().any(is_let);
        index = if is_inner { index } else { end };
    }
    let scene = Scene { text: source.text, tokens, index, open: open(source.text, &tokens[..index]) };
    scene
        .token_of_another_language()
        .or_else(|| scene.definition())
        .or_else(|| scene.bullet())
        .or_else(|| scene.bracket())
        .unwrap_or_else(|| {
            scene.name().or_else(|| scene.construct()).or_else(|| scene.operand()).unwrap_or_else(|| scene.unexpected())
        })
}

/// Where the parser stopped, and which constructs were open there.
struct Scene<'t> {
    text: &'t str,
    tokens: &'t [Token],
    index: usize,     // The token that cannot be right; one past the last if more should follow.
    open: Vec<Token>, // Openers still unmatched, outermost first.
}

/// Returns the tokens that are still unmatched. `THEN` waits for `ELSE`.
fn open(text: &str, tokens: &[Token]) -> Vec<Token> {
    let mut open: Vec<Token> = Vec::new();
    for token in tokens {
        let word = token.span.of(text);
        let closes = |waiting: &Token| closing(waiting.span.of(text)).contains(&word);
        // A token that closes an outer construct ends the inner ones, which the parser took for complete.
        if let Some(closed) = open.iter().rposition(closes) {
            open.truncate(closed);
        }
        if !closing(word).is_empty() {
            open.push(*token);
        }
    }
    open
}

/// The tokens that continue the construct that a word starts.
fn closing(word: &str) -> &'static [&'static str] {
    match word {
        "(" => &[")"],
        "[" => &["]", "]_"],
        "{" => &["}"],
        "<<" | "⟨" | "〈" => &[">>", ">>_", "⟩", "〉"],
        "IF" => &["THEN"],
        "THEN" => &["ELSE"],
        "LET" => &["IN"],
        "CASE" => &["->", "→", "⟶"],
        "\\A" | "\\E" | "\\AA" | "\\EE" | "\\forall" | "\\exists" | "∀" | "∃" | "CHOOSE" | "LAMBDA" => &[":"],
        _ => &[],
    }
}

impl Scene<'_> {
    fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| token.span.of(self.text))
    }

    fn found(&self) -> &str {
        self.word(self.index)
    }

    fn before(&self) -> Option<&Token> {
        self.index.checked_sub(1).and_then(|index| self.tokens.get(index))
    }

    /// The token that cannot be right, or the last one.
    fn span(&self) -> Span {
        let token = self.tokens.get(self.index).or(self.tokens.last());
        token.map_or(Span::default(), |token| token.span)
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.span(), message)
    }

    fn token_of_another_language(&self) -> Option<Diagnostic> {
        let next = self.tokens.get(self.index + 1);
        let is_operand = next.is_some_and(|next| next.kind == TokenKind::Name || self.word(self.index + 1) == "(");
        if self.word(self.index.wrapping_sub(1)) == "!=" {
            let error = Diagnostic::new(self.before()?.span, "`!=` is not an operator of TLA+");
            return Some(error.help("write `/=` or `#`"));
        }
        let is_quote = |index: &usize| {
            let before = index.checked_sub(1).map(|before| &self.tokens[before]);
            self.word(*index) == "'" && before.is_none_or(|before| !self.ends_operand(before))
        };
        if let Some(quote) = self.index.checked_sub(1).filter(is_quote) {
            let error = Diagnostic::new(self.tokens[quote].span, "`'` must follow the expression it primes");
            return Some(error.help("a string is written with `\"`"));
        }
        let (message, help) = match self.found() {
            "“" | "”" | "‘" | "’" => ("a string is written with plain quotes", "write `\"`"),
            "!=" => ("`!=` is not an operator of TLA+", "write `/=` or `#`"),
            "==" if self.word(self.index + 1) == "=" => ("`===` is not an operator of TLA+", "write `=`"),
            ";" => ("`;` is not part of TLA+", "leave it out; a definition ends where the next one starts"),
            "!" if is_operand && !self.before().is_some_and(|before| self.ends_operand(before)) => {
                ("`!` does not negate in TLA+", "write `~` or `\\lnot`")
            }
            "\\" if next.is_some() && self.before().is_none_or(|before| !self.ends_operand(before)) => {
                ("`\\` has no left side", "a symbol such as `\\in` is written without a space")
            }
            word if word.starts_with('\\') && word.len() > 1 && !is_known(word) => {
                return Some(self.error(format!("`{word}` is not a symbol of TLA+")));
            }
            _ => return None,
        };
        Some(self.error(message).help(help))
    }

    /// `=` for `==`, and `==` for `=`.
    fn definition(&self) -> Option<Diagnostic> {
        // The parser may notice only behind the symbol.
        self.definition_at(self.index).or_else(|| self.definition_at(self.index.checked_sub(1)?))
    }

    fn definition_at(&self, index: usize) -> Option<Diagnostic> {
        let found = self.word(index);
        let before = &self.tokens[..index.min(self.tokens.len())];
        let is_head = self.open.is_empty() && before.iter().all(|token| !is_definition(token, self.text));
        let starts_with_name = self.tokens.iter().find(|token| token.span.of(self.text) != "LOCAL");
        let starts_with_name = starts_with_name.is_some_and(|token| token.kind == TokenKind::Name);
        if is_head && starts_with_name && matches!(found, "=" | ":=" | ":" | "<-" | "->") {
            let defined = self.tokens[0].span.to(before.last()?.span).of(self.text);
            let error = Diagnostic::new(self.tokens[index].span, format!("`{found}` does not define `{defined}`"));
            return Some(error.help("write `==`"));
        }
        let is_let = self.open.iter().any(|open| open.span.of(self.text) == "LET");
        let is_left = !self.open.is_empty() && before.last().is_some_and(|before| before.starts_line);
        if matches!(found, "==" | "≜") && !is_head && !is_let && !is_left {
            let message = format!("`{found}` starts a definition, and is not allowed inside an expression");
            let error = Diagnostic::new(self.tokens[index].span, message);
            return Some(error.help("write `=` to compare"));
        }
        None
    }

    /// A bracket is open while a new line seems to define something.
    fn open_bracket_is_left(&self) -> bool {
        !self.open.is_empty() && self.before().is_some_and(|before| before.starts_line)
    }

    fn bracket(&self) -> Option<Diagnostic> {
        let found = self.found();
        let bracket = self.open.iter().rfind(|open| matches!(open.span.of(self.text), "(" | "[" | "{" | "<<" | "⟨"));
        if matches!(found, ")" | "]" | "}" | ">>")
            && self.open.iter().all(|open| !closing(open.span.of(self.text)).contains(&found))
        {
            let error = self.error(format!("unmatched `{found}`"));
            return Some(match bracket {
                Some(open) => {
                    error.related(open.span, format!("`{}` is closed by `{}`", self.of(open), self.close(open)))
                }
                None => error.help("leave it out, or open it"),
            });
        }
        let bracket = bracket?;
        if let (Some(token), Some(bullet)) = (self.tokens.get(self.index), self.bullet_of(bracket))
            && token.starts_line
            && token.column <= bullet.column
        {
            let message = format!("`{found}` is left of its list and ends it while `{}` is open", self.of(bracket));
            let error = self.error(message).related(bullet.span, "the list starts here");
            return Some(error.related(bracket.span, "open").help("indent the line further than the bullet"));
        }
        if self.index == self.tokens.len() || self.open_bracket_is_left() {
            let error = Diagnostic::new(bracket.span, format!("`{}` is never closed", self.of(bracket)));
            return Some(error.help(format!("close it with `{}`", self.close(bracket))));
        }
        None
    }

    /// A bullet whose list ended earlier, because one of its lines is too far left.
    fn bullet(&self) -> Option<Diagnostic> {
        let token = self.tokens.get(self.index).filter(|token| token.starts_line && is_bullet(self.of(token)))?;
        let lines: Vec<_> = self.tokens[..self.index].iter().filter(|token| token.starts_line).collect();
        let same = |line: &&Token| line.column == token.column && is_bullet(self.of(line));
        let first = lines.iter().rposition(same)?;
        let left = lines[first + 1..].iter().find(|line| line.column <= token.column)?;
        let error = Diagnostic::new(left.span, format!("`{}` is too far left for its list", self.of(left)));
        let error = error.related(lines[first].span, "the list").related(token.span, "continues here");
        Some(error.help("indent the line further than the bullet"))
    }

    /// The bullet whose item contains a token.
    fn bullet_of(&self, token: &Token) -> Option<&Token> {
        let before = self.tokens.iter().take_while(|other| other.span.start < token.span.start);
        let is_first = |index: usize| index > 0 && matches!(self.word(index - 1), "==" | "≜");
        let bullets = before
            .enumerate()
            .filter(|(index, bullet)| is_bullet(self.of(bullet)) && (bullet.starts_line || is_first(*index)));
        bullets.last().map(|(_, bullet)| bullet)
    }

    /// A reserved word in place of a name.
    fn name(&self) -> Option<Diagnostic> {
        let token = self.tokens.get(self.index).filter(|token| token.kind == TokenKind::Reserved)?;
        let before = self.before().map_or("", |before| before.span.of(self.text));
        let wants_name =
            matches!(before, "VARIABLE" | "VARIABLES" | "CONSTANT" | "CONSTANTS" | "RECURSIVE" | "LET" | ".")
                || is_quantifier(before)
                || matches!(self.word(self.index + 1), "==" | "≜")
                || before == "," && matches!(self.word(0), "VARIABLE" | "VARIABLES" | "CONSTANT" | "CONSTANTS");
        wants_name.then(|| reserved(token.span, self.found()))
    }

    /// An incomplete construct: `IF`, `LET`, a quantifier.
    fn construct(&self) -> Option<Diagnostic> {
        let open = self.open.last()?;
        let expected = closing(self.of(open)).first()?;
        let before_is_operand = self.before().is_some_and(|before| self.ends_operand(before));
        if !before_is_operand && self.index < self.tokens.len() {
            return None;
        }
        let found = match self.found() {
            "" => "the end".to_owned(),
            word => format!("`{word}`"),
        };
        let error = match self.of(open) {
            word if is_quantifier(word) => {
                let is_bound = self.tokens[..self.index].iter().rev().take_while(|token| token.span != open.span);
                let is_bound = is_bound.into_iter().any(|token| matches!(self.of(token), "\\in" | "∈"));
                let wanted = if is_bound || word == "LAMBDA" { "`:`" } else { "`\\in` or `:`" };
                self.error(format!("expected {wanted}, found {found}"))
            }
            "[" if self.found() == "," => {
                let error = self.error("a list of fields must follow `[`");
                error.help("a record is `[a |-> 1, b |-> 2]`, a set of records `[a : S, b : T]`")
            }
            "(" | "[" | "{" | "<<" | "⟨" => self.error(format!("expected `,` or `{expected}`, found {found}")),
            _ => self.error(format!("expected `{expected}`, found {found}")),
        };
        let error = error.related(open.span, format!("of this `{}`", self.of(open)));
        let upper = self.found().to_uppercase();
        Some(match () {
            () if self.found() == "in" && is_quantifier(self.of(open)) => error.help("write `\\in`"),
            () if upper == *expected => error.help("keywords are written in capitals"),
            () => error,
        })
    }

    /// An operator without an operand, or operands without an operator.
    fn operand(&self) -> Option<Diagnostic> {
        let before = self.before()?;
        let word = self.of(before);
        let is_operator = operator(word, Fixity::Infix).is_some() || operator(word, Fixity::Prefix).is_some();
        if is_operator || word == "-" {
            let error = Diagnostic::new(before.span, format!("missing right side of `{word}`"));
            let bullet = self.bullet_of(before).filter(|bullet| {
                let token = self.tokens.get(self.index);
                token.is_some_and(|token| token.starts_line && token.column <= bullet.column)
            });
            return Some(match (self.found(), bullet) {
                ("", _) => error,
                (found, Some(_)) => {
                    let error = error.related(self.span(), format!("`{found}` is too far left and ends the list"));
                    error.help("indent the line further than the bullet")
                }
                (found, None) => error.related(self.span(), format!("`{found}` cannot follow it")),
            });
        }
        if matches!(word, "==" | "≜") {
            let error = Diagnostic::new(before.span, format!("missing right side of `{word}`"));
            return Some(match self.found() {
                "" => error,
                found => error.related(self.span(), format!("`{found}` cannot follow it")),
            });
        }
        let token = self.tokens.get(self.index)?;
        if self.ends_operand(before) && matches!(self.word(0), "VARIABLE" | "VARIABLES" | "CONSTANT" | "CONSTANTS") {
            return Some(self.error(format!("expected `,` before `{}`", self.of(token))));
        }
        if self.ends_operand(before) && self.starts_operand(token) {
            let error = self.error(format!("expected an operator between `{word}` and `{}`", self.of(token)));
            let error = error.related(before.span, "after this");
            let is_keyword = |word: &str| is_reserved(&word.to_uppercase());
            return Some(match [word, self.of(token)].into_iter().find(|word| is_keyword(word)) {
                Some(keyword) => error.help(format!("keywords are written in capitals: `{}`", keyword.to_uppercase())),
                None => error,
            });
        }
        None
    }

    fn unexpected(&self) -> Diagnostic {
        let before = self.before().map(|before| before.span);
        match (self.found(), before) {
            ("", _) => self.error("unexpected end").label("after this"),
            (found, Some(before)) => self.error(format!("unexpected `{found}`")).related(before, "after this"),
            (found, None) => self.error(format!("unexpected `{found}`")).help("a unit starts with a name or a keyword"),
        }
    }

    fn of(&self, token: &Token) -> &str {
        token.span.of(self.text)
    }

    fn close(&self, open: &Token) -> &'static str {
        closing(self.of(open)).first().copied().unwrap_or_default()
    }

    fn ends_operand(&self, token: &Token) -> bool {
        let word = self.of(token);
        let is_closed = matches!(word, ")" | "]" | "}" | ">>" | "⟩" | "@" | "TRUE" | "FALSE" | "BOOLEAN" | "STRING");
        matches!(token.kind, TokenKind::Name | TokenKind::Number | TokenKind::String)
            || is_closed
            || operator(word, Fixity::Postfix).is_some()
    }

    fn starts_operand(&self, token: &Token) -> bool {
        let is_open = matches!(
            self.of(token),
            "{" | "<<" | "⟨" | "TRUE" | "FALSE" | "BOOLEAN" | "STRING" | "IF" | "LET" | "CASE"
        );
        matches!(token.kind, TokenKind::Name | TokenKind::Number | TokenKind::String)
            || is_open
            || is_quantifier(self.of(token))
    }
}

fn is_bullet(word: &str) -> bool {
    matches!(word, "/\\" | "\\/" | "∧" | "∨")
}

fn is_quantifier(word: &str) -> bool {
    closing(word) == [":"]
}

fn is_definition(token: &Token, text: &str) -> bool {
    matches!(token.span.of(text), "==" | "≜")
}

/// A backslash word that TLA+ defines.
fn is_known(word: &str) -> bool {
    is_quantifier(word) || operator(word, Fixity::Infix).or(operator(word, Fixity::Prefix)).is_some()
}
