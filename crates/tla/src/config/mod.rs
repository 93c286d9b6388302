//! TLC's configuration file: the values of constants, and the properties to check.
//!
//! The file is a list of sections, each a keyword and its operands up to the next keyword; there are no separators,
//! so a misspelled keyword looks like a name. The parser therefore checks each word in keyword position for
//! resemblance to a keyword. After an error it continues at the next keyword or assignment, so that all errors are
//! reported at once.
//!
//! Every item keeps its span, because most mistakes in a configuration are only found when it is linked with a
//! module. Strings and model values are numbered in order of appearance, which `CHOOSE` depends on. As an extension
//! to TLC, a value may be a tuple or a negative number, and `Instance!Name` is allowed wherever a name is.

mod lexer;

use hashbrown::HashMap;
use omnilink_tla_syntax::ast::Name;
use omnilink_tla_syntax::{Diagnostic, Span};
use rustc_hash::FxBuildHasher;

use crate::error::EvalError;
use crate::strings::{Str, Strings};
use crate::value::{Model, Value};
use lexer::{Token, TokenKind};

/// A configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The assignments of `CONSTANT`, in order.
    pub constants: Vec<Assignment>,
    /// `INIT`
    pub init: Option<Name>,
    /// `NEXT`
    pub next: Option<Name>,
    /// `SPECIFICATION`
    pub specification: Option<Name>,
    /// `INVARIANT`
    pub invariants: Vec<Name>,
    /// `PROPERTY`
    pub properties: Vec<Name>,
    /// `CONSTRAINT`
    pub constraints: Vec<Name>,
    /// `ACTION_CONSTRAINT`
    pub action_constraints: Vec<Name>,
    /// `VIEW`
    pub view: Option<Name>,
    /// `SYMMETRY`
    pub symmetry: Option<Name>,
    /// `ALIAS`
    pub alias: Option<Name>,
    /// `POSTCONDITION`
    pub postconditions: Vec<Name>,
    /// `CHECK_DEADLOCK`; `None` if absent, which means true.
    pub check_deadlock: Option<bool>,
    /// Sections that do not affect the check, by their keywords.
    pub ignored: Vec<Name>,
}

/// The name of a constant and its value.
pub type Given = (String, Value);

impl Config {
    /// The model values, by name.
    pub fn models(&self, strings: &Strings) -> HashMap<String, Model, FxBuildHasher> {
        fn collect(literal: &Literal, strings: &Strings, models: &mut HashMap<String, Model, FxBuildHasher>) {
            match &literal.kind {
                LiteralKind::Model(model) => {
                    models.insert(strings.text(&Str::Known(model.name)).to_owned(), *model);
                }
                LiteralKind::Set(elements) | LiteralKind::Tuple(elements) => {
                    elements.iter().for_each(|element| collect(element, strings, models));
                }
                LiteralKind::Computed(value) => value.for_each_model(&mut |model| {
                    models.insert(strings.text(&Str::Known(model.name)).to_owned(), model);
                }),
                LiteralKind::Bool(_) | LiteralKind::Int(_) | LiteralKind::Str(_) => {}
            }
        }
        let mut models = HashMap::default();
        for assignment in &self.constants {
            if let Meaning::Value(literal) = &assignment.meaning {
                collect(literal, strings, &mut models);
            }
        }
        models
    }

    /// Gives constants values from a recording, where a model value is a string with its name. A constant that had model
    /// values and no strings keeps that kind: its strings become model values, new ones if need be. These names mean
    /// the same in all constants. Returns the values given; an error names the constant.
    pub fn give_recorded(
        &mut self,
        mut given: Vec<Given>,
        strings: &mut Strings,
    ) -> Result<Vec<Given>, (String, Box<EvalError>)> {
        let mut models = self.models(strings);
        for (_, value) in given.iter().filter(|(name, _)| self.has_models(name)) {
            value.for_each_string(&mut |text| {
                let name = strings.text(text).to_owned();
                let Str::Known(rank) = strings.intern(&name) else { unreachable!("it was just added") };
                let class = Model::class_of(&name);
                models.entry(name).or_insert(Model { name: rank, class });
            });
        }
        let model = |text: &Str| models.get(strings.text(text)).map(|model| Value::Model(*model));
        for (name, value) in &mut given {
            *value = value.with_strings(&model).map_err(|error| (name.clone(), error))?;
            self.give(name, LiteralKind::Computed(value.clone()));
        }
        Ok(given)
    }

