//! The time that a process group takes, and the core that it runs on.
//!
//! On a busy machine a program may wait for a core for seconds. It does nothing wrong then, so [`Stopwatch`] does not count
//! that time: while a thread of the group is ready to run, only its processor time counts. While all of them sleep, time
//! counts as it passes, because a program that waits for something that never happens must end too. The kernel is asked
//! a few times within the limit, and only about groups that take that long.
//!
//! [`Placement`] keeps a program on one core. One of its threads runs at a time, so more cores do not help, and waking
//! another core at every switch costs more than the switch. If other programs use that core much more than another one,
//! the program moves.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The unit of processor times in `/proc`, on all architectures.
const TICK: Duration = Duration::from_millis(10);
/// How many times the limit may pass on the clock.
const MOST_CLOCK: u32 = 10;
/// The kernel is asked this many times within the limit, but no more often than the last of these, and no less often than
/// the first.
const SAMPLES: u32 = 10;
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
/// The time between two decisions about the core.
const PERIOD: Duration = Duration::from_secs(1);

/// A limit for the time that a process group takes.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    limit: Duration,
    started: Instant,
    sampled: Instant,
    /// The processor time at the last sample.
    processor: Option<Duration>,
    counted: Duration,
}

impl Stopwatch {
    /// Starts with this limit.
    pub(crate) fn start(limit: Duration) -> Stopwatch {
        let now = Instant::now();
        Stopwatch { limit, started: now, sampled: now, processor: None, counted: Duration::ZERO }
    }

    /// The time between two samples.
    pub(crate) fn pause(&self) -> Duration {
        (self.limit / SAMPLES).clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }

    /// Whether the group has exceeded the limit. Asks the kernel about it if that is due.
    pub(crate) fn is_over(&mut self, group: Pid) -> bool {
        let passed = self.sampled.elapsed();
        if passed >= self.pause() {
            self.sampled = Instant::now();
            let usage = Usage::of(group);
            self.count(passed, usage.as_ref());
        }
        self.counted >= self.limit || self.started.elapsed() >= self.limit.saturating_mul(MOST_CLOCK)
    }

    /// Counts the time since the last sample. Without a sample, all of it counts.
    fn count(&mut self, passed: Duration, usage: Option<&Usage>) {
        let processor = usage.map(|usage| usage.processor);
        // Before the first sample, the processor time includes that of earlier executions.
        let used = processor.unwrap_or_default().saturating_sub(self.processor.or(processor).unwrap_or_default());
        self.counted += match usage {
            Some(usage) if usage.is_ready => used.min(passed),
            // If this process waited for a core too, the state in most of that time is unknown.
            Some(_) => passed.min(2 * self.pause()),
            None => passed,
        };
        self.processor = processor.or(self.processor);
    }
}

/// The state of a process group, as the kernel tells it.
#[derive(Debug, Default)]
struct Usage {
    /// The processor time of all its processes, and of those that they waited for.
    processor: Duration,
    /// Whether a thread runs, waits for a core or waits for a disk.
    is_ready: bool,
    /// All threads.
    threads: Vec<Pid>,
}

impl Usage {
    /// `None` if there is no such process, or the kernel does not tell.
    fn of(group: Pid) -> Option<Usage> {
        let mut usage = Usage::default();
        for (process, path) in numbered("/proc") {
            // A process may end at any time.
            let Some(stat) = fs::read_to_string(format!("{path}/stat")).ok().and_then(|text| Stat::parse(&text)) else {
                continue;
            };
            if stat.group != group.as_raw_nonzero().get() {
                continue;
            }
            usage.processor += stat.processor;
            usage.is_ready |= stat.is_ready;
            usage.threads.push(process);
            for (thread, path) in numbered(&format!("{path}/task")).into_iter().filter(|(thread, _)| *thread != process)
            {
                let stat = fs::read_to_string(format!("{path}/stat")).ok().and_then(|text| Stat::parse(&text));
                usage.is_ready |= stat.is_some_and(|stat| stat.is_ready);
                usage.threads.push(thread);
            }
        }
        (!usage.threads.is_empty()).then_some(usage)
    }
}

