//! Traces, settings and specifications that do not fit together: what is said, and that it is never a verdict.
//!
//! Every trace is a few lines against the queue or the map of the examples. What is wrong with it must be named in the
//! words of the trace, with the place in the specification that it goes against and with what to do about it. The command
//! ends with 2, whatever other orders of the operations there are.

mod tool;

use std::fs;

/// Checks a trace against the queue, or the map, of the examples with some files replaced.
fn check(name: &str, example: &str, files: &[(&str, &str)], trace: &str) -> String {
    let directory = tool::example(&format!("fault-{name}"), example, files);
    fs::write(directory.join("run.jsonl"), trace).expect("a file for a test");
    let module = if example == "map" { "Map.tla" } else { "Queue.tla" };
    tool::run(&directory, &["check", module, "run.jsonl"]).shown()
}

fn queue(name: &str, trace: &str) -> String {
    check(name, "queue", &[], trace)
}

fn map(name: &str, trace: &str) -> String {
    check(name, "map", &[], trace)
}

/// Checks a queue of one element with other settings.
fn settings(name: &str, settings: &str) -> String {
    let trace = "T0 [1 2] Enqueue(elem: 1)\nT0 [3 4] Dequeue() = elem: 1\n";
    check(name, "queue", &[("omnilink.toml", settings)], trace)
}

#[test]
fn a_field_that_is_missing() {
    insta::assert_snapshot!(queue("missing-field", "T0 [1 2] Enqueue()\n"));
}

#[test]
fn a_field_by_another_name() {
    insta::assert_snapshot!(queue("other-field", "T0 [1 2] Enqueue(value: 7)\n"));
}

#[test]
fn a_field_that_no_parameter_takes() {
    insta::assert_snapshot!(queue("more-fields", "T0 [1 2] Enqueue(elem: 1, took: 12)\n"));
}

#[test]
fn an_action_that_is_misspelt() {
    insta::assert_snapshot!(queue("misspelt", "T0 [1 2] Enqeue(elem: 1)\n"));
}

#[test]
fn an_action_unlike_any_other() {
    insta::assert_snapshot!(queue("unlike", "T0 [1 2] Peek() = elem: 1\n"));
}

#[test]
fn a_definition_that_is_no_action() {
    insta::assert_snapshot!(queue("no-action", "T0 [1 2] Short()\n"));
}

#[test]
fn several_mistakes_are_reported_at_once() {
    let trace = "T0 [1 2] Enqeue(elem: 1)\nT1 [1 2] Dequeue() = value: 1\nT2 [1 2] DequeueEmpty(elem: 1)\n";
    insta::assert_snapshot!(queue("several", trace));
}

