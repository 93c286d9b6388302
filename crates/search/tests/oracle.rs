//! The search against the brute-force oracle, on random specs and random histories.
//!
//! `cargo test --release -p omnilink-search --test oracle -- --ignored` runs the long version.

use fastrand::Rng;
use history::{Precedence, Verdict};
use search::{Options, Strategy, check, replay};
use testkit::{Reachable, Table, is_allowed, random_history, reachable};

fn compare(seeds: std::ops::Range<u64>, most: usize) {
    let mut accepted = 0;
    for seed in seeds.clone() {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, most);
        for precedence in [Precedence::RealTime, Precedence::Program] {
            let expected = is_allowed(&spec, &history, precedence);
            let mut strategies = vec![Strategy::ByLevel(precedence)];
            if precedence == Precedence::RealTime {
                strategies.push(Strategy::JustInTime);
                accepted += u64::from(expected);
            }
            for strategy in strategies {
                for reduce in [false, true] {
                    let options = Options { strategy, reduce, ..Options::default() };
                    let report = check(&spec, &history, &options).expect("a table has no errors");
                    match &report.verdict {
                        Verdict::Accepted(witness) => {
                            assert!(expected, "seed {seed}: {options:?} accepts {history:?} of {spec:?}");
                            assert_eq!(replay(&spec, &history, precedence, witness), Ok(()), "seed {seed}");
                        }
                        Verdict::Rejected(explanation) => {
                            assert!(!expected, "seed {seed}: {options:?} rejects {history:?} of {spec:?}");
                            assert!(!explanation.stuck.is_empty(), "seed {seed}: {options:?} shows nothing stuck");
                        }
                        Verdict::Inconclusive(stop) => panic!("seed {seed}: {stop}"),
                    }
                }
            }
        }
    }
    let (accepted, all) = (accepted as f64, (seeds.end - seeds.start) as f64);
    assert!((0.2..0.8).contains(&(accepted / all)), "{accepted} of {all} accepted: both verdicts should be common");
}

#[test]
fn the_search_agrees_with_trying_every_order() {
    compare(0..20_000, 7);
}

#[test]
#[ignore = "takes a minute"]
fn the_search_agrees_with_trying_every_order_at_length() {
    compare(1_000_000..1_200_000, 9);
}

#[test]
fn by_level_and_without_reductions_the_search_visits_what_a_model_checker_visits() {
    let mut compared = 0;
    for seed in 0..4_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 6);
        for precedence in [Precedence::RealTime, Precedence::Program] {
            let options = Options { strategy: Strategy::ByLevel(precedence), reduce: false, max_width: None };
            let report = check(&spec, &history, &options).expect("a spec that can be evaluated");
            if report.verdict.is_rejected() {
                let visited = Reachable { situations: report.stats.distinct, steps: report.stats.generated };
                assert_eq!(visited, reachable(&spec, &history, precedence), "seed {seed}: {precedence:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1_000, "{compared} rejected histories are enough to compare");
}
