//! How control is taken, and how one process serves many executions.
//!
//! This library is initialized before the program. If the variable names a directory, addresses are made reproducible
//! first: the process executes itself again without address randomization, and with an environment padded to a round
//! size, because it is on the stack above everything else. Then the driver's file is mapped, and the library checks
//! that the program would call it and not the C library.
//!
//! The runtime calls `main`. A fork server forks for every order that comes through the pipe, and the child runs
//! `main`; the parent waits for it and answers. A harness that can run many times in one process asks for more
//! ([`next`]): then the child answers, and reads the next order itself. However a child ends, exactly one order is
//! unanswered, and the parent answers that.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use omnilink_schedule::channel::{ANSWERS, End, ExecutionOutcome, LONGEST_ORDER, Mode, ORDERS, Settings, VARIABLE};

use crate::channel::CHANNEL;
use crate::real::Main;
use crate::stack::fail;
use crate::{baton, interpose, real, stack, tsan};

/// The pipes, or -1.
static ORDERS_IN: AtomicI32 = AtomicI32::new(-1);
static ANSWERS_OUT: AtomicI32 = AtomicI32::new(-1);
/// Whether to take control once `main` is reached.
static IS_ASKED: AtomicBool = AtomicBool::new(false);
/// Whether an execution of a batch has started.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// The environment is padded to a multiple of this many bytes, and to this many variables. More than any environment
/// has, because two environments on both sides of a multiple give different addresses. A variable is at most twice as
/// long.
const ROUND_SIZE: usize = 65536;
const ROUND_COUNT: usize = 256;
/// The variable used as padding.
const FILLING: &str = "OMNILINK_FILLING=";

/// Called by the dynamic linker, before the program's code.
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
#[used]
static INITIALIZE: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = initialize;

