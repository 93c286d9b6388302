//! The names of a companion's operators for operations, and the ends of processes that one of them is about.

use omnilink_history::{Call, Record, Trace};

/// Steps after the last operation of a process.
pub(crate) const END: &str = "OnEnd";

/// Operators that are not about operations with their names.
const OTHERS: [&str; 3] = [END, "OnUnfinished", "OnFailed"];

/// The operators for an operation, the first one first: with its name as it is, and with a capital for each of its words,
/// such as `OnGiveUp` for `give-up`.
pub(crate) fn operators(operation: &str) -> Vec<String> {
    let capital = |word: &str| -> String {
        let mut chars = word.chars();
        let first = chars.next();
        first.into_iter().flat_map(char::to_uppercase).chain(chars).collect()
    };
    let words = operation.split(|c: char| !c.is_alphanumeric());
    let in_words = format!("On{}", words.map(capital).collect::<String>());
    let mut names = vec![format!("On{operation}")];
    if !OTHERS.contains(&&*in_words) && in_words != names[0] {
        names.push(in_words);
    }
    names
}

/// How a companion can define an operation; `None` for the outcomes of an unfinished one, which are several actions.
pub(crate) fn advice(operation: &str) -> Option<String> {
    let operator = operators(operation).pop().filter(|_| !operation.contains('|'))?;
    Some(format!("or define `{operator}(op)` in the companion"))
}

/// Adds an operation for the end of each process, for a companion that defines what may happen then. It comes after the
/// last operation of the process, unless that one is unfinished: then either may take effect first. A process that is blocked
/// has no end.
pub fn add_ends(trace: &mut Trace) {
    let mut last: Vec<Option<(u64, Option<u64>)>> = vec![None; trace.processes.len()];
    let mut is_blocked = vec![false; trace.processes.len()];
    for record in &trace.records {
        is_blocked[record.process.index()] |= record.call.blocked;
        let (last, ends) = (&mut last[record.process.index()], |end: Option<u64>| end.unwrap_or(u64::MAX));
        if last.is_none_or(|(start, end)| (start, ends(end)) <= (record.start, ends(record.end.at()))) {
            *last = Some((record.start, record.end.at()));
        }
    }
    for (index, last) in last.into_iter().enumerate() {
        let Some((start, end)) = last.filter(|_| !is_blocked[index]) else { continue };
        let name = trace.processes[index].clone();
        let process = if end.is_some() { trace.process(&name) } else { trace.process(&format!("{name}-end")) };
        let name = name.parse().map_or_else(|_| omnilink_history::Value::Str(name), omnilink_history::Value::Int);
        let call = Call::positional(END, [name], []);
        trace.records.push(Record { process, start: end.unwrap_or(start), end: None.into(), call });
    }
}

#[cfg(test)]
mod tests {
    use omnilink_history::format::text;

    use super::*;

    /// The ends that are added: each with its process, its start and the process that it is about.
    fn check(trace: &str) -> String {
        let mut trace = text::read(trace.as_bytes()).unwrap();
        let recorded = trace.records.len();
        add_ends(&mut trace);
        let end = |record: &Record| {
            assert_eq!((record.call.action(), record.end.at()), (END, None));
            format!("{} [{} ...] {}", trace.processes[record.process.index()], record.start, record.call.args()[0])
        };
        trace.records[recorded..].iter().map(end).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn processes_end_after_their_last_operation() {
        insta::assert_snapshot!(check("T0 [1 2] a()\nT1 [2 3] a()\nT0 [4 6] b()\n"), @"0 [6 ...] 0, 1 [3 ...] 1");
        // Records come in any order.
        insta::assert_snapshot!(check("T0 [4 6] b()\nT0 [1 2] a()\n"), @"0 [6 ...] 0");
        insta::assert_snapshot!(check("client [1 2] a()\n"), @r#"client [2 ...] "client""#);
    }

    #[test]
    fn an_unfinished_operation_may_come_after_the_end() {
        insta::assert_snapshot!(check("T0 [1 2] a()\nT0 [4 ...] b()\n"), @"0-end [4 ...] 0");
    }

    #[test]
    fn a_blocked_process_has_no_end() {
        insta::assert_snapshot!(check("T0 [1 2] a()\nT1 [3 ...] b() blocked\n"), @"0 [2 ...] 0");
        insta::assert_snapshot!(check("T0 [1 2] a()\nT0 [3 ...] b() blocked\n"), @"");
    }
}
