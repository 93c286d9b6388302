//! All checks, the quickest to fail first, with the time of each.
//!
//! A new check is a new line in [`STEPS`], or in [`PARTS`] if it takes more than a few minutes. `tidy` writes both into
//! CONTRIBUTING.md. A step names the tools that it needs beside Cargo. A step whose tool is missing is not run, and
//! listed; with `CI=true` it fails, because `.ci/run` has installed all tools before.
//!
//! Three measures keep CI fast. Everything is built in one profile and with one set of features, that of
//! [`Workspace::build_programs`], so nothing is built twice. Steps that leave cores idle run side by side. And the
//! table of times at the end shows which step has become slower.

mod steps;
mod times;

use std::time::Duration;

use anyhow::{Context, Result, bail};

use self::steps::Step;
use crate::workspace::{Build, Workspace};
use crate::{
    bench, book, fleet, fuzz, hostile, languages, lineup, mutants, oracle, packages, recorders, reference, sanitizers,
    smoke, sources, studies, tidy, viewer, workflows,
};

/// How many random expressions TLC and our engine are asked; specs are a hundredth of it.
const RANDOM: usize = 500;

/// How many random histories TLC and our engine decide.
const TRACES: usize = 8;

/// A longer run leaves no room for further checks. Machines differ, so it is a warning only.
const MOST: Duration = Duration::from_secs(30 * 60);
const MOST_QUICK: Duration = Duration::from_secs(10 * 60);
const MOST_OF_A_PART: Duration = Duration::from_secs(60 * 60);

/// The steps of `--quick`, which need Cargo alone, beside [`QUICK_TESTS`].
const QUICK: &[&str] = &["format", "tidy", "clippy", "doctests", "docs"];

/// The tests of the crates whose tests build no programs and start no servers.
const QUICK_TESTS: Step = Step::new("quick-tests", "the tests that need no other tool", quick_tests);

/// The packages whose tests need compilers, debuggers or browsers, or build harnesses with Cargo.
const WITH_TOOLS: &[&str] = &["omnilink", "omnilink-cli", "omnilink-explore", "omnilink-sched", "omnilink-schedules"];

