//! Real histories get their known verdicts.
//!
//! The histories are traces of real systems and public test data; `tests/data/README.md` lists their sources. Each is
//! checked in several ways that share as little as possible: with everything that makes checks fast, with the search
//! alone, and, where the history is short enough, by placing operations level by level without any reduction. The
//! ways must agree with each other before their verdict is compared with the label.

mod load;

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use omnilink_history::format::porcupine;
use omnilink_history::{Call, History, Trace, Value, Verdict};
use omnilink_models::check::{ModelOptions, check};
use omnilink_models::{Model, Visitor, with_model};

/// The width limit of a search without reductions.
const MAX_WIDTH: usize = 20_000;

/// The results of all ways to check one or more histories.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    accepted: usize,
    rejected: usize,
    by_search: usize,
    by_level: usize,
}

impl Tally {
    /// The verdict, in the words of the labels.
    fn verdict(&self) -> &'static str {
        if self.rejected == 0 { "linearizable" } else { "not linearizable" }
    }

    fn add(&mut self, other: Tally) {
        self.accepted += other.accepted;
        self.rejected += other.rejected;
        self.by_search += other.by_search;
        self.by_level += other.by_level;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { accepted, rejected, by_search, by_level } = self;
        write!(f, "{accepted} accepted, {rejected} rejected")?;
        if (*by_search, *by_level) != (accepted + rejected, accepted + rejected) {
            write!(f, "; {by_search} by the search alone, {by_level} by level")?;
        }
        Ok(())
    }
}

/// Checks a history in all ways and asserts that those that decide it agree.
fn decide(spec: &str, history: &History<Call>) -> Tally {
    with_model(spec, Decide(history)).unwrap()
}

struct Decide<'a>(&'a History<Call>);

impl Visitor for Decide<'_> {
    type Output = Tally;

    fn visit<M: Model>(self, model: M) -> Tally {
        let verdict = |options: &ModelOptions| {
            let verdict = check(&model, self.0, options, &omnilink_search::Unwatched).unwrap().verdict;
            if let Verdict::Inconclusive(_) = verdict { None } else { Some(verdict.is_accepted()) }
        };
        let accepted = verdict(&ModelOptions::default()).expect("without limits there is a verdict");
        let search = omnilink_search::Options { max_width: Some(MAX_WIDTH), ..omnilink_search::Options::default() };
        let by_search = verdict(&ModelOptions { shortcuts: false, search: search.clone(), ..ModelOptions::default() });
        let search = omnilink_search::Options { by_level: true, reduce: false, ..search };
        let by_level = verdict(&ModelOptions { shortcuts: false, search, ..ModelOptions::default() });
        assert_eq!(by_search.unwrap_or(accepted), accepted, "shortcuts change the verdict");
        assert_eq!(by_level.unwrap_or(accepted), accepted, "going by level changes the verdict");
        Tally {
            accepted: usize::from(accepted),
            rejected: usize::from(!accepted),
            by_search: usize::from(by_search.is_some()),
            by_level: usize::from(by_level.is_some()),
        }
    }
}

fn history(trace: Trace) -> History<Call> {
    History::new(trace).unwrap()
}

/// The files of a folder by name, with their text.
fn files(folder: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(data(folder)).expect("the histories are part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (name(path), unpacked(path))).collect()
}

fn data(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../tests/data", path].iter().collect()
}

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| GzDecoder::new(file).read_to_string(&mut text));
    read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text
}

#[test]
fn public_logs_of_a_register() {
    let files = files("porcupine/etcd");
    let labels = std::fs::read_to_string(data("porcupine/labels.tsv")).unwrap();
    let mut total = Tally::default();
    for (name, text) in &files {
        let tally = decide("cas-register", &history(porcupine::read_etcd(text).unwrap()));
        match labels.lines().find_map(|line| line.strip_prefix(&**name)?.strip_prefix('\t')) {
            Some(label) => assert_eq!(tally.verdict(), label, "{name}"),
            // The one log without a label is empty, and nothing contradicts it.
            None => assert_eq!((&**name, text.len(), tally.verdict()), ("etcd_095.log", 0, "linearizable")),
        }
        total.add(tally);
    }
    insta::assert_snapshot!(total, @"24 accepted, 79 rejected; 103 by the search alone, 92 by level");
}

