//! The observed serial runs of a test, as a tree.
//!
//! A node is a prefix of serial runs; an edge is an operation with its answer. An object is deterministic if its answer
//! follows from the calls so far, so every node has at most one edge for each thread, and a node is a state of the object
//! as far as this test can distinguish states. [`Observations::insert`] refuses a run that would need a second edge: then
//! two runs make the same calls and get different answers, and no deterministic specification has both.
//!
//! A node is *covered* if every order that continues it has been observed; a blocked operation covers every order that
//! would continue it.

use thiserror::Error;

use crate::orders::SerialOrder;
use crate::run::{Answer, Misfit, Place, SerialRun, Thread};
use crate::test::Test;

/// The serial runs of one test. They print and parse as a regression file.
#[derive(Clone, Debug)]
pub struct Observations {
    test: Test,
    nodes: Vec<Node>, // Invariant: the first is the root, and every run to a leaf is a serial run of the test.
    full: usize,
    stuck: usize,
}

/// A prefix of serial runs. Prefixes with equal nodes are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

#[derive(Clone, Debug, Default)]
struct Node {
    edges: Vec<Edge>, // Invariant: by increasing thread, each at most once.
    is_covered: bool,
}

/// One operation after a prefix.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) thread: Thread,
    pub(crate) answer: Answer,
    pub(crate) node: NodeId,
}

/// Two serial runs with the same calls up to an operation that has two answers: the object is not deterministic.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("operation {} of two serial runs has different answers after the same calls and answers", .at + 1)]
pub struct Nondeterminism {
    /// The run that was observed first.
    pub earlier: SerialRun,
    /// The run that contradicts it.
    pub later: SerialRun,
    /// The first step in which they differ: the same call, with two answers.
    pub at: usize,
}

impl Nondeterminism {
    /// The difference in a sentence.
    pub fn headline(&self, test: &Test) -> String {
        let (place, earlier) = self.earlier.operations().nth(self.at).expect("the runs differ at one of their steps");
        let (_, later) = self.later.operations().nth(self.at).expect("the runs differ at one of their steps");
        let prefix = SerialRun { steps: self.earlier.steps[..self.at].to_vec() };
        let when = if self.at == 0 {
            "On a new object".to_owned()
        } else {
            format!("After the same operations (`{}`)", prefix.display(test))
        };
        format!(
            "{when}, `{}` of {} {} in one serial run and {} in another.",
            test.call(place),
            owner(place.thread),
            past(earlier),
            past(later)
        )
    }
}

/// The reason why a run was not inserted.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// It is not a serial run of the test.
    #[error(transparent)]
    Misfit(#[from] Misfit),
    /// It contradicts an earlier run.
    #[error(transparent)]
    Nondeterminism(Box<Nondeterminism>),
}

impl Observations {
    /// No serial runs of a test.
    pub fn new(test: Test) -> Observations {
        Observations { test, nodes: vec![Node::default()], full: 0, stuck: 0 }
    }

    /// The test.
    pub fn test(&self) -> &Test {
        &self.test
    }

    /// The number of different runs in which every operation returned.
    pub fn full(&self) -> usize {
        self.full
    }

    /// The number of different runs that end with a blocked operation.
    pub fn stuck(&self) -> usize {
        self.stuck
    }

    /// Adds a run. Returns false if it was known. A refused run changes nothing.
    pub fn insert(&mut self, run: &SerialRun) -> Result<bool, Refused> {
        fit(&self.test, run)?;
        let mut path = vec![NodeId(0)];
        for (step, (thread, answer)) in run.steps.iter().enumerate() {
            let Some(edge) = self.edge(path[step], *thread) else { break };
            if edge.answer != *answer {
                let mut earlier = SerialRun { steps: run.steps[..step].to_vec() };
                earlier.steps.push((*thread, edge.answer.clone()));
                self.complete(edge.node, &mut earlier);
                let found = Nondeterminism { earlier, later: run.clone(), at: step };
                return Err(Refused::Nondeterminism(Box::new(found)));
            }
            path.push(edge.node);
        }
        let known = path.len() - 1;
        if known == run.steps.len() && !run.steps.is_empty() {
            return Ok(false);
        }
        for (thread, answer) in &run.steps[known..] {
            let node = NodeId(u32::try_from(self.nodes.len()).expect("fewer prefixes than numbers"));
            self.nodes.push(Node::default());
            let edges = &mut self.nodes[path[path.len() - 1].index()].edges;
            let place = edges.partition_point(|edge| edge.thread < *thread);
            edges.insert(place, Edge { thread: *thread, answer: answer.clone(), node });
            path.push(node);
        }
        *if run.is_stuck() { &mut self.stuck } else { &mut self.full } += 1;
        self.cover(run, &path);
        Ok(true)
    }