    /// Whether a constant has model values, and no strings.
    fn has_models(&self, name: &str) -> bool {
        fn count(literal: &Literal, found: &mut (bool, bool)) {
            match &literal.kind {
                LiteralKind::Model(_) => found.0 = true,
                LiteralKind::Str(_) => found.1 = true,
                LiteralKind::Set(elements) | LiteralKind::Tuple(elements) => {
                    elements.iter().for_each(|element| count(element, found));
                }
                LiteralKind::Bool(_) | LiteralKind::Int(_) | LiteralKind::Computed(_) => {}
            }
        }
        let mut found = (false, false);
        for assignment in self.constants.iter().filter(|assignment| assignment.name.text == name) {
            if let Meaning::Value(literal) = &assignment.meaning {
                count(literal, &mut found);
            }
        }
        found == (true, false)
    }

    /// Gives a constant a value, instead of any that it had.
    pub fn give(&mut self, name: &str, kind: LiteralKind) {
        self.constants.retain(|assignment| assignment.name.text != name);
        let span = Span::default();
        let meaning = Meaning::Value(Literal { kind, span });
        let name = Name { text: name.to_owned(), span };
        self.constants.push(Assignment { name, module: None, args: None, meaning, span });
    }
}

/// `Name = value`, `Name(1, 2) = value`, `Name <- Other`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The assigned name; may have the form `Instance!Name`.
    pub name: Name,
    /// `[Module]` before the meaning: only the definition in that module is replaced.
    pub module: Option<Name>,
    /// The arguments for which a value is given, if it is given only for some.
    pub args: Option<Vec<Literal>>,
    /// Its meaning.
    pub meaning: Meaning,
    /// The whole assignment.
    pub span: Span,
}

/// The new meaning of a module's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// After `=`.
    Value(Literal),
    /// After `<-`: the meaning of this name.
    Definition(Name),
}

/// A value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The value.
    pub kind: LiteralKind,
    /// Its location.
    pub span: Span,
}

/// A value as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiteralKind {
    /// `TRUE`, `FALSE`
    Bool(bool),
    /// `12`
    Int(i64),
    /// `"text"`, verbatim: TLC resolves no escapes here.
    Str(Str),
    /// Any other word.
    Model(Model),
    /// `{a, b}`
    Set(Vec<Literal>),
    /// `<<a, b>>`
    Tuple(Vec<Literal>),
    /// A value computed elsewhere, without a location in a file.
    Computed(Value),
}

/// Parses a configuration. Strings and model values are added to the table.
pub fn parse(text: &str, strings: &mut Strings) -> Result<Config, Vec<Diagnostic>> {
    let (tokens, errors) = lexer::tokens(text);
    let mut parser = Parser { tokens, next: 0, strings, errors, config: Config::default() };
    parser.file();
    parser.errors.sort_by_key(|error| error.span);
    if parser.errors.is_empty() { Ok(parser.config) } else { Err(parser.errors) }
}

/// The keyword that a word resembles, unless it is a keyword itself.
pub(crate) fn resembled_keyword(word: &str) -> Option<&'static str> {
    let keywords = || KEYWORDS.iter().map(|(keyword, _)| *keyword);
    if keywords().any(|keyword| keyword == word) { None } else { omnilink_suggest::closest(word, keywords()) }
}

/// The section that a keyword starts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Constants,
    CheckDeadlock,
    /// One name.
    Init,
    Next,
    Specification,
    View,
    Symmetry,
    Alias,
    /// Any number of names.
    Invariants,
    Properties,
    Constraints,
    ActionConstraints,
    Postconditions,
    /// One name, ignored.
    Ignored,
    /// Names that are not checked.
    Possible,
}

