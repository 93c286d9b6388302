//! A data race for the user: the operations of its accesses, and their stacks.
//!
//! An execution says at which places and with which numbers its accesses race. A replay in a fresh process records their
//! stacks. The operations are those of the trace, whose times are numbers of steps.

use omnilink_explore::{DataRace, Execution, ExecutionOrder, Input, Race, RacedAccess, verb};
use omnilink_history::{Call, History};
use omnilink_schedule::channel::RacingAccess;
use omnilink_settings::KnownRace;

use crate::interleaving::Inside;
use crate::{Decided, Executed, Harness, follow};

/// The cause of the failure if an execution has a race that no earlier one had. If the settings name the race, `accept` gets
/// their reason instead.
pub(crate) fn new_failure<I: Input>(
    harness: &Harness,
    known: &[KnownRace],
    run: &Executed<I>,
    accept: &mut dyn FnMut(&str),
) -> Option<String> {
    let (race, decided) = run.race.as_ref().zip(run.decided.as_ref())?;
    let accesses = harness.race_accesses(race, decided.execution.base);
    let reason = known_reason(known, &accesses).or_else(|| {
        // A text may be about a caller, such as that of a function of the standard library. A replay shows the callers.
        let race = (!known.is_empty()).then(|| describe(harness, &run.input, decided, race, None))?;
        known_reason(known, &race.accesses.map(|access| format!("{} in {}", access.does, access.stack.join(" in "))))
    });
    match reason {
        Some(reason) => {
            accept(reason);
            None
        }
        None => Some(cause(&accesses)),
    }
}

/// Describes the race of an execution.
pub(crate) fn describe(
    harness: &Harness,
    input: &dyn Input,
    decided: &Decided,
    race: &Race,
    history: Option<&History<Call>>,
) -> DataRace {
    let order =
        ExecutionOrder { races: true, watch: race.numbers(), ..follow(&decided.order, &decided.execution.schedule()) };
    let again = harness.start().and_then(|mut control| harness.execute(&mut control, input, order));
    // A program that does not do the same again has no stacks, but the places are known.
    let watched = again.ok().and_then(|tried| tried.race).filter(|again| again.places() == race.places());
    let race = watched.as_ref().unwrap_or(race);
    let Execution { steps, base, .. } = &decided.execution;
    let inside = history.map(|history| (Inside::of(steps, history), history));
    let access = |access: RacingAccess| {
        let stack = &access.stack[..(access.depth as usize).min(access.stack.len())];
        // The runtime's own frames come first.
        let stack = stack.iter().position(|frame| *frame == access.place).map_or(&[][..], |first| &stack[first..]);
        let stack = if stack.is_empty() { std::slice::from_ref(&access.place) } else { stack };
        let operation = inside.as_ref().and_then(|(inside, history)| {
            let id = inside.at(steps, access.steps, access.thread as u8)?;
            Some(format!("{} {}", history.name(id), history.op(id).call))
        });
        RacedAccess {
            thread: access.thread as usize,
            operation,
            does: verb(&access).to_owned(),
            after_step: access.steps,
            stack: harness.symbolize(*base, stack),
        }
    };
    DataRace { accesses: race.accesses.map(access) }
}

/// The reason to accept a race, if the settings name it. Each access has to contain one of the two texts.
fn known_reason<'a>(known: &'a [KnownRace], accesses: &[String; 2]) -> Option<&'a str> {
    let [earlier, later] = accesses;
    let matches = |race: &&KnownRace| {
        let [a, b] = &race.between;
        (earlier.contains(a.as_str()) && later.contains(b.as_str()))
            || (earlier.contains(b.as_str()) && later.contains(a.as_str()))
    };
    known.iter().find(matches).map(|race| race.reason.as_str())
}

/// The cause of runs with this race: the same whichever access comes first.
pub(crate) fn cause(accesses: &[String; 2]) -> String {
    let mut accesses = accesses.clone();
    accesses.sort();
    accesses.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_races_are_named_in_either_order() {
        let known = [KnownRace { between: ["hits".into(), "count at".into()], reason: "statistics".into() }];
        let accesses = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(known_reason(&known, &accesses("writes in hits", "reads in count at a.c:1")), Some("statistics"));
        assert_eq!(known_reason(&known, &accesses("reads in count at a.c:1", "writes in hits")), Some("statistics"));
        assert_eq!(known_reason(&known, &accesses("writes in hits", "reads in get")), None);
    }
}
