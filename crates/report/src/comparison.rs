//! Two runs of one program beside each other: which operations are the same, which returned something else, and which only
//! one of them has.
//!
//! Operations are matched thread by thread, so that a run can be compared with a smaller one that leaves some of them out:
//! the longest common subsequence of calls, an action with its arguments, is the same in both.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::Serialize;

use crate::data::Operation;
use crate::wording::clean;

/// One of two runs.
#[derive(Debug, Clone, Default)]
pub struct Side {
    /// Its name.
    pub name: String,
    /// Its verdict.
    pub verdict: String,
    /// Its operations, by start.
    pub operations: Vec<Operation>,
    /// The place of operations in the order that was found, from 1, by name.
    pub steps: HashMap<String, usize>,
}

/// Two runs, operation by operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The name of the first run.
    pub here: String,
    /// The name of the second one.
    pub there: String,
    /// Their verdicts.
    pub verdicts: [String; 2],
    /// The first difference.
    pub sentence: String,
    /// The number of operations that are the same in both.
    pub same: usize,
    /// Operations by start, as in the first run if it has them.
    pub rows: Vec<ComparedRow>,
    /// The number of rows that are left out.
    pub left_out: usize,
}

/// An operation in both runs, or in one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRow {
    /// Its name.
    pub name: String,
    /// The kind of difference.
    pub kind: Difference,
    /// In the first run.
    pub here: Option<ComparedOperation>,
    /// In the second run.
    pub there: Option<ComparedOperation>,
}

/// The difference between an operation of one run and that of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Nothing, but the times and the place in the order.
    Same,
    /// Its results.
    Results,
    /// Its arguments.
    Arguments,
    /// The second run does not have it.
    OnlyHere,
    /// The first run does not have it.
    OnlyThere,
}

/// An operation of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedOperation {
    /// The operation.
    pub text: String,
    /// A time before it began.
    pub start: u64,
    /// A time after it ended, if it did.
    pub end: Option<u64>,
    /// Its place in the order that was found, from 1.
    pub step: Option<usize>,
}

/// At most this many rows are listed.
const MOST_ROWS: usize = 1_000;

/// Threads with more operations than this are matched by position: the subsequence would take too long to find.
const MOST_MATCHED: usize = 2_000;

impl Comparison {
    /// Compares two runs.
    pub fn new(here: &Side, there: &Side) -> Comparison {
        let (ours, theirs) = (by_process(here), by_process(there));
        let mut processes: Vec<&str> = ours.keys().chain(theirs.keys()).copied().collect();
        processes.sort_unstable();
        processes.dedup();
        let none = Vec::new();
        let mut rows = Vec::new();
        for process in processes {
            let (ours, theirs) = (ours.get(process).unwrap_or(&none), theirs.get(process).unwrap_or(&none));
            rows.extend(pairs(ours, theirs).into_iter().map(|(ours, theirs)| row(here, there, ours, theirs)));
        }
        rows.sort_by_key(|row: &ComparedRow| row.here.as_ref().or(row.there.as_ref()).map(|shown| shown.start));
        let is_same = |row: &ComparedRow| row.kind == Difference::Same;
        let same = rows.iter().filter(|row| is_same(row)).count();
        let sentence = sentence(&rows, here, there);
        let total = rows.len();
        if total > MOST_ROWS {
            rows.retain(|row| !is_same(row));
            rows.truncate(MOST_ROWS);
        }
        Comparison {
            here: here.name.clone(),
            there: there.name.clone(),
            verdicts: [here.verdict.clone(), there.verdict.clone()],
            sentence,
            same,
            left_out: total - rows.len(),
            rows,
        }
    }

    /// The comparison as text: one line for each operation that is the same, two for one that is not.
    pub fn text(&self) -> String {
        let Comparison { here, there, verdicts: [ours, theirs], sentence, same, .. } = self;
        let mut text = format!("{}: {ours}\n{}: {theirs}\n{}\n\n", clean(here), clean(there), clean(sentence));
        for row in &self.rows {
            let name = clean(&row.name);
            let mut line = |mark: char, shown: &Option<ComparedOperation>| {
                if let Some(shown) = shown {
                    let step = shown.step.map(|step| format!("#{step}")).unwrap_or_default();
                    let _ = writeln!(text, "{mark} {step:>5} {name} {}", clean(&shown.text));
                }
            };
            match row.kind {
                Difference::Same => line(' ', &row.here),
                _ => {
                    line('-', &row.here);
                    line('+', &row.there);
                }
            }
        }
        let differ = self.rows.iter().filter(|row| row.kind != Difference::Same).count();
        let _ = writeln!(text, "\n- only {}, + only {}: {same} the same, {differ} differ", clean(here), clean(there));
        if self.left_out > 0 {
            let _ = writeln!(text, "{} rows left out", self.left_out);
        }
        text
    }
}

