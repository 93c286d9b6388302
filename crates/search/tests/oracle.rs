//! The search against the brute-force oracle, on random specs and random histories.
//!
//! `cargo test --release -p omnilink-search --test oracle -- --ignored` runs the long version.

use fastrand::Rng;
use omnilink_history::{OpId, Verdict};
use omnilink_search::{AnyOp, AnySpec, Criterion, Erased, Options, Witness, check, replay};
use omnilink_testkit::{
    Reachable, Table, is_allowed, is_order, random_history, reachable, with_random_edges, with_random_last,
};

fn compare(seeds: std::ops::Range<u64>, most: usize) {
    let mut accepted = 0;
    for seed in seeds.clone() {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, most);
        // Every third history has operations that are blocked at the end, and every fourth has edges.
        let history = if seed % 3 == 0 { with_random_last(&spec, history, &mut rng) } else { history };
        let history = if seed % 4 == 0 { with_random_edges(history, &mut rng) } else { history };
        for criterion in [Criterion::LINEARIZABLE, Criterion::SEQUENTIAL, Criterion::SERIALIZABLE] {
            let expected = is_allowed(&spec, &history, criterion);
            if criterion == Criterion::LINEARIZABLE {
                accepted += u64::from(expected);
            }
            for by_level in [false, true] {
                for (reduce, first_width) in [(false, None), (true, None), (true, Some(1)), (false, Some(2))] {
                    let options = Options { criterion, by_level, reduce, first_width, ..Options::default() };
                    let report = check(&spec, &history, &options).unwrap_or_else(|error| {
                        panic!("seed {seed}: {options:?}: {error} for {history:?} of {spec:?}")
                    });
                    match &report.verdict {
                        Verdict::Accepted(witness) => {
                            assert!(expected, "seed {seed}: {options:?} accepts {history:?} of {spec:?}");
                            assert_eq!(replay(&spec, &history, criterion, witness), Ok(()), "seed {seed}");
                        }
                        Verdict::Rejected(explanation) => {
                            assert!(!expected, "seed {seed}: {options:?} rejects {history:?} of {spec:?}");
                            assert!(!explanation.stuck.is_empty(), "seed {seed}: {options:?} shows nothing stuck");
                            assert!(!explanation.blocked.is_empty(), "seed {seed}: {options:?} blames nothing");
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
fn by_level_and_without_reductions_the_search_visits_the_states_of_a_model_checker() {
    let mut compared = 0;
    for seed in 0..4_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 6);
        let history = if seed % 3 == 0 { with_random_last(&spec, history, &mut rng) } else { history };
        for criterion in [Criterion::LINEARIZABLE, Criterion::SEQUENTIAL, Criterion::SERIALIZABLE] {
            let options = Options { criterion, by_level: true, reduce: false, ..Options::default() };
            let report = check(&spec, &history, &options).expect("a spec that can be evaluated");
            if report.verdict.is_rejected() {
                let visited = Reachable { situations: report.stats.distinct, steps: report.stats.generated };
                assert_eq!(visited, reachable(&spec, &history, criterion), "seed {seed}: {criterion:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 1_000, "{compared} rejected histories are enough to compare");
}

#[test]
fn a_replay_confirms_orders_and_nothing_else() {
    let (mut confirmed, mut refused) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 5);
        let history = if seed % 3 == 0 { with_random_last(&spec, history, &mut rng) } else { history };
        let history = if seed % 4 == 0 { with_random_edges(history, &mut rng) } else { history };
        // By start is often right; then one operation is moved, left out or doubled.
        let mut order: Vec<OpId> = history.ops().iter().map(|op| op.id).collect();
        for _ in 0..rng.usize(..3) {
            let place = rng.usize(..=order.len());
            match rng.u8(..4) {
                0 if place < order.len() => drop(order.remove(place)),
                1 if place < order.len() => order.push(order[place]),
                _ if place + 1 < order.len() => order.swap(place, place + 1),
                _ => {}
            }
        }
        let witness = Witness::from_order(order.clone());
        assert_eq!((witness.len(), witness.is_empty(), witness.initial()), (order.len(), order.is_empty(), 0));
        for criterion in [Criterion::LINEARIZABLE, Criterion::SEQUENTIAL, Criterion::SERIALIZABLE] {
            let expected = is_order(&spec, &history, criterion, &order);
            let replayed = replay(&spec, &history, criterion, &witness);
            assert_eq!(
                replayed.is_ok(),
                expected,
                "seed {seed}: {replayed:?} for {order:?} of {history:?} in {spec:?}"
            );
            *if expected { &mut confirmed } else { &mut refused } += 1;
        }
    }
    assert!(confirmed > 4_000 && refused > 4_000, "{confirmed} confirmed, {refused} refused");
}

/// Which types a specification has makes no difference: neither to verdicts nor to the work.
#[test]
fn an_erased_specification_is_searched_like_any_other() {
    for seed in 0..4_000 {
        let mut rng = Rng::with_seed(seed);
        let spec = Table::random(&mut rng);
        let history = random_history(&spec, &mut rng, 7);
        let erased = history.try_map(|op| Ok::<_, ()>(Some(AnyOp::new(op.call)))).expect("all are erased");
        for by_level in [false, true] {
            let options = Options { by_level, ..Options::default() };
            let plain = check(&spec, &history, &options).expect("a table has no errors");
            let any: AnySpec<'_, _> = &Erased(&spec);
            let report = check(&any, &erased, &options).expect("a table has no errors");
            assert_eq!(report.map_states(|state| *state.get()), plain, "seed {seed}: by level: {by_level}");
        }
    }
}
