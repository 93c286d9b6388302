//! `INSTANCE`.
//!
//! Each constant and variable of the module gets a replacement: the expression after `WITH`, or else the definition
//! of the same name here. A plain name is used directly, so that a variable stays a variable that an action can
//! assign; any other expression becomes a definition whose parameters are the hidden ones of the instance. Then the
//! module is resolved with the replacements in place of its declarations.

use std::collections::BTreeMap;
use std::sync::Arc;

use omnilink_tla_syntax::Diagnostic;
use omnilink_tla_syntax::ast::{self, Expr, Kind, Name};

use super::Resolver;
use super::apply::{built_in, slot_id};
use super::level::Substitution;
use super::local::{captured_param, param, visible};
use super::module::exports;
use super::table::{Entry, Instance, LocalKind, Scope, Symbol, Table, Universe, UniverseId};
use crate::ir::{Arg, ExprLevel, Node, Param};
use crate::source::Site;

/// A constant (with its arity) or a variable that an instance must replace.
struct Declared {
    name: String,
    constant: Option<usize>,
    site: Site,
    /// The maximum level of its replacement.
    most: ExprLevel,
}

impl Resolver {
    /// An instance among the units of a module.
    pub(super) fn module_instance(&mut self, scope: &mut Scope, instance: &ast::Instance) {
        let table = self.instantiate(scope, instance, &[]);
        match &instance.name {
            None => self.import(scope, &table, scope.site(instance.module.span), instance.is_local),
            Some(name) => {
                let params = instance.params.iter().map(param).collect();
                let symbol = Symbol::Instance(Arc::new(Instance { table, params, captured: Vec::new() }));
                let entry = Entry { is_local: instance.is_local, ..Entry::new(symbol, scope.site(name.span)) };
                self.define(scope, &name.text, entry);
            }
        }
    }

    /// An instance among the units of a `LET`. It sees every surrounding name.
    pub(super) fn let_instance(&mut self, scope: &mut Scope, instance: &ast::Instance) {
        let captured = visible(scope);
        let table = self.instantiate(scope, instance, &captured);
        if let Some(name) = &instance.name {
            let params = instance.params.iter().map(param).collect();
            let kind = LocalKind::Instance(Arc::new(Instance { table, params, captured }));
            self.bind_as(scope, name, kind);
            return;
        }
        scope.table.is_partial |= table.is_partial;
        for (name, entry) in &table.entries {
            let is_known = scope.table.entries.get(name).is_some_and(|known| known.symbol.is_same(&entry.symbol));
            let captured = captured.clone();
            let kind = match &entry.symbol {
                _ if is_known => continue,
                Symbol::Def(def) => LocalKind::Operator { def: *def, captured, is_pending: false },
                Symbol::Native(native) => {
                    LocalKind::Operator { def: self.native(native), captured: Vec::new(), is_pending: false }
                }
                Symbol::Instance(inner) => {
                    let (table, params) = (inner.table.clone(), inner.params.clone());
                    LocalKind::Instance(Arc::new(Instance { table, params, captured }))
                }
                Symbol::Variable(_) | Symbol::Hidden { .. } => continue,
            };
            self.bind_as(scope, &Name { text: name.clone(), span: instance.module.span }, kind);
        }
    }

