//! Processor time and memory.
//!
//! Processor time is that of all threads, in user and system mode, around what is measured and nothing else. Memory is
//! the peak of the whole process with its input loaded. A child that takes too much of either is stopped from outside.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Usage, UsageWho, getrusage};

/// A child is stopped when it takes more.
pub const MOST_MEMORY: u64 = 6_000_000_000;
/// A child is stopped when it takes longer.
pub const MOST_TIME: Duration = Duration::from_secs(120);

/// How a child ended.
pub enum Ended {
    /// With this output.
    Well(String),
    /// Stopped after this many processor seconds, for too much memory.
    OutOfMemory(f64),
    /// Stopped after this many processor seconds, for too much time.
    OutOfTime(f64),
}

/// Runs this program again.
pub fn run_self(args: &[&str]) -> Result<Ended> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.args(args).stdout(Stdio::piped()).spawn()?;
    let started = Instant::now();
    let mut stdout = child.stdout.take().context("a pipe to the child")?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let mut pause = Duration::from_millis(1);
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            ensure!(status.success(), "`{}` failed", args.join(" "));
            break None;
        }
        if started.elapsed() > MOST_TIME {
            break Some(Ended::OutOfTime as fn(f64) -> Ended);
        }
        // The child may end between the two looks; then there is nothing to read.
        if status_field(&child.id().to_string(), "VmRSS:").is_ok_and(|bytes| bytes > MOST_MEMORY) {
            break Some(Ended::OutOfMemory);
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    if let Some(ended) = ended {
        let before = cpu_seconds(UsageWho::RUSAGE_CHILDREN)?;
        child.kill()?;
        child.wait()?; // From here on its time is counted.
        return Ok(ended(cpu_seconds(UsageWho::RUSAGE_CHILDREN)? - before));
    }
    let text = reader.join().ok().context("the reader of a child")??;
    Ok(Ended::Well(text))
}

/// Forgets the peak so far, which belongs to loading the input.
pub fn forget_peak() -> Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak")
}

/// The most memory that this process has used.
pub fn peak() -> Result<u64> {
    status_field("self", "VmHWM:")
}

fn status_field(process: &str, name: &str) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}

/// Processor seconds of one run of `work`, which runs as often as it takes to reach `total`.
pub fn seconds<T>(total: Duration, mut work: impl FnMut() -> Result<T>) -> Result<(T, f64)> {
    let before = cpu_seconds(UsageWho::RUSAGE_SELF)?;
    let mut runs = 0;
    loop {
        let outcome = work()?;
        runs += 1;
        let spent = cpu_seconds(UsageWho::RUSAGE_SELF)? - before;
        if spent >= total.as_secs_f64() {
            return Ok((outcome, spent / f64::from(runs)));
        }
    }
}

/// What a command took. Its peak includes reading its input, which it does itself.
pub struct Cost {
    pub exit: i32,
    pub wall: f64,
    pub cpu: f64,
    pub peak: u64,
    pub output: String,
}

/// Runs a command in a process of its own, so that what its children took is what the command took.
pub fn command(program: &str, args: &[&str]) -> Result<Cost> {
    let all: Vec<&str> = ["other", "--", program].into_iter().chain(args.iter().copied()).collect();
    let Ended::Well(text) = run_self(&all)? else { anyhow::bail!("`{program}` was stopped") };
    let (figures, output) = text.split_once('\n').context("figures of a command")?;
    let figures: Vec<&str> = figures.split(' ').collect();
    let [exit, wall, cpu, peak] = figures[..] else { anyhow::bail!("not the figures of a command") };
    let output = output.to_owned();
    Ok(Cost { exit: exit.parse()?, wall: wall.parse()?, cpu: cpu.parse()?, peak: peak.parse()?, output })
}

/// Runs a command, and prints what it took and what it said.
pub fn other(program: &str, args: &[String]) -> Result<()> {
    let started = Instant::now();
    let output = Command::new(program).args(args).output().with_context(|| format!("cannot run {program}"))?;
    let wall = started.elapsed().as_secs_f64();
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let exit = output.status.code().context("a command that was not killed")?;
    println!("{exit} {wall} {} {}", cpu_of(&usage), usage.max_rss() * 1024);
    print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    Ok(())
}

fn cpu_seconds(who: UsageWho) -> Result<f64> {
    Ok(cpu_of(&getrusage(who)?))
}

fn cpu_of(usage: &Usage) -> f64 {
    [usage.user_time(), usage.system_time()].iter().map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6).sum()
}
