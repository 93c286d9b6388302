//! Sentences in the words of queues, maps and memory: `T2 took 5 out of queue while 4 was still in front of it`.
//!
//! A sentence says that an operation came after another one only if that one had returned before it began.

use super::blame::{Blamed, is_variable, other_fields, sides, unique, value_of};
use super::room::Room;
use super::syntax::{elements, is_empty, is_literal, is_name, is_place, relation, root, tokens};
use crate::data::{Field, Legal, Operation, Order, Report, Stuck};
use crate::wording::brief;

/// The operation that no order allows, and everything known about it.
#[derive(Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) report: &'a Report,
    pub(super) stuck: &'a Stuck,
    pub(super) op: &'a Operation,
}

/// A sentence about an operation.
pub(super) struct Told {
    pub(super) sentence: String,
    /// The end that a later operation explains better, such as `, which did not have it`.
    pub(super) end: &'static str,
    /// True if the operation that made this one illegal may follow.
    pub(super) is_turned: bool,
    /// The value that the specification has instead, if it is one.
    pub(super) value: Option<String>,
}

impl Told {
    fn of(sentence: String, end: &'static str, is_turned: bool) -> Option<Told> {
        Some(Told { sentence, end, is_turned, value: None })
    }
}

impl<'a> Scene<'a> {
    /// The subject of a sentence: the process, or the line of its log.
    pub(super) fn actor(&self) -> String {
        let process = actor(self.op);
        self.op.line().map(|line| format!("{process} line {line}:")).unwrap_or(process)
    }

    /// The operation as an object: ``T2's `Dequeue → 4` ``.
    pub(super) fn object(&self, room: Room<'_>) -> String {
        owned(self.op, &self.op.short(room.width()))
    }

    /// The sentence without a template.
    pub(super) fn refused(&self, fact: &str, room: Room<'_>) -> String {
        match self.op.line() {
            Some(_) => format!("{} `{}` is not legal: {fact}", self.actor(), self.op.short(room.width())),
            None => format!("no order allows {}: {fact}", self.object(room)),
        }
    }

    /// The sentence about a false conjunct without a template.
    pub(super) fn blamed(&self, blamed: &Blamed<'_>, room: Room<'_>) -> String {
        match self.op.line() {
            Some(_) if self.op.args.is_empty() && blamed.logged.is_none() => {
                let op = Operation { args: blamed.choices.to_vec(), ..self.op.clone() };
                self.logged(blamed, &op.short(room.width()), room)
            }
            Some(_) => self.logged(blamed, &self.op.short(room.width()), room),
            None => format!("no order allows {}: {}", self.object(room), blamed.fact(self.stuck, room)),
        }
    }

    /// The same without arguments and results.
    pub(super) fn blamed_briefly(&self, blamed: &Blamed<'_>, room: Room<'_>) -> String {
        let action = brief(&self.op.action, 40);
        match self.op.line() {
            Some(_) => self.logged(blamed, &action, room),
            None => format!("no order allows {}: {}", owned(self.op, &action), blamed.fact(self.stuck, room)),
        }
    }

    /// The sentence about an event of a log, by this name: the rule that it breaks, or the value that the log has instead
    /// of that of the specification.
    fn logged(&self, blamed: &Blamed<'_>, name: &str, room: Room<'_>) -> String {
        let who = self.actor();
        let compared = blamed.logged.and_then(|when| {
            let (left, _, right) = relation(blamed.text)?;
            let (has, logged) = (blamed.distinct(left)?, blamed.distinct(right)?);
            let logged = if logged.is_empty() { room.value(right) } else { room.either(&logged) };
            let (left, has) = (room.code(left), room.either(&has));
            Some(format!("{who} `{left}` is {has} {when} `{name}`, but the log says {logged}"))
        });
        compared.unwrap_or_else(|| format!("{who} `{name}` although {}", blamed.fact(self.stuck, room)))
    }

    /// The sentence about an operation that is legal once another one has taken effect.
    pub(super) fn too_early(&self, room: Room<'_>) -> Option<String> {
        let Legal::Later { after } = self.stuck.legal else { return None };
        let after = self.report.op(after);
        let after = match after.process == self.op.process {
            true => format!("its own `{}`", after.short(room.width())),
            false => owned(after, &after.short(room.width())),
        };
        let act = match &self.op.results[..] {
            [result] if takes(&self.op.action) => format!("{} took {}", self.actor(), room.value(&result.value)),
            _ => format!("{} came", self.object(room)),
        };
        Some(format!("{act} too early: it is legal after {after}"))
    }

    /// The last operation before which this one was legal: it had returned before this one began.
    pub(super) fn after(&self, room: Room<'_>) -> Option<String> {
        let Legal::Earlier { until } = self.stuck.legal else { return None };
        let until = self.report.op(until);
        let name = if until.args.is_empty() { until.short(room.width()) } else { until.call(room.width()) };
        self.follows(until).then(|| match until.process == self.op.process {
            true => format!(" after its own `{name}`"),
            false => format!(" after {}", owned(until, &name)),
        })
    }

