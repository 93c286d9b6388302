//! Visible operations, and when the order of two of them matters.

use bytemuck::{Pod, Zeroable};

/// The maximum number of threads of one execution at a time, because sets of threads are words.
pub const THREADS: usize = 64;

/// One visible operation of a thread: announced before it happens, and recorded when it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Step {
    /// The object: an address, or [`thread_object`]; 0 if there is none.
    pub address: u64,
    /// The value read or written, or the number of woken threads; its exact meaning depends on the kind.
    pub value: u64,
    /// The return address in the code that made the step.
    pub place: u64,
    /// The threads that could have been chosen for this step, as bits.
    pub enabled: u64,
    /// A [`Kind`].
    pub kind: u8,
    /// A [`MemoryOrder`].
    pub order: u8,
    /// The size in bytes; 255 means 255 or more.
    pub size: u8,
    /// The thread.
    pub thread: u8,
    /// Flags, as the bits [`Step::WRITES`] and so on.
    pub flags: u32,
}

impl Step {
    /// It changed its memory. (A compare-and-exchange may not.)
    pub const WRITES: u32 = 1;
    /// The thread of the step before was blocked or yielded: choosing another one is not a preemption.
    pub const FREE: u32 = 2;
    /// It happened because time passed.
    pub const TIMED_OUT: u32 = 4;
    /// Some enabled thread was not offered, for fairness: it yielded, or it spins.
    pub const HELD_BACK: u32 = 8;

    /// The kind, if the number is known.
    pub fn kind(&self) -> Option<Kind> {
        Kind::from_number(self.kind)
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The thread as a set.
    pub fn threads(&self) -> u64 {
        1 << self.thread
    }
}

macro_rules! kinds {
    ($(#[$about:meta] $name:ident $word:literal),* $(,)?) => {
        /// The kind of a step.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind {
            $(#[$about] $name,)*
        }

        impl Kind {
            const ALL: &[(Kind, &str)] = &[$((Kind::$name, $word),)*];
        }
    };
}

kinds! {
    /// A thread begins. About the thread.
    Start "starts",
    /// A thread ends. About the thread.
    Exit "ends",
    /// A thread is created. About the new thread.
    Create "creates a thread",
    /// A thread has ended, and another waited for it. About the thread that ended.
    Join "joins",
    /// An atomic load.
    Load "loads",
    /// An atomic store.
    Store "stores",
    /// An atomic operation that reads and may write.
    Update "updates",
    /// A fence. About nothing.
    Fence "fences",
    /// An unsynchronized read.
    Read "reads",
    /// An unsynchronized write.
    Write "writes",
    /// A lock is taken. Disabled while it is held.
    Lock "locks",
    /// A lock is taken if it is free.
    TryLock "tries to lock",
    /// A lock is released.
    Unlock "unlocks",
    /// A lock is taken in shared mode.
    Share "locks shared",
    /// The same if no thread holds it exclusively.
    TryShare "tries to lock shared",
    /// A thread begins to wait to be woken.
    Wait "waits",
    /// Some waiting threads are woken.
    Wake "wakes",
    /// A woken thread continues. Disabled before.
    Woken "goes on",
    /// A semaphore is decremented. Disabled while it is zero.
    Take "takes",
    /// A semaphore is decremented if it is not zero.
    TryTake "tries to take",
    /// A semaphore is incremented.
    Post "posts",
    /// A thread yields. About nothing.
    Yield "yields",
    /// A thread sleeps. About nothing.
    Sleep "sleeps",
    /// A thread waits for external input, or does input or output. About the outside, or nothing if for a signal.
    Outside "waits for input",
    /// A recorded operation is called. About nothing.
    Call "calls",
    /// A recorded operation returns. About nothing.
    Return "returns",
    /// A thread is joined if it has ended. About that thread.
    TryJoin "tries to join",
    /// All threads of a harness begin together. About the gate.
    Gate "waits at the gate",
    /// A clock is read, which lets time pass. About [`CLOCK`].
    Clock "reads a clock",
    /// A deadline is computed from the reading of a clock. About [`CLOCK`].
    Deadline "computes a deadline",
}

impl Kind {
    /// The kind with this number.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).map(|(kind, _)| *kind)
    }

    /// The action of the thread, as a verb.
    pub fn word(self) -> &'static str {
        Kind::ALL[self as usize].1
    }

    /// The non-blocking variant of this kind.
    pub fn tried(self) -> Kind {
        match self {
            Kind::Lock => Kind::TryLock,
            Kind::Share => Kind::TryShare,
            Kind::Take => Kind::TryTake,
            Kind::Join => Kind::TryJoin,
            other => other,
        }
    }

    /// True if it cannot change its object, so two of these may change places.
    pub fn only_reads(self) -> bool {
        matches!(self, Kind::Load | Kind::Read | Kind::Deadline)
    }
}

/// The memory order of an atomic operation: the numbers that compilers pass to ThreadSanitizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MemoryOrder {
    /// `memory_order_relaxed`.
    Relaxed,
    /// `memory_order_consume`, which is treated as acquire.
    Consume,
    /// `memory_order_acquire`.
    Acquire,
    /// `memory_order_release`.
    Release,
    /// `memory_order_acq_rel`.
    AcquireRelease,
    /// `memory_order_seq_cst`.
    SequentiallyConsistent,
}

impl MemoryOrder {
    /// The order with this number. Compilers pass no others; an unknown number is taken as the strongest.
    pub fn from_number(number: u8) -> MemoryOrder {
        use MemoryOrder::*;
        [Relaxed, Consume, Acquire, Release, AcquireRelease]
            .get(usize::from(number))
            .copied()
            .unwrap_or(SequentiallyConsistent)
    }

