//! Which parts of a program the runtime observes, and which it does not.
//!
//! The audit reads symbols and instructions; it does not run the program. Uninstrumented code runs between two steps
//! without preemption. So every execution found is a possible one and no failure is spurious; but some executions are
//! never tried, and a reduction that treats two executions as equivalent must not rely on it.
//!
//! Packages that were left uninstrumented on purpose are not listed: the checker that a test links, which runs before and
//! after the threads of the test. Debug information tells which functions are theirs.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use addr2line::gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use addr2line::{Loader, demangle_auto, gimli};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use object::elf::FileHeader64;
use object::read::elf::{Dyn, ElfFile, FileHeader, SectionHeader};
use object::{Endianness, Object, ObjectKind, ObjectSection, ObjectSymbol, SymbolKind};

use crate::instrument::{cargo, hooks};
use crate::runtime::{self, FILE};

/// The audit of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// Whether any part is instrumented.
    pub is_instrumented: bool,
    /// Whether the runtime comes before the C library in link order. If not, it must be preloaded.
    pub is_runtime_first: bool,
    /// Synchronizing or blocking functions that the program calls and the runtime does not intercept.
    pub unseen_calls: Vec<String>,
    /// Functions with atomic instructions: uninstrumented or written in assembly.
    pub unseen_functions: Vec<String>,
    /// Whether the runtime is told of calls into Rust's precompiled standard library.
    pub has_hooks: bool,
    /// Parts that could not be inspected, so that more may be unseen than is listed here.
    pub unknown: Vec<&'static str>,
    /// The libraries it needs, transitively.
    pub libraries: Vec<Library>,
}

/// A shared library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// The name it is requested by.
    pub name: String,
    /// Its path; `None` if it was not found.
    pub path: Option<PathBuf>,
    /// How it relates to control.
    pub kind: LibraryKind,
}

/// How a library relates to control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryKind {
    /// The runtime itself.
    Runtime,
    /// A system library that the runtime knows.
    System,
    /// An instrumented library.
    Instrumented,
    /// An uninstrumented library: steps in it are not observed.
    Unseen,
}

/// Why a program cannot be audited.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Read(#[from] io::Error),
    /// Not an ELF file for this platform.
    #[error("not a 64-bit ELF file: {0}")]
    Format(#[from] object::Error),
}

impl Audit {
    /// Audits a program.
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
            unseen_functions: atomic_functions(&elf, &left_out(program, &elf))?,
            has_hooks: imported.contains(hooks::ENTER),
            unknown: unknown(&elf, &imported),
            libraries,
        })
    }

    /// A short summary of the unobserved parts.
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
        let unseen = if self.is_instrumented { None } else { Some("not instrumented".to_owned()) };
        let unknown = self.unknown.iter().map(|what| (*what).to_owned());
        unseen.into_iter().chain(words).chain(unknown).collect::<Vec<_>>().join(", ")
    }

    /// Whether it is known what orders accesses, so that data races can be looked for. Calls into Rust's precompiled
    /// standard library order more than they have to.
    pub fn knows_order(&self) -> bool {
        self.is_complete_except(|function| self.has_hooks && is_of_rust(function))
    }

    /// Whether every interaction between threads is observed.
    pub fn is_complete(&self) -> bool {
        self.is_complete_except(|_| false)
    }

    /// The same, except in these functions.
    fn is_complete_except(&self, is_excepted: impl Fn(&str) -> bool) -> bool {
        self.is_instrumented
            && self.unseen_calls.is_empty()
            && self.unseen_functions.iter().all(|function| is_excepted(function))
            && self.unknown.is_empty()
            && self.libraries.iter().all(|library| library.kind != LibraryKind::Unseen)
    }
}

/// A variable that Rust's test harness reads, in every program that contains the harness.
const TEST_HARNESS: &[u8] = b"RUST_TEST_NOCAPTURE";

