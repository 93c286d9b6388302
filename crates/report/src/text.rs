//! Verdicts for a terminal.
//!
//! In the order of a reader in a hurry: the failure, where in the specification, with which values, the expected
//! ones, in which part of the history, and what to run next. [`Detail::Full`] adds everything else in the report.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anstyle::{AnsiColor, Style};
use omnilink_suggest::plural;
use unicode_width::UnicodeWidthStr;

use crate::data::{
    Evidence, Guard, OpRef, Outcome, Problem, Reason, Rejection, Report, State, StateGroup, Stats, Step, Stuck,
    Unchecked, Verdict, Why, Window,
};
use crate::finding::{
    Finding, Mark, Note, VALUE, commands, differing, explained, fields, lines, op_text, place, remarks, what_ifs, why,
};
use crate::window::{Cell, Grid};
use crate::wording::{brief, clean, column, count, duration, list, number, pad, short, wrapped};

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Enough to see the cause.
    Brief,
    /// Everything.
    Full,
}

/// The maximum width of lines with our own layout.
pub(crate) const WIDTH: usize = 120;

/// A narrower terminal has to wrap lines itself.
const NARROWEST: usize = 60;

/// The maximum number of states, reasons and rows in brief.
const BRIEF_STATES: usize = 3;
const BRIEF_REASONS: usize = 3;
const BRIEF_ROWS: usize = 12;

/// The widths of the cells of a table; the widest that fit are used.
const CELLS: RangeInclusive<usize> = 14..=40;

/// The maximum width of a value in full.
const FULL_VALUE: usize = 2000;

/// The beginnings of commands that print reports in full; reports of earlier versions have the second.
const FULL_REPORT: [&str; 2] = ["omnilink check --full ", "omnilink explain "];

/// A report as text, ending with a line break. Colors are ANSI escapes.
pub fn text(report: &Report, detail: Detail, color: bool) -> String {
    text_within(report, detail, color, WIDTH)
}

/// A report as text whose own lines, above all tables, have at most this many columns.
pub fn text_within(report: &Report, detail: Detail, color: bool, width: usize) -> String {
    let width = width.clamp(NARROWEST, WIDTH);
    let pen = Pen { color };
    let name = pen.bold(&clean(&report.history.name));
    if report.history.operations == Some(0) && !report.has_failed() {
        return format!("{name}: {}: there are no operations\n", pen.paint(YELLOW, "nothing to check"));
    }
    let Some(finding) = Finding::new(report) else {
        let accepted = pen.paint(GREEN, "accepted");
        let mut out = format!("{name}: {accepted}{}: {}\n", at_level(report), size(report));
        for remark in remarks(report) {
            let _ = writeln!(out, "  note: {remark}");
        }
        return out;
    };
    let (style, word) = verdict_style(report);
    let level = if report.has_failed() { String::new() } else { at_level(report) };
    let verdict = format!("{}{level}", pen.paint(style, word));
    let mut out = format!("{name}: {verdict}\n{}\n", snippet(report, &finding, color, width));
    let mut sections = Sections { report, pen, width, out: &mut out };
    if let Some(rejection) = report.rejection() {
        if let Some(window) = &rejection.window() {
            sections.window(window, &rejection.blocked, detail);
        }
        if let (Detail::Brief, Evidence::Stuck(stuck)) = (detail, &rejection.evidence) {
            sections.others(rejection, stuck);
        }
    }
    if detail == Detail::Full {
        sections.everything();
    }
    sections.commands(detail);
    out
}

/// ` at the level causal`; nothing if every operation sees everything before it.
fn at_level(report: &Report) -> String {
    let isolation = report.isolation.as_ref().map(|isolation| &isolation.level);
    let level = report.level.as_ref().map(|level| &level.name).or(isolation);
    level.map(|level| format!(" at the level `{}`", clean(level))).unwrap_or_default()
}

/// The verdict on one line, ending with a line break.
pub fn headline(report: &Report, color: bool) -> String {
    let mut first = text(report, Detail::Brief, color).lines().next().unwrap_or_default().to_owned();
    if !report.assumed.is_empty() {
        first = format!("{first} under the assumptions ({})", clean(&report.assumed.join(", ")));
    }
    match sentence(report) {
        Some(sentence) if report.history.operations != Some(0) || report.has_failed() => {
            format!("{first}: {sentence}\n")
        }
        _ => first + "\n",
    }
}

