//! Reports built by hand, one of each kind that a person meets.

use omnilink_report::*;

const QUEUE: &str = "\
------------------------------- MODULE Queue -------------------------------
EXTENDS Naturals, Sequences
CONSTANT Elems
VARIABLE queue

Init == queue = <<>>
Enqueue(elem) == queue' = Append(queue, elem)
Dequeue(elem) ==
    /\\ queue # <<>>
    /\\ Head(queue) = elem
    /\\ queue' = Tail(queue)
Small == Len(queue) < 3
Next == \\E elem \\in Elems : Enqueue(elem) \\/ Dequeue(elem)
=============================================================================
";

/// Every sample, with its name.
pub(crate) fn all() -> Vec<(&'static str, Report)> {
    let all = [
        ("queue", queue()),
        ("several_reasons", several_reasons()),
        ("must_wait", must_wait()),
        ("evaluation_error", evaluation_error()),
        ("words", words()),
        ("contradiction", contradiction()),
        ("skew", skew()),
        ("violated", violated()),
        ("inconclusive", inconclusive()),
        ("accepted", accepted()),
        ("hostile", hostile()),
    ];
    all.into_iter().map(|(name, report)| (name, report.with_headline())).collect()
}

/// Two states, and neither has the element at its head.
pub(crate) fn queue() -> Report {
    let operations = vec![
        op("T7:310", "Enqueue", "49598", 100, Some(140)),
        op("T5:291", "Enqueue", "49599", 110, Some(150)),
        op("T6:77", "Enqueue", "49601", 115, None),
        op("T0:12463", "Enqueue", "49600", 160, Some(170)),
        op("T0:12464", "Dequeue", "49600", 180, Some(195)),
        op("T1:900", "Dequeue", "49597", 182, Some(240)),
        op("T5:292", "Dequeue", "49599", 197, Some(210)),
        op("T7:311", "Enqueue", "49602", 198, Some(230)),
    ];
    let states = vec![
        state("7f3a12", &[("queue", "<<49598, 49599, 49600>>")]),
        state("90bb01", &[("queue", "<<49599, 49598, 49600>>")]),
    ];
    let both = vec![Outcome::True, Outcome::True];
    let conjuncts = vec![
        conjunct("queue # <<>>", both, &[("queue", &["<<49598, 49599, 49600>>", "<<49599, 49598, 49600>>"])]),
        conjunct(
            "Head(queue) = elem",
            vec![Outcome::False, Outcome::False],
            &[("Head(queue)", &["49598", "49599"]), ("elem", &["49600", "49600"])],
        ),
        conjunct("queue' = Tail(queue)", vec![Outcome::NotReached, Outcome::NotReached], &[]),
    ];
    let guard = Guard { action: "Dequeue".into(), span: span("Dequeue(elem) =="), ways: 1, choices: vec![], conjuncts };
    let reasons = vec![
        Reason { op: OpRef(4), states: vec![0, 1], why: Why::Guard(guard) },
        Reason {
            op: OpRef(5),
            states: vec![0, 1],
            why: Why::Guard(Guard {
                action: "Dequeue".into(),
                span: span("Dequeue(elem) =="),
                ways: 1,
                choices: vec![],
                conjuncts: vec![conjunct(
                    "Head(queue) = elem",
                    vec![Outcome::False, Outcome::False],
                    &[("Head(queue)", &["49598", "49599"]), ("elem", &["49597", "49597"])],
                )],
            }),
        },
        Reason { op: OpRef(6), states: vec![0, 1], why: Why::Time { after: OpRef(4) } },
        Reason { op: OpRef(7), states: vec![0, 1], why: Why::Time { after: OpRef(4) } },
        Reason { op: OpRef(2), states: vec![0, 1], why: Why::Dead },
    ];
    let stuck = Stuck {
        groups: Vec::new(),
        states: states.clone(),
        interpretations: vec![
            Interpretation { state: 0, recent: steps(&[0, 1, 3]) },
            Interpretation { state: 1, recent: steps(&[1, 0, 3]) },
        ],
        reasons,
        expected: vec![vec![field("elem", "49598")], vec![field("elem", "49599")]],
        expects_more: false,
        legal: Legal::Later { after: OpRef(6) },
        what_ifs: vec![
            WhatIf { assumption: Assumption::Dropped, outcome: Consequence::Accepted },
            WhatIf {
                assumption: Assumption::OtherResults { results: vec![field("elem", "49598")] },
                outcome: Consequence::Rejected { blocked: Some(OpRef(6)), explained: 99_964 },
            },
            WhatIf {
                assumption: Assumption::ProgramOrder,
                outcome: Consequence::Inconclusive { stop: "the time limit was reached".into() },
            },
        ],
        window: Some(Window {
            start: vec![state("00aa", &[("queue", "<<>>")])],
            operations: (0..6).map(OpRef).collect(),
            before: 99_955,
        }),
    };
    let rejection = Rejection {
        sentence: "T0:12464 Dequeue(49600) is not allowed in any state that explains the history so far".into(),
        details: String::new(),
        blocked: vec![OpRef(4)],
        explained: 99_961,
        evidence: Evidence::Stuck(stuck),
    };
    Report {
        operations,
        next: vec![
            Command { what: "all of it".into(), line: "omnilink check --full specs/Queue.tla run.jsonl".into() },
            Command { what: "report".into(), line: "omnilink view specs/Queue.tla run.jsonl --at T0:12464".into() },
        ],
        ..report(Verdict::Rejected(Box::new(rejection)))
    }
}

