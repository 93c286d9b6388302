//! Every level against a brute-force oracle written from the definitions: all orders, all visibilities.
//!
//! `cargo nextest run --release -p omnilink-weak --test oracle --run-ignored all` runs the long version.

mod specs;

use std::collections::BTreeMap;

use fastrand::Rng;
use omnilink_history::{History, Precedence, Verdict};
use omnilink_search::Unwatched;
use omnilink_testkit::levels::{AXIOM, is_explained};
use omnilink_weak::{Action, Answer, ByAction, Context, Level, Method, Visibility, WeakOptions, check, find};

use specs::{Call, Kind, Object, random_history};

fn show(history: &History<Action<Call>>) -> String {
    let op = |op: &omnilink_history::Op<Action<Call>>| {
        format!("\n{} {:?} {}", op.process, op.interval, op.call.forms.recorded)
    };
    history.ops().iter().map(op).collect()
}

fn preset(name: &str) -> Level {
    Level::named(name).expect("a preset")
}

/// Levels of every class.
fn levels(object: Object, rng: &mut Rng) -> Vec<Level> {
    let mut levels: Vec<Level> = Level::presets().map(|(name, _)| preset(name)).collect();
    // Each action has its own.
    let names: Vec<&'static str> = object.actions().to_vec();
    for order in [Precedence::RealTime, Precedence::Program] {
        let choice = |rng: &mut Rng| Visibility::ALL[rng.usize(..Visibility::ALL.len())];
        let independent = [Visibility::Complete, Visibility::Overlap, Visibility::Session, Visibility::Weak];
        let mut any = Level::new(order, Visibility::Complete);
        let mut some = any.clone();
        for name in &names {
            any = any.with_action(name, choice(rng));
            some = some.with_action(name, independent[rng.usize(..4)]);
        }
        levels.extend([any, some]);
    }
    levels.push(Level::new(Precedence::None, Visibility::Complete).with_action(names[0], Visibility::Weak));
    levels.push(preset("eventual").with_order(Precedence::RealTime));
    let expert = preset("eventual").with_order(Precedence::Program);
    levels.push(expert.with_axiom(AXIOM).expect("an axiom"));
    levels
}

fn random_context(rng: &mut Rng) -> Context {
    if rng.bool() { Context::Recorded } else { Context::Free }
}

fn compare(seeds: std::ops::Range<u64>, most: usize) {
    let mut verdicts: BTreeMap<(Kind, bool), u64> = BTreeMap::new();
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let object = Object::random(&mut rng);
        let history = random_history(object, &mut rng, most);
        let levels = levels(object, &mut rng);
        let context = random_context(&mut rng);
        // A few levels for each history.
        for _ in 0..3 {
            let level = levels[rng.usize(..levels.len())].clone();
            let expected = is_explained(&object, &history, &level, context);
            *verdicts.entry((object.kind, expected)).or_default() += 1;
            let ways =
                [(Method::Reduced, true), (Method::Reduced, false), (Method::Least, true), (Method::Naive, true)];
            for (method, reduce) in ways {
                let search = omnilink_search::Options { reduce, ..omnilink_search::Options::default() };
                let options = WeakOptions { level: level.clone(), context, method, search };
                let report = check(&object, &history, &options, &Unwatched)
                    .unwrap_or_else(|error| panic!("seed {seed}: {level}, {context:?}: {error} for {history:?}"));
                let found = match report.verdict {
                    Verdict::Accepted(_) => true,
                    Verdict::Rejected(failure) => {
                        assert!(!failure.blocked.is_empty(), "seed {seed}: {level}: nothing is blamed");
                        false
                    }
                    Verdict::Inconclusive(stop) => panic!("seed {seed}: {level}: {stop}"),
                };
                assert_eq!(
                    found,
                    expected,
                    "seed {seed}: {level}, {context:?}, {method:?} {reduce}: {}",
                    show(&history)
                );
            }
        }
    }
    for kind in Kind::ALL {
        let [no, yes] = [false, true].map(|verdict| verdicts.get(&(kind, verdict)).copied().unwrap_or(0) as f64);
        assert!((0.2..0.8).contains(&(yes / (yes + no))), "{kind:?}: {yes} accepted, {no} rejected");
    }
}

#[test]
fn every_level_agrees_with_all_orders_and_all_visibilities() {
    compare(0..10_000, 5);
}

#[test]
#[ignore = "takes minutes"]
fn every_level_agrees_with_all_orders_and_all_visibilities_at_length() {
    // Six operations have a hundred times as many orders and visibilities as five.
    compare(1_000_000..1_095_000, 5);
    compare(2_000_000..2_005_000, 6);
}

/// No level accepts what a weaker one rejects.
#[test]
fn the_lattice_is_respected() {
    respect(0..3_000);
}

