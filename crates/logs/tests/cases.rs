//! Single logs that once had another verdict than the meaning of their mapping gives them.

use std::fmt::Write;

use omnilink_logs::{File, LogOptions, LogOutcome, Prepared};
use omnilink_settings::Settings;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::link;

struct Nothing;

impl omnilink_tla::datum::World for Nothing {}

impl omnilink_tla::resolve::Loader for Nothing {
    fn load(&mut self, _module: &str) -> Option<(String, String)> {
        None
    }
}

/// The verdict about a log, with the number of explained events if it is not accepted, or the error. The search with
/// and without reductions must agree.
fn verdict(body: &str, config: &str, settings: &str, files: &[(&str, &str)]) -> String {
    let [first, second] = [false, true].map(|exhaustive| {
        checked(body, config, settings, files, LogOptions { exhaustive, ..LogOptions::default() })
            .unwrap_or_else(|error| format!("error: {error}"))
    });
    assert_eq!(first, second, "with and without reductions");
    first
}

fn checked(
    body: &str,
    config: &str,
    settings: &str,
    files: &[(&str, &str)],
    options: LogOptions,
) -> Result<String, omnilink_logs::Failure> {
    let text = format!("---- MODULE M ----\nEXTENDS Integers, Sequences, FiniteSets\n{body}\n====\n");
    let config = format!("INIT Init NEXT Next {config}");
    let mut strings = Default::default();
    let mut config = omnilink_tla::config::parse(&config, &mut strings).expect("a configuration");
    let module = omnilink_tla::resolve::resolve("M.tla", &text, &mut Nothing, strings);
    let mut module = module.unwrap_or_else(|errors| panic!("{:?}", errors.errors));
    let log = Settings::parse(settings).expect("settings").log.expect("a section");
    let file = |(name, text): &(&str, &str)| File { name: (*name).into(), text: (*text).into() };
    let files = files.iter().map(file).collect();
    let mut beside = |_: &str| Err("no file".to_owned());
    let prepared = Prepared::new(&log, settings, "omnilink.toml", &mut module, &mut config, files, &mut beside)?;
    let program = link(module, &config, Default::default()).unwrap_or_else(|errors| panic!("{:?}", errors.errors));
    let mut machine = Machine::new(&program, Box::new(Nothing));
    let bound = prepared.bind(&mut machine, &config)?;
    let checked = omnilink_logs::check(&prepared, &bound, &mut machine, &config, options, &mut |_| None)?;
    let explained = omnilink_logs::longest(&checked, &bound).iter().filter(|step| step.event.is_some()).count();
    Ok(match &checked.outcome {
        LogOutcome::Accepted(_) => "accepted".to_owned(),
        LogOutcome::Rejected(_) => format!("rejected after {explained}"),
        LogOutcome::Violated(..) => format!("violated after {explained}"),
        LogOutcome::Inconclusive(..) => {
            let words = omnilink_logs::lost(&checked, &bound).expect("nothing else stops this search");
            format!("inconclusive after {explained}: {words}")
        }
    })
}

/// A log in one file, with an event of each name.
fn named(names: &[&str]) -> String {
    let mut lines = String::new();
    names.iter().for_each(|name| writeln!(lines, "{{\"ev\": \"{name}\"}}").expect("a string grows"));
    lines
}

/// Takes an element of a set, and wins if it passes a test.
fn picked(test: &str, set: &str) -> String {
    let body = format!(
        "CONSTANT P\nVARIABLES s, f, n\nInit == s = {{}} /\\ f = [p \\in P |-> FALSE] /\\ n = FALSE\n\
         Take(p) == s = {{}} /\\ s' = {{p}} /\\ UNCHANGED <<f, n>>\n\
         Mark == f' = [f EXCEPT !.bb = TRUE] /\\ UNCHANGED <<s, n>>\n\
         Win == \\E p \\in s : {test} /\\ n' = TRUE /\\ UNCHANGED <<s, f>>\n\
         Next == (\\E p \\in P : Take(p)) \\/ Win"
    );
    verdict(&body, &format!("CONSTANT P = {set}"), "[log]\nevent = \"ev\"\n", &[("l", &named(&["Take", "Win"]))])
}

