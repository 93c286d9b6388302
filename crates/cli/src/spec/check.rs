//! `omnilink spec check`: every state that a specification can reach.

use std::time::Duration;

use indicatif::HumanCount;
use omnilink_judge::load::{Loaded, load};
use omnilink_judge::{Complaint, HostWorld, limit};
use omnilink_tla::datum::World;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{LinkOptions, Program};
use omnilink_tla::reach::{Checked, Limit, ReachOrder, Stats, Verdict, check};

use super::explain::{self, Explanation};
use super::{printer, refuse, show};
use crate::args::{Output, SearchOrder, SpecCheckArgs};
use crate::exit::Exit;
use crate::limits::{self, Limits, Settings};
use crate::terminal::print_complaints;

/// The result of a check.
pub(super) struct Outcome<'a> {
    pub(super) label: String,
    pub(super) program: &'a Program,
    pub(super) checked: Checked,
    /// The explanation of the verdict, if there is one.
    pub(super) explanation: Option<Explanation>,
    pub(super) warnings: Vec<Complaint>,
    pub(super) elapsed: Duration,
}

impl Outcome<'_> {
    /// Whether the specification has no state, so that everything holds.
    pub(super) fn is_empty(&self) -> bool {
        self.program.init.is_some() && self.checked.stats.distinct == 0
    }
}

pub(crate) fn run(args: &SpecCheckArgs) -> Exit {
    limits::catch_interrupts();
    let label = args.located.file.display().to_string();
    let settings = Settings { timeout: args.timeout, max_memory: args.max_memory.as_u64(), progress: args.progress };
    let _around = Limits::around(&settings, &label);
    let around = args.located.around.around();
    let options = LinkOptions {
        skip_properties: args.skip_properties,
        skip_liveness: args.skip_liveness,
        ..LinkOptions::default()
    };
    let mut loaded = match load(&args.located.file, &around, options, &[]) {
        Ok(loaded) => loaded,
        Err(complaints) => return refuse(show::SCHEMA, &complaints, args.located.format),
    };
    if let Some(is_checked) = args.deadlock {
        loaded.program.check_deadlock = is_checked;
    }
    let Loaded { program, warnings, .. } = loaded;
    if args.located.format == Output::Human {
        print_complaints(&warnings);
    }
    let limits = Limits::new(&settings, &label);
    let is_quiet = args.located.format == Output::Json;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.workers.unwrap_or_else(cores).max(1);
    let worlds = (0..workers)
        .map(|_| Box::new(HostWorld::until(printer(is_quiet), &limits).among(workers)) as Box<dyn World + Send>);
    let order = match args.search {
        SearchOrder::Breadth => ReachOrder::Breadth,
        SearchOrder::Depth => ReachOrder::Depth,
    };
    let checked = check(&program, order, worlds.collect(), &mut |stats| watch(args, &limits, stats));
    let elapsed = limits.elapsed();
    let mut machine = Machine::new(&program, Box::new(HostWorld::until(printer(is_quiet), &limits)));
    let explanation = explain::explain(&mut machine, &checked.verdict);
    drop(machine);
    let mut machine = Machine::new(&program, Box::new(HostWorld::new(printer(is_quiet))));
    let outcome = Outcome { label, program: &program, checked, explanation, warnings, elapsed };
    drop(limits);
    match args.located.format {
        Output::Human => show::human(&outcome, &mut machine),
        Output::Json => show::json(&outcome, &mut machine),
    }
    match outcome.checked.verdict {
        Verdict::Holds { .. } if outcome.is_empty() => Exit::Empty,
        Verdict::Holds { .. } => Exit::Accepted,
        Verdict::AssumptionFalse(_)
        | Verdict::Violated { .. }
        | Verdict::PropertyViolated { .. }
        | Verdict::Deadlock { .. }
        | Verdict::PostconditionFalse(_) => Exit::Rejected,
        Verdict::Error { .. } => Exit::Wrong,
        Verdict::Stopped { .. } => Exit::Inconclusive,
    }
}

fn watch(args: &SpecCheckArgs, limits: &Limits, stats: &Stats) -> Option<Limit> {
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
