//! The findings of the campaigns of a store over time: new causes, the frequency of each, and the exercised operations.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use omnilink_explore::Coverage;
use omnilink_report::clean;
use omnilink_suggest::counted;
use serde::Serialize;

use crate::causes::{KnownCause, interval, share};
use crate::ledger::{Entry, Failure, MONITORED, time_of_commit};

/// The campaigns of a store, by object and by cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// A sentence about new causes.
    pub sentence: String,
    /// Causes first seen since then are new; `None` if there is nothing to compare with.
    pub since: Option<String>,
    /// The objects, by name.
    pub objects: Vec<Object>,
    /// The causes: new ones first, then by the number of runs.
    pub causes: Vec<SeenCause>,
}

/// An object, and how it was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Object {
    name: String,
    spec: String,
    how: String,
    campaigns: usize,
    runs: u64,
    failed: u64,
    operations: u64,
    /// The 95 % confidence interval of the share of failing runs.
    rate: (f64, f64),
    /// The last campaigns, oldest first.
    recent: Vec<Recent>,
    verdict: &'static str,
    notes: Vec<String>,
    coverage: Vec<Covered>,
    never: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Recent {
    at: u64,
    commit: Option<String>,
    runs: u64,
    failed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Covered {
    action: String,
    operations: u64,
    overlapped: u64,
    with: BTreeMap<String, u64>,
}

/// A cause, over all campaigns of its object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeenCause {
    kind: String,
    cause: String,
    meets: Option<String>,
    object: String,
    runs: u64,
    of: u64,
    rate: (f64, f64),
    first: Moment,
    last: Moment,
    is_new: bool,
    known: Option<KnownCause>,
    /// A stored run with this cause.
    run: Option<String>,
}

/// When a campaign ended, and the commit that was checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Moment {
    at: u64,
    commit: Option<String>,
}

/// The start of the period in which causes are new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    at: u64,
    text: String,
}

impl Since {
    /// A commit, a day such as `2026-11-16`, a time, or a duration before now such as `14d`.
    pub fn parse(text: &str, entries: &[Entry], directory: &Path, now: u64) -> Option<Since> {
        if let Ok(ago) = humantime::parse_duration(text) {
            return Some(Since { at: now.saturating_sub(ago.as_secs()), text: format!("{text} ago") });
        }
        let day = format!("{text}T00:00:00Z");
        if let Ok(time) = humantime::parse_rfc3339_weak(text).or_else(|_| humantime::parse_rfc3339(&day)) {
            let at = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
            return Some(Since { at, text: text.to_owned() });
        }
        // After the last campaign of that commit.
        let is_it = |entry: &&Entry| {
            let commit = entry.campaign.commit.as_deref().map(|commit| commit.trim_end_matches('+'));
            text.len() >= 4 && commit.is_some_and(|commit| commit.starts_with(text) || text.starts_with(commit))
        };
        let ended = entries.iter().rfind(is_it).map(|entry| entry.campaign.at + 1);
        let at = ended.or_else(|| time_of_commit(directory, text))?;
        Some(Since { at, text: format!("commit {text}") })
    }

    /// The first campaign of the commit that was checked out last.
    fn last_change(entries: &[Entry]) -> Option<Since> {
        let last = entries.last()?.campaign.commit.clone();
        let before = entries.iter().rfind(|entry| entry.campaign.commit != last)?;
        let text = match &before.campaign.commit {
            Some(commit) => format!("commit {commit}"),
            None => day_and_time(before.campaign.at),
        };
        Some(Since { at: before.campaign.at + 1, text })
    }
}

/// The maximum number of campaigns of an object to list one by one.
const MOST_RECENT: usize = 30;

impl Overview {
    /// The overview of campaigns, oldest first; `None` if there are none. Without `since`, a cause is new if it was first
    /// seen with the commit that was checked out last.
    pub fn new(entries: &[Entry], since: Option<Since>) -> Option<Overview> {
        let mut of_objects: BTreeMap<(&str, &str, &str), Vec<&Entry>> = BTreeMap::new();
        for entry in entries {
            let campaign = &entry.campaign;
            of_objects.entry((&campaign.object, &campaign.spec, &campaign.how)).or_default().push(entry);
        }
        let since = since.or_else(|| Since::last_change(entries));
        let mut causes: Vec<SeenCause> = Vec::new();
        let mut objects = Vec::new();
        for ((name, spec, how), entries) in of_objects {
            let found = causes_of(name, &entries, since.as_ref());
            objects.push(object((name, spec, how), &entries, &found));
            causes.extend(found);
        }
        causes.sort_by_key(|cause| (!cause.is_new, std::cmp::Reverse(cause.runs)));
        let sentence = sentence(&causes, since.as_ref(), entries)?;
        Some(Overview { sentence, since: since.map(|since| since.text), objects, causes })
    }

