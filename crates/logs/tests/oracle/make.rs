//! Random logs: a random walk of a specification, written down with gaps, errors and a weaker order.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Map, Value as Json, json};

use crate::brute::{States, Successor};
use crate::mapping::{FIELDS, Mapping, Meaning, Order, Place, Rule, Uncertainty, Unlogged};
use crate::plain::Plain;
use crate::specs::{Condition, Spec};

/// A log and its mapping.
pub(crate) struct Case {
    pub(crate) mapping: Mapping,
    /// The text of each file.
    pub(crate) files: Vec<String>,
    /// The same before one of them broke off.
    pub(crate) whole: Option<Vec<String>>,
    /// The features that it has.
    pub(crate) features: Vec<&'static str>,
}

/// An event before it has a place in the order.
#[derive(Clone)]
struct Entry {
    process: String,
    fields: Map<String, Json>,
}

/// The clocks and the messages of the processes, up to an event.
#[derive(Default)]
struct Clocks {
    time: i64,
    vectors: BTreeMap<String, BTreeMap<String, i64>>,
    /// The number of messages of each key that were not received yet.
    sent: BTreeMap<(String, String), i64>,
    /// A key is that of a sender and a receiver (0), of a sender (1), or of all.
    keys: u8,
}

/// The most events of a log.
const MOST: usize = 7;

struct Maker<'a, 'p> {
    spec: &'static Spec,
    states: &'a mut States<'p>,
    rng: Rng,
    mapping: Mapping,
    features: Vec<&'static str>,
    /// Actions whose events are left out.
    missing: Vec<&'static str>,
    /// How often an event lacks its name, its arguments, and the value of a variable, in tenths.
    gaps: [u8; 3],
    has_who: bool,
}

/// Makes a log.
pub(crate) fn make(spec: &'static Spec, states: &mut States<'_>, seed: u64) -> Case {
    let mut rng = Rng::with_seed(seed);
    let gap = |rng: &mut Rng| rng.choice([0, 0, 2, 5, 10]).expect("not empty");
    // Many logs mention no value, so that all values are interchangeable.
    let is_bare = rng.u8(..3) == 0;
    let gaps = if is_bare { [gap(&mut rng), 10, 10] } else { [gap(&mut rng), gap(&mut rng), gap(&mut rng)] };
    let has_who = !is_bare && rng.u8(..3) == 0;
    let mapping = mapping(spec, &mut rng, has_who);
    let mut maker = Maker { spec, states, rng, mapping, features: Vec::new(), missing: Vec::new(), gaps, has_who };
    maker.choose_unlogged();
    let mut entries = maker.walk();
    maker.add_notes(&mut entries);
    for _ in 0..maker.rng.choice([0, 0, 1, 1, 2]).expect("not empty") {
        maker.damage(&mut entries);
    }
    entries.truncate(MOST);
    if entries.is_empty() {
        entries.push(Entry { process: "p".to_owned(), fields: Map::new() });
    }
    maker.finish(entries)
}

