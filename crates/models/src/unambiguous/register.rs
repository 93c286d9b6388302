//! Registers without search.
//!
//! The problem: is there an order in which every read returns the value that was written last, and every successful
//! compare-and-set replaces it? If each value that an operation saw was written once, after Gibbons and Korach (*Testing
//! shared memories*, 1997) this is decided in `O(n log n)`, however many operations overlap and are unfinished.
//!
//! Unfinished writes of values that no operation needs are left out: they need not have happened. The other
//! operations form *blocks*: a write, or the initial value, and the chain of compare-and-sets from it, each value
//! with its reads. A value never comes back, so a block is contiguous, and its order is fixed except for reads of one
//! value. It is wrong if an operation in it ended before one that it needs began. Only the first end `f` and the last
//! start `s` of a block matter to the others: `A` must come before `B` exactly if `f(A) < s(B)`. If two blocks each
//! must come before the other, there is no order. Otherwise sorting by the smaller of the two numbers, then by the
//! larger, gives one: if `f < s`, other blocks are wholly before or after the *zone* from `f` to `s`, or reach across
//! it.
//!
//! Operations of one process that touch (one starts at the instant at which the last one ended) are ordered too,
//! which real time does not imply. `A` must then come before `B` with `f(A) = s(B)`. Blocks with the same two numbers
//! are sorted by the operations that touch. Nothing else changes: the block with the smallest `f` of a shortest cycle
//! comes before each other one with a larger `s`, so that the cycle is one of two blocks, or one in which no block
//! comes before another by time, and all of whose blocks have the same two numbers.
//!
//! An operation that only shows which value was *not* there, such as a refused compare-and-set, is placed last, as
//! early as possible in the order that was found. If that fails and the value was not surely there all the time,
//! another order, or a write that was left out, may still have room for it, and a search has to decide.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use omnilink_history::{History, Op, OpId, Value};
use rustc_hash::FxHashMap;

use crate::unambiguous::Decision;
use crate::{Atom, Interner};

/// The effect of an operation on a register.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// Replaces the value, whatever it is.
    Write(Atom),
    /// Reads the value.
    Read(Atom),
    /// Replaces the first value by the second. If it is unfinished, it may have found another value.
    Replace(Atom, Atom),
    /// Finds a value other than this one.
    Miss(Atom),
}

/// A model's view of a register.
pub(crate) struct View<'a, A, S> {
    /// The value before the first write.
    pub(crate) initial: Atom,
    /// The values that operations refer to.
    pub(crate) atoms: &'a Interner,
    /// The effect of an operation, or why this procedure does not apply.
    pub(crate) access: A,
    /// An operation for display.
    pub(crate) show: S,
}

/// Decides a history of one register in which each value that an operation saw was written at most once.
pub(crate) fn decide<T, A, S>(view: &View<'_, A, S>, history: &History<T>) -> Decision
where
    A: Fn(&Op<T>) -> Result<Access, String>,
    S: Fn(&T) -> String,
{
    let names = Names { history, show: &|place| (view.show)(&history.ops()[place].call), atoms: view.atoms };
    Procedure::new(view, history)
        .and_then(|procedure| procedure.run(&names))
        .map_or_else(|decision| decision, |order| Decision::Linearizable(names.ids(order)))
}

/// Operations for display, by their places in the history.
struct Names<'a, T> {
    history: &'a History<T>,
    show: &'a dyn Fn(usize) -> String,
    atoms: &'a Interner,
}

impl<T> Names<'_, T> {
    fn ids(&self, places: Vec<usize>) -> Vec<OpId> {
        places.into_iter().map(|place| self.history.ops()[place].id).collect()
    }

    fn op(&self, place: usize) -> String {
        let op = &self.history.ops()[place];
        format!("{} {} {}", self.history.name(op.id), (self.show)(place), op.interval)
    }

    /// A clause that says why an operation comes before another.
    fn before(&self, Before { first, second, is_touching }: Before) -> String {
        let (first, second) = (self.op(first), self.op(second));
        match is_touching {
            true => format!("{first} comes before {second} in their process"),
            false => format!("{first} ended before {second} began"),
        }
    }

    /// The process of an operation.
    fn process(&self, place: usize) -> String {
        let name = self.history.name(self.history.ops()[place].id);
        name.rsplit_once(':').map_or(name.clone(), |(process, _)| process.to_owned())
    }

    fn violation(&self, mut places: Vec<usize>, reason: String) -> Decision {
        places.sort_unstable();
        places.dedup();
        Decision::Violation { ops: self.ids(places), reason }
    }
}

