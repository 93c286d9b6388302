//! The amount of work of a check at a level. Counts are exact, so a reduction that stops working shows here before checks
//! get slow.

mod specs;

use fastrand::Rng;
use omnilink_search::Unwatched;
use omnilink_weak::{Context, Level, Method, WeakOptions, check};

use specs::{Object, random_history};

/// The steps, the sets or states that were tried, and those that were kept, of all histories together.
fn work(level: &Level, method: Method, reduce: bool) -> String {
    let mut sums = [0; 3];
    for seed in 0..100 {
        let mut rng = Rng::with_seed(seed);
        let object = Object::random(&mut rng);
        let history = random_history(object, &mut rng, 5);
        let search = omnilink_search::Options { reduce, ..omnilink_search::Options::default() };
        let options = WeakOptions { level: level.clone(), context: Context::Free, method, search };
        let stats = check(&object, &history, &options, &Unwatched).expect("a verdict").stats;
        for (sum, count) in sums.iter_mut().zip([stats.steps, stats.generated, stats.distinct]) {
            *sum += count;
        }
    }
    sums.map(|sum: u64| sum.to_string()).join(" ")
}

#[test]
fn reductions_save_work_at_every_level() {
    let levels = [
        "sequential",
        "hb-weak",
        "read-my-writes",
        "eventual",
        "consistent-prefix",
        "causal",
        "pram",
        "monotonic-reads",
    ];
    let row = |name: &&str| {
        let level = Level::named(name).expect("a preset");
        let ways = [(Method::Reduced, true), (Method::Reduced, false), (Method::Least, true), (Method::Naive, true)];
        let counts = ways.map(|(method, reduce)| work(&level, method, reduce));
        format!("{name}: {}", counts.join(", "))
    };
    insta::assert_snapshot!(levels.iter().map(row).collect::<Vec<_>>().join("\n"), @"
    sequential: 510 334 306, 834 752 604, 386 353 0, 386 353 0
    hb-weak: 451 315 289, 624 628 514, 444 299 0, 640 325 0
    read-my-writes: 512 336 307, 839 803 624, 863 358 0, 2540 541 0
    eventual: 741 487 383, 2295 2027 1093, 9217 786 0, 248858 8334 0
    consistent-prefix: 815 372 339, 905 345 118, 1023 354 0, 5861 785 0
    causal: 693 372 362, 621 345 141, 707 356 0, 1445 487 0
    pram: 693 372 362, 622 345 141, 708 356 0, 1483 487 0
    monotonic-reads: 1124 370 342, 1182 343 121, 1447 352 0, 11370 979 0
    ");
}
