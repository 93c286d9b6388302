//! The tests of `omnilink lineup`, in rounds: those that are given, random ones of one size, or random ones of sizes that
//! grow, so that what a small test shows is found with a small test.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::time::Duration;

use omnilink_judge::InputError;
use omnilink_lineup::Test;

use crate::args::{LineupArgs, Size};
use crate::exit::Exit;
use crate::terminal::complain;

/// The sizes of tests if none is asked for. All schedules of the first two can be explored.
const SIZES: [Size; 3] = [Size { threads: 2, calls: 2 }, Size { threads: 2, calls: 3 }, Size { threads: 3, calls: 3 }];

/// The time for them together, and the number of different tests of each.
const TIME: Duration = Duration::from_secs(60);
const TESTS: u64 = 100;

/// One of this many random tests is run: the one whose calls met most often in the rounds before.
const CANDIDATES: usize = 3;

/// A test, and where it comes from.
pub(super) struct Named {
    pub(super) test: Test,
    pub(super) from: String,
}

/// Tests that are run one after the other.
pub(super) enum Round {
    Given(Vec<Named>),
    Random(Size),
}

impl Round {
    /// The rounds that the user asks for.
    pub(super) fn asked(args: &LineupArgs) -> Result<Vec<Round>, Exit> {
        let given = given(args)?;
        Ok(match (given.is_empty() && args.file.is_none(), args.size) {
            (false, _) => vec![Round::Given(given)],
            (true, Some(size)) => vec![Round::Random(size)],
            (true, None) => SIZES.map(Round::Random).into(),
        })
    }

    /// The time for all rounds, if it is limited.
    pub(super) fn time(rounds: &[Round], args: &LineupArgs) -> Option<Duration> {
        args.time.or((rounds.len() > 1 && args.tests.is_none()).then_some(TIME))
    }

    /// The size of its tests, if they have one.
    pub(super) fn size(&self) -> Option<Size> {
        match self {
            Round::Given(_) => None,
            Round::Random(size) => Some(*size),
        }
    }

    /// Its tests.
    pub(super) fn tests(self, args: &LineupArgs, calls: &[String], meetings: &Meetings) -> Result<Vec<Named>, Exit> {
        match self {
            Round::Given(tests) => Ok(tests),
            Round::Random(size) => random(args, calls, size, meetings),
        }
    }
}

fn given(args: &LineupArgs) -> Result<Vec<Named>, Exit> {
    let given = args.given.iter().map(|test| Named { test: test.clone(), from: "given".into() });
    let mut tests: Vec<Named> = given.collect();
    if let Some(path) = &args.file {
        let about = path.display().to_string();
        let wrong = |message| complain(&about, &InputError { message, help: None });
        let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let test = line.parse().map_err(|error| wrong(format!("line {}: {error}", number + 1)))?;
            tests.push(Named { test, from: format!("{about}:{}", number + 1) });
        }
    }
    Ok(tests)
}

/// Different random tests of one size.
fn random(args: &LineupArgs, calls: &[String], size: Size, meetings: &Meetings) -> Result<Vec<Named>, Exit> {
    let most = args.tests.unwrap_or(TESTS);
    let wanted = if meetings.pairs.is_empty() { most } else { most.saturating_mul(CANDIDATES as u64) };
    let mut known = HashSet::new();
    let mut random: Vec<Named> = Vec::new();
    // Objects with few calls have few different tests.
    for number in 0..wanted.saturating_mul(10) {
        let seed = args.seed.wrapping_add(number);
        let test = Test::random(calls, size.threads, size.calls, seed)
            .map_err(|error| complain("--size", &InputError { message: error.to_string(), help: None }))?;
        if known.insert(test.to_string()) {
            random.push(Named { test, from: format!("{size}, seed {seed}") });
        }
        if random.len() as u64 == wanted {
            break;
        }
    }
    // Few different tests are all run.
    let take = usize::try_from(most).unwrap_or(usize::MAX);
    let group = if random.len() <= take { 1 } else { CANDIDATES };
    let mut chosen: Vec<Named> = Vec::new();
    let mut rest = random.into_iter().peekable();
    while rest.peek().is_some() {
        // The first of the best.
        let best = rest
            .by_ref()
            .take(group)
            .reduce(|best, other| if meetings.of(&other.test) > meetings.of(&best.test) { other } else { best });
        chosen.extend(best);
    }
    chosen.truncate(take);
    Ok(chosen)
}

/// How often calls of two threads met: the executions that the tests with these two calls needed.
#[derive(Default)]
pub(super) struct Meetings {
    /// The executions and the tests of each pair of calls.
    pairs: BTreeMap<(String, String), (u64, u64)>,
}

impl Meetings {
    /// Adds the executions of a test.
    pub(super) fn add(&mut self, test: &Test, executions: u64) {
        for pair in pairs(test) {
            let (sum, tests) = self.pairs.entry(pair).or_default();
            *sum += executions;
            *tests += 1;
        }
    }

    /// How often calls of this test can be expected to meet.
    fn of(&self, test: &Test) -> u64 {
        pairs(test).iter().filter_map(|pair| self.pairs.get(pair)).map(|(sum, tests)| sum / tests.max(&1)).sum()
    }
}

/// The calls of different threads, in pairs.
fn pairs(test: &Test) -> Vec<(String, String)> {
    let columns = test.columns();
    let mut pairs = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        for (one, other) in
            columns[index + 1..].iter().flatten().flat_map(|other| column.iter().map(move |one| (one, other)))
        {
            pairs.push((one.min(other).clone(), one.max(other).clone()));
        }
    }
    pairs
}
