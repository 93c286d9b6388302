//! Builds of programs that can be controlled.
//!
//! Compilers instrument for ThreadSanitizer, and the runtime is linked instead of ThreadSanitizer's: [`cxx`] and
//! [`cargo`] have the flags. A [`Kit`] is a directory with the runtime, a wrapper for each compiler, and a toolchain
//! file for CMake. A build that calls compilers by name, or through `CC` and `CXX`, works with it unchanged.

pub mod cargo;
pub mod cxx;
pub mod hooks;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use omnilink_settings::Controlled;

use self::cargo::StandardLibrary;
use crate::program::Program;
use crate::runtime::{NoRuntime, Runtime, write};

/// Why a program cannot be built for control.
#[derive(Debug, thiserror::Error)]
pub enum CannotInstrument {
    /// It is linked statically.
    #[error("`{0}` is unsupported: the runtime is a shared library")]
    Static(String),
    /// The settings have no build command.
    #[error("no build command: set `build` in `[harness]`")]
    NotBuilt,
    /// The build command does not show what it builds where.
    #[error(
        "unsupported build command `{command}`: set `build` and `run` in `[harness.controlled]`, for a build in a directory \
         of its own; `CC`, `CXX` and `PATH` name the compilers there. For example:\n\n[harness.controlled]\nbuild = \
         [\"sh\", \"-c\", \"cmake -B target/controlled && cmake --build target/controlled\"]\nrun = {run}\n"
    )]
    Unclear {
        /// The command.
        command: String,
        /// The command that runs the program built in that directory, as TOML.
        run: String,
    },
    /// A directory cannot be created.
    #[error("{path}: cannot create it: {error}", path = path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// The runtime, and the tools to build programs with it.
#[derive(Debug, Clone)]
pub struct Kit {
    runtime: Runtime,
    omnilink: PathBuf,
}

/// Compiler names. Each one found gets a wrapper.
const COMPILERS: [&str; 6] = ["cc", "c++", "gcc", "g++", "clang", "clang++"];

impl Kit {
    /// Writes the kit below a directory. `omnilink` is the command that wrappers call, and `path` is the search path
    /// for compilers, as in the variable `PATH`.
    pub fn install(directory: &Path, omnilink: &Path, path: &OsStr) -> Result<Kit, NoRuntime> {
        let kit = Kit { runtime: Runtime::install(directory)?, omnilink: omnilink.into() };
        let wrong = |path: &Path| {
            let path = path.to_owned();
            move |error| NoRuntime::Write { path, error }
        };
        let wrappers = kit.wrappers();
        fs::create_dir_all(&wrappers).map_err(wrong(&wrappers))?;
        for name in COMPILERS {
            let found = std::env::split_paths(path).filter(|directory| *directory != wrappers);
            let found = found.map(|directory| directory.join(name)).find(|file| is_executable(file));
            if let Some(compiler) = found {
                let file = wrappers.join(name);
                write(&file, kit.wrapper(&compiler).as_bytes(), true).map_err(wrong(&file))?;
            }
        }
        let rustc = kit.runtime.directory().join(cargo::RUSTC);
        write(&rustc, cargo::WRAPPER.as_bytes(), true).map_err(wrong(&rustc))?;
        let toolchain = kit.toolchain();
        write(&toolchain, kit.cmake().as_bytes(), false).map_err(wrong(&toolchain))?;
        Ok(kit)
    }

    /// The runtime.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The directory of the wrappers, which have the compilers' names.
    pub fn wrappers(&self) -> PathBuf {
        self.runtime.directory().join("bin")
    }

    /// The toolchain file for CMake.
    pub fn toolchain(&self) -> PathBuf {
        self.runtime.directory().join("omnilink.cmake")
    }

    /// The words before a compiler command.
    fn prefix(&self) -> Vec<String> {
        let (omnilink, runtime) = (self.omnilink.to_string_lossy(), self.runtime.directory().to_string_lossy());
        [&*omnilink, "build", "cxx", "--runtime", &runtime, "--"].map(str::to_owned).into()
    }