/// The processes or threads in a directory, with their paths.
fn numbered(directory: &str) -> Vec<(Pid, String)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((Pid::from_raw(name.parse().ok()?)?, format!("{directory}/{name}")))
    });
    numbered.collect()
}

/// The file `stat` of a process or thread.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    is_ready: bool,
    group: i32,
    processor: Duration,
}

impl Stat {
    fn parse(text: &str) -> Option<Stat> {
        // The name comes before, in parentheses, and may contain anything.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let times = fields.get(11..15)?.iter().map(|ticks| ticks.parse::<u32>().ok()).sum::<Option<u32>>()?;
        Some(Stat { is_ready: matches!(fields[0], "R" | "D"), group: fields[2].parse().ok()?, processor: TICK * times })
    }
}

/// The core that a program is kept on.
#[derive(Debug)]
pub(crate) struct Placement {
    /// The cores that it may use.
    cores: Vec<usize>,
    /// Its core, as a place in `cores`.
    chosen: Option<usize>,
    decided: Instant,
    /// How long each core was busy until then, and how long the program ran.
    busy: Vec<Duration>,
    own: Duration,
}

impl Placement {
    /// Finds the cores. Nothing is kept anywhere yet.
    pub(crate) fn new() -> Placement {
        let allowed = sched_getaffinity(None).ok();
        let is_allowed = |core: &usize| allowed.as_ref().is_some_and(|allowed| allowed.is_set(*core));
        Placement {
            cores: (0..CpuSet::MAX_CPU).filter(is_allowed).collect(),
            chosen: None,
            decided: Instant::now(),
            busy: Vec::new(),
            own: Duration::ZERO,
        }
    }

    /// Puts a program that has just started on the core, if that is possible. The first program gets any one.
    pub(crate) fn place(&mut self, program: Pid) {
        if self.cores.len() < 2 {
            return;
        }
        let any = program.as_raw_nonzero().get() as usize % self.cores.len();
        let chosen = *self.chosen.get_or_insert(any);
        self.decided = Instant::now();
        (self.busy, self.own) = (self.busy_times(), Duration::ZERO);
        self.assign(chosen, &[program]);
    }

    /// Moves the program if another core is much less busy with other programs. Asks the kernel only if that is due.
    pub(crate) fn reconsider(&mut self, group: Pid) {
        let passed = self.decided.elapsed();
        let Some(chosen) = self.chosen.filter(|_| passed >= PERIOD) else { return };
        self.decided = Instant::now();
        let (Some(usage), busy) = (Usage::of(group), self.busy_times()) else { return };
        let own = usage.processor.saturating_sub(self.own);
        let others: Vec<Duration> = busy.iter().zip(&self.busy).map(|(now, then)| now.saturating_sub(*then)).collect();
        (self.busy, self.own) = (busy, usage.processor);
        if let Some(better) = better_core(others, chosen, own, passed) {
            self.chosen = Some(better);
            self.assign(better, &usage.threads);
        }
    }

    fn assign(&self, chosen: usize, threads: &[Pid]) {
        let mut one = CpuSet::new();
        one.set(self.cores[chosen]);
        for thread in threads {
            // A thread that has ended does not matter, and others run where they did.
            let _ = sched_setaffinity(Some(*thread), &one);
        }
    }