/// The steps before every merge.
const STEPS: &[Step] = &[
    Step::new("format", "`cargo fmt --check`", |workspace| workspace.cargo("fmt --check")),
    Step::new("tidy", "`cargo xtask tidy`: the rules below, and the tables of documents", tidy::check),
    Step::new("clippy", "`cargo clippy --all-targets -- -D warnings`, with the example that calls our crates", |workspace| {
        workspace.cargo("clippy --all-targets -- -D warnings")?;
        let example = "--manifest-path examples/jdk-levels/Cargo.toml --target-dir target";
        workspace.cargo(&format!("clippy --all-targets {example} -- -D warnings"))
    }),
    Step::new("facade", "`cargo clippy -p omnilink --no-default-features -- -D warnings`", |workspace| {
        workspace.cargo("clippy --package omnilink --no-default-features -- -D warnings")
    }),
    Step::new("build-tests", "`cargo nextest run --no-run`", |workspace| nextest(workspace, "--no-run"))
        .needs(&["cargo-nextest"]),
    Step::new("tests", "`cargo nextest run`: all tests, the fuzz targets with their seeds among them", |workspace| {
        nextest(workspace, "")
    })
    .needs(&["cargo-nextest"]),
    Step::new("smoke", "`cargo xtask smoke`: every `console` block of README.md, TLA.md and the book", |workspace| {
        smoke::run(workspace, false)
    })
    .with_others()
    .needs(&["c++", "cmake", "gdb", "python3"]),
    Step::new("reference", "`cargo xtask reference --check`: the command reference in the book", |workspace| {
        reference::run(workspace, &reference::Options::check())
    })
    .with_others(),
    Step::new(
        "workflows",
        "`cargo xtask workflows`: workflows, the action, hooks and the files of `init --ci` have no findings of actionlint, \
         zizmor, ShellCheck and schemas; the action works against a packed release",
        |workspace| workflows::run(workspace, &workflows::Options::default()),
    )
    .with_others()
    .needs(&["npm", "python3"]),
    Step::new(
        "page",
        "`cargo xtask viewer`: the committed page equals the output of `viewer/`, and works in browsers for every golden \
         report",
        |workspace| viewer::run(workspace, &viewer::Options::default()),
    )
    .with_others()
    .needs(&["npm", "chromium", "firefox-esr"]),
    Step::new(
        "studies",
        "`cargo xtask studies --controlled`: real data structures, with the verdicts in their `study.toml`",
        |workspace| studies::run(workspace, studies::Selected::Controlled, Build::Debug),
    )
    .with_others()
    .needs(&["c++", "make"]),
    Step::new(
        "schedules",
        "`cargo xtask schedules --quick`: controlled schedules find known bugs, and repeat",
        |workspace| bench::schedules(workspace, Build::Debug, true, None),
    )
    .with_others()
    .needs(&["c++", "clang++"]),
    Step::new("oracle", "`cargo xtask oracle --quick`: the recorded answers of TLC", |workspace| {
        oracle::run(workspace, &oracle::Options::quick())
    })
    .with_others()
    .needs(&["java", "python3"]),
    Step::new(
        "recorders",
        "`cargo xtask recorders`: the same bytes from Rust, C++ and C, and no record lost when programs are killed",
        |workspace| recorders::run(workspace, &recorders::Options::quick()),
    )
    .with_others()
    .needs(&["c++", "cmake"]),
    Step::new("languages", "`recorders/test.sh`: the recorders for Python, Go and Java", languages::test)
        .with_others()
        .needs(&["python3", "go", "javac"]),
    Step::new("doctests", "`cargo test --doc --features omnilink-record/derive`", |workspace| {
        workspace.cargo("test --quiet --doc --features omnilink-record/derive")
    })
    .with_others(),
    Step::new("oracle-random", "`cargo xtask oracle --random 500`: random expressions and specs", |workspace| {
        oracle::run(workspace, &oracle::Options::random(RANDOM))
    })
    .with_others()
    .needs(&["java", "python3"]),
    Step::new("docs", "`RUSTDOCFLAGS=\"-D warnings\" cargo doc --no-deps`", |workspace| {
        workspace.cargo_with("doc --no-deps", &[("RUSTDOCFLAGS", "-D warnings")])
    })
    .with_others(),
    Step::new("oracle-traces", "`cargo xtask oracle --traces 8`: random histories", |workspace| {
        oracle::run(workspace, &oracle::Options::traces(TRACES))
    })
    .with_others()
    .needs(&["java", "python3"]),
];

/// Slow steps that a machine runs together, in at most an hour.
struct Part {
    name: &'static str,
    steps: &'static [Step],
}

