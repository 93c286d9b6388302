//! One operation of a next-state relation: the ways that lead to it, its effect with known arguments, and whether it
//! can change anything.

mod common;

use std::path::{Path, PathBuf};

use common::{machine, program};
use omnilink_tla::config;
use omnilink_tla::machine::{Machine, State};
use omnilink_tla::program::{LinkOptions, Operation, Program, link};
use omnilink_tla::resolve::{Loader, resolve};
use omnilink_tla::strings::Strings;
use omnilink_tla::value::Value;

fn linked(definitions: &str) -> Program {
    let text = format!("---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets, TLC\n{definitions}\n====\n");
    program(&text, "INIT Init\nNEXT Next").expect("the module can be linked")
}

/// The arguments in `Op(1, TRUE, _)`, integers and booleans, and the operation.
fn call(program: &Program, call: &str) -> (Operation, Vec<Option<Value>>) {
    let (name, args) = call.trim_end_matches(')').split_once('(').unwrap_or((call, ""));
    let operation = program.operation(name).unwrap_or_else(|| panic!("`Next` has no `{name}`"));
    let value = |word: &str| match word {
        "_" => None,
        "TRUE" | "FALSE" => Some(Value::Bool(word == "TRUE")),
        number => Some(Value::Int(number.parse().expect("an integer"))),
    };
    let args = args.split(',').map(str::trim).filter(|word| !word.is_empty()).map(value).collect();
    (operation, args)
}

fn first_state(machine: &mut Machine<'_>) -> State {
    let mut states = Vec::new();
    machine.initial_states(&mut states).expect("Init can be evaluated");
    states.swap_remove(0)
}

/// The states that an operation leads to from the first initial state.
fn check(definitions: &str, calls: &[&str]) -> String {
    let program = linked(definitions);
    let mut machine = machine(&program);
    let state = first_state(&mut machine);
    let mut text = String::new();
    for words in calls {
        let (operation, args) = call(&program, words);
        let line = match machine.admits(&operation, &args) {
            Err(error) => format!("error: {error}"),
            Ok(Err(index)) => format!("refused: {}", operation.params[index].name),
            Ok(Ok(())) => {
                let mut states = Vec::new();
                match machine.perform(&operation, &args, &state, &mut states) {
                    Err(error) => format!("error: {error}"),
                    Ok(()) if states.is_empty() => "nowhere".to_owned(),
                    Ok(()) => states.iter().map(|state| shown(&program, state)).collect::<Vec<_>>().join(" | "),
                }
            }
        };
        text += &format!("{words}: {line}\n");
    }
    text
}

