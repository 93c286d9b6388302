//! One trace and one program: binds the trace to the specification, decides, and explains.

use std::io::Write;

use omnilink_history::{Cut, History, Op, OpId, Stop, Value};
use omnilink_report::{Coverage, Evidence, Field, Mentions, Rejection, Report, Timeline, Verdict};
use omnilink_search::{Misfit, Stats};
use omnilink_settings::Settings;
use omnilink_tla::error::ErrorKind;
use omnilink_tla::ir::DefId;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::Program;
use omnilink_validate::{
    Binder, Checked, NoAnswer, Problem, ReportBuilder, TraceOp, TraceOutcome, TraceSpec, TraceState,
};

use super::{Linked, operations};
use crate::complaint::Complaint;
use crate::environment::HostWorld;
use crate::input::InputError;
use crate::recording::Stream;
use crate::run::{Extent, Found, Run, Subject, Widths};
use crate::show::{AssumptionResolver, MOST_ENDINGS, ShowBuilder, ShowOptions, Way};
use crate::{Failed, Stage, own_order};

/// The maximum number of problems shown at once.
const MOST_PROBLEMS: usize = 10;

/// One trace and one program.
#[derive(Clone, Copy)]
pub(super) struct TlaRun<'a> {
    pub(super) run: Run<'a>,
    pub(super) linked: &'a Linked,
    pub(super) settings: &'a Settings,
    /// The states in which the trace begins, if not in the initial ones.
    pub(super) begin: Option<&'a [Value]>,
}

