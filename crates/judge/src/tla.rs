//! Checking histories against a TLA+ specification.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use history::{Cut, History, Op, OpId, Stop, Value};
use report::{Evidence, Field, Report, Timeline, Verdict};
use search::{Criterion, Misfit, Stats, Watch, Witness};
use settings::Settings;
use tla::error::ErrorKind;
use tla::ir::DefId;
use tla::machine::Machine;
use tla::program::Program;
use tla_syntax::Span;
use tla_syntax::ast::Name;
use validate::{Binder, Checked, Harvest, NoAnswer, Outcome, Problem, Teller};
use validate::{TraceOp, TraceSpec, TraceState};

use crate::complaint::Complaint;
use crate::input::InputError;
use crate::load::{Around, Loaded, Parts};
use crate::own_order;
use crate::recording::{Held, Recording, Stream};
use crate::show::{Look, MOST_ENDINGS, Shown, Sight, Tape, Wanted, Way, places};
use crate::world::{self, Outside, Stopper, guarded};
use crate::{Against, Case, Failed, Limits, Options, Stage, Unlimited, quoted};

/// A specification with its configuration and its settings.
#[derive(Debug)]
pub struct Tla {
    path: PathBuf,
    parts: Parts,
    settings: Settings,
    settings_file: Option<PathBuf>,
    /// What is the same for all recordings, if anything is.
    linked: OnceLock<Arc<Linked>>,
}

/// So many problems are shown at once.
const MOST_PROBLEMS: usize = 10;

impl Tla {
    /// Reads a specification and what stands beside it.
    pub fn load(path: &Path, asked: &Options) -> Result<Tla, Vec<Complaint>> {
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
        // The companion extends the specification, and is configured like it.
        let root = settings.companion.as_ref().map_or(path.to_owned(), |companion| directory.join(companion));
        if settings.companion.is_some() && !root.is_file() {
            let message = format!("the settings name the companion `{}`, and there is no such file", root.display());
            return Err(vec![Complaint::new(message)]);
        }
        let config = path.with_extension("cfg");
        let config = asked.config.clone().or_else(|| config.is_file().then_some(config));
        let around = Around { config, includes: asked.includes.clone() };
        let mut parts = Parts::read(&root, &around)?;
        if around.config.is_none() {
            assume_behavior(&mut parts);
        }
        Ok(Tla { path: path.to_owned(), parts, settings, settings_file: file, linked: OnceLock::new() })
    }

    /// True if a recording is too large to be read whole without need, and nothing is asked that needs all of it.
    fn may_stream(&self, asked: &Options, stream: &Stream) -> bool {
        let is_plain = asked.assume.is_empty() && !asked.coverage && asked.shortcuts && !asked.exhaustive;
        let is_ordered =
            asked.criterion == Criterion::LINEARIZABLE && asked.own_order(self.settings.order_by.as_deref()).is_none();
        stream.is_large() && is_plain && is_ordered
    }

