//! Checks histories against a specification in Rust: a built-in one, or the user's own.

mod evidence;

use std::fmt::{self, Debug, Formatter};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use omnilink_history::{Call, Cut, History, Op, OpId, Stop, Value, Verdict};
use omnilink_models::check::{Assumed, Checked, Error, Failure, MOST_SHOWN, Method, ModelOptions, Watcher};
use omnilink_models::digits::find_after;
use omnilink_models::level::LevelOptions;
use omnilink_models::smallest::{Part, smallest};
use omnilink_models::{BadModel, Chosen, Model, Visitor};
use omnilink_report::{Coverage, CoveredAction, Field, Keys, Mentions, RejectedKey, Report, Timeline};
use omnilink_search::{Assumption, Misfit, Route, Spec, Stats, Stretch, check_stretch};

use crate::follow_up;
use crate::input::InputError;
use crate::keys::{self, Carried, CheckedKey, Key};
use crate::mixed;
use crate::own_order;
use crate::parts;
use crate::recording::{Held, Recording, Stream, Whole};
use crate::show::{
    AssumptionResolver, Inspection, MOST_ENDINGS, ShowBuilder, ShowOptions, TimelineBuilder, Way, places,
};
use crate::{Against, Case, Failed, Limits, Stage, level};
use omnilink_weak::Class;

use self::evidence::stuck;

/// A specification in Rust.
#[derive(Debug)]
pub(crate) struct Builtin {
    name: String,
    choice: Box<dyn Choice>,
    /// The file that it was read from, if it was.
    file: Option<PathBuf>,
    /// Whether texts of digits are numbers.
    reads_digits: bool,
}

/// A model of a type that only the implementor knows.
trait Choice: Debug + Send + Sync {
    fn check(&self, check: Check<'_, '_>) -> Result<Report, Failed>;
    fn walk(&self, walk: Walk<'_>) -> Result<(), Failed>;
    fn check_key(&self, check: KeyCheck<'_, '_>) -> Result<CheckedKey, Failed>;
    fn settled(&self, settling: Settling<'_>) -> Option<Value>;
    fn check_level(&self, history: &History<Call>, options: &LevelOptions, watcher: &dyn Watcher) -> LevelResult;
}

type LevelResult = Result<omnilink_models::level::Checked, Error>;

impl Choice for Chosen {
    fn check(&self, check: Check<'_, '_>) -> Result<Report, Failed> {
        self.visit(check)
    }

    fn walk(&self, walk: Walk<'_>) -> Result<(), Failed> {
        Ok(self.visit(walk)?)
    }

    fn check_key(&self, check: KeyCheck<'_, '_>) -> Result<CheckedKey, Failed> {
        self.visit(check)
    }

    fn settled(&self, settling: Settling<'_>) -> Option<Value> {
        self.visit(settling)
    }

    fn check_level(&self, history: &History<Call>, options: &LevelOptions, watcher: &dyn Watcher) -> LevelResult {
        omnilink_models::level::check_chosen(self, history, options, watcher)
    }
}

/// The user's own model, created for each check.
struct Own<F>(F);

impl<F> Debug for Own<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Own").finish_non_exhaustive()
    }
}

impl<M: Model, F: Fn() -> M + Send + Sync> Choice for Own<F> {
    fn check(&self, check: Check<'_, '_>) -> Result<Report, Failed> {
        check.visit((self.0)())
    }

    fn walk(&self, walk: Walk<'_>) -> Result<(), Failed> {
        Ok(walk.visit((self.0)())?)
    }

    fn check_key(&self, check: KeyCheck<'_, '_>) -> Result<CheckedKey, Failed> {
        check.visit((self.0)())
    }

    fn settled(&self, settling: Settling<'_>) -> Option<Value> {
        settling.visit((self.0)())
    }

    fn check_level(&self, history: &History<Call>, options: &LevelOptions, watcher: &dyn Watcher) -> LevelResult {
        omnilink_models::level::check(&(self.0)(), history, options, watcher)
    }
}

impl Builtin {
    pub(crate) fn find(name: &str) -> Result<Builtin, InputError> {
        let help = Some("`omnilink specs` lists the specifications and their options".into());
        let chosen: Chosen = name.parse().map_err(|error: BadModel| InputError { message: error.to_string(), help })?;
        let reads_digits = chosen.reads_digits();
        Ok(Builtin { name: name.to_owned(), choice: Box::new(chosen), file: None, reads_digits })
    }

