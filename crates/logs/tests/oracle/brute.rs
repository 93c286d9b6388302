//! The oracle: the meaning of a log, computed as it is defined.
//!
//! A log is accepted if there is a sequence of all its events that extends their partial order, and a behavior that
//! takes one step for each event, with unlogged steps between. The oracle reads lines of JSON, compares every two
//! events to compute the order, and tries every next event, every number of unlogged steps and every successor of a
//! state. Each set of placed events is visited with each state once; nothing else is left out.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use omnilink_tla::machine::{Machine, State};
use serde_json::{Map, Value as Json};

use crate::mapping::{Mapping, Meaning, Order, Rule, Uncertainty};
use crate::plain::Plain;
use crate::specs::{Condition, Spec};

/// The verdict of the oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Accepted,
    /// With the most events that a behavior explains.
    Rejected(u32),
    /// Rejected, but lost events may explain it: with the most events that a behavior explains and they may follow.
    Open(u32),
    /// Every behavior violates an invariant; the oracle ignores invariants.
    Violated,
    /// An event comes before itself.
    Contradiction,
}

/// A step of the specification.
#[derive(Debug, Clone)]
pub(crate) struct Successor {
    pub(crate) name: String,
    pub(crate) args: Vec<(String, Plain)>,
    pub(crate) to: usize,
}

/// The states of a specification, found as they are needed; a state is its number.
pub(crate) struct States<'p> {
    machine: Machine<'p>,
    free: Vec<(&'static str, Machine<'p>)>,
    numbers: HashMap<State, usize>,
    all: Vec<(State, Rc<[Plain]>)>,
    successors: HashMap<usize, Rc<[Successor]>>,
}

impl<'p> States<'p> {
    pub(crate) fn new(machine: Machine<'p>, free: Vec<(&'static str, Machine<'p>)>) -> States<'p> {
        States { machine, free, numbers: HashMap::new(), all: Vec::new(), successors: HashMap::new() }
    }

    fn number(&mut self, state: State) -> usize {
        if let Some(&known) = self.numbers.get(&state) {
            return known;
        }
        let strings = &self.machine.program().module.strings;
        let values = state.iter().map(|value| Plain::of(value, strings)).collect();
        self.numbers.insert(state.clone(), self.all.len());
        self.all.push((state, values));
        self.all.len() - 1
    }

    /// The values of the variables.
    pub(crate) fn values(&self, state: usize) -> Rc<[Plain]> {
        self.all[state].1.clone()
    }

    pub(crate) fn initial(&mut self) -> Vec<usize> {
        let mut states = Vec::new();
        self.machine.initial_states(&mut states).expect("no errors");
        states.into_iter().map(|state| self.number(state)).collect()
    }

    pub(crate) fn next(&mut self, state: usize) -> Rc<[Successor]> {
        if let Some(known) = self.successors.get(&state) {
            return known.clone();
        }
        let labelled = self.machine.labelled_successors(&self.all[state].0).expect("no errors");
        let strings = &self.machine.program().module.strings;
        let plain = |args: &[(String, omnilink_tla::value::Value)]| -> Vec<(String, Plain)> {
            args.iter().map(|(name, value)| (name.clone(), Plain::of(value, strings))).collect()
        };
        let labelled: Vec<_> =
            labelled.into_iter().map(|(label, state)| (plain(&label.args), label.name, state)).collect();
        let found: Rc<[Successor]> =
            labelled.into_iter().map(|(args, name, to)| Successor { name, args, to: self.number(to) }).collect();
        self.successors.insert(state, found.clone());
        found
    }

    /// The steps of an action, which need not be part of `Next`, with arguments as far as they are known.
    pub(crate) fn steps(&mut self, state: usize, action: &str, args: &[(&str, Plain)]) -> Vec<usize> {
        if let Some((_, machine)) = self.free.iter_mut().find(|(name, _)| *name == action) {
            let labelled = machine.labelled_successors(&self.all[state].0).expect("no errors");
            return labelled.into_iter().map(|(_, to)| self.number(to)).collect();
        }
        let agrees = |step: &&Successor| {
            let differs = |(name, value): &(String, Plain)| args.iter().any(|(n, v)| n == name && v != value);
            step.name == action && !step.args.iter().any(differs)
        };
        self.next(state).iter().filter(agrees).map(|step| step.to).collect()
    }
}

/// A line of the log, with its fields by name.
struct Event {
    json: Json,
    file: usize,
}

/// The fields of a line by name, wherever they are.
fn by_name(line: &Json) -> Json {
    let mut fields = Map::new();
    for (name, value) in line.as_object().expect("an object") {
        if let Some(field) = name.strip_prefix("the ") {
            fields.insert(field.to_owned(), value.clone());
        } else if let Some(field) = name.strip_prefix("box_") {
            fields.insert(field.to_owned(), value[1].clone());
        } else if name == "in.ner" {
            fields.extend(value.as_object().expect("an object").clone());
        } else {
            fields.insert(name.clone(), value.clone());
        }
    }
    fields.into()
}

impl Event {
    fn name(&self) -> Option<&str> {
        self.json.get("ev")?.as_str()
    }

