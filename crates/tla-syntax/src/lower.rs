//! Lowers the grammar's tree of a module to [`crate::ast`].
//!
//! Only trees without errors are lowered, so a child that the grammar promises exists; if one were missing, the
//! expression would become [`Kind::Error`] with a message, never a panic. Nesting is counted on the way down and
//! ends at [`crate::MAX_DEPTH`] for every text. Units and names are lowered here, expressions in `expr`.

mod expr;

use tree_sitter::{Node, Tree};

use crate::ast::{Declaration, Definition, Expr, Instance, Kind, Module, Name, Unit};
use crate::grammar::{Source, children};
use crate::lex::is_reserved;
use crate::operators::canonical;
use crate::{Diagnostic, Span};

/// Lowers the first module of a tree.
pub(crate) fn lower_module(source: &Source<'_>, tree: &Tree) -> (Option<Module>, Vec<Diagnostic>) {
    let mut lower = Lower { source, depth: 0, errors: Vec::new() };
    let module = children(tree.root_node()).into_iter().find(|node| node.kind() == "module");
    (module.map(|module| lower.module(module)), lower.errors)
}

/// Lowers a tree of units outside a module.
pub(crate) fn lower_units(source: &Source<'_>, tree: &Tree) -> (Vec<Unit>, Vec<Diagnostic>) {
    let mut lower = Lower { source, depth: 0, errors: Vec::new() };
    let mut units = Vec::new();
    for node in children(tree.root_node()) {
        lower.unit(node, &mut units);
    }
    (units, lower.errors)
}

/// The value of a string literal, given with its quotes.
pub(crate) fn unescape(literal: &str) -> String {
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let mut value = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        match escaped {
            None => value.push(character),
            Some('n') => value.push('\n'),
            Some('t') => value.push('\t'),
            Some('r') => value.push('\r'),
            Some('f') => value.push('\u{c}'),
            Some(other) => value.push(other),
        }
    }
    value
}

struct Lower<'s> {
    source: &'s Source<'s>,
    depth: usize,
    errors: Vec<Diagnostic>,
}

