//! Objects whose calls are listed, and programs that make these calls on demand.
//!
//! A [`Description`] says how to make an object, and lists calls: methods with fixed arguments. With the feature
//! `derive`, the attribute `object` derives the calls from the signatures of an `impl` block; see [`Describe`]. Without
//! it, a program lists closures; see [`Description::new`].
//!
//! [`main`] is the main function of an *object program*. It obeys these variables, which are read anew for each
//! execution if the program is under control, except the first:
//!
//! - `OMNILINK_CALLS`: a path. The program writes the listed calls there, one per line, and ends.
//! - `OMNILINK_MATRIX`: lists of call numbers, separated by `;`, such as `0;1 2;0;`: the calls before, those of each
//!   thread, and the calls after. A new object is made. The main thread makes the calls before; then all threads
//!   begin at once and make theirs in order; after all have ended, the main thread makes the calls after.
//! - `OMNILINK_ORDERS`, together with the matrix: words such as `001 010`, with one character for each call of the
//!   threads: the thread that makes it, `0` to `9` and `a` to `z`. For each word a new object is made, and the calls
//!   are made in this order, each on its thread, the next one after the last one has returned. A call that blocks
//!   blocks the program.
//! - `OMNILINK_REWIND`, together with the matrix, if it is not empty: the trace is not closed, and the next execution of
//!   this process is recorded in its place.
//!
//! Without them, the program is a harness: each step makes one of the listed calls, drawn from the seed; see
//! [`Plan::from_env`]. In all cases the trace is written to `OMNILINK_TRACE`. Processes are `0`, `1` and so on for the
//! threads, and `main` for the calls before and after. A bad variable ends the program with exit code 2.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::clock::Clock;
use crate::control::Hooks;
use crate::drive::{self, BadPlan, Client, Gate, Plan};
use crate::encode::{Encode, Encoded, Encoder};
use crate::recorder::{json_string, Process, Recorder};

/// A type whose calls are listed. The attribute `object` of the feature `derive` implements it.
///
/// On an inherent `impl` block, each public method with a receiver is a call; functions without one are left alone.
/// A method with parameters lists its arguments: one expression for each call, or a tuple if there are several
/// parameters. A method without parameters is one call. `#[calls(skip)]` leaves a method out, and `#[calls]` with
/// arguments takes in one that is not public.
#[cfg_attr(feature = "derive", doc = "```no_run")]
#[cfg_attr(not(feature = "derive"), doc = "```ignore")]
/// use std::collections::VecDeque;
/// use std::process::ExitCode;
/// use std::sync::Mutex;
///
/// use omnilink_record::object;
///
/// struct Queue {
///     items: Mutex<VecDeque<i64>>,
/// }
///
/// #[object]
/// impl Queue {
///     pub fn new() -> Queue {
///         Queue { items: Mutex::default() }
///     }
///
///     #[calls(200, 400)]
///     pub fn add(&self, item: i64) {
///         self.items.lock().unwrap().push_back(item);
///     }
///
///     pub fn try_take(&self) -> Option<i64> {
///         self.items.lock().unwrap().pop_front()
///     }
/// }
///
/// fn main() -> ExitCode {
///     object::main(Queue::new) // The calls are add(200), add(400) and try_take().
/// }
/// ```
///
/// The attribute takes arguments:
///
/// - `#[object(lock = std::sync::Mutex)]`: all threads share the object behind this lock, so its methods may take
///   `&mut self`. Any type with `new` and `lock` will do whose guard derefs to the object, such as `parking_lot`'s.
/// - `#[object(T = i64)]` on `impl<T> Queue<T>`: the type, or the number, that stands for a parameter.
///
/// On an `impl` of a trait, all its methods with a receiver are calls. On a trait, too; it comes with a second type,
/// named after it with `Object` appended, which holds an implementation: `object::main(|| QueueObject(Mine::new()))`.
///
/// # Values
///
/// An operation has the name of the method, its parameters as arguments, and one result, `result`, unless the method
/// returns `()`. Every argument and result implements `Debug`, and is recorded so:
///
/// | type | value |
/// |---|---|
/// | `T: Encode` | as encoded: integers, numbers, truth values, strings, sets, maps |
/// | `Option<T>` | the value, or nil |
/// | `Result<T, E>` | a record: `[ok \|-> value]` or `[err \|-> error]` |
/// | tuples, slices, arrays, `Vec<T>` | a tuple of the values; `()` inside of another type is the empty one |
/// | any other type | its `Debug` text as a string; equal values must have equal texts |
pub trait Describe: Sized {
    /// The object as all threads share it: itself, or behind a lock.
    type Shared: Sync;

