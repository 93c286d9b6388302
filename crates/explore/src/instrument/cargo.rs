//! Cargo commands, changed to build a program that can be controlled.
//!
//! Everything in the program is instrumented: the package and all its dependencies, and C and C++ compiled by build
//! scripts. So is the standard library, if the toolchain has its sources: Cargo builds it with the program, once for each
//! target directory. Otherwise the precompiled one is linked, which is not instrumented, except its generic and inlined
//! code, which is compiled with the program. A target is always named, because Cargo then separates host code: build
//! scripts and macros are not instrumented. The sanitizer and the build of the standard library are unstable, but part of
//! every toolchain; `RUSTC_BOOTSTRAP` enables them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::hooks::Hooks;
use crate::runtime::Runtime;

/// The build target. The runtime supports no other.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The directory for instrumented builds, inside a target directory.
pub const DIRECTORY: &str = "omnilink-sched";

/// The file in that directory with the packages to leave uninstrumented: their manifest directories, one a line.
pub const LEFT_OUT: &str = "uninstrumented";

/// The separator of encoded flags.
const SEPARATOR: &str = "\x1f";

/// Without optimization, a crate would call the instances of generic functions that its dependencies have, such as
/// `atomic_load::<usize>`, and these may be uninstrumented.
const OWN_GENERICS: &str = "-Zshare-generics=n";

/// The flags for `rustc`.
pub fn rust_flags(runtime: &Runtime) -> Vec<String> {
    let mut flags: Vec<String> =
        ["-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer", OWN_GENERICS]
            .map(String::from)
            .into();
    let (library, directory) = (runtime.path(), runtime.directory());
    let (library, directory) = (library.to_string_lossy(), directory.to_string_lossy());
    // Later arguments are too late: the runtime must come before the C library in symbol lookup.
    let first = ["-Wl,--push-state,--no-as-needed", &library, "-Wl,--pop-state"];
    let found = ["-Xlinker", "-rpath", "-Xlinker", &directory];
    flags.extend(first.iter().chain(&found).map(|argument| format!("-Zpre-link-arg={argument}")));
    flags
}

/// Flags already set in the environment, which are kept.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// `CARGO_ENCODED_RUSTFLAGS`, or else `RUSTFLAGS`, split.
    pub rust_flags: Vec<String>,
    /// The same for `rustdoc`.
    pub doc_flags: Vec<String>,
    /// `RUSTC_WRAPPER`.
    pub wrapper: Option<String>,
}

/// The standard library of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandardLibrary {
    /// Built with the program, and instrumented.
    Built,
    /// That of the toolchain, which is not instrumented. The runtime is told of calls into it, if there are hooks.
    Precompiled(Option<Hooks>),
}

impl StandardLibrary {
    /// The one for programs that are built in this directory. The variables `OMNILINK_STD=precompiled` and `RUSTC`
    /// change it.
    pub fn of(runtime: &Runtime, directory: &Path) -> StandardLibrary {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let is_unwanted = std::env::var_os("OMNILINK_STD").is_some_and(|wanted| wanted == "precompiled");
        match Toolchain::of(&rustc, directory) {
            Some(toolchain) if toolchain.has_sources() && !is_unwanted => StandardLibrary::Built,
            toolchain => {
                StandardLibrary::Precompiled(toolchain.and_then(|toolchain| Hooks::install(runtime, &toolchain)))
            }
        }
    }
}

/// Where the sources of the standard library are in a toolchain.
const SOURCES: &str = "lib/rustlib/src/rust/library/Cargo.lock";

/// The command that installs these sources.
pub const INSTALL_SOURCES: &str = "rustup component add rust-src";

/// The toolchain that is used in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain(PathBuf);

impl Toolchain {
    /// The toolchain of this compiler; `None` if the compiler cannot be run.
    pub fn of(rustc: &OsStr, directory: &Path) -> Option<Toolchain> {
        let output = Command::new(rustc).args(["--print", "sysroot"]).current_dir(directory).output();
        let output = output.ok().filter(|output| output.status.success())?;
        Some(Toolchain(String::from_utf8_lossy(&output.stdout).trim_end().into()))
    }

    /// Whether it has the sources of the standard library.
    pub fn has_sources(&self) -> bool {
        self.0.join(SOURCES).exists()
    }

    /// The directory of its precompiled libraries.
    pub(super) fn libraries(&self) -> PathBuf {
        self.0.join("lib/rustlib").join(TARGET).join("lib")
    }
}

/// The variable that has Cargo build the standard library.
const BUILD_STD: (&str, &str) = ("CARGO_UNSTABLE_BUILD_STD", "std,panic_unwind,panic_abort");

