//! Expressions other than names and operators.
//!
//! Every bound name gets its own slot. The set that a name ranges over is resolved before the name is bound, so it
//! cannot mention it; several names on one set share the resolved set.

use std::collections::BTreeSet;

use omnilink_tla_syntax::Diagnostic;
use omnilink_tla_syntax::ast::{self, Expr, Fairness, Kind, Name, Quantifier};

use super::table::{Local, LocalKind, Scope};
use super::{Resolver, with_stack};
use crate::ir::{Bound, ExprId, Node, Pattern, SlotId, Step, Update};
use crate::source::Site;
use crate::strings::Str;
use crate::value::Value;

impl Resolver {
    /// Resolves an expression.
    pub(super) fn expr(&mut self, scope: &mut Scope, expr: &Expr) -> ExprId {
        with_stack(|| self.expr_here(scope, expr))
    }

    fn expr_here(&mut self, scope: &mut Scope, expr: &Expr) -> ExprId {
        let site = scope.site(expr.span);
        let node = match &expr.kind {
            Kind::Error => return self.broken(site),
            Kind::Number(Some(number)) if i32::try_from(*number).is_ok() => Node::Value(Value::Int(*number)),
            Kind::Number(_) => {
                self.error(site, "this number is too large");
                return self.broken(site);
            }
            Kind::Decimal(_) => unsupported("a decimal number", Vec::new()),
            Kind::String(text) => Node::Value(Value::Str(self.strings.intern(text))),
            Kind::Boolean(value) => Node::Value(Value::Bool(*value)),
            Kind::Apply { prefixes, name, args } => return self.apply(scope, expr, prefixes, name, args),
            Kind::Lambda { .. } => {
                self.error(site, "a `LAMBDA` is only allowed where an operator is expected");
                return self.broken(site);
            }
            Kind::Conjunction(parts) => Node::And(self.exprs(scope, parts)),
            Kind::Disjunction(parts) => Node::Or(self.exprs(scope, parts)),
            Kind::If(parts) => {
                let [condition, yes, no] = self.parts(scope, parts);
                Node::If(condition, yes, no)
            }
            Kind::Case { arms, other } => {
                let arms = arms.iter().map(|(guard, value)| (self.expr(scope, guard), self.expr(scope, value)));
                Node::Case { arms: arms.collect(), other: other.as_ref().map(|other| self.expr(scope, other)) }
            }
            Kind::Let { units, body } => return self.let_in(scope, units, body, site),
            Kind::Quantified { quantifier, bounds, body } => {
                let (bounds, body) = self.bound(scope, bounds, body);
                match quantifier {
                    Quantifier::Forall => Node::Forall { bounds, body },
                    Quantifier::Exists => Node::Exists { bounds, body },
                }
            }
            Kind::Unbounded { quantifier, names, body } => self.unbounded(scope, quantifier, names, body),
            Kind::Choose { pattern, set: Some(set), body } => {
                let (bound, body) = self.bound_one(scope, pattern, set, body);
                Node::Choose { bound, body }
            }
            Kind::Choose { pattern, set: None, body } => {
                let part = self.within(scope, |this, scope| {
                    this.pattern(scope, pattern);
                    this.expr(scope, body)
                });
                unsupported("an unbounded CHOOSE", vec![part])
            }
            Kind::Set(parts) => Node::Set(self.exprs(scope, parts)),
            Kind::Filter { pattern, set, body } => {
                let (bound, body) = self.bound_one(scope, pattern, set, body);
                Node::Filter { bound, body }
            }
            Kind::Map { body, bounds } => {
                let (bounds, body) = self.bound(scope, bounds, body);
                Node::Map { bounds, body }
            }
            Kind::Function { bounds, body } => {
                let (bounds, body) = self.bound(scope, bounds, body);
                Node::Function { bounds, body, this: None }
            }
            Kind::FunctionSet(parts) => {
                let [from, to] = self.parts(scope, parts);
                Node::Functions(from, to)
            }
            Kind::Record(fields) => Node::Record(self.fields(scope, fields)),
            Kind::RecordSet(fields) => Node::Records(self.fields(scope, fields)),
            Kind::Tuple(parts) => Node::Tuple(self.exprs(scope, parts)),
            Kind::Product(parts) => Node::Product(self.exprs(scope, parts)),
            Kind::Except { function, updates } => {
                let function = self.expr(scope, function);
                let updates = updates.iter().map(|update| self.update(scope, update)).collect();
                Node::Except { function, updates }
            }
            Kind::At => match self.old_value(scope, site) {
                Some(node) => node,
                None => return self.broken(site),
            },
            Kind::Index { function, args } => {
                let function = self.expr(scope, function);
                Node::Apply(function, self.index(scope, args, site))
            }
            Kind::Field(record, name) => {
                let record = self.expr(scope, record);
                Node::Field(record, self.strings.intern(&name.text))
            }
            Kind::Square(parts) => {
                let [action, vars] = self.parts(scope, parts);
                Node::Square(action, vars)
            }
            Kind::Angle(parts) => {
                let [action, vars] = self.parts(scope, parts);
                Node::Angle(action, vars)
            }
            Kind::Fairness(fairness, parts) => {
                let what = match fairness {
                    Fairness::Weak => "WF_v(A)",
                    Fairness::Strong => "SF_v(A)",
                };
                unsupported(what, self.parts(scope, parts).to_vec())
            }
            Kind::Label(name, inner) => return self.label(scope, name, inner, site),
            Kind::Part { prefixes, name, args, path } => {
                return self.part(scope, expr, prefixes, name, args, path);
            }
            Kind::Subexpression => unsupported("a reference into a definition", Vec::new()),
        };
        let id = self.exprs.push(node, site);
        if let Kind::Conjunction(_) | Kind::Disjunction(_) = expr.kind {
            self.context.lists.insert(id);
        }
        id
    }

