//! A machine that executes small programs as the runtime does: it follows decisions and then the steady policy, lets
//! threads sleep, and records steps, decisions and pending steps.

use omnilink_explore::{Ending, Execution, ExecutionOrder};
use omnilink_schedule::channel::{FRAMES, Pending, Standing};
use omnilink_schedule::{Choice, Decision, Kind, Step, dependent, thread_object};

/// An operation. Each thread has one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    /// Reads a variable into the register.
    Load(u8),
    /// Writes a function of the register into a variable.
    Store(u8),
    /// Reads a variable into the register and changes it.
    Update(u8),
    Lock(u8),
    /// The register holds whether it was taken.
    TryLock(u8),
    /// Takes a lock in shared mode.
    Share(u8),
    /// Nothing happens if the thread does not hold it.
    Unlock(u8),
    Take(u8),
    Post(u8),
    Wait(u8),
    /// Can time out, but only when no thread is enabled.
    WaitAWhile(u8),
    /// Wakes one of the waiting threads.
    Wake(u8),
    Call,
    Return,
    Yield,
    /// Waits until all threads with a gate have reached it, at most once each.
    Gate,
    Create(u8),
    Join(u8),
    Start,
    Exit,
    /// Not a step: skips the next operation if the register is odd.
    SkipIfOdd,
    /// Not a step: the process crashes.
    Abort,
}

/// The operations of each thread.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) threads: Vec<Vec<Op>>,
    /// The process ends with the first thread.
    pub(crate) ends_with_first: bool,
}

impl Program {
    pub(crate) fn new(threads: &[&[Op]]) -> Program {
        Program { threads: threads.iter().map(|ops| ops.to_vec()).collect(), ends_with_first: false }
    }
}

#[derive(Debug, Clone, Default)]
struct Thread {
    next: usize,
    register: u64,
    has_locks: u64,
    shares_locks: u64,
    waits: bool,
    woken: bool,
    yielded: bool,
    absent: bool,
}

