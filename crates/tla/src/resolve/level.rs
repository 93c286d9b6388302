//! The level of each definition: constant, state, action or temporal.
//!
//! The level of an expression is the highest of its parts, except that `ENABLED` hides the next state. A definition's
//! level is computed as if its parameters were constants; which parameters can raise it, and the maximum level of
//! each argument (at most a state if the definition primes it), is computed at the same time and used at every call.
//! Recursive definitions need more than one round; levels only rise and limits only fall, so the rounds end.
//!
//! A built-in operator may read the state although nothing in TLA+ says so, as `TLCGet` does. An assumption may still
//! mention it. So two levels are computed: the one of the text, which is compared with limits, and the one that
//! includes such operators, which is reported as the definition's level.

use omnilink_tla_syntax::Diagnostic;

use super::table::Symbol;
use super::{Resolver, with_stack};
use crate::ir::{Arg, Body, Bound, DefId, ExprId, ExprLevel, Exprs, Node, SlotId};
use crate::source::Site;

/// Parameters beyond this are not tracked: their levels count, their limits do not.
const FOLLOWED: usize = 128;

/// The effect of a call on the level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Effect {
    /// The level of the text.
    level: ExprLevel,
    /// The level of the built-in operators in it.
    native_level: ExprLevel,
    /// Parameters whose level the result has.
    raises: u128,
    /// The maximum level of each argument.
    most: Vec<ExprLevel>,
}

/// The replacement of an instance's constant or variable, and its maximum level.
#[derive(Debug)]
pub(super) struct Substitution {
    pub(super) symbol: Symbol,
    pub(super) most: ExprLevel,
    pub(super) site: Site,
    pub(super) name: String,
    pub(super) module: String,
}

/// The level of an expression: at least this, and at least that of these parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Depth {
    level: ExprLevel,
    native_level: ExprLevel,
    params: u128,
}

const CONSTANT: Depth = Depth { level: ExprLevel::Constant, native_level: ExprLevel::Constant, params: 0 };

impl Depth {
    fn join(self, other: Depth) -> Depth {
        let (level, native_level) = (self.level.max(other.level), self.native_level.max(other.native_level));
        Depth { level, native_level, params: self.params | other.params }
    }

    fn at_least(self, level: ExprLevel) -> Depth {
        Depth { level: self.level.max(level), ..self }
    }
}

impl Resolver {
    /// Computes the levels of all new definitions, and reports expressions whose level is too high.
    pub(super) fn levels(&mut self) {
        for definition in &self.definitions[self.context.effects.len()..] {
            let count = definition.params.len();
            let (native_level, raises, most) = match &definition.body {
                Body::Declared | Body::Expr(_) => (ExprLevel::Constant, 0, ExprLevel::Temporal),
                Body::Native(native) => (native.level, u128::MAX, ExprLevel::Action),
            };
            let most = vec![most; count];
            self.context.effects.push(Effect { level: ExprLevel::Constant, native_level, raises, most });
        }
        loop {
            let mut is_stable = true;
            for &def in &self.finished {
                let effect = self.walk(def, &mut Vec::new());
                let known = &mut self.context.effects[def.0 as usize];
                is_stable &= effect == *known;
                *known = effect;
            }
            if is_stable || self.recursive.is_empty() {
                break;
            }
        }
        let mut found = Vec::new();
        for &def in &self.finished {
            self.walk(def, &mut found);
            let Effect { level, native_level, .. } = self.context.effects[def.0 as usize];
            self.definitions[def.0 as usize].level = level.max(native_level);
        }
        for (_, _, def, _) in &self.assumptions {
            let level = self.context.effects[def.0 as usize].level;
            if level > ExprLevel::Constant {
                let message = format!("an assumption cannot depend on {}", words(level));
                found.push((self.definitions[def.0 as usize].site, message));
            }
        }
        for Substitution { symbol, most, site, name, module } in &self.substitutions {
            let level = match symbol {
                Symbol::Variable(_) => ExprLevel::State,
                Symbol::Def(def) => self.context.effects[def.0 as usize].level,
                Symbol::Hidden { .. } | Symbol::Instance(_) | Symbol::Native(_) => ExprLevel::Constant,
            };
            if level > *most {
                let message = format!("`{name}` of module `{module}` cannot depend on {}", words(level));
                found.push((*site, message));
            }
        }
        for (site, message) in found {
            self.report(site, Diagnostic::new(site.span, message), None);
        }
        self.mark_recursive();
    }

    fn walk(&self, def: DefId, found: &mut Vec<(Site, String)>) -> Effect {
        let definition = &self.definitions[def.0 as usize];
        let Body::Expr(body) = definition.body else { return self.context.effects[def.0 as usize].clone() };
        let mut slots = vec![CONSTANT; definition.slots];
        for (index, slot) in slots.iter_mut().enumerate().take(definition.params.len().min(FOLLOWED)) {
            slot.params = 1 << index;
        }
        let most = vec![ExprLevel::Temporal; definition.params.len()];
        let mut walk = Walk { exprs: &self.exprs, effects: &self.context.effects, resolver: self, slots, most, found };
        let depth = walk.depth(body);
        Effect { level: depth.level, native_level: depth.native_level, raises: depth.params, most: walk.most }
    }

