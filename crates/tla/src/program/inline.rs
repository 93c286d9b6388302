//! Inlines operators, so that running needs few frames.
//!
//! A call becomes a [`Node::Inlined`], which remembers the callee, around a copy of the body. A parameter becomes its
//! argument where that is a name, a variable or a value, and otherwise a `LET` around the body: both are evaluated
//! lazily, like the argument of a call. An operator passed as an argument is called directly. Names bound in the body
//! get new slots at the end of the caller's frame.
//!
//! Recursive calls are not inlined, nor are constants without parameters, which are computed once, nor the replacements of
//! variables that an `ENABLED` binds. Bodies are inlined
//! from the inside out, and a budget bounds the size of the program.

use std::collections::BTreeSet;

use crate::ir::{Arg, Body, DefId, ExprId, ExprLevel, Module, Node, Param, SlotId};

/// The maximum size of an inlined body.
const LARGEST_BODY: usize = 2_000;
/// The number of expressions in a program at which inlining stops.
const LARGEST_PROGRAM: usize = 200_000;

/// Inlines calls in every definition of a module.
pub(super) fn inline(module: &mut Module) {
    let bound = bound_by_enabled(module);
    let mut inliner = Inliner { progress: vec![Progress::New; module.definitions.len()], bound, module };
    for index in 0..inliner.progress.len() {
        inliner.definition(DefId(index as u32));
    }
}

/// The definitions that replace variables inside an `ENABLED`, where their next values are looked up by name.
fn bound_by_enabled(module: &Module) -> BTreeSet<DefId> {
    let nodes = (0..module.exprs.len()).map(|index| module.exprs.node(ExprId(index as u32)));
    let bound = nodes.filter_map(|node| match node {
        Node::Enabled(_, bound) => Some(bound.iter().copied()),
        _ => None,
    });
    bound.flatten().collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Begun,
    /// Done, with the size of the body.
    Done(usize),
}

/// The replacement of a parameter.
enum Substitute {
    /// A value or a variable.
    Node(Node),
    /// A slot of the caller.
    Slot(SlotId),
    /// An operator.
    Operator(DefId, Box<[SlotId]>),
}

struct Inliner<'m> {
    progress: Vec<Progress>,
    /// Definitions that an `ENABLED` binds.
    bound: BTreeSet<DefId>,
    module: &'m mut Module,
}

impl Inliner<'_> {
    /// Inlines the calls in a definition and returns the new size of its body; `None` while it is being processed.
    fn definition(&mut self, def: DefId) -> Option<usize> {
        let index = def.0 as usize;
        match self.progress[index] {
            Progress::Done(size) => return Some(size),
            Progress::Begun => return None,
            Progress::New => {}
        }
        self.progress[index] = Progress::Begun;
        let mut size = 0;
        let definition = &self.module.definitions[index];
        // Temporal formulas never run, but the behavior's entry points are in such definitions and have no frame.
        if let Body::Expr(body) = definition.body
            && definition.level != ExprLevel::Temporal
        {
            // An expression shared by two definitions, such as an instance's substitution, must not get slots of one
            // of them.
            let body = Copier { substitutes: Vec::new(), offset: 0, params: 0 }.copy(self.module, body);
            self.module.definitions[index].body = Body::Expr(body);
            self.expr(def, body);
            self.module.exprs.for_each_below(body, &mut |_| size += 1);
        }
        self.progress[index] = Progress::Done(size);
        Some(size)
    }

    /// Inlines the calls in an expression of a definition.
    fn expr(&mut self, owner: DefId, expr: ExprId) {
        let node = self.module.exprs.node(expr).clone();
        node.for_each_child(&mut |child| self.expr(owner, child));
        if let Node::Call { def, args } = node
            && let Some(inlined) = self.call(owner, expr, def, &args)
        {
            self.module.exprs.set(expr, inlined);
        }
    }

    fn call(&mut self, owner: DefId, expr: ExprId, def: DefId, args: &[Arg]) -> Option<Node> {
        let definition = &self.module.definitions[def.0 as usize];
        let Body::Expr(body) = definition.body else {
            return None;
        };
        let is_constant = definition.params.is_empty() && definition.level == ExprLevel::Constant;
        if definition.is_recursive || is_constant || self.bound.contains(&def) {
            return None;
        }
        let size = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.definition(def))?;
        if size > LARGEST_BODY || self.module.exprs.len() + size > LARGEST_PROGRAM {
            return None;
        }
        let definition = &self.module.definitions[def.0 as usize];
        let (params, slots) = (definition.params.clone(), definition.slots);
        let first = self.module.definitions[owner.0 as usize].slots as u32;
        let mut copier =
            Copier { substitutes: Vec::new(), offset: first as i64 - params.len() as i64, params: params.len() as u32 };
        // The slots of the callee's own names, then those of arguments that need one.
        let mut next = first + slots.saturating_sub(params.len()) as u32;
        let mut lets = Vec::new();
        for (index, (arg, param)) in args.iter().zip(&params).enumerate() {
            let is_handed_on = is_handed_on(self.module, body, SlotId(index as u32));
            copier.substitutes.push(self.substitute(arg, param, is_handed_on, &mut next, &mut lets));
        }
        self.module.definitions[owner.0 as usize].slots = next as usize;
        let substitutes = copier.substitutes.iter().zip(&params);
        let shown: Vec<_> = substitutes.map(|(substitute, param)| shown(substitute, param)).collect();
        let site = self.module.exprs.site(expr);
        let shown = shown.into_iter().map(|node| node.map(|node| self.module.exprs.push(node, site))).collect();
        let mut copy = copier.copy(self.module, body);
        for (slot, value) in lets.into_iter().rev() {
            copy = self.module.exprs.push(Node::Let { slot, value, body: copy }, site);
        }
        Some(Node::Inlined { def, args: shown, body: copy })
    }

    fn substitute(
        &self,
        arg: &Arg,
        param: &Param,
        is_handed_on: bool,
        next: &mut u32,
        lets: &mut Vec<(SlotId, ExprId)>,
    ) -> Substitute {
        debug_assert!(param.arity == 0 || !matches!(arg, Arg::Expr(_)), "an operator is not an expression");
        match arg {
            Arg::Slot(slot) => Substitute::Slot(*slot),
            Arg::Operator(def, captures) => Substitute::Operator(*def, captures.clone()),
            Arg::Expr(expr) => match self.module.exprs.node(*expr) {
                Node::Local(slot) | Node::Argument(slot) => Substitute::Slot(*slot),
                node @ (Node::Value(_) | Node::Variable(_)) if !is_handed_on => Substitute::Node(node.clone()),
                _ => {
                    let slot = SlotId(*next);
                    *next += 1;
                    lets.push((slot, *expr));
                    Substitute::Slot(slot)
                }
            },
        }
    }
}

