//! Texts and numbers with the same digits, in histories of every built-in specification.

use omnilink_history::History;
use omnilink_history::format::jsonl;
use omnilink_models::check::{ModelOptions, check};
use omnilink_models::{Model, Visitor, with_model};
use omnilink_search::Unwatched;

struct Check(&'static [&'static str]);

impl Visitor for Check {
    type Output = String;

    fn visit<M: Model>(self, model: M) -> String {
        let line = |(call, time): (&&str, usize)| {
            format!("{{\"process\": \"a\", {call}, \"start\": {time}, \"end\": {time}}}\n")
        };
        let text: String = self.0.iter().zip(0..).map(line).collect();
        let history = History::new(jsonl::read(text.as_bytes()).unwrap()).unwrap();
        let checked = check(&model, &history, &ModelOptions::default(), &Unwatched);
        checked.map_or_else(|error| error.to_string(), |checked| checked.verdict.is_accepted().to_string())
    }
}

/// The answers without the option and with it.
fn both(model: &str, calls: &'static [&'static str]) -> [String; 2] {
    let separator = if model.contains(':') { "," } else { ":" };
    [model.to_owned(), format!("{model}{separator}digits=number")]
        .map(|model| with_model(&model, Check(calls)).unwrap())
}

#[test]
fn texts_and_numbers_with_the_same_digits_are_reported_and_can_be_made_one() {
    let stale = [
        r#""action": "put", "args": {"key": 7, "value": 1}"#,
        r#""action": "get", "args": {"key": "7"}, "results": [null]"#,
    ];
    let stale: &'static [&'static str] = Box::leak(Box::new(stale));
    assert_eq!(both("kv", stale), ["the key 7 is a number in a:0 and text in a:1", "false"]);
    let scan: &[&str] = &[
        r#""action": "put", "args": {"key": 1, "value": 10}"#,
        r#""action": "scan", "results": {"pairs": {"1": 10}}"#,
    ];
    assert_eq!(both("kv", scan), ["the key 1 is a number in a:0 and text in a:1", "true"]);
    let values: &[&str] = &[
        r#""action": "scan", "results": {"pairs": {}}"#,
        r#""action": "put", "args": ["k", "1.5"]"#,
        r#""action": "scan", "results": {"pairs": {"k": 1.5}}"#,
    ];
    assert_eq!(both("kv", values), ["the value 1.5 is a number in a:2 and text in a:1", "true"]);
    let bank: &[&str] = &[
        r#""action": "transfer", "args": {"from": 0, "to": 1, "amount": 4}, "results": [true]"#,
        r#""action": "read", "results": {"balances": {"0": 6, "1": 4}}"#,
    ];
    assert_eq!(both("bank:0=10", bank), ["the key 0 is a number in the specification and text in a:1", "true"]);
    for model in ["register:initial=0", "cas-register:initial=0"] {
        let calls: &[&str] = &[r#""action": "read", "results": ["0"]"#];
        assert_eq!(both(model, calls), ["the value 0 is a number in the specification and text in a:0", "true"]);
    }
    for (model, add, take) in [("queue", "push", "pop"), ("stack", "push", "pop"), ("priority-queue", "add", "pop")] {
        let add = format!(r#""action": "{add}", "args": [5]"#);
        let take = format!(r#""action": "{take}", "results": ["5"]"#);
        let calls: &'static [&'static str] = Box::leak(Box::new([&*add.leak(), &*take.leak()]));
        assert_eq!(both(model, calls), ["the value 5 is a number in a:0 and text in a:1", "true"], "{model}");
    }
    let set: &[&str] = &[r#""action": "add", "args": ["5"]"#, r#""action": "read", "results": [[5]]"#];
    assert_eq!(both("set", set), ["the value 5 is a number in a:1 and text in a:0", "true"]);
    let locks: &[&str] = &[r#""action": "acquire", "args": [5]"#, r#""action": "release", "args": ["5"]"#];
    assert_eq!(both("mutex", locks), ["the key 5 is a number in a:0 and text in a:1", "true"]);
    let text: &[&str] =
        &[r#""action": "append", "args": [5, "1"]"#, r#""action": "get", "args": ["5"], "results": ["1"]"#];
    assert_eq!(both("kv-append", text), ["the key 5 is a number in a:0 and text in a:1", "true"]);
    assert_eq!(both("counter", &[r#""action": "add", "args": ["5"], "results": [5]"#])[1], "true");
}

#[test]
fn other_texts_are_left_alone() {
    let calls: &[&str] = &[
        r#""action": "put", "args": ["7", 7]"#,
        r#""action": "put", "args": ["8", "7"]"#,
        r#""action": "put", "args": [9, "007"]"#,
        r#""action": "put", "args": ["09", 7.5]"#,
        r#""action": "get", "args": [9], "results": ["007"]"#,
    ];
    assert_eq!(both("kv", calls), ["true", "true"]);
}
