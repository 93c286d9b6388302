//! The units of a module.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use omnilink_tla_syntax::ast::{self, Declaration, Expr, Module, Name, Unit};
use omnilink_tla_syntax::{Diagnostic, Span};

use super::apply::slot_id;
use super::load::built_in;
use super::local::{blanks, param, this};
use super::table::{Entry, Frame, Scope, Symbol, Table, Text, UniverseId};
use super::{Resolver, with_stack};
use crate::datum::Native;
use crate::ir::{Body, Definition, ExprLevel, Node, Param, VarId, Variable};
use crate::modules;
use crate::source::Site;

/// The modules whose operators TLC implements itself, even if a text of that name exists.
const OVERRIDDEN: &[&str] = &[
    "Bags",
    "FiniteSets",
    "IOUtils",
    "Integers",
    "Json",
    "Naturals",
    "Randomization",
    "Reals",
    "Sequences",
    "TLC",
    "TLCExt",
];

/// The built-in operator that replaces one that a text defines.
fn overriding(module: &str, name: &str, params: &[Declaration]) -> Option<&'static Native> {
    // The text of this one describes the order and cannot be evaluated.
    let is_overridden = OVERRIDDEN.contains(&module) || (module, name) == ("VectorClocks", "CausalOrder");
    let native = is_overridden.then(|| modules::find(module, name))??;
    (native.params.len() == params.len()).then_some(native)
}

impl Resolver {
    /// Resolves a module for an instance.
    pub(super) fn module(&mut self, universe: UniverseId, text: &Text) -> Scope {
        with_stack(|| self.module_here(universe, text))
    }

    fn module_here(&mut self, universe: UniverseId, text: &Text) -> Scope {
        let tree = &text.tree;
        let mut scope = Scope {
            universe,
            module: tree.name.text.clone(),
            source: text.source,
            part: Span { start: 0, end: u32::MAX },
            offset: 0,
            table: text.outer.clone().unwrap_or_default(),
            frame: Frame::default(),
            later: BTreeMap::new(),
            labelled: None,
            labels: Vec::new(),
        };
        self.stack.push(tree.name.text.clone());
        for unit in &tree.units {
            if let Unit::Definition(definition) = unit {
                let later = (scope.site(definition.name.span), definition.params.len());
                scope.later.insert(definition.name.text.clone(), later);
            }
        }
        for extended in &tree.extends {
            let site = scope.site(extended.span);
            let table = self.extended(universe, &scope.table, &extended.text, site);
            self.import_extended(&mut scope, &table, site);
        }
        for unit in &tree.units {
            if self.is_exhausted {
                break;
            }
            self.unit(&mut scope, unit);
        }
        for (name, entry) in &scope.table.entries {
            if let (true, Some(site)) = (entry.is_pending, entry.site) {
                self.never_defined(name, site);
            }
        }
        self.stack.pop();
        scope
    }

    fn unit(&mut self, scope: &mut Scope, unit: &Unit) {
        scope.frame = self.fresh_frame(scope);
        match unit {
            Unit::Constants(constants) => {
                for Declaration { name, arity } in constants {
                    self.declare(scope, name, Some(*arity));
                }
            }
            Unit::Variables(names) => names.iter().for_each(|name| self.declare(scope, name, None)),
            Unit::Recursive(declarations) => {
                for declaration in declarations {
                    let site = scope.site(declaration.name.span);
                    let params = blanks(declaration).iter().map(param).collect();
                    let def = self.reserve(scope, &declaration.name.text, params, 0, site);
                    self.recursive.push(def);
                    let mut entry = Entry::new(Symbol::Def(def), site);
                    entry.is_pending = true;
                    self.define(scope, &declaration.name.text, entry);
                }
            }
            Unit::Definition(definition) => self.define_operator(scope, definition),
            Unit::Instance(instance) => self.module_instance(scope, instance),
            Unit::Assume { name, body } => {
                let site = scope.site(name.as_ref().map_or(body.span, |name| name.span));
                let word = name.as_ref().map_or("ASSUME", |name| &name.text);
                let def = self.reserve(scope, word, Vec::new(), 0, site);
                let expr = self.expr(scope, body);
                self.fill(def, expr, &scope.frame);
                if let Some(name) = name {
                    self.define(scope, &name.text, Entry::new(Symbol::Def(def), site));
                }
                // The assumptions of an instance are not checked.
                if scope.universe == UniverseId(0) {
                    let call = self.exprs.push(Node::Call { def, args: Box::default() }, scope.site(body.span));
                    let name = name.as_ref().map(|name| name.text.clone());
                    self.assumptions.push((scope.module.clone(), name, def, call));
                }
            }
            Unit::Theorem { name: Some(name), body: Some(body) } => self.theorem(scope, name, body),
            Unit::Theorem { .. } => {}
            Unit::Module(module) => self.inner_module(scope, module),
        }
    }