const KEYWORDS: [(&str, Section); 24] = [
    ("CONSTANT", Section::Constants),
    ("CONSTANTS", Section::Constants),
    ("INIT", Section::Init),
    ("NEXT", Section::Next),
    ("SPECIFICATION", Section::Specification),
    ("INVARIANT", Section::Invariants),
    ("INVARIANTS", Section::Invariants),
    ("PROPERTY", Section::Properties),
    ("PROPERTIES", Section::Properties),
    ("CONSTRAINT", Section::Constraints),
    ("CONSTRAINTS", Section::Constraints),
    ("ACTION_CONSTRAINT", Section::ActionConstraints),
    ("ACTION_CONSTRAINTS", Section::ActionConstraints),
    ("VIEW", Section::View),
    ("SYMMETRY", Section::Symmetry),
    ("ALIAS", Section::Alias),
    ("POSTCONDITION", Section::Postconditions),
    ("POSTCONDITIONS", Section::Postconditions),
    ("CHECK_DEADLOCK", Section::CheckDeadlock),
    ("TYPE", Section::Ignored),
    ("TYPE_CONSTRAINT", Section::Ignored),
    ("_PERIODIC", Section::Ignored),
    ("_RL_REWARD", Section::Ignored),
    ("_POSSIBLE", Section::Possible),
];

fn section(word: &str) -> Option<Section> {
    KEYWORDS.iter().find(|(keyword, _)| *keyword == word).map(|(_, section)| *section)
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    strings: &'a mut Strings,
    errors: Vec<Diagnostic>,
    config: Config,
}

/// The error has been recorded; continue at the next keyword or assignment.
struct Noted;

impl<'a> Parser<'a> {
    fn file(&mut self) {
        while self.peek().kind != TokenKind::End {
            let token = self.bump();
            let keyword = match (token.kind, section(token.text), resembled_keyword(token.text)) {
                (TokenKind::Word, Some(section), _) => Some((token.text, section)),
                (TokenKind::Word, None, Some(meant)) => {
                    self.unknown_keyword(token, Some(meant));
                    section(meant).map(|section| (meant, section))
                }
                _ => {
                    self.unknown_keyword(token, None);
                    None
                }
            };
            match keyword {
                Some((keyword, section)) => self.section(keyword, token.span, section),
                None => {
                    while !self.at_section() {
                        self.bump();
                    }
                }
            }
        }
    }

    fn unknown_keyword(&mut self, token: Token<'_>, meant: Option<&str>) {
        let error = Diagnostic::new(token.span, format!("`{}` is not a keyword of a configuration", token.text));
        self.errors.push(match meant {
            Some(meant) => error.help(format!("did you mean `{meant}`?")),
            None => error.help("a configuration begins with a keyword such as `SPECIFICATION` or `CONSTANTS`"),
        });
    }

    fn section(&mut self, keyword: &str, span: Span, section: Section) {
        match section {
            Section::Constants => {
                while !self.at_section() {
                    if let Err(Noted) = self.assignment() {
                        self.recover();
                    }
                }
            }
            Section::CheckDeadlock => self.check_deadlock(span),
            Section::Init
            | Section::Next
            | Section::Specification
            | Section::View
            | Section::Symmetry
            | Section::Alias => self.one_name(keyword, span, section),
            Section::Ignored => {
                let _ = self.name(keyword);
                self.config.ignored.push(Name { text: keyword.into(), span });
            }
            Section::Possible => {
                self.names(keyword);
                self.config.ignored.push(Name { text: keyword.into(), span });
            }
            Section::Invariants
            | Section::Properties
            | Section::Constraints
            | Section::ActionConstraints
            | Section::Postconditions => {
                let names = self.names(keyword);
                let config = &mut self.config;
                match section {
                    Section::Invariants => &mut config.invariants,
                    Section::Properties => &mut config.properties,
                    Section::Constraints => &mut config.constraints,
                    Section::ActionConstraints => &mut config.action_constraints,
                    _ => &mut config.postconditions,
                }
                .extend(names);
            }
        }
    }

    fn check_deadlock(&mut self, span: Span) {
        let token = self.peek();
        let is_checked = match token.text {
            "TRUE" => true,
            "FALSE" => false,
            _ => {
                self.errors.push(Diagnostic::new(token.span, "`CHECK_DEADLOCK` is either `TRUE` or `FALSE`"));
                if !self.at_section() {
                    self.bump();
                }
                return;
            }
        };
        self.bump();
        if self.config.check_deadlock.replace(is_checked).is_some() {
            self.errors.push(Diagnostic::new(span, "`CHECK_DEADLOCK` appears twice"));
        }
    }