/// A state of a program.
#[derive(Debug, Clone)]
pub(crate) struct Machine<'a> {
    program: &'a Program,
    threads: Vec<Thread>,
    variables: [u64; 4],
    posted: [u64; 2],
    before: Option<u8>,
    aborted: bool,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program) -> Machine<'a> {
        let is_created = |thread: usize| program.threads.iter().flatten().any(|op| *op == Op::Create(thread as u8));
        let thread = |number| Thread { absent: is_created(number), ..Thread::default() };
        let threads = (0..program.threads.len()).map(thread).collect();
        let mut machine = Machine { program, threads, variables: [0; 4], posted: [0; 2], before: None, aborted: false };
        (0..program.threads.len()).for_each(|thread| machine.settle(thread));
        machine
    }

    /// The observable state.
    pub(crate) fn state(&self) -> String {
        let threads: Vec<_> =
            self.threads.iter().map(|thread| (thread.next, thread.register, thread.has_locks)).collect();
        format!("{:?} {threads:?}", self.variables)
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&self) -> Option<Ending> {
        if self.aborted {
            return Some(Ending::Crashed { how: "aborted".into(), said: String::new() });
        }
        let over = |thread: usize| self.threads[thread].absent || self.pending(thread).is_none();
        if (0..self.threads.len()).all(over) || self.program.ends_with_first && over(0) {
            return Some(Ending::Finished);
        }
        (self.choosable() == 0).then_some(Ending::Deadlock)
    }

    /// The next step of a thread.
    pub(crate) fn pending(&self, number: usize) -> Option<Step> {
        let thread = &self.threads[number];
        let step = |kind: Kind, address: u64| Step {
            kind: kind as u8,
            address,
            size: if address == 0 { 0 } else { 8 },
            thread: number as u8,
            ..Step::default()
        };
        let (variable, lock, condition, semaphore) = (0x100, 0x200, 0x300, 0x400);
        let at = |base: u64, number: u8| base + 8 * u64::from(number);
        let op = self.program.threads[number].get(thread.next)?;
        Some(match *op {
            Op::Load(x) => step(Kind::Load, at(variable, x)),
            Op::Store(x) => step(Kind::Store, at(variable, x)),
            Op::Update(x) => step(Kind::Update, at(variable, x)),
            Op::Lock(x) => step(Kind::Lock, at(lock, x)),
            Op::TryLock(x) => step(Kind::TryLock, at(lock, x)),
            Op::Share(x) => step(Kind::Share, at(lock, x)),
            Op::Unlock(x) => step(Kind::Unlock, at(lock, x)),
            Op::Take(x) => step(Kind::Take, at(semaphore, x)),
            Op::Post(x) => step(Kind::Post, at(semaphore, x)),
            Op::Gate => step(Kind::Gate, 0x500),
            Op::Wait(x) | Op::WaitAWhile(x) => {
                step(if thread.waits { Kind::Woken } else { Kind::Wait }, at(condition, x))
            }
            Op::Wake(x) => step(Kind::Wake, at(condition, x)),
            Op::Call => step(Kind::Call, 0),
            Op::Return => step(Kind::Return, 0),
            Op::Yield => step(Kind::Yield, 0),
            Op::Create(other) => step(Kind::Create, thread_object(other)),
            Op::Join(other) => step(Kind::Join, thread_object(other)),
            Op::Start => step(Kind::Start, thread_object(number as u8)),
            Op::Exit => step(Kind::Exit, thread_object(number as u8)),
            Op::SkipIfOdd | Op::Abort => return None,
        })
    }

    fn is_enabled(&self, number: usize) -> bool {
        let thread = &self.threads[number];
        match self.program.threads[number].get(thread.next) {
            None => false,
            Some(_) if thread.absent => false,
            Some(Op::Lock(lock)) => self.is_free(*lock),
            Some(Op::Share(lock)) => self.threads.iter().all(|thread| thread.has_locks >> lock & 1 == 0),
            Some(Op::Take(semaphore)) => self.posted[usize::from(*semaphore)] > 0,
            Some(Op::Wait(_) | Op::WaitAWhile(_)) => !thread.waits || thread.woken,
            Some(Op::Gate) => {
                self.threads.iter().zip(&self.program.threads).all(|(thread, ops)| {
                    ops.iter().position(|op| *op == Op::Gate).is_none_or(|gate| thread.next >= gate)
                })
            }
            Some(Op::Join(other)) => {
                !self.threads[usize::from(*other)].absent && self.pending(usize::from(*other)).is_none()
            }
            Some(_) => true,
        }
    }

    fn is_free(&self, lock: u8) -> bool {
        self.threads.iter().all(|thread| (thread.has_locks | thread.shares_locks) >> lock & 1 == 0)
    }

    fn is_limited(&self, number: usize) -> bool {
        let op = self.program.threads[number].get(self.threads[number].next);
        self.threads[number].waits && matches!(op, Some(Op::WaitAWhile(_)))
    }

    /// The threads that may take the next step: enabled and not yielding to others. If there is none, those that can
    /// time out.
    pub(crate) fn choosable(&self) -> u64 {
        let set = |test: &dyn Fn(usize) -> bool| {
            (0..self.threads.len()).filter(|&thread| test(thread)).fold(0, |set, thread| set | 1 << thread)
        };
        let eager = set(&|thread| self.is_enabled(thread) && !self.threads[thread].yielded);
        let able = set(&|thread| self.is_enabled(thread));
        [eager, able].into_iter().find(|&set| set != 0).unwrap_or_else(|| set(&|thread| self.is_limited(thread)))
    }

    /// The number of options in the next step of a thread.
    pub(crate) fn options(&self, number: usize) -> u8 {
        let thread = &self.threads[number];
        match self.program.threads[number][thread.next] {
            Op::Wake(condition) => self.waiting(condition).len().max(1) as u8,
            _ => 1,
        }
    }

    fn waiting(&self, condition: u8) -> Vec<usize> {
        let waits = |&thread: &usize| {
            let op = self.program.threads[thread].get(self.threads[thread].next);
            self.threads[thread].waits
                && !self.threads[thread].woken
                && matches!(op, Some(Op::Wait(on) | Op::WaitAWhile(on)) if *on == condition)
        };
        (0..self.threads.len()).filter(waits).collect()
    }

    /// Takes the next step of a thread, with this option.
    pub(crate) fn step(&mut self, number: usize, option: u8) -> Step {
        let mut step = self.pending(number).expect("only enabled threads are chosen");
        step.enabled = self.choosable();
        if self.before.is_none_or(|before| step.enabled >> before & 1 == 0) {
            step.flags |= Step::FREE;
        }
        if !self.is_enabled(number) {
            step.flags |= Step::TIMED_OUT;
        }
        let is_held_back = |thread: usize| self.is_enabled(thread) && step.enabled >> thread & 1 == 0;
        if (0..self.threads.len()).any(is_held_back) {
            step.flags |= Step::HELD_BACK;
        }
        let op = self.program.threads[number][self.threads[number].next];
        let mut stays = false;
        match op {
            Op::Load(x) => self.threads[number].register = self.variables[usize::from(x)],
            Op::Store(x) => self.variables[usize::from(x)] = changed(self.threads[number].register, number),
            Op::Update(x) => {
                self.threads[number].register = self.variables[usize::from(x)];
                self.variables[usize::from(x)] = changed(self.threads[number].register, number);
            }
            Op::Lock(lock) => self.threads[number].has_locks |= 1 << lock,
            Op::TryLock(lock) => {
                let taken = self.is_free(lock);
                self.threads[number].register = u64::from(taken);
                self.threads[number].has_locks |= u64::from(taken) << lock;
            }
            Op::Share(lock) => self.threads[number].shares_locks |= 1 << lock,
            Op::Unlock(lock) => {
                self.threads[number].has_locks &= !(1 << lock);
                self.threads[number].shares_locks &= !(1 << lock);
            }
            Op::Take(semaphore) => self.posted[usize::from(semaphore)] -= 1,
            Op::Post(semaphore) => self.posted[usize::from(semaphore)] += 1,
            Op::Wait(_) | Op::WaitAWhile(_) if self.threads[number].waits => {
                (self.threads[number].waits, self.threads[number].woken) = (false, false);
            }
            Op::Wait(_) | Op::WaitAWhile(_) => (self.threads[number].waits, stays) = (true, true),
            Op::Wake(condition) => {
                if let Some(&woken) = self.waiting(condition).get(usize::from(option)) {
                    self.threads[woken].woken = true;
                    step.value = woken as u64 + 1;
                }
            }
            Op::Create(other) => self.threads[usize::from(other)].absent = false,
            _ => {}
        }
        if matches!(op, Op::Load(_) | Op::Update(_) | Op::TryLock(_)) {
            step.value = self.threads[number].register;
        }
        self.threads.iter_mut().for_each(|thread| thread.yielded = false);
        self.threads[number].yielded = op == Op::Yield;
        self.threads[number].next += usize::from(!stays);
        self.before = Some(number as u8);
        self.settle(number);
        step
    }

    /// Performs the operations that are not steps.
    fn settle(&mut self, number: usize) {
        let thread = &mut self.threads[number];
        loop {
            match self.program.threads[number].get(thread.next) {
                Some(Op::SkipIfOdd) => thread.next += 1 + (thread.register % 2) as usize,
                Some(Op::Unlock(lock)) if (thread.has_locks | thread.shares_locks) >> lock & 1 == 0 => {
                    thread.next += 1;
                }
                Some(Op::Abort) => {
                    self.aborted = true;
                    return;
                }
                _ => return,
            }
        }
    }
}

