//! The file that the driver reads, in which the program records its execution.
//!
//! The file is mapped and shared, so its contents survive however the process ends, and nothing is copied.

use std::cell::Cell;
use std::ffi::CString;

use omnilink_schedule::channel::{
    EXECUTION, End, ExecutionOutcome, MAGIC, OUTCOME_AT, PENDING_AT, Pending, RacingAccess, STEPS_AT, Settings,
};
use omnilink_schedule::{Decision, Kind, Step, THREADS};

use crate::races::Access;
use crate::stack::Frames;

/// The mapped file, while there is one.
pub(crate) struct Channel {
    start: Cell<*mut u8>,
    settings: Cell<Settings>,
}

// SAFETY: set before there is a second thread; its memory is accessed by the thread that has the baton.
unsafe impl Sync for Channel {}

pub(crate) static CHANNEL: Channel = Channel {
    start: Cell::new(std::ptr::null_mut()),
    // SAFETY: integers, for which zeros are valid.
    settings: Cell::new(unsafe { std::mem::zeroed() }),
};

impl Channel {
    /// Maps the file in this directory. Returns what is wrong with it otherwise.
    pub(crate) fn open(&self, directory: &str) -> Result<(), String> {
        let path = CString::new(format!("{directory}/{EXECUTION}")).map_err(|error| error.to_string())?;
        let wrong = |what: &str| format!("{}: {what}: {}", path.to_string_lossy(), std::io::Error::last_os_error());
        // SAFETY: the path ends with a zero.
        let file = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        if file < 0 {
            return Err(wrong("cannot open it"));
        }
        let mut settings = Settings::default();
        // SAFETY: settings are integers, for which any bytes are valid.
        let read = unsafe { libc::pread(file, (&raw mut settings).cast(), size_of::<Settings>(), 0) };
        if read != size_of::<Settings>() as isize || settings.magic != MAGIC {
            return Err(format!("{}: unsupported version", path.to_string_lossy()));
        }
        // SAFETY: zeros are valid, and it is filled.
        let length = unsafe {
            let mut about: libc::stat = std::mem::zeroed();
            if libc::fstat(file, &raw mut about) == 0 { about.st_size as u64 } else { 0 }
        };
        if !fits(&settings, length) {
            return Err(format!("{}: too short for its settings", path.to_string_lossy()));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at any address, of a file that is as long.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), settings.length(), protection, libc::MAP_SHARED, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(wrong("cannot map it"));
        }
        // SAFETY: the descriptor is ours, and the mapping stays.
        unsafe { libc::close(file) };
        self.start.set(start.cast());
        self.settings.set(settings);
        Ok(())
    }

    /// Reads the next order, and clears the previous outcome. Capacities were fixed when the file was mapped.
    pub(crate) fn begin(&self) -> Settings {
        let Settings { steps, decisions, .. } = self.settings.get();
        // SAFETY: settings are at the start of the mapping.
        let settings = Settings { steps, decisions, ..unsafe { self.start.get().cast::<Settings>().read() } };
        self.settings.set(settings);
        // SAFETY: both are there, aligned; integers, for which zeros are valid.
        unsafe {
            self.outcome_at().write(ExecutionOutcome::default());
            self.start.get().add(PENDING_AT).write_bytes(0, THREADS * size_of::<Pending>());
        }
        settings
    }

    /// The current order.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.get()
    }

    /// The address of the outcome. No reference to it is ever created: the driver reads it too, and a signal handler
    /// may write to it while the thread it interrupts does.
    #[inline]
    fn outcome_at(&self) -> *mut ExecutionOutcome {
        self.start.get().wrapping_add(OUTCOME_AT).cast()
    }

    /// The outcome so far.
    #[inline]
    pub(crate) fn outcome(&self) -> ExecutionOutcome {
        // SAFETY: it is there, aligned; any bytes are valid.
        unsafe { self.outcome_at().read() }
    }

    /// Sets flags of the outcome.
    pub(crate) fn add_flags(&self, flags: u32) {
        // SAFETY: as above.
        unsafe { (*self.outcome_at()).flags |= flags };
    }

    /// Clears flags of the outcome.
    pub(crate) fn remove_flags(&self, flags: u32) {
        // SAFETY: as above.
        unsafe { (*self.outcome_at()).flags &= !flags };
    }

    /// Sets the program's load address; there is one thread.
    pub(crate) fn set_base(&self, base: u64) {
        // SAFETY: as above.
        unsafe { ((*self.outcome_at()).base, (*self.outcome_at()).threads) = (base, 1) };
    }

    /// Counts a new thread.
    pub(crate) fn add_thread(&self) {
        // SAFETY: as above.
        unsafe { (*self.outcome_at()).threads += 1 };
    }

    /// Records how the process ended.
    pub(crate) fn set_status(&self, status: u32) {
        // SAFETY: as above.
        unsafe { (*self.outcome_at()).status = status };
    }

    /// Records the signal that ended it.
    pub(crate) fn set_signal(&self, signal: u32) {
        // SAFETY: as above.
        unsafe { (*self.outcome_at()).signal = signal };
    }

    /// Records the time, and the thread that ran last.
    pub(crate) fn set_last(&self, now: u64, last: u32) {
        // SAFETY: as above.
        unsafe { ((*self.outcome_at()).now, (*self.outcome_at()).last) = (now, last) };
    }

    fn pending_at(&self, thread: usize) -> *mut Pending {
        assert!(thread < THREADS);
        self.start.get().wrapping_add(PENDING_AT).cast::<Pending>().wrapping_add(thread)
    }

    /// Records a thread's next step.
    pub(crate) fn set_pending(&self, thread: usize, step: Step, standing: u32) {
        // SAFETY: as above; there is one for each thread.
        unsafe { ((*self.pending_at(thread)).step, (*self.pending_at(thread)).standing) = (step, standing) };
    }

    /// Records a thread's stack.
    pub(crate) fn set_stack(&self, thread: usize, frames: Frames) {
        // SAFETY: as above; there is one for each thread.
        unsafe { ((*self.pending_at(thread)).stack, (*self.pending_at(thread)).depth) = frames };
    }

    /// Appends a step.
    #[inline]
    pub(crate) fn add_step(&self, step: Step) {
        let steps = self.outcome().steps;
        if steps < self.settings.get().steps {
            // SAFETY: there is space for it.
            unsafe { self.step_at(steps).write(step) };
        }
        // SAFETY: it is there, aligned.
        unsafe { (*self.outcome_at()).steps = steps + 1 };
    }

    /// Completes the last step.
    #[inline]
    pub(crate) fn complete_step(&self, value: u64, flags: u32) {
        let index = self.outcome().steps.wrapping_sub(1);
        if index < self.settings.get().steps {
            let step = self.step_at(index);
            // SAFETY: it has been written.
            unsafe {
                (*step).value = value;
                (*step).flags |= flags;
            }
        }
    }

    /// Changes the object of the last step.
    pub(crate) fn correct_step(&self, address: u64) {
        let index = self.outcome().steps.wrapping_sub(1);
        if index < self.settings.get().steps {
            // SAFETY: it has been written.
            unsafe { (*self.step_at(index)).address = address };
        }
    }

    /// Adds the last step, which is final, to the fingerprint.
    #[inline]
    pub(crate) fn seal_step(&self) {
        let ExecutionOutcome { steps, mut digest, .. } = self.outcome();
        let index = steps.wrapping_sub(1);
        if index < self.settings.get().steps {
            // SAFETY: it has been written.
            let step = unsafe { self.step_at(index).read() };
            // Unsynchronized reads are those of the whole program, and see texts that differ: the path of its trace.
            let value = if step.kind() == Some(Kind::Read) { 0 } else { step.value };
            let words = [step.address, value, step.place, u64::from(step.kind) << 8 | u64::from(step.thread)];
            for word in words {
                digest = (digest ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            }
            // SAFETY: it is there, aligned.
            unsafe { (*self.outcome_at()).digest = digest };
        }
    }

    fn step_at(&self, index: u64) -> *mut Step {
        // SAFETY: the caller has compared it with the capacity.
        unsafe { self.start.get().add(STEPS_AT).cast::<Step>().add(index as usize) }
    }

    /// Appends a decision.
    #[inline]
    pub(crate) fn add_decision(&self, decision: Decision) {
        let (made, settings) = (self.outcome().decisions, self.settings.get());
        if made < settings.decisions {
            // SAFETY: there is space for it.
            unsafe {
                let decisions = self.start.get().add(settings.decisions_at()).cast::<Decision>();
                decisions.add(made as usize).write(decision);
            }
        }
        // SAFETY: it is there, aligned.
        unsafe { (*self.outcome_at()).decisions = made + 1 };
    }

    /// A decision to follow.
    pub(crate) fn to_follow(&self, index: u64) -> Option<Decision> {
        let settings = self.settings.get();
        (index < settings.follow.min(settings.decisions)).then(|| {
            // SAFETY: the driver wrote at least that many.
            unsafe { self.start.get().add(settings.follow_at()).cast::<Decision>().add(index as usize).read() }
        })
    }

    /// Records a data race, the earlier access first.
    pub(crate) fn set_race(&self, accesses: [Access; 2]) {
        for (which, access) in accesses.into_iter().enumerate() {
            // SAFETY: it is there, aligned.
            let race = unsafe { &mut (*self.outcome_at()).race[which] };
            *race = RacingAccess {
                place: access.place,
                number: access.number,
                thread: access.thread.into(),
                writes: if access.frees { RacingAccess::FREES } else { access.writes.into() },
                is_atomic: access.is_atomic.into(),
                ..*race
            };
        }
        self.add_flags(ExecutionOutcome::RACED);
    }

    /// Records the stack of an access of a data race.
    pub(crate) fn set_race_stack(&self, which: usize, (stack, depth): Frames) {
        let steps = self.outcome().steps;
        // SAFETY: it is there, aligned.
        let race = unsafe { &mut (*self.outcome_at()).race[which] };
        *race = RacingAccess { stack, depth, steps, ..*race };
    }

    /// Records how the execution ended.
    pub(crate) fn end(&self, end: End) {
        // SAFETY: it is there, aligned.
        unsafe { (*self.outcome_at()).end = end as u32 };
    }
}

