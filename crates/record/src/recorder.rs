//! Recorders, their processes, and calls that have not returned yet.
//!
//! A call is published before it is made. Its outcome is published when it returns; dropping a [`Pending`] publishes
//! nothing more, and the call is unfinished. No call may follow an unfinished one in the same process of a trace, so
//! the next one goes to a new segment, whose process has the same name with `+1`, `+2`, and so on.
//!
//! Invariants: times of one process never decrease from the end of one call to the start of the next, and every
//! number of an action is defined in the segment before it is used there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::{Clock, Settling};
use crate::encode::{zigzag, Encode, Encoder, List, Values};
use crate::segment::{Cursor, Segment};

/// Kinds of records.
mod kind {
    pub(super) const ACTION: u8 = 1;
    pub(super) const CALL: u8 = 3;
    pub(super) const RETURN: u8 = 4;
    pub(super) const FAIL: u8 = 5;
    pub(super) const META: u8 = 6;
    pub(super) const END: u8 = 7;
    pub(super) const OUTCOME: u8 = 8;
    pub(super) const UNKNOWN: u8 = 9;
}

/// The maximum length of a process name. Names in the format have at most 255 bytes; the rest is left for `+1` and so
/// on.
const MAX_NAME: usize = 240;

/// The maximum number of an action.
const MAX_ACTION: usize = 0xFFFF;

/// An action that can be called: a name, and the names of its arguments and results. A name may be empty if the
/// position is enough.
///
/// Actions are identified by their addresses, so each is a `static`.
#[derive(Debug)]
pub struct Action {
    name: &'static str,
    args: &'static [&'static str],
    results: &'static [&'static str],
}

