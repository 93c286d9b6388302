//! Why no behavior explains a log, as data for people and programs.
//!
//! The configurations that explain most of the log are known; none of the events that may be next is possible in any of
//! them. For each such event and each of its alternatives the first thing that is false is looked up: a condition of the
//! mapping, a logged value, a conjunct of the action, a constraint. Then small changes are tried, each by
//! checking the log again: a step inserted, an event left out, a field ignored, a variable that is not complete, two events
//! exchanged.

use omnilink_history::OpId;
use omnilink_report::{
    Assumption, Conjunct, Consequence, Evaluated, Evidence, Field, Guard, Interpretation, Legal, Reason, Rejection,
    Stuck, WhatIf, Why,
};
use omnilink_tla::error::EvalError;
use omnilink_tla::machine::{Choice, Machine, Part, State, Step};
use omnilink_tla::program::Program;
use omnilink_tla::source::Site;
use omnilink_tla::value::Value;
use omnilink_validate::{GuardBuilder, ReportBuilder, Ways, shown_state};

use crate::bind::{Alternative, Bound, BoundCondition, BoundUnlogged, Event, Steps};
use crate::check::Checked;
use crate::problem::Failure;
use crate::search::{Found, Graph, LogOptions, Stats};
use crate::step::{By, Stepper};
use crate::step_names;

/// The maximum number of states that are explained.
const MOST_STATES: usize = 16;

/// The maximum number of events shown of each interpretation.
const MOST_RECENT: usize = 12;

/// The maximum number of configurations of a check under an assumption.
const MOST_TRIED: u64 = 50_000;

/// The maximum number of checks under assumptions.
const MOST_ASSUMPTIONS: usize = 24;

/// The number of an event in reports.
pub fn op_id(event: usize) -> OpId {
    OpId(u32::try_from(event).unwrap_or(u32::MAX))
}

/// Why one alternative of an event is not possible in a state.
enum Obstacle {
    Condition(usize, Value),
    Update(String, String),
    NoChoice(Site),
    Step(Site, Box<Part>),
    Action(Ways),
    Excluded(String, Site),
    Error(Box<EvalError>),
}

/// Explains a rejection: the configurations `stuck` explain most of the log.
pub fn explain(
    checked: &Checked,
    stuck: &[u32],
    bound: &Bound,
    machine: &mut Machine<'_>,
    report_builder: &mut ReportBuilder,
    exceeded: &mut dyn FnMut() -> bool,
) -> Rejection {
    // Updates may return to an initial value.
    let initial = Stepper::initial(machine, bound);
    let mut explainer = Explainer { program: machine.program(), machine, bound, initial, report_builder };
    explainer.rejection(&checked.graph, stuck, exceeded)
}

/// Explains a violated invariant.
pub fn explain_violation(
    checked: &Checked,
    stuck: &[u32],
    invariant: usize,
    state: &State,
    bound: &Bound,
    machine: &mut Machine<'_>,
    report_builder: &mut ReportBuilder,
) -> Rejection {
    let program = machine.program();
    let (name, predicate) = program.invariants[invariant].clone();
    let part = machine.explain_predicate(predicate, state);
    let conjunct = GuardBuilder { program, report_builder }.conjunct(&[&part]);
    let site = program.predicate_site(&name, predicate);
    let broken = omnilink_report::Broken {
        invariant: name.clone(),
        broke: Vec::new(),
        span: report_builder.span(site),
        states: vec![shown_state(program, state)],
        conjuncts: vec![conjunct],
    };
    let most = stuck.first().map_or(0, |node| checked.graph.nodes[*node as usize].placed);
    let mut blocked = Vec::new();
    for &node in stuck {
        for event in checked.graph.blocked(node, bound) {
            let op = report_builder.op(op_id(event));
            if !blocked.contains(&op) {
                blocked.push(op);
            }
        }
    }
    Rejection {
        details: String::new(),
        sentence: format!("every behavior that explains the log breaks an invariant; the first found breaks `{name}`"),
        blocked,
        explained: u64::from(most),
        evidence: Evidence::Invariant(broken),
    }
}

