//! Following given ranks, against trying every order that keeps them.
//!
//! `cargo test --release -p omnilink-search --test follow -- --ignored` runs the long version.

use std::convert::Infallible;

use fastrand::Rng;
use omnilink_history::{History, Op, OpId, Verdict};
use omnilink_search::{Criterion, Follower, Misfit, Options, Spec, Successors, Witness, check, replay};
use omnilink_testkit::{Table, TableOp, is_allowed, random_history};

/// A random spec whose operations take one step.
struct OneStep<'a>(&'a Table);

impl Spec for OneStep<'_> {
    type Op = TableOp;
    type State = u8;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        self.0.initial(out)
    }

    fn step(&self, state: &u8, op: &TableOp, out: &mut Successors<u8>) -> Result<(), Infallible> {
        let mut successors = Successors::default();
        self.0.step(state, op, &mut successors)?;
        successors.into_parts().0.into_iter().for_each(|state| out.done(state));
        Ok(())
    }

    fn is_observer(&self, op: &TableOp) -> bool {
        self.0.is_observer(op)
    }
}

/// The same spec, restricted to the order of ranks.
struct InOrder<'a>(OneStep<'a>);

impl Spec for InOrder<'_> {
    type Op = (TableOp, Option<u32>);
    type State = (u8, u32); // The highest rank so far.
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<(u8, u32)>) -> Result<(), Infallible> {
        let mut states = Vec::new();
        self.0.initial(&mut states)?;
        out.extend(states.into_iter().map(|state| (state, 0)));
        Ok(())
    }

    fn step(&self, state: &Self::State, op: &Self::Op, out: &mut Successors<Self::State>) -> Result<(), Infallible> {
        let (state, highest) = *state;
        let rank = op.1.unwrap_or(highest);
        if rank >= highest {
            let mut successors = Successors::default();
            self.0.step(&state, &op.0, &mut successors)?;
            successors.into_parts().0.into_iter().for_each(|state| out.done((state, rank)));
        }
        Ok(())
    }
}

/// Ranks for operations: those of a legal order, if there is one, with some exchanged or removed.
fn ranks(spec: &OneStep<'_>, history: &History<TableOp>, rng: &mut Rng) -> Vec<Option<u32>> {
    let mut order: Vec<OpId> = match check(spec, history, &Options::default()).expect("a search").verdict {
        Verdict::Accepted(witness) => witness.steps().map(|placed| placed.op).collect(),
        _ => history.ops().iter().map(|op| op.id).collect(),
    };
    for _ in 0..rng.usize(..3) {
        if order.len() > 1 {
            let place = rng.usize(1..order.len());
            order.swap(place - 1, place);
        }
    }
    let mut ranks = vec![None; history.ops().len()];
    order.iter().zip(1..).for_each(|(op, rank)| ranks[op.index()] = Some(rank));
    let missing = rng.f64() * 0.4;
    for op in history.ops() {
        let may_miss = op.interval.is_unfinished() || spec.is_observer(&op.call);
        if may_miss && rng.f64() < missing {
            ranks[op.id.index()] = None;
        }
    }
    ranks
}

fn follow(spec: &OneStep<'_>, history: &History<TableOp>, ranks: &[Option<u32>]) -> Result<Witness, Misfit<u8>> {
    let Ok(mut follower) = Follower::new(spec, true);
    for op in history.ops() {
        let Ok(misfit) = follower.push(op.with(op.call), ranks[op.id.index()]);
        misfit.map_or(Ok(()), Err)?;
    }
    let Ok(outcome) = follower.finish();
    outcome
}

