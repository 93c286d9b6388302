//! Checks one trace against a model.

use std::io::Write;
use std::sync::Arc;

use omnilink_history::{Call, History, Op, OpId, Value, Verdict};
use omnilink_models::check::{Assumed, Checked, Error, Failure, MOST_SHOWN, Method, ModelOptions};
use omnilink_models::level::LevelOptions;
use omnilink_models::smallest::{Part, smallest};
use omnilink_models::{Model, Visitor};
use omnilink_report::{Coverage, Field, Mentions, Report, Timeline};
use omnilink_search::{Assumption, Misfit, Route, Spec, Stats, Watch};

use super::Choice;
use super::coverage::CoverageCounter;
use super::evidence::{keys, verdict};
use crate::input::InputError;
use crate::level::{self, AtLevel, Weak};
use crate::recording::{Held, Stream, Whole};
use crate::run::{Extent, Found, Run, Subject, Widths};
use crate::show::{AssumptionResolver, MOST_ENDINGS, ShowBuilder, ShowOptions, Way};
use crate::{CheckOptions, Failed, Stage, mixed, own_order, parts};

impl Run<'_> {
    /// The error in an input, with the lines of its operations.
    fn refused(&self, error: Error) -> InputError {
        mixed::refused(error, Some(self.recording), self.spec)
    }
}

/// Checks one trace against the chosen model.
pub(super) struct Check<'a, 'w> {
    pub(super) run: Run<'a>,
    pub(super) witness: &'a mut Option<&'w mut dyn Write>,
    pub(super) builder: Option<(&'a mut ShowBuilder, &'a ShowOptions)>,
}

impl Visitor for Check<'_, '_> {
    type Output = Result<Report, Failed>;

    fn visit<M: Model>(self, model: M) -> Self::Output {
        let Held::Stream(stream) = self.run.held else { return self.check_whole(&model, None) };
        let mut misfit = None;
        if let Some(field) = self.run.asked.own_order(None)
            && !self.needs_whole()
        {
            match self.follow_stream(&model, stream, field)? {
                Ok(report) => return Ok(report),
                Err(found) => misfit = Some((field, found)),
            }
        }
        match self.is_stream(&model, stream)? {
            true => self.check_stream(&model, stream, misfit),
            false => self.check_whole(&model, misfit.map(|(_, misfit)| misfit)),
        }
    }
}

/// The number of operations examined to see whether a history splits into parts.
const LOOKED_AT: usize = 1 << 16;

