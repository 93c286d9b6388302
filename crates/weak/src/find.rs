//! Finds the strongest levels that explain a history, or every one of several.
//!
//! The levels form a lattice, and an execution of a level is one of every weaker level. So a level need not be asked
//! about if a stronger one accepts, and a set of histories is rejected by the first that is; histories that rejected a
//! level before are asked first.
//!
//! For the actions, the walk starts at linearizability. Whenever a history is rejected, the actions of the operations
//! that fit nowhere are let miss anything, until it is accepted; at the end each of these is made as strong as all
//! histories permit. The result cannot be strengthened for any one action. There may be others like it: if two actions
//! disagree, either may be the one that misses something.

use std::sync::Arc;

use history::Precedence;

use crate::level::{Level, Visibility};

/// The answer to whether a level explains a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does.
    Accepted,
    /// It does not.
    Rejected {
        /// The actions of the operations that fit nowhere.
        blamed: Vec<Arc<str>>,
    },
    /// A limit was reached.
    Undecided,
}

/// The strongest levels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The presets that explain every history, without those that a stronger one implies.
    pub presets: Vec<Level>,
    /// The strongest visibility of each action, in real time. `None` if some history has no explanation even if every
    /// operation may miss anything, or if this was not decided.
    pub by_action: Option<Level>,
    /// The levels about which nothing is known, because a limit was reached.
    pub undecided: Vec<Level>,
    /// The number of checks.
    pub checks: u64,
}

/// The visibilities that the walk tries for an action by default, strongest first: those at which what an operation has
/// to see depends on the order alone.
pub const INDEPENDENT: [Visibility; 4] =
    [Visibility::Complete, Visibility::Overlap, Visibility::Session, Visibility::Weak];

struct Walk<A> {
    ask: A,
    /// The histories, those first that rejected something before.
    histories: Vec<usize>,
    checks: u64,
}

/// The answer of all histories.
enum All {
    Accepted,
    Rejected(usize, Vec<Arc<str>>),
    Undecided,
}

impl<A> Walk<A> {
    /// Asks all histories, and stops at the first that is not accepted. One that is hard to decide is seldom alone.
    fn all<E>(&mut self, level: &Level) -> Result<All, E>
    where
        A: FnMut(usize, &Level) -> Result<Answer, E>,
    {
        for place in 0..self.histories.len() {
            let history = self.histories[place];
            self.checks += 1;
            match (self.ask)(history, level)? {
                Answer::Accepted => {}
                Answer::Undecided => return Ok(All::Undecided),
                Answer::Rejected { blamed } => {
                    self.histories[..=place].rotate_right(1);
                    return Ok(All::Rejected(history, blamed));
                }
            }
        }
        Ok(All::Accepted)
    }

    fn one<E>(&mut self, history: usize, level: &Level) -> Result<Answer, E>
    where
        A: FnMut(usize, &Level) -> Result<Answer, E>,
    {
        self.checks += 1;
        (self.ask)(history, level)
    }
}

/// Finds the strongest levels. `ask` checks one history, by its number, at a level.
pub fn find<E>(
    histories: usize,
    actions: &[Arc<str>],
    visibilities: &[Visibility],
    ask: impl FnMut(usize, &Level) -> Result<Answer, E>,
) -> Result<Found, E> {
    let mut walk = Walk { ask, histories: (0..histories).collect(), checks: 0 };
    let mut found = Found::default();
    let presets = Level::presets().map(|(name, _)| Level::named(name).expect("a preset has its name"));
    for level in presets {
        if found.presets.iter().any(|stronger| stronger.implies(&level)) {
            continue;
        }
        match walk.all(&level)? {
            All::Accepted => found.presets.push(level),
            All::Rejected(..) => {}
            All::Undecided => found.undecided.push(level),
        }
    }
    found.by_action = by_action(&mut walk, actions, visibilities)?;
    found.checks = walk.checks;
    Ok(found)
}

/// Finds the strongest visibility of each action alone, with the number of checks; see [`Found::by_action`].
pub fn find_by_action<E>(
    histories: usize,
    actions: &[Arc<str>],
    visibilities: &[Visibility],
    ask: impl FnMut(usize, &Level) -> Result<Answer, E>,
) -> Result<(Option<Level>, u64), E> {
    let mut walk = Walk { ask, histories: (0..histories).collect(), checks: 0 };
    let level = by_action(&mut walk, actions, visibilities)?;
    Ok((level, walk.checks))
}

fn by_action<E, A: FnMut(usize, &Level) -> Result<Answer, E>>(
    walk: &mut Walk<A>,
    actions: &[Arc<str>],
    visibilities: &[Visibility],
) -> Result<Option<Level>, E> {
    let mut level = Level::new(Precedence::RealTime, Visibility::Complete);
    let weakest = visibilities.last().copied().unwrap_or(Visibility::Weak);
    loop {
        let (history, mut blamed) = match walk.all(&level)? {
            All::Accepted => break,
            All::Undecided => return Ok(None),
            All::Rejected(history, blamed) => (history, blamed),
        };
        loop {
            let mut is_weaker = false;
            for action in blamed.iter().filter(|action| actions.contains(action)) {
                if !level.actions.contains_key(action) {
                    level = level.with_action(action, weakest);
                    is_weaker = true;
                }
            }
            if !is_weaker {
                // The culprit is an action whose operations fit: let all miss anything, and see below which need not.
                let all = actions.iter().filter(|action| !level.actions.contains_key(*action)).cloned();
                let others: Vec<Arc<str>> = all.collect();
                if others.is_empty() {
                    return Ok(None);
                }
                for action in others {
                    level = level.with_action(&action, weakest);
                }
            }
            match walk.one(history, &level)? {
                Answer::Accepted => break,
                Answer::Undecided => return Ok(None),
                Answer::Rejected { blamed: more } => blamed = more,
            }
        }
    }
    let weakened: Vec<Arc<str>> = level.actions.keys().cloned().collect();
    for action in weakened {
        for &visibility in visibilities {
            if visibility == weakest {
                break;
            }
            let mut stronger = level.clone();
            match visibility {
                Visibility::Complete => drop(stronger.actions.remove(&action)),
                _ => stronger = stronger.with_action(&action, visibility),
            }
            if let All::Accepted = walk.all(&stronger)? {
                level = stronger;
                break;
            }
        }
    }
    Ok(Some(level))
}

impl Level {
    /// What it demands, in words: "linearizable except `size`, which may miss operations that overlap it".
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