    /// A quantifier without a set, which is resolved for its problems only.
    fn unbounded(&mut self, scope: &mut Scope, quantifier: &str, names: &[Name], body: &Expr) -> Node {
        let what = match quantifier {
            "\\A" => "an unbounded \\A",
            "\\E" => "an unbounded \\E",
            "\\AA" => "\\AA",
            _ => "\\EE",
        };
        let part = self.within(scope, |this, scope| {
            for name in names {
                this.bind(scope, name);
            }
            this.expr(scope, body)
        });
        unsupported(what, vec![part])
    }

    /// `@`; `None` if it was reported.
    fn old_value(&mut self, scope: &Scope, site: Site) -> Option<Node> {
        match scope.frame.find("@").map(|local| &local.kind) {
            Some(LocalKind::Value(slot)) => Some(Node::Local(*slot)),
            Some(LocalKind::Argument { slot, .. }) => Some(Node::Argument(*slot)),
            _ => {
                let diagnostic = Diagnostic::new(site.span, "`@` is only allowed inside an `EXCEPT`")
                    .help("it means the old value, after the `=` of an update");
                self.report(site, diagnostic, None);
                None
            }
        }
    }

    /// Resolves a `[x \in S |-> e]` that can refer to itself by a name.
    pub(super) fn function(&mut self, scope: &mut Scope, expr: &Expr, this: Option<&Name>) -> ExprId {
        let (Kind::Function { bounds, body }, Some(name)) = (&expr.kind, this) else { return self.expr(scope, expr) };
        let site = scope.site(expr.span);
        let slot = scope.frame.slot();
        let bounds = self.sets(scope, bounds);
        let (bounds, body) = self.within(scope, |resolver, scope| {
            let kind = LocalKind::Value(slot);
            scope.frame.locals.push(Local { name: name.text.clone(), site: scope.site(name.span), kind });
            (resolver.patterns(scope, bounds), resolver.expr(scope, body))
        });
        self.exprs.push(Node::Function { bounds, body, this: Some(slot) }, site)
    }

    /// Resolves several expressions.
    pub(super) fn exprs(&mut self, scope: &mut Scope, exprs: &[Expr]) -> Box<[ExprId]> {
        exprs.iter().map(|expr| self.expr(scope, expr)).collect()
    }

    /// Resolves a fixed number of expressions.
    pub(super) fn parts<const N: usize>(&mut self, scope: &mut Scope, exprs: &[Expr; N]) -> [ExprId; N] {
        exprs.each_ref().map(|expr| self.expr(scope, expr))
    }

    /// Runs `inside` in a nested scope: the names it binds are not visible afterwards.
    pub(super) fn within<T>(&mut self, scope: &mut Scope, inside: impl FnOnce(&mut Resolver, &mut Scope) -> T) -> T {
        let outer = scope.frame.locals.len();
        let result = inside(self, scope);
        scope.frame.locals.truncate(outer);
        result
    }

    /// Binds a name to a slot that will hold a value.
    pub(super) fn bind(&mut self, scope: &mut Scope, name: &Name) -> SlotId {
        let slot = scope.frame.slot();
        self.bind_as(scope, name, LocalKind::Value(slot));
        slot
    }

