//! Checks the operations of one key as they arrive.

use omnilink_history::{Call, History, Op, Stop, Value, Verdict};
use omnilink_models::check::{Checked, Error};
use omnilink_models::digits::find_after;
use omnilink_models::{Model, Visitor};
use omnilink_search::{Stats, Stretch, check_stretch};

use super::Builtin;
use super::check::{ModelCase, bound};
use crate::input::InputError;
use crate::keys::{CheckedKey, Key};
use crate::recording::Recording;
use crate::run::{Extent, Run, Subject};
use crate::{Against, Case, CheckOptions, Failed, mixed};

/// Checks the operations of one key as they arrive.
pub(super) struct KeyCheck<'a, 'k> {
    pub(super) asked: &'a CheckOptions,
    pub(super) against: &'a Builtin,
    pub(super) key: Key<'k>,
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
        let watch = &|stats: &Stats| limits.poll(stats);
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
            let carried = after.map(|cut| cut.try_map(save)).transpose()?;
            return Ok(CheckedKey::accepted(operations, carried));
        }
        let checked = Checked::of_search(&model, report);
        let Some(again) = ops.again()? else {
            return Ok(CheckedKey::without_report(&checked.verdict, operations));
        };
        let history = History::from_ops(ops.processes().into(), again);
        let recording = Recording::of(history);
        // A procedure may decide a history that the search could not.
        let is_wide = matches!(checked.verdict, Verdict::Inconclusive(Stop::Width));
        if is_wide && begin.is_none() && cut.is_none() && asked.shortcuts && model.has_procedure() {
            let case = &mut Case { recording: &recording, label, witness: None, limits };
            return Ok(CheckedKey::of(against.check(asked, case, None)?, operations, None));
        }
        let held = recording.held(u64::MAX, limits)?;
        let run = Run { asked, spec: &against.name, recording: &recording, label, limits, held };
        let mut case = ModelCase::checked(run, &model, checked);
        let verdict = case.verdict()?;
        let extent = Extent { operations: Some(operations), cuts: &[] };
        Ok(CheckedKey::of(run.report(&mut case, extent, verdict, None)?, operations, None))
    }
}

/// Finds the state after an operation, if it does not depend on the state before.
pub(super) struct Settling<'a>(pub(super) &'a Op<Call>);

impl Visitor for Settling<'_> {
    type Output = Option<Value>;

    fn visit<M: Model>(self, model: M) -> Self::Output {
        // A call that does not fit the specification settles nothing; the check reports the reason.
        let op = model.bind(self.0).ok().flatten();
        op.and_then(|op| model.settled(&op)).and_then(|state| model.save(&state))
    }
}
