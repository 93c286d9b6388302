//! `omnilink check --tlc`: compares with TLC's verdict.
//!
//! TLC runs on the output of `omnilink convert --to tlc`. With `-tool` it numbers its messages, and only the numbers are
//! relied on: one for a violated invariant, one for a search that ended without an error. Anything else is not a
//! verdict.

use std::path::Path;
use std::process::Command;

use omnilink_judge::{Case, Failed, InputError, Recording, Tla};
use omnilink_report::Verdict;
use omnilink_validate::Export;

use super::export;
use crate::args::ConfirmArgs;
use crate::exit::Exit;
use crate::limits::{self, Limits};
use crate::outcome::{label, print_failure};

/// Messages of TLC: an invariant is violated, by an initial state or by another one.
const VIOLATED: [&str; 2] = ["2107", "2110"];
/// The search has ended without an error.
const COMPLETE: &str = "2193";
/// The number of states.
const COUNTS: &str = "2199";

pub(crate) fn run(args: &ConfirmArgs) -> Exit {
    limits::catch_interrupts();
    match confirm(args) {
        Ok(exit) => exit,
        Err(failed) => print_failure(&failed, &label(&args.trace)),
    }
}

fn confirm(args: &ConfirmArgs) -> Result<Exit, Failed> {
    let tla = export::load(&args.spec, &args.about)?;
    let recording = Recording::at(&args.trace, args.about.from);
    let ours = match ours(&tla, &recording, args)? {
        Ok(ours) => ours,
        Err(stop) => {
            outln!("OmniLink: inconclusive, {stop}");
            return Ok(Exit::Inconclusive);
        }
    };
    outln!("OmniLink: {ours}");
    let exported = export::export(&tla, &recording, &args.about)?;
    let theirs = theirs(&exported, &args.tlc)?;
    let verdict = match theirs.is_accepted {
        true => ACCEPTED,
        // TLC does not tell whether orders are missing or break an invariant.
        false if ours == "violated" => "not accepted",
        false => "rejected",
    };
    outln!("TLC: {verdict}, {}", theirs.counts);
    if theirs.is_accepted == (ours == ACCEPTED) {
        outln!("both verdicts are the same");
        Ok(Exit::Accepted)
    } else {
        outln!("the verdicts differ, and one of them is wrong");
        Ok(Exit::Rejected)
    }
}

/// The word for an accepted history.
const ACCEPTED: &str = "accepted";

/// Our verdict in a word, or why there is none.
fn ours(tla: &Tla, recording: &Recording, args: &ConfirmArgs) -> Result<Result<&'static str, String>, Failed> {
    let label = label(&args.trace);
    let limits = Limits::around(&(&args.about).into(), &label);
    let case = &mut Case { recording, label: &label, witness: None, limits: &limits };
    let report = tla.check(&args.about.options(), case)?;
    Ok(match report.verdict {
        Verdict::Inconclusive { stop, .. } => Err(stop),
        verdict => Ok(verdict.word()),
    })
}

struct Theirs {
    is_accepted: bool,
    counts: String,
}

fn theirs(exported: &Export, jar: &Path) -> Result<Theirs, Failed> {
    let cannot = |what: &str, error: std::io::Error| InputError::new(format!("{what}: {error}"));
    let directory = tempfile::tempdir().map_err(|error| cannot("a temporary directory", error))?;
    export::write(exported, directory.path())?;
    // TLC runs in another directory.
    let jar = jar.canonicalize().map_err(|error| cannot(&jar.display().to_string(), error))?;
    let mut command = Command::new("java");
    command.args(["-XX:+UseParallelGC", "-Xss64m", "-cp"]).arg(jar);
    command.args(["tlc2.TLC", "-tool", "-deadlock", "-cleanup", &exported.name]).current_dir(directory.path());
    let output = command.output().map_err(|error| cannot("cannot run `java`", error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let counts = message(&text, COUNTS).unwrap_or_default();
    let counts = counts.split(" found").next().unwrap_or_default().to_owned();
    match VIOLATED.iter().any(|code| message(&text, code).is_some()) {
        true => Ok(Theirs { is_accepted: true, counts }),
        false if message(&text, COMPLETE).is_some() => Ok(Theirs { is_accepted: false, counts }),
        false => {
            let message = format!("TLC has no verdict:\n{}{}", text, String::from_utf8_lossy(&output.stderr));
            Err(Failed::Input(InputError::new(message.trim_end())))
        }
    }
}

/// The text of a TLC message.
fn message(output: &str, code: &str) -> Option<String> {
    let start = format!("@!@!@STARTMSG {code}:");
    let mut lines = output.lines().skip_while(|line| !line.contains(&start));
    lines.next()?;
    Some(lines.take_while(|line| !line.starts_with("@!@!@ENDMSG ")).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_by_number() {
        let output = "Parsing\n@!@!@STARTMSG 2199:0 @!@!@\n4 states generated, 3 distinct states found\n\
                      @!@!@ENDMSG 2199 @!@!@\n@!@!@STARTMSG 2193:0 @!@!@\n@!@!@ENDMSG 2193 @!@!@\n";
        assert_eq!(message(output, COUNTS).unwrap(), "4 states generated, 3 distinct states found");
        assert_eq!(message(output, COMPLETE).unwrap(), "");
        assert_eq!(message(output, VIOLATED[1]), None);
    }
}
