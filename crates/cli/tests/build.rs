//! `omnilink build` and `cargo omnilink` as people use them: with a compiler, with make, with CMake, with Cargo.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod tool;

use std::fs;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "#include <atomic>\n#include <thread>\nstd::atomic<int> counter;\n\
    int main() { std::thread other([] { counter++; }); counter++; other.join(); return counter - 2; }\n";

/// What the audit says about a program that everything is right with.
const COMPLETE: &str = "instrumented\ncalls the runtime before the C library\n\
                        all interactions between threads are observed\n\
                        data races are looked for\nexit 0";

/// Runs the command in a directory with a source file, and then shows the audit of what it built.
fn check(name: &str, files: &[(&str, &str)], commands: &[&[&str]], program: &str) -> String {
    let directory = tool::directory(name);
    fs::write(directory.join("program.cpp"), SOURCE).expect("a source file");
    for (file, text) in files {
        fs::write(directory.join(file), text).expect("a file of the build");
    }
    for command in commands {
        let ran = omnilink(&directory, command);
        assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.stdout, ran.stderr);
    }
    let status = Command::new(directory.join(program)).status().expect("the program runs");
    assert!(status.success(), "{status}");
    tool::run(&directory, &["build", "audit", program]).shown()
}

fn omnilink(directory: &Path, command: &[&str]) -> tool::Ran {
    tool::run(directory, &[&["build", "cxx", "--"], command].concat())
}

#[allow(clippy::print_stderr, reason = "skipped tests must be visible")]
fn is_there(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok();
    // Where all of it is to be tested, what is missing is a failure.
    assert!(is_there || std::env::var_os("CI").is_none(), "there is no `{program}`");
    if !is_there {
        eprintln!("left out: there is no `{program}`");
    }
    is_there
}

#[test]
fn one_command_that_compiles_and_links() {
    for compiler in ["c++", "g++", "clang++"].into_iter().filter(|compiler| is_there(compiler)) {
        let command = [compiler, "-std=c++17", "-O2", "-Wall", "-Werror", "program.cpp", "-o", "program", "-pthread"];
        assert_eq!(check(&format!("build-{compiler}"), &[], &[&command], "program"), COMPLETE, "{compiler}");
    }
}

#[test]
fn a_build_that_finds_its_compiler() {
    if !is_there("make") || !is_there("g++") {
        return;
    }
    let makefile = "program: program.o\n\t$(CXX) -pthread -o $@ $^\nnamed: program.cpp\n\tg++ -pthread $^ -o $@\n";
    let files = [("Makefile", makefile)];
    assert_eq!(check("build-make", &files, &[&["make", "program"]], "program"), COMPLETE);
    assert_eq!(check("build-make-named", &files, &[&["make", "named"]], "named"), COMPLETE);
}

#[test]
fn cmake_with_the_wrappers_and_with_the_toolchain_file() {
    if !is_there("cmake") || !is_there("make") {
        return;
    }
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(program CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
                 find_package(Threads REQUIRED)\nadd_executable(program program.cpp)\n\
                 target_link_libraries(program Threads::Threads)\n";
    let files = [("CMakeLists.txt", lists)];
    let build: &[&str] = &["cmake", "--build", "out"];
    let wrapped = check("build-cmake", &files, &[&["cmake", "-B", "out", "."], build], "out/program");
    assert_eq!(wrapped, COMPLETE);
    let directory = tool::directory("build-cmake-toolchain");
    let file = tool::run(&directory, &["build", "cxx", "--print-cmake"]);
    fs::write(directory.join("program.cpp"), SOURCE).unwrap();
    fs::write(directory.join("CMakeLists.txt"), lists).unwrap();
    let toolchain = format!("-DCMAKE_TOOLCHAIN_FILE={}", file.stdout.trim());
    for arguments in [&["-B", "out", &toolchain, "."][..], &["--build", "out"]] {
        let output = Command::new("cmake").args(arguments).current_dir(&directory).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(tool::run(&directory, &["build", "audit", "out/program"]).shown(), COMPLETE);
}

#[test]
fn tests_of_a_cargo_package() {
    let directory = tool::directory("build-cargo");
    let manifest = "[package]\nname = \"tiny\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(directory.join("src")).unwrap();
    let library = "/// ```\n/// assert_eq!(tiny::one(), 1);\n/// ```\n\
                   pub fn one() -> u32 { std::sync::atomic::AtomicU32::new(0).fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1 }\n\
                   #[test]\nfn works() { assert_eq!(one(), 1); }\n";
    fs::write(directory.join("src/lib.rs"), library).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-omnilink"));
    command.args(["omnilink", "test", "--offline"]).current_dir(&directory).env_remove("CARGO_TARGET_DIR");
    let mut test = || {
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), said)
    };
    let (is_well, said) = test();
    assert!(is_well && said.contains("test works ... ok (starts no thread)"), "{said}");
    let lost = "#[test]\nfn lost() {\n    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};\n    \
                let x = AtomicU32::new(0);\n    let add = || x.store(x.load(SeqCst) + 1, SeqCst);\n    \
                std::thread::scope(|scope| { scope.spawn(add); scope.spawn(add); });\n    \
                assert_eq!(x.load(SeqCst), 2);\n}\n";
    fs::write(directory.join("src/lib.rs"), library.to_owned() + lost).unwrap();
    let (is_well, said) = test();
    assert!(!is_well && said.contains("test lost ... FAILED (panicked, seed "), "{said}");
    assert!(directory.join("target/omnilink-sched/x86_64-unknown-linux-gnu/debug").is_dir());
}

#[test]
fn what_cannot_be_built_says_why() {
    let directory = tool::directory("build-wrong");
    fs::write(directory.join("program.cpp"), "int main() { return }\n").unwrap();
    let ran = omnilink(&directory, &["c++", "-static", "program.cpp"]);
    insta::assert_snapshot!(ran.shown(), @"
    error: omnilink build: `-static` is unsupported: the runtime is a shared library
    exit 2
    ");
    // A compiler that complains ends as it does by itself.
    let ran = omnilink(&directory, &["c++", "program.cpp"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("program.cpp:1"), "{}", ran.stderr);
}

/// Its end says nothing about the program.
#[test]
fn a_build_that_a_signal_ends_is_interrupted() {
    let ran = omnilink(&tool::directory("build-killed"), &["sh", "-c", "kill -9 $$"]);
    insta::assert_snapshot!(ran.shown(), @"
    omnilink build: the build ended early: signal: 9 (SIGKILL)
    exit 130
    ");
}

#[test]
fn the_command_for_cargo_has_help_of_its_own() {
    for arguments in [&["omnilink"][..], &["omnilink", "--help"], &["omnilink", "-h"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_cargo-omnilink")).args(arguments).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("cargo omnilink test"), "{arguments:?}: {said}");
    }
}
