//! Checks histories against a TLA+ specification.

mod key;
mod level;

use std::ffi::OsStr;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use omnilink_history::{Cut, History, Op, OpId, Stop, Value};
use omnilink_report::{Evidence, Field, Report, Timeline, Verdict};
use omnilink_search::{Misfit, Stats, Watch, Witness};
use omnilink_settings::Settings;
use omnilink_tla::error::ErrorKind;
use omnilink_tla::ir::DefId;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::Program;
use omnilink_validate::{Binder, Checked, Harvest, NoAnswer, Problem, ReportBuilder, TraceOutcome};
use omnilink_validate::{TraceOp, TraceSpec, TraceState};
use omnilink_weak::Class;

use crate::complaint::Complaint;
use crate::environment::{self, HostWorld, Stopper, guarded};
use crate::follow_up::{self, Named};
use crate::input::InputError;
use crate::load::{Around, Loaded, Parts};
use crate::own_order;
use crate::recording::{Held, Recording, Stream};
use crate::show::{
    AssumptionResolver, Inspection, MOST_ENDINGS, ShowBuilder, ShowOptions, TimelineBuilder, Way, places,
};
use crate::{Against, Case, CheckOptions, Failed, Limits, Stage, Unlimited};

/// A specification with its configuration and its settings.
#[derive(Debug)]
pub struct Tla {
    path: PathBuf,
    pub(crate) parts: Parts,
    pub(crate) settings: Settings,
    pub(crate) settings_file: Option<PathBuf>,
    /// The program, if it is the same for all traces.
    linked: OnceLock<Arc<Linked>>,
}

/// The maximum number of problems shown at once.
const MOST_PROBLEMS: usize = 10;

impl Tla {
    /// Reads a specification and the files beside it.
    pub fn load(path: &Path, asked: &CheckOptions) -> Result<Tla, Vec<Complaint>> {
        let directory = path.parent().unwrap_or(Path::new(""));
        let (settings, file) = Settings::read_for(path, asked.settings.as_deref())
            .map_err(|error| vec![Complaint::of_settings(&error)])?;
        if let Some(companion) = &settings.companion
            && asked.is_foreign
            && Path::new(companion).file_name() != Some(OsStr::new(companion))
        {
            let message =
                format!("the settings name the companion `{companion}`, which is not beside the specification");
            let help = "file access is disabled for imported specifications".to_owned();
            return Err(vec![Complaint { help: Some(help), ..Complaint::new(message) }]);
        }
        // The companion extends the specification, and has the same configuration.
        let root = settings.companion.as_ref().map_or(path.to_owned(), |companion| directory.join(companion));
        if settings.companion.is_some() && !root.is_file() {
            let message = format!("the companion `{}` named in the settings does not exist", root.display());
            return Err(vec![Complaint::new(message)]);
        }
        let config = path.with_extension("cfg");
        let config = asked.config.clone().or_else(|| config.is_file().then_some(config));
        let around = Around { config, includes: asked.includes.clone() };
        let mut parts = Parts::read(&root, &around)?;
        parts.assume_behavior();
        Ok(Tla { path: path.to_owned(), parts, settings, settings_file: file, linked: OnceLock::new() })
    }

    /// The name of the specification in reports.
    pub(crate) fn name_of_file(&self) -> String {
        self.path.display().to_string()
    }

    /// True if a trace is too large to be read whole without need, and no option needs all of it.
    fn may_stream(&self, asked: &CheckOptions, stream: &Stream) -> bool {
        let is_plain = asked.assume.is_empty() && !asked.coverage && asked.shortcuts && !asked.exhaustive;
        let is_ordered = asked.is_linearizable() && asked.own_order(self.settings.order_by.as_deref()).is_none();
        stream.is_large() && is_plain && is_ordered
    }