    /// Marks every recursive definition. A cycle always passes through a `RECURSIVE` declaration.
    fn mark_recursive(&mut self) {
        if self.recursive.is_empty() {
            return;
        }
        let count = self.definitions.len();
        let mut calls = vec![Vec::new(); count];
        let mut callers = vec![Vec::new(); count];
        for &def in &self.finished {
            let mut called = Vec::new();
            if let Body::Expr(body) = self.definitions[def.0 as usize].body {
                called_by(&self.exprs, body, &mut called);
            }
            called.iter().for_each(|callee: &DefId| callers[callee.0 as usize].push(def));
            calls[def.0 as usize] = called;
        }
        for &def in &self.recursive {
            let down = reach(&calls, def);
            let up = reach(&callers, def);
            for (index, definition) in self.definitions.iter_mut().enumerate() {
                definition.is_recursive |= down[index] && up[index];
            }
        }
    }
}

/// The definitions that can be reached from one in at least one step.
fn reach(steps: &[Vec<DefId>], from: DefId) -> Vec<bool> {
    let mut reached = vec![false; steps.len()];
    let mut open = vec![from];
    while let Some(def) = open.pop() {
        for next in &steps[def.0 as usize] {
            if !std::mem::replace(&mut reached[next.0 as usize], true) {
                open.push(*next);
            }
        }
    }
    reached
}

fn called_by(exprs: &Exprs, expr: ExprId, called: &mut Vec<DefId>) {
    let node = exprs.node(expr);
    if let Node::Call { def, .. } = node {
        called.push(*def);
    }
    if let Node::Call { args, .. } | Node::CallArgument { args, .. } = node {
        called.extend(args.iter().filter_map(|arg| match arg {
            Arg::Operator(def, _) => Some(*def),
            Arg::Expr(_) | Arg::Slot(_) => None,
        }));
    }
    node.for_each_child(&mut |child| with_stack(|| called_by(exprs, child, called)));
}

fn words(level: ExprLevel) -> &'static str {
    match level {
        ExprLevel::Constant => "constants",
        ExprLevel::State => "a state",
        ExprLevel::Action => "two states",
        ExprLevel::Temporal => "a behavior",
    }
}

/// The walk through one definition.
struct Walk<'a> {
    exprs: &'a Exprs,
    effects: &'a [Effect],
    resolver: &'a Resolver,
    /// The level of each slot's content.
    slots: Vec<Depth>,
    /// The maximum level of each argument.
    most: Vec<ExprLevel>,
    found: &'a mut Vec<(Site, String)>,
}