/// Whether a program contains Rust's test harness.
pub fn has_test_harness(program: &Path) -> Result<bool, AuditError> {
    let bytes = fs::read(program)?;
    let elf = Elf::parse(&*bytes)?;
    let Some(constants) = elf.section_by_name(".rodata") else { return Ok(false) };
    Ok(constants.data()?.windows(TEST_HARNESS.len()).any(|window| window == TEST_HARNESS))
}

/// The source positions of these code addresses: `function at file:line`, as far as known. Addresses outside the
/// program are skipped. `base` is the program's load address. An address is a return address, so the instruction before
/// it counts. Of inlined frames, the innermost one outside the standard libraries is named: a store is more useful as a
/// line of the program than as a line of `<atomic>`.
pub fn symbolize(program: &Path, base: u64, places: &[u64]) -> Vec<String> {
    symbols(program, base, places).into_iter().flatten().collect()
}

/// The same, with a place for each address.
pub fn symbols(program: &Path, base: u64, places: &[u64]) -> Vec<Option<String>> {
    let (Ok(loader), Ok(bytes)) = (Loader::new(program), fs::read(program)) else { return vec![None; places.len()] };
    let moves = Elf::parse(&*bytes).is_ok_and(|elf| elf.kind() == ObjectKind::Dynamic);
    let name = |&place: &u64| {
        let address = if moves { place.checked_sub(base)? } else { place }.checked_sub(1)?;
        frame(&loader, address).or_else(|| loader.find_symbol(address).map(demangled))
    };
    places.iter().map(name).collect()
}

/// The frame to show for an address, if debug information has one.
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

/// Whether a function is one of Rust's standard library, or of what that is made of.
fn is_of_rust(function: &str) -> bool {
    const CRATES: [&str; 11] = [
        "__rustc",
        "addr2line",
        "alloc",
        "core",
        "gimli",
        "hashbrown",
        "miniz_oxide",
        "object",
        "rustc_demangle",
        "std",
        "test",
    ];
    let path = function.trim_start_matches(['<', '&', '(', '*', '[']);
    let path = ["mut ", "dyn ", "const "].iter().fold(path, |path, word| path.strip_prefix(word).unwrap_or(path));
    path.split("::").next().is_some_and(|first| CRATES.contains(&first))
}

type Elf<'a> = ElfFile<'a, FileHeader64<Endianness>>;

/// The functions it imports.
fn imported(elf: &Elf<'_>) -> BTreeSet<String> {
    elf.dynamic_symbols().filter(|symbol| symbol.is_undefined()).filter_map(name).collect()
}

/// The functions it exports.
fn exported(elf: &Elf<'_>) -> BTreeSet<String> {
    elf.dynamic_symbols().filter(|symbol| symbol.is_definition()).filter_map(name).collect()
}

