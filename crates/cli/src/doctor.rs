//! `omnilink doctor`: reports what works on this machine, by trying it.
//!
//! Every line is a fact and its consequence. Checking a history needs nothing of this, so the command never fails.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anstyle::AnsiColor;
use omnilink_explore::instrument::cargo::{INSTALL_SOURCES, Toolchain};
use omnilink_explore::{Control, ExecutionOrder};
use serde_json::json;

use crate::args::{DoctorArgs, Output};
use crate::exit::Exit;

/// A feature that is present or missing.
struct Fact {
    name: &'static str,
    is_there: bool,
    /// The evidence.
    found: String,
    /// The consequence.
    so: &'static str,
}

pub(crate) fn run(args: &DoctorArgs) -> Exit {
    let facts =
        [cores(), clock(), control(), counters(), rr(&args.rr), cxx(), cargo(), rust_sources(), java(), browser()];
    match args.format {
        Output::Json => {
            let shown = facts
                .iter()
                .map(|fact| json!({ "name": fact.name, "there": fact.is_there, "found": fact.found, "so": fact.so }));
            let document = json!({ "schema": "omnilink.doctor/1", "facts": shown.collect::<Vec<_>>() });
            outln!("{document:#}");
        }
        Output::Human => {
            let width = facts.iter().map(|fact| fact.name.len()).max().unwrap_or_default();
            for fact in &facts {
                let (word, color) = if fact.is_there { ("yes", AnsiColor::Green) } else { ("no ", AnsiColor::Yellow) };
                let color = color.on_default();
                outln!("{color}{word}{color:#}  {:width$}  {}", fact.name, fact.found);
                outln!("     {:width$}  {}", "", fact.so);
            }
        }
    }
    Exit::Accepted
}

fn cores() -> Fact {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Fact {
        name: "several cores",
        is_there: cores > 1,
        found: format!("{cores}"),
        so: match cores {
            1 => "threads take turns: free-running threads hardly ever hit races between two instructions",
            _ => "threads run at the same time; more of them than cores take turns as well",
        },
    }
}