impl Action {
    /// An action with these arguments and results.
    pub const fn new(name: &'static str, args: &'static [&'static str], results: &'static [&'static str]) -> Action {
        Action { name, args, results }
    }

    /// Its name.
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

/// The directory of a trace.
#[derive(Clone, Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
}

/// The data that all processes of a recorder need to begin a segment.
#[derive(Debug)]
struct Shared {
    directory: PathBuf,
    clock: Clock,
    names: Mutex<HashSet<String>>, // One for each segment.
    is_deleted: AtomicBool,        // A file was gone when its process ended, and no caller got an error.
}

impl Drop for Shared {
    /// Prints that the trace is gone, if no caller got an error.
    fn drop(&mut self) {
        if *self.is_deleted.get_mut() {
            let line =
                format!("omnilink: the trace in `{}` was deleted while it was written\n", self.directory.display());
            // There is no other place to report it.
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }
}

impl Recorder {
    /// Creates the directory and its manifest.
    ///
    /// # Errors
    ///
    /// If that fails, if a trace already exists there, or if `OMNILINK_CLOCK` selects an unavailable clock.
    pub fn create(directory: impl AsRef<Path>) -> io::Result<Recorder> {
        Recorder::with_clock(directory, Clock::system()?)
    }

    /// The same with a given clock.
    ///
    /// # Errors
    ///
    /// If the directory cannot be created, or a trace already exists there.
    pub fn with_clock(directory: impl AsRef<Path>, clock: impl Into<Clock>) -> io::Result<Recorder> {
        Recorder::with_meta(directory, clock, &[])
    }

    /// The same, with notes about the whole trace, which are written into the manifest.
    ///
    /// # Errors
    ///
    /// If the directory cannot be created, or a trace already exists there.
    pub fn with_meta(
        directory: impl AsRef<Path>,
        clock: impl Into<Clock>,
        meta: &[(&str, &str)],
    ) -> io::Result<Recorder> {
        let meta: Vec<(&str, String)> = meta.iter().map(|(key, text)| (*key, json_string(text))).collect();
        Recorder::with_manifest(directory.as_ref(), clock.into(), &meta)
    }

    /// The same, with notes in JSON.
    pub(crate) fn with_manifest(directory: &Path, clock: Clock, meta: &[(&str, String)]) -> io::Result<Recorder> {
        let at = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
        fs::create_dir_all(directory).map_err(at)?;
        let holds_segments = fs::read_dir(directory)
            .map_err(at)?
            .filter_map(Result::ok)
            .any(|entry| entry.path().extension().map_or(false, |extension| extension == "seg"));
        if holds_segments {
            let message = format!("`{}` already holds a trace; remove it, or record elsewhere", directory.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        fs::write(directory.join("manifest.json"), manifest(clock.unit(), meta)).map_err(at)?;
        let (names, is_deleted) = (Mutex::new(HashSet::new()), AtomicBool::new(false));
        Ok(Recorder { shared: Arc::new(Shared { directory: directory.to_owned(), clock, names, is_deleted }) })
    }

    /// A process of this name, with its own segment: `000.seg`, `001.seg`, and so on.
    ///
    /// # Errors
    ///
    /// If the segment cannot be created, or the name is taken or has more than 240 bytes.
    pub fn process(&self, name: &str) -> io::Result<Process> {
        if name.len() > MAX_NAME {
            let message = format!("the name of a process has {} bytes; at most {MAX_NAME} are allowed", name.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let segment = self
            .shared
            .segment(name)?
            .ok_or_else(|| io::Error::new(io::ErrorKind::AlreadyExists, format!("process `{name}` already exists")))?;
        Ok(Process {
            segment,
            clock: self.shared.clock.clone(),
            actions: Vec::with_capacity(16),
            time: Time(0),
            floor: 0,
            count: 0,
            is_open: false,
            is_close_checked: false,
            name: name.to_owned(),
            continued: 0,
            shared: self.shared.clone(),
        })
    }
}

impl Shared {
    /// The next segment, or `None` if this process already has one.
    fn segment(&self, process: &str) -> io::Result<Option<Segment>> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.contains(process) {
            return Ok(None);
        }
        let segment = Segment::create(self.directory.join(format!("{:03}.seg", names.len())), process)?;
        names.insert(process.to_owned());
        Ok(Some(segment))
    }
}

/// A client, thread or session that makes one call after the other. Belongs to one thread at a time.
///
/// Dropping it closes the segment.
#[derive(Debug)]
pub struct Process {
    segment: Segment,
    clock: Clock,
    actions: Vec<&'static Action>, // By number.
    time: Time,                    // The last one in the segment.
    floor: u64,                    // The end of the last call.
    count: u64,                    // Of calls in the segment.
    is_open: bool,
    is_close_checked: bool, // The caller gets an error if the file was deleted.
    name: String,
    continued: u32, // The number of earlier segments.
    shared: Arc<Shared>,
}

impl Process {
    /// Publishes that a call begins now, with these arguments.
    ///
    /// # Panics
    ///
    /// If the number of arguments is not that of the action, if a value cannot be recorded, or if the file cannot
    /// grow: the disk is full, or the file was deleted.
    #[inline]
    #[track_caller]
    pub fn call<A: Values>(&mut self, action: &'static Action, args: A) -> Pending<'_> {
        if self.is_open {
            self.roll_over();
        }
        let number = self.number(action);
        let mut body = self.segment.begin(); // If the file has to grow, it does so before the clock is read.
        let (early, settling) = self.clock.early();
        let (start, mut time) = (early.max(self.floor), self.time);
        body.tagged(kind::CALL, number);
        time.write(&mut body, start);
        let from = body.position();
        let written = List::of(&mut body, &args);
        if written != action.args.len() {
            wrong_count(action, "arguments", written, action.args.len());
        }
        let length = body.position() - from;
        body.publish();
        let to = self.segment.published(); // Not the position before: a long record moves when it is published.
        (self.time, self.is_open) = (time, true);
        self.count += 1;
        settling.settle(&self.clock);
        Pending { process: self, action, start, args: (to - length, to), is_refined: false, end: None }
    }

    /// The number of published bytes of the current segment.
    pub fn published(&self) -> usize {
        self.segment.published()
    }

    /// The file of the current segment.
    pub fn path(&self) -> &Path {
        self.segment.path()
    }

    /// A time before every later instruction.
    ///
    /// A counter may be read before earlier instructions complete, and so give a start that is before the end of the
    /// last call. Later instructions begin after both were read, so it is sound to take the later one.
    #[inline(always)]
    fn now(&self) -> u64 {
        self.clock.start().max(self.floor)
    }

    /// The number of an action in this segment; defines it there if it is new. No record may be under construction.
    #[inline(always)]
    fn number(&mut self, action: &'static Action) -> u64 {
        match self.actions.iter().position(|known| ptr::eq(*known, action)) {
            Some(number) => number as u64,
            None => self.define(action),
        }
    }

    #[cold]
    #[inline(never)]
    fn define(&mut self, action: &'static Action) -> u64 {
        let number = self.actions.len();
        assert!(number <= MAX_ACTION, "a process can call at most {} different actions", MAX_ACTION + 1);
        let mut body = self.segment.begin();
        body.tagged(kind::ACTION, number as u64);
        string(&mut body, action.name);
        for names in [action.args, action.results] {
            body.varint(names.len() as u64);
            names.iter().for_each(|name| string(&mut body, name));
        }
        body.publish();
        self.actions.push(action);
        number as u64
    }

    /// Continues as a new process, because the last call is unfinished.
    #[cold]
    #[inline(never)]
    fn roll_over(&mut self) {
        let segment = loop {
            self.continued += 1;
            let name = format!("{}+{}", self.name, self.continued);
            match self.shared.segment(&name) {
                Ok(Some(segment)) => break segment,
                Ok(None) => {} // The name is taken.
                Err(error) => panic!("process `{name}` cannot begin a segment: {error}"),
            }
        };
        self.end();
        self.segment = segment;
        self.begin_anew();
    }

    /// The segment has no records yet.
    fn begin_anew(&mut self) {
        self.actions.clear();
        (self.time, self.count, self.is_open) = (Time(0), 0, false);
    }

    /// Removes all calls, so that another execution can be recorded in their place. Time may begin anew.
    pub(crate) fn rewind(&mut self) {
        self.segment.rewind();
        self.floor = 0;
        self.begin_anew();
    }

    /// Publishes that nothing follows, as dropping the process does.
    ///
    /// # Errors
    ///
    /// If the file was deleted in the meantime.
    pub fn close(mut self) -> io::Result<()> {
        self.is_close_checked = true;
        match self.segment.is_deleted() {
            true => {
                let message = format!("`{}` was deleted while it was recorded", self.path().display());
                Err(io::Error::new(io::ErrorKind::NotFound, message))
            }
            false => Ok(()),
        }
    }

    /// Ends the segment. Never panics: it may be called while another panic unwinds.
    fn end(&mut self) {
        if self.segment.is_ours() {
            let mut body = self.segment.begin_last();
            body.tagged(kind::END, self.count);
            body.publish_last();
            if !self.is_close_checked && self.segment.is_deleted() {
                self.shared.is_deleted.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Drop for Process {
    /// Publishes that nothing follows.
    fn drop(&mut self) {
        self.end();
    }
}

/// A call that has begun. Dropping it leaves the call open: its outcome is unknown.
#[derive(Debug)]
#[must_use = "a call that is dropped has an unknown outcome"]
pub struct Pending<'a> {
    process: &'a mut Process,
    action: &'static Action,
    start: u64,
    args: (usize, usize), // The range of the published arguments in the segment.
    is_refined: bool,     // True if `start` differs from the published one.
    end: Option<u64>,
}

impl Pending<'_> {
    /// Marks that the call has done nothing so far, so it counts as begun now. Discards an earlier `refine_end`.
    pub fn refine_start(&mut self) {
        self.start = self.process.now();
        self.is_refined = true;
        self.end = None;
    }

    /// Marks that the call has taken effect by now, so it counts as ended now, whenever it returns. The last mark
    /// counts.
    pub fn refine_end(&mut self) {
        self.end = Some(self.process.clock.end());
    }

    /// Publishes a note about this call.
    pub fn meta(&mut self, key: &str, value: impl Encode) {
        let mut body = self.process.segment.begin();
        body.byte(kind::META);
        string(&mut body, key);
        value.encode(Encoder::new(&mut body));
        body.publish();
    }

    /// Publishes that the call returned with these results.
    ///
    /// # Panics
    ///
    /// If the number of results is not that of the action, if a value cannot be recorded, or if the file cannot grow.
    #[inline]
    #[track_caller]
    pub fn done<R: Values>(self, results: R) {
        let (end, _settling) = self.end();
        if self.is_refined {
            let number = self.process.number(self.action);
            self.outcome(number, end, results);
        } else {
            self.returned(end, results);
        }
    }

    /// Publishes that the call returned as this action with these arguments and results.
    ///
    /// # Panics
    ///
    /// As [`Pending::done`].
    #[track_caller]
    pub fn done_as<A: Values, R: Values>(self, action: &'static Action, args: A, results: R) {
        let (end, _settling) = self.end();
        let number = self.process.number(action);
        self.replace(number, action, end, &args, &results);
    }

    /// The same, in fewer bytes if only the results are new.
    pub(crate) fn done_as_or_same<A: Values, R: Values>(mut self, action: &'static Action, args: A, results: R) {
        let (end, _settling) = self.end();
        let number = self.process.number(action);
        if !self.is_refined && ptr::eq(action, self.action) && self.has_arguments(&args) {
            return self.returned(end, results);
        }
        self.replace(number, action, end, &args, &results);
    }

    /// True if these are the arguments that were published.
    fn has_arguments<A: Values>(&mut self, args: &A) -> bool {
        let mut body = self.process.segment.begin(); // Never published: for comparison only.
        let position = body.position();
        let written = List::of(&mut body, args);
        let (from, to) = self.args;
        written == self.action.args.len() && body.since_is_same(position, from, to)
    }

    /// Publishes that the call returned and had no effect.
    pub fn failed(self) {
        let (end, _settling) = self.end();
        let process = self.process;
        let mut body = process.segment.begin();
        body.byte(kind::FAIL);
        let mut time = process.time;
        time.write(&mut body, end);
        body.publish();
        process.finish(time);
    }

    /// Leaves the outcome of the call unknown: it timed out, or its connection broke. It may have taken effect, may
    /// yet do so at any time, or never. The same as dropping it.
    pub fn unknown(self) {}

    /// Publishes that the outcome of the call is unknown, but that it cannot take effect from now on: it was
    /// cancelled, its lease ran out, or the system was stopped. With [`Pending::refine_end`], from then on.
    pub fn unknown_by_now(self) {
        let (latest, _settling) = self.end();
        let process = self.process;
        let mut body = process.segment.begin();
        body.byte(kind::UNKNOWN);
        let mut time = process.time;
        time.write(&mut body, latest);
        body.publish();
        process.finish(time);
        process.is_open = true; // The call has no end, so nothing follows it in this process.
    }

    /// The end. If the start was raised and the thread runs on the processor that lags, the reading may be before it;
    /// an end that is too late is harmless.
    #[inline(always)]
    fn end(&self) -> (u64, Settling) {
        let (end, settling) = match self.end {
            Some(end) => (end, Settling::default()),
            None => self.process.clock.late(),
        };
        (end.max(self.start), settling)
    }

    #[inline(always)]
    #[track_caller]
    fn returned<R: Values>(self, end: u64, results: R) {
        let Pending { process, action, .. } = self;
        let mut body = process.segment.begin();
        body.byte(kind::RETURN);
        let mut time = process.time;
        time.write(&mut body, end);
        put_results(&mut body, action, &results);
        body.publish();
        process.finish(time);
    }

    /// Publishes an outcome with the arguments that the call had.
    #[cold]
    #[track_caller]
    fn outcome<R: Values>(self, number: u64, end: u64, results: R) {
        let Pending { process, action, start, args: (from, to), .. } = self;
        let mut body = process.segment.begin();
        body.tagged(kind::OUTCOME, number);
        let mut time = process.time;
        time.write(&mut body, start);
        time.write(&mut body, end);
        body.repeat(from, to);
        put_results(&mut body, action, &results);
        body.publish();
        process.finish(time);
    }

    /// Publishes an outcome with its own arguments.
    #[inline]
    #[track_caller]
    fn replace<A: Values, R: Values>(self, number: u64, action: &'static Action, end: u64, args: &A, results: &R) {
        let Pending { process, start, .. } = self;
        let mut body = process.segment.begin();
        body.tagged(kind::OUTCOME, number);
        let mut time = process.time;
        time.write(&mut body, start);
        time.write(&mut body, end);
        let written = List::of(&mut body, args);
        if written != action.args.len() {
            wrong_count(action, "arguments", written, action.args.len());
        }
        put_results(&mut body, action, results);
        body.publish();
        process.finish(time);
    }
}

impl Process {
    /// Continues after a call that ended at this time. Must come after the record has been published, so that a
    /// record that cannot be written changes nothing.
    #[inline(always)]
    fn finish(&mut self, end: Time) {
        self.is_open = false;
        self.time = end;
        self.floor = end.0;
    }
}

/// The last time that was written; the next one is encoded as a difference to it.
#[derive(Clone, Copy, Debug)]
struct Time(u64);

impl Time {
    #[inline(always)]
    fn write(&mut self, cursor: &mut Cursor, time: u64) {
        cursor.varint(zigzag(time.wrapping_sub(self.0) as i64));
        self.0 = time;
    }
}

#[inline(always)]
#[track_caller]
fn put_results<R: Values>(cursor: &mut Cursor, action: &'static Action, results: &R) {
    let written = List::of(cursor, results);
    if written != action.results.len() {
        wrong_count(action, "results", written, action.results.len());
    }
}

#[cold]
#[track_caller]
fn wrong_count(action: &Action, what: &str, given: usize, wanted: usize) -> ! {
    panic!("action `{}` has {wanted} {what}, but {given} were given", action.name)
}

fn string(cursor: &mut Cursor, text: &str) {
    cursor.varint(text.len() as u64);
    cursor.bytes(text.as_bytes());
}

fn manifest(unit: &str, meta: &[(&str, String)]) -> String {
    let notes: Vec<String> = meta.iter().map(|(key, value)| format!("{}: {value}", json_string(key))).collect();
    let notes = if notes.is_empty() { String::new() } else { format!(", \"meta\": {{{}}}", notes.join(", ")) };
    format!("{{\"format\": \"omnilink-trace\", \"version\": 1, \"clock\": \"{unit}\"{notes}}}\n")
}

pub(crate) fn json_string(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            control if control < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, AssertUnwindSafe};

    use crate::control::fake;
    use crate::ManualClock;

    use super::*;

    static GET: Action = Action::new("get", &["key"], &["value"]);

    /// Closes a segment after `work`, and expects zeros after its end record while the file has not been truncated.
    fn check_closed(work: impl FnOnce(&mut Process)) {
        let directory = tempfile::tempdir().unwrap();
        let recorder = Recorder::with_clock(directory.path(), ManualClock::new()).unwrap();
        let mut process = recorder.process("p").unwrap();
        work(&mut process);
        process.end();
        #[cfg(miri)]
        process.segment.store();
        let bytes = fs::read(process.path()).unwrap();
        let (published, rest) = bytes.split_at(process.published());
        assert!(published.ends_with(&[2, kind::END, process.count as u8]), "{published:X?}");
        assert_eq!(rest.iter().position(|byte| *byte != 0), None, "of {} bytes", rest.len());
        std::mem::forget(process); // As if it were stopped here.
    }

    #[test]
    fn nothing_but_zeros_follows_the_end_record() {
        check_closed(|process| process.call(&GET, (1,)).done((2,)));
        let key = "x".repeat(100);
        check_closed(|process| process.call(&GET, (&key,)).done_as_or_same(&GET, (&key,), (1,)));
        check_closed(|process| {
            let body = |process: &mut Process| process.call(&GET, (&"x".repeat(100_000), 1)).failed();
            catch_unwind(AssertUnwindSafe(|| body(process))).unwrap_err();
            process.call(&GET, (1,)).done((2,));
        });
        if cfg!(miri) {
            return; // Checking megabytes of zeros would take hours.
        }
        check_closed(|process| {
            let body = |process: &mut Process| process.call(&GET, ("x".repeat(1 << 24),)).failed();
            catch_unwind(AssertUnwindSafe(|| body(process))).unwrap_err();
        });
    }

    /// The calls of `work` to a runtime. Nothing after a call or a return and before `settle` is a step.
    fn check_log(work: impl FnOnce(&mut Process)) -> String {
        let directory = tempfile::tempdir().unwrap();
        let recorder = Recorder::with_clock(directory.path(), fake::hooks()).unwrap();
        let manifest = fs::read_to_string(directory.path().join("manifest.json")).unwrap();
        assert!(manifest.contains("\"clock\": \"steps\""), "{manifest}");
        work(&mut recorder.process("p").unwrap());
        fake::logged()
    }

    #[test]
    fn steps_of_a_recorder_are_calls_and_returns() {
        insta::assert_snapshot!(
            check_log(|process| (0..2).for_each(|_| process.call(&GET, (1,)).done((2,)))),
            @"call settle return settle call settle return settle"
        );
        insta::assert_snapshot!(
            check_log(|process| process.call(&GET, (1,)).done_as(&GET, (2,), (3,))),
            @"call settle return settle"
        );
        insta::assert_snapshot!(check_log(|process| process.call(&GET, (1,)).failed()), @"call settle return settle");
        insta::assert_snapshot!(check_log(|process| drop(process.call(&GET, (1,)))), @"call settle");
        insta::assert_snapshot!(check_log(|process| process.call(&GET, (1,)).unknown()), @"call settle");
        insta::assert_snapshot!(
            check_log(|process| process.call(&GET, (1,)).unknown_by_now()),
            @"call settle return settle"
        );
        let refine = |process: &mut Process| {
            let mut call = process.call(&GET, (1,));
            call.refine_start();
            call.refine_end();
            call.done((2,));
        };
        insta::assert_snapshot!(check_log(refine), @"call settle call settle return settle");
        let panics = |process: &mut Process| {
            // A recorded value, or the number of values, may be wrong.
            catch_unwind(AssertUnwindSafe(|| process.call(&GET, (1, 2)).failed())).unwrap_err();
            catch_unwind(AssertUnwindSafe(|| process.call(&GET, (1,)).done((1, 2)))).unwrap_err();
        };
        insta::assert_snapshot!(check_log(panics), @"call settle call settle return settle");
    }

    #[test]
    fn manifests_are_json() {
        assert_eq!(manifest("ns", &[]), "{\"format\": \"omnilink-trace\", \"version\": 1, \"clock\": \"ns\"}\n");
        let meta = [("seed", "7".to_owned()), ("a\"b", json_string("\\ \n é"))];
        let expected = r#", "meta": {"seed": 7, "a\"b": "\\ \u000a é"}}"#;
        assert!(manifest("steps", &meta).ends_with(&format!("{expected}\n")), "{}", manifest("steps", &meta));
    }
}