    fn value(&self, field: &str) -> Option<Plain> {
        self.json.get(field).map(Plain::read)
    }

    fn number(&self, field: &str) -> i64 {
        self.json[field].as_i64().expect("a number")
    }
}

/// The order: for each event the set of those that come before it, computed for every pair.
fn before(mapping: &Mapping, events: &[Event]) -> Vec<u32> {
    let process = |event: &Event| match mapping.has_process {
        true => event.json["proc"].as_str().expect("a process").to_owned(),
        false => format!("f{}", event.file),
    };
    let clock = |event: &Event, of: &str| event.json["vc"].get(of).map_or(0, |count| count.as_i64().expect("a number"));
    let has_time = matches!(mapping.order, Order::Time(_) | Order::TimeAndMessages);
    let off = |event: &Event| match mapping.order {
        Order::Time(Uncertainty::Field) => event.number("u"),
        Order::Time(Uncertainty::One) | Order::TimeAndMessages => 1,
        _ => 0,
    };
    // The number of events before this one in its file with the same key.
    let rank = |at: usize, field: &str| {
        let key = events[at].json.get(field)?;
        let is_same = |other: &&Event| other.file == events[at].file && other.json.get(field) == Some(key);
        Some((key, events[..at].iter().filter(is_same).count()))
    };
    // A key that is sent in several files orders nothing.
    let is_ordered = |key: &Json| {
        let mut files = events.iter().filter(|event| event.json.get("snd") == Some(key)).map(|event| event.file);
        files.next().is_none_or(|first| files.all(|file| file == first))
    };
    let comes_before = |a: usize, b: usize| {
        let (first, second) = (&events[a], &events[b]);
        if mapping.order == Order::File {
            return a < b;
        }
        if process(first) == process(second) {
            let own = process(first);
            return match mapping.order {
                Order::Vector => (clock(first, &own), a) < (clock(second, &own), b),
                _ => a < b,
            };
        }
        if has_time && first.number("ts") + off(first) < second.number("ts") - off(second) {
            return true;
        }
        if mapping.order == Order::Vector {
            return clock(first, &process(first)) <= clock(second, &process(first));
        }
        let has_messages = matches!(mapping.order, Order::Messages | Order::TimeAndMessages);
        has_messages && rank(a, "snd").is_some_and(|(key, _)| is_ordered(key)) && rank(a, "snd") == rank(b, "rcv")
    };
    let set = |b: usize| (0..events.len()).filter(|&a| a != b && comes_before(a, b)).fold(0, |set, a| set | 1 << a);
    (0..events.len()).map(set).collect()
}

/// A log and the questions that were answered about it.
struct Log<'a, 'p> {
    spec: &'a Spec,
    mapping: &'a Mapping,
    states: &'a mut States<'p>,
    events: Vec<Event>,
    /// Variables that change only in events that say so.
    complete: Vec<&'static str>,
    steps: HashMap<(usize, usize), Rc<BTreeSet<usize>>>,
}

/// The events of these files, and the file that breaks off.
fn read(files: &[String]) -> (Vec<Event>, Option<usize>) {
    let mut events: Vec<Event> = Vec::new();
    let mut cut = None;
    for (file, text) in files.iter().enumerate() {
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(json) => events.push(Event { json: by_name(&json), file }),
                Err(_) => cut = Some(file),
            }
        }
    }
    (events, cut)
}

/// Whether each file has its lines in the order of its clock, which is assumed of a file that breaks off.
pub(crate) fn is_sorted(mapping: &Mapping, files: &[String]) -> bool {
    let (events, _) = read(files);
    (0..files.len()).all(|file| {
        let inside = events.iter().filter(|event| event.file == file);
        mapping.order != Order::Vector || inside.map(|event| own_clock(event, &format!("f{file}"))).is_sorted()
    })
}