    /// Makes a new object accessible to all threads.
    fn share(self) -> Self::Shared;

    /// The calls, in the order of the methods and of their arguments.
    fn calls() -> Vec<Call<Self::Shared>>;
}

/// Makes a call, and records it.
type Perform<S> = dyn Fn(&S, &mut Process) + Send + Sync;

/// A method with its arguments, of an object that threads share as an `S`.
pub struct Call<S> {
    text: String,
    perform: Box<Perform<S>>,
}

impl<S> Call<S> {
    /// A call with this text, such as `add(200)`; `perform` makes and records it.
    pub fn new(text: impl Into<String>, perform: impl Fn(&S, &mut Process) + Send + Sync + 'static) -> Call<S> {
        Call { text: text.into(), perform: Box::new(perform) }
    }

    /// Makes and records the call.
    pub fn make(&self, object: &S, process: &mut Process) {
        (self.perform)(object, process);
    }
}

impl<S> Debug for Call<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// How to make an object, and the calls to make on it.
pub struct Description<S> {
    make: Box<dyn Fn() -> S + Send + Sync>,
    calls: Vec<Call<S>>,
}

impl<S> Debug for Description<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.calls).finish()
    }
}

/// Runs an object program, as the variables say.
pub fn main<D: Describe + 'static>(make: impl Fn() -> D + Send + Sync + 'static) -> ExitCode {
    Description::of(make).main()
}