type Pair<'a> = (Option<&'a Operation>, Option<&'a Operation>);

fn by_process(side: &Side) -> BTreeMap<&str, Vec<&Operation>> {
    let mut processes: BTreeMap<&str, Vec<&Operation>> = BTreeMap::new();
    side.operations.iter().for_each(|op| processes.entry(&op.process).or_default().push(op));
    processes
}

fn is_same_call(a: &Operation, b: &Operation) -> bool {
    a.action == b.action && a.args == b.args
}

/// The operations of a thread in both runs, in program order.
fn pairs<'a>(ours: &[&'a Operation], theirs: &[&'a Operation]) -> Vec<Pair<'a>> {
    let matched = if ours.len().max(theirs.len()) > MOST_MATCHED {
        (0..ours.len().min(theirs.len())).map(|place| (place, place)).collect()
    } else {
        common(ours, theirs)
    };
    let (mut pairs, mut from) = (Vec::new(), (0, 0));
    for (here, there) in matched.into_iter().chain([(ours.len(), theirs.len())]) {
        gap(&ours[from.0..here], &theirs[from.1..there], &mut pairs);
        if let (Some(&op), Some(&other)) = (ours.get(here), theirs.get(there)) {
            pairs.push((Some(op), Some(other)));
        }
        from = (here + 1, there + 1);
    }
    pairs
}

/// The longest common subsequence, as pairs of places.
fn common(ours: &[&Operation], theirs: &[&Operation]) -> Vec<(usize, usize)> {
    let width = theirs.len() + 1;
    let mut longest = vec![0_u16; (ours.len() + 1) * width];
    for here in (0..ours.len()).rev() {
        for there in (0..theirs.len()).rev() {
            longest[here * width + there] = match is_same_call(ours[here], theirs[there]) {
                true => longest[(here + 1) * width + there + 1] + 1,
                false => longest[(here + 1) * width + there].max(longest[here * width + there + 1]),
            };
        }
    }
    let (mut here, mut there, mut places) = (0, 0, Vec::new());
    while here < ours.len() && there < theirs.len() {
        if is_same_call(ours[here], theirs[there]) {
            places.push((here, there));
            (here, there) = (here + 1, there + 1);
        } else if longest[(here + 1) * width + there] >= longest[here * width + there + 1] {
            here += 1;
        } else {
            there += 1;
        }
    }
    places
}

/// Calls between two common ones. One call of the same action on each side is one call with other arguments.
fn gap<'a>(ours: &[&'a Operation], theirs: &[&'a Operation], pairs: &mut Vec<Pair<'a>>) {
    if ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| a.action == b.action) {
        pairs.extend(ours.iter().zip(theirs).map(|(&a, &b)| (Some(a), Some(b))));
        return;
    }
    pairs.extend(ours.iter().map(|&op| (Some(op), None)));
    pairs.extend(theirs.iter().map(|&op| (None, Some(op))));
}

fn row(here: &Side, there: &Side, ours: Option<&Operation>, theirs: Option<&Operation>) -> ComparedRow {
    let show = |side: &Side, op: Option<&Operation>| {
        op.map(|op| ComparedOperation {
            text: op.text.clone(),
            start: op.start,
            end: op.end,
            step: side.steps.get(&op.name).copied(),
        })
    };
    let kind = match (ours, theirs) {
        (Some(a), Some(b)) if !is_same_call(a, b) => Difference::Arguments,
        (Some(a), Some(b)) if a.results != b.results || a.end.is_some() != b.end.is_some() => Difference::Results,
        (Some(_), Some(_)) => Difference::Same,
        (Some(_), None) => Difference::OnlyHere,
        (None, _) => Difference::OnlyThere,
    };
    let name = ours.or(theirs).map(|op| op.name.clone()).unwrap_or_default();
    ComparedRow { name, kind, here: show(here, ours), there: show(there, theirs) }
}

