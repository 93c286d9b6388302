//! The procedure for registers against the definitions.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this file is tests")]

use std::collections::BTreeMap;

use omnilink_history::{History, Interval, OpId, Precedence};
use omnilink_weak::registers::Access::{Read, Write};
use omnilink_weak::registers::{Access, Axioms, Decision, Touch, decide};

const INITIAL: u64 = 0;
const ORDERS: [Precedence; 3] = [Precedence::RealTime, Precedence::Program, Precedence::None];
const LEVELS: [(&str, Axioms); 9] = [
    ("weak", Axioms::WEAK),
    ("read my writes", Axioms::READ_MY_WRITES),
    ("monotonic reads", Axioms::MONOTONIC_READS),
    ("monotonic writes", Axioms::MONOTONIC_WRITES),
    ("writes follow reads", Axioms::WRITES_FOLLOW_READS),
    ("PRAM", Axioms::PRAM),
    ("causal", Axioms::CAUSAL),
    ("RMW, MR, MW", Axioms { po: true, vis_po: true, write_po_write_vis: true, ..Axioms::WEAK }),
    ("RMW, MR, MW, WFR", Axioms { po: true, vis_po: true, write_po_write_vis: true, ..Axioms::WRITES_FOLLOW_READS }),
];

/// For each operation, the set of those related to it on the left, as bits.
type Relation = Vec<u64>;

fn compose(first: &Relation, second: &Relation) -> Relation {
    second.iter().map(|&middle| bits(middle).fold(0, |all, middle| all | first[middle])).collect()
}

fn bits(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| set >> bit & 1 == 1)
}

fn bit(op: usize) -> u64 {
    1 << op
}

/// Operations that took effect.
struct Execution {
    calls: Vec<Touch>,
    ids: Vec<OpId>,
    po: Relation,
    before: Relation, // By the order, transitive.
    axioms: Axioms,
}

impl Execution {
    fn new(
        history: &History<Touch>,
        takes_effect: impl Fn(OpId) -> bool,
        axioms: Axioms,
        order: Precedence,
    ) -> Execution {
        let ops: Vec<_> = history.ops().iter().filter(|op| takes_effect(op.id)).collect();
        let relate = |is_before: &dyn Fn(usize, usize) -> bool| {
            let row =
                |second| (0..ops.len()).filter(|&first| is_before(first, second)).fold(0, |set, op| set | bit(op));
            (0..ops.len()).map(row).collect()
        };
        let is_po = |a: usize, b: usize| ops[a].process == ops[b].process && ops[a].index < ops[b].index;
        let is_before = |a: usize, b: usize| match order {
            Precedence::RealTime => is_po(a, b) || ops[a].interval.precedes(ops[b].interval),
            Precedence::Program => is_po(a, b),
            Precedence::None => false,
        };
        Execution {
            calls: ops.iter().map(|op| op.call).collect(),
            ids: ops.iter().map(|op| op.id).collect(),
            po: relate(&is_po),
            before: relate(&is_before),
            axioms,
        }
    }

    fn writes(&self) -> u64 {
        (0..self.calls.len()).filter(|&op| self.calls[op].access == Write).fold(0, |set, op| set | bit(op))
    }

    /// The relations that `vis` and `lin` must contain.
    fn demands(&self, vis: &Relation, among: u64) -> (Relation, Relation) {
        let restrict = |relation: &Relation, left: u64, right: u64| -> Relation {
            let row = |(op, set): (usize, &u64)| if right & bit(op) != 0 { set & left } else { 0 };
            relation.iter().enumerate().map(row).collect()
        };
        let (po, writes) = (restrict(&self.po, among, among), self.writes());
        let writes_po = restrict(&po, writes, writes);
        let po_to_writes = restrict(&po, among, writes);
        let vis_po = compose(vis, &po);
        let all = [
            (self.axioms.po, po.clone()),
            (self.axioms.vis_po, vis_po.clone()),
            (self.axioms.po_vis, compose(&po, vis)),
            (self.axioms.write_po_write_vis, compose(&writes_po, vis)),
            (self.axioms.vis_po_write_vis, compose(&compose(vis, &po_to_writes), vis)),
            (self.axioms.vis_vis, compose(vis, vis)),
        ];
        let none = vec![0; self.calls.len()];
        let join = |a: Relation, b: &Relation| -> Relation { a.iter().zip(b).map(|(a, b)| a | b).collect() };
        let vis = all.iter().filter(|(holds, _)| *holds).fold(none.clone(), |set, (_, more)| join(set, more));
        (vis, if self.axioms.lin_vis_po { vis_po } else { none })
    }

