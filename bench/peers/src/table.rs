//! Tables in Markdown, and their place in the README.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A table: a row of headings, then the others.
pub struct Table(Vec<Vec<String>>);

impl Table {
    pub fn new(headings: &[&str]) -> Table {
        Table(vec![headings.iter().map(|heading| (*heading).to_owned()).collect()])
    }

    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.0.push(cells.to_vec());
    }

    pub fn render(&self) -> String {
        let row = |cells: &Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", "---|".repeat(self.0[0].len()));
        self.0.iter().enumerate().map(|(index, cells)| row(cells) + if index == 0 { &rule } else { "" }).collect()
    }
}

/// Prints a table with what it was measured on, and replaces what stands between the marks of this name in a file.
pub fn publish(table: &Table, name: &str, file: Option<&Path>) -> Result<()> {
    let text = format!("{}\n\n{}", machine()?, table.render());
    println!("{text}");
    let Some(file) = file else { return Ok(()) };
    let old = fs::read_to_string(file)?;
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = old.split_once(&begin).with_context(|| format!("{} has no {begin}", file.display()))?;
    let (_, after) = rest.split_once(&end).with_context(|| format!("{} has no {end}", file.display()))?;
    fs::write(file, format!("{before}{begin}\n{text}\n{end}{after}"))?;
    Ok(())
}

/// The machine, and how busy it is.
fn machine() -> Result<String> {
    let field = |file: &str, name: &str| -> Result<String> {
        let text = fs::read_to_string(file)?;
        let line = text.lines().find(|line| line.starts_with(name)).with_context(|| format!("{file} has no {name}"))?;
        Ok(line.split_once(':').context("a value")?.1.trim().to_owned())
    };
    let memory: u64 = field("/proc/meminfo", "MemTotal")?.trim_end_matches(" kB").parse()?;
    let load = fs::read_to_string("/proc/loadavg")?;
    Ok(format!(
        "Measured on {}, {} cores, {:.0} GB of memory, with a load of {} at the end.",
        field("/proc/cpuinfo", "model name")?,
        std::thread::available_parallelism()?,
        memory as f64 * 1024.0 / 1e9,
        load.split(' ').next().context("a load")?
    ))
}

/// Seconds with three digits and a fitting unit.
pub fn time(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{} µs", digits(seconds * 1e6)),
        ..1.0 => format!("{} ms", digits(seconds * 1e3)),
        _ => format!("{} s", digits(seconds)),
    }
}

/// Bytes in millions.
pub fn memory(bytes: u64) -> String {
    format!("{} MB", digits(bytes as f64 / 1e6))
}

/// How many times more.
pub fn ratio(ratio: f64) -> String {
    format!("{}x", digits(ratio))
}

fn digits(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}
