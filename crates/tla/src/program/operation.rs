//! The operators of the next-state relation, each with the paths that lead to it.
//!
//! A recorded operation is one action of the specification with its arguments given, so it must be run without trying
//! all of `Next`. A *way* is a path from the root of `Next` to a call of the operator: the disjuncts it enters, the
//! `LET`s and calls it passes through, and the `\E`s whose names it needs. Where a name bound by `\E` is passed
//! directly to a parameter of the operator, possibly through several calls, the bound is *linked* to the parameter: a
//! known argument is then looked up in the set, which need not be enumerated, nor be finite. Any other argument of
//! the call is *given*, and a known value must equal it.
//!
//! Ways are found in the linked program, where most calls have become [`Node::Inlined`]. The operator itself is also
//! a definition, with its own frame. An operation is *plain* if, once all its arguments are known, nothing on any way
//! depends on a state or has to be enumerated: whether the arguments are admitted then depends only on constants, is
//! checked once, and running the operation means running the body of the operator.

use super::Program;
use super::keeping::Keeping;
use super::path::{Link, Path, Place, Step, bounds_of};
use crate::ir::{Arg, Bound, DefId, ExprId, Node, SlotId};
use crate::source::Site;

/// An operator of the next-state relation, and the ways that lead to it.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The operator.
    pub def: DefId,
    /// Its name, with the instance it came through.
    pub name: String,
    /// Its parameters as written, and those of the instance it came through.
    pub params: Vec<Parameter>,
    /// The ways, in the order in which `Next` tries them; empty if the operator need not be part of `Next`.
    pub(crate) ways: Vec<Way>,
    /// Whether it is called directly, independently of `Next`.
    pub(crate) is_free: bool,
    /// Whether, with known arguments, only the body needs to run.
    pub(crate) is_plain: bool,
    /// The number of the operator's parameters before those in its text.
    pub(crate) captures: usize,
    /// The variables that its body leaves unchanged.
    pub(crate) keeping: Keeping,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The set that it ranges over in `Next`, as written; `None` if `Next` passes another argument.
    pub set: Option<(String, Site)>,
}

/// A path from the root of `Next` to a call of an operator.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) steps: Vec<Step>,
    /// The call.
    pub(crate) call: ExprId,
    /// The arguments of the call that are not linked to a bound.
    pub(crate) given: Vec<Given>,
}

/// An argument that is compared with the known one.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) param: usize,
    pub(crate) arg: GivenArg,
    pub(crate) is_constant: bool,
    pub(crate) is_closed: bool,
}

/// The source of an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GivenArg {
    Expr(ExprId),
    Slot(SlotId),
}

/// What `Next` evaluates on one way to an operation.
#[derive(Debug, Clone)]
pub struct Passage<'p> {
    /// The bounds of `\E`, from the outside in, with the parameter that each name is passed to.
    pub bounds: Vec<(&'p Bound, Box<[Option<usize>]>)>,
    /// The arguments that are not the name of a bound.
    pub args: Vec<ExprId>,
}

impl Operation {
    /// Whether its parameters are the first names of its frame.
    pub fn has_own_frame(&self) -> bool {
        self.captures == 0
    }

    /// What `Next` evaluates on each way to it, in one frame; `None` if a way passes through a `LET` or a frame of its
    /// own, where names have other meanings. With known arguments, nothing of this matters for a plain operation.
    pub fn passages<'p>(&self, program: &'p Program) -> Option<Vec<Passage<'p>>> {
        let is_shared = |step: &Step| match step {
            Step::Let(_) => false,
            Step::Into(call) => match program.module.exprs.node(*call) {
                Node::Call { args, .. } => args.is_empty(),
                _ => true,
            },
            Step::Disjunct(_) | Step::Exists(..) => true,
        };
        let passage = |way: &Way| {
            let bounds = way.bounds(program).map(|(bound, link)| (bound, link.params.clone())).collect();
            let args = way.given.iter().filter_map(|given| match given.arg {
                GivenArg::Expr(expr) => Some(expr),
                GivenArg::Slot(_) => None,
            });
            way.steps.iter().all(is_shared).then(|| Passage { bounds, args: args.collect() })
        };
        self.ways.iter().map(passage).collect()
    }
}

impl Program {
    /// The operator of this name that `Next` reaches through `\/`, `\E`, `LET` and calls, or else the only one that
    /// has this name through an instance.
    pub fn operation(&self, name: &str) -> Option<Operation> {
        let reached = self.reached();
        let mut found = reached.iter().filter(|def| self.definition(**def).name == name);
        let def = match found.next() {
            Some(def) => *def,
            None => {
                let own_name = |def: &DefId| self.definition(*def).name.rsplit('!').next() == Some(name);
                let mut found = reached.iter().filter(|def| own_name(def));
                let def = *found.next()?;
                if found.next().is_some() {
                    return None;
                }
                def
            }
        };
        let mut ways = Vec::new();
        self.walk(self.next?, None, &mut |path, place| {
            if let Place::Call(callee, call) = place
                && callee == def
            {
                ways.push(self.way(path, def, call));
            }
        });
        let mut operation = self.operation_of(def)?;
        for (index, parameter) in operation.params.iter_mut().enumerate() {
            parameter.set = ways.iter().find_map(|way| self.set_of(way, index));
        }
        let has_plain_args = self.definition(def).params.iter().all(|param| param.arity == 0);
        operation.is_plain = has_plain_args && operation.captures == 0 && ways.iter().all(Way::is_plain);
        operation.ways = ways;
        Some(operation)
    }

