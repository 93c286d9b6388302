//! `omnilink fuzz` and `omnilink runs`, with harnesses of a few lines of shell that write their histories as text.

mod tool;

use std::fs;
use std::path::Path;

use tool::directory;

/// What the command prints and how it ends.
fn run(directory: &Path, args: &str) -> String {
    let args: Vec<&str> = args.split_whitespace().collect();
    tool::run(directory, &args).shown()
}

/// A register that forgets a write when the seed ends in 3, crashes when it ends in 5, and hangs when it ends in 7.
const HARNESS: &str = r#"
case $OMNILINK_SEED in
  *5) echo "assertion failed" >&2; kill -ABRT $$ ;;
  *7) sleep 60 ;;
  *3) seen=nil ;;
  *) seen=$OMNILINK_SEED ;;
esac
echo "T0 [1 4] write($OMNILINK_SEED)
T1 [2 3] read() = nil
T1 [5 6] read() = $seen" > "$OMNILINK_TRACE"
"#;

const SETTINGS: &str = r#"
spec = "register"
[harness]
run = ["sh", "harness.sh"]
[profile.default]
timeout = "1s"
threads = "2"
operations = "1..2"
perturb = ["none"]
[profile.short]
runs = 2
"#;

/// A directory with a harness and its settings.
fn set_up(name: &str, settings: &str, harness: &str) -> std::path::PathBuf {
    let directory = directory(name);
    fs::write(directory.join("omnilink.toml"), settings).expect("a file for a test");
    fs::write(directory.join("harness.sh"), harness).expect("a file for a test");
    directory
}