    /// A frame with the hidden slots.
    fn fresh_frame(&self, scope: &Scope) -> Frame {
        Frame { slots: slot_id(self.universes[scope.universe.0].hidden.len()).0, locals: Vec::new() }
    }

    /// The name of a theorem can be used for its claim. A claim that does not resolve, because only provers understand
    /// it, has no name, and its errors are not reported.
    fn theorem(&mut self, scope: &mut Scope, name: &Name, body: &Expr) {
        let site = scope.site(name.span);
        let known = self.problems.len();
        let def = self.reserve(scope, &name.text, Vec::new(), 0, site);
        let expr = self.expr(scope, body);
        self.fill(def, expr, &scope.frame);
        if self.problems.len() == known && !scope.table.entries.contains_key(&name.text) {
            scope.table.entries.insert(name.text.clone(), Entry::new(Symbol::Def(def), site));
        }
        self.problems.truncate(known);
    }

    fn define_operator(&mut self, scope: &mut Scope, definition: &ast::Definition) {
        let ast::Definition { name, params, body, is_local, .. } = definition;
        let site = scope.site(name.span);
        if let Some(native) = overriding(&scope.module, &name.text, params) {
            let entry = Entry { is_local: *is_local, ..Entry::new(Symbol::Native(native), site) };
            scope.table.entries.insert(name.text.clone(), entry);
            return;
        }
        let pending = match scope.table.entries.get_mut(&name.text) {
            Some(Entry { symbol: Symbol::Def(def), is_pending, is_local: local, .. }) if *is_pending => {
                *is_pending = false;
                *local = *is_local;
                Some(*def)
            }
            _ => None,
        };
        let def = match pending {
            Some(def) if !self.matches_declaration(scope, def, params, name) => return,
            Some(def) => def,
            None => {
                // Duplicate definitions are resolved too, for the errors in them.
                self.is_taken(scope, &name.text, site);
                self.reserve(scope, &name.text, params.iter().map(param).collect(), 0, site)
            }
        };
        self.bind_params(scope, params);
        scope.labelled = params.is_empty().then(|| name.text.clone());
        let expr = self.function(scope, body, this(definition));
        self.fill(def, expr, &scope.frame);
        scope.frame.locals.clear();
        scope.labelled = None;
        for (label, def) in std::mem::take(&mut scope.labels) {
            let entry = Entry { is_local: *is_local, ..Entry::new(Symbol::Def(def), scope.site(label.span)) };
            self.define(scope, &label.text, entry);
        }
        if pending.is_none() {
            let entry = Entry { is_local: *is_local, ..Entry::new(Symbol::Def(def), site) };
            scope.table.entries.entry(name.text.clone()).or_insert(entry);
        }
    }

    /// Declares a constant with this arity, or a variable.
    fn declare(&mut self, scope: &mut Scope, name: &Name, constant: Option<usize>) {
        let site = scope.site(name.span);
        let universe = &self.universes[scope.universe.0];
        let known = match &universe.given {
            None => universe.declared.get(&name.text).cloned(),
            Some(given) => match given.get(&name.text) {
                Some(symbol) => Some(Entry { is_declared: true, ..Entry::new(symbol.clone(), site) }),
                None => {
                    // The instance has a reported error.
                    scope.table.is_partial = true;
                    return;
                }
            },
        };
        let is_other = |site: Option<Site>| site.is_some_and(|site| site.source != scope.source);
        let is_alike = |known: &Entry| match (&known.symbol, constant) {
            (Symbol::Variable(_), None) => true,
            (Symbol::Def(def), Some(arity)) => self.definition(*def).params.len() - self.hidden(*def) == arity,
            (Symbol::Hidden { arity, .. }, _) => *arity == constant.unwrap_or(0),
            _ => universe.given.is_some(),
        };
        if let Some(known) = known.filter(is_alike) {
            let here = scope.table.entries.get(&name.text);
            if !here.is_some_and(|here| here.is_declared && is_other(here.site)) {
                self.is_taken(scope, &name.text, site);
                scope.table.entries.entry(name.text.clone()).or_insert(known);
            }
            return;
        }
        if self.is_taken(scope, &name.text, site) {
            return;
        }
        let symbol = match constant {
            None => {
                self.variables.push(Variable { name: name.text.clone(), site });
                Symbol::Variable(VarId(u32::try_from(self.variables.len() - 1).expect("fewer variables than bytes")))
            }
            Some(arity) => {
                let params = (1..=arity).map(|index| Param { name: format!("_{index}"), arity: 0 }).collect();
                let definition = Definition {
                    name: name.text.clone(),
                    module: scope.module.clone(),
                    params,
                    captures: 0,
                    body: Body::Declared,
                    slots: arity,
                    level: ExprLevel::Constant,
                    is_recursive: false,
                    site,
                };
                Symbol::Def(self.add(definition, 0))
            }
        };
        let entry = Entry { is_declared: true, ..Entry::new(symbol, site) };
        self.universes[scope.universe.0].declared.insert(name.text.clone(), entry.clone());
        scope.table.entries.insert(name.text.clone(), entry);
    }