/// The event before which the furthest behavior of an undecided log stands, and why it is not possible there, if it is
/// not.
pub fn standing(checked: &Checked, bound: &Bound, machine: &mut Machine<'_>) -> Option<(usize, Option<String>)> {
    let crate::LogOutcome::Inconclusive(_, Some(node), _) = &checked.outcome else { return None };
    let initial = Stepper::initial(machine, bound);
    let mut report_builder = ReportBuilder::default();
    let program = machine.program();
    let mut explainer = Explainer { program, machine, bound, initial, report_builder: &mut report_builder };
    let events = checked.graph.blocked(*node, bound);
    let state = &checked.graph.nodes[*node as usize].state;
    for &event in &events {
        let mut obstacles = Vec::new();
        for alternative in &bound.events[event].alternatives {
            obstacles
                .push(explainer.disabled(&bound.events[event], alternative, state).map(|found| (alternative, found)));
        }
        // A behavior that was not extended yet may go on.
        let obstacles: Option<Vec<_>> = obstacles.into_iter().collect();
        if let Some((alternative, found)) = obstacles.and_then(|found| found.into_iter().next()) {
            return Some((event, Some(explainer.words(alternative, &found))));
        }
    }
    events.first().map(|event| (*event, None))
}

struct Explainer<'a, 'p> {
    program: &'p Program,
    machine: &'a mut Machine<'p>,
    bound: &'a Bound,
    /// An initial state.
    initial: Option<State>,
    report_builder: &'a mut ReportBuilder,
}

/// A reason against one alternative of an event, with its details in each state.
struct Group {
    event: usize,
    alternative: usize,
    key: Option<Site>,
    members: Vec<(usize, Obstacle)>,
}

