//! SARIF 2.1.0, for code scanning: a rule is an action or an invariant, a result is a history that is not accepted, and
//! its location is the false part of the specification.
//!
//! The fingerprint of a result depends on the cause of the failure, never on values or line numbers: the same cause
//! keeps its fingerprint when other lines of the specification move and when another run fails in another way of the
//! same kind.

use std::hash::Hasher as _;

use fnv::FnvHasher;
use serde_json::{Value, json};

use crate::cause::without_numbers;
use crate::data::{Evidence, Legal, Outcome, Rejection, Report, Span, Stuck, Unchecked, Verdict, Why};
use crate::finding::{Finding, Note, lines, place};
use crate::text::problems;
use crate::wording::clean;

/// All histories that are not accepted or could not be checked, as a SARIF log.
pub fn sarif(reports: &[Report], unchecked: &[Unchecked]) -> String {
    let (mut rules, mut results): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut rule = |name: &str| {
        rules.iter().position(|rule| rule == name).unwrap_or_else(|| {
            rules.push(name.to_owned());
            rules.len() - 1
        })
    };
    for report in reports {
        let Some(finding) = Finding::new(report) else { continue };
        let cause = Cause::new(report, &finding);
        results.push(result(report, &finding, &cause, rule(&cause.rule)));
    }
    results.extend(unchecked.iter().map(|history| unchecked_result(history, rule(UNCHECKED))));
    let rules: Vec<Value> = rules.iter().map(|rule| json!({ "id": rule, "name": rule })).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "omnilink", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// The cause of a failure, without its values.
struct Cause {
    rule: String,
    reason: &'static str,
    legal: &'static str,
    /// The false expression, with whitespace normalized.
    text: String,
}

/// The words before the colon: `crashed`, `stuck`, `data race`. Others are crashes.
fn kind_of_end(ended: &str) -> &str {
    let kind = ended.split(':').next().unwrap_or_default();
    if ["stuck", "data race"].contains(&kind) { kind } else { "crashed" }
}

impl Cause {
    fn new(report: &Report, finding: &Finding) -> Cause {
        if let Some(ended) = report.ended.as_ref().filter(|_| report.has_failed()) {
            let (rule, text) = (kind_of_end(ended).replace(' ', "-"), without_numbers(ended));
            return Cause { rule, reason: "ended", legal: "", text };
        }
        let (rule, reason, legal) = match &report.verdict {
            Verdict::Accepted => ("accepted", "", ""),
            Verdict::Rejected(rejection) => match &rejection.evidence {
                Evidence::Stuck(stuck) => of_stuck(report, rejection, stuck),
                Evidence::Contradiction { .. } | Evidence::Views(_) => ("rejected", "unknown", "unknown"),
                Evidence::Anomaly(anomaly) => (anomaly.name.as_str(), "anomaly", ""),
                Evidence::Invariant(broken) => (broken.invariant.as_str(), "invariant", ""),
            },
            Verdict::Inconclusive { .. } => ("inconclusive", "inconclusive", ""),
        };
        let text = finding.primary().and_then(|mark| place(report, mark.span)).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Cause { rule: clean(rule), reason, legal, text }
    }

    fn fingerprint(&self) -> String {
        // The same on every machine and in every version.
        let mut hasher = FnvHasher::default();
        for part in [self.rule.as_str(), self.reason, self.legal, self.text.as_str()] {
            hasher.write(part.as_bytes());
            hasher.write(&[0]);
        }
        format!("{:016x}", hasher.finish())
    }
}

fn of_stuck<'a>(
    report: &'a Report,
    rejection: &'a Rejection,
    stuck: &'a Stuck,
) -> (&'a str, &'static str, &'static str) {
    let op = rejection.subject();
    let first = stuck.reasons.iter().find(|reason| Some(reason.op) == op);
    let reason = match first.map(|reason| &reason.why) {
        None => "unknown",
        Some(Why::Time { .. }) => "time",
        Some(Why::Guard(guard)) => {
            let outcomes = guard.conjuncts.iter().flat_map(|conjunct| &conjunct.outcomes);
            match outcomes.into_iter().any(|outcome| *outcome == Outcome::False) {
                true => "guard",
                false => "guard-error",
            }
        }
        Some(Why::Words { .. }) => "words",
        Some(Why::Excluded { .. }) => "excluded",
        Some(Why::Error { .. }) => "error",
        Some(Why::Dead) => "dead",
    };
    let legal = match stuck.legal {
        Legal::Earlier { .. } => "earlier",
        Legal::Later { .. } => "later",
        Legal::Never { .. } => "never",
        Legal::Unknown => "unknown",
    };
    (op.map_or("rejected", |op| report.op(op).action.as_str()), reason, legal)
}

fn result(report: &Report, finding: &Finding, cause: &Cause, rule: usize) -> Value {
    let mut text = format!("{}: {}", clean(&report.history.name), finding.title);
    let mut locations = Vec::new();
    if let Some(mark) = finding.primary() {
        text = format!("{text}\n{}", mark.label);
        locations.extend(location(report, mark.span));
    } else {
        locations.push(json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&report.history.name) } } }));
    }
    for note in &finding.notes {
        let (Note::Note(note) | Note::Help(note)) = note;
        text = format!("{text}\n{note}");
    }
    let related = finding.marks.iter().filter(|mark| Some(mark.span) != finding.primary().map(|primary| primary.span));
    let related = related.filter_map(|mark| {
        let mut location = location(report, mark.span)?;
        location["message"] = json!({ "text": message(&mark.label) });
        Some(location)
    });
    json!({
        "ruleId": cause.rule,
        "ruleIndex": rule,
        "level": if finding.is_warning { "warning" } else { "error" },
        "message": { "text": message(&text) },
        "locations": locations,
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { "omnilink/v1": cause.fingerprint() },
    })
}

/// The rule of histories that could not be checked.
const UNCHECKED: &str = "not-checked";

fn unchecked_result(unchecked: &Unchecked, rule: usize) -> Value {
    let text = format!("{}: {}", clean(&unchecked.history), problems(unchecked).trim_end());
    json!({
        "ruleId": UNCHECKED,
        "ruleIndex": rule,
        "level": "error",
        "message": { "text": message(&text) },
        "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(&unchecked.history) } } }],
    })
}

fn location(report: &Report, span: Span) -> Option<Value> {
    let [(line, column), (end_line, end_column)] = lines(report, span)?;
    let region = json!({ "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column });
    let artifact = json!({ "uri": uri(&report.sources.get(span.source)?.path) });
    Some(json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } }))
}

/// Text without links: SARIF takes `[text](target)` for one.
fn message(text: &str) -> String {
    if text.contains("](") { text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]") } else { text.into() }
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'\\' => out.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
