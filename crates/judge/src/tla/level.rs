//! Checks at levels at which operations need not see everything before them.

use omnilink_history::{Call, History, Interval, Op, Outcome, Verdict};
use omnilink_report::Report;
use omnilink_search::{CheckError, Stats};
use omnilink_settings::Settings;
use omnilink_validate::{NoAnswer, Problem, TraceOp, TraceSpec};
use omnilink_weak::{Action, Context, Forms, Level, Unexplained, ViewError, Visibility};

use super::{Linked, Run, Tla};
use crate::input::InputError;
use crate::level::{self, Found, Seen};
use crate::recording::{Held, Whole};
use crate::show::{ShowBuilder, ShowOptions, places};
use crate::{Case, CheckOptions, Complaint, Failed, Stage};

/// The definition of a companion that names the level.
pub(super) const LEVEL: &str = "Level";

/// The options, with the level of the settings if none was given.
fn with_level(asked: &CheckOptions, settings: &Settings) -> Result<CheckOptions, Failed> {
    let mut asked = asked.clone();
    let wrong = |error: omnilink_weak::LevelError| {
        Failed::Spec(vec![Complaint::new(format!("the key `level` of the settings: {error}"))])
    };
    if let (None, Some(level)) = (&asked.level, &settings.level) {
        asked.level = Some(level.parse::<Level>().map_err(wrong)?);
    }
    Ok(asked)
}

impl Tla {
    /// The options, with the level of the settings or the companion if none was given.
    pub(super) fn with_level(
        &self,
        asked: &CheckOptions,
        held: &Held,
        linked: &Linked,
        case: &Case<'_>,
    ) -> Result<CheckOptions, Failed> {
        let mut asked = with_level(asked, &self.settings)?;
        if asked.level.is_none() {
            let run = Run { asked: &asked, label: case.label, limits: case.limits, held, linked, begin: None };
            asked.level = run.level_of_companion(&self.settings)?;
        }
        Ok(asked)
    }
}

impl Run<'_> {
    /// The level that the companion defines, if it does.
    pub(super) fn level_of_companion(&self, settings: &Settings) -> Result<Option<Level>, Failed> {
        if settings.companion.is_none() {
            return Ok(None);
        }
        self.with_machine(settings, |spec| {
            let complain = |message: String| Failed::Spec(vec![Complaint::new(message)]);
            let value = spec
                .constant(LEVEL)
                .map_err(|error| Failed::Spec(vec![Complaint::of_evaluation(self.program(), &error)]))?;
            let Some(value) = value else { return Ok(None) };
            let text = value.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            let text = text.ok_or_else(|| complain(format!("the companion's `{LEVEL}` is {value}, not a string")))?;
            let level = text.parse();
            level
                .map(Some)
                .map_err(|error: omnilink_weak::LevelError| complain(format!("the companion's `{LEVEL}`: {error}")))
        })
    }

    pub(super) fn check_level(
        &self,
        settings: &Settings,
        has_witness: bool,
        mut builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        level::refuse(self.asked, has_witness)?;
        let Whole { history, cuts, .. } = self.held.whole(self.limits)?;
        let (found, operations) = self.with_machine(settings, |spec| {
            let bound = self.bind_forms(spec, history)?;
            self.limits.reached(Stage::Searching, 0);
            let mut watch = |stats: &Stats| self.limits.poll(stats);
            let report = omnilink_weak::check(spec, &bound, &level::options(self.asked), &mut watch);
            let report = report.map_err(|error| match error {
                CheckError::Spec(ViewError::Spec(fault)) => self.failed(NoAnswer::Fault(fault)),
                CheckError::Unconfirmed(error) => self.failed(NoAnswer::Unconfirmed(error)),
                CheckError::Spec(error @ ViewError::Partway) => Failed::Input(InputError::new(error)),
            })?;
            let verdict = match report.verdict {
                Verdict::Accepted(explained) => Verdict::Accepted(explained),
                Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
                Verdict::Rejected(failure) => {
                    Verdict::Rejected(Unexplained::Views(failure.map_states(|state| spec.show(&state.values))))
                }
            };
            let method = "searched whole".to_owned();
            let (stats, limit, part) = (report.stats, report.limit, String::new());
            Ok((Found { verdict, stats, limit, no_procedure: None, part, method }, bound.ops().len()))
        })?;
        let seen = Seen { asked: self.asked, held: self.held, label: self.label, spec: "", cuts, operations };
        let timeline = builder.as_mut().map(|(builder, _)| &mut **builder);
        let (report, mentioned) = seen.report(found, timeline, |state| state)?;
        if let Some((builder, _)) = &mut builder {
            builder.timeline.mentioned = places(&mentioned);
        }
        Ok(report)
    }

    /// Binds every operation in both forms.
    fn bind_forms(
        &self,
        spec: &mut TraceSpec<'_>,
        history: &History<Call>,
    ) -> Result<History<Action<TraceOp>>, Failed> {
        self.limits.reached(Stage::Binding, history.ops().len() as u64);
        let level = self.asked.level();
        let is_free = |op: &Op<Call>| {
            self.asked.context == Context::Free && level.visibility_of(op.call.action()) != Visibility::Complete
        };
        history.try_map(|op| forms(spec, history, op, is_free(op))).map_err(|problems| self.wrong(&problems))
    }
}

/// Both forms of an operation. The free one may be missing from the specification, if none of its results is in a set;
/// where it is not needed, the recorded one takes its place then.
fn forms(
    spec: &mut TraceSpec<'_>,
    history: &History<Call>,
    op: &Op<Call>,
    needs_free: bool,
) -> Result<Option<Action<TraceOp>>, Vec<Problem>> {
    let mut bind = |op: &Op<Call>| match spec.bind(op, history.processes()) {
        Err(problems) if problems.is_empty() => Ok(None), // Such operations were reported before, or mean nothing.
        bound => bound,
    };
    let Some(recorded) = bind(op)? else { return Ok(None) };
    let free = match op.outcome() {
        Outcome::Failed | Outcome::Blocked => None,
        Outcome::Finished | Outcome::Unfinished => {
            let interval = Interval::unfinished(op.interval.start());
            match bind(&Op { interval, ..op.with(op.call.without_results()) }) {
                Err(_) if !needs_free => Some(recorded.clone()),
                free => free?,
            }
        }
    };
    Ok(Some(Action { name: op.call.action().into(), forms: Forms { recorded, free } }))
}
