//! Ways to check our verdicts: a module for TLC, a comparison with TLC, and orders replayed step by step.

pub(crate) mod confirm;
pub(crate) mod export;
mod verify;
pub(crate) mod witness;

use std::path::{Path, PathBuf};

use omnilink_judge::{InputError, is_tla};

use crate::args::{CheckArgs, ConfirmArgs, VerifyArgs};
use crate::check::{self, isolation, specification};
use crate::exit::Exit;
use crate::terminal::complain;

/// `omnilink check`, or the second opinion that its options ask for.
pub(crate) fn check(mut args: CheckArgs) -> Exit {
    if let Err(exit) = isolation::apply_settings(&mut args) {
        return exit;
    }
    match (&args.verify, &args.tlc) {
        (Some(file), _) if args.isolation.is_some() => isolation::verify(&args, file),
        (Some(file), _) => {
            let paths = args.paths.iter().chain([file]).cloned().collect();
            witness::run(&VerifyArgs { paths, spec: args.spec, about: args.about })
        }
        (None, Some(jar)) => with_tlc(&args, jar).unwrap_or_else(|exit| exit),
        (None, None) => check::run(args),
    }
}

fn with_tlc(args: &CheckArgs, jar: &Path) -> Result<Exit, Exit> {
    let wrong = |message: &str| {
        let help = Some("`omnilink check Queue.tla run.jsonl --tlc tla2tools.jar`".to_owned());
        complain("--tlc", &InputError { message: message.to_owned(), help })
    };
    match specification(args)? {
        (spec, [trace]) if is_tla(Path::new(&spec)) => {
            let (spec, trace, tlc) = (PathBuf::from(spec), trace.clone(), jar.to_owned());
            Ok(confirm::run(&ConfirmArgs { spec, trace, tlc, about: args.about.clone() }))
        }
        (_, [_]) => Err(wrong("expected a TLA+ module as the specification")),
        _ => Err(wrong("expected one history")),
    }
}
