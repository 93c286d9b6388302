//! Puts the bodies of operators where they are called, so that running needs few frames.
//!
//! A call becomes a [`Node::Inlined`], which remembers what was called, around a copy of the body. A parameter becomes its
//! argument where that is a name, a variable or a value, and a `LET` around the body where it is more: both are evaluated
//! by need, like the argument of a call. An operator handed over as an argument is called directly. Names bound in the
//! body get slots of their own at the end of the caller's frame.
//!
//! What calls itself stays a call, and so does a constant without parameters, which is computed once. Bodies are inlined
//! from the inside out, and a budget bounds how large a program can grow.

use crate::ir::{Arg, Body, Bound, DefId, ExprId, Level, Module, Node, Param, Pattern, SlotId, Step, Update};

/// The largest body that is copied.
const LARGEST_BODY: usize = 2_000;
/// How many expressions a program may have before inlining stops.
const LARGEST_PROGRAM: usize = 200_000;

/// Inlines calls in every definition of a module.
pub(super) fn inline(module: &mut Module) {
    let mut inliner = Inliner { progress: vec![Progress::New; module.definitions.len()], module };
    for index in 0..inliner.progress.len() {
        inliner.definition(DefId(index as u32));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Begun,
    /// Done, with the size of the body.
    Done(usize),
}

/// What a parameter becomes.
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
    module: &'m mut Module,
}

