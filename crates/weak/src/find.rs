//! Finds the strongest levels that explain a history, or every one of several.
//!
//! The levels form a lattice, and an execution of a level is one of every weaker level. So the search need not ask about a
//! level if a stronger one is accepted, or a weaker one rejected. The first rejected history rejects a set of histories;
//! the search asks histories that rejected a level before first.
//!
//! For the actions, the walk starts at linearizability. Whenever a history is rejected, the walk lets the actions of the
//! operations that no order places miss anything, until the history is accepted; at the end it makes each of these as
//! strong as all histories permit. The result cannot be strengthened for any one action. There may be others like it: if
//! two actions disagree, either may be the one that misses something.

use std::sync::Arc;

use crate::level::{Class, Level};
use crate::visibility::Visibility;

/// Whether a level explains a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does.
    Accepted,
    /// It does not.
    Rejected {
        /// The actions of the operations that no order places.
        blamed: Vec<Arc<str>>,
    },
    /// A limit was reached.
    Undecided,
}

/// The effort of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Little: the answer about another level may make this one superfluous.
    Short,
    /// More, because only this level answers; but there are other levels.
    Long,
    /// As much as the limits permit.
    Full,
}

/// The strongest levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The presets that explain every history, without those that a stronger one implies.
    pub presets: Vec<Level>,
    /// The presets that were not decided, because a limit was reached.
    pub undecided: Vec<Level>,
    /// The strongest visibility of each action, in real time.
    pub by_action: ByAction,
    /// The number of checks.
    pub checks: u64,
}

/// The strongest visibility of each action, in real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByAction {
    /// This one explains every history.
    Strongest {
        /// The level.
        level: Level,
        /// Stronger levels that were not decided, because a limit was reached.
        undecided: Vec<Level>,
    },
    /// Some history has no explanation even if every operation may miss anything.
    None,
    /// A limit was reached.
    Undecided,
}

impl ByAction {
    /// The level, if there is one.
    pub fn level(&self) -> Option<&Level> {
        match self {
            ByAction::Strongest { level, .. } => Some(level),
            ByAction::None | ByAction::Undecided => None,
        }
    }
}

struct Walk<A> {
    ask: A,
    /// The histories; those that rejected a level before come first.
    histories: Vec<usize>,
    /// Levels at which all histories are accepted, and levels at which one is rejected.
    accepted: Vec<Level>,
    rejected: Vec<Level>,
    checks: u64,
}

/// The answer of all histories.
enum All {
    Accepted,
    Rejected(usize, Vec<Arc<str>>),
    Undecided,
}

impl<A> Walk<A> {
    fn new(histories: usize, ask: A) -> Walk<A> {
        Walk { ask, histories: (0..histories).collect(), accepted: Vec::new(), rejected: Vec::new(), checks: 0 }
    }

    /// Asks all histories, and stops at the first that is not accepted. A history that is hard to decide is seldom the only
    /// one.
    fn all<E>(&mut self, level: &Level, effort: Effort) -> Result<All, E>
    where
        A: FnMut(usize, &Level, Effort) -> Result<Answer, E>,
    {
        for place in 0..self.histories.len() {
            let history = self.histories[place];
            match self.one(history, level, effort)? {
                Answer::Accepted => {}
                Answer::Undecided => return Ok(All::Undecided),
                Answer::Rejected { blamed } => {
                    self.histories[..=place].rotate_right(1);
                    return Ok(All::Rejected(history, blamed));
                }
            }
        }
        self.accepted.push(level.clone());
        Ok(All::Accepted)
    }

    fn one<E>(&mut self, history: usize, level: &Level, effort: Effort) -> Result<Answer, E>
    where
        A: FnMut(usize, &Level, Effort) -> Result<Answer, E>,
    {
        self.checks += 1;
        let answer = (self.ask)(history, level, effort)?;
        if matches!(answer, Answer::Rejected { .. }) {
            self.rejected.push(level.clone());
        }
        Ok(answer)
    }

    /// Whether all histories are accepted, if the answers so far decide it.
    fn known(&self, level: &Level) -> Option<bool> {
        if self.accepted.iter().any(|stronger| stronger.implies(level)) {
            return Some(true);
        }
        self.rejected.iter().any(|weaker| level.implies(weaker)).then_some(false)
    }