/// A mapping without unlogged steps.
fn mapping(spec: &'static Spec, rng: &mut Rng, has_who: bool) -> Mapping {
    let some = |rng: &mut Rng| -> Vec<&'static str> {
        let tenths = rng.choice([0, 5, 10]).expect("not empty");
        spec.variables.iter().copied().filter(|_| rng.u8(..10) < tenths).collect()
    };
    let update = some(rng);
    let complete = match rng.u8(..3) {
        0 => some(rng).into_iter().filter(|variable| update.contains(variable)).collect(),
        _ => Vec::new(),
    };
    let condition = |rng: &mut Rng| {
        let condition = rng.choice(spec.conditions).expect("not empty");
        (rng.u8(..3) == 0 && (has_who || !condition.needs_who)).then_some(condition)
    };
    let (before, after) = (condition(rng), condition(rng));
    let order = match rng.u8(..10) {
        0..4 => Order::File,
        4 => Order::Time(Uncertainty::None),
        5 => Order::Time(Uncertainty::One),
        6 => Order::Time(Uncertainty::Field),
        7 => Order::Vector,
        8 => Order::Messages,
        _ => Order::TimeAndMessages,
    };
    let has_process = rng.bool();
    let mut rules = Vec::new();
    if rng.u8(..3) == 0 {
        let param = |action: &str| {
            let action = spec.actions.iter().find(|known| known.name == action)?;
            action.params.first().map(|(name, _)| *name)
        };
        for (event, sequence) in spec.sequences {
            let who = param(sequence[0]).filter(|_| has_who && rng.bool());
            let mut all = vec![*sequence];
            // Another sequence of the same event.
            all.extend(spec.sequences.iter().map(|(_, other)| *other).filter(|other| other != sequence && rng.bool()));
            rules.push(Rule { event: (*event).to_owned(), meaning: Meaning::Sequences(all), who });
        }
        for (event, action) in spec.repeated {
            let who = param(action).filter(|_| has_who && rng.u8(..3) == 0);
            let meaning = Meaning::Repeat { action, has_goal: rng.bool() };
            rules.push(Rule { event: (*event).to_owned(), meaning, who });
        }
    }
    if rng.u8(..4) == 0 {
        // An event that is one of two actions.
        let same = spec.actions.iter().filter(|action| action.params.len() == spec.actions[0].params.len());
        let mut actions: Vec<&'static str> = same.map(|action| action.name).collect();
        rng.shuffle(&mut actions);
        actions.truncate(2);
        rules.push(Rule { event: "Either".to_owned(), meaning: Meaning::Actions(actions), who: None });
    }
    let places = match rng.bool() {
        true => [Place::Plain; FIELDS.len()],
        false => {
            FIELDS.map(|_| rng.choice([Place::Plain, Place::Quoted, Place::Indexed, Place::Deep]).expect("not empty"))
        }
    };
    Mapping {
        places,
        update,
        complete,
        skips: rng.u8(..4) == 0,
        has_process,
        order,
        before,
        after,
        has_step: rng.u8(..4) == 0,
        rules,
        unlogged: Vec::new(),
        has_init: spec.init.is_some() && rng.u8(..4) == 0,
    }
}

impl Maker<'_, '_> {
    fn one_in(&mut self, count: u8) -> bool {
        self.rng.u8(..count) == 0
    }

    fn choose_unlogged(&mut self) {
        if !self.one_in(3) {
            return;
        }
        let spec = self.spec;
        let mut actions = spec.unlogged.to_vec();
        self.rng.shuffle(&mut actions);
        let kinds = 1 + usize::from(self.one_in(3));
        for _ in 0..kinds {
            let mut of_kind: Vec<&'static str> = actions.pop().into_iter().collect();
            if self.one_in(3) {
                of_kind.extend(actions.pop());
            }
            if of_kind.is_empty() {
                break;
            }
            let mut before: Vec<&'static str> = Vec::new();
            if self.one_in(2) {
                before.extend(spec.actions.iter().map(|action| action.name).filter(|_| self.rng.bool()));
            }
            let action = spec.actions.iter().find(|action| action.name == of_kind[0]).expect("an action");
            let who = action.params.first().map(|(name, _)| *name);
            let unlogged = Unlogged {
                before,
                who: who.filter(|_| self.has_who && self.rng.bool()),
                is_computed: self.one_in(3),
                is_flagged: self.one_in(5),
                max: match self.rng.u8(..4) {
                    0 => None,
                    1 => Some(1),
                    2 => Some(2),
                    _ => Some(3),
                },
                needed: self.one_in(3),
                actions: of_kind,
            };
            self.missing.extend(&unlogged.actions);
            self.mapping.unlogged.push(unlogged);
        }
    }

