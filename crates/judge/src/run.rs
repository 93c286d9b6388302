//! One check of one trace: the steps of every check, for any kind of specification.
//!
//! ```text
//!  follow the system's own order, or decide ──► write the witness ──► explain ──► show ──► report
//! ```
//!
//! A [`Subject`] has the steps that differ. It is created for one trace, and keeps its results from one step to the next.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use omnilink_history::{Cut, OpId, Stop};
use omnilink_report::{Mentions, Report, Timeline, Verdict};
use omnilink_search::{Misfit, Stats, Watch, Witness};

use crate::recording::{Held, Recording};
use crate::show::{self, ShowBuilder, ShowOptions, TimelineBuilder, Way};
use crate::{CheckOptions, Failed, Limits, Stage, Unlimited, own_order};

/// One trace, and the requested options.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) asked: &'a CheckOptions,
    pub(crate) spec: &'a str,
    pub(crate) recording: &'a Recording,
    pub(crate) label: &'a str,
    pub(crate) limits: &'a dyn Limits,
    pub(crate) held: &'a Held,
}

/// A specification with the operations of one trace.
pub(crate) trait Subject {
    /// One more than the largest number of an operation, if searches place operations by these numbers.
    fn places(&self) -> usize {
        0
    }

    /// Follows the order that a field gives the operations. Decides, or returns the reason why that is not possible.
    fn follow(&mut self, _field: &str) -> Result<Option<Misfit<String>>, Failed> {
        unreachable!("an order of the system is refused where it cannot be followed")
    }

    /// Decides about all orders.
    fn decide(&mut self, widths: &Widths<'_>) -> Result<(), Failed>;

    /// The result of the last step.
    fn found(&self) -> Found<'_>;

    /// The orders to show. They may be as long as the history, so only inspection copies them.
    fn way(&self) -> Way;

    /// The verdict, with its explanation.
    fn verdict(&mut self) -> Result<Verdict, Failed>;

    /// The operations that the report mentions.
    fn mentions(&mut self) -> &mut Mentions<OpId>;

    /// Adds the states along the orders of the result.
    fn show(&mut self, builder: &mut ShowBuilder, look: &ShowOptions) -> Result<(), Failed>;

    /// Adds the parts of the report that only this kind of specification has.
    fn complete(&mut self, report: &mut Report) -> Result<(), Failed>;
}

/// The result of following an order or deciding.
pub(crate) struct Found<'a> {
    /// The order that explains the trace, if there is one that can be written.
    pub(crate) order: Option<&'a Witness>,
    /// True if there is none.
    pub(crate) is_rejected: bool,
    pub(crate) method: String,
    /// The reason why a procedure for one data type did not decide it, if it was tried.
    pub(crate) no_procedure: Option<String>,
    pub(crate) stats: &'a Stats,
}

/// The numbers of a trace in its report.
#[derive(Clone, Copy)]
pub(crate) struct Extent<'a> {
    /// The number of its operations, if it was read to its end.
    pub(crate) operations: Option<u64>,
    /// The places where it is cut off.
    pub(crate) cuts: &'a [Cut],
}

impl Run<'_> {
    /// Checks a whole trace.
    pub(crate) fn check(
        &self,
        subject: &mut dyn Subject,
        own_order: Option<&str>,
        extent: Extent<'_>,
        witness: &mut Option<&mut dyn Write>,
        mut builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let places = if builder.is_some() { subject.places() } else { 0 };
        let widths = Widths { limits: self.limits, widths: (0..places).map(|_| AtomicU32::new(0)).collect() };
        let misfit = match own_order {
            Some(field) => subject.follow(field)?.map(|misfit| (field, misfit)),
            None => None,
        };
        if own_order.is_none() || misfit.is_some() {
            subject.decide(&widths)?;
        }
        let found = subject.found();
        if let (Some(file), Some(order)) = (witness, found.order) {
            self.held.write_witness(file, self.label, order)?;
        }
        // A check that ends in this stage counts as rejected.
        if found.is_rejected {
            self.limits.reached(Stage::Explaining, extent.operations.unwrap_or_default());
        }
        let way = builder.is_some().then(|| subject.way());
        let verdict = subject.verdict()?;
        let mut hidden = None;
        if let Some((builder, look)) = &mut builder {
            self.limits.reached(Stage::Showing, extent.operations.unwrap_or_default());
            builder.timeline = self.timeline()?;
            builder.timeline.widths = widths.widths.into_iter().map(AtomicU32::into_inner).collect();
            builder.timeline.widths.resize(builder.timeline.operations.len(), 0);
            builder.keep(way.unwrap_or_default());
            match subject.show(builder, look) {
                // The verdict holds, whether or not there is time to show states.
                Err(Failed::Stopped(stop)) => hidden = Some(format!("intermediate states are not shown: {stop}")),
                shown => shown?,
            }
        }
        let mut report = self.report(subject, extent, verdict, misfit.as_ref())?;
        report.notes.extend(hidden);
        if let Some((builder, _)) = builder {
            builder.timeline.mentioned = show::places(subject.mentions().ids());
        }
        Ok(report)
    }

    /// Every operation.
    fn timeline(&self) -> Result<Timeline, Failed> {
        let mut timeline = TimelineBuilder::new(self.held.processes());
        // The verdict is known; showing it needs the history.
        self.held.for_each(&Unlimited, Stage::Showing, |op| {
            timeline.add(op);
            Ok(())
        })?;
        Ok(timeline.finish())
    }

    /// The report on the findings.
    pub(crate) fn report(
        &self,
        subject: &mut dyn Subject,
        extent: Extent<'_>,
        verdict: Verdict,
        misfit: Option<&(&str, Misfit<String>)>,
    ) -> Result<Report, Failed> {
        let Found { method, no_procedure, stats, .. } = subject.found();
        let stats = stats.clone();
        let stats = crate::stats(&stats, &method, &mut |op| subject.mentions().op(op));
        let history = omnilink_report::History {
            name: self.label.into(),
            operations: extent.operations,
            processes: self.held.processes().len(),
            cuts: crate::cuts(extent.cuts),
            ..omnilink_report::History::default()
        };
        let mut report = Report {
            spec: omnilink_report::Spec { name: self.spec.into(), constants: Vec::new() },
            order: crate::order(&self.asked.level()),
            operations: self.held.describe(subject.mentions().ids())?,
            stats: omnilink_report::Stats { no_procedure, ..stats },
            assumed: crate::assumed(self.asked),
            notes: crate::assumed_notes(self.asked),
            ..Report::new(history, verdict)
        };
        subject.complete(&mut report)?;
        if let Some((field, misfit)) = misfit {
            report.notes.push(own_order::finding(field, misfit, self.held)?);
            report.notes.push(own_order::consequence(field, misfit, &report.verdict));
        }
        Ok(report)
    }

    /// Operations with their intervals, in words.
    pub(crate) fn named(&self, ops: &[OpId]) -> Result<Vec<String>, Failed> {
        let name = |op: &omnilink_report::Operation| format!("{} {} {}", op.name, op.text, op.interval());
        Ok(self.held.describe(ops)?.iter().map(name).collect())
    }
}

/// Watches searches, possibly several at once, and stores their width at each return.
pub(crate) struct Widths<'a> {
    limits: &'a dyn Limits,
    /// One for each operation, if requested.
    widths: Vec<AtomicU32>,
}

impl Watch for Widths<'_> {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self.limits.poll(stats)
    }

    fn returned(&self, op: OpId, width: usize) {
        if let Some(known) = self.widths.get(op.index()) {
            known.store(u32::try_from(width).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
    }
}
