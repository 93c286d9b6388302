//! What of a program is seen when it is controlled, and what is not.
//!
//! Nothing here runs the program: its symbols and its instructions are read. Code that was not instrumented runs between
//! two steps without being interrupted. So what is found there is no mistake, every execution is one that can be; but some
//! executions are never tried, and those who prove that two executions are the same must not rely on it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use addr2line::{Loader, demangle_auto};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::elf::FileHeader64;
use object::read::elf::{Dyn, ElfFile, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectKind, ObjectSection, ObjectSymbol, SymbolKind};

use crate::runtime::{self, FILE};

/// What is known about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Whether any part of it was compiled for control.
    pub is_instrumented: bool,
    /// Whether it asks for the runtime before it asks for the C library. If not, it must be preloaded.
    pub is_runtime_first: bool,
    /// Functions by which threads meet or wait, which it calls and which the runtime does not stand in for.
    pub unseen_calls: Vec<String>,
    /// Its own functions that have atomic instructions: they were not instrumented, or somebody wrote them by hand.
    pub unseen_functions: Vec<String>,
    /// What could not be looked into, so that more may be unseen than is listed here.
    pub unknown: Vec<&'static str>,
    /// The libraries that it needs, and what they need.
    pub libraries: Vec<Library>,
}

/// A shared library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// What it is asked for by.
    pub name: String,
    /// Where it is; none if it was not found.
    pub path: Option<PathBuf>,
    /// What it is to control.
    pub kind: LibraryKind,
}

/// What a library is to control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryKind {
    /// The runtime itself.
    Runtime,
    /// One of the system that the runtime knows about.
    System,
    /// It was compiled for control.
    Instrumented,
    /// It was not: what threads do in it is not seen.
    Unseen,
}

/// Why a program cannot be looked into.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It is no program for this kind of machine.
    #[error("it is no 64-bit ELF file: {0}")]
    Format(#[from] object::Error),
}

impl Audit {
    /// Looks into a program.
    pub fn of(program: &Path) -> Result<Audit, AuditError> {
        let bytes = fs::read(program)?;
        let elf = Elf::parse(&*bytes)?;
        let ours = exported(&Elf::parse(runtime::bytes())?);
        let imported = imported(&elf);
        let libraries = libraries(program, &elf)?;
        let place = |name: &str| libraries.iter().position(|library| library.name.starts_with(name));
        let is_unseen = |name: &&String| synchronizes(name) && !ours.contains(*name);
        Ok(Audit {
            is_instrumented: imported.iter().any(|name| is_instrumentation(name)),
            is_runtime_first: place(FILE).is_some_and(|ours| place("libc.so").is_none_or(|libc| ours < libc)),
            unseen_calls: imported.iter().filter(is_unseen).cloned().collect(),
            unseen_functions: atomic_functions(&elf)?,
            unknown: unknown(&elf, &imported),
            libraries,
        })
    }

    /// What is not seen, in a few words.
    pub fn summary(&self) -> String {
        let unseen = self.libraries.iter().filter(|library| library.kind == LibraryKind::Unseen).count();
        let counts =
            [(self.unseen_calls.len(), "call"), (self.unseen_functions.len(), "function"), (unseen, "library")];
        let some = counts.into_iter().filter(|(count, _)| *count > 0);
        let words = some.map(|(count, what)| match (count, what) {
            (1, what) => format!("1 {what}"),
            (count, "library") => format!("{count} libraries"),
            (count, what) => format!("{count} {what}s"),
        });
        let unseen = if self.is_instrumented { None } else { Some("it is not instrumented".to_owned()) };
        let unknown = self.unknown.iter().map(|what| (*what).to_owned());
        unseen.into_iter().chain(words).chain(unknown).collect::<Vec<_>>().join(", ")
    }

    /// Whether everything that threads do to each other is seen.
    pub fn is_complete(&self) -> bool {
        self.is_instrumented
            && self.unseen_calls.is_empty()
            && self.unseen_functions.is_empty()
            && self.unknown.is_empty()
            && self.libraries.iter().all(|library| library.kind != LibraryKind::Unseen)
    }
}

/// Where these places of a process are in the source: `function at file:line` for each, as well as it is known. Places that
/// are not in the program are left out. `base` is where it was mapped. A place is where code continues after a call, so what
/// stands before it is meant. Of functions that were inlined into each other, the innermost is named that is not of a
/// standard library: nobody looks for a store in the header that defines stores.
pub fn symbolize(program: &Path, base: u64, places: &[u64]) -> Vec<String> {
    let (Ok(loader), Ok(bytes)) = (Loader::new(program), fs::read(program)) else { return Vec::new() };
    let moves = Elf::parse(&*bytes).is_ok_and(|elf| elf.kind() == ObjectKind::Dynamic);
    let name = |&place: &u64| {
        let address = if moves { place.checked_sub(base)? } else { place }.checked_sub(1)?;
        frame(&loader, address).or_else(|| loader.find_symbol(address).map(demangled))
    };
    places.iter().filter_map(name).collect()
}

