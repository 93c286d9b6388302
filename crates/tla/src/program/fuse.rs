//! Optimizes a linked program without changing its meaning.
//!
//! Each rewrite happens in place, so that the expression keeps its location in the text. Nested conjunctions and
//! disjunctions become lists. Records get their domain, which no evaluation changes. Arithmetic on two operands
//! becomes a node instead of a call of a native operator. Calls are [inlined](super::inline). The largest expressions
//! that depend on constants alone become definitions without parameters, which a machine computes once, when first
//! needed: an error in one that is never reached stays unnoticed, as in TLC. Finally, [idioms](super::idiom) are
//! marked.

use super::idiom::recognise;
use super::inline::inline;
use crate::ir::{Arg, Arithmetic, Body, DefId, Definition, ExprId, ExprLevel, Module, Node, SlotId};
use crate::value::{Set, Value};

/// Rewrites all expressions of a module.
pub(super) fn fuse(module: &mut Module) {
    for index in 0..module.exprs.len() {
        let expr = ExprId(index as u32);
        let node = module.exprs.node(expr);
        if let Some(node) = arithmetic(module, node).or_else(|| shaped(node)).or_else(|| with_at(module, node)) {
            module.exprs.set(expr, node);
        }
    }
    for index in 0..module.exprs.len() {
        flatten(module, ExprId(index as u32));
    }
    inline(module);
    let volatile = volatile_definitions(module);
    for index in 0..module.definitions.len() {
        if let Body::Expr(body) = module.definitions[index].body {
            // A constant definition is already computed once as a whole.
            let definition = &module.definitions[index];
            if definition.params.is_empty() && definition.level == ExprLevel::Constant && !volatile[index] {
                continue;
            }
            hoist(module, &volatile, index, body);
        }
    }
    // No expression may be copied or moved after this: an idiom refers to parts of its expression.
    recognise(module);
}

fn arithmetic(module: &Module, node: &Node) -> Option<Node> {
    let Node::Call { def, args } = node else {
        return None;
    };
    let (Body::Native(native), [Arg::Expr(a), Arg::Expr(b)]) = (&module.definitions[def.0 as usize].body, &**args)
    else {
        return None;
    };
    if !matches!(native.module, "Naturals" | "Integers" | "Reals") {
        return None;
    }
    Some(Node::Arithmetic(Arithmetic::of_symbol(native.name)?, *def, *a, *b))
}

/// A record with sorted fields and a precomputed domain.
fn shaped(node: &Node) -> Option<Node> {
    let Node::Record(fields) = node else {
        return None;
    };
    let mut fields = fields.to_vec();
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    let names: Vec<Value> = fields.iter().map(|(name, _)| Value::Str(name.clone())).collect();
    let domain = Set::new(names).ok().filter(|domain| domain.len() == fields.len())?;
    Some(Node::Shaped(domain, fields.into_iter().map(|(_, expr)| expr).collect()))
}

/// An `EXCEPT` that records which of its updates mention `@`.
fn with_at(module: &Module, node: &Node) -> Option<Node> {
    let Node::Except { function, updates } = node else {
        return None;
    };
    let mut updates = updates.clone();
    for update in &mut updates {
        update.reads_at = false;
        module.exprs.for_each_below(update.value, &mut |node| {
            node.for_each_slot_read(&mut |slot| update.reads_at |= slot == update.at);
        });
    }
    Some(Node::Except { function: *function, updates })
}

/// `(a /\ b) /\ c` becomes a list of three. Conjuncts are evaluated, and alternatives tried, in the same order.
fn flatten(module: &mut Module, expr: ExprId) {
    let is_and = match module.exprs.node(expr) {
        Node::And(_) => true,
        Node::Or(_) => false,
        _ => return,
    };
    let mut flat = Vec::new();
    collect(module, expr, is_and, &mut flat);
    module.exprs.set(expr, if is_and { Node::And(flat.into()) } else { Node::Or(flat.into()) });
}

