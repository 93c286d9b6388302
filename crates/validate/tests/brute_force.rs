//! Random histories with invariants, constraints, blocked and unfinished operations, unknown results, several outcomes,
//! nondeterminism and internal steps, beside a search over all orders that shares no code with the checker.

mod case;
mod common;

use std::collections::HashSet;

use case::{Case, verdict};

const BODY: &str = r"EXTENDS Integers, FiniteSets
VARIABLES s, h
V == 1..3
Init == s \in {{}, {1}} /\ h = FALSE
Add(v) == v \notin s /\ s' = s \cup {v} /\ UNCHANGED h
Put(v) == s' = s \cup {v} /\ UNCHANGED h
Take(v) == v \in s /\ ~h /\ s' = s \ {v} /\ UNCHANGED h
Has(v, ok) == ok = (v \in s) /\ UNCHANGED <<s, h>>
Toss(v) == \E w \in V : s' = {v, w} /\ UNCHANGED h
Lock == ~h /\ h' = TRUE /\ UNCHANGED s
Unlock == h /\ h' = FALSE /\ UNCHANGED s
Leak == \E v \in s : h /\ s' = s \ {v} /\ UNCHANGED h
Next == (\E v \in V : Add(v) \/ Put(v) \/ Take(v) \/ Toss(v) \/ \E ok \in BOOLEAN : Has(v, ok))
    \/ Lock \/ Unlock \/ Leak
Small == Cardinality(s) <= 1
Few == Cardinality(s) <= 2
Lit == ~h
Full == h => s # {}";

/// The set as bits, and the switch.
type State = (u8, bool);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Done,
    Unfinished,
    Blocked,
}

/// An operation: its outcomes, its argument, its recorded result, its times.
struct Op {
    names: Vec<&'static str>,
    v: u8,
    ok: bool,
    start: u64,
    /// For an unfinished operation, its latest time.
    end: Option<u64>,
    kind: Kind,
}

/// The steps of an action, by the text of the specification.
fn steps(name: &str, v: u8, ok: bool, (s, h): State) -> Vec<State> {
    let bit = 1 << v;
    let has = s & bit != 0;
    let when = |is_enabled: bool, next: State| if is_enabled { vec![next] } else { Vec::new() };
    match name {
        "Add" => when(!has, (s | bit, h)),
        "Put" => vec![(s | bit, h)],
        "Take" => when(has && !h, (s & !bit, h)),
        "Has" => when(ok == has, (s, h)),
        "Toss" => (1..=3).map(|w| (bit | 1 << w, h)).collect(),
        "Lock" => when(!h, (s, true)),
        "Unlock" => when(h, (s, false)),
        "Leak" => (1..=3).filter(|w| h && s & 1 << w != 0).map(|w| (s & !(1 << w), h)).collect(),
        other => panic!("{other} is not an action"),
    }
}

fn holds(predicate: &str, (s, h): State) -> bool {
    match predicate {
        "Small" => s.count_ones() <= 1,
        "Few" => s.count_ones() <= 2,
        "Lit" => !h,
        "Full" => !h || s != 0,
        _ => true,
    }
}

/// The verdict of a search over every order.
fn expected(ops: &[Op], invariant: &str, constraint: &str, is_leaking: bool) -> &'static str {
    let all = |op: &Op, state: State| -> Vec<State> {
        let results: &[bool] = if op.kind == Kind::Done { &[op.ok] } else { &[false, true] };
        let ways = op.names.iter().flat_map(|name| results.iter().flat_map(|ok| steps(name, op.v, *ok, state)));
        ways.filter(|next| holds(constraint, *next)).collect()
    };
    let is_over = |first: &Op, second: &Op| first.end.is_some_and(|end| end < second.start);
    let mut todo: Vec<(u32, State, bool)> = Vec::new();
    for initial in [(0, false), (1 << 1, false)].into_iter().filter(|state| holds(constraint, *state)) {
        todo.push((0, initial, holds(invariant, initial)));
    }
    let mut seen: HashSet<(u32, State, bool)> = todo.iter().copied().collect();
    let mut is_explained = false;
    while let Some((placed, state, is_kept)) = todo.pop() {
        let is_placed = |index: usize| placed & 1 << index != 0;
        let must = |(index, op): (usize, &Op)| op.kind != Kind::Done || is_placed(index);
        let waits = |op: &Op| op.kind != Kind::Blocked || all(op, state).is_empty();
        if ops.iter().enumerate().all(must) && ops.iter().all(waits) {
            if is_kept {
                return "accepted";
            }
            is_explained = true;
        }
        let mut next = Vec::new();
        for (index, op) in ops.iter().enumerate() {
            if is_placed(index) || op.kind == Kind::Blocked {
                continue;
            }
            // An unfinished operation whose latest time is over will never take effect.
            let earlier = || ops.iter().enumerate().filter(|(_, first)| is_over(first, op));
            if earlier().all(|(first, op)| is_placed(first) || op.kind == Kind::Unfinished) {
                let gone = earlier().fold(placed, |gone, (first, _)| gone | 1 << first);
                next.extend(all(op, state).into_iter().map(|to| (gone | 1 << index, to)));
            }
        }
        if is_leaking {
            let leaks = steps("Leak", 0, false, state).into_iter().filter(|to| holds(constraint, *to));
            next.extend(leaks.map(|to| (placed, to)));
        }
        for (placed, to) in next {
            let config = (placed, to, is_kept && holds(invariant, to));
            if seen.insert(config) {
                todo.push(config);
            }
        }
    }
    if is_explained { "violated" } else { "rejected" }
}