/// The place of a missing operation or version.
const NONE: usize = usize::MAX;

/// The number of the initial value, of its version and of its block.
const INITIAL: usize = 0;

/// An error is a decision: the history is already decided, or this procedure does not apply.
type Outcome<T> = Result<T, Decision>;

/// The effect of an operation, with values as numbers.
#[derive(Clone, Copy)]
enum Use {
    Write { to: usize },
    Read { of: usize },
    Replace { from: usize, to: usize },
    Miss { of: usize },
}

/// A value that operations refer to.
struct Known {
    atom: Atom,
    writers: usize,   // The number of operations that may have written it, plus one for the initial value.
    writer: usize,    // The last of them.
    needed_by: usize, // An operation that happened, and only if this value was written.
    version: usize,   // The last one.
}

/// A value that was written, with its reads.
struct Version {
    value: usize,
    writer: usize,
    replaced_by: usize, // The version that a compare-and-set made of it.
    block: usize,
    rank: usize, // Its place among the versions of all blocks, one block after another.
    reads: Span,
    count: usize, // The number of reads.
}

/// The first end and the last start among some operations, and which operations these are.
#[derive(Clone, Copy)]
struct Span {
    end: u64,
    ends: usize,
    start: u64,
    starts: usize,
}

impl Span {
    const EMPTY: Span = Span { end: u64::MAX, ends: NONE, start: 0, starts: NONE };

    fn of<T>(place: usize, op: &Op<T>) -> Span {
        Span { end: op.interval.deadline(), ends: place, start: op.interval.start(), starts: place }
    }

    fn join(&mut self, other: Span) {
        if self.ends == NONE || other.end < self.end {
            (self.end, self.ends) = (other.end, other.ends);
        }
        if self.starts == NONE || (other.start > self.start && other.starts != NONE) {
            (self.start, self.starts) = (other.start, other.starts);
        }
    }
}

/// A version that was not made from another, and all that were made from it.
#[derive(Clone, Copy)]
struct Block {
    first: usize, // The rank of the first version.
    last: usize,
    span: Span,
}

impl Block {
    /// True if it begins with the initial value, which precedes all operations.
    fn is_initial(&self) -> bool {
        self.first == INITIAL
    }

    fn precedes(&self, other: &Block) -> bool {
        self.is_initial() || self.span.end < other.span.start
    }

    fn is_zone(&self) -> bool {
        self.is_initial() || self.span.end < self.span.start
    }

    /// The interval that it surely covers. The initial value reaches back for ever.
    fn reach(&self) -> (Option<u64>, u64) {
        let Span { start, end, .. } = self.span;
        if self.is_initial() { (None, start) } else { (Some(start.min(end)), start.max(end)) }
    }
}

/// An operation that comes before another.
#[derive(Clone, Copy)]
struct Before {
    first: usize,
    second: usize,
    is_touching: bool, // By process order, and not by time.
}

/// A history split into versions and blocks. Operations are identified by their places in it.
struct Procedure<'a, T> {
    ops: &'a [Op<T>],
    uses: Vec<Use>,
    values: Vec<Known>,
    versions: Vec<Version>,
    version_of: Vec<usize>, // The version that each operation reads or writes; `NONE` if it is left out or is a miss.
    ranked: Vec<usize>,     // Versions by rank.
    blocks: Vec<Block>,
}

