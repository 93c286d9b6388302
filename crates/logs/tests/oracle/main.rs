//! Verdicts about random logs against an oracle that follows the definition.
//!
//! Logs are made from random walks of six small specifications, with fields and events left out, values changed and
//! orders weakened. The search with its reductions, without that of orders, and the exhaustive search must agree with
//! the oracle about each verdict and, for a rejected log, about the number of events that a behavior explains.

mod brute;
mod make;
mod mapping;
mod plain;
mod specs;

use std::collections::BTreeSet;

use brute::{Decision, States};
use make::{Case, make};
use omnilink_logs::{File, LogOptions, LogOutcome, Prepared};
use omnilink_settings::Settings;
use omnilink_tla::config::Config;
use omnilink_tla::ir::Module;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{Program, link};
use specs::{SPECS, Spec};

struct Nothing;

impl omnilink_tla::datum::World for Nothing {}

impl omnilink_tla::resolve::Loader for Nothing {
    fn load(&mut self, _module: &str) -> Option<(String, String)> {
        None
    }
}

/// The number of logs of each specification.
const LOGS: u64 = 1_050;

/// Features that logs must have had.
const FEATURES: &[&str] = &[
    "actions",
    "after",
    "argument changed",
    "before",
    "complete",
    "computed argument",
    "cut off",
    "equal keys",
    "event dropped",
    "events exchanged",
    "file order",
    "indices",
    "init",
    "inner fields",
    "messages",
    "name changed",
    "no arguments",
    "no name",
    "no value",
    "one of several values",
    "quoted names",
    "repeat",
    "several files",
    "several processes",
    "skip",
    "skipped event",
    "some arguments",
    "step",
    "step not logged",
    "then",
    "time",
    "time and messages",
    "two kinds of unlogged",
    "uncertainty",
    "unlogged",
    "unlogged args",
    "unlogged before",
    "unlogged max",
    "unlogged needed",
    "unlogged step",
    "until",
    "value changed",
    "vector clock",
];

/// Counts of logs.
#[derive(Debug, Default)]
struct Counts {
    accepted: u64,
    rejected: u64,
    /// Neither, because events are lost.
    open: u64,
    contradictions: u64,
    /// Accepted and rejected logs of which orders were left out.
    reduced: [u64; 2],
    features: BTreeSet<&'static str>,
    disagreements: Vec<String>,
}

static ALL: [Spec; 6] = SPECS;

#[test]
fn the_search_agrees_with_the_definition() {
    agrees(0, LOGS);
}

#[test]
#[ignore = "takes minutes"]
fn the_search_agrees_with_the_definition_on_many_logs() {
    agrees(100_000, 60_000 / SPECS.len() as u64);
}