/// Each of three states has a reason of its own, on one of several ways through the action.
pub(crate) fn several_reasons() -> Report {
    let guard = |conjuncts| {
        let choices = vec![field("slot", "2")];
        Why::Guard(Guard { action: "Dequeue".into(), span: span("Dequeue(elem) =="), ways: 4, choices, conjuncts })
    };
    let empty = vec![
        conjunct("queue # <<>>", vec![Outcome::False], &[("queue", &["<<>>"])]),
        conjunct("Head(queue) = elem", vec![Outcome::NotReached], &[]),
    ];
    let other = vec![
        conjunct("queue # <<>>", vec![Outcome::True], &[("queue", &["<<1>>"])]),
        conjunct("Head(queue) = elem", vec![Outcome::False], &[("Head(queue)", &["1"]), ("elem", &["2"])]),
    ];
    let excluded = Why::Excluded { name: "Small".into(), span: span("Len(queue) < 3") };
    let reason = |state, why| Reason { op: OpRef(0), states: vec![state], why };
    let stuck = Stuck {
        groups: Vec::new(),
        states: ["<<>>", "<<1>>", "<<2, 3, 4, 5>>"].map(|queue| state(queue, &[("queue", queue), ("n", "1")])).to_vec(),
        reasons: vec![reason(0, guard(empty)), reason(1, guard(other)), reason(2, excluded)],
        expected: (0..7).map(|n| vec![field("elem", &n.to_string()), field("ok", "TRUE")]).collect(),
        expects_more: true,
        legal: Legal::Never { looked_at: 64 },
        ..stuck()
    };
    let rejection = Rejection {
        sentence: "T0:3 Dequeue(2) is not allowed in any state that explains the history so far".into(),
        details: String::new(),
        blocked: vec![OpRef(0)],
        explained: 2,
        evidence: Evidence::Stuck(stuck),
    };
    let operations = vec![op("T0:3", "Dequeue", "2", 1, Some(2))];
    Report { operations, ..report(Verdict::Rejected(Box::new(rejection))) }
}

/// Nothing can be next, because each waits for another.
pub(crate) fn must_wait() -> Report {
    let stuck = Stuck {
        groups: Vec::new(),
        states: vec![state("a1", &[("queue", "<<>>")])],
        reasons: vec![
            Reason { op: OpRef(1), states: vec![0], why: Why::Time { after: OpRef(0) } },
            Reason { op: OpRef(0), states: vec![0], why: Why::Dead },
            Reason { op: OpRef(2), states: vec![0], why: Why::Time { after: OpRef(1) } },
        ],
        legal: Legal::Earlier { until: OpRef(0) },
        ..stuck()
    };
    let rejection = Rejection {
        sentence: "T1:2 Dequeue(5) is not allowed in any state that explains the history so far".into(),
        details: String::new(),
        blocked: vec![OpRef(1)],
        explained: 1,
        evidence: Evidence::Stuck(stuck),
    };
    let operations = vec![
        op("T0:1", "Enqueue", "5", 1, Some(2)),
        op("T1:2", "Dequeue", "5", 3, Some(4)),
        op("T2:1", "Enqueue", "6", 5, Some(6)),
    ];
    let history = History { operations: Some(3), processes: 3, ..report(Verdict::Accepted).history };
    Report { operations, history, ..report(Verdict::Rejected(Box::new(rejection))) }
}