    /// How long each of the cores was busy since the machine started; empty if the kernel does not tell.
    fn busy_times(&self) -> Vec<Duration> {
        let text = fs::read_to_string("/proc/stat").unwrap_or_default();
        self.cores.iter().map(|core| busy_time(&text, *core)).collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// A core that others used less in the time that passed, by at least a quarter of it. `busy` is how long each core was
/// busy, and `own` how much of that the program itself was on the chosen one.
fn better_core(mut busy: Vec<Duration>, chosen: usize, own: Duration, passed: Duration) -> Option<usize> {
    let here = busy.get_mut(chosen)?;
    *here = here.saturating_sub(own);
    let here = *here;
    let (least, there) = busy.iter().enumerate().min_by_key(|(_, busy)| **busy)?;
    (here > *there + passed / 4).then_some(least)
}

/// How long a core was busy, according to `/proc/stat`.
fn busy_time(text: &str, core: usize) -> Option<Duration> {
    let name = format!("cpu{core}");
    let line = text.lines().find_map(|line| line.split_once(' ').filter(|(first, _)| *first == name))?.1;
    let ticks: Vec<u64> = line.split_whitespace().map(|ticks| ticks.parse().ok()).collect::<Option<_>>()?;
    // User, nice, system, idle, waiting for a disk, interrupts (two kinds), taken by the host.
    let busy: u64 =
        ticks.iter().take(8).enumerate().filter(|(at, _)| ![3, 4].contains(at)).map(|(_, ticks)| ticks).sum();
    Some(Duration::from_millis(busy.saturating_mul(TICK.as_millis() as u64)))
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn usage(processor: u64, is_ready: bool) -> Usage {
        Usage { processor: Duration::from_millis(processor), is_ready, threads: Vec::new() }
    }

    #[test]
    fn waiting_for_a_core_does_not_count() {
        let mut watch = Stopwatch::start(10 * SECOND);
        let mut count = |usage: Option<Usage>| {
            watch.count(watch.pause(), usage.as_ref());
            watch.counted.as_millis()
        };
        // Earlier executions used a minute.
        assert_eq!(count(Some(usage(60_000, true))), 0);
        assert_eq!(count(Some(usage(60_150, true))), 150);
        assert_eq!(count(Some(usage(60_150, true))), 150);
        // Two threads can use more than the time that passed.
        assert_eq!(count(Some(usage(60_550, true))), 350);
        assert_eq!(count(Some(usage(60_550, false))), 550);
        assert_eq!(count(None), 750);
    }

    #[test]
    fn sleep_counts_and_the_clock_is_the_last_resort() {
        let mut watch = Stopwatch::start(10 * SECOND);
        // This process was stopped itself.
        watch.count(8 * SECOND, Some(&usage(0, false)));
        assert_eq!(watch.counted, 2 * LONGEST_PAUSE);
        let group = rustix::process::getpgrp();
        assert!(!watch.is_over(group));
        watch.started = Instant::now().checked_sub(101 * SECOND).unwrap();
        assert!(watch.is_over(group));
    }

    #[test]
    fn a_group_is_found_with_its_state() {
        use std::os::unix::process::CommandExt as _;
        let mut asleep = Command::new("sleep").arg("60").process_group(0).stdout(Stdio::null()).spawn().unwrap();
        let group = Pid::from_child(&asleep);
        let until = Instant::now() + 20 * SECOND;
        while Usage::of(group).is_none_or(|usage| usage.is_ready) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let usage = Usage::of(group).unwrap();
        assert_eq!((usage.is_ready, usage.threads.len()), (false, 1));
        asleep.kill().unwrap();
        asleep.wait().unwrap();
        assert!(Usage::of(group).is_none());
    }

    #[test]
    fn names_do_not_confuse_the_fields() {
        let text = "7 (a) R (b) S 1 42 42 0 -1 4194304 0 0 0 0 1 2 3 4 20 0 1 0 5 0 0";
        let expected = Stat { is_ready: false, group: 42, processor: 10 * TICK };
        assert_eq!(Stat::parse(text), Some(expected));
        assert!(Stat::parse(&text.replace("S 1", "R 1")).unwrap().is_ready);
        assert_eq!(Stat::parse("7 (a) S 1 42"), None);
    }

    #[test]
    fn a_program_leaves_a_busy_core() {
        let text = "cpu  9 9 9 9\ncpu0 10 0 20 500 60 1 2 3 0 0\ncpu10 1 1 1 1 1 1 1 1 0 0\ncpu1 5 0 0 0 0 0 0 0 0 0\n";
        assert_eq!(busy_time(text, 0), Some(36 * TICK));
        assert_eq!(busy_time(text, 1), Some(5 * TICK));
        assert_eq!(busy_time(text, 2), None);
        let check = |busy: &[u64], own: u64| {
            let busy = busy.iter().map(|busy| Duration::from_millis(*busy)).collect();
            better_core(busy, 0, Duration::from_millis(own), SECOND)
        };
        assert_eq!(check(&[1000, 0], 1000), None);
        assert_eq!(check(&[1000, 0], 500), Some(1));
        assert_eq!(check(&[1000, 800], 200), None);
        assert_eq!(check(&[1000, 700, 200], 500), Some(2));
        assert_eq!(check(&[], 0), None);
    }
}
