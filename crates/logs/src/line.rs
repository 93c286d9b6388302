//! The lines of a log: JSON with its place.

use omnilink_history::format::json::Json;
use omnilink_validate::Problem;

/// A file of a log.
#[derive(Debug, Clone)]
pub struct File {
    /// Its name in messages.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A line of a log.
#[derive(Debug, Clone)]
pub struct Line {
    /// The file: an index into those of the log.
    pub file: usize,
    /// The number of the line, from 1.
    pub number: usize,
    /// The line.
    pub json: Json,
}

/// The lines of files.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// Lines that are not events: the first ones of each file.
    pub header: Vec<Line>,
    /// The others.
    pub lines: Vec<Line>,
    /// The files that end inside a line.
    pub cuts: Vec<Cut>,
}

/// The end of a file inside a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// The file: an index into those of the log.
    pub file: usize,
    /// The place, in a sentence.
    pub words: String,
}

impl Lines {
    /// Reads files, each of which begins with this many lines that are not events. Leaves out an incomplete last line,
    /// which a killed program may leave.
    pub fn read(files: &[File], header: usize) -> Result<Lines, Problem> {
        let mut all = Lines::default();
        for (place, file) in files.iter().enumerate() {
            let mut seen = 0;
            let is_whole = file.text.ends_with('\n');
            let last = file.text.lines().count();
            for (index, text) in file.text.lines().enumerate() {
                if text.trim().is_empty() {
                    continue;
                }
                let number = index + 1;
                let json = match Json::parse(text) {
                    Ok(json @ Json::Object(_)) => json,
                    Ok(json) => {
                        let message = format!("expected an object, found {}", json.kind());
                        return Err(Problem::new(format!("{}: line {number}: {message}", file.name)));
                    }
                    Err(problem) if problem.is_end && number == last && !is_whole => {
                        let words = format!("{}: line {number} is not complete, and was left out", file.name);
                        all.cuts.push(Cut { file: place, words });
                        continue;
                    }
                    Err(problem) => {
                        let message =
                            format!("{}: line {number}, column {}: {}", file.name, problem.at + 1, problem.message);
                        let help =
                            "a log has one JSON object per line; `header` in `[log]` skips lines at the beginning"
                                .to_owned();
                        return Err(Problem::new(message).help(help));
                    }
                };
                seen += 1;
                let line = Line { file: place, number, json };
                if seen <= header { all.header.push(line) } else { all.lines.push(line) }
            }
        }
        Ok(all)
    }
}
