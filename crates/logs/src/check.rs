//! The verdict on a log.
//!
//! If the specification has invariants, only behaviors that satisfy them explain a log. The first search ignores them,
//! because hardly any behavior violates one; only if the behavior that it finds does, a second search covers all others.

use omnilink_history::Stop;
use omnilink_tla::config::Config;
use omnilink_tla::ir::DefId;
use omnilink_tla::machine::{At, Machine, State};
use omnilink_tla::value::Value;
use omnilink_validate::Problem;

use crate::Prepared;
use crate::bind::{Bound, Steps};
use crate::problem::Failure;
use crate::search::{Found, Graph, LogOptions, Node, Stats};
use crate::step::{By, Stepper};
use crate::symmetry::Symmetry;

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The verdict.
    pub outcome: LogOutcome,
    /// Counts of work.
    pub stats: Stats,
    pub(crate) graph: Graph,
}

/// The verdicts.
#[derive(Debug)]
pub enum LogOutcome {
    /// A behavior explains the log.
    Accepted(Vec<Taken>),
    /// No behavior explains the log: the configurations that explain most of it.
    Rejected(Vec<u32>),
    /// Behaviors explain the log, and each violates an invariant: the configurations that explain most without a violation,
    /// the invariant, and the state that violates it.
    Violated(Vec<u32>, usize, State),
    /// Stopped before there was a verdict, or events are missing: the reason, the furthest configuration, and the number
    /// of configurations that explain as much.
    Inconclusive(Stop, Option<u32>, usize),
}

/// A step of a behavior.
#[derive(Debug, Clone)]
pub struct Taken {
    /// The event; `None` for an initial state or an unlogged step.
    pub event: Option<usize>,
    /// The action, if it is known by name.
    pub action: Option<String>,
    /// The state after it.
    pub state: State,
}

/// Checks a log.
pub fn check(
    prepared: &Prepared,
    bound: &Bound,
    machine: &mut Machine<'_>,
    config: &Config,
    options: LogOptions,
    poll: &mut dyn FnMut(&Stats) -> Option<Stop>,
) -> Result<Checked, Failure> {
    let (symmetry, without_strings) = match options.exhaustive {
        true => (None, None),
        false => {
            let reads_text = machine.has_read_text();
            (symmetry(prepared, bound, machine, config, reads_text), symmetry(prepared, bound, machine, config, true))
        }
    };
    // A lost event may depend on any other event.
    let options = LogOptions { all_orders: options.all_orders || !bound.lost.is_empty(), ..options };
    let mut stepper = Stepper::new(machine, bound);
    stepper.symmetry = symmetry.as_ref();
    let (found, graph) = search(&mut stepper, without_strings.as_ref(), options, poll)?;
    let last = match found {
        Found::Accepted(last) => last,
        Found::Stuck(stuck) => {
            let outcome = unless_lost(bound, &graph).unwrap_or(LogOutcome::Rejected(stuck));
            return Ok(Checked { outcome, stats: graph.stats, graph });
        }
        Found::Stopped(stop) => return Ok(stopped(stop, graph)),
    };
    confirm(&graph, last, &mut stepper)?;
    let Some((invariant, state)) = violated(&graph, last, &mut stepper)? else {
        return Ok(Checked { outcome: LogOutcome::Accepted(taken(&graph, last, bound)), stats: graph.stats, graph });
    };
    // Another behavior may satisfy all of them.
    stepper.enforces_invariants = true;
    let first = graph.stats;
    let (found, mut graph) = search(&mut stepper, without_strings.as_ref(), options, poll)?;
    graph.stats.generated += first.generated;
    graph.stats.distinct += first.distinct;
    Ok(match found {
        Found::Accepted(last) => {
            confirm(&graph, last, &mut stepper)?;
            Checked { outcome: LogOutcome::Accepted(taken(&graph, last, bound)), stats: graph.stats, graph }
        }
        Found::Stuck(stuck) => {
            let outcome = unless_lost(bound, &graph).unwrap_or(LogOutcome::Violated(stuck, invariant, state));
            Checked { outcome, stats: graph.stats, graph }
        }
        Found::Stopped(stop) => stopped(stop, graph),
    })
}

