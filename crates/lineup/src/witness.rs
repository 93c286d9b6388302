//! Explains a concurrent history by serial ones.
//!
//! A full history needs a *serial witness*: an observed serial run with the same answers in an order that respects
//! real time. This is linearizability for the tree of observations, so [`omnilink_search::check`] finds it. A stuck history
//! needs a witness for each pending operation: without the other pending ones, a serial run of the operations that
//! returned, with their answers, after which this one blocks. Burckhardt et al., *Line-Up* (PLDI 2010), show that an
//! object for which this fails is linearizable for no deterministic specification.
//!
//! [`SerialSpec`] and [`demands`] are the definition. `omnilink check` applies the same two to traces.
//!
//! A failure is described by every serial run that respects real time, whatever its answers: a walk through the tree,
//! at most linear in its size.

use std::collections::BTreeSet;
use std::convert::Infallible;

use omnilink_history::{History, Verdict};
use omnilink_search::{Criterion, Options, Spec, Successors, check};

use crate::observations::{NodeId, Observations};
use crate::observed::{Observed, Operation};
use crate::run::{Answer, Place, SerialRun, Thread};

/// The maximum number of closest runs to keep.
const CLOSEST: usize = 3;

/// A specification with the observed serial runs as its behaviors. A state is a prefix of them. An operation is a
/// thread with its answer; `None` if it may have had any.
///
/// Nothing follows an operation that blocks: a serial run ends there.
#[derive(Clone, Copy, Debug)]
pub struct SerialSpec<'o>(pub &'o Observations);

impl SerialSpec<'_> {
    /// The prefix after an operation, if serial runs have it with this answer.
    pub fn next(&self, state: NodeId, (thread, answer): &(Thread, Option<Answer>)) -> Option<NodeId> {
        let edge = self.0.edge(state, *thread)?;
        let fits = match answer {
            Some(answer) => edge.answer == *answer,
            // One that blocks here has no effect here.
            None => edge.answer != Answer::Blocked,
        };
        fits.then_some(edge.node)
    }
}

impl Spec for SerialSpec<'_> {
    type Op = (Thread, Option<Answer>);
    type State = NodeId;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<NodeId>) -> Result<(), Infallible> {
        out.push(self.0.root());
        Ok(())
    }

    fn step(&self, state: &NodeId, op: &Self::Op, out: &mut Successors<NodeId>) -> Result<(), Infallible> {
        if let Some(next) = self.next(*state, op) {
            out.done(next);
        }
        Ok(())
    }
}

/// The parts of a history that need a serial run each: for every pending operation the history without the other
/// pending ones, named by the one that stays; and the history itself, `None`, if none is pending.
pub fn demands<T>(pending: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
    let mut demands: Vec<Option<T>> = pending.into_iter().map(Some).collect();
    if demands.is_empty() {
        demands.push(None);
    }
    demands
}

/// Whether serial runs explain a concurrent history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Explanation {
    /// They do: a witness, or one for each pending operation of a stuck history, in their order.
    Witnessed(Vec<SerialRun>),
    /// They do not.
    Unwitnessed(Box<Failure>),
}

impl Explanation {
    /// The failure, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Explanation::Witnessed(_) => None,
            Explanation::Unwitnessed(failure) => Some(failure),
        }
    }
}

/// The reason why no serial run explains a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// True if the history is stuck.
    pub is_stuck: bool,
    /// The pending operation that no serial run explains. `None` if the answers of the operations that returned have
    /// no explanation by themselves, as in a full history.
    pub pending: Option<Place>,
    /// The serial runs that respect real time and agree in the most operations, at most three.
    pub closest: Vec<Closest>,
    /// The largest number of operations in which a serial run that respects real time agrees.
    pub agreeing: usize,
    /// The operations that have no explanation together: those that returned, and the pending one.
    pub answers: Vec<Answers>,
}

/// A serial run that comes close to a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// The run. It ends early if an operation blocks.
    pub run: SerialRun,
    /// The operations of the run with another answer in the history.
    pub differing: Vec<Differing>,
}

/// An operation with two answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// The operation.
    pub place: Place,
    /// The answer in the concurrent history.
    pub observed: Answer,
    /// The answer in the serial run.
    pub serial: Answer,
}

