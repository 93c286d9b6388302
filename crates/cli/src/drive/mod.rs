//! `omnilink drive`: the specification chooses the calls, and the system answers.
//!
//! ```text
//! Follower ── allowed calls ──► Choice ── a line ──► System: the program
//!    ▲                                                  │
//!    └────────── outcome and results, state ◄───────────┘
//! ```
//!
//! A run makes one call after another. It fails if no state of the specification agrees with the answers, if the program
//! refuses a call that every possible state allows, or if it reports values of variables that no possible state has. The calls and their
//! answers are a history, and the judge decides about it as about any other: a failing run prints its explanation.

mod choice;
mod history;
mod scripted;
mod system;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use omnilink_harness::{Follower, Input, Lost, Plan};
use omnilink_history::Value;
use omnilink_judge::load::{Loaded, load};
use omnilink_judge::{Case, CheckOptions, Complaint, HostWorld, InputError, Judge, Recording, quoted};
use omnilink_report::{Detail, Report, Verdict, clean, text};
use omnilink_settings::Settings;
use omnilink_suggest::counted;
use omnilink_tla::program::LinkOptions;

use self::choice::Chooser;
use self::history::{History, answer, shown};
use self::system::{Answer, Broken, System};
use crate::args::{ANSWER_WITHIN, DriveArgs, Progress};
use crate::exit::Exit;
use crate::limits::{self, Limits};
use crate::outcome::{print_failure, print_spec_error};
use crate::terminal::{complain, print_complaints};

/// A run that does not agree with the specification, or ended early.
enum Failure {
    /// No order of the calls is allowed.
    Rejected,
    /// The answer is allowed after the answers before it, but not in a state with the values of variables that the program reported.
    Contradiction { input: Input, answered: Returned },
    /// The program refused a call that every possible state allows.
    Refused(Input),
    /// The program reports values of variables that no possible state has.
    State { told: BTreeMap<String, Value>, possible: BTreeMap<String, Vec<Value>> },
    /// The program did something else than answer, or ended.
    Broken(Broken),
    /// The specification cannot be followed any further.
    Lost(Lost),
}

/// The outcome of a call that was not refused, and its results.
type Returned = (String, BTreeMap<String, Value>);

/// The counts of all runs.
#[derive(Default)]
struct Totals {
    runs: u64,
    calls: u64,
    refused: u64,
    /// The outcomes that were seen.
    outcomes: BTreeMap<String, u64>,
    /// Behaviors that were followed to their end, and those that the program answered otherwise.
    reproduced: u64,
    otherwise: u64,
}

pub(crate) fn run(args: &DriveArgs) -> Exit {
    limits::catch_interrupts();
    drive(args).unwrap_or_else(|exit| exit)
}

fn drive(args: &DriveArgs) -> Result<Exit, Exit> {
    let complaints = |complaints: Vec<Complaint>| {
        print_complaints(&complaints);
        Exit::Wrong
    };
    let (settings, _) = Settings::read_for(&args.spec, args.settings.as_deref())
        .map_err(|error| complaints(vec![Complaint::of_settings(&error)]))?;
    let options = LinkOptions { skip_properties: true, ..LinkOptions::default() };
    let Loaded { program, warnings, .. } = load(&args.spec, &args.around.around(), options, &[]).map_err(complaints)?;
    print_complaints(&warnings);
    let plan = omnilink_init::plan(&args.spec, &args.around.around(), &settings).map_err(complaints)?;
    let judge = Judge::new(
        &args.spec.display().to_string(),
        CheckOptions {
            config: args.around.config.clone(),
            includes: args.around.includes.clone(),
            settings: args.settings.clone(),
            ..CheckOptions::default()
        },
    )
    .map_err(|failed| print_spec_error(&failed))?;
    let world = Box::new(HostWorld::new(|line| errln!("{line}")));
    let follower = Follower::new(&program, &plan, &settings, world);
    let follower = follower.map_err(|lost| complaints(vec![complaint_of(&program, &lost)]))?;
    let (totals, answers) = (Totals::default(), Vec::new());
    let mut driver = Driver { args, plan: &plan, judge, follower, totals, answers };
    let exit = match args.from.is_empty() {
        true => driver.random_runs(),
        false => driver.scripted_runs(),
    }?;
    if exit == Exit::Accepted && driver.totals.calls == 0 {
        errln!("nothing to check: no call was made");
        return Ok(Exit::Nothing);
    }
    if exit == Exit::Accepted {
        driver.print_summary();
    }
    Ok(exit)
}