/// The specification has no value where it is asked.
pub(crate) fn evaluation_error() -> Report {
    let stuck = Stuck {
        groups: Vec::new(),
        states: vec![state("a1", &[("queue", "<<>>")])],
        reasons: vec![Reason {
            op: OpRef(0),
            states: vec![0],
            why: Why::Error { message: "`Head` of an empty sequence".into(), span: Some(span("Head(queue)")) },
        }],
        legal: Legal::Never { looked_at: 1 },
        ..stuck()
    };
    let rejection = Rejection {
        sentence: "T0:1 Dequeue(1) is not allowed in any state that explains the history so far".into(),
        details: String::new(),
        blocked: vec![OpRef(0)],
        explained: 0,
        evidence: Evidence::Stuck(stuck),
    };
    let history = History { operations: Some(1), processes: 1, ..report(Verdict::Accepted).history };
    let operations = vec![op("T0:1", "Dequeue", "1", 1, Some(2))];
    Report { operations, history, ..report(Verdict::Rejected(Box::new(rejection))) }
}

/// A built-in specification has no text to point into.
pub(crate) fn words() -> Report {
    let why = |text: &str| Why::Words { text: text.into() };
    let stuck = Stuck {
        groups: Vec::new(),
        states: vec![state("3", &[("", "3")]), state("5", &[("", "5")])],
        reasons: vec![
            Reason { op: OpRef(1), states: vec![0], why: why("the register holds 3, not 4") },
            Reason { op: OpRef(1), states: vec![1], why: why("the register holds 5, not 4") },
        ],
        expected: vec![vec![field("", "3")], vec![field("", "5")]],
        expects_more: true,
        legal: Legal::Earlier { until: OpRef(0) },
        what_ifs: vec![WhatIf {
            assumption: Assumption::Dropped,
            outcome: Consequence::Rejected { blocked: Some(OpRef(0)), explained: 1_024 },
        }],
        ..stuck()
    };
    let rejection = Rejection {
        sentence: "no order of the operations allows c3:17 read() = 4".into(),
        details: String::new(),
        blocked: vec![OpRef(1)],
        explained: 1_024,
        evidence: Evidence::Stuck(stuck),
    };
    let mut write = op("c1:9", "write", "5", 10, Some(20));
    write.text = "write(5)".into();
    let mut read = op("c3:17", "read", "4", 15, Some(30));
    read.text = "read() = 4".into();
    Report {
        operations: vec![write, read],
        spec: Spec { name: "register".into(), constants: vec![] },
        sources: vec![],
        ..report(Verdict::Rejected(Box::new(rejection)))
    }
}

/// A few operations cannot all be, whatever the others do.
pub(crate) fn contradiction() -> Report {
    let operations = vec![
        op("T0:1", "enqueue", "1", 1, Some(2)),
        op("T0:2", "enqueue", "2", 3, Some(8)),
        op("T1:1", "dequeue", "2", 4, Some(5)),
    ];
    let rejection = Rejection {
        sentence: "2 is dequeued before 1, which was enqueued first".into(),
        details: String::new(),
        blocked: vec![],
        explained: 0,
        evidence: Evidence::Contradiction { operations: (0..3).map(OpRef).collect() },
    };
    let spec = Spec { name: "queue".into(), constants: vec![] };
    Report { operations, spec, sources: vec![], ..report(Verdict::Rejected(Box::new(rejection))) }
}

