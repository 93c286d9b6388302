//! Builds the programs that are measured, in all the ways that are compared, and starts them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omnilink_explore::instrument::cargo;
use omnilink_explore::instrument::cxx::{Compiler, Family};
use omnilink_explore::{Control, Execution, ExecutionOrder, Runtime};

/// Longer than any execution takes, on a machine that does much else.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// How a program is compiled and linked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// As programs are.
    Native,
    /// With ThreadSanitizer itself.
    Sanitized,
    /// For control.
    Controlled,
}

/// The programs of one run.
pub(crate) struct Programs {
    runtime: Runtime,
    /// Where they are built.
    directory: PathBuf,
}

impl Programs {
    /// Nothing is built yet.
    pub(crate) fn new() -> Result<Programs> {
        let own = std::env::current_exe()?;
        let directory = own.parent().context("a program is in a directory")?.join("programs");
        let runtime = Runtime::install(&directory)?;
        Ok(Programs { runtime, directory })
    }

    /// Builds a program of one C++ file, named from the root of the repository.
    pub(crate) fn cxx(&self, compiler: &str, source: &str, build: Build) -> Result<PathBuf> {
        let source = root().join(source);
        let name = source.file_stem().context("a source has a name")?.to_string_lossy();
        let kind = match build {
            Build::Native => "native",
            Build::Sanitized => "sanitized",
            Build::Controlled => "controlled",
        };
        let program = self.directory.join(format!("{name}-{compiler}-{kind}"));
        let mut arguments: Vec<OsString> = ["-std=c++20", "-O2", "-pthread"].map(OsString::from).into();
        if build == Build::Sanitized {
            arguments.push("-fsanitize=thread".into());
        }
        arguments.extend([source.as_os_str().to_owned(), "-o".into(), program.as_os_str().to_owned()]);
        let words = [OsString::from(compiler)];
        let commands = match build {
            Build::Native | Build::Sanitized => vec![words.into_iter().chain(arguments).collect()],
            Build::Controlled => Compiler { words: &words, family: Family::of(Path::new(compiler)) }.commands(
                &arguments,
                &self.runtime,
                &self.directory,
            )?,
        };
        for command in commands {
            let command: Vec<OsString> = command;
            succeed(Command::new(&command[0]).args(&command[1..]))?;
        }
        Ok(program)
    }

    /// Builds the Rust programs for control, and says in which directory they are.
    pub(crate) fn rust(&self) -> Result<PathBuf> {
        let directory = self.directory.join("rust");
        let given = ["build", "--quiet", "--release", "--bins"].map(OsString::from);
        let mut cargo = Command::new("cargo");
        cargo.args(cargo::arguments(&given, &directory));
        cargo.arg("--manifest-path").arg(root().join("crates/sched/tests/programs/rust/Cargo.toml"));
        cargo.envs(cargo::environment(
            &self.runtime,
            &cargo::Said::default(),
            None,
            &cargo::StandardLibrary::Precompiled(None),
        ));
        succeed(&mut cargo)?;
        Ok(directory.join(cargo::TARGET).join("release"))
    }

    /// The runtime that programs are controlled with.
    pub(crate) fn runtime(&self) -> PathBuf {
        self.runtime.path()
    }

    /// A directory for temporary files.
    pub(crate) fn scratch(&self) -> &Path {
        &self.directory
    }

    /// Starts a program under control.
    pub(crate) fn control(&self, program: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<Control> {
        Ok(Control::start(Command::new(program).args(arguments), &self.runtime(), &self.directory)?)
    }
}

/// One execution.
pub(crate) fn execute(control: &mut Control, order: &ExecutionOrder) -> Result<Execution> {
    Ok(control.execute(order, LONG)?)
}

/// Runs a command that must succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {:?}", command.get_program()))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