    /// The trace, with the ends of processes if there is a companion.
    fn held<'a>(&self, asked: &CheckOptions, case: &Case<'a>) -> Result<MaybeOwned<'a>, Failed> {
        if self.takes_log(case) {
            let message = "expected a trace of operations, found a log".to_owned();
            let help = "`check`, `explain`, `report` and `view` take logs".to_owned();
            return Err(Failed::Input(InputError { message, help: Some(help) }));
        }
        let held = case.recording.held(asked.max_memory, case.limits)?;
        match &self.settings.companion {
            Some(_) => Ok(MaybeOwned::Owned(held.with_ends(case.limits)?)),
            None => Ok(MaybeOwned::Borrowed(held)),
        }
    }

    /// Gives constants their values from the trace, and links. Done once if nothing depends on the trace.
    fn link(&self, held: &Held, watch: &[String], limits: &dyn Limits) -> Result<Arc<Linked>, Failed> {
        if watch.is_empty()
            && let Some(linked) = self.link_alone()?
        {
            return Ok(linked);
        }
        let mut harvest = Harvest::new(&self.settings, &self.parts.module);
        let processes = held.processes();
        if !harvest.is_idle() {
            held.for_each(limits, Stage::Reading, |op| {
                harvest.add(op, &processes[op.process.index()]);
                Ok(())
            })?;
        }
        Ok(Arc::new(self.link_with(harvest, watch)?))
    }

    /// Links without a trace, once. `None` if constants have their values from it.
    fn link_alone(&self) -> Result<Option<Arc<Linked>>, Failed> {
        if let Some(linked) = self.linked.get() {
            return Ok(Some(linked.clone()));
        }
        let harvest = Harvest::new(&self.settings, &self.parts.module);
        if !harvest.is_idle() {
            return Ok(None);
        }
        let linked = Arc::new(self.link_with(harvest, &[])?);
        Ok(Some(self.linked.get_or_init(|| linked).clone()))
    }

    fn link_with(&self, harvest: Harvest, watch: &[String]) -> Result<Linked, Failed> {
        let mut parts = self.parts.clone();
        let given = harvest.give(&mut parts.module, &mut parts.config);
        let complaint = |problem: &Problem| Complaint::of_problem(&parts.module.sources, problem);
        let given = given.map_err(|problems| Failed::Spec(problems.iter().map(complaint).collect()))?;
        let config = parts.config.clone();
        let options = omnilink_tla::program::LinkOptions {
            skip_properties: true,
            ..omnilink_tla::program::LinkOptions::default()
        };
        let expressions: Vec<&str> = watch.iter().chain(self.settings.tags.values()).map(String::as_str).collect();
        let mut loaded = parts.link(options, &expressions).map_err(Failed::Spec)?;
        let tags = self.settings.tags.keys().cloned().zip(loaded.expressions.split_off(watch.len())).collect();
        Ok(Linked { given, config, loaded, tags })
    }

    /// Checks one trace.
    pub fn check(&self, asked: &CheckOptions, case: &mut Case<'_>) -> Result<Report, Failed> {
        Against::check(self, asked, case, None)
    }

    /// The report with the name of the specification and the values of its constants.
    fn named_in(&self, report: Report, linked: &Linked) -> Report {
        let program = &linked.loaded.program;
        let shown = |value: &omnilink_tla::value::Value| value.display(&program.module.strings).to_string();
        let constants = linked.given.iter().map(|(name, value)| Field { name: name.clone(), value: shown(value) });
        let spec = omnilink_report::Spec { name: self.path.display().to_string(), constants: constants.collect() };
        let mut report = Report { spec, ..report };
        report.notes.extend(misnamed(program));
        report
    }

    /// Calls `work` with a trace that is bound to the specification, without a search.
    pub fn with_bound<R>(
        &self,
        asked: &CheckOptions,
        case: &Case<'_>,
        work: impl FnOnce(&Bound<'_, '_>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let held = &*self.held(asked, case)?;
        let linked = self.link(held, &[], case.limits)?;
        let run = Run { asked, label: case.label, limits: case.limits, held, linked: &linked, begin: None };
        run.with_spec(&self.settings, |spec, history, _| {
            work(&Bound { run: &run, spec, history, config: &linked.config })
        })
    }
}

impl Against for Tla {
    fn name(&self) -> &str {
        self.path.to_str().unwrap_or_default()
    }

