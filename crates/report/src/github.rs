//! Annotations of a GitHub workflow: one line for each history that is not accepted, shown beside the line of the
//! specification that is to blame.

use std::fmt::Write as _;

use crate::data::{Report, Unchecked};
use crate::finding::{Finding, Note, lines};
use crate::text::{UNCHECKED, problems, verdict_style};
use crate::wording::clean;

/// Workflow commands for everything that is not accepted.
pub fn github(reports: &[Report], unchecked: &[Unchecked]) -> String {
    let mut out = String::new();
    for report in reports {
        let Some(finding) = Finding::new(report) else { continue };
        let command = if finding.is_warning { "warning" } else { "error" };
        let name = format!("{}: {}", clean(&report.history.name), verdict_style(report).1);
        let mut message = finding.title.clone();
        let mut properties = Vec::new();
        if let Some(mark) = finding.primary() {
            let _ = write!(message, "\n{}", mark.label);
            if let Some([(line, column), (end_line, end_column)]) = lines(report, mark.span) {
                properties.push(("file", clean(&report.sources[mark.span.source].path)));
                properties.push(("line", line.to_string()));
                properties.push(("endLine", end_line.to_string()));
                // GitHub rejects columns for a span of several lines.
                if line == end_line {
                    properties.push(("col", column.to_string()));
                    properties.push(("endColumn", end_column.to_string()));
                }
            }
        }
        for note in &finding.notes {
            let (Note::Note(text) | Note::Help(text)) = note;
            let _ = write!(message, "\n{text}");
        }
        properties.push(("title", name));
        let properties: Vec<String> =
            properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
        let _ = writeln!(out, "::{command} {}::{}", properties.join(","), data(&message));
    }
    for history in unchecked {
        let name = format!("{}: {UNCHECKED}", clean(&history.history));
        let _ = writeln!(out, "::error title={}::{}", property(&name), data(problems(history).trim_end()));
    }
    out
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
