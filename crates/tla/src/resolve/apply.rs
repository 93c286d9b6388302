//! Names and operators.
//!
//! The operators of the language itself become nodes. All others are looked up: among the names bound around them, in
//! the table of the module, and, after `!`, in the table of an instance. A definition gets its first arguments from
//! the frame (see [`super::table`]), or from the arguments of the instance that it is reached through.

use omnilink_tla_syntax::Diagnostic;
use omnilink_tla_syntax::ast::{Declaration, Expr, Kind, Name, Prefix};

use super::Resolver;
use super::expr::unsupported;
use super::table::{Frame, Instance, LocalKind, Scope, Symbol};
use crate::ir::{Arg, Body, DefId, ExprId, Node, Param, SlotId, VarId};
use crate::modules;
use crate::source::Site;
use crate::value::Value;

/// The resolved meaning of a name.
pub(super) enum Target {
    /// A slot that holds a value.
    Local(SlotId),
    /// A parameter, or a `LET` without parameters.
    Argument(SlotId, usize),
    Variable(VarId),
    /// A definition, and its first arguments.
    Def(DefId, Vec<Arg>),
}

/// The number of arguments of a language operator; `None` for other names.
pub(super) fn built_in(name: &str) -> Option<usize> {
    Some(match name {
        "BOOLEAN" | "STRING" => 0,
        "~" | "SUBSET" | "UNION" | "DOMAIN" | "'" | "UNCHANGED" | "ENABLED" | "[]" | "<>" => 1,
        "/\\" | "\\/" | "=>" | "<=>" | "=" | "/=" | "\\in" | "\\notin" | "\\subseteq" | "\\cup" | "\\cap" | "\\"
        | "\\X" | "\\cdot" | "~>" | "-+->" => 2,
        _ => return None,
    })
}

impl Resolver {
    /// Resolves a name, or an operator and its arguments.
    pub(super) fn apply(
        &mut self,
        scope: &mut Scope,
        expr: &Expr,
        prefixes: &[Prefix],
        name: &Name,
        args: &[Expr],
    ) -> ExprId {
        let site = scope.site(expr.span);
        if prefixes.is_empty()
            && let Some(arity) = built_in(&name.text)
        {
            if arity != args.len() {
                self.wrong_count(site, &name.text, arity, args.len());
                return self.broken(site);
            }
            let node = self.built_in(scope, &name.text, args);
            return self.exprs.push(node, site);
        }
        if let Some(node) = self.label_of(scope, prefixes, name, args) {
            return self.exprs.push(node, site);
        }
        let Some(target) = self.find(scope, prefixes, name) else {
            // Errors in the arguments are still reported.
            self.arguments_of_unknown(scope, args);
            return self.broken(site);
        };
        self.applied(scope, target, name, args, site)
    }

    /// Resolves the arguments of a resolved name.
    pub(super) fn applied(
        &mut self,
        scope: &mut Scope,
        target: Target,
        name: &Name,
        args: &[Expr],
        site: Site,
    ) -> ExprId {
        let params = self.params(&target);
        if params.is_empty() && matches!(target, Target::Def(def, _) if self.is_broken(def)) {
            // A definition that failed to parse may have had parameters.
            self.arguments_of_unknown(scope, args);
            return self.broken(site);
        }
        if params.len() != args.len() {
            let definition = match &target {
                Target::Def(def, _) => Some(self.definition(*def)).filter(|def| !matches!(def.body, Body::Native(_))),
                _ => None,
            };
            let is_function = definition.is_some_and(|definition| match definition.body {
                Body::Expr(body) => matches!(self.exprs.node(body), Node::Function { .. }),
                _ => false,
            });
            let defined = definition.map(|definition| definition.site);
            let mut error = Diagnostic::new(site.span, wrong_count(&name.text, params.len(), args.len()));
            if is_function && params.is_empty() {
                error = error.help(format!("`{0}` is a function: apply it as `{0}[...]`", name.text));
            }
            self.report(site, error, defined.map(|site| (site, "defined here")));
            self.arguments_of_unknown(scope, args);
            return self.broken(site);
        }
        let args = params.iter().zip(args).map(|(arity, arg)| self.argument(scope, arg, *arity, &name.text));
        let args: Vec<Arg> = args.collect();
        let node = match target {
            Target::Local(slot) => Node::Local(slot),
            Target::Argument(slot, 0) => Node::Argument(slot),
            Target::Argument(slot, _) => Node::CallArgument { slot, args: args.into() },
            Target::Variable(var) => Node::Variable(var),
            Target::Def(def, mut first) => {
                first.extend(args);
                Node::Call { def, args: first.into() }
            }
        };
        self.exprs.push(node, site)
    }