#[test]
fn strings_that_are_taken_apart_are_not_interchangeable() {
    let strings = r#"{"a", "bb", "ccc"}"#;
    for test in [
        "Len(p) = 3",
        r#"p \o "c" = "cccc""#,
        r#"Tail(p) = "cc""#,
        r#"SubSeq(p, 1, 1) = "c""#,
        r#"SubSeq(p, 1, 1) = SubSeq("cd", 1, 1)"#,
        "p \\in {q \\in P : Len(q) = 3}",
    ] {
        assert_eq!(picked(test, strings), "accepted", "{test}");
    }
    assert_eq!(picked("Len(p) = 4", strings), "rejected after 1");
    // `STRING` tells apart strings and model values.
    assert_eq!(picked("p \\in STRING", r#"{m, "z"}"#), "accepted");
    assert_eq!(picked("p \\notin STRING", r#"{"a", "bb", m}"#), "accepted");
}

#[test]
fn the_name_of_a_field_is_not_interchangeable() {
    let body = "CONSTANT P\nVARIABLES f, s\nInit == f = [p \\in P |-> FALSE] /\\ s = {}\n\
                Take(p) == s' = {p} /\\ UNCHANGED f\nMark == f' = [f EXCEPT !.bb = TRUE] /\\ UNCHANGED s\n\
                Win == (\\E p \\in s : f[p]) /\\ UNCHANGED <<f, s>>\n\
                Next == Mark \\/ Win \\/ \\E p \\in P : Take(p)";
    let config = r#"CONSTANT P = {"a", "bb", "ccc"}"#;
    let log = named(&["Take", "Mark", "Win"]);
    assert_eq!(verdict(body, config, "[log]\nevent = \"ev\"\n", &[("l", &log)]), "accepted");
}

#[test]
fn integers_that_index_sequences_are_not_interchangeable() {
    let body = "CONSTANT Val\nVARIABLE q\nInit == q = <<>>\nPut(v) == q' = Append(q, v)\n\
                Same == Head(Tail(q)) = Head(Tail(Tail(q))) /\\ UNCHANGED q\n\
                Next == Same \\/ \\E v \\in Val : Put(v)";
    let log = "{\"ev\": \"Put\", \"v\": 1}\n{\"ev\": \"Put\", \"v\": 2}\n{\"ev\": \"Put\"}\n{\"ev\": \"Same\"}\n";
    let settings = "[log]\nevent = \"ev\"\n[[log.rule]]\nhas = \"v\"\nargs = { v = \"v\" }\n";
    assert_eq!(verdict(body, "CONSTANT Val = {1, 2}", settings, &[("l", log)]), "accepted");
}

#[test]
fn initial_values_and_arguments_of_unlogged_steps_are_not_interchangeable() {
    let body = "CONSTANT P\nVARIABLES t, s\nInit == t \\in P /\\ s = {}\nPass(p) == t' = p /\\ UNCHANGED s\n\
                Add(p) == s' = s \\cup {p} /\\ UNCHANGED t\nIn == t \\in s /\\ UNCHANGED <<t, s>>\n\
                Next == In \\/ \\E p \\in P : Pass(p) \\/ Add(p)";
    let config = r#"CONSTANT P = {"a", "b", "c"}"#;
    let log = "{\"ev\": \"Add\"}\n{\"ev\": \"Pass\", \"t\": [{\"op\": \"Init\", \"path\": [], \"args\": []}]}\n{\"ev\": \"In\"}\n";
    assert_eq!(verdict(body, config, "[log]\nevent = \"ev\"\nupdate = [\"t\"]\n", &[("l", log)]), "accepted");
    let settings = "[log]\nevent = \"ev\"\n[[log.unlogged]]\naction = \"Pass\"\nbefore = \"In\"\nmax = 1\nneeded = true\n\
                    args = { p = 'IF TRUE THEN \"b\" ELSE e.ev' }\n[[log.unlogged]]\naction = \"Pass\"\nbefore = \"Add\"\nargs = { p = '\"c\"' }\nmax = 1\n";
    assert_eq!(verdict(body, config, settings, &[("l", &named(&["Add", "In"]))]), "accepted");
}

#[test]
fn a_step_that_breaks_an_invariant_needs_no_other_before_it() {
    let body = "VARIABLES x, y\nInit == x = 0 /\\ y = 0\nA == x = 0 /\\ x' = 1 /\\ y' = y\nH == y = 0 /\\ y' = 1 /\\ x' = x\n\
                Next == A \\/ H\nInv == ~ (x = 1 /\\ y = 0)";
    let settings =
        |needed: bool| format!("[log]\nevent = \"ev\"\n[[log.unlogged]]\naction = \"H\"\nneeded = {needed}\n");
    let check = |needed| verdict(body, "INVARIANT Inv", &settings(needed), &[("l", &named(&["A"]))]);
    assert_eq!([check(false), check(true)], ["accepted", "violated after 0"]);
}

#[test]
fn a_repeated_action_ends_in_the_first_state_in_which_until_is_true() {
    let body = "VARIABLE x\nInit == x = 0\nInc == x' = x + 1\nNext == Inc";
    let check = |until: &str, z: u32| {
        let settings = format!(
            "[log]\nevent = \"ev\"\n[[log.rule]]\nevent = \"Go\"\nrepeat = \"Inc\"\nuntil = \"{until}\"\nafter = {{ x = \"z\" }}\n"
        );
        verdict(body, "", &settings, &[("l", &format!("{{\"ev\": \"Go\", \"z\": {z}}}\n"))])
    };
    for until in ["x = 3", "x' = 3"] {
        assert_eq!([check(until, 3), check(until, 4)], ["accepted", "rejected after 0"], "{until}");
    }
}

#[test]
fn a_sequence_that_is_too_short_is_no_verdict() {
    let body = "VARIABLE q\nInit == q = <<5>>\nPass == UNCHANGED q\nNext == Pass";
    let check = |left: &str| {
        let settings =
            format!("[log]\nevent = \"ev\"\n[[log.rule]]\nevent = \"Pass\"\nafter = {{ \"{left}\" = \"z\" }}\n");
        verdict(body, "", &settings, &[("l", "{\"ev\": \"Pass\", \"z\": 5}\n")])
    };
    assert_eq!([check("Head(q)"), check("q[2]")], ["accepted", "rejected after 0"]);
    assert!(check("Head(Tail(q))").starts_with("error"), "{}", check("Head(Tail(q))"));
}

/// The verdict about two processes that are taken, and then all of them, whose names are a constant from the log.
fn taken(first: &str, second: &str, config: &str) -> String {
    let body = "CONSTANT P\nVARIABLE s\nInit == s = {}\nTake(p) == p \\notin s /\\ s' = s \\cup {p}\n\
                All == s = P /\\ UNCHANGED s\nNext == All \\/ \\E p \\in P : Take(p)";
    let settings = "[log]\nevent = \"ev\"\n[[log.rule]]\nhas = \"p\"\nargs = { p = \"p\" }\n\
                    [log.constants]\nP = { field = \"p\", all = true }\n";
    let take = |p: &str| format!("{{\"ev\": \"Take\", \"p\": \"{p}\"}}\n");
    verdict(body, config, settings, &[("l", &(take(first) + &take(second) + &named(&["All"])))])
}

#[test]
fn names_in_the_log_are_model_values_where_the_configuration_has_these() {
    for config in ["CONSTANT P = {a, b}", r#"CONSTANT P = {"a", "b"}"#, "CONSTANT P = {a, new}", ""] {
        assert_eq!(taken("a", "new", config), "accepted", "{config}");
        assert_eq!(taken("a", "a", config), "rejected after 1", "{config}");
    }
}

const COUNTER: &str =
    "VARIABLE c\nInit == c = 0\nSend == c' = c + 1\nRecv == c > 0 /\\ c' = c - 1\nNext == Send \\/ Recv";

/// Messages with a key, in lines of a process.
const MESSAGES: &str = "[log]\nevent = \"ev\"\nprocess = \"p\"\n\
    order = { messages = { send = [\"Send\"], receive = [\"Recv\"], key = \"k\" } }\n[[log.rule]]\nhas = \"c\"\nafter = { c = \"c\" }\n";

#[test]
fn receipts_of_a_key_are_counted_by_line() {
    let log = "{\"p\":\"a\",\"ev\":\"Send\",\"k\":1,\"c\":1}\n{\"p\":\"b\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n\
               {\"p\":\"a\",\"ev\":\"Send\",\"k\":1,\"c\":1}\n{\"p\":\"a\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n";
    assert_eq!(verdict(COUNTER, "", MESSAGES, &[("l", log)]), "accepted");
    // Only c can have received before the second sending, so it must have the first of the two receipts.
    let sends = [1, 1, 2].map(|c| format!("{{\"p\":\"a\",\"ev\":\"Send\",\"k\":1,\"c\":{c}}}\n")).concat();
    let (b, c) = ("{\"p\":\"b\",\"ev\":\"Recv\",\"k\":1,\"c\":1}\n", "{\"p\":\"c\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n");
    assert_eq!(verdict(COUNTER, "", MESSAGES, &[("l", &format!("{c}{b}{sends}"))]), "accepted");
    assert_eq!(verdict(COUNTER, "", MESSAGES, &[("l", &format!("{b}{c}{sends}"))]), "rejected after 1");
}

#[test]
fn receipts_in_several_files_have_no_common_order() {
    // The second file received the first message.
    let a = "{\"p\":\"a\",\"ev\":\"Send\",\"k\":1,\"c\":1}\n{\"p\":\"a\",\"ev\":\"Send\",\"k\":1,\"c\":1}\n";
    let first = "{\"p\":\"b\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n";
    let second = "{\"p\":\"c\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n";
    assert_eq!(verdict(COUNTER, "", MESSAGES, &[("a", a), ("b", first), ("c", second)]), "accepted");
    // A request and its response with one key: neither process receives its own message first.
    let a = "{\"p\":\"a\",\"ev\":\"Send\",\"k\":1,\"c\":1}\n{\"p\":\"a\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n";
    let b = "{\"p\":\"b\",\"ev\":\"Recv\",\"k\":1,\"c\":0}\n{\"p\":\"b\",\"ev\":\"Send\",\"k\":1,\"c\":1}\n";
    assert_eq!(verdict(COUNTER, "", MESSAGES, &[("a", a), ("b", b)]), "accepted");
}

/// Adds a logged number after an unlogged step with an argument from the event.
fn hinted(argument: &str, event: &str) -> String {
    let body =
        "VARIABLE n\nInit == n = 0\nSet(k) == n' = k\nAdd == n' = n + 1\nNext == Add \\/ \\E k \\in 0..9 : Set(k)";
    let settings = format!(
        "[log]\nevent = \"ev\"\nroot = \"msg\"\n[[log.rule]]\nevent = \"Add\"\nafter = {{ n = \"n\" }}\n\
         [[log.unlogged]]\naction = \"Set\"\nmax = 1\nargs = {{ k = '{argument}' }}\n"
    );
    verdict(body, "", &settings, &[("l", &format!("{event}\n"))])
}

#[test]
fn arguments_of_unlogged_steps_are_at_any_path() {
    let event =
        r#"{"out": {"x": 4}, "msg": {"ev": "Add", "n": 5, "hint": {"x": 4, "list": [3, 4], "odd key": [{"k.": 4}]}}}"#;
    for argument in ["hint.x", "hint.list[2]", r#"hint["odd key"][1]["k."]"#, "out.x", "e.hint.list[2]", "e.hint.x + 0"]
    {
        assert_eq!(hinted(argument, event), "accepted", "{argument}");
    }
    for argument in ["hint.list[1]", "hint.list[3]", "hint.y", "e.hint.y + 0"] {
        assert_eq!(hinted(argument, event), "rejected after 0", "{argument}");
    }
}

#[test]
fn an_error_in_an_argument_of_an_unlogged_step_is_no_verdict() {
    let event = r#"{"msg": {"ev": "Add", "n": 5, "k": 2}}"#;
    assert_eq!(hinted("e.n \\div (e.k - 2)", event), r"error: the second argument of `\div` is 0");
    let event = r#"{"msg": {"ev": "Add", "n": 5, "k": 2, "list": [], "pair": [4, 5]}}"#;
    assert_eq!(hinted("Head(e.list)", event), "error: `Head` was applied to the empty sequence");
    assert_eq!(hinted("Tail(e.list)[1]", event), "error: `Tail` was applied to the empty sequence");
    for argument in ["<<4>>[e.k]", "[x \\in {1} |-> x][e.k]", "SubSeq(e.pair, 1, 3)[1]"] {
        let found = hinted(argument, event);
        assert!(found.starts_with("error: ") && found.contains(" outside "), "{argument}: {found}");
    }
    // The event lacks what is read, by itself or through a name.
    for argument in ["e.pair[e.n]", "e.list[1] + 0", "LET p == e.pair IN p[3]", "e.pair[3] + e.nothing"] {
        assert_eq!(hinted(argument, event), "rejected after 0", "{argument}");
    }
}

#[test]
fn a_mistake_in_many_lines_is_reported_once() {
    let log = named(&["Bogus", "Other"].repeat(10));
    let failed = checked(COUNTER, "", "[log]\nevent = \"ev\"\n", &[("l", &log)], LogOptions::default());
    let Err(omnilink_logs::Failure::Problems(problems)) = failed else {
        panic!("the specification has no such actions")
    };
    let messages: Vec<&str> = problems.iter().map(|problem| &*problem.message).collect();
    assert_eq!(
        messages,
        [
            "l line 1: `Bogus` is not an action of the specification",
            "l line 2: `Other` is not an action of the specification"
        ]
    );
}

#[test]
fn conditions_that_contain_themselves_are_an_error() {
    let state = |name: &str, is: &str| format!("[[log.state]]\nname = \"{name}\"\nis = \"{is}\"\n");
    let rule = "[log]\nevent = \"ev\"\n[[log.rule]]\nafter = \"a\"\n";
    let log = named(&["Send"]);
    for states in
        [state("a", "a"), state("a", "b") + &state("b", "a"), state("a", "b") + &state("b", "c") + &state("c", "b")]
    {
        let found = verdict(COUNTER, "", &format!("{rule}{states}"), &[("l", &log)]);
        assert!(found.ends_with("contains itself"), "{found}");
    }
}

/// Two processes that count by messages; the second file is that of b.
fn cut(a: &str, b: &str) -> String {
    let settings = "[log]\nevent = \"ev\"\norder = { messages = { send = [\"Send\"], receive = [\"Recv\"], key = \"k\" } }\n\
                    [[log.rule]]\nhas = \"c\"\nafter = { c = \"c\" }\n";
    verdict(COUNTER, "", settings, &[("a", a), ("b", b)])
}

#[test]
fn a_log_that_breaks_off_is_inconclusive_from_there_on() {
    let (send, recv) = ("{\"ev\":\"Send\",\"k\":1,\"c\":1}\n", "{\"ev\":\"Recv\",\"k\":1,\"c\":0}\n");
    let more = "{\"ev\":\"Recv\",\"k\":2,\"c\":0}\n";
    assert_eq!(cut(send, &format!("{recv}{more}")), "rejected after 2");
    // The second sending is lost.
    let broken = format!("{send}{{\"ev\":\"Se");
    let sentence = "inconclusive after 2: the log of a breaks off: a: line 2 is not complete, and was left out";
    assert_eq!(cut(&broken, &format!("{recv}{more}")), sentence);
    assert_eq!(cut(&broken, recv), "accepted");
    // The failure comes before the last known event of a.
    let wrong = "{\"ev\":\"Send\",\"k\":1,\"c\":7}\n";
    assert_eq!(cut(&format!("{wrong}{broken}"), recv), "rejected after 0");
    // No event of b is known.
    assert_eq!(cut(wrong, "{\"ev\":"), "inconclusive after 0: b: line 1 is not complete, and was left out");
    // In one file in the order of the lines, lost events come after all others.
    let in_order = "[log]\nevent = \"ev\"\n";
    let text = format!("{}{{\"e", named(&["Send", "Recv", "Recv"]));
    assert_eq!(verdict(COUNTER, "", in_order, &[("l", &text)]), "rejected after 2");
}

#[test]
fn an_event_without_fields_is_one_that_lacks_them() {
    let spec =
        "VARIABLE c\nInit == c = 0\nAdd(n) == c' = c + n\nStay == c' = c\nNext == Stay \\/ \\E n \\in 0..3 : Add(n)";
    let settings =
        "[log]\nevent = \"ev\"\n[[log.unlogged]]\naction = \"Add\"\nargs = { n = 'IF TRUE THEN e.m.k ELSE 0' }\n";
    for last in ["{\"ev\":\"Stay\",\"m\":{}}\n", "{\"ev\":\"Stay\"}\n", "{}\n"] {
        let log = format!("{{\"ev\":\"Stay\",\"m\":{{\"k\":1}}}}\n{last}");
        assert_eq!(verdict(spec, "", settings, &[("l", &log)]), "accepted", "{log}");
    }
}

#[test]
fn a_process_without_lines_makes_a_log_inconclusive() {
    let log = "{\"ev\":\"Recv\",\"p\":\"a\",\"vc\":{\"a\":1,\"b\":1}}\n";
    let settings =
        |ignore: &str| format!("[log]\nevent = \"ev\"\nprocess = \"p\"\norder = {{ vector = \"vc\" }}\n{ignore}");
    assert_eq!(
        verdict(COUNTER, "", &settings(""), &[("l", log)]),
        "inconclusive after 0: no line is of the process `b`, which vector clocks name"
    );
    assert_eq!(verdict(COUNTER, "", &settings("ignore = [\"vc.b\"]\n"), &[("l", log)]), "rejected after 0");
}
