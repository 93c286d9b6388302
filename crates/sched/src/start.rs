//! How control is taken, and how one process serves many executions.
//!
//! This library is initialized before the program is. If the variable names a directory, addresses are made the same for
//! every run first: the process executes itself again without address randomization, and with an environment that is
//! filled up to a round size, because it lies on the stack above everything else. Then the driver's file is mapped, and it
//! is checked that the program would call this library and not the C library.
//!
//! `main` is called by ours. In a process that serves, it forks for every order that comes through the pipe, and the child
//! runs `main`; the parent waits for it and answers. A harness that can run many times in one process asks for more
//! ([`next`]): then the child answers, and reads the next order itself. A child dies with one order that was not answered,
//! whatever happens to it, and the parent answers that.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use schedule::channel::{ANSWERS, End, LONGEST_ORDER, Mode, ORDERS, Outcome, Settings, VARIABLE};

use crate::channel::CHANNEL;
use crate::real::Main;
use crate::stack::fail;
use crate::{baton, interpose, real, stack, tsan};

/// The pipes, or -1.
static ORDERS_IN: AtomicI32 = AtomicI32::new(-1);
static ANSWERS_OUT: AtomicI32 = AtomicI32::new(-1);
/// Whether the program is to be controlled, once `main` is reached.
static IS_ASKED: AtomicBool = AtomicBool::new(false);
/// Whether an execution of a batch has begun.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// What the environment is filled up to: so many bytes, or a multiple of it, and so many variables. More than anybody has,
/// because two environments on both sides of a multiple are told apart. No variable may be longer than twice as much.
const ROUND_SIZE: usize = 65536;
const ROUND_COUNT: usize = 256;
/// The variable that it is filled with.
const FILLING: &str = "OMNILINK_FILLING=";

/// Called by the dynamic linker, before anything of the program.
#[cfg_attr(not(test), unsafe(link_section = ".init_array"))]
#[used]
static INITIALIZE: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = initialize;

extern "C" fn initialize(_: c_int, arguments: *const *const c_char, variables: *const *const c_char) {
    if cfg!(test) {
        return;
    }
    // Also where nothing is controlled, this library has a heap of its own.
    crate::heap::survive_forks();
    // SAFETY: the linker hands over lists of strings that end with a null.
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
            fail(&["the pipe `", name, "` cannot be opened"]);
        }
        file
    };
    if CHANNEL.settings().mode == Mode::Serve as u32 {
        ANSWERS_OUT.store(open(ANSWERS, libc::O_WRONLY), Ordering::Relaxed);
    }
    ORDERS_IN.store(open(ORDERS, libc::O_RDONLY), Ordering::Relaxed);
    // What the program starts is not controlled.
    for name in [c"LD_PRELOAD", c"OMNILINK_SCHED"] {
        // SAFETY: there is one thread, and the names end with a zero.
        unsafe { libc::unsetenv(name.as_ptr()) };
    }
    // SAFETY: our function is called with each object that is loaded, the program first.
    unsafe { libc::dl_iterate_phdr(Some(note_base), std::ptr::null_mut()) };
    interpose::thread::prepare();
    stack::prepare();
    IS_ASKED.store(true, Ordering::Relaxed);
    // What is initialized before `main` runs under control too, so that locks are known.
    baton::begin();
    // SAFETY: a function that is called in children.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

/// Where the program is mapped.
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
/// It must be a list of strings that ends with a null, and is not changed.
unsafe fn list<'a>(start: *const *const c_char) -> Vec<&'a CStr> {
    // SAFETY: as the caller promised; nothing is read beyond the null.
    let at = |index: usize| unsafe { start.add(index).read() };
    // SAFETY: those that are not null are strings.
    (0..).map(at).take_while(|string| !string.is_null()).map(|string| unsafe { CStr::from_ptr(string) }).collect()
}

/// Sees to it that addresses are the same in every run, by executing the program again.
fn fix_addresses(arguments: &[&CStr], variables: &[&CStr]) {
    // SAFETY: asks, or sets, how the kernel treats this process.
    let personality = |value: u64| unsafe { libc::personality(value) };
    let now = personality(0xffff_ffff);
    let is_filled = variables.iter().any(|variable| variable.to_bytes().starts_with(FILLING.as_bytes()));
    if is_filled {
        return;
    }
    // Where this is not allowed, the program runs all the same, and addresses differ.
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
    // SAFETY: lists of strings that end with a null. If it fails, the process goes on as it is.
    unsafe { libc::execve(program.as_ptr(), words.as_ptr(), strings.as_ptr()) };
}

/// Ends the process, with a message, if what the program calls is not in this library.
fn check_interposition() {
    let ours = object(initialize as *const () as *mut c_void);
    for name in [c"pthread_create", c"syscall", c"__tsan_init"] {
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        if object(found) != ours {
            let name = name.to_string_lossy();
            fail(&[
                "the program would call another `",
                &name,
                "` than the one of the runtime; the runtime must come before all other libraries (LD_PRELOAD)",
            ]);
        }
    }
}

/// Where the object is mapped that an address belongs to. The addresses of our own functions would tell nothing: those
/// that are exported are looked for by name here too, and found where the program finds them.
fn object(address: *mut c_void) -> *mut c_void {
    // SAFETY: what is asked for is written where there is room for it; pointers may be null.
    unsafe {
        let mut about: libc::Dl_info = std::mem::zeroed();
        libc::dladdr(address, &raw mut about);
        about.dli_fbase
    }
}