impl<S: Sync> Description<S> {
    /// The calls of a described type.
    pub fn of<D: Describe<Shared = S> + 'static>(make: impl Fn() -> D + Send + Sync + 'static) -> Description<S> {
        Description::new(move || make().share(), D::calls())
    }

    /// These calls, which are numbered from zero.
    ///
    /// ```no_run
    /// use std::process::ExitCode;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use omnilink_record::object::{Call, Description};
    /// use omnilink_record::{Action, Process};
    ///
    /// static ADD: Action = Action::new("add", &["number"], &["result"]);
    ///
    /// fn main() -> ExitCode {
    ///     let add = |number: u64| {
    ///         Call::new(format!("add({number})"), move |counter: &AtomicU64, process: &mut Process| {
    ///             let call = process.call(&ADD, (number,));
    ///             let before = counter.fetch_add(number, Ordering::SeqCst);
    ///             call.done((before,));
    ///         })
    ///     };
    ///     Description::new(AtomicU64::default, vec![add(1), add(10)]).main()
    /// }
    /// ```
    ///
    /// # Panics
    ///
    /// If there are no calls.
    pub fn new(make: impl Fn() -> S + Send + Sync + 'static, calls: Vec<Call<S>>) -> Description<S> {
        assert!(!calls.is_empty(), "an object without calls cannot be driven");
        Description { make: Box::new(make), calls }
    }

    /// The texts of the calls, by number.
    pub fn calls(&self) -> Vec<String> {
        self.calls.iter().map(|call| call.text.clone()).collect()
    }

    /// Records one execution: these calls together, or in these orders. Both are as in the variables of [`main`].
    #[doc(hidden)]
    pub fn perform(&self, trace: &Path, matrix: &str, orders: &str) -> Result<(), Box<dyn Error>> {
        let matrix = Matrix::read(&matrix.into(), self.calls.len())?;
        let mut processes = Processes::create(trace, &matrix)?;
        match orders {
            "" => self.run_together(&matrix, &mut processes)?,
            orders => self.run_in_orders(&matrix, &matrix.orders(&orders.into())?, &mut processes)?,
        }
        Ok(processes.close()?)
    }

    /// A new object.
    pub fn make(&self) -> S {
        (self.make)()
    }

    /// Makes one of the calls, drawn from the client's inputs.
    pub fn step(&self, object: &S, client: &mut Client) {
        let number = client.draw().below(self.calls.len() as u64) as usize;
        self.call(number, object, client.process());
    }

    /// Runs an object program, as the variables say.
    pub fn main(&self) -> ExitCode {
        match self.obey(&|variable| env::var_os(variable)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // There is no other place to report it.
                let _ = writeln!(io::stderr(), "error: {error}");
                ExitCode::from(if error.is::<BadPlan>() { 2 } else { 1 })
            }
        }
    }

    fn obey(&self, variables: &dyn Fn(&str) -> Option<OsString>) -> Result<(), Box<dyn Error>> {
        let given = |variable: &str| variables(variable).filter(|value| !value.is_empty());
        if let Some(path) = given("OMNILINK_CALLS").map(PathBuf::from) {
            let list: String = self.calls.iter().map(|call| format!("{}\n", call.text)).collect();
            return fs::write(&path, list).map_err(|error| format!("{}: {error}", path.display()).into());
        }
        let mut kept: Option<Processes> = None;
        drive::repeat(|| {
            let plan = Plan::read(variables)?;
            let matrix = given("OMNILINK_MATRIX").map(|text| Matrix::read(&text, self.calls.len())).transpose()?;
            match (matrix, given("OMNILINK_ORDERS")) {
                (Some(matrix), orders) => {
                    let orders = orders.map(|orders| matrix.orders(&orders)).transpose()?;
                    let mut processes = Processes::rewound_or_new(kept.take(), &plan.trace, &matrix)?;
                    match orders {
                        None => self.run_together(&matrix, &mut processes)?,
                        Some(orders) => self.run_in_orders(&matrix, &orders, &mut processes)?,
                    }
                    match given("OMNILINK_REWIND") {
                        None => processes.close()?,
                        Some(_) => kept = Some(processes),
                    }
                }
                (None, None) => {
                    drive::run(&plan, &self.make(), |_, _| (), |object, (), client| self.step(object, client))?
                }
                (None, Some(orders)) => {
                    return Err(bad("OMNILINK_ORDERS", &orders, "allowed without `OMNILINK_MATRIX`").into());
                }
            }
            Ok(())
        })
    }

    fn run_together(&self, matrix: &Matrix, processes: &mut Processes) -> io::Result<()> {
        let gate = Gate::new(matrix.columns.len(), Hooks::find());
        let entries = gate.entries();
        let object = self.make();
        self.on_main(&object, &matrix.before, processes);
        thread::scope(|scope| {
            let columns = matrix.columns.iter().zip(&mut processes.columns).zip(entries);
            let work = columns.map(|((column, process), entry)| {
                let object = &object;
                move || {
                    entry.wait();
                    column.iter().for_each(|number| self.call(*number, object, process));
                }
            });
            drive::perform(scope, work)
        })?;
        self.on_main(&object, &matrix.after, processes);
        Ok(())
    }

    fn run_in_orders(&self, matrix: &Matrix, orders: &[Vec<usize>], processes: &mut Processes) -> io::Result<()> {
        for order in orders {
            let object = self.make();
            self.on_main(&object, &matrix.before, processes);
            let turns = Turns::new(order, matrix.columns.len());
            thread::scope(|scope| {
                let columns = matrix.columns.iter().zip(&mut processes.columns).enumerate();
                let work = columns.map(|(thread, (column, process))| {
                    let (object, turns) = (&object, &turns);
                    let places = (0..order.len()).filter(move |place| order[*place] == thread);
                    move || {
                        for (place, number) in places.zip(column) {
                            match turns.wait(place) {
                                Some(_turn) => self.call(*number, object, process),
                                None => break,
                            }
                        }
                    }
                });
                drive::perform(scope, work)
            })?;
            self.on_main(&object, &matrix.after, processes);
        }
        Ok(())
    }

    fn on_main(&self, object: &S, calls: &[usize], processes: &mut Processes) {
        if let Some(process) = &mut processes.main {
            calls.iter().for_each(|number| self.call(*number, object, process));
        }
    }

    fn call(&self, number: usize, object: &S, process: &mut Process) {
        self.calls[number].make(object, process);
    }
}

/// The calls of one execution, by number: before, of each thread, and after.
#[derive(Debug)]
struct Matrix {
    text: String,
    before: Vec<usize>,
    columns: Vec<Vec<usize>>,
    after: Vec<usize>,
}

impl Matrix {
    fn read(given: &OsString, calls: usize) -> Result<Matrix, BadPlan> {
        let wrong =
            || bad("OMNILINK_MATRIX", given, "at least three lists of numbers of listed calls, such as `0;1 2;0;`");
        let text = given.to_str().ok_or_else(wrong)?;
        let number = |word: &str| word.parse().ok().filter(|number| *number < calls);
        let list = |list: &str| list.split_whitespace().map(number).collect::<Option<Vec<usize>>>();
        let mut columns = text.split(';').map(list).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        if columns.len() < 3 {
            return Err(wrong());
        }
        let (before, after) = (columns.remove(0), columns.pop().unwrap_or_default());
        Ok(Matrix { text: text.to_owned(), before, columns, after })
    }

