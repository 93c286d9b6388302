//! Levels: the orders that count, and the earlier operations that each operation has to see.
//!
//! An execution of a history is a total order of its operations, `lin`, and a relation `vis` inside it: the earlier
//! operations that each one sees. An operation returns the result of the specification after the operations that it sees,
//! in their order. A level demands that `lin` contains an order, and that each operation sees enough (Emmi and Enea,
//! *Monitoring weak consistency*, CAV 2018).

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::Arc;

use omnilink_history::Precedence;
use omnilink_search::Criterion;
use thiserror::Error;

use crate::axiom::{Atom, Axiom, AxiomError, Filter, Relation, Side};
use crate::visibility::Visibility;

impl Visibility {
    /// The relations that `vis` has to contain where they end in an operation of this visibility.
    fn relations(self) -> Vec<Relation> {
        let atom = Relation::Atom;
        let then = |a, b| Relation::then(atom(a), atom(b));
        match self {
            Visibility::Complete => vec![atom(Atom::Lin)],
            Visibility::Overlap => vec![atom(Atom::Hb)],
            Visibility::Prefix => vec![then(Atom::Lin, Atom::Vis)],
            Visibility::Causal => vec![atom(Atom::Po), then(Atom::Vis, Atom::Vis)],
            Visibility::Peer => vec![atom(Atom::Po), then(Atom::Vis, Atom::Po), then(Atom::Po, Atom::Vis)],
            Visibility::Monotonic => vec![atom(Atom::Po), then(Atom::Vis, Atom::Po)],
            Visibility::Session => vec![atom(Atom::Po)],
            Visibility::Weak => vec![],
        }
    }
}

impl FromStr for Visibility {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Visibility, LevelError> {
        let known = Visibility::ALL.into_iter().find(|visibility| visibility.name() == text);
        known.ok_or_else(|| LevelError::Visibility {
            given: text.to_owned(),
            known: Visibility::ALL.map(Visibility::name).join(", "),
        })
    }
}

/// The method of searching for an execution; see [`Level::class`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Every operation sees everything before it.
    Strong,
    /// The operations that an operation has to see depend on the order alone, not on the visible operations of others.
    Independent,
    /// The operations that an operation has to see depend on the visible operations of others.
    Dependent,
}

/// A criterion: an order, and the visibility of each operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// Its name, if it is a preset.
    name: Option<&'static str>,
    /// The order that `lin` has to contain.
    pub order: Precedence,
    /// The visibility of operations, unless their action is in `actions`.
    pub visibility: Visibility,
    /// The visibility of operations of these actions.
    pub actions: BTreeMap<Arc<str>, Visibility>,
    /// Further demands.
    pub axioms: Vec<Axiom>,
}

/// The reason why a level is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LevelError {
    /// There is no such preset.
    #[error("there is no level `{given}`; {hint}")]
    Unknown {
        /// The name given.
        given: String,
        /// The closest name, or all names.
        hint: String,
    },
    /// There is no such visibility.
    #[error("there is no visibility `{given}`; the visibilities are: {known}")]
    Visibility {
        /// The name given.
        given: String,
        /// The names that exist.
        known: String,
    },
    /// There is no such order.
    #[error("there is no order `{0}`; the orders are: real-time, session, none")]
    Order(String),
    /// An axiom is invalid.
    #[error("the axiom `{text}` {error}")]
    Axiom {
        /// The axiom.
        text: String,
        /// The reason.
        error: AxiomError,
    },
    /// The order `none` does not order the operations of a process.
    #[error("`{0}` needs the operations of a process in their order, so `none` is not enough: use the order `session`")]
    NeedsSessions(String),
}

struct Preset {
    name: &'static str,
    meaning: &'static str,
    order: Precedence,
    visibility: Visibility,
    axioms: &'static [&'static str],
}

const fn preset(
    name: &'static str,
    order: Precedence,
    visibility: Visibility,
    axioms: &'static [&'static str],
    meaning: &'static str,
) -> Preset {
    Preset { name, meaning, order, visibility, axioms }
}

