//! Checks a recorded history against a model at a level weaker than linearizability.
//!
//! The ways to decide are those of linearizability, where they hold: each part of the object separately, and the search
//! over the whole history. A part that is rejected rejects the whole; parts that are accepted decide it if the level is
//! local there ([`omnilink_weak::is_local`]). Before these, histories of reads and writes whose values identify their writes are
//! decided without searching ([`omnilink_weak::registers`]), or rejected like that at a weaker level.

use std::convert::Infallible;

use omnilink_history::{Call, History, OpId, Stop, Verdict};
use omnilink_search::{AnyOp, AnySpec, AnyState, CheckError, Erased, Stats, Watch, Witness};
use omnilink_weak::registers::Decision;
use omnilink_weak::{Action, Class, Explained, Forms, Report, Unexplained, ViewError};

use crate::check::{Error, FIRST_WIDTH, Method, merge, refuse_mixed};
use crate::touches::Touches;
use crate::{Atom, Chosen, Model, Visitor};

/// How to check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelOptions {
    /// The level, and how to search.
    pub weak: omnilink_weak::WeakOptions,
    /// Whether to try the ways other than the search over the whole history. Verdicts are the same either way.
    pub shortcuts: bool,
}

/// The result of a check, the method, and the work it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The verdict, with states rendered by the model.
    pub verdict: Verdict<Explained, Unexplained<String>>,
    /// The method that decided it.
    pub method: Method,
    /// The part of the object that is rejected, for display, if parts were searched separately.
    pub part: Option<String>,
    /// Why the procedure for registers did not decide it, if it was tried.
    pub no_procedure: Option<String>,
    /// Why there is no verdict, if the level sets a limit of its own.
    pub limit: Option<String>,
    /// Counts of the search.
    pub stats: Stats,
}

/// A history in which every operation has both forms.
pub fn bind<M: Model>(model: &M, history: &History<Call>) -> Result<History<Action<M::Op>>, Error> {
    let bound = history.try_map(|op| {
        let bad = |error| Error::BadCall { op: history.name(op.id), error };
        let Some(recorded) = model.bind(op).map_err(bad)? else { return Ok::<_, Error>(None) };
        let free = model.bind_free(op).map_err(bad)?;
        Ok::<_, Error>(Some(Action { name: op.call.action().into(), forms: Forms { recorded, free } }))
    })?;
    refuse_mixed(model, history)?;
    Ok(bound)
}

/// Checks a history.
pub fn check<M: Model>(
    model: &M,
    history: &History<Call>,
    options: &LevelOptions,
    watch: &dyn Watch,
) -> Result<Checked, Error> {
    let bound = bind(model, history)?;
    let (mut no_procedure, mut refutable) = (None, None);
    let level = &options.weak.level;
    if options.shortcuts
        && let Some(touches) = Touches::of(model, &bound, |op| &op.forms.recorded)
    {
        match touches.decide(level) {
            Some(Decision::Consistent(order)) => {
                return Ok(decided(Verdict::Accepted(Explained { order, missed: Vec::new() })));
            }
            Some(Decision::Violation { ops, reason }) => return Ok(contradiction((ops, reason))),
            Some(Decision::NotApplicable(reason)) => no_procedure = Some(reason),
            None => refutable = Some(touches),
        }
    }
    let refute = || refutable.as_ref().and_then(|touches| touches.refute(level)).map(contradiction);
    if level.class() == Class::Dependent {
        if let Some(refuted) = refute() {
            return Ok(refuted);
        }
    } else if options.shortcuts {
        let parts = bound.split(|op| model.partition(&op.forms.recorded)).filter(|parts| parts.len() > 1);
        if let Some(parts) = parts
            && let Some(checked) = check_parts(model, &bound, parts, &options.weak, &refute, watch)?
        {
            return Ok(Checked { no_procedure, ..checked });
        }
        if refutable.is_some() {
            // A narrow search decides small histories, and says more about them.
            let max_width = options.weak.search.max_width.map_or(FIRST_WIDTH, |most| most.min(FIRST_WIDTH));
            let report = search(model, &bound, &with_width(&options.weak, max_width), watch)?;
            if report.verdict != Verdict::Inconclusive(Stop::Width) {
                return Ok(show(model, report, Method::Search, None));
            }
            if let Some(refuted) = refute() {
                return Ok(refuted);
            }
        }
    }
    let report = search(model, &bound, &options.weak, watch)?;
    Ok(Checked { no_procedure, ..show(model, report, Method::Search, None) })
}

/// Checks a history against a built-in model.
pub fn check_chosen(
    chosen: &Chosen,
    history: &History<Call>,
    options: &LevelOptions,
    watch: &dyn Watch,
) -> Result<Checked, Error> {
    struct Check<'a> {
        history: &'a History<Call>,
        options: &'a LevelOptions,
        watch: &'a dyn Watch,
    }
    impl Visitor for Check<'_> {
        type Output = Result<Checked, Error>;

        fn visit<M: Model>(self, model: M) -> Self::Output {
            check(&model, self.history, self.options, self.watch)
        }
    }
    chosen.visit(Check { history, options, watch })
}