    /// Whether all histories are accepted.
    fn accepts<E>(&mut self, level: &Level, effort: Effort) -> Result<Option<bool>, E>
    where
        A: FnMut(usize, &Level, Effort) -> Result<Answer, E>,
    {
        if let Some(known) = self.known(level) {
            return Ok(Some(known));
        }
        Ok(match self.all(level, effort)? {
            All::Accepted => Some(true),
            All::Rejected(..) => Some(false),
            All::Undecided => None,
        })
    }
}

/// Finds the strongest levels. `ask` checks one history, by its number, at a level. The answer by action comes first,
/// because it takes the least time, and `tell` gets it at once.
pub fn find<E>(
    histories: usize,
    actions: &[Arc<str>],
    ask: impl FnMut(usize, &Level, Effort) -> Result<Answer, E>,
    tell: impl FnOnce(&ByAction),
) -> Result<Found, E> {
    let mut walk = Walk::new(histories, ask);
    let by_action = by_action(&mut walk, actions)?;
    tell(&by_action);
    let all: Vec<Level> =
        Level::presets().map(|(name, _)| Level::named(name).expect("a preset has its name")).collect();
    for effort in [Effort::Short, Effort::Long] {
        for level in &all {
            walk.accepts(level, effort)?;
        }
    }
    let known = |wanted| all.iter().filter(|level| walk.known(level) == wanted).cloned().collect::<Vec<Level>>();
    let (accepted, undecided) = (known(Some(true)), known(None));
    let is_strongest = |level: &&Level| !accepted.iter().any(|other| other != *level && other.implies(level));
    let presets = accepted.iter().filter(is_strongest).cloned().collect();
    Ok(Found { presets, undecided, by_action, checks: walk.checks })
}

/// Finds the strongest visibility of each action alone, and counts the checks.
pub fn find_by_action<E>(
    histories: usize,
    actions: &[Arc<str>],
    ask: impl FnMut(usize, &Level, Effort) -> Result<Answer, E>,
) -> Result<(ByAction, u64), E> {
    let mut walk = Walk::new(histories, ask);
    let found = by_action(&mut walk, actions)?;
    Ok((found, walk.checks))
}

fn by_action<E, A: FnMut(usize, &Level, Effort) -> Result<Answer, E>>(
    walk: &mut Walk<A>,
    actions: &[Arc<str>],
) -> Result<ByAction, E> {
    let mut level = Level::linearizable();
    loop {
        let (history, mut blamed) = match walk.all(&level, Effort::Full)? {
            All::Accepted => break,
            All::Undecided => return Ok(ByAction::Undecided),
            All::Rejected(history, blamed) => (history, blamed),
        };
        loop {
            let mut is_weaker = false;
            for action in blamed.iter().filter(|action| actions.contains(action)) {
                if !level.actions.contains_key(action) {
                    level = level.with_action(action, Visibility::Weak);
                    is_weaker = true;
                }
            }
            if !is_weaker {
                // The culprit is an action whose operations fit: let all miss anything, and find below which need not.
                let all = actions.iter().filter(|action| !level.actions.contains_key(*action)).cloned();
                let others: Vec<Arc<str>> = all.collect();
                if others.is_empty() {
                    return Ok(ByAction::None);
                }
                for action in others {
                    level = level.with_action(&action, Visibility::Weak);
                }
            }
            match walk.one(history, &level, Effort::Full)? {
                Answer::Accepted => break,
                Answer::Undecided => return Ok(ByAction::Undecided),
                Answer::Rejected { blamed: more } => blamed = more,
            }
        }
    }
    let weakened: Vec<Arc<str>> = level.actions.keys().cloned().collect();
    let mut undecided = Vec::new();
    for action in weakened {
        level = strengthened(walk, level, &action, &mut undecided)?;
    }
    // A level that was undecided for one action may since be known from another, or be no stronger than the result.
    undecided.retain(|stronger: &Level| walk.known(stronger).is_none() && stronger.implies(&level));
    Ok(ByAction::Strongest { level, undecided })
}

