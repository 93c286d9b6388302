//! Logs from files to reports: which files are logs, the words of a rejection, limits, and first mappings.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use omnilink_history::Stop;
use omnilink_judge::input::Kind;
use omnilink_judge::{
    Case, CheckOptions, Failed, Judge, Limits, Recording, ShowOptions, Stage, Unlimited, given_up, infer,
};
use omnilink_report::{Detail, Report, Verdict};
use omnilink_search::Stats;

/// A lease that is granted and expires; workers are model values.
const LEASE: &str = r#"---- MODULE Lease ----
EXTENDS Naturals
CONSTANT Worker
VARIABLES holder, epoch
Init == holder = "none" /\ epoch = 0
Grant(w) == holder = "none" /\ holder' = w /\ epoch' = epoch + 1
Expire == holder # "none" /\ holder' = "none" /\ UNCHANGED epoch
Change == (\E w \in Worker : Grant(w)) \/ Expire
Next == Change
====
"#;

const CONFIG: &str = "CONSTANT Worker = {\"a\", \"b\"}\nINIT Init\nNEXT Next\n";

const SETTINGS: &str = r#"[log]
event = "ev"
[[log.rule]]
event = "grant"
action = "Grant"
args = { w = "to" }
[[log.rule]]
event = "expire"
action = "Expire"
[[log.rule]]
has = "epoch"
after = { epoch = "epoch" }
"#;

/// Checks the log `log.ndjson` beside these files.
fn check(files: &[(&str, &str)], kind: Option<Kind>, limits: &dyn Limits) -> Result<Report, Failed> {
    let directory = written(files);
    let spec = directory.path().join("Lease.tla").display().to_string();
    let judge = Judge::new(&spec, CheckOptions::default())?;
    let recording = Recording::at(directory.path().join("log.ndjson"), kind);
    judge.report(&mut Case { recording: &recording, label: "log", witness: None, limits })
}

/// Checks a log of leases.
fn lease(settings: &str, log: &str, kind: Option<Kind>) -> Result<Report, Failed> {
    let files = [("Lease.tla", LEASE), ("Lease.cfg", CONFIG), ("omnilink.toml", settings), ("log.ndjson", log)];
    check(&files, kind, &Unlimited)
}

fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a file in a directory")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }
    directory
}