    /// A specification of the user's own.
    pub(crate) fn own<M: Model>(name: &str, model: impl Fn() -> M + Send + Sync + 'static) -> Builtin {
        Builtin { name: name.to_owned(), choice: Box::new(Own(model)), file: None, reads_digits: false }
    }

    /// A specification that was read from a file, and has its name.
    pub(crate) fn of_file<M: Model>(path: &Path, model: impl Fn() -> M + Send + Sync + 'static) -> Builtin {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Builtin { file: Some(path.to_owned()), ..Builtin::own(&name, model) }
    }

    /// Checks the operations of one key.
    pub(crate) fn check_key(&self, asked: &crate::CheckOptions, key: Key<'_>) -> Result<CheckedKey, Failed> {
        let is_plain = asked.is_linearizable() && !asked.exhaustive && asked.assume.is_empty();
        if !is_plain || asked.own_order(None).is_some() {
            return keys::check_whole(self, asked, key);
        }
        self.choice.check_key(KeyCheck { asked, against: self, key })
    }

    /// Whether operations keep the argument of this name that says which object they are about.
    pub(crate) fn takes_key(&self, name: &str) -> bool {
        let about = omnilink_models::names().iter().find(|about| Some(about.name) == self.name.split(':').next());
        about.is_none_or(|about| about.takes_key && name == "key")
    }

    /// Whether texts of digits are numbers.
    pub(crate) fn reads_digits(&self) -> bool {
        self.reads_digits
    }

    /// The state after an operation, if it does not depend on the state before.
    pub(crate) fn settled(&self, op: &Op<Call>) -> Option<Value> {
        self.choice.settled(Settling(op))
    }
}

impl Against for Builtin {
    fn check(
        &self,
        asked: &crate::CheckOptions,
        case: &mut Case<'_>,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let Case { recording, label, limits, .. } = *case;
        let held = recording.held(asked.max_memory, limits)?;
        let witness = &mut case.witness;
        let (spec, misfit) = (&self.name, None);
        let mut check = Check { asked, spec, label, recording, held, limits, witness, builder, misfit };
        if asked.level().class() != Class::Strong {
            return check.check_level(&*self.choice);
        }
        self.choice.check(check)
    }

    fn builtin(&self) -> Option<&Builtin> {
        Some(self)
    }

    fn named(&self) -> Option<follow_up::Named<'_>> {
        // A specification that a program brings along cannot be named on a command line.
        let name = self.name.split(':').next().unwrap_or_default();
        omnilink_models::names().iter().any(|about| about.name == name).then_some(follow_up::Named::Builtin(&self.name))
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn files(&self) -> Vec<(PathBuf, String)> {
        self.file.iter().map(|path| (path.clone(), self.name.clone())).collect()
    }

    fn walk(
        &self,
        asked: &crate::CheckOptions,
        case: &Case<'_>,
        shown: &mut Inspection,
        look: &ShowOptions,
    ) -> Result<(), Failed> {
        let Whole { history, .. } = case.recording.held(asked.max_memory, case.limits)?.whole(case.limits)?;
        let walk = Walk { asked, history, way: &shown.way, look, timeline: &mut shown.timeline };
        self.choice.walk(walk)
    }
}

/// Counts operations by name, if requested.
struct CoverageCounter {
    coverage: Option<Coverage>,
    operations: &'static [omnilink_models::Operation],
    /// True if the specification does not list its operations.
    is_open: bool,
}

impl CoverageCounter {
    fn new(spec: &str, is_wanted: bool) -> CoverageCounter {
        let name = spec.split_once(':').map_or(spec, |(name, _)| name);
        let about = omnilink_models::names().iter().find(|about| about.name == name);
        let operations = about.map_or(&[][..], |about| about.operations);
        let actions = operations.iter().map(|operation| action(operation.name(), 0)).collect();
        let coverage = is_wanted.then(|| Coverage { actions, ..Coverage::default() });
        CoverageCounter { coverage, operations, is_open: about.is_none() }
    }

