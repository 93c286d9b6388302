//! `VectorClocks`: the causal order of a log.
//!
//! An event of a node says in its clock how many events of each other node it knows of. `CausalOrder` takes the events
//! of each node in the order of its own count, and then again and again from each node, in turn, the next event if all
//! events that it knows of have been taken.

use std::collections::BTreeMap;

use super::args::{Args, apply1, yes};
use super::{Host, Native, Operand};
use crate::datum::{self, Datum};
use crate::error::{ErrorKind, EvalError, Result};
use crate::value::Value;

pub(super) const NATIVES: &[Native] = &[
    Native::new("VectorClocks", "IsCausalOrder", &[0, 1], is_causal_order),
    Native::new("VectorClocks", "CausalOrder", &[0, 1, 1, 1], causal_order),
];

fn is_causal_order(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("IsCausalOrder", args);
    let log = args.seq(host, 0)?;
    let mut clocks: Vec<Vec<(Value, i64)>> = Vec::new();
    for event in log.elements() {
        let clock = apply1(host, args.operator(1), event)?;
        let later = entries(host, &clock)?;
        for earlier in &clocks {
            host.tick()?;
            // A clock lacks the nodes that it does not know of yet.
            let count = |node: &Value| earlier.iter().find(|(known, _)| known == node).map_or(0, |(_, count)| *count);
            if !later.iter().any(|(node, known)| count(node) < *known) {
                return yes(false);
            }
        }
        clocks.push(later);
    }
    yes(true)
}

/// The entries of a clock.
fn entries(host: &mut dyn Host, clock: &Value) -> Result<Vec<(Value, i64)>> {
    let (Some(domain), Some(values)) = (clock.function_domain(), clock.function_values()) else {
        let shown = datum::display(host, &Datum::Value(clock.clone()));
        return Err(EvalError::new(ErrorKind::WrongKind, format!("a clock must be a function, but it is {shown}")));
    };
    let pairs = domain.elements().iter().zip(values);
    pairs.map(|(node, count)| Ok((node.clone(), number(host, count)?))).collect()
}

fn number(host: &mut dyn Host, count: &Value) -> Result<i64> {
    match count {
        Value::Int(count) => Ok(*count),
        other => {
            let shown = datum::display(host, &Datum::Value(other.clone()));
            Err(EvalError::new(ErrorKind::WrongKind, format!("a clock must have integers, but it has {shown}")))
        }
    }
}

/// An event of a log.
struct Event {
    value: Value,
    /// How many events of its own node there were, with it.
    time: i64,
    /// For each other node, by its place, how many events it knows of.
    known: Vec<(usize, i64)>,
}

fn causal_order(host: &mut dyn Host, args: &[Operand]) -> Result<Datum> {
    let args = Args::new("CausalOrder", args);
    let (clock, node, domain) = (args.operator(1), args.operator(2), args.operator(3));
    let log = args.seq(host, 0)?;
    let mut nodes: BTreeMap<String, usize> = BTreeMap::new();
    let mut read = Vec::with_capacity(log.elements().len());
    for event in log.elements() {
        host.tick()?;
        let clock = apply1(host, clock, event)?;
        let node = apply1(host, node, event)?;
        let hosts = apply1(host, domain, &clock)?;
        let hosts = datum::to_set(host, &Datum::Value(hosts))?;
        let time = count(host, &clock, &node)?;
        let mut known = Vec::new();
        for other in hosts.elements() {
            known.push((shown(host, other), count(host, &clock, other)?));
        }
        nodes.insert(shown(host, &node), 0);
        read.push((shown(host, &node), time, known, event.clone()));
    }
    nodes.values_mut().enumerate().for_each(|(place, number)| *number = place);
    let mut events: Vec<Vec<Event>> = nodes.iter().map(|_| Vec::new()).collect();
    for (node, time, known, value) in read {
        let own = nodes[&node];
        let mut others = Vec::new();
        for (other, count) in known {
            match nodes.get(&other) {
                Some(&place) if place != own => others.push((place, count)),
                Some(_) => {}
                None if count <= 0 => {}
                None => return Err(missing(&other, count)),
            }
        }
        events[own].push(Event { value, time, known: others });
    }
    events.iter_mut().for_each(|list| list.sort_by_key(|event| event.time));
    for list in &events {
        for (place, known) in list.iter().flat_map(|event| &event.known) {
            if *known > events[*place].len() as i64 {
                let name = nodes.iter().find(|(_, number)| *number == place).map_or("", |(name, _)| name);
                return Err(missing(name, *known));
            }
        }
    }
    let mut taken = vec![0; events.len()];
    let mut order = Vec::with_capacity(log.elements().len());
    while order.len() < log.elements().len() {
        let before = order.len();
        for place in 0..events.len() {
            host.tick()?;
            let Some(event) = events[place].get(taken[place]) else { continue };
            if event.known.iter().all(|(other, known)| taken[*other] as i64 >= *known) {
                order.push(event.value.clone());
                taken[place] += 1;
            }
        }
        if order.len() == before {
            return Err(EvalError::new(ErrorKind::OutsideDomain, "the clocks of the log contradict each other"));
        }
    }
    Ok(Value::seq(order).into())
}

fn shown(host: &mut dyn Host, value: &Value) -> String {
    datum::display(host, &Datum::Value(value.clone()))
}

/// The entry of a clock for a node.
fn count(host: &mut dyn Host, clock: &Value, node: &Value) -> Result<i64> {
    let entry = datum::apply(host, &Datum::Value(clock.clone()), &Datum::Value(node.clone()))?;
    let entry = datum::to_value(host, &entry)?;
    number(host, &entry)
}

fn missing(node: &str, count: i64) -> Box<EvalError> {
    let message = format!("a clock knows of event {count} of node {node}, which is not in the log");
    EvalError::new(ErrorKind::OutsideDomain, message).help("`CausalOrder` needs a log without gaps")
}
