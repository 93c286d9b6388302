//! Causal levels of registers, without search.
//!
//! The problem: a history has reads and writes of many keys. Is there a total order `lin` of its operations and a
//! relation `vis` inside `lin`, both as the level asks, so that each read returns the value of the last write of its
//! key, in `lin`, among the operations that it sees, or the initial value if it sees none? A level is a set of
//! [`Axioms`] and an order. In the following `po` is the order of operations within their sessions, `rf` relates
//! each write to the reads of its value, and `[W]` keeps writes only.
//!
//! The idea: if each value is written at most once per key, `rf` is known, and `vis` contains it. The axioms derive
//! visible operations from visible operations and from `po`, and never from `lin`, so there is a *least* `vis` that
//! contains `rf` and is closed under them. No other choice is better. Take any `lin` and `vis` that explain the
//! history, and replace `vis` by the least one, which is a part of it. It is inside `lin`, since `vis` was; an axiom on
//! `lin` asks for less than before; a read of a write still sees this write, and sees no other write of its key that it
//! did not see before, all of which were earlier in `lin`; a read of the initial value still sees no write of its key.
//!
//! So the history is consistent exactly if a read of an initial value sees no write of its key in the least `vis`, and
//! this graph has no cycle: the order, `vis`, the axioms on `lin`, and for each read of a write `w` an edge to `w` from
//! each other write of the key that the read sees. Any topological order is then a `lin`.
//!
//! Each pair of the least `vis` is a path of `po` and `rf` steps. As `po` is transitive and `rf` leads from a write to
//! a read, a path alternates between them, and a level is a pattern of paths (`P` is `po`, `R` is `rf`):
//!
//! | level               | paths            | writes that a read `r` of `w` sees                                    |
//! |---------------------|------------------|-----------------------------------------------------------------------|
//! | weak                | `R`              | `w`                                                                   |
//! | read my writes      | `P`, `R`         | and those before `r` in its session                                   |
//! | monotonic reads     | `R P?`           | and those whose values its session read before                        |
//! | monotonic writes    | `([W] P [W])? R` | and those before `w` in its session                                   |
//! | writes follow reads | `(R P)* R`       | and those whose values were read in the causal past of `w`            |
//! | PRAM                | `P`, `P? R P?`   | those before `r`, or before a value that its session read, until `r`  |
//! | causal              | `(P or R)+`      | all in its causal past                                                |
//!
//! Sets that are closed under `po` are vector clocks. The edges from visible writes of one session to `w` are needed for
//! the last of them only, if `lin` contains `po`. Otherwise chains of auxiliary nodes stand for sets that only grow. For
//! writes follow reads, `vis;po` in `lin` is enough: along a path `R P ... R P` to `w` each `R P` is an edge, so all writes
//! that a read of `w` sees besides `w` are before `w` anyway. For the same reason, if `lin` contains `po`, the verdicts of
//! weak, monotonic writes and writes follow reads are equal.
//!
//! So the graph has a linear number of nodes and edges, or for PRAM and causal one edge for each read and session. The
//! cost is `O(n k)` for `n` operations in `k` sessions, and `O(n log n)` more in real time. For transactions of one
//! operation this is the bound of AWDIT (Møldrup and Pavlogiannis, *AWDIT: An Optimal Weak Database Isolation Tester*,
//! PLDI 2025). Clocks are kept only for writes that can still be read. The causal level is CCv of Bouajjani,
//! Enea, Guerraoui and Hamza (*On verifying causal consistency*, POPL 2017).
//!
//! An unfinished write counts only if some read returned its value: it need not have taken effect, it is the last
//! operation of its session, and more operations only add edges. Unfinished reads do not count.

mod accesses;
mod clocks;
mod explain;
mod graph;
mod sessions;

use omnilink_history::{History, OpId, Precedence};

use crate::registers::accesses::Accesses;
use crate::registers::clocks::Past;
use crate::registers::explain::Names;
use crate::registers::graph::Graph;
use crate::visibility::Visibility;

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Returns the value.
    Read,
    /// Replaces the value.
    Write,
}

/// An operation on one register. Failed operations must be left out of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Touch {
    /// The register.
    pub key: u32,
    /// The value read or written, as a number. Irrelevant for an unfinished read.
    pub value: u64,
    /// The direction.
    pub access: Access,
}