    fn add(&mut self, op: &Op<Call>) {
        let Some(coverage) = &mut self.coverage else { return };
        coverage.operations += 1;
        coverage.relevant += u64::from(!op.call.failed);
        let name = op.call.action();
        let known = self.operations.iter().find(|known| known.aliases.contains(&name));
        let name = known.map_or(name, |known| known.name());
        match coverage.actions.iter_mut().find(|action| action.name == name) {
            Some(action) => action.operations += 1,
            None if self.is_open => coverage.actions.push(action(name, 1)),
            None => {}
        }
    }
}

/// An action with this many operations.
fn action(name: &str, operations: u64) -> CoveredAction {
    CoveredAction { name: name.to_owned(), operations, steps: 0, is_internal: false, parts: Vec::new() }
}

/// Shows the states that a route passes through.
struct Walk<'a> {
    asked: &'a crate::CheckOptions,
    history: &'a History<Call>,
    way: &'a Way,
    look: &'a ShowOptions,
    timeline: &'a mut Timeline,
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
fn state_of(shown: String) -> omnilink_report::State {
    omnilink_report::State::new(vec![Field { name: String::new(), value: shown }])
}

/// The assumptions, with operation numbers and with states as rendered by the model.
fn assumed<M: Model>(
    model: &M,
    asked: &crate::CheckOptions,
    history: &History<Call>,
) -> Result<Vec<Assumed>, InputError> {
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

/// Checks the operations of one key as they come in.
struct KeyCheck<'a, 'k> {
    asked: &'a crate::CheckOptions,
    against: &'a Builtin,
    key: Key<'k>,
}

impl Visitor for KeyCheck<'_, '_> {
    type Output = Result<CheckedKey, Failed>;

    fn visit<M: Model>(self, model: M) -> Self::Output {
        let KeyCheck { asked, against, key } = self;
        let Key { label, ops, begin, cut, limits } = key;
        let wrong = |message: &str| InputError::new(format!("`{}`: {message}", against.name));
        let load = |saved: &Value| {
            model.load(saved).ok_or_else(|| wrong("a carried state is not a state of this specification"))
        };
        let states: Option<Vec<M::State>> =
            begin.map(|saved| saved.iter().map(load).collect::<Result<_, _>>()).transpose()?;
        let next = || -> Result<_, Failed> {
            let Some(op) = ops.next()? else { return Ok(None) };
            Ok(Some(op.with(bound(&model, ops.processes(), &op)?)))
        };
        let watch = &mut |stats: &Stats| limits.poll(stats);
        let options = crate::search_options(asked, true);
        let Stretch { report, operations, cut: after } =
            check_stretch(&model, states, cut, next, &options, watch, |error| Error::from(error).into())?;
        if model.atoms().has_digits()
            && let Some(again) = ops.again()?
        {
            let again = again.into_iter().map(Ok::<_, Failed>);
            let found = find_after(&model, begin.unwrap_or_default(), ops.processes(), again)?;
            if let Some(found) = found {
                return Err(mixed::refused(found.into(), None, &against.name).into());
            }
        }
        if report.verdict.is_accepted() {
            let save = |state: &M::State| model.save(state).ok_or_else(|| wrong("its states cannot be carried"));
            let saved = |after: omnilink_search::Cut<M::State>| -> Result<Carried, InputError> {
                let states = after.states.iter().map(save).collect::<Result<_, _>>()?;
                Ok(Carried { states, since: after.since })
            };
            return Ok(CheckedKey::accepted(operations, after.map(saved).transpose()?));
        }
        let checked = Checked::of_search(&model, report);
        let Some(again) = ops.again()? else {
            return Ok(CheckedKey::without_report(&checked.verdict, operations));
        };
        let history = History::from_ops(ops.processes().into(), again);
        let recording = Recording::of(history);
        // A procedure may decide what the search could not.
        let is_wide = matches!(checked.verdict, Verdict::Inconclusive(Stop::Width));
        if is_wide && begin.is_none() && cut.is_none() && asked.shortcuts && model.has_procedure() {
            let case = &mut Case { recording: &recording, label, witness: None, limits };
            return Ok(CheckedKey::of(against.check(asked, case, None)?, operations, None));
        }
        let held = recording.held(u64::MAX, limits)?;
        let (spec, witness) = (&*against.name, &mut None);
        let (recording, builder, misfit) = (&recording, None, None);
        let check = Check { asked, spec, label, recording, held, limits, witness, builder, misfit };
        Ok(CheckedKey::of(check.report(&checked, Some(operations), &[], None)?.0, operations, None))
    }
}

/// Finds the state after an operation, if it does not depend on the state before.
struct Settling<'a>(&'a Op<Call>);