/// Each of two transactions missed the write of the other.
pub(crate) fn skew() -> Report {
    let txn = |label: &str, op: usize, write: &str| Involved {
        label: label.into(),
        op: OpRef(op),
        accesses: vec!["r(x) = 0".into(), "r(y) = 0".into(), write.into()],
        has_more: false,
    };
    let edge = |from: usize, to: usize, key: &str| Precedes {
        from,
        to,
        kind: Precedence::Missed,
        reason: format!("T{} read {key} = 0, which is older than {key} = 1 of T{}", from + 1, to + 1),
        accesses: vec![
            AccessRef { transaction: from, access: usize::from(key == "y") },
            AccessRef { transaction: to, access: 2 },
        ],
    };
    let anomaly = Anomaly {
        name: "write skew".into(),
        transactions: vec![txn("T1", 0, "w(x, 1)"), txn("T2", 1, "w(y, 1)")],
        edges: vec![edge(0, 1, "y"), edge(1, 0, "x")],
        accesses: vec![],
    };
    let rejection = Rejection {
        sentence: "write skew: T1 and T2 each missed a write of the other".into(),
        details: "Not `serializable`: 2 of 2 transactions take part.".into(),
        blocked: vec![OpRef(0), OpRef(1)],
        explained: 0,
        evidence: Evidence::Anomaly(anomaly),
    };
    let levels = |order, levels: &[&str]| StrongestLevels {
        order,
        levels: levels.iter().map(|&level| level.into()).collect(),
        undecided: vec![],
    };
    Report {
        operations: vec![
            op("T0:0", "txn", "r(x) = 0 r(y) = 0 w(x, 1)", 1, Some(5)),
            op("T1:0", "txn", "r(x) = 0 r(y) = 0 w(y, 1)", 2, Some(6)),
        ],
        spec: Spec { name: "serializable".into(), constants: vec![] },
        isolation: Some(Isolation {
            level: "serializable".into(),
            accesses: 6,
            strongest: vec![
                levels(Order::None, &["snapshot"]),
                levels(Order::RealTime, &["prefix", "parallel-snapshot"]),
            ],
        }),
        sources: vec![],
        ..report(Verdict::Rejected(Box::new(rejection)))
    }
}

/// The actions allow the history, an invariant does not.
pub(crate) fn violated() -> Report {
    let values: &[(&str, &[&str])] = &[("Len(queue)", &["3"])];
    let broken = Broken {
        invariant: "Small".into(),
        broke: Vec::new(),
        span: span("Small"),
        states: vec![state("c4", &[("queue", "<<1, 2, 3>>")])],
        conjuncts: vec![conjunct("Len(queue) < 3", vec![Outcome::False], values)],
    };
    let rejection = Rejection {
        sentence: "every explanation of the history violates the invariant `Small`".into(),
        details: String::new(),
        blocked: vec![OpRef(0)],
        explained: 2,
        evidence: Evidence::Invariant(broken),
    };
    Report {
        operations: vec![op("T0:3", "Enqueue", "3", 5, Some(6))],
        ..report(Verdict::Rejected(Box::new(rejection)))
    }
}

/// Too many operations at once.
pub(crate) fn inconclusive() -> Report {
    let operations: Vec<Operation> =
        (0..9).map(|n| op(&format!("T{n}:1"), "Enqueue", &n.to_string(), n, (n > 1).then_some(90 + n))).collect();
    let mut report =
        report(Verdict::Inconclusive { limit: Limit::Memory, stop: "the limit of 4 GiB of memory was reached".into() });
    report.stats.widest = Some(Widest { width: 12_345, at: Some(OpRef(2)), in_flight: (0..9).map(OpRef).collect() });
    report.stats.returned = 41;
    Report { operations, ..report }
}

/// Nothing is wrong.
pub(crate) fn accepted() -> Report {
    let mut report = report(Verdict::Accepted);
    report.history.cuts = vec!["the last line has no end".into()];
    report
}

/// Strings that mean harm, and values that are too long.
pub(crate) fn hostile() -> Report {
    let nasty = "\u{1b}[2J</script><b>|`\n::error::x\u{202e}&]]>%0A";
    let mut report = queue();
    report.history.name = format!("{nasty}.jsonl");
    report.sources[0].path = format!("{nasty}.tla");
    report.sources[0].text = QUEUE.replace("Head(queue) = elem", "Head(queue) = elem \\* \u{1b}[31m\u{202e}```");
    report.notes = vec![nasty.into()];
    report.next[0].line = nasty.into();
    report.operations = (0..12)
        .map(|n| {
            let mut op = op(&format!("{nasty}{n}:1"), "Dequeue", "1", n, Some(1000));
            op.process = format!("{n}{nasty}");
            op.text = format!("Dequeue({})", nasty.repeat(3));
            op
        })
        .collect();
    if let Verdict::Rejected(rejection) = &mut report.verdict {
        rejection.sentence = nasty.into();
    }
    if let Some(stuck) = stuck_of(&mut report) {
        stuck.states[0].variables[0].value = nasty.repeat(3);
        stuck.reasons[0].why = match stuck.reasons[0].why.clone() {
            Why::Guard(mut guard) => {
                guard.conjuncts[1].values[0].values[0] = Some(nasty.repeat(3));
                guard.ways = 3;
                guard.choices = vec![field("x", nasty)];
                Why::Guard(guard)
            }
            other => other,
        };
        if let Some(window) = &mut stuck.window {
            window.operations = (0..12).map(OpRef).collect();
        }
    }
    report
}