/// The presets. A later one is never stronger than an earlier one.
const PRESETS: &[Preset] = &[
    preset(
        "linearizable",
        Precedence::RealTime,
        Visibility::Complete,
        &[],
        "operations take effect one after another, each between its start and its end",
    ),
    preset(
        "hb-weak",
        Precedence::RealTime,
        Visibility::Overlap,
        &[],
        "every operation may miss operations that overlap it",
    ),
    preset(
        "causal-real-time",
        Precedence::RealTime,
        Visibility::Causal,
        &[],
        "causal, and one order of all operations respects real time",
    ),
    preset(
        "sequential",
        Precedence::Program,
        Visibility::Complete,
        &[],
        "operations take effect one after another, in the order of each process",
    ),
    preset(
        "consistent-prefix",
        Precedence::Program,
        Visibility::Prefix,
        &[],
        "every operation sees a prefix of one order of all operations",
    ),
    preset(
        "causal",
        Precedence::Program,
        Visibility::Causal,
        &[],
        "every operation sees its own process's operations and what the operations it sees have seen (causal convergence)",
    ),
    preset(
        "pram",
        Precedence::Program,
        Visibility::Peer,
        &[],
        "every operation sees its own process's operations, what these saw, and prefixes of other processes, in one order \
         for all (PRAM with convergence)",
    ),
    preset(
        "writes-follow-reads",
        Precedence::Program,
        Visibility::Weak,
        &["vis >= vis;po;[mutator];vis", "lin >= vis;po"],
        "an operation that sees a change sees what the process had seen before it made the change",
    ),
    preset(
        "monotonic-writes",
        Precedence::Program,
        Visibility::Weak,
        &["vis >= [mutator];po;[mutator];vis"],
        "an operation that sees a change sees the earlier changes of the same process",
    ),
    preset(
        "monotonic-reads",
        Precedence::Program,
        Visibility::Weak,
        &["vis >= vis;po"],
        "every operation sees what earlier operations of its process have seen",
    ),
    preset(
        "read-my-writes",
        Precedence::Program,
        Visibility::Session,
        &[],
        "every operation sees the earlier operations of its process",
    ),
    preset(
        "serializable",
        Precedence::None,
        Visibility::Complete,
        &[],
        "operations, which are transactions, take effect one after another in any order",
    ),
    preset(
        "eventual",
        Precedence::None,
        Visibility::Weak,
        &[],
        "every operation sees some operations (the safety part of eventual consistency)",
    ),
];

impl Level {
    /// Every operation sees everything before it, in real time.
    pub fn linearizable() -> Level {
        Level::strong(Precedence::RealTime)
    }

    /// Every operation sees everything before it, in this order.
    pub fn strong(order: Precedence) -> Level {
        Level::new(order, Visibility::Complete)
    }

    /// Every operation has this visibility.
    pub fn new(order: Precedence, visibility: Visibility) -> Level {
        let name = PRESETS
            .iter()
            .find(|preset| preset.order == order && preset.visibility == visibility && preset.axioms.is_empty());
        Level { name: name.map(|preset| preset.name), order, visibility, actions: BTreeMap::new(), axioms: Vec::new() }
    }

    /// The preset of this name.
    pub fn named(name: &str) -> Result<Level, LevelError> {
        let name = name.replace('_', "-");
        let unknown = || {
            let names = || PRESETS.iter().map(|preset| preset.name);
            let all = || format!("the levels are: {}", names().collect::<Vec<_>>().join(", "));
            LevelError::Unknown {
                given: name.clone(),
                hint: omnilink_suggest::hint(&name, names()).unwrap_or_else(all),
            }
        };
        let preset = PRESETS.iter().find(|preset| preset.name == name).ok_or_else(unknown)?;
        let axioms = preset.axioms.iter().map(|text| Axiom::parse(text)).collect::<Result<_, _>>();
        let axioms = axioms.expect("axioms of presets can be read");
        let Preset { order, visibility, .. } = *preset;
        Ok(Level { name: Some(preset.name), order, visibility, actions: BTreeMap::new(), axioms })
    }