#[test]
fn public_logs_of_a_key_value_store() {
    let files = files("porcupine/kv");
    let mut table = String::new();
    for (name, text) in files {
        let tally = decide("kv-append", &history(porcupine::read_kv(&text).unwrap()));
        let label = if name.ends_with("-ok.txt") { "linearizable" } else { "not linearizable" };
        assert_eq!(tally.verdict(), label, "{name}");
        writeln!(table, "{name}: {tally}").unwrap();
    }
    insta::assert_snapshot!(table, @r"
    c01-bad.txt: 0 accepted, 1 rejected
    c01-ok.txt: 1 accepted, 0 rejected
    c10-bad.txt: 0 accepted, 1 rejected; 1 by the search alone, 0 by level
    c10-ok.txt: 1 accepted, 0 rejected; 1 by the search alone, 0 by level
    c50-bad.txt: 0 accepted, 1 rejected; 0 by the search alone, 0 by level
    c50-ok.txt: 1 accepted, 0 rejected; 0 by the search alone, 0 by level
    ");
}

/// Keys are checked one by one here, so that all ways can decide logs that are too wide to be searched as a whole.
#[test]
fn keys_of_public_logs() {
    let files = files("porcupine/kv");
    let mut table = String::new();
    for (name, text) in files {
        let history = history(porcupine::read_kv(&text).unwrap());
        let key = |call: &Call| call.args()[0].as_str().and_then(|key| key.parse::<u32>().ok());
        let keys = history.split(key).unwrap();
        // Some keys of this log have millions of configurations. Others are enough to reject it.
        let keys = keys.iter().filter(|(key, _)| name != "c50-bad.txt" || matches!(key, 1..=4 | 6 | 8));
        let mut total = Tally::default();
        keys.for_each(|(_, part)| total.add(decide("kv-append", part)));
        writeln!(table, "{name}: {total}").unwrap();
    }
    insta::assert_snapshot!(table, @r"
    c01-bad.txt: 7 accepted, 1 rejected
    c01-ok.txt: 10 accepted, 0 rejected
    c10-bad.txt: 2 accepted, 8 rejected
    c10-ok.txt: 10 accepted, 0 rejected
    c50-bad.txt: 0 accepted, 6 rejected; 5 by the search alone, 5 by level
    c50-ok.txt: 10 accepted, 0 rejected; 8 by the search alone, 8 by level
    ");
}

#[test]
fn recorded_containers() {
    let files = files("recorded/queues");
    let mut table = String::new();
    for (name, text) in files {
        let spec = if matches!(&*name, "cuckoo.txt" | "tbb.hash.txt") { "kv" } else { "queue" };
        let mut total = Tally::default();
        load::rounds(&text).into_iter().for_each(|round| total.add(decide(spec, &history(round))));
        writeln!(table, "{name} as {spec}: {total}").unwrap();
    }
    insta::assert_snapshot!(table, @r"
    boost.queue.txt as queue: 43 accepted, 0 rejected
    cds.segmented.txt as queue: 0 accepted, 81 rejected
    cuckoo.txt as kv: 100 accepted, 0 rejected
    moodycamel.txt as queue: 23 accepted, 77 rejected
    tbb.hash.txt as kv: 38 accepted, 0 rejected
    tbb.queue.txt as queue: 100 accepted, 0 rejected
    xenium.kfifo2.txt as queue: 0 accepted, 100 rejected
    ");
}

/// Every one of these was kept because a throw-away checker rejected it. To see that the cause is the crate and not
/// the reader, each is checked again without operations that are known to be weak in many crates: observations of the
/// whole object. Histories still rejected then violate their point operations (`dashmap4rc6`, `evmap`, `leapfrog`,
/// `skiplist`) or have a `clear` that takes several steps (`flurry.clear`). Accepted ones show that keys, values and
/// capacities were read as meant.
#[test]
fn recorded_crates() {
    let files = files("recorded/rust");
    let mut table: BTreeMap<String, (Tally, Tally)> = BTreeMap::new();
    for (name, text) in files {
        let family = name.split_once('-').unwrap().0;
        let spec = match family {
            "heapless.mpmc.Q4" => "queue:capacity=4",
            "mpmc" | "thingbuf" | "thingbuf.len" => "queue:capacity=2",
            "lockfree.queue" => "queue",
            _ => "kv",
        };
        let trace = load::printed_enums(&text);
        let points = Trace {
            records: trace.records.iter().filter(|record| !is_about_the_whole(&record.call)).cloned().collect(),
            ..trace.clone()
        };
        let entry = table.entry(format!("{family} as {spec}")).or_default();
        entry.0.add(decide(spec, &history(trace)));
        entry.1.add(decide(spec, &history(points)));
    }
    let table: String = table
        .iter()
        .map(|(family, (all, points))| format!("{family}: {all}; without observations of the whole, {points}\n"))
        .collect();
    insta::assert_snapshot!(table, @r"
    contrie.scan as kv: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    dashmap.scan as kv: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    dashmap4rc6 as kv: 0 accepted, 3 rejected; without observations of the whole, 0 accepted, 3 rejected
    evmap.norefresh as kv: 0 accepted, 3 rejected; without observations of the whole, 0 accepted, 3 rejected
    flurry.clear as kv: 0 accepted, 3 rejected; without observations of the whole, 0 accepted, 3 rejected
    flurry.len as kv: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    heapless.mpmc.Q4 as queue:capacity=4: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    leapfrog.point as kv: 0 accepted, 3 rejected; without observations of the whole, 0 accepted, 3 rejected
    lockfree.queue as queue: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    mpmc as queue:capacity=2: 0 accepted, 2 rejected; without observations of the whole, 2 accepted, 0 rejected
    papaya.len as kv: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    skiplist.getorins as kv: 0 accepted, 1 rejected; without observations of the whole, 0 accepted, 1 rejected
    skiplist.insget as kv: 0 accepted, 3 rejected; without observations of the whole, 0 accepted, 3 rejected
    skiplist.insgetrem as kv: 0 accepted, 3 rejected; without observations of the whole, 0 accepted, 3 rejected
    thingbuf as queue:capacity=2: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    thingbuf.len as queue:capacity=2: 0 accepted, 3 rejected; without observations of the whole, 3 accepted, 0 rejected
    ");
}

/// True for an observation of the whole object, including that it is empty or full.
fn is_about_the_whole(call: &Call) -> bool {
    match (call.action(), call.results()) {
        ("scan" | "len" | "is_empty", _) => true,
        ("enqueue", [result]) => *result == false.into(),
        ("dequeue", [result]) => *result == Value::Nil,
        _ => false,
    }
}

#[test]
fn recorded_register() {
    let files = files("recorded/etcd");
    let mut table = String::new();
    for (name, text) in files {
        let history = history(load::etcd(&text));
        writeln!(table, "{name}: {}", decide("register:initial=0", &history)).unwrap();
    }
    insta::assert_snapshot!(table, @r"
    etcd34-nofault-linearizable.ndjson: 1 accepted, 0 rejected
    etcd34-nofault-serializable.ndjson: 0 accepted, 1 rejected
    etcd34-sigstop-follower-linearizable.ndjson: 1 accepted, 0 rejected
    etcd34-sigstop-follower-serializable.ndjson: 0 accepted, 1 rejected
    ");
}
