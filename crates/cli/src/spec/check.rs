//! `omnilink spec check`: every state that a specification can reach.

use std::time::Duration;

use indicatif::HumanCount;
use omnilink_judge::limit;
use omnilink_suggest::plural;
use omnilink_tla::reach::{Checked, Limit, ReachOrder, Stats, check};
use serde_json::json;

use super::visit::{Found, Way, visit};
use crate::args::{SearchOrder, SpecCheckArgs, StatesArgs};
use crate::exit::Exit;
use crate::limits::Limits;

const WAY: Way = Way { schema: "omnilink.spec-check/1", passed: "holds" };

pub(crate) fn run(args: &SpecCheckArgs) -> Exit {
    let order = match args.search {
        SearchOrder::Breadth => ReachOrder::Breadth,
        SearchOrder::Depth => ReachOrder::Depth,
    };
    visit(WAY, &args.states, &[], |given| {
        let mut watch = |stats: &Stats| watch(&args.states, given.limits, stats);
        let Checked { verdict, stats } = check(given.program, order, (given.worlds)(), &mut watch);
        Ok(Found {
            verdict,
            generated: stats.generated,
            distinct: stats.distinct,
            counts: Box::new(move |elapsed| vec![counts(&stats, elapsed)]),
            stats: json!({
                "generated": stats.generated,
                "distinct": stats.distinct,
                "left": stats.queued,
                "depth": stats.depth,
            }),
        })
    })
}

/// The limit that was reached, if one was.
pub(super) fn watch(args: &StatesArgs, limits: &Limits, stats: &Stats) -> Option<Limit> {
    if args.max_states.is_some_and(|most| stats.distinct >= most) {
        return Some(Limit::States);
    }
    let progress = |seconds: f64| {
        let rate = HumanCount((stats.generated as f64 / seconds) as u64);
        format!(
            "{} states generated, {rate} per second, {} distinct, {} left, depth {}",
            HumanCount(stats.generated),
            HumanCount(stats.distinct),
            HumanCount(stats.queued),
            stats.depth
        )
    };
    limits.stop(progress).map(limit)
}

fn counts(stats: &Stats, elapsed: Duration) -> String {
    format!(
        "{} {} generated, {} distinct, {} left, depth {}{}",
        HumanCount(stats.generated),
        plural(stats.generated, "state"),
        HumanCount(stats.distinct),
        HumanCount(stats.queued),
        stats.depth,
        rate(stats.generated, elapsed),
    )
}

/// The rate at which states were generated, if there was enough to measure.
pub(super) fn rate(generated: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 1.0 {
        return String::new();
    }
    format!("; {seconds:.1} s, {} states per second", HumanCount((generated as f64 / seconds) as u64))
}