impl<'a, T> Procedure<'a, T> {
    fn new<A, S>(view: &View<'_, A, S>, history: &'a History<T>) -> Outcome<Procedure<'a, T>>
    where
        A: Fn(&Op<T>) -> Result<Access, String>,
    {
        let ops = history.ops();
        let mut numbers: FxHashMap<Atom, usize> = FxHashMap::default();
        let mut values: Vec<Known> = Vec::new();
        let mut number = |atom| {
            *numbers.entry(atom).or_insert_with(|| {
                values.push(Known { atom, writers: 0, writer: NONE, needed_by: NONE, version: NONE });
                values.len() - 1
            })
        };
        assert_eq!(number(view.initial), INITIAL, "the initial value comes first");
        let mut uses = Vec::with_capacity(ops.len());
        for op in ops {
            uses.push(match (view.access)(op).map_err(Decision::NotApplicable)? {
                Access::Write(to) => Use::Write { to: number(to) },
                Access::Read(of) => Use::Read { of: number(of) },
                Access::Replace(from, to) => Use::Replace { from: number(from), to: number(to) },
                Access::Miss(of) => Use::Miss { of: number(of) },
            });
        }
        values[INITIAL].writers = 1;
        for (place, (op, &usage)) in ops.iter().zip(&uses).enumerate() {
            if let Use::Write { to } | Use::Replace { to, .. } = usage {
                values[to].writers += 1;
                values[to].writer = place;
            }
            if let Use::Read { of: needed } | Use::Replace { from: needed, .. } = usage
                && !op.interval.is_unfinished()
            {
                values[needed].needed_by = place;
            }
        }
        let version_of = vec![NONE; ops.len()];
        Ok(Procedure { ops, uses, values, versions: Vec::new(), version_of, ranked: Vec::new(), blocks: Vec::new() })
    }

    fn run(mut self, names: &Names<'_, T>) -> Outcome<Vec<usize>> {
        self.find_sources(names)?;
        self.make_versions(names)?;
        self.make_blocks(names)?;
        let touching = self.touching();
        let mut blocks: Vec<usize> = (0..self.blocks.len()).collect();
        blocks.sort_by_key(|&block| (self.blocks[block].reach(), !self.blocks[block].is_zone()));
        self.check_blocks(&blocks, &touching, names)?;
        self.sort_equals(&mut blocks, &touching, names)?;
        self.check_misses(names)?;
        self.place_misses(self.lay_out(&blocks), names)
    }

    fn is_unfinished(&self, place: usize) -> bool {
        self.ops[place].interval.is_unfinished()
    }

    fn is_needed(&self, value: usize) -> bool {
        self.values[value].needed_by != NONE
    }

    /// Finds the unfinished writes that happened, and checks that each value that was seen has one source.
    fn find_sources(&mut self, names: &Names<'_, T>) -> Outcome<()> {
        let mut open: Vec<usize> = (0..self.values.len()).filter(|&value| self.is_needed(value)).collect();
        let mut ambiguous = None;
        while let Some(value) = open.pop() {
            let Known { atom, writers, writer, needed_by, .. } = self.values[value];
            match writers {
                0 => {
                    let value = names.atoms.value(atom);
                    let claim = match self.uses[needed_by] {
                        Use::Read { .. } => format!("{}, which was never written", self.act(needed_by, false, names)),
                        _ => format!("{value} was never written"),
                    };
                    let reason = format!("{claim}: {}", names.op(needed_by));
                    return Err(names.violation(self.evidence(needed_by), reason));
                }
                1 => {
                    if writer != NONE
                        && self.is_unfinished(writer)
                        && let Use::Replace { from, .. } = self.uses[writer]
                        && !self.is_needed(from)
                    {
                        self.values[from].needed_by = writer;
                        open.push(from);
                    }
                }
                _ => ambiguous = ambiguous.or(Some(value)),
            }
        }
        let missed = self.uses.iter().find_map(|usage| match *usage {
            Use::Miss { of } if self.values[of].writers > 1 => Some(of),
            _ => None,
        });
        let Some(value) = ambiguous.or(missed) else { return Ok(()) };
        let shown = names.atoms.value(self.values[value].atom);
        let what = if value == INITIAL { ", the initial value, was written again" } else { " was written twice" };
        Err(Decision::NotApplicable(format!("{shown}{what}")))
    }