    fn is_explained_by(&self, lin: Option<&[usize]>) -> bool {
        let none = vec![0; self.calls.len()];
        self.search(&mut Vec::new(), &mut none.clone(), &mut none.clone(), lin)
    }

    /// Tries every operation as the next one in `lin` (or the next of `fixed`), and every set of earlier ones as those
    /// that it sees. The axioms among the operations of a prefix never become true again, so they are checked early.
    fn search(
        &self,
        lin: &mut Vec<usize>,
        earlier: &mut Relation,
        vis: &mut Relation,
        fixed: Option<&[usize]>,
    ) -> bool {
        let placed = lin.iter().fold(0, |set, &op| set | bit(op));
        if lin.len() == self.calls.len() {
            return true;
        }
        for op in 0..self.calls.len() {
            let is_next = fixed.is_none_or(|fixed| fixed[lin.len()] == op);
            if !is_next || placed & bit(op) != 0 || self.before[op] & !placed != 0 {
                continue;
            }
            earlier[op] = placed;
            lin.push(op);
            let mut seen = placed;
            loop {
                vis[op] = seen;
                if self.returns(op, seen, lin) {
                    let (in_vis, in_lin) = self.demands(vis, placed | bit(op));
                    let holds = |demand: &Relation, of: &Relation| demand.iter().zip(of).all(|(a, b)| a & !b == 0);
                    if holds(&in_vis, vis) && holds(&in_lin, earlier) && self.search(lin, earlier, vis, fixed) {
                        return true;
                    }
                }
                if seen == 0 {
                    break;
                }
                seen = (seen - 1) & placed;
            }
            vis[op] = 0;
            earlier[op] = 0;
            lin.pop();
        }
        false
    }

    /// True for a write, and for a read that returns the last value that it sees.
    fn returns(&self, op: usize, seen: u64, lin: &[usize]) -> bool {
        let Touch { key, value, access } = self.calls[op];
        let is_write = |&&other: &&usize| {
            seen & bit(other) != 0 && self.calls[other].access == Write && self.calls[other].key == key
        };
        let last = lin.iter().rev().find(is_write).map_or(INITIAL, |&write| self.calls[write].value);
        access == Write || value == last
    }

    /// For each read, the write whose value it returned. `None` if a read returned a value that was not written.
    fn sources(&self) -> Option<Relation> {
        let source = |call: &Touch| {
            let is_source = |other: &Touch| *other == Touch { access: Write, ..*call };
            match self.calls.iter().position(is_source).filter(|_| call.access == Read) {
                Some(write) => Some(bit(write)),
                None => (call.access == Write || call.value == INITIAL).then_some(0),
            }
        };
        self.calls.iter().map(source).collect()
    }

    /// The least `vis` that contains the sources of reads.
    fn least_vis(&self, sources: &Relation) -> Relation {
        let mut vis = sources.clone();
        loop {
            let (more, _) = self.demands(&vis, u64::MAX);
            let next: Relation = vis.iter().zip(&more).map(|(a, b)| a | b).collect();
            if next == vis {
                return vis;
            }
            vis = next;
        }
    }