    /// The overview as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", clean(&self.sentence));
        for object in &self.objects {
            let Object { name, spec, how, campaigns, runs, failed, operations, verdict, notes, .. } = object;
            let which = if *verdict == "passes" && *failed > 0 { "the last campaign " } else { "" };
            let _ = writeln!(text, "\n{}, {how}, against {}: {which}{verdict}", clean(name), clean(spec));
            let operations = counted(*operations, "operation");
            let _ = match how.as_str() {
                MONITORED => writeln!(text, "  {}, {operations}", counted(*campaigns as u64, "interval")),
                _ => {
                    let (campaigns, runs) = (counted(*campaigns as u64, "campaign"), counted(*runs, "run"));
                    writeln!(text, "  {campaigns}, {runs}, {operations}")
                }
            };
            let _ = writeln!(text, "  {failed} failed, {}", share(*failed, *runs));
            notes.iter().for_each(|note| _ = writeln!(text, "  {}", clean(note)));
        }
        for cause in &self.causes {
            let new = if cause.is_new { "NEW  " } else { "" };
            let _ = writeln!(text, "\n{new}{}: {}", cause.kind, clean(&cause.cause));
            if let Some(meets) = &cause.meets {
                let _ = writeln!(text, "  {}", clean(meets));
            }
            let _ = writeln!(text, "  {} in {}, {}", cause.runs, clean(&cause.object), share(cause.runs, cause.of));
            let _ = writeln!(text, "  first {}, last {}", cause.first.text(), cause.last.text());
            if let Some(known) = &cause.known {
                let _ = writeln!(text, "  known as {}", clean(&known.text()));
            }
            if let Some(run) = &cause.run {
                let _ = writeln!(text, "  stored as {}", clean(run));
            }
        }
        text
    }

    /// Whether a cause is new and not accepted, or a monitor found a violation, which the next interval does not undo.
    pub fn has_news(&self) -> bool {
        let fails = |object: &Object| object.how == MONITORED && object.verdict == "fails";
        self.causes.iter().any(|cause| cause.is_new && !cause.is_accepted()) || self.objects.iter().any(fails)
    }
}

impl Moment {
    fn of(entry: &Entry) -> Moment {
        Moment { at: entry.campaign.at, commit: entry.campaign.commit.clone() }
    }

    fn text(&self) -> String {
        let commit = self.commit.as_deref().map(|commit| format!(" ({})", clean(commit))).unwrap_or_default();
        day_and_time(self.at) + &commit
    }
}

impl SeenCause {
    fn is_accepted(&self) -> bool {
        self.known.as_ref().is_some_and(|known| !known.is_expired)
    }
}

/// `2026-11-16 10:00`, in UTC.
fn day_and_time(at: u64) -> String {
    omnilink_explore::format_time(at)[..16].replace('T', " ")
}

/// Today's date in UTC, such as `2026-11-16`.
pub(crate) fn today() -> String {
    day_and_time(crate::now().as_secs())[..10].to_owned()
}

/// Whether a failure says something about the system.
fn is_failure(failure: &&Failure) -> bool {
    failure.kind != "inconclusive"
}

fn failed(entry: &Entry) -> u64 {
    entry.failures.iter().filter(is_failure).map(|failure| failure.runs).sum()
}

fn causes_of(object: &str, entries: &[&Entry], since: Option<&Since>) -> Vec<SeenCause> {
    let of = entries.iter().map(|entry| entry.runs).sum();
    let mut causes: Vec<SeenCause> = Vec::new();
    for entry in entries {
        for failure in &entry.failures {
            let Failure { kind, cause, meets, runs, kept_as, known } = failure;
            let same = causes.iter_mut().find(|seen| (&seen.kind, &seen.cause, &seen.meets) == (kind, cause, meets));
            match same {
                Some(seen) => {
                    seen.runs += runs;
                    seen.last = Moment::of(entry);
                    seen.known.clone_from(known);
                    seen.run = kept_as.clone().or(seen.run.take());
                }
                None => causes.push(SeenCause {
                    kind: kind.clone(),
                    cause: cause.clone(),
                    meets: meets.clone(),
                    object: object.to_owned(),
                    runs: *runs,
                    of,
                    rate: (0.0, 1.0),
                    first: Moment::of(entry),
                    last: Moment::of(entry),
                    is_new: since.is_some_and(|since| entry.campaign.at >= since.at),
                    known: known.clone(),
                    run: kept_as.clone(),
                }),
            }
        }
    }
    causes.iter_mut().for_each(|cause| cause.rate = interval(cause.runs, of));
    causes
}