/// Mutation tests of one crate: the shard of the week.
macro_rules! mutants_of {
    ($name:literal) => {
        Part {
            name: concat!("mutants-", $name),
            steps: &[Step::new(
                concat!("mutants-", $name),
                concat!("`cargo xtask mutants ", $name, " --weekly`: another shard of the changes every week"),
                |workspace| mutants::run(workspace, &mutants::Options::weekly($name)),
            )
            .needs(&["cargo-mutants", "cargo-nextest"])],
        }
    };
}
/// The slow steps, for `--full` and `--part`.
const PARTS: &[Part] = &[
    Part {
        name: "ignored",
        steps: &[Step::new("ignored-tests", "the ignored tests, in release mode", |workspace| {
            nextest(workspace, "--release --profile full --run-ignored only --no-tests pass")
        })
        .needs(&["cargo-nextest", "c++", "clang++"])],
    },
    Part {
        name: "unsafe",
        steps: &[
            Step::new(
                "asan",
                "tests of unsafe code under AddressSanitizer; [sanitizers.rs](xtask/src/sanitizers.rs) lists them",
                sanitizers::address,
            )
            .needs(&["+nightly", "cargo-nextest", "c++"]),
            Step::new("miri", "the same under Miri", sanitizers::miri).needs(&["+nightly", "miri"]),
        ],
    },
    Part {
        name: "limits",
        steps: &[Step::new(
            "hostile",
            "`cargo xtask hostile`: inputs made to use up time or memory, and the time and memory of the command for each",
            |workspace| hostile::run(workspace, &hostile::Options::default()),
        )],
    },
    Part {
        name: "packages",
        steps: &[
            Step::new("book", "`cargo xtask book`: mdBook builds the book, and every link is valid", book::run)
                .needs(&["mdbook"]),
            Step::new("packages", "`cargo xtask packages`: crates, wheel and Debian package, installed and used", |workspace| {
                packages::run(workspace, None)
            })
            .needs(&["python3", "cargo-deb"]),
            Step::new("deny", "`cargo deny check licenses bans sources`", |workspace| {
                workspace.cargo("deny check licenses bans sources")
            })
            .needs(&["cargo-deny"]),
            Step::new(
                "advisories",
                "`cargo deny check advisories`; needs the database of RustSec, so the network",
                |workspace| workspace.cargo("deny check advisories"),
            )
            .needs(&["cargo-deny", "network"]),
            Step::new(
                "oldest-rust",
                "`cargo +1.88 check`: the declared oldest Rust builds the published crates",
                |workspace| workspace.cargo("+1.88 check --quiet --package omnilink-cli --package omnilink --target-dir target/oldest"),
            )
            .needs(&["+1.88"]),
        ],
    },
    Part {
        name: "servers",
        steps: &[
            Step::new("servers", "`run.sh` of the examples with Redis, PostgreSQL and ZooKeeper", languages::run_servers)
                .needs(&["redis-server", "/usr/lib/postgresql", "/usr/share/java/zookeeper.jar", "python3", "java"]),
            Step::new(
                "server-levels",
                "`examples/server-levels/run.sh`: 10 histories of each configuration of four clusters",
                languages::run_levels,
            )
            .needs(&["redis-server", "etcd", "/usr/lib/postgresql", "/usr/share/java/zookeeper.jar", "python3"]),
            Step::new(
                "isolation-levels",
                "`examples/isolation-levels/run.sh`: no level of five systems breaks its promise",
                languages::run_isolation,
            )
            .needs(&["redis-server", "etcd", "/usr/lib/postgresql", "/usr/sbin/mariadbd", "python3"]),
        ],
    },
    Part {
        name: "studies",
        steps: &[Step::new(
            "all-studies",
            "`cargo xtask studies`: also those of etcd and WiredTiger, which run freely",
            |workspace| studies::run(workspace, studies::Selected::All, Build::Debug),
        )
        .needs(&["c++", "make"])],
    },
    Part {
        name: "jdk",
        steps: &[Step::new(
            "jdk-levels",
            "`examples/jdk-levels/run.sh`, with 200 histories of each class, and its tests",
            languages::run_jdk,
        )
        .needs(&["javac"])],
    },
    Part {
        name: "simulated",
        steps: &[
            Step::new(
                "simulated-register",
                "tests of `examples/simulated-register`: in turmoil, four seeded mistakes are found by clients and one by the log of \
                 the replicas, and correct replicas are accepted",
                |workspace| workspace.cargo(&simulated("register")),
            ),
            Step::new(
                "simulated-store",
                "`examples/simulated-store`: the same test in turmoil, shuttle and madsim",
                |workspace| {
                    workspace.cargo(&simulated("store"))?;
                    let madsim = format!("{}/madsim --test madsim", simulated("store"));
                    workspace.cargo_with(&madsim, &[("RUSTFLAGS", "--cfg madsim")])
                },
            ),
            Step::new(
                "simulated-raft",
                "`examples/simulated-raft`: the library `raft` in turmoil: 1,000 seeds are accepted, and reads of a stale leader are found",
                |workspace| workspace.cargo(&simulated("raft")),
            ),
        ],
    },
    Part {
        name: "lineup",
        steps: &[
            Step::new(
                "lineup",
                "`cargo xtask lineup --tests 5 --time 30s`: objects of C++, Rust and crates without a specification",
                |workspace| lineup::run(workspace, &lineup::Asked::quick()),
            )
            .needs(&["c++", "/usr/include/concurrentqueue", "/usr/include/boost"]),
            Step::new(
                "model-checkers",
                "`bench/model-checkers`: the same objects under loom and shuttle",
                bench::model_checkers,
            ),
            Step::new(
                "seeded",
                "`bench/seeded/run.py`: 22 of 24 seeded mistakes are found by default, shrink to what fails as before, and nothing is found in \
                 the corrected programs; litmus tests show what C++20 allows",
                bench::seeded,
            )
            .needs(&["python3", "c++"]),
            Step::new("shrink", "`bench/shrink/run.py --count 2`: how small `shrink` makes failures", bench::shrink)
                .needs(&["python3", "c++", "cmake"]),
        ],
    },
    Part {
        name: "oracle-large",
        steps: &[Step::new("oracle-large", "`cargo xtask oracle --only Bench`: the answers of TLC on large specs", |workspace| {
            oracle::run(workspace, &oracle::Options::large())
        })
        .needs(&["java", "python3"])],
    },
    Part {
        name: "rust-std",
        steps: &[Step::new(
            "rust-std",
            "tests of programs in Rust whose standard library is built with them, by a toolchain with its sources",
            |workspace| {
                let tests = "nextest run --profile full --run-ignored only with_sources";
                workspace.cargo_with(tests, &[("OMNILINK_RUST_WITH_SOURCES", "/usr/bin")])
            },
        )
        .needs(&["cargo-nextest", "/usr/bin/cargo", "/usr/lib/rustlib/src/rust/library/Cargo.lock"])],
    },
    Part {
        name: "sources",
        steps: &[Step::new(
            "sources",
            "`cargo xtask sources`: monitors on a NATS server, while it and the monitors are killed",
            |workspace| sources::run(workspace, &sources::Options::full()),
        )
        .needs(&["python3"])],
    },
    Part {
        name: "fleet",
        steps: &[Step::new(
            "fleet",
            "`cargo xtask fleet`: the crates that need a query engine, `check --by`, and jobs on Spark, Ray and Flink whose \
             workers are killed",
            |workspace| fleet::run(workspace, &fleet::Options::full()),
        )
        .needs(&["cargo-nextest", "python3", "java"])],
    },
    Part {
        name: "fuzz",
        steps: &[Step::new("fuzz", "`cargo xtask fuzz`: a minute of each fuzz target with libFuzzer", |workspace| {
            fuzz::run(workspace, 60, None)
        })
        .needs(&["c++"])],
    },
    mutants_of!("history"),
    mutants_of!("isolation"),
    mutants_of!("keyed"),
    mutants_of!("lineup"),
    mutants_of!("logs"),
    mutants_of!("models"),
    mutants_of!("monitor"),
    mutants_of!("search"),
    mutants_of!("validate"),
    mutants_of!("weak"),
];