    /// An operation that happened, and if it is unfinished the operations that prove it.
    fn evidence(&self, place: usize) -> Vec<usize> {
        let mut places = vec![place];
        let mut last = place;
        while self.is_unfinished(last)
            && let Use::Write { to } | Use::Replace { to, .. } = self.uses[last]
        {
            last = self.values[to].needed_by;
            places.push(last);
        }
        places
    }

    /// Makes a version of the initial value and of each write that happened, and finds its reads.
    fn make_versions(&mut self, names: &Names<'_, T>) -> Outcome<()> {
        self.add_version(INITIAL, NONE);
        for place in 0..self.ops.len() {
            if let Use::Write { to } | Use::Replace { to, .. } = self.uses[place]
                && (!self.is_unfinished(place) || self.is_needed(to))
            {
                self.version_of[place] = self.versions.len();
                self.add_version(to, place);
            }
        }
        for version in INITIAL + 1..self.versions.len() {
            let writer = self.versions[version].writer;
            let Use::Replace { from, .. } = self.uses[writer] else { continue };
            let source = self.values[from].version;
            let other = std::mem::replace(&mut self.versions[source].replaced_by, version);
            if other != NONE {
                let (other, value) = (self.versions[other].writer, names.atoms.value(self.values[from].atom));
                let reason = format!("{value} was replaced twice: {}, and {}", names.op(other), names.op(writer));
                let mut places = [self.evidence(other), self.evidence(writer)].concat();
                places.extend(Some(self.versions[source].writer).filter(|&writer| writer != NONE));
                return Err(names.violation(places, reason));
            }
        }
        for (place, op) in self.ops.iter().enumerate() {
            if let Use::Read { of } = self.uses[place]
                && !op.interval.is_unfinished()
            {
                let version = self.values[of].version;
                self.version_of[place] = version;
                self.versions[version].count += 1;
                self.versions[version].reads.join(Span::of(place, op));
            }
        }
        Ok(())
    }

    fn add_version(&mut self, value: usize, writer: usize) {
        self.values[value].version = self.versions.len();
        let (reads, count) = (Span::EMPTY, 0);
        self.versions.push(Version { value, writer, replaced_by: NONE, block: NONE, rank: NONE, reads, count });
    }

    /// The operation that wrote a version.
    fn written(&self, version: usize) -> Span {
        let writer = self.versions[version].writer;
        self.ops.get(writer).map_or(Span::EMPTY, |op| Span::of(writer, op))
    }

    /// Joins versions to blocks, and checks each on its own.
    fn make_blocks(&mut self, names: &Names<'_, T>) -> Outcome<()> {
        for head in 0..self.versions.len() {
            let writer = self.versions[head].writer;
            if writer != NONE && matches!(self.uses[writer], Use::Replace { .. }) {
                continue;
            }
            let (first, mut version) = (self.ranked.len(), head);
            while version != NONE {
                self.versions[version].block = self.blocks.len();
                self.versions[version].rank = self.ranked.len();
                self.ranked.push(version);
                version = self.versions[version].replaced_by;
            }
            let mut span = Span::EMPTY;
            for &version in self.ranked[first..].iter().rev() {
                for earlier in [self.versions[version].reads, self.written(version)] {
                    if span.end < earlier.start {
                        return Err(self.wrong_block(Before::in_time(span.ends, earlier.starts), names));
                    }
                    span.join(earlier);
                }
            }
            self.blocks.push(Block { first, last: self.ranked.len() - 1, span });
        }
        match self.versions.iter().position(|version| version.block == NONE) {
            None => Ok(()),
            Some(version) => Err(self.circle(version, names)),
        }
    }

    /// The violation that a version was made from itself. It is, if it is in no block: each such version was made
    /// from another one, and no two from the same.
    fn circle(&self, start: usize, names: &Names<'_, T>) -> Decision {
        let mut places = Vec::new();
        let mut version = start;
        loop {
            places.extend(self.evidence(self.versions[version].writer));
            version = self.versions[version].replaced_by;
            if version == start {
                break;
            }
        }
        let value = self.value(start, names);
        let reason = format!("{value} was made from itself: {}", names.op(self.versions[start].writer));
        names.violation(places, reason)
    }

