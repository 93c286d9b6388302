//! Histories that are too large to commit, or that editors cannot display.
//!
//! Each is the same in every run. The queue is a real queue, driven by processes in simulated time, so its history is
//! correct by construction except for one exchanged result.

use std::collections::VecDeque;
use std::fmt::Write as _;

use anyhow::{Result, bail};
use fastrand::Rng;
use serde_json::json;

/// The length of the queue at which the next operation must dequeue.
const LONGEST: usize = 8;

/// How many processes share the long queue.
const PROCESSES: usize = 8;

/// The history that goes by this name: `queue-N`, `processes-N` or `hostile`.
pub(crate) fn make(name: &str) -> Result<String> {
    Ok(match (name, name.rsplit_once('-')) {
        ("hostile", _) => hostile(),
        (_, Some(("queue", count))) => queue(count.parse()?),
        (_, Some(("processes", count))) => processes(count.parse()?),
        _ => bail!("there is no history `{name}`"),
    })
}

/// A queue that many processes share, and from which near the end one element comes out ahead of its turn.
fn queue(operations: usize) -> String {
    let wrong = operations - operations / 200;
    let mut rng = Rng::with_seed(operations as u64);
    let mut held: VecDeque<u64> = VecDeque::new();
    let mut free = [0_u64; PROCESSES];
    let mut exchanged = None;
    let (mut next, mut now) = (1, 0);
    let mut text = String::with_capacity(operations * 36);
    for number in 0..operations {
        // Effects happen one after the other, and each somewhere inside its operation. A process has been idle for a
        // while, so that two or three operations are in flight at any time.
        now += rng.u64(20..60);
        let process = rng.usize(..PROCESSES);
        now = now.max(free[process] + 2);
        let start = (now - rng.u64(1..80).min(now - 1)).max(free[process] + 1);
        let end = now + rng.u64(1..80);
        free[process] = end;
        let is_taken = held.len() >= LONGEST || (!held.is_empty() && rng.bool());
        let call = if is_taken {
            let mut elem = held.pop_front().unwrap_or_default();
            if number >= wrong && exchanged.is_none() && held.len() > 2 {
                // The one behind the next goes out first, and this one in its place.
                exchanged = Some(elem);
                std::mem::swap(&mut elem, &mut held[2]);
            }
            format!("Dequeue() = elem: {elem}")
        } else if held.is_empty() && rng.u8(..4) == 0 {
            "DequeueEmpty()".to_owned()
        } else {
            held.push_back(next);
            next += 1;
            format!("Enqueue(elem: {})", next - 1)
        };
        _ = writeln!(text, "T{process} [{start} {end}] {call}");
    }
    text
}

/// A queue that this many processes share, two at a time, until one finds it empty that is not.
fn processes(count: usize) -> String {
    let mut text = String::new();
    let mut time = 0;
    for turn in 0..count * 4 {
        let process = turn * 7 % count;
        let call = match turn % 4 {
            0 | 1 => format!("Enqueue(elem: {turn})"),
            2 if turn + 4 >= count * 4 => "DequeueEmpty()".to_owned(),
            _ => format!("Dequeue() = elem: {}", turn - 2),
        };
        // Elements go in one after the other; what is taken overlaps with what comes next.
        let length = if turn % 4 < 2 { 8 } else { 9 };
        _ = writeln!(text, "T{process} [{time} {}] {call}", time + length);
        time += 10;
    }
    text
}

/// Hostile names and values. They must be shown, and must not do anything.
fn hostile() -> String {
    const SCRIPT: &str = "</script><script>window.pwned=1</script>";
    const IMAGE: &str = "<img src=x onerror=window.pwned=1>";
    const BIDI: &str = "\u{202e}desrever\u{2066}\u{200f}\u{feff}";
    const CONTROLS: &str = "nul \u{0} bell \u{7} escape \u{1b}[31m delete \u{7f} line \u{2028} lone \u{fffd}";
    let megabyte = "<b onclick=window.pwned=1>long</b>".repeat(1_000_000 / 34);
    let quotes = "\"'`--><!--]]>&quot;&#x3c;${window.pwned=1}{{constructor}}\\u003c";
    let mut text = String::new();
    let mut time = 0;
    let mut line = |process: &str, action: &str, value: &str, note: &str| {
        let side = if action == "Read" { "results" } else { "args" };
        let mut operation = json!({
            "process": process,
            "action": action,
            "start": time,
            "end": time + 12,
            "meta": { note: value.chars().take(200).collect::<String>(), "__proto__": IMAGE },
        });
        operation[side] = json!({ "value": value });
        time += 10;
        _ = writeln!(text, "{operation}");
    };
    line(SCRIPT, "Write", IMAGE, "constructor");
    line(IMAGE, SCRIPT, SCRIPT, "onclick");
    line(BIDI, "Write", BIDI, SCRIPT);
    line("__proto__", "Write", CONTROLS, BIDI);
    line("constructor", SCRIPT, quotes, "hasOwnProperty");
    line("javascript:window.pwned=1", "Write", &megabyte, "toString");
    line("a b:c#d&e=f%20", "Write", "plain", "href");
    line(quotes, "Read", IMAGE, IMAGE);
    line(SCRIPT, "Read", &megabyte, "after");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_the_same_every_time() {
        for name in ["hostile", "queue-1000", "processes-64"] {
            assert_eq!(make(name).unwrap(), make(name).unwrap());
        }
        assert!(make("queue").is_err());
    }

    #[test]
    fn a_queue_has_as_many_operations_as_were_asked_for() {
        let text = make("queue-1000").unwrap();
        insta::assert_snapshot!(text.lines().take(3).collect::<Vec<_>>().join("\n"), @r"
        T7 [1 92] Enqueue(elem: 1)
        T3 [18 80] Dequeue() = elem: 1
        T5 [19 149] Enqueue(elem: 2)
        ");
        assert_eq!(text.lines().count(), 1000);
    }
}
