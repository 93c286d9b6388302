//! Visits states of a specification within limits, and reports the verdict.

use std::time::Duration;

use omnilink_judge::load::{Loaded, load};
use omnilink_judge::{Complaint, HostWorld};
use omnilink_tla::datum::World;
use omnilink_tla::ir::DefId;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::{LinkOptions, Program};
use omnilink_tla::reach::Verdict;

use super::explain::{self, Explanation};
use super::{printer, refuse, show};
use crate::args::{Output, StatesArgs};
use crate::exit::Exit;
use crate::limits::{self, Limits, Settings};
use crate::terminal::print_complaints;

/// A way to visit states.
pub(super) struct Way {
    /// The schema of its documents.
    pub(super) schema: &'static str,
    /// The word for a specification in which nothing wrong was found.
    pub(super) passed: &'static str,
}

/// The input of a visit.
pub(super) struct Visit<'a> {
    pub(super) program: &'a Program,
    /// The definitions of the given expressions.
    pub(super) expressions: &'a [DefId],
    pub(super) limits: &'a Limits,
    /// Creates a world for each worker.
    pub(super) worlds: &'a dyn Fn() -> Vec<Box<dyn World + Send + 'a>>,
}

/// The result of a visit.
pub(super) struct Found {
    pub(super) verdict: Verdict,
    /// The number of states that were computed.
    pub(super) generated: u64,
    /// The number of distinct states.
    pub(super) distinct: u64,
    /// Counts for people, a line each, given the time that it took.
    pub(super) counts: Box<dyn Fn(Duration) -> Vec<String>>,
    /// The same for programs.
    pub(super) stats: serde_json::Value,
}

/// The result of a visit with all that is shown of it.
pub(super) struct Outcome<'a> {
    pub(super) way: Way,
    pub(super) label: String,
    pub(super) program: &'a Program,
    pub(super) found: Found,
    /// The explanation of the verdict, if there is one.
    pub(super) explanation: Option<Explanation>,
    pub(super) warnings: Vec<Complaint>,
    pub(super) elapsed: Duration,
}

impl Outcome<'_> {
    /// Whether the specification has no state, so that everything holds.
    pub(super) fn is_empty(&self) -> bool {
        self.program.init.is_some() && self.found.distinct == 0
    }
}

/// Loads a specification, visits states, and prints the result. An error that prevents the visit is a complaint.
pub(super) fn visit(
    way: Way,
    args: &StatesArgs,
    expressions: &[&str],
    visit: impl FnOnce(&Visit<'_>) -> Result<Found, Complaint>,
) -> Exit {
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
    let mut loaded = match load(&args.located.file, &around, options, expressions) {
        Ok(loaded) => loaded,
        Err(complaints) => return refuse(way.schema, &complaints, args.located.format),
    };
    if let Some(is_checked) = args.deadlock {
        loaded.program.check_deadlock = is_checked;
    }
    let Loaded { program, expressions, warnings } = loaded;
    if args.located.format == Output::Human {
        print_complaints(&warnings);
    }
    let limits = Limits::new(&settings, &label);
    let is_quiet = args.located.format == Output::Json;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let workers = args.workers.unwrap_or_else(cores).max(1);
    let world = |_| Box::new(HostWorld::until(printer(is_quiet), &limits).among(workers)) as Box<dyn World + Send>;
    let worlds = || (0..workers).map(world).collect();
    let found = visit(&Visit { program: &program, expressions: &expressions, limits: &limits, worlds: &worlds });
    let found = match found {
        Ok(found) => found,
        Err(complaint) => return refuse(way.schema, &[complaint], args.located.format),
    };
    let elapsed = limits.elapsed();
    let mut machine = Machine::new(&program, Box::new(HostWorld::until(printer(is_quiet), &limits)));
    let explanation = explain::explain(&mut machine, &found.verdict);
    drop(machine);
    let mut machine = Machine::new(&program, Box::new(HostWorld::new(printer(is_quiet))));
    let outcome = Outcome { way, label, program: &program, found, explanation, warnings, elapsed };
    drop(limits);
    match args.located.format {
        Output::Human => show::human(&outcome, &mut machine),
        Output::Json => show::json(&outcome, &mut machine),
    }
    match outcome.found.verdict {
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