/// Decides about the log in these files.
pub(crate) fn decide(spec: &Spec, mapping: &Mapping, states: &mut States<'_>, files: &[String]) -> Decision {
    let (events, cut) = read(files);
    let before = before(mapping, &events);
    let lost: Option<u32> = cut.map(|file| after_which(mapping, &events, file));
    let is_told = |variable: &&&str| {
        mapping.update.contains(variable) && events.iter().any(|event| event.json.get(**variable).is_some())
    };
    let complete = mapping.complete.iter().filter(is_told).copied().collect();
    let all = (1_u32 << events.len()) - 1;
    let mut placed = 0_u32;
    while let Some(next) = (0..events.len()).find(|&e| placed >> e & 1 == 0 && before[e] & !placed == 0) {
        placed |= 1 << next;
    }
    if placed != all {
        return Decision::Contradiction;
    }
    let mut log = Log { spec, mapping, states, events, complete, steps: HashMap::new() };
    let mut todo: Vec<(u32, usize)> = Vec::new();
    for state in log.states.initial() {
        let values = log.states.values(state);
        if !mapping.has_init || spec.init.is_none_or(|(_, _, holds)| holds(&values)) {
            todo.push((0, state));
        }
    }
    let mut seen: HashSet<(u32, usize)> = todo.iter().copied().collect();
    let (mut explained, mut open) = (0, None);
    while let Some((placed, state)) = todo.pop() {
        explained = explained.max(placed.count_ones());
        if lost.is_some_and(|set| set & !placed == 0) {
            open = open.max(Some(placed.count_ones()));
        }
        if placed == all {
            return Decision::Accepted;
        }
        for event in (0..log.events.len()).filter(|&e| placed >> e & 1 == 0 && before[e] & !placed == 0) {
            for from in log.after_unlogged(event, state) {
                for &to in log.steps(event, from).iter() {
                    if seen.insert((placed | 1 << event, to)) {
                        todo.push((placed | 1 << event, to));
                    }
                }
            }
        }
    }
    open.map_or(Decision::Rejected(explained), Decision::Open)
}

/// The events that come before all events that are lost where a file breaks off.
fn after_which(mapping: &Mapping, events: &[Event], file: usize) -> u32 {
    let inside: Vec<usize> = (0..events.len()).filter(|&event| events[event].file == file).collect();
    let all = inside.iter().fold(0, |set, event| set | 1 << event);
    // Lines that a clock sorts may be lost in between, and a process that shares its file may have lost all of its lines.
    let clocks = inside.iter().map(|&event| own_clock(&events[event], &format!("f{file}")));
    match mapping.order {
        Order::File => all,
        Order::Vector if !clocks.is_sorted() => 0,
        _ if mapping.has_process => 0,
        _ => all,
    }
}

fn own_clock(event: &Event, process: &str) -> i64 {
    event.json["vc"].get(process).map_or(0, |count| count.as_i64().expect("a number"))
}

impl Log<'_, '_> {
    /// The states that unlogged steps before an event lead to, with at most as many of each kind as the mapping allows.
    fn after_unlogged(&mut self, event: usize, state: usize) -> BTreeSet<usize> {
        let mapping = self.mapping;
        let start = (state, vec![0_u32; mapping.unlogged.len()]);
        let mut seen: HashSet<(usize, Vec<u32>)> = HashSet::from([start.clone()]);
        let mut todo = vec![start];
        while let Some((state, counts)) = todo.pop() {
            for (kind, unlogged) in mapping.unlogged.iter().enumerate() {
                let name = self.events[event].name().unwrap_or_default();
                let who = self.events[event].value("who");
                let is_meant = (unlogged.before.is_empty() || unlogged.before.contains(&name))
                    && unlogged.max.is_none_or(|max| counts[kind] < max)
                    && (!unlogged.is_flagged || self.events[event].json["flag"] == Json::Bool(true));
                if !is_meant || (unlogged.needed && !self.steps(event, state).is_empty()) {
                    continue;
                }
                for action in &unlogged.actions {
                    let takes = |param: &&str| self.spec.has_param(action, param);
                    let args = match (unlogged.who.filter(takes), &who) {
                        (None, _) => vec![],
                        (Some(param), Some(who)) => vec![(param, who.clone())],
                        (Some(_), None) => continue,
                    };
                    for to in self.states.steps(state, action, &args) {
                        let mut counts = counts.clone();
                        // Without a limit, a shortest way visits no state twice.
                        counts[kind] += u32::from(unlogged.max.is_some());
                        if seen.insert((to, counts.clone())) {
                            todo.push((to, counts));
                        }
                    }
                }
            }
        }
        seen.into_iter().map(|(state, _)| state).collect()
    }

    /// The states that an event leads to.
    fn steps(&mut self, event: usize, from: usize) -> Rc<BTreeSet<usize>> {
        if let Some(known) = self.steps.get(&(event, from)) {
            return known.clone();
        }
        let reached = self.candidates(event, from);
        let allowed: BTreeSet<usize> = reached.into_iter().filter(|&to| self.is_allowed(event, from, to)).collect();
        let allowed = Rc::new(allowed);
        self.steps.insert((event, from), allowed.clone());
        allowed
    }

