//! Verdicts on small histories, by name: binding, companions, constants from the trace, invariants beside blocked and
//! unfinished operations, and checks that begin at a cut.

mod case;
mod common;

use omnilink_history::{History, format};
use omnilink_report::{Assumption, Consequence, Evidence};
use omnilink_search::{Criterion, Options, Unwatched};
use omnilink_validate::{ReportBuilder, TraceOutcome, check, check_stream, coverage, explain};

use case::{Case, verdict, with_spec};

/// A set of at most three numbers, with a hidden switch.
const SET: Case = Case {
    body: r"EXTENDS Integers, FiniteSets
VARIABLES s, hidden
V == 1..3
Init == s = {} /\ hidden = FALSE
Add(v) == v \notin s /\ s' = s \cup {v} /\ UNCHANGED hidden
Take(v) == v \in s /\ ~hidden /\ s' = s \ {v} /\ UNCHANGED hidden
Any(v) == v \in s /\ UNCHANGED <<s, hidden>>
Flip == hidden' = ~hidden /\ UNCHANGED s
Next == (\E v \in V : Add(v) \/ Take(v) \/ Any(v)) \/ Flip
Small == Cardinality(s) <= 1
Lit == hidden = FALSE
Few == Cardinality(s) <= 2
Never == s # {}",
    config: "",
    settings: "",
};

/// The verdicts under an invariant and without one.
fn verdicts(invariant: &'static str, settings: &'static str, trace: &str) -> String {
    let with = verdict(Case { config: invariant, settings, ..SET }, trace);
    let without = verdict(Case { settings, ..SET }, trace);
    format!("{with}, {without}")
}

#[test]
fn an_invariant_disables_no_blocked_operation() {
    // Only the unfinished operation explains that the blocked one waits, and it breaks the invariant.
    let trace = "a [1 3] Add(v: 2)\nc [2 ...] Add(v: 3) blocked\nb [4 ...] Add(v: 3)\n";
    assert_eq!(verdicts("INVARIANT Small", "", trace), "violated, accepted");
    assert_eq!(verdicts("INVARIANT Few", "", trace), "accepted, accepted");
    let alone = "a [1 3] Add(v: 2)\nc [2 ...] Add(v: 3) blocked\n";
    assert_eq!(verdicts("INVARIANT Small", "", alone), "rejected, rejected");
    let own = "a [1 3] Add(v: 3)\nc [2 ...] Add(v: 3) blocked\n";
    assert_eq!(verdicts("INVARIANT Small", "", own), "accepted, accepted");
}

#[test]
fn a_constraint_disables_a_blocked_operation() {
    let trace = "a [1 3] Add(v: 2)\nc [2 ...] Add(v: 3) blocked\n";
    assert_eq!(verdict(Case { config: "CONSTRAINT Small", ..SET }, trace), "accepted");
    assert_eq!(verdict(SET, trace), "rejected");
}

#[test]
fn an_internal_step_may_block_an_operation_and_break_an_invariant() {
    let trace = "a [1 2] Add(v: 1)\nb [3 ...] Take(v: 1) blocked\n";
    let internal = "internal = [\"Flip\"]";
    assert_eq!(verdicts("INVARIANT Small", internal, trace), "accepted, accepted");
    assert_eq!(verdicts("INVARIANT Lit", internal, trace), "violated, accepted");
    assert_eq!(verdicts("INVARIANT Small", "", trace), "rejected, rejected");
}

#[test]
fn all_blocked_operations_are_blocked_in_one_state() {
    // `On` is possible only before the hidden step, and `Off` only after it.
    let switch = Case {
        body: r"VARIABLE on
Init == on = FALSE
Flip == on = FALSE /\ on' = TRUE
On == on = FALSE /\ UNCHANGED on
Off == on = TRUE /\ UNCHANGED on
Next == Flip \/ On \/ Off",
        config: "",
        settings: "internal = [\"Flip\"]",
    };
    assert_eq!(verdict(switch, "a [1 ...] On() blocked\n"), "accepted");
    assert_eq!(verdict(switch, "a [1 ...] Off() blocked\n"), "accepted");
    assert_eq!(verdict(switch, "a [1 ...] Off() blocked\nb [1 ...] Off() blocked\n"), "accepted");
    assert_eq!(verdict(switch, "a [1 ...] Off() blocked\nb [1 ...] On() blocked\n"), "rejected");
}