/// The frame to show for an address, if debug information knows of one.
fn frame(loader: &Loader, address: u64) -> Option<String> {
    let (mut frames, mut innermost) = (loader.find_frames(address).ok()?, None);
    while let Ok(Some(frame)) = frames.next() {
        let Some(function) = frame.function.as_ref().and_then(|name| name.demangle().ok()) else { continue };
        let location = frame.location.as_ref().and_then(|location| Some((location.file?, location.line?)));
        let shown = match location {
            Some((file, line)) => format!("{function} at {file}:{line}"),
            None => function.into_owned(),
        };
        if location.is_some_and(|(file, _)| !is_of_a_standard_library(file)) {
            return Some(shown);
        }
        innermost.get_or_insert(shown);
    }
    innermost
}

fn is_of_a_standard_library(file: &str) -> bool {
    file.starts_with("/usr/include/")
        || file.starts_with("/usr/lib/")
        || file.contains("/rustc/")
        || file.contains("/rustlib/")
}

fn demangled(symbol: &str) -> String {
    demangle_auto(symbol.into(), None).into_owned()
}

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// The functions that it expects from others.
fn imported(elf: &Elf<'_>) -> BTreeSet<String> {
    elf.dynamic_symbols().filter(|symbol| symbol.is_undefined()).filter_map(name).collect()
}

/// The functions that it has for others.
fn exported(elf: &Elf<'_>) -> BTreeSet<String> {
    elf.dynamic_symbols().filter(|symbol| symbol.is_definition()).filter_map(name).collect()
}

