//! Assigns constants, and replaces definitions.
//!
//! A name with a value becomes a definition of that value. A name with another name becomes an alias: every call of
//! it is redirected, so that it costs nothing at run time, and its own body calls the other as well, so that no
//! constant stays undefined. Calls from inside an instance are not redirected by a replacement of `Instance!Name`:
//! TLC replaces what the root module sees under that name. A replacement of a definition that the root module extends
//! also holds inside instances of the module that defines it, because in TLC both have the same text; `Instance!Name`
//! in the root module keeps its meaning.

use std::collections::{BTreeMap, BTreeSet};

use super::walk::level;
use super::{LinkError, Linker, Place, Warning};
use crate::config::{Assignment, Literal, LiteralKind, Meaning};
use crate::ir::{Arg, Body, DefId, ExprId, ExprLevel, Module, Node, SlotId};
use crate::modules;
use crate::source::{Site, SourceId};
use crate::value::Value;

impl Linker<'_> {
    /// Applies the configuration's assignments.
    pub(super) fn replace(&mut self) {
        let mut aliases: BTreeMap<DefId, DefId> = BTreeMap::new();
        let mut tables: BTreeMap<DefId, Vec<(&[Literal], &Literal)>> = BTreeMap::new();
        let mut given: BTreeMap<DefId, &Assignment> = BTreeMap::new();
        for assignment in &self.config.constants {
            for def in self.targets(assignment) {
                if assignment.args.is_none() && given.insert(def, assignment).is_some() {
                    let message = format!("`{}` is assigned twice; the last assignment counts", assignment.name.text);
                    self.warnings.push(Warning { message, place: Place::Config(assignment.name.span) });
                }
                match &assignment.meaning {
                    Meaning::Definition(_) => {
                        if let Some(other) = self.alias(assignment, def) {
                            aliases.insert(def, other);
                        }
                    }
                    Meaning::Value(value) => match &assignment.args {
                        Some(args) => tables.entry(def).or_default().push((args, value)),
                        None => {
                            aliases.remove(&def);
                            self.give_value(assignment, def, value);
                        }
                    },
                }
            }
        }
        for (def, rows) in tables {
            self.give_table(def, &rows);
        }
        let aliases = self.with_instances(aliases);
        self.redirect(&aliases);
        self.check_all_given(&given);
    }

    /// Adds the definitions in instances that have the text of a replaced one.
    fn with_instances(&self, aliases: BTreeMap<DefId, DefId>) -> Aliases {
        let mut inside = BTreeMap::new();
        for (index, definition) in self.module.definitions.iter().enumerate() {
            let Some((_, own)) = definition.name.rsplit_once('!') else { continue };
            let def = DefId(index as u32);
            let is_original = |original: &DefId| {
                let original = self.definition(*original);
                original.name == own && original.module == definition.module && original.site == definition.site
            };
            let replaced = aliases.iter().find(|(original, _)| is_original(original));
            if let Some((original, to)) = replaced.filter(|_| !aliases.contains_key(&def)) {
                let hidden = definition.params.len().saturating_sub(self.definition(*original).params.len());
                inside.insert(def, (*to, hidden));
            }
        }
        Aliases { whole: aliases, inside }
    }

    /// The definitions that an assignment affects.
    fn targets(&mut self, assignment: &Assignment) -> Vec<DefId> {
        let name = &assignment.name.text;
        let Some(module) = &assignment.module else {
            if let Some(&def) = self.module.names.get(name) {
                return vec![def];
            }
            let natives = self.natives(name);
            if !natives.is_empty() {
                return natives;
            }
            let message = format!("the module has no constant or definition `{name}`");
            let is_native = modules::natives().iter().any(|native| native.name == name);
            match assignment.meaning {
                // A built-in one has a definition only if it is used.
                Meaning::Definition(_) if is_native => {}
                // TLC accepts these, and configurations shared by several modules rely on it.
                Meaning::Value(_) => {
                    let message = message + &omnilink_suggest::aside(name, self.names());
                    self.warnings.push(Warning { message, place: Place::Config(assignment.name.span) });
                }
                Meaning::Definition(_) => {
                    let error = LinkError::new(Place::Config(assignment.name.span), message);
                    self.errors.push(LinkError { help: omnilink_suggest::hint(name, self.names()), ..error });
                }
            }
            return Vec::new();
        };
        let is_meant = |def: &DefId| {
            let definition = self.definition(*def);
            let own_name = definition.name.rsplit('!').next().unwrap_or_default();
            definition.module == module.text && own_name == name && definition.captures == 0
        };
        let all = 0..self.module.definitions.len() as u32;
        let mut targets: Vec<DefId> = all.map(DefId).filter(is_meant).collect();
        if targets.is_empty() && self.module.definitions.iter().any(|definition| definition.module == module.text) {
            // The module may have it from one that it extends.
            targets.extend(self.module.names.get(name));
        }
        let is_native = modules::natives().iter().any(|native| native.name == name);
        if targets.is_empty() && is_native {
            // All modules share the built-in operators, so TLC replaces them everywhere.
            targets = self.natives(name);
        } else if targets.is_empty() {
            let message = format!("module `{}` has no definition `{name}`", module.text);
            self.errors.push(LinkError::new(Place::Config(assignment.name.span.to(module.span)), message));
        }
        targets
    }

    /// The built-in operators of this name, such as `Nat`; one for each module that defines it.
    fn natives(&self, name: &str) -> Vec<DefId> {
        let is_meant = |def: &DefId| matches!(self.definition(*def).body, Body::Native(native) if native.name == name);
        (0..self.module.definitions.len() as u32).map(DefId).filter(is_meant).collect()
    }

    fn alias(&mut self, assignment: &Assignment, def: DefId) -> Option<DefId> {
        let Meaning::Definition(other) = &assignment.meaning else { return None };
        let place = Place::Config(other.span);
        let Some(&other_def) = self.module.names.get(&other.text) else {
            let message = format!("the module does not define `{}`", other.text);
            let model = || format!("to make it a model value, write `{0} = {1}`", assignment.name.text, other.text);
            let help = omnilink_suggest::hint(&other.text, self.names()).unwrap_or_else(model);
            self.errors.push(LinkError::new(place, message).help(help));
            return None;
        };
        let is_replaced_itself = |other_assignment: &&Assignment| {
            other_assignment.module == assignment.module
                && other_assignment.name.text == other.text
                && matches!(other_assignment.meaning, Meaning::Definition(_))
        };
        if self.config.constants.iter().any(|assignment| is_replaced_itself(&assignment)) {
            let message =
                format!("`{}` is replaced itself, so it cannot replace `{}`", other.text, assignment.name.text);
            self.errors.push(LinkError::new(place, message));
            return None;
        }
        let arities = |def| self.definition(def).params.iter().map(|param| param.arity).collect::<Vec<_>>();
        if arities(def) != arities(other_def) {
            let message = format!(
                "`{}` takes {}, and `{}` takes {}",
                assignment.name.text,
                arguments(arities(def).len()),
                other.text,
                arguments(arities(other_def).len())
            );
            let error = LinkError::new(place, message).related(self.definition(other_def).site, "defined here");
            self.errors.push(error);
            return None;
        }
        Some(other_def)
    }

    fn give_value(&mut self, assignment: &Assignment, def: DefId, value: &Literal) {
        let definition = self.definition(def);
        let site = definition.site;
        if !definition.params.is_empty() {
            let name = &assignment.name.text;
            let message = format!("`{name}` takes {}", arguments(definition.params.len()));
            let error = LinkError::new(Place::Config(assignment.span), message).related(site, "declared here");
            self.errors.push(error.help(format!("define an operator and write `{name} <- ThatOperator`")));
            return;
        }
        let body = self.value(value, site);
        self.module.definitions[def.0 as usize].body = Body::Expr(body);
    }

    /// `F(1, 2) = 3`: a case for each row.
    fn give_table(&mut self, def: DefId, rows: &[(&[Literal], &Literal)]) {
        let definition = self.definition(def);
        let (site, arity) = (definition.site, definition.params.len());
        let mut arms = Vec::new();
        for (args, value) in rows {
            if args.len() != arity {
                let at = args.first().map_or(value.span, |first| first.span);
                let message = format!("`{}` takes {}", self.definition(def).name, arguments(arity));
                self.errors.push(LinkError::new(Place::Config(at), message).related(site, "declared here"));
                return;
            }
            let mut tests = Vec::new();
            for (index, arg) in args.iter().enumerate() {
                let param = self.module.exprs.push(Node::Argument(SlotId(index as u32)), site);
                let arg = self.value(arg, site);
                tests.push(self.module.exprs.push(Node::Equal(param, arg), site));
            }
            let test = self.module.exprs.push(Node::And(tests.into()), site);
            arms.push((test, self.value(value, site)));
        }
        let body = self.module.exprs.push(Node::Case { arms: arms.into(), other: None }, site);
        let definition = &mut self.module.definitions[def.0 as usize];
        definition.body = Body::Expr(body);
        definition.slots = arity;
    }

    fn value(&mut self, literal: &Literal, site: Site) -> ExprId {
        let node = match &literal.kind {
            LiteralKind::Bool(truth) => Node::Value(Value::Bool(*truth)),
            LiteralKind::Int(number) => Node::Value(Value::Int(*number)),
            LiteralKind::Str(string) => Node::Value(Value::Str(string.clone())),
            LiteralKind::Model(model) => Node::Value(Value::Model(*model)),
            LiteralKind::Computed(value) => Node::Value(value.clone()),
            LiteralKind::Set(elements) => Node::Set(elements.iter().map(|element| self.value(element, site)).collect()),
            LiteralKind::Tuple(elements) => {
                Node::Tuple(elements.iter().map(|element| self.value(element, site)).collect())
            }
        };
        self.module.exprs.push(node, site)
    }

    /// Redirects every call of an alias to its target.
    fn redirect(&mut self, aliases: &Aliases) {
        if aliases.whole.is_empty() {
            return;
        }
        let module = &mut self.module;
        for index in 0..module.exprs.len() {
            let expr = ExprId(index as u32);
            let node = redirected(module, expr, aliases);
            if let Some(node) = node {
                module.exprs.set(expr, node);
            }
        }
        for (&from, &to) in &aliases.whole {
            let definition = &module.definitions[from.0 as usize];
            let args = (0..definition.params.len()).map(|slot| Arg::Slot(SlotId(slot as u32))).collect();
            let body = module.exprs.push(Node::Call { def: to, args }, definition.site);
            let definition = &mut module.definitions[from.0 as usize];
            definition.body = Body::Expr(body);
            definition.slots = definition.params.len();
            for def in module.names.values_mut() {
                if *def == from {
                    *def = to;
                }
            }
        }
        self.raise_levels(aliases);
        self.find_new_recursion(aliases);
    }

    /// A definition that calls an alias may now have a higher level.
    fn raise_levels(&mut self, aliases: &Aliases) {
        let module = &mut self.module;
        let inside = aliases.inside.iter().map(|(from, (to, _))| (from, to));
        let mut is_raised = aliases
            .whole
            .iter()
            .chain(inside)
            .any(|(from, to)| module.definitions[from.0 as usize].level < module.definitions[to.0 as usize].level);
        while is_raised {
            is_raised = false;
            for index in 0..module.definitions.len() {
                if let Body::Expr(body) = module.definitions[index].body {
                    let level = level(&module.exprs, &module.definitions, body, ExprLevel::Constant);
                    if level > module.definitions[index].level {
                        module.definitions[index].level = level;
                        is_raised = true;
                    }
                }
            }
        }
    }

    /// A replacement may call the operator it replaces, and so itself.
    fn find_new_recursion(&mut self, aliases: &Aliases) {
        for &start in aliases.whole.values() {
            let (mut seen, mut todo) = (BTreeSet::new(), vec![start]);
            while let Some(def) = todo.pop() {
                let Body::Expr(body) = self.definition(def).body else { continue };
                let mut exprs = vec![body];
                while let Some(expr) = exprs.pop() {
                    let node = self.module.exprs.node(expr);
                    node.for_each_child(&mut |part| exprs.push(part));
                    node.for_each_callee(&mut |callee| {
                        if seen.insert(callee) {
                            todo.push(callee);
                        }
                    });
                }
            }
            if seen.contains(&start) {
                self.module.definitions[start.0 as usize].is_recursive = true;
            }
        }
    }

    /// A constant with a wrong assignment already has an error.
    fn check_all_given(&mut self, given: &BTreeMap<DefId, &Assignment>) {
        for (index, definition) in self.module.definitions.iter().enumerate() {
            if !matches!(definition.body, Body::Declared) || given.contains_key(&DefId(index as u32)) {
                continue;
            }
            let (name, arity) = (&definition.name, definition.params.len());
            let is_unknown = |given: &&str| !self.module.names.contains_key(*given);
            let unknown = self.config.constants.iter().map(|given| given.name.text.as_str()).filter(is_unknown);
            let misspelt = omnilink_suggest::closest(name, unknown);
            let help = match arity {
                _ if misspelt.is_some() => {
                    format!("the configuration gives `{}` a value; rename it", misspelt.unwrap_or_default())
                }
                0 if self.is_used_as_set(DefId(index as u32)) => {
                    let element = name.chars().next().map_or('e', |first| first.to_ascii_lowercase());
                    format!("it is used as a set: add a line such as `CONSTANT {name} = {{{element}1, {element}2}}`")
                        + " to the configuration"
                }
                0 => format!("add a line such as `CONSTANT {name} = {name}` to the configuration"),
                _ => format!("add a line `CONSTANT {name} <- Op`, where `Op` takes {}", arguments(arity)),
            };
            let error = LinkError::new(Place::Missing, format!("the constant `{name}` has no value"));
            self.errors.push(error.related(definition.site, "declared here").help(help));
        }
    }

    /// Whether a constant is used where only a set is allowed.
    fn is_used_as_set(&self, constant: DefId) -> bool {
        let exprs = &self.module.exprs;
        let is_meant = |expr: &ExprId| matches!(exprs.node(*expr), Node::Call { def, .. } if *def == constant);
        (0..exprs.len() as u32).any(|index| match exprs.node(ExprId(index)) {
            Node::In(_, set) | Node::NotIn(_, set) | Node::Subsets(set) | Node::Union(set) => is_meant(set),
            Node::Subseteq(a, b) | Node::Cup(a, b) | Node::Cap(a, b) | Node::Minus(a, b) | Node::Functions(a, b) => {
                is_meant(a) || is_meant(b)
            }
            Node::Product(sets) => sets.iter().any(is_meant),
            Node::Records(fields) => fields.iter().any(|(_, set)| is_meant(set)),
            Node::Choose { bound, .. } | Node::Filter { bound, .. } => is_meant(&bound.set),
            Node::Exists { bounds, .. }
            | Node::Forall { bounds, .. }
            | Node::Map { bounds, .. }
            | Node::Function { bounds, .. } => bounds.iter().any(|bound| is_meant(&bound.set)),
            _ => false,
        })
    }
}

