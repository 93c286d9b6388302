//! Checks at levels at which operations need not see everything before them.

use omnilink_history::{Call, History, Interval, Op, Outcome, Verdict};
use omnilink_report::Report;
use omnilink_search::{CheckError, Watch};
use omnilink_settings::Settings;
use omnilink_validate::{NoAnswer, Problem, TraceOp, TraceSpec};
use omnilink_weak::{Action, Context, Forms, Level, Unexplained, ViewError, Visibility};

use super::run::TlaRun;
use super::{Linked, Tla};
use crate::input::InputError;
use crate::level::{self, AtLevel, Weak};
use crate::recording::{Held, Whole};
use crate::run::Extent;
use crate::show::{ShowBuilder, ShowOptions};
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
            let level = self.run(&asked, case, held, linked).level_of_companion()?;
            asked.level = level;
        }
        Ok(asked)
    }
}

impl TlaRun<'_> {
    /// The level that the companion defines, if it does.
    pub(super) fn level_of_companion(&self) -> Result<Option<Level>, Failed> {
        if self.settings.companion.is_none() {
            return Ok(None);
        }
        self.with_machine(|spec| {
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
        has_witness: bool,
        builder: Option<(&mut ShowBuilder, &ShowOptions)>,
    ) -> Result<Report, Failed> {
        let run = self.run;
        level::refuse(run.asked, has_witness)?;
        let Whole { history, cuts, .. } = run.held.whole(run.limits)?;
        self.with_machine(|spec| {
            let bound = self.bind_forms(spec, history)?;
            run.limits.reached(Stage::Searching, 0);
            let decide = |watch: &dyn Watch| {
                let report = omnilink_weak::check(&*spec, &bound, &level::options(run.asked), watch);
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
                let (stats, limit, part) = (report.stats, report.limit, String::new());
                Ok(AtLevel { verdict, stats, limit, no_procedure: None, part, method: "searched whole".to_owned() })
            };
            let extent = Extent { operations: Some(bound.ops().len() as u64), cuts };
            run.check(&mut Weak::new(run, decide), None, extent, &mut None, builder)
        })
    }

    /// Binds every operation in both forms.
    fn bind_forms(
        &self,
        spec: &mut TraceSpec<'_>,
        history: &History<Call>,
    ) -> Result<History<Action<TraceOp>>, Failed> {
        self.run.limits.reached(Stage::Binding, history.ops().len() as u64);
        let level = self.run.asked.level();
        let is_free = |op: &Op<Call>| {
            self.run.asked.context == Context::Free && level.visibility_of(op.call.action()) != Visibility::Complete
        };
        history.try_map(|op| forms(spec, history, op, is_free(op))).map_err(|problems| self.wrong(&problems))
    }
}

/// Both forms of an operation. The specification may lack the free one, if none of its results is in a set; where it is not
/// needed, the recorded one then takes its place.
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
