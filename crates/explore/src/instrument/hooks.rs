//! Calls of Rust programs into the precompiled standard library, made visible to the runtime.
//!
//! The precompiled library synchronizes unobserved: `thread::park` may return because of a token, and `Barrier::wait` takes
//! a lock, without a call that the runtime intercepts. A program that relies on it would seem to have a data race. So the
//! linker redirects every call into the library (`--wrap`) to a stub, which tells the runtime and jumps to the function. The
//! runtime then takes everything that any thread has done for ordered before what follows, and everything that this
//! thread has done for ordered before all that acquires later: races may be missed around such calls, but none is invented.
//!
//! Allocation and what each thread does at its start are left out: they order nothing for the program, and would hide most
//! races.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use addr2line::demangle_auto;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol, SymbolKind};

use super::cargo::Toolchain;
use crate::runtime::{Runtime, fingerprint, write};

/// The function of the runtime that stubs call.
pub(crate) const ENTER: &str = "omnilink_enter_std";

/// The object with the stubs, and the linker's options that redirect calls to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooks {
    object: PathBuf,
    options: PathBuf,
}

impl Hooks {
    /// Writes the hooks for a toolchain, beside the runtime, unless they are there. `None` if it has no standard library, or
    /// if they cannot be assembled.
    pub fn install(runtime: &Runtime, toolchain: &Toolchain) -> Option<Hooks> {
        let library = fs::read_dir(toolchain.libraries()).ok()?.flatten().map(|entry| entry.path()).find(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libstd-") && name.ends_with(".rlib")
        })?;
        let name = format!("std-{:016x}", fingerprint(library.as_os_str().as_encoded_bytes()));
        let file = |extension: &str| runtime.directory().join(&name).with_extension(extension);
        let hooks = Hooks { object: file("o"), options: file("options") };
        let is_newer = |path: &Path| {
            let changed = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
            changed(path) > changed(&library)
        };
        if is_newer(&hooks.object) && is_newer(&hooks.options) {
            return Some(hooks);
        }
        let functions = functions(&fs::read(&library).ok()?)?;
        let source = file("s");
        write(&source, stubs(&functions).as_bytes(), false).ok()?;
        let assembled = tempfile::NamedTempFile::new_in(runtime.directory()).ok()?;
        let mut command = Command::new("cc");
        command.arg("-c").arg(&source).arg("-o").arg(assembled.path()).stdin(Stdio::null()).stderr(Stdio::null());
        if !command.status().ok()?.success() {
            return None;
        }
        assembled.persist(&hooks.object).ok()?;
        let options: String = functions.iter().map(|function| format!("--wrap={function}\n")).collect();
        write(&hooks.options, options.as_bytes(), false).ok()?;
        Some(hooks)
    }

    /// The arguments for the compiler that links.
    pub fn link_arguments(&self) -> [String; 2] {
        [self.object.display().to_string(), format!("-Wl,@{}", self.options.display())]
    }
}

/// The functions of the library that a program may call, except those that order nothing.
fn functions(library: &[u8]) -> Option<BTreeSet<String>> {
    let mut functions = BTreeSet::new();
    let archive = ArchiveFile::parse(library).ok()?;
    for member in archive.members() {
        // One member has the library's description instead of code.
        let Some(object) = member.ok().and_then(|member| object::File::parse(member.data(library).ok()?).ok()) else {
            continue;
        };
        for symbol in object.symbols() {
            let is_function = symbol.kind() == SymbolKind::Text && symbol.is_global() && symbol.is_definition();
            if let (true, Ok(name)) = (is_function, symbol.name())
                && is_hooked(&demangle_auto(name.into(), None))
            {
                functions.insert(name.to_owned());
            }
        }
    }
    Some(functions)
}

fn is_hooked(function: &str) -> bool {
    let without = ["__rustc::", "std::alloc::", "core::", "<core::", "rust_eh_personality", "__r"];
    let at_start =
        ["std::thread::current::", "std::thread::spawnhook::", "::set_name", "::set_output_capture", "::cname"];
    !without.iter().any(|start| function.starts_with(start)) && !at_start.iter().any(|part| function.contains(part))
}

/// The stubs as assembly: each calls the runtime with the address of its function, and never returns.
fn stubs(functions: &BTreeSet<String>) -> String {
    let mut text = String::new();
    for function in functions {
        _ = write!(
            text,
            ".section \".text.__wrap_{function}\",\"ax\",@progbits\n.globl \"__wrap_{function}\"\n\
             .type \"__wrap_{function}\",@function\n\"__wrap_{function}\":\nleaq \"__real_{function}\"(%rip), %r11\n\
             jmpq *{ENTER}@GOTPCREL(%rip)\n"
        );
    }
    text + ".section .note.GNU-stack,\"\",@progbits\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_into_the_standard_library_are_hooked() {
        let directory = tempfile::tempdir().unwrap();
        let runtime = Runtime::install(directory.path()).unwrap();
        let toolchain = Toolchain::of("rustc".as_ref(), directory.path()).expect("rustc is installed");
        let hooks = Hooks::install(&runtime, &toolchain).expect("cc is installed");
        let options = fs::read_to_string(&hooks.options).unwrap();
        let names = options.lines().filter_map(|line| line.strip_prefix("--wrap="));
        let names: Vec<String> = names.map(|name| demangle_auto(name.into(), None).into_owned()).collect();
        for wanted in ["park", "Barrier", "lock_contended", "Condvar", "Once"] {
            assert!(names.iter().any(|name| name.contains(wanted)), "{wanted}");
        }
        assert!(!names.iter().any(|name| name.contains("__rdl_alloc") || name.starts_with("std::alloc::")));
        let made = fs::metadata(&hooks.object).unwrap().modified().unwrap();
        assert_eq!(Hooks::install(&runtime, &toolchain), Some(hooks.clone()));
        assert_eq!(fs::metadata(&hooks.object).unwrap().modified().unwrap(), made);
    }
}