fn name<'a>(symbol: impl ObjectSymbol<'a>) -> Option<String> {
    symbol.name().ok().filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Whether a function is a ThreadSanitizer callback.
fn is_instrumentation(function: &str) -> bool {
    function.starts_with("__tsan_") && function != "__tsan_init"
}

/// Whether a function of the C library or of the compiler's runtime synchronizes or blocks threads or processes, or
/// shows what other threads have done.
fn synchronizes(function: &str) -> bool {
    const STARTS: [&str; 9] =
        ["pthread_", "mtx_", "cnd_", "thrd_", "sem_", "__atomic_", "__sync_", "epoll_wait", "epoll_pwait"];
    const HARMLESS: [&str; 19] = [
        // The count of a semaphore is where the C library keeps it, and no thread may use it before or after.
        "sem_init",
        "sem_destroy",
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
        // These share one generator or one buffer among all threads.
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
        // These show what other threads have done, or vary between runs.
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

/// The parts that cannot be inspected.
fn unknown(elf: &Elf<'_>, imported: &BTreeSet<String>) -> Vec<&'static str> {
    let has_functions = elf.symbols().any(|symbol| is_code(&symbol));
    let unknown = [
        (!is_readable(elf), "instructions not readable"),
        (!has_functions, "no symbols"),
        (imported.iter().any(|name| name.starts_with("dlopen") || name == "dlmopen"), "calls `dlopen`"),
    ];
    unknown.into_iter().filter(|(is_so, _)| *is_so).map(|(_, what)| what).collect()
}

/// Whether its instructions can be decoded.
fn is_readable(elf: &Elf<'_>) -> bool {
    elf.architecture() == object::Architecture::X86_64
}

fn is_code<'a>(symbol: &impl ObjectSymbol<'a>) -> bool {
    symbol.kind() == SymbolKind::Text && symbol.size() > 0
}

/// The code of the packages that were left uninstrumented on purpose, as far as debug information tells.
fn left_out(program: &Path, elf: &Elf<'_>) -> Addresses {
    let list = program.ancestors().find(|directory| directory.ends_with(cargo::DIRECTORY));
    let list = list.and_then(|directory| fs::read_to_string(directory.join(cargo::LEFT_OUT)).ok()).unwrap_or_default();
    let packages: Vec<&Path> = list.lines().map(Path::new).collect();
    if packages.is_empty() {
        return Addresses::default();
    }
    let section = |id: SectionId| -> gimli::Result<EndianSlice<'_, RunTimeEndian>> {
        let data = elf.section_by_name(id.name()).and_then(|section| section.data().ok());
        Ok(EndianSlice::new(data.unwrap_or_default(), RunTimeEndian::Little))
    };
    let (mut ranges, Ok(dwarf)) = (Vec::new(), Dwarf::load(section)) else { return Addresses::default() };
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let (Some(name), Some(directory)) = (unit.name, unit.comp_dir) else { continue };
        let source = Path::new(OsStr::from_bytes(directory.slice())).join(OsStr::from_bytes(name.slice()));
        if !packages.iter().any(|package| source.starts_with(package)) {
            continue;
        }
        let Ok(mut iterator) = dwarf.unit_ranges(&unit) else { continue };
        while let Ok(Some(range)) = iterator.next() {
            ranges.push((range.begin, range.end));
        }
    }
    Addresses::of(ranges)
}

/// A set of addresses: a large program has a range for nearly every function.
#[derive(Default)]
struct Addresses {
    /// By their beginnings, each with the end of the longest one that begins there or before.
    ranges: Vec<(u64, u64)>,
}

impl Addresses {
    fn of(mut ranges: Vec<(u64, u64)>) -> Addresses {
        ranges.sort_unstable();
        let mut furthest = 0;
        for (_, end) in &mut ranges {
            furthest = furthest.max(*end);
            *end = furthest;
        }
        Addresses { ranges }
    }

    fn contain(&self, address: u64) -> bool {
        let begun = self.ranges.partition_point(|(begin, _)| *begin <= address);
        begun > 0 && address < self.ranges[begun - 1].1
    }
}

/// Its functions with atomic instructions, except those that are left out. Instrumented code has none: the runtime performs
/// them.
fn atomic_functions(elf: &Elf<'_>, left_out: &Addresses) -> Result<Vec<String>, AuditError> {
    if !is_readable(elf) {
        return Ok(Vec::new());
    }
    let mut found = BTreeSet::new();
    for symbol in elf.symbols().filter(is_code) {
        if left_out.contain(symbol.address()) {
            continue;
        }
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

/// Whether an instruction is an atomic read-modify-write. An exchange needs no lock prefix. A locked instruction on the
/// stack pointer is a fence: the stack is private, so it passes no value to another thread.
fn is_atomic(instruction: &Instruction) -> bool {
    if instruction.memory_base() == Register::RSP {
        return false;
    }
    let touches_memory = || (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    instruction.has_lock_prefix() || (instruction.mnemonic() == Mnemonic::Xchg && touches_memory())
}

/// System libraries whose thread functions the runtime intercepts.
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

/// The libraries a program needs, transitively, in symbol lookup order.
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

/// The names of the libraries a file needs, each with its search directories.
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