fn shown(program: &Program, state: &State) -> String {
    let variables = program.module.variables.iter().zip(state.iter());
    let shown =
        variables.map(|(variable, value)| format!("{}={}", variable.name, value.display(&program.module.strings)));
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn parameters_and_their_sets() {
    let program = linked(
        r"
VARIABLE x
Add(n, m) == x' = x + n + m
Twice(k) == Add(k, k)
Inner == \E n \in 1..3 : Add(n, 10)
Init == x = 0
Next == Inner \/ \E k \in {1, 2} : Twice(k)",
    );
    let params = |name: &str| {
        let operation = program.operation(name).unwrap();
        let params =
            operation.params.iter().map(|param| format!("{} {:?}", param.name, param.set.as_ref().map(|s| &s.0)));
        params.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(program.operation_names(), ["Next", "Inner", "Add", "Twice"]);
    assert_eq!(params("Add"), r#"n Some("1..3"), m None"#);
    assert_eq!(params("Twice"), r#"k Some("{1, 2}")"#);
    assert!(program.operation("Init").is_none());
}

#[test]
fn every_way_is_tried_in_order() {
    insta::assert_snapshot!(check(r"
VARIABLE x
Add(n, m) == x' = x + n + m
Twice(k) == Add(k, k)
Inner == \E n \in 1..3 : Add(n, 10)
Init == x = 0
Next == Inner \/ \E k \in {1, 2} : Twice(k)",
        &["Add(3, 10)", "Add(_, 10)", "Add(_, _)", "Add(2, _)", "Add(1, 2)", "Add(3, 3)", "Add(4, 10)", "Twice(2)", "Inner", "Next"]),
        @"
    Add(3, 10): x=13
    Add(_, 10): x=11 | x=12 | x=13
    Add(_, _): x=11 | x=12 | x=13 | x=2 | x=4
    Add(2, _): x=12 | x=4
    Add(1, 2): refused: m
    Add(3, 3): refused: m
    Add(4, 10): refused: n
    Twice(2): x=4
    Inner: x=11 | x=12 | x=13
    Next: x=11 | x=12 | x=13 | x=2 | x=4
    ");
}

#[test]
fn bounds_on_a_state_and_arguments_that_are_expressions() {
    insta::assert_snapshot!(check(r"
VARIABLES msgs, got
Receive(m) == /\ msgs # {} /\ got' = m /\ msgs' = msgs \ {m}
Take(m) == /\ got # <<>> /\ got' = Tail(got) /\ UNCHANGED msgs
Init == msgs = {1, 5} /\ got = <<>>
Next == \/ \E m \in msgs : Receive(m)
        \/ Take(Head(got))
        \/ LET big == {m \in msgs : m > 3} IN \E m \in big : Receive(m)",
        &["Receive(1)", "Receive(5)", "Receive(2)", "Receive(TRUE)", "Receive(_)", "Take(1)", "Take(_)"]),
        @"
    Receive(1): msgs={5} got=1
    Receive(5): msgs={1} got=5 | msgs={1} got=5
    Receive(2): nowhere
    Receive(TRUE): nowhere
    Receive(_): msgs={5} got=1 | msgs={1} got=5 | msgs={1} got=5
    Take(1): nowhere
    Take(_): nowhere
    ");
}

#[test]
fn tuples_and_bounds_that_depend_on_each_other() {
    insta::assert_snapshot!(check(r"
VARIABLE x
Both(a, b) == x' = <<a, b>>
Nested(a, b) == x' = <<a, b>>
Shared(a, b) == x' = <<a, b>>
Endless(n) == x' = <<n>>
Init == x = <<>>
Next == \/ \E <<a, b>> \in {<<1, 2>>, <<1, 3>>, <<2, 3>>} : Both(a, b)
        \/ \E a \in 1..2 : \E b \in a..2 : Nested(a, b)
        \/ \E a \in 1..2, unused \in {1, 2} : Shared(a, a)
        \/ \E n \in Nat : Endless(n)",
        &["Both(1, 2)", "Both(1, 1)", "Both(1, _)", "Both(_, 3)", "Nested(1, 2)", "Nested(2, 1)", "Nested(_, 2)",
          "Shared(1, 1)", "Shared(1, 2)", "Shared(_, 2)", "Endless(7)", "Endless(-7)", "Endless(_)"]),
        @"
    Both(1, 2): x=<<1, 2>>
    Both(1, 1): refused: a
    Both(1, _): x=<<1, 2>> | x=<<1, 3>>
    Both(_, 3): x=<<1, 3>> | x=<<2, 3>>
    Nested(1, 2): x=<<1, 2>>
    Nested(2, 1): refused: b
    Nested(_, 2): x=<<1, 2>> | x=<<2, 2>>
    Shared(1, 1): x=<<1, 1>> | x=<<1, 1>>
    Shared(1, 2): nowhere
    Shared(_, 2): x=<<2, 2>> | x=<<2, 2>>
    Endless(7): x=<<7>>
    Endless(-7): refused: n
    Endless(_): error: `Nat` is infinite and cannot be enumerated
    ");
}

#[test]
fn instances_and_recursive_operators() {
    insta::assert_snapshot!(check(r"
VARIABLE x
---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Steps
VARIABLE c
Up(n) == c' = c + n
Down(n) == c >= n /\ c' = c - n
Next == \E n \in Steps : Up(n) \/ Down(n)
====
C == INSTANCE Counter WITH Steps <- {1, 2}, c <- x
D(s) == INSTANCE Counter WITH Steps <- {s}, c <- x
RECURSIVE Jump(_, _)
Jump(n, k) == IF k = 0 THEN x' = n ELSE Jump(n + 1, k - 1)
Init == x = 1
Next == C!Next \/ (\E s \in {7, 8} : D(s)!Up(s)) \/ (\E k \in 2..3 : Jump(x, k))",
        &["C!Up(2)", "Down(1)", "Down(2)", "C!Down(3)", "D!Up(7, 7)", "D!Up(7, 8)", "Jump(1, 2)", "Jump(2, 2)", "Jump(_, _)"]),
        @"
    C!Up(2): x=3
    Down(1): x=0
    Down(2): nowhere
    C!Down(3): refused: n
    D!Up(7, 7): x=8
    D!Up(7, 8): refused: n
    Jump(1, 2): x=3
    Jump(2, 2): nowhere
    Jump(_, _): x=3 | x=4
    ");
}

/// Whether an operation is found to change nothing.
fn never_changes(definitions: &str, words: &str) -> bool {
    let definitions = format!("VARIABLES x, y\nvars == <<x, y>>\nInit == x = 0 /\\ y = 0\n{definitions}");
    let program = linked(&definitions);
    let (operation, args) = call(&program, words);
    machine(&program).never_changes(&operation, &args)
}

#[test]
fn observers_are_known_by_their_text() {
    for (definition, calls, expected) in [
        (r"Op == UNCHANGED vars", "", true),
        (r"Op == UNCHANGED x", "", false),
        (r"Op == x > 3 /\ x' = x /\ UNCHANGED <<y>>", "", true),
        (r"Op == x' = x /\ y' = 1", "", false),
        (r"Op == x' = x /\ y' \in {y}", "", false),
        (r"Op == vars' = vars", "", true),
        (r"Op == <<x, y>>' = <<y, x>>", "", false),
        (r"Op == (x = 1 \/ x = 2) /\ UNCHANGED vars", "", true),
        (r"Op == (x' = 1 \/ x' = 2) /\ UNCHANGED vars", "", true),
        (r"Op == UNCHANGED vars \/ (x' = x /\ y' = x)", "", false),
        (r"Op == \E k \in 1..2 : x = k /\ UNCHANGED vars", "", true),
        (r"Op == \A k \in {} : UNCHANGED vars", "", false),
        (r"Same == x' = x Op == LET old == y IN Same /\ y' = old", "", true),
        (r"Op == [x' = 1 /\ y' = y]_vars", "", false),
        (r"Op == FALSE /\ x' = 1 /\ y' = 1", "", true),
        (r"Keep(v) == v' = v Op == Keep(x) /\ Keep(y)", "", true),
        (r"Op == y' = y /\ x' = IF x = 1 THEN x ELSE x", "", true),
        (r"Op == x = 1 => UNCHANGED vars", "", false),
    ] {
        let definitions = format!("{definition}\nNext == Op");
        assert_eq!(never_changes(&definitions, &format!("Op({calls})")), expected, "{definition}");
    }
}

#[test]
fn recorded_arguments_rule_changes_out() {
    for (definition, when_true, when_false, when_unknown) in [
        (r"Op(ok) == UNCHANGED y /\ ((ok /\ x' = 1) \/ (~ok /\ UNCHANGED x))", false, true, false),
        (r"Op(ok) == UNCHANGED y /\ IF ok THEN x' = 1 ELSE UNCHANGED x", false, true, false),
        (r"Op(ok) == y' = y /\ x' = IF ok THEN 1 ELSE x", false, true, false),
        (r"Op(ok) == y' = y /\ x' = CASE ok -> 1 [] OTHER -> x", false, true, false),
        (r"Op(ok) == y' = y /\ CASE x = 1 -> x' = x [] ok -> x' = 1 [] OTHER -> x' = x", false, true, false),
        (r"Op(ok) == y' = y /\ CASE x = 1 -> x' = 1 [] ok -> x' = 1 [] OTHER -> x' = x", false, false, false),
        (r"Op(ok) == LET bad == ~ok IN y' = y /\ ((bad /\ x' = 1) \/ UNCHANGED x)", true, false, false),
        (r"Op(ok) == UNCHANGED vars /\ ok = (x = 1)", true, true, true),
        (r"Op(ok) == x' = 1 /\ y' = y /\ ok = (x = 1)", false, false, false),
        (
            r"Is(a, b) == a = b Set(a) == Is(a, TRUE) /\ x' = 1 Op(ok) == y' = y /\ (Set(ok) \/ x' = x)",
            false,
            true,
            false,
        ),
        (r"Op(ok) == UNCHANGED vars \/ \E k \in {ok} : k /\ x' = 1 /\ y' = y", false, false, false),
        (r"Op(ok) == UNCHANGED vars \/ (ok = 1 /\ x' = 1 /\ y' = y)", false, false, false),
        (r"Op(ok) == y' = y /\ (ok => UNCHANGED x) /\ (~ok => x' = 1)", true, false, false),
    ] {
        let definitions = format!("{definition}\nNext == \\E ok \\in BOOLEAN : Op(ok)");
        for (call, expected) in [("Op(TRUE)", when_true), ("Op(FALSE)", when_false), ("Op(_)", when_unknown)] {
            assert_eq!(never_changes(&definitions, call), expected, "{call} of {definition}");
        }
    }
}

/// Explains an operation in the first initial state.
fn explain(definitions: &str, words: &str) -> String {
    let program = linked(definitions);
    let mut machine = machine(&program);
    let state = first_state(&mut machine);
    let (operation, args) = call(&program, words);
    machine.explain_operation(&operation, &args, &state).text(&program.module)
}

const QUEUE: &str = r"
VARIABLES q, msgs
Dequeue(p, x) == /\ q # <<>>
                 /\ x = Head(q)
                 /\ q' = Tail(q)
                 /\ UNCHANGED msgs
Receive(m) == m > 0 /\ msgs' = msgs \ {m} /\ UNCHANGED q
Init == q = <<4, 5>> /\ msgs = {7}
Next == \/ \E p \in {1, 2}, x \in Nat : Dequeue(p, x)
        \/ \E m \in msgs : Receive(m)
        \/ Receive(Len(q))";

#[test]
fn the_conjunct_that_is_false() {
    insta::assert_snapshot!(explain(QUEUE, "Dequeue(1, 5)"), @"
    the only way: leads nowhere
      true   q # <<>>  at M.tla:5:21
               q = <<4, 5>>
      false  x = Head(q)  at M.tla:6:21
               x = 5
               Head(q) = 4
                 q = <<4, 5>>
      -      q' = Tail(q)  not reached
      -      UNCHANGED msgs  not reached
    ");
}

#[test]
fn bounds_and_arguments_that_do_not_fit() {
    insta::assert_snapshot!(explain(QUEUE, "Receive(3)"), @r"
    \E m \in msgs : Receive(m): leads nowhere
      false  m \in msgs  with m = 3  at M.tla:12:15
               msgs = {7}
    Receive(Len(q)): leads nowhere
      false  Receive(Len(q))  with m = 3  at M.tla:13:12
               Len(q) = 2
    ");
    insta::assert_snapshot!(explain(QUEUE, "Receive(_)"), @r"
    \E m \in msgs : Receive(m), m = 7: leads to a state
      true   m > 0  at M.tla:9:15
               m = 7
      true   msgs' = msgs \ {m}  makes msgs' = {}
      true   q  makes q' = <<4, 5>>
    Receive(Len(q)): leads to a state
      true   m > 0  at M.tla:9:15
               m = 2
      true   msgs' = msgs \ {m}  makes msgs' = {7}
      true   q  makes q' = <<4, 5>>
    ");
}

#[test]
fn candidates_are_the_elements_of_the_set() {
    let program = linked(QUEUE);
    let mut machine = machine(&program);
    let state = first_state(&mut machine);
    let (dequeue, receive) = (program.operation("Dequeue").unwrap(), program.operation("Receive").unwrap());
    assert_eq!(machine.candidates(&dequeue, 0, &state, 2), Some(vec![Value::Int(1), Value::Int(2)]));
    assert_eq!(machine.candidates(&dequeue, 0, &state, 1), None);
    assert_eq!(machine.candidates(&dequeue, 1, &state, 100), None, "Nat has no end");
    assert_eq!(machine.candidates(&receive, 0, &state, 100), None, "one of its arguments is from no set");
}

#[test]
fn operators_that_are_no_part_of_next() {
    let program = linked("VARIABLE x\nInit == x = 1\nNext == x' = x\nJump(n) == n > x /\\ x' = n");
    let mut machine = machine(&program);
    let state = first_state(&mut machine);
    assert!(program.operation("Jump").is_none() && program.free_operation("Leap").is_none());
    let jump = program.free_operation("Jump").unwrap();
    let mut states = Vec::new();
    machine.perform(&jump, &[Some(Value::Int(9))], &state, &mut states).unwrap();
    assert_eq!(states, [State::from([Value::Int(9)])]);
    let error = machine.perform(&jump, &[None], &state, &mut states).unwrap_err();
    assert_eq!(error.message, "`n` of `Jump` is unknown, and no set determines its values");
    insta::assert_snapshot!(machine.explain_operation(&jump, &[Some(Value::Int(0))], &state).text(&program.module), @"
    the only way: leads nowhere
      false  n > x  at M.tla:6:12
               n = 0
               x = 1
      -      x' = n  not reached
    ");
}

/// Finds modules beside a specification.
struct Beside(PathBuf);

impl Loader for Beside {
    fn load(&mut self, module: &str) -> Option<(String, String)> {
        let path = self.0.join(format!("{module}.tla"));
        Some((path.display().to_string(), std::fs::read_to_string(&path).ok()?))
    }
}

fn specification(path: &Path) -> Option<Program> {
    let text = std::fs::read_to_string(path).ok()?;
    let config = std::fs::read_to_string(path.with_extension("cfg")).ok()?;
    let mut strings = Strings::default();
    let config = config::parse(&config, &mut strings).ok()?;
    let beside = path.parent()?.to_owned();
    let module = resolve(&path.display().to_string(), &text, &mut Beside(beside), strings).ok()?;
    link(module, &config, LinkOptions { skip_properties: true, without_behavior: true, ..LinkOptions::default() }).ok()
}

fn distinct(mut states: Vec<State>) -> Vec<State> {
    states.sort();
    states.dedup();
    states
}

/// In the first states found: `Next` and the operation of the same name have the same steps, whether the arguments
/// are known or not; no operation has more steps than `Next`; and one that never changes anything does not.
fn compare_with_next(program: &Program) -> Option<usize> {
    let mut machine = machine(program);
    let operations: Vec<Operation> =
        program.operation_names().iter().map(|name| program.operation(name).expect("it was named")).collect();
    let (mut todo, mut steps) = (Vec::new(), 0);
    machine.initial_states(&mut todo).ok()?;
    todo.truncate(20);
    let mut at = 0;
    while at < todo.len().min(40) {
        let state = todo[at].clone();
        at += 1;
        let labelled = machine.labelled_successors(&state).ok()?;
        let successors = distinct(labelled.iter().map(|(_, state)| state.clone()).collect());
        for operation in &operations {
            let (unknown, mut states) = (vec![None; operation.params.len()], Vec::new());
            machine.perform(operation, &unknown, &state, &mut states).expect("`Next` has no error here");
            let is_observer = machine.never_changes(operation, &unknown);
            for next in &states {
                assert!(successors.contains(next), "{} goes where `Next` does not", operation.name);
                assert!(!is_observer || *next == state, "{} changes the state", operation.name);
            }
            if operation.name == "Next" {
                assert_eq!(distinct(states), successors);
            }
        }
        for (label, next) in labelled {
            if let Some(operation) = operations.iter().find(|operation| operation.name == label.name) {
                let value = |name: &str| label.args.iter().find(|(arg, _)| arg == name).map(|(_, value)| value.clone());
                let args: Vec<_> = operation.params.iter().map(|param| value(&param.name)).collect();
                assert_eq!(machine.admits(operation, &args).expect("constants have values"), Ok(()), "{}", label.name);
                let mut states = Vec::new();
                machine.perform(operation, &args, &state, &mut states).expect("`Next` has no error here");
                assert!(states.contains(&next), "{} does not do what it did in `Next`", label.name);
                let is_observer = machine.never_changes(operation, &args);
                assert!(!is_observer || states.iter().all(|next| *next == state), "{} changes the state", label.name);
                steps += 1;
            }
            if !todo.contains(&next) {
                todo.push(next);
            }
        }
    }
    Some(steps)
}

#[test]
fn operations_agree_with_next() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle/specs");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(specs).expect("specifications").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let (mut specs, mut steps) = (0, 0);
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "tla")) {
        if let Some(compared) = specification(path).and_then(|program| compare_with_next(&program)) {
            specs += 1;
            steps += compared;
        }
    }
    assert!(specs > 50 && steps > 2_000, "{specs} specifications and {steps} steps are too few to mean anything");
}
