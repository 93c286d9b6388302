//! Where every order gets stuck.

use omnilink_history::OpId;

use crate::trail::Placed;

/// Why no order of the operations is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation<S> {
    /// The operations that no order can place, at least one if the spec has an initial state. Walking just in time: the
    /// operation that must be placed because it returned. By level: the finished operations that could be next where
    /// orders get furthest.
    pub blocked: Vec<OpId>,
    /// The number of operations that had returned and were placed before; by level, the length of the longest orders.
    pub explained: u64,
    /// Every configuration possible at that point. None of them allows a blocked operation, or leads to one that
    /// does. Empty if the spec has no initial state.
    pub stuck: Vec<Stuck<S>>,
}

impl<S> Explanation<S> {
    /// Converts the states of the explanation.
    pub fn map_states<T>(self, view: impl Fn(S) -> T) -> Explanation<T> {
        let Explanation { blocked, explained, stuck } = self;
        let view = |Stuck { state, initial, recent, refused }| Stuck { state: view(state), initial, recent, refused };
        Explanation { blocked, explained, stuck: stuck.into_iter().map(view).collect() }
    }
}

/// A configuration that cannot be extended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck<S> {
    /// The state of the spec.
    pub state: S,
    /// Which initial state led there, counted from zero.
    pub initial: u32,
    /// The last steps: all since the point up to which every configuration has the same past.
    pub recent: Vec<Placed>,
    /// The operations in flight that are not placed, and why.
    pub refused: Vec<Refusal>,
}

/// Why an operation could not be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The operation.
    pub op: OpId,
    /// The reason.
    pub why: Why,
}

/// Reasons why an operation cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The spec does not allow it in this state; with the spec's own reason, if it gives one.
    Disabled(Option<String>),
    /// The spec allows it, but every continuation is stuck too.
    LeadsNowhere,
    /// Another operation has to be placed first.
    MustFollow(OpId),
}