impl<'a> Check<'a, '_> {
    /// True if the check could not use the whole history in memory.
    fn is_stream<M: Model>(&self, model: &M, stream: &Stream) -> Result<bool, InputError> {
        if !self.run.asked.is_linearizable() || self.run.asked.exhaustive || self.needs_whole() {
            return Ok(false);
        }
        if !self.run.asked.shortcuts || model.has_procedure() {
            return Ok(!self.run.asked.shortcuts);
        }
        for op in stream.merge()?.take(LOOKED_AT) {
            let op = op?;
            let bound = bound(model, self.run.held.processes(), &op).map_err(|error| self.run.refused(error))?;
            if bound.is_some_and(|op| model.partition(&op).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if an option needs the whole history in memory.
    fn needs_whole(&self) -> bool {
        self.witness.is_some() || self.builder.is_some() || !self.run.asked.assume.is_empty()
    }

    /// Follows the system's own order through segments. Returns the report if that decides the history, otherwise the
    /// reason why not.
    fn follow_stream<M: Model>(
        &self,
        model: &M,
        stream: &Stream,
        field: &str,
    ) -> Result<Result<Report, Misfit<String>>, Failed> {
        let mut merge = stream.merge()?;
        let processes = self.run.held.processes();
        let mut case = self.case(model);
        let (mut operations, mut seen) = (0, CoverageCounter::new(self.run.spec, self.run.asked.coverage));
        let ops = merge.by_ref().map(|op| {
            let op = op.map_err(InputError::from)?;
            operations += 1;
            seen.add(&op);
            ranked(model, processes, &op, field).map_err(|error| self.run.refused(error).into())
        });
        if let Some(misfit) = case.follow_ops(field, ops, false)? {
            return Ok(Err(misfit));
        }
        self.refuse_mixed(model, stream)?;
        case.coverage = seen.coverage;
        self.report(&mut case, Extent { operations: Some(operations), cuts: merge.cuts() }, None).map(Ok)
    }

    fn check_stream<M: Model>(
        &self,
        model: &M,
        stream: &Stream,
        misfit: Option<(&str, Misfit<String>)>,
    ) -> Result<Report, Failed> {
        let Run { asked, limits, held, .. } = self.run;
        let mut merge = stream.merge()?;
        let (mut operations, mut seen) = (0, CoverageCounter::new(self.run.spec, asked.coverage));
        let counted = merge.by_ref().map(|op| op.map_err(|error| Unread::Input(error.into()))).inspect(|op| {
            operations += 1;
            op.iter().for_each(|op| seen.add(op));
        });
        let watch = |stats: &Stats| limits.poll(stats);
        let search = options(asked).search;
        let checked = omnilink_models::check::check_stream(model, held.processes(), counted, &search, &watch);
        let checked = checked.map_err(|unread| match unread {
            Unread::Input(error) => error,
            Unread::Refused(error) => self.run.refused(error),
        })?;
        self.refuse_mixed(model, stream)?;
        // A verdict may come before the end. The rest is still read, so that damage there is not missed; but not if
        // time or memory ran out before the verdict.
        let is_decided = !matches!(checked.verdict, Verdict::Inconclusive(_));
        let mut is_whole = is_decided;
        while is_whole && let Some(op) = merge.next() {
            seen.add(&op.map_err(InputError::from)?);
            operations += 1;
            is_whole = limits.exceeded().is_none();
        }
        let mut case = ModelCase { checked: Some(checked), coverage: seen.coverage, ..self.case(model) };
        let extent = Extent { operations: is_whole.then_some(operations), cuts: merge.cuts() };
        let mut report = self.report(&mut case, extent, misfit.as_ref())?;
        if !is_whole && is_decided {
            report.notes.push("the rest of the trace was not read: a limit was reached".into());
        }
        Ok(report)
    }

    /// The report on the findings in a stream.
    fn report<M: Model>(
        &self,
        case: &mut ModelCase<'_, M>,
        extent: Extent<'_>,
        misfit: Option<&(&str, Misfit<String>)>,
    ) -> Result<Report, Failed> {
        let verdict = case.verdict()?;
        self.run.report(case, extent, verdict, misfit)
    }

    fn check_whole<M: Model>(self, model: &M, misfit: Option<Misfit<String>>) -> Result<Report, Failed> {
        let Whole { history, cuts, .. } = self.run.held.whole(self.run.limits)?;
        let operations = history.ops().len() as u64;
        self.run.limits.reached(Stage::Deciding, operations);
        let coverage = CoverageCounter::of(self.run.spec, self.run.asked.coverage, history);
        let mut case = ModelCase { history: Some(history), misfit, coverage, ..self.case(model) };
        let extent = Extent { operations: Some(operations), cuts };
        self.run.check(&mut case, self.run.asked.own_order(None), extent, self.witness, self.builder)
    }

    fn case<'m, M: Model>(&self, model: &'m M) -> ModelCase<'m, M>
    where
        'a: 'm,
    {
        ModelCase::new(self.run, model)
    }

    /// Fails if numbers and texts with the same digits occur in the places of one thing.
    fn refuse_mixed<M: Model>(&self, model: &M, stream: &Stream) -> Result<(), InputError> {
        let found = omnilink_models::digits::find(model, self.run.held.processes(), stream.merge()?)?;
        found.map_or(Ok(()), |found| Err(self.run.refused(found.into())))
    }

    /// Checks at a level at which operations need not see everything before them.
    pub(super) fn check_level(self, choice: &dyn Choice) -> Result<Report, Failed> {
        let run = self.run;
        level::refuse(run.asked, self.witness.is_some())?;
        let Whole { history, cuts, .. } = run.held.whole(run.limits)?;
        let operations = history.ops().len() as u64;
        run.limits.reached(Stage::Deciding, operations);
        let options =
            LevelOptions { weak: level::options(run.asked), shortcuts: run.asked.shortcuts && !run.asked.exhaustive };
        let decide = |watch: &dyn Watch| -> Result<AtLevel, Failed> {
            let checked = choice.check_level(history, &options, watch).map_err(|error| run.refused(error))?;
            let verdict = match checked.verdict {
                Verdict::Accepted(explained) => Verdict::Accepted(explained),
                Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
                Verdict::Rejected(unexplained) => Verdict::Rejected(unexplained.map_states(state_of)),
            };
            Ok(AtLevel {
                verdict,
                stats: checked.stats,
                limit: checked.limit,
                no_procedure: checked.no_procedure,
                part: checked.part.map(|part| format!(" on {part}")).unwrap_or_default(),
                method: method(run.asked, checked.method),
            })
        };
        let extent = Extent { operations: Some(operations), cuts };
        let report = run.check(&mut Weak::new(run, decide), None, extent, &mut None, self.builder)?;
        Ok(Report { coverage: CoverageCounter::of(run.spec, run.asked.coverage, history), ..report })
    }
}

/// One trace and its model.
pub(super) struct ModelCase<'a, M> {
    run: Run<'a>,
    model: &'a M,
    /// The history, if it is in memory.
    history: Option<&'a History<Call>>,
    /// The reason why the check could not follow the system's own order, if it tried that before.
    misfit: Option<Misfit<String>>,
    checked: Option<Checked>,
    coverage: Option<Coverage>,
    notes: Vec<String>,
    mentions: Mentions<OpId>,
}

