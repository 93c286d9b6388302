//! A brute-force oracle for levels, written from the definitions: all orders, all visibilities.

use std::fmt::Debug;

use omnilink_history::{History, Precedence};
use omnilink_search::{Spec, Successors};
use omnilink_weak::{Action, Context, Level, Visibility};

/// True if some order of the operations, in which each sees some of those before it, explains a history at a level. Of
/// axioms, it knows those of the presets and [`AXIOM`].
pub fn is_explained<S: Spec<Error: Debug>>(
    spec: &S,
    history: &History<Action<S::Op>>,
    level: &Level,
    context: Context,
) -> bool {
    let vis = vec![vec![false; history.ops().len()]; history.ops().len()];
    Oracle { spec, history, level, context, lin: Vec::new(), vis }.is_explained()
}

/// An axiom that uses most of the language.
pub const AXIOM: &str = "vis >= (vis;po)+ | [put, add];vis";

/// The definitions, straight.
struct Oracle<'h, S: Spec> {
    spec: &'h S,
    history: &'h History<Action<S::Op>>,
    level: &'h Level,
    context: Context,
    lin: Vec<usize>,
    vis: Vec<Vec<bool>>, // `vis[x][o]`: `o` sees `x`.
}

impl<S: Spec<Error: Debug>> Oracle<'_, S> {
    fn is_explained(&mut self) -> bool {
        let ops = self.history.ops();
        let is_over = ops.iter().enumerate().all(|(op, is)| self.lin.contains(&op) || is.interval.is_unfinished());
        if is_over && self.axioms_hold() {
            return true;
        }
        for next in 0..ops.len() {
            let waits = (0..ops.len()).any(|op| self.is_ordered(op, next) && !self.lin.contains(&op));
            let latest = ops[next].interval.latest().filter(|_| self.level.order == Precedence::RealTime);
            let is_late = latest.is_some_and(|latest| self.lin.iter().any(|&op| ops[op].interval.start() > latest));
            if self.lin.contains(&next) || waits || is_late {
                continue;
            }
            let before = self.lin.clone();
            for subset in 0..1_u32 << before.len() {
                for (place, &op) in before.iter().enumerate() {
                    self.vis[op][next] = subset & (1 << place) != 0;
                }
                if !self.returns(next) {
                    continue;
                }
                self.lin.push(next);
                if self.axioms_hold() && self.is_explained() {
                    return true;
                }
                self.lin.pop();
            }
            before.iter().for_each(|&op| self.vis[op][next] = false);
        }
        false
    }

    fn is_ordered(&self, a: usize, b: usize) -> bool {
        self.hb(a, b) && !self.history.ops()[a].interval.is_unfinished()
    }

    fn po(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.history.ops()[a], &self.history.ops()[b]);
        a.process == b.process && a.index < b.index
    }

    fn hb(&self, a: usize, b: usize) -> bool {
        let ops = self.history.ops();
        match self.level.order {
            Precedence::RealTime => self.po(a, b) || ops[a].interval.deadline() < ops[b].interval.start(),
            Precedence::Program => self.po(a, b),
            Precedence::None => false,
        }
    }

    fn visibility(&self, op: usize) -> Visibility {
        self.level.visibility_of(&self.history.ops()[op].call.name)
    }

    /// Whether the specification returns what was recorded, after the operations that this one sees.
    fn returns(&self, op: usize) -> bool {
        let ops = self.history.ops();
        let is_complete = self.visibility(op) == Visibility::Complete;
        let mut states = Vec::new();
        self.spec.initial(&mut states).expect("initial states");
        for &other in self.lin.iter().filter(|&&other| self.vis[other][op]) {
            let call = &ops[other].call;
            let other_is_complete = self.visibility(other) == Visibility::Complete;
            if !(self.may_change(other) || is_complete && other_is_complete) {
                continue;
            }
            let is_recorded = other_is_complete || self.context == Context::Recorded;
            let form = if is_recorded { Some(&call.forms.recorded) } else { call.forms.free.as_ref() };
            let Some(form) = form else { continue };
            states = states.iter().flat_map(|state| self.next(state, form)).collect();
        }
        states.iter().any(|state| !self.next(state, &ops[op].call.forms.recorded).is_empty())
    }

    fn next(&self, state: &S::State, op: &S::Op) -> Vec<S::State> {
        let mut successors = Successors::default();
        self.spec.step(state, op, &mut successors).expect("a step");
        successors.into_parts().0
    }

    /// Whether an operation ever changes anything, whatever its results.
    fn may_change(&self, op: usize) -> bool {
        let forms = &self.history.ops()[op].call.forms;
        forms.free.as_ref().is_some_and(|free| !self.spec.is_observer(free))
    }

    /// Whether everything in `lin` sees what the level demands.
    fn axioms_hold(&self) -> bool {
        let count = self.history.ops().len();
        let place = |op: usize| self.lin.iter().position(|&other| other == op);
        let lin = |a: usize, b: usize| place(a).zip(place(b)).is_some_and(|(a, b)| a < b);
        let vis = |a: usize, b: usize| lin(a, b) && self.vis[a][b];
        let po = |a: usize, b: usize| lin(a, b) && self.po(a, b);
        let hb = |a: usize, b: usize| lin(a, b) && self.hb(a, b);
        let changes = |op: usize| self.may_change(op);
        let any = |f: &dyn Fn(usize) -> bool| (0..count).any(f);
        let must_see = |x: usize, o: usize| {
            let by_visibility = match self.visibility(o) {
                Visibility::Complete => lin(x, o),
                Visibility::Overlap => hb(x, o),
                Visibility::Prefix => any(&|i| lin(x, i) && vis(i, o)),
                Visibility::Causal => po(x, o) || any(&|i| vis(x, i) && vis(i, o)),
                Visibility::Peer => po(x, o) || any(&|i| (vis(x, i) && po(i, o)) || (po(x, i) && vis(i, o))),
                Visibility::Monotonic => po(x, o) || any(&|i| vis(x, i) && po(i, o)),
                Visibility::Session => po(x, o),
                Visibility::Weak => false,
            };
            let by_axiom = self.level.axioms.iter().any(|axiom| match axiom.to_string().as_str() {
                "vis >= vis;po" => any(&|i| vis(x, i) && po(i, o)),
                "vis >= [mutator];po;[mutator];vis" => changes(x) && any(&|i| po(x, i) && changes(i) && vis(i, o)),
                "vis >= vis;po;[mutator];vis" => any(&|i| vis(x, i) && any(&|j| po(i, j) && changes(j) && vis(j, o))),
                "lin >= vis;po" => false,
                AXIOM => {
                    let reach = |from: &dyn Fn(usize) -> bool| any(&|i| from(i) && po(i, o));
                    let once = |i: usize| vis(x, i);
                    let twice = |i: usize| any(&|a| vis(x, a) && any(&|b| po(a, b) && vis(b, i)));
                    let thrice = |i: usize| {
                        any(&|a| {
                            vis(x, a) && any(&|b| po(a, b) && any(&|c| vis(b, c) && any(&|d| po(c, d) && vis(d, i))))
                        })
                    };
                    let name = &self.history.ops()[x].call.name;
                    reach(&once) || reach(&twice) || reach(&thrice) || (["put", "add"].contains(&&**name) && vis(x, o))
                }
                other => panic!("the oracle does not know {other}"),
            });
            by_visibility || by_axiom
        };
        self.lin.iter().all(|&o| self.lin.iter().all(|&x| !(lin(x, o) && must_see(x, o)) || vis(x, o)))
    }
}
