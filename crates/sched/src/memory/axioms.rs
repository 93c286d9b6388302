//! The axioms of C++20 for atomic operations: what the tests compare with.
//!
//! A *candidate* is a program together with a modification order of every location and a store for every load to read.
//! All of them are tried. A candidate is allowed if it is coherent, and if there is one order of all its sequentially
//! consistent operations that contains what [atomics.order] demands. Such an order exists exactly if these constraints
//! have no cycle. Nothing here is executed, and only the programs are shared with the code under test.

use std::collections::BTreeSet;

use omnilink_schedule::MemoryOrder;

/// The operations of each thread, in order.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) threads: Vec<Vec<Op>>,
    /// Whether final values are part of an outcome.
    pub(super) shows_ends: bool,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Op {
    pub(super) action: Action,
    pub(super) location: usize,
    pub(super) order: MemoryOrder,
}

/// The kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Load,
    Store(u128),
    /// A read-modify-write that adds.
    Add(u128),
    Fence,
}

impl Op {
    pub(super) fn reads(&self) -> bool {
        matches!(self.action, Action::Load | Action::Add(_))
    }

    pub(super) fn writes(&self) -> bool {
        matches!(self.action, Action::Store(_) | Action::Add(_))
    }

    fn is_fence(&self) -> bool {
        self.action == Action::Fence
    }

    fn is_sequential(&self) -> bool {
        self.order == MemoryOrder::SequentiallyConsistent
    }
}

impl Program {
    /// An outcome as text: the values read, in the order of the text, and the final values.
    pub(super) fn outcome(&self, reads: &[u128], ends: &[u128]) -> String {
        let reads: String = reads.iter().map(ToString::to_string).collect();
        let ends: String = NAMES.iter().zip(ends).map(|(name, end)| format!("{name}{end}")).collect();
        if self.shows_ends { reads + &ends } else { reads }
    }

    /// The number of locations.
    pub(super) fn locations(&self) -> usize {
        self.threads.iter().flatten().filter(|op| !op.is_fence()).map(|op| op.location + 1).max().unwrap_or(0)
    }
}

/// The names of locations.
pub(super) const NAMES: [char; 3] = ['x', 'y', 'z'];

/// The outcomes of all candidates.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// Regardless of the rules.
    pub(super) thinkable: BTreeSet<String>,
    /// Allowed by the standard.
    pub(super) allowed: BTreeSet<String>,
    /// Those of the allowed that can be executed step by step, where modification order and the order of sequentially
    /// consistent operations are that of execution.
    pub(super) stepwise: BTreeSet<String>,
}

/// Tries all candidates.
pub(super) fn outcomes(program: &Program) -> Outcomes {
    let events = Events::new(program);
    let mut outcomes = Outcomes::default();
    let orders: Vec<Vec<Vec<usize>>> =
        (0..program.locations()).map(|location| permutations(&events.stores(location))).collect();
    for modification in product(&orders) {
        let sources: Vec<Vec<usize>> = events.readers().map(|reader| events.sources(reader, &modification)).collect();
        for read_from in product(&sources) {
            events.judge(program, &modification, &read_from, &mut outcomes);
        }
    }
    outcomes
}

/// The operations of all threads, after one store of 0 for each location, whose thread is `None`.
struct Events(Vec<(Option<usize>, Op)>);

impl Events {
    fn new(program: &Program) -> Events {
        let zero = |location| Op { action: Action::Store(0), location, order: MemoryOrder::Relaxed };
        let zeros = (0..program.locations()).map(|location| (None, zero(location)));
        let ops =
            program.threads.iter().enumerate().flat_map(|(thread, ops)| ops.iter().map(move |op| (Some(thread), *op)));
        Events(zeros.chain(ops).collect())
    }

    fn op(&self, event: usize) -> &Op {
        &self.0[event].1
    }

    /// The stores of a location except for the first one.
    fn stores(&self, location: usize) -> Vec<usize> {
        let is_one = |&event: &usize| {
            self.0[event].0.is_some() && self.op(event).writes() && self.op(event).location == location
        };
        (0..self.0.len()).filter(is_one).collect()
    }

    fn readers(&self) -> impl Iterator<Item = usize> {
        (0..self.0.len()).filter(|&event| self.op(event).reads())
    }

    /// The stores that an operation could read: an update reads the one just before it.
    fn sources(&self, reader: usize, modification: &[Vec<usize>]) -> Vec<usize> {
        let location = self.op(reader).location;
        let all = || std::iter::once(location).chain(modification[location].iter().copied());
        if self.op(reader).writes() {
            all().zip(all().skip(1)).filter(|&(_, next)| next == reader).map(|(source, _)| source).collect()
        } else {
            all().collect()
        }
    }