impl Visitor for Settling<'_> {
    type Output = Option<Value>;

    fn visit<M: Model>(self, model: M) -> Self::Output {
        // A call that does not fit the specification settles nothing; the check says why.
        let op = model.bind(self.0).ok().flatten();
        op.and_then(|op| model.settled(&op)).and_then(|state| model.save(&state))
    }
}

/// Checks one trace against the chosen model.
struct Check<'a, 'w> {
    asked: &'a crate::CheckOptions,
    spec: &'a str,
    label: &'a str,
    recording: &'a Recording,
    held: &'a Held,
    limits: &'a dyn Limits,
    witness: &'a mut Option<&'w mut dyn Write>,
    builder: Option<(&'a mut ShowBuilder, &'a ShowOptions)>,
    /// Why the system's own order could not be followed, if it was tried.
    misfit: Option<Misfit<String>>,
}

impl Visitor for Check<'_, '_> {
    type Output = Result<Report, Failed>;

    fn visit<M: Model>(mut self, model: M) -> Self::Output {
        let Held::Stream(stream) = self.held else { return self.check_whole(&model) };
        if let Some(field) = self.asked.own_order(None)
            && !self.needs_whole()
            && let Some(report) = self.follow_stream(&model, stream, field)?
        {
            return Ok(report);
        }
        match self.is_stream(&model, stream)? {
            true => self.check_stream(&model, stream),
            false => self.check_whole(&model),
        }
    }
}

/// The number of operations examined to see whether a history splits into parts.
const LOOKED_AT: usize = 1 << 16;

