//! `LET` and `LAMBDA`.
//!
//! A `LET` without parameters is a lazily evaluated slot. Everything else becomes a definition whose first parameters
//! are the surrounding names that it mentions, directly or through operators that capture them. Between a `RECURSIVE`
//! declaration and its definition it is unknown what the operator will mention, so it captures every name that it
//! could; a definition without parameters in between becomes a definition too, because it may call the operator.

use std::collections::BTreeSet;

use omnilink_tla_syntax::Diagnostic;
use omnilink_tla_syntax::ast::{Declaration, Definition, Expr, Name, Unit};

use super::Resolver;
use super::apply::slot_id;
use super::mention::mentioned;
use super::table::{Frame, Local, LocalKind, Scope};
use crate::ir::{Arg, DefId, ExprId, Node, Param, SlotId};
use crate::source::Site;

impl Resolver {
    /// Resolves `LAMBDA params : body`.
    pub(super) fn lambda(&mut self, scope: &mut Scope, params: &[Declaration], body: &Expr, site: Site) -> Arg {
        let captured = mentions(scope, body);
        let def = self.lift(scope, "LAMBDA", &captured, params, site);
        self.lifted(scope, def, &captured, params, |this, scope| this.expr(scope, body));
        let hidden = self.universes[scope.universe.0].hidden.len();
        let mut first: Vec<Arg> = (0..hidden).map(|slot| Arg::Slot(slot_id(slot))).collect();
        self.add_captured(scope, &captured, &mut first);
        let slots = first.into_iter().filter_map(|arg| match arg {
            Arg::Slot(slot) => Some(slot),
            Arg::Expr(_) | Arg::Operator(..) => None,
        });
        Arg::Operator(def, slots.collect())
    }

    /// Resolves `name :: body`. Where no name is bound around it, `Op!name` can refer to it, so it becomes a
    /// definition.
    pub(super) fn label(&mut self, scope: &mut Scope, name: &Name, body: &Expr, site: Site) -> ExprId {
        let Some(operator) = scope.labelled.as_ref().filter(|_| scope.frame.locals.is_empty()) else {
            return self.expr(scope, body);
        };
        let path = format!("{operator}!{}", name.text);
        let def = self.lift(scope, &path, &[], &[], scope.site(name.span));
        self.lifted(scope, def, &[], &[], |this, scope| this.expr(scope, body));
        scope.labels.push((Name { text: path, span: name.span }, def));
        let hidden = self.universes[scope.universe.0].hidden.len();
        let args = (0..hidden).map(|slot| Arg::Slot(slot_id(slot))).collect();
        self.exprs.push(Node::Call { def, args }, site)
    }

    /// Resolves `LET units IN body`.
    pub(super) fn let_in(&mut self, scope: &mut Scope, units: &[Unit], body: &Expr, site: Site) -> ExprId {
        let outer = scope.frame.locals.len();
        let mut values: Vec<(SlotId, ExprId)> = Vec::new();
        for unit in units {
            match unit {
                Unit::Recursive(declarations) => {
                    declarations.iter().for_each(|declaration| self.let_recursive(scope, declaration));
                }
                Unit::Definition(definition) => values.extend(self.let_definition(scope, definition)),
                Unit::Instance(instance) => self.let_instance(scope, instance),
                Unit::Constants(_)
                | Unit::Variables(_)
                | Unit::Assume { .. }
                | Unit::Theorem { .. }
                | Unit::Module(_) => {}
            }
        }
        for local in &scope.frame.locals[outer..] {
            if let LocalKind::Operator { is_pending: true, .. } = local.kind {
                self.never_defined(&local.name, local.site);
            }
        }
        let mut expr = self.expr(scope, body);
        scope.frame.locals.truncate(outer);
        for (slot, value) in values.into_iter().rev() {
            expr = self.exprs.push(Node::Let { slot, value, body: expr }, site);
        }
        expr
    }

