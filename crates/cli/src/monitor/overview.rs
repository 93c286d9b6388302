//! The page of `--listen`: what was seen so far, as the page about many runs, with operations in place of runs.

use omnilink_monitor::{Cause, Counts};
use omnilink_page::Index;
use omnilink_watch::{Page, Progress, Status};
use serde_json::{Value, json};

use crate::args::{MonitorArgs, Unit};
use crate::files::TOOL;

/// Makes pages about a status.
pub(super) fn page(args: &MonitorArgs) -> impl Fn(&Status) -> Page + Send + Sync + use<> {
    let (spec, clock, source) = (args.spec.clone(), args.clock, super::name(args));
    move |status| Page { html: render(status, &spec, clock, &source), policy: omnilink_page::policy() }
}

fn render(status: &Status, spec: &str, clock: Unit, source: &str) -> String {
    let Counts { operations, checked, violations, unknown, lost, late, keys, lag, inconclusive, .. } = status.counts();
    let count = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let mut notes: Vec<String> = [
        count(unknown, "operations undecided"),
        count(lost, "operations lost"),
        count(late, "operations late"),
        count(inconclusive, "checks given up"),
        Some(format!("the watermark is {} behind", humantime::format_duration(clock.duration(lag)))),
    ]
    .into_iter()
    .flatten()
    .collect();
    notes.extend(status.widest().into_iter().map(|(key, ops)| format!("key {key} holds {ops} operations")));
    let verdict = match () {
        () if violations > 0 => "fails",
        () if lost > 0 || inconclusive > 0 || unknown > 0 => "inconclusive",
        () => "passes",
    };
    let recent = |Progress { at, checked, violations }: Progress| json!({ "at": at.as_secs(), "commit": Value::Null, "runs": checked, "failed": violations });
    let object = json!({
        "name": source,
        "spec": spec,
        "how": omnilink_campaign::MONITORED,
        "campaigns": 1,
        "runs": checked,
        "failed": violations,
        "operations": operations,
        "rate": omnilink_campaign::interval(violations, checked),
        "recent": status.recent().into_iter().map(recent).collect::<Vec<Value>>(),
        "verdict": verdict,
        "notes": notes,
        "coverage": [],
        "never": [],
    });
    let sentence = format!("{violations} violations in {checked} operations of {keys} keys");
    let now = omnilink_campaign::now().as_secs();
    let cause = |cause: Cause| {
        json!({
            "kind": "rejected",
            "cause": cause.sentence,
            "meets": Value::Null,
            "object": source,
            "runs": cause.violations,
            "of": checked,
            "rate": omnilink_campaign::interval(cause.violations, checked),
            "first": { "at": now, "commit": Value::Null },
            "last": { "at": now, "commit": Value::Null },
            "is_new": false,
            "known": Value::Null,
            "run": Value::Null,
        })
    };
    let causes: Vec<Value> = status.causes().into_iter().map(cause).collect();
    let overview = json!({ "sentence": sentence, "since": Value::Null, "objects": [object], "causes": causes });
    let index = Index { tool: TOOL, name: source, runs: Vec::new(), damaged: Vec::new(), overview };
    omnilink_page::file(&omnilink_page::index(&index), &sentence)
}
