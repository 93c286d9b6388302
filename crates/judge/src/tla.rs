//! Checks histories against a TLA+ specification.

mod key;
mod level;
mod run;

use std::ffi::OsStr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use omnilink_history::{History, OpId};
use omnilink_report::{Field, Report};
use omnilink_settings::Settings;
use omnilink_tla::ir::DefId;
use omnilink_tla::program::Program;
use omnilink_validate::{Harvest, NoAnswer, Problem, TraceOp, TraceSpec};
use omnilink_weak::Class;

use self::run::TlaRun;
use crate::complaint::Complaint;
use crate::follow_up::{self, Named};
use crate::input::InputError;
use crate::load::{Around, Loaded, Parts};
use crate::recording::{Held, Recording, Stream};
use crate::run::Run;
use crate::show::{Inspection, ShowBuilder, ShowOptions};
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

    /// True if a trace is too large to be read as a whole without need, and no option needs all of it.
    fn may_stream(&self, asked: &CheckOptions, stream: &Stream) -> bool {
        let is_plain = asked.assume.is_empty() && !asked.coverage && asked.shortcuts && !asked.exhaustive;
        let is_ordered = asked.is_linearizable() && asked.own_order(self.settings.order_by.as_deref()).is_none();
        stream.is_large() && is_plain && is_ordered
    }

    /// The trace, with the ends of processes if there is a companion.
    fn held<'a>(&self, asked: &CheckOptions, case: &Case<'a>) -> Result<MaybeOwned<'a>, Failed> {
        if self.takes_log(case) {
            let message = "expected a trace of operations, found a log".to_owned();
            let help = "`check`, `report` and `view` take logs".to_owned();
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

    /// A check of one trace, from its beginning.
    fn run<'a, 'c: 'a>(
        &'a self,
        asked: &'a CheckOptions,
        &Case { recording, label, limits, .. }: &Case<'c>,
        held: &'a Held,
        linked: &'a Linked,
    ) -> TlaRun<'a> {
        let run = Run { asked, spec: "", recording, label, limits, held };
        TlaRun { run, linked, settings: &self.settings, begin: None }
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
        let run = self.run(asked, case, held, &linked);
        run.with_spec(|spec, history, _| work(&Bound { run: &run, spec, history, config: &linked.config }))
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
        let run = self.run(asked, case, held, linked);
        let streamed = match held {
            Held::Stream(stream) if case.witness.is_none() && builder.is_none() && self.may_stream(asked, stream) => {
                run.check_stream(stream)?
            }
            _ => None,
        };
        let report = match streamed {
            Some(report) => report,
            None if asked.level().class() != Class::Strong => run.check_level(case.witness.is_some(), builder)?,
            None => run.check(&mut case.witness, builder)?,
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
        let run = self.run(asked, case, held, &linked);
        let Inspection { timeline, way, .. } = shown;
        run.with_spec(|spec, history, _| run.walk(spec, history, way, look, timeline))
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
    run: &'a TlaRun<'a>,
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
        Ok(self.run.run.held.describe(ids)?)
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
