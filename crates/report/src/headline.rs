//! The sentence that a reader meets first: what the blocked operation did, and what the specification has instead.
//!
//! It is made from the conjunct that is false, its values in all possible states, and the results of the operation. A
//! sentence says only what holds in every possible state; where no template fits, it names the conjunct. What it says
//! about the origin of a value comes from the smallest part that fails by itself, in which all operations are known.

use crate::data::{
    Evidence, Field, Operation, Outcome, Reason, Rejection, Report, Span, StateGroup, Stuck, Verdict, Why,
};
use crate::finding::VALUE;
use crate::wording::{list, short};

/// The maximum width of a value that is shown for its structure, and for expressions.
const WIDE: usize = 90;

/// The maximum number of values in a list of alternatives.
const ALTERNATIVES: usize = 3;

impl Report {
    /// Gives a rejection its sentence, and groups its states, as far as the evidence allows.
    #[must_use]
    pub fn with_headline(mut self) -> Report {
        let found = self.rejection().and_then(|rejection| Headline::new(&self, rejection));
        let groups = self.rejection().map(groups).unwrap_or_default();
        if let Verdict::Rejected(rejection) = &mut self.verdict {
            if let Some(Headline { sentence, details }) = found {
                rejection.sentence = sentence;
                if !details.is_empty() {
                    rejection.details = details;
                }
            } else if rejection.details == rejection.sentence {
                rejection.details.clear();
            }
            if let Evidence::Stuck(stuck) = &mut rejection.evidence {
                stuck.groups = groups;
            }
        }
        self
    }
}

struct Headline {
    sentence: String,
    details: String,
}

impl Headline {
    fn new(report: &Report, rejection: &Rejection) -> Option<Headline> {
        match &rejection.evidence {
            Evidence::Stuck(stuck) => {
                let [only] = rejection.blocked[..] else { return None };
                Headline::of_stuck(report, rejection, stuck, report.op(only))
            }
            Evidence::Invariant(broken) => {
                let (first, others) = broken.broke.split_first()?;
                let parts = broken.conjuncts.first().map(|conjunct| Blamed {
                    text: &conjunct.text,
                    states: (0..broken.states.len()).collect(),
                    values: conjunct.values.iter().map(|part| (part.text.as_str(), all(&part.values))).collect(),
                });
                let values = parts.map(|parts| parts.parts()).filter(|parts| !parts.is_empty());
                let values = values.map(|values| format!(": {values}")).unwrap_or_default();
                let sentence = format!("{} breaks `{}`{values}", called(report.op(*first)), broken.invariant);
                let others: Vec<String> = others.iter().map(|&op| called(report.op(op))).collect();
                let details = match others[..] {
                    [] => "No order that the actions allow avoids it.".to_owned(),
                    [_] => format!("In other orders {} does; none avoids it.", others[0]),
                    _ => format!("In other orders {} do; none avoids it.", list(&others, "or", ALTERNATIVES)),
                };
                Some(Headline { sentence, details })
            }
            Evidence::Contradiction { .. } | Evidence::Views(_) => None,
        }
    }