    fn value(&self, version: usize, names: &Names<'_, T>) -> Value {
        names.atoms.value(self.values[self.versions[version].value].atom)
    }

    /// The act of an operation in the past, after another verb: `T1 read 2`, `T1 had written 2`.
    fn act(&self, place: usize, is_earlier: bool, names: &Names<'_, T>) -> String {
        let value = |value: usize| names.atoms.value(self.values[value].atom);
        let process = names.process(place);
        match (self.uses[place], is_earlier) {
            (Use::Read { of } | Use::Miss { of }, false) => format!("{process} read {}", value(of)),
            (Use::Read { of } | Use::Miss { of }, true) => format!("{process} had read {}", value(of)),
            (Use::Write { to }, false) => format!("{process} wrote {}", value(to)),
            (Use::Write { to }, true) => format!("{process} had written {}", value(to)),
            (Use::Replace { from, to }, false) => format!("{process} replaced {} by {}", value(from), value(to)),
            (Use::Replace { from, to }, true) => format!("{process} had replaced {} by {}", value(from), value(to)),
        }
    }

    /// An operation after one that comes before it.
    fn acts(&self, pair: Before, names: &Names<'_, T>) -> String {
        let (earlier, later) = (self.act(pair.first, true, names), self.act(pair.second, false, names));
        let process = names.process(pair.first);
        let is_same = process == names.process(pair.second);
        let earlier =
            earlier.strip_prefix(&process).filter(|_| is_same).map(|act| format!("it{act}")).unwrap_or(earlier);
        format!("{later} after {earlier}")
    }

    /// The violation that an operation came before another one of its block that it needs.
    fn wrong_block(&self, wrong: Before, names: &Names<'_, T>) -> Decision {
        let (later, earlier) = (self.version_of[wrong.first], self.version_of[wrong.second]);
        let (made, from) = (self.value(later, names), self.value(earlier, names));
        let what = if earlier == later {
            format!("{made} was read before it was written")
        } else if self.versions[later].writer == wrong.first && self.versions[earlier].writer != wrong.second {
            format!("{from} was read after it was replaced")
        } else {
            format!("{made} was made from {from}, but was there before it")
        };
        names.violation(self.linked(wrong.first, wrong.second), format!("{what}: {}", names.before(wrong)))
    }

    /// Two operations of one block, and the writes that put them there. The initial value may replace the first.
    fn linked(&self, a: usize, b: usize) -> Vec<usize> {
        let [low, high] = self.ranks(a, b);
        let mut places: Vec<usize> = [a, b].into_iter().filter(|&place| place != NONE).collect();
        let writers = self.ranked[low..=high].iter().map(|&version| self.versions[version].writer);
        places.extend(writers.filter(|&writer| writer != NONE));
        let last = self.versions[self.ranked[high]].writer;
        if last != NONE {
            places.extend(self.evidence(last));
        }
        places
    }

    /// The ranks of the versions of two operations of one block, in order.
    fn ranks(&self, a: usize, b: usize) -> [usize; 2] {
        let rank = |place: usize| if place == NONE { INITIAL } else { self.versions[self.version_of[place]].rank };
        let mut ranks = [a, b].map(rank);
        ranks.sort_unstable();
        ranks
    }

    /// The values of a block that two of its operations refer to.
    fn block_name(&self, a: usize, b: usize, names: &Names<'_, T>) -> String {
        let [low, high] = self.ranks(a, b);
        let initial = if low == INITIAL { "the initial value " } else { "" };
        let values = [low, high].map(|rank| self.value(self.ranked[rank], names));
        match &values {
            [only, _] if low == high => format!("{initial}{only}"),
            [from, made] => format!("{initial}{from}, from which {made} was made,"),
        }
    }