fn contradiction((ops, reason): (Vec<OpId>, String)) -> Checked {
    decided(Verdict::Rejected(Unexplained::Contradiction { ops, reason }))
}

fn decided(verdict: Verdict<Explained, Unexplained<String>>) -> Checked {
    let stats = Stats::default();
    Checked { verdict, method: Method::Procedure, part: None, no_procedure: None, limit: None, stats }
}

fn search<M: Model>(
    model: &M,
    history: &History<Action<M::Op>>,
    options: &omnilink_weak::WeakOptions,
    watch: &dyn Watch,
) -> Result<Report<AnyState>, Error> {
    let erased = history.try_map(|op| {
        let Action { name, forms: Forms { recorded, free } } = &op.call;
        let forms = Forms { recorded: AnyOp::new(recorded.clone()), free: free.clone().map(AnyOp::new) };
        Ok::<_, Infallible>(Some(Action { name: name.clone(), forms }))
    });
    let Ok(erased) = erased;
    search_any(&Erased(model), &erased, options, watch)
}

fn search_any(
    spec: AnySpec<'_, Infallible>,
    history: &History<Action<AnyOp>>,
    options: &omnilink_weak::WeakOptions,
    watch: &dyn Watch,
) -> Result<Report<AnyState>, Error> {
    omnilink_weak::check(&spec, history, options, watch).map_err(|error| match error {
        CheckError::Unconfirmed(error) => Error::Unconfirmed(error),
        CheckError::Spec(ViewError::Partway) => unreachable!("operations of a model take one step"),
    })
}

fn with_width(options: &omnilink_weak::WeakOptions, width: usize) -> omnilink_weak::WeakOptions {
    omnilink_weak::WeakOptions {
        search: omnilink_search::Options { max_width: Some(width), ..options.search.clone() },
        ..options.clone()
    }
}

/// Checks parts one after the other, narrowly at first, so that one that is hard to decide does not hide another that
/// is easy to reject. `None` if the orders of the parts do not fit together, as [`crate::check`] describes, or if the
/// level is not local, and no part is rejected narrowly. What is not decided narrowly may be refuted otherwise.
fn check_parts<M: Model>(
    model: &M,
    whole: &History<Action<M::Op>>,
    parts: Vec<(Atom, History<Action<M::Op>>)>,
    options: &omnilink_weak::WeakOptions,
    refute: &dyn Fn() -> Option<Checked>,
    watch: &dyn Watch,
) -> Result<Option<Checked>, Error> {
    let method = Method::Parts { all: parts.len(), searched: parts.len() };
    let mut stats = Stats::default();
    let mut explained: Vec<Explained> = Vec::new();
    let mut open: Vec<&(Atom, History<Action<M::Op>>)> = parts.iter().collect();
    let max_width = options.search.max_width.unwrap_or(usize::MAX);
    let mut stopped = None;
    let is_local = omnilink_weak::is_local(model, whole, options);
    for width in [FIRST_WIDTH.min(max_width), max_width] {
        let narrow = with_width(options, width);
        let mut wide = Vec::new();
        for part in open {
            let report = search(model, &part.1, &narrow, watch)?;
            stats.add(&report.stats);
            match report.verdict {
                Verdict::Accepted(found) => explained.push(found),
                Verdict::Inconclusive(Stop::Width) if width < max_width => wide.push(part),
                Verdict::Inconclusive(stop) => stopped = stopped.or(Some(stop)),
                Verdict::Rejected(_) => {
                    let part = model.atoms().show_key(part.0);
                    return Ok(Some(Checked { stats, ..show(model, report, method, Some(part)) }));
                }
            }
        }
        if !is_local {
            return Ok(None);
        }
        if !wide.is_empty()
            && let Some(refuted) = refute()
        {
            return Ok(Some(refuted));
        }
        open = wide;
    }
    let verdict = match stopped {
        Some(stop) => Verdict::Inconclusive(stop),
        None => {
            let orders: Vec<Witness> = explained.iter().map(|found| Witness::from_order(found.order.clone())).collect();
            let Ok(order) = merge(whole, &orders.iter().collect::<Vec<_>>()) else { return Ok(None) };
            let order: Vec<OpId> = order.steps().map(|placed| placed.op).collect();
            let mut missed: Vec<_> = explained.into_iter().flat_map(|found| found.missed).collect();
            missed.sort();
            Verdict::Accepted(Explained { order, missed })
        }
    };
    Ok(Some(Checked { verdict, method, part: None, no_procedure: None, limit: None, stats }))
}

fn show<M: Model>(model: &M, report: Report<AnyState>, method: Method, part: Option<String>) -> Checked {
    let Report { verdict, stats, limit } = report;
    let verdict = match verdict {
        Verdict::Accepted(explained) => Verdict::Accepted(explained),
        Verdict::Inconclusive(stop) => Verdict::Inconclusive(stop),
        Verdict::Rejected(failure) => {
            Verdict::Rejected(Unexplained::Views(failure.map_states(|state| model.show(state.get()))))
        }
    };
    Checked { verdict, method, part, no_procedure: None, limit, stats }
}