/// The finding in one sentence; nothing for an accepted history.
pub fn sentence(report: &Report) -> Option<String> {
    Finding::new(report).map(|finding| finding.title)
}

/// Everything in a report that the brief form leaves out; often nothing.
pub(crate) fn everything(report: &Report) -> String {
    let mut out = String::new();
    Sections { report, pen: Pen { color: false }, width: WIDTH, out: &mut out }.everything();
    out
}

/// The cost of the check, for tuning.
pub fn stats(report: &Report) -> String {
    let Stats { method, no_procedure, returned, evaluations, generated, distinct, widest, seconds } = &report.stats;
    let mut out = format!("{}: {} in {}\n", clean(&report.history.name), clean(method), duration(*seconds));
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "  {name:<16} {value}");
    };
    if let Some(reason) = no_procedure {
        line("no procedure", clean(reason));
    }
    line("returned", count(*returned, "operation"));
    let rate =
        if *seconds > 0.0 { format!(" ({}/s)", number((*evaluations as f64 / seconds) as u64)) } else { String::new() };
    line("evaluations", format!("{}{rate}", number(*evaluations)));
    let coalesced = match generated {
        0 => String::new(),
        _ => format!(" ({:.1} % coalesced)", 100.0 * (1.0 - *distinct as f64 / *generated as f64)),
    };
    line("configurations", format!("{} distinct of {} reached{coalesced}", number(*distinct), number(*generated)));
    if let Some(widest) = widest {
        let at = widest.at.map(|op| format!(" when {} returned", op_text(report, op))).unwrap_or_default();
        line("widest", format!("{} at once{at}", count(widest.width as u64, "configuration")));
        let in_flight: Vec<String> = widest.in_flight.iter().map(|&op| op_text(report, op)).collect();
        if !in_flight.is_empty() {
            line("in flight there", list(&in_flight, "and", 6));
        }
    }
    out
}

/// Printed instead of a verdict if a history could not be checked.
pub(crate) const UNCHECKED: &str = "not checked";

/// Why a history could not be checked, one problem after the other.
pub(crate) fn problems(unchecked: &Unchecked) -> String {
    let mut out = String::new();
    for Problem { message, help } in &unchecked.problems {
        let _ = writeln!(out, "error: {}", clean(message));
        if let Some(help) = help {
            let _ = writeln!(out, "help: {}", clean(help));
        }
    }
    out
}

/// The number of histories by verdict, on one line; empty if there is only one history.
pub fn summary(reports: &[Report], unchecked: &[Unchecked]) -> String {
    let histories = reports.len() + unchecked.len();
    if histories < 2 {
        return String::new();
    }
    let words = ["accepted", "empty", "rejected", "violated", FAILED, "inconclusive"];
    let counts = words.map(|word| (reports.iter().filter(|report| verdict_style(report).1 == word).count(), word));
    let counts = counts.into_iter().chain([(unchecked.len(), UNCHECKED)]);
    let counts = counts.filter(|(count, _)| *count > 0).map(|(count, word)| format!("{} {word}", number(count as u64)));
    format!("{}: {}\n", count(histories as u64, "history"), counts.collect::<Vec<_>>().join(", "))
}

/// The columns before the text of a title, of a note, and of a line of the source without its number.
const TITLE: usize = 9;
const NOTE: usize = 11;
const MARGIN: usize = 3;

