//! Runs a system on several threads, with inputs from a seed, and records their operations.
//!
//! All threads wait for one another once and then run freely: a barrier around each operation would leave little room
//! for races. Each operation draws its inputs from its own generator, so the inputs depend only on the seed and the
//! numbers of the thread and the operation, and stay the same if other operations are left out. Perturbations draw from another generator, so that the same seed gives the same inputs,
//! perturbed or not.
//!
//! Generators are SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators). Operation `i` of
//! thread `t` begins with the state `mix(mix(seed) ^ mix(t + 1)) ^ mix(i + 1)`, where `mix(x)` is the first number drawn
//! from the state `x`; the generator of perturbations of a thread begins with the complement of `mix(seed) ^ mix(t + 1)`.
//!
//! In a program under control the runtime decides which thread runs, so nothing perturbs the threads: they only
//! synchronize at a gate that the runtime knows of. Such a program can be run many times in one process; [`repeat`]
//! is for that.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::mem;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Scope};
use std::time::Duration;

use crate::clock::Clock;
use crate::control::Hooks;
use crate::encode::Values;
use crate::operation::{Begun, Call};
use crate::recorder::{json_string, Action, Pending, Process, Recorder};
use crate::script;
pub use crate::script::{Argument, BadLine, Line, Scripted, Value};

/// The parameters of a run, and the directory of its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The directory of the trace.
    pub trace: PathBuf,
    /// The seed of all inputs.
    pub seed: u64,
    /// The number of threads.
    pub threads: usize,
    /// The number of operations of each thread.
    pub operations: usize,
    /// The perturbation of the threads.
    pub perturbation: Perturbation,
    /// The operations to make, if not all: other threads are not started, and other operations are left out.
    pub only: Option<Only>,
    /// A file with the calls to make, in place of those that the seed, the threads and the numbers of operations stand for.
    pub script: Option<PathBuf>,
}

/// Some operations of some threads, such as `0:1,3 2:0`: operations 1 and 3 of thread 0, and operation 0 of thread 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only(Vec<(usize, Vec<usize>)>);

impl Only {
    /// Whether a thread has an operation to make.
    fn has_thread(&self, thread: usize) -> bool {
        self.0.iter().any(|(listed, _)| *listed == thread)
    }

    fn has(&self, thread: usize, operation: usize) -> bool {
        self.0.iter().any(|(listed, operations)| *listed == thread && operations.contains(&operation))
    }
}

/// A list of operations that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOnly;

impl FromStr for Only {
    type Err = BadOnly;

    fn from_str(list: &str) -> Result<Only, BadOnly> {
        let thread = |entry: &str| {
            let (thread, operations) = entry.split_once(':').ok_or(BadOnly)?;
            let number = |text: &str| text.parse::<usize>().map_err(|_| BadOnly);
            Ok((number(thread)?, operations.split(',').map(number).collect::<Result<_, _>>()?))
        };
        list.split_whitespace().map(thread).collect::<Result<_, _>>().map(Only)
    }
}

/// Prints in the syntax that is parsed.
impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = |operations: &[usize]| operations.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let entry = |(thread, operations): &(usize, Vec<usize>)| format!("{thread}:{}", join(operations));
        f.write_str(&self.0.iter().map(entry).collect::<Vec<_>>().join(" "))
    }
}

/// How threads are perturbed, so that they interleave in more ways than by themselves. Zero is never.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Perturbation {
    /// One in this many operations yields first.
    pub yields: u64,
    /// One in this many operations sleeps for up to 100 microseconds first.
    pub naps: u64,
    /// Thread `i` is pinned to processor `i`, modulo their number.
    pub pin: bool,
    /// This many additional threads only burn time.
    pub crowd: usize,
}

/// Why a plan cannot be read from the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPlan {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
    /// The expected kind of value.
    pub expected: &'static str,
}

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is `{}`, not {}", self.variable, self.value, self.expected)
    }
}

impl std::error::Error for BadPlan {}

impl Plan {
    /// Reads `OMNILINK_TRACE`, `OMNILINK_SEED`, `OMNILINK_THREADS`, `OMNILINK_OPS`, `OMNILINK_PERTURB`,
    /// `OMNILINK_ONLY` and `OMNILINK_SCRIPT`. Variables that are not set, or empty, default to `trace`, 0, 2, 100, no
    /// perturbation, all operations and no script.
    ///
    /// # Errors
    ///
    /// If one of them is invalid, or the number of threads is zero.
    pub fn from_env() -> Result<Plan, BadPlan> {
        Plan::read(|variable| env::var_os(variable))
    }

