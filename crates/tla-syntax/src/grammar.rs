//! Runs the grammar, and keeps input from it that it cannot handle.
//!
//! The grammar is C code with a scanner that stores open bullet lists and open proofs in 1024 bytes and does not
//! check that they fit. So a text whose bullets or proof steps could nest deeper never reaches it: [`parse_range`]
//! bounds, from the columns alone, how many lists can be open at once. Comments are blanked first, so a PlusCal
//! algorithm inside one is never parsed either. Work is bounded by counting the parser's own steps, so that running
//! out of them is the same on every machine.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use tree_sitter::{Node, ParseOptions, Parser, Point, Tree};

use crate::lex::{Lexed, TAB, Token};
use crate::{MAX_COLUMN, MAX_DEPTH, Span};

/// Why there is no tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The text is not TLA+.
    Syntax,
    /// Bullets or proof steps nest too deeply, here at the latest.
    TooDeep(Span),
    /// A line is longer than the parser can read in time that does not grow with its square.
    TooWide(Span),
    /// The parser took more steps than a text of this length can need.
    TooLong,
}

/// The start of the first module: the dashes before `MODULE`.
pub(crate) fn module_start(text: &str) -> Option<usize> {
    text.match_indices("MODULE").find_map(|(at, _)| {
        let before = text[..at].trim_end();
        let dashes = before.len() - before.trim_end_matches('-').len();
        (dashes >= 4).then(|| before.len() - dashes)
    })
}

/// A text as passed to the grammar, with the mapping back to the original.
pub(crate) struct Source<'t> {
    /// The text.
    pub(crate) text: &'t str,
    /// Its words and symbols.
    pub(crate) lexed: &'t Lexed,
    plain: String,             // Comments blanked, tabs expanded: the grammar does not know their width.
    lines: Vec<usize>,         // Where each line of `plain` starts.
    tabs: Vec<(usize, usize)>, // After each tab: the offset in `plain`, and how much longer `plain` is up to it.
}

impl<'t> Source<'t> {
    /// Prepares a text.
    pub(crate) fn new(text: &'t str, lexed: &'t Lexed) -> Source<'t> {
        let blank = lexed.without_comments(text);
        let (mut plain, mut tabs) = (String::with_capacity(blank.len()), Vec::new());
        let (mut column, mut extra) = (0, 0);
        for character in blank.chars() {
            match character {
                '\t' => {
                    let width = TAB - column % TAB;
                    plain.extend(std::iter::repeat_n(' ', width));
                    (column, extra) = (column + width, extra + width - 1);
                    tabs.push((plain.len(), extra));
                }
                '\n' => {
                    plain.push(character);
                    column = 0;
                }
                _ => {
                    plain.push(character);
                    column += 1;
                }
            }
        }
        let lines = std::iter::once(0).chain(plain.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
        Source { text, lexed, plain, lines, tabs }
    }

    /// Parses the module.
    pub(crate) fn parse(&self) -> Result<Tree, Refusal> {
        let start = self.lexed.tokens.first().map_or(0, |token| token.span.start as usize);
        let tree = self.parse_range(start..self.lexed.end, &self.lexed.tokens)?;
        let is_module = tree.root_node().named_child(0).is_some_and(|node| node.kind() == "module");
        let is_whole = !tree.root_node().has_error() && is_module && self.lexed.errors.is_empty();
        if is_whole { Ok(tree) } else { Err(Refusal::Syntax) }
    }

    /// Parses a part of the text, given its tokens. The tree may have errors.
    pub(crate) fn parse_range(&self, range: Range<usize>, tokens: &[Token]) -> Result<Tree, Refusal> {
        check_nesting(self.text, tokens)?;
        self.run(&mut parser(), range).ok_or(Refusal::TooLong)
    }

    /// The offset of the first token that no way of reading the part allows, or the end of the part. The parser
    /// reads in several ways at once and starts to guess when the last one fails; only its log shows where that
    /// was.
    ///
    /// The second offset is the end of the preceding unit, if one ended.
    pub(crate) fn first_error(&self, range: Range<usize>) -> (usize, Option<usize>) {
        #[derive(Default)]
        struct Progress {
            now: Point,
            furthest: Option<Point>,
            unit_end: Option<Point>,
            is_guessing: bool,
        }
        let progress = Rc::new(RefCell::new(Progress::default()));
        let seen = Rc::clone(&progress);
        let mut parser = parser();
        parser.set_logger(Some(Box::new(move |_, message: &str| {
            let mut seen = seen.borrow_mut();
            if seen.is_guessing {
            } else if let Some(point) = message.starts_with("process ").then(|| logged_point(message)).flatten() {
                seen.now = point;
            } else if message.starts_with("detect_error") {
                seen.furthest = seen.furthest.max(Some(seen.now));
            } else if message.strip_prefix("reduce sym:").is_some_and(is_unit) {
                seen.unit_end = Some(seen.now);
            } else if message.starts_with("resume ") {
                seen.is_guessing = true;
            }
        })));
        let _ = self.run(&mut parser, range.clone());
        let Progress { furthest, unit_end, .. } = *progress.borrow();
        (furthest.map_or(range.end, |point| self.byte(point)), unit_end.map(|point| self.byte(point)))
    }

    fn point(&self, byte: usize) -> Point {
        let row = self.lines.partition_point(|start| *start <= byte) - 1; // The first line starts at zero.
        Point { row, column: byte - self.lines[row] }
    }

