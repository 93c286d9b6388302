//! Parts of a linked program as text for another module.
//!
//! A module that extends the root module sees its definitions but not the names bound inside them. So an expression
//! can be copied as written if every name in it is a definition, or is bound by an `\E` of the same definition, which
//! is then written too. Anything else is [`Unwritten`]: no text is better than text with a different meaning.

use super::Program;
use super::operation::{Given, GivenArg, Operation, Way};
use super::path::{Step, bounds_of};
use crate::ir::{DefId, ExprId, Node, Pattern, SlotId};
use crate::source::Site;

/// A path from `Next` to an operation, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenWay {
    /// The bounds of `\E`, from the outside in.
    pub bounds: Vec<WrittenBound>,
    /// Parameters for which `Next` passes an expression: their indices and the expressions.
    pub given: Vec<(usize, String)>,
}

/// One bound of an `\E`, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenBound {
    /// Each name, and the parameter that it is passed to.
    pub names: Vec<(String, Option<usize>)>,
    /// Whether the names are the components of a tuple.
    pub is_tuple: bool,
    /// The set.
    pub set: String,
}

/// An expression that cannot be written outside its own module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unwritten {
    /// The reason.
    pub message: String,
    /// Its location.
    pub site: Site,
}

impl Operation {
    /// Whether, with known arguments, only the operator needs to be called.
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }
}

impl Program {
    /// The name by which a module that extends the root module calls a definition.
    pub fn written_name(&self, def: DefId) -> Result<&str, Unwritten> {
        let definition = self.definition(def);
        match self.module.names.get(&definition.name) {
            Some(known) if *known == def => Ok(&definition.name),
            _ => {
                let message = format!("`{}` cannot be called from outside its module", definition.name);
                Err(Unwritten { message, site: definition.site })
            }
        }
    }

    /// The ways that lead to an operation.
    pub fn written_ways(&self, operation: &Operation) -> Result<Vec<WrittenWay>, Unwritten> {
        operation.ways.iter().map(|way| self.written_way(way)).collect()
    }

    /// The initial predicate.
    pub fn written_init(&self) -> Result<Option<String>, Unwritten> {
        self.init.map(|init| self.written_predicate(init)).transpose()
    }

    fn written_predicate(&self, expr: ExprId) -> Result<String, Unwritten> {
        match self.module.exprs.node(expr) {
            Node::Call { def, args } if args.is_empty() => self.written_name(*def).map(str::to_owned),
            Node::Inlined { def, args, .. } if args.is_empty() => self.written_name(*def).map(str::to_owned),
            Node::And(parts) => {
                let parts: Result<Vec<String>, Unwritten> =
                    parts.iter().map(|&part| self.written_predicate(part)).collect();
                Ok(parts?.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" /\\ "))
            }
            _ => self.written(expr, &Scope::default()),
        }
    }

    fn written_way(&self, way: &Way) -> Result<WrittenWay, Unwritten> {
        let mut scope = Scope::default();
        let mut bounds = Vec::new();
        for step in &way.steps {
            match step {
                Step::Exists(expr, links) => {
                    for (bound, link) in bounds_of(self, *expr).iter().zip(&**links) {
                        let set = self.written(bound.set, &scope)?;
                        scope.names.extend(bound.pattern.slots().iter().copied().zip(bound.names.iter().cloned()));
                        let names = bound.names.iter().cloned().zip(link.params.iter().copied()).collect();
                        bounds.push(WrittenBound { names, is_tuple: matches!(bound.pattern, Pattern::Tuple(_)), set });
                    }
                }
                // Inside another definition its own names are written; the outer names have another meaning there.
                Step::Into(expr) => {
                    scope.names.clear();
                    if let Node::Inlined { def, .. } | Node::Call { def, .. } = self.module.exprs.node(*expr) {
                        scope.is_instance |= self.definition(*def).name.contains('!');
                    }
                }
                Step::Disjunct(_) | Step::Let(_) => {}
            }
        }
        let given = way.given.iter().map(|given| Ok((given.param, self.written_given(way, given, &scope)?)));
        Ok(WrittenWay { bounds, given: given.collect::<Result<_, _>>()? })
    }

    fn written_given(&self, way: &Way, given: &Given, scope: &Scope) -> Result<String, Unwritten> {
        match given.arg {
            GivenArg::Expr(expr) => self.written(expr, scope),
            GivenArg::Slot(slot) => scope.name(slot).map(str::to_owned).ok_or_else(|| {
                let message = "an argument of this call is bound outside its definition".to_owned();
                Unwritten { message, site: self.module.exprs.site(way.call) }
            }),
        }
    }

    /// Several lines that keep their alignment, because bullets line up.
    fn written_lines(&self, site: Site, text: &str) -> String {
        let column = self.module.sources.start(site).column;
        let line = format!("\n{INDENT}");
        format!("{line}{}{}{line}", " ".repeat(column.saturating_sub(1)), text.replace('\n', &line))
    }

    /// The text of an expression, if it means the same in another module under the names of this scope.
    fn written(&self, expr: ExprId, scope: &Scope) -> Result<String, Unwritten> {
        let site = self.module.exprs.site(expr);
        let text = self.module.sources.words(site);
        let is_known = |slot: &SlotId| scope.name(*slot).is_some();
        let why = if scope.is_instance {
            "it is in an instance of a module"
        } else if !self.module.exprs.free_slots(expr).iter().all(is_known) {
            "it depends on a name that is bound outside its definition"
        } else {
            return Ok(if text.contains('\n') { self.written_lines(site, text) } else { text.to_owned() });
        };
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Err(Unwritten { message: format!("`{words}` cannot be written in another module: {why}"), site })
    }
}

/// The indentation of copied lines, to the right of the bullets around them.
const INDENT: &str = "        ";

/// The names that the text may use besides definitions.
#[derive(Default)]
struct Scope {
    names: Vec<(SlotId, String)>,
    is_instance: bool,
}

impl Scope {
    fn name(&self, slot: SlotId) -> Option<&str> {
        self.names.iter().rev().find(|(known, _)| *known == slot).map(|(_, name)| name.as_str())
    }
}