impl<'a, M: Model> ModelCase<'a, M> {
    fn new(run: Run<'a>, model: &'a M) -> ModelCase<'a, M> {
        let (history, misfit, checked, coverage) = (None, None, None, None);
        let (notes, mentions) = (Vec::new(), Mentions::default());
        ModelCase { run, model, history, misfit, checked, coverage, notes, mentions }
    }

    /// A trace that was checked.
    pub(super) fn checked(run: Run<'a>, model: &'a M, checked: Checked) -> ModelCase<'a, M> {
        ModelCase { checked: Some(checked), ..ModelCase::new(run, model) }
    }

    /// Follows the order of a field. Returns the reason why that is not possible, or stores the verdict.
    fn follow_ops(
        &mut self,
        field: &str,
        ops: impl Iterator<Item = Result<Ranked<M>, Failed>>,
        keeps_witness: bool,
    ) -> Result<Option<Misfit<String>>, Failed> {
        match own_order::follow(self.model, field, ops, keeps_witness, self.run.limits, |never| match never {})? {
            Ok(witness) => self.checked = Some(Checked::in_given_order(witness)),
            Err(misfit) => return Ok(Some(misfit.map_state(|state| self.model.show(&state)))),
        }
        Ok(None)
    }

    /// A small part of the history that shows why an operation cannot be placed.
    fn part(&self, blocked: &[OpId]) -> Option<Part> {
        let Run { asked, limits, .. } = self.run;
        let is_plain = asked.is_linearizable() && !asked.exhaustive && asked.assume.is_empty();
        let (history, &blocked) = (self.history.filter(|_| is_plain)?, blocked.first()?);
        // The operations of a part have other numbers, so widths are not stored, and the stage stays the same.
        let quiet = |_: &Stats| limits.exceeded();
        smallest(self.model, history, blocked, &options(asked).search, &quiet)
    }
}