    /// Resolves an argument for a parameter of this arity.
    pub(super) fn argument(&mut self, scope: &mut Scope, arg: &Expr, arity: usize, of: &str) -> Arg {
        if arity == 0 {
            return Arg::Expr(self.expr(scope, arg));
        }
        let site = scope.site(arg.span);
        match &arg.kind {
            Kind::Lambda { params, body } => {
                if params.len() != arity {
                    self.wrong_operator(site, "this `LAMBDA`", params.len(), arity, of);
                    return self.broken_operator(scope, arity, site);
                }
                self.lambda(scope, params, body, site)
            }
            Kind::Apply { prefixes, name, args } if args.is_empty() => {
                self.operator(scope, arg, prefixes, name, arity, of)
            }
            Kind::Label(_, inner) => self.argument(scope, inner, arity, of),
            Kind::Error => self.broken_operator(scope, arity, site),
            _ => {
                self.expr(scope, arg);
                let message = format!("`{of}` expects an operator with {} here, not a value", arguments(arity));
                let help =
                    format!("name an operator, or write `LAMBDA {} : ...`", ["x", "x, y", "x, y, z"][arity.min(3) - 1]);
                self.report(site, Diagnostic::new(site.span, message).help(help), None);
                self.broken_operator(scope, arity, site)
            }
        }
    }

    /// Resolves the name of an operator that is passed as an argument.
    fn operator(
        &mut self,
        scope: &mut Scope,
        expr: &Expr,
        prefixes: &[Prefix],
        name: &Name,
        arity: usize,
        of: &str,
    ) -> Arg {
        let site = scope.site(expr.span);
        if prefixes.is_empty()
            && let Some(takes) = built_in(&name.text)
        {
            if takes != arity {
                self.wrong_operator(site, &format!("`{}`", name.text), takes, arity, of);
                return self.broken_operator(scope, arity, site);
            }
            return self.eta(scope, expr, prefixes, name, arity, site);
        }
        let Some(target) = self.find(scope, prefixes, name) else { return self.broken_operator(scope, arity, site) };
        let params = self.params(&target);
        if params.len() != arity || params.iter().any(|param| *param > 0) {
            self.wrong_operator(site, &format!("`{}`", name.text), params.len(), arity, of);
            return self.broken_operator(scope, arity, site);
        }
        match target {
            Target::Argument(slot, _) => Arg::Slot(slot),
            Target::Def(def, first) => {
                let slots: Option<Box<[SlotId]>> = first
                    .iter()
                    .map(|arg| match arg {
                        Arg::Slot(slot) => Some(*slot),
                        _ => None,
                    })
                    .collect();
                match slots {
                    Some(slots) => Arg::Operator(def, slots),
                    // The arguments of an instance must be evaluated somewhere.
                    None => self.eta(scope, expr, prefixes, name, arity, site),
                }
            }
            Target::Local(_) | Target::Variable(_) => unreachable!("a value takes no arguments"),
        }
    }

    /// `LAMBDA a, b : Op(a, b)`, for an operator that has no definition of its own. The parameters have names that
    /// cannot be written in TLA+.
    fn eta(
        &mut self,
        scope: &mut Scope,
        expr: &Expr,
        prefixes: &[Prefix],
        name: &Name,
        arity: usize,
        site: Site,
    ) -> Arg {
        let names = (1..=arity).map(|index| Name { text: format!("_{index}"), span: expr.span });
        let params: Vec<Declaration> = names.map(|name| Declaration { name, arity: 0 }).collect();
        let args = params.iter().map(|param| {
            let kind = Kind::Apply { prefixes: Vec::new(), name: param.name.clone(), args: Vec::new() };
            Expr { kind, span: expr.span }
        });
        let args = args.collect();
        let kind = Kind::Apply { prefixes: prefixes.to_vec(), name: name.clone(), args };
        self.lambda(scope, &params, &Expr { kind, span: expr.span }, site)
    }

