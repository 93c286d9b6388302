//! What a companion module and a configuration can say about traces: operators for operations that are not plain actions,
//! constants computed from the trace, views, constraints and invariants.

mod tool;

use std::fs;

/// Checks a trace against the queue with a companion: the lines of the companion, and of its configuration.
fn check(name: &str, companion: &str, config: &str, trace: &str) -> String {
    check_with(name, companion, config, "", trace)
}

/// The same with more lines of settings.
fn check_with(name: &str, companion: &str, config: &str, settings: &str, trace: &str) -> String {
    let companion = format!("---- MODULE QueueTrace ----\nEXTENDS Queue\n{companion}\n====\n");
    let config = format!("{config}\nINIT Init\nNEXT Next\n");
    let settings = format!("companion = \"QueueTrace.tla\"\n{settings}\n");
    let files = [("QueueTrace.tla", &*companion), ("omnilink.toml", &*settings), ("Queue.cfg", &*config)];
    let directory = tool::example(&format!("companion-{name}"), "queue", &files);
    fs::write(directory.join("run.txt"), trace).expect("a file for a test");
    tool::run(&directory, &["check", "Queue.tla", "run.txt"]).shown()
}

const ELEMS: &str = "CONSTANT Elems = {1, 2}";

#[test]
fn an_operation_can_be_one_of_several_actions() {
    let companion = r"CONSTANT Nil
OnTake(op) == IF op.results.elem = Nil THEN DequeueEmpty ELSE Dequeue(op.results.elem)";
    let config = "CONSTANTS Elems = {1, 2}\nNil = Nil";
    let trace = "T0 [1 2] Take() = elem: nil\nT0 [3 4] Enqueue(elem: 1)\nT1 [5 6] Take() = elem: 1\n";
    insta::assert_snapshot!(check("on-action", companion, config, trace));
    let trace = "T0 [1 2] Take() = elem: nil\nT0 [3 4] Enqueue(elem: 1)\nT1 [5 6] Take() = elem: nil\n";
    insta::assert_snapshot!(check("on-action-rejected", companion, config, trace));
}

#[test]
fn an_operation_that_never_finished_can_mean_something_else() {
    let trace = "T0 [1 2] Enqueue(elem: 1)\nT1 [3 ...] Dequeue()\nT2 [4 5] DequeueEmpty()\n";
    insta::assert_snapshot!(check("unfinished", "", ELEMS, trace));
    let never = "OnUnfinished(op) == op.action = \"Dequeue\" /\\ UNCHANGED queue";
    insta::assert_snapshot!(check("unfinished-never", never, ELEMS, trace));
}

#[test]
fn an_operation_that_never_finished_can_be_any_of_its_outcomes() {
    let trace = |call: &str| format!("T0 [1 2] Enqueue(elem: 1)\nT1 [3 ...] {call}()\nT2 [4 5] DequeueEmpty()\n");
    insta::assert_snapshot!(check("outcomes-first", "", ELEMS, &trace("DequeueEmpty")));
    insta::assert_snapshot!(check("outcomes", "", ELEMS, &trace("\"DequeueEmpty|Dequeue\"")));
    insta::assert_snapshot!(check("outcomes-unknown", "", ELEMS, &trace("\"DequeueEmpty|Denqueue\"")));
    let finished = "T0 [1 2] \"DequeueEmpty|Dequeue\"()\n";
    insta::assert_snapshot!(check("outcomes-finished", "", ELEMS, finished));
}

#[test]
fn a_failed_operation_can_have_an_effect() {
    let trace = r#"{"process": 0, "action": "Enqueue", "args": {"elem": 1}, "start": 1, "end": 2, "failed": true}
{"process": 1, "action": "Dequeue", "results": {"elem": 1}, "start": 3, "end": 4}
"#;
    insta::assert_snapshot!(check("failed", "", ELEMS, trace));
    let maybe = r"OnFailed(op) == Enqueue(op.args.elem) \/ UNCHANGED queue";
    insta::assert_snapshot!(check("failed-maybe", maybe, ELEMS, trace));
}