    /// True if another operation had returned before this one began, so that it comes first in every order.
    fn follows(&self, other: &Operation) -> bool {
        self.report.order == Order::RealTime && other.end.is_some_and(|end| end < self.op.start)
    }

    /// Two operations that took the same value, which went in once: in no state that is possible before the second it is
    /// still there.
    pub(super) fn taken_twice(&self, room: Room<'_>) -> Option<String> {
        let window = self.stuck.window.as_ref()?;
        let [result] = &self.op.results[..] else { return None };
        let value = result.value.as_str();
        let has_it = |text: &str| tokens(text).any(|token| token == value);
        let mut states = window.start.iter().chain(&self.stuck.states).flat_map(|state| &state.variables);
        if !takes(&self.op.action) || !tokens(value).eq([value]) || states.any(|field| has_it(&field.value)) {
            return None;
        }
        let ops = || window.operations.iter().map(|&op| self.report.op(op)).filter(|op| op.name != self.op.name);
        let mut put = ops().filter(|op| op.args.iter().any(|field| has_it(&field.value)));
        let mut took = ops().filter(|op| op.action == self.op.action && op.results == self.op.results);
        let ((Some(_), None), (Some(other), None)) = ((put.next(), put.next()), (took.next(), took.next())) else {
            return None;
        };
        let (first, second, value) = (actor(other), actor(self.op), room.value(value));
        let [low, high] = if first < second { [&first, &second] } else { [&second, &first] };
        Some(match (other.process == self.op.process, self.follows(other)) {
            (true, _) => format!("{second} took {value} twice"),
            (false, true) => format!("{second} took {value}, which {first} had already taken"),
            (false, false) => format!("{low} and {high} both took {value}"),
        })
    }

    /// The sentence about a conjunct that has a template.
    pub(super) fn told(&self, blamed: &Blamed<'_>, room: Room<'_>) -> Option<Told> {
        let (stuck, op) = (self.stuck, self.op);
        let who = self.actor();
        let (left, sign, right) = relation(blamed.text)?;
        if matches!(sign, "#" | "/=") && is_empty(right) && takes(&op.action) && is_variable(stuck, root(left)) {
            let [result] = &op.results[..] else { return None };
            let (seen, place) = (room.value(&result.value), room.code(left));
            return Told::of(format!("{who} took {seen} out of `{place}`"), ", which was empty", false);
        }
        if matches!(sign, "\\in" | "\\notin") {
            return self.looked_up(blamed, left, sign == "\\in", right, room);
        }
        let [spec, given] = if sign == "=" { sides(stuck, left, right) } else { return None };
        if is_empty(given) && is_variable(stuck, root(spec)) && is_place(spec) && observes_emptiness(op) {
            let held = room.either(&blamed.distinct(spec)?);
            return Told::of(format!("{who} found `{}` empty while it was {held}", room.code(spec)), "", true);
        }
        let [seen] = blamed.distinct(given)?[..] else { return None };
        let is_result = |field: &Field| field.name == given || (field.value == seen && !is_named(op));
        if !op.results.iter().any(is_result) {
            return None;
        }
        let shown = room.value(seen);
        let expected = if is_literal(spec) { vec![spec] } else { blamed.distinct(spec)? };
        let value =
            if let ([only], false) = (&expected[..], is_literal(spec)) { Some((*only).to_owned()) } else { None };
        let sequence = spec.strip_prefix("Head(").and_then(|rest| rest.strip_suffix(')'));
        let told = match sequence.filter(|sequence| is_name(sequence)) {
            Some(sequence) => self.headed(blamed, sequence, seen, &expected, room),
            None if is_variable(stuck, root(spec)) && is_place(spec) => {
                let (shown, held) = contrasted(seen, &expected, room).unwrap_or((shown, room.either(&expected)));
                Told::of(format!("{who} saw {shown} in `{}`, which held {held}", room.code(spec)), "", false)
            }
            None => {
                let (call, expected) = (owned(op, &op.call(room.width())), room.either(&expected));
                Told::of(format!("{call} returned {shown} where {expected} would have been right"), "", true)
            }
        };
        Some(Told { value, ..told? })
    }

    /// A sentence about the value that an operation took from the head of a sequence.
    fn headed(
        &self,
        blamed: &Blamed<'_>,
        sequence: &str,
        seen: &str,
        expected: &[&str],
        room: Room<'_>,
    ) -> Option<Told> {
        let states = blamed.states.iter().filter_map(|&state| self.stuck.states.get(state));
        let held: Option<Vec<Vec<&str>>> =
            states.map(|state| elements(value_of(&state.variables, sequence)?)).collect();
        let all_have = |has: bool| held.as_ref().is_some_and(|all| all.iter().all(|held| held.contains(&seen) == has));
        let (who, shown, first) = (self.actor(), room.value(seen), room.either(expected));
        match takes(&self.op.action) {
            true if all_have(true) => {
                let sentence = format!("{who} took {shown} out of `{sequence}` while {first} was still in front of it");
                Told::of(sentence, "", false)
            }
            true if all_have(false) => {
                Told::of(format!("{who} took {shown} out of `{sequence}`"), ", which did not have it", true)
            }
            _ => Told::of(format!("{who} saw {shown} at the head of `{sequence}`, where {first} was"), "", false),
        }
    }

