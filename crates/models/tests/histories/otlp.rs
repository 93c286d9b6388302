//! Traces of OpenTelemetry from hosts whose clocks differ, against the oracle that tries every order.
//!
//! A register runs with operations on several hosts, and a few calls between hosts and a server bound their clocks. The
//! history in true time decides what is right: a trace that is read with the clocks of the hosts is never rejected if
//! the history in true time is allowed, whatever the differences are.

use fastrand::Rng;
use omnilink_history::format::otlp;
use omnilink_history::{Call, History, IllFormed, Trace};
use omnilink_models::check::ModelOptions;
use omnilink_models::{Model, Visitor, with_model};
use omnilink_search::{Criterion, Unwatched};

/// A span in true time.
struct Span {
    host: usize,
    start: u64,
    end: u64,
    more: String,
    attributes: Vec<(&'static str, String)>,
}

/// Operations, and calls of hosts to a server.
struct Run {
    operations: Vec<Span>,
    calls: Vec<Span>,
}

const HOSTS: usize = 3; // The last one is the server.

/// Runs a register. Some reads are spoilt.
fn run(rng: &mut Rng) -> Run {
    let (mut operations, mut calls) = (Vec::new(), Vec::new());
    let (mut now, mut value) = (100_000, 0);
    let mut free = [now; HOSTS - 1];
    let mut counts = [0; HOSTS - 1];
    let spoilt = if rng.bool() { 0 } else { 40 };
    for _ in 0..rng.usize(3..8) {
        // Operations take effect in this order.
        now += rng.u64(1..40);
        let host = rng.usize(0..HOSTS - 1);
        let start = now.saturating_sub(rng.u64(0..60)).max(free[host]);
        if start > now {
            continue;
        }
        let end = now + rng.u64(0..60);
        let mut attributes = vec![("omnilink.process", format!("\"p{host}\""))];
        attributes.push(("omnilink.seq", counts[host].to_string()));
        counts[host] += 1;
        free[host] = end + 1;
        if rng.bool() {
            value = rng.i64(0..3);
            attributes.push(("omnilink.action", "\"write\"".into()));
            attributes.push(("omnilink.arg.value", value.to_string()));
        } else {
            let seen = if rng.u32(0..100) < spoilt { rng.i64(0..3) } else { value };
            attributes.push(("omnilink.action", "\"read\"".into()));
            attributes.push(("omnilink.result.value", seen.to_string()));
        }
        operations.push(Span { host, start, end, more: String::new(), attributes });
    }
    for (host, count) in counts.iter().enumerate() {
        let attributes = vec![("omnilink.process", format!("\"p{host}\"")), ("omnilink.count", count.to_string())];
        operations.push(Span { host, start: now, end: now, more: String::new(), attributes });
    }
    for id in 0..rng.u64(4..12) {
        let host = (id % (HOSTS as u64 - 1)) as usize;
        let start = 100_000 + rng.u64(0..300);
        let arrived = start + rng.u64(0..30);
        let answered = arrived + rng.u64(0..20);
        let end = answered + rng.u64(0..30);
        // The server closes its span late.
        let closed = answered + rng.u64(0..100);
        let client = format!("\"kind\": 3, \"spanId\": \"{:016x}\",", id + 1000);
        let server =
            format!("\"kind\": 2, \"spanId\": \"{:016x}\", \"parentSpanId\": \"{:016x}\",", id + 2000, id + 1000);
        calls.push(Span { host, start, end, more: client, attributes: Vec::new() });
        calls.push(Span { host: HOSTS - 1, start: arrived, end: closed, more: server, attributes: Vec::new() });
    }
    Run { operations, calls }
}

/// The spans with the clocks of their hosts, which are ahead by these differences.
fn write(run: &Run, ahead: [u64; HOSTS], name: impl Fn(usize) -> String) -> String {
    let mut documents = Vec::new();
    for (place, span) in run.operations.iter().chain(&run.calls).enumerate() {
        let attribute = |(key, value): &(&str, String)| {
            let kind = if value.starts_with('"') { "stringValue" } else { "intValue" };
            format!(r#"{{"key": "{key}", "value": {{"{kind}": {value}}}}}"#)
        };
        let attributes: Vec<String> = span.attributes.iter().map(attribute).collect();
        let id = if span.more.is_empty() { format!("\"spanId\": \"{:016x}\",", place + 1) } else { span.more.clone() };
        documents.push(format!(
            r#"{{"resourceSpans": [{{"resource": {{"attributes": [{}]}}, "scopeSpans": [{{"spans": [{{"traceId":
            "{:032x}", {id} "startTimeUnixNano": "{}", "endTimeUnixNano": "{}", "attributes": [{}]}}]}}]}}]}}"#,
            attribute(&("host.name", format!("\"{}\"", name(span.host)))),
            1,
            span.start + ahead[span.host],
            span.end + ahead[span.host],
            attributes.join(", "),
        ));
    }
    documents.join("\n")
}

/// The verdict on a trace, which the oracle confirms.
struct Check(Trace);

impl Visitor for Check {
    type Output = bool;

    fn visit<M: Model>(self, model: M) -> bool {
        let history: History<Call> = History::new(self.0).unwrap();
        let bound = history.try_map(|op| model.bind(op)).unwrap();
        let expected = omnilink_testkit::is_allowed(&model, &bound, Criterion::LINEARIZABLE);
        let checked = omnilink_models::check::check(&model, &history, &ModelOptions::default(), &Unwatched).unwrap();
        assert_eq!(checked.verdict.is_accepted(), expected, "{:#?}", history.ops());
        expected
    }
}

fn is_accepted(text: &str) -> bool {
    let trace = otlp::read(text).unwrap_or_else(|error| panic!("{error}: {:?}\n{text}", error.help));
    with_model("register:initial=0", Check(trace)).unwrap()
}

#[test]
fn differences_between_clocks_never_reject() {
    const ROUNDS: usize = 3_000;
    let (mut accepted, mut rejected, mut wrong) = (0, 0, 0);
    for seed in 0..ROUNDS as u64 {
        let mut rng = Rng::with_seed(seed);
        let run = run(&mut rng);
        let same = |_| "one".to_owned();
        let is_allowed = is_accepted(&write(&run, [0; HOSTS], same));
        let ahead = [rng.u64(0..2_000), rng.u64(0..2_000), rng.u64(0..2_000)];
        let found = is_accepted(&write(&run, ahead, |host| format!("h{host}")));
        assert!(found || !is_allowed, "seed {seed}: a history that is allowed is rejected, {ahead:?}");
        (accepted, rejected) = (accepted + usize::from(found), rejected + usize::from(!found));
        // The same times, believed.
        wrong += usize::from(is_allowed && !is_accepted(&write(&run, ahead, same)));
    }
    let shown = format!("{accepted} accepted, {rejected} rejected; {wrong} wrongly if clocks are believed");
    assert!(accepted > ROUNDS / 5 && rejected > ROUNDS / 10 && wrong > ROUNDS / 20, "{shown}");
}

#[test]
fn histories_with_lost_operations_have_no_verdict() {
    for seed in 0..1_000 {
        let mut rng = Rng::with_seed(seed);
        let mut run = run(&mut rng);
        let operations = run.operations.iter().filter(|span| span.attributes.len() > 2).count();
        if operations == 0 {
            continue;
        }
        run.operations.remove(rng.usize(0..operations));
        let trace = otlp::read(&write(&run, [0; HOSTS], |_| "one".to_owned())).unwrap();
        assert!(matches!(History::new(trace), Err(IllFormed::Incomplete(_))), "seed {seed}");
    }
}