    fn of_stuck(report: &Report, rejection: &Rejection, stuck: &Stuck, op: &Operation) -> Option<Headline> {
        let words: Vec<String> = against(stuck, rejection)
            .filter_map(|reason| if let Why::Words { text } = &reason.why { Some(text.clone()) } else { None })
            .collect();
        if !words.is_empty() {
            let others = if words.len() > ALTERNATIVES { "; or others" } else { "" };
            let words = words[..words.len().min(ALTERNATIVES)].join("; or ");
            let sentence = format!("{} fits nowhere: {words}{others}", called(op));
            return Some(Headline { sentence, details: String::new() });
        }
        let mut blamed = Blamed::all(stuck, rejection).into_iter();
        let Some(first) = blamed.next() else {
            let excluded = against(stuck, rejection).filter_map(|reason| match &reason.why {
                Why::Excluded { name, .. } => Some(format!("`{name}`")),
                _ => None,
            });
            let excluded: Vec<String> = unique(&excluded.collect::<Vec<_>>());
            let sentence = match excluded.len() {
                0 => return None,
                1 => format!("{} fits nowhere: {} excludes where it leads", called(op), excluded[0]),
                _ => {
                    let excluded = list(&excluded, "and", ALTERNATIVES);
                    format!("{} fits nowhere: {excluded} exclude where it leads", called(op))
                }
            };
            return Some(Headline { sentence, details: String::new() });
        };
        let all = stuck.states.len();
        if first.states.len() < all {
            let (some, rest) = (first.states.len(), all - first.states.len());
            let other = match blamed.next().filter(|other| other.states.len() == rest) {
                Some(other) => format!("`{}`", one_line(other.text)),
                None => "other conditions".to_owned(),
            };
            let conjunct = format!("`{}` is FALSE in {some} of {all} possible states", one_line(first.text));
            let rest = if rest == 1 { "one".to_owned() } else { rest.to_string() };
            let sentence = format!("{} fits nowhere: {conjunct}, and {other} in the other {rest}", called(op));
            return Some(Headline { sentence, details: String::new() });
        }
        let blamed = first;
        let states = match all {
            0 | 1 => "in the only possible state".to_owned(),
            2 => "in both possible states".to_owned(),
            many => format!("in all {many} possible states"),
        };
        let fact = blamed.fact(stuck);
        let nowhere = format!("{} {} fits nowhere: {states} {fact}", called(op), op.interval());
        let Some(Told { sentence, value }) = blamed.told(stuck, op) else {
            return Some(Headline { sentence: nowhere, details: String::new() });
        };
        let origin = value.and_then(|value| origin(report, stuck, op, &value));
        let details = [Some(format!("{nowhere}.")), origin].into_iter().flatten().collect::<Vec<_>>().join(" ");
        Some(Headline { sentence, details })
    }
}

/// The reasons against the operation that a rejection is about.
fn against<'a>(stuck: &'a Stuck, rejection: &Rejection) -> impl Iterator<Item = &'a Reason> + use<'a> {
    let subject = rejection.subject();
    stuck.reasons.iter().filter(move |reason| Some(reason.op) == subject)
}

/// A sentence about what happened, and the value that should have been there, if it is one.
struct Told {
    sentence: String,
    value: Option<String>,
}

/// The false conjunct.
struct Blamed<'a> {
    text: &'a str,
    /// The states in which it is false.
    states: Vec<usize>,
    /// Its subexpressions and their values there; `None` if one of the states has no value for it.
    values: Vec<(&'a str, Option<Vec<&'a str>>)>,
}

/// The values, if there is one everywhere.
fn all(values: &[Option<String>]) -> Option<Vec<&str>> {
    values.iter().map(Option::as_deref).collect()
}