    /// Operations that start at the instant at which the one before them in their process ended.
    fn touching(&self) -> Vec<Before> {
        let mut last: Vec<usize> = Vec::new(); // The last operation of each process.
        let mut pairs = Vec::new();
        for (second, op) in self.ops.iter().enumerate().filter(|(place, _)| self.version_of[*place] != NONE) {
            let process = op.process.index();
            if last.len() <= process {
                last.resize(process + 1, NONE);
            }
            let first = std::mem::replace(&mut last[process], second);
            if first != NONE && self.ops[first].interval.end() == Some(op.interval.start()) {
                pairs.push(Before { first, second, is_touching: true });
            }
        }
        pairs
    }

    fn block_of(&self, place: usize) -> usize {
        self.versions[self.version_of[place]].block
    }

    /// Searches for two blocks each of which must come before the other.
    fn check_blocks(&self, sorted: &[usize], touching: &[Before], names: &Names<'_, T>) -> Outcome<()> {
        let mut zone = &self.blocks[INITIAL];
        for block in sorted[1..].iter().map(|&block| &self.blocks[block]) {
            if zone.precedes(block) && block.precedes(zone) {
                let there = Before::in_time(zone.span.ends, block.span.starts);
                let back = Before::in_time(block.span.ends, zone.span.starts);
                return Err(self.wrong_blocks(zone, there, back, names));
            }
            if block.is_zone() {
                zone = block;
            }
        }
        for &pair in touching {
            let (first, second) = (self.block_of(pair.first), self.block_of(pair.second));
            let part = |place: usize| {
                let version = &self.versions[self.version_of[place]];
                (version.rank, version.writer != place)
            };
            if first == second && part(pair.first) > part(pair.second) {
                return Err(self.wrong_block(pair, names));
            }
            let (first, second) = (&self.blocks[first], &self.blocks[second]);
            if first.first != second.first && second.precedes(first) {
                let there = Before::in_time(second.span.ends, first.span.starts);
                return Err(self.wrong_blocks(second, there, pair, names));
            }
        }
        Ok(())
    }

    /// The violation that a block comes before another, and the other before it.
    fn wrong_blocks(&self, block: &Block, there: Before, back: Before, names: &Names<'_, T>) -> Decision {
        if block.is_initial() {
            let places = [self.linked(NONE, back.second), self.linked(back.first, back.first)].concat();
            let initial = self.block_name(NONE, back.second, names);
            let claim = format!("{}, but {initial} comes first", self.acts(back, names));
            return names.violation(places, format!("{claim}: {}", names.before(back)));
        }
        let places = [self.linked(there.first, back.second), self.linked(there.second, back.first)].concat();
        let (name, other) =
            (self.block_name(there.first, back.second, names), self.block_name(there.second, back.first, names));
        let claim = format!("{}, but {name} was there before {other}", self.acts(back, names));
        names.violation(places, format!("{claim}: {}, and {}", names.before(there), names.before(back)))
    }

    /// Sorts blocks with the same reach by the operations that touch.
    fn sort_equals(&self, sorted: &mut [usize], touching: &[Before], names: &Names<'_, T>) -> Outcome<()> {
        let reach = |block: usize| self.blocks[block].reach();
        let ends = |pair: &Before| (self.block_of(pair.first), self.block_of(pair.second));
        let is_within = |pair: &Before| {
            let (first, second) = ends(pair);
            first != second && reach(first) == reach(second)
        };
        let mut pairs: Vec<Before> = touching.iter().copied().filter(is_within).collect();
        if pairs.is_empty() {
            return Ok(());
        }
        pairs.sort_by_key(|pair| ends(pair).0);
        let after = |block: usize| {
            let from = pairs.partition_point(|pair| ends(pair).0 < block);
            pairs[from..].iter().map(ends).take_while(move |pair| pair.0 == block)
        };
        let mut waits = vec![0_usize; self.blocks.len()]; // The number of unplaced blocks that come before each.
        pairs.iter().for_each(|pair| waits[ends(pair).1] += 1);
        for group in sorted.chunk_by_mut(|&a, &b| reach(a) == reach(b)) {
            let mut ready: Vec<usize> = group.iter().rev().copied().filter(|&block| waits[block] == 0).collect();
            let mut placed = Vec::with_capacity(group.len());
            while let Some(block) = ready.pop() {
                placed.push(block);
                for (_, second) in after(block) {
                    waits[second] -= 1;
                    ready.extend((waits[second] == 0).then_some(second));
                }
            }
            if placed.len() < group.len() {
                let is_left = |block: usize| reach(block) == reach(group[0]) && waits[block] > 0;
                let is_left = |pair: &Before| is_left(ends(pair).0) && is_left(ends(pair).1);
                let left: Vec<Before> = pairs.iter().copied().filter(is_left).collect();
                return Err(self.wrong_circle(&left, names));
            }
            group.copy_from_slice(&placed);
        }
        Ok(())
    }