    /// The names of all operators that `Next` reaches, in order.
    pub fn operation_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for def in self.reached() {
            let name = &self.definition(def).name;
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// An operator of the module that need not be part of `Next`: called directly, with arbitrary arguments.
    pub fn free_operation(&self, name: &str) -> Option<Operation> {
        let def = *self.module.names.get(name)?;
        let operation = self.operation_of(def)?;
        let has_plain_args = self.definition(def).params.iter().all(|param| param.arity == 0);
        has_plain_args.then_some(Operation { is_free: true, is_plain: true, ..operation })
    }

    fn operation_of(&self, def: DefId) -> Option<Operation> {
        let (definition, body) = (self.definition(def), self.body(def)?);
        let params = definition.params.iter().skip(definition.captures);
        Some(Operation {
            def,
            name: definition.name.clone(),
            params: params.map(|param| Parameter { name: param.name.clone(), set: None }).collect(),
            ways: Vec::new(),
            is_free: false,
            is_plain: false,
            captures: definition.captures,
            keeping: Keeping::of(self, body, definition.params.len()),
        })
    }

    /// The definitions that `Next` reaches, in the order of the text.
    fn reached(&self) -> Vec<DefId> {
        let mut reached = Vec::new();
        if let Some(next) = self.next {
            self.walk(next, None, &mut |_, place| match place {
                Place::Call(def, _) if !reached.contains(&def) => reached.push(def),
                _ => {}
            });
        }
        reached
    }

    /// The way that ends at a call of an operator.
    fn way(&self, path: &Path<'_>, def: DefId, call: ExprId) -> Way {
        let mut way = Way { steps: path.steps.clone(), call, given: Vec::new() };
        for (param, arg) in self.given_args(call).into_iter().skip(self.definition(def).captures).enumerate() {
            let Some(arg) = arg else { continue };
            let seen = match arg {
                GivenArg::Slot(slot) => path.lookup(slot),
                GivenArg::Expr(expr) => path.standing_for(SlotId(0), expr),
            };
            let link = seen.origin.and_then(|(step, bound, name)| match &mut way.steps[step] {
                Step::Exists(_, links) => Some(&mut links[bound].params[name]),
                _ => None,
            });
            match link {
                Some(link) if link.is_none() => *link = Some(param),
                _ => way.given.push(Given { param, arg, is_constant: seen.is_constant, is_closed: seen.is_closed }),
            }
        }
        way
    }

    /// The arguments of a call; `None` for each that is an operator.
    fn given_args(&self, call: ExprId) -> Vec<Option<GivenArg>> {
        let exprs = &self.module.exprs;
        let of_expr = |expr: ExprId| match exprs.node(expr) {
            Node::Argument(slot) | Node::Local(slot) => GivenArg::Slot(*slot),
            _ => GivenArg::Expr(expr),
        };
        match exprs.node(call) {
            Node::Call { args, .. } => {
                let given = |arg: &Arg| match arg {
                    Arg::Expr(expr) => Some(of_expr(*expr)),
                    Arg::Slot(slot) => Some(GivenArg::Slot(*slot)),
                    Arg::Operator(..) => None,
                };
                args.iter().map(given).collect()
            }
            Node::Inlined { args, body, .. } => {
                // An argument that is not just a name was bound to one, which is visible only inside.
                let (mut named, mut inside) = (Vec::new(), *body);
                while let Node::Let { slot, value, body } = exprs.node(inside) {
                    named.push((*slot, *value));
                    inside = *body;
                }
                let given = |arg: ExprId| match of_expr(arg) {
                    GivenArg::Slot(slot) => match named.iter().find(|(name, _)| *name == slot) {
                        Some((_, value)) => GivenArg::Expr(*value),
                        None => GivenArg::Slot(slot),
                    },
                    given => given,
                };
                args.iter().map(|arg| arg.map(given)).collect()
            }
            _ => unreachable!("a way ends at a call"),
        }
    }

    /// The set over which a way quantifies a parameter.
    fn set_of(&self, way: &Way, param: usize) -> Option<(String, Site)> {
        let bound = way.bounds(self).find(|(_, link)| link.params.contains(&Some(param)))?.0;
        Some((self.words(bound.set), self.module.exprs.site(bound.set)))
    }
}

impl Operation {
    /// Whether it is called directly, independently of `Next`.
    pub fn is_free(&self) -> bool {
        self.is_free
    }
}

impl Way {
    /// Every bound on the way, from the outside in.
    pub(crate) fn bounds<'p>(&self, program: &'p Program) -> impl Iterator<Item = (&'p Bound, &Link)> {
        self.steps.iter().flat_map(|step| match step {
            Step::Exists(expr, links) => bounds_of(program, *expr).iter().zip(&**links).collect(),
            _ => Vec::new(),
        })
    }

    fn is_plain(&self) -> bool {
        // A name that nothing uses may have any value, as long as there is one.
        let is_idle = self.links().all(|link| link.is_closed) && self.given.iter().all(|given| given.is_closed);
        let is_plain = |link: &Link| {
            let (mut params, is_handed_on) = (link.params.iter(), link.params.iter().all(Option::is_some));
            link.is_constant && (is_handed_on || (is_idle && params.all(Option::is_none)))
        };
        let are_plain = self.steps.iter().all(|step| match step {
            Step::Exists(_, links) => links.iter().all(is_plain),
            _ => true,
        });
        are_plain && self.given.iter().all(|given| given.is_constant)
    }

    fn links(&self) -> impl Iterator<Item = &Link> {
        let links = self.steps.iter().map(|step| match step {
            Step::Exists(_, links) => &**links,
            _ => &[],
        });
        links.flatten()
    }
}
