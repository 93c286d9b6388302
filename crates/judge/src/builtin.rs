//! Checking histories against a specification that is built in.

use std::io::Write;
use std::mem::{replace, take};
use std::path::Path;
use std::sync::Arc;

use history::{Cut, History, OpId, Precedence, Stop, Trace, Verdict};
use models::check::{Checked, Failure, Method, Options};
use models::{Model, Visitor, with_model};
use report::{Field, Legal, Reason, Rejection, Report, Window};
use search::{Explanation, Stats, Why};
use validate::Teller;

use crate::input::{self, InputError, Recording};
use crate::mentions::Calls;
use crate::{Case, Failed, Limits};

/// A built-in specification, by its name and options.
#[derive(Debug)]
pub(crate) struct Builtin(String);

impl Builtin {
    pub(crate) fn find(name: &str) -> Result<Builtin, InputError> {
        let help = Some("`omnilink specs` lists the specifications and their options".into());
        with_model(name, Nothing).map_err(|error| InputError { message: error.to_string(), help })?;
        Ok(Builtin(name.to_owned()))
    }

    /// Checks one recording.
    pub(crate) fn check(&self, asked: &crate::Options, case: &mut Case<'_>) -> Result<Report, Failed> {
        let Case { path, label, limits, .. } = *case;
        let is_too_large =
            path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > asked.max_memory);
        let recording = match is_too_large {
            true => Recording::Trace(Trace::default()),
            false => input::open(path, asked.from)?,
        };
        let witness = &mut case.witness;
        let check = Check { asked, spec: &self.0, path, label, recording, limits, witness };
        if is_too_large {
            let verdict = Verdict::Inconclusive(Stop::Memory);
            let checked = Checked { verdict, method: Method::Search, stats: Stats::default() };
            Ok(check.report(&checked, None, 0, &[], &Calls::Segments(path, &[]))?)
        } else {
            Ok(with_model(&self.0, check).map_err(InputError::new)??)
        }
    }
}

/// Only finds out whether a model exists.
struct Nothing;

impl Visitor for Nothing {
    type Output = ();

    fn visit<M: Model>(self, _: M) {}
}

/// Checks one recording against whichever model was chosen.
struct Check<'a, 'w> {
    asked: &'a crate::Options,
    spec: &'a str,
    path: &'a Path,
    label: &'a str,
    recording: Recording,
    limits: &'a dyn Limits,
    witness: &'a mut Option<&'w mut dyn Write>,
}

impl Visitor for Check<'_, '_> {
    type Output = Result<Report, InputError>;

    fn visit<M: Model>(mut self, model: M) -> Self::Output {
        match self.recording {
            Recording::Segments(ref merge) if self.is_stream(&model, merge.processes())? => self.check_stream(&model),
            _ => self.check_whole(&model),
        }
    }
}

/// How many operations are looked at to find out whether a history splits into parts.
const LOOKED_AT: usize = 1 << 16;

