//! The same scripts give the same bytes.
//!
//! Scripts in `tests/golden/recorder` have their segments beside them, so that bytes do not change by accident; random
//! scripts cover other cases. Values are drawn around the points at which the format switches to another encoding.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use fastrand::Rng;

use super::programs::Programs;
use super::{Options, Scratch};
use crate::workspace::Workspace;

/// Runs all scripts through all recorders, and fails at the first byte that differs.
pub(super) fn compare(workspace: &Workspace, programs: &Programs, scratch: &Scratch, options: &Options) -> Result<()> {
    let golden = workspace.root().join("tests/golden/recorder");
    let mut count = 0;
    for path in scripts(&golden)? {
        let script = fs::read_to_string(&path)?;
        let expected = segments(&path.with_extension(""))?;
        ensure!(!expected.is_empty(), "{} has no segments beside it", path.display());
        for set in &programs.sets {
            let directory = scratch.empty("script")?;
            set.record(&script, &directory)?;
            same(&expected, &segments(&directory)?).with_context(|| format!("{}, {}", set.name, path.display()))?;
        }
        count += 1;
    }
    let mut bytes = 0;
    for number in 0..options.random {
        let script = random(&mut Rng::with_seed(options.seed.wrapping_add(number as u64)));
        let mut first = None;
        for set in &programs.sets {
            let directory = scratch.empty("script")?;
            set.record(&script, &directory)?;
            let found = segments(&directory)?;
            bytes += found.values().map(Vec::len).sum::<usize>();
            let expected = first.get_or_insert_with(|| found.clone());
            same(expected, &found).with_context(|| format!("{}, this script:\n{script}", set.name))?;
        }
    }
    let names: Vec<&str> = programs.sets.iter().map(|set| &*set.name).collect();
    println!(
        "{count} golden and {} random scripts: {} write the same bytes ({bytes} in all)",
        options.random,
        names.join(", ")
    );
    Ok(())
}

/// The scripts of a directory, in order.
fn scripts(directory: &Path) -> Result<Vec<std::path::PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "script"));
    paths.sort();
    Ok(paths)
}

/// The segments in a directory, by name.
fn segments(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut segments = BTreeMap::new();
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "seg") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            segments.insert(name, fs::read(&path)?);
        }
    }
    Ok(segments)
}

/// Fails where the segments differ, and says where that is.
fn same(expected: &BTreeMap<String, Vec<u8>>, found: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    let names = |segments: &BTreeMap<String, Vec<u8>>| segments.keys().cloned().collect::<Vec<_>>().join(" ");
    ensure!(expected.len() == found.len(), "there are {} and not {}", names(found), names(expected));
    for ((name, expected), (other, found)) in expected.iter().zip(found) {
        ensure!(name == other, "there is {other} and not {name}");
        if let Some(at) = (0..expected.len().max(found.len())).find(|at| expected.get(*at) != found.get(*at)) {
            let around = |bytes: &[u8]| {
                let near = bytes.get(at.saturating_sub(8)..bytes.len().min(at + 8)).unwrap_or_default();
                near.iter().map(|byte| format!(" {byte:02X}")).collect::<String>()
            };
            bail!("{name} differs at byte {at}\n  found   {}\n  expected{}", around(found), around(expected));
        }
    }
    Ok(())
}

/// A script of some dozen commands.
fn random(rng: &mut Rng) -> String {
    let mut script = Script { rng, lines: Vec::new(), time: 0 };
    let processes = script.rng.usize(1..4);
    for _ in 0..script.rng.usize(1..40) {
        let process = script.rng.usize(0..processes);
        script.line(format!("process p{process}"));
        script.operation();
    }
    script.lines.join("\n") + "\n"
}

struct Script<'a> {
    rng: &'a mut Rng,
    lines: Vec<String>,
    time: u64,
}

impl Script<'_> {
    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    /// The clock moves on, or, now and then, back.
    fn tick(&mut self) {
        let step = [0, 1, 63, 64, 8191, 8192, 1 << 40][self.rng.usize(0..7)];
        self.time = if self.rng.u8(0..10) == 0 { self.time.saturating_sub(step) } else { self.time + step };
        let time = self.time;
        self.line(format!("time {time}"));
    }

    fn operation(&mut self) {
        self.tick();
        let action = ["Put", "Get", "x"][self.rng.usize(0..3)];
        let named = self.rng.bool();
        let arguments = self.row(named);
        self.line(format!("{} {action}{arguments}", if named { "named" } else { "call" }));
        for _ in 0..self.rng.usize(0..3) {
            self.tick();
            let extra = match self.rng.u8(0..4) {
                0 => "refine_start".to_owned(),
                1 => "refine_end".to_owned(),
                _ => format!("meta {} {}", ["k", "a_longer_key"][self.rng.usize(0..2)], self.value(2)),
            };
            self.line(extra);
        }
        self.tick();
        let outcome = match self.rng.u8(0..8) {
            0 => "failed".to_owned(),
            1 => ["drop", "unknown"][self.rng.usize(0..2)].to_owned(),
            2 => format!("as Other{} --{}", self.row(false), self.row(false)),
            _ => {
                let named = self.rng.bool();
                format!("done{}", self.row(named))
            }
        };
        self.line(outcome);
    }

    /// Up to three values, each behind a blank.
    fn row(&mut self, named: bool) -> String {
        let count = self.rng.usize(0..4);
        (0..count)
            .map(|place| {
                let name = if named { format!("{}=", ["a", "b", "c"][place]) } else { String::new() };
                format!(" {name}{}", self.value(3))
            })
            .collect()
    }

    fn value(&mut self, depth: u32) -> String {
        let kinds = if depth == 0 { 6 } else { 9 };
        match self.rng.u8(0..kinds) {
            0 => ["nil", "true", "false"][self.rng.usize(0..3)].to_owned(),
            1 => self.rng.i64(-20..180).to_string(),
            2 => {
                let power = 1_i64 << self.rng.u32(0..63);
                let numbers = [power, power - 1, -power, i64::MIN, i64::MAX].map(i128::from);
                let large = [i64::MAX as u64 + 1, u64::MAX].map(i128::from);
                [numbers.as_slice(), &large].concat()[self.rng.usize(0..7)].to_string()
            }
            3 => ["1.5", "-0.0", "0.1", "123456789.125", "4.0"][self.rng.usize(0..5)].to_owned(),
            4 => "\"\\\"quoted\\\" \\\\ \u{e9}\u{1f600}\"".to_owned(),
            5 => {
                let length = [0, 1, 31, 32, 127, 128, 236, 246, 255, 5000][self.rng.usize(0..10)];
                format!("\"{}\"", "s".repeat(length))
            }
            6 => format!("[{}]", self.values(depth)),
            7 => format!("{{{}}}", self.values(depth)),
            _ => {
                let pairs: Vec<_> =
                    (0..self.rng.usize(0..3)).map(|key| format!("{key} {}", self.value(depth - 1))).collect();
                format!("({})", pairs.join(" "))
            }
        }
    }

    fn values(&mut self, depth: u32) -> String {
        let count = self.rng.usize(0..4);
        (0..count).map(|_| self.value(depth - 1)).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_with_its_place() {
        let segments = |bytes: &[u8]| BTreeMap::from([("000.seg".to_owned(), bytes.to_vec())]);
        let error = same(&segments(&[1, 2, 3]), &segments(&[1, 2])).expect_err("they differ");
        insta::assert_snapshot!(error, @"
        000.seg differs at byte 2
          found    01 02
          expected 01 02 03
        ");
    }
}
