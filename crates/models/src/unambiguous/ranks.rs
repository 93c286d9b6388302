//! Intervals as ranks: each call and each return gets its own number.
//!
//! Intervals are closed, so at one instant all calls come before all returns, except where one operation of a process
//! ends and the next of that process starts: there, the return comes before the call. If this happens in one process
//! only, its returns and calls are in the middle of the instant. If it happens in two processes at the same instant,
//! the order is not an interval order, and there are no ranks.

use omnilink_history::History;

/// When an operation was called and when it returned. `call < ret`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    pub(crate) call: usize,
    pub(crate) ret: usize,
}

/// The ranks of all operations, and a number larger than all of them except for returns that never happened, which
/// are one larger still. The error says why there are no ranks.
pub(crate) fn ranks<T>(history: &History<T>) -> Result<(Vec<Ranks>, usize), &'static str> {
    if history.ops().iter().any(|op| op.interval.latest().is_some()) {
        return Err("an unfinished operation has a latest time");
    }
    chained_ranks(history).ok_or("two processes end one operation and start the next at the same instant")
}

/// `None` if two processes touch at one instant.
fn chained_ranks<T>(history: &History<T>) -> Option<(Vec<Ranks>, usize)> {
    #[derive(PartialEq, Eq, PartialOrd, Ord, Clone, Copy)]
    enum Phase {
        Call,
        Touch,
        Return,
    }
    let ops = history.ops();
    let mut events = Vec::with_capacity(2 * ops.len()); // (time, phase, 2 * place + is return)
    let mut last = vec![None; history.processes().len()]; // The index of the last return of each process.
    for (place, op) in ops.iter().enumerate() {
        let (start, end) = (op.interval.start(), op.interval.end());
        let mut phase = Phase::Call;
        if let Some(before) = last[op.process.index()].replace(events.len() + 1) {
            let before: &mut (u64, Phase, usize) = &mut events[before];
            if before.0 == start {
                before.1 = Phase::Touch;
                phase = Phase::Touch;
            }
        }
        events.push((start, phase, 2 * place));
        if let Some(end) = end {
            events.push((end, Phase::Return, 2 * place + 1));
        }
    }
    events.sort_unstable();
    let process = |event: &(u64, Phase, usize)| ops[event.2 / 2].process;
    let touch = |event: &(u64, Phase, usize)| event.1 == Phase::Touch;
    let clash = |pair: &[(u64, Phase, usize)]| pair[0].0 == pair[1].0 && process(&pair[0]) != process(&pair[1]);
    if events.windows(2).any(|pair| touch(&pair[0]) && touch(&pair[1]) && clash(pair)) {
        return None;
    }
    let end = events.len();
    let mut ranks = vec![Ranks { call: 0, ret: end + 1 }; ops.len()];
    for (rank, event) in events.iter().enumerate() {
        let op = &mut ranks[event.2 / 2];
        if event.2 % 2 == 0 { op.call = rank } else { op.ret = rank }
    }
    Some((ranks, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(calls: &[(u32, u64, Option<u64>)]) -> Option<Vec<(usize, usize)>> {
        let history =
            History::from_calls(calls.iter().map(|&(process, start, end)| (process, start, end, ()))).unwrap();
        let (ranks, _) = ranks(&history).ok()?;
        Some(ranks.iter().map(|ranks| (ranks.call, ranks.ret)).collect())
    }

    #[test]
    fn at_one_instant_calls_come_first() {
        assert_eq!(check(&[(0, 0, Some(1)), (1, 1, Some(2))]).unwrap(), [(0, 2), (1, 3)]);
        assert_eq!(check(&[(0, 0, None), (1, 1, Some(2))]).unwrap(), [(0, 4), (1, 2)]);
    }

    #[test]
    fn touching_operations_of_one_process_are_ordered() {
        let calls = [(0, 0, Some(1)), (0, 1, Some(1)), (0, 1, Some(2)), (1, 1, Some(1))];
        assert_eq!(check(&calls).unwrap(), [(0, 2), (3, 4), (1, 6), (5, 7)]);
    }

    #[test]
    fn operations_with_a_latest_time_have_no_ranks() {
        let unknown = omnilink_history::Interval::unknown(0, 3).unwrap();
        assert!(ranks(&History::from_intervals([(0, unknown, ())]).unwrap()).is_err());
    }

    #[test]
    fn two_processes_that_touch_at_one_instant_have_no_ranks() {
        assert_eq!(check(&[(0, 0, Some(1)), (0, 1, Some(2)), (1, 0, Some(1)), (1, 1, Some(2))]), None);
        assert!(check(&[(0, 0, Some(1)), (0, 1, Some(2)), (1, 1, Some(2)), (1, 2, Some(3))]).is_some());
    }
}