    /// Whether the main thread makes calls.
    fn has_main(&self) -> bool {
        !self.before.is_empty() || !self.after.is_empty()
    }

    /// The threads that make the calls of the columns, in order.
    fn orders(&self, given: &OsString) -> Result<Vec<Vec<usize>>, BadPlan> {
        let wrong = || bad("OMNILINK_ORDERS", given, "orders of all calls of the matrix by thread, such as `001 010`");
        let text = given.to_str().ok_or_else(wrong)?;
        let order = |word: &str| {
            let threads = word.chars().map(|character| character.to_digit(36).map(|thread| thread as usize));
            let order = threads.collect::<Option<Vec<usize>>>()?;
            let count = |thread| order.iter().filter(|other| **other == thread).count();
            let is_whole = (0..36).all(|thread| count(thread) == self.columns.get(thread).map_or(0, Vec::len));
            is_whole.then_some(order)
        };
        text.split_whitespace().map(order).collect::<Option<Vec<_>>>().ok_or_else(wrong)
    }
}

fn bad(variable: &'static str, value: &OsString, expected: &'static str) -> BadPlan {
    BadPlan { variable, value: value.to_string_lossy().into_owned(), expected }
}

/// The processes of a trace: one for each thread, and one for the calls before and after.
struct Processes {
    trace: PathBuf,
    columns: Vec<Process>,
    main: Option<Process>,
}

impl Processes {
    /// Those of the last execution, if they fit this one.
    fn rewound_or_new(last: Option<Processes>, trace: &Path, matrix: &Matrix) -> io::Result<Processes> {
        let fits = |last: &Processes| {
            last.trace == trace
                && last.columns.len() == matrix.columns.len()
                && last.main.is_some() == matrix.has_main()
        };
        match last.filter(fits) {
            Some(mut last) => {
                last.columns.iter_mut().chain(&mut last.main).for_each(Process::rewind);
                Ok(last)
            }
            None => Processes::create(trace, matrix),
        }
    }

    fn create(trace: &Path, matrix: &Matrix) -> io::Result<Processes> {
        let meta = [("matrix", json_string(&matrix.text))];
        let recorder = Recorder::with_manifest(trace, Clock::system()?, &meta)?;
        let columns = (0..matrix.columns.len()).map(|thread| recorder.process(&thread.to_string()));
        let columns = columns.collect::<io::Result<Vec<Process>>>()?;
        let main = matrix.has_main().then(|| recorder.process("main")).transpose()?;
        Ok(Processes { trace: trace.to_owned(), columns, main })
    }

    fn close(self) -> io::Result<()> {
        self.columns.into_iter().chain(self.main).try_for_each(Process::close)
    }
}

/// Lets threads take turns in an order.
///
/// Each thread waits at a condition of its own, so a turn wakes only the thread that is next.
struct Turns<'a> {
    order: &'a [usize],
    next: Mutex<Option<usize>>, // A place in the order, or `None` if a thread panicked.
    conditions: Vec<Condvar>,
}

/// A turn; it ends when this is dropped.
struct Turn<'a>(&'a Turns<'a>);