impl Lower<'_> {
    fn module(&mut self, node: Node<'_>) -> Module {
        let name = node.child_by_field_name("name").map_or(self.nameless(node), |name| self.name(name));
        let (mut extends, mut units) = (Vec::new(), Vec::new());
        for child in children(node) {
            match child.kind() {
                "extends" => extends = self.names(child),
                "identifier" | "header_line" | "double_line" => {}
                // Modules nest as expressions do.
                "module" if self.depth == crate::MAX_DEPTH => _ = self.too_deep(self.span(child)),
                _ => self.unit(child, &mut units),
            }
        }
        Module { name, extends, units, span: self.span(node) }
    }

    fn unit(&mut self, node: Node<'_>, units: &mut Vec<Unit>) {
        match node.kind() {
            "variable_declaration" => units.push(Unit::Variables(self.names(node))),
            "constant_declaration" => units.push(Unit::Constants(self.declarations(node))),
            "assumption" => {
                let name = node.child_by_field_name("name").map(|name| self.name(name));
                let body = self.last_expr(node);
                units.push(Unit::Assume { name, body });
            }
            "theorem" => {
                let name = node.child_by_field_name("name").map(|name| self.name(name));
                let statement = node.child_by_field_name("statement").filter(|node| node.kind() != "assume_prove");
                let body = statement.map(|statement| self.expr(statement));
                units.push(Unit::Theorem { name, body });
            }
            "module" => {
                self.depth += 1;
                let module = self.module(node);
                self.depth -= 1;
                units.push(Unit::Module(module));
            }
            "local_definition" => {
                let first = units.len();
                for child in children(node) {
                    self.unit(child, units);
                }
                match units.get_mut(first) {
                    Some(Unit::Definition(definition)) => definition.is_local = true,
                    Some(Unit::Instance(instance)) => instance.is_local = true,
                    _ => {}
                }
            }
            "use_or_hide" | "single_line" | "extramodular_text" => {}
            _ => units.extend(self.definition(node)),
        }
    }

    /// Units that may also occur in `LET`.
    fn definition(&mut self, node: Node<'_>) -> Option<Unit> {
        Some(match node.kind() {
            "recursive_declaration" => Unit::Recursive(self.declarations(node)),
            "operator_definition" => {
                let (name, params) = self.head(node);
                let body = self.field(node, "definition");
                Unit::Definition(Definition {
                    is_local: false,
                    name,
                    params,
                    body,
                    is_function: false,
                    span: self.span(node),
                })
            }
            "function_definition" => {
                let name = node.child_by_field_name("name").map_or(self.nameless(node), |name| self.name(name));
                let bounds = self.bounds(node);
                let body = self.field(node, "definition");
                let body = Expr { span: body.span, kind: Kind::Function { bounds, body: Box::new(body) } };
                let params = Vec::new();
                Unit::Definition(Definition {
                    is_local: false,
                    name,
                    params,
                    body,
                    is_function: true,
                    span: self.span(node),
                })
            }
            "instance" => Unit::Instance(self.instance(node)),
            "module_definition" => {
                let (name, params) = self.head(node);
                let instance = self.instance(node.child_by_field_name("definition")?);
                Unit::Instance(Instance { name: Some(name), params, span: self.span(node), ..instance })
            }
            _ => return None,
        })
    }

    /// The left side of `==`: `Op(a, b(_))`, `a \prec b`, `-. a`, `a^+`.
    fn head(&mut self, node: Node<'_>) -> (Name, Vec<Declaration>) {
        let head: Vec<_> = children(node).into_iter().take_while(|child| child.kind() != "def_eq").collect();
        let is_symbol = |node: &&Node<'_>| node.kind().ends_with("_op_symbol");
        let Some(name) = head.iter().find(is_symbol).or(head.first()).copied() else {
            return (self.nameless(node), Vec::new());
        };
        let params =
            head.iter().filter(|param| param.id() != name.id()).map(|param| self.declaration(*param)).collect();
        (self.name(name), params)
    }

    fn instance(&mut self, node: Node<'_>) -> Instance {
        let mut module = self.nameless(node);
        let mut substitutions = Vec::new();
        for child in children(node) {
            if child.kind() != "substitution" {
                module = self.name(child);
            } else if let [name, _, value] = children(child)[..] {
                substitutions.push((self.name(name), self.expr(value)));
            }
        }
        let params = Vec::new();
        Instance { is_local: false, name: None, params, module, substitutions, span: self.span(node) }
    }

    fn declarations(&mut self, node: Node<'_>) -> Vec<Declaration> {
        children(node).into_iter().map(|child| self.declaration(child)).collect()
    }

    /// `x`, `F(_, _)`, `_ + _`, `-. _`, `_^+`.
    fn declaration(&mut self, node: Node<'_>) -> Declaration {
        if node.kind() != "operator_declaration" {
            return Declaration { name: self.name(node), arity: 0 };
        }
        let name = node.child_by_field_name("name").map_or(self.nameless(node), |name| self.name(name));
        let arity = children(node).iter().filter(|child| child.kind() == "placeholder").count();
        Declaration { name, arity }
    }

    fn names(&mut self, node: Node<'_>) -> Vec<Name> {
        children(node).into_iter().map(|child| self.name(child)).collect()
    }

    /// A name or a symbol; a symbol in its canonical spelling.
    fn name(&mut self, node: Node<'_>) -> Name {
        let span = self.span(node);
        let word = span.of(self.source.text);
        // The grammar reads a word as a name wherever it would not fit as a keyword.
        if is_reserved(word) && node.kind().starts_with("identifier") {
            self.errors.push(reserved(span, word));
        }
        let text = match span.of(self.source.text).trim() {
            "ℕ" => "Nat",
            "ℤ" => "Int",
            "ℝ" => "Real",
            text => canonical(text),
        };
        Name { text: text.to_owned(), span }
    }

    fn nameless(&self, node: Node<'_>) -> Name {
        Name { text: String::new(), span: self.span(node) }
    }

    fn span(&self, node: Node<'_>) -> Span {
        self.source.span(node)
    }

    fn too_deep(&mut self, span: Span) -> Expr {
        // One error is enough: a text that nests this deep usually nests deeper beside it too.
        if !self.errors.iter().any(|error| error.message == TOO_DEEP) {
            self.errors.push(too_deep(span));
        }
        Expr { kind: Kind::Error, span }
    }
}

/// The error of a keyword that is used as a name.
pub(crate) fn reserved(span: Span, word: &str) -> Diagnostic {
    Diagnostic::new(span, format!("`{word}` is a reserved word")).help("choose another name")
}

const TOO_DEEP: &str = "nested too deeply";

/// The error of a text that nests beyond the limit.
pub(crate) fn too_deep(span: Span) -> Diagnostic {
    let help = format!("give inner parts a name; at most {} levels are supported", crate::MAX_DEPTH);
    Diagnostic::new(span, TOO_DEEP).help(help)
}
