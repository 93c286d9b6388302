//! Every level against a brute-force oracle written from the definitions: all orders, all visibilities.
//!
//! `cargo nextest run --release -p omnilink-weak --test oracle --run-ignored all` runs the long version.

mod specs;

use std::collections::BTreeMap;

use fastrand::Rng;
use history::{History, Precedence, Verdict};
use search::Unwatched;
use weak::{Action, Context, Level, Method, Options, Visibility, check};

use specs::{Call, Kind, Object, random_history};

/// The definitions, straight.
struct Oracle<'h> {
    object: Object,
    history: &'h History<Action<Call>>,
    level: &'h Level,
    context: Context,
    lin: Vec<usize>,
    vis: Vec<Vec<bool>>, // `vis[x][o]`: `o` sees `x`.
}

impl Oracle<'_> {
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
        let mut states = self.object.initial();
        for &other in self.lin.iter().filter(|&&other| self.vis[other][op]) {
            let call = &ops[other].call;
            let other_is_complete = self.visibility(other) == Visibility::Complete;
            let may_change = call.forms.free.is_some();
            if !(may_change || is_complete && other_is_complete) {
                continue;
            }
            let is_recorded = other_is_complete || self.context == Context::Recorded;
            let form = if is_recorded { Some(&call.forms.recorded) } else { call.forms.free.as_ref() };
            let Some(form) = form else { continue };
            states = states.iter().flat_map(|state| self.object.next(state, form)).collect();
        }
        states.iter().any(|state| !self.object.next(state, &ops[op].call.forms.recorded).is_empty())
    }

    /// Whether everything in `lin` sees what the level demands.
    fn axioms_hold(&self) -> bool {
        let count = self.history.ops().len();
        let place = |op: usize| self.lin.iter().position(|&other| other == op);
        let lin = |a: usize, b: usize| place(a).zip(place(b)).is_some_and(|(a, b)| a < b);
        let vis = |a: usize, b: usize| lin(a, b) && self.vis[a][b];
        let po = |a: usize, b: usize| lin(a, b) && self.po(a, b);
        let hb = |a: usize, b: usize| lin(a, b) && self.hb(a, b);
        let changes = |op: usize| self.history.ops()[op].call.forms.free.is_some();
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
                "vis >= (vis;po)+ | [put, add];vis" => {
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

fn show(history: &History<Action<Call>>) -> String {
    let op = |op: &history::Op<Action<Call>>| format!("\n{} {:?} {}", op.process, op.interval, op.call.forms.recorded);
    history.ops().iter().map(op).collect()
}

fn preset(name: &str) -> Level {
    Level::named(name).expect("a preset")
}

/// Levels of every class.
fn levels(object: Object, rng: &mut Rng) -> Vec<Level> {
    let mut levels: Vec<Level> = Level::presets().map(|(name, _)| preset(name)).collect();
    // Each action has its own.
    let names: Vec<&'static str> = object.actions().to_vec();
    for order in [Precedence::RealTime, Precedence::Program] {
        let choice = |rng: &mut Rng| Visibility::ALL[rng.usize(..Visibility::ALL.len())];
        let independent = [Visibility::Complete, Visibility::Overlap, Visibility::Session, Visibility::Weak];
        let mut any = Level::new(order, Visibility::Complete);
        let mut some = any.clone();
        for name in &names {
            any = any.with_action(name, choice(rng));
            some = some.with_action(name, independent[rng.usize(..4)]);
        }
        levels.extend([any, some]);
    }
    levels.push(Level::new(Precedence::None, Visibility::Complete).with_action(names[0], Visibility::Weak));
    levels.push(preset("eventual").with_order(Precedence::RealTime));
    let expert = preset("eventual").with_order(Precedence::Program);
    levels.push(expert.with_axiom("vis >= (vis;po)+ | [put, add];vis").expect("an axiom"));
    levels
}

fn compare(seeds: std::ops::Range<u64>, most: usize) {
    let mut verdicts: BTreeMap<(Kind, bool), u64> = BTreeMap::new();
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let object = Object::random(&mut rng);
        let history = random_history(object, &mut rng, most);
        let levels = levels(object, &mut rng);
        let context = if rng.u8(..4) == 0 { Context::Recorded } else { Context::Free };
        // A few levels for each history.
        for _ in 0..3 {
            let level = levels[rng.usize(..levels.len())].clone();
            let vis = vec![vec![false; history.ops().len()]; history.ops().len()];
            let mut oracle = Oracle { object, history: &history, level: &level, context, lin: Vec::new(), vis };
            let expected = oracle.is_explained();
            *verdicts.entry((object.kind, expected)).or_default() += 1;
            let ways =
                [(Method::Reduced, true), (Method::Reduced, false), (Method::Least, true), (Method::Naive, true)];
            for (method, reduce) in ways {
                let search = search::Options { reduce, ..search::Options::default() };
                let options = Options { level: level.clone(), context, method, search };
                let report = check(&object, &history, &options, &mut Unwatched)
                    .unwrap_or_else(|error| panic!("seed {seed}: {level}, {context:?}: {error} for {history:?}"));
                let found = match report.verdict {
                    Verdict::Accepted(_) => true,
                    Verdict::Rejected(failure) => {
                        assert!(!failure.blocked.is_empty(), "seed {seed}: {level}: nothing is blamed");
                        false
                    }
                    Verdict::Inconclusive(stop) => panic!("seed {seed}: {level}: {stop}"),
                };
                assert_eq!(
                    found,
                    expected,
                    "seed {seed}: {level}, {context:?}, {method:?} {reduce}: {}",
                    show(&history)
                );
            }
        }
    }
    for kind in Kind::ALL {
        let [no, yes] = [false, true].map(|verdict| verdicts.get(&(kind, verdict)).copied().unwrap_or(0) as f64);
        assert!((0.2..0.8).contains(&(yes / (yes + no))), "{kind:?}: {yes} accepted, {no} rejected");
    }
}

#[test]
fn every_level_agrees_with_all_orders_and_all_visibilities() {
    compare(0..10_000, 5);
}

#[test]
#[ignore = "takes minutes"]
fn every_level_agrees_with_all_orders_and_all_visibilities_at_length() {
    // Six operations have a hundred times as many orders and visibilities as five.
    compare(1_000_000..1_095_000, 5);
    compare(2_000_000..2_005_000, 6);
}

/// No level accepts what a weaker one rejects.
#[test]
fn the_lattice_is_respected() {
    respect(0..3_000);
}

#[test]
#[ignore = "takes minutes"]
fn the_lattice_is_respected_at_length() {
    respect(1_000_000..1_050_000);
}

fn respect(seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let object = Object::random(&mut rng);
        let history = random_history(object, &mut rng, 6);
        let levels = levels(object, &mut rng);
        let accepts = |level: &Level| {
            let options = Options { level: level.clone(), ..Options::default() };
            let verdict = check(&object, &history, &options, &mut Unwatched).expect("a verdict").verdict;
            verdict.is_accepted()
        };
        let accepted: Vec<bool> = levels.iter().map(accepts).collect();
        for (level, &is_accepted) in levels.iter().zip(&accepted) {
            for (weaker, &weaker_accepts) in levels.iter().zip(&accepted) {
                if level.implies(weaker) {
                    compared += 1;
                    assert!(
                        !is_accepted || weaker_accepts,
                        "seed {seed}: {level} accepts, {weaker} rejects {}",
                        show(&history)
                    );
                }
            }
        }
    }
    assert!(compared > 50_000, "{compared} pairs");
}