fn name<'a>(symbol: impl ObjectSymbol<'a>) -> Option<String> {
    symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Whether compilers call a function to say what the program does.
fn is_instrumentation(function: &str) -> bool {
    function.starts_with("__tsan_") && function != "__tsan_init"
}

/// Whether threads or processes meet or wait in a function of the C library or of the compiler's, or learn there what others
/// have done.
fn synchronizes(function: &str) -> bool {
    const STARTS: [&str; 9] =
        ["pthread_", "mtx_", "cnd_", "thrd_", "sem_", "__atomic_", "__sync_", "epoll_wait", "epoll_pwait"];
    const HARMLESS: [&str; 17] = [
        "pthread_self",
        "pthread_equal",
        "pthread_attr_",
        "pthread_mutexattr_",
        "pthread_condattr_",
        "pthread_rwlockattr_",
        "pthread_getattr_np",
        "pthread_getspecific",
        "pthread_setspecific",
        "pthread_key_",
        "pthread_sigmask",
        "pthread_setname_np",
        "pthread_getname_np",
        "pthread_atfork",
        "pthread_getaffinity_np",
        "pthread_setaffinity_np",
        "thrd_current",
    ];
    const NAMES: [&str; 69] = [
        "accept",
        "accept4",
        "call_once",
        "connect",
        "fcntl",
        "flock",
        "fork",
        "io_getevents",
        "lockf",
        "mq_receive",
        "mq_send",
        "msgrcv",
        "msgsnd",
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "sleep",
        "sched_yield",
        "syscall",
        "pause",
        "poll",
        "ppoll",
        "pselect",
        "select",
        "read",
        "readv",
        "recv",
        "recvfrom",
        "recvmsg",
        "semop",
        "semtimedop",
        "sigsuspend",
        "sigtimedwait",
        "sigwait",
        "sigwaitinfo",
        "swapcontext",
        "vfork",
        "wait",
        "wait4",
        "waitpid",
        // These have one generator or one buffer for all threads.
        "drand48",
        "erand48",
        "initstate",
        "jrand48",
        "lcong48",
        "lrand48",
        "mrand48",
        "nrand48",
        "rand",
        "random",
        "seed48",
        "setstate",
        "srand",
        "srand48",
        "srandom",
        "strtok",
        // These tell a thread what others have done, or what is not the same in every run.
        "clock_getcpuclockid",
        "fgetc",
        "fgets",
        "fread",
        "fscanf",
        "getline",
        "getloadavg",
        "getrusage",
        "pread",
        "sched_getcpu",
        "shm_open",
        "sysinfo",
        "times",
    ];
    let harmless = HARMLESS.iter().any(|start| function.starts_with(start));
    NAMES.contains(&function) || (STARTS.iter().any(|start| function.starts_with(start)) && !harmless)
}

/// What cannot be looked into.
fn unknown(elf: &Elf<'_>, imported: &BTreeSet<String>) -> Vec<&'static str> {
    let has_functions = elf.symbols().any(|symbol| is_code(&symbol));
    let unknown = [
        (!is_readable(elf), "its instructions are not known"),
        (!has_functions, "it has no symbols"),
        (imported.iter().any(|name| name.starts_with("dlopen") || name == "dlmopen"), "it loads libraries by itself"),
    ];
    unknown.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect()
}

/// Whether its instructions can be read.
fn is_readable(elf: &Elf<'_>) -> bool {
    elf.architecture() == object::Architecture::X86_64
}

fn is_code<'a>(symbol: &impl ObjectSymbol<'a>) -> bool {
    symbol.kind() == SymbolKind::Text && symbol.size() > 0
}

/// Its functions that have atomic instructions. In instrumented code there are none: the runtime does those.
fn atomic_functions(elf: &Elf<'_>) -> Result<Vec<String>, AuditError> {
    if !is_readable(elf) {
        return Ok(Vec::new());
    }
    let mut found = BTreeSet::new();
    for symbol in elf.symbols().filter(is_code) {
        let Some(section) = symbol.section_index() else { continue };
        let section = elf.section_by_index(section)?;
        let Some(code) = section.data_range(symbol.address(), symbol.size())? else { continue };
        let mut decoder = Decoder::with_ip(64, code, symbol.address(), DecoderOptions::NONE);
        if decoder.iter().any(|instruction| is_atomic(&instruction)) {
            found.insert(demangled(symbol.name()?));
        }
    }
    Ok(found.into_iter().collect())
}

/// Whether other processors see an instruction that reads and writes as one. An exchange needs no prefix for that. What
/// stands on the stack pointer is nobody else's: an instruction that locks it is a fence, and tells nobody anything.
fn is_atomic(instruction: &Instruction) -> bool {
    if instruction.memory_base() == Register::RSP {
        return false;
    }
    let touches_memory = || (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    instruction.has_lock_prefix() || (instruction.mnemonic() == Mnemonic::Xchg && touches_memory())
}

/// Libraries with which every program comes, whose functions for threads the runtime stands in for.
const SYSTEM: [&str; 9] = [
    "ld-linux",
    "libc.so",
    "libm.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libgcc_s.so",
    "libstdc++.so",
    "libc++",
];

/// The libraries that a program needs, and those that they need, in the order in which they are asked for functions.
fn libraries(program: &Path, elf: &Elf<'_>) -> Result<Vec<Library>, AuditError> {
    let mut all: Vec<Library> = Vec::new();
    let mut to_find = needed(program, elf)?;
    while !to_find.is_empty() {
        let mut next = Vec::new();
        for (name, places) in std::mem::take(&mut to_find) {
            if all.iter().any(|library| library.name == name) {
                continue;
            }
            let path = places.iter().map(|place| place.join(&name)).find(|path| path.is_file());
            let is_system = SYSTEM.iter().any(|start| name.starts_with(start));
            let mut kind = if is_system { LibraryKind::System } else { LibraryKind::Unseen };
            if name == FILE {
                kind = LibraryKind::Runtime;
            } else if let (false, Some(path)) = (is_system, &path) {
                let bytes = fs::read(path)?;
                let elf = Elf::parse(&*bytes)?;
                if imported(&elf).iter().any(|name| is_instrumentation(name)) {
                    kind = LibraryKind::Instrumented;
                }
                next.extend(needed(path, &elf)?);
            }
            all.push(Library { name, path, kind });
        }
        to_find = next;
    }
    Ok(all)
}

/// The names of what a file needs, each with the directories to look in.
fn needed(file: &Path, elf: &Elf<'_>) -> Result<Vec<(String, Vec<PathBuf>)>, AuditError> {
    let (header, endian, data) = (elf.elf_header(), elf.endian(), elf.data());
    let sections = header.sections(endian, data)?;
    let origin = file.parent().unwrap_or(Path::new("."));
    let (mut names, mut places): (Vec<String>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for section in sections.iter() {
        let Some((entries, strings)) = section.dynamic(endian, data)? else { continue };
        let strings = sections.strings(endian, data, strings)?;
        for entry in entries {
            let text = |entry: &object::elf::Dyn64<Endianness>| entry.string(endian, strings).unwrap_or_default();
            match entry.tag(endian) {
                object::elf::DT_NEEDED => names.push(String::from_utf8_lossy(text(entry)).into_owned()),
                object::elf::DT_RPATH | object::elf::DT_RUNPATH => {
                    let paths = std::env::split_paths(OsStr::from_bytes(text(entry)));
                    places.extend(paths.map(|path| match path.strip_prefix("$ORIGIN") {
                        Ok(rest) => origin.join(rest),
                        Err(_) => path,
                    }));
                }
                _ => {}
            }
        }
    }
    let defaults = [
        "/lib/x86_64-linux-gnu",
        "/usr/lib/x86_64-linux-gnu",
        "/lib64",
        "/usr/lib64",
        "/usr/local/lib",
        "/lib",
        "/usr/lib",
    ];
    places.extend(defaults.map(PathBuf::from));
    Ok(names.into_iter().map(|name| (name, places.clone())).collect())
}