impl<M: Model> Subject for ModelCase<'_, M> {
    fn places(&self) -> usize {
        self.history.map_or(0, |history| history.ops().len())
    }

    fn follow(&mut self, field: &str) -> Result<Option<Misfit<String>>, Failed> {
        let (None, Some(history)) = (&self.misfit, self.history) else { return Ok(self.misfit.take()) };
        let (run, model) = (self.run, self.model);
        let refused = |error| run.refused(error);
        let ops = history.ops().iter().map(|op| Ok(ranked(model, history.processes(), op, field).map_err(refused)?));
        let misfit = self.follow_ops(field, ops, true)?;
        if misfit.is_none() {
            omnilink_models::check::refuse_mixed(model, history).map_err(refused)?;
        }
        Ok(misfit)
    }

    fn decide(&mut self, widths: &Widths<'_>) -> Result<(), Failed> {
        let Some(history) = self.history else { return Ok(()) };
        let options = options(self.run.asked);
        let checked = match &*assumed(self.model, self.run.asked, history)? {
            [] => omnilink_models::check::check(self.model, history, &options, widths),
            assumed => omnilink_models::check::check_assuming(self.model, history, assumed, &options.search, widths),
        };
        self.checked = Some(checked.map_err(|error| self.run.refused(error))?);
        Ok(())
    }

    fn found(&self) -> Found<'_> {
        let checked = self.checked.as_ref().expect("a trace that was decided");
        Found {
            order: match &checked.verdict {
                Verdict::Accepted(witness) => Some(witness),
                Verdict::Rejected(_) | Verdict::Inconclusive(_) => None,
            },
            is_rejected: checked.verdict.is_rejected(),
            method: method(self.run.asked, checked.method),
            no_procedure: checked.no_procedure.clone(),
            stats: &checked.stats,
        }
    }

    fn way(&self) -> Way {
        self.checked.as_ref().map(way).unwrap_or_default()
    }

    fn verdict(&mut self) -> Result<omnilink_report::Verdict, Failed> {
        let checked = self.checked.as_ref().expect("a trace that was decided");
        let part = match &checked.verdict {
            Verdict::Rejected(Failure::Stuck { explanation, .. }) => self.part(&explanation.blocked),
            _ => None,
        };
        verdict(&self.run, checked, part, &mut self.mentions)
    }

    fn mentions(&mut self) -> &mut Mentions<OpId> {
        &mut self.mentions
    }

    fn show(&mut self, builder: &mut ShowBuilder, look: &ShowOptions) -> Result<(), Failed> {
        let Some(history) = self.history else { return Ok(()) };
        if let Some(Checked { method: Method::Parts { all, .. }, verdict: Verdict::Accepted(_), .. }) = &self.checked
            && *all > MOST_SHOWN
        {
            self.notes.push(format!("a state shows the key of the last step: there are {all} keys"));
        }
        let (way, timeline) = (&builder.way, &mut builder.timeline);
        Ok(Walk { asked: self.run.asked, history, way, look, timeline }.walk(self.model)?)
    }

    fn complete(&mut self, report: &mut Report) -> Result<(), Failed> {
        let checked = self.checked.as_ref().expect("a trace that was decided");
        report.keys = keys(&self.run, checked)?;
        report.notes.extend(parts::notes(checked, report.keys.as_ref()));
        report.notes.append(&mut self.notes);
        report.coverage = self.coverage.take();
        Ok(())
    }
}

fn method(asked: &CheckOptions, method: Method) -> String {
    match method {
        Method::Procedure => "decided without searching".to_owned(),
        Method::Parts { all, searched: 0 } => format!("decided in {all} independent parts without searching"),
        Method::Parts { all, searched } if all == searched => format!("searched in {all} independent parts"),
        Method::Parts { all, searched } => format!("searched in {searched} of {all} independent parts"),
        Method::Search => "searched whole".to_owned(),
        Method::Given => asked.own_order(None).map(own_order::method).unwrap_or_default(),
    }
}