impl<'p> Explainer<'_, 'p> {
    fn rejection(&mut self, graph: &Graph, stuck: &[u32], exceeded: &mut dyn FnMut() -> bool) -> Rejection {
        let bound = self.bound;
        let mut states: Vec<State> = Vec::new();
        let mut interpretations = Vec::new();
        let mut blocked: Vec<usize> = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for &node in stuck {
            let at = &graph.nodes[node as usize];
            let events = graph.blocked(node, bound);
            for event in &events {
                if !blocked.contains(event) {
                    blocked.push(*event);
                }
            }
            let place = match states.iter().position(|known| *known == at.state) {
                Some(place) => place,
                None if states.len() < MOST_STATES => {
                    states.push(at.state.clone());
                    states.len() - 1
                }
                None => continue,
            };
            if interpretations.len() < MOST_STATES {
                let recent = self.recent(graph, node);
                interpretations.push(Interpretation { state: place, recent });
            }
            for event in events {
                for (number, alternative) in bound.events[event].alternatives.iter().enumerate() {
                    // A reason that was not found in time is left out.
                    let found = self.disabled(&bound.events[event], alternative, &at.state);
                    let Some(found) = found.filter(|_| !exceeded()) else { continue };
                    let key = key(&found);
                    let same =
                        |group: &&mut Group| group.event == event && group.alternative == number && group.key == key;
                    match groups.iter_mut().find(same) {
                        Some(group) if group.members.iter().any(|(known, _)| *known == place) => {}
                        Some(group) => group.members.push((place, found)),
                        None => groups.push(Group { event, alternative: number, key, members: vec![(place, found)] }),
                    }
                }
            }
        }
        let reasons = groups.into_iter().map(|group| self.reason(group)).collect();
        let explained = stuck.first().map_or(0, |node| graph.nodes[*node as usize].placed);
        let what_ifs = self.what_ifs(&blocked, exceeded);
        let refs = blocked.iter().map(|event| self.report_builder.op(op_id(*event))).collect();
        let (sentence, details) = self.sentence(&blocked, explained, graph.is_reduced);
        let evidence = Evidence::Stuck(Stuck {
            states: states.iter().map(|state| shown_state(self.program, state)).collect(),
            groups: Vec::new(),
            interpretations,
            reasons,
            expected: Vec::new(),
            expects_more: false,
            legal: Legal::Unknown,
            what_ifs,
            window: None,
        });
        Rejection { sentence, details, blocked: refs, explained: u64::from(explained), evidence }
    }

    /// The sentence, and how far behaviors get.
    fn sentence(&self, blocked: &[usize], explained: u32, is_reduced: bool) -> (String, String) {
        let total = self.bound.events.len();
        let name = |event: &usize| {
            let event = &self.bound.events[*event];
            let name = event.name.as_deref().unwrap_or("event");
            match self.bound.events.iter().any(|other| other.file != 0) {
                true => format!("`{name}` ({} line {})", self.bound.processes[event.process], event.line),
                false => format!("`{name}` (line {})", event.line),
            }
        };
        let names: Vec<String> = blocked.iter().take(4).map(name).collect();
        let more = if blocked.len() > 4 { format!(" and {} more", blocked.len() - 4) } else { String::new() };
        let [first, others @ ..] = &names[..] else {
            return ("the specification has no initial state that the log allows".to_owned(), String::new());
        };
        let others = match others.len() {
            0 => String::new(),
            1 => " or the other one that may be next".to_owned(),
            _ => format!(" or the {} others that may be next", blocked.len() - 1),
        };
        let sentence = format!("no behavior gets past {first}{others}");
        let details = match blocked.len() {
            // How many events can be explained at most is not known: a dead end is left before it is reached.
            count if is_reduced => {
                let one_of = if count > 1 { "one of " } else { "" };
                format!(
                    "no behavior explains all {total} events: where {explained} are explained, none allows \
                     {one_of}{}{more}, and none of the others changes that; the states stand for all orders of events \
                     that do not depend on each other",
                    names.join(", ")
                )
            }
            1 => {
                format!("{explained} of {total} events have an explanation, and none of them allows {} next", names[0])
            }
            _ => format!(
                "at most {explained} of {total} events have an explanation, and none of them allows one of {}{more} next",
                names.join(", ")
            ),
        };
        (sentence, details)
    }

    /// The last events of a path.
    fn recent(&mut self, graph: &Graph, node: u32) -> Vec<omnilink_report::Step> {
        let event_of = |node: &u32| match graph.nodes[*node as usize].by {
            By::Event { event, .. } => Some(event as usize),
            By::Initial | By::Unlogged(_) => None,
        };
        let path = graph.path(node);
        let mut recent: Vec<usize> = path.iter().rev().filter_map(event_of).take(MOST_RECENT).collect();
        recent.reverse();
        let step = |event: usize| omnilink_report::Step { op: self.report_builder.op(op_id(event)), partway: false };
        recent.into_iter().map(step).collect()
    }

    /// Why an alternative of an event is not possible in a state; `None` if it is.
    fn disabled(&mut self, event: &Event, alternative: &Alternative, state: &State) -> Option<Obstacle> {
        let error = |failure: Failure| match failure {
            Failure::Evaluation { error, .. } => Obstacle::Error(error),
            other => Obstacle::Error(EvalError::new(omnilink_tla::error::ErrorKind::WrongKind, other.to_string())),
        };
        let mut stepper = Stepper::new(self.machine, self.bound);
        stepper.initial.clone_from(&self.initial);
        let given = match stepper.given(event, state) {
            Ok(given) => given,
            Err((variable, message)) => {
                return Some(Obstacle::Update(
                    self.program.module.variables[variable.0 as usize].name.clone(),
                    message,
                ));
            }
        };
        let choices = match stepper.choices(alternative, state) {
            Ok(choices) => choices,
            Err(failure) => return Some(error(failure)),
        };
        if choices.is_empty() {
            let site = alternative.args.iter().find_map(|(_, arg)| match arg {
                crate::bind::BoundArg::Chosen { set, filter } => {
                    Some(filter.as_ref().map_or(set.expr.site, |filter| filter.expr.site))
                }
                crate::bind::BoundArg::Value(_) => None,
            });
            return Some(Obstacle::NoChoice(site.unwrap_or_default()));
        }
        let mut best: Option<(usize, Obstacle)> = None;
        let mut keep = |reached: usize, found: Obstacle| {
            if best.as_ref().is_none_or(|(known, _)| *known < reached) {
                best = Some((reached, found));
            }
        };
        for chosen in &choices {
            let mut is_held = true;
            for (place, condition) in alternative.before.iter().enumerate() {
                let value = value_of(&mut stepper, condition, state, chosen);
                match value {
                    Ok(value) if condition.expected.contains(&value) => {}
                    Ok(value) => {
                        keep(place, Obstacle::Condition(place, value));
                        is_held = false;
                        break;
                    }
                    Err(failure) => {
                        keep(place, error(failure));
                        is_held = false;
                        break;
                    }
                }
            }
            if !is_held {
                continue;
            }
            let mut reached = Vec::new();
            if let Err(failure) = stepper.steps(event, state, &mut reached) {
                keep(usize::MAX / 4, error(failure));
                continue;
            }
            if !reached.is_empty() {
                return None;
            }
            // The successors without the conditions on them.
            let bare = Alternative { after: Vec::new(), steps: Vec::new(), ..alternative.clone() };
            let bare = Event { alternatives: vec![bare], ..event.clone() };
            if stepper.steps(&bare, state, &mut reached).is_ok() && !reached.is_empty() {
                for next in &reached {
                    keep_after(&mut stepper, alternative, chosen, state, &next.state, &mut keep);
                }
                continue;
            }
            let found = explain_action(&mut stepper, alternative, chosen, state, &given);
            let progress = if let Obstacle::Action(ways) = &found { ways.furthest.reached() } else { 0 };
            keep(1_000 + progress, found);
        }
        best.map(|(_, found)| found)
    }

    /// One reason, with its details in each of its states.
    fn reason(&mut self, group: Group) -> Reason {
        let Group { event, alternative, mut members, .. } = group;
        members.sort_by_key(|(state, _)| *state);
        let states: Vec<usize> = members.iter().map(|(state, _)| *state).collect();
        let op = self.report_builder.op(op_id(event));
        let alternative = self.bound.events[event].alternatives[alternative].clone();
        let mut guards: Vec<Ways> = Vec::new();
        let mut conditions: Vec<(usize, Value)> = Vec::new();
        let mut parts: Vec<Part> = Vec::new();
        let mut why = Why::Dead;
        for (_, found) in members {
            match found {
                Obstacle::Action(ways) => guards.push(ways),
                Obstacle::Condition(place, value) => conditions.push((place, value)),
                Obstacle::Step(_, part) => parts.push(*part),
                Obstacle::Update(variable, message) => {
                    why = Why::Words {
                        text: format!("the change of `{variable}` in the log has no meaning here: {message}"),
                    };
                }
                Obstacle::NoChoice(site) => {
                    let text = self.program.module.sources.words(site);
                    why = Why::Words { text: format!("no element satisfies `{text}`") };
                }
                Obstacle::Excluded(name, site) => why = Why::Excluded { name, span: self.report_builder.span(site) },
                Obstacle::Error(error) => {
                    let span = error.site.map(|site| self.report_builder.span(site));
                    why = Why::Error { message: error.message, span };
                }
            }
        }
        if !guards.is_empty() {
            let mut builder = GuardBuilder { program: self.program, report_builder: self.report_builder };
            why = Why::Guard(builder.guard(&guards));
        } else if !conditions.is_empty() {
            why = Why::Guard(self.condition_guard(&alternative, &conditions));
        } else if !parts.is_empty() {
            let site = parts[0].site;
            let span = self.report_builder.span(site);
            let mut builder = GuardBuilder { program: self.program, report_builder: self.report_builder };
            let conjunct = builder.conjunct(&parts.iter().collect::<Vec<_>>());
            why = Why::Guard(Guard {
                action: self.title(&alternative),
                span,
                ways: 1,
                choices: Vec::new(),
                conjuncts: vec![conjunct],
            });
        }
        if let Why::Guard(guard) = &mut why {
            let mut choices = self.given_args(&alternative);
            guard.choices.retain(|choice| choices.iter().all(|given| given.name != choice.name));
            choices.append(&mut guard.choices);
            guard.choices = choices;
        }
        Reason { op, states, why }
    }

    /// The arguments of an action that the log gives.
    fn given_args(&self, alternative: &Alternative) -> Vec<Field> {
        let strings = &self.program.module.strings;
        let field =
            |name: &str, value: &Value| Field { name: name.to_owned(), value: value.display(strings).to_string() };
        match &alternative.meaning {
            Steps::Action(action, args) => {
                let params = self.bound.actions[*action].params.iter().zip(args);
                params.filter_map(|(param, arg)| Some(field(&param.name, arg.as_ref()?))).collect()
            }
            _ => {
                let given = alternative.args.iter().filter_map(|(name, arg)| match arg {
                    crate::bind::BoundArg::Value(value) => Some(field(name, value)),
                    crate::bind::BoundArg::Chosen { .. } => None,
                });
                given.collect()
            }
        }
    }

    /// Why an alternative is not possible, in a few words.
    fn words(&self, alternative: &Alternative, found: &Obstacle) -> String {
        let sources = &self.program.module.sources;
        let words = |site: Site| sources.words(site).split_whitespace().collect::<Vec<_>>().join(" ");
        match found {
            Obstacle::Condition(place, value) => {
                let condition = alternative.before.iter().chain(&alternative.after).nth(*place);
                let text = condition.map_or(String::new(), |condition| words(condition.left.expr.site));
                format!("`{text}` is {}", value.display(&self.program.module.strings))
            }
            Obstacle::Update(variable, message) => format!("`{variable}`: {message}"),
            Obstacle::Error(error) => error.message.clone(),
            Obstacle::NoChoice(site) | Obstacle::Step(site, _) | Obstacle::Excluded(_, site) => {
                format!("`{}` is not true", words(*site))
            }
            Obstacle::Action(ways) => match key(found) {
                Some(site) => format!("`{}` is not true", words(site)),
                None => format!("no step of `{}` is possible", ways.action),
            },
        }
    }

    /// The name of an alternative.
    fn title(&self, alternative: &Alternative) -> String {
        let name = |action: &usize| self.bound.actions[*action].name.clone();
        match &alternative.meaning {
            Steps::Skip => "no step".to_owned(),
            Steps::Any => "any step".to_owned(),
            Steps::Action(action, _) | Steps::Repeat(action) => name(action),
            Steps::Sequence(actions) => actions.iter().map(name).collect::<Vec<_>>().join(", then "),
        }
    }

    /// The conditions of the mapping up to the one that is false.
    fn condition_guard(&mut self, alternative: &Alternative, found: &[(usize, Value)]) -> Guard {
        let place = found[0].0;
        let condition = alternative.before.iter().chain(&alternative.after).nth(place).cloned();
        let Some(condition) = condition else { unreachable!("the condition was evaluated") };
        let strings = &self.program.module.strings;
        let [left, right] = condition.texts(&self.program.module.sources);
        let expected: Vec<String> = condition.expected.iter().map(|value| value.display(strings).to_string()).collect();
        let expected = expected.join(" or ");
        let shown = found.iter().map(|(_, value)| Some(value.display(strings).to_string())).collect();
        let mut values = vec![Evaluated { text: left.clone(), values: shown }];
        if right != expected {
            values.push(Evaluated { text: right.clone(), values: vec![Some(expected); found.len()] });
        }
        let when = if place < alternative.before.len() { Guard::BEFORE } else { Guard::AFTER };
        let span = self.report_builder.span(condition.left.expr.site);
        let conjunct = Conjunct {
            span,
            text: format!("{left} = {right}"),
            outcomes: vec![omnilink_report::Outcome::False; found.len()],
            values,
        };
        let action = format!("{}{when}", self.title(alternative));
        Guard { action, span, ways: 1, choices: Vec::<Field>::new(), conjuncts: vec![conjunct] }
    }

    /// Small changes after which the log is accepted.
    fn what_ifs(&mut self, blocked: &[usize], exceeded: &mut dyn FnMut() -> bool) -> Vec<WhatIf> {
        let mut found = Vec::new();
        let mut tried = 0;
        for &event in blocked.iter().take(4) {
            for change in self.changes(event) {
                if tried >= MOST_ASSUMPTIONS || exceeded() {
                    return found;
                }
                tried += 1;
                if let Some(detail) = self.accepts(&change, event, exceeded) {
                    found.push(WhatIf {
                        assumption: self.assumption(&change, event, detail),
                        outcome: Consequence::Accepted,
                    });
                }
            }
        }
        found
    }

    /// The changes to try for an event.
    fn changes(&self, event: usize) -> Vec<Change> {
        let mut changes = vec![Change::Dropped, Change::Inserted];
        let bound = self.bound;
        changes.extend(bound.complete.iter().map(|(variable, _)| Change::Relaxed(*variable)));
        let updates = 0..bound.events[event].updates.len();
        changes.extend(updates.map(Change::WithoutUpdate));
        for (alternative, of) in bound.events[event].alternatives.iter().enumerate() {
            let conditions = of.before.len() + of.after.len();
            changes.extend((0..conditions).map(|condition| Change::WithoutCondition(alternative, condition)));
        }
        let (chain, index) = bound.order.places[event];
        if bound.order.chains.len() == 1 {
            changes.extend(bound.order.chains[chain].get(index + 1).map(|other| Change::Exchanged(*other)));
        }
        changes
    }

    /// Whether a changed log is accepted; a detail for people.
    fn accepts(&mut self, change: &Change, event: usize, exceeded: &mut dyn FnMut() -> bool) -> Option<String> {
        let mut bound = self.bound.clone();
        let mut relaxed = None;
        match change {
            Change::Dropped => {
                let dropped = &mut bound.events[event];
                dropped.alternatives = vec![Alternative::skip()];
                dropped.updates.clear();
                dropped.kept.clear();
            }
            Change::Inserted => {
                let names = step_names(self.program);
                let operations = names.iter().filter_map(|name| self.program.operation(name));
                let first = bound.actions.len();
                bound.actions.extend(operations);
                bound.unlogged.push(BoundUnlogged {
                    actions: (first..bound.actions.len()).collect(),
                    before: omnilink_settings::log::Names::default(),
                    args: Vec::new(),
                    step: None,
                    max: 1,
                    needed: true,
                    only: Some(event),
                });
            }
            Change::Relaxed(variable) => relaxed = Some(*variable),
            Change::WithoutUpdate(place) => {
                let (variable, _) = bound.events[event].updates.remove(*place);
                bound.events[event].kept.retain(|kept| *kept != variable);
            }
            Change::WithoutCondition(alternative, place) => {
                let of = &mut bound.events[event].alternatives[*alternative];
                match place.checked_sub(of.before.len()) {
                    None => drop(of.before.remove(*place)),
                    Some(place) => drop(of.after.remove(place)),
                }
            }
            Change::Exchanged(other) => bound.order.exchange(event, *other),
        }
        let mut stepper = Stepper::new(self.machine, &bound);
        stepper.relaxed = relaxed;
        let mut graph = Graph::default();
        let mut poll =
            |stats: &Stats| (stats.generated > MOST_TRIED || exceeded()).then_some(omnilink_history::Stop::Time);
        let Ok(Found::Accepted(last)) = graph.search_once(&mut stepper, LogOptions::default(), &mut poll) else {
            return None;
        };
        let path = graph.path(last);
        let strings = &self.program.module.strings;
        match change {
            Change::Inserted => {
                let is_unlogged = |node: &u32| matches!(graph.nodes[*node as usize].by, By::Unlogged(_));
                let at = path.iter().position(is_unlogged)?;
                let [before, node] = [at.checked_sub(1)?, at].map(|at| &graph.nodes[path[at] as usize]);
                let By::Unlogged(action) = node.by else { return None };
                let name = bound.actions[action as usize].name.clone();
                Some(self.with_args(name, &before.state, &node.state))
            }
            Change::WithoutUpdate(place) => {
                let variable = self.bound.events[event].updates[*place].0.0 as usize;
                let after = path.iter().find(|node| {
                    matches!(graph.nodes[**node as usize].by, By::Event { event: at, .. } if at as usize == event)
                })?;
                let value = &graph.nodes[*after as usize].state[variable];
                Some(format!("{} = {}", self.program.module.variables[variable].name, value.display(strings)))
            }
            _ => Some(String::new()),
        }
    }

    /// The name of a step with its arguments: `TMRcvPrepared("rm-3")`. The name alone if these cannot be computed.
    fn with_args(&mut self, name: String, from: &State, to: &State) -> String {
        let steps = self.machine.labelled_successors(from).unwrap_or_default();
        let Some((label, _)) = steps.into_iter().find(|(label, state)| label.name == name && state == to) else {
            return name;
        };
        let strings = &self.program.module.strings;
        let args: Vec<String> = label.args.iter().map(|(_, value)| value.display(strings).to_string()).collect();
        if args.is_empty() { name } else { format!("{name}({})", args.join(", ")) }
    }

    fn assumption(&mut self, change: &Change, event: usize, detail: String) -> Assumption {
        let sources = &self.program.module.sources;
        let op = self.report_builder.op(op_id(event));
        match change {
            Change::Dropped => Assumption::EventDropped { event: op },
            Change::Inserted => Assumption::StepInserted { action: detail, before: op },
            Change::Relaxed(variable) => {
                Assumption::NotComplete { variable: self.program.module.variables[variable.0 as usize].name.clone() }
            }
            Change::WithoutUpdate(_) => Assumption::OtherField { event: op, field: detail },
            Change::WithoutCondition(alternative, place) => {
                let of = &self.bound.events[event].alternatives[*alternative];
                let condition = of.before.iter().chain(&of.after).nth(*place);
                let text = condition.map_or(String::new(), |condition| condition.texts(sources).join(" = "));
                Assumption::FieldIgnored { event: op, field: text }
            }
            Change::Exchanged(other) => {
                Assumption::Exchanged { first: op, second: self.report_builder.op(op_id(*other)) }
            }
        }
    }
}