impl Inliner<'_> {
    /// Inlines the calls in a definition and returns how large its body has become; none while it is being worked on.
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
        // Nothing temporal runs, but the behavior's entry points stand in such definitions and have no frame.
        if let Body::Expr(body) = definition.body
            && definition.level != Level::Temporal
        {
            // What stands in two definitions, such as what an instance substitutes, must not get slots of one of them.
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
        let is_constant = definition.params.is_empty() && definition.level == Level::Constant;
        if definition.is_recursive || is_constant {
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

/// The argument as an expression inside the call, for those who want to name it; none for an operator.
fn shown(substitute: &Substitute, param: &Param) -> Option<Node> {
    match substitute {
        Substitute::Node(node) => Some(node.clone()),
        Substitute::Slot(slot) => (param.arity == 0).then_some(Node::Argument(*slot)),
        Substitute::Operator(..) => None,
    }
}

/// Whether a parameter is handed on as a slot, so that it must be one.
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
    /// From a slot of the callee to one of the caller, for slots that are not parameters.
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

    fn pattern(&self, pattern: &Pattern) -> Pattern {
        match pattern {
            Pattern::Slot(slot) => Pattern::Slot(self.slot(*slot)),
            Pattern::Tuple(slots) => Pattern::Tuple(self.slots(slots)),
        }
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

    fn bounds(&self, module: &mut Module, bounds: &[Bound]) -> Box<[Bound]> {
        let mut copies: Vec<Bound> = Vec::with_capacity(bounds.len());
        for (index, bound) in bounds.iter().enumerate() {
            // `x, y \in S` is two bounds on one expression, and stays so.
            let set = match index.checked_sub(1) {
                Some(before) if bounds[before].set == bound.set => copies[before].set,
                _ => self.copy(module, bound.set),
            };
            copies.push(Bound { pattern: self.pattern(&bound.pattern), names: bound.names.clone(), set });
        }
        copies.into()
    }

    fn copy(&self, module: &mut Module, expr: ExprId) -> ExprId {
        let site = module.exprs.site(expr);
        let node = module.exprs.node(expr).clone();
        let node = self.copy_node(module, node);
        module.exprs.push(node, site)
    }

    fn copy_node(&self, module: &mut Module, node: Node) -> Node {
        match node {
            Node::Local(slot) => Node::Local(self.slot(slot)),
            Node::Argument(slot) => match self.substitutes.get(slot.0 as usize) {
                Some(Substitute::Node(node)) => node.clone(),
                _ => Node::Argument(self.slot(slot)),
            },
            Node::Let { slot, value, body } => {
                Node::Let { slot: self.slot(slot), value: self.copy(module, value), body: self.copy(module, body) }
            }
            Node::Call { def, args } => Node::Call { def, args: self.args(module, &args) },
            Node::CallArgument { slot, args } => match self.substitutes.get(slot.0 as usize) {
                Some(Substitute::Operator(def, captures)) => {
                    let captured = captures.iter().map(|&slot| Arg::Slot(slot));
                    let args = captured.chain(self.args(module, &args)).collect();
                    Node::Call { def: *def, args }
                }
                _ => Node::CallArgument { slot: self.slot(slot), args: self.args(module, &args) },
            },
            Node::Forall { bounds, body } => {
                Node::Forall { bounds: self.bounds(module, &bounds), body: self.copy(module, body) }
            }
            Node::Exists { bounds, body } => {
                Node::Exists { bounds: self.bounds(module, &bounds), body: self.copy(module, body) }
            }
            Node::Map { bounds, body } => {
                Node::Map { bounds: self.bounds(module, &bounds), body: self.copy(module, body) }
            }
            Node::Function { bounds, body, this } => Node::Function {
                bounds: self.bounds(module, &bounds),
                body: self.copy(module, body),
                this: this.map(|slot| self.slot(slot)),
            },
            Node::Choose { bound, body } => {
                Node::Choose { bound: self.bound(module, &bound), body: self.copy(module, body) }
            }
            Node::Filter { bound, body } => {
                Node::Filter { bound: self.bound(module, &bound), body: self.copy(module, body) }
            }
            Node::Except { function, updates } => Node::Except {
                function: self.copy(module, function),
                updates: updates.iter().map(|update| self.update(module, update)).collect(),
            },
            Node::Inlined { def, args, body } => Node::Inlined {
                def,
                args: args.iter().map(|arg| arg.map(|arg| self.copy(module, arg))).collect(),
                body: self.copy(module, body),
            },
            mut plain => {
                for_each_part(&mut plain, &mut |part| *part = self.copy(module, *part));
                plain
            }
        }
    }

    fn bound(&self, module: &mut Module, bound: &Bound) -> Bound {
        let set = self.copy(module, bound.set);
        Bound { pattern: self.pattern(&bound.pattern), names: bound.names.clone(), set }
    }

    fn update(&self, module: &mut Module, update: &Update) -> Update {
        let path = update.path.iter().map(|step| match step {
            Step::Index(index) => Step::Index(self.copy(module, *index)),
            Step::Field(field) => Step::Field(field.clone()),
        });
        let (path, value) = (path.collect(), self.copy(module, update.value));
        Update { path, value, at: self.slot(update.at), reads_at: update.reads_at }
    }
}

/// Visits the parts of an expression that binds no name.
fn for_each_part(node: &mut Node, visit: &mut dyn FnMut(&mut ExprId)) {
    match node {
        Node::And(parts)
        | Node::Or(parts)
        | Node::Set(parts)
        | Node::Tuple(parts)
        | Node::Product(parts)
        | Node::Shaped(_, parts)
        | Node::Unsupported { parts, .. } => parts.iter_mut().for_each(visit),
        Node::Not(a)
        | Node::Subsets(a)
        | Node::Union(a)
        | Node::Domain(a)
        | Node::Field(a, _)
        | Node::Prime(a)
        | Node::Unchanged(a)
        | Node::Enabled(a)
        | Node::Always(a) => visit(a),
        Node::Implies(a, b)
        | Node::Equivalent(a, b)
        | Node::Arithmetic(_, _, a, b)
        | Node::Equal(a, b)
        | Node::NotEqual(a, b)
        | Node::In(a, b)
        | Node::NotIn(a, b)
        | Node::Subseteq(a, b)
        | Node::Cup(a, b)
        | Node::Cap(a, b)
        | Node::Minus(a, b)
        | Node::Functions(a, b)
        | Node::Apply(a, b)
        | Node::Square(a, b)
        | Node::Angle(a, b)
        | Node::Compose(a, b) => [a, b].into_iter().for_each(visit),
        Node::If(a, b, c) => [a, b, c].into_iter().for_each(visit),
        Node::Case { arms, other } => {
            arms.iter_mut().flat_map(|(guard, then)| [guard, then]).chain(other).for_each(visit);
        }
        Node::Record(fields) | Node::Records(fields) => fields.iter_mut().map(|(_, expr)| expr).for_each(visit),
        Node::Value(_) | Node::Strings | Node::Variable(_) => {}
        Node::Local(_)
        | Node::Argument(_)
        | Node::Let { .. }
        | Node::Call { .. }
        | Node::CallArgument { .. }
        | Node::Inlined { .. }
        | Node::Forall { .. }
        | Node::Exists { .. }
        | Node::Choose { .. }
        | Node::Filter { .. }
        | Node::Map { .. }
        | Node::Function { .. }
        | Node::Except { .. } => unreachable!("what mentions a slot is copied with its slots"),
    }
}
