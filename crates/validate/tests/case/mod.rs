//! A specification, its configuration and settings, and a verdict on a trace.

use omnilink_history::{History, format};
use omnilink_search::{Options, Unwatched};
use omnilink_settings::Settings;
use omnilink_tla::config;
use omnilink_tla::machine::Machine;
use omnilink_tla::program::link;
use omnilink_tla::resolve::resolve;
use omnilink_tla::strings::Strings;
use omnilink_validate::{Binder, Harvest, Problem, TraceOp, TraceOutcome, TraceSpec, add_ends, check};

use crate::common::{Nothing, Silence};

/// A specification with its configuration and settings.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) body: &'static str,
    pub(crate) config: &'static str,
    pub(crate) settings: &'static str,
}

/// Calls `look` with the specification and the bound history; returns problems as text.
pub(crate) fn with_spec<R>(
    case: Case,
    trace: &str,
    look: impl FnOnce(&mut TraceSpec<'_>, &History<TraceOp>) -> R,
) -> Result<R, String> {
    let text = |problems: Vec<Problem>| {
        let one = |problem: Problem| match problem.help {
            Some(help) => format!("{}\nhelp: {help}", problem.message),
            None => problem.message,
        };
        problems.into_iter().map(one).collect::<Vec<_>>().join("\n")
    };
    let mut strings = Strings::default();
    let mut config = config::parse(&format!("INIT Init NEXT Next\n{}", case.config), &mut strings).expect("a .cfg");
    let module = format!("---- MODULE T ----\n{}\n====\n", case.body);
    let mut module = resolve("T.tla", &module, &mut Nothing, strings).expect("a module");
    let settings = Settings::parse(case.settings).expect("settings");
    let mut trace = format::text::read(trace.as_bytes()).expect("a trace");
    if settings.companion.is_some() {
        add_ends(&mut trace);
    }
    let history = History::new(trace).expect("a history");
    let mut harvest = Harvest::new(&settings, &module);
    for op in history.ops() {
        harvest.add(op, &history.processes()[op.process.index()]);
    }
    harvest.give(&mut module, &mut config).map_err(text)?;
    let program = link(module, &config, Default::default()).expect("a program");
    let mut machine = Machine::new(&program, Box::new(Silence));
    let binder = Binder::new(&program, &config, &settings, &mut machine).map_err(text)?;
    let mut spec = TraceSpec::new(binder, machine);
    let bound = history.try_map(|op| spec.bind(op, history.processes())).map_err(text)?;
    Ok(look(&mut spec, &bound))
}

/// The verdict, which must not depend on the way to search.
pub(crate) fn verdict(case: Case, trace: &str) -> String {
    let verdict = |reduce: bool, by_level: bool| {
        with_spec(case, trace, |spec, history| {
            let options = Options { reduce, by_level, ..Options::default() };
            match check(spec, history, &options, &Unwatched) {
                Ok(checked) => match checked.outcome {
                    TraceOutcome::Accepted(_) => "accepted".to_owned(),
                    TraceOutcome::Rejected(_) => "rejected".to_owned(),
                    TraceOutcome::Violated(..) => "violated".to_owned(),
                    TraceOutcome::Inconclusive(stop) => format!("inconclusive: {stop}"),
                },
                Err(error) => format!("error: {error}"),
            }
        })
        .unwrap_or_else(|problems| problems)
    };
    let first = verdict(true, false);
    for (reduce, by_level) in [(true, true), (false, false), (false, true)] {
        assert_eq!(verdict(reduce, by_level), first, "reduce: {reduce}, by level: {by_level}\n{trace}");
    }
    first
}