    /// A random walk, as events.
    fn walk(&mut self) -> Vec<Entry> {
        let initial = self.states.initial();
        let mut state = *self.rng.choice(&initial).expect("an initial state");
        let mut entries = Vec::new();
        for _ in 0..self.rng.usize(3..=MOST + 1) {
            if entries.len() == MOST {
                break;
            }
            let rules: Vec<Rule> = self
                .mapping
                .rules
                .iter()
                .filter(|rule| !matches!(rule.meaning, Meaning::Actions(_)))
                .cloned()
                .collect();
            if !rules.is_empty() && self.one_in(2) {
                let rule = self.rng.choice(&rules).expect("not empty").clone();
                if let Some((to, who, process)) = self.compose(&rule, state) {
                    let mut fields = self.fields(Some(&rule.event), state, to, who.as_ref());
                    if let Meaning::Repeat { has_goal: true, .. } = rule.meaning {
                        fields.insert("goal".to_owned(), json!((self.spec.measure.2)(&self.states.values(to))));
                    }
                    if let (Some(_), Some(who)) = (rule.who, who) {
                        fields.insert("who".to_owned(), who.json());
                    }
                    entries.push(Entry { process, fields });
                    state = to;
                    continue;
                }
            }
            let next = self.states.next(state);
            let mut names: Vec<&str> = next.iter().map(|step| step.name.as_str()).collect();
            names.dedup();
            let Some(name) = self.rng.choice(&names).copied() else { break };
            let named: Vec<&Successor> = next.iter().filter(|step| step.name == name).collect();
            let step: &Successor = self.rng.choice(&named).expect("not empty");
            let from = std::mem::replace(&mut state, step.to);
            if self.missing.contains(&name) && !self.one_in(4) {
                self.features.push("step not logged");
                continue;
            }
            let entry = self.entry(step, from);
            entries.push(entry);
        }
        entries
    }