    pub(crate) fn read(variables: impl Fn(&str) -> Option<OsString>) -> Result<Plan, BadPlan> {
        let given = |variable| variables(variable).filter(|value| !value.is_empty());
        let two = NonZeroUsize::new(2).expect("two is not zero");
        Ok(Plan {
            trace: given("OMNILINK_TRACE").map_or_else(|| "trace".into(), PathBuf::from),
            seed: parse("OMNILINK_SEED", given, 0, "a number below 2 to the power of 64")?,
            threads: parse("OMNILINK_THREADS", given, two, "a number of threads, at least one")?.get(),
            operations: parse("OMNILINK_OPS", given, 100, "a number of operations")?,
            perturbation: parse(
                "OMNILINK_PERTURB",
                given,
                Perturbation::default(),
                "a list such as `yield=4,nap=50,pin,crowd=2`",
            )?,
            only: match given("OMNILINK_ONLY") {
                None => None,
                some => Some(parse("OMNILINK_ONLY", |_| some.clone(), Only(Vec::new()), "a list such as `0:1,3 2:0`")?),
            },
            script: given("OMNILINK_SCRIPT").map(PathBuf::from),
        })
    }
}

fn parse<T: FromStr>(
    variable: &'static str,
    given: impl Fn(&'static str) -> Option<OsString>,
    default: T,
    expected: &'static str,
) -> Result<T, BadPlan> {
    match given(variable) {
        None => Ok(default),
        Some(value) => {
            let value = value.to_string_lossy();
            value.parse().map_err(|_| BadPlan { variable, value: value.into_owned(), expected })
        }
    }
}

/// An unrecognized word in a list of perturbations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownPerturbation(pub String);

impl fmt::Display for UnknownPerturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unrecognized perturbation `{}` (expected `yield=N`, `nap=N`, `pin` or `crowd=N`)", self.0)
    }
}

impl std::error::Error for UnknownPerturbation {}

impl FromStr for Perturbation {
    type Err = UnknownPerturbation;

    fn from_str(list: &str) -> Result<Perturbation, UnknownPerturbation> {
        let mut perturbation = Perturbation::default();
        for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let unknown = || UnknownPerturbation(word.to_owned());
            let (name, number) = word.split_once('=').unwrap_or((word, ""));
            match name {
                "yield" => perturbation.yields = number.parse().map_err(|_| unknown())?,
                "nap" => perturbation.naps = number.parse().map_err(|_| unknown())?,
                "crowd" => perturbation.crowd = number.parse().map_err(|_| unknown())?,
                "pin" if number.is_empty() => perturbation.pin = true,
                _ => return Err(unknown()),
            }
        }
        Ok(perturbation)
    }
}

/// Prints in the syntax that is parsed, without entries that are never.
impl fmt::Display for Perturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |name, number: u64| (number > 0).then(|| format!("{name}={number}"));
        let words = [
            number("yield", self.yields),
            number("nap", self.naps),
            self.pin.then(|| "pin".to_owned()),
            number("crowd", self.crowd as u64),
        ];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