fn clock() -> Fact {
    let available = read("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let flags = read("/proc/cpuinfo");
    let has = |flag: &str| flags.split_whitespace().any(|word| word == flag);
    let (is_invariant, is_trusted) =
        (has("constant_tsc") && has("nonstop_tsc"), available.split_whitespace().any(|source| source == "tsc"));
    let found = match (is_invariant, is_trusted) {
        (true, true) => "the processor's counter is invariant, and the kernel trusts it",
        (true, false) => "the processor's counter is invariant, but the kernel does not offer it as a clock",
        (false, _) => "the processor has no invariant counter",
    };
    let is_there = is_invariant && is_trusted && cfg!(target_arch = "x86_64");
    Fact {
        name: "fast clock",
        is_there,
        found: found.into(),
        so: if is_there {
            "recorders read it"
        } else {
            "recorders read CLOCK_MONOTONIC, which takes about twice as long"
        },
    }
}

fn control() -> Fact {
    let tried = try_control();
    Fact {
        name: "control",
        is_there: tried.is_ok(),
        so: match &tried {
            Ok(_) => "`omnilink fuzz` controls the schedule, and its findings can be replayed",
            Err(_) => "`omnilink fuzz` leaves the schedule to the operating system, or to rr",
        },
        found: tried.unwrap_or_else(|why| why),
    }
}

/// A program with two threads, built for control.
const TRIAL: &str = "#include <atomic>\n#include <thread>\nstd::atomic<int> x;\n\
                     int main() { std::thread other([] { ++x; }); ++x; other.join(); }\n";

/// Builds a small program and runs it twice.
fn try_control() -> Result<String, String> {
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = |name: &str| scratch.path().join(name);
    fs::write(file("trial.cpp"), TRIAL).map_err(|error| error.to_string())?;
    let omnilink = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut build = Command::new(omnilink);
    build.args(["build", "cxx", "--", "c++", "-pthread", "trial.cpp", "-o", "trial"]).current_dir(scratch.path());
    let built = build.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if !built.status.success() {
        let said = String::from_utf8_lossy(&built.stderr);
        return Err(said.lines().next().unwrap_or("cannot build a program").to_owned());
    }
    let runtime = crate::kit::kit()?.runtime().path();
    let execute = || {
        let mut control = Control::start(&Command::new(file("trial")), &runtime, scratch.path())?;
        control.execute(&ExecutionOrder { seed: 1, ..ExecutionOrder::default() }, Duration::from_secs(10))
    };
    let pair = execute().and_then(|first| Ok((first, execute()?)));
    let (first, second) = pair.map_err(|error| error.to_string())?;
    match first == second {
        true => Ok(format!("a program made the same {} steps twice", first.steps.len())),
        false => Err("a program did not make the same steps twice".to_owned()),
    }
}

fn counters() -> Fact {
    let is_there = Path::new("/sys/bus/event_source/devices/cpu").exists();
    Fact {
        name: "hardware counters",
        is_there,
        found: if is_there { "the kernel offers them" } else { "the kernel offers none, as in most virtual machines" }
            .into(),
        so: "rr counts branches with them",
    }
}

fn rr(rr: &str) -> Fact {
    let probed = match version(rr, &["--version"]) {
        None => Err(format!("`{rr}` is not installed")),
        Some(version) => tempfile::tempdir()
            .map_err(|error| error.to_string())
            .and_then(|scratch| omnilink_explore::rr::probe(rr, scratch.path()))
            .map(|()| version.clone())
            .map_err(|why| format!("{version}: {why}")),
    };
    Fact {
        name: "rr",
        is_there: probed.is_ok(),
        so: match &probed {
            Ok(_) => "recorded and replayed a program just now: `omnilink fuzz --rr` works",
            Err(_) => "nothing else needs it",
        },
        found: probed.unwrap_or_else(|why| why),
    }
}

fn cxx() -> Fact {
    let found: Vec<String> = ["g++", "clang++"].iter().filter_map(|name| version(name, &["--version"])).collect();
    Fact {
        name: "C++ compiler",
        is_there: !found.is_empty(),
        found: if found.is_empty() { "neither g++ nor clang++".into() } else { found.join("; ") },
        so: "for harnesses in C++",
    }
}

fn cargo() -> Fact {
    let found = version("cargo", &["--version"]);
    Fact {
        name: "Rust",
        is_there: found.is_some(),
        found: found.unwrap_or_else(|| "`cargo` is not installed".into()),
        so: "for harnesses and tests in Rust",
    }
}

fn rust_sources() -> Fact {
    let is_there = Toolchain::of("rustc".as_ref(), Path::new(".")).is_some_and(|toolchain| toolchain.has_sources());
    Fact {
        name: "Rust's sources",
        is_there,
        found: match is_there {
            true => "the toolchain has those of the standard library".into(),
            false => format!("not installed: `{INSTALL_SOURCES}`"),
        },
        so: match is_there {
            true => "the standard library is built with programs in Rust, so all their schedules can be explored",
            false => "the standard library is not instrumented: not all schedules of programs in Rust are explored",
        },
    }
}

fn java() -> Fact {
    let found = version("java", &["-version"]);
    Fact {
        name: "Java",
        is_there: found.is_some(),
        found: found.unwrap_or_else(|| "`java` is not installed".into()),
        so: "for `omnilink check --tlc`, which compares with TLC; nothing else needs it",
    }
}

fn browser() -> Fact {
    let names = ["chromium", "chromium-browser", "google-chrome", "firefox"];
    let found = names.iter().find_map(|name| version(name, &["--version"]));
    Fact {
        name: "browser",
        is_there: found.is_some(),
        found: found.unwrap_or_else(|| "neither Chromium, Chrome nor Firefox".into()),
        so: "for `omnilink view` and for the pages that `omnilink report` writes; any version since 2023",
    }
}

/// The first line of a command's version output, if it runs.
fn version(name: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(name).args(arguments).stdin(Stdio::null()).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