#[test]
fn an_order_that_keeps_the_invariant_is_found() {
    // The first order found adds both before it takes one.
    let trace = "a [1 9] Add(v: 1)\nb [1 9] Add(v: 2)\nc [1 9] Take(v: 1)\n";
    assert_eq!(verdicts("INVARIANT Small", "", trace), "accepted, accepted");
    let both = "a [1 2] Add(v: 1)\nb [3 4] Add(v: 2)\nc [5 6] Any(v: 1)\n";
    assert_eq!(verdicts("INVARIANT Small", "", both), "violated, accepted");
    let neither = "a [1 2] Add(v: 1)\nb [3 4] Add(v: 2)\nc [5 6] Any(v: 3)\n";
    assert_eq!(verdicts("INVARIANT Small", "", neither), "rejected, rejected");
}

#[test]
fn an_unfinished_operation_has_an_effect_only_if_that_keeps_the_invariant() {
    let trace = "a [1 2] Add(v: 1)\nb [1 ...] Add(v: 2)\n";
    assert_eq!(verdicts("INVARIANT Small", "", trace), "accepted, accepted");
    let seen = format!("{trace}c [3 4] Any(v: 2)\n");
    assert_eq!(verdicts("INVARIANT Small", "", &seen), "violated, accepted");
    let taken = format!("{trace}c [3 4] Take(v: 1)\nc [5 6] Any(v: 2)\n");
    assert_eq!(verdicts("INVARIANT Small", "", &taken), "accepted, accepted");
}

#[test]
fn an_initial_state_that_breaks_an_invariant_violates_it() {
    let never = Case { config: "INVARIANT Never", ..SET };
    for trace in ["a [1 2] Add(v: 1)\n", "a [1 ...] Add(v: 1)\n", "a [1 ...] Take(v: 1) blocked\n"] {
        assert_eq!(verdict(never, trace), "violated", "{trace}");
    }
    assert_eq!(verdict(never, "a [1 2] Take(v: 1)\n"), "rejected");
}

/// Workers that take turns, as model values.
const WORKERS: Case = Case {
    body: r#"EXTENDS Integers, FiniteSets
CONSTANTS Workers, Owners
VARIABLE x
Nil == "nil"
Init == x = {}
Take(w) == w \notin x /\ x' = x \cup {w}
Give(o) == o \in x /\ x' = x \ {o}
Next == (\E w \in Workers : Take(w)) \/ (\E o \in Owners : Give(o))"#,
    config: "CONSTANTS Workers = {w0, w1} Owners = {w0, w1}",
    settings: "process = \"w\"\n[constants]\nWorkers = [\"process\"]\nOwners = [\"Give.o\"]\n",
};

#[test]
fn recorded_names_are_model_values_if_the_configuration_has_model_values() {
    let trace = "w0 [1 2] Take()\nw5 [1 2] Take()\nw0 [3 4] Give(o: \"w5\")\n";
    assert_eq!(verdict(WORKERS, trace), "accepted");
    let shared = Case { config: "CONSTANTS Workers = {w0} Owners = {}", ..WORKERS };
    assert_eq!(verdict(shared, trace), "accepted", "a name means the same in both constants");
    let strings = Case { config: "CONSTANTS Workers = {\"w0\"} Owners = {}", ..WORKERS };
    assert_eq!(verdict(strings, trace), "accepted");
    assert_eq!(verdict(WORKERS, "w0 [1 2] Take()\nw0 [3 4] Give(o: \"w5\")\n"), "rejected");
}