    /// Marks the nodes of a new run that are covered now, from its end.
    fn cover(&mut self, run: &SerialRun, path: &[NodeId]) {
        let mut cursors = vec![Cursor::new(&self.test)];
        for (thread, _) in &run.steps {
            let mut cursor = cursors[cursors.len() - 1].clone();
            cursor.advance(*thread);
            cursors.push(cursor);
        }
        let covered = |observations: &Observations, node: NodeId, cursor: &Cursor| {
            let is_covered = |edge: &Edge| observations.nodes[edge.node.index()].is_covered;
            cursor.next(&observations.test).all(|thread| observations.edge(node, thread).is_some_and(is_covered))
        };
        for (depth, (&node, cursor)) in path.iter().zip(&cursors).enumerate().rev() {
            if depth < run.steps.len() && !covered(self, node, cursor) {
                break;
            }
            self.nodes[node.index()].is_covered = true;
        }
    }

    /// True if every serial order of the test has been observed.
    pub fn is_complete(&self) -> bool {
        self.nodes[0].is_covered
    }

    /// Unobserved serial orders, lexicographically, at most this many. An order with a prefix that is known to block is not
    /// missing.
    ///
    /// This loop observes a test: take some missing orders, run them, insert the runs; until none is missing.
    pub fn missing(&self, at_most: usize) -> Vec<SerialOrder> {
        let (mut orders, mut missing) = (self.test.orders(), Vec::new());
        while missing.len() < at_most {
            let Some(order) = orders.next() else { break };
            match self.covered_prefix(&order) {
                Some(prefix) => orders.skip_prefix(&order.threads()[..prefix]),
                None => missing.push(order),
            }
        }
        missing
    }

    /// The length of the shortest prefix of an order after which everything is covered.
    fn covered_prefix(&self, order: &SerialOrder) -> Option<usize> {
        let mut node = NodeId(0);
        let covered = |node: NodeId| self.nodes[node.index()].is_covered;
        for _ in self.test.before() {
            if covered(node) {
                return Some(0);
            }
            node = self.edge(node, Thread::Main)?.node;
        }
        for (prefix, thread) in order.threads().iter().enumerate() {
            if covered(node) {
                return Some(prefix);
            }
            node = self.edge(node, Thread::Column(*thread))?.node;
        }
        covered(node).then_some(order.threads().len())
    }

    /// The order of a run in which every operation returned, if there is one.
    pub fn full_order(&self) -> Option<SerialOrder> {
        let mut run = SerialRun::default();
        self.find_full(NodeId(0), &mut run).then(|| SerialOrder::of(&run))
    }

    fn find_full(&self, node: NodeId, run: &mut SerialRun) -> bool {
        let edges = self.edges(node);
        let is_full = edges.is_empty() && !run.steps.is_empty() && !run.is_stuck();
        is_full
            || edges.iter().any(|edge| {
                run.steps.push((edge.thread, edge.answer.clone()));
                let is_found = self.find_full(edge.node, run);
                if !is_found {
                    run.steps.pop();
                }
                is_found
            })
    }

    /// All runs, by increasing threads.
    pub fn runs(&self) -> Vec<SerialRun> {
        let mut runs = Vec::with_capacity(self.full + self.stuck);
        self.collect(NodeId(0), &mut SerialRun::default(), &mut runs);
        runs
    }

    fn collect(&self, node: NodeId, run: &mut SerialRun, runs: &mut Vec<SerialRun>) {
        if self.edges(node).is_empty() && !run.steps.is_empty() {
            runs.push(run.clone());
        }
        for edge in self.edges(node) {
            run.steps.push((edge.thread, edge.answer.clone()));
            self.collect(edge.node, run, runs);
            run.steps.pop();
        }
    }