impl<'a> Blamed<'a> {
    /// The false conjuncts, those that are false in the most states first.
    fn all(stuck: &'a Stuck, rejection: &Rejection) -> Vec<Blamed<'a>> {
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
                    found
                        .push((conjunct.span, Blamed { text: &conjunct.text, states: Vec::new(), values: Vec::new() }));
                    found.len() - 1
                });
                let blamed = &mut found[index].1;
                let is_first = blamed.states.is_empty();
                blamed.states.extend(places.iter().filter_map(|&place| reason.states.get(place)));
                for part in &conjunct.values {
                    let values: Option<Vec<&str>> =
                        places.iter().map(|&place| part.values.get(place)?.as_deref()).collect();
                    match blamed.values.iter_mut().find(|(text, _)| *text == part.text) {
                        Some((_, Some(known))) if let Some(values) = values => known.extend(values),
                        Some((_, known)) => *known = None,
                        None => blamed.values.push((&part.text, values.filter(|_| is_first))),
                    }
                }
            }
        }
        let mut all: Vec<Blamed<'a>> = found.into_iter().map(|(_, blamed)| blamed).collect();
        all.sort_by_key(|blamed| std::cmp::Reverse(blamed.states.len()));
        all
    }

    /// The values of an expression in all the states, in the order of the states.
    fn values_of(&self, text: &str) -> Option<&[&'a str]> {
        self.values.iter().find(|(known, _)| *known == text)?.1.as_deref()
    }

    /// The distinct values of an expression; a literal is its own value.
    fn distinct(&self, text: &str) -> Option<Vec<&str>> {
        match self.values_of(text) {
            Some(values) => Some(unique(values)),
            None if is_literal(text) => Some(vec![]),
            None => None,
        }
    }

    /// Its subexpressions with their values, but for itself and literals.
    fn parts(&self) -> String {
        let told = self.values.iter().filter(|(text, _)| *text != self.text);
        let told = told.filter_map(|(text, values)| {
            let values = unique(values.as_deref()?);
            (values != [*text] && !is_boolean(&values)).then(|| format!("`{}` is {}", one_line(text), either(&values)))
        });
        told.take(2).collect::<Vec<_>>().join(", ")
    }

    /// What is wrong, after "in all possible states".
    fn fact(&self, stuck: &Stuck) -> String {
        self.compared(stuck).unwrap_or_else(|| {
            let parts = self.parts();
            let parts = if parts.is_empty() { parts } else { format!(": {parts}") };
            format!("`{}` is FALSE{parts}", one_line(self.text))
        })
    }

    /// The same, if the conjunct compares two values.
    fn compared(&self, stuck: &Stuck) -> Option<String> {
        let (left, sign, right) = relation(self.text)?;
        match sign {
            "=" => {
                let [spec, given] = sides(stuck, left, right);
                let (has, wanted) = (self.distinct(spec)?, self.distinct(given)?);
                let given = if wanted.is_empty() { short(given, VALUE) } else { either(&wanted) };
                match has[..] {
                    [] => Some(format!("`{}` is {given}, not {}", one_line(left), short(spec, VALUE))),
                    _ => Some(format!("`{}` is {}, not {given}", one_line(spec), either(&has))),
                }
            }
            "#" if is_empty(right) => Some(format!("`{}` is empty", one_line(left))),
            "\\in" => {
                let sets = self.values_of(right)?;
                let [element] = self.distinct(left)?[..] else { return None };
                let has = unique(sets);
                let nearest: Vec<Option<&str>> = has.iter().map(|set| nearest(set, element)).collect();
                let nearest = unique(&nearest);
                let held = match (&nearest[..], &has[..]) {
                    ([Some(only)], _) => format!("; the nearest there is {}", short(only, WIDE)),
                    (_, [only]) => format!(", which is {}", short(only, WIDE)),
                    _ => String::new(),
                };
                Some(format!("{} is not in `{}`{held}", short(element, WIDE), one_line(right)))
            }
            _ => None,
        }
    }

    /// What happened, in the words of queues and memory.
    fn told(&self, stuck: &Stuck, op: &Operation) -> Option<Told> {
        let who = &op.process;
        let (left, sign, right) = relation(self.text)?;
        if sign == "#" && is_empty(right) && takes(&op.action) && is_variable(stuck, root(left)) {
            let [result] = &op.results[..] else { return None };
            let (seen, place) = (short(&result.value, VALUE), concrete(left, op));
            return Some(Told {
                sentence: format!("{who} took {seen} out of `{place}`, which was empty"),
                value: None,
            });
        }
        let [spec, given] = if sign == "=" { sides(stuck, left, right) } else { return None };
        if is_empty(given) && is_variable(stuck, root(spec)) && is_place(spec) {
            let held = either(&self.distinct(spec)?);
            return Some(Told {
                sentence: format!("{who} found `{}` empty while it was {held}", concrete(spec, op)),
                value: None,
            });
        }
        let [seen] = self.distinct(given)?[..] else { return None };
        let is_result = |field: &Field| field.value == seen && (field.name == given || !is_named(op));
        if !op.results.iter().any(is_result) {
            return None;
        }
        let shown = short(seen, VALUE);
        if is_literal(spec) {
            let sentence = format!("{} returned {shown} where {spec} would have been right", called(op));
            return Some(Told { sentence, value: None });
        }
        let expected = self.distinct(spec)?;
        let value = if let [only] = expected[..] { Some(only.to_owned()) } else { None };
        let sequence = spec.strip_prefix("Head(").and_then(|rest| rest.strip_suffix(')'));
        if let Some(sequence) = sequence.filter(|sequence| is_name(sequence)) {
            let held = stuck.states.iter().map(|state| elements(value_of(&state.variables, sequence)?));
            let held: Option<Vec<Vec<&str>>> = held.collect();
            let all_have = |has: bool| held.as_ref().is_some_and(|all| all.iter().all(|h| h.contains(&seen) == has));
            let sentence = match takes(&op.action) {
                true if all_have(true) => {
                    let first = either(&expected);
                    format!("{who} took {shown} out of `{sequence}` while {first} was still in front of it")
                }
                true if all_have(false) => format!("{who} took {shown} out of `{sequence}`, which does not have it"),
                _ => format!("{who} saw {shown} at the head of `{sequence}`, where {} was", either(&expected)),
            };
            return Some(Told { sentence, value });
        }
        let sentence = format!("{who} saw {shown} in `{}`, which held {}", concrete(spec, op), either(&expected));
        is_variable(stuck, root(spec)).then_some(Told { sentence, value })
    }
}