fn compare(seeds: std::ops::Range<u64>, most: usize) {
    let (mut followed, mut refused, mut uncertain) = (0, 0, 0);
    for seed in seeds {
        let mut rng = Rng::with_seed(seed);
        let table = Table::random(&mut rng);
        let spec = OneStep(&table);
        let history = random_history(&table, &mut rng, most);
        let ranks = ranks(&spec, &history, &mut rng);
        let ranked = |op: &Op<TableOp>| (op.process.0, op.interval, (op.call, ranks[op.id.index()]));
        let with_ranks = History::from_intervals(history.ops().iter().map(ranked)).expect("the same history");
        let expected = is_allowed(&InOrder(OneStep(&table)), &with_ranks, Criterion::LINEARIZABLE);
        let context = || format!("seed {seed}: {history:?} {ranks:?} of {table:?}");
        match follow(&spec, &history, &ranks) {
            Ok(witness) => {
                assert!(expected, "followed: {}", context());
                assert_eq!(replay(&spec, &history, Criterion::LINEARIZABLE, &witness), Ok(()), "{}", context());
                let placed: Vec<u32> = witness.steps().filter_map(|placed| ranks[placed.op.index()]).collect();
                assert!(placed.is_sorted(), "{placed:?}: {}", context());
                followed += 1;
            }
            Err(Misfit::Time(..) | Misfit::Disabled { is_certain: true, .. }) => {
                assert!(!expected, "refused: {}", context());
                refused += 1;
            }
            Err(Misfit::Disabled { is_certain: false, .. }) => uncertain += 1,
            Err(misfit) => panic!("{misfit:?}: {}", context()),
        }
    }
    let all = followed + refused + uncertain;
    assert!(followed > all / 5 && refused > all / 5 && uncertain < all / 5, "{followed} {refused} {uncertain}");
}

#[test]
fn an_order_is_followed_exactly_if_it_is_one() {
    compare(0..20_000, 7);
}

#[test]
#[ignore = "takes a minute"]
fn an_order_is_followed_exactly_if_it_is_one_at_length() {
    compare(1_000_000..2_000_000, 9);
}

#[test]
fn an_operation_that_was_blocked_leaves_the_order_incomplete() {
    let mut rng = Rng::with_seed(1);
    let table = Table::random(&mut rng);
    let history = History::from_calls([(0, 0, Some(1), TableOp(0))]).expect("a history");
    let Ok(mut follower) = Follower::<_, u32, _>::new(&table, false);
    let Ok(misfit) = follower.push(Op { is_last: true, ..history.ops()[0].clone() }, Some(1));
    assert_eq!(misfit, Some(Misfit::Unranked(OpId(0))));
}

/// A specification without an initial state.
struct Nowhere;

impl Spec for Nowhere {
    type Op = u8;
    type State = u8;
    type Error = Infallible;

    fn initial(&self, _: &mut Vec<u8>) -> Result<(), Infallible> {
        Ok(())
    }

    fn step(&self, state: &u8, _: &u8, out: &mut Successors<u8>) -> Result<(), Infallible> {
        out.done(*state);
        Ok(())
    }
}

#[test]
fn without_an_initial_state_no_order_is_followed() {
    let history = History::from_calls([(0, 0, None, 0)]).expect("a history");
    let Ok(mut follower) = Follower::<_, u32, _>::new(&Nowhere, false);
    let Ok(misfit) = follower.push(history.ops()[0].clone(), Some(1));
    assert!(matches!(misfit, Some(Misfit::Disabled { state: None, .. })), "{misfit:?}");
}

/// Operations that may take any number of steps before they return the bit, each of which flips it.
struct Flips;

impl Spec for Flips {
    type Op = u8;
    type State = u8;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<u8>) -> Result<(), Infallible> {
        out.push(0);
        Ok(())
    }

    fn step(&self, bit: &u8, seen: &u8, out: &mut Successors<u8>) -> Result<(), Infallible> {
        out.partway(1 - bit);
        if seen == bit {
            out.done(*bit);
        }
        Ok(())
    }
}

#[test]
fn steps_that_lead_back_are_not_taken_again() {
    let is_refused = |seen: u8| {
        let history = History::from_calls([(0, 0, Some(1), seen)]).expect("a history");
        let Ok(mut follower) = Follower::new(&Flips, false);
        let Ok(misfit) = follower.push(history.ops()[0].clone(), Some(1));
        let Ok(outcome) = follower.finish();
        assert_eq!(misfit, None);
        matches!(outcome, Err(Misfit::Disabled { is_certain: true, .. }))
    };
    assert_eq!([0, 1, 2].map(is_refused), [false, false, true]);
}