/// Runs `body` once, or, in a program under control, as often as the driver asks. `body` creates its own system,
/// reads its plan from the environment, which differs each time, and runs it.
///
/// ```no_run
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use omnilink_record::drive::{self, Plan};
/// use omnilink_record::Action;
///
/// static ADD: Action = Action::new("Add", &[], &["before"]);
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     drive::repeat(|| {
///         let (plan, counter) = (Plan::from_env()?, AtomicU64::new(0));
///         drive::run(&plan, &counter, |_, _| (), |counter, (), client| {
///             let call = client.call(&ADD, ());
///             let before = counter.fetch_add(1, Ordering::SeqCst);
///             call.done((before,));
///         })?;
///         Ok(())
///     })
/// }
/// ```
///
/// # Errors
///
/// The first error of `body`, which is not run again then.
pub fn repeat<E>(mut body: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    match Hooks::find() {
        None => body(),
        Some(hooks) => {
            while hooks.next() {
                body()?;
            }
            Ok(())
        }
    }
}

/// Runs `step` as often as the plan says on each of its threads, after all of them have created their private state
/// with `session`. The threads are the processes `0`, `1`, and so on of the trace.
///
/// # Errors
///
/// If the trace cannot be created or was deleted while it was written, a thread cannot be started, or the plan has a
/// script: only [`run_calls`] follows one.
///
/// # Panics
///
/// If `session` or `step` panics.
pub fn run<S: Sync, L>(
    plan: &Plan,
    system: &S,
    session: impl Fn(&S, usize) -> L + Sync,
    step: impl Fn(&S, &mut L, &mut Client) + Sync,
) -> io::Result<()> {
    if let Some(script) = &plan.script {
        let message = format!("`{}`: this harness draws its calls by itself, and follows no script", script.display());
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    let step = |system: &S, local: &mut L, client: &mut Client, operation: usize| {
        client.draw.begin(operation, plan.operations);
        step(system, local, client);
    };
    run_work(plan, &plan.recorder()?, plan.drawn(), system, session, step)
}

/// A call to make, or the number of one to draw.
enum Work<C> {
    Draw(usize),
    Make(C),
}

/// The same with calls that a script can name: `draw` chooses a call, unless the plan has a script, and `make` makes and
/// records it. If `draw` returns `None`, no call is allowed. The file `script` of the trace lists the calls.
///
/// # Errors
///
/// As [`run`], or if the script cannot be read.
///
/// # Panics
///
/// If `session`, `draw` or `make` panics.
pub fn run_calls<S: Sync, L, C: Scripted + Sync>(
    plan: &Plan,
    system: &S,
    session: impl Fn(&S, usize) -> L + Sync,
    draw: impl Fn(&S, &L, &mut Draw) -> Option<C> + Sync,
    make: impl Fn(&S, &mut L, &mut Client, C) + Sync,
) -> io::Result<()> {
    let work: Vec<(usize, Vec<Work<C>>)> = match &plan.script {
        Some(path) => {
            let wrong = |error: String| format!("{}: {error}", path.display());
            let text =
                fs::read_to_string(path).map_err(|error| io::Error::new(error.kind(), wrong(error.to_string())))?;
            let calls = script::read(&text)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, wrong(error.to_string())))?;
            calls.into_iter().map(|(thread, of)| (thread, of.into_iter().map(Work::Make).collect())).collect()
        }
        None => {
            let drawn = plan.drawn().into_iter();
            drawn.map(|(thread, of)| (thread, of.into_iter().map(Work::Draw).collect())).collect()
        }
    };
    let recorder = plan.recorder()?;
    let writer = script::Writer::create(&plan.trace, Hooks::find())?;
    let session = |system: &S, thread: usize| (session(system, thread), writer.thread(thread));
    let step = |system: &S, (local, made): &mut (L, script::Made<'_, C>), client: &mut Client, work: Work<C>| {
        let call = match work {
            Work::Make(call) => Some(call),
            Work::Draw(operation) => {
                client.draw.begin(operation, plan.operations);
                draw(system, local, &mut client.draw)
            }
        };
        if let Some(call) = call {
            made.add(call);
            make(system, local, client, call);
        }
    };
    run_work(plan, &recorder, work, system, session, step)?;
    writer.finish()
}

impl Plan {
    /// The operations to draw, by thread.
    fn drawn(&self) -> Vec<(usize, Vec<usize>)> {
        let is_started = |thread: &usize| self.only.as_ref().map_or(true, |only| only.has_thread(*thread));
        let operations = |thread: usize| {
            let is_made = |operation: &usize| self.only.as_ref().map_or(true, |only| only.has(thread, *operation));
            (thread, (0..self.operations).filter(is_made).collect())
        };
        (0..self.threads).filter(is_started).map(operations).collect()
    }

    /// The perturbation; none under control, where the runtime chooses the thread of each step.
    fn perturbation_here(&self) -> Perturbation {
        Hooks::find().map_or_else(|| self.perturbation.clone(), |_| Perturbation::default())
    }

    /// Creates the trace.
    fn recorder(&self) -> io::Result<Recorder> {
        let number = |name, number: u64| (name, number.to_string());
        let mut notes = match &self.script {
            Some(script) => vec![("script", json_string(&script.to_string_lossy()))],
            None => vec![
                number("seed", self.seed),
                number("threads", self.threads as u64),
                number("operations", self.operations as u64),
            ],
        };
        notes.push(("perturb", json_string(&self.perturbation_here().to_string())));
        notes.extend(self.only.as_ref().map(|only| ("only", json_string(&only.to_string()))));
        Recorder::with_manifest(&self.trace, Clock::system()?, &notes)
    }
}

/// Does the work of each thread, which is the process of the same number, after all threads have created their private
/// state.
fn run_work<S: Sync, L, W: Send>(
    plan: &Plan,
    recorder: &Recorder,
    work: Vec<(usize, Vec<W>)>,
    system: &S,
    session: impl Fn(&S, usize) -> L + Sync,
    step: impl Fn(&S, &mut L, &mut Client, W) + Sync,
) -> io::Result<()> {
    let (hooks, perturbation) = (Hooks::find(), plan.perturbation_here());
    let client = |thread: usize| {
        let process = recorder.process(&thread.to_string())?;
        Ok(Client::new(plan, thread, process, perturbation.clone()))
    };
    let clients = work.iter().map(|(thread, _)| client(*thread)).collect::<io::Result<Vec<Client>>>()?;
    let (gate, is_over) = (Gate::new(clients.len(), hooks), AtomicBool::new(false));
    let entries = gate.entries();
    thread::scope(|scope| {
        let _over = Over(&is_over); // Also when a thread cannot be started: the crowd must not run for ever.
        for _ in 0..perturbation.crowd {
            let burn = || {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            thread::Builder::new().spawn_scoped(scope, burn)?;
        }
        let work = clients.into_iter().zip(work).zip(entries).map(|((mut client, (_, work)), entry)| {
            let (session, step, is_pinned) = (&session, &step, perturbation.pin);
            move || {
                if is_pinned {
                    pin(client.thread);
                }
                let mut local = session(system, client.thread);
                entry.wait();
                for work in work {
                    step(system, &mut local, &mut client, work);
                }
                client // One thread releases the data that clients share: that is not part of the system.
            }
        });
        let clients = perform(scope, work)?;
        is_over.store(true, Ordering::Relaxed);
        clients.into_iter().try_for_each(|client| client.process.close())
    })
}

/// Runs each piece of work on a thread of its own, and returns what they return. If one of them panics, this does,
/// after all have ended.
pub(crate) fn perform<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl Iterator<Item = impl FnOnce() -> T + Send + 'scope>,
) -> io::Result<Vec<T>> {
    let stack = stack_size();
    let threads = work.map(|work| thread::Builder::new().stack_size(stack).spawn_scoped(scope, work));
    let threads = threads.collect::<io::Result<Vec<_>>>()?;
    let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
    Ok(ended.into_iter().map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect())
}

/// The size of a thread's stack, by the rule of the standard library.
///
/// The library remembers the size when it creates the first thread, which is a step that later executions in the same
/// process would not make. With a given size there is no such step.
fn stack_size() -> usize {
    let given = env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse().ok());
    given.unwrap_or(2 * 1024 * 1024)
}