    /// The names and meanings of the presets, strongest first.
    pub fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
        PRESETS.iter().map(|preset| (preset.name, preset.meaning))
    }

    /// How the level differs from one that is published under the same name.
    pub fn caveat(&self) -> Option<&'static str> {
        (self.name == Some("pram")).then_some(
            "`pram` has one order of all operations for all processes; PRAM as published has an order for each process, \
             so it may accept what this level rejects, and the reverse",
        )
    }

    /// The same with another order.
    pub fn with_order(self, order: Precedence) -> Level {
        let name = self.name.filter(|_| order == self.order);
        Level { order, name, ..self }
    }

    /// The same with another visibility for an action.
    pub fn with_action(mut self, action: &str, visibility: Visibility) -> Level {
        self.actions.insert(action.into(), visibility);
        self
    }

    /// The same with an axiom.
    pub fn with_axiom(mut self, text: &str) -> Result<Level, LevelError> {
        let axiom = Axiom::parse(text).map_err(|error| LevelError::Axiom { text: text.to_owned(), error })?;
        // Every relation of the grammar is inside `lin` if the order is, so this is all that such an axiom can demand.
        if axiom.side == Side::Lin && self.order == Precedence::None && axiom.relation.mentions(Atom::Po) {
            self.order = Precedence::Program;
        }
        self.name = None;
        self.axioms.push(axiom);
        Ok(self)
    }

    /// Checks the conditions on the whole level.
    pub fn validated(self) -> Result<Level, LevelError> {
        if self.order == Precedence::None {
            let all = self.actions.values().copied().chain([self.visibility]);
            let needs = |visibility: &Visibility| {
                !matches!(visibility, Visibility::Complete | Visibility::Overlap | Visibility::Weak)
            };
            if let Some(visibility) = all.into_iter().find(needs) {
                return Err(LevelError::NeedsSessions(visibility.name().to_owned()));
            }
            if let Some(axiom) = self.axioms.iter().find(|axiom| axiom.relation.mentions(Atom::Po)) {
                return Err(LevelError::NeedsSessions(axiom.to_string()));
            }
        }
        Ok(self)
    }

    /// The visibility of operations of an action.
    pub fn visibility_of(&self, action: &str) -> Visibility {
        self.actions.get(action).copied().unwrap_or(self.visibility)
    }

    /// The orders that count, if every operation sees everything before it.
    pub fn criterion(&self) -> Option<Criterion> {
        (self.class() == Class::Strong).then_some(Criterion { precedence: self.order })
    }

    /// The method of searching for an execution.
    pub fn class(&self) -> Class {
        let mut all = self.actions.values().copied().chain([self.visibility]);
        if all.clone().all(|visibility| visibility == Visibility::Complete) {
            return Class::Strong; // Axioms demand nothing more.
        }
        let has_axioms = self.axioms.iter().any(|axiom| axiom.side == Side::Vis);
        if has_axioms || all.any(Visibility::depends_on_others) { Class::Dependent } else { Class::Independent }
    }

    /// All relations that `vis` has to contain.
    pub(crate) fn demands(&self) -> Vec<Relation> {
        let mut demands: Vec<Relation> = Vec::new();
        let ends_in = |relation, filter| Relation::then(relation, Relation::Filter(filter));
        for relation in self.visibility.relations() {
            let others = Filter::Except(self.actions.keys().cloned().collect());
            demands.push(if self.actions.is_empty() { relation } else { ends_in(relation, others) });
        }
        for (action, visibility) in &self.actions {
            let filter = || Filter::Actions(vec![action.clone()]);
            demands.extend(visibility.relations().into_iter().map(|relation| ends_in(relation, filter())));
        }
        let axioms = self.axioms.iter().filter(|axiom| axiom.side == Side::Vis);
        demands.extend(axioms.map(|axiom| axiom.relation.clone()));
        demands
    }

    /// True if every execution of this level is one of `weaker`. If false, that may still be so.
    pub fn implies(&self, weaker: &Level) -> bool {
        let rank = |order| match order {
            Precedence::RealTime => 2,
            Precedence::Program => 1,
            Precedence::None => 0,
        };
        let relaxed = |level: &Level, action: &str| match (level.visibility_of(action), weaker.order) {
            // Without real time, the order puts fewer operations before an operation.
            (Visibility::Overlap, Precedence::Program) => Visibility::Session,
            (Visibility::Overlap, Precedence::None) => Visibility::Weak,
            (visibility, _) => visibility,
        };
        let actions = self.actions.keys().chain(weaker.actions.keys()).map(|action| &**action).chain([""]);
        let mut all = actions.map(|action| (relaxed(self, action), relaxed(weaker, action)));
        let covers = |axiom: &Axiom| {
            axiom.side == Side::Lin
                || self.axioms.contains(axiom)
                || (self.actions.is_empty() && axiom.is_implied_by(self.visibility))
        };
        rank(self.order) >= rank(weaker.order)
            && all.all(|(strong, weak)| strong.implies(weak))
            && weaker.axioms.iter().all(covers)
    }
}