    /// The first difference between these runs and newer ones of the same program, in words.
    pub fn difference(&self, newer: &Observations) -> Option<String> {
        if self.test != newer.test {
            return Some(format!("the test was `{}` and is `{}`", self.test, newer.test));
        }
        self.difference_after(newer, (NodeId(0), NodeId(0)), &mut SerialRun::default())
    }

    fn difference_after(
        &self,
        newer: &Observations,
        nodes: (NodeId, NodeId),
        prefix: &mut SerialRun,
    ) -> Option<String> {
        let mut threads: Vec<Thread> = self.edges(nodes.0).iter().map(|edge| edge.thread).collect();
        threads.extend(newer.edges(nodes.1).iter().map(|edge| edge.thread));
        threads.sort_unstable();
        threads.dedup();
        for thread in threads {
            let index = prefix.steps.iter().filter(|(other, _)| *other == thread).count();
            let words = |old: String, new: String| {
                let call = format!("`{}` of {}", self.test.call(Place { thread, index }), owner(thread));
                let when = match prefix.display(&self.test) {
                    prefix if prefix.is_empty() => "on a new object".to_owned(),
                    prefix => format!("after `{prefix}`"),
                };
                Some(format!("{when}, {call} {old}, now it {new}"))
            };
            let answer = |edge: Option<&Edge>| edge.map_or("was not observed".to_owned(), |edge| past(&edge.answer));
            match (self.edge(nodes.0, thread), newer.edge(nodes.1, thread)) {
                (Some(old), Some(new)) if old.answer == new.answer => {
                    prefix.steps.push((thread, old.answer.clone()));
                    let found = self.difference_after(newer, (old.node, new.node), prefix);
                    prefix.steps.pop();
                    if found.is_some() {
                        return found;
                    }
                }
                (old, new) => return words(answer(old), answer(new)),
            }
        }
        None
    }

    /// The answer of a thread's next operation after a prefix, and the prefix then.
    pub fn after(&self, node: NodeId, thread: Thread) -> Option<(&Answer, NodeId)> {
        self.edge(node, thread).map(|edge| (&edge.answer, edge.node))
    }

    /// The node of the empty prefix.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The operations that follow a prefix, by thread.
    pub(crate) fn edges(&self, node: NodeId) -> &[Edge] {
        &self.nodes[node.index()].edges
    }

    /// The operation of this thread after a prefix.
    pub(crate) fn edge(&self, node: NodeId, thread: Thread) -> Option<&Edge> {
        self.edges(node).iter().find(|edge| edge.thread == thread)
    }

    /// Continues a run to an end.
    fn complete(&self, mut node: NodeId, run: &mut SerialRun) {
        while let Some(edge) = self.edges(node).first() {
            run.steps.push((edge.thread, edge.answer.clone()));
            node = edge.node;
        }
    }
}

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// `thread 1`, or `the main thread`.
pub(crate) fn owner(thread: Thread) -> String {
    match thread {
        Thread::Main => "the main thread".to_owned(),
        Thread::Column(column) => format!("thread {column}"),
    }
}

/// `returned 200`, `returned`, or `blocked`.
pub(crate) fn past(answer: &Answer) -> String {
    match answer {
        Answer::Returned(text) if text.is_empty() => "returned".to_owned(),
        Answer::Returned(text) => format!("returned {text}"),
        Answer::Blocked => "blocked".to_owned(),
    }
}

/// Checks that a run is a serial run of a test.
fn fit(test: &Test, run: &SerialRun) -> Result<(), Misfit> {
    let mut cursor = Cursor::new(test);
    let mut is_blocked = false;
    for (place, answer) in run.operations() {
        let Place { thread, index } = place;
        if is_blocked {
            return Err(Misfit::AfterBlocked { thread, index });
        }
        if !cursor.next(test).any(|next| next == thread) {
            return Err(Misfit::NotNext { thread, index });
        }
        cursor.advance(thread);
        is_blocked = *answer == Answer::Blocked;
    }
    if is_blocked || run.steps.len() == test.operations() {
        Ok(())
    } else {
        Err(Misfit::Incomplete { found: run.steps.len(), expected: test.operations() })
    }
}

/// How far each thread has come in a serial run.
#[derive(Clone)]
struct Cursor {
    main: usize,
    columns: Vec<usize>,
}

impl Cursor {
    fn new(test: &Test) -> Cursor {
        Cursor { main: 0, columns: vec![0; test.columns().len()] }
    }