/// Searches. If the log is rejected and the specification took strings apart, strings are not interchangeable: then it
/// searches again without that assumption.
fn search<'a>(
    stepper: &mut Stepper<'a, '_>,
    without_strings: Option<&'a Symmetry>,
    options: LogOptions,
    poll: &mut dyn FnMut(&Stats) -> Option<Stop>,
) -> Result<(Found, Graph), Failure> {
    let mut graph = Graph::default();
    let found = graph.search(stepper, options, poll)?;
    let has_strings = stepper.symmetry.is_some_and(|symmetry| symmetry.has_strings);
    if !matches!(found, Found::Stuck(_)) || !has_strings || !stepper.machine.has_read_text() {
        return Ok((found, graph));
    }
    stepper.symmetry = without_strings;
    let first = graph.stats;
    let mut graph = Graph::default();
    let found = graph.search(stepper, options, poll)?;
    graph.stats.generated += first.generated;
    graph.stats.distinct += first.distinct;
    Ok((found, graph))
}

fn stopped(stop: Stop, graph: Graph) -> Checked {
    let nodes = graph.nodes.iter().enumerate();
    let furthest = nodes.max_by_key(|(_, node)| node.placed).map(|(place, _)| u32::try_from(place).unwrap_or(u32::MAX));
    let outcome = LogOutcome::Inconclusive(stop, furthest, graph.at_the_end());
    Checked { outcome, stats: graph.stats, graph }
}

/// The outcome if events are lost that may have explained a log: the furthest configuration that they may follow.
fn unless_lost(bound: &Bound, graph: &Graph) -> Option<LogOutcome> {
    let may_follow = |node: &&Node| bound.lost.iter().any(|lost| lost.may_follow(&node.position));
    let most = graph.nodes.iter().filter(may_follow).map(|node| node.placed).max()?;
    let furthest = |node: &Node| node.placed == most && may_follow(&node);
    let place = graph.nodes.iter().position(furthest).and_then(|place| u32::try_from(place).ok());
    let count = graph.nodes.iter().filter(|node| furthest(node)).count();
    Some(LogOutcome::Inconclusive(Stop::Incomplete, place, count))
}

/// The reason why events that may have explained a log count as lost.
pub fn lost<'b>(checked: &Checked, bound: &'b Bound) -> Option<&'b str> {
    let LogOutcome::Inconclusive(Stop::Incomplete, Some(node), _) = &checked.outcome else { return None };
    let position = &checked.graph.nodes[*node as usize].position;
    bound.lost.iter().find(|lost| lost.may_follow(position)).map(|lost| lost.words.as_str())
}

/// Takes every step of a behavior again, without reductions. It fails if the specification does not give the same answer
/// twice, or if the search has a defect.
fn confirm(graph: &Graph, last: u32, stepper: &mut Stepper<'_, '_>) -> Result<(), Failure> {
    let symmetry = stepper.symmetry.take();
    let path = graph.path(last);
    let mut is_confirmed = true;
    for pair in path.windows(2) {
        let (from, to) = (&graph.nodes[pair[0] as usize], &graph.nodes[pair[1] as usize]);
        is_confirmed = is_confirmed && stepper.leads(&from.position, &from.state, &to.by, &to.state)?;
    }
    stepper.symmetry = symmetry;
    match is_confirmed {
        true => Ok(()),
        false => Err(Problem::new("the behavior found was not confirmed when its steps were taken again")
            .help("does the specification use `RandomElement`?".to_owned())
            .into()),
    }
}

