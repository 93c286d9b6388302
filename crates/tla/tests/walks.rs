//! Random walks and covers of random graphs, compared with the graphs.

mod common;

use std::collections::{BTreeSet, VecDeque};

use common::{NullWorld, machine, program};
use omnilink_tla::datum::World;
use omnilink_tla::program::Program;
use omnilink_tla::reach::{BehaviorStep, Choose, Cover, Verdict, WalkPlan, cover, simulate};
use omnilink_tla::value::Value;

fn worlds<'p>(count: usize) -> Vec<Box<dyn World + Send + 'p>> {
    (0..count).map(|_| Box::new(NullWorld) as Box<dyn World + Send>).collect()
}

/// Numbers that differ from case to case.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// A graph of the states `0..size`, with two actions.
struct Graph {
    size: usize,
    starts: BTreeSet<usize>,
    /// The successors by `A` and by `B`.
    edges: [Vec<BTreeSet<usize>>; 2],
    /// States outside the constraint.
    excluded: BTreeSet<usize>,
    /// A state that breaks the invariant.
    wrong: Option<usize>,
    /// A step that breaks the property.
    wrong_step: Option<(usize, usize)>,
    check_deadlock: bool,
}

impl Graph {
    fn random(draw: &mut Draw) -> Graph {
        let size = 2 + draw.below(9);
        let mut states = |most: usize| (0..draw.below(most + 1)).map(|_| draw.below(size)).collect::<BTreeSet<_>>();
        let edges = [0, 1].map(|_| (0..size).map(|_| states(2)).collect());
        let (starts, excluded) = (states(2), states(1));
        Graph {
            size,
            starts: if starts.is_empty() { BTreeSet::from([0]) } else { starts },
            edges,
            excluded,
            wrong: (draw.below(2) == 0).then(|| draw.below(size)),
            wrong_step: (draw.below(3) == 0).then(|| (draw.below(size), draw.below(size))),
            check_deadlock: draw.below(4) == 0,
        }
    }

