//! The features that specifications for the validation of recorded traces rely on. The verdicts and counts are those
//! of TLC of 2026.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use omnilink_tla::config;
use omnilink_tla::datum::{Datum, World};
use omnilink_tla::program::{LinkOptions, link};
use omnilink_tla::reach::{ReachOrder, Verdict, check};
use omnilink_tla::resolve::{Loader, resolve};
use omnilink_tla::strings::Strings;

/// Checks a specification of several modules, of which the first is the root. Returns what it printed, the verdict and
/// the counts.
fn verdict(modules: &str, config: &str) -> String {
    verdict_in(ReachOrder::Breadth, modules, config)
}

fn verdict_in(order: ReachOrder, modules: &str, config: &str) -> String {
    run(order, Arc::default(), modules, config)
}

/// The same, with the printed lines.
fn printing(printed: &mut Vec<String>, modules: &str, config: &str) -> String {
    let lines = Arc::default();
    let verdict = run(ReachOrder::Breadth, Arc::clone(&lines), modules, config);
    printed.extend(lines.lock().expect("no thread panics").drain(..));
    verdict
}

fn run(order: ReachOrder, printed: Arc<Mutex<Vec<String>>>, modules: &str, config: &str) -> String {
    let mut modules = Modules::new(modules);
    let (name, root) = modules.0.remove(0);
    let mut strings = Strings::default();
    let config = config::parse(config, &mut strings).expect("a configuration");
    let module = match resolve(&name, &root, &mut modules, strings) {
        Ok(module) => module,
        Err(errors) => return errors.to_string(),
    };
    let mut text = String::new();
    let program = match link(module, &config, LinkOptions::default()) {
        Ok(program) => program,
        Err(errors) => {
            errors.errors.iter().for_each(|error| writeln!(text, "{}", error.message).expect("a string"));
            return text;
        }
    };
    program.warnings.iter().for_each(|warning| writeln!(text, "warning: {}", warning.message).expect("a string"));
    let checked = check(&program, order, vec![Box::new(Test { registers: Vec::new(), printed })], &mut |_| None);
    let word = match &checked.verdict {
        Verdict::Holds { is_cut_short: false } => "holds".to_owned(),
        Verdict::Holds { is_cut_short: true } => "holds, and asked to stop".to_owned(),
        Verdict::Violated { invariant, trace } => {
            format!("`{}` is violated by {} states", program.invariants[*invariant].0, trace.len())
        }
        Verdict::PropertyViolated { property, trace } => {
            format!("`{}` is violated by {} states", program.properties[*property].0, trace.len())
        }
        Verdict::PostconditionFalse(index) => format!("`{}` is false", program.postconditions[*index].0),
        Verdict::Error { error, .. } => format!("error: {}", error.message),
        other => format!("{other:?}"),
    };
    let stats = checked.stats;
    let (generated, distinct) = (stats.generated, stats.distinct);
    write!(text, "{word}: {generated} generated, {distinct} distinct, {} left, depth {}", stats.queued, stats.depth)
        .expect("a string");
    text
}

/// The modules of one text.
struct Modules(Vec<(String, String)>);

impl Modules {
    fn new(text: &str) -> Modules {
        let mut modules: Vec<(String, String)> = Vec::new();
        for line in text.trim_start().lines() {
            if let Some(name) = line.strip_prefix("---- MODULE ").and_then(|rest| rest.strip_suffix(" ----")) {
                modules.push((name.to_owned(), String::new()));
            }
            let (_, module) = modules.last_mut().expect("the text begins with a module");
            *module += line;
            *module += "\n";
        }
        modules.iter_mut().for_each(|(_, module)| *module += "====\n");
        Modules(modules)
    }
}

impl Loader for Modules {
    fn load(&mut self, module: &str) -> Option<(String, String)> {
        self.0.iter().find(|(name, _)| name == module).cloned()
    }
}

/// A world with one file and registers.
struct Test {
    registers: Vec<(i64, Datum)>,
    printed: Arc<Mutex<Vec<String>>>,
}

impl World for Test {
    fn print(&mut self, line: &str) {
        self.printed.lock().expect("no thread panics").push(line.to_owned());
    }

    fn read(&mut self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "log.ndjson" => Ok(b"{\"ts\": 1712329729.6024537, \"n\": -2.9}\n{\"ts\": 3e2, \"n\": 4}\n".to_vec()),
            _ => Err("no such file".to_owned()),
        }
    }

    fn register(&self, index: i64) -> Option<Datum> {
        self.registers.iter().rev().find(|(known, _)| *known == index).map(|(_, datum)| datum.clone())
    }

    fn set_register(&mut self, index: i64, value: Datum) {
        self.registers.push((index, value));
    }
}