    fn wrapper(&self, compiler: &Path) -> String {
        let mut words = self.prefix();
        words.push(compiler.to_string_lossy().into_owned());
        format!("#!/bin/sh\nexec {} \"$@\"\n", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
    }

    /// CMake's choice of compiler stays: only the project's compile and link commands change.
    fn cmake(&self) -> String {
        let launcher: Vec<String> = self.prefix().iter().map(|word| format!("\"{}\"", cmake_quoted(word))).collect();
        let flags = cxx::link_flags(&self.runtime);
        let flags: Vec<String> = flags.iter().map(|flag| quoted(&flag.to_string_lossy())).collect();
        let (launcher, flags) = (launcher.join(" "), cmake_quoted(&flags.join(" ")));
        let mut text =
            String::from("# Builds programs that omnilink can control: cmake -DCMAKE_TOOLCHAIN_FILE=<this file>\n");
        for language in ["C", "CXX"] {
            text += &format!("set(CMAKE_{language}_COMPILER_LAUNCHER {launcher})\n");
        }
        for kind in ["EXE", "SHARED", "MODULE"] {
            text += &format!("set(CMAKE_{kind}_LINKER_FLAGS_INIT \"{flags}\")\n");
        }
        text + "set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)\n"
    }

    /// The variables for a build that calls compilers by name or through variables. `path` is the previous `PATH`.
    pub fn environment(&self, path: &OsStr) -> Vec<(String, String)> {
        let wrappers = self.wrappers();
        let variable = |name: &str, compiler: &str| (name.to_owned(), wrappers.join(compiler).display().to_string());
        let mut paths = wrappers.clone().into_os_string();
        paths.push(":");
        paths.push(path);
        vec![variable("CC", "cc"), variable("CXX", "c++"), ("PATH".into(), paths.to_string_lossy().into_owned())]
    }
}

impl Program {
    /// The same harness, built for control next to the original. Cargo builds and single compiler commands are
    /// supported; for anything else the settings have the commands. `path` is the variable `PATH`, and `said` are the
    /// Rust flags of the environment.
    pub fn instrumented(
        &self,
        settings: Option<&Controlled>,
        kit: &Kit,
        path: &OsStr,
        said: &cargo::Said,
    ) -> Result<Program, CannotInstrument> {
        let mut environment = kit.environment(path);
        let rust = || {
            let std = StandardLibrary::of(&kit.runtime, &self.directory);
            cargo::environment(&kit.runtime, said, Some(&kit.wrappers()), &std)
        };
        if let Some(Controlled { build, run }) = settings {
            environment.extend(rust());
            let build = if build.is_empty() { &self.build } else { build };
            return Ok(Program {
                build: build.clone(),
                run: run.clone(),
                environment,
                directory: self.directory.clone(),
            });
        }
        let unclear = || CannotInstrument::Unclear { command: self.build.join(" "), run: run_from(&self.run) };
        let (Some(command), [program, rest @ ..]) = (self.build.first(), &*self.run) else {
            return Err(CannotInstrument::NotBuilt);
        };
        let words: Vec<OsString> = self.build.iter().map(OsString::from).collect();
        let (build, program) = if command == "cargo" {
            let (program, target) = cargo::instrumented_path(Path::new(program)).ok_or_else(unclear)?;
            if cargo::option(&words, "--target").is_some() {
                return Err(unclear());
            }
            environment = rust();
            let arguments = cargo::arguments(&words[1..], &target);
            let arguments = arguments.iter().map(|argument| argument.to_string_lossy().into_owned());
            (std::iter::once(command.clone()).chain(arguments).collect(), program)
        } else if cxx::compiler_words(&words).is_some() {
            let place = self.build.iter().position(|word| word == "-o").ok_or_else(unclear)? + 1;
            let output = self.build.get(place).filter(|output| Path::new(output) == without_dot(program));
            let name = output.and_then(|output| Path::new(output).file_name()).ok_or_else(unclear)?;
            let moved = Path::new("target").join(cargo::DIRECTORY).join(name);
            let made = self.directory.join("target").join(cargo::DIRECTORY);
            fs::create_dir_all(&made).map_err(|error| CannotInstrument::Directory { path: made, error })?;
            let mut build = kit.prefix();
            build.extend(self.build.iter().cloned());
            let last = build.len() - self.build.len() + place;
            build[last] = moved.to_string_lossy().into_owned();
            (build, moved)
        } else {
            return Err(unclear());
        };
        let run = std::iter::once(program.to_string_lossy().into_owned()).chain(rest.iter().cloned()).collect();
        Ok(Program { build, run, environment, directory: self.directory.clone() })
    }
}

/// The command that runs a program from a directory of its own, as TOML.
fn run_from(run: &[String]) -> String {
    let name = run.first().and_then(|program| Path::new(program).file_name()).unwrap_or_default();
    let program = format!("target/controlled/{}", name.to_string_lossy());
    let words = std::iter::once(&program).chain(run.iter().skip(1));
    format!("[{}]", words.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", "))
}