/// The side of an equation that the specification computes, and the other one.
fn sides<'t>(stuck: &Stuck, left: &'t str, right: &'t str) -> [&'t str; 2] {
    // A name that is not a variable, or a path from one: a field of a logged event.
    let is_given = |text: &str| text.split('.').all(is_name) && !is_variable(stuck, root(text));
    match (is_literal(left), is_literal(right)) {
        (false, true) if is_given(left) => [right, left],
        (true, false) if is_given(right) => [left, right],
        (false, true) => [left, right],
        (true, false) => [right, left],
        _ if is_given(right) => [left, right],
        _ => [right, left],
    }
}

/// The name that an expression begins with: `open` of `open[tx].sees`.
fn root(text: &str) -> &str {
    text.split(['[', '.']).next().unwrap_or_default()
}

/// An expression with the arguments of an operation put in: `map[3]` for `map[key]`.
fn concrete(text: &str, op: &Operation) -> String {
    let (mut out, mut word) = (String::new(), String::new());
    let named = |word: &str| op.args.iter().find(|field| !field.name.is_empty() && field.name == word);
    for c in text.chars().chain([' ']) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let value = named(&word).filter(|_| !out.ends_with('.')).map(|field| short(&field.value, VALUE));
        out.push_str(value.as_deref().unwrap_or(&word));
        word.clear();
        out.push(c);
    }
    one_line(out.trim_end())
}

/// The element of a set, as printed, that has the most words in common with a value that is not simple.
fn nearest<'s>(set: &'s str, value: &str) -> Option<&'s str> {
    let words: Vec<&str> = tokens(value).collect();
    let common = |element: &&str| tokens(element).filter(|token| words.contains(token)).count();
    let best = elements(set)?.into_iter().max_by_key(common)?;
    (words.len() > 2 && common(&best) * 2 > words.len()).then_some(best)
}