impl Default for Level {
    fn default() -> Level {
        Level::linearizable()
    }
}

impl Display for Level {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.write_str(name)?,
            None => {
                write!(f, "order {}, {}", order_name(self.order), self.visibility)?;
                for axiom in &self.axioms {
                    write!(f, ", {axiom}")?;
                }
            }
        }
        for (action, visibility) in &self.actions {
            write!(f, ", {action}={visibility}")?;
        }
        Ok(())
    }
}

/// Reads the displayed form of a [`Level`]: the name of a preset, or an order and a visibility; then visibilities of
/// actions, and axioms. `linearizable, size=overlap`; `order session, weak, vis >= vis;po`.
impl FromStr for Level {
    type Err = LevelError;

    fn from_str(text: &str) -> Result<Level, LevelError> {
        let parts = parts(text);
        let mut parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty()).peekable();
        let first = parts.next().unwrap_or_default();
        let mut level = match first.strip_prefix("order ") {
            Some(order) => Level::new(order_named(order.trim())?, Visibility::Complete),
            None => Level::named(first)?,
        };
        for part in parts {
            level = match part.split_once('=') {
                Some(_) if part.contains(">=") || part.contains('⊇') => level.with_axiom(part)?,
                Some((action, visibility)) => level.with_action(action.trim(), visibility.trim().parse()?),
                None => Level { visibility: part.parse()?, ..level },
            };
        }
        if level.axioms.is_empty() && first.starts_with("order ") {
            level.name = Level::new(level.order, level.visibility).name;
        }
        level.validated()
    }
}