impl Check<'_, '_> {
    /// True if there is nothing to gain from having the whole history at hand.
    fn is_stream<M: Model>(&self, model: &M, processes: &[Arc<str>]) -> Result<bool, InputError> {
        if self.asked.order == Precedence::Program || self.asked.exhaustive || self.witness.is_some() {
            return Ok(false);
        }
        if !self.asked.shortcuts || model.has_procedure() {
            return Ok(!self.asked.shortcuts);
        }
        for op in input::segments(self.path)?.take(LOOKED_AT) {
            let op = op?;
            let bad =
                |error| models::check::Error::BadCall { op: history::name(processes, op.process, op.index), error };
            if model.bind(&op).map_err(bad)?.is_some_and(|op| model.partition(&op).is_none()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn check_stream<M: Model>(&self, model: &M) -> Result<Report, InputError> {
        let mut merge = input::segments(self.path)?;
        let processes: Vec<Arc<str>> = merge.processes().to_vec();
        let mut operations = 0;
        let counted = merge.by_ref().map(|op| op.map_err(InputError::from)).inspect(|_| operations += 1);
        let watcher = |stats: &Stats| self.limits.look(stats);
        let checked = models::check::check_stream(model, &processes, counted, &self.options().search, &watcher)?;
        // A verdict may come before the end. The rest is read all the same, so that what is damaged there is not missed.
        for op in merge.by_ref() {
            op?;
            operations += 1;
        }
        self.report(&checked, Some(operations), processes.len(), merge.cuts(), &Calls::Segments(self.path, &processes))
    }

    fn check_whole<M: Model>(&mut self, model: &M) -> Result<Report, InputError> {
        let recording = replace(&mut self.recording, Recording::Trace(Trace::default()));
        let mut trace = recording.read(self.path)?;
        let cuts = take(&mut trace.cuts);
        let history = History::new(trace)?;
        let watcher = |stats: &Stats| self.limits.look(stats);
        let checked = models::check::check(model, &history, &self.options(), &watcher)?;
        if let (Some(file), Verdict::Accepted(witness)) = (&mut self.witness, &checked.verdict) {
            Calls::Whole(&history).write_witness(file, self.label, witness)?;
        }
        let operations = history.ops().len() as u64;
        self.report(&checked, Some(operations), history.processes().len(), &cuts, &Calls::Whole(&history))
    }

    fn options(&self) -> Options {
        let strategy = crate::strategy(self.asked);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            search: search::Options { strategy, reduce: !self.asked.exhaustive, max_width: self.asked.max_width },
            shortcuts: self.asked.shortcuts && !self.asked.exhaustive,
            threads: self.asked.jobs.unwrap_or_else(cores),
        }
    }

    fn report(
        &self,
        checked: &Checked,
        operations: Option<u64>,
        processes: usize,
        cuts: &[Cut],
        calls: &Calls<'_>,
    ) -> Result<Report, InputError> {
        let mut teller = Teller::default();
        let verdict = match &checked.verdict {
            Verdict::Accepted(_) => report::Verdict::Accepted,
            Verdict::Inconclusive(stop) => report::Verdict::Inconclusive { stop: stop.to_string() },
            Verdict::Rejected(Failure::Contradiction { ops, reason }) => {
                report::Verdict::Rejected(Box::new(contradiction(ops, reason, &mut teller)))
            }
            Verdict::Rejected(Failure::Stuck { part, explanation }) => {
                let part = part.as_ref().map(|part| format!(" on {part}")).unwrap_or_default();
                let blocked = explanation.goal.map(|goal| calls.describe(&[goal])).transpose()?;
                let sentence = match blocked.as_deref() {
                    Some([op]) => {
                        format!("no order of the operations{part} allows {} {} {}", op.name, op.text, op.interval())
                    }
                    _ => format!(
                        "no order of the operations{part} is allowed: at most {} can be placed",
                        explanation.explained
                    ),
                };
                report::Verdict::Rejected(Box::new(stuck(sentence, explanation, &mut teller)))
            }
        };
        let method = match checked.method {
            Method::Procedure => "decided without searching".to_owned(),
            Method::Parts(parts) => format!("searched in {parts} independent parts"),
            Method::Search => "searched whole".to_owned(),
        };
        let stats = crate::stats(&checked.stats, &method, &mut |id| teller.op(id));
        Ok(Report {
            schema: report::SCHEMA.into(),
            history: report::History { name: self.label.into(), operations, processes, cuts: crate::cuts(cuts) },
            spec: report::Spec { name: self.spec.into(), constants: Vec::new() },
            order: crate::order(self.asked),
            verdict,
            operations: calls.describe(teller.mentioned())?,
            sources: Vec::new(),
            stats,
            notes: Vec::new(),
            next: Vec::new(),
        })
    }
}

/// A few operations that contradict each other, whatever the others do.
fn contradiction(ops: &[OpId], reason: &str, teller: &mut Teller) -> Rejection {
    let operations = ops.iter().map(|&op| teller.op(op)).collect();
    Rejection {
        sentence: reason.to_owned(),
        blocked: None,
        explained: 0,
        states: Vec::new(),
        interpretations: Vec::new(),
        reasons: Vec::new(),
        expected: Vec::new(),
        expects_more: false,
        legal: Legal::Unknown,
        what_ifs: Vec::new(),
        window: Some(Window { start: Vec::new(), operations, before: 0 }),
    }
}

/// Every order gets stuck.
fn stuck(sentence: String, explanation: &Explanation<String>, teller: &mut Teller) -> Rejection {
    let mut shown: Vec<&String> = Vec::new();
    let mut reasons: Vec<Reason> = Vec::new();
    let mut interpretations = Vec::new();
    let blocked = explanation.goal.map(|goal| teller.op(goal));
    for stuck in &explanation.stuck {
        let state = shown.iter().position(|known| **known == stuck.state).unwrap_or_else(|| {
            shown.push(&stuck.state);
            shown.len() - 1
        });
        let step = |step: &search::Placed| report::Step { op: teller.op(step.op), partway: step.partway };
        let recent = stuck.recent.iter().map(step).collect();
        interpretations.push(report::Interpretation { state, recent });
        for refusal in &stuck.refused {
            let op = teller.op(refusal.op);
            let why = match &refusal.why {
                Why::MustFollow(before) => report::Why::Time { after: teller.op(*before) },
                Why::LeadsNowhere => report::Why::Dead,
                Why::Disabled(reason) => {
                    let text = reason.clone().unwrap_or_else(|| "the specification does not allow it".into());
                    report::Why::Words { text }
                }
            };
            match reasons.iter_mut().find(|reason| reason.op == op && reason.why == why) {
                Some(reason) if reason.states.contains(&state) => {}
                Some(reason) => reason.states.push(state),
                None => reasons.push(Reason { op, states: vec![state], why }),
            }
        }
    }
    reasons.sort_by_key(|reason| (Some(reason.op) != blocked, reason.op));
    let field = |state: &&String| vec![Field { name: String::new(), value: (*state).clone() }];
    let states = shown.iter().enumerate();
    Rejection {
        sentence,
        blocked,
        explained: explanation.explained,
        states: states.map(|(at, state)| report::State { id: at.to_string(), variables: field(state) }).collect(),
        interpretations,
        reasons,
        expected: Vec::new(),
        expects_more: false,
        legal: Legal::Unknown,
        what_ifs: Vec::new(),
        window: None,
    }
}