extern "C" fn initialize(_: c_int, arguments: *const *const c_char, variables: *const *const c_char) {
    if cfg!(test) {
        return;
    }
    // Also needed without control: this library has its own heap.
    crate::heap::survive_forks();
    // SAFETY: the linker passes lists of strings that end with a null.
    let (arguments, variables) = unsafe { (list(arguments), list(variables)) };
    let name = [VARIABLE, "="].concat();
    let Some(directory) = variables.iter().find_map(|variable| variable.to_str().ok()?.strip_prefix(&name)) else {
        return;
    };
    fix_addresses(&arguments, &variables);
    if let Err(why) = CHANNEL.open(directory) {
        fail(&[&why]);
    }
    check_interposition();
    let open = |name: &str, how: c_int| {
        let path = CString::new([directory, "/", name].concat()).unwrap_or_default();
        // SAFETY: the path ends with a zero.
        let file = unsafe { libc::open(path.as_ptr(), how | libc::O_CLOEXEC) };
        if file < 0 {
            fail(&["cannot open the pipe `", name, "`"]);
        }
        file
    };
    if CHANNEL.settings().mode == Mode::Serve as u32 {
        ANSWERS_OUT.store(open(ANSWERS, libc::O_WRONLY), Ordering::Relaxed);
    }
    ORDERS_IN.store(open(ORDERS, libc::O_RDONLY), Ordering::Relaxed);
    // Child programs are not controlled.
    for name in [c"LD_PRELOAD", c"OMNILINK_SCHED"] {
        // SAFETY: there is one thread, and the names end with a zero.
        unsafe { libc::unsetenv(name.as_ptr()) };
    }
    // SAFETY: our function is called with each loaded object, the program first.
    unsafe { libc::dl_iterate_phdr(Some(note_base), std::ptr::null_mut()) };
    interpose::thread::create_key();
    stack::load_unwinder();
    IS_ASKED.store(true, Ordering::Relaxed);
    // Initializers before `main` run under control too, so that locks are known.
    baton::begin();
    // SAFETY: a function that is called in children.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

/// The program's load address.
static BASE: AtomicUsize = AtomicUsize::new(0);

/// See [`BASE`].
pub(crate) fn base() -> u64 {
    BASE.load(Ordering::Relaxed) as u64
}

unsafe extern "C" fn note_base(object: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the linker describes an object.
    BASE.store(unsafe { (*object).dlpi_addr } as usize, Ordering::Relaxed);
    1
}

/// # Safety
///
/// It must be a list of strings that ends with a null, and must not change.
unsafe fn list<'a>(start: *const *const c_char) -> Vec<&'a CStr> {
    // SAFETY: as the caller promised; nothing is read beyond the null.
    let at = |index: usize| unsafe { start.add(index).read() };
    // SAFETY: entries other than null are strings.
    (0..).map(at).take_while(|string| !string.is_null()).map(|string| unsafe { CStr::from_ptr(string) }).collect()
}

/// Makes addresses the same in every run, by executing the program again.
fn fix_addresses(arguments: &[&CStr], variables: &[&CStr]) {
    // SAFETY: gets or sets how the kernel treats this process.
    let personality = |value: u64| unsafe { libc::personality(value) };
    let now = personality(0xffff_ffff);
    let is_filled = variables.iter().any(|variable| variable.to_bytes().starts_with(FILLING.as_bytes()));
    if is_filled {
        return;
    }
    // If this is not allowed, the program runs anyway, and addresses differ.
    personality(now as u64 | libc::ADDR_NO_RANDOMIZE as u64);
    let Ok(program) = std::fs::read_link("/proc/self/exe") else { return };
    let Ok(program) = CString::new(program.as_os_str().as_encoded_bytes()) else { return };
    let size = |strings: &[&CStr]| strings.iter().map(|string| string.to_bytes_with_nul().len()).sum::<usize>();
    let count = (variables.len() + arguments.len() + 1).next_multiple_of(ROUND_COUNT) - arguments.len();
    let fillings = count - variables.len();
    let fixed = size(arguments) + size(variables) + program.as_bytes_with_nul().len() + fillings * (FILLING.len() + 1);
    let filler = CString::new(FILLING).unwrap_or_default();
    let long = FILLING.to_owned() + &"x".repeat(fixed.next_multiple_of(ROUND_SIZE) - fixed);
    let long = CString::new(long).unwrap_or_default();
    let mut strings: Vec<*const c_char> = variables.iter().map(|variable| variable.as_ptr()).collect();
    strings.extend((1..fillings).map(|_| filler.as_ptr()));
    strings.extend([long.as_ptr(), std::ptr::null()]);
    let mut words: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    words.push(std::ptr::null());
    // SAFETY: lists of strings that end with a null. If it fails, the process continues unchanged.
    unsafe { libc::execve(program.as_ptr(), words.as_ptr(), strings.as_ptr()) };
}

/// Ends the process with a message if the program's calls would not reach this library.
fn check_interposition() {
    let ours = object(initialize as *const () as *mut c_void);
    for name in [c"pthread_create", c"syscall", c"__tsan_init"] {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if object(found) != ours {
            let name = name.to_string_lossy();
            fail(&[
                "the program would not call the runtime's `",
                &name,
                "`; the runtime must come before all other libraries (LD_PRELOAD)",
            ]);
        }
    }
}

/// The load address of the object that contains an address. The addresses of our own functions are useless here:
/// exported functions are looked up by name here too, and found where the program finds them.
fn object(address: *mut c_void) -> *mut c_void {
    // SAFETY: the result is written to memory that has space for it; pointers may be null.
    unsafe {
        let mut about: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(address, &raw mut about);
        about.dli_fbase
    }
}

/// Called in a child of the program: it has one thread, and continues without control.
extern "C" fn forked() {
    if !IS_SERVING.load(Ordering::Relaxed) {
        baton::release_control();
    }
}

/// Whether this library itself forks.
static IS_SERVING: AtomicBool = AtomicBool::new(false);

/// Whether this process has reached the program's `main`.
static IS_IN_MAIN: AtomicBool = AtomicBool::new(false);

/// See [`IS_IN_MAIN`].
pub(crate) fn is_in_main() -> bool {
    IS_IN_MAIN.load(Ordering::Relaxed)
}

/// The program's own `main`.
static MAIN: AtomicUsize = AtomicUsize::new(0);

#[cfg_attr(not(test), unsafe(no_mangle))]
unsafe extern "C-unwind" fn __libc_start_main(
    main: Main,
    count: c_int,
    arguments: *mut *mut c_char,
    init: *mut c_void,
    fini: *mut c_void,
    rtld_fini: *mut c_void,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.store(main as usize, Ordering::Relaxed);
    // SAFETY: as the caller promised; `controlled_main` is a `main`.
    unsafe { real::__libc_start_main(controlled_main, count, arguments, init, fini, rtld_fini, stack_end) }
}

extern "C-unwind" fn controlled_main(count: c_int, arguments: *mut *mut c_char, variables: *mut *mut c_char) -> c_int {
    // SAFETY: it was stored from such a function.
    let main: Main = unsafe { std::mem::transmute(MAIN.load(Ordering::Relaxed)) };
    if IS_ASKED.load(Ordering::Relaxed) {
        if !tsan::is_instrumented() {
            fail(&["no part of the program is instrumented; build it with `omnilink build` or ", "`cargo omnilink`"]);
        }
        interpose::signal::install_crash_handlers();
        interpose::signal::install_stack_handler();
        if CHANNEL.settings().mode == Mode::Serve as u32 {
            if !baton::is_alone() {
                fail(&["unsupported: threads were created before `main`, where the runtime forks"]);
            }
            serve();
        } else {
            read_order();
            if baton::is_alone() {
                begin_execution();
            } else {
                set_environment();
                CHANNEL.add_flags(ExecutionOutcome::EARLY_THREADS);
            }
        }
    }
    IS_IN_MAIN.store(true, Ordering::Relaxed);
    let code = main(count, arguments, variables);
    interpose::exit::announce();
    code
}

/// Forks for every order. Returns in the child.
fn serve() {
    // A process that ignores `SIGCHLD` cannot wait for its children, so the program's action is restored in children
    // only.
    let programs = interpose::signal::reset_child_signal();
    loop {
        read_order();
        IS_SERVING.store(true, Ordering::Relaxed);
        // SAFETY: there is one thread.
        let child = baton::without_control(|| unsafe { real::fork() });
        IS_SERVING.store(false, Ordering::Relaxed);
        match child {
            0 => {
                interpose::signal::restore(libc::SIGCHLD, &programs);
                return begin_execution();
            }
            -1 => fail(&["cannot fork: ", &std::io::Error::last_os_error().to_string()]),
            _ => {
                let mut status = 0;
                // SAFETY: it is our child.
                while unsafe { real::waitpid(child, &raw mut status, 0) } < 0 {
                    let error = std::io::Error::last_os_error();
                    if error.raw_os_error() != Some(libc::EINTR) {
                        fail(&["cannot wait for an execution: ", &error.to_string()]);
                    }
                }
                CHANNEL.set_status(status as u32);
                CHANNEL.remove_flags(ExecutionOutcome::BATCH);
                answer();
            }
        }
    }
}

/// The last order. It is not on the heap, because a fork server must look the same before every execution.
struct Latest(UnsafeCell<[u8; LONGEST_ORDER]>, AtomicUsize);

// SAFETY: it is accessed by the only thread.
unsafe impl Sync for Latest {}

static LATEST: Latest = Latest(UnsafeCell::new([0; LONGEST_ORDER]), AtomicUsize::new(0));

/// Reads an order. Ends the process if there are no more.
fn read_order() {
    let file = ORDERS_IN.load(Ordering::Relaxed);
    let mut length = [0; 4];
    read_exact(file, &mut length);
    let length = u32::from_le_bytes(length) as usize;
    // SAFETY: there is one thread, and no other borrow.
    let text = unsafe { &mut *LATEST.0.get() };
    if length > text.len() {
        fail(&["the environment of an execution is too long"]);
    }
    read_exact(file, &mut text[..length]);
    LATEST.1.store(length, Ordering::Relaxed);
}

/// Starts the requested execution.
fn begin_execution() {
    set_environment();
    baton::begin();
}

/// Sets the order's environment variables.
fn set_environment() {
    // SAFETY: as above.
    let text = unsafe { &(&*LATEST.0.get())[..LATEST.1.load(Ordering::Relaxed)] };
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let mut parts = line.splitn(2, |&byte| byte == b'=');
        let mut part = || CString::new(parts.next().unwrap_or_default()).unwrap_or_default();
        let (name, value) = (part(), part());
        // SAFETY: strings that end with a zero; there is one thread. It allocates with the program's allocator.
        baton::without_control(|| unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) });
    }
}