    /// The exports of the module, for this instance.
    fn instantiate(&mut self, scope: &mut Scope, instance: &ast::Instance, captured: &[String]) -> Table {
        let name = &instance.module.text;
        let site = scope.site(instance.module.span);
        let inner = scope.table.modules.get(name).cloned();
        let file = self.files.texts.get(name).cloned().flatten();
        let Some(text) = inner.clone().or(file) else {
            let table = self.extended(UniverseId(0), &Table::default(), name, site);
            self.check_substitutions(scope, instance, &[], table.is_partial);
            return exports(&table, false);
        };
        let partial = Table { is_partial: true, ..Table::default() };
        if self.is_circular(name, site) {
            return partial;
        }
        let declared = self.declarations(name, Some(&text));
        // A module without variables may be instanced with anything: then its constants are just names.
        let constants_are = if declared.iter().any(|(_, constant, _)| constant.is_none()) {
            ExprLevel::Constant
        } else {
            ExprLevel::Temporal
        };
        let wanted = declared.into_iter().map(|(name, constant, site)| {
            let most = if constant.is_some() { constants_are } else { ExprLevel::State };
            Declared { name, constant, site, most }
        });
        let wanted: Vec<Declared> = wanted.collect();
        self.check_substitutions(scope, instance, &wanted, false);
        if wanted.is_empty() && inner.is_none() {
            return exports(&self.extended(UniverseId(0), &Table::default(), name, site), false);
        }
        let params = captured.iter().map(|name| captured_param(scope, name));
        let params: Vec<Param> = params.chain(instance.params.iter().map(param)).collect();
        let given = self.given(scope, instance, captured, &params, &wanted);
        let outer = &self.universes[scope.universe.0];
        let captures = if captured.is_empty() { outer.captures } else { outer.hidden.len() + captured.len() };
        let mut hidden = outer.hidden.clone();
        hidden.extend(params);
        let own = instance.name.as_ref().map(|name| format!("{}!", name.text));
        let prefix = format!("{}{}", outer.prefix, own.unwrap_or_default());
        let universe = UniverseId(self.universes.len());
        let variables = wanted.iter().filter(|wanted| wanted.constant.is_none()).map(|wanted| given.get(&wanted.name));
        let replaced = |symbol: Option<&Symbol>| match symbol {
            Some(Symbol::Def(def)) => Some(*def),
            _ => None,
        };
        let variables = variables.filter_map(replaced).collect();
        self.universes.push(Universe {
            prefix,
            hidden,
            captures,
            given: Some(given),
            variables,
            ..Universe::default()
        });
        exports(&self.module(universe, &text).table, false)
    }

    /// Reports substitutions for names that the module does not declare, and duplicates.
    fn check_substitutions(&mut self, scope: &Scope, instance: &ast::Instance, wanted: &[Declared], is_partial: bool) {
        for (index, (name, _)) in instance.substitutions.iter().enumerate() {
            let site = scope.site(name.span);
            if instance.substitutions[..index].iter().any(|(first, _)| first.text == name.text) {
                self.error(site, format!("`{}` is replaced twice", name.text));
            }
            if is_partial || wanted.iter().any(|wanted| wanted.name == name.text) {
                continue;
            }
            let message = format!("module `{}` declares no `{}`", instance.module.text, name.text);
            let help = omnilink_suggest::hint(&name.text, wanted.iter().map(|wanted| wanted.name.as_str()));
            self.report(site, Diagnostic { help, ..Diagnostic::new(site.span, message) }, None);
        }
    }

    /// The replacement of each constant and variable.
    fn given(
        &mut self,
        scope: &mut Scope,
        instance: &ast::Instance,
        captured: &[String],
        params: &[Param],
        wanted: &[Declared],
    ) -> BTreeMap<String, Symbol> {
        let inner = self.inner_frame(scope, captured);
        let outer = std::mem::replace(&mut scope.frame, inner);
        self.bind_params(scope, &instance.params);
        let frame = scope.frame.clone();
        let mut given = BTreeMap::new();
        for wanted in wanted {
            let explicit = instance.substitutions.iter().find(|(name, _)| name.text == wanted.name);
            let implicit;
            let expr = match explicit {
                Some((_, expr)) => expr,
                None if self.is_here(scope, &wanted.name) => {
                    let name = Name { text: wanted.name.clone(), span: instance.module.span };
                    let kind = Kind::Apply { prefixes: Vec::new(), name, args: Vec::new() };
                    implicit = Expr { kind, span: instance.module.span };
                    &implicit
                }
                None => {
                    if !scope.table.is_partial {
                        self.missing(scope, instance, wanted);
                    }
                    continue;
                }
            };
            let own = instance.name.as_ref().map_or(String::new(), |name| format!("{}!", name.text));
            let symbol = self.substitute(scope, wanted, expr, params, &format!("{own}{}", wanted.name));
            scope.frame = frame.clone();
            let Some(symbol) = symbol else { continue };
            let site = scope.site(expr.span);
            let module = instance.module.text.clone();
            let name = wanted.name.clone();
            self.substitutions.push(Substitution { symbol: symbol.clone(), most: wanted.most, site, name, module });
            given.insert(wanted.name.clone(), symbol);
        }
        scope.frame = outer;
        given
    }