/// Stops the crowd.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Lets all threads begin at once.
pub(crate) struct Gate {
    threads: usize,
    waiting: AtomicUsize,
    hooks: Option<Hooks>, // If the program is under control.
}

/// One thread's entry at the gate. If it is dropped, also by a panic, the other threads do not wait for it.
pub(crate) struct Entry<'a>(&'a Gate);

impl Gate {
    pub(crate) fn new(threads: usize, hooks: Option<Hooks>) -> Gate {
        Gate { threads, waiting: AtomicUsize::new(threads), hooks }
    }

    /// The entries of all threads. Created before any thread, so that the entries of threads that cannot be started
    /// are dropped, and no thread waits for them.
    pub(crate) fn entries(&self) -> Vec<Entry<'_>> {
        (0..self.threads).map(|_| Entry(self)).collect()
    }
}

impl Entry<'_> {
    /// Waits until all threads wait here.
    pub(crate) fn wait(self) {
        let gate = self.0;
        drop(self);
        while gate.hooks.is_none() && gate.waiting.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        match self.0.hooks {
            Some(hooks) => hooks.gate(self.0.threads),
            None => drop(self.0.waiting.fetch_sub(1, Ordering::AcqRel)),
        }
    }
}

/// One thread of a run: its recording process, and its source of inputs.
#[derive(Debug)]
pub struct Client {
    process: Process,
    draw: Draw,
    disturb: Draw,
    perturbation: Perturbation,
    thread: usize,
}