    /// The least `vis` as a fixpoint, and the graph as a matrix: for histories that are too long for the search.
    fn has_acyclic_graph(&self) -> bool {
        let count = self.calls.len();
        let Some(sources) = self.sources() else { return false };
        let vis = self.least_vis(&sources);
        let (_, in_lin) = self.demands(&vis, u64::MAX);
        let mut graph: Relation = (0..count).map(|op| vis[op] | in_lin[op] | self.before[op]).collect();
        for (read, call) in self.calls.iter().enumerate().filter(|(_, call)| call.access == Read) {
            let is_other = |&write: &usize| self.calls[write].key == call.key && sources[read] & bit(write) == 0;
            let others = bits(vis[read] & self.writes()).filter(is_other).fold(0, |set, write| set | bit(write));
            match bits(sources[read]).next() {
                Some(source) => graph[source] |= others,
                None if others != 0 => return false,
                None => {}
            }
        }
        for middle in 0..count {
            for op in 0..count {
                if graph[op] & bit(middle) != 0 {
                    graph[op] |= graph[middle];
                }
            }
        }
        (0..count).all(|op| graph[op] & bit(op) == 0)
    }

    /// True if this order explains the history with the least `vis`.
    fn is_lin(&self, lin: &[usize]) -> bool {
        let vis = self.least_vis(&self.sources().unwrap());
        let (_, in_lin) = self.demands(&vis, u64::MAX);
        let mut placed = 0;
        lin.iter().enumerate().all(|(place, &op)| {
            let is_next = (vis[op] | in_lin[op] | self.before[op]) & !placed == 0;
            placed |= bit(op);
            is_next && self.returns(op, vis[op], &lin[..=place])
        })
    }
}

/// Every choice of the unfinished operations that took effect.
fn executions(history: &History<Touch>, axioms: Axioms, order: Precedence) -> impl Iterator<Item = Execution> {
    let is_open = |op: &&omnilink_history::Op<Touch>| op.interval.is_unfinished();
    let open: Vec<OpId> =
        history.ops().iter().filter(is_open).filter(|op| op.call.access == Write).map(|op| op.id).collect();
    (0..bit(open.len())).map(move |chosen| {
        let takes_effect = |id: OpId| {
            let finished = !history.op(id).interval.is_unfinished();
            finished || open.iter().position(|other| *other == id).is_some_and(|place| chosen & bit(place) != 0)
        };
        Execution::new(history, takes_effect, axioms, order)
    })
}

/// Checks the order of a consistent history and the operations of a violation against the definitions.
fn check_evidence(history: &History<Touch>, axioms: Axioms, order: Precedence, decision: &Decision) {
    match decision {
        Decision::Consistent(lin) => {
            let execution = Execution::new(history, |id| lin.contains(&id), axioms, order);
            assert!(history.ops().iter().all(|op| op.interval.is_unfinished() || lin.contains(&op.id)));
            let places = lin.iter().map(|id| execution.ids.iter().position(|other| other == id).unwrap());
            let places: Vec<usize> = places.collect();
            assert!(execution.is_lin(&places), "{lin:?} is not a witness");
            assert!(lin.len() > 6 || execution.is_explained_by(Some(&places)), "{lin:?} is not a witness");
        }
        Decision::Violation { ops, reason } => {
            let part = restrict(history, ops);
            match decide(&part, INITIAL, &axioms, order) {
                Decision::Violation { reason: again, .. } => {
                    let is_unwritten = |reason: &str| reason.ends_with("that no operation wrote");
                    assert_eq!(is_unwritten(reason), is_unwritten(&again), "{reason}\n{again}");
                }
                other => panic!("{reason}\nbut the operations alone: {other:?}"),
            }
            if ops.len() <= 6 {
                assert!(executions(&part, axioms, order).all(|execution| !execution.is_explained_by(None)));
            }
        }
        Decision::NotApplicable(_) => {}
    }
}

fn restrict(history: &History<Touch>, ops: &[OpId]) -> History<Touch> {
    let keep = |op: &omnilink_history::Op<Touch>| Ok::<_, ()>(ops.contains(&op.id).then_some(op.call));
    history.try_map(keep).unwrap()
}