    fn one_name(&mut self, keyword: &str, span: Span, section: Section) {
        let Ok(name) = self.name(keyword) else { return };
        let config = &mut self.config;
        let place = match section {
            Section::Init => &mut config.init,
            Section::Next => &mut config.next,
            Section::Specification => &mut config.specification,
            Section::View => &mut config.view,
            Section::Symmetry => &mut config.symmetry,
            _ => &mut config.alias,
        };
        match place {
            None => *place = Some(name),
            Some(first) => {
                let error = Diagnostic::new(span, format!("`{keyword}` appears twice"));
                self.errors.push(error.related(first.span, "first given here"));
            }
        }
    }

    fn names(&mut self, keyword: &str) -> Vec<Name> {
        let mut names = Vec::new();
        while !self.at_section() {
            match self.name(keyword) {
                Ok(name) => names.push(name),
                Err(Noted) => {
                    self.bump();
                }
            }
        }
        names
    }

    /// `Name` or `Instance!Name`.
    fn name(&mut self, after: &str) -> Result<Name, Noted> {
        let first = self.peek();
        if !matches!(first.kind, TokenKind::Word | TokenKind::Operator) || section(first.text).is_some() {
            let error = match first.text {
                "" => Diagnostic::new(first.span, format!("a name must follow `{after}`")),
                "," => Diagnostic::new(first.span, "names are separated by spaces").label("remove this comma"),
                text => Diagnostic::new(first.span, format!("`{text}` is not a name")),
            };
            self.errors.push(error);
            return Err(Noted);
        }
        self.bump();
        let mut name = Name { text: first.text.into(), span: first.span };
        while self.peek().text == "!" {
            self.bump();
            let part = self.bump();
            name.text = format!("{}!{}", name.text, part.text);
            name.span = name.span.to(part.span);
        }
        Ok(name)
    }

    fn assignment(&mut self) -> Result<(), Noted> {
        let start = self.peek();
        // Only the next assignment can follow a value; anything else means the user wrote an expression.
        let is_behind_value = self.tokens[..self.next].iter().rev().nth(1).is_some_and(|token| token.text == "=");
        if start.kind != TokenKind::Word && is_behind_value {
            let message = format!("`{}` cannot follow a value: a configuration has no expressions", start.text);
            let help = "define it in the module as `Name == ...`, and write `<- Name` here";
            self.errors.push(Diagnostic::new(start.span, message).help(help));
            return Err(Noted);
        }
        let name = self.name("CONSTANT")?;
        let mut args = None;
        if self.peek().text == "(" {
            self.bump();
            args = Some(self.literals(")")?);
        }
        let symbol = self.peek();
        let is_value = match (symbol.text, &args) {
            ("=", _) => true,
            ("<-", None) => false,
            _ => {
                let error = match resembled_keyword(start.text) {
                    Some(meant) => {
                        Diagnostic::new(start.span, format!("`{}` is not a keyword of a configuration", start.text))
                            .help(format!("did you mean `{meant}`?"))
                    }
                    None => Diagnostic::new(symbol.span, format!("`{}` must be followed by `=` or `<-`", name.text))
                        .help(format!("`{0} = {0}` makes `{0}` a model value", name.text)),
                };
                self.errors.push(error);
                return Err(Noted);
            }
        };
        self.bump();
        let module = if self.peek().text == "[" {
            self.bump();
            let module = self.name("[")?;
            self.expect("]")?;
            Some(module)
        } else {
            None
        };
        let meaning = if is_value { Meaning::Value(self.literal()?) } else { Meaning::Definition(self.name("<-")?) };
        let end = self.tokens[self.next - 1].span;
        self.config.constants.push(Assignment { name, module, args, meaning, span: start.span.to(end) });
        Ok(())
    }