/// In a child of the program: it has one thread, and goes on without control.
extern "C" fn forked() {
    if !IS_SERVING.load(Ordering::Relaxed) {
        baton::give_up();
    }
}

/// Whether this library itself forks.
static IS_SERVING: AtomicBool = AtomicBool::new(false);

/// Whether this process runs the program's `main`, and not what comes before.
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
            fail(&[
                "no part of the program was compiled for it; build it with `omnilink build` or ",
                "`cargo omnilink`",
            ]);
        }
        interpose::signal::catch_crashes();
        interpose::signal::answer_where();
        if CHANNEL.settings().mode == Mode::Serve as u32 {
            if !baton::is_alone() {
                fail(&["threads were created before `main`, so that no process can be forked there"]);
            }
            serve();
        } else {
            read_order();
            if baton::is_alone() {
                obey();
            } else {
                set_environment();
                CHANNEL.add_flags(Outcome::EARLY_THREADS);
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
    // Whoever ignores the end of its children cannot wait for it, so what the program has set is set in children only.
    let programs = interpose::signal::let_children_be_waited_for();
    loop {
        read_order();
        IS_SERVING.store(true, Ordering::Relaxed);
        // SAFETY: there is one thread.
        let child = baton::inside(|| unsafe { libc::fork() });
        IS_SERVING.store(false, Ordering::Relaxed);
        match child {
            0 => {
                interpose::signal::restore(libc::SIGCHLD, &programs);
                return obey();
            }
            -1 => fail(&["it cannot fork: ", &std::io::Error::last_os_error().to_string()]),
            _ => {
                let mut status = 0;
                // SAFETY: it is our child.
                while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
                    let error = std::io::Error::last_os_error();
                    if error.raw_os_error() != Some(libc::EINTR) {
                        fail(&["the end of an execution cannot be waited for: ", &error.to_string()]);
                    }
                }
                CHANNEL.set_status(status as u32);
                CHANNEL.remove_flags(Outcome::BATCH);
                answer();
            }
        }
    }
}

/// The last order. It is not on the heap, because a process that serves must look the same before every execution.
struct Latest(UnsafeCell<[u8; LONGEST_ORDER]>, AtomicUsize);

// SAFETY: it is touched by the only thread there is.
unsafe impl Sync for Latest {}

static LATEST: Latest = Latest(UnsafeCell::new([0; LONGEST_ORDER]), AtomicUsize::new(0));

/// Reads an order. Ends the process if there are no more.
fn read_order() {
    let file = ORDERS_IN.load(Ordering::Relaxed);
    let mut length = [0; 4];
    read_exact(file, &mut length);
    let length = u32::from_le_bytes(length) as usize;
    // SAFETY: there is one thread, and nobody else has it.
    let text = unsafe { &mut *LATEST.0.get() };
    if length > text.len() {
        fail(&["the environment of an execution is too long"]);
    }
    read_exact(file, &mut text[..length]);
    LATEST.1.store(length, Ordering::Relaxed);
}

/// Begins the execution that was asked for.
fn obey() {
    set_environment();
    baton::begin();
}

/// Sets what the order says in the environment.
fn set_environment() {
    // SAFETY: as above.
    let text = unsafe { &(&*LATEST.0.get())[..LATEST.1.load(Ordering::Relaxed)] };
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let mut parts = line.splitn(2, |&byte| byte == b'=');
        let mut part = || CString::new(parts.next().unwrap_or_default()).unwrap_or_default();
        let (name, value) = (part(), part());
        // SAFETY: strings that end with a zero; there is one thread. It asks the program's allocator for memory.
        baton::inside(|| unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) });
    }
}

fn read_exact(file: c_int, mut into: &mut [u8]) {
    while !into.is_empty() {
        // SAFETY: there is room for so many bytes. The system call itself: `read` is interposed.
        let read = baton::inside(|| unsafe {
            real::syscall(libc::SYS_read, file.into(), into.as_mut_ptr() as i64, into.len() as i64, 0, 0, 0)
        });
        match read {
            // SAFETY: the driver is gone: nobody wants an answer.
            0 => unsafe { libc::_exit(0) },
            1.. => into = &mut into[read as usize..],
            _ => {}
        }
    }
}

fn answer() {
    stack::write(ANSWERS_OUT.load(Ordering::Relaxed), b"!");
}

/// Whether a batch goes on. If an execution is complete, this answers for it and waits for the next order.
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
    CHANNEL.add_flags(Outcome::BATCH);
    answer();
    read_order();
    obey();
    true
}

/// Remembers where a thread crashed.
pub(crate) fn crashed(signal: c_int) {
    if baton::is_controlled() {
        CHANNEL.set_signal(signal as u32);
        baton::write_down_pending();
        stack::write_down(baton::me());
    }
}

/// Called by the dynamic linker when the process ends by itself.
#[cfg_attr(not(test), unsafe(link_section = ".fini_array"))]
#[used]
static FINALIZE: extern "C" fn() = finalize;

extern "C" fn finalize() {
    // If `main` has called `pthread_exit`, the process is ended by whoever was last, when it is no thread of ours any more.
    if baton::is_controlled() || baton::is_under_control() && baton::is_alone() {
        baton::finish();
    }
}