    /// What was recorded, with the ends of processes if a companion may ask for them.
    fn held<'a>(&self, asked: &Options, case: &Case<'a>) -> Result<MaybeOwned<'a>, Failed> {
        let held = case.recording.held(asked.max_memory, case.limits)?;
        match &self.settings.companion {
            Some(_) => Ok(MaybeOwned::Owned(held.with_ends(case.limits)?)),
            None => Ok(MaybeOwned::Borrowed(held)),
        }
    }

    /// Gives the constants that a recording feeds their values, and links. That is done once if nothing depends on the
    /// recording.
    fn link(&self, held: &Held, watch: &[String], limits: &dyn Limits) -> Result<Arc<Linked>, Failed> {
        let mut harvest = Harvest::new(&self.settings, &self.parts.module);
        if harvest.is_idle() && watch.is_empty() {
            if let Some(linked) = self.linked.get() {
                return Ok(linked.clone());
            }
            let linked = Arc::new(self.link_with(harvest, watch)?);
            return Ok(self.linked.get_or_init(|| linked).clone());
        }
        let processes = held.processes();
        if !harvest.is_idle() {
            held.for_each(limits, Stage::Reading, |op| {
                harvest.add(op, &processes[op.process.index()]);
                Ok(())
            })?;
        }
        Ok(Arc::new(self.link_with(harvest, watch)?))
    }

    fn link_with(&self, harvest: Harvest, watch: &[String]) -> Result<Linked, Failed> {
        let mut parts = self.parts.clone();
        let given = harvest.give(&mut parts.module, &mut parts.config);
        let complaint = |problem: &Problem| Complaint::of_problem(&parts.module.sources, problem);
        let given = given.map_err(|problems| Failed::Spec(problems.iter().map(complaint).collect()))?;
        let config = parts.config.clone();
        let options = tla::program::Options { skip_properties: true, ..tla::program::Options::default() };
        let expressions: Vec<&str> = watch.iter().chain(self.settings.tags.values()).map(String::as_str).collect();
        let mut loaded = parts.link(options, &expressions).map_err(Failed::Spec)?;
        let tags = self.settings.tags.keys().cloned().zip(loaded.expressions.split_off(watch.len())).collect();
        Ok(Linked { given, config, loaded, tags })
    }

    /// Checks one recording.
    pub fn check(&self, asked: &Options, case: &mut Case<'_>) -> Result<Report, Failed> {
        Against::check(self, asked, case, None)
    }

    /// Does something else with a recording that is bound to the specification than to search for an order.
    pub fn with_bound<R>(
        &self,
        asked: &Options,
        case: &Case<'_>,
        work: impl FnOnce(&Bound<'_, '_>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let held = &*self.held(asked, case)?;
        let linked = self.link(held, &[], case.limits)?;
        let run = Run { asked, label: case.label, limits: case.limits, held, linked: &linked };
        run.with_spec(&self.settings, |spec, history, _| {
            work(&Bound { run: &run, spec, history, config: &linked.config })
        })
    }

    /// Commands that lead further.
    fn next(&self, asked: &Options, recording: &Recording, report: &Report) -> Vec<report::Command> {
        let Some(path) = recording.path() else { return Vec::new() };
        if !matches!(report.verdict, Verdict::Rejected(_)) {
            return Vec::new();
        }
        let mut what = format!("{} {}", quoted(self.path.display()), quoted(path.display()));
        let files = [("--config", &asked.config), ("--settings", &asked.settings)];
        let files = files.into_iter().filter_map(|(option, file)| Some((option, file.as_ref()?)));
        for (option, file) in files.chain(asked.includes.iter().map(|include| ("--include", include))) {
            let _ = write!(what, " {option} {}", quoted(file.display()));
        }
        if asked.criterion != Criterion::LINEARIZABLE {
            what.push_str(" --order program");
        }
        let command = |what: &str, line: String| report::Command { what: what.into(), line };
        if !asked.assume.is_empty() {
            for assumption in &asked.assume {
                let _ = write!(what, " --assume {}", quoted(assumption));
            }
            // Nobody else knows of assumptions.
            return vec![command("all of it", format!("omnilink explain {what}"))];
        }
        vec![
            command("all of it", format!("omnilink explain {what}")),
            command("look at it", format!("omnilink view {what}")),
            command("ask TLC", format!("omnilink confirm {what} --tlc tla2tools.jar")),
        ]
    }
}

impl Against for Tla {
    fn name(&self) -> &str {
        self.path.to_str().unwrap_or_default()
    }