    fn literal(&mut self) -> Result<Literal, Noted> {
        let token = self.peek();
        if token.kind == TokenKind::End || section(token.text).is_some() {
            self.errors.push(Diagnostic::new(token.span, "a value must follow `=`"));
            return Err(Noted);
        }
        self.bump();
        let mut span = token.span;
        let kind = match (token.kind, token.text) {
            (TokenKind::Number, _) => self.number(token, 1)?,
            (TokenKind::String, text) => LiteralKind::Str(self.strings.intern(&text[1..text.len() - 1])),
            (_, "TRUE") => LiteralKind::Bool(true),
            (_, "FALSE") => LiteralKind::Bool(false),
            (_, "-") if self.peek().kind == TokenKind::Number => {
                let number = self.bump();
                span = span.to(number.span);
                self.number(number, -1)?
            }
            (_, "{") => LiteralKind::Set(self.literals("}")?),
            (_, "<<") => LiteralKind::Tuple(self.literals(">>")?),
            (TokenKind::Word, name) => LiteralKind::Model(self.model(name)),
            (_, text) => {
                let error = Diagnostic::new(token.span, format!("`{text}` is not a value"))
                    .help("write a number, a string, `TRUE`, `FALSE`, a name, or a set of these");
                self.errors.push(error);
                return Err(Noted);
            }
        };
        if let LiteralKind::Set(_) | LiteralKind::Tuple(_) = kind {
            span = span.to(self.tokens[self.next - 1].span);
        }
        Ok(Literal { kind, span })
    }

    fn number(&mut self, token: Token<'_>, sign: i64) -> Result<LiteralKind, Noted> {
        match token.text.parse::<i64>().map(|number| sign * number) {
            Ok(number) if i32::try_from(number).is_ok() => Ok(LiteralKind::Int(number)),
            _ => {
                self.errors.push(Diagnostic::new(token.span, format!("`{}` does not fit into 32 bits", token.text)));
                Err(Noted)
            }
        }
    }

    fn model(&mut self, name: &str) -> Model {
        let class = match name.as_bytes() {
            [class, b'_', _, ..] => *class,
            _ => 0,
        };
        let Str::Known(name) = self.strings.intern(name) else { unreachable!("an interned string is in the table") };
        Model { name, class }
    }

    /// Values separated by commas, to the closing symbol.
    fn literals(&mut self, end: &str) -> Result<Vec<Literal>, Noted> {
        let mut literals = Vec::new();
        let open = self.tokens[self.next - 1].span;
        if self.peek().text == end {
            self.bump();
            return Ok(literals);
        }
        loop {
            literals.push(self.literal()?);
            if self.peek().text != "," {
                break;
            }
            self.bump();
        }
        if self.peek().text != end {
            let found = self.found();
            let error = Diagnostic::new(self.peek().span, format!("expected `,` or `{end}`, found {found}"));
            self.errors.push(error.related(open, "this is open"));
            return Err(Noted);
        }
        self.bump();
        Ok(literals)
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Noted> {
        let token = self.peek();
        if token.text == symbol {
            self.bump();
            return Ok(());
        }
        let found = self.found();
        self.errors.push(Diagnostic::new(token.span, format!("expected `{symbol}`, found {found}")));
        Err(Noted)
    }

    /// The next token, for messages.
    fn found(&self) -> String {
        match self.peek().text {
            "" => "the end".into(),
            text => format!("`{text}`"),
        }
    }

    /// Skips to a keyword, or to a word that starts an assignment.
    fn recover(&mut self) {
        while !self.at_section() && !self.at_assignment() {
            let token = self.bump();
            // A misspelled keyword ends the section too; the tokens after it belong to it.
            if token.kind == TokenKind::Word
                && !self.at_assignment()
                && let Some(section) = resembled_keyword(token.text).and_then(section)
                && section != Section::Constants
            {
                self.section(token.text, token.span, section);
                return;
            }
        }
    }

    fn at_section(&self) -> bool {
        let token = self.peek();
        token.kind == TokenKind::End || (token.kind == TokenKind::Word && section(token.text).is_some())
    }

    fn at_assignment(&self) -> bool {
        let is_symbol = |token: &Token<'_>| matches!(token.text, "=" | "<-");
        self.peek().kind == TokenKind::Word && self.tokens.get(self.next + 1).is_some_and(is_symbol)
    }

    fn peek(&self) -> Token<'a> {
        self.tokens[self.next]
    }

    fn bump(&mut self) -> Token<'a> {
        let token = self.peek();
        // The last token is the end, and stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }
}

#[cfg(test)]
mod tests;