fn changed(register: u64, thread: usize) -> u64 {
    register.wrapping_mul(3).wrapping_add(1 + thread as u64)
}

/// Follows the order's decisions, then the steady policy. Also returns the observable state at the end.
pub(crate) fn execute(program: &Program, order: &ExecutionOrder) -> (Execution, String) {
    let mut machine = Machine::new(program);
    let (mut steps, mut decisions): (Vec<Step>, Vec<Decision>) = Default::default();
    let mut sleep = 0;
    let ended = loop {
        if let Some(ended) = machine.ended() {
            break ended;
        }
        let choosable = machine.choosable();
        let thread = match order.follow.get(decisions.len()) {
            Some(decision) if decision.choice() != Some(Choice::Thread) => break Ending::Diverged,
            Some(decision) if choosable >> decision.chosen & 1 == 0 => break Ending::Diverged,
            Some(decision) => decision.chosen,
            None if choosable & !sleep == 0 => break Ending::Asleep,
            None => match machine.before {
                Some(before) if (choosable & !sleep) >> before & 1 == 1 => before,
                _ => (choosable & !sleep).trailing_zeros() as u8,
            },
        };
        let was_following = decisions.len() < order.follow.len();
        decisions.push(Decision::thread(thread));
        let options = machine.options(usize::from(thread));
        let mut option = 0;
        if options > 1 {
            option = order.follow.get(decisions.len()).map_or(0, |decision| decision.chosen);
            decisions.push(Decision::one_of(Choice::Wake, option, options));
        }
        if was_following && decisions.len() >= order.follow.len() {
            sleep = order.sleep;
        }
        let asleep: Vec<Step> = (0..machine.threads.len()).filter_map(|thread| machine.pending(thread)).collect();
        let step = machine.step(usize::from(thread), option);
        for other in asleep.iter().filter(|other| other.thread != thread && dependent(other, &step)) {
            sleep &= !other.threads();
        }
        assert!(sleep >> thread & 1 == 0, "a sleeping thread took a step");
        steps.push(step);
    };
    let pending = (0..machine.threads.len()).map(|thread| {
        let standing = match machine.pending(thread) {
            _ if machine.threads[thread].absent => Standing::Absent,
            None => Standing::Ended,
            Some(_) => Standing::Alive,
        };
        let enabled = u64::from(machine.is_enabled(thread));
        let step = Step { enabled, ..machine.pending(thread).unwrap_or_default() };
        Pending { step, standing: standing as u32, depth: 0, stack: [0; FRAMES] }
    });
    let pending = pending.collect();
    (Execution { ended, steps, decisions, pending, digest: 0, base: 0 }, machine.state())
}
