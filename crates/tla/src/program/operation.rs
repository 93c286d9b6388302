//! The operators that the next-state relation is made of, each with the ways that lead to it.
//!
//! A recorded operation is one action of the specification with its arguments given, so it must be run without trying
//! all of `Next`. A *way* is a path from the root of `Next` to a call of the operator: the disjuncts it goes into, the
//! `LET`s and calls it goes through, and the `\E`s whose names it needs. Where a name that `\E` binds is handed straight to
//! a parameter of the operator, possibly through several calls, the bound is *linked* to the parameter: a known argument is
//! then looked up in the set, which need not be enumerated, nor be finite. Any other argument of the call is *given*, and a
//! known value must equal it.
//!
//! Ways are found in the linked program, where most calls have become [`Node::Inlined`]. The operator itself also stands
//! among the definitions, with a frame of its own. An operation is *plain* if, once all its arguments are known, nothing on
//! any way depends on a state or has to be enumerated: whether the arguments are admitted is then a question about
//! constants, asked once, and to run the operation is to run the body of the operator.

use super::Program;
use super::keeping::Keeping;
use super::walk::level;
use crate::ir::{Arg, Bound, DefId, ExprId, Level, Node, SlotId};
use crate::source::Site;

/// An operator that the next-state relation is made of, and the ways that lead to it.
#[derive(Debug, Clone)]
pub struct Operation {
    /// The operator.
    pub def: DefId,
    /// Its name, with the instance that it came through.
    pub name: String,
    /// The parameters that its author wrote, and those of the instance that it came through.
    pub params: Vec<Parameter>,
    /// In the order in which `Next` tries them; none if the operator need not be a part of `Next`.
    pub(crate) ways: Vec<Way>,
    /// Whether it is called as it is, whatever `Next` says.
    pub(crate) is_free: bool,
    /// Whether known arguments leave nothing to do but to run the body.
    pub(crate) is_plain: bool,
    /// How many parameters of the operator come before those that its author wrote.
    pub(crate) captures: usize,
    /// What its body leaves unchanged.
    pub(crate) keeping: Keeping,
}

/// A parameter of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The set that `\E` takes it from in `Next`, as written; none if `Next` gives it another argument.
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

/// One step of a way.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Into this disjunct.
    Disjunct(ExprId),
    /// Past the definition of a `LET`.
    Let(ExprId),
    /// Past the bounds of an `\E`.
    Exists(ExprId, Box<[Link]>),
    /// Into the body of a definition.
    Into(ExprId),
}

/// What is known about a bound of an `\E`.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    /// For each name that it binds, the parameter that the name is handed to.
    pub(crate) params: Box<[Option<usize>]>,
    /// Whether its set depends on constants and names bound before alone.
    pub(crate) is_constant: bool,
    /// Whether its set depends on no name that another `\E` binds.
    pub(crate) is_closed: bool,
}

/// An argument that is compared with what is known.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    pub(crate) param: usize,
    pub(crate) arg: GivenArg,
    pub(crate) is_constant: bool,
    pub(crate) is_closed: bool,
}

/// Where an argument is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum GivenArg {
    Expr(ExprId),
    Slot(SlotId),
}

impl Program {
    /// The operator of this name among those that `Next` reaches through `\/`, `\E`, `LET` and calls, or else the only one
    /// that an instance gives this name.
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
        let mut search = Search::new(self, Some(def));
        search.expr(self.next?);
        let ways = search.ways;
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