    fn judge(&self, program: &Program, modification: &[Vec<usize>], read_from: &[usize], outcomes: &mut Outcomes) {
        let count = self.0.len();
        let source = |reader: usize| read_from[self.readers().position(|event| event == reader).unwrap()];
        let place = |store: usize| modification[self.op(store).location].iter().position(|&other| other == store);

        let mut values = vec![0; count];
        for &store in modification.iter().flatten() {
            values[store] = match self.op(store).action {
                Action::Add(more) => values[source(store)] + more,
                Action::Store(value) => value,
                Action::Load | Action::Fence => unreachable!("these do not write"),
            };
        }
        let reads: Vec<u128> = read_from.iter().map(|&source| values[source]).collect();
        let ends: Vec<u128> = modification.iter().map(|order| order.last().map_or(0, |&last| values[last])).collect();
        let outcome = program.outcome(&reads, &ends);
        outcomes.thinkable.insert(outcome.clone());

        let program_order = Relation::new(count, |a, b| a < b && self.0[a].0 == self.0[b].0 && self.0[a].0.is_some());
        let same =
            |a, b| !self.op(a).is_fence() && !self.op(b).is_fence() && self.op(a).location == self.op(b).location;
        let stores = |a, b| same(a, b) && self.op(a).writes() && self.op(b).writes();
        let modified = Relation::new(count, |a, b| stores(a, b) && place(a) < place(b));
        let reads_from = Relation::new(count, |a, b| self.op(b).reads() && source(b) == a);
        let reads_before = Relation::new(count, |a, b| self.op(a).reads() && a != b && modified.has(source(a), b));
        let coherence = modified.or(&reads_from).or(&reads_before).closed();

        // A release sequence: a store, and the updates that directly follow it.
        let chain = Relation::new(count, |a, b| self.op(b).writes() && reads_from.has(a, b)).closed();
        let reaches = |store: usize, reader: usize| source(reader) == store || chain.has(store, source(reader));
        let publishes = |a: usize, store: usize| {
            (a == store || (self.op(a).is_fence() && program_order.has(a, store)))
                && self.op(store).writes()
                && self.op(a).order.releases()
                && self.0[a].0.is_some()
        };
        let receives = |b: usize, reader: usize| {
            (b == reader || (self.op(b).is_fence() && program_order.has(reader, b)))
                && self.op(reader).reads()
                && self.op(b).order.acquires()
        };
        let synchronizes = Relation::new(count, |a, b| {
            a != b
                && (0..count)
                    .filter(|&store| publishes(a, store))
                    .any(|store| (0..count).filter(|&reader| receives(b, reader)).any(|reader| reaches(store, reader)))
        });
        let first = Relation::new(count, |a, b| self.0[a].0.is_none() && self.0[b].0.is_some());
        let happens_before = program_order.or(&synchronizes).or(&first).closed();
        let is_coherent = (0..count).all(|a| {
            !happens_before.has(a, a) && (0..count).all(|b| !(happens_before.has(a, b) && coherence.has(b, a)))
        });

        let sequential = |event: usize| self.op(event).is_sequential();
        let both = Relation::new(count, |a, b| synchronizes.has(a, b) && sequential(a) && sequential(b));
        let around = program_order.then(&happens_before).then(&program_order);
        let strongly = program_order.or(&both).or(&around).closed();
        let fence = |event: usize| self.op(event).is_fence() && sequential(event);
        let demanded = Relation::new(count, |first, last| {
            let starts = |a: usize| first == a || (fence(first) && happens_before.has(first, a));
            let stops = |b: usize| last == b || (fence(last) && happens_before.has(b, last));
            sequential(first)
                && sequential(last)
                && (strongly.has(first, last)
                    || (0..count).filter(|&a| starts(a)).any(|a| (0..count).any(|b| stops(b) && coherence.has(a, b))))
        });
        if is_coherent && demanded.clone().closed().is_acyclic() {
            outcomes.allowed.insert(outcome.clone());
            if demanded.or(&program_order).or(&reads_from).or(&modified).closed().is_acyclic() {
                outcomes.stepwise.insert(outcome);
            }
        }
    }
}

/// A relation between events: for each event, the set of related ones, as bits.
#[derive(Debug, Clone)]
struct Relation(Vec<u32>);

impl Relation {
    fn new(count: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
        let row = |a| (0..count).filter(|&b| holds(a, b)).fold(0, |row, b| row | 1 << b);
        Relation((0..count).map(row).collect())
    }

    fn has(&self, a: usize, b: usize) -> bool {
        self.0[a] >> b & 1 == 1
    }

    fn or(&self, other: &Relation) -> Relation {
        Relation(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn then(&self, other: &Relation) -> Relation {
        let count = self.0.len();
        let row = |row: &u32| (0..count).filter(|b| row >> b & 1 == 1).fold(0, |reached, b| reached | other.0[b]);
        Relation(self.0.iter().map(row).collect())
    }

    fn closed(mut self) -> Relation {
        for through in 0..self.0.len() {
            for a in 0..self.0.len() {
                if self.has(a, through) {
                    self.0[a] |= self.0[through];
                }
            }
        }
        self
    }

    /// For a transitively closed relation.
    fn is_acyclic(&self) -> bool {
        (0..self.0.len()).all(|event| !self.has(event, event))
    }
}

fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let starting = |first: usize| {
        let rest: Vec<usize> = items.iter().copied().filter(|&item| item != first).collect();
        permutations(&rest).into_iter().map(move |order| [vec![first], order].concat())
    };
    items.iter().flat_map(|&first| starting(first)).collect()
}

/// The Cartesian product.
fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![Vec::new()], |made, options| {
        let with = |before: &Vec<T>, option: &T| before.iter().chain([option]).cloned().collect();
        made.iter().flat_map(|before| options.iter().map(move |option| with(before, option))).collect()
    })
}