/// Numbers that look random (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A few operations of two to four processes. Nothing follows an operation that did not finish.
fn history(random: &mut Random, is_leaking: bool) -> (String, Vec<Op>) {
    const NAMES: [&str; 7] = ["Add", "Put", "Take", "Has", "Toss", "Lock", "Unlock"];
    let mut free = vec![Some(0); 2 + random.below(3) as usize];
    let (mut now, mut text, mut ops) = (1, String::new(), Vec::new());
    let mut blocked = 0;
    for _ in 0..2 + random.below(5) {
        let process = random.below(free.len() as u64) as usize;
        let Some(idle_since) = free[process] else { continue };
        let start = (now - random.below(now.min(4))).max(idle_since + 1);
        let kind = match random.below(20) {
            0..13 => Kind::Done,
            13..17 => Kind::Unfinished,
            // Which of two waits first is not said where steps come between.
            _ if is_leaking && blocked > 0 => Kind::Done,
            _ => Kind::Blocked,
        };
        blocked += usize::from(kind == Kind::Blocked);
        let name = random.pick(&NAMES);
        let mut names = vec![name];
        let has_argument = !matches!(name, "Lock" | "Unlock");
        if kind == Kind::Unfinished && has_argument && random.below(4) == 0 {
            names.extend(Some(random.pick(&["Add", "Take"])).filter(|other| *other != name));
        }
        let (v, ok) = (1 + random.below(3) as u8, random.below(2) == 0);
        let end = match kind {
            Kind::Done => Some(start + 1 + random.below(5)),
            Kind::Unfinished => (random.below(3) == 0).then(|| start + 1 + random.below(5)),
            Kind::Blocked => None,
        };
        let times = match (kind, end) {
            (Kind::Done, Some(end)) => format!("{start} {end}"),
            (_, Some(latest)) => format!("{start} ..{latest}"),
            (_, None) => format!("{start} ..."),
        };
        let args = if has_argument { format!("v: {v}") } else { String::new() };
        let result = match (name, kind) {
            ("Has", Kind::Done) => format!(" = ok: {}", if ok { "TRUE" } else { "FALSE" }),
            _ => String::new(),
        };
        let waits = if kind == Kind::Blocked { " blocked" } else { "" };
        let call = if names.len() > 1 { format!("\"{}\"", names.join("|")) } else { name.to_owned() };
        text += &format!("p{process} [{times}] {call}({args}){result}{waits}\n");
        free[process] = end.filter(|_| kind == Kind::Done);
        now = now.max(start) + 1 + random.below(2);
        ops.push(Op { names, v, ok, start, end, kind });
    }
    (text, ops)
}

/// Compares verdicts on random histories; returns how many were accepted, rejected and violated.
fn compare(seed: u64, many: usize) -> [usize; 3] {
    const INVARIANTS: [(&str, &str); 5] = [
        ("", ""),
        ("Small", "INVARIANT Small"),
        ("Few", "INVARIANT Few"),
        ("Lit", "INVARIANT Lit"),
        ("Full", "INVARIANT Full"),
    ];
    const CONSTRAINED: [(&str, &str, &str); 2] =
        [("Small", "Few", "INVARIANT Small CONSTRAINT Few"), ("Full", "Small", "INVARIANT Full CONSTRAINT Small")];
    let mut random = Random(seed);
    let mut counts = [0; 3];
    for index in 0..many {
        let is_leaking = index % 3 == 0;
        let (invariant, constraint, config) = match index % 7 {
            place @ 0..5 => (INVARIANTS[place].0, "", INVARIANTS[place].1),
            place => CONSTRAINED[place - 5],
        };
        let settings = if is_leaking { "internal = [\"Leak\"]" } else { "" };
        let (trace, ops) = history(&mut random, is_leaking);
        let expected = expected(&ops, invariant, constraint, is_leaking);
        let found = verdict(Case { body: BODY, config, settings }, &trace);
        assert_eq!(found, expected, "{config}\n{settings}\n{trace}");
        let verdicts = ["accepted", "rejected", "violated"];
        counts[verdicts.iter().position(|verdict| *verdict == expected).expect("a verdict")] += 1;
    }
    counts
}

#[test]
fn verdicts_are_those_of_a_search_over_all_orders() {
    let [accepted, rejected, violated] = compare(0x5eed, 1_500);
    assert!(accepted > 200 && rejected > 200 && violated > 50, "{accepted} {rejected} {violated}");
}

#[test]
#[ignore = "takes minutes"]
fn verdicts_are_those_of_a_search_over_all_orders_in_more_histories() {
    for seed in 1..=20 {
        compare(seed * 7919, 2_000);
    }
}