impl Client {
    fn new(plan: &Plan, thread: usize, process: Process, perturbation: Perturbation) -> Client {
        let draw = Draw::new(plan.seed, thread, plan.threads);
        let disturb = Draw { state: !draw.state, ..draw.clone() };
        Client { process, draw, disturb, perturbation, thread }
    }

    /// Publishes that a call begins, after perturbing the thread if it is due.
    ///
    /// # Panics
    ///
    /// As [`Process::call`].
    #[inline]
    #[track_caller]
    pub fn call<A: Values>(&mut self, action: &'static Action, args: A) -> Pending<'_> {
        self.border();
        self.process.call(action, args)
    }

    /// The same for a [`Call`].
    ///
    /// # Panics
    ///
    /// As [`Process::call`].
    #[inline]
    pub fn begin<C: Call>(&mut self, call: &C) -> Begun<'_, C::Operation> {
        self.border();
        self.process.begin(call)
    }

    /// The process that a call is about to be recorded to, after perturbing the thread if it is due.
    pub(crate) fn process(&mut self) -> &mut Process {
        self.border();
        &mut self.process
    }

    /// The source of inputs.
    pub fn draw(&mut self) -> &mut Draw {
        &mut self.draw
    }

    /// The number of this thread, from zero.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// The border between two operations, at which a thread may be perturbed.
    #[inline]
    fn border(&mut self) {
        let Perturbation { yields, naps, .. } = self.perturbation;
        if yields > 0 && self.disturb.below(yields) == 0 {
            thread::yield_now();
        }
        if naps > 0 && self.disturb.below(naps) == 0 {
            thread::sleep(Duration::from_nanos(self.disturb.below(100_000)));
        }
    }
}

/// A generator of inputs. The same seed and thread draw the same numbers on any machine.
#[derive(Clone, Debug)]
pub struct Draw {
    state: u64,
    /// The number that all generators of the thread have in common.
    base: u64,
    next_fresh: i64,
    fresh_stride: i64,
    thread: i64,
    threads: i64,
}

impl Draw {
    /// The generator of one thread.
    pub fn new(seed: u64, thread: usize, threads: usize) -> Draw {
        let state = mix(seed) ^ mix(thread as u64 + 1);
        let (thread, threads) = (thread as i64, threads as i64);
        Draw { state, base: mix(state), next_fresh: thread, fresh_stride: threads, thread, threads }
    }

    /// Continues as the generator of an operation of the thread, which makes `operations` of them.
    fn begin(&mut self, operation: usize, operations: usize) {
        self.state = self.base ^ mix(operation as u64 + 1);
        self.next_fresh = self.thread + self.threads * operation as i64;
        self.fresh_stride = self.threads * operations as i64;
    }