/// Random intervals, keys and values. Most reads return a value that was written to their key.
fn random(random: &mut fastrand::Rng, max_ops: usize, processes: u32, keys: u32) -> History<Touch> {
    let count = random.usize(max_ops - 2..=max_ops);
    let mut calls: Vec<(u32, Interval, Touch)> = Vec::new();
    let mut times = vec![0; processes as usize];
    let mut is_over = vec![false; processes as usize];
    let writes = random.u32(2..=6);
    for value in 1..=count as u64 {
        let process = random.u32(0..processes);
        if is_over[process as usize] {
            continue;
        }
        let time = &mut times[process as usize];
        let start = *time + random.u64(0..3);
        *time = start + random.u64(0..5);
        let ran = match random.u32(0..12) {
            0 => Interval::unfinished(start),
            1 => Interval::unknown(start, *time).unwrap(),
            _ => Interval::new(start, *time).unwrap(),
        };
        is_over[process as usize] = ran.is_unfinished();
        let access = if random.u32(0..10) < writes { Write } else { Read };
        calls.push((process, ran, Touch { key: random.u32(0..keys), value, access }));
    }
    let (twin, rare) = (random.u32(0..20) == 0, 30 * max_ops);
    for index in 0..calls.len() {
        let Touch { key, access, .. } = calls[index].2;
        let of_key = |call: &&(u32, Interval, Touch)| call.2.key == key && call.2.access == Write;
        let values: Vec<u64> = calls.iter().filter(of_key).map(|call| call.2.value).collect();
        let value = &mut calls[index].2.value;
        match access {
            Write if twin && random.bool() => *value = random.u64(0..=1),
            Write => {}
            Read if random.usize(0..rare) == 0 => *value = 1000,
            Read if random.u32(0..5) == 0 => *value = INITIAL,
            Read => *value = random.choice(values).unwrap_or(INITIAL),
        }
    }
    History::from_intervals(calls).unwrap()
}

/// The number of consistent histories and of all, by level and order.
#[derive(Default)]
struct Counts(BTreeMap<String, (u32, u32)>);

impl Counts {
    fn add(&mut self, name: String, is_consistent: bool) {
        let (consistent, all) = self.0.entry(name).or_default();
        *consistent += u32::from(is_consistent);
        *all += 1;
    }

    fn check(&self, percent: std::ops::RangeInclusive<u32>, is_trivial: impl Fn(&str) -> bool) {
        for (name, (consistent, all)) in &self.0 {
            println!("{name}: {consistent} of {all} consistent");
            let is_common = percent.contains(&(consistent * 100 / all));
            assert!(is_common || is_trivial(name), "{name}: {consistent} of {all}");
        }
    }
}

#[test]
fn small_histories_agree_with_the_definitions() {
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut counts, mut inapplicable) = (Counts::default(), 0);
    for round in 0..21_600 {
        let (name, axioms) = LEVELS[round % LEVELS.len()];
        let order = ORDERS[round / LEVELS.len() % ORDERS.len()];
        let (processes, keys) = (rng.u32(1..=3), rng.u32(1..=2));
        let history = random(&mut rng, 6, processes, keys);
        let decision = decide(&history, INITIAL, &axioms, order);
        let is_consistent = match decision {
            Decision::NotApplicable(_) => {
                inapplicable += 1;
                continue;
            }
            Decision::Consistent(_) => true,
            Decision::Violation { .. } => false,
        };
        let expected = executions(&history, axioms, order).any(|execution| execution.is_explained_by(None));
        assert_eq!(is_consistent, expected, "round {round}: {name}, {order:?}\n{:#?}\n{decision:?}", history.ops());
        check_evidence(&history, axioms, order, &decision);
        counts.add(format!("{name}, {order:?}"), is_consistent);
    }
    println!("not applicable: {inapplicable}");
    // Without an order, these levels have no edge from a read, and so no cycle.
    counts.check(20..=80, |name| ["weak, None", "monotonic writes, None"].contains(&name));
}

