//! Axioms of an expert: `vis >= rel` and `lin >= rel`.
//!
//! ```text
//! axiom ::= vis >= rel | lin >= rel
//! rel   ::= po | hb | lin | vis | rel ; rel | rel '|' rel | rel & rel | rel+ | rel? | [filter] | ( rel )
//! filter::= mutator | read-only | the names of actions, with commas between them
//! ```
//!
//! `po` is the order of each process, `hb` the order of the level, `;` composes, `[f]` keeps operations of a kind.
//!
//! The search extends `lin` by one operation at a time and gives it a least set of visible operations that explains its
//! results. It loses no execution by that (Emmi and Enea, theorem 1), because every relation of this grammar grows with
//! `vis` and lies inside `lin`: a smaller set demands less of later operations, and the operations that an operation has to
//! see depend only on operations before it. Complement, difference and converse do not have these properties, so the parser
//! refuses them.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use thiserror::Error;

use crate::visibility::Visibility;

/// A demand on an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axiom {
    /// The side that has to contain the relation.
    pub side: Side,
    /// The relation.
    pub relation: Relation,
    text: String,
}

/// The left side of an axiom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The visible operations.
    Vis,
    /// The order of all operations.
    Lin,
}

/// The relations that axioms are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atom {
    /// The order of each process.
    Po,
    /// The order of the level.
    Hb,
    /// The order of the execution.
    Lin,
    /// The visible operations.
    Vis,
}

/// A relation between operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// One of the four.
    Atom(Atom),
    /// The first, then the second.
    Then(Box<Relation>, Box<Relation>),
    /// Either.
    Or(Box<Relation>, Box<Relation>),
    /// Both.
    And(Box<Relation>, Box<Relation>),
    /// Once or several times.
    Plus(Box<Relation>),
    /// Once or not at all.
    Maybe(Box<Relation>),
    /// From each operation of a kind to itself.
    Filter(Filter),
}

/// A kind of operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Operations that may change the state.
    Mutator,
    /// Operations that never change the state.
    ReadOnly,
    /// Operations of these actions.
    Actions(Vec<Arc<str>>),
    /// Operations of all other actions.
    Except(Vec<Arc<str>>),
}

/// The reason why an axiom cannot be read, or is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AxiomError {
    /// It does not begin with a side.
    #[error("does not begin with `vis >=` or `lin >=`")]
    Side,
    /// The parser expected another token.
    #[error("has `{found}` where {expected} should be")]
    Expected {
        /// The token found.
        found: String,
        /// The expected token.
        expected: &'static str,
    },
    /// An operator under which a least visible set is not enough.
    #[error("uses `{0}`: with complement, difference or converse it is not enough to see as little as possible")]
    NotMonotone(char),
    /// It relates operations to themselves.
    #[error("relates an operation to itself")]
    Reflexive,
}

impl Axiom {
    /// Reads an axiom.
    pub fn parse(text: &str) -> Result<Axiom, AxiomError> {
        let (side, rest) = text.split_once(">=").or_else(|| text.split_once('⊇')).ok_or(AxiomError::Side)?;
        let side = match side.trim() {
            "vis" => Side::Vis,
            "lin" => Side::Lin,
            _ => return Err(AxiomError::Side),
        };
        let mut parser = Parser { rest: rest.trim() };
        let relation = parser.either()?;
        if !parser.rest.is_empty() {
            return Err(parser.expected("`;`, `|`, `&` or the end"));
        }
        if relation.may_be_identity() {
            return Err(AxiomError::Reflexive);
        }
        Ok(Axiom { side, relation, text: text.trim().to_owned() })
    }

    /// True if every operation with at least this visibility satisfies the axiom, if the order contains session order. If
    /// false, the operation may still satisfy it.
    pub(crate) fn is_implied_by(&self, visibility: Visibility) -> bool {
        let Some(path) = self.relation.path() else { return visibility == Visibility::Complete };
        let (hidden, seen): (Vec<Atom>, Vec<Atom>) = path.iter().partition(|&&atom| atom == Atom::Po);
        match visibility {
            Visibility::Complete => true,
            Visibility::Overlap => path.iter().all(|atom| matches!(atom, Atom::Po | Atom::Hb)),
            Visibility::Prefix => path.len() > 1 && path.last() == Some(&Atom::Vis),
            Visibility::Causal => path.iter().all(|atom| matches!(atom, Atom::Po | Atom::Vis)),
            Visibility::Peer => seen.is_empty() || seen == [Atom::Vis],
            Visibility::Monotonic => seen.is_empty() || (seen == [Atom::Vis] && path[0] == Atom::Vis),
            Visibility::Session => !hidden.is_empty() && seen.is_empty(),
            Visibility::Weak => false,
        }
    }
}

