//! The classes under study.

use std::error::Error;
use std::sync::Arc;

use omnilink_history::{Call, History, Precedence, Verdict};
use omnilink_models::{Object, Sequential, level};
use omnilink_search::Unwatched;
use omnilink_weak::{Answer, Level, Visibility, WeakOptions};

use crate::{Deque, Map, Set};

/// The capacity with which the recorder creates bounded queues.
const CAPACITY: usize = 3;

/// A class under study and its sequential specification.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The name of the class, and of the directory of its histories.
    pub name: &'static str,
    spec: Spec,
}

#[derive(Clone, Copy, Debug)]
enum Spec {
    Map(Map),
    Set(Set),
    Deque(Deque),
}

/// All classes.
pub const CLASSES: [Class; 11] = [
    Class { name: "ConcurrentHashMap", spec: Spec::Map(Map { is_sorted: false }) },
    Class { name: "ConcurrentSkipListMap", spec: Spec::Map(Map { is_sorted: true }) },
    Class { name: "ConcurrentSkipListSet", spec: Spec::Set(Set) },
    Class { name: "ConcurrentLinkedQueue", spec: Spec::Deque(Deque::Unbounded) },
    Class { name: "ConcurrentLinkedDeque", spec: Spec::Deque(Deque::Unbounded) },
    Class { name: "LinkedBlockingQueue", spec: Spec::Deque(Deque::Unbounded) },
    Class { name: "LinkedBlockingDeque", spec: Spec::Deque(Deque::Unbounded) },
    Class { name: "LinkedTransferQueue", spec: Spec::Deque(Deque::Unbounded) },
    Class { name: "ArrayBlockingQueue", spec: Spec::Deque(Deque::Bounded(CAPACITY)) },
    Class { name: "PriorityBlockingQueue", spec: Spec::Deque(Deque::Priority) },
    Class { name: "CopyOnWriteArraySet", spec: Spec::Deque(Deque::Unbounded) },
];

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// What was found out about a class.
#[derive(Clone, Debug)]
pub struct Found {
    /// The methods that were called, each with its number of calls.
    pub methods: Vec<(Arc<str>, usize)>,
    /// The number of histories that are not linearizable.
    pub not_linearizable: usize,
    /// The histories that no level explains: no set of operations that an operation may have seen has its result. By
    /// place, with the methods to blame.
    pub unexplained: Vec<(usize, Vec<Arc<str>>)>,
    /// The strongest level that explains all other histories.
    pub level: Option<Level>,
    /// The number of checks.
    pub checks: u64,
}

impl Class {
    /// Finds the strongest level of each method that explains all histories.
    pub fn find(&self, histories: &[History<Call>]) -> Result<Found> {
        match self.spec {
            Spec::Map(map) => find(map, histories),
            Spec::Set(set) => find(set, histories),
            Spec::Deque(deque) => find(deque, histories),
        }
    }

    /// True if a level explains a history.
    pub fn accepts(&self, history: &History<Call>, level: &Level) -> Result<bool> {
        let of = |answer| matches!(answer, Answer::Accepted);
        match self.spec {
            Spec::Map(map) => check(&Sequential::new(map), history, level).map(of),
            Spec::Set(set) => check(&Sequential::new(set), history, level).map(of),
            Spec::Deque(deque) => check(&Sequential::new(deque), history, level).map(of),
        }
    }
}

fn find<O: Object>(object: O, histories: &[History<Call>]) -> Result<Found> {
    let model = Sequential::new(object);
    let mut methods: Vec<(Arc<str>, usize)> = Vec::new();
    for op in histories.iter().flat_map(History::ops) {
        let name = method(&op.call);
        match methods.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, calls)) => *calls += 1,
            None => methods.push((name.into(), 1)),
        }
    }
    methods.sort();
    let names: Vec<Arc<str>> = methods.iter().map(|(name, _)| name.clone()).collect();
    let mut not_linearizable = 0;
    let weakest = Level::new(Precedence::RealTime, Visibility::Weak);
    let (mut unexplained, mut explained) = (Vec::new(), Vec::new());
    for (place, history) in histories.iter().enumerate() {
        not_linearizable += usize::from(check(&model, history, &Level::linearizable())? != Answer::Accepted);
        match check(&model, history, &weakest)? {
            Answer::Rejected { blamed } => unexplained.push((place, blamed)),
            _ => explained.push(history),
        }
    }
    let ask = |place: usize, level: &Level, _| check(&model, explained[place], level);
    let (by_action, checks) = omnilink_weak::find_by_action(explained.len(), &names, ask)?;
    Ok(Found { methods, not_linearizable, unexplained, level: by_action.level().cloned(), checks })
}

/// Checks a history at a level whose actions are methods with their numbers of arguments.
fn check<O: Object>(model: &Sequential<O>, history: &History<Call>, level: &Level) -> Result<Answer> {
    let bound = level::bind(model, history)?;
    let named = bound.try_map(|op| {
        let name = method(&history.op(op.id).call).into();
        Ok::<_, std::convert::Infallible>(Some(omnilink_weak::Action { name, forms: op.call.forms.clone() }))
    });
    let Ok(named) = named;
    let options = WeakOptions { level: level.clone(), ..WeakOptions::default() };
    Ok(
        match omnilink_weak::check(model, &named, &options, &Unwatched).map_err(|error| error.to_string())?.verdict
        {
            Verdict::Accepted(_) => Answer::Accepted,
            Verdict::Inconclusive(_) => Answer::Undecided,
            Verdict::Rejected(failure) => {
                let blamed = failure.blocked.iter().map(|blocked| method(&history.op(blocked.op).call).into());
                Answer::Rejected { blamed: blamed.collect() }
            }
        },
    )
}

/// The name of a method with its number of arguments, which tells overloads apart: `remove/2`.
pub fn method(call: &Call) -> String {
    format!("{}/{}", call.action(), call.args().len())
}

/// Whether calls of this method can change an object of any class.
pub fn is_mutator(call: &Call) -> bool {
    const BEGINNINGS: [&str; 8] = ["put", "compute", "merge", "remove", "replace", "clear", "offer", "poll"];
    let action = call.action();
    BEGINNINGS.iter().any(|beginning| action.starts_with(beginning)) || matches!(action, "add" | "addFirst" | "addLast")
}