/// A small change of a log.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// The event is left out.
    Dropped,
    /// One unlogged step before the event.
    Inserted,
    /// A variable is not complete.
    Relaxed(omnilink_tla::ir::VarId),
    /// A change of a variable is ignored.
    WithoutUpdate(usize),
    /// A condition of an alternative is ignored.
    WithoutCondition(usize, usize),
    /// The next event comes first.
    Exchanged(usize),
}

fn key(found: &Obstacle) -> Option<Site> {
    match found {
        Obstacle::Action(ways) => {
            let is_false = |part: &&Part| {
                matches!(
                    part.outcome,
                    omnilink_tla::machine::PartOutcome::Truth(false) | omnilink_tla::machine::PartOutcome::Error(_)
                )
            };
            ways.furthest.conjuncts.iter().find(is_false).map(|part| part.site)
        }
        Obstacle::NoChoice(site) | Obstacle::Step(site, _) | Obstacle::Excluded(_, site) => Some(*site),
        Obstacle::Condition(place, _) => {
            let start = u32::try_from(*place).unwrap_or_default();
            Some(Site { span: omnilink_tla_syntax::Span { start, end: start }, ..Site::default() })
        }
        Obstacle::Error(error) => error.site,
        Obstacle::Update(..) => None,
    }
}

