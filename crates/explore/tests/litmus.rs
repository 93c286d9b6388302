//! Litmus programs under control, end to end: which outcomes appear only under weak memory.
//!
//! The runtime's own tests decide which outcomes are allowed, exhaustively and against the rules of the standard. This
//! file tests that compiled programs reach those rules: their orders, fences, updates, threads and locks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use omnilink_explore::{Control, Ending, Execution, ExecutionOrder, Runtime};
use omnilink_schedule::channel::Policy;
use tempfile::TempDir;

/// The compiled programs, one of them under control.
struct Litmus {
    control: Control,
    lines: PathBuf,
    read: usize,
}

impl Litmus {
    fn start(program: &Path, runtime: &Runtime, scratch: &Path, name: &str) -> Litmus {
        let lines = scratch.join(name);
        let mut command = Command::new(program);
        command.arg(name).arg(&lines);
        Litmus {
            control: Control::start(&command, &runtime.path(), scratch).expect("the program is controlled"),
            lines,
            read: 0,
        }
    }

    /// One execution, and its outcome.
    fn execute(&mut self, order: &ExecutionOrder) -> (String, Execution) {
        let execution = self.control.execute(order, Duration::from_secs(20)).expect("an execution");
        assert_eq!(execution.ended, Ending::Finished);
        let lines = fs::read_to_string(&self.lines).expect("the program's output");
        let outcome = lines[self.read..].trim_end().to_owned();
        self.read = lines.len();
        (outcome, execution)
    }

    /// The first of this many executions that has this outcome.
    fn find(&mut self, outcome: &str, is_weak: bool, executions: u64) -> Option<Execution> {
        let order = |seed| ExecutionOrder { seed, weak: is_weak, ..ExecutionOrder::default() };
        let mut executed = (0..executions).map(|seed| self.execute(&order(seed)));
        executed.find(|(found, _)| found == outcome).map(|(_, execution)| execution)
    }
}

fn compile(runtime: &Runtime, directory: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sched/tests/programs/litmus.cpp");
    let (object, program) = (directory.join("litmus.o"), directory.join("litmus"));
    let run = |command: &mut Command| {
        let output = command.output().expect("a compiler runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let flags = ["-std=c++17", "-O1", "-fsanitize=thread", "-Wno-tsan", "-c"];
    run(Command::new("g++").args(flags).arg(source).arg("-o").arg(&object));
    let libraries = [format!("-L{}", runtime.directory().display()), "-lomnilink_sched".into(), "-pthread".into()];
    run(Command::new("g++").arg(&object).arg("-o").arg(&program).args(libraries));
    program
}

/// One outcome for each program, impossible under sequential consistency.
const SUSPECTS: [(&str, &str); 30] = [
    ("sb-rlx", "00"),
    ("sb-ra", "00"),
    ("sb-sc", "00"),
    ("sb-fence-ra", "00"),
    ("sb-fence-sc", "00"),
    ("mp-rlx", "10"),
    ("mp-ra", "10"),
    ("mp-sc", "10"),
    ("mp-fence", "10"),
    ("mp-mutex", "10"),
    ("lb-rlx", "11"),
    ("lb-ra", "11"),
    ("lb-sc", "11"),
    ("iriw-rlx", "1010"),
    ("iriw-ra", "1010"),
    ("iriw-sc", "1010"),
    ("corr-rlx", "21"),
    ("corr-sc", "21"),
    ("wrc-rlx", "110"),
    ("wrc-ra", "110"),
    ("wrc-sc", "110"),
    ("2+2w-rlx", "x=1 y=1"),
    ("2+2w-sc", "x=1 y=1"),
    ("release-sequence-update", "120"),
    ("release-sequence-store", "10"),
    ("update-rlx", "00"),
    ("dekker-ra", "broken"),
    ("dekker-sc", "broken"),
    ("peterson-ra", "broken"),
    ("peterson-sc", "broken"),
];

#[test]
fn outcomes_that_need_weak_memory() {
    let scratch = TempDir::new().unwrap();
    let runtime = Runtime::install(scratch.path()).unwrap();
    let program = compile(&runtime, scratch.path());
    let mut table = String::new();
    for (name, outcome) in SUSPECTS {
        let mut litmus = Litmus::start(&program, &runtime, scratch.path(), name);
        assert_eq!(litmus.find(outcome, false, 100), None, "{name}");
        let executions = if name.starts_with("iriw") || name.starts_with("wrc") { 1000 } else { 250 };
        let found = litmus.find(outcome, true, executions);
        let verdict = if found.is_some() { "shown" } else { "never" };
        writeln!(table, "{name:24} {outcome:8} {verdict}").unwrap();
        // An outcome is reproduced by its decisions, whatever the policy.
        if let Some(found) = found {
            let follow = found.decisions.clone();
            let order = ExecutionOrder {
                follow,
                weak: true,
                strict: true,
                policy: Policy::Steady,
                ..ExecutionOrder::default()
            };
            let (again, execution) = litmus.execute(&order);
            assert_eq!((again.as_str(), execution.digest), (outcome, found.digest), "{name}");
        }
    }
    insta::assert_snapshot!(table, @r"
    sb-rlx                   00       shown
    sb-ra                    00       shown
    sb-sc                    00       never
    sb-fence-ra              00       shown
    sb-fence-sc              00       never
    mp-rlx                   10       shown
    mp-ra                    10       never
    mp-sc                    10       never
    mp-fence                 10       never
    mp-mutex                 10       never
    lb-rlx                   11       never
    lb-ra                    11       never
    lb-sc                    11       never
    iriw-rlx                 1010     shown
    iriw-ra                  1010     shown
    iriw-sc                  1010     never
    corr-rlx                 21       never
    corr-sc                  21       never
    wrc-rlx                  110      shown
    wrc-ra                   110      never
    wrc-sc                   110      never
    2+2w-rlx                 x=1 y=1  never
    2+2w-sc                  x=1 y=1  never
    release-sequence-update  120      never
    release-sequence-store   10       never
    update-rlx               00       never
    dekker-ra                broken   shown
    dekker-sc                broken   never
    peterson-ra              broken   shown
    peterson-sc              broken   never
    ");
}