    /// The states that the name and the arguments of an event allow.
    fn candidates(&mut self, event: usize, from: usize) -> Vec<usize> {
        let mapping = self.mapping;
        let Some(name) = self.events[event].name().map(str::to_owned) else {
            let mut all: Vec<usize> = self.states.next(from).iter().map(|step| step.to).collect();
            all.extend(mapping.skips.then_some(from));
            return all;
        };
        if name == "Note" {
            return vec![from];
        }
        if let Some(rule) = mapping.rules.iter().find(|rule| rule.event == name) {
            return self.by_rule(rule, event, from);
        }
        let action = self.spec.actions.iter().find(|action| action.name == name).expect("an action");
        let args: Vec<(&str, Plain)> = match self.events[event].json.get("args") {
            None => Vec::new(),
            Some(Json::Array(args)) => {
                action.params.iter().zip(args).map(|((name, _), arg)| (*name, Plain::read(arg))).collect()
            }
            Some(args) => {
                let named = |(name, _): &(&'static str, _)| Some((*name, Plain::read(args.get(*name)?)));
                action.params.iter().filter_map(named).collect()
            }
        };
        self.states.steps(from, &name, &args)
    }

    fn by_rule(&mut self, rule: &Rule, event: usize, from: usize) -> Vec<usize> {
        let args: Vec<(&str, Plain)> =
            rule.who.map(|param| (param, self.events[event].value("who").expect("a value"))).into_iter().collect();
        match &rule.meaning {
            Meaning::Actions(actions) => {
                actions.iter().flat_map(|action| self.states.steps(from, action, &args)).collect()
            }
            Meaning::Sequences(sequences) => {
                let mut all = Vec::new();
                for sequence in sequences {
                    let mut reached = vec![from];
                    for action in *sequence {
                        reached = reached.iter().flat_map(|&from| self.states.steps(from, action, &args)).collect();
                    }
                    all.extend(reached);
                }
                all
            }
            Meaning::Repeat { action, has_goal } => {
                let goal = has_goal.then(|| self.events[event].number("goal"));
                let (mut last, mut seen, mut todo) = (Vec::new(), HashSet::new(), vec![from]);
                while let Some(from) = todo.pop() {
                    for to in self.states.steps(from, action, &args) {
                        let is_last = goal.is_none_or(|goal| (self.spec.measure.2)(&self.states.values(to)) == goal);
                        if is_last {
                            last.push(to);
                        }
                        if (!is_last || goal.is_none()) && seen.insert(to) {
                            todo.push(to);
                        }
                    }
                }
                last
            }
        }
    }

    /// Whether the values and the conditions of an event hold in a step.
    fn is_allowed(&self, event: usize, from: usize, to: usize) -> bool {
        let (Event { json, .. }, mapping) = (&self.events[event], self.mapping);
        let (from, to) = (self.states.values(from), self.states.values(to));
        for (place, variable) in self.spec.variables.iter().enumerate() {
            let told = json.get(*variable).filter(|_| mapping.update.contains(variable));
            let next = match told {
                Some(operations) => {
                    let mut operations = operations.as_array().expect("an array").iter();
                    operations.try_fold(from[place].clone(), |value, operation| value.changed(operation))
                }
                None if self.complete.contains(variable) => Some(from[place].clone()),
                None => continue,
            };
            if next.as_ref() != Some(&to[place]) {
                return false;
            }
        }
        let holds = |condition: Option<&'static Condition>, field: &str, state: &[Plain]| {
            let (Some(condition), Some(expected)) = (condition, json.get(field)) else { return true };
            let who = json.get("who").map(Plain::read);
            if condition.needs_who && who.is_none() {
                return true;
            }
            let Some(value) = (condition.value)(state, &who.unwrap_or(Plain::Bool(false))) else { return false };
            match condition.one_of.iter().find(|(word, _)| expected == word) {
                Some((_, values)) => values.contains(&value.text().as_str()),
                None if condition.is_set => {
                    let elements = expected.as_array().expect("an array").iter().map(Plain::read);
                    value == Plain::Set(elements.collect())
                }
                None => value == Plain::read(expected),
            }
        };
        let measure = self.spec.measure.2;
        holds(mapping.before, "pre", &from)
            && holds(mapping.after, "post", &to)
            && (!mapping.has_step
                || json.get("d").is_none_or(|d| measure(&to) - measure(&from) == d.as_i64().expect("a number")))
    }
}