    fn check(
        &self,
        asked: &Options,
        case: &mut Case<'_>,
        sight: Option<(&mut Sight, &Look)>,
    ) -> Result<Report, Failed> {
        let watch = sight.as_ref().map_or(&[][..], |(_, look)| &look.watch);
        let held = &*self.held(asked, case)?;
        let linked = &*self.link(held, watch, case.limits)?;
        let run = Run { asked, label: case.label, limits: case.limits, held, linked };
        let streamed = match held {
            Held::Stream(stream) if case.witness.is_none() && sight.is_none() && self.may_stream(asked, stream) => {
                run.check_stream(&self.settings, stream)?
            }
            _ => None,
        };
        let mut report = match streamed {
            Some(report) => report,
            None => run.check(&self.settings, &mut case.witness, sight)?,
        };
        report.spec.name = self.path.display().to_string();
        let program = &linked.loaded.program;
        let shown = |value: &tla::value::Value| value.display(&program.module.strings).to_string();
        let constants = linked.given.iter().map(|(name, value)| Field { name: name.clone(), value: shown(value) });
        report.spec.constants = constants.collect();
        report.next = self.next(asked, case.recording, &report);
        report.notes.extend(misnamed(program));
        Ok(report)
    }

    fn walk(&self, asked: &Options, case: &Case<'_>, shown: &mut Shown, look: &Look) -> Result<(), Failed> {
        let held = &*self.held(asked, case)?;
        let linked = self.link(held, &look.watch, case.limits)?;
        let run = Run { asked, label: case.label, limits: case.limits, held, linked: &linked };
        let Shown { timeline, way, .. } = shown;
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
        files.extend(self.settings_file.clone().map(|path| (path, settings::FILE_NAME.to_owned())));
        files
    }

    fn operations(&self, asked: &Options, recording: &Recording) -> Result<Vec<String>, Failed> {
        let held = recording.held(asked.max_memory, &Unlimited)?;
        Ok(operations(&self.settings, &self.link(held, &[], &Unlimited)?.loaded.program))
    }

    fn tla(&self) -> Option<&Tla> {
        Some(self)
    }
}

/// What TLC has against the name of the file, if anything.
fn misnamed(program: &Program) -> Option<String> {
    let (_, root) = program.module.sources.iter().next()?;
    let stem = Path::new(&root.name).file_stem()?.to_string_lossy();
    let misnamed = Complaint::of_file_name(program, &stem)?;
    Some(format!("{}; {}", misnamed.message, misnamed.help.unwrap_or_default()))
}

/// A specification with values for its constants, ready to be checked against.
#[derive(Debug)]
struct Linked {
    /// Constants that got their values from a recording.
    given: Vec<(String, tla::value::Value)>,
    config: tla::config::Config,
    loaded: Loaded,
    /// The names of known failures, and how to know them.
    tags: Vec<(String, DefId)>,
}

/// What was recorded: as it is, or with something added.
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

/// A recording that is bound to a specification.
pub struct Bound<'a, 'p> {
    run: &'a Run<'a>,
    /// The specification.
    pub spec: &'a TraceSpec<'p>,
    /// The operations, bound.
    pub history: &'a History<TraceOp>,
    /// The configuration, with the constants that the recording gave.
    pub config: &'a tla::config::Config,
}

impl Bound<'_, '_> {
    /// These operations as they were recorded, in the same order.
    pub fn describe(&self, ids: &[OpId]) -> Result<Vec<report::Operation>, Failed> {
        Ok(self.run.held.describe(ids)?)
    }

    /// What is wrong with the recording.
    pub fn wrong(&self, problems: &[Problem]) -> Failed {
        self.run.wrong(problems)
    }

    /// What could not be evaluated.
    pub fn failed(&self, error: NoAnswer) -> Failed {
        self.run.failed(error)
    }
}

/// One recording, one program.
struct Run<'a> {
    asked: &'a Options,
    label: &'a str,
    limits: &'a dyn Limits,
    held: &'a Held,
    linked: &'a Linked,
}

