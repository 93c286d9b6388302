//! The test programs of the recorders, and their build commands.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::Scratch;
use crate::workspace::Workspace;

/// What Clang and GCC must not complain about.
const WARNINGS: &str = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

/// The programs that every recorder has.
const NAMES: [&str; 2] = ["script", "victim"];

/// Those that measure, and mean something only if they are optimized as a user's program would be.
const MEASURING: [&str; 2] = ["cost", "queue"];

/// The compilers of C++ that are tried; only the first has to be there.
const COMPILERS: [&str; 2] = ["c++", "clang++"];

/// The header of the queue that recording is tried on.
const QUEUE: &str = "/usr/include/concurrentqueue/concurrentqueue.h";

/// Everything that was built.
pub(super) struct Programs {
    /// One set for each language and compiler. The first is that of Rust.
    pub(super) sets: Vec<Set>,
    /// The recorder for C++, with its tests.
    cpp: PathBuf,
}

/// The programs of one recorder, built by one compiler.
pub(super) struct Set {
    /// What a person calls it.
    pub(super) name: String,
    directory: PathBuf,
    /// False if the queue that is measured is not installed.
    pub(super) has_queue: bool,
}

impl Set {
    /// A program that has not been started.
    pub(super) fn command(&self, program: &str) -> Command {
        Command::new(self.directory.join(program))
    }

    /// Runs a script, and records into a directory that does not exist yet.
    pub(super) fn record(&self, script: &str, directory: &Path) -> Result<()> {
        let mut child = self.command("script").arg(directory).stdin(Stdio::piped()).spawn()?;
        child.stdin.take().context("the input is a pipe")?.write_all(script.as_bytes())?;
        let status = child.wait()?;
        ensure!(status.success(), "the script of {} failed: {status}\n{script}", self.name);
        Ok(())
    }
}

impl Programs {
    /// Builds them, and those that measure if they are needed.
    pub(super) fn build(workspace: &Workspace, scratch: &Scratch, measure: bool) -> Result<Programs> {
        let mut sets = vec![rust(workspace, measure)?];
        let cpp = workspace.root().join("recorders/cpp");
        for (index, compiler) in COMPILERS.into_iter().enumerate() {
            if index == 0 || is_there(compiler) {
                sets.push(cpp_set(&cpp, compiler, &scratch.0.join(compiler), measure)?);
            }
        }
        Ok(Programs { sets, cpp })
    }

    /// Runs the tests of the recorder for C++, its C interface and its package, and that its headers do without exceptions.
    pub(super) fn test(&self, scratch: &Scratch) -> Result<()> {
        let build = scratch.0.join("cmake");
        run(Command::new("cmake").arg("-S").arg(&self.cpp).arg("-B").arg(&build).stdout(Stdio::null()))?;
        run(Command::new("cmake").arg("--build").arg(&build).stdout(Stdio::null()))?;
        run(Command::new("ctest").arg("--test-dir").arg(&build).arg("--output-on-failure"))?;
        for program in ["test/consumer/harness.cpp", "test/object.cpp"] {
            let source = self.cpp.join(program);
            run(compile(&self.cpp, "c++").args(["-fno-exceptions", "-fsyntax-only"]).arg(source))?;
        }
        println!("the recorder for C++ and C passes its tests, also as an installed package");
        Ok(())
    }
}

fn rust(workspace: &Workspace, measure: bool) -> Result<Set> {
    let target = if measure {
        let examples: Vec<String> = NAMES.iter().chain(&MEASURING).map(|name| format!("--example {name}")).collect();
        workspace.cargo(&format!("build --quiet --release -p omnilink-record {}", examples.join(" ")))?;
        workspace.metadata.target_directory.as_std_path().join("release")
    } else {
        workspace.build_programs()?
    };
    Ok(Set { name: "Rust".to_owned(), directory: target.join("examples"), has_queue: true })
}

fn cpp_set(cpp: &Path, compiler: &str, directory: &Path, measure: bool) -> Result<Set> {
    std::fs::create_dir_all(directory)?;
    let has_queue = Path::new(QUEUE).exists();
    let measuring = MEASURING.into_iter().filter(|name| measure && (has_queue || *name != "queue"));
    for name in NAMES.into_iter().chain(measuring) {
        let source = cpp.join("test").join(name).with_extension("cpp");
        run(compile(cpp, compiler).arg(source).arg("-o").arg(directory.join(name)))?;
    }
    let name = if compiler == "c++" { "C++".to_owned() } else { format!("C++ ({compiler})") };
    Ok(Set { name, directory: directory.to_owned(), has_queue })
}

fn compile(cpp: &Path, compiler: &str) -> Command {
    let mut command = Command::new(compiler);
    command.args(["-O2", "-std=c++17", "-pthread", "-I"]).arg(cpp.join("include")).args(WARNINGS.split(' '));
    command
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_owned();
    let words: Vec<_> = command.get_args().map(OsStr::to_string_lossy).collect();
    let words = words.join(" ");
    let status = command.status().with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(status.success(), "`{} {words}` failed", program.display());
    Ok(())
}