    fn built_in(&mut self, scope: &mut Scope, name: &str, args: &[Expr]) -> Node {
        if let "/\\" | "\\/" = name {
            let mut operands = Vec::new();
            chain(name, args, &mut operands);
            let parts = operands.into_iter().map(|operand| self.expr(scope, operand)).collect();
            return if name == "/\\" { Node::And(parts) } else { Node::Or(parts) };
        }
        let parts = self.exprs(scope, args);
        match (name, &*parts) {
            ("BOOLEAN", []) => Node::Set([false, true].map(|value| self.boolean(scope, value)).into()),
            ("STRING", []) => Node::Strings,
            ("~", &[a]) => Node::Not(a),
            ("SUBSET", &[a]) => Node::Subsets(a),
            ("UNION", &[a]) => Node::Union(a),
            ("DOMAIN", &[a]) => Node::Domain(a),
            ("'", &[a]) => Node::Prime(a),
            ("UNCHANGED", &[a]) => Node::Unchanged(a),
            ("ENABLED", &[a]) => Node::Enabled(a, self.universes[scope.universe.0].variables.clone()),
            ("[]", &[a]) => Node::Always(a),
            ("<>", &[a]) => unsupported("<>", vec![a]),
            ("=>", &[a, b]) => Node::Implies(a, b),
            ("<=>", &[a, b]) => Node::Equivalent(a, b),
            ("=", &[a, b]) => Node::Equal(a, b),
            ("/=", &[a, b]) => Node::NotEqual(a, b),
            ("\\in", &[a, b]) => Node::In(a, b),
            ("\\notin", &[a, b]) => Node::NotIn(a, b),
            ("\\subseteq", &[a, b]) => Node::Subseteq(a, b),
            ("\\cup", &[a, b]) => Node::Cup(a, b),
            ("\\cap", &[a, b]) => Node::Cap(a, b),
            ("\\", &[a, b]) => Node::Minus(a, b),
            ("\\X", &[a, b]) => Node::Product([a, b].into()),
            ("\\cdot", &[a, b]) => Node::Compose(a, b),
            ("~>", &[a, b]) => unsupported("~>", vec![a, b]),
            ("-+->", &[a, b]) => unsupported("-+->", vec![a, b]),
            _ => unreachable!("every operator in the table of arities has an arm"),
        }
    }

    fn boolean(&mut self, scope: &Scope, value: bool) -> ExprId {
        let site = scope.site(omnilink_tla_syntax::Span::default());
        self.exprs.push(Node::Value(Value::Bool(value)), site)
    }

    /// The meaning of `Op!label`, if `Op` is a definition.
    fn label_of(&mut self, scope: &mut Scope, prefixes: &[Prefix], name: &Name, args: &[Expr]) -> Option<Node> {
        let [prefix] = prefixes else { return None };
        let Symbol::Def(_) = scope.table.entries.get(&prefix.name.text)?.symbol else { return None };
        let path = Name { text: format!("{}!{}", prefix.name.text, name.text), span: name.span };
        match scope.table.entries.get(&path.text).map(|entry| &entry.symbol) {
            Some(Symbol::Def(def)) if prefix.args.is_empty() && args.is_empty() => {
                let args = (0..self.hidden(*def)).map(|slot| Arg::Slot(slot_id(slot))).collect();
                Some(Node::Call { def: *def, args })
            }
            _ => Some(unsupported("a reference into a definition", Vec::new())),
        }
    }

    /// Looks up a name; reports it if it is not found.
    pub(super) fn find(&mut self, scope: &mut Scope, prefixes: &[Prefix], name: &Name) -> Option<Target> {
        let hidden = self.universes[scope.universe.0].hidden.len();
        let hidden: Vec<Arg> = (0..hidden).map(|slot| Arg::Slot(slot_id(slot))).collect();
        let Some((outermost, inner)) = prefixes.split_first() else {
            return self.find_plain(scope, name, hidden);
        };
        let site = scope.site(outermost.name.span);
        let first = match scope.frame.find(&outermost.name.text).map(|local| &local.kind) {
            Some(LocalKind::Instance(instance)) => Some(instance.clone()),
            Some(_) => None,
            None => match scope.table.entries.get(&outermost.name.text).map(|entry| &entry.symbol) {
                Some(Symbol::Instance(instance)) => Some(instance.clone()),
                Some(_) => None,
                None => {
                    self.unknown(scope, &outermost.name);
                    return None;
                }
            },
        };
        let Some(mut instance) = first else {
            self.error(site, format!("`{}` is not an instance", outermost.name.text));
            return None;
        };
        let mut first = hidden;
        self.add_captured(scope, &instance.captured, &mut first);
        self.instance_args(scope, &instance, outermost, &mut first)?;
        for prefix in inner {
            let next = match instance.table.entries.get(&prefix.name.text).map(|entry| &entry.symbol) {
                Some(Symbol::Instance(next)) => next.clone(),
                _ => {
                    self.unknown_inside(scope, &instance, &prefix.name);
                    return None;
                }
            };
            self.instance_args(scope, &next, prefix, &mut first)?;
            instance = next;
        }
        let Some(entry) = instance.table.entries.get(&name.text) else {
            self.unknown_inside(scope, &instance, name);
            return None;
        };
        let symbol = entry.symbol.clone();
        self.target(scope, &symbol, name, first)
    }

