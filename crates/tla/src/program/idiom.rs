//! Recognizes idioms: a function with one more key, a function with one key less, equal parts of two sequences, the
//! number of elements that satisfy a predicate.
//!
//! Evaluated as written, `[x \in DOMAIN f \cup {k} |-> IF x = k THEN v ELSE f[x]]` builds a set and evaluates its
//! body for every key. An idiom records `f`, `k` and `v`, and keeps the original expression for cases that the fast
//! path does not cover.

use smallvec::SmallVec;

use crate::ir::{Arg, Body, Bound, ExprId, Idiom, Module, Node, Pattern, SlotId};

/// Marks the idioms in a module.
pub(super) fn recognise(module: &mut Module) {
    for index in 0..module.exprs.len() {
        let expr = ExprId(index as u32);
        if let Some(idiom) = idiom(module, module.exprs.node(expr)) {
            let (node, site) = (module.exprs.node(expr).clone(), module.exprs.site(expr));
            let written = module.exprs.push(node, site);
            module.exprs.set(expr, Node::Idiom(idiom, written));
        }
    }
}

fn idiom(module: &Module, node: &Node) -> Option<Idiom> {
    match node {
        Node::Function { bounds, body, this: None } => match &**bounds {
            [Bound { pattern: Pattern::Slot(slot), set, .. }] => function(module, *slot, *set, *body),
            _ => None,
        },
        Node::Equal(left, right) => {
            let is_part = |expr: ExprId| {
                native(module, module.exprs.node(expr))
                    .is_some_and(|(native_module, name, _)| (native_module, name) == ("Sequences", "SubSeq"))
            };
            (is_part(*left) && is_part(*right)).then_some(Idiom::SameParts { left: *left, right: *right })
        }
        Node::Call { .. } => {
            let (native_module, name, args) = native(module, node)?;
            match (native_module, name, &*args) {
                ("TLC", "@@", [left, right]) => {
                    let (native_module, name, args) = native(module, module.exprs.node(*left))?;
                    match (native_module, name, &*args) {
                        ("TLC", ":>", [key, value]) => Some(Idiom::With { function: *right, key: *key, value: *value }),
                        _ => None,
                    }
                }
                ("FiniteSets", "Cardinality", [filter]) => match module.exprs.node(*filter) {
                    Node::Filter { .. } => Some(Idiom::Count { filter: *filter }),
                    _ => None,
                },
                _ => None,
            }
        }
        _ => None,
    }
}

/// `[x \in set |-> body]`
fn function(module: &Module, x: SlotId, set: ExprId, body: ExprId) -> Option<Idiom> {
    let exprs = &module.exprs;
    // A user-defined operator may compute the domain.
    let (set, body) = (inside(module, set), inside(module, body));
    match exprs.node(set) {
        Node::Minus(domain, singleton) => {
            let (function, key) = (domain_of(module, *domain)?, only_element(module, *singleton)?);
            is_value_at(module, body, function, x).then_some(Idiom::Without { function, key })
        }
        Node::Cup(a, b) => {
            let (domain, singleton) = if only_element(module, *b).is_some() { (*a, *b) } else { (*b, *a) };
            let (function, key) = (domain_of(module, domain)?, only_element(module, singleton)?);
            let Node::If(condition, yes, no) = exprs.node(body) else {
                return None;
            };
            let (a, b, value, rest) = match exprs.node(*condition) {
                Node::Equal(a, b) => (*a, *b, *yes, *no),
                Node::NotEqual(a, b) => (*a, *b, *no, *yes),
                _ => return None,
            };
            let is_key = (is_name(module, a, x) && is_same(module, b, key))
                || (is_name(module, b, x) && is_same(module, a, key));
            let is_fixed = !exprs.free_slots(value).contains(&x);
            (is_key && is_fixed && is_value_at(module, rest, function, x)).then_some(Idiom::With {
                function,
                key,
                value,
            })
        }
        _ => None,
    }
}

fn native(module: &Module, node: &Node) -> Option<(&'static str, &'static str, SmallVec<[ExprId; 2]>)> {
    let Node::Call { def, args } = node else {
        return None;
    };
    let Body::Native(native) = &module.definitions[def.0 as usize].body else {
        return None;
    };
    let arg = |arg: &Arg| match arg {
        Arg::Expr(expr) => Some(*expr),
        Arg::Slot(_) | Arg::Operator(..) => None,
    };
    Some((native.module, native.name, args.iter().map(arg).collect::<Option<_>>()?))
}

fn inside(module: &Module, expr: ExprId) -> ExprId {
    match module.exprs.node(expr) {
        Node::Inlined { body, .. } => inside(module, *body),
        _ => expr,
    }
}

fn domain_of(module: &Module, expr: ExprId) -> Option<ExprId> {
    match module.exprs.node(inside(module, expr)) {
        Node::Domain(function) => Some(*function),
        _ => None,
    }
}

fn only_element(module: &Module, expr: ExprId) -> Option<ExprId> {
    match module.exprs.node(expr) {
        Node::Set(elements) => match **elements {
            [element] => Some(element),
            _ => None,
        },
        _ => None,
    }
}

fn is_name(module: &Module, expr: ExprId, slot: SlotId) -> bool {
    matches!(module.exprs.node(inside(module, expr)), Node::Local(name) | Node::Argument(name) if *name == slot)
}

/// Whether an expression is `function[x]`.
fn is_value_at(module: &Module, expr: ExprId, function: ExprId, x: SlotId) -> bool {
    match module.exprs.node(inside(module, expr)) {
        Node::Apply(applied, arg) => is_name(module, *arg, x) && is_same(module, *applied, function),
        _ => false,
    }
}

/// Whether two expressions are syntactically equal and so mean the same, as far as names, fields and values go.
fn is_same(module: &Module, a: ExprId, b: ExprId) -> bool {
    let (a, b) = (inside(module, a), inside(module, b));
    match (module.exprs.node(a), module.exprs.node(b)) {
        (Node::Variable(a), Node::Variable(b)) => a == b,
        (Node::Local(a) | Node::Argument(a), Node::Local(b) | Node::Argument(b)) => a == b,
        (Node::Value(a), Node::Value(b)) => a == b,
        (Node::Field(a, name), Node::Field(b, other)) => name == other && is_same(module, *a, *b),
        (Node::Apply(f, a), Node::Apply(g, b)) => is_same(module, *f, *g) && is_same(module, *a, *b),
        _ => false,
    }
}
