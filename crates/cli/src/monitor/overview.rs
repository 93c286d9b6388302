//! The pages of `--listen`: the alerts, rate and lag so far, and the report of each alert that has one.

use std::time::Duration;

use omnilink_monitor::{Cause, Counts};
use omnilink_page::Index;
use omnilink_watch::{Page, Progress, Raised, Status};
use serde_json::{Value, json};

use super::tell::page_name;
use crate::args::{MonitorArgs, Unit};
use crate::files::{TOOL, page as report_page};

/// The time after which a browser requests the overview again.
const REFRESH: Duration = Duration::from_secs(2);

/// Makes the pages about a status, by their paths.
pub(super) fn pages(args: &MonitorArgs) -> impl Fn(&Status, &str) -> Option<Page> + Send + Sync + use<> {
    let clock = args.isolation.is_none().then_some(args.clock);
    let (spec, source) = (super::subject_name(args), super::name(args));
    move |status, path| {
        let policy = omnilink_page::policy();
        if path == "/" {
            return Some(Page { html: overview(status, &spec, clock, &source), policy, refresh: Some(REFRESH) });
        }
        let name = path.strip_prefix('/')?;
        let raised = status.alerts().into_iter().find(|raised| name_of(raised).as_deref() == Some(name))?;
        let html = report_page(raised.alert.report.as_deref()?, None, None, None);
        Some(Page { html, policy, refresh: None })
    }
}

/// The name of the page about an alert, if it has a report.
fn name_of(raised: &Raised) -> Option<String> {
    raised.alert.report.as_ref().map(|_| page_name(raised.partition, raised.alert.number))
}

/// `clock` is the unit of times; stamps of databases have none.
fn overview(status: &Status, spec: &str, clock: Option<Unit>, source: &str) -> String {
    let Counts { operations, checked, violations, unknown, lost, late, keys, lag, .. } = status.counts();
    let alert = |raised: &Raised| {
        let alert = &raised.alert;
        json!({
            "at": raised.at.as_secs(),
            "kind": alert.kind,
            "key": alert.key,
            "sentence": alert.sentence,
            "page": name_of(raised),
        })
    };
    let cause = |cause: Cause| json!({ "sentence": cause.sentence, "violations": cause.violations });
    let second = |Progress { at, checked, violations }| {
        let at = at.as_secs();
        json!({ "at": at, "checked": checked, "violations": violations })
    };
    let monitor = json!({
        "spec": spec,
        "operations": operations,
        "checked": checked,
        "violations": violations,
        "undecided": unknown,
        "lost": lost,
        "late": late,
        "keys": keys,
        "lag": match clock {
            Some(clock) => omnilink_report::duration(clock.duration(lag).as_secs_f64()),
            None => lag.to_string(),
        },
        "alerts": status.alerts().iter().map(|raised| alert(raised)).collect::<Vec<Value>>(),
        "causes": status.causes().into_iter().map(cause).collect::<Vec<Value>>(),
        "recent": status.recent().into_iter().map(second).collect::<Vec<Value>>(),
        "widest": status.widest().into_iter()
            .map(|(key, operations)| json!({ "key": key, "operations": operations }))
            .collect::<Vec<Value>>(),
    });
    let sentence = format!("{violations} violations in {checked} operations of {keys} keys");
    let (runs, damaged, overview) = (Vec::new(), Vec::new(), Value::Null);
    let index = Index { tool: TOOL, name: source, runs, damaged, overview, monitor };
    omnilink_page::file(&omnilink_page::index(&index), &sentence)
}