#[test]
fn something_can_happen_when_a_process_ends() {
    let trace = "T0 [1 2] Enqueue(elem: 1)\nT1 [3 4] DequeueEmpty()\n";
    let lost = "OnEnd(process) == process = 0 /\\ queue' = <<>>";
    insta::assert_snapshot!(check("end", lost, ELEMS, trace));
    let of_another = "OnEnd(process) == process = 1 /\\ queue' = <<>>";
    insta::assert_snapshot!(check("end-of-another", of_another, ELEMS, trace));
}

#[test]
fn constants_can_be_computed_from_the_trace() {
    let companion = r#"CONSTANT Trace
TraceElems == {Trace[i].args.elem : i \in {i \in DOMAIN Trace : Trace[i].action = "Enqueue"}}"#;
    let trace = "T0 [1 2] Enqueue(elem: 7)\nT0 [3 4] Enqueue(elem: 9)\nT1 [5 6] Dequeue() = elem: 7\n";
    insta::assert_snapshot!(check("trace", companion, "CONSTANT Elems <- TraceElems", trace));
    let trace = "T0 [1 2] Enqueue(elem: 7)\nT1 [5 6] Dequeue() = elem: 8\n";
    insta::assert_snapshot!(check("trace-outside", companion, "CONSTANT Elems <- TraceElems", trace));
}

/// Ends of processes are steps, but are not recorded.
#[test]
fn constants_do_not_see_ends() {
    let companion = r"CONSTANTS Trace, Processes
TraceElems == {Trace[i].args.elem : i \in DOMAIN Trace}
OnEnd(process) == process \in Processes /\ queue' = <<>>";
    let config = "CONSTANTS Elems <- TraceElems\nProcesses = {}";
    let trace = "T0 [1 2] Enqueue(elem: 7)\nT1 [3 ...] Enqueue(elem: 8)\n";
    insta::assert_snapshot!(check_with("ends", companion, config, "constants.Processes = [\"process\"]", trace));
}

/// Two elements go in at the same time, and come out in one of both orders.
const EITHER: [&str; 2] = [
    "T0 [1 4] Enqueue(elem: 1)\nT1 [2 3] Enqueue(elem: 2)\nT0 [5 6] Dequeue() = elem: 1\n",
    "T0 [1 4] Enqueue(elem: 1)\nT1 [2 3] Enqueue(elem: 2)\nT0 [5 6] Dequeue() = elem: 2\n",
];

/// States that look the same are one, so one of the orders is not found.
#[test]
fn a_view_merges_states() {
    let look = |name: &str, config: &str, trace: &str| {
        let shown = check(name, "Look == Len(queue)", &format!("{ELEMS}\n{config}"), trace);
        shown.lines().next().unwrap_or_default().to_owned()
    };
    let whole = EITHER.map(|trace| look("view-none", "", trace)).join("\n");
    let merged = EITHER.map(|trace| look("view", "VIEW Look", trace)).join("\n");
    insta::assert_snapshot!(format!("{whole}\n{merged}"));
}

#[test]
fn a_constraint_excludes_states() {
    let config = format!("{ELEMS}\nCONSTRAINT Single");
    insta::assert_snapshot!(check("constraint", "Single == Len(queue) <= 1", &config, EITHER[0]));
}

#[test]
fn an_action_constraint_excludes_steps() {
    let config = format!("{ELEMS}\nACTION_CONSTRAINT Ascending");
    let companion = r"Ascending == Len(queue') > Len(queue) /\ queue # <<>> => queue'[Len(queue')] > queue[Len(queue)]";
    insta::assert_snapshot!(check("ascending", companion, &config, EITHER[0]));
    insta::assert_snapshot!(check("descending", companion, &config, EITHER[1]));
}

#[test]
fn an_invariant_that_fails_on_every_explanation_is_violated() {
    let config = format!("{ELEMS}\nINVARIANT Single");
    insta::assert_snapshot!(check("violated", "Single == Len(queue) <= 1", &config, EITHER[0]));
}

#[test]
fn an_invariant_that_fails_on_some_explanations_chooses_among_them() {
    let config = format!("{ELEMS}\nINVARIANT Single");
    let trace = "T0 [1 4] Enqueue(elem: 1)\nT1 [2 5] Enqueue(elem: 2)\nT2 [3 6] Dequeue() = elem: 1\n";
    insta::assert_snapshot!(check("chosen", "Single == Len(queue) <= 1", &config, trace));
    insta::assert_snapshot!(check("not-chosen", "Single == queue = <<>>", &config, trace));
}
