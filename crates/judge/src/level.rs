//! Checks at levels at which operations need not see everything before them, reports the visible operations, and finds the
//! strongest levels of recordings.

use std::sync::Arc;

use omnilink_history::{OpId, Stop, Verdict};
use omnilink_report::{Evidence, Mentions, Missed, OpRef, Rejection, Report, State};
use omnilink_search::{Route, Stats, Watch, Witness};
use omnilink_weak::{Answer, Blocked, ByAction, Effort, Explained, Failure, Level, Unexplained};

use crate::input::InputError;
use crate::run::{Found, Run, Subject, Widths};
use crate::show::{ShowBuilder, ShowOptions, Way};
use crate::{Case, CheckOptions, Failed, Judge, Limits, Recording, Stage};

/// The maximum number of operations that a report lists as seen or missed by one.
const MOST_LISTED: usize = 6;

/// The maximum number of operations that missed something, and of blocked ones, in a report.
const MOST_MISSING: usize = 5;

/// The default limit on configurations at once while levels are searched for: there are many checks, and one level that is hard
/// to decide must not delay the others.
const FIND_WIDTH: usize = 10_000;

/// The default limits on steps of one check while levels are searched for: a number, and a further
/// number for each operation.
const SHORT: (u64, u64) = (20_000, 20);
const LONG: (u64, u64) = (100_000, 100);

/// Stops a check after a number of steps.
struct Brief<'a> {
    limits: &'a dyn Limits,
    steps: u64,
}

impl Limits for Brief<'_> {
    fn poll(&self, stats: &Stats) -> Option<Stop> {
        self.limits.poll(stats).or_else(|| (stats.steps > self.steps).then_some(Stop::Width))
    }

    fn exceeded(&self) -> Option<Stop> {
        self.limits.exceeded()
    }

    fn memory_left(&self) -> Option<u64> {
        self.limits.memory_left()
    }

    fn reached(&self, stage: Stage, operations: u64) {
        self.limits.reached(stage, operations);
    }

    fn total(&self, operations: u64) {
        self.limits.total(operations);
    }
}

/// The options of a check at a level.
pub(crate) fn options(asked: &CheckOptions) -> omnilink_weak::WeakOptions {
    omnilink_weak::WeakOptions {
        level: asked.level(),
        context: asked.context,
        method: omnilink_weak::Method::default(),
        search: crate::search_options(asked, asked.shortcuts && !asked.exhaustive),
    }
}

/// Refuses options that are not defined at these levels.
pub(crate) fn refuse(asked: &CheckOptions, has_witness: bool) -> Result<(), InputError> {
    let what = match (asked.assume.is_empty(), has_witness, &asked.order_by) {
        (false, ..) => "--assume",
        (_, true, _) => "--witness",
        (.., Some(_)) => "--order-by",
        _ => return Ok(()),
    };
    let message = format!("unsupported: `{what}` at the level `{}`", asked.level());
    let help =
        "operations do not all see one state at this level; linearizable, sequential and serializable support it";
    Err(InputError { message, help: Some(help.to_owned()) })
}

/// The result of a check.
pub(crate) struct AtLevel {
    pub(crate) verdict: Verdict<Explained, Unexplained<State>>,
    pub(crate) stats: Stats,
    /// The reason why there is no verdict, if the level sets a limit of its own.
    pub(crate) limit: Option<String>,
    /// The reason why the procedure for registers did not decide it, if it was tried.
    pub(crate) no_procedure: Option<String>,
    /// ` on` the rejected part of the object, if parts were checked separately.
    pub(crate) part: String,
    pub(crate) method: String,
}

/// A trace whose operations need not see everything before them.
pub(crate) struct Weak<'a, F> {
    run: Run<'a>,
    decide: F,
    found: AtLevel,
    level: Option<omnilink_report::Level>,
    missed: Vec<(OpId, Vec<OpId>)>,
    mentions: Mentions<OpId>,
}

