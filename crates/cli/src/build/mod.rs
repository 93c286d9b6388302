//! `omnilink build`: builds programs for controlled scheduling.
//!
//! This is a step of another build, so it prints nothing of its own, and exits like the compiler or the build.

mod audit;
mod dependencies;
mod libtest;
mod options;
mod run;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use omnilink_explore::Runtime;
use omnilink_explore::instrument::cargo::{self, StandardLibrary};
use omnilink_explore::instrument::cxx::{Compiler, Family, compiler_words};
use omnilink_judge::InputError;

use crate::args::{BuildCommand, CargoArgs, CxxArgs};
use crate::exit::Exit;
use crate::kit::{kit, path, said_to_rust};
use crate::terminal::complain;

pub(crate) fn run(command: &BuildCommand) -> ExitCode {
    let done = match command {
        BuildCommand::Cxx(args) => cxx(args),
        BuildCommand::Cargo(args) => cargo(args),
        BuildCommand::Run(args) => run::run(args),
        BuildCommand::Audit(args) => return audit::run(args).into(),
    };
    match done {
        Ok(code) => code,
        Err(message) => complain("omnilink build", &InputError::new(message)).into(),
    }
}

/// The variable with the directory of kept runs.
const STORE: &str = "OMNILINK_STORE";

/// The variable with the directory that the user called Cargo in, where the next commands are called too.
const CALLED_IN: &str = "OMNILINK_CALLED_IN";

/// The variable that names Cargo's runner of programs and tests.
const RUNNER: &str = "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER";

fn cxx(args: &CxxArgs) -> Result<ExitCode, String> {
    if args.print_cmake {
        outln!("{}", kit()?.toolchain().display());
        return Ok(ExitCode::SUCCESS);
    }
    let Some(count) = compiler_words(&args.command) else {
        let [program, arguments @ ..] = &*args.command else { return Err("no command given".into()) };
        let mut command = Command::new(program);
        command.args(arguments).envs(kit()?.environment(&path()));
        return status(&mut command).map(code);
    };
    let runtime = match &args.runtime {
        Some(directory) => Runtime::at(directory),
        None => kit()?.runtime().clone(),
    };
    let (words, arguments) = args.command.split_at(count);
    let compiler = Compiler { words, family: Family::of(&resolved(&words[count - 1])) };
    let between = tempfile::tempdir().map_err(|error| format!("cannot create a directory for objects: {error}"))?;
    let commands = compiler.commands(arguments, &runtime, between.path()).map_err(|error| error.to_string())?;
    for command in &commands {
        let status = status(Command::new(&command[0]).args(&command[1..]))?;
        if !status.success() {
            return Ok(code(status));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The file that a name refers to, with links followed: `cc` can be any compiler.
fn resolved(program: &OsStr) -> PathBuf {
    let candidates = match Path::new(program).components().count() {
        1 => std::env::split_paths(&path()).map(|directory| directory.join(program)).collect(),
        _ => vec![PathBuf::from(program)],
    };
    candidates.iter().find_map(|file| file.canonicalize().ok()).unwrap_or_else(|| program.into())
}

fn cargo(args: &CargoArgs) -> Result<ExitCode, String> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let (ours, arguments) = match options::take(&args.arguments) {
        Ok(taken) => taken,
        Err(error) => {
            // What cannot be printed is in the exit code too.
            let _ = error.print();
            return Ok(Exit::Wrong.into());
        }
    };
    let kit = kit()?;
    let target = target_directory(&program, &arguments)?;
    let here = std::env::current_dir().map_err(|error| format!("cannot find the working directory: {error}"))?;
    let mut command = Command::new(&program);
    command.args(cargo::arguments(&arguments, &target.join(cargo::DIRECTORY)));
    command.env(RUNNER, runner(&ours)?);
    // Tests run in the directories of their packages, and their runs are kept in one place.
    command.env(STORE, here.join(&target).join("omnilink")).env(CALLED_IN, &here);
    let mut said = said_to_rust();
    let list = dependencies::of_omnilink_only(&program, &arguments).unwrap_or_default();
    if !list.is_empty() {
        let file = here.join(&target).join(cargo::DIRECTORY).join(cargo::LEFT_OUT);
        write_list(&file, &list)?;
        command.envs([cargo::without_instrumentation(&file)]);
        said.rust_flags.push(cargo::list_flag(&list));
    }
    let std = StandardLibrary::of(kit.runtime(), &here);
    command.envs(cargo::environment(kit.runtime(), &said, Some(&kit.wrappers()), &std));
    status(&mut command).map(code)
}

fn write_list(file: &Path, list: &str) -> Result<(), String> {
    let directory = file.parent().unwrap_or(Path::new("."));
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(file, list));
    written.map_err(|error| format!("{}: {error}", file.display()))
}

/// The command that Cargo runs programs and tests with, which has these options.
fn runner(options: &[String]) -> Result<String, String> {
    let omnilink = std::env::current_exe().map_err(|error| format!("cannot find the path of this command: {error}"))?;
    let omnilink = omnilink.to_string_lossy();
    // Cargo splits the command at spaces, and has no quoting.
    if omnilink.contains(' ') {
        return Err(format!("Cargo cannot run tests with `{omnilink}`: install it in a path without spaces"));
    }
    let words = [&*omnilink, "build", "run"].into_iter().chain(options.iter().map(String::as_str)).chain(["--"]);
    Ok(words.collect::<Vec<_>>().join(" "))
}

/// Cargo's output directory.
fn target_directory(program: &OsStr, arguments: &[OsString]) -> Result<PathBuf, String> {
    if let Some(directory) = cargo::option(arguments, "--target-dir") {
        return Ok(directory.into());
    }
    let mut command = Command::new(program);
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(manifest) = cargo::option(arguments, "--manifest-path") {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.output().map_err(|error| cannot(program, &error))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let directory = metadata["target_directory"].as_str().ok_or("cargo did not report its target directory")?;
    Ok(directory.into())
}

fn status(command: &mut Command) -> Result<ExitStatus, String> {
    command.status().map_err(|error| cannot(command.get_program(), &error))
}

fn cannot(program: &OsStr, error: &io::Error) -> String {
    format!("cannot run `{}`: {error}", program.to_string_lossy())
}

/// The exit code that corresponds to the status. A compiler or a build that a signal ended says nothing about the program.
fn code(status: ExitStatus) -> ExitCode {
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(code) => ExitCode::from(code),
        None => {
            errln!("omnilink build: the build ended early: {status}");
            Exit::Interrupted.into()
        }
    }
}