fn without_dot(program: &str) -> &Path {
    Path::new(program.strip_prefix("./").unwrap_or(program))
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A word quoted for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A text for a quoted argument of CMake.
fn cmake_quoted(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', "\\\"").replace('$', "\\$").replace(';', "\\;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kit() -> Kit {
        Kit { runtime: Runtime::at(Path::new("/the r")), omnilink: "/bin/omnilink".into() }
    }

    #[test]
    fn build_files_use_full_paths() {
        insta::assert_snapshot!(kit().wrapper(Path::new("/usr/bin/g++")), @r#"
        #!/bin/sh
        exec /bin/omnilink build cxx --runtime '/the r' -- /usr/bin/g++ "$@"
        "#);
        insta::assert_snapshot!(kit().cmake(), @r#"
        # Builds programs that omnilink can control: cmake -DCMAKE_TOOLCHAIN_FILE=<this file>
        set(CMAKE_C_COMPILER_LAUNCHER "/bin/omnilink" "build" "cxx" "--runtime" "/the r" "--")
        set(CMAKE_CXX_COMPILER_LAUNCHER "/bin/omnilink" "build" "cxx" "--runtime" "/the r" "--")
        set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--push-state,--no-as-needed '/the r/libomnilink_sched.so' -Wl,--pop-state -Xlinker -rpath -Xlinker '/the r'")
        set(CMAKE_SHARED_LINKER_FLAGS_INIT "-Wl,--push-state,--no-as-needed '/the r/libomnilink_sched.so' -Wl,--pop-state -Xlinker -rpath -Xlinker '/the r'")
        set(CMAKE_MODULE_LINKER_FLAGS_INIT "-Wl,--push-state,--no-as-needed '/the r/libomnilink_sched.so' -Wl,--pop-state -Xlinker -rpath -Xlinker '/the r'")
        set(CMAKE_INTERPROCEDURAL_OPTIMIZATION OFF)
        "#);
    }

    #[test]
    fn the_instrumented_harness_is_built_beside_the_original() {
        let directory = tempfile::tempdir().unwrap();
        let check = |build: &str, run: &str, settings: Option<&Controlled>| {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            let program = Program {
                directory: directory.path().into(),
                build: words(build),
                run: words(run),
                environment: Vec::new(),
            };
            match program.instrumented(settings, &kit(), OsStr::new("/usr/bin"), &cargo::Said::default()) {
                Ok(program) => format!("{}\n{}", program.build.join(" "), program.run.join(" ")),
                Err(error) => error.to_string(),
            }
        };
        insta::assert_snapshot!(check("cargo build --release --quiet --target-dir target", "target/release/harness -v", None), @"
        cargo build --target x86_64-unknown-linux-gnu --target-dir target/omnilink-sched --release --quiet
        target/omnilink-sched/x86_64-unknown-linux-gnu/release/harness -v
        ");
        insta::assert_snapshot!(check("c++ -O2 main.cpp -o harness", "./harness", None), @"
        /bin/omnilink build cxx --runtime /the r -- c++ -O2 main.cpp -o target/omnilink-sched/harness
        target/omnilink-sched/harness
        ");
        insta::assert_snapshot!(check("make", "./harness -v", None), @r#"
        unsupported build command `make`: set `build` and `run` in `[harness.controlled]`, for a build in a directory of its own; `CC`, `CXX` and `PATH` name the compilers there. For example:

        [harness.controlled]
        build = ["sh", "-c", "cmake -B target/controlled && cmake --build target/controlled"]
        run = ["target/controlled/harness", "-v"]
        "#);
        let settings = Controlled { build: Vec::new(), run: vec!["./other".into()] };
        insta::assert_snapshot!(check("make", "./harness", Some(&settings)), @"
        make
        ./other
        ");
    }
}