fn collect(module: &Module, expr: ExprId, is_and: bool, flat: &mut Vec<ExprId>) {
    match (module.exprs.node(expr), is_and) {
        (Node::And(parts), true) | (Node::Or(parts), false) => {
            parts.iter().for_each(|&part| collect(module, part, is_and, flat));
        }
        _ => flat.push(expr),
    }
}

/// The definitions whose value may differ between evaluations, directly or through their callees.
fn volatile_definitions(module: &Module) -> Vec<bool> {
    let mut volatile: Vec<bool> = module
        .definitions
        .iter()
        .map(|definition| match &definition.body {
            Body::Native(native) => native.is_volatile,
            Body::Declared | Body::Expr(_) => false,
        })
        .collect();
    loop {
        let before = volatile.iter().filter(|is_volatile| **is_volatile).count();
        for (index, definition) in module.definitions.iter().enumerate() {
            if let Body::Expr(body) = definition.body
                && !volatile[index]
            {
                let mut calls_volatile = false;
                module.exprs.for_each_below(body, &mut |node| {
                    node.for_each_callee(&mut |callee| calls_volatile |= volatile[callee.0 as usize]);
                });
                volatile[index] = calls_volatile;
            }
        }
        if volatile.iter().filter(|is_volatile| **is_volatile).count() == before {
            return volatile;
        }
    }
}

/// The dependencies of an expression.
struct Needs {
    /// A state, or the world.
    more_than_constants: bool,
    /// Names bound around it.
    slots: Vec<SlotId>,
    /// Cheap enough that precomputing it does not pay off.
    is_trivial: bool,
}

fn hoist(module: &mut Module, volatile: &[bool], owner: usize, expr: ExprId) -> Needs {
    let node = module.exprs.node(expr).clone();
    let mut needs = needs_itself(module, volatile, &node);
    let mut closed = Vec::new();
    for child in node.children() {
        let inner = hoist(module, volatile, owner, child);
        if !inner.more_than_constants && inner.slots.is_empty() && !inner.is_trivial {
            closed.push(child);
        }
        needs.more_than_constants |= inner.more_than_constants;
        needs.slots.extend(inner.slots);
    }
    node.for_each_slot_bound(&mut |bound| needs.slots.retain(|&slot| slot != bound));
    needs.slots.sort_unstable();
    needs.slots.dedup();
    if needs.more_than_constants || !needs.slots.is_empty() {
        for child in closed {
            make_definition(module, owner, child);
        }
    }
    needs
}

/// The dependencies of a node itself, without its parts.
fn needs_itself(module: &Module, volatile: &[bool], node: &Node) -> Needs {
    let mut more_than_constants = matches!(
        node,
        Node::Variable(_)
            | Node::Prime(_)
            | Node::Unchanged(_)
            | Node::Enabled(..)
            | Node::Square(..)
            | Node::Angle(..)
            | Node::Compose(..)
            | Node::Always(_)
            | Node::Unsupported { .. }
    );
    node.for_each_callee(&mut |callee| {
        let callee = callee.0 as usize;
        more_than_constants |=
            module.definitions[callee].level != ExprLevel::Constant || volatile.get(callee) == Some(&true);
    });
    let mut slots = Vec::new();
    node.for_each_slot_read(&mut |slot| slots.push(slot));
    let is_trivial = match node {
        Node::Value(_) | Node::Strings => true,
        Node::Call { args, .. } => args.is_empty(),
        _ => false,
    };
    Needs { more_than_constants, slots, is_trivial }
}

/// Moves an expression into a new definition and replaces it by a call.
fn make_definition(module: &mut Module, owner: usize, expr: ExprId) {
    let (node, site) = (module.exprs.node(expr).clone(), module.exprs.site(expr));
    let body = module.exprs.push(node, site);
    let owner = &module.definitions[owner];
    let definition = Definition {
        name: owner.name.clone(),
        module: owner.module.clone(),
        params: Vec::new(),
        captures: 0,
        body: Body::Expr(body),
        slots: module.exprs.room(body),
        level: ExprLevel::Constant,
        is_recursive: false,
        site: owner.site,
    };
    let def = DefId(module.definitions.len() as u32);
    module.definitions.push(definition);
    module.exprs.set(expr, Node::Call { def, args: Box::default() });
}