fn object((name, spec, how): (&str, &str, &str), entries: &[&Entry], causes: &[SeenCause]) -> Object {
    let runs = entries.iter().map(|entry| entry.runs).sum();
    let all_failed = entries.iter().map(|entry| failed(entry)).sum();
    let mut coverage = Coverage::default();
    entries.iter().for_each(|entry| coverage.merge(entry.coverage.clone()));
    let never_now = entries.last().map(|entry| entry.never.clone()).unwrap_or_default();
    let recent = entries[entries.len().saturating_sub(MOST_RECENT)..].iter().map(|entry| Recent {
        at: entry.campaign.at,
        commit: entry.campaign.commit.clone(),
        runs: entry.runs,
        failed: failed(entry),
    });
    let covered = coverage.actions.iter().map(|(action, happened)| Covered {
        action: action.clone(),
        operations: happened.operations,
        overlapped: happened.overlapped,
        with: happened.with.clone(),
    });
    // The verdict is about now, not about what was fixed. The intervals of a monitor are one run of the same system.
    let last = entries.last().map(|entry| Moment::of(entry));
    let is_now = |cause: &&SeenCause| how == MONITORED || Some(&cause.last) == last.as_ref();
    let now: Vec<&SeenCause> = causes.iter().filter(is_now).collect();
    let (open, fails) = (now.iter().filter(|cause| cause.kind == "inconclusive").count(), |cause: &&&SeenCause| {
        cause.kind != "inconclusive" && !cause.is_accepted()
    });
    let verdict = match () {
        () if now.iter().any(|cause| fails(&cause)) => "fails",
        () if now.len() > open => "known",
        () if open > 0 => "inconclusive",
        () => "passes",
    };
    let never = never_now.into_iter().filter(|action| !coverage.actions.contains_key(action)).collect();
    Object {
        name: name.to_owned(),
        spec: spec.to_owned(),
        how: how.to_owned(),
        campaigns: entries.len(),
        runs,
        failed: all_failed,
        operations: entries.iter().map(|entry| entry.operations).sum(),
        rate: interval(all_failed, runs),
        recent: recent.collect(),
        verdict,
        notes: notes(entries, causes, &coverage),
        coverage: covered.collect(),
        never,
    }
}

/// Notes that a reader needs to trust the figures.
fn notes(entries: &[&Entry], causes: &[SeenCause], coverage: &Coverage) -> Vec<String> {
    let mut notes = Vec::new();
    let new = causes.iter().filter(|cause| cause.is_new).count() as u64;
    if new > 0 {
        notes.push(counted(new, "new cause"));
    }
    if !coverage.actions.is_empty() && coverage.actions.values().all(|happened| happened.overlapped == 0) {
        notes.push("no two operations overlapped".to_owned());
    }
    if entries.iter().any(|entry| entry.campaign.stops_at_first && failed(entry) > 0) {
        notes.push("campaigns that stop at the first failure make it look more frequent than it is".to_owned());
    }
    if let Some(last) = entries.last() {
        if last.campaign.is_complete {
            notes.push("all schedules of one input were explored".to_owned());
        }
        if let Some((new, recent)) = last.campaign.novelty.filter(|(_, recent)| *recent > 0) {
            notes.push(format!("new schedules: {new} of the last {}", counted(recent, "run")));
        }
        if !last.never.is_empty() {
            notes.push(format!("never happened: {}", last.never.join(", ")));
        }
    }
    notes
}