    /// An operator of the module that need not be part of `Next`: called as it is, with arguments from anywhere.
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
        let mut search = Search::new(self, None);
        if let Some(next) = self.next {
            search.expr(next);
        }
        search.reached
    }

    /// The set that a way takes a parameter from.
    fn set_of(&self, way: &Way, param: usize) -> Option<(String, Site)> {
        let bound = way.bounds(self).find(|(_, link)| link.params.contains(&Some(param)))?.0;
        Some((self.words(bound.set), self.module.exprs.site(bound.set)))
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
        // A name that nothing needs may have any value, as long as there is one.
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

/// The bounds of an `\E`.
pub(crate) fn bounds_of(program: &Program, expr: ExprId) -> &[Bound] {
    match program.module.exprs.node(expr) {
        Node::Exists { bounds, .. } => bounds,
        _ => unreachable!("only `\\E` is a step past bounds"),
    }
}

/// A bound on the way under construction: the step, the bound, and which of the names it binds.
type Origin = (usize, usize, usize);

/// A name that can be seen at the end of the way under construction.
#[derive(Clone)]
struct Seen {
    slot: SlotId,
    /// The bound that its value comes from.
    origin: Option<Origin>,
    is_constant: bool,
    is_closed: bool,
}

/// Walks through `Next` to the calls of one operator, or through all of it.
struct Search<'p> {
    program: &'p Program,
    target: Option<DefId>,
    steps: Vec<Step>,
    /// Of the current frame.
    seen: Vec<Seen>,
    calls: Vec<DefId>,
    ways: Vec<Way>,
    reached: Vec<DefId>,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, target: Option<DefId>) -> Search<'p> {
        let (steps, seen, calls) = (Vec::new(), Vec::new(), Vec::new());
        Search { program, target, steps, seen, calls, ways: Vec::new(), reached: Vec::new() }
    }

    fn expr(&mut self, expr: ExprId) {
        let program = self.program;
        match program.module.exprs.node(expr) {
            Node::Or(parts) => parts.iter().for_each(|&part| self.step(Step::Disjunct(part), part)),
            Node::Let { slot, value, body } => {
                let before = self.seen.len();
                let seen = self.named(*slot, *value);
                self.seen.push(seen);
                self.step(Step::Let(expr), *body);
                self.seen.truncate(before);
            }
            Node::Exists { bounds, body } => {
                let (before, step) = (self.seen.len(), self.steps.len());
                let links: Vec<Link> = bounds.iter().map(|bound| self.link(bound)).collect();
                for (index, bound) in bounds.iter().enumerate() {
                    let slots = bound.pattern.slots().iter().enumerate();
                    self.seen.extend(slots.map(|(name, &slot)| Seen {
                        slot,
                        origin: Some((step, index, name)),
                        is_constant: true,
                        is_closed: false,
                    }));
                }
                self.step(Step::Exists(expr, links.into()), *body);
                self.seen.truncate(before);
            }
            Node::Inlined { def, args, body } => {
                if self.is_end(*def) {
                    self.end_inlined(expr, args, *body);
                } else if self.enters(*def) {
                    self.step(Step::Into(expr), *body);
                    self.calls.pop();
                }
            }
            Node::Call { def, args } => {
                if self.is_end(*def) {
                    self.end(expr, args.iter().map(|arg| self.arg(arg)).collect());
                } else if self.enters(*def)
                    && let Some(body) = program.body(*def)
                {
                    let inner = args.iter().enumerate().map(|(index, arg)| {
                        let slot = SlotId(index as u32);
                        match self.arg(arg) {
                            Some(GivenArg::Expr(value)) => self.named(slot, value),
                            Some(GivenArg::Slot(given)) => Seen { slot, ..self.lookup(given) },
                            None => Seen { slot, origin: None, is_constant: false, is_closed: false },
                        }
                    });
                    let inner = inner.collect();
                    let outer = std::mem::replace(&mut self.seen, inner);
                    self.step(Step::Into(expr), body);
                    self.seen = outer;
                    self.calls.pop();
                }
            }
            _ => {}
        }
    }

    fn step(&mut self, step: Step, next: ExprId) {
        self.steps.push(step);
        self.expr(next);
        self.steps.pop();
    }

    /// Whether a call is what is looked for.
    fn is_end(&mut self, def: DefId) -> bool {
        let is_new = self.program.definition(def).level == Level::Action && !self.reached.contains(&def);
        if is_new {
            self.reached.push(def);
        }
        self.target == Some(def)
    }

    /// Whether to look inside a definition: it is about steps and not being looked into already.
    fn enters(&mut self, def: DefId) -> bool {
        let definition = self.program.definition(def);
        let enters = definition.level == Level::Action && !self.calls.contains(&def);
        if enters {
            self.calls.push(def);
        }
        enters
    }

    fn end_inlined(&mut self, expr: ExprId, args: &[Option<ExprId>], body: ExprId) {
        // An argument that is more than a name was given one, which can be seen inside only.
        let exprs = &self.program.module.exprs;
        let (mut named, mut inside) = (Vec::new(), body);
        while let Node::Let { slot, value, body } = exprs.node(inside) {
            named.push((*slot, *value));
            inside = *body;
        }
        let given = |arg: &Option<ExprId>| {
            arg.map(|arg| match exprs.node(arg) {
                Node::Argument(slot) | Node::Local(slot) => match named.iter().find(|(name, _)| name == slot) {
                    Some((_, value)) => GivenArg::Expr(*value),
                    None => GivenArg::Slot(*slot),
                },
                _ => GivenArg::Expr(arg),
            })
        };
        let args = args.iter().map(given).collect();
        self.end(expr, args);
    }

    /// Adds a way that ends at a call with these arguments.
    fn end(&mut self, call: ExprId, args: Vec<Option<GivenArg>>) {
        let captures = match self.target {
            Some(target) => self.program.definition(target).captures,
            None => return,
        };
        let mut way = Way { steps: self.steps.clone(), call, given: Vec::new() };
        for (param, arg) in args.into_iter().skip(captures).enumerate() {
            let Some(arg) = arg else { continue };
            let seen = match arg {
                GivenArg::Slot(slot) => self.lookup(slot),
                GivenArg::Expr(expr) => self.named(SlotId(0), expr),
            };
            let link = seen.origin.and_then(|(step, bound, name)| match &mut way.steps[step] {
                Step::Exists(_, links) => Some(&mut links[bound].params[name]),
                _ => None,
            });
            match link {
                Some(link) if link.is_none() => *link = Some(param),
                _ => {
                    let Seen { is_constant, is_closed, .. } = seen;
                    way.given.push(Given { param, arg, is_constant, is_closed });
                }
            }
        }
        self.ways.push(way);
    }

    fn arg(&self, arg: &Arg) -> Option<GivenArg> {
        match arg {
            Arg::Expr(expr) => Some(match self.program.module.exprs.node(*expr) {
                Node::Argument(slot) | Node::Local(slot) => GivenArg::Slot(*slot),
                _ => GivenArg::Expr(*expr),
            }),
            Arg::Slot(slot) => Some(GivenArg::Slot(*slot)),
            Arg::Operator(..) => None,
        }
    }

    fn link(&self, bound: &Bound) -> Link {
        let Seen { is_constant, is_closed, .. } = self.named(SlotId(0), bound.set);
        Link { params: vec![None; bound.pattern.slots().len()].into(), is_constant, is_closed }
    }

    /// What is known about a name that stands for an expression.
    fn named(&self, slot: SlotId, value: ExprId) -> Seen {
        let module = &self.program.module;
        if let Node::Local(other) | Node::Argument(other) = module.exprs.node(value) {
            return Seen { slot, ..self.lookup(*other) };
        }
        let read: Vec<Seen> = module.exprs.free_slots(value).into_iter().map(|slot| self.lookup(slot)).collect();
        let level = level(&module.exprs, &module.definitions, value, Level::Temporal);
        Seen {
            slot,
            origin: None,
            is_constant: level == Level::Constant && read.iter().all(|seen| seen.is_constant),
            is_closed: read.iter().all(|seen| seen.is_closed),
        }
    }

    fn lookup(&self, slot: SlotId) -> Seen {
        let known = self.seen.iter().rev().find(|seen| seen.slot == slot);
        known.cloned().unwrap_or(Seen { slot, origin: None, is_constant: false, is_closed: false })
    }
}