impl Walk<'_> {
    fn slot(&self, slot: SlotId) -> Depth {
        self.slots[slot.0 as usize]
    }

    fn report(&mut self, expr: ExprId, message: impl Into<String>) {
        self.found.push((self.exprs.site(expr), message.into()));
    }

    /// Reports an expression whose level exceeds the limit.
    fn limit(&mut self, depth: Depth, most: ExprLevel, expr: ExprId, message: &str) {
        if depth.level > most {
            self.report(expr, message);
        }
        for (index, limit) in self.most.iter_mut().enumerate().take(FOLLOWED) {
            if depth.params & (1 << index) != 0 {
                *limit = (*limit).min(most);
            }
        }
    }

    /// The level of a part that must have a value in a step.
    fn value(&mut self, expr: ExprId) -> Depth {
        let depth = self.depth(expr);
        self.limit(depth, ExprLevel::Action, expr, "a temporal formula has no value here");
        depth
    }

    /// The level of parts of a formula; reports actions combined with temporal formulas.
    fn formula(&mut self, parts: &[ExprId]) -> Depth {
        let depths: Vec<Depth> = parts.iter().map(|part| self.depth(*part)).collect();
        let joined = depths.iter().fold(CONSTANT, |all, depth| all.join(*depth));
        if joined.level == ExprLevel::Temporal {
            for (part, depth) in parts.iter().zip(&depths) {
                if depth.level == ExprLevel::Action {
                    self.report(*part, "an action cannot be combined with a temporal formula, unless within `[A]_v`");
                }
            }
        }
        joined
    }

    fn bounds(&mut self, bounds: &[Bound]) -> Depth {
        bounds.iter().fold(CONSTANT, |all, bound| all.join(self.value(bound.set)))
    }

    fn quantified(&mut self, bounds: &[Bound], body: ExprId) -> Depth {
        let sets = self.bounds(bounds);
        let body = self.depth(body);
        if body.level == ExprLevel::Temporal && sets.level == ExprLevel::Action {
            self.report(bounds[0].set, "the set of a quantified temporal formula cannot depend on two states");
        }
        sets.join(body)
    }

    fn args(&mut self, args: &[Arg]) -> Vec<Depth> {
        let depth = |this: &mut Self, arg: &Arg| match arg {
            Arg::Expr(expr) => this.depth(*expr),
            Arg::Slot(slot) => this.slot(*slot),
            Arg::Operator(def, slots) => {
                let Effect { level, native_level, .. } = this.effects[def.0 as usize];
                slots.iter().fold(Depth { level, native_level, params: 0 }, |all, slot| all.join(this.slot(*slot)))
            }
        };
        args.iter().map(|arg| depth(self, arg)).collect()
    }

    fn call(&mut self, expr: ExprId, def: DefId, args: &[Arg]) -> Depth {
        let depths = self.args(args);
        let effects = self.effects;
        let effect = &effects[def.0 as usize];
        let mut result = Depth { level: effect.level, native_level: effect.native_level, params: 0 };
        for (index, depth) in depths.into_iter().enumerate() {
            let site = match &args[index] {
                Arg::Expr(arg) => *arg,
                Arg::Slot(_) | Arg::Operator(..) => expr,
            };
            let name = &self.resolver.definition(def).name;
            let message = match effect.most[index] {
                ExprLevel::Constant | ExprLevel::State => {
                    format!("`{name}` primes this argument, which depends on {} already", words(depth.level))
                }
                ExprLevel::Action | ExprLevel::Temporal => format!("`{name}` cannot take a temporal formula here"),
            };
            self.limit(depth, effect.most[index], site, &message);
            if index >= FOLLOWED || effect.raises & (1 << index) != 0 {
                result = result.join(depth);
            }
        }
        result
    }

    fn depth(&mut self, expr: ExprId) -> Depth {
        with_stack(|| self.depth_here(expr))
    }

    fn depth_here(&mut self, expr: ExprId) -> Depth {
        let exprs = self.exprs;
        match exprs.node(expr) {
            Node::Variable(_) => CONSTANT.at_least(ExprLevel::State),
            Node::Local(slot) | Node::Argument(slot) => self.slot(*slot),
            Node::Let { slot, value, body } => {
                self.slots[slot.0 as usize] = self.depth(*value);
                self.depth(*body)
            }
            Node::Call { def, args } => self.call(expr, *def, args),
            Node::CallArgument { slot, args } => {
                let depths = self.args(args);
                depths.into_iter().fold(self.slot(*slot), Depth::join)
            }
            Node::And(parts) | Node::Or(parts) => self.formula(parts),
            Node::Implies(a, b) | Node::Equivalent(a, b) => self.formula(&[*a, *b]),
            Node::Not(a) => self.depth(*a),
            Node::If(a, b, c) => self.formula(&[*a, *b, *c]),
            Node::Case { arms, other } => {
                let mut parts: Vec<ExprId> = arms.iter().flat_map(|(guard, value)| [*guard, *value]).collect();
                parts.extend(other);
                self.formula(&parts)
            }
            Node::Forall { bounds, body } | Node::Exists { bounds, body } => self.quantified(bounds, *body),
            Node::Prime(a) => {
                let depth = self.value(*a);
                self.limit(depth, ExprLevel::State, expr, "this primes what depends on two states already");
                if depth == CONSTANT { CONSTANT } else { depth.at_least(ExprLevel::Action) }
            }
            Node::Unchanged(a) => {
                let depth = self.value(*a);
                self.limit(depth, ExprLevel::State, expr, "`UNCHANGED` of what depends on two states already");
                depth.at_least(ExprLevel::Action)
            }
            Node::Enabled(a, _) => Depth { level: ExprLevel::State, params: 0, ..self.value(*a) },
            Node::Square(action, vars) | Node::Angle(action, vars) => {
                let depth = self.value(*action);
                let subscript = self.value(*vars);
                self.limit(subscript, ExprLevel::State, *vars, "the subscript depends on two states");
                depth.join(subscript).at_least(ExprLevel::Action)
            }
            Node::Always(a) => {
                let depth = self.depth(*a);
                if depth.level == ExprLevel::Action && !matches!(exprs.node(*a), Node::Square(..)) {
                    self.report(expr, "`[]` of an action must have the form `[][A]_v`");
                }
                depth.at_least(ExprLevel::Temporal)
            }
            Node::Unsupported { what, parts } => {
                let depth = parts.iter().fold(CONSTANT, |all, part| all.join(self.depth(*part)));
                let is_temporal = matches!(*what, "<>" | "~>" | "-+->" | "WF_v(A)" | "SF_v(A)" | "\\AA" | "\\EE");
                if is_temporal { depth.at_least(ExprLevel::Temporal) } else { depth }
            }
            Node::Function { bounds, body, .. } | Node::Map { bounds, body } => {
                self.bounds(bounds).join(self.value(*body))
            }
            Node::Choose { bound, body } | Node::Filter { bound, body } => {
                self.value(bound.set).join(self.value(*body))
            }
            node => node.children().into_iter().fold(CONSTANT, |all, part| all.join(self.value(part))),
        }
    }
}