/// A history of a store with a replica for each process, and some reads that return another value of their key. The
/// last write is the one with the largest Lamport timestamp. The store is causally consistent, unless a replica takes
/// over single keys, or the own writes of another process only, or timestamps ignore those of other processes.
fn simulated(random: &mut fastrand::Rng) -> History<Touch> {
    let (processes, keys, count) = (random.usize(2..=5), random.usize(1..=4), random.u64(40..=63));
    let mut replicas = vec![vec![(0, 0, INITIAL); keys]; processes];
    let mut clocks = vec![0; processes];
    let mut times = vec![0; processes];
    let mut is_over = vec![false; processes];
    let (pulls, wrong, skew) = (random.u32(1..3), random.u64(0..3), random.u64(0..6));
    let (transfer, is_lamport) = (random.u32(0..3), random.bool());
    let mut values = vec![vec![INITIAL]; keys];
    let mut calls = Vec::new();
    for value in 1..=count {
        let (process, key) = (random.usize(..processes), random.usize(..keys));
        if is_over[process] {
            continue;
        }
        if random.u32(..pulls) == 0 {
            let other = random.usize(..processes);
            let theirs = replicas[other].clone();
            let only = random.usize(..keys);
            for (key, (ours, theirs)) in replicas[process].iter_mut().zip(theirs).enumerate() {
                let is_sent = match transfer {
                    0 => key == only,
                    1 => theirs.1 == other,
                    _ => true,
                };
                *ours = if is_sent { theirs.max(*ours) } else { *ours };
            }
            clocks[process] = if is_lamport { clocks[other].max(clocks[process]) } else { clocks[process] };
        }
        let start: u64 = (10 * value + process as u64 * 30 * (skew / 4)).max(times[process]);
        times[process] = start + random.u64(0..=4 * skew);
        let access = if random.u32(..3) == 0 { Write } else { Read };
        let mut ran = Interval::new(start, times[process]).unwrap();
        if random.u64(..count) == 0 {
            is_over[process] = true;
            ran = Interval::unfinished(start);
        }
        let value = match access {
            Write => {
                clocks[process] += 1;
                replicas[process][key] = (clocks[process], process, value);
                values[key].push(value);
                value
            }
            Read if random.u64(..count) < wrong => WRONG,
            Read => replicas[process][key].2,
        };
        calls.push((process as u32, ran, Touch { key: key as u32, value, access }));
    }
    for (_, _, call) in calls.iter_mut().filter(|(_, _, call)| call.value == WRONG) {
        call.value = random.choice(values[call.key as usize].iter().copied()).unwrap();
    }
    History::from_intervals(calls).unwrap()
}

/// Stands for a value that is chosen when all are known, so that a read may return one that is written later.
const WRONG: u64 = u64::MAX;

#[test]
fn longer_histories_agree_with_the_least_fixpoint() {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut counts = Counts::default();
    for round in 0..1500 {
        let history = simulated(&mut rng);
        let is_read = |id: OpId| {
            let write = history.op(id).call;
            let read = Touch { access: Read, ..write };
            write.access == Write && history.ops().iter().any(|op| op.call == read && !op.interval.is_unfinished())
        };
        let counts_for = |id: OpId| !history.op(id).interval.is_unfinished() || is_read(id);
        for (name, axioms) in LEVELS {
            for order in ORDERS {
                let decision = decide(&history, INITIAL, &axioms, order);
                let expected = Execution::new(&history, counts_for, axioms, order).has_acyclic_graph();
                let is_consistent = matches!(decision, Decision::Consistent(_));
                assert_eq!(is_consistent, expected, "round {round}: {name}, {order:?}: {decision:?}");
                check_evidence(&history, axioms, order, &decision);
                counts.add(format!("{name}, {order:?}"), is_consistent);
            }
        }
    }
    counts.check(10..=90, |name| name.contains("writes") || name.starts_with("weak"));
    // Each level is weaker than some other one in some history.
    for [stronger, weaker] in [
        ["causal, Program", "PRAM, Program"],
        ["causal, Program", "writes follow reads, Program"],
        ["causal, RealTime", "causal, Program"],
        ["PRAM, Program", "read my writes, Program"],
        ["PRAM, Program", "monotonic reads, Program"],
        ["writes follow reads, None", "weak, None"],
    ] {
        assert!(counts.0[stronger].0 < counts.0[weaker].0, "{stronger} is stronger than {weaker}");
    }
}