impl<'a, F: FnMut(&dyn Watch) -> Result<AtLevel, Failed>> Weak<'a, F> {
    /// A trace that is decided by this.
    pub(crate) fn new(run: Run<'a>, decide: F) -> Weak<'a, F> {
        let found = AtLevel {
            verdict: Verdict::Inconclusive(Stop::Interrupted),
            stats: Stats::default(),
            limit: None,
            no_procedure: None,
            part: String::new(),
            method: String::new(),
        };
        let level = crate::reported(&run.asked.level());
        Weak { run, decide, found, level, missed: Vec::new(), mentions: Mentions::default() }
    }
}

impl<F: FnMut(&dyn Watch) -> Result<AtLevel, Failed>> Subject for Weak<'_, F> {
    fn decide(&mut self, widths: &Widths<'_>) -> Result<(), Failed> {
        self.found = (self.decide)(&|stats: &Stats| widths.poll(stats))?;
        Ok(())
    }

    fn found(&self) -> Found<'_> {
        Found {
            order: None,
            is_rejected: self.found.verdict.is_rejected(),
            method: self.found.method.clone(),
            no_procedure: self.found.no_procedure.clone(),
            stats: &self.found.stats,
        }
    }

    fn way(&self) -> Way {
        let order = match &self.found.verdict {
            Verdict::Accepted(explained) => explained.order.clone(),
            Verdict::Rejected(Unexplained::Views(failure)) => failure.order.clone(),
            Verdict::Rejected(Unexplained::Contradiction { .. }) | Verdict::Inconclusive(_) => Vec::new(),
        };
        Way { route: Route::from(&Witness::from_order(order)), ignores_invariants: false }
    }

    fn verdict(&mut self) -> Result<omnilink_report::Verdict, Failed> {
        let mentions = &mut self.mentions;
        Ok(match &self.found.verdict {
            Verdict::Inconclusive(stop) => match &self.found.limit {
                Some(words) => omnilink_report::Verdict::Inconclusive {
                    limit: omnilink_report::Limit::Operations,
                    stop: words.clone(),
                },
                None => crate::inconclusive(*stop, stop.to_string()),
            },
            Verdict::Accepted(explained) => {
                self.missed.clone_from(&explained.missed);
                if let Some(level) = &mut self.level {
                    level.missing = explained.missed.len();
                    let listed = explained.missed.iter().take(MOST_MISSING);
                    level.missed = listed
                        .map(|(op, missed)| Missed {
                            op: mentions.op(*op),
                            missed: missed.iter().take(MOST_LISTED).map(|&op| mentions.op(op)).collect(),
                        })
                        .collect();
                }
                omnilink_report::Verdict::Accepted
            }
            Verdict::Rejected(Unexplained::Contradiction { ops, reason }) => {
                omnilink_report::Verdict::Rejected(Box::new(contradiction(ops, reason, mentions)))
            }
            Verdict::Rejected(Unexplained::Views(failure)) => {
                let ids: Vec<OpId> = failure.blocked.iter().map(|blocked| blocked.op).take(MOST_MISSING).collect();
                let named = self.run.named(&ids)?.join(", or ");
                let on = &self.found.part;
                let sentence = format!("no order of the operations{on}, whatever they may miss, explains {named}");
                omnilink_report::Verdict::Rejected(Box::new(rejection(sentence, failure, mentions)))
            }
        })
    }

    fn mentions(&mut self) -> &mut Mentions<OpId> {
        &mut self.mentions
    }

    fn show(&mut self, builder: &mut ShowBuilder, _: &ShowOptions) -> Result<(), Failed> {
        let number = |op: &OpId| op.index() as u32;
        let missed = |(op, missed): &(OpId, Vec<OpId>)| (number(op), missed.iter().map(number).collect());
        builder.timeline.missed = self.missed.iter().map(missed).collect();
        Ok(())
    }

    fn complete(&mut self, report: &mut Report) -> Result<(), Failed> {
        report.level = self.level.take();
        report.notes.extend(self.run.asked.level().caveat().map(str::to_owned));
        Ok(())
    }
}