/// The answers of one operation in the serial runs that respect real time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers {
    /// The operation.
    pub place: Place,
    /// The answer in the concurrent history.
    pub observed: Answer,
    /// The answers in all serial runs that respect real time.
    pub always: BTreeSet<Answer>,
    /// True if each of them gets to the operation: none blocks before.
    pub is_reached: bool,
    /// The answers in those serial runs that agree in every other operation.
    pub otherwise_agreeing: BTreeSet<Answer>,
}

/// Explains a concurrent history by the serial runs of the same test. A failure is a proof only if the observations
/// are [complete](Observations::is_complete).
pub fn explain(observations: &Observations, observed: &Observed) -> Explanation {
    let parts_with = |pending: Option<Place>| -> Vec<Part<'_>> {
        let is_part =
            |(place, operation): &(Place, &Operation)| operation.returned.is_some() || Some(*place) == pending;
        observed.operations().filter(is_part).map(|(place, operation)| Part::new(place, operation)).collect()
    };
    let demands = demands(observed.pending());
    let is_stuck = observed.is_stuck();
    let mut witnesses = Vec::with_capacity(demands.len());
    for pending in demands {
        match witness(observations, &parts_with(pending)) {
            Some(witness) => witnesses.push(witness),
            None => {
                let pending = pending.filter(|_| witness(observations, &parts_with(None)).is_some());
                let failure = Survey::take(observations, &parts_with(pending), is_stuck, pending);
                return Explanation::Unwitnessed(Box::new(failure));
            }
        }
    }
    Explanation::Witnessed(witnesses)
}

/// An operation that a serial run has to contain.
struct Part<'a> {
    place: Place,
    operation: &'a Operation,
    answer: Answer,
}

impl<'a> Part<'a> {
    fn new(place: Place, operation: &'a Operation) -> Part<'a> {
        let answer =
            operation.returned.as_ref().map_or(Answer::Blocked, |(_, results)| Answer::Returned(results.clone()));
        Part { place, operation, answer }
    }

    /// When it is over. An operation that blocks is last in a serial run, so it can be taken to end after all others.
    fn end(&self) -> u64 {
        self.operation.returned.as_ref().map_or(u64::MAX - 1, |(end, _)| *end)
    }

    fn precedes(&self, other: &Part<'_>) -> bool {
        let in_thread = self.place.thread == other.place.thread && self.place.index < other.place.index;
        in_thread || self.end() < other.operation.start
    }
}

/// A serial run of exactly these operations with these answers that respects real time.
fn witness(observations: &Observations, parts: &[Part<'_>]) -> Option<SerialRun> {
    let process = |thread: Thread| match thread {
        Thread::Main => 0,
        Thread::Column(column) => u32::from(column) + 1,
    };
    let calls = parts.iter().map(|part| {
        let thread = part.place.thread;
        (process(thread), part.operation.start, Some(part.end()), (thread, Some(part.answer.clone())))
    });
    let history = History::from_calls(calls).expect("the operations of an execution are well formed");
    let options = Options { criterion: Criterion::LINEARIZABLE, ..Options::default() };
    match check(&SerialSpec(observations), &history, &options).expect("a tree has the same answer twice").verdict {
        Verdict::Accepted(witness) => {
            let step = |placed: omnilink_search::Placed| {
                let (thread, answer) = history.op(placed.op).call.clone();
                (thread, answer.expect("every part has an answer"))
            };
            Some(SerialRun { steps: witness.steps().map(step).collect() })
        }
        Verdict::Rejected(_) => None,
        Verdict::Inconclusive(_) => unreachable!("a search without limits"),
    }
}

/// The walk through all serial runs that respect real time.
struct Survey<'a> {
    observations: &'a Observations,
    parts: &'a [Part<'a>],
    is_placed: Vec<bool>,
    run: SerialRun,
    differing: Vec<usize>,
    failure: Failure,
}

