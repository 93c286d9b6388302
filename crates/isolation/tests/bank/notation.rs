//! Histories in the notation of the bank: `wx1` writes 1 to x, `rx0` reads the initial value, `ax1` appends, `rx12` reads
//! `[1, 2]`; `@1-2` is an interval, `!` means aborted, and `?` unknown.

use omnilink_history::Value;
use omnilink_history::format::json::Json;
use omnilink_isolation::{Builder, Isolation, Status, Transactions};

/// A history as sessions of transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) is_list: bool,
    pub(crate) sessions: Vec<Vec<String>>,
    pub(crate) versions: Vec<(String, String)>,
    /// The strongest levels for the orders none, session and real time.
    pub(crate) holds: Vec<Vec<Isolation>>,
}

/// The levels as the bank abbreviates them.
pub(crate) const SHORT: [(&str, Isolation); 8] = [
    ("RC", Isolation::ReadCommitted),
    ("MAV", Isolation::MonotonicAtomicView),
    ("RA", Isolation::ReadAtomic),
    ("CC", Isolation::Causal),
    ("PC", Isolation::Prefix),
    ("PSI", Isolation::ParallelSnapshot),
    ("SI", Isolation::Snapshot),
    ("SER", Isolation::Serializable),
];

fn text(json: &Json) -> String {
    if let Json::Text(text) = json { text.clone() } else { panic!("expected a string: {json:?}") }
}

fn list(json: &Json) -> &[Json] {
    if let Json::Array(list) = json { list } else { panic!("expected an array: {json:?}") }
}

fn levels(names: &str) -> Vec<Isolation> {
    let find = |name: &str| SHORT.iter().find(|(short, _)| *short == name).map(|(_, level)| *level);
    names.split('+').filter_map(find).collect()
}

impl Source {
    /// A line of the bank.
    pub(crate) fn parse(json: &Json) -> Source {
        let field = |name| json.field(name);
        let sessions = list(field("sessions").expect("sessions")).iter();
        let versions = match field("versions") {
            Some(Json::Object(orders)) => orders.iter().map(|(key, order)| (key.clone(), text(order))).collect(),
            _ => Vec::new(),
        };
        let holds = match field("holds") {
            Some(Json::Array(orders)) => orders.iter().map(|names| levels(&text(names))).collect(),
            Some(Json::Object(orders)) => {
                let names = |names: &Json| list(names).iter().map(text).collect::<Vec<_>>().join("+");
                orders.iter().map(|(_, found)| levels(&names(found))).collect()
            }
            _ => Vec::new(),
        };
        Source {
            name: field("name").map(text).unwrap_or_default(),
            is_list: field("kind").is_some(),
            sessions: sessions.map(|session| list(session).iter().map(text).collect()).collect(),
            versions,
            holds,
        }
    }

    /// The transactions.
    pub(crate) fn transactions(&self) -> Transactions {
        let mut builder = Builder::default();
        let value = |text: &str| Value::integer(text).unwrap_or(Value::Int(0));
        let elements = |text: &str| text.chars().map(|c| value(&c.to_string())).collect::<Vec<_>>();
        for (number, session) in self.sessions.iter().enumerate() {
            let process = builder.process(&number.to_string());
            for txn in session {
                let status = match () {
                    () if txn.contains('!') => Status::Aborted,
                    () if txn.contains('?') => Status::Unknown,
                    () => Status::Committed,
                };
                let times = txn.split_whitespace().find_map(|word| word.strip_prefix('@')).map(|times| {
                    let (start, end) = times.split_once('-').expect("two times");
                    (start.parse().expect("a time"), end.parse().ok())
                });
                builder.begin(process, times, status);
                for word in txn.split_whitespace().filter(|word| !word.starts_with(['@', '!', '?'])) {
                    let (kind, key, rest) = (&word[..1], Value::str(&word[1..2]), &word[2..]);
                    match kind {
                        "w" => builder.write(&key, &value(rest)),
                        "a" => builder.append(&key, &value(rest)),
                        _ if self.is_list => builder.read_list(&key, &elements(rest)),
                        _ => builder.read(&key, &value(rest)),
                    }
                }
            }
        }
        for (key, order) in &self.versions {
            builder.version_order(&Value::str(&**key), &elements(order));
        }
        builder.finish().expect("a history")
    }
}

/// The histories of the bank.
pub(crate) fn bank() -> Vec<Source> {
    let bank = Json::parse(include_str!("../data/bank.json")).expect("JSON");
    list(&bank).iter().map(Source::parse).collect()
}