fn value_of(
    stepper: &mut Stepper<'_, '_>,
    condition: &BoundCondition,
    state: &State,
    chosen: &[(String, Value)],
) -> Result<Value, Failure> {
    let args = condition.left.values(chosen);
    Ok(stepper.machine.apply_operator(condition.left.expr.def, &args, omnilink_tla::machine::At::State(state))?)
}

/// Finds the condition on a step or on the state after it that is false.
fn keep_after(
    stepper: &mut Stepper<'_, '_>,
    alternative: &Alternative,
    chosen: &[(String, Value)],
    state: &State,
    next: &State,
    keep: &mut dyn FnMut(usize, Obstacle),
) {
    const AFTER: usize = 1_000_000;
    let before = alternative.before.len();
    for (place, condition) in alternative.after.iter().enumerate() {
        match value_of(stepper, condition, next, chosen) {
            Ok(value) if condition.expected.contains(&value) => {}
            Ok(value) => return keep(AFTER + place, Obstacle::Condition(before + place, value)),
            Err(Failure::Evaluation { error, .. }) => return keep(AFTER + place, Obstacle::Error(error)),
            Err(_) => return,
        }
    }
    let at = omnilink_tla::machine::At::Step(state, next);
    for step in &alternative.steps {
        let args = step.values(chosen);
        if !matches!(stepper.is_true(step.expr.def, &args, at), Ok(true)) {
            let part = stepper.machine.explain_operator(step.expr.def, &args, at);
            return keep(AFTER + alternative.after.len(), Obstacle::Step(step.expr.site, Box::new(part)));
        }
    }
    if let Ok(Some((name, predicate))) = stepper.machine.exclusion(Some(state), next, stepper.enforces_invariants) {
        let site = stepper.program.module.exprs.site(*predicate);
        keep(AFTER * 2, Obstacle::Excluded(name.clone(), site));
    }
}