    /// True if it sees earlier releases.
    pub fn acquires(self) -> bool {
        !matches!(self, MemoryOrder::Relaxed | MemoryOrder::Release)
    }

    /// True if earlier writes become visible to other threads.
    pub fn releases(self) -> bool {
        matches!(self, MemoryOrder::Release | MemoryOrder::AcquireRelease | MemoryOrder::SequentiallyConsistent)
    }
}

/// The object of steps that create, start, end and join a thread. No program has such addresses.
pub fn thread_object(thread: u8) -> u64 {
    0xffff_ffff_ffff_0000 + u64::from(thread) * 8
}

/// The object of steps that read a clock. All clocks are one object, because time passes for all of them at once. No
/// program has this address.
pub const CLOCK: u64 = 0xffff_ffff_fffe_0000;

/// The threads of a set, the lowest first.
pub fn members(mut set: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let first = set.trailing_zeros() as u8;
        (set != 0).then(|| {
            set &= set - 1;
            first
        })
    })
}

/// True if the order of two steps of different threads can make a difference.
///
/// For a history it matters which operations overlap, so a return and a call of different threads depend on each
/// other. Two calls, or two returns, do not: an operation starts before another ends either way. Omitting this would
/// merge executions whose histories differ (Flanagan and Godefroid's reduction preserves final states, not
/// histories).
pub fn dependent(a: &Step, b: &Step) -> bool {
    let (Some(first), Some(second)) = (a.kind(), b.kind()) else { return true };
    match (first, second) {
        (Kind::Call, Kind::Return) | (Kind::Return, Kind::Call) => true,
        // They pass the gate together, in any order.
        (Kind::Gate, Kind::Gate) => false,
        _ => overlap(a, b) && !(first.only_reads() && second.only_reads()),
    }
}

/// True if two dependent steps could both be enabled at one moment. A lock is free, or some thread can release it.
pub fn may_be_enabled_together(a: &Step, b: &Step) -> bool {
    let (Some(first), Some(second)) = (a.kind(), b.kind()) else { return true };
    let one_before_the_other = |before: Kind, after: &[Kind]| {
        (first == before && after.contains(&second)) || (second == before && after.contains(&first))
    };
    !(one_before_the_other(Kind::Create, &[Kind::Start, Kind::Exit, Kind::Join])
        || one_before_the_other(Kind::Start, &[Kind::Exit, Kind::Join])
        || one_before_the_other(Kind::Exit, &[Kind::Join])
        || one_before_the_other(Kind::Unlock, &[Kind::Lock]))
}

/// True if they access some of the same bytes.
fn overlap(a: &Step, b: &Step) -> bool {
    // The largest size includes all larger ones.
    let length = |step: &Step| if step.size == u8::MAX { 1 << 32 } else { u64::from(step.size.max(1)) };
    let end = |step: &Step| step.address.saturating_add(length(step));
    a.address != 0 && b.address != 0 && a.address < end(b) && b.address < end(a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: Kind, address: u64, size: u8) -> Step {
        Step { kind: kind as u8, address, size, ..Step::default() }
    }

    #[test]
    fn numbers_and_kinds_agree() {
        for (number, (kind, _)) in Kind::ALL.iter().enumerate() {
            assert_eq!(Kind::from_number(number as u8), Some(*kind));
            assert_eq!(*kind as usize, number);
        }
        assert_eq!(Kind::from_number(Kind::ALL.len() as u8), None);
    }

    #[test]
    fn dependencies() {
        let check = |a, b| {
            assert_eq!(dependent(&a, &b), dependent(&b, &a));
            dependent(&a, &b)
        };
        assert!(check(step(Kind::Load, 8, 4), step(Kind::Store, 8, 4)));
        assert!(!check(step(Kind::Load, 8, 4), step(Kind::Load, 8, 4)));
        assert!(!check(step(Kind::Store, 8, 4), step(Kind::Store, 12, 4)));
        assert!(check(step(Kind::Store, 8, 8), step(Kind::Load, 12, 4)));
        assert!(!check(step(Kind::Fence, 0, 0), step(Kind::Store, 8, 4)));
        assert!(check(step(Kind::Call, 0, 0), step(Kind::Return, 0, 0)));
        assert!(!check(step(Kind::Call, 0, 0), step(Kind::Call, 0, 0)));
        assert!(!check(step(Kind::Return, 0, 0), step(Kind::Return, 0, 0)));
        assert!(!check(step(Kind::Gate, 8, 4), step(Kind::Gate, 8, 4)));
        assert!(check(step(Kind::Clock, CLOCK, 8), step(Kind::Clock, CLOCK, 8)));
        assert!(check(step(Kind::Clock, CLOCK, 8), step(Kind::Deadline, CLOCK, 8)));
        assert!(!check(step(Kind::Deadline, CLOCK, 8), step(Kind::Deadline, CLOCK, 8)));
        assert!(!check(step(Kind::Clock, CLOCK, 8), step(Kind::Exit, thread_object(0), 8)));
    }

    #[test]
    fn steps_enabled_together() {
        let check = |a, b| may_be_enabled_together(&step(a, 8, 8), &step(b, 8, 8));
        assert!(check(Kind::Lock, Kind::Lock));
        assert!(!check(Kind::Lock, Kind::Unlock));
        assert!(check(Kind::TryLock, Kind::Unlock));
        assert!(!check(Kind::Exit, Kind::Join));
    }
}