/// The interchangeable values of the log.
fn symmetry(
    prepared: &Prepared,
    bound: &Bound,
    machine: &mut Machine<'_>,
    config: &Config,
    reads_text: bool,
) -> Option<Symmetry> {
    let program = machine.program();
    let mut constants: Vec<(DefId, Value)> = Vec::new();
    for assignment in &config.constants {
        let def = *program.module.names.get(&assignment.name.text)?;
        constants.push((def, machine.apply_operator(def, &[], At::Nowhere).ok()?));
    }
    let mapping = &prepared.mapping;
    let mut told: Vec<Value> = vec![bound.reset.clone()];
    for (_, expr) in &mapping.values {
        told.push(machine.apply_operator(expr.def, &[], At::Nowhere).ok()?);
    }
    let mut updates = bound.events.iter().flat_map(|event| &event.updates).flat_map(|(_, updates)| updates);
    if updates.any(|update| update.op.is_initial()) {
        // Events return to the values of this state, and do not mention them.
        told.extend(Stepper::initial(machine, bound)?.iter().cloned());
    }
    Symmetry::find(program, &constants, bound, &mapping.operators(), &told, reads_text)
}

/// The first state of a behavior that violates an invariant, and the invariant.
fn violated(graph: &Graph, last: u32, stepper: &mut Stepper<'_, '_>) -> Result<Option<(usize, State)>, Failure> {
    if stepper.program.invariants.is_empty() {
        return Ok(None);
    }
    for node in graph.path(last) {
        let node = &graph.nodes[node as usize];
        let through = if let By::Event { through, .. } = &node.by { &through[..] } else { &[] };
        for state in through.iter().chain([&node.state]) {
            if let Some(invariant) = stepper.machine.broken_invariant(state)? {
                return Ok(Some((invariant, state.clone())));
            }
        }
    }
    Ok(None)
}

/// The steps of a behavior that explains the log, or as much of it as any does.
pub fn longest(checked: &Checked, bound: &Bound) -> Vec<Taken> {
    let last = match &checked.outcome {
        LogOutcome::Accepted(steps) => return steps.clone(),
        LogOutcome::Rejected(stuck) | LogOutcome::Violated(stuck, ..) => stuck.first().copied(),
        LogOutcome::Inconclusive(_, furthest, _) => *furthest,
    };
    last.map(|last| taken(&checked.graph, last, bound)).unwrap_or_default()
}

/// An event that follows the furthest configuration.
pub fn furthest(checked: &Checked, bound: &Bound) -> Option<usize> {
    let LogOutcome::Inconclusive(_, Some(node), _) = &checked.outcome else { return None };
    bound.order.next(&checked.graph.nodes[*node as usize].position).next()
}

/// The unlogged steps of a behavior, each action with the number of its steps.
pub fn unlogged(steps: &[Taken]) -> Vec<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for step in steps.iter().filter(|step| step.event.is_none()) {
        let Some(action) = &step.action else { continue };
        match counts.iter_mut().find(|(known, _)| known == action) {
            Some((_, count)) => *count += 1,
            None => counts.push((action, 1)),
        }
    }
    counts.into_iter().map(|(action, count)| format!("{action} {count} times")).collect()
}

/// The steps of a behavior.
fn taken(graph: &Graph, last: u32, bound: &Bound) -> Vec<Taken> {
    let mut taken = Vec::new();
    for node in graph.path(last) {
        let node = &graph.nodes[node as usize];
        let name = |action: usize| Some(bound.actions[action].name.clone());
        let (event, action) = match &node.by {
            By::Initial => (None, None),
            By::Unlogged(action) => (None, name(*action as usize)),
            By::Event { event, alternative, through } => {
                for state in through {
                    taken.push(Taken { event: None, action: None, state: state.clone() });
                }
                let event = *event as usize;
                let action = match &bound.events[event].alternatives[*alternative as usize].meaning {
                    Steps::Skip | Steps::Any => None,
                    Steps::Action(action, _) | Steps::Repeat(action) => name(*action),
                    Steps::Sequence(actions) => actions.last().and_then(|action| name(*action)),
                };
                (Some(event), action)
            }
        };
        taken.push(Taken { event, action, state: node.state.clone() });
    }
    taken
}