    /// The violation that blocks with the same reach precede each other in a cycle: each block that comes first in
    /// one of these pairs comes second in another.
    fn wrong_circle(&self, pairs: &[Before], names: &Names<'_, T>) -> Decision {
        let into = |block: usize| pairs.iter().find(|pair| self.block_of(pair.second) == block);
        let mut path: Vec<Before> = vec![pairs[0]];
        let circle = loop {
            let block = self.block_of(path[path.len() - 1].first);
            if let Some(from) = path.iter().position(|pair| self.block_of(pair.second) == block) {
                break path.split_off(from);
            }
            path.push(*into(block).expect("a block that waits for another"));
        };
        // The cycle goes back in time: each pair comes before the one before it in this list.
        let mut places = Vec::new();
        for (place, pair) in circle.iter().enumerate() {
            let earlier = circle[(place + 1) % circle.len()];
            places.extend(self.linked(earlier.second, pair.first));
        }
        let names_of: Vec<String> =
            circle.iter().rev().map(|pair| self.block_name(pair.first, pair.first, names)).collect();
        let sentences: Vec<String> = circle.iter().rev().map(|&pair| names.before(pair)).collect();
        let next = names_of.iter().cycle().skip(1);
        let pairs: Vec<String> =
            names_of.iter().zip(next).map(|(name, next)| format!("{name} before {next}")).collect();
        names.violation(places, format!("{}: {}", pairs.join(" and "), sentences.join(", and ")))
    }

    /// The operations of all blocks, one block after another.
    fn lay_out(&self, blocks: &[usize]) -> Vec<usize> {
        let mut next = vec![0; self.versions.len()]; // Where the next read of each version goes.
        let mut count = 0;
        let mut order = vec![NONE; self.version_of.iter().filter(|&&version| version != NONE).count()];
        for &block in blocks {
            let Block { first, last, .. } = self.blocks[block];
            for &version in &self.ranked[first..=last] {
                let Version { writer, count: reads, .. } = self.versions[version];
                if writer != NONE {
                    order[count] = writer;
                    count += 1;
                }
                next[version] = count;
                count += reads;
            }
        }
        for (place, &version) in self.version_of.iter().enumerate() {
            if version != NONE && self.versions[version].writer != place {
                order[next[version]] = place;
                next[version] += 1;
            }
        }
        order
    }

    /// Searches for an operation that missed a value which was surely there.
    fn check_misses(&self, names: &Names<'_, T>) -> Outcome<()> {
        for (place, op) in self.ops.iter().enumerate() {
            let Some(version) = self.missed(place) else { continue };
            let mut until = self.versions[version].reads;
            let next = self.versions[version].replaced_by;
            if next != NONE {
                until.join(self.written(next));
            }
            let mut from = until;
            from.join(self.written(version));
            let is_before = version == INITIAL || from.end < op.interval.start();
            if is_before && op.interval.deadline() < until.start {
                let value = self.value(version, names);
                let first = if version == INITIAL { NONE } else { from.ends };
                let last = Before::in_time(place, until.starts);
                let since = match version {
                    INITIAL => String::new(),
                    _ => format!("{}, and ", names.before(Before::in_time(from.ends, place))),
                };
                let reason = format!("{value} was there all the time: {since}{}", names.before(last));
                let mut places = self.linked(first, until.starts);
                places.push(place);
                return Err(names.violation(places, reason));
            }
        }
        Ok(())
    }