/// Operations as (process, access, key, value), one after another.
fn sequential(calls: &[(u32, Access, u32, u64)]) -> History<Touch> {
    let call = |(time, &(process, access, key, value)): (u64, &(u32, Access, u32, u64))| {
        (process, 2 * time, Some(2 * time + 1), Touch { key, value, access })
    };
    History::from_calls((0..).zip(calls).map(call)).unwrap()
}

#[test]
fn a_violation_names_the_causal_chain() {
    let calls = [
        (0, Write, 0, 1),
        (0, Write, 0, 2),
        (0, Write, 1, 3),
        (3, Write, 5, 9),
        (1, Read, 1, 3),
        (1, Write, 2, 4),
        (3, Read, 5, 9),
        (2, Read, 2, 4),
        (2, Read, 0, 1),
    ];
    let history = sequential(&calls);
    let Decision::Violation { ops, reason } = decide(&history, INITIAL, &Axioms::CAUSAL, Precedence::Program) else {
        panic!("a violation")
    };
    assert_eq!(ops, [0, 1, 2, 4, 5, 7, 8].map(OpId));
    assert_eq!(
        reason,
        "T0:0 would have to come before itself: T0:0 precedes T0:1 in its session; T0:1 precedes T0:0 because T2:1 \
         read the value of T0:0, and T2:1 sees T0:1, a write of the same key (T0:1, then T0:2 in its session, read by \
         T1:0, then T1:1 in its session, read by T2:0, then T2:1 in its session)"
    );
    let pram = decide(&history, INITIAL, &Axioms::PRAM, Precedence::Program);
    assert!(matches!(pram, Decision::Consistent(_)), "{pram:?}");
}

#[test]
fn a_read_of_the_initial_value_sees_no_write() {
    let history = sequential(&[(0, Write, 0, 1), (1, Read, 0, 1), (1, Read, 0, INITIAL)]);
    let check = |axioms| decide(&history, INITIAL, &axioms, Precedence::Program);
    let reason = "T1:1 read the initial value and missed T0:0: T1:1 sees T0:0, a write of the same key (T1:0, before \
                  T1:1 in its session, read the value of T0:0)";
    let ops = vec![OpId(0), OpId(1), OpId(2)];
    assert_eq!(check(Axioms::MONOTONIC_READS), Decision::Violation { ops, reason: reason.to_owned() });
    assert!(matches!(check(Axioms::READ_MY_WRITES), Decision::Consistent(_)));
}

#[test]
fn ambiguous_values_and_other_axioms_are_not_applicable() {
    let check = |calls: &[_], axioms| decide(&sequential(calls), INITIAL, &axioms, Precedence::Program);
    let not_applicable = |reason: &str| Decision::NotApplicable(reason.to_owned());
    let twice = [(0, Write, 0, 1), (1, Write, 0, 1), (2, Read, 0, 1)];
    assert_eq!(check(&twice, Axioms::CAUSAL), not_applicable("T2:0 read a value that was written twice to its key"));
    assert!(matches!(check(&twice[..2], Axioms::CAUSAL), Decision::Consistent(_)));
    assert_eq!(
        check(&[(0, Write, 0, INITIAL), (1, Read, 0, INITIAL)], Axioms::CAUSAL),
        not_applicable("T1:0 read the initial value, which was written again")
    );
    assert_eq!(
        check(&[], Axioms { vis_vis: true, ..Axioms::WEAK }),
        not_applicable("this combination of axioms has no polynomial procedure")
    );
    let related = sequential(&twice[..2]).with_edges([(OpId(0), OpId(1))]).unwrap();
    assert_eq!(
        decide(&related, INITIAL, &Axioms::CAUSAL, Precedence::Program),
        not_applicable("the history has edges between operations")
    );
    let crowd: Vec<_> = (0..16_385).map(|process| (process, Write, 0, u64::from(process) + 1)).collect();
    assert_eq!(check(&crowd, Axioms::CAUSAL), not_applicable("more than 16384 sessions"));
    assert!(matches!(check(&crowd, Axioms::READ_MY_WRITES), Decision::Consistent(_)));
    assert_eq!(
        decide(&History::default(), INITIAL, &Axioms::CAUSAL, Precedence::RealTime),
        Decision::Consistent(vec![])
    );
}
