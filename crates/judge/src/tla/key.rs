//! Checks the operations of one key against a TLA+ specification, from the states in which an earlier check ended.
//!
//! The states that a check carries satisfy the invariants, and only orders that satisfy them reach others. So a later check
//! that fails reports *rejected* where a check of the whole history would find an order that violated an invariant before
//! the cut. Both accept the same histories.

use omnilink_history::{History, Stop, Value, Verdict};
use omnilink_search::{Cut, Stats, Stretch, check_stretch};
use omnilink_tla::error::ErrorKind;
use omnilink_validate::{NoAnswer, TraceSpec, TraceState};

use super::run::TlaRun;
use super::{Linked, Tla};
use crate::input::InputError;
use crate::keys::{self, CheckedKey, Key, KeyVerdict};
use crate::recording::Recording;
use crate::run::Run;
use crate::{CheckOptions, Complaint, Failed};

/// The operator of a companion for the end of a process, which part of a history does not show.
const ON_END: &str = "OnEnd";

impl Tla {
    /// Checks the operations of one key.
    pub(crate) fn check_key(&self, asked: &CheckOptions, key: Key<'_>) -> Result<CheckedKey, Failed> {
        let Some(linked) = self.carrying(asked, &key)? else { return keys::check_whole(self, asked, key) };
        let Key { label, ops, begin, cut, limits } = key;
        let mut all = Vec::new();
        while let Some(op) = ops.next()? {
            all.push(op);
        }
        let operations = all.len() as u64;
        let recording = Recording::of(History::from_ops(ops.processes().into(), all));
        let held = recording.held(u64::MAX, limits)?;
        let run = Run { asked, spec: "", recording: &recording, label, limits, held };
        let run = TlaRun { run, linked: &linked, settings: &self.settings, begin };
        match run.check_stretch(cut)? {
            Verdict::Accepted(carried) => Ok(CheckedKey::accepted(operations, carried)),
            Verdict::Inconclusive(stop) => Ok(CheckedKey {
                operations,
                verdict: KeyVerdict::Inconclusive,
                reason: Some(stop.to_string()),
                report: None,
                carried: None,
            }),
            Verdict::Rejected(()) => {
                let report = self.named_in(run.check(&mut None, None)?, &linked);
                Ok(CheckedKey::of(report, operations, None))
            }
        }
    }

    /// The program, if only the states at an instant without an operation in flight matter for later operations: no
    /// constant has its value from the trace, and nothing happens at the end of a process. `None` otherwise, or if the key
    /// is checked as a whole.
    fn carrying(&self, asked: &CheckOptions, key: &Key<'_>) -> Result<Option<std::sync::Arc<Linked>>, Failed> {
        let is_plain = asked.is_linearizable() && !asked.exhaustive && asked.assume.is_empty() && !asked.coverage;
        let is_ordered = asked.own_order(self.settings.order_by.as_deref()).is_some() || self.settings.level.is_some();
        let is_partial = key.begin.is_some() || key.cut.is_some();
        if !is_partial || !is_plain || is_ordered || self.settings.log.is_some() {
            return Ok(None);
        }
        let Some(linked) = self.link_alone()? else { return Ok(None) };
        let names = &linked.loaded.program.module.names;
        let has_own = |name: &str| self.settings.companion.is_some() && names.contains_key(name);
        Ok((!has_own(ON_END) && !has_own(super::level::LEVEL)).then_some(linked))
    }
}

impl TlaRun<'_> {
    /// Lets the specification begin in states that an earlier check carried.
    pub(super) fn begin_in(&self, spec: &mut TraceSpec<'_>, begin: &[Value]) -> Result<(), Failed> {
        let evaluated = |error: Box<omnilink_tla::error::EvalError>| {
            Failed::Spec(vec![Complaint::of_evaluation(self.program(), &error)])
        };
        if !spec.begin_in(begin).map_err(evaluated)? {
            return Err(InputError::new("a carried state is not a state of this specification").into());
        }
        Ok(())
    }

    /// Searches for an order up to a cut, and returns the beginning of the next check.
    fn check_stretch(&self, cut: Option<u64>) -> Result<Verdict<Option<Cut<Value>>, ()>, Failed> {
        let options = self.options();
        self.with_spec(|spec, history, _| {
            let spec = &*spec;
            let mut ops = history.ops().iter();
            let next = || Ok(ops.next().map(|op| op.with(Some(op.call.clone()))));
            let watch = &|stats: &Stats| self.run.limits.poll(stats);
            let found = check_stretch(spec, None, cut, next, &options, watch, NoAnswer::from);
            let Stretch { report, cut, .. } = match found {
                Err(NoAnswer::Fault(fault)) if fault.error.kind == ErrorKind::Stopped => {
                    return Ok(Verdict::Inconclusive(spec.stopped().unwrap_or(Stop::Interrupted)));
                }
                found => found.map_err(|error| self.failed(error))?,
            };
            let save = |state: &TraceState| {
                let wrong = || InputError::new("unsupported: a state with a field `model value` cannot be carried");
                spec.save(state).ok_or_else(wrong)
            };
            Ok(match report.verdict {
                Verdict::Rejected(_) => Verdict::Rejected(()),
                Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
                Verdict::Accepted(_) => Verdict::Accepted(cut.map(|cut| cut.try_map(save)).transpose()?),
            })
        })
    }
}
