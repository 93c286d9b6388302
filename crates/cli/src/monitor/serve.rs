//! `/metrics` for Prometheus, `/health`, and a page about what was seen so far.
//!
//! It shows keys and values of operations: all users of machines that reach it can read them, unless there is a token.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::omnilink_monitor::{Cause, Counts, Monitor};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Response, StatusCode};
use omnilink_page::Index;
use serde_json::{Value, json};

use super::listen::Access;
use crate::args::{MonitorArgs, Unit};
use crate::exit::Exit;
use crate::files::TOOL;

/// A monitor that has not said anything for this long is not healthy.
const SILENT: Duration = Duration::from_secs(60);

/// What monitors last said, for each partition.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Said>>);

struct Said {
    spec: String,
    clock: Unit,
    source: String,
    partitions: BTreeMap<u32, Part>,
    recent: Vec<Value>,
    /// The checked operations and the violations at the last entry of `recent`.
    before: (u64, u64),
    since: Option<Instant>,
}

/// What the monitor of a partition said.
struct Part {
    counts: Counts,
    causes: Vec<Cause>,
    widest: Vec<(String, usize)>,
}

/// The most causes that are shown.
const MOST_CAUSES: usize = 100;

/// The most keys that are shown.
const MOST_KEYS: usize = 5;

impl Shared {
    pub(super) fn new(args: &MonitorArgs) -> Shared {
        Shared(Arc::new(Mutex::new(Said {
            spec: args.spec.clone(),
            clock: args.clock,
            source: super::name(args),
            partitions: BTreeMap::new(),
            recent: Vec::new(),
            before: (0, 0),
            since: None,
        })))
    }

    /// Takes over what the monitor of a partition has to say.
    pub(super) fn update(&self, partition: u32, monitor: &Monitor) {
        let part = Part {
            counts: monitor.counts(),
            causes: monitor.causes().into_iter().take(MOST_CAUSES).cloned().collect(),
            widest: monitor.widest(MOST_KEYS),
        };
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.partitions.insert(partition, part);
        said.note_progress();
    }

    /// Forgets a partition that another monitor has now.
    pub(super) fn remove(&self, partition: u32) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.partitions.remove(&partition);
        let Counts { checked, violations, .. } = said.counts();
        said.before = (checked, violations);
    }

    /// Says that the monitor lives, although it may have no partition.
    pub(super) fn is_alive(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).since = Some(Instant::now());
    }
}

impl Said {
    fn counts(&self) -> Counts {
        let mut all = self.partitions.values().map(|part| &part.counts);
        let first = all.next().cloned().unwrap_or_default();
        all.fold(first, Counts::merge)
    }

    fn note_progress(&mut self) {
        let Counts { checked, violations, .. } = self.counts();
        let (runs, failed) = (checked.saturating_sub(self.before.0), violations.saturating_sub(self.before.1));
        if runs > 0 {
            if self.recent.len() == 30 {
                self.recent.remove(0);
            }
            let now = omnilink_campaign::now().as_secs();
            self.recent.push(json!({ "at": now, "commit": Value::Null, "runs": runs, "failed": failed }));
        }
        (self.before, self.since) = ((checked, violations), Some(Instant::now()));
    }

    /// The causes of all partitions, most frequent first.
    fn causes(&self) -> Vec<Cause> {
        let mut causes: BTreeMap<&str, Cause> = BTreeMap::new();
        for cause in self.partitions.values().flat_map(|part| &part.causes) {
            let known = causes.entry(&cause.cause).or_insert_with(|| Cause { violations: 0, ..cause.clone() });
            known.violations += cause.violations;
        }
        let mut causes: Vec<Cause> = causes.into_values().collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.violations));
        causes.truncate(MOST_CAUSES);
        causes
    }

    fn is_healthy(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() < SILENT)
    }

    /// The page about many runs, with operations in place of runs.
    fn page(&self) -> String {
        let Counts { operations, checked, violations, unknown, lost, late, keys, lag, inconclusive, .. } =
            self.counts();
        let count = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
        let mut notes: Vec<String> = [
            count(unknown, "operations undecided"),
            count(lost, "operations lost"),
            count(late, "operations late"),
            count(inconclusive, "checks given up"),
            Some(format!("the watermark is {} behind", humantime::format_duration(self.clock.duration(lag)))),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut widest: Vec<&(String, usize)> = self.partitions.values().flat_map(|part| &part.widest).collect();
        widest.sort_by_key(|(_, ops)| std::cmp::Reverse(*ops));
        let widest = widest.into_iter().take(MOST_KEYS);
        notes.extend(widest.map(|(key, ops)| format!("key {key} holds {ops} operations")));
        let verdict = match () {
            () if violations > 0 => "fails",
            () if lost > 0 || inconclusive > 0 || unknown > 0 => "inconclusive",
            () => "passes",
        };
        let object = json!({
            "name": self.source,
            "spec": self.spec,
            "how": omnilink_campaign::MONITORED,
            "campaigns": 1,
            "runs": checked,
            "failed": violations,
            "operations": operations,
            "rate": omnilink_campaign::interval(violations, checked),
            "recent": self.recent,
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
                "object": self.source,
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
        let causes: Vec<Value> = self.causes().into_iter().map(cause).collect();
        let overview = json!({ "sentence": sentence, "since": Value::Null, "objects": [object], "causes": causes });
        let index = Index { tool: TOOL, name: &self.source, runs: Vec::new(), damaged: Vec::new(), overview };
        omnilink_page::file(&omnilink_page::index(&index), &sentence)
    }
}

/// Serves until the command ends.
pub(super) fn start(address: SocketAddr, access: &Access, shared: Shared) -> Result<(), Exit> {
    access.serve("--listen", address, move |request| {
        let shared = shared.clone();
        async move { answer(&shared, request.method(), request.uri().path()) }
    })
}

fn answer(shared: &Shared, method: &Method, path: &str) -> Response<Full<Bytes>> {
    let said = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
    let text = "text/plain; version=0.0.4; charset=utf-8";
    let (status, kind, body) = match path {
        _ if !matches!(*method, Method::GET | Method::HEAD) => {
            (StatusCode::METHOD_NOT_ALLOWED, text, "only GET and HEAD are supported\n".to_owned())
        }
        "/metrics" => (StatusCode::OK, text, said.counts().prometheus()),
        "/health" if said.is_healthy() => (StatusCode::OK, text, "ok\n".to_owned()),
        "/health" => (StatusCode::SERVICE_UNAVAILABLE, text, "the monitor is silent\n".to_owned()),
        "/" => (StatusCode::OK, "text/html; charset=utf-8", said.page()),
        _ => (StatusCode::NOT_FOUND, text, "not found\n".to_owned()),
    };
    let mut response = Response::new(Full::new(body.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if kind.starts_with("text/html")
        && let Ok(policy) = HeaderValue::from_str(&format!("{}; frame-ancestors 'none'", omnilink_page::policy()))
    {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