    pub(super) fn never_defined(&mut self, name: &str, site: Site) {
        self.error(site, format!("`{name}` is declared `RECURSIVE` but never defined"));
    }

    fn let_recursive(&mut self, scope: &mut Scope, declaration: &Declaration) {
        let captured = visible(scope);
        let params: Vec<Declaration> = blanks(declaration);
        let def = self.lift(scope, &declaration.name.text, &captured, &params, scope.site(declaration.name.span));
        self.recursive.push(def);
        self.bind_as(scope, &declaration.name, LocalKind::Operator { def, captured, is_pending: true });
    }

    /// A slot and its value, if the definition became one.
    fn let_definition(&mut self, scope: &mut Scope, definition: &Definition) -> Option<(SlotId, ExprId)> {
        let Definition { name, params, body, .. } = definition;
        let this = this(definition);
        let site = scope.site(name.span);
        let is_pending = |kind: &LocalKind| matches!(kind, LocalKind::Operator { is_pending: true, .. });
        let declared = scope.frame.locals.iter_mut().find(|local| local.name == name.text && is_pending(&local.kind));
        if let Some(LocalKind::Operator { def, captured, is_pending }) = declared.map(|local| &mut local.kind) {
            *is_pending = false;
            let (def, captured) = (*def, captured.clone());
            if self.matches_declaration(scope, def, params, name) {
                self.lifted(scope, def, &captured, params, |resolver, scope| resolver.function(scope, body, this));
            }
            return None;
        }
        if params.is_empty() && !scope.frame.locals.iter().any(|local| is_pending(&local.kind)) {
            let value = self.function(scope, body, this);
            let slot = scope.frame.slot();
            self.bind_as(scope, name, LocalKind::Argument { slot, arity: 0 });
            return Some((slot, value));
        }
        let captured = mentions(scope, body);
        let def = self.lift(scope, &name.text, &captured, params, site);
        self.lifted(scope, def, &captured, params, |resolver, scope| resolver.function(scope, body, this));
        self.bind_as(scope, name, LocalKind::Operator { def, captured, is_pending: false });
        None
    }

    /// Whether a definition has the parameters of its `RECURSIVE` declaration; takes over their names.
    pub(super) fn matches_declaration(
        &mut self,
        scope: &Scope,
        def: DefId,
        params: &[Declaration],
        name: &Name,
    ) -> bool {
        let hidden = self.hidden(def);
        let definition = &mut self.definitions[def.0 as usize];
        let declared = &mut definition.params[hidden..];
        if declared.len() == params.len() && params.iter().all(|param| param.arity == 0) {
            declared.iter_mut().zip(params).for_each(|(declared, param)| declared.name.clone_from(&param.name.text));
            return true;
        }
        let first = definition.site;
        let site = scope.site(name.span);
        let message = format!("`{}` has different parameters than its `RECURSIVE` declaration", name.text);
        self.report(site, Diagnostic::new(site.span, message), Some((first, "declared here")));
        false
    }

    /// Reserves a definition for an operator inside a definition.
    fn lift(&mut self, scope: &Scope, name: &str, captured: &[String], params: &[Declaration], site: Site) -> DefId {
        let mut own: Vec<Param> = captured.iter().map(|name| captured_param(scope, name)).collect();
        own.extend(params.iter().map(param));
        self.reserve(scope, name, own, captured.len(), site)
    }

    /// Resolves the body of such a definition, in its own frame.
    fn lifted(
        &mut self,
        scope: &mut Scope,
        def: DefId,
        captured: &[String],
        params: &[Declaration],
        body: impl FnOnce(&mut Resolver, &mut Scope) -> ExprId,
    ) {
        let inner = self.inner_frame(scope, captured);
        let outer = std::mem::replace(&mut scope.frame, inner);
        self.bind_params(scope, params);
        let expr = body(self, scope);
        let frame = std::mem::replace(&mut scope.frame, outer);
        self.fill(def, expr, &frame);
    }

