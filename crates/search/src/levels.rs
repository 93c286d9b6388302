//! The walk by level: place any one operation, then one more.
//!
//! Level `n` holds every configuration with `n` operations placed, so equal configurations meet within one level and
//! only two levels have to be remembered. A model checker walks a trace this way, and without reductions the numbers
//! of configurations agree with it. This walk serves orders other than real time, where no return forces an operation
//! to be placed; it needs the whole history in memory.

use std::hash::{Hash, Hasher};

use omnilink_history::{Op, OpId, Order, Position};

use crate::walk::{Move, Walk};

pub(crate) struct Levels<'h, P> {
    pub(crate) order: Order,
    pub(crate) ops: &'h [Op<P>],
    pub(crate) is_observer: Vec<bool>, // By place. All false if observers are treated as any other operation.
    pub(crate) level: usize,
}

impl<P> Walk<P> for Levels<'_, P> {
    type Cut = Position;

    fn is_met(&self, position: &Position) -> bool {
        position.count() >= self.level
    }

    fn moves(&self, position: &Position, _thorough: bool, out: &mut Vec<Move>) {
        out.extend(self.ready(position, false));
    }

    fn observers(&self, position: &Position, _after: Option<Move>, out: &mut Vec<Move>) {
        out.extend(self.ready(position, true));
    }

    fn has_chains(&self) -> bool {
        true
    }

    fn op(&self, next: Move) -> &Op<P> {
        &self.ops[next.0 as usize]
    }

    fn place(&self, position: &Position, next: Move, partway: bool) -> Position {
        let place = next.0 as usize;
        if partway { self.order.during(position, place) } else { self.order.after(position, place) }
    }

    fn waiting(&self, position: &Position) -> Vec<(OpId, OpId)> {
        let id = |place: usize| self.ops[place].id;
        self.order.waiting(position).into_iter().map(|(op, blocker)| (id(op), id(blocker))).collect()
    }

    fn hash_core<H: Hasher>(&self, position: &Position, hasher: &mut H) {
        position.hash(hasher);
    }

    fn covers(&self, a: &Position, b: &Position) -> bool {
        a == b
    }
}

impl<P> Levels<'_, P> {
    /// The operations that may be next: the observers that are placed as soon as possible, or the others. An observer
    /// that started after another operation's latest time counts among the others, because it would make that one
    /// late.
    fn ready(&self, position: &Position, observers: bool) -> impl Iterator<Item = Move> {
        let latest = self.order.ready(position).filter_map(|place| self.ops[place].interval.latest()).min();
        let may_be_late = move |op: &Op<P>| latest.is_some_and(|latest| latest < op.interval.start());
        let is_eager = move |place: usize| self.is_observer[place] && !may_be_late(&self.ops[place]);
        self.order.ready(position).filter(move |&place| is_eager(place) == observers).map(|place| Move(place as u32))
    }
}