impl Run<'_> {
    fn program(&self) -> &Program {
        &self.linked.loaded.program
    }

    fn check(
        &self,
        settings: &Settings,
        witness_file: &mut Option<&mut dyn Write>,
        mut sight: Option<(&mut Sight, &Look)>,
    ) -> Result<Report, Failed> {
        let (limits, options) = (self.limits, self.options());
        let own_order = self.asked.own_order(settings.order_by.as_deref());
        let mut teller = Teller::default();
        let (operations, cuts, checked, verdict, tagged, coverage, misfit) =
            self.with_spec(settings, |spec, history, cuts| {
                let places = history.ops().last().filter(|_| sight.is_some()).map_or(0, |op| op.id.index() + 1);
                let mut widths = Widths { limits, widths: vec![0; places] };
                let (followed, misfit) = match own_order.map(|field| self.follow(spec, history, field)).transpose()? {
                    Some(Ok(witness)) => (Some(Checked::in_given_order(witness)), None),
                    Some(Err(misfit)) => (None, Some(misfit.map_state(|state| shown(spec, &state)))),
                    None => (None, None),
                };
                let checked = match followed {
                    Some(followed) => followed,
                    None => {
                        validate::check(spec, history, &options, &mut widths).map_err(|error| self.failed(error))?
                    }
                };
                let mut watch = |_: &Stats| limits.exceeded();
                limits.reached(Stage::Explaining, 0);
                let verdict = self.verdict(spec, history, &options, &checked, &mut watch, &mut teller)?;
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
                    true => Some(validate::coverage(spec, history, &checked).map_err(|error| self.failed(error))?),
                    false => None,
                };
                if let Some((sight, look)) = &mut sight {
                    sight.timeline = self.timeline()?;
                    sight.timeline.widths = widths.widths;
                    sight.timeline.widths.resize(sight.timeline.operations.len(), 0);
                    sight.timeline.actions = operations(settings, self.program());
                    sight.keep(Way {
                        route: checked.route(MOST_ENDINGS),
                        ignores_invariants: checked.ignores_invariants(),
                    });
                    match self.walk(spec, history, &sight.way, look, &mut sight.timeline) {
                        // The verdict stands, whatever there is time to show.
                        Err(Failed::Stopped(stop)) => {
                            tagged.notes.push(format!("no states on the way are shown: {stop}"))
                        }
                        walked => walked?,
                    }
                }
                Ok((history.ops().len(), cuts, checked, verdict, tagged, coverage, misfit))
            })?;
        if let (Some(file), Outcome::Accepted(witness)) = (witness_file, &checked.outcome) {
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
        let stats = crate::stats(&checked.stats, &method, &mut |id| teller.op(id));
        if let Some((sight, _)) = sight {
            sight.timeline.mentioned = places(teller.mentioned());
        }
        let report = self.report(operations, &cuts, verdict, stats, &teller)?;
        Ok(Report { notes, tags: tagged.tags, coverage, ..report })
    }

    /// What is the same in all reports.
    fn report(
        &self,
        operations: usize,
        cuts: &[Cut],
        verdict: Verdict,
        stats: report::Stats,
        teller: &Teller,
    ) -> Result<Report, Failed> {
        Ok(Report {
            schema: report::SCHEMA.into(),
            history: report::History {
                name: self.label.into(),
                operations: Some(operations as u64),
                processes: self.held.processes().len(),
                cuts: crate::cuts(cuts),
            },
            spec: report::Spec { name: String::new(), constants: Vec::new() },
            order: crate::order(self.asked.criterion),
            verdict,
            operations: self.held.describe(teller.mentioned())?,
            sources: teller.sources(self.program()),
            stats,
            assumed: crate::assumed(self.asked),
            notes: Vec::new(),
            tags: Vec::new(),
            coverage: None,
            next: Vec::new(),
        })
    }

    /// Looks for an order while the recording is read. None if there is no order: only the whole history says why.
    fn check_stream(&self, settings: &Settings, stream: &Stream) -> Result<Option<Report>, Failed> {
        let (processes, options) = (self.held.processes(), self.options());
        let mut watch = |stats: &Stats| self.limits.look(stats);
        let (operations, cuts, checked) = self.with_machine(settings, |spec| {
            let (operations, cuts) = self.bind_each(spec, |_| ())?;
            let ops = || Ok(stream.merge()?.map(|op| op.map_err(|error| Failed::Input(error.into()))));
            let checked =
                validate::check_stream(spec, processes, ops, &options, &mut watch, |error| self.failed(error))?;
            Ok((operations, cuts, checked))
        })?;
        let verdict = match checked.verdict {
            history::Verdict::Accepted(_) => Verdict::Accepted,
            history::Verdict::Inconclusive(stop) => crate::inconclusive(stop, stop.to_string()),
            history::Verdict::Rejected(_) => return Ok(None),
        };
        let mut teller = Teller::default();
        let stats = crate::stats(&checked.stats, "searched as a stream", &mut |id| teller.op(id));
        Ok(Some(self.report(operations, &cuts, verdict, stats, &teller)?))
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
        let mut tape = Tape::new(self.held.processes());
        self.limits.reached(Stage::Showing, 0);
        // The verdict is known, and the history is needed to show anything of it.
        self.held.for_each(&Unlimited, Stage::Showing, |op| {
            tape.add(op);
            Ok(())
        })?;
        Ok(tape.finish())
    }

    /// Shows the states that a way goes through, with the values of expressions in each.
    fn walk(
        &self,
        spec: &mut TraceSpec<'_>,
        history: &History<TraceOp>,
        way: &Way,
        look: &Look,
        timeline: &mut Timeline,
    ) -> Result<(), Failed> {
        let expressions = &self.linked.loaded.expressions;
        let Way { route, ignores_invariants } = way;
        let walked = validate::walk(spec, history, route, *ignores_invariants, look.until, look.states);
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

    /// Binds the recording to the specification, and works with both while somebody looks at the limits.
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

    /// Works with the specification while somebody looks at the limits.
    fn with_machine<R>(
        &self,
        settings: &Settings,
        work: impl FnOnce(&mut TraceSpec<'_>) -> Result<R, Failed>,
    ) -> Result<R, Failed> {
        let stop = Arc::new(Stopper::default());
        let world = Outside::until(self.asked.print, stop.clone()).foreign(self.asked.is_foreign);
        let done = guarded(self.limits, &stop, || {
            let mut machine = Machine::new(self.program(), Box::new(world));
            let binder = Binder::new(self.program(), &self.linked.config, settings, &mut machine)
                .map_err(|problems| self.wrong(&problems))?;
            work(&mut TraceSpec::new(binder, machine))
        });
        match (done, stop.limit()) {
            // What could not be evaluated in time is not wrong, and memory may be free again by now.
            (Err(Failed::Spec(_) | Failed::Stopped(_)), Some(limit)) => Err(Failed::Stopped(world::stop(limit))),
            (done, _) => done,
        }
    }

    fn options(&self) -> search::Options {
        crate::search_options(self.asked, self.asked.shortcuts && !self.asked.exhaustive)
    }

    /// The verdict, with all that there is to say about it.
    fn verdict(
        &self,
        spec: &TraceSpec<'_>,
        history: &History<TraceOp>,
        options: &search::Options,
        checked: &Checked,
        watch: &mut dyn Watch,
        teller: &mut Teller,
    ) -> Result<Verdict, Failed> {
        let stuck = match &checked.outcome {
            Outcome::Accepted(_) => return Ok(Verdict::Accepted),
            Outcome::Inconclusive(stop) => return Ok(crate::inconclusive(*stop, stop.to_string())),
            Outcome::Violated(stuck, broken) => {
                let rejection = validate::explain_violation(spec, history, options, stuck, broken, teller);
                return Ok(Verdict::Rejected(Box::new(rejection)));
            }
            Outcome::Rejected(stuck) => stuck,
        };
        self.name(&stuck.blocked, teller)?;
        let rejection = validate::explain(spec, history, options, stuck, &checked.checkpoint, watch, teller);
        Ok(Verdict::Rejected(Box::new(rejection)))
    }

    /// What a verdict rests on that a reader may not expect.
    fn notes(&self, outcome: &Outcome) -> Vec<String> {
        let mut notes = crate::assumed_notes(self.asked);
        if self.program().view.is_some() && outcome.stuck().is_some() {
            notes.push(
                "states with the same VIEW were taken for one; if it hides what matters, this is wrong".to_owned(),
            );
        }
        notes
    }

    /// Looks up how the operations are called that a sentence will speak of.
    fn name(&self, blocked: &[OpId], teller: &mut Teller) -> Result<(), Failed> {
        for (&id, op) in blocked.iter().zip(self.held.describe(blocked)?) {
            teller.name(id, format!("{} {} {}", op.name, op.text, op.interval()));
        }
        Ok(())
    }

    fn wrong(&self, problems: &[Problem]) -> Failed {
        let complaint = |problem: &Problem| Complaint::of_problem(&self.program().module.sources, problem);
        Failed::Spec(problems.iter().map(complaint).collect())
    }

    /// The specification could not be evaluated: says for which operation, and in which state.
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

    /// What is assumed, in terms of numbers.
    fn assumed(&self, history: &History<TraceOp>) -> Result<Vec<search::Assumption<String>>, Failed> {
        let mut wanted = Wanted::new(&self.asked.assume, self.held.processes());
        history.ops().iter().for_each(|op| wanted.see(op));
        Ok(wanted.resolve()?)
    }

    /// Binds every operation, and collects what is wrong. Says how many steps there are, and where the recording breaks off.
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
                Err(more) => problems.extend(more),
            }
            if problems.len() >= MOST_PROBLEMS { Err(Failed::Spec(Vec::new())) } else { Ok(()) }
        });
        if !problems.is_empty() {
            return Err(self.wrong(&problems));
        }
        Ok((count, cuts?))
    }
}