/// The variables for Cargo. `compilers` is the directory of the wrappers, for build scripts; the one for `rustc` is beside
/// it.
pub fn environment(
    runtime: &Runtime,
    said: &Said,
    compilers: Option<&Path>,
    std: &StandardLibrary,
) -> Vec<(String, String)> {
    let mut ours = rust_flags(runtime);
    if let StandardLibrary::Precompiled(Some(hooks)) = std {
        ours.extend(hooks.link_arguments().map(|argument| format!("-Zpre-link-arg={argument}")));
    }
    let joined = |said: &[String]| said.iter().chain(&ours).cloned().collect::<Vec<_>>().join(SEPARATOR);
    let mut environment = vec![
        ("RUSTC_BOOTSTRAP".into(), "1".into()),
        ("CARGO_ENCODED_RUSTFLAGS".into(), joined(&said.rust_flags)),
        ("CARGO_ENCODED_RUSTDOCFLAGS".into(), joined(&said.doc_flags)),
        // Steps are shown as source lines, and link-time optimization is not worth the wait.
        ("CARGO_PROFILE_RELEASE_DEBUG".into(), "line-tables-only".into()),
        ("CARGO_PROFILE_RELEASE_LTO".into(), "off".into()),
    ];
    if *std == StandardLibrary::Built {
        environment.push((BUILD_STD.0.into(), BUILD_STD.1.into()));
    }
    if compilers.is_some() {
        let wrapper = runtime.directory().join(RUSTC);
        environment.push(("RUSTC_WRAPPER".into(), wrapper.to_string_lossy().into_owned()));
        environment.extend(said.wrapper.clone().map(|outer| (OUTER.to_owned(), outer)));
    }
    let wrapper = |name: &str| compilers.map(|directory| directory.join(name)).filter(|path| path.exists());
    for (variable, name) in [("CC", "cc"), ("CXX", "c++")] {
        if let Some(wrapper) = wrapper(name) {
            let variable = format!("{variable}_{}", TARGET.replace('-', "_"));
            environment.push((variable, wrapper.to_string_lossy().into_owned()));
        }
    }
    environment
}

/// Names the file with the packages to leave uninstrumented, for [`WRAPPER`].
const LIST: &str = "OMNILINK_UNINSTRUMENTED";
/// The wrapper that the user has set, for [`WRAPPER`].
const OUTER: &str = "OMNILINK_RUSTC_WRAPPER";

/// The file name of [`WRAPPER`], beside the runtime.
pub(super) const RUSTC: &str = "rustc";

