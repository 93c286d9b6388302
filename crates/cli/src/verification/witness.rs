//! `omnilink check --verify`: checks whether an order explains a history.

use std::path::Path;

use omnilink_history::{Call, History, Op, Precedence};
use omnilink_judge::{Bound, Failed, InputError, Recording, is_tla, witness_line};
use omnilink_models::{Model, Visitor, with_model};
use omnilink_suggest::counted;
use omnilink_validate::NoAnswer;

use super::export;
use super::verify::{Stopped, Verified, verify};
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::files;
use crate::limits;
use crate::outcome::{label, print_failure};
use crate::terminal::complain;

/// The result of an order: replayed, or with a wrong line.
type Outcome = Result<Verified, (Option<usize>, String)>;

pub(crate) fn run(args: &VerifyArgs) -> Exit {
    limits::catch_interrupts();
    let (spec, trace, file) = match (&args.spec, &*args.paths) {
        (Some(spec), [trace, file]) => (spec.clone(), trace, file),
        (None, [spec, trace, file]) if is_tla(spec) => (spec.display().to_string(), trace, file),
        _ => {
            let help = "`omnilink check Queue.tla run.jsonl --verify order.txt` or \
                        `omnilink check --spec queue run.jsonl --verify order.txt`";
            let message = "expected a specification, one history and an order".into();
            return complain("what to verify", &InputError { message, help: Some(help.into()) });
        }
    };
    let order = match files::read_order(file) {
        Ok(order) => order,
        Err(error) => return complain(&file.display().to_string(), &error),
    };
    let outcome = if is_tla(Path::new(&spec)) {
        with_tla(&spec, trace, &order, args)
    } else {
        builtin(&spec, trace, &order, args)
    };
    match outcome {
        Ok(Ok(Verified { steps, states })) => {
            let (steps, states) = (counted(steps as u64, "step"), counted(states as u64, "state"));
            outln!("verified: {steps}, {states} possible at the end");
            Exit::Accepted
        }
        Ok(Err((line, why))) => {
            let place = line.map_or("at the end".to_owned(), |line| format!("line {line}"));
            outln!("{}, {place}: {why}", file.display());
            Exit::Rejected
        }
        Err(failed) => print_failure(&failed, &label(trace)),
    }
}

fn with_tla(spec: &str, trace: &Path, order: &str, args: &VerifyArgs) -> Result<Outcome, Failed> {
    let (tla, precedence) = (export::load(Path::new(spec), &args.about)?, args.about.level.strong()?);
    export::with_bound(&tla, &Recording::at(trace, args.about.from), &args.about, |bound: &Bound<'_, '_>| {
        let ids: Vec<_> = bound.history.ops().iter().map(|op| op.id).collect();
        let described = bound.describe(&ids)?;
        let lines: Vec<(String, String)> = described.iter().map(|op| (op.name.clone(), witness_line(op))).collect();
        match verify(bound.spec, bound.history, precedence, &lines, order) {
            Ok(verified) => Ok(Ok(verified)),
            Err(Stopped::Wrong { line, why }) => Ok(Err((line, why))),
            Err(Stopped::Spec(fault)) => Err(bound.failed(NoAnswer::Fault(fault))),
        }
    })
}

fn builtin(spec: &str, trace: &Path, order: &str, args: &VerifyArgs) -> Result<Outcome, Failed> {
    let recording = Recording::at(trace, args.about.from);
    let verifying = Verify { history: recording.history()?, precedence: args.about.level.strong()?, order };
    Ok(with_model(spec, verifying).map_err(InputError::new)??)
}

/// Replays an order with the chosen model.
struct Verify<'a> {
    history: &'a History<Call>,
    precedence: Precedence,
    order: &'a str,
}

impl Visitor for Verify<'_> {
    type Output = Result<Outcome, InputError>;

    fn visit<M: Model>(self, model: M) -> Self::Output {
        let bad = |op: &Op<Call>, error| {
            InputError::from(omnilink_models::check::Error::BadCall { op: self.history.name(op.id), error })
        };
        let bound = self.history.try_map(|op| model.bind(op).map_err(|error| bad(op, error)))?;
        let line = |op: &Op<M::Op>| {
            let shown = omnilink_judge::operation(self.history.name(op.id), self.history.op(op.id));
            (shown.name.clone(), witness_line(&shown))
        };
        let lines: Vec<(String, String)> = bound.ops().iter().map(line).collect();
        match verify(&model, &bound, self.precedence, &lines, self.order) {
            Ok(verified) => Ok(Ok(verified)),
            Err(Stopped::Wrong { line, why }) => Ok(Err((line, why))),
            Err(Stopped::Spec(never)) => match never {},
        }
    }
}