impl<'a> Turns<'a> {
    fn new(order: &'a [usize], threads: usize) -> Turns<'a> {
        Turns { order, next: Mutex::new(Some(0)), conditions: (0..threads).map(|_| Condvar::new()).collect() }
    }

    /// Waits for the turn at this place. `None` if a thread panicked.
    fn wait(&'a self, place: usize) -> Option<Turn<'a>> {
        let condition = &self.conditions[self.order[place]];
        let is_early = |next: &mut Option<usize>| next.map_or(false, |next| next != place);
        let next = condition.wait_while(self.lock(), is_early).unwrap_or_else(PoisonError::into_inner);
        next.map(|_| Turn(self))
    }

    fn lock(&self) -> MutexGuard<'_, Option<usize>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let turns = self.0;
        let mut next = turns.lock();
        if thread::panicking() {
            *next = None;
            turns.conditions.iter().for_each(Condvar::notify_one);
        } else {
            *next = next.map(|place| place + 1);
            let thread = next.and_then(|place| turns.order.get(place));
            thread.into_iter().for_each(|thread| turns.conditions[*thread].notify_one());
        }
    }
}

/// An argument or a result, as the attribute `object` found it in a signature. Nothing is encoded or formatted before
/// it is recorded.
#[doc(hidden)]
pub enum Value<'a> {
    /// Of a type that can be encoded, twice the same value: to record, and to list.
    Encoded(&'a dyn Encode, &'a dyn Debug),
    /// Of a type that can only be printed.
    Opaque(&'a dyn Debug),
    Str(&'a str),
    Nil,
    List(Vec<Value<'a>>),
    Ok(Box<Value<'a>>),
    Err(Box<Value<'a>>),
}

impl Encode for Value<'_> {
    fn encode(&self, encoder: Encoder<'_>) -> Encoded {
        match self {
            Value::Encoded(value, _) => value.encode(encoder),
            Value::Opaque(value) => encoder.str(&format!("{value:?}")),
            Value::Str(text) => encoder.str(text),
            Value::Nil => encoder.nil(),
            Value::List(values) => encoder.tuple(values.iter()),
            Value::Ok(value) => Ok::<_, ()>(value).encode(encoder),
            Value::Err(error) => Err::<(), _>(error).encode(encoder),
        }
    }
}

/// Prints as operations of a history do.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Encoded(_, value) => match format!("{value:?}").as_str() {
                "true" => f.write_str("TRUE"),
                "false" => f.write_str("FALSE"),
                text => f.write_str(text),
            },
            Value::Opaque(value) => f.write_str(&json_string(&format!("{value:?}"))),
            Value::Str(text) => f.write_str(&json_string(text)),
            Value::Nil => f.write_str("nil"),
            Value::List(values) => write!(f, "<<{}>>", commas(values)),
            Value::Ok(value) => write!(f, "[ok |-> {value}]"),
            Value::Err(error) => write!(f, "[err |-> {error}]"),
        }
    }
}

/// The text of a call.
#[doc(hidden)]
pub fn text(method: &str, args: &[Value<'_>]) -> String {
    format!("{method}({})", commas(args))
}

fn commas(values: &[Value<'_>]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// Chooses the [`Value`] of a `T` by the traits that it implements. With both traits in scope, `(&Plain(&x)).value()`
/// is [`AsEncoded::value`] if that exists, because it needs no further reference, and [`AsOpaque::value`] otherwise.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plain<'a, T>(pub &'a T);

#[doc(hidden)]
pub trait AsEncoded<'a> {
    fn value(&self) -> Value<'a>;
}

impl<'a, T: Encode + Debug> AsEncoded<'a> for Plain<'a, T> {
    fn value(&self) -> Value<'a> {
        Value::Encoded(self.0, self.0)
    }
}

/// The bound is on the method, so that a type without it is an error that names the type.
#[doc(hidden)]
pub trait AsOpaque<'a, T> {
    fn value(&self) -> Value<'a>
    where
        T: Debug;
}

impl<'a, T> AsOpaque<'a, T> for &Plain<'a, T> {
    fn value(&self) -> Value<'a>
    where
        T: Debug,
    {
        Value::Opaque(self.0)
    }
}

/// What `lock` of a lock returned: a guard, or a guard in a result.
#[doc(hidden)]
#[derive(Debug)]
pub struct Locked<G>(pub G);

impl<G> Locked<Result<G, PoisonError<G>>> {
    pub fn guard(self) -> G {
        self.0.unwrap_or_else(|_| panic!("a call panicked while it held the lock"))
    }
}

#[doc(hidden)]
pub trait AsGuard<G> {
    fn guard(self) -> G;
}