#[test]
fn of_two_extended_definitions_the_first_counts() {
    let check = |extends: &str| {
        let modules = format!(
            "---- MODULE Root ----\nEXTENDS {extends}, Naturals\nVARIABLE x\nInit == x = Remove(<<5, 6>>, 6)\n\
             Next == x' = x\nInv == x = <<5>>\n---- MODULE Own ----\nRemove(s, e) == <<s, e>>\n"
        );
        verdict(&modules, "INIT Init NEXT Next INVARIANT Inv")
    };
    insta::assert_snapshot!(check("SequencesExt, Own"), @r"
    warning: `Remove` of `Own` is hidden by `Remove` of `SequencesExt`, which comes first
    holds: 2 generated, 1 distinct, 0 left, depth 1
    ");
    insta::assert_snapshot!(check("Own, SequencesExt"), @r"
    warning: `Remove` of `SequencesExt` is hidden by `Remove` of `Own`, which comes first
    `Inv` is violated by 1 states: 1 generated, 1 distinct, 0 left, depth 1
    ");
}

#[test]
fn a_replaced_definition_is_replaced_inside_instances() {
    let modules = r#"
---- MODULE Root ----
EXTENDS Store
I == INSTANCE Store
J(S) == INSTANCE Store WITH Val <- S
Null == "null"
Values == {"a", "b"}
Next == \E v \in Val : I!Put(v) \/ J({v})!Put(v)
Inv == x \in {"null", "a", "b"}
---- MODULE Store ----
CONSTANT Val
VARIABLE x
None == CHOOSE v : v \notin Val
Init == x = None
Put(v) == x = None /\ x' = v
"#;
    let config = "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE CONSTANT Val <- Values None <- Null";
    insta::assert_snapshot!(verdict(modules, config), @"holds: 5 generated, 3 distinct, 0 left, depth 2");
}

#[test]
fn fractions_in_json_are_cut_off() {
    let modules = r#"
---- MODULE Root ----
EXTENDS Json, Integers, Sequences
VARIABLE i
Log == ndJsonDeserialize("log.ndjson")
Init == i = 1
Next == i < Len(Log) /\ i' = i + 1
Inv == Log = <<[ts |-> 1712329729, n |-> -2], [ts |-> 300, n |-> 4]>>
"#;
    let config = "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE";
    insta::assert_snapshot!(verdict(modules, config), @"holds: 2 generated, 2 distinct, 0 left, depth 2");
}

/// A counter that a log of length 3 drives, with unlogged resets.
const LOG: &str = r#"
---- MODULE Root ----
EXTENDS Base, Sequences, TLC
VARIABLE l
B == INSTANCE Base
UpTwice == Up \cdot Up
Log == <<"up", "up", "reset">>
TraceInit == Init /\ l = 1
Logged(e, A) == l <= Len(Log) /\ Log[l] = e /\ l' = l + 1 /\ A
TraceNext == Logged("up", Up) \/ Logged("reset", Reset) \/ Logged("up", UpTwice)
TraceSpec == TraceInit /\ [][TraceNext]_<<x, l>>
Refines == B!Spec
AllRefines == \A n \in {1, 2} : B!Spec /\ []B!Small
Fair == B!FairSpec
Matched == [](l <= Len(Log) => [](TLCGet("queue") >= 1 \/ l > Len(Log)))
Stuck == [](l <= Len(Log) => [](TLCGet("queue") = 1 \/ l > Len(Log)))
Accepted == TLCGet("stats").diameter - 1 = Len(Log)
AllCounted == LET s == TLCGet("stats") IN
  /\ DOMAIN s = {"diameter", "distinct", "duration", "generated", "initial", "queue", "worker"}
  /\ s.initial = 1 /\ s.distinct = TLCGet("distinct") /\ s.generated = TLCGet("generated") /\ s.queue = 0
Done == l > Len(Log) => TLCSet("exit", TRUE)
---- MODULE Base ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Up == x < 9 /\ x' = x + 1
Reset == x > 1 /\ x' = 0
Next == Up \/ Reset
Small == x < 4
Spec == Init /\ [][Next]_x
FairSpec == LET n == 4 IN Spec /\ [](x < n + 6) /\ WF_x(Next)
"#;

fn log(config: &str) -> String {
    verdict(LOG, &format!("SPECIFICATION TraceSpec CHECK_DEADLOCK FALSE {config}"))
}

#[test]
fn the_length_of_the_longest_behavior_accepts_a_log() {
    insta::assert_snapshot!(log("POSTCONDITION Accepted POSTCONDITION AllCounted"), @"holds: 13 generated, 7 distinct, 0 left, depth 4");
}

#[test]
fn a_refinement_is_checked_of_every_step() {
    insta::assert_snapshot!(log("PROPERTY Refines"), @"`Refines` is violated by 2 states: 4 generated, 3 distinct, 1 left, depth 2");
    insta::assert_snapshot!(log("PROPERTY AllRefines INVARIANT Small"), @"`AllRefines` is violated by 2 states: 4 generated, 3 distinct, 1 left, depth 2");
}

#[test]
fn liveness_is_refused_by_name() {
    insta::assert_snapshot!(log("PROPERTY Fair"), @"liveness is not checked, and property `Fair` has the conjunct `WF_x(Next)`");
}

#[test]
fn a_promise_is_evaluated_after_the_successors() {
    insta::assert_snapshot!(log("PROPERTY Matched"), @"holds: 13 generated, 7 distinct, 0 left, depth 4");
    insta::assert_snapshot!(log("PROPERTY Stuck"), @"`Stuck` is violated by 1 states: 4 generated, 3 distinct, 2 left, depth 2");
}

#[test]
fn a_log_is_found_sooner_depth_first() {
    let config = "SPECIFICATION TraceSpec CONSTRAINT Done CHECK_DEADLOCK FALSE";
    insta::assert_snapshot!(verdict_in(ReachOrder::Breadth, LOG, config), @"holds, and asked to stop: 11 generated, 7 distinct, 3 left, depth 4");
    insta::assert_snapshot!(verdict_in(ReachOrder::Depth, LOG, config), @"holds, and asked to stop: 8 generated, 6 distinct, 3 left, depth 4");
}

#[test]
fn compositions_count_the_states_between() {
    let modules = r#"
---- MODULE Root ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Add(n) == \E k \in {n, n + 1} : x' = x + k
Next == /\ x = 0
        /\ y' = y + 1
        /\ LET before == x IN Add(1) \cdot (before > 0 /\ Add(10)) \cdot Add(100)
        /\ x' # 113
Other == /\ x = 0
         /\ \E k \in {1, 2} : ((x' = x + k) \cdot (x' = x + k)) /\ k = 1
         /\ UNCHANGED y
Sum == [][(\E k \in 1..3 : x' = x + k) \cdot (\E k \in 100..200 : x' = x + k)]_x
Few == [][(\E k \in 1..3 : x' = x + k) \cdot (x' = x + 110)]_x
Can == [](x = 0 => ENABLED ((x' = x + 1) \cdot (x = 1 /\ x' = 5)))
"#;
    let check = |config: &str| verdict(modules, &format!("INIT Init CHECK_DEADLOCK FALSE {config}"));
    insta::assert_snapshot!(check("NEXT Next PROPERTY Sum PROPERTY Can"), @"holds: 10 generated, 4 distinct, 0 left, depth 2");
    insta::assert_snapshot!(check("NEXT Next PROPERTY Few"), @"`Few` is violated by 2 states: 10 generated, 4 distinct, 2 left, depth 2");
    insta::assert_snapshot!(check("NEXT Other"), @"holds: 3 generated, 2 distinct, 0 left, depth 2");
}

#[test]
fn a_log_with_vector_clocks_is_put_in_causal_order() {
    let modules = r#"
---- MODULE Root ----
EXTENDS VectorClocks, TLC
VARIABLE i
Log == << [n |-> "b", vc |-> [a |-> 1, b |-> 2]], [n |-> "b", vc |-> [b |-> 1]],
          [n |-> "a", vc |-> [a |-> 2, b |-> 2]], [n |-> "a", vc |-> [a |-> 1]] >>
Ordered == CausalOrder(Log, LAMBDA e : e.vc, LAMBDA e : e.n, LAMBDA vc : DOMAIN vc)
Gap == CausalOrder(Tail(Log), LAMBDA e : e.vc, LAMBDA e : e.n, LAMBDA vc : DOMAIN vc)
Init == i = 1
Next == i < 4 /\ i' = i + 1
Inv == /\ Ordered = <<Log[4], Log[2], Log[1], Log[3]>>
       /\ IsCausalOrder(Ordered, LAMBDA e : e.vc)
       /\ ~IsCausalOrder(Log, LAMBDA e : e.vc)
       /\ IsCausalOrder(<<>>, LAMBDA e : e.vc)
Whole == Gap # <<>>
"#;
    let check =
        |invariant: &str| verdict(modules, &format!("INIT Init NEXT Next CHECK_DEADLOCK FALSE INVARIANT {invariant}"));
    insta::assert_snapshot!(check("Inv"), @"holds: 4 generated, 4 distinct, 0 left, depth 4");
    insta::assert_snapshot!(check("Whole"), @r#"error: a clock knows of event 2 of node "b", which is not in the log: 1 generated, 1 distinct, 0 left, depth 1"#);
}

#[test]
fn a_constant_that_prints_is_evaluated_once() {
    let modules = r#"
---- MODULE Root ----
EXTENDS Naturals, TLC
VARIABLE x
Limit == Print("computed", 3)
Init == x = 0
Next == x < Limit /\ x' = x + 1 /\ PrintT(x)
Inv == x <= Limit
"#;
    let mut printed = Vec::new();
    let config = "INIT Init NEXT Next INVARIANT Inv CHECK_DEADLOCK FALSE";
    insta::assert_snapshot!(printing(&mut printed, modules, config), @"holds: 4 generated, 4 distinct, 0 left, depth 4");
    assert_eq!(printed, ["\"computed\"  3", "0", "1", "2"]);
}
