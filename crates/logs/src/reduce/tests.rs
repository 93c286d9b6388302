//! Actions that are found independent commute in every state, and actions on different keys and elements are found.

use omnilink_tla::machine::{Machine, State};
use omnilink_tla::program::{Operation, Program, link};
use omnilink_tla::value::Value;

use super::event::operation_uses;
use super::place::Touches;
use super::touch::Reader;

struct Nothing;

impl omnilink_tla::datum::World for Nothing {}

impl omnilink_tla::resolve::Loader for Nothing {
    fn load(&mut self, _module: &str) -> Option<(String, String)> {
        None
    }
}

const SPEC: &str = r#"---- MODULE M ----
EXTENDS Naturals, Sequences, FiniteSets, TLC
VARIABLES net, own, chan, bag, n
vars == <<net, own, chan, bag, n>>
P == 1..2
Init == net = {} /\ own = [p \in P |-> 0] /\ chan = [p \in P |-> [q \in P |-> <<>>]] /\ bag = <<>> /\ n = 0
Message(p, k) == [to |-> p, kind |-> k, at |-> n]
Send(p, k) == net' = net \cup {Message(p, k)} /\ UNCHANGED <<own, chan, bag, n>>
Take(p, k) ==
    /\ \E m \in net : m.to = p /\ m.kind = k /\ own' = [own EXCEPT ![p] = m.at + 1] /\ net' = net \ {m}
    /\ UNCHANGED <<chan, bag, n>>
Answer(p, k) ==
    LET m == [to |-> p, kind |-> 1, at |-> 0]
    IN m \in net /\ net' = (net \ {m}) \cup {[m EXCEPT !.kind = k]} /\ UNCHANGED <<own, chan, bag, n>>
Count(p, k) == Cardinality(net) = k /\ own' = [own EXCEPT ![p] = k] /\ UNCHANGED <<net, chan, bag, n>>
Push(p, k) == chan' = [chan EXCEPT ![p][k] = Append(@, own[p])] /\ UNCHANGED <<net, own, bag, n>>
Pop(p, k) == chan[p][k] # <<>> /\ chan' = [chan EXCEPT ![p][k] = Tail(@)] /\ UNCHANGED <<net, own, bag, n>>
Put(p, k) ==
    /\ bag' = IF <<p, k>> \in DOMAIN bag THEN [bag EXCEPT ![<<p, k>>] = @ + 1] ELSE bag @@ (<<p, k>> :> 1)
    /\ UNCHANGED <<net, own, chan, n>>
Step(p, k) == n < 2 /\ n' = n + 1 /\ UNCHANGED <<net, own, chan, bag>>
All(p, k) == (\A m \in net : m.kind = k => m.to = p) /\ UNCHANGED vars
Clear(p, k) == net' = net \ {m \in net : m.to = p} /\ UNCHANGED <<own, chan, bag, n>>
Set(v, e) == v' = e
Late(p, k) == Set(own, [own EXCEPT ![p] = k]) /\ own'[p] = k /\ UNCHANGED <<net, chan, bag, n>>
Guess(p, k) == own' \in [P -> 0..1] /\ own'[k] = own[p] /\ UNCHANGED <<net, chan, bag, n>>
Next == \E p \in P, k \in P :
    \/ Send(p, k) \/ Take(p, k) \/ Answer(p, k) \/ Count(p, k) \/ Push(p, k) \/ Pop(p, k) \/ Put(p, k) \/ Step(p, k)
    \/ All(p, k) \/ Clear(p, k) \/ Late(p, k) \/ Guess(p, k)
===="#;

type Call = (Operation, Vec<Option<Value>>, Touches);

fn program() -> Program {
    let mut strings = Default::default();
    let config = omnilink_tla::config::parse("INIT Init NEXT Next", &mut strings).expect("no errors");
    let module = omnilink_tla::resolve::resolve("M.tla", SPEC, &mut Nothing, strings);
    let module = module.unwrap_or_else(|errors| panic!("{:?}", errors.errors));
    link(module, &config, Default::default()).unwrap_or_else(|errors| panic!("{:?}", errors.errors))
}

