//! Logs with their mappings.

use omnilink_history::Stop;
use omnilink_logs::{File, LogOptions, LogOutcome, Prepared};
use omnilink_settings::Settings;
use omnilink_tla::config;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::link;
use omnilink_tla::resolve::resolve;
use omnilink_tla::strings::Strings;

use crate::module::{Alone, Hurry, on_a_small_stack};

/// The line between the settings and the lines of the log.
const BETWEEN: &str = "\n%%\n";

/// A specification with the values that mappings take apart: numbers, strings, records, sequences, sets and functions.
const SPEC: &str = r#"
---- MODULE M ----
EXTENDS Integers, Sequences, FiniteSets
CONSTANT Nodes
VARIABLES n, q, last
vars == <<n, q, last>>
Init == n = 0 /\ q = <<>> /\ last = [x \in Nodes |-> 0]
Add(k) == n' = n + k /\ UNCHANGED <<q, last>>
Send(to, text) == q' = Append(q, [to |-> to, text |-> text]) /\ UNCHANGED <<n, last>>
Receive(to) == q # <<>> /\ Head(q).to = to /\ q' = Tail(q) /\ UNCHANGED <<n, last>>
Note(x) == last' = [last EXCEPT ![x] = n] /\ UNCHANGED <<n, q>>
Tick == n < 5 /\ n' = n + 1 /\ UNCHANGED <<q, last>>
Next == \/ \E k \in 1 .. 3 : Add(k)
        \/ \E x \in Nodes : Note(x) \/ Receive(x) \/ \E text \in {"a", "b"} : Send(x, text)
        \/ Tick
====
"#;

/// How often the search is asked whether to go on before it has to stop.
const PATIENCE: u32 = 64;

/// Settings and lines of a log: they are refused, or the check ends with an answer. It is the same without the reductions,
/// if both come to their ends.
pub(crate) fn log(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let Some((text, lines)) = text.split_once(BETWEEN) else { return };
    let Ok(Settings { log: Some(log), .. }) = Settings::parse(text) else { return };
    on_a_small_stack(|| {
        let [reduced, exhaustive] = [false, true].map(|exhaustive| check(&log, text, lines, exhaustive));
        if let (Some(reduced), Some(exhaustive)) = (reduced, exhaustive) {
            assert_eq!(reduced, exhaustive, "accepted with and without reductions");
        }
    });
}

/// Whether the log is accepted, if that is decided.
fn check(log: &omnilink_settings::log::Log, text: &str, lines: &str, exhaustive: bool) -> Option<bool> {
    let mut strings = Strings::default();
    let mut config = config::parse("INIT Init NEXT Next", &mut strings).expect("a configuration");
    let mut module = resolve("M.tla", SPEC, &mut Alone, strings).expect("a module without errors");
    let files = vec![File { name: "a.ndjson".into(), text: lines.into() }];
    let mut beside = |_: &str| Err("no file".to_owned());
    let prepared = Prepared::new(log, text, "omnilink.toml", &mut module, &mut config, files, &mut beside).ok()?;
    omnilink_logs::fill_constants(&module, &mut config);
    let program = link(module, &config, omnilink_tla::program::LinkOptions::default()).ok()?;
    let mut machine = Machine::new(&program, Box::new(Hurry::default()));
    let bound = prepared.bind(&mut machine, &config).ok()?;
    let mut asked = 0;
    let mut poll = |_: &omnilink_logs::Stats| {
        asked += 1;
        (asked > PATIENCE).then_some(Stop::Time)
    };
    let options = LogOptions { exhaustive, ..LogOptions::default() };
    match omnilink_logs::check(&prepared, &bound, &mut machine, &config, options, &mut poll).ok()?.outcome {
        LogOutcome::Accepted(_) => Some(true),
        LogOutcome::Rejected(_) => Some(false),
        _ => None,
    }
}