/// The sentence, the marks and the notes, as compilers print them.
pub(crate) fn snippet(report: &Report, finding: &Finding, color: bool, width: usize) -> String {
    let level = if finding.is_warning { Level::WARNING } else { Level::ERROR };
    let title = wrapped(&finding.title, width - TITLE, 0);
    let mut group = Group::with_title(level.primary_title(title.as_str()));
    // A label that does not fit beside its place is a note: labels are not wrapped.
    let mut told = Vec::new();
    let marks: Vec<Mark> = finding.marks.iter().map(|mark| fitting(report, mark, width, &mut told)).collect();
    let mut sources: Vec<usize> = finding.primary().map(|mark| mark.span.source).into_iter().collect();
    sources.extend(finding.marks.iter().map(|mark| mark.span.source));
    let mut shown = Vec::new();
    for index in sources {
        if shown.contains(&index) {
            continue;
        }
        shown.push(index);
        let source = &report.sources[index];
        let mut snippet = Snippet::source(source.text.as_str()).path(clean(&source.path));
        for mark in marks.iter().filter(|mark| mark.span.source == index) {
            let kind = if mark.is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            snippet = snippet.annotation(kind.span(mark.span.start..mark.span.end).label(mark.label.as_str()));
        }
        group = group.element(snippet);
    }
    let notes: Vec<(Level<'_>, String)> = told
        .iter()
        .chain(&finding.notes)
        .map(|note| match note {
            Note::Note(text) => (Level::NOTE, wrapped(text, width - NOTE, 0)),
            Note::Help(text) => (Level::HELP, wrapped(text, width - NOTE, 0)),
        })
        .collect();
    for (level, text) in &notes {
        group = group.element(level.clone().message(text.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    renderer.decor_style(DecorStyle::Ascii).render(&[group])
}

/// A mark whose label fits beside its place. The rest becomes a note.
fn fitting(report: &Report, mark: &Mark, width: usize, told: &mut Vec<Note>) -> Mark {
    let Some([_, (line, to)]) = lines(report, mark.span) else { return mark.clone() };
    if MARGIN + line.to_string().len() + to + mark.label.width() <= width {
        return mark.clone();
    }
    let Some((label, values)) = mark.label.split_once(": ") else { return mark.clone() };
    let text = place(report, mark.span).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    told.push(Note::Note(format!("`{}`: {values}", short(&text, VALUE))));
    Mark { label: label.to_owned(), ..mark.clone() }
}

/// The word for a run that failed, whatever the verdict about its operations.
const FAILED: &str = "failed";

/// The word for an outcome, and its color. A history without operations was not checked.
pub(crate) fn verdict_style(report: &Report) -> (Style, &'static str) {
    let style = match report.verdict {
        _ if report.has_failed() => return (RED, FAILED),
        _ if report.history.operations == Some(0) => return (YELLOW, "empty"),
        Verdict::Accepted => GREEN,
        Verdict::Rejected(_) => RED,
        Verdict::Inconclusive { .. } => YELLOW,
    };
    (style, report.verdict.word())
}

/// The outcome in one word; a run that failed is not accepted, whatever its operations are.
pub fn verdict_word(report: &Report) -> &'static str {
    verdict_style(report).1
}

/// Describes a window.
pub(crate) fn window_title(window: &Window) -> String {
    let operations = count(window.operations.len() as u64, "operation");
    let start = match window.start.len() {
        0 => String::new(),
        1 => ", starting from".into(),
        many => format!(", starting from any of {}", count(many as u64, "state")),
    };
    format!("smallest part that fails: {operations}{start}")
}

/// The size of the history, the method if it is not a search, and the time that the check took.
fn size(report: &Report) -> String {
    let [operations, processes] = report.sizes();
    let method = if report.stats.distinct == 0 { format!(", {}", clean(&report.stats.method)) } else { String::new() };
    format!("{operations}, {processes}{method} ({})", duration(report.stats.seconds))
}

/// The size of the history, the method, and the cost.
pub(crate) fn work(report: &Report) -> String {
    let [operations, processes] = report.sizes();
    let mut work = format!("{operations} of {processes}, {}", clean(&report.stats.method));
    if report.stats.distinct > 0 {
        let _ = write!(work, ": {}", count(report.stats.distinct, "configuration"));
    }
    let _ = write!(work, " in {}", duration(report.stats.seconds));
    work
}

const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Writes with colors, or without.
#[derive(Clone, Copy)]
struct Pen {
    color: bool,
}

impl Pen {
    fn paint(self, style: Style, text: &str) -> String {
        if self.color { format!("{style}{text}{style:#}") } else { text.into() }
    }

    fn bold(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }
}

/// The sections below the snippet.
struct Sections<'a> {
    report: &'a Report,
    pen: Pen,
    /// The widest line.
    width: usize,
    out: &'a mut String,
}

impl Sections<'_> {
    fn line(&mut self, indent: usize, text: &str) {
        let _ =
            writeln!(self.out, "{}{}", " ".repeat(indent), wrapped(text, self.width - indent, indent + 2).trim_end());
    }

    fn heading(&mut self, text: &str) {
        let text = self.pen.bold(&wrapped(text, self.width - 2, 4));
        let _ = writeln!(self.out, "\n  {text}");
    }

    fn everything(&mut self) {
        match self.report.rejection().map(|rejection| &rejection.evidence) {
            Some(Evidence::Stuck(stuck)) => {
                self.further(stuck);
                self.groups(&stuck.groups);
                self.states("states that explain the history so far", &stuck.states);
                self.interpretations(stuck);
                self.reasons(stuck);
                self.constants();
            }
            Some(Evidence::Invariant(broken)) => {
                self.states("states that make it false", &broken.states);
                self.constants();
            }
            Some(Evidence::Contradiction { .. } | Evidence::Views(_) | Evidence::Anomaly(_)) => self.constants(),
            None => {}
        }
    }

    /// How far orders get, and assumptions that do not help.
    fn further(&mut self, stuck: &Stuck) {
        let Some(rejection) = self.report.rejection() else { return };
        self.out.push('\n');
        self.line(2, &explained(self.report, rejection, stuck));
        for sentence in what_ifs(self.report, rejection, stuck, false) {
            self.line(2, &sentence);
        }
    }

    fn window(&mut self, window: &Window, blocked: &[OpRef], detail: Detail) {
        self.heading(&window_title(window));
        let most = if detail == Detail::Brief { BRIEF_STATES } else { usize::MAX };
        for state in window.start.iter().take(most) {
            let line = fields(&state.variables, " = ", VALUE);
            self.line(4, &line);
        }
        if window.start.len() > most {
            self.line(4, &format!("and {} more", number((window.start.len() - most) as u64)));
        }
        self.out.push('\n');
        self.grid(Grid::new(self.report, window), blocked, detail);
    }

    fn grid(&mut self, mut grid: Grid, blocked: &[OpRef], detail: Detail) {
        let (mut earlier, mut later) = (Vec::new(), Vec::new());
        if detail == Detail::Brief && grid.rows.len() > BRIEF_ROWS {
            let is_blocked = |row: &Vec<Cell>| blocked.iter().any(|&op| row.contains(&Cell::Op(op)));
            let end = grid.rows.iter().position(is_blocked).map_or(grid.rows.len(), |row| (row + 1).max(BRIEF_ROWS));
            later = grid.rows.split_off(end);
            earlier = grid.rows.drain(..end - BRIEF_ROWS).collect();
        }
        let operations = |rows: &[Vec<Cell>]| {
            count(rows.iter().flatten().filter(|cell| matches!(cell, Cell::Op(_))).count() as u64, "operation")
        };
        let report = self.report;
        let cell = |cell: Cell, most: usize| match cell {
            Cell::Empty => String::new(),
            Cell::Running => "|".into(),
            Cell::Op(op) if blocked.contains(&op) => format!("{} ✗", report.op(op).short_within(most - 2)),
            Cell::Op(op) => report.op(op).short_within(most),
        };
        let widths = |grid: &Grid, most: usize| -> Vec<usize> {
            let column = |column: usize| {
                let cells = grid.rows.iter().map(|row| cell(row[column], most).width());
                cells.chain([brief(&grid.processes[column], most).width()]).max().unwrap_or(0)
            };
            (0..grid.processes.len()).map(column).collect()
        };
        // Rows begin with four blanks.
        let room = self.width - 2;
        let fits = |grid: &Grid, most: usize| widths(grid, most).iter().map(|width| width + 2).sum::<usize>() <= room;
        let most = CELLS.rev().find(|&most| fits(&grid, most)).unwrap_or(*CELLS.start());
        let (processes, hidden) = grid.narrow(blocked, |grid| fits(grid, most));
        let widths = widths(&grid, most);
        let line = |cells: Vec<String>| {
            cells.iter().zip(&widths).map(|(cell, width)| pad(cell, *width)).collect::<Vec<_>>().join("  ")
        };
        if !earlier.is_empty() {
            self.line(4, &format!("... {} earlier", operations(&earlier)));
        }
        let head = line(grid.processes.iter().map(|process| brief(process, most)).collect());
        let _ = writeln!(self.out, "    {}", head.trim_end());
        let rule = line(widths.iter().map(|width| "-".repeat(*width)).collect());
        let _ = writeln!(self.out, "    {rule}");
        for row in &grid.rows {
            let row = line(row.iter().map(|&found| cell(found, most)).collect());
            let row = row.trim_end().replace('✗', &self.pen.paint(RED, "✗"));
            let _ = writeln!(self.out, "    {row}");
        }
        if !later.is_empty() {
            self.line(4, &format!("... {} later", operations(&later)));
        }
        if let Some(legend) = grid.legend(report.order) {
            let _ = writeln!(self.out, "    ({legend})");
        }
        if processes > 0 {
            let (processes, operations) = (count(processes as u64, "process"), count(hidden as u64, "operation"));
            self.line(4, &format!("({processes} with {operations} not shown)"));
        }
    }

    /// The reasons against other operations, in brief. Operations that wait were listed before.
    fn others(&mut self, rejection: &Rejection, stuck: &Stuck) {
        let subject = rejection.subject();
        let is_other = |reason: &&Reason| {
            Some(reason.op) != subject && !matches!(reason.why, Why::Time { after } if rejection.blocked == [after])
        };
        let (waiting, refused): (Vec<&Reason>, Vec<&Reason>) = stuck
            .reasons
            .iter()
            .filter(is_other)
            .partition(|reason| matches!(reason.why, Why::Time { .. } | Why::Dead));
        if waiting.is_empty() && refused.is_empty() {
            return;
        }
        self.heading("operations that could come before it");
        for reason in refused.iter().take(BRIEF_REASONS) {
            let line = format!("{}: {}", op_text(self.report, reason.op), why(self.report, stuck, reason));
            self.line(4, &line);
        }
        if refused.len() > BRIEF_REASONS {
            self.line(4, &format!("and {} more like these", number((refused.len() - BRIEF_REASONS) as u64)));
        }
        self.grouped(&waiting);
    }

    /// Operations that wait for the same one, or whose continuations get stuck, on one line each.
    fn grouped(&mut self, reasons: &[&Reason]) {
        let mut groups: Vec<(Option<OpRef>, Vec<OpRef>)> = Vec::new();
        for reason in reasons {
            let after = if let Why::Time { after } = reason.why { Some(after) } else { None };
            match groups.iter_mut().find(|(known, _)| *known == after) {
                Some((_, ops)) if ops.contains(&reason.op) => {}
                Some((_, ops)) => ops.push(reason.op),
                None => groups.push((after, vec![reason.op])),
            }
        }
        for (after, ops) in groups {
            let names: Vec<String> = ops.iter().map(|&op| op_text(self.report, op)).collect();
            let ops = list(&names, "and", BRIEF_REASONS);
            let line = match after {
                Some(after) => format!("{ops} must wait for {}", op_text(self.report, after)),
                None if names.len() == 1 => format!("{ops} is legal, but no order that continues with it is"),
                None => format!("{ops} are legal, but no order that continues with one of them is"),
            };
            self.line(4, &line);
        }
    }

    fn states(&mut self, title: &str, states: &[State]) {
        if states.is_empty() {
            return;
        }
        let differing = differing(states);
        let sign = if differing.is_empty() { "" } else { "; ~ differs between them" };
        self.heading(&format!("{title} ({}{sign})", number(states.len() as u64)));
        for (index, state) in states.iter().enumerate() {
            self.line(4, &format!("state {}, {}", index + 1, clean(&state.id)));
            for variable in &state.variables {
                let value = fields(std::slice::from_ref(variable), " = ", FULL_VALUE);
                match differing.contains(&variable.name.as_str()) {
                    true => self.line(6, &format!("~ {value}")),
                    false => self.line(8, &value),
                }
            }
        }
    }

    fn groups(&mut self, groups: &[StateGroup]) {
        if groups.len() < 2 {
            return;
        }
        self.heading("what the false condition reads in these states");
        for group in groups {
            let states = count(group.states.len() as u64, "state");
            self.line(4, &format!("{states}: {}", fields(&group.values, " = ", VALUE)));
        }
    }

    fn interpretations(&mut self, stuck: &Stuck) {
        if stuck.interpretations.is_empty() {
            return;
        }
        self.heading("orders that lead there, from where they diverge");
        for interpretation in &stuck.interpretations {
            let step = |step: &Step| {
                format!("{}{}", op_text(self.report, step.op), if step.partway { " (partway)" } else { "" })
            };
            let steps: Vec<String> = interpretation.recent.iter().map(step).collect();
            let steps = if steps.is_empty() { "nothing".into() } else { steps.join(", ") };
            self.line(4, &format!("to state {}: {steps}", interpretation.state + 1));
        }
    }

    fn reasons(&mut self, stuck: &Stuck) {
        if stuck.reasons.is_empty() {
            return;
        }
        self.heading("why no operation can be next");
        let (waiting, refused): (Vec<&Reason>, Vec<&Reason>) =
            stuck.reasons.iter().partition(|reason| matches!(reason.why, Why::Time { .. } | Why::Dead));
        for reason in refused {
            let op = op_text(self.report, reason.op);
            let Why::Guard(guard) = &reason.why else {
                self.line(4, &format!("{op}: {}", why(self.report, stuck, reason)));
                continue;
            };
            let states: Vec<String> = reason.states.iter().map(|state| (state + 1).to_string()).collect();
            let noun = plural(states.len() as u64, "state");
            let states = list(&states, "and", BRIEF_ROWS);
            self.line(4, &format!("{op}: {} is not enabled in {noun} {states}", clean(&guard.action)));
            self.guard(guard, &reason.states);
        }
        self.grouped(&waiting);
    }

    fn guard(&mut self, guard: &Guard, states: &[usize]) {
        for choice in &guard.choices {
            let choice = fields(std::slice::from_ref(choice), " = ", FULL_VALUE);
            self.line(6, &format!("with {choice}"));
        }
        for conjunct in &guard.conjuncts {
            let words: Vec<&str> = conjunct.outcomes.iter().map(word).collect();
            let is_same = words.iter().all(|word| Some(word) == words.first());
            let first = if is_same { words.first().copied().unwrap_or("-") } else { "differs" };
            self.line(6, &format!("{first:<8} {}", short(&conjunct.text, FULL_VALUE)));
            let per_state =
                |at: usize, text: &str| format!("{text} (state {})", states.get(at).map_or(0, |state| state + 1));
            if !is_same {
                let words = words.iter().enumerate().map(|(at, word)| per_state(at, word)).collect::<Vec<_>>();
                self.line(17, &words.join(", "));
            }
            for outcome in &conjunct.outcomes {
                if let Outcome::Error(message) = outcome {
                    self.line(17, &clean(message));
                    break;
                }
            }
            for part in conjunct.values.iter().filter(|part| part.text != conjunct.text) {
                let known: Vec<&String> = part.values.iter().flatten().collect();
                let text = short(&part.text, FULL_VALUE);
                let is_same =
                    known.len() == part.values.len() && known.iter().all(|value| Some(value) == known.first());
                let value = match known.first() {
                    None => continue,
                    Some(value) if is_same => short(value, FULL_VALUE),
                    Some(_) => {
                        let values = part.values.iter().enumerate();
                        let values =
                            values.filter_map(|(at, value)| Some(per_state(at, &short(value.as_ref()?, FULL_VALUE))));
                        values.collect::<Vec<_>>().join(", ")
                    }
                };
                self.line(17, &format!("{text} is {value}"));
            }
        }
    }

    fn constants(&mut self) {
        if self.report.spec.constants.is_empty() {
            return;
        }
        self.heading("constants from the history");
        for constant in &self.report.spec.constants {
            let constant = fields(std::slice::from_ref(constant), " = ", FULL_VALUE);
            self.line(4, &constant);
        }
    }

    fn commands(&mut self, detail: Detail) {
        let mut commands = commands(self.report);
        commands
            .retain(|(_, line)| detail == Detail::Brief || !FULL_REPORT.iter().any(|start| line.starts_with(start)));
        let width = commands.iter().map(|(what, _)| what.width()).max().unwrap_or(0);
        if !commands.is_empty() {
            self.out.push('\n');
        }
        // A terminal is not wide enough for some; elsewhere they stay whole, to be found and copied.
        let room = if self.width < WIDTH { self.width - 4 - width } else { usize::MAX };
        for (what, line) in commands {
            let mut left = line.as_str();
            let mut before = pad(&what, width);
            while left.width() > room
                && let Some(end) = left[..column(left, room - 2)].rfind(' ').filter(|end| *end > 0)
            {
                let _ = writeln!(self.out, "  {before}  {} \\", &left[..end]);
                (left, before) = (left[end..].trim_start(), " ".repeat(width));
            }
            let _ = writeln!(self.out, "  {before}  {left}");
        }
    }
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::True | Outcome::Chose(true) => "TRUE",
        Outcome::False | Outcome::Chose(false) => "FALSE",
        Outcome::Error(_) => "no value",
        Outcome::NotReached => "-",
    }
}