fn read_exact(file: c_int, mut into: &mut [u8]) {
    while !into.is_empty() {
        // SAFETY: there is space for that many bytes. The raw system call: `read` is interposed.
        let read = baton::without_control(|| unsafe {
            real::syscall(libc::SYS_read, file.into(), into.as_mut_ptr() as i64, into.len() as i64, 0, 0, 0)
        });
        match read {
            // SAFETY: the driver is gone, so no answer is needed.
            0 => unsafe { libc::_exit(0) },
            1.. => into = &mut into[read as usize..],
            _ => {}
        }
    }
}

fn answer() {
    stack::write(ANSWERS_OUT.load(Ordering::Relaxed), b"!");
}

/// Whether a batch continues. After an execution, answers for it and waits for the next order.
pub(crate) fn next() -> bool {
    let is_first = !HAS_BEGUN.swap(true, Ordering::Relaxed);
    if is_first || !baton::is_controlled() {
        return is_first;
    }
    let is_serving = ANSWERS_OUT.load(Ordering::Relaxed) >= 0;
    let is_wanted = CHANNEL.settings().flags & Settings::BATCH != 0;
    if !is_serving || !is_wanted || baton::me() != 0 || !baton::is_alone() {
        return false;
    }
    baton::finish();
    CHANNEL.end(End::Complete);
    CHANNEL.add_flags(ExecutionOutcome::BATCH);
    answer();
    read_order();
    begin_execution();
    true
}

/// Records where a thread crashed.
pub(crate) fn crashed(signal: c_int) {
    if baton::is_controlled() {
        CHANNEL.set_signal(signal as u32);
        baton::record_pending();
        stack::record_stack(baton::me());
    }
}

/// Called by the dynamic linker when the process exits.
#[cfg_attr(not(test), unsafe(link_section = ".fini_array"))]
#[used]
static FINALIZE: extern "C" fn() = finalize;

extern "C" fn finalize() {
    // If `main` called `pthread_exit`, the last thread ends the process, after it has left control.
    if baton::is_controlled() || baton::is_under_control() && baton::is_alone() {
        baton::finish();
    }
}