impl Survey<'_> {
    fn take(observations: &Observations, parts: &[Part<'_>], is_stuck: bool, pending: Option<Place>) -> Failure {
        let answers = |part: &Part<'_>| Answers {
            place: part.place,
            observed: part.answer.clone(),
            always: BTreeSet::new(),
            is_reached: true,
            otherwise_agreeing: BTreeSet::new(),
        };
        let answers = parts.iter().map(answers).collect();
        let mut survey = Survey {
            observations,
            parts,
            is_placed: vec![false; parts.len()],
            run: SerialRun::default(),
            differing: Vec::new(),
            failure: Failure { is_stuck, pending, closest: Vec::new(), agreeing: 0, answers },
        };
        survey.walk(observations.root());
        survey.failure
    }

    fn walk(&mut self, node: NodeId) {
        let is_over = self.run.is_stuck() || self.run.steps.len() == self.parts.len();
        if is_over {
            return self.note();
        }
        let observations = self.observations;
        for edge in observations.edges(node) {
            let Some(next) = self.next(edge.thread) else { continue };
            let is_different = self.parts[next].answer != edge.answer;
            self.is_placed[next] = true;
            self.run.steps.push((edge.thread, edge.answer.clone()));
            if is_different {
                self.differing.push(next);
            }
            self.walk(edge.node);
            if is_different {
                self.differing.pop();
            }
            self.run.steps.pop();
            self.is_placed[next] = false;
        }
    }

    /// The next operation of this thread, if every operation that precedes it is placed. The pending operation, which
    /// may return here, comes last.
    fn next(&self, thread: Thread) -> Option<usize> {
        let open = |index: &usize| self.parts[*index].place.thread == thread && !self.is_placed[*index];
        let next = (0..self.parts.len()).find(open)?;
        let is_free = |(part, placed): (&Part<'_>, &bool)| *placed || !part.precedes(&self.parts[next]);
        let is_last = self.run.steps.len() + 1 == self.parts.len();
        let may_be_next = self.parts.iter().zip(&self.is_placed).all(is_free);
        (may_be_next && (is_last || self.parts[next].answer != Answer::Blocked)).then_some(next)
    }

    fn note(&mut self) {
        let Survey { failure, parts, .. } = self;
        let is_whole = self.run.steps.len() == parts.len();
        for (index, part) in parts.iter().enumerate() {
            failure.answers[index].is_reached &= self.is_placed[index];
            let serial = self.run.operations().find(|(place, _)| *place == part.place).map(|(_, answer)| answer);
            failure.answers[index].always.extend(serial.cloned());
            if is_whole && self.differing == [index] {
                failure.answers[index].otherwise_agreeing.extend(serial.cloned());
            }
        }
        let agreeing = self.run.steps.len() - self.differing.len();
        failure.agreeing = failure.agreeing.max(agreeing);
        let rank = |closest: &Closest| closest.run.steps.len() - closest.differing.len();
        let place = failure.closest.partition_point(|closest| rank(closest) >= agreeing);
        if place < CLOSEST {
            let serial =
                |place| self.run.operations().find(|(other, _)| *other == place).expect("a placed operation").1;
            let differing = |&index: &usize| {
                let Part { place, answer, .. } = &parts[index];
                Differing { place: *place, observed: answer.clone(), serial: serial(*place).clone() }
            };
            let differing = self.differing.iter().map(differing).collect();
            failure.closest.insert(place, Closest { run: self.run.clone(), differing });
            failure.closest.truncate(CLOSEST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_an_answer_may_have_had_any_but_does_not_block() {
        let text = "observations of take() || add(1)\n0 take() blocks\n1 add(1)\n  0 take() = 1\n";
        let observations: Observations = text.parse().unwrap();
        let spec = SerialSpec(&observations);
        let (take, add) = (Thread::Column(0), Thread::Column(1));
        let returned = |text: &str| Some(Answer::Returned(text.to_owned()));
        let root = observations.root();
        assert_eq!(spec.next(root, &(take, None)), None);
        assert!(spec.next(root, &(take, Some(Answer::Blocked))).is_some());
        let added = spec.next(root, &(add, None)).expect("`add` returns");
        assert_eq!(spec.next(root, &(add, returned(""))), Some(added));
        assert_eq!(spec.next(root, &(add, returned("1"))), None);
        assert_eq!(spec.next(added, &(add, None)), None);
        assert!(spec.next(added, &(take, None)).is_some());
        assert_eq!(observations.after(root, add), Some((&Answer::Returned(String::new()), added)));
    }
}
