//! Expressions: one arm for each form of the grammar.

use tree_sitter::Node;

use super::{Lower, unescape};
use crate::ast::{Bound, Declaration, Expr, Fairness, Kind, Name, Pattern, Prefix, Quantifier, Step, Update};
use crate::chain::{Item, Suffix, group, symbol};
use crate::grammar::children;
use crate::operators::{FIELD, Fixity, INDEX};
use crate::{Diagnostic, MAX_DEPTH, chain};

impl Lower<'_> {
    /// Lowers an expression, or an operator that is passed as an argument.
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        self.at_depth(1, node, |lower| lower.expr_at(node))
    }

    /// The expression in a field.
    pub(super) fn field(&mut self, node: Node<'_>, field: &str) -> Expr {
        match node.child_by_field_name(field) {
            Some(child) => self.expr(child),
            None => self.missing(node),
        }
    }

    /// The expression that a node ends with.
    pub(super) fn last_expr(&mut self, node: Node<'_>) -> Expr {
        match children(node).last() {
            Some(child) => self.expr(*child),
            None => self.missing(node),
        }
    }

    /// `x \in S, y \in T` among the children.
    pub(super) fn bounds(&mut self, node: Node<'_>) -> Vec<Bound> {
        let bounds = children(node).into_iter().filter(|child| child.kind() == "quantifier_bound");
        bounds.map(|bound| self.bound(bound)).collect()
    }

    /// Runs `then` the given number of levels deeper, unless that is too deep.
    fn at_depth(&mut self, levels: usize, node: Node<'_>, then: impl FnOnce(&mut Self) -> Expr) -> Expr {
        if self.depth + levels > MAX_DEPTH {
            return self.too_deep(self.span(node));
        }
        self.depth += levels;
        let expr = then(self);
        self.depth -= levels;
        expr
    }

    fn expr_at(&mut self, node: Node<'_>) -> Expr {
        let parts = children(node);
        let kind = match (node.kind(), &parts[..]) {
            ("parentheses", [inner]) => return Expr { span: self.span(node), ..self.expr(*inner) },
            ("bound_infix_op" | "bound_prefix_op" | "bound_postfix_op" | "function_evaluation" | "record_value", _) => {
                return self.row(node);
            }
            ("nat_number" | "real_number" | "binary_number" | "octal_number" | "hex_number", _) => self.number(node),
            ("string", _) => self.string(node),
            ("boolean", _) => Kind::Boolean(self.text_of(node) == "TRUE"),
            ("bound_op" | "bound_nonfix_op", [name, args @ ..]) => {
                let name = self.name(*name);
                Kind::Apply { prefixes: Vec::new(), name, args: self.exprs(args) }
            }
            ("prefixed_op", [prefix, op]) => self.prefixed(*prefix, *op),
            ("subexpression", [prefix, last]) => self.part(*prefix, *last),
            ("subexpression" | "proof_step_ref", _) => Kind::Subexpression,
            ("lambda", [params @ .., body]) => {
                let declare = |param: &Node<'_>| Declaration { name: self.name(*param), arity: 0 };
                let params = params.iter().map(declare).collect();
                Kind::Lambda { params, body: self.boxed(*body) }
            }
            ("label", [name, .., body]) => Kind::Label(self.name(*name), self.boxed(*body)),
            ("conj_list", items) => Kind::Conjunction(items.iter().map(|item| self.last_expr(*item)).collect()),
            ("disj_list", items) => Kind::Disjunction(items.iter().map(|item| self.last_expr(*item)).collect()),
            ("if_then_else", [condition, yes, no]) => Kind::If(Box::new([*condition, *yes, *no].map(|e| self.expr(e)))),
            ("case", arms) => self.case(arms),
            ("let_in", [units @ .., body]) => {
                let units = units.iter().filter_map(|unit| self.definition(*unit)).collect();
                Kind::Let { units, body: self.boxed(*body) }
            }
            ("bounded_quantification", [quantifier, .., body]) => {
                let is_forall = quantifier.kind() == "forall";
                let quantifier = if is_forall { Quantifier::Forall } else { Quantifier::Exists };
                Kind::Quantified { quantifier, bounds: self.bounds(node), body: self.boxed(*body) }
            }
            ("unbounded_quantification", [quantifier, names @ .., body]) => {
                let quantifier = match quantifier.kind() {
                    "forall" => "\\A",
                    "exists" => "\\E",
                    "temporal_forall" => "\\AA",
                    _ => "\\EE",
                };
                let names = names.iter().map(|name| self.name(*name)).collect();
                Kind::Unbounded { quantifier: quantifier.to_owned(), names, body: self.boxed(*body) }
            }
            ("choose", [intro, .., body]) => {
                let set = node.child_by_field_name("set").map(|set| self.boxed(set));
                Kind::Choose { pattern: self.pattern(*intro), set, body: self.boxed(*body) }
            }
            ("finite_set_literal", elements) => Kind::Set(self.exprs(elements)),
            ("set_filter", [bound, body]) => match children(*bound)[..] {
                [intro, _, set] => {
                    let (set, body) = (self.boxed(set), self.boxed(*body));
                    Kind::Filter { pattern: self.pattern(intro), set, body }
                }
                _ => return self.missing(node),
            },
            ("set_map", [body, ..]) => {
                let body = self.boxed(*body);
                Kind::Map { body, bounds: self.bounds(node) }
            }
            ("function_literal", [.., body]) => {
                let bounds = self.bounds(node);
                Kind::Function { bounds, body: self.boxed(*body) }
            }
            ("set_of_functions", [domain, _, range]) => {
                Kind::FunctionSet(Box::new([*domain, *range].map(|set| self.expr(set))))
            }
            ("record_literal", parts) => {
                let fields = parts.chunks_exact(3).map(|part| (self.name(part[0]), self.expr(part[2])));
                Kind::Record(fields.collect())
            }
            ("set_of_records", parts) => {
                let fields = parts.chunks_exact(2).map(|part| (self.name(part[0]), self.expr(part[1])));
                Kind::RecordSet(fields.collect())
            }
            ("tuple_literal", [_, elements @ .., _]) => Kind::Tuple(self.exprs(elements)),
            ("except", [function, updates @ ..]) => {
                let function = self.boxed(*function);
                Kind::Except { function, updates: updates.iter().map(|update| self.update(*update)).collect() }
            }
            ("prev_func_val", _) => Kind::At,
            ("step_expr_or_stutter", [action, .., subscript]) => {
                Kind::Square(Box::new([*action, *subscript].map(|e| self.expr(e))))
            }
            ("step_expr_no_stutter", [_, action, .., subscript]) => {
                Kind::Angle(Box::new([*action, *subscript].map(|e| self.expr(e))))
            }
            ("fairness", [subscript, action]) => {
                let is_weak = self.text_of(node).starts_with("WF");
                let fairness = if is_weak { Fairness::Weak } else { Fairness::Strong };
                Kind::Fairness(fairness, Box::new([*subscript, *action].map(|e| self.expr(e))))
            }
            (
                "identifier_ref" | "identifier" | "prefix_op_symbol" | "infix_op_symbol" | "postfix_op_symbol"
                | "string_set" | "boolean_set" | "nat_number_set" | "int_number_set" | "real_number_set",
                _,
            ) => Kind::Apply { prefixes: Vec::new(), name: self.name(node), args: Vec::new() },
            _ => return self.missing(node),
        };
        Expr { kind, span: self.span(node) }
    }

    fn boxed(&mut self, node: Node<'_>) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    fn exprs(&mut self, nodes: &[Node<'_>]) -> Vec<Expr> {
        nodes.iter().map(|node| self.expr(*node)).collect()
    }

    fn text_of(&self, node: Node<'_>) -> &str {
        self.span(node).of(self.source.text)
    }

    /// Reports a child that the grammar promised but that is missing.
    fn missing(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(node);
        self.errors.push(Diagnostic::new(span, "unsupported expression"));
        Expr { kind: Kind::Error, span }
    }

    /// Operators and their operands. The grammar's tree of a long row is as deep as the row is long, so it is
    /// walked with a stack. The regrouped tree is at most as deep as it has operators.
    fn row(&mut self, node: Node<'_>) -> Expr {
        enum Todo<'n> {
            Walk(Node<'n>),
            Symbol(Node<'n>, Fixity),
            Suffix(Node<'n>),
        }
        let mut todo = vec![Todo::Walk(node)];
        let mut row = Vec::new();
        while let Some(next) = todo.pop() {
            let Todo::Walk(node) = next else {
                row.push(next);
                continue;
            };
            match (node.kind(), &children(node)[..]) {
                ("bound_infix_op", [left, symbol, right]) => {
                    todo.extend([Todo::Walk(*right), Todo::Symbol(*symbol, Fixity::Infix), Todo::Walk(*left)]);
                }
                ("bound_prefix_op", [symbol, right]) => {
                    todo.extend([Todo::Walk(*right), Todo::Symbol(*symbol, Fixity::Prefix)]);
                }
                ("bound_postfix_op", [left, symbol]) => {
                    todo.extend([Todo::Symbol(*symbol, Fixity::Postfix), Todo::Walk(*left)]);
                }
                ("function_evaluation" | "record_value", [left, ..]) => {
                    todo.extend([Todo::Suffix(node), Todo::Walk(*left)]);
                }
                // Before `[` and `.`, the grammar takes `~(f)` for a call of `~`.
                ("bound_nonfix_op", [symbol, operand])
                    if symbol.kind() == "prefix_op_symbol" && !self.text_of(*symbol).ends_with('.') =>
                {
                    row.extend([Todo::Symbol(*symbol, Fixity::Prefix), Todo::Walk(*operand)]);
                }
                _ => row.push(Todo::Walk(node)),
            }
        }
        let levels = row.iter().filter(|item| !matches!(item, Todo::Walk(_))).count();
        self.at_depth(levels, node, |lower| {
            let mut items = Vec::with_capacity(row.len());
            for item in row {
                let item = match item {
                    Todo::Walk(operand) => Some(Item::Operand(lower.expr(operand))),
                    Todo::Symbol(symbol, fixity) => lower.symbol(symbol, fixity),
                    Todo::Suffix(node) => Some(lower.suffix(node)),
                };
                let Some(item) = item else { return lower.missing(node) };
                items.push(item);
            }
            group(items, lower.span(node), &mut lower.errors)
        })
    }

    fn symbol(&self, node: Node<'_>, fixity: Fixity) -> Option<Item> {
        let symbol = symbol(self.text_of(node).trim(), fixity, self.span(node))?;
        Some(match fixity {
            Fixity::Prefix => Item::Prefix(symbol),
            Fixity::Infix => Item::Infix(symbol),
            Fixity::Postfix => Item::Postfix(symbol, Suffix::Symbol),
        })
    }

    /// `[a, b]` or `.a` after an operand.
    fn suffix(&mut self, node: Node<'_>) -> Item {
        let parts = children(node);
        let (operator, suffix) = match (node.kind(), &parts[1..]) {
            ("record_value", [name]) => (&FIELD, Suffix::Field(self.name(*name))),
            (_, args) => (&INDEX, Suffix::Index(self.exprs(args), self.span(node))),
        };
        Item::Postfix(
            chain::Symbol { operator, span: parts.last().map_or(self.span(node), |part| self.span(*part)) },
            suffix,
        )
    }

    fn number(&self, node: Node<'_>) -> Kind {
        let text = self.text_of(node);
        match node.kind() {
            "real_number" => Kind::Decimal(text.to_owned()),
            "nat_number" => Kind::Number(text.parse().ok()),
            format => {
                let radix = match format {
                    "binary_number" => 2,
                    "octal_number" => 8,
                    _ => 16,
                };
                Kind::Number(text.get(2..).and_then(|digits| i64::from_str_radix(digits, radix).ok()))
            }
        }
    }

    fn string(&mut self, node: Node<'_>) -> Kind {
        for escape in children(node) {
            let span = self.span(escape);
            let word = span.of(self.source.text);
            if !matches!(word, "\\n" | "\\t" | "\\r" | "\\f" | "\\\"" | "\\\\") {
                let error = Diagnostic::new(span, format!("unrecognized escape `{word}` in a string"));
                self.errors.push(error.help("write `\\\\` for a backslash"));
            }
        }
        Kind::String(unescape(self.text_of(node)))
    }

    /// `I(a)!J!Op(b)`. Other paths through `!` lead into the middle of definitions.
    fn prefixed(&mut self, prefix: Node<'_>, op: Node<'_>) -> Kind {
        let prefixes: Option<Vec<Prefix>> = children(prefix).iter().map(|part| self.component(*part)).collect();
        let Some(prefixes) = prefixes else { return Kind::Subexpression };
        match (op.kind(), &children(op)[..]) {
            ("bound_op" | "bound_nonfix_op", [name, args @ ..]) => {
                Kind::Apply { prefixes, name: self.name(*name), args: self.exprs(args) }
            }
            _ => Kind::Apply { prefixes, name: self.name(op), args: Vec::new() },
        }
    }

    /// `I(a)!Op(b)!2!1`, `Op!:`. The names are followed by operand numbers.
    fn part(&mut self, prefix: Node<'_>, last: Node<'_>) -> Kind {
        let mut steps = children(prefix);
        steps.push(last);
        let names = steps.iter().take_while(|step| step.kind() == "subexpr_component").count();
        let prefixes: Option<Vec<Prefix>> = steps[..names].iter().map(|step| self.component(*step)).collect();
        let mut path = Vec::new();
        for step in &steps[names..] {
            match children(*step).first().map(|step| (step.kind(), self.text_of(*step))) {
                Some(("langle_bracket", _)) => path.push(1),
                Some(("rangle_bracket", _)) => path.push(2),
                Some(("colon", _)) => {}
                Some(("child_id", digits)) if digits.parse::<usize>().is_ok_and(|number| number > 0) => {
                    path.extend(digits.parse::<usize>());
                }
                _ => return Kind::Subexpression,
            }
        }
        let Some(mut prefixes) = prefixes else { return Kind::Subexpression };
        let Some(Prefix { name, args }) = prefixes.pop() else { return Kind::Subexpression };
        Kind::Part { prefixes, name, args, path }
    }

    /// A name before `!`, with its arguments.
    fn component(&mut self, part: Node<'_>) -> Option<Prefix> {
        let component = children(part).first().copied().filter(|_| part.kind() == "subexpr_component")?;
        match (component.kind(), &children(component)[..]) {
            ("identifier_ref", _) => Some(Prefix { name: self.name(component), args: Vec::new() }),
            ("bound_op", [name, args @ ..]) => Some(Prefix { name: self.name(*name), args: self.exprs(args) }),
            _ => None,
        }
    }

    fn case(&mut self, arms: &[Node<'_>]) -> Kind {
        let (mut pairs, mut other) = (Vec::new(), None);
        for arm in arms {
            match (arm.kind(), &children(*arm)[..]) {
                ("case_arm", [guard, _, value]) => pairs.push((self.expr(*guard), self.expr(*value))),
                ("other_arm", [.., value]) => other = Some(self.boxed(*value)),
                _ => {}
            }
        }
        Kind::Case { arms: pairs, other }
    }

    fn bound(&mut self, node: Node<'_>) -> Bound {
        let parts = children(node);
        let intro = parts.iter().take_while(|part| part.kind() != "set_in");
        let patterns = intro.map(|part| self.pattern(*part)).collect();
        Bound { patterns, set: self.last_expr(node) }
    }

    fn pattern(&mut self, node: Node<'_>) -> Pattern {
        if node.kind() != "tuple_of_identifiers" {
            return Pattern::Name(self.name(node));
        }
        let names = children(node).into_iter().filter(|child| child.kind() == "identifier");
        let names: Vec<Name> = names.map(|name| self.name(name)).collect();
        Pattern::Tuple(names, self.span(node))
    }

    /// `![a].b = e`
    fn update(&mut self, node: Node<'_>) -> Update {
        let specifier = children(node).into_iter().find(|child| child.kind() == "except_update_specifier");
        let mut path = Vec::new();
        for step in specifier.map(children).unwrap_or_default() {
            match (step.kind(), &children(step)[..]) {
                ("except_update_record_field", [name]) => path.push(Step::Field(self.name(*name))),
                (_, args) => path.push(Step::Index(self.exprs(args))),
            }
        }
        Update { path, value: self.last_expr(node), span: self.span(node) }
    }
}