/// The selection of steps.
pub(crate) enum Selection {
    /// Before every merge.
    Usual,
    /// Those that need Cargo alone.
    Quick,
    /// All.
    Full,
    /// One part of the slow ones.
    Part(String),
}

impl Selection {
    fn steps(&self) -> Result<(Vec<&'static Step>, Duration)> {
        let slow = || PARTS.iter().flat_map(|part| part.steps);
        Ok(match self {
            Selection::Usual => (STEPS.iter().collect(), MOST),
            Selection::Quick => {
                let mut steps: Vec<&Step> = STEPS.iter().filter(|step| QUICK.contains(&step.name)).collect();
                steps.insert(3, &QUICK_TESTS);
                (steps, MOST_QUICK)
            }
            Selection::Full => (STEPS.iter().chain(slow()).collect(), Duration::MAX),
            Selection::Part(name) => {
                let names: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
                let part = PARTS.iter().find(|part| part.name == name);
                let part =
                    part.with_context(|| format!("there is no part `{name}`; there are {}", names.join(", ")))?;
                (part.steps.iter().collect(), MOST_OF_A_PART)
            }
        })
    }
}

/// Runs the steps, stops at the first failure, and prints their times. Returns the total if all ran and passed.
pub(crate) fn run(workspace: &Workspace, selection: &Selection, since: Option<u64>) -> Result<Option<Duration>> {
    let (steps, most) = selection.steps()?;
    let mut times = times::Times::new(since, most);
    let outcome = steps::run(workspace, &steps, &mut times);
    println!("\n{times}");
    outcome?;
    println!("{}", if times.is_complete() { "everything passed" } else { "everything that ran passed" });
    Ok(times.is_complete().then(|| times.total()))
}