    /// An operation that found an argument where it was not, or missed it where it was: with the other result, it is
    /// legal.
    fn looked_up(&self, blamed: &Blamed<'_>, element: &str, is_in: bool, set: &str, room: Room<'_>) -> Option<Told> {
        let place = set.strip_prefix("DOMAIN ").unwrap_or(set).trim();
        let [result] = &self.op.results[..] else { return None };
        let [value] = blamed.distinct(element)?[..] else { return None };
        let has = |truth: &str| result.value.eq_ignore_ascii_case(truth);
        let expects = |truth: &str| {
            let is_truth = |results: &Vec<Field>| matches!(&results[..], [only] if only.value == truth);
            !self.stuck.expected.is_empty() && self.stuck.expected.iter().all(is_truth)
        };
        let is_argument = self.op.args.iter().any(|field| field.value == value);
        if !is_argument || !is_place(place) || !is_variable(self.stuck, root(place)) {
            return None;
        }
        let (who, value, place) = (self.actor(), room.value(value), room.code(place));
        match is_in {
            true if has("TRUE") && expects("FALSE") => {
                Told::of(format!("{who} found {value} in `{place}`"), ", which did not have it", true)
            }
            false if has("FALSE") && expects("TRUE") => {
                Told::of(format!("{who} missed {value} in `{place}`"), ", which had it", true)
            }
            _ => None,
        }
    }

    /// The origin of a value: the only operation of the smallest part with it as an argument, if no state at the start
    /// of that part has it.
    pub(super) fn origin(&self, value: &str) -> Option<String> {
        let window = self.stuck.window.as_ref()?;
        let has_it = |text: &str| tokens(text).any(|token| token == value);
        if window.start.iter().flat_map(|state| &state.variables).any(|field| has_it(&field.value)) {
            return None;
        }
        let ops = window.operations.iter().map(|&op| self.report.op(op));
        let mut from = ops.filter(|op| op.name != self.op.name && op.args.iter().any(|field| has_it(&field.value)));
        let op = from.next().filter(|_| from.next().is_none())?;
        let when = match self.follows(op) {
            true => format!(", which returned before {} began", self.op.name),
            false => String::new(),
        };
        Some(format!("{} came from {}{when}.", brief(value, 40), called(op)))
    }
}

/// The fields in which a record that is too long differs from others, in all of them the same: its own, and theirs.
fn contrasted(seen: &str, expected: &[&str], room: Room<'_>) -> Option<(String, String)> {
    if room.has(seen) {
        return None;
    }
    let own: Option<Vec<String>> = expected.iter().map(|other| other_fields(seen, other)).collect();
    let theirs: Option<Vec<String>> = expected.iter().map(|other| other_fields(other, seen)).collect();
    let ([own], theirs) = (&unique(&own?)[..], theirs?) else { return None };
    Some((room.value(own), room.either(&theirs.iter().map(String::as_str).collect::<Vec<_>>())))
}

/// The process of an operation.
fn actor(op: &Operation) -> String {
    let is_number = op.process.chars().all(|c| c.is_ascii_digit());
    let process = brief(&op.process, 24);
    if is_number { format!("process {process}") } else { process }
}

/// A name of an operation after its owner: ``T2's `Dequeue → 4` ``.
pub(super) fn owned(op: &Operation, name: &str) -> String {
    format!("{}'s `{name}`", actor(op))
}

/// An operation by name and call: ``T2:3 `Dequeue() = 5` ``.
pub(super) fn called(op: &Operation) -> String {
    format!("{} `{}`", op.name, brief(&op.text, 60))
}

/// True if its results have names.
fn is_named(op: &Operation) -> bool {
    op.results.iter().any(|field| !field.name.is_empty())
}

/// True if an action of this name removes what it returns.
fn takes(action: &str) -> bool {
    let name = action.to_ascii_lowercase();
    ["deq", "pop", "take", "remove", "recv", "receive", "poll", "get"].iter().any(|verb| name.starts_with(verb))
}

/// True if an operation reports that a place is empty: by its name, or because it took nothing.
fn observes_emptiness(op: &Operation) -> bool {
    let is_nothing = |field: &Field| {
        let value = field.value.to_ascii_lowercase();
        is_empty(&field.value) || matches!(value.trim_matches('"'), "nil" | "none" | "null" | "empty" | "false")
    };
    op.action.to_ascii_lowercase().contains("empty") || (takes(&op.action) && op.results.iter().all(is_nothing))
}
