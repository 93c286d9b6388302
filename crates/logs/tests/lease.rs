//! Faulty logs of five nodes without a common clock are rejected after few configurations: `examples/log-lease`.

use std::path::Path;

use omnilink_logs::{File, LogOptions, LogOutcome, Prepared, Stats};
use omnilink_settings::Settings;
use omnilink_tla::machine::Machine;

struct Nothing;

impl omnilink_tla::datum::World for Nothing {}

impl omnilink_tla::resolve::Loader for Nothing {
    fn load(&mut self, _module: &str) -> Option<(String, String)> {
        None
    }
}

/// Checks a log under a mapping: whether it is accepted, `None` if that was not decided, and the counts.
fn check(log: &str, mapping: &str, options: LogOptions, most: u64) -> (Option<bool>, Stats) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/log-lease");
    let read =
        |name: &str| std::fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut strings = Default::default();
    let mut config = omnilink_tla::config::parse(&read("Lease.cfg"), &mut strings).expect("no errors");
    let module = omnilink_tla::resolve::resolve("Lease.tla", &read("Lease.tla"), &mut Nothing, strings);
    let mut module = module.unwrap_or_else(|errors| panic!("{:?}", errors.errors));
    let text = read(mapping);
    let settings = Settings::parse(&text).expect("no errors").log.expect("a section");
    let nodes = ["arbiter", "storage", "w1", "w2", "w3"];
    let file = |node: &&str| File { name: format!("{node}.ndjson"), text: read(&format!("logs/{log}/{node}.ndjson")) };
    let files = nodes.iter().map(file).collect();
    let mut beside = |_: &str| Err("no file".to_owned());
    let prepared = Prepared::new(&settings, &text, mapping, &mut module, &mut config, files, &mut beside);
    let prepared = prepared.expect("no errors");
    let program = omnilink_tla::program::link(module, &config, Default::default()).expect("no errors");
    let mut machine = Machine::new(&program, Box::new(Nothing));
    let bound = prepared.bind(&mut machine, &config).expect("no errors");
    let mut poll = |stats: &Stats| (stats.generated > most).then_some(omnilink_history::Stop::Width);
    let checked =
        omnilink_logs::check(&prepared, &bound, &mut machine, &config, options, &mut poll).expect("no errors");
    let is_accepted = match checked.outcome {
        LogOutcome::Accepted(_) => Some(true),
        LogOutcome::Rejected(_) => Some(false),
        _ => None,
    };
    (is_accepted, checked.stats)
}

#[test]
fn few_configurations_decide() {
    for mapping in ["omnilink.toml", "vector.toml", "offsets.toml"] {
        for (log, expected) in [("correct", true), ("check", false), ("stale", false)] {
            let (found, stats) = check(log, mapping, LogOptions::default(), 50_000);
            println!("{log} {mapping} {found:?} {stats:?}");
            assert_eq!(found, Some(expected), "{log}, {mapping}: {stats:?}");
        }
    }
}

#[test]
fn most_orders_are_left_out() {
    let all_orders = LogOptions { all_orders: true, ..LogOptions::default() };
    for log in ["check", "stale"] {
        let (found, few) = check(log, "omnilink.toml", LogOptions::default(), u64::MAX);
        let (expected, many) = check(log, "omnilink.toml", all_orders, u64::MAX);
        assert_eq!((found, expected), (Some(false), Some(false)), "{log}");
        assert!(many.generated > 50 * few.generated, "{log}: {many:?}, {few:?}");
    }
}
