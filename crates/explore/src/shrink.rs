//! Simplifies a schedule: fewer thread switches, while the run still fails for the same reason.
//!
//! A schedule is a list of *stretches*; in each, one thread takes steps. Stretches between two stretches of the same
//! thread can be moved before or after both, or dropped; the program follows the remaining decisions as far as it can.
//! Each change is tried by running the program, and kept if the run fails as before with fewer switches. The next
//! change starts from the decisions actually made, not from those requested. First, one change drops all decisions from
//! some point on, with a search for the earliest such point: a failure often needs a few switches, and hundreds more
//! come later.
//!
//! This is delta debugging (Zeller and Hildebrandt, Simplifying and isolating failure-inducing input) with changes
//! suited to schedules. It stops when no single change helps, which need not be the minimum number of switches.

use omnilink_schedule::{Choice, Decision, Schedule};

/// A simplified schedule, and the number of runs it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simplified {
    /// The schedule.
    pub schedule: Schedule,
    /// The number of runs.
    pub runs: usize,
}

/// Simplifies a schedule. `run` follows decisions as far as it can and returns the decisions made if the run failed for
/// the same reason, otherwise `None`. It is called at most `most` times.
pub fn simplify(
    schedule: &Schedule,
    most: usize,
    mut run: impl FnMut(&[Decision]) -> Option<Vec<Decision>>,
) -> Simplified {
    let mut best = schedule.clone();
    let mut runs = 0;
    // The shortest prefix that leads to the failure without a later preemption.
    let (mut fails, mut unknown) = (best.0.len(), 0);
    while unknown < fails && runs < most {
        let middle = unknown + (fails - unknown) / 2;
        runs += 1;
        match run(&best.0[..middle]) {
            Some(decided) => {
                fails = middle;
                take_simpler(&mut best, decided);
                fails = fails.min(best.0.len());
            }
            None => unknown = middle + 1,
        }
    }
    let mut at = 0;
    while runs < most {
        let stretches = stretches(&best);
        if at >= stretches.len() {
            break;
        }
        let mut is_better = false;
        for candidate in changes(&stretches, at) {
            if runs == most {
                break;
            }
            runs += 1;
            if run(&candidate).is_some_and(|decided| take_simpler(&mut best, decided)) {
                is_better = true;
                break;
            }
        }
        // After a change, the stretch before it may change too. Earlier ones are not retried: one pass leaves little.
        at = if is_better { at.saturating_sub(1) } else { at + 1 };
    }
    Simplified { schedule: best, runs }
}

/// A schedule without the switch before a step: the stretch of the thread that ran before continues with the thread's
/// next stretch, and those in between follow.
pub fn without_switch(schedule: &Schedule, step: usize) -> Vec<Decision> {
    let stretches = stretches(schedule);
    let mut steps = 0;
    let threads = |stretch: &[Decision]| stretch.iter().filter(|one| one.choice() == Some(Choice::Thread)).count();
    for (at, stretch) in stretches.iter().enumerate() {
        steps += threads(stretch);
        if steps >= step {
            let mut changes = changes(&stretches, at);
            // Without another stretch of that thread, it goes on as long as it can.
            return if changes.len() > 1 { changes.swap_remove(1) } else { stretches[..=at].concat() };
        }
    }
    schedule.0.clone()
}

/// Takes these decisions if they have fewer switches, or as many switches and fewer decisions.
fn take_simpler(best: &mut Schedule, decided: Vec<Decision>) -> bool {
    let decided = Schedule(decided);
    let size = |schedule: &Schedule| (schedule.switches(), schedule.0.len());
    let is_simpler = size(&decided) < size(best);
    if is_simpler {
        *best = decided;
    }
    is_simpler
}

/// Splits a schedule wherever the thread changes.
fn stretches(schedule: &Schedule) -> Vec<Vec<Decision>> {
    let mut stretches: Vec<Vec<Decision>> = Vec::new();
    for decision in &schedule.0 {
        let is_same =
            |stretch: &Vec<Decision>| decision.choice() != Some(Choice::Thread) || stretch[0].chosen == decision.chosen;
        match stretches.last_mut() {
            Some(stretch) if is_same(stretch) => stretch.push(*decision),
            _ => stretches.push(vec![*decision]),
        }
    }
    stretches
}

/// The changes to try at one stretch: drop it, move the thread's next stretch up to it, or move it down to that one.
fn changes(stretches: &[Vec<Decision>], at: usize) -> Vec<Vec<Decision>> {
    let thread = |stretch: &Vec<Decision>| stretch[0].chosen;
    let without = stretches.iter().enumerate().filter(|(place, _)| *place != at).flat_map(|(_, stretch)| stretch);
    let mut changes = vec![without.copied().collect()];
    let next = stretches[at + 1..].iter().position(|stretch| thread(stretch) == thread(&stretches[at]));
    if let Some(next) = next.map(|next| at + 1 + next) {
        let (before, between, after) = (&stretches[..at], &stretches[at + 1..next], &stretches[next + 1..]);
        let (first, second) = (&stretches[at..=at], &stretches[next..=next]);
        for order in [[before, first, second, between, after], [before, between, first, second, after]] {
            changes.push(order.into_iter().flatten().flatten().copied().collect());
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads with four steps each. It fails if thread 1 runs between the second and the third step of thread 0.
    fn run(follow: &[Decision]) -> Option<Vec<Decision>> {
        let mut left = [4, 4];
        let mut decided = Vec::new();
        let mut follow = follow.iter().map(|decision| usize::from(decision.chosen));
        let mut current = 0;
        while left != [0, 0] {
            let wish = follow.next().filter(|&thread| left[thread] > 0);
            let steady = if left[current] > 0 { current } else { 1 - current };
            current = wish.unwrap_or(steady);
            left[current] -= 1;
            decided.push(Decision::thread(current as u8));
        }
        let text: String = decided.iter().map(|decision| char::from(b'0' + decision.chosen)).collect();
        let place = |number| text.match_indices('0').nth(number).map(|(place, _)| place).unwrap_or_default();
        (place(2) > place(1) + 1).then_some(decided)
    }

    fn check(schedule: &str, most: usize) -> String {
        let schedule: Schedule = format!("omnilink-schedule 1\n{schedule}").parse().unwrap();
        let simplified = simplify(&schedule, most, run);
        assert!(simplified.runs <= most);
        simplified.schedule.to_string().lines().nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn one_switch_that_matters_is_left() {
        insta::assert_snapshot!(check("1 0 1 0 1 0 1 0", 100), @"0*2 1*4 0*2");
        insta::assert_snapshot!(check("0 0 1 1 0 1 0 1", 100), @"0*2 1*4 0*2");
    }

    #[test]
    fn a_thread_goes_on_where_it_was_preempted() {
        let schedule: Schedule = "omnilink-schedule 1\n0 0 1 1 0 1 0 1".parse().unwrap();
        let check = |step| Schedule(without_switch(&schedule, step)).to_string().lines().nth(1).unwrap().to_owned();
        insta::assert_snapshot!(check(2), @"0*3 1*3 0 1");
        insta::assert_snapshot!(check(7), @"0*2 1*2 0 1 0");
    }

    #[test]
    fn without_runs_nothing_changes() {
        insta::assert_snapshot!(check("1 0 1 0 1 0 1 0", 0), @"1 0 1 0 1 0 1 0");
    }
}
