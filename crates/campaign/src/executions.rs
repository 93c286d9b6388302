//! The loop: one execution after the other, each judged, until there is a reason to stop.
//!
//! [`run`] takes two functions: one executes a program, free or under control, or a function of this process; the other
//! judges the result, for a verdict or a collection of histories. [`overlap`] is the same loop with the judge on a
//! separate thread, so that judging overlaps the next execution. An interrupted execution is meaningless and not
//! judged.

use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The bounds of a campaign.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The largest number of executions, including redundant ones.
    pub executions: u64,
    /// No execution starts after this.
    pub until: Option<Instant>,
    /// Whether the user asked to stop.
    pub is_interrupted: fn() -> bool,
}

/// The result of requesting another execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<T> {
    /// An execution to be judged.
    Executed(T),
    /// It was aborted, because another execution covers it.
    Redundant,
    /// Nothing is left to execute.
    Exhausted,
    /// The user asked to stop.
    Interrupted,
}

/// The reason why the loop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing is left to execute.
    Exhausted,
    /// The budget is used up.
    OverBudget,
    /// The judge asked to stop.
    Enough,
    /// The user asked to stop.
    Interrupted,
}

/// Consumes executions.
pub trait Judging<T> {
    /// Judges an execution, and decides whether to continue.
    fn judge(&mut self, executed: T) -> ControlFlow<()>;

    /// Called after every judgement, and several times a second in between.
    fn progress(&mut self, _count: Count) {}
}

impl<T, F: FnMut(T) -> ControlFlow<()>> Judging<T> for F {
    fn judge(&mut self, executed: T) -> ControlFlow<()> {
        self(executed)
    }
}

/// The number of executions so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// All of them.
    pub executions: u64,
    /// Those aborted because others cover them.
    pub redundant: u64,
}

/// Executes and judges in turns, on this thread.
pub fn run<T, E>(
    budget: &Budget,
    mut execute: impl FnMut() -> Result<Next<T>, E>,
    judging: &mut impl Judging<T>,
) -> Result<Stopped, E> {
    for _ in 0..budget.executions {
        if (budget.is_interrupted)() {
            return Ok(Stopped::Interrupted);
        }
        if budget.until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        match execute()? {
            Next::Executed(executed) if !(budget.is_interrupted)() => {
                if judging.judge(executed).is_break() {
                    return Ok(Stopped::Enough);
                }
            }
            Next::Redundant => {}
            Next::Exhausted => return Ok(Stopped::Exhausted),
            Next::Executed(_) | Next::Interrupted => return Ok(Stopped::Interrupted),
        }
    }
    Ok(Stopped::OverBudget)
}

/// The interval of [`Judging::progress`] while there is nothing to judge.
const PROGRESS: Duration = Duration::from_millis(200);

/// Executes on this thread, and judges on another. Executions after the judge has stopped are not judged.
pub fn overlap<T: Send, E>(
    budget: &Budget,
    mut execute: impl FnMut() -> Result<Next<T>, E>,
    judging: &mut (impl Judging<T> + Send),
) -> Result<Stopped, E> {
    let shared = &Shared::default();
    let (executed, to_judge) = sync_channel(1);
    thread::scope(|scope| {
        let judge = scope.spawn(move || shared.judge_all(to_judge, judging));
        let next = || match shared.is_enough.load(Ordering::Relaxed) {
            true => Ok(Next::Interrupted),
            false => execute().inspect(|next| shared.count(next)),
        };
        let mut send = |one| executed.send(one).map_or(ControlFlow::Break(()), ControlFlow::Continue);
        let stopped = run(budget, next, &mut send);
        drop(executed);
        match judge.join() {
            Err(panic) => resume_unwind(panic),
            Ok(ControlFlow::Break(())) => stopped.map(|_| Stopped::Enough),
            Ok(ControlFlow::Continue(())) => stopped,
        }
    })
}

/// State shared by the executing and the judging thread.
#[derive(Debug, Default)]
struct Shared {
    is_enough: AtomicBool,
    executions: AtomicU64,
    redundant: AtomicU64,
}

impl Shared {
    fn count<T>(&self, next: &Next<T>) {
        let is_redundant = matches!(next, Next::Redundant);
        self.executions.fetch_add(u64::from(is_redundant || matches!(next, Next::Executed(_))), Ordering::Relaxed);
        self.redundant.fetch_add(u64::from(is_redundant), Ordering::Relaxed);
    }