    fn find_plain(&mut self, scope: &mut Scope, name: &Name, mut hidden: Vec<Arg>) -> Option<Target> {
        if let Some(local) = scope.frame.find(&name.text) {
            return match local.kind.clone() {
                LocalKind::Value(slot) => Some(Target::Local(slot)),
                LocalKind::Argument { slot, arity } => Some(Target::Argument(slot, arity)),
                LocalKind::Operator { def, captured, .. } => {
                    self.add_captured(scope, &captured, &mut hidden);
                    hidden.truncate(self.hidden(def));
                    Some(Target::Def(def, hidden))
                }
                LocalKind::Instance(_) => {
                    self.instance_alone(scope, name);
                    None
                }
                LocalKind::Unmentioned => unreachable!("an operator captures every name that it mentions"),
            };
        }
        let Some(entry) = scope.table.entries.get(&name.text) else {
            self.unknown(scope, name);
            return None;
        };
        let symbol = entry.symbol.clone();
        self.target(scope, &symbol, name, hidden)
    }

    fn target(&mut self, scope: &Scope, symbol: &Symbol, name: &Name, mut first: Vec<Arg>) -> Option<Target> {
        Some(match symbol {
            Symbol::Variable(var) => Target::Variable(*var),
            Symbol::Def(def) => {
                first.truncate(self.hidden(*def));
                Target::Def(*def, first)
            }
            Symbol::Hidden { slot, arity } => Target::Argument(*slot, *arity),
            Symbol::Native(native) => Target::Def(self.native(native), Vec::new()),
            Symbol::Instance(_) => {
                self.instance_alone(scope, name);
                return None;
            }
        })
    }

    /// Adds the slots of captured names in this frame.
    pub(super) fn add_captured(&mut self, scope: &Scope, captured: &[String], args: &mut Vec<Arg>) {
        for name in captured {
            match scope.frame.find(name).map(|local| &local.kind) {
                Some(LocalKind::Value(slot) | LocalKind::Argument { slot, .. }) => args.push(Arg::Slot(*slot)),
                _ => unreachable!("a definition that mentions an operator captures its captures"),
            }
        }
    }

    fn instance_args(
        &mut self,
        scope: &mut Scope,
        instance: &Instance,
        prefix: &Prefix,
        args: &mut Vec<Arg>,
    ) -> Option<()> {
        if instance.params.len() != prefix.args.len() {
            let site = scope.site(prefix.name.span);
            self.wrong_count(site, &prefix.name.text, instance.params.len(), prefix.args.len());
            return None;
        }
        for (param, arg) in instance.params.iter().zip(&prefix.args) {
            args.push(self.argument(scope, arg, param.arity, &prefix.name.text));
        }
        Some(())
    }

    /// The arity of each argument.
    fn params(&self, target: &Target) -> Vec<usize> {
        match target {
            Target::Local(_) | Target::Variable(_) => Vec::new(),
            Target::Argument(_, arity) => vec![0; *arity],
            Target::Def(def, first) => {
                self.definition(*def).params[first.len()..].iter().map(|param| param.arity).collect()
            }
        }
    }

    /// Resolves the arguments of an unknown operator, for the errors in them.
    pub(super) fn arguments_of_unknown(&mut self, scope: &mut Scope, args: &[Expr]) {
        for arg in args {
            match &arg.kind {
                Kind::Lambda { params, body } => {
                    self.lambda(scope, params, body, scope.site(arg.span));
                }
                // It might be intended as an operator, so only an unknown name is an error.
                Kind::Apply { prefixes, name, args } if args.is_empty() && built_in(&name.text).is_none() => {
                    if self.label_of(scope, prefixes, name, args).is_none() {
                        self.find(scope, prefixes, name);
                    }
                }
                _ => {
                    self.expr(scope, arg);
                }
            }
        }
    }