/// A state on one line.
fn shown(spec: &TraceSpec<'_>, state: &TraceState) -> String {
    let variables = spec.show(&state.values).variables;
    variables.iter().map(|field| format!("{} = {}", field.name, field.value)).collect::<Vec<_>>().join(", ")
}

/// The operations that recordings may have, by the names that they are recorded under.
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

/// The known failures that one is like, and what there is to say about that.
#[derive(Default)]
struct Tagged {
    tags: Vec<String>,
    notes: Vec<String>,
}

/// Looks whether a failure is one of those that are known.
fn tagged(spec: &TraceSpec<'_>, outcome: &Outcome, tags: &[(String, DefId)]) -> Tagged {
    let mut tagged = Tagged::default();
    let Some(stuck) = outcome.stuck() else { return tagged };
    for (tag, definition) in tags {
        let values: Result<Vec<String>, _> =
            stuck.stuck.iter().map(|stuck| spec.evaluate(*definition, &stuck.state.values)).collect();
        match values {
            Ok(values) if !values.is_empty() && values.iter().all(|value| value == "TRUE") => {
                tagged.tags.push(tag.clone());
                tagged.notes.push(format!("this is known as `{tag}`"));
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

/// Without a configuration, a specification is what it is mostly called.
fn assume_behavior(parts: &mut Parts) {
    let named = |name: &str| {
        let is_defined = parts.module.names.contains_key(name);
        is_defined.then(|| Name { text: name.to_owned(), span: Span::default() })
    };
    let (init, next, spec) = (named("Init"), named("Next"), named("Spec"));
    match (init, next) {
        (Some(init), Some(next)) => (parts.config.init, parts.config.next) = (Some(init), Some(next)),
        _ => parts.config.specification = spec,
    }
}

/// Looks at a search, and notes how wide it was at each return.
struct Widths<'a> {
    limits: &'a dyn Limits,
    /// One for each operation.
    widths: Vec<u32>,
}

impl Watch for Widths<'_> {
    fn look(&mut self, stats: &Stats) -> Option<Stop> {
        self.limits.look(stats)
    }

    fn returned(&mut self, op: OpId, width: usize) {
        if let Some(known) = self.widths.get_mut(op.index()) {
            *known = u32::try_from(width).unwrap_or(u32::MAX);
        }
    }
}