    fn named(&self) -> Option<Named<'_>> {
        Some(Named::Module(&self.path))
    }

    fn check(
        &self,
        asked: &CheckOptions,
        case: &mut Case<'_>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        if self.takes_log(case) {
            return self.check_log(asked, case, builder);
        }
        let watch = builder.as_ref().map_or(&[][..], |(_, look)| &look.watch);
        let held = &*self.held(asked, case)?;
        let linked = &*self.link(held, watch, case.limits)?;
        let asked = &self.with_level(asked, held, linked, case)?;
        let run = Run { asked, label: case.label, limits: case.limits, held, linked, begin: None };
        let streamed = match held {
            Held::Stream(stream) if case.witness.is_none() && builder.is_none() && self.may_stream(asked, stream) => {
                run.check_stream(&self.settings, stream)?
            }
            _ => None,
        };
        let report = match streamed {
            Some(report) => report,
            None if asked.level().class() != Class::Strong => {
                run.check_level(&self.settings, case.witness.is_some(), builder)?
            }
            None => run.check(&self.settings, &mut case.witness, builder)?,
        };
        let mut report = self.named_in(report, linked);
        report.next = follow_up::commands(&Named::Module(&self.path), asked, case.recording, &report);
        Ok(report)
    }

    fn walk(
        &self,
        asked: &CheckOptions,
        case: &Case<'_>,
        shown: &mut Inspection,
        look: &ShowOptions,
    ) -> Result<(), Failed> {
        if self.takes_log(case) {
            // All states of a log are shown at once.
            return Ok(());
        }
        let held = &*self.held(asked, case)?;
        let linked = self.link(held, &look.watch, case.limits)?;
        let run = Run { asked, label: case.label, limits: case.limits, held, linked: &linked, begin: None };
        let Inspection { timeline, way, .. } = shown;
        run.with_spec(&self.settings, |spec, history, _| run.walk(spec, history, way, look, timeline))
    }

    fn files(&self) -> Vec<(PathBuf, String)> {
        let named = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (path, name)
        };
        let modules = self.parts.module.sources.iter().map(|(_, source)| PathBuf::from(&source.name));
        let mut files: Vec<(PathBuf, String)> = modules.filter(|path| path.is_file()).map(named).collect();
        files.extend(
            [self.path.clone()]
                .into_iter()
                .filter(|path| !files.iter().any(|(known, _)| known == path))
                .map(named)
                .collect::<Vec<_>>(),
        );
        let config = self.parts.config_path().filter(|path| path.is_file());
        files.extend(config.map(|path| (path, named(self.path.with_extension("cfg")).1)));
        files.extend(self.settings_file.clone().map(|path| (path, omnilink_settings::FILE_NAME.to_owned())));
        files
    }

    fn operations(&self, asked: &CheckOptions, recording: &Recording) -> Result<Vec<String>, Failed> {
        if self.settings.log.is_some() && recording.is_log() {
            return Ok(Vec::new());
        }
        let held = recording.held(asked.max_memory, &Unlimited)?;
        Ok(operations(&self.settings, &self.link(held, &[], &Unlimited)?.loaded.program))
    }

    fn recordings(&self, path: &Path) -> Result<Vec<PathBuf>, InputError> {
        match &self.settings.log {
            Some(log) if log.files.is_some() && path.is_dir() => Ok(vec![path.to_owned()]),
            _ => crate::input::recordings(path),
        }
    }

    fn tla(&self) -> Option<&Tla> {
        Some(self)
    }
}

/// TLC's objection to the name of the file, if any.
fn misnamed(program: &Program) -> Option<String> {
    let (_, root) = program.module.sources.iter().next()?;
    let stem = Path::new(&root.name).file_stem()?.to_string_lossy();
    let misnamed = Complaint::of_file_name(program, &stem)?;
    Some(format!("{}; {}", misnamed.message, misnamed.help.unwrap_or_default()))
}

/// A specification with values for its constants.
#[derive(Debug)]
struct Linked {
    /// Constants that got their values from a trace.
    given: Vec<(String, omnilink_tla::value::Value)>,
    config: omnilink_tla::config::Config,
    loaded: Loaded,
    /// The names of known failures, and their predicates.
    tags: Vec<(String, DefId)>,
}

