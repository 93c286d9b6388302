//! The false conjunct that a sentence is about: the one of the nearest state.
//!
//! A state is near if few conjuncts of the action are false or were not reached there, and if the values that the false
//! one compares differ in few places. Of equally near conjuncts, the one with the fewest values counts, then the one that
//! is false in the most states.

use std::cmp::Reverse;

use super::room::Room;
use super::syntax::{elements, is_empty, is_literal, is_path, is_place, nearest, relation, root, split, unwrapped};
use crate::data::{Conjunct, Field, Guard, Outcome, Reason, Rejection, Span, Stuck, Why};

/// A false conjunct.
pub(super) struct Blamed<'a> {
    pub(super) text: &'a str,
    /// The states in which it is false.
    pub(super) states: Vec<usize>,
    /// Its subexpressions and their values there; `None` if one of the states has no value for it.
    pub(super) values: Vec<(&'a str, Option<Vec<&'a str>>)>,
    /// The names that `\E` bound on the way to it, if they have the same values in all of these states.
    pub(super) choices: &'a [Field],
    /// If it compares a state with a value in the log: that of before or after the step.
    pub(super) logged: Option<&'static str>,
    /// How far the nearest of these states is from allowing the operation.
    distance: (usize, usize),
}

/// The reasons against the operation that a rejection is about.
pub(super) fn against<'a>(stuck: &'a Stuck, rejection: &Rejection) -> impl Iterator<Item = &'a Reason> + use<'a> {
    let subject = rejection.subject();
    stuck.reasons.iter().filter(move |reason| Some(reason.op) == subject)
}

/// The values, if there is one everywhere.
pub(super) fn all(values: &[Option<String>]) -> Option<Vec<&str>> {
    values.iter().map(Option::as_deref).collect()
}

