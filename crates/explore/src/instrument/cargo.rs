//! Cargo commands, changed to build a program that can be controlled.
//!
//! Everything in the program is instrumented: the package and all its dependencies, and C and C++ compiled by build
//! scripts. The precompiled standard library is not, except its generic and inlined code, which is compiled with the
//! program. A target is always named, because Cargo then separates host code: build scripts and macros are not
//! instrumented. The sanitizer is unstable, but part of every compiler; `RUSTC_BOOTSTRAP` enables it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::runtime::Runtime;

/// The build target. The runtime supports no other.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The directory for instrumented builds, inside a target directory.
pub const DIRECTORY: &str = "omnilink-sched";

/// The separator of encoded flags.
const SEPARATOR: &str = "\x1f";

/// The flags for `rustc`.
pub fn rust_flags(runtime: &Runtime) -> Vec<String> {
    let mut flags: Vec<String> =
        ["-Zsanitizer=thread", "-Zexternal-clangrt", "-Cunsafe-allow-abi-mismatch=sanitizer"].map(String::from).into();
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
}

/// The variables for Cargo. `compilers` is the directory of the wrappers, for build scripts.
pub fn environment(runtime: &Runtime, said: &Said, compilers: Option<&Path>) -> Vec<(String, String)> {
    let ours = rust_flags(runtime);
    let joined = |said: &[String]| said.iter().chain(&ours).cloned().collect::<Vec<_>>().join(SEPARATOR);
    let mut environment = vec![
        ("RUSTC_BOOTSTRAP".into(), "1".into()),
        ("CARGO_ENCODED_RUSTFLAGS".into(), joined(&said.rust_flags)),
        ("CARGO_ENCODED_RUSTDOCFLAGS".into(), joined(&said.doc_flags)),
        // Steps are shown as source lines, and link-time optimization is not worth the wait.
        ("CARGO_PROFILE_RELEASE_DEBUG".into(), "line-tables-only".into()),
        ("CARGO_PROFILE_RELEASE_LTO".into(), "off".into()),
    ];
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

/// A wrapper for `rustc`: leaves out the instrumentation if the package is in the list, by the directory of its manifest.
pub(super) const WRAPPER: &str = "#!/bin/sh
rustc=$1
shift
if [ -n \"$CARGO_MANIFEST_DIR\" ] && grep -Fxqs -e \"$CARGO_MANIFEST_DIR\" \"$OMNILINK_UNINSTRUMENTED\"; then
    for argument; do
        shift
        [ \"$argument\" = -Zsanitizer=thread ] || set -- \"$@\" \"$argument\"
    done
fi
exec $OMNILINK_RUSTC_WRAPPER \"$rustc\" \"$@\"
";

/// The variables that leave the packages uninstrumented which are listed in this file, one manifest directory a line.
/// `wrapper` is [`Kit::rustc`](super::Kit::rustc), and `outer` a wrapper that the user has set.
pub fn without_instrumentation(wrapper: &Path, list: &Path, outer: Option<OsString>) -> Vec<(OsString, OsString)> {
    let mut variables =
        vec![("RUSTC_WRAPPER".into(), wrapper.into()), (OsString::from(LIST), list.as_os_str().to_owned())];
    variables.extend(outer.map(|outer| (OsString::from(OUTER), outer)));
    variables
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
        let said = Said { rust_flags: vec!["--cfg".into(), "mine".into()], doc_flags: Vec::new() };
        let environment = environment(&Runtime::at(Path::new("/r")), &said, None);
        let shown: String =
            environment.iter().map(|(name, value)| format!("{name}={}\n", value.replace(SEPARATOR, " "))).collect();
        insta::assert_snapshot!(shown, @"
        RUSTC_BOOTSTRAP=1
        CARGO_ENCODED_RUSTFLAGS=--cfg mine -Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer -Zpre-link-arg=-Wl,--push-state,--no-as-needed -Zpre-link-arg=/r/libomnilink_sched.so -Zpre-link-arg=-Wl,--pop-state -Zpre-link-arg=-Xlinker -Zpre-link-arg=-rpath -Zpre-link-arg=-Xlinker -Zpre-link-arg=/r
        CARGO_ENCODED_RUSTDOCFLAGS=-Zsanitizer=thread -Zexternal-clangrt -Cunsafe-allow-abi-mismatch=sanitizer -Zpre-link-arg=-Wl,--push-state,--no-as-needed -Zpre-link-arg=/r/libomnilink_sched.so -Zpre-link-arg=-Wl,--pop-state -Zpre-link-arg=-Xlinker -Zpre-link-arg=-rpath -Zpre-link-arg=-Xlinker -Zpre-link-arg=/r
        CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
        CARGO_PROFILE_RELEASE_LTO=off
        ");
    }

    #[test]
    fn arguments_name_a_target_and_a_directory() {
        let check = |given: &str| {
            let given: Vec<OsString> = given.split_whitespace().map(OsString::from).collect();
            arguments(&given, Path::new("t")).join(std::ffi::OsStr::new(" ")).into_string().unwrap()
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
