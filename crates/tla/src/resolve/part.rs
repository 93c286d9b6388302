//! Parts of definitions: `Inv!2` is the second conjunct of `Inv`.
//!
//! The part becomes a definition with the parameters and slots of the whole, whose body is the expression already in
//! the whole. So a part can be reached only if no name is bound on the path to it, because that name would have no
//! value.

use omnilink_tla_syntax::ast::{Expr, Name, Prefix};

use super::Resolver;
use super::apply::Target;
use super::expr::unsupported;
use super::table::Scope;
use crate::ir::{Body, DefId, Definition, ExprId, Node};

impl Resolver {
    /// Resolves `Op(args)!path`.
    pub(super) fn part(
        &mut self,
        scope: &mut Scope,
        expr: &Expr,
        prefixes: &[Prefix],
        name: &Name,
        args: &[Expr],
        path: &[usize],
    ) -> ExprId {
        let site = scope.site(expr.span);
        let Some(target) = self.find(scope, prefixes, name) else {
            self.arguments_of_unknown(scope, args);
            return self.broken(site);
        };
        let target = match target {
            Target::Def(def, first) if path.is_empty() => Some(Target::Def(def, first)),
            Target::Def(def, first) => self.part_of(def, path).map(|part| Target::Def(part, first)),
            Target::Local(_) | Target::Argument(..) | Target::Variable(_) => None,
        };
        match target {
            Some(target) => self.applied(scope, target, name, args, site),
            None => {
                self.arguments_of_unknown(scope, args);
                self.exprs.push(unsupported("a reference into a definition", Vec::new()), site)
            }
        }
    }

    /// The definition of a part, created on first use.
    fn part_of(&mut self, def: DefId, path: &[usize]) -> Option<DefId> {
        let whole = self.definition(def);
        let Body::Expr(mut body) = whole.body else { return None };
        let mut name = whole.name.clone();
        for &step in path {
            body = self.operand(body, step)?;
            name.push_str(&format!("!{step}"));
        }
        let whole = self.definition(def);
        let part = Definition { name, body: Body::Expr(body), site: self.exprs.site(body), ..whole.clone() };
        let part = self.add(part, self.hidden(def));
        self.finished.push(part);
        Some(part)
    }

    /// An operand of an expression, counted from 1.
    fn operand(&self, expr: ExprId, number: usize) -> Option<ExprId> {
        let place = number.checked_sub(1)?;
        let node = self.exprs.node(expr);
        let has_operands = match node {
            // An infix chain represents nested operators of two operands each.
            Node::And(parts) | Node::Or(parts) => parts.len() == 2 || self.context.lists.contains(&expr),
            Node::Set(_) | Node::Tuple(_) | Node::If(..) => true,
            Node::Not(_) | Node::Subsets(_) | Node::Union(_) | Node::Domain(_) | Node::Unchanged(_) => true,
            Node::Implies(..) | Node::Equivalent(..) | Node::Equal(..) | Node::NotEqual(..) => true,
            Node::In(..) | Node::NotIn(..) | Node::Subseteq(..) => true,
            Node::Cup(..) | Node::Cap(..) | Node::Minus(..) => true,
            _ => false,
        };
        if has_operands { node.children().get(place).copied() } else { None }
    }
}