    /// The version that an operation missed, if there is one.
    fn missed(&self, place: usize) -> Option<usize> {
        match self.uses[place] {
            Use::Miss { of } if !self.is_unfinished(place) => {
                Some(self.values[of].version).filter(|&version| version != NONE)
            }
            _ => None,
        }
    }

    /// Adds the operations that missed a value, each as early as possible.
    fn place_misses(&self, order: Vec<usize>, names: &Names<'_, T>) -> Outcome<Vec<usize>> {
        let is_miss = |place: &usize| matches!(self.uses[*place], Use::Miss { .. }) && !self.is_unfinished(*place);
        let misses: Vec<usize> = (0..self.ops.len()).filter(is_miss).collect();
        if misses.is_empty() {
            return Ok(order);
        }
        // A gap is identified by the number of operations before it. For each, the latest start before it and the
        // first end after it.
        let mut latest_start = vec![0; order.len() + 1];
        let mut earliest_end = vec![u64::MAX; order.len() + 1];
        let mut gap_of = vec![NONE; self.ops.len()]; // The gap after each operation.
        let mut first_gap = vec![NONE; self.versions.len()]; // The first and the last gap at which a version is there.
        let mut last_gap = vec![NONE; self.versions.len()];
        let mut held = INITIAL;
        first_gap[INITIAL] = 0;
        for (gap, &place) in order.iter().enumerate() {
            latest_start[gap + 1] = self.ops[place].interval.start().max(latest_start[gap]);
            gap_of[place] = gap + 1;
            let version = self.version_of[place];
            if version != held {
                last_gap[held] = gap;
                first_gap[version] = gap + 1;
                held = version;
            }
        }
        for (gap, &place) in order.iter().enumerate().rev() {
            earliest_end[gap] = self.ops[place].interval.deadline().min(earliest_end[gap + 1]);
        }
        let processes = self.ops.iter().map(|op| op.process.index() + 1).max().unwrap_or(0);
        let mut before_next = vec![order.len(); self.ops.len()]; // The last gap that its process permits for a miss.
        let mut next = vec![order.len(); processes];
        for (place, op) in self.ops.iter().enumerate().rev() {
            match gap_of[place] {
                NONE => before_next[place] = next[op.process.index()],
                gap => next[op.process.index()] = gap - 1,
            }
        }
        let mut after_last = vec![0; processes]; // The first gap that its process permits for an operation.
        let mut ended: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new(); // Misses that were placed, with their gaps.
        let mut after_misses = 0;
        let mut placed: Vec<(usize, usize)> = Vec::with_capacity(misses.len());
        for (place, op) in self.ops.iter().enumerate() {
            let process = op.process.index();
            if gap_of[place] != NONE {
                after_last[process] = gap_of[place].max(after_last[process]);
            }
            if !is_miss(&place) {
                continue;
            }
            while let Some(&Reverse((end, gap))) = ended.peek()
                && end < op.interval.start()
            {
                after_misses = gap.max(after_misses);
                ended.pop();
            }
            let first = earliest_end.partition_point(|&end| end < op.interval.start());
            let last = latest_start.partition_point(|&start| start <= op.interval.deadline()) - 1;
            let mut gap = first.max(after_misses).max(after_last[process]);
            if let Some(version) = self.missed(place)
                && first_gap[version] <= gap
                && gap <= last_gap[version]
            {
                gap = last_gap[version].saturating_add(1);
            }
            if gap > last.min(before_next[place]) {
                let reason = format!("no place was found at once for {}", names.op(place));
                return Err(Decision::NotApplicable(reason));
            }
            ended.push(Reverse((op.interval.deadline(), gap)));
            after_last[process] = gap;
            placed.push((gap, place));
        }
        placed.sort_unstable();
        let mut placed = placed.into_iter().peekable();
        let mut all = Vec::with_capacity(order.len() + misses.len());
        for gap in 0..=order.len() {
            while let Some((_, place)) = placed.next_if(|miss| miss.0 == gap) {
                all.push(place);
            }
            all.extend(order.get(gap));
        }
        Ok(all)
    }
}

impl Before {
    fn in_time(first: usize, second: usize) -> Before {
        Before { first, second, is_touching: false }
    }
}