/// Where every order gets stuck.
pub(crate) fn stuck_of(report: &mut Report) -> Option<&mut Stuck> {
    match &mut report.verdict {
        Verdict::Rejected(rejection) => match &mut rejection.evidence {
            Evidence::Stuck(stuck) => Some(stuck),
            _ => None,
        },
        _ => None,
    }
}

/// The same report after lines were added above everything.
pub(crate) fn moved(report: Report, lines: usize) -> Report {
    let mut json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    shift(&mut json, lines);
    let mut report: Report = serde_json::from_value(json).unwrap();
    report.sources[0].text = "\n".repeat(lines) + &report.sources[0].text;
    report
}

fn shift(json: &mut serde_json::Value, by: usize) {
    if let Some(span) = json.get_mut("span") {
        for end in ["start", "end"] {
            span[end] = (span[end].as_u64().unwrap() + by as u64).into();
        }
    }
    match json {
        serde_json::Value::Object(fields) => fields.values_mut().for_each(|value| shift(value, by)),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|value| shift(value, by)),
        _ => {}
    }
}

fn report(verdict: Verdict) -> Report {
    let history =
        History { name: "run.jsonl".into(), operations: Some(100_000), processes: 8, cuts: vec![], events: Vec::new() };
    Report {
        spec: Spec { name: "specs/Queue.tla".into(), constants: vec![field("Elems", "0..49602")] },
        sources: vec![Source { path: "specs/Queue.tla".into(), text: QUEUE.into() }],
        stats: Stats {
            method: "searched whole".into(),
            returned: 100_000,
            evaluations: 412_345,
            generated: 250_000,
            distinct: 105_210,
            seconds: 1.25,
            ..Stats::default()
        },
        ..Report::new(history, verdict)
    }
}

fn stuck() -> Stuck {
    Stuck {
        groups: Vec::new(),
        states: vec![],
        interpretations: vec![],
        reasons: vec![],
        expected: vec![],
        expects_more: false,
        legal: Legal::Unknown,
        what_ifs: vec![],
        window: None,
    }
}

fn op(name: &str, action: &str, elem: &str, start: u64, end: Option<u64>) -> Operation {
    let process = name.split(':').next().unwrap_or_default().to_owned();
    let text = format!("{action}({elem})");
    let args = vec![field("elem", elem)];
    Operation {
        name: name.into(),
        process,
        text,
        action: action.into(),
        args,
        results: vec![],
        start,
        end,
        outcome: None,
        meta: vec![],
    }
}

fn field(name: &str, value: &str) -> Field {
    Field { name: name.into(), value: value.into() }
}

fn state(id: &str, variables: &[(&str, &str)]) -> State {
    State { id: id.into(), variables: variables.iter().map(|(name, value)| field(name, value)).collect() }
}

fn steps(ops: &[usize]) -> Vec<Step> {
    ops.iter().map(|&op| Step { op: OpRef(op), partway: false }).collect()
}

fn conjunct(text: &str, outcomes: Vec<Outcome>, values: &[(&str, &[&str])]) -> Conjunct {
    let evaluated = |(text, values): &(&str, &[&str])| Evaluated {
        text: (*text).into(),
        values: values.iter().map(|value| Some((*value).to_owned())).collect(),
    };
    Conjunct { span: span(text), text: text.into(), outcomes, values: values.iter().map(evaluated).collect() }
}

fn span(text: &str) -> Span {
    let start = QUEUE.find(text).unwrap();
    Span { source: 0, start, end: start + text.len() }
}