/// A trace: as it is, or with additions.
enum MaybeOwned<'a> {
    Borrowed(&'a Held),
    Owned(Held),
}

impl Deref for MaybeOwned<'_> {
    type Target = Held;

    fn deref(&self) -> &Held {
        match self {
            MaybeOwned::Borrowed(held) => held,
            MaybeOwned::Owned(held) => held,
        }
    }
}

/// A trace bound to a specification.
pub struct Bound<'a, 'p> {
    run: &'a Run<'a>,
    /// The specification.
    pub spec: &'a TraceSpec<'p>,
    /// The operations, bound.
    pub history: &'a History<TraceOp>,
    /// The configuration, with the constants from the trace.
    pub config: &'a omnilink_tla::config::Config,
}

impl Bound<'_, '_> {
    /// These operations as recorded, in the same order.
    pub fn describe(&self, ids: &[OpId]) -> Result<Vec<omnilink_report::Operation>, Failed> {
        Ok(self.run.held.describe(ids)?)
    }

    /// Errors in the trace.
    pub fn wrong(&self, problems: &[Problem]) -> Failed {
        self.run.wrong(problems)
    }

    /// An evaluation error.
    pub fn failed(&self, error: NoAnswer) -> Failed {
        self.run.failed(error)
    }
}

/// One trace and one program.
struct Run<'a> {
    asked: &'a CheckOptions,
    label: &'a str,
    limits: &'a dyn Limits,
    held: &'a Held,
    linked: &'a Linked,
    /// The states in which the trace begins, if not in the initial ones.
    begin: Option<&'a [Value]>,
}