/// The replaced definitions.
struct Aliases {
    /// Replaced wherever they are called.
    whole: BTreeMap<DefId, DefId>,
    /// Replaced where the text of an instance calls them, with the number of parameters to drop.
    inside: BTreeMap<DefId, (DefId, usize)>,
}

/// The expression with its calls of aliases redirected, if it has any.
fn redirected(module: &Module, expr: ExprId, aliases: &Aliases) -> Option<Node> {
    let source = module.exprs.site(expr).source;
    let target = |def: DefId| {
        if let Some(&(to, hidden)) = aliases.inside.get(&def) {
            // The root module, whose text comes first, sees the instance's own definition.
            return (source != SourceId::default()).then_some((to, hidden));
        }
        let definition = &module.definitions[def.0 as usize];
        let is_inside_instance = definition.name.contains('!') && definition.site.source == source;
        aliases.whole.get(&def).copied().filter(|_| !is_inside_instance).map(|to| (to, 0))
    };
    let mut is_changed = false;
    module.exprs.node(expr).for_each_callee(&mut |def| is_changed |= target(def).is_some());
    if !is_changed {
        return None;
    }
    let mut node = module.exprs.node(expr).clone();
    if let Node::Call { def, args } = &mut node
        && let Some((to, hidden)) = target(*def)
    {
        *def = to;
        *args = args[hidden..].into();
    }
    if let Node::Call { args, .. } | Node::CallArgument { args, .. } = &mut node {
        for arg in args {
            if let Arg::Operator(def, captures) = arg
                && let Some((to, hidden)) = target(*def)
            {
                *def = to;
                *captures = captures[hidden.min(captures.len())..].into();
            }
        }
    }
    Some(node)
}

fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".into(),
        1 => "one argument".into(),
        _ => format!("{count} arguments"),
    }
}
