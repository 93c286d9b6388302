//! Builds the runtime that programs are controlled with, so that it is part of this crate.
//!
//! It is a shared library for other people's processes, which no dependency can stand for: Cargo hands libraries of that
//! kind to nobody. So Cargo is run again, into a directory of its own, without whatever the outer run was told about
//! compilers and their flags: a runtime that was itself instrumented for ThreadSanitizer would call itself.
//!
//! With `--cfg omnilink_asan` in RUSTFLAGS, AddressSanitizer checks the accesses of the runtime, in every process that loads
//! it. `cargo xtask ci --only AddressSanitizer` builds it so.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name that programs look for the runtime by, whatever file it is in. So one that was linked with an earlier runtime
/// is satisfied with the one that was loaded before everything else.
const NAME: &str = "libomnilink_sched.so";

fn main() {
    if env::var_os("CARGO_FEATURE_CONTROL").is_none() {
        return;
    }
    let root = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(variable("OUT_DIR"));
    let sources = ["../sched/src", "../sched/Cargo.toml", "../schedule/src", "../schedule/Cargo.toml", "build.rs"];
    for source in sources {
        println!("cargo::rerun-if-changed={}", root.join(source).display());
    }
    let is_possible = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ARCH") == "x86_64"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    let embedded = out.join(NAME);
    if is_possible {
        let built = build(&root.join("../sched/Cargo.toml"), &out.join("sched"));
        fs::copy(&built, &embedded).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    } else {
        // Whoever asks for the runtime is told that there is none.
        fs::write(&embedded, []).unwrap_or_else(|error| panic!("{}: {error}", embedded.display()));
    }
}

/// Builds the runtime, and says where it is.
fn build(manifest: &Path, into: &Path) -> PathBuf {
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["rustc", "--release", "--lib", "--crate-type", "cdylib", "--target", &target]);
    // What the lock file says need not be there yet: who installs a command resolves its dependencies anew.
    cargo.arg("--locked");
    // A thread that ends in the middle, by `pthread_exit`, unwinds through the runtime.
    cargo.args(["--config", "profile.release.panic=\"unwind\"", "--config", "profile.release.strip=\"debuginfo\""]);
    cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(into);
    cargo.args(["--", "-C", &format!("link-arg=-Wl,-soname,{NAME}")]);
    for (name, _) in env::vars_os() {
        let is_told = name.to_str().is_some_and(is_about_building);
        if is_told {
            cargo.env_remove(name);
        }
    }
    if env::var_os("CARGO_CFG_OMNILINK_ASAN").is_some() {
        // Programs are compiled by GCC, so the sanitizer's library is the one of GCC. It must be there before the runtime is.
        cargo.env(
            "RUSTFLAGS",
            "-Zsanitizer=address --cfg omnilink_asan -Clink-arg=-Wl,--no-as-needed -Clink-arg=-lasan",
        );
    }
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo cannot be run: {error}"));
    assert!(status.success(), "the runtime could not be built: {status}");
    into.join(target).join("release").join(NAME)
}

/// Whether a variable of the environment tells Cargo or the compiler what to build and how, and not where things are.
fn is_about_building(name: &str) -> bool {
    const EXCEPTIONS: [&str; 3] = ["CARGO_HOME", "CARGO_NET_OFFLINE", "RUSTUP_HOME"];
    const STARTS: [&str; 6] = ["CARGO_", "RUSTC", "RUSTFLAGS", "RUSTDOC", "MIRI", "PROFILE"];
    let is_setting = STARTS.iter().any(|start| name.starts_with(start)) || matches!(name, "TARGET" | "HOST" | "DEBUG");
    is_setting && !EXCEPTIONS.contains(&name) && !name.starts_with("CARGO_REGISTRIES_")
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets `{name}`"))
}