/// The argument as an expression inside the call, for labels; `None` for an operator.
fn shown(substitute: &Substitute, param: &Param) -> Option<Node> {
    match substitute {
        Substitute::Node(node) => Some(node.clone()),
        Substitute::Slot(slot) => (param.arity == 0).then_some(Node::Argument(*slot)),
        Substitute::Operator(..) => None,
    }
}

/// Whether a parameter is passed on as a slot, so that it must be one.
fn is_handed_on(module: &Module, body: ExprId, param: SlotId) -> bool {
    let mut is_handed_on = false;
    module.exprs.for_each_below(body, &mut |node| {
        if let Node::Call { args, .. } | Node::CallArgument { args, .. } = node {
            is_handed_on |= args.iter().any(|arg| match arg {
                Arg::Expr(_) => false,
                Arg::Slot(slot) => *slot == param,
                Arg::Operator(_, captures) => captures.contains(&param),
            });
        }
    });
    is_handed_on
}

/// Copies a body into the caller's frame.
struct Copier {
    substitutes: Vec<Substitute>,
    /// The offset from a slot of the callee to one of the caller, for slots that are not parameters.
    offset: i64,
    params: u32,
}

impl Copier {
    fn slot(&self, slot: SlotId) -> SlotId {
        if slot.0 < self.params {
            return match &self.substitutes[slot.0 as usize] {
                Substitute::Slot(slot) => *slot,
                Substitute::Node(_) | Substitute::Operator(..) => unreachable!("only slots are handed on as slots"),
            };
        }
        SlotId((i64::from(slot.0) + self.offset) as u32)
    }

    fn slots(&self, slots: &[SlotId]) -> Box<[SlotId]> {
        slots.iter().map(|&slot| self.slot(slot)).collect()
    }

    fn args(&self, module: &mut Module, args: &[Arg]) -> Box<[Arg]> {
        let copy = |arg: &Arg| match arg {
            Arg::Expr(expr) => Arg::Expr(self.copy(module, *expr)),
            Arg::Operator(def, captures) => Arg::Operator(*def, self.slots(captures)),
            Arg::Slot(slot) => match self.substitutes.get(slot.0 as usize) {
                Some(Substitute::Operator(def, captures)) => Arg::Operator(*def, captures.clone()),
                _ => Arg::Slot(self.slot(*slot)),
            },
        };
        args.iter().map(copy).collect()
    }

    fn copy(&self, module: &mut Module, expr: ExprId) -> ExprId {
        let site = module.exprs.site(expr);
        let node = module.exprs.node(expr).clone();
        let node = self.copy_node(module, node);
        module.exprs.push(node, site)
    }

    fn copy_node(&self, module: &mut Module, mut node: Node) -> Node {
        match node {
            Node::Call { def, args } => return Node::Call { def, args: self.args(module, &args) },
            Node::CallArgument { slot, args } => {
                let args = self.args(module, &args);
                return match self.substitutes.get(slot.0 as usize) {
                    Some(Substitute::Operator(def, captures)) => {
                        let captured = captures.iter().map(|&slot| Arg::Slot(slot));
                        Node::Call { def: *def, args: captured.chain(args).collect() }
                    }
                    _ => Node::CallArgument { slot: self.slot(slot), args },
                };
            }
            Node::Argument(slot) => {
                return match self.substitutes.get(slot.0 as usize) {
                    Some(Substitute::Node(node)) => node.clone(),
                    _ => Node::Argument(self.slot(slot)),
                };
            }
            Node::Local(slot) => return Node::Local(self.slot(slot)),
            _ => {}
        }
        node.for_each_slot_bound_mut(&mut |slot| *slot = self.slot(*slot));
        let mut before: Option<(ExprId, ExprId)> = None;
        node.for_each_child_mut(&mut |child| {
            // `x, y \in S` is two bounds on one expression, and stays so.
            let copy = match before {
                Some((original, copy)) if original == *child => copy,
                _ => self.copy(module, *child),
            };
            before = Some((*child, copy));
            *child = copy;
        });
        node
    }
}
