//! The part `states`: states along the order, each as a delta from the next.
//!
//! The last state is written in full. Every other one is written as *splices* that turn the next state into it: the
//! variable, the lengths of the kept prefix and suffix of its value, and the text between them. JavaScript counts text
//! in UTF-16 units, so splices do too.

use omnilink_report::{State, Timeline};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct States<'a> {
    variables: Vec<&'a str>,
    watched: usize,
    first: usize,
    until: usize,
    ids: Vec<&'a str>,
    last: Vec<&'a str>,
    back: Vec<Vec<Splice<'a>>>,
    endings: Vec<Ending<'a>>,
}

#[derive(Debug, Serialize)]
struct Ending<'a> {
    steps: Vec<Step>,
    ids: Vec<&'a str>,
    forth: Vec<Vec<Splice<'a>>>,
}

#[derive(Debug, Serialize)]
struct Step {
    op: u32,
    partway: bool,
}

/// Variable, lengths of the kept prefix and suffix, and the text between them.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Splice<'a>(usize, usize, usize, &'a str);

pub(super) fn states(timeline: &Timeline) -> States<'_> {
    let states = &timeline.states;
    let last = states.last();
    let is_whole = timeline.until == timeline.order.len();
    let fields = last.map_or(&[][..], |state| &state.variables);
    States {
        variables: fields.iter().map(|field| &*field.name).collect(),
        watched: timeline.watched,
        first: timeline.until.saturating_sub(states.len().saturating_sub(1)),
        until: timeline.until,
        ids: ids(states),
        last: fields.iter().map(|field| &*field.value).collect(),
        back: states.windows(2).map(|pair| splices(&pair[1], &pair[0])).collect(),
        endings: timeline.endings.iter().map(|ending| self::ending(ending, last.filter(|_| is_whole))).collect(),
    }
}

fn ending<'a>(ending: &'a omnilink_report::Ending, last: Option<&State>) -> Ending<'a> {
    let steps = ending.steps.iter().map(|step| Step { op: step.op, partway: step.partway }).collect();
    let before = last.into_iter().chain(&ending.states);
    // Without the last common state there is nothing to splice from.
    let after = if last.is_some() { &ending.states[..] } else { &[] };
    Ending { steps, ids: ids(after), forth: before.zip(after).map(|(from, to)| splices(from, to)).collect() }
}

fn ids(states: &[State]) -> Vec<&str> {
    states.iter().map(|state| &*state.id).collect()
}

/// The splices that turn one state into another.
fn splices<'a>(from: &State, to: &'a State) -> Vec<Splice<'a>> {
    let pairs = from.variables.iter().zip(&to.variables).enumerate();
    pairs.filter_map(|(place, (from, to))| splice(place, &from.value, &to.value)).collect()
}

fn splice<'a>(variable: usize, from: &str, to: &'a str) -> Option<Splice<'a>> {
    if from == to {
        return None;
    }
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let front: usize = from.chars().zip(to.chars()).take_while(same).map(|(char, _)| char.len_utf8()).sum();
    let (from, rest) = (&from[front..], &to[front..]);
    let back: usize =
        from.chars().rev().zip(rest.chars().rev()).take_while(same).map(|(char, _)| char.len_utf8()).sum();
    let (insert, end) = rest.split_at(rest.len() - back);
    Some(Splice(variable, units(&to[..front]), units(end), insert))
}

fn units(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_count_utf16_units() {
        let check = |from: &str, to: &'static str| splice(0, from, to).map(|splice| (splice.1, splice.2, splice.3));
        assert_eq!(check("<<1, 2>>", "<<1, 2>>"), None);
        assert_eq!(check("<<1, 2>>", "<<1, 2, 3>>"), Some((6, 2, ", 3")));
        assert_eq!(check("aa", "aaa"), Some((2, 0, "a")));
        assert_eq!(check("aaa", "aa"), Some((2, 0, "")));
        // The first surrogates of both characters are the same, but are not characters.
        assert_eq!(check("😀x", "😁x"), Some((0, 1, "😁")));
        assert_eq!(check("😀äx", "😀ẍx"), Some((2, 1, "ẍ")));
    }
}