fn sentence(rows: &[ComparedRow], here: &Side, there: &Side) -> String {
    let Some(place) = rows.iter().position(|row| row.kind != Difference::Same) else {
        let moved = rows.iter().any(|row| {
            let step = |shown: &Option<ComparedOperation>| shown.as_ref().and_then(|shown| shown.step);
            step(&row.here) != step(&row.there)
        });
        let order = if moved { "but not the orders that were found" } else { "and so are the orders that were found" };
        return format!("All operations are the same, {order}.");
    };
    let row = &rows[place];
    let text = |shown: &Option<ComparedOperation>| shown.as_ref().map(|shown| shown.text.clone()).unwrap_or_default();
    let (name, ours, theirs) = (&row.name, text(&row.here), text(&row.there));
    let first = match row.kind {
        Difference::OnlyHere => format!("{name} `{ours}` is only in {}", here.name),
        Difference::OnlyThere => format!("{name} `{theirs}` is only in {}", there.name),
        _ => format!("{name} is `{ours}` in {} and `{theirs}` in {}", here.name, there.name),
    };
    match place {
        0 => format!("{first}: it is the first operation."),
        1 => format!("{first}; the operation before it is the same."),
        _ => format!("{first}; the {place} operations before it are the same."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of one line for each operation: name, call and result.
    fn side(name: &str, lines: &str) -> Side {
        let operation = |(line, start): (&str, u64)| {
            let mut words = line.split_whitespace();
            let (name, call) = (words.next().unwrap(), words.next().unwrap());
            let (action, argument) = call.split_once('(').unwrap();
            let field = |value: &str| crate::data::Field { name: String::new(), value: value.to_owned() };
            Operation {
                name: name.to_owned(),
                process: name.split(':').next().unwrap().to_owned(),
                text: line.split_once(' ').unwrap().1.to_owned(),
                action: action.to_owned(),
                args: vec![field(argument)],
                results: words.map(field).collect(),
                start,
                end: Some(start + 1),
                outcome: None,
                meta: Vec::new(),
            }
        };
        let operations: Vec<Operation> = lines.lines().zip(1..).map(operation).collect();
        let steps = operations.iter().zip(1..).map(|(op, step)| (op.name.clone(), step)).collect();
        Side { name: name.into(), verdict: "rejected".into(), operations, steps }
    }

    #[test]
    fn a_smaller_run_leaves_operations_out() {
        let whole = side("whole", "T0:0 enq(1)\nT0:1 enq(2)\nT1:0 deq() 2\nT0:2 enq(3)\nT1:1 deq() 1");
        let small = side("small", "T0:0 enq(2)\nT1:0 deq() 1\nT0:1 enq(3)");
        insta::assert_snapshot!(Comparison::new(&whole, &small).text(), @r"
        whole: rejected
        small: rejected
        T0:0 `enq(1)` is only in whole: it is the first operation.

        -    #1 T0:0 enq(1)
             #2 T0:1 enq(2)
        -    #3 T1:0 deq() 2
        +    #2 T1:0 deq() 1
             #4 T0:2 enq(3)
        -    #5 T1:1 deq() 1

        - only whole, + only small: 2 the same, 3 differ
        ");
    }

    #[test]
    fn equal_runs_and_other_arguments() {
        let one = side("one", "T0:0 enq(1)\nT1:0 deq() 1");
        let sentence = |other: &str| Comparison::new(&one, &side("other", other)).sentence;
        insta::assert_snapshot!(sentence("T0:0 enq(1)\nT1:0 deq() 1"), @"All operations are the same, and so are the orders that were found.");
        insta::assert_snapshot!(sentence("T1:0 deq() 1\nT0:0 enq(1)"), @"All operations are the same, but not the orders that were found.");
        insta::assert_snapshot!(sentence("T0:0 enq(2)\nT1:0 deq() 1"), @"T0:0 is `enq(1)` in one and `enq(2)` in other: it is the first operation.");
        insta::assert_snapshot!(sentence("T0:0 enq(1)\nT1:0 deq() 2"), @"T1:0 is `deq() 1` in one and `deq() 2` in other; the operation before it is the same.");
        let none = Comparison::new(&side("a", ""), &side("b", ""));
        assert_eq!((none.rows.len(), none.same), (0, 0));
    }

    #[test]
    fn every_operation_is_in_one_row() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut lines = || {
            let count = random.usize(..12);
            (0..count).map(|place| format!("T0:{place} enq({})\n", random.u8(..3))).collect::<String>()
        };
        for _ in 0..500 {
            let (a, b) = (side("a", &lines()), side("b", &lines()));
            let compared = Comparison::new(&a, &b);
            let texts = |pick: fn(&ComparedRow) -> &Option<ComparedOperation>| {
                compared.rows.iter().filter_map(|row| pick(row).as_ref().map(|shown| shown.text.clone())).count()
            };
            assert_eq!(texts(|row| &row.here), a.operations.len());
            assert_eq!(texts(|row| &row.there), b.operations.len());
        }
    }
}
