//! Verdicts for a step summary or an issue: the content of the text, with tables and folding.
//!
//! Foreign text appears within code only. There it cannot become markup, a link, or the mention of a person.

use std::fmt::Write as _;

use crate::data::{OpRef, Report, Unchecked, Verdict, Window};
use crate::finding::{Finding, VALUE, commands, fields, remarks};
use crate::text::{UNCHECKED, WIDTH, everything, problems, snippet, summary, verdict_style, window_title, work};
use crate::window::{Cell, Grid};
use crate::wording::{clean, number, short};

/// The maximum number of histories listed, and of histories that are not accepted shown at length.
const LISTED: usize = 100;
const SHOWN: usize = 10;

/// The maximum number of processes shown of a window.
const PROCESSES: usize = 10;

/// The maximum size of the full report in bytes: GitHub rejects pages that are too long as a whole.
const EVERYTHING: usize = 50_000;

/// All histories as Markdown.
pub fn markdown(reports: &[Report], unchecked: &[Unchecked]) -> String {
    let mut out = String::new();
    let histories = reports.len() + unchecked.len();
    if histories > 1 {
        list(&mut out, reports, unchecked);
    }
    let (mut shown, mut left_out) = (0, 0);
    for history in unchecked {
        if shown >= SHOWN {
            left_out += 1;
            continue;
        }
        shown += 1;
        let _ = writeln!(out, "### {}: {UNCHECKED}\n", code(&history.history, VALUE));
        fence(&mut out, "text", problems(history).trim_end());
    }
    for report in reports {
        match Finding::new(report) {
            None if histories > 1 => {}
            _ if shown >= SHOWN => left_out += 1,
            finding => {
                shown += 1;
                section(&mut out, report, finding.as_ref());
            }
        }
    }
    if left_out > 0 {
        let _ = writeln!(out, "And {} more that are not accepted.", number(left_out));
    }
    out
}

fn list(out: &mut String, reports: &[Report], unchecked: &[Unchecked]) {
    let summary = summary(reports, unchecked);
    let _ = writeln!(out, "## {}\n\n| history | verdict | work |\n| --- | --- | --- |", summary.trim_end());
    for history in unchecked.iter().take(LISTED) {
        let _ = writeln!(out, "| {} | {UNCHECKED} | |", code(&history.history, VALUE));
    }
    let left = LISTED.saturating_sub(unchecked.len());
    let (mut rows, accepted): (Vec<&Report>, Vec<&Report>) =
        reports.iter().partition(|report| report.has_failed() || report.verdict != Verdict::Accepted);
    rows.extend(accepted);
    for report in rows.iter().take(left) {
        let (name, work) = (code(&report.history.name, VALUE), code(&work(report), usize::MAX));
        let _ = writeln!(out, "| {name} | {} | {work} |", verdict_style(report).1);
    }
    if rows.len() + unchecked.len() > LISTED {
        let _ = writeln!(out, "\nAnd {} more.", number((rows.len() + unchecked.len() - LISTED) as u64));
    }
    out.push('\n');
}

fn section(out: &mut String, report: &Report, finding: Option<&Finding>) {
    let (name, word) = (code(&report.history.name, VALUE), verdict_style(report).1);
    let _ = writeln!(out, "### {name}: {word}\n");
    let Some(finding) = finding else {
        for line in std::iter::once(work(report)).chain(remarks(report)) {
            let _ = writeln!(out, "- {}", code(&line, usize::MAX));
        }
        return;
    };
    fence(out, "text", &snippet(report, finding, false, WIDTH));
    if let Some(rejection) = report.rejection()
        && let Some(window) = &rejection.window()
    {
        table(out, report, window, &rejection.blocked);
    }
    let everything = everything(report);
    if !everything.is_empty() {
        let end =
            (0..=EVERYTHING.min(everything.len())).rev().find(|&end| everything.is_char_boundary(end)).unwrap_or(0);
        let _ = writeln!(out, "<details><summary>All states, orders and reasons</summary>\n");
        fence(out, "text", everything[..end].trim_matches('\n'));
        if end < everything.len() {
            let _ = writeln!(out, "And {} more bytes.\n", number((everything.len() - end) as u64));
        }
        let _ = writeln!(out, "</details>\n");
    }
    let commands = commands(report);
    for (what, line) in &commands {
        let _ = writeln!(out, "- {}: {}", code(what, VALUE), code(line, usize::MAX));
    }
    if !commands.is_empty() {
        out.push('\n');
    }
}

fn table(out: &mut String, report: &Report, window: &Window, blocked: &[OpRef]) {
    // Our own words about numbers need no escape.
    let _ = writeln!(out, "**{}**\n", window_title(window));
    for state in window.start.iter().take(3) {
        let _ = writeln!(out, "- {}", code(&fields(&state.variables, " = ", VALUE), usize::MAX));
    }
    if window.start.len() > 3 {
        let _ = writeln!(out, "- and {} more", number(window.start.len() as u64 - 3));
    }
    if !window.start.is_empty() {
        out.push('\n');
    }
    let mut grid = Grid::new(report, window);
    let (processes, operations) = grid.narrow(blocked, |grid| grid.processes.len() <= PROCESSES);
    let cell = |cell: &Cell| match cell {
        Cell::Empty => String::new(),
        Cell::Running => "(running)".into(),
        Cell::Op(op) if blocked.contains(op) => format!("{} ✗", code(&report.op(*op).short_within(VALUE), VALUE)),
        Cell::Op(op) => code(&report.op(*op).short_within(VALUE), VALUE),
    };
    let mut row = |cells: Vec<String>| {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    };
    row(grid.processes.iter().map(|process| code(process, VALUE)).collect());
    row(grid.processes.iter().map(|_| "---".into()).collect());
    for cells in &grid.rows {
        row(cells.iter().map(cell).collect());
    }
    let hidden = match processes {
        0 => String::new(),
        _ => format!(
            " Not shown: {} operations of {} other processes.",
            number(operations as u64),
            number(processes as u64)
        ),
    };
    let legend = match grid.legend(report.order) {
        Some(_) => "Operations in one row overlap.",
        None => "",
    };
    let below = format!("{legend}{hidden}");
    let _ = writeln!(out, "{}", if below.is_empty() { String::new() } else { format!("\n{}\n", below.trim_start()) });
}

/// A block of code for any text.
fn fence(out: &mut String, language: &str, text: &str) {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(out, "{fence}{language}\n{text}\n{fence}\n");
}

/// Foreign text within a line or a cell.
fn code(text: &str, width: usize) -> String {
    let text = if width == usize::MAX { clean(text) } else { short(text, width) };
    let is_simple = !text.is_empty() && !text.contains(['`', '|']) && text.trim() == text;
    if is_simple {
        return format!("`{text}`");
    }
    let mut out = String::from("<code>");
    for c in text.chars() {
        match c {
            ' ' | ',' | '.' | '(' | ')' | '=' => out.push(c),
            _ if c.is_ascii_punctuation() => out.push_str(&format!("&#{};", u32::from(c))),
            _ => out.push(c),
        }
    }
    out.push_str("</code>");
    out
}
