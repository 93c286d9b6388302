//! Footprints of operations: the parts of variables they read and write, and that operations on different parts
//! commute.

mod common;

use common::{machine, program};
use omnilink_tla::machine::{Machine, State};
use omnilink_tla::program::{Key, Operation, Program, Touch};
use omnilink_tla::value::Value;

const SPEC: &str = r"---- MODULE M ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES f, g, q
vars == <<f, g, q>>
Init == f = <<>> /\ g = [k \in 1..2 |-> 0] /\ q = <<>>

With(k, v) == [x \in DOMAIN f \cup {k} |-> IF x = k THEN v ELSE f[x]]

Put(k, v) == f' = With(k, v) /\ UNCHANGED <<g, q>>
Swap(k, v) == k \in DOMAIN f /\ f' = (k :> v) @@ f /\ UNCHANGED <<g, q>>
Drop(k) == k \in DOMAIN f /\ f' = [x \in DOMAIN f \ {k} |-> f[x]] /\ UNCHANGED <<g, q>>
Add(k) == g' = [g EXCEPT ![k] = @ + 1] /\ UNCHANGED <<f, q>>
Move(k) == g' = [g EXCEPT ![k] = g[1]] /\ UNCHANGED <<f, q>>
Look(k, v) == k \in DOMAIN f /\ f[k] = v /\ UNCHANGED vars
Count(n) == n = Cardinality(DOMAIN f) /\ UNCHANGED vars
Next2(k) == g[3 - k] = 0 /\ UNCHANGED vars
Push(v) == q' = Append(q, v) /\ UNCHANGED <<f, g>>
Sum(k) == \E j \in 1..2 : g' = [g EXCEPT ![j] = k] /\ UNCHANGED <<f, q>>
Later(k) == g' = [g EXCEPT ![k] = 1] /\ f' = [f EXCEPT ![k] = g'[k]] /\ UNCHANGED q

Next == \E k \in 1..2, v \in 0..1 :
    Put(k, v) \/ Swap(k, v) \/ Drop(k) \/ Add(k) \/ Move(k) \/ Look(k, v) \/ Count(v) \/ Next2(k) \/ Push(v) \/ Sum(k)
    \/ Later(k)
====";

fn shown(program: &Program, name: &str) -> String {
    let operation = program.operation(name).expect("an operation of `Next`");
    let Some(touches) = program.footprint(&operation) else { return format!("{name}: not known") };
    let touch = |touch: &Touch| {
        let key = match &touch.key {
            None => String::new(),
            Some(Key::Param(param)) => format!("[{}]", operation.params[*param].name),
            Some(Key::Value(value)) => format!("[{}]", value.display(&program.module.strings)),
        };
        let variable = &program.module.variables[touch.variable.0 as usize].name;
        format!("{}{variable}{key}", if touch.writes { "changes " } else { "reads " })
    };
    format!("{name}: {}", touches.iter().map(touch).collect::<Vec<_>>().join(", "))
}

#[test]
fn places_are_found_in_the_text() {
    let program = program(SPEC, "INIT Init\nNEXT Next").expect("a program");
    let names = ["Put", "Swap", "Drop", "Add", "Move", "Look", "Count", "Next2", "Push", "Sum", "Later"];
    let all: Vec<String> = names.iter().map(|name| shown(&program, name)).collect();
    insta::assert_snapshot!(all.join("\n"), @"
    Put: changes f[k]
    Swap: reads f[k], changes f[k]
    Drop: reads f[k], changes f[k]
    Add: changes g[k]
    Move: changes g[k], reads g[1]
    Look: reads f[k]
    Count: reads f
    Next2: reads g
    Push: changes q, reads q
    Sum: changes g
    Later: not known
    ");
}

/// The states after two operations, one after the other.
fn both(machine: &mut Machine<'_>, state: &State, calls: [&(Operation, Vec<Option<Value>>); 2]) -> Option<Vec<State>> {
    let (mut middle, mut end) = (Vec::new(), Vec::new());
    machine.perform(&calls[0].0, &calls[0].1, state, &mut middle).ok()?;
    for state in middle {
        machine.perform(&calls[1].0, &calls[1].1, &state, &mut end).ok()?;
    }
    end.sort();
    end.dedup();
    Some(end)
}

/// Whether neither reads a part that the other writes.
fn is_independent(program: &Program, calls: [&(Operation, Vec<Option<Value>>); 2]) -> bool {
    let place = |(operation, args): &(Operation, Vec<Option<Value>>)| {
        let touches = program.footprint(operation)?;
        let key = |key: &Key| match key {
            Key::Param(param) => args[*param].clone(),
            Key::Value(value) => Some(value.clone()),
        };
        Some(touches.into_iter().map(|t| (t.variable, t.key.as_ref().and_then(key), t.writes)).collect::<Vec<_>>())
    };
    let (Some(a), Some(b)) = (place(calls[0]), place(calls[1])) else { return false };
    a.iter().all(|a| b.iter().all(|b| a.0 != b.0 || !(a.2 || b.2) || (a.1.is_some() && b.1.is_some() && a.1 != b.1)))
}

#[test]
fn operations_on_different_places_commute() {
    let program = program(SPEC, "INIT Init\nNEXT Next").expect("a program");
    let mut machine = machine(&program);
    let mut calls = Vec::new();
    for name in program.operation_names().into_iter().filter(|name| name != "Next") {
        let operation = program.operation(&name).expect("an operation of `Next`");
        for (a, b) in [(1, 0), (1, 1), (2, 0), (2, 1)] {
            let args = [a, b].into_iter().take(operation.params.len()).map(|n| Some(Value::Int(n))).collect();
            calls.push((operation.clone(), args));
        }
    }
    let mut states = Vec::new();
    machine.initial_states(&mut states).expect("initial states");
    for round in 0..2 {
        for at in 0..states.len() {
            machine.successors(&states[at].clone(), &mut states).unwrap_or_else(|error| panic!("{round}: {error}"));
        }
        states.sort();
        states.dedup();
        states.truncate(60);
    }
    let mut apart = 0;
    for (index, a) in calls.iter().enumerate() {
        for b in &calls[index..] {
            if is_independent(&program, [a, b]) {
                apart += 1;
                for state in &states {
                    let (there, back) = (both(&mut machine, state, [a, b]), both(&mut machine, state, [b, a]));
                    assert_eq!(there, back, "{} and {}", a.0.name, b.0.name);
                }
            }
        }
    }
    assert!(apart > 100, "only {apart} pairs are apart");
}