#[test]
fn a_value_outside_a_set_is_reported_with_the_set_and_a_new_entry() {
    let case = Case { settings: "process = \"w\"", ..WORKERS };
    insta::assert_snapshot!(verdict(case, "w5 [1 2] Take()\n"), @r#"
    w5:0 `Take`: `w` is "w5", which is not in `Workers` = {w0, w1}
    help: widen `Workers` in the configuration, or feed it from the recording: write `Workers = ["process"]` under `[constants]` in omnilink.toml
    "#);
    let case = Case { settings: "process = \"w\"\n[constants]\nOwners = [\"Give.o\"]", ..WORKERS };
    insta::assert_snapshot!(verdict(case, "w1 [1 2] Take()\nw0 [3 4] Give(o: \"w7\")\nw0 [5 6] Give(o: nil)\n"), @r#"
    w0:1 `Give`: `o` is "nil", which is not in `Owners` = {w7}
    help: `Give.o` feeds `Owners` already, without recorded nulls: let `Next` take them from another set
    "#);
}

/// A companion that maps one operation to several actions.
const COMPANION: Case = Case {
    body: r#"EXTENDS Integers, FiniteSets
VARIABLE s
Init == s = {}
Add(v) == v \notin s /\ s' = s \cup {v}
Miss == UNCHANGED s
Drop == s # {} /\ s' = {}
Never == FALSE /\ UNCHANGED s
Next == (\E v \in 1..3 : Add(v)) \/ Miss \/ Drop \/ Never
Onput(op) == IF op.results.ok THEN Add(op.args.v) ELSE Miss
OnUnfinished(op) == IF op.action = "put" THEN Add(op.args.v) \/ Miss ELSE Miss
OnFailed(op) == op.action = "put" /\ Drop
OnEnd(process) == IF process = "z" THEN Drop ELSE Miss"#,
    config: "",
    settings: "companion = \"C.tla\"",
};

#[test]
fn a_companion_decides_what_an_operation_does() {
    let put = "a [1 2] put(v: 1) = ok: TRUE\n";
    assert_eq!(verdict(COMPANION, put), "accepted");
    assert_eq!(verdict(COMPANION, &format!("{put}a [3 4] put(v: 1) = ok: TRUE\n")), "rejected");
    assert_eq!(verdict(COMPANION, &format!("{put}a [3 4] put(v: 1) = ok: FALSE\n")), "accepted");
    let failed = format!("{put}b [3 4] put(v: 2) failed\na [5 6] put(v: 1) = ok: TRUE\n");
    assert_eq!(verdict(COMPANION, &failed), "accepted", "the failed operation drops all");
    let ended = "z [1 2] put(v: 1) = ok: TRUE\na [3 4] put(v: 1) = ok: TRUE\n";
    assert_eq!(verdict(COMPANION, ended), "accepted", "the end of z drops all");
    let unfinished = "a [1 ...] put(v: 1)\nb [2 3] put(v: 1) = ok: TRUE\n";
    assert_eq!(verdict(COMPANION, unfinished), "accepted");
}

/// A companion whose operators have other names than the operations.
const CAPITALS: Case = Case {
    body: r"EXTENDS Integers
VARIABLE n
Init == n = 0
Add == n' = n + 1
Next == Add
OnGiveUp(op) == Add
Onclaim(op) == Add
OnClaim(op) == FALSE /\ Add
OnFailed(op) == FALSE /\ Add
OnEnd(process) == UNCHANGED n",
    config: "",
    settings: "companion = \"C.tla\"",
};

#[test]
fn operators_of_a_companion_may_have_a_capital_for_each_word() {
    for name in ["\"give-up\"", "give_up", "giveUp", "GiveUp"] {
        assert_eq!(verdict(CAPITALS, &format!("a [1 2] {name}()\n")), "accepted", "{name}");
    }
    assert_eq!(verdict(CAPITALS, "a [1 2] claim()\n"), "accepted", "the name as it is comes first");
    let hand_over = verdict(CAPITALS, "a [1 2] \"hand-over\"()\n");
    assert!(hand_over.contains("a:0 is called `hand-over`, but the specification has no action"), "{hand_over}");
    assert!(hand_over.ends_with("; or define `OnHandOver(op)` in the companion"), "{hand_over}");
    // `OnFailed` is about operations that failed, whatever their names.
    let failed = verdict(CAPITALS, "a [1 2] failed()\n");
    assert!(failed.ends_with("; or define `Onfailed(op)` in the companion"), "{failed}");
}

#[test]
fn coverage_counts_the_actions_that_a_companion_reaches() {
    let trace = "a [1 2] put(v: 1) = ok: TRUE\na [3 4] put(v: 1) = ok: FALSE\na [5 6] put(v: 2) = ok: FALSE\n";
    let counts = with_spec(COMPANION, trace, |spec, history| {
        let checked = check(spec, history, &Options::default(), &Unwatched).expect("a verdict");
        assert!(matches!(checked.outcome, TraceOutcome::Accepted(_)));
        let coverage = coverage(spec, history, &checked).expect("coverage");
        let counts = coverage.actions.iter().map(|action| format!("{} {}", action.name, action.operations));
        let never: Vec<&str> = coverage.never_seen().map(|action| action.name.as_str()).collect();
        format!("{}; never {}", counts.collect::<Vec<_>>().join(", "), never.join(", "))
    });
    assert_eq!(counts.expect("no problems"), "Add 1, Miss 2, Drop 0, Never 0, Onput 3, OnEnd 1; never Drop, Never");
}

#[test]
fn parameters_are_found_by_name_process_and_place() {
    let case = Case {
        body: r"EXTENDS Integers
VARIABLE x
Init == x = <<>>
Put(self, k, v) == x' = <<self, k, v>>
Get(self, k, v) == x = <<self, k, v>> /\ UNCHANGED x
Next == \E self \in 0..2, k \in 0..9, v \in 0..9 : Put(self, k, v) \/ Get(self, k, v)",
        config: "",
        settings: "",
    };
    let after = |call: &str| verdict(case, &format!("1 [1 2] Put(v: 5, k: 4)\n1 [3 4] {call}\n"));
    assert_eq!(after("Get(k: 4) = v: 5"), "accepted");
    assert_eq!(after("Get(4, 5)"), "accepted");
    assert_eq!(after("Get(5, 4)"), "rejected");
    assert_eq!(verdict(case, "1 [1 2] Put(v: 5, k: 4)\n2 [3 4] Get(4, 5)\n"), "rejected", "another process");
    assert_eq!(
        after("Get(4)"),
        "T1:1 `Get` has no field for the parameter `v`\nhelp: record it, or write `any = [\"v\"]` under `[operations.Get]` in omnilink.toml if it can be anything"
    );
    let any = Case { settings: "[operations.Get]\nany = [\"v\"]", ..case };
    assert_eq!(verdict(any, "1 [1 2] Put(v: 5, k: 4)\n1 [3 4] Get(k: 4)\n"), "accepted");
    assert_eq!(verdict(any, "1 [1 2] Put(v: 5, k: 4)\n1 [3 4] Get(k: 3)\n"), "rejected");
    assert!(after("Gett(4, 5)").contains("did you mean `Get`?"));
}

#[test]
fn an_operation_of_several_steps_lets_others_between() {
    let case = Case {
        body: r"EXTENDS Integers
VARIABLES x, held
Init == x = 0 /\ held = {}
Add_Step(self) == self \notin held /\ x < 2 /\ x' = x + 1 /\ UNCHANGED held
Add_Done(self) == held' = held \cup {self} /\ UNCHANGED x
Read(v) == x = v /\ UNCHANGED <<x, held>>
Next == (\E self \in 0..2 : Add_Step(self) \/ Add_Done(self)) \/ \E v \in 0..3 : Read(v)",
        config: "",
        settings: "",
    };
    assert_eq!(verdict(case, "1 [1 6] Add()\n2 [2 3] Read(v: 1)\n2 [4 5] Read(v: 2)\n"), "accepted");
    assert_eq!(verdict(case, "1 [1 2] Add()\n2 [3 4] Read(v: 1)\n2 [5 6] Read(v: 2)\n"), "rejected");
    assert_eq!(verdict(case, "1 [1 ...] Add()\n2 [3 4] Read(v: 1)\n2 [5 6] Read(v: 2)\n"), "accepted");
    let blocked = verdict(case, "1 [1 ...] Add() blocked\n");
    assert!(blocked.contains("is blocked, and `Add` takes several steps"), "{blocked}");
}

#[test]
fn an_evaluation_error_is_not_a_verdict() {
    let case = Case {
        body: r"EXTENDS Integers, Sequences
VARIABLE q
Init == q = <<>>
Put(v) == q' = Append(q, v)
Get(v) == Head(q) = v /\ q' = Tail(q)
Next == \E v \in 0..9 : Put(v) \/ Get(v)",
        config: "",
        settings: "",
    };
    assert!(verdict(case, "b [1 2] Get(v: 1)\n").starts_with("error: "));
    assert_eq!(verdict(case, "a [1 2] Put(v: 1)\nb [3 4] Get(v: 1)\n"), "accepted");
}

/// An explanation that begins at a cut says the same as one of the last part of the history alone.
#[test]
fn an_explanation_from_a_cut_counts_all_operations() {
    let case = Case {
        body: r"EXTENDS Integers
VARIABLE x
Init == x = 0
Put(v) == x' = v
Get(v) == x = v /\ UNCHANGED x
Next == \E v \in 0..9 : Put(v) \/ Get(v)",
        config: "",
        settings: "",
    };
    let rounds = 4_000;
    let mut trace = String::new();
    for round in 0..rounds {
        let (at, v) = (4 * round, round % 9);
        trace += &format!("a [{} {}] Put(v: {v})\nb [{} {}] Get(v: {v})\n", at, at + 1, at + 2, at + 3);
    }
    let at = 4 * rounds;
    trace += &format!("a [{at} {}] Put(v: 9)\nb [{} {}] Get(v: 8)\n", at + 1, at + 2, at + 3);
    let found = with_spec(case, &trace, |spec, history| {
        let checked = check(spec, history, &Options::default(), &Unwatched).expect("a verdict");
        let TraceOutcome::Rejected(stuck) = &checked.outcome else { panic!("not rejected") };
        assert_eq!(stuck.explained, 2 * rounds + 1);
        let mut builder = ReportBuilder::default();
        let options = Options::default();
        let rejection = explain(spec, history, &options, stuck, &checked.checkpoint, &Unwatched, &mut builder);
        let window = rejection.window().expect("a window");
        let mentioned = builder.mentioned();
        let places: Vec<usize> = window.operations.iter().map(|op| mentioned[op.0].index()).collect();
        (places.len(), places.into_iter().min())
    });
    let (len, first) = found.expect("no problems");
    assert!(len <= 16, "{len} operations explain a stale read");
    assert!(first.is_some_and(|first| first >= 7_900), "{first:?} is far from the failure");
}

/// A step that is not recorded may be taken on behalf of a blocked operation, before an unfinished one takes effect.
#[test]
fn a_hidden_step_comes_before_an_unfinished_operation() {
    let case = Case {
        body: r"VARIABLES x, n
Init == x = 0 /\ n = 0
A == x' = 0 /\ n' = 1
B == n = 1 /\ n' = 0 /\ UNCHANGED x
I == x' = 1 /\ UNCHANGED n
Next == A \/ B \/ I",
        config: "",
        settings: "internal = [\"I\"]",
    };
    let trace = "a [0 ...] B() blocked\nb [10 12] A()\nb [13 ...] B()\n";
    for criterion in [Criterion::LINEARIZABLE, Criterion::SEQUENTIAL, Criterion::SERIALIZABLE] {
        let options = Options { criterion, ..Options::default() };
        let found = with_spec(case, trace, |spec, history| check(spec, history, &options, &Unwatched));
        let outcome = found.expect("no problems").expect("a verdict").outcome;
        assert!(matches!(outcome, TraceOutcome::Accepted(_)), "{criterion:?}: {outcome:?}");
    }
}

/// An accepted change satisfies the invariants, which the search ignores at first.
#[test]
fn changes_that_are_accepted_keep_the_invariants() {
    let case = Case {
        body: r"EXTENDS Integers
VARIABLE x
Init == x \in {0, 5}
A(r) == r = x /\ x' = x + 1
Next == \E r \in 0..9 : A(r)
Inv == x # 0",
        config: "INVARIANT Inv",
        settings: "",
    };
    let accepted = with_spec(case, "a [1 2] A() = r: 7\n", |spec, history| {
        let options = Options::default();
        let checked = check(spec, history, &options, &Unwatched).expect("a verdict");
        let TraceOutcome::Rejected(stuck) = &checked.outcome else { panic!("not rejected") };
        let mut builder = ReportBuilder::default();
        let rejection = explain(spec, history, &options, stuck, &checked.checkpoint, &Unwatched, &mut builder);
        let Evidence::Stuck(evidence) = rejection.evidence else { panic!("not stuck") };
        let accepted = evidence.what_ifs.into_iter().filter(|what_if| what_if.outcome == Consequence::Accepted);
        accepted.map(|what_if| what_if.assumption).collect::<Vec<_>>()
    });
    let accepted = accepted.expect("no problems");
    let with_results = |assumption: &Assumption| matches!(assumption, Assumption::OtherResults { .. });
    assert_eq!(accepted.iter().filter(|assumption| with_results(assumption)).count(), 1, "{accepted:?}");
    let is_five = |assumption: &Assumption| format!("{assumption:?}").contains('5');
    assert!(accepted.iter().filter(|assumption| with_results(assumption)).all(is_five), "{accepted:?}");
}

/// A stream is searched without invariants first, as a whole history is.
#[test]
fn a_stream_gets_the_verdict_of_the_whole_history() {
    let traces = [
        ("a [1 2] Add(v: 1)\nb [3 4] Any(v: 1)\n", "accepted"),
        ("a [1 9] Add(v: 1)\nb [1 9] Add(v: 2)\nc [1 9] Take(v: 1)\n", "accepted"),
        ("a [1 2] Add(v: 1)\nb [3 4] Add(v: 2)\n", "not accepted"),
        ("a [1 2] Add(v: 1)\nb [3 ...] Add(v: 2)\nc [4 5] Take(v: 1)\nc [6 7] Any(v: 2)\n", "accepted"),
        ("a [1 2] Add(v: 1)\nb [3 ...] Add(v: 2)\nc [4 5] Any(v: 2)\n", "not accepted"),
        ("a [1 2] Any(v: 1)\n", "not accepted"),
    ];
    for (trace, expected) in traces {
        let case = Case { config: "INVARIANT Small", ..SET };
        let ops = History::new(format::text::read(trace.as_bytes()).expect("a trace")).expect("a history");
        let found = with_spec(case, trace, |spec, _| {
            let again = || Ok::<_, String>(ops.ops().iter().cloned().map(Ok));
            let options = Options::default();
            check_stream(spec, ops.processes(), again, &options, &Unwatched, |error| error.to_string())
        });
        let report = found.expect("no problems").expect("a verdict");
        let found =
            if matches!(report.verdict, omnilink_history::Verdict::Accepted(_)) { "accepted" } else { "not accepted" };
        assert_eq!(found, expected, "{trace}");
    }
}