    /// A number from 0 to `n - 1`.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number from `low` to `high`, both included.
    ///
    /// # Panics
    ///
    /// If `low` is larger than `high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        assert!(low <= high, "there is no number from {low} to {high}");
        let offset = match (high.wrapping_sub(low) as u64).checked_add(1) {
            Some(count) => self.below(count),
            None => self.next(),
        };
        low.wrapping_add(offset as i64)
    }

    /// One of these elements.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// An index into a list, more often one with a larger weight.
    ///
    /// # Panics
    ///
    /// If all weights are 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.below(weights.iter().map(|weight| u64::from(*weight)).sum());
        let chosen = weights.iter().position(|weight| {
            let is_here = left < u64::from(*weight);
            left = left.saturating_sub(u64::from(*weight));
            is_here
        });
        chosen.expect("the number is below the sum of all weights")
    }

    /// A number that no thread of the run has drawn this way before.
    pub fn fresh(&mut self) -> i64 {
        let fresh = self.next_fresh;
        self.next_fresh += self.fresh_stride;
        fresh
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// The first number drawn from a state.
fn mix(state: u64) -> u64 {
    Draw { state, base: 0, next_fresh: 0, fresh_stride: 0, thread: 0, threads: 0 }.next()
}

/// Pins this thread to one of its allowed processors. If that fails, it stays unpinned.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn pin(thread: usize) {
    // SAFETY: a set of processors is an array of bits, for which zeros are the empty set.
    let mut allowed: libc::cpu_set_t = unsafe { mem::zeroed() };
    let size = mem::size_of::<libc::cpu_set_t>();
    // SAFETY: `allowed` has the given size, and 0 is the calling thread.
    if unsafe { libc::sched_getaffinity(0, size, &mut allowed) } != 0 {
        return;
    }
    // SAFETY: every number is below the number of bits in the set.
    let processors = (0..libc::CPU_SETSIZE as usize).filter(|number| unsafe { libc::CPU_ISSET(*number, &allowed) });
    let processors: Vec<usize> = processors.collect();
    if processors.is_empty() {
        return;
    }
    let chosen = processors[thread % processors.len()];
    // SAFETY: as above; the number comes from the set.
    unsafe {
        let mut one: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(chosen, &mut one);
        libc::sched_setaffinity(0, size, &one);
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn pin(_: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perturbations_are_read_as_they_are_written() {
        let check = |list: &str| list.parse::<Perturbation>().map_or_else(|error| error.to_string(), |p| p.to_string());
        insta::assert_snapshot!(check(""), @"");
        insta::assert_snapshot!(check("pin, crowd=2,nap=50,yield=4"), @"yield=4,nap=50,pin,crowd=2");
        insta::assert_snapshot!(check("nap"), @"unrecognized perturbation `nap` (expected `yield=N`, `nap=N`, `pin` or `crowd=N`)");
        insta::assert_snapshot!(check("pin=1"), @"unrecognized perturbation `pin=1` (expected `yield=N`, `nap=N`, `pin` or `crowd=N`)");
    }

    #[test]
    fn plans_are_read_from_variables() {
        let check = |set: &[(&str, &str)]| {
            let get = |variable: &str| set.iter().find(|(name, _)| *name == variable).map(|(_, value)| value.into());
            let show =
                |Plan { threads, operations, perturbation, .. }| format!("{threads} x {operations} {perturbation}");
            Plan::read(get).map_or_else(|error| error.to_string(), show)
        };
        assert_eq!(Plan::read(|_| None), Plan::read(|_| Some(OsString::new())));
        insta::assert_snapshot!(check(&[("OMNILINK_OPS", "0"), ("OMNILINK_PERTURB", "pin")]), @"2 x 0 pin");
        insta::assert_snapshot!(
            check(&[("OMNILINK_THREADS", "0")]),
            @"`OMNILINK_THREADS` is `0`, not a number of threads, at least one"
        );
        insta::assert_snapshot!(
            check(&[("OMNILINK_SEED", "x")]),
            @"`OMNILINK_SEED` is `x`, not a number below 2 to the power of 64"
        );
    }

    #[test]
    fn a_list_of_operations_is_read_as_it_is_written() {
        let only: Only = "0:1,3 2:0".parse().unwrap();
        assert_eq!(only.to_string(), "0:1,3 2:0");
        assert!(only.has(0, 3) && only.has(2, 0) && !only.has(0, 0) && !only.has_thread(1));
        assert_eq!("0:x".parse::<Only>(), Err(BadOnly));
        assert_eq!("1".parse::<Only>(), Err(BadOnly));
    }

    /// What an operation draws does not depend on those before it; the C++ recorder draws the same.
    #[test]
    fn operations_draw_independently() {
        let mut draw = Draw::new(42, 1, 3);
        draw.begin(0, 4);
        draw.below(1000);
        draw.begin(2, 4);
        assert_eq!((draw.below(1000), draw.below(1000), draw.fresh(), draw.fresh()), (631, 351, 7, 19));
    }

    /// The C++ recorder draws the same numbers.
    #[test]
    fn a_seed_draws_the_same_everywhere() {
        let mut draw = Draw::new(42, 1, 3);
        let drawn: Vec<u64> = (0..4).map(|_| draw.below(1000)).collect();
        let ranges = [draw.range(-5, 5), draw.range(i64::MIN, i64::MAX), draw.range(7, 7)];
        let others = (*draw.one_of(&["a", "b", "c"]), draw.weighted(&[1, 0, 5]), draw.fresh(), draw.fresh());
        insta::assert_snapshot!(
            format!("{drawn:?} {ranges:?} {others:?}"),
            @r#"[69, 656, 463, 94] [0, -1897475051198286469, 7] ("c", 2, 1, 4)"#
        );
    }
}