/// A few operations that contradict each other, whatever the other operations do.
pub(crate) fn contradiction(ops: &[OpId], reason: &str, mentions: &mut Mentions<OpId>) -> Rejection {
    let mut by_start = ops.to_vec();
    by_start.sort();
    let operations = by_start.into_iter().map(|op| mentions.op(op)).collect();
    let evidence = Evidence::Contradiction { operations };
    Rejection { sentence: reason.to_owned(), details: String::new(), blocked: Vec::new(), explained: 0, evidence }
}

fn rejection(sentence: String, failure: &Failure<State>, mentions: &mut Mentions<OpId>) -> Rejection {
    let blocked: Vec<OpRef> = failure.blocked.iter().map(|blocked| mentions.op(blocked.op)).collect();
    let mut view = |blocked: &Blocked<State>| {
        let mut last = |ops: &[OpId]| -> Vec<OpRef> {
            ops[ops.len().saturating_sub(MOST_LISTED)..].iter().map(|&op| mentions.op(op)).collect()
        };
        omnilink_report::View {
            must_see: last(&blocked.must_see),
            must_see_count: blocked.must_see.len(),
            may_miss: last(&blocked.may_miss),
            may_miss_count: blocked.may_miss.len(),
            op: mentions.op(blocked.op),
            sees: blocked.visibility.meaning().to_owned(),
            states: blocked.states.clone(),
            why: blocked.why.clone(),
        }
    };
    let views = failure.blocked.iter().take(MOST_MISSING).map(&mut view).collect();
    let evidence = Evidence::Views(omnilink_report::Views { views, holds: None });
    Rejection { sentence, details: String::new(), blocked, explained: failure.explained, evidence }
}

impl Judge {
    /// Finds the strongest levels that explain every one of these recordings, and the strongest visibility of each action,
    /// which it reports at once.
    pub fn find_level(
        &self,
        recordings: &[Recording],
        limits: &dyn Limits,
        tell: impl FnOnce(&ByAction),
    ) -> Result<omnilink_weak::Found, Failed> {
        let mut actions: Vec<Arc<str>> = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        for recording in recordings {
            let history = recording.history()?;
            counts.push(history.ops().len() as u64);
            for op in history.ops() {
                if !actions.iter().any(|known| **known == *op.call.action()) {
                    actions.push(op.call.action().into());
                }
            }
        }
        let ask = |place: usize, level: &Level, effort: Effort| -> Result<Answer, Failed> {
            let max_width = self.options.max_width.or(Some(FIND_WIDTH));
            let (steps, for_each) = match effort {
                Effort::Short => SHORT,
                // A limit of the user's own takes the place of this one.
                Effort::Long if self.options.max_width.is_none() => LONG,
                Effort::Long | Effort::Full => (u64::MAX, 0),
            };
            let limits = &Brief { limits, steps: steps.saturating_add(for_each * counts[place]) };
            let level = Some(level.clone());
            let options = CheckOptions { level, max_width, coverage: false, ..self.options.clone() };
            let mut case = Case { recording: &recordings[place], label: "", witness: None, limits };
            let report = match self.against.check(&options, &mut case, None) {
                Err(Failed::Stopped(_)) => return Ok(Answer::Undecided),
                report => report?,
            };
            Ok(match &report.verdict {
                omnilink_report::Verdict::Accepted => Answer::Accepted,
                omnilink_report::Verdict::Inconclusive { .. } => Answer::Undecided,
                omnilink_report::Verdict::Rejected(rejection) => {
                    let contradicting = match &rejection.evidence {
                        Evidence::Contradiction { operations } => operations.clone(),
                        _ => Vec::new(),
                    };
                    let blamed = rejection.blocked.iter().chain(&contradicting);
                    Answer::Rejected { blamed: blamed.map(|&op| report.op(op).action.as_str().into()).collect() }
                }
            })
        };
        omnilink_weak::find(recordings.len(), &actions, ask, tell)
    }
}
