//! Builds the runtime that controls programs, and embeds it in this crate.
//!
//! The runtime is a shared library that other programs load. Cargo does not pass a `cdylib` to dependents, so this
//! script runs Cargo again, on the package `omnilink-sched`, into a separate target directory and without the outer
//! build's compiler settings and flags: a runtime instrumented for ThreadSanitizer would call itself.
//!
//! With `--cfg omnilink_asan` in RUSTFLAGS, AddressSanitizer checks the runtime's accesses in every process that loads
//! it. `cargo xtask ci --only asan` builds it that way.

use std::env;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

/// The runtime's soname, whatever its file is called: a program linked with an earlier runtime accepts the preloaded
/// one.
const NAME: &str = "libomnilink_sched.so";

fn main() {
    if env::var_os("CARGO_FEATURE_CONTROL").is_none() {
        return;
    }
    let sched = PathBuf::from(variable("DEP_OMNILINK_SCHED_ROOT"));
    let out = PathBuf::from(variable("OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    // In a checkout. A package from a registry does not change, and has no neighbours.
    for source in ["src", "Cargo.toml", "../schedule/src", "../schedule/Cargo.toml"] {
        let source = sched.join(source);
        if source.exists() {
            println!("cargo::rerun-if-changed={}", source.display());
        }
    }
    // Documentation is built without network access.
    let is_possible = env::var_os("DOCS_RS").is_none()
        && variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ARCH") == "x86_64"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    // Without any bytes, `Runtime::install` reports that this platform is unsupported.
    let bytes = match is_possible {
        true => {
            let built = build(&sched.join("Cargo.toml"), &out.join("sched"));
            fs::read(&built).unwrap_or_else(|error| panic!("{}: {error}", built.display()))
        }
        false => Vec::new(),
    };
    let embedded = out.join(format!("{NAME}.gz"));
    pack(&bytes, &embedded).unwrap_or_else(|error| panic!("{}: {error}", embedded.display()));
}

/// Writes compressed bytes.
fn pack(bytes: &[u8], path: &Path) -> io::Result<()> {
    let mut encoder = GzEncoder::new(fs::File::create(path)?, Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish().map(drop)
}

/// Builds the runtime and returns its path.
fn build(manifest: &Path, into: &Path) -> PathBuf {
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["rustc", "--release", "--lib", "--crate-type", "cdylib", "--features", "runtime", "--target", &target]);
    // An installed command resolves its dependencies anew, so the locked versions may not be downloaded yet.
    cargo.arg("--locked");
    // A thread that calls `pthread_exit` unwinds through the runtime.
    cargo.args(["--config", "profile.release.panic=\"unwind\"", "--config", "profile.release.strip=\"debuginfo\""]);
    cargo.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(into);
    cargo.args(["--", "-C", &format!("link-arg=-Wl,-soname,{NAME}")]);
    for (name, _) in env::vars_os() {
        let is_build_setting = name.to_str().is_some_and(is_about_building);
        if is_build_setting {
            cargo.env_remove(name);
        }
    }
    if env::var_os("CARGO_CFG_OMNILINK_ASAN").is_some() {
        // Programs are compiled by GCC, so the sanitizer library is GCC's. It must be loaded before the runtime.
        cargo.env(
            "RUSTFLAGS",
            "-Zsanitizer=address --cfg omnilink_asan -Clink-arg=-Wl,--no-as-needed -Clink-arg=-lasan",
        );
    }
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo cannot be run: {error}"));
    assert!(status.success(), "the runtime could not be built: {status}");
    into.join(target).join("release").join(NAME)
}

/// Whether an environment variable says what to build and how, as opposed to where things are.
fn is_about_building(name: &str) -> bool {
    const EXCEPTIONS: [&str; 3] = ["CARGO_HOME", "CARGO_NET_OFFLINE", "RUSTUP_HOME"];
    const STARTS: [&str; 6] = ["CARGO_", "RUSTC", "RUSTFLAGS", "RUSTDOC", "MIRI", "PROFILE"];
    let is_setting = STARTS.iter().any(|start| name.starts_with(start)) || matches!(name, "TARGET" | "HOST" | "DEBUG");
    is_setting && !EXCEPTIONS.contains(&name) && !name.starts_with("CARGO_REGISTRIES_")
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets `{name}`"))
}
