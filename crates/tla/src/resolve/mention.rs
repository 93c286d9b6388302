//! Collects the names that an expression mentions.
//!
//! TLA+ forbids shadowing, so a mentioned name that is bound outside means the outer one; there is nothing to
//! subtract.

use std::collections::BTreeSet;

use super::with_stack;
use omnilink_tla_syntax::ast::{Expr, Kind, Step, Unit, Update};

/// Adds every name in an expression that could refer to an outer binding; `@` is such a name.
pub(super) fn mentioned<'a>(expr: &'a Expr, names: &mut BTreeSet<&'a str>) {
    if let Kind::Apply { prefixes, name, .. } | Kind::Part { prefixes, name, .. } = &expr.kind {
        names.insert(prefixes.first().map_or(&name.text, |prefix| &prefix.name.text));
    }
    if let Kind::At = expr.kind {
        names.insert("@");
    }
    if let Kind::Let { units, .. } = &expr.kind {
        for unit in units {
            // An instance may replace a constant by a surrounding name that equals the constant's.
            if let Unit::Instance(_) = unit {
                names.insert("INSTANCE");
            }
        }
    }
    children(expr, &mut |child| with_stack(|| mentioned(child, names)));
}

/// Visits every direct subexpression, in the order of the text.
pub(super) fn children<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        Kind::Error
        | Kind::Number(_)
        | Kind::Decimal(_)
        | Kind::String(_)
        | Kind::Boolean(_)
        | Kind::At
        | Kind::Subexpression => {}
        Kind::Apply { prefixes, args, .. } | Kind::Part { prefixes, args, .. } => {
            prefixes.iter().flat_map(|prefix| &prefix.args).for_each(&mut *visit);
            args.iter().for_each(visit);
        }
        Kind::Lambda { body, .. } | Kind::Unbounded { body, .. } => visit(body),
        Kind::Field(inner, _) | Kind::Label(_, inner) => visit(inner),
        Kind::Conjunction(parts)
        | Kind::Disjunction(parts)
        | Kind::Set(parts)
        | Kind::Tuple(parts)
        | Kind::Product(parts) => parts.iter().for_each(visit),
        Kind::If(parts) => parts.iter().for_each(visit),
        Kind::FunctionSet(parts) | Kind::Square(parts) | Kind::Angle(parts) | Kind::Fairness(_, parts) => {
            parts.iter().for_each(visit);
        }
        Kind::Case { arms, other } => {
            for (guard, value) in arms {
                visit(guard);
                visit(value);
            }
            other.iter().for_each(|other| visit(other));
        }
        Kind::Let { units, body } => {
            units.iter().for_each(|unit| unit_children(unit, visit));
            visit(body);
        }
        Kind::Quantified { bounds, body, .. } | Kind::Map { bounds, body } | Kind::Function { bounds, body } => {
            bounds.iter().for_each(|bound| visit(&bound.set));
            visit(body);
        }
        Kind::Choose { set, body, .. } => {
            set.iter().for_each(|set| visit(set));
            visit(body);
        }
        Kind::Filter { set, body, .. } => {
            visit(set);
            visit(body);
        }
        Kind::Record(fields) | Kind::RecordSet(fields) => fields.iter().for_each(|(_, value)| visit(value)),
        Kind::Except { function, updates } => {
            visit(function);
            for Update { path, value, .. } in updates {
                for step in path {
                    if let Step::Index(args) = step {
                        args.iter().for_each(&mut *visit);
                    }
                }
                visit(value);
            }
        }
        Kind::Index { function, args } => {
            visit(function);
            args.iter().for_each(visit);
        }
    }
}

/// Visits every expression directly inside a declaration or definition.
pub(super) fn unit_children<'a>(unit: &'a Unit, visit: &mut dyn FnMut(&'a Expr)) {
    match unit {
        Unit::Definition(definition) => visit(&definition.body),
        Unit::Instance(instance) => instance.substitutions.iter().for_each(|(_, value)| visit(value)),
        Unit::Assume { body, .. } => visit(body),
        Unit::Module(module) => module.units.iter().for_each(|unit| unit_children(unit, visit)),
        Unit::Theorem { .. } | Unit::Constants(_) | Unit::Variables(_) | Unit::Recursive(_) => {}
    }
}