/// Whether a file of this length has the capacity that its settings claim.
fn fits(settings: &Settings, length: u64) -> bool {
    // Larger counts are not possible, and would overflow.
    let is_possible = |count: u64| count < 1 << 40;
    is_possible(settings.steps) && is_possible(settings.decisions) && settings.length() as u64 <= length
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_must_have_the_capacity_it_claims() {
        let settings = Settings { steps: 10, decisions: 20, ..Settings::default() };
        let length = settings.length() as u64;
        assert!(fits(&settings, length) && !fits(&settings, length - 1));
        assert!(!fits(&Settings { steps: u64::MAX, ..settings }, u64::MAX));
        assert!(!fits(&Settings { decisions: u64::MAX / 4, ..settings }, u64::MAX));
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri does not map files")]
    fn capacities_stay_when_the_file_changes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(EXECUTION);
        let settings = Settings { magic: MAGIC, steps: 10, decisions: 20, seed: 1, ..Settings::default() };
        let mut bytes = bytemuck::bytes_of(&settings).to_vec();
        bytes.resize(settings.length(), 0);
        std::fs::write(&path, bytes).unwrap();
        let channel = Channel { start: Cell::new(std::ptr::null_mut()), settings: Cell::new(Settings::default()) };
        channel.open(directory.path().to_str().unwrap()).unwrap();
        let other = Settings { steps: 1 << 50, decisions: 1 << 50, follow: 1 << 50, seed: 2, ..settings };
        OpenOptions::new().write(true).open(&path).unwrap().write_all(bytemuck::bytes_of(&other)).unwrap();
        let begun = channel.begin();
        assert_eq!((begun.steps, begun.decisions, begun.seed), (10, 20, 2));
        assert_eq!(channel.to_follow(20), None);
        (0..30).for_each(|_| channel.add_step(Step::default()));
        assert_eq!(channel.outcome().steps, 30);
    }
}