/// Runs one step, here. One that cannot run is an error.
pub(crate) fn run_only(workspace: &Workspace, name: &str) -> Result<()> {
    let all = || STEPS.iter().chain([&QUICK_TESTS]).chain(PARTS.iter().flat_map(|part| part.steps));
    let names: Vec<&str> = all().map(|step| step.name).collect();
    let step = all().find(|step| step.name == name);
    let step = step.with_context(|| format!("there is no step `{name}`; there are {}", names.join(", ")))?;
    if let Some(tool) = step.lacks() {
        bail!("{name} was not run: {}", steps::missing(tool));
    }
    (step.run)(workspace)
}

/// Rows for CONTRIBUTING.md: the steps before every merge, with their tools.
pub(crate) fn step_rows() -> Vec<[String; 3]> {
    let is_quick = |step: &Step| QUICK.contains(&step.name);
    let name = |step: &Step| format!("{}{}", step.name, if is_quick(step) { " *" } else { "" });
    STEPS.iter().map(|step| [name(step), step.about.to_owned(), steps::listed(step.needs)]).collect()
}

/// Rows for CONTRIBUTING.md: the parts of the slow steps, with the tools of each.
pub(crate) fn part_rows() -> Vec<[String; 3]> {
    let steps = |part: &Part| part.steps.iter().map(|step| step.about).collect::<Vec<_>>().join("; ");
    let tools = |part: &Part| {
        let mut tools: Vec<&str> = part.steps.iter().flat_map(|step| step.needs).copied().collect();
        tools.sort_unstable();
        tools.dedup();
        steps::listed(&tools)
    };
    PARTS.iter().map(|part| [part.name.to_owned(), steps(part), tools(part)]).collect()
}

/// The tests of a simulated cluster. The examples share what they build.
fn simulated(name: &str) -> String {
    format!("test --quiet --manifest-path examples/simulated-{name}/Cargo.toml --target-dir target/simulated")
}

fn nextest(workspace: &Workspace, args: &str) -> Result<()> {
    workspace.cargo(&format!("nextest run {args}"))
}

fn quick_tests(workspace: &Workspace) -> Result<()> {
    let ours = workspace.metadata.workspace_default_packages();
    let names = ours.iter().map(|package| package.name.as_str()).filter(|name| !WITH_TOOLS.contains(name));
    let packages: String = names.map(|name| format!(" --package {name}")).collect();
    workspace.cargo(&format!("test --quiet --lib --bins --tests{packages}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        let steps = STEPS.iter().chain(PARTS.iter().flat_map(|part| part.steps)).map(|step| step.name);
        let mut names: Vec<&str> = steps.collect();
        let count = names.len();
        for name in names.iter().copied().chain(PARTS.iter().map(|part| part.name)) {
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-'), "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "two steps have one name");
    }

    #[test]
    fn what_is_quick_needs_cargo_alone() {
        let (steps, _) = Selection::Quick.steps().unwrap();
        assert_eq!(steps.len(), QUICK.len() + 1);
        assert!(steps.iter().all(|step| step.needs.is_empty()));
    }

    #[test]
    fn a_part_that_does_not_exist_is_an_error_with_the_names() {
        let error = Selection::Part("fuz".into()).steps().err().expect("an error").to_string();
        assert!(error.starts_with("there is no part `fuz`; there are ignored, unsafe,"), "{error}");
    }

    #[test]
    fn every_crate_with_mutants_has_a_part() {
        let parts = PARTS.iter().filter_map(|part| part.name.strip_prefix("mutants-"));
        assert_eq!(parts.collect::<Vec<_>>(), mutants::CRATES.map(|krate| krate.name));
    }
}