impl<'a> Blamed<'a> {
    /// The false conjuncts, the nearest first.
    pub(super) fn all(stuck: &'a Stuck, rejection: &Rejection) -> Vec<Blamed<'a>> {
        let mut found: Vec<(Span, Blamed<'a>)> = Vec::new();
        for reason in against(stuck, rejection) {
            let Why::Guard(guard) = &reason.why else { continue };
            for conjunct in &guard.conjuncts {
                let is_false = |(_, outcome): &(usize, &Outcome)| **outcome == Outcome::False;
                let places: Vec<usize> =
                    conjunct.outcomes.iter().enumerate().filter(is_false).map(|(place, _)| place).collect();
                if places.is_empty() {
                    continue;
                }
                let index = found.iter().position(|(span, _)| *span == conjunct.span).unwrap_or_else(|| {
                    let logged = [("before", Guard::BEFORE), ("after", Guard::AFTER)];
                    let logged = logged.iter().find(|(_, end)| guard.action.ends_with(end)).map(|(when, _)| *when);
                    found.push((conjunct.span, Blamed { logged, ..Blamed::new(&conjunct.text, &guard.choices) }));
                    found.len() - 1
                });
                found[index].1.add(reason, guard, conjunct, &places);
            }
        }
        let mut all: Vec<Blamed<'a>> = found.into_iter().map(|(_, blamed)| blamed).collect();
        all.sort_by_key(|blamed| (blamed.distance, blamed.spread(), Reverse(blamed.states.len())));
        all
    }

    /// A conjunct that is false in a number of states, with these values of its subexpressions.
    pub(super) fn of(conjunct: &'a Conjunct, states: usize) -> Blamed<'a> {
        let values = conjunct.values.iter().map(|part| (part.text.as_str(), all(&part.values))).collect();
        Blamed { states: (0..states).collect(), values, ..Blamed::new(&conjunct.text, &[]) }
    }

    fn new(text: &'a str, choices: &'a [Field]) -> Blamed<'a> {
        let distance = (usize::MAX, usize::MAX);
        Blamed { text, states: Vec::new(), values: Vec::new(), choices, logged: None, distance }
    }

    /// Adds the places of a reason at which the conjunct is false.
    fn add(&mut self, reason: &Reason, guard: &'a Guard, conjunct: &'a Conjunct, places: &[usize]) {
        let is_first = self.states.is_empty();
        self.states.extend(places.iter().filter_map(|&place| reason.states.get(place)));
        for part in &conjunct.values {
            let values: Option<Vec<&str>> = places.iter().map(|&place| part.values.get(place)?.as_deref()).collect();
            match self.values.iter_mut().find(|(text, _)| *text == part.text) {
                Some((_, Some(known))) if let Some(values) = values => known.extend(values),
                Some((_, known)) => *known = None,
                None => self.values.push((&part.text, values.filter(|_| is_first))),
            }
        }
        if guard.choices != self.choices {
            self.choices = &[];
        }
        let is_missing = |outcome: &Outcome| !matches!(outcome, Outcome::True | Outcome::Chose(_));
        for &place in places {
            let outcomes = guard.conjuncts.iter().filter_map(|conjunct| conjunct.outcomes.get(place));
            let missing = outcomes.filter(|outcome| is_missing(outcome)).count();
            self.distance = self.distance.min((missing, differing(conjunct, place)));
        }
    }

    /// The number of different values of the subexpression that has the most.
    fn spread(&self) -> usize {
        self.values.iter().filter_map(|(_, values)| Some(unique(values.as_deref()?).len())).max().unwrap_or(0)
    }

    /// The values of an expression in all the states, in the order of the states.
    fn values_of(&self, text: &str) -> Option<&[&'a str]> {
        self.values.iter().find(|(known, _)| *known == text)?.1.as_deref()
    }

    /// The distinct values of an expression; a literal is its own value.
    pub(super) fn distinct(&self, text: &str) -> Option<Vec<&str>> {
        match self.values_of(text) {
            Some(values) => Some(unique(values)),
            None if is_literal(text) => Some(vec![]),
            None => None,
        }
    }

    /// Its subexpressions with their values, but for itself and literals.
    pub(super) fn parts(&self, room: Room<'_>) -> String {
        let told = self.values.iter().filter(|(text, _)| *text != self.text);
        let told = told.filter_map(|(text, values)| {
            let values = unique(values.as_deref()?);
            let (code, value) = (room.code(text), room.either(&values));
            (values != [*text] && code != value && !is_boolean(&values)).then(|| format!("`{code}` is {value}"))
        });
        told.take(2).collect::<Vec<_>>().join(", ")
    }

    /// The reason in its words: the comparison that fails, or the conjunct and its parts.
    pub(super) fn fact(&self, stuck: &Stuck, room: Room<'_>) -> String {
        self.compared(stuck, room).unwrap_or_else(|| {
            let parts = self.parts(room);
            let parts = if parts.is_empty() { parts } else { format!(": {parts}") };
            format!("`{}` is FALSE{parts}", room.code(self.text))
        })
    }

    /// True if the fact has values that a reader can compare: not an expression that is FALSE, or a computed set that is
    /// empty.
    pub(super) fn has_values(&self, stuck: &Stuck) -> bool {
        let is_computed = |(_, sign, right): (&str, &str, &str)| {
            let is_empty = |sets: &[&str]| sets.iter().all(|set| is_empty(set));
            sign == "\\in" && !is_place(right) && self.values_of(right).is_some_and(is_empty)
        };
        !relation(self.text).is_some_and(is_computed) && self.compared(stuck, Room::wide()).is_some()
    }

    /// The same, if the conjunct compares two values.
    fn compared(&self, stuck: &Stuck, room: Room<'_>) -> Option<String> {
        let (left, sign, right) = relation(self.text)?;
        match sign {
            "=" => {
                let [spec, given] = sides(stuck, left, right);
                // A name without a value is that of a model value.
                let wanted = self.distinct(given).or_else(|| is_path(given).then(Vec::new))?;
                let has = self.distinct(spec)?;
                if let ([has], [wanted]) = (&has[..], &wanted[..]) {
                    if let Some(lacking) = lacking(has, wanted, room) {
                        return Some(format!("`{}` lacks {lacking}", room.code(spec)));
                    }
                    let is_variable = |text: &str| is_place(text) && is_variable(stuck, root(text));
                    if is_variable(spec) && is_variable(given) {
                        let [[first, one], [second, other]] = [[given, *wanted], [spec, *has]];
                        let [first, second] = [first, second].map(|text| room.code(text));
                        let [one, other] = [one, other].map(|value| room.value(value));
                        return Some(format!("`{first}` is {one} and `{second}` is {other}"));
                    }
                }
                if let [has] = has[..]
                    && is_empty(given)
                    && let Some(common) = common(spec, has, room)
                {
                    return Some(common);
                }
                let given = match &wanted[..] {
                    [] if is_empty(given) => "empty".to_owned(),
                    [] => room.value(given),
                    wanted => room.either(wanted),
                };
                match has[..] {
                    [] => Some(format!("`{}` is {given}, not {}", room.code(left), room.value(spec))),
                    _ => Some(format!("`{}` is {}, not {given}", room.code(spec), room.either(&has))),
                }
            }
            "#" | "/=" if is_empty(right) => Some(format!("`{}` is empty", room.code(left))),
            "#" | "/=" => match self.distinct(left)?[..] {
                [only] => Some(format!("`{}` is {}", room.code(left), room.value(only))),
                _ => None,
            },
            "\\in" => {
                let has = unique(self.values_of(right)?);
                if has.iter().all(|set| is_empty(set)) {
                    return Some(format!("`{}` is empty", room.code(right)));
                }
                match self.distinct(left)?[..] {
                    [element] if room.has(element) || left == element || !is_path(left) => {
                        Some(self.not_in(element, &has, right, room))
                    }
                    _ if is_path(left) => Some(format!("`{}` is not in `{}`", room.code(left), room.code(right))),
                    _ => Some(format!("no such element is in `{}`", room.code(right))),
                }
            }
            _ => None,
        }
    }

    /// That an element is in none of these sets, with the nearest element that is.
    fn not_in(&self, element: &str, sets: &[&str], text: &str, room: Room<'_>) -> String {
        let nearest: Vec<Option<&str>> = sets.iter().map(|set| nearest(set, element)).collect();
        match (&unique(&nearest)[..], sets) {
            ([Some(only)], _) => match other_fields(only, element) {
                Some(fields) => format!("the nearest in `{}` has {}", room.code(text), room.value(&fields)),
                None => {
                    let (element, only) = (room.value(element), room.value(only));
                    format!("{element} is not in `{}`; the nearest there is {only}", room.code(text))
                }
            },
            (_, [only]) => {
                format!("{} is not in `{}`, which is {}", room.value(element), room.code(text), room.value(only))
            }
            _ => format!("{} is not in `{}`", room.value(element), room.code(text)),
        }
    }
}

/// The number of places in which the values differ that a conjunct compares in a state.
fn differing(conjunct: &Conjunct, place: usize) -> usize {
    let value = |text: &str| {
        let part = conjunct.values.iter().find(|part| part.text == text);
        part.and_then(|part| part.values.get(place)?.as_deref())
    };
    match relation(&conjunct.text) {
        Some((left, "=", right)) => match (value(left), value(right)) {
            (Some(left), Some(right)) => differing_parts(left, right),
            _ => 1,
        },
        Some((left, "\\in", right)) => {
            let (Some(element), Some(set)) = (value(left), value(right).and_then(elements)) else { return 1 };
            set.iter().map(|known| differing_parts(known, element)).min().unwrap_or(usize::MAX)
        }
        _ => 1,
    }
}

/// The elements that two sets have in common but should not.
fn common(text: &str, value: &str, room: Room<'_>) -> Option<String> {
    let [first, second] = split(text, "\\cap")[..] else { return None };
    let found = elements(value).filter(|found| !found.is_empty())?;
    let verb = if found.len() == 1 { "is" } else { "are" };
    let [first, second] = [first, second].map(|set| room.code(set.trim()));
    Some(format!("{} {verb} in both `{first}` and `{second}`", room.all(&found)))
}

/// The elements that a set lacks, if it has no others and is too long to be shown.
fn lacking(set: &str, wanted: &str, room: Room<'_>) -> Option<String> {
    let is_set = |text: &str| text.starts_with('{');
    if !is_set(set) || !is_set(wanted) || (room.has(set) && room.has(wanted)) {
        return None;
    }
    let (has, wanted) = (elements(set)?, elements(wanted)?);
    let lacking: Vec<&str> = wanted.iter().filter(|element| !has.contains(element)).copied().collect();
    (!lacking.is_empty() && has.iter().all(|element| wanted.contains(element))).then(|| room.all(&lacking))
}

fn differing_parts(left: &str, right: &str) -> usize {
    match (parts(left), parts(right)) {
        (Some(left), Some(right)) => {
            let common = left.iter().zip(&right).filter(|(left, right)| left != right).count();
            common + left.len().abs_diff(right.len())
        }
        _ => usize::from(left != right),
    }
}

/// The parts of a record, a sequence or a set.
fn parts(value: &str) -> Option<Vec<&str>> {
    let record = || Some(split(value.strip_prefix('[')?.strip_suffix(']')?, ",").into_iter().map(str::trim).collect());
    elements(value).or_else(record)
}

/// The fields of a record that another one with the same fields has with other values: `says |-> "commit"`.
pub(super) fn other_fields(record: &str, other: &str) -> Option<String> {
    if !record.starts_with('[') {
        return None;
    }
    let (fields, others) = (parts(record)?, parts(other)?);
    let name = |field: &&str| field.split(" |-> ").next().map(str::to_owned);
    let is_same = fields.iter().map(name).eq(others.iter().map(name));
    let differing: Vec<&str> =
        fields.iter().zip(&others).filter(|(field, other)| field != other).map(|(field, _)| *field).collect();
    (is_same && !differing.is_empty()).then(|| differing.join(", ").replace(" |-> ", " = "))
}

/// The side of an equation that the specification computes, and the other one.
pub(super) fn sides<'t>(stuck: &Stuck, left: &'t str, right: &'t str) -> [&'t str; 2] {
    // A name that is not a variable, or a path from one: a field of a logged event.
    let is_given = |text: &str| is_path(text) && !is_variable(stuck, root(text));
    match (is_literal(left), is_literal(right)) {
        (false, true) if is_given(left) => [right, left],
        (true, false) if is_given(right) => [left, right],
        (false, true) => [left, right],
        (true, false) => [right, left],
        _ if is_given(right) => [left, right],
        _ => [right, left],
    }
}

pub(super) fn is_variable(stuck: &Stuck, name: &str) -> bool {
    stuck.states.first().is_some_and(|state| value_of(&state.variables, name).is_some())
}

pub(super) fn value_of<'a>(variables: &'a [Field], name: &str) -> Option<&'a str> {
    Some(variables.iter().find(|field| field.name == name)?.value.as_str())
}

pub(super) fn unique<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for value in values {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

fn is_boolean(values: &[&str]) -> bool {
    values.iter().all(|value| matches!(*value, "TRUE" | "FALSE"))
}

/// An expression on one line, without brackets around all of it.
pub(super) fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    unwrapped(&text).to_owned()
}
