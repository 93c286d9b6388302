//! The file that the driver reads: where the program writes down what happens.
//!
//! It is mapped and shared, so that what is written is there however the process ends, and nothing is copied.

use std::cell::Cell;
use std::ffi::CString;

use schedule::channel::{EXECUTION, End, MAGIC, OUTCOME_AT, Outcome, PENDING_AT, Pending, STEPS_AT, Settings};
use schedule::{Decision, Step, THREADS};

/// The mapped file, while there is one.
pub(crate) struct Channel {
    start: Cell<*mut u8>,
    settings: Cell<Settings>,
}

// SAFETY: it is set before there is a second thread, and what it leads to is touched by the thread that has the baton.
unsafe impl Sync for Channel {}

pub(crate) static CHANNEL: Channel = Channel {
    start: Cell::new(std::ptr::null_mut()),
    // SAFETY: numbers, for which zeros are values.
    settings: Cell::new(unsafe { std::mem::zeroed() }),
};

impl Channel {
    /// Maps the file in this directory. What is wrong with it, if something is.
    pub(crate) fn open(&self, directory: &str) -> Result<(), String> {
        let path = CString::new(format!("{directory}/{EXECUTION}")).map_err(|error| error.to_string())?;
        let wrong = |what: &str| format!("{}: {what}: {}", path.to_string_lossy(), std::io::Error::last_os_error());
        // SAFETY: the path ends with a zero.
        let file = unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        if file < 0 {
            return Err(wrong("cannot be opened"));
        }
        let mut settings = Settings::default();
        // SAFETY: settings are numbers, of which any may be read from a file.
        let read = unsafe { libc::pread(file, (&raw mut settings).cast(), size_of::<Settings>(), 0) };
        if read != size_of::<Settings>() as isize || settings.magic != MAGIC {
            return Err(format!("{}: it is of another version", path.to_string_lossy()));
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping somewhere; that the file is long enough is checked by whoever made it.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), settings.length(), protection, libc::MAP_SHARED, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(wrong("cannot be mapped"));
        }
        // SAFETY: it is ours, and the mapping stays.
        unsafe { libc::close(file) };
        self.start.set(start.cast());
        self.settings.set(settings);
        Ok(())
    }

    /// Reads what is asked for next, and forgets what came of what was asked before.
    pub(crate) fn begin(&self) -> Settings {
        // SAFETY: settings stand at the beginning of the mapping.
        let settings = unsafe { self.start.get().cast::<Settings>().read() };
        self.settings.set(settings);
        *self.outcome() = Outcome::default();
        for thread in 0..THREADS {
            *self.pending(thread) = bytemuck_zeroed();
        }
        settings
    }

    /// What was asked for.
    pub(crate) fn settings(&self) -> Settings {
        self.settings.get()
    }

    /// What has come of it so far.
    #[allow(clippy::mut_from_ref, reason = "the mapping is not part of what is borrowed, and one thread has the baton")]
    pub(crate) fn outcome(&self) -> &mut Outcome {
        // SAFETY: it stands there, aligned, and only the thread with the baton touches it, for no longer than a line.
        unsafe { &mut *self.start.get().add(OUTCOME_AT).cast() }
    }

    /// What a thread is about to do, for the driver.
    #[allow(clippy::mut_from_ref, reason = "as above")]
    pub(crate) fn pending(&self, thread: usize) -> &mut Pending {
        assert!(thread < THREADS);
        // SAFETY: as above; there is one for each thread.
        unsafe { &mut *self.start.get().add(PENDING_AT).cast::<Pending>().add(thread) }
    }

    /// Writes down the next step.
    #[inline]
    pub(crate) fn add_step(&self, step: Step) {
        let outcome = self.outcome();
        if outcome.steps < self.settings.get().steps {
            // SAFETY: there is room for it.
            unsafe { self.step_at(outcome.steps).write(step) };
        }
        outcome.steps += 1;
    }

    /// Completes the last step.
    #[inline]
    pub(crate) fn complete_step(&self, value: u64, flags: u32) {
        let index = self.outcome().steps.wrapping_sub(1);
        if index < self.settings.get().steps {
            // SAFETY: it has been written.
            let step = unsafe { &mut *self.step_at(index) };
            step.value = value;
            step.flags |= flags;
        }
    }

    /// Changes what the last step is about.
    pub(crate) fn correct_step(&self, address: u64) {
        let index = self.outcome().steps.wrapping_sub(1);
        if index < self.settings.get().steps {
            // SAFETY: it has been written.
            unsafe { (*self.step_at(index)).address = address };
        }
    }

    /// Adds the last step, which nobody changes any more, to the fingerprint.
    #[inline]
    pub(crate) fn seal_step(&self) {
        let outcome = self.outcome();
        let index = outcome.steps.wrapping_sub(1);
        if index < self.settings.get().steps {
            // SAFETY: it has been written.
            let step = unsafe { self.step_at(index).read() };
            let words = [step.address, step.value, step.place, u64::from(step.kind) << 8 | u64::from(step.thread)];
            for word in words {
                outcome.digest = (outcome.digest ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
            }
        }
    }

    fn step_at(&self, index: u64) -> *mut Step {
        // SAFETY: the caller has compared it with how many there is room for.
        unsafe { self.start.get().add(STEPS_AT).cast::<Step>().add(index as usize) }
    }

    /// Writes down a decision.
    #[inline]
    pub(crate) fn add_decision(&self, decision: Decision) {
        let (outcome, settings) = (self.outcome(), self.settings.get());
        if outcome.decisions < settings.decisions {
            // SAFETY: there is room for it.
            unsafe {
                let decisions = self.start.get().add(settings.decisions_at()).cast::<Decision>();
                decisions.add(outcome.decisions as usize).write(decision);
            }
        }
        outcome.decisions += 1;
    }

    /// A decision to be followed.
    pub(crate) fn to_follow(&self, index: u64) -> Option<Decision> {
        let settings = self.settings.get();
        (index < settings.follow.min(settings.decisions)).then(|| {
            // SAFETY: the driver wrote so many.
            unsafe { self.start.get().add(settings.follow_at()).cast::<Decision>().add(index as usize).read() }
        })
    }

    /// Says how it ended.
    pub(crate) fn end(&self, end: End) {
        self.outcome().end = end as u32;
    }
}

fn bytemuck_zeroed() -> Pending {
    // SAFETY: numbers, for which zeros are values.
    unsafe { std::mem::zeroed() }
}
