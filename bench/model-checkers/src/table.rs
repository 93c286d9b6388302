//! The table in Markdown.

use crate::measure::{End, Outcome};

pub struct Row {
    pub test: &'static str,
    pub checker: String,
    pub wrong: String,
    pub wrong_time: String,
    pub fixed: String,
    pub fixed_time: String,
    pub lines: String,
}

impl Row {
    pub fn not_applicable(test: &'static str, checker: &str) -> Row {
        let nothing = || "not applicable".to_owned();
        Row {
            test,
            checker: checker.to_owned(),
            wrong: nothing(),
            wrong_time: String::new(),
            fixed: nothing(),
            fixed_time: String::new(),
            lines: String::new(),
        }
    }
}

#[derive(Default)]
pub struct Table(Vec<Row>);

impl Table {
    pub fn add(&mut self, row: Row) {
        self.0.push(row);
    }

    pub fn render(&self) -> String {
        let mut text = "| test | checker | wrong: executions | time | fixed: executions | time | lines |\n".to_owned();
        text.push_str("|---|---|---|---|---|---|---|\n");
        for row in &self.0 {
            let test = row.test.replace('|', "\\|");
            let cells = [&row.checker, &row.wrong, &row.wrong_time, &row.fixed, &row.fixed_time, &row.lines];
            let cells: Vec<&str> = cells.map(String::as_str).to_vec();
            text.push_str(&format!("| `{test}` | {} |\n", cells.join(" | ")));
        }
        text
    }
}

/// Executions until the failure.
pub fn search(outcome: &Outcome) -> String {
    match outcome.end {
        End::Found => executions(outcome),
        End::Unexpected => format!("another failure after {}", executions(outcome)),
        End::Complete => format!("none in all {}", executions(outcome)),
        End::Limit => format!("none in {}", executions(outcome)),
    }
}

/// Executions of an exploration without a failure.
pub fn exploration(outcome: &Outcome) -> String {
    match outcome.end {
        End::Found | End::Unexpected => format!("false alarm after {}", executions(outcome)),
        End::Complete => executions(outcome),
        End::Limit => format!("more than {}", executions(outcome)),
    }
}

fn executions(outcome: &Outcome) -> String {
    match outcome.serial {
        0 => number(outcome.executions),
        serial => format!("{} + {}", number(serial), number(outcome.executions)),
    }
}

fn number(number: usize) -> String {
    match number {
        ..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    }
}

/// Seconds with two or three digits and a fitting unit.
pub fn time(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} µs", seconds * 1e6),
        ..1e-1 => format!("{:.1} ms", seconds * 1e3),
        ..1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}
