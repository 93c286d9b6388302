//! Verdicts under assumptions. Each comes from a check.

use omnilink_history::{OpId, Stop, Verdict};
use omnilink_report::{Assumption, Consequence, WhatIf};
use omnilink_search::{Criterion, Options, Report, Stats, Watch};

use super::Explainer;
use crate::bind::{Args, TraceOp};
use crate::cut::{Cut, Cuts};
use crate::explain::Cost;
use crate::fault::NoAnswer;
use crate::spec::{TraceSpec, TraceState};

/// The maximum number of other results tried.
const MOST_RESULTS: usize = 3;
/// Longer histories are not rechecked without real time: only the end forces an operation to be placed then.
const MOST_OPERATIONS: usize = 20_000;
/// The maximum cost of one verdict.
const MOST_WORK: u64 = 2_000_000;

impl Explainer<'_, '_> {
    pub(super) fn what_ifs(&mut self, goal: OpId, cuts: &Cuts, expected: &[Args], watch: &dyn Watch) -> Vec<WhatIf> {
        let history = self.history;
        let cut = cuts.last_before(history, goal);
        let mut answers = Vec::new();
        for args in expected.iter().take(MOST_RESULTS) {
            let other = self.spec.with_args(&history.op(goal).call, args.clone());
            let outcome = self.outcome(cut, (goal, Some(&other)), watch);
            let results = self.named_results(Some(goal), args);
            answers.push(WhatIf { assumption: Assumption::OtherResults { results }, outcome });
        }
        let outcome = self.outcome(cut, (goal, None), watch);
        answers.push(WhatIf { assumption: Assumption::Dropped, outcome });
        if history.ops().len() <= MOST_OPERATIONS {
            let options = Options { criterion: Criterion::SEQUENTIAL, ..self.options.clone() };
            let outcome = self.with_invariants(|explainer| {
                let watch = &Bounded::new(explainer.spec, cut, watch);
                let report = omnilink_search::check_watched(explainer.spec, history, &options, watch);
                explainer.consequence(report.map_err(NoAnswer::from), None)
            });
            answers.push(WhatIf { assumption: Assumption::ProgramOrder, outcome });
        }
        answers
    }

    /// The verdict on the history if one operation is another one, or missing. From a cut on, that is known of the whole
    /// history; but if invariants are ignored, the order must satisfy them from the beginning.
    fn outcome(&mut self, cut: &Cut, change: (OpId, Option<&TraceOp>), watch: &dyn Watch) -> Consequence {
        let history = self.history;
        let check = |explainer: &mut Self, cut: &Cut, watch: &dyn Watch| {
            let ops = cut.ops(history).filter_map(|op| match change {
                (id, other) if id == op.id => other.map(|other| op.with(other)),
                _ => Some(op.with(&op.call)),
            });
            let spec = explainer.spec;
            let report = cut.check(spec, ops, explainer.options, &Bounded::new(spec, cut, watch));
            explainer.consequence(report, Some(cut))
        };
        match check(self, cut, watch) {
            Consequence::Accepted if self.spec.ignores_invariants() => {
                self.with_invariants(|explainer| match Cut::beginning(explainer.spec) {
                    Ok(beginning) => check(explainer, &beginning, watch),
                    Err(error) => Consequence::Inconclusive { stop: error.to_string() },
                })
            }
            outcome => outcome,
        }
    }

    /// Runs `work` with a specification that does not ignore its invariants.
    fn with_invariants<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let ignored = self.spec.ignores_invariants();
        self.spec.ignore_invariants(false);
        let result = work(self);
        self.spec.ignore_invariants(ignored);
        result
    }

    /// The consequence of a verdict on the operations from a cut on for the whole history.
    fn consequence(&mut self, report: Result<Report<TraceState>, NoAnswer>, cut: Option<&Cut>) -> Consequence {
        match report.map(|report| report.verdict) {
            Err(error) => Consequence::Inconclusive { stop: error.to_string() },
            Ok(Verdict::Accepted(_)) => Consequence::Accepted,
            Ok(Verdict::Inconclusive(Stop::Time)) => {
                Consequence::Inconclusive { stop: "too expensive to decide".to_owned() }
            }
            Ok(Verdict::Inconclusive(stop)) => Consequence::Inconclusive { stop: stop.to_string() },
            Ok(Verdict::Rejected(explanation)) => {
                let goal = cut.and_then(|_| explanation.blocked.first().copied());
                let end = goal.map_or(u64::MAX, |goal| self.history.op(goal).interval.deadline());
                let before = cut.map_or(0, |cut| cut.returned_before(self.history, end));
                let blocked = goal.map(|goal| self.report_builder.op(goal));
                Consequence::Rejected { blocked, explained: before + explanation.explained }
            }
        }
    }
}

/// Stops a check that costs more than its answer is worth. The cost is counted and not timed, so that a report is the
/// same on every machine.
struct Bounded<'w, 's, 'p> {
    cost: Cost<'s, 'p>,
    watch: &'w dyn Watch,
}

impl<'w, 's, 'p> Bounded<'w, 's, 'p> {
    fn new(spec: &'s TraceSpec<'p>, cut: &Cut, watch: &'w dyn Watch) -> Bounded<'w, 's, 'p> {
        Bounded { cost: Cost::new(spec, cut), watch }
    }
}

impl Watch for Bounded<'_, '_, '_> {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        if self.cost.of(stats.steps) > MOST_WORK { Some(Stop::Time) } else { self.watch.poll(stats) }
    }
}
