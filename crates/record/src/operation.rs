//! Operations as an enum with one variant for each outcome of a call.
//!
//! Before a call returns, only its name and arguments are known: that is a [`Call`]. Afterwards its results are too:
//! that is an [`Operation`]. The feature `derive` generates both from one enum.

use std::fmt;
use std::marker::PhantomData;

use crate::recorder::{Pending, Process};
use crate::{Action, Encode, Values};

/// The outcome of a call: an action with its arguments and results.
///
/// With the feature `derive` an enum implements it. Each variant is an action, and its fields are arguments, or
/// results if marked `#[result]`. A second enum, named after the first with `Call` appended, holds the name and
/// arguments of a call that begins. A variant that is another outcome of a call names that call, and then has no call
/// of its own.
#[cfg_attr(feature = "derive", doc = "```")]
#[cfg_attr(not(feature = "derive"), doc = "```ignore")]
/// use omnilink_record::{Operation, Recorder};
///
/// #[derive(Operation)]
/// enum QueueOp {
///     Enqueue {
///         elem: i64,
///     },
///     Dequeue {
///         #[result]
///         elem: i64,
///     },
///     #[operation(call = "Dequeue")]
///     DequeueEmpty,
/// }
///
/// # fn main() -> std::io::Result<()> {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path().join("trace");
/// # let mut queue = std::collections::VecDeque::new();
/// let recorder = Recorder::create(&directory)?;
/// let mut process = recorder.process("c1")?;
///
/// let call = process.begin(&QueueOpCall::Enqueue { elem: 1 });
/// queue.push_back(1);
/// call.finish(&QueueOp::Enqueue { elem: 1 });
///
/// let call = process.begin(&QueueOpCall::Dequeue);
/// let outcome = match queue.pop_front() {
///     Some(elem) => QueueOp::Dequeue { elem },
///     None => QueueOp::DequeueEmpty,
/// };
/// call.finish(&outcome);
/// # Ok(())
/// # }
/// ```
pub trait Operation {
    /// The call, as known when it begins.
    type Call: Call<Operation = Self>;

    /// Publishes this as the outcome of the call.
    fn finish(&self, outcome: Outcome<'_>);
}

/// A call that begins: an action and its arguments.
pub trait Call {
    /// The possible outcomes of the call.
    type Operation: Operation<Call = Self>;

    /// Publishes that the call begins.
    fn begin<'a>(&self, process: &'a mut Process) -> Pending<'a>;
}

/// The destination of an [`Operation`]'s outcome.
#[derive(Debug)]
pub struct Outcome<'a>(Pending<'a>);

impl Outcome<'_> {
    /// Publishes that the call returned as this action with these arguments and results.
    #[inline]
    pub fn done<A: Values, R: Values>(self, action: &'static Action, args: A, results: R) {
        self.0.done_as_or_same(action, args, results);
    }
}

/// A call that has begun; it ends as an `O` or stays unfinished.
#[must_use = "a call that is dropped is unfinished"]
pub struct Begun<'a, O> {
    pending: Pending<'a>,
    operation: PhantomData<fn(&O)>,
}

impl Process {
    /// Publishes that a call begins now.
    ///
    /// # Panics
    ///
    /// As [`Process::call`].
    #[inline]
    pub fn begin<C: Call>(&mut self, call: &C) -> Begun<'_, C::Operation> {
        Begun::new(call.begin(self))
    }
}

impl<'a, O: Operation> Begun<'a, O> {
    #[inline]
    pub(crate) fn new(pending: Pending<'a>) -> Begun<'a, O> {
        Begun { pending, operation: PhantomData }
    }

    /// Publishes the outcome of the call.
    ///
    /// # Panics
    ///
    /// As [`Pending::done`].
    #[inline]
    pub fn finish(self, operation: &O) {
        operation.finish(Outcome(self.pending));
    }

    /// Publishes that the call returned and had no effect.
    pub fn failed(self) {
        self.pending.failed();
    }

    /// As [`Pending::refine_start`].
    pub fn refine_start(&mut self) {
        self.pending.refine_start();
    }

    /// As [`Pending::refine_end`].
    pub fn refine_end(&mut self) {
        self.pending.refine_end();
    }

    /// As [`Pending::meta`].
    pub fn meta(&mut self, key: &str, value: impl Encode) {
        self.pending.meta(key, value);
    }
}

impl<O> fmt::Debug for Begun<'_, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pending.fmt(f)
    }
}