fn complaint_of(program: &omnilink_tla::program::Program, lost: &Lost) -> Complaint {
    match lost {
        Lost::Evaluation(error) => Complaint::of_evaluation(program, error),
        other => Complaint::new(other.to_string()),
    }
}

struct Driver<'a> {
    args: &'a DriveArgs,
    plan: &'a Plan,
    judge: Judge,
    follower: Follower<'a>,
    totals: Totals,
    /// The answers of the run.
    answers: Vec<(Input, Returned)>,
}

impl Driver<'_> {
    /// Makes runs with random calls until one fails.
    fn random_runs(&mut self) -> Result<Exit, Exit> {
        let mut chooser = Chooser::default();
        for seed in self.args.seed..self.args.seed.saturating_add(self.args.runs) {
            chooser.begin(seed);
            let mut history = History::default();
            let result = self.random_run(&mut chooser, &mut history);
            self.totals.runs += 1;
            if let Some(exit) = self.conclude(&format!("run {seed}"), &history, result)? {
                if exit != Exit::Interrupted {
                    outln!("  repeat this run: {}", self.again(seed));
                }
                return Ok(exit);
            }
        }
        Ok(Exit::Accepted)
    }

    fn random_run(&mut self, chooser: &mut Chooser, history: &mut History) -> Result<(), Failure> {
        let mut system = self.start()?;
        for _ in 0..self.args.calls {
            let inputs = self.follower.inputs().map_err(Failure::Lost)?;
            let place = chooser.place(self.follower.states());
            let Some(input) = chooser.choose(place, &inputs, self.args.disabled) else { break };
            self.call(&mut system, &input, history)?;
        }
        system.end().map_err(Failure::Broken)
    }

    fn start(&mut self) -> Result<System, Failure> {
        self.follower.restart().map_err(Failure::Lost)?;
        self.answers.clear();
        System::start(&self.args.program, self.args.timeout, self.follower.variables()).map_err(Failure::Broken)
    }

    /// Makes a call, and follows its answer. Returns the outcome and the results, or `None` if it was refused.
    fn call(&mut self, system: &mut System, input: &Input, history: &mut History) -> Result<Option<Returned>, Failure> {
        let call = self.plan.calls.iter().find(|call| call.name == input.call);
        // Invariant: inputs come from steps, which are read with the plan, or were compared with it.
        let call = call.expect("an input is a call of the plan");
        let answer = system.ask(call, input).map_err(Failure::Broken)?;
        self.totals.calls += 1;
        let (told, answered) = match answer {
            Answer::Refused { state } => {
                history.refused(call, input);
                self.totals.refused += 1;
                if self.follower.is_allowed_everywhere(input).map_err(Failure::Lost)? {
                    return Err(Failure::Refused(input.clone()));
                }
                (state, None)
            }
            Answer::Returned { outcome, results, state } => {
                history.returned(call, outcome, input, &results);
                let outcome = outcome.action.clone();
                *self.totals.outcomes.entry(outcome.clone()).or_default() += 1;
                self.follower.answer(input, &outcome, &results).map_err(Failure::Lost)?;
                self.answers.push((input.clone(), (outcome.clone(), results.clone())));
                if self.follower.states().is_empty() {
                    return Err(match self.is_allowed_by_answers().map_err(Failure::Lost)? {
                        true => Failure::Contradiction { input: input.clone(), answered: (outcome, results) },
                        false => Failure::Rejected,
                    });
                }
                (state, Some((outcome, results)))
            }
        };
        if let Some(told) = told
            && !self.follower.keep(&told)
        {
            let possible = self.follower.values(&told);
            return Err(Failure::State { told, possible });
        }
        Ok(answered)
    }

    /// Whether the specification allows the answers of the run, whatever values of variables the program reported.
    fn is_allowed_by_answers(&mut self) -> Result<bool, Lost> {
        self.follower.restart()?;
        for (input, (outcome, results)) in &self.answers {
            self.follower.answer(input, outcome, results)?;
            if self.follower.states().is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Judges the history of a run, and prints a failure. Returns the exit code if the runs end here.
    fn conclude(&self, name: &str, history: &History, result: Result<(), Failure>) -> Result<Option<Exit>, Exit> {
        let failure = result.err();
        if limits::is_interrupted() {
            let (runs, calls) = (self.totals.runs, self.totals.calls);
            errln!("interrupted: {} with {}, and no failure before", counted(runs, "run"), counted(calls, "call"));
            return Ok(Some(Exit::Interrupted));
        }
        let is_accepted = history.is_empty() || matches!(self.judged(name, history)?.verdict, Verdict::Accepted);
        let calls = history.len();
        match &failure {
            None if is_accepted => return Ok(None),
            Some(Failure::Lost(Lost::States)) if is_accepted => {
                errln!("note: {name}: {}; the run ends after {}", Lost::States, counted(calls, "call"));
                return Ok(None);
            }
            Some(Failure::Lost(lost)) => {
                errln!("error: {name}: {lost}");
                return Ok(Some(Exit::Wrong));
            }
            Some(Failure::Rejected) if is_accepted => {
                errln!(
                    "error: {name}: no step of the next-state relation has the result of call {calls}, but the specification \
                     accepts the history"
                );
                errln!(
                    "help: a set over which it quantifies lacks the value; drive needs every value that the system may answer"
                );
                return Ok(Some(Exit::Wrong));
            }
            _ => {}
        }
        let output = self.args.output.as_path();
        self.keep(output, history)?;
        let (bold, red) = (Style::new().bold(), AnsiColor::Red.on_default());
        let exit = match &failure {
            Some(Failure::Broken(broken)) => {
                outln!("{bold}{name}{bold:#}: {red}{}{red:#} after {}", broken.word(), counted(calls, "call"));
                outln!("  {broken}");
                Exit::Crashed
            }
            Some(Failure::Refused(input)) => {
                outln!("{bold}{name}{bold:#}: {red}rejected{red:#}");
                outln!("  call {calls}: the program refused `{}`, which the specification allows", shown(input));
                Exit::Rejected
            }
            Some(Failure::Contradiction { input, answered: (outcome, results) }) => {
                outln!("{bold}{name}{bold:#}: {red}rejected{red:#}");
                outln!(
                    "  call {calls}: `{}` answered {}, which the specification allows after the",
                    shown(input),
                    answer(outcome, results)
                );
                outln!("  answers before it, but in no state with the values that the program reported");
                Exit::Rejected
            }
            Some(Failure::State { told, possible }) => {
                outln!("{bold}{name}{bold:#}: {red}rejected{red:#}");
                out!("{}", differing_state(calls, told, possible));
                Exit::Rejected
            }
            None | Some(Failure::Rejected | Failure::Lost(_)) => {
                let report = self.report(name, output)?;
                out!("{}", text(&report, Detail::Brief, true));
                crate::outcome::exit_of(&report)
            }
        };
        if !matches!(failure, None | Some(Failure::Rejected)) {
            out!("{}", history.last_calls());
            outln!("  history: {}", output.display());
        }
        Ok(Some(exit))
    }

    /// The report of the judge on the history of a run.
    fn judged(&self, name: &str, history: &History) -> Result<Report, Exit> {
        let cannot = |error: std::io::Error| complain(name, &InputError::new(format!("cannot be written: {error}")));
        let file = tempfile::Builder::new().suffix(".jsonl").tempfile().map_err(cannot)?;
        std::fs::write(file.path(), history.text()).map_err(cannot)?;
        self.report(name, file.path())
    }

    fn report(&self, name: &str, path: &Path) -> Result<Report, Exit> {
        let settings = limits::Settings { timeout: None, max_memory: u64::MAX, progress: Progress::None };
        let limits = Limits::new(&settings, name);
        let recording = Recording::at(path, None);
        let case = &mut Case { recording: &recording, label: name, witness: None, limits: &limits };
        self.judge.report(case).map_err(|failed| print_failure(&failed, name))
    }

    /// Writes the history of a failing run.
    fn keep(&self, path: &Path, history: &History) -> Result<(), Exit> {
        let label = path.display().to_string();
        let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
        let created = directory.map_or(Ok(()), std::fs::create_dir_all);
        created.map_err(|error| complain(&label, &InputError::new(format!("cannot be written: {error}"))))?;
        crate::files::write(path, &history.text()).map_err(|error| complain(&label, &error))
    }

    fn again(&self, seed: u64) -> String {
        let DriveArgs { spec, around, settings, seed: first, disabled, calls, timeout, program, .. } = self.args;
        let mut command = format!("omnilink drive {}{}", quoted(spec.display()), around.again());
        if let Some(settings) = settings {
            command += &format!(" --settings {}", quoted(settings.display()));
        }
        command += &format!(" --seed {first} --runs {}", seed - first + 1);
        if *disabled {
            command += " --disabled";
        }
        command += &format!(" --calls {calls}");
        if *timeout != ANSWER_WITHIN {
            command += &format!(" --timeout {}", quoted(humantime::format_duration(*timeout)));
        }
        let program: Vec<String> = program.iter().map(quoted).collect();
        format!("{command} -- {}", program.join(" "))
    }

    fn print_summary(&self) {
        let (bold, green) = (Style::new().bold(), AnsiColor::Green.on_default());
        let Totals { runs, calls, refused, outcomes, reproduced, otherwise } = &self.totals;
        outln!(
            "{bold}{}{bold:#}: {green}passed{green:#}: {} with {}",
            self.args.spec.display(),
            counted(*runs, "run"),
            counted(*calls, "call")
        );
        if !self.args.from.is_empty() {
            outln!(
                "  {} reproduced, {otherwise} answered otherwise, as the specification allows",
                counted(*reproduced, "behavior")
            );
        }
        let seen: Vec<String> = outcomes.iter().map(|(outcome, count)| format!("{outcome} {count}")).collect();
        outln!("  answers: {}", seen.join(", "));
        let all: BTreeSet<&str> =
            self.plan.calls.iter().flat_map(|call| &call.outcomes).map(|outcome| outcome.action.as_str()).collect();
        let never: Vec<&str> = all.into_iter().filter(|outcome| !outcomes.contains_key(*outcome)).collect();
        if !never.is_empty() {
            outln!("  never answered: {}", never.join(", "));
        }
        if *refused > 0 {
            outln!(
                "  refused {}, which the specification does not allow in every possible state",
                counted(*refused, "call")
            );
        }
    }
}

/// The variables whose values, as the program reports them, are not possible.
fn differing_state(calls: u64, told: &BTreeMap<String, Value>, possible: &BTreeMap<String, Vec<Value>>) -> String {
    let mut text = String::new();
    for (variable, value) in told {
        let Some(possible) = possible.get(variable).filter(|all| !all.contains(value)) else { continue };
        let possible: Vec<String> = possible.iter().map(ToString::to_string).collect();
        let possible = possible.join(" or ");
        let sentence =
            clean(&format!("after call {calls}, the program has {variable} = {value}, the specification {possible}"));
        text.push_str(&format!("  {sentence}\n"));
    }
    if text.is_empty() {
        text = format!("  after call {calls}, no possible state has all values that the program reports\n");
    }
    text
}