impl TlaRun<'_> {
    pub(super) fn program(&self) -> &Program {
        &self.linked.loaded.program
    }

    /// Checks a trace.
    pub(super) fn check(
        &self,
        witness: &mut Option<&mut dyn Write>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        self.with_spec(|spec, history, cuts| {
            let case = &mut TlaCase::new(self, spec, history);
            let extent = Extent { operations: Some(history.ops().len() as u64), cuts: &cuts };
            let own_order = self.run.asked.own_order(self.settings.order_by.as_deref());
            self.run.check(case, own_order, extent, witness, builder)
        })
    }

    /// Searches for an order while the trace is read. `None` if there is no order: only the whole history shows why.
    pub(super) fn check_stream(&self, stream: &Stream) -> Result<Option<Report>, Failed> {
        let (processes, options) = (self.run.held.processes(), self.options());
        let watch = |stats: &Stats| self.run.limits.poll(stats);
        self.with_machine(|spec| {
            let (operations, cuts) = self.bind_each(spec, |_| ())?;
            let ops = || Ok(stream.merge()?.map(|op| op.map_err(|error| Failed::Input(error.into()))));
            let found =
                omnilink_validate::check_stream(spec, processes, ops, &options, &watch, |error| self.failed(error))?;
            let Some(checked) = Checked::of_stream(found) else { return Ok(None) };
            let nothing = History::default();
            let mut case = TlaCase::new(self, spec, &nothing);
            (case.checked, case.method) = (Some(checked), "searched as a stream".to_owned());
            let verdict = case.verdict()?;
            let extent = Extent { operations: Some(operations as u64), cuts: &cuts };
            self.run.report(&mut case, extent, verdict, None).map(Some)
        })
    }

    /// Shows the states that a route passes through, with the values of expressions in each.
    pub(super) fn walk(
        &self,
        spec: &mut TraceSpec<'_>,
        history: &History<TraceOp>,
        way: &Way,
        look: &ShowOptions,
        timeline: &mut Timeline,
    ) -> Result<(), Failed> {
        let expressions = &self.linked.loaded.expressions;
        let Way { route, ignores_invariants } = way;
        let walked = omnilink_validate::walk(spec, history, route, *ignores_invariants, look.until, look.states);
        let walked = walked.map_err(|error| self.failed(error))?;
        if let Some(stop) = self.run.limits.exceeded() {
            return Err(Failed::Stopped(stop));
        }
        let show = |state: TraceState| {
            let mut shown = spec.show(&state.values);
            for (text, &definition) in look.watch.iter().zip(expressions) {
                let value = spec.evaluate(definition, &state.values);
                let value = value.unwrap_or_else(|error| format!("(no value: {})", error.message));
                shown.variables.push(Field { name: text.clone(), value });
            }
            shown
        };
        crate::show::fill(timeline, walked, expressions.len(), show);
        Ok(())
    }

    /// Binds the trace to the specification, and calls `work` with both.
    pub(super) fn with_spec<R>(
        &self,
        work: impl FnOnce(&mut TraceSpec<'_>, &History<TraceOp>, Vec<Cut>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        self.with_machine(|spec| {
            let mut bound = Vec::new();
            let (_, cuts) = self.bind_each(spec, |op| bound.push(op))?;
            let history = History::from_ops(self.run.held.processes().into(), bound);
            spec.assume(self.assumed(&history)?);
            work(spec, &history, cuts)
        })
    }

    /// Calls `work` with the specification.
    pub(super) fn with_machine<R>(
        &self,
        work: impl FnOnce(&mut TraceSpec<'_>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let world = HostWorld::until(self.run.asked.print, self.run.limits).foreign(self.run.asked.is_foreign);
        let halt = world.halt();
        let mut machine = Machine::new(self.program(), Box::new(world));
        let done = Binder::new(self.program(), &self.linked.config, self.settings, &mut machine)
            .map_err(|problems| self.wrong(&problems))
            .and_then(|binder| {
                let mut spec = TraceSpec::new(binder, machine);
                if let Some(begin) = self.begin {
                    self.begin_in(&mut spec, begin)?;
                }
                work(&mut spec)
            });
        match (done, halt.reason()) {
            // An evaluation that ran out of time is not an error, and memory may be free again by now.
            (Err(Failed::Spec(_) | Failed::Stopped(_)), Some(stop)) => Err(Failed::Stopped(stop)),
            (done, _) => done,
        }
    }

    pub(super) fn options(&self) -> omnilink_search::Options {
        crate::search_options(self.run.asked, self.run.asked.shortcuts && !self.run.asked.exhaustive)
    }

    pub(super) fn wrong(&self, problems: &[Problem]) -> Failed {
        let complaint = |problem: &Problem| Complaint::of_problem(&self.program().module.sources, problem);
        Failed::Spec(problems.iter().map(complaint).collect())
    }

    /// An evaluation error, with its operation and its state.
    pub(super) fn failed(&self, error: NoAnswer) -> Failed {
        let fault = match error {
            NoAnswer::Fault(fault) => fault,
            other @ (NoAnswer::Unconfirmed(_) | NoAnswer::Unrepeatable | NoAnswer::TooMany(_)) => {
                return Failed::Input(InputError::new(other));
            }
        };
        if fault.error.kind == ErrorKind::Stopped {
            return Failed::Stopped(self.run.limits.exceeded().unwrap_or(Stop::Interrupted));
        }
        let mut complaint = Complaint::of_evaluation(self.program(), &fault.error);
        if let Some(Ok(described)) = fault.op.map(|op| self.run.held.describe(&[op])) {
            complaint.message = format!("{} {}: {}", described[0].name, described[0].text, complaint.message);
        }
        if let Some(state) = &fault.state {
            let module = &self.program().module;
            let variables = module.variables.iter().zip(state.iter());
            let shown =
                variables.map(|(variable, value)| format!("{} = {}", variable.name, value.display(&module.strings)));
            complaint.note = Some(format!("in the state {}", shown.collect::<Vec<_>>().join(", ")));
        }
        Failed::Spec(vec![complaint])
    }

    /// The assumptions with operation numbers.
    fn assumed(&self, history: &History<TraceOp>) -> Result<Vec<omnilink_search::Assumption<String>>, Failed> {
        let mut resolver = AssumptionResolver::new(&self.run.asked.assume, self.run.held.processes());
        history.ops().iter().for_each(|op| resolver.add_op(op));
        Ok(resolver.resolve()?)
    }

    /// Binds every operation, and collects errors. Returns the number of steps and the places where the trace is cut
    /// off.
    pub(super) fn bind_each(
        &self,
        spec: &mut TraceSpec<'_>,
        mut keep: impl FnMut(Op<TraceOp>),
    ) -> Result<(usize, Vec<Cut>), Failed> {
        let processes = self.run.held.processes();
        let (mut count, mut problems) = (0, Vec::new());
        let cuts = self.run.held.for_each(self.run.limits, Stage::Binding, |op| {
            match spec.bind(op, processes) {
                Ok(Some(call)) => {
                    count += 1;
                    keep(op.with(call));
                }
                Ok(None) => {}
                Err(more) => more.into_iter().for_each(|problem| {
                    if !problems.iter().any(|known| is_repeated(known, &problem)) {
                        problems.push(problem);
                    }
                }),
            }
            if problems.len() >= MOST_PROBLEMS { Err(Failed::Spec(Vec::new())) } else { Ok(()) }
        });
        if !problems.is_empty() {
            return Err(self.wrong(&problems));
        }
        Ok((count, cuts?))
    }
}