    /// The threads that may be next: the main thread before all others and after them.
    fn next<'c>(&'c self, test: &'c Test) -> impl Iterator<Item = Thread> + 'c {
        let is_before = self.main < test.before().len();
        let columns = (0..).zip(&self.columns).zip(test.columns());
        let open = columns.filter(move |((_, at), calls)| !is_before && **at < calls.len());
        let is_over = self.columns.iter().zip(test.columns()).all(|(at, calls)| *at == calls.len());
        let is_after = is_over && self.main < test.before().len() + test.after().len();
        let main = (is_before || is_after).then_some(Thread::Main);
        main.into_iter().chain(open.map(|((column, _), _)| Thread::Column(column)))
    }

    fn advance(&mut self, thread: Thread) {
        match thread {
            Thread::Main => self.main += 1,
            Thread::Column(column) => self.columns[usize::from(column)] += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEMAPHORE: &str = "observations of take() || add(1) take()\n\
        0 take() blocks\n1 add(1)\n  0 take() = 1\n    1 take() blocks\n  1 take() = 1\n    0 take() blocks\n";

    fn run(steps: &[(u8, &str)]) -> SerialRun {
        let answer = |text: &str| if text == "#" { Answer::Blocked } else { Answer::Returned(text.to_owned()) };
        SerialRun { steps: steps.iter().map(|&(column, text)| (Thread::Column(column), answer(text))).collect() }
    }

    #[test]
    fn runs_are_counted_once() {
        let mut observations = Observations::new("take() || add(1)".parse().unwrap());
        assert_eq!(observations.insert(&run(&[(1, ""), (0, "1")])), Ok(true));
        assert_eq!(observations.insert(&run(&[(1, ""), (0, "1")])), Ok(false));
        assert_eq!(observations.insert(&run(&[(0, "#")])), Ok(true));
        assert_eq!(observations.insert(&run(&[(0, "#")])), Ok(false));
        assert_eq!((observations.full(), observations.stuck()), (1, 1));
        assert_eq!(observations.runs(), [run(&[(0, "#")]), run(&[(1, ""), (0, "1")])]);
    }

    #[test]
    fn an_order_that_blocks_covers_those_that_begin_with_it() {
        let missing = |observations: &Observations| {
            let orders: Vec<String> = observations.missing(9).iter().map(SerialOrder::to_string).collect();
            format!("{} {}", orders.join(" "), observations.is_complete())
        };
        let mut observations = Observations::new("take() || add(1) take()".parse().unwrap());
        insta::assert_snapshot!(missing(&observations), @"011 101 110 false");
        assert_eq!(observations.missing(2).len(), 2);
        observations.insert(&run(&[(0, "#")])).unwrap();
        insta::assert_snapshot!(missing(&observations), @"101 110 false");
        observations.insert(&run(&[(1, ""), (0, "1"), (1, "#")])).unwrap();
        insta::assert_snapshot!(missing(&observations), @"110 false");
        observations.insert(&run(&[(1, ""), (1, "1"), (0, "#")])).unwrap();
        insta::assert_snapshot!(missing(&observations), @" true");
    }

    #[test]
    fn the_main_thread_is_first_and_last() {
        let test: Test = "{ a() } b() { c() }".parse().unwrap();
        let returned = || Answer::Returned(String::new());
        let (main, column) = (Thread::Main, Thread::Column(0));
        let insert = |steps: Vec<(Thread, Answer)>| Observations::new(test.clone()).insert(&SerialRun { steps });
        let all = || vec![(main, returned()), (column, returned()), (main, returned())];
        assert_eq!(insert(all()), Ok(true));
        assert_eq!(insert(vec![(main, Answer::Blocked)]), Ok(true));
        let refused = |steps: Vec<(Thread, Answer)>| insert(steps).unwrap_err().to_string();
        insta::assert_snapshot!(refused(vec![(column, returned())]), @"operation 0 of thread 0 is not a next operation of the test");
        insta::assert_snapshot!(refused(vec![(main, returned()), (main, returned())]), @"operation 1 of thread main is not a next operation of the test");
        insta::assert_snapshot!(refused(all()[..2].to_vec()), @"2 of 3 operations, and none blocks");
        insta::assert_snapshot!(refused([all(), all()].concat()), @"operation 2 of thread main is not a next operation of the test");
        insta::assert_snapshot!(refused(vec![(main, Answer::Blocked), (column, returned())]), @"operation 0 of thread 0 follows an operation that blocks");
        let mut blocked = Observations::new(test.clone());
        assert_eq!(blocked.missing(9).len(), 1);
        blocked.insert(&SerialRun { steps: vec![(main, Answer::Blocked)] }).unwrap();
        assert!(blocked.is_complete() && blocked.missing(9).is_empty());
    }

    #[test]
    fn two_answers_after_the_same_calls_are_refused() {
        let check = |later: &[(u8, &str)]| {
            let mut observations: Observations = SEMAPHORE.parse().unwrap();
            let Err(Refused::Nondeterminism(found)) = observations.insert(&run(later)) else { panic!("refused") };
            assert_eq!(observations.difference(&SEMAPHORE.parse().unwrap()), None);
            let test = observations.test();
            format!("{}\n{}\n{}", found.earlier.display(test), found.later.display(test), found.headline(test))
        };
        insta::assert_snapshot!(check(&[(0, "1"), (1, ""), (1, "#")]), @"
        0 take() blocks
        0 take() = 1, 1 add(1), 1 take() blocks
        On a new object, `take()` of thread 0 blocked in one serial run and returned 1 in another.
        ");
        insta::assert_snapshot!(check(&[(1, ""), (0, "2"), (1, "#")]), @"
        1 add(1), 0 take() = 1, 1 take() blocks
        1 add(1), 0 take() = 2, 1 take() blocks
        After the same operations (`1 add(1)`), `take()` of thread 0 returned 1 in one serial run and returned 2 in another.
        ");
        insta::assert_snapshot!(check(&[(1, ""), (1, "1"), (0, "1")]), @"
        1 add(1), 1 take() = 1, 0 take() blocks
        1 add(1), 1 take() = 1, 0 take() = 1
        After the same operations (`1 add(1), 1 take() = 1`), `take()` of thread 0 blocked in one serial run and returned 1 in another.
        ");
    }

    #[test]
    fn an_order_in_which_every_call_returns_is_found() {
        let full = |text: &str| text.parse::<Observations>().unwrap().full_order().map(|order| order.to_string());
        assert_eq!(full(SEMAPHORE), None);
        assert_eq!(Observations::new("a() || b()".parse().unwrap()).full_order(), None);
        // The first run blocks, and so does the first one that begins like the second.
        let runs = "observations of take() || add(1) add(1)\n\
            0 take() blocks\n1 add(1)\n  0 take() blocks\n  1 add(1)\n    0 take() = 1\n";
        assert_eq!(full(runs).as_deref(), Some("110"));
        // Calls of the main thread have no place in it.
        let runs = "observations of { init() } take() { size() }\nmain init()\n  0 take() = 1\n    main size() = 0\n";
        assert_eq!(full(runs).as_deref(), Some("0"));
    }

    #[test]
    fn the_first_difference_is_told() {
        let check = |newer: &str| {
            let (old, new): (Observations, Observations) = (SEMAPHORE.parse().unwrap(), newer.parse().unwrap());
            old.difference(&new).unwrap_or("none".to_owned())
        };
        insta::assert_snapshot!(check(SEMAPHORE), @"none");
        insta::assert_snapshot!(check("observations of take() || add(1)\n"), @"the test was `take() || add(1) take()` and is `take() || add(1)`");
        insta::assert_snapshot!(check(&SEMAPHORE.replace("  0 take() = 1", "  0 take() = 2")), @"after `1 add(1)`, `take()` of thread 0 returned 1, now it returned 2");
        insta::assert_snapshot!(check(&SEMAPHORE.replace("0 take() blocks\n1", "1")), @"on a new object, `take()` of thread 0 blocked, now it was not observed");
        insta::assert_snapshot!(check(&SEMAPHORE.replace("0 take() = 1\n    1 take() blocks", "0 take() blocks")), @"after `1 add(1)`, `take()` of thread 0 returned 1, now it blocked");
        let main = |answer: &str| format!("observations of {{ init() }} take()\nmain init(){answer}\n  0 take()\n");
        let (old, new): (Observations, Observations) = (main(" = 1").parse().unwrap(), main("").parse().unwrap());
        insta::assert_snapshot!(old.difference(&new).unwrap(), @"on a new object, `init()` of the main thread returned 1, now it returned");
    }
}
