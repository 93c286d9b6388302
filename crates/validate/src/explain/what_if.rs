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
            let search = || {
                let watch = &Bounded::new(self.spec, cut, watch);
                Ok(omnilink_search::check_watched(self.spec, history, &options, watch)?)
            };
            let report = self.under_invariants(|id| &history.op(id).call, search);
            let outcome = self.consequence(report, None);
            answers.push(WhatIf { assumption: Assumption::ProgramOrder, outcome });
        }
        answers
    }

    /// The verdict on the history if one operation is another one, or missing. From a cut on, that is known of the whole
    /// history; but if invariants are ignored, the order must satisfy them from the beginning.
    fn outcome(&mut self, cut: &Cut, (goal, other): (OpId, Option<&TraceOp>), watch: &dyn Watch) -> Consequence {
        let (spec, history, options) = (self.spec, self.history, self.options);
        let call = |id| other.filter(|_| id == goal).unwrap_or_else(|| &history.op(id).call);
        let check = |cut: &Cut| {
            let ops = cut.ops(history).filter(|op| op.id != goal || other.is_some()).map(|op| op.with(call(op.id)));
            cut.check(spec, ops, options, &Bounded::new(spec, cut, watch))
        };
        let outcome = self.consequence(check(cut), Some(cut));
        if outcome != Consequence::Accepted || !spec.ignores_invariants() {
            return outcome;
        }
        let beginning = Cut::default();
        let report = self.under_invariants(call, || check(&Cut::beginning(spec)?));
        self.consequence(report, Some(&beginning))
    }

    /// The result of a search in which orders satisfy the invariants. As for a verdict, the search ignores them first,
    /// because the reductions need that, and is repeated only if the order found violates one.
    fn under_invariants<'o>(
        &self,
        call: impl Fn(OpId) -> &'o TraceOp,
        search: impl Fn() -> Result<Report<TraceState>, NoAnswer>,
    ) -> Result<Report<TraceState>, NoAnswer> {
        let ignored = self.spec.ignores_invariants();
        self.spec.ignore_invariants(true);
        let mut result = search();
        if let Ok(Report { verdict: Verdict::Accepted(witness), .. }) = &result
            && !self.spec.program.invariants.is_empty()
        {
            match self.spec.broken_along(call, witness) {
                Ok(None) => {}
                Ok(Some(_)) => {
                    self.spec.ignore_invariants(false);
                    result = search();
                }
                Err(fault) => result = Err(NoAnswer::Fault(fault)),
            }
        }
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
