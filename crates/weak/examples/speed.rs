//! The cost of weak levels beside linearizability, on histories like those of Emmi and Enea, *Monitoring weak
//! consistency*, CAV 2018: a map whose `size`, `keys`, `contains_value` and `clear` visit one key after the other while
//! other threads change the map.
//!
//! `cargo run --release -p omnilink-weak --example speed [HISTORIES] [fast]` prints, for each way to check, the geometric
//! mean of its time over the time of linearizability for the same history, and the ratio of the total times; `fast`
//! leaves out the slow ways. Searches as in the paper remember nothing, so they are compared with a search for
//! linearizability that remembers nothing either. A search stops where it rejects, so long histories count only if they
//! are linearizable.

#![allow(clippy::print_stdout, reason = "a program")]

use std::convert::Infallible;
use std::env;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use omnilink_history::{History, Interval, Stop, Verdict};
use omnilink_search::{Spec, Stats, Successors};
use omnilink_weak::{Action, Forms, Level, Method, Visibility, WeakOptions, check};

const KEYS: usize = 4;

/// A map from few keys to small values; 0 is no value.
struct Map;

type State = [u8; KEYS];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    name: &'static str,
    key: usize,
    value: u8,
    result: Option<u8>,
}

impl Map {
    fn apply(&self, state: &mut State, call: &Call) -> u8 {
        let cell = &mut state[call.key];
        match call.name {
            "put" => std::mem::replace(cell, call.value),
            "put_if_absent" => {
                let old = *cell;
                *cell = if old == 0 { call.value } else { old };
                old
            }
            "remove" => std::mem::take(cell),
            "get" => *cell,
            "contains_key" => u8::from(*cell != 0),
            "clear" => {
                *state = State::default();
                0
            }
            _ => Map::looked(call, *state),
        }
    }

    /// The result of a call that visits all keys.
    fn looked(call: &Call, seen: State) -> u8 {
        match call.name {
            "size" => seen.iter().filter(|&&value| value != 0).count() as u8,
            "keys" => seen.iter().enumerate().map(|(key, &value)| u8::from(value != 0) << key).sum(),
            "contains_value" => u8::from(seen.contains(&call.value)),
            other => panic!("unknown call {other}"),
        }
    }
}

const ATOMIC: [&str; 5] = ["put", "put_if_absent", "remove", "get", "contains_key"];
const VISITING: [&str; 4] = ["size", "keys", "contains_value", "clear"];

fn only_reads(call: &Call) -> bool {
    matches!(call.name, "get" | "contains_key" | "size" | "keys" | "contains_value")
}

impl Spec for Map {
    type Op = Call;
    type State = State;
    type Error = Infallible;

    fn initial(&self, out: &mut Vec<State>) -> Result<(), Infallible> {
        out.push(State::default());
        Ok(())
    }

    fn step(&self, state: &State, call: &Call, out: &mut Successors<State>) -> Result<(), Infallible> {
        let mut next = *state;
        let result = self.apply(&mut next, call);
        if call.result.is_none_or(|known| known == result) {
            out.done(next);
        }
        Ok(())
    }

    fn is_observer(&self, call: &Call) -> bool {
        only_reads(call) || (call.name == "remove" && call.result == Some(0))
    }

    fn commute(&self, a: &Call, b: &Call) -> bool {
        let has_key = |call: &Call| ATOMIC.contains(&call.name);
        (has_key(a) && has_key(b) && a.key != b.key) || (self.is_observer(a) && self.is_observer(b))
    }
}

/// Which histories to make.
struct Workload {
    threads: usize,
    calls: usize,
    /// One call of this number visits all keys.
    visiting: u8,
    /// Whether `clear` is one step.
    clears_at_once: bool,
    corrupts: bool,
}