/// The parts between commas that are not in brackets.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_inside = false;
    for c in text.chars() {
        is_inside = (is_inside || c == '[') && c != ']';
        match parts.last_mut() {
            Some(last) if c != ',' || is_inside => last.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// The name of an order.
pub fn order_name(order: Precedence) -> &'static str {
    match order {
        Precedence::RealTime => "real-time",
        Precedence::Program => "session",
        Precedence::None => "none",
    }
}

/// The order of this name.
pub fn order_named(name: &str) -> Result<Precedence, LevelError> {
    match name {
        "real-time" => Ok(Precedence::RealTime),
        "session" | "program" => Ok(Precedence::Program),
        "none" => Ok(Precedence::None),
        _ => Err(LevelError::Order(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_keep_their_names() {
        for (name, meaning) in Level::presets() {
            let level = Level::named(name).unwrap().validated().unwrap();
            assert_eq!(level.to_string(), name);
            assert!(!meaning.is_empty());
        }
        assert_eq!(Level::linearizable().to_string(), "linearizable");
        assert_eq!(Level::strong(Precedence::None).to_string(), "serializable");
        let level = Level::linearizable().with_action("size", Visibility::Overlap);
        assert_eq!(level.to_string(), "linearizable, size=overlap");
        assert_eq!((level.class(), level.criterion()), (Class::Independent, None));
    }

    #[test]
    fn levels_are_read_as_they_are_shown() {
        let shown = [
            "linearizable, clear=weak, size=overlap",
            "order real-time, session",
            "order session, weak, vis >= vis;po, get=complete",
            "order session, weak, vis >= [put, remove];po;vis",
            "causal",
        ];
        for text in shown {
            let level: Level = text.parse().unwrap();
            assert_eq!(level.to_string(), text);
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        assert_eq!("order none, weak".parse(), Level::named("eventual"));
        assert_eq!(
            "linearizable, size".parse::<Level>().unwrap_err().to_string().find("no visibility `size`"),
            Some(9)
        );
        assert!("linearizable, size=over".parse::<Level>().is_err());
        assert!("order sesion, weak".parse::<Level>().is_err());
    }

    #[test]
    fn a_later_preset_is_never_stronger() {
        let levels: Vec<Level> = Level::presets().map(|(name, _)| Level::named(name).unwrap()).collect();
        for (place, level) in levels.iter().enumerate() {
            assert!(levels[0].implies(level), "{level}");
            assert!(levels[place + 1..].iter().all(|later| !later.implies(level)), "{level}");
        }
    }

    #[test]
    fn sessions_need_an_order() {
        let weak = Level::new(Precedence::None, Visibility::Session).validated();
        insta::assert_snapshot!(
            weak.unwrap_err(),
            @"`session` needs the operations of a process in their order, so `none` is not enough: use the order `session`"
        );
        let level = Level::named("eventual").unwrap().with_axiom("lin >= po").unwrap();
        assert_eq!(level.order, Precedence::Program);
        let unknown = |name: &str| Level::named(name).unwrap_err().to_string();
        assert_eq!(unknown("causul"), "there is no level `causul`; did you mean `causal`?");
        assert_eq!(unknown("linearisable"), "there is no level `linearisable`; did you mean `linearizable`?");
        assert!(unknown("snapshot").starts_with("there is no level `snapshot`; the levels are: linearizable,"));
    }

    #[test]
    fn another_order_is_another_level() {
        let eventual = || Level::named("eventual").unwrap();
        assert_eq!(eventual().with_order(Precedence::None).to_string(), "eventual");
        assert_eq!(eventual().with_order(Precedence::RealTime).to_string(), "order real-time, weak");
        assert!(Level::named("pram").unwrap().caveat().is_some() && eventual().caveat().is_none());
    }

    #[test]
    fn a_level_without_sessions_demands_nothing_of_them() {
        let is_valid = |text: &str| text.parse::<Level>().is_ok();
        for text in ["order none, overlap", "order none, complete, get=weak", "order none, weak, vis >= vis;vis"] {
            assert!(is_valid(text), "{text}");
        }
        for visibility in ["prefix", "causal", "peer", "monotonic", "session"] {
            assert!(!is_valid(&format!("order none, {visibility}")), "{visibility}");
            assert!(!is_valid(&format!("order none, weak, get={visibility}")), "{visibility}");
            assert!(is_valid(&format!("order session, {visibility}")), "{visibility}");
        }
        assert!(!is_valid("order none, weak, vis >= vis;po"));
        // This axiom is about the order, which becomes one of sessions.
        assert_eq!(
            "order none, weak, lin >= vis;po".parse::<Level>().map(|level| level.order),
            Ok(Precedence::Program)
        );
    }

    #[test]
    fn the_class_follows_from_all_actions_and_axioms() {
        let class = |text: &str| text.parse::<Level>().unwrap().class();
        for text in
            ["linearizable", "serializable", "order session, complete, vis >= vis;po", "linearizable, get=complete"]
        {
            assert_eq!(class(text), Class::Strong, "{text}");
        }
        for text in ["hb-weak", "read-my-writes", "eventual", "linearizable, get=weak", "hb-weak, get=complete"] {
            assert_eq!(class(text), Class::Independent, "{text}");
        }
        assert_eq!(class("order session, weak, lin >= po"), Class::Independent);
        for text in ["causal", "pram", "consistent-prefix", "monotonic-reads", "linearizable, get=monotonic"] {
            assert_eq!(class(text), Class::Dependent, "{text}");
        }
    }

    #[test]
    fn weaker_presets_are_implied() {
        let presets: Vec<Level> = Level::presets().map(|(name, _)| Level::named(name).unwrap()).collect();
        let implied = |level: &Level| {
            let weaker = presets.iter().filter(|weaker| *weaker != level && level.implies(weaker));
            weaker.map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let table = presets.iter().skip(1).map(|level| format!("{level}: {}\n", implied(level)));
        insta::assert_snapshot!(table.collect::<String>(), @"
        hb-weak: read-my-writes eventual
        causal-real-time: causal pram writes-follow-reads monotonic-writes monotonic-reads read-my-writes eventual
        sequential: consistent-prefix causal pram writes-follow-reads monotonic-writes monotonic-reads read-my-writes serializable eventual
        consistent-prefix: writes-follow-reads monotonic-writes eventual
        causal: pram writes-follow-reads monotonic-writes monotonic-reads read-my-writes eventual
        pram: monotonic-writes monotonic-reads read-my-writes eventual
        writes-follow-reads: eventual
        monotonic-writes: eventual
        monotonic-reads: eventual
        read-my-writes: eventual
        serializable: eventual
        eventual:
        ");
    }
}