    fn inner_module(&mut self, scope: &mut Scope, module: &Module) {
        let mut outer = scope.table.clone();
        outer.entries.values_mut().for_each(|entry| entry.is_local = true);
        let site = scope.site(module.name.span);
        if scope.table.modules.contains_key(&module.name.text) {
            self.error(site, format!("module `{}` is already defined", module.name.text));
        }
        let text = Text { source: scope.source, tree: module.clone(), outer: Some(outer) };
        scope.table.modules.insert(module.name.text.clone(), Arc::new(text));
    }

    /// The names that a module exports to modules that extend it.
    pub(super) fn extended(&mut self, universe: UniverseId, around: &Table, name: &str, site: Site) -> Arc<Table> {
        let partial = || Arc::new(Table { is_partial: true, ..Table::default() });
        if let Some(text) = around.modules.get(name).cloned() {
            if self.is_circular(name, site) {
                return partial();
            }
            return Arc::new(exports(&self.module(universe, &text).table, true));
        }
        if let Some(Some(text)) = self.files.texts.get(name).cloned() {
            if self.is_circular(name, site) {
                return partial();
            }
            let universe = if self.is_free(name) { UniverseId(0) } else { universe };
            if let Some(table) = self.universes[universe.0].tables.get(name) {
                return table.clone();
            }
            let table = Arc::new(exports(&self.module(universe, &text).table, true));
            self.universes[universe.0].tables.insert(name.to_owned(), table.clone());
            return table;
        }
        let Some(along) = built_in(name) else { return partial() };
        if let Some(table) = self.universes[0].tables.get(name) {
            return table.clone();
        }
        let mut table = Table::default();
        for native in modules::module(name) {
            let symbol = Symbol::Native(native);
            let entry = Entry { symbol, site: None, is_local: false, is_declared: false, is_pending: false };
            table.entries.insert(native.name.to_owned(), entry);
        }
        for extended in along {
            let extended = self.extended(UniverseId(0), &Table::default(), extended, site);
            for (name, entry) in &extended.entries {
                table.entries.entry(name.clone()).or_insert_with(|| entry.clone());
            }
        }
        let table = Arc::new(table);
        self.universes[0].tables.insert(name.to_owned(), table.clone());
        table
    }

    /// Whether a module is already being resolved, which is reported.
    pub(super) fn is_circular(&mut self, name: &str, site: Site) -> bool {
        let is_circular = self.stack.iter().any(|module| module == name);
        if is_circular {
            self.error(site, format!("module `{name}` depends on itself"));
        }
        is_circular
    }

    /// Whether neither a module nor the modules it extends declare anything, so that its instances do not differ.
    fn is_free(&self, name: &str) -> bool {
        self.declarations(name, None).is_empty()
    }