    /// A frame whose first slots are hidden, followed by captured names. Names that are not captured stay taken.
    pub(super) fn inner_frame(&self, scope: &Scope, captured: &[String]) -> Frame {
        let hidden = self.universes[scope.universe.0].hidden.len();
        let locals = scope.frame.locals.iter().map(|local| {
            let place = captured.iter().position(|name| *name == local.name);
            let is_captured = |names: &[String]| names.iter().all(|name| captured.contains(name));
            let kind = match (&local.kind, place) {
                (LocalKind::Value(_), Some(place)) => LocalKind::Argument { slot: slot_id(hidden + place), arity: 0 },
                (LocalKind::Argument { arity, .. }, Some(place)) => {
                    LocalKind::Argument { slot: slot_id(hidden + place), arity: *arity }
                }
                (LocalKind::Operator { captured, .. }, _) if is_captured(captured) => local.kind.clone(),
                (LocalKind::Instance(instance), _) if is_captured(&instance.captured) => local.kind.clone(),
                _ => LocalKind::Unmentioned,
            };
            Local { kind, ..local.clone() }
        });
        Frame { locals: locals.collect(), slots: slot_id(hidden + captured.len()).0 }
    }

    /// Binds parameters to the next slots.
    pub(super) fn bind_params(&mut self, scope: &mut Scope, params: &[Declaration]) {
        for Declaration { name, arity } in params {
            let slot = scope.frame.slot();
            self.bind_as(scope, name, LocalKind::Argument { slot, arity: *arity });
        }
    }
}

/// The parameters of a `RECURSIVE` declaration.
pub(super) fn blanks(declaration: &Declaration) -> Vec<Declaration> {
    let blank = |index| Name { text: format!("_{index}"), span: declaration.name.span };
    (1..=declaration.arity).map(|index| Declaration { name: blank(index), arity: 0 }).collect()
}

/// Converts a parameter.
pub(super) fn param(declaration: &Declaration) -> Param {
    Param { name: declaration.name.text.clone(), arity: declaration.arity }
}

/// The name by which a function refers to itself in its definition, if it does.
pub(super) fn this(definition: &Definition) -> Option<&Name> {
    let mut names = BTreeSet::new();
    if definition.is_function {
        mentioned(&definition.body, &mut names);
    }
    names.contains(definition.name.text.as_str()).then_some(&definition.name)
}

/// A captured name as a parameter.
pub(super) fn captured_param(scope: &Scope, name: &str) -> Param {
    let arity = match scope.frame.find(name).map(|local| &local.kind) {
        Some(LocalKind::Argument { arity, .. }) => *arity,
        _ => 0,
    };
    Param { name: name.to_owned(), arity }
}

/// Every surrounding name that has a slot.
pub(super) fn visible(scope: &Scope) -> Vec<String> {
    capture(scope, |_| true)
}

/// The surrounding names that have a slot and that an expression needs.
fn mentions(scope: &Scope, body: &Expr) -> Vec<String> {
    let mut names = BTreeSet::new();
    mentioned(body, &mut names);
    if names.contains("INSTANCE") {
        return visible(scope);
    }
    let mut wanted: BTreeSet<&str> = names.clone();
    for local in &scope.frame.locals {
        if names.contains(local.name.as_str()) {
            match &local.kind {
                LocalKind::Operator { captured, .. } => wanted.extend(captured.iter().map(String::as_str)),
                LocalKind::Instance(instance) => wanted.extend(instance.captured.iter().map(String::as_str)),
                LocalKind::Value(_) | LocalKind::Argument { .. } | LocalKind::Unmentioned => {}
            }
        }
    }
    capture(scope, |name| wanted.contains(name))
}

fn capture(scope: &Scope, is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for local in &scope.frame.locals {
        let has_slot = matches!(local.kind, LocalKind::Value(_) | LocalKind::Argument { .. });
        if has_slot && is_wanted(&local.name) && !names.contains(&local.name) {
            names.push(local.name.clone());
        }
    }
    names
}