#[test]
#[ignore = "takes minutes"]
fn the_lattice_is_respected_at_length() {
    respect(1_000_000..1_050_000);
}

fn respect(seeds: std::ops::Range<u64>) {
    let mut compared = 0;
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let object = Object::random(&mut rng);
        let history = random_history(object, &mut rng, 6);
        let levels = levels(object, &mut rng);
        let context = random_context(&mut rng);
        let accepts = |level: &Level| {
            let options = WeakOptions { level: level.clone(), context, ..WeakOptions::default() };
            let verdict = check(&object, &history, &options, &Unwatched).expect("a verdict").verdict;
            verdict.is_accepted()
        };
        let accepted: Vec<bool> = levels.iter().map(accepts).collect();
        for (level, &is_accepted) in levels.iter().zip(&accepted) {
            for (weaker, &weaker_accepts) in levels.iter().zip(&accepted) {
                if level.implies(weaker) {
                    compared += 1;
                    assert!(
                        !is_accepted || weaker_accepts,
                        "seed {seed}: {level} accepts, {weaker} rejects {}",
                        show(&history)
                    );
                }
            }
        }
    }
    assert!(compared > 50_000, "{compared} pairs");
}

/// The levels that are found hold, and no stronger one does.
#[test]
fn the_levels_that_are_found_are_the_strongest() {
    find_levels(0..2_000);
}

#[test]
#[ignore = "takes minutes"]
fn the_levels_that_are_found_are_the_strongest_at_length() {
    find_levels(1_000_000..1_020_000);
}

fn find_levels(seeds: std::ops::Range<u64>) {
    let mut by_visibility: BTreeMap<Option<Visibility>, u64> = BTreeMap::new();
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let object = Object::random(&mut rng);
        let histories: Vec<_> = (0..rng.usize(1..3)).map(|_| random_history(object, &mut rng, 5)).collect();
        let context = random_context(&mut rng);
        let is_explained =
            |level: &Level| histories.iter().all(|history| is_explained(&object, history, level, context));
        let ask = |history: usize, level: &Level, _| -> Result<Answer, omnilink_weak::Error<_>> {
            let history: &History<Action<Call>> = &histories[history];
            let options = WeakOptions { level: level.clone(), context, ..WeakOptions::default() };
            Ok(match check(&object, history, &options, &Unwatched)?.verdict {
                Verdict::Accepted(_) => Answer::Accepted,
                Verdict::Inconclusive(_) => Answer::Undecided,
                Verdict::Rejected(failure) => {
                    let blamed = failure.blocked.iter().map(|blocked| history.op(blocked.op).call.name.clone());
                    Answer::Rejected { blamed: blamed.collect() }
                }
            })
        };
        let mut actions: Vec<_> = histories.iter().flat_map(History::ops).map(|op| op.call.name.clone()).collect();
        actions.sort();
        actions.dedup();
        let found = find(histories.len(), &actions, ask, |_| ()).expect("levels");
        let all = || Level::presets().map(|(name, _)| preset(name));
        let holding: Vec<Level> = all().filter(is_explained).collect();
        let is_strongest =
            |level: &&Level| !holding.iter().any(|stronger| stronger != *level && stronger.implies(level));
        let strongest: Vec<Level> = holding.iter().filter(is_strongest).cloned().collect();
        let shown: String = histories.iter().map(show).collect();
        assert_eq!((found.presets, found.undecided), (strongest, Vec::new()), "seed {seed}: {context:?}{shown}");
        let weakest = Level::new(Precedence::RealTime, Visibility::Weak);
        let ByAction::Strongest { level, undecided } = found.by_action else {
            assert_eq!(found.by_action, ByAction::None, "seed {seed}: {context:?}{shown}");
            assert!(!is_explained(&weakest), "seed {seed}: {context:?}: something holds of {shown}");
            *by_visibility.entry(None).or_default() += 1;
            continue;
        };
        assert!(undecided.is_empty() && is_explained(&level), "seed {seed}: {context:?}: {level}{shown}");
        for action in &actions {
            let own = level.visibility_of(action);
            *by_visibility.entry(Some(own)).or_default() += 1;
            for visibility in Visibility::ALL.into_iter().filter(|other| *other != own && other.implies(own)) {
                let stronger = level.clone().with_action(action, visibility);
                assert!(!is_explained(&stronger), "seed {seed}: {context:?}: {level}, but {stronger} holds of {shown}");
            }
        }
    }
    let common =
        [Visibility::Complete, Visibility::Overlap, Visibility::Prefix, Visibility::Causal, Visibility::Session];
    let is_common = |visibility| by_visibility.get(&visibility).is_some_and(|&count| count > 5);
    assert!(common.map(Some).into_iter().chain([None]).all(is_common), "{by_visibility:?}");
}