/// True if an expression is a variable or a part of one, such as `queues[p].items`: an operation can find such a place
/// empty. Of other expressions it knows nothing.
fn is_place(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().all(|c| {
        let is_inside = depth > 0;
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_inside || c.is_alphanumeric() || matches!(c, '_' | '.' | '[')
    })
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

/// Where a value came from: the only operation of the smallest part with it as an argument, if no state at the start of
/// that part has it.
fn origin(report: &Report, stuck: &Stuck, blocked: &Operation, value: &str) -> Option<String> {
    let window = stuck.window.as_ref()?;
    let has_it = |text: &str| tokens(text).any(|token| token == value);
    if window.start.iter().flat_map(|state| &state.variables).any(|field| has_it(&field.value)) {
        return None;
    }
    let ops = window.operations.iter().map(|&op| report.op(op));
    let mut from = ops.filter(|op| op.name != blocked.name && op.args.iter().any(|field| has_it(&field.value)));
    let op = from.next().filter(|_| from.next().is_none())?;
    let when = match op.end {
        Some(end) if end < blocked.start => format!(", which returned before {} began", blocked.name),
        _ => String::new(),
    };
    Some(format!("{} came from {}{when}.", short(value, VALUE), called(op)))
}

/// Groups of states with equal values of what the false conjunct reads.
fn groups(rejection: &Rejection) -> Vec<StateGroup> {
    let Evidence::Stuck(stuck) = &rejection.evidence else { return Vec::new() };
    let (blamed, total) = (Blamed::all(stuck, rejection).into_iter().next(), stuck.states.len());
    let Some(blamed) = blamed.filter(|blamed| blamed.states.len() == total && total > 1) else { return Vec::new() };
    let parts: Vec<(&str, &Vec<&str>)> = blamed
        .values
        .iter()
        .filter(|(text, _)| *text != blamed.text && !is_literal(text))
        .filter_map(|(text, values)| Some((*text, values.as_ref()?)))
        .collect();
    let mut groups: Vec<StateGroup> = Vec::new();
    for (place, &state) in blamed.states.iter().enumerate() {
        let field =
            |(text, values): &(&str, &Vec<&str>)| Field { name: one_line(text), value: values[place].to_owned() };
        let values: Vec<Field> = parts.iter().map(field).collect();
        match groups.iter_mut().find(|group| group.values == values) {
            Some(group) => group.states.push(state),
            None => groups.push(StateGroup { values, states: vec![state] }),
        }
    }
    // A value that is the same everywhere does not tell groups apart.
    if groups.len() > 1 {
        let is_same = |at: usize| groups.iter().all(|group| group.values[at] == groups[0].values[at]);
        let kept: Vec<bool> = (0..parts.len()).map(|at| !is_same(at)).collect();
        for group in &mut groups {
            let mut kept = kept.iter();
            group.values.retain(|_| *kept.next().unwrap_or(&true));
        }
    }
    groups
}

/// An operation by name and call: ``T2:3 `Dequeue() = 5` ``.
fn called(op: &Operation) -> String {
    format!("{} `{}`", op.name, short(&op.text, VALUE))
}

fn either(values: &[&str]) -> String {
    let values: Vec<String> = values.iter().map(|value| short(value, VALUE)).collect();
    list(&values, "or", ALTERNATIVES)
}

fn unique<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    for value in values {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}

fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    short(unwrapped(&text), WIDE)
}

/// A text without brackets around all of it.
fn unwrapped(text: &str) -> &str {
    let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let mut depth = 0_usize;
    let is_whole = |inside: &&str| {
        inside.chars().all(|c| {
            depth += usize::from(c == '(');
            let is_inside = c != ')' || depth > 0;
            depth -= usize::from(c == ')' && depth > 0);
            is_inside
        })
    };
    inside.filter(is_whole).unwrap_or(text)
}

fn is_boolean(values: &[&str]) -> bool {
    values.iter().all(|value| matches!(*value, "TRUE" | "FALSE"))
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_') && text.chars().any(char::is_alphabetic)
}

fn is_empty(text: &str) -> bool {
    matches!(text, "<<>>" | "{}" | "<< >>" | "{ }")
}

fn is_literal(text: &str) -> bool {
    is_empty(text)
        || matches!(text, "TRUE" | "FALSE")
        || text.parse::<i64>().is_ok()
        || (text.len() > 1 && text.starts_with('"') && text.ends_with('"'))
}