/// A trace that is bound to a specification.
struct TlaCase<'c, 'r, 'p> {
    trace: &'c TlaRun<'r>,
    spec: &'c mut TraceSpec<'p>,
    history: &'c History<TraceOp>,
    method: String,
    checked: Option<Checked>,
    told: ReportBuilder,
    tagged: Tagged,
    coverage: Option<Coverage>,
}

impl<'c, 'r, 'p> TlaCase<'c, 'r, 'p> {
    fn new(trace: &'c TlaRun<'r>, spec: &'c mut TraceSpec<'p>, history: &'c History<TraceOp>) -> TlaCase<'c, 'r, 'p> {
        let (method, checked, coverage) = ("searched whole".to_owned(), None, None);
        let (told, tagged) = (ReportBuilder::default(), Tagged::default());
        TlaCase { trace, spec, history, method, checked, told, tagged, coverage }
    }

    /// The reason why there is no order.
    fn rejection(&mut self, checked: &Checked) -> Result<Option<Rejection>, Failed> {
        let (run, options) = (&self.trace.run, self.trace.options());
        let told = &mut self.told;
        let stuck = match &checked.outcome {
            TraceOutcome::Accepted(_) | TraceOutcome::Inconclusive(_) => return Ok(None),
            TraceOutcome::Violated(stuck, broken) => {
                let (spec, history) = (&mut *self.spec, self.history);
                return Ok(Some(omnilink_validate::explain_violation(spec, history, &options, stuck, broken, told)));
            }
            TraceOutcome::Rejected(stuck) => stuck,
        };
        for (&id, words) in stuck.blocked.iter().zip(run.named(&stuck.blocked)?) {
            told.name(id, words);
        }
        let watch = |_: &Stats| run.limits.exceeded();
        let (spec, history, checkpoint) = (&mut *self.spec, self.history, &checked.checkpoint);
        Ok(Some(omnilink_validate::explain(spec, history, &options, stuck, checkpoint, &watch, told)))
    }
}

impl Subject for TlaCase<'_, '_, '_> {
    fn places(&self) -> usize {
        self.history.ops().last().map_or(0, |op| op.id.index() + 1)
    }

    fn follow(&mut self, field: &str) -> Result<Option<Misfit<String>>, Failed> {
        let Run { held, limits, .. } = self.trace.run;
        let mut ranks: Vec<Option<Value>> = Vec::new();
        held.for_each(limits, Stage::Binding, |op| {
            ranks.resize(op.id.index(), None);
            ranks.push(own_order::rank(&op.call, field));
            Ok(())
        })?;
        let rank = |op: &Op<TraceOp>| ranks.get(op.id.index()).cloned().flatten();
        let ops = self.history.ops().iter().map(|op| Ok((op.with(Some(&op.call)), rank(op))));
        let failed = |fault| self.trace.failed(NoAnswer::Fault(fault));
        match own_order::follow(&*self.spec, field, ops, true, limits, failed)? {
            Ok(witness) => {
                (self.checked, self.method) = (Some(Checked::in_given_order(witness)), own_order::method(field));
                Ok(None)
            }
            Err(misfit) => Ok(Some(misfit.map_state(|state| on_one_line(self.spec, &state)))),
        }
    }

    fn decide(&mut self, widths: &Widths<'_>) -> Result<(), Failed> {
        let checked = omnilink_validate::check(self.spec, self.history, &self.trace.options(), widths);
        self.checked = Some(checked.map_err(|error| self.trace.failed(error))?);
        Ok(())
    }

