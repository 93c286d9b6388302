//! `omnilink check`: histories in, verdicts out.

mod builtin;
pub(crate) mod mentions;
pub(crate) mod output;
pub(crate) mod tla;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use history::{Cut, OpId, Stop};
use report::{Detail, Report, Verdict};
use search::{Stats, Strategy};

use crate::args::{CheckArgs, Order};
use crate::complain;
use crate::exit::Exit;
use crate::input::{self, InputError};
use crate::limits;
use crate::spec::complaint::{self, Complaint};
use builtin::Builtin;
use tla::Tla;

/// What histories are checked against.
enum Against {
    Builtin(Builtin),
    Tla(Box<Tla>),
}

/// Why a history could not be checked.
pub(crate) enum Failed {
    Input(InputError),
    Spec(Vec<Complaint>),
    /// A limit was reached in the middle of an evaluation.
    Stopped(Stop),
}

impl<E: Into<InputError>> From<E> for Failed {
    fn from(error: E) -> Failed {
        Failed::Input(error.into())
    }
}

impl Failed {
    /// Says what is wrong with a history, and how that ends.
    pub(crate) fn tell(&self, label: &str) -> Exit {
        match self {
            Failed::Input(error) => complain(label, error),
            Failed::Stopped(stop) => {
                anstream::eprintln!("{label}: inconclusive: {stop}");
                Exit::Inconclusive
            }
            Failed::Spec(complaints) => {
                anstream::eprintln!("{label}:");
                complaint::print(complaints);
                Exit::Wrong
            }
        }
    }
}

pub(crate) fn run(args: &CheckArgs, detail: Detail) -> Exit {
    limits::catch_interrupts();
    let found = match (&args.spec, &*args.paths) {
        (None, [path]) if detail == Detail::Full && path.extension().is_some_and(|extension| extension == "json") => {
            shown_again(path, args)
        }
        _ => reports(args, detail),
    };
    let (reports, exit) = match found {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    if exit == Exit::Nothing && reports.is_empty() {
        anstream::eprintln!("nothing to check: there are no histories there");
    }
    match output::write(args, &reports) {
        Ok(()) => exit,
        Err((path, error)) => complain(&path, &error),
    }
}

/// Shows reports that were written to a file before.
fn shown_again(path: &Path, args: &CheckArgs) -> Result<(Vec<Report>, Exit), Exit> {
    let wrong = |error: InputError| complain(&path.display().to_string(), &error);
    let text = std::fs::read_to_string(path).map_err(|error| wrong(InputError::new(error)))?;
    let reports = output::read(&text).map_err(|error| wrong(InputError::new(error)))?;
    reports.iter().for_each(|report| output::show(args, Detail::Full, report));
    let exit = reports.iter().map(exit_of).max().unwrap_or(Exit::Nothing);
    Ok((reports, exit))
}

/// A report on each history that can be checked, and how it all ends. People see each as it comes.
fn reports(args: &CheckArgs, detail: Detail) -> Result<(Vec<Report>, Exit), Exit> {
    let (against, histories) = against(args)?;
    let (mut exit, mut reports) = (Exit::Nothing, Vec::new());
    let mut witness_file = match args.witness.as_ref().map(File::create).transpose() {
        Ok(file) => file.map(BufWriter::new),
        Err(error) => return Err(complain("--witness", &InputError::new(error))),
    };
    for path in histories {
        let recordings = match input::recordings(path) {
            Ok(recordings) => recordings,
            Err(error) => {
                exit = exit.max(complain(&path.display().to_string(), &error));
                continue;
            }
        };
        for recording in recordings {
            let label = label(&recording);
            let checked = match &against {
                Against::Builtin(builtin) => builtin.check(args, &recording, &label, &mut witness_file),
                Against::Tla(tla) => tla.check(args, &recording, &label, &mut witness_file),
            };
            match checked {
                Ok(report) => {
                    exit = exit.max(exit_of(&report));
                    output::show(args, detail, &report);
                    reports.push(report);
                }
                Err(failed) => exit = exit.max(failed.tell(&label)),
            }
        }
    }
    if let Some(Err(error)) = witness_file.map(|mut file| file.flush()) {
        return Err(complain("--witness", &InputError::new(error)));
    }
    Ok((reports, exit))
}

/// What to check against, and the histories. A path that ends in `.tla` before all others is a specification.
fn against(args: &CheckArgs) -> Result<(Against, &[PathBuf]), Exit> {
    let (spec, histories) = match (&args.spec, &*args.paths) {
        (Some(name), histories) => (name.clone(), histories),
        (None, [first, histories @ ..]) if is_tla(first) => (first.display().to_string(), histories),
        (None, _) => {
            let help = "`omnilink check Queue.tla run.jsonl` or `omnilink check --spec queue run.jsonl`";
            let message = "neither a TLA+ module before the histories nor `--spec` is there".into();
            return Err(complain("what to check against", &InputError { message, help: Some(help.into()) }));
        }
    };
    let against = if is_tla(Path::new(&spec)) {
        let tla = Tla::load(Path::new(&spec), &args.about).map_err(|complaints| {
            complaint::print(&complaints);
            Exit::Wrong
        })?;
        Against::Tla(Box::new(tla))
    } else {
        Against::Builtin(Builtin::find(&spec).map_err(|error| complain("--spec", &error))?)
    };
    Ok((against, histories))
}

fn exit_of(report: &Report) -> Exit {
    match report.verdict {
        _ if report.history.operations == Some(0) => Exit::Nothing,
        Verdict::Accepted => Exit::Accepted,
        Verdict::Rejected(_) | Verdict::Violated(_) => Exit::Rejected,
        Verdict::Inconclusive { .. } => Exit::Inconclusive,
    }
}

/// How people call a recording.
pub(crate) fn label(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// How a path says that it is a TLA+ module.
pub(crate) fn is_tla(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tla")
}

/// How to search.
fn strategy(args: &CheckArgs) -> Strategy {
    match args.about.order {
        Order::RealTime if !args.exhaustive => Strategy::JustInTime,
        order => Strategy::ByLevel(order.precedence()),
    }
}

fn order(args: &CheckArgs) -> report::Order {
    match args.about.order {
        Order::RealTime => report::Order::RealTime,
        Order::Program => report::Order::Program,
    }
}

/// Where a recording breaks off, each for a sentence that begins by saying that it does.
fn cuts(cuts: &[Cut]) -> Vec<String> {
    let sentence = |cut: &Cut| {
        let part = if cut.part.is_empty() { String::new() } else { format!(" of {}", cut.part) };
        format!("after {} bytes{part} {}", cut.at_byte, cut.found)
    };
    cuts.iter().map(sentence).collect()
}

/// So many of the operations in flight at the widest place are named: those that ran longest.
const MOST_IN_FLIGHT: usize = 8;

/// What a check took.
fn stats(stats: &Stats, method: &str, mention: &mut dyn FnMut(OpId) -> report::OpRef) -> report::Stats {
    let widest = stats.widest.as_ref().map(|widest| report::Widest {
        width: widest.width,
        at: widest.goal.map(&mut *mention),
        in_flight: widest.in_flight.iter().take(MOST_IN_FLIGHT).map(|&op| mention(op)).collect(),
    });
    report::Stats {
        method: method.into(),
        returned: stats.operations,
        evaluations: stats.steps,
        generated: stats.generated,
        distinct: stats.distinct,
        widest,
        seconds: 0.0,
    }
}
