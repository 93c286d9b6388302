//! Where every order gets stuck.

use history::OpId;

use crate::trail::Placed;

/// Why no order of the operations is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<S> {
    /// The operations that no order can place, at least one: walking just in time, the one that has to be placed by the
    /// time it returned; by level, the finished ones that could be next where orders get furthest.
    pub blocked: Vec<OpId>,
    /// How many operations had returned, and been placed, before; by level, how many the longest orders place.
    pub explained: u64,
    /// Every configuration that is possible then. None of them allows what is blocked, or leads to one that does.
    pub stuck: Vec<Stuck<S>>,
}

impl<S> Explanation<S> {
    /// The same explanation with another view of states.
    pub fn map_states<T>(self, view: impl Fn(S) -> T) -> Explanation<T> {
        let Explanation { blocked, explained, stuck } = self;
        let view = |Stuck { state, initial, recent, refused }| Stuck { state: view(state), initial, recent, refused };
        Explanation { blocked, explained, stuck: stuck.into_iter().map(view).collect() }
    }
}

/// A configuration from which there is no way on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck<S> {
    /// The state of the spec.
    pub state: S,
    /// Which initial state led there, counted from zero.
    pub initial: u32,
    /// The last steps that led there: all since the point up to which every configuration has the same past.
    pub recent: Vec<Placed>,
    /// The operations in flight that have not been placed, and why not.
    pub refused: Vec<Refusal>,
}

/// Why an operation could not be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The operation.
    pub op: OpId,
    /// Why not.
    pub why: Why,
}

/// The kinds of reasons against placing an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The spec does not allow it in this state; in the words of the spec, if it has any.
    Disabled(Option<String>),
    /// The spec allows it, but whatever follows is stuck too.
    LeadsNowhere,
    /// Another operation has to be placed before.
    MustFollow(OpId),
}