    fn found(&self) -> Found<'_> {
        let checked = self.checked.as_ref().expect("a trace that was decided");
        Found {
            order: match &checked.outcome {
                TraceOutcome::Accepted(witness) => Some(witness),
                _ => None,
            },
            is_rejected: checked.outcome.stuck().is_some(),
            method: self.method.clone(),
            no_procedure: None,
            stats: &checked.stats,
        }
    }

    fn way(&self) -> Way {
        let checked = self.checked.as_ref().expect("a trace that was decided");
        Way { route: checked.route(MOST_ENDINGS), ignores_invariants: checked.ignores_invariants() }
    }

    fn verdict(&mut self) -> Result<Verdict, Failed> {
        let checked = self.checked.take().expect("a trace that was decided");
        let verdict = match (&checked.outcome, self.rejection(&checked)?) {
            (TraceOutcome::Inconclusive(stop), _) => crate::inconclusive(*stop, stop.to_string()),
            (_, Some(rejection)) => Verdict::Rejected(Box::new(rejection)),
            (_, None) => Verdict::Accepted,
        };
        self.tagged = tagged(self.spec, &checked.outcome, &self.trace.linked.tags);
        if let (Verdict::Rejected(rejection), Some(all)) = (&verdict, checked.outcome.stuck())
            && let Evidence::Stuck(few) = &rejection.evidence
            && few.interpretations.len() < all.stuck.len()
        {
            let (few, all) = (few.interpretations.len(), all.stuck.len());
            self.tagged.notes.push(format!("states are large: {few} of {all} configurations are explained"));
        }
        if let Some(stop) = self.spec.stopped().filter(|_| checked.outcome.stuck().is_some()) {
            self.tagged.notes.push(format!("the explanation is not complete: {stop}"));
        }
        if self.trace.run.asked.coverage {
            let coverage = omnilink_validate::coverage(self.spec, self.history, &checked);
            self.coverage = Some(coverage.map_err(|error| self.trace.failed(error))?);
        }
        self.checked = Some(checked);
        Ok(verdict)
    }

    fn mentions(&mut self) -> &mut Mentions<OpId> {
        self.told.mentions()
    }

    fn show(&mut self, builder: &mut ShowBuilder, look: &ShowOptions) -> Result<(), Failed> {
        builder.timeline.actions = operations(self.trace.settings, self.trace.program());
        self.trace.walk(self.spec, self.history, &builder.way, look, &mut builder.timeline)
    }

    fn complete(&mut self, report: &mut Report) -> Result<(), Failed> {
        let is_stuck = self.checked.as_ref().is_some_and(|checked| checked.outcome.stuck().is_some());
        // An assumption behind a verdict that a reader may not expect.
        if self.trace.program().view.is_some() && is_stuck {
            report.notes.push(
                "states with equal VIEW were merged; if the VIEW hides relevant variables, the verdict is wrong".into(),
            );
        }
        let Tagged { tags, notes } = std::mem::take(&mut self.tagged);
        report.notes.extend(notes);
        report.sources = self.told.sources(self.trace.program());
        (report.tags, report.coverage) = (tags, self.coverage.take());
        Ok(())
    }
}

/// True for two problems that differ in the name of the operation alone, with which their messages begin.
fn is_repeated(known: &Problem, other: &Problem) -> bool {
    let words = |problem: &Problem| problem.message.split_once(' ').map(|(_, words)| words.to_owned());
    words(known) == words(other) && known.place == other.place
}

/// A state on one line.
fn on_one_line(spec: &TraceSpec<'_>, state: &TraceState) -> String {
    let variables = spec.show(&state.values).variables;
    variables.iter().map(|field| format!("{} = {}", field.name, field.value)).collect::<Vec<_>>().join(", ")
}

/// The known failures that match, with notes.
#[derive(Default)]
struct Tagged {
    tags: Vec<String>,
    notes: Vec<String>,
}

/// Tests whether a failure is a known one.
fn tagged(spec: &TraceSpec<'_>, outcome: &TraceOutcome, tags: &[(String, DefId)]) -> Tagged {
    let mut tagged = Tagged::default();
    let Some(stuck) = outcome.stuck() else { return tagged };
    for (tag, definition) in tags {
        let values: Result<Vec<String>, _> =
            stuck.stuck.iter().map(|stuck| spec.evaluate(*definition, &stuck.state.values)).collect();
        match values {
            Ok(values) if !values.is_empty() && values.iter().all(|value| value == "TRUE") => {
                tagged.tags.push(tag.clone());
                tagged.notes.push(format!("known failure: `{tag}`"));
            }
            Ok(values) => {
                let strange = values.iter().find(|value| !matches!(value.as_str(), "TRUE" | "FALSE"));
                tagged.notes.extend(strange.map(|value| format!("the tag `{tag}` is {value}, neither TRUE nor FALSE")));
            }
            Err(error) => tagged.notes.push(format!("the tag `{tag}` has no value: {}", error.message)),
        }
    }
    tagged
}