    fn is_here(&self, scope: &Scope, name: &str) -> bool {
        let is_local = scope.frame.find(name).is_some_and(|local| !matches!(local.kind, LocalKind::Unmentioned));
        is_local || scope.table.entries.contains_key(name)
    }

    fn missing(&mut self, scope: &Scope, instance: &ast::Instance, wanted: &Declared) {
        let site = scope.site(instance.module.span);
        let what = if wanted.constant.is_some() { "constant" } else { "variable" };
        let message = format!("nothing replaces {what} `{}` of module `{}`", wanted.name, instance.module.text);
        let help = format!("define `{0}` before, or write `WITH {0} <- ...`", wanted.name);
        self.report(site, Diagnostic::new(site.span, message).help(help), Some((wanted.site, "declared here")));
    }

    /// The meaning of an expression in place of a constant or variable; `None` if an error was reported.
    fn substitute(
        &mut self,
        scope: &mut Scope,
        wanted: &Declared,
        expr: &Expr,
        params: &[Param],
        name: &str,
    ) -> Option<Symbol> {
        let arity = wanted.constant.unwrap_or(0);
        if let Some(symbol) = self.plain(scope, expr, arity) {
            return Some(symbol);
        }
        let site = scope.site(expr.span);
        if arity == 0 {
            let def = self.reserve(scope, name, params.to_vec(), params.len(), site);
            let body = self.expr(scope, expr);
            self.fill(def, body, &scope.frame);
            return Some(Symbol::Def(def));
        }
        let (operator, slots) = match self.argument(scope, expr, arity, &wanted.name) {
            Arg::Slot(slot) => return Some(Symbol::Hidden { slot, arity }),
            Arg::Operator(def, slots) => (def, slots),
            Arg::Expr(_) => return None,
        };
        // The operator captures the names it mentions; its callers have only the hidden parameters.
        let own = (1..=arity).map(|index| Param { name: format!("_{index}"), arity: 0 });
        let all: Vec<Param> = params.iter().cloned().chain(own).collect();
        let def = self.reserve(scope, name, all, params.len(), site);
        let count = self.definition(def).params.len();
        let own = (count - arity..count).map(slot_id);
        let args = slots.iter().copied().chain(own).map(Arg::Slot).collect();
        let body = self.exprs.push(Node::Call { def: operator, args }, site);
        scope.frame.slots = slot_id(count).0;
        self.fill(def, body, &scope.frame);
        Some(Symbol::Def(def))
    }

    /// The meaning of a plain name, if it can be used directly.
    fn plain(&mut self, scope: &Scope, expr: &Expr, arity: usize) -> Option<Symbol> {
        let Kind::Apply { prefixes, name, args } = &expr.kind else { return None };
        if !prefixes.is_empty() || !args.is_empty() || built_in(&name.text).is_some() {
            return None;
        }
        if let Some(local) = scope.frame.find(&name.text) {
            return match local.kind {
                LocalKind::Argument { slot, arity: takes } if takes == arity => Some(Symbol::Hidden { slot, arity }),
                _ => None,
            };
        }
        let symbol = &scope.table.entries.get(&name.text)?.symbol;
        let takes = match symbol {
            Symbol::Variable(_) => 0,
            Symbol::Hidden { arity, .. } => *arity,
            Symbol::Native(native) => native.params.len(),
            Symbol::Def(def) => self.definition(*def).params.len() - self.hidden(*def),
            Symbol::Instance(_) => return None,
        };
        (takes == arity).then(|| symbol.clone())
    }
}