/// Further demands on `vis` and `lin`: always, `vis` is inside `lin`, and reads return the values that they see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Axioms {
    /// `vis` contains `po`: an operation sees those before it in its session.
    pub po: bool,
    /// `vis` contains `vis;po`: it sees the visible operations of operations before it in its session.
    pub vis_po: bool,
    /// `vis` contains `po;vis`: with an operation, it sees those before that one in its session.
    pub po_vis: bool,
    /// `vis` contains `[W];po;[W];vis`: with a write, it sees the writes before that one in its session.
    pub write_po_write_vis: bool,
    /// `vis` contains `vis;po;[W];vis`: with a write, it sees the visible operations of operations before that write in its
    /// session.
    pub vis_po_write_vis: bool,
    /// `vis` contains `vis;vis`: with an operation, it sees the visible operations of that one.
    pub vis_vis: bool,
    /// `lin` contains `vis;po`: what an operation sees comes before later operations of its session.
    pub lin_vis_po: bool,
}

impl Axioms {
    /// No axiom: a read returns some value that was written before it.
    pub const WEAK: Axioms = Axioms {
        po: false,
        vis_po: false,
        po_vis: false,
        write_po_write_vis: false,
        vis_po_write_vis: false,
        vis_vis: false,
        lin_vis_po: false,
    };
    /// `vis` contains `po`.
    pub const READ_MY_WRITES: Axioms = Axioms { po: true, ..Axioms::WEAK };
    /// `vis` contains `vis;po`.
    pub const MONOTONIC_READS: Axioms = Axioms { vis_po: true, ..Axioms::WEAK };
    /// `vis` contains `[W];po;[W];vis`.
    pub const MONOTONIC_WRITES: Axioms = Axioms { write_po_write_vis: true, ..Axioms::WEAK };
    /// `vis` contains `vis;po;[W];vis`, and `lin` contains `vis;po`.
    pub const WRITES_FOLLOW_READS: Axioms = Axioms { vis_po_write_vis: true, lin_vis_po: true, ..Axioms::WEAK };
    /// `vis` contains `po`, `vis;po` and `po;vis`.
    pub const PRAM: Axioms = Axioms { po: true, vis_po: true, po_vis: true, ..Axioms::WEAK };
    /// `vis` contains `po` and `vis;vis`: causal convergence.
    pub const CAUSAL: Axioms = Axioms { po: true, vis_vis: true, ..Axioms::WEAK };

    /// The axioms of a level, if its demands are the same for all actions.
    pub fn of(level: &crate::Level) -> Option<Axioms> {
        if !level.actions.is_empty() {
            return None;
        }
        let axioms: Vec<String> = level.axioms.iter().map(ToString::to_string).collect();
        let axioms: Vec<&str> = axioms.iter().map(String::as_str).collect();
        match (level.visibility, axioms.as_slice()) {
            (Visibility::Weak, []) => Some(Axioms::WEAK),
            (Visibility::Session, []) => Some(Axioms::READ_MY_WRITES),
            (Visibility::Peer, []) => Some(Axioms::PRAM),
            (Visibility::Causal, []) => Some(Axioms::CAUSAL),
            (Visibility::Weak, ["vis >= vis;po"]) => Some(Axioms::MONOTONIC_READS),
            (Visibility::Weak, ["vis >= [mutator];po;[mutator];vis"]) => Some(Axioms::MONOTONIC_WRITES),
            (Visibility::Weak, ["vis >= vis;po;[mutator];vis", "lin >= vis;po"]) => Some(Axioms::WRITES_FOLLOW_READS),
            _ => None,
        }
    }

