//! Runs `omnilink lineup` on the example, and reads its answers.

use std::error::Error;
use std::process::Command;

use serde_json::Value;

use crate::lines;
use crate::measure::{BAG, Case, EXECUTIONS, End, Outcome, TIME, median};
use crate::table::{self, Row};

const DIRECTORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/lineup-rust");

/// The program that OmniLink builds, from the directory of the example.
const PROGRAM: &str = "target/omnilink-sched/x86_64-unknown-linux-gnu/release/lineup-rust";

/// An executable, for which the example was built.
pub struct Omnilink<'a>(&'a str);

impl Omnilink<'_> {
    pub fn new(path: &str) -> Result<Omnilink<'_>, Box<dyn Error>> {
        let output = Command::new(path).args(["lineup", DIRECTORY, "--calls"]).output()?;
        if !output.status.success() {
            return Err(format!("`{path}`: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(Omnilink(path))
    }

    pub fn rows(&self, case: Case) -> Result<Vec<Row>, Box<dyn Error>> {
        let (test, object) = (case.test(), case.object());
        let mut rows = vec![self.row(test, object, "default", &[])?];
        if case == Case::Event {
            rows.push(self.row(test, object, "more preemptions", &["--schedule", "dfs", "--bound", "4"])?);
        }
        let random = ["--schedule", "random", "--executions", "1000", "--seed"];
        let wrong = median(|seed| {
            let seed = seed.to_string();
            let options: Vec<&str> = random.into_iter().chain([seed.as_str()]).collect();
            self.run(test, object, &options).map(|(outcome, _)| outcome)
        })?;
        rows.push(Row {
            test,
            checker: "OmniLink, random".to_owned(),
            wrong: table::search(&wrong),
            wrong_time: table::time(wrong.seconds),
            fixed: "no end".to_owned(),
            fixed_time: String::new(),
            lines: lines::omnilink(object),
        });
        Ok(rows)
    }

    /// The bag is nondeterministic by design: no assertion about its answers would be right.
    pub fn bag(&self) -> Result<Row, Box<dyn Error>> {
        self.row(BAG, "bag", "default", &[])
    }

    fn row(&self, test: &'static str, object: &str, name: &str, options: &[&str]) -> Result<Row, Box<dyn Error>> {
        let executions = EXECUTIONS.to_string();
        let time = format!("{}s", TIME.as_secs());
        let options: Vec<&str> =
            options.iter().copied().chain(["--executions", &executions, "--time", &time]).collect();
        let (wrong, schedule) = self.run(test, object, &options)?;
        let (fixed, _) = self.run(test, &format!("{object}-fixed"), &options)?;
        Ok(Row {
            test,
            checker: format!("OmniLink, {name}: {schedule}"),
            wrong: table::search(&wrong),
            wrong_time: table::time(wrong.seconds),
            fixed: table::exploration(&fixed),
            fixed_time: table::time(fixed.seconds),
            lines: lines::omnilink(object),
        })
    }

    /// The outcome, and the schedules that were explored.
    fn run(&self, test: &str, object: &str, options: &[&str]) -> Result<(Outcome, String), Box<dyn Error>> {
        let mut command = Command::new(self.0);
        command.args(["lineup", DIRECTORY, "--test", test, "--no-reduce", "--format", "json", "--progress", "none"]);
        let output = command.args(options).args(["--", PROGRAM, object]).output()?;
        let answer: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let answer = &answer["tests"][0];
        let explored = &answer["concurrent"]["explored"];
        let schedule = explored["schedule"].as_str().unwrap_or("none");
        let end = match answer["verdict"].as_str() {
            Some("passed") if schedule != "random" => End::Complete,
            Some("passed" | "not explored to the end") => End::Limit,
            Some(_) => End::Found,
            None => return Err(format!("unrecognized answer {answer}").into()),
        };
        let count = |value: &Value| value.as_u64().unwrap_or_default() as usize;
        let seconds = |phase: &str| answer[phase]["seconds"].as_f64().unwrap_or_default();
        let outcome = Outcome {
            serial: count(&answer["serial"]["full"]) + count(&answer["serial"]["stuck"]),
            executions: count(&explored["executions"]),
            seconds: seconds("serial") + seconds("concurrent"),
            end,
        };
        let bound = explored["bound"].as_u64().map(|bound| format!(", at most {bound} preemptions"));
        Ok((outcome, format!("{schedule}{}", bound.unwrap_or_default())))
    }
}