    fn byte(&self, point: Point) -> usize {
        let line_start = self.lines.get(point.row).copied().unwrap_or(0);
        self.to_text((line_start + point.column).min(self.plain.len()))
    }

    /// Stops after a number of steps that grows with the length, and that no valid module is known to need.
    fn run(&self, parser: &mut Parser, range: Range<usize>) -> Option<Tree> {
        let (start_byte, end_byte) = (self.to_plain(range.start), self.to_plain(range.end));
        let mut checks = 0;
        let most = 1_000 + (end_byte - start_byte) / 10;
        let mut gives_up = |_: &_| {
            checks += 1;
            checks > most
        };
        let (start_point, end_point) = (self.point(start_byte), self.point(end_byte));
        let included = tree_sitter::Range { start_byte, end_byte, start_point, end_point };
        parser.set_included_ranges(&[included]).expect("one range does not overlap itself");
        let bytes = self.plain.as_bytes();
        let mut read = |at: usize, _: Point| &bytes[at.min(end_byte)..end_byte];
        parser.parse_with_options(&mut read, None, Some(ParseOptions::new().progress_callback(&mut gives_up)))
    }

    /// The location of a node in the text.
    pub(crate) fn span(&self, node: Node<'_>) -> Span {
        let [start, end] = [node.start_byte(), node.end_byte()].map(|byte| self.to_text(byte) as u32);
        Span { start, end }
    }

    fn to_text(&self, plain: usize) -> usize {
        let tabs = self.tabs.partition_point(|(end, _)| *end <= plain);
        plain - tabs.checked_sub(1).map_or(0, |last| self.tabs[last].1)
    }

    fn to_plain(&self, byte: usize) -> usize {
        let tabs = self.tabs.partition_point(|(end, extra)| end - extra <= byte);
        byte + tabs.checked_sub(1).map_or(0, |last| self.tabs[last].1)
    }
}

fn parser() -> Parser {
    let mut parser = Parser::new();
    let language = tree_sitter_tlaplus::LANGUAGE.into();
    parser.set_language(&language).expect("the grammar is built for this version of tree-sitter");
    parser
}

/// The named children of a node, without extras.
pub(crate) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    node.named_children(&mut node.walk()).filter(|child| !child.is_extra()).collect()
}

/// Whether the parser has read a whole unit.
fn is_unit(symbol: &str) -> bool {
    let name = symbol.split(',').next().unwrap_or_default();
    let is_parameter = matches!(name, "_id_or_op_declaration" | "operator_declaration");
    let is_named = name.ends_with("_definition") || name.ends_with("_declaration");
    is_named && !is_parameter || matches!(name, "assumption" | "instance")
}

/// The position at the end of a message such as `process version:0, version_count:1, state:1, row:2, col:3`.
fn logged_point(message: &str) -> Option<Point> {
    let (row, column) = message.split_once("row:")?.1.split_once(", col:")?;
    Some(Point { row: row.parse().ok()?, column: column.parse().ok()? })
}

/// An open list takes three bytes of the scanner's memory, and an open proof four. Brackets and `IF` take none, but
/// nesting deeper than lowering supports need not be parsed, and the parser is slow to recover from deep nesting.
fn check_nesting(text: &str, tokens: &[Token]) -> Result<(), Refusal> {
    const MOST_BYTES: usize = 900;
    // The scanner keeps columns in 16 bits.
    let (mut lists, mut proofs): (Vec<i16>, Vec<u32>) = (Vec::new(), Vec::new());
    let mut halves = 0_usize; // Brackets and words such as `IF` that are still unmatched.
    for (index, token) in tokens.iter().enumerate() {
        match token.span.of(text) {
            "/\\" | "\\/" | "∧" | "∨" => {
                let column = token.column as i16;
                while lists.pop_if(|open| *open >= column).is_some() {}
                lists.push(column);
            }
            "<" => {
                let level = tokens.get(index + 1).map_or("", |level| level.span.of(text));
                let level = match level {
                    "+" | "*" => proofs.last().map_or(0, |open| open.saturating_add(1)),
                    _ => level.parse().unwrap_or(u32::MAX),
                };
                if level < u32::MAX {
                    while proofs.pop_if(|open| *open >= level).is_some() {}
                    proofs.push(level);
                }
            }
            "(" | "[" | "{" | "<<" | "⟨" | "〈" | "IF" | "LET" | "CASE" | "CHOOSE" | "LAMBDA" | "\\A" | "\\E" | "∀"
            | "∃" => {
                halves += 1;
            }
            ")" | "]" | "]_" | "}" | ">>" | ">>_" | "⟩" | "〉" | "THEN" | "IN" | "->" | ":" => {
                halves = halves.saturating_sub(1);
            }
            "THEOREM" | "LEMMA" | "PROPOSITION" | "COROLLARY" => proofs.clear(),
            "==" => {
                proofs.clear();
                // Constructs left open by mistake do not affect the next definition.
                halves = if tokens[..index].last().is_some_and(|name| name.starts_line) { 0 } else { halves };
            }
            _ => {}
        }
        if lists.len() * 3 + proofs.len() * 4 > MOST_BYTES || halves > MAX_DEPTH {
            return Err(Refusal::TooDeep(token.span));
        }
        if token.column > MAX_COLUMN {
            return Err(Refusal::TooWide(token.span));
        }
    }
    Ok(())
}