/// What the command prints, without times and the names of runs, which change.
fn fuzz(directory: &Path, args: &str) -> String {
    let number = |text: &str| text.chars().all(|character| character.is_ascii_digit() || character == '.');
    let printed = run(directory, args);
    let words = |line: &str| {
        let mut shown: Vec<String> = line.split(' ').map(str::to_owned).collect();
        for place in 1..shown.len() {
            if (shown[place] == "s" || shown[place].starts_with("s:") || shown[place] == "s,")
                && number(&shown[place - 1])
            {
                shown[place - 1] = "N".into();
            }
        }
        shown.join(" ")
    };
    printed.lines().map(words).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_run_that_fails_ends_it() {
    let directory = set_up("fuzz-first", SETTINGS, HARNESS);
    insta::assert_snapshot!(fuzz(&directory, "fuzz --seed 1"), @"
    not controlled: no build command: set `build` in `[harness]`
    fuzzing against register: 10s, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 1

    run 3 (seed 3, 2 threads, 1 operation each, undisturbed): rejected
    error: T1 read nil after T0 had written 3, but the initial value nil comes first
     |
     = note: T0:0 write(3) [1 4] ended before T1:1 read() = nil [5 6] began.

      smallest part that fails: 2 operations

        T0       T1
        -------  ----------
        write 3
                 read → nil

    found after N s, kept as ef38ae: target/omnilink/ef38ae

    3 runs, 9 operations, N s: 2 accepted, 1 rejected
    first rejected after N s
      operation  operations  overlapped
      read                6        50 %  by write 50 %; = 1 17 %, 2 17 %, nil 67 %
      write               3       100 %  by read 100 %

      full explanation  omnilink runs show ef38ae
      pack              omnilink runs pack ef38ae
    exit 1
    ");
    insta::assert_snapshot!(fuzz(&directory, "fuzz --seed 1 --profile short"), @r"
    not controlled: no build command: set `build` in `[harness]`
    fuzzing against register: up to 2 runs, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 1

    2 runs, 6 operations, N s: 2 accepted
      operation  operations  overlapped
      read                4        50 %  by write 50 %; = 1 25 %, 2 25 %, nil 50 %
      write               2       100 %  by read 100 %
    exit 0
    ");
}

#[test]
fn runs_that_fail_are_told_apart() {
    let directory = set_up("fuzz-all", SETTINGS, HARNESS);
    insta::assert_snapshot!(fuzz(&directory, "fuzz --seed 11 --runs 15 --keep-going"), @"
    not controlled: no build command: set `build` in `[harness]`
    fuzzing against register: up to 15 runs, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 11

    run 3 (seed 13, 2 threads, 2 operations each, undisturbed): rejected
    error: T1 read nil after T0 had written 13, but the initial value nil comes first
     |
     = note: T0:0 write(13) [1 4] ended before T1:1 read() = nil [5 6] began.

      smallest part that fails: 2 operations

        T0        T1
        --------  ----------
        write 13
                  read → nil

    found after N s, kept as 86991c: target/omnilink/86991c

    run 5 (seed 15, 2 threads, 2 operations each, undisturbed): crashed: killed by SIGABRT: assertion failed
      found after N s, kept as 543f86

    run 7 (seed 17, 2 threads, 2 operations each, undisturbed): stuck: still running after 1s
      found after N s, kept as 2bdee3

    15 runs, 36 operations, N s: 10 accepted, 2 rejected, 2 crashed, 1 stuck
    first rejected after N s
      operation  operations  overlapped
      read               24        50 %  by write 50 %; many results
      write              12       100 %  by read 100 %

      runs  stored  share of runs (95 %)
         2  86991c  13.3 % (3.7 to 37.9 %)
                    rejected: T# read nil after T# had written #, but the initial value nil comes first
         2  543f86  13.3 % (3.7 to 37.9 %)
                    crashed: killed by SIGABRT: assertion failed
         1  2bdee3  6.7 % (1.2 to 29.8 %)
                    stuck: still running after 1s

      full explanation  omnilink runs show 86991c
      pack              omnilink runs pack 86991c
    exit 1
    ");
    let listed = run(&directory, "runs list");
    assert_eq!(listed.lines().count(), 4, "{listed}");
    insta::assert_snapshot!(fuzz(&directory, "fuzz --seed 5 --runs 1"), @"
    not controlled: no build command: set `build` in `[harness]`
    fuzzing against register: up to 1 run, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 5

    run 1 (seed 5, 2 threads, 2 operations each, undisturbed): crashed
      killed by SIGABRT
        | assertion failed

    found after N s, kept as a2df08: target/omnilink/a2df08

    1 run, 0 operations, N s: 0 accepted, 1 crashed

      full explanation  omnilink runs show a2df08
      pack              omnilink runs pack a2df08
      over time         omnilink runs summary
    exit 5
    ");
    insta::assert_snapshot!(fuzz(&directory, "fuzz --seed 7 --runs 1 --timeout 200ms"), @"
    not controlled: no build command: set `build` in `[harness]`
    fuzzing against register: up to 1 run, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 7

    run 1 (seed 7, 2 threads, 2 operations each, undisturbed): stuck
      did not end, and was stopped

    found after N s, kept as 707e72: target/omnilink/707e72

    1 run, 0 operations, N s: 0 accepted, 1 stuck

      full explanation  omnilink runs show 707e72
      pack              omnilink runs pack 707e72
      over time         omnilink runs summary
    exit 5
    ");
}

#[test]
fn a_run_can_be_sent_and_checked_again() {
    let directory = set_up("fuzz-pack", SETTINGS, HARNESS);
    run(&directory, "fuzz --seed 3 --runs 1");
    let packed = run(&directory, "runs pack latest -o run.omni");
    assert!(
        packed.starts_with("run.omni\nit holds these files of the run, and no environment variables:\n"),
        "{packed}"
    );
    assert!(packed.ends_with("exit 0"), "{packed}");
    run(&directory, "runs prune --keep 0");
    assert_eq!(run(&directory, "runs list"), "no runs are kept\nexit 0");
    let shown = run(&directory, "runs show run.omni --recheck");
    assert!(shown.contains("seed 3, 2 threads") && shown.contains("same verdict as before: rejected"));
    assert!(shown.ends_with("exit 1"), "{shown}");
    fs::write(directory.join("cut.omni"), &fs::read(directory.join("run.omni")).unwrap()[..100]).unwrap();
    assert!(run(&directory, "runs show cut.omni").ends_with("exit 2"));
    insta::assert_snapshot!(run(&directory, "runs show latest"), @"
    error: runs: no runs in `target/omnilink`
    exit 2
    ");
}

#[test]
fn what_cannot_run_is_said() {
    let nothing = directory("fuzz-nothing");
    insta::assert_snapshot!(run(&nothing, "fuzz"), @r"
    error: omnilink.toml: cannot be read: No such file or directory (os error 2)
    help: `omnilink init` sets up a harness with its settings
    exit 2
    ");
    let wrong = |name: &str, settings: &str, args: &str| run(&set_up(name, settings, HARNESS), args);
    insta::assert_snapshot!(wrong("fuzz-spec", "[harness]\nrun = [\"sh\"]", "fuzz"), @r#"
    error: omnilink.toml: no specification given
    help: `spec = "Queue.tla"`, or the name of one of those that `omnilink spec list` lists
    exit 2
    "#);
    insta::assert_snapshot!(wrong("fuzz-run", "spec = \"queue\"", "fuzz"), @r#"
    error: omnilink.toml: no command to run the harness given
    help: `run = ["target/release/harness"]` below `[harness]`, or `omnilink fuzz -- COMMAND`
    exit 2
    "#);
    insta::assert_snapshot!(wrong("fuzz-profile", SETTINGS, "fuzz --profile ci"), @r"
    error: omnilink.toml: no profile `ci` in the settings
    exit 2
    ");
    insta::assert_snapshot!(wrong("fuzz-range", SETTINGS, "fuzz --threads 0"), @r"
    error: invalid value '0' for '--threads <RANGE>': `0`, expected a number above zero or a range such as `2..4`

    For more information, try '--help'.
    exit 2
    ");
    insta::assert_snapshot!(wrong("fuzz-command", SETTINGS, "fuzz --seed 1 --runs 1 -- ./no-such-program"), @r"
    not controlled: `./no-such-program` was not built for control: build it with `omnilink build`
    fuzzing against register: up to 1 run, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 1
    error: the harness: cannot run `./no-such-program`: No such file or directory (os error 2)
    exit 2
    ");
    insta::assert_snapshot!(wrong("fuzz-other", SETTINGS, "fuzz --seed 1 --runs 1 -- sh -c true"), @r"
    not controlled: `sh` was not built for control: build it with `omnilink build`
    fuzzing against register: up to 1 run, 2 threads, 1 to 2 operations each, disturbances: none, seeds from 1
    error: the harness: it ended normally, but recorded nothing
    help: record to the path in the variable OMNILINK_TRACE
    exit 2
    ");
    let broken = SETTINGS.replace("run = ", "build = [\"sh\", \"-c\", \"echo wrong; exit 1\"]\nrun = ");
    insta::assert_snapshot!(wrong("fuzz-build", &broken, "fuzz"), @"
    error: sh -c echo wrong; exit 1: the build failed: exited with code 1
      | wrong
    exit 2
    ");
    insta::assert_snapshot!(wrong("fuzz-rr", SETTINGS, "fuzz --rr ./no-such-rr"), @r"
    error: --rr: `./no-such-rr` cannot be used here: cannot record: timeout: failed to run command ‘./no-such-rr’: No such file or directory
    help: omit `--rr` to control or perturb threads instead
    exit 2
    ");
}

#[test]
fn a_recording_with_a_part_missing_is_no_verdict() {
    let whole = "echo \"T0 [1 4] write(1)\nT1 [2 3] read() = nil\nT1 [5 6] read() = 1\" > history.txt\n\
                 OMNILINK convert history.txt --to binary --output $OMNILINK_TRACE\n";
    let whole = whole.replace("OMNILINK ", &format!("{} ", env!("CARGO_BIN_EXE_omnilink")));
    let last = |name: &str, harm: &str| {
        let directory = set_up(name, SETTINGS, &format!("{whole}{harm}"));
        let said = run(&directory, "fuzz --runs 1");
        let line = said.lines().find(|line| line.starts_with("run 1 (")).unwrap_or_default().to_owned();
        let exit = said.lines().last().unwrap_or_default().to_owned();
        format!("{} {exit}", line.rsplit("): ").next().unwrap_or_default())
    };
    insta::assert_snapshot!(last("fuzz-whole", ""), @" exit 0");
    insta::assert_snapshot!(last("fuzz-lacks", "rm $OMNILINK_TRACE/0000.seg"), @"not checked, the trace lacks segment 0 exit 2");
    insta::assert_snapshot!(last("fuzz-cut", "truncate -s 20 $OMNILINK_TRACE/0001.seg"), @"not checked, the trace breaks off after 11 bytes of 0001.seg the file ends inside a record, after 9 of 11 bytes exit 2");
    insta::assert_snapshot!(last("fuzz-wrong", "echo xyz > $OMNILINK_TRACE/0001.seg"), @"not checked, 0001.seg, byte 0: this is not a segment of a trace: it does not begin with the magic bytes exit 2");
}

/// A register whose trace lacks an operation if the seed ends in 2.
const LOSES: &str = r#"
case $OMNILINK_SEED in *2) seq=1 ;; *) seq=0 ;; esac
echo "{\"process\": 0, \"action\": \"write\", \"args\": [1], \"start\": 1, \"end\": 2, \"seq\": $seq}" > "$OMNILINK_TRACE"
"#;

#[test]
fn an_inconclusive_run_does_not_fail_a_campaign() {
    let directory = set_up("fuzz-inconclusive", SETTINGS, LOSES);
    let mixed = run(&directory, "fuzz --seed 1 --runs 3");
    assert!(mixed.contains("2 accepted, 1 inconclusive") && mixed.ends_with("exit 0"), "{mixed}");
    let is_listed = |line: &str| line.starts_with("inconclusive: 1 operation of") && line.ends_with("before seq 1");
    assert!(mixed.lines().any(|line| is_listed(line.trim())), "{mixed}");
    let strict = run(&directory, "fuzz --seed 1 --runs 3 --strict");
    assert!(strict.ends_with("exit 3"), "{strict}");
    let undecided = run(&directory, "fuzz --seed 2 --runs 1");
    assert!(undecided.contains("0 accepted, 1 inconclusive") && undecided.ends_with("exit 3"), "{undecided}");
}

/// Not rr: a script that understands the words that we give rr, and leaves a directory behind. What a real one needs is
/// not on every machine.
const STAND_IN: &str = r#"#!/bin/sh
case "$1 $2" in
  "record -n") exit 0 ;;
  "replay -a") exit 0 ;;
  "record --chaos") mkdir "$4" && shift 4 && exec "$@" ;;
esac
exit 1
"#;

#[test]
fn what_rr_recorded_is_kept_with_the_run() {
    use std::os::unix::fs::PermissionsExt;
    let directory = set_up("fuzz-under-rr", SETTINGS, HARNESS);
    let rr = directory.join("stand-in");
    fs::write(&rr, STAND_IN).unwrap();
    fs::set_permissions(&rr, fs::Permissions::from_mode(0o755)).unwrap();
    let said = run(&directory, "fuzz --rr ./stand-in --seed 3 --runs 1");
    assert!(said.contains("recorded with `./stand-in record --chaos`") && said.ends_with("exit 1"), "{said}");
    let kept: Vec<_> =
        fs::read_dir(directory.join("target/omnilink")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(kept.iter().any(|run| run.join("rr").is_dir()), "{kept:?}");
}

#[test]
fn a_doctor_never_fails() {
    let said = run(&directory("doctor"), "doctor --rr no-such-rr");
    assert!(said.contains("no   rr                 `no-such-rr` is not installed"), "{said}");
    assert!(said.ends_with("exit 0"), "{said}");
    let said = run(&directory("doctor-json"), "doctor --format json --rr no-such-rr");
    let json: serde_json::Value = serde_json::from_str(said.trim_end_matches("exit 0")).unwrap();
    assert_eq!(json["facts"].as_array().unwrap().len(), 10);
}

/// One case for each cause, and every run that failed is a failure or an error in all formats.
#[test]
fn reports_are_never_better_than_the_exit_code() {
    let directory = set_up("fuzz-reports", SETTINGS, HARNESS);
    let reports = ["junit=r.xml", "md=r.md", "sarif=r.sarif", "json=r.json"];
    let reports: Vec<&str> = reports.iter().flat_map(|report| ["--report", report]).collect();
    let args = ["fuzz", "--seed", "1", "--runs", "17", "--keep-going"];
    assert_eq!(tool::run(&directory, &[&args[..], &reports].concat()).code, 1);
    let read = |name: &str| fs::read_to_string(directory.join(name)).expect("a report");
    let junit = read("r.xml");
    assert_eq!(junit.matches("<testcase ").count(), 4, "{junit}");
    let names = [
        "accepted runs",
        "rejected: T# read nil after T# had written #, but the initial value nil comes first",
        "crashed: killed by SIGABRT: assertion failed\"",
        "stuck: still running after 1s\"",
    ];
    assert!(names.iter().all(|name| junit.contains(&format!("<testcase name=\"{name}"))), "{junit}");
    assert!(junit.contains("failures=\"3\"") && junit.contains("errors=\"0\""), "{junit}");
    let markdown = read("r.md");
    assert!(markdown.starts_with("## 4 histories: 1 accepted, 1 rejected, 2 failed\n"), "{markdown}");
    assert_eq!(read("r.sarif").matches("\"ruleId\"").count(), 3);
    assert_eq!(read("r.json").matches("\"ended\": ").count(), 2);
}

#[test]
fn weights_are_checked_in_every_settings_file() {
    let directory = directory("fuzz-weights");
    for (file, text) in tool::QUEUE {
        fs::write(directory.join(file), text).expect("a file for a test");
    }
    let settings = "spec = \"Queue.tla\"\n[harness]\nrun = [\"true\"]\n[harness.weights]\nEnqeue = 2\n";
    fs::write(directory.join("other.toml"), settings).expect("a file for a test");
    let refused = run(&directory, "fuzz --settings other.toml");
    assert!(refused.contains("`[harness.weights]` names `Enqeue`, which is not a call"), "{refused}");
    assert!(refused.ends_with("exit 2"), "{refused}");
}

/// A build is not taken for one that failed when the user stops it.
#[test]
fn an_interrupt_stops_the_build() {
    let settings =
        "spec = \"register\"\n[harness]\nbuild = [\"sh\", \"-c\", \"echo >> builds; sleep 60\"]\nrun = [\"true\"]\n";
    let directory = set_up("fuzz-interrupt", settings, "");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_omnilink"));
    let mut fuzzing = command.arg("fuzz").current_dir(&directory).spawn().expect("the command runs");
    let builds = || fs::read_to_string(directory.join("builds")).unwrap_or_default().lines().count();
    let started = std::time::Instant::now();
    while builds() == 0 {
        assert!(started.elapsed().as_secs() < 30, "it does not build");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let id = fuzzing.id().to_string();
    std::process::Command::new("kill").args(["-INT", &id]).status().expect("a signal");
    assert_eq!(fuzzing.wait().expect("it ends").code(), Some(130));
    assert!(started.elapsed().as_secs() < 50 && builds() == 1);
}