    fn program(&self) -> Program {
        let set = |set: &BTreeSet<usize>| {
            format!("{{{}}}", set.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        };
        let edges = |edges: &[BTreeSet<usize>]| {
            let pairs: Vec<String> =
                edges.iter().enumerate().map(|(from, to)| format!("{from} :> {}", set(to))).collect();
            pairs.join(" @@ ")
        };
        let wrong = self.wrong.map_or(-1, |state| state as i64);
        let (from, to) = self.wrong_step.map_or((-1, -1), |(from, to)| (from as i64, to as i64));
        let text = format!(
            "---- MODULE M ----\nEXTENDS Integers, TLC\nVARIABLE x\nInit == x \\in {}\n\
             As == {}\nBs == {}\n\
             A(y) == y \\in As[x] /\\ x' = y\nB(y) == y \\in Bs[x] /\\ x' = y\n\
             Next == \\E y \\in 0..{} : A(y) \\/ B(y)\n\
             Allowed == x \\notin {}\nRight == x # {wrong}\nSteps == [][~(x = {from} /\\ x' = {to})]_x\n====\n",
            set(&self.starts),
            edges(&self.edges[0]),
            edges(&self.edges[1]),
            self.size - 1,
            set(&self.excluded),
        );
        let config = format!(
            "INIT Init\nNEXT Next\nINVARIANT Right\nPROPERTY Steps\nCONSTRAINT Allowed\nCHECK_DEADLOCK {}\n",
            if self.check_deadlock { "TRUE" } else { "FALSE" }
        );
        program(&text, &config).expect("the module can be linked")
    }

    /// The distinct successors of a state, with those that the constraint excludes.
    fn successors(&self, state: usize) -> BTreeSet<usize> {
        self.edges[0][state].union(&self.edges[1][state]).copied().collect()
    }

    fn is_wrong(&self, from: Option<usize>, state: usize) -> bool {
        // A step that changes nothing satisfies `[]`.
        let is_step = from.is_some_and(|from| from != state && self.wrong_step == Some((from, state)));
        self.wrong == Some(state) || is_step
    }

    /// Whether a check ends in this state without going on.
    fn is_stuck(&self, state: usize) -> bool {
        self.check_deadlock && self.successors(state).is_empty()
    }

    /// The length of the shortest behavior from `first` that ends like this one.
    fn shortest(&self, first: usize, is_end: impl Fn(Option<usize>, usize) -> bool) -> usize {
        if is_end(None, first) {
            return 1;
        }
        let mut seen = BTreeSet::from([first]);
        let mut queue = VecDeque::from([(first, 1)]);
        while let Some((state, length)) = queue.pop_front() {
            for next in self.successors(state) {
                if is_end(Some(state), next) {
                    return length + 1;
                }
                if !self.excluded.contains(&next) && seen.insert(next) {
                    queue.push_back((next, length + 1));
                }
            }
        }
        panic!("the end was reached before");
    }

    /// The states and steps that are reachable within the constraint.
    fn reachable(&self) -> (BTreeSet<usize>, BTreeSet<(usize, &'static str, usize)>) {
        let mut states: BTreeSet<usize> = self.starts.difference(&self.excluded).copied().collect();
        let mut todo: Vec<usize> = states.iter().copied().collect();
        let mut steps = BTreeSet::new();
        while let Some(state) = todo.pop() {
            for (name, edges) in ["A", "B"].into_iter().zip(&self.edges) {
                for &to in edges[state].difference(&self.excluded) {
                    steps.insert((state, name, to));
                    if states.insert(to) {
                        todo.push(to);
                    }
                }
            }
        }
        (states, steps)
    }
}

fn number(step: &BehaviorStep) -> usize {
    match &step.state[0] {
        Value::Int(number) => *number as usize,
        other => panic!("{other:?} is no state of the graph"),
    }
}

/// Whether a behavior is one of the graph. The last state may be outside the constraint.
fn assert_behavior(graph: &Graph, behavior: &[BehaviorStep]) {
    let numbers: Vec<usize> = behavior.iter().map(number).collect();
    assert!(graph.starts.contains(&numbers[0]), "{numbers:?}");
    for (pair, step) in numbers.windows(2).zip(&behavior[1..]) {
        let label = step.label.as_ref().expect("a step has a label");
        let action = ["A", "B"].iter().position(|name| *name == label.name).expect("an action of the module");
        assert!(graph.edges[action][pair[0]].contains(&pair[1]), "{numbers:?}");
        assert!(!graph.excluded.contains(&pair[0]), "{numbers:?}");
    }
}

#[test]
fn walks_are_behaviors_and_check_all_successors() {
    let mut draw = Draw(1);
    let mut seen = [0; 3];
    for case in 0..600 {
        let graph = Graph::random(&mut draw);
        let program = graph.program();
        let choose = if case % 2 == 0 { Choose::Successor } else { Choose::Action };
        let plan = WalkPlan { first: 0, walks: 40, depth: 12, seed: case, choose, until: None };
        let mut runs = [1, 3].map(|workers| {
            let mut behaviors: Vec<Vec<BehaviorStep>> = Vec::new();
            let mut keep = |number: u64, behavior: &[BehaviorStep]| {
                assert_eq!(number, behaviors.len() as u64);
                behaviors.push(behavior.to_vec());
            };
            (simulate(&program, &plan, worlds(workers), &mut |_| None, &mut keep), behaviors)
        });
        let [(one, first), (other, second)] = &runs;
        assert_eq!(first, second);
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
        for behavior in first {
            assert_behavior(&graph, behavior);
            let numbers: Vec<usize> = behavior.iter().map(number).collect();
            for (index, &state) in numbers.iter().enumerate() {
                assert!(!graph.is_wrong(index.checked_sub(1).map(|before| numbers[before]), state));
                // The successors of the last state of a walk that is as long as it may be are not computed.
                if index < plan.depth {
                    assert!(graph.successors(state).iter().all(|&next| !graph.is_wrong(Some(state), next)));
                    assert!(!graph.is_stuck(state));
                }
            }
            let last = *numbers.last().expect("a behavior has a state");
            let may_go_on = graph.successors(last).iter().any(|next| !graph.excluded.contains(next));
            assert!(numbers.len() == plan.depth + 1 || !may_go_on, "{numbers:?}");
        }
        let (one, _) = &mut runs[0];
        match &one.verdict {
            Verdict::Holds { .. } => {
                seen[0] += 1;
                let steps: Vec<(usize, String, usize)> = steps(&runs[0].1).collect();
                let distinct: BTreeSet<_> = steps.iter().cloned().collect();
                let once = distinct.iter().filter(|step| steps.iter().filter(|other| other == step).count() == 1);
                let states: BTreeSet<usize> = runs[0].1.iter().flatten().map(number).collect();
                let visited = &runs[0].0.visited;
                let counts = (visited.steps, visited.transitions, visited.once, visited.states);
                assert_eq!(
                    counts,
                    (steps.len() as u64, distinct.len() as u64, once.count() as u64, states.len() as u64)
                );
            }
            Verdict::Violated { trace, .. } | Verdict::PropertyViolated { trace, .. } => {
                seen[1] += 1;
                assert_behavior(&graph, trace);
                let numbers: Vec<usize> = trace.iter().map(number).collect();
                let last = numbers.len() - 1;
                assert!(graph.is_wrong(last.checked_sub(1).map(|before| numbers[before]), numbers[last]));
                let nearest = graph.shortest(numbers[0], |from, state| {
                    graph.is_wrong(from, state) || from.is_some_and(|from| graph.is_stuck(from))
                });
                // Another violation may be nearer.
                assert!(numbers.len() >= nearest);
                let is_only = graph.wrong_step.is_none() && !graph.check_deadlock;
                assert!(!is_only || numbers.len() == nearest, "{numbers:?} is longer than {nearest}");
            }
            Verdict::Deadlock { trace } => {
                seen[2] += 1;
                assert_behavior(&graph, trace);
                assert!(graph.is_stuck(number(trace.last().expect("a state"))));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(seen.iter().all(|count| *count > 30), "{seen:?}");
}

/// The steps of behaviors: a state, an action and a state.
fn steps(behaviors: &[Vec<BehaviorStep>]) -> impl Iterator<Item = (usize, String, usize)> {
    let step = |pair: &[BehaviorStep]| {
        let name = pair[1].label.as_ref().expect("a step has a label").name.clone();
        (number(&pair[0]), name, number(&pair[1]))
    };
    behaviors.iter().flat_map(move |behavior| behavior.windows(2).map(step).collect::<Vec<_>>())
}

#[test]
fn a_walk_is_repeated_alone() {
    let graph = Graph { wrong: None, wrong_step: None, check_deadlock: false, ..Graph::random(&mut Draw(7)) };
    let program = graph.program();
    let run = |first, walks| {
        let mut behaviors = Vec::new();
        let plan = WalkPlan { first, walks, depth: 20, seed: 5, choose: Choose::Successor, until: None };
        let mut keep = |number: u64, behavior: &[BehaviorStep]| behaviors.push((number, behavior.to_vec()));
        simulate(&program, &plan, worlds(2), &mut |_| None, &mut keep);
        behaviors
    };
    let all = run(0, 300);
    let mut machine = machine(&program);
    for number in [0, 1, 255, 256, 299] {
        let alone = run(number, 1);
        assert_eq!(alone, vec![all[number as usize].clone()]);
        for pair in alone[0].1.windows(2) {
            let successors = machine.labelled_successors(&pair[0].state).expect("successors can be computed");
            assert!(
                successors
                    .iter()
                    .any(|(label, state)| Some(label) == pair[1].label.as_ref() && *state == pair[1].state)
            );
        }
    }
    assert!(all.iter().any(|(_, behavior)| *behavior != all[0].1), "walks differ");
}

#[test]
fn covers_have_every_part() {
    let mut draw = Draw(3);
    let mut total = 0;
    for _ in 0..400 {
        let graph = Graph { wrong: None, wrong_step: None, check_deadlock: false, ..Graph::random(&mut draw) };
        let (states, steps) = graph.reachable();
        let program = graph.program();
        for (kind, depth) in
            [(Cover::Transitions, 4), (Cover::Transitions, 50), (Cover::States, 6), (Cover::Actions, 9)]
        {
            let mut behaviors: Vec<Vec<BehaviorStep>> = Vec::new();
            let mut keep = |_: u64, behavior: &[BehaviorStep]| behaviors.push(behavior.to_vec());
            let covered = cover(&program, kind, depth, || worlds(2), &mut |_| None, &mut keep);
            assert!(matches!(covered.verdict, Verdict::Holds { .. }), "{:?}", covered.verdict);
            behaviors.iter().for_each(|behavior| assert_behavior(&graph, behavior));
            let taken: BTreeSet<_> = behaviors
                .iter()
                .flat_map(|behavior| behavior.windows(2))
                .map(|pair| {
                    let name = &pair[1].label.as_ref().expect("a label").name;
                    (number(&pair[0]), if name == "A" { "A" } else { "B" }, number(&pair[1]))
                })
                .collect();
            let visited: BTreeSet<usize> = behaviors.iter().flatten().map(number).collect();
            let names = |steps: &BTreeSet<(usize, &'static str, usize)>| -> BTreeSet<_> {
                steps.iter().map(|(_, name, _)| *name).collect()
            };
            let parts = match kind {
                Cover::Transitions => {
                    assert_eq!(taken, steps);
                    steps.len()
                }
                Cover::States => {
                    assert_eq!(visited, states);
                    states.len()
                }
                Cover::Actions => {
                    assert_eq!(names(&taken), names(&steps));
                    names(&steps).len()
                }
            };
            assert_eq!(covered.parts, parts as u64);
            total += behaviors.len();
        }
    }
    assert!(total > 1000, "{total} behaviors");
}

#[test]
fn rare_actions_are_taken_if_actions_are_chosen_first() {
    let text = "---- MODULE M ----\nEXTENDS Integers\nVARIABLE x\nInit == x = 0\n\
                Often(n) == x' = n\nRarely == x' = -1\nNext == (\\E n \\in 1..99 : Often(n)) \\/ Rarely\n====\n";
    let program = program(text, "INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n").expect("the module can be linked");
    let taken = |choose| {
        let plan = WalkPlan { first: 0, walks: 20, depth: 100, seed: 1, choose, until: None };
        let run = simulate(&program, &plan, worlds(1), &mut |_| None, &mut |_, _| {});
        run.visited.actions.get("Rarely").copied().unwrap_or(0)
    };
    assert!((900..1100).contains(&taken(Choose::Action)), "half of 2,000 steps");
    assert!((5..50).contains(&taken(Choose::Successor)), "a hundredth of 2,000 steps");
}