    /// The constants and variables that a module declares, those of the modules it extends first: the name, the arity
    /// of a constant, and the location.
    pub(super) fn declarations(&self, name: &str, text: Option<&Text>) -> Vec<(String, Option<usize>, Site)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let file = || self.files.texts.get(name).and_then(Option::as_deref);
        if let Some(text) = text.or_else(file) {
            seen.insert(name.to_owned());
            self.add_declarations(text, &mut seen, &mut found);
        }
        found
    }

    fn add_declarations(
        &self,
        text: &Text,
        seen: &mut BTreeSet<String>,
        found: &mut Vec<(String, Option<usize>, Site)>,
    ) {
        for extended in &text.tree.extends {
            let inner = text.outer.as_ref().and_then(|outer| outer.modules.get(&extended.text));
            let file = || self.files.texts.get(&extended.text).and_then(Option::as_ref);
            if let (true, Some(extended)) = (seen.insert(extended.text.clone()), inner.or_else(file)) {
                self.add_declarations(extended, seen, found);
            }
        }
        let mut add = |name: &Name, arity| {
            if !found.iter().any(|(known, ..)| *known == name.text) {
                found.push((name.text.clone(), arity, Site { source: text.source, span: name.span }));
            }
        };
        for unit in &text.tree.units {
            match unit {
                Unit::Constants(constants) => {
                    constants.iter().for_each(|constant| add(&constant.name, Some(constant.arity)));
                }
                Unit::Variables(names) => names.iter().for_each(|name| add(name, None)),
                _ => {}
            }
        }
    }

    /// Makes the exports of an extended module visible. Of two different definitions with one name, the first stays,
    /// with a warning, as in SANY.
    fn import_extended(&mut self, scope: &mut Scope, table: &Table, site: Site) {
        for (name, entry) in &table.entries {
            let Some(known) = scope.table.entries.get(name) else { continue };
            let are_definitions = !known.is_declared && !entry.is_declared;
            if !are_definitions || known.symbol.is_same(&entry.symbol) {
                continue;
            }
            let modules = [self.home(&known.symbol), self.home(&entry.symbol)];
            if modules[0] != modules[1] && modules.iter().flatten().any(|module| self.files.is_text(module)) {
                let [first, second] = modules.map(|module| module.unwrap_or("an instance").to_owned());
                let message = format!("`{name}` of `{second}` is hidden by `{name}` of `{first}`, which comes first");
                self.warn(site, message);
            }
        }
        let mut unknown = table.clone();
        unknown.entries.retain(|name, entry| {
            let known = scope.table.entries.get(name);
            known.is_none_or(|known| known.is_declared || entry.is_declared || known.symbol.is_same(&entry.symbol))
        });
        self.import(scope, &unknown, site, false);
    }

    /// The module whose text defines a symbol.
    fn home(&self, symbol: &Symbol) -> Option<&str> {
        match symbol {
            Symbol::Def(def) => Some(&self.definition(*def).module),
            Symbol::Native(native) => Some(native.module),
            Symbol::Variable(_) | Symbol::Hidden { .. } | Symbol::Instance(_) => None,
        }
    }

    /// Makes the exports of a module visible. Of two different definitions with one name, the first stays if both
    /// take the same number of arguments, as in SANY.
    pub(super) fn import(&mut self, scope: &mut Scope, table: &Table, site: Site, is_local: bool) {
        for (name, entry) in &table.entries {
            match scope.table.entries.get(name) {
                None => {
                    let entry = Entry { is_local: is_local || entry.is_local, ..entry.clone() };
                    scope.table.entries.insert(name.clone(), entry);
                }
                Some(known) if known.symbol.is_same(&entry.symbol) || self.may_stand_for(known, entry) => {
                    // A name imported both as local and as not local is exported.
                    let is_local = known.is_local && (is_local || entry.is_local);
                    if let Some(known) = scope.table.entries.get_mut(name) {
                        known.is_local = is_local;
                    }
                }
                Some(known) => {
                    let first = known.site.map(|site| (site, "first here"));
                    let message = format!("this brings in another `{name}`, which is already defined");
                    self.report(site, Diagnostic::new(site.span, message), first);
                }
            }
        }
        for (name, text) in &table.modules {
            scope.table.modules.entry(name.clone()).or_insert_with(|| text.clone());
        }
        scope.table.is_partial |= table.is_partial;
    }

    fn may_stand_for(&self, known: &Entry, other: &Entry) -> bool {
        let arity = |entry: &Entry| match &entry.symbol {
            Symbol::Def(def) => Some(self.definition(*def).params.len() - self.hidden(*def)),
            Symbol::Native(native) => Some(native.params.len()),
            Symbol::Instance(instance) => Some(instance.params.len()),
            Symbol::Hidden { arity, .. } => Some(*arity),
            Symbol::Variable(_) => None,
        };
        known.is_declared == other.is_declared && arity(known) == arity(other)
    }
}

impl Entry {
    /// A symbol defined here and exported.
    pub(super) fn new(symbol: Symbol, site: Site) -> Entry {
        Entry { symbol, site: Some(site), is_local: false, is_declared: false, is_pending: false }
    }
}

/// The names of a module that are visible to modules that extend it, or to modules that instance it.
pub(super) fn exports(table: &Table, with_declared: bool) -> Table {
    let entries = table.entries.iter().filter(|(_, entry)| !entry.is_local && (with_declared || !entry.is_declared));
    Table {
        entries: entries.map(|(name, entry)| (name.clone(), entry.clone())).collect(),
        modules: table.modules.clone(),
        is_partial: table.is_partial,
    }
}