impl<G> AsGuard<G> for Locked<G> {
    fn guard(self) -> G {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::panic::{catch_unwind, AssertUnwindSafe};

    use omnilink_history::format::binary::{read_all, SegmentReader};
    use omnilink_history::{End, Record, Trace};

    use super::*;
    use crate::Action;

    static ADD: Action = Action::new("add", &["item"], &[]);
    static TAKE: Action = Action::new("take", &[], &["result"]);
    static FAIL: Action = Action::new("fail", &[], &[]);

    /// A queue with the calls add(200), add(400), take() and fail(), which panics.
    fn queue() -> Description<Mutex<Vec<i64>>> {
        let add = |item: i64| {
            Call::new(format!("add({item})"), move |queue: &Mutex<Vec<i64>>, process: &mut Process| {
                let call = process.call(&ADD, (item,));
                queue.lock().unwrap().push(item);
                call.done(());
            })
        };
        let take = Call::new("take()", |queue: &Mutex<Vec<i64>>, process: &mut Process| {
            let call = process.call(&TAKE, ());
            let item = queue.lock().unwrap().pop();
            call.done((item,));
        });
        let fail = Call::new("fail()", |_: &Mutex<Vec<i64>>, process: &mut Process| {
            let _call = process.call(&FAIL, ());
            panic!("it fails");
        });
        Description::new(Mutex::default, vec![add(200), add(400), take, fail])
    }

    /// The trace of a run, or its error.
    fn run(set: &[(&str, &str)]) -> Result<Trace, String> {
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("trace");
        let variables = |variable: &str| match variable {
            "OMNILINK_TRACE" => Some(trace.clone().into_os_string()),
            _ => set.iter().find(|(name, _)| *name == variable).map(|(_, value)| value.into()),
        };
        queue().obey(&variables).map_err(|error| error.to_string())?;
        Ok(read(&trace))
    }

    fn read(trace: &Path) -> Trace {
        let mut segments: Vec<PathBuf> = fs::read_dir(trace).unwrap().map(|entry| entry.unwrap().path()).collect();
        segments.retain(|path| path.extension().map_or(false, |extension| extension == "seg"));
        segments.sort();
        let open = |path: &PathBuf| SegmentReader::new(path.to_string_lossy(), File::open(path).unwrap()).unwrap();
        read_all(segments.iter().map(open).collect::<Vec<_>>()).unwrap()
    }

    /// The operations of each process.
    fn check_processes(set: &[(&str, &str)]) -> String {
        run(set).map_or_else(
            |error| error,
            |trace| {
                let lines = trace.processes.iter().enumerate().map(|(number, name)| {
                    let own = trace.records.iter().filter(|record| record.process.0 as usize == number);
                    let calls: Vec<String> = own.map(|record| record.call.to_string()).collect();
                    format!("{name} [{}]", calls.join(", "))
                });
                lines.collect::<Vec<_>>().join("\n")
            },
        )
    }

    /// All operations, none of which overlap, in their order.
    fn check_orders(matrix: &str, orders: &str) -> String {
        let trace = match run(&[("OMNILINK_MATRIX", matrix), ("OMNILINK_ORDERS", orders)]) {
            Ok(trace) => trace,
            Err(error) => return error,
        };
        let mut records = trace.records;
        records.sort_by_key(|record| record.start);
        for pair in records.windows(2) {
            let end = match pair[0].end {
                End::At(end) => end,
                End::Unknown { .. } => panic!("{:?} is unfinished", pair[0].call),
            };
            assert!(end <= pair[1].start, "{:?} overlaps {:?}", pair[0].call, pair[1].call);
        }
        let show = |record: &Record| format!("{} {}", trace.processes[record.process.0 as usize], record.call);
        records.iter().map(show).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn calls_are_listed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("calls");
        let list = |path: &Path| queue().obey(&|name| (name == "OMNILINK_CALLS").then(|| path.into()));
        list(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "add(200)\nadd(400)\ntake()\nfail()\n");
        assert!(list(directory.path()).is_err());
    }

    #[test]
    fn a_matrix_is_run() {
        let check = |matrix| check_processes(&[("OMNILINK_MATRIX", matrix)]);
        insta::assert_snapshot!(check("1 2;0 0;0;2 1"), @"
        0 [add(item: 200), add(item: 200)]
        1 [add(item: 200)]
        main [add(item: 400), take() = result: 400, take() = result: 200, add(item: 400)]
        ");
        insta::assert_snapshot!(check(";0 0; ;1;"), @"
        0 [add(item: 200), add(item: 200)]
        1 []
        2 [add(item: 400)]
        ");
        insta::assert_snapshot!(check("0;1"), @"`OMNILINK_MATRIX` is `0;1`, not at least three lists of numbers of listed calls, such as `0;1 2;0;`");
        insta::assert_snapshot!(check(";0;4;"), @"`OMNILINK_MATRIX` is `;0;4;`, not at least three lists of numbers of listed calls, such as `0;1 2;0;`");
        insta::assert_snapshot!(check(";0;-1;"), @"`OMNILINK_MATRIX` is `;0;-1;`, not at least three lists of numbers of listed calls, such as `0;1 2;0;`");
    }

    #[test]
    fn orders_are_run_one_call_at_a_time() {
        insta::assert_snapshot!(check_orders("0;1 2;2;0", "001 010 100"), @"
        main add(item: 200)
        0 add(item: 400)
        0 take() = result: 400
        1 take() = result: 200
        main add(item: 200)
        main add(item: 200)
        0 add(item: 400)
        1 take() = result: 400
        0 take() = result: 200
        main add(item: 200)
        main add(item: 200)
        1 take() = result: 200
        0 add(item: 400)
        0 take() = result: 400
        main add(item: 200)
        ");
        insta::assert_snapshot!(check_orders(";0;", "0"), @"0 add(item: 200)");
        insta::assert_snapshot!(check_orders(";0;2;", "0"), @"`OMNILINK_ORDERS` is `0`, not orders of all calls of the matrix by thread, such as `001 010`");
        insta::assert_snapshot!(check_orders(";0;2;", "01 02"), @"`OMNILINK_ORDERS` is `01 02`, not orders of all calls of the matrix by thread, such as `001 010`");
        insta::assert_snapshot!(check_processes(&[("OMNILINK_ORDERS", "0")]), @"`OMNILINK_ORDERS` is `0`, not allowed without `OMNILINK_MATRIX`");
    }

    #[test]
    fn an_execution_is_recorded_in_the_place_of_the_last() {
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("trace");
        let check = |last: Option<Processes>, text: &str| {
            let matrix = Matrix::read(&text.into(), 4).unwrap();
            let mut processes = Processes::rewound_or_new(last, &trace, &matrix).unwrap();
            queue().run_together(&matrix, &mut processes).unwrap();
            let mut records = read(&trace).records;
            records.sort_by_key(|record| record.start);
            let shown: Vec<String> = records.iter().map(|record| record.call.to_string()).collect();
            (processes, shown.join(", "))
        };
        let (last, shown) = check(None, "0 0 0;1;2");
        assert_eq!(shown, "add(item: 200), add(item: 200), add(item: 200), add(item: 400), take() = result: 400");
        let (last, shown) = check(Some(last), ";2;1");
        assert_eq!(shown, "take() = result: nil, add(item: 400)");
        last.close().unwrap();
        assert_eq!(read(&trace).cuts.len(), 0);
    }

    #[test]
    fn many_threads_take_turns() {
        let columns = "0;".repeat(36);
        let order: String = ('0'..='9').chain('a'..='z').rev().collect();
        let ran = check_orders(&format!(";{columns}"), &order);
        let threads: Vec<&str> = ran.lines().map(|line| line.split(' ').next().unwrap()).collect();
        let expected: Vec<String> = (0..36).rev().map(|thread| thread.to_string()).collect();
        assert_eq!(threads, expected);
    }

    #[test]
    fn a_call_that_panics_ends_the_program() {
        for orders in ["", "0011"] {
            let set = [("OMNILINK_MATRIX", ";3 0;0 0;"), ("OMNILINK_ORDERS", orders)];
            let panic = catch_unwind(AssertUnwindSafe(|| run(&set))).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&"it fails"));
        }
    }

    #[test]
    fn without_a_matrix_calls_are_drawn() {
        let mut queue = queue();
        queue.calls.truncate(3);
        let directory = tempfile::tempdir().unwrap();
        let variables = |variable: &str| match variable {
            "OMNILINK_TRACE" => Some(directory.path().join("trace").into()),
            "OMNILINK_OPS" => Some("x".into()),
            _ => None,
        };
        let error = queue.obey(&variables).unwrap_err();
        assert!(error.is::<BadPlan>(), "{error}");
        queue.obey(&|name| variables(name).filter(|value| value != "x")).unwrap();
        assert!(directory.path().join("trace/001.seg").exists());
    }

    #[test]
    fn values_are_listed_as_histories_print_them() {
        let (yes, key) = (true, Path::new("a"));
        let pair = Value::List(vec![Plain(&-1_i64).value(), Value::Ok(Box::new(Value::Nil))]);
        let args = [Value::Str("a\"b"), Plain(&yes).value(), (&Plain(&key)).value(), pair];
        insta::assert_snapshot!(text("put", &args), @r#"put("a\"b", TRUE, "\"a\"", <<-1, [ok |-> nil]>>)"#);
        insta::assert_snapshot!(text("take", &[]), @"take()");
    }
}