/// Why the action of an alternative is not possible.
fn explain_action(
    stepper: &mut Stepper<'_, '_>,
    alternative: &Alternative,
    chosen: &[(String, Value)],
    state: &State,
    given: &[(omnilink_tla::ir::VarId, Value)],
) -> Obstacle {
    let bound = stepper.bound;
    let program = stepper.program;
    let of_action = |stepper: &mut Stepper<'_, '_>, action: usize, args: &crate::bind::Args, given: &[_]| {
        let operation = &bound.actions[action];
        let explanation = stepper.machine.explain_towards(Step::Of(operation, args), state, given);
        let site = program.definition(operation.def).site;
        explanation.furthest().map(|furthest| {
            let mut furthest = furthest.clone();
            // The arguments that the log has are no choices of the specification, but the reader needs them as well.
            let params = operation.params.iter().map(|param| param.name.clone());
            let values = params.zip(args).filter_map(|(name, value)| Some((name, value.clone()?))).collect();
            furthest.choices.insert(0, Choice::Binding { site, values });
            let count = explanation.attempts.len();
            Obstacle::Action(Ways { action: operation.name.clone(), site, count, furthest })
        })
    };
    let found = match &alternative.meaning {
        Steps::Skip => {
            let changed = given.iter().find(|(variable, value)| state[variable.0 as usize] != *value);
            changed.map(|(variable, value)| {
                let name = program.module.variables[variable.0 as usize].name.clone();
                let shown = value.display(&program.module.strings).to_string();
                Obstacle::Update(name, format!("the event is not a step, and the log gives the value {shown}"))
            })
        }
        Steps::Any => {
            let explanation = stepper.machine.explain_towards(Step::Any, state, given);
            explanation.furthest().map(|furthest| {
                Obstacle::Action(Ways {
                    action: "Next".to_owned(),
                    site: program.next.map(|next| program.module.exprs.site(next)).unwrap_or_default(),
                    count: explanation.attempts.len(),
                    furthest: furthest.clone(),
                })
            })
        }
        Steps::Action(action, args) => {
            let args = stepper.with_chosen(*action, args, chosen);
            of_action(stepper, *action, &args, given)
        }
        Steps::Repeat(action) => {
            let args = stepper.named(*action, &alternative.args, chosen);
            of_action(stepper, *action, &args, &[])
        }
        Steps::Sequence(actions) => {
            let first = actions.first().copied().unwrap_or_default();
            let args = stepper.named(first, &alternative.args, chosen);
            of_action(stepper, first, &args, &[])
        }
    };
    found.unwrap_or_else(|| {
        Obstacle::Error(EvalError::new(omnilink_tla::error::ErrorKind::NoChoice, "no step is possible"))
    })
}