impl Check<'_, '_> {
    /// True if the whole history in memory would be of no use.
    fn is_stream<M: Model>(&self, model: &M, stream: &Stream) -> Result<bool, InputError> {
        if !self.asked.is_linearizable() || self.asked.exhaustive || self.needs_whole() {
            return Ok(false);
        }
        if !self.asked.shortcuts || model.has_procedure() {
            return Ok(!self.asked.shortcuts);
        }
        for op in stream.merge()?.take(LOOKED_AT) {
            let op = op?;
            let bound = bound(model, self.held.processes(), &op).map_err(|error| self.refused(error))?;
            if bound.is_some_and(|op| model.partition(&op).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if an option needs the whole history in memory.
    fn needs_whole(&self) -> bool {
        self.witness.is_some() || self.builder.is_some() || !self.asked.assume.is_empty()
    }

    /// Follows the system's own order through segments. Returns the report if that decides the history.
    fn follow_stream<M: Model>(&mut self, model: &M, stream: &Stream, field: &str) -> Result<Option<Report>, Failed> {
        let mut merge = stream.merge()?;
        let processes = self.held.processes();
        let (recording, spec) = (self.recording, self.spec);
        let (mut operations, mut seen) = (0, CoverageCounter::new(spec, self.asked.coverage));
        let ops = merge.by_ref().map(|op| {
            let op = op.map_err(InputError::from)?;
            operations += 1;
            seen.add(&op);
            Ok(ranked(model, processes, &op, field).map_err(|error| mixed::refused(error, Some(recording), spec))?)
        });
        let Some(checked) = self.follow(model, field, ops, false)? else { return Ok(None) };
        self.refuse_mixed(model, stream)?;
        let (mut report, _) = self.report(&checked, Some(operations), merge.cuts(), None)?;
        report.coverage = seen.coverage;
        Ok(Some(report))
    }

    /// Follows the system's own order, if it has one that was not tried before. Returns the result if that decides the
    /// history.
    fn follow_whole<M: Model>(&mut self, model: &M, history: &History<Call>) -> Result<Option<Checked>, Failed> {
        let Some(field) = self.asked.own_order(None).filter(|_| self.misfit.is_none()) else { return Ok(None) };
        let (recording, spec) = (self.recording, self.spec);
        let refused = |error| mixed::refused(error, Some(recording), spec);
        let ops = history.ops().iter().map(|op| Ok(ranked(model, history.processes(), op, field).map_err(refused)?));
        self.follow(model, field, ops, true)
    }

    /// Follows the system's own order, and stores the reason if that is not possible.
    fn follow<M: Model>(
        &mut self,
        model: &M,
        field: &str,
        ops: impl Iterator<Item = Result<Ranked<M>, Failed>>,
        keeps_witness: bool,
    ) -> Result<Option<Checked>, Failed> {
        let followed = own_order::follow(model, field, ops, keeps_witness, self.limits, |never| match never {})?;
        let followed = followed.map_err(|misfit| self.misfit = Some(misfit.map_state(|state| model.show(&state))));
        Ok(followed.ok().map(Checked::in_given_order))
    }

    fn check_stream<M: Model>(&self, model: &M, stream: &Stream) -> Result<Report, Failed> {
        let mut merge = stream.merge()?;
        let processes = self.held.processes();
        let (mut operations, mut seen) = (0, CoverageCounter::new(self.spec, self.asked.coverage));
        let counted = merge.by_ref().map(|op| op.map_err(|error| Unread::Input(error.into()))).inspect(|op| {
            operations += 1;
            op.iter().for_each(|op| seen.add(op));
        });
        let watcher = |stats: &Stats| self.limits.poll(stats);
        let checked = omnilink_models::check::check_stream(model, processes, counted, &self.options().search, &watcher);
        let checked = checked.map_err(|unread| match unread {
            Unread::Input(error) => error,
            Unread::Refused(error) => self.refused(error),
        })?;
        self.refuse_mixed(model, stream)?;
        // A verdict may come before the end. The rest is still read, so that damage there is not missed; but not if
        // time or memory ran out before the verdict.
        let mut is_whole = !matches!(checked.verdict, Verdict::Inconclusive(_));
        while is_whole && let Some(op) = merge.next() {
            seen.add(&op.map_err(InputError::from)?);
            operations += 1;
            is_whole = self.limits.exceeded().is_none();
        }
        let operations = is_whole.then_some(operations);
        let mut report = self.report(&checked, operations, merge.cuts(), None)?.0;
        if !is_whole && !matches!(checked.verdict, Verdict::Inconclusive(_)) {
            report.notes.push("the rest of the trace was not read: a limit was reached".into());
        }
        report.coverage = seen.coverage;
        Ok(report)
    }

    fn check_whole<M: Model>(&mut self, model: &M) -> Result<Report, Failed> {
        let Whole { history, cuts, .. } = self.held.whole(self.limits)?;
        self.limits.reached(Stage::Deciding, history.ops().len() as u64);
        let count = if self.builder.is_some() { history.ops().len() } else { 0 };
        let watcher = SharedWidths { limits: self.limits, widths: (0..count).map(|_| AtomicU32::new(0)).collect() };
        let options = self.options();
        let followed = self.follow_whole(model, history)?;
        let checked = match (followed, assumed(model, self.asked, history)?.as_slice()) {
            (Some(followed), _) => omnilink_models::check::refuse_mixed(model, history).map(|()| followed),
            (None, []) => omnilink_models::check::check(model, history, &options, &watcher),
            (None, assumed) => {
                omnilink_models::check::check_assuming(model, history, assumed, &options.search, &watcher)
            }
        };
        let checked = checked.map_err(|error| self.refused(error))?;
        if let (Some(file), Verdict::Accepted(witness)) = (&mut self.witness, &checked.verdict) {
            self.held.write_witness(file, self.label, witness)?;
        }
        let operations = history.ops().len() as u64;
        let part = match &checked.verdict {
            Verdict::Rejected(Failure::Stuck { explanation, .. })
                if self.asked.is_linearizable() && !self.asked.exhaustive && self.asked.assume.is_empty() =>
            {
                self.limits.reached(Stage::Explaining, operations);
                let blocked = explanation.blocked.first();
                // The operations of a part have other numbers, so widths are not stored, and the stage stays the same.
                let quiet = |_: &Stats| self.limits.exceeded();
                blocked.and_then(|&blocked| smallest(model, history, blocked, &options.search, &quiet))
            }
            _ => None,
        };
        let (mut report, mentioned) = self.report(&checked, Some(operations), cuts, part)?;
        let mut seen = CoverageCounter::new(self.spec, self.asked.coverage);
        history.ops().iter().for_each(|op| seen.add(op));
        report.coverage = seen.coverage;
        if let Some((builder, look)) = self.builder.take() {
            let mut timeline = TimelineBuilder::new(history.processes());
            history.ops().iter().for_each(|op| timeline.add(op));
            builder.timeline = timeline.finish();
            builder.timeline.mentioned = places(&mentioned);
            builder.timeline.widths = watcher.widths.into_iter().map(AtomicU32::into_inner).collect();
            builder.keep(way(&checked));
            self.limits.reached(Stage::Showing, operations);
            if let Method::Parts { all, .. } = checked.method
                && all > MOST_SHOWN
                && checked.verdict.is_accepted()
            {
                report.notes.push(format!("a state shows the key of the last step: there are {all} keys"));
            }
            let (way, timeline) = (&builder.way, &mut builder.timeline);
            Walk { asked: self.asked, history, way, look, timeline }.walk(model)?;
        }
        Ok(report)
    }

    fn refused(&self, error: Error) -> InputError {
        mixed::refused(error, Some(self.recording), self.spec)
    }

    /// Fails if numbers and texts with the same digits occur in the places of one thing.
    fn refuse_mixed<M: Model>(&self, model: &M, stream: &Stream) -> Result<(), InputError> {
        let found = omnilink_models::digits::find(model, self.held.processes(), stream.merge()?)?;
        found.map_or(Ok(()), |found| Err(self.refused(found.into())))
    }

    /// Checks at a level at which operations need not see everything before them.
    fn check_level(&mut self, choice: &dyn Choice) -> Result<Report, Failed> {
        level::refuse(self.asked, self.witness.is_some())?;
        let Whole { history, cuts, .. } = self.held.whole(self.limits)?;
        self.limits.reached(Stage::Deciding, history.ops().len() as u64);
        let options = LevelOptions {
            weak: level::options(self.asked),
            shortcuts: self.asked.shortcuts && !self.asked.exhaustive,
        };
        let watcher = |stats: &Stats| self.limits.poll(stats);
        let checked = choice.check_level(history, &options, &watcher).map_err(|error| self.refused(error))?;
        let method = self.method(checked.method);
        let part = checked.part.as_ref().map(|part| format!(" on {part}")).unwrap_or_default();
        let found = level::Found {
            verdict: checked.verdict,
            stats: checked.stats,
            limit: checked.limit,
            no_procedure: checked.no_procedure,
            part,
            method,
        };
        let seen = level::Seen {
            asked: self.asked,
            held: self.held,
            label: self.label,
            spec: self.spec,
            cuts,
            operations: history.ops().len(),
        };
        let (mut report, mentioned) =
            seen.report(found, self.builder.as_mut().map(|(builder, _)| &mut **builder), state_of)?;
        let mut counter = CoverageCounter::new(self.spec, self.asked.coverage);
        history.ops().iter().for_each(|op| counter.add(op));
        report.coverage = counter.coverage;
        if let Some((builder, _)) = &mut self.builder {
            builder.timeline.mentioned = places(&mentioned);
        }
        Ok(report)
    }

    fn method(&self, method: Method) -> String {
        match method {
            Method::Procedure => "decided without searching".to_owned(),
            Method::Parts { all, searched: 0 } => format!("decided in {all} independent parts without searching"),
            Method::Parts { all, searched } if all == searched => format!("searched in {all} independent parts"),
            Method::Parts { all, searched } => format!("searched in {searched} of {all} independent parts"),
            Method::Search => "searched whole".to_owned(),
            Method::Given => self.asked.own_order(None).map(own_order::method).unwrap_or_default(),
        }
    }

    fn options(&self) -> ModelOptions {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        ModelOptions {
            search: crate::search_options(self.asked, !self.asked.exhaustive),
            shortcuts: self.asked.shortcuts && !self.asked.exhaustive,
            threads: self.asked.jobs.unwrap_or_else(cores),
        }
    }

    fn report(
        &self,
        checked: &Checked,
        operations: Option<u64>,
        cuts: &[Cut],
        part: Option<Part>,
    ) -> Result<(Report, Vec<OpId>), InputError> {
        let mut mentions = Mentions::default();
        let verdict = match &checked.verdict {
            Verdict::Accepted(_) => omnilink_report::Verdict::Accepted,
            Verdict::Inconclusive(stop) => crate::inconclusive(*stop, stop.to_string()),
            Verdict::Rejected(Failure::Contradiction { ops, reason }) => {
                omnilink_report::Verdict::Rejected(Box::new(level::contradiction(ops, reason, &mut mentions)))
            }
            Verdict::Rejected(Failure::Stuck { parts, explanation }) => {
                let on = if parts.is_empty() { String::new() } else { format!(" on {}", parts.join(", ")) };
                let blocked = self.named(&explanation.blocked)?;
                let sentence = match blocked.as_slice() {
                    [op] if self.asked.is_linearizable() && !self.asked.exhaustive => {
                        format!("no order of the operations{on} allows {op}")
                    }
                    blocked => omnilink_report::longest_orders(explanation.explained, blocked),
                };
                omnilink_report::Verdict::Rejected(Box::new(stuck(sentence, explanation, part, &mut mentions)))
            }
        };
        let method = self.method(checked.method);
        let mut stats = crate::stats(&checked.stats, &method, &mut |id| mentions.op(id));
        stats.no_procedure.clone_from(&checked.no_procedure);
        let mut notes = crate::assumed_notes(self.asked);
        let keys = self.keys(checked)?;
        notes.extend(parts::notes(checked, keys.as_ref()));
        if let (Some(field), Some(misfit)) = (self.asked.own_order(None), &self.misfit) {
            notes.push(own_order::finding(field, misfit, self.held)?);
            notes.push(own_order::consequence(field, misfit, &verdict));
        }
        let processes = self.held.processes().len();
        let history = omnilink_report::History {
            name: self.label.into(),
            operations,
            processes,
            cuts: crate::cuts(cuts),
            ..omnilink_report::History::default()
        };
        let report = Report {
            spec: omnilink_report::Spec { name: self.spec.into(), constants: Vec::new() },
            order: crate::order(&self.asked.level()),
            operations: self.held.describe(mentions.ids())?,
            stats,
            assumed: crate::assumed(self.asked),
            notes,
            keys,
            ..Report::new(history, verdict)
        };
        Ok((report, mentions.ids().to_vec()))
    }

    /// The keys that are not accepted, if one is rejected.
    fn keys(&self, checked: &Checked) -> Result<Option<Keys>, InputError> {
        let Method::Parts { all, .. } = checked.method else { return Ok(None) };
        if checked.rejected.is_empty() {
            return Ok(None);
        }
        let mut rejected = Vec::with_capacity(checked.rejected.len());
        for part in &checked.rejected {
            let sentence = match &part.reason {
                Some(reason) => reason.clone(),
                None => format!("no order allows {}", self.named(&part.ops)?.join(" or ")),
            };
            rejected.push(RejectedKey { key: part.name.clone(), operations: part.operations, sentence });
        }
        let undecided = checked.undecided.iter().map(|(key, _)| key.clone()).collect();
        Ok(Some(Keys { all, rejected, undecided }))
    }

    /// Operations with their intervals.
    fn named(&self, ops: &[OpId]) -> Result<Vec<String>, InputError> {
        let name = |op: &omnilink_report::Operation| format!("{} {} {}", op.name, op.text, op.interval());
        Ok(self.held.describe(ops)?.iter().map(name).collect())
    }
}

/// An operation as the model sees it, with its place in the system's own order.
type Ranked<M> = (Op<Option<<M as Spec>::Op>>, Option<Value>);

fn ranked<M: Model>(model: &M, processes: &[Arc<str>], op: &Op<Call>, field: &str) -> Result<Ranked<M>, Error> {
    Ok((op.with(bound(model, processes, op)?), own_order::rank(&op.call, field)))
}

fn bound<M: Model>(model: &M, processes: &[Arc<str>], op: &Op<Call>) -> Result<Option<M::Op>, Error> {
    let bad = |error| Error::BadCall { op: omnilink_history::name(processes, op.process, op.index), error };
    model.bind(op).map_err(bad)
}

/// Why the operations of a stream end early.
enum Unread {
    /// The trace cannot be read.
    Input(InputError),
    /// The specification cannot take an operation.
    Refused(Error),
}

impl From<Error> for Unread {
    fn from(error: Error) -> Unread {
        Unread::Refused(error)
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

/// Watches searches, and stores their width at each return.
struct SharedWidths<'a> {
    limits: &'a dyn Limits,
    widths: Vec<AtomicU32>,
}

impl Watcher for SharedWidths<'_> {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self.limits.poll(stats)
    }

    fn returned(&self, op: OpId, width: usize) {
        if let Some(known) = self.widths.get(op.index()) {
            known.store(u32::try_from(width).unwrap_or(u32::MAX), Ordering::Relaxed);
        }
    }
}