/// The level with the strongest visibility of an action that all histories permit. Adds the stronger undecided ones.
fn strengthened<E, A: FnMut(usize, &Level, Effort) -> Result<Answer, E>>(
    walk: &mut Walk<A>,
    level: Level,
    action: &Arc<str>,
    undecided: &mut Vec<Level>,
) -> Result<Level, E> {
    let mut best = level;
    let with = |level: &Level, visibility| {
        let mut level = level.clone();
        level.actions.remove(action);
        if visibility == Visibility::Complete { level } else { level.with_action(action, visibility) }
    };
    // Visibilities that are decided fast come first: a weaker one that is rejected rejects others.
    let mut visibilities = Visibility::ALL.to_vec();
    visibilities.sort_by_key(|&visibility| with(&best, visibility).class() == Class::Dependent);
    for visibility in visibilities {
        let stronger = with(&best, visibility);
        if best.implies(&stronger) || !stronger.implies(&best) {
            continue;
        }
        let effort = if stronger.class() == Class::Dependent { Effort::Long } else { Effort::Full };
        match walk.accepts(&stronger, effort)? {
            Some(true) => best = stronger,
            Some(false) => {}
            None => undecided.push(stronger),
        }
    }
    Ok(best)
}

impl Level {
    /// Describes the demands of the level: "linearizable except `size`, which may miss operations that overlap it".
    pub fn in_words(&self) -> String {
        let mut plain = self.clone();
        plain.actions.clear();
        let exception =
            |(action, visibility): (&Arc<str>, &Visibility)| format!("`{action}`, which {}", visibility.meaning());
        match self.actions.len() {
            0 => plain.to_string(),
            _ => format!("{plain} except {}", self.actions.iter().map(exception).collect::<Vec<_>>().join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    /// The answers of a history of which this is the only strongest level.
    fn strongest(level: &Level, blamed: &str) -> impl Fn(&Level) -> Answer {
        move |asked| match level.implies(asked) {
            true => Answer::Accepted,
            false => Answer::Rejected { blamed: vec![blamed.into()] },
        }
    }

    fn names(levels: &[Level]) -> Vec<String> {
        levels.iter().map(ToString::to_string).collect()
    }

    /// The result for the actions `put` and `size` of one history, and the levels that the search asks about.
    fn by_action(answer: impl Fn(&Level) -> Answer) -> (ByAction, Vec<(String, Effort)>) {
        let mut asked = Vec::new();
        let ask = |_, level: &Level, effort| {
            asked.push((level.to_string(), effort));
            Ok::<_, Infallible>(answer(level))
        };
        let Ok((found, checks)) = find_by_action(1, &["put".into(), "size".into()], ask);
        assert_eq!(checks, asked.len() as u64);
        (found, asked)
    }

    fn size(visibility: Visibility) -> Level {
        Level::linearizable().with_action("size", visibility)
    }

    #[test]
    fn only_what_is_not_known_is_asked() {
        let level = size(Visibility::Overlap);
        let (found, asked) = by_action(strongest(&level, "size"));
        assert_eq!(found, ByAction::Strongest { level, undecided: Vec::new() });
        assert_eq!(found.level(), Some(&size(Visibility::Overlap)));
        let asked: Vec<&str> = asked.iter().map(|(level, _)| &**level).collect();
        let weak = "linearizable, size=weak";
        // With the rejecting history, and then with all of them.
        assert_eq!(asked, ["linearizable", weak, weak, "linearizable, size=overlap"]);
    }

    #[test]
    fn an_action_that_is_not_blamed_may_be_the_culprit() {
        for blamed in ["put", "another"] {
            let level = size(Visibility::Causal);
            let (found, _) = by_action(strongest(&level, blamed));
            assert_eq!(found, ByAction::Strongest { level, undecided: Vec::new() }, "{blamed}");
        }
    }

    #[test]
    fn there_may_be_no_level() {
        let (found, asked) = by_action(|_| Answer::Rejected { blamed: vec!["put".into()] });
        assert_eq!((found.level(), &found), (None, &ByAction::None));
        let asked: Vec<&str> = asked.iter().map(|(level, _)| &**level).collect();
        assert_eq!(asked, ["linearizable", "linearizable, put=weak", "linearizable, put=weak, size=weak"]);
    }

    #[test]
    fn levels_that_are_undecided_are_stronger_than_the_one_that_is_found() {
        let check = |known: &[(Visibility, Answer)]| {
            let answer = |level: &Level| match level.actions.get("size") {
                None => Answer::Rejected { blamed: vec!["size".into()] },
                Some(Visibility::Weak) => Answer::Accepted,
                Some(visibility) => {
                    let known = known.iter().find(|(known, _)| known == visibility);
                    known.map_or(Answer::Undecided, |(_, answer)| answer.clone())
                }
            };
            let (found, asked) = by_action(answer);
            let ByAction::Strongest { level, undecided } = found else { panic!("a level") };
            // Searches in which operations depend on each other take longer, and may not be needed.
            for (level, effort) in asked {
                let is_dependent = level.parse::<Level>().unwrap().class() == Class::Dependent;
                assert_eq!(effort, if is_dependent { Effort::Long } else { Effort::Full }, "{level}");
            }
            let undecided: Vec<&str> = undecided.iter().map(|level| level.visibility_of("size").name()).collect();
            format!("{}; undecided: {undecided:?}", level.visibility_of("size"))
        };
        insta::assert_snapshot!(check(&[]), @r#"weak; undecided: ["overlap", "session", "prefix", "causal", "peer", "monotonic"]"#);
        let rejected = || Answer::Rejected { blamed: Vec::new() };
        // A level at least as strong as an accepted one stays undecided.
        insta::assert_snapshot!(check(&[(Visibility::Session, Answer::Accepted)]), @r#"session; undecided: ["overlap", "causal", "peer", "monotonic"]"#);
        // A level at least as strong as a rejected one is rejected.
        insta::assert_snapshot!(check(&[(Visibility::Session, rejected())]), @r#"weak; undecided: ["prefix"]"#);
        insta::assert_snapshot!(check(&[(Visibility::Peer, Answer::Accepted), (Visibility::Causal, rejected())]), @"peer; undecided: []");
    }

    #[test]
    fn a_history_that_rejected_is_asked_first() {
        let level = size(Visibility::Overlap);
        let answer = strongest(&level, "size");
        let mut asked = Vec::new();
        let ask = |history: usize, level: &Level, _| {
            asked.push(history);
            Ok::<_, Infallible>(if history == 2 { answer(level) } else { Answer::Accepted })
        };
        let Ok((found, _)) = find_by_action(3, &["size".into()], ask);
        assert_eq!(found.level(), Some(&level));
        assert_eq!(asked, [0, 1, 2, 2, 2, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn presets_are_asked_twice_if_a_limit_was_reached() {
        let check = |answer: &dyn Fn(&Level) -> Answer| {
            let (mut asked, mut told) = (Vec::new(), None);
            let ask = |_, level: &Level, effort| {
                asked.push((level.to_string(), effort));
                Ok::<_, Infallible>(answer(level))
            };
            let Ok(found) = find(1, &["put".into()], ask, |by_action| told = Some(by_action.clone()));
            assert_eq!((told, found.checks), (Some(found.by_action.clone()), asked.len() as u64));
            (found, asked)
        };
        let presets: Vec<String> = Level::presets().map(|(name, _)| name.to_owned()).collect();
        // Everything follows from the strongest one.
        let (found, asked) = check(&|_| Answer::Accepted);
        assert_eq!((names(&found.presets), asked.len()), (vec!["linearizable".to_owned()], 1));
        assert!(found.undecided.is_empty());
        let (found, asked) = check(&|_| Answer::Undecided);
        assert_eq!((found.by_action, found.presets), (ByAction::Undecided, Vec::new()));
        assert_eq!(names(&found.undecided), presets);
        let of =
            |effort| asked.iter().filter(|(_, of)| *of == effort).map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (of(Effort::Full), of(Effort::Short), of(Effort::Long)),
            (vec![presets[0].clone()], presets.clone(), presets)
        );
        // Implied presets are not among the strongest.
        let causal = Level::named("causal").unwrap();
        let (found, asked) = check(&strongest(&causal, "put"));
        assert_eq!((&found.by_action, found.presets, found.undecided), (&ByAction::None, vec![causal], Vec::new()));
        assert!(asked.iter().all(|(_, effort)| *effort != Effort::Long), "{asked:?}");
    }

    #[test]
    fn exceptions_are_said_in_words() {
        let sentence = "linearizable except `size`, which may miss operations that overlap it";
        assert_eq!(size(Visibility::Overlap).in_words(), sentence);
        assert_eq!(Level::named("causal").unwrap().in_words(), "causal");
        let both = size(Visibility::Weak).with_action("put", Visibility::Session).in_words();
        let sentence = "linearizable except `put`, which sees at least its own process's operations; `size`, which may miss anything";
        assert_eq!(both, sentence);
    }
}