impl Display for Axiom {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Relation {
    /// The first, then the second.
    pub(crate) fn then(first: Relation, second: Relation) -> Relation {
        Relation::Then(Box::new(first), Box::new(second))
    }

    /// True if the relation mentions the atom.
    pub(crate) fn mentions(&self, atom: Atom) -> bool {
        match self {
            Relation::Atom(own) => *own == atom,
            Relation::Then(a, b) | Relation::Or(a, b) | Relation::And(a, b) => a.mentions(atom) || b.mentions(atom),
            Relation::Plus(a) | Relation::Maybe(a) => a.mentions(atom),
            Relation::Filter(_) => false,
        }
    }

    /// True if it may relate an operation to itself.
    fn may_be_identity(&self) -> bool {
        match self {
            Relation::Atom(_) => false,
            Relation::Then(a, b) | Relation::And(a, b) => a.may_be_identity() && b.may_be_identity(),
            Relation::Or(a, b) => a.may_be_identity() || b.may_be_identity(),
            Relation::Plus(a) => a.may_be_identity(),
            Relation::Maybe(_) | Relation::Filter(_) => true,
        }
    }

    /// The atoms that the relation composes, if it does nothing else; filters only make it smaller.
    fn path(&self) -> Option<Vec<Atom>> {
        match self {
            Relation::Atom(atom) => Some(vec![*atom]),
            Relation::Filter(_) => Some(Vec::new()),
            Relation::Then(a, b) => Some([a.path()?, b.path()?].concat()),
            Relation::Or(..) | Relation::And(..) | Relation::Plus(_) | Relation::Maybe(_) => None,
        }
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    fn either(&mut self) -> Result<Relation, AxiomError> {
        let mut left = self.both()?;
        while self.eat('|') || self.eat('∪') {
            left = Relation::Or(Box::new(left), Box::new(self.both()?));
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Relation, AxiomError> {
        let mut left = self.sequence()?;
        while self.eat('&') || self.eat('∩') {
            left = Relation::And(Box::new(left), Box::new(self.sequence()?));
        }
        Ok(left)
    }

    fn sequence(&mut self) -> Result<Relation, AxiomError> {
        let mut left = self.repeated()?;
        while self.eat(';') || self.eat('∘') {
            left = Relation::then(left, self.repeated()?);
        }
        Ok(left)
    }

    fn repeated(&mut self) -> Result<Relation, AxiomError> {
        let mut inner = self.primary()?;
        loop {
            inner = match (self.eat('+'), self.eat('?')) {
                (true, _) => Relation::Plus(Box::new(inner)),
                (_, true) => Relation::Maybe(Box::new(inner)),
                _ => return Ok(inner),
            };
        }
    }

    fn primary(&mut self) -> Result<Relation, AxiomError> {
        if self.eat('(') {
            let inner = self.either()?;
            return if self.eat(')') { Ok(inner) } else { Err(self.expected("`)`")) };
        }
        if self.eat('[') {
            let (inside, rest) = self.rest.split_once(']').ok_or_else(|| self.expected("`]`"))?;
            self.rest = rest.trim_start();
            let names: Vec<&str> = inside.split(',').map(str::trim).collect();
            return Ok(Relation::Filter(match names.as_slice() {
                ["mutator"] => Filter::Mutator,
                ["read-only"] => Filter::ReadOnly,
                names if names.contains(&"") => return Err(self.expected("the name of an action")),
                names => Filter::Actions(names.iter().map(|&name| name.into()).collect()),
            }));
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest.len());
        let atom = match &self.rest[..end] {
            "po" => Atom::Po,
            "hb" => Atom::Hb,
            "lin" => Atom::Lin,
            "vis" => Atom::Vis,
            _ => return Err(self.expected("`po`, `hb`, `lin`, `vis`, `[` or `(`")),
        };
        self.rest = self.rest[end..].trim_start();
        Ok(Relation::Atom(atom))
    }

    fn eat(&mut self, wanted: char) -> bool {
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.map_or(self.rest, str::trim_start);
        after.is_some()
    }

    fn expected(&self, expected: &'static str) -> AxiomError {
        match self.rest.chars().next() {
            Some(found @ ('!' | '~' | '\\' | '-' | '^' | '¬')) => AxiomError::NotMonotone(found),
            Some(_) => AxiomError::Expected { found: self.rest.to_owned(), expected },
            None => AxiomError::Expected { found: "the end".to_owned(), expected },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        format!("{text} {}", Axiom::parse(text).unwrap_err())
    }

    #[test]
    fn axioms_of_the_grammar_are_read() {
        for text in ["vis >= po", "vis ⊇ vis;vis", "vis >= [mutator];po;[mutator];vis", "lin>=(vis;po)+ | hb & po;vis?"]
        {
            assert_eq!(Axiom::parse(text).unwrap().to_string(), text);
        }
        let axiom = Axiom::parse("vis >= vis;[put, remove];po").unwrap();
        assert!(axiom.relation.mentions(Atom::Po) && !axiom.relation.mentions(Atom::Lin));
    }

    #[test]
    fn others_are_refused() {
        let cases = ["vis >= ~po", "vis >= lin - vis", "vis >= vis^-1", "vis >= [put]", "vis >= po?", "vis = po"];
        let more = ["vis >= (po;vis", "vis >= rf", "vis >= po po", "vis >= [a,];po"];
        let all: Vec<String> = cases.into_iter().chain(more).map(refusal).collect();
        insta::assert_snapshot!(all.join("\n"), @r"
        vis >= ~po uses `~`: with complement, difference or converse it is not enough to see as little as possible
        vis >= lin - vis uses `-`: with complement, difference or converse it is not enough to see as little as possible
        vis >= vis^-1 uses `^`: with complement, difference or converse it is not enough to see as little as possible
        vis >= [put] relates an operation to itself
        vis >= po? relates an operation to itself
        vis = po does not begin with `vis >=` or `lin >=`
        vis >= (po;vis has `the end` where `)` should be
        vis >= rf has `rf` where `po`, `hb`, `lin`, `vis`, `[` or `(` should be
        vis >= po po has `po` where `;`, `|`, `&` or the end should be
        vis >= [a,];po has `;po` where the name of an action should be
        ");
    }

    #[test]
    fn identities_are_found_inside() {
        for text in ["vis >= po | vis?", "vis >= vis? | po", "vis >= (po?)+", "vis >= po?;vis?", "vis >= po? & [put]"] {
            assert_eq!(Axiom::parse(text), Err(AxiomError::Reflexive), "{text}");
        }
        for text in ["vis >= po?;vis", "vis >= po;vis?", "vis >= (po;vis?)+", "vis >= po? & vis", "vis >= vis & [put]"]
        {
            assert!(Axiom::parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn atoms_are_found_inside() {
        let mentions = |text: &str, atom| Axiom::parse(text).unwrap().relation.mentions(atom);
        for text in ["vis >= po | vis", "vis >= vis | po", "vis >= vis & po", "vis >= (po;vis)+", "vis >= po?;vis"] {
            assert!(mentions(text, Atom::Po) && mentions(text, Atom::Vis) && !mentions(text, Atom::Hb), "{text}");
        }
    }

    #[test]
    fn a_visibility_implies_axioms_that_demand_no_more() {
        let check = |text: &str| {
            let axiom = Axiom::parse(text).unwrap();
            let implying = Visibility::ALL.iter().filter(|visibility| axiom.is_implied_by(**visibility));
            implying.map(|visibility| visibility.name()).collect::<Vec<_>>().join(" ")
        };
        insta::assert_snapshot!(check("vis >= po"), @"complete overlap causal peer monotonic session");
        insta::assert_snapshot!(check("vis >= [put];po;[get]"), @"complete overlap causal peer monotonic session");
        insta::assert_snapshot!(check("vis >= hb"), @"complete overlap");
        insta::assert_snapshot!(check("vis >= po;hb"), @"complete overlap");
        insta::assert_snapshot!(check("vis >= lin"), @"complete");
        insta::assert_snapshot!(check("vis >= vis;lin"), @"complete");
        insta::assert_snapshot!(check("vis >= lin;vis"), @"complete prefix");
        insta::assert_snapshot!(check("vis >= vis;vis"), @"complete prefix causal");
        insta::assert_snapshot!(check("vis >= po;vis"), @"complete prefix causal peer");
        insta::assert_snapshot!(check("vis >= vis;po"), @"complete causal peer monotonic");
        insta::assert_snapshot!(check("vis >= [put];vis"), @"complete causal peer monotonic");
        // The answer claims nothing about relations that are not a path.
        insta::assert_snapshot!(check("vis >= po | vis;vis"), @"complete");
        insta::assert_snapshot!(check("vis >= po+"), @"complete");
    }
}