/// Compares verdicts about this many logs of each specification.
fn agrees(seed: u64, logs: u64) {
    let first = |place: usize| place as u64 * 1_000_000 + seed;
    let counts: Vec<Counts> = std::thread::scope(|scope| {
        let specs = ALL.iter().enumerate();
        let threads: Vec<_> =
            specs.map(|(place, spec)| scope.spawn(move || compare(spec, first(place), logs))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a disagreement is not a panic")).collect()
    });
    let disagreements: Vec<&String> = counts.iter().flat_map(|counts| &counts.disagreements).collect();
    // The shortest is the easiest to understand.
    if let Some(shortest) = disagreements.iter().min_by_key(|text| text.len()) {
        panic!("{} disagreements, of which this is the shortest:\n{shortest}", disagreements.len());
    }
    for (spec, Counts { accepted, rejected, .. }) in ALL.iter().zip(&counts) {
        let least = (accepted + rejected) / 10;
        assert!(*accepted.min(rejected) >= least, "{}: {accepted} accepted, {rejected} rejected", spec.name);
    }
    let sum = |count: fn(&Counts) -> u64| counts.iter().map(count).sum::<u64>();
    let (accepted, rejected) = (sum(|counts| counts.accepted), sum(|counts| counts.rejected));
    let all = accepted + rejected;
    assert!(all >= 5_000 && accepted.min(rejected) >= all / 5, "{accepted} accepted, {rejected} rejected");
    assert!(sum(|counts| counts.contradictions) > 0, "no order contradicts itself");
    assert!(sum(|counts| counts.open) > 50, "lost events matter in {} logs", sum(|counts| counts.open));
    let reduced = [0, 1].map(|place| counts.iter().map(|counts| counts.reduced[place]).sum::<u64>());
    assert!(reduced.iter().all(|count| *count > all / 200), "orders were left out of {reduced:?} logs");
    let occurred = |name: &&&str| counts.iter().any(|counts| counts.features.contains(**name));
    let missing: Vec<&&str> = FEATURES.iter().filter(|name| !occurred(name)).collect();
    assert!(missing.is_empty(), "no log had {missing:?}");
}

/// Predicates over states and steps: the specification, definitions, and what the configuration says about them.
const PREDICATES: &[(&str, &str, &str)] = &[
    ("TwoPhase", "Few == Cardinality(msgs) < 3", "CONSTRAINT Few"),
    ("TwoPhase", "Late == rmState[\"r1\"] = \"prepared\" => tmState = \"init\"", "CONSTRAINT Late"),
    ("TwoPhase", "Order == rmState[\"r2\"] # \"working\" => rmState[\"r1\"] # \"working\"", "INVARIANT Order"),
    ("Store", "Few == Cardinality(open) < 2", "CONSTRAINT Few"),
    ("Ring", "Room == \\A n \\in Node : Cardinality(inbox[n]) < 2", "INVARIANT Room"),
    ("Ring", "Keeps == token' = token \\/ active' = active", "ACTION_CONSTRAINT Keeps"),
];

/// Constraints and invariants make events depend on each other: all searches agree with the exhaustive one.
#[test]
fn the_searches_agree_under_constraints_and_invariants() {
    let (mut all, mut violated, mut reduced) = (0, 0, 0);
    for (name, definitions, limit) in PREDICATES {
        let spec = ALL.iter().find(|spec| spec.name == *name).expect("a specification");
        let (module, config) = resolved(spec, spec.configs[0]);
        let program = linked(&module, &config);
        let mut states = States::new(Machine::new(&program, Box::new(Nothing)), Vec::new());
        let text = spec.text.replace("\n====", &format!("\n{definitions}\n===="));
        let (module, config) = resolved_text(spec, &text, &format!("{} {limit}", spec.configs[0]));
        for seed in 0..250 {
            let case = make(spec, &mut states, 9_000_000 + seed);
            // Actions that are not part of `Next` have no successors of their own here.
            let Ok(verdicts) = check(spec, &case, module.clone(), config.clone()) else { continue };
            let [found @ .., (expected, _)] = verdicts;
            for (decision, left_out) in found {
                let (settings, files) = (case.mapping.text(spec), case.files.join("--\n"));
                assert_eq!(decision, expected, "{name} seed {seed}: {limit} {definitions}\n{settings}\n{files}");
                reduced += u64::from(left_out > 0);
            }
            all += 1;
            violated += u64::from(expected == Decision::Violated);
        }
    }
    assert!(all > 1_000 && violated > 20 && reduced > 20, "{all} logs, {violated} violated, {reduced} reduced");
}

/// Compares verdicts about random logs of a specification.
fn compare(spec: &'static Spec, first: u64, logs: u64) -> Counts {
    let mut counts = Counts::default();
    for (config_place, config) in spec.configs.iter().enumerate() {
        let (module, config) = resolved(spec, config);
        let program = linked(&module, &config);
        let free: Vec<(&'static str, Program)> = spec
            .free
            .iter()
            .map(|name| {
                let text = spec.configs[config_place].replace("NEXT Next", &format!("NEXT {name}"));
                let (module, config) = resolved(spec, &text);
                (*name, linked(&module, &config))
            })
            .collect();
        let machine = |program| Machine::new(program, Box::new(Nothing));
        let free = free.iter().map(|(name, program)| (*name, machine(program))).collect();
        let mut states = States::new(machine(&program), free);
        let share = logs / spec.configs.len() as u64;
        for seed in (0..share).map(|index| first + config_place as u64 * share + index) {
            let case = make(spec, &mut states, seed);
            let decision = brute::decide(spec, &case.mapping, &mut states, &case.files);
            let verdicts = check(spec, &case, module.clone(), config.clone());
            for (place, how) in SEARCHES.iter().enumerate() {
                let found = verdicts.clone().map(|verdicts| verdicts[place].0);
                if found != Ok(decision) && (found.is_ok() || decision != Decision::Contradiction) {
                    let (config, settings) = (spec.configs[config_place], case.mapping.text(spec));
                    let files = case.files.join("--\n");
                    let title = format!("{} seed {seed}, {how:?}", spec.name);
                    let verdicts = format!("expected {decision:?}, found {found:?}");
                    counts.disagreements.push(format!("{title}: {verdicts}\n{config}\n{settings}\n{files}"));
                }
            }
            match decision {
                Decision::Accepted => counts.accepted += 1,
                Decision::Rejected(_) => counts.rejected += 1,
                Decision::Open(_) => counts.open += 1,
                Decision::Contradiction => counts.contradictions += 1,
                Decision::Violated => unreachable!("the oracle ignores invariants"),
            }
            if verdicts.is_ok_and(|[(_, left_out), ..]| left_out > 0) {
                counts.reduced[usize::from(decision != Decision::Accepted)] += 1;
            }
            // Lost events never make an accepted log a rejected one.
            if let (Some(whole), Decision::Rejected(_)) = (&case.whole, decision)
                && brute::is_sorted(&case.mapping, whole)
                && brute::decide(spec, &case.mapping, &mut states, whole) == Decision::Accepted
            {
                let (settings, files) = (case.mapping.text(spec), whole.join("--\n"));
                let cut = case.files.join("--\n");
                counts
                    .disagreements
                    .push(format!("{} seed {seed}: accepted as a whole\n{settings}\n{files}\ncut:\n{cut}", spec.name));
            }
            counts.features.extend(case.features);
        }
    }
    counts
}

fn resolved(spec: &Spec, config: &str) -> (Module, Config) {
    resolved_text(spec, spec.text, config)
}

fn resolved_text(spec: &Spec, text: &str, config: &str) -> (Module, Config) {
    let mut strings = Default::default();
    let config = omnilink_tla::config::parse(config, &mut strings).expect("no errors");
    let name = format!("{}.tla", spec.name);
    let module = omnilink_tla::resolve::resolve(&name, text, &mut Nothing, strings);
    (module.unwrap_or_else(|errors| panic!("{}: {:?}", spec.name, errors.errors)), config)
}

fn linked(module: &Module, config: &Config) -> Program {
    let program = link(module.clone(), config, Default::default());
    program.unwrap_or_else(|errors| panic!("{:?}", errors.errors))
}

/// The searches to compare: with all reductions, without that of orders, and without any.
const SEARCHES: [LogOptions; 3] = [
    LogOptions { exhaustive: false, all_orders: false },
    LogOptions { exhaustive: false, all_orders: true },
    LogOptions { exhaustive: true, all_orders: true },
];

/// The verdict of each search, and the number of times that it left out an event.
fn check(spec: &Spec, case: &Case, mut module: Module, mut config: Config) -> Result<[(Decision, u64); 3], String> {
    let text = case.mapping.text(spec);
    let log = Settings::parse(&text).map_err(|error| format!("{error}"))?.log.expect("a section");
    let file = |(place, text): (usize, &String)| File { name: format!("f{place}.ndjson"), text: text.clone() };
    let files = case.files.iter().enumerate().map(file).collect();
    let mut beside = |_: &str| Err("no file".to_owned());
    let prepared = Prepared::new(&log, &text, "omnilink.toml", &mut module, &mut config, files, &mut beside);
    let prepared = prepared.map_err(|error| format!("{error}: {error:?}"))?;
    let program = link(module, &config, Default::default()).map_err(|errors| format!("{:?}", errors.errors))?;
    let mut machine = Machine::new(&program, Box::new(Nothing));
    let bound = prepared.bind(&mut machine, &config).map_err(|error| format!("{error}: {error:?}"))?;
    let mut verdict = |options| {
        let checked = omnilink_logs::check(&prepared, &bound, &mut machine, &config, options, &mut |_| None);
        let checked = checked.map_err(|error| format!("{error}: {error:?}"))?;
        let decision = match checked.outcome {
            LogOutcome::Accepted(_) => Decision::Accepted,
            LogOutcome::Rejected(_) => Decision::Rejected(checked.stats.explained),
            LogOutcome::Violated(..) => Decision::Violated,
            LogOutcome::Inconclusive(omnilink_history::Stop::Incomplete, ..) => {
                let steps = omnilink_logs::longest(&checked, &bound);
                Decision::Open(steps.iter().filter(|step| step.event.is_some()).count() as u32)
            }
            LogOutcome::Inconclusive(..) => return Err("another outcome".to_owned()),
        };
        Ok((decision, checked.stats.left_out))
    };
    let [reduced, ordered, exhaustive] = SEARCHES;
    Ok([verdict(reduced)?, verdict(ordered)?, verdict(exhaustive)?])
}