fn options(asked: &CheckOptions) -> ModelOptions {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    ModelOptions {
        search: crate::search_options(asked, !asked.exhaustive),
        shortcuts: asked.shortcuts && !asked.exhaustive,
        threads: asked.jobs.unwrap_or_else(cores),
    }
}

/// The orders that a check found.
fn way(checked: &Checked) -> Way {
    let route = match &checked.verdict {
        Verdict::Accepted(witness) => Route::from(witness),
        Verdict::Rejected(Failure::Stuck { explanation, .. }) => {
            Route::new(&checked.settled, explanation, MOST_ENDINGS)
        }
        Verdict::Rejected(Failure::Contradiction { .. }) => Route::default(),
        Verdict::Inconclusive(_) => Route::from(&checked.settled),
    };
    Way { route, ignores_invariants: false }
}

/// An operation in the form of the model, with its place in the system's own order.
type Ranked<M> = (Op<Option<<M as Spec>::Op>>, Option<Value>);

fn ranked<M: Model>(model: &M, processes: &[Arc<str>], op: &Op<Call>, field: &str) -> Result<Ranked<M>, Error> {
    Ok((op.with(bound(model, processes, op)?), own_order::rank(&op.call, field)))
}

pub(super) fn bound<M: Model>(model: &M, processes: &[Arc<str>], op: &Op<Call>) -> Result<Option<M::Op>, Error> {
    let bad = |error| Error::BadCall { op: omnilink_history::name(processes, op.process, op.index), error };
    model.bind(op).map_err(bad)
}

/// The reason why the operations of a stream end early.
pub(super) enum Unread {
    /// The trace cannot be read.
    Input(InputError),
    /// The specification does not accept an operation.
    Refused(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Unread {
        Unread::Refused(error)
    }
}

/// Shows the states that a route passes through.
pub(super) struct Walk<'a> {
    pub(super) asked: &'a CheckOptions,
    pub(super) history: &'a History<Call>,
    pub(super) way: &'a Way,
    pub(super) look: &'a ShowOptions,
    pub(super) timeline: &'a mut Timeline,
}

impl Visitor for Walk<'_> {
    type Output = Result<(), InputError>;

    fn visit<M: Model>(self, model: M) -> Self::Output {
        self.walk(&model)
    }
}

impl Walk<'_> {
    fn walk<M: Model>(self, model: &M) -> Result<(), InputError> {
        let Walk { asked, history, way, look, timeline } = self;
        if !look.watch.is_empty() {
            return Err(InputError::new(
                "unsupported: expressions can be evaluated in states of TLA+ specifications only",
            ));
        }
        let assumed = assumed(model, asked, history)?;
        let walked = omnilink_models::check::walk(model, history, &assumed, &way.route, look.until, look.states)?;
        crate::show::fill(timeline, walked, 0, state_of);
        Ok(())
    }
}

/// A state as reports show it.
pub(super) fn state_of(shown: String) -> omnilink_report::State {
    omnilink_report::State::new(vec![Field { name: String::new(), value: shown }])
}

/// The assumptions, with operation numbers and with states as rendered by the model.
fn assumed<M: Model>(model: &M, asked: &CheckOptions, history: &History<Call>) -> Result<Vec<Assumed>, InputError> {
    let mut resolver = AssumptionResolver::new(&asked.assume, history.processes());
    let counts = |op: &&Op<Call>| matches!(model.bind(op), Ok(Some(_)));
    if !asked.assume.is_empty() {
        history.ops().iter().filter(counts).for_each(|op| resolver.add_op(op));
    }
    let assumed = |assumption: Assumption<String>| match assumption {
        Assumption::Before(first, second) => Assumed::Before(first, second),
        Assumption::LeadsTo(op, id) => {
            Assumed::LeadsTo(op, Box::new(move |shown| state_of(shown.into()).id.starts_with(&id)))
        }
    };
    Ok(resolver.resolve()?.into_iter().map(assumed).collect())
}