/// Runs threads under a random scheduler: an atomic call is one step, a visiting one a step for each key.
fn history(rng: &mut Rng, workload: &Workload) -> Vec<(u32, Interval, Call)> {
    struct Thread {
        left: usize,
        now: Option<(Call, u64, usize, State)>, // The call, its start, the next key, what it saw.
    }
    let mut threads: Vec<Thread> = (0..workload.threads).map(|_| Thread { left: workload.calls, now: None }).collect();
    let (mut map, mut clock, mut done) = (State::default(), 0, Vec::new());
    loop {
        let live: Vec<usize> =
            (0..threads.len()).filter(|&at| threads[at].left > 0 || threads[at].now.is_some()).collect();
        if live.is_empty() {
            break;
        }
        let at = live[rng.usize(..live.len())];
        let thread = &mut threads[at];
        clock += 1;
        let Some((call, start, next, seen)) = &mut thread.now else {
            let name = match rng.u8(..workload.visiting) {
                0 => VISITING[rng.usize(..4)],
                _ => ATOMIC[rng.usize(..5)],
            };
            let call = Call { name, key: rng.usize(..KEYS), value: rng.u8(1..3), result: None };
            thread.left -= 1;
            thread.now = Some((call, clock, 0, State::default()));
            continue;
        };
        let is_at_once = ATOMIC.contains(&call.name) || (call.name == "clear" && workload.clears_at_once);
        if is_at_once {
            call.result = Some(Map.apply(&mut map, call));
        } else if *next < KEYS {
            seen[*next] = map[*next];
            if call.name == "clear" {
                map[*next] = 0;
            }
            *next += 1;
            continue;
        } else if call.name == "clear" {
            call.result = Some(0);
        } else {
            call.result = Some(Map::looked(call, *seen));
        }
        clock += 1;
        let interval = Interval::new(*start, clock).expect("a start before its end");
        done.push((at as u32, interval, call.clone()));
        thread.now = None;
    }
    if workload.corrupts
        && rng.u8(..4) == 0
        && let Some((_, _, call)) = rng.choice(&mut done)
    {
        call.result = call.result.map(|result| result ^ 1);
    }
    done.sort_by_key(|(_, interval, _)| interval.start());
    done
}

/// A way to check a history.
struct Way {
    name: &'static str,
    level: Level,
    method: Method,
    /// The place of the way whose time is the unit.
    unit: usize,
    /// Whether it is too slow for long histories.
    is_slow: bool,
}

fn ways() -> Vec<Way> {
    let hb_weak = || Level::named("hb-weak").expect("a preset");
    let visiting = VISITING.iter();
    let by_action = visiting.fold(Level::linearizable(), |level, name| level.with_action(name, Visibility::Overlap));
    let way = |name, level, method, unit, is_slow| Way { name, level, method, unit, is_slow };
    vec![
        way("linearizable, nothing remembered", Level::linearizable(), Method::Least, 0, true),
        way("hb-weak, every visible set", hb_weak(), Method::Naive, 0, true),
        way("hb-weak, least visible sets", hb_weak(), Method::Least, 0, true),
        way("linearizable", Level::linearizable(), Method::Reduced, 3, false),
        way("hb-weak", hb_weak(), Method::Reduced, 3, false),
        way("linearizable, visiting calls=overlap", by_action, Method::Reduced, 3, false),
    ]
}

fn main() {
    let histories: u64 = env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of histories"));
    let small = Workload { threads: 3, calls: 5, visiting: 3, clears_at_once: false, corrupts: false };
    let corrupt = Workload { corrupts: true, ..small };
    let small = Workload { threads: 3, calls: 5, visiting: 3, clears_at_once: false, corrupts: false };
    let long = Workload { threads: 8, calls: 60, visiting: 8, clears_at_once: true, corrupts: false };
    let has_slow = env::args().nth(2).as_deref() != Some("fast");
    measure("15 operations, 3 threads", &small, 0..histories, has_slow);
    measure("15 operations, 3 threads, 1 in 4 corrupted", &corrupt, 0..histories, has_slow);
    let is_linearizable = |seed: &u64| {
        let history = History::from_intervals(history(&mut Rng::with_seed(*seed), &long)).expect("a history");
        let report = omnilink_search::check(&Map, &history, &omnilink_search::Options::default());
        report.expect("a spec that can be evaluated").verdict.is_accepted()
    };
    let seeds = (0..).filter(is_linearizable).take(histories.min(50) as usize);
    measure("480 operations, 8 threads, clear at once, linearizable", &long, seeds, false);
}