/// `None` without campaigns.
fn sentence(causes: &[SeenCause], since: Option<&Since>, entries: &[Entry]) -> Option<String> {
    let last = entries.last()?;
    let runs: u64 = entries.iter().map(|entry| entry.runs).sum();
    // A monitor counts operations.
    let (run, campaign) = match entries.iter().all(|entry| entry.campaign.how == MONITORED) {
        true => ("operation", "interval"),
        false => ("run", "campaign"),
    };
    let total = format!("{} in {}", counted(runs, run), counted(entries.len() as u64, campaign));
    let new = causes.iter().filter(|cause| cause.is_new).count() as u64;
    let known = causes.iter().filter(|cause| !cause.is_new && cause.known.is_some()).count();
    let old = causes.iter().filter(|cause| !cause.is_new && cause.known.is_none()).count() as u64;
    let Some(since) = since else {
        if causes.is_empty() {
            return Some(format!("no {run} failed: {total}, all of {}", Moment::of(last).text()));
        }
        let percent = 100.0 * entries.iter().map(failed).sum::<u64>() as f64 / runs.max(1) as f64;
        let digits = if percent < 1.0 { 3 } else { 0 };
        let ways = counted(causes.len() as u64, "way");
        return Some(format!("{ways} to fail in {} ({percent:.digits$} %)", counted(runs, run)));
    };
    let others = match (old, known) {
        (0, 0) => String::new(),
        (old, 0) => format!(", {}", counted(old, "older cause")),
        (0, known) => format!(", {known} known"),
        (old, known) => format!(", {}, {known} known", counted(old, "older cause")),
    };
    let new = if new == 0 { "no new cause".to_owned() } else { counted(new, "new cause") };
    Some(format!("{new} since {}{others}: {total}", since.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::tests::entry;

    const DAY: u64 = 86_400;

    fn entries() -> Vec<Entry> {
        let known = KnownCause {
            name: "#412".into(),
            reason: "fixed in 2.0".into(),
            until: Some("2026-12-31".into()),
            is_expired: false,
        };
        let mut skiplist = entry(1_763_000_000, "aaaa1", "skiplist", 3, "value = map[key] is FALSE");
        skiplist.failures[0].known = Some(known);
        vec![
            skiplist,
            entry(1_763_000_000 + DAY, "aaaa1", "ring", 0, ""),
            entry(1_763_000_000 + 2 * DAY, "bbbb2", "ring", 61, "DequeueEmpty: queue = <<>> is FALSE"),
        ]
    }

    #[test]
    fn causes_of_the_last_commit_are_new() {
        insta::assert_snapshot!(Overview::new(&entries(), None).unwrap().text(), @"
        1 new cause since commit aaaa1, 1 known: 3000 runs in 3 campaigns

        ring, controlled, random, against Queue.tla: fails
          2 campaigns, 2000 runs, 24000 operations
          61 failed, 3.0 % (2.4 to 3.9 %)
          1 new cause
          new schedules: 3 of the last 1000 runs
          never happened: Len

        skiplist, controlled, random, against Queue.tla: known
          1 campaign, 1000 runs, 12000 operations
          3 failed, 0.3 % (0.1 to 0.9 %)
          new schedules: 3 of the last 1000 runs
          never happened: Len

        NEW  rejected: DequeueEmpty: queue = <<>> is FALSE
          61 in ring, 3.0 % (2.4 to 3.9 %)
          first 2025-11-15 02:13 (bbbb2), last 2025-11-15 02:13 (bbbb2)
          stored as 34f9ca

        rejected: value = map[key] is FALSE
          3 in skiplist, 0.3 % (0.1 to 0.9 %)
          first 2025-11-13 02:13 (aaaa1), last 2025-11-13 02:13 (aaaa1)
          known as #412, accepted until 2026-12-31: fixed in 2.0
          stored as 34f9ca
        ");
        assert_eq!(Overview::new(&[], None), None);
        let first = Overview::new(&entries()[..1], None).unwrap();
        assert_eq!(first.sentence, "1 way to fail in 1000 runs (0.300 %)");
    }

    #[test]
    fn a_campaign_that_passes_does_not_hide_one_that_failed() {
        let heading = |failed: [u64; 2]| {
            let entries =
                [0, 1].map(|day| entry(1_763_000_000 + day * DAY, "aaaa1", "ring", failed[day as usize], "Len"));
            let text = Overview::new(&entries, None).unwrap().text();
            text.lines().find(|line| line.starts_with("ring")).unwrap().to_owned()
        };
        assert_eq!(heading([61, 0]), "ring, controlled, random, against Queue.tla: the last campaign passes");
        assert_eq!(heading([0, 61]), "ring, controlled, random, against Queue.tla: fails");
        assert_eq!(heading([0, 0]), "ring, controlled, random, against Queue.tla: passes");
    }

    #[test]
    fn since_is_a_commit_a_day_or_a_duration() {
        let entries = entries();
        let now = 1_763_000_000 + 3 * DAY;
        let new = |since: &str| {
            let since = Since::parse(since, &entries, Path::new("/"), now)?;
            let overview = Overview::new(&entries, Some(since)).unwrap();
            Some((overview.has_news(), overview.sentence))
        };
        insta::assert_debug_snapshot!(
            ["aaaa1", "bbbb2", "2025-11-15", "2d", "1h", "2025-11-13T02:13:21Z", "cccc3"].map(new),
            @r#"
        [
            Some(
                (
                    true,
                    "1 new cause since commit aaaa1, 1 known: 3000 runs in 3 campaigns",
                ),
            ),
            Some(
                (
                    false,
                    "no new cause since commit bbbb2, 1 older cause, 1 known: 3000 runs in 3 campaigns",
                ),
            ),
            Some(
                (
                    true,
                    "1 new cause since 2025-11-15, 1 known: 3000 runs in 3 campaigns",
                ),
            ),
            Some(
                (
                    true,
                    "1 new cause since 2d ago, 1 known: 3000 runs in 3 campaigns",
                ),
            ),
            Some(
                (
                    false,
                    "no new cause since 1h ago, 1 older cause, 1 known: 3000 runs in 3 campaigns",
                ),
            ),
            Some(
                (
                    true,
                    "1 new cause since 2025-11-13T02:13:21Z, 1 known: 3000 runs in 3 campaigns",
                ),
            ),
            None,
        ]
        "#
        );
    }
}