#[test]
fn a_mistake_that_comes_again_is_reported_once() {
    let misspelt = |op: u64| format!("T{} [{} {}] Enqeue(elem: 1)\n", op % 2, 2 * op + 1, 2 * op + 2);
    let trace: String = (0..10).map(misspelt).collect();
    let told = queue("repeated", &(trace + "T2 [30 31] Dequeue() = value: 1\n"));
    let errors: Vec<&str> = told.lines().filter(|line| line.starts_with("error: ")).collect();
    insta::assert_snapshot!(errors.join("\n"), @"
    error: T0:0 is called `Enqeue`, but the specification has no action of that name
    error: T2:0 `Dequeue` has no field for the parameter `elem`
    error: T2:0 `Dequeue` has the field `value`, which no parameter takes
    ");
}

#[test]
fn a_string_among_integers() {
    let trace = "T0 [1 2] Put(key: 1, value: 10)\nT0 [3 4] Put(key: \"two\", value: 10)\n";
    insta::assert_snapshot!(map("string", trace));
}

#[test]
fn a_number_where_a_truth_value_is() {
    let trace = "T0 [1 2] Put(key: 1, value: 10)\nT0 [3 4] Contains(key: 1) = ok: 1\n";
    insta::assert_snapshot!(map("truth", trace));
}

#[test]
fn a_number_that_is_no_integer() {
    insta::assert_snapshot!(queue("float", "T0 [1 2] Enqueue(elem: 1.5)\n"));
}

#[test]
fn a_value_outside_a_constant() {
    let files = [("omnilink.toml", "# Nothing comes from the trace.\n")];
    insta::assert_snapshot!(check(
        "outside",
        "queue",
        &files,
        "T0 [1 2] Enqueue(elem: 1)\nT0 [3 4] Enqueue(elem: 3)\nT0 [5 6] Enqueue(elem: 4)\nT0 [7 8] Dequeue() = elem: 4\n"
    ));
}

#[test]
fn no_value_where_nothing_stands_for_it() {
    insta::assert_snapshot!(queue("nil", "T0 [1 2] Enqueue(elem: 1)\nT0 [3 4] Dequeue() = elem: nil\n"));
}

#[test]
fn a_clock_that_goes_backwards() {
    insta::assert_snapshot!(queue("clock", "T0 [1 2] Enqueue(elem: 1)\nT0 [9 4] Dequeue() = elem: 1\n"));
}

#[test]
fn a_process_that_overlaps_itself() {
    insta::assert_snapshot!(queue("overlap", "T0 [1 5] Enqueue(elem: 1)\nT0 [4 6] Dequeue() = elem: 1\n"));
}

/// The rest of the line may change the verdict.
#[test]
fn a_file_that_breaks_off() {
    let whole = r#"{"process": 0, "action": "Enqueue", "args": {"elem": 1}, "start": 1, "end": 2}"#;
    insta::assert_snapshot!(queue("cut-line", &format!("{whole}\n{}", &whole[..40])));
}

#[test]
fn a_line_that_is_damaged_in_the_middle() {
    let whole = r#"{"process": 0, "action": "Enqueue", "args": {"elem": 1}, "start": 1, "end": 2}"#;
    insta::assert_snapshot!(queue("damaged-line", &format!("{}\n{whole}\n", &whole[..40])));
}

#[test]
fn a_segment_that_breaks_off() {
    let directory = tool::example("fault-cut-segment", "queue", &[]);
    let trace = "T0 [1 2] Enqueue(elem: 1)\nT1 [3 4] Dequeue() = elem: 1\nT1 [5 6] DequeueEmpty()\n";
    fs::write(directory.join("run.txt"), trace).expect("a file for a test");
    assert_eq!(tool::run(&directory, &["convert", "run.txt", "--to", "binary", "-o", "run"]).code, 0);
    let segment = directory.join("run/0001.seg");
    let bytes = fs::read(&segment).expect("a segment");
    fs::write(&segment, &bytes[..bytes.len() - 5]).expect("a segment");
    insta::assert_snapshot!(tool::run(&directory, &["check", "Queue.tla", "run"]).shown());
}

#[test]
fn nothing_at_all() {
    insta::assert_snapshot!(queue("nothing", "\n"));
}

#[test]
fn settings_with_an_unknown_key() {
    insta::assert_snapshot!(settings("unknown-key", "proces = \"p\"\n"));
}

#[test]
fn settings_that_feed_an_unknown_constant() {
    insta::assert_snapshot!(settings("unknown-constant", "[constants]\nElements = [\"Enqueue.elem\"]\n"));
}

#[test]
fn settings_that_feed_from_nowhere() {
    insta::assert_snapshot!(settings("bad-feed", "[constants]\nElems = [\"elem\"]\n"));
}

#[test]
fn settings_that_feed_from_an_operation_that_does_not_occur() {
    insta::assert_snapshot!(settings("empty-feed", "[constants]\nElems = [\"Push.elem\"]\n"));
}

#[test]
fn settings_with_an_internal_action_that_is_none() {
    insta::assert_snapshot!(settings("internal", "internal = [\"Compact\"]\n"));
}

#[test]
fn settings_with_an_action_that_is_none() {
    insta::assert_snapshot!(settings("mapping", "[operations.Enqueue]\naction = \"Push\"\n"));
}

#[test]
fn settings_with_nothing_for_no_value() {
    insta::assert_snapshot!(settings("no-nil", "nil = \"Nothing\"\n"));
}

#[test]
fn settings_with_a_companion_that_is_not_there() {
    insta::assert_snapshot!(settings("no-companion", "companion = \"QueueTrace.tla\"\n"));
}

#[test]
fn a_companion_whose_operator_takes_too_much() {
    let companion = "---- MODULE QueueTrace ----\nEXTENDS Queue\nOnDequeue(op, elem) == Dequeue(elem)\n====\n";
    let files = [("omnilink.toml", "companion = \"QueueTrace.tla\"\n"), ("QueueTrace.tla", companion)];
    insta::assert_snapshot!(check("arity", "queue", &files, "T0 [1 2] Dequeue() = elem: 1\n"));
}

/// A queue whose `Dequeue` is wrong in some way.
fn faulty(name: &str, dequeue: &str, trace: &str) -> String {
    let module = format!(
        "---- MODULE Queue ----
EXTENDS Naturals, Sequences
CONSTANT Elems
VARIABLES queue, sizes
Init == queue = <<>> /\\ sizes = [e \\in Elems |-> 1]
Enqueue(elem) ==
    /\\ queue' = Append(queue, elem)
    /\\ UNCHANGED sizes
Dequeue(elem) ==
{dequeue}
Next == \\E elem \\in Elems : Enqueue(elem) \\/ Dequeue(elem)
====
"
    );
    let files = [
        ("Queue.tla", &*module),
        ("Queue.cfg", "CONSTANT Elems = {1, 2}\nINIT Init\nNEXT Next\n"),
        ("omnilink.toml", "\n"),
    ];
    check(name, "queue", &files, trace)
}

/// Both orders are possible, and one of them would do. The other one is a mistake of the specification all the same.
const CONCURRENT: &str = "T0 [1 9] Enqueue(elem: 1)\nT1 [2 8] Dequeue() = elem: 1\n";

#[test]
fn the_head_of_an_empty_sequence() {
    let dequeue = "    /\\ elem = Head(queue)\n    /\\ queue' = Tail(queue)\n    /\\ UNCHANGED sizes";
    insta::assert_snapshot!(faulty("head", dequeue, CONCURRENT));
}

#[test]
fn an_application_outside_the_domain() {
    let dequeue = "    /\\ sizes[elem + Len(queue)] = 1\n    /\\ queue' = Tail(queue)\n    /\\ UNCHANGED sizes";
    let trace = "T0 [1 2] Enqueue(elem: 2)\nT0 [3 4] Dequeue() = elem: 2\n";
    insta::assert_snapshot!(faulty("domain", dequeue, trace));
}

#[test]
fn a_variable_without_a_next_value() {
    let dequeue = "    /\\ queue # <<>>\n    /\\ elem = Head(queue)\n    /\\ queue' = Tail(queue)";
    insta::assert_snapshot!(faulty("unassigned", dequeue, CONCURRENT));
}

#[test]
fn values_that_cannot_be_compared() {
    let dequeue = "    /\\ queue = elem\n    /\\ queue' = Tail(queue)\n    /\\ UNCHANGED sizes";
    insta::assert_snapshot!(faulty("compared", dequeue, CONCURRENT));
}