fn measure(title: &str, workload: &Workload, seeds: impl Iterator<Item = u64>, has_slow: bool) {
    let limit = if has_slow { Duration::from_millis(100) } else { Duration::from_secs(20) };
    let ways: Vec<Way> = ways().into_iter().filter(|way| has_slow || !way.is_slow).collect();
    let first = if has_slow { 0 } else { 3 };
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    let mut late = vec![0; ways.len()];
    let mut accepted = vec![0; ways.len()];
    let mut histories = 0;
    for seed in seeds {
        histories += 1;
        let calls = history(&mut Rng::with_seed(seed), workload);
        let plain: Vec<(u32, Interval, Call)> = calls.clone();
        let plain = History::from_intervals(plain).expect("a well-formed history");
        let action = |call: Call| {
            let free = (!only_reads(&call)).then(|| Call { result: None, ..call.clone() });
            Action { name: Arc::from(call.name), forms: Forms { recorded: call, free } }
        };
        let calls = calls.into_iter().map(|(process, interval, call)| (process, interval, action(call)));
        let both = History::from_intervals(calls).expect("a well-formed history");
        for (place, way) in ways.iter().enumerate() {
            let mut best = Duration::MAX;
            let mut verdict = None;
            for _ in 0..3 {
                let began = Instant::now();
                let watch = |_: &Stats| (began.elapsed() > limit).then_some(Stop::Time);
                let is_plain = way.level == Level::linearizable() && way.method == Method::Reduced;
                let found = match is_plain {
                    // The work of `omnilink check`.
                    true => {
                        let report =
                            omnilink_search::check_watched(&Map, &plain, &omnilink_search::Options::default(), &watch);
                        is_accepted(&report.expect("a spec that can be evaluated").verdict)
                    }
                    false => {
                        let options =
                            WeakOptions { level: way.level.clone(), method: way.method, ..WeakOptions::default() };
                        is_accepted(&check(&Map, &both, &options, &watch).expect("a verdict").verdict)
                    }
                };
                best = best.min(began.elapsed());
                verdict = found;
                if best > limit / 4 {
                    break;
                }
            }
            late[place] += u64::from(verdict.is_none());
            accepted[place] += u64::from(verdict == Some(true));
            times[place].push(best.as_secs_f64());
        }
    }
    println!("{title}: {histories} histories");
    println!("  {:38} {:>9} {:>8} {:>10} {:>8} {:>8}", "", "mean µs", "geo-mean", "total", "accepted", "late");
    for (place, way) in ways.iter().enumerate() {
        let unit = &times[way.unit - first];
        let ratios = times[place].iter().zip(unit).map(|(time, unit)| (time / unit).ln());
        let geometric = (ratios.sum::<f64>() / histories as f64).exp();
        let total: f64 = times[place].iter().sum();
        println!(
            "  {:38} {:>9.1} {:>7.2}x {:>9.2}x {:>8} {:>8}",
            way.name,
            total / histories as f64 * 1e6,
            geometric,
            total / unit.iter().sum::<f64>(),
            accepted[place],
            late[place]
        );
    }
}

fn is_accepted<A, R>(verdict: &Verdict<A, R>) -> Option<bool> {
    match verdict {
        Verdict::Accepted(_) => Some(true),
        Verdict::Rejected(_) => Some(false),
        Verdict::Inconclusive(_) => None,
    }
}