    /// A composition of steps: the state after it, the common argument, and the process.
    fn compose(&mut self, rule: &Rule, from: usize) -> Option<(usize, Option<Plain>, String)> {
        let actions: Vec<&'static str> = match &rule.meaning {
            Meaning::Sequences(all) => all[0].to_vec(),
            Meaning::Repeat { action, .. } => vec![*action; self.rng.usize(1..=3)],
            Meaning::Actions(_) => return None,
        };
        let first = self.states.next(from);
        let first: Vec<&Successor> = first.iter().filter(|step| step.name == actions[0]).collect();
        let first: &Successor = self.rng.choice(first)?;
        let (who, process) = (first.args.first().map(|(_, value)| value.clone()), self.process_of(first));
        let args: Vec<(&str, Plain)> = rule.who.and_then(|param| Some((param, who.clone()?))).into_iter().collect();
        let mut state = first.to;
        for action in &actions[1..] {
            let steps = self.states.steps(state, action, &args);
            match (self.rng.choice(steps), &rule.meaning) {
                (Some(to), _) => state = to,
                (None, Meaning::Repeat { .. }) => break,
                (None, _) => return None,
            }
        }
        Some((state, who, process))
    }

    fn process_of(&mut self, step: &Successor) -> String {
        step.args.first().map_or("main".to_owned(), |(_, value)| value.text())
    }

    /// The event of a step.
    fn entry(&mut self, step: &Successor, from: usize) -> Entry {
        let process = self.process_of(step);
        let mut name = step.name.as_str();
        let is_either = |rule: &Rule| matches!(&rule.meaning, Meaning::Actions(actions) if actions.contains(&name));
        if self.mapping.rules.iter().any(is_either) && self.one_in(2) {
            name = "Either";
        }
        let mut fields = self.fields(Some(name), from, step.to, step.args.first().map(|(_, value)| value));
        if self.rng.u8(..10) >= self.gaps[1] && name != "Either" && !step.args.is_empty() {
            let args: Vec<&(String, Plain)> = step.args.iter().collect();
            let args: Json = match self.rng.u8(..3) {
                0 => args.iter().map(|(name, value)| (name.clone(), value.json())).collect::<Map<_, _>>().into(),
                1 if args.len() > 1 => {
                    self.features.push("some arguments");
                    let kept = args.iter().filter(|_| self.rng.bool());
                    kept.map(|(name, value)| (name.clone(), value.json())).collect::<Map<_, _>>().into()
                }
                _ => args.iter().map(|(_, value)| value.json()).collect(),
            };
            fields.insert("args".to_owned(), args);
        } else if !step.args.is_empty() {
            self.features.push("no arguments");
        }
        Entry { process, fields }
    }

    /// The fields that do not depend on the kind of event.
    fn fields(&mut self, name: Option<&str>, from: usize, to: usize, who: Option<&Plain>) -> Map<String, Json> {
        let mut fields = Map::new();
        match name {
            Some(name) if self.rng.u8(..10) >= self.gaps[0] => {
                fields.insert("ev".to_owned(), json!(name));
            }
            _ => self.features.push("no name"),
        }
        let (from, to) = (self.states.values(from), self.states.values(to));
        for (place, variable) in self.spec.variables.iter().enumerate() {
            let is_told = self.mapping.update.contains(variable) && (from[place] != to[place] || self.one_in(4));
            if !is_told {
                continue;
            }
            let changes = from[place].changes(&to[place], &[], &mut self.rng);
            match changes.filter(|_| self.rng.u8(..10) >= self.gaps[2]) {
                Some(changes) => drop(fields.insert((*variable).to_owned(), changes.into())),
                None => self.features.push("no value"),
            }
        }
        let known = match who {
            Some(who) if self.has_who => Some(if self.one_in(12) { Plain::str("stranger") } else { who.clone() }),
            _ => None,
        };
        if let Some(who) = &known {
            fields.insert("who".to_owned(), who.json());
        }
        for (field, condition, state) in [("pre", self.mapping.before, &from), ("post", self.mapping.after, &to)] {
            let Some(condition) = condition.filter(|_| !self.one_in(3)) else { continue };
            if let Some(value) = logged(condition, state, known.as_ref(), &mut self.rng) {
                fields.insert(field.to_owned(), value);
            }
        }
        if self.mapping.has_step && self.one_in(2) {
            let measure = self.spec.measure.2;
            fields.insert("d".to_owned(), json!(measure(&to) - measure(&from)));
        }
        if self.mapping.unlogged.iter().any(|unlogged| unlogged.is_flagged) {
            fields.insert("flag".to_owned(), json!(!self.one_in(3)));
        }
        fields
    }

    /// Adds events that are not steps.
    fn add_notes(&mut self, entries: &mut Vec<Entry>) {
        if !self.mapping.skips {
            return;
        }
        for _ in 0..self.rng.usize(0..=2) {
            let place = self.rng.usize(0..=entries.len());
            let initial = self.states.initial()[0];
            let (process, mut fields) = match entries.get(place) {
                Some(entry) => (entry.process.clone(), self.fields(None, initial, initial, None)),
                None => ("main".to_owned(), self.fields(None, initial, initial, None)),
            };
            ["pre", "post", "d"].iter().for_each(|field| drop(fields.remove(*field)));
            fields.insert("ev".to_owned(), json!("Note"));
            self.features.push("skipped event");
            entries.insert(place, Entry { process, fields });
        }
    }

    /// Changes something, which may or may not be noticed.
    fn damage(&mut self, entries: &mut Vec<Entry>) {
        if entries.is_empty() {
            return;
        }
        let place = self.rng.usize(..entries.len());
        match self.rng.u8(..8) {
            0 => {
                entries.remove(place);
                self.features.push("event dropped");
            }
            1 if place > 0 => {
                entries.swap(place - 1, place);
                self.features.push("events exchanged");
            }
            2 | 3 => self.change_argument(&mut entries[place]),
            4 | 5 => {
                // A value of another event.
                let mut fields: Vec<&str> = self.mapping.update.clone();
                fields.extend(["pre", "post", "d", "who"]);
                let has = |entry: &Entry, field: &str| entry.fields.contains_key(field);
                fields.retain(|field| has(&entries[place], field));
                let Some(field) = self.rng.choice(&fields) else { return };
                let others: Vec<usize> = (0..entries.len()).filter(|&other| has(&entries[other], field)).collect();
                let other = *self.rng.choice(&others).expect("not empty");
                let value = entries[other].fields[*field].clone();
                entries[place].fields.insert((*field).to_owned(), value);
                self.features.push("value changed");
            }
            _ => {
                let Some(name) = entries[place].fields.get("ev").and_then(Json::as_str) else { return };
                let Some(action) = self.spec.actions.iter().find(|action| action.name == name) else { return };
                let alike = self.spec.actions.iter().filter(|other| other.params == action.params);
                let other = self.rng.choice(alike.collect::<Vec<_>>()).expect("itself");
                entries[place].fields.insert("ev".to_owned(), json!(other.name));
                self.features.push("name changed");
            }
        }
    }

    fn change_argument(&mut self, entry: &mut Entry) {
        let name = entry.fields.get("ev").and_then(Json::as_str).unwrap_or_default();
        let Some(action) = self.spec.actions.iter().find(|action| action.name == name) else { return };
        let Some(args) = entry.fields.get_mut("args") else { return };
        let place = self.rng.usize(..action.params.len());
        let (param, values) = action.params[place];
        let value = *self.rng.choice(values).expect("not empty");
        let value = value.parse::<i64>().map_or_else(|_| json!(value), |number| json!(number));
        match args {
            Json::Array(args) => args[place] = value,
            Json::Object(args) => drop(args.insert(param.to_owned(), value)),
            _ => return,
        }
        self.features.push("argument changed");
    }

    /// Puts the events in order, and the lines in files.
    fn finish(mut self, mut entries: Vec<Entry>) -> Case {
        let mut processes: Vec<String> = entries.iter().map(|entry| entry.process.clone()).collect();
        processes.sort_unstable();
        processes.dedup();
        if self.one_in(2) {
            // Fewer processes, with names that are not values.
            let count = self.rng.usize(1..=3);
            for entry in &mut entries {
                let place = processes.iter().position(|process| *process == entry.process).expect("one of them");
                entry.process = format!("p{}", place % count);
            }
            processes = (0..count.min(processes.len())).map(|place| format!("p{place}")).collect();
        }
        let order = self.mapping.order;
        self.mapping.has_process |= processes.len() == 1;
        // Without a field for the process there is one file for each.
        let one_file = order == Order::File || self.mapping.has_process;
        if !one_file {
            self.features.push("several files");
        }
        if processes.len() > 1 && order != Order::File {
            self.features.push("several processes");
        }
        let names: Vec<String> = match one_file {
            true => processes.clone(),
            false => (0..processes.len()).map(|place| format!("f{place}")).collect(),
        };
        let name_of = |process: &str| &names[processes.iter().position(|known| known == process).expect("known")];
        let mut clocks = Clocks { keys: self.rng.u8(..3), ..Clocks::default() };
        for entry in &mut entries {
            let process = name_of(&entry.process).clone();
            if self.mapping.has_process {
                entry.fields.insert("proc".to_owned(), json!(process));
            }
            self.add_order(&mut entry.fields, &process, &mut clocks);
            if matches!(order, Order::Messages | Order::TimeAndMessages) {
                self.add_messages(&mut entry.fields, &process, &names, &mut clocks);
            }
        }
        self.repair(&mut entries);
        let mut chains: Vec<Vec<Entry>> = names.iter().map(|_| Vec::new()).collect();
        for entry in entries {
            let chain = if order == Order::File {
                0
            } else {
                processes.iter().position(|process| *process == entry.process).expect("known")
            };
            chains[chain].push(entry);
        }
        if order == Order::Vector && self.one_in(4) {
            // The clock says the order within a process.
            chains.iter_mut().for_each(|chain| self.rng.shuffle(chain));
        }
        let files = match one_file {
            true => {
                // The lines of processes mix in any way.
                let mut text = String::new();
                chains.iter_mut().for_each(|chain| chain.reverse());
                while chains.iter().any(|chain| !chain.is_empty()) {
                    let chain = self.rng.usize(..chains.len());
                    if let Some(entry) = chains[chain].pop() {
                        text.push_str(&format!("{}\n", self.mapping.dressed(entry.fields)));
                    }
                }
                vec![text]
            }
            false => {
                let line = |entry: Entry| format!("{}\n", self.mapping.dressed(entry.fields));
                chains.into_iter().map(|chain| chain.into_iter().map(line).collect()).collect()
            }
        };
        let cut = if self.one_in(4) { self.cut(&files) } else { None };
        self.note_features();
        let (files, whole) = match cut {
            Some(cut) => (cut, Some(files)),
            None => (files, None),
        };
        Case { mapping: self.mapping, files, whole, features: self.features }
    }

    /// Adds the fields that say when an event of a process was.
    fn add_order(&mut self, fields: &mut Map<String, Json>, process: &str, clocks: &mut Clocks) {
        let order = self.mapping.order;
        match order {
            Order::File | Order::Messages => {}
            Order::Time(_) | Order::TimeAndMessages => {
                clocks.time += self.rng.choice([0, 1, 1, 2, 3]).expect("not empty");
                let wrong = if self.rng.u8(..12) == 0 { self.rng.i64(-4..=4) } else { 0 };
                fields.insert("ts".to_owned(), json!(clocks.time + wrong));
                if order == Order::Time(Uncertainty::Field) {
                    fields.insert("u".to_owned(), json!(self.rng.u8(..3)));
                }
            }
            Order::Vector => {
                let mut clock = clocks.vectors.get(process).cloned().unwrap_or_default();
                if self.rng.bool() {
                    // It has heard of another process.
                    let all: Vec<&BTreeMap<String, i64>> = clocks.vectors.values().collect();
                    for (name, count) in self.rng.choice(all).into_iter().flatten() {
                        let known = clock.entry(name.clone()).or_default();
                        *known = (*known).max(*count);
                    }
                }
                *clock.entry(process.to_owned()).or_default() += self.rng.i64(1..=2);
                fields.insert("vc".to_owned(), json!(clock));
                clocks.vectors.insert(process.to_owned(), clock);
            }
        }
    }

    /// Adds the messages that an event of a process receives and sends.
    fn add_messages(&mut self, fields: &mut Map<String, Json>, process: &str, names: &[String], clocks: &mut Clocks) {
        let other = self.rng.choice(names).expect("not empty").clone();
        let is_for = |to: &str| to == process || to == "all";
        let incoming: Vec<_> = clocks.sent.iter().filter(|((_, to), count)| is_for(to) && **count > 0).collect();
        let incoming = self.rng.choice(incoming).map(|(key, _)| key.clone());
        if let Some(key) = incoming.filter(|_| self.rng.u8(..4) > 0) {
            fields.insert("rcv".to_owned(), json!(format!("{}-{}", key.0, key.1)));
            *clocks.sent.get_mut(&key).expect("it was sent") -= 1;
        } else if self.rng.u8(..20) == 0 {
            fields.insert("rcv".to_owned(), json!("lost"));
        }
        if other != process && self.rng.u8(..3) > 0 {
            let key = match clocks.keys {
                0 => (process.to_owned(), other),
                1 => (process.to_owned(), "all".to_owned()),
                _ => ("any".to_owned(), "all".to_owned()),
            };
            if clocks.keys > 0 {
                self.features.push("equal keys");
            }
            fields.insert("snd".to_owned(), json!(format!("{}-{}", key.0, key.1)));
            *clocks.sent.entry(key).or_default() += 1;
        }
    }

    /// The files with one that breaks off inside a line, if the others have all the fields that the mapping names.
    fn cut(&mut self, files: &[String]) -> Option<Vec<String>> {
        let file = self.rng.usize(..files.len());
        let lines: Vec<&str> = files[file].lines().collect();
        let kept = self.rng.usize(..lines.len().max(1));
        let broken = lines.get(kept)?;
        let mut cut = files.to_vec();
        let end = self.rng.usize(1..broken.len());
        cut[file] = lines[..kept].iter().flat_map(|line| [line, "\n"]).chain([&broken[..end]]).collect();
        // A line that breaks off may end with the brace of a field.
        let others = files.iter().enumerate().filter(|(place, _)| *place != file).flat_map(|(_, text)| text.lines());
        let known: Vec<&str> = lines[..kept].iter().copied().chain(others).collect();
        let has = |lines: &[&str], word: &str| lines.iter().any(|line| line.contains(&format!("\"{word}\":")));
        let whole: Vec<&str> = files.iter().flat_map(|text| text.lines()).collect();
        let named = |field: &&str| [format!("the {field}"), format!("box_{field}"), (*field).to_owned()];
        let is_kept = |word: &String| has(&known, word) || !has(&whole, word);
        if known.is_empty() || !FIELDS.iter().flat_map(named).all(|word| is_kept(&word)) {
            return None;
        }
        self.features.push("cut off");
        Some(cut)
    }

    /// Removes from the mapping what no event has: the crate would refuse it.
    fn repair(&mut self, entries: &mut [Entry]) {
        let has = |entries: &[Entry], field: &str| entries.iter().any(|entry| entry.fields.contains_key(field));
        let has_who = has(entries, "who");
        let mapping = &mut self.mapping;
        let is_kept = |condition: &&Condition, field: &str| has(entries, field) && (has_who || !condition.needs_who);
        mapping.before = mapping.before.filter(|condition| is_kept(condition, "pre"));
        mapping.after = mapping.after.filter(|condition| is_kept(condition, "post"));
        mapping.has_step &= has(entries, "d");
        for unlogged in &mut mapping.unlogged {
            unlogged.who = unlogged.who.filter(|_| has_who);
            unlogged.is_flagged &= has(entries, "flag");
        }
        for rule in &mut mapping.rules {
            rule.who = rule.who.filter(|_| has_who);
        }
        let has_messages = matches!(mapping.order, Order::Messages | Order::TimeAndMessages);
        for field in ["snd", "rcv"] {
            if has_messages && !has(entries, field) {
                entries[0].fields.insert(field.to_owned(), json!(format!("no {field}")));
            }
        }
    }

    /// Notes the features of the mapping.
    fn note_features(&mut self) {
        let Mapping { before, after, unlogged, rules, .. } = &self.mapping;
        let conditions = || before.iter().chain(after);
        let has = |is: fn(&Meaning) -> bool| rules.iter().any(|rule| is(&rule.meaning));
        let is_at = |place| self.mapping.places.contains(&place);
        let features = [
            ("quoted names", is_at(Place::Quoted)),
            ("indices", is_at(Place::Indexed)),
            ("inner fields", is_at(Place::Deep)),
            ("computed argument", unlogged.iter().any(|unlogged| unlogged.who.is_some() && unlogged.is_computed)),
            ("file order", self.mapping.order == Order::File),
            ("time", self.mapping.order == Order::Time(Uncertainty::None)),
            ("uncertainty", matches!(self.mapping.order, Order::Time(Uncertainty::One | Uncertainty::Field))),
            ("vector clock", self.mapping.order == Order::Vector),
            ("messages", self.mapping.order == Order::Messages),
            ("time and messages", self.mapping.order == Order::TimeAndMessages),
            ("before", before.is_some()),
            ("after", after.is_some()),
            ("one of several values", conditions().any(|condition| !condition.one_of.is_empty())),
            ("step", self.mapping.has_step),
            ("complete", !self.mapping.complete.is_empty()),
            ("skip", self.mapping.skips),
            ("init", self.mapping.has_init),
            ("actions", has(|meaning| matches!(meaning, Meaning::Actions(_)))),
            ("then", has(|meaning| matches!(meaning, Meaning::Sequences(_)))),
            ("repeat", has(|meaning| matches!(meaning, Meaning::Repeat { has_goal: false, .. }))),
            ("until", has(|meaning| matches!(meaning, Meaning::Repeat { has_goal: true, .. }))),
            ("unlogged", !unlogged.is_empty()),
            ("two kinds of unlogged", unlogged.len() > 1),
            ("unlogged max", unlogged.iter().any(|unlogged| unlogged.max.is_some())),
            ("unlogged before", unlogged.iter().any(|unlogged| !unlogged.before.is_empty())),
            ("unlogged needed", unlogged.iter().any(|unlogged| unlogged.needed)),
            ("unlogged args", unlogged.iter().any(|unlogged| unlogged.who.is_some())),
            ("unlogged step", unlogged.iter().any(|unlogged| unlogged.is_flagged)),
        ];
        self.features.extend(features.iter().filter(|(_, is)| *is).map(|(name, _)| *name));
        self.features.sort_unstable();
        self.features.dedup();
    }
}

/// The value of a condition as a log has it.
fn logged(condition: &Condition, state: &[Plain], who: Option<&Plain>, rng: &mut Rng) -> Option<Json> {
    let nothing = Plain::Bool(false);
    if condition.needs_who && who.is_none() {
        return None;
    }
    let value = (condition.value)(state, who.unwrap_or(&nothing));
    if condition.one_of.is_empty() {
        // A part that the state lacks has some value in the log all the same, now and then.
        return match value {
            Some(value) => Some(value.json()),
            None => rng.bool().then(|| if condition.is_set { json!([]) } else { json!("missing") }),
        };
    }
    let text = value?.text();
    let words = condition.one_of.iter().filter(|(_, values)| values.contains(&text.as_str()));
    let words: Vec<&str> = words.map(|(word, _)| *word).collect();
    rng.choice(words).map(|word| json!(word))
}