    /// The level with the same verdicts, if there is one.
    ///
    /// The four session guarantees together let a read see the same writes as causal convergence, and without writes
    /// follow reads the same as PRAM. In both cases `lin` contains `po`, so that visible reads add no edge.
    fn level(self) -> Option<Level> {
        let Axioms { po, vis_po, po_vis, write_po_write_vis, vis_po_write_vis, vis_vis, lin_vis_po } = self;
        let is_pram = po && vis_po && (po_vis || write_po_write_vis);
        if po && vis_vis || is_pram && vis_po_write_vis {
            return Some(Level::Causal);
        }
        if is_pram && !vis_vis {
            return Some(Level::Pram);
        }
        // The first two contain `vis;po` in `lin` anyway.
        match (po, vis_po, po_vis, write_po_write_vis, vis_po_write_vis, vis_vis) {
            (true, false, false, false, false, false) => Some(Level::ReadMyWrites),
            (false, true, false, false, false, false) => Some(Level::MonotonicReads),
            (false, false, false, true, false, false) if !lin_vis_po => Some(Level::MonotonicWrites),
            (false, false, false, false, true, false) if lin_vis_po => Some(Level::WritesFollowReads),
            (false, false, false, false, false, false) if !lin_vis_po => Some(Level::Weak),
            _ => None,
        }
    }
}

/// The answer of the procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The history has the level. Unfinished operations that do not count are left out.
    Consistent(
        /// A possible `lin`.
        Vec<OpId>,
    ),
    /// The history does not have the level.
    Violation {
        /// Operations that violate the level without the others.
        ops: Vec<OpId>,
        /// The reason, in English.
        reason: String,
    },
    /// The procedure cannot decide this history, for this reason.
    NotApplicable(String),
}

/// Levels as patterns of paths; see the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Weak,
    ReadMyWrites,
    MonotonicReads,
    MonotonicWrites,
    WritesFollowReads,
    Pram,
    Causal,
}

impl Level {
    /// True if `lin` contains `po` because `vis` does.
    fn has_po(self) -> bool {
        matches!(self, Level::ReadMyWrites | Level::Pram | Level::Causal)
    }
}

/// The reason why there is no `lin`. Operations are indices of [`Accesses`].
enum Contradiction {
    /// A read of the initial value sees a write of its key.
    Sees { read: u32, write: u32 },
    /// Steps between operations; each begins where the last one ends.
    Cycle(Vec<graph::Step>),
}

/// A reason not to decide.
struct Limit(String);

/// Decides whether a history of registers has a level. Every key holds `initial` at first.
pub fn decide(history: &History<Touch>, initial: u64, axioms: &Axioms, order: Precedence) -> Decision {
    let Some(level) = axioms.level() else {
        return Decision::NotApplicable("this combination of axioms has no polynomial procedure".to_owned());
    };
    if !history.edges().is_empty() {
        return Decision::NotApplicable("the history has edges between operations".to_owned());
    }
    let accesses = match Accesses::new(history, initial) {
        Ok(accesses) => accesses,
        Err(decision) => return decision,
    };
    match find_lin(history, &accesses, level, order) {
        Ok(Ok(lin)) => Decision::Consistent(lin),
        Ok(Err(contradiction)) => Names { history, accesses: &accesses, level }.explain(contradiction),
        Err(Limit(reason)) => Decision::NotApplicable(reason),
    }
}

fn find_lin(
    history: &History<Touch>,
    accesses: &Accesses,
    level: Level,
    order: Precedence,
) -> Result<Result<Vec<OpId>, Contradiction>, Limit> {
    let mut graph = Graph::new(accesses, level.has_po() || order != Precedence::None);
    let seen = match level {
        Level::Weak => Ok(()),
        Level::ReadMyWrites => sessions::read_my_writes(accesses, &mut graph),
        Level::MonotonicReads => sessions::monotonic_reads(accesses, &mut graph),
        Level::MonotonicWrites => {
            sessions::monotonic_writes(accesses, &mut graph);
            Ok(())
        }
        Level::WritesFollowReads => {
            sessions::keep_sources_before(accesses, &mut graph);
            Ok(())
        }
        Level::Pram => clocks::add_edges(accesses, Past::Pram, &mut graph)?,
        Level::Causal => clocks::add_edges(accesses, Past::Causal, &mut graph)?,
    };
    if let Err(contradiction) = seen {
        return Ok(Err(contradiction));
    }
    let id = |op: u32| history.ops()[accesses.place[op as usize] as usize].id;
    let lin = match order {
        Precedence::RealTime => graph.sort_in_time(&accesses.intervals(history)),
        Precedence::Program | Precedence::None => graph.sort(),
    };
    Ok(lin.map(|lin| lin.into_iter().map(id).collect()).map_err(Contradiction::Cycle))
}