/// A wrapper for `rustc`: leaves out the instrumentation if the package is in the list, by the directory of its manifest;
/// and optimizes the standard library, with which a panic would take a minute to print its stack otherwise.
pub(super) const WRAPPER: &str = "#!/bin/sh
rustc=$1
shift
if [ -n \"$CARGO_MANIFEST_DIR\" ] && grep -Fxqs -e \"$CARGO_MANIFEST_DIR\" \"$OMNILINK_UNINSTRUMENTED\"; then
    for argument; do
        shift
        [ \"$argument\" = -Zsanitizer=thread ] || set -- \"$@\" \"$argument\"
    done
fi
case \"$CARGO_MANIFEST_DIR $*\" in
    */rustlib/src/rust/library/* | *rustc-dep-of-std*) set -- \"$@\" -Copt-level=2 ;;
esac
exec $OMNILINK_RUSTC_WRAPPER \"$rustc\" \"$@\"
";

/// The variable that leaves the packages uninstrumented which are listed in this file, one manifest directory a line.
pub fn without_instrumentation(list: &Path) -> (OsString, OsString) {
    (LIST.into(), list.as_os_str().to_owned())
}

/// A flag that does nothing but make Cargo build everything again if the list of uninstrumented packages changes.
pub fn list_flag(list: &str) -> String {
    format!("--cfg=omnilink_uninstrumented=\"{:016x}\"", crate::runtime::fingerprint(list.as_bytes()))
}

/// The arguments for Cargo: the given ones, with the target and a separate target directory.
pub fn arguments(given: &[OsString], target_directory: &Path) -> Vec<OsString> {
    let ends = given.iter().position(|argument| argument == "--").unwrap_or(given.len());
    let (options, rest) = given.split_at(ends);
    let first = options.iter().position(|argument| !argument.to_string_lossy().starts_with('-'));
    let (before, after) = options.split_at(first.map_or(0, |place| place + 1));
    let mut arguments = before.to_vec();
    if first.is_some() {
        if option(options, "--target").is_none() {
            arguments.extend(["--target", TARGET].map(OsString::from));
        }
        arguments.extend([OsString::from("--target-dir"), target_directory.into()]);
    }
    arguments.extend(without(after, "--target-dir"));
    arguments.extend_from_slice(rest);
    arguments
}

/// The value of an option.
pub fn option(arguments: &[OsString], name: &str) -> Option<OsString> {
    let joined = format!("{name}=");
    arguments.iter().enumerate().find_map(|(place, argument)| match argument.to_str() {
        Some(argument) if argument == name => arguments.get(place + 1).cloned(),
        argument => argument?.strip_prefix(&joined).map(OsString::from),
    })
}

fn without(arguments: &[OsString], name: &str) -> Vec<OsString> {
    let joined = format!("{name}=");
    let (mut kept, mut is_value) = (Vec::new(), false);
    for argument in arguments {
        let (is_option, is_joined) =
            (argument == name, argument.to_str().is_some_and(|argument| argument.starts_with(&joined)));
        if !(is_option || is_joined || std::mem::take(&mut is_value)) {
            kept.push(argument.clone());
        }
        is_value = is_option;
    }
    kept
}

/// Where the instrumented build of a program is, and that build's target directory. `None` if the program is not in a
/// target directory.
pub(super) fn instrumented_path(program: &Path) -> Option<(PathBuf, PathBuf)> {
    let directory = program.parent()?;
    // Cargo has examples in a directory of the profile.
    let profile = if directory.ends_with("examples") { directory.parent()? } else { directory };
    let target = profile.parent().filter(|target| !target.as_os_str().is_empty())?.join(DIRECTORY);
    let below = program.strip_prefix(profile).ok()?;
    let program = target.join(TARGET).join(profile.file_name()?).join(below);
    Some((program, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_after_those_of_the_user() {
        let said = Said { rust_flags: vec!["--cfg".into(), "mine".into()], ..Said::default() };
        let environment = environment(&Runtime::at(Path::new("/r")), &said, None, &StandardLibrary::Built);
        let shown: String =
            environment.iter().map(|(name, value)| format!("{name}={}\n", value.replace(SEPARATOR, " "))).collect();
        insta::assert_snapshot!(shown, @"
        RUSTC_BOOTSTRAP=1
        CARGO_ENCODED_RUSTFLAGS=--cfg mine -Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer -Zshare-generics=n -Zpre-link-arg=-Wl,--push-state,--no-as-needed -Zpre-link-arg=/r/libomnilink_sched.so -Zpre-link-arg=-Wl,--pop-state -Zpre-link-arg=-Xlinker -Zpre-link-arg=-rpath -Zpre-link-arg=-Xlinker -Zpre-link-arg=/r
        CARGO_ENCODED_RUSTDOCFLAGS=-Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer -Zshare-generics=n -Zpre-link-arg=-Wl,--push-state,--no-as-needed -Zpre-link-arg=/r/libomnilink_sched.so -Zpre-link-arg=-Wl,--pop-state -Zpre-link-arg=-Xlinker -Zpre-link-arg=-rpath -Zpre-link-arg=-Xlinker -Zpre-link-arg=/r
        CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
        CARGO_PROFILE_RELEASE_LTO=off
        CARGO_UNSTABLE_BUILD_STD=std,panic_unwind,panic_abort
        ");
    }

    #[test]
    fn arguments_name_a_target_and_a_directory() {
        let check = |given: &str| {
            let given: Vec<OsString> = given.split_whitespace().map(OsString::from).collect();
            arguments(&given, Path::new("t")).join(OsStr::new(" ")).into_string().unwrap()
        };
        insta::assert_snapshot!(check("test --release -- --nocapture --target-dir x"), @"test --target x86_64-unknown-linux-gnu --target-dir t --release -- --nocapture --target-dir x");
        insta::assert_snapshot!(check("build --target-dir target --locked --target-dir=o"), @"build --target x86_64-unknown-linux-gnu --target-dir t --locked");
        insta::assert_snapshot!(check("-q build --target=other"), @"-q build --target-dir t --target=other");
        insta::assert_snapshot!(check("--version"), @"--version");
    }

    #[test]
    fn programs_are_found_where_they_were_built() {
        let check =
            |program: &str| instrumented_path(Path::new(program)).map(|(program, _)| program.display().to_string());
        assert_eq!(
            check("target/release/harness").unwrap(),
            "target/omnilink-sched/x86_64-unknown-linux-gnu/release/harness"
        );
        assert_eq!(
            check("target/release/examples/lineup").unwrap(),
            "target/omnilink-sched/x86_64-unknown-linux-gnu/release/examples/lineup"
        );
        assert_eq!(check("release/harness"), None);
        assert_eq!(check("harness"), None);
    }
}