    /// Binds a name. One that is taken is reported, and has the new meaning from here on, as its author intended.
    pub(super) fn bind_as(&mut self, scope: &mut Scope, name: &Name, kind: LocalKind) {
        let site = scope.site(name.span);
        self.is_taken(scope, &name.text, site);
        scope.frame.locals.push(Local { name: name.text.clone(), site, kind });
    }

    fn pattern(&mut self, scope: &mut Scope, pattern: &ast::Pattern) -> Pattern {
        match pattern {
            ast::Pattern::Name(name) => Pattern::Slot(self.bind(scope, name)),
            ast::Pattern::Tuple(names, _) => Pattern::Tuple(names.iter().map(|name| self.bind(scope, name)).collect()),
        }
    }

    fn bind_pattern(&mut self, scope: &mut Scope, pattern: &ast::Pattern, set: ExprId) -> Bound {
        let names = match pattern {
            ast::Pattern::Name(name) => std::slice::from_ref(name),
            ast::Pattern::Tuple(names, _) => names,
        };
        let names = names.iter().map(|name| name.text.clone()).collect();
        Bound { pattern: self.pattern(scope, pattern), names, set }
    }

    fn sets<'a>(&mut self, scope: &mut Scope, bounds: &'a [ast::Bound]) -> Vec<(&'a ast::Pattern, ExprId)> {
        let mut resolved = Vec::new();
        for bound in bounds {
            let set = self.expr(scope, &bound.set);
            resolved.extend(bound.patterns.iter().map(|pattern| (pattern, set)));
        }
        resolved
    }

    fn patterns(&mut self, scope: &mut Scope, bounds: Vec<(&ast::Pattern, ExprId)>) -> Box<[Bound]> {
        bounds.into_iter().map(|(pattern, set)| self.bind_pattern(scope, pattern, set)).collect()
    }

    fn bound(&mut self, scope: &mut Scope, bounds: &[ast::Bound], body: &Expr) -> (Box<[Bound]>, ExprId) {
        let bounds = self.sets(scope, bounds);
        self.within(scope, |this, scope| (this.patterns(scope, bounds), this.expr(scope, body)))
    }

    fn bound_one(&mut self, scope: &mut Scope, pattern: &ast::Pattern, set: &Expr, body: &Expr) -> (Bound, ExprId) {
        let set = self.expr(scope, set);
        self.within(scope, |this, scope| (this.bind_pattern(scope, pattern, set), this.expr(scope, body)))
    }

    fn fields(&mut self, scope: &mut Scope, fields: &[(Name, Expr)]) -> Box<[(Str, ExprId)]> {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (name, _) in fields {
            if !seen.insert(&name.text) {
                let first = fields.iter().find(|(first, _)| first.text == name.text);
                let first = first.map(|(first, _)| (scope.site(first.span), "first here"));
                let site = scope.site(name.span);
                self.report(site, Diagnostic::new(site.span, format!("duplicate field `{}`", name.text)), first);
            }
        }
        fields.iter().map(|(name, value)| (self.strings.intern(&name.text), self.expr(scope, value))).collect()
    }

    fn index(&mut self, scope: &mut Scope, args: &[Expr], site: Site) -> ExprId {
        match args {
            [arg] => self.expr(scope, arg),
            args => {
                let site = match (args.first(), args.last()) {
                    (Some(first), Some(last)) => scope.site(first.span.to(last.span)),
                    _ => site,
                };
                let parts = self.exprs(scope, args);
                self.exprs.push(Node::Tuple(parts), site)
            }
        }
    }

    fn update(&mut self, scope: &mut Scope, update: &ast::Update) -> Update {
        let site = scope.site(update.span);
        let path = update.path.iter().map(|step| match step {
            ast::Step::Index(args) => Step::Index(self.index(scope, args, site)),
            ast::Step::Field(name) => Step::Field(self.strings.intern(&name.text)),
        });
        let path = path.collect();
        let at = scope.frame.slot();
        let value = self.within(scope, |this, scope| {
            // An `EXCEPT` inside the value has its own `@`, so this one name may be bound again.
            scope.frame.locals.push(Local { name: "@".to_owned(), site, kind: LocalKind::Value(at) });
            this.expr(scope, &update.value)
        });
        Update { path, value, at, reads_at: true }
    }
}

pub(super) fn unsupported(what: &'static str, parts: Vec<ExprId>) -> Node {
    Node::Unsupported { what, parts: parts.into() }
}