impl Run<'_> {
    fn program(&self) -> &Program {
        &self.linked.loaded.program
    }

    fn check(
        &self,
        settings: &Settings,
        witness_file: &mut Option<&mut dyn Write>,
        mut builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let (limits, options) = (self.limits, self.options());
        let own_order = self.asked.own_order(settings.order_by.as_deref());
        let mut report_builder = ReportBuilder::default();
        let (operations, cuts, checked, verdict, tagged, coverage, misfit) =
            self.with_spec(settings, |spec, history, cuts| {
                let places = history.ops().last().filter(|_| builder.is_some()).map_or(0, |op| op.id.index() + 1);
                let mut widths = Widths { limits, widths: vec![0; places] };
                let (followed, misfit) = match own_order.map(|field| self.follow(spec, history, field)).transpose()? {
                    Some(Ok(witness)) => (Some(Checked::in_given_order(witness)), None),
                    Some(Err(misfit)) => (None, Some(misfit.map_state(|state| shown(spec, &state)))),
                    None => (None, None),
                };
                let checked = match followed {
                    Some(followed) => followed,
                    None => omnilink_validate::check(spec, history, &options, &mut widths)
                        .map_err(|error| self.failed(error))?,
                };
                let mut watch = |_: &Stats| limits.exceeded();
                // A check that ends in this stage counts as rejected.
                if checked.outcome.stuck().is_some() {
                    limits.reached(Stage::Explaining, 0);
                }
                let verdict = self.verdict(spec, history, &options, &checked, &mut watch, &mut report_builder)?;
                let mut tagged = tagged(spec, &checked.outcome, &self.linked.tags);
                if let (Verdict::Rejected(rejection), Some(all)) = (&verdict, checked.outcome.stuck())
                    && let Evidence::Stuck(few) = &rejection.evidence
                    && few.interpretations.len() < all.stuck.len()
                {
                    let (few, all) = (few.interpretations.len(), all.stuck.len());
                    tagged.notes.push(format!("states are large: {few} of {all} configurations are explained"));
                }
                if let Some(stop) = spec.stopped().filter(|_| checked.outcome.stuck().is_some()) {
                    tagged.notes.push(format!("the explanation is not complete: {stop}"));
                }
                let coverage = match self.asked.coverage {
                    true => {
                        Some(omnilink_validate::coverage(spec, history, &checked).map_err(|error| self.failed(error))?)
                    }
                    false => None,
                };
                if let Some((builder, look)) = &mut builder {
                    builder.timeline = self.timeline()?;
                    builder.timeline.widths = widths.widths;
                    builder.timeline.widths.resize(builder.timeline.operations.len(), 0);
                    builder.timeline.actions = operations(settings, self.program());
                    builder.keep(Way {
                        route: checked.route(MOST_ENDINGS),
                        ignores_invariants: checked.ignores_invariants(),
                    });
                    match self.walk(spec, history, &builder.way, look, &mut builder.timeline) {
                        // The verdict holds, whether or not there is time to show states.
                        Err(Failed::Stopped(stop)) => {
                            tagged.notes.push(format!("intermediate states are not shown: {stop}"))
                        }
                        walked => walked?,
                    }
                }
                Ok((history.ops().len(), cuts, checked, verdict, tagged, coverage, misfit))
            })?;
        if let (Some(file), TraceOutcome::Accepted(witness)) = (witness_file, &checked.outcome) {
            self.held.write_witness(file, self.label, witness)?;
        }
        let mut notes = self.notes(&checked.outcome);
        notes.extend(tagged.notes);
        if let (Some(field), Some(misfit)) = (own_order, &misfit) {
            notes.push(own_order::finding(field, misfit, self.held)?);
            notes.push(own_order::consequence(field, misfit, &verdict));
        }
        let method = match own_order.filter(|_| misfit.is_none()) {
            Some(field) => own_order::method(field),
            None => "searched whole".to_owned(),
        };
        let stats = crate::stats(&checked.stats, &method, &mut |id| report_builder.op(id));
        if let Some((builder, _)) = builder {
            builder.timeline.mentioned = places(report_builder.mentioned());
        }
        let report = self.report(operations, &cuts, verdict, stats, &report_builder)?;
        Ok(Report { notes, tags: tagged.tags, coverage, ..report })
    }

    /// The common part of all reports.
    fn report(
        &self,
        operations: usize,
        cuts: &[Cut],
        verdict: Verdict,
        stats: omnilink_report::Stats,
        report_builder: &ReportBuilder,
    ) -> Result<Report, Failed> {
        let history = omnilink_report::History {
            name: self.label.into(),
            operations: Some(operations as u64),
            processes: self.held.processes().len(),
            cuts: crate::cuts(cuts),
            ..omnilink_report::History::default()
        };
        Ok(Report {
            order: crate::order(&self.asked.level()),
            operations: self.held.describe(report_builder.mentioned())?,
            sources: report_builder.sources(self.program()),
            stats,
            assumed: crate::assumed(self.asked),
            ..Report::new(history, verdict)
        })
    }

    /// Searches for an order while the trace is read. `None` if there is no order: only the whole history says why.
    fn check_stream(&self, settings: &Settings, stream: &Stream) -> Result<Option<Report>, Failed> {
        let (processes, options) = (self.held.processes(), self.options());
        let mut watch = |stats: &Stats| self.limits.poll(stats);
        let (operations, cuts, checked) = self.with_machine(settings, |spec| {
            let (operations, cuts) = self.bind_each(spec, |_| ())?;
            let ops = || Ok(stream.merge()?.map(|op| op.map_err(|error| Failed::Input(error.into()))));
            let checked = omnilink_validate::check_stream(spec, processes, ops, &options, &mut watch, |error| {
                self.failed(error)
            })?;
            Ok((operations, cuts, checked))
        })?;
        let verdict = match checked.verdict {
            omnilink_history::Verdict::Accepted(_) => Verdict::Accepted,
            omnilink_history::Verdict::Inconclusive(stop) => crate::inconclusive(stop, stop.to_string()),
            omnilink_history::Verdict::Rejected(_) => return Ok(None),
        };
        let mut report_builder = ReportBuilder::default();
        let stats = crate::stats(&checked.stats, "searched as a stream", &mut |id| report_builder.op(id));
        Ok(Some(self.report(operations, &cuts, verdict, stats, &report_builder)?))
    }

    /// Follows the system's own order.
    fn follow(
        &self,
        spec: &TraceSpec<'_>,
        history: &History<TraceOp>,
        field: &str,
    ) -> Result<Result<Witness, Misfit<TraceState>>, Failed> {
        let mut ranks: Vec<Option<Value>> = Vec::new();
        self.held.for_each(self.limits, Stage::Binding, |op| {
            ranks.resize(op.id.index(), None);
            ranks.push(own_order::rank(&op.call, field));
            Ok(())
        })?;
        let rank = |op: &Op<TraceOp>| ranks.get(op.id.index()).cloned().flatten();
        let ops = history.ops().iter().map(|op| Ok((op.with(Some(&op.call)), rank(op))));
        own_order::follow(spec, field, ops, true, self.limits, |fault| self.failed(NoAnswer::Fault(fault)))
    }

    /// Every operation.
    fn timeline(&self) -> Result<Timeline, Failed> {
        let mut timeline = TimelineBuilder::new(self.held.processes());
        self.limits.reached(Stage::Showing, 0);
        // The verdict is known; showing it needs the history.
        self.held.for_each(&Unlimited, Stage::Showing, |op| {
            timeline.add(op);
            Ok(())
        })?;
        Ok(timeline.finish())
    }

    /// Shows the states that a route passes through, with the values of expressions in each.
    fn walk(
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
        if let Some(stop) = self.limits.exceeded() {
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

    /// Binds the trace to the specification, and calls `work` with both while a thread polls the limits.
    fn with_spec<R>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&mut TraceSpec<'_>, &History<TraceOp>, Vec<Cut>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        self.with_machine(settings, |spec| {
            let mut bound = Vec::new();
            let (_, cuts) = self.bind_each(spec, |op| bound.push(op))?;
            let history = History::from_ops(self.held.processes().into(), bound);
            spec.assume(self.assumed(&history)?);
            work(spec, &history, cuts)
        })
    }

    /// Calls `work` with the specification while a thread polls the limits.
    fn with_machine<R>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&mut TraceSpec<'_>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let stop = Arc::new(Stopper::default());
        let world = HostWorld::until(self.asked.print, stop.clone()).foreign(self.asked.is_foreign);
        let done = guarded(self.limits, &stop, || {
            let mut machine = Machine::new(self.program(), Box::new(world));
            let binder = Binder::new(self.program(), &self.linked.config, settings, &mut machine)
                .map_err(|problems| self.wrong(&problems))?;
            let mut spec = TraceSpec::new(binder, machine);
            if let Some(begin) = self.begin {
                self.begin_in(&mut spec, begin)?;
            }
            work(&mut spec)
        });
        match (done, stop.limit()) {
            // An evaluation that ran out of time is not an error, and memory may be free again by now.
            (Err(Failed::Spec(_) | Failed::Stopped(_)), Some(limit)) => Err(Failed::Stopped(environment::stop(limit))),
            (done, _) => done,
        }
    }

    fn options(&self) -> omnilink_search::Options {
        crate::search_options(self.asked, self.asked.shortcuts && !self.asked.exhaustive)
    }

    /// The verdict, with its explanation.
    fn verdict(
        &self,
        spec: &TraceSpec<'_>,
        history: &History<TraceOp>,
        options: &omnilink_search::Options,
        checked: &Checked,
        watch: &mut dyn Watch,
        report_builder: &mut ReportBuilder,
    ) -> Result<Verdict, Failed> {
        let stuck = match &checked.outcome {
            TraceOutcome::Accepted(_) => return Ok(Verdict::Accepted),
            TraceOutcome::Inconclusive(stop) => return Ok(crate::inconclusive(*stop, stop.to_string())),
            TraceOutcome::Violated(stuck, broken) => {
                let rejection =
                    omnilink_validate::explain_violation(spec, history, options, stuck, broken, report_builder);
                return Ok(Verdict::Rejected(Box::new(rejection)));
            }
            TraceOutcome::Rejected(stuck) => stuck,
        };
        self.name(&stuck.blocked, report_builder)?;
        let rejection =
            omnilink_validate::explain(spec, history, options, stuck, &checked.checkpoint, watch, report_builder);
        Ok(Verdict::Rejected(Box::new(rejection)))
    }

    /// Assumptions behind a verdict that a reader may not expect.
    fn notes(&self, outcome: &TraceOutcome) -> Vec<String> {
        let mut notes = crate::assumed_notes(self.asked);
        if self.program().view.is_some() && outcome.stuck().is_some() {
            notes.push(
                "states with equal VIEW were merged; if the VIEW hides relevant variables, the verdict is wrong"
                    .to_owned(),
            );
        }
        notes
    }

    /// Looks up the names of the operations in a sentence.
    fn name(&self, blocked: &[OpId], report_builder: &mut ReportBuilder) -> Result<(), Failed> {
        for (&id, op) in blocked.iter().zip(self.held.describe(blocked)?) {
            report_builder.name(id, format!("{} {} {}", op.name, op.text, op.interval()));
        }
        Ok(())
    }

    fn wrong(&self, problems: &[Problem]) -> Failed {
        let complaint = |problem: &Problem| Complaint::of_problem(&self.program().module.sources, problem);
        Failed::Spec(problems.iter().map(complaint).collect())
    }

    /// An evaluation error, with its operation and its state.
    fn failed(&self, error: NoAnswer) -> Failed {
        let fault = match error {
            NoAnswer::Fault(fault) => fault,
            other @ (NoAnswer::Unconfirmed(_) | NoAnswer::Unrepeatable | NoAnswer::TooMany(_)) => {
                return Failed::Input(InputError::new(other));
            }
        };
        if fault.error.kind == ErrorKind::Stopped {
            return Failed::Stopped(self.limits.exceeded().unwrap_or(Stop::Interrupted));
        }
        let mut complaint = Complaint::of_evaluation(self.program(), &fault.error);
        if let Some(Ok(described)) = fault.op.map(|op| self.held.describe(&[op])) {
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
        let mut resolver = AssumptionResolver::new(&self.asked.assume, self.held.processes());
        history.ops().iter().for_each(|op| resolver.add_op(op));
        Ok(resolver.resolve()?)
    }

    /// Binds every operation, and collects errors. Returns the number of steps and the places where the trace is cut
    /// off.
    fn bind_each(
        &self,
        spec: &mut TraceSpec<'_>,
        mut keep: impl FnMut(Op<TraceOp>),
    ) -> Result<(usize, Vec<Cut>), Failed> {
        let processes = self.held.processes();
        let (mut count, mut problems) = (0, Vec::new());
        let cuts = self.held.for_each(self.limits, Stage::Binding, |op| {
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

/// True for two problems that differ in the name of the operation alone, with which their messages begin.
fn is_repeated(known: &Problem, other: &Problem) -> bool {
    let words = |problem: &Problem| problem.message.split_once(' ').map(|(_, words)| words.to_owned());
    words(known) == words(other) && known.place == other.place
}

/// A state on one line.
fn shown(spec: &TraceSpec<'_>, state: &TraceState) -> String {
    let variables = spec.show(&state.values).variables;
    variables.iter().map(|field| format!("{} = {}", field.name, field.value)).collect::<Vec<_>>().join(", ")
}

/// The operations that traces may have, by their recorded names.
fn operations(settings: &Settings, program: &Program) -> Vec<String> {
    let recorded_as = |action: &str| {
        let mut mapped = settings.operations.iter();
        mapped.find(|(_, mapping)| mapping.action.as_deref() == Some(action)).map(|(name, _)| name.clone())
    };
    let mut operations: Vec<String> = Vec::new();
    for action in &program.actions {
        let name = &action.name;
        // Several steps are one operation.
        let action = name.strip_suffix("_Step").or_else(|| name.strip_suffix("_Done")).unwrap_or(name);
        let operation = recorded_as(action).unwrap_or_else(|| action.to_owned());
        if !settings.internal.contains(name) && !operations.contains(&operation) {
            operations.push(operation);
        }
    }
    operations
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

/// Watches a search, and stores its width at each return.
struct Widths<'a> {
    limits: &'a dyn Limits,
    /// One for each operation.
    widths: Vec<u32>,
}

impl Watch for Widths<'_> {
    fn poll(&mut self, stats: &Stats) -> Option<Stop> {
        self.limits.poll(stats)
    }

    fn returned(&mut self, op: OpId, width: usize) {
        if let Some(known) = self.widths.get_mut(op.index()) {
            *known = u32::try_from(width).unwrap_or(u32::MAX);
        }
    }
}