    fn broken_operator(&mut self, scope: &mut Scope, arity: usize, site: Site) -> Arg {
        let params = (1..=arity).map(|index| Param { name: format!("_{index}"), arity: 0 }).collect();
        let hidden = self.universes[scope.universe.0].hidden.len();
        let def = self.reserve(scope, "LAMBDA", params, 0, site);
        let body = self.broken(site);
        self.fill(def, body, &Frame { slots: slot_id(hidden + arity).0, locals: Vec::new() });
        Arg::Operator(def, (0..hidden).map(slot_id).collect())
    }

    fn wrong_count(&mut self, site: Site, name: &str, wants: usize, has: usize) {
        self.error(site, wrong_count(name, wants, has));
    }

    fn wrong_operator(&mut self, site: Site, what: &str, takes: usize, wants: usize, of: &str) {
        let takes = if takes == 0 { "is not an operator".to_owned() } else { format!("takes {}", arguments(takes)) };
        self.error(site, format!("{what} {takes}, but `{of}` expects an operator with {} here", arguments(wants)));
    }

    fn instance_alone(&mut self, scope: &Scope, name: &Name) {
        let site = scope.site(name.span);
        let diagnostic = Diagnostic::new(site.span, format!("`{}` is an instance, not a value", name.text))
            .help(format!("name something inside it, as in `{}!Next`", name.text));
        self.report(site, diagnostic, None);
    }

    fn unknown(&mut self, scope: &Scope, name: &Name) {
        if scope.table.is_partial {
            return;
        }
        let site = scope.site(name.span);
        let diagnostic = Diagnostic::new(site.span, format!("`{}` is not defined", name.text));
        if let Some(later) = scope.later.get(&name.text) {
            let (later, arity) = *later;
            let declared = match arity {
                0 => name.text.clone(),
                _ => format!("{}({})", name.text, vec!["_"; arity].join(", ")),
            };
            let help = format!("define it before it is used, or declare it with `RECURSIVE {declared}`");
            self.report(site, diagnostic.help(help), Some((later, "defined only here")));
            return;
        }
        let text = name.text.as_str();
        let mut homes: Vec<&str> =
            modules::natives().iter().filter(|native| native.name == text).map(|native| native.module).collect();
        homes.dedup();
        let names = scope.frame.locals.iter().map(|local| local.name.as_str());
        let names = names.chain(scope.table.entries.keys().map(String::as_str));
        let help = match homes.first() {
            Some(home) => Some(format!("it comes with module `{home}`: add it after `EXTENDS`")),
            None => foreign(text).map(str::to_owned).or_else(|| omnilink_suggest::hint(text, names)),
        };
        self.report(site, Diagnostic { help, ..diagnostic }, None);
    }

    fn unknown_inside(&mut self, scope: &Scope, instance: &Instance, name: &Name) {
        if instance.table.is_partial {
            return;
        }
        let site = scope.site(name.span);
        let diagnostic = Diagnostic::new(site.span, format!("the instance has no `{}`", name.text));
        let help = omnilink_suggest::hint(&name.text, instance.table.entries.keys().map(String::as_str));
        self.report(site, Diagnostic { help, ..diagnostic }, None);
    }
}

/// The operands of `a /\ b /\ c`, which is parsed as `(a /\ b) /\ c`.
fn chain<'a>(name: &str, args: &'a [Expr], operands: &mut Vec<&'a Expr>) {
    for arg in args {
        match &arg.kind {
            Kind::Apply { prefixes, name: inner, args }
                if prefixes.is_empty() && inner.text == name && args.len() == 2 =>
            {
                chain(name, args, operands);
            }
            _ => operands.push(arg),
        }
    }
}

fn wrong_count(name: &str, wants: usize, has: usize) -> String {
    match (wants, has) {
        (0, _) => format!("`{name}` takes no arguments, but has {has}"),
        (_, 0) => format!("`{name}` takes {}, but has none", arguments(wants)),
        _ => format!("`{name}` takes {}, but has {has}", arguments(wants)),
    }
}

/// The likely intent behind an operator of another language, or of PlusCal.
fn foreign(name: &str) -> Option<&'static str> {
    Some(match name {
        "&&" => "to say that both are true, write `/\\`",
        "||" => "to say that one of both is true, write `\\/`",
        ":=" => "to say what a variable becomes, write `x' = ...`",
        "&" | "|" => "write `/\\` or `\\/`",
        "%%" => "write `%`",
        "**" => "write `^`",
        "++" => "write `x + 1`",
        _ => return None,
    })
}

fn arguments(count: usize) -> String {
    omnilink_suggest::counted(count as u64, "argument")
}

pub(super) fn slot_id(slot: usize) -> SlotId {
    SlotId(u32::try_from(slot).expect("fewer than four billion slots"))
}