fn is_variable(stuck: &Stuck, name: &str) -> bool {
    stuck.states.first().is_some_and(|state| value_of(&state.variables, name).is_some())
}

fn value_of<'a>(variables: &'a [Field], name: &str) -> Option<&'a str> {
    Some(variables.iter().find(|field| field.name == name)?.value.as_str())
}

/// The elements of a sequence or a set, as printed.
fn elements(value: &str) -> Option<Vec<&str>> {
    let inside = [("<<", ">>"), ("{", "}")]
        .into_iter()
        .find_map(|(open, close)| value.strip_prefix(open)?.strip_suffix(close))?;
    Some(split(inside, ",").into_iter().map(str::trim).filter(|element| !element.is_empty()).collect())
}

/// Names and numbers in a text.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '"'))).filter(|token| !token.is_empty())
}

/// The two sides of a comparison and its sign, if the text is one as a whole.
fn relation(text: &str) -> Option<(&str, &str, &str)> {
    let text = unwrapped(text.trim());
    const SIGNS: [&str; 10] = [" = ", " # ", " /= ", " <= ", " >= ", " =< ", " < ", " > ", " \\in ", " \\notin "];
    const JOINTS: [&str; 6] = ["/\\", "\\/", "=>", "~", "\\A", "\\E"];
    if JOINTS.iter().any(|joint| split(text, joint).len() > 1) || text.starts_with("IF ") || text.starts_with("LET ") {
        return None;
    }
    SIGNS.iter().find_map(|sign| match split(text, sign)[..] {
        [left, right] => Some((left.trim(), sign.trim(), right.trim())),
        _ => None,
    })
}

/// The pieces of a text between separators that are not inside brackets or strings.
fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut depth, mut is_string, mut from, mut at) = (0_usize, false, 0, 0);
    let mut pieces = Vec::new();
    while at < text.len() {
        let rest = &text[at..];
        if depth == 0 && !is_string && rest.starts_with(separator) {
            pieces.push(&text[from..at]);
            at += separator.len();
            from = at;
            continue;
        }
        let opens = ["<<", "(", "[", "{"].into_iter().find(|open| rest.starts_with(open));
        let closes = [">>", ")", "]", "}"].into_iter().find(|close| rest.starts_with(close));
        let step = match (is_string, opens, closes) {
            (true, ..) => 1,
            (false, Some(open), _) => {
                depth += 1;
                open.len()
            }
            (false, None, Some(close)) => {
                depth = depth.saturating_sub(1);
                close.len()
            }
            (false, None, None) => 1,
        };
        is_string ^= rest.starts_with('"');
        at += if step > 1 { step } else { rest.chars().next().map_or(1, char::len_utf8) };
    }
    pieces.push(&text[from..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_split_where_they_are_whole() {
        let shown = |text: &str| format!("{:?}", relation(text));
        insta::assert_snapshot!(shown("elem = Head(queue)"), @r#"Some(("elem", "=", "Head(queue)"))"#);
        insta::assert_snapshot!(shown("f[x = 1] = <<a, b>>"), @r#"Some(("f[x = 1]", "=", "<<a, b>>"))"#);
        insta::assert_snapshot!(shown("a = 1 /\\ b = 2"), @"None");
        insta::assert_snapshot!(shown("x \\notin {\" = \"}"), @r#"Some(("x", "\\notin", "{\" = \"}"))"#);
        assert_eq!(split("1, <<2, 3>>, é", ","), ["1", " <<2, 3>>", " é"]);
        assert_eq!([unwrapped("(a \\in b)"), unwrapped("(a) = (b)")], ["a \\in b", "(a) = (b)"]);
        let set = "{[from |-> 1, says |-> \"no\"], [from |-> 2, says |-> \"yes\"]}";
        assert!(nearest(set, "[from |-> 2, says |-> \"no\"]").is_some());
        assert_eq!(nearest("{1, 2}", "3"), None);
    }
}