/// The report in words, without the directory.
fn words(report: &Report) -> String {
    let text = omnilink_report::text(report, Detail::Brief, false);
    let text: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("omnilink check --full") && !line.contains("omnilink view"))
        .collect();
    let is_path = |word: &&str| !word.contains(std::env::temp_dir().to_str().expect("text"));
    text.iter().map(|line| line.split(' ').filter(is_path).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_rejected_log_names_the_missing_step_and_no_command_that_refuses_logs() {
    let log = "{\"ev\": \"grant\", \"to\": \"a\", \"epoch\": 1}\n{\"ev\": \"grant\", \"to\": \"b\"}\n";
    let report = lease(SETTINGS, log, None).expect("a report");
    assert_eq!(report.verdict.word(), "rejected");
    assert!(report.next.iter().all(|command| !command.line.contains("--tlc")), "{:?}", report.next);
    let words = words(&report);
    assert!(words.contains("if `Expire` took place before log:1"), "{words}");
    assert!(!words.contains("`Next`"), "{words}");
}

#[test]
fn a_variable_and_a_field_of_one_name_are_two_values() {
    let log = "{\"ev\": \"grant\", \"to\": \"a\", \"epoch\": 1}\n{\"ev\": \"expire\", \"epoch\": 7}\n";
    let report = lease(SETTINGS, log, None).expect("a report");
    insta::assert_snapshot!(words(&report), @r#"
    log: rejected
    error: log line 2: `epoch` is 1 after `expire`, but the log says 7
      -->
       |
    12 | after = { epoch = "epoch" }
       |           ^^^^^ FALSE: epoch is 1, e.epoch is 7
       |
       = note: 1 of 2 events have an explanation, and none of them allows `expire` (line 2) next
       = help: without log:1 expire(), the history is accepted
       = help: without the condition `epoch = e.epoch` on log:1 expire(), the history is accepted
       = note: log line 2: {"ev": "expire", "epoch": 7}
    "#);
}

#[test]
fn the_help_names_actions_and_not_the_next_state_relation() {
    let failed = lease("[log]\nevent = \"ev\"\n", "{\"ev\": \"renew\"}\n", None).expect_err("no such action");
    let Failed::Spec(complaints) = failed else { panic!("{failed:?}") };
    insta::assert_snapshot!(
        complaints[0].help.as_deref().unwrap_or_default(),
        @"the actions are Grant, Expire; a `[[log.rule]]` for it can name an action, or `skip = true`"
    );
}

#[test]
fn the_page_lists_steps_and_not_the_next_state_relation() {
    let log = "{\"ev\": \"grant\", \"to\": \"a\", \"epoch\": 1}\n";
    let directory =
        written(&[("Lease.tla", LEASE), ("Lease.cfg", CONFIG), ("omnilink.toml", SETTINGS), ("log.ndjson", log)]);
    let spec = directory.path().join("Lease.tla").display().to_string();
    let judge = Judge::new(&spec, CheckOptions::default()).expect("a specification");
    let recording = Recording::at(directory.path().join("log.ndjson"), None);
    let case = &mut Case { recording: &recording, label: "log", witness: None, limits: &Unlimited };
    let shown = judge.show(case, &ShowOptions::default()).expect("a page");
    assert_eq!(shown.timeline.actions, ["Grant", "Expire"]);
}

#[test]
fn lines_with_the_keys_of_a_trace_may_be_a_log() {
    let settings =
        "[log]\nevent = \"action\"\n[[log.rule]]\nevent = \"grant\"\naction = \"Grant\"\nargs = { w = \"to\" }\n";
    let own = "{\"action\": \"grant\", \"start\": 1, \"process\": \"p\", \"to\": \"a\"}\n";
    assert_eq!(lease(settings, own, None).expect("a log").verdict, Verdict::Accepted);
    // This could be both, and is a trace unless the user says otherwise.
    let both = "{\"action\": \"Grant\", \"start\": 1, \"end\": 2, \"process\": \"p\", \"args\": {\"w\": \"b\"}}\n";
    let by_name = "[log]\nevent = \"action\"\nargs = \"args\"\n";
    for (kind, method) in [(None, "searched whole"), (Some(Kind::Log), "searched best first")] {
        let report = lease(by_name, both, kind).expect("a report");
        assert_eq!((report.verdict, report.stats.method.as_str()), (Verdict::Accepted, method));
    }
    let failed = lease("", both, Some(Kind::Log)).expect_err("no mapping");
    assert_eq!(failed.message(), "expected a trace of operations, found a log");
}

#[test]
fn a_log_that_breaks_off_names_the_file_and_the_event() {
    let settings = format!("{SETTINGS}[log.order]\nsend = \"snd\"\nreceive = \"rcv\"\n")
        .replace("[log]\n", "[log]\nfiles = \"*.log\"\n");
    let directory = written(&[
        ("Lease.tla", LEASE),
        ("Lease.cfg", CONFIG),
        ("omnilink.toml", &settings),
        ("logs/a.log", "{\"ev\": \"grant\", \"to\": \"a\", \"snd\": \"m\", \"epoch\": 1}\n{\"ev\": \"exp"),
        ("logs/b.log", "{\"ev\": \"grant\", \"to\": \"b\", \"rcv\": \"m\"}\n"),
    ]);
    let spec = directory.path().join("Lease.tla").display().to_string();
    let judge = Judge::new(&spec, CheckOptions::default()).expect("a specification");
    let recording = Recording::at(directory.path().join("logs"), None);
    let report = judge.report(&mut Case { recording: &recording, label: "logs", witness: None, limits: &Unlimited });
    let stop = "the log of a breaks off: a.log: line 2 is not complete, and was left out; 1 of 2 events are explained, and \
                lost ones may have come before `grant` (b.log line 1)";
    assert_eq!(
        report.expect("a report").verdict,
        Verdict::Inconclusive { limit: omnilink_report::Limit::Incomplete, stop: stop.into() }
    );
}

/// Stops a search after a number of polls, and keeps the stages that were reached.
struct Stopped {
    polls: AtomicU64,
    most: u64,
    stages: Mutex<Vec<Stage>>,
}

impl Stopped {
    fn after(most: u64) -> Stopped {
        Stopped { polls: AtomicU64::new(0), most, stages: Mutex::default() }
    }

    fn has(&self, stage: Stage) -> bool {
        self.stages.lock().expect("no panic").contains(&stage)
    }
}

impl Limits for Stopped {
    fn poll(&self, _: &Stats) -> Option<Stop> {
        (self.polls.fetch_add(1, Ordering::Relaxed) >= self.most).then_some(Stop::Time)
    }

    fn exceeded(&self) -> Option<Stop> {
        (self.polls.load(Ordering::Relaxed) > self.most).then_some(Stop::Time)
    }

    fn reached(&self, stage: Stage, _: u64) {
        self.stages.lock().expect("no panic").push(stage);
    }
}

#[test]
fn a_log_that_was_not_decided_is_not_being_explained() {
    let module = "---- MODULE Lease ----\nEXTENDS Sequences\nVARIABLE x\nInit == x = <<>>\nPick(b) == x' = Append(x, b)\n\
                  Same == UNCHANGED x\nNext == (\\E b \\in {0, 1} : Pick(b)) \\/ Same\n====\n";
    let settings = "[log]\nevent = \"ev\"\n[[log.rule]]\nevent = \"look\"\naction = \"Same\"\nbefore = { x = \"x\" }\n";
    let log = |last: u8| {
        format!(
            "{}{{\"ev\": \"look\", \"x\": [1, 0, 0, 1, 0, 1, 1, 0, 0, {last}]}}\n",
            "{\"ev\": \"Pick\"}\n".repeat(10)
        )
    };
    let judged = |last: u8, limits: &Stopped| {
        let (config, log) = ("INIT Init\nNEXT Next\n", log(last));
        let files = [("Lease.tla", module), ("Lease.cfg", config), ("omnilink.toml", settings), ("log.ndjson", &log)];
        check(&files, None, limits).expect("a report").verdict.word().to_owned()
    };
    let stopped = Stopped::after(0);
    assert_eq!((judged(1, &stopped).as_str(), stopped.has(Stage::Explaining)), ("inconclusive", false));
    let accepted = Stopped::after(u64::MAX - 1);
    assert_eq!((judged(1, &accepted).as_str(), accepted.has(Stage::Explaining)), ("accepted", false));
    let rejected = Stopped::after(u64::MAX - 1);
    assert_eq!((judged(2, &rejected).as_str(), rejected.has(Stage::Explaining)), ("rejected", true));
}

#[test]
fn a_history_that_was_not_decided_is_not_being_explained() {
    let line = |process: u8, value: u8| {
        format!(
            "{{\"process\": {process}, \"action\": \"Grant\", \"args\": [\"{}\"], \"start\": 1, \"end\": 9}}\n",
            (b'a' + value) as char
        )
    };
    let judged = |log: &str, limits: &Stopped| {
        let files = [("Lease.tla", LEASE), ("Lease.cfg", CONFIG), ("log.ndjson", log)];
        check(&files, None, limits).expect("a report").verdict.word().to_owned()
    };
    let rejected = Stopped::after(u64::MAX - 1);
    assert_eq!(judged(&(line(0, 0) + &line(1, 1)), &rejected), "rejected");
    assert!(rejected.has(Stage::Explaining));
    let accepted = Stopped::after(u64::MAX - 1);
    assert_eq!(judged(&line(0, 0), &accepted), "accepted");
    assert!(!accepted.has(Stage::Explaining));
}

#[test]
fn a_rejection_without_reasons_is_a_rejection_in_every_format() {
    let report = |stage| given_up("run", "queue", &"linearizable".parse().expect("a level"), Stop::Time, stage, 3);
    assert_eq!(report(Stage::Searching).verdict.word(), "inconclusive");
    let report = report(Stage::Explaining);
    assert_eq!(report.verdict.word(), "rejected");
    insta::assert_snapshot!(omnilink_report::text(&report, Detail::Full, false), @r"
    run: rejected
    error: no order of the operations is legal
     |
     = note: the reasons were not found: the time limit was reached
    ");
    let reports = [report];
    assert!(
        omnilink_report::junit(&reports, &[]).contains("failures=\"1\""),
        "{}",
        omnilink_report::junit(&reports, &[])
    );
    assert!(
        omnilink_report::markdown(&reports, &[]).contains("rejected"),
        "{}",
        omnilink_report::markdown(&reports, &[])
    );
    assert!(
        omnilink_report::sarif(&reports, &[]).contains("\"level\": \"error\""),
        "{}",
        omnilink_report::sarif(&reports, &[])
    );
}

/// A first mapping for a file or a directory among these files.
fn inferred(files: &[(&str, &str)], spec: &str, log: &str) -> String {
    let directory = written(files);
    let path = |name: &str| directory.path().join(Path::new(name));
    infer(&path(spec), &path(log), 0).unwrap_or_else(|failed| panic!("{}", failed.message()))
}

#[test]
fn a_mapping_of_a_foreign_log_is_a_skeleton_of_comments() {
    let line =
        |svc: &str, msg: &str, rest: &str| format!("{{\"t\": 1, \"svc\": \"{svc}\", \"msg\": \"{msg}\"{rest}}}\n");
    let a = line("arbiter", "lease granted", ", \"to\": \"a\", \"epoch\": 1") + &line("arbiter", "lease expired", "");
    let b = line("worker", "lease granted", ", \"epoch\": 1") + &line("worker", "lease expired", "");
    let logs = [("logs/a.log", a.as_str()), ("logs/b.log", &b), ("logs/README.log", "not a log\n")];
    let files = [&[("Lease.tla", LEASE), ("Lease.cfg", CONFIG)][..], &logs].concat();
    insta::assert_snapshot!(inferred(&files, "Lease.tla", "logs"), @r#"
    [log]
    files = "*.log"
    # event = "msg"  # 2 values, none of them an action
    process = "svc"  # 2 values
    order = { time = "t" }

    # [log.constants]
    # Worker = { field = "...", all = true }

    # [[log.rule]]  # if the field is the variable after the step
    # has = "epoch"
    # after = { epoch = "epoch" }

    # [[log.rule]]  # 2 lines with svc, t
    # event = "lease expired"
    # action = "..."

    # [[log.rule]]  # 2 lines with epoch, svc, t, to
    # event = "lease granted"
    # action = "..."

    # Not in the log or the specification:
    # - no field has names of actions: set `event`, or write rules with `when`
    # - how far `t` of different processes may be apart: `uncertainty`
    "#);
}

#[test]
fn a_variable_that_a_parameter_ranges_over_is_not_a_constant() {
    let module = "---- MODULE Net ----\nCONSTANT Node\nVARIABLE net\nInit == net = {}\nSend(n) == net' = net \\cup {n}\n\
                  Receive(m) == net' = net \\ {m}\n\
                  Next == (\\E n \\in Node : Send(n)) \\/ (\\E m \\in net : Receive(m))\n====\n";
    let log = "{\"event\": \"Send\", \"n\": \"a\"}\n{\"event\": \"Receive\", \"m\": \"a\"}\n";
    let config = "CONSTANT Node = {\"a\"}\nINIT Init\nNEXT Next\n";
    let files = [("Net.tla", module), ("Net.cfg", config), ("log.ndjson", log)];
    insta::assert_snapshot!(inferred(&files, "Net.tla", "log.ndjson"), @r#"
    [log]
    event = "event"  # 2 of its values are names of actions

    # [log.constants]
    # Node = { field = "...", all = true }

    [[log.rule]]
    event = "Receive"
    args = { m = "m" }

    [[log.rule]]
    event = "Send"
    args = { n = "n" }
    "#);
}