fn calls(program: &Program) -> Vec<Call> {
    let mut calls = Vec::new();
    for name in program.operation_names().into_iter().filter(|name| name != "Next" && name != "Set") {
        let operation = program.operation(&name).expect("an operation of `Next`");
        for args in [(1, 1), (1, 2), (2, 1), (2, 2)] {
            let args = vec![Some(Value::Int(args.0)), Some(Value::Int(args.1))];
            let mut reader = Reader::new(program);
            let is_known = operation_uses(&mut reader, &operation, &args).is_ok();
            calls.push((operation.clone(), args, Touches(is_known.then_some(reader.touches))));
        }
    }
    calls
}

/// The states after two steps, one after the other.
fn both(machine: &mut Machine<'_>, state: &State, calls: [&Call; 2]) -> Option<Vec<State>> {
    let (mut middle, mut end) = (Vec::new(), Vec::new());
    machine.perform(&calls[0].0, &calls[0].1, state, &mut middle).ok()?;
    for state in middle {
        machine.perform(&calls[1].0, &calls[1].1, &state, &mut end).ok()?;
    }
    end.sort();
    end.dedup();
    Some(end)
}

#[test]
fn independent_actions_commute() {
    let program = program();
    let mut machine = Machine::new(&program, Box::new(Nothing));
    let calls = calls(&program);
    let mut states = Vec::new();
    machine.initial_states(&mut states).expect("initial states");
    for _ in 0..2 {
        for at in 0..states.len() {
            machine.successors(&states[at].clone(), &mut states).expect("no errors");
        }
        states.sort();
        states.dedup();
    }
    let states: Vec<State> = states.into_iter().step_by(3).take(250).collect();
    let mut apart = 0;
    for (index, a) in calls.iter().enumerate() {
        for b in calls[index..].iter().filter(|b| !a.2.conflict(&b.2)) {
            apart += 1;
            for state in &states {
                let (there, back) = (both(&mut machine, state, [a, b]), both(&mut machine, state, [b, a]));
                assert_eq!(there, back, "{}{:?} and {}{:?}", a.0.name, a.1, b.0.name, b.1);
            }
        }
    }
    assert!(apart > 600, "only {apart} pairs are independent");
}

#[test]
fn keys_and_elements_are_told_apart() {
    let program = program();
    let calls = calls(&program);
    let find = |name: &str, p: i64, k: i64| {
        let is_it = |call: &&Call| call.0.name == name && call.1 == [Some(Value::Int(p)), Some(Value::Int(k))];
        &calls.iter().find(is_it).expect("a call").2
    };
    let independent = [
        // Additions, elements that differ in a known field, keys at any depth, keys of a bag.
        (("Send", 1, 1), ("Send", 1, 1)),
        (("Send", 1, 1), ("Take", 2, 1)),
        (("Take", 1, 1), ("Take", 2, 2)),
        (("Answer", 1, 2), ("Take", 2, 1)),
        (("Push", 1, 1), ("Pop", 1, 2)),
        (("Put", 1, 2), ("Put", 2, 1)),
        (("Clear", 1, 1), ("Send", 2, 1)),
        (("Clear", 1, 1), ("Clear", 2, 1)),
        (("All", 1, 1), ("Send", 1, 2)),
        (("Late", 1, 1), ("Take", 2, 1)),
    ];
    for ((a, p, k), (b, q, l)) in independent {
        assert!(!find(a, p, k).conflict(find(b, q, l)), "{a}({p}, {k}) and {b}({q}, {l})");
    }
    let dependent = [
        (("Send", 1, 1), ("Take", 1, 1)),
        (("Take", 1, 1), ("Take", 1, 2)),
        (("Send", 1, 1), ("Step", 1, 1)),
        (("Count", 1, 1), ("Send", 2, 2)),
        (("Push", 1, 1), ("Take", 1, 2)),
        (("Push", 1, 1), ("Pop", 1, 1)),
        (("Put", 1, 1), ("Put", 1, 1)),
        (("All", 1, 1), ("Send", 1, 1)),
        (("Late", 1, 1), ("Guess", 2, 2)),
    ];
    for ((a, p, k), (b, q, l)) in dependent {
        assert!(find(a, p, k).conflict(find(b, q, l)), "{a}({p}, {k}) and {b}({q}, {l})");
    }
}