    fn judge_all<T>(&self, to_judge: Receiver<T>, judging: &mut impl Judging<T>) -> ControlFlow<()> {
        loop {
            // There may be few executions to judge: show progress regardless.
            let judged = match to_judge.recv_timeout(PROGRESS) {
                Ok(executed) => judging.judge(executed),
                Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
                Err(RecvTimeoutError::Disconnected) => return ControlFlow::Continue(()),
            };
            judging.progress(Count {
                executions: self.executions.load(Ordering::Relaxed),
                redundant: self.redundant.load(Ordering::Relaxed),
            });
            if judged.is_break() {
                self.is_enough.store(true, Ordering::Relaxed);
                return judged;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { executions: u64::MAX, until: None, is_interrupted: || false };

    /// Executes a script, one letter each: `!` fails, `i` is interrupted, `r` is redundant, and all others are judged,
    /// where `x` stops the judge. Both loops must do the same.
    fn check(budget: Budget, script: &str) -> String {
        let executing = || {
            let mut letters = script.chars();
            move || match letters.next() {
                None => Ok(Next::Exhausted),
                Some('!') => Err("failed"),
                Some('i') => Ok(Next::Interrupted),
                Some('r') => Ok(Next::Redundant),
                Some(letter) => Ok(Next::Executed(letter)),
            }
        };
        let (mut alone, mut beside) = (String::new(), String::new());
        let judging = |judged: &mut String, letter: char| {
            judged.push(letter);
            if letter == 'x' { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = run(&budget, executing(), &mut |letter| judging(&mut alone, letter));
        let overlapped = overlap(&budget, executing(), &mut |letter| judging(&mut beside, letter));
        assert_eq!((&stopped, &alone), (&overlapped, &beside));
        format!("{stopped:?}, judged `{alone}`")
    }

    #[test]
    fn every_reason_to_stop_is_distinguished() {
        insta::assert_snapshot!(check(BUDGET, "aax"), @"Ok(Enough), judged `aax`");
        insta::assert_snapshot!(check(BUDGET, "arar"), @"Ok(Exhausted), judged `aa`");
        insta::assert_snapshot!(check(BUDGET, ""), @"Ok(Exhausted), judged ``");
        insta::assert_snapshot!(check(BUDGET, "aia"), @"Ok(Interrupted), judged `a`");
        insta::assert_snapshot!(check(BUDGET, "a!a"), @r#"Err("failed"), judged `a`"#);
    }

    #[test]
    fn a_budget_is_kept() {
        let executions = |executions| Budget { executions, ..BUDGET };
        insta::assert_snapshot!(check(executions(3), "arab"), @"Ok(OverBudget), judged `aa`");
        insta::assert_snapshot!(check(executions(3), "aax"), @"Ok(Enough), judged `aax`");
        // Whether anything is left is unknown until it is requested.
        insta::assert_snapshot!(check(executions(2), "aa"), @"Ok(OverBudget), judged `aa`");
        insta::assert_snapshot!(check(executions(0), "aa"), @"Ok(OverBudget), judged ``");
        let late = Budget { until: Some(Instant::now()), ..BUDGET };
        insta::assert_snapshot!(check(late, "aa"), @"Ok(OverBudget), judged ``");
    }

    #[test]
    fn interrupted_executions_are_not_judged() {
        insta::assert_snapshot!(check(Budget { is_interrupted: || true, ..BUDGET }, "aa"), @"Ok(Interrupted), judged ``");
    }

    #[test]
    fn inputs_and_judges_can_have_any_type() {
        let mut matrices = [[["push"], ["pop"]], [["pop"], ["pop"]]].into_iter();
        let mut histories = Vec::new();
        let execute = || Ok::<_, ()>(matrices.next().map_or(Next::Exhausted, |calls| Next::Executed(calls.concat())));
        let mut collect = |history| {
            histories.push(history);
            ControlFlow::Continue(())
        };
        assert_eq!(run(&BUDGET, execute, &mut collect), Ok(Stopped::Exhausted));
        assert_eq!(histories, [["push", "pop"], ["pop", "pop"]]);
    }

    #[test]
    fn progress_counts_executions_that_are_not_judged() {
        struct Last(Count);
        impl Judging<char> for Last {
            fn judge(&mut self, _: char) -> ControlFlow<()> {
                ControlFlow::Continue(())
            }
            fn progress(&mut self, count: Count) {
                self.0 = count;
            }
        }
        let mut last = Last(Count::default());
        let mut letters = "rra".chars();
        let execute = || {
            Ok::<_, ()>(match letters.next() {
                None => Next::Exhausted,
                Some('r') => Next::Redundant,
                Some(letter) => Next::Executed(letter),
            })
        };
        assert_eq!(overlap(&BUDGET, execute, &mut last), Ok(Stopped::Exhausted));
        assert_eq!(last.0, Count { executions: 3, redundant: 2 });
    }
}
