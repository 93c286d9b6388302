//! The properties of a configuration, split into formulas that a search can check.
//!
//! A property is a conjunction such as `Init /\ [][Next]_vars /\ []Inv`, with definitions, `LET`, instances and
//! quantifiers over constants around its parts. As in TLC, a conjunct about one state must hold in the initial states,
//! `[][A]_v` of every step, and `[]P` is an invariant. `[](p => []q)` is a promise: once `p` was true, `q` stays true.
//! Any other temporal conjunct would need infinite behaviors, and is refused.

use super::{LinkError, LinkOptions, Linker, Place, Warning};
use crate::ir::{Body, ExprId, ExprLevel, Node};

/// A formula that every behavior must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// A predicate of the initial state.
    Initial(ExprId),
    /// `[A]_v`, of every step.
    Step(ExprId),
    /// `[](p => []q)`, or `p => []q`.
    Promise {
        /// `p`
        given: ExprId,
        /// `q`
        kept: ExprId,
        /// Whether `p` counts in every state, and not only in the initial one.
        is_always: bool,
    },
}

impl Property {
    /// Whether it is of the form `[](p => []q)`.
    pub fn is_promise(&self) -> bool {
        matches!(self, Property::Promise { .. })
    }
}

/// The role of a part of a property.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Initial,
    Step,
    Invariant,
    /// `p`, of which the next part is `q`; `true` if it counts in every state.
    Given(bool),
    Kept,
    /// Not checked.
    Liveness,
}

impl Linker<'_> {
    /// The parts of all properties; those that are invariants go to the invariants.
    pub(super) fn properties(
        &mut self,
        options: LinkOptions,
        invariants: &mut Vec<(String, ExprId)>,
    ) -> Vec<(String, Property)> {
        let mut properties = Vec::new();
        for name in &self.config.properties {
            let place = Place::Config(name.span);
            let Some(entry) = self.entry("property", name, ExprLevel::Temporal) else { continue };
            if options.skip_properties {
                self.warnings.push(Warning { message: format!("property `{}` was not checked", name.text), place });
                continue;
            }
            let mut given = None;
            for (role, part) in self.property_parts(entry) {
                let own = || name.text.clone();
                match role {
                    Role::Initial => properties.push((own(), Property::Initial(self.detached(part)))),
                    Role::Step => properties.push((own(), Property::Step(self.detached(part)))),
                    Role::Invariant => invariants.push((own(), self.detached(part))),
                    Role::Given(is_always) => given = Some((self.detached(part), is_always)),
                    Role::Kept => {
                        if let Some((given, is_always)) = given.take() {
                            let kept = self.detached(part);
                            properties.push((own(), Property::Promise { given, kept, is_always }));
                        }
                    }
                    Role::Liveness => self.liveness(&name.text, part, place, options),
                }
            }
        }
        properties
    }

    /// Reports a conjunct that is not checked.
    fn liveness(&mut self, property: &str, part: ExprId, place: Place, options: LinkOptions) {
        let site = self.module.exprs.site(part);
        let words: Vec<&str> = self.module.sources.words(site).split_whitespace().collect();
        let words = words.join(" ");
        if options.skip_liveness {
            let message = format!("`{words}` of property `{property}` was not checked");
            self.warnings.push(Warning { message, place });
            return;
        }
        let message = format!("liveness is not checked, and property `{property}` has the conjunct `{words}`");
        let help = "pass `--skip-liveness` to check the rest of the property, or `--skip-properties` to check none";
        self.errors.push(LinkError::new(place, message).related(site, "this conjunct").help(help));
    }

    /// The parts of a property, each an expression in the same frame as the property.
    fn property_parts(&mut self, expr: ExprId) -> Vec<(Role, ExprId)> {
        let (node, site) = (self.module.exprs.node(expr).clone(), self.module.exprs.site(expr));
        match node {
            Node::And(conjuncts) => conjuncts.iter().flat_map(|conjunct| self.property_parts(*conjunct)).collect(),
            _ if self.level(expr) <= ExprLevel::State => vec![(Role::Initial, expr)],
            Node::Let { slot, value, body } => {
                let mut parts = self.property_parts(body);
                for (_, part) in parts.iter_mut().filter(|(role, _)| *role != Role::Liveness) {
                    if !self.needs_no_frame(*part) {
                        *part = self.module.exprs.push(Node::Let { slot, value, body: *part }, site);
                    }
                }
                parts
            }
            Node::Forall { bounds, body }
                if bounds.iter().all(|bound| self.level(bound.set) == ExprLevel::Constant) =>
            {
                let mut parts = self.property_parts(body);
                // A quantifier over promises is not one promise.
                let is_split = |role: Role| matches!(role, Role::Initial | Role::Step | Role::Invariant);
                if !parts.iter().all(|(role, _)| is_split(*role)) {
                    return vec![(Role::Liveness, expr)];
                }
                for (_, part) in &mut parts {
                    *part = self.module.exprs.push(Node::Forall { bounds: bounds.clone(), body: *part }, site);
                }
                parts
            }
            Node::Call { def, args } if !self.definition(def).is_recursive => {
                let Body::Expr(body) = self.definition(def).body else { return vec![(Role::Liveness, expr)] };
                let mut parts = self.property_parts(body);
                for (_, part) in parts.iter_mut().filter(|(role, _)| *role != Role::Liveness) {
                    if !self.needs_no_frame(*part) {
                        let def = self.definition_like(def, *part);
                        *part = self.module.exprs.push(Node::Call { def, args: args.clone() }, site);
                    }
                }
                parts
            }
            Node::Always(inside) => match self.module.exprs.node(inside).clone() {
                Node::Square(..) => vec![(Role::Step, inside)],
                _ if self.level(inside) <= ExprLevel::State => vec![(Role::Invariant, inside)],
                Node::Implies(given, kept) => self.promise(expr, given, kept, true),
                _ => vec![(Role::Liveness, expr)],
            },
            Node::Implies(given, kept) => self.promise(expr, given, kept, false),
            _ => vec![(Role::Liveness, expr)],
        }
    }

    /// `p => []q`, if both are about one state.
    fn promise(&mut self, whole: ExprId, given: ExprId, kept: ExprId, is_always: bool) -> Vec<(Role, ExprId)> {
        match *self.module.exprs.node(kept) {
            Node::Always(kept) if self.level(given) <= ExprLevel::State && self.level(kept) <= ExprLevel::State => {
                vec![(Role::Given(is_always), given), (Role::Kept, kept)]
            }
            _ => vec![(Role::Liveness, whole)],
        }
    }
}
