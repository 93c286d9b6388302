//! What the text of an action tells about it is so: total, overwrites and precludes, in every state that can be reached.

mod common;

use omnilink_history::{Call, History, Value};
use omnilink_search::{Spec, Successors};
use omnilink_settings::Settings;
use omnilink_tla::config;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::link;
use omnilink_tla::resolve::resolve;
use omnilink_tla::strings::Strings;
use omnilink_validate::{Binder, TraceOp, TraceSpec, TraceState};

use common::{Nothing, Silence};

const SPEC: &str = r"---- MODULE Claims ----
EXTENDS Integers, TLC
VARIABLES f, g, r
Init == f = [k \in 1..2 |-> 0] /\ g = <<>> /\ r \in 0..1
Put(k, v) == f' = [f EXCEPT ![k] = v] /\ UNCHANGED <<g, r>>
Inc(k, v) == f' = [f EXCEPT ![k] = (@ + v) % 3] /\ UNCHANGED <<g, r>>
Move(k, v) == f' = [f EXCEPT ![k] = f[v]] /\ UNCHANGED <<g, r>>
Get(k, v) == f[k] = v /\ UNCHANGED <<f, g, r>>
Add(k, v) == g' = (k :> v) @@ g /\ UNCHANGED <<f, r>>
Swap(k, v) == k \in DOMAIN g /\ g' = [g EXCEPT ![k] = v] /\ UNCHANGED <<f, r>>
Drop(k, v) == g' = [x \in DOMAIN g \ {k} |-> g[x]] /\ UNCHANGED <<f, r>>
Has(k, v) == (k \in DOMAIN g) = (v = 1) /\ UNCHANGED <<f, g, r>>
Set(k, v) == v < 2 /\ r' = v /\ UNCHANGED <<f, g>>
Try(k, v) == r = k /\ r' = v /\ UNCHANGED <<f, g>>
Either(k, v) == (r' = v \/ r' = r) /\ UNCHANGED <<f, g>>
Copy(k, v) == r' = f[k] /\ UNCHANGED <<f, g>>
Read(k, v) == r = v /\ UNCHANGED <<f, g, r>>
Both(k, v) == r' = v /\ f' = [f EXCEPT ![k] = v] /\ UNCHANGED g
Next == \E k \in 1..2, v \in 0..2 :
    Put(k, v) \/ Inc(k, v) \/ Move(k, v) \/ Get(k, v) \/ Add(k, v) \/ Swap(k, v) \/ Drop(k, v) \/ Has(k, v) \/ Set(k, v)
    \/ Try(k, v) \/ Either(k, v) \/ Copy(k, v) \/ Read(k, v) \/ Both(k, v)
====";

const ACTIONS: &str = "Put Inc Move Get Add Swap Drop Has Set Try Either Copy Read Both";

/// Binds an operation for each action of the specification and each pair of arguments.
fn with_ops<R>(actions: &str, look: impl FnOnce(&TraceSpec<'_>, &[&TraceOp]) -> R) -> R {
    let mut strings = Strings::default();
    let config = config::parse("INIT Init\nNEXT Next", &mut strings).expect("a configuration");
    let module = resolve("Claims", SPEC, &mut Nothing, strings).expect("a module");
    let program = link(module, &config, Default::default()).expect("a program");
    let mut machine = Machine::new(&program, Box::new(Silence));
    let settings = Settings::parse("").expect("settings");
    let binder = Binder::new(&program, &config, &settings, &mut machine).expect("a binder");
    let mut spec = TraceSpec::new(binder, machine);
    let mut calls = Vec::new();
    for action in actions.split(' ') {
        for (k, v) in (1..3).flat_map(|k| (0..3).map(move |v| (k, v))) {
            let time = calls.len() as u64;
            calls.push((0, time, Some(time), Call::positional(action, [Value::Int(k), Value::Int(v)], [])));
        }
    }
    let history = History::from_calls(calls).expect("a history");
    let bound = history.try_map(|op| spec.bind(op, history.processes())).expect("operations that can be bound");
    let ops: Vec<&TraceOp> = bound.ops().iter().map(|op| &op.call).collect();
    look(&spec, &ops)
}

fn next(spec: &TraceSpec<'_>, state: &TraceState, op: &TraceOp) -> Option<Vec<TraceState>> {
    let mut successors = Successors::default();
    spec.step(state, op, &mut successors).ok()?;
    Some(successors.into_parts().0)
}

/// Checks the claims of all pairs of operations in states that are reached in a few steps, and counts them.
fn claims(actions: &str) -> [usize; 3] {
    with_ops(actions, |spec, ops| {
        let mut states = Vec::new();
        spec.initial(&mut states).expect("initial states");
        let mut at = 0;
        while at < states.len() && states.len() < 400 {
            for op in ops {
                for state in next(spec, &states[at].clone(), op).unwrap_or_default() {
                    if !states.contains(&state) {
                        states.push(state);
                    }
                }
            }
            at += 1;
        }
        let mut claimed = [0; 3];
        for (index, earlier) in ops.iter().enumerate() {
            let is_total = spec.is_total(earlier);
            claimed[0] += usize::from(is_total);
            assert!(
                !is_total || states.iter().all(|state| next(spec, state, earlier).is_some_and(|to| !to.is_empty()))
            );
            for (place, later) in ops.iter().enumerate() {
                let (overwrites, precludes) = (spec.overwrites(later, earlier), spec.precludes(earlier, later));
                claimed[1] += usize::from(overwrites);
                claimed[2] += usize::from(precludes);
                for state in &states {
                    let alone = next(spec, state, later);
                    for between in next(spec, state, earlier).unwrap_or_default() {
                        let behind = next(spec, &between, later);
                        let pair = format!("operation {place} after {index} from {:?}", state.values);
                        assert!(!overwrites || alone == behind, "overwrites: {pair}");
                        assert!(!precludes || behind.as_ref().is_none_or(Vec::is_empty), "precludes: {pair}");
                    }
                }
            }
        }
        claimed
    })
}

#[test]
fn claims_hold_in_every_state() {
    let [total, overwrites, precludes] = claims(ACTIONS);
    assert!(total >= 20 && overwrites >= 500 && precludes >= 50, "{total} {overwrites} {precludes}");
}

#[test]
fn an_update_of_a_function_is_blind_where_its_domain_stays() {
    // `Add` and `Drop` change the domain of `g`, so `Swap` may be an update of a place that is not there.
    let [total, _, precludes] = claims("Put Get");
    assert!(total == 6 && precludes >= 12, "{total} {precludes}");
    let [total, ..] = claims("Swap Add Drop");
    assert_eq!(total, 12);
}
